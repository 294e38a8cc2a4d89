"""Finds a printer's screens, and the gains that take them out and leave the picture.

    planes -> peaks -> screens: two waves of one period at a right angle -> notches -> Wiener's gains for what is left

A print shows gray levels by dots on a lattice, one lattice for each ink. Its waves, their multiples and the differences
between the inks' lattices (moire, rosettes) are peaks of the spectrum. Between these, the dots leave noise.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from ..arrays import Array
from ..transfer import Transfer
from ..transfer.fitted import NOTHING, Curve, Descreen
from .found import Peak
from .guard import STRONGEST, is_print, right_angles
from .power import Spectrum, spectrum
from .search import peaks_of, too_few
from .wiener import Rings, curve_of_screen, powers_behind

# A notch that serves two peaks, mirror images of each other, is so many times as wide as the wider one.
WIDER = 1.3
# Waves of lower frequencies, as parts of the screen's, are no moire of it, and stay.
LOWEST = 0.2


def screens_of(planes: Array, white: float, wanted: Descreen) -> tuple[Transfer | None, str]:
    """Return what takes the screens out of a picture, None if it has none, and in one line what that is.

    The picture is ``(channels, height, width)``, its first channel its brightness.
    """
    _, height, width = planes.shape
    mean = spectrum(planes, white)
    if too_few(mean):
        return None, NOTHING
    peaks = [one for peak in peaks_of(mean, wanted.strength) for one in peak.all()]
    if not is_print(peaks, mean):
        return None, NOTHING
    found = [one for one, _ in right_angles(peaks, STRONGEST)]
    lowest = LOWEST / found[0].period_px
    removed = [peak for peak in peaks if 1 / peak.period_px >= lowest]
    notches = prod((peak.own_notch(mirrored=True) for peak in _once(removed, mean)), start=Transfer(()))
    rings, transfer, kept = Rings.of(height, width), notches, wanted.keep_detail / 100
    for i, power in enumerate(powers_behind(notches, planes)):
        curve = curve_of_screen(rings, power, 1 / found[0].period_px, is_color=i > 0)
        gains = tuple(kept + (1 - kept) * gain for gain in curve.gains)
        transfer *= Transfer((replace(curve, gains=gains, channels=(i,) if len(planes) > 1 else None),))
    angles = [f"{peak.angle_deg % 90:.1f}" for peak in found]
    at = f"{', '.join(angles[:-1])} and {angles[-1]}" if len(angles) > 1 else angles[0]
    below = next(part.half for part in transfer.parts if isinstance(part, Curve))
    half = f", detail below {below:.1f} px is halved" if below else ""
    screen = f"screen of {found[0].period_px:.2f} px at {at} degrees"
    return transfer, f"{screen}: {len(removed)} waves are removed{half}"


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
