"""The fused pipeline for GPUs: the book's flow in four launches.

    rows           load, spin factors, butterflies, transpose                1 byte in, 4 out a pixel of 8 bits
    columns        butterflies, mask, butterflies back                       4 in, 4 out
    inverse rows   transpose, butterflies back, magnitude, extremes          4 in, 4 out
    quantize       magnitudes to levels                                      4 in, 1 out

Every pass through memory that is left has its reason: rows and columns need each other's results, and the
scale of the output is known only when every pixel is. A side that no work-group holds, or holds badly, takes two to
six launches in place of one. The kernels are in ``kernels/fused/gpu_*.cl``; ``fused_gpu_plan.py`` plans how they share
the work, ``fused_gpu_launches.py`` makes launches of a plan.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import ParameterError
from .fused_gpu_launches import BUTTERFLIES, Launch, Launches
from .fused_gpu_plan import plan
from .pipeline import NOISE, PIXELS
from .steps.quantize import rounding
from .transfer import Cutoff, Mask

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyopencl as cl
    from numpy.typing import NDArray

    from .launch import Launcher
    from .transfer import AnyTransfer, Transfer

    Array = np.ndarray[Any, Any]

QUANTIZE = "fused/gpu_quantize.cl"
QUANTIZE_GROUP = 256


def column_bounds(height: int, width: int, transfer: Transfer) -> NDArray[np.uint32]:
    """Return for every column up to half the width how many |ky| are nearer than each cutoff: ``(width//2 + 1, 2)``."""
    bounds = np.zeros((width // 2 + 1, 2), np.uint32)
    for which, cutoff in enumerate(transfer.cutoffs(height, width)):
        if cutoff is not None:
            # The reach of rows, of the image lying on its side.
            bounds[:, which] = Cutoff(width, height, cutoff.radius).reach()
    return bounds


class FusedGpuPipeline:
    """The whole filter for stacks of images of one size: four launches, more where a side is too long for one.

    As :class:`pipeline.StagedPipeline`, of which it is the fast form: ``shape`` is (count, height, width) of
    ``dtype`` uint8, uint16 or float32 (values within [-1, 1]), output of type ``out`` up to ``levels``; ``levels``
    None leaves the filtered values as they are, as float32. A mask has to be even, as the result is real. Raises
    ParameterError for a size that is not served, TooLargeError before anything is allocated.
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
        tuning: Mapping[str, int] | None = None,
    ) -> None:
        self.launcher, self.device = launcher, launcher.device
        self.shape, self.dtype, self.out = shape, np.dtype(dtype), np.dtype(out)
        count, height, width = shape
        self.plan = plan(height, width, **(tuning or {}))
        if launcher.real_name != "float":
            raise ParameterError("the fused pipeline computes in single precision: take another engine for double")
        self.bytes_in = math.prod(shape) * self.dtype.itemsize
        self.bytes_out = math.prod(shape) * self.out.itemsize

        mask_data, shape_name, kind, numbers = self._mask(transfer)
        row_tables, column_tables = self.plan.rows.tables(), self.plan.columns.tables()
        tables = [*row_tables, *column_tables, mask_data]
        # Values that are not scaled are the output itself.
        values = 0 if levels is None else 4 * math.prod(shape)
        scratch = [self.plan.spectrum_length * count * 8, self.plan.work_length * count * 8, values]
        small = [*(max(8, table.nbytes) for table in tables), 4 * count]
        self.what = (
            f"an image of {width} x {height}" if count == 1 else f"a stack of {count} images of {width} x {height}"
        )
        self.memory = [*scratch, self.bytes_in, self.bytes_out, *small]
        self.device.check_memory(self.what, self.memory)
        # A kernel does not keep its buffers alive.
        self._scratch = [launcher.allocate(size) if size else None for size in scratch]
        self._constants = [launcher.allocate(size) for size in small]
        for buffer, data in zip(self._constants, tables, strict=False):
            if data.nbytes:
                launcher.write(buffer, data)
        self.largest: cl.Buffer = self._constants[-1]
        """The largest magnitude of each image of the last run, a float."""
        self._images: tuple[cl.Buffer, cl.Buffer] | None = None
        split = len(row_tables)
        self._build(
            self._constants[:split],
            self._constants[split:-2],
            (f"SHAPE={shape_name}", f"PASS={kind}"),
            numbers,
            one_scale=one_scale,
            levels=levels,
        )

    def _mask(self, transfer: AnyTransfer) -> tuple[Array, str, str, tuple[Any, ...]]:
        """Return the mask's buffer, its shape and pass for the compiler and its numbers for the kernel."""
        _, height, width = self.shape
        if isinstance(transfer, Mask):
            half = transfer.fit(height, width)[:, : width // 2 + 1]
            nothing = (np.float32(0),) * 4
            return np.ascontiguousarray(half.T, np.float32), "table", "lowpass", (*nothing, np.int32(0))
        n = min(height, width)
        outer, inner = transfer.cutoffs(height, width)
        # Squares stay within single precision; what lies beyond passes only DC, or everything.
        per2 = [
            min(1 / cutoff.radius**2, 1e30) if cutoff.radius > 1e-15 else 1e30 for cutoff in (outer, inner or outer)
        ]
        numbers = (
            np.float32((n / width) ** 2),
            np.float32((n / height) ** 2),
            *map(np.float32, per2),
            np.int32(transfer.order),
        )
        ideal = transfer.shape == "ideal"
        bounds = column_bounds(height, width, transfer) if ideal else np.zeros((1, 2), np.uint32)
        return bounds, transfer.shape, transfer.kind, numbers

    def _build(
        self,
        row_tables: list[cl.Buffer],
        column_tables: list[cl.Buffer],
        mask: tuple[str, str],
        numbers: tuple[Any, ...],
        *,
        one_scale: bool,
        levels: int | None,
    ) -> None:
        """Build the kernels and set every argument but the images."""
        count, height, width = self.shape
        spectrum, work, self._values = self._scratch
        mask_data = self._constants[-2]
        launches = Launches(self.launcher, self.plan, count, spectrum=spectrum, work=work, largest=self.largest)
        scales = np.uint32(one_scale)
        self._pictures = 1 if one_scale else count
        pixel = f"PIXEL={PIXELS[self.dtype]}"
        rows = launches.rows(row_tables, pixel)
        scale = np.float32(1 / (2 * width * height))
        columns = launches.columns(column_tables, mask, mask_data, scale, *numbers)
        inverse_rows = launches.inverse_rows(row_tables, scales, *(("SIGNED=1",) if levels is None else ()))
        self._rows, self._inverse_rows = rows[0].kernel, inverse_rows[-1].kernel
        self._launches = [*rows, *columns, *inverse_rows]
        self._bound: tuple[cl.Buffer | None, cl.Buffer | None] = (None, None)
        if levels is None:
            return

        self._inverse_rows.set_arg(0, self._values)
        wide = 1 if height * width % 4 else 4
        pixel_out = f"PIXEL_OUT={PIXELS[self.out]}"
        size = (f"SIZE={height * width}", f"WIDE={wide}")
        self._quantize = self.launcher.kernel((BUTTERFLIES, QUANTIZE), (*size, pixel, pixel_out), "gpu_quantize")
        # Pixels that are whole numbers reach their type's largest value, others 1.
        brightest = 1.0 if self.dtype.kind == "f" else float(np.iinfo(self.dtype).max)
        self._quantize.set_arg(1, self._values)
        self._quantize.set_arg(3, self.largest)
        self._quantize.set_arg(4, scales)
        by = rounding(levels, is_float=self.out.kind == "f")
        for at, number in enumerate((NOISE, brightest, *by), 5):
            self._quantize.set_arg(at, np.float32(number))

        quantized = -(-height * width // wide // QUANTIZE_GROUP) * QUANTIZE_GROUP
        self._launches.append(Launch("quantize", self._quantize, (quantized, count), (QUANTIZE_GROUP, 1)))

    def enqueue(self, image: cl.Buffer, output: cl.Buffer, *, after: cl.Event | None = None) -> cl.Event:
        """Filter a stack from one device buffer into another, without waiting; ``image`` is left as it is.

        Begins after an event of another queue, and returns that of its own end.
        """
        if self._bound[0] is not image or self._bound[1] is not output:
            self._rows.set_arg(1, image)
            if self._values is None:
                self._inverse_rows.set_arg(0, output)
            else:
                self._quantize.set_arg(0, output)
                self._quantize.set_arg(2, image)
            self._bound = (image, output)
        for launch in self._launches:
            last, after = self.launcher.enqueue(*launch, after=after), None
        return last

    def extremes(self, largest: cl.Buffer | None = None) -> Array:
        """Return 0 and the largest magnitude of each picture of the last run, (pictures, 2), or of a copy of these."""
        most = np.empty(self._pictures, np.float32)
        self.launcher.read(most, largest or self.largest)
        return np.stack([np.zeros_like(most), most], axis=1)

    def run(self, stack: Array) -> Array:
        """Filter a stack in the host's memory."""
        if self._images is None:
            allocate = self.launcher.allocate
            self._images = (allocate(self.bytes_in), allocate(self.bytes_out))
        image, output = self._images
        self.launcher.write(image, np.ascontiguousarray(stack))
        self.enqueue(image, output)
        result = np.empty(self.shape, self.out)
        self.launcher.read(result, output)
        return result
