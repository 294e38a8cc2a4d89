"""RGB pictures of a filter's effect, at the size in which they are shown; cutoffs; results of a pipeline's steps."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from typing import Any
from unicodedata import combining, normalize

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from ..arrays import Array, Pixels
from ..transfer.part import Ridge, Ring
from .report import FilterReport

Color = tuple[int, int, int]
Corners = tuple[int, int, int, int]

INK, QUIET, FAINT, WHITE, PAPER = (30, 33, 38), (95, 101, 110), (222, 225, 229), (255, 255, 255), (244, 245, 247)
BEFORE, AFTER, REMOVED = (44, 104, 176), (208, 82, 22), (240, 110, 40)
RED = (200, 30, 40)
TEXT, SMALL, LARGE = 13, 12, 17
# Characters of Pillow's font besides ASCII.
NON_ASCII = "\u00a9\u00ab\u00b0\u00b1\u00b7\u00bb\u2018\u2019\u201c\u201d"
# Lines are drawn enlarged by this factor and then reduced, to be smooth.
FINE = 3


@cache
def font(size: int) -> Any:
    """Return Pillow's own font."""
    return ImageFont.load_default(size)


class Canvas:
    """A picture to draw on."""

    def __init__(self, width: int, height: int, paper: Color = WHITE) -> None:
        self.image = Image.new("RGB", (width, height), paper)
        self._draw = ImageDraw.Draw(self.image)

    def text(  # noqa: PLR0917  as Pillow has it
        self, x: float, y: float, text: str, size: int = TEXT, color: Color = INK, anchor: str = "ls", **more: Any
    ) -> None:
        """Write a line; ``anchor``, by default the left end of the base line, and further options are Pillow's."""
        self._draw.text((x, y), printable(text), font=font(size), fill=color, anchor=anchor, **more)

    def paste(self, pixels: Pixels, x: int, y: int) -> None:
        """Paste a picture ``(height, width, 3)`` or ``(height, width)``, with its top left corner at x, y."""
        self.image.paste(Image.fromarray(pixels), (x, y))

    def panel(self, pixels: Pixels, x: int, y: int, side: int) -> None:
        """Paste a picture into the middle of a square of paper."""
        self.box((x, y, x + side - 1, y + side - 1), PAPER, fill=True)
        self.paste(pixels, x + (side - pixels.shape[1]) // 2, y + (side - pixels.shape[0]) // 2)

    def box(self, corners: Corners, color: Color = FAINT, *, fill: bool = False) -> None:
        """Draw or fill a rectangle, corners included."""
        self._draw.rectangle(corners, fill=color if fill else None, outline=color)

    def line(self, points: Sequence[tuple[float, float]], color: Color = FAINT) -> None:
        """Draw a line one pixel wide."""
        self._draw.line(points, fill=color)


class Fine:
    """Draws smooth lines in a rectangle of a canvas, clipped to it; they appear at the end of a ``with``."""

    def __init__(self, canvas: Canvas, corners: Corners) -> None:
        self._canvas = canvas
        self._left, self._top, right, bottom = corners
        self._size = right - self._left + 1, bottom - self._top + 1
        self._layer = Image.new("RGBA", (FINE * self._size[0], FINE * self._size[1]), (255, 255, 255, 0))
        self._draw = ImageDraw.Draw(self._layer)

    def __enter__(self) -> Fine:
        return self

    def __exit__(self, *_: object) -> None:
        # Premultiplied, so that colors do not mix with that of clear pixels.
        small = self._layer.convert("RGBa").reduce(FINE).convert("RGBA")
        self._canvas.image.paste(small, (self._left, self._top), small)

    def _at(self, point: tuple[float, float]) -> tuple[float, float]:
        return FINE * (point[0] - self._left), FINE * (point[1] - self._top)

    def line(self, points: Sequence[tuple[float, float]], color: Color, width: float = 2.0) -> None:
        """Draw a line through points."""
        self._draw.line([self._at(point) for point in points], (*color, 255), round(FINE * width), joint="curve")

    def area(self, points: Sequence[tuple[float, float]], color: Color, opacity: float) -> None:
        """Fill a polygon."""
        self._draw.polygon([self._at(point) for point in points], (*color, round(255 * opacity)))

    def circle(
        self, center: tuple[float, float], radius: float, color: Color, width: float = 1.5, stretch: float = 1.0
    ) -> None:
        """Draw a circle, or an ellipse that is ``stretch`` times as high as wide."""
        (x, y), r = self._at(center), FINE * radius
        self._draw.ellipse(
            (x - r, y - stretch * r, x + r, y + stretch * r), outline=(*color, 255), width=round(FINE * width)
        )


def length(text: str, size: int = TEXT) -> float:
    """Return the width of a text in pixels."""
    return float(font(size).getlength(printable(text)))


def shortened(text: str, width: float, size: int = TEXT) -> str:
    """Return a text, cut off with dots if it is wider than a number of pixels."""
    if length(text, size) <= width:
        return text
    end = bisect_right(range(len(text)), width, key=lambda i: length(text[:i] + " ...", size)) - 1
    return text[: max(end, 0)].rstrip(" ,*;") + " ..."


def printable(text: str) -> str:
    """Return a text in characters of the font: letters lose their accents, and others become "?"."""
    parts = normalize("NFKD", text.replace("\u00b5", "u").replace("\u03bc", "u"))  # micro, as in um
    return "".join(each if " " <= each <= "~" or each in NON_ASCII else "?" for each in parts if not combining(each))


# In a spectrum, black is so far below the median, as a logarithm of power; this share of the frequencies may become
# white; the tint has this opacity.
BLACK, WHITENED, TINT = 3.0, 2e-4, 0.65
# The share of pixels of the removed part that may become black or white.
CUT = 0.002
YELLOW = (255, 225, 90)
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
    low, high = np.median(logs) - BLACK, np.quantile(logs, 1 - WHITENED)
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
                fine.circle(at(0, 0), ring.radius * scale, YELLOW, 1, ring.stretch)
            else:
                fine.circle(at(ring.fx, ring.fy), max(SMALLEST, ring.radius * scale) + 1, WHITE)
        for ridge in ridges:
            for sign in (1, -1):
                fine.line([at(sign * f * ridge.fx, sign * f * ridge.fy) for f in (ridge.spare, 1)], WHITE, 1)
    for i, ring in enumerate(ring for ring in rings if ring.is_cutoff):
        # The outer ring's label is above it to the right, the inner ring's below it to the left.
        away = (min(ring.radius, span / 2 - 14 / scale) * 0.7071 + 5 / scale) * (-1 if i % 2 else 1)
        canvas.text(*at(away, -away), ring.label, SMALL, YELLOW, "rt" if i % 2 else "lb", **HALO)
    peaks = [ring for ring in rings if not ring.is_cutoff]
    for ring in peaks[::2] if len(peaks) <= 2 * LABELED else ():
        is_left = ring.fx > 0.2 * span  # there is no room to the right
        reach = (max(SMALLEST, ring.radius * scale) + 6) * (-1 if is_left else 1)
        x, y = at(ring.fx, ring.fy)
        canvas.text(x + reach, y, ring.label, SMALL, WHITE, "rm" if is_left else "lm", **HALO)
    for ridge in ridges:
        x, y = at(0.4 * span * ridge.fx, 0.4 * span * ridge.fy)
        canvas.text(x + 8, y, ridge.label, SMALL, WHITE, "lm", **HALO)


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
