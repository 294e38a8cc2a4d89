"""``Filter``: arrays of any kind in, pictures or values out, and which engine makes them.

What depends on the engine is tried with both. Pictures have sides of 8 and 64 where the size does not matter: their
kernels are the same.
"""

from __future__ import annotations

import copy
import gc
import math
import multiprocessing
import pickle
import subprocess
import sys
import warnings
import weakref
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import fftfilter
from fftfilter import transfer as H
from fftfilter.device.launcher import PRECISIONS, Launcher, Precision
from fftfilter.device.opencl import Device
from fftfilter.errors import DeviceError, ParameterError, TooLargeError, check_unmasked
from fftfilter.filters import Filter, PixelOptions
from fftfilter.fused import serves
from fftfilter.transfer import reference
from fftfilter.transfer.product import grid_with
from tests.helpers import COMMAND, SAMPLES, assert_gray_levels, assert_transform, by_reference

each_engine = pytest.mark.parametrize("engine", ["fused", "book", "numpy"])


@pytest.fixture
def image(rng):
    return rng.integers(0, 256, (8, 64), dtype=np.uint8)


# Against the reference


@pytest.mark.parametrize("name", ["camera.pgm", "astronaut.png"])
def test_samples_with_one_scale_for_all_channels(name):
    planes = np.atleast_3d(np.asarray(Image.open(SAMPLES / name))).transpose(2, 0, 1)
    with Filter(H.highpass(), **COMMAND) as highpass:
        assert_gray_levels(highpass(planes, channel_axis=0), by_reference(planes, H.highpass()))
        assert highpass.engine == "fused"


bands = st.tuples(st.floats(0.2, 15), st.floats(1.1, 4)).map(lambda t: H.bandstop(t[0], t[0] * t[1]))


# Both sides direct, and both Bluestein's for either engine.
@each_engine
@pytest.mark.parametrize("size", [(8, 64), (67, 71)], ids=str)
@settings(max_examples=20)
@given(band=bands, seed=st.integers(0, 2**32 - 1))
def test_any_radii_and_any_image_give_the_reference(engine, size, band, seed):
    image = np.random.default_rng(seed).integers(0, 256, size, dtype=np.uint8)
    got = Filter(band, engine=engine, output="real", edges="wrap")(image)
    np.testing.assert_allclose(got, reference.filtered(image, band.gain(*size)).real, atol=5e-6 * 255)


