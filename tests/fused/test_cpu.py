"""The fused form for CPUs: every code path against the float64 reference, and a simulator.

A program is compiled for a set of radices, not for a size: sizes are of few sets, {3, 4, 5} where it does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from fftfilter import Filter
from fftfilter import transfer as H
from fftfilter.device.launcher import Launcher, MemoryPool, aligned
from fftfilter.device.opencl import Device
from fftfilter.errors import TooLargeError
from fftfilter.fused import Shape, device_bytes
from fftfilter.fused.cpu.pipeline import FusedCpuPipeline
from fftfilter.fused.cpu.plain_fft import CpuTransform
from fftfilter.fused.cpu.program import PART_BYTES, vector_width
from fftfilter.output.histogram import ByHistogram
from fftfilter.output.modes import Auto
from fftfilter.output.rounding import deviation
from fftfilter.transfer import reference
from fftfilter.transfer.grid import Support
from fftfilter.transfer.radial import PASSES
from fftfilter.transfer.shapes import SHAPES
from tests.fused.helpers import (
    assert_as_the_reference,
    assert_clipped_beyond_the_ends,
    assert_kept,
    assert_real,
    even,
    noise,
    spikes,
    stack_of,
)
from tests.helpers import COMMAND, assert_transform

HIGH = H.highpass()

# (height, width), chosen by what they make the kernels do
SIZES = [
    (1, 1),  # no stage at all
    (1, 60),  # one row: a column transform of length 1
    (60, 1),  # one column: the row transform does nothing, and the image is narrower than a strip
    (2, 3),  # single stages of radix 2 and 3
    (8, 8),  # single stages of radix 8: the first is the last
    (64, 512),  # several stages of it
    (100, 36),  # radices 5, 4 and 3, several strips; the last moved left, its columns computed twice
    (36, 225),  # an odd width; with 16 lanes a strip of one column more
    (77, 221),  # the prime that is written out, 7, and 11, 13 and 17 through the loop, odd in both directions
    (23, 58),  # primes through the loop, alone and among others
    (67, 60),  # Bluestein in the columns alone
    (60, 67),  # Bluestein in the rows alone
    (134, 71),  # Bluestein in both
    (1, 4099),  # a long prime row, a single one
]


def fused(launcher, pixels, transfer=HIGH, *, lanes=None, workers=None, part_bytes=PART_BYTES, edges="wrap", **kind):
    stack, caches = stack_of(pixels, **kind), {"lanes": lanes, "workers": workers, "part_bytes": part_bytes}
    return FusedCpuPipeline(launcher, transfer, stack, edges=edges, **caches).run(pixels)


def of_kind(kind, radius, shape="ideal", order=None):
    """Return a pass with its outer cutoff at a radius."""
    radii = {"radius": radius} if kind in ("lowpass", "highpass") else {"inner": radius / 3, "outer": radius}
    return getattr(H, kind)(**radii, shape=shape, order=order)


@pytest.mark.parametrize(("height", "width"), SIZES)
def test_every_size_gives_what_the_reference_gives(cpu, height, width):
    image = noise((1, height, width))
    assert_as_the_reference(fused(cpu, image), image, HIGH)


@pytest.mark.parametrize(("height", "width"), [(100, 225), (240, 324)])
def test_parts_that_fit_a_small_cache_give_the_same(cpu, height, width):
    # Parts of 16 numbers: several stages on the whole before, in both directions.
    image = noise((1, height, width))
    small = 16 * 8 * vector_width(cpu.device)
    plan = FusedCpuPipeline(cpu, HIGH, stack_of(image), part_bytes=small).plan
    assert min(plan.columns.whole_stages, plan.rows.whole_stages) >= 2
    np.testing.assert_array_equal(fused(cpu, image, part_bytes=small), fused(cpu, image))


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_strips_read_at_once_give_the_same_as_one_after_the_other(cpu, dtype):
    image = noise((1, 60, 324), dtype)  # with 16 lanes an odd number of strips, 11
    at_once, single = (FusedCpuPipeline(cpu, HIGH, stack_of(image), workers=workers).plan for workers in (1, 32))
    assert at_once.strips_per_task(1) >= 2
    assert at_once.strips % at_once.strips_per_task(1) or at_once.lanes < 16
    assert single.strips_per_task(1) == 1
    np.testing.assert_array_equal(fused(cpu, image, workers=1), fused(cpu, image, workers=32))


def test_a_picture_that_is_equally_large_everywhere_is_white_everywhere(cpu):
    # Rounding makes one pixel the largest; some hundred others must not be a level below it.
    checkerboard = (np.indices((1, 158, 509)).sum(axis=0) % 2 * 255).astype(np.uint8)
    assert (fused(cpu, checkerboard) == 255).all()


def test_columns_that_fill_a_narrow_image_have_no_part_in_its_largest_value(cpu):
    # Bluestein rounds a little of each column into the one that it is paired with.
    flat = np.full((1, 2003, 3), 100, np.uint16)
    assert not fused(cpu, flat).any()


# All butterflies with 4 lanes, which take PoCL seconds to compile, are held to the reference on Oclgrind.
@pytest.mark.parametrize(("lanes", "height", "width"), [(4, 8, 64), (8, 60, 100), (16, 67, 71)])
def test_every_vector_width_gives_the_same(cpu, lanes, height, width):
    image = noise((1, height, width))
    made = FusedCpuPipeline(cpu, HIGH, stack_of(image), lanes=lanes)
    assert made.plan.lanes == lanes
    assert_as_the_reference(made.run(image), image, HIGH)


@pytest.mark.parametrize("kind", PASSES)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_pass_of_every_shape(cpu, kind, shape):
    transfer = of_kind(kind, 12.5, shape, 3 if SHAPES[shape].has_order else None)
    image = noise((1, 36, 60))
    assert_as_the_reference(fused(cpu, image, transfer), image, transfer)


@pytest.mark.parametrize("shape", ["gaussian", "butterworth", "ideal"])
def test_a_cutoff_is_round_in_a_high_picture_too(cpu, shape):
    image, transfer = noise((1, 60, 36)), H.bandpass(6, 15, shape=shape)
    assert_as_the_reference(fused(cpu, image, transfer), image, transfer)


@pytest.mark.parametrize("shape", ["cosine", "fermi"])
def test_a_width_is_another_part_of_each_cutoff(cpu, shape):
    image, transfer = noise((1, 36, 60)), H.bandpass(6, 15, shape=shape, width=4)
    assert_as_the_reference(fused(cpu, image, transfer), image, transfer)


@pytest.mark.parametrize("transfer", [H.bandstop(4, 12, shape="gaussian"), H.bandpass(4, 12)], ids=str)
def test_bluestein_has_the_mask_at_the_right_frequencies(cpu, transfer):
    image = noise((1, 71, 67))
    assert_as_the_reference(fused(cpu, image, transfer), image, transfer)


@pytest.mark.parametrize("radius", [0.5, 3, 5, 13, 40])
def test_the_ideal_mask_passes_exactly_the_bins_of_the_reference(cpu, radius):
    # A cosine on a bin of the circle itself (3, 4, 5), (5, 12, 13) passes a high-pass, and no low-pass.
    y, x = np.mgrid[:60, :60]
    wave = np.sum([np.cos(2 * np.pi * (kx * x + ky * y) / 60) for kx, ky in ((3, 4), (5, 12), (0, 3))], axis=0)
    image = (wave / 4).astype(np.float32)[None]
    for transfer in (H.lowpass(radius), H.highpass(radius)):
        assert_as_the_reference(fused(cpu, image, transfer), image, transfer)


# Rows within the support: one alone, some of a group, several groups, all but the last, all.
@pytest.mark.parametrize("kind", PASSES)
def test_any_number_of_rows_within_the_support(cpu, kind):
    image, n = noise((1, 60, 36)), 36
    for radius in (0.01, 1, n / 8, n / 3, n / 2 - 0.1, n / 2 + 0.1, n * 0.69):
        transfer = of_kind(kind, radius)
        assert_as_the_reference(fused(cpu, image, transfer), image, transfer)


@dataclass
class Within:
    """A transfer function of these gains that varies where a support says so, which may be a lie."""

    gains: Any
    support: Support
    radial = None

    def on_grid(self, *_, **__):
        return self.support, self.gains

    def at_dc(self, gains):
        return gains[0, 0]


@pytest.mark.parametrize("beyond", [0.0, 1.0])
@pytest.mark.parametrize(("height", "width"), [(100, 60), (67, 71)])
def test_rows_beyond_the_support_are_not_transformed(cpu, beyond, height, width):
    """There the gains of the table are wrong, and nothing shows it."""
    gains = np.full((height, width), 0.5)
    gains[20:-19] = beyond
    lies = np.where(gains == beyond, 0.25, gains)
    image = noise((1, height, width))
    got = fused(cpu, image, Within(lies, Support(20, width, beyond)))
    assert_as_the_reference(got, image, H.mask(gains))


@pytest.mark.parametrize(("height", "width"), [(60, 100), (67, 71)])
def test_any_mask_from_a_table(cpu, height, width):
    image = noise((1, height, width))
    half = noise((height, width), "float32").astype(np.float64)
    everything = np.ones((height, width))
    for gains in (even(half), everything):
        assert_as_the_reference(fused(cpu, image, H.mask(gains)), image, H.mask(gains))
    assert not fused(cpu, image, H.mask(0 * everything)).any()


@pytest.mark.parametrize(("dtype", "bright"), [("uint16", 60_000), ("float32", 0.9)])
@pytest.mark.parametrize(("height", "width"), [(100, 60), (67, 71)])
def test_small_detail_on_a_bright_image(cpu, dtype, bright, height, width):
    """Rows that are transformed and rows that are not have one scale; rounding of what is taken out stays small."""
    detail = np.random.default_rng(7).uniform(-1, 1, (height, width)) * bright * 1e-3
    image = (bright + detail).astype(dtype)
    wanted = reference.filter_image(image, HIGH.gain(height, width), np.float32, 1)
    assert np.abs(fused(cpu, image[None], out="float32")[0] - wanted).max() < 0.25 / 255


@pytest.mark.parametrize(("transfer", "height", "width"), [(H.lowpass(9), 100, 60), (H.highpass(9), 67, 71)], ids=str)
def test_filtered_values_as_they_are_and_their_extremes(cpu, transfer, height, width):
    pixels = noise((2, height, width))
    pipeline = FusedCpuPipeline(cpu, transfer, stack_of(pixels, real=True))
    got = pipeline.run(pixels)
    assert_real(got, pixels, transfer)
    np.testing.assert_array_equal(pipeline.facts().extremes[:, 1], np.abs(got).max(axis=(1, 2)))


@pytest.mark.parametrize(
    ("dtype", "out"),
    [("uint8", "uint16"), ("uint16", "float32"), ("float32", "uint8"), ("uint16", "uint16"), ("float32", "float32")],
)
def test_every_type_in_and_out(cpu, dtype, out):
    image = noise((1, 45, 60), dtype)
    assert_as_the_reference(fused(cpu, image, out=out), image, HIGH)


@pytest.mark.parametrize(("height", "width"), [(36, 100), (67, 71), (3, 5)])
def test_a_stack_gives_what_each_image_gives_alone(cpu, height, width):
    pixels = noise((3, height, width))
    alone = np.concatenate([fused(cpu, image[None]) for image in pixels])
    np.testing.assert_array_equal(fused(cpu, pixels), alone)


def test_one_scale_for_all_channels(cpu):
    pixels = noise((3, 36, 60))
    got = fused(cpu, pixels, one_scale=True)
    assert_as_the_reference(got, pixels, HIGH, one_scale=True)
    assert got[1].max() < 128


@pytest.mark.parametrize(("height", "width"), [(36, 3), (36, 60), (36, 225)])
def test_each_pixel_that_is_clipped_counts_once(cpu, height, width):
    """Not what fills a narrow image, nor a column that two strips have."""
    pixels = noise((2, height, width))
    pipeline = FusedCpuPipeline(cpu, HIGH.keeping_mean(), stack_of(pixels))
    assert_kept(pipeline, pixels, HIGH)


def test_a_level_at_the_end_of_a_ramp_is_clipped_from_above_alone(cpu):
    stack = stack_of(np.empty((4, 8, 60), np.uint8))
    assert_clipped_beyond_the_ends(FusedCpuPipeline(cpu, HIGH.keeping_mean(), stack), 8, 60)


def test_the_deviation_is_that_of_any_pixel(cpu):
    pixels = spikes(3, 60)
    pipeline = FusedCpuPipeline(cpu, HIGH, stack_of(pixels))
    pipeline.run(pixels)
    np.testing.assert_array_equal(pipeline.facts().deviations(), deviation(pixels))


@pytest.mark.parametrize("workers", [1, 3, 16])
def test_any_number_of_workers_gives_the_same(cpu, workers):
    pixels = noise((2, 36, 225))
    np.testing.assert_array_equal(fused(cpu, pixels, workers=workers), fused(cpu, pixels))


def test_a_launch_for_each_step_gives_the_same_and_their_times(cpu):
    pixels = noise((2, 36, 225))
    profiled = Launcher(cpu.device, profile=True)
    pipeline = FusedCpuPipeline(profiled, HIGH, stack_of(pixels))
    profiled.timings()
    np.testing.assert_array_equal(pipeline.run(pixels), fused(cpu, pixels))
    steps = [(time.step, time.launches) for time in profiled.timings()]
    assert steps == [("columns forward", 1), ("rows", 1), ("columns inverse", 1), ("quantize", 1)]


def test_each_launch_that_is_timed_does_its_own_step_alone(cpu, monkeypatch):
    pipeline, bound = FusedCpuPipeline(Launcher(cpu.device, profile=True), HIGH, stack_of(noise((1, 36, 60)))), []
    monkeypatch.setattr(
        pipeline._filter, "bind", lambda **given: bound.append((given["first_step"], given["end_step"]))
    )
    monkeypatch.setattr(pipeline.launcher, "enqueue", lambda *_: None)
    pipeline._launch()
    assert bound == [(0, 1), (1, 2), (2, 3), (5, 6)]


class Full(Device):
    """A device without memory, which notes what it was asked to hold."""

    checked = ()

    def check_memory(self, what, buffers):
        self.checked = buffers
        raise TooLargeError(what)


@pytest.mark.parametrize(("height", "width"), [(20, 100_003), (100_003, 20), (16, 1 << 20)])
def test_work_spaces_are_counted_before_they_are_allocated(cpu, height, width):
    device = Full(0, cpu.device.cl_device)
    with pytest.raises(TooLargeError):
        FusedCpuPipeline(Launcher(device), HIGH, stack_of(np.empty((1, height, width), np.uint8)), lanes=16, workers=64)
    # A work space holds a worker's longest transform: a row of the width, or Bluestein's of more than twice a side.
    points = {100_003: 200_005, 1 << 20: 1 << 20}[max(height, width)]
    assert sum(device.checked) > 64 * 8 * 16 * points


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("shape", [(2, 20, 10_007), (3, 100, 60), (1, 67, 5)])
def test_the_bytes_that_are_announced_are_those_that_are_checked(cpu, real, shape):
    device = Full(0, cpu.device.cl_device)
    with pytest.raises(TooLargeError):
        FusedCpuPipeline(Launcher(device), HIGH, stack_of(np.empty(shape, np.uint8), real=real))
    assert device_bytes(device, shape, real=real) == sum(device.checked)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_what_rounding_leaves_of_a_constant_image_is_zero(cpu, dtype):
    constant = np.full((1, 36, 45), 1 if dtype == "float32" else 200, dtype)
    assert not fused(cpu, constant).any()
    assert not fused(cpu, np.zeros_like(constant)).any()


def test_the_largest_value_is_exactly_white(cpu):
    image = noise((1, 60, 100))
    assert fused(cpu, image, white=200).max() == 200
    assert fused(cpu, image, out="float32").max() == 1


def test_runs_do_not_differ(cpu):
    pixels = noise((2, 240, 225))
    pipeline = FusedCpuPipeline(cpu, HIGH, stack_of(pixels))
    first = pipeline.run(pixels)
    pipeline.run(pixels[:, ::-1])
    for _ in range(10):
        np.testing.assert_array_equal(pipeline.run(pixels), first)


class Spoiled(Launcher):
    """Fills every new buffer with NaN, and new memory of the host as well."""

    def allocate(self, size):
        buffer = super().allocate(size)
        self.write(buffer, np.full(size, 0xFF, np.uint8))
        return buffer


def test_nothing_is_read_before_it_is_written(cpu, monkeypatch):
    def spoiled(shape, dtype):
        memory = aligned(shape, dtype)
        memory.view(np.uint8)[...] = 0xFF
        return memory

    pixels, own = noise((2, 36, 60)), ByHistogram("magnitude", Auto(20), np.dtype("u1"), 255)
    wanted = FusedCpuPipeline(cpu, HIGH, stack_of(pixels))
    for room in ("pipeline", "plain_fft"):
        monkeypatch.setattr(f"fftfilter.fused.cpu.{room}.aligned", spoiled)
    made = FusedCpuPipeline(Spoiled(cpu.device), HIGH, stack_of(pixels))
    for given in (None, own, own):
        np.testing.assert_array_equal(made.run(pixels, given), wanted.run(pixels, given))
        for got, right in zip(made.facts()[:3], wanted.facts()[:3], strict=True):
            np.testing.assert_array_equal(got, right)
        np.testing.assert_allclose(made.facts().clipped, 0.2 if given else 0, atol=0.02)
    x = noise((2, 36, 60), "float32")
    result, largest = CpuTransform(Spoiled(cpu.device), Shape("real", "both", *x.shape)).run(x)
    assert_transform(result, np.fft.fft2(x), 60)
    assert largest == np.abs(result.view(np.float32)).max()


def test_facts_stay_those_of_their_run(cpu):
    bright, dark = noise((1, 36, 60)), noise((1, 36, 60)) // 5
    pipeline = FusedCpuPipeline(cpu, HIGH, stack_of(bright))
    pipeline.run(bright)
    facts = pipeline.facts()
    before = facts.extremes.tolist()
    pipeline.run(dark)
    assert facts.extremes.tolist() == before != pipeline.facts().extremes.tolist()


class Copies(Launcher):
    """Works on copies of the host's arrays, as a device with memory of its own may, until the host asks for them."""

    def wrap(self, array, **_):
        buffer = self.allocate(array.nbytes)
        self.write(buffer, np.ascontiguousarray(array))
        return buffer

    def finish(self, buffer, array):
        self.read(array, buffer)


