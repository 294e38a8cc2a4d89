"""Butterfly: one stage of the transform; two numbers in, their sum and difference out."""

from __future__ import annotations

from ..plan import FLIP, SPIN, Launch, X

SOURCE = "staged/steps/butterfly.cl"


def butterfly(n: int, stage: int) -> Launch:
    """Run stage 1 ... log2 n of rows of length n, in place, on bit-reversed input."""
    return Launch(SOURCE, "butterfly", (n // 2,), (X, SPIN, FLIP, n, stage))
