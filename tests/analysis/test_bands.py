"""Lines and bands: offsets and gains with the truth known, in any unit, and what looks like them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from scipy.ndimage import gaussian_filter
from skimage import data

from fftfilter import Filter
from fftfilter import transfer as H
from fftfilter.errors import ParameterError

SCENE = 20 + 0.8 * np.asarray(data.moon()[:320, :400], np.float64)
HEIGHT, WIDTH = SCENE.shape


def bands(rng, rows, strength=5.0):
    offsets = np.repeat(rng.normal(0, strength, HEIGHT), rows)[:HEIGHT, None]
    return offsets - offsets.mean()


def repaired(picture, angle="auto", blocks=None, **options):
    with Filter(H.stripes(angle, blocks=blocks), output="keep", edges="mirror", **options) as f:
        made = f(picture, white=1) if picture.dtype.kind == "f" else f(picture)
        return made.astype(np.float64), f.notes()[0]


def off(picture, truth):
    return float(np.std(picture - truth))


@pytest.mark.parametrize("rows", [1, 4, 16])
@pytest.mark.parametrize("angle", [0, "auto"])
def test_bands_of_any_width_are_taken_out_and_told(rng, rows, angle):
    faulty = SCENE + bands(rng, rows) + rng.normal(0, 1, SCENE.shape)
    made, note = repaired(np.clip(np.rint(faulty), 0, 255).astype(np.uint8), angle)
    assert off(made, SCENE) < 0.8 * off(faulty, SCENE)
    assert note.startswith(f"bands of {rows} rows at 0 degrees, offsets of " if rows > 1 else "lines at 0 degrees, ")


def test_the_sky_between_stars_and_galaxies_is_level():
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    deviations = []
    for seed in range(3):
        rng, sky = np.random.default_rng(seed), np.full((HEIGHT, WIDTH), 100.0)
        for size, power, count in ((1.5, 2.5, 60), (8.0, 2, 4)):  # stars, and galaxies with wide halos
            for row, column, light in rng.uniform((0, 0, 300), (HEIGHT, WIDTH, 3000), (count, 3)):
                sky += light / 1.5 / size**0.5 * (1 + ((y - row) ** 2 + (x - column) ** 2) / size**2) ** -power
        lines = rng.normal(0, 3, HEIGHT)
        faulty = sky + (lines - lines.mean())[:, None] + rng.normal(0, 4, sky.shape)
        made, _ = repaired(np.clip(np.rint(10 * faulty), 0, 65535).astype(np.uint16))
        left = np.median(made / 10 - sky, axis=1)
        assert np.abs(left - np.median(left)).max() < 2.5
        deviations.append(np.std(left))
    assert np.mean(deviations) < 0.7


def test_a_galaxy_along_most_of_the_rows_has_no_part_in_the_lines():
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    bright = 20000 * np.exp(-1.7 * np.hypot((y - 150) / 0.6, x - 210) / 110)
    worst = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        lines = rng.normal(0, 3, HEIGHT)
        faulty = (100 + bright + lines[:, None] + rng.normal(0, 4, SCENE.shape)).astype(np.float32)
        left = lines - np.mean(faulty - repaired(faulty, 0)[0], axis=1)
        worst.append(np.abs(left - np.median(left)).max())
    assert np.mean(worst) < 7, worst


def test_the_spikes_of_stars_have_no_part_in_the_lines():
    """They fall along the rows from the star, over most of the picture."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    worst = []
    for seed in range(3):
        rng, sky = np.random.default_rng(seed), np.full((HEIGHT, WIDTH), 100.0)
        for row, column, long in rng.uniform((20, 20, 30), (300, 380, 70), (6, 3)):
            sky += 20000 * (1 + (np.square(y - row) + np.square(x - column)) / 4) ** -1.8
            sky += 400 * np.exp(-np.abs(x - column) / long - np.square(y - row) / 2)
        lines = rng.normal(0, 3, HEIGHT)
        faulty = np.minimum(sky + lines[:, None] + rng.normal(0, 4, sky.shape), 5000).astype(np.float32)
        left = lines - np.median(faulty - repaired(faulty, 0)[0], axis=1)
        worst.append(np.abs(left - np.median(left)).max())
    assert np.mean(worst) < 10, worst


