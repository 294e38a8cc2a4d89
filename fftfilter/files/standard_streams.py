"""Standard output and standard error as a command has them.

What standard output cannot take is an error that says so, as it would be of a file. What standard error cannot take
is left out: nobody could be told, and a long run is worth more than its messages.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, TextIO, cast

from ..errors import WriteError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class _Guarded:
    """A text stream whose failures are handed on."""

    def __init__(self, stream: TextIO, fail: Callable[[OSError], None]) -> None:
        self._stream = stream
        self._fail = fail

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            self._stream.write(text)
        except OSError as error:
            self._fail(error)
        return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self._fail(error)


@contextmanager
def guarded() -> Iterator[None]:
    """Let writing to standard output raise WriteError, or BrokenPipeError, and writing to standard error nothing.

    A stream without which the program was started becomes one that fails when it is used.
    """
    streams = sys.stdin, sys.stdout, sys.stderr
    # In this order each takes its own number, which no file and no pipe to another process may have.
    sys.stdin = streams[0] or _closed("r", os.O_WRONLY)
    sys.stdout = cast("TextIO", _Guarded(streams[1] or _closed("w", os.O_RDONLY), _raise))
    sys.stderr = cast("TextIO", _Guarded(streams[2] or _closed("w", os.O_RDONLY), lambda _: None))
    try:
        yield
    finally:
        sys.stdin, *outputs = streams
        sys.stdout, sys.stderr = (cast("TextIO", _unless_it_fails(stream)) for stream in outputs)


def _closed(mode: str, opposite: int) -> TextIO:
    """Return a stream that can only be used in the opposite way."""
    number = os.open(os.devnull, opposite)
    os.set_inheritable(number, True)
    return cast("TextIO", open(number, mode, encoding="utf-8"))  # noqa: PTH123  of a descriptor


def _raise(error: OSError) -> NoReturn:
    if isinstance(error, BrokenPipeError):
        raise error
    cause = (error.strerror or str(error)).lower()
    raise WriteError(f"standard output: cannot be written: {cause}; redirect it to another file") from error


def _unless_it_fails(stream: TextIO | None) -> TextIO | None:
    """Return a stream, None if it still holds what it cannot write: Python would try again at its end, and complain."""
    try:
        if stream is not None:
            stream.flush()
    except (OSError, ValueError):
        return None
    return stream
