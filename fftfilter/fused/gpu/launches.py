"""Makes the launches of the fused pipeline for GPUs: rows, columns and inverse rows, in one step or two, and pixels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyopencl as cl

from ...device.launcher import Kernel, Launcher
from ...device.programs import declared
from ...output.histogram import BINS, counted
from ...output.ramp import PIXELS, Stack
from .plan import FusedPlan, LongPlan, Mask
from .transform import MOST_PER_ITEM, TransformPlan

Buffer = cl.Buffer | None
Defines = tuple[str, ...]
Arguments = dict[str, Any]
LongStep = tuple[str, TransformPlan, Defines]


ROWS = "fused/gpu/rows.cl"
INVERSE_ROWS = "fused/gpu/inverse_rows.cl"
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
# Counters by which work-groups wait for each other: the layout of `progress` in filter.cl
PROGRESS = 8


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

    def __post_init__(self) -> None:
        plan, mask, stack = self.plan, self.mask, self.stack
        rows, both = plan.rows, (4 if mask.edges == "mirror" else 2) * plan.width * plan.height
        is_apart = isinstance(rows, LongPlan) and rows.is_bluestein
        self._known: Arguments = {"image": None, "output": None, "values": self.values, "largest": self.largest}
        """What each argument is, whichever kernel has it, unless a launch gives it."""
        self._known |= {"spectrum": self.spectrum, "lines": self.work if is_apart else self.spectrum}
        self._known |= {"strips": self.spectrum if plan.columns_paired else self.work, "mask_data": self.mask_data}
        self._known |= {"scale": 1 / both, **mask.numbers, "dc": mask.dc, "support": self.support, "bins": BINS}
        self._known |= {"pictures": stack.count, "one_scale": stack.one_scale, "range": widest(stack)}
        self._known |= {"height": stack.height, "width": stack.width}

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
    def _of_size(self) -> Defines:
        """The defines of all programs of a size."""
        plan, mask = self.plan, self.mask
        edges = (f"EDGES={mask.edges}", f"TWO_INVERSES={int(mask.needs_two_inverses)}")
        return f"WIDTH={plan.width}", f"HEIGHT={plan.height}", f"TILE={plan.tile}", *edges

    def rows(self) -> list[Launch]:
        """Return the launches that make the rows' spectra of pixels."""
        rows, pixel = self.plan.rows, (self._loads,)
        if isinstance(rows, TransformPlan):
            return [self._whole("rows", ROWS, rows, pixel)]
        steps: list[LongStep] = [
            ("fused/gpu/long/rows.cl", rows.outer, pixel),
            ("fused/gpu/long/rows_middle.cl", rows.middle, ("INVERSE=0",)),
        ]
        if rows.is_bluestein:
            steps.append(("fused/gpu/long/rows_to_spectrum.cl", rows.outer, ()))
        return self._long("rows", rows, steps)

    def inverse_rows(self, *, other: bool = False) -> list[Launch]:
        """Return the launches that make values of the rows' spectra, and keep the largest.

        Where the image is transformed back twice, they are those of the ``other`` pixels, or of the first ones.
        """
        rows, defines = self.plan.rows, (self._loads, f"COMPLEMENT={int(self.mask.complement)}")
        if isinstance(rows, TransformPlan):
            return [self._whole("inverse rows", INVERSE_ROWS, rows, defines, other=other)]
        direction = (f"INVERSE={int(not rows.is_bluestein)}",)
        steps: list[LongStep] = [("fused/gpu/long/rows_from_spectrum.cl", rows.outer, ())] if rows.is_bluestein else []
        steps += [
            ("fused/gpu/long/rows_middle.cl", rows.middle, direction),
            ("fused/gpu/long/rows_to_values.cl", rows.outer, defines),
        ]
        return self._long("inverse rows", rows, steps)

    def columns(self, *, other: bool = False) -> list[Launch]:
        """Return the launches that filter the columns.

        ``other`` is as for :meth:`inverse_rows`: the numbers for those pixels lie beside the spectrum, which stays.
        """
        columns, shape = self.plan.columns, (f"SHAPE={self.mask.shape}",)
        if isinstance(columns, TransformPlan):
            return [self._whole("columns", "fused/gpu/columns.cl", columns, shape, other=other)]
        steps: list[LongStep] = [
            ("fused/gpu/long/columns.cl", columns.outer, ()),
            ("fused/gpu/long/columns_middle.cl", columns.middle, shape),
        ]
        if columns.is_bluestein:
            steps += [("fused/gpu/long/columns_mask.cl", columns.outer, shape), steps[1]]
        launches = self._long("columns", columns, [*steps, ("fused/gpu/long/columns_back.cl", columns.outer, ())])
        if not self.plan.columns_paired:
            kernel = self._kernel("fused/gpu/long/pack.cl", (*self._of_size, *columns.defines(columns.outer)))
            items = -(-self.plan.pairs * self.plan.tile // PACK_GROUP) * PACK_GROUP
            launches.append(Launch("columns", kernel, (items, self.mask.tiles, self.stack.count), (PACK_GROUP, 1, 1)))
        return launches

    @property
    def groups_together(self) -> int:
        """How many work-groups the one launch of all steps has, 0 if there is none.

        Rows and columns have to have one plan, and all groups to run at a time: larger images take no longer in four.
        """
        plan = self.plan.rows
        if not isinstance(plan, TransformPlan) or plan != self.plan.columns:
            return 0
        groups = self.stack.count * -(-max(self.plan.pairs, self._kept_columns) // plan.batch)
        units = int(self.launcher.device.cl_device.max_compute_units)
        return groups if groups * plan.group * REGISTERS_OF_FILTER <= units * UNIT_REGISTERS else 0

    def in_one(self, ramps: Buffer, wanted: Buffer, counts: Buffer) -> Launch:
        """Return the one launch of all steps: with ``counts`` it finds the ``ramps``, else it reads them."""
        rows, columns = counted(self.stack.height, self.stack.width)
        progress = self.launcher.allocate(4 * PROGRESS)
        self.launcher.write(progress, np.zeros(PROGRESS, np.uint32))  # 0 before and after each launch
        plan: Any = self.plan.rows
        defines = (*self._of_size, *plan.defines(), self._loads, *self._stores(1), f"SHAPE={self.mask.shape}")
        defines += f"COMPLEMENT={int(self.mask.complement)}", f"HISTOGRAM_GROUPS={HISTOGRAM_GROUPS}", "ONE_LAUNCH=1"
        given: Arguments = {"wanted": wanted, "counts": counts or ramps, "bins": BINS if counts else 0}
        given |= {"counted_rows": rows, "counted_columns": columns, "ramps": ramps}
        given |= {"tables": self.row_tables[0], "progress": progress}
        kernel = self._kernel(FILTER, defines, REGISTERS_OF_FILTER, **given)
        return Launch("filter", kernel, (self.groups_together * plan.group,), (plan.group,))

    def _whole(self, step: str, source: str, plan: TransformPlan, defines: Defines, /, **given: Any) -> Launch:
        """Return the launch of transforms that work-groups hold: of the kept columns, or of all pairs of rows."""
        transforms, tables = self.plan.pairs, self.row_tables
        if step == "columns":
            transforms, tables = self._kept_columns, self.column_tables
        defines = (*self._of_size, *plan.defines(), *defines)
        kernel = self._kernel(source, defines, registers_of(source, plan), tables=tables[0], **given)
        return Launch(step, kernel, (plan.work_items(transforms), self.stack.count), (plan.group, 1))

    def _long(self, step: str, side: LongPlan, parts: list[LongStep]) -> list[Launch]:
        """Return the launches of long rows or columns."""
        launches = []
        outer, middle, between = self.column_tables if step == "columns" else self.row_tables
        for source, part, defines in parts:
            all_defines = (*self._of_size, *side.defines(part), *defines)
            tables = {"tables": middle if part is side.middle else outer, "long_tables": between}
            kernel = self._kernel(source, all_defines, registers_of(source, part), **tables)
            transforms = side.length // part.length
            if step == "columns":
                # Neighboring groups take neighboring rows: what they read and write at a time lies together in memory.
                items = transforms * part.group, -(-self._kept_columns // part.batch), self.stack.count
            else:
                items = part.work_items(transforms), self.plan.pairs, self.stack.count
            launches.append(Launch(step, kernel, items, (part.group, 1, 1)))
        return launches

    def quantize(self, ramps: Buffer) -> Launch:
        """Return the launch that maps values to pixels on ramps."""
        size = self.stack.height * self.stack.width
        defines = (self._loads, *self._stores(1 if size % PIXELS_OF_VECTOR else PIXELS_OF_VECTOR))
        return self._of_pixels(
            "fused/gpu/quantize.cl", defines, -(-size // PIXELS_OF_ITEM), self.stack.count, ramps=ramps
        )

    def histogram(self, counts: Buffer) -> Launch:
        """Return the launch that counts magnitudes."""
        rows, columns = counted(self.stack.height, self.stack.width)
        items = min(HISTOGRAM_GROUPS * QUANTIZE_GROUP, self.stack.height * self.stack.width)
        given: Arguments = {"counts": counts, "rows": rows, "columns": columns, "own": cl.LocalMemory(4 * BINS)}
        return self._of_pixels("fused/gpu/histogram.cl", (), items, self.stack.count, **given)

    def ramp_of_histogram(self, ramps: Buffer, wanted: Buffer, counts: Buffer) -> Launch:
        """Return the launch that finds the ramp of each picture in the counts of its histogram."""
        given: Arguments = {"ramps": ramps, "wanted": wanted, "counts": counts}
        given["sums"] = cl.LocalMemory(4 * QUANTIZE_GROUP)
        launch = self._of_pixels("fused/gpu/ramp_of_histogram.cl", (), QUANTIZE_GROUP, self.stack.pictures, **given)
        return launch._replace(step="ramp")

    def deviation(self, image: Buffer, far: Buffer) -> Launch:
        """Return the launch that finds each picture's largest deviation from its offset, a float in ``far``."""
        items = min(DEVIATION_GROUPS * QUANTIZE_GROUP, self.stack.height * self.stack.width)
        return self._of_pixels("fused/gpu/deviation.cl", (self._loads,), items, self.stack.count, image=image, far=far)

    def _stores(self, at_once: int) -> Defines:
        """Return the defines of kernels that write pixels, so many at once."""
        stored = f"STORE_PIXEL={PIXELS[self.stack.out]}"
        return stored, f"QUANTIZE_GROUP={QUANTIZE_GROUP}", f"PIXELS_PER_ITEM={at_once}"

    def _of_pixels(self, source: str, defines: Defines, items: int, images: int, /, **given: Any) -> Launch:
        """Return the launch of a kernel that takes pixels one by one, with so many items an image."""
        step, whole = (
            source.removeprefix("fused/gpu/").removesuffix(".cl"),
            -(-items // QUANTIZE_GROUP) * QUANTIZE_GROUP,
        )
        return Launch(step, self._kernel(source, defines, **given), (whole, images), (QUANTIZE_GROUP, 1))

    def _kernel(self, source: str, defines: Defines, registers: int = REGISTERS, /, **given: Any) -> Kernel:
        """Return the kernel of a file, which is named after it; ``given`` are arguments of its own."""
        name, known = source.removeprefix("fused/").removesuffix(".cl").replace("/", "_"), self._known | given
        files, options = (*self.before.get(source, ()), source), compiler_options(self.launcher, registers)
        arguments = {each: known[each] for each in declared(source, name)}
        return self.launcher.kernel(files, defines, name, arguments, options=options)


def widest(stack: Stack) -> float:
    """Return the largest deviation that the pixels' type allows; floats are within [-1, 1]."""
    return 2.0 if stack.pixel.kind == "f" else float(np.iinfo(stack.pixel).max)


def registers_of(source: str, plan: TransformPlan) -> int:
    """Return the most registers of a work-item."""
    registers = REGISTERS_OF_MIDDLE_STEPS if source in MIDDLE_STEPS else REGISTERS
    return registers if plan.per_item <= MOST_PER_ITEM else 2 * REGISTERS


def compiler_options(launcher: Launcher, registers: int = REGISTERS) -> tuple[str, ...]:
    """Return the compiler's own options: the most registers of a work-item, and exact division.

    The compiler would turn division by a constant into multiplication, which rounds differently.
    """
    if "NVIDIA" not in launcher.device.platform:
        return ()
    return f"-cl-nv-maxrregcount={registers}", "-cl-fp32-correctly-rounded-divide-sqrt"
