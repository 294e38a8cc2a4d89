"""Startup optimizations and the time that each saves.

Milliseconds for a 512 x 512 PGM, which takes 203 to 230 in all, installed from a wheel: medians of 40 and of 80 runs in
turn with and without each, on an idle machine with an AMD EPYC, 4 cores and Python 3.11.

    pause_collector        5 to 10   no garbage is collected while modules load: they make none
    limit_openblas        15         NumPy's linear algebra, which is never called, would start threads that wait busily
    postpone_unused_imports
                          39         unused modules are not executed, such as attrs
    unbuilt_program,
    importing             12         pyopencl would import its tools before PoCL begins to build; a thread does it then
    load_platforms_ahead   4 to 7    OpenCL loads its drivers while modules are imported; those of GPUs take longer
    leave                 39         the interpreter would release NumPy, OpenCL and PoCL's compiler piece by piece

Of 650 that a folder of 500 such files takes:

    start_forkserver      40   its processes' imports overlap with click's; PoCL is linked once for all

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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from itertools import islice
from types import ModuleType
from typing import TYPE_CHECKING

from . import signals, system

if TYPE_CHECKING:
    import pyopencl as cl

HAS_FORKSERVER = hasattr(os, "fork")
# Entries of a folder from which on processes may pay, and the bytes of a file from which on threads do as well: all but
# a little is done without Python then.
MANY, LARGE_FILE = 16, 1 << 20
_ALL_DEVICE_TYPES = ctypes.c_uint64(0xFFFFFFFF)  # CL_DEVICE_TYPE_ALL
# Modules that others import and this program does not use: 50 types of vectors, docstrings, what e-mail needs, as which
# versions of packages are read. Not here: what several threads may be the first to use, which Python 3.11.7 fails of.
_UNUSED = {
    *("numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars", "pyopencl.cltypes"),
    *("attrs", "calendar", "csv", "socket"),
}


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


class _Postponed:
    """Finds modules that this program does not use, and executes them only on first use."""

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


def load_platforms_ahead() -> None:
    """Let a thread load OpenCL's platforms, which need the environment; :func:`wait_for_platforms` waits for it."""
    system.starting_threads.acquire()  # the thread releases it
    try:
        threading.Thread(target=_load_platforms).start()
    except RuntimeError:  # no thread can be started: they are loaded when they are asked for
        system.starting_threads.release()


def wait_for_platforms() -> None:
    """Wait until the platforms are loaded, if that was begun."""
    with system.starting_threads:
        pass


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


def unbuilt_program(context: cl.Context, source: str) -> cl.Program:
    """Return ``cl.Program(context, source)``, without the look whether it is SPIR-V, which imports pyopencl's tools."""
    import pyopencl as cl
    from pyopencl.characterize import has_src_build_cache

    make = getattr(cl._cl, "_Program", None)
    if make is None or not has_src_build_cache(context.devices[0]):  # pyopencl keeps what it builds of a source
        return cl.Program(context, source)
    return cl.Program(make(context, source))


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


def start_forkserver() -> None:
    """Start the process that a folder's processes are forked from, if it does not run yet."""
    # If this process is killed, a helper of multiprocessing cleans up after it and would say so.
    os.environ.setdefault("PYTHONWARNINGS", "ignore::UserWarning:multiprocessing.resource_tracker")
    if HAS_FORKSERVER and system.startable_processes(2) == 2:
        from multiprocessing.forkserver import ensure_running, set_forkserver_preload

        set_forkserver_preload(["fftfilter.folders.preloaded"])
        with signals.blocked(), suppress(OSError):  # starting a process later says why it cannot
            ensure_running()


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
