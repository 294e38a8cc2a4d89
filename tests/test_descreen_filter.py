"""``descreen``: prints with known screens, pictures and layouts that have none, and the ways that pictures take."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import fftfilter
from fftfilter import transfer as H
from fftfilter.analysis.fit import fitted
from fftfilter.analysis.screens import screens_of
from fftfilter.analysis.wiener import Rings, curve_of_screen
from fftfilter.cli import cli
from fftfilter.descreen_filter import DescreenFilter
from fftfilter.errors import ParameterError
from fftfilter.transfer import Transfer
from fftfilter.transfer.fitted import NOTHING, Band, Curve

SIZE = 128, 160
Y, X = np.mgrid[: SIZE[0], : SIZE[1]]
CLEAN = 128 + 50 * np.sin(X / 17) * np.cos(Y / 13)


def printed(clean, period=5.0, angle=45.0, noise=2.0, bent=0.0):
    """Return soft dots of a screen, whose size follows the picture, on paper that is bent by so many pixels."""
    turn = np.radians(angle)
    u, v = np.cos(turn) / period, np.sin(turn) / period
    x, y = X + bent * np.sin(Y / 25), Y
    spot = (np.cos(2 * np.pi * (u * x + v * y)) + np.cos(2 * np.pi * (u * y - v * x))) / 2
    dots = 255 / (1 + np.exp(-6 * (clean / 127.5 - 1 + spot)))
    return np.clip(dots + np.random.default_rng(5).normal(0, noise, SIZE), 0, 255).round().astype(np.uint8)


PRINT = printed(CLEAN)
AT_RANDOM = np.where(np.random.default_rng(1).random(SIZE) < CLEAN / 255, 220, 35)
ROSETTES = np.stack([printed(CLEAN, angle=angle) for angle in (15, 75, 45)], axis=-1)


def off(got, clean=CLEAN):
    got = got.astype(float)
    return float(np.std(got - clean)) if got.ndim == 2 else float(np.std(got - clean[..., None]))


def run(*words):
    result = CliRunner().invoke(cli, [*map(str, words)])
    return result.exit_code, result.stdout, result.stderr


def test_the_dots_go_and_the_picture_stays():
    made = fftfilter.descreen(PRINT)
    assert made.dtype == np.uint8
    assert off(made) < off(PRINT) / 8
    assert off(made) < 8


def test_a_part_is_descreened_as_by_the_command_and_clipped_samples_are_counted_there(tmp_path):
    edges = ROSETTES.copy()
    edges[20:40, 10:30], edges[60:100, 90:150] = 0, 255
    Image.fromarray(edges).save(tmp_path / "in.png")
    code, _, said = run("descreen", "--region", "0,0,60,128", tmp_path / "in.png", tmp_path / "out.png")
    assert code == 0, said
    assert "clipped to black or white: --depth DB takes less away\n" in said  # there is no --output
    made = fftfilter.descreen(edges, channel_axis=-1, region=(0, 0, 60, 128))
    np.testing.assert_array_equal(made, np.asarray(Image.open(tmp_path / "out.png")))
    np.testing.assert_array_equal(made[:, 60:], edges[:, 60:])
    parts = []
    for region in ({}, {"region": (0, 0, 60, 128)}, {"protect": (0, 0, 60, 128)}):
        filter_ = DescreenFilter.unopened(H.descreen(), region)
        filter_(edges, channel_axis=-1)
        parts += filter_.clipped()
    assert 0 < parts[1] < parts[0]
    assert parts[0] == pytest.approx(parts[1] + parts[2])


@pytest.mark.parametrize(
    ("picture", "line"),
    [
        (CLEAN + 20 * np.sin(X * 1.1), "try notch --auto for waves that do not cross"),
        (CLEAN + 0.004 * (PRINT.astype(float) - CLEAN), "try --strength 10 for a faint one"),
        (CLEAN, "try notch --auto for hum, stripes --auto for lines"),
        (AT_RANDOM, "dots at random, try lowpass --shape gaussian --radius 8px --output keep; wiener for noise"),
        (CLEAN[:20], "160 x 20 pixels are too few to look for periodic structures"),
    ],
)
def test_without_a_screen_there_is_something_to_try(picture, line):
    noisy = picture + np.random.default_rng(2).normal(0, 2, picture.shape)
    with DescreenFilter(H.descreen()) as f:
        f(noisy.round().astype(np.uint8))
        (note,) = f.notes()
    assert note.startswith(f"{NOTHING}; ")
    assert note.endswith(line)


@pytest.mark.parametrize("bent", [1.5, 2.5])
def test_dots_beside_the_middle_of_a_notch_go_too(bent):
    made = fftfilter.descreen(printed(CLEAN, angle=20, bent=bent))
    assert off(made) < 9  # 9.3 to 9.6 with one notch for each wave


def test_a_screen_whose_two_waves_are_drawn_apart_by_bent_paper_is_found():
    bent = printed(CLEAN, angle=60, bent=3)  # 5.16 and 4.82 pixels
    assert off(fftfilter.descreen(bent)) < off(bent) / 8


def test_a_screen_that_only_the_parts_of_strongly_bent_paper_show_is_found():
    y, x = np.mgrid[:320, :320]
    clean = 128 + 40 * np.sin(x / 40) * np.cos(y / 31)
    x, y = x + 8 * np.sin(y / 45 + x / 90), y + 8 * np.sin(x / 45 + y / 80)
    spot = (np.cos(2 * np.pi * (x + y) / 7.1) + np.cos(2 * np.pi * (y - x) / 7.1)) / 2
    bent = (255 / (1 + np.exp(-6 * (clean / 127.5 - 1 + spot)))).round().astype(np.uint8)
    with DescreenFilter(H.descreen()) as f:
        made = f(bent)
        assert "degrees on bent paper: " in f.notes()[0]
    assert np.std(made - clean) < np.std(bent - clean) / 5


LETTERS = np.kron(np.random.default_rng(8).random((32, 20)) < 0.4, np.ones((4, 4)))  # strokes as wide as dots
PAGE = np.hstack([PRINT, 255 - 220 * LETTERS]).astype(np.uint8)


def test_text_and_paper_beside_a_print_stay():
    page = np.dstack([PAGE] * 3)
    with DescreenFilter(H.descreen()) as f:
        made = f(page, channel_axis=-1)
        assert re.search(r"from [67]\d% of the page", f.notes()[0])
    assert off(made[:, :140, 0], CLEAN[:, :140]) < off(PRINT) / 8
    assert np.abs(made[:, 190:].astype(int) - page[:, 190:]).max() <= 2  # 120 without


def test_a_faint_print_that_is_not_found_without_the_rest_of_the_page_has_the_waves_of_the_page():
    page = np.full(SIZE, 255.0)
    page[:40, :110] = (CLEAN + 0.03 * (printed(CLEAN, period=3.0) - CLEAN))[:40, :110]
    page = (page + np.random.default_rng(2).normal(0, 4, SIZE)).clip(0, 255).round()
    _, note, dots = screens_of(page[None] / 255, H.descreen(strength=12).parts[0])
    assert dots
    assert re.match(r"screen of 3\.0\d px, 1 ink at 4\d degrees: 2 waves ", note)


@pytest.mark.parametrize("turned", [np.s_[:, ::-1], np.s_[::-1]])
def test_a_mirrored_page_becomes_the_mirrored_result(turned):
    page = PAGE[:-1, 4:]  # its sides are no multiples of any cell's
    made = fftfilter.descreen(page[turned])[turned]
    assert np.abs(made.astype(int) - fftfilter.descreen(page)).max() <= 1  # 29 and 49 if cells begin at a corner


def test_flat_parts_are_smoothed_more_than_detail():
    bars = np.where(X > 90, 128 + 90 * np.sign(np.sin(X / 4)), 128.0)
    given = printed(bars, noise=12)
    gained = {}
    transfer, *_ = screens_of(given[None] / 255, H.descreen().parts[0])
    plain = Transfer(tuple(replace(part, bands=()) if isinstance(part, Curve) else part for part in transfer.parts))
    for name, each in (("by place", transfer), ("everywhere", plain)):
        with DescreenFilter(each) as f:
            made = f(given).astype(float)
        gained[name] = np.std(made[20:-20, 20:70]), np.std(made[20:-20, 100:-10])
        assert abs(made.mean() - given.mean()) < 1
    assert gained["by place"][0] < 0.8 * gained["everywhere"][0]
    assert gained["by place"][1] > gained["everywhere"][1]


def blurred(plane, deviation):
    """Return a plane behind a Gaussian blur, with mirrored edges."""
    whole = np.pad(plane, [(0, side) for side in plane.shape], "symmetric")
    squares = np.add.outer(*(np.fft.fftfreq(side) ** 2 for side in whole.shape))
    made = np.fft.ifft2(np.fft.fft2(whole) * np.exp(-2 * np.pi**2 * deviation**2 * squares)).real
    return made[: plane.shape[0], : plane.shape[1]]


@pytest.mark.parametrize(("channels", "depth"), [(1, None), (2, None), (3, None), (3, 20)])
def test_each_band_of_detail_is_smoothed_by_its_power_in_a_place(channels, depth, rng):
    """As it is done here, for each plane alone: of colors the brightness, red - blue, and green against both."""
    own = [
        (Band(1.0, noise=2e-4, before=3e-3, usual=0.6, kept=0.25), Band(2.0, noise=1e-4, before=4e-4, usual=0.5)),
        (Band(1.0, noise=1e-4, before=1e-3, usual=0.3), Band(2.0, noise=0, before=2e-4, usual=0.7, kept=0.5)),
        (Band(1.0, noise=0, before=2e-3, usual=0.9), Band(2.0, noise=1e-5, before=1e-4, usual=0.4)),
    ]
    # Noise of which each channel has more in another part.
    picture = 0.5 + 0.1 * rng.standard_normal((3, 24, 40))
    picture[0, :, :20] *= 0.6
    picture[1, :12] *= 0.4
    planes = picture[:channels]
    s, t, v = np.sqrt(1 / 3), np.sqrt(1 / 2), np.sqrt(1 / 6)
    mix = np.array([[s, s, s], [t, 0, -t], [-v, 2 * v, -v]]) if channels == 3 else np.eye(channels)
    mixed = np.tensordot(mix, planes, 1)
    floor, smooth = 0.1 if depth else 0, mixed.copy()
    for i in range(channels):
        above = mixed[i]
        for blur, noise, before, usual, kept in own[i]:
            below = blurred(above, blur)
            power = np.maximum(blurred((above - below) ** 2, 2.5 * blur) - noise, 0)
            gain = np.minimum(power / (power + before), 1.25 * usual)
            change = (above - below) * ((kept + (1 - kept) * gain) / (kept + (1 - kept) * usual) - 1)
            smooth[i] += change - change.mean()
            above = below
    wanted = np.tensordot(mix.T, floor * mixed + (1 - floor) * smooth, 1)
    passes = {"octaves": (-20.0, 0.0), "gains": (1.0, 1.0)}
    transfer = Transfer(tuple(Curve(**passes, channels=(i,), bands=own[i]) for i in range(channels)))
    with DescreenFilter(transfer, depth=depth) as f:
        got = f(2 * planes.astype(np.float32), channel_axis=0, white=2)
        assert f.extremes() == [pytest.approx((2 * wanted.min(), 2 * wanted.max()), abs=1e-4)]
    np.testing.assert_allclose(got, wanted, atol=2e-5)
    assert np.abs(wanted - planes).max() > 0.05


@pytest.mark.parametrize("period", [8, 13])
def test_coarse_sharp_dots_of_a_smooth_picture_are_no_drawn_pattern(camera, period):
    clean = 90 + camera[100:356, 100:420] / 6
    y, x = (np.mgrid[:768, :960] + 0.5) / 3
    u, v = np.cos(0.7) / period, np.sin(0.7) / period
    spot = (np.cos(2 * np.pi * (u * x + v * y)) + np.cos(2 * np.pi * (u * y - v * x))) / 2
    dots = 255 * (spot > 1 - clean.repeat(3, 0).repeat(3, 1) / 127.5).reshape(256, 3, 320, 3).mean((1, 3))
    assert off(fftfilter.descreen(dots.astype(np.uint8)), clean) < off(dots, clean) / 15


def test_colors_have_a_screen_each():
    with DescreenFilter(H.descreen()) as f:
        made = f(ROSETTES, channel_axis=-1)
        (note,) = f.notes()
    assert off(made) < off(ROSETTES) / 8
    said = re.fullmatch(r"screen of 5\.00 px, 3 inks at 15, 45 and 75 degrees: (\d+) waves are removed", note)
    assert int(said[1]) > 6


@pytest.mark.parametrize(("period", "angle", "words"), [(2.6, 43, ", 1 ink at 47 degrees"), (2.92, 43, "")])
def test_combinations_of_waves_are_no_inks(period, angle, words):
    """Harder dots than a scan has: sampling folds their multiples back to about the screen's period."""
    with DescreenFilter(H.descreen()) as f:
        f(printed(CLEAN, period, angle))
        assert f.notes()[0].startswith(f"screen of {period:.2f} px{words}: ")


