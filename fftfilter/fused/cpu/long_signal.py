"""Long or few rows: these would leave most lanes of a vector idle, so each is transformed as a matrix.

n = rows x columns: transforms down the columns, times twiddle factors, transforms along the rows, and the result lies
transposed (Bailey, FFTs in external or hierarchical memory, 1990). A length that cannot be split well goes by
Bluestein's chirp-z as a convolution of one that can.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..tables import chirp, chirp_filter, convolution_lengths
from . import mixed_radix
from .plain_fft import SIGNAL, CpuTransform
from .plan import vector_width

if TYPE_CHECKING:
    from ...device.launcher import Launcher
    from ..plain_fft import Shape

    Array = np.ndarray[Any, Any]

# Rows from this length on are split if they are fewer than a vector's lanes; from the other one on in any case, as
# VECTOR of them no longer fit into the second cache.
FEW, MANY = 1 << 10, 1 << 14


def long(launcher: Launcher, shape: Shape, *, lanes: int | None = None) -> LongSignal | LongChirp | None:
    """Return the transform of long or few rows, None for others."""
    lanes = lanes or vector_width(launcher.device.cl_device.native_vector_width_float)
    if shape.along != "rows" or shape.width < (FEW if shape.height < lanes else MANY):
        return None
    found = split(shape.width, lanes)
    return LongSignal(launcher, shape, found, lanes=lanes) if found else LongChirp(launcher, shape, lanes=lanes)


@cache
def split(n: int, lanes: int) -> tuple[int, int] | None:
    """Return the most even (rows, columns) of a smooth length, each at least a vector; None if there are none."""
    most = int(n**0.5) if mixed_radix.is_smooth(n) else 0
    return next(((rows, n // rows) for rows in range(most, lanes - 1, -1) if n % rows == 0), None)


class LongSignal:
    """Transforms of rows, each as a matrix of ``sides`` (rows, columns)."""

    def __init__(self, launcher: Launcher, shape: Shape, sides: tuple[int, int], *, lanes: int) -> None:
        rows, columns = sides
        self._matrix = shape.height, rows, columns
        matrices = replace(shape, data="complex", along="both", count=shape.height, height=rows, width=columns)
        self._transform = CpuTransform(launcher, matrices, lanes=lanes, kind=SIGNAL)
        self._shape = shape
        self.device_bytes = self._transform.device_bytes

    def run(self, source: Array, scale: float = 1.0) -> tuple[Array, float]:
        """Return the transforms of rows, and the largest magnitude of their parts."""
        numbers = np.ascontiguousarray(source, np.complex64).reshape(self._matrix)
        made, largest = self._transform.run(numbers, scale)
        return made.reshape(self._shape.target), largest


class LongChirp:
    """Transforms of rows whose length has a large prime factor: Bluestein's, of a length that can be split."""

    def __init__(self, launcher: Launcher, shape: Shape, *, lanes: int) -> None:
        self._shape, n = shape, shape.width
        good = convolution_lengths(n, 8 * n, (2, 3, 5))
        length, sides = next((m, sides) for m in good if (sides := split(m, lanes)))
        there = replace(shape, data="complex", width=length, inverse=False)
        self._there = LongSignal(launcher, there, sides, lanes=lanes)
        self._back = LongSignal(launcher, replace(there, inverse=True), sides, lanes=lanes)
        own = chirp(n).conj() if shape.inverse else chirp(n)
        self._chirp = own.astype(np.complex64)
        self._filter = chirp_filter(own, length).astype(np.complex64)
        self.device_bytes = self._there.device_bytes + self._back.device_bytes

    def run(self, source: Array, scale: float = 1.0) -> tuple[Array, float]:
        """Return the transforms of rows, and the largest magnitude of their parts."""
        n = self._shape.width
        padded = np.zeros((1, self._shape.height, len(self._filter)), np.complex64)
        np.multiply(source, self._chirp, out=padded[:, :, :n])
        convolved, _ = self._there.run(padded)
        convolved *= self._filter
        made, _ = self._back.run(convolved)
        result = made[:, :, :n] * (self._chirp * np.float32(scale))
        return result, float(np.abs(result.view(np.float32)).max())
