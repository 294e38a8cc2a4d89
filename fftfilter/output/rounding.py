"""From a magnitude to a grey level: truncated, as in the book, with rounding errors taken into account."""

from __future__ import annotations

# A level that rounding left short of a whole number by less than this counts as reached, so that a filter
# that passes everything gives the image back. It moves one pixel of 2048 by one level.
NUDGE = 1 / 2048
# A sample whose level lies this near to the edge between two pixels is undecided: single precision may put it on either
# side, as it is off by 2e-5 to 1e-4 of 255 levels. Chance puts one sample of 8192 there. Levels that are whole numbers
# stay outside. Twice as much would take photographs of which nearly everything passes for undecided.
UNDECIDED = NUDGE / 8
# Values from this part of the largest on are white. Where many are equally large (a plain surface, a checkerboard),
# rounding makes one of them the largest, by more than the nudge, and the others would miss white.
WHITE = 1 - 2**-16


def rounding(levels: int, *, is_float: bool) -> tuple[float, float, float, float]:
    """Return the numbers by which kernels quantize: the white level, the nudge, the part that is white, and UNDECIDED.

    Of more levels than 255 each sample may be off by one: none is undecided.
    """
    return (1.0, 0.0, 1.0, 0.0) if is_float else (float(levels), NUDGE, WHITE, UNDECIDED if levels <= 255 else 0.0)


def decided_row(height: int, width: int) -> int:
    """Return n where every n-th row tells how much of a picture is undecided: odd, as what repeats is often even."""
    return min(height * width >> 13, 128) | 1
