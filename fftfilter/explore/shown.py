"""A page of the file, and its pixels as a browser shows them: 8 bits, gray or RGB, reduced, in frames."""

from __future__ import annotations

import math
import struct
import threading
from collections.abc import Sequence
from enum import IntEnum
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from .. import images
from ..analysis.power import Spectrum, middle, spectrum
from ..arrays import Array, Holes, Pixels
from ..errors import ParameterError
from ..output.modes import MODES
from ..preview.panels import square
from ..work.opened import filled

# id, kind, channels, width, height, level, then x and y of the sent part: little-endian.
_HEADER = struct.Struct("<IHHIIIII4x")
# The share of samples that may become white where the largest value of the type says nothing about the picture.
CUT = 5e-4
# Number of samples that a picture's white is computed from.
ENOUGH = 1 << 18
# Fewest pixels of the longer side of the smallest level, and most pixels of a sum of waves.
SMALLEST, MOST_SUMMED = 512, 1 << 20
# Most pixels of a side of the spectrum.
LARGEST_SPECTRUM = 1024
# The side of the map of gains.
MAP = 256
# Steps of the pixels of a spectrum in a decibel; 255 is the strongest frequency.
STEPS = 2
# The squares that stand for missing pixels: their grays, and pixels of a side at the smallest level.
GRAYS, SQUARE = (153, 102), 8
# More pixels than a picture has a side.
WHOLE = 1 << 31
# Bars of a histogram, and the number of samples that it counts.
BARS, COUNTED = 128, 1 << 16
# Black, white and gamma.
Levels = tuple[float, float, float]


class Kind(IntEnum):
    """The content of a frame."""

    RESULT = 0
    INPUT = 1
    SPECTRUM = 2
    REMOVED = 3
    GAIN = 4
    LOUPE = 5


def frame(kind: Kind, pixels: Pixels, *, number: int = 0, level: int = 1, place: tuple[int, int] = (0, 0)) -> bytes:
    """Return a frame: a header of 32 bytes and the pixels ``(height, width)`` or ``(height, width, channels)``."""
    height, width, *channels = pixels.shape
    head = _HEADER.pack(number, kind, channels[0] if channels else 1, width, height, level, *place)
    return b"".join((head, np.ascontiguousarray(pixels).data))


def joined(planes: Sequence[Pixels] | Pixels) -> Pixels:
    """Return planes as gray ``(height, width)``, the first of two, or RGB ``(height, width, 3)``, the first three."""
    return np.asarray(planes[0]) if len(planes) < 3 else np.stack(tuple(planes[:3]), axis=-1)


def eight_bits(planes: Array, shown: Levels) -> Pixels:
    """Return gray levels from black to white as 8 bits; ``shown`` are black, white and gamma."""
    black, white, gamma = shown
    if planes.dtype == np.uint8 and shown == (0, 255, 1):
        return planes
    is_table = planes.dtype.kind == "u" and planes.size > np.iinfo(planes.dtype).max
    values = np.arange(np.iinfo(planes.dtype).max + 1) if is_table else planes
    parts = np.clip((values.astype(np.float32) - np.float32(black)) / np.float32(white - black), 0, 1)
    found = np.rint(255 * (parts if gamma == 1 else parts ** np.float32(1 / gamma))).astype(np.uint8)
    return np.asarray(found[planes] if is_table else found)


