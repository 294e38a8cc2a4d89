"""All files of a folder on all cores: the pool that the scripts beside it share."""

from __future__ import annotations

import os
import sys
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
# Files handed over together: few messages, and an even share for every core.
MOST_TOGETHER = 16


class Task(NamedTuple):
    """Some files of the folder, and where everything lies."""

    names: list[str]
    pictures: Path
    target: Path
    level: int
    help: Path


def do_all(work: Callable[[Task], None], *, threads: bool = False) -> None:
    """Do the files that the command line names, in processes or threads."""
    pictures, target, level, help_ = sys.argv[1:]
    names = sorted(path.name for path in Path(pictures).iterdir())
    size = max(1, min(MOST_TOGETHER, len(names) // (4 * CORES)))
    tasks = [
        Task(names[i : i + size], Path(pictures), Path(target), int(level), Path(help_))
        for i in range(0, len(names), size)
    ]
    pool: Executor = ThreadPoolExecutor(CORES) if threads else ProcessPoolExecutor(CORES)
    with pool:
        for _ in pool.map(work, tasks):
            pass
