"""Texts of errors about files: the file's name, the cause, and a way out."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import ImageError, without_secrets
from .standard_streams import STANDARD_STREAM

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
