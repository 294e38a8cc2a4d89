"""Times this program beside other libraries, by the clock, in turn.

Every result is checked first. One measurement is several calls in a row with one wait at the end. On a CPU a call goes
from an array to an array in the host's memory, and each measurement comes after a rest, because the threads of some
libraries keep spinning after their work and would slow down the next library. On a GPU all data stay on the device.
Each library has its best setting: real transforms in single precision, all cores. Only installed libraries take part.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from time import perf_counter, sleep
from typing import Any

import numpy as np
import pyopencl as cl

from fftfilter.arrays import Array
from fftfilter.bench import Cell, Lines, Stats, Table
from fftfilter.bench.measure import MS, Setting, ratio, relative_error
from fftfilter.device.launcher import Launcher
from fftfilter.errors import RefusedError
from fftfilter.output.rounding import Difference

OURS = "fftfilter"
"""This program's name among its peers."""
# Largest relative error of another library's transform, in norm: single precision stays below it.
WRONG = 1e-5
# Seconds of one measurement, long compared with the launch of a single call, and of a rest.
SECONDS = 0.03
REST = 0.25

Call = Callable[[], Array]

Shape = tuple[int, int, int]
"""(count, height, width)"""
SQUARES: tuple[Shape, ...] = tuple((1, side, side) for side in (512, 1024, 2048, 4096))
CORES = os.cpu_count() or 1
CPU_NOTE = "From an array to an array in the host's memory."


@dataclass
class Peer:
    """A library that is ready to work on arrays of one size: plans, masks and buffers are made.

    ``call`` works once; ``finish`` waits until all calls are done. ``result`` returns the output, and is None for a
    peer that only copies, or whose output is not comparable.
    """

    name: str
    call: Callable[[], object]
    finish: Callable[[], object] = lambda: None
    result: Callable[[], Array] | None = None


def check(name: str, got: Array, wanted: Array) -> None:
    """Raise RefusedError if a library's 8-bit picture or its transform is wrong.

    A picture may differ by 1 level in 1 pixel of 100, a transform by a small relative error.
    """
    if wanted.dtype == np.uint8:
        found = Difference.of(got.reshape(wanted.shape), wanted, 255)
        is_right, how = found.largest <= 1 and found.samples <= max(1, found.size // 100), f"picture: {found}"
    else:
        error = relative_error(got, wanted)
        is_right, how = error <= WRONG, f"transform: its relative error is {error:.1e} and {WRONG:.1e} is allowed"
    if not is_right:  # NaN is not, either
        way_out = "take other sizes (--size), or uninstall it"
        raise RefusedError(f"{name} computes another {how}; a wrong result is not timed: {way_out}")


def timed(setting: Setting, peers: Sequence[Peer], wanted: Array) -> dict[str, dict[str, Cell]]:
    """Check all peers, then time them in turn; return each one's milliseconds and their ratio to this program's."""
    repeats = {}
    for peer in peers:
        peer.call()
        peer.finish()
        if peer.result is not None:
            check(peer.name, peer.result(), wanted)
        repeats[peer.name] = max(1, round(SECONDS / _seconds_of(peer, 2)))

    def measured(peer: Peer) -> float:
        if not setting.device.is_gpu:
            sleep(REST)
        return _seconds_of(peer, repeats[peer.name])

    stats = in_turn({peer.name: partial(measured, peer) for peer in peers}, setting.runs)
    ours = stats[OURS].median
    return {name: {"ms": each.times(MS), "ratio": ratio(each.median, ours)} for name, each in stats.items()}


def _seconds_of(peer: Peer, repeats: int) -> float:
    """Return the seconds of one call, the mean of several with one wait at the end."""
    begin = perf_counter()
    for _ in range(repeats):
        peer.call()
    peer.finish()
    return (perf_counter() - begin) / repeats


def in_turn(measurements: Mapping[str, Callable[[], float]], runs: int) -> dict[str, Stats]:
    """Return the statistics of measurements, each taken ``runs`` times, in turn: noise then affects all alike."""
    found = [{name: measured() for name, measured in measurements.items()} for _ in range(runs)]
    return {name: Stats.from_values([each[name] for each in found]) for name in measurements}


def shown_size(shape: Shape) -> str:
    """Return a stack's size as a table shows it."""
    count, height, width = shape
    return f"{width} x {height}" if count == 1 else f"{count} of {width} x {height}"


def table_of(setting: Setting, title: str, key: tuple[str, ...], note: str) -> Table:
    """Return an empty table of peers, in which ``key`` identifies a row."""
    columns = {**{name: name for name in key}, "ms": "ms", "ratio": f"times {OURS}'s time"}
    return setting.table(title, columns, Lines(key[1:], "pixels", ("ms",), "pixels", "ms"), note)


def on_host(ours: Call, libraries: Mapping[str, Callable[..., Call]], *work: Any) -> Iterator[Peer]:
    """Yield this program and the installed libraries, whose functions prepare some work and return its call."""
    yield Peer(OURS, ours, result=ours)
    for name, prepare in libraries.items():
        if find_spec(name) is not None:
            call = prepare(*work)
            yield Peer(name, call, result=call)


def resident(
    launcher: Launcher, given: Array, found: Array, target_bytes: int, enqueue: Callable[[cl.Buffer, cl.Buffer], object]
) -> Peer:
    """Return this program on data that stay on the device; ``found`` takes the result."""
    source, target = launcher.allocate(given.nbytes), launcher.allocate(target_bytes)
    launcher.write(source, given)

    def result() -> Array:
        launcher.read(found, target)
        return found

    return Peer(OURS, lambda: enqueue(source, target), launcher.queue.finish, result)
