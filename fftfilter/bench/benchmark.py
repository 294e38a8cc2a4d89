"""A benchmark: a table that is filled step by step, the setting that it is measured in, and the input arrays."""

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
from .tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from ..device.choice import Device
    from ..transfer import Transfer
    from .tables import Lines

SEED = 61
SPREAD = "\u00b1 is half the distance between the quartiles."


@dataclass
class Benchmark:
    """A table, the measurements that fill it, and a function that completes it.

    Iterating over ``steps`` measures; each item names the next measurement. If the iteration ends early, the table
    holds the measurements made so far. ``finish`` adds cells that are computed from other rows, and published figures.
    """

    table: Table
    steps: Iterator[str]
    finish: Callable[[], object] = lambda: None


class Setting:
    """The device, the precision, and the number of runs of each measurement.

    ``device`` is as :class:`fftfilter.Filter` takes it, and is kept as ``asked``. Raises DeviceError without a usable
    device.
    """

    def __init__(self, device: str | None = None, precision: str = "single", runs: int = 9) -> None:
        self.device: Device = open_device(device, fused)
        self.asked = device
        self.precision = precision
        self.runs = runs

    def launcher(self, work_group_size: int | None = None) -> Launcher:
        """Return a launcher that records the time of each step."""
        return Launcher(self.device, precision=self.precision, work_group_size=work_group_size, profile=True)

    def filter(self, transfer: Transfer, **options: Any) -> Filter:
        """Return a filter on the device; ``options`` are further ones of :class:`fftfilter.Filter`."""
        return Filter(transfer, device=str(self.device.index), **options)

    def profiled(self, transfer: Transfer, engine: str, **options: Any) -> Filter:
        """Return a filter by an engine, which records the time of each step."""
        return self.filter(transfer, engine=engine, precision=self.precision, profile=True, **options)

    def table(self, title: str, columns: dict[str, str], key: tuple[str, ...], lines: Lines, *notes: str) -> Table:
        """Return an empty table that says where it was measured, and how to read its figures."""
        return Table(title, columns, key, lines, self.about(), [SPREAD, *notes])

    def about(self) -> dict[str, str]:
        """Return the lines above every table: device, driver, precision, date and version."""
        return {
            "device": f"{self.device.name} ({self.device.platform})",
            "driver": str(self.device.cl_device.driver_version),
            "precision": self.precision,
            "date": datetime.now(UTC).date().isoformat(),
            "fftfilter": __version__,
        }


def images(*shape: int) -> NDArray[np.uint8]:
    """Return a random image ``(height, width)`` or stack ``(count, height, width)``, the same in every run."""
    return np.random.default_rng(SEED).integers(0, 256, shape, dtype=np.uint8)


def complex_numbers(shape: tuple[int, int, int], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return normally distributed numbers of a complex type, the same in every run."""
    real = np.float32 if dtype == np.complex64 else np.float64
    parts = np.random.default_rng(SEED).standard_normal((*shape[:-1], 2 * shape[-1]), dtype=real)
    return parts.view(dtype)
