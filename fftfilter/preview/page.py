"""One page: the input, its spectrum with the filter over it, the result, what is removed; below, all by frequency."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import panels, plots
from .drawing import FAINT, INK, LARGE, QUIET, SMALL, TEXT, Canvas, fitting
from .marks import Ridge, Ring, marks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .look import Look

SIDE, GAP, MARGIN = 380, 20, 24
TITLE, CAPTION, PLOT = 70, 24, 230
WIDTH = 2 * MARGIN + 4 * SIDE + 3 * GAP
WHITE, YELLOW = (255, 255, 255), (255, 225, 90)
# Peaks that are labeled: more would cover the spectrum.
LABELED = 4
# Pixels of a mark's radius at least.
SMALLEST = 4


def page(look: Look, result: NDArray[Any], white: float, title: str, about: str) -> NDArray[np.uint8]:
    """Return the page, RGB ``(height, width, 3)``; ``result`` is ``(channels, height, width)`` with its white."""
    before = panels.shown(look.planes, *shown_range(look.planes, look.white, SIDE))
    after = panels.shown(result, *shown_range(result, white, SIDE))
    lost, level = panels.removed(look, SIDE)
    spectrum = panels.spectrum(look, SIDE)
    high = max(SIDE, *(each.shape[0] for each in (before, after, lost)))
    canvas = Canvas(WIDTH, TITLE + CAPTION + high + GAP + PLOT + MARGIN)
    canvas.text(MARGIN, 30, fitting(title, WIDTH - 2 * MARGIN, LARGE), LARGE)
    canvas.text(MARGIN, 52, fitting(about, WIDTH - 2 * MARGIN), TEXT, QUIET)
    captions = (
        "input",
        "spectrum, what is removed tinted",
        "result",
        f"removed: {look.share:.2%} of the power; gray is 0, white {level:.3g} of 255",
    )
    for i, (picture, caption) in enumerate(zip((before, spectrum, after, lost), captions, strict=True)):
        x, y = MARGIN + i * (SIDE + GAP), TITLE
        canvas.text(x, y + 14, fitting(caption, SIDE), TEXT, INK)
        height, width = picture.shape[:2]
        left, top = x + (SIDE - width) // 2, y + CAPTION + (high - height) // 2
        canvas.box((x, y + CAPTION, x + SIDE - 1, y + CAPTION + high - 1), (244, 245, 247), fill=True)
        canvas.paste(picture, left, top)
        if i == 1:
            _mark(canvas, look, left, top)
    top = TITLE + CAPTION + high + GAP
    half = (WIDTH - 2 * MARGIN - GAP) // 2
    plots.gains(canvas, (MARGIN, top, MARGIN + half, top + PLOT), look)
    plots.power(canvas, (MARGIN + half + GAP, top, WIDTH - MARGIN, top + PLOT), look)
    canvas.line([(MARGIN, top - GAP // 2), (WIDTH - MARGIN, top - GAP // 2)], FAINT)
    return np.asarray(canvas.image)


def shown_range(planes: NDArray[Any], white: float, side: int) -> tuple[float, int, float]:
    """Return what is shown as white, the side of the panel, and what is shown as black: for floats, what there is."""
    if planes.dtype.kind == "f" and (planes.min() < 0 or planes.max() > white):
        return float(planes.max()), side, float(planes.min())
    return white, side, 0.0


def _mark(canvas: Canvas, look: Look, left: int, top: int) -> None:
    """Draw the cutoffs over the spectrum, with their names."""
    middle = left + SIDE // 2 + 0.5, top + SIDE // 2 + 0.5
    inside = left, top, left + SIDE - 1, top + SIDE - 1
    found = list(marks(look.transfer, *look.size))
    with canvas.fine(inside) as fine:
        for mark in found:
            if isinstance(mark, Ring):
                center = middle[0] + mark.fx * SIDE, middle[1] + mark.fy * SIDE
                if mark.is_cutoff:
                    fine.circle(center, mark.radius * SIDE, YELLOW, 1)
                else:
                    fine.circle(center, max(SMALLEST, mark.radius * SIDE) + 1, WHITE)
            else:
                for sign in (1, -1):
                    ends = [
                        (middle[0] + sign * f * SIDE * mark.fx, middle[1] + sign * f * SIDE * mark.fy)
                        for f in (mark.spare, 1)
                    ]
                    fine.line(ends, WHITE, 1)
    for i, mark in enumerate(mark for mark in found if isinstance(mark, Ring) and mark.is_cutoff):
        # The outer ring's name stands above it to the right, the inner ring's below it to the left.
        side = -1 if i % 2 else 1
        away = min(mark.radius * SIDE, SIDE / 2 - 14) * 0.7071 + 5
        x, y = middle[0] + side * away, middle[1] - side * away
        canvas.text(x, y, mark.label, SMALL, YELLOW, "rt" if i % 2 else "lb", halo=True)
    peaks = [mark for mark in found if isinstance(mark, Ring) and not mark.is_cutoff]
    for mark in peaks[: 2 * LABELED : 2] if len(peaks) <= 2 * LABELED else ():
        x, y = middle[0] + mark.fx * SIDE, middle[1] + mark.fy * SIDE
        is_left = mark.fx > 0.2  # there is no room to the right
        reach = (max(SMALLEST, mark.radius * SIDE) + 6) * (-1 if is_left else 1)
        canvas.text(x + reach, y, mark.label, SMALL, WHITE, "rm" if is_left else "lm", halo=True)
    for mark in found:
        if isinstance(mark, Ridge):
            x, y = (middle[k] + 0.4 * SIDE * (mark.fx, mark.fy)[k] for k in (0, 1))
            canvas.text(x + 8, y, mark.label, SMALL, WHITE, "lm", halo=True)
