"""Which waves are faults, and which a part of the picture: drawn layouts stay, screens and hum do not."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from fftfilter import transfer as H
from fftfilter.analysis.found import Peak
from fftfilter.analysis.guard import _fundamental, is_drawn, is_laid_over, right_angles, screens, without_content
from fftfilter.analysis.power import spectrum
from fftfilter.analysis.search import AutoNotches, Left, notches, peaks_of
from fftfilter.errors import ParameterError

Y, X = np.mgrid[:252, :268]


def lines(period, across=Y):
    return np.where(across % period == 0, 90, 230.0)


def windows(across, down):
    return np.where((X % across < 0.5 * across) & (Y % down < 0.45 * down), 60, 190.0)


def words(period):
    """Return rows of strokes of random lengths and distances."""
    rng = np.random.default_rng(4)
    page = np.full(X.shape, 235.0)
    for top in range(3, 250, period):
        at = 6
        while at < 240:
            length = int(rng.integers(2, 7))
            page[top : top + period // 2, at : at + length] = 40
            at += length + int(rng.integers(2, 6))
    return page


CONTENT = {
    "ruled paper": lines(12),
    "squared paper": np.minimum(lines(10), lines(10, X)),
    "windows": windows(20, 24),
    "tiles": np.where((X % 14 < 12) & (Y % 14 < 12), 150, 90.0),
    "bricks": np.where(((X + 13 * (Y // 11 % 2)) % 26 < 23) & (Y % 11 < 9), 120, 190.0),
    "words": words(16),
    "a chessboard": np.where((X // 9 + Y // 9) % 2, 40, 210.0),
    "a fabric": np.where((X // 5 + Y // 5) % 2, 100, 160.0),
}
WAVE = 2 * np.pi * (0.11 * X + 0.06 * Y)
DOTS = np.cos(2 * np.pi * (X + Y) / 8) + np.cos(2 * np.pi * (X - Y) / 8)
FAULTS = {
    "a wave": 12 * np.cos(WAVE),
    "a hum with a harmonic": 12 * np.cos(WAVE) + 2.4 * np.cos(2 * WAVE),
    "a sensor's pattern": 4 * np.cos(np.pi * X) * np.cos(np.pi / 2 * Y),
    "a screen": 40 * np.tanh(1.5 * (DOTS + 1.2 * np.sin(X / 25) * np.cos(Y / 30))),
}


def kept(picture):
    noisy = np.clip(picture + np.random.default_rng(2).normal(0, 2, X.shape), 0, 255).round().astype(np.uint8)
    found = spectrum(noisy[None], 255)
    peaks = peaks_of(found)
    assert peaks
    return without_content(peaks, found), peaks, found


@pytest.mark.parametrize("name", CONTENT)
def test_layouts_that_repeat_are_content(name):
    left, _, found = kept(CONTENT[name])
    assert sum(peak.amplitude for peak in left) < 3
    peaks, content = AutoNotches(18.0).peaks(found)
    assert content.content > 0
    assert AutoNotches(18.0, insists=True).peaks(found) == ([*peaks_of(found)], Left())
    assert len(peaks) == len(left)


@pytest.mark.parametrize("amount", [1.0, 1.5, 2.0])
def test_waves_whose_period_varies_as_ripples_do_are_content(amount):
    left, *_ = kept(128 + 30 * np.sin(WAVE + amount * np.sin(X / 31 + Y / 57) + amount * np.sin(Y / 23)))
    assert left == []


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_none(name, camera):
    left, peaks, _ = kept(camera[128:380, 128:396] / 2 + 60 + FAULTS[name])
    assert left == peaks


def test_the_message_counts_the_waves_that_stay():
    assert AutoNotches(18.0).left(Left(1)).startswith("1 wave looks like a part of the picture")
    assert AutoNotches(18.0).left(Left(3)).startswith("3 waves look like")
    assert AutoNotches(18.0).left(Left(3)).endswith(" and stay: --insist removes them")


def test_in_python_the_lines_say_what_is_removed_and_what_stays():
    search, wave = AutoNotches(18.0), Peak(0.25, 0, 30, 5, 0.01)
    removed, stays = "removed 4.00 px at 90.0 degrees (30 dB, 5.0 levels)", search.left(Left(2), "insists=True")
    assert stays.endswith(" and stay: insists=True removes them")
    assert search.lines([wave], Left()) == [removed]
    assert search.lines([wave], Left(2)) == [removed, stays]
    assert search.lines([], Left(2)) == [stays]
    assert search.lines([], Left()) == [search.nothing(Left())]


def test_what_is_too_weak_is_named_with_the_strength_that_takes_it(camera):
    given = camera[128:380, 128:396] / 2 + 60 + 6 * np.cos(WAVE)
    found = spectrum(given.round().astype(np.uint8)[None], 255)
    auto = AutoNotches(peaks_of(found)[0].strength_db + 3)
    peaks, left = auto.peaks(found)
    assert peaks == []
    line = auto.nothing(left)
    assert f" try --strength {left.strength} for a weak wave of {left.weak.period_px:.2f} px, " in line
    assert AutoNotches(float(left.strength)).peaks(found)[0][0].period_px == left.weak.period_px
    assert AutoNotches(18.0).nothing(Left()).endswith("try stripes --auto for lines, descreen for the dots of a print")


@pytest.mark.parametrize(
    ("output", "channels", "by_channel"),
    [
        ("keep", None, True),
        ("real", "all", True),
        ("keep", "luminance", False),
        ("magnitude", None, False),
        ("signed", None, False),
    ],
)
def test_waves_are_those_of_each_channel_where_these_are_filtered_one_by_one(output, channels, by_channel):
    assert AutoNotches.of(True, output, channels) == AutoNotches(by_channel=by_channel)
    given = AutoNotches(20, "cosine", by_channel=False, keep=["0.1,-0.2", (1, -1)])
    wanted = AutoNotches(20, "cosine", by_channel=False, keep=((0.1, -0.2), (1.0, -1.0)))
    assert AutoNotches.of(given, output, channels) == wanted
    assert AutoNotches.of(False, output, channels) is None
    with pytest.raises(
        ParameterError, match=r"^auto 3 is unknown: give True, or fftfilter.AutoNotches\(strength=20\)$"
    ):
        AutoNotches.of(3, output, channels)


@pytest.mark.parametrize(
    ("edges", "depth", "channels", "is_wave"),
    [
        ("wrap", None, None, False),
        ("mirror", None, None, True),
        ("mirror", None, "all", True),
        ("mirror", 6.0, None, False),
        ("mirror", None, "luminance", False),
    ],
)
def test_at_mirrored_edges_waves_are_subtracted_unless_a_part_of_them_stays(edges, depth, channels, is_wave):
    waves = [Peak(0.25, 0, 30, 5, 0.01), Peak(0.1, 0.2, 30, 5, 0.02)]
    made = notches(waves, "cosine", edges, depth, channels)
    options = {"shape": "cosine", "is_wave": is_wave}
    assert made == H.notch((0.25, 0), width="0.01cyc", **options) * H.notch((0.1, 0.2), width="0.02cyc", **options)
    assert notches([]) == H.Transfer(())


def test_waves_are_kept_by_their_place_their_period_and_their_amplitude(camera):
    picture = camera[128:380, 128:396] / 2 + 60 + 12 * np.cos(WAVE)
    found = spectrum(picture.round().astype(np.uint8)[None], 255)
    (wave,) = peaks_of(found)
    for removed, options in (
        (True, {"keep": ((wave.fx + 3.5 / 268, wave.fy),)}),
        (False, {"keep": ((wave.fx + 2.5 / 268, wave.fy),)}),
        (False, {"keep": ((0.3, 0.3), (-wave.fx, -wave.fy))}),
        (True, {"longest": wave.period_px, "largest": wave.amplitude}),
        (False, {"longest": wave.period_px * 0.99}),
        (False, {"largest": wave.amplitude * 0.99}),
    ):
        assert AutoNotches(18.0, **options).peaks(found) == ([wave] if removed else [], Left())


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_a_fundamental_has_a_part_of_the_power_of_its_multiple(share):
    powers = {0.4: (100.0, 1e3), 0.2: (100 * share, 1e3)}

    def near(place, channel):
        return powers.get(round(float(place[0]), 6), (0.0, 0.0)) if channel == 0 else (0.0, 0.0)

    found = _fundamental(Peak(0.4, 0, 40, 9, 0.01), SimpleNamespace(near=near, width=100, height=100))
    assert found[0] == pytest.approx(0.2 if share > 0.1 else 0.4)


@pytest.mark.parametrize(
    ("amplitude", "powers", "width", "is_content"),
    [
        (6.1, {0.1: 100, 0.2: 7}, 100, True),
        (5.9, {0.1: 100, 0.2: 7}, 100, False),  # too faint
        (6.1, {0.1: 100, 0.2: 6}, 100, False),  # hardly any harmonics
        (6.1, {0.1: 100, 0.2: 3, 0.3: 2, 0.4: 2}, 100, True),
        (6.1, {0.1: 100, 0.2: 3, 0.3: 2}, 100, False),
        (6.1, {0.1: 100, 0.2: 1600, 0.4: 1350}, 100, True),
        (6.1, {0.1: 100, 0.2: 1600, 0.4: 1450}, 100, False),  # more than a structure has
        # Twice a fundamental of half the amplitude, of a tenth of the power and six periods in the picture at least.
        (12.2, {0.05: 25, 0.1: 100}, 120, True),
        (11.8, {0.05: 25, 0.1: 100}, 120, False),
        (50, {0.05: 9, 0.1: 100}, 120, False),
        (50, {0.05: 25, 0.1: 100}, 119, False),
    ],
)
def test_a_structure_has_some_harmonics_and_a_tenth_of_the_deviation(amplitude, powers, width, is_content):
    def near(place, channel):
        power = powers.get(round(float(place[0]), 6), 0) if channel == 2 and place[1] == 0 else 0
        return (float(power), 40.0 if power else 1.0)

    wave = Peak(0.1, 0, 40, amplitude, 0.01, channels=(2,), searched=3)
    power = np.full((3, 7, width), (60 / 255) ** 2)
    left = without_content([wave], SimpleNamespace(near=near, width=width, height=7, power=power, white=255))
    assert left == ([] if is_content else [wave])


# Waves at right angles


def lattice(period, angle, amplitude=5.0, other=None, turned=90.0):
    """Return two waves by their periods, the angle of the first, and how far the second is turned against it."""
    turns = np.radians((angle, angle + turned))
    lengths = (period, other or period)
    return [Peak(np.sin(t) / n, np.cos(t) / n, 30, amplitude, 0.01) for t, n in zip(turns, lengths, strict=True)]


@pytest.mark.parametrize(
    ("waves", "least_bent"),
    [
        (lattice(8, 15), 1.0),
        (lattice(8, 15, turned=92.5), 1.0),
        (lattice(8, 15, turned=87.5), 1.0),
        (lattice(8, 100, turned=86), 2.0),
        (lattice(8, 15, other=8.6), 1.0),
        (lattice(8, 15, other=9.2), 2.0),
        (lattice(8, 15, turned=60), 99.0),
    ],
)
def test_waves_of_one_period_at_a_right_angle_are_a_pair(waves, least_bent):
    for bent in (1.0, 2.0):
        assert right_angles(waves, 0.5, bent) == ([(waves[0], waves[1])] if bent >= least_bent else [])


def test_pairs_are_of_about_the_strongest_waves_and_of_periods_like_the_first():
    line = Peak(0.1, 0, 30, 10, 0.01)
    first, second, third = lattice(5, 15, 9), lattice(5.5, 45, 8), lattice(7, 70, 7)
    waves = [*third, *second, line, *first]
    assert right_angles(waves, 0.9) == [tuple(first), tuple(second)]
    assert right_angles(waves, 0.95) == []
    weaker = replace(first[1], fx=1.01 * first[1].fx, amplitude=3)
    assert right_angles([*first, weaker], 0.95) == [tuple(first)]


@pytest.mark.parametrize(("period", "is_of_dots"), [(1.55, False), (1.65, True), (24.2, True), (24.5, False)])
def test_dots_of_a_screen_are_1_6_to_24_pixels_apart(period, is_of_dots):
    nothing = SimpleNamespace(near=lambda *_: (0.0, 0.0), width=256, height=256)
    waves = lattice(period, 30)
    assert screens(waves, nothing) == ([waves[0]] if is_of_dots else [])


@pytest.mark.parametrize(
    ("multiples", "is_pattern"),
    [
        ({}, False),
        ({(2, 0): 5, (3, 0): 1.1, (4, 0): 4}, True),
        ({(2, 0): 5, (3, 0): 0.9, (4, 0): 4}, False),
        ({(5, 0): 50, (0, 2): 50, (1, 1): 50}, False),
        ({(2, 1): 5, (1, 2): 5, (2, -1): 5, (1, -2): 4}, True),
        ({(2, 1): 5, (1, 2): 5, (2, -1): 5, (1, -2): 2}, False),
        ({(0, 3): 0.5, (3, 2): 0.3, (2, -3): 0.5}, True),
        ({(0, 3): 0.5, (3, 2): 0.3, (2, -3): 0.3}, False),
    ],
)
def test_some_multiples_are_stronger_in_what_is_drawn_than_in_dots(multiples, is_pattern):
    one, other = Peak(0.05, 0, 30, 5, 0.01, channels=(1,)), Peak(0, 0.07, 30, 5, 0.01, channels=(1,))

    def near(place, channel):
        power = ({(1, 0): 100} | multiples).get((round(place[0] / 0.05), round(place[1] / 0.07)), 0)
        return (float(power), 17.0 if power and channel == 1 else 16.0)

    assert is_drawn(one, other, SimpleNamespace(near=near)) == is_pattern


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("are_steps", [[10, 20, 30], [*range(2, 39)]])
def test_rows_without_samples_and_steps_everywhere_are_nothing_special(rng, are_steps):
    steps = np.zeros(39)
    steps[are_steps] = rng.choice([-1.0, 1.0], len(are_steps))
    some = rng.normal(0, 5, (40, 60)) + np.append(0, steps.cumsum())[:, None]
    some[:2] = np.nan
    assert is_laid_over(some, steps, 3) == (len(are_steps) == 3)
    assert not is_laid_over(some, np.ones(39), 3)
