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

from ..arrays import Array, Floats
from ..transfer import Transfer
from ..transfer.fitted import Curve

Power = NDArray[np.float32]


# Rings in an octave: narrower ones follow the noise of a spectrum, wider ones lose its shape.
AN_OCTAVE = 4
# Fewest frequencies of a ring in which noise is measured.
FEWEST = 64
# What is left of a screen has so many times the power a little above its frequency: in brightness, and in colors.
OF_BRIGHTNESS, OF_COLOR = 0.75, 1.5
# For colors: the signal falls by at least this part of its steepest fall at lower frequencies, and by at most a factor
# of 2^STEEPEST for an octave.
FALLS, STEEPEST = 0.3, 9.0


class Rings(NamedTuple):
    """Rings of the frequencies of a mirrored picture."""

    f: Power
    """The distance of each frequency from DC in cycles per pixel, ``(height, width)``."""
    of_bins: NDArray[np.intp]
    """The ring of each frequency."""
    counts: NDArray[np.intp]
    """The number of frequencies in each; the first ring is DC."""
    octaves: Floats
    """The logarithm to base 2 of the mean frequency of each ring but the first."""

    @classmethod
    def of(cls, height: int, width: int) -> Rings:
        """Return the rings of pictures of a size."""
        fy, fx = (np.arange(n, dtype=np.float32) / np.float32(2 * n) for n in (height, width))
        f = np.hypot(fy[:, None], fx)
        f[0, 0] = lowest = np.float32(0.5 / max(height, width))
        ring = (np.log2(f / lowest) * AN_OCTAVE + 1.5).astype(np.intp)
        ring[0, 0] = f[0, 0] = 0
        # Without those that have no frequency.
        counts = np.bincount(ring.ravel())
        ring = (np.cumsum(counts > 0) - 1)[ring]
        counts = counts[counts > 0]
        sums = np.bincount(ring.ravel(), f.ravel())
        return cls(f, ring, counts, np.log2(sums[1:] / counts[1:]))

    def mean(self, power: Array) -> Floats:
        """Return the mean power in each ring but the first."""
        return np.asarray(np.bincount(self.of_bins.ravel(), power.ravel())[1:] / self.counts[1:])


def power_of(plane: Array) -> Power:
    """Return the power of a mirrored plane at half cycles along each side, ``(height, width)``."""
    return np.asarray(np.square(cosines(cosines(plane.astype(np.float32) - np.float32(plane.mean())).T).T))


def powers_behind(transfer: Transfer, planes: Array) -> Iterator[Power]:
    """Yield what a transfer function leaves of the power of each plane ``(channels, height, width)``, mirrored."""
    count, height, width = planes.shape
    filters = [each.on_twice_the_sides() for each in transfer.of_channels(count)]
    grids = [np.square(each.gain(2 * height, 2 * width, height, width), dtype=np.float32) for each in filters]
    for i, plane in enumerate(planes):
        yield power_of(plane) * grids[i % len(grids)]


def cosines(values: Array) -> Array:
    """Return the sums of values times cos(pi k (i + 1/2) / n) along the last axis, k from 0 to n - 1.

    Source: J. Makhoul, A fast cosine transform in one and two dimensions (1980).
    """
    n = values.shape[-1]
    half = np.fft.rfft(np.concatenate([values[..., ::2], values[..., 1::2][..., ::-1]], axis=-1))
    half *= np.exp(-0.5j * np.pi / n * np.arange(n // 2 + 1)).astype(half.dtype)
    above = -half.imag[..., 1 : (n + 1) // 2]
    return np.concatenate([half.real, above[..., ::-1]], axis=-1)


def curve(rings: Rings, power: Array, noise: float | None, white: float) -> Curve:
    """Return Wiener's gains for a power; ``noise`` is in levels of 255, None for that of the lowest ring."""
    mean, unit = rings.mean(power), 4 / power.size * (255 / white) ** 2
    if noise is None:
        counts = rings.counts[1:]
        level = float(mean[counts >= min(FEWEST, counts.max(initial=1))].min(initial=np.inf)) if mean.size else 0.0
    else:
        level = noise**2 / unit if unit else np.inf  # of a picture whose square is none of a float
    return replace(_curve(rings, mean - level, mean), noise=float(np.sqrt(level * unit)) if noise is None else noise)


def curve_of_screen(rings: Rings, power: Array, screen: float, *, is_color: bool) -> Curve:
    """Return Wiener's gains for the power of a print whose screen's waves are taken out.

    What is left of a screen, and all that dots cannot show, is noise: about the power a little above the frequency of
    the ``screen``. From a third of that on, the signal does not rise. That of colors, which pictures have few details
    of, goes on falling.
    """
    mean, octaves = rings.mean(power), rings.octaves - np.log2(screen)
    beyond = power[(rings.f >= 1.1 * screen) & (rings.f <= 1.4 * screen)]
    noise = (OF_COLOR if is_color else OF_BRIGHTNESS) * float(beyond.mean()) if beyond.size else 0.0
    signal = np.maximum(mean - noise, 0)
    high = octaves >= np.log2(0.3)
    signal[high] = np.minimum.accumulate(signal[high])
    return _curve(rings, _falling(signal, octaves) if is_color else signal, mean)


def _curve(rings: Rings, signal: Floats, mean: Floats) -> Curve:
    if not mean.size:  # one pixel
        return Curve((0.0,), (1.0,))
    gains = np.where(mean > 0, np.clip(signal / np.where(mean > 0, mean, 1), 0, 1), 1)
    return Curve(tuple(rings.octaves.tolist()), tuple(gains.tolist()))


def _falling(signal: Floats, octaves: Floats) -> Floats:
    """Return a signal that falls above 0.15 of a screen's frequency, as colors do; octaves are relative to that."""
    logs = np.log2(np.maximum(signal, np.finfo(float).tiny))
    first = int(np.searchsorted(octaves, np.log2(0.15)))
    before = (octaves >= np.log2(0.025)) & (octaves <= np.log2(0.3))
    for i in range(max(first, 1), len(logs)):
        known = np.flatnonzero(before & (octaves <= octaves[i]))
        lower = np.interp(octaves[known] - 1, octaves, logs, left=-np.inf)
        steepest = min(max(float((lower - logs[known]).max(initial=0)), 0), STEEPEST)
        logs[i] = min(logs[i], logs[i - 1] - FALLS * steepest * (octaves[i] - octaves[i - 1]))
    return np.asarray(2.0**logs)
