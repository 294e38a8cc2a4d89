"""``peaks`` and ``notch --auto``: what is printed, and what is removed."""

from __future__ import annotations

import json
import math
import re
import shlex
from types import SimpleNamespace

import numpy as np
import pytest
import tifffile
from PIL import Image

from fftfilter import filter_stack
from fftfilter import transfer as H
from fftfilter.analysis.found import Harmonic, Peak
from fftfilter.analysis.search import AutoNotches, Left, peaks_text
from fftfilter.commands.one_file import say_of
from fftfilter.commands.peaks import table
from fftfilter.filters import Filter
from fftfilter.folders import mean_spectrum
from tests.helpers import SAMPLES

NONE = "no periodic structure of 18 dB or more, 24 if it has fewer than 16 periods"
WEAKER = ": try --strength 10 for weaker ones"
TRY = "try stripes --auto for lines, descreen for the dots of a print"


def wave(size, fx, fy, amplitude=20.0):
    height, width = size
    return amplitude * np.cos(2 * np.pi * (fx * np.arange(width) + fy * np.arange(height)[:, None]))


@pytest.fixture
def save(tmp_path):
    """Write a picture; returns its path."""

    def save(name, values, **options):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(np.clip(np.rint(values), 0, 255).astype(np.uint8)).save(path, **options)
        return path

    return save


@pytest.fixture
def disturbed(camera, save):
    """The photograph under a wave, and the same without."""
    clean = 0.7 * camera + 38
    return save("disturbed.png", clean + wave(clean.shape, 0.123, 0.047)), clean


def psnr(path, clean):
    with Image.open(path) as picture:
        return 10 * np.log10(255**2 / np.mean((np.asarray(picture, float) - clean) ** 2))


def test_peaks_prints_a_table_and_the_command_that_removes_them(run, disturbed, tmp_path):
    path, clean = disturbed
    code, out, err = run("peaks", path)
    assert (code, err) == (0, "")
    header, row, blank, command = out.decode().splitlines()
    assert header.split() == ["period", "angle", "fx", "fy", "strength", "amplitude", "harmonics"]
    assert row.split()[:5] == ["7.60", "px", "69.1", "0.12298", "0.04700"]
    assert (blank, command[:15]) == ("", "fftfilter notch")
    arguments = shlex.split(command)[1:-1]
    assert arguments[-1] == str(path)
    assert run(*arguments, tmp_path / "out.png") == (0, b"", "")
    assert psnr(tmp_path / "out.png", clean) > 40


def test_the_command_removes_harmonics_too(run, save, rng, tmp_path):
    size = (128, 128)
    waves = wave(size, 0.125, 0.0625) + wave(size, 0.25, 0.125, 10)
    command = run("peaks", save("scan.png", rng.normal(128, 2, size) + waves))[1].decode().splitlines()[-1]
    assert run(*shlex.split(command)[1:-1], tmp_path / "out.png") == (0, b"", "")
    assert psnr(tmp_path / "out.png", np.full(size, 128)) > 35


def test_as_json_all_is_known(run, disturbed):
    _, out, _ = run("peaks", "--json", disturbed[0])
    found = json.loads(out)
    (peak,) = found["peaks"]
    assert (peak["fx"], peak["fy"]) == (pytest.approx(0.123, abs=1e-4), pytest.approx(0.047, abs=1e-4))
    assert (peak["period_px"], peak["angle_deg"]) == (pytest.approx(7.595, abs=5e-3), pytest.approx(69.1, abs=0.1))
    assert peak["strength_db"] > 30
    assert (found["width"], found["height"], found["pictures"], found["pixel_size_m"]) == (512, 512, 1, None)


def test_a_photograph_has_none(run):
    camera = SAMPLES / "camera.pgm"
    assert run("peaks", camera) == (0, f"{camera}: {NONE}{WEAKER}\n".encode(), "")
    assert run("peaks", camera, SAMPLES / "brick.png")[:2] == (0, f"2 pictures: {NONE}{WEAKER}\n".encode())
    assert json.loads(run("peaks", "--json", SAMPLES / "camera.pgm")[1])["peaks"] == []


