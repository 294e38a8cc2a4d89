"""Makes the launches of the fused pipeline for GPUs: rows, columns and inverse rows, in one step or two, and pixels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyopencl as cl

from ...device.launcher import Kernel, Launcher
from ...output.histogram import BINS, counted
from ...output.ramp import PIXELS, Stack
from .plan import FusedPlan, LongPlan, Mask
from .transform import MOST_PER_ITEM, TransformPlan

Buffer = cl.Buffer | None
Defines = tuple[str, ...]
Arguments = dict[str, Any]
LongStep = tuple[str, TransformPlan, Defines, Arguments]


ROWS = "fused/gpu/rows.cl"
INVERSE_ROWS = "fused/gpu/inverse_rows.cl"
INVERSE_ROWS_TO_PIXELS = "fused/gpu/inverse_rows_to_pixels.cl"
FILTER = "fused/gpu/filter.cl"

# Registers that leave room for 1024 work-items of 16 numbers each.
REGISTERS = 64
# Middle steps, whose groups are small, keep more: three groups of 256 with nothing spilled beat four.
MIDDLE_STEPS = ("fused/gpu/long/rows_middle.cl", "fused/gpu/long/columns_middle.cl")
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
# Numbers that kernels find of each picture: FOUND of attributes.cl.
FOUND = 3
# Counters by which work-groups wait for each other, besides one for each task.
PROGRESS = 10


class Launch(NamedTuple):
    """A kernel whose arguments are set, and its work-items."""

    step: str
    kernel: Kernel
    items: tuple[int, ...]
    group: tuple[int, ...]


@dataclass(eq=False)
class Launches:
    """Makes launches for a stack.

    The arguments ``image``, ``output`` and ``largest`` are bound later, as they change with each stack. So is
    ``values`` where the values are the output and have no buffer of their own.
    """

    launcher: Launcher
    plan: FusedPlan
    mask: Mask
    mask_data: Buffer
    stack: Stack
    spectrum: Buffer
    work: Buffer
    """Between the steps of long transforms that are not in the spectrum's place."""
    values: Buffer
    largest: Buffer
    row_tables: list[cl.Buffer]
    """The tables of the plan of rows, on the device."""
    column_tables: list[cl.Buffer]

    before: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Files in front of a kernel's, beside those that it needs."""

    @property
    def support(self) -> int:
        """Columns that are stored: whole tiles."""
        return self.mask.tiles * self.plan.tile

    @property
    def _kept_columns(self) -> int:
        """Columns below the support."""
        return min(self.support, self.plan.width // 2 + 1)

    @property
    def _loads(self) -> str:
        """The define that names the type of the pixels."""
        return f"LOAD_PIXEL={PIXELS[self.stack.pixel]}"

    @property
    def mask_arguments(self) -> Arguments:
        """The mask's buffer, the scale that normalizes both transforms, and the mask's numbers."""
        both = (4 if self.mask.edges == "mirror" else 2) * self.plan.width * self.plan.height
        return {"mask_data": self.mask_data, "scale": 1 / both, **self.mask.numbers}

    def rows(self) -> list[Launch]:
        """Return the launches that make the rows' spectra of pixels."""
        rows, spectrum, largest, support = self.plan.rows, self.spectrum, self.largest, self.support
        tables, pixel = self.row_tables, (self._loads,)
        if isinstance(rows, TransformPlan):
            own = {"spectrum": spectrum, "image": None, "tables": tables[0], "largest": largest, "support": support}
            return [self._whole("rows", ROWS, rows, pixel, own)]
        outer, middle, between = tables
        lines = self.work if rows.is_bluestein else spectrum
        first = {"lines": lines, "image": None, "tables": outer, "long_tables": between, "largest": largest}
        second = {"lines": lines, "tables": middle, "long_tables": between, "support": support}
        steps: list[LongStep] = [
            ("fused/gpu/long/rows.cl", rows.outer, pixel, first),
            ("fused/gpu/long/rows_middle.cl", rows.middle, ("INVERSE=0",), second),
        ]
        if rows.is_bluestein:
            last = {"spectrum": spectrum, "lines": lines, "tables": outer, "long_tables": between, "support": support}
            steps.append(("fused/gpu/long/rows_to_spectrum.cl", rows.outer, (), last))
        return self._long("rows", rows, steps)

    def inverse_rows(self, *, other: bool = False) -> list[Launch]:
        """Return the launches that make values of the rows' spectra, and keep the largest.

        Where the image is transformed back twice, they are those of the ``other`` pixels, or of the first ones.
        """
        rows, spectrum, support, tables = self.plan.rows, self.spectrum, self.support, self.row_tables
        defines = self._loads, f"COMPLEMENT={int(self.mask.complement)}"
        found: Arguments = {"largest": self.largest, "one_scale": self.stack.one_scale}
        if isinstance(rows, TransformPlan):
            own = {"values": self.values, "spectrum": spectrum, "tables": tables[0], **found, "support": support}
            own |= {"dc": self.mask.dc, "other": other, "image": None}
            return [self._whole("inverse rows", INVERSE_ROWS, rows, defines, own)]
        outer, middle, between = tables
        lines = self.work if rows.is_bluestein else spectrum
        steps: list[LongStep] = []
        if rows.is_bluestein:
            first = {"lines": lines, "spectrum": spectrum, "tables": outer, "long_tables": between, "support": support}
            steps.append(("fused/gpu/long/rows_from_spectrum.cl", rows.outer, (), first))
        direction = (f"INVERSE={int(not rows.is_bluestein)}",)
        second = {"lines": lines, "tables": middle, "long_tables": between, "support": support}
        last = {"values": self.values, "lines": lines, "tables": outer, "long_tables": between, **found}
        last |= {"dc": self.mask.dc, "image": None}
        steps += [
            ("fused/gpu/long/rows_middle.cl", rows.middle, direction, second),
            ("fused/gpu/long/rows_to_values.cl", rows.outer, defines, last),
        ]
        return self._long("inverse rows", rows, steps)

    def columns(self, *, other: bool = False) -> list[Launch]:
        """Return the launches that filter the columns.

        ``other`` is as for :meth:`inverse_rows`: the numbers for those pixels lie beside the spectrum, which stays.
        """
        columns, spectrum, paired = self.plan.columns, self.spectrum, self.plan.columns_paired
        defines, tables, mask = (f"SHAPE={self.mask.shape}",), self.column_tables, self.mask_arguments
        if isinstance(columns, TransformPlan):
            own = {"spectrum": spectrum, "tables": tables[0], **mask, "other": other}
            return [self._whole("columns", "fused/gpu/columns.cl", columns, defines, own)]
        outer, middle, between = tables
        strips = spectrum if paired else self.work
        ends = {"strips": strips, "spectrum": spectrum, "tables": outer, "long_tables": between}
        inside = {"strips": strips, "tables": middle, "long_tables": between, **mask}
        steps: list[LongStep] = [
            ("fused/gpu/long/columns.cl", columns.outer, (), ends),
            ("fused/gpu/long/columns_middle.cl", columns.middle, defines, inside),
        ]
        if columns.is_bluestein:
            steps += [("fused/gpu/long/columns_mask.cl", columns.outer, defines, inside | {"tables": outer}), steps[1]]
        steps.append(("fused/gpu/long/columns_back.cl", columns.outer, (), ends))
        launches = self._long("columns", columns, steps)
        if not paired:
            own = {"spectrum": spectrum, "strips": strips}
            kernel = self._kernel("fused/gpu/long/pack.cl", columns.defines(columns.outer), own)
            items = -(-self.plan.pairs * self.plan.tile // PACK_GROUP) * PACK_GROUP
            launches.append(Launch("columns", kernel, (items, self.mask.tiles, self.stack.count), (PACK_GROUP, 1, 1)))
        return launches

    def groups_together(self, source: str) -> int:
        """Return how many work-groups a kernel has that wait for each other, 0 if they may not all run at a time.

        It does all steps, for which rows and columns have to have one plan, or the inverse rows and the quantization.
        """
        plan, does_all = self.plan.rows, source == FILTER
        if not isinstance(plan, TransformPlan) or (does_all and plan != self.plan.columns):
            return 0
        groups = self.stack.count * -(-max(self.plan.pairs, self._kept_columns if does_all else 0) // plan.batch)
        units = int(self.launcher.device.cl_device.max_compute_units)
        # Kernels are also right if the device has registers for less.
        return groups if groups * plan.group * _registers(source, plan) <= units * UNIT_REGISTERS else 0

    def in_one(self, ramps: Buffer, wanted: Buffer, counts: Buffer) -> Launch:
        """Return the one launch of all steps: with ``counts`` it finds the ``ramps``, else it reads them."""
        rows, columns = counted(self.stack.height, self.stack.width)
        arguments = self.mask_arguments | {"wanted": wanted, "counts": counts or ramps, "bins": BINS if counts else 0}
        arguments |= {"counted_rows": rows, "counted_columns": columns}
        return self._waiting(FILTER, ramps, arguments, (f"SHAPE={self.mask.shape}",))

    def inverse_rows_to_pixels(self, ramps: Buffer) -> Launch:
        """Return the launch of the last two steps."""
        return self._waiting(INVERSE_ROWS_TO_PIXELS, ramps, {}, ())

    def _waiting(self, source: str, ramps: Buffer, others: Arguments, defines: Defines) -> Launch:
        """Return the launch of a kernel whose work-groups wait for each other, with counters of its own."""
        told = np.zeros(PROGRESS + self.stack.count * self.plan.pairs, np.uint32)
        progress = self.launcher.allocate(told.nbytes)
        self.launcher.write(progress, told)  # 0 before and after each launch, but for the list
        arguments: Arguments = {"image": None, "output": None, "spectrum": self.spectrum, "values": self.values}
        arguments |= {"tables": self.row_tables[0], "largest": self.largest, "progress": progress}
        arguments |= {"pictures": self.stack.count, "support": self.support, "one_scale": self.stack.one_scale}
        arguments |= {"dc": self.mask.dc, "ramps": ramps, "range": widest(self.stack), **others}
        plan: Any = self.plan.rows
        waits = "ONE_LAUNCH=1", f"HISTOGRAM_GROUPS={HISTOGRAM_GROUPS}", f"COMPLEMENT={int(self.mask.complement)}"
        defines = (*plan.defines(), self._loads, *self._stores(1), *waits, *defines)
        kernel = self._kernel(source, defines, arguments, _registers(source, plan))
        return Launch("filter", kernel, (self.groups_together(source) * plan.group,), (plan.group,))

    def _whole(self, step: str, source: str, plan: TransformPlan, defines: Defines, arguments: Arguments) -> Launch:
        """Return the launch of transforms that work-groups hold: of the kept columns, or of all pairs of rows."""
        kernel = self._kernel(source, (*plan.defines(), *defines), arguments, _registers(source, plan))
        transforms = self._kept_columns if step == "columns" else self.plan.pairs
        return Launch(step, kernel, (plan.work_items(transforms), self.stack.count), (plan.group, 1))

    def _long(self, step: str, side: LongPlan, parts: list[LongStep]) -> list[Launch]:
        """Return the launches of long rows or columns."""
        launches = []
        for source, part, defines, arguments in parts:
            kernel = self._kernel(source, (*side.defines(part), *defines), arguments, _registers(source, part))
            transforms = side.length // part.length
            if step == "columns":
                # Neighboring groups take neighboring rows: what they read and write at a time lies together in memory.
                items = transforms * part.group, -(-self._kept_columns // part.batch), self.stack.count
            else:
                items = part.work_items(transforms), self.plan.pairs, self.stack.count
            launches.append(Launch(step, kernel, items, (part.group, 1, 1)))
        return launches

    def _kernel(self, source: str, defines: Defines, arguments: Arguments, registers: int = REGISTERS) -> Kernel:
        """Return the kernel of a file, which is named after it."""
        plan, mask = self.plan, self.mask
        edges = (f"EDGES={mask.edges}", f"TWO_INVERSES={int(mask.needs_two_inverses)}")
        size = (f"WIDTH={plan.width}", f"HEIGHT={plan.height}", f"TILE={plan.tile}", *edges)
        name = source.removeprefix("fused/").removesuffix(".cl").replace("/", "_")
        files, options = (*self.before.get(source, ()), source), compiler_options(self.launcher, registers)
        return self.launcher.kernel(files, (*size, *defines), name, arguments, options=options)

    def quantize(self, ramps: Buffer) -> Launch:
        """Return the launch that maps values to pixels on ramps."""
        stack = self.stack
        at_once = 1 if stack.height * stack.width % PIXELS_OF_VECTOR else PIXELS_OF_VECTOR
        arguments: Arguments = {"output": None, "values": self.values, "image": None, "largest": self.largest}
        arguments |= {"one_scale": stack.one_scale, "ramps": ramps, "range": widest(stack)}
        arguments |= {"height": stack.height, "width": stack.width}
        items = -(-stack.height * stack.width // PIXELS_OF_ITEM)
        return self._of_pixels("quantize", (self._loads, *self._stores(at_once)), arguments, items, stack.count)

    def histogram(self, counts: Buffer) -> Launch:
        """Return the launch that counts magnitudes."""
        stack = self.stack
        rows, columns = counted(stack.height, stack.width)
        arguments: Arguments = {"counts": counts, "values": self.values, "largest": self.largest}
        arguments |= {"one_scale": stack.one_scale, "height": stack.height, "width": stack.width}
        arguments |= {"bins": BINS, "rows": rows, "columns": columns, "own": cl.LocalMemory(4 * BINS)}
        items = min(HISTOGRAM_GROUPS * QUANTIZE_GROUP, stack.height * stack.width)
        return self._of_pixels("histogram", (), arguments, items, stack.count)

    def ramp_of_histogram(self, ramps: Buffer, wanted: Buffer, counts: Buffer) -> Launch:
        """Return the launch that finds the ramp of each picture in the counts of its histogram."""
        arguments: Arguments = {"ramps": ramps, "wanted": wanted, "counts": counts, "largest": self.largest}
        arguments |= {"bins": BINS, "sums": cl.LocalMemory(4 * QUANTIZE_GROUP)}
        launch = self._of_pixels("ramp_of_histogram", (), arguments, QUANTIZE_GROUP, self.stack.pictures)
        return launch._replace(step="ramp")

    def deviation(self, image: Buffer, far: Buffer) -> Launch:
        """Return the launch that finds each picture's largest deviation from its offset, a float in ``far``."""
        stack = self.stack
        arguments: Arguments = {"far": far, "image": image, "one_scale": stack.one_scale}
        arguments |= {"height": stack.height, "width": stack.width}
        items = min(DEVIATION_GROUPS * QUANTIZE_GROUP, stack.height * stack.width)
        return self._of_pixels("deviation", (self._loads,), arguments, items, stack.count)

    def _stores(self, at_once: int) -> Defines:
        """Return the defines of kernels that write pixels, so many at once."""
        stored = f"STORE_PIXEL={PIXELS[self.stack.out]}"
        return stored, f"QUANTIZE_GROUP={QUANTIZE_GROUP}", f"PIXELS_PER_ITEM={at_once}"

    def _of_pixels(self, step: str, defines: Defines, arguments: Arguments, items: int, images: int) -> Launch:
        """Return the launch of the kernel of a file that takes pixels one by one, with so many items an image."""
        options = compiler_options(self.launcher)
        kernel = self.launcher.kernel((f"fused/gpu/{step}.cl",), defines, f"gpu_{step}", arguments, options=options)
        whole = -(-items // QUANTIZE_GROUP) * QUANTIZE_GROUP
        return Launch(step, kernel, (whole, images), (QUANTIZE_GROUP, 1))


def widest(stack: Stack) -> float:
    """Return the largest deviation that the pixels' type allows; floats are within [-1, 1]."""
    return 2.0 if stack.pixel.kind == "f" else float(np.iinfo(stack.pixel).max)


def _registers(source: str, plan: TransformPlan) -> int:
    """Return the most registers of a work-item."""
    if source == FILTER:
        return REGISTERS_OF_FILTER
    registers = REGISTERS_OF_MIDDLE_STEPS if source in MIDDLE_STEPS else REGISTERS
    return registers if plan.per_item <= MOST_PER_ITEM else 2 * REGISTERS


def compiler_options(launcher: Launcher, registers: int = REGISTERS) -> tuple[str, ...]:
    """Return the compiler's own options: the most registers of a work-item, and exact division.

    The compiler would turn division by a constant into multiplication, which rounds differently.
    """
    if "NVIDIA" not in launcher.device.platform:
        return ()
    return f"-cl-nv-maxrregcount={registers}", "-cl-fp32-correctly-rounded-divide-sqrt"
