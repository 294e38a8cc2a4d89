"""Imports for a folder's processes: the forkserver imports this module once, and is forked for each process.

It opens no OpenCL platform: those do not survive a fork. PoCL's library alone may be loaded, as nothing has run in it.
Pillow is left to the processes that meet a file for it.
"""

from __future__ import annotations

import gc
from importlib import import_module

from .. import startup

# Modules that functions import on first use, and those that import all the rest.
MODULES = (
    *("pyopencl.characterize", "pyopencl.invoker", "pytools.py_codegen"),
    *("xxhash", "fftfilter.device.choice", "fftfilter.device.selftest", "fftfilter.filters.filter"),
    *("fftfilter.folders.batch", "fftfilter.folders.pool", "fftfilter.fused.cpu.pipeline", "fftfilter.transfer.grid"),
    *("fftfilter.images.plain_formats", "fftfilter.images.reading", "fftfilter.images.writing"),
)

startup.pause_collector()
startup.limit_openblas()
startup.postpone_unused_imports()

# First, near the bottom of the stack: Python takes memory and frees it for each call across the end of a block of the
# stack, and among the nested imports below, NumPy's would cross one in a loop.
import_module("numpy")

from ..device import embedded_pocl  # noqa: E402  it imports pyopencl, and so comes before the others

for name in MODULES:
    import_module(name)
embedded_pocl.load_library()
gc.freeze()  # later collections skip all that is here, so that forks share it
