"""The power spectrum beside its definition, and means."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter.analysis import power
from fftfilter.analysis.power import Spectrum, backward, forward, middle, spectrum
from fftfilter.errors import DeviceError, TooLargeError


def hann(n):
    return np.sin(np.pi * (np.arange(n) + 0.5) / n) ** 2


@pytest.mark.parametrize("size", [(32, 40), (33, 45)], ids=str)
def test_the_power_is_that_of_the_picture_under_a_window(rng, size):
    image = rng.integers(0, 256, size).astype(np.uint8)
    weights = np.outer(hann(size[0]), hann(size[1]))
    faded = (image - np.average(image, weights=weights)) * weights
    wanted = np.abs(np.fft.fft2(faded)) ** 2 / np.square(weights).sum() / 255**2
    got = spectrum(image[None], 255)
    np.testing.assert_allclose(got.power[0], wanted[:, : size[1] // 2 + 1], rtol=1e-3, atol=1e-6)
    assert (got.height, got.width, got.step) == (*size, 1 / 255)


def test_white_noise_has_the_power_1(rng):
    assert spectrum(rng.normal(size=(1, 256, 256))).power.mean() == pytest.approx(1, rel=0.05)


def test_a_mean_counts_all_pictures_alike_and_gray_ones_for_each_channel(rng):
    gray, color = rng.random((1, 32, 32)), rng.random((3, 32, 32))
    mean = spectrum(gray)
    mean.add(spectrum(color))
    mean.add(spectrum(gray))
    wanted = (2 * spectrum(gray).power + spectrum(color).power) / 3
    np.testing.assert_allclose(mean.power, wanted, rtol=1e-5)
    assert mean.pictures == 3


def test_a_mean_of_pictures_of_other_channels_is_that_of_all_of_them(rng):
    two, three = rng.random((2, 32, 32)), rng.random((3, 32, 32))
    mean = spectrum(two)
    mean.add(spectrum(three))
    wanted = (spectrum(two).power.mean(axis=0) + spectrum(three).power.mean(axis=0)) / 2
    np.testing.assert_allclose(mean.power, wanted[None], rtol=1e-5)


def test_the_middle_of_a_picture():
    image = np.arange(30).reshape(1, 5, 6)
    assert middle(image, 3, 2).tolist() == [[[8, 9], [14, 15], [20, 21]]]


def test_means_of_several_pictures_are_weighted_by_their_number_and_keep_the_coarsest_step(rng):
    given = rng.integers(0, 256, (3, 1, 32, 40)).astype(np.uint8)
    first, second, third = (spectrum(each, 255) for each in given)
    wanted = sum(spectrum(each, 255).power for each in given) / 3
    second.add(third)
    first.add(second)
    np.testing.assert_allclose(first.power, wanted, rtol=1e-5)
    first.add(spectrum(given[0] / 255.0))
    assert (first.pictures, first.step) == (4, 1 / 255)


def test_the_power_beside_a_frequency_and_how_far_it_stands_out():
    found = Spectrum(np.ones((2, 40, 31), np.float32), 60)
    found.power[1, 33, 11] = 500
    for kx, ky in ((11, -7), (11.6, -6.4), (-11, 7), (10, -8)):
        power, times = found.near(np.array((kx / 60, ky / 40)), 1)
        assert (power, times) == (500, pytest.approx(500 * np.log(2)))
    assert found.near(np.array((11 / 60, 7 / 40)), 1)[0] == found.near(np.array((11 / 60, -7 / 40)), 0)[0] == 1
    assert Spectrum(np.zeros((1, 40, 31), np.float32), 60).near(np.array((0.2, 0.1)), 0) == (0, 0)


# Transforms of planes, small ones and those that are large enough for the fused engine


@pytest.mark.parametrize("shape", [(40, 51), (60, 324)], ids=["small", "large"])
def test_planes_are_transformed_and_back_in_single_precision(rng, shape, monkeypatch):
    monkeypatch.setattr(power, "LARGE", 60 * 324)
    plane = rng.standard_normal(shape, np.float32)
    half, wanted = forward(plane), np.fft.rfft2(plane)
    assert half.dtype == np.complex64
    assert np.linalg.norm(half - wanted) <= 1e-6 * np.linalg.norm(wanted)
    back = backward(half, shape)
    assert back.dtype == np.float32
    np.testing.assert_allclose(back, plane, atol=1e-5)


@pytest.mark.parametrize("error", [DeviceError, TooLargeError])
def test_large_planes_are_for_the_device_that_is_asked_for_else_for_numpy(rng, error, monkeypatch):
    from fftfilter import transforms

    asked = []

    def failing(_, *, device, **options):
        asked.append((device, options))
        raise error("none")

    for name in ("rfft2", "irfft2"):
        monkeypatch.setattr(transforms, name, failing)
    monkeypatch.setattr(power, "LARGE", 6 * 8)
    plane = rng.standard_normal((6, 8), np.float32)
    half = forward(plane, "cpu")
    np.testing.assert_allclose(half, np.fft.rfft2(plane), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(backward(half, (6, 8), 1), plane, atol=1e-5)
    assert asked == [("cpu", {}), (1, {"s": (6, 8)})]
    forward(plane[:5], "cpu")
    assert len(asked) == 2
