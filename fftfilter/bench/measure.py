"""Measuring: a result is checked, then the work is timed by OpenCL's events."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import RefusedError
from ..output.difference import Difference, transform_bound
from .compare import Stats

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..device.launcher import Launcher
    from ..staged.transform import Transform

    Array = np.ndarray[Any, Any]

TRANSFERS = ("write", "read")
FEWEST_RUNS = 3


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
    off = np.abs(got.astype(np.int16) - wanted)
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
