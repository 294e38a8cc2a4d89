"""The tables of the papers as experiments: which work is measured, in which order.

An experiment fills its table step by step: iterate over ``steps``, which names what is measured next. Stopped
anywhere, the table holds what was measured until then; ``finish`` adds what is computed from that and the
published figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..staged import algorithms
from ..transfer import reference
from ..filters import Filter
from ..device.launcher import Launcher
from ..device.selftest import open_device
from ..transfer.functions import transfer
from ..transforms import Transform
from . import published
from .compare import Stats, gflops, ratio
from .measure import check_picture, check_transform, measure
from .tables import HERE, Lines, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from ..staged.algorithms import Algorithm
    from ..device.device import Device
    from .measure import Times

MS = 1e3
# Whatever took longer than this in one run is not tried at larger sizes.
TOO_SLOW = 2.0
SPREAD = "\u00b1 is half the distance between the quartiles."
# Work-items that share a work-group once there are more of them than compute units.
MOST_SHARED = 64


@dataclass
class Experiment:
    """A table, what fills it, and what completes it."""

    table: Table
    steps: Iterator[str]
    finish: Callable[[], None]


class Setting:
    """The device, the precision and how often each thing is measured."""

    def __init__(self, device: str | None = None, precision: str = "single", runs: int = 9) -> None:
        self.device: Device = open_device(device)
        self.precision = precision
        self.runs = runs

    def launcher(self, work_group_size: int | None = None) -> Launcher:
        """Return a launcher that keeps times."""
        return Launcher(self.device, precision=self.precision, work_group_size=work_group_size, profile=True)

    def about(self) -> dict[str, str]:
        """Return what a reader has to know about any table made here."""
        return {
            "device": f"{self.device.name} ({self.device.platform})",
            "driver": str(self.device.cl_device.driver_version),
            "precision": self.precision,
            "date": datetime.now(UTC).date().isoformat(),
            "fftfilter": __version__,
        }


def stages(setting: Setting, *, engine: str = "book", side: int = 512, transpose: str | None = None) -> Experiment:
    """Return the book's Table 6.1: milliseconds of each process of a filter against the work-group size."""
    limit = setting.device.work_group_limit
    sizes = [size for size in (1, 16, *(1 << i for i in range(5, 20))) if size <= limit]
    table = Table(
        f"Milliseconds of each step against the work-group size: high-pass of {side} x {side}, engine {engine}",
        {"step": "step", "hardware": "on", **{str(size): str(size) for size in sizes}},
        ("step", "hardware"),
        Lines(("step", "hardware"), None, tuple(str(size) for size in sizes), "work-group size", "ms"),
        setting.about(),
        [SPREAD],
    )
    image = _image(side, side)
    wanted = _filtered(image)

    def steps() -> Iterator[str]:
        for size in sizes:
            yield f"work-group size {size}"
            with _filter(setting, engine, work_group_size=size, transpose=transpose) as filter_:
                check_picture(engine, filter_.launcher, filter_(image), wanted)

                def work(filter_: Filter = filter_) -> None:
                    filter_.close()  # so that the spin factors are computed in every run, as in the book
                    filter_(image)

                times = measure(filter_.launcher, work, runs=setting.runs)
            for step in times.steps:
                table.put((step, HERE), **{str(size): times.of(step).times(MS)})
            table.put(("all", HERE), **{str(size): times.of(*times.steps).times(MS)})

    def finish() -> None:
        if engine == "book" and table.rows:
            table.beside(published.BOOK, lambda row: str(row["step"]))

    return Experiment(table, steps(), finish)


def radix(setting: Setting, *, n: int = 1 << 24) -> Experiment:
    """Return Bainville's table: time and Gflop/s of one long row against the radix."""
    table = Table(
        f"One transform of n = {n}: time and Gflop/s (5 n log2 n / time) against the radix",
        {"algorithm": "algorithm", "hardware": "on", "radix": "radix", "ms": "ms", "gflops": "Gflop/s"},
        ("algorithm", "hardware"),
        Lines(("line", "hardware"), "radix", ("gflops",), "radix", "Gflop/s"),
        setting.about(),
        [SPREAD],
    )
    data = _numbers((1, 1, n), setting.launcher().complex)
    wanted = np.fft.fft(data[0, 0])

    def steps() -> Iterator[str]:
        for name, options, value in _radices(setting.device, n, data.itemsize):
            label = " ".join([name, *(f"{key}={option}" for key, option in options.items())])
            yield label
            launcher = setting.launcher()
            transform = Transform(launcher, algorithms.load(name, **options), (1, 1, n), 1)
            times = _checked(label, launcher, transform, data, wanted, runs=setting.runs)
            seconds = times.without()
            table.put(
                (label, HERE),
                line=name,
                radix=value,
                ms=seconds.times(MS),
                gflops=gflops(n, seconds.median),
            )

    def finish() -> None:
        for source in published.RADIX:
            table.beside(source, lambda row: str(row["algorithm"]))
        for row in table.rows:
            name, _, option = str(row["algorithm"]).partition(" r=")
            row.setdefault("line", name)
            if option:
                row.setdefault("radix", 2 * int(option))

    return Experiment(table, steps(), finish)


