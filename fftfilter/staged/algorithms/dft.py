"""The direct sum, the definition itself.

Idea     every number of the spectrum is a sum over all n samples; Theta(n^2), which the others are measured
         against
Radix    n
Trips    1 to write; each number is read n times
Limits   any n; slow from some thousands up
Source   the definition, DFT in M. McCarthy, GPU Accelerated Fast Fourier Transform (2015); its sum is
         compensated after W. Kahan, Comm. ACM 8 (1965) 40
"""

from __future__ import annotations

from ..steps import FLIP, SPIN, Launch, RowPlan, X, Y

SOURCE = "staged/algorithms/dft.cl"


def supports(n: int) -> bool:
    """Every n is possible."""
    return n >= 1


def plan(n: int) -> RowPlan:
    """Return the sum as one launch, one work-item a number of the spectrum."""
    table = Launch(SOURCE, "dft_spin_factors", (n,), {"w": SPIN, "n": n})
    sum_ = Launch(SOURCE, "dft", (n,), {"y": Y, "x": X, "w": SPIN, "flip": FLIP, "n": n}, swap=True)
    return RowPlan(n, spin_length=n, tables=(table,), launches=(sum_,), width=n)
