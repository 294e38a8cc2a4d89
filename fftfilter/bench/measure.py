"""A benchmark, its setting and input arrays; checks results, and times work by OpenCL's events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from math import log2
from time import monotonic
from typing import Any

import numpy as np

from .. import __version__
from ..arrays import Array, Pixels
from ..device.launcher import Launcher
from ..device.opencl import Device
from ..device_choice import NUMPY, open_opencl
from ..errors import RefusedError
from ..filters import Filter
from ..output.rounding import Difference, transform_bound
from ..staged import algorithms
from ..staged.pipeline import Transform
from ..transfer import Transfer
from ..transfer.reference import filter_image
from . import Lines, Stats, Table

MS = 1e3  # milliseconds in a second
SPREAD = "\u00b1 is half the distance between the quartiles."
SEED = 61
FEWEST_RUNS = 3
# Seconds after which work is measured less often.
PATIENCE = 10.0


class Setting:
    """The device, the precision, and the number of runs of each measurement; and the table, once it is made.

    ``device`` is as :class:`fftfilter.Filter` takes it, and is kept as ``asked``. ``progress`` is called with the name
    of each next measurement. Raises DeviceError without a usable device.
    """

    def __init__(
        self,
        device: str | None = None,
        precision: str = "single",
        runs: int = 9,
        progress: Callable[[str], object] = lambda _: None,
    ) -> None:
        self.device: Device = open_opencl(device)
        self.asked = device
        self.precision = precision
        self.runs = runs
        self.progress = progress
        self.made: Table | None = None

    def launcher(self, work_group_size: int | None = None) -> Launcher:
        """Return a launcher that records the time of each step."""
        return Launcher(self.device, precision=self.precision, work_group_size=work_group_size, profile=True)

    def filter(self, transfer: Transfer, **options: Any) -> Filter:
        """Return a filter on the device, or by NumPy; ``options`` are further ones of :class:`fftfilter.Filter`."""
        device = None if options.get("engine") == NUMPY else str(self.device.index)
        return Filter(transfer, device=device, **{"output": "magnitude", "edges": "wrap", **options})

    def profiled(self, transfer: Transfer, engine: str, **options: Any) -> Filter:
        """Return a filter by an engine, which records the time of each step."""
        return self.filter(transfer, engine=engine, precision=self.precision, profile=True, **options)

    def table(self, title: str, columns: dict[str, str], lines: Lines, *notes: str) -> Table:
        """Return an empty table that says where it was measured, and how to read its figures."""
        self.made = Table(title, columns, lines, self.about(), [SPREAD, *notes])
        return self.made

    def about(self) -> dict[str, str]:
        """Return the lines above every table: device, driver, precision, date and version."""
        return {
            "device": f"{self.device.name} ({self.device.platform})",
            "driver": str(self.device.cl_device.driver_version),
            "precision": self.precision,
            "date": datetime.now(UTC).date().isoformat(),
            "fftfilter": __version__,
        }


def images(*shape: int) -> Pixels:
    """Return a random image ``(height, width)`` or stack ``(count, height, width)``, the same in every run."""
    return np.random.default_rng(SEED).integers(0, 256, shape, dtype=np.uint8)


def complex_numbers(shape: tuple[int, int, int], dtype: np.dtype[Any]) -> Array:
    """Return normally distributed numbers of a complex type, the same in every run."""
    real = np.float32 if dtype == np.complex64 else np.float64
    parts = np.random.default_rng(SEED).standard_normal((*shape[:-1], 2 * shape[-1]), dtype=real)
    return parts.view(dtype)


def transform_case(setting: Setting, shape: tuple[int, int, int], axes: int = 1) -> tuple[Array, Array]:
    """Return numbers of the setting's precision, and their transforms along the last axis or two."""
    data = complex_numbers(shape, setting.launcher().complex)
    return data, np.fft.fft2(data) if axes == 2 else np.fft.fft(data)


def filter_case(transfer: Transfer, height: int, width: int) -> tuple[Pixels, Array]:
    """Return an image, and the right output of a filter."""
    image = images(height, width)
    return image, filter_image(image, transfer.gain(height, width))


def gflops(n: int, seconds: float) -> float:
    """Return the Gflop/s of a transform of length n, counted as 5 n log2 n operations by convention."""
    return 5 * n * log2(n) / seconds / 1e9


def ratio(value: float, unit: float) -> float:
    """Return ``value / unit``, infinite if ``unit`` is 0."""
    return value / unit if unit > 0 else float("inf")


# By OpenCL's events


@dataclass
class Times:
    """Seconds of each step in each run."""

    runs: list[dict[str, float]] = field(default_factory=list)

    @property
    def steps(self) -> list[str]:
        """The steps in the order of first use."""
        return list(dict.fromkeys(step for run in self.runs for step in run))

    def total(self, *steps: str) -> Stats:
        """Return the statistics of the sum of some steps, in seconds."""
        return Stats.from_values([sum(run.get(step, 0.0) for step in steps) for run in self.runs])

    def without_transfers(self) -> Stats:
        """Return the statistics of the sum of all steps but copies, in seconds."""
        return self.total(*(step for step in self.steps if step not in ("write", "read")))


def measure(launcher: Launcher, work: Callable[[], object], runs: int) -> Times:
    """Time a piece of work ``runs`` times, after one run to warm up.

    ``launcher`` keeps times. Work that takes longer than ``PATIENCE`` in all is measured less often, but at least three
    times.
    """
    work()
    launcher.timings()
    times = Times()
    end = monotonic() + PATIENCE
    while len(times.runs) < runs and (len(times.runs) < FEWEST_RUNS or monotonic() < end):
        work()
        times.runs.append({timing.step: timing.seconds for timing in launcher.timings()})
    return times


def times_of(
    setting: Setting,
    what: str,
    data: Array,
    wanted: Array,
    *,
    engine: str,
    options: Mapping[str, Any] | None = None,
    axes: int = 1,
    work_group_size: int | None = None,
) -> Times:
    """Return the times of a transform with its transfers; raises RefusedError if the result is not ``wanted``."""
    launcher = setting.launcher(work_group_size)
    work = partial(Transform(launcher, algorithms.load(engine, **options or {}), data.shape, axes).run, data)
    check(what, launcher, work(), wanted)
    return measure(launcher, work, setting.runs)


def check(what: str, launcher: Launcher, got: Array, wanted: Array) -> None:
    """Raise RefusedError if an 8-bit picture or a transform of rows is not what the contract allows."""
    if wanted.dtype == np.uint8:
        found = Difference.of(got.reshape(wanted.shape), wanted, 255)
        is_right, how = found.is_right, f"picture: {found}"
    else:
        error, bound = relative_error(got, wanted), transform_bound(wanted.shape[-1], launcher.complex)
        is_right, how = error <= bound, f"transform: its relative error is {error:.1e} and {bound:.1e} is allowed"
    if not is_right:  # NaN is not, either
        on = f"on {launcher.device.name}; a wrong result is not timed: choose another device with --device"
        raise RefusedError(f"{what} computes another {how} {on}")


def relative_error(got: Array, wanted: Array) -> float:
    """Return the norm of the error of a transform, as a part of the norm of the right one."""
    return float(np.linalg.norm(got - wanted) / np.linalg.norm(wanted))
