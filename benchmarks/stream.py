"""``python -m benchmarks.stream``: a stream of images beside copying in, filtering and copying out alone."""

from __future__ import annotations

from collections import deque
from functools import partial
from itertools import repeat
from time import perf_counter
from typing import TYPE_CHECKING, Any

from fftfilter.bench import Lines, Table
from fftfilter.bench.measure import MS, SPREAD, check, images, ratio
from fftfilter.device.launcher import Launcher
from fftfilter.fused.gpu.pipeline import FusedGpuPipeline
from fftfilter.output.ramp import Stack
from fftfilter.transfer import highpass
from fftfilter.transfer.reference import filter_image

from .beside import in_turn, shown_size
from .command import benchmark_command, main, size_option

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from fftfilter.bench import Stats
    from fftfilter.bench.measure import Setting
    from fftfilter.filters import Filter

    Array = np.ndarray[Any, Any]
    # Does something so many times, and waits for it at the end.
    Work = Callable[[int], object]

# Seconds that one measurement takes: long, since the first and the last images of a stream overlap with nothing.
SECONDS = 0.1
WARM = 8
STREAMS = {"locked": "stream", "any": "stream of any arrays", "calls": "calls"}
PARTS = {"in": "copy in", "filter": "filter", "out": "copy out", "both": "in and out"}
# The parts that a stream cannot be faster than.
BOUNDS = ("both", "filter")
GPU_NOTE = (
    "In and out: both copies at the same time. A stream is made of arrays of Filter.empty, or of any; calls do one "
    "thing after the other. Ratio: the stream to the slower of both copies and the filter."
)
CPU_NOTE = "The device works on the host's arrays themselves: a stream is calls, and the ratio is to those."

Shape = tuple[int, int, int]
SHAPES: tuple[Shape, ...] = ((32, 512, 512), (1, 2048, 2048), (1, 4096, 4096), (1, 8192, 8192))


@benchmark_command
@size_option("512x512 (32 at once), 2048x2048, 4096x4096, 8192x8192")
def command(setting: Setting, *, shapes: tuple[tuple[int, int], ...]) -> None:
    """Time a stream of images beside copying in, filtering and copying out alone.

    On a GPU the three overlap. Wall time.

    \b
    Example: python -m benchmarks.stream
             python -m benchmarks.stream --size 1920x1080
    """
    stream(setting, shapes=[(1, *shape) for shape in shapes])


def stream(
    setting: Setting, *, shapes: Sequence[Shape] = (), parts: bool | None = None, seconds: float = SECONDS
) -> None:
    """Return the time of a stack ``(count, height, width)`` in a stream, and that of its parts alone.

    ``parts`` measures copies and filter alone, by default on a GPU. A measurement takes ``seconds``.
    """
    parts = setting.device.is_gpu if parts is None else parts
    bounds = BOUNDS if parts else ("calls",)
    table = setting.made = Table(
        "Milliseconds of a stack in a stream, 8-bit pictures to 8-bit pictures, and of its parts alone",
        {"size": "size", **(PARTS if parts else {}), **STREAMS, "ratio": "ratio"},
        Lines((), "pixels", (*PARTS, *STREAMS), "pixels", "ms"),
        setting.about(),
        [SPREAD, GPU_NOTE if parts else CPU_NOTE],
    )
    for shape in shapes or SHAPES:
        setting.progress(shown_size(shape))
        with setting.filter(highpass()) as filter_:
            locked = _checked(filter_, shape)
            works = (_parts(setting, locked) if parts else {}) | _streams(filter_, locked)
            stats = _measured(works, setting.runs, seconds)
        slowest = max(stats[name].median for name in bounds)
        cells = {name: each.times(MS) for name, each in stats.items()}
        table.put((shown_size(shape),), pixels=locked.size, ratio=ratio(stats["locked"].median, slowest), **cells)


def _measured(works: dict[str, Work], runs: int, seconds: float) -> dict[str, Stats]:
    """Return the seconds of one repetition of each, measured in turn."""
    # A stream allocates with its first stacks, which therefore do not tell how many fill the time.
    for work in works.values():
        work(WARM)
    repeats = {name: max(3, round(seconds / _time(work, WARM))) for name, work in works.items()}
    return in_turn({name: partial(_time, work, repeats[name]) for name, work in works.items()}, runs)


def _checked(filter_: Filter, shape: Shape) -> Array:
    """Return a stack in an array of the filter's, after a check of the stream; raises RefusedError if it is wrong."""
    stack = filter_.empty(shape)
    stack[...] = images(*shape)
    wanted = filter_image(stack[0], filter_.transfer.gain(*shape[1:]))
    check("the stream", filter_.launcher, next(filter_.stream([stack]))[0], wanted)
    return stack


def _streams(filter_: Filter, locked: Array) -> dict[str, Work]:
    """Return streams of the filter's own array and of any array, and calls."""
    other = locked.copy()

    def calls(times: int) -> None:
        for _ in range(times):
            filter_(other)

    def of(stack: Array) -> Work:
        # No result is kept, as by a consumer that keeps up.
        return lambda times: deque(filter_.stream(repeat(stack, times)), maxlen=0)

    return {"locked": of(locked), "any": of(other), "calls": calls}


def _parts(setting: Setting, locked: Array) -> dict[str, Work]:
    """Return copies and filter on their own, as a stream on a GPU does them."""
    launcher, other_queue = Launcher(setting.device), Launcher(setting.device)
    count, height, width = locked.shape
    stack = Stack(count, height, width, locked.dtype, locked.dtype, white=255)
    pipeline = FusedGpuPipeline(launcher, highpass(), stack)
    image, output = launcher.allocate(locked.nbytes), launcher.allocate(locked.nbytes)
    target = launcher.page_locked(locked.nbytes)
    launcher.write(image, locked)

    def copy_in() -> object:
        return launcher.write(image, locked, wait=False)

    def copy_out() -> object:
        return other_queue.read(target, output, wait=False)

    def repeated(*what: Callable[[], object]) -> Work:
        def work(times: int) -> None:
            # An event waits when it is deleted: all are kept to the end.
            events = [each() for _ in range(times) for each in what]
            launcher.queue.finish()
            other_queue.queue.finish()
            events.clear()

        return work

    return {
        "in": repeated(copy_in),
        "filter": repeated(lambda: pipeline.enqueue(image, output)),
        "out": repeated(copy_out),
        "both": repeated(copy_in, copy_out),
    }


def _time(work: Work, times: int) -> float:
    """Return the seconds of one repetition of so many."""
    begin = perf_counter()
    work(times)
    return (perf_counter() - begin) / times


if __name__ == "__main__":
    main(command)
