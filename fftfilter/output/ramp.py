"""The ramp: from filtered values to pixels, as the numbers of a straight line with its ends.

Every output is one, with other numbers: a value x, |x| for a magnitude, becomes

    stretch x + shift     at least bottom, at most top, truncated for whole numbers; top from the value ``white`` on

What stretch and white are parts of the picture's largest |x| for (``of_largest``) is known when all values are, and so
is whether they are rounding noise, which becomes what 0 does. Kernels (``kernels/ramp.cl``) and the host
(``quantize.py``) take the same numbers. The formulas are in ``docs/numbers.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .modes import MODES
from .rounding import NOISE, NUDGE, rounding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike, NDArray

    from .modes import Output
    from .scale import Range
    from .stack import Stack

    Array = NDArray[Any]

KERNEL = "ramp.cl"

NUMBERS = ("stretch", "shift", "white", "bottom", "top", "below", "above", "noise", "undecided")
FLAGS = ("of_largest", "magnitude", "counts")
RAMP = np.dtype([*((name, np.float64) for name in NUMBERS), *((name, np.uint32) for name in FLAGS)])
ON_DEVICE = np.dtype([*((name, np.float32) for name in NUMBERS), *((name, np.uint32) for name in FLAGS)])
"""ramp_t of ramp.cl"""
WANTED = np.dtype(
    [
        *((name, ON_DEVICE) for name in ("of_range", "of_largest")),
        *(("smaller", np.uint32, 2), ("part", np.float32, 2), ("is_symmetric", np.uint32), ("unused", np.uint32, 3)),
    ]
)
"""wanted_t of ramp.cl"""


def ramps(
    output: Output,
    scale: Range | None = None,
    units: Sequence[float] | Array = (1.0,),
    *,
    white: float,
    dtype: DTypeLike,
    maxval: int,
) -> Array:
    """Return the ramp of each picture, an array of :data:`RAMP`.

    ``units`` are, for each picture, what a value of 1 is in grey levels of the input, whose white is ``white``.
    ``dtype`` and ``maxval`` are the output's type and white. A ``scale`` of None is every picture's own.
    """
    unit = np.asarray(units, np.float64)
    made = np.zeros(len(unit), RAMP)
    made["stretch"], made["top"], made["white"] = 1, np.inf, np.inf
    made["bottom"] = -np.inf
    mode = MODES[output]
    if mode.is_values:
        return made
    is_float = np.dtype(dtype).kind == "f"
    top, nudge, near, made["undecided"] = rounding(maxval, is_float=is_float)
    half = 0.0 if is_float else 0.5 + NUDGE
    with np.errstate(over="ignore"):
        if mode.keeps_levels:
            made["stretch"], made["shift"] = unit * (top / white), half
        else:
            made["of_largest"] = scale is None
            if scale is None:
                (low, high, _), unit = mode.range_up_to(1.0), np.ones_like(unit)
            else:
                low, high, _ = scale.in_levels(white)
            steep = top / (high - low)
            made["stretch"], made["shift"] = unit * steep, (half if mode.is_symmetric else nudge) - low * steep
            made["white"] = np.inf if mode.is_symmetric else (low + near * (high - low)) / unit
    made["magnitude"] = mode.is_absolute
    if not mode.keeps_levels:
        made["noise"] = NOISE
    elif is_float:
        return made
    made["bottom"], made["top"] = 0, top
    if mode.keeps_levels or scale is not None:
        # Ends that are exact, but for rounding, are not clipped.
        made["counts"] = True
        made["below"], made["above"] = (-NUDGE, top + NUDGE) if is_float else (0, top + 1)
    return made


def own_ramps(stack: Stack) -> Array:
    """Return the ramps of a stack whose pictures are magnitudes of their own range, or values as they are."""
    output: Output = "real" if stack.white is None else "magnitude"
    return ramps(output, None, np.ones(stack.pictures), white=1, dtype=stack.out, maxval=stack.white or 1)


def of_values(ramps: Array, scale: float = 1.0) -> Array:
    """Return ramps as kernels take them, for values that are ``scale`` times what they should be."""
    made = np.empty(len(ramps), ON_DEVICE)
    fixed = ramps["of_largest"] == 0
    limit = np.finfo(np.float32).max
    with np.errstate(over="ignore"):
        for name in (*NUMBERS, *FLAGS):
            made[name] = ramps[name]
        # Beyond single precision 0 must not become a NaN.
        made["stretch"] = np.clip(ramps["stretch"] / np.where(fixed, scale, 1), -limit, limit)
        made["shift"] = np.clip(ramps["shift"], -limit, limit)
        made["white"] = ramps["white"] * np.where(fixed, scale, 1)
        made["noise"] = ramps["noise"] * scale
    return made
