"""Curves of H(f) and of the power by frequency, in the unit of the filter's cutoffs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..transfer.part import Ring
from .drawing import AFTER, BEFORE, FAINT, INK, QUIET, SMALL, TEXT, Fine, length
from .report import HIGHEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..transfer.units import Radius
    from .drawing import Canvas, Color
    from .report import FilterReport, Floats

    Corners = tuple[int, int, int, int]
    Line = Sequence[tuple[float, float]]

TITLES = {
    "bins": "cycles across the shorter side",
    "px": "period in pixels",
    "cyc": "cycles per pixel",
    "%": "% of the Nyquist frequency",
    "lpi": "lines per inch",
    "lp/mm": "line pairs per mm",
}
# The range of power that is shown at most, in decibels, and the distance of its lines.
DEEPEST, DECIBELS = 100, 20
# Pixels for the labels beside the axes.
LEFT, BOTTOM, TOP = 44, 40, 26
# Fewest pixels between two labels.
APART = 8


@dataclass(eq=False)
class Axes:
    """A rectangle with a logarithmic axis of frequencies across and an axis of numbers upward."""

    canvas: Canvas
    corners: Corners
    frequencies: tuple[float, float]
    values: tuple[float, float]

    def x(self, frequency: float) -> float:
        """Return the x of a frequency."""
        left, _, right, _ = self.corners
        low, high = self.frequencies
        return left + (right - left) * float(np.log(frequency / low) / np.log(high / low))

    def y(self, value: float) -> float:
        """Return the y of a number."""
        _, top, _, bottom = self.corners
        low, high = self.values
        return bottom - (bottom - top) * (value - low) / (high - low)

    def line(self, frequencies: Floats, values: Floats) -> Line:
        """Return the points of a curve."""
        low, high = self.values
        inside = np.clip(values, low - (high - low), high + (high - low))
        return [(self.x(f), self.y(float(v))) for f, v in zip(frequencies, inside, strict=True)]


def gains(canvas: Canvas, corners: Corners, report: FilterReport) -> None:
    """Draw H(f): the mean gain of each ring of frequencies, and its least and largest gain."""
    rings = report.rings
    low, high = min(0.0, float(rings.least.min())), max(1.0, float(rings.most.max()))
    room = 0.06 * (high - low)
    is_directed = any(part.has_direction for part in report.transfer.parts)
    levels = (0, 0.25, 0.5, 0.75, 1) if high - low <= 1 else np.linspace(low, high, 5).tolist()
    axes = _axes(canvas, corners, report, "gain H(f)", (low - room, high + room), levels)
    with Fine(canvas, axes.corners) as fine:
        if is_directed:
            most = axes.line(rings.frequency, rings.most)
            fine.area([*axes.line(rings.frequency, rings.least), *reversed(most)], BEFORE, 0.22)
        fine.line(axes.line(rings.frequency, rings.mean), BEFORE)
    _cut(axes, report)
    if is_directed:
        _legend(canvas, corners, [("mean of all directions", BEFORE), ("least to largest", (196, 212, 233))])


def power(canvas: Canvas, corners: Corners, report: FilterReport) -> None:
    """Draw the power by frequency, before and after the filter."""
    rings = report.rings
    smallest = float(rings.before.max()) * 1e-30 or 1e-30
    before, after = (10 * np.log10(np.maximum(each, smallest)) for each in (rings.before, rings.after))
    high = float(np.ceil((before.max() + 3) / DECIBELS) * DECIBELS)
    low = max(high - DEEPEST, float(np.floor((min(before.min(), after.min()) - 3) / DECIBELS) * DECIBELS))
    levels = np.arange(low, high + 1, DECIBELS).tolist()
    axes = _axes(canvas, corners, report, "mean power, dB", (low, high), levels)
    with Fine(canvas, axes.corners) as fine:
        fine.line(axes.line(rings.frequency, before), BEFORE)
        fine.line(axes.line(rings.frequency, after), AFTER)
    _cut(axes, report)
    _legend(canvas, corners, [("before", BEFORE), ("after", AFTER)])


def _axes(  # noqa: PLR0917  a diagram's parts
    canvas: Canvas,
    corners: Corners,
    report: FilterReport,
    title: str,
    values: tuple[float, float],
    levels: Sequence[float],
) -> Axes:
    """Draw both axes, with round frequencies of the cutoffs' unit and the given levels, and return them."""
    left, top, right, bottom = corners
    inside = left + LEFT, top + TOP, right, bottom - BOTTOM
    axes = Axes(canvas, inside, (0.7 / min(report.size), HIGHEST), values)
    unit = report.transfer.unit
    end = -1e9
    for frequency, label in sorted(ticks(unit, report.size, *axes.frequencies)):
        x = axes.x(frequency)
        canvas.line([(x, inside[1]), (x, inside[3])])
        half = length(label, SMALL) / 2
        if x - half > end + APART and x + half < right + APART:
            canvas.text(x, inside[3] + 16, label, SMALL, QUIET, "ms")
            end = x + half
    canvas.text((inside[0] + right) / 2, bottom - 4, title_of(unit), SMALL, QUIET, "ms")
    canvas.box(inside, (176, 181, 188))
    canvas.text(left, top + 12, title, TEXT, INK)
    for level in levels:
        y = axes.y(level)
        canvas.line([(inside[0] + 1, y), (right - 1, y)], FAINT)
        canvas.text(inside[0] - 6, y, f"{level:g}", SMALL, QUIET, "rm")
    return axes


def _cut(axes: Axes, report: FilterReport) -> None:
    """Draw the cutoffs with their labels: the outer one's to its right, the inner one's to its left."""
    _, top, right, bottom = axes.corners
    low, high = axes.frequencies
    marks = report.transfer.marks(*report.size)
    cutoffs = [mark for mark in marks if isinstance(mark, Ring) and mark.is_cutoff]
    seen = [(i, axes.x(mark.radius), mark.label) for i, mark in enumerate(cutoffs) if low < mark.radius < high]
    with Fine(axes.canvas, axes.corners) as fine:
        for _, x, _ in seen:
            for y in range(top, bottom, 8):
                fine.line([(x, y), (x, y + 4)], QUIET, 1)
    for i, x, label in seen:
        is_left = i % 2 or x + length(label, SMALL) + APART > right
        axes.canvas.text(x - 5 if is_left else x + 5, bottom - 6, label, SMALL, INK, "rs" if is_left else "ls")


def _legend(canvas: Canvas, corners: Corners, entries: Sequence[tuple[str, Color]]) -> None:
    x, y = corners[2], corners[1] + 12
    for label, color in reversed(entries):
        x -= round(length(label, SMALL))
        canvas.text(x, y, label, SMALL, QUIET)
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
            frequency = value.bins(*size) / min(size)
            if low <= frequency <= high:
                yield frequency, f"{value.value:g}"
