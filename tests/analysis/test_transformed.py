"""Transforms of planes that are small, and of those that are large enough for the fused engine."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter.analysis.power import LARGE, backward, forward


@pytest.mark.parametrize("shape", [(40, 51), (2048, LARGE // 2048)], ids=["small", "large"])
def test_planes_are_transformed_and_back_in_single_precision(rng, shape):
    plane = rng.standard_normal(shape, np.float32)
    half, wanted = forward(plane), np.fft.rfft2(plane)
    assert half.dtype == np.complex64
    assert np.linalg.norm(half - wanted) <= 1e-6 * np.linalg.norm(wanted)
    back = backward(half, shape)
    assert back.dtype == np.float32
    np.testing.assert_allclose(back, plane, atol=1e-5)
