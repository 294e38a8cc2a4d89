"""The WebSocket: a moving pointer sends many requests, and the newest one is answered, one at a time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
from aiohttp import WSMsgType, web

from ..errors import FftfilterError
from ..transfer import Transfer
from .answers import Answer, Answers, words
from .request import Request, field_of, levels_of, number_of, read, view_of
from .session import ChangedError, Folder, Session, Worker
from .shown import Kind, at, frame

if TYPE_CHECKING:
    from ..commands.explore import Commands

# Most bytes of a request.
LARGEST = 1 << 17
# Seconds between two text updates: people read no faster.
APART = 0.2
# Seconds between two pings to a page.
HEARTBEAT = 30
# What is done before a picture is filtered, by the command.
LOOKS = {"descreen": "Looking for a printer's screen", "wiener": "Measuring the noise"}
# The start of a message that asks for gray levels at points, the most points, and the most pixels of a loupe.
VALUES, MOST_POINTS, LOUPE = '{"values"', 2048, 1 << 20


class Live:
    """Answers the requests of one page. ``filtering`` filters for all pages, ``long`` searches for waves."""

    def __init__(self, folder: Folder, commands: Commands, filtering: Answers, long: Worker) -> None:
        self._folder, self._commands, self._filtering, self._long = folder, commands, filtering, long
        self._newest, self._newer = "", asyncio.Event()
        self._number: int | None = None
        self._command: object = None
        self._session: Session | None = None
        self._unsaid: Answer | None = None
        self._said_at = 0.0
        self._mapped: Transfer | None = None
        self._last: Answer | None = None

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Answer until the page closes its socket."""
        self._socket = socket = web.WebSocketResponse(compress=False, max_msg_size=LARGEST, heartbeat=HEARTBEAT)
        await socket.prepare(request)
        answering = asyncio.create_task(self._answer_all())
        try:
            async for message in socket:
                if message.type is not WSMsgType.TEXT:
                    continue
                if message.data.startswith(VALUES):
                    for told in await self._filtering.do(self._values, message.data):
                        await self._send(told)
                    continue
                self._newest = message.data
                self._newer.set()
        finally:
            answering.cancel()
            with suppress(asyncio.CancelledError, ConnectionError):
                await answering
        return socket

    async def _answer_all(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(APART if self._unsaid else None):
                    await self._newer.wait()
            try:
                if is_new := self._newer.is_set():
                    await self._answer()
                # The picture first: while the browser draws it, there is time for words.
                if self._unsaid and (not is_new or monotonic() - self._said_at >= APART):
                    await self._say(self._unsaid)
            except ConnectionError:
                raise
            except Exception as raised:  # noqa: BLE001  the page must not wait forever
                self._unsaid, source = None, self._session.source if self._session else ""
                has_changed = self._session and self._session.has_changed  # such as a stack that has fewer pages now
                error = ChangedError(source) if has_changed else raised
                line = line_of(error)
                # The path of the file may contain the name of an option.
                field = field_of(line.replace(source or line, ""), self._command, self._commands)
                told = {"id": self._number, "error": line, "field": field, "changed": isinstance(error, ChangedError)}
                await self._send(json.dumps(told))

    async def _answer(self) -> None:
        """Send the frame that answers the newest request, unless a newer one comes; raises what goes wrong."""
        self._newer.clear()
        self._number = self._unsaid = self._command = self._session = None
        given = read(self._newest)
        self._number, self._command = number_of(given), given.get("command")
        request: Request = await self._filtering.do(self._asked, given)
        asked = request.recipe, request.page
        if not request.session.is_measured(*asked):
            doing = LOOKS.get(request.words[0], "Looking for patterns")
            await self._send(json.dumps({"id": self._number, "doing": doing}))
            if not await self._before_newer(self._long.do(request.session.measured, *asked)):
                return
        answer: Answer = await self._filtering.do(self._filtering.answer, request)
        await self._send(await self._filtering.do(answer.frame))
        self._last = self._unsaid = answer

    async def _say(self, answer: Answer) -> None:
        """Send the words about an answer, and the map of its gains if they changed."""
        self._said_at, transfer = monotonic(), answer.measured.transfer
        for message in await self._filtering.do(lambda: words(answer, is_mapped=transfer == self._mapped)):
            await self._send(message)
        self._mapped, self._unsaid = transfer, None

    def _asked(self, given: dict[str, Any]) -> Request:
        self._session = self._folder.session(given.get("file"))
        return Request.of(given, self._commands, self._folder)

    async def _before_newer(self, work: Coroutine[Any, Any, Any]) -> bool:
        """Wait for work, and cancel it if a newer request comes; return whether it was done. Raises its errors."""
        newer, done = asyncio.create_task(self._newer.wait()), asyncio.create_task(work)
        try:
            await asyncio.wait({newer, done}, return_when=asyncio.FIRST_COMPLETED)
            if is_done := done.done():
                done.result()  # raises its error
            return is_done
        finally:
            newer.cancel()
            done.cancel()

    def _values(self, text: str) -> list[str | bytes]:
        """Return the gray levels at the points of a message, before and after filtering; then its view of both."""
        told: dict[str, Any] = {}
        parts: list[bytes] = []
        with suppress(FftfilterError, LookupError, ValueError, TypeError, OverflowError):
            given = read(text)
            points = np.array(given["values"], np.int64).reshape(-1, 2)[:MOST_POINTS]
            page = self._folder.session(given.get("file")).page(given["page"])
            after = self._last.values(points) if self._last and self._last.page is page else {}
            told = {"tag": given["tag"], "before": at(page.picture.planes, points, page.holes), **after}
            view = view_of(given.get("view"))
            if view and (view[2] - view[0]) * (view[3] - view[1]) <= LOUPE:
                levels, level = levels_of(given.get("levels")), page.levels[0]
                halves = [page.pixels(level, levels, [each // level for each in view])]
                if after and self._last:
                    asked = replace(self._last.request, view=view, level=1, levels=levels)
                    halves.append(replace(self._last, request=asked).pixels())
                both, number = np.concatenate(halves, axis=1), after.get("id", 0)
                parts = [frame(Kind.LOUPE, both, number=number, level=level, place=view[:2])]
        return [json.dumps({"values": told}), *parts]

    async def _send(self, message: str | bytes) -> None:
        if isinstance(message, str):
            await self._socket.send_str(message)
        else:
            await self._socket.send_bytes(message)


def line_of(error: Exception) -> str:
    """Return an error in one line, as the command line prints it, also for unexpected errors."""
    if isinstance(error, FftfilterError):
        return str(error)
    if isinstance(error, MemoryError):
        return "out of memory: take a smaller picture"
    return f"internal error: {type(error).__name__}: {' '.join(str(error).split())}"
