"""Bainville's table: one long transform against the radix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...staged import algorithms
from ...staged.algorithms import workgroup_coalesced
from ...staged.transform import Transform
from ..benchmark import MS, SPREAD, Benchmark
from ..compare import gflops
from ..inputs import complex_numbers
from ..measure import measure_transform
from ..published import Published, by_column
from ..tables import HERE, Lines, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...device.device import Device
    from ..benchmark import Setting

_SOURCE = "E. Bainville, OpenCL Fast Fourier Transform (2010, updated 2011), n = 2^24, single precision"

# One work-group per DFT: milliseconds and Gflop/s against r.
BAINVILLE = (
    Published(
        _SOURCE,
        "GTX 285, 2010",
        "GeForce GTX 285",
        by_column(
            ("ms", "gflops"),
            {
                "workgroup r=1": (3500, 0.57),
                "workgroup r=2": (1300, 1.5),
                "workgroup r=4": (560, 3.6),
                "workgroup r=8": (300, 6.7),
                "workgroup r=32": (420, 4.8),
                "workgroup r=128": (685, 2.9),
            },
        ),
    ),
    Published(
        _SOURCE,
        "HD 5870, 2010",
        "Radeon HD 5870",
        by_column(
            ("ms", "gflops"),
            {
                "workgroup r=1": (8100, 0.25),
                "workgroup r=2": (3700, 0.54),
                "workgroup r=4": (2000, 1.0),
                "workgroup r=8": (1200, 1.7),
                "workgroup r=32": (810, 2.5),
                "workgroup r=128": (920, 2.2),
            },
        ),
    ),
)


def radix(setting: Setting, *, n: int = 1 << 24) -> Benchmark:
    """Return time and Gflop/s of one transform of length n, a power of two, for each algorithm and radix."""
    table = Table(
        f"One transform of n = {n}: time and Gflop/s (5 n log2 n / time) against the radix",
        {"algorithm": "algorithm", "hardware": "on", "radix": "radix", "ms": "ms", "gflops": "Gflop/s"},
        ("algorithm", "hardware"),
        Lines(("line", "hardware"), "radix", ("gflops",), "radix", "Gflop/s"),
        setting.about(),
        [SPREAD],
    )
    data = complex_numbers((1, 1, n), setting.launcher().complex)
    wanted = np.fft.fft(data)

    def steps() -> Iterator[str]:
        for name, options, value in _radices(setting.device, n, data.itemsize):
            label = " ".join([name, *(f"{key}={option}" for key, option in options.items())])
            yield label
            launcher = setting.launcher()
            transform = Transform(launcher, algorithms.load(name, **options), (1, 1, n), 1)
            seconds = measure_transform(label, launcher, transform, data, wanted, runs=setting.runs).without_transfers()
            table.put(
                (label, HERE),
                line=name,
                radix=value,
                ms=seconds.times(MS),
                gflops=gflops(n, seconds.median),
            )

    def finish() -> None:
        for source in BAINVILLE:
            table.beside(source, lambda row: str(row["algorithm"]))
        for row in table.rows:  # the published ones have no radix yet
            name, _, r = str(row["algorithm"]).partition(" r=")
            row.setdefault("line", name)
            if r:
                row.setdefault("radix", 2 * int(r))

    return Benchmark(table, steps(), finish)


def _radices(device: Device, n: int, number_bytes: int) -> Iterator[tuple[str, dict[str, Any], int]]:
    """Yield algorithm, options and radix of each row of the table, up to the device's limits."""
    yield from (("stockham", {"radix": value}, value) for value in (2, 4, 8, 16) if value <= n)
    fits = min(device.work_group_limit, device.cl_device.local_mem_size // (2 * number_bytes), n // 2)
    for name, largest in (("workgroup", fits), ("workgroup-coalesced", min(fits, workgroup_coalesced.ITEMS))):
        yield from ((name, {"r": 1 << i}, 2 << i) for i in range(largest.bit_length()))
