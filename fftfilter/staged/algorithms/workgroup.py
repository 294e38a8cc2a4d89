"""One work-group for each transform of 2r numbers, as published.

Idea     r work-items load 2r numbers n/(2r) apart, scale them by their spin factors, run butterflies in local
         memory and write them bit-reversed, which is in order; several launches make up the length
Radix    2r, r = 1, 2, 4 ... up to the largest work-group of the device; the last launch takes what is left
Trips    log2 n / log2 2r, rounded up
Limits   n a power of two
Source   E. Bainville, OpenCL Fast Fourier Transform (2010), "One work-group per DFT (1)"
"""

from __future__ import annotations

from ...errors import ParameterError
from ..steps import FLIP, Launch, Local, RowPlan, X, Y

SOURCE = "staged/algorithms/workgroup.cl"


def plan(n: int, *, r: int = 32) -> RowPlan:
    """Return one launch for every factor 2r of n, in work-groups of r."""
    if not isinstance(r, int) or r < 1 or r & (r - 1):
        raise ParameterError(f"r {r!r} is invalid: choose a power of two, 1, 2, 4 ...")
    stages = []
    p = 1
    while p < n:
        size = min(r, n // p // 2)
        arguments = {"y": Y, "x": X, "flip": FLIP, "p": p, "u": Local(2 * size)}
        stages.append(Launch(SOURCE, "workgroup", (n // 2,), arguments, swap=True, group=(size, 1)))
        p *= 2 * size
    return RowPlan(n, spin_length=0, tables=(), launches=tuple(stages), width=n)
