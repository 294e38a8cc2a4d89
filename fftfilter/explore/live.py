"""The WebSocket: a moving pointer sends many requests, and the newest one is answered, one at a time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
from aiohttp import WSMsgType, web

from ..errors import FftfilterError
from ..transfer import Transfer
from .answers import Answer, Answers, words
from .request import Request, field_of, number_of, read
from .session import Folder, Worker
from .shown import at

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
# The start of a message that asks for gray levels at points, and the most points.
VALUES, MOST_POINTS = '{"values"', 2048


class Live:
    """Answers the requests of one page. ``filtering`` filters for all pages, ``long`` searches for waves."""

    def __init__(self, folder: Folder, commands: Commands, filtering: Answers, long: Worker) -> None:
        self._folder, self._commands, self._filtering, self._long = folder, commands, filtering, long
        self._said_at = 0.0
        self._mapped: Transfer | None = None
        self._last: Answer | None = None
        self._source = ""

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Answer until the page closes its socket."""
        self._socket = socket = web.WebSocketResponse(compress=False, max_msg_size=LARGEST, heartbeat=HEARTBEAT)
        await socket.prepare(request)
        self._newest = asyncio.Queue[str](1)
        self._newer = asyncio.Event()
        answering = asyncio.create_task(self._answer_all())
        try:
            async for message in socket:
                if message.type is not WSMsgType.TEXT:
                    continue
                if message.data.startswith(VALUES):
                    await self._send(await self._filtering.do(self._values, message.data))
                    continue
                if self._newest.full():
                    self._newest.get_nowait()
                self._newest.put_nowait(message.data)
                self._newer.set()
        finally:
            answering.cancel()
            with suppress(asyncio.CancelledError, ConnectionError):
                await answering
        return socket

    async def _answer_all(self) -> None:
        unsaid: Answer | None = None
        while True:
            text = None
            with suppress(TimeoutError):
                async with asyncio.timeout(APART if unsaid else None):
                    text = await self._newest.get()
            if text is not None:
                self._newer.clear()
                unsaid = await self._answer(text)
            # The picture first: while the browser draws it, there is time for words.
            if unsaid and (text is None or monotonic() - self._said_at >= APART):
                for message in await self._filtering.do(self._words, unsaid):
                    await self._send(message)
                unsaid = None

    async def _answer(self, text: str) -> Answer | None:
        """Send the frame that answers a request, or an error's message; return the answer that words are due for."""
        number = None
        try:
            given = read(text)
            number = number_of(given)
            request: Request = await self._filtering.do(self._asked, given)
            asked = request.recipe, request.page
            if not request.session.is_measured(*asked):
                doing = LOOKS.get(request.words[0], "Looking for patterns")
                await self._send(json.dumps({"id": number, "doing": doing}))
                if not await self._before_newer(self._long.do(request.session.measured, *asked)):
                    return None
            answer: Answer = await self._filtering.do(self._filtering.answer, request)
            await self._send(await self._filtering.do(answer.frame))
        except ConnectionError:
            raise
        except Exception as error:  # noqa: BLE001  the page must not wait forever
            await self._send(self._refusal(number, error))
            return None
        self._last = answer
        return answer

    def _asked(self, given: dict[str, Any]) -> Request:
        self._source = self._folder.session(given.get("file")).source
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

    def _values(self, text: str) -> str:
        """Return the gray levels at the points of a message, for the page before filtering and for its last result."""
        told: dict[str, Any] = {}
        with suppress(FftfilterError, LookupError, ValueError, TypeError, OverflowError):
            given = read(text)
            points = np.array(given["values"], np.int64).reshape(-1, 2)[:MOST_POINTS]
            page = self._folder.session(given.get("file")).page(given["page"])
            after = self._last.values(points) if self._last and self._last.page is page else {}
            told = {"tag": given["tag"], "before": at(page.picture.planes, points, page.holes), **after}
        return json.dumps({"values": told})

    def _words(self, answer: Answer) -> list[str | bytes]:
        """Return the words about an answer, and the map of its gains if they changed; or an error's message."""
        self._said_at = monotonic()
        try:
            messages = words(answer, is_mapped=answer.measured.transfer == self._mapped)
        except Exception as error:  # noqa: BLE001  likewise
            return [self._refusal(answer.request.id, error)]
        self._mapped = answer.measured.transfer
        return messages

    def _refusal(self, number: int | None, error: Exception) -> str:
        line = line_of(error)
        # The path of the file may contain the name of an option.
        field = field_of(line.replace(self._source or line, ""), self._commands)
        return json.dumps({"id": number, "error": line, "field": field})

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
