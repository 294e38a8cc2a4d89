"""What each level of PNG's compression costs and saves, for photographs behind a filter."""

from __future__ import annotations

import io
from time import perf_counter
from typing import TYPE_CHECKING

from PIL import Image

from ..filters import Filter
from ..images.writing import encode
from .compare import Stats
from .experiments import MS, SPREAD, Experiment
from .photographs import photograph
from .tables import Lines, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from .experiments import Setting

    Gray = NDArray[np.uint8]

PICTURES = 8
LEVELS = range(10)


def png_levels(setting: Setting, *, side: int = 512) -> Experiment:
    """Return milliseconds and size of high-passed pictures ``(side, side)`` by level, and Pillow's beside them."""
    table = Table(
        f"PNG by level: high-passed photographs of {side} x {side}, on one core",
        {"level": "level", "ms": "ms", "kb": "kB", "pillow_ms": "Pillow, ms", "pillow_kb": "Pillow, kB"},
        ("level",),
        Lines((), "level", ("ms", "pillow_ms"), "level", "ms"),
        setting.about(),
        [SPREAD],
    )

    def steps() -> Iterator[str]:
        with Filter("highpass", device=str(setting.device.index)) as filter_:
            pictures = [filter_(photograph(i, side)) for i in range(PICTURES)]
        for level in LEVELS:
            yield f"level {level}"
            ms, kb = _measured(_ours, level, pictures, setting.runs)
            pillow_ms, pillow_kb = _measured(_pillow, level, pictures, setting.runs)
            table.put((level,), ms=ms, kb=kb, pillow_ms=pillow_ms, pillow_kb=pillow_kb)

    return Experiment(table, steps(), lambda: None)


def _measured(
    encode_one: Callable[[Gray, int], int], level: int, pictures: Sequence[Gray], runs: int
) -> tuple[Stats, float]:
    """Return the milliseconds and the mean size in kB of a picture."""
    size = sum(encode_one(pixels, level) for pixels in pictures) / len(pictures) / 1e3
    seconds = []
    for _ in range(runs):
        begin = perf_counter()
        for pixels in pictures:
            encode_one(pixels, level)
        seconds.append((perf_counter() - begin) / len(pictures))
    return Stats.of(seconds).times(MS), size


def _ours(pixels: Gray, level: int) -> int:
    return sum(len(part) for part in encode(pixels[None], None, 255, ".png", png_level=level, metadata=None))


def _pillow(pixels: Gray, level: int) -> int:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", compress_level=level)
    return file.tell()