@each_engine
@pytest.mark.parametrize("one_scale", [False, True])
def test_real_output_is_the_filtered_values_in_gray_levels(engine, one_scale, image):
    stack, band = np.stack([image, image // 4]), H.bandstop(2, 3)
    wanted = reference.filtered(stack, band.gain(8, 64)).real
    with Filter(band, output="real", engine=engine, edges="wrap") as bandstop:
        got = bandstop(stack, channel_axis=0 if one_scale else None)
        assert got.dtype == np.float32
        assert_transform(got, wanted, 64)
        most = np.abs(wanted).max(axis=(1, 2))
        extremes = [(0, most.max())] if one_scale else np.stack([0 * most, most], axis=1)
        np.testing.assert_allclose(bandstop.extremes(), extremes, rtol=1e-5)


@each_engine
def test_real_output_has_signs_and_the_size_of_floats(engine, rng):
    image = np.float32(rng.standard_normal((8, 64)) * 1e20)
    wanted = reference.filtered(image, H.highpass().gain(8, 64)).real
    got = fftfilter.highpass(image, output="real", engine=engine, edges="wrap")
    assert got.min() < 0 < got.max()
    assert_transform(got / 1e20, wanted / 1e20, 64)


@each_engine
def test_each_image_of_a_stack_has_its_own_scale_and_noise(engine, rng):
    stack = rng.integers(0, 65536, (3, 8, 64), dtype=np.uint16)
    stack[1] //= 8
    # What passes of this pixel is less than the noise of its bright neighbors, but not than its own.
    stack[2] = 0
    stack[2, 3, 5] = 1
    with Filter(H.lowpass(4), engine=engine, **COMMAND) as lowpass:
        stacked = lowpass(stack)
        for alone, picture in zip(stack, stacked, strict=True):
            assert (lowpass(alone) == picture).all()
            assert picture.max() == 65535


@each_engine
def test_a_constant_image_is_black_without_its_mean_and_white_with_it(engine):
    with (
        Filter(H.highpass(), engine=engine, **COMMAND) as highpass,
        Filter(H.lowpass(), engine=engine, **COMMAND) as lowpass,
    ):
        for value in (0, 1, 200, 255):
            flat = np.full((8, 64), value, np.uint8)
            assert not highpass(flat).any()
            assert (lowpass(flat) == (255 if value else 0)).all()


@each_engine
def test_a_filter_that_passes_everything_gives_the_image_back(engine, image):
    image[3, 5] = 255
    for radius in (1000, "1e300"):
        assert (fftfilter.lowpass(image, radius, engine=engine, **COMMAND) == image).all()
    assert not fftfilter.highpass(image, 1e300, engine=engine, **COMMAND).any()


# Types and shapes of arrays


@pytest.mark.parametrize(
    ("dtype", "white"),
    [
        *[("uint8", 255), ("uint16", 65535), ("float32", 1), ("float64", 1), ("int16", 32767), ("bool", 255)],
        *[(">u2", 65535), ("int8", 127), ("int32", 2**31 - 1), ("uint32", 2**32 - 1), (">f8", 1), ("float16", 1)],
    ],
)
def test_the_output_has_the_type_of_the_input(dtype, white, rng):
    image = (rng.random((8, 64)) * 120).astype(dtype)
    out = np.uint8 if dtype == "bool" else np.dtype(dtype).newbyteorder("=")
    got = fftfilter.lowpass(image, 3, engine="book", **COMMAND)
    assert (got.dtype, got.max()) == (out, white)
    # A level of 65535 is 1/257 of what single precision is held to.
    tolerance = {255: 1, 127: 1, 65535: 8, 32767: 4, 1: 2e-6 if dtype != "float16" else 5e-4}.get(white, 2)
    np.testing.assert_allclose(got, by_reference(image, H.lowpass(3), out, white), atol=tolerance)


@pytest.mark.parametrize(("dtype", "levels"), [("uint8", 255), ("uint8", 100), ("uint16", 1000), ("float32", 1)])
def test_the_output_may_have_another_depth_than_the_input(dtype, levels, image):
    got = Filter(H.lowpass(3), engine="book", **COMMAND)(image.astype(np.uint16), dtype=dtype, levels=levels)
    assert (got.dtype, got.max()) == (dtype, levels)
    np.testing.assert_allclose(got, by_reference(image, H.lowpass(3), dtype, levels), atol=1 if levels > 1 else 2e-6)


@pytest.mark.parametrize(
    ("dtype", "levels"),
    [("uint8", 0), ("uint8", -1), ("uint8", 256), ("uint8", 9.5), ("uint8", "9"), ("uint8", True), ("float32", 9)],
)
def test_a_white_that_the_type_does_not_have_is_refused(dtype, levels):
    with pytest.raises(ParameterError, match=f"levels {levels!r} is invalid for {dtype}: give .* 1 to "):
        Filter(H.lowpass(), **COMMAND)(np.ones((2, 3)), dtype=dtype, levels=levels)


@pytest.mark.parametrize("white", [0, -5, math.nan, math.inf, 10**400, "255", True])
def test_a_white_of_the_input_that_is_no_size_is_refused(white, image):
    noise = np.tile(image, (5, 1))
    for call in (Filter(H.lowpass(), **COMMAND), fftfilter.find_peaks, partial(fftfilter.imagej, large=40, small=3)):
        with pytest.raises(ParameterError, match=f"white {white!r} is invalid: give a finite number above 0"):
            call(noise, white=white)


def test_weak_results_keep_the_type_when_they_are_filtered_again():
    """What is left of the wave is a thousandth, so that it is filtered once more, as floats."""
    wave = np.rint(16384 * np.cos(2 * np.pi * 5 * np.arange(96) / 96))[:, None].repeat(48, 1).astype(np.int16)
    transfer = H.lowpass("60px", shape="gaussian")
    with Filter(transfer, edges="wrap", precision="single") as filter_:
        got = filter_(wave)
        assert filter_.weak() == 1
    assert got.dtype == np.int16
    wanted = np.fft.ifft2(np.fft.fft2(wave.astype(float)) * transfer.gain(96, 48)).real
    np.testing.assert_array_equal(got, np.floor(wanted + 0.5))


KEPT = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "float16", "bfloat16", "float32", "float64"]


@each_engine
@pytest.mark.parametrize("name", KEPT)
def test_by_default_values_stay_values_of_their_type(name, engine, rng):
    if name == "bfloat16":
        pytest.importorskip("ml_dtypes")  # which gives NumPy the type
    dtype = np.dtype(name)
    low, high = (
        (-2000, 2000) if dtype.kind not in "iu" else (max(np.iinfo(dtype).min, -9000), min(np.iinfo(dtype).max, 9000))
    )
    image = rng.integers(low, high, (16, 30), endpoint=True).astype(dtype)
    got = fftfilter.lowpass(image, "5px", shape="gaussian", engine=engine)
    exact = image.astype(np.float64)
    wanted = reference.filtered(exact, grid_with("mirror", H.lowpass("5px", shape="gaussian"), 16, 30).gain(), "mirror")
    fine = {"float64": 1e-9 if engine != "fused" else 1e-3, "float32": 1e-3, "float16": 1, "bfloat16": 8}
    assert got.dtype == dtype
    np.testing.assert_allclose(got.astype(np.float64), wanted.real, atol=fine.get(name, 0.51), rtol=0)


def test_signed_pixels_beyond_their_type_are_clipped_and_counted():
    image = np.where(np.indices((8, 64)).sum(axis=0) % 8 < 4, -32768, 32767).astype(np.int16)
    with Filter(H.bandpass("16px", "3px"), edges="wrap") as filter_:
        made = filter_(image)
        assert (made.min(), made.max()) == (-32768, 32767)
        assert 0 < filter_.clipped()[0] < 1


def test_numbers_that_single_precision_cannot_hold_are_filtered_in_double_unless_told_otherwise(rng):
    image = 1e6 + rng.standard_normal((12, 20))
    wanted = reference.filtered(image, grid_with("mirror", H.lowpass("5px"), 12, 20).gain(), "mirror").real
    for options, least, most in (({}, 0, 1e-8), ({"precision": "single"}, 1e-8, 1), ({"engine": "fused"}, 1e-8, 1)):
        got = fftfilter.lowpass(image, "5px", **options)
        assert got.dtype == np.float64
        assert least <= np.abs(got - wanted).max() < most, options
    whole = rng.integers(2**40, 2**40 + 1000, (12, 20))
    assert np.abs(fftfilter.lowpass(whole, 1e9) - whole).max() == 0


@pytest.mark.parametrize("dtype", ["complex64", "U3", "nonsense"])
def test_an_output_type_that_has_no_gray_levels_is_refused(dtype):
    with pytest.raises(ParameterError, match=r"output type .* has no gray levels: choose a type of integers or floats"):
        Filter(H.lowpass(), **COMMAND)(np.ones((2, 3)), dtype=dtype)


@pytest.mark.parametrize("size", [1e-300, 1e-40, 1e30, 1e300])
def test_floats_of_any_size_give_the_same_picture(size, rng):
    image = rng.standard_normal((8, 64))
    with Filter(H.highpass(), **COMMAND) as highpass:
        np.testing.assert_allclose(highpass(image * size), highpass(image), atol=1e-6)


@each_engine
def test_no_nan_and_no_warning_from_any_finite_image(engine):
    """Values as they are may be infinite, and are 0 where the image is."""
    images = np.zeros((8, 8)), np.full((8, 8), 1e308), np.eye(8) * 1e-310, np.eye(8) * -1e308
    with warnings.catch_warnings(action="error"):
        for transfer in (H.highpass(2), H.highpass(1e-100), H.mask(np.eye(8) * 1e300)):
            for output in ("magnitude", "signed"):
                with Filter(transfer, engine=engine, output=output, edges="wrap") as filter_:
                    assert all(np.isfinite(filter_(image)).all() for image in images)
            with Filter(transfer, engine=engine, output="real", edges="wrap") as filter_:
                assert not filter_(np.zeros((8, 8))).any()
                assert not np.isnan(filter_(np.full((8, 8), 1e30))).any()


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.array([[0.0, np.nan], [np.inf, 1]]), "2 values are NaN or infinite, the first at row 0, column 1"),
        (np.ones((4, 4), complex), "complex128 is not an image: give real numbers of shape"),
        (np.ones(4), "not an image"),
        (np.ones((0, 4)), "not an image"),
        (np.ones((1, 2, 3, 4)), "not an image"),
        ([["a"]], "not an image"),
    ],
)
def test_what_is_no_image_is_refused(image, message):
    with pytest.raises(ParameterError, match=message):
        Filter(H.highpass(), engine="book", **COMMAND)(image)


