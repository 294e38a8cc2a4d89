"""Startup optimizations, and the processor time that a 512 x 512 PGM takes more without each.

    pause_collector   10 %   no garbage is collected while modules load: they make none
    limit_openblas    15 %   NumPy's linear algebra, which is never called, would start threads that wait busily
    leave             23 %   the interpreter would release NumPy, OpenCL and PoCL's compiler piece by piece

Nothing here is needed for a right result.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading


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