def test_what_has_no_detail_is_smoothed_more_than_a_usual_print():
    rings = Rings.of(*SIZE)
    f = np.append(0, 2**rings.octaves)[rings.of_bins]
    power = np.where(f < 0.02, 1e4, 1).astype(np.float32)
    curve = curve_of_screen(rings, power, np.ones_like(power), screen=0.2)
    assert np.interp(np.log2(0.03), curve.octaves, curve.gains) < 0.4  # at 0.15 of the screen's frequency


def test_colors_are_smoothed_more_than_the_brightness():
    transfer, *_ = screens_of(np.stack([PRINT, PRINT]) / 255, H.descreen().parts[0])
    brightness, color = (part for part in transfer.parts if isinstance(part, Curve))
    assert (brightness.channels, color.channels) == ((0,), (1,))
    assert color.half > 1.8 * brightness.half


def test_notches_take_the_mirror_images_of_waves_out_as_well():
    bent = printed(CLEAN, angle=20, bent=2.5)  # whose waves have several notches each
    transfer, note, _ = screens_of(bent[None] / 255, H.descreen().parts[0])
    notches = [part for part in transfer.parts if part.kind == "notch"]
    assert len(notches) > int(re.search(r"(\d+) waves", note)[1])
    assert all(part.mirrored for part in notches)


