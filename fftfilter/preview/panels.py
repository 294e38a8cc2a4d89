"""Pictures of what a filter does: RGB, at the size that they are looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from .drawing import REMOVED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .look import Look

    Array = NDArray[Any]
    Pixels = NDArray[np.uint8]

# Of a spectrum: how far below the median black lies, as a logarithm of power, the share of frequencies that may be lost
# in white, and how much the tint covers.
BLACK, WHITE, TINT = 3.0, 2e-4, 0.65
# The share of pixels of what is removed that may be lost in black or white.
CUT = 0.002


def fitted(planes: Array, side: int) -> Array:
    """Return planes ``(channels, height, width)`` as floats that fit into a square, at most eight times as large."""
    _, height, width = planes.shape
    factor = min(side / max(height, width), 8)
    if factor > 1:
        factor = int(factor)
    size = max(1, round(width * factor)), max(1, round(height * factor))
    how = Image.Resampling.NEAREST if factor >= 1 else Image.Resampling.BOX
    return np.stack([np.asarray(Image.fromarray(plane.astype(np.float32)).resize(size, how)) for plane in planes])


def shown(planes: Array, white: float, side: int, black: float = 0.0) -> Pixels:
    """Return a picture as it is looked at, ``(height, width, 3)``."""
    levels = (fitted(planes, side) - black) * (255 / ((white - black) or 1))
    return rgb(np.clip(np.rint(levels), 0, 255).astype(np.uint8))


def rgb(planes: Pixels) -> Pixels:
    """Return planes as RGB ``(height, width, 3)``: the first as gray, of three and more the first three as colors."""
    planes = planes[: 3 if len(planes) > 2 else 1]
    return np.ascontiguousarray(np.broadcast_to(planes, (3, *planes.shape[1:])).transpose(1, 2, 0))


def removed(lost: Array, white: float, side: int) -> tuple[Pixels, float]:
    """Return what is removed, 0 in mid-grey, and how much of it is white, if the picture's white were 255."""
    planes = fitted(lost, side)
    largest = float(np.quantile(np.abs(planes), 1 - CUT)) or float(np.abs(planes).max()) or white / 255
    return shown(planes, largest, max(planes.shape[1:]), -largest), 255 * largest / white


def spectrum(look: Look, side: int, span: float = 1.0) -> Pixels:
    """Return the logarithm of the power, DC in the middle, what the filter removes tinted.

    It is ``span`` cycles per pixel wide and high. Of several frequencies in one pixel it shows the strongest,
    so that no peak is lost.
    """
    width = look.size[1]
    gray = gray_spectrum(look.power, width, (side, span))[..., None]
    share = square(look.gain, width, (side, span), np.add) / counts(*look.size, (side, span))
    tint = TINT * (1 - np.clip(np.abs(share), 0, 1))[..., None]
    tinted = np.array(REMOVED) * (0.45 + 0.55 * gray / 255)
    return np.asarray(np.rint(gray * (1 - tint) + tinted * tint)).astype(np.uint8)


def gray_spectrum(power: Array, width: int, size: tuple[int, float]) -> Array:
    """Return the logarithm of a half of a power spectrum as a square of pixels and cycles: 0 to 255, DC in the middle.

    The half is ``(height, width // 2 + 1)``, kx from 0 up; frequency 0 is the pixel ``side // 2``.
    """
    power = power.copy()
    power[0, 0] = power.max()  # the mean, which was taken off
    power = square(power, width, size, np.maximum)
    logs = np.log(np.maximum(power, power.max() * 1e-14) if power.max() else np.ones_like(power))
    low, high = np.median(logs) - BLACK, np.quantile(logs, 1 - WHITE)
    return np.asarray(np.clip((logs - low) / ((high - low) or 1), 0, 1) * 255)


def square(half: Array, width: int, size: tuple[int, float], join: np.ufunc) -> Array:
    """Return a half of a spectrum ``(height, width // 2 + 1)`` as a square, DC in the middle, of pixels and cycles."""
    height = len(half)
    ky = np.arange(height) - height // 2
    # Rows first, of both halves: few are left of them.
    right = _binned(half[ky], 0, size, join)
    left = _binned(half[-ky, 1 : (width + 1) // 2], 0, size, join)
    whole = np.fft.fftshift(np.concatenate([right, left[:, ::-1]], axis=1), axes=1)
    return _binned(whole, 1, size, join)


def counts(height: int, width: int, size: tuple[int, float]) -> Array:
    """Return how many frequencies of an image are in each pixel of its :func:`square`."""
    down, across = (_binned(np.ones(n), 0, size, np.add) for n in (height, width))
    return np.outer(down, across)


def _binned(values: Array, axis: int, size: tuple[int, float], join: np.ufunc) -> Array:
    """Return values along an axis of frequencies, DC in the middle, joined to pixels."""
    (side, span), n = size, values.shape[axis]
    # The pixel of frequency 0 is the middle one, side // 2, whatever n is.
    place = (np.arange(side + 1) - side // 2) * (n * span / side)
    if n * span < side:
        nearest = np.clip(np.rint(place[:-1]).astype(np.int64) + n // 2, 0, n - 1)
        return np.asarray(values.take(nearest, axis))
    first = np.clip(np.floor(place + 1e-9).astype(np.int64) + n // 2, 0, n)
    inside = values[: first[-1]] if axis == 0 else values[:, : first[-1]]
    return np.asarray(join.reduceat(inside, first[:-1], axis))
