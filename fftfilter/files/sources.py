"""All bytes of an input: a file, a URL or standard input."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from io import BufferedReader, FileIO
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from ..errors import ParameterError, ReadError, TooLargeError
from ..system import free_memory, lacking
from . import urls
from .folder import located
from .messages import STANDARD_STREAM, FileName, as_error, open_stream, shown

Identity = tuple[int, int]  # the device and inode of a file, which are the same for all its names
Times = tuple[int, int]  # when a file was last read and changed, in nanoseconds
LARGE = 1 << 24  # bytes of a file that is read in parts where that is possible
_PART = 1 << 20  # bytes that are read, or digested, at a time


def content(source: FileName, limit: int | None = None, look: Callable[[bytes, str], None] | None = None) -> bytes:
    """Return all bytes of a file, which may be a pipe, a URL or "-"; raises ReadError, TooLargeError.

    ``limit`` is the most bytes of a stream, whose length shows at its end only; by default half of the free memory.
    ``look`` is called with a stream's first MiB and its name before more is read, and may raise. A file without any
    bytes is an error, too.
    """
    name = shown(source, "standard input")
    with as_error(ReadError, f"{name}: cannot be read"):
        if urls.is_url(source):
            most = _most(limit)
            data = urls.content(os.fsdecode(source), most + 1)
            _refuse_beyond(most, len(data), name)
        elif os.fsdecode(source) == STANDARD_STREAM:
            data = _all_bytes(open_stream(sys.stdin), name, limit, look)
        else:
            # One read of everything needs no buffer; pathlib would cost as much as reading a small file.
            with open(source, "rb", buffering=0) as file:  # noqa: PTH123
                data = _all_bytes(file, name, limit, look)
    if not data:
        raise ReadError(f"{name}: empty (0 bytes); give an image file")
    return data


class Slices:
    """The bytes of a file with a buffer, read when they are asked for: ``slices[start:stop]``."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self._lock = file, Lock()  # pages are read while others are written
        self._size = file.seek(0, os.SEEK_END)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> bytes:
        start, stop, _ = part.indices(self._size)
        with self._lock:
            self.file.seek(start)
            return self.file.read(max(0, stop - start))

    def close(self) -> None:
        """Close the file."""
        self.file.close()


Content = bytes | Slices  # a file's bytes, in memory or read when they are asked for


def digest_of(content: Content) -> str:
    """Return a digest of bytes that tells whether they have changed; it is no defense against malice."""
    from xxhash import xxh3_128  # for folders alone

    digest = xxh3_128()
    for start in range(0, len(content), _PART):
        digest.update(content[start : start + _PART])
    return digest.hexdigest()


def checked_digest(file: FileName, content: Content, wanted: str | None) -> str:
    """Return the digest of a file's bytes; raises ParameterError if it is not the one that a recipe has."""
    if wanted not in (None, found := digest_of(content)):
        name = shown(file, "standard input")
        raise ParameterError(f"{name}: has changed since the recipe was saved: restore it, or save the recipe again")
    return found


def as_file(data: Content) -> BinaryIO:
    """Return a file's bytes as a file to read."""
    if isinstance(data, bytes):
        return io.BytesIO(data)
    data.file.seek(0)
    return data.file


def large_file(source: FileName, starts: tuple[bytes, ...], least: int | None = None) -> Slices | None:
    """Return a file of this machine that begins in one of these ways, to be read in parts; None if it is not large.

    ``least`` is how many bytes a large one has, by default ``LARGE``.
    """
    with suppress(OSError):  # `content` says why
        if urls.is_url(source) or os.stat(source).st_size < (LARGE if least is None else least):  # noqa: PTH116  pathlib costs as much as a small file
            return None
        slices = Slices(open(source, "rb"))  # noqa: PTH123, SIM115  the caller closes it
        if stat.S_ISREG(os.fstat(slices.file.fileno()).st_mode) and slices[:4].startswith(starts):
            return slices
        slices.close()
    return None


def _all_bytes(
    file: BinaryIO | FileIO, name: str, limit: int | None, look: Callable[[bytes, str], None] | None
) -> bytes:
    status = os.fstat(file.fileno())
    if stat.S_ISREG(status.st_mode):
        if (free := lacking(status.st_size)) is not None:
            raise TooLargeError(f"{name}: {status.st_size:,} bytes, more than the {free:,} of memory that are free")
        return file.read() or b""
    if isinstance(file, FileIO):
        file = BufferedReader(file)  # which waits for as many bytes as it is asked for, unlike a pipe
    parts: list[bytes] = []
    most, length = _most(limit), 0
    while part := file.read(_PART):
        if look and not parts and len(part) == _PART:
            look(part, name)
        parts.append(part)
        length += len(part)
        _refuse_beyond(most, length, name)
    return b"".join(parts)


def _most(limit: int | None) -> int:
    """Return the most bytes to read of a stream; those of the joined parts and of the parts are in memory at once."""
    if limit is None:
        free = free_memory()
        return sys.maxsize if free is None else free // 2
    return limit


def _refuse_beyond(most: int, length: int, name: str) -> None:
    if length > most:
        raise TooLargeError(f"{name}: has more than {most:,} bytes; --input-limit sets another limit")


def is_drawn_mask(name: str) -> bool:
    """Whether a name is one that explore gives to a mask: NAME-region-DIGEST.png."""
    return name.endswith(".png") and name[-20:-12] == "-region-" and not name[-12:-4].strip("0123456789abcdef")


def identity(path: FileName, *, is_output: bool = False) -> Identity | None:
    """Return a value that is the same for all names of a file; "-" is standard input, or output.

    None for a pipe, a device, a URL, and a missing file.
    """
    try:
        if (name := os.fsdecode(path)) == STANDARD_STREAM:
            status = os.fstat(open_stream(sys.stdout if is_output else sys.stdin).fileno())
        else:
            name, folder = located(path)
            status = os.stat(urls.of_this_machine(name), dir_fd=folder)
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def times(source: FileName) -> Times:
    """Return when a file was last read and changed; raises ReadError."""
    with as_error(ReadError, f"{shown(source, 'standard input')}: cannot be read"):
        status = Path(source).stat()
    return status.st_atime_ns, status.st_mtime_ns
