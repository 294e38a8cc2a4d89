"""Any mask through the public calls: every engine against the reference, and what is no mask refused."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers import assert_grey_levels

import fftfilter
from fftfilter.staged import algorithms
from fftfilter.transfer import reference
from fftfilter.errors import ParameterError
from fftfilter.filters import Filter
from fftfilter.transfer.functions import transfer


def mirrored(gains):
    return np.roll(gains[::-1, ::-1], (1, 1), (0, 1))


def some_mask(rng, height, width):
    """Gains of both signs, none twice but at mirrored frequencies."""
    gains = rng.uniform(-1, 1, (height, width))
    return (gains + mirrored(gains)) / 2


@pytest.mark.parametrize("engine", ["fused", *algorithms.names()])
@pytest.mark.parametrize("size", [(16, 16), (24, 17), (1, 12), (67, 40)], ids=str)
def test_any_mask_by_every_engine(engine, size, rng):
    image, gains = rng.integers(0, 256, size, dtype=np.uint8), some_mask(rng, *size)
    got = fftfilter.apply_mask(image, gains, engine=engine)
    assert_grey_levels(got, reference.filter_image(image, gains))


def test_the_mask_of_a_shape_filters_as_the_shape(camera):
    high = transfer("highpass", radius=40)
    with Filter("mask", mask=high.gain(512, 512)) as by_mask:
        assert_grey_levels(by_mask(camera), fftfilter.highpass(camera, radius=40).astype(int))
        assert by_mask.engine == "fused"


@pytest.mark.parametrize("engine", ["fused", "book"])
def test_a_mask_is_applied_to_each_image_of_a_stack_and_each_channel(engine, rng):
    stack, gains = rng.integers(0, 65536, (3, 20, 33), dtype=np.uint16), some_mask(rng, 20, 33)
    with Filter("mask", mask=gains, engine=engine) as by_mask:
        for image, got in zip(stack, by_mask(stack), strict=True):
            np.testing.assert_allclose(got, reference.filter_image(image, gains, np.uint16, 65535), atol=2)
        channels = by_mask(stack, channel_axis=0)
    np.testing.assert_allclose(channels, reference.filter_image(stack, gains, np.uint16, 65535), atol=2)


def test_a_mask_that_is_even_but_for_the_hosts_rounding_stays_fused(rng):
    gains = some_mask(rng, 20, 30) * (1 + 1e-7 * rng.uniform(-1, 1, (20, 30)))
    image = rng.integers(0, 256, (20, 30), dtype=np.uint8)
    with Filter("mask", mask=gains) as by_mask:
        assert_grey_levels(by_mask(image), reference.filter_image(image, gains))
        assert by_mask.engine == "fused"


@pytest.mark.parametrize("precision", ["single", "double"])
def test_the_magnitude_of_a_complex_result_and_its_real_part(precision, rng):
    """Only positive horizontal frequencies: what passes is the analytic signal of each row."""
    image = rng.integers(0, 256, (24, 32), dtype=np.uint8)
    gains = np.zeros((24, 32))
    gains[:, 1:16] = 2
    wanted = reference.filtered(image, gains)
    with Filter("mask", mask=gains, precision=precision) as analytic:
        assert_grey_levels(analytic(image), reference.filter_image(image, gains))
        assert analytic.engine == "book"
        assert analytic.extremes() == [(0, pytest.approx(np.abs(wanted).max(), rel=1e-6))]
    real = fftfilter.apply_mask(image, gains, precision=precision, output="real")
    assert np.linalg.norm(real - wanted.real) <= 1e-6 * np.linalg.norm(wanted.real)
    with pytest.raises(ParameterError, match=r"fused engine has no mask with H\(-k\) other than H\(k\)"):
        fftfilter.apply_mask(image, gains, engine="fused")


@pytest.mark.parametrize("engine", ["fused", "book"])
@pytest.mark.parametrize("scale", [1.0, 3.0, 1e4, 1e300])
def test_a_picture_does_not_depend_on_the_masks_scale_nor_does_its_noise(engine, scale, rng):
    image = rng.integers(0, 256, (30, 40), dtype=np.uint8)
    gains = transfer("highpass", radius=5, shape="gaussian").gain(30, 40)
    with Filter("mask", mask=gains * scale, engine=engine) as by_mask:
        assert_grey_levels(by_mask(image), reference.filter_image(image, gains))
        assert by_mask.extremes()[0][1] == pytest.approx(scale * np.abs(reference.filtered(image, gains)).max())
        assert not by_mask(np.full_like(image, 200)).any()


def test_a_mask_is_kept_as_it_was_given(rng):
    image, gains = rng.integers(0, 256, (8, 12), dtype=np.uint8), some_mask(rng, 8, 12)
    with Filter("mask", mask=gains) as by_mask:
        before = gains.copy()
        first = by_mask(image)
        assert (gains == before).all()
        gains[:] = 0
        by_mask(image[None])
        assert (by_mask(image) == first).all()


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float16, ">f4"])
def test_a_mask_may_be_of_any_real_type(dtype, rng):
    gains = (np.hypot(np.fft.fftfreq(12), np.fft.fftfreq(8)[:, None]) > 0.2).astype(dtype)
    image = rng.integers(0, 256, (8, 12), dtype=np.uint8)
    assert_grey_levels(fftfilter.apply_mask(image, gains), reference.filter_image(image, gains.astype(float)))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mask": np.ones((4, 4), complex)}, "complex128 is no mask: give real gains"),
        ({"mask": np.ones(4)}, r"shape \(4,\) .* is no mask"),
        ({"mask": np.ones((0, 4))}, "is no mask"),
        (
            {"mask": [[1.0, np.nan], [np.inf, 1]]},
            "2 gains of the mask are NaN or infinite, the first at row 0, column 1",
        ),
        ({}, "a mask is missing"),
        ({"mask": np.ones((4, 4)), "radius": 3}, "nothing else"),
        ({"mask": np.ones((4, 4)), "shape": "gaussian"}, "nothing else"),
    ],
)
def test_what_is_no_mask_is_refused(given, message):
    with pytest.raises(ParameterError, match=message):
        Filter("mask", **given)


def test_a_mask_is_for_one_kind_and_one_size():
    with pytest.raises(ParameterError, match="leave mask out, or take the kind 'mask'"):
        Filter("lowpass", mask=np.ones((4, 4)))
    for engine in ("fused", "book"):
        with pytest.raises(
            ParameterError, match="the mask of 6 x 4 does not fit an image of 4 x 6: give one of its size"
        ):
            fftfilter.apply_mask(np.ones((6, 4), np.uint8), np.ones((4, 6)), engine=engine)
