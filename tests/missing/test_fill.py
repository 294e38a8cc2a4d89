"""The fill on a device beside the reference, and what it promises."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fftfilter import missing
from fftfilter import transfer as H
from fftfilter.device.launcher import Launcher
from fftfilter.device_choice import choose
from fftfilter.missing import fill, filled
from tests.soak.check import as_gpu

SHAPES = [(1, 1, 1), (1, 1, 9), (1, 9, 1), (2, 7, 5), (3, 12, 10), (1, 33, 64), (1, 67, 61), (1, 150, 161)]


def with_holes(rng, shape, part=0.4):
    return rng.normal(size=shape), rng.random(shape) < part


@pytest.mark.parametrize("part", [0.4, 0.02])
@pytest.mark.parametrize(
    ("device", "precision", "error"), [(choose, "single", 1e-6), (choose, "double", 1e-14), (as_gpu, "single", 1e-6)]
)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_device_fills_as_the_reference_does(rng, shape, device, precision, error, part):
    planes, holes = with_holes(rng, shape, part)
    made = fill(Launcher(device(), precision=precision), planes, holes)
    np.testing.assert_allclose(made, missing.fill_by_numpy(planes, holes), atol=error)


@pytest.mark.parametrize("device", [choose, as_gpu])
@pytest.mark.parametrize("shape", [(2, 301, 260), (1, 1, 32768)])
def test_several_levels_of_a_large_picture_are_filled_by_launches_of_their_own(rng, shape, device):
    """The second level has more than 16,384 pixels, and a side of it is odd; or as many, and as many levels as any."""
    planes, holes = with_holes(rng, shape, 0.9)
    np.testing.assert_allclose(fill(Launcher(device()), planes, holes), missing.fill_by_numpy(planes, holes), atol=1e-6)


def test_of_a_row_the_fill_is_known_by_hand():
    """One sweep of the finest level, three of the others; even pixels first."""
    for row, wanted in (
        ([8, 0], [4, 6, 8, 0]),
        ([8, 0, 0, 0], [3.5625, 3.625, 3.6875, 5.84375, 8, 0, 0, 0]),
    ):
        n = len(row)
        planes, holes = np.array([[[99] * n + row]]), np.array([[[True] * n + [False] * n]])
        for by in (missing.fill_by_numpy, partial(fill, Launcher(choose())), partial(fill, Launcher(as_gpu()))):
            assert by(planes, holes).tolist() == [[wanted]]
            assert by(planes.mT, holes.mT).mT.tolist() == [[wanted]]


def test_waves_go_on_through_holes_in_three_rounds():
    filled_so = []

    def by_ones(planes, holes):
        filled_so.append(planes[0, 0, 1] + 5)
        return np.where(holes, 1, planes)

    planes, holes = np.array([[[5.0, 7, 0]]]), np.array([[[False, False, True]]])
    made, base = missing.filled_by(planes, holes, by_ones, lambda picture: picture / 2)  # a half of all is waves
    assert base == 5
    assert filled_so == [7, 6, 6, 6]
    # 1; then 1 and a half of what is there: 1.5, 1.75, 1.875.
    assert made.tolist() == [[[0, 2, 1.875]]]


@settings(max_examples=30)
@given(st.integers(1, 40), st.integers(1, 40), st.floats(0, 1), st.integers(0, 99))
def test_valid_samples_stay_and_the_others_lie_between_them(height, width, part, seed):
    rng = np.random.default_rng(seed)
    planes, holes = with_holes(rng, (1, height, width), part)
    made = missing.fill_by_numpy(np.where(holes, np.nan, planes), holes)
    assert np.array_equal(made[~holes], planes[~holes])
    if holes.all():
        assert not made.any()
    else:
        assert np.abs(made.clip(planes[~holes].min(), planes[~holes].max()) - made).max() < 1e-9


def test_a_constant_and_a_slope_are_continued_through_a_hole():
    rows, columns = np.indices((64, 64))
    holes = np.zeros((1, 64, 64), bool)
    holes[0, 20:40, 24:36] = True
    assert np.all(missing.fill_by_numpy(np.where(holes, 9.0, 5.0), holes) == 5)
    slope = (2.0 * rows + columns)[None]
    # The range of the slope is 189; the fill is off most in the middle, where it is near to the mean.
    assert np.abs(missing.fill_by_numpy(np.where(holes, 0, slope), holes) - slope).max() < 4


def test_nothing_wraps_around():
    planes, holes = np.zeros((1, 8, 64)), np.zeros((1, 8, 64), bool)
    planes[..., 32:], holes[..., :8] = 100, True
    assert missing.fill_by_numpy(planes, holes)[holes].max() < 1


def test_what_stands_in_holes_does_not_matter(rng):
    planes, holes = with_holes(rng, (2, 12, 10))
    launcher = Launcher(choose())
    made = [fill(launcher, np.where(holes, value, planes), holes) for value in (0, -9999, np.nan, np.inf)]
    assert all(np.array_equal(each, made[0]) for each in made)
    assert fill(launcher, np.full((1, 1, 1), 7.0), np.ones((1, 1, 1), bool)) == 0
    # Of a plane without a valid sample nothing is known; the others are as without it.
    without = holes | (np.arange(2) == 0)[:, None, None]
    lacking = fill(launcher, np.where(without, np.nan, planes), without)
    assert not lacking[0].any()
    np.testing.assert_array_equal(lacking[1], made[0][1])
    # The unit that floats are divided by is that of the valid ones.
    np.testing.assert_array_equal(filled(np.where(holes, 1e38, planes), holes), filled(planes, holes))


@pytest.mark.parametrize(
    ("transfer", "part", "kinds"),
    [
        (H.lowpass("8px") * H.notch((0.2, 0.1)), 0.9, ["notch"]),
        (H.lowpass("8px") * H.stripes(90) * H.notch((0.2, 0.1)), 0.1, ["stripes", "notch"]),
        (H.stripes(90), 0.3, []),
        (H.bandpass("20px", "5px"), 0.1, []),
    ],
)
def test_waves_go_on_through_holes_and_stripes_if_few_are_missing(transfer, part, kinds):
    holes = np.arange(100).reshape(1, 10, 10) < 100 * part
    waves = missing.waves_of(transfer, holes)
    assert [each.kind for each in waves.parts] == kinds if kinds else waves is None


def test_a_notch_takes_its_wave_out_beside_holes_as_of_a_whole_picture(camera):
    rows, columns = np.indices(camera.shape)
    wave = camera + 40 * np.sin(2 * np.pi * (0.123 * columns + 0.047 * rows))
    holes = np.zeros((1, 512, 512), bool)
    holes[0, 100:140, 200:300] = holes[0, 300:420, 60:90] = True
    transfer = H.notch((0.123, 0.047)).keeping_mean()
    from fftfilter.transfer.reference import filtered

    gain = transfer.gain(512, 512)
    wanted = filtered(wave[None], gain).real

    def error(filled):
        off = (filtered(filled, gain).real - wanted)[~holes]
        return float(np.sqrt(np.mean(off**2)) / wave.std())

    plain = error(missing.fill_by_numpy(wave[None], holes))
    assert error(missing.complete(wave[None], holes, transfer, "wrap")) < 0.15 * plain


def test_floats_of_any_size_are_filled(rng):
    planes, holes = with_holes(rng, (2, 7, 5))
    wanted = filled(planes, holes)
    for exponent in (-900, 900):
        np.testing.assert_array_equal(filled(np.ldexp(planes, exponent), holes), np.ldexp(wanted, exponent))


def test_whole_numbers_are_filled_by_the_nearest(rng):
    planes, holes = with_holes(rng, (2, 7, 5))
    whole = np.rint(200 * planes / planes.max()).astype(np.uint8)
    np.testing.assert_array_equal(filled(whole, holes), np.rint(missing.fill_by_numpy(whole.astype(float), holes)))
