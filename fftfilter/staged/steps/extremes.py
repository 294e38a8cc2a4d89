"""Extremes: the smallest and the largest magnitude, found on the device."""

from __future__ import annotations

import numpy as np

from ..plan import Launch, Local, X, Y

SOURCE = "staged/steps/extremes.cl"
MOST_GROUPS = 64


def extremes(count: int, images: int, size: int) -> tuple[Launch, ...]:
    """Reduce images of ``count`` values in X to a pair each in Y, the first at :func:`first_pair`.

    ``size`` is the size of a work-group, a power of two.
    """
    groups = _groups(count, size)
    return (
        Launch(
            SOURCE,
            "extremes_of_values",
            (groups * size, images),
            (Y, X, np.uint64(count), Local(size)),
            group=(size, 1),
        ),
        Launch(SOURCE, "extremes_of_extremes", (size, images), (Y, groups, Local(size)), group=(size, 1)),
    )


def first_pair(count: int, images: int, size: int) -> int:
    """Return where in Y the first image's pair lies: behind the pairs of the work-groups."""
    return _groups(count, size) * images


def _groups(count: int, size: int) -> int:
    """Return how many work-groups reduce an image: no more than have work."""
    return min(MOST_GROUPS, -(-count // size))
