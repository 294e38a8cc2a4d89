"""From filtered values to pixels on the host: for the staged pipeline, and for ``--verify``.

The fused pipelines do the same on the device; both take the numbers of ``ramp.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .histogram import ByHistogram, counts_of
from .ramp import own_ramps

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from .histogram import Ramps
    from .stack import Stack

    Array = NDArray[Any]


def on_ramps(values: Array, stack: Stack, ramps: Ramps, deviations: Array) -> tuple[Array, Array]:
    """Return filtered values ``(count, height, width)`` as a stack's pixels, and what part of each picture is clipped.

    ``deviations`` are those of each picture.
    """
    result, clipped = np.empty(stack.shape, stack.out), np.zeros(stack.pictures)
    if isinstance(ramps, ByHistogram):
        largest, counts = zip(*map(counts_of, values.reshape(stack.pictures, -1, *values.shape[1:])), strict=True)
        ramps = ramps(np.array(largest), np.array(counts))
    ramps = own_ramps(stack) if ramps is None else ramps
    for i, (ramp, far) in enumerate(zip(ramps, deviations, strict=True)):
        own = slice(None) if stack.one_scale else slice(i, i + 1)
        result[own], clipped[i] = pixels(values[own], ramp, float(far), stack.out)
    return result, clipped


def pixels(values: Array, ramp: Any, deviation: float, dtype: DTypeLike) -> tuple[Array, float]:
    """Return one picture's filtered ``values`` as pixels, and the part of them that is clipped; overwrites ``values``.

    ``ramp`` is one of :func:`ramp.ramps`; ``deviation`` is the input's largest, in the values' units.
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
    level[is_white] = on["top"]
    return level.clip(on["bottom"], on["top"], out=level).astype(dtype, copy=False), clipped
