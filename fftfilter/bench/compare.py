"""Statistics of repeated measurements, and what is computed from them."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2
from statistics import median, quantiles
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


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
        if len(values) == 1:
            return cls(values[0], values[0], values[0], 1)
        low, _, high = quantiles(values, n=4, method="inclusive")
        return cls(median(values), low, high, len(values))

    @property
    def spread(self) -> float:
        """Half the distance between the quartiles, relative to the median."""
        return (self.high - self.low) / 2 / self.median if self.median > 0 else 0.0

    def times(self, factor: float) -> Stats:
        """Return the same in another unit."""
        return Stats(self.median * factor, self.low * factor, self.high * factor, self.runs)


def in_turn(measurements: Mapping[str, Callable[[], float]], runs: int) -> dict[str, Stats]:
    """Return the statistics of measurements, each taken ``runs`` times, in turn, so that noise is the same for all."""
    found: dict[str, list[float]] = {name: [] for name in measurements}
    for _ in range(runs):
        for name, measured in measurements.items():
            found[name].append(measured())
    return {name: Stats.of(each) for name, each in found.items()}


def gflops(n: int, seconds: float) -> float:
    """Return Gflop/s, by convention of 5 n log2 n operations for a row of n."""
    return 5 * n * log2(n) / seconds / 1e9


def ratio(value: float, unit: float) -> float:
    """Return a value divided by another, infinite if that is 0."""
    return value / unit if unit > 0 else float("inf")
