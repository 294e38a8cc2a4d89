"""What the system lets this process do: take memory, keep files in a folder, start threads and processes.

A container may have a user without a home, a read-only file system, a full disk, few processes. Compilers and drivers
of OpenCL that meet such a limit abort the process without a word, so that it is looked for before they are loaded.

And what makes a short run quick, with the processor time that a 512 x 512 PGM takes more without each. Nothing of it is
needed for a right result.

    pause_collector   10 %   no garbage is collected while modules load: they make none
    limit_openblas    15 %   NumPy's linear algebra, which is never called, would start threads that wait busily
    leave             23 %   the interpreter would release NumPy, OpenCL and PoCL's compiler piece by piece
"""

from __future__ import annotations

import atexit
import gc
import os
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import TooLargeError

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

# Bytes that are taken without asking: the answer takes a millisecond, as long as reading a small picture.
_LITTLE = 64 << 20
# What the user allows, in bytes of the whole process.
_allowed: list[int] = []
_GROUPS = Path("/sys/fs/cgroup")
# The bytes that a compiled program takes, with what is written on the way, and the largest file of it.
PROGRAM_BYTES, PROGRAM_FILE_BYTES = 4 << 20, 1 << 20
# How many files are open at a time while it is linked.
PROGRAM_FILES = 20
# The variable that says how many workers PoCL starts: all cores of the machine, unless told.
POCL_WORKERS = "POCL_MAX_PTHREAD_COUNT"
# Parts of a large array that threads take, and its numbers from which on they are worth it.
SLABS, LARGE = 16, 1 << 22
# From this limit on a user's threads and processes are not counted: it is hardly met.
PLENTY = 4096

T = TypeVar("T")


def limit(name: str) -> int | None:
    """Return a limit of this process (``ulimit``) by its name in the module ``resource``, None without one."""
    if sys.platform == "win32":
        return None
    import resource

    found = resource.getrlimit(getattr(resource, name))[0]
    return None if found == resource.RLIM_INFINITY else found


def free_memory() -> int | None:
    """Return the bytes that this process can still take without swapping, None where the system does not say.

    It is the least of what the machine has free, what its control groups (containers) allow and what ``ulimit -v`` and
    ``ulimit -d`` leave. Cached files count as free.
    """
    return min((max(0, size) for size in _limits_of_memory()), default=None)


def resident() -> int:
    """Return the bytes of memory that this process has taken, 0 where the system does not say."""
    return 1024 * (_number(Path("/proc/self/status"), "VmRSS:") or 0)


def lacking(size: int) -> int | None:
    """Return the bytes that are free if ``size`` bytes are more than that, None if they can be taken."""
    if size < _LITTLE and not _allowed:
        return None
    free = free_memory()
    return free if free is not None and size > free else None


def check_memory(height: int, width: int, taken: int, name: str = "") -> None:
    """Raise TooLargeError if filtering a picture, of the file ``name``, takes more bytes than are free."""
    if (free := lacking(taken)) is not None:
        raise TooLargeError(
            f"{name and f'{name}: '}{width} x {height} pixels take {taken:,} bytes to filter, more than the {free:,} "
            "of memory that are free; use a smaller image"
        )


@contextmanager
def at_most(size: int | None) -> Iterator[None]:
    """Let this process take no more than so many bytes of memory, those that it has taken among them."""
    _allowed.extend([] if size is None else [size])
    try:
        yield
    finally:
        if size is not None:
            _allowed.remove(size)


def is_bounded() -> bool:
    """Whether there is such a limit."""
    return bool(_allowed)


def _limits_of_memory() -> Iterator[int]:
    if _allowed:
        yield min(_allowed) - resident()
    if available := _number(Path("/proc/meminfo"), "MemAvailable:"):
        yield 1024 * available
    elif sys.platform != "win32":
        with suppress(ValueError, OSError):
            yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for group in _groups("memory"):
        yield from _left(group)
    for name, used in (("RLIMIT_AS", "VmSize:"), ("RLIMIT_DATA", "VmData:")):
        if (most := limit(name)) is not None:
            yield most - 1024 * (_number(Path("/proc/self/status"), used) or 0)


def _groups(controller: str) -> Iterator[Path]:
    """Yield the control groups of this process, each before the one around it."""
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, controllers, own = line.split(":", 2)
            if controllers and controller not in controllers.split(","):
                continue
            top = _GROUPS / controller if controllers else _GROUPS
            # In a container the path is that of the host, and the container's own group is mounted at the top.
            folder = top / own.strip("/")
            yield from (group for group in (folder, *folder.parents) if group.is_relative_to(top))


def _left(group: Path) -> Iterator[int]:
    """Yield the bytes that a control group has left."""
    # Its limit and its use, of version 2, then of version 1.
    for limit, use in ("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes"):
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


def user_cache(name: str) -> Path | None:
    """Return the folder for a program's cache, None where this user has none."""
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


