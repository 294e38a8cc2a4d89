"""Transfer functions that follow from the picture: what stripes take where there are some, and where there are none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from fftfilter import Filter
from fftfilter import transfer as H
from fftfilter.analysis.fit import fitted, without_waves
from fftfilter.cli import cli
from fftfilter.errors import ParameterError

SIZE = HEIGHT, WIDTH = 96, 128


def scene(rng):
    """Return a smooth picture with some noise."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    return 128 + 60 * np.sin(x / 30) * np.cos(y / 23) + rng.normal(0, 2, SIZE)


def off(got, picture):
    return float(np.sqrt(np.mean((got - picture) ** 2)))


def restored(picture, transfer, **options):
    with Filter(transfer, output="keep", edges="mirror") as f:
        return 255 * f((picture / 255).astype(np.float32), **options)


@pytest.mark.parametrize("angle", [90, 0])
def test_stripes_are_taken_and_the_picture_stays(rng, angle):
    clean = scene(rng)
    lines = rng.normal(0, 8, WIDTH if angle else HEIGHT)
    striped = clean + (lines[None] if angle else lines[:, None])
    assert off(restored(striped, H.stripes(angle)), clean) < off(striped, clean) / 3


def test_a_picture_without_stripes_hardly_changes(rng):
    clean = 128 + rng.normal(0, 20, SIZE)
    changed = off(restored(clean, H.stripes(90)), clean)
    assert changed < off(restored(clean, H.stripes(90, width="0.003cyc")), clean) / 3


def test_each_channel_has_lines_of_its_own(rng):
    striped = np.stack([scene(rng)] * 3)
    striped[1] += rng.normal(0, 8, WIDTH)
    (part,) = fitted(H.stripes(90), striped, 255).parts
    assert part.channels == (1,)
    assert 6 < part.amount.value < 10
    assert str(part) == f"lines at 90 degrees, offsets of {part.amount.value:.1f} levels in channel 1"
    (joint,) = fitted(H.stripes(90), striped, 255, by_channel=False).parts
    assert joint.channels is None
    assert joint.amount.value == pytest.approx(part.amount.value / 3, rel=0.1)
    assert fitted(H.stripes(90), striped[1:2], 255).parts == (replace(part, channels=None),)


def test_each_picture_of_a_stack_has_stripes_of_its_own(rng):
    pictures = np.stack([scene(rng), scene(rng) + rng.normal(0, 8, WIDTH)])
    alone = [restored(each, H.stripes(90)) for each in pictures]
    assert np.array_equal(restored(pictures, H.stripes(90)), alone)
    with Filter(H.stripes(90), output="keep", edges="mirror") as f:
        streamed = list(f.stream((pictures / 255).astype(np.float32)))
        assert len(f.clipped()) == 1
    assert np.array_equal(255 * np.stack(streamed), alone)


def test_gains_are_a_function_of_frequency_for_all_edges(rng):
    made = fitted(H.stripes(33), (scene(rng) + rng.normal(0, 8, WIDTH))[None], 255)
    wide, narrow = made.gain(2 * HEIGHT, 2 * WIDTH), made.gain(*SIZE)
    assert np.allclose(wide[::2, ::2], narrow)
    assert wide[0, 0] == 1


@pytest.mark.parametrize("picture", [np.full(SIZE, 7.0), np.zeros((1, 5)), np.ones((3, 1)), np.eye(4) * 1e300])
def test_pictures_with_nothing_to_measure_stay_finite(picture):
    made = fitted(H.stripes(90) * H.stripes(0) * H.stripes(33), picture[None], 1)
    for twice in (1, 2):  # as for mirrored edges
        assert np.isfinite(made.gain(*(twice * n for n in picture.shape))).all()


def test_a_value_that_is_not_finite_is_refused():
    picture = np.zeros(SIZE, np.float32)
    picture[3, 4] = np.inf
    with pytest.raises(ParameterError, match="row 3, column 4"):
        restored(picture, H.stripes(90))


@pytest.mark.parametrize("transfer", [H.stripes(90), H.wiener(), H.notch((0.2, 0.1), is_wave=True)], ids=str)
def test_missing_pixels_are_filled_before_a_picture_is_measured(rng, transfer):
    whole = scene(rng) + rng.normal(0, 8, WIDTH)
    picture = whole.copy()
    picture[20:26, 30:40] = np.nan
    got = restored(picture, transfer)
    assert np.array_equal(np.isnan(got), np.isnan(picture))
    assert np.nanmean(np.abs(got - restored(whole, transfer))) < 0.5


def test_what_follows_from_the_picture_says_so():
    assert H.stripes(90).is_fitted
    assert not H.stripes(90, spare="20px").is_fitted
    assert not H.stripes(33, width="0.003cyc").is_fitted
    assert str(H.stripes(90)) == "stripes at 90 degrees, as the picture has them"
    assert repr(H.stripes(90)) == "H.stripes(90.0)"
    assert H.stripes(0).cautions(4, 4) == []
    everything = H.stripes("auto") * H.stripes(33) * H.wiener() * H.descreen() * H.notch((0.2, 0.1))
    assert everything.is_fitted
    assert not fitted(everything, np.eye(64)[None], 1).is_fitted
    for alike in (H.stripes(90, spare="20px"), H.stripes(33, width="0.003cyc"), H.lowpass(4)):
        assert fitted(alike, np.eye(64)[None], 1) == alike


