"""The transfer function as ``mask.cl`` reads it: bounds, scales or gains, and the shape's name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...transfer.edges import grid_with
from ...transfer.grid import parts_along_axes
from ...transfer.shapes import IDEAL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...transfer import Transfer
    from ...transfer.edges import Edges
    from ...transfer.radial import Radial
    from .plan import FusedPlan

    Array = NDArray[Any]


REALS = ("scale_x2", "scale_y2", "per_outer2", "per_inner2", "outer_falloff", "inner_falloff", "at_dc")
UNUSED: dict[str, float | int] = {**dict.fromkeys(REALS, 0.0), "is_complement": 0}
"""The numbers of a mask, as kernels declare them, where a table has the gains."""


class Mask(NamedTuple):
    """The part of a transfer function that is computed: some columns, and the arguments of their kernels."""

    tiles: int
    """Of columns that are stored and transformed."""
    complement: bool
    """Whether the mask is 1 - H, and what it leaves is subtracted from the image."""
    dc: float
    """H(0)"""
    shape: str
    """The shape for which kernels are compiled: one of the smooth ones, ideal or table."""
    data: Array
    numbers: dict[str, float | int]
    """By name, in the order in which kernels declare them."""


def mask(transfer: Transfer, plan: FusedPlan, edges: Edges, *, needs_two_inverses: bool) -> Mask:
    """Return the mask for images of a plan's size.

    If it ``needs_two_inverses``, the gains of a table are those of the part that is even along each axis, then of the
    odd one.
    """
    grid = grid_with(edges, transfer, plan.height, plan.width)
    support, table = grid.on_grid()
    columns = plan.width // 2 + 1
    # Reading the pixels again moves the bytes of a sixteenth of the columns: if fewer are outside the support, all go.
    complement = bool(support.beyond) and 16 * support.columns <= 15 * columns
    kept = columns if support.beyond and not complement else max(1, min(support.columns, columns))
    tiles, dc = -(-kept // plan.tile), float(transfer.at_dc(table))
    at_dc = 1 - dc if complement else dc
    height, width, radial = grid.height, grid.width, grid.transfer.radial
    if radial is None or table is not None:
        gains = np.asarray(table)
        gains = 1 - gains if complement else gains
        parts = parts_along_axes(gains) if needs_two_inverses else (gains[:, : width // 2 + 1],)
        data = np.ascontiguousarray(np.stack(parts).transpose(0, 2, 1), np.float32)
        return Mask(tiles, complement, dc, "table", data, UNUSED | {"at_dc": at_dc})
    n = min(height, width)
    outer, inner = radial.cutoffs(height, width)
    # Squares stay within single precision; what lies beyond passes only DC, or everything.
    per2 = [min(1 / each.radius**2, 1e30) if each.radius > 1e-15 else 1e30 for each in (outer, inner) if each]
    numbers = UNUSED | {
        "scale_x2": (n / width) ** 2,
        "scale_y2": (n / height) ** 2,
        "per_outer2": per2[0],
        "per_inner2": per2[1] if inner else 0.0,
        "outer_falloff": outer.falloff,
        "inner_falloff": (inner or outer).falloff,
        "at_dc": at_dc,
        "is_complement": radial.is_complement and not complement,
    }
    bounds = column_bounds(height, width, radial) if radial.shape == IDEAL else np.zeros((1, 2), np.uint32)
    return Mask(tiles, complement, dc, radial.shape, bounds, numbers)


def column_bounds(height: int, width: int, radial: Radial) -> NDArray[np.uint32]:
    """Return for every column up to half the width how many |ky| are nearer than each cutoff: ``(width//2 + 1, 2)``."""
    bounds = np.zeros((width // 2 + 1, 2), np.uint32)
    for which, cutoff in enumerate(radial.cutoffs(height, width)):
        if cutoff is not None:
            bounds[:, which] = cutoff.near_in_columns()
    return bounds
