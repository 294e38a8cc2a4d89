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
from .transfer import Grid

if TYPE_CHECKING:
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
NUMBERS = ("fused/cpu_numbers.cl", "fused/cpu_butterflies.cl", "fused/cpu_stages.cl")


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
        columns = mixed_radix.plan(height, block, 1)
        rows = mixed_radix.plan(width, block, 0)
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

        z = launcher.allocate(8 * lanes * strip_size * strips * count)
        brightest, largest = (launcher.allocate(4 * strips * count) for _ in range(2))
        self._buffers += [z, brightest, largest]  # a kernel does not keep its arguments alive
        column_stages, column_spin = constant(columns.table()), constant(columns.spin())
        row_stages, row_spin = constant(rows.table()), constant(rows.spin())

        common = ("REAL=float", f"VECTOR={lanes}")
        pixel, level = PIXELS[np.dtype(dtype)], PIXELS[self.out]
        column_program = device.program(
            (*NUMBERS, "fused/cpu_columns.cl", "fused/cpu_quantize.cl"),
            (*common, "SPACE=global", *radix_defines(columns), f"PIXEL={pixel}", f"LEVEL={level}"),
        )
        mask_defines = (f"SHAPE={transfer.shape}", f"PASS={transfer.kind}") if transfer else ()
        if gain is not None:
            mask_defines = ("SHAPE=ideal", "PASS=lowpass", "TABLE=1")
        row_program = device.program(
            (*NUMBERS, "fused/cpu_mask.cl", "fused/cpu_rows.cl"),
            (*common, "SPACE=local", *radix_defines(rows), *mask_defines),
        )
        u = np.uint32
        gains = constant(np.zeros(1, np.float32) if gain is None else gain_table(gain, rows.frequencies(), down_k))
        self._forward = cl.Kernel(column_program, "columns_forward")
        self._forward.set_args(
            z, brightest, None, column_stages, column_spin, u(len(columns.stages)), u(columns.whole),
            u(height), u(self.pitch), u(last), u(strip_size),
        )  # fmt: skip
        self._rows = cl.Kernel(row_program, "rows")
        self._rows.set_args(
            z, cl.LocalMemory(8 * lanes * max(width, strips * 2 * lanes)), row_stages, row_spin, constant(places.astype(u)), constant(across),
            constant(down), gains, u(len(rows.stages)), u(rows.whole), u(width), u(strips), u(last), u(strip_size),
            u(0), u(0), np.int32(order), np.float32(0.5 / (height * width)),
        )  # fmt: skip
        self._inverse = cl.Kernel(column_program, "columns_inverse")
        self._inverse.set_args(
            z, largest, column_stages, column_spin, u(len(columns.stages)), u(columns.whole), u(height), u(strip_size)
        )
        top, nudge = (1.0, 0.0) if self.out.kind == "f" else (float(levels), NUDGE)
        self._quantize = cl.Kernel(column_program, "quantize")
        self._quantize.set_args(
            None, z, largest, brightest, u(height), u(self.pitch), u(strips), u(last), u(strip_size),
            u(one_scale), np.float32(NOISE), np.float32(top), np.float32(nudge),
        )  # fmt: skip
        self._strips, self._groups = (strips, count), (groups, count)
        self._bands = (min(height, 16), count)

    def launches(self) -> tuple[tuple[Any, tuple[int, int]], ...]:
        """Return the kernels in their order, each with its number of work-groups of one work-item."""
        return (
            (self._forward, self._strips),
            (self._rows, self._groups),
            (self._inverse, self._strips),
            (self._quantize, self._bands),
        )

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
        for kernel, groups in self.launches():
            cl.enqueue_nd_range_kernel(queue, kernel, groups, (1, 1))
        queue.finish()
        return result if self.pitch == width else np.ascontiguousarray(result[:, :, :width])


def vector_width(native: int) -> int:
    """Return the lanes to use on a device whose registers hold so many floats: 4, 8 or 16."""
    return max(4, min(16, 1 << (max(native, 1).bit_length() - 1)))


def radix_defines(*plans: MixedRadix) -> tuple[str, ...]:
    """Return the defines that compile what the plans need, and nothing else."""
    radices = {radix for plan in plans for radix in plan.radices}
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
    grid = Grid(height, width)
    kx = (across["k"].astype(np.uint64) * np.uint64(grid.scale_x)) ** 2
    ky = (np.minimum(down_k, height - down_k).astype(np.uint64) * np.uint64(grid.scale_y)) ** 2
    cutoffs = transfer.cutoffs(height, width)
    for i, (name, cutoff) in enumerate(zip(("outer", "inner"), cutoffs, strict=True)):
        if transfer.shape == "ideal":
            # How many kx have kx^2 < limit - ky^2, in whole numbers: kx < count is then distance2 < limit.
            squares = (np.arange(width // 2 + 1, dtype=np.uint64) * np.uint64(grid.scale_x)) ** 2
            room = np.where(ky < cutoff.limit, cutoff.limit - np.minimum(ky, cutoff.limit), np.uint64(0))
            down[:, i] = np.searchsorted(squares, room, side="left").astype(np.int32).view(np.float32)
        elif transfer.shape == "gaussian":
            across[name] = np.exp2(-kx.astype(np.float64) / cutoff.radius2)
            down[:, i] = np.exp2(-ky.astype(np.float64) / cutoff.radius2)
        else:
            across[name] = kx / cutoff.radius2
            down[:, i] = ky / cutoff.radius2
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
