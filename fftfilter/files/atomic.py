"""Outputs that appear whole or not at all: written beside their place, then moved into it in one step.

This holds when the process is killed, but not after a power cut, as files are not forced to the disk. Files that a
killed run left behind are removed later. While a file is written, its name is

    .NAME.fftfilter-PID-MMMMRRRR.tmp    M: the machine, R: random; a command's own files end with .part.EXT

A file of this machine is a leftover when its process is gone. Other machines may share the folder, and their
processes cannot be seen: their files are leftovers when they are a day old. A container counts as a machine of its
own, since it numbers its processes by itself and may share its host's name with others.
"""

# For a small file pathlib takes a tenth of the time.
# ruff: noqa: PTH101, PTH105, PTH114, PTH116, PTH118

from __future__ import annotations

import errno
import io
import os
import platform
import re
import stat
import sys
import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import BinaryIO, cast

from ..errors import ParameterError
from . import urls
from .messages import STANDARD_STREAM, FileName, open_stream, shown
from .sources import HAS_HANDLES, Identity, Times, identity, located

Parts = Sequence[bytes | memoryview]  # a file's bytes in pieces, in their order
Spare = Collection[Identity | None]  # files that are not replaced, such as the input, by `sources.identity`

_OPEN_FILE = r"/dev/(stdout|stderr|fd/\d+)|/proc/[^/]+/(task/\d+/)?fd/\d+"
_PART = 1 << 20
_NAME = r"(?s)\..*\.fftfilter-(\d+)-([0-9a-f]{4})[0-9a-f]{4}\.(?:tmp|part\.\w+)"
_QUICKLY = 1000  # entries that are looked at in half a millisecond
_DAY = 24 * 3600
_ACCESS_LIST = "system.posix_acl_access"
_OF_CONTENT = {"security.ima", "security.evm"}  # signatures of the bytes, which are others now
_STARTED = time.time()


def store(
    target: FileName, parts: Iterable[bytes | memoryview], times: Times | None = None, *, spare: Spare = ()
) -> list[str]:
    """Write a file's parts; return what :func:`inherit` returns; raises OSError.

    A file gets the owner and permissions of the one that it replaces; a symbolic link is followed, but not in a folder
    that is held open (:class:`Inside`). Standard output ("-"), pipes and devices are written into as they are.
    ``times`` are for files alone.

    ParameterError is raised if the target is one of ``spare`` when it would be replaced, whatever it was before.
    """
    if _is_replaced(target):
        with _replacing(target, times, spare) as (raw, lost), io.BufferedWriter(raw) as file:
            file.writelines(parts)
        return lost
    refuse_inputs(target, spare)
    if urls.is_url(target):
        urls.store(os.fsdecode(target), parts)
    elif os.fsdecode(target) == STANDARD_STREAM:
        stream = open_stream(sys.stdout)
        stream.writelines(parts)
        stream.flush()
    else:
        name, folder = located(target)
        with open(name, "wb", opener=lambda name, flags: os.open(name, flags, 0o666, dir_fd=folder)) as file:
            file.writelines(parts)
    return []


def _is_replaced(target: FileName) -> bool:
    return not (os.fsdecode(target) == STANDARD_STREAM or urls.is_url(target) or is_special(target))


def refuse_unwritable(folder: str) -> None:
    """Raise OSError, with the cause as the system would tell it, if no file can be made in a folder; makes none."""
    if not os.access(folder, os.W_OK | os.X_OK):
        is_read_only = sys.platform != "win32" and os.statvfs(folder).f_flag & os.ST_RDONLY
        raise _system_error(errno.EROFS if is_read_only else errno.EACCES)
    if sys.platform != "win32" and not os.statvfs(folder).f_bfree:
        raise _system_error(errno.ENOSPC)


def _system_error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def is_special(file: FileName) -> bool:
    """Whether a file is an open stream, a pipe or a device, which is written into and never replaced."""
    # A redirected standard output is a regular file, but the shell has it open: it must not be replaced.
    if re.fullmatch(_OPEN_FILE, os.fsdecode(file)):
        return True
    name, folder = located(file)
    with suppress(OSError, ValueError):
        mode = os.stat(name, dir_fd=folder, follow_symlinks=folder is None).st_mode
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))
    return False


