"""Makes the launches of the fused pipeline for GPUs: rows, columns and inverse rows, in one step or two, and pixels.

The generic program (:class:`GenericLaunches`) filters images of any size with the plans, tables and results of the
specialized ones, bit for bit. It learns lengths only at run time (``kernels/fused/gpu/generic/side.cl``), which makes
it about half as fast.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, cast
from weakref import WeakKeyDictionary

import numpy as np
import pyopencl as cl

from ...device.launcher import Kernel, Launcher
from ...device.opencl import Device, declared, record
from ...output.histogram import BINS, counted
from ...output.ramp import PIXELS, Stack
from ...transfer.shapes import number_of
from .plan import FusedPlan, LongPlan, Mask
from .transform import MOST_PER_ITEM, MOST_STAGES, RESERVED_BYTES, SECTOR, Limits, TransformPlan, group_limit

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
    work: Buffer  # between the steps of long transforms that are not in the spectrum's place
    values: Buffer
    largest: Buffer
    row_tables: list[cl.Buffer]  # the tables of the plan of rows, on the device
    column_tables: list[cl.Buffer]

    before: ClassVar[Mapping[str, tuple[str, ...]]] = {}  # files in front of a kernel's, beside those that it needs

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


STEP = "fused/gpu/generic/step.cl"
# The numbers of the steps, in the order in which ``step.cl`` has them.
STEP_OF_ROWS, STEP_OF_COLUMNS, STEP_OF_INVERSE = range(3)

SIZES = ("fused/gpu/generic/side.cl", "sizes_t")
# Two rooms of complex numbers
NUMBER_BYTES = 2 * 8
# Work-groups of a compute unit where each has rooms in global memory.
GROUPS_PER_UNIT = 2
# The first kinds of stacks (size, type and shape) that a process filters twice on a device get specialized programs at
# once: more kinds than a camera makes, and so few that compiling for them never takes long.
MOST_SPECIALIZED = 16
# Other kinds get them after so many pixels: by then the generic program has lost a second, which compiling takes.
WORTH_COMPILING = 25 * 10**9
Kind = tuple[object, ...]
_specialized: WeakKeyDictionary[Device, set[Kind]] = WeakKeyDictionary()


def is_specialized(device: Device, kind: Kind, pixels: int = 0) -> bool:
    """Tell whether a kind of stacks has specialized programs on a device, or may have them after so many pixels."""
    kinds = _specialized.setdefault(device, set())
    if pixels and (len(kinds) < MOST_SPECIALIZED or pixels >= WORTH_COMPILING):
        kinds.add(kind)
    return kind in kinds


class Side:
    """How ``count`` transforms of a side are dealt out to work-groups, in batches of at most ``limit``."""

    def __init__(self, plan: TransformPlan, count: int, limits: Limits, *, limit: int = SECTOR) -> None:
        self.plan = plan
        self.stride = plan.length + (plan.length >> 4)
        in_local = (limits.local_bytes - RESERVED_BYTES) // NUMBER_BYTES // self.stride
        self.is_local = in_local > 0
        most = min(SECTOR, count, limit, in_local if self.is_local else SECTOR)
        self.batch = 1 << (most.bit_length() - 1)
        # One size for all lengths: PoCL compiles a kernel anew for each. More registers are for radix 32.
        self.group = limits.group_wanted if self.is_local else group_limit(2 * MOST_PER_ITEM, limits)
        self.groups = -(-count // self.batch)

    def fields(self) -> tuple[Any, ...]:
        """Return the fields of ``side_t``, in their order."""
        plan = self.plan
        reversed_, chirp, chirp_filter, _ = plan.table_offsets
        stages = len(plan.radices) if plan.length > 1 else 0
        radices = *plan.radices, *(1 for _ in range(MOST_STAGES - len(plan.radices)))
        of_batch = self.batch.bit_length() - 1, self.stride
        return plan.points, plan.length, *of_batch, reversed_, chirp, chirp_filter, stages, radices


@dataclass(eq=False)
class GenericLaunches(Launches):
    """The same launches by the generic program, for a plan whose sides work-groups hold."""

    limits: Limits

    def __post_init__(self) -> None:
        super().__post_init__()
        plan = self.plan
        rows, columns = cast("tuple[TransformPlan, TransformPlan]", (plan.rows, plan.columns))
        self._rows = Side(rows, plan.pairs, self.limits)
        self._columns = Side(columns, self._kept_columns, self.limits, limit=plan.tile)
        numbers = plan.height, plan.width, self.stack.count, plan.tile, self.mask.needs_two_inverses
        sizes = np.array([(*numbers, self._rows.fields(), self._columns.fields())], record(*SIZES))
        self._known |= {"spectra": self.spectrum, "sizes": self.launcher.wrap(sizes, constant=True)}
        self._known |= {"shape": number_of(self.mask.shape), "subtracts": self.mask.complement}
        self._rooms: dict[Side, cl.Buffer] = {}

    def rows(self) -> list[Launch]:
        """Return the launch that makes the rows' spectra of pixels."""
        return [self._launch("rows", STEP_OF_ROWS)]

    def columns(self, *, other: bool = False) -> list[Launch]:
        """Return the launch that filters the columns."""
        return [self._launch("columns", STEP_OF_COLUMNS, other=other)]

    def inverse_rows(self, *, other: bool = False) -> list[Launch]:
        """Return the launch that makes values of the rows' spectra."""
        return [self._launch("inverse rows", STEP_OF_INVERSE, other=other)]

    def _launch(self, name: str, step: int, *, other: bool = False) -> Launch:
        """Return the launch of a step, which uses some of the arguments."""
        side, tables = (self._columns, self.column_tables) if step == STEP_OF_COLUMNS else (self._rows, self.row_tables)
        groups = side.groups * self.stack.count
        if side.is_local:
            room: Any = cl.LocalMemory(NUMBER_BYTES * side.batch * side.stride)
        else:
            groups = min(groups, GROUPS_PER_UNIT * int(self.launcher.device.cl_device.max_compute_units))
            if side not in self._rooms:
                self._rooms[side] = self.launcher.allocate(groups * NUMBER_BYTES * side.batch * side.stride)
            room = self._rooms[side]
        # The compiler does not know radices and shape.
        room_at = f"ROOM={'local' if side.is_local else 'global'}"
        defines = ("RADICES=1,1,1,1,1", "SHAPE=any", f"EDGES={self.mask.edges}", room_at, self._loads)
        registers = REGISTERS if side.is_local else 2 * REGISTERS
        kernel = self._kernel(STEP, defines, registers, step=step, tables=tables[0], room=room, other=other)
        return Launch(name, kernel, (groups * side.group,), (side.group,))