def test_one_image_has_no_axis_of_channels():
    with pytest.raises(ParameterError, match="not an image"):
        Filter(H.highpass(), **COMMAND)(np.ones((4, 4)), channel_axis=0)


@pytest.mark.parametrize("call", [fftfilter.lowpass, fftfilter.imagej, fftfilter.find_peaks])
def test_an_axis_that_an_array_has_not_is_told(call):
    with pytest.raises(
        ParameterError, match=r"^channel_axis 5 is none of an array of shape \(4, 4, 3\): give -1 or 0 to 2"
    ):
        call(np.ones((4, 4, 3)), channel_axis=5)


def test_channels_may_lie_along_any_axis(rng):
    planes = rng.integers(0, 256, (3, 8, 64), dtype=np.uint8)
    with Filter(H.highpass(), **COMMAND) as highpass:
        first = highpass(planes, channel_axis=0)
        assert (highpass(planes.transpose(1, 2, 0), channel_axis=-1) == first.transpose(1, 2, 0)).all()
        assert (highpass(planes.transpose(1, 0, 2), channel_axis=1) == first.transpose(1, 0, 2)).all()


@each_engine
@pytest.mark.parametrize("options", [{"output": "real"}, {"output": "signed", "scale": (0, 255)}], ids=str)
def test_channels_may_have_notches_of_their_own(engine, options, rng):
    planes = rng.integers(0, 256, (3, 8, 64), dtype=np.uint8)
    red, others = H.notch((0.25, 0.125), channels=(0,)), H.notch((0.125, 0.25), channels=(1, 2))
    with Filter(red * others, engine=engine, **(COMMAND | options)) as notch:
        got = notch(np.moveaxis(planes, 0, -1), channel_axis=-1)
        alone = [Filter(each, engine=engine, **(COMMAND | options)) for each in (red, others, others)]
        assert (got == np.stack([each(plane) for each, plane in zip(alone, planes, strict=True)], axis=-1)).all()
        most = [each.extremes()[0][1] for each in alone]
        assert notch.extremes() == [(min(each.extremes()[0][0] for each in alone), max(most))]
        assert notch.clipped() == [np.mean([each.clipped() for each in alone])]
        notch.retune(others)
        assert (
            notch(planes, channel_axis=0)[0] == Filter(H.Transfer(()), engine=engine, **(COMMAND | options))(planes[0])
        ).all()
        notch.retune(red * others)
        assert all((each == got).all() for each in notch.stream([np.moveaxis(planes, 0, -1)] * 2, channel_axis=-1))
        gray = Filter(red, engine=engine, **(COMMAND | options)).with_options()  # which has no other channel
        assert (gray(planes[:1], channel_axis=0) == alone[0](planes[:1])).all()


