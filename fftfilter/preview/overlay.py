"""The cutoffs of a filter, drawn over a spectrum, with their names."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..transfer.part import Ridge, Ring
from .drawing import SMALL

if TYPE_CHECKING:
    from .drawing import Canvas
    from .look import Look

WHITE, YELLOW = (255, 255, 255), (255, 225, 90)
# Peaks that are labeled: more would cover the spectrum.
LABELED = 4
# Pixels of a mark's radius at least.
SMALLEST = 4
# Of a part of the spectrum: how far it goes beyond the cutoffs, how much is as good as the whole, and what part it is
# then; and the frequencies it has at least.
BEYOND, MOST, PART, FEWEST = 1.4, 0.8, 0.25, 32


def span(look: Look) -> float:
    """Return the width in cycles per pixel of the part of the spectrum that the cutoffs lie in."""
    ends = [
        math.hypot(mark.fx, mark.fy) + mark.radius if isinstance(mark, Ring) else 1.0
        for mark in look.transfer.marks(*look.size)
    ]
    wide = max(2 * BEYOND * max(ends, default=1.0), FEWEST / min(look.size))
    return wide if wide < MOST else PART


def draw(canvas: Canvas, corners: tuple[int, int, int, int], look: Look, span: float) -> None:
    """Draw the cutoffs over a spectrum that is ``span`` cycles per pixel wide."""
    left, top, right, _ = corners
    panel = right - left + 1
    middle = left + panel // 2 + 0.5, top + panel // 2 + 0.5
    scale = panel / span
    found = [mark for mark in look.transfer.marks(*look.size) if _is_inside(mark, span / 2)]
    rings = [mark for mark in found if isinstance(mark, Ring)]
    ridges = [mark for mark in found if isinstance(mark, Ridge)]
    with canvas.fine(corners) as fine:
        for ring in rings:
            center = middle[0] + ring.fx * scale, middle[1] + ring.fy * scale
            if ring.is_cutoff:
                fine.circle(center, ring.radius * scale, YELLOW, 1)
            else:
                fine.circle(center, max(SMALLEST, ring.radius * scale) + 1, WHITE)
        for ridge in ridges:
            for sign in (scale, -scale):
                ends = [(middle[0] + sign * f * ridge.fx, middle[1] + sign * f * ridge.fy) for f in (ridge.spare, 1)]
                fine.line(ends, WHITE, 1)
    for i, ring in enumerate(ring for ring in rings if ring.is_cutoff):
        # The outer ring's name stands above it to the right, the inner ring's below it to the left.
        side = -1 if i % 2 else 1
        away = min(ring.radius * scale, panel / 2 - 14) * 0.7071 + 5
        x, y = middle[0] + side * away, middle[1] - side * away
        canvas.text(x, y, ring.label, SMALL, YELLOW, "rt" if i % 2 else "lb", halo=True)
    peaks = [ring for ring in rings if not ring.is_cutoff]
    for ring in peaks[: 2 * LABELED : 2] if len(peaks) <= 2 * LABELED else ():
        x, y = middle[0] + ring.fx * scale, middle[1] + ring.fy * scale
        is_left = ring.fx > 0.2 * span  # there is no room to the right
        reach = (max(SMALLEST, ring.radius * scale) + 6) * (-1 if is_left else 1)
        canvas.text(x + reach, y, ring.label, SMALL, WHITE, "rm" if is_left else "lm", halo=True)
    for ridge in ridges:
        x, y = (middle[k] + 0.4 * panel * (ridge.fx, ridge.fy)[k] for k in (0, 1))
        canvas.text(x + 8, y, ridge.label, SMALL, WHITE, "lm", halo=True)


def _is_inside(mark: Ring | Ridge, end: float) -> bool:
    """Whether there is something of a mark up to a frequency along each axis."""
    if isinstance(mark, Ridge):
        return True
    return mark.radius < 2 * end if mark.is_cutoff else max(abs(mark.fx), abs(mark.fy)) < end
