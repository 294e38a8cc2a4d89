"""The stream paper's table: transfers, N transforms of N, one of N^2 and one 2-D of N x N."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...staged import algorithms
from ...staged.transform import Transform
from ..benchmark import MS, SPREAD, TOO_SLOW, Benchmark, left_out
from ..inputs import complex_numbers
from ..measure import measure_transform
from ..published import Published, by_column
from ..tables import HERE, Lines, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...staged.algorithms import Algorithm
    from ..benchmark import Setting
    from ..measure import Times

# Milliseconds for real sequences: transfers, N 1-D transforms of N, one 1-D of N^2, one 2-D of N x N.
STREAM = Published(
    "Marichal-Hernandez, Rosa, Rodriguez-Ramos, Efficient implementation of the FFT on a stream-programmed GPU "
    "(2005), Table 1",
    "FX 5900 XT, 2005",
    "GeForce FX 5900 XT (nv35), BrookGPU, AGP 8x",
    by_column(
        ("write", "read", "rows", "long", "image"),
        {
            "64": (0.02, 0.16, 0.96, 1.71, 1.85),
            "128": (0.07, 0.58, 1.2, 2.0, 2.9),
            "256": (0.37, 1.6, 2.8, 4.5, 6.5),
            "512": (1.7, 5.8, 9.2, 17.9, 22.6),
            "1024": (7.2, 23.2, 39, 99, 121),
        },
    ),
)
SMALLEST = 64


def sizes(setting: Setting, *, engine: str = "book", largest: int = 4096, too_slow: float = TOO_SLOW) -> Benchmark:
    """Return milliseconds by N = 64, 128 ... ``largest``; a column ends where a run takes ``too_slow`` seconds."""
    columns = {
        "write": "to device",
        "read": "from device",
        "rows": "N 1-D of N",
        "long": "one 1-D of N^2",
        "image": "one 2-D of N x N",
    }
    table = Table(
        f"Milliseconds of transfers and transforms, engine {engine}",
        {"N": "N", "hardware": "on", **columns},
        ("N", "hardware"),
        Lines(("hardware",), "N", tuple(columns), "N", "ms"),
        setting.about(),
        [SPREAD, "Here all numbers are complex; the paper's are real."],
    )
    algorithm = algorithms.load(engine)
    slow: set[str] = set()

    def steps() -> Iterator[str]:
        n = SMALLEST
        while n <= largest:
            for column in ("rows", "long", "image"):
                if column in slow:
                    continue
                yield f"N = {n}: {columns[column]}"
                times = _measured(setting, algorithm, column, n)
                seconds = times.without_transfers()
                if seconds.median > too_slow:
                    slow.add(column)
                table.put((n, HERE), **{column: seconds.times(MS)})
                if column == "rows":
                    table.put((n, HERE), write=times.of("write").times(MS), read=times.of("read").times(MS))
            n *= 2

    def finish() -> None:
        table.beside(STREAM, lambda row: str(row["N"]))
        if slow:
            table.notes.append(left_out((columns[column] for column in slow), too_slow))

    return Benchmark(table, steps(), finish)


def _measured(setting: Setting, algorithm: Algorithm, column: str, n: int) -> Times:
    """Return the times of one column."""
    shape, axes = {"rows": ((1, n, n), 1), "long": ((1, 1, n * n), 1), "image": ((1, n, n), 2)}[column]
    launcher = setting.launcher()
    data = complex_numbers(shape, launcher.complex)
    wanted = np.fft.fft2(data) if axes == 2 else np.fft.fft(data)
    transform = Transform(launcher, algorithm, shape, axes)
    return measure_transform(f"{algorithm.name} at N = {n}", launcher, transform, data, wanted, runs=setting.runs)
