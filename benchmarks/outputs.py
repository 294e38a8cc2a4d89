"""``python -m benchmarks.outputs``: every output, scale and edge beside the magnitude with its own range."""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from fftfilter import transfer
from fftfilter.bench import Lines, Table
from fftfilter.bench.measure import MS, SPREAD, ratio

from .beside import in_turn, shown_size
from .command import benchmark_command, main, size_option
from .photographs import photograph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fftfilter.bench.measure import Setting
    from fftfilter.filters import Filter
    from fftfilter.transfer import Transfer

# Calls of each, in turn: other programs take part of the time, so that few say little.
CALLS = 25
SIDES = (512, 1024, 2048, 4096)
RANGE = (5, 40)


class Way(NamedTuple):
    """Options of a filter, and the name of the way that it is compared with."""

    transfer: Transfer
    options: dict[str, Any]
    beside: str


EVEN, SLANTED = transfer.highpass(), transfer.highpass() * transfer.notch((0.2, 0.13))
WAYS = {
    "magnitude": Way(EVEN, {}, "magnitude"),
    "keep": Way(EVEN, {"output": "keep"}, "magnitude"),
    "signed": Way(EVEN, {"output": "signed"}, "magnitude"),
    "real": Way(EVEN, {"output": "real"}, "magnitude"),
    "LO:HI": Way(EVEN, {"scale": RANGE}, "magnitude"),
    "auto": Way(EVEN, {"scale": "auto"}, "magnitude"),
    "signed auto": Way(EVEN, {"output": "signed", "scale": "auto"}, "magnitude"),
    "mirror": Way(EVEN, {"edges": "mirror"}, "magnitude"),
    "slanted": Way(SLANTED, {}, "slanted"),
    "slanted mirror": Way(SLANTED, {"edges": "mirror"}, "slanted"),
    "stripes": Way(transfer.stripes(33), {}, "stripes"),
    "stripes mirror": Way(transfer.stripes(33), {"edges": "mirror"}, "stripes"),
}


@benchmark_command
@size_option("512x512, 1024x1024, 2048x2048, 4096x4096")
def command(setting: Setting, *, shapes: tuple[tuple[int, int], ...]) -> None:
    """Time every output, scale and edge beside the magnitude with its own range, and slanted filters beside wrap.

    Calls from an array to an array in the host's memory, wall time.

    \b
    Example: python -m benchmarks.outputs
             python -m benchmarks.outputs --size 1920x1080
    """
    outputs(setting, shapes=shapes)


def outputs(setting: Setting, *, shapes: Sequence[tuple[int, int]] = (), calls: int = CALLS) -> None:
    """Return the time of a call in each way, for images ``(height, width)``."""
    table = setting.made = Table(
        "Milliseconds of a call, and times the magnitude with wrapped edges of the same filter",
        {"size": "size", "way": "way", "ms": "call", "ratio": "ratio"},
        Lines(("way",), "pixels", ("ms",), "pixels", "ms"),
        setting.about(),
        [SPREAD, "Slanted is a high-pass times a notch, stripes run at 33 degrees: neither is even along each axis."],
    )
    for height, width in shapes or [(side, side) for side in SIDES]:
        size = shown_size((1, height, width))
        setting.progress(size)
        image = photograph(0, max(height, width))[:height, :width].copy()
        filters = {name: setting.filter(way.transfer, **way.options) for name, way in WAYS.items()}
        works = {name: partial(_seconds, made, image) for name, made in filters.items()}
        in_turn(works, 2)  # to warm up
        stats = in_turn(works, calls * setting.runs)
        for made in filters.values():
            made.close()
        for name, each in stats.items():
            beside = stats[WAYS[name].beside].median
            table.put((size, name), pixels=height * width, ms=each.times(MS), ratio=ratio(each.median, beside))


def _seconds(filter_: Filter, image: Any) -> float:
    """Return the seconds of a call."""
    begin = perf_counter()
    filter_(image)
    return perf_counter() - begin


if __name__ == "__main__":
    main(command)
