"""Pictures that do not fit into memory, but into that of a GPU: strips of rows stream there and back.

    read -> copied to the device, strip by strip -> the fused pipeline, once -> pixels, copied back strip by strip

While some threads copy strips, others read them, and later encode those of the result. The picture is read once, and
there is no scratch. The result is that of the pipeline for pictures that fit. Only a single radial part is filtered so:
a table of gains would take as much memory as a picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..arrays import pixel_type
from ..device.launcher import Launcher
from ..errors import TooLargeError
from ..fused import fused, serves
from ..fused.gpu.plan import plan as plan_of
from ..output.modes import MODES, Auto
from ..output.ramp import PIXELS, Quantized, Stack, ramps
from ..system import cores
from .strips import How, LargePicture, PicturePlan, filling_of, fitting

if TYPE_CHECKING:
    from ..arrays import Array
    from ..device.opencl import Device
    from ..transfer.product import EdgedGrid
    from .strips import Read

FLOAT = np.dtype(np.float32)
# Floats up to this one are filtered in their own unit: their sums and squares stay within single precision.
LARGEST = 2.0**48


@dataclass(frozen=True)
class GpuPlan(PicturePlan):
    """The strips of rows of a picture that a GPU holds."""

    device: Device
    pixel: np.dtype[Any]  # of what is read

    def large(self, read: Read, how: How, folder: str, **running: Any) -> GpuPicture:
        return GpuPicture(read, self, how, folder, **running)

    def stack(self, how: How, *, has_holes: bool = False) -> Stack:
        """Return the picture as the device has it, with its mirror images if edges are mirrored.

        Its output are values where the host makes pixels of them.
        """
        by_host = (
            has_holes or MODES[how.output].is_values or how.gray.dtype not in PIXELS or isinstance(how.scale, Auto)
        )
        pixel, out = FLOAT if has_holes else self.pixel, FLOAT if by_host else how.gray.dtype
        white = None if by_host else how.gray.levels
        return Stack(self.shape[0], self.grid.height, self.grid.width, pixel, out, white, one_scale=True)

    def check_memory(self, how: How) -> None:
        """Raise TooLargeError if the device does not hold the picture, or other programs have its memory."""
        stack, launcher = self.stack(how), Launcher(self.device)
        planned = plan_of(stack.height, stack.width)
        sizes = [8 * stack.count * each for each in (planned.spectrum_length, planned.work_length)]
        each = stack.pixel.itemsize, stack.out.itemsize, 0 if stack.white is None else FLOAT.itemsize
        sizes += [stack.size * size for size in each]
        self.device.check_memory(str(stack), sizes)
        buffers = [launcher.allocate(size) for size in sizes if size]
        for buffer in buffers:  # a driver takes the memory of a buffer when it is first used
            launcher.write(buffer, np.zeros(1, np.uint8))

    def steps(self, how: How) -> int:
        return (2 + (how.own_range and self.stack(how).white is None)) * len(self.strips)

    @property
    def by(self) -> str:
        return self.device.name


def planned_on(
    device: Device,
    shape: tuple[int, int, int],
    itemsize: int,
    grid: EdgedGrid,
    *,
    dtype: np.dtype[Any],
    how: How,
    units: tuple[int, int],
    room: int,
    may_miss: bool = False,
) -> GpuPlan:
    """Return the strips of a picture (channels, height, width) of a type; raises TooLargeError if a GPU has no place.

    The rest is as for :func:`strips.planned`.
    """
    radial, is_single = grid.transfer.radial, how.precision == "single" and np.can_cast(dtype, FLOAT)
    is_served = is_single and serves(device, grid.height, grid.width)
    if not (is_served and radial) or radial.is_faint(grid.height, grid.width):
        raise TooLargeError(f"{device.name} has no strips for it")
    filling = filling_of(shape, itemsize + FLOAT.itemsize, room) if may_miss else (0, 0)
    found = fitting(shape, itemsize, room, cores(), units, real=FLOAT.itemsize, filling=filling)
    plan = GpuPlan(shape, *found, 0, False, 0.0, [], filling[0], grid, 1, device, pixel_type(dtype))
    plan.check_memory(how)
    return plan


class GpuPicture(LargePicture):
    """A picture (channels, height, width) on a GPU."""

    plan: GpuPlan

    def transform(self) -> None:
        plan, launcher = self.plan, Launcher(self.plan.device)
        self._stack = plan.stack(self._how, has_holes=self.coarse is not None)
        self._pipeline: Any = cast("Any", fused(launcher, plan.grid.transfer, self._stack))
        sizes = self._pipeline.bytes_in, self._pipeline.bytes_out
        self._image, self._output = cast("Any", map(launcher.allocate, sizes))
        output, scale, gray, _ = self._how
        if self._stack.white is not None and not isinstance(scale, Auto):
            self._pipeline.set_ramps(ramps(output, scale, gray=gray))
        self.weak = self._pipeline.weak
        self._given = max(self.in_order(self._put, plan.strips))
        self._pipeline.enqueue(self._image, self._output)
        facts = self._pipeline.facts()
        self.largest, self._clipped = float(facts.extremes[0, 1]), float(facts.clipped[0])
        self.deviation = float(self._pipeline.deviations(self._image)[0])

    def _put(self, start: int, stop: int) -> float:
        """Copy a strip to the device, and return its largest magnitude."""
        planes = self._whole(start, stop).astype(self._stack.pixel, copy=False)
        given = float(max(planes.max(), -float(planes.min())))
        if self._is_mirrored:
            planes = np.concatenate([planes, planes[..., ::-1]], axis=2)
        for channel, rows in enumerate(planes):
            self._copy(self._image, np.ascontiguousarray(rows), channel, start)
            if self._is_mirrored:
                self._copy(self._image, np.ascontiguousarray(rows[::-1]), channel, self._stack.height - stop)
        return given

    def _copy(self, buffer: Any, rows: Array, channel: int, start: int, *, back: bool = False) -> None:
        offset = (channel * self._stack.height + start) * self._stack.width * rows.itemsize
        launcher = self._pipeline.launcher
        if back:
            launcher.read(rows, buffer, offset=offset)
        else:
            launcher.write(buffer, rows, offset=offset)

    def values(self, start: int, stop: int, *_: Any, **__: Any) -> Array:
        """Return a strip of the result: values, or the pixels that the device made of them."""
        rows = np.empty((self._stack.count, stop - start, self._stack.width), self._stack.out)
        for channel, plane in enumerate(rows):
            self._copy(self._output, plane, channel, start, back=True)
        return rows[..., : self.plan.shape[2]]

    def is_weak(self) -> bool:
        is_in_range = self._stack.pixel != FLOAT or self._given == 0 or 1 / LARGEST <= self._given <= LARGEST
        return not is_in_range or super().is_weak()

    def found(self) -> float:
        return self.largest

    def measure(self) -> None:
        if self._stack.white is None:
            super().measure()

    def made(self, start: int, stop: int, planes: Array | None = None, *_: Any, **__: Any) -> Quantized:
        if self._stack.white is None:
            return super().made(start, stop, planes)
        return Quantized(self.values(start, stop), self._clipped, 0.0, self.largest)

    def close(self) -> None:
        self._pipeline = self._image = self._output = None
