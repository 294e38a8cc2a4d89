"""RGB pictures of a filter's effect, at the size in which they are shown; cutoffs; results of a pipeline's steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from PIL import Image

from ..arrays import Array, Pixels
from ..transfer.part import Ridge, Ring
from .drawing import REMOVED, SMALL, Canvas, Corners, Fine
from .report import FilterReport

# In a spectrum, black is so far below the median, as a logarithm of power; this share of the frequencies may become
# white; the tint has this opacity.
BLACK, WHITE, TINT = 3.0, 2e-4, 0.65
# The share of pixels of the removed part that may become black or white.
CUT = 0.002
WHITE_INK, YELLOW_INK = (255, 255, 255), (255, 225, 90)
# Around labels on a spectrum.
HALO: dict[str, Any] = {"stroke_width": 2, "stroke_fill": (0, 0, 0)}
# Most peaks that are labeled: more labels would cover the spectrum.
LABELED = 4
# Least radius of a mark in pixels.
SMALLEST = 4
# What is drawn of the spectrum reaches BEYOND times the cutoffs, and has at least FEWEST frequencies. If that is more
# than MOST of the spectrum, PART of it is drawn.
BEYOND, MOST, PART, FEWEST = 1.4, 0.8, 0.25, 32


def resized(planes: Array, side: int) -> Array:
    """Return planes ``(channels, height, width)`` as floats that fit into a square, enlarged at most eight times."""
    _, height, width = planes.shape
    factor = min(side / max(height, width), 8)
    if factor > 1:
        factor = int(factor)
    size = max(1, round(width * factor)), max(1, round(height * factor))
    how = Image.Resampling.NEAREST if factor >= 1 else Image.Resampling.BOX
    return np.stack([np.asarray(Image.fromarray(plane.astype(np.float32)).resize(size, how)) for plane in planes])


def shown(planes: Array, white: float, side: int) -> Pixels:
    """Return the picture to show, ``(height, width, 3)``; floats beyond black and white are scaled to their range."""
    if planes.dtype.kind == "f" and (planes.min() < 0 or planes.max() > white):
        return _between(planes, float(planes.min()), float(planes.max()), side)
    return _between(planes, 0.0, white, side)


def _between(planes: Array, black: float, white: float, side: int) -> Pixels:
    """Return planes as RGB ``(height, width, 3)``: one or two as gray, the first; more as colors, the first three."""
    levels = (resized(planes, side) - black) * (255 / ((white - black) or 1))
    pixels = np.clip(np.rint(levels), 0, 255).astype(np.uint8)[: 3 if len(planes) > 2 else 1]
    return np.ascontiguousarray(np.broadcast_to(pixels, (3, *pixels.shape[1:])).transpose(1, 2, 0))


def removed(lost: Array, white: float, side: int) -> tuple[Pixels, float]:
    """Return the removed part, with 0 as mid-gray, and the value of its white if that of the picture is 255."""
    planes = resized(lost, side)
    largest = float(np.quantile(np.abs(planes), 1 - CUT)) or float(np.abs(planes).max()) or white / 255
    return _between(planes, -largest, largest, max(planes.shape[1:])), 255 * largest / white


def pictures(
    report: FilterReport, result: Array, white: float, side: int, *, part: Any = ..., span: float = 1.0
) -> tuple[list[Pixels], float]:
    """Return the input, its spectrum, the result with its white and the removed part, and the value of its white.

    Of pictures all or a ``part``, and the spectrum ``span`` cycles per pixel wide.
    """
    before, after = shown(report.planes[part], report.white, side), shown(result[part], white, side)
    lost, level = removed(report.removed[part], report.white, side)
    return [before, spectrum(report, side, span), after, lost], level


def spectrum(report: FilterReport, side: int, span: float = 1.0) -> Pixels:
    """Return the logarithm of the power, DC in the middle, with a tint over the frequencies that the filter removes.

    It is ``span`` cycles per pixel wide and high. A pixel shows the strongest of its frequencies, so that no peak is
    lost.
    """
    size, power = (side, span), report.power.copy()
    power[0, 0] = power.max()  # the mean was subtracted
    power = square(power, report.size[1], size, np.maximum)
    logs = np.log(np.maximum(power, power.max() * 1e-14) if power.max() else np.ones_like(power))
    low, high = np.median(logs) - BLACK, np.quantile(logs, 1 - WHITE)
    gray = (np.clip((logs - low) / ((high - low) or 1), 0, 1) * 255)[..., None]
    down, across = (_binned(np.ones(n), 0, size, np.add) for n in report.size)
    share = square(report.gain, report.size[1], size, np.add) / np.outer(down, across)
    tint = TINT * (1 - np.clip(np.abs(share), 0, 1))[..., None]
    tinted = np.array(REMOVED) * (0.45 + 0.55 * gray / 255)
    return np.asarray(np.rint(gray * (1 - tint) + tinted * tint)).astype(np.uint8)


def square(half: Array, width: int, size: tuple[int, float], join: np.ufunc) -> Array:
    """Return a half spectrum as a square of pixels, each of which joins its frequencies.

    The half is ``(height, width // 2 + 1)``, kx from 0 up. ``size`` is the side in pixels and in cycles per pixel.
    DC is at the pixel ``side // 2``.
    """
    height = len(half)
    ky = np.arange(height) - height // 2
    # Rows first, of both halves: that leaves few of them.
    right = _binned(half[ky], 0, size, join)
    left = _binned(half[-ky, 1 : (width + 1) // 2], 0, size, join)
    whole = np.fft.fftshift(np.concatenate([right, left[:, ::-1]], axis=1), axes=1)
    return _binned(whole, 1, size, join)


def _binned(values: Array, axis: int, size: tuple[int, float], join: np.ufunc) -> Array:
    """Return values joined to pixels along an axis of frequencies, DC in the middle."""
    (side, span), n = size, values.shape[axis]
    # The pixel of frequency 0 is the middle one, side // 2, for every n.
    place = (np.arange(side + 1) - side // 2) * (n * span / side)
    if n * span < side:
        nearest = np.clip(np.rint(place[:-1]).astype(np.int64) + n // 2, 0, n - 1)
        return np.asarray(values.take(nearest, axis))
    first = np.clip(np.floor(place + 1e-9).astype(np.int64) + n // 2, 0, n)
    inside = values[: first[-1]] if axis == 0 else values[:, : first[-1]]
    return np.asarray(join.reduceat(inside, first[:-1], axis))


# The cutoffs over a spectrum, with their labels


def cutoff_span(report: FilterReport) -> float:
    """Return the width of the part of the spectrum around the cutoffs, in cycles per pixel."""
    ends = [
        math.hypot(mark.fx, mark.fy) + mark.radius if isinstance(mark, Ring) else 1.0
        for mark in report.transfer.marks(*report.size)
    ]
    wide = max(2 * BEYOND * max(ends, default=1.0), FEWEST / min(report.size))
    return wide if wide < MOST else PART


def draw_cutoffs(canvas: Canvas, corners: Corners, report: FilterReport, span: float) -> None:
    """Draw the cutoffs over a spectrum that is ``span`` cycles per pixel wide."""
    left, top, right, _ = corners
    panel = right - left + 1
    scale = panel / span

    def at(fx: float, fy: float) -> tuple[float, float]:
        return left + panel // 2 + 0.5 + fx * scale, top + panel // 2 + 0.5 + fy * scale

    marks = [*report.transfer.marks(*report.size)]
    rings = [mark for mark in marks if isinstance(mark, Ring) and _is_inside(mark, span / 2)]
    ridges = [mark for mark in marks if isinstance(mark, Ridge)]
    with Fine(canvas, corners) as fine:
        for ring in rings:
            if ring.is_cutoff:
                fine.circle(at(0, 0), ring.radius * scale, YELLOW_INK, 1, ring.stretch)
            else:
                fine.circle(at(ring.fx, ring.fy), max(SMALLEST, ring.radius * scale) + 1, WHITE_INK)
        for ridge in ridges:
            for sign in (1, -1):
                fine.line([at(sign * f * ridge.fx, sign * f * ridge.fy) for f in (ridge.spare, 1)], WHITE_INK, 1)
    for i, ring in enumerate(ring for ring in rings if ring.is_cutoff):
        # The outer ring's label is above it to the right, the inner ring's below it to the left.
        away = (min(ring.radius, span / 2 - 14 / scale) * 0.7071 + 5 / scale) * (-1 if i % 2 else 1)
        canvas.text(*at(away, -away), ring.label, SMALL, YELLOW_INK, "rt" if i % 2 else "lb", **HALO)
    peaks = [ring for ring in rings if not ring.is_cutoff]
    for ring in peaks[::2] if len(peaks) <= 2 * LABELED else ():
        is_left = ring.fx > 0.2 * span  # there is no room to the right
        reach = (max(SMALLEST, ring.radius * scale) + 6) * (-1 if is_left else 1)
        x, y = at(ring.fx, ring.fy)
        canvas.text(x + reach, y, ring.label, SMALL, WHITE_INK, "rm" if is_left else "lm", **HALO)
    for ridge in ridges:
        x, y = at(0.4 * span * ridge.fx, 0.4 * span * ridge.fy)
        canvas.text(x + 8, y, ridge.label, SMALL, WHITE_INK, "lm", **HALO)


def _is_inside(mark: Ring, end: float) -> bool:
    """Whether a part of a mark lies below a frequency along each axis."""
    return mark.radius < 2 * end if mark.is_cutoff else max(abs(mark.fx), abs(mark.fy)) < end


# Results of a pipeline's steps


def log_magnitude(spectrum: Array, largest: float | None = None, *, unit: float = 1.0) -> Pixels:
    """Return ``log(1 + |spectrum| unit)`` as 8 bits, DC in the middle of the last two axes.

    ``largest`` is the magnitude of white, by default the largest in the spectrum.
    """
    centered = np.fft.fftshift(np.abs(spectrum), axes=(-2, -1)).astype(np.float64)
    centered *= unit
    white = float(centered.max()) if largest is None else largest
    made = np.log1p(centered, out=centered)
    made *= 255
    made /= np.log1p(white or 1.0)
    return made.astype(np.uint8)


class StepPictures:
    """Makes pictures of the intermediate results of a pipeline, as the book's Figures 6.3, 6.4 and 6.7.

    Spectra are upright with DC in the middle; the filtered spectrum has the scale of the unfiltered one, so that the
    two can be compared. The filtered image is scaled from its smallest value, which may be negative. Partial results
    are log-magnitudes, as laid out in memory.
    """

    def __init__(self) -> None:
        self._largest: float | None = None

    def picture(self, name: str, planes: Array) -> Pixels:
        """Return a result ``(channels, height, width)`` as 8 bits of one channel, or of three."""
        if name.startswith("spectrum"):
            upright = planes.swapaxes(1, 2)
            if self._largest is None:
                self._largest = float(np.abs(upright).max())
            pixels = log_magnitude(upright, self._largest)
        else:
            if name == "filtered":
                values = planes.real - min(0, planes.real.min())
            else:
                is_picture = name in ("image", "magnitude", "output")
                values = np.abs(planes) if is_picture else np.log1p(np.abs(planes))
            pixels = np.asarray(255 * (values / (values.max() or 1))).astype(np.uint8)
        return pixels if len(pixels) in (1, 3) else pixels[:1]
