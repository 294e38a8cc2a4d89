"""OpenCL devices: which there are, and how programs are built and launched on one.

    opencl.py          which devices there are, each with its programs, from .cl files
    launcher.py        a queue: buffers, kernels, launches, times; the interface of every pipeline; host memory that is
                       aligned, page-locked or kept
    selftest.py        checks a device with a small filter before it is trusted
    embedded_pocl.py   makes the PoCL that pip installs build on every CPU
    linker.py          links the kernels of that PoCL, in a process of its own, without the system's linker

Importing this room imports pyopencl, if it is there, which takes a tenth of a second. Neither a device nor a
filter is chosen here: the self-test takes the function that makes its pipeline as a parameter.
"""

import os
import sys
from contextlib import suppress
from importlib.util import find_spec
from types import ModuleType

from .. import signals

# pyopencl has a cache in SQLite. It saves nothing here, and waits for other processes, or fails, where it is locked,
# damaged or cannot be written. pyopencl decides about it, and SQLite is imported for it, when it is imported.
os.environ.setdefault("PYOPENCL_NO_CACHE", "1")
if find_spec("_sqlite3") is None:
    sys.modules.setdefault("sqlite3", ModuleType("sqlite3"))
# pyopencl is imported here, before any module of this room does.
with signals.held(), suppress(ImportError):  # whoever needs it says so
    import pyopencl  # noqa: F401
