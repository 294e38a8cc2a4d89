"""OpenCL devices: which there are, which one is taken, and how programs are built and launched on it.

    choice.py          which devices there are, and which one is taken
    device.py          one device: its name, its limits, the programs built for it
    programs.py        from .cl files to a program
    launcher.py        a queue: buffers, kernels, launches, times
    memory_pool.py     the host's memory: for vectors; and what takes long to get, kept and used again
    pipeline.py        what every pipeline offers
    selftest.py        a device is checked with a small filter before it is trusted
    diagnosis.py       what is wrong with this machine's OpenCL, and the line that repairs it
    embedded_pocl.py   the PoCL that pip installs, made to build on every CPU

Its import is that of pyopencl, which takes a tenth of a second. No filter is chosen here: where one has to run, in the
self-test, a function that makes its pipeline is a parameter.
"""

from .. import signals
from ..system import spare_pyopencl_its_cache

# pyopencl is imported here, before any module of this room does: it makes up its mind about caches then.
spare_pyopencl_its_cache()
with signals.held():
    import pyopencl  # noqa: F401
