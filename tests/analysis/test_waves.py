"""Waves that are subtracted: at mirrored edges nothing of a strong one is left."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from fftfilter import Filter
from fftfilter import transfer as H
from fftfilter.analysis.fit import has_waves, without_waves
from fftfilter.cli import cli

Y, X = np.mgrid[:96, :128]
AT = (0.123, 0.047)
WAVE = 50 * np.cos(2 * np.pi * (AT[0] * X + AT[1] * Y) + 1)


def test_a_wave_goes_with_its_amplitude_and_phase():
    left = without_waves(H.notch(AT, is_wave=True), 100 + WAVE[None])
    assert np.abs(left - 100).max() < 0.1
    assert has_waves(H.notch(AT, is_wave=True) * H.lowpass())
    assert not has_waves(H.notch(AT))


def test_only_the_channels_of_the_notch_change():
    planes = np.stack([WAVE, WAVE, WAVE])
    left = without_waves(H.notch(AT, is_wave=True, channels=(1,)), planes)
    assert np.array_equal(left[[0, 2]], planes[[0, 2]])
    assert np.abs(left[1]).max() < 0.1


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
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