def own_cache() -> Path | None:
    """Return the folder in which this program keeps what it found out; None where nothing can be kept."""
    folder = user_cache("fftfilter")
    return folder if folder and can_hold(folder) else temporary_cache()


def is_first_run() -> bool:
    """Whether that folder is empty; then a file in it tells the next run."""
    folder = own_cache()
    with suppress(OSError):
        if folder:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if any(folder.iterdir()):
                return False
            (folder / "used").touch()
    return True


def is_private(folder: Path) -> bool:
    """Whether no other user can put files into a folder or a new one in its place, but for root and its group."""
    if sys.platform == "win32":
        return True
    real = Path(os.path.realpath(folder))
    is_nearest = True  # of those that are there
    for each in (real, *real.parents):
        try:
            status = each.stat()
        except FileNotFoundError:
            continue
        except OSError:
            return False
        # Where everybody can write but the sticky bit is set, as in /tmp, nobody renames what belongs to another.
        is_open = status.st_mode & stat.S_IWOTH and (is_nearest or not status.st_mode & stat.S_ISVTX)
        if is_open or status.st_uid not in (0, os.getuid()):
            return False
        is_nearest = False
    return True


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


def is_python() -> bool:
    """Whether ``sys.executable`` starts Python: in a program that embeds Python it may start that program."""
    name = os.path.basename(sys.executable or "")  # noqa: PTH119
    return name.startswith("python") and not hasattr(sys, "frozen") and os.access(sys.executable, os.X_OK)


def is_command() -> bool:
    """Whether this process is the command, or one of a folder's."""
    return not sys.modules.keys().isdisjoint(("fftfilter.cli", "fftfilter.folders"))


def shipped(name: str) -> Path:
    """Return a folder that comes with the program: inside an installed package, beside it in a checkout."""
    package = Path(__file__).parent
    installed = package / name
    return installed if installed.is_dir() else package.parent / name


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def free_tasks() -> int | None:
    """Return how many threads and processes can still be started, None where the system sets no limit.

    It is the least of what the control groups and ``ulimit -u`` leave, which counts all tasks of a user.
    """
    if sys.platform == "win32":
        return None
    left = []
    for group in _groups("pids"):
        with suppress(OSError, ValueError):  # "max" is no limit
            most, now = (int((group / name).read_text(encoding="ascii")) for name in ("pids.max", "pids.current"))
            left.append(most - now)
    most_of_user = limit("RLIMIT_NPROC")
    if most_of_user is not None and most_of_user < PLENTY and os.getuid():  # root has none
        left.append(most_of_user - sum(_tasks_of(os.getuid())))
    return max(0, min(left)) if left else None


def _tasks_of(user: int) -> Iterator[int]:
    """Yield how many threads each process of a user has."""
    for each in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            if each.stat().st_uid == user:
                yield sum(1 for _ in (each / "task").iterdir())


def threads(count: int, name: str) -> ThreadPoolExecutor:
    """Return an executor of threads that import no part of NumPy.

    NumPy imports its parts on first use. If two threads use one for the first time at the same moment, NumPy asks
    itself for it until Python's stack is full.
    """
    from concurrent.futures import ThreadPoolExecutor

    for part in ("fft", "ma"):  # by numpy.unique, too
        import_module(f"numpy.{part}")
    return ThreadPoolExecutor(count, thread_name_prefix=name)


def in_slabs(work: Callable[[slice], T], length: int, size: int, slabs: int = SLABS) -> list[T]:
    """Do work for parts of an array of so many planes by threads, however many there are the same parts."""
    if size < LARGE or length < 2:
        return [work(slice(None))]
    cuts = [length * i // slabs for i in range(slabs + 1)]
    with threads(cores(), "slab") as pool:
        return [*pool.map(work, [slice(*ends) for ends in pairwise(cuts) if ends[0] < ends[1]])]


def at_once(work: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
    """Do work in this thread, and return its completed future: the ``submit`` of an executor without threads."""
    from concurrent.futures import Future  # not for single pictures, whose start it would slow down

    done: Future[Any] = Future()
    try:
        done.set_result(work(*arguments, **options))
    except Exception as error:  # noqa: BLE001  whoever asks for the result gets it
        done.set_exception(error)
    return done


def pause_collector() -> None:
    """Switch the garbage collector off; commands that work for long call :func:`resume_collector`."""
    gc.disable()


def resume_collector() -> None:
    """Switch the garbage collector on again."""
    gc.freeze()  # objects that modules made while they loaded are no garbage
    gc.enable()


def limit_openblas() -> None:
    """Keep NumPy's OpenBLAS to one thread; to be called before NumPy is imported."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def leave(code: int) -> None:
    """End the process at once, unless something is left that needs the interpreter's own end."""
    # PoCL without a cache removes what it compiled when its objects go.
    if threading.active_count() > 1 or "POCL_KERNEL_CACHE" in os.environ:
        return
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return
    os._exit(code)
