"""The programs for images of any size: what they launch, in place of the programs that are compiled for one size.

They have the plans, the tables and the numbers between the launches of the others, and compute the same, bit for bit.
That lengths are known only at run time (``kernels/fused/gpu/any_size/side.cl``) makes them about half as fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

import numpy as np
import pyopencl as cl

from ...output.offset import KERNEL as GROUND
from ...transfer.shapes import number_of
from .launches import (
    ATTRIBUTES,
    BUTTERFLIES,
    COSINES,
    EDGES,
    LARGEST,
    PACKED,
    REGISTERS,
    SHAPES,
    Launch,
    Launches,
    compiler_options,
)
from .transform import MOST_PER_ITEM, MOST_STAGES, RESERVED_BYTES, SECTOR, group_limit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...device.device import Device
    from .transform import Limits, TransformPlan

SIDE = "fused/gpu/any_size/side.cl"
ANY_MASK = "fused/gpu/any_size/mask.cl"
STEP = "fused/gpu/any_size/step.cl"
# The numbers of the steps, in the order in which step.cl has them.
ROWS, COLUMNS, INVERSE_ROWS = range(3)

# side_t and sizes_t of side.cl
SIDE_TYPE = np.dtype(
    [
        *((name, np.uint32) for name in ("points", "length", "log2_batch", "stride")),
        *((name, np.uint32) for name in ("spin_reversed", "chirp", "chirp_filter", "stages")),
        ("radices", np.uint32, MOST_STAGES),
    ]
)
SIZES_TYPE = np.dtype(
    [
        *((name, np.uint32) for name in ("height", "width", "pictures", "tile", "is_twofold")),
        *((name, SIDE_TYPE) for name in ("rows", "columns")),
    ]
)
# Two rooms of complex numbers
NUMBER_BYTES = 2 * 8
# Work-groups of a compute unit where each has rooms in global memory.
GROUPS_PER_UNIT = 2
# Kinds of stacks on a device, each of a size, a type and a shape, that get programs of their own in a process as soon
# as they come again: more than a camera makes, and so few that compiling for them never takes long beside all the rest.
MOST_OWN = 16
# Others get them behind so many pixels: about what the program for any size does a second slower, and compiling takes.
WORTH_COMPILING = 25 * 10**9
Kind = tuple[object, ...]
_own: WeakKeyDictionary[Device, set[Kind]] = WeakKeyDictionary()


def has_own(device: Device, kind: Kind) -> bool:
    """Tell whether a kind of stacks has programs of its own on a device."""
    return kind in _own.get(device, ())


def may_have_own(device: Device, kind: Kind, pixels: int) -> bool:
    """Tell whether a kind of stacks, of which so many pixels came, may have programs of its own; note that it has."""
    kinds = _own.setdefault(device, set())
    if len(kinds) < MOST_OWN or pixels >= WORTH_COMPILING:
        kinds.add(kind)
    return kind in kinds


class Side:
    """How ``count`` transforms of a side are shared out: a batch at a time, which ``limit`` may make smaller."""

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

    def fields(self) -> dict[str, Any]:
        """Return the fields of ``side_t``."""
        plan = self.plan
        reversed_, chirp, chirp_filter, _ = plan.table_offsets
        return {
            "points": plan.points,
            "length": plan.length,
            "log2_batch": self.batch.bit_length() - 1,
            "stride": self.stride,
            "spin_reversed": reversed_,
            "chirp": chirp,
            "chirp_filter": chirp_filter,
            "stages": len(plan.radices) if plan.length > 1 else 0,
            "radices": (*plan.radices, *(1 for _ in range(MOST_STAGES - len(plan.radices)))),
        }


@dataclass(eq=False)
class AnySizeLaunches(Launches):
    """The same launches by the program for any size, for a plan whose sides work-groups hold."""

    limits: Limits

    def __post_init__(self) -> None:
        super().__post_init__()
        plan = self.plan
        rows, columns = cast("tuple[TransformPlan, TransformPlan]", (plan.rows, plan.columns))
        self._rows = Side(rows, plan.pairs, self.limits)
        self._columns = Side(columns, self._kept_columns, self.limits, limit=plan.tile)
        sizes = np.zeros(1, SIZES_TYPE)
        numbers = {
            "height": plan.height,
            "width": plan.width,
            "pictures": self.count,
            "tile": plan.tile,
            "is_twofold": self.is_twofold,
        }
        for name, number in numbers.items():
            sizes[name] = number
        for name, side in (("rows", self._rows), ("columns", self._columns)):
            for field, value in side.fields().items():
                sizes[name][field] = value
        self._sizes = self.launcher.wrap(sizes, constant=True)
        self._rooms: dict[Side, cl.Buffer] = {}

    def rows(self, tables: Sequence[cl.Buffer]) -> list[Launch]:
        """Return what makes the rows' spectra of pixels."""
        return [self._launch("rows", ROWS, self._rows, tables, image=None)]

    def columns(
        self, tables: Sequence[cl.Buffer], shape: str, *mask_arguments: Any, other: bool = False
    ) -> list[Launch]:
        """Return what filters the columns."""
        given = np.uint32(number_of(shape)), *mask_arguments
        return [self._launch("columns", COLUMNS, self._columns, tables, other=np.uint32(other), mask=given)]

    def inverse_rows(
        self,
        tables: Sequence[cl.Buffer],
        one_scale: np.uint32,
        dc: np.float32,
        *,
        complement: bool,
        other: bool = False,
    ) -> list[Launch]:
        """Return what makes values of the rows' spectra."""
        numbers = one_scale, self.reach, dc, np.uint32(complement)
        arguments: dict[str, Any] = {
            "values": None,
            "subtracted_from": None,
            "numbers": numbers,
            "other": np.uint32(other),
        }
        return [self._launch("inverse rows", INVERSE_ROWS, self._rows, tables, **arguments)]

    def _launch(self, name: str, step: int, side: Side, tables: Sequence[cl.Buffer], **given: Any) -> Launch:
        """Return the launch of a step; what it is not ``given``, it does not need."""
        groups = side.groups * self.count
        if side.is_local:
            room: Any = cl.LocalMemory(NUMBER_BYTES * side.batch * side.stride)
        else:
            groups = min(groups, GROUPS_PER_UNIT * int(self.launcher.device.cl_device.max_compute_units))
            if side not in self._rooms:
                self._rooms[side] = self.launcher.allocate(groups * NUMBER_BYTES * side.batch * side.stride)
            room = self._rooms[side]
        unused: Any = self.spectrum
        no_numbers = np.uint32(0), self.reach, np.float32(0), np.uint32(0)
        no_mask = np.uint32(0), unused, *(np.float32(0),) * 8, np.uint32(0)
        arguments = (
            given.get("values", unused),
            given.get("image", unused),
            np.uint32(step),
            *(self.spectrum, *tables, self.largest),
            *given.get("numbers", no_numbers),
            given.get("other", np.uint32(0)),
            *(self._sizes, room),
            *given.get("mask", no_mask),
            given.get("subtracted_from", unused),
        )
        files = (ATTRIBUTES, BUTTERFLIES, PACKED, SIDE, EDGES, SHAPES, ANY_MASK, COSINES, GROUND, LARGEST, STEP)
        # Radices and shape are not for the compiler to know.
        room_at = f"ROOM={'local' if side.is_local else 'global'}"
        defines = ("RADICES=1,1,1,1,1", "SHAPE=any", f"EDGES={self.edges}", room_at, f"LOAD_PIXEL={self.pixel}")
        options = compiler_options(self.launcher, REGISTERS if side.is_local else 2 * REGISTERS)
        kernel = self.launcher.kernel(files, defines, "gpu_any_size_step", arguments, options=options)
        self.largest_at += [(kernel, at) for at, argument in enumerate(arguments) if argument is self.largest]
        return Launch(name, kernel, (groups * side.group,), (side.group,))
