"""A plain FFT on a GPU, prepared for arrays of one shape: launches from one device buffer to another.

Its steps are plain data: along which lines, from where to where.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyopencl as cl

from ...arrays import Array
from ...device.launcher import Launcher
from ...output.ramp import PIXELS, Stack
from ..tables import twiddles
from . import plan as images
from .launches import FOUND, INVERSE_ROWS, ROWS, Launch, Launches, compiler_options, registers_of
from .plan import FusedPlan, LongPlan, plan_long
from .transform import DEFAULT, SECTOR, Limits, TransformPlan, fits, plan_transform

if TYPE_CHECKING:
    from .. import Shape

# Numbers from which places no longer fit into 32 bits.
MOST_NUMBERS = 1 << 32
TARGET, SCRATCH = "target", "scratch"


@dataclass(frozen=True)
class Lines:
    """Where lines lie: ``group`` side by side, groups ``step`` numbers apart, numbers of a line ``stride`` apart."""

    group: int
    step: int
    stride: int


@dataclass(frozen=True)
class Step:
    """Transforms of ``count`` lines, a launch.

    ``between`` is the length of the long transform whose outer step it is, else 0; ``beside`` are the long
    transforms that lie side by side. The first ``kept`` numbers of each line are stored.
    """

    plan: TransformPlan
    count: int
    source: Lines
    target: Lines
    kept: int
    between: int = 0
    beside: int = 1

    @property
    def in_place(self) -> bool:
        """Whether the numbers may come back to their own places."""
        return self.source == self.target

    def defines(self) -> tuple[str, ...]:
        """Return what the kernel must know at compile time."""
        return (
            *self.plan.defines(),
            *(f"FROM_GROUP={self.source.group}", f"FROM_STEP={self.source.step}", f"FROM_STRIDE={self.source.stride}"),
            *(f"TO_GROUP={self.target.group}", f"TO_STEP={self.target.step}", f"TO_STRIDE={self.target.stride}"),
            *(f"KEPT={self.kept}", f"BETWEEN={self.between}", f"BESIDE={self.beside}"),
        )


def serves(shape: Shape, limits: Limits = DEFAULT) -> bool:
    """Tell whether a shape can be transformed."""
    if shape.arrays * shape.height * shape.width >= MOST_NUMBERS:
        return False
    if is_paired(shape, limits):
        return True
    rows = shape.along == "columns" or _plan(shape.width, 1, limits)
    columns = shape.along == "rows" or _plan(shape.height, shape.width, limits)
    return shape.data != "values" and bool(rows and columns)


def is_paired(shape: Shape, limits: Limits = DEFAULT) -> bool:
    """Tell whether rows of real images are transformed in pairs, for which work-groups have to hold both sides.

    A spectrum in natural order is written in whole sectors only where a group has four columns: with fewer, lines are
    faster, though rows are not in pairs.
    """
    if shape.data == "complex" or shape.along != "both" or shape.inverse:
        return False
    sides = ((shape.height, True), (shape.width, False))
    if not all(fits(n, limits, columns=columns) for n, columns in sides):
        return False
    planned = images.plan(shape.height, shape.width, limits)
    if not planned.is_in_groups:
        return False
    return shape.data == "values" or planned.columns.batch >= min(SECTOR, shape.width // 2 + 1)


def is_cut(shape: Shape, limits: Limits = DEFAULT) -> bool:
    """Tell whether half a spectrum is cut out of a whole one: rows in two steps store all."""
    return shape.half and not is_paired(shape, limits) and not isinstance(_plan(shape.width, 1, limits), TransformPlan)


def steps(shape: Shape, limits: Limits = DEFAULT) -> list[Step]:
    """Return the steps of a transform of complex numbers, or of real ones that are read as such, rows first."""
    found: list[Step] = []
    kept = shape.width if is_cut(shape, limits) else shape.spectrum_width
    if shape.along != "columns":
        found += _axis(shape.arrays * shape.height, shape.width, 1, limits, kept)
    if shape.along != "rows":
        found += _axis(shape.arrays, shape.height, kept, limits, shape.height)
    return found


@cache
def _plan(n: int, beside: int, limits: Limits) -> TransformPlan | LongPlan | None:
    """Return the plan of lines of n numbers, ``beside`` of them side by side; None if n is too long."""
    if fits(n, limits, columns=False):
        return plan_transform(n, _wide(n, beside, limits), columns=False, count=max(beside, SECTOR))
    found = plan_long(n, limits, columns=False, count=max(beside, SECTOR))
    # A long chirp-z has steps of its own, which plain FFTs leave to the staged pipeline.
    return found if found and not found.is_bluestein else None


def _wide(n: int, beside: int, limits: Limits) -> Limits:
    """Return limits with which a work-group takes a sector of neighboring lines, if it can."""
    items = plan_transform(n, limits, columns=False, count=1).items
    wanted = min(limits.group, SECTOR * items) if beside >= SECTOR else limits.group_wanted
    return replace(limits, group_wanted=max(limits.group_wanted, wanted))


def _axis(count: int, n: int, beside: int, limits: Limits, kept: int) -> list[Step]:
    """Return the steps along an axis of an array ``(count, n, beside)``, of whose lines ``kept`` numbers are stored."""
    planned = _plan(n, beside, limits)
    if planned is None:
        raise ValueError(f"no plan for lines of {n}")
    if isinstance(planned, TransformPlan):
        from_, to = Lines(beside, n * beside, beside), Lines(beside, kept * beside, beside)
        return [Step(planned, count * beside, from_, to, kept)]
    outer, middle = planned.outer.points, planned.middle.points
    outer_lines = Lines(middle * beside, n * beside, middle * beside)
    from_, to = Lines(beside, middle * beside, beside), Lines(outer * beside, n * beside, outer * beside)
    return [
        Step(planned.outer, count * middle * beside, outer_lines, outer_lines, outer, between=n, beside=beside),
        Step(planned.middle, count * outer * beside, from_, to, middle),
    ]


def places(steps: list[Step]) -> list[str]:
    """Return the buffer that each step writes: the last one the target, and none its source unless in place."""
    found = [TARGET]
    for step in steps[:0:-1]:
        found.append(found[-1] if step.in_place else {TARGET: SCRATCH, SCRATCH: TARGET}[found[-1]])
    return found[::-1]


FLOAT = np.dtype(np.float32)


class PairLaunches(Launches):
    """Makes launches for real images without an offset and without a mask."""

    before: ClassVar[Mapping[str, tuple[str, ...]]] = dict.fromkeys(
        (ROWS, INVERSE_ROWS), ("fused/gpu/plain_fft/no_offset.cl",)
    )

    def to_spectrum(self, *, half: bool) -> Launch:
        """Return the launch from the rows' spectra to spectra in natural order; target and scale are bound later."""
        return self._ends("fused/gpu/plain_fft/to_spectrum.cl", f"HALF={int(half)}", target=None)

    def from_spectrum(self) -> Launch:
        """Return the launch from half a spectrum to the rows' spectra; source and scale are bound later."""
        return self._ends("fused/gpu/plain_fft/from_spectrum.cl", source=None)

    def _ends(self, file: str, *defines: str, **end: None) -> Launch:
        columns: Any = self.plan.columns
        return self._whole("columns", file, columns, defines, scale=None, **end)


