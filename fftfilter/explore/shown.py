"""Pixels as a browser shows them: 8 bits, gray or RGBA, reduced; and the frames that carry them."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[Any]
    Pixels = NDArray[np.uint8]

# id, kind, channels, width, height, level, then x and y of the sent part: little-endian.
_HEADER = struct.Struct("<IHHIIIII4x")
# The share of samples that may become white where the largest value of the type says nothing about the picture.
CUT = 5e-4
# Number of samples that a picture's white is computed from.
ENOUGH = 1 << 18
# Fewest pixels of the longer side of the smallest level.
SMALLEST = 512


class Kind(IntEnum):
    """The content of a frame."""

    RESULT = 0
    INPUT = 1
    SPECTRUM = 2
    REMOVED = 3
    GAIN = 4


def frame(kind: Kind, pixels: Pixels, *, number: int = 0, level: int = 1, place: tuple[int, int] = (0, 0)) -> bytes:
    """Return a frame: a header of 32 bytes and the pixels ``(height, width)`` or ``(height, width, channels)``."""
    height, width, *channels = pixels.shape
    head = _HEADER.pack(number, kind, channels[0] if channels else 1, width, height, level, *place)
    return b"".join((head, np.ascontiguousarray(pixels).data))


def joined(planes: Sequence[Pixels] | Pixels) -> Pixels:
    """Return planes as gray ``(height, width)`` or RGB ``(height, width, 3)``.

    Of one or two planes, the first is shown; of more, the first three.
    """
    return np.asarray(planes[0]) if len(planes) < 3 else np.stack(tuple(planes[:3]), axis=-1)


def eight_bits(planes: Array, shown: tuple[float, float, float]) -> Pixels:
    """Return grey levels from black to white as 8 bits; ``shown`` are black, white and gamma."""
    black, white, gamma = shown
    if planes.dtype == np.uint8 and shown == (0, 255, 1):
        return planes
    is_table = planes.dtype.kind == "u" and planes.size > np.iinfo(planes.dtype).max
    values = np.arange(np.iinfo(planes.dtype).max + 1) if is_table else planes
    parts = np.clip((values.astype(np.float32) - np.float32(black)) / np.float32(white - black), 0, 1)
    found = np.rint(255 * (parts if gamma == 1 else parts ** np.float32(1 / gamma))).astype(np.uint8)
    return np.asarray(found[planes] if is_table else found)


def extremes(planes: Array, cut: float = CUT) -> tuple[float, float]:
    """Return the levels of about the darkest and the brightest sample; some are left out at each end."""
    low, high = np.quantile(planes.reshape(-1)[:: max(1, planes.size // ENOUGH)], (cut, 1 - cut))
    return float(low), float(high if high > low else low + 1)


def around_gray(values: Array) -> Pixels:
    """Return planes of both signs as 8 bits, with 0 as mid-grey; DC is left out."""
    away = values - values.mean(axis=(1, 2), keepdims=True, dtype=np.float64).astype(np.float32)
    largest = max(float(away.max()), -float(away.min())) or 1.0
    away *= np.float32(127 / largest)
    away += np.float32(128.5)
    return np.asarray(away).astype(np.uint8)


# Levels: pictures reduced by 1, 2, 4 ...


def levels(height: int, width: int) -> list[int]:
    """Return the useful reductions of a picture: 1, 2, 4 ..."""
    found = [1]
    while max(height, width) // (2 * found[-1]) >= SMALLEST and min(height, width) // (2 * found[-1]) >= 16:
        found.append(2 * found[-1])
    return found


def halved(planes: Array) -> Array:
    """Return planes of half the width and height: means of 2 x 2 pixels, of fewer at the end of odd sides."""
    if planes.shape[1] % 2 or planes.shape[2] % 2:
        planes = np.pad(planes, ((0, 0), (0, planes.shape[1] % 2), (0, planes.shape[2] % 2)), "edge")
    wide = np.float32 if planes.dtype.kind == "f" else np.uint32 if planes.dtype.itemsize > 1 else np.uint16
    rows = np.add(planes[:, ::2], planes[:, 1::2], dtype=wide)
    sums = rows[:, :, ::2] + rows[:, :, 1::2]
    if planes.dtype.kind == "f":
        return np.asarray(sums * np.float32(0.25))
    return np.asarray((sums + 2) >> 2).astype(planes.dtype)


def reduced(pixels: Pixels, level: int) -> Pixels:
    """Return an 8-bit image ``(height, width)`` reduced by a level: the means of squares, also of incomplete ones."""
    if level == 1:
        return pixels
    return np.asarray(Image.fromarray(pixels).reduce(level))
