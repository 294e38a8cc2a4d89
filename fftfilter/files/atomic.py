"""Outputs that appear whole or not at all."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO

from . import urls
from .leftovers import temporary_name

from .messages import STANDARD_STREAM

if TYPE_CHECKING:
    from ..images.picture import Parts

Times = tuple[int, int]
# What systems with writev take in one call.
MOST_PARTS = 1024


def open_stream(stream: TextIO | None) -> BinaryIO:
    """Return the bytes of standard input or output; raises OSError if the program was started without it."""
    if stream is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    return stream.buffer


def is_special(path: Path) -> bool:
    """Whether a path stands for an open stream, a pipe or a device, into which one writes straight."""
    # A redirected standard output is a regular file, but must not be replaced under the shell's hands.
    if str(path) in ("/dev/stdout", "/dev/stderr") or str(path).startswith(("/dev/fd/", "/proc/")):
        return True
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def is_same_file(source: str | os.PathLike[str], target: Path) -> bool:
    """Whether a target is the source: the same path, a hard link or a symbolic link to it."""
    try:
        is_stream = os.fsdecode(source) == STANDARD_STREAM
        status = os.fstat(open_stream(sys.stdin).fileno()) if is_stream else Path(source).stat()
        return os.path.samestat(status, target.stat())
    except (OSError, ValueError):
        return False


def store(target: str | os.PathLike[str], parts: Parts, times: Times | None) -> None:
    """Write a file's parts; raises OSError."""
    if os.fsdecode(target) == STANDARD_STREAM:
        stream = open_stream(sys.stdout)
        stream.writelines(parts)
        stream.flush()
        return
    if urls.is_url(target):
        urls.store(os.fsdecode(target), parts)
        return
    path = os.fspath(target)
    # Most of a folder's many files are new or plain: one look at them is enough.
    old = _status(path, follow_symlinks=False)
    if old and not stat.S_ISREG(old.st_mode):
        if is_special(Path(path)):
            with open(path, "wb") as file:
                file.writelines(parts)
            return
        path = os.path.realpath(path)
        old = _status(path)
    _replace(path, old, parts, times)


def _status(path: str, *, follow_symlinks: bool = True) -> os.stat_result | None:
    try:
        return os.stat(path, follow_symlinks=follow_symlinks)
    except FileNotFoundError:
        return None


def _replace(path: str, old: os.stat_result | None, parts: Parts, times: Times | None) -> None:
    """Create a file, or replace the old one in one step, so that a failure leaves that."""
    if old and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    temporary = temporary_name(path)
    try:
        with open(temporary, "xb", buffering=0) as file:
            if old:
                with suppress(OSError):  # Only root may give a file to its old owner.
                    os.chown(temporary, old.st_uid, old.st_gid)
                os.chmod(temporary, stat.S_IMODE(old.st_mode))
            _write(file, parts)
        if times:
            os.utime(temporary, ns=times)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _write(file: io.FileIO, parts: Parts) -> None:
    """Write parts in one call, where the system has one for that: each lets another thread take its turn."""
    if not hasattr(os, "writev"):
        with io.BufferedWriter(file) as buffered:
            buffered.writelines(parts)
        return
    left = [memoryview(part) for part in parts]
    while left:
        written = os.writev(file.fileno(), left[:MOST_PARTS])
        while left and written >= left[0].nbytes:
            written -= left.pop(0).nbytes
        if written:  # the disk is full, or this was as much as one call takes
            left[0] = memoryview(left[0].tobytes())[written:]
