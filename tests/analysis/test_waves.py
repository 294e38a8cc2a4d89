"""Waves of few periods: found in any unit, as offsets or gains; content that repeats stays."""

import re

import numpy as np
import pytest

import fftfilter
from fftfilter.analysis.bands import columns_of
from fftfilter.analysis.waves import waves_along

ROWS = np.arange(256)[:, None]


@pytest.fixture(scope="module")
def scene():
    """Return smooth bright and dark objects, with noise: float64, about 20 to 220."""
    rng = np.random.default_rng(5)
    power = 1 / np.maximum(np.hypot(np.fft.fftfreq(256)[:, None], np.fft.fftfreq(300)), 1 / 256) ** 1.6
    made = np.fft.ifft2(np.fft.fft2(rng.normal(size=(256, 300))) * power).real
    return 120 + 35 * (made - made.mean()) / made.std() + rng.normal(0, 1, made.shape)


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


def hum(period, amplitude):
    return amplitude * np.sin(2 * np.pi * ROWS / period + 1)


@pytest.mark.parametrize("period", [15, 24, 42, 60])
@pytest.mark.parametrize("turned", [False, True])
def test_hum_is_taken_out(scene, period, turned):
    faulty, truth = scene + hum(period, 6), scene
    if turned:
        faulty, truth = faulty.T, truth.T
    for out in (fftfilter.notch(faulty, auto=True), fftfilter.stripes(faulty, "auto")):
        assert rms(out - truth) < 0.4 * rms(faulty - truth)


@pytest.mark.parametrize("bands", [2.6, 5.7, 11])
def test_flicker_is_a_gain(scene, bands):
    faulty = scene * np.exp(hum(256 / bands, 0.15))
    found, _ = waves_along(faulty)
    assert found[0].is_gain
    assert found[0].period == pytest.approx(256 / bands, rel=0.05)
    assert rms(faulty * np.exp(-found[0].profile[:, None]) / scene - 1) < 0.4 * rms(faulty / scene - 1)


def test_thick_soft_bands_are_one_wave_with_its_harmonics(scene):
    """Of bands of three tenths of their period, the strongest steps are those of the second harmonic."""
    bands = 12 / (1 + np.exp((np.abs(ROWS % 26 - 13) - 0.15 * 26) / 0.8))
    found, _ = waves_along(scene + bands)
    assert [wave.period for wave in found] == pytest.approx([26], rel=0.02)
    assert np.std(found[0].profile - bands[:, 0]) < 0.4 * np.std(bands)


def test_a_hill_of_light_is_no_wave(rng):
    y = np.arange(500)[:, None] + np.zeros(300)
    for hill in (np.exp(-(((y - 200) / 60) ** 2)), np.sin(3 * np.pi * (y / 500) ** 2) * y / 500):
        found, content = waves_along(np.rint(60 + 150 * hill + rng.normal(0, 1, y.shape)))
        assert (content, all(wave.is_faint for wave in found)) == ([], True)


@pytest.mark.parametrize(("factor", "offset"), [(1e-6, 0.0), (1e3, 5e4), (50.0, -9000.0)])
def test_units_and_offsets_do_not_matter(scene, factor, offset):
    faulty = scene + hum(31, 5) + 4 * np.sin(2 * np.pi * (ROWS / 9.3 + np.arange(300) / 7.1))
    wanted = fftfilter.notch(faulty, auto=True)
    out = fftfilter.notch(faulty * factor + offset, auto=True)
    np.testing.assert_allclose((out - offset) / factor, wanted, atol=1e-3)


def test_a_wave_is_said_in_the_units_of_the_picture(scene):
    counts = np.round(200 * (scene + hum(31, 5))).astype(np.uint16)
    with fftfilter.Filter(fftfilter.transfer.Transfer(()), auto=True) as f:
        f(counts)
    said = re.search(r"wave of ([\d.]+) rows at 0 degrees, offsets of (\d+)$", f.notes()[0])
    assert [float(each) for each in said.groups()] == pytest.approx([31, 200 * 5 / 2**0.5], rel=0.06)


@pytest.mark.parametrize("draw", ["lines", "dots", "slanted", "part"])
def test_content_that_repeats_stays(scene, draw):
    x = np.arange(300)
    drawn = {
        "lines": np.broadcast_to(40.0 * (ROWS % 20 < 2), scene.shape),
        "dots": 40.0 * (np.hypot(ROWS % 20 - 10, x % 20 - 10) < 5),
        "slanted": 30.0 * (((ROWS + x / 12) % 18) < 9),
        "part": np.where(x < 120, hum(24, 12), 0),
    }[draw]
    assert waves_along(scene - drawn)[0] == []


