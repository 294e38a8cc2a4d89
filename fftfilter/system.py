"""What the system lets this process do: keep files in a folder, start threads, or do work without them.

A container may have a user without a home, a read-only file system, a full disk, few processes. Compilers and drivers
of OpenCL that meet such a limit abort the process without a word, so that it is looked for before they are loaded.
"""

from __future__ import annotations

import os
import stat
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

# What a compiled program takes, in bytes, with what is written on the way, and the largest file of it.
PROGRAM_BYTES, PROGRAM_FILE_BYTES = 4 << 20, 1 << 20
# How many files have to be open at a time while it is linked.
PROGRAM_FILES = 20
# A process that may start as many threads as these starts as few as it needs.
PLENTY = 4096
# Threads and processes that are left for a compiler, whose linker is a process of its own.
SPARE_TASKS = 2
# Threads and processes that a process for a folder takes, here and there, and those that all take together.
TASKS_A_PROCESS, TASKS_OF_ALL = 6, 4
# Likewise the files that this process has open for each, and those for all, which a process's own compiler needs, too.
FILES_A_PROCESS, FILES_OF_ALL = 8, 24
# Held while OpenCL starts its threads: who tries how many can be started takes those away from it, for a moment.
starting_threads = threading.Lock()


def user_cache(name: str) -> Path | None:
    """Return the folder in which a program keeps what it can make again, None where this user has none."""
    if sys.platform == "linux" and "HOME" in os.environ:
        # As platformdirs says, whose import takes 10 ms.
        found = Path(os.environ.get("XDG_CACHE_HOME") or Path(os.environ["HOME"], ".cache"), name)
    else:
        from platformdirs import user_cache_path

        try:
            found = user_cache_path(name)
        except RuntimeError:
            return None
    return found if found.is_absolute() else None  # an older platformdirs leaves the ~ of a missing home


def temporary_cache() -> Path | None:
    """Make a folder among the temporary ones that only this user can write to; None where that is not possible."""
    if sys.platform == "win32":
        return None
    places = (os.environ.get("TMPDIR"), "/tmp", "/var/tmp", os.environ.get("XDG_RUNTIME_DIR"), "/dev/shm")  # noqa: S108
    for place in filter(None, places):
        folder = Path(place, f"fftfilter-{os.getuid()}")
        if can_hold(folder):
            with suppress(OSError):
                folder.mkdir(mode=0o700, exist_ok=True)
                status = folder.lstat()
                if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022:
                    return folder
    return None


def can_hold(folder: Path) -> bool:
    """Whether compiled programs can be kept in a folder, or in one that can be made: written, and then executed."""
    nearest = next((each for each in (folder, *folder.parents) if os.access(each, os.F_OK)), folder)
    if not (nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)):
        return False
    if sys.platform == "win32":
        return True
    disk = os.statvfs(nearest)
    # Some file systems do not count their files.
    is_full = disk.f_bavail * disk.f_frsize < PROGRAM_BYTES or (disk.f_files > 0 and not disk.f_favail)
    return not (is_full or disk.f_flag & getattr(os, "ST_NOEXEC", 0))


def largest_file() -> int | None:
    """Return the bytes that a file may have (``ulimit -f``), None without a limit."""
    return _limit("RLIMIT_FSIZE")


def open_files() -> int | None:
    """Return how many files may be open at a time (``ulimit -n``), None without a limit."""
    return _limit("RLIMIT_NOFILE")


def spare_pyopencl_its_cache() -> None:
    """Let pyopencl keep nothing where it cannot, which it would fail of; call it before pyopencl is imported."""
    if sys.platform == "win32" or "PYOPENCL_NO_CACHE" in os.environ:
        return
    folder, limit = user_cache("pyopencl"), largest_file()
    if folder is None or not can_hold(folder) or (limit is not None and limit < PROGRAM_FILE_BYTES):
        os.environ["PYOPENCL_NO_CACHE"] = "1"


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def startable_threads(wanted: int) -> int:
    """Return how many threads can be started now, at most ``wanted``: where few processes are allowed, by trying."""
    allowed = [limit for limit in (_limit("RLIMIT_NPROC"), _pids_of_container()) if limit is not None]
    if not allowed or min(allowed) >= PLENTY:
        return wanted
    with starting_threads:
        return _threads_that_start(wanted)


def _threads_that_start(wanted: int) -> int:
    end, before = threading.Event(), _tasks()
    started: list[threading.Thread] = []
    try:
        for _ in range(wanted):
            thread = threading.Thread(target=end.wait)
            thread.start()
            started.append(thread)
    except RuntimeError:  # that is how Python says so
        pass
    finally:
        end.set()
        for thread in started:
            thread.join()
        # The system counts a thread for some time after its end, longer where it is busy.
        for _ in range(1000):
            if _tasks() <= before:
                break
            time.sleep(0.001)
    return len(started)


def at_once(work: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
    """Do work in this thread, and return its completed future: the ``submit`` of an executor without threads."""
    from concurrent.futures import Future  # not for single pictures, whose start it would slow down

    done: Future[Any] = Future()
    try:
        done.set_result(work(*arguments, **options))
    except Exception as error:  # noqa: BLE001  whoever asks for the result gets it
        done.set_exception(error)
    return done


def startable_processes(wanted: int) -> int:
    """Return how many processes for a folder can be started, with all their threads, at most ``wanted``."""
    wanted = min(wanted, processes_by_files(wanted))
    tasks = TASKS_OF_ALL + TASKS_A_PROCESS * wanted
    return max(0, (startable_threads(tasks) - TASKS_OF_ALL) // TASKS_A_PROCESS)


def processes_by_files(wanted: int) -> int:
    """Return for how many processes this one may open enough files (``ulimit -n``), at most ``wanted``."""
    limit = open_files()
    if limit is None or limit >= PLENTY:
        return wanted
    opened = 0
    with suppress(OSError):
        opened = len(os.listdir("/dev/fd"))  # noqa: PTH208
    return min(wanted, max(0, (limit - opened - FILES_OF_ALL) // FILES_A_PROCESS))


def _tasks() -> int:
    """Return how many threads this process has as the system counts them, 0 where it does not say."""
    with suppress(OSError):
        return len(os.listdir("/proc/self/task"))  # noqa: PTH208
    return 0


def _limit(name: str) -> int | None:
    if sys.platform == "win32":
        return None
    import resource

    limit = resource.getrlimit(getattr(resource, name))[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _pids_of_container() -> int | None:
    """Return how many processes and threads a container may have, as its control group says."""
    for file in ("/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max"):
        with suppress(OSError, ValueError):
            return int(Path(file).read_text("ascii"))  # "max" is none
    return None
