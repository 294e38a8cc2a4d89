"""The fused pipeline for GPUs: the book's flow in four launches.

    rows           load, spin factors, butterflies, transpose                1 byte in, 4 c out a pixel of 8 bits
    columns        butterflies, mask, butterflies back                       4 c in, 4 c out
    inverse rows   transpose, butterflies back, magnitude, extremes          4 c in, 1 more for a high-pass, 4 out
    quantize       magnitudes to levels                                      4 in, 1 out

A filter's gain varies near DC alone: beyond some radius a low-pass is 0. Of the columns of the half spectrum only the
part c that this radius reaches is stored and transformed, a quarter at the default of n/8. A high-pass is the image
minus a low-pass, so that this holds for it, too: the inverse rows read the pixels again and subtract.

Every pass through memory that is left has its reason: rows and columns need each other's results, and the
scale of the output is known only when every pixel is. A side that no work-group holds, or holds badly, takes two to
six launches in place of one. The kernels are in ``kernels/fused/gpu_*.cl``; ``fused/gpu/plan.py`` plans how they share
the work, ``fused/gpu/launches.py`` makes launches of a plan. Small images whose rows and columns have the same plan go
in one launch, whose work-groups wait for each other (``filter.cl``): a launch costs as much as a step of theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ParameterError
from ...output.noise import NOISE
from ...output.rounding import rounding
from ...output.stack import PIXELS
from ...transfer.shapes import IDEAL
from .launches import BUTTERFLIES, QUANTIZE, Launch, Launches
from .plan import plan
from .transform import TransformPlan

if TYPE_CHECKING:
    import pyopencl as cl
    from numpy.typing import NDArray

    from ...device.launcher import Launcher
    from ...output.stack import Stack
    from ...transfer import Transfer
    from ...transfer.radial import Radial

    Array = np.ndarray[Any, Any]

QUANTIZE_GROUP = 256
# Stacks of so many pixels go in one launch: of more, each step takes much longer than a launch. Only where the kernel
# knows how work-groups see what others have written, beyond what OpenCL promises.
AT_ONCE = 1 << 22
AT_ONCE_ON = ("NVIDIA",)
PROGRESS_BYTES = 4 * 5
# What a pass lacks to all.
COMPLEMENTS = {"highpass": "lowpass", "bandstop": "bandpass"}


def column_bounds(height: int, width: int, radial: Radial) -> NDArray[np.uint32]:
    """Return for every column up to half the width how many |ky| are nearer than each cutoff: ``(width//2 + 1, 2)``."""
    bounds = np.zeros((width // 2 + 1, 2), np.uint32)
    for which, cutoff in enumerate(radial.cutoffs(height, width)):
        if cutoff is not None:
            bounds[:, which] = cutoff.near_in_columns()
    return bounds


class FusedGpuPipeline:
    """The whole filter for a stack of images on a GPU: four launches, more where a side is too long for one.

    The transfer function has to be even: the result is real. Raises ParameterError for a size that is not served.
    """

    def __init__(self, launcher: Launcher, transfer: Transfer, stack: Stack) -> None:
        self.launcher, self.device, self.stack = launcher, launcher.device, stack
        count, height, width = stack.shape
        self.plan = plan(height, width)
        if launcher.real_name != "float":
            raise ParameterError("the fused pipeline computes in single precision: take another engine for double")
        self.bytes_in = stack.size * stack.pixel.itemsize
        self.bytes_out = stack.size * stack.out.itemsize

        reach, table = transfer.on_grid(height, width)
        columns = width // 2 + 1
        # Reading the pixels again moves the bytes of a sixteenth of the columns: if fewer are out of reach, all go.
        beyond = int(reach.beyond and 16 * reach.columns <= 15 * columns)
        kept = columns if reach.beyond and not beyond else max(1, reach.columns)
        tiles = -(-kept // self.plan.tile)
        mask_data, shape_name, kind, numbers = self._mask(transfer.radial, table, beyond)
        row_tables, column_tables = self.plan.rows.tables(), self.plan.columns.tables()
        tables = [*row_tables, *column_tables, mask_data]
        # Values that are not scaled are the output itself.
        values = 0 if stack.white is None else 4 * stack.size
        scratch = [self.plan.spectrum_length * count * 8, self.plan.work_length * count * 8, values]
        small = [*(max(8, table.nbytes) for table in tables), 4 * count]
        self.memory = [*scratch, self.bytes_in, self.bytes_out, *small]
        self.device.check_memory(str(stack), self.memory)
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
            tiles=tiles,
            beyond=beyond,
        )

    def _mask(
        self, radial: Radial | None, table: NDArray[np.float64] | None, beyond: int
    ) -> tuple[Array, str, str, tuple[Any, ...]]:
        """Return the mask's buffer, its shape and pass for the compiler and its numbers for the kernel.

        The columns' gain is H or, if ``beyond`` the reach is 1, what it lacks to 1.
        """
        _, height, width = self.stack.shape
        if radial is None or table is not None:
            half = np.asarray(table)[:, : width // 2 + 1]
            gains = 1 - half if beyond else half
            nothing = (np.float32(0),) * 4
            return np.ascontiguousarray(gains.T, np.float32), "table", "lowpass", (*nothing, np.int32(0))
        n = min(height, width)
        outer, inner = radial.cutoffs(height, width)
        # Squares stay within single precision; what lies beyond passes only DC, or everything.
        per2 = [
            min(1 / cutoff.radius**2, 1e30) if cutoff.radius > 1e-15 else 1e30 for cutoff in (outer, inner or outer)
        ]
        numbers = (
            np.float32((n / width) ** 2),
            np.float32((n / height) ** 2),
            *map(np.float32, per2),
            np.int32(radial.order),
        )
        bounds = column_bounds(height, width, radial) if radial.shape == IDEAL else np.zeros((1, 2), np.uint32)
        return bounds, radial.shape, COMPLEMENTS[radial.kind] if beyond else radial.kind, numbers

    def _build(
        self,
        row_tables: list[cl.Buffer],
        column_tables: list[cl.Buffer],
        mask: tuple[str, str],
        numbers: tuple[Any, ...],
        *,
        tiles: int,
        beyond: int,
    ) -> None:
        """Build the kernels and set every argument but the images."""
        stack = self.stack
        count, height, width = stack.shape
        spectrum, work, self._values = self._scratch
        mask_data = self._constants[-2]
        launches = Launches(
            self.launcher, self.plan, count, tiles=tiles, spectrum=spectrum, work=work, largest=self.largest
        )
        scales = np.uint32(stack.one_scale)
        pixel = f"PIXEL={PIXELS[stack.pixel]}"
        scale = np.float32(1 / (2 * width * height))
        wide = 1 if height * width % 4 else 4
        pixel_out = f"PIXEL_OUT={PIXELS[stack.out]}"
        size = (f"SIZE={height * width}", f"WIDE={wide}")
        # Pixels that are whole numbers reach their type's largest value, others 1.
        brightest = 1.0 if stack.pixel.kind == "f" else float(np.iinfo(stack.pixel).max)
        by = rounding(stack.white or 1, is_float=stack.out.kind == "f")
        grey = [np.float32(number) for number in (NOISE, brightest, *by)]
        self._bound: tuple[cl.Buffer | None, ...] = (None, None, None)
        at_once = self._plan_at_once()
        self._largest_at = launches.largest_at
        if at_once:
            self._progress = self.launcher.allocate(PROGRESS_BYTES)
            self.launcher.write(self._progress, np.zeros(PROGRESS_BYTES, np.uint8))
            sizes = (np.uint32(count), launches.reach, scales, *grey)
            arguments = (None, None, spectrum, self._values, *row_tables, self.largest, self._progress, *sizes)
            defines = (*size, pixel, pixel_out, *mask, f"BEYOND={beyond}")
            launch = launches.at_once(at_once, defines, *arguments, mask_data, scale, *numbers)
            self._launches, self._images_at, self._output_at = [launch], [(launch.kernel, 0)], (launch.kernel, 1)
            return

        rows = launches.rows(row_tables, pixel)
        columns = launches.columns(column_tables, mask, mask_data, scale, *numbers)
        signed = ("SIGNED=1",) if stack.white is None else ()
        minuend = (pixel,) if beyond else ()
        inverse_rows = launches.inverse_rows(row_tables, scales, f"BEYOND={beyond}", *minuend, *signed)
        last = inverse_rows[-1].kernel
        self._launches = [*rows, *columns, *inverse_rows]
        self._images_at = [(rows[0].kernel, 1)]
        if beyond:
            self._images_at.append((last, last.num_args - 1))
        if stack.white is None:
            self._output_at = (last, 0)
            return

        last.set_arg(0, self._values)
        quantize = self.launcher.kernel((BUTTERFLIES, QUANTIZE), (*size, pixel, pixel_out), "gpu_quantize")
        for at, argument in ((1, self._values), (3, self.largest), (4, scales), *enumerate(grey, 5)):
            quantize.set_arg(at, argument)
        self._largest_at.append((quantize, 3))
        self._images_at.append((quantize, 2))
        self._output_at = (quantize, 0)
        quantized = -(-height * width // wide // QUANTIZE_GROUP) * QUANTIZE_GROUP
        self._launches.append(Launch("quantize", quantize, (quantized, count), (QUANTIZE_GROUP, 1)))

    def _plan_at_once(self) -> TransformPlan | None:
        """Return the plan of rows and columns if one launch does all, which times of steps cannot be told of."""
        rows, device = self.plan.rows, self.launcher.device
        is_small = self.stack.size <= AT_ONCE and self.stack.white is not None and not self.launcher.profiles
        can = is_small and any(name in device.platform for name in AT_ONCE_ON)
        return rows if can and isinstance(rows, TransformPlan) and rows == self.plan.columns else None

    def enqueue(
        self, image: cl.Buffer, output: cl.Buffer, *, largest: cl.Buffer | None = None, after: cl.Event | None = None
    ) -> cl.Event:
        """Filter a stack from one device buffer into another, without waiting; ``image`` is left as it is.

        The largest magnitudes go to ``largest``, if it is given. Begins after an event of another queue, and returns
        that of its own end.
        """
        bound = (image, output, largest or self.largest)
        if any(buffer is not before for buffer, before in zip(bound, self._bound, strict=True)):
            for kernel, at in self._images_at:
                kernel.set_arg(at, image)
            kernel, at = self._output_at
            kernel.set_arg(at, output)
            for kernel, at in self._largest_at:
                kernel.set_arg(at, bound[2])
            self._bound = bound
        for launch in self._launches:
            last, after = self.launcher.enqueue(*launch, after=after), None
        return last

    def extremes(self, largest: cl.Buffer | None = None) -> Array:
        """Return 0 and the largest magnitude of each picture of the last run, (pictures, 2), or of a copy of these."""
        most = np.empty(self.stack.pictures, np.float32)
        self.launcher.read(most, largest or self.largest)
        return np.stack([np.zeros_like(most), most], axis=1)

    def run(self, images: Array) -> Array:
        """Filter images in the host's memory."""
        if self._images is None:
            allocate = self.launcher.allocate
            self._images = (allocate(self.bytes_in), allocate(self.bytes_out))
        image, output = self._images
        self.launcher.write(image, np.ascontiguousarray(images))
        self.enqueue(image, output)
        result = np.empty(self.stack.shape, self.stack.out)
        self.launcher.read(result, output)
        return result
