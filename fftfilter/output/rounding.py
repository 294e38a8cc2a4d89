"""Rounding errors: how grey levels take them into account, what counts as noise, and when single precision is too weak.

A magnitude becomes a grey level by truncation, as in the book. A level that rounding leaves just below a whole number
counts as reached.

A filter that removes everything still leaves rounding errors: in single precision up to 1.4e-6 of what goes through the
transforms, an image's deviation from its offset (``offset.py``). Without a floor they would be stretched to a full
picture. The floor lies seven times above them.

Above the floor, a result is as exact as it is strong. Errors spread over all frequencies, so that a filter passes them
by its mean gain: measured over smooth, periodic and random images that lie outside of what a filter passes, their mean
is at most 2.5e-7, and their largest 1.7e-6, of the image's largest deviation times the root of the mean square
of the gains. WEAK is where a mean of 1/500 of a level of 255, which is 1 pixel of 500 on the wrong side of a level, is
left.

That holds for levels that lie anywhere between two edges, not where many are undecided: where nearly everything of
whole numbers passes, or where few values are all that a picture has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .stack import Stack

NOISE = 1e-5
"""A result that never exceeds this part of the input's largest deviation from its offset is rounding noise."""
WEAK = 1 / 30
"""A result that never exceeds this part of what goes through the transforms needs double precision.

That is the input's deviation times the mean gain, or its mean deviation times H(0), if that is more.
"""
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


def most_undecided(stack: Stack) -> float:
    """Return how many samples of a picture may be undecided: one, and fewer than may differ."""
    return max(1.5, stack.size / stack.pictures / 750)
