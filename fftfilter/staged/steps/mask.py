"""Mask: the spectrum times the transfer function, around DC in the corner, computed or from a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..plan import REACH, Stage, X

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...transfer.radial import Radial

SOURCE = "staged/steps/mask.cl"
SHAPES = "shapes.cl"


def mask(height: int, width: int, images: int, radial: Radial | None, reversed_bits: tuple[int, int] = (0, 0)) -> Stage:
    """Multiply spectra of images of ``(height, width)`` by H, in place; None takes H from the table REACH.

    The spectra lie transposed, as rows, transpose and rows leave them: ``(width, height)``. Along an axis
    whose bins lie in bit-reversed order ``reversed_bits`` is log2 of its length, else 0; (height, width).
    """
    if radial is None:
        arguments = (X, REACH, height, width, *reversed_bits)
        return Stage(SOURCE, "mask", (height, width, images), arguments, defines=("SHAPE=table",), before=(SHAPES,))
    outer, inner = radial.cutoffs(height, width)
    steps = (*outer.steps(), *(inner or outer).steps())
    return Stage(
        SOURCE,
        "mask",
        (height, width, images),
        (X, REACH, height, width, *steps, np.int32(radial.order), *reversed_bits),
        defines=(f"SHAPE={radial.shape}", f"PASS={radial.kind}"),
        before=(SHAPES,),
    )


def reach(
    height: int,
    width: int,
    radial: Radial | None,
    table: NDArray[np.float64] | None,
    real: np.dtype[np.floating],
) -> NDArray[np.uint32] | NDArray[np.floating]:
    """Return the table REACH that the mask reads.

    How many kx of every row are nearer than the outer cutoff, then than the inner; or any gains, transposed as the
    spectra are.
    """
    if radial is None or table is not None:
        return np.ascontiguousarray(np.asarray(table).T, real)
    return np.concatenate([cutoff.near_in_rows() for cutoff in radial.cutoffs(height, width) if cutoff])
