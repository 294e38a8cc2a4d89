"""Every engine on the same images, with its ratio to the fastest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine import FUSED
from ...staged import algorithms
from ...transfer import highpass
from ...transfer.reference import filter_image
from ..benchmark import MS, SPREAD, TOO_SLOW, Benchmark, left_out
from ..compare import Stats, ratio
from ..inputs import images
from ..measure import check_picture, measure
from ..tables import Lines, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ...filters import Filter
    from ..benchmark import Setting


def engine_names() -> list[str]:
    """Return the names of all engines: fused, and the algorithms of the staged pipeline."""
    return [FUSED, *algorithms.names()]


def engines(
    setting: Setting,
    *,
    shapes: Sequence[tuple[int, int]],
    names: Sequence[str] = (),
    too_slow: float = TOO_SLOW,
) -> Benchmark:
    """Return milliseconds of a high-pass by each engine on images ``(height, width)``, by default by all engines.

    An engine is left out after a run that takes ``too_slow`` seconds.
    """
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
                with setting.filter(transfer, engine=name, precision=setting.precision, profile=True) as filter_:
                    check_picture(name, filter_.launcher, filter_(image), wanted)

                    def work(filter_: Filter = filter_, image: NDArray[Any] = image) -> None:
                        filter_(image)

                    times = measure(filter_.launcher, work, runs=setting.runs)
                seconds = times.without_transfers()
                if seconds.median > too_slow:
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
            table.notes.append(left_out(slow, too_slow))

    return Benchmark(table, steps(), finish)


def _compare(table: Table) -> None:
    """Set each row's ratio to the fastest of its size, and sort the rows of a size by it."""
    order = {row["size"]: i for i, row in enumerate(table.rows)}
    medians = {id(row): row["ms"].median for row in table.rows if isinstance(row["ms"], Stats)}
    fastest = {size: min(medians[id(row)] for row in table.rows if row["size"] == size) for size in order}
    for row in table.rows:
        row["ratio"] = ratio(medians[id(row)], fastest[row["size"]])
    table.rows.sort(key=lambda row: (order[row["size"]], row["ratio"]))
