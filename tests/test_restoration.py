"""Pictures with known faults, restored by the commands: how near they come to the picture without."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from fftfilter import transfer as H
from fftfilter.cli import cli
from fftfilter.filters import Filter
from fftfilter.transfer import reference

AT = (0.123, 0.047)
Y, X = np.mgrid[:512, :512]


def decibels(got, picture):
    """Return the peak signal-to-noise ratio."""
    return 10 * np.log10(255**2 / np.mean((got.astype(float) - picture) ** 2))


def with_fault(picture, fault):
    return (picture + fault).round().clip(0, 255).astype(np.uint8)


def restored(tmp_path, picture, *command):
    """Return what a command makes of a picture."""
    Image.fromarray(picture).save(tmp_path / "in.png")
    result = CliRunner().invoke(cli, [*map(str, command), f"{tmp_path}/in.png", f"{tmp_path}/out.png"])
    assert result.exit_code == 0, result.stderr
    return np.asarray(Image.open(tmp_path / "out.png"))


def test_a_print_without_its_screen_is_as_good_as_the_best_sharp_notch_makes_it(tmp_path, camera):
    turns = AT[0] * X + AT[1] * Y
    scanned = with_fault(camera, 20 * np.cos(2 * np.pi * turns) + 8 * np.cos(4 * np.pi * turns + 1))
    got = restored(tmp_path, scanned, "notch", "--at", "0.123,0.047", "--harmonics", 2)

    def ideal(width):
        gain = H.notch(AT, width=f"{width}cyc", shape="ideal", harmonics=2).keeping_mean().gain(512, 512)
        values = reference.filtered(scanned, gain).real
        return decibels(values.round().clip(0, 255), camera)

    best = max(map(ideal, (0.004, 0.006, 0.008)))
    assert best > decibels(scanned, camera) + 15
    assert decibels(got, camera) > best - 0.5


@pytest.mark.parametrize("angle", [0, 90, 33])
def test_stripes_of_a_scanner_go_and_the_picture_stays(tmp_path, camera, rng, angle):
    across = X * np.sin(np.radians(angle)) + Y * np.cos(np.radians(angle))
    stripes = np.interp(across, np.arange(-800, 800), rng.normal(0, 12, 1600))
    scanned = with_fault(camera, stripes)
    got = restored(tmp_path, scanned, "stripes", "--angle", angle)
    assert decibels(got, camera) > decibels(scanned, camera) + 3
    left = Filter(H.stripes(angle), output="real", edges="wrap")(stripes.astype(np.float32))
    # The borders, where an oblique stripe ends, leave some of it.
    assert left[64:-64, 64:-64].std() < stripes.std() / 3
