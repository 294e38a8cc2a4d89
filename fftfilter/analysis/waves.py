"""Finds waves of few periods, or faint ones: hum, and flicker of a shutter under lamps.

A picture's own power rises toward DC, where such waves are. Its steps from row to row, as the middle half of the
columns of a group have them, hardly do: in their spectrum, under a Hann window, a wave stands out as a peak that is the
same in all groups. No level or unit stands in this. Whether it is a gain is decided as for lines.

The angle of a slanted wave is that of a peak in the spectrum of the picture, which stands out little: the rows then are
lines along this angle.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..arrays import Array, Floats
from .bands import DARK, REPEATED, are_gains, medians_of, related, steps_of_groups, steps_of_lines, unmoved
from .guard import OF_LINES, RELATED
from .power import window
from .search import between
from .surroundings import MEDIAN_OF_NOISE, Power, around, at

# Bins of a spectrum for each of the picture's own, and the least sides.
FINE, LEAST_ROWS, LEAST_COLUMNS = 8, 64, 64
# Periods across the picture, and the shortest one in pixels: finer waves stand out in the spectrum of the whole.
FEWEST, SHORTEST = 1.8, 10.0
# The least part of the places that a row has samples at, where waves are looked for, and of the rows of a place.
OF_PLACES, OF_ROWS = 0.25, 0.5
# The power around a peak is that of so many bins to either side. A wave has so many times that; its harmonics, and the
# difference of two halves of the groups, less; further waves have more.
NEAR, FAR, STANDS_OUT, FURTHER, HARMONIC, DIFFERS = 2.5, 12, 10**1.25, 10**1.55, 10**1.2, 10**-1.2
# Waves of a picture, and multiples of one that belong to it; those whose power tells content, as lines and edges have.
# The strongest may itself be such a multiple of a wave that stands out as they do.
MOST, MULTIPLES, OF_CONTENT, PARTS = 4, range(2, 9), 4, (3, 2)
# A wave with such multiples is a fault all the same if it is laid over the picture: up to this part of its deviation,
# with less power of these than of its own, and an amplitude that varies from group to group at most so many times as
# those so many bins around it.
SMALL, THICK, EVEN, AWAY = 0.25, 1.0, 2.5, np.r_[-6:-2, 3:7]
# In four of five groups, a wave has at least this part of its amplitude; without a window, which hides the borders, it
# differs by at most so much of that. Without the wave, at most this part of its power is left so many bins around it:
# of slopes, and of waves that vary, more. A faint one, if there is no other, may be so many times as far off.
EVERYWHERE, FADES, LEFT, REACH, DOUBT = 0.35, 0.4, 0.16, 3.5, 2.0
# Periods are multiples of each other up to this part. At so many cycles across the columns or more, the power of a
# wave's amplitude has a peak of this part of that of its mean, and of so many times the others, if it is of dots.
ALIKE, COARSE, OF_MEAN, OF_OTHERS = 0.03, 6, 0.1, 25.0
# The steps of thick bands are so many times the largest of their wave.
LARGER = 2.0
# The longest period of lines of text, and the most of the pixels that do not move with a wave.
LETTERS, UNMOVED = 60.0, 0.06
AROUND = np.r_[-12:-2, 3:13]
# A slanted wave stands out so many times in the spectrum of the picture, has so many periods, and is not nearer than so
# many bins to one along rows or columns; so many peaks are looked at, and tried. It has so many times the power around
# its steps, and is faint if that is less than of further waves, or if it differs so much more without a window.
HARDLY, PERIODS, SLANTED, PEAKS, TRIED, FAINT, CERTAIN = 2.0, 5.0, 0.5, 16, 2, 10**0.9, 0.2


class Wave(NamedTuple):
    """A wave along the rows of a plane, with its multiples."""

    profile: Floats
    """What it adds to each row."""
    is_gain: bool
    """Whether that is added to the logarithm."""
    period: float
    """In rows."""
    is_faint: bool
    """Whether it is less certain than others."""


def waves_along(some: Floats, at: float = 0.0) -> tuple[list[Wave], list[float]]:
    """Return the waves along rows, the strongest first, and the periods of those that look like content.

    ``some`` are samples ``(rows, places)``, NaN where there are none. With a frequency in cycles a row, only a wave
    ``at`` this one is looked for. It may be faint; without, a faint wave is there if no other one is.
    """
    rows, height = np.flatnonzero(np.isfinite(some).mean(axis=1) >= OF_PLACES), len(some)
    if len(rows) < LEAST_ROWS:
        return [], []
    first, last = int(rows[0]), int(rows[-1]) + 1
    some = some[first:last, np.isfinite(some[first:last]).mean(axis=0) >= OF_ROWS]
    if some.shape[1] < LEAST_COLUMNS:
        return [], []
    pictures, steps = [some], [steps_of_groups(some)]
    if at and _Candidate(steps[0], at=at).stands_out < FAINT:
        return [], []
    with np.errstate(invalid="ignore", divide="ignore"):
        if np.count_nonzero(some <= 0) <= DARK * some.size:
            pictures.append(np.log(np.where(some > 0, some, np.nan)))
            steps.append(steps_of_groups(pictures[1]))
    most = [SMALL * float(np.nanstd(each)) for each in pictures]
    found: list[Wave] = []
    content: list[float] = []
    for least in (FAINT,) if at else (STANDS_OUT, *(FURTHER,) * (MOST - 1)):
        candidates = [_Candidate(*each, at) for each in zip(steps, most, strict=True)]
        in_order = sorted(candidates, key=lambda each: -each.stands_out)
        wave = next((each for each in in_order if each.stands_out > least and each.is_wave()), None)
        is_doubted = wave is None and not (at or found or content)
        if is_doubted:
            wave = next((each for each in in_order if each.stands_out > FAINT and each.is_wave(DOUBT)), None)
        if wave is None:
            break
        is_content = wave.harmonics > OF_LINES
        said = [[np.diff(_wave(each, wave.f, first, height)[first:last])] for each in steps]
        is_gain = len(steps) > 1 and are_gains(pictures[:1], said[0], said[1], order=0)
        if abs(candidates[is_gain].f - wave.f) < 1 / len(some):  # the same, as its own model has it
            wave = candidates[is_gain]
        is_content = (is_content and (at > 0 or not wave.is_laid_over)) or _has_edges(steps[is_gain], wave.f)
        is_content |= _alternates(some, wave.f) or any(_related(1 / wave.f, each) for each in content)
        profiles = [np.asarray(sum(_wave(each, f, first, height) for f in wave.multiples)) for each in steps]
        steps = [each - np.diff(own[first:last])[:, None] for each, own in zip(steps, profiles, strict=True)]
        own = profiles[is_gain]
        if is_content or not _moves_all(pictures[is_gain], own[first:last], wave.f):
            content.append(1 / wave.f)
        else:
            found.append(Wave(own, is_gain, 1 / wave.f, is_doubted or (at > 0 and wave.is_faint)))
    return found, content


def _moves_all(some: Floats, profile: Floats, f: float) -> bool:
    """Whether all pixels move with a wave, as paper between lines of text does not."""
    half = round(1 / (2 * f))
    steps = profile[half:] - profile[:-half]
    steps[np.abs(steps) < np.abs(steps).max() / 2] = 0
    return f * LETTERS < 1 or unmoved(some[half:] - some[:-half], steps)[0] < UNMOVED


def _has_edges(steps: Floats, f: float) -> bool:
    """Whether sharp steps repeat at a frequency: those of thick bands, which are taken out with their edges."""
    found, shift = steps_of_lines(steps), round(1 / f)
    if found is None or abs(related(found)[0]) > RELATED:
        return False
    of_wave = abs(_middle(_amplitudes(steps, f)))  # whose own steps are no larger
    if np.square(found).sum() < np.count_nonzero(found) * (LARGER * of_wave) ** 2:
        return False
    power = float(found @ found) * (1 - shift / len(found))
    return any(float(found[k:] @ found[:-k]) > REPEATED * power for k in (shift - 1, shift, shift + 1))


def _related(one: float, other: float) -> bool:
    """Whether one period is a multiple of the other."""
    ratio = max(one / other, other / one)
    return abs(ratio - round(ratio)) < ALIKE * ratio


def _alternates(some: Floats, f: float) -> bool:
    """Whether the amplitude of a wave alternates from column to column: that of dots, tiles or a slanted fence."""
    amplitudes = _amplitudes(np.diff(some, axis=0), f)
    power = np.abs(np.fft.fft(amplitudes * window(len(amplitudes)))) ** 2
    k = COARSE + int(power[COARSE : 1 - COARSE].argmax())
    around = np.median(power[(k + AROUND) % len(power)])
    return bool(power[k] > max(OF_MEAN * power[0], OF_OTHERS * around))


class _Candidate:
    """The strongest peak in the spectrum of steps ``(rows - 1, groups)``."""

    def __init__(self, steps: Floats, most: float = 0.0, at: float = 0.0) -> None:
        """Find it; ``most`` is the largest amplitude of one that is laid over the picture."""
        self._steps, self._most, n = steps, most, len(steps)
        halves = np.stack([medians_of(steps[:, i::2]) for i in (0, 1)])
        self._mean = halves.mean(axis=0)
        spectra = np.fft.rfft((halves - halves.mean(axis=1, keepdims=True)) * window(n), FINE * n, axis=1)
        self._power = np.abs(spectra.mean(axis=0)) ** 2
        self._apart = np.abs(spectra[0] - spectra[1]) ** 2 / 4
        low, high = round(FEWEST * FINE), max(round(FEWEST * FINE) + 1, round(n * FINE / SHORTEST))
        if at:
            low, high = round((at * n - 1) * FINE), round((at * n + 1) * FINE) + 1
        self._k = low + int(self._power[low:high].argmax())
        for part in () if at else PARTS:
            k = round(self._k / part) - FINE // 2
            k += int(self._power[max(0, k) : k + FINE + 1].argmax())
            if k > low and self._times(k) > HARMONIC:
                self._k = k
                break
        self.is_inside = low < self._k < high - 1
        self.stands_out = self._times(self._k)
        a, b, c = np.sqrt(self._power[self._k - 1 : self._k + 2])
        shift = 0.5 * (a - c) / (a - 2 * b + c) if self.is_inside else 0.0
        self.f = float(self._k + shift) / FINE / n

    def _times(self, k: int) -> float:
        """Return how many times the power around it a frequency has."""
        beside = np.arange(round(NEAR * FINE), FAR * FINE + 1)
        at = np.concatenate([k - beside, k + beside])
        around = np.median(self._power[at[(at >= FINE // 2) & (at < len(self._power))]]) / MEDIAN_OF_NOISE
        return float(self._power[k] / max(around, np.finfo(float).tiny))

    def is_wave(self, doubt: float = 1.0) -> bool:
        """Whether it is the same in both halves, and everywhere in the picture; by limits so many times as wide."""
        k, n = self._k, len(self._mean)
        if not self.is_inside or self._apart[k] > doubt * DIFFERS * self._power[k]:
            return False
        whole = _amplitudes(self._steps, self.f)
        mean = _middle(whole)
        turned, weights = 2 * np.pi * self.f * np.arange(n), window(n).astype(np.float64)
        least = float(np.quantile((whole * mean.conjugate()).real, 0.2))
        if doubt * least <= EVERYWHERE * abs(mean) ** 2 or self._fades > doubt * FADES:
            return False
        waves = np.stack([np.cos(turned), np.sin(turned), np.ones(n)], axis=1) * weights[:, None]
        rest = self._mean * weights - waves @ np.linalg.lstsq(waves, self._mean * weights)[0]
        left = np.abs(np.fft.rfft(rest, FINE * n)[max(0, k - round(REACH * FINE)) : k + round(REACH * FINE) + 1]) ** 2
        return bool(left.max() < doubt * LEFT * self._power[k])

    @property
    def _fades(self) -> float:
        """How much it differs without a window, as a part of its amplitude."""
        mean, turned = _middle(_amplitudes(self._steps, self.f)), 2 * np.pi * self.f * np.arange(len(self._mean))
        to_borders = 2 * np.exp(-1j * turned) @ (self._mean - self._mean.mean()) / len(turned)
        return float(abs(to_borders - mean) / max(abs(mean), np.finfo(float).tiny))

    @property
    def is_faint(self) -> bool:
        """Whether it is less certain than a slanted wave has to be."""
        return self.stands_out < FURTHER or self._fades > CERTAIN

    @property
    def multiples(self) -> list[float]:
        """Its frequency and those of its multiples that stand out, too, in cycles per row."""
        top = len(self._power) - 2
        at = {m: min(round(m * self.f * FINE * len(self._steps)), top) for m in MULTIPLES}
        return [self.f, *(m * self.f for m, k in at.items() if k < top and self._times(k) > HARMONIC)]

    @property
    def harmonics(self) -> float:
        """The power of its multiples as a part of its own; lines and edges that repeat have much."""
        some = [f for f in self.multiples[1:] if f < (OF_CONTENT + 0.5) * self.f]
        return sum((self._amplitude(f) / self._amplitude(self.f)) ** 2 for f in some)

    @property
    def is_laid_over(self) -> bool:
        """Whether it is a fault in spite of them: thick bands, which are weak and the same everywhere."""
        return self.harmonics < THICK and self._amplitude(self.f) < self._most and self._is_even

    def _amplitude(self, f: float) -> float:
        """Return that of a wave whose steps are these."""
        return float(abs(_middle(_amplitudes(self._steps, f))) / (2 * np.sin(np.pi * f)))

    @property
    def _is_even(self) -> bool:
        """Whether it varies from group to group hardly more than what is around it."""
        away = self.f + AWAY / len(self._steps)
        own, *others = (_amplitudes(self._steps, f) for f in (self.f, *away[away > 0]))
        varies = [float(np.median(np.abs(each - _middle(each)) ** 2)) for each in (own, *others)]
        return bool(varies[0] < EVEN * np.median(varies[1:]))


def _amplitudes(steps: Floats, f: float) -> Array:
    """Return the complex amplitude of a wave in the steps of each group; NaN do not count."""
    is_known, weights = np.isfinite(steps), window(len(steps)).astype(np.float64)[:, None]
    waves = np.exp(-2j * np.pi * f * np.arange(len(steps)))
    shares = weights * is_known
    total = np.maximum(shares.sum(axis=0), np.finfo(float).tiny)
    given = weights * np.where(is_known, steps, 0)
    return np.asarray(2 * (waves @ given - (waves @ shares) * given.sum(axis=0) / total) / total)


def _middle(amplitudes: Array) -> complex:
    return complex(np.median(amplitudes.real), np.median(amplitudes.imag))


def _wave(steps: Floats, f: float, first: int, count: int) -> Floats:
    """Return what a wave adds to each of so many rows, by its amplitude in the median of groups from a row on."""
    amplitude = _amplitudes(medians_of(steps)[:, None], f)[0] / (np.exp(2j * np.pi * f) - 1)
    return np.asarray((amplitude * np.exp(2j * np.pi * f * (np.arange(count) - first))).real)


def slanted_waves(power: Power, width: int) -> list[tuple[float, float]]:
    """Return the angles in degrees and the frequencies of what may be slanted waves, the strongest first.

    ``power`` is that of a picture under a Hann window, ``(height, width // 2 + 1)``.
    """
    height = len(power)
    down, along = (round(n / SHORTEST) + 1 for n in (height, width))
    near = at(power, width, np.arange(-down, down + 1)[:, None], np.arange(-1, along + 1))
    ky, kx = np.nonzero(near[1:-1, 1:-1] == sliding_window_view(near, (3, 3)).max(axis=(2, 3)))
    ky = ky + 1 - down
    f = np.hypot(ky / height, kx / width)
    first = np.argsort(-at(power, width, ky, kx) * np.square(f))[:PEAKS]  # a picture's own power falls about so
    ky, kx = ky[first], kx[first]
    beside = around(power, width, ky, kx)
    times = at(power, width, ky, kx) / np.maximum(beside, np.finfo(float).tiny)
    in_order = np.argsort(-times)[: np.count_nonzero(times > HARDLY)]
    ky, kx, beside = ky[in_order], kx[in_order], beside[in_order]
    y = ky + between(*(at(power, width, ky + i, kx) - beside for i in (-1, 0, 1)))
    x = kx + between(*(at(power, width, ky, kx + i) - beside for i in (-1, 0, 1)))
    f, angles = np.hypot(y / height, x / width), np.degrees(np.arctan2(x / width, y / height)) % 180
    is_slanted = (np.minimum(np.abs(x), np.abs(y)) > SLANTED) & (np.hypot(x, y) >= PERIODS) & (f * SHORTEST <= 1)
    return [*zip(angles[is_slanted].tolist(), f[is_slanted].tolist(), strict=True)][:TRIED]
