"""The grid of an image's frequencies: what is nearer than a cutoff, and where a transfer function varies; float64."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .shapes import SHAPES

Gain = NDArray[np.float64]
Near = NDArray[np.bool_]
Bins = NDArray[np.int64]

# Gains this small vanish in single precision beside any gain of 1.
NEGLIGIBLE = 2.0**-32
# What is passed by this gain changes by less than half a level of 255.
PASSED = 1 - 2.0**-9


class Support(NamedTuple):
    """The part of the grid where a transfer function varies.

    Where |ky| >= ``rows`` or |kx| >= ``columns`` the gain is ``beyond``, 0 or 1, up to a negligible difference.
    """

    rows: int
    columns: int
    beyond: float


class Cutoff(NamedTuple):
    """A cutoff on the grid of a ``(height, width)`` image; ``radius`` in cycles across the shorter side n.

    Of pixels that are not as high as wide, the height is that in pixels that were, and then no whole number.
    ``falloff`` is what the shape takes beside the distance: the order, or the width as a part of the radius.
    """

    height: float
    width: float
    radius: float
    falloff: float = 0.0

    def near(self, kx: Bins, ky: Bins) -> Near:
        """Tell whether bins are nearer to DC than the radius.

        On a square image by whole numbers, the book's ``dist2 < radius * radius``; on others by the same
        float64 arithmetic as ``hypot(fftfreq(width), fftfreq(height)) * n``, so that NumPy agrees on every bin.
        """
        if self.height == self.width:
            return np.asarray(np.square(kx, dtype=float) + np.square(ky, dtype=float) < self.radius * self.radius)
        f = np.hypot(kx * (1 / self.width), ky * (1 / self.height))
        return np.asarray(f * min(self.height, self.width) < self.radius)

    def near_in_rows(self) -> NDArray[np.uint32]:
        """Return how many |kx| = 0, 1, 2 ... are near in the rows |ky| = 0 ... height/2: the ideal mask as a table."""
        n = min(self.height, self.width)
        ky = np.arange(int(self.height) // 2 + 1)
        chord = np.sqrt(np.maximum((self.radius / n) ** 2 - (ky / self.height) ** 2, 0)) * self.width
        # Exact up to rounding: the bins around it decide.
        first = np.minimum(chord, self.width).astype(np.int64) - 2
        around = np.maximum(first, 0) + np.arange(5)[:, None]
        count = np.maximum(first, 0) + self.near(around, ky).sum(axis=0)
        near: NDArray[np.uint32] = np.minimum(count, int(self.width) // 2 + 1).astype(np.uint32)
        return near

    def near_in_columns(self) -> NDArray[np.uint32]:
        """Return how many |ky| = 0, 1, 2 ... are near in the columns |kx| = 0 ... width/2."""
        return Cutoff(self.width, self.height, self.radius).near_in_rows()

    def steps(self) -> tuple[float, float]:
        """Return distance / radius of one bin across and down; at most 1e15, whose square single precision holds."""
        n = min(self.height, self.width)
        return min(n / self.width / self.radius, 1e15), min(n / self.height / self.radius, 1e15)

    def low(self, shape: str, kx: Bins, ky: Bins) -> Gain:
        """Return the gain of a low-pass of a shape at bins."""
        function = SHAPES[shape].gain
        if function is None:
            return self.near(kx, ky).astype(np.float64)
        x, y = self.steps()
        return function((kx * x) ** 2 + (ky * y) ** 2, self.falloff)


def table_support(gains: NDArray[np.floating], height: int, width: int) -> Support:
    """Return where even gains, none above 1, vary: all of a ``(height, width)`` grid, or its first rows and columns."""
    beyond = float(gains[height // 2, width // 2].real)
    if beyond not in (0.0, 1.0):
        return Support(height // 2 + 1, width // 2 + 1, 0.0)
    varies = gains != beyond
    bins = ((np.flatnonzero(varies.any(axis=axis)), n) for axis, n in ((1, height), (0, width)))
    rows, columns = (int(np.minimum(k, n - k).max(initial=-1)) + 1 for k, n in bins)
    return Support(rows, columns, beyond)


def parts_along_axes(gains: Gain) -> tuple[Gain, Gain]:
    """Return the parts of even gains ``(rows, width)`` even and odd along each axis, up to half the width."""
    half = gains[:, : gains.shape[1] // 2 + 1]
    odd = gains[:, -np.arange(half.shape[1])]  # the mirrored ones
    even = half + odd
    np.subtract(half, odd, out=odd)
    even /= 2
    odd /= 2
    return even, odd
