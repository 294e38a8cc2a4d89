"""A line on a terminal while programs are compiled for a device: seconds, the first time."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from threading import Timer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Programs that were compiled before are there in less.
SECONDS = 0.3
LINE = "compiling for this device, the first time only ..."
_CLEAR = "\r\x1b[K"


def tell_of_compiling(*, quiet: bool) -> None:
    """Say so on standard error whenever something is compiled; not where that is no terminal, or if ``quiet``."""
    if not quiet and sys.stderr.isatty():
        from ...device import programs

        programs.while_building = _saying_so


@contextmanager
def _saying_so() -> Iterator[None]:
    """Show the line if this takes long, and take it away."""
    timer = Timer(SECONDS, _write, (_CLEAR + LINE,))
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
