"""Bluestein's chirp-z transform: any length, on top of an algorithm for powers of two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .plan import FLIP, FORWARD, INVERSE, SPIN, Launch, RowPlan, X, Y

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE = "staged/bluestein.cl"


def bluestein(n: int, plan: Callable[[int], RowPlan]) -> RowPlan:
    """Return the transform of length n as a convolution of length m, the power of two from 2n - 1 up.

    ``plan`` returns the transform of length m. The table holds its spin factors, then the n chirps, then the m values
    of the filter's spectrum, in the order in which the inner transform leaves a spectrum.
    """
    m = 1 << (2 * n - 2).bit_length()
    inner = plan(m)
    chirp = np.uint64(inner.spin_length)
    filter_ = np.uint64(inner.spin_length + n)
    return RowPlan(
        n,
        inner.spin_length + n + m,
        tables=(
            *inner.tables,
            Launch(SOURCE, "chirp", (n,), (SPIN, chirp, np.uint64(n))),
            Launch(SOURCE, "chirp_filter", (m,), (X, SPIN, chirp, n, m)),
            *inner.run(1, FORWARD, ordered=False),
            Launch(SOURCE, "keep_filter", (m,), (SPIN, X, filter_, m)),
        ),
        launches=(
            Launch(SOURCE, "chirp_in", (m,), (Y, X, SPIN, FLIP, chirp, n, m), swap=True),
            *inner.run(1, FORWARD, ordered=False),
            Launch(SOURCE, "convolve", (m,), (X, SPIN, FLIP, filter_, m)),
            *inner.run(1, INVERSE, ordered=False),
            Launch(SOURCE, "chirp_out", (n,), (Y, X, SPIN, FLIP, chirp, n, m), swap=True),
        ),
        width=max(m, inner.width),
    )
