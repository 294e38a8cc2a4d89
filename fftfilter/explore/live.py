"""The WebSocket: a moving pointer sends many requests, and the newest one is answered, one at a time."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from aiohttp import WSMsgType, web

from ..errors import FftfilterError
from .answers import gain_map, gains_of, words
from .request import Request, field_of, number_of, read

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ..transfer import Transfer
    from .answers import Answer, Answers
    from .request import CommandLine
    from .session import Session

    Message = str | bytes

# Most bytes of a request.
LARGEST = 1 << 17
# Seconds between two updates of the words beside the picture: people read no faster.
APART = 0.2
# Seconds between two pings to a page.
HEARTBEAT = 30


class Live:
    """Answers the requests of one page. ``thread`` filters for all pages."""

    def __init__(self, session: Session, commands: CommandLine, answers: Answers, thread: Executor) -> None:
        self._session, self._commands, self._answers, self._thread = session, commands, answers, thread
        self._said_at = 0.0
        self._mapped: Transfer | None = None

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Answer until the page closes its socket."""
        socket = web.WebSocketResponse(compress=False, max_msg_size=LARGEST, heartbeat=HEARTBEAT)
        await socket.prepare(request)
        newest = asyncio.Queue[str](1)
        answering = asyncio.create_task(self._answer_all(socket, newest))
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    if newest.full():
                        newest.get_nowait()
                    newest.put_nowait(message.data)
        finally:
            answering.cancel()
            with suppress(asyncio.CancelledError, ConnectionError):
                await answering
        return socket

    async def _answer_all(self, socket: web.WebSocketResponse, newest: asyncio.Queue[str]) -> None:
        run = asyncio.get_running_loop().run_in_executor
        unsaid: Answer | None = None
        while True:
            text = None
            with suppress(TimeoutError):
                async with asyncio.timeout(APART if unsaid else None):
                    text = await newest.get()
            if text is not None:
                message, unsaid = await run(self._thread, self._answer, text)
                await _send(socket, message)
            # The picture first: while the browser draws it, there is time for words.
            if unsaid and (text is None or monotonic() - self._said_at >= APART):
                for message in await run(self._thread, self._words, unsaid):
                    await _send(socket, message)
                unsaid = None

    def _answer(self, text: str) -> tuple[Message, Answer | None]:
        """Return the frame that answers a request and the answer that words are due for; or an error's message."""
        number = None
        try:
            given = read(text)
            number = number_of(given)
            answer = self._answers.answer(Request.of(given, self._commands))
            return answer.frame(), answer
        except Exception as error:  # noqa: BLE001  the page must not wait forever
            return self._refusal(number, error), None

    def _refusal(self, number: int | None, error: Exception) -> str:
        line = line_of(error)
        # The path of the file may contain the name of an option.
        field = field_of(line.replace(self._session.source, ""), self._commands)
        return json.dumps({"id": number, "error": line, "field": field})

    def _words(self, answer: Answer) -> list[Message]:
        """Return the words about an answer, and the map of its gains if they changed; or an error's message."""
        self._said_at = monotonic()
        try:
            gains, is_new = gains_of(answer), answer.transfer != self._mapped
            about = words(answer, self._session, gains) | {"gain_map": "changed" if is_new else None}
        except Exception as error:  # noqa: BLE001  likewise
            return [self._refusal(answer.request.id, error)]
        self._mapped = answer.transfer
        return [json.dumps(about), *([gain_map(answer, gains)] if is_new else [])]


async def _send(socket: web.WebSocketResponse, message: Message) -> None:
    if isinstance(message, str):
        await socket.send_str(message)
    else:
        await socket.send_bytes(message)


def line_of(error: Exception) -> str:
    """Return an error in one line, as the command line prints it, also for unexpected errors."""
    if isinstance(error, FftfilterError):
        return str(error)
    if isinstance(error, MemoryError):
        return "out of memory: take a smaller picture"
    return f"internal error: {type(error).__name__}: {' '.join(str(error).split())}"
