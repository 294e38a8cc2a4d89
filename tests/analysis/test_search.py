"""Peaks beside waves that are known, and pictures and noise that have none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageDraw

import fftfilter
from fftfilter import transfer as H
from fftfilter.analysis import surroundings
from fftfilter.analysis.power import spectrum
from fftfilter.analysis.search import peaks_of
from fftfilter.analysis.surroundings import around, at, broad_peaks, of_spread, of_tails, standing_out
from fftfilter.errors import ParameterError
from tests.helpers import SAMPLES

SIZES = [(512, 512), (300, 451)]


def photograph(name, size=None):
    picture = Image.open(SAMPLES / name)
    return np.asarray(picture.resize(size[::-1], Image.Resampling.BICUBIC) if size else picture)


def wave(size, fx, fy, phase=1.0):
    height, width = size
    return np.cos(2 * np.pi * (fx * np.arange(width) + fy * np.arange(height)[:, None]) + phase)


def levels(values):
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


def bins_off(peak, fx, fy, size):
    return abs(peak.fx - fx) * size[1], abs(peak.fy - fy) * size[0]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize(("fx", "fy"), [(0.123, 0.047), (0.31, -0.22), (63.5 / 512, 100.5 / 512), (0.49, 0.493)])
def test_a_strong_wave_is_found_within_a_tenth_of_a_bin(size, fx, fy):
    picture = levels(0.8 * photograph("camera.pgm", size) + 25 + 20 * wave(size, fx, fy))
    (peak,) = fftfilter.find_peaks(picture)
    assert max(bins_off(peak, fx, fy, size)) < 0.1
    assert peak.amplitude == pytest.approx(20, rel=0.05)
    assert peak.period_px == pytest.approx(1 / np.hypot(fx, fy), rel=1e-3)


def test_the_notch_of_a_wave_in_a_part_of_a_picture_is_wider_and_leaves_less():
    size = (256, 256)
    picture = 0.8 * photograph("camera.pgm", size) + 25
    fault = 25 * wave(size, 28 / 256, 15 / 256)
    (whole,) = fftfilter.find_peaks(levels(picture + fault))
    fault[:, 128:] = 0
    (half,) = fftfilter.find_peaks(levels(picture + fault))
    assert half.width > 1.4 * whole.width
    given = levels(picture + fault)
    left = [np.std(fftfilter.notch(given, half.place, width=f"{w}cyc") - picture) for w in (whole.width, half.width)]
    assert left[1] < left[0]


def test_a_wave_of_whole_periods_along_both_sides_has_no_tails():
    assert of_tails(80 / 200, 40 / 128, 1e6, 128, 200) == 1.5 / 128
    assert of_tails(80.5 / 200, 40 / 128, 1e6, 128, 200) > 2 / 128


def test_a_notch_is_as_wide_as_the_tails_of_a_wave_ask_for():
    # The cube root of 0.087 * 1000 * (1 / 200 + sin(0.4 pi)^2 / 128) / (128 * 200).
    assert of_tails(40.5 / 200, 38.4 / 128, 1e3, 128, 200) == pytest.approx(0.03449, rel=1e-3)
    assert of_tails(40.5 / 200, 38.4 / 128, 1e9, 128, 200) == pytest.approx(0.2 * np.hypot(40.5 / 200, 0.3))


def test_without_noise_it_is_found_within_a_thousandth_of_a_bin():
    (peak,) = fftfilter.find_peaks(wave((128, 200), 0.2077, 0.3141).astype(np.float32))
    assert max(bins_off(peak, 0.2077, 0.3141, (128, 200))) < 1e-3


@pytest.mark.parametrize(
    ("fx", "fy", "angle"),
    [
        (0.0, 0.25, 0.0),
        (0.0, 0.5, 0.0),
        (0.25, 0.0, 90.0),
        (0.2, 0.2, 45.0),
        (0.2, -0.2, 135.0),
        (0.5, 0.2, 68.2),
        (0.2, 0.5, 21.8),
        (0.0002, -0.25, 179.95),
    ],
)
def test_angles_are_those_of_stripes(fx, fy, angle):
    (peak,) = fftfilter.find_peaks(levels(128 + 50 * wave((128, 128), fx, fy)))
    assert peak.angle_deg == pytest.approx(angle, abs=0.05)
    assert peak.fx > 0 or peak.fy > 0


def test_the_strongest_comes_first():
    picture = (
        photograph("camera.pgm") * 0.8
        + 25
        + sum(
            amplitude * wave((512, 512), *at) for amplitude, at in ((3, (0.4, 0.1)), (12, (0.3, 0.3)), (6, (0.2, -0.4)))
        )
    )
    found = fftfilter.find_peaks(levels(picture))
    assert [round(peak.amplitude) for peak in found] == [12, 6, 3]
    assert [peak.strength_db for peak in found] == sorted((peak.strength_db for peak in found), reverse=True)


def test_multiples_are_harmonics_also_beyond_the_highest_frequency():
    picture = levels(128 + 40 * np.sign(wave((256, 256), 0.11, 0.043)))
    peak, *_ = fftfilter.find_peaks(picture)
    assert bins_off(peak, 0.11, 0.043, (256, 256)) < (0.1, 0.1)
    assert {(3,), (5,), (7,)} <= {each.multiples for each in peak.harmonics}
    third, fifth = (each.peak for each in peak.harmonics[:2])
    assert bins_off(third, 0.33, 0.129, (256, 256)) < (0.2, 0.2)
    assert bins_off(fifth, 0.45, -0.215, (256, 256)) < (0.2, 0.2)  # 0.55 - 1, and its conjugate


def test_a_screen_is_two_waves_with_all_sums_as_their_harmonics():
    x, y = np.meshgrid(np.arange(512), np.arange(512))
    c, s = np.cos(np.radians(15)), np.sin(np.radians(15))
    u, v = (x * c + y * s) / 8, (y * c - x * s) / 8
    dots = (np.cos(2 * np.pi * u) + np.cos(2 * np.pi * v)) / 4 + 0.5 < photograph("camera.pgm") / 255
    picture = Image.fromarray(levels(255 * dots)).reduce(2)  # a scan, in which a dot is four pixels
    first, second, *_ = fftfilter.find_peaks(np.asarray(picture))
    assert [first.period_px, second.period_px] == pytest.approx([4, 4], rel=2e-3)
    assert sorted([first.angle_deg, second.angle_deg]) == pytest.approx([75, 165], abs=0.1)
    assert {(1, 1), (1, -1)} <= {each.multiples for each in first.harmonics}


def test_waves_of_a_part_of_the_picture_are_found():
    picture = photograph("camera.pgm").astype(float)
    picture[100:250, 300:450] += 15 * wave((150, 150), 0.21, 0.13)
    (peak,) = fftfilter.find_peaks(levels(picture))
    assert max(bins_off(peak, 0.21, 0.13, (512, 512))) < 1
    assert peak.amplitude == pytest.approx(15 * 150 / 512, rel=0.2)  # as if it went through the whole picture
    clean = peak.notch().gain(512, 512)
    assert clean[round(0.13 * 512) + 2, round(0.21 * 512)] < 0.2  # as wide as what it leaves in the spectrum


def test_a_drifting_period_is_found(camera):
    x, y = np.meshgrid(np.arange(512), np.arange(512))
    drift = 3 * np.sin(x / 40) + 2 * np.cos(y / 30)
    found = fftfilter.find_peaks(levels(0.8 * camera + 25 + 12 * np.sin(2 * np.pi * (0.21 * x + 0.13 * y) + drift)))
    assert found
    assert all(max(bins_off(peak, 0.21, 0.13, (512, 512))) < 12 for peak in found)


@pytest.mark.parametrize("factor", [1e-300, 1e-30, 1.0, 1e30, 1e300])
def test_floats_of_any_size_are_searched(factor):
    (peak,) = fftfilter.find_peaks(factor * wave((128, 128), 0.2, 0.3))
    assert max(bins_off(peak, 0.2, 0.3, (128, 128))) < 1e-3


def test_each_channel_is_searched():
    picture = photograph("astronaut.png").copy()
    picture[..., 0] = levels(picture[..., 0] * 0.8 + 25 + 15 * wave((512, 512), 0.31, 0.2))
    picture[..., 1:] = levels(picture[..., 1:] * 0.8 + 25 + 5 * wave((512, 512), 0.2, 0.4)[..., None])
    found = fftfilter.find_peaks(picture, channel_axis=-1)
    assert [(peak.channels, peak.colors) for peak in found] == [((0,), "red"), ((1, 2), "green blue")]
    assert found[0].notch().of_channels(3) == [found[0].notch(), H.Transfer(()), H.Transfer(())]


def test_a_picture_without_its_channel_axis_is_no_stack():
    with pytest.raises(ParameterError, match="looks like a picture with 3 channels: give channel_axis=-1"):
        fftfilter.find_peaks(np.ones((64, 64, 3)))


def test_a_wave_that_is_found_in_one_channel_may_be_weaker_in_the_others(rng):
    noise = rng.normal(128, 20, (256, 256, 3))
    found = fftfilter.find_peaks(levels(noise + wave((256, 256), 0.21, 0.13)[..., None] * (4, 1.3, 0)), channel_axis=-1)
    assert [peak.colors for peak in found] == ["red green"]
    assert fftfilter.find_peaks(levels(noise[..., 1] + wave((256, 256), 0.21, 0.13))) == []


def test_almost_alike_waves_of_two_channels_are_two(rng):
    size = (512, 512)
    picture = np.stack([128 + 20 * wave(size, (100 + x) / 512, 60 / 512) for x in (0, 0.3, 2)], axis=-1)
    found = fftfilter.find_peaks(levels(picture + rng.normal(0, 5, picture.shape)), channel_axis=-1)
    assert sorted((round(peak.fx * 512), peak.channels[-1]) for peak in found) == [(100, 1), (102, 2)]


@pytest.mark.parametrize("name", ["camera.pgm", "astronaut.png", "chelsea.png", "brick.png"])
def test_photographs_have_none(name):
    picture = photograph(name)
    assert fftfilter.find_peaks(picture, channel_axis=-1 if picture.ndim == 3 else None) == []


def test_the_courses_of_a_wall_are_found_if_less_strength_is_asked_for():
    (peak,) = fftfilter.find_peaks(photograph("brick.png"), strength=15)
    assert (peak.period_px, peak.angle_deg) == (pytest.approx(35.6, abs=0.1), pytest.approx(91, abs=1))


@pytest.mark.parametrize("size", [(32, 32), (64, 300), (512, 512), (1024, 1024)], ids=str)
def test_noise_has_none(rng, size):
    assert fftfilter.find_peaks(levels(rng.normal(128, 20, size))) == []
    assert fftfilter.find_peaks(np.where(rng.random(size) < 0.01, 255, 10).astype(np.uint8)) == []


@pytest.mark.parametrize("steepness", [1, 2, 3])
def test_a_cloud_of_low_frequencies_has_none(rng, steepness):
    f = np.hypot(np.fft.fftfreq(256)[:, None], np.fft.fftfreq(256))
    f[0, 0] = 1
    assert fftfilter.find_peaks(np.fft.ifft2(np.fft.fft2(rng.normal(size=(256, 256))) / f**steepness).real) == []


@pytest.mark.parametrize("angle", [0, 1, 7, 30, 45, 90])
def test_a_bright_line_has_none(angle):
    picture = Image.new("L", (256, 256), 20)
    x, y = 300 * np.cos(np.radians(angle)), 300 * np.sin(np.radians(angle))
    ImageDraw.Draw(picture).line([128 - x, 128 - y, 128 + x, 128 + y], fill=255)
    assert fftfilter.find_peaks(np.asarray(picture)) == []


@pytest.mark.parametrize(
    "picture",
    [np.full((64, 64), 7, np.uint8), np.add.outer(np.arange(64.0), np.arange(64.0)), np.pad([[255.0]], 40)],
    ids=["a constant", "a ramp, which leaves a cross", "an impulse"],
)
def test_what_has_no_period_has_none(picture):
    assert fftfilter.find_peaks(picture) == []


def test_of_a_stack_the_mean_power_is_searched(rng):
    stack = rng.normal(128, 20, (4, 128, 128))
    stack[1::2] += 10 * wave((128, 128), 0.2, 0.3)
    (peak,) = fftfilter.find_peaks(levels(stack))
    assert max(bins_off(peak, 0.2, 0.3, (128, 128))) < 0.1
    assert peak.amplitude == pytest.approx(10 / np.sqrt(2), rel=0.05)


@pytest.mark.parametrize(
    ("image", "options", "message"),
    [
        (np.zeros((16, 100)), {}, "100 x 16 pixels are too few .*: give at least 32 a side$"),
        (np.zeros((40, 31)), {}, "31 x 40 pixels are too few"),
        (np.zeros((2, 2, 64, 64)), {}, "is not an image"),
        (np.zeros((64, 64), complex), {}, "is not an image"),
        (np.zeros((64, 64)), {"strength": 3}, "strength 3 is invalid"),
        (np.zeros((64, 64)), {"strength": 1e300}, "strength 1e.300 is invalid: give 10 to 300 dB"),
        (np.where(np.eye(64) > 0, np.inf, 0), {}, "64 values are NaN or infinite"),
    ],
)
def test_what_has_no_spectrum_is_refused(image, options, message):
    with pytest.raises(ParameterError, match=message):
        fftfilter.find_peaks(image, **options)


def test_a_wave_beside_holes_is_found_and_the_holes_are_not(rng):
    y, x = np.mgrid[:128, :128]
    holes = (x - 60) ** 2 + (y - 40) ** 2 < 400
    given = rng.normal(128, 5, (128, 128)) + 20 * wave((128, 128), 0.2, 0.3)
    for image in (np.where(holes, np.nan, given), np.ma.MaskedArray(given, holes)):
        (peak,) = fftfilter.find_peaks(image, white=255)
        assert max(bins_off(peak, 0.2, 0.3, (128, 128))) < 0.1
        assert 15 < peak.amplitude < 20
    assert fftfilter.find_peaks(np.where(holes, np.nan, rng.normal(128, 5, (128, 128))), white=255) == []


def test_amplitudes_are_in_the_units_of_the_image():
    turns = wave((128, 128), 0.2, 0.3)
    bits = turns > 0  # of which the first wave has 2 / pi of the range
    for image, wanted in (
        (128 + 20 * turns, 20),
        (np.rint(30000 + 20 * 257 * turns).astype(np.uint16), 20 * 257),
        (bits, 2 / np.pi),
        (bits * np.uint8(255), 255 * 2 / np.pi),
    ):
        assert fftfilter.find_peaks(image)[0].amplitude == pytest.approx(wanted, rel=0.03)
    for unit in (1e-20, 1, 1e20):
        (peak,) = fftfilter.find_peaks((128 + 20 * turns) * unit, white=255 * unit)
        assert peak.amplitude == pytest.approx(20 * unit, rel=0.03)


@pytest.mark.parametrize(("level", "counts"), [(0.19, [0, 1]), (0.21, [1, 1])])
def test_waves_that_may_come_from_rounding_are_left_out(level, counts):
    """Gray levels of 8 and 16 bits are 1 and 1 / 257 apart."""
    found = spectrum((level * wave((64, 64), 0.2, 0.3)[None]).astype(np.float32), 255)
    steps = [replace(found, step=step) for step in (1 / 255, 1 / 65535)]
    assert [len(peaks_of(each)) for each in steps] == counts


@pytest.mark.parametrize(
    ("periods", "strength", "count"), [(4, 18, 0), (7, 18, 1), (9, 18, 1), (9, 36, 0), (18, 36, 1)]
)
def test_waves_of_few_periods_have_to_be_stronger(rng, periods, strength, count):
    """Of less than 5 none is found, of less than 16 those by 6 dB."""
    noise = rng.normal(0, 2, (128, 200))
    for wide in (noise + 5 * wave(noise.shape, periods / 200, 0), noise + 5 * wave(noise.shape, 0, periods / 128)):
        assert len(fftfilter.find_peaks(wide, strength=strength, white=255)) == count


# Restoring


@pytest.mark.parametrize("name", ["camera.pgm", "brick.png"])
@pytest.mark.parametrize("waves", [[(0.123, 0.047, 20)], [(0.31, -0.22, 25), (0.2, 0.3, 8)], [(100.5 / 512, 0.0, 15)]])
def test_a_picture_is_restored_as_by_who_knows_the_wave(name, waves):
    clean = 0.7 * photograph(name) + 38
    given = levels(clean + sum(amplitude * wave((512, 512), fx, fy) for fx, fy, amplitude in waves))
    found = fftfilter.find_peaks(given)
    assert len(found) == len(waves)

    def decibels(parts):
        gain = np.prod([part.gain(512, 512) for part in parts], axis=0)
        return 10 * np.log10(255**2 / np.mean((np.fft.ifft2(np.fft.fft2(given) * gain).real - clean) ** 2))

    by_truth = decibels([H.notch((fx, fy)) for fx, fy, _ in waves])
    assert decibels([peak.notch() for peak in found]) > by_truth - 1


@pytest.mark.parametrize("size", [(512, 512), (256, 512), (512, 300)], ids=str)
def test_a_broad_peak_lies_in_the_middle_of_its_power(size):
    height, width = size
    y, x = np.mgrid[:height, : width // 2 + 1]
    ky, kx = height // 5 - 0.5, width // 8 + 0.5
    power = 1 + 1e4 * np.exp2(-((y - ky) ** 2 + (x - kx) ** 2) / 5**2)
    (peak,) = broad_peaks(power.astype(np.float32), width, 18, 2)
    assert (width * peak.fx, height * peak.fy) == pytest.approx((kx, ky), abs=1)
    whole = 1e4 * np.pi * 5**2 / np.log(2)  # of which a square of 17 bins has the most
    assert peak.amplitude == pytest.approx(2 * np.sqrt(whole / (height * width)), rel=0.06)
    assert peak.strength_db == pytest.approx(42, abs=1)  # the mean of the 5 x 5 bins in the middle, and 4 dB
    assert peak.channels == (2,)
    assert broad_peaks(power.astype(np.float32), width, 44, 2) == []


@pytest.mark.parametrize(("height", "count"), [(127, 0), (128, 1)])
def test_broad_peaks_are_looked_for_in_pictures_of_128_pixels_a_side(height, count):
    y, x = np.mgrid[:height, :101]
    power = 1 + 1e4 * np.exp2(-((y - 40) ** 2 + (x - 30) ** 2) / 5**2)
    assert len(broad_peaks(power.astype(np.float32), 200, 18, 0)) == count


def test_the_width_of_a_notch_is_in_cycles_per_pixel_of_both_sides():
    def width_of(height, width):
        fy, fx = round(0.19 * height) / height, round(0.12 * width) / width
        y, x = np.mgrid[:height, : width // 2 + 1]
        off = (y / height - fy) ** 2 + (x / width - fx) ** 2
        return of_spread((1 + 1e4 * np.exp2(-off / 0.008**2)).astype(np.float32), width, fx, fy)

    assert (
        width_of(256, 512) == width_of(512, 256) == pytest.approx(width_of(256, 256)) == pytest.approx(0.042, abs=1e-3)
    )


@pytest.mark.parametrize("size", [(8, 12), (9, 13)], ids=str)
def test_the_power_of_all_frequencies_is_that_of_half_of_them_and_of_their_conjugates(rng, size):
    image = rng.normal(size=size)
    whole, half = (np.abs(each(image)) ** 2 for each in (np.fft.fft2, np.fft.rfft2))
    ky, kx = np.arange(-2 * size[0], 2 * size[0])[:, None], np.arange(-2 * size[1], 2 * size[1])
    np.testing.assert_allclose(at(half, size[1], ky, kx), whole[ky % size[0], kx % size[1]])


def test_the_surroundings_of_a_frequency_are_those_of_the_direction_with_the_most():
    power = np.ones((64, 41), np.float32)
    power[20] = 100
    ky, kx = np.array([20, 25, 20 + 64]), np.array([10, 10, -80 + 10])
    np.testing.assert_allclose(
        around(power, 80, ky, kx), np.array([100, 1, 100]) / np.log(2)
    )  # of noise, by its median


def test_of_two_conjugates_in_one_column_one_stands_out(monkeypatch):
    power = np.ones((96, 49), np.float32)
    for ky, kx, value in ((40, 0, 900), (-40, 0, 900), (33, 48, 800), (-33, 48, 800), (70, 20, 700), (70, 21, 600)):
        power[ky, kx] = value
    found = zip(*(each.tolist() for each in standing_out(power, 96, 400)), strict=True)
    assert sorted(found) == [(33, 48), (40, 0), (70, 20)]
    assert [each.tolist() for each in standing_out(power, 96, 600)] == [[40], [0]]  # 900 log 2 is 624
    monkeypatch.setattr(surroundings, "MOST", 2)  # of which each is compared with its surroundings
    assert [*zip(*(each.tolist() for each in standing_out(power, 96, 400)), strict=True)] == [(40, 0), (70, 20)]
