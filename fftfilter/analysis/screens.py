"""Finds a printer's screens, and the gains that take them out and leave the picture.

    planes -> peaks -> screens: two waves of one period at a right angle -> notches -> more where dots are left
    -> Wiener's gains for the rest

A print shows gray levels by dots on a lattice, one lattice for each ink. Its waves, their multiples and the differences
between the inks' lattices (moire, rosettes) are peaks of the spectrum. Between these, the dots leave noise.

Paper that is bent spreads a wave over several frequencies, each of which is that of a part of the picture. One notch is
deep in its middle only, so that dots would be left in the other parts.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..arrays import Array, strips
from ..transfer import Transfer
from ..transfer.fitted import NOTHING, WEAKEST, Descreen
from .found import Peak
from .guard import screens, without_content
from .power import Spectrum, spectrum
from .search import SMALLEST, too_few, waves_of
from .surroundings import Power
from .wiener import Rings, curve_of_screen, powers_behind

# Orthonormal: brightness, red - blue, and green against both.
OPPONENT = np.array([[1, 1, 1], [1, 0, -1], [-0.5, 1, -0.5]])
OPPONENT /= np.linalg.norm(OPPONENT, axis=1, keepdims=True)
# A notch that serves two peaks, mirror images of each other, is so many times as wide as the wider one.
WIDER = 1.3
# Waves of lower frequencies, as parts of the screen's, are no moire of it, and stay.
LOWEST = 0.2
# Degrees between the waves of one ink, which bent paper or noise draws apart; inks are 15 or 30 degrees apart. Their
# periods are one up to ONE_PERIOD, and their amplitudes OF_INK of the strongest or more: not those of combinations of
# waves, and of multiples that sampling folds back.
ONE_INK, ONE_PERIOD, OF_INK = 6.0, 0.01, 0.22
# Parts along each side of a picture that are searched if it seems to be no print, half of which have to be prints; a
# screen's two waves are BENT times as far apart there.
SIDES, BENT = 4, 2.5
# Dots are left where the mean power of SPOT x SPOT frequencies, within the width of a notch, is so many times that in
# all directions: another notch of a part of the width is put there, up to MOST for a wave. That is done to the
# brightness, for waves whose period is that of the screen up to a factor.
SPOT, TIMES, PART, MOST, OWN = 5, 5.5, 0.5, 4, 1.25
# Dots at random, and noise, leave this part of the power at periods of fewer pixels along an axis.
COARSE, GRAINY = 8, 0.2
# There are dots where the screens' waves have BARE to DOTS times the power of waves between them, or more, in cells of
# CELL periods, of which MOST_TIMES at most count; power counts from FAINT of that of strong dots up. What has none is
# kept apart if it is LEAST of the picture, and the power of dots is CERTAIN times that of waves between them.
CELL, BARE, DOTS, MOST_TIMES, FAINT, LEAST, CERTAIN = 2, 3.0, 5.5, 10.0, 0.01, 0.05, 20.0


def opponent(planes: Array, white: float, real: type[np.floating[Any]] = np.float32) -> Array:
    """Return the brightness and the color differences of planes of RGB, others as they are, as parts of ``white``."""
    mixed, made = (OPPONENT if len(planes) == 3 else np.eye(len(planes))).astype(real), np.empty(planes.shape, real)
    exact = real if np.can_cast(planes.dtype, real) and planes.dtype.kind == "u" else np.float64  # for any white
    for rows in strips(planes.shape[1]):
        made[:, rows] = np.tensordot(mixed, np.divide(planes[:, rows], white, dtype=exact), 1)
    return made


class Dots(NamedTuple):
    """The places of a picture that have dots; others, such as text and blank paper, are not filtered."""

    part: Array
    """From 0 to 1, ``(height, width)``."""
    means: Array
    """The mean of each channel there, ``(channels, 1, 1)``."""

    def keep(self, planes: Array) -> None:
        """Leave what planes have where there are dots, and put the means elsewhere."""
        planes -= self.means
        planes *= self.part
        planes += self.means


class Screens(NamedTuple):
    """What takes the screens out of a picture."""

    transfer: Transfer
    """Without parts if it has none."""
    note: str
    """What that is, in one line."""
    dots: Dots | None = None
    """None for everywhere."""


def screens_of(planes: Array, wanted: Descreen) -> Screens:
    """Return what takes the screens out of a picture.

    The picture is ``(channels, height, width)`` in parts of white, its first channel its brightness. What has
    no dots beside others that have is overwritten by the mean of these.
    """
    _, height, width = planes.shape
    mean = spectrum(planes)
    if few := too_few(mean):
        return Screens(Transfer(()), f"{NOTHING}; {few}")
    peaks = of_whole = waves_of(mean, wanted.strength)
    found, bent = screens(peaks, mean), ""
    dots, share, beside = _dots(planes, found) if found else None, 1.0, ""
    if dots:
        share, beside = float(np.square(dots.part).mean()), f", from {dots.part.mean():.0%} of the page"
        dots.keep(planes)
        mean = spectrum(planes)
        again = waves_of(mean, wanted.strength)
        if of_dots := screens(again, mean):
            found, peaks = of_dots, again
    if not found:
        found, peaks, bent = *_of_parts(peaks, planes, wanted.strength), " on bent paper"
    if not found:
        return Screens(Transfer(()), f"{NOTHING}; {_next(of_whole, mean)}")
    removed = [peak for peak in peaks if found[0].period_px >= LOWEST * peak.period_px]
    once = _once(removed, mean)
    del mean  # as large as the picture
    notches = prod((peak.own_notch(mirrored=True) for peak in once), start=Transfer(()))
    rings, transfer = Rings.of(height, width), notches
    for i, (power, passed) in enumerate(powers_behind(notches, planes)):
        np.divide(power, share, out=power)  # that of a picture with dots everywhere
        if i == 0:
            for peak in _left([each for each in once if 0 in each.channels and _is_near(each, found[0])], power, rings):
                transfer *= peak.own_notch(mirrored=True)
        curve = curve_of_screen(rings, power, passed, 1 / found[0].period_px, wanted.keep_detail / 100, is_color=i > 0)
        transfer *= Transfer((replace(curve, channels=(i,) if len(planes) > 1 else None),))
        del power  # before the next one is made
    screen = f"screen of {found[0].period_px:.2f} px{_inks(found)}{bent}"
    return Screens(transfer, f"{screen}: {len(removed)} waves are removed{beside}", dots)


def _next(peaks: list[Peak], mean: Spectrum) -> str:
    """Return what to try for a picture without a screen, by its waves."""
    if without_content(peaks, mean):
        return "try notch --auto for waves that do not cross"
    if screens(waves_of(mean, WEAKEST), mean):
        return f"try --strength {WEAKEST:g} for a faint one"
    power = mean.power[0]
    down, across = (n // COARSE for n in (mean.height, mean.width))
    if float(power[:down, :across].sum() + power[-down:, :across].sum()) >= (1 - GRAINY) * float(power.sum()):
        return "try notch --auto for hum, stripes --auto for lines"
    return "if it has dots at random, try lowpass --shape gaussian --radius 8px --output keep; wiener for noise"


def _dots(planes: Array, found: list[Peak]) -> Dots | None:
    """Return the places of the dots of screens, None if that is everywhere or uncertain."""
    first = np.array([complex(*peak.place) for peak in found])
    waves = np.concatenate([first, 1j * first])
    side = max(2, round(CELL * found[0].period_px))
    cells = _smooth(_cells(planes[0], np.concatenate([waves, waves * (1 + 1j) / 2]), side), 3)
    own, between = (_smooth(each.sum(axis=0), 1) for each in np.split(np.abs(cells) ** 2, 2))
    times = (own + FAINT * np.quantile(own, 0.9)) / np.maximum(between, np.finfo(np.float32).tiny)
    times = np.exp2(_smooth(np.log2(np.clip(times, 1 / MOST_TIMES, MOST_TIMES)), 6))
    is_dots = times > DOTS
    if own[is_dots].sum() <= CERTAIN * between[is_dots].sum() or np.mean(times < BARE) < LEAST:
        return None
    part = _at_pixels(np.clip((times - BARE) / (DOTS - BARE), 0, 1), planes[0].shape)
    return Dots(part, (np.tensordot(planes, part, 2) / part.sum())[:, None, None])


def _cells(plane: Array, waves: Array, side: int) -> Array:
    """Return the amplitudes of waves ``fx + i fy`` in cells of about that side, ``(waves, rows, columns)``."""
    waves = np.append(waves, 0)  # whose amplitude is the mean
    rows, down = _weights(plane.shape[0], side, waves.imag)
    columns, across = _weights(plane.shape[1], side, waves.real)
    of_rows = (np.tensordot(down[:, i], plane[row], 1)[:, columns] for i, row in enumerate(rows))
    made: Array = np.stack([np.einsum("wcs,wcs->wc", each, across) for each in of_rows], axis=1)
    # The mean itself has amplitudes, too: a cell holds no whole number of waves.
    made[:-1] -= made[-1] * down.sum(axis=2)[:-1, :, None] * across.sum(axis=2)[:-1, None]
    return made[:-1]


def _weights(n: int, side: int, waves: Array) -> tuple[Array, Array]:
    """Return the places of the equal parts of a line, ``(parts, places)``, and weights, ``(waves, parts, places)``.

    A part may begin and end within a pixel, so that those of a mirrored line are the mirror images.
    """
    edges = np.linspace(0, n, max(1, n // side) + 1)
    places = np.floor(edges[:-1, None]) + np.arange(np.ceil(edges[1]) + 1)
    covered = np.minimum(places + 1, edges[1:, None]) - np.maximum(places, edges[:-1, None])
    weights = covered.clip(0) / edges[1] * np.exp(-2j * np.pi * np.multiply.outer(waves, places))
    return np.minimum(places, n - 1).astype(np.intp), weights.astype(np.complex64)


def _smooth(cells: Array, times: int) -> Array:
    """Return cells ``(..., rows, columns)``, each as a mean with its neighbors, so many times."""
    for _ in range(2 * times):
        wide = np.concatenate([cells[..., :1], cells, cells[..., -1:]], axis=-1)
        cells = ((wide[..., :-2] + 2 * cells + wide[..., 2:]) / 4).swapaxes(-1, -2)
    return cells


def _at_pixels(cells: Array, shape: tuple[int, int]) -> Array:
    """Return cells as pixels, on straight lines between their centers."""
    for n in shape:
        places = (np.arange(n) + 0.5) / n * len(cells) - 0.5
        cells = np.array([np.interp(places, np.arange(len(cells)), line).astype(np.float32) for line in cells.T])
    return cells


def _inks(found: list[Peak]) -> str:
    """Return how many inks there are, and their angles; nothing if their waves cannot be told from combinations."""
    angles: list[float] = []
    for peak in found:
        is_known = any(abs((peak.angle_deg - each + 45) % 90 - 45) <= ONE_INK for each in angles)
        is_alike = abs(peak.period_px / found[0].period_px - 1) < ONE_PERIOD
        if is_alike != (peak.amplitude > OF_INK * found[0].amplitude) and not is_known:
            return ""
        if is_alike and not is_known:
            angles.append(peak.angle_deg % 90)
    at = " and ".join(", ".join(f"{each:.0f}" for each in sorted(angles)).rsplit(", ", 1))
    return f", {len(angles)} ink{'s' * (len(angles) > 1)} at {at} degrees"


def _of_parts(of_whole: list[Peak], planes: Array, strength: float) -> tuple[list[Peak], list[Peak]]:
    """Return the usual screen of a picture whose parts are prints, as bent paper's are, and the waves of all parts.

    The strongest wave of the whole has about that period. That of bricks or tiles, which have few in a part, has not.
    """
    height, width = (n // SIDES for n in planes.shape[1:])
    found, waves = [], []
    for y, x in np.ndindex(SIDES, SIDES) if of_whole and min(height, width) >= SMALLEST else ():
        mean = spectrum(planes[:, y * height : (y + 1) * height, x * width : (x + 1) * width])
        peaks = waves_of(mean, strength)
        if of_part := screens(peaks, mean, BENT):
            found.append(of_part[0])
            waves += peaks
    if 2 * len(found) < SIDES**2:
        return [], []
    usual = sorted(found, key=lambda each: each.period_px)[len(found) // 2]
    return ([usual], waves) if _is_near(max(of_whole, key=lambda each: each.amplitude), usual) else ([], [])


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


def _is_near(peak: Peak, screen: Peak) -> bool:
    return 1 / OWN <= peak.period_px / screen.period_px <= OWN


def _left(waves: list[Peak], power: Power, rings: Rings) -> list[Peak]:
    """Return what is left of waves behind their notches, as more peaks, and take it out of the power.

    The power is that of the mirrored brightness, ``(height, width)``.
    """
    height, width = power.shape
    expected = np.append(np.inf, np.maximum(rings.mean(power), np.finfo(np.float32).tiny))  # not at DC
    left: list[Peak] = []
    for wave in waves:
        fx, fy, reach = abs(wave.fx), abs(wave.fy), 2 * wave.width
        rows = np.arange(max(0, int((fy - reach) * 2 * height)), min(height, int((fy + reach) * 2 * height) + 1))
        columns = np.arange(max(0, int((fx - reach) * 2 * width)), min(width, int((fx + reach) * 2 * width) + 1))
        near, y, x = np.ix_(rows, columns), rows[:, None] / (2 * height), columns / (2 * width)
        usual = np.where(np.hypot(y - fy, x - fx) <= wave.width, expected[rings.of_bins[near]], np.inf)
        for _ in range(MOST):
            spots = sliding_window_view(np.pad(power[near], SPOT // 2, "edge"), (SPOT, SPOT)).mean(axis=(2, 3))
            row, column = np.unravel_index(np.argmax(spots / usual), spots.shape)
            if spots[row, column] < TIMES * usual[row, column]:
                break
            at, part = (float(x[column]), float(y[row, 0])), PART * wave.width
            left.append(replace(wave, fx=at[0], fy=at[1], width=part, channels=(0,)))
            power[near] *= (1 - np.exp2(-((x - at[0]) ** 2 + (y - at[1]) ** 2) / part**2)) ** 2
    return left
