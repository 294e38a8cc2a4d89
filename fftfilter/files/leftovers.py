"""Names of files while they are written, and the removal of those that a killed run left behind.

    .NAME.fftfilter-PID-MMMMRRRR.tmp    M: the machine, R: random; at the end .part.EXT for what a command writes

A file of this machine is a leftover when its process is gone. Other machines may share the folder, and their
processes cannot be seen: their files are leftovers when they are a day old. A container is a machine of its own, as
its processes have numbers of their own: those of two containers may have one host's name.
"""

from __future__ import annotations

import os
import platform
import re
import time
import zlib
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path

from .standard_streams import STANDARD_STREAM
from .urls import is_url

_NAME = re.compile(r"\..*\.fftfilter-(\d+)-([0-9a-f]{4})[0-9a-f]{4}\.(?:tmp|part\.\w+)", re.DOTALL)
# Entries that are looked at in half a millisecond.
_QUICKLY = 1000
_DAY = 24 * 3600
_STARTED = time.time()


def temporary_name(path: str, end: str = "tmp") -> str:
    """Return a new hidden name in the same folder, for a file that becomes ``path`` when it is whole."""
    folder, name = os.path.split(path)
    own = f".{name[:40]}.fftfilter-{os.getpid()}-{_machine()}{os.urandom(2).hex()}.{end}"
    return os.path.join(folder, own)  # noqa: PTH118  pathlib would take as long as writing a small file


def remove_leftovers(folder: str | os.PathLike[str], most: int | None = None) -> int:
    """Remove what killed runs left in a folder; return the number of files.

    ``most`` is how many entries are looked at. A folder that cannot be listed counts as empty.
    """
    removed = 0
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in islice(entries, most):
            found = _NAME.fullmatch(entry.name)
            if found and _is_leftover(entry, int(found[1]), found[2]):
                with suppress(OSError):
                    Path(entry.path).unlink()
                    removed += 1
    return removed


def remove_own(folder: str | os.PathLike[str]) -> None:
    """Remove what this process is writing into a folder: it ends at once."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            found = _NAME.fullmatch(entry.name)
            if found and (int(found[1]), found[2]) == (os.getpid(), _machine()):
                with suppress(OSError):
                    Path(entry.path).unlink()


def remove_leftovers_beside(target: str | os.PathLike[str]) -> None:
    """Remove what killed runs left in the folder of one output, as far as that costs no time."""
    if not is_url(target) and os.fsdecode(target) != STANDARD_STREAM:
        remove_leftovers(Path(target).parent, most=_QUICKLY)


def _is_leftover(entry: os.DirEntry[str], process: int, machine: str) -> bool:
    is_ours = machine == _machine()
    if is_ours and not _is_running(process):
        return True
    try:
        written = entry.stat(follow_symlinks=False).st_mtime
    except OSError:
        return False
    # In a container a killed run often had the same process number as this one.
    is_of_an_earlier_run = is_ours and process == os.getpid() and written < _STARTED
    return is_of_an_earlier_run or time.time() - written > _DAY


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
        name += str(os.stat("/proc/self/ns/pid").st_ino)  # noqa: PTH116
    return f"{zlib.crc32(name.encode()) & 0xFFFF:04x}"
