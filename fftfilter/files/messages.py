"""Standard input, output and error as a command has them, the progress there, and the texts of errors about files.

Any of the streams may be closed or full. If standard output fails, that is an error, as for a file. If standard error
fails, its text is dropped: there is nobody to report it to, and a long run is worth more than its messages. An error
about a file has the file's name, the cause, and a way out.
"""

from __future__ import annotations

import errno
import io
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from itertools import pairwise
from threading import Timer
from typing import Any, BinaryIO, NoReturn, TextIO, cast

from .. import __version__, signals
from ..errors import ImageError, WriteError, without_secrets

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
        """Write an event."""
        self._stream.write(_line_of(event, **values))
        self._stream.flush()


def _line_of(event: str, **values: object) -> str:
    """Return an event as JSON, with the time and the version."""
    import json

    return json.dumps({"time": now(), "event": event, **values, "version": __version__}) + "\n"


def wants_events(words: Sequence[str]) -> bool:
    """Whether a command line has ``--log json``."""
    return "--log=json" in words or ("--log", "json") in pairwise(words)


def last_line(said: str, code: int) -> str:
    """Return the line that ends a program of this command line, when its streams cannot be used any more."""
    name = "KeyboardInterrupt" if code == 130 else "TerminatedError"
    is_event = wants_events(sys.argv)
    return _line_of("error", message=said, code=name, exit_code=code) if is_event else signals.line_of(said, code)


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


FileName = str | os.PathLike[str]
"""The name of a file: a path, a URL, or "-" for standard input or output."""

_WAY_OUT = {
    **dict.fromkeys((errno.EACCES, errno.EPERM), "check its permissions and its folder's"),
    errno.EBADF: "it is closed; give a file's name",
    errno.EROFS: "choose another folder",
    **dict.fromkeys((errno.ENOENT, errno.ENOTDIR), "check the name"),
    errno.EISDIR: "give a file's name",
    errno.ENAMETOOLONG: "choose a shorter name",
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "free some space or choose another folder"),
}
# The most characters of a library's message. Some quote all that they have read.
_LONGEST = 200


def shown(path: FileName, stream: str) -> str:
    """Return a name as the user gave it, quoted if it is not one readable line; ``stream`` is the name of "-"."""
    text = os.fsdecode(path)
    return stream if text == STANDARD_STREAM else quoted_if_odd(text)


def quoted_if_odd(text: str) -> str:
    """Return a name without passwords, quoted if it is not one readable line."""
    text = without_secrets(text)
    return text if text.isprintable() and text.strip() else repr(text)


def reason(error: Exception) -> str:
    """Return the cause of a system error in words, and a way out where one is known."""
    number, said = (error.errno, error.strerror) if isinstance(error, OSError) else (None, None)
    cause = os.strerror(number).lower() if number else said or first_line(error)
    return f"{cause}; {_WAY_OUT[number]}" if number in _WAY_OUT else cause


@contextmanager
def as_error(kind: type[ImageError], said: str) -> Iterator[None]:
    """Turn system errors into those of a kind, whose message is ``said``, a name and what cannot be done, and why."""
    try:
        yield
    except OSError as error:
        raise kind(f"{said}: {reason(error)}") from error


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, of a long one its beginning, or its type's name if it has none."""
    line = next(iter(str(error).splitlines()), "") or type(error).__name__
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} ..."


# What is shown of work that takes long

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


@contextmanager
def saying_so() -> Iterator[None]:
    """Show a line while programs are compiled, if this takes long, and erase it."""
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
