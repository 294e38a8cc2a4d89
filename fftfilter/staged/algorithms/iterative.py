"""The iterative transform I-FFT, run by a single work-item.

Idea     the loops of binary exchange in one kernel, for a row from its first number to its last: the
         sequential transform, to compare the parallel ones with on the same device
Radix    2
Trips    log2 n + 1 in two launches; all out of place
Limits   n a power of two; one work-item a row, so slow on purpose
Source   M. McCarthy, GPU Accelerated Fast Fourier Transform (2015)
"""

from __future__ import annotations

from ..steps import FLIP, SPIN, Launch, RowPlan, X, Y, bit_reversal, spin_factors

SOURCE = "staged/algorithms/iterative.cl"


def plan(n: int) -> RowPlan:
    """Return one work-item for all stages, then bit reversal."""
    log2_n = n.bit_length() - 1
    arguments = {"y": Y, "x": X, "w": SPIN, "flip": FLIP, "log2_n": log2_n}
    # The kernel swaps its buffers log2_n times: an odd number leaves the result in the other one.
    loops = Launch(SOURCE, "iterative", (1,), arguments, swap=log2_n % 2 == 1, group=(1, 1))
    return RowPlan(n, spin_length=n // 2, tables=(spin_factors(n),), launches=(loops, bit_reversal(n)), width=n)
