"""The fused form for GPUs, on whatever device there is, against the float64 reference.

Kernels are compiled for each size: tests share sizes where they can, and small limits make small images go the way of
large ones. What takes PoCL seconds to compile, as little local memory and the one launch do, is held to the reference
on Oclgrind alone (oclgrind_run.py).
"""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.device.launcher import Launcher, PageLocked
from fftfilter.errors import ParameterError, TooLargeError
from fftfilter.fused import device_bytes
from fftfilter.fused.gpu.pipeline import FusedGpuPipeline
from fftfilter.fused.gpu.plan import plan
from fftfilter.fused.gpu.transform import RESERVED_BYTES, Limits, TransformPlan
from fftfilter.output.histogram import ByHistogram
from fftfilter.output.modes import Auto
from fftfilter.output.rounding import deviation
from fftfilter.transfer import reference
from tests.fused.helpers import (
    Full,
    assert_as_the_reference,
    assert_clipped_beyond_the_ends,
    assert_kept,
    assert_real,
    even,
    noise,
    spikes,
    stack_of,
    white_of,
)

HIGH = H.highpass()


def room_for(numbers, **more):
    """Return limits with local memory for a number of real numbers."""
    return Limits(local_bytes=4 * numbers + RESERVED_BYTES, **more)


# Sides from 25 up go in two steps, and those of a large prime from 13 up.
TINY = room_for(24)
# Small images have several tiles of columns, within the support and beyond it.
NARROW = Limits(group_wanted=8)


def fused(launcher, pixels, transfer=HIGH, *, limits=Limits(), one_launch=None, edges="wrap", **kind):  # noqa: B008  a constant
    stack = stack_of(pixels, **kind)
    pipeline = FusedGpuPipeline(launcher, transfer, stack, limits=limits, one_launch=one_launch, edges=edges)
    result = pipeline.run(pixels)
    # No difference between runs, the first of which may have left something behind.
    np.testing.assert_array_equal(pipeline.run(pixels), result)
    return result


@pytest.mark.parametrize(
    ("height", "width"),
    [
        (1, 1),  # nothing to transform
        (5, 9),  # odd height: the last row has no partner; odd width: no column in the middle
        (27, 21),  # two stages; an odd first radix: rows of a pair meet in local memory
        (1, 250),  # three stages of rows, more columns than a tile
        (250, 3),  # three stages of columns, side by side
        (34, 17),  # chirp-z in both directions, an even height
    ],
)
def test_any_size_gives_the_reference(launcher, height, width):
    image = noise((1, height, width))
    assert_as_the_reference(fused(launcher, image), image, HIGH)


def test_a_picture_that_is_equally_large_everywhere_is_white_everywhere(launcher):
    # Rounding makes one pixel the largest; the others must not be a level below it.
    flat = np.full((1, 34, 17), 200, np.uint8)
    assert (fused(launcher, flat, H.lowpass()) == 255).all()


def test_sides_too_long_for_a_group_go_in_two_steps(launcher):
    """Pairs of rows in one transform of the outer step, in the spectrum's place; steps of several stages."""
    pixels, launches = noise((2, 30, 45)), {"rows": 2, "columns": 3, "inverse rows": 2}
    profiled = Launcher(launcher.device, profile=True)
    pipeline = FusedGpuPipeline(profiled, HIGH, stack_of(pixels), limits=TINY)
    assert_as_the_reference(pipeline.run(pixels), pixels, HIGH)
    counted = {timing.step: timing.launches for timing in profiled.timings()}
    assert {step: counted[step] for step in launches} == launches


def test_two_steps_give_filtered_values_and_any_mask(launcher):
    pixels = noise((2, 30, 45))
    gains = even(np.random.default_rng(5).uniform(0, 1, (30, 45)))
    got = fused(launcher, pixels, H.mask(gains), limits=TINY, real=True)
    assert_real(got, pixels, H.mask(gains))


def test_two_steps_give_one_scale(launcher):
    pixels = noise((2, 30, 45))
    got = fused(launcher, pixels, limits=TINY, one_scale=True)
    assert_as_the_reference(got, pixels, HIGH, one_scale=True)


def test_a_long_side_as_it_is(launcher):
    image = noise((1, 20011, 2))
    assert_as_the_reference(fused(launcher, image), image, HIGH)


@pytest.mark.parametrize(("dtype", "out"), [("uint16", None), ("float32", None), ("uint8", "float32")])
def test_pixel_types(launcher, dtype, out):
    image = noise((1, 12, 10), dtype)
    assert_as_the_reference(fused(launcher, image, out=out), image, HIGH)


