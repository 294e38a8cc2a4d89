"""A case filtered, once more, as a stream and by several threads; and what comes out beside the float64 reference."""

from __future__ import annotations

import pickle
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fftfilter import transfer as H
from fftfilter.arrays import is_wide, largest_of
from fftfilter.device.launcher import Launcher
from fftfilter.device.opencl import Device
from fftfilter.device_choice import choose
from fftfilter.filters import Filter
from fftfilter.images import Depth
from fftfilter.output.modes import MODES, scale_of
from fftfilter.output.rounding import Difference
from fftfilter.work.verify import references_of
from tests.helpers import COMMAND
from tests.soak.cases import FUSED_FOR_GPUS, Case, make

if TYPE_CHECKING:
    from collections.abc import Callable

PICTURES, CALLS = 3, 4


class Result(NamedTuple):
    """What became of a case."""

    seed: int
    case: str
    kinds: tuple[str, ...]
    """What the summary counts it as."""
    said: str
    is_right: bool
    used: float = 0.0
    """The largest difference as a part of what is right."""


def attempt(seed: int, *, threads: bool = True) -> Result:
    """Do the case of a seed, and hold what comes out to the contract."""
    case = make(seed)
    try:
        return judge(case, filtered(case, threads=threads))
    except Exception as error:  # noqa: BLE001  whatever goes wrong is a finding
        said = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return Result(seed, case.about, case.kinds, said, is_right=False)


def judge(case: Case, got: np.ndarray) -> Result:
    """Hold what has come out to the contract."""
    found = compare(case, got)
    worst = max(found, key=lambda each: (not each.is_right, part_of_allowed(each)))
    said = f"{worst}; right is {worst.right}"
    return Result(case.seed, case.about, case.kinds, said, worst.is_right, max(map(part_of_allowed, found)))


def part_of_allowed(found: Difference) -> float:
    return found.largest / found.allowed if found.allowed else float(found.largest > 0)


class AsGpu(Device):
    """A device that gets the fused form for GPUs, whatever it is."""

    is_gpu = True


@cache
def as_gpu() -> AsGpu:
    """Return the device that auto takes; the same one every time, as it keeps what it has compiled."""
    device = choose()
    return AsGpu(device.index, device.cl_device, device.repaired)


def opened(case: Case) -> Filter:
    of = case.setup
    options = {"engine_options": of.variant, "precision": of.precision, "output": of.output, "edges": of.edges}
    options |= {"scale": case.scale, "channels": case.channels}
    made = Filter(case.transfer, engine=None if of.is_fused else of.engine, **(COMMAND | options))
    if of.engine == FUSED_FOR_GPUS:
        made.launcher = Launcher(as_gpu())
    return made


def filtered(case: Case, *, threads: bool) -> np.ndarray:
    """Return the case's picture; raises AssertionError if it is another one the next time."""
    options = {"channel_axis": case.channel_axis, "dtype": case.setup.out, "levels": case.levels}
    options["white"] = case.input_white
    if case.holes is not None:
        channels = case.holes if case.channel_axis is None else np.moveaxis(case.holes, 0, case.channel_axis)
        options["missing"] = channels.reshape(case.image.shape)
    with opened(case) as filter_:
        call = partial(filter_, **options)
        first = call(case.image)
        assert_same(call(case.image), first, "the second call")
        if not case.further:
            return first
        pictures = [np.roll(case.image, k, axis=case.rows) for k in range(PICTURES)]
        if case.further == "used again":
            assert_same(used_again(case, filter_)(case.image, **options), first, "a filter that was used before")
            return first
        alone = list(map(call, pictures))
        assert_same(alone[0], first, "a copy")
        if case.further == "stream":
            results = list(filter_.stream(pictures, **options))
        else:
            results = by_threads(call, pictures) if threads else []
        for got, right in zip(results, alone * CALLS, strict=False):
            assert_same(got, right, case.further)
        return first


def used_again(case: Case, filter_: Filter) -> Filter:
    """Return the case's filter, after it was another one: of another function, with other options, or sent."""
    r, of = random.Random(case.seed), case.setup
    filter_.retune(H.lowpass(r.uniform(0.1, 3), shape="gaussian"))
    filter_(r.choice((case.planes[0], np.eye(12, 10, dtype=np.uint8))))
    filter_.retune(case.transfer)
    way = r.choice(("", "with_options", "pickle"))
    if way == "with_options":
        other = filter_.with_options(H.highpass(2), edges=r.choice(("wrap", "mirror")), output="keep", scale=None)
        return other.with_options(case.transfer, edges=of.edges, output=of.output, scale=case.scale)
    # A copy opens the device that is said, which is none for GPUs.
    return filter_ if not way or of.engine == FUSED_FOR_GPUS else pickle.loads(pickle.dumps(filter_))  # noqa: S301


def by_threads(call: Callable[[np.ndarray], np.ndarray], pictures: list[np.ndarray]) -> list[np.ndarray]:
    """Return what threads get that call at the same time, several times each."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(len(pictures)) as pool:
            return list(pool.map(call, pictures * CALLS))
    finally:
        sys.setswitchinterval(before)


def assert_same(got: np.ndarray, first: np.ndarray, what: str) -> None:
    assert got.dtype == first.dtype
    assert got.tobytes() == first.tobytes(), f"{what} gives {np.count_nonzero(got != first)} other samples"


def compare(case: Case, got: np.ndarray) -> list[Difference]:
    """Return how each picture of a result differs from the reference; raises AssertionError for another shape."""
    wanted_type = got.dtype if MODES[case.setup.output].is_values else np.dtype(case.out)
    assert (got.shape, got.dtype) == (case.image.shape, wanted_type), f"{got.shape} {got.dtype} came out"
    planes = got if case.channel_axis is None else np.moveaxis(got, case.channel_axis, 0)
    planes = planes.reshape(case.planes.shape)
    together = [slice(None)] if case.channel_axis is not None else [slice(k, k + 1) for k in range(len(planes))]
    given = case.planes * np.uint8(255) if case.planes.dtype == bool else case.planes
    holes = np.zeros(given.shape, bool) if case.holes is None else case.holes
    return [_difference(case, planes[each], given[each], holes[each]) for each in together]


def _difference(case: Case, got: np.ndarray, given: np.ndarray, holes: np.ndarray) -> Difference:
    """Compare images with one scale."""
    own_white = largest_of(given.dtype)
    assert got.dtype.kind in "iu" or np.isfinite(got[~holes]).all(), "not all is finite"
    own_white = case.input_white or own_white
    depth = Depth(got.dtype, case.white)
    of = case.setup
    options = {"scale": scale_of(case.scale), "depth": depth, "edges": of.edges, "channels": case.channels}
    # On a high ground single precision loses something before a filter begins.
    is_rounded = of.precision == "single" and is_wide(given.dtype) and np.nanmax(np.abs(given), initial=0) < 1e38
    found = []
    for each in (given, given.astype(np.float32)) if is_rounded else (given,):
        for wanted, values, unit in references_of(each, own_white, case.transfer, of.output, holes=holes, **options):
            found.append(Difference.of(got, wanted, case.white, unit=unit, values=values))
            if found[-1].is_right:
                return found[-1]
    return found[0]
