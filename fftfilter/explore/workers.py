"""Workers: a thread for each kind of work. What nobody waits for any more is dropped, or stops at its next check."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, Any

from ..errors import FftfilterError

if TYPE_CHECKING:
    from collections.abc import Callable

_STOP: ContextVar[threading.Event | None] = ContextVar("stop", default=None)


class StoppedError(FftfilterError):
    """Nobody waits for the result of this work."""


def check() -> None:
    """Raise StoppedError if nobody waits for the work of this thread."""
    stop = _STOP.get()
    if stop and stop.is_set():
        raise StoppedError("canceled")


class Worker:
    """A thread that does one thing after the other."""

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(1, name)

    async def do(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a function returns. If this is canceled, the function is not begun, or its checks raise."""
        stop = threading.Event()

        def work() -> Any:
            _STOP.set(stop)
            check()
            return function(*arguments)

        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, copy_context().run, work)
        finally:
            stop.set()

    def end(self) -> None:
        """Drop what waits."""
        self._thread.shutdown(wait=False, cancel_futures=True)
