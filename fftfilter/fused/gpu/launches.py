"""What the fused pipeline for GPUs launches for rows, columns and inverse rows, in one step or in two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...output.offset import KERNEL as GROUND
from ...output.ramp import KERNEL as RAMP
from .transform import MOST_PER_ITEM, TransformPlan

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyopencl as cl

    from ...device.launcher import Launcher
    from ...transfer.edges import Edges
    from .long import LongPlan
    from .plan import FusedPlan

ATTRIBUTES = "fused/gpu/attributes.cl"
BUTTERFLIES = "fused/gpu/butterflies.cl"
TRANSFORM = "fused/gpu/transform.cl"
PACKED = "fused/gpu/packed.cl"
SPECTRUM = "fused/gpu/spectrum.cl"
EDGES = "edges.cl"
SHAPES = "shapes.cl"
MASK = "fused/gpu/mask.cl"
COSINES = "fused/gpu/cosines.cl"
MIRRORED_MASK = "fused/gpu/mirrored_mask.cl"
VALUES = "fused/gpu/values.cl"
LARGEST = "fused/gpu/largest.cl"
ROWS = "fused/gpu/rows.cl"
PAIRS = "fused/gpu/pairs.cl"
COLUMNS = "fused/gpu/columns.cl"
INVERSE_ROWS = "fused/gpu/inverse_rows.cl"
TO_PIXELS = "fused/gpu/to_pixels.cl"
INVERSE_ROWS_TO_PIXELS = "fused/gpu/inverse_rows_to_pixels.cl"
FILTER = "fused/gpu/filter.cl"
PIXELS_AT_ONCE = "fused/gpu/pixels.cl"
QUANTIZE = "fused/gpu/quantize.cl"
DEVIATION = "fused/gpu/deviation.cl"
HISTOGRAM = "fused/gpu/histogram.cl"
RAMP_OF_HISTOGRAM = "fused/gpu/ramp_of_histogram.cl"
STEPS = "fused/gpu/long/steps.cl"
LINES = "fused/gpu/long/lines.cl"
LONG_ROWS = "fused/gpu/long/rows.cl"
LONG_ROWS_MIDDLE = "fused/gpu/long/rows_middle.cl"
LONG_ROWS_TO_SPECTRUM = "fused/gpu/long/rows_to_spectrum.cl"
LONG_ROWS_FROM_SPECTRUM = "fused/gpu/long/rows_from_spectrum.cl"
LONG_ROWS_TO_VALUES = "fused/gpu/long/rows_to_values.cl"
STRIPS = "fused/gpu/long/strips.cl"
LONG_COLUMNS = "fused/gpu/long/columns.cl"
LONG_COLUMNS_MIDDLE = "fused/gpu/long/columns_middle.cl"
LONG_COLUMNS_MASK = "fused/gpu/long/columns_mask.cl"
LONG_COLUMNS_BACK = "fused/gpu/long/columns_back.cl"
PACK = "fused/gpu/long/pack.cl"

# Files that a kernel needs in front of its own, behind attributes, butterflies, transform, edges, packed and spectrum,
# which all need.
NEEDS = {
    COLUMNS: (SHAPES, MASK, COSINES, MIRRORED_MASK, PAIRS),
    ROWS: (GROUND,),
    INVERSE_ROWS: (GROUND, VALUES, LARGEST),
    FILTER: (
        SHAPES,
        MASK,
        COSINES,
        MIRRORED_MASK,
        PAIRS,
        GROUND,
        VALUES,
        LARGEST,
        ROWS,
        COLUMNS,
        INVERSE_ROWS,
        PIXELS_AT_ONCE,
        RAMP,
        HISTOGRAM,
        RAMP_OF_HISTOGRAM,
        QUANTIZE,
        TO_PIXELS,
    ),
    INVERSE_ROWS_TO_PIXELS: (GROUND, VALUES, LARGEST, INVERSE_ROWS, PIXELS_AT_ONCE, RAMP, QUANTIZE, TO_PIXELS),
    LONG_ROWS: (STEPS, LINES, GROUND),
    LONG_ROWS_MIDDLE: (STEPS, LINES),
    LONG_ROWS_TO_SPECTRUM: (STEPS, LINES),
    LONG_ROWS_FROM_SPECTRUM: (STEPS, LINES),
    LONG_ROWS_TO_VALUES: (STEPS, LINES, GROUND, VALUES, LARGEST),
    LONG_COLUMNS: (STEPS, STRIPS),
    LONG_COLUMNS_MIDDLE: (STEPS, STRIPS, SHAPES, MASK),
    LONG_COLUMNS_MASK: (STEPS, STRIPS, SHAPES, MASK),
    LONG_COLUMNS_BACK: (STEPS, STRIPS),
    PACK: (STEPS, STRIPS),
}

# Registers that leave room for 1024 work-items of 16 numbers each.
REGISTERS = 64
# Middle steps, whose groups are small, keep more: three groups of 256 with nothing spilled beat four.
MIDDLE_STEPS = (LONG_ROWS_MIDDLE, LONG_COLUMNS_MIDDLE)
REGISTERS_OF_MIDDLE_STEPS = 80
# The one launch of small images has more: its groups do a task of each step.
REGISTERS_OF_FILTER = 128
# Registers of a compute unit of NVIDIA's
UNIT_REGISTERS = 1 << 16
PACK_GROUP = 256
# Numbers that kernels find of each picture: FOUND of attributes.cl.
FOUND = 3


class Launch(NamedTuple):
    """A kernel whose arguments are set, and its work-items."""

    step: str
    kernel: cl.Kernel
    items: tuple[int, ...]
    group: tuple[int, ...]


@dataclass(eq=False)
class Launches:
    """Makes launches for stacks of ``count`` images; ``tables`` are those of a side's plan, on the device.

    An argument of None is set later, as the images change: the pixels, argument 1 of the first launch of the rows; and
    of the last launch of the inverse rows the values, argument 0, and the pixels, the last.
    """

    launcher: Launcher
    plan: FusedPlan
    count: int
    tiles: int
    """Of columns that are kept."""
    spectrum: cl.Buffer | None
    work: cl.Buffer | None
    """Between the steps of long transforms that are not in the spectrum's place."""
    largest: cl.Buffer
    pixel: str
    """What OpenCL calls the type of the pixels."""
    edges: Edges
    is_twofold: bool

    needs = NEEDS

    def __post_init__(self) -> None:
        self.reach = np.uint32(self.tiles * self.plan.tile)
        self.largest_at: list[tuple[cl.Kernel, int]] = []
        """Where the kernels made so far have the largest magnitudes among their arguments."""

    @property
    def _kept_columns(self) -> int:
        """Columns below the reach."""
        return min(int(self.reach), self.plan.width // 2 + 1)

    def rows(self, tables: Sequence[cl.Buffer]) -> list[Launch]:
        """Return what makes the rows' spectra of pixels."""
        rows, spectrum, largest, step, reach = self.plan.rows, self.spectrum, self.largest, "rows", self.reach
        pixel = (f"LOAD_PIXEL={self.pixel}",)
        if isinstance(rows, TransformPlan):
            return [self._whole(step, ROWS, rows, self.plan.pairs, pixel, spectrum, None, *tables, largest, reach)]
        outer, middle, between = tables
        lines = self.work if rows.is_bluestein else spectrum
        launches = [
            self._row_step(step, LONG_ROWS, rows, rows.outer, pixel, lines, None, outer, between, largest),
            self._row_step(step, LONG_ROWS_MIDDLE, rows, rows.middle, ("INVERSE=0",), lines, middle, between, reach),
        ]
        if rows.is_bluestein:
            arguments = (spectrum, lines, outer, between, reach)
            launches.append(self._row_step(step, LONG_ROWS_TO_SPECTRUM, rows, rows.outer, (), *arguments))
        return launches

    def inverse_rows(
        self,
        tables: Sequence[cl.Buffer],
        one_scale: np.uint32,
        dc: np.float32,
        *,
        complement: bool,
        other: bool = False,
    ) -> list[Launch]:
        """Return what makes values of the rows' spectra, and keeps the largest; ``dc`` is H(0).

        Of a ``complement`` the values are subtracted from the image. Where the image is transformed back twice, they
        are those of the ``other`` pixels, or of the first ones.
        """
        rows, spectrum, largest, step, reach = self.plan.rows, self.spectrum, self.largest, "inverse rows", self.reach
        defines = f"LOAD_PIXEL={self.pixel}", f"COMPLEMENT={int(complement)}"
        arguments: tuple[Any, ...]
        if isinstance(rows, TransformPlan):
            arguments = (None, spectrum, *tables, largest, one_scale, reach, dc, np.uint32(other), None)
            return [self._whole(step, INVERSE_ROWS, rows, self.plan.pairs, defines, *arguments)]
        outer, middle, between = tables
        lines = self.work if rows.is_bluestein else spectrum
        launches = []
        if rows.is_bluestein:
            arguments = (lines, spectrum, outer, between, reach)
            launches.append(self._row_step(step, LONG_ROWS_FROM_SPECTRUM, rows, rows.outer, (), *arguments))
        direction = (f"INVERSE={int(not rows.is_bluestein)}",)
        launches.append(
            self._row_step(step, LONG_ROWS_MIDDLE, rows, rows.middle, direction, lines, middle, between, reach)
        )
        arguments = (None, lines, outer, between, largest, one_scale, dc, None)
        return [*launches, self._row_step(step, LONG_ROWS_TO_VALUES, rows, rows.outer, defines, *arguments)]

    def columns(
        self, tables: Sequence[cl.Buffer], shape: str, *mask_arguments: Any, other: bool = False
    ) -> list[Launch]:
        """Return what filters the columns; ``mask_arguments`` are the mask's buffer and numbers.

        ``other`` is as for :meth:`inverse_rows`: what those come of is left beside the spectrum, which stays.
        """
        columns, spectrum, paired = self.plan.columns, self.spectrum, self.plan.columns_paired
        mask = (f"SHAPE={shape}",)
        if isinstance(columns, TransformPlan):
            arguments = (spectrum, *tables, *mask_arguments, np.uint32(other))
            return [self._whole("columns", COLUMNS, columns, self._kept_columns, mask, *arguments)]
        outer, middle, between = tables
        strips = spectrum if paired else self.work
        ends = (strips, spectrum, outer, between)
        first = self._column_step(LONG_COLUMNS, columns, columns.outer, (), *ends)
        arguments = (strips, middle, between, *mask_arguments)
        second = self._column_step(LONG_COLUMNS_MIDDLE, columns, columns.middle, mask, *arguments)
        launches = [first, second]
        if columns.is_bluestein:
            arguments = (strips, outer, between, *mask_arguments)
            masked = self._column_step(LONG_COLUMNS_MASK, columns, columns.outer, mask, *arguments)
            launches += [masked, second]
        launches.append(self._column_step(LONG_COLUMNS_BACK, columns, columns.outer, (), *ends))
        if not paired:
            kernel = self._kernel(PACK, columns.defines(columns.outer), spectrum, strips)
            items = -(-self.plan.pairs * self.plan.tile // PACK_GROUP) * PACK_GROUP
            launches.append(Launch("columns", kernel, (items, self.tiles, self.count), (PACK_GROUP, 1, 1)))
        return launches

    def filter(self, *arguments: Any, defines: tuple[str, ...]) -> Launch:
        """Return the one launch of all steps."""
        plan: Any = self.plan.rows
        groups = self._filter_groups(plan)
        defines = (*plan.defines(), *defines, "ONE_LAUNCH=1")
        kernel = self._kernel(FILTER, defines, *arguments, registers=REGISTERS_OF_FILTER)
        return Launch("filter", kernel, (groups * plan.group,), (plan.group,))

    def goes_in_one(self) -> bool:
        """Tell whether rows and columns have the same plan, and all groups of a step run at a time."""
        plan = self.plan.rows
        if not isinstance(plan, TransformPlan) or plan != self.plan.columns:
            return False
        return self._run_together(self._filter_groups(plan), plan, REGISTERS_OF_FILTER)

    def inverse_rows_to_pixels(self, *arguments: Any, defines: tuple[str, ...]) -> Launch:
        """Return the launch that makes pixels of the rows' spectra."""
        rows: Any = self.plan.rows
        source, groups = INVERSE_ROWS_TO_PIXELS, self._row_groups(rows)
        defines = (*rows.defines(), *defines, "ONE_LAUNCH=1")
        kernel = self._kernel(source, defines, *arguments, registers=_registers(source, rows))
        return Launch("inverse rows to pixels", kernel, (groups * rows.group,), (rows.group,))

    def inverse_rows_run_together(self) -> bool:
        """Tell whether all groups of the inverse rows run at a time."""
        rows = self.plan.rows
        if not isinstance(rows, TransformPlan):
            return False
        return self._run_together(self._row_groups(rows), rows, _registers(INVERSE_ROWS_TO_PIXELS, rows))

    def _row_groups(self, plan: TransformPlan) -> int:
        return self.count * -(-self.plan.pairs // plan.batch)

    def _filter_groups(self, plan: TransformPlan) -> int:
        """Return the tasks of the largest step."""
        return max(self._row_groups(plan), self.count * -(-self._kept_columns // plan.batch))

    def _run_together(self, groups: int, plan: TransformPlan, registers: int) -> bool:
        """Tell whether a device has registers for so many groups at a time; kernels know what to do if it has not."""
        units = int(self.launcher.device.cl_device.max_compute_units)
        return groups * plan.group * registers <= units * UNIT_REGISTERS

    def _whole(
        self, step: str, source: str, plan: TransformPlan, transforms: int, defines: tuple[str, ...], *arguments: Any
    ) -> Launch:
        """Return the launch of ``transforms`` transforms that work-groups hold."""
        kernel = self._kernel(source, (*plan.defines(), *defines), *arguments, registers=_registers(source, plan))
        return Launch(step, kernel, (plan.work_items(transforms), self.count), (plan.group, 1))

    def _row_step(
        self, step: str, source: str, rows: LongPlan, part: TransformPlan, defines: tuple[str, ...], *arguments: Any
    ) -> Launch:
        """Return the launch of one step of long rows: transforms of a row are side by side."""
        kernel = self._kernel(source, (*rows.defines(part), *defines), *arguments, registers=_registers(source, part))
        items = (part.work_items(rows.length // part.length), self.plan.pairs, self.count)
        return Launch(step, kernel, items, (part.group, 1, 1))

    def _column_step(
        self, source: str, columns: LongPlan, part: TransformPlan, defines: tuple[str, ...], *arguments: Any
    ) -> Launch:
        """Return the launch of one step of long columns: columns are side by side."""
        registers = _registers(source, part)
        kernel = self._kernel(source, (*columns.defines(part), *defines), *arguments, registers=registers)
        # Neighboring groups take neighboring rows: what they read and write at a time lies together in memory.
        beside = -(-self._kept_columns // part.batch)
        items = (columns.length // part.length * part.group, beside, self.count)
        return Launch("columns", kernel, items, (part.group, 1, 1))

    def _kernel(self, source: str, defines: tuple[str, ...], *arguments: Any, registers: int = REGISTERS) -> cl.Kernel:
        """Return the kernel of a file, named after it, whose work-items have so many registers."""
        plan = self.plan
        edges = (f"EDGES={self.edges}", f"TWOFOLD={int(self.is_twofold)}")
        size = (f"WIDTH={plan.width}", f"HEIGHT={plan.height}", f"TILE={plan.tile}", *edges)
        name = source.removeprefix("fused/").removesuffix(".cl").replace("/", "_")
        sources = (ATTRIBUTES, BUTTERFLIES, TRANSFORM, EDGES, PACKED, SPECTRUM, *self.needs.get(source, ()), source)
        options = compiler_options(self.launcher, registers)
        kernel = self.launcher.kernel(sources, (*size, *defines), name, arguments, options=options)
        self.largest_at += [(kernel, at) for at, argument in enumerate(arguments) if argument is self.largest]
        return kernel


def _registers(source: str, plan: TransformPlan) -> int:
    """Return how many registers a work-item may have."""
    registers = REGISTERS_OF_MIDDLE_STEPS if source in MIDDLE_STEPS else REGISTERS
    return registers if plan.per_item <= MOST_PER_ITEM else 2 * REGISTERS


def compiler_options(launcher: Launcher, registers: int = REGISTERS) -> tuple[str, ...]:
    """Return the compiler's own options: how many registers a work-item may have, and that division is exact.

    Of a division by what it knows the compiler makes a multiplication, which rounds otherwise than the division would.
    """
    if "NVIDIA" not in launcher.device.platform:
        return ()
    return f"-cl-nv-maxrregcount={registers}", "-cl-fp32-correctly-rounded-divide-sqrt"
