"""Every trick of a quick start, with what the program takes longer without it.

Milliseconds for a 512 x 512 PGM, which takes 261 in all; medians of 25 runs in turn, on two cores of an AMD EPYC with
Python 3.11.

    pause_collector       24    what modules make while they load is no garbage
    limit_openblas        10    NumPy's linear algebra, which is never called, would start workers that wait busily
    import_ahead          30    the import of pyopencl from the depth of click's calls takes longer, and 15 of them to
                                find its own version
    postpone_unused_imports
                          12    what nobody uses is not executed
    importing              5    a module is imported while PoCL builds
    load_platforms_ahead  17    OpenCL loads its drivers while click and Pillow are imported; GPUs' take longer
    leave                 78    the interpreter would take NumPy, OpenCL and PoCL's compiler down piece by piece

Of 650 that a folder of 500 such files takes:

    start_forkserver      40   its processes' imports overlap with click's; PoCL is linked once for all
      fork=True           35   it is Python already

Nothing here is needed for a right result.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import os
import sys
import threading
from contextlib import contextmanager, suppress
from importlib.machinery import PathFinder
from importlib.util import LazyLoader
from itertools import islice
from types import ModuleType
from typing import TYPE_CHECKING, Any

from . import signals, system

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from importlib.machinery import ModuleSpec

HAS_FORKSERVER = hasattr(os, "fork")
# Entries of a folder from which on processes may pay, and the bytes of a file from which on threads do as well: all but
# a little is done without Python then.
MANY, LARGE_FILE = 16, 1 << 20
_ALL_DEVICE_TYPES = ctypes.c_uint64(0xFFFFFFFF)  # CL_DEVICE_TYPE_ALL
_loading: list[threading.Thread] = []
_METADATA = "importlib.metadata"
# Modules that others import and this program does not use: 50 types of vectors, docstrings.
_UNUSED = {"numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars", "pyopencl.cltypes"}


def pause_collector() -> None:
    """Switch the garbage collector off; commands that work for long call :func:`resume_collector`."""
    gc.disable()


def resume_collector() -> None:
    """Switch the garbage collector on again."""
    gc.freeze()  # what modules made while they loaded is no garbage
    gc.enable()


def limit_openblas() -> None:
    """Keep NumPy's OpenBLAS to one thread; to be called before NumPy is imported."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


class _Postponed:
    """Finds the modules that are not used, and puts off their execution until somebody uses one."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in _UNUSED else None
        if spec and spec.loader:
            spec.loader = LazyLoader(spec.loader)
        return spec


def postpone_unused_imports() -> None:
    """Let modules that others import and this program does not use wait until they are used."""
    if _Postponed not in sys.meta_path:
        sys.meta_path.insert(0, _Postponed)


class _Versions(ModuleType):
    """``importlib.metadata`` for who asks for a version, which is in a folder's name; for all else the real one."""

    def version(self, name: str) -> str:
        """Return the version of a package."""
        begin, end = f"{name}-", ".dist-info"
        for folder in sys.path:
            with suppress(OSError):
                for entry in os.listdir(folder):  # noqa: PTH208
                    if entry.startswith(begin) and entry.endswith(end):
                        return entry.removeprefix(begin).removesuffix(end)
        return str(self.__getattr__("version")(name))

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(_METADATA) is self:
            del sys.modules[_METADATA]
        return getattr(importlib.import_module(_METADATA), name)


def import_ahead() -> None:
    """Import pyopencl, and NumPy with it, where the stack is shallow.

    Python 3.11 gives its stack back to the system piece by piece and takes it again, which costs a twentieth of the
    whole from the depth of click's calls. pyopencl asks ``importlib.metadata`` for its own version, which parses it as
    mail; that takes a tenth.
    """
    versions = _Versions(_METADATA)
    if sys.modules.setdefault(_METADATA, versions) is versions:
        vars(importlib)["metadata"] = versions
    try:
        with suppress(ImportError):
            import pyopencl  # noqa: F401
    finally:
        if sys.modules[_METADATA] is versions:
            del sys.modules[_METADATA], vars(importlib)["metadata"]


def load_platforms_ahead() -> None:
    """Let a thread load OpenCL's platforms; :func:`wait_for_platforms` waits for it.

    The environment has to be as the platforms need it by now.
    """
    thread = threading.Thread(target=_load_platforms)
    system.starting_threads.acquire()  # the thread releases it
    try:
        thread.start()
        _loading.append(thread)
    except RuntimeError:  # no thread can be started: they are loaded when they are asked for
        system.starting_threads.release()


def wait_for_platforms() -> None:
    """Wait until the platforms are loaded, if that was begun."""
    for thread in _loading:
        thread.join()


def _load_platforms() -> None:
    """Ask for a device through ctypes: pyopencl would hold Python's lock."""
    try:
        import pyopencl as cl

        # The extension module leads to the very OpenCL that it is linked with. No platform means the first one, or an
        # error, for which all are loaded, too.
        ctypes.CDLL(cl._cl.__file__).clGetDeviceIDs(None, _ALL_DEVICE_TYPES, 0, None, ctypes.byref(ctypes.c_uint()))
    except (AttributeError, ImportError, OSError):
        pass
    finally:
        system.starting_threads.release()


@contextmanager
def importing(name: str) -> Iterator[None]:
    """Let a thread import a module while this one waits for something that does without Python."""
    thread = threading.Thread(target=importlib.import_module, args=(name,))
    try:
        with suppress(RuntimeError):  # no thread can be started: it is imported when it is needed
            thread.start()
        yield
    finally:
        if thread.ident is not None:
            thread.join()


def looks_like_many(arguments: list[str]) -> bool:
    """Tell at a glance whether a command line means a folder of many small files, for which processes may pay."""
    alone = any(argument in ("-n", "--dry-run", "--cluster", "--processes") for argument in arguments)
    if len(arguments) < 4 or alone:
        return False
    with suppress(OSError), os.scandir(arguments[-2]) as entries:
        first = list(islice(entries, MANY))
        return len(first) == MANY and first[-1].stat().st_size <= LARGE_FILE
    return False


def start_forkserver(*, fork: bool = False) -> None:
    """Start the process that a folder's processes are forked from, if it does not run yet.

    ``fork`` makes it of this process, which saves the start of another Python: for a process that has no other thread
    yet, and has imported little.
    """
    # If this process is killed, a helper of multiprocessing cleans up after it and would say so.
    os.environ.setdefault("PYTHONWARNINGS", "ignore::UserWarning:multiprocessing.resource_tracker")
    if HAS_FORKSERVER and system.startable_processes(2) == 2:
        from multiprocessing import util
        from multiprocessing.forkserver import ensure_running, set_forkserver_preload

        set_forkserver_preload(["fftfilter.folders.preloaded"])
        spawn = util.spawnv_passfds
        with signals.blocked(), suppress(OSError):  # who needs them says why they cannot be started
            if fork and sys.platform == "linux":
                vars(util)["spawnv_passfds"] = _fork
            try:
                ensure_running()
            finally:
                vars(util)["spawnv_passfds"] = spawn


def _fork(_: object, command_line: Sequence[Any], kept: Sequence[int]) -> int:
    """Fork this process for the code that another Python would run, with few files open; return the child's number."""
    process = os.fork()
    if process:
        return process
    try:
        for file in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208
            if file not in (0, 1, 2, *kept):
                with suppress(OSError):  # the list itself was one
                    os.close(file)
        exec(command_line[-1], {})  # noqa: S102  multiprocessing's own, for python -c
    finally:
        os._exit(1)


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
