"""The fused pipeline for CPUs: one launch from pixels to pixels, whose work-items go through four steps.

    columns forward   pixels -> vertical transforms, two columns as one complex column     spin factors, butterflies
    rows              horizontal transform, mask, inverse transform, in the cache         butterflies, mask, inverse
    columns inverse   vertical inverse, magnitude, its largest value                      inverse, magnitude
    quantize          magnitudes -> pixels                                                normalize

Every vector register holds neighboring columns (or rows), so no kernel shuffles within a register but where
rows become lanes. Each fusion saves a trip through memory, which is what large images wait for: pixels are
never stored as floats, the spectrum never leaves the cache between the two horizontal transforms, and the
complex result is never stored at all. The data between the steps is four bytes a pixel.

Only rows whose vertical frequency is within the reach of the transfer function go through the horizontal transform,
the mask and back. In any other row the gain is the same throughout, and multiplying a row's spectrum by one number is
multiplying the row by it: where that is 1 the row stays as the columns have left it, where it is 0 they clear it. Of a
high-pass of the default radius, n/8, a quarter of the rows is left to transform. For the rows that are and those that
are not to stand side by side, the mask undoes the scale of the horizontal transforms alone; that of the vertical ones
goes into the levels.

One launch, as a CPU's compute units would sleep between several, and waking one takes longer than a step of a
small image. There is a work-item for each, which takes task after task (``filter.cl``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...output.noise import NOISE
from ...output.rounding import rounding
from ...output.stack import PIXELS
from ...transfer.shapes import IDEAL
from . import mixed_radix
from .mixed_radix import Chirp
from .plan import inner, plan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...device.launcher import Launcher
    from ...output.stack import Stack
    from ...transfer import Transfer
    from ...transfer.radial import Radial
    from .plan import Axis, FusedCpuPlan

    Array = np.ndarray[Any, Any]

# What of the second cache strips that are read together may fill, which has 512 KB or more.
TOGETHER_BYTES = 384 << 10
# Rows of a task that writes pixels.
BAND = 16
HUGE = 4 << 20
# Bytes of a line of the cache, and how many tasks for each worker are enough for an even share.
LINE = 64
TASKS = 4
# Vector loads need it, and a buffer on the host's memory has no other alignment than the host's.
ALIGNMENT = 128
STEPS = ("columns forward", "rows", "columns inverse", "quantize")
# Where image and pixels, and where the first step and the last, stand among the kernel's arguments.
IMAGE, PIXELS_OUT, FIRST_STEP = 4, 5, 14

# What the kernels know of an axis and of the whole: the fields of job.cl, in their order.
AXIS = np.dtype(
    [(name, np.uint32) for name in ("length", "points", "stage_count", "whole", "chirp", "filter")]
    + [("stages", np.uint32, (24, 4))]
)
JOB = np.dtype(
    [
        *((name, np.uint32) for name in ("count", "pitch", "strips", "last", "strip_size", "together", "groups")),
        *((name, np.uint32) for name in ("blocked", "bands", "spare", "one_scale")),
        ("order", np.int32),
        *((name, np.float32) for name in ("scale", "unit", "noise", "levels", "nudge", "white")),
        *((name, AXIS) for name in ("columns", "rows")),
    ]
)


class FusedCpuPipeline:
    """The whole filter for a stack of images on a CPU.

    The transfer function has to be even: the result is real. ``vector`` is how many floats a vector register holds,
    ``workers`` how many work-items share the work; both are the device's by default.
    """

    def __init__(
        self,
        launcher: Launcher,
        transfer: Transfer,
        stack: Stack,
        *,
        vector: int | None = None,
        workers: int | None = None,
    ) -> None:
        self.launcher, self.stack = launcher, stack
        count, height, width = stack.shape
        self.plan = planned = plan(launcher.device, height, width, lanes=vector, workers=workers)
        lanes, columns, rows, self.pitch = planned.lanes, planned.columns, planned.rows, planned.pitch
        between, room, *_ = buffers = planned.buffers(count, stack.pixel.itemsize, stack.out.itemsize)
        launcher.device.check_memory(str(stack), buffers)

        # Which rows are transformed, one at least; which of them make a group; what the mask needs to know of each.
        reach, table = transfer.on_grid(height, width)
        reached = max(reach.rows, 1)
        frequencies = columns.frequencies()
        pairs = mixed_radix.mirrored_pairs(frequencies, reached)
        at, mirror = (mixed_radix.grouped(part, lanes) for part in pairs)
        is_beyond = np.minimum(frequencies, height - frequencies) >= reached
        blocked = np.flatnonzero(is_beyond & (reach.beyond == 0))
        places = np.concatenate([np.concatenate([at, mirror], axis=1).ravel() * 8 * lanes, blocked])
        down_k, across_k = frequencies[at], rows.frequencies()
        across, down, gains, order, pass_defines = mask_terms(transfer.radial, table, height, width, across_k, down_k)

        job = np.zeros(1, JOB)
        is_apart = isinstance(columns, Chirp)
        together = 1 if is_apart else strips_together(planned, stack.pixel.itemsize)
        job["count"], job["pitch"], job["last"] = count, self.pitch, self.pitch - 2 * lanes
        job["strips"], job["strip_size"], job["together"] = planned.strips, planned.strip_size, together
        job["groups"], job["bands"], job["one_scale"], job["order"] = (
            len(at),
            -(-height // BAND),
            stack.one_scale,
            order,
        )
        self._unit = np.float32(1 / height)
        job["blocked"], job["scale"], job["unit"] = len(blocked), 0.5 / width, self._unit
        job["noise"], job["spare"] = NOISE * height, planned.room
        job["levels"], job["nudge"], job["white"] = rounding(stack.white or 1, is_float=stack.out.kind == "f")
        spins = [fill_axis(job[name], axis) for name, axis in (("columns", columns), ("rows", rows))]

        self._buffers: list[Any] = []
        counters = np.zeros(1 + len(STEPS) * (1 + planned.workers) * stack.pictures, np.uint32)
        progress = self._kept(launcher.allocate(counters.nbytes))
        launcher.write(progress, counters)
        self._largest = self._kept(launcher.allocate(4 * planned.strips * count))
        arguments = [
            *(progress, self._constant(job), self._paged(between), self._paged(room), None, None),
            *(self._kept(launcher.allocate(4 * planned.strips * count)), self._largest),
            *map(self._constant, (*spins, places.astype(np.uint32), across, down, gains)),
            *_numbers(0, len(STEPS)),
        ]
        defines = (f"VECTOR={lanes}", *launcher.device.own_builtins, *plan_defines(columns, rows), *pass_defines)
        types = (
            f"PIXEL={PIXELS[stack.pixel]}",
            f"LEVEL={PIXELS[stack.out]}",
            *(("SIGNED=1",) if stack.white is None else ()),
        )
        self._filter = launcher.kernel(files(columns, rows), (*defines, *types), "filter", arguments)

    def run(self, images: Array) -> Array:
        """Filter images ``(count, height, width)`` and return their pixels.

        Kernels read and write the arrays where they are; nothing is copied but images narrower than a strip.
        """
        count, height, width = self.stack.shape
        if self.pitch != width:
            images = np.pad(images, ((0, 0), (0, 0), (0, self.pitch - width)))
        images = np.require(images, self.stack.pixel, ("C", "A"))
        result = np.empty((count, height, self.pitch), self.stack.out)
        image, pixels = self.launcher.wrap(images), self.launcher.wrap(result)
        self._filter.set_arg(IMAGE, image)
        self._filter.set_arg(PIXELS_OUT, pixels)
        self._launch()
        self.launcher.finish(pixels, result)
        return result if self.pitch == width else np.ascontiguousarray(result[:, :, :width])

    def extremes(self) -> Array:
        """Return 0 and the largest magnitude of each picture of the last run: (pictures, 2)."""
        found = np.empty((self.stack.count, self.plan.strips), np.float32)
        self.launcher.read(found, self._largest)
        most = (found.max(axis=1) if not self.stack.one_scale else found.max(keepdims=True)[0]) * self._unit
        return np.stack([np.zeros_like(most), most], axis=1)

    def _launch(self) -> None:
        """Launch all steps at once, or where times are kept each by itself."""
        items, group = (self.plan.workers,), (1,)
        if not self.launcher.profiles:
            self.launcher.enqueue("filter", self._filter, items, group)
            return
        for step, name in enumerate(STEPS):
            self._filter.set_arg(FIRST_STEP, np.uint32(step))
            self._filter.set_arg(FIRST_STEP + 1, np.uint32(step + 1))
            self.launcher.enqueue(name, self._filter, items, group)

    def _kept(self, buffer: Any) -> Any:
        """Keep a buffer as long as the kernels: they do not."""
        self._buffers.append(buffer)
        return buffer

    def _constant(self, array: Array) -> Any:
        return self._kept(self.launcher.wrap(np.ascontiguousarray(array), constant=True))

    def _paged(self, size: int) -> Any:
        """Return a buffer of so many bytes, in huge pages where it is large.

        The rows touch a page for every strip, and small pages of a large image are more than the CPU remembers.
        OpenCL has no word for that, but NumPy asks for huge pages from 4 MiB up.
        """
        if size < HUGE:
            return self._kept(self.launcher.allocate(size))
        room = np.empty(size + ALIGNMENT, np.uint8)
        start = -room.ctypes.data % ALIGNMENT
        return self._kept(self.launcher.wrap(room[start : start + size]))


def _numbers(*numbers: int) -> list[np.uint32]:
    return [np.uint32(number) for number in numbers]


def strips_together(planned: FusedCpuPlan, pixel: int) -> int:
    """Return how many strips a task reads together: those of a line, if they fit and are enough for all."""
    together = max(1, LINE // (2 * planned.lanes * pixel))
    fit = 8 * planned.lanes * planned.height * together <= TOGETHER_BYTES
    return together if fit and planned.strips >= together * TASKS * planned.workers else 1


def fill_axis(fields: Any, axis: Axis) -> NDArray[np.complex64]:
    """Fill an axis of the job in, and return its spin factors with Bluestein's tables behind them."""
    plan = inner(axis)
    table, tables = plan.table(), [plan.spin()]
    if isinstance(axis, Chirp):
        tables += [axis.chirp(), axis.filter()]
    fields["length"], fields["points"], fields["stage_count"], fields["whole"] = axis.n, plan.n, len(table), plan.whole
    fields["chirp"] = len(tables[0])
    fields["filter"] = len(tables[0]) + axis.n
    fields["stages"][:, : len(table)] = table
    return np.concatenate(tables)


