"""The fused pipeline for CPUs: four launches from pixels to pixels.

    columns_forward   pixels -> vertical transforms, two columns as one complex column     spin factors, butterflies
    rows              horizontal transform, mask, inverse transform, in the cache         butterflies, mask, inverse
    columns_inverse   vertical inverse, magnitude, its largest value                      inverse, magnitude
    quantize          magnitudes -> pixels                                                normalize

Every vector register holds neighboring columns (or rows), so no kernel shuffles within a register but where
rows become lanes. Each fusion saves a trip through memory, which is what large images wait for: pixels are
never stored as floats, the spectrum never leaves the cache between the two horizontal transforms, and the
complex result is never stored at all. The data between the kernels is four bytes a pixel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import mixed_radix
from .mixed_radix import Chirp
from .pipeline import NOISE, PIXELS
from .steps.quantize import NUDGE
from .transfer import Mask

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from .launch import Launcher
    from .mixed_radix import MixedRadix
    from .transfer import AnyTransfer

    Array = np.ndarray[Any, Any]
    Axis = MixedRadix | Chirp

# What of the first cache a block may fill; the rest is for spin factors and the mask's terms.
BLOCK_BYTES = 36 << 10
# Rows between strips, so that the same row of neighboring strips does not fall into the same cache set.
SPARE_ROWS = 17
# Rows of a work-group that writes pixels.
BAND = 16
HUGE = 4 << 20
# Bytes of a line of the cache, and how many work-items for each compute unit are enough for an even share.
LINE = 64
TASKS = 4
# Vector loads need it, and a buffer on the host's memory has no other alignment than the host's.
ALIGNMENT = 128
# Where work spaces are too large for local memory: how many groups are launched at once for each compute unit.
GROUPS_PER_UNIT = 4
# Where the first group or strip of a launch stands among the arguments of the rows kernel, and among those that the
# columns' kernels take for Bluestein's sake.
FIRST_GROUP = 14
FIRST_OF_CHIRP = 4
NUMBERS = ("fused/cpu_builtins.cl", "fused/cpu_numbers.cl", "fused/cpu_butterflies.cl", "fused/cpu_stages.cl")
CHIRP = ("fused/cpu_bluestein.cl", "fused/cpu_there_and_back.cl")


class FusedCpuPipeline:
    """The whole filter for stacks of images of one size on a CPU, called as the staged one.

    A stack is ``(count, height, width)`` of uint8, uint16 or float32 values within [-1, 1]. With
    ``one_scale`` its images share their extremes; ``levels`` None leaves the filtered values as they are, as
    float32. A mask has to be even, as the result is real. ``vector`` is how
    many floats a vector register holds, ``local_bytes`` how much local memory to use; both are the device's by
    default.
    """

    def __init__(
        self,
        launcher: Launcher,
        shape: tuple[int, int, int],
        dtype: np.dtype[Any],
        transfer: AnyTransfer,
        *,
        out: np.dtype[Any],
        levels: int | None,
        one_scale: bool = False,
        vector: int | None = None,
        local_bytes: int | None = None,
    ) -> None:
        self.launcher = launcher
        self.shape = count, height, width = shape
        self.dtype, self.out = np.dtype(dtype), np.dtype(out)
        device = launcher.device.cl_device
        lanes = self.vector = vector or vector_width(device.native_vector_width_float)
        self.local_bytes = device.local_mem_size if local_bytes is None else local_bytes
        # Narrower images get columns of zeros on the host, up to one strip.
        self.pitch = max(width, 2 * lanes)
        strips = -(-self.pitch // (2 * lanes))
        last = self.pitch - 2 * lanes
        block = BLOCK_BYTES // (8 * lanes)
        columns = mixed_radix.transform(height, block, 1)
        rows = mixed_radix.transform(width, block, 0)
        strip_size = height + SPARE_ROWS
        self._check_memory(strips, strip_size)
        self._buffers: list[Any] = []

        z = self._kept(self._paged(8 * lanes * strip_size * strips * count))
        brightest, largest = (self._kept(launcher.allocate(4 * strips * count)) for _ in range(2))
        common = (f"VECTOR={lanes}", *launcher.device.own_builtins)
        where = _numbers(strips, last, strip_size)

        # Columns: forward, inverse, and the pixels out of the same program.
        room, space, self._strip_slots = self._work_space(inner(columns).n if isinstance(columns, Chirp) else 0)
        chirp = [*room[:1], *self._chirp_tables(columns), *_numbers(0, strips), *room[1:]]
        self._together = 1 if isinstance(columns, Chirp) else self._strips_together(strips)
        together = [] if isinstance(columns, Chirp) else _numbers(strips, self._together)
        chirp = chirp if isinstance(columns, Chirp) else []
        plan = self._plan_tables(columns)
        forward = [z, brightest, None, *plan, *_numbers(height, self.pitch, last, strip_size)]
        inverse = [z, largest, *plan, *_numbers(height, strip_size)]
        self._first_strip = len(forward) + FIRST_OF_CHIRP, len(inverse) + FIRST_OF_CHIRP
        top, nudge = (1.0, 0.0) if levels is None or self.out.kind == "f" else (float(levels), NUDGE)
        pixels = [
            *(None, z, largest, brightest, *_numbers(height, self.pitch), *where, *_numbers(one_scale)),
            *(np.float32(number) for number in (NOISE, top, nudge)),
        ]
        types = (f"PIXEL={PIXELS[self.dtype]}", f"LEVEL={PIXELS[self.out]}", *(("SIGNED=1",) if levels is None else ()))
        program = column_files(columns), (*common, f"SPACE={space}", *radix_defines(columns), *types)
        self._forward = launcher.kernel(*program, "columns_forward", forward + together + chirp)
        self._inverse = launcher.kernel(*program, "columns_inverse", inverse + chirp)
        self._quantize = launcher.kernel(*program, "quantize", pixels)

        # Rows: which of them make a group, and what the mask needs to know of each.
        frequencies = columns.frequencies()
        at, mirror = (mixed_radix.grouped(part, lanes) for part in mixed_radix.mirrored_pairs(frequencies))
        down_k, across_k = frequencies[at], rows.frequencies()
        across, down, gains, order, pass_defines = mask_terms(transfer, height, width, across_k, down_k)
        room, space, self._row_slots = self._work_space(max(strips * 2 * lanes, inner(rows).n))
        table, spin, *sizes = self._plan_tables(rows)
        places = np.concatenate([at, mirror], axis=1).astype(np.uint32)
        arguments = [
            *(z, room[0], table, spin, *map(self._constant, (places, across, down, gains)), *sizes),
            *(*_numbers(width), *where, *_numbers(0), room[1], np.int32(order), np.float32(0.5 / (height * width))),
            *(self._chirp_tables(rows) if isinstance(rows, Chirp) else ()),
        ]
        program = row_files(rows), (*common, f"SPACE={space}", *radix_defines(rows), *pass_defines)
        self._rows = launcher.kernel(*program, "rows", arguments)
        self._strips, self._groups, self._largest, self._one_scale = strips, len(places), largest, one_scale

    def run(self, stack: Array) -> Array:
        """Filter a stack ``(count, height, width)`` and return its pixels.

        Kernels read and write the arrays where they are; nothing is copied but images narrower than a strip.
        """
        count, height, width = self.shape
        if self.pitch != width:
            stack = np.pad(stack, ((0, 0), (0, 0), (0, self.pitch - width)))
        stack = np.require(stack, self.dtype, ("C", "A"))
        result = np.empty((count, height, self.pitch), self.out)
        image, pixels = self.launcher.wrap(stack), self.launcher.wrap(result)
        self._forward.set_arg(2, image)
        self._quantize.set_arg(0, pixels)
        for step, kernel, groups in self.launches():
            self.launcher.enqueue(step, kernel, groups, (1, 1))
        self.launcher.finish(pixels, result)
        return result if self.pitch == width else np.ascontiguousarray(result[:, :, :width])

    def extremes(self) -> Array:
        """Return 0 and the largest magnitude of each picture of the last run: (pictures, 2)."""
        found = np.empty((self.shape[0], self._strips), np.float32)
        self.launcher.read(found, self._largest)
        most = found.max(axis=1) if not self._one_scale else found.max(keepdims=True)[0]
        return np.stack([np.zeros_like(most), most], axis=1)

    def launches(self) -> Iterator[tuple[str, Any, tuple[int, int]]]:
        """Yield the launches in their order: the step, its kernel, its work-groups of one work-item."""
        count, height, _ = self.shape
        first_forward, first_inverse = self._first_strip
        forward_groups = -(-self._strips // self._together)
        for groups in _slices(self._forward, first_forward, forward_groups, self._strip_slots):
            yield "columns forward", self._forward, (groups, count)
        for groups in _slices(self._rows, FIRST_GROUP, self._groups, self._row_slots):
            yield "rows", self._rows, (groups, count)
        for groups in _slices(self._inverse, first_inverse, self._strips, self._strip_slots):
            yield "columns inverse", self._inverse, (groups, count)
        yield "quantize", self._quantize, (-(-height // BAND), count)

    def _check_memory(self, strips: int, strip_size: int) -> None:
        """Raise TooLargeError if the images or what lies between the kernels cannot be held."""
        count, height, width = self.shape
        what = f"an image of {width} x {height}" if count == 1 else f"a stack of {count} images of {width} x {height}"
        pixels = count * height * self.pitch
        between = 8 * self.vector * strip_size * strips * count
        self.launcher.device.check_memory(what, [between, pixels * self.dtype.itemsize, pixels * self.out.itemsize])

    def _strips_together(self, strips: int) -> int:
        """Return how many strips a work-item reads together: as many as share a line, if all have enough to do."""
        together = max(1, LINE // (2 * self.vector * self.dtype.itemsize))
        return together if strips >= together * TASKS * self.launcher.device.cl_device.max_compute_units else 1

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
            return self.launcher.allocate(size)
        room = np.empty(size + ALIGNMENT, np.uint8)
        start = -room.ctypes.data % ALIGNMENT
        return self.launcher.wrap(room[start : start + size])

    def _work_space(self, numbers: int) -> tuple[tuple[Any, np.uint32], str, int]:
        """Return room for so many numbers a group and its size, the name of where it lies, and for how many groups.

        That is local memory, for all groups (0); or where it is too small global memory, for some at a time.
        None at all lies in global memory.
        """
        import pyopencl as cl

        size = 8 * self.vector * numbers
        if numbers and size <= self.local_bytes:
            return (cl.LocalMemory(size), np.uint32(0)), "local", 0
        slots = GROUPS_PER_UNIT * self.launcher.device.cl_device.max_compute_units if numbers else 0
        room = self._kept(self.launcher.allocate(size * slots * self.shape[0])) if numbers else None
        return (room, np.uint32(numbers)), "global", slots

    def _plan_tables(self, axis: Axis) -> tuple[Any, ...]:
        plan = inner(axis)
        return self._constant(plan.table()), self._constant(plan.spin()), *_numbers(len(plan.stages), plan.whole)

    def _chirp_tables(self, axis: Axis) -> tuple[Any, ...]:
        if not isinstance(axis, Chirp):
            return ()
        return self._constant(axis.chirp()), self._constant(axis.filter()), *_numbers(axis.inner.n)


def _numbers(*numbers: int) -> list[np.uint32]:
    return [np.uint32(number) for number in numbers]


def inner(axis: Axis) -> MixedRadix:
    """Return the mixed radix plan that does the work: the axis's own, or that of its convolution."""
    return axis.inner if isinstance(axis, Chirp) else axis


