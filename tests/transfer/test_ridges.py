"""Stripes: their gains beside the formula, and pictures whose stripes they take out."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.errors import ParameterError
from fftfilter.filters import Filter
from fftfilter.transfer import reference
from fftfilter.transfer.ridges import FittedStripes, no_stripes


@pytest.mark.parametrize("size", [(64, 48), (63, 63)], ids=str)
@pytest.mark.parametrize("angle", [0, 90, 33, -120])
def test_stripes_follow_their_formula(size, angle):
    fx, fy = np.fft.fftfreq(size[1]), np.fft.fftfreq(size[0])[:, None]
    along = np.cos(np.radians(angle)) * fx - np.sin(np.radians(angle)) * fy
    wanted = np.where(np.hypot(fx, fy) < 0.1, 1, 1 - np.exp(-np.log(2) * (along / 0.03) ** 2))
    got = H.stripes(angle, width="0.03cyc", spare="10px").gain(*size)
    inside = (np.abs(fx) < 0.499) & (np.abs(fy) < 0.499)
    np.testing.assert_allclose(got[inside], wanted[inside], atol=1e-12)


@pytest.mark.parametrize("size", [(98, 98), (49, 93), (93, 49), (10, 10)], ids=str)
def test_a_frequency_at_the_radius_to_spare_is_not_below_it(size):
    """As an ideal low-pass decides it: on square images by whole numbers, 3-4-5 triangles, too."""
    for spare in range(1, min(size) // 2):
        gains = H.stripes(0, spare=spare, width="1e6cyc").gain(*size)  # of which nothing else is left
        np.testing.assert_array_equal(gains > 0.5, H.lowpass(spare).gain(*size) == 1)


@pytest.mark.parametrize("size", [(64, 48), (98, 98), (63, 64)], ids=str)
def test_stripes_are_even_also_at_the_highest_frequency(size):
    gains = H.stripes(33, width="0.03cyc").gain(*size)
    np.testing.assert_array_equal(gains, np.roll(gains[::-1, ::-1], (1, 1), (0, 1)))


@pytest.mark.parametrize("angle", [0, 90, 33])
@pytest.mark.parametrize("engine", ["fused", "book", "numpy"])
def test_scan_stripes_are_taken_out(engine, angle, rng):
    # Stripes of several periods that repeat in the picture, or at 33 degrees almost: 13/20 is their slope in bins.
    y, x = np.mgrid[:64, :64]
    step = {0: (0, 1), 90: (1, 0), 33: (13, 20)}[angle]
    spread = (6, 11, 25) if angle != 33 else (1,)
    waves = sum(9 * np.cos(2 * np.pi * m * (step[0] * x + step[1] * y) / 64 + m) for m in spread)
    clean = 100 + 10 * reference.filtered(rng.normal(size=(64, 64)), H.lowpass(5).gain(64, 64)).real
    with Filter(H.stripes(angle, width="0.015cyc", spare=5), output="real", engine=engine, edges="wrap") as stripes:
        restored = stripes((clean + waves).astype(np.float32))
    assert np.abs(restored - clean).max() < 0.01 * np.abs(waves).max()


def test_the_angle_is_that_of_the_picture_also_of_one_that_is_not_square():
    # They rise to the right: 45 degrees, with a period of 8 pixels along both sides.
    y, x = np.mgrid[:64, :128]
    rising = np.cos(2 * np.pi * (x + y) / 8)
    left = [reference.filtered(rising, H.stripes(angle, width="0.01cyc").gain(64, 128)).real for angle in (45, -45)]
    assert np.abs(left[0]).max() < 1e-9
    np.testing.assert_allclose(left[1], rising, atol=1e-9)


@pytest.mark.parametrize(
    ("angle", "options", "message"),
    [
        ("flat", {}, "angle 'flat' is not a number of degrees: give 0 for horizontal stripes, 33.5, or auto$"),
        (float("inf"), {}, "angle inf is not a number of degrees"),
        (10**400, {}, "is not a number of degrees"),
        (0, {"width": 0}, "width '0' must be finite"),
        (0, {"spare": "8furlong"}, "spare '8furlong' has an unknown unit"),
    ],
)
def test_invalid_values_are_refused_at_once(angle, options, message):
    with pytest.raises(ParameterError, match=message):
        H.stripes(angle, **options)


def test_the_usual_width_and_the_usual_spare_go_with_what_is_given():
    assert str(H.stripes(0, width="0.01cyc")) == "stripes at 0 degrees, width 0.01cyc, spare 40px"
    assert str(H.stripes(0, spare="20px")) == "stripes at 0 degrees, width 0.003cyc, spare 20px"
    assert str(H.stripes(33.5)) == "stripes at 33.5 degrees, as the picture has them"
    assert str(H.stripes("auto")) == "stripes that the picture has"


def fitted(angle):
    """Return stripes of which a half, a quarter and an eighth is taken at 0, 1/6 and 1/3 cycles across them."""
    return FittedStripes(angle, 24, (0.5, 0.25, 0.125), 3.25, (1,))


def test_the_stripes_of_a_picture_follow_their_formula():
    assert str(fitted(33.456)) == "stripes at 33.46 degrees of 3.2 levels in channel 1"
    beside = np.exp(-((24 / 12 / 0.85) ** 2) / 2)  # a frequency of 1/12 along them
    for angle in (0, 180):
        gain = fitted(angle).gain(12, 12)
        assert gain[[0, 2, 4, 10], 0] == pytest.approx([0.5, 0.75, 0.875, 0.75])
        assert gain[0, 1] == gain[0, -1] == pytest.approx(1 - 0.5 * beside)
    np.testing.assert_allclose(fitted(90).gain(12, 10), fitted(0).gain(10, 12).T)
    # At 45 degrees they rise to the right: their frequencies lie on the diagonal, right and down.
    gain = fitted(45).gain(12, 12)
    assert (
        gain[1, 1] == gain[-1, -1] == pytest.approx(1 - np.interp(2**0.5 / 12, [0, 1 / 6, 1 / 3], (0.5, 0.25, 0.125)))
    )
    assert gain[1, -1] == pytest.approx(1 - 0.5 * np.exp(-((24 * 2**0.5 / 12 / 0.85) ** 2) / 2))
    assert (gain[6] == 1).all(), "the highest frequency stays"
    assert (gain[:, 6] == 1).all()
    assert [fitted(angle).is_even_along_axes for angle in (0, 90, 180, 45)] == [True, True, True, False]


def test_what_looks_like_stripes_is_said_from_the_least_angle():
    assert no_stripes([]) == "no stripes are found"
    assert no_stripes([90.0, 12.345]) == (
        "no stripes are found: lines at 12.35 and 90 degrees look like a part of the picture, such as edges, and stay"
    )


def test_stripes_that_all_stay_are_said():
    stays = H.stripes(0, spare="1px")
    assert stays.cautions(64, 64) == ["spare 1px lies beyond the highest frequency of the stripes at 0: they all stay"]
    assert H.stripes(0, spare="3px").cautions(64, 64) == []
    # The ridge of 45 degrees ends in a corner, 45.25 cycles away.
    for spare, count in ((45, 0), (46, 1)):
        assert len(H.stripes(45, spare=spare).cautions(64, 64)) == count


def test_stripes_are_printed_reported_and_pickled():
    stripes = H.stripes(33, spare="20px")
    assert eval(repr(stripes)) == stripes  # noqa: S307  our own
    assert str(stripes) == "stripes at 33 degrees, width 0.003cyc, spare 20px"
    assert stripes.given() == {"kind": "stripes", "angle": 33.0, "width": "0.003cyc", "spare": "20px"}
    assert pickle.loads(pickle.dumps(stripes)) == stripes  # noqa: S301  our own
    assert stripes != H.stripes(33)


def test_right_angles_are_even_along_the_axes_whatever_their_sign_is():
    assert [H.stripes(angle).is_even_along_axes for angle in (0, 90, -90, 180, 30)] == [True] * 4 + [False]
