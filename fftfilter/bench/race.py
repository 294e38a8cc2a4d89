"""fftfilter beside its peers in one interleaved run: the same job, checked first, then timed in turn.

Wall time, not device events, since peers have none: on the CPU of calls from array to array, on the GPU of
calls on resident data with one wait behind them. One measurement is several calls in a row, behind a rest:
some libraries' workers spin for a while after their work and would slow down whoever comes next.
"""

from __future__ import annotations

from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

import numpy as np

from ..filters import Filter
from ..fused import fused
from ..device.launcher import Launcher
from ..transfer.reference import filter_image
from ..transfer.functions import transfer
from .compare import Stats, ratio
from .experiments import MS, SPREAD, Experiment
from .measure import check_peer
from .peers import Job, cpu_jobs, gpu_jobs
from .tables import Lines, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..transfer.functions import AnyTransfer
    from .experiments import Setting

    Array = np.ndarray[Any, Any]

OURS = "fftfilter"
PAIR = "cufft pair"
# Seconds that one measurement takes, long beside the launch of a single call, and that a rest takes.
SECONDS = 0.03
REST = 0.25
# The floor of the targets: bytes a pixel that a GPU's memory moves for a filter that computes every frequency, 1 in,
# 4 four times around the columns, 4 for the scale, 1 out.
FLOOR_BYTES = 22
FLOOR = f"{FLOOR_BYTES} bytes a pixel"

Shape = tuple[int, int, int]

# How many times faster than the best peer, by (count, height, width).
CPU_TARGETS: dict[Shape, float] = {
    (1, 512, 512): 2.5,
    (1, 1024, 1024): 5,
    (1, 2048, 2048): 5,
    (1, 4096, 4096): 4,
    (1, 1000, 1500): 3,
    (1, 1080, 1920): 3,
    (1, 1021, 1531): 2,
}
# How many times faster than the planned CuPy job, than cuFFT's bare pair of transforms, and than the floor.
GPU_TARGETS: dict[Shape, dict[str, float]] = {
    (1, 512, 512): {},
    (1, 1024, 1024): {},
    (1, 2048, 2048): {"cupy": 3, PAIR: 1 / 0.75},
    (1, 4096, 4096): {"cupy": 3, PAIR: 1 / 0.75, FLOOR: 0.5},
    (1, 8192, 8192): {PAIR: 1, FLOOR: 0.5},
    (1, 16384, 16384): {PAIR: 1, FLOOR: 0.5},
    (1, 1000, 1500): {"cupy": 2},
    (1, 1080, 1920): {"cupy": 2},
    (1, 2160, 3840): {"cupy": 2},
    (64, 512, 512): {"cupy": 2},
    (64, 1024, 1024): {"cupy": 2},
}


def race(setting: Setting, *, shapes: Sequence[Shape] = (), radius: str | None = None) -> Experiment:
    """Return the table of peers on images or stacks ``(count, height, width)``, by default those with a target.

    The filter is an ideal high-pass; what its radius spares this filter the peers do all the same.
    """
    gpu, by = setting.device.is_gpu, transfer("highpass", radius=radius)
    table = Table(
        "The same high-pass by fftfilter and its peers, 8-bit image to 8-bit image",
        {
            "size": "size",
            "who": "who",
            "ms": "ms",
            "ratio": f"times {OURS}'s time",
            "target": "target",
            "reached": "reached",
        },
        ("size", "who"),
        Lines(("who",), "pixels", ("ms",), "pixels", "ms"),
        setting.about(),
        [SPREAD, f"{str(by).capitalize()}. {_explained(gpu=gpu)}"],
    )

    def steps() -> Iterator[str]:
        for shape in shapes or (GPU_TARGETS if gpu else CPU_TARGETS):
            size = _size(shape)
            yield f"{size}: prepare and check"
            stack = np.random.default_rng(61).integers(0, 256, shape, dtype=np.uint8)
            gain = by.gain(*shape[1:])
            jobs = [_gpu(setting, stack, by) if gpu else _cpu(setting, stack, radius)]
            jobs += [*gpu_jobs(stack, gain), _floor(setting, stack)] if gpu else cpu_jobs(stack[0], gain)
            wanted = np.stack([filter_image(image, gain) for image in stack])
            repeats = {job.name: _check(job, wanted) for job in jobs}
            yield f"{size}: {', '.join(job.name for job in jobs)}"
            seconds: dict[str, list[float]] = {job.name: [] for job in jobs}
            for _ in range(setting.runs):
                for job in jobs:
                    if not gpu:
                        sleep(REST)
                    seconds[job.name].append(_time(job, repeats[job.name]))
            ours = Stats.of(seconds[OURS]).median
            for job in jobs:
                stats = Stats.of(seconds[job.name])
                table.put((size, job.name), pixels=stack.size, ms=stats.times(MS), ratio=ratio(stats.median, ours))
            _judge(table, shape, gpu=gpu)

    return Experiment(table, steps(), lambda: None)


