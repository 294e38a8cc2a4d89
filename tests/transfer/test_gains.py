"""Masks: any real gains, checked once; what filters with one gives, and what is not a mask."""

from __future__ import annotations

import numpy as np
import pytest

import fftfilter
from fftfilter import transfer as H
from fftfilter.errors import ParameterError, ReadError
from fftfilter.filters import Filter
from fftfilter.transfer import reference
from tests.helpers import COMMAND, assert_gray_levels, by_reference


def mirrored(gains):
    return np.roll(gains[::-1, ::-1], (1, 1), (0, 1))


def some_gains(rng, height, width):
    """Gains of both signs, none twice but at mirrored frequencies."""
    gains = rng.uniform(-1, 1, (height, width))
    return (gains + mirrored(gains)) / 2


@pytest.fixture
def image(rng):
    return rng.integers(0, 256, (8, 64), dtype=np.uint8)


@pytest.mark.parametrize("engine", ["fused", "book", "numpy"])
@pytest.mark.parametrize("size", [(8, 64), (67, 5)], ids=str)
def test_any_mask_by_both_engines(engine, size, rng):
    image, mask = rng.integers(0, 256, size, dtype=np.uint8), H.mask(some_gains(rng, *size))
    assert_gray_levels(Filter(mask, engine=engine, **COMMAND)(image), by_reference(image, mask))


@pytest.mark.parametrize("engine", ["fused", "book", "numpy"])
def test_a_mask_is_applied_to_each_image_of_a_stack_and_each_channel(engine, rng):
    stack = rng.integers(0, 256, (3, 8, 64), dtype=np.uint8)
    with Filter(H.mask(some_gains(rng, 8, 64)), engine=engine, **COMMAND) as by_mask:
        for image, got in zip(stack, by_mask(stack), strict=True):
            assert_gray_levels(got, by_reference(image, by_mask.transfer))
        assert_gray_levels(by_mask(stack, channel_axis=0), by_reference(stack, by_mask.transfer))


def test_a_mask_that_is_even_up_to_the_hosts_rounding_stays_fused(image, rng):
    mask = H.mask(some_gains(rng, 8, 64) * (1 + 1e-7 * rng.uniform(-1, 1, (8, 64))))
    assert mask.is_even
    with Filter(mask, **COMMAND) as by_mask:
        assert_gray_levels(by_mask(image), by_reference(image, mask))
        assert by_mask.engine == "fused"


@pytest.mark.parametrize("precision", ["single", "double"])
def test_the_magnitude_of_a_complex_result_and_its_real_part(precision, image):
    """Only positive horizontal frequencies: what passes is the analytic signal of each row."""
    gains = np.zeros((8, 64))
    gains[:, 1:32] = 2
    mask, wanted = H.mask(gains), reference.filtered(image, gains)
    assert not mask.is_even
    with Filter(mask, precision=precision, **COMMAND) as analytic:
        assert_gray_levels(analytic(image), by_reference(image, mask))
        assert analytic.engine == "book"
        assert analytic.extremes() == [(0, pytest.approx(np.abs(wanted).max(), rel=1e-6))]
    real = fftfilter.apply_mask(image, gains, precision=precision, output="real", edges="wrap")
    assert np.linalg.norm(real - wanted.real) <= 1e-6 * np.linalg.norm(wanted.real)
    with pytest.raises(ParameterError, match=r"fused engine has no gains with H\(-k\) other than H\(k\)"):
        Filter(mask, engine="fused", **COMMAND)


@pytest.mark.parametrize("engine", ["fused", "book", "numpy"])
def test_a_picture_does_not_depend_on_the_masks_scale_nor_does_its_noise(engine, image):
    gains = H.highpass(5, shape="gaussian").gain(8, 64)
    for scale in (1.0, 3.0, 1e4, 1e300):
        mask = H.mask(gains * scale)
        assert mask.largest == max(1, scale * gains.max())
        with Filter(mask, engine=engine, **COMMAND) as by_mask:
            assert_gray_levels(by_mask(image), by_reference(image, mask))
            assert by_mask.extremes()[0][1] == pytest.approx(scale * np.abs(reference.filtered(image, gains)).max())
            assert not by_mask(np.full_like(image, 200)).any()


def test_a_mask_keeps_its_gains_when_the_array_changes(image, rng):
    gains = some_gains(rng, 8, 64)
    before = gains.copy()
    with Filter(H.mask(gains), **COMMAND) as by_mask:
        first = by_mask(image)
        assert (gains == before).all()
        gains[:] = 0
        by_mask(image[None])
        assert (by_mask(image) == first).all()


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float16, ">f4"])
def test_a_mask_may_be_of_any_real_type(dtype):
    gains = (np.hypot(np.fft.fftfreq(12), np.fft.fftfreq(8)[:, None]) > 0.2).astype(dtype)
    np.testing.assert_array_equal(H.mask(gains).gain(8, 12), gains.astype(float))


def test_a_mask_without_one_gain_far_out_reaches_everything():
    assert H.mask(np.full((6, 9), 0.5)).on_grid(6, 9)[0] == (4, 5, 0.0)


@pytest.mark.parametrize(
    ("gains", "message"),
    [
        (np.ones((4, 4), complex), "complex128 is not a mask: give real gains"),
        (np.ones(4), r"shape \(4,\) .* is not a mask"),
        (np.ones((0, 4)), "is not a mask"),
        (
            [[1.0, np.nan], [np.inf, 1]],
            "2 gains of the mask are NaN or infinite, the first at row 0, column 1: replace them, for example with",
        ),
    ],
)
def test_what_is_no_mask_is_refused(gains, message):
    with pytest.raises(ParameterError, match=message):
        H.mask(gains)


