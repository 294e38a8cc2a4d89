"""Tables of transforms: radix (Bainville), sizes (the stream paper), speedup by parallel work-items (McCarthy)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..staged import algorithms
from ..staged.algorithms import workgroup_coalesced
from ..staged.transform import Transform
from .benchmark import TOO_SLOW, Benchmark, complex_numbers, left_out
from .measure import MS, check_transform, gflops, measure, ratio
from .tables import HERE, Lines, Published

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..arrays import Array
    from ..device.choice import Device
    from ..staged.algorithms import Algorithm
    from .benchmark import Setting
    from .measure import Times


def times_of(
    setting: Setting,
    what: str,
    algorithm: Algorithm,
    data: Array,
    wanted: Array,
    *,
    axes: int = 1,
    work_group_size: int | None = None,
) -> Times:
    """Return the times of a transform with its transfers; raises RefusedError if the result is not ``wanted``."""
    launcher = setting.launcher(work_group_size)
    transform = Transform(launcher, algorithm, data.shape, axes)

    def work() -> Array:
        # Loaded in every run: repeated transforms of one array would overflow.
        transform.load(data)
        transform.run()
        return transform.result()

    check_transform(what, launcher, work(), wanted, data.shape[-1])
    return measure(launcher, work, runs=setting.runs)


# Bainville: one long transform against the radix

# Milliseconds and Gflop/s of one work-group per DFT, by r.
_GTX_285 = {1: (3500, 0.57), 2: (1300, 1.5), 4: (560, 3.6), 8: (300, 6.7), 32: (420, 4.8), 128: (685, 2.9)}
_HD_5870 = {1: (8100, 0.25), 2: (3700, 0.54), 4: (2000, 1.0), 8: (1200, 1.7), 32: (810, 2.5), 128: (920, 2.2)}
BAINVILLE = tuple(
    Published(
        "E. Bainville, OpenCL Fast Fourier Transform (2010, updated 2011), n = 2^24, single precision",
        label,
        hardware,
        ("ms", "gflops"),
        {f"workgroup r={r}": figures for r, figures in by_r.items()},
    )
    for label, hardware, by_r in (
        ("GTX 285, 2010", "GeForce GTX 285", _GTX_285),
        ("HD 5870, 2010", "Radeon HD 5870", _HD_5870),
    )
)


def radix(setting: Setting, *, n: int = 1 << 24) -> Benchmark:
    """Return the time and Gflop/s of one transform of length n, a power of two, for each algorithm and radix."""
    table = setting.table(
        f"One transform of n = {n}: time and Gflop/s (5 n log2 n / time) against the radix",
        {"algorithm": "algorithm", "hardware": "on", "radix": "radix", "ms": "ms", "gflops": "Gflop/s"},
        ("algorithm", "hardware"),
        Lines(("line", "hardware"), "radix", ("gflops",), "radix", "Gflop/s"),
    )
    data = complex_numbers((1, 1, n), setting.launcher().complex)
    wanted = np.fft.fft(data)

    def steps() -> Iterator[str]:
        for name, options, value in _radices(setting.device, n, data.itemsize):
            label = " ".join([name, *(f"{key}={option}" for key, option in options.items())])
            yield label
            times = times_of(setting, label, algorithms.load(name, **options), data, wanted)
            seconds = times.without_transfers()
            rate = gflops(n, seconds.median)
            table.put((label, HERE), line=name, radix=value, ms=seconds.times(MS), gflops=rate)

    def finish() -> None:
        for source in BAINVILLE:
            table.beside(source)
        for row in table.rows:  # the published ones have no radix yet
            name, _, r = str(row["algorithm"]).partition(" r=")
            row.setdefault("line", name)
            if r:
                row.setdefault("radix", 2 * int(r))

    return Benchmark(table, steps(), finish)


def _radices(device: Device, n: int, number_bytes: int) -> Iterator[tuple[str, dict[str, Any], int]]:
    """Yield the algorithm, options and radix of each row of the table, up to the limits of the device."""
    yield from (("stockham", {"radix": value}, value) for value in (2, 4, 8, 16) if value <= n)
    fits = min(device.work_group_limit, device.cl_device.local_mem_size // (2 * number_bytes), n // 2)
    for name, largest in (("workgroup", fits), ("workgroup-coalesced", min(fits, workgroup_coalesced.ITEMS))):
        yield from ((name, {"r": 1 << i}, 2 << i) for i in range(largest.bit_length()))


# The stream paper: transfers, N transforms of N, one of N^2 and one 2-D of N x N

# Milliseconds for real sequences: transfers, N 1-D transforms of N, one 1-D of N^2, one 2-D of N x N.
STREAM = Published(
    "Marichal-Hernandez, Rosa, Rodriguez-Ramos, Efficient implementation of the FFT on a stream-programmed GPU "
    "(2005), Table 1",
    "FX 5900 XT, 2005",
    "GeForce FX 5900 XT (nv35), BrookGPU, AGP 8x",
    ("write", "read", "rows", "long", "image"),
    {
        "64": (0.02, 0.16, 0.96, 1.71, 1.85),
        "128": (0.07, 0.58, 1.2, 2.0, 2.9),
        "256": (0.37, 1.6, 2.8, 4.5, 6.5),
        "512": (1.7, 5.8, 9.2, 17.9, 22.6),
        "1024": (7.2, 23.2, 39, 99, 121),
    },
)
SMALLEST = 64


def sizes(setting: Setting, *, engine: str = "book", largest: int = 4096) -> Benchmark:
    """Return milliseconds for N = 64, 128 ... ``largest``; a column ends after a run of over ``TOO_SLOW`` seconds."""
    columns = {
        "write": "to device",
        "read": "from device",
        "rows": "N 1-D of N",
        "long": "one 1-D of N^2",
        "image": "one 2-D of N x N",
    }
    table = setting.table(
        f"Milliseconds of transfers and transforms, engine {engine}",
        {"N": "N", "hardware": "on", **columns},
        ("N", "hardware"),
        Lines(("hardware",), "N", tuple(columns), "N", "ms"),
        "Here all numbers are complex; the paper's are real.",
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
                shape, axes = {"rows": ((1, n, n), 1), "long": ((1, 1, n * n), 1), "image": ((1, n, n), 2)}[column]
                data = complex_numbers(shape, setting.launcher().complex)
                wanted = np.fft.fft2(data) if axes == 2 else np.fft.fft(data)
                times = times_of(setting, f"{engine} at N = {n}", algorithm, data, wanted, axes=axes)
                seconds = times.without_transfers()
                if seconds.median > TOO_SLOW:
                    slow.add(column)
                table.put((n, HERE), **{column: seconds.times(MS)})
                if column == "rows":
                    table.put((n, HERE), write=times.of("write").times(MS), read=times.of("read").times(MS))
            n *= 2

    def finish() -> None:
        table.beside(STREAM)
        if slow:
            table.notes.append(left_out(columns[column] for column in slow))

    return Benchmark(table, steps(), finish)


# McCarthy: the parallel against the sequential transform on the same device

# The largest work-group, once there are more work-items than compute units.
LARGEST_GROUP = 64


def speedup(setting: Setting, *, n: int = 1 << 14) -> Benchmark:
    """Return the milliseconds and the speedup of one transform of length n by p = 1, 2, 4 ... n work-items."""
    table = setting.table(
        f"Binary exchange by p work-items against one work-item (iterative), one transform of n = {n}",
        {"algorithm": "algorithm", "p": "p", "ms": "ms", "speedup": "speedup"},
        ("algorithm", "p"),
        Lines(("algorithm",), "p", ("speedup",), "p, work-items", "speedup", linear=True),
        "Without the bit reversal behind both, which is the same. The paper printed no figures.",
    )
    units = setting.device.cl_device.max_compute_units
    data = complex_numbers((1, 1, n), setting.launcher().complex)
    wanted = np.fft.fft(data)

    def steps() -> Iterator[str]:
        yield "iterative"
        algorithm = algorithms.load("iterative")
        sequential = times_of(setting, "iterative", algorithm, data, wanted).of("iterative")
        table.put(("iterative", 1), ms=sequential.times(MS), speedup=1.0)
        p = 1
        while p <= n:
            yield f"p = {p}"
            # A work-group runs on one compute unit: while there are units left, each work-item has its own.
            group = min(LARGEST_GROUP, setting.device.work_group_limit, max(1, -(-p // units)))
            what, algorithm = f"binary-exchange p={p}", algorithms.load("binary-exchange", p=p)
            times = times_of(setting, what, algorithm, data, wanted, work_group_size=group)
            seconds = times.of("binary_exchange")
            table.put(("binary-exchange", p), ms=seconds.times(MS), speedup=ratio(sequential.median, seconds.median))
            p *= 2

    return Benchmark(table, steps())
