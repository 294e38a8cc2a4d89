"""What can be chosen without another result, measured on this device: the fastest is remembered for the filters."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import RefusedError
from ..fused import fused
from ..launch import Launcher
from ..transfer import transfer
from ..tuning import knobs, remember
from .compare import Stats, ratio
from .experiments import MS, SPREAD, Experiment
from .tables import Lines, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..tuning import Shape, Tuning
    from .experiments import Setting

    Array = np.ndarray[Any, Any]

SHAPES: tuple[Shape, ...] = (
    (1, 512, 512), (8, 512, 512), (1, 1024, 1024), (1, 1000, 1500), (1, 1080, 1920), (1, 2048, 2048), (1, 4096, 4096),
)  # fmt: skip
# A choice has to be faster by this part, beyond what two measurements of the same differ by.
PAYS = 0.03
# Seconds that one measurement takes.
SECONDS = 0.02


def tune(setting: Setting, *, shapes: Sequence[Shape] = ()) -> Experiment:
    """Return the choices that are fastest for each shape of stacks ``(count, height, width)``, and remember them."""
    table = Table(
        "Milliseconds of a high-pass as it is by default and as it is fastest here, 8-bit pictures to 8-bit pictures",
        {"size": "size", "default": "default", "best": "best", "chosen": "chosen", "ratio": "ratio"},
        ("size",),
        Lines((), "pixels", ("default", "best"), "pixels", "ms"),
        setting.about(),
        [SPREAD, f"Chosen is what is faster by {PAYS:.0%} or more; the result is the same to the bit."],
    )

    def steps() -> Iterator[str]:
        for shape in shapes or SHAPES:
            count, height, width = shape
            size = f"{width} x {height}" if count == 1 else f"{count} of {width} x {height}"
            best: dict[str, int] = {}
            for knob, values in knobs(setting.device).items():
                yield f"{size}: {knob}"
                tried = [{**best, knob: value} for value in values]
                best = _fastest(tried, _measured(setting, shape, tried))
            default, fastest = _measured(setting, shape, [{}, best])
            # Once more beside each other: the fastest of several is fast by chance, too.
            if fastest.median > (1 - PAYS) * default.median:
                best, fastest = {}, default
            chosen = {knob: value for knob, value in best.items() if value}
            remember(setting.device, shape, np.dtype(np.uint8), chosen)
            table.put(
                (size,),
                pixels=count * height * width,
                default=default.times(MS),
                best=fastest.times(MS),
                chosen=", ".join(f"{knob} {value:+d}" for knob, value in chosen.items()) or "default",
                ratio=ratio(default.median, fastest.median),
            )

    return Experiment(table, steps(), lambda: None)


def _fastest(tried: list[dict[str, int]], seconds: list[Stats]) -> dict[str, int]:
    """Return the fastest choice; the first, the default, if none is faster by enough."""
    i = min(range(len(tried)), key=lambda i: seconds[i].median)
    return tried[i] if seconds[i].median < (1 - PAYS) * seconds[0].median else tried[0]


def _measured(setting: Setting, shape: Shape, tried: Sequence[Tuning]) -> list[Stats]:
    """Return the seconds of each choice, measured in turn; raises RefusedError if results differ."""
    stack = np.random.default_rng(61).integers(0, 256, shape, dtype=np.uint8)
    launcher, pixel, high = Launcher(setting.device), stack.dtype, transfer("highpass")
    pipelines = [fused(launcher, shape, pixel, high, out=pixel, levels=255, tuning=choice) for choice in tried]
    results = [pipeline.run(stack) for pipeline in pipelines]
    if not all((result == results[0]).all() for result in results):
        raise RefusedError(f"the choices {tried} differ in their results on {setting.device.name}: none is remembered")
    calls = [_call(launcher, pipeline, stack) for pipeline in pipelines]
    repeats = max(1, round(SECONDS / _time(calls[0], launcher, 2)))
    seconds = [[_time(call, launcher, repeats) for call in calls] for _ in range(setting.runs)]
    return [Stats.of(each) for each in zip(*seconds, strict=True)]


def _call(launcher: Launcher, pipeline: Any, stack: Array) -> Callable[[], object]:
    """Return what is timed: on a GPU with the data there already."""
    if not launcher.device.is_gpu:
        return lambda: pipeline.run(stack)
    image, output = launcher.allocate(stack.nbytes), launcher.allocate(stack.nbytes)
    launcher.write(image, stack)
    return lambda: pipeline.enqueue(image, output)


def _time(call: Callable[[], object], launcher: Launcher, repeats: int) -> float:
    """Return the seconds of one call, the mean of so many that are waited for together."""
    begin = perf_counter()
    for _ in range(repeats):
        call()
    launcher.queue.finish()
    return (perf_counter() - begin) / repeats
