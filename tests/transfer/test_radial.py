"""Low-pass, high-pass, band-pass and band-stop as the contract of the numbers has them, and where they vary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fftfilter import transfer as H
from fftfilter.errors import ParameterError
from fftfilter.transfer.radial import PASSES
from fftfilter.transfer.shapes import SHAPES

SIZES = [(1, 1), (1, 9), (8, 1), (8, 8), (7, 7), (6, 9), (300, 451), (64, 48)]
sides = st.integers(1, 60)


def distance(height, width):
    """Cycles across the shorter side, as the contract writes it."""
    fx, fy = np.fft.fftfreq(width), np.fft.fftfreq(height)[:, None]
    return np.hypot(fx, fy) * min(height, width)


def made(kind, radius=3.0, inner=1.5, **options):
    """Return a transfer function of any kind, a band from ``inner`` to ``radius``."""
    cutoffs = (inner, radius) if "band" in kind else (radius,)
    return getattr(H, kind)(*cutoffs, **options)


def outer_cutoff(transfer, height, width):
    return transfer.radial.cutoffs(height, width)[0]


@pytest.mark.parametrize("n", [2, 5, 8, 16, 33])
def test_ideal_is_the_books_comparison_of_squares(n):
    k = np.rint(np.fft.fftfreq(n) * n).astype(int)
    dist2 = k**2 + k[:, None] ** 2
    for radius in (1, 2, np.sqrt(2), 2.5, n / 8, n):
        assert (H.lowpass(radius).gain(n, n) == (dist2 < radius * radius)).all()


@given(sides, sides, st.floats(0.1, 60))
def test_ideal_agrees_with_float64_where_the_sides_differ(height, width, radius):
    assume(height != width)  # whole numbers decide there
    assert (H.lowpass(radius).gain(height, width) == (distance(height, width) < radius)).all()


@pytest.mark.parametrize("size", [(1000, 1500), (1080, 1920), (300, 451)], ids=str)
def test_the_default_radius_is_an_eighth_of_the_shorter_side(size):
    assert (H.lowpass().gain(*size) == (distance(*size) < min(size) / 8)).all()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_passes_are_made_of_low_passes(shape, size):
    low, high = (made(kind, shape=shape).gain(*size) for kind in ("lowpass", "highpass"))
    assert (low + high == 1).all()
    band = low * (1 - H.lowpass(1.5, shape=shape).gain(*size))
    np.testing.assert_allclose(made("bandpass", shape=shape).gain(*size), band, rtol=1e-15)
    np.testing.assert_allclose(made("bandstop", shape=shape).gain(*size), 1 - band, rtol=1e-15)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", PASSES)
@pytest.mark.parametrize("radius", ["1e-200", "1e200", "1e300", "1e-310px"])
def test_extreme_radii_have_finite_gains(kind, radius):
    for shape in SHAPES:
        gain = made(kind, radius, "1e-99", shape=shape).gain(9, 12)
        assert np.isfinite(gain).all()
        assert gain.min() >= 0
        assert gain.max() <= 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("radius", [1e-300, "1e300px", "1e-320cyc", "1e-320px", 1e300])
@pytest.mark.parametrize("shape", SHAPES)
def test_extreme_widths_have_finite_gains(shape, radius):
    notch = H.notch((1 / 4, 1 / 3), width=radius, shape=shape)
    for part in notch, H.stripes(0, width=radius, spare=radius), H.imagej(radius, radius):
        gain = part.gain(9, 12)
        assert gain.min() >= 0
        assert gain.max() <= 1
        part.cautions(9, 12)


def test_distances_of_the_smallest_radii_have_squares_in_single_precision():
    steps = outer_cutoff(H.lowpass("1e-200", shape="gaussian"), 12, 10).steps()
    assert np.isfinite(np.square(np.multiply(8192, steps), dtype=np.float32)).all()


# Where H varies


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_bins_of_large_squares_are_far(dtype):
    cutoff = outer_cutoff(H.lowpass(60_000), 131_072, 131_072)
    kx, ky = np.array([[59_999, 0], [60_000, 0], [42_426, 42_426], [42_427, 42_427]], dtype).T
    assert cutoff.near(kx, ky).tolist() == [True, False, True, False]


@given(sides, sides, st.floats(1e-3, 100))
def test_near_in_rows_and_columns_is_the_ideal_mask_as_a_table(height, width, radius):
    quarter = H.lowpass(radius).gain(height, width)[: height // 2 + 1, : width // 2 + 1]
    cutoff = outer_cutoff(H.lowpass(radius), height, width)
    assert cutoff.near_in_rows().tolist() == quarter.sum(axis=1).tolist()
    assert cutoff.near_in_columns().tolist() == quarter.sum(axis=0).tolist()


@pytest.mark.parametrize(
    ("height", "width", "radius"), [(1000, 1500, 125), (97, 131, 25), (640, 480, 25), (512, 512, 65)]
)
def test_near_in_rows_where_bins_lie_exactly_on_the_radius(height, width, radius):
    quarter = H.lowpass(radius).gain(height, width)[: height // 2 + 1, : width // 2 + 1]
    assert outer_cutoff(H.lowpass(radius), height, width).near_in_rows().tolist() == quarter.sum(axis=1).tolist()


def within(support, height, width):
    """Tell which bins are within the support along both axes."""
    kx = np.minimum(np.arange(width), width - np.arange(width))
    ky = np.minimum(np.arange(height), height - np.arange(height))[:, None]
    return (ky < support.rows) & (kx < support.columns)


@given(st.sampled_from(PASSES), st.sampled_from(sorted(SHAPES)), sides, sides, st.floats(1e-3, 100))
def test_beyond_its_support_a_filter_has_one_gain(kind, shape, height, width, radius):
    transfer = made(kind, radius, radius / 2, shape=shape)
    support, table = transfer.on_grid(height, width)
    beyond = transfer.gain(height, width)[~within(support, height, width)]
    assert (np.abs(beyond - support.beyond) <= 2.0**-32).all()
    assert (table is not None) == transfer.radial.is_faint(height, width)


@given(sides, sides, st.floats(0.1, 60), st.sampled_from(PASSES))
def test_the_support_of_the_same_gains_as_a_table(height, width, radius, kind):
    gain = made(kind, radius, radius / 2).gain(height, width)
    support, table = H.mask(gain).on_grid(height, width)
    assert (gain[~within(support, height, width)] == support.beyond).all()
    assert support.rows <= height // 2 + 1
    assert support.columns <= width // 2 + 1
    assert support.beyond in (0, 1)
    np.testing.assert_array_equal(table, gain)


@pytest.mark.parametrize("kind", ["lowpass", "highpass"])
def test_the_support_of_an_ideal_filter_is_its_radius(kind):
    beyond = float(kind == "highpass")
    assert made(kind, 5).on_grid(64, 64)[0] == (5, 5, beyond)
    assert made(kind, 5.5).on_grid(64, 128)[0] == (6, 11, beyond)
    assert made(kind, 100).on_grid(8, 9)[0] == (5, 5, beyond)


# What is given


@pytest.mark.parametrize(
    ("kind", "cutoffs", "options", "message"),
    [
        ("lowpass", (), {"shape": "square"}, "'square' is not a shape: choose ideal, "),
        ("lowpass", (), {"order": 2}, "order 2 has no meaning for the ideal shape"),
        ("lowpass", (), {"shape": "butterworth", "order": 0}, "order 0 is out of range: give a whole number from 1 to"),
        ("lowpass", (), {"shape": "butterworth", "order": 101}, "from 1 to 100"),
        ("lowpass", (), {"shape": "butterworth", "order": 2.5}, "from 1 to 100"),
        ("lowpass", (), {"shape": "butterworth", "order": True}, "from 1 to 100"),
        (
            "lowpass",
            (),
            {"shape": "gaussian", "order": 3},
            "^order 3 has no meaning for the gaussian shape: leave it out or choose butterworth$",
        ),
        ("highpass", ("8furlong",), {}, "^radius '8furlong' has an unknown unit"),
        ("bandpass", ("x", 3), {}, "^inner 'x' is not a number"),
        ("bandstop", (3, "x"), {}, "^outer 'x' is not a number"),
        ("bandpass", (3, 3), {}, "^cutoffs 3 and 3 are the same: give two, one on either side of the band$"),
        ("bandpass", ("5px", "0.2cyc"), {}, "are the same"),
        ("bandstop", ("1mm", "1lp/mm"), {}, "are the same"),
    ],
)
def test_invalid_values_are_refused_at_once(kind, cutoffs, options, message):
    with pytest.raises(ParameterError, match=message):
        getattr(H, kind)(*cutoffs, **options)


@pytest.mark.parametrize(
    ("one", "other"), [(3, 12), ("20px", "4px"), ("20px", "0.25cyc"), ("1mm", "254lpi"), ("20px", 12), ("5px", 12)]
)
@pytest.mark.parametrize("kind", ["bandpass", "bandstop"])
def test_cutoffs_come_in_either_order(kind, one, other):
    forward, backward = (
        getattr(H, kind)(*cutoffs).with_pixel_size("0.1mm") for cutoffs in ((one, other), (other, one))
    )
    assert forward.gain(40, 60).any()
    np.testing.assert_array_equal(forward.gain(40, 60), backward.gain(40, 60))
    assert forward.cautions(40, 60) == backward.cautions(40, 60)


def test_the_order_of_cutoffs_that_need_no_image_is_forgotten():
    assert H.bandpass("4px", "20px") == H.bandpass("20px", "4px")
    assert H.bandpass("4px", "20px").given()["inner"] == "20px"


def test_a_part_of_the_grid_has_the_gains_of_the_whole_one_there():
    band = H.bandpass("10px", 12, shape="gaussian")
    np.testing.assert_array_equal(band.gain(24, 21, 13, 5), band.gain(24, 21)[:13, :5])


def test_cutoffs_of_different_units_are_compared_on_the_image():
    band = H.bandpass("10px", 12)
    assert band.gain(100, 200).any()
    with pytest.raises(ParameterError, match=r"^cutoffs 10px and 12 are the same on 300 x 120 pixels"):
        band.gain(120, 300)


def test_a_filter_is_printed_and_reported_as_it_was_given():
    assert str(H.highpass()) == "highpass, ideal, radius n/8"
    assert str(H.bandpass("20px", "4px", shape="butterworth")) == "bandpass, butterworth of order 2, radius 20px to 4px"
    assert H.lowpass("8px", shape="gaussian").given() == {"kind": "lowpass", "radius": "8px", "shape": "gaussian"}
    band = H.bandstop(3, 5, shape="butterworth", order=4)
    assert band.given() == {"kind": "bandstop", "inner": "3", "outer": "5", "shape": "butterworth", "order": 4}


@pytest.mark.parametrize(
    ("transfer", "what"),
    [
        (H.highpass("40cyc"), "radius 40cyc lies beyond the highest frequency: the highpass passes nothing"),
        (H.lowpass("0.5px"), "radius 0.5px lies beyond the highest frequency: the lowpass passes everything"),
        (H.bandpass(60, 70), "radius 60 lies beyond the highest frequency: the bandpass passes nothing"),
        (H.bandstop(60, 70), "radius 60 lies beyond the highest frequency: the bandstop passes everything"),
        (H.lowpass("4000%", shape="gaussian"), "radius 4000% lies beyond the highest frequency: the lowpass passes"),
    ],
    ids=str,
)
def test_a_cutoff_beyond_the_grid_is_said(transfer, what):
    """So is the default of n/8 cycles on one pixel, which has none."""
    assert H.highpass().cautions(1, 1) == ["radius n/8 lies beyond the highest frequency: the highpass passes nothing"]
    (said,) = transfer.cautions(64, 48)
    assert said.startswith(what)


@pytest.mark.parametrize(
    "transfer",
    [
        H.highpass(),
        H.lowpass("141%"),
        H.bandpass(4, 500),
        H.highpass("4000%", shape="gaussian"),
        H.mask(np.ones((8, 8))),
    ],
    ids=str,
)
def test_other_cutoffs_need_no_caution(transfer):
    assert transfer.cautions(64, 64) == []