def test_a_stack_gives_what_its_images_give_alone(launcher):
    pixels = noise((3, 5, 9))
    alone = np.concatenate([fused(launcher, image[None]) for image in pixels])
    np.testing.assert_array_equal(fused(launcher, pixels), alone)


def test_channels_share_one_scale(launcher):
    pixels = noise((3, 12, 10))
    assert_as_the_reference(fused(launcher, pixels, one_scale=True), pixels, HIGH, one_scale=True)


@pytest.mark.parametrize(
    "transfer",
    [
        H.lowpass(3),
        H.bandpass(2, 4),
        H.bandstop(2, 4),
        H.highpass(3, shape="gaussian"),
        H.bandpass(1, 4, shape="gaussian"),
        H.bandstop(1, 4, shape="butterworth", order=3),
        H.bandpass(2, 5, shape="cosine", width=1.5),  # another part of each cutoff
    ],
    ids=str,
)
def test_passes_and_shapes(launcher, transfer):
    image = noise((1, 12, 10))
    assert_as_the_reference(fused(launcher, image, transfer), image, transfer)


@pytest.mark.parametrize(
    ("height", "width", "transfer"),
    [
        (64, 32, H.highpass(0.1)),  # DC alone
        (64, 32, HIGH),  # 4 columns of 17, whole tiles
        (64, 32, H.lowpass(32 / 3)),
        (64, 32, H.highpass(15.9)),  # all but the column in the middle
        (64, 32, H.highpass(16.1)),
        (64, 32, H.highpass(90)),  # no bin is that far
        (64, 32, H.bandstop(2, 4.5)),  # part of a tile
        (64, 32, H.bandpass(2, 7)),
    ],
    ids=str,
)
def test_only_the_columns_within_the_support_are_computed(launcher, height, width, transfer):
    """Of sides of two stages, with columns paired in registers."""
    pixels = noise((2, height, width))
    assert_as_the_reference(fused(launcher, pixels, transfer, limits=NARROW), pixels, transfer)


def test_only_the_columns_within_the_support_are_computed_of_chirp_z(launcher):
    pixels, transfer = noise((2, 34, 17)), H.highpass(3)
    assert_as_the_reference(fused(launcher, pixels, transfer), pixels, transfer)


class Spoiled(Launcher):
    """Fills every new buffer with NaN, and keeps them in the order in which they were asked for."""

    def __init__(self, device):
        super().__init__(device)
        self.allocated = []

    def allocate(self, size):
        self.allocated.append(super().allocate(size))
        self.write(self.allocated[-1], np.full(size, 0xFF, np.uint8))
        return self.allocated[-1]


