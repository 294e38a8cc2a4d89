"""Normalize: the division by the number of samples, by which the inverse undoes the forward transform."""

from __future__ import annotations

from ..plan import Launch, X

SOURCE = "staged/steps/normalize.cl"


def normalize(n: int, rows: int) -> Launch:
    """Divide rows of length n by n, in place."""
    return Launch(SOURCE, "normalize_rows", (n, rows), (X, n))
