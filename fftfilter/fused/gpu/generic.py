"""The launches of the generic program, which filters images of any size.

Plans, tables, the numbers between the launches and results are those of the specialized programs, bit for bit. The
program learns lengths only at run time (``kernels/fused/gpu/generic/side.cl``), which makes it about half as fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
import pyopencl as cl

from ...device.opencl import Device
from ...device.programs import record
from ...transfer.shapes import number_of
from .launches import REGISTERS, Launch, Launches
from .transform import MOST_PER_ITEM, MOST_STAGES, RESERVED_BYTES, SECTOR, Limits, TransformPlan, group_limit

STEP = "fused/gpu/generic/step.cl"
# The numbers of the steps, in the order in which step.cl has them.
ROWS, COLUMNS, INVERSE_ROWS = range(3)

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
        return [self._launch("rows", ROWS)]

    def columns(self, *, other: bool = False) -> list[Launch]:
        """Return the launch that filters the columns."""
        return [self._launch("columns", COLUMNS, other=other)]

    def inverse_rows(self, *, other: bool = False) -> list[Launch]:
        """Return the launch that makes values of the rows' spectra."""
        return [self._launch("inverse rows", INVERSE_ROWS, other=other)]

    def _launch(self, name: str, step: int, *, other: bool = False) -> Launch:
        """Return the launch of a step, which uses some of the arguments."""
        side, tables = (self._columns, self.column_tables) if step == COLUMNS else (self._rows, self.row_tables)
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
