"""Check results, time work, and compute the statistics of repeated measurements.

This program is timed by OpenCL's events. Beside other libraries all are timed by the clock, in turn: one measurement is
several calls in a row with one wait at the end. On a CPU each measurement comes after a rest, because the threads of
some libraries keep spinning after their work and would slow down the next library.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from math import log2
from time import monotonic, perf_counter, sleep
from typing import TYPE_CHECKING

import numpy as np

from ..errors import RefusedError
from ..output.difference import Difference, transform_bound

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..arrays import Array
    from ..device.launcher import Launcher
    from .benchmark import Setting
    from .tables import Cell

MS = 1e3
"""Milliseconds in a second."""
TRANSFERS = ("write", "read")
FEWEST_RUNS = 3
# Largest relative error of another library's transform, in norm: single precision stays below it.
WRONG = 1e-5
OURS = "fftfilter"
"""This program's name among its peers."""
# Seconds of one measurement by the clock, long compared with the launch of a single call, and of a rest.
SECONDS = 0.03
REST = 0.25


@dataclass(frozen=True)
class Stats:
    """The median and the quartiles of ``runs`` measurements, all in one unit."""

    median: float
    low: float
    high: float
    runs: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Stats:
        """Return the statistics of measurements, at least one."""
        low, middle, high = np.percentile(values, (25, 50, 75)).tolist()
        return cls(middle, low, high, len(values))

    @property
    def spread(self) -> float:
        """Half the distance between the quartiles, relative to the median."""
        return (self.high - self.low) / 2 / self.median if self.median > 0 else 0.0

    def times(self, factor: float) -> Stats:
        """Return the same measurements in another unit."""
        return Stats(self.median * factor, self.low * factor, self.high * factor, self.runs)


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
        return self.of(*(step for step in self.steps if step not in TRANSFERS))


def measure(launcher: Launcher, work: Callable[[], object], *, runs: int, patience: float = 10.0) -> Times:
    """Time a piece of work ``runs`` times, after one run to warm up.

    ``launcher`` keeps times. Work that takes longer than ``patience`` seconds in all is measured less often, but at
    least three times.
    """
    work()
    launcher.timings()
    times = Times()
    end = monotonic() + patience
    while len(times.runs) < runs and (len(times.runs) < FEWEST_RUNS or monotonic() < end):
        work()
        times.runs.append({timing.step: timing.seconds for timing in launcher.timings()})
    return times


def check(what: str, launcher: Launcher, got: Array, wanted: Array) -> None:
    """Raise RefusedError if an 8-bit picture or a transform of rows is not what the contract allows."""
    if wanted.dtype == np.uint8:
        found = Difference.of(got, wanted, 255)
        is_right, how = found.is_right, str(found)
    else:
        bound = transform_bound(wanted.shape[-1], launcher.complex)
        error = float(np.linalg.norm(got - wanted) / np.linalg.norm(wanted))
        is_right, how = error <= bound, f"its relative error is {error:.1e} and {bound:.1e} is allowed"  # NaN is wrong
    if not is_right:
        raise RefusedError(
            f"{what} computes wrongly on {launcher.device.name}: {how}; a wrong result is not timed, "
            "choose another device with --device"
        )


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


def check_peer(name: str, got: Array, wanted: Array) -> None:
    """Raise RefusedError if another library's result is wrong.

    An 8-bit picture may differ by 1 level in 1 pixel of 100, a transform by a small relative error.
    """
    if wanted.dtype == np.uint8:
        found = Difference.of(got.reshape(wanted.shape), wanted, 255)
        is_right = found.largest <= 1 and found.samples <= max(1, found.size // 100)
        how = f"picture: {found}"
    else:
        error = float(np.linalg.norm(got - wanted) / np.linalg.norm(wanted))
        is_right = error <= WRONG  # NaN is wrong
        how = f"transform: its relative error is {error:.1e}"
    if not is_right:
        raise RefusedError(
            f"{name} computes another {how}; a wrong result is not timed: take other sizes (--size), or uninstall this "
            "library"
        )


def timed(setting: Setting, peers: Sequence[Peer], wanted: Array) -> dict[str, dict[str, Cell]]:
    """Check all peers, then time them in turn; return each one's milliseconds and their ratio to this program's."""
    repeats = {}
    for peer in peers:
        peer.call()
        peer.finish()
        if peer.result is not None:
            check_peer(peer.name, peer.result(), wanted)
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
