"""From filtered values to pixels on the host, by a given range; without one the device quantizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .ground import deviation
from .noise import NOISE
from .rounding import rounding

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..images import Depth
    from .scale import Range

    Array = NDArray[Any]


def magnitude(values: Array, planes: Array) -> Array:
    """Return the magnitude of the filtered ``planes``, zeros if all of it is rounding noise."""
    found = np.abs(values)
    return found if found.max() > NOISE * deviation(planes).max() else np.zeros_like(found)


def quantize(values: Array, scale: Range, white: float, depth: Depth) -> Array:
    """Map magnitudes to pixels of a depth by a range; ``white`` is the input's."""
    unit = white if scale.of_white else 1.0
    low, high = scale.low * unit, scale.high * unit
    top, nudge, near = rounding(depth.maxval, is_float=depth.dtype.kind == "f")
    # In place: another array would take as long as the filter itself.
    level = values - low
    level *= top / (high - low)
    level += nudge
    level[values >= low + near * (high - low)] = top
    return level.clip(0, top, out=level).astype(depth.dtype)
