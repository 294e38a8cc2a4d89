"""Pages of rows with four pictures: input, spectrum with the filter over it, result, removed.

The page of one picture has gain and power by frequency below its row, that of a large one a second row of its middle.
A contact sheet has a row for each file, and marks outliers. It has at most 60 rows, however many files there are: files
evenly spread, and those from which the filter removed least and most. Its rows are compressed until they are drawn.
"""

from __future__ import annotations

import io
import math
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest, nsmallest
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike
from PIL import Image

from ..arrays import Array, Floats, Pixels, check_image, gray_of, pixel_type, split
from ..filters import Filter, Options, split_options
from ..filters.description import DEFAULTS, spelled_out
from ..filters.libraries import as_upright
from ..missing import filled
from ..output.modes import ALL
from ..transfer import Transfer
from ..transfer.part import Ring
from ..transfer.units import Radius
from . import panels
from .panels import Canvas, Color, Corners, Fine, length, shortened
from .report import HIGHEST, FilterReport, about_filter

SIDE, GAP, MARGIN = 380, 20, 24
TITLE, CAPTION, PLOT = 70, 24, 230
WIDTH = 2 * MARGIN + 4 * SIDE + 3 * GAP
# The place of the spectrum among the pictures of a row.
SPECTRUM = 1
# A picture is large if it is this many times wider or higher than its panel.
LARGE_AS = 2
# The titles of axes of frequencies; a unit of length has "period in" it.
TITLES = {"bins": "cycles across the shorter side", "px": "period in pixels", "cyc": "cycles per pixel"}
TITLES |= {"%": "% of the Nyquist frequency", "lpi": "lines per inch", "lp/mm": "line pairs per mm"}
# The range of power that is shown at most, in decibels, and the distance of its lines.
DEEPEST, DECIBELS = 100, 20
# Pixels for the labels beside the axes.
LEFT, BOTTOM, TOP = 44, 40, 26
# Fewest pixels between two labels.
APART = 8

# A contact sheet: the sides of its pictures and the distance between them, room for names, the height of its head
SMALL_SIDE, SMALL_GAP, NAMES, HEAD = 150, 8, 270, 88
STRIP = 4 * SMALL_SIDE + 3 * SMALL_GAP
# Rows of a sheet that are evenly spread, and those from which least and most was removed; the quality of a row's JPEG
EVEN, FARTHEST, QUALITY = 52, 4, 90
# Fewest files that the usual range takes.
FEWEST = 6
# The logarithm of an outlier's share is farther from the median than DEVIATIONS median deviations and than LEAST.
DEVIATIONS, LEAST = 4 * 1.4826, 0.35
# Shares up to NOTHING count as none; such files are outliers if they are fewer than RARE of all.
NOTHING, RARE = 1e-6, 1 / 8


@spelled_out()
def show(image: ArrayLike, transfer: Transfer | Filter, **options: Unpack[Options]) -> Image.Image:
    """Return the page that ``--preview`` draws, a picture of Pillow, which a notebook displays.

    It has the image, its spectrum with the filter over it, the result, the removed part, and the gain and the power by
    frequency. Of a stack it shows the middle image.

    Args:
        transfer: One of the functions of ``fftfilter.transfer``, a product of them, or a :class:`Filter`, whose own
            options stay unless others are given.

    Returns:
        A picture of Pillow.

    Examples:
        >>> fftfilter.show(image, H.lowpass("8px")).save("look.png")

    """
    of_filter, of_call = split_options(options)
    filter_ = (
        transfer.with_options(**of_filter) if isinstance(transfer, Filter) else Filter.unopened(transfer, of_filter)
    )
    given, channel_axis, missing = as_upright(image, of_call.get("channel_axis"), of_call.get("missing"))
    if channel_axis is None and np.ndim(given) == 3 and len(given):
        check_image(np.shape(given), np.dtype(np.uint8), None)
        middle = (len(given) - 1) // 2
        given, missing = given[middle], missing[middle] if np.ndim(missing) == 3 else missing
    planes, holes = split(given, missing, channel_axis)
    gray = gray_of(of_call, planes.dtype)
    made = filter_(planes, **{**of_call, "channel_axis": 0, "missing": holes if holes.any() else None})
    own, weight = filter_.options, filter_.weight(*planes.shape[1:])
    device, channels = own.get("device"), None if own.get("channels") == ALL else own.get("channels")
    white = 1 if filter_.is_values else gray.levels
    whole = filled(planes, holes, device) if holes.any() else planes
    whole = whole.astype(np.result_type(planes, pixel_type(planes.dtype)), copy=False)
    edges = own.get("edges", DEFAULTS["edges"])
    used = filter_.without([peak for each in filter_.peaks() for peak in each])
    report = FilterReport(whole, gray.white, used, edges, device, weight, channels)
    title, said = f"{planes.shape[2]} x {planes.shape[1]}", about_filter(used, used.depth, channels)
    return Image.fromarray(page(report, np.where(holes, 0, made).astype(made.dtype), white, title, said))


