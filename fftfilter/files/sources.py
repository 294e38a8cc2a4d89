"""All bytes of an input: a file, a URL or standard input.

And folders that are held open: what is written in one lands there, whatever its path leads to by then.
"""

from __future__ import annotations

import errno
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
from .messages import STANDARD_STREAM, FileName, as_error, open_stream, shown

HAS_HANDLES = os.open in os.supports_dir_fd
# With O_PATH, which Linux has, a folder need not be readable.
_FLAGS = sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_PATH"))


class Folder:
    """A folder that is held open, by a path none of whose parts is a link; ``make`` makes what is missing of it.

    Raises OSError, also for a part that has become a link. Windows opens no folders: there only the path counts.
    """

    def __init__(self, path: str, *, make: bool = False) -> None:
        self.path, self.handle = os.path.abspath(path), None  # noqa: PTH100  which would follow links
        if not HAS_HANDLES:
            if make:
                os.makedirs(path, exist_ok=True)  # noqa: PTH103
            return
        self.handle = os.open("/", _FLAGS)
        for part in filter(None, self.path.split("/")):
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=self.handle)
            above, self.handle = self.handle, None
            try:
                self.handle = os.open(part, _FLAGS, dir_fd=above)
            finally:
                os.close(above)
        status = os.fstat(self.handle)
        self._own = status.st_dev, status.st_ino

    def __del__(self) -> None:
        if self.handle is not None:
            os.close(self.handle)

    def is_in_place(self) -> bool:
        """Whether its path still leads to it: it may have been removed, or renamed and replaced by a link."""
        if self.handle is None:
            return True
        with suppress(OSError):
            status = os.stat(self.path)  # noqa: PTH116  once a file, of which there may be millions
            return (status.st_dev, status.st_ino) == self._own
        return False

    def locate(self, name: str) -> str:
        """Return what calls of the system take as a file's name together with :attr:`handle`."""
        return os.path.join(self.path, name) if self.handle is None else name  # noqa: PTH118

    def open(self, path: str, flags: int) -> int:
        """Be the ``opener`` of a file of the folder; raises OSError for a link, a pipe or a device."""
        own = os.path.basename(path)  # noqa: PTH119
        name = self.locate(own)
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(os.stat(name, dir_fd=self.handle, follow_symlinks=False).st_mode):
                raise OSError(errno.EINVAL, f"{own} is no regular file", path)
        return os.open(name, flags | getattr(os, "O_NOFOLLOW", 0), 0o666, dir_fd=self.handle)


class Inside(os.PathLike[str]):
    """A file of a folder that is held open; for messages it has the path that the user knows."""

    def __init__(self, path: str, folder: Folder, name: str) -> None:
        self._path, self.folder, self.name = path, folder, name

    def __fspath__(self) -> str:
        return self._path

    __str__ = __fspath__


def located(file: str | os.PathLike[str]) -> tuple[str, int | None]:
    """Return what calls of the system take as the name and the folder's handle of any file."""
    if isinstance(file, Inside):
        return file.folder.locate(file.name), file.folder.handle
    return os.fsdecode(file), None


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
