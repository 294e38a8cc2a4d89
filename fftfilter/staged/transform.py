"""A transform by the papers' algorithms, prepared on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .fft_core import fft_core, plan_rows
from .plan import FORWARD, X
from .steps.transpose import transpose
from .workspace import Workspace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..device.launcher import Launcher
    from .algorithms import Algorithm

    Complex = NDArray[np.complexfloating[Any, Any]]


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
            launches += (
                transpose(width, height, count, kind=method.transpose, side=launcher.tile_side),
                *fft_core(columns, count * width, direction),
                transpose(height, width, count, kind=method.transpose, side=launcher.tile_side),
            )
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
        """Return what the device holds, of the shape that was prepared for."""
        return self._space.read(X, np.empty(self.shape, self._space.launcher.complex))