def test_a_scan_that_says_its_resolution_has_lines_per_inch(run, save):
    path = save("scan.png", 128 + wave((128, 128), 0.25, 0), dpi=(600, 600))
    columns = [line.split() for line in run("peaks", path)[1].decode().splitlines()[:2]]
    assert columns[0][:3] == ["period", "length", "lpi"]
    assert columns[1][:5] == ["4.00", "px", "0.1693", "mm", "150.0"]
    columns = [line.split() for line in run("peaks", "--pixel-size", "65nm", path)[1].decode().splitlines()[:2]]
    assert (columns[0][:3], columns[1][2:4]) == (["period", "length", "angle"], ["0.26", "um"])


def test_of_a_folder_the_mean_is_searched(run, save, rng):
    sizes = [(128, 128)] * 3 + [(100, 150), (40, 40)]
    for i, size in enumerate(sizes):
        dpi = (600, 600) if i < 3 else (300, 300)
        path = save(f"scans/{i}.png", rng.normal(128, 10, size) + wave(size, 0.2, 0.3, 10), dpi=dpi)
    alike = json.loads(run("peaks", "--json", *(path.parent / f"{i}.png" for i in range(2)))[1])
    np.testing.assert_allclose(alike["pixel_size_m"], 0.0254 / 600, rtol=1e-4)
    (path.parent / "bad.png").write_bytes(b"\x89PNG")
    code, out, err = run("peaks", "--json", path.parent)
    found = json.loads(out)
    assert (code, found["pictures"], found["width"], found["height"]) == (1, 4, 128, 100)
    assert found["pixel_size_m"] is None  # as they differ
    assert [round(peak["fx"], 3) for peak in found["peaks"]] == [0.2]
    assert err.splitlines()[1:] == [
        "fftfilter: mean of 4 pictures; 4 larger ones cropped to their middle 128 x 100, 1 too small and left out"
    ]
    assert "bad.png" in err
    assert run("peaks", "-q", path.parent)[2].count("\n") == 1  # that file alone


def test_files_whose_pixels_cannot_be_had_are_left_out_of_the_mean_and_told(run, save, rng, monkeypatch):
    for i in range(4):
        path = save(f"scans/{i}.png", rng.integers(0, 256, (64, 64)))
    cut = path.with_name("1.png")
    cut.write_bytes(cut.read_bytes()[:2000])
    opened = mean_spectrum.opened

    def with_little_memory(name, asked):
        if name.endswith("2.png"):
            raise MemoryError
        return opened(name, asked)

    monkeypatch.setattr(mean_spectrum, "opened", with_little_memory)
    code, out, err = run("peaks", "--json", path.parent)
    assert (code, json.loads(out)["pictures"]) == (1, 2)
    first, second = err.splitlines()
    assert first.startswith(f"fftfilter: {cut}: ")
    assert second == f"fftfilter: {path.parent}/2.png: out of memory; take a smaller image"


