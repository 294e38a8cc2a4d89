"""OpenCL devices: which there are, which one is taken, and how programs are built and launched on it.

    choice.py          which devices there are, which one is taken, and the programs built for it
    programs.py        from .cl files to a program
    launcher.py        a queue: buffers, kernels, launches, times; and the interface of every pipeline
    memory_pool.py     host memory: aligned arrays, and pools that keep large or page-locked memory
    selftest.py        checks a device with a small filter before it is trusted
    diagnosis.py       finds what is wrong with this machine's OpenCL, and the line that repairs it
    embedded_pocl.py   makes the PoCL that pip installs build on every CPU

Importing this room imports pyopencl, which takes a tenth of a second. No filter is chosen here: the self-test takes the
function that makes its pipeline as a parameter.
"""

from .. import signals
from ..system import spare_pyopencl_its_cache

# pyopencl is imported here, before any module of this room does: it makes up its mind about caches then.
spare_pyopencl_its_cache()
with signals.held():
    import pyopencl  # noqa: F401
