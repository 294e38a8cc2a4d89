"""Standard input, output and error as a command has them: any of them may be closed or full.

If standard output fails, that is an error, as for a file. If standard error fails, its text is dropped: there is
nobody to report it to, and a long run is worth more than its messages.
"""

from __future__ import annotations

import errno
import io
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, BinaryIO, NoReturn, TextIO, cast

from .. import __version__
from ..errors import WriteError

STANDARD_STREAM = "-"  # the name of standard input and standard output among the names of files


def open_stream(stream: TextIO | None) -> BinaryIO:
    """Return the bytes of standard input or output; raises OSError if the program was started without it."""
    if stream is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    return stream.buffer


@contextmanager
def guarded() -> Iterator[None]:
    """Turn failures of standard output into WriteError or BrokenPipeError, and ignore those of standard error.

    A stream that the program was started without becomes one that fails when it is used.
    """
    streams = sys.stdin, sys.stdout, sys.stderr
    # In this order each missing stream takes its own number, 0 to 2, which no file and no pipe may get.
    sys.stdin = streams[0] or _closed("r", os.O_WRONLY)
    sys.stdout = cast("TextIO", _Guarded(streams[1] or _closed("w", os.O_RDONLY), _raise))
    sys.stderr = cast("TextIO", _Guarded(streams[2] or _closed("w", os.O_RDONLY), lambda _: None))
    try:
        yield
    finally:
        sys.stdin, *outputs = streams
        sys.stdout, sys.stderr = (cast("TextIO", _unless_it_fails(stream)) for stream in outputs)


class Events:
    """Standard error as lines of JSON, one an event: a line of prose is the event ``message``."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._line = stream, ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def isatty(self) -> bool:
        """Return False: nothing is drawn."""
        return False

    def write(self, text: str) -> None:
        """Write text, whose lines become events when they end."""
        *lines, self._line = (self._line + text).split("\n")
        for line in filter(str.strip, lines):
            self.tell("message", message=line.removeprefix("fftfilter: "))

    def tell(self, event: str, **values: object) -> None:
        """Write an event, which has the time and the version."""
        import json

        self._stream.write(json.dumps({"time": now(), "event": event, **values, "version": __version__}) + "\n")
        self._stream.flush()


def now() -> str:
    """Return the time as ISO 8601 has it, in UTC."""
    seconds = time.time()
    return time.strftime(f"%Y-%m-%dT%H:%M:%S.{int(seconds % 1 * 1000):03}Z", time.gmtime(seconds))


def tell(event: str, **values: object) -> bool:
    """Write an event, and return whether that is wanted of standard error."""
    if is_wanted := isinstance(sys.stderr, Events):
        sys.stderr.tell(event, **values)
    return is_wanted


class _Guarded:
    def __init__(self, stream: TextIO, fail: Callable[[OSError], Any]) -> None:
        self._stream, self._fail = stream, fail

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._stream, name)
        return partial(self._call, found) if name in ("write", "flush") else found

    def _call(self, method: Callable[..., Any], *text: str) -> Any:
        try:
            return method(*text)
        except OSError as error:
            return self._fail(error)


def _closed(mode: str, opposite: int) -> TextIO:
    """Return a stream that fails when it is used: its file is opened for the opposite of its mode."""
    number = os.open(os.devnull, opposite)
    os.set_inheritable(number, True)
    # Without a buffer, whose rest Python 3.13 would complain of in the end.
    return io.TextIOWrapper(cast("BinaryIO", io.FileIO(number, mode)), encoding="utf-8", write_through=True)


def _raise(error: OSError) -> NoReturn:
    if isinstance(error, BrokenPipeError):
        raise error
    cause = (error.strerror or str(error)).lower()
    raise WriteError(f"standard output: cannot be written: {cause}; redirect it to another file") from error


def _unless_it_fails(stream: TextIO | None) -> TextIO | None:
    """Return a stream, None if it cannot be flushed: at exit Python would try again, and complain."""
    with suppress(OSError, ValueError):
        if stream is not None:
            stream.flush()
        return stream
    return None
