"""Every form of a filter as numbers: gains at each frequency, pixels of known values, and nothing left of other calls.

Pictures forgive what these do not: a gain is held to a millionth, what is counted to NumPy's own count.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.fused.cpu.pipeline import FusedCpuPipeline
from fftfilter.fused.gpu.pipeline import FusedGpuPipeline
from fftfilter.output.histogram import ByHistogram
from fftfilter.output.modes import Auto, Range
from fftfilter.output.ramp import Gray, Stack, on_ramps, ramps
from fftfilter.output.rounding import NUDGE, deviation
from fftfilter.plain import NumPyPipeline
from fftfilter.staged import algorithms
from fftfilter.staged.pipeline import StagedPipeline
from fftfilter.transfer import reference
from fftfilter.transfer.product import grid_with
from fftfilter.transfer.radial import PASSES
from fftfilter.transfer.shapes import SHAPES
from tests.fused.helpers import assert_as_the_reference, even

FORMS = {
    "staged": partial(StagedPipeline, algorithm=algorithms.load("book")),
    "numpy": NumPyPipeline,
    "cpu": FusedCpuPipeline,
    "gpu": partial(FusedGpuPipeline, one_launch=False),
    "generic": partial(FusedGpuPipeline, generic=True, one_launch=False),
}
each_form = pytest.mark.parametrize("form", FORMS)
ALL = H.Transfer(())
SIZE = 12, 10
RNG = partial(np.random.default_rng, 7)


def made(form, launcher, transfer, images, out="f4", white=None, *, one_scale=False, **options):
    """Return a pipeline of a form, by default one for values as they are."""
    stack = Stack(*images.shape, images.dtype, np.dtype(out), white, one_scale)
    return FORMS[form](launcher, transfer, stack, **options)


# Gains


def radial(kind, shape):
    """Return a pass whose cutoffs have edges of different steepness."""
    own = {"order": 3} if SHAPES[shape].has_order else {"width": 1.1} if SHAPES[shape].widest else {}
    return getattr(H, kind)(*((3,) if kind in ("lowpass", "highpass") else (2, 4)), shape=shape, **own)


def of_every_kind(height, width):
    """Return transfer functions by what kernels do for them."""
    table = H.mask(3 * even(RNG().uniform(-1, 1, (height, width))))
    faint = H.highpass("400%", shape="gaussian"), H.bandpass("400%", "20cyc", shape="butterworth", order=1)
    passes = [radial(kind, shape) for kind in PASSES for shape in SHAPES]
    means = [each.keeping_mean() for each in (H.highpass(3), H.bandpass(2, 4, shape="gaussian"), table)]
    return [*passes, table, *faint, *means, ALL, H.lowpass(4, shape="fermi") * H.notch((0.25, 0.1), width="0.1cyc")]


# Those of Bluestein's are rounded more. Of the specialized programs the ones that other tests have, too.
OTHERS = set(SHAPES) - {"fermi"}
GAINS = [("staged", SIZE, 1e-6), ("cpu", (36, 60), 2e-6), ("cpu", (100, 60), 3e-6), ("cpu", (61, 67), 5e-6)]
GAINS += [
    ("numpy", SIZE, 1e-6),
    ("numpy", (61, 67), 5e-6),
    ("gpu", SIZE, 1e-6),
    ("generic", SIZE, 1e-6),
    ("generic", (39, 77), 3e-6),
    ("generic", (34, 17), 5e-6),
]


@pytest.mark.parametrize(("form", "size", "error"), GAINS)
def test_of_a_single_pixel_each_frequency_has_its_gain(form, size, error, launcher):
    image = np.zeros((1, *size), np.uint8)
    image[0, 1, 2] = 200
    for transfer in of_every_kind(*size):
        if transfer.radial and transfer.radial.shape not in {"gpu": OTHERS, "staged": ("cosine",)}.get(form, SHAPES):
            continue
        gains = transfer.gain(*size) / transfer.largest
        found = np.fft.fft2(made(form, launcher, transfer, image).run(image)[0]) / np.fft.fft2(image[0])
        np.testing.assert_allclose(found, gains, rtol=0, atol=error * np.abs(gains).max(), err_msg=str(transfer))


@pytest.mark.parametrize(
    ("form", "size"),
    [*((form, size) for form in ("cpu", "numpy") for size in ((60, 5), (45, 36), (67, 3), (12, 71))), ("gpu", (17, 5)),
     *(("generic", size) for size in ((17, 5), (17, 6), (16, 16), (34, 17)))],
)  # fmt: skip
def test_values_of_mirrored_edges_are_exact_at_each_pixel(form, size, launcher):
    images = (
        RNG().integers(0, 256, (2, *size)).astype("u1" if form in ("cpu", "numpy") else "f4")
    )  # as other tests have them
    gains = even(RNG().uniform(0, 1, (2 * size[0], 2 * size[1])))
    tables = H.mask(gains), H.mask(gains + np.roll(gains[::-1], 1, 0))
    for transfer in (*tables, *((H.bandpass(1, 3), H.bandstop(1, 2, shape="gaussian")) if form != "gpu" else ())):
        gain = grid_with("mirror", transfer, *size).gain() / transfer.largest
        pipeline = made(form, launcher, transfer, images, edges="mirror")
        got, wanted = pipeline.run(images), reference.filtered(images, gain, "mirror").real
        np.testing.assert_allclose(got, wanted, rtol=0, atol=5e-6 * 255, err_msg=str(transfer))
        np.testing.assert_allclose(pipeline.facts().extremes[:, 1], np.abs(got).max(axis=(1, 2)), rtol=1e-6)


# Pixels and what is counted

# Every output with ranges on both sides of 0, on one, and of the picture itself
RANGES = [
    ("magnitude", None), ("magnitude", Range(0, 0.5)), ("magnitude", Range(0.25, 0.5)), ("magnitude", Range(-0.2, 0.5)),
    ("signed", None), ("signed", Range(-0.5, 0.5)), ("signed", Range(-0.5, -0.25)), ("signed", Range(0.25, 0.5)),
    ("keep", None),
]  # fmt: skip
# Type and white of pixels, and whether pictures are the channels of one
DEPTHS = [
    ("u1", 255, False),
    ("u1", 1, True),
    ("u2", 65535, False),
    ("u2", 1000, True),
    ("f4", 1, False),
    ("f4", 1, True),
]


def special(count=3):
    """Return pictures of exact floats: their own range, a darker and a constant one, with 0 and both ends of RANGES."""
    values = RNG().integers(-500, 500, (count, *SIZE)) / 512
    values[0, 0, :6] = 0, 0.25, -0.25, 0.5, -0.5, 1
    values[1] /= 8
    values[2:] = 0.375
    return values.astype(np.float32)


def edges_apart(images, ramp):
    """Return where the levels of a picture are not at the edge between two pixels, where rounding decides."""
    value = np.abs(images) if ramp["magnitude"] else images
    stretch = float(ramp["stretch"]) / (np.abs(images).max() if ramp["of_largest"] else 1)
    level = value * stretch + float(ramp["shift"])
    return np.abs(level - np.rint(level)) > 0.01 + 1e-6 * stretch


@each_form
def test_known_values_become_the_pixels_and_counts_of_numpy(form, launcher):
    images = special()
    for out, white, one_scale in DEPTHS[:: 3 if form == "staged" else 1]:
        pipeline = made(form, launcher, ALL, images, out, white, one_scale=one_scale)
        stack = pipeline.stack
        for output, scale in RANGES:
            given = ramps(output, scale, [1] * stack.pictures, gray=Gray(1, stack.out, white))
            far = deviation(images).reshape(stack.pictures, -1).max(axis=1)
            wanted, facts = on_ramps(images.astype(np.float64), stack, given, far)
            is_own = (output, scale) == RANGES[0]
            got, about = pipeline.run(images, None if is_own else given), f"{out} {white} {output} {scale}"
            if out == "f4":
                np.testing.assert_allclose(got, wanted, rtol=0, atol=4e-6, err_msg=about)
            else:
                apart = np.abs(got.astype(int) - wanted)
                own = [images] if one_scale else images[:, None]
                sure = np.concatenate([edges_apart(*each) for each in zip(own, given, strict=True)])
                assert apart.max() <= 1, about
                assert not apart[sure].any(), about
            if not is_own:
                unsure = 0 if out == "f4" else np.count_nonzero(~sure) / images.size * stack.pictures
                np.testing.assert_allclose(pipeline.facts().clipped, facts.clipped, atol=unsure + 1e-6, err_msg=about)
            most = np.abs(images).reshape(stack.pictures, -1).max(axis=1)
            np.testing.assert_allclose(pipeline.facts().extremes[:, 1], most, rtol=1e-6)
            np.testing.assert_allclose(pipeline.facts().deviations(), far, rtol=1e-6)


@each_form
def test_of_nothing_and_of_rounding_errors_comes_what_comes_of_0(form, launcher):
    images = np.stack([np.full(SIZE, 0.7, np.float32), np.zeros(SIZE, np.float32)])
    for out, white, _ in DEPTHS[::4]:
        pipeline = made(form, launcher, H.highpass(1), images, out, white)
        for output, scale in RANGES:
            given = ramps(output, scale, [1, 1], gray=Gray(1, pipeline.stack.out, white))
            wanted, *_ = on_ramps(np.zeros(images.shape), pipeline.stack, given, deviation(images))
            np.testing.assert_allclose(pipeline.run(images, given), wanted, rtol=0, atol=1e-6)


@each_form
def test_noise_of_channels_is_a_part_of_the_largest_deviation_of_all(form, launcher):
    """Floats show what is left of the weakest one."""
    y, x = np.mgrid[: SIZE[0], : SIZE[1]]
    strong = 0.9 * np.cos(2 * np.pi * (5 * y / 12 + 4 * x / 10) + 0.3)
    weak = 1e-3 * np.cos(2 * np.pi * (4 * y / 12 + 3 * x / 10) + 1.1)
    images = np.stack([0 * x, strong, weak]).astype(np.float32)
    for first in range(3):
        channels = np.roll(images, first, axis=0)
        assert not made(form, launcher, H.lowpass(3), channels, "f4", 1, one_scale=True).run(channels).any()


@each_form
@pytest.mark.parametrize("one_scale", [False, True])
def test_faint_detail_shows_on_any_ground(form, one_scale, launcher):
    """Each channel's deviation is that from its own ground: detail of another brightness is no rounding error."""
    images = (np.array([[[0.25]], [[0.75]]]) + RNG().integers(0, 128, (2, *SIZE)) * 2**-24).astype(np.float32)
    got = made(form, launcher, H.highpass(2), images, "u1", 255, one_scale=one_scale).run(images)
    assert_as_the_reference(got, images, H.highpass(2), one_scale=one_scale)


