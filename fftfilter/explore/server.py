"""The server: routes below a secret path, for pages of this machine alone.

Nothing answers outside of the path; its token is in the URL that the program prints. Two headers guard against other
sites: a Host that is not a name of this machine is a foreign name for 127.0.0.1, and an Origin other than the server's
is a foreign page. The number of connections is limited, and idle ones are closed.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet

from aiohttp import web

from ..errors import FftfilterError, ParameterError, TooLargeError
from ..files.messages import quoted_if_odd
from .answers import Answers, Live, line_of
from .request import DRAWN, LONGEST, Commands, Request, found, page_of, peaks, read, steps, whole_of
from .saving import Progress, applied, downloaded, keep_mask, save
from .session import Folder, RefusedError, Session, Worker
from .shown import Kind, frame, reduced

if TYPE_CHECKING:
    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

# The port is this one if it is free, as browsers keep presets for a port.
HERE, USUAL_PORT = "127.0.0.1", 17326
HOSTS = (HERE, "localhost")
PAGE = Path(__file__).parent / "page"
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "object-src 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}
# Most bytes of a request.
LARGEST = 1 << 20
# Seconds in which a page may close its connection at the end, and in which Ctrl-C is noticed.
PATIENCE = 0.5
# Most connections at a time: a browser opens six for all pages of a server, and one for each page's requests.
MOST = 32
# Seconds after which a new connection counts.
SOON = 0.05
# Seconds for which a connection may be idle, and in which a request's body has to arrive.
IDLE = 20
# Most bytes of a file that is dropped.
MOST_BYTES = 1 << 31
# Pixels of a side of the small pictures.
SMALL = 128
# Errors in requests of strangers are not logged.
SILENT = logging.getLogger(f"{__name__}.silent")
SILENT.disabled = True


def _refusal(error: Exception) -> web.Response:
    if isinstance(error, RefusedError):
        return web.json_response({"error": line_of(error), **error.more}, status=error.status)
    status = 400 if isinstance(error, FftfilterError | MemoryError) else 500
    return web.json_response({"error": line_of(error)}, status=status)


async def _body(request: web.Request) -> bytes:
    try:
        async with asyncio.timeout(IDLE):
            return await request.read()
    except (web.RequestPayloadError, TimeoutError):
        raise ParameterError("the request's body is damaged, or does not come") from None


def _response(made: Any) -> web.Response:
    """Return the response that sends a frame or a file, or all else as JSON."""
    if isinstance(made, bytes):
        return web.Response(body=made, content_type="application/octet-stream")
    return web.json_response(made)


async def _head(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)


class Server:
    """The routes for an open file, and the threads behind them.

    ``start`` is the first request of a page; ``visited`` is called when a browser loads it.
    """

    def __init__(
        self, session: Session, commands: Commands, start: dict[str, Any], visited: Callable[[], None] = lambda: None
    ) -> None:
        self._first, self._folder = session, Folder(session)
        self._commands, self._start, self._visited = commands, start, visited
        self.folder = session.folder
        self.token = secrets.token_urlsafe(16)
        # None waits for another: what is filtered, what the page draws, small pictures, long searches, saving.
        self._filtering, self._small = Answers("filtering"), Answers("small")
        self._drawing, self._long, self._saving = Worker("drawing"), Worker("long"), Worker("saving")
        self._progress = Progress()
        # Connections that sent a request with the token.
        self._ours: WeakSet[asyncio.BaseTransport] = WeakSet()

    def app(self) -> web.Application:
        """Return the application, for a running loop."""
        app = web.Application(middlewares=[self._guard], client_max_size=LARGEST, logger=SILENT)
        path = f"/{self.token}"
        drawn = DRAWN | {"picture": self._picture, "files": self._files}
        long = {"peaks": peaks, "steps": lambda _, query: steps(self._of(query))}
        small = {"small": self._small_picture, "found": lambda _, query: found(self._of(query))}
        app.add_routes(
            [
                web.get(f"{path}/", self._index),
                web.static(f"{path}/page", PAGE),
                *(web.get(f"{path}/{name}", self._ask(self._drawing, make)) for name, make in drawn.items()),
                *(web.get(f"{path}/{name}", self._ask(self._long, make)) for name, make in long.items()),
                *(web.get(f"{path}/{name}", self._ask(self._small, make, keep=False)) for name, make in small.items()),
                web.post(f"{path}/save", self._save),
                web.post(f"{path}/mask", self._mask),
                web.post(f"{path}/drop", self._drop),
                web.post(f"{path}/recipe", self._recipe),
                web.get(f"{path}/saving", self._saved),
                web.get(f"{path}/live", self._follow),
            ]
        )
        app.on_response_prepare.append(_head)
        app.on_cleanup.append(self._end)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer this machine's pages alone, and refuse others without details."""
        host, origin = request.headers.get("Host", ""), request.headers.get("Origin")
        if host.rpartition(":")[0] not in HOSTS or origin not in (None, f"http://{host}"):
            return web.Response(status=403)
        is_ours = request.path.startswith(f"/{self.token}/")
        if is_ours and request.transport:
            self._ours.add(request.transport)
        try:
            return await handler(request)
        except web.HTTPException as error:
            if not is_ours or error.status == HTTPStatus.NOT_FOUND:
                return web.Response(status=error.status)
            return web.json_response({"error": error.reason}, status=error.status)
        except Exception as error:  # noqa: BLE001  a page has no use for a traceback
            return _refusal(error)

    def _connection(self, server: Any) -> asyncio.Protocol:
        # Many may come at once, and none of them counts before all are open.
        asyncio.get_running_loop().call_later(SOON, self._close_strangers, server)
        return cast("asyncio.Protocol", server())

    def _close_strangers(self, server: web.Server) -> None:
        """If there are too many connections, close the oldest ones, first those of strangers."""
        found = sorted(server.connections, key=lambda each: each.transport in self._ours)
        for each in found[: max(0, len(found) - MOST)]:
            each.force_close()

    async def run(self, port: int | None, opened: Callable[[str], None]) -> None:
        """Serve until it is canceled; ``opened`` is called with the URL. Raises ParameterError for a port in use."""
        times: dict[str, Any] = {"shutdown_timeout": PATIENCE, "keepalive_timeout": IDLE}
        runner = web.AppRunner(self.app(), access_log=None, logger=SILENT, handler_cancellation=True, **times)
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda *_: None)  # a stranger's connection that fails in an odd way
        await runner.setup()
        try:
            serve = partial(loop.create_server, partial(self._connection, runner.server), HERE)
            try:
                listening = await serve(USUAL_PORT if port is None else port)
            except OSError as error:
                if port is not None:
                    raise ParameterError(f"port {port} is taken: leave --port out, or give another one") from error
                listening = await serve(0)
            async with listening:
                opened(f"http://{HERE}:{listening.sockets[0].getsockname()[1]}/{self.token}/")
                # A signal that arrives just before the loop waits is handled when the wait ends.
                while True:
                    await asyncio.sleep(PATIENCE)
        finally:
            await runner.cleanup()

    async def _end(self, _: web.Application) -> None:
        for worker in (self._filtering, self._small, self._drawing, self._long, self._saving):
            worker.end()
        self.end()

    def end(self) -> None:
        """Remove files that were dropped, and end the filtering of a folder."""
        self._folder.end()
        if self._progress.process:
            self._progress.process.terminate()

    async def _index(self, _: web.Request) -> web.StreamResponse:
        self._visited()
        return web.FileResponse(PAGE / "index.html")

    def _ask(self, worker: Worker, make: Callable[[Session, Mapping[str, str]], Any], *, keep: bool = True) -> Handler:
        """Return the handler that sends what ``make`` returns for a file and a query; a worker calls it."""

        async def handler(request: web.Request) -> web.StreamResponse:
            name, query = request.query.get("file"), request.query
            return _response(await worker.do(lambda: make(self._folder.session(name, keep=keep), query)))

        return handler

    def _files(self, *_: object) -> dict[str, Any]:
        return {"files": self._folder.names(), "inputs": len(self._folder.inputs())}

    def _picture(self, _: Session, query: Mapping[str, str]) -> dict[str, Any]:
        return self._folder.session(query.get("file"), anew=True).described(self._start, self._commands.options)

    def _asked(self, given: Mapping[str, Any]) -> Request:
        return Request.of(given, self._commands, self._folder)

    def _of(self, query: Mapping[str, str]) -> Request:
        return self._asked(read(query.get("request", "")))

    def _small_picture(self, session: Session, query: Mapping[str, str]) -> bytes:
        """Return a small picture of a file, or of the result of a request."""
        if "request" in query:
            request = self._of(query)
            pixels, level = self._small.answer(request).pixels(), request.level
        else:
            page = page_of(session, query)
            pixels, level = page.pixels(page.levels[-1]), page.levels[-1]
        factor = max(1, max(pixels.shape[:2]) // max(1, whole_of(query, "size", SMALL)))
        return frame(Kind.INPUT, reduced(pixels, factor), level=level * factor)

    async def _wanted(self, request: web.Request) -> tuple[dict[str, Any], Request]:
        given = read(await _body(request))
        if not isinstance(wanted := given.get("request"), dict):
            raise ParameterError("the request says nothing to save: give request and out")
        return given, await self._drawing.do(self._asked, wanted)

    async def _save(self, request: web.Request) -> web.StreamResponse:
        given, asked = await self._wanted(request)
        out, commands, self._progress = given.get("out"), self._commands, Progress()
        if given.get("download") is True:
            return _response(await self._saving.do(downloaded, asked, out, commands))
        if given.get("folder") is True:
            work = partial(applied, asked, out, self._progress, self._folder)
        else:
            work = partial(save, asked, (out, given.get("overwrite")), commands, self._progress)
        try:
            return _response(await self._saving.do(work))
        finally:
            if self._progress.written:
                self._folder.saved.add(str(Path(asked.session.folder, Path(str(out)).name)))

    async def _mask(self, request: web.Request) -> web.StreamResponse:
        _, asked = await self._wanted(request)
        await self._saving.do(keep_mask, asked)
        return _response({"written": asked.mask})

    async def _drop(self, request: web.Request) -> web.StreamResponse:
        data = bytearray()
        async for part in request.content.iter_any():
            data += part
            if len(data) > MOST_BYTES:
                raise TooLargeError("a file that is dropped has at most 2 GB: give larger ones to the command")
        name = await self._drawing.do(self._folder.add, request.query.get("name", ""), bytes(data))
        return _response({"name": name})

    async def _recipe(self, request: web.Request) -> web.StreamResponse:
        name = quoted_if_odd(request.query.get("name", "")[:LONGEST])
        made = await self._drawing.do(self._commands.of_recipe, await _body(request), name, self._first.source)
        return _response(made)

    async def _saved(self, request: web.Request) -> web.StreamResponse:
        if "end" in request.query:
            await self._saving.do(lambda: None)  # what was canceled may be done by then
        return _response({name: getattr(self._progress, name) for name in ("done", "total", "written")})

    async def _follow(self, request: web.Request) -> web.StreamResponse:
        return await Live(self._folder, self._commands, self._filtering, self._long).serve(request)
