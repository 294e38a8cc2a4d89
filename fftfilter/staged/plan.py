"""Plans: launches as plain data, in order, with the names of their buffers.

A plan is a tuple of launches, of one kernel each, whose arguments are numbers, or names of what is known only when it
runs, such as the buffers below. Plans are built by pure functions, printed and tested without a device; ``runner.py``
runs them.

A launch with ``host`` set is a function on the host instead, as OpenCL C has no recursion.

There are two complex buffers. ``X`` holds the data, ``Y`` is free. A launch that works out of place reads ``X``, writes
``Y`` and has ``swap`` set: afterwards the two names change places, as the book's host code swaps its pointers.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

X = "x"
Y = "y"
IMAGE = "image"
SPIN = "spin"
MASK = "mask"
OFFSET = "offset"
NOISE_FLOOR = "noise floor"
RAMPS = "ramps"
UNDECIDED = "undecided"
FLIP = "flip"

FORWARD = -1
INVERSE = +1


class Local(NamedTuple):
    """Local memory for a kernel, its size in complex numbers."""

    numbers: int


Argument = str | int | float | np.int32 | np.uint32 | np.uint64 | Local


class Launch(NamedTuple):
    """One kernel launch.

    ``items`` are the work-items in each dimension before rounding up to whole work-groups; ``group`` is set only if the
    kernel needs a certain work-group. ``host`` takes the rows in X, ``(rows, n)`` for items (n, rows), and the
    arguments, and returns the new rows.
    """

    source: str
    kernel: str
    items: tuple[int, ...]
    arguments: tuple[Argument, ...]
    swap: bool = False
    group: tuple[int, ...] | None = None
    defines: tuple[str, ...] = ()
    host: Callable[..., np.ndarray[Any, Any]] | None = None

    @property
    def step(self) -> str:
        """The name of the step, as ``--profile`` prints it: the stem of the kernel's file."""
        return self.source.rpartition("/")[2].removesuffix(".cl")

    def bind(self, values: Mapping[str, Argument]) -> Launch:
        """Return the launch with some of the names in its arguments replaced."""
        return self._replace(arguments=tuple(values.get(a, a) if isinstance(a, str) else a for a in self.arguments))


class RowPlan(NamedTuple):
    """The transform of every row of an array ``(rows, n)``, unnormalized, for any number of rows.

    ``tables`` fills the spin factors, ``spin_length`` complex numbers, once. ``launches`` are the transform of one row
    in either direction; one of two dimensions repeats its second for every row. ``width`` is how many complex numbers a
    row takes in each of the two buffers while it runs: n, or more if rows are padded.

    ``unordered`` is a pair, forward and inverse, with a bit-reversed spectrum in between: enough for a filter or a
    convolution, and without the permutation. None if the algorithm has no such pair.
    """

    n: int
    spin_length: int
    tables: tuple[Launch, ...]
    launches: tuple[Launch, ...]
    width: int
    unordered: tuple[tuple[Launch, ...], tuple[Launch, ...]] | None = None

    def run(self, rows: int, direction: int, *, ordered: bool = True) -> tuple[Launch, ...]:
        """Return the launches for a number of rows in one direction, the sign of the exponent.

        The inverse flips the sign bit of the spin factors' imaginary part. ``ordered=False`` takes the pair with the
        bit-reversed spectrum, if there is one.
        """
        launches = self.launches
        if self.unordered is not None and not ordered:
            launches = self.unordered[direction == INVERSE]
        flip = np.uint32(0x80000000 if direction == INVERSE else 0)
        return tuple(
            launch._replace(items=(launch.items[0], prod(launch.items[1:]) * rows)).bind({FLIP: flip})
            for launch in launches
        )

    @property
    def reversed_bits(self) -> int:
        """log2 n if the spectrum that is not ordered is bit-reversed, else 0."""
        return self.n.bit_length() - 1 if self.unordered is not None else 0

    @property
    def spin(self) -> str:
        """The name of this length's table among those of other lengths."""
        return f"{SPIN} {self.n}"
