"""Measures the gains of Wiener's filter in the power spectrum of a picture.

    H = S / R    R: the mean power in rings of a quarter of an octave    S = max(0, R - N)

The power is that of the mirrored picture, whose borders leave no cross: the square of its cosine transform.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, Floats, strips
from ..transfer import Transfer
from ..transfer.fitted import Band, Curve
from .surroundings import Power

# Rings in an octave: narrower ones follow the noise of a spectrum, wider ones lose its shape.
AN_OCTAVE = 4
# Fewest frequencies of a ring in which noise is measured.
FEWEST = 64
TINY = float(np.finfo(np.float32).tiny)
# The noise of prints, of brightness and of colors: the part of the mean power in rings from one to another multiple of
# the screen's frequency; and the multiple at which half of a usual print's detail is left.
OF_BRIGHTNESS, OF_COLOR = (0.8, 0.85, 1.2, 0.6), (0.9, 0.6, 0.9, 0.3)
# Bands of detail: the deviations of the blurs between them, in periods of the screen.
BANDS = 0.4, 1.0


class Rings(NamedTuple):
    """Rings of the frequencies of a mirrored picture."""

    of_bins: NDArray[np.uint8]
    """The ring of each frequency, ``(height, width)``."""
    counts: NDArray[np.intp]
    """The number of frequencies in each; the first ring is DC."""
    octaves: Floats
    """The logarithm to base 2 of the mean frequency of each ring but the first."""

    @classmethod
    def of(cls, height: int, width: int) -> Rings:
        """Return the rings of pictures of a size."""
        fy, fx = (np.arange(n, dtype=np.float32) / np.float32(2 * n) for n in (height, width))
        lowest, ring = np.float32(0.5 / max(height, width)), np.empty((height, width), np.uint8)
        counts, sums = np.zeros(256, np.intp), np.zeros(256)
        for rows in strips(height):
            f = np.hypot(fy[rows, None], fx)
            ring[rows] = np.log2(np.maximum(f, lowest) / lowest) * AN_OCTAVE + 1.5
            if not rows.start:
                ring[0, 0] = 0
            counts += np.bincount(ring[rows].ravel(), minlength=256)
            sums += np.bincount(ring[rows].ravel(), f.ravel(), 256)
        is_one = counts > 0  # without those that have no frequency
        ring = (np.cumsum(is_one) - 1).astype(np.uint8)[ring]
        return cls(ring, counts[is_one], np.log2(sums[is_one][1:] / counts[is_one][1:]))

    def mean(self, power: Array) -> Floats:
        """Return the mean power in each ring but the first."""
        sums = np.zeros(len(self.counts))
        for rows in strips(len(power)):
            sums += np.bincount(self.of_bins[rows].ravel(), power[rows].ravel(), len(sums))
        return np.asarray(sums[1:] / self.counts[1:])


def power_of(plane: Array) -> Power:
    """Return the power of a mirrored plane at half cycles along each side, ``(height, width)``."""
    made = np.subtract(plane, np.float32(plane.mean(dtype=np.float64)), dtype=np.float32)
    cosines(made, out=made)
    cosines(made.T, out=made.T)
    return np.square(made, out=made)


def powers_behind(transfer: Transfer, planes: Array) -> Iterator[tuple[Power, Power]]:
    """Yield what a transfer function leaves of the power of each plane ``(channels, height, width)``, mirrored.

    With it comes the part of power that it leaves at each frequency, in an array that the next plane takes again.
    """
    count, height, width = planes.shape
    filters, grid = [each.on_twice_the_sides() for each in transfer.of_channels(count)], np.empty((height, width), "f4")
    for i, plane in enumerate(planes):
        start = 0
        for gain in filters[i].bands(2 * height, 2 * width, height, width) if i < len(filters) else ():
            np.square(gain, out=grid[start : start + len(gain)], dtype=np.float32)
            start += len(gain)
        power = power_of(plane)
        power *= grid
        yield power, grid
        del power  # before the next one is made


def cosines(values: Array, out: Array | None = None) -> Array:
    """Return the sums of values times cos(pi k (i + 1/2) / n) along rows, k from 0 to n - 1.

    ``out`` takes them, and may be the values. Source: J. Makhoul, A fast cosine transform in one and two dimensions
    (1980).
    """
    n, made = values.shape[-1], np.empty(values.shape, values.dtype) if out is None else out
    turns = np.exp(-0.5j * np.pi / n * np.arange(n // 2 + 1))
    for rows in strips(len(values)):
        half = np.fft.rfft(np.concatenate([values[rows, ::2], values[rows, 1::2][:, ::-1]], axis=1))
        half *= turns.astype(half.dtype)
        above = -half.imag[:, 1 : (n + 1) // 2]
        np.concatenate([half.real, above[:, ::-1]], axis=1, out=made[rows])
    return made


def curve(rings: Rings, power: Array, noise: float | None, unit: float = 1.0) -> Curve:
    """Return Wiener's gains for the power of values in a unit of the file.

    ``noise`` is its standard deviation there, None for that of the lowest ring.
    """
    mean, of_power = rings.mean(power), 4 / power.size
    if noise is None:
        counts = rings.counts[1:]
        level = float(mean[counts >= min(FEWEST, counts.max(initial=1))].min(initial=np.inf)) if mean.size else 0.0
    else:
        level = min(noise / unit, 1e60) ** 2 / of_power  # whose square is a float
    found = float(np.sqrt(level * of_power)) * unit if noise is None else noise
    return replace(_curve(rings, mean - level, mean), noise=found)


def curve_of_screen(
    rings: Rings, power: Array, passed: Array, screen: float, kept: float = 0.0, *, is_color: bool = False
) -> Curve:
    """Return the gains for the power of a print behind notches that pass a part of it, with bands of detail.

    What is left of a screen, and all that dots cannot show, is noise, whose power is about that near the frequency of
    the ``screen``. From a third of that on, the signal does not rise. The gains are the harmonic mean of Wiener's and
    those of a usual print: in a single one, noise and detail near the screen cannot be told apart, but a smooth picture
    can. ``kept`` is the part of what they take that stays; below 0 they take so much more.
    """
    if power.size == 1:
        return Curve((0.0,), (1.0,))
    left = rings.mean(passed)
    mean, f = rings.mean(power) / np.maximum(left, TINY), 2**rings.octaves / screen
    part, low, high, half = OF_COLOR if is_color else OF_BRIGHTNESS
    counts = rings.counts[1:] * left
    weights = counts * ((f > low) & (f < high))
    noise = part * float(weights @ mean) / max(float(weights.sum()), TINY)
    signal = np.maximum(mean - noise, 0)
    signal[f >= 0.3] = np.minimum.accumulate(signal[f >= 0.3])
    curve = _curve(rings, signal, mean)
    inverse = (1 / np.maximum(np.array(curve.gains), TINY) + 1 + (f / half) ** 4) / 2
    gains = np.maximum(kept + (1 - kept) / inverse, 0)
    bands, above = [], np.ones_like(f)
    for periods in BANDS:
        below = np.exp(-2 * (np.pi * periods * f) ** 2)
        weights = 4 / power.size**2 * counts * np.square(above - below)
        whole, noisy, before = (float(weights @ each) for each in (gains**2 * mean, gains**2 * noise, 0 * f + noise))
        detail = max(whole - noisy, 0)
        bands.append(Band(periods / screen, noisy, before / 2, detail / max(detail + before / 2, TINY), max(kept, 0)))
        above = below
    return replace(curve, gains=tuple(gains.tolist()), bands=tuple(bands))


def _curve(rings: Rings, signal: Floats, mean: Floats) -> Curve:
    if not mean.size:  # one pixel
        return Curve((0.0,), (1.0,))
    gains = np.where(mean > 0, np.clip(signal / np.where(mean > 0, mean, 1), 0, 1), 1)
    return Curve(tuple(rings.octaves.tolist()), tuple(gains.tolist()))
