"""Repair of weak results: pictures for which single precision is not enough are filtered once more in double.

Rounding in single precision grows with the deviations of the input. It shows where what passes is much smaller, and
where many samples are undecided: so near to the edge between two levels that it may put them on either side.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..arrays import largest_of
from ..errors import TooLargeError
from ..output.rounding import NOISE, mean_deviation, spread

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ..device.pipeline import Pipeline
    from ..fused.gpu.stream import Started
    from .call import Call, Found

    Array = NDArray[Any]
    InDouble = Callable[[Array], tuple[Array, Found]]

# Floats of more bits lose some on their way into a single one: as much as if their deviation were this part of them.
LOST_AS_SINGLE = 0.1


def repeat_weak(
    call: Call, done: Pipeline | Started, largest: Array, into: tuple[Array, Array, list[float]], in_double: InDouble
) -> int:
    """Filter pictures whose results are too weak once more; return how many these were.

    ``largest`` is the largest magnitude of each picture, in the pixels' units. What ``in_double`` makes of one goes
    ``into`` the pixels, the extremes and the clipped parts where they are.
    """
    # Of a small image numpy's minimum would take a hundredth of its time.
    weak_below = _weak_below(call)
    if weak_below == 0 or (min(largest.tolist()) >= weak_below and max(done.undecided()) <= 1):
        return 0
    (result, extremes, clipped), largest, undecided = into, largest.astype(np.float64), np.array(done.undecided()) > 1
    limit, deviations, least, weak = call.pipeline.weak, done.deviations(), 0.0, 0
    images, exponents = call.pixels if done is call.pipeline else cast("Started", done).images(), call.exponents
    is_above_noise = largest > NOISE / 2 * deviations
    if call.is_rounded:
        images, exponents, least = call.given, np.zeros_like(exponents), LOST_AS_SINGLE
        is_above_noise[:] = True  # or not: only what was given can tell
    for i in np.flatnonzero(is_above_noise & (undecided | (largest < limit * np.maximum(deviations, least)))):
        own = slice(None) if call.stack.one_scale else slice(i, i + 1)
        to_pixels = exponents[i] - call.exponents[i]
        # Rounding grows with the mean of all deviations, not with the largest, as that of a hot pixel. The mean of a
        # wave is 1/sqrt 2.
        mean = np.ldexp(np.sqrt(2) * spread(images[own]).max(), to_pixels)
        if mean == 0:
            continue
        mean_gain, gain_of_constants = call.prepared.gains(*images.shape[1:])
        # What goes through the transforms at the frequency 0 may cancel what went around them.
        with np.errstate(over="ignore", invalid="ignore"):  # beyond doubles, it is done again
            at_dc = np.abs(mean_deviation(images[own])).max() * gain_of_constants
        at_dc = abs(np.ldexp(at_dc, to_pixels)) / call.prepared.description.transfer.largest
        if largest[i] >= limit * max(mean_gain * max(mean, least), at_dc) and not undecided[i]:
            continue
        again = images[own]
        if exponents[i]:
            again = np.ldexp(again.astype(np.float64), exponents[i])
        with suppress(TooLargeError):
            result[own], of_it = in_double(again)
            extremes[i], clipped[i] = of_it.extremes[0], of_it.clipped[0]
            weak += 1
    return weak


def _weak_below(call: Call) -> float:
    """Return the magnitude from which on no result is too weak for single precision."""
    launcher, pixel = call.prepared.launcher, call.stack.pixel
    if launcher.real != np.float32 or not launcher.device.fp64:
        return 0.0  # it is in double precision already, or there is none
    return call.pipeline.weak * (2.0 if pixel.kind == "f" else float(largest_of(pixel)))