@pytest.mark.parametrize("amount", [1, 4])
@pytest.mark.parametrize("name", ["camera", "rocket"])
def test_every_other_column_is_no_slope(rng, name, amount):
    """Half of the steps and one are alike in any odd number of them."""
    photograph = getattr(data, name)()
    truth = 20 + 0.8 * (photograph if photograph.ndim == 2 else photograph @ [0.299, 0.587, 0.114])
    faulty = truth + amount * (-1.0) ** np.arange(truth.shape[1]) + rng.normal(0, 1, truth.shape)
    made, note = repaired(np.clip(np.rint(faulty), 0, 255).astype(np.uint8), 90)
    assert off(made, truth) < 1.2
    assert note.startswith("lines at 90 degrees, offsets of ")


@pytest.mark.parametrize("rows", [1, 2, 4, 8])
def test_the_slopes_of_a_sky_are_no_part_of_its_lines(rng, rows):
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    sky = 60 + 110 * (y / HEIGHT) ** 1.5 + 20 * np.sin(y / 40) + 10 * np.sin(x / 90 + y / 60)
    faulty = sky + bands(rng, rows, 3.0) + rng.normal(0, 1, sky.shape)
    made, _ = repaired(np.clip(np.rint(faulty), 0, 255).astype(np.uint8))
    assert off(made, sky) < 0.8 * off(faulty, sky)


@pytest.mark.parametrize(("count", "height", "smooth"), [(5, 1, 1.5), (8, 4, 2.5), (20, 4, 2.5)])
def test_jumps_of_a_smooth_surface_are_taken_out(count, height, smooth):
    """Heights about 0 have logarithms, too, in which offsets are no gains."""
    frequencies, errors = np.hypot(np.fft.fftfreq(256)[:, None], np.fft.fftfreq(256)), []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        surface = np.fft.ifft2(
            np.fft.fft2(rng.normal(0, 1, (256, 256))) / np.maximum(frequencies, 1 / 256) ** smooth
        ).real
        surface *= height / surface.std()
        jumps = np.zeros((256, 1))
        jumps[rng.choice(256, count, replace=False), 0] = rng.normal(0, 6, count)
        made, _ = repaired((surface + jumps.cumsum(axis=0)).astype(np.float32), 0)
        errors.append(off(made, surface))
    assert max(errors) < 0.6


