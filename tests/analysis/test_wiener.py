"""The power of mirrored pictures, and the gains of Wiener's filter by it."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter import Filter
from fftfilter import transfer as H
from fftfilter.analysis.fit import fitted
from fftfilter.analysis.wiener import Rings, cosines, power_of


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_cosines_are_the_sums_of_their_formula(rng, n):
    values = rng.normal(size=(3, n))
    waves = np.cos(np.pi / n * np.outer(np.arange(n), np.arange(n) + 0.5))
    assert np.allclose(cosines(values), values @ waves.T)


def test_the_power_is_that_of_the_mirrored_picture(rng):
    plane = rng.normal(size=(6, 9))
    mirrored = np.pad(plane - plane.mean(), ((0, 6), (0, 9)), "symmetric")
    wanted = np.abs(np.fft.fft2(mirrored)[:6, :9]) ** 2 / 16
    assert np.allclose(power_of(plane), wanted, rtol=1e-4, atol=1e-6)


def test_every_frequency_but_dc_is_in_a_ring():
    rings = Rings.of(6, 9)
    assert rings.counts.sum() == 54
    assert (rings.of_bins == 0).sum() == rings.counts[0] == 1
    assert (np.diff(rings.octaves) > 0).all()
    assert np.allclose(rings.mean(np.full((6, 9), 7.0)), 7)


def noisy(rng, deviation):
    y, x = np.mgrid[:96, :128]
    clean = 128 + 60 * np.sin(x / 9) * np.cos(y / 7)
    return clean, clean + rng.normal(0, deviation, clean.shape)


def test_the_noise_is_measured_and_most_of_it_goes(rng):
    clean, picture = noisy(rng, 10)
    (part,) = fitted(H.wiener(), picture[None], 255).parts
    assert 8.5 < part.noise < 11
    with Filter(H.wiener(), output="keep", edges="mirror") as f:
        got = 255 * f((picture / 255).astype(np.float32))
        assert f.notes() == [str(part)]
    assert np.std(got - clean) < 5


def test_given_noise_takes_its_place(rng):
    _, picture = noisy(rng, 10)
    (strong,) = fitted(H.wiener(30), picture[None], 255).parts
    (weak,) = fitted(H.wiener(1), picture[None], 255).parts
    assert strong.noise == pytest.approx(30)
    assert np.sum(strong.gains) < np.sum(weak.gains)


def test_it_sees_what_the_other_parts_leave(rng):
    _, picture = noisy(rng, 2)
    wave = 40 * np.cos(2 * np.pi * 0.25 * np.arange(128))
    alone = fitted(H.wiener(20), (picture + wave)[None], 255).parts[-1]
    behind = fitted(H.wiener(20) * H.notch((0.25, 0), width="0.05cyc"), (picture + wave)[None], 255).parts[-1]
    at = np.searchsorted(alone.octaves, -2)
    assert behind.gains[at] < alone.gains[at] / 2


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (3, 1), (2, 2)])
@pytest.mark.parametrize("noise", [None, 8])
def test_the_smallest_pictures_pass(shape, noise):
    made = fitted(H.wiener(noise), np.arange(float(np.prod(shape))).reshape(1, *shape), 255)
    assert np.isfinite(made.gain(*shape)).all()
    constant = fitted(H.wiener(noise), np.ones((1, *shape)), 255)
    assert (constant.gain(*shape) == 1).all()


def test_noise_far_above_floats_of_any_size_leaves_the_mean():
    board = np.indices((12, 10)).sum(axis=0) % 2 * 1e-300
    with Filter(H.wiener(3), output="real", precision="double") as filter_:
        assert filter_(board) == pytest.approx(np.full((12, 10), 5e-301), rel=1e-6)
