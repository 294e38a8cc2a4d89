"""The server: routes below a secret path, for pages of this machine alone.

Nothing answers outside of the path; its token is in the URL that the program prints. Two headers guard against other
sites: a Host that is not a name of this machine is a foreign name for 127.0.0.1, and an Origin other than the server's
is a foreign page. The number of connections is limited, and idle ones are closed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import secrets
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from aiohttp import web

from .. import images
from ..analysis.search import USUAL_STRENGTH, AutoNotches
from ..errors import FftfilterError, ParameterError
from .live import Filtering, Live, line_of
from .request import Request, levels_of, read
from .saving import ChangedError, ElsewhereError, ExistsError, Progress, downloaded, save
from .session import Session
from .shown import Kind, frame, levels, reduced
from .steps import steps
from .workers import Worker

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ..analysis.found import Peak
    from .request import CommandLine
    from .session import FilePage

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
# A request that opens the device.
WARM = {"command": "lowpass"}
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
# Most files of a folder that are listed, and most that are open.
MOST_FILES, OPEN = 500, 3
# Pixels of a side of the small pictures.
SMALL = 128
# Errors in requests of strangers are not logged.
SILENT = logging.getLogger(f"{__name__}.silent")
SILENT.propagate = False
SILENT.addHandler(logging.NullHandler())


def _refusal(error: Exception) -> web.Response:
    """Return the response for an error."""
    if isinstance(error, ExistsError):
        return web.json_response({"error": line_of(error), "overwrite": error.answer, "free": error.free}, status=409)
    if isinstance(error, ChangedError):
        return web.json_response({"error": line_of(error), "changed": True}, status=409)
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
        self._first, self._commands, self._start, self._visited = session, commands, start, visited
        self._sessions = {Path(session.source).name: session}
        self._device = session.device
        self.token = secrets.token_urlsafe(16)
        # None waits for another: what is filtered, what the page draws, small pictures, long searches, saving.
        self._filtering, self._small = Filtering("filtering"), Filtering("small")
        self._drawing, self._long, self._saving = Worker("drawing"), Worker("long"), Worker("saving")
        self._progress = Progress()
        # Pictures of the last run of the steps.
        self._pictures: list[bytes] = []
        self._run = 0
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
                web.get(f"{path}/about", self._of_page(lambda page, _: page.about())),
                web.get(f"{path}/wave", self._of_page(_wave)),
                web.get(f"{path}/peaks", self._peaks),
                web.get(f"{path}/files", self._files),
                web.get(f"{path}/small", self._small_picture),
                web.get(f"{path}/number", self._number),
                web.get(f"{path}/units", self._units),
                web.get(f"{path}/steps", self._go_through),
                web.get(f"{path}/steps/{{number:[0-9]{{1,3}}}}.png", self._step),
                web.post(f"{path}/save", self._save),
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
            self.app(),
            access_log=None,
            logger=SILENT,
            shutdown_timeout=PATIENCE,
            keepalive_timeout=IDLE,
            handler_cancellation=True,
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
                start = Request.of(self._start or WARM, self._commands)
                warm = self._filtering.do(self._filtering.answers.answer, start, self._first, self._commands)
                warming = loop.create_task(warm)
                warming.add_done_callback(lambda done: done.cancelled() or done.exception())
                # A signal that arrives just before the loop waits is handled when the wait ends.
                while True:
                    await asyncio.sleep(PATIENCE)
        finally:
            await runner.cleanup()

    async def _end(self, _: web.Application) -> None:
        for worker in (self._filtering, self._small, self._drawing, self._long, self._saving):
            worker.end()

    async def _index(self, _: web.Request) -> web.StreamResponse:
        self._visited()
        return _of_page_file("index.html")

    async def _file(self, request: web.Request) -> web.StreamResponse:
        return _of_page_file(request.match_info["name"])

    def _session(self, name: object) -> Session:
        """Return the session of a file of the folder, by default the one that was given; raises FftfilterError."""
        if name is None:
            return self._first
        found = self._sessions.get(str(name))
        if found is None:
            if name not in self._names():
                raise ParameterError("this is not a picture of the folder")
            path, out = str(self._folder / str(name)), str(Path(self._first.target).parent)
            found = Session(path, None, self._device, out)
            for old in [*self._sessions][1 : 2 - OPEN]:
                del self._sessions[old]
            self._sessions[str(name)] = found
        return found

    @property
    def _folder(self) -> Path:
        return Path(self._first.source).parent

    def _names(self) -> list[str]:
        """Return the names of the pictures in the folder."""
        suffixes = images.extensions(read_only=True)
        found = (each.name for each in self._folder.iterdir() if each.suffix.lower() in suffixes and each.is_file())
        return sorted(found)[:MOST_FILES]

    async def _files(self, _: web.Request) -> web.StreamResponse:
        return web.json_response({"files": await self._drawing.do(self._names)})

    async def _picture(self, request: web.Request) -> web.StreamResponse:
        name = request.query.get("file")
        if name in self._sessions and self._sessions[name].has_changed:
            again = self._sessions.pop(name)
            if again is self._first:
                self._first = self._sessions[name] = await self._drawing.do(
                    Session, again.source, again.target, self._device
                )
        session = await self._drawing.do(self._session, name)
        return web.json_response(await self._drawing.do(session.described, self._start, self._commands.options))

    async def _peaks(self, request: web.Request) -> web.StreamResponse:
        strength = _decimal(request, "strength", USUAL_STRENGTH)
        session = await self._drawing.do(self._session, request.query.get("file"))
        found = await self._long.do(session.waves, AutoNotches(strength))
        return web.json_response({"peaks": [_described(each) for each in found]})

    async def _small_picture(self, request: web.Request) -> web.StreamResponse:
        """Send a small picture of a file, or of the result of a request."""
        text = request.query.get("request")

        def make() -> bytes:
            given = read(text or "{}")
            session = self._session(given.get("file") if text else request.query.get("file"))
            if text:
                commands = self._commands.of(session.source)
                answer = self._small.answers.answer(Request.of(given, commands), session, commands)
                pixels = answer.pixels()
            else:
                page = session.page(_number(request, "page", 0))
                pixels = page.pixels(levels(*page.size)[-1])
            return frame(
                Kind.INPUT, reduced(pixels, max(1, max(pixels.shape[:2]) // (_number(request, "size", SMALL) or 1)))
            )

        made = await self._small.do(make)
        return web.Response(body=made, content_type="application/octet-stream")

    async def _number(self, request: web.Request) -> web.StreamResponse:
        session = self._session(request.query.get("file"))
        asked = (request.query.get(name, "") for name in ("text", "unit", "pixel_size"))
        return web.json_response(session.number(*asked))

    async def _units(self, request: web.Request) -> web.StreamResponse:
        session = self._session(request.query.get("file"))
        return web.json_response(session.units(request.query.get("pixel_size", "")))

    async def _go_through(self, request: web.Request) -> web.StreamResponse:
        given = read(request.query.get("request", ""))
        session = await self._drawing.do(self._session, given.get("file"))
        commands = self._commands.of(session.source)
        made = await self._long.do(steps, Request.of(given, commands), session, commands)
        self._pictures, self._run = made.pictures, self._run + 1
        return web.json_response(made.told | {"run": self._run})

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
        wanted, out = given.get("request"), given.get("out")
        if not isinstance(wanted, dict):
            raise ParameterError("what is to be saved is missing: give a request, and out")
        session = await self._drawing.do(self._session, wanted.get("file"))
        commands = self._commands.of(session.source)
        words = Request.of(wanted, commands).words
        if given.get("download") is True:
            made = await self._saving.do(downloaded, words, out, session, commands)
            return web.Response(body=made, content_type="application/octet-stream")
        self._progress = Progress()
        asked = out, given.get("overwrite")
        return web.json_response(await self._saving.do(save, words, asked, session, commands, self._progress))

    async def _saved(self, _: web.Request) -> web.StreamResponse:
        return web.json_response({"done": self._progress.done, "total": self._progress.total})

    async def _follow(self, request: web.Request) -> web.StreamResponse:
        return await Live(self._session, self._commands, self._filtering, self._long).serve(request)

    def _of_page(self, make: Callable[[FilePage, web.Request], Any]) -> Handler:
        """Return the handler that sends the result of ``make`` for a page; it is computed beside the filtering."""

        async def handler(request: web.Request) -> web.StreamResponse:
            number, name = _number(request, "page", 0), request.query.get("file")
            made = await self._drawing.do(lambda: make(self._session(name).page(number), request))
            if isinstance(made, bytes):
                return web.Response(body=made, content_type="application/octet-stream")
            return web.json_response(made)

        return handler


def _of_page_file(name: str) -> web.Response:
    # Names are compared with existing ones: no path leads elsewhere.
    found = next((each for each in PAGE.iterdir() if each.name == name and each.suffix in TYPES), None)
    if found is None:
        raise web.HTTPNotFound
    return web.Response(body=found.read_bytes(), content_type=TYPES[found.suffix], charset="utf-8")


def _spectrum(page: FilePage, request: web.Request) -> bytes:
    channel = _number(request, "channel", 0) if "channel" in request.query else None
    if channel is not None and channel >= len(page.picture.planes):
        raise ParameterError(f"channel {channel} is not one of {len(page.picture.planes)}, counted from 0")
    return frame(Kind.SPECTRUM, page.spectrum_pixels(channel))


def _input(page: FilePage, request: web.Request) -> bytes:
    level = _number(request, "level", 1)
    shown = request.query.get("levels")
    return frame(Kind.INPUT, page.pixels(level, levels_of(json.loads(shown)) if shown else None), level=level)


def _described(peak: Peak) -> dict[str, Any]:
    """Return a peak as ``fftfilter peaks --json`` prints it, with the widths of its notches."""
    told = peak.described() | {"width_cyc": peak.width}
    for each, harmonic in zip(told["harmonics"], peak.harmonics, strict=True):
        each["width_cyc"] = harmonic.peak.width
    return told


def _wave(page: FilePage, request: web.Request) -> dict[str, float]:
    return page.wave(_decimal(request, "fx", 0), _decimal(request, "fy", 0))


def _decimal(request: web.Request, name: str, usual: float) -> float:
    text = request.query.get(name, str(usual))
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not abs(found) < 1e9:
        raise ParameterError(f"{name} {text[:20]!r} is not a number")
    return found


def _number(request: web.Request, name: str, usual: int) -> int:
    text = request.query.get(name, str(usual))
    if not text.isdecimal() or len(text) > MOST_DIGITS:
        raise ParameterError(f"{name} {text!r} is not a whole number")
    return int(text)