def test_which_files_of_a_folder_are_searched(run, save, rng, tmp_path):
    for name, side in (("in/a.png", 40), ("in/b.tif", 40), ("in/sub/c.png", 48)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        save(name, rng.normal(128, 9, (side, side)))
    folder = tmp_path / "in"
    for words, count in (((), 2), (("-r",), 3), (("--pattern", "*.png"), 1), (("-r", "--pattern", "*.png"), 2)):
        code, out, err = run("peaks", "--json", "-q", *words, folder)
        assert (code, json.loads(out)["pictures"], err) == (0, count, "")
    assert "2 larger ones cropped" not in run("peaks", "-q", "-r", folder)[2]
    assert "1 larger one" in run("peaks", "-r", folder)[2]


def test_a_folder_without_a_picture_to_search_is_told(run, tmp_path):
    assert run("peaks", tmp_path)[::2] == (2, f"fftfilter: {tmp_path}: no picture to search for peaks\n")
    (tmp_path / "bad.png").write_bytes(b"\x89PNG")
    code, _, said = run("peaks", tmp_path)
    assert (code, said.count("bad.png"), said.count("no picture to search for peaks")) == (1, 1, 1)


def test_the_pages_that_are_asked_for_say_how_large_the_pictures_of_a_folder_are(run, rng, tmp_path):
    """Of each file the first page is larger than the second one, or smaller."""
    for name, *sizes in (("a.tif", (96, 96), (64, 72)), ("b.tif", (40, 40), (80, 64))):
        pages = [Image.fromarray(rng.integers(0, 256, size, dtype=np.uint8)) for size in sizes]
        pages[0].save(tmp_path / name, save_all=True, append_images=pages[1:])
    for page, wanted in (("1", (40, 40)), ("2", (64, 64)), ("2-", (64, 64))):
        code, out, err = run("peaks", "--json", "--pages", page, tmp_path)
        found = json.loads(out)
        assert (code, found["pictures"], (found["width"], found["height"])) == (0, 2, wanted), err
    # Of one file the pages that are as large as the first.
    found = json.loads(run("peaks", "--json", tmp_path / "a.tif")[1])
    assert (found["pictures"], found["width"], found["height"]) == (1, 96, 96)
    assert run("notch", "--auto", "folder", "--pages", "2", tmp_path, tmp_path / "out")[0] == 0
    assert run("peaks", "--pages", "3", tmp_path)[2].count("and no page 3") == 2


def test_the_pages_of_a_file_are_searched_and_cleaned_together(run, rng, tmp_path):
    size, stack = (512, 512), tmp_path / "stack.tif"
    clean = [rng.normal(128, 5, size) for _ in range(3)]
    pages = [Image.fromarray(np.rint(each + wave(size, 0.25, 0.3125)).astype(np.uint8)) for each in clean]
    pages[0].save(stack, save_all=True, append_images=pages[1:])
    found = json.loads(run("peaks", "--json", stack)[1])
    assert (found["pictures"], [round(peak["fx"], 3) for peak in found["peaks"]]) == (3, [0.25])
    assert json.loads(run("peaks", "--json", "--pages", "2-3", stack)[1])["pictures"] == 2
    assert run("notch", "--auto", "-q", stack, tmp_path / "out.tif")[0] == 0
    (tmp_path / "in").mkdir()
    stack.rename(tmp_path / "in" / "stack.tif")
    assert run("notch", "--auto", "-q", tmp_path / "in", tmp_path / "out")[0] == 0
    for made in (tmp_path / "out.tif", tmp_path / "out" / "stack.tif"):
        with Image.open(made) as picture:
            for i, each in enumerate(clean):
                picture.seek(i)
                assert 10 * np.log10(255**2 / np.mean((np.asarray(picture, float) - each) ** 2)) > 40


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["peaks"], "Missing argument 'IN...'"),
        (["peaks", "--strength", "3", "a.png"], "strength 3 is invalid"),
        (["peaks", "-r", str(SAMPLES / "camera.pgm")], "--recursive is for a folder"),
        (["notch", "a.png", "b.png"], "no peak is given"),
        (
            ["notch", "--strength", "20", "--at", "0.1,0.1", "a.png", "b.png"],
            "--strength is for the waves that --auto",
        ),
        (["notch", "--auto", "folder", "a.png", "b.png"], "--auto folder is for folders"),
        (["notch", "--keep", "0.1,0.1", "--at", "0.1,0.1", "a.png", "b.png"], "--keep is for the waves that --auto"),
        (["lowpass", "--insist", "a.png", "b.png"], "--insist is for the waves that --auto"),
        (["lowpass", "--longest", "9", "a.png", "b.png"], "--longest is for the waves that --auto"),
        (
            ["notch", "--auto", "--longest", "0", "a.png", "b.png"],
            "longest 0 leaves nothing to remove: give a number above 0",
        ),
        (["notch", "--auto", "--largest", "nan", "a.png", "b.png"], "largest nan leaves nothing to remove"),
        (["descreen", "--auto", "a.png", "b.png"], "No such option '--auto'"),
        (
            ["notch", "--auto", "--keep", "0.1", "a.png", "b.png"],
            "keep '0.1' is not a wave: give FX,FY, such as 0.123,0.047",
        ),
        (["notch", "--auto", "--keep", "nan,0", "a.png", "b.png"], "keep 'nan,0' is not a wave: give FX,FY"),
        (["notch", "--auto", "--keep", "0.1,9", "a.png", "b.png"], "keep '0.1,9' is not a wave: give FX,FY"),
    ],
)
def test_what_means_nothing_is_refused(run, arguments, message):
    code, _, err = run(*arguments)
    assert code == 2
    assert message in err


