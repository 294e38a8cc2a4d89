"""The power of mirrored pictures, and the gains of Wiener's filter by it."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter import Filter
from fftfilter import transfer as H
from fftfilter.analysis.fit import fitted
from fftfilter.analysis.wiener import Rings, cosines, curve, power_of


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


def test_rings_are_a_quarter_of_an_octave_wide():
    for size in ((64, 64), (32, 96)):
        rings = Rings.of(*size)
        assert np.diff(rings.octaves)[-12:-1] == pytest.approx(np.full(11, 0.25), abs=0.04)
        y, x = np.argwhere(rings.of_bins == 20).T
        f = np.hypot(y / (2 * size[0]), x / (2 * size[1]))
        assert np.log2(f.max() / f.min()) < 0.25
        assert rings.octaves[19] == pytest.approx(np.log2(f.mean()))


def test_noise_is_not_measured_where_few_frequencies_are():
    rings = Rings.of(64, 48)
    power = np.full((64, 48), 20**2 * 64 * 48 / 4)  # of noise of 20 levels
    power[rings.of_bins == np.flatnonzero(rings.counts < 64)[-1]] = 0
    assert curve(rings, power, None).noise == pytest.approx(20)
    power[rings.of_bins == np.flatnonzero(rings.counts >= 64)[0]] /= 4
    assert curve(rings, power, None).noise == pytest.approx(10)


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
        assert f.notes() == [str(part).replace("10.0 levels", "0.0391")]  # of the floats
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
    notch = H.wiener(20) * H.notch((0.25, 0), width="0.05cyc")
    behind = fitted(notch, (picture + wave)[None], 255).parts[-1]
    at = np.searchsorted(alone.octaves, -2)
    assert behind.gains[at] < alone.gains[at] / 2
    # Also of a filter that only attenuates: the depth is that of the whole.
    assert fitted(notch.with_depth(6), (picture + wave)[None], 255).parts[-1] == behind


def test_in_each_channel_it_sees_what_is_left_there(rng):
    _, picture = noisy(rng, 2)
    planes = np.stack([picture + 40 * np.cos(2 * np.pi * 0.25 * np.arange(128))] * 2)
    _, first, second = fitted(H.wiener(20) * H.notch((0.25, 0), width="0.05cyc", channels=(1,)), planes, 255).parts
    at = np.searchsorted(first.octaves, -2)
    assert second.gains[at] < first.gains[at] / 2
    assert first.gains == pytest.approx(fitted(H.wiener(20), planes, 255).parts[0].gains, abs=1e-6)


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (3, 1), (2, 2)])
@pytest.mark.parametrize("noise", [None, 8])
def test_the_smallest_pictures_pass(shape, noise):
    made = fitted(H.wiener(noise), np.arange(float(np.prod(shape))).reshape(1, *shape), 255)
    assert np.isfinite(made.gain(*shape)).all()
    constant = fitted(H.wiener(noise), np.ones((1, *shape)), 255)
    assert (constant.gain(*shape) == 1).all()


def test_noise_far_above_floats_of_any_size_leaves_the_mean():
    board = np.indices((12, 10)).sum(axis=0) % 2 * 1e-300
    with Filter(H.wiener(3), output="real", precision="double", edges="wrap") as filter_:
        assert filter_(board) == pytest.approx(np.full((12, 10), 5e-301), rel=1e-6)


@pytest.mark.parametrize(("noise", "gain"), [(0, 1), (10, 0.75), (20, 0), (30, 0)])
def test_gains_are_the_part_of_the_power_that_is_no_noise(noise, gain):
    rings = Rings.of(16, 24)
    power = np.full((16, 24), 20**2 * 16 * 24 / 4)  # of noise of 20 levels
    for given, unit in ((power, 1.0), (power / 2**20, 1024.0)):
        assert np.allclose(curve(rings, given, noise, unit).gains, gain)
        measured = curve(rings, given, None, unit)
        assert (measured.noise, max(measured.gains)) == (pytest.approx(20), pytest.approx(0, abs=1e-12))


@pytest.mark.parametrize(
    ("unit", "white", "said"), [(1, 255, "20.0 levels"), (257, 65535, "5.14e+03"), (1e-6, 1, "2e-05")]
)
def test_noise_is_in_the_unit_of_the_picture(rng, unit, white, said):
    planes = rng.integers(0, 256, (1, 48, 64)).astype(np.float64)
    wanted = fitted(H.wiener(20), planes, 255).parts[0]
    (made,) = fitted(H.wiener(20 * unit), planes * unit, white).parts
    assert made.noise == pytest.approx(20 * unit)
    assert np.allclose(made.gains, wanted.gains, atol=1e-6)
    assert f"noise of {said}" in str(made)
    measured = (fitted(H.wiener(), planes * factor, 1).parts[0].noise for factor in (1, unit))
    assert next(measured) * unit == pytest.approx(next(measured))


def test_each_channel_has_noise_of_its_own_unless_all_are_filtered_alike(rng):
    planes = np.stack([128 + rng.normal(0, deviation, (64, 64)) for deviation in (5, 20)])
    parts = fitted(H.wiener(), planes, 255).parts
    assert [part.channels for part in parts] == [(0,), (1,)]
    assert [part.noise for part in parts] == pytest.approx([5, 20], rel=0.2)
    (joint,) = fitted(H.wiener(), planes, 255, by_channel=False).parts
    assert joint.channels is None
    assert joint.noise == pytest.approx(np.sqrt((5**2 + 20**2) / 2), rel=0.2)
