"""``find_peaks``: the periodic structures of a picture, or of many; and notches for them.

    spectrum -> what stands out, by channel -> refined below a bin -> one list for all channels -> harmonics grouped

A wave of several channels is one peak. If it stands out enough in one channel, less is enough in the others.

Under a Hann window a wave has the power W(x)^2 at x bins from its frequency, W(x) = sinc(x) / (1 - x^2). The
ratio of two neighbors, W(1 - x) / W(x) = (1 + x) / (2 - x), gives the place of the frequency between them (Grandke,
Interpolation algorithms for discrete Fourier transforms of weighted signals, 1983).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import transfer
from ..arrays import Array, check_finite, split, white_of_input
from ..errors import ParameterError, check_option
from ..missing import filled
from ..output.modes import ALL, MODES, Output
from ..transfer import Transfer
from ..transfer.fitted import USUAL_STRENGTH, WEAKEST, checked_strength
from ..transfer.product import Edges
from ..transfer.shapes import SHAPES, ShapeName
from ..transfer.units import number
from .found import APART, Peak, bins_apart, canonical, grouped, without_doubles
from .power import Spectrum, spectrum, window
from .surroundings import Power, around, at, broad_peaks, of_spread, of_tails, standing_out

if TYPE_CHECKING:
    from ..region import AreaLike

SMALLEST = 32
"""Pixels of the shorter side: a smaller spectrum has no surroundings that a peak could stand out from."""
# A periodic structure has at least PERIODS across the picture. Windows, bricks and rows of people come by the dozen: a
# structure of fewer than MANY periods has to be stronger by OF_FEW decibels.
PERIODS, MANY, OF_FEW = 5, 16, 6.0
# Amplitude in gray levels, if there are such: fainter waves may come from rounding stronger ones to gray levels.
FAINTEST = 0.2
NO_PEAK = "no periodic structure"
# A wave that is weaker than the strength by at most so many decibels is named if there is no other.
WEAKER = 6.0
# A wave between bins stands out by up to so many decibels less in each of them.
BETWEEN = 3.0


def find_peaks(
    image: ArrayLike,
    *,
    channel_axis: int | None = None,
    strength: float = USUAL_STRENGTH,
    white: float | None = None,
    ignore: AreaLike | None = None,
) -> list[Peak]:
    """Return the periodic structures of an image ``(height, width)``, the strongest first.

    These are waves of at least five periods that go through all or most of the image: screens of prints, moire, hum,
    patterns of a sensor. Frequencies are refined below a bin: those of strong waves to a hundredth of it. A wave of
    less than a fifth of a gray level is left out. Missing pixels, which are NaN or masked, are filled as for filters.

    Args:
        image: Real numbers (height, width), or a stack (count, height, width), whose mean power is searched.
        channel_axis: The axis of a picture's channels, which are searched one by one; None for none.
        strength: By how many dB the power of a wave has to exceed that of the frequencies around it.
        white: The image's white, by default the largest of an integer type, 1 for floats.
        ignore: Pixels that are filled, too, as a ``region`` of :class:`fftfilter.Filter`.

    Raises:
        ParameterError: For an array that is not an image, or has fewer than 32 pixels a side.

    Examples:
        >>> periods = [peak.period_px for peak in fftfilter.find_peaks(image)]

    """
    planes, holes = split(image, None, None if np.ndim(image) == 2 else channel_axis)
    if getattr(image, "dtype", None) == np.bool_:
        planes = (planes / 255).astype(np.float32)
    white = white_of_input(white, planes.dtype)
    if ignore is not None:
        from ..region import area_of

        holes = holes | area_of(ignore, "ignore").pixels(*planes.shape[1:])
    if holes.any():
        planes = filled(planes, holes)
    check_finite(planes)
    if channel_axis is not None:
        return peaks_of(spectrum(planes, white), strength)
    mean = spectrum(planes[:1], white)
    for each in planes[1:]:
        mean.add(spectrum(each[None], white))
    return peaks_of(mean, strength)


def peaks_of(mean: Spectrum, strength: float = USUAL_STRENGTH) -> list[Peak]:
    """Return the peaks of a spectrum, as :func:`find_peaks`; raises ParameterError for an impossible strength."""
    return grouped(waves_of(mean, strength), mean)


def waves_of(mean: Spectrum, strength: float = USUAL_STRENGTH) -> list[Peak]:
    """Return the same peaks one by one, each without harmonics."""
    checked_strength(strength)
    if few := too_few(mean):
        raise ParameterError(f"{few}: give at least {SMALLEST} a side")
    found = []
    for channel, power in enumerate(mean.power):
        sharp = _of_channel(power, mean.width, strength, channel)
        broad = broad_peaks(power, mean.width, strength, channel)
        found += sharp + [each for each in broad if not _surrounds(each, sharp, mean)]
    alone = [peak for peak in without_doubles(found, mean) if peak.amplitude >= FAINTEST * mean.step]
    places, searched, white = _places(alone), len(mean.power), mean.white
    known = (replace(each, channels=_with(each, alone, places, mean), searched=searched) for each in alone)
    return [replace(each, amplitude=each.amplitude * white, white=white) for each in known]


def nothing_of(strength: float) -> str:
    """Return the message for pictures without peaks."""
    few = f"{strength + OF_FEW:g} if it has fewer than {MANY} periods"
    return f"{NO_PEAK} of {strength:g} dB or more, {few}"


def too_few(mean: Spectrum) -> str | None:
    """Return the message for pictures that are too small to search, else None."""
    if min(mean.height, mean.width) >= SMALLEST:
        return None
    return f"{mean.width} x {mean.height} pixels are too few to look for periodic structures"


def _of_channel(power: Power, width: int, strength: float, channel: int) -> list[Peak]:
    height = len(power)
    ky, kx = standing_out(power, width, 10 ** (strength / 10))
    ky = np.where(ky > height // 2, ky - height, ky)
    is_wave = np.hypot(ky, kx) >= PERIODS
    ky, kx = ky[is_wave], kx[is_wave]
    background = around(power, width, ky, kx)
    dy = between(*(at(power, width, ky + i, kx) - background for i in (-1, 0, 1)))
    dx = between(*(at(power, width, ky, kx + i) - background for i in (-1, 0, 1)))
    values = at(power, width, ky, kx) / np.square(_spot(dy) * _spot(dx))
    heights, widths = window(height).astype(float), window(width).astype(float)
    energy = np.square(heights).sum() * np.square(widths).sum()
    amplitudes = 2 * np.sqrt(values * energy) / (heights.sum() * widths.sum())
    found = []
    for i in range(len(values)):
        fx, fy = canonical(float((kx[i] + dx[i]) / width), float((ky[i] + dy[i]) / height), 0.5 / width)
        ratio = float(values[i] / background[i])
        decibels = 10 * float(np.log10(ratio))
        if np.hypot(fx * width, fy * height) < MANY and decibels < strength + OF_FEW:
            continue
        notch = max(of_tails(fx, fy, ratio, height, width), of_spread(power, width, fx, fy))
        found.append(Peak(fx, fy, decibels, float(amplitudes[i]), notch, (channel,)))
    return found


def _places(peaks: list[Peak]) -> Array:
    return np.array([(peak.fx, peak.fy) for peak in peaks]).reshape(-1, 2)


def _with(peak: Peak, others: list[Peak], places: Array, mean: Spectrum) -> tuple[int, ...]:
    """Return the channels that have a peak, also those in which it is too weak to be found alone."""
    if len(peak.channels) == len(mean.power):
        return peak.channels
    # In these channels, another peak's spot may cover the place.
    beside = {i for j in np.flatnonzero(bins_apart(places, peak, mean) < APART) for i in others[j].channels}
    elsewhere = {*range(len(mean.power))} - beside
    weak = {i for i in elsewhere if mean.near(peak.place, i)[1] >= 10 ** (WEAKEST / 10)}
    return tuple(sorted(weak.union(peak.channels)))


def _surrounds(broad: Peak, sharp: list[Peak], mean: Spectrum) -> bool:
    reach = np.array([peak.width + broad.width for peak in sharp])
    return bool((bins_apart(_places(sharp), broad, mean) < min(mean.height, mean.width) * reach).any())


def between(before: Array, here: Array, after: Array) -> NDArray[np.float64]:
    """Return the distance of peaks from their bins along an axis, -0.5 to 0.5, from the power of three bins."""
    ratio = np.sqrt(np.maximum(np.maximum(before, after), 0) / here)
    return np.asarray(np.clip((2 * ratio - 1) / (ratio + 1), 0, 0.5) * np.where(after >= before, 1, -1))


def _spot(x: Array) -> NDArray[np.float64]:
    """Return W, the height of a wave's spot at x bins from its frequency, at most half a bin."""
    return np.asarray(np.sinc(x) / (1 - np.square(x)))


