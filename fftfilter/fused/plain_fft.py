"""Plain FFTs by the form that fits the device, and the shapes that they transform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np

    from ..device.choice import Device
    from ..device.launcher import Launcher
    from .cpu.long_signal import LongChirp, LongSignal
    from .cpu.plain_fft import CpuTransform
    from .gpu.plain_fft import GpuTransform

    PlainFft = CpuTransform | GpuTransform | LongChirp | LongSignal

Data = Literal["complex", "real", "values"]
Along = Literal["both", "rows", "columns"]


@dataclass(frozen=True)
class Shape:
    """A transform of ``count`` arrays ``(height, width)``, ``along`` both axes, the rows or the columns.

    ``data`` is "complex" (to complex), "real" (to a spectrum; with ``half``, along both axes, to half of one) or
    "values" (half a spectrum to real values, along both axes). ``width`` is always that of the values. ``inverse`` is
    the transform back, unnormalized; for values it is the only one.
    """

    data: Data
    along: Along
    count: int
    height: int
    width: int
    inverse: bool = False
    half: bool = False

    def __str__(self) -> str:
        """Return its name in errors."""
        return f"a transform of {self.count} x {self.height} x {self.width}"

    @property
    def spectrum_width(self) -> int:
        """Numbers of a row of the spectrum."""
        return self.width // 2 + 1 if self.half else self.width

    @property
    def source(self) -> tuple[int, int, int]:
        """The shape of the source array."""
        return self.count, self.height, self.spectrum_width if self.data == "values" else self.width

    @property
    def target(self) -> tuple[int, int, int]:
        """The shape of the target array."""
        return self.count, self.height, self.width if self.data == "values" else self.spectrum_width


def serves(device: Device, shape: Shape) -> bool:
    """Tell whether the device's form transforms a shape: on a CPU any, on a GPU up to some length."""
    if not device.is_gpu:
        return True
    from .gpu import plain_fft

    return plain_fft.serves(shape)


def transform(launcher: Launcher, shape: Shape, pixel: np.dtype[Any]) -> PlainFft:
    """Return a shape's transform; ``pixel`` is the type of real numbers: uint8, uint16 or float32."""
    if launcher.device.is_gpu:
        from .gpu.plain_fft import GpuTransform

        return GpuTransform(launcher, shape, pixel)
    from .cpu import long_signal
    from .cpu.plain_fft import CpuTransform

    return long_signal.long(launcher, shape) or CpuTransform(launcher, shape, pixel)
