"""A contact sheet of many pictures, with a row for each file and marked outliers.

A sheet has at most 60 rows, however many files there are: files evenly spread, and those from which the filter removed
least and most. Rows are compressed until they are drawn.
"""

from __future__ import annotations

import io
import math
from array import array
from dataclasses import dataclass, field
from heapq import nlargest, nsmallest
from itertools import count
from typing import NamedTuple

import numpy as np
from PIL import Image

from ..arrays import Array, Floats, Pixels
from . import panels
from .drawing import FAINT, LARGE, QUIET, RED, SMALL, TEXT, Canvas, fitting
from .report import FilterReport

EVEN, FARTHEST = 52, 4
SIDE, GAP, MARGIN, NAMES, TITLE = 150, 8, 24, 270, 88
STRIP = 4 * SIDE + 3 * GAP
WIDTH = 2 * MARGIN + NAMES + STRIP
QUALITY = 90
# Fewest files that the usual range takes.
FEWEST = 6
# The logarithm of an outlier's share is farther from the median than DEVIATIONS median deviations and than LEAST.
DEVIATIONS, LEAST = 4 * 1.4826, 0.35
# Shares up to NOTHING count as none; such files are outliers if they are fewer than RARE of all.
NOTHING, RARE = 1e-6, 1 / 8


class Row(NamedTuple):
    """One file: four small pictures, and the part of its power that the filter removed."""

    number: int
    name: str
    size: str
    share: float
    strip: bytes
    """A JPEG."""


def row(report: FilterReport, result: Array, white: float, number: int, name: str) -> Row:
    """Return the row of a picture; ``result`` is ``(channels, height, width)`` with its white."""
    strip, file = Canvas(STRIP, SIDE), io.BytesIO()
    pictures, _ = panels.pictures(report, result, white, SIDE)
    for i, picture in enumerate(pictures):
        strip.panel(picture, i * (SIDE + GAP), 0, SIDE)
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
        canvas = Canvas(WIDTH, TITLE + max(1, len(rows)) * (SIDE + GAP) + MARGIN)
        canvas.text(MARGIN, 30, fitting(title, WIDTH - 2 * MARGIN, LARGE), LARGE)
        shares = np.array(self._shares)
        touched = shares[shares > NOTHING]
        low, high = _usual(touched)
        is_rare = len(touched) >= FEWEST and len(shares) - len(touched) < RARE * len(shares)
        outliers = [each for each in rows if (is_rare if each.share <= NOTHING else not low <= each.share <= high)]
        spread = f", {len(rows)} shown: evenly spread, and the farthest" if len(rows) < len(shares) else ""
        marked = f"; {len(outliers)} {'outliers' if len(outliers) > 1 else 'outlier'}, marked" if outliers else ""
        canvas.text(MARGIN, 52, f"{len(shares)} pictures{spread}{marked}", TEXT, QUIET)
        for i, caption in enumerate(("input", "spectrum, removed tinted", "result", "removed, gray is 0")):
            canvas.text(MARGIN + NAMES + i * (SIDE + GAP), TITLE - 8, caption, SMALL, QUIET)
        for top, each in zip(count(TITLE, SIDE + GAP), rows, strict=False):
            with Image.open(io.BytesIO(each.strip), formats=("JPEG",)) as strip:
                canvas.paste(np.asarray(strip), MARGIN + NAMES, top)
            canvas.line([(MARGIN, top - GAP // 2), (MARGIN + NAMES - GAP, top - GAP // 2)], FAINT)
            canvas.text(MARGIN + 8, top + 18, fitting(each.name, NAMES - 24))
            canvas.text(MARGIN + 8, top + 38, each.size, SMALL, QUIET)
            color = RED if each in outliers else QUIET
            canvas.text(MARGIN + 8, top + 58, f"{each.share:.2%} of the power removed", SMALL, color)
            if each in outliers:
                canvas.text(MARGIN + 8, top + 78, f"outlier: usual are {low:.2%} to {high:.2%}", SMALL, RED)
                canvas.box((MARGIN, top, MARGIN + 2, top + SIDE - 1), RED, fill=True)
        return np.asarray(canvas.image)


def _usual(shares: Floats) -> tuple[float, float]:
    """Return the least and the largest share of files that are not outliers, of those above 0."""
    if len(shares) < FEWEST:
        return 0.0, math.inf
    logs = np.log(shares)
    middle = float(np.median(logs))
    away = max(LEAST, DEVIATIONS * float(np.median(np.abs(logs - middle))))
    return math.exp(middle - away), math.exp(middle + away)
