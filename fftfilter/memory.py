"""How much memory this process can still take: the machine's free memory, and the limits of containers and shells."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Files of a control group, with its limit and its use: of version 2, then of version 1.
_GROUP_FILES = (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes"))
_GROUPS = Path("/sys/fs/cgroup")
# Bytes that are taken without asking: the answer takes a millisecond, as long as reading a small picture.
_LITTLE = 64 << 20


def free_memory() -> int | None:
    """Return the bytes that this process can still take without swapping, None where the system does not say.

    It is the least of what the machine has free, what its control groups (containers) allow and what ``ulimit -v`` and
    ``ulimit -d`` leave. Cached files count as free.
    """
    return min((max(0, size) for size in _limits()), default=None)


def lacking(size: int) -> int | None:
    """Return the bytes that are free if ``size`` bytes are more than that, None if they can be taken."""
    if size < _LITTLE:
        return None
    free = free_memory()
    return free if free is not None and size > free else None


def _limits() -> Iterator[int]:
    if available := _number(Path("/proc/meminfo"), "MemAvailable:"):
        yield 1024 * available
    elif sys.platform != "win32":
        with suppress(ValueError, OSError):
            yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    yield from _left_in_groups()
    if sys.platform != "win32":
        import resource

        for limit, used in ((resource.RLIMIT_AS, "VmSize:"), (resource.RLIMIT_DATA, "VmData:")):
            if (most := resource.getrlimit(limit)[0]) != resource.RLIM_INFINITY:
                yield most - 1024 * (_number(Path("/proc/self/status"), used) or 0)


def _left_in_groups() -> Iterator[int]:
    """Return what the control groups of this process have left, from its own up to the root."""
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, controllers, own = line.split(":", 2)
            if controllers and "memory" not in controllers.split(","):
                continue
            top = _GROUPS / "memory" if controllers else _GROUPS
            # In a container the path is that of the host, and the container's own group is mounted at the top.
            folder = top / own.strip("/")
            for group in (folder, *folder.parents):
                if group.is_relative_to(top):
                    yield from _left(group)


def _left(group: Path) -> Iterator[int]:
    for limit, use in _GROUP_FILES:
        with suppress(OSError, ValueError):  # "max" is no limit
            used = int((group / use).read_text(encoding="ascii"))
            cached = _number(group / "memory.stat", "inactive_file") or 0
            yield int((group / limit).read_text(encoding="ascii")) - used + cached


def _number(file: Path, name: str) -> int | None:
    """Return the number behind a name at the beginning of a line, None if there is none."""
    with suppress(OSError, ValueError):
        for line in file.read_text(encoding="ascii").splitlines():
            if line.startswith(name):
                return int(line.split()[1])
    return None
