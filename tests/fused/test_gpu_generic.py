"""The generic program of the form for GPUs: right for every side and mask, the bits of the programs of a size.

All but a few tests share two programs, with the numbers in local and in global memory.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.device.launcher import Launcher
from fftfilter.device.opencl import Device
from fftfilter.fused import fused
from fftfilter.fused.gpu import launches
from fftfilter.fused.gpu.pipeline import FusedGpuPipeline
from fftfilter.fused.gpu.transform import Limits, plan_transform
from fftfilter.output.histogram import ByHistogram
from fftfilter.output.modes import Auto
from fftfilter.output.rounding import WEAK
from tests.fused.helpers import assert_as_the_reference, assert_real, even, noise, stack_of

HIGH = H.highpass()


def pipeline_of(launcher, pixels, transfer=HIGH, *, limits=Limits(), edges="wrap", **kind):  # noqa: B008  a constant
    stack = stack_of(pixels, **kind)
    return FusedGpuPipeline(launcher, transfer, stack, limits=limits, edges=edges, generic=True, one_launch=False)


@pytest.fixture(autouse=True)
def _no_size_has_its_own(monkeypatch):
    monkeypatch.setattr(launches, "_specialized", WeakKeyDictionary())


@pytest.mark.parametrize(
    ("height", "width"),
    [
        (1, 1),  # no stage
        (5, 9),  # odd sides, one stage
        (18, 24),  # two stages; radices 6, 9, 12
        (26, 22),  # radices 13 and 11
        (45, 14),  # radices 15 and 14
        (34, 17),  # chirp-z in both directions
        (2, 250),  # three stages; radix 10
        (32, 21),  # radices 16 and 7
    ],
)
def test_any_size_gives_the_reference(launcher, height, width):
    pixels = noise((2, height, width))
    made = pipeline_of(launcher, pixels)
    assert_as_the_reference(made.run(pixels), pixels, HIGH)
    assert made.weak == WEAK * (3 if height == 34 else 1)  # which chirp-z is less exact by


@pytest.mark.parametrize(
    "transfer",
    [
        H.lowpass(3),
        H.bandstop(2, 4),
        H.bandpass(1, 4, shape="gaussian"),
        H.bandstop(1, 4, shape="butterworth", order=3),
        H.highpass(3, shape="cosine"),
        H.lowpass(3, shape="fermi"),
        H.mask(even(np.random.default_rng(5).uniform(0, 1, (12, 10)))),
    ],
    ids=str,
)
def test_passes_and_shapes(launcher, transfer):
    image = noise((1, 12, 10))
    assert_as_the_reference(pipeline_of(launcher, image, transfer).run(image), image, transfer)


@pytest.mark.parametrize(
    "transfer",
    [H.highpass(3, shape="gaussian"), H.bandpass(2, 4, shape="butterworth", order=2), H.bandpass(2, 4)],
    ids=str,
)
def test_a_cutoff_is_round_in_a_wide_picture_too(launcher, transfer):
    image = noise((1, 10, 15))
    assert_as_the_reference(pipeline_of(launcher, image, transfer).run(image), image, transfer)


def test_values_that_are_not_scaled_and_one_scale(launcher):
    pixels = noise((3, 12, 10))
    assert_real(pipeline_of(launcher, pixels, real=True).run(pixels), pixels, HIGH)
    got = pipeline_of(launcher, pixels, one_scale=True).run(pixels)
    assert_as_the_reference(got, pixels, HIGH, one_scale=True)


# These have programs from other tests.
@pytest.mark.parametrize(
    ("height", "width", "transfer", "edges"),
    [
        (34, 17, HIGH, "wrap"),
        (27, 21, HIGH, "wrap"),
        (17, 5, H.mask(np.add.outer(np.abs(np.fft.fftfreq(34)), np.fft.fftfreq(10) ** 2)), "mirror"),
    ],
)
def test_a_size_that_comes_again_has_its_own_programs_and_the_same_pixels(launcher, height, width, transfer, edges):
    image = noise((1, height, width), "uint8" if edges == "wrap" else "float32")
    made = pipeline_of(launcher, image, transfer, edges=edges, out="u1")
    first = made.run(image)
    assert_as_the_reference(first, image, transfer, edges=edges)
    assert not made._is_specialized
    np.testing.assert_array_equal(made.run(image), first)
    assert made._is_specialized
    assert pipeline_of(launcher, image, transfer, edges=edges, out="u1")._is_specialized


def test_a_size_that_comes_again_finds_its_range_by_its_own_programs(launcher):
    image, own = noise((1, 34, 17)), ByHistogram("magnitude", Auto(20), np.dtype("u1"), 255)
    made = pipeline_of(launcher, image)
    first, before = made.run(image, own), made._by_histogram
    assert made.facts().clipped == pytest.approx(0.2, abs=0.01)
    np.testing.assert_array_equal(made.run(image, own), first)
    assert made._is_specialized
    assert made._by_histogram is not before


def test_mirrored_edges_of_a_function_that_is_not_even_along_each_axis(launcher):
    images, notch = noise((2, 17, 6), "float32"), H.notch((0.2, 0.3), width="0.05cyc")
    got = pipeline_of(launcher, images, notch, edges="mirror", out="u1").run(images)
    assert_as_the_reference(got, images, notch, edges="mirror")


class AsGpu(Device):
    """The device that there is, as if it were a GPU."""

    is_gpu = True


def test_a_gpu_is_given_the_program_for_any_size_with_the_edges_that_are_asked_for(launcher):
    images, notch = noise((2, 17, 6), "float32"), H.notch((0.2, 0.3), width="0.05cyc")
    made = fused(Launcher(AsGpu(0, launcher.device.cl_device)), notch, stack_of(images, "u1"), "mirror")
    assert not made._is_specialized
    assert_as_the_reference(made.run(images), images, notch, edges="mirror")


class Counting(Launcher):
    """Notes which programs were asked for."""

    def __init__(self, device):
        super().__init__(device)
        self.programs = set()

    def kernel(self, names, defines, *given, **options):
        self.programs.add((names, defines))
        return super().kernel(names, defines, *given, **options)


def test_few_programs_serve_many_sizes_and_filters(launcher):
    counting = Counting(launcher.device)
    for height, width in ((12, 10), (5, 9), (34, 17), (26, 22), (1, 3)):
        image = noise((1, height, width))
        for transfer in (HIGH, H.lowpass(3, shape="gaussian"), H.mask(np.ones((height, width)))):
            pipeline_of(counting, image, transfer).run(image)
    # The steps, and quantizing one pixel at once, or four
    assert len(counting.programs) == 3


@pytest.mark.parametrize(
    ("n", "count", "limit", "batch", "groups", "is_local"),
    [
        (64, 33, 4, 4, 9, True),
        (64, 3, 4, 2, 2, True),  # powers of two
        (64, 33, 2, 2, 17, True),
        (1024, 512, 4, 2, 256, True),  # of 17/16 of 1024 numbers two fit into 48 KiB, each twice
        (2048, 1024, 4, 1, 1024, True),
        (3000, 10, 4, 4, 3, False),  # none fits, so that there is room for any
    ],
)
def test_groups_of_the_generic_program_have_as_many_transforms_as_local_memory(
    n, count, limit, batch, groups, is_local
):
    side = launches.Side(plan_transform(n, columns=False, count=8), count, Limits(), limit=limit)
    assert (side.batch, side.groups, side.is_local) == (batch, groups, is_local)
    assert side.stride == n + n // 16
    assert side.group == (256 if is_local else 512)


def test_few_sizes_have_programs_of_their_own(launcher, monkeypatch):
    monkeypatch.setattr(launches, "MOST_SPECIALIZED", 1)
    device = Device(0, launcher.device.cl_device)
    assert not launches.is_specialized(device, (5, 9))
    assert launches.is_specialized(device, (5, 9), 90)
    assert launches.is_specialized(device, (5, 9))
    assert not launches.is_specialized(device, (12, 10), 240)
    assert launches.is_specialized(device, (5, 9), 135)


def test_any_size_has_its_own_once_that_pays(launcher, monkeypatch):
    monkeypatch.setattr(launches, "MOST_SPECIALIZED", 0)
    monkeypatch.setattr(launches, "WORTH_COMPILING", 4 * 34 * 17)
    image = noise((1, 34, 17))
    made, own = pipeline_of(launcher, image), []
    for _ in range(5):
        made.run(image)
        own.append(made._is_specialized)
    assert own == [False, False, False, True, True]