def _slices(kernel: Any, argument: int, groups: int, slots: int) -> Iterator[int]:
    """Yield how many groups to launch, all at once or as many as have a work space, the first one set."""
    if not slots:
        yield groups
        return
    for first in range(0, groups, slots):
        kernel.set_arg(argument, np.uint32(first))
        yield min(slots, groups - first)


def column_files(axis: Axis) -> tuple[str, ...]:
    """Return the files of the vertical transforms' program."""
    own: tuple[str, ...] = ("fused/cpu_pixels.cl", "fused/cpu_columns.cl")
    if isinstance(axis, Chirp):
        own = (*CHIRP, "fused/cpu_pixels.cl", "fused/cpu_columns_bluestein.cl")
    return (*NUMBERS, *own, "fused/cpu_quantize.cl")


def row_files(axis: Axis) -> tuple[str, ...]:
    """Return the files of the horizontal transform's program."""
    if isinstance(axis, Chirp):
        return (*NUMBERS, *CHIRP, "fused/cpu_mask.cl", "fused/cpu_tiles.cl", "fused/cpu_rows_bluestein.cl")
    own = ("fused/cpu_middle.cl", "fused/cpu_there_and_back.cl", "fused/cpu_tiles.cl", "fused/cpu_rows.cl")
    return (*NUMBERS, "fused/cpu_mask.cl", *own)


