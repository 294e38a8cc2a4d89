"""Plans: what is launched, in which order, on which buffers, as plain data.

A stage is one kernel launch. Its arguments are numbers, or the names of what is known only when it runs:
the buffers below. A plan is built by pure functions, printed and tested without a device; ``launch.py``
runs it.

Two complex buffers are in play. ``X`` holds the data, ``Y`` is free. A stage that works out of place reads
``X``, writes ``Y`` and has ``swap`` set: afterwards the two names change places, as the book's host code
swaps its pointers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

X = "x"
Y = "y"
IMAGE = "image"
SPIN = "spin"
REACH = "reach"
NOISE_FLOOR = "noise floor"
FLIP = "flip"

FORWARD = -1
INVERSE = +1


@dataclass(frozen=True)
class Local:
    """Local memory for a kernel: so many complex numbers."""

    numbers: int


Argument = str | int | float | np.int32 | np.uint32 | np.uint64 | Local


@dataclass(frozen=True)
class Stage:
    """One kernel launch.

    ``items`` are the work-items in each dimension before rounding up to whole work-groups; ``group`` is set
    only where the kernel needs a certain work-group.
    """

    source: str
    kernel: str
    items: tuple[int, ...]
    arguments: tuple[Argument, ...]
    swap: bool = False
    group: tuple[int, ...] | None = None
    defines: tuple[str, ...] = ()

    @property
    def step(self) -> str:
        """The name of the step, as ``--profile`` prints it: the stem of the kernel's file."""
        return self.source.rpartition("/")[2].removesuffix(".cl")

    def bind(self, values: Mapping[str, Argument]) -> Stage:
        """Return the stage with some of the names in its arguments replaced."""
        return replace(self, arguments=tuple(values.get(a, a) if isinstance(a, str) else a for a in self.arguments))


Stages = tuple[Stage, ...]


@dataclass(frozen=True)
class RowPlan:
    """The transform of every row of an array ``(rows, n)``, unnormalized, for any number of rows.

    ``tables`` fills the spin factors, ``spin_length`` complex numbers, once. ``stages`` is the transform of
    one row, its direction left open. ``width`` is how many complex numbers a row takes in each of the two
    buffers while it runs: n, or more where rows are padded.
    """

    n: int
    spin_length: int
    tables: Stages
    stages: Stages
    width: int

    def run(self, rows: int, direction: int) -> Stages:
        """Return the stages for so many rows in one direction, the sign of the exponent.

        The inverse flips the sign bit of the spin factors' imaginary part.
        """
        flip = np.uint32(0x80000000 if direction == INVERSE else 0)
        return tuple(replace(stage, items=(stage.items[0], rows)).bind({FLIP: flip}) for stage in self.stages)

    @property
    def spin(self) -> str:
        """The name of this length's table, where tables of several lengths are in use."""
        return f"{SPIN} {self.n}"