def test_channels_that_are_filtered_differently_have_nothing_else_in_common(image):
    notch, planes = H.notch((0.25, 0.125), channels=(0,)), np.stack([image] * 3)
    for options in ({}, {"output": "signed"}, {"output": "signed", "scale": "auto"}):
        said = (
            f"^{options.get('output', 'magnitude')} of channels that are filtered differently has no scale in common: "
            r"take keep, real or a scale of \(LO, HI\)$"
        )
        with pytest.raises(ParameterError, match=said):
            Filter(notch, **(COMMAND | options))(planes, channel_axis=0)
    with pytest.raises(ParameterError, match="have no intermediate results in common"):
        Filter(notch, output="keep", engine="book", edges="wrap")(planes, channel_axis=0, observe=print)


def test_a_notch_of_a_channel_that_is_not_there_is_refused(image):
    notch = H.notch((0.25, 0.125), channels=(1, 3))
    with pytest.raises(ParameterError, match="notch has a channel 3, and the picture the channels 0 to 2"):
        Filter(notch, output="keep", edges="wrap")(np.stack([image] * 3), channel_axis=0)


@pytest.mark.parametrize("shape", [(6, 8, 3), (600, 400, 4), (5, 5, 1)])
def test_a_color_picture_without_its_channel_axis_is_refused(shape):
    message = (
        rf"shape \({', '.join(map(str, shape))}\) looks like a picture with {shape[2]} channels: give channel_axis=-1"
    )
    with Filter(H.lowpass(), **COMMAND) as lowpass:
        for call in (lowpass, lambda image: list(lowpass.stream([image]))):
            with pytest.raises(ParameterError, match=message):
                call(np.zeros(shape, np.uint8))


def test_a_stack_of_few_narrow_images_is_one(rng):
    stack = rng.integers(0, 256, (3, 8, 4), dtype=np.uint8)
    with Filter(H.lowpass(), engine="book", **COMMAND) as lowpass:
        np.testing.assert_array_equal(lowpass(stack), [lowpass(image) for image in stack])


def test_all_channels_are_filtered_and_alpha_is_put_back_by_hand(rng):
    rgba = rng.integers(0, 256, (8, 64, 4), dtype=np.uint8)
    with Filter(H.highpass(), engine="book", **COMMAND) as highpass:
        assert (highpass(rgba, channel_axis=-1)[..., 3] != rgba[..., 3]).any()
        out = rgba.copy()
        out[..., :3] = highpass(rgba[..., :3], channel_axis=-1)
    assert_gray_levels(out[..., :3], by_reference(rgba[..., :3].transpose(2, 0, 1), H.highpass()).transpose(1, 2, 0))


def test_numpy_ma_may_just_be_loaded_by_another_thread(image, monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy.ma", ModuleType("numpy.ma"))
    check_unmasked("image", image)


def test_an_image_larger_than_the_device_is_refused_with_its_bytes():
    huge = np.broadcast_to(np.uint8(7), (1 << 20, 1 << 20))
    with pytest.raises(TooLargeError, match=r"1048576 x 1048576 needs [\d,]{17} bytes"):
        fftfilter.lowpass(huge, **COMMAND)


# The engine


@pytest.mark.parametrize("size", [(8, 64), (2, 20011)], ids=str)
def test_the_fused_engine_is_what_filters_unless_asked_otherwise(size):
    """At no size it serves is it replaced by another engine without a word."""
    with Filter(H.highpass(), profile=True, **COMMAND) as highpass:
        highpass(np.ones(size, np.uint8))
        assert highpass.engine == "fused"
        assert {timing.step for timing in highpass.timings()} & {"butterfly", "bit_reversal", "transpose"} == set()


@pytest.mark.parametrize("size", [(1, 1), (300, 451), (20011, 300), (100, 30000), (32768, 32768), (1, 131072)], ids=str)
def test_the_fused_engine_serves_that_size_on_a_gpu(size):
    assert serves(SimpleNamespace(is_gpu=True), *size)


@pytest.mark.parametrize(
    ("transfer", "options"),
    [
        (H.highpass(2), {}),
        (H.notch((0.25, 0.125), channels=(0,)), {"output": "real"}),
        (H.highpass(2), {"output": "keep", "channels": "luminance"}),
    ],
    ids=str,
)
def test_a_size_that_a_gpu_does_not_serve_takes_the_book(transfer, options, rng, monkeypatch):
    monkeypatch.setattr("fftfilter.filters.pipelines.serves", lambda *_: False)
    picture = rng.integers(0, 256, (3, 8, 64), dtype=np.uint8)
    with Filter(transfer, **(COMMAND | options)) as filter_, filter_.with_options(engine="book") as book:
        assert filter_.engine == "fused"
        np.testing.assert_array_equal(filter_(picture, channel_axis=0), book(picture, channel_axis=0))
        assert filter_.engine == "book"
        monkeypatch.undo()
        filter_(picture[:1], channel_axis=0)
        assert filter_.engine == "fused"


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        ({"precision": "double"}, "double precision"),
        ({"work_group_size": 32}, "work-group size"),
        ({"transpose": "plain"}, "choice of transpose"),
        ({"engine_options": {"radix": 8}}, "options"),
        ({"precision": "double", "transpose": "plain"}, "double precision and no choice of transpose"),
    ],
)
def test_what_only_the_staged_pipeline_has_takes_the_book(asked, what):
    if "engine_options" not in asked:
        assert Filter(H.lowpass(), **(COMMAND | asked)).engine == "book"
    with pytest.raises(ParameterError, match=f"the fused engine has no {what}: leave the engine out, or choose book"):
        Filter(H.lowpass(), engine="fused", **(COMMAND | asked))


