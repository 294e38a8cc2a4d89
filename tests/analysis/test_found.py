"""Peaks of all channels become one list, each once, with its harmonics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.analysis.found import Harmonic, Peak, bins_apart, canonical, grouped, without_doubles
from fftfilter.analysis.power import Spectrum
from fftfilter.analysis.search import peaks_text

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


def test_a_frequency_has_six_digits():
    assert Peak(0.1234567, -0.25, 20, 9, 0.0123456).at == "0.123457,-0.25,0.0123cyc"


def test_distances_are_counted_in_bins_of_each_side():
    wide = Spectrum(np.ones((1, 100, 101), np.float32), 200)
    places = np.array([(0.25, 0.26), (0.26, 0.25), (-0.25, -0.25), (1.25, -0.75)])
    np.testing.assert_allclose(bins_apart(places, Peak(0.25, 0.25, 20, 9, 0.01), wide), [1, 2, 0, 0], atol=1e-9)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ((0.25, -0.25), (0.25, -0.25)),
        ((-0.25, -0.25), (0.25, 0.25)),
        ((0.75, 0.25), (0.25, -0.25)),
        ((-0.001, 0.25), (-0.001, 0.25)),
        ((0.001, -0.25), (-0.001, 0.25)),
        ((-0.003, 0.25), (0.003, -0.25)),
    ],
)
def test_of_a_frequency_and_its_conjugate_one_is_taken(given, wanted):
    assert canonical(*given, 0.002) == pytest.approx(wanted)


# A green and blue wave with two harmonics, of which one is in green alone

SECOND = Harmonic((2,), replace(WAVE, fx=80 / N, fy=20 / N, strength_db=20, amplitude=1.25, channels=(1,)))
MIXED = Harmonic((1, -2), replace(WAVE, fx=0.1, fy=0.3, strength_db=9, amplitude=2, channels=(1, 2)))
GROUP = replace(WAVE, channels=(1, 2), harmonics=(SECOND, MIXED))


def test_a_peak_and_its_harmonics_are_removed_each_from_the_channels_that_have_it():
    width = {"width": "0.01cyc", "shape": "ideal"}
    wanted = H.notch((0.2, 0.05), channels=(1, 2), **width) * H.notch((0.4, 0.1), channels=(1,), **width)
    assert GROUP.notch(shape="ideal") == wanted * H.notch((0.1, 0.3), channels=(1, 2), **width)
    assert replace(WAVE, channels=(0, 1, 2)).notch() == H.notch((0.2, 0.05), width="0.01cyc")


def test_a_peak_is_described_with_all_that_it_has():
    assert GROUP.described() == {
        "fx": 0.2,
        "fy": 0.05,
        "period_px": pytest.approx(200 / np.hypot(40, 10)),
        "angle_deg": pytest.approx(np.degrees(np.arctan2(40, 10))),
        "strength_db": 30,
        "amplitude": 5,
        "channels": [1, 2],
        "notch": "0.2,0.05,0.01cyc",
        "harmonics": [
            {"multiples": [2], "fx": 0.4, "fy": 0.1, "strength_db": 20, "amplitude": 1.25, "notch": "0.4,0.1,0.01cyc"},
            {"multiples": [1, -2], "fx": 0.1, "fy": 0.3, "strength_db": 9, "amplitude": 2, "notch": "0.1,0.3,0.01cyc"},
        ],
    }
    assert [each.name for each in (SECOND, MIXED, Harmonic((1, 1), WAVE))] == ["2", "1-2", "1+1"]


def test_channels_that_are_no_colors_have_numbers():
    assert replace(WAVE, channels=(0, 3), searched=5).colors == "0 3"
    assert [replace(WAVE, channels=each, searched=2).colors for each in ((0, 1), (1,))] == ["all", "1"]
    assert GROUP.colors == "green blue"


def test_peaks_in_one_line():
    text = "4.85 px at 76.0 degrees (30 dB, 5.0 levels)"
    assert peaks_text([WAVE, GROUP]) == f"{text} in red, {text} in green and blue and 2 of its harmonics"
    several = [replace(WAVE, amplitude=amplitude, channels=(0, 1, 2)) for amplitude in (1, 3, 2)]
    assert peaks_text(several, 2) == f"{text.replace('5.0', '3.0')}, {text.replace('5.0', '2.0')} and 1 more"
    assert peaks_text(several, 3).count("levels") == 3


def test_harmonics_stand_in_order_and_peaks_by_their_strength():
    wave = replace(WAVE, fx=0.05, fy=0.0, amplitude=20, strength_db=25)
    multiples = [replace(wave, fx=m * 0.05, amplitude=m) for m in (4, 2, 3)]
    other = replace(WAVE, fx=0.33, fy=0.21, amplitude=2, strength_db=40)
    first, second = grouped([wave, *multiples, other], SPECTRUM)
    assert (first, [each.multiples for each in second.harmonics]) == (other, [(2,), (3,), (4,)])


@pytest.mark.parametrize(("fy", "names"), [(0.06, ["1+1"]), (0.061, ["1+1"]), (0.04, None), (0.058, None)])
def test_sums_of_two_waves_are_harmonics_if_these_are_a_screen(fy, names):
    across, down = replace(WAVE, fx=0.06, fy=0.0, amplitude=9), replace(WAVE, fx=0.0, fy=fy, amplitude=8)
    found = grouped([across, down, replace(WAVE, fx=0.06, fy=fy)], SPECTRUM)
    assert [[each.name for each in group.harmonics] for group in found] == ([names, []] if names else [[], [], []])