@pytest.mark.parametrize("part", [0.5, 0.7, 0.85])
def test_soft_letters_on_paper_stay(rng, part):
    is_inked = (rng.random((12, 60)) < part)[(ROWS + 9) // 24, np.arange(300) // 5]
    paper = 200 + rng.normal(0, 2, is_inked.shape)
    found, content = waves_along(paper - (20 + hum(24, 20)) * is_inked)
    assert found == []
    assert content[0] == pytest.approx(24, rel=0.02)


def test_a_picture_without_waves_stays(scene):
    assert waves_along(scene) == ([], [])
    assert waves_along(scene.T) == ([], [])
    flat = np.full((128, 128), 7.0)
    assert waves_along(flat) == ([], [])
    assert waves_along(scene[:40, :40]) == ([], [])


def test_missing_pixels_do_not_matter(scene):
    faulty, holes = scene + hum(31, 5), np.zeros(scene.shape, np.bool_)
    holes[60:120, 100:180] = True
    hidden = np.where(holes, 1e6 * (ROWS % 31 < 3), faulty)
    found, _ = waves_along(columns_of(hidden, holes))
    assert [each.period for each in found] == pytest.approx([31], rel=0.02)
    assert rms(found[0].profile - hum(31, 5)[:, 0]) < 1


def test_limits_are_for_the_waves_of_the_spectrum(scene):
    faulty = scene + hum(31, 5)
    out = fftfilter.notch(faulty, auto=fftfilter.AutoNotches(longest=20))
    np.testing.assert_array_equal(out, faulty)


def waves_taken_out(faulty, angle):
    with fftfilter.Filter(fftfilter.transfer.stripes(angle, waves=True), output="keep", edges="mirror") as f:
        return f(faulty)


def test_waves_alone_have_no_width():
    with pytest.raises(fftfilter.ParameterError, match="leave width and spare out"):
        fftfilter.transfer.stripes(0, waves=True, width=0.003)


@pytest.mark.parametrize(("angle", "turned"), [(0, np.asarray), (90, np.transpose)])
def test_faint_hum_is_named_and_taken_out_at_its_angle(scene, angle, turned):
    truth = turned(scene)
    faulty = truth + turned(hum(42, 3) + 0 * scene)
    with fftfilter.Filter(fftfilter.transfer.Transfer(()), auto=True) as f:
        np.testing.assert_array_equal(f(faulty), faulty)
        assert f.notes()[0].endswith(f" are faint, and stay: try stripes --waves --angle {angle}")
    assert rms(waves_taken_out(faulty, angle) - truth) < 0.6 * rms(faulty - truth)
    np.testing.assert_array_equal(fftfilter.stripes(faulty, angle), faulty)


@pytest.mark.parametrize(("period", "angle"), [(24, 33), (40, 100), (36, 168)])
@pytest.mark.parametrize("missing", [False, True])
def test_slanted_hum_is_taken_out(scene, period, angle, missing):
    turn, x = np.radians(angle), np.arange(300)
    slanted = 12 * np.sin(2 * np.pi * (x * np.sin(turn) + ROWS * np.cos(turn)) / period + 1)
    faulty = scene + slanted
    if missing:
        faulty[60:110, 100:160] = np.nan
    for out in (
        fftfilter.notch(faulty, auto=True),
        fftfilter.stripes(faulty, "auto"),
        fftfilter.stripes(faulty, angle + 0.5),
    ):
        left = (out - scene)[np.isfinite(faulty)]
        assert rms(left - left.mean()) < 0.5 * rms(slanted)


def test_slanted_hum_of_a_part_and_slanted_planks_stay(scene, rng):
    turned = (np.arange(300) * 0.5 + ROWS * 0.86) / 30
    planks = rng.normal(0, 12, 20)[turned.astype(int)] - 40.0 * (turned % 1 < 0.15)
    for drawn in (planks, np.where(np.arange(300) < 110, 12 * np.sin(2 * np.pi * turned), 0)):
        out, notes = scene + drawn, []
        with fftfilter.Filter(fftfilter.transfer.stripes("auto", waves=True), output="keep", edges="mirror") as f:
            np.testing.assert_array_equal(f(out), out)
            notes += f.notes()
        assert notes[0] == "" or "are faint, and stay: try stripes --waves --angle " in notes[0]


def test_faint_slanted_hum_is_named_and_taken_out_at_its_angle(rng):
    turn, truth, named = np.radians(60), rng.normal(0, 1, (256, 300)), []
    wave = np.sin(2 * np.pi * (np.arange(300) * np.sin(turn) + ROWS * np.cos(turn)) / 42)
    for amplitude in np.arange(0.02, 0.2, 0.01):
        faulty = truth + amplitude * wave
        with fftfilter.Filter(fftfilter.transfer.stripes("auto"), output="keep", edges="mirror") as f:
            f(faulty)
            said = re.search(r"waves at (\S+) degrees are faint, and stay; try --waves --angle \1$", f.notes()[0])
        if said and abs(float(said[1]) - 60) < 4:
            named.append(rms(waves_taken_out(faulty, float(said[1])) - truth) / rms(faulty - truth))
    assert named
    assert max(named) < 0.7
