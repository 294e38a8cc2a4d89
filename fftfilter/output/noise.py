"""The noise floor, and what is too weak for single precision.

A filter that removes everything still leaves rounding errors: in single precision up to 1.4e-6 of what goes through the
transforms, an image's deviation from its offset (``offset.py``). Without a floor they would be stretched to a full
picture. The floor lies seven times above them.

Above the floor, a result is as exact as it is strong. Errors spread over all frequencies, so that a filter passes them
by its mean gain: measured over smooth, periodic and random images that lie outside of what a filter passes, their mean
is at most 2.5e-7, and their largest 1.7e-6, of the image's largest deviation times the root of the mean square
of the gains. WEAK is where a mean of 1/500 of a level of 255, which is 1 pixel of 500 on the wrong side of a level, is
left.

That holds for levels that lie anywhere between two edges, not where many are undecided (``rounding.py``): where nearly
everything of whole numbers passes, or where few values are all that a picture has.
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


def most_undecided(stack: Stack) -> float:
    """Return how many samples of a picture may be undecided: one, and fewer than may differ."""
    return max(1.5, stack.size / stack.pictures / 750)
