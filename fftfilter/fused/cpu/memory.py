"""The host's memory as kernels of the CPU form want it: at the addresses of vectors, in huge pages where it is much."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]

# Vector loads need it, and a buffer on the host's memory has no other alignment than the host's.
ALIGNMENT = 128


def aligned(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return an array that begins at an address that vectors can have.

    NumPy asks the system for huge pages where an array is large, which OpenCL cannot.
    """
    size = math.prod(shape) * dtype.itemsize
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size].view(dtype).reshape(shape)
