"""The table of peers: every picture is checked, then all peers are timed in turn.

Wall time, since libraries have no OpenCL events: on the CPU of calls from array to array, on a GPU of calls on resident
data with one wait at the end. One measurement is several calls in a row. On the CPU each comes after a rest: the
workers of some libraries go on spinning after their work and would slow down the next peer.
"""

from __future__ import annotations

from functools import partial
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

import numpy as np

from ...transfer import highpass
from ...transfer.reference import filter_image
from ..benchmark import MS, SPREAD, Benchmark
from ..compare import in_turn, ratio
from ..inputs import images
from ..measure import check_peer
from ..tables import Lines, Table
from . import cpu, gpu
from .peer import OURS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ...transfer import Transfer
    from ...transfer.units import RadiusLike
    from ..benchmark import Setting
    from ..compare import Stats
    from .peer import Peer

    Array = np.ndarray[Any, Any]
    Prepare = Callable[[Setting, Array, Transfer], Iterable[Peer]]

# Seconds that one measurement takes, long beside the launch of a single call, and that a rest takes.
SECONDS = 0.03
REST = 0.25

Shape = tuple[int, int, int]

# (count, height, width)
CPU_SHAPES: tuple[Shape, ...] = (
    (1, 512, 512),
    (1, 1024, 1024),
    (1, 2048, 2048),
    (1, 4096, 4096),
    (1, 1000, 1500),
    (1, 1080, 1920),
    (1, 1021, 1531),
)
GPU_SHAPES: tuple[Shape, ...] = (
    (1, 512, 512),
    (1, 1024, 1024),
    (1, 2048, 2048),
    (1, 4096, 4096),
    (1, 8192, 8192),
    (1, 16384, 16384),
    (1, 1000, 1500),
    (1, 1080, 1920),
    (1, 2160, 3840),
    (64, 512, 512),
    (64, 1024, 1024),
)
NOTES = {
    True: f"Data stay on the device; {gpu.PAIR} is cuFFT's forward and inverse alone, {gpu.COPY} a copy on the device "
    "that reads and writes so many in all.",
    False: "From an array to an array in the host's memory.",
}


def peers(
    setting: Setting,
    *,
    shapes: Sequence[Shape] = (),
    radius: RadiusLike | None = None,
    prepare: Prepare | None = None,
    rest: float = REST,
) -> Benchmark:
    """Return milliseconds of an ideal high-pass by each peer, for images or stacks ``(count, height, width)``.

    ``prepare`` returns the peers for a setting, a stack and a transfer function, this program among them; by default
    those of the device's kind. ``rest`` is in seconds.

    This program leaves out what its radius allows; the peers compute everything.
    """
    is_gpu, transfer = setting.device.is_gpu, highpass(radius)
    prepare = prepare or (gpu.peers if is_gpu else cpu.peers)
    table = Table(
        "The same high-pass by fftfilter and its peers, 8-bit image to 8-bit image",
        {"size": "size", "who": "who", "ms": "ms", "ratio": f"times {OURS}'s time"},
        ("size", "who"),
        Lines(("who",), "pixels", ("ms",), "pixels", "ms"),
        setting.about(),
        [SPREAD, f"{str(transfer).capitalize()}. {NOTES[is_gpu]}"],
    )

    def steps() -> Iterator[str]:
        for shape in shapes or (GPU_SHAPES if is_gpu else CPU_SHAPES):
            size = shown_size(shape)
            yield f"{size}: prepare and check"
            stack = images(*shape)
            gain = transfer.gain(*shape[1:])
            wanted = np.stack([filter_image(image, gain) for image in stack])
            found = list(prepare(setting, stack, transfer))
            repeats = {peer.name: _check(peer, wanted) for peer in found}
            yield f"{size}: {', '.join(repeats)}"
            stats = timed(found, repeats, setting.runs, 0 if is_gpu else rest)
            for name, each in stats.items():
                times = ratio(each.median, stats[OURS].median)
                table.put((size, name), pixels=stack.size, ms=each.times(MS), ratio=times)

    return Benchmark(table, steps())


def shown_size(shape: Shape) -> str:
    """Return a stack's size as a table shows it."""
    count, height, width = shape
    return f"{width} x {height}" if count == 1 else f"{count} of {width} x {height}"


def _check(peer: Peer, wanted: Array) -> int:
    """Return how many calls make one measurement; raises RefusedError if the picture is wrong."""
    peer.call()
    peer.finish()
    if peer.result is not None:
        check_peer(peer.name, peer.result().reshape(wanted.shape), wanted)
    return max(1, round(SECONDS / seconds_of(peer, 2)))


def timed(peers: Iterable[Peer], repeats: Mapping[str, int], runs: int, rest: float) -> dict[str, Stats]:
    """Return the seconds of a call of each peer, all measured in turn, each after a rest."""

    def measured(peer: Peer) -> float:
        sleep(rest)
        return seconds_of(peer, repeats[peer.name])

    return in_turn({peer.name: partial(measured, peer) for peer in peers}, runs)


def seconds_of(peer: Peer, repeats: int) -> float:
    """Return the seconds of one call, the mean of several with one wait at the end."""
    begin = perf_counter()
    for _ in range(repeats):
        peer.call()
    peer.finish()
    return (perf_counter() - begin) / repeats
