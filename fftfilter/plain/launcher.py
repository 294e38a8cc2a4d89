"""What stands for OpenCL's device and queue, with all that filters ask of those; and the library that transforms.

That is scipy.fft where it is installed and pays, else numpy.fft.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from ..arrays import PRECISIONS
from ..errors import check_option
from ..output.ramp import Timing
from ..system import cores, free_memory

# Numbers from which on SciPy, two to four times as fast, is worth its import of 0.2 s.
MANY = 1 << 21


def library(size: int) -> tuple[Any, dict[str, Any]]:
    """Return the module that transforms arrays of ``size`` numbers, and the options that its functions get."""
    if size >= MANY:
        with suppress(ImportError):
            from scipy import fft

            return fft, {"workers": cores()}
    return np.fft, {}


class NumPyDevice:
    """The CPU of this machine, as NumPy uses it."""

    name = platform = "NumPy"
    is_gpu = False
    fp64 = True

    @property
    def memory(self) -> int:
        """The bytes of memory that are free, 0 where the system does not say."""
        return free_memory() or 0


class NumPyLauncher:
    """A precision, and with ``profile`` the times of steps; raises ParameterError for an unknown precision."""

    def __init__(self, device: NumPyDevice, *, precision: str = "single", profile: bool = False) -> None:
        check_option("precision", precision, PRECISIONS)
        self.device, self._profiles = device, profile
        self.real, self.complex = PRECISIONS[precision]
        self._seconds: dict[str, list[float]] = {}

    def keep_host_time(self, step: str, begin: int, end: int) -> None:
        """Add a step to the timings; ``begin`` and ``end`` in nanoseconds."""
        if self._profiles:
            self._seconds.setdefault(step, []).append((end - begin) * 1e-9)

    def timings(self) -> list[Timing]:
        """Return the time of each step since the last call, in the order of first use; empty without ``profile``."""
        found, self._seconds = self._seconds, {}
        return [Timing(step, len(each), sum(each)) for step, each in found.items()]