@each_form
@pytest.mark.parametrize("one_scale", [False, True])
def test_a_histogram_finds_the_range_that_numpy_finds(form, one_scale, launcher):
    """Of values in the middle of bins; again after other pictures: nothing is left of what was counted before."""
    images = (RNG().integers(0, 4096, (3, *SIZE)) + 0.5) / 4096 * RNG().choice([-1, 1], (3, *SIZE))
    images[:, 5, 5] = 1, -1, 1
    images[1] /= 8
    images[2] = (1536 + 0.5) / 4096
    images = images.astype(np.float32)
    pipeline = made(form, launcher, ALL, images, "f4", 1, one_scale=one_scale)
    stack = pipeline.stack
    for given in (images, images[::-1].copy(), images):
        far = deviation(given).reshape(stack.pictures, -1).max(axis=1)
        for output, percent in (("magnitude", 13), ("signed", 31), ("magnitude", 0), ("signed", 0)):
            found = ByHistogram(output, Auto(percent), stack.out, 1)
            wanted, facts = on_ramps(given.copy(), stack, found, far)
            np.testing.assert_allclose(
                pipeline.run(given, found), wanted, rtol=0, atol=1e-5, err_msg=f"{output} {percent}"
            )
            np.testing.assert_allclose(
                pipeline.facts().clipped, facts.clipped, atol=1e-6, err_msg=f"{output} {percent}"
            )


