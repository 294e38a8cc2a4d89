"""Lines on a terminal: the progress bar, with rate and time left, and a line while programs are compiled."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from threading import Timer

from ..files.standard_streams import tell

_SECONDS_BETWEEN = 0.1
SECONDS_BETWEEN_LINES = 30.0  # where there is no terminal
_CLEAR = "\r\x1b[K"
# Programs that were compiled before are there in less.
COMPILING_SECONDS = 0.3
COMPILING = "compiling for this device, the first time only ..."


class Progress:
    """A progress bar on standard error, or if that is no terminal a line now and then, unless ``quiet``."""

    def __init__(self, total: int, *, quiet: bool = False) -> None:
        self.total = total
        self._done = 0
        self._began = self._told = time.monotonic()
        self._shown = 0.0
        self._quiet, self._on = quiet, not quiet and sys.stderr.isatty()

    def advance(self) -> None:
        """Count one more; the line is drawn anew a few times a second."""
        self._done += 1
        now = time.monotonic()
        if not (self._on or self._quiet) and now - self._told >= SECONDS_BETWEEN_LINES:
            self._told, seconds = now, now - self._began
            if not tell("progress", done=self._done, total=self.total, seconds=round(seconds, 3)):
                _write(f"fftfilter: {line(self._done, self.total, seconds).partition('] ')[2]}\n")
        if self._on and now - self._shown >= _SECONDS_BETWEEN:
            self._shown = now
            columns = shutil.get_terminal_size().columns - 1
            _write(_CLEAR + line(self._done, self.total, now - self._began)[:columns])

    def clear(self) -> None:
        """Erase the bar, to make room for other lines or for good."""
        if self._on and self._shown:
            _write(_CLEAR)
            self._shown = 0.0


def line(done: int, total: int, seconds: float) -> str:
    """Return the text of the bar."""
    width = 24
    total = max(total, done, 1)
    full = width * done // total
    rate = done / seconds if seconds > 0 else 0.0
    left = timedelta(seconds=round((total - done) / rate)) if rate else "?"
    return f"[{'#' * full}{'.' * (width - full)}] {done}/{total}  {rate:.3g}/s  {left} left"


def tell_of_compiling(*, quiet: bool) -> None:
    """Show a line while programs are compiled, if standard error is a terminal and not ``quiet``."""
    if not quiet and sys.stderr.isatty():
        from ..device import opencl

        opencl.while_building = _saying_so


@contextmanager
def _saying_so() -> Iterator[None]:
    """Show the line if this takes long, and erase it."""
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
            _write(_CLEAR)


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
