"""The whole filter in float64, without OpenCL: what every engine is measured against.

Slow and short on purpose. Images go through ``numpy.fft``, which a test compares with the transform's definition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..output.ramp import Gray, pixels, ramps
from ..output.rounding import deviation, offset

if TYPE_CHECKING:
    from .edges import Edges


def filtered(image: NDArray[Any], gain: NDArray[np.float64], edges: Edges = "wrap") -> NDArray[np.complex128]:
    """Return images ``(..., height, width)`` times ``gain``, the transfer function on the grid, in frequency.

    Channels may have a gain each, ``(channels, height, width)``. With edges of "mirror" the grid is that of twice each
    side (``edges.py``). The offset goes around the transforms, so that of a constant image nothing is left, not even
    rounding.
    """
    base = offset(image)[..., None, None]
    whole, (height, width) = np.asarray(image, dtype=np.float64) - base, image.shape[-2:]
    if edges == "mirror":
        whole = np.pad(whole, [(0, 0)] * (image.ndim - 2) + [(0, height), (0, width)], "symmetric")
    inside = np.fft.ifft2(np.fft.fft2(whole) * gain)[..., :height, :width]
    return np.asarray(inside + gain[..., :1, :1] * base)


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
