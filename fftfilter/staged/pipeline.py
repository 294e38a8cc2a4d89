"""The staged pipeline: the book's flow chart, with any algorithm for the row transforms."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..device.launcher import FoundOnHost
from ..output.ramp import PIXELS, of_values, on_ramps, own_ramps
from ..output.rounding import NOISE, WEAK, deviation, most_undecided, offset
from . import steps
from .runner import Workspace
from .steps import (
    FORWARD,
    IMAGE,
    INVERSE,
    MASK,
    NOISE_FLOOR,
    OFFSET,
    RAMPS,
    UNDECIDED,
    Launch,
    X,
    Y,
    fft_core,
    plan_rows,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..device.launcher import Launcher
    from ..output.histogram import Ramps
    from ..output.ramp import Stack
    from ..transfer import Transfer
    from .algorithms import Algorithm

    Array = np.ndarray[Any, Any]


# Pixels as the device loads them; in double precision also float64.
LOADED = PIXELS | {np.dtype(np.float64): "double"}


class Box(NamedTuple):
    """A box of the flow chart: its launches, the name of what they leave in X, and the shape that this has there.

    What the transforms leave lacks the offset: times ``gain``, it belongs to the numbers at ``place``.
    """

    leaves: str
    launches: tuple[Launch, ...]
    shape: tuple[int, int, int]
    place: tuple[slice | int, ...] = ()
    gain: float = 0.0


def buffer_bytes(algorithm: Algorithm, shape: tuple[int, int, int], precision: str | None) -> int:
    """Return the bytes of the device that a stack takes: two buffers of complex numbers and the pixels."""
    number = 16 if precision == "double" else 8
    count, height, width = shape
    longest = max(height * plan_rows(width, algorithm).width, width * plan_rows(height, algorithm).width)
    return count * (2 * longest * number + height * width)


class StagedPipeline(FoundOnHost):
    """The whole filter for a stack of images: a list of launches on two complex buffers, the image and some tables.

    Filtered values that are not scaled have the launcher's precision; they are complex if the stack's ``out`` is.
    """

    weak = WEAK

    def __init__(
        self,
        launcher: Launcher,
        transfer: Transfer,
        stack: Stack,
        *,
        algorithm: Algorithm,
        transpose_kind: str | None = None,
    ) -> None:
        super().__init__(stack.pictures)
        self.stack = stack
        count, height, width = stack.shape
        rows = plan_rows(width, algorithm)
        columns = plan_rows(height, algorithm)
        upright, turned = stack.shape, (count, width, height)
        pictures = stack.pictures
        values = stack.size // pictures
        group = launcher.reduction_size
        pair = steps.first_pair(values, pictures, group)
        _, table = transfer.on_grid(height, width)
        if table is None and transfer.keeps_mean:
            table = transfer.gain(height, width) / transfer.largest
        radial = transfer.radial if table is None else None
        dc = transfer.at_dc(table)
        # The bins may lie in any order between the transforms, as long as the mask is read in that order.
        order = (columns.reversed_bits, rows.reversed_bits)
        turn = partial(steps.transpose, kind=transpose_kind or algorithm.transpose, side=launcher.tile_side)

        everywhere, left, top, corner = np.s_[:, :, :], np.s_[:, :, 0], np.s_[:, 0, :], np.s_[:, 0, 0]
        one, whole = float(width), float(width * height)

        self.flow: tuple[Box, ...] = (
            Box("image", (steps.load(width, height, count, LOADED[stack.pixel]),), upright, everywhere, 1.0),
            Box("rows", fft_core(rows, count * height, FORWARD, ordered=False), upright, left, one),
            Box("rows-transposed", (turn(width, height, count),), turned, top, one),
            Box("spectrum", fft_core(columns, count * width, FORWARD, ordered=False), turned, corner, whole),
            Box("spectrum-masked", (steps.mask(height, width, count, radial, order),), turned, corner, dc * whole),
            Box("columns-inverse", fft_core(columns, count * width, INVERSE, ordered=False), turned, top, dc * one),
            Box("columns-transposed", (turn(height, width, count),), upright, left, dc * one),
            Box("filtered", fft_core(rows, count * height, INVERSE, ordered=False), upright, everywhere, dc),
            Box("magnitude", (steps.magnitude(width, height, count, dc),), upright),
            Box("extremes", steps.extremes(values, pictures, group), upright),
        )
        if stack.white is not None:
            self.flow += (Box("output", (steps.quantize(values, pictures, pair, PIXELS[stack.out]),), upright),)
        own = own_ramps(stack)
        if launcher.real != np.float32:
            own["undecided"] = 0  # double precision decides every sample
        self._pairs = pair, pictures
        # The extremes lie in the buffer that is free by then. A tiny image has fewer pixels than they have numbers.
        elements = max(count * height * rows.width, count * width * columns.width, pair + pictures)
        self._workspace = Workspace(
            launcher,
            (rows, columns),
            elements,
            str(stack),
            launches=tuple(launch for box in self.flow for launch in box.launches),
            image_bytes=stack.size * max(stack.pixel.itemsize, stack.out.itemsize),
            tables={
                MASK: steps.mask_table(height, width, radial, table, launcher.real),
                OFFSET: np.zeros(count, launcher.real),
                NOISE_FLOOR: np.zeros(pictures, launcher.real),
                RAMPS: of_values(own),
                UNDECIDED: np.zeros(pictures, np.uint32),
            },
        )

    def run(self, images: Array, ramps: Ramps = None, *, observe: Callable[[str, Array], None] | None = None) -> Array:
        """Filter images ``(count, height, width)``, and return their pixels.

        On ramps the host makes them; without, they are magnitudes, each picture with its own range, or values as they
        are. ``observe`` is called with the name of each box's result and its contents as they lie in the buffer.
        """
        space = self._workspace
        real = space.launcher.real
        base = offset(images)
        self._far = deviation(images).reshape(self.stack.pictures, -1).max(axis=1)
        space.write(OFFSET, base.astype(real))
        space.write(NOISE_FLOOR, (NOISE * self._far).astype(real))
        space.write(UNDECIDED, np.zeros(self.stack.pictures, np.uint32))
        space.write(IMAGE, np.ascontiguousarray(images))

        def read(box: Box) -> Array:
            found = space.read(X, np.empty(box.shape, real if box.leaves == "magnitude" else space.launcher.complex))
            found[box.place] += (box.gain * base).reshape(-1, *(1 for _ in found[box.place].shape[1:]))
            return found

        for box in self.flow:
            if ramps is not None and box.leaves == "output":
                break
            space.run(box.launches)
            if observe is not None and box.leaves not in ("extremes", "output"):
                observe(box.leaves, read(box))
            if box.leaves == "filtered" and (self.stack.white is None or ramps is not None):
                values = read(box)
        if self.stack.white is None:
            return np.ascontiguousarray(values if self.stack.out.kind == "c" else values.real)
        if ramps is None:
            result = space.read(IMAGE, np.empty(self.stack.shape, self.stack.out))
            counts = space.read(UNDECIDED, np.empty(self.stack.pictures, np.uint32))
            self._undecided = (counts / most_undecided(self.stack)).tolist()
        else:
            values = np.ascontiguousarray(values.real)
            result, self._clipped, self._undecided = on_ramps(values, self.stack, ramps, self._far)
        if observe is not None:
            observe("output", result)
        return result

    def extremes(self) -> Array:
        """Return the smallest and largest magnitude of each picture of the last run: (pictures, 2)."""
        first, pictures = self._pairs
        pairs = self._workspace.read(Y, np.empty(first + pictures, self._workspace.launcher.complex))[first:]
        return np.stack([pairs.real, pairs.imag], axis=1)
