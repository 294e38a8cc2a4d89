"""The table of peers: every picture is checked, then all peers are timed in turn, by the clock.

On the CPU calls go from array to array, on a GPU they are on resident data.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...transfer import highpass
from ...transfer.reference import filter_image
from ..benchmark import MS, SPREAD, Benchmark, images
from ..compare import ratio
from ..measure import OURS, REST, calls_of, check_peer, timed
from ..tables import Lines, Table
from . import cpu, gpu

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ...transfer import Transfer
    from ...transfer.units import RadiusLike
    from ..benchmark import Setting
    from ..measure import Peer

    Array = np.ndarray[Any, Any]
    Prepare = Callable[[Setting, Array, Transfer], Iterable[Peer]]

Shape = tuple[int, int, int]

# (count, height, width)
SQUARES: tuple[Shape, ...] = tuple((1, side, side) for side in (512, 1024, 2048, 4096))
CPU_SHAPES: tuple[Shape, ...] = (*SQUARES, (1, 1000, 1500), (1, 1080, 1920), (1, 1021, 1531))
GPU_SHAPES: tuple[Shape, ...] = (
    *(*SQUARES, (1, 8192, 8192), (1, 16384, 16384)),
    *((1, 1000, 1500), (1, 1080, 1920), (1, 2160, 3840)),
    *((64, 512, 512), (64, 1024, 1024)),
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
            repeats = {peer.name: calls_of(peer, partial(check_peer, peer.name, wanted=wanted)) for peer in found}
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
