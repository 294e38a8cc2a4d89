"""Fill missing pixels on a device: the launches of ``kernels/missing/fill.cl``."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array, scaled
from ..device_choice import launcher_on, open_device
from ..plain import NumPyLauncher
from .reference import fill as fill_by_numpy
from .reference import sweeps

if TYPE_CHECKING:
    import pyopencl as cl

    from ..device.launcher import Kernel, Launcher

# From a level of so many pixels on, one launch does all that is left: each of many would take longer than its work.
_SMALL = 1 << 14
# A level of so many pixels has fewer levels above it.
_LEVELS = _SMALL.bit_length() + 1


class Level(NamedTuple):
    """A level of the pyramid, which is the part of two buffers from ``first`` on."""

    values: cl.Buffer
    holes: cl.Buffer
    first: np.uint64
    width: int
    height: int


def fill(launcher: Launcher, planes: Array, holes: NDArray[np.bool_]) -> Array:
    """Return planes ``(count, height, width)`` in the launcher's real numbers, with values where ``holes`` is True.

    What the holes held does not matter. Planes of these numbers are filled in their place. A plane without any valid
    pixel becomes 0. Raises TooLargeError.
    """
    if isinstance(launcher, NumPyLauncher):
        return fill_by_numpy(planes, holes).astype(launcher.real)
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


def fill_floats(launcher: Launcher, planes: Array, holes: NDArray[np.bool_]) -> Array:
    """Fill as :func:`fill`, also floats beyond single precision; floats keep their type."""
    if planes.dtype.kind != "f":
        return fill(launcher, np.array(planes, launcher.real), holes)
    exponent = np.frexp(np.abs(planes).max(where=~holes, initial=0))[1]
    made = fill(launcher, scaled(planes, -exponent), holes).astype(planes.dtype)
    return scaled(made, exponent)


def filled(planes: Array, holes: NDArray[np.bool_], device: str | int | None = None) -> Array:
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
