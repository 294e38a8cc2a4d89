"""The transform of rows, as the book's ``fft_core``.

In the book it is bit reversal, butterflies and, for the inverse, the division by the number of samples. Any other
algorithm's launches may take the place of the first two. One long row is a 1-D signal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .bluestein import bluestein
from .plan import INVERSE, SPIN, Launch, RowPlan
from .steps.normalize import normalize

if TYPE_CHECKING:
    from .algorithms import Algorithm


def plan_rows(n: int, algorithm: Algorithm) -> RowPlan:
    """Return how an algorithm transforms rows of length n: directly where it can, else through Bluestein."""
    if n == 1:
        return RowPlan(1, 0, (), (), 1)
    if algorithm.supports(n):
        return algorithm.plan(n)
    return bluestein(n, algorithm.plan)


def fft_core(plan: RowPlan, rows: int, direction: int, *, ordered: bool = True) -> tuple[Launch, ...]:
    """Return the launches that transform ``rows`` rows: FORWARD unnormalized, INVERSE divided by n.

    ``ordered=False`` leaves the permutation out if the algorithm can: the spectrum is then bit-reversed.
    """
    launches = tuple(launch.bind({SPIN: plan.spin}) for launch in plan.run(rows, direction, ordered=ordered))
    return (*launches, normalize(plan.n, rows)) if direction == INVERSE and plan.n > 1 else launches
