"""One page: the input, its spectrum with the filter over it, the result, what is removed; below, all by frequency."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import panels, plots
from .drawing import FAINT, INK, LARGE, QUIET, TEXT, Canvas, fitting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .report import FilterReport

SIDE, GAP, MARGIN = 380, 20, 24
TITLE, CAPTION, PLOT = 70, 24, 230
WIDTH = 2 * MARGIN + 4 * SIDE + 3 * GAP
# A picture is large if it is this many times as wide or high as its panel.
LARGE_AS = 2


class Panel(NamedTuple):
    """A picture with its caption; a spectrum with how many cycles per pixel it is wide."""

    caption: str
    pixels: NDArray[np.uint8]
    span: float = 0.0


def page(report: FilterReport, result: NDArray[Any], white: float, title: str, about: str) -> NDArray[np.uint8]:
    """Return the page, RGB ``(height, width, 3)``; ``result`` is ``(channels, height, width)`` with its white.

    A picture that is large beside its panel has its middle below it, pixel by pixel.
    """
    rows = [_whole(report, result, white)]
    if max(report.size) > LARGE_AS * SIDE:
        rows.append(_middle(report, result, white))
    canvas = Canvas(WIDTH, TITLE + len(rows) * (CAPTION + SIDE + GAP) + PLOT + MARGIN)
    canvas.text(MARGIN, 30, fitting(title, WIDTH - 2 * MARGIN, LARGE), LARGE)
    canvas.text(MARGIN, 52, fitting(about, WIDTH - 2 * MARGIN), TEXT, QUIET)
    top = TITLE
    for row in rows:
        for i, panel in enumerate(row):
            left, height, width = MARGIN + i * (SIDE + GAP), *panel.pixels.shape[:2]
            canvas.text(left, top + 14, fitting(panel.caption, SIDE), TEXT, INK)
            corners = left, top + CAPTION, left + SIDE - 1, top + CAPTION + SIDE - 1
            canvas.box(corners, (244, 245, 247), fill=True)
            canvas.paste(panel.pixels, left + (SIDE - width) // 2, top + CAPTION + (SIDE - height) // 2)
            if panel.span:
                panels.draw_cutoffs(canvas, corners, report, panel.span)
        top += CAPTION + SIDE + GAP
    half = (WIDTH - 2 * MARGIN - GAP) // 2
    plots.gains(canvas, (MARGIN, top, MARGIN + half, top + PLOT), report)
    plots.power(canvas, (MARGIN + half + GAP, top, WIDTH - MARGIN, top + PLOT), report)
    canvas.line([(MARGIN, top - GAP // 2), (WIDTH - MARGIN, top - GAP // 2)], FAINT)
    return np.asarray(canvas.image)


def _whole(report: FilterReport, result: NDArray[Any], white: float) -> list[Panel]:
    lost, level = panels.removed(report.removed, report.white, SIDE)
    share = f"removed: {report.share:.2%} of the power; gray is 0, white {level:.3g} of 255"
    return [
        Panel("input", panels.shown(report.planes, report.white, SIDE)),
        Panel("spectrum, what is removed tinted", panels.spectrum(report, SIDE), 1.0),
        Panel("result", panels.shown(result, white, SIDE)),
        Panel(share, lost),
    ]


def _middle(report: FilterReport, result: NDArray[Any], white: float) -> list[Panel]:
    """Return panels of the middle, at 100 percent, and of the frequencies that the cutoffs are among."""
    height, width = report.size
    top, left = max(0, (height - SIDE) // 2), max(0, (width - SIDE) // 2)
    part = np.s_[:, top : top + SIDE, left : left + SIDE]
    lost, level = panels.removed(report.removed[part], report.white, SIDE)
    span = panels.cutoff_span(report)
    return [
        Panel("its middle at 100 %", panels.shown(report.planes[part], report.white, SIDE)),
        Panel(f"spectrum, to {span / 2:.2g} cycles per pixel", panels.spectrum(report, SIDE, span), span),
        Panel("likewise", panels.shown(result[part], white, SIDE)),
        Panel(f"likewise; white {level:.3g} of 255", lost),
    ]
