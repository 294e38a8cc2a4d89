"""A bare transform on a GPU, prepared for arrays of one shape: launches from one device buffer to another."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ....output.stack import PIXELS
from .. import plan as images
from ..launches import (
    ATTRIBUTES,
    BUTTERFLIES,
    FOUND,
    INVERSE_ROWS,
    LARGEST,
    NEEDS,
    PAIRS,
    REGISTERS,
    ROWS,
    TRANSFORM,
    VALUES,
    Launch,
    Launches,
    compiler_options,
)
from ..transform import DEFAULT, MOST_PER_ITEM
from . import plan

if TYPE_CHECKING:
    import pyopencl as cl

    from ....device.launcher import Launcher
    from ...bare import Shape
    from ..transform import Limits

    Array = np.ndarray[Any, Any]

LINES = "fused/gpu/bare/lines.cl"
NO_GROUND = "fused/gpu/bare/no_ground.cl"
TO_SPECTRUM = "fused/gpu/bare/to_spectrum.cl"
FROM_SPECTRUM = "fused/gpu/bare/from_spectrum.cl"
FLOAT = np.dtype(np.float32)


class PairLaunches(Launches):
    """Makes launches of real images with nothing taken off, and without a mask."""

    needs = NEEDS | {
        ROWS: (NO_GROUND,),
        TO_SPECTRUM: (PAIRS,),
        FROM_SPECTRUM: (PAIRS,),
        INVERSE_ROWS: (NO_GROUND, VALUES, LARGEST),
    }

    def to_spectrum(self, table: cl.Buffer, *, half: bool) -> Launch:
        """Return what makes spectra in natural order of the rows' spectra; target and scale are set later."""
        return self._columns(TO_SPECTRUM, (f"HALF={int(half)}",), table)

    def from_spectrum(self, table: cl.Buffer) -> Launch:
        """Return what makes the rows' spectra of half a spectrum; source and scale are set later."""
        return self._columns(FROM_SPECTRUM, (), table)

    def _columns(self, source: str, defines: tuple[str, ...], table: cl.Buffer) -> Launch:
        ends = (None, self.spectrum) if source == TO_SPECTRUM else (self.spectrum, None)
        columns: Any = self.plan.columns
        return self._whole("columns", source, columns, self._kept_columns, defines, *ends, table, None)


