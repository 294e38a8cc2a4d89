"""Quantize: magnitudes to the pixels that are written."""

from __future__ import annotations

import numpy as np

from ..plan import IMAGE, NOISE_FLOOR, Stage, X, Y

SOURCE = "steps/quantize.cl"

# A level that rounding left short of a whole number by less than this counts as reached, so that a filter
# that passes everything gives the image back. It moves one pixel of 2048 by one level.
NUDGE = 1 / 2048
# From this part of the largest value on, values are white: where many are equally large (a plain surface, a
# checkerboard), rounding picks one of them as the largest, by more than the nudge, and the others would miss white.
WHITE = 1 - 2**-16


def rounding(levels: int, *, is_float: bool) -> tuple[float, float, float]:
    """Return what the kernels map magnitudes by: the level that is white, the nudge, and the part that is white."""
    return (1.0, 0.0, 1.0) if is_float else (float(levels), NUDGE, WHITE)


def quantize(count: int, images: int, first_pair: int, pixel: str, levels: int) -> Stage:
    """Map images of count magnitudes in X to 0 ... levels by their extremes in Y; float pixels to 0 ... 1."""
    by = rounding(levels, is_float=pixel == "float")
    arguments = (IMAGE, X, Y, np.uint64(first_pair), np.uint64(count), NOISE_FLOOR, *by)
    return Stage(SOURCE, "quantize", (count, images), arguments, defines=(f"STORE_PIXEL={pixel}",))
