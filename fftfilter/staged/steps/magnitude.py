"""Magnitude: the absolute value of every complex number."""

from __future__ import annotations

from ..plan import GROUND, Launch, X, Y

SOURCE = "staged/steps/magnitude.cl"


def magnitude(width: int, height: int, images: int, dc: float) -> Launch:
    """Write the magnitudes, real numbers, to the other buffer, with ``dc``, H(0), times each image's ground."""
    return Launch(SOURCE, "magnitude", (width, height, images), (Y, X, GROUND, dc, width), swap=True)