def extremes(planes: Array, cut: float = CUT) -> tuple[float, float]:
    """Return the levels of about the darkest and the brightest sample; some are left out at each end."""
    low, high = np.quantile(planes.reshape(-1)[:: max(1, planes.size // ENOUGH)], (cut, 1 - cut))
    return float(low), float(high if high > low else low + 1)


def around_gray(values: Array) -> Pixels:
    """Return planes of both signs as 8 bits, with 0 as mid-gray; DC is left out."""
    away = values - values.mean(axis=(1, 2), keepdims=True, dtype=np.float64).astype(np.float32)
    largest = max(float(away.max()), -float(away.min())) or 1.0
    away *= np.float32(127 / largest)
    away += np.float32(128.5)
    return np.asarray(away).astype(np.uint8)


def levels(height: int, width: int) -> list[int]:
    """Return the useful reductions of a picture: 1, 2, 4 ..."""
    coarsest = max(1, min(max(height, width) // SMALLEST, min(height, width) // 16))
    return [1 << i for i in range(coarsest.bit_length())]


def halved(planes: Array) -> Array:
    """Return planes of half the width and height: means of 2 x 2 pixels, of fewer at the end of odd sides."""
    if planes.shape[1] % 2 or planes.shape[2] % 2:
        planes = np.pad(planes, ((0, 0), (0, planes.shape[1] % 2), (0, planes.shape[2] % 2)), "edge")
    wide = np.float32 if planes.dtype.kind == "f" else np.uint32 if planes.dtype.itemsize > 1 else np.uint16
    rows = np.add(planes[:, ::2], planes[:, 1::2], dtype=wide)
    sums = rows[:, :, ::2] + rows[:, :, 1::2]
    if planes.dtype.kind == "f":
        return np.asarray(sums * np.float32(0.25))
    return np.asarray((sums + 2) >> 2).astype(planes.dtype)


def reduced(pixels: Pixels, level: int) -> Pixels:
    """Return an 8-bit image ``(height, width)`` reduced by a level: the means of squares, also of incomplete ones."""
    return pixels if level == 1 else np.asarray(Image.fromarray(pixels).reduce(level))


# Pages


class FilePage:
    """A page of the file. Its properties are computed when they are first used; a device transforms large pictures."""

    def __init__(self, picture: images.Picture, device: str | None, holes: Holes | None, finest: int) -> None:
        self.picture, self._device, self.holes = picture, device, holes
        self.missing = 0.0 if holes is None else float(holes.mean())
        self.size: tuple[int, int] = picture.planes.shape[1], picture.planes.shape[2]
        every = levels(*self.size)
        self.levels = [level for level in every if level >= finest] or every[-1:]
        """Those at which it is filtered: if memory is short, not the first ones."""
        self._levels: dict[int, Array] = {}
        self._boards: dict[int, Pixels] = {}
        self._lock = threading.Lock()
        self._spectrum: Spectrum | None = None

    @cached_property
    def shown(self) -> Levels:
        """The gray levels to show as black and as white, and gamma."""
        return (*self._extremes(CUT), 1.0)

    @cached_property
    def range(self) -> tuple[float, float]:
        """The gray levels between which histograms count."""
        return self._extremes(0)

    def _extremes(self, cut: float) -> tuple[float, float]:
        is_deep = self.picture.planes.dtype != np.uint8
        return extremes(self.planes(1), cut) if is_deep else (0.0, float(self.picture.maxval))

    @cached_property
    def cautions(self) -> list[str]:
        """The cautions on magnitudes of its samples."""
        return self.picture.cautions(MODES["magnitude"], self.holes, is_of_floats=True)

    def check_level(self, level: int) -> None:
        """Raise ParameterError for a level that the picture does not have."""
        if level not in self.levels:
            raise ParameterError(f"level {level} is not one of {', '.join(map(str, self.levels))}")

    @property
    def middle(self) -> Array:
        """The planes whose spectrum is computed: all of the picture, or its middle if memory is short."""
        return middle(self.planes(1), *(max(1, side // self.levels[0]) for side in self.size))

    def planes(self, level: int) -> Array:
        """Return the planes reduced by a level, with values for those samples that are missing."""
        if level not in self._levels:
            own = self.picture, self.holes, self._device
            self._levels[level] = filled(*own) if level == 1 else halved(self.planes(level // 2))
        return self._levels[level]

    def checkered(self, planes: Pixels, level: int, left: int = 0, top: int = 0) -> Pixels:
        """Return planes of 8 bits, from a pixel on, with squares of two grays where the picture has no value."""
        if self.holes is None:
            return planes
        if level not in self._boards:
            is_missing = reduced(np.where(self.holes.any(axis=0), np.uint8(255), np.uint8(0)), level) > 127
            side, (y, x) = SQUARE * levels(*self.size)[-1] // level, np.ogrid[tuple(map(slice, is_missing.shape))]
            board = np.where((x // side + y // side) % 2, *GRAYS)
            self._boards[level] = np.where(is_missing, board, 0).astype(np.uint8)
        board = self._boards[level][top : top + planes.shape[1], left : left + planes.shape[2]]
        return np.asarray(np.where(board, board, planes))

    def pixels(self, level: int, shown: Levels | None = None, view: Sequence[int] = (0, 0, WHOLE, WHOLE)) -> Pixels:
        """Return the picture, or its part from x, y to x, y of a level, to show; raises ParameterError for a level."""
        self.check_level(level)
        left, top, right, bottom = view
        part = self.planes(level)[:, top:bottom, left:right]
        return joined(self.checkered(eight_bits(part, shown or self.shown), level, left, top))

    def strongest(self, count: int) -> bytes:
        """Return the sum of the mean and of so many of the strongest waves, in gray, at the coarsest level or below."""
        pixels, level = self.pixels(self.levels[-1]), self.levels[-1]
        factor = math.isqrt(max(0, pixels.shape[0] * pixels.shape[1] - 1) // MOST_SUMMED) + 1
        pixels, level = reduced(pixels, factor), level * factor
        values = pixels.mean(axis=2) if pixels.ndim == 3 else pixels.astype(np.float64)
        spectrum, (height, width) = np.fft.rfft2(values), values.shape
        power = np.abs(spectrum)
        power[0, 0] = np.inf
        ranked = power.copy()
        for column in {0, width // 2} if width % 2 == 0 else {0}:  # in which each wave has both of its points
            ranked[height // 2 + 1 :, column] = 0
        least = np.sort(ranked, axis=None)[-min(count + 1, ranked.size)]
        kept = np.where(power >= least * (1 - 1e-9), spectrum, 0)
        summed = np.fft.irfft2(kept, values.shape).clip(0, 255)
        return frame(Kind.INPUT, np.rint(summed).astype(np.uint8), level=level)

    @property
    def spectrum(self) -> Spectrum:
        """The power spectrum."""
        with self._lock:
            self._spectrum = self._spectrum or spectrum(self.middle, self.picture.maxval, self._device)
            return self._spectrum

    def spectrum_pixels(self, channel: int | None = None) -> Pixels:
        """Return the power of a channel, or the mean of all, as a square with DC, the strongest, in the middle.

        It is in steps of 1/STEPS dB; the strongest is 255.
        """
        power = self.spectrum.power
        power = power.mean(axis=0, dtype=np.float64) if channel is None else power[channel].astype(np.float64)
        side = min(LARGEST_SPECTRUM, max(self.size))
        strongest = float(power.max()) or 1.0
        found = square(power, self.spectrum.width, (side, 1.0), np.maximum) / strongest
        found[side // 2, side // 2] = 1
        steps = np.rint(255 + 10 * STEPS * np.log10(np.maximum(found, 1e-30)))
        return np.asarray(np.clip(steps, 0, 255)).astype(np.uint8)

    def about(self) -> dict[str, Any]:
        """Return the histogram and the levels to show."""
        return {
            "histogram": histogram(self.planes(1), self.range, self.holes),
            "range": self.range,
            "shown": self.shown,
            "auto": (*extremes(self.planes(1)), 1.0),
        }

    def wave(self, fx: float, fy: float) -> dict[str, float]:
        """Return the amplitude of a wave in gray levels, the mean of the channels, and its phase at the corner."""
        planes = self.middle
        _, height, width = planes.shape
        down, across = (np.exp(-2j * np.pi * f * np.arange(n)) for f, n in ((fy, height), (fx, width)))
        found = np.array([down @ ((plane - plane.mean(dtype=np.float64)) @ across) for plane in planes])
        found *= 2 / (height * width)
        return {"amplitude": float(np.abs(found).mean()), "phase": float(np.angle(found.sum()))}


def at(planes: Array, points: NDArray[np.int64], holes: Holes | None) -> list[list[float | None]]:
    """Return samples at points ``(count, 2)``, x and y, or next to them; None for missing ones."""
    x, y = np.clip(points.T, 0, np.array(planes.shape[:0:-1])[:, None] - 1)
    found = planes[:, y, x].astype(np.float64).astype(object)
    if holes is not None:
        found[holes[:, y, x]] = None
    return cast("list[list[float | None]]", found.tolist())


def histogram(planes: Array, between: tuple[float, float], holes: Holes | None) -> list[int]:
    """Return the number of valid samples between two levels, in BARS equal parts, counted on an even subset."""
    step = max(1, int((planes.size / COUNTED) ** 0.5))
    counted = np.s_[:, ::step, ::step]
    samples = planes[counted] if holes is None else planes[counted][~holes[counted]]
    return [int(count) for count in np.histogram(samples, BARS, between)[0]]
