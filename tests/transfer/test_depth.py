"""A depth: a gain floor for a whole transfer function, so that what it removes is attenuated."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.errors import ParameterError
from fftfilter.filters import Filter
from fftfilter.transfer import reference
from fftfilter.transfer.product import grid_with
from tests.helpers import FORMS, values_by

SIZE = (12, 10)
HALF = 20 * np.log10(2)
FLOORED = [
    H.lowpass(3).with_depth(HALF),
    (H.highpass(2, shape="gaussian") * H.notch((0.3, 0.1), width=1)).with_depth(20),
    H.mask(np.full(SIZE, -0.5)).with_depth(6),
]


def test_a_gain_of_0_becomes_the_floor_and_a_gain_of_1_stays():
    gains = H.lowpass(3).with_depth(HALF).gain(*SIZE)
    np.testing.assert_allclose(gains, np.where(H.lowpass(3).gain(*SIZE) == 1, 1, 0.5))
    assert H.lowpass(3).with_depth(20).gain(*SIZE).min() == pytest.approx(0.1)


def test_the_image_is_mixed_with_the_filtered_one(rng):
    image = rng.random(SIZE)
    transfer = H.notch((0.3, 0.1), width=2) * H.stripes(90, width=1, spare="6px")
    alone, mixed = (reference.filtered(image, each.gain(*SIZE)) for each in (transfer, transfer.with_depth(HALF)))
    np.testing.assert_allclose(mixed, image / 2 + alone / 2)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("transfer", FLOORED, ids=str)
def test_every_pipeline_has_it(launcher, rng, form, transfer):
    image = rng.integers(0, 256, (1, *SIZE), dtype=np.uint8)
    wanted = reference.filtered(image, transfer.gain(*SIZE)).real
    np.testing.assert_allclose(values_by(form, launcher, transfer, image), wanted, atol=1e-3)


def test_it_is_the_same_function_for_all_edges_parts_of_a_grid_and_reduced_pictures():
    floored, plain = (H.lowpass("4px", shape="gaussian").with_depth(HALF), H.lowpass("4px", shape="gaussian"))
    for of in (lambda each: grid_with("mirror", each, *SIZE).gain(), lambda each: each.gain(*SIZE, 5, 3)):
        np.testing.assert_allclose(of(floored), 0.5 + of(plain) / 2)
    np.testing.assert_allclose(floored.in_cycles(*SIZE, 2).gain(6, 5), 0.5 + plain.in_cycles(*SIZE, 2).gain(6, 5) / 2)


def test_a_mean_that_is_kept_is_kept_whole():
    assert H.highpass(2).with_depth(6).keeping_mean().gain(*SIZE)[0, 0] == 1
    assert H.highpass(2).keeping_mean().with_depth(6).gain(*SIZE)[0, 0] == 1


def test_a_depth_without_a_measure_is_none():
    np.testing.assert_array_equal(H.lowpass(3).with_depth(1e300).gain(*SIZE), H.lowpass(3).gain(*SIZE))


def test_it_is_that_of_a_whole_product():
    for one, other in ((FLOORED[0], H.stripes(0)), (H.stripes(0), FLOORED[0])):
        with pytest.raises(
            ParameterError, match=r"^a depth is that of the whole product: multiply first, then take with_depth$"
        ):
            one * other


def test_notches_of_some_channels_have_it_in_each(rng):
    picture = rng.integers(0, 256, (2, *SIZE), dtype=np.uint8)
    transfer = H.notch((0.3, 0.2), width=2, channels=(1,)).with_depth(HALF)
    with Filter(transfer, output="keep", edges="wrap") as f:
        made = f(picture, channel_axis=0)
    np.testing.assert_array_equal(made[0], picture[0])
    with Filter(H.notch((0.3, 0.2), width=2), output="keep", depth=HALF, edges="wrap") as f:
        np.testing.assert_array_equal(made[1], f(picture[1]))


@pytest.mark.parametrize("transfer", FLOORED[:2], ids=str)
def test_its_text_makes_it_again(transfer):
    again = eval(repr(transfer), {"H": H})  # noqa: S307  its own
    assert again == transfer
    sized = H.lowpass("2um").with_pixel_size("1um").with_depth(6)
    assert eval(repr(sized), {"H": H}) == sized  # noqa: S307
    assert str(sized) == "lowpass, ideal, radius 2um, depth 6 dB"
    assert sized.given()["depth"] == 6


@pytest.mark.parametrize("depth", [0, -6, np.nan, np.inf, "loud", None, True, 10**400, [6]], ids=str)
def test_what_is_no_depth_is_refused(depth):
    with pytest.raises(ParameterError, match=r"^depth .* is invalid: give decibels above 0, such as 6, which halves"):
        H.lowpass(3).with_depth(depth)
