"""Wiener's filter before its picture is known, and its gains by frequency."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.errors import ParameterError
from fftfilter.transfer.fitted import Curve


def test_gains_lie_on_lines_between_those_that_were_measured():
    curve = Curve((-4.0, -2.0), (1.0, 0.5))
    fx = [0, 1 / 32, 1 / 16, 1 / 8, 1 / 4, -1 / 2]
    gains = curve.gain(64, 64, 1)[0, [0, 2, 4, 8, 16, 32]]
    assert fx[1] < 2**-4
    assert np.allclose(gains, [1, 1, 1, 0.75, 0.5, 0.5])
    assert np.allclose(curve.gain(64, 64), curve.gain(64, 64).T)
    assert np.allclose(curve.gain(64, 64)[::2, ::2], curve.gain(32, 32))
    assert curve.half is None
    assert Curve((-4.0, -2.0), (1.0, 0.4), 3.0, (1,)).half == 16
    assert str(Curve((-4.0, -2.0), (1.0, 0.4), 3.0, (1,))) == (
        "Wiener's filter of noise of 3.0 levels, half at 16.0 px in channel 1"
    )


def test_without_a_picture_everything_passes():
    for made in H.wiener(), H.wiener("auto"), H.wiener(8), H.descreen():
        assert made.is_fitted
        assert made.is_even_along_axes
        assert (made.gain(3, 5, 2) == np.ones((2, 5))).all()
        assert eval(repr(made)) == made  # noqa: S307  our own
    assert str(H.wiener(8)) == "Wiener's filter of noise of 8 levels"
    assert str(H.wiener()) == "Wiener's filter of noise as measured"
    assert str(H.descreen(20, 30)) == "screens of 20 dB taken out, 30% of the detail kept"


@pytest.mark.parametrize("noise", [0, -1, 1e300, "much", float("nan"), float("inf"), [1, 2]])
def test_noise_that_is_none_is_refused(noise):
    with pytest.raises(ParameterError, match="is invalid: give gray levels above 0"):
        H.wiener(noise)


@pytest.mark.parametrize(
    "options", [{"strength": 9}, {"strength": float("nan")}, {"keep_detail": 101}, {"strength": "x"}]
)
def test_what_means_nothing_to_descreen_is_refused(options):
    with pytest.raises(ParameterError, match="is invalid: give"):
        H.descreen(**options)
