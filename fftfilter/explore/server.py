"""The server: routes below a secret path, for pages of this machine alone.

Nothing answers outside of the path; its token is in the URL that the program prints. Two headers guard against other
sites: a Host that is not a name of this machine is a foreign name for 127.0.0.1, and an Origin other than the server's
is a foreign page. The number of connections is limited, and idle ones are closed.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from aiohttp import web

from ..errors import FftfilterError, ParameterError
from .answers import Answers
from .live import Live, line_of
from .request import Request, read
from .saving import ElsewhereError, ExistsError, save
from .shown import Kind, frame
from .steps import steps

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .request import CommandLine
    from .session import FilePage, Session

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

HERE = "127.0.0.1"
HOSTS = (HERE, "localhost")
PAGE = Path(__file__).parent / "page"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
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
# Most digits of a number in a request: Python refuses thousands.
MOST_DIGITS = 18
# Seconds in which a page may close its connection at the end, and in which Ctrl-C is noticed.
PATIENCE = 0.5
# Most connections at a time: a browser opens six for all pages of a server, and one for each page's requests.
MOST = 32
# Seconds for which a connection may be idle, and in which a request's body has to arrive.
IDLE = 20
# Errors in requests of strangers are not logged.
SILENT = logging.getLogger(f"{__name__}.silent")
SILENT.propagate = False
SILENT.addHandler(logging.NullHandler())


def _refusal(error: Exception) -> web.Response:
    """Return the response for an error."""
    if isinstance(error, ExistsError):
        return web.json_response({"error": line_of(error), "overwrite": error.answer}, status=409)
    is_known = isinstance(error, FftfilterError | MemoryError)
    status = 403 if isinstance(error, ElsewhereError) else 400 if is_known else 500
    return web.json_response({"error": line_of(error)}, status=status)


async def _head(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)


class Server:
    """The routes for an open file, and the threads behind them.

    ``start`` is the first request of a page; ``visited`` is called when a browser loads it.
    """

    def __init__(
        self,
        session: Session,
        commands: CommandLine,
        start: dict[str, Any],
        visited: Callable[[], None] = lambda: None,
    ) -> None:
        self._session, self._commands, self._start, self._visited = session, commands, start, visited
        self.token = secrets.token_urlsafe(16)
        # One thread filters; another computes spectra and peaks, which takes long.
        self._live = ThreadPoolExecutor(1, "filtering")
        self._aside = ThreadPoolExecutor(1, "aside")
        self._answers = Answers(session, commands)
        # Pictures of the last run of the steps.
        self._pictures: list[bytes] = []
        # Connections that sent a request with the token.
        self._ours: WeakSet[asyncio.BaseTransport] = WeakSet()

    def app(self) -> web.Application:
        """Return the application, for a running loop."""
        app = web.Application(middlewares=[self._guard], client_max_size=LARGEST, logger=SILENT)
        path = f"/{self.token}"
        app.add_routes(
            [
                web.get(f"{path}/", self._index),
                web.get(f"{path}/page/{{name}}", self._file),
                web.get(f"{path}/picture", self._picture),
                web.get(f"{path}/input", self._of_page(_input)),
                web.get(f"{path}/spectrum", self._of_page(_spectrum)),
                web.get(f"{path}/peaks", self._of_page(lambda page, _: {"peaks": page.peaks()})),
                web.get(f"{path}/radial", self._of_page(lambda page, _: page.radial())),
                web.get(f"{path}/steps", self._go_through),
                web.get(f"{path}/steps/{{number:[0-9]{{1,3}}}}.png", self._step),
                web.post(f"{path}/save", self._save),
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

    def _connection(self, server: web.Server | None) -> asyncio.Protocol:
        """Return the protocol of a new connection; if there are too many, close the oldest one of a stranger."""
        assert server is not None  # noqa: S101  the runner is set up
        if len(server.connections) >= MOST:
            strangers = (each for each in server.connections if each.transport not in self._ours)
            next(strangers, server.connections[0]).force_close()
        return server()

    async def run(self, port: int, opened: Callable[[str], None]) -> None:
        """Serve until it is canceled; ``opened`` is called with the URL. Raises ParameterError for a port in use."""
        runner = web.AppRunner(
            self.app(), access_log=None, logger=SILENT, shutdown_timeout=PATIENCE, keepalive_timeout=IDLE
        )
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda *_: None)  # a stranger's connection that fails in an odd way
        await runner.setup()
        try:
            try:
                listening = await loop.create_server(partial(self._connection, runner.server), HERE, port)
            except OSError as error:
                raise ParameterError(f"port {port} is taken: leave --port out, or give another one") from error
            async with listening:
                opened(f"http://{HERE}:{listening.sockets[0].getsockname()[1]}/{self.token}/")
                # Opens the device while the browser opens the page, which will be told of errors.
                self._live.submit(self._answers.answer, Request.of(self._start, self._commands))
                # A signal that arrives just before the loop waits is handled when the wait ends.
                while True:
                    await asyncio.sleep(PATIENCE)
        finally:
            await runner.cleanup()

    async def _end(self, _: web.Application) -> None:
        for thread in (self._live, self._aside):
            thread.shutdown(wait=False, cancel_futures=True)

    async def _index(self, _: web.Request) -> web.StreamResponse:
        self._visited()
        return _of_page_file("index.html")

    async def _file(self, request: web.Request) -> web.StreamResponse:
        return _of_page_file(request.match_info["name"])

    async def _picture(self, _: web.Request) -> web.StreamResponse:
        return web.json_response(await self._beside(self._session.described, self._start, self._commands.options))

    async def _go_through(self, request: web.Request) -> web.StreamResponse:
        wanted = Request.of(read(request.query.get("request", "")), self._commands)
        made = await self._beside(steps, wanted, self._session, self._commands)
        self._pictures = made.pictures
        return web.json_response(made.told)

    async def _step(self, request: web.Request) -> web.StreamResponse:
        number = int(request.match_info["number"])
        if number >= len(self._pictures):
            raise web.HTTPNotFound
        return web.Response(body=self._pictures[number], content_type="image/png")

    async def _save(self, request: web.Request) -> web.StreamResponse:
        try:
            async with asyncio.timeout(IDLE):
                given = read(await request.read())
        except (web.RequestPayloadError, TimeoutError):
            raise ParameterError("the request's body is damaged, or does not come") from None
        wanted = given.get("request")
        if not isinstance(wanted, dict):
            raise ParameterError("what is to be saved is missing: give a request, and out")
        words = Request.of(wanted, self._commands).words
        asked = given.get("out"), given.get("overwrite")
        return web.json_response(await self._beside(save, words, *asked, self._session, self._commands))

    async def _follow(self, request: web.Request) -> web.StreamResponse:
        return await Live(self._session, self._commands, self._answers, self._live).serve(request)

    def _of_page(self, make: Callable[[FilePage, web.Request], Any]) -> Handler:
        """Return the handler that sends the result of ``make`` for a page; it is computed beside the filtering."""

        async def handler(request: web.Request) -> web.StreamResponse:
            number = _number(request, "page", 0)
            made = await self._beside(lambda: make(self._session.page(number), request))
            if isinstance(made, bytes):
                return web.Response(body=made, content_type="application/octet-stream")
            return web.json_response(made)

        return handler

    async def _beside(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._aside, function, *arguments)


def _of_page_file(name: str) -> web.Response:
    # Names are compared with existing ones: no path leads elsewhere.
    found = next((each for each in PAGE.iterdir() if each.name == name and each.suffix in TYPES), None)
    if found is None:
        raise web.HTTPNotFound
    return web.Response(body=found.read_bytes(), content_type=TYPES[found.suffix], charset="utf-8")


def _spectrum(page: FilePage, _: web.Request) -> bytes:
    return frame(Kind.SPECTRUM, page.spectrum_pixels())


def _input(page: FilePage, request: web.Request) -> bytes:
    level = _number(request, "level", 1)
    return frame(Kind.INPUT, page.pixels(level), level=level)


def _number(request: web.Request, name: str, usual: int) -> int:
    text = request.query.get(name, str(usual))
    if not text.isdecimal() or len(text) > MOST_DIGITS:
        raise ParameterError(f"{name} {text!r} is not a whole number")
    return int(text)
