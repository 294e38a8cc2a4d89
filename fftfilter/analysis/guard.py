"""Tells a fault from content: text, ruled paper, facades and bricks repeat, too, and have to stay.

Lines and edges that repeat have many strong harmonics; screens, moire and hum have hardly any. The harmonics are
compared with their fundamental phi, which may be a part of the wave's own frequency:

    hr = (power at 2, 3 and 4 phi) / (power at phi)    a structure if 0.065 < hr < 30, and phi's amplitude is more than
                                                       a tenth of the picture's deviation
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ..arrays import Floats
from .found import Peak, bins_apart
from .power import Spectrum
from .surroundings import at

OF_LINES, MOST = 0.065, 30.0
OF_DEVIATION = 0.1
# A fundamental is a wave's frequency by up to PARTS, has PERIODS in the picture, stands out so far, and has so much of
# the wave's power.
PARTS, PERIODS, STANDS_OUT, SHARE = 8, 6, 10**1.5, 0.1
# Multiples count if they stand out so many times.
COUNTS = 16.0
# All at half multiples of a structure's fundamental belong to it, up to so many, within so many bins; and all at sums
# of those of two of the strongest structures, as rows and columns of windows.
HALVES, NEAR, PAIRED = 50, 2.0, 6
# Waves of one period and height everywhere have at least this part of their power within so many bins, of that within
# so many; its surroundings begin so far away. Threads, ripples and rows of keys vary, and have less.
SHARP, SPOT, REACH, BESIDE, FARTHEST = 0.9, 2.3, 5, 8, 12
# Patterns of meshes are looked for in waves of at least this part of the largest amplitude.
LEAST_OF_PATTERNS = 0.5


def without_content(peaks: Sequence[Peak], mean: Spectrum) -> list[Peak]:
    """Return the peaks that are faults, not a part of what the picture shows."""
    everything = [one for group in peaks for one in group.all()]
    if screens(everything, mean):  # a print, whose waves go with their harmonics
        return list(peaks)
    peaks = [peak for peak in peaks if _is_sharp(peak, mean)]
    drawn = (pair for pair in right_angles(everything, LEAST_OF_PATTERNS) if is_drawn(*pair, mean))
    found: list[Floats] = [each.place for pair in drawn for each in pair]
    for peak in everything:
        phi = _fundamental(peak, mean)
        is_known = any(np.abs((phi - each) * (mean.width, mean.height)).max() < 1 for each in found)
        has_harmonics = OF_LINES < _harmonic_ratio(peak, phi, mean) < MOST
        if has_harmonics and not is_known and _amplitude(peak, phi, mean) > OF_DEVIATION:
            found.append(phi)
    if not found:
        return list(peaks)
    steps = np.arange(-HALVES, HALVES + 1) / 2
    along = [steps[:, None] * phi for phi in found]
    sums = [(one[:, None] + other).reshape(-1, 2) for one, other in combinations(along[:PAIRED], 2)]
    places = np.concatenate([*along, *sums])
    return [peak for peak in peaks if not (bins_apart(places, peak, mean) < NEAR).any()]


def _is_sharp(peak: Peak, mean: Spectrum) -> bool:
    """Whether a wave has one period and height everywhere, so that its power is in a spot."""
    steps = np.arange(-FARTHEST, FARTHEST + 1)
    ky, kx = round(peak.fy * mean.height) + steps[:, None], round(peak.fx * mean.width) + steps
    near, away = at(mean.power[peak.channels[0]], mean.width, ky, kx), np.hypot(steps[:, None], steps)
    near = near - np.median(near[away > BESIDE])
    return bool(near[away < SPOT].sum() >= SHARP * near[away <= REACH].sum())


def _harmonic_ratio(peak: Peak, phi: Floats, mean: Spectrum) -> float:
    """Return the power at 2, 3 and 4 phi ``(fx, fy)``, where it stands out, as a part of that at phi."""
    own, _ = mean.near(phi, peak.channels[0])
    return sum(_power(multiple * phi, peak, mean) for multiple in (2, 3, 4)) / own if own else 0.0


def _power(place: Floats, peak: Peak, mean: Spectrum) -> float:
    """Return the power at a frequency in a peak's channel, or 0 if it does not stand out."""
    power, times = mean.near(place, peak.channels[0])
    return power if times > COUNTS and np.abs(place).max() <= 0.5 else 0.0


def _fundamental(peak: Peak, mean: Spectrum) -> Floats:
    """Return the frequency ``(fx, fy)`` that a wave is a multiple of, or its own."""
    own, _ = mean.near(peak.place, peak.channels[0])
    for part in range(PARTS, 1, -1):
        phi = peak.place / part
        if np.hypot(*(phi * (mean.width, mean.height))) >= PERIODS:
            power, times = mean.near(phi, peak.channels[0])
            if times > STANDS_OUT and power > SHARE * own:
                return phi
    return peak.place


def _amplitude(peak: Peak, phi: Floats, mean: Spectrum) -> float:
    """Return the amplitude at a frequency as a part of the deviation of a peak's channel."""
    deviation = mean.white * float(np.sqrt(mean.power[peak.channels[0]].mean()))
    own, power = (mean.near(place, peak.channels[0])[0] for place in (peak.place, phi))
    return float(peak.amplitude * np.sqrt(power / own) / deviation) if own else 0.0


# Bands that repeat: a fault goes over whatever is there