def page(report: FilterReport, result: Array, white: float, title: str, about: str) -> Pixels:
    """Return the page, RGB ``(height, width, 3)``; ``result`` is ``(channels, height, width)`` with its white.

    Below a picture that is much larger than its panel, a second row shows its middle pixel by pixel.
    """
    is_large = max(report.size) > LARGE_AS * SIDE
    canvas = Canvas(WIDTH, TITLE + (1 + is_large) * (CAPTION + SIDE + GAP) + PLOT + MARGIN)
    _head(canvas, title, about.replace("n/8", f"n/8 = {min(report.size) / 8:g}"))
    top = _row(canvas, TITLE, report, result, white, is_middle=False)
    if is_large:
        top = _row(canvas, top, report, result, white, is_middle=True)
    half = (WIDTH - 2 * MARGIN - GAP) // 2
    _gains(canvas, (MARGIN, top, MARGIN + half, top + PLOT), report)
    _power(canvas, (MARGIN + half + GAP, top, WIDTH - MARGIN, top + PLOT), report)
    canvas.line([(MARGIN, top - GAP // 2), (WIDTH - MARGIN, top - GAP // 2)], panels.FAINT)
    return np.asarray(canvas.image)


def _head(canvas: Canvas, title: str, about: str) -> None:
    width = canvas.image.width - 2 * MARGIN
    canvas.text(MARGIN, 30, shortened(title, width, panels.LARGE), panels.LARGE)
    canvas.text(MARGIN, 52, shortened(about, width), panels.TEXT, panels.QUIET)


def _row(canvas: Canvas, top: int, report: FilterReport, result: Array, white: float, *, is_middle: bool) -> int:
    """Draw the whole picture, or its middle pixel by pixel with the frequencies around the cutoffs; return the end."""
    part: Any = ...
    span = 1.0
    if is_middle:
        first, left = (max(0, (n - SIDE) // 2) for n in report.size)
        part, span = np.s_[:, first : first + SIDE, left : left + SIDE], panels.cutoff_span(report)
    pictures, level = panels.pictures(report, result, white, SIDE, part=part, span=span)
    captions = (
        "input",
        "spectrum, what is removed tinted",
        "result",
        f"removed: {report.share:.2%} of the power; gray is 0, white {level:.3g} of 255",
    )
    if is_middle:
        wide = f"spectrum, to {span / 2:.2g} cycles per pixel"
        captions = ("its middle at 100 %", wide, "likewise", f"likewise; white {level:.3g} of 255")
    end = top + CAPTION + SIDE
    for i, (caption, pixels) in enumerate(zip(captions, pictures, strict=True)):
        left = MARGIN + i * (SIDE + GAP)
        canvas.text(left, top + 14, shortened(caption, SIDE))
        canvas.panel(pixels, left, top + CAPTION, SIDE)
        if i == SPECTRUM:
            panels.draw_cutoffs(canvas, (left, top + CAPTION, left + SIDE - 1, end - 1), report, span)
    return end + GAP


def _gains(canvas: Canvas, corners: Corners, report: FilterReport) -> None:
    """Draw H(f): the mean gain of each ring of frequencies, and its least and largest gain."""
    rings = report.rings
    low, high = min(0.0, float(rings.least.min())), max(1.0, float(rings.most.max()))
    room = 0.06 * (high - low)
    levels = (0, 0.25, 0.5, 0.75, 1) if high - low <= 1 else np.linspace(low, high, 5).tolist()
    has_direction = any(part.has_direction for part in report.transfer.parts)
    area = (rings.least, rings.most) if has_direction else None
    _diagram(canvas, corners, report, "gain H(f)", (low - room, high + room), levels, [rings.mean], area)
    if has_direction:
        _legend(canvas, corners, {"mean of all directions": panels.BEFORE, "least to largest": (196, 212, 233)})


def _power(canvas: Canvas, corners: Corners, report: FilterReport) -> None:
    """Draw the power by frequency, before and after the filter."""
    rings = report.rings
    smallest = float(rings.before.max()) * 1e-30 or 1e-30
    before, after = (10 * np.log10(np.maximum(each, smallest)) for each in (rings.before, rings.after))
    high = float(np.ceil((before.max() + 3) / DECIBELS) * DECIBELS)
    low = max(high - DEEPEST, float(np.floor((min(before.min(), after.min()) - 3) / DECIBELS) * DECIBELS))
    levels = np.arange(low, high + 1, DECIBELS).tolist()
    _diagram(canvas, corners, report, "mean power, dB", (low, high), levels, [before, after])
    _legend(canvas, corners, {"before": panels.BEFORE, "after": panels.AFTER})


def _diagram(  # noqa: PLR0917  a diagram's parts
    canvas: Canvas,
    corners: Corners,
    report: FilterReport,
    title: str,
    values: tuple[float, float],
    levels: Sequence[float],
    curves: list[Floats],
    area: tuple[Floats, Floats] | None = None,
) -> None:
    """Draw curves by ring of frequencies, over an area between two of them, and the cutoffs.

    The axis across is logarithmic, with round frequencies of the cutoffs' unit; the one upward has ``values`` at its
    ends, and lines at ``levels``.
    """
    left, top, right, bottom = corners
    inside = left + LEFT, top + TOP, right, bottom - BOTTOM
    lowest, unit, (low, high) = 0.7 / min(report.size), report.transfer.unit, values

    def x_of(frequency: float) -> float:
        return inside[0] + (right - inside[0]) * float(np.log(frequency / lowest) / np.log(HIGHEST / lowest))

    def y_of(value: float) -> float:
        return inside[3] - (inside[3] - inside[1]) * (value - low) / (high - low)

    def line(curve: Floats) -> list[tuple[float, float]]:
        near = np.clip(curve, low - (high - low), high + (high - low))
        return [(x_of(f), y_of(float(v))) for f, v in zip(report.rings.frequency, near, strict=True)]

    end = -1e9
    for frequency, label in sorted(ticks(unit, report.size, lowest, HIGHEST)):
        x = x_of(frequency)
        canvas.line([(x, inside[1]), (x, inside[3])])
        half = length(label, panels.SMALL) / 2
        if x - half > end + APART and x + half < right + APART:
            canvas.text(x, inside[3] + 16, label, panels.SMALL, panels.QUIET, "ms")
            end = x + half
    canvas.text((inside[0] + right) / 2, bottom - 4, title_of(unit), panels.SMALL, panels.QUIET, "ms")
    canvas.box(inside, (176, 181, 188))
    canvas.text(left, top + 12, title)
    for level in levels:
        canvas.line([(inside[0] + 1, y_of(level)), (right - 1, y_of(level))], panels.FAINT)
        canvas.text(inside[0] - 6, y_of(level), f"{level:g}", panels.SMALL, panels.QUIET, "rm")
    with Fine(canvas, inside) as fine:
        if area:
            fine.area([*line(area[0]), *reversed(line(area[1]))], panels.BEFORE, 0.22)
        for curve, color in zip(curves, (panels.BEFORE, panels.AFTER), strict=False):
            fine.line(line(curve), color)
    _cut(canvas, inside, report, x_of)


def _cut(canvas: Canvas, inside: Corners, report: FilterReport, x_of: Callable[[float], float]) -> None:
    """Draw the cutoffs with their labels: the outer one's to its right, the inner one's to its left."""
    left, top, right, bottom = inside
    cutoffs = [mark for mark in report.transfer.marks(*report.size) if isinstance(mark, Ring) and mark.is_cutoff]
    for i, mark in enumerate(cutoffs):
        x = x_of(mark.radius)
        if left < x < right:
            with Fine(canvas, inside) as fine:
                for y in range(top, bottom, 8):
                    fine.line([(x, y), (x, y + 4)], panels.QUIET, 1)
            is_left = i % 2 or x + length(mark.label, panels.SMALL) + APART > right
            canvas.text(
                x - 5 if is_left else x + 5,
                bottom - 6,
                mark.label,
                panels.SMALL,
                panels.INK,
                "rs" if is_left else "ls",
            )


def _legend(canvas: Canvas, corners: Corners, entries: Mapping[str, Color]) -> None:
    x, y = corners[2], corners[1] + 12
    for label, color in reversed([*entries.items()]):
        x -= round(length(label, panels.SMALL))
        canvas.text(x, y, label, panels.SMALL, panels.QUIET)
        canvas.box((x - 24, y - 6, x - 6, y - 3), color, fill=True)
        x -= 40


def title_of(unit: Radius) -> str:
    """Return the title of an axis of frequencies in a unit."""
    return TITLES.get(unit.unit, f"period in {unit.unit}")


def ticks(unit: Radius, size: tuple[int, int], low: float, high: float) -> Iterator[tuple[float, str]]:
    """Yield the frequencies of round numbers of a unit, in cycles per pixel, with their labels."""
    for exponent in range(-9, 10):
        for digit in (1, 2, 5):
            value = unit._replace(value=float(f"{digit}e{exponent}"))
            frequency = value.cycles(*size)
            if low <= frequency <= high:
                yield frequency, f"{value.value:g}"


# The contact sheet of many pictures


class Row(NamedTuple):
    """One file: four small pictures, and the part of its power that the filter removed."""

    number: int
    name: str
    size: str
    share: float
    strip: bytes  # a JPEG


def row(report: FilterReport, result: Array, white: float, number: int, name: str) -> Row:
    """Return the row of a picture; ``result`` is ``(channels, height, width)`` with its white."""
    strip, file = Canvas(STRIP, SMALL_SIDE), io.BytesIO()
    pictures, _ = panels.pictures(report, result, white, SMALL_SIDE)
    for i, picture in enumerate(pictures):
        strip.panel(picture, i * (SMALL_SIDE + SMALL_GAP), 0, SMALL_SIDE)
    strip.image.save(file, "JPEG", quality=QUALITY)
    height, width = report.size
    return Row(number, name, f"{width} x {height}", report.share, file.getvalue())


@dataclass
class Sheet:
    """Collects rows in any order; ``files`` is about their number."""

    files: int
    _even: list[Row] = field(default_factory=list)
    _least: list[Row] = field(default_factory=list)
    _most: list[Row] = field(default_factory=list)
    _shares: array[float] = field(default_factory=lambda: array("d"))

    def add(self, row: Row) -> None:
        """Take a row into account, and keep it if it is to be shown."""
        self._shares.append(row.share)
        files, number = max(self.files, 1), row.number
        if len(self._even) < EVEN and (number + 1) * EVEN // files > number * EVEN // files:
            self._even.append(row)
            return
        self._least = nsmallest(FARTHEST, [*self._least, row], key=lambda each: (each.share, -each.number))
        self._most = nlargest(FARTHEST, [*self._most, row], key=lambda each: (each.share, each.number))

    def picture(self, title: str) -> Pixels:
        """Return the sheet, RGB ``(height, width, 3)``."""
        kept = {each.number: each for each in (*self._even, *self._least, *self._most)}
        rows = [kept[number] for number in sorted(kept)]
        each_row, left = SMALL_SIDE + SMALL_GAP, MARGIN + NAMES
        canvas = Canvas(left + STRIP + MARGIN, HEAD + max(1, len(rows)) * each_row + MARGIN)
        shares = np.array(self._shares)
        touched = shares[shares > NOTHING]
        low, high = _usual(touched)
        is_rare = len(touched) >= FEWEST and len(shares) - len(touched) < RARE * len(shares)
        outliers = [each for each in rows if (is_rare if each.share <= NOTHING else not low <= each.share <= high)]
        spread = f", {len(rows)} shown: evenly spread, and the farthest" if len(rows) < len(shares) else ""
        marked = f"; {len(outliers)} {'outliers' if len(outliers) > 1 else 'outlier'}, marked" if outliers else ""
        _head(canvas, title, f"{len(shares)} pictures{spread}{marked}")
        for i, caption in enumerate(("input", "spectrum, removed tinted", "result", "removed, gray is 0")):
            canvas.text(left + i * each_row, HEAD - 8, caption, panels.SMALL, panels.QUIET)
        for i, each in enumerate(rows):
            top = HEAD + i * each_row
            with Image.open(io.BytesIO(each.strip), formats=("JPEG",)) as strip:
                canvas.paste(np.asarray(strip), left, top)
            canvas.line([(MARGIN, top - SMALL_GAP // 2), (left - SMALL_GAP, top - SMALL_GAP // 2)], panels.FAINT)
            canvas.text(MARGIN + 8, top + 18, shortened(each.name, NAMES - 24))
            canvas.text(MARGIN + 8, top + 38, each.size, panels.SMALL, panels.QUIET)
            color = panels.RED if each in outliers else panels.QUIET
            canvas.text(MARGIN + 8, top + 58, f"{each.share:.2%} of the power removed", panels.SMALL, color)
            if each in outliers:
                canvas.text(
                    MARGIN + 8, top + 78, f"outlier: usual are {low:.2%} to {high:.2%}", panels.SMALL, panels.RED
                )
                canvas.box((MARGIN, top, MARGIN + 2, top + SMALL_SIDE - 1), panels.RED, fill=True)
        return np.asarray(canvas.image)


def _usual(shares: Floats) -> tuple[float, float]:
    """Return the least and the largest share of files that are not outliers, of those above 0."""
    if len(shares) < FEWEST:
        return 0.0, math.inf
    logs = np.log(shares)
    middle = float(np.median(logs))
    away = max(LEAST, DEVIATIONS * float(np.median(np.abs(logs - middle))))
    return math.exp(middle - away), math.exp(middle + away)
