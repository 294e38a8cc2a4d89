"""Filters as single calls: each is the ``Filter`` of its transfer function."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pytest
from PIL import Image

import fftfilter
from fftfilter import transfer as H
from fftfilter.analysis.fit import fitted
from fftfilter.errors import ParameterError
from fftfilter.transfer import reference
from tests.helpers import COMMAND, assert_gray_levels, by_reference

CALLS = {
    "lowpass": ((5,), H.lowpass(5, shape="gaussian")),
    "highpass": (("5px",), H.highpass("5px", shape="gaussian")),
    "bandpass": ((2, 5), H.bandpass(2, 5, shape="gaussian")),
    "bandstop": (("20px", "5px"), H.bandstop("20px", "5px", shape="gaussian")),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_filters_by_its_transfer_function(name, rng):
    cutoffs, transfer = CALLS[name]
    image = rng.integers(0, 256, (24, 32), dtype=np.uint8)
    got = getattr(fftfilter, name)(image, *cutoffs, shape="gaussian", engine="book", **COMMAND)
    assert_gray_levels(got, by_reference(image, transfer))


def assert_kept(got, image, transfer):
    """Hold a repaired picture to its values by the float64 reference, of which pixels are the nearest levels."""
    values = np.clip(reference.filtered(image, transfer.gain(*image.shape)), 0, 255)
    assert np.abs(got - values).max() < 0.51


REPAIRS = {"notch": (((0.1, -0.2),), H.notch((0.1, -0.2))), "stripes": ((30,), H.stripes(30))}


@pytest.mark.parametrize("name", REPAIRS)
def test_a_repair_keeps_the_gray_levels_unless_told_otherwise(name, rng):
    given, transfer = REPAIRS[name]
    image = rng.integers(0, 256, (24, 32), dtype=np.uint8)
    transfer = fitted(transfer, image[None], 255)
    call = getattr(fftfilter, name)
    assert_kept(call(image, *given, edges="wrap", engine="book"), image, transfer)
    got = call(image, *given, engine="book", **COMMAND)
    assert_gray_levels(got, by_reference(image, transfer))


def test_repairs_pass_their_parameters_on(rng):
    image = rng.integers(0, 256, (12, 10, 2), dtype=np.uint8)
    wave = {"width": "0.02cyc", "shape": "ideal", "harmonics": 2}
    got = fftfilter.notch(image, (0.2, 0.1), **wave, channel_axis=-1, edges="wrap", engine="book")
    assert_kept(got[..., 1], image[..., 1], H.notch((0.2, 0.1), **wave))
    lines = {"width": "0.1cyc", "spare": "5px"}
    got = fftfilter.stripes(image[..., 0], 45, **lines, edges="wrap", engine="book")
    assert_kept(got, image[..., 0], H.stripes(45, **lines))
    with pytest.raises(ParameterError, match="is not a peak"):
        fftfilter.notch(image, (0, 0))
    with pytest.raises(ParameterError, match="number of degrees"):
        fftfilter.stripes(image, "flat")


@pytest.mark.parametrize("name", [*CALLS, *REPAIRS, "apply_mask"])
def test_calls_take_channels_and_options(name, rng):
    image = rng.integers(0, 256, (8, 64, 3), dtype=np.uint8)
    given = {"apply_mask": (H.lowpass(3).gain(8, 64),)}.get(name) or (CALLS | REPAIRS)[name][0]
    planes = image.transpose(2, 0, 1)
    call = getattr(fftfilter, name)
    first = call(planes, *given, channel_axis=0, output="real", engine="book")
    assert first.dtype == np.float32
    np.testing.assert_array_equal(
        call(image, *given, channel_axis=-1, output="real", engine="book"), first.transpose(1, 2, 0)
    )


def test_calls_take_what_pixels_they_give(rng):
    image = rng.integers(0, 256, (8, 64), dtype=np.uint8)
    got = fftfilter.lowpass(image, 3, dtype="uint16", levels=1000, engine="book", **COMMAND)
    assert (got.dtype, got.max()) == (np.uint16, 1000)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize(
    "edge", [{"shape": "butterworth", "order": 7}, {"shape": "cosine", "width": "0.03cyc"}], ids=str
)
def test_the_order_and_the_width_of_an_edge_are_passed_on(name, edge, rng):
    cutoffs, _ = CALLS[name]
    image = rng.integers(0, 256, (24, 32), dtype=np.uint8)
    got = getattr(fftfilter, name)(image, *cutoffs, **edge, engine="book", **COMMAND)
    assert_gray_levels(got, by_reference(image, getattr(H, name)(*cutoffs, **edge)))


@pytest.mark.parametrize("high_pass", [False, True])
def test_the_butterworth_of_scikit_image_is_a_line(rng, high_pass):
    """As docs/numbers.md has it."""
    butterworth = pytest.importorskip("skimage.filters").butterworth
    image = rng.integers(0, 256, (24, 32), dtype=np.uint8)
    wanted = butterworth(image, 0.1, high_pass=high_pass, order=3)
    call = fftfilter.highpass if high_pass else fftfilter.lowpass
    got = call(image, "0.1cyc", shape="butterworth", order=3, output="real", edges="wrap", engine="book")
    np.testing.assert_allclose(got, wanted, atol=1e-4 * np.abs(wanted).max())


def test_without_a_radius_it_is_an_eighth_of_the_shorter_side(rng):
    image = rng.integers(0, 256, (8, 64), dtype=np.uint8)
    assert_gray_levels(fftfilter.highpass(image, **COMMAND), by_reference(image, H.highpass(1)))


def test_invalid_values_are_refused_before_a_device_is_opened():
    with pytest.raises(ParameterError, match="not a number"):
        fftfilter.lowpass(np.ones((4, 4)), "wide", device="no such device", **COMMAND)


def test_an_option_that_is_none_is_told():
    with pytest.raises(TypeError, match=r"^unexpected keyword argument 'raduis': further options are engine, "):
        fftfilter.lowpass(np.ones((4, 4)), raduis=3, **COMMAND)


def test_a_mask_of_another_size_serves_if_that_is_wanted(rng):
    image = rng.integers(0, 256, (8, 64), dtype=np.uint8)
    with pytest.raises(ParameterError, match=r"give one of its size .* or any_size=True$"):
        fftfilter.apply_mask(image, [[0.5]], **COMMAND)
    assert_gray_levels(fftfilter.apply_mask(image, [[1.0]], any_size=True, output="keep", edges="wrap"), image)


def test_calls_in_turn_and_at_once_give_what_filters_give(rng):
    """Also with arguments that are equal and not the same, and with a mask's file that changes."""
    images = [rng.integers(0, 256, size, dtype=np.uint8) for size in ((24, 32), (32, 24))]
    radii = ("5px", 3, "20%")
    wanted = [fftfilter.Filter(H.lowpass(radius))(image) for radius in radii for image in images]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            got = pool.map(lambda each: fftfilter.lowpass(each[1], each[0]), product(radii, images))
            for made, right in zip(got, wanted, strict=True):
                np.testing.assert_array_equal(made, right)
    fftfilter.lowpass(images[0], 3, depth=1)
    with pytest.raises(ParameterError):
        fftfilter.lowpass(images[0], 3, depth=True)


