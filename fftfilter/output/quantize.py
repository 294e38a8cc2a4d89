"""From filtered values to pixels on the host: for the staged pipeline, and for ``--verify``.

The fused pipelines do the same on the device; both take the numbers of ``ramp.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .histogram import ByHistogram, counts_of
from .ramp import own_ramps
from .rounding import decided_row, most_undecided

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from .histogram import Ramps
    from .stack import Stack

    Array = NDArray[Any]


def on_ramps(values: Array, stack: Stack, ramps: Ramps, deviations: Array) -> tuple[Array, Array, list[float]]:
    """Return filtered values ``(count, height, width)`` as a stack's pixels.

    Behind them are what part of each picture is clipped, and how many samples are undecided, as a part of how many may
    be. ``deviations`` are those of each picture.
    """
    result, clipped, undecided = np.empty(stack.shape, stack.out), np.zeros(stack.pictures), [0.0] * stack.pictures
    if isinstance(ramps, ByHistogram):
        largest, counts = zip(*map(counts_of, values.reshape(stack.pictures, -1, *values.shape[1:])), strict=True)
        ramps = ramps(np.array(largest), np.array(counts))
    ramps = own_ramps(stack) if ramps is None else ramps
    for i, (ramp, far) in enumerate(zip(ramps, deviations, strict=True)):
        own = slice(None) if stack.one_scale else slice(i, i + 1)
        result[own], clipped[i], part = pixels(values[own], ramp, float(far), stack.out)
        undecided[i] = part * stack.size / stack.pictures / most_undecided(stack)
    return result, clipped, undecided


def pixels(values: Array, ramp: Any, deviation: float, dtype: DTypeLike) -> tuple[Array, float, float]:
    """Return one picture's filtered ``values`` as pixels; overwrites ``values``.

    Behind them are the parts that are clipped and, in single precision, undecided. ``ramp`` is one of
    :func:`ramp.ramps`; ``deviation`` is the input's largest, in the values' units.
    """
    on = {name: float(ramp[name]) for name in ramp.dtype.names}
    largest = float(max(values.max(), -values.min()))
    # In place: another array would take as long as the filter itself.
    level = np.abs(values, out=values) if on["magnitude"] else values
    if on["of_largest"]:
        on["stretch"] /= largest or 1.0
        on["white"] *= largest or 1.0
    if largest <= on["noise"] * deviation:
        # Rounding noise becomes what 0 does.
        on["stretch"], on["white"] = 0.0, np.inf
    is_white = level >= on["white"]
    level *= on["stretch"]
    level += on["shift"]
    clipped = float(np.mean((level < on["below"]) | (level >= on["above"]))) if on["counts"] else 0.0
    undecided = _undecided(level, on) if on["undecided"] and level.dtype == np.float32 else 0.0
    level[is_white] = on["top"]
    return level.clip(on["bottom"], on["top"], out=level).astype(dtype, copy=False), clipped, undecided


def _undecided(level: Array, on: dict[str, float]) -> float:
    """Return which part of levels ``(count, height, width)`` is undecided, as ``ramp.cl`` does, by every n-th row."""
    level = level[:, :: decided_row(*level.shape[1:])]
    inside = level.clip(on["bottom"] + 0.5, on["top"] + (-0.5 if on["white"] < np.inf else 0.5))
    is_near = np.abs(inside - np.rint(inside)) < on["undecided"]
    is_near |= np.abs(level - (on["white"] * on["stretch"] + on["shift"])) < on["undecided"]
    return float(np.mean(is_near))