def test_the_fused_engine_has_no_intermediate_results():
    with pytest.raises(ParameterError, match="fused engine has no intermediate results: choose another one"):
        Filter(H.lowpass(), **COMMAND)(np.eye(4, dtype=np.uint8), observe=print)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"engine": "magic"}, "engine 'magic' is invalid: choose fused, numpy, binary-exchange, "),
        ({"output": "phase"}, "output 'phase' is invalid: choose magnitude, keep, signed, real"),
        ({"transpose": "twisted"}, "transpose 'twisted' is invalid: choose tiled, plain, float4"),
        ({"pixel_size": 0}, "pixel size '0' must be finite and greater than zero"),
        ({"depth": 0}, "depth 0 is invalid: give decibels above 0"),
        ({"precision": "half"}, "precision 'half' is invalid"),
        ({"engine": "stockham", "engine_options": {"radix": 5}}, "radix 5 is invalid: choose 2, 4, 8, 16"),
        ({"engine": "book", "engine_options": {"radix": 4}}, "book has no option 'radix': it has none"),
    ],
)
def test_unknown_values_are_refused_with_the_known_ones(given, message):
    with pytest.raises(ParameterError, match=message):
        Filter(H.highpass(), **(COMMAND | given))


@pytest.mark.parametrize("scale", [(0, 90), "auto"])
def test_a_magnitude_of_complex_values_has_a_range_of_its_own_alone(scale, rng):
    odd = H.mask(rng.random((8, 64)))
    said = "^a magnitude of complex values has no scale: take output magnitude, and leave it out$"
    with pytest.raises(ParameterError, match=said):
        Filter(odd, scale=scale, **COMMAND)
    for options in ({"scale": "each"}, {"output": "signed", "scale": scale}, {"output": "keep"}):
        assert Filter(odd, **(COMMAND | options)).engine == "book"


def test_an_option_that_a_filter_does_not_have_is_refused_as_by_any_call():
    with pytest.raises(TypeError, match="Filter has no option 'color': it has engine, "):
        Filter(H.highpass(), color=1, **COMMAND)
    with pytest.raises(TypeError, match="Filter has no option 'color': it has engine, "):
        Filter(H.highpass(), **COMMAND).with_options(color=1)


def test_a_filter_is_made_of_a_transfer_function():
    with pytest.raises(ParameterError, match="'highpass' is not a transfer function: give one of "):
        Filter("highpass", **COMMAND)


# A filter is used again


def test_a_pipeline_is_used_again_and_its_result_is_the_same(camera):
    with Filter(H.highpass(), **COMMAND) as highpass:
        first = highpass(camera)
        assert (highpass(camera) == first).all()
        assert (highpass(camera[:64]).shape, (highpass(camera) == first).all()) == ((64, 512), True)


BROAD, FINE = H.lowpass(5), H.lowpass("4px")


def test_a_pixel_size_is_that_of_what_comes_later(image):
    with Filter(H.lowpass("3um"), pixel_size="65nm", **COMMAND) as sized:
        for again in (sized.with_options(H.lowpass("2um")), sized):
            again.retune(H.lowpass("2um"))
            assert (again(image) == Filter(H.lowpass("2um"), pixel_size="65nm", **COMMAND)(image)).all()


def test_other_cutoffs_need_no_other_buffers(image):
    with Filter(BROAD, device="cpu", **COMMAND) as tuned:
        tuned(image)
        size = tuned.bytes
        tuned.retune(FINE)
        assert tuned.bytes == size > 0


