"""A peak of the spectrum: a wave in the picture, with its properties; and one list of peaks for all channels."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import transfer
from ..arrays import Array
from ..text import amount_text
from ..transfer import Transfer

if TYPE_CHECKING:
    from .power import Spectrum

COLORS = ("red", "green", "blue")
# Two peaks that are fewer bins apart are the spot of one.
APART = 3
# The same for peaks of different channels, whose screens may be almost alike: two nearer ones have one frequency.
APART_BY_CHANNEL = 1
MULTIPLES: list[tuple[int, ...]] = [(m,) for m in range(2, 41)]
# Sums of multiples of the two waves of a screen. Their periods are equal up to ALIKE, and so is their right angle.
SUMS: list[tuple[int, ...]] = [(m, n) for m in range(1, 6) for n in range(-5, 6) if n]
ALIKE = 0.02
# Largest distance in bins of a harmonic from a multiple of its peak. Multiples of HIGH or more that lie beyond the
# highest frequency are aliased to any place, and have to be closer.
OFF, OFF_BEYOND, HIGH = 1.5, 0.25, 4


@dataclass(frozen=True)
class Peak:
    """A wave in a picture: a peak of its spectrum, with its conjugate at ``(-fx, -fy)``."""

    fx: float
    fy: float
    """Cycles per pixel, x to the right and y downward; fx is above 0, or about 0 and fy is."""
    strength_db: float
    """Its power relative to the frequencies around it."""
    amplitude: float
    """The wave's amplitude in the picture's own units; over several pictures, the root of the mean square."""
    width: float
    """The width of the notch that removes it, in cycles per pixel."""
    channels: tuple[int, ...] = (0,)
    """The channels in which it was found."""
    searched: int = 1
    """The number of channels of the picture."""
    harmonics: tuple[Harmonic, ...] = ()
    """The peaks that were found at its multiples."""
    white: float = 255.0
    """White in the picture's own units."""

    @property
    def amount(self) -> str:
        """The amplitude in words, with levels for pictures of 8 bits."""
        return amount_text(self.amplitude, is_8_bit=self.white == 255)

    @property
    def place(self) -> NDArray[np.float64]:
        """The frequency ``(fx, fy)``."""
        return np.array([self.fx, self.fy])

    @property
    def period_px(self) -> float:
        """Pixels from crest to crest, across the stripes."""
        return 1 / math.hypot(self.fx, self.fy)

    def length(self, pixel: tuple[float, float]) -> float:
        """Return the period in the unit of a pixel's sides, across and down."""
        across, down = pixel
        return 1 / math.hypot(self.fx / across, self.fy / down)

    @property
    def angle_deg(self) -> float:
        """The direction of the stripes, counterclockwise from 0, which is horizontal, to 180."""
        return (math.degrees(math.atan2(self.fx, self.fy))) % 180

    def all(self) -> tuple[Peak, ...]:
        """Return the peak and its harmonics."""
        return (self, *(each.peak for each in self.harmonics))

    @property
    def is_in_all(self) -> bool:
        """Whether it was found in every channel."""
        return len(self.channels) == self.searched

    @property
    def colors(self) -> str:
        """The channels in which it was found: "all", "green blue", or "0 3" if there are not three channels."""
        if self.is_in_all:
            return "all"
        return " ".join(COLORS[i] if self.searched == len(COLORS) else str(i) for i in self.channels)

    @property
    def at(self) -> str:
        """The value of ``notch --at`` that removes it, without its harmonics."""
        return f"{_rounded(self.fx)},{_rounded(self.fy)},{self.width:.3g}cyc"

    def described(self) -> dict[str, Any]:
        """Return all of its properties, for JSON."""
        own = {name: getattr(self, name) for name in ("fx", "fy", "period_px", "angle_deg", "strength_db", "amplitude")}
        harmonics = [
            {"multiples": list(each.multiples), "fx": each.peak.fx, "fy": each.peak.fy}
            | {"strength_db": each.peak.strength_db, "amplitude": each.peak.amplitude, "notch": each.peak.at}
            for each in self.harmonics
        ]
        return {**own, "channels": list(self.channels), "notch": self.at, "harmonics": harmonics}

    def own_notch(self, **options: Any) -> Transfer:
        """Return the transfer function that removes it from the channels that have it; options as of a notch."""
        channels = None if self.is_in_all else self.channels
        return transfer.notch((self.fx, self.fy), width=f"{self.width:.3g}cyc", channels=channels, **options)

    def notch(self, **options: Any) -> Transfer:
        """Return the transfer function that removes it and its harmonics, each from the channels that have it."""
        return math.prod((each.own_notch(**options) for each in self.all()), start=Transfer(()))


