"""The effect of a filter on a picture, as numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..analysis.fit import fit
from ..analysis.power import backward, forward, spectrum
from ..arrays import Array, Floats
from ..output.modes import Channels
from ..region import of_channels, part_of
from ..transfer import Transfer
from ..transfer.product import Edges, grid_with

# Number of rings of frequencies, the points of curves.
RINGS = 240
HIGHEST = float(np.sqrt(0.5))  # cycles per pixel in a corner of the spectrum
# Up to this many parts of a kind are described one by one.
TOLD = 3
# Transforms of pictures with smaller values stay within single precision.
LARGEST = 1e20


class Rings(NamedTuple):
    """Gains, and the mean power before and after the filter, by cycles per pixel; empty rings are left out."""

    frequency: Floats
    least: Floats
    mean: Floats
    most: Floats
    before: Floats
    after: Floats


@dataclass(eq=False)
class FilterReport:
    """A picture, and the effect of a filter on it."""

    planes: Array  # (channels, height, width)
    white: float
    transfer: Transfer
    edges: Edges = "wrap"
    device: str | int | None = None  # that transforms large planes, as Filter takes it
    weight: Array | None = None  # that of the filtered picture in each pixel, (height, width), if not 1 everywhere
    channels: Channels | None = None  # the part of color pictures that is filtered; None for all channels

    def __post_init__(self) -> None:
        self.transfer, left, _ = fit(self.transfer, self.planes, self.white)
        is_whole = left is self.planes
        self.planes, unit = within_single(self.planes)
        # The planes without what is taken out of them before the transform
        self.left = self.planes if is_whole else left / unit
        self.white /= unit
        if self.channels == "chroma" and len(self.planes) == 1:
            self.transfer, self.channels = Transfer(()), None  # gray pictures have none
        self.part = part_of(self.planes, self.channels)  # what is filtered
        self.size: tuple[int, int] = self.planes.shape[1], self.planes.shape[2]

    @cached_property
    def _powers(self) -> list[Floats]:
        """The power of each channel, or the mean of all if they are filtered alike."""
        powers = spectrum(self.part, self.white, self.device).power
        alike = not self.transfer.is_by_channel
        return [powers.mean(axis=0, dtype=np.float64)] if alike else list(powers.astype(np.float64))

    @cached_property
    def _gains(self) -> list[Floats]:
        """H for each of :attr:`_powers`."""
        return [_half(each, *self.size) for each in self.transfer.of_channels(len(self.planes))]

    @cached_property
    def power(self) -> Floats:
        """The mean power of all channels, ``(height, width // 2 + 1)``, kx from 0 up, under a Hann window."""
        return np.asarray(np.mean(self._powers, axis=0))

    @cached_property
    def gain(self) -> Floats:
        """H, in the shape of :attr:`power`: the mean of H(k) and H(-k), and of all channels."""
        return np.asarray(np.mean(self._gains, axis=0))

    def _times(self, factor: Callable[[Floats], Floats]) -> Floats:
        """Return the mean power of all channels, each times a factor of its own gains."""
        made = np.zeros_like(self._powers[0])
        for power, gain in zip(self._powers, self._gains, strict=True):
            made += power * factor(gain)
        made /= len(self._gains)
        return made

    @cached_property
    def removed(self) -> Array:
        """The input minus the filtered values, float32 ``(channels, height, width)``; DC is left out."""
        height, width = self.size
        grids = [grid_with(self.edges, each, height, width) for each in self.transfer.of_channels(len(self.planes))]
        beyond = (0, grids[0].height - height), (0, grids[0].width - width)
        removed = np.empty(self.part.shape, np.float32)
        for i, (left, result) in enumerate(zip(part_of(self.left, self.channels), removed, strict=True)):
            if i < len(grids):  # else that of the channel before
                lost = (1 - _half(grids[i].transfer, grids[i].height, grids[i].width)).astype(np.float32)
                lost[0, 0] = 0
            away = (left - np.float32(left.mean())).astype(np.float32, copy=False)
            whole = np.pad(away, beyond, "symmetric")
            result[:] = backward(forward(whole, self.device) * lost, whole.shape, self.device)[:height, :width]
        removed += (self.part - part_of(self.left, self.channels)).astype(np.float32)
        whole = np.stack(of_channels(removed, self.channels)) if self.channels else removed
        return whole if self.weight is None else whole * self.weight

    @cached_property
    def share(self) -> float:
        """The removed part of the picture's power without its mean, by (1 - H)^2."""
        weights = np.full(self.power.shape[1], 2.0)  # conjugates count, too
        weights[0] = 1
        if self.size[1] % 2 == 0:
            weights[-1] = 1
        whole = float((self.power * weights).sum())
        lost = float((self._times(lambda gain: np.square(1 - gain)) * weights).sum())
        before = float(np.var(self.planes, axis=(1, 2)).sum())
        of_lines = float(np.var(self.planes - self.left, axis=(1, 2)).sum()) / before if before else 0.0
        return lost / whole + of_lines if whole else 0.0

    @cached_property
    def rings(self) -> Rings:
        """Gains and power by frequency, in rings that are equally far apart in octaves."""
        height, width = self.size
        f = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width))
        f[0, 0] = 1 / min(height, width) / 2
        low = 0.7 / min(height, width)
        ring = np.log(f / low) * ((RINGS - 1) / np.log(HIGHEST / low))
        ring = np.clip(ring, 0, RINGS - 1).astype(np.intp).ravel()
        least, most = np.full(RINGS, np.inf), np.full(RINGS, -np.inf)
        for each in self._gains:
            np.minimum.at(least, ring, each.ravel())
            np.maximum.at(most, ring, each.ravel())
        is_counted = np.ones(ring.size)
        is_counted[0] = ring.size == 1  # without DC
        count = np.bincount(ring, is_counted, RINGS)
        known = count > 0

        def mean(values: Floats) -> Floats:
            return np.bincount(ring, values.ravel() * is_counted, RINGS)[known] / count[known]

        after = self._times(np.square)
        return Rings(mean(f), least[known], mean(self.gain), most[known], mean(self.power), mean(after))


def about_filter(
    transfer: Transfer, depth: float | None, channels: Channels | None, nothing: str = "everything passes"
) -> str:
    """Return a filter in one line, with the number of parts of a kind that has many."""
    counts = Counter(part.plural for part in transfer.parts if part.plural)
    many = {plural: f"{count} {plural}" for plural, count in counts.items() if count > TOLD}
    others = [str(part) for part in transfer.parts if part.plural not in many]
    said = " * ".join([*others, *many.values()]) or nothing
    return said + ("" if depth is None else f", depth {depth:g} dB") + (f", {channels} alone" if channels else "")


def within_single(planes: Array) -> tuple[Array, float]:
    """Return planes whose transforms fit single precision, and the factor by which they were divided."""
    largest = float(np.abs(planes).max()) if planes.dtype.kind == "f" else 0.0
    return (planes / np.float32(largest), largest) if largest > LARGEST else (planes, 1.0)


def _half(transfer: Transfer, height: int, width: int) -> Floats:
    """Return H on half a grid, kx from 0 up: for a real picture, the mean of H(k) and H(-k); of complex ones |H|."""
    half = slice(width // 2 + 1)
    if transfer.is_complex or transfer.is_even:
        gain = transfer.gain(height, width, columns=half.stop)
        return np.abs(gain) if transfer.is_complex else gain
    gain = transfer.gain(height, width)
    return (gain[:, half] + np.roll(gain[::-1, ::-1], (1, 1), (0, 1))[:, half]) / 2