@each_form
def test_a_histograms_range_that_is_narrow_has_all_levels(form, launcher):
    """What is white for being nearly the largest is a part of the range, not of the largest value."""
    levels = RNG().integers(0, 255, SIZE) + 0.5
    levels[0, :4] = 0.1, 254.9, 254.5, 255
    images = (1 - (255 - levels) / 255 / 64).astype(np.float32)[None]
    pipeline = made(form, launcher, ALL, images, "u1", 255)
    got = pipeline.run(images, ByHistogram("magnitude", Auto(0), np.dtype("u1"), 255))
    np.testing.assert_array_equal(got[0], np.floor(levels))


@pytest.mark.parametrize("form", ["cpu", "gpu", "generic"])
def test_a_histograms_range_may_be_too_small_for_single_precision(form, launcher):
    """Its ramp would be steeper than numbers are: what is between black and white stays there."""
    images = (np.arange(120).reshape(1, *SIZE) * 2.0**-128).astype(np.float32)
    images[0, 0, 1] = 1e-34
    pipeline = made(form, launcher, ALL, images, "u1", 255)
    got = pipeline.run(images, ByHistogram("magnitude", Auto(10), np.dtype("u1"), 255)).ravel()
    assert (got[0], got[1], 0 < got[60] < got[100] < 255) == (0, 255, True), got


