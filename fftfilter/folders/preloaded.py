"""What a folder's processes import: the forkserver imports this module once, and is forked for each of them.

It opens no OpenCL platform: those do not survive a fork. PoCL's library alone may be loaded, as nothing has run in it.
"""

from __future__ import annotations

import gc

from .. import startup, system

startup.pause_collector()
system.spare_pyopencl_its_cache()
startup.limit_openblas()

import pytools.py_codegen  # noqa: E402, F401

from ..device import embedded_pocl  # noqa: E402
from ..files import atomic  # noqa: E402, F401
from ..fused.cpu import pipeline  # noqa: E402, F401
from ..images import depth, pillow_reader, png_writer, pnm, reading, writing  # noqa: E402, F401
from ..transfer import grid  # noqa: E402, F401
from . import batch, codec  # noqa: E402, F401

embedded_pocl.load_library()
gc.freeze()  # what is collected later is not looked for here, so that forks share it