def test_a_screen_that_is_weaker_than_what_is_asked_for_stays():
    assert screens_of(PRINT[None] / 255, H.descreen(strength=70).parts[0]).transfer == Transfer(())


def test_as_a_part_of_a_filter_the_screen_of_the_brightness_is_looked_for():
    assert fitted(H.descreen(), np.stack([CLEAN, PRINT, CLEAN]), 255).parts
    assert fitted(H.descreen(), np.stack([CLEAN, CLEAN, CLEAN]), 255).parts == ()


def test_kept_detail_lies_between_smoothing_and_notches():
    np.testing.assert_array_equal(fftfilter.descreen(PRINT), fftfilter.descreen(PRINT, keep_detail=0))
    soft, half, sharp = (fftfilter.descreen(PRINT, keep_detail=part).astype(float) for part in (0, 50, 100))
    assert np.abs(half - (soft + sharp) / 2).max() <= 2
    assert np.std(np.diff(sharp)) > np.std(np.diff(soft))
    _, note, _ = screens_of(PRINT[None] / 255, H.descreen(keep_detail=100).parts[0])
    assert re.fullmatch(r"screen of 5\.00 px, 1 ink at 45 degrees: \d+ waves are removed", note)


def test_less_than_no_detail_is_smoother():
    plain, smooth = (fftfilter.descreen(PRINT, keep_detail=part).astype(float) for part in (0, -50))
    assert np.std(np.diff(smooth)) < np.std(np.diff(plain))
    with pytest.raises(ParameterError, match="from -50 to 100"):
        fftfilter.descreen(PRINT, keep_detail=-51)