@each_form
def test_what_is_white_for_being_nearly_the_largest_is_decided(form, launcher):
    """Its level is that of white: no edge lies there."""
    images = np.full((1, *SIZE), 1 - NUDGE / 255, np.float32)
    images[0, 0, 0], images[0, 1] = 1, 0.5
    pipeline = made(form, launcher, ALL, images, "u1", 255)
    assert (pipeline.run(images)[0, 2:] == 255).all()
    assert list(pipeline.facts().undecided) == [0]


# Calls after calls


@each_form
def test_what_comes_of_a_picture_does_not_depend_on_those_before(form, launcher):
    """There and back, through pictures and ramps: of a picture's own range, given ones, and those of histograms."""
    beside = ((RNG().integers(20, 200, SIZE) + 5e-6 - NUDGE) / 255).astype(np.float32)  # edges between levels
    beside[0, 0] = 1
    pictures = [*special(2)[:, None], beside[None]]
    of = partial(ramps, units=[1], gray=Gray(1, np.dtype("u1"), 255))
    automatic = partial(ByHistogram, dtype=np.dtype("u1"))
    # A filter has either given ranges or those of histograms.
    for kinds in (
        [None, of("keep"), of("signed", Range(-0.1, 0.2))],
        [None, automatic("signed", Auto(20), maxval=255), automatic("magnitude", Auto(5), maxval=99)],
    ):
        cases = [(i, j) for i in range(len(pictures)) for j in range(len(kinds))]
        wanted = {(i, j): outcome(form, launcher, pictures[i], kinds[j]) for i, j in cases}
        used = made(form, launcher, ALL, pictures[0], "u1", 255)
        for i, j in [*cases, *cases[::-1]]:
            assert outcome(form, launcher, pictures[i], kinds[j], used) == wanted[i, j], (i, j)


def outcome(form, launcher, picture, ramp, pipeline=None):
    """Return all that a pipeline says of a picture: a new one, unless one is given."""
    pipeline = pipeline or made(form, launcher, ALL, picture, "u1", 255)
    got = pipeline.run(picture, ramp)
    facts = pipeline.facts()
    told = [facts.undecided, facts.extremes, facts.deviations(), *([] if ramp is None else [facts.clipped])]
    return got.tolist(), [np.asarray(each).tolist() for each in told]
