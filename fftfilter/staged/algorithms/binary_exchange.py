"""Binary exchange, PAR-FFT: p work-items, each with a block of the row.

Idea     in stage m every number is combined with the one whose index differs in bit m from the top; each of p
         work-items does this for its own block of n/p, with two buffers in turn and a launch as the barrier.
         The result is unordered, as published; a bit reversal at the end sorts it
Radix    2
Trips    log2 n + 1; all out of place
Limits   n a power of two; p from 1 up, by default n, which is also the most that have work
Source   M. McCarthy, GPU Accelerated Fast Fourier Transform (2015), after A. Grama et al., Introduction to
         Parallel Computing
"""

from __future__ import annotations

from ...errors import ParameterError
from ..steps import FLIP, SPIN, Launch, RowPlan, X, Y, bit_reversal, spin_factors

SOURCE = "staged/algorithms/binary_exchange.cl"


def plan(n: int, *, p: int | None = None) -> RowPlan:
    """Return a launch of p work-items for every bit, then bit reversal; None is one work-item a number."""
    if p is not None and (not isinstance(p, int) or p < 1):
        raise ParameterError(f"p {p!r} is invalid: choose a number of work-items, 1 or more")
    items = min(p or n, n)
    log2_n = n.bit_length() - 1
    arguments = {"r": Y, "s": X, "w": SPIN, "flip": FLIP, "log2_n": log2_n}
    stages = tuple(
        Launch(SOURCE, "binary_exchange", (items,), {**arguments, "m": m, "p": items}, swap=True) for m in range(log2_n)
    )
    return RowPlan(n, spin_length=n // 2, tables=(spin_factors(n),), launches=(*stages, bit_reversal(n)), width=n)
