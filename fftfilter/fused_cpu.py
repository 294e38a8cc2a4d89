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
from .errors import ParameterError
from .mixed_radix import Chirp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from .launch import Launcher
    from .mixed_radix import MixedRadix
    from .transfer import Transfer

    Array = np.ndarray[Any, Any]

PIXELS = {np.dtype(np.uint8): "uchar", np.dtype(np.uint16): "ushort", np.dtype(np.float32): "float"}
NOISE = 1e-5
NUDGE = 1 / 4096
# What of the first cache a block may fill; the rest is for spin factors and the mask's terms.
BLOCK_BYTES = 36 << 10
# Rows between strips, so that the same row of neighboring strips does not fall into the same cache set.
SPARE_ROWS = 17
# Rows of a work-group that writes pixels.
BAND = 16
HUGE = 4 << 20
# Vector loads need it, and a buffer on the host's memory has no other alignment than the host's.
ALIGNMENT = 128
# Where work spaces are too large for local memory: how many groups are launched at once for each compute unit.
GROUPS_PER_UNIT = 4
FIRST_GROUP = 14  # the number of that argument of the rows kernel
NUMBERS = ("cpu_numbers.cl", "cpu_butterflies.cl", "cpu_stages.cl")


class FusedCpuPipeline:
    """The whole filter for stacks of images of one size on a CPU, called as the staged one.

    A stack is ``(count, height, width)`` of uint8, uint16 or float32 values within [-1, 1]. With
    ``one_scale`` its images share their extremes. ``gain`` is a mask ``(height, width)``, DC in the corner, in
    place of the transfer function; it must be the same at mirrored frequencies, as the result is real.
    ``vector`` is how many floats a vector register holds.
    """

    def __init__(
        self,
        launcher: Launcher,
        shape: tuple[int, int, int],
        dtype: np.dtype[Any],
        transfer: Transfer | None,
        *,
        out: np.dtype[Any],
        levels: int,
        one_scale: bool = False,
        gain: NDArray[np.floating[Any]] | None = None,
        vector: int | None = None,
    ) -> None:
        import pyopencl as cl

        self.launcher = launcher
        self.shape = count, height, width = shape
        self.out = np.dtype(out)
        device = launcher.device
        lanes = self.vector = vector or vector_width(device.cl_device.native_vector_width_float)
        # Narrower images get columns of zeros on the host, up to one strip.
        self.pitch = max(width, 2 * lanes)
        strips = -(-self.pitch // (2 * lanes))
        last = self.pitch - 2 * lanes
        block = BLOCK_BYTES // (8 * lanes)
        columns = mixed_radix.transform(height, block, 1)
        rows = mixed_radix.transform(width, block, 0)
        strip_size = height + SPARE_ROWS

        frequencies = columns.frequencies()
        at, mirror = mixed_radix.mirrored_pairs(frequencies)
        places = np.concatenate([mixed_radix.grouped(at, lanes), mixed_radix.grouped(mirror, lanes)], axis=1)
        down_k = mixed_radix.grouped(frequencies[at], lanes)
        groups = len(places)
        across, down, order = mask_terms(transfer, height, width, rows.frequencies(), down_k)

        self._buffers: list[Any] = []

        def constant(array: Array) -> Any:
            self._buffers.append(
                cl.Buffer(
                    device.context,
                    cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR,
                    hostbuf=np.ascontiguousarray(array),
                )
            )
            return self._buffers[-1]

        z = self._paged(8 * lanes * strip_size * strips * count)
        brightest, largest = (launcher.allocate(4 * strips * count) for _ in range(2))
        self._buffers += [z, brightest, largest]  # a kernel does not keep its arguments alive
        common = ("REAL=float", f"VECTOR={lanes}")
        u = np.uint32

        def spare(numbers: int) -> tuple[str, Any, int, int]:
            """Return where a work space of so many numbers lies: in local memory or, too large, once a group."""
            size = 8 * lanes * numbers
            if size <= device.cl_device.local_mem_size:
                return "local", cl.LocalMemory(size), 0, 0
            groups = GROUPS_PER_UNIT * device.cl_device.max_compute_units
            self._buffers.append(launcher.allocate(size * groups * count))
            return "global", self._buffers[-1], numbers, groups

        def plan_arguments(axis: MixedRadix | Chirp) -> tuple[Any, ...]:
            inner = axis.inner if isinstance(axis, Chirp) else axis
            return constant(inner.table()), constant(inner.spin()), u(len(inner.stages)), u(inner.whole)

        def chirp_arguments(axis: Chirp) -> tuple[Any, ...]:
            return constant(axis.chirp()), constant(axis.filter()), u(axis.inner.n)

        pixel, level = PIXELS[np.dtype(dtype)], PIXELS[self.out]
        forward = [z, brightest, None, *plan_arguments(columns), u(height), u(self.pitch), u(last), u(strip_size)]
        inverse = [z, largest, *plan_arguments(columns), u(height), u(strip_size)]
        if isinstance(columns, Chirp):
            space, room, numbers, self._strip_slots = spare(columns.inner.n)
            chirp = [room, *chirp_arguments(columns), u(0), u(strips), u(numbers)]
            self._first_strip = len(forward) + 4, len(inverse) + 4
            forward += chirp
            inverse += chirp
        else:
            space, self._strip_slots, self._first_strip = "global", 0, (0, 0)
        program = device.program(
            column_files(columns), (*common, f"SPACE={space}", *radix_defines(columns), f"PIXEL={pixel}", f"LEVEL={level}")
        )
        self._forward = cl.Kernel(program, "columns_forward")
        self._forward.set_args(*forward)
        self._inverse = cl.Kernel(program, "columns_inverse")
        self._inverse.set_args(*inverse)
        top, nudge = (1.0, 0.0) if self.out.kind == "f" else (float(levels), NUDGE)
        self._quantize = cl.Kernel(program, "quantize")
        self._quantize.set_args(
            None, z, largest, brightest, u(height), u(self.pitch), u(strips), u(last), u(strip_size),
            u(one_scale), np.float32(NOISE), np.float32(top), np.float32(nudge),
        )  # fmt: skip

        space, room, numbers, self._row_slots = spare(
            max(strips * 2 * lanes, rows.inner.n if isinstance(rows, Chirp) else width)
        )
        gains = constant(np.zeros(1, np.float32) if gain is None else gain_table(gain, rows.frequencies(), down_k))
        table, spin, *sizes = plan_arguments(rows)
        arguments = [
            z, room, table, spin, constant(places.astype(u)), constant(across), constant(down), gains, *sizes,
            u(width), u(strips), u(last), u(strip_size), u(0), u(numbers), np.int32(order),
            np.float32(0.5 / (height * width)),
        ]  # fmt: skip
        if isinstance(rows, Chirp):
            arguments += chirp_arguments(rows)
        shape_defines = ("TABLE=1",) if transfer is None or gain is not None else ()
        if transfer is not None and gain is None:
            shape_defines = (f"SHAPE={transfer.shape}", f"PASS={transfer.kind}")
        program = device.program(row_files(rows), (*common, f"SPACE={space}", *radix_defines(rows), *shape_defines))
        self._rows = cl.Kernel(program, "rows")
        self._rows.set_args(*arguments)
        self._strips, self._groups = strips, groups

    def _paged(self, size: int) -> Any:
        """Return a buffer of so many bytes, in huge pages where it is large.

        The rows touch a page for every strip, and small pages of a large image are more than the CPU remembers.
        OpenCL has no word for that, but NumPy asks for huge pages from 4 MiB up.
        """
        import pyopencl as cl

        if size < HUGE:
            return self.launcher.allocate(size)
        room = np.empty(size + ALIGNMENT, np.uint8)
        start = -room.ctypes.data % ALIGNMENT
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
        return cl.Buffer(self.launcher.device.context, flags, hostbuf=room[start : start + size])

    def launches(self) -> Iterator[tuple[str, Any, tuple[int, int]]]:
        """Yield the launches in their order: the step, its kernel, its work-groups of one work-item."""
        count, height, _ = self.shape
        first_forward, first_inverse = self._first_strip
        for groups in _slices(self._forward, first_forward, self._strips, self._strip_slots):
            yield "columns forward", self._forward, (groups, count)
        for groups in _slices(self._rows, FIRST_GROUP, self._groups, self._row_slots):
            yield "rows", self._rows, (groups, count)
        for groups in _slices(self._inverse, first_inverse, self._strips, self._strip_slots):
            yield "columns inverse", self._inverse, (groups, count)
        yield "quantize", self._quantize, (-(-height // BAND), count)

    def run(self, stack: Array) -> Array:
        """Filter a stack ``(count, height, width)`` and return its pixels."""
        import pyopencl as cl

        count, height, width = self.shape
        if self.pitch != width:
            stack = np.pad(stack, ((0, 0), (0, 0), (0, self.pitch - width)))
        stack = np.ascontiguousarray(stack)
        result = np.empty((count, height, self.pitch), self.out)
        context, queue = self.launcher.device.context, self.launcher.queue
        image = cl.Buffer(context, cl.mem_flags.READ_ONLY | cl.mem_flags.USE_HOST_PTR, hostbuf=stack)
        pixels = cl.Buffer(context, cl.mem_flags.WRITE_ONLY | cl.mem_flags.USE_HOST_PTR, hostbuf=result)
        self._forward.set_arg(2, image)
        self._quantize.set_arg(0, pixels)
        for _, kernel, groups in self.launches():
            cl.enqueue_nd_range_kernel(queue, kernel, groups, (1, 1))
        queue.finish()
        return result if self.pitch == width else np.ascontiguousarray(result[:, :, :width])


def _slices(kernel: Any, argument: int, groups: int, slots: int) -> Iterator[int]:
    """Yield how many groups to launch, all at once or as many as have a work space, the first one set."""
    if not slots:
        yield groups
        return
    for first in range(0, groups, slots):
        kernel.set_arg(argument, np.uint32(first))
        yield min(slots, groups - first)


def column_files(axis: MixedRadix | Chirp) -> tuple[str, ...]:
    """Return the files of the vertical transforms' program."""
    if isinstance(axis, Chirp):
        files = (*NUMBERS, "cpu_bluestein.cl", "cpu_there_and_back.cl", "cpu_pixels.cl", "cpu_columns_bluestein.cl")
    else:
        files = (*NUMBERS, "cpu_pixels.cl", "cpu_columns.cl")
    return tuple(f"fused/{name}" for name in (*files, "cpu_quantize.cl"))


def row_files(axis: MixedRadix | Chirp) -> tuple[str, ...]:
    """Return the files of the horizontal transform's program."""
    if isinstance(axis, Chirp):
        files = ("cpu_bluestein.cl", "cpu_there_and_back.cl", "cpu_mask.cl", "cpu_tiles.cl", "cpu_rows_bluestein.cl")
    else:
        files = ("cpu_mask.cl", "cpu_middle.cl", "cpu_there_and_back.cl", "cpu_tiles.cl", "cpu_rows.cl")
    return tuple(f"fused/{name}" for name in (*NUMBERS, *files))


def vector_width(native: int) -> int:
    """Return the lanes to use on a device whose registers hold so many floats: 4, 8 or 16."""
    return max(4, min(16, 1 << (max(native, 1).bit_length() - 1)))


def radix_defines(axis: MixedRadix | Chirp) -> tuple[str, ...]:
    """Return the defines that compile what the plan needs, and nothing else."""
    radices = set((axis.inner if isinstance(axis, Chirp) else axis).radices)
    looped = [radix for radix in radices if mixed_radix.is_looped(radix)]
    bits = sum(1 << radix for radix in radices if radix not in looped)
    return (f"RADICES={bits}", f"PRIME={max(looped, default=1)}")


def mask_terms(
    transfer: Transfer | None, height: int, width: int, across_k: NDArray[np.int64], down_k: NDArray[np.int64]
) -> tuple[Array, Array, int]:
    """Return the transfer function's terms as ``cpu_mask.cl`` reads them: across, down, and its order.

    ``across_k`` is the horizontal frequency of each position of a row, ``down_k`` the vertical one of each row
    of each group.
    """
    across = np.zeros(width, [("outer", "f4"), ("inner", "f4"), ("k", "i4"), ("unused", "i4")])
    down = np.zeros((len(down_k), 2, down_k.shape[1]), np.float32)
    across["k"] = np.minimum(across_k, width - across_k)
    if transfer is None:
        return across, down, 0
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
    return across, down, transfer.order


def gain_table(
    gain: NDArray[np.floating[Any]], across_k: NDArray[np.int64], down_k: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return a mask as ``rows`` reads it: for each group, each position of a row, one gain a lane.

    Raises ParameterError if it differs at mirrored frequencies: the filtered image would not be real.
    """
    mirrored = np.roll(gain[::-1, ::-1], (1, 1), (0, 1))
    if not np.array_equal(gain, mirrored):
        raise ParameterError("the mask differs between a frequency and its mirrored one: give one with H(-f) = H(f)")
    return np.ascontiguousarray(gain[down_k[:, None, :], across_k[None, :, None]], np.float32)