def test_a_device_with_memory_of_its_own_gives_pixels_and_facts(cpu):
    """All that the host reads is asked for."""
    pixels = noise((2, 36, 60))
    own, copies = (FusedCpuPipeline(each, HIGH, stack_of(pixels)) for each in (cpu, Copies(cpu.device)))
    np.testing.assert_array_equal(copies.run(pixels), own.run(pixels))
    for got, wanted in zip(copies.facts()[:3], own.facts()[:3], strict=True):
        np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(copies.facts().deviations(), deviation(pixels))
    x = noise((1, 36, 60), "float32")
    made, largest = CpuTransform(Copies(cpu.device), Shape("real", "both", *x.shape)).run(x)
    assert_transform(made, np.fft.fft2(x), 60)
    assert largest == np.abs(made.view(np.float32)).max()


def test_a_compiler_that_declares_every_builtin_makes_the_same_kernels(cpu):
    plain = Device(0, cpu.device.cl_device)
    plain.own_builtins = ()
    pixels = noise((1, 8, 64))
    np.testing.assert_array_equal(fused(Launcher(plain), pixels), fused(cpu, pixels))


@pytest.mark.parametrize("dtype", ["uint16", "float32"])
def test_workers_write_the_same_pixels_every_time_where_strips_share_columns(cpu, dtype):
    for width in (70, 100, 130):
        image = noise((1, 60, width), "uint16")
        one, three = (FusedCpuPipeline(cpu, HIGH, stack_of(image, out=dtype), workers=n) for n in (1, 3))
        wanted = one.run(image)
        for _ in range(30):
            np.testing.assert_array_equal(three.run(image), wanted)


