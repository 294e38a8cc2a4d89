"""From a magnitude to a grey level: truncated, as in the book, with rounding errors taken into account."""

from __future__ import annotations

# A level that rounding left short of a whole number by less than this counts as reached, so that a filter
# that passes everything gives the image back. It moves one pixel of 2048 by one level.
NUDGE = 1 / 2048
# Values from this part of the largest on are white. Where many are equally large (a plain surface, a checkerboard),
# rounding makes one of them the largest, by more than the nudge, and the others would miss white.
WHITE = 1 - 2**-16


def rounding(levels: int, *, is_float: bool) -> tuple[float, float, float]:
    """Return the numbers by which kernels quantize: the white level, the nudge, and the part that is white."""
    return (1.0, 0.0, 1.0) if is_float else (float(levels), NUDGE, WHITE)
