"""The transfer function as ``mask.cl`` reads it: terms of horizontal and of vertical frequencies, or gains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...transfer.shapes import SHAPES, TABLE, number_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...transfer.radial import Radial

    Array = NDArray[Any]

# Shapes with gain(a + b) = gain(a) gain(b): the kernel multiplies gains instead of computing them.
SEPARABLE = ("gaussian",)
# The number of a mask that is no shape of its own, as in mask.cl
PRODUCT = 100
# across_t and twins_t of mask.cl
ACROSS = np.dtype([("outer", "f4"), ("inner", "f4"), ("k", "i4"), ("unused", "i4")])


TWINS = np.dtype([("position", "u4"), ("opposite", "u4"), ("c", "f4"), ("s", "f4")])


class MaskTerms(NamedTuple):
    """The tables of the mask; either the terms or the gains say it all.

    ``across`` is for each position of a row, ``down`` ``(groups, 3, lanes)`` for each row of each group and both
    cutoffs, then what H(0) has more than the function, ``gains`` ``(groups, width, lanes)``.
    """

    across: Array
    down: Array
    gains: Array
    falloffs: tuple[float, float]
    has_inner: bool
    is_complement: bool
    shape: int


def mask_terms(
    radial: Radial | None,
    table: NDArray[np.float64] | None,
    size: tuple[int, int],
    across_k: NDArray[np.int64],
    down_k: NDArray[np.int64],
    *,
    dc: float,
) -> MaskTerms:
    """Return the terms of a radial function, or the gains of a table ``(height, width)``; ``dc`` is H(0).

    ``across_k`` is the horizontal frequency of each position of a row, ``down_k`` ``(groups, lanes)`` the vertical one
    of each row of each group.
    """
    height, width = size
    across = np.zeros(len(across_k), ACROSS)
    down = np.zeros((len(down_k), 3, down_k.shape[1]), np.float32)
    across["k"] = np.minimum(across_k, width - across_k)
    if radial is None or table is not None:
        # Whole rows, then whole vectors of lanes: one gain after the other takes five times as long.
        of_rows = np.asarray(table)[down_k.ravel()].astype(np.float32).reshape(*down_k.shape, -1)
        gains = np.ascontiguousarray(of_rows.swapaxes(1, 2)).take(across_k, 1)
        return MaskTerms(across, down, gains, (0.0, 0.0), False, False, number_of(TABLE))
    ky = np.minimum(down_k, height - down_k)
    down[:, 2] = np.where(ky == 0, dc - radial.passes_dc, 0)
    separable = radial.shape in SEPARABLE
    gain = SHAPES[radial.shape].gain
    outer, inner = radial.cutoffs(height, width)
    for i, (name, cutoff) in enumerate((("outer", outer), ("inner", inner))):
        if cutoff is None:
            continue
        step_x, step_y = cutoff.steps()
        if gain is None:
            down[:, i] = cutoff.near_in_rows()[ky].view(np.float32)
            continue
        terms = (across["k"] * step_x) ** 2, (ky * step_y) ** 2
        across[name], down[:, i] = (gain(term, cutoff.falloff) for term in terms) if separable else terms
    shape = PRODUCT if separable else number_of(radial.shape)
    falloffs = outer.falloff, (inner or outer).falloff
    unused = np.zeros(1, np.float32)
    return MaskTerms(across, down, unused, falloffs, inner is not None, radial.is_complement, shape)


def twins_of(positions: Array, opposite: Array, kx: Array, width: int) -> Array:
    """Return positions of a row, of the opposite frequencies, and exp(-i pi kx / 2 width), as kernels read them."""
    twins = np.zeros(len(positions), TWINS)
    angle = np.pi * kx / (2 * width)
    twins["position"], twins["opposite"], twins["c"], twins["s"] = positions, opposite, np.cos(angle), -np.sin(angle)
    return twins


def turns_of(ky: Array, height: int) -> Array:
    """Return exp(-i pi ky / 2 height) of groups of rows ``(groups, lanes)`` as ``(groups, 2, lanes)``."""
    angle = np.pi * ky / (2 * height)
    return np.stack([np.cos(angle), -np.sin(angle)], axis=1).astype(np.float32)