@pytest.mark.parametrize("period", [1.71, 2.0])
def test_fine_screens_are_taken(period):
    """175 and 150 lpi at 300 dpi."""
    scan = printed(CLEAN, period, 45)
    with DescreenFilter(H.descreen()) as f:
        made = f(scan)
        (note,) = f.notes()
    assert note.startswith(f"screen of {period:.2f} px, ")
    assert off(made, CLEAN) < off(scan, CLEAN) / 2


def test_a_screen_has_to_be_as_strong_as_is_said():
    np.testing.assert_array_equal(fftfilter.descreen(PRINT, strength=100), PRINT)
    with DescreenFilter(H.descreen(20, 30), engine="book") as f:
        assert repr(f) == "DescreenFilter(H.descreen(20.0, keep_detail=30.0), engine='book')"


def test_a_depth_leaves_a_part_of_what_is_taken():
    made, half = fftfilter.descreen(PRINT), fftfilter.descreen(PRINT, depth=20 * np.log10(2))
    assert np.abs(half - (made + PRINT.astype(float)) / 2).max() <= 1


def layouts():
    yield "a picture", CLEAN.astype(np.uint8)
    yield "noise", np.random.default_rng(3).integers(0, 256, SIZE, dtype=np.uint8)
    yield "a constant", np.full(SIZE, 7, np.uint8)
    yield "squared paper", np.where((X % 8 == 0) | (Y % 8 == 0), 90, 230).astype(np.uint8)
    yield "windows", np.where((X % 20 < 9) & (Y % 24 < 11), 60, 200).astype(np.uint8)
    yield "few pixels", PRINT[:20]