def test_columns_beyond_the_support_are_neither_written_nor_read(launcher):
    spoiled = Spoiled(launcher.device)
    image = noise((1, 64, 32))
    pipeline = FusedGpuPipeline(spoiled, HIGH, stack_of(image), limits=NARROW)
    assert_as_the_reference(pipeline.run(image), image, HIGH)
    planned = pipeline.plan
    assert planned.tiles > -(-4 // planned.tile)
    planes = np.empty((2, planned.tiles, planned.pairs * planned.tile), np.complex64)
    spoiled.read(planes, spoiled.allocated[0])
    untouched = np.isnan(planes.real).all(axis=2)
    np.testing.assert_array_equal(untouched, [np.arange(planned.tiles) * planned.tile >= 4] * 2)


def test_what_is_counted_begins_at_nothing(launcher):
    pixels, own = noise((2, 12, 10)), ByHistogram("magnitude", Auto(20), np.dtype("u1"), 255)
    spoiled, plain = (FusedGpuPipeline(each, HIGH, stack_of(pixels)) for each in (Spoiled(launcher.device), launcher))
    for given in (None, own, own):
        np.testing.assert_array_equal(spoiled.run(pixels, given), plain.run(pixels, given))
        for got, wanted in zip(spoiled.facts()[:3], plain.facts()[:3], strict=True):
            np.testing.assert_array_equal(got, wanted)
        np.testing.assert_allclose(spoiled.facts().clipped, 0.2 if given else 0, atol=0.02)
    np.testing.assert_array_equal(spoiled.facts().deviations(), deviation(pixels))


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_what_is_subtracted_leaves_no_noise_and_faint_detail(launcher, dtype):
    white = white_of(dtype)
    flat = np.full((1, 12, 10), white, dtype)
    assert not fused(launcher, flat).any()
    # 1 % of white, at the other end of its range: what is left of rounding is less than a level.
    faint = (flat * 0.99 + noise((1, 12, 10), dtype) * 0.01).astype(dtype)
    wanted = reference.filter_image(faint[0], HIGH.gain(12, 10), np.dtype(dtype), white)
    got = fused(launcher, faint)[0]
    assert np.abs(got.astype(np.float64) - wanted).max() <= white / 255


@pytest.mark.parametrize("beyond", [0, 1])
def test_masks_have_a_support(launcher, beyond):
    image = noise((1, 64, 32))
    gains = np.full((64, 32), float(beyond))
    gains[[[0], [2], [-2]], [0, 3, -3]] = 0.25
    assert_real(fused(launcher, image, H.mask(gains), limits=NARROW, real=True), image, H.mask(gains))


def test_mask_from_an_array(launcher):
    image = noise((1, 12, 10))
    mask = H.mask(even(np.random.default_rng(5).uniform(0, 1, (12, 10))))
    assert_as_the_reference(fused(launcher, image, mask), image, mask)


def test_sides_of_different_plans_and_real_values_take_a_launch_a_step(launcher):
    for pixels, real in ((noise((1, 5, 9)), False), (noise((1, 12, 10)), True)):
        made = FusedGpuPipeline(launcher, HIGH, stack_of(pixels, real=real), one_launch=True)
        assert len(made._launches) == (3 if real else 4)


def test_rounding_noise_is_black_and_faint_detail_is_not(launcher):
    flat = np.full((2, 12, 10), 77, np.uint8)
    flat[1] = 0
    assert not fused(launcher, flat).any()
    faint = np.zeros((1, 12, 10), np.float32)
    faint[0, 5, 5] = 1e-6  # below the noise of a white pixel, but there is none
    assert fused(launcher, faint).max() == 1


def test_noise_of_channels_is_a_part_of_the_largest_deviation_of_all(launcher):
    detail = 1e-6 * noise((3, 12, 10), "float32")
    detail[0] = 0
    assert_as_the_reference(fused(launcher, detail, one_scale=True), detail, HIGH, one_scale=True)
    y, x = np.mgrid[:12, :10]
    removed = np.stack([0 * x, 1e-6 * np.cos(2 * np.pi * y / 12), 0.9 * np.cos(np.pi * (x + y))]).astype(np.float32)
    assert not fused(launcher, removed, H.lowpass(3), one_scale=True).any()


@pytest.mark.parametrize(
    ("height", "width", "limits"),
    [(12, 10, Limits()), (30, 45, TINY), (20011, 2, Limits())],  # in one step, in two, columns by chirp-z in two
)
def test_each_pixel_that_is_clipped_counts_once(launcher, height, width, limits):
    pixels = noise((2, height, width))
    assert_kept(FusedGpuPipeline(launcher, HIGH.keeping_mean(), stack_of(pixels), limits=limits), pixels, HIGH)


def test_a_level_at_the_end_of_a_ramp_is_clipped_from_above_alone(launcher):
    stack = stack_of(np.empty((4, 12, 10), np.uint8))
    assert_clipped_beyond_the_ends(FusedGpuPipeline(launcher, HIGH.keeping_mean(), stack), 12, 10)


@pytest.mark.parametrize("one_scale", [False, True])
def test_the_deviation_is_that_of_any_pixel(launcher, one_scale):
    pixels = spikes(12, 10)
    pipeline = FusedGpuPipeline(launcher, HIGH, stack_of(pixels, one_scale=one_scale))
    pipeline.run(pixels)
    wanted = deviation(pixels)
    np.testing.assert_array_equal(pipeline.facts().deviations(), [wanted.max()] if one_scale else wanted)


@pytest.mark.parametrize(("height", "width"), [(5, 9), (34, 17)])
def test_values_that_are_not_scaled(launcher, height, width):
    pixels = noise((2, height, width))
    pipeline = FusedGpuPipeline(launcher, HIGH, stack_of(pixels, real=True))
    got = pipeline.run(pixels)
    assert_real(got, pixels, HIGH)
    np.testing.assert_allclose(pipeline.facts().extremes[:, 1], np.abs(got).max(axis=(1, 2)), rtol=1e-6)


def test_results_are_page_locked_from_the_second_on_but_not_those_of_who_keeps_many(launcher):
    image = noise((1, 12, 10))
    pipeline = FusedGpuPipeline(launcher, HIGH, stack_of(image))
    kept = [pipeline.run(image) for _ in range(7)]
    assert [PageLocked.holds(result) for result in kept] == [False, True, True, True, True, False, False]
    assert all((result == kept[0]).all() for result in kept)
    del kept[1]
    assert PageLocked.holds(pipeline.run(image))


def test_device_buffers_are_left_to_the_caller(launcher):
    image = noise((1, 12, 10))
    pipeline = FusedGpuPipeline(launcher, HIGH, stack_of(image))
    source, output = launcher.allocate(image.nbytes), launcher.allocate(image.nbytes)
    launcher.write(source, image)
    pipeline.enqueue(source, output)
    got, kept = np.empty_like(image), np.empty_like(image)
    launcher.read(got, output)
    launcher.read(kept, source)
    np.testing.assert_array_equal(kept, image)
    np.testing.assert_array_equal(got, pipeline.run(image))


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("shape", [(2, 64, 48), (1, 20011, 4), (1, 3, 20011), (1, 20011, 32768)])
def test_all_buffers_are_checked_before_any_is_allocated_and_announced(launcher, shape, real):
    device = Full(0, launcher.device.cl_device)
    with pytest.raises(TooLargeError):
        FusedGpuPipeline(Launcher(device), HIGH, stack_of(np.empty(shape, np.uint8), real=real))
    assert device_bytes(device, shape, real=real) == sum(device.checked[:5])
    planned = plan(*shape[1:])
    if not isinstance(planned.columns, TransformPlan):
        # Bluestein's columns are longer than the spectrum's.
        assert planned.columns.length > 2 * 20011
        assert device.checked[1] >= 8 * (shape[2] // 2 + 1) * planned.columns.length


def test_edges_are_mirrored(launcher):
    """Odd sides, columns by chirp-z."""
    image, transfer = (
        noise((1, 17, 5), "float32"),
        H.mask(np.add.outer(np.abs(np.fft.fftfreq(34)), np.fft.fftfreq(10) ** 2)),
    )
    assert_real(fused(launcher, image, transfer, real=True, edges="mirror"), image, transfer, "mirror")


SLANTED = H.highpass("6px") * H.notch((0.2, 0.13), width="0.05cyc")


def test_edges_are_mirrored_where_the_function_is_not_even_along_each_axis(launcher):
    images = noise((2, 17, 5), "float32")
    for real in (True, False):
        pipeline = FusedGpuPipeline(launcher, SLANTED, stack_of(images, "u1", real=real), edges="mirror")
        assert len(pipeline._launches) == (5 if real else 6)  # columns and inverse rows twice
        got = pipeline.run(images)
        (assert_real if real else assert_as_the_reference)(got, images, SLANTED, edges="mirror")


def test_two_inverse_transforms_are_never_in_one_launch(launcher):
    stack = stack_of(np.empty((2, 8, 8), np.uint8))
    assert len(FusedGpuPipeline(launcher, SLANTED, stack, one_launch=True, edges="mirror")._launches) == 6


def test_memory_for_twice_the_spectra_is_checked_and_announced(launcher):
    device, images = Full(0, launcher.device.cl_device), np.empty((2, 64, 48), np.uint8)
    with pytest.raises(TooLargeError):
        FusedGpuPipeline(Launcher(device), SLANTED, stack_of(images), edges="mirror")
    assert device_bytes(device, images.shape, real=False, inverses=2) == sum(device.checked[:5])


def test_sides_too_long_for_a_group_are_not_mirrored(launcher):
    with pytest.raises(ParameterError, match="has no mirrored edges for 60 x 64 pixels: take another engine"):
        fused(launcher, noise((1, 64, 60)), limits=TINY, edges="mirror")


def test_double_precision_is_left_to_another_engine(launcher):
    double = Launcher(launcher.device, precision="double")
    with pytest.raises(ParameterError, match="computes in single precision: take another engine for double"):
        FusedGpuPipeline(double, HIGH, stack_of(noise((1, 12, 10))))


@pytest.mark.parametrize(
    ("height", "width", "room", "wanted"),
    [
        (48, 16, 162, ((12, 4), 4, 2)),  # each half of a batch of four
        (625, 4, 632, ((5, 5, 5, 5), 2, 2)),
        (625, 4, 10000, ((5, 5, 5, 5), 2, 1)),  # four stages, of which the last leaves columns
        (2625, 4, 10000, ((7, 5, 5, 5, 3), 1, 1)),
    ],
)
def test_columns_of_several_stages_go_in_rounds_through_local_memory(launcher, height, width, room, wanted):
    pixels, limits = noise((2, height, width)), room_for(room)
    made = FusedGpuPipeline(launcher, HIGH, stack_of(pixels), limits=limits)
    columns = made.plan.columns
    assert isinstance(columns, TransformPlan)
    assert (columns.radices, columns.batch, columns.batch_rounds) == wanted
    assert_as_the_reference(made.run(pixels), pixels, HIGH)
