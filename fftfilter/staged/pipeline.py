"""The staged pipeline: the book's flow chart, with any algorithm for the row transforms."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..output.noise import NOISE
from ..output.stack import PIXELS
from .fft_core import fft_core, plan_rows
from .plan import FORWARD, IMAGE, INVERSE, NOISE_FLOOR, REACH, Stages, X, Y
from .steps.extremes import extremes, first_pair
from .steps.load import load
from .steps.magnitude import magnitude
from .steps.mask import mask, reach
from .steps.quantize import quantize
from .steps.transpose import transpose
from .workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..device.launcher import Launcher
    from ..output.stack import Stack
    from ..transfer import Transfer
    from .algorithms import Algorithm

    Array = np.ndarray[Any, Any]


class Box(NamedTuple):
    """A box of the flow chart: some launches, named after what they leave in X.

    ``shape`` is how it lies there.
    """

    leaves: str
    stages: Stages
    shape: tuple[int, int, int]


def buffer_bytes(algorithm: Algorithm, shape: tuple[int, int, int], number: np.dtype[Any]) -> int:
    """Return the bytes of the device that a stack takes: two buffers of complex numbers and the pixels."""
    count, height, width = shape
    longest = max(height * plan_rows(width, algorithm).width, width * plan_rows(height, algorithm).width)
    return count * (2 * longest * number.itemsize + height * width)


class StagedPipeline:
    """The whole filter for a stack of images: four device buffers and a list of launches.

    Where filtered values stay as they are, they are the launcher's real numbers.
    """

    def __init__(
        self,
        launcher: Launcher,
        transfer: Transfer,
        stack: Stack,
        *,
        algorithm: Algorithm,
        transpose_kind: str | None = None,
    ) -> None:
        self.stack = stack
        count, height, width = stack.shape
        rows = plan_rows(width, algorithm)
        columns = plan_rows(height, algorithm)
        upright, turned = stack.shape, (count, width, height)
        pictures = stack.pictures
        values = stack.size // pictures
        group = launcher.reduction_size
        pair = first_pair(values, pictures, group)
        _, table = transfer.on_grid(height, width)
        # A filter needs no order among the bins as long as the mask follows it.
        order = (columns.reversed_bits, rows.reversed_bits)
        turn = partial(transpose, kind=transpose_kind or algorithm.transpose, side=launcher.tile_side)

        self.flow: tuple[Box, ...] = (
            Box("image", (load(width, count * height, PIXELS[stack.pixel]),), upright),
            Box("rows", fft_core(rows, count * height, FORWARD, ordered=False), upright),
            Box("rows-transposed", (turn(width, height, count),), turned),
            Box("spectrum", fft_core(columns, count * width, FORWARD, ordered=False), turned),
            Box("spectrum-masked", (mask(height, width, count, transfer.radial, order),), turned),
            Box("columns-inverse", fft_core(columns, count * width, INVERSE, ordered=False), turned),
            Box("columns-transposed", (turn(height, width, count),), upright),
            Box("filtered", fft_core(rows, count * height, INVERSE, ordered=False), upright),
            Box("magnitude", (magnitude(width, count * height),), upright),
            Box("extremes", extremes(values, pictures, group), upright),
        )
        if stack.white is not None:
            self.flow += (Box("output", (quantize(values, pictures, pair, PIXELS[stack.out], stack.white),), upright),)
        self._pairs = pair, pictures
        # The extremes lie in the buffer that is free by then: more numbers than a tiny image has pixels.
        elements = max(count * height * rows.width, count * width * columns.width, pair + pictures)
        self._workspace = Workspace(
            launcher,
            (rows, columns),
            elements,
            str(stack),
            stages=tuple(stage for box in self.flow for stage in box.stages),
            image_bytes=stack.size * max(stack.pixel.itemsize, stack.out.itemsize),
            tables={
                REACH: reach(height, width, transfer.radial, table, launcher.real),
                NOISE_FLOOR: np.zeros(pictures, launcher.real),
            },
        )

    def run(self, images: Array, *, observe: Callable[[str, Array], None] | None = None) -> Array:
        """Filter images ``(count, height, width)``.

        ``observe`` is called with the name and the contents of each box's result as it lies in the buffer.
        """
        space = self._workspace
        brightest = np.abs(images.reshape(self.stack.pictures, -1)).max(axis=1)
        space.write(NOISE_FLOOR, (NOISE * brightest).astype(space.launcher.real))
        space.write(IMAGE, np.ascontiguousarray(images))
        for box in self.flow:
            space.run(box.stages)
            if observe is not None and box.leaves not in ("extremes", "output"):
                dtype = space.launcher.real if box.leaves == "magnitude" else space.launcher.complex
                observe(box.leaves, space.read(X, np.empty(box.shape, dtype)))
            if box.leaves == "filtered" and self.stack.white is None:
                values = space.read(X, np.empty(self.stack.shape, space.launcher.complex))
        if self.stack.white is None:
            return np.ascontiguousarray(values.real)
        result = space.read(IMAGE, np.empty(self.stack.shape, self.stack.out))
        if observe is not None:
            observe("output", result)
        return result

    def extremes(self) -> Array:
        """Return the smallest and largest magnitude of each picture of the last run: (pictures, 2)."""
        first, pictures = self._pairs
        pairs = self._workspace.read(Y, np.empty(first + pictures, self._workspace.launcher.complex))[first:]
        return np.stack([pairs.real, pairs.imag], axis=1)
