"""Pictures reduced for quick looks. The same filter for them: ``Transfer.in_cycles``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
