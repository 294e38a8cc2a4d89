"""Tells a fault from content: text, ruled paper, facades and bricks repeat, too, and have to stay.

Lines and edges that repeat have many strong harmonics; screens, moire and hum have hardly any. The harmonics are
compared with their fundamental phi, which may be a part of the wave's own frequency:

    hr = (power at 2, 3 and 4 phi) / (power at phi)    a structure if 0.065 < hr < 30, and phi has more than 6 levels
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from .found import bins_apart
from .lattices import is_drawn, is_print, right_angles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .found import Peak
    from .power import Spectrum

    Place = NDArray[np.float64]

LEAST, MOST = 0.065, 30.0
LEVELS = 6.0
# A fundamental is a wave's frequency by up to PARTS, has PERIODS in the picture, stands out so far, and has so much of
# the wave's power.
PARTS, PERIODS, STANDS_OUT, SHARE = 8, 6, 10**1.5, 0.1
# Harmonics count if they stand out so many times.
COUNTS = 10**1.2
# All at half multiples of a structure's fundamental belong to it, up to so many, within so many bins; and all at sums
# of those of two of the strongest structures, as rows and columns of windows.
HALVES, NEAR, PAIRED = 50, 2.0, 6
# Patterns of meshes are looked for in waves of at least this part of the largest amplitude.
LEAST_OF_PATTERNS = 0.5


def without_content(peaks: Sequence[Peak], mean: Spectrum) -> list[Peak]:
    """Return the peaks that are faults, not a part of what the picture shows."""
    everything = [one for group in peaks for one in group.all()]
    if is_print(everything, mean):
        return list(peaks)
    found: list[Place] = []
    for one, other in right_angles(everything, LEAST_OF_PATTERNS):
        if is_drawn(one, other, mean):
            found += [_place(one), _place(other)]
    for peak in everything:
        phi = _fundamental(peak, mean)
        is_known = any(np.abs((phi - each) * (mean.width, mean.height)).max() < 1 for each in found)
        if not is_known and LEAST < _harmonic_ratio(peak, phi, mean) < MOST and _amplitude(peak, phi, mean) > LEVELS:
            found.append(phi)
    if not found:
        return list(peaks)
    steps = np.arange(-HALVES, HALVES + 1) / 2
    along = [steps[:, None] * phi for phi in found]
    sums = [(one[:, None] + other).reshape(-1, 2) for one, other in combinations(along[:PAIRED], 2)]
    places = np.concatenate([*along, *sums])
    return [peak for peak in peaks if not (bins_apart(places, peak, mean) < NEAR).any()]


def _harmonic_ratio(peak: Peak, phi: Place, mean: Spectrum) -> float:
    """Return the power at 2, 3 and 4 phi ``(fx, fy)``, where it stands out, as a part of that at phi."""
    channel = peak.channels[0]
    own, _ = mean.near(phi, channel)
    found = [mean.near(multiple * phi, channel) for multiple in (2, 3, 4) if np.abs(multiple * phi).max() <= 0.5]
    return sum(power for power, times in found if times > COUNTS) / own if own else 0.0


def _fundamental(peak: Peak, mean: Spectrum) -> Place:
    """Return the frequency ``(fx, fy)`` that a wave is a multiple of, or its own."""
    f = _place(peak)
    own, _ = mean.near(f, peak.channels[0])
    for part in range(PARTS, 1, -1):
        if np.hypot(*(f / part * (mean.width, mean.height))) >= PERIODS:
            power, times = mean.near(f / part, peak.channels[0])
            if times > STANDS_OUT and power > SHARE * own:
                return f / part
    return f


def _amplitude(peak: Peak, phi: Place, mean: Spectrum) -> float:
    own, power = (mean.near(place, peak.channels[0])[0] for place in (_place(peak), phi))
    return float(peak.amplitude * np.sqrt(power / own)) if own else 0.0


def _place(peak: Peak) -> Place:
    return np.array([peak.fx, peak.fy])
