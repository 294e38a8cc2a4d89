"""One list of peaks out of those of all channels: each once, and with its harmonics."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from .found import Harmonic, Peak

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from .power import Spectrum

    Array = NDArray[Any]

# Bins between two peaks: two nearer ones are the spot of one.
APART = 3
# In different channels, where two screens may be almost alike; what is nearer has one frequency in both.
APART_BY_CHANNEL = 1
MULTIPLES = range(2, 41)
# Of the two waves of a screen, whose periods and right angle are alike up to a small part.
SUMS: list[tuple[int, ...]] = [(m, n) for m in range(1, 6) for n in range(-5, 6) if n]
ALIKE = 0.02
# Bins from a multiple of a peak to its harmonic; and of high multiples beyond the highest frequency, which come back at
# any place.
OFF, OFF_BEYOND, HIGH = 1.5, 0.25, 4


def bins_apart(one: Array, other: Peak, mean: Spectrum) -> Array:
    """Return how many bins frequencies ``(..., 2)`` are from a peak, or from its conjugate."""
    size = np.array([mean.width, mean.height])
    both = (one - sign * np.array([other.fx, other.fy]) for sign in (1, -1))
    return np.asarray(np.minimum(*(np.linalg.norm((apart - np.rint(apart)) * size, axis=-1) for apart in both)))


def without_doubles(peaks: list[Peak], mean: Spectrum) -> list[Peak]:
    """Return the peaks of all channels, the strongest first, each once."""
    alone: list[Peak] = []
    for peak in sorted(peaks, key=lambda each: -each.strength_db):
        places = np.array([(each.fx, each.fy) for each in alone]).reshape(-1, 2)
        nearest = np.array([APART if {*each.channels} & {*peak.channels} else APART_BY_CHANNEL for each in alone])
        same = np.flatnonzero(bins_apart(places, peak, mean) < nearest)
        if not len(same):
            alone.append(peak)
            continue
        known = alone[same[0]]
        alone[same[0]] = replace(
            known,
            channels=tuple(sorted({*known.channels, *peak.channels})),
            amplitude=max(known.amplitude, peak.amplitude),
            width=max(known.width, peak.width),
        )
    return alone


def grouped(peaks: list[Peak], mean: Spectrum) -> list[Peak]:
    """Return peaks, the strongest first, with those of less amplitude at their multiples as their harmonics.

    Two of one period at a right angle are a screen: what is at sums of their multiples are the first one's, too.
    """
    groups: list[Peak] = []
    for peak in sorted(peaks, key=lambda each: -each.amplitude):
        for i, multiples, places in _families(groups):
            is_low = np.array([sum(map(abs, each)) < HIGH for each in multiples])
            allowed = np.where(is_low | (np.abs(places).max(axis=-1) <= 0.5), OFF, OFF_BEYOND)
            apart = bins_apart(places, peak, mean) / allowed
            if apart.min() < 1:
                harmonic = Harmonic(multiples[int(apart.argmin())], peak)
                groups[i] = replace(groups[i], harmonics=(*groups[i].harmonics, harmonic))
                break
        else:
            groups.append(peak)
    in_order = (
        replace(each, harmonics=tuple(sorted(each.harmonics, key=lambda one: one.multiples))) for each in groups
    )
    return sorted(in_order, key=lambda each: -each.strength_db)


def _families(groups: list[Peak]) -> Iterator[tuple[int, list[tuple[int, ...]], Array]]:
    """Return the multiples of each peak, then the sums for each screen, with their frequencies; first its number."""
    for i, peak in enumerate(groups):
        yield i, [(m,) for m in MULTIPLES], np.outer(MULTIPLES, (peak.fx, peak.fy))
    for (i, one), (_, other) in combinations(enumerate(groups), 2):
        turned = abs(abs(one.angle_deg - other.angle_deg) - 90)
        if turned < ALIKE * 90 and abs(one.period_px / other.period_px - 1) < ALIKE:
            yield i, SUMS, np.array(SUMS) @ ((one.fx, one.fy), (other.fx, other.fy))