def files(columns: Axis, rows: Axis) -> tuple[str, ...]:
    """Return the files of the program."""
    return (
        *("fused/cpu/builtins.cl", "fused/cpu/numbers.cl", "fused/cpu/butterflies.cl", "fused/cpu/stages.cl"),
        "fused/cpu/job.cl",
        *(
            "shapes.cl",
            "fused/cpu/mask.cl",
            "fused/cpu/middle.cl",
            "fused/cpu/there_and_back.cl",
            "fused/cpu/pixels.cl",
        ),
        "fused/cpu/columns_bluestein.cl" if isinstance(columns, Chirp) else "fused/cpu/columns.cl",
        "fused/cpu/tiles.cl",
        "fused/cpu/rows_bluestein.cl" if isinstance(rows, Chirp) else "fused/cpu/rows.cl",
        *("fused/cpu/quantize.cl", "fused/cpu/filter.cl"),
    )


def plan_defines(columns: Axis, rows: Axis) -> tuple[str, ...]:
    """Return the defines that compile what the plans need, and nothing else."""
    radices = {*inner(columns).radices, *inner(rows).radices}
    looped = [radix for radix in radices if radix > mixed_radix.LARGEST_WRITTEN_OUT]
    bits = sum(1 << radix for radix in radices if radix not in looped)
    chirps = [isinstance(axis, Chirp) for axis in (columns, rows)]
    middles = (f"MASKED={int(not chirps[1])}", f"CONVOLVED={int(any(chirps))}")
    return (f"RADICES={bits}", f"PRIME={max(looped, default=1)}", *middles)


