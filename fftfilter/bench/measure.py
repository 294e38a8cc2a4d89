"""A benchmark, the setting that it is measured in, and its input arrays; checks results and times work.

This program is timed by OpenCL's events. Beside other libraries all are timed by the clock, in turn: one measurement is
several calls in a row with one wait at the end. On a CPU each measurement comes after a rest, because the threads of
some libraries keep spinning after their work and would slow down the next library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from math import log2
from time import monotonic, perf_counter, sleep
from typing import Any

import numpy as np

from .. import __version__
from ..arrays import Array, Pixels
from ..device.choice import Device, open_device
from ..device.launcher import Launcher
from ..errors import RefusedError
from ..filters import Filter
from ..fused import fused
from ..output.difference import Difference, transform_bound
from ..transfer import Transfer
from .tables import Cell, Lines, Stats, Table

MS = 1e3
"""Milliseconds in a second."""
OURS = "fftfilter"
"""This program's name among its peers."""
SPREAD = "\u00b1 is half the distance between the quartiles."
SEED = 61
FEWEST_RUNS = 3
# Seconds after which work is measured less often.
PATIENCE = 10.0
# Largest relative error of another library's transform, in norm: single precision stays below it.
WRONG = 1e-5
# Seconds of one measurement by the clock, long compared with the launch of a single call, and of a rest.
SECONDS = 0.03
REST = 0.25


class Setting:
    """The device, the precision, and the number of runs of each measurement; and the table, once it is made.

    ``device`` is as :class:`fftfilter.Filter` takes it, and is kept as ``asked``. Raises DeviceError without a usable
    device.
    """

    def __init__(self, device: str | None = None, precision: str = "single", runs: int = 9) -> None:
        self.device: Device = open_device(device, fused)
        self.asked = device
        self.precision = precision
        self.runs = runs
        self.made: Table | None = None

    def launcher(self, work_group_size: int | None = None) -> Launcher:
        """Return a launcher that records the time of each step."""
        return Launcher(self.device, precision=self.precision, work_group_size=work_group_size, profile=True)

    def filter(self, transfer: Transfer, **options: Any) -> Filter:
        """Return a filter on the device; ``options`` are further ones of :class:`fftfilter.Filter`."""
        return Filter(transfer, device=str(self.device.index), **options)

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


def in_turn(measurements: Mapping[str, Callable[[], float]], runs: int) -> dict[str, Stats]:
    """Return the statistics of measurements, each taken ``runs`` times, in turn: noise then affects all alike."""
    found = [{name: measured() for name, measured in measurements.items()} for _ in range(runs)]
    return {name: Stats.of([each[name] for each in found]) for name in measurements}


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

    def of(self, *steps: str) -> Stats:
        """Return the statistics of the sum of some steps, in seconds."""
        return Stats.of([sum(run.get(step, 0.0) for step in steps) for run in self.runs])

    def without_transfers(self) -> Stats:
        """Return the statistics of the sum of all steps but copies, in seconds."""
        return self.of(*(step for step in self.steps if step not in ("write", "read")))


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


def check(what: str, launcher: Launcher | None, got: Array, wanted: Array) -> None:
    """Raise RefusedError if an 8-bit picture or a transform of rows is wrong.

    What this program's ``launcher`` has computed has to be as the contract allows. Without one it is another library's:
    a picture may differ by 1 level in 1 pixel of 100, a transform by a small relative error.
    """
    if wanted.dtype == np.uint8:
        found = Difference.of(got.reshape(wanted.shape), wanted, 255)
        is_near = found.largest <= 1 and found.samples <= max(1, found.size // 100)
        is_right, how = found.is_right if launcher else is_near, f"picture: {found}"
    else:
        error = float(np.linalg.norm(got - wanted) / np.linalg.norm(wanted))
        bound = transform_bound(wanted.shape[-1], launcher.complex) if launcher else WRONG
        is_right, how = error <= bound, f"transform: its relative error is {error:.1e} and {bound:.1e} is allowed"
    if not is_right:  # NaN is not, either
        way_out = "choose another device with --device" if launcher else "take other sizes (--size), or uninstall it"
        on = f" on {launcher.device.name}" if launcher else ""
        raise RefusedError(f"{what} computes another {how}{on}; a wrong result is not timed: {way_out}")


# By the clock


@dataclass
class Peer:
    """A library that is ready to work on arrays of one size: plans, masks and buffers are made.

    ``call`` works once; ``finish`` waits until all calls are done. ``result`` returns the output, and is None for a
    peer that only copies, or whose output is not comparable.
    """

    name: str
    call: Callable[[], object]
    finish: Callable[[], object] = lambda: None
    result: Callable[[], Array] | None = None


def timed(setting: Setting, peers: Sequence[Peer], wanted: Array) -> dict[str, dict[str, Cell]]:
    """Check all peers, then time them in turn; return each one's milliseconds and their ratio to this program's."""
    repeats = {}
    for peer in peers:
        peer.call()
        peer.finish()
        if peer.result is not None:
            check(peer.name, None, peer.result(), wanted)
        repeats[peer.name] = max(1, round(SECONDS / _seconds_of(peer, 2)))

    def measured(peer: Peer) -> float:
        if not setting.device.is_gpu:
            sleep(REST)
        return _seconds_of(peer, repeats[peer.name])

    stats = in_turn({peer.name: partial(measured, peer) for peer in peers}, setting.runs)
    ours = stats[OURS].median
    return {name: {"ms": each.times(MS), "ratio": ratio(each.median, ours)} for name, each in stats.items()}


def _seconds_of(peer: Peer, repeats: int) -> float:
    """Return the seconds of one call, the mean of several with one wait at the end."""
    begin = perf_counter()
    for _ in range(repeats):
        peer.call()
    peer.finish()
    return (perf_counter() - begin) / repeats