def test_extremes_are_those_of_the_last_call(image):
    with Filter(H.lowpass(1000), engine="book", **COMMAND) as everything:
        assert everything.extremes() == everything.clipped() == everything.notes() == everything.peaks() == []
        assert everything.weak() == 0
        everything(image)
        assert everything.extremes() == [(0, pytest.approx(image.max()))]
        everything(np.stack([image // 2, image // 4]))
        assert everything.extremes() == [(0, pytest.approx(n)) for n in (image.max() // 2, image.max() // 4)]
    assert everything.extremes() == []


def test_a_closed_filter_filters_again(image):
    highpass = Filter(H.highpass(), **COMMAND)
    first = highpass(image)
    highpass.close()
    assert (highpass(image) == first).all()


@each_engine
def test_a_closed_filter_leaves_no_pipeline_behind(engine, image):
    with Filter(H.highpass(), engine=engine, **COMMAND) as highpass:
        highpass(image)
        (kept,) = highpass._prepared._kept.values()
        pipeline = weakref.ref(kept.pipeline)
    del kept
    gc.collect()
    assert pipeline() is None
    assert highpass.bytes == 0


@each_engine
def test_sizes_in_turn_keep_what_was_prepared_for_each(engine, rng):
    images = [rng.integers(0, 256, size, dtype=np.uint8) for size in ((8, 64), (64, 8), (12, 10))]
    with Filter(H.highpass("5px"), engine=engine) as highpass:
        wanted = [highpass(image) for image in images]
        size = highpass.bytes
        assert [(highpass(image) == each).all() for image, each in zip(images, wanted, strict=True)] == [True] * 3
        assert highpass.bytes == size


def test_sizes_that_take_much_memory_are_not_kept_together():
    image = np.zeros((2500, 2500), np.float32)
    with Filter(H.lowpass("8px"), device="cpu") as lowpass:
        lowpass(image[:, :2499])
        size = lowpass.bytes
        lowpass(image)
        assert lowpass.bytes < 1.1 * size


def test_nor_does_it_leave_those_of_weak_pictures_and_of_channels(rng):
    weak = (30000 + rng.integers(0, 2, (12, 10)) + 20000 * (np.indices((12, 10)).sum(axis=0) % 2)).astype(np.uint16)
    with Filter(H.bandpass(1, 2) * H.notch((0.25, 0.125), channels=(0,)), output="real", edges="wrap") as filter_:
        filter_(np.stack([weak, weak]), channel_axis=0)
        assert filter_.weak() == 2
        filters = [filter_._prepared, *filter_._prepared._others.values()]
        filters += [more for each in filters[1:] for more in each._others.values()]
        pipelines = [weakref.ref(kept.pipeline) for each in filters for kept in each._kept.values()]
        assert len(pipelines) == 4
    gc.collect()
    assert [each() for each in pipelines] == [None] * 4


@each_engine
def test_a_stream_gives_what_calls_give_in_order(engine, rng):
    images = [rng.integers(0, 256, size, dtype=np.uint8) for size in ((8, 64), (8, 64), (2, 64, 8), (8, 64))]
    with Filter(H.highpass(), engine=engine, **COMMAND) as highpass:
        wanted = [highpass(image) for image in images]
        extremes = []
        for got, picture in zip(highpass.stream(iter(images)), wanted, strict=True):
            assert (got == picture).all()
            extremes.append(highpass.extremes())
        assert [len(each) for each in extremes] == [1, 1, 2, 1]
        assert extremes[0] == [pytest.approx(pair) for pair in _extremes_of(highpass, images[0])]


def _extremes_of(filter_, image):
    filter_(image)
    return filter_.extremes()


def test_the_bytes_on_the_device_are_known_before_they_are_taken():
    with Filter(H.highpass(), engine="book", **COMMAND) as book:
        # Two buffers of complex numbers and the pixels.
        assert book.device_bytes((3, 8, 64)) == 3 * 8 * 64 * (2 * 8 + 1)
        # Bluestein's rows are padded to twice their length and more.
        assert book.device_bytes((1, 8, 65)) == book.device_bytes((1, 65, 8)) == 8 * 256 * 2 * 8 + 8 * 65
        with book.with_options(edges="mirror") as mirrored, book.with_options(precision="double") as double:
            assert mirrored.device_bytes((3, 8, 64)) == 3 * 16 * 128 * (2 * 8 + 1)
            assert double.device_bytes((3, 8, 64)) == 3 * 8 * 64 * (2 * 16 + 1)
    with Filter(H.highpass(), **COMMAND) as fused:
        one, two, three = (fused.device_bytes((count, 8, 64)) for count in (1, 2, 3))
        # A float and two bytes a pixel, and room for the workers.
        assert three - two == two - one >= 6 * 8 * 64
        slanted = fused.with_options(H.notch((0.2, 0.13)), edges="mirror")  # which is transformed back twice
        assert slanted.device_bytes((1, 8, 64)) > fused.with_options(edges="mirror").device_bytes((1, 8, 64))
        values = fused.with_options(output="real").device_bytes((3, 8, 64))
        for part in ("luminance", "chroma"):
            assert fused.with_options(output="keep", channels=part).device_bytes((3, 8, 64)) == values


def test_an_array_to_be_filled_has_the_shape_and_type_asked_for():
    array = Filter(H.highpass(), **COMMAND).empty((2, 8, 64), np.uint16)
    assert (array.shape, array.dtype, array.flags.writeable) == ((2, 8, 64), np.uint16, True)
    assert Filter(H.highpass(), **COMMAND).empty((8, 64)).dtype == np.uint8
    assert (
        Filter(H.highpass(), device="cpu", **COMMAND).empty((8, 64)).flags.owndata
    )  # no memory that a GPU has to read


def test_the_package_offers_the_class():
    assert fftfilter.Filter is Filter


# A filter is written down, copied and sent


@pytest.mark.parametrize(
    "text",
    [
        "Filter(H.highpass())",
        "Filter(H.lowpass(64) * H.bandstop('20px', 0.3333333333333333), output='real', profile=True)",
        "Filter(H.bandpass(1e-300, '2.5px', shape='butterworth', order=4))",
        "Filter(H.highpass('50%'), engine='stockham', engine_options={'radix': 8})",
        "Filter(H.lowpass('0.1cyc', shape='gaussian'), device='cpu', precision='double', work_group_size=32)",
    ],
)
def test_a_filter_reads_as_what_makes_it(text):
    made = eval(text)  # noqa: S307  our own
    assert repr(made) == text
    assert eval(repr(made)).transfer == made.transfer  # noqa: S307


def test_a_mask_reads_as_its_size_and_range():
    assert repr(Filter(H.mask(np.eye(8, 64)))) == "Filter(H.mask(<float64 (8, 64), 0 to 1>))"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))])  # noqa: S301
@each_engine
def test_a_copy_is_the_same_filter_and_opens_its_device_when_it_filters(copied, engine, image):
    with Filter(H.highpass(3) * H.mask(np.full((8, 64), 0.5)), engine=engine, device="cpu", **COMMAND) as made:
        wanted = made(image)
        other = copied(made)
        assert "launcher" not in vars(other)
        assert (repr(other), other.engine) == (repr(made), engine)
        np.testing.assert_array_equal(other(image), wanted)
        made.close()
        assert other.bytes > 0


def test_a_copy_whose_device_is_missing_fails_when_it_filters(image, monkeypatch):
    monkeypatch.setenv("FFTFILTER_DEVICE", "cpu")
    other = pickle.loads(pickle.dumps(Filter(H.highpass(), **COMMAND)))  # noqa: S301
    monkeypatch.setenv("FFTFILTER_DEVICE", "no such device")
    with pytest.raises(DeviceError, match="no such device"):
        other(image)


def test_other_processes_filter_with_it(image):
    with (
        Filter(H.highpass(), engine="book", **COMMAND) as highpass,
        ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool,
    ):
        wanted = highpass(image)
        np.testing.assert_array_equal(list(pool.map(highpass, [image, image // 2])), [wanted, highpass(image // 2)])


@pytest.mark.skipif(sys.platform == "win32", reason="no forks there")
def test_a_process_forked_after_opencl_was_loaded_says_so():
    code = """
import multiprocessing
import numpy as np
import fftfilter
from fftfilter import transfer as H

opened = fftfilter.Filter(H.highpass())

def by(sent):
    try:
        return (sent or opened)(np.eye(8)).shape
    except fftfilter.FftfilterError as error:
        return str(error)

with multiprocessing.get_context("fork").Pool(1) as pool:
    print(*pool.map(by, [opened, None]), sep="\\n")
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert run.stderr == ""
    lines = run.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["OpenCL does not survive the fork of a process"] * 2


# Types


def test_literal_types_name_what_the_tables_have():
    from fftfilter.transfer.shapes import SHAPES, ShapeName

    assert get_args(ShapeName) == tuple(SHAPES)
    assert get_args(Precision) == tuple(PRECISIONS)


def test_the_options_of_single_calls_are_those_of_a_filter_and_its_calls():
    assert {*PixelOptions.__annotations__, "channel_axis"} == {*Filter.stream.__kwdefaults__, "missing"}
    assert {*Filter.stream.__kwdefaults__, "missing", "observe"} == {*Filter.__call__.__kwdefaults__}


@pytest.mark.parametrize("engine", ["fused", "book", "numpy"])
@pytest.mark.parametrize("shape", ["butterworth", "gaussian"])
def test_little_that_passes_a_high_pass_has_all_its_digits(engine, shape, rng):
    image = rng.integers(0, 256, (60, 100), dtype=np.uint8)
    transfer = H.highpass("1000%", shape=shape)
    got = Filter(transfer, engine=engine, **COMMAND)(image, dtype=np.uint16)
    wanted = by_reference(image, transfer, np.uint16, 65535)
    assert np.abs(got.astype(int) - wanted).max() <= 8


@pytest.mark.parametrize("engine", ["fused", "book", "numpy"])
def test_what_is_too_weak_for_single_precision_is_so_with_the_other_sign(engine):
    """The ground, 1, cancels nearly all that goes through the transforms, alone and in a channel; and a strong wave."""
    bright = np.zeros((12, 10), np.float32)
    bright[[3, 6, 9], [2, 5, 7]] = 1
    y, x = np.mgrid[:12, :10]
    wave = (np.cos(np.pi * (x + y)) + 1e-3 * np.cos(2 * np.pi * y / 12)).astype(np.float32)
    channels = np.stack([bright, -bright / 1024])
    for image, radius, axis in ((bright, 0.5, None), (channels, 0.5, 0), (wave, "0.09cyc", None)):
        found = []
        for sign in (1, -1):
            with Filter(H.lowpass(radius), engine=engine, output="real", edges="wrap") as made:
                found.append((made(sign * image, channel_axis=axis) * sign, made.weak(), made.extremes()))
        assert found[0][1:] == found[1][1:]
        assert found[0][1] == 1
        np.testing.assert_array_equal(found[0][0], found[1][0])


@pytest.mark.parametrize("engine", ["fused", "book", "numpy"])
@pytest.mark.parametrize("edges", ["wrap", "mirror"])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_extremes_are_in_the_gray_levels_of_the_input(engine, edges, dtype, rng):
    """Whatever the gains, the output and the size of floats are; of channels the largest of all."""
    image = (rng.random((3, 12, 10)) * np.array([[[1]], [[9]], [[4]]]) * 27).astype(dtype)
    image[:, 5, 5] = 0  # what is farthest from 0 is negative
    shape = (24, 20) if edges == "mirror" else (12, 10)
    for transfer in (H.highpass(2), H.mask(np.full(shape, 7.0))):
        for output in ("magnitude", "keep", "real"):
            own = transfer.keeping_mean() if output == "keep" else transfer
            filtered = reference.filtered(image, grid_with(edges, own, 12, 10).gain(), edges)
            right = np.abs(filtered).max(axis=(1, 2))
            with Filter(transfer, output=output, engine=engine, edges=edges) as made:
                made(image, white=300)
                np.testing.assert_allclose([high for _, high in made.extremes()], right, rtol=1e-5)
                made(image, white=300, channel_axis=0)
                np.testing.assert_allclose([high for _, high in made.extremes()], right.max(), rtol=1e-5)


def test_a_weak_picture_of_large_floats_is_done_again_as_large(rng):
    wave = 1000 * np.cos(2 * np.pi * np.arange(48) / 48)
    image = (np.tile(wave, (64, 1)) + rng.normal(0, 0.05, (64, 48))).astype(np.float32)
    made = []
    for precision in ("single", "double"):
        with Filter(H.highpass("0.3cyc"), output="real", precision=precision, edges="wrap") as filter_:
            made.append(filter_(image))
    assert np.abs(made[0] - made[1]).max() < 1e-5 * np.abs(made[1]).max()


def weak_picture(rng):
    """Return a picture of which a high-pass leaves a part that is too weak for single precision."""
    wave = np.cos(2 * np.pi * np.arange(10) / 10)
    return (30000 + 20000 * wave + rng.uniform(-2, 2, (12, 10))).astype(np.float32)


def test_a_weak_picture_has_the_scale_that_is_asked_for(rng):
    image = weak_picture(rng)
    values = reference.filtered(image, H.highpass(3).gain(12, 10)).real
    with Filter(H.highpass(3), output="signed", scale=(-4, 6), edges="wrap") as filter_:
        got = filter_(image, dtype=np.uint8)
        assert (filter_.weak(), filter_.clipped()) == (1, [0])
        np.testing.assert_allclose(got, (values + 4) / 10 * 255, atol=0.51)
    with Filter(H.highpass(3), output="signed", scale=("auto", 10), edges="wrap") as filter_:
        filter_(image, dtype=np.uint8)
        assert (filter_.weak(), filter_.clipped()) == (1, [pytest.approx(0.1, abs=0.02)])


def test_on_a_device_without_double_precision_a_weak_picture_is_filtered_once(rng, launcher):
    class Simple(Device):
        fp64 = False

    image = weak_picture(rng)
    with Filter(H.highpass(3), output="real", edges="wrap") as filter_, filter_.with_options() as simple:
        wanted = filter_(image)
        assert filter_.weak() == 1
        simple.launcher = Launcher(Simple(0, launcher.device.cl_device))
        np.testing.assert_allclose(simple(image), wanted, atol=0.05)
        assert simple.weak() == 0


def test_what_double_precision_has_no_room_for_stays_as_it_is(rng, monkeypatch):
    image = weak_picture(rng)
    with Filter(H.highpass(3), output="real", edges="wrap") as filter_:
        wanted = filter_(image)
        assert filter_.weak() == 1

    def staged(*_, **__):
        raise TooLargeError("12 x 10 needs more than there is")

    monkeypatch.setattr("fftfilter.filters.pipelines.NumPyPipeline", staged)
    with Filter(H.highpass(3), output="real", edges="wrap", device="cpu") as filter_:
        np.testing.assert_allclose(filter_(image), wanted, atol=0.05)
        assert filter_.weak() == 0


def test_weak_pictures_are_counted_where_each_is_filtered_by_itself(rng):
    stack = np.stack([weak_picture(rng), rng.random((12, 10), np.float32), weak_picture(rng)])
    with Filter(H.highpass(3), output="real", region=(2, 2, 6, 8), edges="wrap") as filter_:
        filter_(stack)
        assert filter_.weak() == 2
        wanted = np.abs(reference.filtered(stack, H.highpass(3).gain(12, 10))).max(axis=(1, 2))
        np.testing.assert_allclose([high for _, high in filter_.extremes()], wanted, rtol=1e-5)


def test_filters_of_other_outputs_are_kept_apart():
    with Filter(H.lowpass(3), **COMMAND) as filter_:
        prepared = filter_._prepare()
        assert prepared.alike().description.output == "magnitude"
        assert prepared.alike(output="real").description.output == "real"