# Waves that are subtracted: at mirrored edges nothing of a strong one is left

Y, X = np.mgrid[:96, :128]
AT = (0.123, 0.047)
WAVE = 50 * np.cos(2 * np.pi * (AT[0] * X + AT[1] * Y) + 1)


def test_a_wave_goes_with_its_amplitude_and_phase():
    left = without_waves(H.notch(AT, is_wave=True), 100 + WAVE[None])
    assert np.abs(left - 100).max() < 0.1
    planes = 100 + WAVE[None]
    assert without_waves(H.notch(AT, is_wave=True) * H.lowpass(), planes) is not planes
    assert without_waves(H.notch(AT), planes) is planes


def test_only_the_channels_of_the_notch_change():
    planes = np.stack([WAVE, WAVE, WAVE])
    left = without_waves(H.notch(AT, is_wave=True, channels=(1,)), planes)
    assert np.array_equal(left[[0, 2]], planes[[0, 2]])
    assert np.abs(left[1]).max() < 0.1


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_at_mirrored_edges_less_is_left_than_by_the_notch_alone(dtype):
    smooth = 128 + 40 * np.sin(X / 40) * np.cos(Y / 37)
    unit = 255 if np.dtype(dtype).kind == "f" else 255 / np.iinfo(dtype).max
    given = ((smooth + WAVE) / unit).astype(dtype)
    off = []
    for is_wave in (True, False):
        with Filter(H.notch(AT, is_wave=is_wave), output="keep", edges="mirror") as f:
            got = f(given)
        assert got.dtype == dtype
        off.append(float(np.std(got * unit - smooth)))
    assert off[0] < off[1] / 3


def test_automatic_notches_subtract_waves_at_mirrored_edges(tmp_path, camera):
    given, out = tmp_path / "in.png", tmp_path / "out.png"
    picture = camera[:256, :256] / 2 + 60
    y, x = np.mgrid[:256, :256]
    Image.fromarray((picture + 50 * np.cos(2 * np.pi * (AT[0] * x + AT[1] * y))).round().astype(np.uint8)).save(given)
    off = []
    for edges in "mirror", "wrap":
        words = ["notch", "--auto", "--edges", edges, "--verify", str(given), str(out)]
        result = CliRunner().invoke(cli, words)
        assert result.exit_code == 0, result.stderr
        assert f"{given}: removed 7.59 px at " in result.stderr
        off.append(float(np.std(np.asarray(Image.open(out)) - picture)))
    assert off[0] < off[1]


def test_the_same_numbers_give_the_same_gains_however_they_lie_in_memory():
    y, x = np.mgrid[:47, :114].astype(np.float32)
    ramp = ((y + x) / 161 - 0.5)[None]
    gains = [fitted(H.stripes(-120.34), each, 1.0).gain(47, 114) for each in (ramp, np.asfortranarray(ramp))]
    np.testing.assert_array_equal(*gains)


def test_the_wave_of_some_channels_is_taken_out_of_a_gray_picture():
    wave = np.tile(50 * np.cos(np.pi / 2 * np.arange(40)), (1, 48, 1))
    notch = H.notch((0.25, 0), channels=(1, 2), is_wave=True)
    assert np.abs(without_waves(notch, wave)).max() < 1


def test_slanted_stripes_are_as_long_as_the_picture_lets_them_be(rng):
    (part,) = fitted(H.stripes(30), rng.normal(128, 20, (1, 64, 256)), 255).parts
    assert part.length == round(0.4 * 64 / 0.5)  # from the upper border to the lower one


@pytest.mark.parametrize(("angle", "size"), [(90, (300, 40)), (0, (40, 300)), (180, (40, 300)), (33, SIZE)])
def test_the_amount_of_stripes_is_their_deviation_in_the_unit_of_the_file(rng, angle, size):
    y, x = np.indices(size)  # of 300 rows, not all are transformed at a time
    across = x * np.sin(np.radians(angle)) + y * np.cos(np.radians(angle))
    stripes = np.interp(across, np.arange(-400, 400), rng.normal(0, 8, 800))
    for factor, white, unit in ((1, 255, " levels"), (1 / 255, 1, ""), (200, 65535, "")):
        (part,) = fitted(H.stripes(angle), factor * (100 + stripes[None]), white).parts
        assert 0.8 < part.amount.value / factor / stripes.std() < 1 + 1e-9
        assert str(part).endswith(unit or f"{part.amount.value:.3g}")


@pytest.mark.filterwarnings("error")
def test_an_angle_next_to_0_divides_without_a_warning(rng):
    picture = rng.integers(0, 256, (48, 40), dtype=np.uint8)
    with (
        Filter(H.stripes(1e-320), output="keep", edges="wrap") as least,
        Filter(H.stripes(1e-9), output="keep", edges="wrap") as small,
    ):
        assert np.array_equal(least(picture), small(picture))