def test_a_region_whose_file_changes_is_read_again(rng, tmp_path):
    image, inside = rng.integers(0, 256, (24, 32), dtype=np.uint8), np.zeros((24, 32), np.uint8)
    for rows in (np.s_[:12], np.s_[12:]):
        mask = inside.copy()
        mask[rows] = 255
        Image.fromarray(mask).save(tmp_path / "mask.png")
        made = fftfilter.lowpass(image, 3, region=str(tmp_path / "mask.png"))
        assert (made[mask == 0] == image[mask == 0]).all()
        assert (made != image).any()


def test_errors_are_of_one_kind():
    with pytest.raises(fftfilter.FftfilterError, match="not a number"):
        fftfilter.lowpass(np.ones((4, 4)), "wide", **COMMAND)


def test_the_package_has_no_other_names():
    with pytest.raises(AttributeError, match="module 'fftfilter' has no attribute 'sharpen'"):
        _ = fftfilter.sharpen
    assert set(fftfilter.__all__) >= {*CALLS, "apply_mask", "Filter", "fft2"}
    assert set(dir(fftfilter)) == {*fftfilter.__all__, "transfer", "__version__"}


def test_options_take_numbers_and_short_arrays_of_numpy(camera):
    image = camera[:40, :48]
    low, high = np.percentile(image, (10, 90))
    wanted = fftfilter.highpass(image, 5, output="magnitude", scale=(float(low), float(high)), depth=6.0)
    made = fftfilter.highpass(image, 5, output="magnitude", scale=np.array([low, high]), depth=np.float32(6))
    np.testing.assert_array_equal(made, wanted)
    for axes in (np.int64(2), np.array([0, 1])):
        np.testing.assert_array_equal(fftfilter.lowpass(image, 5, axes=axes), fftfilter.lowpass(image, 5))
    for name in ("output", "edges", "channels", "scale", "precision"):
        with pytest.raises(ParameterError):
            fftfilter.lowpass(image, 5, **{name: np.array([1, 2, 3])})


@pytest.mark.filterwarnings("error")
def test_floats_wider_than_double_are_filtered_without_a_warning(camera):
    image = camera[:40, :48].astype(np.longdouble)
    made = fftfilter.lowpass(image, 5)
    assert made.dtype == image.dtype
    np.testing.assert_allclose(made, fftfilter.lowpass(image.astype(float), 5))