# Notches: one for each peak, and for each of its harmonics


class Left(NamedTuple):
    """The waves of a picture that are not removed."""

    content: int = 0
    """How many look like a part of the picture."""
    weak: Peak | None = None
    """The strongest of those that are too weak, if no other is there."""
    strength: int = 0
    """The strength in dB with which it is found."""

    def __bool__(self) -> bool:
        return bool(self.content)


class AutoNotches(NamedTuple):
    """Searches each picture by itself for peaks to remove.

    >>> clean = fftfilter.lowpass(image, "3px", auto=fftfilter.AutoNotches(strength=20))
    """

    strength: float = USUAL_STRENGTH
    """The least strength of a peak, in dB."""
    shape: ShapeName = "gaussian"
    by_channel: bool = True
    """Whether a wave is removed only from the channels that have it, not from all."""
    insists: bool = False
    """Whether waves that look like content are removed, too."""
    keep: tuple[tuple[float, float], ...] = ()
    """Waves that stay, with their harmonics."""
    longest: float | None = None
    largest: float | None = None
    """The period in pixels, and the amplitude in the file's own units, above which waves stay."""

    @classmethod
    def of(cls, given: object, output: Output, channels: object) -> AutoNotches | None:
        """Return the search that ``auto`` of a filter with an output asks for, if any; raises ParameterError."""
        if given is None or given is False:
            return None
        found = cls() if given is True else given
        if not isinstance(found, cls):
            raise ParameterError(f"auto {given!r} is unknown: give True, or fftfilter.AutoNotches(strength=20)")
        checked_strength(found.strength)
        check_option("shape", found.shape, SHAPES)
        for name, limit in (("longest", found.longest), ("largest", found.largest)):
            if limit is not None and not number(limit) > 0:
                raise ParameterError(f"{name} {number(limit):g} leaves nothing to remove: give a number above 0")
        keep = tuple(map(_wave, found.keep if hasattr(found.keep, "__iter__") else [found.keep]))
        # Magnitudes and signed values have one scale for all channels; luminance and chroma are of all.
        has_channels = not MODES[output].is_scaled and channels in (None, ALL)
        return found._replace(by_channel=bool(found.by_channel) and has_channels, keep=keep)

    @property
    def waves(self) -> Transfer:
        """What takes out the waves that the spectrum does not tell; none with limits, which are for those of peaks."""
        has_limits = self.keep or self.longest is not None or self.largest is not None
        return Transfer(()) if has_limits else transfer.stripes("auto", waves=True)

    def nothing(self, left: Left, option: str = "--strength ") -> str:
        """Return the message for a picture without peaks, with what to try next."""
        weak = f"{option}{left.strength} for a weak wave of {left.weak.period_px:.2f} px, " if left.weak else ""
        others = "stripes --auto for lines, descreen for the dots of a print"
        return f"{nothing_of(self.strength)}: no wave is removed: try {weak}{others}"

    def left(self, left: Left, insist: str = "--insist") -> str:
        """Return the message for waves that look like content, and stay unless ``insist``."""
        count = left.content
        looks, stays, them = ("1 wave looks", "stays", "it") if count == 1 else (f"{count} waves look", "stay", "them")
        return f"{looks} like a part of the picture, such as text or windows, and {stays}: {insist} removes {them}"

    def lines(self, found: Sequence[Peak], left: Left) -> list[str]:
        """Return what was removed of a picture, and how many waves look like content, in words."""
        content = [self.left(left, "insists=True")] if left else []
        return [f"removed {peaks_text(found)}", *content] if found else content or [self.nothing(left, "strength=")]

    def peaks(self, spectrum: Spectrum) -> tuple[list[Peak], Left]:
        """Return the peaks, and what else is there; raises ParameterError for a small spectrum."""
        from .guard import without_content

        found = [
            peak
            for peak in peaks_of(spectrum, self.strength)
            if all(bins_apart(np.array(wave), peak, spectrum) >= APART for wave in self.keep)
            and peak.period_px <= (self.longest or math.inf)
            and peak.amplitude <= (self.largest or math.inf)
        ]
        kept = found if self.insists else without_content(found, spectrum)
        left, least = Left(len(found) - len(kept)), max(self.strength - WEAKER, WEAKEST)
        is_alone = not found and self.waves.parts and least < self.strength
        if weak := without_content(peaks_of(spectrum, least), spectrum) if is_alone else []:
            most = max(weak, key=lambda each: each.strength_db)
            is_of_few = np.hypot(most.fx * spectrum.width, most.fy * spectrum.height) < MANY
            finds = most.strength_db - BETWEEN - OF_FEW * is_of_few
            left = Left(0, most, max(math.floor(finds), math.ceil(WEAKEST)))
        return kept if self.by_channel else [_in_all(peak) for peak in kept], left


