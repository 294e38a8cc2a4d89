"""Products of transfer functions: their gains, and the same pictures from every pipeline."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.errors import ParameterError
from fftfilter.filters import Filter
from fftfilter.transfer import reference
from tests.helpers import COMMAND, FORMS, assert_gray_levels, assert_transform, by_reference, values_by

LOW, BAND = H.lowpass(6, shape="gaussian"), H.bandstop(2, 4, shape="butterworth")


def one_sided(height, width):
    """Gains of the frequencies kx >= 0 alone: not even."""
    return np.fft.fftfreq(width)[None].repeat(height, axis=0) >= 0


def test_gains_multiply():
    np.testing.assert_array_equal((LOW * BAND).gain(8, 64), LOW.gain(8, 64) * BAND.gain(8, 64))
    np.testing.assert_array_equal((H.highpass(2) * H.lowpass(4)).gain(9, 9), H.bandpass(2, 4).gain(9, 9))


def test_a_product_of_three_is_the_same_however_it_is_made():
    mask = H.mask(np.full((8, 8), 0.5))
    assert ((LOW * BAND) * mask).parts == (LOW * (BAND * mask)).parts
    np.testing.assert_array_equal((LOW * BAND * mask).gain(8, 8), LOW.gain(8, 8) * BAND.gain(8, 8) / 2)


def test_a_pixel_size_is_for_all_parts_in_physical_units():
    product = H.lowpass("1um", shape="cosine", width="20lp/mm") * H.notch((0.1, 0), width="12px")
    assert str(product.lacks_pixel_size) == "1um"
    sized = product.with_pixel_size("50nm")
    assert sized.lacks_pixel_size is None
    np.testing.assert_allclose(
        sized.gain(30, 40),
        (H.lowpass("20px", shape="cosine", width="1e-3cyc") * H.notch((0.1, 0), width="12px")).gain(30, 40),
    )
    assert eval(repr(sized)) == sized  # noqa: S307
    assert str(sized) == str(product)
    with pytest.raises(ParameterError, match=r"^1um needs the size of a pixel: .*65nm.* px, cyc or %"):
        product.gain(30, 40)


def test_only_a_single_radial_part_is_computed_by_kernels():
    assert LOW.radial == LOW.parts[0]
    assert (LOW * BAND).radial is None
    assert H.mask(np.ones((8, 8))).radial is None


def test_a_product_is_even_if_all_parts_are():
    uneven = H.mask(one_sided(8, 8))
    assert (LOW * BAND).is_even
    assert (LOW * H.mask(np.ones((8, 8)))).is_even
    assert not (LOW * uneven).is_even
    assert not (uneven * LOW).is_even


def test_no_gain_of_the_table_exceeds_1():
    product = H.mask(np.full((6, 8), 5.0)) * H.mask(np.full((6, 8), -3.0)) * LOW
    assert product.largest == 15
    _, table = product.on_grid(6, 8)
    np.testing.assert_allclose(table * 15, product.gain(6, 8))
    assert np.abs(table).max() <= 1


@pytest.mark.parametrize(
    ("product", "support"),
    [
        (H.lowpass(5) * H.highpass(2), (5, 5, 0.0)),  # the low-pass ends it
        (H.highpass(5) * H.bandstop(1, 7), (7, 7, 1.0)),  # the wider of two
        (H.highpass(3) * H.lowpass(20), (17, 17, 0.0)),  # 0 in the corners alone
        (H.lowpass(2) * H.highpass(3), (0, 0, 0.0)),  # nothing passes
    ],
    ids=str,
)
def test_the_support_of_a_product_is_found_in_its_table(product, support):
    found, table = product.on_grid(32, 32)
    np.testing.assert_array_equal(table, product.gain(32, 32))
    assert found == support


FACTORS = {
    "radial": H.bandstop(2, 4, shape="butterworth"),
    "a mask": H.mask(-4 * np.hypot(np.fft.fftfreq(10), np.fft.fftfreq(12)[:, None])),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("factor", FACTORS)
def test_every_pipeline_filters_by_a_product(launcher, factor, form, rng):
    image, product = rng.integers(0, 256, (1, 12, 10), dtype=np.uint8), LOW * FACTORS[factor]
    got = values_by(form, launcher, product, image)
    assert_transform(got * product.largest, reference.filtered(image, product.gain(12, 10)).real, 12)


# dif leaves its bins in another order, which the mask has to follow.
@pytest.mark.parametrize("engine", ["fused", "book", "dif"])
def test_a_filter_takes_a_product(engine, rng):
    image = rng.integers(0, 256, (8, 64), dtype=np.uint8)
    with Filter(LOW * BAND, engine=engine, **COMMAND) as both:
        assert_gray_levels(both(image), by_reference(image, LOW * BAND))
        assert both.engine == engine


def test_a_product_that_is_not_even_takes_the_book(rng):
    image = rng.integers(0, 256, (8, 64), dtype=np.uint8)
    with Filter(LOW * H.mask(one_sided(8, 64)), **COMMAND) as both:
        assert_gray_levels(both(image), by_reference(image, both.transfer))
        assert both.engine == "book"


def test_a_product_of_masks_of_two_sizes_fits_no_image():
    product = H.mask(np.ones((4, 6))) * H.mask(np.ones((6, 6)))
    with pytest.raises(ParameterError, match="the mask of 6 x 6 does not fit an image of 6 x 4"):
        product.gain(4, 6)


def test_gains_beyond_all_numbers_are_refused():
    huge = H.mask(np.full((4, 4), 1e200))
    with pytest.raises(
        ParameterError,
        match=r"mask of 4 x 4 [*] mask of 4 x 4 exceed the range of float64: give masks with lower gains$",
    ):
        huge * huge


def test_h_of_dc_is_a_part_of_the_largest_gain():
    triple = H.mask(np.full((6, 8), 3.0)) * LOW
    table = triple.on_grid(6, 8)[1]
    assert triple.at_dc(table) == 1
    assert triple.keeping_mean().at_dc(table) == 1 / 3
    assert [each.at_dc(None) for each in (LOW, H.highpass(), H.highpass().keeping_mean())] == [1, 0, 1]


def test_the_unit_of_axes_is_that_of_the_first_part_that_has_one():
    mask = H.mask(np.ones((6, 8)))
    units = [each.unit.unit for each in (mask, mask * H.stripes(0) * H.lowpass("8px"), H.notch((0.1, 0)), H.lowpass())]
    assert units == ["cyc", "px", "cyc", "bins"]


def test_kinds_say_whether_they_have_a_direction_and_follow_from_the_picture():
    """What has no direction is a curve; what follows from a picture is found in each."""
    found = {
        "lowpass": H.lowpass(),
        "bandstop": H.bandstop(3, 4),
        "wiener": H.wiener(),
        "descreen": H.descreen(),
        "notch": H.notch((0.1, 0.2)),
        "stripes": H.stripes(0),
        "some stripes": H.stripes("auto"),
        "all stripes": H.stripes(0, width=1),
        "imagej": H.imagej(),
        "mask": H.mask(np.eye(3)),
    }
    parts = {name: made.parts[0] for name, made in found.items()}
    assert [name for name, each in parts.items() if not each.has_direction] == ["lowpass", "bandstop", "wiener"]
    assert [name for name, each in parts.items() if each.is_fitted] == ["wiener", "descreen", "stripes", "some stripes"]
    assert [name for name, each in parts.items() if each.is_said] == ["some stripes"]
    carried_on = {name: each.carried_on for name, each in parts.items() if each.carried_on}
    assert carried_on == {"notch": 1, "stripes": 0.2, "some stripes": 0.2, "all stripes": 0.2}
    assert len({*found.values(), *(H.Transfer((each,)) for each in parts.values())}) == len(found)


def test_what_is_usual_is_left_out_of_the_text_that_makes_a_function():
    """And so of recipes."""
    made = {
        "H.lowpass()": H.lowpass(shape="ideal"),
        "H.bandstop(3, 4)": H.bandstop(4, 3),
        "H.highpass('8px', shape='butterworth')": H.highpass("8px", shape="butterworth", order=2),
        "H.descreen()": H.descreen(18, 0),
        "H.notch((0.1, 0.2), width='0.006cyc')": H.notch((0.1, 0.2), shape="gaussian", harmonics=1, mirrored=False),
        "H.stripes(0.0)": H.stripes(0),
        "H.imagej('40px', '3px')": H.imagej(tolerance=5, suppress="none"),
    }
    assert {text: repr(each) for text, each in made.items()} == {text: text for text in made}


def test_only_transfer_functions_multiply():
    with pytest.raises(TypeError):
        LOW * 2
    with pytest.raises(TypeError):
        2 * LOW


def test_a_product_is_printed_reported_and_pickled():
    assert str(H.Transfer(())) == "everything passes"
    product = LOW * BAND
    assert str(product) == "lowpass, gaussian, radius 6 * bandstop, butterworth of order 2, radius 2 to 4"
    assert product.given() == {"kind": "product", "parts": [LOW.given(), BAND.given()]}
    assert pickle.loads(pickle.dumps(product)) == product  # noqa: S301  our own
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(H.mask(np.eye(4)) * LOW)).gain(4, 4),  # noqa: S301
        (H.mask(np.eye(4)) * LOW).gain(4, 4),
    )


@pytest.mark.parametrize(
    "made",
    [
        H.lowpass,
        lambda radius: H.bandpass(2, radius),
        lambda width: H.lowpass(400, shape="cosine", width=width),
        lambda width: H.notch((0.25, 0.25), width=width),
        lambda width: H.stripes(30, width=width),
        lambda spare: H.stripes(30, spare=spare),
        H.imagej,
        lambda small: H.imagej(300, small),
    ],
)
def test_what_differs_in_the_last_digit_is_reported_as_another_function(made):
    """Or an output of the one would be taken for that of the other."""
    for radius, next_one in ((100, 100.00001), ("100px", "100.00001px")):
        assert made(radius).given() != made(next_one).given()
        assert made(radius).given() == made(radius).given()