def test_large_results_lie_in_the_memory_of_those_that_are_gone(cpu):
    image = noise((1, 2048, 4096))
    pipeline = FusedCpuPipeline(cpu, HIGH, stack_of(image, real=True))
    gone, kept = pipeline.run(image), pipeline.run(image[:, ::-1])
    place, view, values = gone.ctypes.data, kept[0, ::2], kept[0, ::2].copy()
    del gone, kept
    again = pipeline.run(image)
    assert again.ctypes.data == place
    assert MemoryPool.holds(again)
    other = pipeline.run(image)
    assert other.ctypes.data not in {place, view.ctypes.data}
    assert not MemoryPool.holds(other)  # as much as two results is in use
    np.testing.assert_array_equal(view, values)
    assert not MemoryPool.holds(fused(cpu, image[:, :36, :60]))  # a small one is no burden


def test_many_sizes_are_one_program(cpu):
    device = Launcher(Device(0, cpu.device.cl_device))
    for height, width in ((8, 8), *np.random.default_rng(7).integers(1, 200, (60, 2))):
        image = noise((1, height, width))
        assert_as_the_reference(fused(device, image), image, HIGH)
    assert device.device._build.cache_info().currsize == 1


def test_arrays_of_any_layout_are_read(cpu):
    image = noise((1, 36, 60))
    wanted = fused(cpu, image)
    wide = np.zeros((1, 36, 131), np.uint8)
    wide[:, :, 1:121:2] = image
    np.testing.assert_array_equal(fused(cpu, wide[:, :, 1:121:2]), wanted)
    one_off = np.zeros(36 * 60 + 1, np.uint8)[1:].reshape(1, 36, 60)
    one_off[:] = image
    np.testing.assert_array_equal(fused(cpu, one_off), wanted)
    locked = image.copy()
    locked.flags.writeable = False
    np.testing.assert_array_equal(fused(cpu, locked), wanted)


