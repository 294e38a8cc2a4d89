"""The shapes: their formulas, and that every pipeline has each of them.

Parametrized by ``SHAPES``: a new shape is tested without a line here.
"""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.errors import ParameterError
from fftfilter.transfer import reference
from fftfilter.transfer.shapes import SHAPES
from tests.helpers import FORMS, assert_transform, values_by

FORMULAS = {
    "ideal": lambda d: d < 1,
    "gaussian": lambda d: np.exp(-np.log(2) * d**2),
    "butterworth": lambda d: 1 / (1 + d**8),
    "cosine": lambda d: np.select([d < 5 / 6, d > 7 / 6], [1, 0], (1 - np.sin(3 * np.pi * (d - 1))) / 2),
    "fermi": lambda d: np.where(d == 0, 1, 1 / (1 + np.exp(3 * (d - 1)))),
}


def parameters(shape, order, width):
    """The parameters of a shape that are not the usual ones."""
    return {"order": order} if SHAPES[shape].has_order else {"width": width} if SHAPES[shape].widest else {}


# The usual parameters and others: the kernels have to be told. The width of a band is that of both cutoffs.
CASES = [
    (shape, each)
    for shape in SHAPES
    for each in ([{}, parameters(shape, 5, 0.7)] if shape not in ("ideal", "gaussian") else [{}])
]


def low(shape, height, width, radius=3):
    return H.lowpass(radius, shape=shape, **parameters(shape, 4, 1)).gain(height, width)


@pytest.mark.parametrize("shape", FORMULAS)
@pytest.mark.parametrize("size", [(1, 1), (1, 9), (7, 7), (64, 48)], ids=str)
def test_shapes_follow_their_formulas(shape, size):
    fx, fy = np.fft.fftfreq(size[1]), np.fft.fftfreq(size[0])[:, None]
    d = np.hypot(fx, fy) * min(size) / 3
    np.testing.assert_allclose(low(shape, *size), FORMULAS[shape](d), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "ideal"])
def test_smooth_shapes_have_half_their_gain_at_the_cutoff(shape):
    assert low(shape, 32, 32, radius=4)[4, 0] == pytest.approx(0.5)


@pytest.mark.parametrize(("shape", "usual"), [("cosine", "16px"), ("fermi", "80px")])
def test_a_width_is_a_radius_in_any_unit_by_default_a_part_of_the_cutoff(shape, usual):
    as_usual, given, in_bins = (H.lowpass("8px", shape=shape, width=width).gain(64, 48) for width in (None, usual, 1.5))
    np.testing.assert_allclose(as_usual, given, rtol=1e-12)
    np.testing.assert_allclose(in_bins, H.lowpass(6, shape=shape, width="0.03125cyc").gain(64, 48), rtol=1e-12)


def test_both_cutoffs_of_a_band_have_the_same_width():
    gain = H.bandpass(10, 30, shape="cosine", width=4).gain(128, 128)[0, :33]
    low, high = (1 - 0.5**0.5) / 2, (1 + 0.5**0.5) / 2
    wanted = {8: 0, 9: low, 10: 0.5, 11: high, 12: 1, 28: 1, 29: high, 30: 0.5, 31: low, 32: 0}
    assert gain[list(wanted)].tolist() == pytest.approx(list(wanted.values()))


@pytest.mark.parametrize("shape", ["cosine", "fermi"])
def test_a_high_pass_leaves_nothing_of_a_constant(shape):
    assert H.highpass(3, shape=shape, width=3).gain(32, 32)[0, 0] == 0


@pytest.mark.parametrize(
    ("cutoffs", "shape", "width", "message"),
    [
        ((8,), "gaussian", 2, "width 2 has no meaning for the gaussian shape: leave it out or choose cosine or fermi"),
        (
            (8,),
            "cosine",
            17,
            "width 17 is 2.125 times the radius it belongs to, which the cosine shape cannot have: give at most 2 ",
        ),
        ((8, 60), "fermi", 9, "width 9 is 1.125 times the radius .* give at most 1 times the radius"),
        ((8,), "fermi", 0.001, "give more, or the ideal shape"),
        ((8,), "cosine", 0, "width '0' must be finite and greater than zero"),
    ],
)
def test_impossible_widths_are_refused_at_once(cutoffs, shape, width, message):
    with pytest.raises(ParameterError, match=message):
        (H.bandpass if len(cutoffs) == 2 else H.lowpass)(*cutoffs, shape=shape, width=width)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("shape", "width", "part"), [("cosine", 16, 2), ("fermi", 8, 1), ("fermi", 0.008, 0.001), ("cosine", 0.008, 0.001)]
)
def test_the_widest_and_the_narrowest_edges_are_taken(shape, width, part):
    low = H.lowpass(8, shape=shape, width=width)
    assert low.parts[0].falloff(8, 128, 128) == part
    assert low.gain(128, 128)[8, 0] == 0.5


@pytest.mark.filterwarnings("error")
def test_the_steepest_edge_is_no_overflow():
    low = H.lowpass(0.01, shape="butterworth", order=100).gain(8, 8)
    assert low[:3, 0].tolist() == [1, 0, 0]  # (1/0.01)^200 is above all floats


def test_a_width_of_another_unit_is_refused_on_the_image():
    low = H.lowpass("8px", shape="cosine", width=20)
    assert low.gain(128, 128).any()
    with pytest.raises(ParameterError, match=r"width 20 is 2[.]5 times the radius"):
        low.gain(64, 64)


def test_a_width_is_printed_and_reported():
    low = H.lowpass(8, shape="fermi", width="2%")
    assert repr(low) == "H.lowpass(8, shape='fermi', width='2%')"
    assert str(low) == "lowpass, fermi of width 2%, radius 8"
    assert low.given() == {"kind": "lowpass", "radius": "8", "shape": "fermi", "width": "2%"}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_falls_from_1(shape):
    gains = low(shape, 128, 128)[0, :65]
    assert gains[0] == 1
    assert (np.diff(gains) <= 0).all()
    assert 0 <= gains[-1] < 1e-3


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("shape", "given"), CASES)
def test_every_pipeline_has_every_shape(launcher, shape, given, form, rng):
    # A band has both cutoffs; of these radii, some bins lie on one.
    band = H.bandpass(1, 3, shape=shape, **given)
    image = rng.integers(0, 256, (1, 12, 10), dtype=np.uint8)
    got = values_by(form, launcher, band, image)
    assert_transform(got, reference.filtered(image, band.gain(12, 10)).real, 12)