def test_auto_removes_what_is_found_as_who_knows_it(run, disturbed, tmp_path):
    path, clean = disturbed
    code, out, err = run("notch", "--auto", "-v", path, tmp_path / "auto.png")
    assert (code, out) == (0, b"")
    assert err.startswith(f"{path}: removed 7.60 px at 69.1 degrees (36 dB, 20.3 levels)\n")
    run("notch", "--at", "0.123,0.047", path, tmp_path / "truth.png")
    assert psnr(tmp_path / "auto.png", clean) > psnr(tmp_path / "truth.png", clean) - 1


@pytest.mark.parametrize("edges", ["wrap", "mirror"])
def test_waves_and_fine_detail_are_removed_in_one_run(run, disturbed, edges, tmp_path):
    path, clean = disturbed
    recipe, smooth = tmp_path / "recipe.json", ("lowpass", "--radius", "4px", "--output", "keep", "--edges", edges)
    Image.fromarray(np.rint(clean).astype(np.uint8)).save(tmp_path / "clean.png")
    assert run(*smooth, tmp_path / "clean.png", tmp_path / "wanted.png")[0] == 0
    code, verified, err = run(*smooth, "--auto", "--verify", "--save-recipe", recipe, path, tmp_path / "out.png")
    assert (code, err) == (0, f"{path}: removed 7.60 px at 69.1 degrees (36 dB, 20.3 levels)\n")
    assert re.search(rb"off by at most [01] of 255 levels", verified)
    with Image.open(tmp_path / "wanted.png") as wanted:
        assert psnr(tmp_path / "out.png", np.asarray(wanted, float)) > 38
    assert run("apply", recipe, path, tmp_path / "again.png")[0] == 0
    assert (tmp_path / "again.png").read_bytes() == (tmp_path / "out.png").read_bytes()


def test_waves_beyond_a_limit_stay(run, disturbed, tmp_path):
    path, _ = disturbed
    for limit in ("--longest=7", "--largest=15"):
        code, _, err = run("notch", "--auto", limit, path, tmp_path / "out.png")
        assert (code, err) == (0, f"fftfilter: {path}: {NONE}: no wave is removed: {TRY}\n")
    code, _, err = run("notch", "--auto", "--longest=8", "--largest=25", path, tmp_path / "out.png")
    assert (code, err.split(": removed ")[1][:7]) == (0, "7.60 px")


def test_of_one_picture_the_mean_of_its_folder_removes_what_a_search_does(run, save, rng, tmp_path):
    """At mirrored edges, of a wave that is only attenuated, too."""
    save("in/a.png", rng.normal(128, 5, (90, 110)) + wave((90, 110), 0.203, 0.107))
    outputs = set()
    for options in ([], ["--depth", "6"], ["--shape", "ideal"]):
        made = []
        for auto in (["--auto"], ["--auto", "folder"]):
            keep = ("--output", "keep", "--edges", "mirror", *options)
            assert run("notch", *auto, *keep, tmp_path / "in", tmp_path / "out")[0] == 0
            made.append((tmp_path / "out/a.png").read_bytes())
        assert made[0] == made[1]
        outputs.add(made[0])
    assert len(outputs) == 3


def test_where_nothing_is_found_pixels_stay(run, camera, tmp_path):
    for name, values in (("in.png", camera), ("in.tif", camera.astype(np.float32) / 3)):
        Image.fromarray(values).save(tmp_path / name)
        code, _, err = run("notch", "--auto", tmp_path / name, tmp_path / f"out-{name}")
        assert (code, err) == (
            0,
            f"fftfilter: {tmp_path / name}: {NONE}: no wave is removed: {TRY}\n",
        )
        with Image.open(tmp_path / f"out-{name}") as picture:
            assert (np.asarray(picture) == values).all()
    run("notch", "--auto", "-q", "--strength", "40", tmp_path / "in.png", tmp_path / "again.png")
    assert run("notch", "--auto", "-q", tmp_path / "in.png", "-")[2] == ""


