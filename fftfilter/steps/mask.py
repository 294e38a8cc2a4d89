"""Mask: the spectrum times the transfer function, around DC in the corner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..plan import Stage, X
from ..transfer import Grid

if TYPE_CHECKING:
    from ..transfer import Transfer

SOURCE = "steps/mask.cl"


def mask(height: int, width: int, images: int, transfer: Transfer, reversed_bits: tuple[int, int] = (0, 0)) -> Stage:
    """Multiply spectra of images of ``(height, width)`` by H, in place.

    The spectra lie transposed, as rows, transpose and rows leave them: ``(width, height)``. Along an axis
    whose bins lie in bit-reversed order ``reversed_bits`` is log2 of its length, else 0; (height, width).
    """
    grid = Grid(height, width)
    outer, inner = transfer.cutoffs(height, width)
    scales = (np.uint64(grid.scale_y), np.uint64(grid.scale_x))
    cutoffs = (outer.limit, outer.radius2, inner.limit, inner.radius2, outer.order)
    return Stage(
        SOURCE,
        "mask",
        (height, width, images),
        (X, height, width, *scales, *cutoffs, *reversed_bits),
        defines=(f"SHAPE={transfer.shape}", f"PASS={transfer.kind}"),
    )
