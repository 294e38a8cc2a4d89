"""Lines on a terminal: how far the work is, done of all, rate, time left; and that programs are compiled."""

from __future__ import annotations

import shutil
import sys
import time
from contextlib import contextmanager, suppress
from threading import Timer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_SECONDS_BETWEEN = 0.1
_WORTH_A_WORD = 20  # seconds
_CLEAR = "\r\x1b[K"
# Programs that were compiled before are there in less.
COMPILING_SECONDS = 0.3
COMPILING = "compiling for this device, the first time only ..."


class Progress:
    """The line; nothing is written where standard error is no terminal, or if ``quiet``."""

    def __init__(self, total: int, *, quiet: bool = False) -> None:
        self._total = total
        self._done = 0
        self._began = time.monotonic()
        self._shown = 0.0
        self._on = not quiet and sys.stderr.isatty()

    def foretell(self, what: str, seconds: float) -> None:
        """Say how long the work is going to take, if that is long."""
        if self._on and seconds > _WORTH_A_WORD:
            sys.stderr.write(f"fftfilter: {what} take about {clock(seconds)}\n")

    def advance(self) -> None:
        """Count one more; the line is drawn anew a few times a second."""
        self._done += 1
        now = time.monotonic()
        if self._on and now - self._shown >= _SECONDS_BETWEEN:
            self._shown = now
            columns = shutil.get_terminal_size().columns - 1
            _write(_CLEAR + line(self._done, self._total, now - self._began)[:columns])

    def clear(self) -> None:
        """Take the line away, for other words or for good."""
        if self._on and self._shown:
            _write(_CLEAR)
            self._shown = 0.0


def line(done: int, total: int, seconds: float) -> str:
    """Return the words of the line."""
    width = 24
    total = max(total, done, 1)
    full = width * done // total
    rate = done / seconds if seconds > 0 else 0.0
    left = clock((total - done) / rate) if rate else "?"
    return f"[{'#' * full}{'.' * (width - full)}] {done}/{total}  {rate:.3g}/s  {left} left"


def clock(seconds: float) -> str:
    """Return a time as 0:07 or 1:02:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def tell_of_compiling(*, quiet: bool) -> None:
    """Say so on standard error whenever something is compiled; not where that is no terminal, or if ``quiet``."""
    if not quiet and sys.stderr.isatty():
        from ..device import programs

        programs.while_building = _saying_so


@contextmanager
def _saying_so() -> Iterator[None]:
    """Show the line if this takes long, and take it away."""
    timer = Timer(COMPILING_SECONDS, _write, (_CLEAR + COMPILING,))
    timer.daemon = True
    with suppress(RuntimeError):  # no thread more: then nothing is shown
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if timer.ident is not None:
            timer.join()
            _write(_CLEAR)  # or nothing is there to be taken away


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
