"""Tables of whole filters: the steps of the book's Table 6.1, and all engines."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..engine import FUSED
from ..staged import algorithms
from ..transfer import highpass
from ..transfer.reference import filter_image
from .benchmark import TOO_SLOW, Benchmark, images, left_out
from .measure import MS, Stats, check_picture, measure, ratio
from .tables import HERE, Lines, Published, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..filters import Filter
    from .benchmark import Setting

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


def stages(setting: Setting, *, engine: str = "book", side: int = 512, transpose: str | None = None) -> Benchmark:
    """Return the milliseconds of each step of a high-pass for the work-group sizes that the device allows."""
    sizes = [size for size in SIZES if size <= setting.device.work_group_limit]
    table = setting.table(
        f"Milliseconds of each step against the work-group size: high-pass of {side} x {side}, engine {engine}",
        {"step": "step", "hardware": "on", **{str(size): str(size) for size in sizes}},
        ("step", "hardware"),
        Lines(("step", "hardware"), None, tuple(str(size) for size in sizes), "work-group size", "ms"),
    )
    transfer = highpass()
    image = images(side, side)
    wanted = filter_image(image, transfer.gain(side, side))

    def steps() -> Iterator[str]:
        for size in sizes:
            yield f"work-group size {size}"
            with setting.profiled(transfer, engine, work_group_size=size, transpose=transpose) as filter_:
                check_picture(engine, filter_.launcher, filter_(image), wanted)

                def work(filter_: Filter = filter_) -> None:
                    filter_.close()  # so that the spin factors are computed in every run, as in the book
                    filter_(image)

                times = measure(filter_.launcher, work, runs=setting.runs)
            for step in times.steps:
                table.put((step, HERE), **{str(size): times.of(step).times(MS)})
            table.put(("all", HERE), **{str(size): times.of(*times.steps).times(MS)})

    return Benchmark(table, steps(), lambda: table.beside(BOOK) if engine == "book" else None)


def engine_names() -> list[str]:
    """Return the names of all engines: fused, and the algorithms of the staged pipeline."""
    return [FUSED, *algorithms.names()]


def engines(setting: Setting, *, shapes: Sequence[tuple[int, int]], names: Sequence[str] = ()) -> Benchmark:
    """Return the milliseconds of a high-pass of images ``(height, width)`` by each engine, by default by all.

    An engine whose run takes over ``TOO_SLOW`` seconds is left out at larger sizes.
    """
    table = setting.table(
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
    )
    transfer = highpass()
    slow: set[str] = set()

    def steps() -> Iterator[str]:
        for height, width in sorted(shapes, key=lambda shape: shape[0] * shape[1]):
            size = f"{width} x {height}"
            image = images(height, width)
            wanted = filter_image(image, transfer.gain(height, width))
            for name in names or engine_names():
                if name in slow:
                    continue
                yield f"{size}: {name}"
                with setting.profiled(transfer, name) as filter_:
                    check_picture(name, filter_.launcher, filter_(image), wanted)
                    times = measure(filter_.launcher, partial(filter_, image), runs=setting.runs)
                seconds = times.without_transfers()
                if seconds.median > TOO_SLOW:
                    slow.add(name)
                whole = {"with transfers": times.of(*times.steps).times(MS)}
                table.put((size, name), pixels=height * width, ms=seconds.times(MS), **whole)

    def finish() -> None:
        _set_ratios(table)
        if slow:
            table.notes.append(left_out(slow))

    return Benchmark(table, steps(), finish)


def _set_ratios(table: Table) -> None:
    """Set each row's ratio to the fastest of its size, and sort the rows of a size by it."""
    order = {row["size"]: i for i, row in enumerate(table.rows)}
    medians = {id(row): row["ms"].median for row in table.rows if isinstance(row["ms"], Stats)}
    fastest = {size: min(medians[id(row)] for row in table.rows if row["size"] == size) for size in order}
    for row in table.rows:
        row["ratio"] = ratio(medians[id(row)], fastest[row["size"]])
    table.rows.sort(key=lambda row: (order[row["size"]], row["ratio"]))
