"""Spin factors (twiddle factors): ``W(i, n) = exp(-2 pi i sqrt(-1) / n)``."""

from __future__ import annotations

from ..plan import SPIN, Launch

SOURCE = "staged/steps/spin_factors.cl"


def spin_factors(n: int) -> Launch:
    """Fill the table with the n/2 spin factors of a transform of length n, a power of two."""
    return Launch(SOURCE, "spin_factors", (n // 2,), (SPIN, n))
