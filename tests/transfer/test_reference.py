"""The reference is the definition: small cases by hand, numpy.fft against the sum itself."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter.transfer import reference
from fftfilter.transfer.functions import transfer


@pytest.mark.parametrize("n", [1, 2, 3, 8, 37, 64])
def test_numpy_computes_the_definition(n, rng):
    x = rng.standard_normal((2, n)) + 1j * rng.standard_normal((2, n))
    np.testing.assert_allclose(np.fft.fft(x), reference.dft(x), atol=1e-12)
    np.testing.assert_allclose(np.fft.ifft(x) * n, reference.dft(x, +1), atol=1e-12)


def test_a_filter_is_a_sum_over_the_frequencies_it_passes(rng):
    image = rng.integers(0, 256, (6, 5)).astype(float)
    gain = transfer("lowpass", radius=1.5).gain(6, 5)
    spectrum = reference.dft(reference.dft(image).T).T
    by_hand = reference.dft(reference.dft(spectrum * gain, +1).T, +1).T / 30
    np.testing.assert_allclose(reference.filtered(image, gain), by_hand, atol=1e-12)


def test_the_brightest_pixel_is_white_and_levels_are_truncated():
    assert reference.quantize(np.array([0, 1, 2.999, 3.0]), 3, np.uint8, 255).tolist() == [0, 85, 254, 255]
    assert reference.quantize(np.array([0, 1.5, 3.0]), 3, np.float32, 1).tolist() == [0, 0.5, 1]


def test_rounding_noise_is_black():
    flat = np.full((8, 8), 77)
    assert not reference.filter_image(flat, transfer("highpass").gain(8, 8)).any()
    assert (reference.filter_image(flat, transfer("lowpass").gain(8, 8)) == 255).all()