def mask_terms(
    radial: Radial | None,
    table: NDArray[np.float64] | None,
    height: int,
    width: int,
    across_k: NDArray[np.int64],
    down_k: NDArray[np.int64],
) -> tuple[Array, Array, Array, int, tuple[str, ...]]:
    """Return the transfer function as ``mask.cl`` reads it: terms across and down, gains, its order, its defines.

    ``across_k`` is the horizontal frequency of each position of a row, ``down_k`` the vertical one of each row
    of each group. The gains are those of a table: for each group, each position of a row, one a lane.
    """
    across = np.zeros(width, [("outer", "f4"), ("inner", "f4"), ("k", "i4"), ("unused", "i4")])
    down = np.zeros((len(down_k), 2, down_k.shape[1]), np.float32)
    across["k"] = np.minimum(across_k, width - across_k)
    if radial is None or table is not None:
        gains = np.asarray(table)[down_k[:, None, :], across_k[None, :, None]]
        return across, down, gains.astype(np.float32), 0, ("TABLE=1",)
    ky = np.minimum(down_k, height - down_k)
    for i, (name, cutoff) in enumerate(zip(("outer", "inner"), radial.cutoffs(height, width), strict=True)):
        if cutoff is None:
            continue
        step_x, step_y = cutoff.steps()
        if radial.shape == IDEAL:
            down[:, i] = cutoff.near_in_rows()[ky].view(np.float32)
        else:
            across[name] = (across["k"] * step_x) ** 2
            down[:, i] = (ky * step_y) ** 2
    defines = (f"SHAPE={radial.shape}", f"PASS={radial.kind}")
    return across, down, np.zeros(1, np.float32), radial.order, defines
