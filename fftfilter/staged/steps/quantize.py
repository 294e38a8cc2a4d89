"""Quantize: magnitudes to pixels."""

from __future__ import annotations

import numpy as np

from ...output.rounding import rounding
from ..plan import IMAGE, NOISE_FLOOR, UNDECIDED, Launch, X, Y

SOURCE = "staged/steps/quantize.cl"


def quantize(count: int, images: int, first_pair: int, pixel: str, levels: int) -> Launch:
    """Map images of count magnitudes in X to 0 ... levels by their extremes in Y; float pixels to 0 ... 1."""
    by = rounding(levels, is_float=pixel == "float")
    arguments = (IMAGE, X, Y, np.uint64(first_pair), np.uint64(count), NOISE_FLOOR, *by, UNDECIDED)
    return Launch(SOURCE, "quantize", (count, images), arguments, defines=(f"STORE_PIXEL={pixel}",))
