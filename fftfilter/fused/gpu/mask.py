"""The transfer function as ``mask.cl`` reads it: bounds, scales or gains, and what the compiler must know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...transfer.shapes import IDEAL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...transfer.radial import Radial

    Array = NDArray[Any]

# The pass whose gain is 1 minus that of a pass.
COMPLEMENTS = {"highpass": "lowpass", "bandstop": "bandpass"}


class MaskArguments(NamedTuple):
    """What the columns' kernels take: a buffer, numbers behind it, and defines."""

    data: Array
    numbers: tuple[np.generic, ...]
    defines: tuple[str, str]


def mask(
    radial: Radial | None, table: NDArray[np.float64] | None, size: tuple[int, int], *, dc: float, complement: bool
) -> MaskArguments:
    """Return the mask of a radial function, or of a table of gains ``(height, width)``; 1 - H for the complement.

    ``dc`` is H(0).
    """
    height, width = size
    at_dc = np.float32(1 - dc if complement else dc)
    if radial is None or table is not None:
        half = np.asarray(table)[:, : width // 2 + 1]
        gains = 1 - half if complement else half
        unused = (np.float32(0),) * 6
        data = np.ascontiguousarray(gains.T, np.float32)
        return MaskArguments(data, (*unused, at_dc), ("SHAPE=table", "PASS=lowpass"))
    n = min(height, width)
    outer, inner = radial.cutoffs(height, width)
    # Squares stay within single precision; what lies beyond passes only DC, or everything.
    per2 = [min(1 / cutoff.radius**2, 1e30) if cutoff.radius > 1e-15 else 1e30 for cutoff in (outer, inner or outer)]
    numbers = (
        np.float32((n / width) ** 2),
        np.float32((n / height) ** 2),
        *map(np.float32, per2),
        *(np.float32(cutoff.falloff) for cutoff in (outer, inner or outer)),
        at_dc,
    )
    bounds = column_bounds(height, width, radial) if radial.shape == IDEAL else np.zeros((1, 2), np.uint32)
    kind = COMPLEMENTS[radial.kind] if complement else radial.kind
    return MaskArguments(bounds, numbers, (f"SHAPE={radial.shape}", f"PASS={kind}"))


def column_bounds(height: int, width: int, radial: Radial) -> NDArray[np.uint32]:
    """Return for every column up to half the width how many |ky| are nearer than each cutoff: ``(width//2 + 1, 2)``."""
    bounds = np.zeros((width // 2 + 1, 2), np.uint32)
    for which, cutoff in enumerate(radial.cutoffs(height, width)):
        if cutoff is not None:
            bounds[:, which] = cutoff.near_in_columns()
    return bounds
