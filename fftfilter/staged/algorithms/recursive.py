"""The recursive transform R-FFT, on the host.

Idea     transform the even and the odd samples by calling oneself, then combine: y[i] = q[i mod n/2] +
         w^i t[i mod n/2]. OpenCL C has no recursion: this runs in Python, for all rows at once
Radix    2
Trips    none on the device: read and written once
Limits   n a power of two; runs on the host, and so its times are the host's
Source   M. McCarthy, GPU Accelerated Fast Fourier Transform (2015)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..steps import FLIP, Launch, RowPlan

Rows = NDArray[np.complexfloating[Any, Any]]


def plan(n: int) -> RowPlan:
    """Return a function on the host."""
    launch = Launch("recursive", "recursive", (n,), {"flip": FLIP}, host=transform)
    return RowPlan(n, spin_length=0, tables=(), launches=(launch,), width=n)


def transform(x: Rows, flip: np.uint32) -> Rows:
    """Return the transform of rows ``(rows, n)`` in their own precision, unnormalized; ``flip`` as in kernels."""
    n = x.shape[1]
    turn = -2j if flip == 0 else 2j
    return _recursive(x, np.exp(turn * np.pi * np.arange(n // 2) / n).astype(x.dtype))


def _recursive(x: Rows, w: Rows) -> Rows:
    """Combine the transforms of even and odd samples; ``w`` holds the powers w^0 ... w^(n/2 - 1).

    w^(n/2) is -1, so the second half of y takes the difference.
    """
    if x.shape[1] == 1:
        return x
    q = _recursive(x[:, 0::2], w[0::2])
    t = w * _recursive(x[:, 1::2], w[0::2])
    return np.concatenate((q + t, q - t), axis=1)