# Mirrored edges: the same sizes and shapes go through code of their own where rows are masked, and not even along each
# axis through another one, with two inverse transforms.
SLANTED = HIGH * H.notch((0.2, 0.13), width="0.05cyc")


@pytest.mark.parametrize("transfer", [HIGH, SLANTED], ids=str)
@pytest.mark.parametrize(
    ("height", "width"),
    [(134, 71), (67, 60), (60, 67), (1, 1), (1, 60), (60, 1), (2, 3), (100, 36), (36, 225), (77, 221)],
)
def test_every_size_is_mirrored(cpu, transfer, height, width):
    image = noise((1, height, width))
    assert_real(fused(cpu, image, transfer, real=True, edges="mirror"), image, transfer, "mirror")


def test_another_transfer_function_takes_the_buffers_that_fit_it(cpu):
    image, low = noise((1, 36, 60)), H.lowpass(5)
    pipeline = FusedCpuPipeline(cpu, HIGH, stack_of(image, real=True), edges="mirror")
    assert not pipeline.retune(SLANTED)  # which needs buffers for two inverse transforms
    assert_real(pipeline.run(image), image, HIGH, "mirror")
    assert pipeline.retune(low)
    assert_real(pipeline.run(image), image, low, "mirror")


@pytest.mark.parametrize("shape", ["gaussian", "butterworth"])  # gains that multiply, and any other smooth ones
def test_shapes_are_mirrored(cpu, shape):
    image, transfer = noise((1, 36, 60)), H.bandpass(3, 12, shape=shape)
    assert_real(fused(cpu, image, transfer, real=True, edges="mirror"), image, transfer, "mirror")


