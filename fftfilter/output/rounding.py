"""From a magnitude to a grey level: truncated, as in the book, but for what rounding has left short of a level."""

from __future__ import annotations

# A level that rounding left short of a whole number by less than this counts as reached, so that a filter
# that passes everything gives the image back. It moves one pixel of 2048 by one level.
NUDGE = 1 / 2048
# From this part of the largest value on, values are white: where many are equally large (a plain surface, a
# checkerboard), rounding picks one of them as the largest, by more than the nudge, and the others would miss white.
WHITE = 1 - 2**-16


def rounding(levels: int, *, is_float: bool) -> tuple[float, float, float]:
    """Return what the kernels map magnitudes by: the level that is white, the nudge, and the part that is white."""
    return (1.0, 0.0, 1.0) if is_float else (float(levels), NUDGE, WHITE)
