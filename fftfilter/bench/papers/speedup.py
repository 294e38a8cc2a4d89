"""McCarthy's experiment: the parallel against the sequential transform on the same device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...staged import algorithms
from ...staged.transform import Transform
from ..benchmark import MS, SPREAD, Benchmark
from ..compare import ratio
from ..inputs import complex_numbers
from ..measure import measure_transform
from ..tables import Lines, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..benchmark import Setting

# The largest work-group, once there are more work-items than compute units.
LARGEST_GROUP = 64


def speedup(setting: Setting, *, n: int = 1 << 14) -> Benchmark:
    """Return milliseconds and speedup of one transform of length n by p = 1, 2, 4 ... n work-items."""
    table = Table(
        f"Binary exchange by p work-items against one work-item (iterative), one transform of n = {n}",
        {"algorithm": "algorithm", "p": "p", "ms": "ms", "speedup": "speedup"},
        ("algorithm", "p"),
        Lines(("algorithm",), "p", ("speedup",), "p, work-items", "speedup", linear=True),
        setting.about(),
        [SPREAD, "Without the bit reversal behind both, which is the same. The paper printed no figures."],
    )
    units = setting.device.cl_device.max_compute_units
    data = complex_numbers((1, 1, n), setting.launcher().complex)
    wanted = np.fft.fft(data)

    def steps() -> Iterator[str]:
        yield "iterative"
        launcher = setting.launcher()
        transform = Transform(launcher, algorithms.load("iterative"), (1, 1, n), 1)
        times = measure_transform("iterative", launcher, transform, data, wanted, runs=setting.runs)
        sequential = times.of("iterative")
        table.put(("iterative", 1), ms=sequential.times(MS), speedup=1.0)
        p = 1
        while p <= n:
            yield f"p = {p}"
            # A work-group runs on one compute unit: while there are units left, each work-item has its own.
            launcher = setting.launcher(min(LARGEST_GROUP, setting.device.work_group_limit, max(1, -(-p // units))))
            transform = Transform(launcher, algorithms.load("binary-exchange", p=p), (1, 1, n), 1)
            what = f"binary-exchange p={p}"
            times = measure_transform(what, launcher, transform, data, wanted, runs=setting.runs)
            seconds = times.of("binary_exchange")
            table.put(("binary-exchange", p), ms=seconds.times(MS), speedup=ratio(sequential.median, seconds.median))
            p *= 2

    return Benchmark(table, steps())