@pytest.mark.parametrize("engine", ["fused", "book", "numpy"])
def test_a_mask_is_for_images_of_one_size(engine):
    with pytest.raises(
        ParameterError,
        match=r"the mask of 6 x 4 does not fit an image of 4 x 6: give one of its size \(with mirrored edges of twice",
    ):
        fftfilter.apply_mask(np.ones((6, 4), np.uint8), np.ones((4, 6)), engine=engine, **COMMAND)


def test_a_mask_is_reported_by_its_size_and_checksum():
    assert H.mask(np.ones((4, 6))).given() == {"kind": "mask", "width": 6, "height": 4, "crc32": "9d2e72a7"}


def test_a_mask_of_any_size_is_a_function_of_frequency():
    even = H.mask([[0.0, 1.0, 2.0, 1.0]], any_size=True)
    np.testing.assert_array_equal(even.gain(2, 8), [[0, 0.5, 1, 1.5, 2, 1.5, 1, 0.5]] * 2)
    np.testing.assert_array_equal(even.gain(1, 4), [[0, 1, 2, 1]])
    np.testing.assert_allclose(even.gain(1, 5), [[0, 0.8, 1.6, 1.6, 0.8]])
    assert even.is_even
    assert repr(even) == "H.mask(<float64 (1, 4), 0 to 2>, any_size=True)"


def test_a_mask_that_is_even_but_for_more_than_rounding_is_not():
    gains = np.full((12, 10), 0.5)
    gains[1, 1] += 1e-4
    assert not H.mask(gains).is_even


def test_gains_that_are_even_but_for_rounding_become_even():
    gains = np.full((12, 10), 0.5)
    gains[1, 2] += 1e-7
    made = H.mask(gains).gain(12, 10)
    assert made[1, 2] == made[-1, -2] == pytest.approx(0.5 + 5e-8, abs=1e-12)


def test_masked_gains_are_refused():
    with pytest.raises(ParameterError, match=r"^4 values of the mask are masked"):
        H.mask(np.ma.masked_equal(np.eye(4), 1))


def test_masks_of_equal_gains_are_one_in_a_set():
    assert len({H.mask(np.eye(3)), H.mask(np.eye(3)), H.mask(np.eye(3), any_size=True), H.mask(np.eye(4))}) == 3


def test_of_a_reduced_picture_the_lowest_frequencies_are_left_of_a_mask():
    """Of 7 and 9 frequencies, reduced by 2: 3 and 4."""
    ky, kx = np.fft.fftfreq(7, 1 / 7)[:, None], np.fft.fftfreq(9, 1 / 9)
    (made,) = H.mask(10 * ky + kx).in_cycles(7, 9, 2).parts
    assert made.gains.tolist() == [[y + x for x in (0, 1, -2, -1)] for y in (0, 10, -10)]
    assert made.any_size
    (larger,) = H.mask(10 * ky + kx).in_cycles(7, 9, 0.5).parts
    assert larger.gains.shape == (7, 9)
    (mean,) = H.mask(3 + 10 * ky + kx).in_cycles(7, 9, 20).parts
    assert mean.gains.tolist() == [[3]]


@pytest.mark.parametrize("name", ["gains.npy", "GAINS.NPY", "gains.pgm"])
def test_a_file_of_gains_has_dc_in_the_middle_and_becomes_even(tmp_path, name):
    gains = np.array([[0, 10, 20, 30], [40, 50, 60, 90], [80, 95, 200, 110]], np.uint8)
    if name == "gains.pgm":
        (tmp_path / name).write_bytes(b"P5 4 3 200 " + gains.tobytes())
    else:
        with (tmp_path / name).open("wb") as file:
            np.save(file, gains / 200)
    # Row 1 and column 2 are the middle: the mean of f and -f, such as 110 and 10 for one cycle down and across.
    wanted = np.array([[60, 70, 40, 70], [110, 60, 40, 62.5], [110, 62.5, 40, 60]]) / 200
    (made,) = H.mask_file(str(tmp_path / name)).parts
    np.testing.assert_allclose(made.gains, wanted)


def test_a_file_of_objects_is_no_array_of_gains(tmp_path):
    file = tmp_path / "gains.npy"
    np.save(file, np.array([[1, 2.5]], object), allow_pickle=True)
    with pytest.raises(ReadError, match=r"gains.npy: is not an array: save one with numpy.save$"):
        H.mask_file(str(file))


def test_a_mask_for_any_size_is_another_one():
    gains = np.ones((3, 4))
    assert H.mask(gains, any_size=True) != H.mask(gains)
    assert H.mask(gains, any_size=True) == H.mask(gains, any_size=True)


@pytest.mark.parametrize(
    ("header", "dtype"), [(b"P5 6 4 255 ", "u1"), (b"P5 6 4 60000 ", ">u2"), (b"P5 6 4 100 ", "u1")]
)
def test_the_white_of_a_picture_of_gains_is_1(tmp_path, header, dtype):
    white = int(header.split()[-1])
    (tmp_path / "gains.pgm").write_bytes(header + np.full((4, 6), white // 4, dtype).tobytes())
    (made,) = H.mask_file(str(tmp_path / "gains.pgm")).parts
    np.testing.assert_allclose(made.gains, white // 4 / white)
