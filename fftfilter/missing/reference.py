"""What stands in for missing pixels, in float64 by NumPy: the reference, and the twin of ``kernels/missing/fill.cl``.

A filter is linear, so the best estimate of its result is the filter of the best estimate of the picture. Push: the
picture is halved, by the mean of the valid pixels of each four, until nothing is missing. Pull: from coarse to fine,
holes get the bilinear value of the coarser level, and sweeps of Gauss and Seidel's iteration toward the mean of their
neighbors take out the steps that this leaves. It joins the holes' borders nearly as smoothly as the solution of
Laplace's equation, in a small part of the time.

Waves that a notch removes go on through the holes, and so do stripes: with y the filled picture and Hy what these parts
leave of it, the waves are q = y - Hy, and the holes get fill(x - q) + q, three times. Where much is missing, whole
lines are, through which stripes would carry on whatever lies at their ends.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import Array, Floats, Holes
from ..output.luma import filtered_part
from ..output.modes import Channels
from ..transfer import Transfer
from ..transfer.edges import Edges, grid_with
from ..transfer.reference import filtered as filter_

ROUNDS = 3


def complete(planes: Array, holes: Holes, transfer: Transfer, edges: Edges, channels: Channels | None = None) -> Floats:
    """Return a picture ``(channels, height, width)`` with the values in its holes that a filter takes.

    ``channels`` is the part of its colors that is filtered, None for all.
    """
    waves, without_waves = waves_of(transfer, holes), None
    if waves is not None:
        gains = np.stack([grid_with(edges, each, *planes.shape[1:]).gain() for each in waves.of_channels(len(planes))])

        def without_waves(whole: Array) -> Array:
            return filtered_part(whole, channels, lambda part: filter_(part, gains, edges).real)

    made, base = filled(planes.astype(np.float64), holes, fill, without_waves)
    return np.where(holes, made + base, planes)


def waves_of(transfer: Transfer, holes: Holes) -> Transfer | None:
    """Return the parts of a transfer function that remove what goes on through holes; None if it has none."""
    missing = np.count_nonzero(holes) / holes.size
    parts = tuple(part for part in transfer.parts if missing < part.carried_on)
    return Transfer(parts).keeping_mean() if parts else None


def filled(
    planes: Array, holes: Holes, fill: Callable[[Array, Holes], Array], without_waves: Callable[[Array], Array] | None
) -> tuple[Array, Array]:
    """Return planes less a valid value of each, with their holes filled by ``fill``, and these values.

    Overwrites ``planes``, which are of floats; ``fill`` may overwrite the holes of what it is given.
    Waves go on through the holes if ``without_waves``, their filter, is given. What is left has nothing to round where
    a plane is constant, and little where it is nearly so.
    """
    base = np.array([plane.reshape(-1)[np.argmin(hole)] for plane, hole in zip(planes, holes, strict=True)])
    base = np.where(holes.all((1, 2)), 0, base).astype(planes.dtype)[:, None, None]
    away = np.subtract(planes, base, out=planes)
    made = fill(away, holes)
    if without_waves:
        for _ in range(ROUNDS):
            waves = made - without_waves(made)
            made = np.where(holes, fill(away - waves, holes) + waves, away)
    return made if made.dtype == away.dtype else np.where(holes, made, away), base


def sweeps(*, is_finest: bool) -> int:
    """Return the number of sweeps at a level: the finest takes most of the time, and gains least."""
    return 1 if is_finest else 3


def fill(planes: Array, holes: Holes, *, is_finest: bool = True) -> Floats:
    """Return planes ``(count, height, width)`` with values where ``holes`` is True; 0 if a plane has nothing else."""
    values = np.where(holes, 0.0, planes)
    if values.shape[1:] == (1, 1):
        return values
    height, width = values.shape[1:]
    even = [(0, 0), (0, height % 2), (0, width % 2)]
    fours = (len(values), (height + 1) // 2, 2, (width + 1) // 2, 2)
    sums = np.pad(values, even).reshape(fours).sum((2, 4))
    valid = np.pad(~holes, even).reshape(fours).sum((2, 4))
    coarse = fill(sums / np.maximum(valid, 1), valid == 0, is_finest=False)
    values = np.where(holes, _twice(_twice(coarse, height, 1), width, 2), values)
    rows, columns = np.indices((height, width))
    for color in (0, 1) * sweeps(is_finest=is_finest):
        own = holes & ((rows + columns) % 2 == color)
        values[own] = (_beside(values) / _beside(np.ones_like(values)))[own]
    return values


def _beside(values: Array) -> Array:
    """Return the sum of each value's neighbors, of which there are four but at the borders."""
    wide = np.pad(values, ((0, 0), (1, 1), (1, 1)))
    return np.asarray(wide[:, :-2, 1:-1] + wide[:, 2:, 1:-1] + wide[:, 1:-1, :-2] + wide[:, 1:-1, 2:])


def _twice(coarse: Array, size: int, axis: int) -> Array:
    """Return values at twice the points along an axis, linear between them."""
    fine = np.arange(size)
    beside = (fine // 2 + np.where(fine % 2, 1, -1)).clip(0, coarse.shape[axis] - 1)
    return np.asarray(0.75 * coarse.take(fine // 2, axis) + 0.25 * coarse.take(beside, axis))
