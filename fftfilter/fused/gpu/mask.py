"""The transfer function as ``mask.cl`` reads it: bounds, scales or gains, and the shape's name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...transfer.grid import parts_along_axes
from ...transfer.shapes import IDEAL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...transfer.radial import Radial

    Array = NDArray[Any]


REALS = ("scale_x2", "scale_y2", "per_outer2", "per_inner2", "outer_falloff", "inner_falloff", "at_dc")
UNUSED: dict[str, float | int] = {**dict.fromkeys(REALS, 0.0), "is_complement": 0}
"""The numbers of a mask, as kernels declare them, where a table has the gains."""


class MaskArguments(NamedTuple):
    """Arguments of the columns' kernels: a buffer, and numbers by name, in their order."""

    data: Array
    numbers: dict[str, float | int]
    shape: str
    """The shape for which the kernel is compiled: one of the smooth ones, ideal or table."""


def mask(
    radial: Radial | None,
    table: NDArray[np.float64] | None,
    size: tuple[int, int],
    *,
    dc: float,
    complement: bool,
    needs_two_inverses: bool = False,
) -> MaskArguments:
    """Return the mask of a radial function, or of a table of gains ``(height, width)``; 1 - H for the complement.

    ``dc`` is H(0). If it ``needs_two_inverses``, gains are those of the part that is even along each axis, then of
    the odd one.
    """
    height, width = size
    at_dc = 1 - dc if complement else dc
    if radial is None or table is not None:
        gains = np.asarray(table)
        gains = 1 - gains if complement else gains
        parts = parts_along_axes(gains) if needs_two_inverses else (gains[:, : width // 2 + 1],)
        data = np.ascontiguousarray(np.stack(parts).transpose(0, 2, 1), np.float32)
        return MaskArguments(data, UNUSED | {"at_dc": float(at_dc)}, "table")
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
        "at_dc": float(at_dc),
        "is_complement": radial.is_complement and not complement,
    }
    bounds = column_bounds(height, width, radial) if radial.shape == IDEAL else np.zeros((1, 2), np.uint32)
    return MaskArguments(bounds, numbers, radial.shape)


def column_bounds(height: int, width: int, radial: Radial) -> NDArray[np.uint32]:
    """Return for every column up to half the width how many |ky| are nearer than each cutoff: ``(width//2 + 1, 2)``."""
    bounds = np.zeros((width // 2 + 1, 2), np.uint32)
    for which, cutoff in enumerate(radial.cutoffs(height, width)):
        if cutoff is not None:
            bounds[:, which] = cutoff.near_in_columns()
    return bounds
