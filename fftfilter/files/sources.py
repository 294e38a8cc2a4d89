"""All bytes of an input: a file, a URL or standard input."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ReadError, TooLargeError
from . import urls
from .messages import reason, shown
from .standard_streams import STANDARD_STREAM, open_stream

if TYPE_CHECKING:
    from .atomic import Times


def content(source: str | os.PathLike[str]) -> bytes:
    """Return all bytes of a file, which may be a pipe, a URL or "-"; raises ReadError, TooLargeError.

    A file without any bytes is an error, too.
    """
    name = shown(source, "standard input")
    try:
        if os.fsdecode(source) == STANDARD_STREAM:
            data = open_stream(sys.stdin).read()
        elif urls.is_url(source):
            data = urls.content(os.fsdecode(source))
        else:
            data = _file_content(source, name)
    except OSError as error:
        raise ReadError(f"{name}: cannot be read: {reason(error)}") from error
    except MemoryError as error:
        raise TooLargeError(f"{name}: out of memory while reading it; use a smaller image") from error
    if not data:
        raise ReadError(f"{name}: empty (0 bytes); give an image file")
    return data


def _file_content(path: str | os.PathLike[str], name: str) -> bytes:
    # One read of everything needs no buffer; pathlib would cost as much as reading a small file.
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123
        size = os.fstat(file.fileno()).st_size
        if (memory := physical_memory()) and size > memory:
            raise TooLargeError(f"{name}: {size:,} bytes, more than the {memory:,} of this machine's memory")
        # One byte more than the size shows that this is the end. The size of a pipe is 0.
        data = file.read(size + 1) or b""
        return data if len(data) == size else data + file.read()


def times(source: str | os.PathLike[str]) -> Times:
    """Return when a file was last read and changed; raises ReadError."""
    try:
        status = Path(source).stat()
    except OSError as error:
        raise ReadError(f"{shown(source, 'standard input')}: cannot be read: {reason(error)}") from error
    return status.st_atime_ns, status.st_mtime_ns


@cache
def physical_memory() -> int | None:
    """Return the bytes of memory that this machine has, None where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
