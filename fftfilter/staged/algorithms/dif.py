"""Cooley-Tukey, radix 2, decimation in frequency.

Idea     butterflies on natural input, each half as wide as the last; the spectrum comes out bit-reversed.
         A filter leaves it so: the mask is read in that order, and the inverse is decimation in time, which
         begins with bit-reversed input. No number is moved only to sort it
Radix    2
Trips    log2 n in place; where the order counts 1 more out of place, bit reversal, which a filter does without
Limits   n a power of two
Source   J. W. Cooley, J. W. Tukey, Math. Comp. 19 (1965) 297-301, as Figure 1a of Marichal-Hernandez, Rosa,
         Rodriguez-Ramos, Efficient implementation of the FFT on a stream-programmed GPU (2005)
"""

from __future__ import annotations

from ..steps import FLIP, SPIN, Launch, RowPlan, X, bit_reversal, butterfly, spin_factors

SOURCE = "staged/algorithms/dif.cl"


def plan(n: int) -> RowPlan:
    """Return narrowing butterflies and bit reversal; unordered, DIF forward and DIT inverse without it."""
    log2_n = n.bit_length() - 1
    narrowing = tuple(
        Launch(SOURCE, "dif_butterfly", (n // 2,), {"x": X, "w": SPIN, "flip": FLIP, "n": n, "stage": stage})
        for stage in range(log2_n, 0, -1)
    )
    widening = tuple(butterfly(n, stage) for stage in range(1, log2_n + 1))
    launches = *narrowing, bit_reversal(n)
    return RowPlan(n, n // 2, (spin_factors(n),), launches, width=n, unordered=(narrowing, widening))