class GpuTransform:
    """A transform of arrays of one shape and type on a GPU.

    ``pixel`` is the type of real numbers: uint8, uint16 or float32. Raises TooLargeError for more than the device has.
    """

    def __init__(
        self, launcher: Launcher, shape: Shape, pixel: np.dtype[Any] = FLOAT, *, limits: Limits = DEFAULT
    ) -> None:
        self.launcher, self.shape = launcher, shape
        self._given = np.dtype(pixel if shape.data == "real" else np.complex64)
        self._made = np.dtype(np.float32 if shape.data == "values" else np.complex64)
        self._held = shape.source if is_cut(shape, limits) else shape.target
        self.source_bytes = math.prod(shape.source) * self._given.itemsize
        """Bytes of the array that is given."""
        self.target_bytes = math.prod(self._held) * self._made.itemsize
        """Bytes of the array that is made on the device."""
        self._buffers: tuple[cl.Buffer, cl.Buffer] | None = None
        self._bound: tuple[Any, ...] = ()
        self._launches: list[Launch] = []
        # Which argument of each launch is the source, the target, or the scale
        self._names: list[dict[str, str]] = []
        paired = images.plan(shape.height, shape.width, limits) if is_paired(shape, limits) else None
        lines = [] if paired else steps(shape, limits)
        between = math.prod(shape.source) if SCRATCH in places(lines) else 0
        scratch_bytes = 8 * (shape.arrays * paired.spectrum_length if paired else between)
        self.device_bytes = self.source_bytes + self.target_bytes + scratch_bytes
        """Bytes of the device that it takes."""
        launcher.device.check_memory(str(shape), [self.source_bytes, self.target_bytes, scratch_bytes])
        self._scratch = launcher.allocate(scratch_bytes) if scratch_bytes else None
        if paired:
            self._build_pairs(paired, pixel)
        else:
            self._build_lines(lines, PIXELS[pixel])

    def enqueue(self, source: cl.Buffer, target: cl.Buffer, scale: float = 1.0) -> None:
        """Transform from one device buffer to another, without waiting; ``source`` is left as it is."""
        bound = (source, target, scale)
        if bound != self._bound:
            given = {"source": source, "target": target, "scale": float(scale)}
            for launch, names in zip(self._launches, self._names, strict=True):
                launch.kernel.bind(**{name: given[what] for name, what in names.items()})
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

    def _build_lines(self, lines: list[Step], pixel: str) -> None:
        """Build the steps of complex numbers, or of real ones that are read as such."""
        shape, place = self.shape, "source"
        for step, goes_to in zip(lines, places(lines), strict=True):
            reads_real = place == "source" and shape.data == "real"
            given = f"LOAD_PIXEL={pixel if reads_real else 'complex_t'}", f"IS_REAL={int(reads_real)}"
            defines = (*step.defines(), f"INVERSE={int(shape.inverse)}", *given)
            names = {"target": goes_to, "source": place, "scale": "scale" if step is lines[-1] else "one"}
            n = max(step.between, 1)
            between = twiddles(np.arange(n), n).astype(np.complex64)
            # The other names are bound later.
            known = {SCRATCH: self._scratch, "one": 1.0}
            arguments = {
                **{name: known.get(what) for name, what in names.items()},
                "tables": self._table(step.plan),
                "between": self.launcher.wrap(between, constant=True),
                "lines": step.count,
            }
            source = "fused/gpu/plain_fft/lines.cl"
            options = compiler_options(self.launcher, registers_of(source, step.plan))
            kernel = self.launcher.kernel((source,), defines, "gpu_plain_fft_lines", arguments, options=options)
            self._names.append({name: what for name, what in names.items() if what not in known})
            self._launches.append(Launch("transform", kernel, (step.plan.work_items(step.count),), (step.plan.group,)))
            place = goes_to

    def _build_pairs(self, planned: FusedPlan, pixel: np.dtype[Any]) -> None:
        """Build the steps of real images, whose rows go in pairs."""
        shape = self.shape
        stack = Stack(shape.arrays, shape.height, shape.width, pixel, FLOAT, white=None)
        # The steps of a filter keep what they find of each image there.
        largest = self.launcher.allocate(4 * FOUND * shape.arrays)
        nothing = images.Mask(planned.tiles, complement=False, dc=0.0, shape="table", data=np.zeros(0), numbers={})
        given: dict[str, Any] = {"launcher": self.launcher, "plan": planned, "mask": nothing, "stack": stack}
        given |= {"spectrum": self._scratch, "largest": largest, **dict.fromkeys(("mask_data", "work", "values"))}
        given |= {"row_tables": [self._table(planned.rows)], "column_tables": [self._table(planned.columns)]}
        made = PairLaunches(**given)
        if shape.data == "real":
            (first,) = made.rows()
            last = made.to_spectrum(half=shape.half)
            self._names = [{"image": "source"}, {"target": "target", "scale": "scale"}]
        else:
            first = made.from_spectrum()
            (last,) = made.inverse_rows()
            last.kernel.set("image", largest)  # nothing is read of an image: its place is anything's
            self._names = [{"source": "source", "scale": "scale"}, {"values": "target"}]
        self._launches = [first, last]

    def _table(self, part: Any) -> cl.Buffer:
        (table,) = part.tables()
        return self.launcher.wrap(table, constant=True)
