"""Measuring: a result is checked, then the work is timed, by OpenCL's events, or by the clock for other libraries.

By the clock peers are timed in turn, and one measurement is several calls in a row with one wait at the end. On the CPU
each comes after a rest: the workers of some libraries go on spinning after their work and would slow down the next one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from time import monotonic, perf_counter, sleep
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import RefusedError
from ..output.difference import Difference, transform_bound
from .compare import Stats, in_turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ..device.launcher import Launcher
    from ..staged.transform import Transform

    Array = np.ndarray[Any, Any]

TRANSFERS = ("write", "read")
FEWEST_RUNS = 3
OURS = "fftfilter"
"""This program's name among its peers."""
# Seconds that one measurement by the clock takes, long beside the launch of a single call, and that a rest takes.
SECONDS = 0.03
REST = 0.25


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


def measure_transform(
    what: str,
    launcher: Launcher,
    transform: Transform,
    data: Array,
    wanted: Array,
    *,
    runs: int,
) -> Times:
    """Return the times of a transform with its transfers; raises RefusedError if the result is not ``wanted``."""

    def work() -> Array:
        # Loaded in every run: a transform of a transform of ... leaves the range of numbers.
        transform.load(data)
        transform.run()
        return transform.result()

    check_transform(what, launcher, work(), wanted.reshape(data.shape), data.shape[-1])
    return measure(launcher, work, runs=runs)


def check_transform(what: str, launcher: Launcher, got: Array, wanted: Array, n: int) -> None:
    """Raise RefusedError if the error of a transform of length n is larger than the contract allows."""
    bound = transform_bound(n, launcher.complex)
    error = float(np.linalg.norm(got - wanted) / np.linalg.norm(wanted))
    if not error <= bound:  # so that NaN is wrong, too
        raise _refused(what, launcher, f"its relative error is {error:.1e} and {bound:.1e} is allowed")


def check_picture(what: str, launcher: Launcher, got: Array, wanted: Array) -> None:
    """Raise RefusedError if an 8-bit picture differs from the reference by more than the contract allows."""
    found = Difference.of(got, wanted, 255)
    if not found.is_right:
        raise _refused(what, launcher, str(found))


def check_peer(who: str, got: Array, wanted: Array) -> None:
    """Raise RefusedError if another library's 8-bit picture differs by more than 1 level, or in over 1 pixel of 100."""
    off = np.abs(got.reshape(wanted.shape).astype(np.int16) - wanted)
    if off.max() > 1 or np.count_nonzero(off) > max(1, off.size // 100):
        raise RefusedError(
            f"{who} computes another picture: {np.count_nonzero(off)} of {off.size} pixels differ, by up to "
            f"{off.max()} levels; a wrong result is not timed: take other sizes (--size), or uninstall this library"
        )


def _refused(what: str, launcher: Launcher, how: str) -> RefusedError:
    return RefusedError(
        f"{what} computes wrongly on {launcher.device.name}: {how}; a wrong result is not timed, "
        "choose another device with --device"
    )


# By the clock


@dataclass
class Peer:
    """A library that is ready to filter images of one size: plans, masks and buffers are made.

    ``call`` filters once; ``finish`` waits until all calls are done. ``result`` returns the picture, and is None for
    what only copies or transforms.
    """

    name: str
    call: Callable[[], object]
    finish: Callable[[], object] = lambda: None
    result: Callable[[], Array] | None = None


def calls_of(peer: Peer, check: Callable[[Array], None]) -> int:
    """Return how many calls of a peer make one measurement; ``check`` raises RefusedError for a wrong result."""
    peer.call()
    peer.finish()
    if peer.result is not None:
        check(peer.result())
    return max(1, round(SECONDS / seconds_of(peer, 2)))


def timed(peers: Iterable[Peer], repeats: Mapping[str, int], runs: int, rest: float) -> dict[str, Stats]:
    """Return the seconds of a call of each peer, all measured in turn, each after a rest."""

    def measured(peer: Peer) -> float:
        sleep(rest)
        return seconds_of(peer, repeats[peer.name])

    return in_turn({peer.name: partial(measured, peer) for peer in peers}, runs)


def seconds_of(peer: Peer, repeats: int) -> float:
    """Return the seconds of one call, the mean of several with one wait at the end."""
    begin = perf_counter()
    for _ in range(repeats):
        peer.call()
    peer.finish()
    return (perf_counter() - begin) / repeats
