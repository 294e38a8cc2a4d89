"""Finds a printer's screens, and the gains that take them out and leave the picture.

    planes -> peaks -> screens: two waves of one period at a right angle -> notches -> Wiener's gains for what is left

A print shows grey levels by dots on a lattice, one lattice for each ink. Its waves, their multiples and the differences
between the inks' lattices (moire, rosettes) are peaks of the spectrum. Between these, the dots leave noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..transfer import Transfer, notch
from .power import spectrum
from .search import peaks_of, too_few
from .surroundings import Bins, around, at
from .wiener import Rings, curve_of_screen, power_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ..transfer.screens import Descreen
    from ..transfer.wiener import Curve
    from .found import Peak
    from .power import Spectrum

    Array = NDArray[Any]

# Pixels from dot to dot.
FINEST, COARSEST = 2.2, 16.0
# The two waves of a screen differ by less than ALIKE in period, and by less than TURNED degrees from a right angle:
# bent paper draws their peaks apart. The periods of the inks' screens differ by less than INKS.
ALIKE, TURNED, INKS = 0.06, 3.0, 0.2
# The strongest waves, which are tried in pairs; the least amplitude of the first screen's, as a part of the largest.
MOST, STRONGEST = 40, 0.95

# A notch that serves two peaks, mirror images of each other, is so many times as wide as the wider one.
WIDER = 1.3
# The power of the multiples 2, 3 and 4 of a wave, as a part of its own: dots have at most 0.05, lines from 0.2 up. Each
# counts if it stands out OVER times, at the nearest frequency or BESIDE it.
SHARP, OVER, BESIDE = 0.1, 16.0, np.arange(-1, 2)
# Waves of lower frequencies, as parts of the screen's, are no moire of it, and stay.
LOWEST = 0.2


@dataclass(frozen=True, eq=False)
class Screens:
    """The screens of a picture."""

    screens: tuple[Peak, ...]
    """A wave of each, the strongest first; its other one is at a right angle."""
    waves: int
    """The number of waves that are taken out."""
    transfer: Transfer

    def __str__(self) -> str:
        """Return in one line what is taken out, and how strongly the rest is smoothed."""
        angles = [f"{peak.angle_deg % 90:.1f}" for peak in self.screens]
        at = f"{', '.join(angles[:-1])} and {angles[-1]}" if len(angles) > 1 else angles[0]
        smoothed: Curve = next(part for part in self.transfer.parts if part.kind == "wiener")  # type: ignore[assignment]
        half = f", detail below {smoothed.half:.1f} px is halved" if smoothed.half else ""
        return f"screen of {self.screens[0].period_px:.2f} px at {at} degrees: {self.waves} waves are removed{half}"


def screens_of(planes: Array, white: float, wanted: Descreen) -> Screens | None:
    """Return the screens of a picture ``(channels, height, width)``, whose first channel is its brightness, if any."""
    _, height, width = planes.shape
    mean = spectrum(planes, white)
    if too_few(mean):
        return None
    peaks = [one for peak in peaks_of(mean, wanted.strength) for one in peak.all()]
    found = _screens(peaks)
    if not found or _is_structure(found[0], mean):
        return None
    lowest = LOWEST / found[0].period_px
    removed = [peak for peak in peaks if 1 / peak.period_px >= lowest]
    notches = prod((_notch(peak) for peak in _once(removed, mean)), start=Transfer(()))
    rings, transfer, kept = Rings.of(height, width), notches, wanted.keep_detail / 100
    twofold = [each.on_twice_the_sides() for each in notches.of_channels(len(planes))]
    grids = [np.square(each.gain(2 * height, 2 * width, height, width), dtype=np.float32) for each in twofold]
    for i, plane in enumerate(planes):
        power = power_of(plane) * grids[i % len(grids)]
        curve = curve_of_screen(rings, power, 1 / found[0].period_px, is_color=i > 0)
        gains = tuple(kept + (1 - kept) * gain for gain in curve.gains)
        transfer *= Transfer((replace(curve, gains=gains, channels=(i,) if len(planes) > 1 else None),))
    return Screens(tuple(found), len(removed), transfer)


def _screens(peaks: Sequence[Peak]) -> list[Peak]:
    """Return a wave of each screen, the strongest first: it has another one of its period at a right angle.

    The first is the strongest of all waves: in a facade or a table, many weaker ones meet at right angles, too.
    """
    waves = sorted(peaks, key=lambda each: -each.amplitude)[:MOST]
    found: list[Peak] = []
    for one, other in combinations(waves, 2):
        turned = abs(abs(one.angle_deg - other.angle_deg) - 90)
        if one not in found and turned < TURNED and abs(one.period_px / other.period_px - 1) < ALIKE:
            found.append(one)
    if not found or not FINEST <= found[0].period_px <= COARSEST:
        return []
    if found[0].amplitude < STRONGEST * waves[0].amplitude:
        return []
    return [each for each in found if abs(each.period_px / found[0].period_px - 1) < INKS]


def _once(peaks: list[Peak], mean: Spectrum) -> list[Peak]:
    """Return peaks without those that are the mirror images of others: notches have these, too."""
    places = np.abs([(peak.fx, peak.fy) for peak in peaks]) * (mean.width, mean.height)
    left: list[Peak] = []
    for i, peak in enumerate(peaks):
        near = np.flatnonzero(np.abs(places - places[i]).max(axis=1) < 1)
        same = [j for j in near if peaks[j].channels == peak.channels]
        if i == same[0]:
            width = max(peaks[j].width for j in same)
            left.append(replace(peak, width=width if len(same) == 1 else WIDER * width))
    return left


def _is_structure(wave: Peak, mean: Spectrum) -> bool:
    """Whether a wave's multiples are as strong as those of lines and edges that repeat: squared paper, tiles."""
    power, height, width = mean.power[wave.channels[0]], mean.height, mean.width

    def strength(multiple: int) -> float:
        ky, kx = round(multiple * wave.fy * height), round(multiple * wave.fx * width)
        most = float(at(power, width, ky + BESIDE[:, None], kx + BESIDE).max())
        least = OVER * around(power, width, Bins(np.array([ky]), np.array([kx])))[0]
        return most if most > least and multiple * max(abs(wave.fx), abs(wave.fy)) <= 0.5 else 0.0

    return sum(map(strength, (2, 3, 4))) > SHARP * strength(1)


def _notch(peak: Peak) -> Transfer:
    channels = None if peak.is_in_all else peak.channels
    return notch((peak.fx, peak.fy), width=f"{peak.width:.3g}cyc", channels=channels, mirrored=True)
