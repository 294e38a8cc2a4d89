"""Pease's constant geometry, on packed pairs.

Idea     two complex numbers in each float4; every stage has the same geometry: butterflies of the two numbers
         within a float4, then recombination, which moves the least significant bit of the position to the
         top. The spin factors of a stage are the first half of the last stage's; the last two stages need no
         general multiplication. Bit reversal comes first, the most and the least significant bit by themselves
Radix    2
Trips    log2 n + 1; all out of place
Limits   n a power of two
Source   Marichal-Hernandez, Rosa, Rodriguez-Ramos, Efficient implementation of the FFT on a stream-programmed
         GPU (2005), after M. C. Pease, J. ACM 15 (1968) 252-264; layout square is its section 4.3
"""

from __future__ import annotations

from ...errors import check_option
from ..steps import FLIP, SPIN, Launch, RowPlan, X, Y

SOURCE = "staged/algorithms/pease.cl"
TRANSPOSE = "float4"


def plan(n: int, *, layout: str = "line") -> RowPlan:
    """Return bit reversal and log2 n stages of one geometry.

    ``layout`` "line" launches over a row as it is, "square" over the row of n = N^2 numbers laid out as
    N x N (N x 2N for odd powers), where recombination goes by even and odd rows as well; from n = 8 up.
    """
    check_option("layout", layout, ("line", "square"))
    if n == 2:
        pair = Launch(SOURCE, "pease_pair", (1,), {"x": X})
        return RowPlan(n, spin_length=0, tables=(), launches=(pair,), width=n)
    log2_n = n.bit_length() - 1
    distinct = [1 << (log2_n - 1 - stage) for stage in range(log2_n)]
    arguments = {"y": Y, "x": X, "w": SPIN, "flip": FLIP}
    if layout == "square" and n >= 8:
        height = 1 << (log2_n // 2)
        width = n // height
        square = {**arguments, "width": width, "height": height}
        stages = tuple(
            Launch(SOURCE, "pease_square", (width // 4, height), {**square, "distinct": d}, swap=True) for d in distinct
        )
    else:
        line = {**arguments, "n": n}
        stages = tuple(Launch(SOURCE, "pease_line", (n // 4,), {**line, "distinct": d}, swap=True) for d in distinct)
    table = Launch(SOURCE, "pease_spin_factors", (n // 2,), {"w": SPIN, "log2_n": log2_n})
    reversal = Launch(SOURCE, "pease_bit_reversal", (n // 2,), {"y": Y, "x": X, "log2_n": log2_n}, swap=True)
    return RowPlan(n, spin_length=n // 2, tables=(table,), launches=(reversal, *stages), width=n)
