"""Wiener's filter before its picture is known, and its gains by frequency."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.errors import ParameterError
from fftfilter.transfer.fitted import Band, Curve


def test_gains_lie_on_lines_between_those_that_were_measured():
    curve = Curve((-4.0, -2.0), (1.0, 0.5))
    fx = [0, 1 / 32, 1 / 16, 1 / 8, 1 / 4, -1 / 2]
    gains = curve.gain(64, 64, slice(1))[0, [0, 2, 4, 8, 16, 32]]
    assert fx[1] < 2**-4
    assert np.allclose(gains, [1, 1, 1, 0.75, 0.5, 0.5])
    assert np.allclose(curve.gain(64, 64), curve.gain(64, 64).T)
    assert np.allclose(curve.gain(64, 64)[::2, ::2], curve.gain(32, 32))
    assert curve.half is None
    assert Curve((-4.0, -2.0), (1.0, 0.4), 3.0, (1,)).half == 16
    assert str(Curve((-4.0, -2.0), (1.0, 0.4), 3.0, (1,))) == (
        "Wiener's filter of noise of 3.0 levels, half at 16.0 px in channel 1"
    )


@pytest.mark.filterwarnings("error")
def test_a_curve_has_its_gains_on_a_part_of_the_grid_too():
    curve = Curve((-4.0, -2.0), (1.0, 0.5))
    np.testing.assert_array_equal(curve.gain(12, 10, slice(5), slice(3)), curve.gain(12, 10)[:5, :3])
    assert not curve.has_direction
    assert curve.gain(16, 32)[4, 0] == curve.gain(16, 32)[0, 8] == 0.5  # 1/4 cycle per pixel down and across


def test_the_bands_of_a_reduced_print_have_less_blur():
    bands = (Band(2.0, 0.1, 0.2, 0.3), Band(8.0, 0.1, 0.2, 0.3))
    reduced = Curve((-4.0, -2.0), (1.0, 0.5), bands=bands).reduced(2, 12, 10)
    assert (reduced.octaves, [each.blur for each in reduced.bands]) == ((-3.0, -1.0), [1.0, 4.0])


def test_without_a_picture_everything_passes():
    for made in H.wiener(), H.wiener("auto"), H.wiener(8), H.descreen():
        assert made.is_fitted
        assert made.is_even_along_axes
        assert (made.gain(3, 5, 2) == np.ones((2, 5))).all()
        assert eval(repr(made)) == made  # noqa: S307  our own
    assert str(H.wiener(8)) == "Wiener's filter of noise of 8"
    assert str(H.wiener()) == "Wiener's filter of noise as measured"
    assert str(H.descreen(20, 30)) == "screens of 20 dB taken out, keep_detail 30%"
    assert str(H.descreen()) == str(H.descreen(18)) == "screens of 18 dB taken out"


def test_the_ends_of_what_descreen_and_wiener_take_are_taken():
    for strength, kept in ((10, -50), (300, 100)):
        (made,) = H.descreen(strength, kept).parts
        assert (made.strength, made.keep_detail) == (strength, kept)
    assert H.wiener(1e39).parts[0].noise == 1e39


@pytest.mark.parametrize("noise", [0, -1, 1e300, "much", float("nan"), float("inf"), [1, 2]])
def test_noise_that_is_none_is_refused(noise):
    with pytest.raises(ParameterError, match=r"is invalid: give a value above 0, in the unit of the picture, or auto$"):
        H.wiener(noise)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"strength": 9.5}, "strength 9.5 is invalid: give 10 to 300 dB; noise rarely has 10"),
        ({"strength": 301}, "strength 301 is invalid: give 10 to 300 dB; "),
        ({"strength": 10**400}, "strength nan is invalid: give 10 to 300 dB; "),
        ({"strength": float("nan")}, "strength nan is invalid: give 10 to 300 dB; "),
        ({"strength": "x"}, "strength 'x' is invalid: give 10 to 300 dB; "),
        ({"keep_detail": 101}, "keep_detail 101 is invalid: give a part in percent, from -50 to 100"),
        ({"keep_detail": -51, "strength": 20}, "keep_detail -51 is invalid: give a part in percent, from -50 to 100"),
        ({"keep_detail": "x"}, "keep_detail 'x' is invalid: "),
    ],
)
def test_what_means_nothing_to_descreen_is_refused(options, said):
    with pytest.raises(ParameterError) as caught:
        H.descreen(**options)
    assert str(caught.value).startswith(said)
