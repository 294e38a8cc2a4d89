"""Peaks of all channels become one list, each once, with its harmonics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fftfilter.analysis.found import Peak, grouped, without_doubles
from fftfilter.analysis.power import Spectrum

N = 200
SPECTRUM = Spectrum(np.ones((3, N, N // 2 + 1), np.float32), N)
WAVE = Peak(40 / N, 10 / N, strength_db=30, amplitude=5, width=0.01, channels=(0,), searched=3)


def test_of_doubles_the_strongest_has_the_place_and_the_largest_the_rest():
    other = replace(WAVE, fx=40.5 / N, strength_db=25, amplitude=9, width=0.02, channels=(2,))
    assert without_doubles([other, WAVE], SPECTRUM) == [replace(WAVE, amplitude=9, width=0.02, channels=(0, 2))]


@pytest.mark.parametrize(("bins", "channels", "count"), [(2, (0, 1), 1), (4, (0, 1), 2), (2, (1,), 2), (0.5, (1,), 1)])
def test_in_other_channels_peaks_may_be_nearer(bins, channels, count):
    other = replace(WAVE, fx=(40 + bins) / N, strength_db=25, channels=channels)
    assert len(without_doubles([WAVE, other], SPECTRUM)) == count


@pytest.mark.parametrize(("off", "is_harmonic"), [(0.2, True), (0.4, False)])
def test_multiples_that_come_back_from_beyond_the_highest_frequency_are_met_closely(off, is_harmonic):
    # Five times 0.31 is 1.55, which is seen at 0.55 - 1 = -0.45; its conjugate is at 0.45.
    wave = replace(WAVE, fx=0.31, fy=0.0)
    other = replace(WAVE, fx=0.45 + off / N, fy=0.0, amplitude=1)
    assert len(grouped([wave, other], SPECTRUM)) == 2 - is_harmonic


def test_multiples_below_the_highest_frequency_may_be_a_bin_off():
    wave = replace(WAVE, fx=0.05, fy=0.0)
    (found,) = grouped([wave, replace(WAVE, fx=0.25 + 1 / N, fy=0.0, amplitude=1)], SPECTRUM)
    assert [each.multiples for each in found.harmonics] == [(5,)]


def test_a_period_is_measured_in_pixels_that_are_no_squares():
    assert replace(WAVE, fx=0.25, fy=0.0).length((2.0, 3.0)) == 8
    assert replace(WAVE, fx=0.0, fy=0.25).length((2.0, 3.0)) == 12


def test_a_frequency_that_rounds_to_0_has_no_sign():
    assert Peak(0.1, -1e-9, 20, 9, 0.01).at == "0.1,0,0.01cyc"


@pytest.mark.parametrize(("fy", "names"), [(0.2, ["1+1"]), (0.196, ["1+1"]), (0.15, None), (0.19, None)])
def test_sums_of_two_waves_are_harmonics_if_these_are_a_screen(fy, names):
    across, down = replace(WAVE, fx=0.2, fy=0.0, amplitude=9), replace(WAVE, fx=0.0, fy=fy, amplitude=8)
    found = grouped([across, down, replace(WAVE, fx=0.2, fy=fy)], SPECTRUM)
    assert [[each.name for each in group.harmonics] for group in found] == ([names, []] if names else [[], [], []])