class GpuTransform:
    """A transform of arrays of one shape and type on a GPU.

    ``pixel`` is the type of real numbers: uint8, uint16 or float32. Raises TooLargeError for more than the device has.
    """

    def __init__(
        self, launcher: Launcher, shape: Shape, pixel: np.dtype[Any] = FLOAT, *, limits: Limits = DEFAULT
    ) -> None:
        self.launcher, self.shape = launcher, shape
        self._is_paired = plan.is_paired(shape, limits)
        given = np.dtype(pixel if shape.data == "real" else np.complex64)
        made = np.dtype(np.float32 if shape.data == "values" else np.complex64)
        held = shape.source if plan.is_cut(shape, limits) else shape.target
        self._given, self._made = given, made
        self.source_bytes = math.prod(shape.source) * given.itemsize
        """Bytes of the array that is given."""
        self.target_bytes = math.prod(held) * made.itemsize
        """Bytes of what is made on the device."""
        self._held = held
        self._kept: list[cl.Buffer] = []
        self._buffers: tuple[cl.Buffer, cl.Buffer] | None = None
        self._bound: tuple[Any, ...] = ()
        # Where source, target and scale stand among the arguments of the kernels.
        self._sources: list[tuple[cl.Kernel, int]] = []
        self._targets: list[tuple[cl.Kernel, int]] = []
        self._scales: list[tuple[cl.Kernel, int]] = []
        self._launches: list[Launch] = []
        if self._is_paired:
            self._scratch_bytes = 8 * shape.count * images.plan(shape.height, shape.width, limits).spectrum_length
        else:
            steps = plan.steps(shape, limits)
            self._scratch_bytes = 8 * math.prod(shape.source) if plan.SCRATCH in plan.places(steps) else 0
        self.device_bytes = self.source_bytes + self.target_bytes + self._scratch_bytes
        """Bytes of the device that it takes."""
        launcher.device.check_memory(str(shape), [self.source_bytes, self.target_bytes, self._scratch_bytes])
        self._scratch = launcher.allocate(self._scratch_bytes) if self._scratch_bytes else None
        if self._is_paired:
            self._build_pairs(limits, PIXELS[pixel])
        else:
            self._build_lines(steps, PIXELS[pixel])

    def enqueue(self, source: cl.Buffer, target: cl.Buffer, scale: float = 1.0) -> None:
        """Transform from one device buffer to another, without waiting; ``source`` is left as it is."""
        bound = (source, target, scale)
        if bound != self._bound:
            places: tuple[tuple[list[tuple[cl.Kernel, int]], Any], ...] = (
                (self._sources, source),
                (self._targets, target),
                (self._scales, np.float32(scale)),
            )
            for arguments, value in places:
                for kernel, at in arguments:
                    kernel.set_arg(at, value)
            self._bound = bound
        for launch in self._launches:
            self.launcher.enqueue(*launch)

    def run(self, source: Array, scale: float = 1.0) -> tuple[Array, float]:
        """Return the transform of an array in the host's memory times a scale, and its parts' largest magnitude."""
        if self._buffers is None:
            self._buffers = self.launcher.allocate(self.source_bytes), self.launcher.allocate(self.target_bytes)
        self.launcher.write(self._buffers[0], np.ascontiguousarray(source, self._given))
        self.enqueue(*self._buffers, scale)
        result = np.empty(self._held, self._made)
        self.launcher.read(result, self._buffers[1])
        result = np.ascontiguousarray(result[:, :, : self.shape.target[-1]])
        parts = result.view(np.float32)
        return result, float(np.maximum(parts.max(), -parts.min()))

    def _build_lines(self, steps: list[plan.Step], pixel: str) -> None:
        """Build the steps of complex numbers, or of real ones that are read as such."""
        shape = self.shape
        place = "source"
        for number, (step, goes_to) in enumerate(zip(steps, plan.places(steps), strict=True)):
            is_first, is_last = number == 0, number == len(steps) - 1
            reads_real = is_first and shape.data == "real"
            given = f"LOAD_PIXEL={pixel if reads_real else 'complex_t'}", f"IS_REAL={int(reads_real)}"
            defines = (*step.defines(), f"INVERSE={int(shape.inverse)}", *given)
            between = self._constant(_turns(step.between))
            arguments = [None, None, self._table(step.plan), between, None, np.uint32(step.count)]
            registers = REGISTERS if step.plan.per_item <= MOST_PER_ITEM else 2 * REGISTERS
            options = compiler_options(self.launcher, registers)
            files = ATTRIBUTES, BUTTERFLIES, TRANSFORM, LINES
            kernel = self.launcher.kernel(files, defines, "gpu_bare_lines", arguments, options=options)
            self._bind(kernel, 0, goes_to)
            self._bind(kernel, 1, place)
            if is_last:
                self._scales.append((kernel, 4))
            else:
                kernel.set_arg(4, np.float32(1))
            place = goes_to
            items = (step.plan.work_items(step.count),)
            self._launches.append(Launch("transform", kernel, items, (step.plan.group,)))

    def _build_pairs(self, limits: Limits, pixel: str) -> None:
        """Build the steps of real images, whose rows go in pairs."""
        shape = self.shape
        planned = images.plan(shape.height, shape.width, limits)
        row_table, column_table = self._table(planned.rows), self._table(planned.columns)
        # The steps of a filter keep what they find of each image there.
        largest = self._keep(self.launcher.allocate(4 * FOUND * shape.count))
        sizes = shape.count, planned.tiles, self._scratch, None, largest
        made = PairLaunches(self.launcher, planned, *sizes, pixel, "wrap", is_twofold=False)
        if shape.data == "real":
            (first,) = made.rows([row_table])
            last = made.to_spectrum(column_table, half=shape.half)
            self._scales.append((last.kernel, 3))
        else:
            first = made.from_spectrum(column_table)
            (last,) = made.inverse_rows([row_table], np.uint32(0), np.float32(0), complement=False)
            # Nothing is read of an image: its place is anything's.
            last.kernel.set_arg(last.kernel.num_args - 1, largest)
            self._scales.append((first.kernel, 3))
        self._launches = [first, last]
        self._sources.append((first.kernel, 1))
        self._targets.append((last.kernel, 0))

    def _bind(self, kernel: cl.Kernel, at: int, place: str) -> None:
        """Set a buffer as an argument, now or with each array."""
        if place == plan.SCRATCH:
            kernel.set_arg(at, self._scratch)
        else:
            (self._sources if place == "source" else self._targets).append((kernel, at))

    def _table(self, part: Any) -> cl.Buffer:
        (table,) = part.tables()
        return self._constant(table)

    def _constant(self, array: Array) -> cl.Buffer:
        buffer = self._keep(self.launcher.allocate(max(8, array.nbytes)))
        if array.nbytes:
            self.launcher.write(buffer, array)
        return buffer

    def _keep(self, buffer: cl.Buffer) -> cl.Buffer:
        """Keep a buffer as long as the transform: a kernel does not keep its buffers alive."""
        self._kept.append(buffer)
        return buffer


def _turns(n: int) -> Array:
    """Return W(k, n) for k below n, and one number for 0."""
    turns: Array = np.exp(-2j * np.pi * np.arange(max(n, 1)) / max(n, 1)).astype(np.complex64)
    return turns
