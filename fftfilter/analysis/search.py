"""``find_peaks``: the periodic structures of a picture, or of many.

    spectrum -> what stands out, by channel -> refined below a bin -> one list for all channels -> harmonics grouped

Under a Hann window a wave has the power W(x)^2 at x bins from its frequency, W(x) = sinc(x) / (1 - x^2). Of two
neighbors W(1 - x) / W(x) = (1 + x) / (2 - x), so that their ratio says where between them the frequency lies (Grandke,
Interpolation algorithms for discrete Fourier transforms of weighted signals, 1983).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ParameterError, check_unmasked
from .found import Harmonic, Peak
from .power import Spectrum, spectrum, window
from .surroundings import Bins, around, at, standing_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from .power import Power

    Array = NDArray[Any]

USUAL_STRENGTH = 18.0
"""Decibels: noise reaches 11, the texture of photographs 14."""
WEAKEST = 10.0
SMALLEST = 32
"""Pixels of the shorter side: less has no surroundings that a peak could stand out of."""
# Fewer periods across the picture are no periodic structure. Windows, bricks and rows of people come by the dozen: a
# structure of few periods has to be stronger, by so many decibels.
PERIODS, MANY, OF_FEW = 8, 16, 6.0
# Of a grey level: fainter waves may be what rounding to grey levels made of stronger ones, and nobody sees them.
FAINTEST = 0.2
# Bins between two peaks: two nearer ones are the spot of one.
APART = 3
MULTIPLES = range(2, 21)
# Of the two waves of a screen, whose periods and right angle are alike up to a small part.
SUMS: list[tuple[int, ...]] = [(m, n) for m in range(1, 6) for n in range(-5, 6) if n]
ALIKE = 0.02
# Bins from a multiple of a peak to its harmonic.
OFF = 1.5
# Of a notch against tails: bins at least, and the part of its distance from DC at most.
NARROWEST, WIDEST = 1.5, 0.2
# Of a skirt: where rings around the peak begin, in bins, how much each is larger than the one before, at what part of
# the distance from DC they end; and how many times the power there the skirt's own is.
INNERMOST, LARGER, OUTERMOST, SKIRT = 3.0, 1.25, 0.4, 4.0
RAYS = 48


def find_peaks(
    image: ArrayLike, *, channel_axis: int | None = None, strength: float = USUAL_STRENGTH, white: float | None = None
) -> list[Peak]:
    """Return the periodic structures of an image ``(height, width)``, the strongest first.

    Those are waves that go through the whole image or most of it, with at least eight periods: screens of prints,
    moire, hum, patterns of a sensor. ``strength`` is how far their power has to exceed that of the frequencies around
    them, in dB. With ``channel_axis`` the array is a picture with channels, which are searched one by one; without it
    an array ``(count, height, width)`` is a stack, whose mean power is searched.

    ``white`` is the value that amplitudes are relative to, by default the largest of an integer type, 1 for floats.

    Frequencies are refined below a bin: those of strong waves to a hundredth of it. A wave of less than a fifth of
    a grey level is left out. Raises ParameterError for an array that is no image, or has fewer than 32
    pixels a side.

        for peak in fftfilter.find_peaks(image):
            print(peak.period_px, peak.angle_deg, peak.strength_db)
    """
    check_unmasked("image", image)
    array = np.asarray(image)
    if array.ndim not in (2, 3) or array.size == 0 or array.dtype.kind not in "biuf":
        raise ParameterError(
            f"an array of shape {array.shape} and type {array.dtype} is no image: give (height, width), or a picture "
            "with its channel_axis"
        )
    if array.dtype.kind == "b":
        array = array.astype(np.float32)
    if white is None:
        white = float(np.iinfo(array.dtype).max) if array.dtype.kind in "iu" else 1.0
    if array.ndim == 2:
        return peaks_of(spectrum(array[None], white), strength)
    if channel_axis is not None:
        return peaks_of(spectrum(np.moveaxis(array, channel_axis, 0), white), strength)
    mean = spectrum(array[:1], white)
    for each in array[1:]:
        mean.add(spectrum(each[None], white))
    return peaks_of(mean, strength)


def peaks_of(mean: Spectrum, strength: float = USUAL_STRENGTH) -> list[Peak]:
    """Return the peaks of a spectrum, as :func:`find_peaks`; raises ParameterError for an impossible strength."""
    check_strength(strength)
    if min(mean.height, mean.width) < SMALLEST:
        raise ParameterError(
            f"{mean.width} x {mean.height} pixels are too few to look for periodic structures: give at least "
            f"{SMALLEST} a side"
        )
    by_channel = (_of_channel(power, mean.width, strength, i) for i, power in enumerate(mean.power))
    alone = _without_doubles([peak for peaks in by_channel for peak in peaks], mean)
    return _grouped([peak for peak in alone if peak.amplitude >= FAINTEST * 255 * mean.step], mean)


def check_strength(strength: float) -> None:
    """Raise ParameterError for a strength that noise may reach, or nothing."""
    if not WEAKEST <= strength < np.inf:
        raise ParameterError(
            f"strength {strength:g} is impossible: give at least {WEAKEST:g} dB, which noise hardly reaches"
        )


def _of_channel(power: Power, width: int, strength: float, channel: int) -> list[Peak]:
    height = len(power)
    bins = standing_out(power, width, 10 ** (strength / 10))
    signed = np.where(bins.ky > height // 2, bins.ky - height, bins.ky)
    is_wave = np.hypot(signed, bins.kx) >= PERIODS
    bins = Bins(signed[is_wave], bins.kx[is_wave])
    background = around(power, width, bins)
    dy = _between(*(at(power, width, bins.ky + i, bins.kx) - background for i in (-1, 0, 1)))
    dx = _between(*(at(power, width, bins.ky, bins.kx + i) - background for i in (-1, 0, 1)))
    values = at(power, width, bins.ky, bins.kx) / np.square(_spot(dy) * _spot(dx))
    heights, widths = window(height).astype(float), window(width).astype(float)
    energy = np.square(heights).sum() * np.square(widths).sum()
    amplitudes = 255 * 2 * np.sqrt(values * energy) / (heights.sum() * widths.sum())
    found = []
    for i in range(len(values)):
        fx, fy = float((bins.kx[i] + dx[i]) / width), float((bins.ky[i] + dy[i]) / height)
        fx, fy = _canonical(fx, fy, 0.5 / width)
        ratio = float(values[i] / background[i])
        if np.hypot(fx * width, fy * height) < MANY and 10 * np.log10(ratio) < strength + OF_FEW:
            continue
        found.append(
            Peak(
                fx,
                fy,
                10 * float(np.log10(ratio)),
                float(amplitudes[i]),
                max(_of_tails(fx, fy, ratio, height, width), _of_skirt(power, width, fx, fy)),
                (channel,),
            )
        )
    return found


def _between(before: Array, here: Array, after: Array) -> NDArray[np.float64]:
    """Return how far peaks lie from their bins along an axis, -0.5 to 0.5, by the power of three bins."""
    ratio = np.sqrt(np.maximum(np.maximum(before, after), 0) / here)
    return np.asarray(np.clip((2 * ratio - 1) / (ratio + 1), 0, 0.5) * np.where(after >= before, 1, -1))


def _spot(x: Array) -> NDArray[np.float64]:
    """Return W, the height of a wave's spot at x bins from its frequency, at most half a bin."""
    return np.asarray(np.sinc(x) / (1 - np.square(x)))


