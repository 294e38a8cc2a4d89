"""Imports for a folder's processes: the forkserver imports this module once, and is forked for each process.

It opens no OpenCL platform: those do not survive a fork. Pillow is left to the processes that meet a file for it.
"""

from __future__ import annotations

import gc
from importlib import import_module

from .. import system

# Modules that functions import on first use, and those that import all the rest. NumPy is first, near the bottom of the
# stack: Python takes memory and frees it for each call across the end of a block of the stack, and among nested imports
# NumPy's would cross one in a loop. The room of devices imports pyopencl, and so comes before pyopencl's own modules.
MODULES = (
    *("numpy", "fftfilter.device", "pyopencl.characterize", "pyopencl.invoker", "pytools.py_codegen"),
    *("xxhash", "fftfilter.device.opencl", "fftfilter.device.selftest", "fftfilter.filters.filter"),
    *("fftfilter.folders.batch", "fftfilter.folders.pool", "fftfilter.fused.cpu.pipeline", "fftfilter.transfer.grid"),
    *("fftfilter.images.plain_formats", "fftfilter.images.reading", "fftfilter.images.writing"),
)

system.pause_collector()
system.limit_openblas()
for name in MODULES:
    import_module(name)
gc.freeze()  # later collections skip all that is here, so that forks share it
