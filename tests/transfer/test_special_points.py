"""The formulas of docs/numbers.md at their special points: DC, half-Nyquist, Nyquist, cutoffs, borders."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.transfer.grid import Cutoff

SIZE = (16, 24)
# Of a cutoff of 0.25 cycles per pixel: DC, half of the cutoff, the cutoff (half-Nyquist) and Nyquist, down and across.
POINTS = {0: [(0, 0)], 0.5: [(2, 0), (0, 3)], 1: [(4, 0), (12, 0), (0, 6), (0, 18)], 2: [(8, 0), (0, 12)]}
# By hand, with the usual order 2 and widths r/2 and r/10.
LOW = {
    "ideal": {0: 1, 0.5: 1, 1: 0, 2: 0},
    "gaussian": {0: 1, 0.5: 0.5**0.25, 1: 0.5, 2: 1 / 16},
    "butterworth": {0: 1, 0.5: 16 / 17, 1: 0.5, 2: 1 / 17},
    "cosine": {0: 1, 0.5: 1, 1: 0.5, 2: 0},
    "fermi": {0: 1, 0.5: 1 / (1 + np.exp(-5)), 1: 0.5, 2: 1 / (1 + np.exp(10))},
}


@pytest.mark.parametrize("shape", LOW)
def test_passes(shape):
    low, high = (each("0.25cyc", shape=shape).gain(*SIZE) for each in (H.lowpass, H.highpass))
    # A band from the cutoff to four times it, of which Nyquist is the middle; the outer low-pass is low at d/4.
    band = H.bandpass("0.25cyc", "1cyc", shape="gaussian" if shape == "ideal" else shape).gain(*SIZE)
    for d, points in POINTS.items():
        for point in points:
            assert low[point] == pytest.approx(LOW[shape][d], rel=1e-12)
            assert high[point] == pytest.approx(1 - LOW[shape][d], rel=1e-12)
            if shape == "gaussian":
                assert band[point] == pytest.approx(0.5 ** ((d / 4) ** 2) * (1 - 0.5 ** (d**2)), rel=1e-12)
            if shape == "butterworth":
                assert band[point] == pytest.approx(d**4 / (1 + d**4) / (1 + (d / 4) ** 4), rel=1e-12)


@pytest.mark.parametrize("n", [7, 44, 47, 49])
def test_a_whole_radius_does_not_pass_its_own_bin(n):
    for radius in range(1, n // 2):
        low = H.lowpass(radius).gain(n, n)
        assert (low[radius - 1, 0], low[radius, 0], low[0, radius], low[0, -radius]) == (1, 0, 0, 0)


@pytest.mark.parametrize("n", [7, 44, 47, 49])
@pytest.mark.parametrize("angle", [0, 90])
def test_stripes_at_the_border_of_what_is_spared_are_taken_out(angle, n):
    for spare in range(1, n // 2):
        gains = H.stripes(angle, spare=spare).gain(n, n)
        ridge = gains[:, 0] if angle == 0 else gains[0]
        assert ridge.tolist() == [float(min(k, n - k) < spare) for k in range(n)]


def test_stripes_beside_their_ridge():
    gains = H.stripes(0, width="0.25cyc", spare="4px").gain(*SIZE)
    assert gains[0, 0] == 1
    assert (gains[3, 0], gains[4, 0], gains[8, 0]) == (1, 0, 0)  # below 0.25, at it, Nyquist
    assert gains[8, 3] == pytest.approx(1 - 0.5**0.25)
    assert gains[8, 6] == pytest.approx(0.5)  # at the width
    assert gains[8, 12] == pytest.approx(15 / 16)
    # At 45 degrees Nyquist of both sides is on the ridge with either sign.
    assert H.stripes(45, spare="4px").gain(16, 16)[8, 8] == pytest.approx(0, abs=1e-12)
    assert H.stripes(-45, spare="4px").gain(16, 16)[8, 8] == pytest.approx(0, abs=1e-12)


def test_notches():
    half = H.notch((0.25, 0), width="0.25cyc").gain(*SIZE)[0]
    # DC and Nyquist are as far from the peak as from its conjugate.
    assert (half[6], half[18]) == (0, 0)
    assert (half[0], half[12]) == pytest.approx((0.25, 0.25))
    assert half[3] == pytest.approx((1 - 0.5**0.25) * (1 - 0.5**2.25))
    highest = H.notch((0.5, 0), width="0.25cyc").gain(*SIZE)[0]
    assert highest[12] == 0
    assert (highest[6], highest[18]) == pytest.approx((0.5, 0.5))  # the peak is its own conjugate, and counts once
    assert highest[0] == pytest.approx(15 / 16)
    both = H.notch((0.25, 0), harmonics=5, width="0.01cyc").gain(*SIZE)[0]
    assert np.flatnonzero(both < 0.5).tolist() == [6, 12, 18]  # two multiples lie up to Nyquist


def test_imagejs_band():
    gains = H.imagej("4px", "2px", suppress="horizontal", tolerance=0).gain(16, 16)
    assert gains[0, 0] == 1
    assert (gains[1:, 0] == 0).all()
    for kx in (1, 4, 8):  # half-Nyquist and Nyquist
        wanted = (1 - np.exp(-((8 * kx / 16) ** 2))) * np.exp(-((4 * kx / 16) ** 2)) * (1 - np.exp(-(kx**2)))
        assert gains[0, kx] == pytest.approx(wanted)


@pytest.mark.parametrize("size", [(16, 24), (15, 24)], ids=str)
def test_a_mask_of_another_size(size):
    # A gain that is the frequency across: straight lines between gains give it back, up to Nyquist of both.
    fx = np.broadcast_to(np.abs(np.fft.fftfreq(8)), (6, 8))
    wanted = np.broadcast_to(np.abs(np.fft.fftfreq(size[1])), size)
    np.testing.assert_allclose(H.mask(fx, any_size=True).gain(*size), wanted, atol=1e-12)


@pytest.mark.parametrize(("height", "width"), [(12, 12), (12, 10), (9, 40), (61, 24), (64, 64)])
def test_the_bins_nearer_than_a_cutoff_are_counted_as_they_are_compared(height, width):
    """Of radii that are the distance of a bin, and of those next to them as floats."""
    n, ky, kx = min(height, width), np.arange(height // 2 + 1)[:, None], np.arange(width // 2 + 1)
    distances = np.unique(np.hypot(kx / width, ky / height) * n)[1:]
    for radius in distances[:: max(1, len(distances) // 80)]:
        for each in (np.nextafter(radius, 0), radius, np.nextafter(radius, np.inf)):
            cutoff = Cutoff(height, width, float(each))
            near = cutoff.near(kx, ky)
            np.testing.assert_array_equal(cutoff.near_in_rows(), near.sum(axis=1))
            np.testing.assert_array_equal(cutoff.near_in_columns(), near.sum(axis=0))
