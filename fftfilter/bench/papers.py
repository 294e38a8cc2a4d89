"""The tables of papers, on this device, with the published figures where there are some.

stages    the steps of a filter by work-group size: the book's Table 6.1
engines   whole filters by every engine
radix     one long transform by radix: Bainville
sizes     transfers and transforms by size: the stream paper
speedup   a transform by parallel work-items: McCarthy
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..arrays import Array
from ..device.opencl import Device
from ..device_choice import NUMPY
from ..engine import FUSED
from ..filters import Filter
from ..staged import algorithms
from ..staged.algorithms import COALESCED, Algorithm
from ..staged.pipeline import Transform
from ..transfer import highpass
from ..transfer.reference import filter_image
from .measure import MS, Setting, Times, check, complex_numbers, gflops, images, measure, ratio
from .tables import HERE, Lines, Published, Stats, Table

TOO_SLOW = 2.0
"""Seconds of one run; an engine or a column that takes longer is left out at larger sizes."""


def _note_left_out(table: Table, what: Iterable[str]) -> None:
    if names := ", ".join(sorted(what)):
        table.notes.append(f"Left out where a smaller size took more than {TOO_SLOW:g} s: {names}.")


# The book: the steps of a filter against the work-group size

# Milliseconds for a 512 x 512 image against the work-group size. The rows have this program's names of the steps; the
# book calls them membuf write, spinFactor, bitReverse, butterfly, normalize, transpose, highPassFilter, membuf read.
BOOK = Published(
    "The OpenCL Programming Book (Fixstars), Table 6.1",
    "GT200, 2009",
    "a GT200-class GPU of NVIDIA with 30 compute units, December 2009",
    ("1", "16", "32", "64", "128", "256", "512"),
    {
        "write": (0.54, 0.53, 0.36, 0.52, 0.53, 0.54, 0.53),
        "spin_factors": (0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01),
        "bit_reversal": (6.54, 0.60, 0.47, 0.47, 0.49, 0.50, 0.51),
        "butterfly": (37.75, 3.12, 2.87, 3.02, 3.41, 3.60, 3.88),
        "normalize": (2.86, 0.20, 0.12, 0.09, 0.09, 0.10, 0.10),
        "transpose": (2.83, 1.53, 1.49, 1.42, 1.07, 0.95, 0.96),
        "mask": (1.51, 0.10, 0.07, 0.06, 0.06, 0.06, 0.07),
        "read": (0.62, 0.57, 0.57, 0.61, 0.58, 0.56, 0.58),
    },
)

# Work-group sizes: those of the book, and the larger powers of two of other devices.
SIZES = (1, 16, *(1 << i for i in range(5, 20)))


def stages(setting: Setting, *, engine: str = "book", side: int = 512, transpose: str | None = None) -> None:
    """Measure the milliseconds of each step of a high-pass for the work-group sizes that the device allows."""
    sizes = [size for size in SIZES if size <= setting.device.work_group_limit]
    table = setting.table(
        f"Milliseconds of each step against the work-group size: high-pass of {side} x {side}, engine {engine}",
        {"step": "step", "hardware": "on", **{str(size): str(size) for size in sizes}},
        Lines(("step", "hardware"), None, tuple(str(size) for size in sizes), "work-group size", "ms"),
    )
    transfer = highpass()
    image = images(side, side)
    wanted = filter_image(image, transfer.gain(side, side))
    try:
        for size in sizes:
            setting.progress(f"work-group size {size}")
            with setting.profiled(transfer, engine, work_group_size=size, transpose=transpose) as filter_:
                check(engine, filter_.launcher, filter_(image), wanted)

                def work(filter_: Filter = filter_) -> None:
                    filter_.close()  # so that the spin factors are computed in every run, as in the book
                    filter_(image)

                times = measure(filter_.launcher, work, setting.runs)
            for step in times.steps:
                table.put((step, HERE), **{str(size): times.total(step).times(MS)})
            table.put(("all", HERE), **{str(size): times.total(*times.steps).times(MS)})
    finally:
        if engine == "book":
            table.beside(BOOK)


# All engines

SHAPES = ((256, 256), (512, 512), (750, 1000), (1024, 1024))


def engines(setting: Setting, *, shapes: Sequence[tuple[int, int]], names: Sequence[str] = ()) -> None:
    """Measure the milliseconds of a high-pass of images ``(height, width)`` by each engine, by default by all.

    An engine whose run takes over ``TOO_SLOW`` seconds is left out at larger sizes.
    """
    table = setting.table(
        "A high-pass by every engine",
        {name: name for name in ("size", "engine")}
        | {"ms": "ms on the device", "with transfers": "with transfers", "ratio": "times the fastest"},
        Lines(("engine",), "pixels", ("ms",), "pixels", "ms"),
    )
    transfer = highpass()
    slow: set[str] = set()
    try:
        for height, width in sorted(shapes or SHAPES, key=lambda shape: shape[0] * shape[1]):
            size = f"{width} x {height}"
            image = images(height, width)
            wanted = filter_image(image, transfer.gain(height, width))
            for name in names or (FUSED, NUMPY, *algorithms.names()):
                if name in slow:
                    continue
                setting.progress(f"{size}: {name}")
                with setting.profiled(transfer, name) as filter_:
                    check(name, filter_.launcher, filter_(image), wanted)
                    times = measure(filter_.launcher, partial(filter_, image), setting.runs)
                seconds = times.without_transfers()
                if seconds.median > TOO_SLOW:
                    slow.add(name)
                whole = {"with transfers": times.total(*times.steps).times(MS)}
                table.put((size, name), pixels=height * width, ms=seconds.times(MS), **whole)
    finally:
        order = {row["size"]: i for i, row in enumerate(table.rows)}
        medians = {id(row): row["ms"].median for row in table.rows if isinstance(row["ms"], Stats)}
        fastest = {size: min(medians[id(row)] for row in table.rows if row["size"] == size) for size in order}
        for row in table.rows:
            row["ratio"] = ratio(medians[id(row)], fastest[row["size"]])
        table.rows.sort(key=lambda row: (order[row["size"]], row["ratio"]))
        _note_left_out(table, slow)


# Transforms


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
    work = partial(Transform(launcher, algorithm, data.shape, axes).run, data)
    check(what, launcher, work(), wanted)
    return measure(launcher, work, setting.runs)


# Bainville: one long transform against the radix

# Milliseconds and Gflop/s of one work-group per DFT, by r.
_GTX_285 = {1: (3500, 0.57), 2: (1300, 1.5), 4: (560, 3.6), 8: (300, 6.7), 32: (420, 4.8), 128: (685, 2.9)}
_HD_5870 = {1: (8100, 0.25), 2: (3700, 0.54), 4: (2000, 1.0), 8: (1200, 1.7), 32: (810, 2.5), 128: (920, 2.2)}
_PAGE = "E. Bainville, OpenCL Fast Fourier Transform (2010, updated 2011), n = 2^24, single precision"
BAINVILLE = tuple(
    Published(_PAGE, label, hardware, ("radix", "ms", "gflops"), {f"workgroup r={r}": (2 * r, *by_r[r]) for r in by_r})
    for label, hardware, by_r in (
        ("GTX 285, 2010", "GeForce GTX 285", _GTX_285),
        ("HD 5870, 2010", "Radeon HD 5870", _HD_5870),
    )
)


def radix(setting: Setting, *, n: int = 1 << 24) -> None:
    """Measure the time and Gflop/s of one transform of length n, a power of two, for each algorithm and radix."""
    table = setting.table(
        f"One transform of n = {n}: time and Gflop/s (5 n log2 n / time) against the radix",
        {"algorithm": "algorithm", "hardware": "on", "radix": "radix", "ms": "ms", "gflops": "Gflop/s"},
        Lines(("line", "hardware"), "radix", ("gflops",), "radix", "Gflop/s"),
    )
    data = complex_numbers((1, 1, n), setting.launcher().complex)
    wanted = np.fft.fft(data)
    try:
        for name, options, value in _radices(setting.device, n, data.itemsize):
            label = " ".join([name, *(f"{key}={option}" for key, option in options.items())])
            setting.progress(label)
            times = times_of(setting, label, algorithms.load(name, **options), data, wanted)
            seconds = times.without_transfers()
            rate = gflops(n, seconds.median)
            table.put((label, HERE), line=name, radix=value, ms=seconds.times(MS), gflops=rate)
    finally:
        for source in BAINVILLE:
            table.beside(source)


def _radices(device: Device, n: int, number_bytes: int) -> Iterator[tuple[str, dict[str, Any], int]]:
    """Yield the algorithm, options and radix of each row of the table, up to the limits of the device."""
    yield from (("stockham", {"radix": value}, value) for value in (2, 4, 8, 16) if value <= n)
    fits = min(device.work_group_limit, device.cl_device.local_mem_size // (2 * number_bytes), n // 2)
    for name, largest in (("workgroup", fits), ("workgroup-coalesced", min(fits, COALESCED))):
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


def sizes(setting: Setting, *, engine: str = "book", largest: int = 4096) -> None:
    """Measure milliseconds for N = 64, 128 ... ``largest``; a column ends after a run of over ``TOO_SLOW`` seconds."""
    headings = "to device", "from device", "N 1-D of N", "one 1-D of N^2", "one 2-D of N x N"
    columns = dict(zip(STREAM.columns, headings, strict=True))
    table = setting.table(
        f"Milliseconds of transfers and transforms, engine {engine}",
        {"N": "N", "hardware": "on", **columns},
        Lines(("hardware",), "N", tuple(columns), "N", "ms"),
        "Here all numbers are complex; the paper's are real.",
    )
    algorithm = algorithms.load(engine)
    slow: set[str] = set()
    try:
        n = 64
        while n <= largest:
            for column in ("rows", "long", "image"):
                if column in slow:
                    continue
                setting.progress(f"N = {n}: {columns[column]}")
                shape, axes = {"rows": ((1, n, n), 1), "long": ((1, 1, n * n), 1), "image": ((1, n, n), 2)}[column]
                data = complex_numbers(shape, setting.launcher().complex)
                wanted = np.fft.fft2(data) if axes == 2 else np.fft.fft(data)
                times = times_of(setting, f"{engine} at N = {n}", algorithm, data, wanted, axes=axes)
                seconds = times.without_transfers()
                if seconds.median > TOO_SLOW:
                    slow.add(column)
                table.put((n, HERE), **{column: seconds.times(MS)})
                if column == "rows":
                    table.put((n, HERE), write=times.total("write").times(MS), read=times.total("read").times(MS))
            n *= 2
    finally:
        table.beside(STREAM)
        _note_left_out(table, [columns[column] for column in slow])


# McCarthy: the parallel against the sequential transform on the same device


def speedup(setting: Setting, *, n: int = 1 << 14) -> None:
    """Measure the milliseconds and the speedup of one transform of length n by p = 1, 2, 4 ... n work-items."""
    table = setting.table(
        f"Binary exchange by p work-items against one work-item (iterative), one transform of n = {n}",
        {"algorithm": "algorithm", "p": "p", "ms": "ms", "speedup": "speedup"},
        Lines(("algorithm",), "p", ("speedup",), "p, work-items", "speedup", linear=True),
        "Without the bit reversal behind both, which is the same. The paper printed no figures.",
    )
    units = setting.device.cl_device.max_compute_units
    data = complex_numbers((1, 1, n), setting.launcher().complex)
    wanted = np.fft.fft(data)
    setting.progress("iterative")
    algorithm = algorithms.load("iterative")
    sequential = times_of(setting, "iterative", algorithm, data, wanted).total("iterative")
    table.put(("iterative", 1), ms=sequential.times(MS), speedup=1.0)
    p = 1
    while p <= n:
        setting.progress(f"p = {p}")
        # A work-group runs on one compute unit: while there are units left, each work-item has its own.
        group = min(64, setting.device.work_group_limit, max(1, -(-p // units)))
        what, algorithm = f"binary-exchange p={p}", algorithms.load("binary-exchange", p=p)
        times = times_of(setting, what, algorithm, data, wanted, work_group_size=group)
        seconds = times.total("binary_exchange")
        table.put(("binary-exchange", p), ms=seconds.times(MS), speedup=ratio(sequential.median, seconds.median))
        p *= 2
