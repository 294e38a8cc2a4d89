"""The luminance and the chroma of a color picture, one of which is filtered while the other stays as it is.

    Y = 0.299 R + 0.587 G + 0.114 B,  Cb = (B - Y) / 1.772,  Cr = (R - Y) / 1.402

These are JPEG's (BT.601 in full range), of the gray levels as the file has them. Nothing is rounded to YCbCr: a filter
F is linear, so that luminance turns each channel c into c + F(Y) - Y, and chroma into Y + F(c - Y).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .modes import ALL, Channels, check_colors
from .rounding import Array

RED, GREEN, BLUE = WEIGHTS = 0.299, 0.587, 0.114


def part_of(planes: Array, channels: Channels | None) -> Array:
    """Return what is filtered of a picture ``(channels, height, width)``: its planes; or Y, or R - Y and B - Y.

    The parts are float64. Gray pictures have a luminance, which is their plane, and no chroma. Raises ParameterError
    for pictures that are neither gray nor RGB.
    """
    if channels in (None, ALL):
        return planes
    if len(planes) == 1:
        return planes if channels == "luminance" else planes[:0]
    check_colors(channels, len(planes), "the picture")
    luma: Array = np.zeros(planes.shape[1:])
    for weight, plane in zip(WEIGHTS, planes, strict=True):
        luma += np.multiply(plane, weight, dtype=np.float64)
    return luma[None] if channels == "luminance" else planes[[0, 2]] - luma


def filtered_part(planes: Array, channels: Channels | None, filter_: Callable[[Array], Array]) -> Array:
    """Return a picture of which a part is filtered, in float64."""
    part = part_of(planes, channels)
    if part is planes:
        return filter_(planes)
    if not len(part):
        return planes.astype(np.float64)
    lost = part - filter_(part)
    del part  # large pictures: no array stays longer than it is needed
    values = np.empty(planes.shape, lost.dtype)
    for value, plane, of_plane in zip(values, planes, of_channels(lost, channels), strict=True):
        np.subtract(plane, of_plane, out=value)
    return values


def of_channels(part: Array, channels: Channels | None) -> list[Array]:
    """Return red, green and blue of a part of a picture: Y for each, or R - Y, G - Y and B - Y; of no part itself."""
    if channels in (None, ALL):
        return list(part)
    if channels == "luminance":
        return [part[0]] * 3
    red, blue = part
    return [red, -(RED * red + BLUE * blue) / GREEN, blue]
