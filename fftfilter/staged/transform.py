"""Transforms of rows by any algorithm: the book's ``fft_core``, any length, and one prepared on a device.

In the book ``fft_core`` is bit reversal, butterflies and, for the inverse, the division by the number of samples. Any
other algorithm's launches may take the place of the first two. One long row is a 1-D signal. Lengths that an algorithm
does not support go through Bluestein's chirp-z on top of it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .runner import Workspace
from .steps import FLIP, FORWARD, INVERSE, SPIN, Launch, RowPlan, X, Y, normalize, transpose

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ..device.launcher import Launcher
    from .algorithms import Algorithm

    Complex = NDArray[np.complexfloating[Any, Any]]

BLUESTEIN = "staged/bluestein.cl"


def plan_rows(n: int, algorithm: Algorithm) -> RowPlan:
    """Return how an algorithm transforms rows of length n: directly where it can, else through Bluestein."""
    if n == 1:
        return RowPlan(1, 0, (), (), 1)
    if algorithm.supports(n):
        return algorithm.plan(n)
    return bluestein(n, algorithm.plan)


def fft_core(plan: RowPlan, rows: int, direction: int, *, ordered: bool = True) -> tuple[Launch, ...]:
    """Return the launches that transform ``rows`` rows: FORWARD unnormalized, INVERSE divided by n.

    ``ordered=False`` leaves the permutation out if the algorithm can: the spectrum is then bit-reversed.
    """
    launches = tuple(launch.bind({SPIN: plan.spin}) for launch in plan.run(rows, direction, ordered=ordered))
    return (*launches, normalize(plan.n, rows)) if direction == INVERSE and plan.n > 1 else launches


def bluestein(n: int, plan: Callable[[int], RowPlan]) -> RowPlan:
    """Return the transform of length n as a convolution of length m, the power of two from 2n - 1 up.

    ``plan`` returns the transform of length m. The table holds its spin factors, then the n chirps, then the m values
    of the filter's spectrum, in the order in which the inner transform leaves a spectrum.
    """
    m = 1 << (2 * n - 2).bit_length()
    inner = plan(m)
    chirp = np.uint64(inner.spin_length)
    filter_ = np.uint64(inner.spin_length + n)
    return RowPlan(
        n,
        inner.spin_length + n + m,
        tables=(
            *inner.tables,
            Launch(BLUESTEIN, "chirp", (n,), (SPIN, chirp, np.uint64(n))),
            Launch(BLUESTEIN, "chirp_filter", (m,), (X, SPIN, chirp, n, m)),
            *inner.run(1, FORWARD, ordered=False),
            Launch(BLUESTEIN, "keep_filter", (m,), (SPIN, X, filter_, m)),
        ),
        launches=(
            Launch(BLUESTEIN, "chirp_in", (m,), (Y, X, SPIN, FLIP, chirp, n, m), swap=True),
            *inner.run(1, FORWARD, ordered=False),
            Launch(BLUESTEIN, "convolve", (m,), (X, SPIN, FLIP, filter_, m)),
            *inner.run(1, INVERSE, ordered=False),
            Launch(BLUESTEIN, "chirp_out", (n,), (Y, X, SPIN, FLIP, chirp, n, m), swap=True),
        ),
        width=max(m, inner.width),
    )


class Transform:
    """A transform prepared on a device for arrays ``(count, height, width)``, over one axis or two.

    Raises TooLargeError for more than the device holds.
    """

    def __init__(
        self, launcher: Launcher, method: Algorithm, shape: tuple[int, int, int], axes: int, direction: int = FORWARD
    ) -> None:
        self.shape = count, height, width = shape
        rows = plan_rows(width, method)
        columns = plan_rows(height if axes == 2 else 1, method)
        launches = fft_core(rows, count * height, direction)
        if axes == 2:
            turn = partial(transpose, kind=method.transpose, side=launcher.tile_side)
            there, back = turn(width, height, count), turn(height, width, count)
            launches += (there, *fft_core(columns, count * width, direction), back)
        elements = count * max(height * rows.width, width * columns.width)
        self._launches = launches
        self._space = Workspace(launcher, (rows, columns), elements, f"a transform of {count} x {height} x {width}")

    def load(self, data: Complex) -> None:
        """Copy contiguous data of the launcher's precision to the device; a run leaves its result in their place."""
        self._space.write(X, data)

    def run(self) -> None:
        """Launch all of it."""
        self._space.run(self._launches)

    def result(self) -> Complex:
        """Return the data on the device, in the shape of the arrays."""
        return self._space.read(X, np.empty(self.shape, self._space.launcher.complex))
