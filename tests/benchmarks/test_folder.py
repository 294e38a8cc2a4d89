"""Which programs are installed differs from machine to machine: NumPy and Pillow always are.

Sides are powers of eight, whose kernels are built already: those of the check of a new device.
"""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from benchmarks.folder import OTHERS, Files, Prepared, folder, installed
from fftfilter.bench.measure import Setting
from fftfilter.errors import RefusedError


def test_programs_filter_a_folder_in_turn():
    programs = ["fftfilter", "pillow_alone", "numpy_and_pillow"]
    steps = []
    setting = Setting(runs=1, progress=steps.append)
    folder(setting, files=[Files(3, 64, "png")], programs=programs)
    assert steps == [
        "3 PNG of 64 x 64: prepare",
        "3 PNG of 64 x 64: run 1 of 1, fftfilter",
        "3 PNG of 64 x 64: run 1 of 1, decode + encode",
        "3 PNG of 64 x 64: run 1 of 1, NumPy, Pillow",
    ]
    ours, codecs, theirs = setting.made.rows
    assert (ours["who"], codecs["who"], theirs["who"]) == ("fftfilter", "decode + encode", "NumPy, Pillow")
    assert codecs["ratio"] == pytest.approx(ours["rate"].median / codecs["rate"].median)


@pytest.mark.parametrize("program", [name for name in OTHERS if name != "numpy_and_pillow"])
@pytest.mark.parametrize("kind", ["png", "pgm"])
def test_every_other_program_makes_the_right_pictures(program, kind, tmp_path):
    if program not in installed():
        pytest.skip(f"{program} is not installed")
    prepared = Prepared(Setting(), Files(3, 64, kind), tmp_path, 1)
    assert prepared.filter_by(program, check=True) > 0


def test_a_program_with_another_picture_is_not_timed(tmp_path):
    prepared = Prepared(Setting(), Files(1, 64, "pgm"), tmp_path, 1)
    prepared.wanted = {name: 255 - wanted for name, wanted in prepared.wanted.items()}
    with pytest.raises(RefusedError, match=r"NumPy, Pillow makes another picture of 00000\.pgm"):
        prepared.filter_by("numpy_and_pillow", check=True)


def test_a_program_that_fails_is_an_error(tmp_path):
    prepared = Prepared(Setting(), Files(1, 64, "pgm"), tmp_path, 1)
    prepared.aids = tmp_path / "nowhere"
    with pytest.raises(RefusedError, match=r"wrote 0 of 1 files; leave it out\. It said: FileNotFoundError"):
        prepared.filter_by("pillow_alone_in_threads", check=False)


def test_invalid_files_are_refused():
    from benchmarks.folder import command

    done = CliRunner().invoke(command, ["--files", "500"])
    assert done.exit_code == 2
    assert "'500' is invalid: give count x side, such as 500x512" in done.stderr
