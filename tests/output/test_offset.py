"""The offset: weak detail on a bright background is exact in every form, and weaker detail by double precision."""

from __future__ import annotations

import numpy as np
import pytest

import fftfilter
from fftfilter import transfer as H
from fftfilter.device.launcher import Launcher
from fftfilter.filters import Filter
from fftfilter.output.rounding import Difference, deviation, mean_deviation, offset, spread
from fftfilter.transfer import reference
from tests.helpers import COMMAND, FORMS, assert_gray_levels, by_reference, values_by
from tests.soak.check import as_gpu

SIZE = 60, 100
PASSES = [H.lowpass(5), H.highpass(5), H.bandpass(5, 9), H.bandstop(5, 9)]


def wave(height, width):
    """Return a wave of one period along the width, from -1 to 1."""
    return np.broadcast_to(np.cos(2 * np.pi * np.arange(width) / width), (height, width))


def test_the_offset_is_the_middle_one_of_three_pixels_of_each_plane():
    planes = np.zeros((2, 8, 12), np.uint16)
    planes[0, [2, 4, 6], [3, 6, 9]] = 60000, 7, 500
    planes[1, [2, 4, 6], [3, 6, 9]] = 9, 9, 0
    assert offset(planes).tolist() == [500, 9]
    assert deviation(planes).tolist() == [59500, 9]
    assert offset(np.array([[-5]])) == -5


def test_the_spread_is_the_root_of_the_mean_square_of_deviations():
    assert spread(np.array([[3, 3, 3, 3, 7]], np.uint8)) == pytest.approx(4 / np.sqrt(5))
    assert spread(np.array([[0, 0, 0, 0, 1e300]])) == pytest.approx(1e300 / np.sqrt(5))
    assert spread(np.zeros((1, 5))) == 0
    assert spread(np.array([[[3, 3, 3]], [[0, 9, 9]]])).tolist() == pytest.approx([0, np.sqrt(27)])


def test_the_mean_of_each_plane_is_less_its_offset():
    assert mean_deviation(np.array([[[3, 3, 6]], [[0, 250, 251]]], np.uint8)).tolist() == [1, -83]


# Of the form for GPUs each size and type is programs of its own: these are compiled for other tests, too.
@pytest.mark.parametrize(
    ("form", "size", "transfer"),
    [
        *((form, SIZE, each) for form in FORMS[:3] for each in PASSES),
        *((form, size, each) for form in FORMS[:3] for size, each in (((71, 67), PASSES[3]), ((9, 5), PASSES[0]))),
        *((FORMS[3], (12, 10), each) for each in PASSES),
        ("generic", (34, 17), H.bandstop(5, 9)),
    ],
    ids=str,
)
def test_one_gray_level_on_a_bright_background_is_as_exact_as_any(launcher, form, transfer, size, rng):
    image = 60000 + rng.integers(0, 2, (1, *size), dtype=np.uint16)
    image = image.astype(np.float32) if form in {FORMS[3], "generic"} else image
    gain = transfer.gain(*size)
    wanted = reference.filtered(image, gain).real
    off = np.abs(values_by(form, launcher, transfer, image) - wanted).max()
    # What passes DC has the size of the offset, and is rounded so.
    assert off <= 4e-6 * (1 + 60000 / 20 * gain[0, 0])


