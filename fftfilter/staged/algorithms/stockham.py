"""Stockham's autosort, radix 2, 4, 8 or 16.

Idea     every stage reads R numbers n/R apart and writes them p apart, p = 1, R, R^2 ...; this leaves the spectrum
         in order without bit reversal, and two buffers take turns
Radix    2, 4, 8 or 16; where log2 n is no multiple of log2 R, the last stage takes the radix that is left.
         Complex products are plain, or made of mad
Trips    log2 n / log2 R, rounded up
Limits   n a power of two
Source   E. Bainville, OpenCL Fast Fourier Transform (2010), "A simple radix-2 kernel" and its higher radices
"""

from __future__ import annotations

from ...errors import check_option
from ..steps import FLIP, SPIN, Launch, RowPlan, X, Y, spin_factors

SOURCE = "staged/algorithms/stockham.cl"


def plan(n: int, *, radix: int = 4, arithmetic: str = "plain") -> RowPlan:
    """Return one out-of-place stage for every factor ``radix`` of n; ``arithmetic`` is plain or mad."""
    check_option("radix", radix, (2, 4, 8, 16))
    check_option("arithmetic", arithmetic, ("plain", "mad"))
    stages = []
    p = 1
    while p < n:
        r = min(radix, n // p)
        defines = (f"STOCKHAM_RADIX={r}", f"STOCKHAM_MULTIPLY=multiply_{arithmetic}")
        arguments = {"y": Y, "x": X, "w": SPIN, "flip": FLIP, "n": n, "p": p}
        stages.append(Launch(SOURCE, "stockham", (n // r,), arguments, swap=True, defines=defines))
        p *= r
    return RowPlan(n, spin_length=n // 2, tables=(spin_factors(n),), launches=tuple(stages), width=n)