def refuse_inputs(target: FileName, inputs: Spare) -> None:
    """Raise ParameterError if a target is one of the inputs, by whatever name: hard links are one file, too."""
    if any(inputs) and (own := identity(target, is_output=True)) and own in inputs:
        name = shown(target, "standard output")
        raise ParameterError(f"{name}: is the input itself; choose another name, or --in-place to overwrite it")


@contextmanager
def _replacing(target: FileName, times: Times | None, spare: Spare) -> Iterator[tuple[io.FileIO, list[str]]]:
    """Give a file to be written, which takes its place at the end, and what :func:`inherit` returns.

    A symbolic link is followed, but not in a folder that is held open. A failure leaves the old file and no other.
    """
    path, folder = located(target)
    if "\0" in path:  # in an object store names may have it
        raise _system_error(errno.EINVAL)
    if folder is None and os.path.islink(path):
        target = path = os.path.realpath(path)
    old = None
    with suppress(FileNotFoundError):
        old = os.stat(path, dir_fd=folder, follow_symlinks=folder is None)
    if old and stat.S_ISLNK(old.st_mode):  # it has just become one, and is replaced itself
        old = None
    if old and not os.access(path, os.W_OK, dir_fd=folder):
        raise _system_error(errno.EACCES)
    temporary = temporary_name(path)
    private = 0o600 if old else 0o666  # until it has the rights of the old one

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags, private, dir_fd=folder)

    try:
        with open(temporary, "x+b", buffering=0, opener=opener) as file:
            # By its descriptor, as somebody else may put a link there.
            opened = file.fileno() if HAS_HANDLES else temporary
            yield file, inherit(opened, path, old, folder) if old else []
        if times:
            os.utime(temporary, ns=times, dir_fd=folder, follow_symlinks=folder is None)
        refuse_inputs(target, spare)
        os.replace(temporary, path, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


def take_place(part: str, target: str, old: os.stat_result | None) -> None:
    """Give a whole file ``part`` the name of a target in its folder, in one step; raises OSError.

    ``old`` is the status of the file that it replaces, and inherits from. With None it replaces nothing: if a file has
    the name, FileExistsError is raised.
    """
    if old:
        inherit(part, target, old)
        os.replace(part, target)
        return
    try:
        os.link(part, target)
    except (FileExistsError, FileNotFoundError):
        raise
    except OSError:  # a disk without hard links: two programs may then take one name within microseconds
        if os.path.lexists(target):
            raise _system_error(errno.EEXIST) from None
        os.replace(part, target)


def inherit(new: str | int, path: str, old: os.stat_result, folder: int | None = None) -> list[str]:
    """Give a file the owner, group, extended attributes, access list and mode of the one that it will replace.

    ``new`` is a name or a descriptor, ``folder`` the handle of the folder in which ``path`` is a name. Return what is
    lost, as text. If something is, nobody gets more rights for it.
    """
    mode, lost = stat.S_IMODE(old.st_mode), ["the other names of the file (hard links)"] * (old.st_nlink > 1)
    if sys.platform != "win32":
        for ids in (-1, old.st_gid), (old.st_uid, -1):
            with suppress(OSError):  # only root may give a file to its old owner
                os.chown(new, *ids)
        own = os.stat(new)
        is_owner, is_group = own.st_uid == old.st_uid, own.st_gid == old.st_gid
        lost += ["owner"] * (not is_owner) + ["group"] * (not is_group)
        if folder is not None:  # calls for attributes take no handle of a folder
            path = f"/proc/self/fd/{folder}/{path}"
        lost += _inherit_attributes(new, path, is_group=is_group)
        mode &= 0o7777 if is_owner and is_group else 0o777
        if _ACCESS_LIST in lost:  # which may deny what others may do
            mode &= 0o700
        elif not is_group:  # its members become others, and some of the others the group
            both = mode & mode >> 3 & 0o7
            mode = mode & 0o700 | both << 3 | both
    os.chmod(new, mode)
    return lost


def _inherit_attributes(new: str | int, path: str, *, is_group: bool) -> list[str]:
    """Copy attributes, and the access list only for the same group; return the names of those that are lost."""
    if sys.platform != "linux":
        return []
    mine, given = _attributes(new), _attributes(path)
    if _ACCESS_LIST in mine:  # by the folder's default
        os.removexattr(new, _ACCESS_LIST)
    lost = [_ACCESS_LIST] if _ACCESS_LIST in given and not is_group else []
    for name in sorted(given - {*lost}):
        try:
            value = os.getxattr(path, name)
            if name == _ACCESS_LIST or name not in mine or os.getxattr(new, name) != value:
                os.setxattr(new, name, value)
        except OSError:
            lost.append(name)
    return lost


def _attributes(file: str | int) -> set[str]:
    if sys.platform == "linux":
        with suppress(OSError):  # a disk without them
            return {*os.listxattr(file)} - _OF_CONTENT
    return set()


@contextmanager
def growing(
    target: FileName, times: Times | None = None, *, spare: Spare = (), lost: list[str] | None = None
) -> Iterator[BinaryIO]:
    """Give a file to be written in any order, and read again, that becomes the target at the end; raises OSError.

    The target is as for :func:`store`. Standard output, pipes, devices and URLs get the whole file at the end. What
    :func:`inherit` returns is appended to ``lost``.
    """
    if not _is_replaced(target):
        import tempfile  # which takes some milliseconds

        with tempfile.TemporaryFile() as file:
            yield cast("BinaryIO", file)
            file.seek(0)
            store(target, iter(lambda: file.read(_PART), b""), times, spare=spare)
        return
    with _replacing(target, times, spare) as (raw, said), io.BufferedRandom(raw) as file:
        if lost is not None:
            lost += said
        yield file


# Names of unfinished files, and their removal after a killed run


def temporary_name(path: str, end: str = "tmp") -> str:
    """Return a new hidden name in the same folder, for a file that becomes ``path`` when it is whole."""
    folder, name = os.path.split(path)
    own = f".{name[:40]}.fftfilter-{os.getpid()}-{_machine()}{os.urandom(2).hex()}.{end}"
    return os.path.join(folder, own)


def remove_leftovers(folder: FileName, most: int | None = None, *, own: bool = False) -> int:
    """Remove the unfinished files of killed runs from a folder, or this process's ``own``; return their number.

    ``most`` is how many entries are looked at. A folder that cannot be listed counts as empty.
    """
    removed, named = 0, re.compile(_NAME)
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in islice(entries, most):
            if not (found := named.fullmatch(entry.name)):
                continue
            process, machine = int(found[1]), found[2]
            if (process, machine) == (os.getpid(), _machine()) if own else _is_leftover(entry, process, machine):
                with suppress(OSError):
                    Path(entry.path).unlink()
                    removed += 1
    return removed


def remove_leftovers_beside(target: FileName) -> None:
    """Remove the unfinished files of killed runs beside an output, as far as that costs no time."""
    if not urls.is_url(target) and os.fsdecode(target) != STANDARD_STREAM:
        remove_leftovers(Path(target).parent, most=_QUICKLY)


def _is_leftover(entry: os.DirEntry[str], process: int, machine: str) -> bool:
    is_ours = machine == _machine()
    if is_ours and not _is_running(process):
        return True
    with suppress(OSError):
        written = entry.stat(follow_symlinks=False).st_mtime
        # In a container a killed run often had the same process number as this one.
        return (is_ours and process == os.getpid() and written < _STARTED) or time.time() - written > _DAY
    return False


def _is_running(process: int) -> bool:
    if os.name == "nt":
        return True  # there, signal 0 is Ctrl-C
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    # A zombie, a dead process that its parent has not waited for, still has its number.
    with suppress(OSError):
        status = Path(f"/proc/{process}/stat").read_text("latin-1")
        return status.rpartition(")")[2].split()[0] not in ("Z", "X")
    return True


@cache
def _machine() -> str:
    name = platform.node()
    with suppress(OSError):  # not every system has spaces of process numbers
        name += str(os.stat("/proc/self/ns/pid").st_ino)
    return f"{zlib.crc32(name.encode()) & 0xFFFF:04x}"
