"""The offset: the constant that is taken off an image before the transform.

A transform in single precision rounds everything by a part of the largest value that goes through it. A bright
background would carry its rounding into weak detail: of 60000 + {0, 1} little would be left. A filter is linear, so the
offset can go around the transforms: H(image) = H(image - offset) + H(0) offset.

It is the middle one of three pixels, on the diagonal at 1/4, 1/2 and 3/4: known before anything else is read, the same
in every engine, and a pixel, so that whole numbers stay exact. A dead pixel among the three is never the middle one.
Each plane has its own, the channels of a picture, too. With any pixel as the offset no deviation from it exceeds the
image's range.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

KERNEL = "offset.cl"


def offset(planes: Array) -> NDArray[np.float64]:
    """Return the offset of each plane of ``(..., height, width)``."""
    height, width = planes.shape[-2:]
    pixels = np.stack([planes[..., i * height // 4, i * width // 4] for i in (1, 2, 3)])
    middle: NDArray[np.float64] = np.sort(pixels.astype(np.float64), axis=0)[1]
    return middle


def deviation(planes: Array) -> NDArray[np.float64]:
    """Return how far any pixel of each plane of ``(..., height, width)`` is from its offset at most."""
    of_plane, base = (-2, -1), offset(planes)
    far: NDArray[np.float64] = np.maximum(planes.max(of_plane) - base, base - planes.min(of_plane))
    return far


def mean_deviation(planes: Array) -> NDArray[np.float64]:
    """Return the mean of each plane of ``(..., height, width)`` less its offset."""
    mean: NDArray[np.float64] = planes.mean(axis=(-2, -1), dtype=np.float64)
    return mean - offset(planes)


def spread(planes: Array) -> NDArray[np.float64]:
    """Return the root of the mean square of each plane's deviations from its offset."""
    unit = np.maximum(deviation(planes), np.finfo(np.float64).tiny)  # squares of large floats would overflow
    away = (planes - offset(planes)[..., None, None]) / unit[..., None, None]
    found: NDArray[np.float64] = unit * np.sqrt(np.mean(np.square(away, out=away), axis=(-2, -1)))
    return found
