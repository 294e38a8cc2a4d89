"""The range of --scale auto: every picture's own but for its extreme values, found in a histogram.

As ImageJ's Enhance Contrast, it lets P percent of the samples become black or white, half of them at each end: by
default 0.35 percent. A magnitude's range begins where P/2 percent are darker and ends where P/2 percent are brighter.
That of signed values is symmetric: P percent are farther from 0.

The histogram is of magnitudes, in bins from 0 to the largest. Within a bin values count as spread evenly, so that
a value that rounding puts into the next one changes next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .ramp import ramps
from .scale import Range

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .modes import Output
    from .scale import Auto
    from .stack import Stack

    Array = NDArray[Any]

BINS = 1 << 12


def range_of(values: Array, output: Output, scale: Auto) -> Range | None:
    """Return the range of one picture's filtered values, None if they have none: then all are equal."""
    largest = float(max(values.max(), -values.min()))
    if not largest:
        return None
    places = np.abs(values)
    places *= BINS / largest
    counts = np.bincount(places.astype(np.uint16).ravel(), minlength=BINS + 1)
    counts[BINS - 1] += counts[BINS]  # the largest itself
    sums = np.concatenate([[0], np.cumsum(counts[:BINS])])
    half = scale.saturated / 200
    shares = np.array([half, 1 - half, 1 - 2 * half]) * sums[-1]
    low, high, far = (np.interp(shares, sums, np.arange(BINS + 1)) * (largest / BINS)).tolist()
    if output == "signed":
        return Range(-far, far) if far else None
    return Range(low, high) if low < high else None


def ramps_of(values: Array, stack: Stack, output: Output, scale: Auto) -> Array:
    """Return the ramp of each picture of filtered values ``(count, height, width)``, which become a stack's pixels."""
    made = [
        ramps(output, range_of(own, output, scale), white=1, dtype=stack.out, maxval=stack.white or 1)
        for own in values.reshape(stack.pictures, -1, *values.shape[1:])
    ]
    return np.concatenate(made)
