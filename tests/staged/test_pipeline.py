"""The whole filter against the float64 reference, and the properties of the book's flow."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tests.helpers import SAMPLES, assert_grey_levels, assert_transform
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import fftfilter
from fftfilter.staged import algorithms
from fftfilter.transfer import reference
from fftfilter.errors import ParameterError, TooLargeError
from fftfilter.filters import Filter
from fftfilter.fused import serves
from fftfilter.transfer.parameters import PASSES, SHAPES
from fftfilter.transfer.functions import transfer

# By code path: one pixel, single rows and columns; both sides direct; one side Bluestein's, the other direct; both
# Bluestein's; square and not; more rows than a tile and a work-group; primes.
SIZES = [(1, 1), (1, 9), (9, 1), (1, 64), (64, 1), (2, 2), (16, 16), (32, 128), (100, 64), (64, 100), (37, 53)]
SIZES += [(300, 451)]


def cutoffs_of(kind, height, width):
    n = min(height, width)
    return {} if kind in ("lowpass", "highpass") else {"inner": n / 16, "outer": n / 4}


def wanted(image, kind, dtype=np.uint8, levels=255, **parameters):
    return reference.filter_image(image, transfer(kind, **parameters).gain(*image.shape[-2:]), dtype, levels)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("kind", PASSES)
def test_against_the_reference_at_every_kind_of_size(kind, size, rng):
    image = rng.integers(0, 256, size, dtype=np.uint8)
    cutoffs = cutoffs_of(kind, *size)
    got = Filter(kind, **cutoffs)(image)
    assert got.dtype == np.uint8
    assert_grey_levels(got, wanted(image, kind, **cutoffs))


@pytest.mark.parametrize("engine", ["fused", *algorithms.names()])
@pytest.mark.parametrize("size", [(16, 16), (24, 17), (1, 12)], ids=str)
def test_every_engine_gives_the_same_picture(engine, size, rng):
    image = rng.integers(0, 256, size, dtype=np.uint8)
    assert_grey_levels(fftfilter.highpass(image, engine=engine), wanted(image, "highpass"))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_book_at_every_kind_of_size(size, rng):
    image = rng.integers(0, 256, size, dtype=np.uint8)
    assert_grey_levels(fftfilter.highpass(image, engine="book"), wanted(image, "highpass"))


@pytest.mark.parametrize("size", [*SIZES, (20011, 3), (2, 20011)], ids=str)
def test_the_fused_engine_is_what_filters_unless_asked_otherwise(size):
    """At no size it serves is it replaced by another engine without a word."""
    with Filter("highpass", profile=True) as highpass:
        highpass(np.ones(size, np.uint8))
        assert highpass.engine == "fused"
        assert not {timing.step for timing in highpass.timings()} & {
            "butterfly",
            "bit_reversal",
            "transpose",
            "bluestein",
        }


@pytest.mark.parametrize("size", [*SIZES, (20011, 300), (100, 30000), (32768, 32768), (1, 131072)], ids=str)
def test_the_fused_engine_serves_that_size_on_a_gpu(size):
    assert serves(SimpleNamespace(is_gpu=True), *size)


STAGED = [{"precision": "double"}, {"work_group_size": 32}, {"transpose": "plain"}]


@pytest.mark.parametrize("asked", STAGED, ids=str)
def test_what_only_the_staged_pipeline_has_takes_the_book(asked):
    assert Filter("lowpass", **asked).engine == "book"
    with pytest.raises(ParameterError, match=r"the fused engine has no .*choose book"):
        Filter("lowpass", engine="fused", **asked)


def test_the_fused_engine_has_no_intermediate_results():
    with pytest.raises(ParameterError, match="no intermediate results"):
        Filter("lowpass")(np.eye(4), observe=print)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", PASSES)
def test_shapes_on_a_photograph(camera, kind, shape):
    cutoffs = cutoffs_of(kind, 512, 512)
    got = Filter(kind, shape=shape, **cutoffs)(camera)
    assert_grey_levels(got, wanted(camera, kind, shape=shape, **cutoffs))


@pytest.mark.parametrize("name", ["brick.png", "astronaut.png", "chelsea.png"])
def test_samples_with_one_scale_for_all_channels(name):
    pixels = np.asarray(Image.open(SAMPLES / name))
    planes = np.atleast_3d(pixels).transpose(2, 0, 1)
    got = Filter("highpass")(planes, channel_axis=0)
    assert_grey_levels(got, wanted(planes, "highpass"))


def test_channels_may_lie_along_any_axis(rng):
    image = rng.integers(0, 256, (20, 30, 3), dtype=np.uint8)
    first = Filter("lowpass")(image.transpose(2, 0, 1), channel_axis=0)
    assert (Filter("lowpass")(image, channel_axis=-1) == first.transpose(1, 2, 0)).all()


def test_single_calls_take_channels_too(rng):
    image = rng.integers(0, 256, (20, 30, 3), dtype=np.uint8)
    got = fftfilter.bandpass(image, 2, 5, channel_axis=-1)
    assert (got == Filter("bandpass", inner=2, outer=5)(image, channel_axis=-1)).all()


@pytest.mark.parametrize("engine", ["fused", "book"])
def test_each_image_of_a_stack_has_its_own_scale_and_noise(engine, rng):
    stack = rng.integers(0, 65536, (3, 24, 40), dtype=np.uint16)
    stack[1] //= 8
    # What passes of this pixel is less than the noise of its bright neighbors, but not than its own.
    stack[2] = 0
    stack[2, 3, 5] = 1
    with Filter("lowpass", radius=4, engine=engine) as lowpass:
        together = lowpass(stack)
        for alone, image in zip(stack, together, strict=True):
            assert (lowpass(alone) == image).all()
            assert image.max() == 65535


@pytest.mark.parametrize(
    ("dtype", "white"), [(np.uint16, 65535), (np.uint16, 1000), (np.float32, 1), (np.float64, 1), (np.int16, 1)]
)
def test_depths(dtype, white, rng):
    image = (rng.random((32, 48)) * 900).astype(dtype)
    out, levels = (np.uint16, white) if dtype == np.uint16 else (np.float32, 1)
    got = Filter("lowpass")(image, levels=levels)
    assert (got.dtype, got.max()) == (out, white)
    np.testing.assert_allclose(got, wanted(image, "lowpass", out, levels), atol=1 if out == np.uint16 else 2e-6)


def test_the_output_may_have_another_depth_than_the_input(rng):
    image = rng.integers(0, 65536, (16, 24), dtype=np.uint16)
    for dtype, levels in ((np.uint8, 255), (np.uint8, 100), (np.float32, 1)):
        got = Filter("lowpass")(image, dtype=dtype, levels=levels)
        assert got.dtype == dtype
        np.testing.assert_allclose(got, wanted(image, "lowpass", dtype, levels), atol=1 if dtype == np.uint8 else 2e-6)


@pytest.mark.parametrize(
    ("dtype", "levels"), [("uint8", 0), ("uint8", -1), ("uint8", 256), ("uint8", 9.5), ("uint8", "9"), ("float32", 9)]
)
def test_a_white_that_the_type_does_not_have_is_refused(dtype, levels):
    with pytest.raises(ParameterError, match=f"levels {levels!r} are impossible for {dtype}: give .* 1 to "):
        Filter("lowpass")(np.ones((2, 3)), dtype=dtype, levels=levels)


@pytest.mark.parametrize("value", [0, 1, 200, 255])
@pytest.mark.parametrize("size", [(16, 16), (15, 22)], ids=str)
def test_a_constant_image_is_black_without_its_mean_and_white_with_it(value, size):
    flat = np.full(size, value, np.uint8)
    assert not fftfilter.highpass(flat).any()
    assert (fftfilter.lowpass(flat) == (255 if value else 0)).all()


@pytest.mark.parametrize("size", [(64, 64), (45, 61)], ids=str)
def test_a_filter_that_passes_everything_gives_the_image_back(size, rng):
    image = rng.integers(0, 256, size, dtype=np.uint8)
    image[3, 5] = 255
    assert (fftfilter.lowpass(image, radius=1000) == image).all()


@pytest.mark.parametrize("size", [1e-300, 1e-40, 1.0, 1e30, 1e300])
def test_floats_of_any_size_give_the_same_picture(size, rng):
    image = rng.standard_normal((16, 20))
    np.testing.assert_allclose(fftfilter.highpass(image * size), fftfilter.highpass(image), atol=1e-6)


def test_no_nan_from_any_finite_image():
    for image in (np.zeros((9, 9)), np.full((9, 9), 1e308), np.eye(9) * 1e-310):
        for kind in PASSES:
            assert np.isfinite(Filter(kind, **({} if "band" not in kind else {"inner": 1, "outer": 2}))(image)).all()


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.array([[0.0, np.nan], [np.inf, 1]]), "2 values are NaN or infinite, the first at row 0, column 1"),
        (np.ones((4, 4), complex), "no image"),
        (np.ones(4), "no image"),
        (np.ones((0, 4)), "no image"),
        (np.ones((1, 2, 3, 4)), "no image"),
        ([["a"]], "no image"),
    ],
)
def test_what_is_no_image_is_refused(image, message):
    with pytest.raises(ParameterError, match=message):
        fftfilter.lowpass(image)


def test_one_image_has_no_axis_of_channels():
    with pytest.raises(ParameterError, match="no image"):
        fftfilter.lowpass(np.ones((4, 4)), channel_axis=0)


def test_a_radius_beyond_all_numbers_passes_everything():
    image = 255 * np.eye(6, dtype=np.uint8)
    assert (fftfilter.lowpass(image, radius="1e300") == image).all()
    assert not fftfilter.highpass(image, radius=1e300, shape="butterworth").any()


def test_an_image_larger_than_the_device_is_refused_with_its_bytes():
    huge = np.broadcast_to(np.uint8(7), (1 << 20, 1 << 20))
    with pytest.raises(TooLargeError, match=r"1048576 x 1048576 needs [\d,]{17} bytes"):
        fftfilter.lowpass(huge)


@pytest.mark.parametrize("size", [1, 3, 32, 100, 1024])
def test_any_work_group_size_gives_the_same_picture(size, rng):
    image = rng.integers(0, 256, (40, 64), dtype=np.uint8)
    assert (fftfilter.highpass(image, work_group_size=size) == fftfilter.highpass(image)).all()


@pytest.mark.parametrize("size", [0, -1, 1 << 20])
def test_a_work_group_larger_than_the_device_allows_is_refused_with_its_limits(size):
    with pytest.raises(ParameterError, match=r"give 1 to \d+ \(work-group size \d+, work-item sizes \d+ \d+ \d+\)"):
        Filter("lowpass", work_group_size=size)


def test_double_precision_is_nearer_to_the_reference(camera):
    high = transfer("highpass").gain(512, 512)
    exact = reference.filtered(camera, high).real
    errors = [
        np.linalg.norm(fftfilter.highpass(camera, output="real", precision=precision) - exact) / np.linalg.norm(exact)
        for precision in ("single", "double")
    ]
    assert errors[0] < 1e-6
    assert errors[1] < 1e-14


@pytest.mark.parametrize("engine", ["fused", "book"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_real_output_is_the_filtered_values_in_grey_levels(engine, size, rng):
    stack = rng.integers(0, 65536, (2, *size), dtype=np.uint16)
    wanted = reference.filtered(stack, transfer("lowpass").gain(*size)).real
    with Filter("lowpass", output="real", engine=engine) as lowpass:
        got = lowpass(stack)
        assert got.dtype == np.float32
        assert_transform(got, wanted, max(size))
        most = np.abs(wanted).max(axis=(1, 2))
        np.testing.assert_allclose(lowpass.extremes(), np.stack([0 * most, most], axis=1), rtol=1e-5)
        channels = lowpass(stack, channel_axis=0)
        np.testing.assert_array_equal(channels, got)
        np.testing.assert_allclose(lowpass.extremes(), [(0, most.max())], rtol=1e-5)


def test_real_output_has_signs_and_the_size_of_floats(rng):
    image = rng.standard_normal((20, 24)) * 1e20
    wanted = reference.filtered(image, transfer("highpass").gain(20, 24)).real
    got = fftfilter.highpass(image, output="real")
    assert got.min() < 0 < got.max()
    assert_transform(got / 1e20, wanted / 1e20, 24)


def test_both_transposes_give_the_same_picture(rng):
    image = rng.integers(0, 256, (33, 70), dtype=np.uint8)
    assert (fftfilter.lowpass(image, transpose="plain") == fftfilter.lowpass(image, transpose="tiled")).all()


def test_a_plan_is_used_again_and_its_result_is_the_same(camera):
    with Filter("highpass") as highpass:
        first = highpass(camera)
        assert (highpass(camera) == first).all()
        assert (highpass(camera[:100]).shape, (highpass(camera) == first).all()) == ((100, 512), True)


def test_three_buffers_beside_the_image(camera, monkeypatch):
    from fftfilter.device.launcher import Launcher

    sizes = []
    allocate = Launcher.allocate
    monkeypatch.setattr(Launcher, "allocate", lambda self, size: (sizes.append(size), allocate(self, size))[1])
    Filter("highpass", engine="book")(camera)
    # The third holds the spin factors, 256, the mask's reach in 257 rows and one noise floor, each aligned.
    image, complex_, tables = 512 * 512, 512 * 512 * 8, 256 * 8 + 1152 + 128
    assert sorted(sizes) == [tables, image, complex_, complex_]


def test_the_flow_is_the_books():
    seen = []
    book = Filter("highpass", engine="book")
    book(np.eye(8, dtype=np.uint8), observe=lambda name, array: seen.append((name, array.shape)))
    assert [name for name, _ in seen] == [
        "image", "rows", "rows-transposed", "spectrum", "spectrum-masked", "columns-inverse", "columns-transposed",
        "filtered", "magnitude", "output",
    ]  # fmt: skip


def test_intermediate_results_are_what_their_names_say(rng):
    image = rng.integers(0, 256, (8, 16), dtype=np.uint8)
    seen = {}
    Filter("highpass", radius=2, engine="book")(image, observe=lambda name, array: seen.update({name: array[0]}))
    spectrum = np.fft.fft2(image)
    np.testing.assert_allclose(seen["rows"], np.fft.fft(image), atol=1e-2)
    np.testing.assert_allclose(seen["spectrum"].T, spectrum, atol=1e-2)
    masked = spectrum * transfer("highpass", radius=2).gain(8, 16)
    np.testing.assert_allclose(seen["spectrum-masked"].T, masked, atol=1e-2)
    np.testing.assert_allclose(seen["filtered"], np.fft.ifft2(masked), atol=1e-3)
    np.testing.assert_allclose(seen["magnitude"], np.abs(np.fft.ifft2(masked)), atol=1e-3)


def test_the_profile_names_every_step_and_the_transfers():
    with Filter("highpass", engine="book", profile=True) as highpass:
        highpass(np.eye(16, dtype=np.uint8))
        timings = {timing.step: timing for timing in highpass.timings()}
        assert list(timings) == [
            "write", "spin_factors", "load", "bit_reversal", "butterfly", "transpose", "mask", "normalize",
            "magnitude", "extremes", "quantize", "read",
        ]  # fmt: skip
        assert timings["butterfly"].launches == 4 * 4
        assert all(timing.seconds > 0 for timing in timings.values())
        assert highpass.timings() == []


# A row, powers of two, odd primes, other lengths, Bluestein's. Few sizes, as kernels are compiled for each.
images = st.tuples(
    st.sampled_from([(1, 9), (8, 8), (13, 7), (24, 10), (67, 3)]),
    st.integers(0, 2**32 - 1),
).map(lambda t: np.random.default_rng(t[1]).integers(0, 256, t[0]).astype(np.uint8))
radii = st.floats(0.2, 15)
properties = settings(max_examples=30, deadline=None)


def real(kind, image, **parameters):
    return Filter(kind, output="real", **parameters)(image)


@properties
@given(image=images, radius=radii, shape=st.sampled_from(sorted(SHAPES)))
def test_low_and_high_give_the_image_back(image, radius, shape):
    both = real("lowpass", image, radius=radius, shape=shape) + real("highpass", image, radius=radius, shape=shape)
    np.testing.assert_allclose(both, image, atol=1e-3)


@properties
@given(image=images, radius=radii)
def test_band_pass_and_band_stop_give_the_image_back(image, radius):
    cutoffs = {"inner": radius / 2, "outer": radius}
    both = real("bandpass", image, **cutoffs) + real("bandstop", image, **cutoffs)
    np.testing.assert_allclose(both, image, atol=1e-3)


@properties
@given(image=images, radius=radii)
def test_filters_are_linear(image, radius):
    other = np.flip(image)
    both = real("lowpass", image - 3.0 * other, radius=radius)
    apart = real("lowpass", image, radius=radius) - 3 * real("lowpass", other, radius=radius)
    np.testing.assert_allclose(both, apart, atol=2e-3)


@properties
@given(image=images, radius=radii, down=st.integers(0, 23), right=st.integers(0, 23))
def test_a_shifted_image_gives_a_shifted_result(image, radius, down, right):
    shifted = real("highpass", np.roll(image, (down, right), (0, 1)), radius=radius)
    result = np.roll(real("highpass", image, radius=radius), (down, right), (0, 1))
    np.testing.assert_allclose(shifted, result, atol=1e-3)


@properties
@given(image=images, radius=radii)
def test_an_ideal_filter_splits_the_energy(image, radius):
    """Parseval: what two complementary ideal filters pass is orthogonal."""
    low, high = (np.linalg.norm(real(kind, image, radius=radius)) for kind in ("lowpass", "highpass"))
    assert np.hypot(low, high) == pytest.approx(np.linalg.norm(image.astype(float)), rel=1e-5, abs=1e-3)
