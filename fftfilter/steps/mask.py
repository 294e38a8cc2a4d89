"""Mask: the spectrum times the transfer function, around DC in the corner, computed or from a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..plan import REACH, Stage, X
from ..transfer import Mask

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..transfer import AnyTransfer

SOURCE = "steps/mask.cl"


def mask(height: int, width: int, images: int, transfer: AnyTransfer, reversed_bits: tuple[int, int] = (0, 0)) -> Stage:
    """Multiply spectra of images of ``(height, width)`` by H, in place.

    The spectra lie transposed, as rows, transpose and rows leave them: ``(width, height)``. Along an axis
    whose bins lie in bit-reversed order ``reversed_bits`` is log2 of its length, else 0; (height, width).
    """
    if isinstance(transfer, Mask):
        arguments = (X, REACH, height, width, *reversed_bits)
        return Stage(SOURCE, "mask", (height, width, images), arguments, defines=("SHAPE=table",))
    outer, inner = transfer.cutoffs(height, width)
    steps = (*outer.steps(), *(inner or outer).steps())
    return Stage(
        SOURCE,
        "mask",
        (height, width, images),
        (X, REACH, height, width, *steps, np.int32(transfer.order), *reversed_bits),
        defines=(f"SHAPE={transfer.shape}", f"PASS={transfer.kind}"),
    )


def reach(
    height: int, width: int, transfer: AnyTransfer, real: np.dtype[np.floating]
) -> NDArray[np.uint32] | NDArray[np.floating]:
    """Return the table REACH that the mask reads.

    The outer cutoff's reach in every row, then the inner's; or any gains, transposed as the spectra are.
    """
    if isinstance(transfer, Mask):
        return np.ascontiguousarray(transfer.fit(height, width).T, real)
    return np.concatenate([cutoff.reach() for cutoff in transfer.cutoffs(height, width) if cutoff])
