"""Transforms in two steps, for sides that a work-group does not hold: plain data, made without a device.

A length is split in two, outer and middle, after Bailey (FFTs in external or hierarchical memory, 1990); the split and
the kernels that share it are explained in ``kernels/fused/gpu/long/steps.cl``. Lengths that cannot be split go by
Bluestein's chirp-z, as a convolution of a longer one that can.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ..tables import chirp, chirp_filter, convolution_lengths, twiddles
from . import transform
from .transform import DEFAULT, SMALL_PRIMES, TransformPlan, fits_direct, plan_transform

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from .transform import Limits

# Splits and convolution lengths that are compared, from the most even and the shortest on.
CHOICES = 4


@dataclass(frozen=True)
class LongPlan:
    """A transform of ``points`` numbers as one of ``length`` in two steps; they differ for Bluestein's.

    Both steps have their transforms side by side: rows their own numbers, columns their neighbors.
    """

    points: int
    length: int
    outer: TransformPlan
    middle: TransformPlan

    @property
    def is_bluestein(self) -> bool:
        """Whether it goes by Bluestein's convolution."""
        return self.points != self.length

    @property
    def batch(self) -> int:
        """The most transforms side by side in a work-group of either step."""
        return max(self.outer.batch, self.middle.batch)

    def defines(self, step: TransformPlan) -> tuple[str, ...]:
        """Return what the kernels of a step must know at compile time."""
        return (*step.defines(), f"LONG_POINTS={self.points}", f"LONG_LENGTH={self.length}")

    def tables(self) -> list[NDArray[np.complex64]]:
        """Return the tables of both steps and of what is between: twiddle factors, Bluestein's chirp and its filter."""
        tables = [twiddles(np.arange(self.length), self.length)]
        if self.is_bluestein:
            own = chirp(self.points)
            tables += [own, chirp_filter(own, self.length)]
        between = np.concatenate(tables).astype(np.complex64)
        return [*self.outer.tables(), *self.middle.tables(), between]


@cache
def splits(n: int, limits: Limits = DEFAULT, *, columns: bool) -> tuple[tuple[int, int], ...]:
    """Return the most even splits of n into (outer, middle) that work-groups hold; none if there are none.

    The middle step is the shorter one, as it often goes forward and back in one launch. The outer step of columns
    whose rows are paired is even, so that both rows of a pair are in one transform.
    """
    paired = columns and n % 2 == 0

    def found() -> Iterator[tuple[int, int]]:
        outers = (outer for outer in range(2, n // 2 + 1) if n % outer == 0 and not (paired and outer % 2))
        for outer in sorted(outers, key=lambda outer: (max(outer, n // outer), -outer)):
            if all(fits_direct(step, limits) for step in (outer, n // outer)):
                yield outer, n // outer

    return tuple(split for split, _ in zip(found(), range(CHOICES), strict=False))


def plan_long(n: int, limits: Limits = DEFAULT, *, columns: bool, count: int) -> LongPlan | None:
    """Return how ``count`` transforms of n points go in two steps, None if n is too long."""
    choices = _choices(n, columns, limits)
    if not choices:
        return None
    length, outer, middle = min(choices, key=lambda choice: _cost(choice[1], choice[2], limits, columns=columns))
    paired = columns and n == length and n % 2 == 0
    return LongPlan(
        n,
        length,
        plan_transform(outer, limits, columns=paired, count=count if columns else middle),
        plan_transform(middle, limits, columns=False, count=count if columns else outer),
    )


def _choices(n: int, columns: bool, limits: Limits) -> list[tuple[int, int, int]]:
    """Return the (length, outer, middle) to choose from."""
    if n > limits.longest:
        return []
    direct = [(n, *split) for split in splits(n, limits, columns=columns)]
    if direct:
        return direct
    good = convolution_lengths(n, min(4 * n, limits.longest), SMALL_PRIMES)
    split_up = ((length, split) for length in good if (split := splits(length, limits, columns=False)))
    few = zip(split_up, range(CHOICES), strict=False)
    return [(length, *split) for (length, found), _ in few for split in found]


def _cost(outer: int, middle: int, limits: Limits, *, columns: bool) -> float:
    paired = columns and outer % 2 == 0
    return middle * transform.cost(outer, limits, columns=paired) + outer * transform.cost(middle, limits)
