"""Pictures reduced for quick looks, and the same filter for them.

A picture reduced by 4 has pixels four times as wide, and of each frequency four times as many cycles in a pixel.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from ..transfer.peaks import Notch
from ..transfer.radial import Radial
from ..transfer.units import Radius, with_radii

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..transfer import Transfer

    Array = NDArray[Any]

# The longer side of the smallest level, at least.
SMALLEST = 512


def levels(height: int, width: int) -> list[int]:
    """Return the reductions that are of use for a picture: 1, 2, 4 ..."""
    found = [1]
    while max(height, width) // (2 * found[-1]) >= SMALLEST and min(height, width) // (2 * found[-1]) >= 16:
        found.append(2 * found[-1])
    return found


def halved(planes: Array) -> Array:
    """Return planes of half the width and height: means of 2 x 2 pixels, at the end of odd sides of fewer."""
    if planes.shape[1] % 2 or planes.shape[2] % 2:
        planes = np.pad(planes, ((0, 0), (0, planes.shape[1] % 2), (0, planes.shape[2] % 2)), "edge")
    wide = np.float32 if planes.dtype.kind == "f" else np.uint32 if planes.dtype.itemsize > 1 else np.uint16
    rows = np.add(planes[:, ::2], planes[:, 1::2], dtype=wide)
    sums = rows[:, :, ::2] + rows[:, :, 1::2]
    if planes.dtype.kind == "f":
        return np.asarray(sums * np.float32(0.25))
    return np.asarray((sums + 2) >> 2).astype(planes.dtype)


def reduced(pixels: NDArray[np.uint8], level: int) -> NDArray[np.uint8]:
    """Return an image of 8 bits ``(height, width)`` reduced by a level: the means of its squares, whole or cut off."""
    if level == 1:
        return pixels
    return np.asarray(Image.fromarray(pixels).reduce(level))


def in_cycles(transfer: Transfer, height: int, width: int, level: float = 1.0) -> Transfer:
    """Return the same function for grids of any size, given the picture's: all of its radii in cycles per pixel.

    Pixels are those of the picture reduced by ``level``.
    """
    parts = (_reduced(part, level, height, width) for part in transfer.parts)
    return replace(transfer, parts=tuple(part for part in parts if part is not None))


def _reduced(part: Any, level: float, height: int, width: int) -> Any:
    """Return a part for the smaller picture, None if it has no effect there."""
    n = min(height, width)

    def radius(given: Radius) -> Radius:
        return Radius(given.bins(height, width) / n * level, "cyc")

    if isinstance(part, Radial):
        if part.outer is None:
            part = replace(part, outer=Radius(n / 8))
        return with_radii(part, radius)
    if isinstance(part, Notch):
        fx, fy = (each * level for each in part.at)
        return replace(with_radii(part, radius), at=(fx, fy)) if max(abs(fx), abs(fy)) <= 0.5 else None
    if hasattr(part, "gains"):
        return _cut(part, level)
    return with_radii(part, radius)


def _cut(mask: Any, level: float) -> Any:
    """Return a mask's gains of the frequencies that are left."""
    middle = np.fft.fftshift(mask.gains)
    for axis in (0, 1):
        n = middle.shape[axis]
        kept = max(1, int(n / max(level, 1)))
        first = n // 2 - kept // 2
        middle = middle.take(range(first, first + kept), axis)
    return replace(mask, gains=np.fft.ifftshift(middle), any_size=True)
