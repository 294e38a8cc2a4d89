"""``python -m benchmarks.png_levels``: time and size of each level of PNG's compression."""

from __future__ import annotations

import io
from time import perf_counter
from typing import TYPE_CHECKING

import click
from PIL import Image

from fftfilter.bench import Lines, Stats, Table
from fftfilter.bench.measure import MS, SPREAD
from fftfilter.images import Coding, Picture
from fftfilter.images.writing import encode
from fftfilter.transfer import highpass

from .command import benchmark_command, main
from .photographs import photograph

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from fftfilter.bench.measure import Setting

    Gray = NDArray[np.uint8]

PICTURES = 8
LEVELS = range(10)


@benchmark_command
@click.option(
    "--side",
    type=click.IntRange(min=1),
    metavar="N",
    default=512,
    show_default=True,
    help="Side of the square pictures.",
)
def command(setting: Setting, *, side: int) -> None:
    """Measure time and size of high-passed photographs for each --png-level, and Pillow's beside them.

    \b
    Example: python -m benchmarks.png_levels
    """
    png_levels(setting, side=side)


def png_levels(setting: Setting, *, side: int = 512, pictures: int = PICTURES) -> None:
    """Measure milliseconds and size of high-passed pictures ``(side, side)`` by level, and Pillow's beside them."""
    table = setting.made = Table(
        f"PNG by level: high-passed photographs of {side} x {side}, on one core",
        {"level": "level", "ms": "ms", "kb": "kB", "pillow_ms": "Pillow, ms", "pillow_kb": "Pillow, kB"},
        Lines((), "level", ("ms", "pillow_ms"), "level", "ms"),
        setting.about(),
        [SPREAD],
    )
    with setting.filter(highpass()) as filter_:
        filtered = [filter_(photograph(i, side)) for i in range(pictures)]
    for level in LEVELS:
        setting.progress(f"level {level}")
        ms, kb = _measured(_ours, level, filtered, setting.runs)
        pillow_ms, pillow_kb = _measured(_pillow, level, filtered, setting.runs)
        table.put((level,), ms=ms, kb=kb, pillow_ms=pillow_ms, pillow_kb=pillow_kb)


def _measured(
    encoded_bytes: Callable[[Gray, int], int], level: int, pictures: Sequence[Gray], runs: int
) -> tuple[Stats, float]:
    """Measure the milliseconds and the mean size in kB of a picture."""
    size = sum(encoded_bytes(pixels, level) for pixels in pictures) / len(pictures) / 1e3
    seconds = []
    for _ in range(runs):
        begin = perf_counter()
        for pixels in pictures:
            encoded_bytes(pixels, level)
        seconds.append((perf_counter() - begin) / len(pictures))
    return Stats.from_values(seconds).times(MS), size


def _ours(pixels: Gray, level: int) -> int:
    return sum(len(part) for part in encode(Picture(pixels[None], None, 255, "PNG"), ".png", Coding(level)))


def _pillow(pixels: Gray, level: int) -> int:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", compress_level=level)
    return file.tell()


if __name__ == "__main__":
    main(command)