@pytest.mark.parametrize(("name", "picture"), [*layouts()])
def test_a_picture_without_a_screen_stays_as_it_is(name, picture):
    with DescreenFilter(H.descreen()) as f:
        made = f(picture)
        assert np.array_equal(made, picture), name
        assert not np.shares_memory(made, picture)
        assert (f.notes()[0].partition(";")[0], f.weak(), f.clipped()) == (NOTHING, 0, [0])
        assert f.extremes() == [(picture.min(), picture.max())]
        assert f(picture, levels=100).max() <= 100


@pytest.mark.parametrize("filter_", [DescreenFilter(H.descreen()), fftfilter.Filter(Transfer(()), auto=True)])
@pytest.mark.parametrize("picture", [CLEAN.astype(np.int64) + 2**60, CLEAN.astype(np.uint64) + np.uint64(2**63)])
def test_without_anything_to_remove_whole_numbers_stay_that_no_float_holds(filter_, picture):
    np.testing.assert_array_equal(filter_(picture), picture)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
def test_all_types_keep_their_levels(dtype):
    largest = 1 if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max
    made = fftfilter.descreen((PRINT * (largest / 255)).astype(dtype)).astype(float)
    assert np.abs(made * (255 / largest) - fftfilter.descreen(PRINT)).max() <= 1.5


