"""The output's range: which filtered value becomes black and which white.

each is every picture's own: 0 to its largest value, found on the device. folder is 0 to the largest value of
a whole folder, so that a series stays comparable. LO:HI is given, in grey levels of the input: 0 to 255 for
8 bits, 0 to its maxval for a PGM.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .errors import ParameterError
from .pixels import NOISE, rounding

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .images import Depth

    Array = NDArray[Any]

EACH, FOLDER = "each", "folder"


class Range(NamedTuple):
    """The values that become black and white."""

    low: float
    high: float
    of_white: bool = False
    """Whether they are parts of the input's white rather than grey levels."""


def parse(text: str) -> Range | None:
    """Return the range that LO:HI gives, None for the words each and folder; raises ParameterError."""
    if text in (EACH, FOLDER):
        return None
    low, _, high = text.partition(":")
    try:
        given = Range(float(low), float(high))
    except ValueError:
        raise ParameterError(f"scale {text!r} is unknown: give each, folder, or LO:HI such as 0:40") from None
    if not (math.isfinite(given.low) and math.isfinite(given.high) and given.low < given.high):
        raise ParameterError(f"scale {text!r} is no range: give two numbers, the smaller first, such as 0:40")
    return given


def magnitude(values: Array, planes: Array) -> Array:
    """Return the magnitude of filtered values; zero if it is only rounding noise of the planes filtered."""
    found = np.abs(values)
    noise = NOISE * max(float(planes.max()), -float(planes.min()))
    return found if found.max() > noise else np.zeros_like(found)


def quantize(values: Array, scale: Range, white: float, depth: Depth) -> Array:
    """Map magnitudes to pixels of a depth by a range; ``white`` is the input's."""
    unit = white if scale.of_white else 1.0
    low, high = scale.low * unit, scale.high * unit
    top, nudge, near = rounding(depth.maxval, is_float=depth.dtype.kind == "f")
    # In place, as each array more costs as long as the filter itself.
    level = values - low
    level *= top / (high - low)
    level += nudge
    level[values >= low + near * (high - low)] = top
    return level.clip(0, top, out=level).astype(depth.dtype)