def vector_width(native: int) -> int:
    """Return the lanes to use on a device whose registers hold so many floats: 4, 8 or 16."""
    return max(4, min(16, 1 << (max(native, 1).bit_length() - 1)))


def radix_defines(axis: Axis) -> tuple[str, ...]:
    """Return the defines that compile what the plan needs, and nothing else."""
    radices = set(inner(axis).radices)
    looped = [radix for radix in radices if mixed_radix.is_looped(radix)]
    bits = sum(1 << radix for radix in radices if radix not in looped)
    return (f"RADICES={bits}", f"PRIME={max(looped, default=1)}")


def mask_terms(
    transfer: AnyTransfer, height: int, width: int, across_k: NDArray[np.int64], down_k: NDArray[np.int64]
) -> tuple[Array, Array, Array, int, tuple[str, ...]]:
    """Return the transfer function as ``cpu_mask.cl`` reads it: terms across and down, gains, its order, its defines.

    ``across_k`` is the horizontal frequency of each position of a row, ``down_k`` the vertical one of each row
    of each group. The gains are those of a mask: for each group, each position of a row, one a lane.
    """
    across = np.zeros(width, [("outer", "f4"), ("inner", "f4"), ("k", "i4"), ("unused", "i4")])
    down = np.zeros((len(down_k), 2, down_k.shape[1]), np.float32)
    across["k"] = np.minimum(across_k, width - across_k)
    if isinstance(transfer, Mask):
        gains = transfer.fit(height, width)[down_k[:, None, :], across_k[None, :, None]]
        return across, down, gains.astype(np.float32), 0, ("TABLE=1",)
    ky = np.minimum(down_k, height - down_k)
    for i, (name, cutoff) in enumerate(zip(("outer", "inner"), transfer.cutoffs(height, width), strict=True)):
        if cutoff is None:
            continue
        step_x, step_y = cutoff.steps()
        if transfer.shape == "ideal":
            down[:, i] = cutoff.reach()[ky].view(np.float32)
        elif transfer.shape == "gaussian":
            across[name] = np.exp2(-((across["k"] * step_x) ** 2))
            down[:, i] = np.exp2(-((ky * step_y) ** 2))
        else:
            across[name] = (across["k"] * step_x) ** 2
            down[:, i] = (ky * step_y) ** 2
    defines = (f"SHAPE={transfer.shape}", f"PASS={transfer.kind}")
    return across, down, np.zeros(1, np.float32), transfer.order, defines
