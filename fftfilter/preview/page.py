"""The page of a preview: input, spectrum with the filter over it, result, removed; gain and power by frequency."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import panels, plots
from .drawing import FAINT, INK, LARGE, QUIET, TEXT, Canvas, fitting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .report import FilterReport

    # A caption, the pixels, and the cycles per pixel that a spectrum is wide, 0 for others.
    Panel = tuple[str, NDArray[np.uint8], float]

SIDE, GAP, MARGIN = 380, 20, 24
TITLE, CAPTION, PLOT = 70, 24, 230
WIDTH = 2 * MARGIN + 4 * SIDE + 3 * GAP
# A picture is large if it is this many times wider or higher than its panel.
LARGE_AS = 2


def page(report: FilterReport, result: NDArray[Any], white: float, title: str, about: str) -> NDArray[np.uint8]:
    """Return the page, RGB ``(height, width, 3)``; ``result`` is ``(channels, height, width)`` with its white.

    Below a picture that is much larger than its panel, a second row shows its middle pixel by pixel.
    """
    rows = [_row(report, result, white, is_middle=False)]
    if max(report.size) > LARGE_AS * SIDE:
        rows.append(_row(report, result, white, is_middle=True))
    canvas = Canvas(WIDTH, TITLE + len(rows) * (CAPTION + SIDE + GAP) + PLOT + MARGIN)
    canvas.text(MARGIN, 30, fitting(title, WIDTH - 2 * MARGIN, LARGE), LARGE)
    canvas.text(MARGIN, 52, fitting(about, WIDTH - 2 * MARGIN), TEXT, QUIET)
    top = TITLE
    for row in rows:
        for i, (caption, pixels, span) in enumerate(row):
            left, height, width = MARGIN + i * (SIDE + GAP), *pixels.shape[:2]
            canvas.text(left, top + 14, fitting(caption, SIDE), TEXT, INK)
            corners = left, top + CAPTION, left + SIDE - 1, top + CAPTION + SIDE - 1
            canvas.box(corners, (244, 245, 247), fill=True)
            canvas.paste(pixels, left + (SIDE - width) // 2, top + CAPTION + (SIDE - height) // 2)
            if span:
                panels.draw_cutoffs(canvas, corners, report, span)
        top += CAPTION + SIDE + GAP
    half = (WIDTH - 2 * MARGIN - GAP) // 2
    plots.gains(canvas, (MARGIN, top, MARGIN + half, top + PLOT), report)
    plots.power(canvas, (MARGIN + half + GAP, top, WIDTH - MARGIN, top + PLOT), report)
    canvas.line([(MARGIN, top - GAP // 2), (WIDTH - MARGIN, top - GAP // 2)], FAINT)
    return np.asarray(canvas.image)


def _row(report: FilterReport, result: NDArray[Any], white: float, *, is_middle: bool) -> list[Panel]:
    """Return panels of the whole picture, or of its middle pixel by pixel with the frequencies around the cutoffs."""
    part: Any = ...
    span = 1.0
    if is_middle:
        top, left = (max(0, (n - SIDE) // 2) for n in report.size)
        part, span = np.s_[:, top : top + SIDE, left : left + SIDE], panels.cutoff_span(report)
    lost, level = panels.removed(report.removed[part], report.white, SIDE)
    captions = (
        "input",
        "spectrum, what is removed tinted",
        "result",
        f"removed: {report.share:.2%} of the power; gray is 0, white {level:.3g} of 255",
    )
    if is_middle:
        wide = f"spectrum, to {span / 2:.2g} cycles per pixel"
        captions = ("its middle at 100 %", wide, "likewise", f"likewise; white {level:.3g} of 255")
    return [
        (captions[0], panels.shown(report.planes[part], report.white, SIDE), 0.0),
        (captions[1], panels.spectrum(report, SIDE, span), span),
        (captions[2], panels.shown(result[part], white, SIDE), 0.0),
        (captions[3], lost, 0.0),
    ]