@dataclass(frozen=True)
class Harmonic:
    """A peak at a multiple of another one."""

    multiples: tuple[int, ...]
    """One number, or two for a sum of multiples of the two waves of a screen."""
    peak: Peak

    @property
    def name(self) -> str:
        """The multiples in short: 2, 1+1, 1-2."""
        return "+".join(map(str, self.multiples)).replace("+-", "-")


def _rounded(frequency: float) -> str:
    return f"{round(frequency, 6) + 0.0:.6f}".rstrip("0").rstrip(".")


def canonical(fx: float, fy: float, nothing: float) -> tuple[float, float]:
    """Return a frequency in -0.5 to 0.5, or its conjugate: fx is above 0, or fy where fx is at most ``nothing``."""
    fx, fy = fx - round(fx), fy - round(fy)
    is_other = fy < 0 if abs(fx) <= nothing else fx < 0
    return (-fx, -fy) if is_other else (fx, fy)


# One list of the peaks of all channels


def bins_apart(one: Array, other: Peak, mean: Spectrum) -> Array:
    """Return the distance of frequencies ``(..., 2)`` from a peak or its conjugate, in bins."""
    size = np.array([mean.width, mean.height])
    both = (one - sign * other.place for sign in (1, -1))
    return np.asarray(np.minimum(*(np.linalg.norm((apart - np.rint(apart)) * size, axis=-1) for apart in both)))


def without_doubles(peaks: list[Peak], mean: Spectrum) -> list[Peak]:
    """Return the peaks of all channels, each once, the strongest first."""
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
    """Return peaks, the strongest first; weaker ones at multiples of a peak become its harmonics.

    Two peaks of one period at a right angle are a screen: peaks at sums of their multiples are harmonics of the first.
    """
    groups: list[Peak] = []
    # The index of a group and frequencies ``(multiples, 2)``: multiples of each peak, and sums of each screen.
    of_peaks: list[tuple[int, Array]] = []
    of_screens: list[tuple[int, Array]] = []
    for peak in sorted(peaks, key=lambda each: -each.amplitude):
        for multiples, families in ((MULTIPLES, of_peaks), (SUMS, of_screens)):
            places = np.array([each for _, each in families]).reshape(-1, len(multiples), 2)
            is_low = np.abs(multiples).sum(axis=1) < HIGH
            allowed = np.where(is_low | (np.abs(places).max(axis=-1) <= 0.5), OFF, OFF_BEYOND)
            apart = bins_apart(places, peak, mean) / allowed
            near = np.flatnonzero(apart.min(axis=1) < 1)
            if len(near):
                i = families[near[0]][0]
                harmonic = Harmonic(multiples[int(apart[near[0]].argmin())], peak)
                groups[i] = replace(groups[i], harmonics=(*groups[i].harmonics, harmonic))
                break
        else:
            of_peaks.append((len(groups), np.array(MULTIPLES) * peak.place))
            for i, one in enumerate(groups):
                turned = abs(abs(one.angle_deg - peak.angle_deg) - 90)
                if turned < ALIKE * 90 and abs(one.period_px / peak.period_px - 1) < ALIKE:
                    of_screens.append((i, np.array(SUMS) @ (one.place, peak.place)))
            of_screens.sort(key=lambda family: family[0])
            groups.append(peak)
    in_order = (
        replace(each, harmonics=tuple(sorted(each.harmonics, key=lambda one: one.multiples))) for each in groups
    )
    return sorted(in_order, key=lambda each: -each.strength_db)
