"""Makes the launches of the fused pipeline for GPUs: rows, columns, inverse rows, in one step or in two; pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import pyopencl as cl

from ...output.histogram import BINS, counted
from ...output.stack import PIXELS
from .transform import MOST_PER_ITEM, TransformPlan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...device.launcher import Kernel, Launcher
    from ...output.stack import Stack
    from ...transfer.edges import Edges
    from .plan import FusedPlan, LongPlan

    Buffer = cl.Buffer | None

ROWS = "fused/gpu/rows.cl"
COLUMNS = "fused/gpu/columns.cl"
INVERSE_ROWS = "fused/gpu/inverse_rows.cl"
INVERSE_ROWS_TO_PIXELS = "fused/gpu/inverse_rows_to_pixels.cl"
FILTER = "fused/gpu/filter.cl"
LONG_ROWS = "fused/gpu/long/rows.cl"
LONG_ROWS_MIDDLE = "fused/gpu/long/rows_middle.cl"
LONG_ROWS_TO_SPECTRUM = "fused/gpu/long/rows_to_spectrum.cl"
LONG_ROWS_FROM_SPECTRUM = "fused/gpu/long/rows_from_spectrum.cl"
LONG_ROWS_TO_VALUES = "fused/gpu/long/rows_to_values.cl"
LONG_COLUMNS = "fused/gpu/long/columns.cl"
LONG_COLUMNS_MIDDLE = "fused/gpu/long/columns_middle.cl"
LONG_COLUMNS_MASK = "fused/gpu/long/columns_mask.cl"
LONG_COLUMNS_BACK = "fused/gpu/long/columns_back.cl"
PACK = "fused/gpu/long/pack.cl"
QUANTIZE = "fused/gpu/quantize.cl"
DEVIATION = "fused/gpu/deviation.cl"
HISTOGRAM = "fused/gpu/histogram.cl"
RAMP_OF_HISTOGRAM = "fused/gpu/ramp_of_histogram.cl"

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
QUANTIZE_GROUP = 256
# Pixels that a work-item quantizes, and how many of them at once if the picture's are a multiple.
PIXELS_OF_ITEM = 16
PIXELS_OF_VECTOR = 4
# Work-groups of that size that look for an image's largest deviation.
DEVIATION_GROUPS = 512
# And that count: fewer, as each adds a histogram of its own.
HISTOGRAM_GROUPS = 128
RAMP_GROUP = 256
# Numbers that kernels find of each picture: FOUND of attributes.cl.
FOUND = 3


class Launch(NamedTuple):
    """A kernel whose arguments are set, and its work-items."""

    step: str
    kernel: Kernel
    items: tuple[int, ...]
    group: tuple[int, ...]


@dataclass(eq=False)
class Launches:
    """Makes launches for stacks of ``count`` images; ``tables`` are those of a side's plan, on the device.

    The arguments ``image`` and ``output`` are bound later, as the images change, ``largest`` with them; and ``values``
    where there is no buffer of them, as they are the output.
    """

    launcher: Launcher
    plan: FusedPlan
    count: int
    tiles: int
    """Of columns that are kept."""
    spectrum: cl.Buffer | None
    work: cl.Buffer | None
    """Between the steps of long transforms that are not in the spectrum's place."""
    values: cl.Buffer | None
    largest: cl.Buffer
    pixel: str
    """What OpenCL calls the type of the pixels."""
    edges: Edges
    needs_two_inverses: bool

    before: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Files in front of a kernel's, beside those that it needs."""

    @property
    def support(self) -> int:
        """Columns that are stored: whole tiles."""
        return self.tiles * self.plan.tile

    @property
    def _kept_columns(self) -> int:
        """Columns below the support."""
        return min(self.support, self.plan.width // 2 + 1)

    def rows(self, tables: Sequence[cl.Buffer]) -> list[Launch]:
        """Return what makes the rows' spectra of pixels."""
        rows, spectrum, largest, support = self.plan.rows, self.spectrum, self.largest, self.support
        pixel = (f"LOAD_PIXEL={self.pixel}",)
        if isinstance(rows, TransformPlan):
            own = {"spectrum": spectrum, "image": None, "tables": tables[0], "largest": largest, "support": support}
            return [self._whole("rows", ROWS, rows, self.plan.pairs, pixel, **own)]
        outer, middle, between = tables
        lines = self.work if rows.is_bluestein else spectrum
        first = {"lines": lines, "image": None, "tables": outer, "long_tables": between, "largest": largest}
        second = {"lines": lines, "tables": middle, "long_tables": between, "support": support}
        launches = [
            self._row_step("rows", LONG_ROWS, rows, rows.outer, pixel, **first),
            self._row_step("rows", LONG_ROWS_MIDDLE, rows, rows.middle, ("INVERSE=0",), **second),
        ]
        if rows.is_bluestein:
            last = {"spectrum": spectrum, "lines": lines, "tables": outer, "long_tables": between, "support": support}
            launches.append(self._row_step("rows", LONG_ROWS_TO_SPECTRUM, rows, rows.outer, (), **last))
        return launches

    def inverse_rows(
        self, tables: Sequence[cl.Buffer], *, one_scale: bool, dc: float, complement: bool, other: bool = False
    ) -> list[Launch]:
        """Return what makes values of the rows' spectra, and keeps the largest; ``dc`` is H(0).

        Of a ``complement`` the values are subtracted from the image. Where the image is transformed back twice, they
        are those of the ``other`` pixels, or of the first ones.
        """
        rows, spectrum, support, step = self.plan.rows, self.spectrum, self.support, "inverse rows"
        defines = f"LOAD_PIXEL={self.pixel}", f"COMPLEMENT={int(complement)}"
        found = {"largest": self.largest, "one_scale": one_scale}
        if isinstance(rows, TransformPlan):
            own = {"values": self.values, "spectrum": spectrum, "tables": tables[0], **found, "support": support}
            own |= {"dc": dc, "other": other, "image": None}
            return [self._whole(step, INVERSE_ROWS, rows, self.plan.pairs, defines, **own)]
        outer, middle, between = tables
        lines = self.work if rows.is_bluestein else spectrum
        launches = []
        if rows.is_bluestein:
            first = {"lines": lines, "spectrum": spectrum, "tables": outer, "long_tables": between, "support": support}
            launches.append(self._row_step(step, LONG_ROWS_FROM_SPECTRUM, rows, rows.outer, (), **first))
        direction = (f"INVERSE={int(not rows.is_bluestein)}",)
        second = {"lines": lines, "tables": middle, "long_tables": between, "support": support}
        launches.append(self._row_step(step, LONG_ROWS_MIDDLE, rows, rows.middle, direction, **second))
        last = {"values": self.values, "lines": lines, "tables": outer, "long_tables": between, **found}
        last |= {"dc": dc, "image": None}
        return [*launches, self._row_step(step, LONG_ROWS_TO_VALUES, rows, rows.outer, defines, **last)]

    def columns(
        self, tables: Sequence[cl.Buffer], shape: str, mask: dict[str, Any], *, other: bool = False
    ) -> list[Launch]:
        """Return what filters the columns; ``mask`` are the arguments that the mask takes, its buffer and numbers.

        ``other`` is as for :meth:`inverse_rows`: what those come of is left beside the spectrum, which stays.
        """
        columns, spectrum, paired = self.plan.columns, self.spectrum, self.plan.columns_paired
        defines = (f"SHAPE={shape}",)
        if isinstance(columns, TransformPlan):
            own = {"spectrum": spectrum, "tables": tables[0], **mask, "other": other}
            return [self._whole("columns", COLUMNS, columns, self._kept_columns, defines, **own)]
        outer, middle, between = tables
        strips = spectrum if paired else self.work
        ends = {"strips": strips, "spectrum": spectrum, "tables": outer, "long_tables": between}
        first = self._column_step(LONG_COLUMNS, columns, columns.outer, (), **ends)
        inside = {"strips": strips, "tables": middle, "long_tables": between, **mask}
        second = self._column_step(LONG_COLUMNS_MIDDLE, columns, columns.middle, defines, **inside)
        launches = [first, second]
        if columns.is_bluestein:
            masked = self._column_step(
                LONG_COLUMNS_MASK, columns, columns.outer, defines, **(inside | {"tables": outer})
            )
            launches += [masked, second]
        launches.append(self._column_step(LONG_COLUMNS_BACK, columns, columns.outer, (), **ends))
        if not paired:
            kernel = self._kernel(PACK, columns.defines(columns.outer), spectrum=spectrum, strips=strips)
            items = -(-self.plan.pairs * self.plan.tile // PACK_GROUP) * PACK_GROUP
            launches.append(Launch("columns", kernel, (items, self.tiles, self.count), (PACK_GROUP, 1, 1)))
        return launches

    def filter(self, defines: tuple[str, ...], /, **arguments: Any) -> Launch:
        """Return the one launch of all steps."""
        plan: Any = self.plan.rows
        groups = self._filter_groups(plan)
        defines = (*plan.defines(), *defines, "ONE_LAUNCH=1", f"HISTOGRAM_GROUPS={HISTOGRAM_GROUPS}")
        kernel = self._kernel(FILTER, defines, **arguments, registers=REGISTERS_OF_FILTER)
        return Launch("filter", kernel, (groups * plan.group,), (plan.group,))

    def goes_in_one(self) -> bool:
        """Tell whether rows and columns have the same plan, and all groups of a step run at a time."""
        plan = self.plan.rows
        if not isinstance(plan, TransformPlan) or plan != self.plan.columns:
            return False
        return self._run_together(self._filter_groups(plan), plan, REGISTERS_OF_FILTER)

    def inverse_rows_to_pixels(self, defines: tuple[str, ...], /, **arguments: Any) -> Launch:
        """Return the launch that makes pixels of the rows' spectra."""
        rows: Any = self.plan.rows
        source, groups = INVERSE_ROWS_TO_PIXELS, self._row_groups(rows)
        defines = (*rows.defines(), *defines, "ONE_LAUNCH=1")
        kernel = self._kernel(source, defines, **arguments, registers=_registers(source, rows))
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
        """Tell whether a device has registers for so many groups at a time; kernels are right if it has fewer, too."""
        units = int(self.launcher.device.cl_device.max_compute_units)
        return groups * plan.group * registers <= units * UNIT_REGISTERS

    def _whole(
        self,
        step: str,
        source: str,
        plan: TransformPlan,
        transforms: int,
        defines: tuple[str, ...],
        /,
        **arguments: Any,
    ) -> Launch:
        """Return the launch of ``transforms`` transforms that work-groups hold."""
        kernel = self._kernel(source, (*plan.defines(), *defines), **arguments, registers=_registers(source, plan))
        return Launch(step, kernel, (plan.work_items(transforms), self.count), (plan.group, 1))

    def _row_step(
        self, step: str, source: str, rows: LongPlan, part: TransformPlan, defines: tuple[str, ...], /, **arguments: Any
    ) -> Launch:
        """Return the launch of one step of long rows: transforms of a row are side by side."""
        kernel = self._kernel(source, (*rows.defines(part), *defines), **arguments, registers=_registers(source, part))
        items = (part.work_items(rows.length // part.length), self.plan.pairs, self.count)
        return Launch(step, kernel, items, (part.group, 1, 1))

    def _column_step(
        self, source: str, columns: LongPlan, part: TransformPlan, defines: tuple[str, ...], /, **arguments: Any
    ) -> Launch:
        """Return the launch of one step of long columns: columns are side by side."""
        registers = _registers(source, part)
        kernel = self._kernel(source, (*columns.defines(part), *defines), **arguments, registers=registers)
        # Neighboring groups take neighboring rows: what they read and write at a time lies together in memory.
        beside = -(-self._kept_columns // part.batch)
        items = (columns.length // part.length * part.group, beside, self.count)
        return Launch("columns", kernel, items, (part.group, 1, 1))

    def _kernel(
        self, source: str, defines: tuple[str, ...], /, *, registers: int = REGISTERS, **arguments: Any
    ) -> Kernel:
        """Return the kernel of a file, named after it, whose work-items have so many registers."""
        plan = self.plan
        edges = (f"EDGES={self.edges}", f"TWO_INVERSES={int(self.needs_two_inverses)}")
        size = (f"WIDTH={plan.width}", f"HEIGHT={plan.height}", f"TILE={plan.tile}", *edges)
        name = source.removeprefix("fused/").removesuffix(".cl").replace("/", "_")
        options = compiler_options(self.launcher, registers)
        return self.launcher.kernel(
            (*self.before.get(source, ()), source), (*size, *defines), name, arguments, options=options
        )


def quantize(launcher: Launcher, stack: Stack, values: Buffer, largest: Buffer, ramps: Buffer) -> Launch:
    """Return the launch that makes pixels of values, on these ramps; ``image`` and ``output`` are bound later."""
    count, height, width = stack.shape
    at_once = 1 if height * width % PIXELS_OF_VECTOR else PIXELS_OF_VECTOR
    stored = f"STORE_PIXEL={PIXELS[stack.out]}", f"QUANTIZE_GROUP={QUANTIZE_GROUP}", f"PIXELS_PER_ITEM={at_once}"
    arguments = {
        "output": None,
        "values": values,
        "image": None,
        "largest": largest,
        "one_scale": stack.one_scale,
        "ramps": ramps,
        "range": widest(stack),
        "height": height,
        "width": width,
    }
    defines = f"LOAD_PIXEL={PIXELS[stack.pixel]}", *stored
    kernel = launcher.kernel((QUANTIZE,), defines, "gpu_quantize", arguments, options=compiler_options(launcher))
    groups = -(-height * width // (PIXELS_OF_ITEM * QUANTIZE_GROUP))
    return Launch("quantize", kernel, (groups * QUANTIZE_GROUP, count), (QUANTIZE_GROUP, 1))


def histogram(launcher: Launcher, stack: Stack, values: Buffer, largest: Buffer, counts: Buffer) -> Launch:
    """Return the launch that counts magnitudes."""
    count, height, width = stack.shape
    rows, columns = counted(height, width)
    arguments = {
        "counts": counts,
        "values": values,
        "largest": largest,
        "one_scale": stack.one_scale,
        "height": height,
        "width": width,
        "bins": BINS,
        "rows": rows,
        "columns": columns,
        "own": cl.LocalMemory(4 * BINS),
    }
    kernel = launcher.kernel((HISTOGRAM,), (), "gpu_histogram", arguments, options=compiler_options(launcher))
    groups = min(HISTOGRAM_GROUPS, -(-height * width // QUANTIZE_GROUP))
    return Launch("histogram", kernel, (groups * QUANTIZE_GROUP, count), (QUANTIZE_GROUP, 1))


def ramp_of_histogram(
    launcher: Launcher, stack: Stack, largest: Buffer, counts: Buffer, *, wanted: Buffer, ramps: Buffer
) -> Launch:
    """Return the launch that finds the ramp of each picture in the counts of its histogram."""
    sums = cl.LocalMemory(4 * RAMP_GROUP)
    arguments = {"ramps": ramps, "wanted": wanted, "counts": counts, "largest": largest, "bins": BINS, "sums": sums}
    options = compiler_options(launcher)
    kernel = launcher.kernel((RAMP_OF_HISTOGRAM,), (), "gpu_ramp_of_histogram", arguments, options=options)
    return Launch("ramp", kernel, (RAMP_GROUP, stack.pictures), (RAMP_GROUP, 1))


def deviation(launcher: Launcher, stack: Stack, image: Buffer, far: Buffer) -> Launch:
    """Return the launch that finds the largest deviation from its offset of each picture, a float in ``far``."""
    count, height, width = stack.shape
    arguments = {"far": far, "image": image, "one_scale": stack.one_scale, "height": height, "width": width}
    defines = (f"LOAD_PIXEL={PIXELS[stack.pixel]}",)
    kernel = launcher.kernel((DEVIATION,), defines, "gpu_deviation", arguments)
    groups = min(DEVIATION_GROUPS, -(-height * width // QUANTIZE_GROUP))
    return Launch("deviation", kernel, (groups * QUANTIZE_GROUP, count), (QUANTIZE_GROUP, 1))


def widest(stack: Stack) -> float:
    """Return the largest deviation that the pixels' type allows; floats are within [-1, 1]."""
    return 2.0 if stack.pixel.kind == "f" else float(np.iinfo(stack.pixel).max)


def _registers(source: str, plan: TransformPlan) -> int:
    """Return how many registers a work-item may have."""
    registers = REGISTERS_OF_MIDDLE_STEPS if source in MIDDLE_STEPS else REGISTERS
    return registers if plan.per_item <= MOST_PER_ITEM else 2 * REGISTERS


def compiler_options(launcher: Launcher, registers: int = REGISTERS) -> tuple[str, ...]:
    """Return the compiler's own options: how many registers a work-item may have, and that division is exact.

    The compiler would turn division by a constant into multiplication, which rounds differently.
    """
    if "NVIDIA" not in launcher.device.platform:
        return ()
    return f"-cl-nv-maxrregcount={registers}", "-cl-fp32-correctly-rounded-divide-sqrt"
