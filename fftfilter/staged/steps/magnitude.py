"""Magnitude: the absolute value of every complex number."""

from __future__ import annotations

from ..plan import Stage, X, Y

SOURCE = "staged/steps/magnitude.cl"


def magnitude(width: int, rows: int) -> Stage:
    """Write the magnitudes, real numbers, to the other buffer."""
    return Stage(SOURCE, "magnitude", (width, rows), (Y, X, width), swap=True)
