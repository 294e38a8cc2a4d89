"""From filtered values to pixels on the host: every output but a magnitude of each picture's own range.

That one is quantized on the device. The formulas are in ``docs/numbers.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .rounding import NUDGE, rounding
from .scale import Range

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from .modes import Output

    Array = NDArray[Any]


def missing_mean(planes: Array, dc: float) -> NDArray[np.float64]:
    """Return what a filter takes off the mean of each plane, by its gain ``dc`` of a constant: ``(..., 1, 1)``."""
    mean: NDArray[np.float64] = planes.mean(axis=(-2, -1), dtype=np.float64, keepdims=True)
    return (1 - dc) * mean


def pixels(
    output: Output, values: Array, scale: Range | None, *, noise: float, white: float, dtype: DTypeLike, maxval: int
) -> tuple[Array, float]:
    """Return one picture's filtered ``values`` as pixels, and the part of them that is clipped; overwrites ``values``.

    A picture that never exceeds ``noise`` is rounding noise; for "keep" the values have their mean back already.
    ``white`` is the input's, ``maxval`` the output's.
    """
    if output == "real":
        return values, 0.0
    if output == "keep":
        return _rounded(values, Range(0.0, white), np.dtype(dtype), maxval, clips_floats=False)
    largest = float(max(values.max(), -values.min()))
    if largest <= noise:
        values[...] = largest = 0.0
    if output == "signed":
        scale = scale or Range(-largest or -1.0, largest or 1.0)
        return _rounded(values, scale.in_levels(white), np.dtype(dtype), maxval, clips_floats=True)
    return quantize(np.abs(values, out=values), scale or Range(0.0, largest or 1.0), white, dtype, maxval), 0.0


def quantize(values: Array, scale: Range, white: float, dtype: DTypeLike, maxval: int) -> Array:
    """Map magnitudes to pixels by a range, truncated; ``white`` is the input's. Overwrites ``values``."""
    low, high, _ = scale.in_levels(white)
    dtype = np.dtype(dtype)
    top, nudge, near = rounding(maxval, is_float=dtype.kind == "f")
    is_white = values >= low + near * (high - low)
    # In place: another array would take as long as the filter itself.
    level = values
    level -= low
    level *= top / (high - low)
    level += nudge
    level[is_white] = top
    return level.clip(0, top, out=level).astype(dtype)


def _rounded(
    values: Array, scale: Range, dtype: np.dtype[Any], maxval: int, *, clips_floats: bool
) -> tuple[Array, float]:
    """Map a range to 0 ... maxval, rounded half up; floats to 0 ... 1, as they are."""
    is_float = dtype.kind == "f"
    top, half = (1.0, 0.0) if is_float else (float(maxval), 0.5 + NUDGE)
    level, stretch, clipped = values, top / (scale.high - scale.low), 0.0
    if scale.low:
        level -= scale.low
    if stretch != 1:
        level *= stretch
    if half:
        level += half
    if clips_floats or not is_float:
        # Ends that are exact, but for rounding, are not clipped.
        low, high = (-NUDGE, top + NUDGE) if is_float else (0.0, top + 1)
        if level.min() < low or level.max() >= high:
            clipped = float(np.count_nonzero((level < low) | (level >= high)) / level.size)
        level.clip(0, top, out=level)
    return level.astype(dtype, copy=False), clipped