def sizes(setting: Setting, *, engine: str = "book", largest: int = 4096) -> Experiment:
    """Return the stream paper's table: transfers, N transforms of N, one of N^2, one 2-D of N x N."""
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
    method = algorithms.load(engine)
    slow: set[str] = set()

    def steps() -> Iterator[str]:
        n = 64
        while n <= largest:
            for column in ("rows", "long", "image"):
                if column in slow:
                    continue
                yield f"N = {n}: {columns[column]}"
                times = _sizes_cell(setting, method, column, n)
                seconds = times.without()
                if seconds.median > TOO_SLOW:
                    slow.add(column)
                table.put((n, HERE), **{column: seconds.times(MS)})
                if column == "rows":
                    table.put((n, HERE), write=times.of("write").times(MS), read=times.of("read").times(MS))
            n *= 2

    def finish() -> None:
        table.beside(published.STREAM, lambda row: str(row["N"]))
        if slow:
            table.notes.append(_left_out(sorted(columns[column] for column in slow)))

    return Experiment(table, steps(), finish)


def speedup(setting: Setting, *, n: int = 1 << 14) -> Experiment:
    """Return McCarthy's experiment: the parallel against the sequential transform on the same device."""
    table = Table(
        f"Binary exchange by p work-items against one work-item (iterative), one transform of n = {n}",
        {"algorithm": "algorithm", "p": "p", "ms": "ms", "speedup": "speedup"},
        ("algorithm", "p"),
        Lines(("algorithm",), "p", ("speedup",), "p, work-items", "speedup", linear=True),
        setting.about(),
        [SPREAD, "Without the bit reversal behind both, which is the same. The paper printed no figures."],
    )
    units = setting.device.cl_device.max_compute_units
    data = _numbers((1, 1, n), setting.launcher().complex)
    wanted = np.fft.fft(data[0, 0])

    def steps() -> Iterator[str]:
        yield "iterative"
        launcher = setting.launcher()
        transform = Transform(launcher, algorithms.load("iterative"), (1, 1, n), 1)
        sequential = _checked("iterative", launcher, transform, data, wanted, runs=setting.runs).of("iterative")
        table.put(("iterative", 1), ms=sequential.times(MS), speedup=1.0)
        p = 1
        while p <= n:
            yield f"p = {p}"
            # Work-items of a group run on one compute unit: as long as there are units left, each has its own.
            launcher = setting.launcher(min(MOST_SHARED, setting.device.work_group_limit, max(1, -(-p // units))))
            transform = Transform(launcher, algorithms.load("binary-exchange", p=p), (1, 1, n), 1)
            times = _checked(f"binary-exchange p={p}", launcher, transform, data, wanted, runs=setting.runs)
            seconds = times.of("binary_exchange")
            table.put(("binary-exchange", p), ms=seconds.times(MS), speedup=ratio(sequential.median, seconds.median))
            p *= 2

    return Experiment(table, steps(), lambda: None)


def engines(setting: Setting, *, shapes: Sequence[tuple[int, int]], names: Sequence[str] = ()) -> Experiment:
    """Return every engine on the same images, (height, width): the filter's time, and its ratio to the fastest."""
    table = Table(
        "A high-pass by every engine",
        {
            "size": "size",
            "engine": "engine",
            "ms": "ms on the device",
            "with transfers": "with transfers",
            "ratio": "times the fastest",
        },
        ("size", "engine"),
        Lines(("engine",), "pixels", ("ms",), "pixels", "ms"),
        setting.about(),
        [SPREAD],
    )
    slow: set[str] = set()

    def steps() -> Iterator[str]:
        for height, width in sorted(shapes, key=lambda shape: shape[0] * shape[1]):
            size = f"{width} x {height}"
            image = _image(height, width)
            wanted = _filtered(image)
            for name in names or engine_names():
                if name in slow:
                    continue
                yield f"{size}: {name}"
                with _filter(setting, name) as filter_:
                    check_picture(name, filter_.launcher, filter_(image), wanted)

                    def work(filter_: Filter = filter_, image: NDArray[Any] = image) -> None:
                        filter_(image)

                    times = measure(filter_.launcher, work, runs=setting.runs)
                seconds = times.without()
                if seconds.median > TOO_SLOW:
                    slow.add(name)
                whole = times.of(*times.steps)
                table.put(
                    (size, name),
                    pixels=height * width,
                    ms=seconds.times(MS),
                    **{"with transfers": whole.times(MS)},
                )

    def finish() -> None:
        _compare(table)
        if slow:
            table.notes.append(_left_out(sorted(slow)))

    return Experiment(table, steps(), finish)


def _compare(table: Table) -> None:
    """Put each row's ratio to the fastest of its size, and the fastest first."""
    order = {row["size"]: i for i, row in enumerate(table.rows)}
    medians = {id(row): row["ms"].median for row in table.rows if isinstance(row["ms"], Stats)}
    best = {size: min(medians[id(row)] for row in table.rows if row["size"] == size) for size in order}
    for row in table.rows:
        row["ratio"] = ratio(medians[id(row)], best[row["size"]])
    table.rows.sort(key=lambda row: (order[row["size"]], row["ratio"]))


def _radices(device: Device, n: int, number_bytes: int) -> Iterator[tuple[str, dict[str, Any], int]]:
    """Yield algorithm, options and radix of everything that the table of radices has, up to the device's limits."""
    yield from (("stockham", {"radix": value}, value) for value in (2, 4, 8, 16) if value <= n)
    fits = min(device.work_group_limit, device.cl_device.local_mem_size // (2 * number_bytes), n // 2)
    for name, most in (("workgroup", fits), ("workgroup-coalesced", min(fits, 256))):
        yield from ((name, {"r": 1 << i}, 2 << i) for i in range(most.bit_length()))


def engine_names() -> list[str]:
    """Return the names of all engines: the algorithms, and the fused one where it is there."""
    return [*(["fused"] if find_spec("fftfilter.fused") else []), *algorithms.names()]


def _sizes_cell(setting: Setting, method: Algorithm, column: str, n: int) -> Times:
    """Measure one column of the table of sizes; rows with the transfers."""
    shape, axes = {"rows": ((1, n, n), 1), "long": ((1, 1, n * n), 1), "image": ((1, n, n), 2)}[column]
    launcher = setting.launcher()
    data = _numbers(shape, launcher.complex)
    wanted = np.fft.fft2(data) if axes == 2 else np.fft.fft(data)
    transform = Transform(launcher, method, shape, axes)
    return _checked(f"{method.name} at N = {n}", launcher, transform, data, wanted, runs=setting.runs)


def _checked(
    what: str,
    launcher: Launcher,
    transform: Transform,
    data: NDArray[Any],
    wanted: NDArray[Any],
    *,
    runs: int,
) -> Times:
    """Return the times of a transform whose result is right; raises RefusedError if it is not."""
    wanted = wanted.reshape(data.shape)

    def work() -> NDArray[Any]:
        # Loaded in every run: a transform of a transform of ... leaves the range of numbers.
        transform.load(data)
        transform.run()
        return transform.result()

    check_transform(what, launcher, work(), wanted, data.shape[-1])
    return measure(launcher, work, runs=runs)


def _filter(setting: Setting, engine: str, **options: Any) -> Filter:
    return Filter(
        "highpass",
        engine=engine,
        device=str(setting.device.index),
        precision=setting.precision,
        profile=True,
        **options,
    )


def _image(height: int, width: int) -> NDArray[np.uint8]:
    return np.random.default_rng(61).integers(0, 256, (height, width), dtype=np.uint8)


def _filtered(image: NDArray[np.uint8]) -> NDArray[Any]:
    height, width = image.shape
    return reference.filter_image(image, transfer("highpass").gain(height, width))


def _numbers(shape: tuple[int, int, int], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return random complex numbers, the same every time."""
    rng = np.random.default_rng(61)
    real = np.float32 if dtype == np.complex64 else np.float64
    parts = rng.standard_normal((*shape[:-1], 2 * shape[-1]), dtype=real)
    return parts.view(dtype)


def _left_out(what: Sequence[str]) -> str:
    return f"Left out where a smaller size took more than {TOO_SLOW:g} s: {', '.join(what)}."