@pytest.mark.parametrize("engine", ["fused", "book", "numpy"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_channels_have_offsets_of_their_own(engine, dtype, rng):
    picture = np.stack([rng.integers(base, base + 2, SIZE) for base in (0, 90, 250)]).astype(dtype)
    white = 1 if dtype == np.float32 else np.iinfo(dtype).max
    got = Filter(H.highpass(5), engine=engine, **COMMAND)(picture, channel_axis=0)
    wanted = by_reference(picture, H.highpass(5), dtype, white)
    assert Difference.of(got, wanted, white).is_right


@pytest.mark.parametrize("engine", ["fused", "book", "numpy"])
@pytest.mark.parametrize("output", ["magnitude", "real"])
def test_what_is_too_weak_for_single_precision_is_done_in_double(engine, output, rng):
    """A wave, 20000 high, and 1 of noise, which is all that passes: 2e-4 of what single precision has to carry."""
    weak = np.round(30000 + 20000 * wave(*SIZE) + rng.uniform(-1, 1, SIZE)).astype(np.uint16)
    strong = rng.integers(0, 60000, SIZE, dtype=np.uint16)
    stack = np.stack([weak, strong])
    with Filter(H.highpass(3), engine=engine, output=output, edges="wrap") as high:
        got = high(stack)
        extremes = np.array(high.extremes())[:, 1]
        assert high.weak() == 1
    values = reference.filtered(stack, H.highpass(3).gain(*SIZE)).real
    np.testing.assert_allclose(extremes, np.abs(values).max(axis=(1, 2)), rtol=2e-6)
    if output == "real":
        assert (np.abs(got - values).max(axis=(1, 2)) <= 1e-6 * extremes).all()
        return
    wanted = [by_reference(image, H.highpass(3), np.uint16, 65535) for image in stack]
    assert (np.abs(got.astype(int) - wanted).max(axis=(1, 2)) <= [0, 1]).all()


@pytest.mark.parametrize("engine", ["fused", "book", "numpy"])
def test_a_mean_that_cancels_the_offset_is_done_in_double_precision(engine):
    """The offset is 30000 and the mean almost 0, so that little is left of both."""
    values = np.where(np.arange(SIZE[0] * SIZE[1]) % 2, 30000.0, -29700.0).reshape(SIZE)
    values[::2, 1::2] += 3
    got = Filter(H.lowpass(0.01), engine=engine, output="real", edges="wrap")(values.astype(np.float32))
    np.testing.assert_allclose(got, values.mean(), rtol=1e-6)


@pytest.mark.parametrize("engine", ["fused", "book", "numpy"])
@pytest.mark.parametrize(
    "transfer", [H.highpass(), H.lowpass(), H.bandpass("20px", "4px"), H.bandstop(30, 34)], ids=str
)
def test_photographs_of_16_bits_are_within_2_levels_of_their_own(engine, transfer, camera, rng):
    photograph = camera[::2, ::2] * np.uint16(256) + rng.integers(0, 256, (256, 256), dtype=np.uint16)
    got = Filter(transfer, engine=engine, **COMMAND)(photograph)
    wanted = by_reference(photograph, transfer, np.uint16, 65535)
    assert np.abs(got.astype(int) - wanted).max() <= 2


@pytest.mark.parametrize("engine", ["fused", "book", "numpy"])
@pytest.mark.parametrize("size", [SIZE, (71, 67)], ids=str)
@pytest.mark.parametrize("detail", [3, 30, 300, 1000, 3000])
def test_any_picture_of_16_bits_is_within_8_levels_of_its_own(engine, size, detail, rng):
    """From what double precision has to do to what single precision does by itself."""
    image = np.round(30000 + 20000 * wave(*size) + rng.uniform(-detail, detail, size)).astype(np.uint16)
    for transfer in (H.highpass(3), H.bandpass(10, 12)):
        got = Filter(transfer, engine=engine, **COMMAND)(image)
        assert np.abs(got.astype(int) - by_reference(image, transfer, np.uint16, 65535)).max() <= 8
    got = Filter(H.highpass(3), engine=engine, **COMMAND)(image, dtype=np.uint8)
    assert_gray_levels(got, by_reference(image, H.highpass(3), np.uint8, 255))


def test_streams_and_channels_do_so_too(rng):
    weak = np.round(30000 + 20000 * wave(*SIZE) + rng.uniform(-1, 1, (3, *SIZE))).astype(np.uint16)
    with Filter(H.highpass(3), **COMMAND) as high:
        wanted = by_reference(weak, H.highpass(3), np.uint16, 65535)
        np.testing.assert_array_equal(high(weak, channel_axis=0), wanted)
        for got, image in zip(high.stream(iter(weak)), weak, strict=True):
            np.testing.assert_array_equal(got, by_reference(image, H.highpass(3), np.uint16, 65535))


@pytest.mark.parametrize("dtype", [np.float64, np.int32])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_numbers_wider_than_a_single_lose_nothing_that_is_seen(dtype, precision, rng):
    image = (2**30 + rng.integers(0, 3, SIZE)).astype(dtype)
    wanted = reference.filtered(image, H.highpass(3).gain(*SIZE)).real
    got = fftfilter.highpass(image, 3, output="real", precision=precision, edges="wrap")
    assert np.abs(got - wanted).max() <= 2e-6 * np.abs(wanted).max()
    exact = fftfilter.highpass(image, 3, output="real", precision="double", edges="wrap")
    assert np.abs(exact - wanted).max() <= 1e-12


def test_what_is_said_of_numbers_wider_than_a_single_is_that_of_double_precision(rng):
    """What part is clipped, and of how many channels, each with a filter of its own."""
    image = 2**31 + rng.integers(-300, 300, (3, *SIZE))
    for notch in (H.Transfer(()), H.notch((0.2, 0.1), channels=(0,))):
        options = {"output": "signed", "scale": (-100, 100)}
        found = [Filter(H.highpass(3) * notch, precision=each, **(COMMAND | options)) for each in ("single", "double")]
        for each in found:
            each(image, channel_axis=0, dtype=np.uint8)
        assert found[0].clipped() == found[1].clipped() != [0.0]
        assert found[0].weak() == (3 if notch.is_by_channel else 1)


@pytest.mark.parametrize("form", ["fused", "for GPUs", "book"])
def test_noise_is_a_part_of_the_largest_deviation_whatever_the_size_is(form):
    """Far below the floor, where nobody looks for detail once more."""
    y, x = np.mgrid[:12, :10]
    image = (np.cos(np.pi * (x + y)) + 0.5e-5 * np.cos(2 * np.pi * y / 12)).astype(np.float32)
    with Filter(H.lowpass(1.5), engine="book" if form == "book" else None, **COMMAND) as made:
        if form == "for GPUs":
            made.launcher = Launcher(as_gpu())
        assert not made(image).any()


@pytest.mark.parametrize(("form", "weak"), [("fused", 0), ("for GPUs", 1)])
def test_chirp_z_of_gpus_is_less_exact_so_that_more_is_done_in_double_precision(form, weak):
    y, x = np.mgrid[:170, :119]
    image = ((-1.0) ** (x + y) + 0.009 * np.cos(4 * np.pi * x / 119)).astype(np.float32)
    with Filter(H.bandpass(1.5, 2.5), output="real", edges="wrap") as made:
        if form == "for GPUs":
            made.launcher = Launcher(as_gpu())
        made(image)
        assert made.weak() == weak


@pytest.mark.parametrize(("size", "weak"), [((64, 256), 1), ((65, 256), 0)])
def test_small_pictures_of_which_one_sample_may_be_wrong_are_done_in_double_precision_sooner(size, weak):
    y, x = np.mgrid[: size[0], : size[1]]
    image = ((-1.0) ** (x + y) + 0.009 * np.cos(4 * np.pi * x / 256)).astype(np.float32)
    with Filter(H.bandpass(0.1, 0.9), output="real", edges="wrap") as made:
        made(image)
        assert made.weak() == weak


def test_few_frequencies_may_get_most_of_the_rounding_errors_of_a_wave():
    """Two of 7,680 frequencies are next to nothing, but all that this filter passes."""
    y, x = np.mgrid[:96, :80]
    image = (np.cos(np.pi * (x + y)) + 0.004 * np.cos(2 * np.pi * x / 80)).astype(np.float32)
    with Filter(H.bandpass(0.9, 1.1), output="real", edges="wrap") as made:
        made(image)
        assert made.weak() == 1


@pytest.mark.parametrize("engine", ["fused", "book", "numpy"])
def test_floats_of_a_stack_have_exponents_of_their_own(engine, rng):
    images = rng.standard_normal((3, *SIZE)) * np.array([1e-30, 1, 1e20])[:, None, None]
    for output in ("magnitude", "real"):
        with Filter(H.highpass(3), engine=engine, output=output, edges="wrap") as high:
            for image, got in zip(images, high(images), strict=True):
                np.testing.assert_array_equal(got, high(image))
                assert got.any()


def test_a_constant_image_stays_black_whatever_its_type():
    for value in (0, 77, 65535, 1e-30, -1e9, 1 / 3):
        for dtype in (np.uint16, np.float32, np.float64):
            if dtype is np.uint16 and value not in range(65536):
                continue
            assert not fftfilter.highpass(np.full(SIZE, value, dtype), 3, **COMMAND).any()
