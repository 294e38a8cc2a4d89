"""Missing pixels: what stands in for them while a picture is filtered, by NumPy in float64 and on a device.

A filter is linear, so the best estimate of its result is the filter of the best estimate of the picture. Push: the
picture is halved, by the mean of the valid pixels of each four, until nothing is missing. Pull: from coarse to fine,
holes get the bilinear value of the coarser level, and sweeps of Gauss and Seidel's iteration toward the mean of their
neighbors take out the steps that this leaves. It joins the holes' borders nearly as smoothly as the solution of
Laplace's equation, in a small part of the time.

Waves that a notch removes go on through the holes, and so do stripes: with y the filled picture and Hy what these parts
leave of it, the waves are q = y - Hy, and the holes get fill(x - q) + q, three times. Where much is missing, whole
lines are, through which stripes would carry on whatever lies at their ends.

What NumPy does is the reference, and the twin of ``kernels/missing/fill.cl``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .arrays import Array, Floats, Holes, scaled
from .device_choice import launcher_on, open_device
from .output.modes import Channels
from .plain import NumPyLauncher
from .region import filtered_part
from .transfer import Transfer
from .transfer.product import Edges, grid_with
from .transfer.reference import filtered as filter_

if TYPE_CHECKING:
    import pyopencl as cl

    from .device.launcher import Kernel, Launcher

ROUNDS = 3
# From a level of so many pixels on, one launch does all that is left: each of many would take longer than its work.
_SMALL = 1 << 14
# A level of so many pixels has fewer levels above it.
_LEVELS = _SMALL.bit_length() + 1


def complete(planes: Array, holes: Holes, transfer: Transfer, edges: Edges, channels: Channels | None = None) -> Floats:
    """Return a picture ``(channels, height, width)`` with the values in its holes that a filter takes.

    ``channels`` is the part of its colors that is filtered, None for all.
    """
    waves, without_waves = waves_of(transfer, holes), None
    if waves is not None:
        without_waves = partial(values_of, transfer=waves, edges=edges, channels=channels)
    made, base = filled_by(planes.astype(np.float64), holes, fill_by_numpy, without_waves)
    return np.where(holes, made + base, planes)


def values_of(planes: Array, transfer: Transfer, edges: Edges, channels: Channels | None = None) -> Array:
    """Return the filtered values of a picture ``(channels, height, width)`` in float64, by NumPy."""
    gains = np.stack([grid_with(edges, each, *planes.shape[1:]).gain() for each in transfer.of_channels(len(planes))])
    return filtered_part(planes, channels, lambda part: filter_(part, gains, edges).real)


def less_removed(
    planes: Array, unmeasured: Holes, fill: Callable[[Array, Holes], Array], without: Callable[[Array], Array]
) -> Array:
    """Return planes less what is removed from them, as their other pixels than those ``unmeasured`` have it.

    ``without`` is the filter that removes it, and ``fill`` fills as :func:`filled_by` has it done.
    """
    made, base = filled_by(np.where(unmeasured, 0, planes).astype(np.float64), unmeasured, fill, without)
    made = made + base
    return np.asarray(planes - (made - without(made)))


def waves_of(transfer: Transfer, holes: Holes) -> Transfer | None:
    """Return the parts of a transfer function that remove what goes on through holes; None if it has none."""
    missing = np.count_nonzero(holes) / holes.size
    parts = tuple(part for part in transfer.parts if missing < part.carried_on)
    return Transfer(parts).keeping_mean() if parts else None


def filled_by(
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


def fill_by_numpy(planes: Array, holes: Holes, coarse: Array | None = None, *, is_finest: bool = True) -> Floats:
    """Return planes ``(count, height, width)`` with values where ``holes`` is True; 0 if a plane has nothing else.

    ``coarse`` are filled planes of one of the sizes that halving leads to, if they are known: those of a part.
    """
    if coarse is not None and planes.shape == coarse.shape:
        return coarse
    values = np.where(holes, 0.0, planes)
    if values.shape[1:] == (1, 1):
        return values
    height, width = values.shape[1:]
    coarser = fill_by_numpy(*halved(values, holes), coarse, is_finest=False)
    values = np.where(holes, _twice(_twice(coarser, height, 1), width, 2), values)
    edge = ((0, 0), (1, 1), (1, 1))
    wide, inside = np.pad(values, edge), np.pad(np.ones(values.shape), edge)

    def beside(flat: Array, at: Array) -> Array:
        """Return the sum of the four neighbors."""
        return np.asarray(flat[at - width - 2] + flat[at + width + 2] + flat[at - 1] + flat[at + 1])

    rows, columns = np.indices((height, width), sparse=True)
    colors = [np.flatnonzero(np.pad(holes & ((rows + columns) % 2 == color), edge)) for color in (0, 1)]
    counted = [(at, beside(inside.reshape(-1), at)) for at in colors]
    flat = wide.reshape(-1)
    for at, count in counted * sweeps(is_finest=is_finest):
        flat[at] = beside(flat, at) / count
    return wide[:, 1:-1, 1:-1]


def halved(values: Array, holes: Holes) -> tuple[Floats, Holes]:
    """Return the mean of the valid samples of each four, and where none is; in holes values are 0."""
    even = [(0, 0), *((0, side % 2) for side in values.shape[1:])]
    each = (np.pad(values, even), np.pad(~holes, even).view(np.uint8))
    sums, valid = (of[:, ::2, ::2] + of[:, ::2, 1::2] + of[:, 1::2, ::2] + of[:, 1::2, 1::2] for of in each)
    return sums / np.maximum(valid, 1.0), valid == 0


def _twice(coarse: Array, size: int, axis: int) -> Array:
    """Return values at twice the points along an axis, linear between them."""
    fine = np.arange(size)
    beside = (fine // 2 + np.where(fine % 2, 1, -1)).clip(0, coarse.shape[axis] - 1)
    return np.asarray(0.75 * coarse.take(fine // 2, axis) + 0.25 * coarse.take(beside, axis))


# On a device


class Level(NamedTuple):
    """A level of the pyramid, which is the part of two buffers from ``first`` on."""

    values: cl.Buffer
    holes: cl.Buffer
    first: np.uint64
    width: int
    height: int


def fill(launcher: Launcher, planes: Array, holes: Holes) -> Array:
    """Return planes ``(count, height, width)`` in the launcher's real numbers, with values where ``holes`` is True.

    What the holes held does not matter. Planes of these numbers are filled in their place. A plane without any valid
    pixel becomes 0. Raises TooLargeError.
    """
    if isinstance(launcher, NumPyLauncher):  # one by one, as each takes much memory
        each = zip(planes, holes, strict=True)
        return np.stack([fill_by_numpy(plane[None], hole[None])[0].astype(launcher.real) for plane, hole in each])
    filled = np.ascontiguousarray(planes, launcher.real)
    filled[holes.all((1, 2))] = 0
    flags = np.ascontiguousarray(holes).view(np.uint8)
    levels = _levels(launcher, filled, flags)
    count, group = len(filled), launcher.work_group_size if launcher.device.is_gpu else 1

    kernels: dict[str, Kernel] = {}
    # A CPU looks at 16 pixels at once.
    defines = (f"LEVELS={_LEVELS}", f"RUN={2 if launcher.device.is_gpu else 16}")

    def launch(name: str, rows: int, columns: int, /, **arguments: Any) -> None:
        if name not in kernels:
            kernels[name] = launcher.kernel(("missing/fill.cl",), defines, name, arguments)
        kernels[name].bind(**arguments)
        across = group * -(-columns // group) if launcher.device.is_gpu else 1
        launcher.enqueue("fill", kernels[name], (across, rows, count), (group, 1, 1))

    small = next((i for i, each in enumerate(levels) if i and each.width * each.height <= _SMALL), 0)
    for fine, coarse in pairwise(levels[: small + 1]):
        into = {"coarse": coarse.values, "coarse_holes": coarse.holes, "coarse_first": coarse.first}
        launch("halve", coarse.height, coarse.width, **fine._asdict(), **into)
    if small:
        launch("coarsest", 1, group, **levels[small]._asdict(), sweeps=sweeps(is_finest=False))
    for coarse, fine in pairwise(levels[small::-1]):
        half = (fine.width + 1) // 2
        launch("pull", fine.height, half, **fine._asdict(), coarse=coarse.values, coarse_first=coarse.first)
        for color in (0, 1) * sweeps(is_finest=fine is levels[0]):
            launch("sweep", fine.height, half, **fine._asdict(), color=color)
    launcher.finish(levels[0].values, filled)
    return filled


def fill_floats(launcher: Launcher, planes: Array, holes: Holes) -> Array:
    """Fill as :func:`fill`, also floats beyond single precision; floats keep their type."""
    if planes.dtype.kind != "f":
        return fill(launcher, np.array(planes, launcher.real), holes)
    exponent = np.frexp(np.abs(planes).max(where=~holes, initial=0))[1]
    made = fill(launcher, scaled(planes, -exponent), holes).astype(planes.dtype)
    return scaled(made, exponent)


def filled(planes: Array, holes: Holes, device: str | int | None = None) -> Array:
    """Return planes with values in their holes, of the same type, filled on a device that is chosen as for filters."""
    made = fill_floats(launcher_on(open_device({"device": device}), {}), planes, holes)
    return (np.rint(made) if planes.dtype.kind == "u" else made).astype(planes.dtype)


def _levels(launcher: Launcher, values: Array, holes: Array) -> list[Level]:
    count, height, width = values.shape
    sizes = [(height, width)]
    while sizes[-1] != (1, 1):
        sizes.append(((sizes[-1][0] + 1) // 2, (sizes[-1][1] + 1) // 2))
    ends = np.cumsum([0, *(count * high * wide for high, wide in sizes[1:])], dtype=np.uint64)
    coarse = launcher.allocate(max(1, int(ends[-1])) * launcher.real.itemsize)
    coarse_holes = launcher.allocate(max(1, int(ends[-1])))
    finest = Level(launcher.wrap(values), launcher.wrap(holes), np.uint64(0), width, height)
    levels = zip(ends[:-1], sizes[1:], strict=True)
    return [finest, *(Level(coarse, coarse_holes, first, wide, high) for first, (high, wide) in levels)]