@pytest.mark.parametrize("how", [[], ["each"], ["folder"]], ids=str)
def test_a_folder_is_cleaned_by_file_or_by_the_mean(run, save, rng, how, tmp_path):
    size = (512, 512)
    clean = [rng.normal(128, 5, size) for _ in range(3)]
    save("in/0.png", clean[0] + wave(size, 0.25, 0.3125))
    save("in/1.png", clean[1] + wave(size, 0.4375, 0.125))
    save("in/2.png", clean[2])
    report = tmp_path / "report.jsonl"
    code, _, err = run("notch", "--auto", *how, "-v", "--report", report, tmp_path / "in", tmp_path / "out")
    assert code == 0
    assert all(psnr(tmp_path / "out" / f"{i}.png", clean[i]) > 40 for i in range(3))
    lines = {line["input"][-5:]: line for line in map(json.loads, report.read_text().splitlines())}
    found = [lines[f"{i}.png"]["peaks"] for i in range(3)]
    if how == ["folder"]:
        assert "3 pictures: removed" in err
        assert found == [None, None, None]
    else:
        assert [[round(peak["fx"], 3) for peak in each] for each in found] == [[0.25], [0.438], []]
        assert f"{tmp_path}/in/0.png -> {tmp_path}/out/0.png: done, without 2.50 px at " in err
        assert f"fftfilter: 1 file: {NONE}: no wave is removed" in err
        assert (tmp_path / "out" / "2.png").stat().st_size > 0


@pytest.mark.parametrize("pages", [1, 2])
def test_floats_without_peaks_stay_to_the_last_bit(run, rng, tmp_path, pages):
    """As one file, in a folder, and in Python; a filter that has filtered another file says nothing of this one."""
    (tmp_path / "in").mkdir()
    floats = rng.normal(0.5, 0.01, (pages, 64, 64)).astype(np.float32)
    tifffile.imwrite(tmp_path / "in" / "a.tif", floats, photometric="minisblack")
    report = tmp_path / "report.jsonl"
    assert run("notch", "--auto", tmp_path / "in" / "a.tif", tmp_path / "one.tif")[0] == 0
    assert run("notch", "--auto", "--report", report, tmp_path / "in", tmp_path / "out")[0] == 0
    assert (
        filter_stack(tmp_path / "in" / "a.tif", tmp_path / "two.tif", H.Transfer(()), output="keep", edges="wrap")
        == pages
    )
    for name in ("one.tif", "out/a.tif", "two.tif"):
        assert tifffile.imread(tmp_path / name).tobytes() == floats.tobytes()
    assert json.loads(report.read_text().splitlines()[0])["extremes"] == [0, pytest.approx(floats.max())]


def test_a_picture_of_a_folder_that_is_too_small_to_be_searched_stays_and_is_told(run, save, rng, tmp_path):
    path = save("in/icon.png", rng.normal(128, 5, (20, 20)))
    save("in/scan.png", rng.normal(128, 5, (64, 64)))
    code, _, err = run("notch", "--auto", tmp_path / "in", tmp_path / "out")
    line = f"1 file: {path}: 20 x 20 pixels are too few to look for periodic structures: no wave is removed"
    assert (code, f"fftfilter: {line}\n" in err, "2 of 2 files filtered" in err) == (0, True, True)
    with Image.open(path) as given, Image.open(tmp_path / "out" / "icon.png") as made:
        assert (np.asarray(given) == np.asarray(made)).all()


def test_a_wave_of_few_periods_is_found_where_it_is_strong_enough_for_what_is_said(run):
    wall = SAMPLES / "brick.png"
    assert "of 18 dB or more, 24 if it has fewer than 16 periods" in run("peaks", wall)[1].decode()
    assert "21.8 dB" in run("peaks", "--strength", "15", wall)[1].decode()


