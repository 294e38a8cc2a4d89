"""The reference is the definition: small cases by hand, numpy.fft against the sum, and what all filters have in common.

Every engine is compared with it; that filters are linear, and so on, need not be shown for each of them again.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fftfilter import transfer as H
from fftfilter.transfer import reference
from fftfilter.transfer.radial import PASSES
from fftfilter.transfer.shapes import SHAPES

images = st.tuples(st.integers(1, 40), st.integers(1, 40), st.integers(0, 2**32 - 1)).map(
    lambda t: np.random.default_rng(t[2]).integers(0, 256, t[:2]).astype(float)
)
radii = st.floats(0.2, 15)
shapes = st.sampled_from(sorted(SHAPES))


def dft(x, direction=-1):
    """Return the transform of every row of ``(..., n)`` by the definition, a sum over n terms, unnormalized."""
    n = x.shape[-1]
    k = np.arange(n)
    # k j is reduced modulo n as a whole number: the angle stays small and exact.
    return x @ np.exp(direction * 2j * np.pi * (np.outer(k, k) % n) / n)


@pytest.mark.parametrize("n", [1, 2, 3, 8, 37, 64])
def test_numpy_computes_the_definition(n, rng):
    x = rng.standard_normal((2, n)) + 1j * rng.standard_normal((2, n))
    np.testing.assert_allclose(np.fft.fft(x), dft(x), atol=1e-12)
    np.testing.assert_allclose(np.fft.ifft(x) * n, dft(x, +1), atol=1e-12)


def test_a_filter_is_a_sum_over_the_frequencies_it_passes(rng):
    image = rng.integers(0, 256, (6, 5)).astype(float)
    gain = H.lowpass(1.5).gain(6, 5)
    spectrum = dft(dft(image).T).T
    by_hand = dft(dft(spectrum * gain, +1).T, +1).T / 30
    np.testing.assert_allclose(reference.filtered(image, gain), by_hand, atol=1e-12)


def test_the_brightest_pixel_is_white_and_levels_are_truncated():
    image, all_pass = np.array([[0, 1, 2.999, 3.0]]), np.ones((1, 4))
    assert reference.filter_image(image, all_pass).tolist() == [[0, 85, 254, 255]]
    assert reference.filter_image(image[:, ::3] / 2, all_pass[:, :2], np.float32, 1).tolist() == [[0, 1]]


def test_rounding_noise_is_black():
    flat = np.full((8, 8), 77)
    assert not reference.filter_image(flat, H.highpass().gain(8, 8)).any()
    assert (reference.filter_image(flat, H.lowpass().gain(8, 8)) == 255).all()


def filtered(image, transfer):
    return reference.filtered(image, transfer.gain(*image.shape)).real


@given(images, radii, shapes)
def test_low_and_high_give_the_image_back_and_so_do_two_bands(image, radius, shape):
    low, high = (filtered(image, getattr(H, kind)(radius, shape=shape)) for kind in PASSES[:2])
    inside, outside = (filtered(image, getattr(H, kind)(radius / 2, radius, shape=shape)) for kind in PASSES[2:])
    np.testing.assert_allclose(low + high, image, atol=1e-9)
    np.testing.assert_allclose(inside + outside, image, atol=1e-9)


@given(images, radii, shapes)
def test_filters_are_linear(image, radius, shape):
    low, other = H.lowpass(radius, shape=shape), np.flip(image)
    apart = filtered(image, low) - 3 * filtered(other, low)
    np.testing.assert_allclose(filtered(image - 3 * other, low), apart, atol=1e-9)


@given(images, radii, shapes, st.integers(0, 39), st.integers(0, 39))
def test_a_shifted_image_gives_a_shifted_result(image, radius, shape, down, right):
    high = H.highpass(radius, shape=shape)
    shifted = np.roll(filtered(image, high), (down, right), (0, 1))
    np.testing.assert_allclose(filtered(np.roll(image, (down, right), (0, 1)), high), shifted, atol=1e-9)


@given(images, radii)
def test_an_ideal_filter_splits_the_energy(image, radius):
    """Parseval: what two complementary ideal filters pass is orthogonal."""
    low, high = (np.linalg.norm(filtered(image, H_(radius))) for H_ in (H.lowpass, H.highpass))
    assert np.hypot(low, high) == pytest.approx(np.linalg.norm(image), rel=1e-9, abs=1e-9)
