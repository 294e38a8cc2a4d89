"""The band of ImageJ's dialog, as its formula has it."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.errors import ParameterError


@pytest.mark.parametrize(("suppress", "of_columns"), [("none", None), ("horizontal", True), ("vertical", False)])
def test_the_gains_on_a_square(suppress, of_columns):
    n, large, small, s = 64, 20.0, 3.0, 0.7
    k = np.fft.fftfreq(n, 1 / n)
    u, v = k, k[:, None]
    r2 = u**2 + v**2
    wanted = (1 - np.exp(-r2 * (2 * large / n) ** 2)) * np.exp(-r2 * (2 * small / n) ** 2)
    if of_columns is not None:
        wanted = wanted * (1 - np.exp(-((u if of_columns else v) ** 2) * s**2))
    wanted[0, 0] = 1
    made = H.imagej(large, small, suppress=suppress, tolerance=30)
    np.testing.assert_allclose(made.gain(n, n), wanted, atol=1e-14)
    assert eval(repr(made)) == made  # noqa: S307
    assert made.is_even


def test_on_other_grids_the_periods_are_pixels_and_stripes_whole_cycles_across_a_side():
    fx, fy = np.fft.fftfreq(20), np.fft.fftfreq(12)[:, None]
    f2 = fx**2 + fy**2
    wanted = (1 - np.exp(-4 * 6**2 * f2)) * np.exp(-4 * 3**2 * f2) * (1 - np.exp(-((12 * fy * 0.9) ** 2)))
    wanted[0, 0] = 1
    made = H.imagej(6, 3, suppress="vertical", tolerance=10)
    np.testing.assert_allclose(made.gain(12, 20), wanted, atol=1e-14)
    np.testing.assert_array_equal(made.gain(12, 20, 7, 4), made.gain(12, 20)[:7, :4])


def test_what_it_was_made_of_has_its_usual_values_too():
    assert H.imagej("20px", 0).given() == {
        "kind": "imagej",
        "large": "20px",
        "small": "0",
        "suppress": "none",
        "tolerance": 5,
    }
    assert H.imagej("0.05cyc", "4px").unit.unit == "cyc"


def test_a_tolerance_is_a_percentage_and_stripes_have_two_directions():
    assert [H.imagej(tolerance=each).parts[0].tolerance for each in (0, 100)] == [0, 100]
    for tolerance in (-0.5, 100.5, "x"):
        with pytest.raises(ParameterError, match=r"^tolerance .* is out of range: give a percentage from 0 to 100$"):
            H.imagej(tolerance=tolerance)
    with pytest.raises(ParameterError, match=r"^suppress 'both' is unknown: choose none, horizontal, vertical$"):
        H.imagej(suppress="both")


def test_periods_have_any_unit_and_0_is_none():
    wanted = H.imagej(20, 4).gain(32, 48)
    np.testing.assert_allclose(H.imagej("0.05cyc", "2um").with_pixel_size("500nm").gain(32, 48), wanted, rtol=1e-12)
    np.testing.assert_allclose(H.imagej(20, 0).gain(32, 48), H.imagej(20, "1e-9").gain(32, 48), rtol=1e-12)
    assert H.imagej(20, 0) == H.imagej(20, 0.0) == H.imagej(20, "0px")
    assert str(H.imagej(20, 0)) == "ImageJ's bandpass, large 20px, small 0"
    assert str(H.imagej(suppress="vertical")).endswith("small 3px, vertical stripes out by 5%")
