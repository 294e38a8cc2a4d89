"""A benchmark: a table that is filled step by step, in a setting, with images and numbers that are always the same."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..device.choice import open_device
from ..device.launcher import Launcher
from ..filters import Filter
from ..fused import fused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from ..device.choice import Device
    from ..transfer import Transfer
    from .tables import Table

MS = 1e3
"""Milliseconds in a second."""
TOO_SLOW = 2.0
"""Seconds of one run; what takes longer is left out at larger sizes."""
SEED = 61
SPREAD = "\u00b1 is half the distance between the quartiles."


@dataclass
class Benchmark:
    """A table, the measurements that fill it, and what completes it.

    Iterating over ``steps`` measures; each item names what is measured next. If that ends early, the table holds what
    was measured until then. ``finish`` adds what is computed from the rows, and the published figures.
    """

    table: Table
    steps: Iterator[str]
    finish: Callable[[], object] = lambda: None


def left_out(what: Iterable[str], too_slow: float) -> str:
    """Return the note about what was left out at larger sizes."""
    return f"Left out where a smaller size took more than {too_slow:g} s: {', '.join(sorted(what))}."


class Setting:
    """The device, the precision, and how often each thing is measured.

    ``device`` is as :class:`fftfilter.Filter` takes it; ``asked`` is what was given. Raises DeviceError without a
    usable device.
    """

    def __init__(self, device: str | None = None, precision: str = "single", runs: int = 9) -> None:
        self.device: Device = open_device(device, fused)
        self.asked = device
        self.precision = precision
        self.runs = runs

    def launcher(self, work_group_size: int | None = None) -> Launcher:
        """Return a launcher that keeps the times of its steps."""
        return Launcher(self.device, precision=self.precision, work_group_size=work_group_size, profile=True)

    def filter(self, transfer: Transfer, **options: Any) -> Filter:
        """Return a filter on the device; ``options`` are further ones of :class:`fftfilter.Filter`."""
        return Filter(transfer, device=str(self.device.index), **options)

    def about(self) -> dict[str, str]:
        """Return what a reader has to know about every table that is made here."""
        return {
            "device": f"{self.device.name} ({self.device.platform})",
            "driver": str(self.device.cl_device.driver_version),
            "precision": self.precision,
            "date": datetime.now(UTC).date().isoformat(),
            "fftfilter": __version__,
        }


def images(*shape: int) -> NDArray[np.uint8]:
    """Return an image ``(height, width)`` or a stack ``(count, height, width)``."""
    return np.random.default_rng(SEED).integers(0, 256, shape, dtype=np.uint8)


def complex_numbers(shape: tuple[int, int, int], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return normally distributed numbers of a complex type."""
    real = np.float32 if dtype == np.complex64 else np.float64
    parts = np.random.default_rng(SEED).standard_normal((*shape[:-1], 2 * shape[-1]), dtype=real)
    return parts.view(dtype)
