"""The range of --scale auto: every picture's own without its extreme values, found in a histogram.

As ImageJ's Enhance Contrast, it lets P percent of the samples become black or white, half of them at each end: by
default 0.35 percent. A magnitude's range begins where P/2 percent are darker and ends where P/2 percent are brighter.
That of signed values is symmetric: P percent are farther from 0.

The histogram is of magnitudes, in bins from 0 to the largest. Within a bin values count as spread evenly, so that
a value that rounding puts into the next one changes next to nothing. In large planes only some samples are counted,
evenly spread.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .modes import MODES, Auto, Output, Range
from .ramp import WANTED, Gray, of_values, ramps
from .rounding import Array

BINS = 1 << 12
# Counting all samples would take half as long as the filter. This many rows are enough, or rows with this many pixels,
# of which every second one counts, as neighbors are alike: half as many rows would say less.
_ENOUGH_ROWS, _ENOUGH = 128, 1 << 18


class ByHistogram(NamedTuple):
    """The ramps of pictures whose range a histogram finds."""

    output: Output
    scale: Auto
    dtype: np.dtype[Any]
    maxval: int

    def of_pictures(self, values: Array) -> Array:
        """Return the ramp of each picture, for its filtered values in their own units."""
        found = [counts_of(each) for each in values]
        samples = int(found[0][1].sum())
        return np.concatenate([self._ramp(ends(*each, self.output, self.scale), samples) for each in found])

    def wanted(self, samples: int, scale: float = 1.0) -> Array:
        """Return the same for kernels, an array of one :data:`ramp.WANTED`.

        ``samples`` of a picture are counted, and values are ``scale`` times what they should be.
        """
        made = np.zeros(1, WANTED)
        of_range = self._ramp(Range(0, 1), samples)
        of_range["of_largest"] = True  # until the range is known
        made["of_range"], made["of_largest"] = of_values(of_range, scale), of_values(self._ramp(None, samples), scale)
        made["of_range"]["of_largest"] = False
        smaller = _shares(self.output, self.scale) * samples
        made["smaller"], made["part"], made["is_symmetric"] = smaller, smaller % 1, MODES[self.output].is_symmetric
        return made

    def _ramp(self, scale: Range | None, samples: int) -> Array:
        return ramps(self.output, scale, gray=Gray(1, self.dtype, self.maxval), samples=samples)


Ramps: TypeAlias = "Array | ByHistogram | None"
"""The ramp of each picture; None stands for the pipeline's own (:func:`ramp.own_ramps`)."""


def counted(height: int, width: int) -> tuple[int, int]:
    """Return n and m if of a plane every n-th row and every m-th column is counted, from the first ones on."""
    rows = max(1, min(height, width) // _ENOUGH_ROWS, height * width // _ENOUGH)
    return rows, min(rows, 2)


def counted_samples(height: int, width: int) -> int:
    """Return how many samples of a plane are counted."""
    rows, columns = counted(height, width)
    return -(-height // rows) * -(-width // columns)


def counts_of(values: Array, nudge: float = 0.0) -> tuple[float, Array]:
    """Return the largest magnitude of one picture's filtered values, and how many are in each bin.

    Values are moved by ``nudge`` bins before they are counted.
    """
    largest = float(max(values.max(), -values.min()))
    if largest < BINS * np.finfo(values.dtype).tiny:
        largest = 0.0  # bins of such values cannot be told apart
    rows, columns = counted(*values.shape[-2:])
    return largest, binned(np.abs(values[..., ::rows, ::columns]), largest, nudge)


def binned(places: Array, largest: float, nudge: float = 0.0) -> Array:
    """Return how many magnitudes are in each bin; overwrites these."""
    places *= BINS / (largest or 1.0)
    if nudge:
        places = (places + nudge).clip(0, BINS)
    counts = np.bincount(places.astype(np.uint16).ravel(), minlength=BINS + 1)
    counts[BINS - 1] += counts[BINS]  # the largest itself
    return np.asarray(counts[:BINS])


def range_of(values: Array, output: Output, scale: Auto, nudge: float = 0.0) -> Range | None:
    """Return the range of one picture's filtered values, None if they have none: then all are 0.

    ``nudge`` is as for :func:`counts_of`.
    """
    return ends(*counts_of(values, nudge), output, scale)


def ends(largest: float, counts: Array, output: Output, scale: Auto) -> Range | None:
    """Return the range of a picture with these counts."""
    if not largest:
        return None
    sums = np.concatenate([[0], np.cumsum(counts)])
    smaller = _shares(output, scale) * sums[-1]
    low, high = (np.interp(smaller, sums, np.arange(BINS + 1)) * (largest / BINS)).tolist()
    if MODES[output].is_symmetric:
        low = -high
    return Range(low, high) if low < high else None


def _shares(output: Output, scale: Auto) -> Array:
    """Return which part of the magnitudes is below either end of the range; signed values have the upper one alone."""
    beyond = scale.saturated / 100
    return np.array([1 - beyond] * 2 if MODES[output].is_symmetric else [beyond / 2, 1 - beyond / 2])