def _canonical(fx: float, fy: float, nothing: float) -> tuple[float, float]:
    """Return a frequency, or its conjugate, with fx above 0, or fy if fx is about 0; both from -0.5 to 0.5."""
    fx, fy = fx - round(fx), fy - round(fy)
    is_other = fy < 0 if abs(fx) <= nothing else fx < 0
    return (-fx, -fy) if is_other else (fx, fy)


def _of_tails(fx: float, fy: float, ratio: float, height: int, width: int) -> float:
    """Return the width of the notch that leaves least: of the wave, and of what it takes from the picture with it.

    Without a window, as filters see it, a wave that does not meet itself at the borders has tails along both axes, that
    fall with the square of the distance. Of their energy a Gaussian notch of width w leaves 1.73 / w, and it takes
    pi / (2 ln 2) w^2 of the surroundings.
    """
    along, down = (np.sin(np.pi * f * n) ** 2 / n for f, n in ((fx, width), (fy, height)))
    best = np.cbrt(0.087 * ratio * (along + down) / (height * width))
    narrowest = NARROWEST / min(height, width)
    return float(np.clip(best, narrowest, max(narrowest, WIDEST * np.hypot(fx, fy))))


def _of_skirt(power: Power, width: int, fx: float, fy: float) -> float:
    """Return how far what belongs to a peak reaches, in cycles per pixel.

    The dots of a screen are large or small as the picture is dark or bright, so that the picture is repeated around the
    peak: a skirt, which falls until it is lost among other frequencies.
    """
    height = len(power)
    shorter, angles = min(height, width), np.arange(RAYS) * 2 * np.pi / RAYS
    rings = [INNERMOST]
    while rings[-1] * LARGER < OUTERMOST * shorter * np.hypot(fx, fy):
        rings.append(rings[-1] * LARGER)
    radii = np.array(rings)[:, None] / shorter
    ky, kx = (fy + radii * np.sin(angles)) * height, (fx + radii * np.cos(angles)) * width
    levels = np.median(at(power, width, np.rint(ky).astype(np.int64), np.rint(kx).astype(np.int64)), axis=1)
    is_over = levels < SKIRT * levels[-1]
    reached = int(np.argmax(is_over))
    return float(radii[reached - 1, 0]) if reached else 0.0


