"""The fused engine, the default one: the book's flow in four steps, in the form that fits the device.

    cpu/   columns, rows with the mask, columns inverse, quantize     vectors of neighboring columns
    gpu/   rows, columns with the mask, inverse rows, quantize        registers, exchange through local memory

Both have plain FFTs, too, without a mask; ``tables.py`` has the numbers that transforms share.

A step is a launch on a GPU; small images there, and all on a CPU, go in one launch. Both forms transform real images as
real, at any size without padding, and keep the spectrum on the chip between the transforms around the mask.
docs/fused.md shows both, and follows an image through all steps as numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import numpy as np

    from ..device.launcher import Launcher
    from ..device.opencl import Device
    from ..output.ramp import Stack
    from ..transfer import Transfer
    from ..transfer.product import Edges
    from .cpu.pipeline import FusedCpuPipeline
    from .cpu.plain_fft import CpuTransform, LongChirp
    from .gpu.pipeline import FusedGpuPipeline
    from .gpu.plain_fft import GpuTransform

    FusedPipeline = FusedCpuPipeline | FusedGpuPipeline
    PlainFft = CpuTransform | GpuTransform | LongChirp


def fused(launcher: Launcher, transfer: Transfer, stack: Stack, edges: Edges = "wrap") -> FusedPipeline:
    """Return the fused pipeline for a stack.

    The transfer function has to be even: the result is real. Where edges are mirrored, :func:`mirrors` tells whether
    the form can do it.
    """
    # Each form is some 10 ms of import: only the one that is needed.
    if launcher.device.is_gpu:
        from .gpu.pipeline import FusedGpuPipeline

        return FusedGpuPipeline(launcher, transfer, stack, edges=edges, generic=True)
    from .cpu.pipeline import FusedCpuPipeline

    return FusedCpuPipeline(launcher, transfer, stack, edges=edges)


def serves(device: Device, height: int, width: int) -> bool:
    """Tell whether the device's form filters images of a size: on a CPU any, on a GPU up to some length."""
    if not device.is_gpu:
        return True
    from .gpu.plan import supports

    return supports((height, width))


def mirrors(device: Device, height: int, width: int) -> bool:
    """Tell whether the device's form mirrors edges: on a CPU always, on a GPU for sides that a work-group holds."""
    if not device.is_gpu:
        return True
    from .gpu.plan import plan

    return serves(device, height, width) and plan(height, width).is_in_groups


def device_bytes(device: Device, shape: tuple[int, int, int], *, real: bool, inverses: int = 1) -> int:
    """Return the bytes of device memory that a stack ``(count, height, width)`` takes, without tables.

    A pixel counts as one byte. ``real`` tells whether filtered values are the result, ``inverses`` how often a picture
    is transformed back.
    """
    count, height, width = shape
    level = 4 if real else 1
    if not device.is_gpu:
        from .cpu import program

        return sum(program.plan(device, height, width, count=count, inverses=inverses).buffers(count, 1, level))
    from .gpu.plan import plan

    pixels = count * height * width
    between = plan(height, width)
    values = 0 if real else 4 * pixels
    return 8 * count * (inverses * between.spectrum_length + between.work_length) + values + (1 + level) * pixels


Data = Literal["complex", "real", "values"]
Along = Literal["both", "rows", "columns"]


class Shape(NamedTuple):
    """A transform of some ``arrays`` ``(height, width)``, ``along`` both axes, the rows or the columns.

    ``data`` is "complex" (to complex), "real" (to a spectrum; with ``half``, along both axes, to half of one) or
    "values" (half a spectrum to real values, along both axes). ``width`` is always that of the values. ``inverse`` is
    the transform back, unnormalized; for values it is the only one.
    """

    data: Data
    along: Along
    arrays: int
    height: int
    width: int
    inverse: bool = False
    half: bool = False

    def __str__(self) -> str:
        """Return its name in errors."""
        return f"a transform of {self.arrays} x {self.height} x {self.width}"

    @property
    def spectrum_width(self) -> int:
        """Numbers of a row of the spectrum."""
        return self.width // 2 + 1 if self.half else self.width

    @property
    def source(self) -> tuple[int, int, int]:
        """The shape of the source array."""
        return self.arrays, self.height, self.spectrum_width if self.data == "values" else self.width

    @property
    def target(self) -> tuple[int, int, int]:
        """The shape of the target array."""
        return self.arrays, self.height, self.width if self.data == "values" else self.spectrum_width


def serves_plain(device: Device, shape: Shape) -> bool:
    """Tell whether the device's form transforms a shape: on a CPU any, on a GPU up to some length."""
    if not device.is_gpu:
        return True
    from .gpu import plain_fft

    return plain_fft.serves(shape)


def plain_fft(launcher: Launcher, shape: Shape, pixel: np.dtype[Any]) -> PlainFft:
    """Return the plain FFT of a shape; ``pixel`` is the type of real numbers: uint8, uint16 or float32."""
    if launcher.device.is_gpu:
        from .gpu.plain_fft import GpuTransform

        return GpuTransform(launcher, shape, pixel)
    from .cpu.plain_fft import CpuTransform, long

    return long(launcher, shape) or CpuTransform(launcher, shape, pixel)
