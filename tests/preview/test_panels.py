"""Panels: what is where, how bright, and in which color."""

from __future__ import annotations

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.preview import panels
from fftfilter.preview.report import FilterReport


def wave(size, fx, fy):
    height, width = size
    return np.cos(2 * np.pi * (fx * np.arange(width) + fy * np.arange(height)[:, None]))


def test_a_picture_is_shown_from_black_to_white():
    planes = np.array([[[0, 100], [50, 200]]], np.uint16)
    assert panels.shown(planes, 200, 2)[..., 0].tolist() == [[0, 128], [64, 255]]
    # Pixels are enlarged by whole factors, up to 8.
    assert [len(panels.shown(planes, 200, side)) for side in (8, 7, 100)] == [8, 6, 16]
    assert panels.shown(planes, 200, 7)[0, :, 0].tolist() == [0] * 3 + [128] * 3
    for channels in 2, 3, 5:
        assert panels.shown(np.zeros((channels, 30, 60), np.uint8), 255, 20).shape == (10, 20, 3)
    assert panels.shown(np.zeros((1, 1, 600)), 1, 20).shape == (1, 20, 3)


def test_a_reduced_picture_has_means():
    assert panels.shown(np.array([[[0, 100, 50, 50], [200, 100, 0, 0]]]), 255, 2)[..., 0].tolist() == [[100, 25]]


def test_one_or_two_channels_are_shown_as_gray_and_the_first_three_as_colors():
    planes = np.array([10, 20, 30, 40], np.uint8).reshape(4, 1, 1)
    assert [panels.shown(planes[:count], 255, 1)[0, 0].tolist() for count in (1, 2, 3, 4)] == [
        *[[10] * 3] * 2,
        *[[10, 20, 30]] * 2,
    ]


@pytest.mark.parametrize(
    ("levels", "shown"),
    [([0, 0.5, 1], [0, 128, 255]), ([-1, 0, 1], [0, 128, 255]), ([0, 1, 4], [0, 64, 255]), ([3, 3, 3], [0, 0, 0])],
)
def test_floats_beyond_black_and_white_are_scaled_to_their_range(levels, shown):
    assert panels.shown(np.array(levels, np.float32).reshape(1, 1, 3), 1, 3)[0, :, 0].tolist() == shown


@pytest.mark.parametrize("size", [(64, 64), (45, 200), (300, 31)], ids=str)
def test_in_the_spectrum_a_wave_lies_where_its_frequency_is(size):
    report = FilterReport(wave(size, 0.2, -0.3)[None], 1, H.Transfer(()))
    power = report.power.copy()
    spectrum = panels.spectrum(report, 101)
    assert (report.power == power).all()
    bright = np.argwhere(spectrum[..., 0] == 255)
    bright = bright[np.abs(bright - 50).max(axis=1) > 5]  # without DC
    assert {tuple(np.sign(each)) for each in bright - 50} == {(-1, 1), (1, -1)}
    for row, column in bright - 50:
        assert abs(abs(row / 101) - 0.3) < 0.05
        assert abs(abs(column / 101) - 0.2) < 0.05


def test_what_is_removed_is_tinted_in_the_spectrum(rng):
    spectrum = panels.spectrum(FilterReport(rng.random((1, 100, 100)), 1, H.highpass("0.25cyc")), 100).astype(int)
    is_tinted = spectrum[..., 0] > spectrum[..., 2] + 20
    y, x = np.mgrid[:100, :100] - 50
    assert is_tinted[np.hypot(x, y) < 24].all()
    assert not is_tinted[np.hypot(x, y) > 26].any()


def test_what_is_removed_lies_around_mid_gray():
    report = FilterReport(np.rint(128 + 50 * wave((64, 64), 0.25, 0))[None].astype(np.uint8), 255, H.lowpass("0.2cyc"))
    pixels, level = panels.removed(report.removed, report.white, 64)
    assert level == pytest.approx(50, abs=1)
    assert sorted(set(pixels[..., 0].ravel().tolist())) == [0, 128, 255]


def test_few_pixels_do_not_make_the_scale_of_what_is_removed():
    lost = np.zeros((1, 50, 50), np.float32)
    lost[0, 0, 0] = 40
    assert panels.removed(lost, 255, 50)[1] == 40  # unless all others are 0
    lost[0, 1:] = 10
    pixels, level = panels.removed(lost, 100, 50)
    assert level == pytest.approx(25.5)
    assert pixels[0, 0].tolist() == [255] * 3
    assert panels.removed(0 * lost, 255, 50)[1] == 1


def test_a_part_of_the_spectrum_is_the_middle_of_the_whole(rng):
    report = FilterReport(rng.random((1, 200, 200)), 1, H.lowpass("0.1cyc"))
    part = panels.spectrum(report, 100, 0.5).astype(int)
    is_tinted = part[..., 0] > part[..., 2] + 20
    y, x = np.mgrid[:100, :100] - 50
    assert is_tinted[np.hypot(x, y) > 22].all()
    assert not is_tinted[np.hypot(x, y) < 18].any()


def test_the_tint_is_as_strong_as_the_loss(rng):
    report = FilterReport(rng.random((1, 100, 100)), 1, H.mask([[0.5]], any_size=True))
    half = panels.spectrum(report, 100).astype(int)
    whole = panels.spectrum(FilterReport(report.planes, 1, H.mask([[0.0]], any_size=True)), 100).astype(int)
    none = panels.spectrum(FilterReport(report.planes, 1, H.Transfer(())), 100).astype(int)
    assert (none[..., 0] == none[..., 2]).all()
    np.testing.assert_allclose(half, (whole + none) / 2, atol=1.1)
    dark, bright = (whole[none[..., 0] == level][0].tolist() for level in (0, 255))
    assert (dark, bright) == ([70, 32, 12], [245, 161, 115])
