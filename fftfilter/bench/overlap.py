"""A stream of pictures beside its parts: copying in, filtering and copying out, each alone. Wall time."""

from __future__ import annotations

from collections import deque
from itertools import repeat
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..filters import Filter
from ..fused import fused
from ..device.launcher import Launcher
from ..transfer.reference import filter_image
from ..transfer.functions import transfer
from .compare import Stats, ratio
from .experiments import MS, SPREAD, Experiment
from .measure import check_picture
from .tables import Lines, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .experiments import Setting

    Array = np.ndarray[Any, Any]
    # Does something so many times and waits for it once.
    Job = Callable[[int], object]

# Seconds that one measurement takes, long beside the pictures at the stream's ends, which have nothing to overlap with.
SECONDS = 0.1
WARM = 8
PARTS = {"in": "copy in", "filter": "filter", "out": "copy out"}
BOTH = {"both": "in and out"}
STREAMS = {"locked": "stream", "any": "stream of any arrays", "calls": "calls"}
# What a stream cannot be faster than.
SLOWER = ("both", "filter")
JUDGED = {"target": "target", "reached": "reached"}
Shape = tuple[int, int, int]
# How much longer a stream on a GPU may take.
TARGET = 1.1
SHAPES: tuple[Shape, ...] = ((32, 512, 512), (1, 2048, 2048), (1, 4096, 4096), (1, 8192, 8192))


def overlap(setting: Setting, *, shapes: Sequence[Shape] = ()) -> Experiment:
    """Return what a stream takes for each stack ``(count, height, width)``, and its parts."""
    gpu = setting.device.is_gpu
    note = (
        "In and out: both copies at the same time. A stream is made of arrays of Filter.empty, or of any; calls do one "
        "thing after the other. Ratio: the stream to the slower of both copies and the filter."
    )
    if not gpu:
        note = "The device works on the host's arrays themselves: a stream is calls, and the ratio is to those."
    table = Table(
        "Milliseconds of a stack in a stream, 8-bit pictures to 8-bit pictures, and of its parts alone",
        {"size": "size", **(PARTS | BOTH if gpu else {}), **STREAMS, "ratio": "ratio", **(JUDGED if gpu else {})},
        ("size",),
        Lines((), "pixels", (*PARTS, *BOTH, *STREAMS), "pixels", "ms"),
        setting.about(),
        [SPREAD, note],
    )

    def steps() -> Iterator[str]:
        for shape in shapes or SHAPES:
            count, height, width = shape
            size = f"{width} x {height}" if count == 1 else f"{count} of {width} x {height}"
            yield size
            jobs = _jobs(setting, shape)
            # A stream takes its memory with its first stacks: they do not tell how many fill the time.
            for job in jobs.values():
                job(WARM)
            repeats = {name: max(3, round(SECONDS / _time(job, WARM))) for name, job in jobs.items()}
            seconds: dict[str, list[float]] = {name: [] for name in jobs}
            for _ in range(setting.runs):
                for name, job in jobs.items():
                    seconds[name].append(_time(job, repeats[name]))
            stats = {name: Stats.of(each) for name, each in seconds.items()}
            slowest = max(stats[name].median for name in (SLOWER if gpu else ["calls"]))
            times = ratio(stats["locked"].median, slowest)
            judged = {"target": TARGET, "reached": "yes" if times <= TARGET else "no"} if gpu else {}
            cells = {name: each.times(MS) for name, each in stats.items()}
            table.put((size,), pixels=count * height * width, ratio=times, **cells, **judged)

    return Experiment(table, steps(), lambda: None)


def _jobs(setting: Setting, shape: Shape) -> dict[str, Job]:
    """Return what is timed, its result checked."""
    filter_ = Filter("highpass", device=str(setting.device.index))
    stack = np.random.default_rng(61).integers(0, 256, shape, dtype=np.uint8)
    locked = filter_.empty(shape)
    locked[...] = stack
    wanted = filter_image(stack[0], transfer("highpass").gain(*shape[1:]))
    check_picture("the stream", filter_.launcher, next(filter_.stream([locked]))[0], wanted)

    def calls(times: int) -> None:
        for _ in range(times):
            filter_(stack)

    def stream(of: Array) -> Job:
        # No result is kept, as by a consumer that keeps up.
        return lambda times: deque(filter_.stream(repeat(of, times)), maxlen=0)

    jobs = _parts(setting, locked) if setting.device.is_gpu else {}
    return jobs | {"locked": stream(locked), "any": stream(stack), "calls": calls}


def _parts(setting: Setting, locked: Array) -> dict[str, Job]:
    launcher, pixel = Launcher(setting.device), locked.dtype
    pipeline: Any = fused(launcher, locked.shape, pixel, transfer("highpass"), out=pixel, levels=255)
    image, output = launcher.allocate(locked.nbytes), launcher.allocate(locked.nbytes)
    target = launcher.page_locked(locked.nbytes)
    launcher.write(image, locked)

    down = Launcher(setting.device)

    def copy_in() -> object:
        return launcher.write(image, locked, wait=False)

    def copy_out() -> object:
        return down.read(target, output, wait=False)

    def often(*what: Callable[[], object]) -> Job:
        def job(times: int) -> None:
            # An event that is let go waits.
            begun = [each() for _ in range(times) for each in what]
            launcher.queue.finish()
            down.queue.finish()
            begun.clear()

        return job

    return {
        "in": often(copy_in),
        "filter": often(lambda: pipeline.enqueue(image, output)),
        "out": often(copy_out),
        "both": often(copy_in, copy_out),
    }


def _time(job: Job, times: int) -> float:
    """Return the seconds of one of so many."""
    begin = perf_counter()
    job(times)
    return (perf_counter() - begin) / times
