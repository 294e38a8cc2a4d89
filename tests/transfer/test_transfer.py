"""Transfer functions: units, shapes and passes as the contract of the numbers has them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fftfilter.errors import ParameterError
from fftfilter.transfer.parameters import PASSES, SHAPES, Radius
from fftfilter.transfer.functions import transfer

SIZES = [(1, 1), (1, 9), (8, 1), (8, 8), (7, 7), (6, 9), (300, 451), (64, 48)]


def distance(height, width):
    """Cycles across the shorter side, as the contract writes it."""
    fx, fy = np.fft.fftfreq(width), np.fft.fftfreq(height)[:, None]
    return np.hypot(fx, fy) * min(height, width)


def cutoffs_of(kind, radius=3.0, inner=1.5):
    return {"radius": radius} if kind in ("lowpass", "highpass") else {"inner": inner, "outer": radius}


@pytest.mark.parametrize(
    ("text", "bins"),
    [("40", 40), ("8px", 12.5), ("0.125cyc", 12.5), ("25%", 12.5), (" 1e1 ", 10), ("2.5PX", 40), (12, 12), (0.5, 0.5)],
)
def test_units_on_an_image_of_100_by_200(text, bins):
    assert Radius.parse(text).bins(100, 200) == bins


@pytest.mark.parametrize("text", ["0", "-3", "nan", "inf", "-inf", "0px", 0, -1, float("nan"), "1e999"], ids=str)
def test_a_radius_is_finite_and_above_zero(text):
    with pytest.raises(ParameterError, match="finite and greater than zero"):
        Radius.parse(text)


@pytest.mark.parametrize("text", ["", "px", "abc", "1.2.3", "4 5", "--4", "%"])
def test_a_radius_is_a_number(text):
    with pytest.raises(ParameterError, match="no number"):
        Radius.parse(text)


def test_an_unknown_unit_is_told_the_known_ones():
    with pytest.raises(ParameterError, match=r"unknown unit 'mm'.*40, 8px, 0.125cyc, 25%"):
        Radius.parse("8mm")


@pytest.mark.parametrize("n", [2, 5, 8, 16, 33])
def test_ideal_is_the_books_comparison_of_squares(n):
    k = np.rint(np.fft.fftfreq(n) * n).astype(int)
    dist2 = k**2 + k[:, None] ** 2
    for radius in (1, 2, np.sqrt(2), 2.5, n / 8, n):
        low = transfer("lowpass", radius=radius).gain(n, n)
        assert (low == (dist2 < radius * radius)).all()


@given(st.integers(1, 60), st.integers(1, 60), st.floats(0.1, 60))
def test_ideal_agrees_with_float64_where_the_sides_differ(height, width, radius):
    assume(height != width)  # whole numbers decide there
    wanted = distance(height, width) < radius
    assert (transfer("lowpass", radius=radius).gain(height, width) == wanted).all()


@pytest.mark.parametrize("size", [(1000, 1500), (1080, 1920), (300, 451)], ids=str)
def test_the_default_radius_is_an_eighth_of_the_shorter_side(size):
    assert (transfer("lowpass").gain(*size) == (distance(*size) < min(size) / 8)).all()


@given(st.integers(1, 60), st.integers(1, 60), st.floats(1e-3, 100))
def test_reach_is_the_ideal_mask_row_by_row(height, width, radius):
    low = transfer("lowpass", radius=radius)
    quarter = low.gain(height, width)[: height // 2 + 1, : width // 2 + 1]
    assert low.cutoffs(height, width)[0].reach().tolist() == quarter.sum(axis=1).tolist()


@pytest.mark.parametrize(
    ("height", "width", "radius"), [(1000, 1500, 125), (97, 131, 25), (640, 480, 25), (512, 512, 65)]
)
def test_reach_where_bins_lie_exactly_on_the_radius(height, width, radius):
    low = transfer("lowpass", radius=radius)
    quarter = low.gain(height, width)[: height // 2 + 1, : width // 2 + 1]
    assert low.cutoffs(height, width)[0].reach().tolist() == quarter.sum(axis=1).tolist()


def around_dc(values, reach):
    """The bins that are within reach along both axes."""
    height, width = values.shape
    kx = np.minimum(np.arange(width), width - np.arange(width))
    ky = np.minimum(np.arange(height), height - np.arange(height))[:, None]
    return (ky < reach.rows) & (kx < reach.columns)


@given(
    st.sampled_from(PASSES),
    st.sampled_from(sorted(SHAPES)),
    st.integers(1, 60),
    st.integers(1, 60),
    st.floats(1e-3, 100),
)
def test_beyond_its_reach_a_filter_has_one_gain(kind, shape, height, width, radius):
    filter_ = transfer(kind, shape=shape, **cutoffs_of(kind, radius, radius / 2))
    gain, reach = filter_.gain(height, width), filter_.reach(height, width)
    beyond = gain[~around_dc(gain, reach)]
    assert (np.abs(beyond - reach.beyond) <= 2.0**-32).all()


@pytest.mark.parametrize("kind", ["lowpass", "highpass"])
def test_the_reach_of_an_ideal_filter_is_its_radius(kind):
    assert tuple(transfer(kind, radius=5).reach(64, 64)) == (5, 5, float(kind == "highpass"))
    assert tuple(transfer(kind, radius=5.5).reach(64, 128)) == (6, 11, float(kind == "highpass"))
    assert tuple(transfer(kind, radius=100).reach(8, 9))[:2] == (5, 5)


@given(st.integers(1, 20), st.integers(1, 20), st.floats(0.1, 30), st.sampled_from(PASSES))
def test_the_reach_of_a_mask_is_found_in_its_gains(height, width, radius, kind):
    same = transfer(kind, **cutoffs_of(kind, radius, radius / 2))
    mask = transfer("mask", mask=same.gain(height, width))
    gain, reach = mask.gain(height, width), mask.reach(height, width)
    assert (gain[~around_dc(gain, reach)] == reach.beyond).all()
    assert reach.rows <= height // 2 + 1
    assert reach.columns <= width // 2 + 1
    assert reach.beyond in (0, 1)


def test_a_mask_without_one_gain_far_out_reaches_everything():
    assert tuple(transfer("mask", mask=np.full((6, 9), 0.5)).reach(6, 9)) == (4, 5, 0.0)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_smooth_shapes_follow_their_formulas(size):
    d = distance(*size)
    gaussian = transfer("lowpass", radius=3, shape="gaussian").gain(*size)
    np.testing.assert_allclose(gaussian, np.exp(-np.log(2) * (d / 3) ** 2), rtol=1e-9)
    butterworth = transfer("lowpass", radius=3, shape="butterworth", order=4).gain(*size)
    np.testing.assert_allclose(butterworth, 1 / (1 + (d / 3) ** 8), rtol=1e-9)


@pytest.mark.parametrize("shape", ["gaussian", "butterworth"])
def test_smooth_shapes_have_half_their_gain_at_the_cutoff(shape):
    assert transfer("lowpass", radius=4, shape=shape).gain(32, 32)[4, 0] == pytest.approx(0.5)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_passes_are_made_of_low_passes(shape, size):
    def gain(kind, **cutoffs):
        return transfer(kind, shape=shape, **cutoffs).gain(*size)

    low, high = gain("lowpass", radius=3), gain("highpass", radius=3)
    assert (low + high == 1).all()
    band = gain("lowpass", radius=3) * gain("highpass", radius=1.5)
    np.testing.assert_allclose(gain("bandpass", inner=1.5, outer=3), band, rtol=1e-15)
    np.testing.assert_allclose(gain("bandstop", inner=1.5, outer=3), 1 - band, rtol=1e-15)


@pytest.mark.parametrize("kind", PASSES)
@pytest.mark.parametrize("radius", ["1e-200", "1e200", "1e300", "1e-310px"])
def test_extreme_radii_have_finite_gains(kind, radius):
    for shape in SHAPES:
        gain = transfer(kind, shape=shape, **cutoffs_of(kind, radius, "1e-250")).gain(9, 12)
        assert np.isfinite(gain).all()
        assert gain.min() >= 0
        assert gain.max() <= 1


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        ("sharpen", {}, "no filter"),
        ("lowpass", {"shape": "square"}, "no shape"),
        ("lowpass", {"order": 2}, "no meaning for the ideal shape"),
        ("lowpass", {"shape": "butterworth", "order": 0}, "from 1 to 100"),
        ("lowpass", {"shape": "butterworth", "order": 2.5}, "from 1 to 100"),
        ("lowpass", {"inner": 1, "outer": 2}, "one cutoff"),
        ("bandpass", {"radius": 3}, "two cutoffs"),
        ("bandstop", {"inner": 3}, "two cutoffs"),
        ("bandpass", {"inner": 3, "outer": 3}, "not below"),
        ("bandpass", {"inner": "5px", "outer": "5px"}, "not below"),
        ("bandpass", {"inner": "4px", "outer": "8px"}, "not below"),
    ],
)
def test_what_cannot_be_meant_is_refused(kind, given, message):
    with pytest.raises(ParameterError, match=message):
        transfer(kind, **given)


def test_cutoffs_of_different_units_are_compared_on_the_image():
    band = transfer("bandpass", inner="10px", outer=12)
    assert band.gain(100, 200).any()
    with pytest.raises(ParameterError, match="20 and 12 bins from DC"):
        band.gain(200, 300)
