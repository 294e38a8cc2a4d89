"""The whole filter in float64, without OpenCL: what every engine is measured against.

Slow and short on purpose. Images go through ``numpy.fft``, which a test compares with the transform's definition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..arrays import strips
from ..output.ramp import Gray, pixels, ramps
from ..output.rounding import deviation, offset

if TYPE_CHECKING:
    from .product import Edges

# Gains that differ by less are even: their own rounding.
EVEN = 1e-12


def filtered(image: NDArray[Any], gain: NDArray[np.inexact], edges: Edges = "wrap") -> NDArray[Any]:
    """Return images ``(..., height, width)`` times ``gain``, the transfer function on the grid, in frequency.

    Channels may have a gain each, ``(channels, height, width)``. With edges of "mirror" the grid is that of twice each
    side The offset goes around the transforms, so that of a constant image nothing is left, not even
    rounding. The result is real if the gains of f and -f are conjugate, else complex. Rows and columns are transformed
    some at a time: all at once would take several times the memory.
    """
    (high, wide), (height, width) = gain.shape[-2:], image.shape[-2:]
    opposite = -np.arange(high)
    odd = (gain[..., rows, :] - np.roll(gain[..., opposite[rows], ::-1], 1, -1).conj() for rows in strips(high))
    is_real = all(np.abs(each).max() < EVEN for each in odd)
    there, back, across = (np.fft.rfft, np.fft.irfft, wide // 2 + 1) if is_real else (np.fft.fft, np.fft.ifft, wide)
    planes, base = image.reshape(-1, height, width), offset(image).reshape(-1)
    gains = np.broadcast_to(gain, (*image.shape[:-2], high, wide)).reshape(-1, high, wide)
    made = np.empty(planes.shape, np.float64 if is_real else np.complex128)
    spectrum = np.empty((high, across), np.complex128)
    for plane, own, level, result in zip(planes, gains, base, made, strict=True):
        for rows in strips(height):
            given = np.asarray(plane[rows], dtype=np.float64) - level
            spectrum[rows] = there(np.pad(given, ((0, 0), (0, wide - width)), "symmetric"))
        if edges == "mirror":
            spectrum[height:] = spectrum[height - 1 :: -1]
        for columns in strips(across):
            spectrum[:, columns] = np.fft.ifft(np.fft.fft(spectrum[:, columns], axis=0) * own[:, columns], axis=0)
        for rows in strips(height):
            result[rows] = back(spectrum[rows], wide)[:, :width] + own[0, 0].real * level
    return made.reshape(image.shape)


def filter_image(
    image: NDArray[Any], gain: NDArray[np.float64], dtype: DTypeLike = np.uint8, white: int = 255, edges: Edges = "wrap"
) -> NDArray[Any]:
    """Return the normalized magnitude of the filtered image, as the contract defines it.

    ``image`` is ``(height, width)``, or ``(channels, height, width)`` with one scale for all channels; ``gain`` and
    ``edges`` are as for :func:`filtered`. Gains above 1 raise the input's rounding noise, too.
    """
    largest_deviation = float(deviation(image).max()) * max(1.0, float(np.abs(gain).max()))
    (ramp,) = ramps("magnitude", gray=Gray(white, np.dtype(dtype), white))
    return pixels(np.abs(filtered(image, gain, edges)), ramp, largest_deviation, dtype).pixels
