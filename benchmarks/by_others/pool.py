"""All files of a folder on all cores, for the scripts beside this one."""

from __future__ import annotations

import os
import sys
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
# The largest chunk: few messages, and an even load of the cores.
LARGEST = 16


class Chunk(NamedTuple):
    """Some files of the folder, and the arguments of the command line."""

    names: list[str]
    inputs: Path
    target: Path
    level: int
    aids: Path


def filter_all(work: Callable[[Chunk], None], *, threads: bool = False) -> None:
    """Call ``work`` on all files of the command line's folder, in processes or threads."""
    inputs, target, level, aids = sys.argv[1:]
    names = sorted(path.name for path in Path(inputs).iterdir())
    size = max(1, min(LARGEST, len(names) // (4 * CORES)))
    chunks = [
        Chunk(names[i : i + size], Path(inputs), Path(target), int(level), Path(aids))
        for i in range(0, len(names), size)
    ]
    pool: Executor = ThreadPoolExecutor(CORES) if threads else ProcessPoolExecutor(CORES)
    with pool:
        for _ in pool.map(work, chunks):
            pass