def test_what_was_found_in_a_file_is_said_in_a_line_or_two(capsys):
    auto = AutoNotches(20.0)
    waves = [
        SimpleNamespace(
            period_px=10.0,
            angle_deg=90.0,
            strength_db=30.0,
            amplitude=float(i),
            amount=f"{i}.0 levels",
            is_in_all=True,
            harmonics=(),
        )
        for i in range(1, 7)
    ]
    left = "like a part of the picture, such as text or windows, and stay: --insist removes them\n"
    nothing = "no periodic structure of 20 dB or more, 26 if it has fewer than 16 periods: no wave is removed: try "

    def said(peaks, content, *, quiet=False, verbose=0, auto=auto):
        opened = SimpleNamespace(
            name="a.png",
            transfer=H.Transfer(()),
            too_few=None,
            pattern="",
            recipe=SimpleNamespace(auto=auto),
            peaks=peaks,
            left=Left(content),
        )
        say_of(opened, quiet=quiet, verbose=verbose)
        return capsys.readouterr().err

    assert said(waves, 0).count("10.00 px at 90.0 degrees") == 4
    assert said(waves, 0).endswith(" and 2 more\n")
    assert said(waves[:4], 0).count("10.00 px") == 4
    assert said(waves, 0, verbose=1).count("10.00 px") == 6
    assert said(waves[:1], 2) == f"fftfilter: a.png: 2 waves look {left}a.png: removed {peaks_text(waves[:1])}\n"
    assert said([], 1) == f"fftfilter: a.png: 1 wave looks {left.replace('stay', 'stays').replace('them', 'it')}"
    assert not said([], 0)  # until waves along rows are looked for, too
    limited = auto._replace(longest=9.0)
    assert said([], 0, auto=limited).startswith(f"fftfilter: a.png: {nothing}")
    assert said(waves, 2, quiet=True) == said(None, 0, auto=None) == ""


def test_a_picture_that_is_too_small_to_be_searched_is_refused(run, save, tmp_path):
    path = save("icon.png", np.zeros((20, 64)))
    line = f"fftfilter: {path}: 64 x 20 pixels are too few to look for periodic structures: give at least 32 a side\n"
    assert run("notch", "--auto", path, tmp_path / "out.png") == (1, b"", line)
    assert run("peaks", path) == (1, b"", line)
    assert not (tmp_path / "out.png").exists()


def test_of_the_files_of_a_folder_it_is_said_once_that_waves_stay(run, save, tmp_path, monkeypatch):
    monkeypatch.setattr(AutoNotches, "peaks", lambda *_: ([], Left(2)))
    for i in range(2):
        save(f"in/{i}.png", np.zeros((64, 64)))
    words = ("--processes", 1, tmp_path / "in", tmp_path / "out")
    code, _, err = run("notch", "--auto", *words)
    line = "fftfilter: 2 files: waves that look like a part of the picture stay: --insist removes them"
    assert (code, err.splitlines()[0]) == (0, line)
    # A file that cannot be read is told once, although it is tried twice.
    (tmp_path / "in/bad.png").write_bytes(b"\x89PNG")
    for options in (), ("-q",):
        code, _, err = run("notch", "--auto", "folder", *options, *words)
        assert (code, err.count("bad.png")) == (1, 1), err


def test_of_several_the_command_has_in_for_their_names_and_quotes_that_of_one(run, save):
    scan = save("my scan.png", 128 + wave((64, 64), 0.25, 0.125))
    assert run("peaks", scan)[1].decode().splitlines()[-1].endswith(f" {shlex.quote(str(scan))} OUT")
    assert run("peaks", scan, scan)[1].decode().splitlines()[-1].endswith("cyc IN OUT")


def test_in_json_lengths_are_in_meters_if_the_size_of_a_pixel_is_known(run, save):
    scan = save("scan.png", 128 + wave((64, 64), 0.25, 0))
    found = json.loads(run("peaks", "--json", "--strength", "20", "--pixel-size", "65nm", scan)[1])
    assert (found["strength_db"], found["pixel_size_m"]) == (20, [65e-9, 65e-9])
    assert found["peaks"][0]["period_m"] == pytest.approx(4 * 65e-9, rel=1e-3)
    assert "period_m" not in json.loads(run("peaks", "--json", scan)[1])["peaks"][0]
    code, _, said = run("peaks", "--pixel-size", "0.2arcsec", scan)
    assert (code, "--pixel-size 0.2arcsec is an angle, and periods are lengths: give one, or none." in said) == (
        2,
        True,
    )


