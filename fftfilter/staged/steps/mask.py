"""Mask: the spectrum times the transfer function, DC in the corner; its gains are computed or come from a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..plan import MASK, Launch, X

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...transfer.radial import Radial

SOURCE = "staged/steps/mask.cl"
SHAPES = "shapes.cl"


def mask(
    height: int, width: int, images: int, radial: Radial | None, reversed_bits: tuple[int, int] = (0, 0)
) -> Launch:
    """Multiply spectra of images of ``(height, width)`` by H, in place; None takes all gains from the table MASK.

    The spectra lie transposed, ``(width, height)``, as they are after rows, transpose and rows. ``reversed_bits`` is
    for (height, width): log2 of the length if the bins along that axis are in bit-reversed order, else 0.
    """
    if radial is None:
        arguments = (X, MASK, height, width, *reversed_bits)
        return Launch(SOURCE, "mask", (height, width, images), arguments, defines=("SHAPE=table",), before=(SHAPES,))
    outer, inner = radial.cutoffs(height, width)
    numbers = [number for cutoff in (outer, inner or outer) for number in (*cutoff.steps(), cutoff.falloff)]
    return Launch(
        SOURCE,
        "mask",
        (height, width, images),
        (X, MASK, height, width, *numbers, int(inner is not None), int(radial.is_complement), *reversed_bits),
        defines=(f"SHAPE={radial.shape}",),
        before=(SHAPES,),
    )


def mask_table(
    height: int,
    width: int,
    radial: Radial | None,
    table: NDArray[np.float64] | None,
    real: np.dtype[np.floating],
) -> NDArray[np.uint32] | NDArray[np.floating]:
    """Return the table MASK: gains, transposed as the spectra are, if ``table`` has any.

    For a radial function it is how many kx of every row are nearer than the outer cutoff, then than the inner.
    """
    if radial is None or table is not None:
        return np.ascontiguousarray(np.asarray(table).T, real)
    return np.concatenate([cutoff.near_in_rows() for cutoff in radial.cutoffs(height, width) if cutoff])
