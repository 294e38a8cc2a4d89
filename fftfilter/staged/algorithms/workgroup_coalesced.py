"""One work-group for several neighboring transforms of 2r numbers: what the profile of ``workgroup`` asks for.

Idea     as ``workgroup``, but a group of 256 work-items takes 256/r transforms side by side: neighbors read and
         write neighbors, no group is smaller than a SIMD unit, and spin factors come from a table
Radix    2r, r = 1, 2, 4 ... 256; the last launch takes what is left
Trips    log2 n / log2 2r, rounded up
Limits   n a power of two
Source   the profile in E. Bainville, OpenCL Fast Fourier Transform (2010), "One work-group per DFT (1)"
"""

from __future__ import annotations

from ...errors import check_option
from ..steps import FLIP, SPIN, Launch, Local, RowPlan, X, Y, spin_factors

SOURCE = "staged/algorithms/workgroup_coalesced.cl"
ITEMS = 256


def plan(n: int, *, r: int = 32) -> RowPlan:
    """Return one launch for every factor 2r of n, in work-groups of up to 256."""
    check_option("r", r, (1, 2, 4, 8, 16, 32, 64, 128, 256))
    stages = []
    p = 1
    while p < n:
        size = min(r, n // p // 2)
        side = min(ITEMS // size, n // (2 * size))
        arguments = {"y": Y, "x": X, "w": SPIN, "flip": FLIP, "n": n, "p": p, "r": size, "u": Local(2 * size * side)}
        group = (size * side, 1)
        stages.append(Launch(SOURCE, "workgroup_coalesced", (n // 2,), arguments, swap=True, group=group))
        p *= 2 * size
    return RowPlan(n, spin_length=n // 2, tables=(spin_factors(n),), launches=tuple(stages), width=n)
