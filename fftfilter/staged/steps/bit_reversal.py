"""Bit reversal: the permutation that decimation in time starts with."""

from __future__ import annotations

from ..plan import Launch, X, Y

SOURCE = "staged/steps/bit_reversal.cl"


def bit_reversal(n: int) -> Launch:
    """Permute rows of length n, a power of two, out of place."""
    return Launch(SOURCE, "bit_reversal", (n,), (Y, X, n.bit_length() - 1), swap=True)
