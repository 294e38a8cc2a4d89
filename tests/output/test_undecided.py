"""Levels so near to an edge that single precision may put them on either side: counted, and decided in double."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from fftfilter import Filter
from fftfilter import transfer as H
from fftfilter.device.launcher import Launcher, PageLocked
from fftfilter.device_choice import choose
from fftfilter.filters.pipelines import Mirrored
from fftfilter.fused.cpu.pipeline import FusedCpuPipeline
from fftfilter.fused.gpu.pipeline import FusedGpuPipeline, Stream
from fftfilter.fused.gpu.transform import RESERVED_BYTES, Limits
from fftfilter.images import Depth
from fftfilter.output.modes import Auto, Range
from fftfilter.output.ramp import Gray, Stack, own_ramps, ramps
from fftfilter.output.rounding import UNDECIDED, UNDECIDED_IF_SMALL, Difference, decided_row, most_undecided
from fftfilter.plain import NumPyPipeline
from fftfilter.staged import algorithms
from fftfilter.staged.pipeline import StagedPipeline
from fftfilter.transfer import reference
from fftfilter.work.verify import references_of
from tests.helpers import COMMAND
from tests.soak.check import as_gpu

ALL = H.lowpass("3cyc", shape="ideal")
SIZE, LONG, LARGE = (12, 10), (30, 45), (300, 400)
SQUARE = 128, 128  # it compiles sooner for one size, and has enough pixels
TINY = Limits(local_bytes=4 * 24 + RESERVED_BYTES)
# The outputs with their ranges, all of 8 bits.
OUTPUTS = [
    ("magnitude", None),
    ("magnitude", Range(0, 1)),
    ("magnitude", Auto(0.0)),
    ("keep", None),
    ("signed", None),
    ("signed", Range(-1, 1)),
]


def _mirrored(launcher, transfer, stack):
    make = partial(StagedPipeline, launcher, algorithm=algorithms.load("book"))
    return Mirrored(make, transfer, stack, launcher.real)


FORMS = {
    "staged": partial(StagedPipeline, algorithm=algorithms.load("book")),
    "on the host": _mirrored,
    "numpy": NumPyPipeline,
    "cpu": FusedCpuPipeline,
    "gpu": partial(FusedGpuPipeline, one_launch=False),
    "generic": partial(FusedGpuPipeline, generic=True, one_launch=False),
    "long": partial(FusedGpuPipeline, limits=TINY),
}


@pytest.fixture(scope="module")
def launcher():
    return Launcher(choose())


def of_levels(levels, output, scale):
    """Return values that have such levels, all in the range of what has one."""
    own = None if isinstance(scale, Auto) else scale
    (ramp,) = ramps(output, own, gray=Gray(1, np.dtype("u1"), 255))
    return ((levels - ramp["shift"]) / ramp["stretch"]).astype(np.float32)


def beside_edges(output, scale, size=SIZE, *, part=1.0):
    """Return a picture of random values, of which a part lies beside the edges of levels, as near as floats can."""
    rng = np.random.default_rng(3)
    # Not on an edge itself, where float64 has to guess, too.
    levels = rng.integers(20, 200, size) + np.where(rng.random(size) < part, 5e-6, 0.3)
    picture = of_levels(levels, output, scale)
    # All ranges that are the picture's own become those of the ramp.
    picture[0, :2] = 1, -1 if output == "signed" else 0
    return picture


def difference(got, picture, transfer, output, scale, edges="wrap"):
    given = picture if picture.ndim == 3 else picture[None]
    depth = Depth(np.dtype("u1"), 255)
    wanted, _, unit = next(references_of(given, 1, transfer, output, scale=scale, depth=depth, edges=edges))
    return Difference.of(got.reshape(wanted.shape), wanted, 255, unit=unit)


def filter_on(engine, launcher, **options):
    made = Filter(ALL, engine=engine if engine == "book" else None, **(COMMAND | options))
    made.launcher = Launcher(as_gpu()) if engine == "gpu" else launcher
    return made


@pytest.mark.parametrize(
    ("engine", "edges"),
    [("cpu", "wrap"), ("cpu", "mirror"), ("gpu", "wrap"), ("gpu", "mirror"), ("book", "wrap")],
)
def test_what_lies_beside_the_edges_of_levels_is_decided_as_the_reference_does(engine, edges, launcher):
    for output, scale in OUTPUTS if edges == "wrap" and engine != "book" else OUTPUTS[::3]:
        picture = beside_edges(output, scale)
        with filter_on(engine, launcher, output=output, scale=scale, edges=edges) as made:
            got = made(picture, dtype=np.uint8)
            assert made.weak() == 1, (output, scale)
            found = difference(got, picture, ALL, output, scale, edges)
            assert found.samples == 0, (output, scale, found)
            stack = np.stack([picture[::-1], beside_edges(output, scale, part=0.0), picture])
            made(stack, dtype=np.uint8)
            assert made.weak() == 2
            got = made(stack, dtype=np.uint8, channel_axis=0)
            assert made.weak() == 1
            assert difference(got, stack, ALL, output, scale, edges).samples == 0


def test_so_it_is_in_a_stream(launcher):
    for engine in ("cpu", "gpu"):
        pictures = [beside_edges("magnitude", None, part=part) for part in (1, 0, 1)]
        with filter_on(engine, launcher) as made:
            weak = []
            for got, picture in zip(made.stream(pictures, dtype=np.uint8), pictures, strict=True):
                weak.append(made.weak())
                assert difference(got, picture, ALL, "magnitude", None).samples == 0
            assert weak == [1, 0, 1]


@pytest.mark.parametrize("engine", ["fused", "book", "numpy"])
def test_a_smooth_picture_of_which_nearly_everything_passes_is_exact(engine):
    y, x = np.mgrid[:64, :256]
    picture = np.rint(127.5 + 127.43364 * np.cos(2 * np.pi * (2 * x / 256 + 4 * y / 64))).astype(np.uint8)
    transfer = H.notch((-0.3828, 0.0375), harmonics=2)
    with Filter(transfer, engine=engine, **COMMAND) as made:
        got = made(picture)
    wanted = reference.filter_image(picture, transfer.gain(64, 256))
    assert np.count_nonzero(got != wanted) == 0


@pytest.mark.parametrize("seed", [78, 106, 1902])
@pytest.mark.parametrize("engine", ["fused", "book", "numpy"])
def test_a_scale_of_a_narrow_range_makes_more_of_a_bright_picture_undecided(engine, seed):
    """A strong wave is removed, and its rounding errors are a hundredth of what a level is of the weak rest."""
    r, transfer = np.random.default_rng(seed), H.bandstop("0.19cyc", "8e-5cyc")
    r.normal(58, 60, (139, 1))
    picture, x = 58 + r.normal(0, 1.2, (139, 3)), np.arange(139)[:, None]
    picture += 80 * np.sin(2 * np.pi * x / 139 * r.integers(1, 20))
    picture = np.clip(picture, 0, 255).round().astype(np.uint8)
    with Filter(transfer, engine=engine, output="magnitude", edges="wrap", scale="auto") as made:
        assert difference(made(picture), picture, transfer, "magnitude", Auto()).is_right


@pytest.mark.parametrize("form", FORMS)
def test_every_form_counts_what_lies_beside_an_edge(form, launcher):
    for output, scale in (("magnitude", None), ("keep", None), ("signed", Range(-1, 1))):
        size = LONG if form == "long" else SIZE
        pictures = np.stack([beside_edges(output, scale, size, part=part) for part in (0.0, 0.4)])
        stack = Stack(*pictures.shape, pictures.dtype, np.dtype("u1"), 255)
        pipeline = FORMS[form](launcher, ALL, stack)
        given = ramps(output, scale, [1, 1], gray=Gray(1, np.dtype("u1"), 255))
        pipeline.run(pictures, None if output == "magnitude" else given)
        counted = [np.count_nonzero(_levels(picture, given[0]) % 1 < 0.2) for picture in pictures]
        # Rounding takes some farther from the edge.
        none, some = (part * most_undecided(stack) for part in pipeline.facts().undecided)
        assert round(none) <= counted[0] <= 2
        assert 0.25 * pictures[1].size < 0.7 * counted[1] < round(some) <= counted[1]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_counts_what_lies_beside_the_value_from_which_on_all_are_white(form, launcher):
    """It is no whole level, 255 (1 - 2^-16), and the largest value itself is far enough from it."""
    picture = beside_edges("magnitude", None, LONG if form == "long" else SIZE, part=0.0)
    picture[1::2] = 1 - 2**-16
    stack = Stack(1, *picture.shape, picture.dtype, np.dtype("u1"), 255)
    pipeline = FORMS[form](launcher, ALL, stack)
    pipeline.run(picture[None])
    assert round(pipeline.facts().undecided[0] * most_undecided(stack)) == picture[1::2].size


def _levels(picture, ramp):
    return picture.astype(np.float64) * float(ramp["stretch"]) + float(ramp["shift"]) + UNDECIDED / 2


@pytest.mark.parametrize("part", [0.0, 0.25])
@pytest.mark.parametrize("form", ["staged", "on the host", "cpu", "gpu", "generic"])
def test_of_a_large_picture_every_form_looks_at_some_samples(form, part, launcher):
    size = SQUARE if form == "gpu" else LARGE
    picture = beside_edges("magnitude", None, size, part=part)
    stack = Stack(1, *size, picture.dtype, np.dtype("u1"), 255)
    pipeline = FORMS[form](launcher, ALL, stack)
    pipeline.run(picture[None])
    undecided = pipeline.facts().undecided[0] * most_undecided(stack) / stack.size
    assert undecided == pytest.approx(part, rel=0.2, abs=1e-3)


def test_a_stream_counts_likewise(launcher):
    pictures = beside_edges("magnitude", None, part=0.5)[None]
    pipeline = FusedGpuPipeline(launcher, ALL, Stack(*pictures.shape, pictures.dtype, np.dtype("u1"), 255))
    started = Stream(pipeline, PageLocked(launcher)).start(pictures)
    started.result()
    pipeline.run(pictures)
    assert started.facts().undecided == pipeline.facts().undecided
    assert pipeline.facts().undecided[0] > 20


def test_nothing_is_undecided_of_more_levels_than_255_and_of_floats():
    for dtype, maxval, wanted in ((np.uint8, 255, UNDECIDED), (np.uint16, 100, UNDECIDED), (np.uint16, 256, 0)):
        assert own_ramps(Stack(1, 200, 200, np.dtype(dtype), np.dtype(dtype), maxval))["undecided"] == wanted
    assert own_ramps(Stack(1, 128, 128, np.dtype("u1"), np.dtype("u1"), 255))["undecided"] == UNDECIDED_IF_SMALL
    assert own_ramps(Stack(1, 2, 2, np.dtype("f4"), np.dtype("f4"), 1))["undecided"] == 0
    assert own_ramps(Stack(1, 2, 2, np.dtype("f4"), np.dtype("f4"), None))["undecided"] == 0


def test_one_sample_of_a_picture_may_be_undecided():
    stack = Stack(2, 2, 5, np.dtype("u1"), np.dtype("u1"), 255)
    assert 1 < most_undecided(stack) < 2
    assert 10 < most_undecided(Stack(1, 100, 100, np.dtype("u1"), np.dtype("u1"), 255)) < 20


@pytest.mark.parametrize("side", [12, 128, 200, 600, 5000])
def test_every_odd_row_tells(side):
    assert decided_row(side, side) % 2 == 1
