"""The book's transform: Cooley-Tukey, radix 2, decimation in time.

Idea     bit reversal, then log2 n stages of butterflies, each twice as wide as the last
Radix    2
Trips    log2 n + 1 through global memory; bit reversal out of place, butterflies in place
Limits   n a power of two
Source   The OpenCL Programming Book (Fixstars), section 6.1
"""

from __future__ import annotations

from ..steps import RowPlan, bit_reversal, butterfly, spin_factors


def plan(n: int) -> RowPlan:
    """Return spin factors, bit reversal and butterflies for rows of length n, a power of two."""
    stages = tuple(butterfly(n, stage) for stage in range(1, n.bit_length()))
    return RowPlan(n, spin_length=n // 2, tables=(spin_factors(n),), launches=(bit_reversal(n), *stages), width=n)
