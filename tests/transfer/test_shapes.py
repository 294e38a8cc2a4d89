"""The shapes: their formulas, and that every pipeline has each of them.

Parametrized by ``SHAPES``: a new shape is tested without a line here.
"""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.transfer import reference
from fftfilter.transfer.shapes import SHAPES
from tests.helpers import FORMS, assert_transform, values_by

FORMULAS = {
    "ideal": lambda d: d < 1,
    "gaussian": lambda d: np.exp(-np.log(2) * d**2),
    "butterworth": lambda d: 1 / (1 + d**8),
}
# An order that is not the default: the kernels have to be told.
CASES = [(shape, order) for shape in SHAPES for order in ((None, 5) if SHAPES[shape].has_order else (None,))]


def low(shape, height, width, radius=3):
    return H.lowpass(radius, shape=shape, order=4 if SHAPES[shape].has_order else None).gain(height, width)


@pytest.mark.parametrize("shape", FORMULAS)
@pytest.mark.parametrize("size", [(1, 1), (1, 9), (7, 7), (64, 48)], ids=str)
def test_shapes_follow_their_formulas(shape, size):
    fx, fy = np.fft.fftfreq(size[1]), np.fft.fftfreq(size[0])[:, None]
    d = np.hypot(fx, fy) * min(size) / 3
    np.testing.assert_allclose(low(shape, *size), FORMULAS[shape](d), rtol=1e-9)


@pytest.mark.parametrize("shape", ["gaussian", "butterworth"])
def test_smooth_shapes_have_half_their_gain_at_the_cutoff(shape):
    assert low(shape, 32, 32, radius=4)[4, 0] == pytest.approx(0.5)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_falls_from_1(shape):
    gains = low(shape, 64, 64)[0, :33]
    assert gains[0] == 1
    assert (np.diff(gains) <= 0).all()
    assert 0 <= gains[-1] < 1e-3


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("shape", "order"), CASES)
def test_every_pipeline_has_every_shape(launcher, shape, order, form, rng):
    # A band has both cutoffs; of these radii, some bins lie on one.
    band = H.bandpass(1, 3, shape=shape, order=order)
    image = rng.integers(0, 256, (1, 8, 8), dtype=np.uint8)
    got = values_by(form, launcher, band, image)
    assert_transform(got, reference.filtered(image, band.gain(8, 8)).real, 8)