@pytest.mark.parametrize("white", [1e-300, 1e300])
def test_floats_of_any_size_are_parts_of_their_white(white):
    made = fftfilter.descreen(PRINT / 255 * white, white=white)
    assert np.allclose(made, fftfilter.descreen(PRINT / 255), rtol=0, atol=1e-5)


def test_a_stack_is_descreened_one_by_one_and_so_is_a_stream():
    other = printed(CLEAN, 6.0, 20)
    with DescreenFilter(H.descreen()) as f:
        alone = [f(PRINT), f(other)]
        assert np.array_equal(f(np.stack([PRINT, other])), alone)
        assert [len(each) for each in (f.notes(), f.extremes(), f.clipped())] == [2, 2, 2]
        assert np.array_equal(list(f.stream([PRINT, other])), alone)
        assert np.array_equal(pickle.loads(pickle.dumps(f))(PRINT), alone[0])  # noqa: S301  our own
        other_engine = f.with_options(engine="stockham")(PRINT).astype(int)
        assert (np.abs(other_engine - alone[0]) > 0).sum() <= 4  # values next to the edge between two levels
        assert np.abs(other_engine - alone[0]).max() <= 1


def test_what_is_not_for_it_is_refused():
    for name, value in (("output", "real"), ("scale", (0, 1)), ("edges", "wrap")):
        with pytest.raises(ParameterError, match=f"{name} .* is not for descreen"):
            DescreenFilter(H.descreen(), **{name: value})
    with pytest.raises(ParameterError, match="NaN"):
        fftfilter.descreen(np.full(SIZE, np.nan))
    with pytest.raises(ParameterError, match=r"^descreen knows no missing pixels: fill them$"):
        fftfilter.descreen(PRINT, missing=PRINT > 200)
    with DescreenFilter(H.descreen(), engine="book") as f, pytest.raises(ParameterError, match="leave observe out"):
        f(PRINT, observe=print)


def test_the_command_says_what_it_takes_and_its_output_is_right(tmp_path):
    given, out = tmp_path / "print.png", tmp_path / "clean.png"
    Image.fromarray(ROSETTES).save(given)
    code, told, said = run("descreen", "--verify", "--preview", tmp_path / "page.png", given, out)
    assert (code, said.count("\n")) == (0, 1)
    assert said.startswith(f"{given}: screen of 5.00 px, 3 inks at ")
    assert told.startswith(f"{out}: off by at most ")
    assert np.array_equal(np.asarray(Image.open(out)), fftfilter.descreen(ROSETTES, channel_axis=-1))
    assert run("descreen", "-q", given, out) == (0, "", "")
    assert run("descreen", "--notch", "0.1,0.1", given, out)[0] == 2
    assert run("descreen", "--strength", "3", given, out)[0] == 2


def test_pages_and_folders_are_descreened_file_by_file(tmp_path):
    stack, folder = tmp_path / "stack.tif", tmp_path / "in"
    pages = [Image.fromarray(PRINT), Image.fromarray(printed(CLEAN, 6.0, 20)), Image.fromarray(CLEAN.astype(np.uint8))]
    pages[0].save(stack, save_all=True, append_images=pages[1:])
    code, _, said = run("descreen", "-v", "--verify", stack, tmp_path / "out.tif")
    assert code == 0
    assert "page 2: screen of 6.00 px, 1 ink at " in said
    assert f"page 3: {NOTHING}" in said
    folder.mkdir()
    for i, page in enumerate(pages):
        page.save(folder / f"{i}.png")
    code, _, said = run("descreen", "--verify", "--report", tmp_path / "report.jsonl", folder, tmp_path / "out")
    assert code == 0
    assert NOTHING in said
    assert "screen of 6.00 px" in (tmp_path / "report.jsonl").read_text()
    for i, page in enumerate(pages):
        assert np.array_equal(Image.open(tmp_path / "out" / f"{i}.png"), fftfilter.descreen(np.asarray(page)))