def test_the_table_has_lines_per_inch_for_pixels_of_prints_and_channels_of_colors():
    first = Peak(0.25, 0.0, 30.04, 5.06, 0.01)
    harmonics = Harmonic((2,), first), Harmonic((1, -1), first)
    second = Peak(0.1, 0.2, 20, 4, 0.01, channels=(1, 2), searched=3, harmonics=harmonics)
    names = ["period", "angle", "fx", "fy", "strength", "amplitude", "harmonics"]
    assert [line.split() for line in table([first], None).splitlines()] == [
        names,
        ["4.00", "px", "90.0", "0.25000", "0.00000", "30.0", "dB", "5.1"],
    ]
    assert table([first], (4.9e-6, 4.9e-6)).split()[:3] == ["period", "length", "angle"]
    header, row = (line.split() for line in table([second], (5e-6, 1e-5)).splitlines())
    assert header == ["period", "length", "lpi", *names[1:6], "channels", "harmonics"]
    assert row[:5] == ["4.47", "px", "35.36", "um", "718.4"]  # 1 / hypot(0.1 / 5 um, 0.2 / 10 um)
    assert row[5:] == ["26.6", "0.10000", "0.20000", "20.0", "dB", "4.0", "green", "blue", "2", "1-1"]


def test_the_command_for_channels_of_their_own_is_that_of_folders_for_several(run, save, rng):
    noise = rng.normal(128, 5, (64, 64, 3))
    scan = save("in/a.png", noise + wave((64, 64), 0.25, 0.125)[..., None] * (1, 0, 0))
    for names, auto in (((scan,), "--auto"), ((scan, scan), "--auto folder"), ((scan.parent,), "--auto folder")):
        last = run("peaks", *names)[1].decode().splitlines()[-1]
        shown = names[0] if len(names) == 1 else "IN"
        assert last == f"fftfilter notch {auto} {shown} OUT  # each from its own channels only"


# Color

SCREENS = {"red": (0.123, 0.047), "green": (0.2, -0.11), "blue": (0.05, 0.19)}


@pytest.fixture
def color(save):
    """A photograph in which each channel is under a wave of its own, and the same without."""
    with Image.open(SAMPLES / "astronaut.png") as picture:
        clean = 0.7 * np.asarray(picture, float) + 38
    waves = [wave(clean.shape[:2], *at) for at in SCREENS.values()]
    return save("color.png", clean + np.stack(waves, axis=-1)), clean


def test_each_channel_is_restored_as_by_who_knows_its_wave(run, color, tmp_path):
    path, clean = color
    out, page = tmp_path / "out.png", tmp_path / "page.png"
    code, verified, err = run("notch", "--auto", "-v", "--verify", "--preview", page, path, out)
    assert code == 0
    assert re.fullmatch(rf"{out}: off by at most [01] of 255 levels, in \d+ of 786432 samples.*\n", verified.decode())
    assert sorted(re.findall(r"levels\) in (\w+)", err)) == sorted(SCREENS)
    assert Image.open(page).size[0] > 1000
    truth = math.prod((H.notch(at, channels=(i,)) for i, at in enumerate(SCREENS.values())), start=H.Transfer(()))
    with Image.open(path) as picture, Filter(truth, output="keep", edges="wrap") as notch:
        Image.fromarray(notch(np.asarray(picture), channel_axis=-1)).save(tmp_path / "truth.png")
    assert psnr(out, clean) > psnr(tmp_path / "truth.png", clean) - 1


def test_peaks_says_whose_they_are_and_how_to_remove_them_there(run, color, tmp_path):
    path, clean = color
    _, out, _ = run("peaks", "--strength", "20", path)
    header, *rows, blank, of_all, of_each = out.decode().splitlines()
    assert header.split()[-2:] == ["channels", "harmonics"]
    assert sorted(row.split()[-1] for row in rows) == sorted(SCREENS)
    assert (blank, of_each) == (
        "",
        f"fftfilter notch --auto --strength 20 {path} OUT  # each from its own channels only",
    )
    for i, line in enumerate((of_all, of_each)):
        arguments = shlex.split(line, comments=True)[1:-1]
        assert run(*arguments, "-q", tmp_path / f"{i}.png") == (0, b"", "")
    assert psnr(tmp_path / "1.png", clean) > psnr(tmp_path / "0.png", clean) + 1


