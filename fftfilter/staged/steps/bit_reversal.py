"""Bit reversal: the permutation that decimation in time starts with."""

from __future__ import annotations

from ..plan import Stage, X, Y

SOURCE = "staged/steps/bit_reversal.cl"


def bit_reversal(n: int) -> Stage:
    """Permute rows of length n, a power of two, out of place."""
    return Stage(SOURCE, "bit_reversal", (n,), (Y, X, n.bit_length() - 1), swap=True)