def _explained(*, gpu: bool) -> str:
    if gpu:
        return (
            f"Data stay on the device; {PAIR} is cuFFT's forward and inverse alone, {FLOOR} a copy on the device that "
            "reads and writes so many in all."
        )
    return "From an array to an array in the host's memory; the target stands in the row of the fastest peer."


def _size(shape: Shape) -> str:
    count, height, width = shape
    return f"{width} x {height}" if count == 1 else f"{count} of {width} x {height}"


def _cpu(setting: Setting, stack: Array, radius: str | None) -> Job:
    filter_ = Filter("highpass", radius=radius, device=str(setting.device.index))
    return Job(OURS, lambda: filter_(stack[0]), lambda: None, lambda: filter_(stack[0]))


def _gpu(setting: Setting, stack: Array, by: AnyTransfer) -> Job:
    launcher = Launcher(setting.device)
    pixel = stack.dtype
    pipeline: Any = fused(launcher, stack.shape, pixel, by, out=pixel, levels=255)
    image, output = launcher.allocate(stack.nbytes), launcher.allocate(stack.nbytes)
    launcher.write(image, stack)

    def result() -> Array:
        picture = np.empty_like(stack)
        launcher.read(picture, output)
        return picture

    return Job(OURS, lambda: pipeline.enqueue(image, output), launcher.queue.finish, result)


def _floor(setting: Setting, stack: Array) -> Job:
    launcher = Launcher(setting.device)
    source, target = (launcher.allocate(FLOOR_BYTES // 2 * stack.size) for _ in range(2))
    return Job(FLOOR, lambda: launcher.copy(target, source), launcher.queue.finish, None)


def _check(job: Job, wanted: Array) -> int:
    """Refuse a peer with a wrong picture; return how often to call it in one measurement."""
    job.call()
    job.finish()
    if job.result is not None:
        check_peer(job.name, job.result().reshape(wanted.shape), wanted)
    return max(1, round(SECONDS / _time(job, 2)))


def _time(job: Job, repeats: int) -> float:
    """Return the seconds of one call, the mean of so many that are waited for together."""
    begin = perf_counter()
    for _ in range(repeats):
        job.call()
    job.finish()
    return (perf_counter() - begin) / repeats


def _judge(table: Table, shape: Shape, *, gpu: bool) -> None:
    """Put the targets of a size into the rows of the peers that they are about."""
    rows = [row for row in table.rows if row["size"] == _size(shape) and row["who"] != OURS]
    if gpu:
        targets = GPU_TARGETS.get(shape, {})
        wanted = [(row, targets.get(str(row["who"]))) for row in rows]
    else:
        best = min(rows, key=lambda row: float(row["ratio"]), default=None)  # type: ignore[arg-type]
        wanted = [(best, CPU_TARGETS.get(shape))] if best is not None else []
    for row, target in wanted:
        if target is not None:
            row["target"] = float(target)
            row["reached"] = "yes" if float(row["ratio"]) >= target else "no"  # type: ignore[arg-type]