@pytest.mark.parametrize("how", ["each", "folder", "pages"])
def test_channels_of_many_are_filtered_by_themselves_as_well(run, color, how, tmp_path):
    path, _ = color
    run("notch", "--auto", path, tmp_path / "wanted.png")
    (tmp_path / "in").mkdir()
    with Image.open(path) as picture:
        if how == "pages":
            picture.save(tmp_path / "in" / "0.tif", save_all=True, append_images=[picture])
        else:
            [picture.save(tmp_path / "in" / f"{i}.png") for i in range(2)]
    report, options = tmp_path / "report.jsonl", [] if how == "pages" else [how]
    code, said, err = run(
        "notch", "--auto", *options, "-v", "--verify", "--report", report, tmp_path / "in", tmp_path / "out"
    )
    assert (code, said.count(b"off by at most"), " in red" in err) == (0, 1 if how == "pages" else 2, True)
    with Image.open(tmp_path / "wanted.png") as wanted:
        for made in (tmp_path / "out").iterdir():
            if made.suffix in (".png", ".tif"):
                with Image.open(made) as picture:
                    assert (np.asarray(picture) == np.asarray(wanted)).all()
    parts = json.loads(report.read_text().splitlines()[0])["filter"]["parts"]
    assert sorted(part["channels"] for part in parts) == [[0], [1], [2]]


def test_a_gray_picture_in_color_is_filtered_as_a_gray_one(run, disturbed, tmp_path):
    path, _ = disturbed
    with Image.open(path) as picture:
        picture.convert("RGB").save(tmp_path / "rgb.png")
    assert run("peaks", tmp_path / "rgb.png")[1].splitlines()[-1].startswith(b"fftfilter notch --at")
    _, _, err = run("notch", "--auto", "-v", tmp_path / "rgb.png", tmp_path / "out.png")
    assert " in red" not in err
    run("notch", "--auto", path, tmp_path / "wanted.png")
    with Image.open(tmp_path / "out.png") as got, Image.open(tmp_path / "wanted.png") as wanted:
        assert (np.asarray(got) == np.asarray(wanted)[..., None]).all()


def test_what_has_one_scale_for_all_channels_is_filtered_alike(run, color, tmp_path):
    path, _ = color
    code, _, err = run("notch", "--auto", "-v", "--verify", "--output", "signed", path, tmp_path / "out.png")
    assert (code, " in red" in err) == (0, False)


@pytest.mark.parametrize(
    ("arguments", "of_folder"),
    [
        (["notch", "--auto", "--longest", "500"], False),
        (["notch", "--auto", "--longest", "500"], True),
        (["notch", "--auto", "folder"], True),
        (["highpass", "--preview", "{}/page.png"], False),
        (["highpass", "--preview", "{}/page.png"], True),
    ],
    ids=["peaks of a file", "of a folder, each", "of a folder, all", "a page", "a contact sheet"],
)
def test_large_pictures_are_transformed_by_the_device_that_is_asked_for(
    run, disturbed, tmp_path, monkeypatch, arguments, of_folder
):
    from fftfilter import transforms
    from fftfilter.analysis import power

    devices = []

    def rfft2(plane, *, device):
        devices.append(device)
        return np.fft.rfft2(plane).astype(np.complex64)

    monkeypatch.setattr(transforms, "rfft2", rfft2)
    monkeypatch.setattr(power, "LARGE", 1 << 16)
    (tmp_path / "in").mkdir()
    scan = disturbed[0].rename(tmp_path / "in" / "scan.png")
    names = [tmp_path / "in", tmp_path / "out"] if of_folder else [scan, tmp_path / "out.png"]
    assert run(*(each.format(tmp_path) for each in arguments), "--device", "cpu", "-q", *names)[0] == 0
    assert set(devices) == {"cpu"}
