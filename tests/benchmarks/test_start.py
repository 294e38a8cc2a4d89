"""Whole processes. Sides are powers of eight, whose kernels are built already: those of the check of a new device."""

from __future__ import annotations

import sys

import pytest

from benchmarks.start import SCRIPT_CODE, seconds_of, start
from fftfilter.bench.measure import Setting
from fftfilter.errors import RefusedError
from tests.helpers import SAMPLES


def test_starts_are_timed_beside_the_script():
    steps = []
    setting = Setting(runs=1, progress=steps.append)
    start(setting, shapes=[(8, 64)], image=SAMPLES / "camera.pgm")
    assert steps == ["64 x 8: prepare and check", "round 1 of 1", "64 x 8: peak memory"]
    rows = setting.made.rows
    assert [(row["what"], row["size"], row["who"]) for row in rows] == [
        ("--help", "", "fftfilter"),
        ("--version", "", "fftfilter"),
        ("highpass", "64 x 8", "fftfilter"),
        ("highpass", "64 x 8", "script"),
        ("highpass, first use", "64 x 8", "fftfilter"),
        ("a context, and no more", "", "pyopencl"),
        ("highpass, peak memory", "64 x 8", "fftfilter"),
    ]
    warm, script, _, _, peak = rows[2:]
    assert warm["ratio"] == pytest.approx(warm["ms"].median / script["ms"].median)
    assert [row["what"] for row in rows if "ratio" in row] == ["highpass"]
    assert 30 < peak["memory"] < 2000


def test_a_script_with_another_picture_is_not_timed():
    other = SCRIPT_CODE.replace("shorter / 8", "shorter / 4")
    with pytest.raises(RefusedError, match="script computes another picture"):
        start(Setting(runs=1), shapes=[(8, 64)], script=other)


def test_a_process_that_fails_is_an_error():
    with pytest.raises(RefusedError, match="exit code 2: no such thing"):
        seconds_of((sys.executable, "-c", "import sys; sys.stderr.write('no such thing'); sys.exit(2)"))