def _wave(given: object) -> tuple[float, float]:
    """Return the cycles per pixel of a wave, a pair or its text; raises ParameterError."""
    try:
        fx, fy = map(float, given.split(",") if isinstance(given, str) else given)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        fx = fy = math.nan
    if not (abs(fx) <= 1 and abs(fy) <= 1):
        raise ParameterError(f"keep {given!r} is not a wave: give FX,FY, such as 0.123,0.047")
    return fx, fy


def _in_all(peak: Peak) -> Peak:
    """Return a peak and its harmonics as if every channel had them."""
    harmonics = (replace(each, peak=_in_all(each.peak)) for each in peak.harmonics)
    return replace(peak, channels=tuple(range(peak.searched)), harmonics=tuple(harmonics))


def notches(
    peaks: Sequence[Peak],
    shape: ShapeName = "gaussian",
    edges: Edges = "wrap",
    depth: float | None = None,
    channels: str | None = None,
) -> Transfer:
    """Return the transfer function that removes peaks and their harmonics; without peaks, one that passes all.

    At mirrored edges the waves themselves are subtracted, unless a part of them (``depth``) or of the colors stays.
    """
    is_wave = edges == "mirror" and depth is None and channels in {None, "all"}
    return math.prod((peak.notch(shape=shape, is_wave=is_wave) for peak in peaks), start=Transfer(()))


def peaks_text(peaks: Sequence[Peak], most: int | None = None) -> str:
    """Return peaks in one line, of more than ``most`` the strongest and a count."""
    if most is not None and len(peaks) > most:
        strongest = sorted(peaks, key=lambda peak: -peak.amplitude)[:most]
        return f"{peaks_text(strongest)} and {len(peaks) - most} more"
    return ", ".join(
        f"{peak.period_px:.2f} px at {peak.angle_deg:.1f} degrees ({peak.strength_db:.0f} dB, "
        f"{peak.amount})"
        + ("" if peak.is_in_all else f" in {peak.colors.replace(' ', ' and ')}")
        + (f" and {len(peak.harmonics)} of its harmonics" if peak.harmonics else "")
        for peak in peaks
    )