# The most that a step may have to do with the three behind it: with those of edges, which are blurred, or of thin lines
# more. The most of half a step's height, as a part of the deviation of the picture, which a layout is much of; and how
# many times as much rows with a step may differ along their length from those around, or these from them.
RELATED, SMALL, AS_MUCH, AROUND = 0.1, 0.35, 1.5, 4


def is_laid_over(some: Floats, steps: Floats, first: int = 1) -> bool:
    """Whether steps from row to row are laid over a picture ``(rows, columns)``, which has no edges there itself.

    Edges that repeat, as those of blinds, are where the picture changes; fields of a table, where it does not. A step
    may have to do with those before the ``first`` behind it.
    """
    is_step, power = steps != 0, float(steps @ steps)
    if is_step.all() or any(abs(float(steps[k:] @ steps[:-k])) > RELATED * power for k in range(first, 4)):
        return False
    differences = np.diff(some, axis=0)
    differences[np.isnan(differences).all(axis=1)] = 0  # slanted samples have rows without any
    sizes = np.nanmean(np.abs(differences - np.nanmedian(differences, axis=1, keepdims=True)), axis=1)
    beside = np.convolve(is_step, np.ones(2 * AROUND + 1), "same") > 0
    there, around = (float(np.nanmedian(sizes[rows])) for rows in (is_step, beside & ~is_step))
    is_small = np.sqrt(power / np.count_nonzero(is_step)) < 2 * SMALL * np.nanstd(some)
    return bool(is_small and around < AS_MUCH * there and there < AS_MUCH * around)


# Waves at right angles: the lattice of a screen's dots, or a pattern that was drawn or woven

# Pixels from dot to dot, at most 24, measured to a hundredth. Of fine ones, no multiples are in the spectrum: they must
# be no multiple of a wave themselves.
FINEST, FINE, COARSEST = 1.6, 2.2, 24.24
# The two waves of a screen differ by less than ALIKE in period, and by less than TURNED degrees from a right angle:
# bent paper draws their peaks apart. The periods of the inks' screens differ by less than INKS.
ALIKE, TURNED, INKS = 0.1, 3.0, 0.2
# The strongest waves, which are tried in pairs; the least amplitude of the first screen's, as a part of the largest.
TRIED, STRONGEST = 40, 0.95
# Multiples of the two waves whose power, as a part of the first one's, tells drawn patterns from dots: these have at
# most 0.05, 0.12 and 0.003. Coarse dots of a smooth picture have more of the latter two, but vary in size: the wave
# stands out less than PURE times; sums and multiples VARIED times less in all. Drawn ones do as it does, or have none.
PURE, VARIED = 10**5.3, 10**2.4
DRAWN = (
    (((2, 0), (3, 0), (4, 0)), 0.1),
    (((2, 1), (1, 2), (2, -1), (1, -2)), 0.18),
    (((3, 0), (0, 3), (3, 2), (2, 3), (3, -2), (2, -3)), 0.012),
)


def screens(peaks: Sequence[Peak], mean: Spectrum, bent: float = 1.0) -> list[Peak]:
    """Return a wave of each screen, the strongest first, none if that is no print; ``bent`` as for right angles."""
    pairs = right_angles(peaks, STRONGEST, bent)
    if not pairs or not FINEST <= pairs[0][0].period_px <= COARSEST or is_drawn(*pairs[0], mean):
        return []
    is_multiple = any(not np.array_equal(_fundamental(each, mean), each.place) for each in pairs[0])
    return [] if is_multiple and pairs[0][0].period_px < FINE else [one for one, _ in pairs]


def right_angles(peaks: Sequence[Peak], least: float, bent: float = 1.0) -> list[tuple[Peak, Peak]]:
    """Return pairs of waves of one period at a right angle, the strongest first.

    The first has to be about the strongest of all waves, with ``least`` of the largest amplitude: in a facade or a
    table, many weaker ones meet at right angles, too. ``bent`` is how many times farther apart they may be than usual.
    """
    waves = sorted(peaks, key=lambda each: -each.amplitude)[:TRIED]
    found: dict[Peak, Peak] = {}
    for one, other in combinations(waves, 2):
        turned = abs(abs(one.angle_deg - other.angle_deg) - 90)
        if turned < bent * TURNED and abs(one.period_px / other.period_px - 1) < bent * ALIKE:
            found.setdefault(one, other)
    pairs = list(found.items())
    if not pairs or pairs[0][0].amplitude < least * waves[0].amplitude:
        return []
    return [pair for pair in pairs if abs(pair[0].period_px / pairs[0][0].period_px - 1) < INKS]


def is_drawn(one: Peak, other: Peak, mean: Spectrum) -> bool:
    """Whether two waves at a right angle are those of a drawn pattern: squared paper, fabric, a chessboard, tiles.

    Its edges are sharp everywhere, and all of its meshes are alike: some multiples are stronger than those of dots.
    """

    def power(of_one: int, of_other: int) -> float:
        return _power(of_one * one.place + of_other * other.place, one, mean)

    def times(*some: tuple[int, int]) -> float:
        return max(mean.near(i * one.place + j * other.place, one.channels[0])[1] for i, j in some)

    own, sums = times((1, 0)), times((1, 1), (1, -1))
    varies = own < PURE and sums > COUNTS and own**2 > VARIED * sums * times((3, 0), (0, 3))
    is_sharp, *others = (sum(power(*each) for each in some) > part * power(1, 0) for some, part in DRAWN)
    return is_sharp or (any(others) and not varies)