def _bins_apart(one: Array, other: Peak, mean: Spectrum) -> Array:
    """Return how many bins frequencies ``(..., 2)`` are from a peak, or from its conjugate."""
    size = np.array([mean.width, mean.height])
    both = (one - sign * np.array([other.fx, other.fy]) for sign in (1, -1))
    return np.asarray(np.minimum(*(np.linalg.norm((apart - np.rint(apart)) * size, axis=-1) for apart in both)))


def _without_doubles(peaks: list[Peak], mean: Spectrum) -> list[Peak]:
    """Return the peaks of all channels, the strongest first, each once."""
    alone: list[Peak] = []
    for peak in sorted(peaks, key=lambda each: -each.strength_db):
        places = np.array([(each.fx, each.fy) for each in alone]).reshape(-1, 2)
        same = np.flatnonzero(_bins_apart(places, peak, mean) < APART)
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


def _grouped(peaks: list[Peak], mean: Spectrum) -> list[Peak]:
    """Return peaks, the strongest first, with weaker ones at their multiples as their harmonics.

    Two of one period at a right angle are a screen: what is at sums of their multiples are the first one's, too.
    """
    groups: list[Peak] = []
    for peak in peaks:
        for i, multiples, places in _families(groups):
            apart = _bins_apart(places, peak, mean)
            if apart.min() < OFF:
                harmonic = Harmonic(multiples[int(apart.argmin())], peak)
                groups[i] = replace(groups[i], harmonics=(*groups[i].harmonics, harmonic))
                break
        else:
            groups.append(peak)
    return [replace(each, harmonics=tuple(sorted(each.harmonics, key=lambda one: one.multiples))) for each in groups]


def _families(groups: list[Peak]) -> Iterator[tuple[int, list[tuple[int, ...]], Array]]:
    """Return the multiples of each peak, then the sums for each screen, with their frequencies; first its number."""
    for i, peak in enumerate(groups):
        yield i, [(m,) for m in MULTIPLES], np.outer(MULTIPLES, (peak.fx, peak.fy))
    for (i, one), (_, other) in combinations(enumerate(groups), 2):
        turned = abs(abs(one.angle_deg - other.angle_deg) - 90)
        if turned < ALIKE * 90 and abs(one.period_px / other.period_px - 1) < ALIKE:
            yield i, SUMS, np.array(SUMS) @ ((one.fx, one.fy), (other.fx, other.fy))
