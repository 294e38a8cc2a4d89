"""Which processes share the files of a folder, and their start: before all else, as that takes them longer.

    a CPU       several processes that read, filter and write, as Python runs one thread at a time in each
    a GPU       one that filters, as each would open the device anew, and several beside it that read and write
    devices     one for each, and beside those of GPUs several that read and write
    few files   this process, alone

What a device is, nobody knows before OpenCL is loaded: it is guessed.
"""

from __future__ import annotations

import math
import os
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..files.urls import Url
from . import shared_memory
from .jobs import processors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .codec_processes import CodecProcesses
    from .team import Team

# Files that one process does in the time that another needs to start; of this size, in bytes, codecs and device take
# so much longer than Python that threads of one process keep all processors busy.
_FILES_A_START, _LARGE_FILE = 100, 1 << 20
# Files that pay for the start of a process that reads and writes, on a processor that has nothing else to do.
_FILES_A_CODEC = 32
_MOST_PROCESSES, _MOST_CODECS = 8, 32
_MOST_COUNTED, _MOST_MEASURED = _FILES_A_START * _MOST_PROCESSES**2, 256
_VENDORS = "/etc/OpenCL/vendors"


class Crew(NamedTuple):
    """Devices, and the processes that were started: a team, or codecs beside this process."""

    devices: Sequence[str | None] = (None,)
    team: Team | None = None
    codecs: CodecProcesses | None = None


@contextmanager
def crew(
    source: Path | Url, target: Path | Url, devices: Sequence[str | None], processes: int | None, *, recursive: bool
) -> Iterator[Crew]:
    """Start processes: so many for each device, or as many as pay for their start."""
    filtering, codecs = _plan(source, target, devices, processes, recursive=recursive)
    if filtering * len(devices) > 1:
        from .team import Team

        with Team([*devices] * filtering, codecs) as team:
            yield Crew(devices, team)
    elif codecs:
        from .codec_processes import CodecProcesses

        with CodecProcesses(codecs) as beside:
            yield Crew(devices, codecs=beside)
    else:
        yield Crew(devices)


def _plan(
    source: Path | Url, target: Path | Url, devices: Sequence[str | None], processes: int | None, *, recursive: bool
) -> tuple[int, int]:
    """Return how many processes filter with each device, and how many beside each of them only read and write."""
    if processes is None and (isinstance(source, Url) or isinstance(target, Url)):
        return 1, 0  # most of their time is waiting
    if shared_memory.is_possible() and all(_may_be_gpu(device) for device in devices):
        if processes is None:
            files, bytes_a_file = count(source, recursive=recursive)
            paid = 0 if bytes_a_file > _LARGE_FILE else files // _FILES_A_CODEC
            processes = min(processors() - len(devices), paid) // len(devices)
        return 1, min(processes, _MOST_CODECS) if processes > 1 else 0
    if processes is None:
        processes = 1 if len(devices) > 1 else useful_processes(*count(source, recursive=recursive))
    return processes, 0


def useful_processes(files: int, bytes_a_file: float) -> int:
    """Return how many processes that filter on a CPU so many files pay for.

    With p processes they take 1/p of the time, but each costs a start. The sum is least where p squared is the files'
    time over that of a start.
    """
    if bytes_a_file > _LARGE_FILE:
        return 1
    return max(1, min(processors(), _MOST_PROCESSES, round(math.sqrt(files / _FILES_A_START))))


def count(folder: Path | Url, *, recursive: bool) -> tuple[int, float]:
    """Return how many files a folder has, up to as many as matter, and the mean size of some of them, quickly."""
    files = measured = size = 0
    folders = [os.fspath(folder)] if isinstance(folder, Path) else []
    while folders and files < _MOST_COUNTED:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in islice(entries, _MOST_COUNTED):
                if entry.is_file():
                    files += 1
                    if files <= _MOST_MEASURED:
                        measured, size = files, size + entry.stat().st_size
                elif recursive and entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
    return files, size / max(measured, 1)


def _may_be_gpu(device: str | None) -> bool:
    """Guess whether a device is a GPU, from what is cheap to see: a wrong guess costs time and nothing else."""
    wanted = (device or "auto").lower()
    if wanted in ("cpu", "gpu"):
        return wanted == "gpu"
    # PoCL and simulators from pip are not registered there.
    with suppress(OSError):
        names = os.listdir(os.environ.get("OCL_ICD_VENDORS") or _VENDORS)  # noqa: PTH208  as pathlib is not loaded yet
        return any(name.endswith(".icd") and "pocl" not in name for name in names)
    return False