def test_stacks_are_mirrored_in_parts_that_fit_a_small_cache(cpu):
    images, small = noise((3, 100, 225)), 16 * 8 * 16
    for transfer in (HIGH, SLANTED):
        got = fused(cpu, images, transfer, real=True, edges="mirror", part_bytes=small, workers=3)
        assert_real(got, images, transfer, "mirror")


@pytest.mark.parametrize(("lanes", "percent"), [(8, 66), (16, 34)])
def test_columns_that_two_strips_have_are_counted_once(lanes, percent):
    """The last of two strips has all but four columns of the first one, which are dark here."""
    image = np.full((12, 2 * lanes + 4), 200, np.uint8)
    image[:, 0], image[:, 4 : 2 * lanes] = 110, 20
    with Filter(H.lowpass(1000), scale=("auto", percent), device="cpu", **COMMAND) as filter_:
        assert 120 < filter_(image)[0, 0] < 135  # between the two


def test_of_a_large_picture_every_second_column_is_counted_in_the_last_strip_too(cpu):
    """The others are bright here, and the last strip, which ends with the picture, begins with one of them."""
    image = np.full((300, 375), 255, np.uint8)
    image[:, ::2] = np.arange(300)[:, None] // 3
    with Filter(H.lowpass(1000), scale=("auto", 10), device=cpu.device.index, **COMMAND) as filter_:
        assert filter_(image)[150, 0] == pytest.approx(255 * 45 / 90, abs=5)  # of 5 to 95