def test_thick_bands_that_repeat_are_taken_out_at_an_angle(rng):
    faulty = SCENE + np.where(np.arange(HEIGHT) // 16 % 2, 5.0, -5.0)[:, None] + rng.normal(0, 1, SCENE.shape)
    made, note = repaired(np.clip(np.rint(faulty), 0, 255).astype(np.uint8), 0)
    assert off(made, SCENE) < 0.3 * off(faulty, SCENE)
    assert note.startswith("bands of 16 rows at 0 degrees, offsets of ")


@pytest.mark.parametrize(("thick", "period"), [(4, 8), (8, 16), (16, 32)])
@pytest.mark.parametrize("angle", [0, 90])
@pytest.mark.parametrize("are_gains", [False, True])
def test_thick_bands_that_repeat_are_found(rng, thick, period, angle, are_gains):
    scene = 20 + 0.8 * np.asarray(data.camera()[:HEIGHT, :WIDTH], np.float64)
    truth = scene.T if angle else scene
    band = ((np.arange(HEIGHT) + 3) % period < thick) - thick / period
    band = band if angle else band[:, None]
    faulty = truth * (1 + 0.06 * band) if are_gains else truth + 6 * band
    made, note = repaired(np.clip(np.rint(faulty + rng.normal(0, 1, truth.shape)), 0, 255).astype(np.uint8))
    assert off(made, truth) < 0.7 * off(faulty, truth)
    assert f" at {angle} degrees, {'gains' if are_gains else 'offsets'} of " in note


@pytest.mark.parametrize(("thick", "angle"), [(8, 21), (8, 68), (16, 21)])
def test_slanted_thick_bands_that_repeat_are_found(rng, thick, angle):
    """Their ridge is a few peaks: the wave of these has their angle."""
    truth = 20 + 0.8 * np.asarray(data.camera(), np.float64)
    y, x = np.mgrid[: len(truth), : len(truth)]
    across = x * np.sin(np.radians(angle)) + y * np.cos(np.radians(angle))
    faulty = truth + 8 * (across % (2 * thick) < thick) + rng.normal(0, 1, truth.shape)
    made, note = repaired(np.clip(np.rint(faulty), 0, 255).astype(np.uint8))
    assert off(made, truth) < 0.7 * off(faulty, truth)
    assert float(re.match(rf"bands of {thick} px at ([\d.]+) degrees", note)[1]) == pytest.approx(angle, abs=0.2)


@pytest.mark.parametrize("kind", ["blurred", "strong", "fields of a table", "slats"])
def test_thick_bands_of_what_is_shown_stay(rng, kind):
    y = np.broadcast_to(np.arange(HEIGHT)[:, None], SCENE.shape)
    is_band = y % 32 < 16
    picture = {
        "blurred": SCENE + 12 * np.clip(np.abs(y % 32 - 16) - 7, 0, 2) / 2,
        "strong": 120 + 70 * is_band + rng.normal(0, 3, SCENE.shape),
        "fields of a table": 235 - 8 * is_band - 200 * ((y % 16 > 4) & (y % 16 < 12) & (rng.random(SCENE.shape) < 0.3)),
        "slats": np.where(is_band, 150 + rng.integers(-9, 10, HEIGHT)[y // 16], SCENE),
    }[kind]
    picture = np.clip(np.rint(picture + rng.normal(0, 0.5, SCENE.shape)), 0, 255).astype(np.uint8)
    np.testing.assert_array_equal(repaired(picture)[0], picture)


def test_what_a_rough_surface_has_at_long_periods_is_no_walk():
    """Its heights vary the more the longer the period, from side to side, too: less of that is taken for the walk."""
    n, parts = 256, []
    f = np.hypot(np.fft.fftfreq(n)[:, None], np.fft.rfftfreq(n))
    f[0, 0] = 1
    for seed in range(4):
        rng = np.random.default_rng(seed)
        surface = np.fft.irfft2(np.fft.rfft2(rng.normal(0, 1, (n, n))) / f**1.6)
        surface = surface * 5 / surface.std() + rng.normal(0, 0.2, (n, n))
        walk = np.cumsum(np.random.default_rng(100 + seed).normal(0, 0.6, n))
        faulty = surface + (walk - np.convolve(np.pad(walk, 60, "edge"), np.ones(121) / 121, "valid"))[:, None]
        made, _ = repaired(faulty.astype(np.float32), 0)
        parts.append(off(made, surface) / off(faulty, surface))
    assert np.mean(parts) < 1.15, parts


def test_lines_that_walk_are_taken_out_with_their_drift(rng):
    surface = rng.normal(0, 0.3, (200, 200))
    made, _ = repaired((surface + rng.normal(0, 0.4, (200, 1)).cumsum(axis=0)).astype(np.float32))
    assert off(made, surface) < 0.2


@pytest.mark.parametrize("factor", [1e-6, 1e30])
def test_a_factor_and_a_level_change_nothing(rng, factor):
    faulty = SCENE + bands(rng, 4)
    plain, _ = repaired((faulty / 255).astype(np.float32), 0)
    made, _ = repaired(((faulty / 255 + 3) * factor).astype(np.float32), 0)
    assert off(made / factor, plain + 3) < 0.05 * off(plain, SCENE / 255)


@pytest.mark.parametrize(("down", "along"), [(1, 60), (1, 24), (2, 25)])
def test_streaks_of_a_texture_stay(down, along):
    """Dunes: lines that are short beside the picture, and do not go on in its other half."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        texture = gaussian_filter(rng.normal(0, 1, (400, 440)), (down, along))
        picture = 120 + 12 * texture / texture.std() + rng.normal(0, 1, texture.shape)
        picture = np.clip(np.rint(picture), 0, 255).astype(np.uint8)
        made, note = repaired(picture)
        assert np.array_equal(made, picture), note


def test_ten_bits_of_sixteen_lose_as_much_as_eight(rng):
    faulty = SCENE + bands(rng, 1, 4.0)
    errors = [
        off(repaired(np.rint(scale * faulty + 200).astype(np.uint16))[0] / scale, SCENE) for scale in (3, 10, 100)
    ]
    assert max(errors) < 1.05 * min(errors)


def test_gains_are_told_from_offsets_and_leave_dark_and_bright_columns_alike(rng):
    truth = np.where(np.arange(400) < 200, 700.0, 21000.0) + np.zeros((300, 1))
    gains = 1 + rng.normal(0, 0.02, (300, 1))
    made, note = repaired(np.rint(truth * gains).astype(np.uint16))
    assert note.startswith("lines at 0 degrees, gains of ")
    for columns in (slice(200), slice(200, 400)):
        assert np.std(made[:, columns].mean(axis=1)) < 0.005 * truth[0, columns].mean()
    made, note = repaired(np.rint(truth + 200 * (gains - 1) / 0.02).astype(np.uint16))
    assert note.startswith("lines at 0 degrees, offsets of ")
    assert off(made, truth) < 60


@pytest.mark.parametrize("name", ["brick", "grass", "chelsea", "moon"])
@pytest.mark.parametrize("rows", [1, 4])
def test_gains_of_little_contrast_are_gains(rng, name, rows):
    """Groups of columns are about as bright as each other: single pixels tell."""
    truth = np.asarray(getattr(data, name)()[:300, :400], np.float64)
    truth = 20 + 0.8 * (truth if truth.ndim == 2 else truth @ [0.299, 0.587, 0.114])
    lines = np.repeat(rng.normal(0, 1, 300), rows)[:300, None]
    for faulty, kind in ((truth * (1 + 0.04 * lines), "gains"), (truth + 4.0 * lines, "offsets")):
        note = repaired(np.clip(np.rint(faulty + rng.normal(0, 1, truth.shape)), 0, 255).astype(np.uint8), 0)[1]
        assert f" at 0 degrees, {kind} of " in note


def test_an_edge_along_most_of_the_rows_is_no_step():
    """The horizon of the photograph: it was taken for a step of the bands, and all below it with it."""
    truth, left = 20 + 0.8 * np.asarray(data.camera(), np.float64), []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        faulty = truth + np.repeat(rng.normal(0, 5, 16), 32)[:, None] + rng.normal(0, 1, truth.shape)
        left.append(off(repaired(np.clip(np.rint(faulty), 0, 255).astype(np.uint8))[0], truth) / off(faulty, truth))
    assert np.mean(left) < 0.46, left


@pytest.mark.parametrize("are_gains", [False, True])
def test_bands_of_one_width_have_a_step_wherever_one_is_due(are_gains):
    """Small ones were missed, and others found between: both leave an error in all rows behind them."""
    truth, left = 20 + 0.8 * np.asarray(data.camera(), np.float64), []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        lines = np.repeat(rng.normal(0, 1, 32), 16)[:, None]
        faulty = truth * (1 + 0.04 * lines) if are_gains else truth + 4 * lines
        faulty = np.clip(np.rint(faulty + rng.normal(0, 1, truth.shape)), 0, 255).astype(np.uint8)
        left.append(off(repaired(faulty)[0], truth) / off(faulty, truth))
    assert np.mean(left) < 0.5, left


def test_a_step_that_groups_show_alike_counts_where_each_row_has_one():
    """Others leave an error in all rows behind them."""
    truth, left = data.astronaut()[:320, :400] @ np.array([0.299, 0.587, 0.114]), []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        faulty = truth * (1 + rng.normal(0, 0.05, (320, 1))) + rng.normal(0, 1, truth.shape)
        left.append(off(repaired(np.clip(np.rint(faulty), 0, 255).astype(np.uint8), 0)[0], truth) / off(faulty, truth))
    assert np.mean(left) < 0.315, left


def test_bright_objects_and_missing_pixels_have_no_part_in_the_lines(rng):
    sky = rng.normal(100.0, 2.0, (300, 400))
    y, x = np.mgrid[:300, :400]
    for row, column in rng.uniform(20, 280, (12, 2)):
        sky += 5000 * np.exp(-((y - row) ** 2 + (x - column) ** 2) / 20)
    faulty = (sky + rng.normal(0, 3, (300, 1))).astype(np.float32)
    faulty[40:80, 100:260] = np.nan
    made, _ = repaired(faulty, 0)
    rows = np.nanmedian(made - sky, axis=1)
    assert np.abs(rows - np.median(rows)).max() < 5
    assert np.array_equal(np.isnan(made), np.isnan(faulty))


@pytest.mark.parametrize("angle", [0, 90, "auto"])
def test_each_block_of_a_sensor_has_lines_of_its_own(rng, angle):
    faulty = SCENE + np.repeat(np.hstack([bands(rng, 2) for _ in range(4)]), WIDTH // 4, axis=1)
    truth, faulty = (SCENE.T, faulty.T) if angle == 90 else (SCENE, faulty)
    faulty = np.clip(np.rint(faulty), 0, 255).astype(np.uint8)
    made, note = repaired(faulty, angle, blocks=4)
    alone = off(repaired(faulty, angle)[0], truth)
    assert off(made, truth) < min(0.3 * off(faulty, truth), alone)
    assert (alone < 0.4 * off(faulty, truth)) == (angle == "auto")  # which finds out that there are parts
    assert note.startswith(f"bands of 2 {'columns at 90' if angle == 90 else 'rows at 0'} degrees in 4 blocks, offsets")
    clean = np.rint(truth).astype(np.uint8)
    assert np.array_equal(repaired(clean, angle, blocks=4)[0], clean)


@pytest.mark.parametrize("unit", [1.0, 1e-6, -300.0])
@pytest.mark.parametrize(("rows", "start", "end"), [(1, 60, 110), (4, 200, 400), (8, 90, 250)])
def test_lines_of_a_part_are_found_with_their_ends(rng, rows, start, end, unit):
    faulty = SCENE + rng.normal(0, 1, SCENE.shape)
    faulty[:, start:end] += bands(rng, rows)
    made, note = repaired(faulty * unit)
    assert off(made / unit, SCENE) < 1 + 0.2 * off(faulty, SCENE)
    said = re.search(
        r"rows at 0 degrees from (\d+)% to (\d+)% of their length|lines at 0 degrees from (\d+)% to (\d+)%", note
    )
    assert [int(each) for each in said.groups() if each] == pytest.approx([start / 4, end / 4], abs=0.6)


def test_a_code_at_the_side_of_a_dark_picture_stays(rng):
    """Bars of 12 rows that are larger than what the rest shows, without its texture."""
    picture = 20 * SCENE
    picture[:, :56] = 200 * np.repeat(np.exp(rng.normal(0, 2, HEIGHT)), 12)[:HEIGHT, None]
    picture = np.rint(np.clip(picture + rng.normal(0, 2, SCENE.shape), 0, 65535)).astype(np.uint16)
    made, note = repaired(picture)
    assert np.array_equal(made, picture), note


def test_lines_of_a_part_of_columns_and_missing_pixels(rng):
    faulty = SCENE.T + rng.normal(0, 1, SCENE.T.shape)
    faulty[100:220] += bands(rng, 1).T
    faulty[40:60, 30:90] = np.nan
    made, note = repaired(faulty)
    assert note.startswith("lines at 90 degrees from 25% to 55% of their length, offsets of ")
    assert np.nanstd(made - SCENE.T) < 1 + 0.2 * np.nanstd(faulty - SCENE.T)
    assert np.array_equal(np.isnan(made), np.isnan(faulty))


def test_gains_of_blocks_are_gains_and_missing_pixels_have_no_part_in_them(rng):
    truth = np.linspace(100, 9000, 400) + rng.normal(0, 5, (300, 1))
    faulty = truth * (1 + np.repeat(rng.normal(0, 0.03, (300, 2)), 200, axis=1))
    faulty[20:60, 50:90] = np.nan
    made, note = repaired(faulty.astype(np.float32), 0, blocks=2)
    assert "lines at 0 degrees in 2 blocks, gains of " in note
    assert np.nanstd(made / truth) < 0.25 * np.nanstd(faulty / truth)


@pytest.mark.parametrize("options", [{"blocks": 1}, {"blocks": 257}, {"blocks": True}, {"blocks": 2, "waves": True}])
def test_blocks_that_mean_nothing_are_refused(options):
    with pytest.raises(ParameterError, match="blocks"):
        H.stripes("auto", **options)


@pytest.mark.parametrize("angle", [12, 101])
def test_slanted_bands_are_taken_out(rng, angle):
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    across = x * np.sin(np.radians(angle)) + y * np.cos(np.radians(angle))
    faulty = SCENE + rng.normal(0, 6, 60)[((across - across.min()) / 16).astype(int)]
    made, note = repaired(np.clip(np.rint(faulty), 0, 255).astype(np.uint8), angle)
    assert off(made, SCENE) < 0.9 * off(faulty, SCENE)
    assert f" at {angle} degrees, offsets of " in note


@pytest.mark.parametrize("turned", [False, True])
def test_bands_of_few_steps_are_named(rng, turned):
    faulty = SCENE + np.repeat([0.0, 14.0, -9.0, 4.0], HEIGHT // 4)[:, None] + rng.normal(0, 1, SCENE.shape)
    made, note = repaired(faulty.T if turned else faulty)
    assert f"bands at {90 if turned else 0} degrees are too wide, with too few steps to tell them from edges" in note
    assert np.array_equal(made.T if turned else made, faulty)
    assert off(repaired(faulty, 0)[0], SCENE) < 0.4 * off(faulty, SCENE)


def test_slanted_bands_are_found(rng):
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    across = x * np.sin(np.radians(70)) + y * np.cos(np.radians(70))
    faulty = np.clip(np.rint(SCENE + rng.normal(0, 6, 60)[(across / 12).astype(int)]), 0, 255).astype(np.uint8)
    made, note = repaired(faulty)
    assert off(made, SCENE) < 0.5 * off(faulty, SCENE)
    assert float(re.match(r"bands of 12 px at ([\d.]+) degrees, offsets", note)[1]) == pytest.approx(70, abs=0.3)


@pytest.mark.parametrize("angle", [0, 90, "auto"])
@pytest.mark.parametrize("name", ["camera", "moon", "brick"])
def test_photographs_and_text_stay_as_they_are(name, angle):
    picture = np.asarray(getattr(data, name)(), np.uint8)
    made, note = repaired(picture, angle)
    assert note.startswith("no stripes are found")
    assert np.array_equal(made, picture)


@pytest.mark.parametrize(
    ("name", "top", "left", "height", "width"),
    [
        ("rocket", 179, 193, 155, 158),  # a few strong edges among many weak ones
        ("moon", 166, 148, 163, 168),  # along a part of the columns
        ("camera", 379, 282, 130, 109),  # legs of a tripod
        ("immunohistochemistry", 24, 169, 100, 264),  # two hills of light
    ],
)
def test_parts_of_photographs_stay(name, top, left, height, width):
    whole = getattr(data, name)()
    gray = whole if whole.ndim == 2 else whole @ [0.299, 0.587, 0.114]
    part = np.rint(gray[top : top + height, left : left + width]).astype(np.uint8)
    made, note = repaired(part)
    assert np.array_equal(made, part), note


def test_lines_of_text_and_of_a_table_stay(rng):
    page, table = np.asarray(data.page()[:, 128:256], np.float64), np.full((300, 420), 240.0)
    for row in (20, 61, 102, 143, 184, 225, 266):
        table[row : row + 2] = 90
    for picture in (page, table, page.T, table.T):
        noisy = np.clip(np.rint(picture + rng.normal(0, 1, picture.shape)), 0, 255).astype(np.uint8)
        assert np.array_equal(repaired(noisy)[0], noisy)


@pytest.mark.parametrize(("pitch", "part", "rule"), [(37, 0.7, 0), (21, 0.7, 21), (30, 0.7, 60)])
def test_pages_of_letters_stay(rng, pitch, part, rule):
    """Lines of text are no wave, and with rules between them no bands: paper between the letters does not move."""
    page = Image.new("L", (480, 400), 215)
    draw, font = ImageDraw.Draw(page), ImageFont.load_default(part * pitch)
    for y in range(12, 400, pitch):
        draw.text((15, y), "".join(rng.choice(list("eta oin shr dlu"), int(760 / part / pitch))), 70, font)
    for y in range(12, 400, rule) if rule else ():
        draw.line([(15, y - 3), (465, y - 3)], int(rng.integers(60, 150)), 2)
    noisy = np.clip(np.rint(np.asarray(page) + rng.normal(0, 2, (400, 480))), 0, 255).astype(np.uint8)
    made, note = repaired(noisy)
    assert np.array_equal(made, noisy), note


@pytest.mark.parametrize("options", [{"channels": "luminance"}, {"depth": 6.0}, {"region": (0, 0, 200, 300)}])
def test_other_options_hold_for_lines(rng, options):
    faulty = np.clip(np.rint(SCENE + bands(rng, 8)), 0, 255).astype(np.uint8)
    whole, _ = repaired(faulty, 0)
    made, _ = repaired(faulty, 0, **options)
    if "depth" in options:
        np.testing.assert_allclose(made, faulty / 2 + whole / 2, atol=1.01)
    elif "region" in options:
        assert np.array_equal(made[:, 200:], faulty[:, 200:])
    else:
        assert np.array_equal(made, whole)


@pytest.mark.parametrize("shape", [(1, 1), (8, 16), (7, 300), (300, 3), (9, 17)])
@pytest.mark.parametrize("picture", [np.zeros, np.ones, np.random.default_rng(0).random])
def test_small_and_flat_pictures_stay_finite(shape, picture):
    for angle, blocks in ((0, None), (90, None), (33, None), ("auto", None), ("auto", 7)):
        assert np.isfinite(repaired(picture(shape).astype(np.float32), angle, blocks)[0]).all()


def test_lines_that_drift_do_not_add_what_rows_have_not():
    brick = np.asarray(data.brick(), float)
    rng = np.random.default_rng(8)
    truth, offsets = 20 + 0.8 * brick + rng.normal(0, 1, brick.shape), np.zeros(len(brick))
    offsets[rng.integers(0, len(brick), 5)] = rng.normal(0, 8, 5)
    faulty = np.clip(np.rint(truth + offsets[:, None]), 0, 255)
    left, _ = repaired(faulty.astype(np.uint8), 0)
    assert np.sqrt(np.square(left - truth).mean()) < 0.7  # 1.1 in the faulty picture, 1.9 with the drift
