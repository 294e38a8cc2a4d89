"""Folders: which files, what becomes of them, and what is said. Faults are made for real."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from fftfilter import images, transfer
from fftfilter.cli import cli
from fftfilter.device.launcher import Launcher
from fftfilter.device.opencl import Device
from fftfilter.errors import DeviceError, TooLargeError, WriteError
from fftfilter.files import atomic
from fftfilter.files.sources import Folder
from fftfilter.files.urls import Url
from fftfilter.filters import Filter
from fftfilter.folders import batch, journal
from fftfilter.folders.batch import Batch
from fftfilter.folders.jobs import Job, Settings, Tree, is_inside, natural
from fftfilter.folders.pool import Workers, close_batch
from fftfilter.folders.run import FolderRun
from fftfilter.work.recipe import Recipe
from tests.folders.helpers import JOURNAL, command, digest, here, names, pgm, process, same
from tests.helpers import SAMPLES, Started, needs_links, needs_posix


@pytest.fixture
def run():
    def run(*arguments):
        result = CliRunner().invoke(cli, [str(a) for a in arguments])
        return result.exit_code, result.stdout, result.stderr

    return run


def alone(run, source, target, *options):
    """Filter one file and return its bytes."""
    assert run("highpass", "-q", *options, source, target) == (0, "", "")
    return target.read_bytes()


# Every file as if it were alone


def test_a_folder_gives_what_each_file_gives_alone(run, tmp_path, rng):
    """Stacks, sizes in turn, color, alpha, 16 bits, floats, metadata: the bytes of single runs."""
    given, out, single = (tmp_path / name for name in ("in", "out", "single"))
    given.mkdir()
    single.mkdir()
    for i in range(9):
        pgm(given / f"gray {i}.pgm", i)
        pgm(given / f"other size {i}.pgm", i, 9, 7)
    for i, shape in enumerate([(8, 12), (8, 12, 3), (8, 12, 4), (8, 12, 2), (30, 20, 3)]):
        Image.fromarray(rng.integers(0, 256, shape, dtype=np.uint8)).save(given / f"p{i}.png", dpi=(300, 300))
    Image.fromarray(rng.integers(0, 65536, (8, 12), dtype=np.uint16)).save(given / "deep.png")
    Image.fromarray(rng.integers(0, 9, (8, 12), dtype=np.uint16)).save(given / "deep and dark.png")
    Image.fromarray(rng.random((8, 12), dtype=np.float32)).save(given / "float.tif")
    Image.fromarray(rng.integers(0, 256, (16, 12, 3), dtype=np.uint8)).save(given / "photo.jpg")
    (given / "maxval.pgm").write_bytes(b"P2 3 2 100 0 50 100 100 0 50")
    code, _, said = run("highpass", given, out)
    assert code == 0, said
    assert names(out) == names(given)
    for name in names(given):
        assert (out / name).read_bytes() == alone(run, given / name, single / name), name


def test_pictures_as_narrow_as_color_has_channels(run, tmp_path):
    for i in range(6):
        pgm(tmp_path / "in" / f"{i}.pgm", i, 8, 4)
    options = ("--engine", "book", "-q")
    assert run("highpass", *options, tmp_path / "in", tmp_path / "out") == (0, "", "")
    for i in (0, 5):
        assert (tmp_path / "out" / f"{i}.pgm").read_bytes() == alone(
            run, tmp_path / "in" / f"{i}.pgm", tmp_path / "alone.pgm", "--engine", "book"
        )


def test_pictures_of_one_size_and_another_white_are_filtered_as_each_alone(run, tmp_path):
    """With one white for a stack of them, the scale of the first would be that of all."""
    given = tmp_path / "in"
    for i, white in enumerate((255, 100, 200, 65535, 1000)):
        path = pgm(given / f"{i}.pgm", i, 10, 12)
        bytes_a_sample = 1 if white < 256 else 2
        pixels = np.random.default_rng(i).integers(0, white + 1, (10, 12)).astype(f">u{bytes_a_sample}")
        path.write_bytes(b"P5\n12 10\n%d\n" % white + pixels.tobytes())
    for options in (("--output", "keep"), ("--scale", "0:40"), ()):
        for extension in ("png", "pgm"):
            out = tmp_path / extension
            words = ("highpass", "-q", "--processes", "1", "--format", extension, *options)
            assert run(*words, given, out) == (0, "", "")
            for path in given.iterdir():
                target = tmp_path / f"alone.{extension}"
                assert (out / f"{path.stem}.{extension}").read_bytes() == alone(run, path, target, *options)


def test_a_dark_picture_is_no_noise_beside_a_bright_one(run, tmp_path):
    """Rounding noise is measured against the brightest of a stack: the dark one is done again, alone."""
    given = tmp_path / "in"
    given.mkdir()
    dark, bright = np.zeros((64, 64), np.uint16), np.full((64, 64), 65535, np.uint16)
    dark[5, 5] = 3
    Image.fromarray(dark).save(given / "dark.png")
    Image.fromarray(bright).save(given / "bright.png")
    options = ("--radius", "2")
    assert run("lowpass", *options, given, tmp_path / "out")[0] == 0
    assert run("lowpass", *options, given / "dark.png", tmp_path / "dark.png")[0] == 0
    assert (tmp_path / "out/dark.png").read_bytes() == (tmp_path / "dark.png").read_bytes()
    assert np.asarray(Image.open(tmp_path / "out/dark.png")).max() == 65535


def test_what_users_may_not_expect_is_said_once_for_all_files(run, tmp_path):
    given = tmp_path / "in"
    given.mkdir()
    for i in range(3):
        pgm(given / f"{i}.pgm", i)
    options = ("lowpass", "--radius", "0.5px", "--processes", 1, given, tmp_path / "out")
    line = "fftfilter: 3 files: radius 0.5px lies beyond the highest frequency: the lowpass passes everything"
    assert run(*options)[2].splitlines()[0] == line
    assert run(*options, "-q") == (0, "", "")
    options = ("highpass", "--scale", "-40:40", "--processes", 1, given, tmp_path / "out")
    line = "fftfilter: scale -40:40 begins below 0, where no magnitude is: nothing becomes black"
    assert run(*options)[2].splitlines()[0] == line
    assert run(*options, "-q") == (0, "", "")


@pytest.mark.parametrize("scale", ["0:40", "-10:300.5"])
def test_a_given_scale_means_the_same_for_a_file_and_a_folder(run, tmp_path, scale):
    given = pgm(tmp_path / "in/a.pgm").parent
    pgm(given / "b.pgm", 1)
    assert run("highpass", "--scale", scale, given, tmp_path / "out")[0] == 0
    for name in ("a.pgm", "b.pgm"):
        single = alone(run, given / name, tmp_path / name, "--scale", scale)
        assert (tmp_path / "out" / name).read_bytes() == single


def test_a_given_scale_is_in_gray_levels_of_the_input(run, tmp_path):
    """Everything passes a low-pass of a large radius, so levels 0, 20, 40, 255 are the values themselves."""
    (tmp_path / "in.pgm").write_bytes(b"P5\n4 1\n255\n" + bytes([0, 20, 40, 255]))
    assert run("lowpass", "--radius", "9", "--scale", "0:40", tmp_path / "in.pgm", tmp_path / "out.pgm")[0] == 0
    assert (tmp_path / "out.pgm").read_bytes()[-4:] == bytes([0, 127, 255, 255])


def test_one_scale_for_a_folder_keeps_its_pictures_comparable(run, tmp_path):
    given = tmp_path / "in"
    given.mkdir()
    (given / "dark.pgm").write_bytes(b"P5\n4 1\n255\n" + bytes([0, 20, 40, 50]))
    (given / "bright.pgm").write_bytes(b"P5\n4 1\n255\n" + bytes([0, 20, 100, 200]))
    (given / "bad.pgm").write_bytes(b"")
    report = tmp_path / "report.jsonl"
    words = ("lowpass", "--radius", "9", "--scale", "folder", "-v", "--report", report)
    code, _, said = run(*words, given, tmp_path / "out")
    assert (code, said.count("bad.pgm"), said.count(" -> ")) == (1, 1, 2)  # once of each file that is read twice
    # 200 is white in both.
    assert (tmp_path / "out/dark.pgm").read_bytes()[-4:] == bytes([0, 25, 51, 63])
    assert (tmp_path / "out/bright.pgm").read_bytes()[-4:] == bytes([0, 25, 127, 255])
    lines = {Path(line["input"]).name: line for line in map(json.loads, report.read_text().splitlines())}
    assert lines["dark.pgm"]["extremes"] == pytest.approx([0, 50], abs=1e-3)
    assert lines["dark.pgm"]["scale"]["high"] * 255 == pytest.approx(200)


# Which files


def test_the_tree_is_kept_and_what_is_no_image_is_counted(run, tmp_path):
    given, out = tmp_path / "in", tmp_path / "out"
    for name in ("a.pgm", "deep/er/b.PGM", "deep/c.pgm", ".hidden.pgm", ".hidden/d.pgm", "deep/.e.pgm"):
        pgm(given / name)
    for name in ("notes.txt", "deep/more.txt", "raw"):
        (given / name).write_text("not an image")
    (given / "empty").mkdir()
    code, stdout, said = run("highpass", given, out)
    assert (code, stdout, names(out)) == (0, "", ["a.pgm"])
    assert "2 folders not entered (-r does)" in said
    code, _, said = run("highpass", "-r", given, out)
    assert code == 0
    assert names(out) == ["a.pgm", "deep/c.pgm", "deep/er/b.PGM"]
    assert "3 of 3 files" in said
    assert "3 of other types left out (2 .txt, 1 no extension)" in said
    assert not (out / "empty").exists()
    assert run("highpass", "-r", "-q", given, out) == (0, "", "")


def test_of_what_is_no_image_the_five_most_frequent_types_are_named(run, tmp_path):
    pgm(tmp_path / "in/a.pgm")
    for count_, extension in enumerate("edcba", start=1):
        for i in range(1 + count_):
            (tmp_path / f"in/{i}.{extension}").touch()
    (tmp_path / "in/once.z").touch()
    said = run("highpass", tmp_path / "in", tmp_path / "out")[2]
    assert "; 21 of other types left out (6 .a, 5 .b, 4 .c, 3 .d, 2 .e); by this process" in said


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_left_out_by_what_it_is(run, tmp_path):
    pgm(tmp_path / "in" / "a.pgm")
    (tmp_path / "in" / "b.txt").touch()
    for name in ("c.pgm", "d.txt"):
        os.mkfifo(tmp_path / "in" / name)
    code, _, said = run("highpass", tmp_path / "in", tmp_path / "out")
    assert (code, names(tmp_path / "out")) == (0, ["a.pgm"])
    assert "3 of other types left out (2 pipe or device, 1 .txt)" in said


def test_masks_that_the_recipe_names_are_no_pictures_of_the_folder(run, tmp_path):
    pgm(tmp_path / "in" / "a.pgm")
    mask = Image.new("L", (12, 8), 255)
    for name in ("mine.png", "a-filtered-region-0a1b2c3d.png", "a-region.png"):  # the second one by explore
        mask.save(tmp_path / "in" / name)
    source, target = tmp_path / "in", tmp_path / "out"
    code, _, said = run("lowpass", "--output", "keep", "--region", source / "mine.png", source, target)
    assert (code, names(target)) == (0, ["a-region.png", "a.pgm"])
    assert "2 of other types left out (2 mask)" in said


def test_a_pattern_chooses_by_name_or_by_path(run, tmp_path):
    given = tmp_path / "in"
    for name in ("a_raw.pgm", "a.pgm", "x/b_raw.pgm", "y/b_raw.pgm"):
        pgm(given / name)
    assert run("highpass", "-r", "--pattern", "*_raw.pgm", given, tmp_path / "1")[0] == 0
    assert names(tmp_path / "1") == ["a_raw.pgm", "x/b_raw.pgm", "y/b_raw.pgm"]
    assert run("highpass", "-r", "--pattern", "x/*", given, tmp_path / "2")[0] == 0
    assert names(tmp_path / "2") == ["x/b_raw.pgm"]


def test_patterns_add_up_and_one_that_fits_nothing_is_told(run, tmp_path):
    given = tmp_path / "in"
    for name in ("a.pgm", "b.pgm", "x/c.pgm"):
        pgm(given / name)
    assert run("highpass", "-r", "-q", "--pattern", "a*", "--pattern", "x/*", given, tmp_path / "out")[0] == 0
    assert names(tmp_path / "out") == ["a.pgm", "x/c.pgm"]
    code, _, said = run("highpass", "--pattern", "*.tif", given, tmp_path / "none")
    assert (code, said.count("\n")) == (0, 1)
    assert ": none fits --pattern *.tif" in said
    assert not (tmp_path / "none").exists()


def test_a_report_may_go_to_standard_output_and_says_what_the_default_cutoff_was(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = pgm(tmp_path / "in/a.pgm", 0, 64, 80).parent
    pgm(given / "b.pgm", 0, 9, 7)
    code, out, said = run("highpass", "-v", "--scale", "0:1", "--report", "-", given, tmp_path / "out")
    lines = [json.loads(line) for line in out.splitlines()]
    assert all(line["clipped"] > 0.5 for line in lines)
    assert [f", {line['clipped']:.2%} clipped\n" in said for line in lines] == [True, True]
    assert (code, [line["filter"]["radius"] for line in lines]) == (0, ["8", "0.875"])
    assert not (tmp_path / "-").exists()
    assert "radius n/8 = 8;" in run("highpass", "-v", given / "a.pgm", tmp_path / "a.pgm")[2]


def test_natural_order(run, tmp_path):
    given = tmp_path / "in"
    for name in ("img10.pgm", "img9.pgm", "IMG1.pgm", "b2/x.pgm", "b10/x.pgm"):
        pgm(given / name)
    _, out, _ = run("highpass", "-r", "-n", given, tmp_path / "out")
    order = [line.split(" -> ")[0].removeprefix(f"{given}/") for line in out.splitlines() if " -> " in line]
    assert order == ["IMG1.pgm", "img9.pgm", "img10.pgm", "b2/x.pgm", "b10/x.pgm"]
    assert sorted(["a", "B", "A", "a01", "a1"], key=natural) == ["A", "a", "a01", "a1", "B"]
    order = ["1", "a", "a0", "a1", "a9.", "a10", "a10 ", "a100", "a 1", "a b", "a.1", "aa"]
    assert sorted(set(order), key=natural) == order
    assert not (tmp_path / "out").exists()


def test_a_dry_run_looks_at_headers_and_says_what_a_picture_takes(run, tmp_path):
    (tmp_path / "in").mkdir()
    for name, header in {"a.ppm": b"P6 3000 2000 65535 ", "b.pgm": b"P5 3000 2000 255 "}.items():
        (tmp_path / "in" / name).write_bytes(header)
    words = ("-n", "--preview", tmp_path / "sheet.png")
    color, gray, device, files = run("highpass", *words, tmp_path / "in", tmp_path / "out")[1].splitlines()
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    assert ": 3000 x 2000 gray, 8 bits; 162.6 MB of memory; " in gray
    assert ": 3000 x 2000 color, 16 bits; 264.6 MB of memory; " in color
    small, large = (float(re.search(r"; ([0-9.]+) MB on the device$", line)[1]) for line in (gray, color))
    assert 2 * small < large
    takes, has = re.fullmatch(r"on .+: at most ([0-9.]+) MB of ([0-9.,]+) MB for one picture", device).groups()
    assert float(takes) == large < float(has.replace(",", ""))
    said = run("highpass", "-n", "--device", "cpu,cpu", tmp_path / "in", tmp_path / "out")[1]
    assert re.search(r"\non (.+), \1: at most [0-9.]+ MB of ", said)
    assert files == "2 files"


def test_the_first_files_say_how_large_all_are(tmp_path, monkeypatch):
    monkeypatch.setattr("fftfilter.folders.run.FILES_MEASURED", 2)
    sizes = [pgm(tmp_path / "in" / f"{i}.pgm").stat().st_size for i in range(5)]
    made = FolderRun(Tree(tmp_path / "in"), tmp_path / "out", Settings(Recipe(transfer.highpass())))
    made.survey()
    assert (made.found.files, made.found.bytes) == (5, 5 * sizes[0])


@needs_links
def test_links_are_followed_but_not_in_circles(run, tmp_path):
    given, out = tmp_path / "in", tmp_path / "out"
    pgm(given / "sub/a.pgm")
    pgm(tmp_path / "elsewhere/b.pgm")
    (given / "sub/up").symlink_to(given)
    (given / "sub/self").symlink_to(given / "sub")
    (given / "circle").symlink_to(given / "circle")
    (given / "other").symlink_to(tmp_path / "elsewhere")
    (given / "broken.pgm").symlink_to(tmp_path / "nothing.pgm")
    code, _, said = run("highpass", "-r", given, out)
    assert (code, said.count("\n")) == (1, 2)
    assert "broken.pgm: cannot be read: no such file" in said
    assert names(out) == ["other/b.pgm", "sub/a.pgm"]


def test_output_inside_the_input_is_not_read_back(run, tmp_path):
    given = pgm(tmp_path / "in/a.pgm").parent
    for _ in range(2):
        assert run("highpass", "-r", given, given / "out")[0] == 0
        assert names(given) == ["a.pgm", "out/a.pgm"]


@pytest.mark.parametrize(
    "name", ["white space.pgm", "Grüße 猫 \U0001f408.pgm", "two\nlines.pgm", "-dash.pgm", "q'\".pgm"]
)
def test_names_of_all_kinds(run, tmp_path, name):
    given = pgm(tmp_path / "in" / name).parent
    assert run("highpass", "-q", given, tmp_path / "out") == (0, "", "")
    assert names(tmp_path / "out") == [name]
    assert run("highpass", "--skip-existing", given, tmp_path / "out")[2].startswith("0 of 1 files")
    for options in ("-n", "-q"), ("--verify", "1"):
        assert run("highpass", *options, given, tmp_path / "out")[1].count("\n") == 1
    (given / name).write_bytes(b"rubbish")
    code, _, said = run("highpass", "-q", given, tmp_path / "out")
    assert (code, said.count("\n")) == (1, 1)
    code, _, said = run("highpass", "-n", "-q", given, tmp_path / "out")
    assert (code, said.count("\n")) == (1, 1)


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes")
def test_a_name_that_is_no_text(tmp_path):
    given = tmp_path / "in"
    given.mkdir()
    (given / os.fsdecode(b"\xff.pgm")).write_bytes(pgm(tmp_path / "a.pgm").read_bytes())
    report = tmp_path / "report.jsonl"
    done = process("-v", given, tmp_path / "out", "--report", report)
    assert done.returncode == 0, done.stderr
    assert names(tmp_path / "out") == [os.fsdecode(b"\xff.pgm")]
    assert json.loads(report.read_text())["status"] == "done"


def test_another_format(run, tmp_path):
    given = pgm(tmp_path / "in/a.pgm").parent
    Image.new("RGB", (8, 8), (9, 99, 200)).save(given / "b.jpg")
    Image.new("1", (8, 8), 1).save(given / "c.pbm")
    assert "1 .pbm" in run("highpass", given, tmp_path / "kept")[2]
    assert run("highpass", "--format", "png", given, tmp_path / "out")[0] == 0
    assert names(tmp_path / "out") == ["a.png", "b.png", "c.png"]
    assert run("highpass", "--format", ".TIF", given, tmp_path / "tif")[0] == 0
    assert names(tmp_path / "tif") == ["a.tif", "b.tif", "c.tif"]
    assert Image.open(tmp_path / "out/a.png").format == "PNG"
    assert run("highpass", "--format", "xyz", given, tmp_path / "out")[0] == 2


def test_a_folder_that_is_called_as_a_picture_takes_the_outputs_if_it_is_there(run, tmp_path):
    given, out = pgm(tmp_path / "in/a.pgm").parent, tmp_path / "out.png"
    assert run("highpass", given, out)[0] == 2
    out.mkdir()
    assert run("highpass", "-q", given, out) == (0, "", "")
    assert names(out) == ["a.pgm"]


# Refused before anything runs


def test_two_inputs_for_one_output_are_refused(run, tmp_path):
    given = pgm(tmp_path / "in/deep/a.pgm").parent.parent
    Image.new("L", (8, 8)).save(given / "deep/a.jpg")
    code, _, said = run("highpass", "-r", "--format", "png", given, tmp_path / "out")
    assert (code, said.count("\n")) == (2, 1)
    assert "deep/a.jpg and deep/a.pgm would both become deep/a.png" in said
    assert not (tmp_path / "out").exists()


@needs_links
def test_inputs_are_not_overwritten(run, tmp_path):
    given = pgm(tmp_path / "all/in/a.pgm").parent
    before = (given / "a.pgm").read_bytes()
    assert run("highpass", given, given)[0] == 2
    (tmp_path / "link").symlink_to(given)
    assert run("highpass", given, tmp_path / "link")[0] == 2
    # The output of in/in/a.pgm would be in/a.pgm.
    pgm(given / "in/a.pgm", 1)
    code, _, said = run("highpass", "-r", given, tmp_path / "all")
    assert (code, "among the inputs" in said) == (2, True)
    (tmp_path / "out").mkdir()
    pgm(given / "b.pgm", 2)
    (tmp_path / "out/b.pgm").symlink_to(given / "a.pgm")
    code, _, said = run("highpass", given, tmp_path / "out")
    assert (code, "among the inputs, or is a link to one" in said) == (1, True)
    assert (given / "a.pgm").read_bytes() == before
    assert run("highpass", "--in-place", given, given)[0] == 0
    assert (given / "a.pgm").read_bytes() != before
    assert not (given / JOURNAL).exists()  # its inputs are gone


def test_a_folder_is_inside_another_by_its_path_not_by_its_letters(tmp_path):
    for name in "in/inner", "in2", "out":
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "out/way").symlink_to(tmp_path / "in/inner")
    within = [
        name
        for name in ("in", "in/inner", "in/new", "in2", "out", "out/way")
        if is_inside(tmp_path / name, tmp_path / "in")
    ]
    assert within == ["in", "in/inner", "in/new", "out/way"]
    urls = [Url(f"s3://{name}") for name in ("b/in", "b/in/inner/", "b/in2", "b")]
    assert [is_inside(url, Url("s3://b/in/")) for url in urls] == [True, True, False, False]
    assert not is_inside(tmp_path, Url("s3://b"))


def test_a_folder_beside_the_input_whose_name_begins_alike_takes_the_outputs(run, tmp_path):
    given = pgm(tmp_path / "in/a.pgm").parent
    (tmp_path / "in2").mkdir()
    (tmp_path / "out").symlink_to("in2")
    (tmp_path / "in2/a.pgm").symlink_to(tmp_path / "in2/b.pgm")
    for out in "in2", "out":
        assert run("highpass", "-q", given, tmp_path / out) == (0, "", ""), out


@pytest.mark.parametrize("within", [False, True], ids=["beside the input", "within it"])
def test_links_in_an_output_folder_never_lead_into_the_input(run, tmp_path, within):
    given = tmp_path / "in"
    for name in "a", "b", "sub/a":
        pgm(given / f"{name}.pgm")
    before = {path: path.read_bytes() for path in given.rglob("*.pgm")}
    out = given / "out" if within else tmp_path / "out"
    out.mkdir()
    (out / "a.pgm").symlink_to(given / "b.pgm")
    code, _, said = run("highpass", "-r", given, out)
    why = "a link that leads out of OUT" if within else "among the inputs, or is a link to one"
    assert (code, said.count(why)) == (1, 1), said
    (out / "a.pgm").unlink()
    shutil.rmtree(out / "sub")
    (out / "sub").symlink_to(given)
    code, _, said = run("highpass", "-r", given, out)
    assert (code, why in said) == (2, True), said
    assert {path: path.read_bytes() for path in before} == before
    (out / "sub").unlink()
    (out / "a.pgm").symlink_to(out / "c")  # to a file of its own folder
    assert run("highpass", "-r", given, out)[0] == 0
    assert (out / "c").exists()


def test_an_output_folder_that_is_a_folder_of_the_input_by_a_mount_is_refused(tmp_path):
    given = tmp_path / "in"
    for name in "a/a.pgm", "b/a.pgm":
        pgm(given / name)
    out = tmp_path / "out"
    (out / "a").mkdir(parents=True)
    before = (given / "b/a.pgm").read_bytes()
    for folder, place in (given / "b", out / "a"), (given, out):
        script = 'mount --bind "$1" "$2" || exit 77; exec "$3" -m fftfilter highpass -r "$4" "$5"'
        command = ["unshare", "-rm", "sh", "-c", script, "sh", folder, place, sys.executable, given, out]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        except FileNotFoundError:
            pytest.skip("no unshare")
        if done.returncode in (1, 77) and "fftfilter" not in done.stderr:
            pytest.skip("may not mount")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert (given / "b/a.pgm").read_bytes() == before


@pytest.mark.parametrize("pages", [1, 2])
def test_an_output_that_becomes_a_link_to_an_input_in_the_middle_fails_alone(run, tmp_path, monkeypatch, pages):
    frames = [Image.new("L", (12, 10), 10 * i) for i in range(pages)]
    for name in "ab":
        (tmp_path / "in").mkdir(exist_ok=True)
        frames[0].save(tmp_path / f"in/{name}.tif", save_all=True, append_images=frames[1:])
    before = (tmp_path / "in/b.tif").read_bytes()
    own = images.raw

    def swapping(source, *rest):  # called by several threads
        if (target := tmp_path / "out/a.tif").parent.exists():
            with contextlib.suppress(FileExistsError):
                target.symlink_to(tmp_path / "in/b.tif")
        return own(source, *rest)

    monkeypatch.setattr(images, "raw", swapping)
    code, _, said = run("highpass", "--processes", "1", tmp_path / "in", tmp_path / "out")
    assert (code, "among the inputs, or is a link to one" in said, "1 failed" in said) == (1, True, True), said
    assert (tmp_path / "in/b.tif").read_bytes() == before


@needs_links
@needs_posix
@pytest.mark.parametrize("kind", ["picture", "stack"])
@pytest.mark.parametrize("moment", ["before the check", "after it"])
def test_a_folder_that_becomes_a_link_in_the_middle_leads_nothing_out_of_the_output(
    run, tmp_path, monkeypatch, moment, kind
):
    """Not outputs, nor the journal, which are then in no place."""
    frames = [Image.new("L", (12, 10), 10 * i) for i in range(2 if kind == "stack" else 1)]
    private, folder = tmp_path / "private", tmp_path / "out/sub"
    for path in (tmp_path / f"in/sub/{name}.tif" for name in "abc"):
        path.parent.mkdir(parents=True, exist_ok=True)
        frames[0].save(path, save_all=True, append_images=frames[1:])
    private.mkdir()
    (private / "b.tif").write_bytes(b"a thesis")

    def swap():
        folder.rename(tmp_path / "out/moved")
        folder.symlink_to(private)

    module, name = (journal, "stamp") if moment == "before the check" else (atomic, "temporary_name")
    own = getattr(module, name)

    def swapping(*given):
        if (folder / "a.tif").exists() and not folder.is_symlink():
            swap()
        return own(*given)

    monkeypatch.setattr(module, name, swapping)
    monkeypatch.setattr("fftfilter.folders.processes.cores", lambda: 1)  # one after the other
    words = ("highpass", "--output", "keep", "-r", "--processes", "1", tmp_path / "in", tmp_path / "out")
    code, _, said = run(*words)
    assert (private / "b.tif").read_bytes() == b"a thesis"
    assert names(private) == ["b.tif"]
    assert [path.name for path in private.iterdir()] == ["b.tif"]
    assert "out/sub: is, or lies behind, a link that leads out of OUT" in said
    assert code == 1


@needs_links
def test_of_files_an_output_that_becomes_a_link_to_its_input_fails_alone(run, tmp_path, monkeypatch):
    files = [pgm(tmp_path / f"in/{name}.pgm", i) for i, name in enumerate("ab")]
    before, raw = files[0].read_bytes(), images.raw

    def swapping(source, *rest):
        with contextlib.suppress(FileExistsError):
            (tmp_path / "out/a.pgm").symlink_to(files[0])
        return raw(source, *rest)

    monkeypatch.setattr(images, "raw", swapping)
    code, _, said = run("highpass", "--processes", 1, *files, f"{tmp_path}/out/")
    assert (code, "a.pgm: is, or lies behind, a link that leads" in said, "; 1 failed" in said) == (1, True, True), said
    assert files[0].read_bytes() == before


def test_options_that_make_no_sense_are_usage_errors(run, tmp_path):
    given = pgm(tmp_path / "in/a.pgm").parent
    for options in (
        ["--recursive"], ["--pattern", "*"], ["--skip-existing"], ["--fail-fast"], ["--format", "png"],
        ["--scale", "folder"], ["--device", "all"], ["--device", "0,0"], ["--scale", "9:1"],
        ["--scale", "nan:1"], ["--scale", "wide"],
    ):  # fmt: skip
        code, _, said = run("highpass", *options, given / "a.pgm", tmp_path / "out.pgm")
        assert (code, said.count("\n")) == (2, 1), options
    for options in (["--profile"], ["--save-stages", "x"], ["--skip-existing", "--in-place"], ["--scale", "9:1"]):
        code, _, said = run("highpass", *options, given, tmp_path / "out")
        assert (code, said.count("\n")) == (2, 1), options
    (tmp_path / "file").write_text("")
    assert run("highpass", given, tmp_path / "file")[0] == 1
    line = f"fftfilter: {tmp_path}/file: cannot be written into: not a directory"
    assert run("highpass", "--device", "warp drive", given, tmp_path / "file/deep/out")[2].startswith(line)
    assert not (tmp_path / "out").exists()


def test_format_names_what_goes_to_standard_output(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "fftfilter", "highpass", "--format", "png", pgm(tmp_path / "a.pgm"), "-"],
        capture_output=True,
        check=True,
    )
    assert done.stdout.startswith(b"\x89PNG")


# Files into a folder


def test_files_go_into_a_folder_as_with_cp(run, tmp_path):
    """The bytes of single runs, by the machinery of folders: resumed, reported, converted."""
    files = [pgm(tmp_path / name, i) for i, name in enumerate(["a.pgm", "x/b.pgm", "y/c.pgm"])]
    out = tmp_path / "out"
    out.mkdir()
    assert run("highpass", "-q", files[0], out) == (0, "", "")
    report = tmp_path / "report.jsonl"
    code, _, said = run("highpass", "--skip-existing", "--report", report, *files, out)
    assert (code, said.split(" filtered")[0]) == (0, "2 of 3 files")
    assert "1 skipped" in said
    assert len(report.read_text().splitlines()) == 3
    assert names(out) == ["a.pgm", "b.pgm", "c.pgm"]
    for file in files:
        assert (out / file.name).read_bytes() == alone(run, file, tmp_path / "single.pgm")
    # A slash at its end names a folder, too.
    code, _, said = run("highpass", "--format", "png", tmp_path / "none.pgm", *files, f"{tmp_path}/new/")
    assert (code, "none.pgm: cannot be read" in said) == (1, True)
    assert names(tmp_path / "new") == ["a.png", "b.png", "c.png"]
    assert run("highpass", "-n", "-q", *files, out)[1].count(" -> ") == 3


def test_files_by_processes(tmp_path):
    files = [pgm(tmp_path / f"in/{i}.pgm", i) for i in range(50)]
    done = process("--processes", "2", *files, f"{tmp_path}/out/")
    # On a busy machine one may be done before the other has begun.
    assert re.search("50 of 50 files filtered .* by (1 process|2 processes) on", done.stderr)
    assert here("--processes", "1", tmp_path / "in", tmp_path / "alone") == 0
    same(tmp_path / "out", tmp_path / "alone")


@needs_links
def test_files_that_cannot_go_into_a_folder_are_refused_before_the_work(run, tmp_path):
    a, b, other = (pgm(tmp_path / name) for name in ("in/a.pgm", "in/b.pgm", "x/a.pgm"))
    out, before = tmp_path / "out", a.read_bytes()
    out.mkdir()
    (out / "a.pgm").symlink_to(b)
    for given, why in (
        ((a, b, tmp_path / "new"), "OUT must be a folder"),
        ((a, b, tmp_path / "new.png"), "OUT must be a folder"),
        ((a, "-", out), "standard input, which has no name"),
        ((tmp_path / "x", tmp_path / "in", out), "a folder, which must be the only IN"),
        ((a, other, out), "would both become a.pgm"),
        ((a, b, tmp_path / "in"), "is one of the inputs"),
        ((a, b, out), "is one of the inputs"),
        (("--in-place", a, b, out), "is one of the inputs"),
        (("--report", b, a, b, f"{tmp_path}/new/"), "has the name of an image"),
        (("--pattern", "*", a, f"{tmp_path}/new/"), "is for a folder"),
    ):
        code, _, said = run("highpass", *given)
        assert (code, said.count("\n")) == (2, 1), said
        assert why in said
    assert not (tmp_path / "new").exists()
    assert (a.read_bytes(), b.read_bytes()) == (before, before)
    assert run("highpass", "-q", "--in-place", a, b, tmp_path / "in") == (0, "", "")
    assert a.read_bytes() != before


@pytest.mark.parametrize("options", [(), ("-n",), ("-q",)])
def test_a_folder_among_several_files_is_left_out_with_a_line_and_missed_at_the_end(run, tmp_path, options):
    a, b, _ = (pgm(tmp_path / name, 0, 64, 64) for name in ("a.pgm", "b.pgm", "inner/c.pgm"))
    code, _, said = run("highpass", *options, a, tmp_path / "inner", b, f"{tmp_path}/out/")
    assert code == 1
    assert said.startswith(f"fftfilter: {tmp_path}/inner: is a folder among several IN, and left out; ")
    assert names(tmp_path / "out") == ([] if "-n" in options else ["a.pgm", "b.pgm"])
    code, _, said = run("peaks", a, tmp_path / "inner", b)
    assert (code, said.count("is a folder among several IN")) == (1, 1), said
    code, _, said = run("notch", "--auto", "folder", a, tmp_path / "inner", b, f"{tmp_path}/again/")
    assert (code, said.count("is a folder among several IN")) == (1, 1), said


@pytest.mark.parametrize("lost", ["", "deep"])
def test_a_folder_that_can_be_listed_no_more_is_missed_at_the_end(run, tmp_path, monkeypatch, lost):
    given, listed = tmp_path / "in", []
    for name in ("a.pgm", "deep/b.pgm"):
        pgm(given / name)
    scandir = os.scandir

    def once(folder="."):
        if str(folder) == str(given / lost):
            listed.append(folder)
            if len(listed) == 2:  # the first time the files are counted
                raise PermissionError(errno.EACCES, "Permission denied", str(folder))
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", once)
    code, _, said = run("highpass", "-r", "--processes", 1, given, tmp_path / "out")
    monkeypatch.undo()
    name, done = (f"{given}/deep: cannot be listed", 1) if lost else (f"{given}: cannot be listed any more", 0)
    first, second = said.splitlines()
    assert (code, first) == (1, f"fftfilter: {name}: Permission denied; its files are not done")
    assert second.startswith(f"{done} of 2 files filtered in ")
    assert second.count("; 1 failed") == 1


# Each file stands alone


BAD = {"cut.png": (SAMPLES / "brick.png").read_bytes()[:5000], "zero.pgm": b"", "text.jpg": b"hello"}


def test_bad_files_among_good_ones(run, tmp_path):
    given, out = tmp_path / "in", tmp_path / "out"
    for i in range(5):
        pgm(given / f"{i}.pgm", i)
    for name, data in BAD.items():
        (given / name).write_bytes(data)
    report = tmp_path / "report.jsonl"
    code, _, said = run("highpass", given, out, "--report", report)
    assert (code, said.count("\n")) == (1, len(BAD) + 1)
    assert all(f"fftfilter: {given / name}: " in said for name in BAD)
    assert "5 of 8 files filtered" in said
    assert "3 failed" in said
    assert names(out) == [f"{i}.pgm" for i in range(5)]
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    assert len(lines) == 8
    for line in lines:
        is_bad = Path(line["input"]).name in BAD
        assert (line["status"] == "failed") == bool(line["error"]) == is_bad
        if not is_bad:
            assert (line["width"], line["height"], line["channels"], line["type"]) == (12, 8, 1, "uint8")
            assert line["filter"] | {"kind": "highpass", "shape": "ideal", "precision": "single"} == line["filter"]
            assert line["scale"] == "each"
            low, high = line["extremes"]
            assert 0 <= low < high <= 255
            assert set(line["milliseconds"]) == {"read", "filter", "write"}
            assert line["device"]


@pytest.fixture
def locked_out(tmp_path):
    """A folder out/ that is locked, as another run does it, until the function is called that comes with it."""
    fcntl = pytest.importorskip("fcntl", reason="Windows has no such locks")
    (tmp_path / "out").mkdir()
    handle = os.open(tmp_path / "out", os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    closed = []

    def release():
        if not closed:
            closed.append(os.close(handle))

    yield tmp_path / "out", release
    release()


def test_a_second_run_into_a_folder_waits_for_the_first_and_does_what_is_left(tmp_path, locked_out):
    given, (out, release), report = tmp_path / "in", locked_out, tmp_path / "report.jsonl"
    for i in range(4):
        pgm(given / f"{i}.pgm", i)
    report.touch()  # as the first has begun it
    with Started(command("--report", report, given, out), stderr=subprocess.PIPE, text=True) as second:
        assert second.stderr.readline() == (
            f"fftfilter: {out}: another run writes into it: when that has ended, this one does what is left\n"
        )
        assert here("-q", "--pattern", "[01].pgm", "--report", report, given, out) == 0  # the first, which is killed
        release()
        assert second.wait() == 0
        assert second.stderr.read().startswith("2 of 4 files filtered")
    assert here("-q", given, tmp_path / "alone") == 0
    same(out, tmp_path / "alone")
    assert len(report.read_text().splitlines()) == 2 + 4  # the first's stay
    assert "another run" not in process(given, out).stderr


def test_a_run_that_overwrites_its_inputs_is_not_followed_by_a_second_one(locked_out):
    """Nothing says which of them it has done."""
    out, _ = locked_out
    before = pgm(out / "a.pgm").read_bytes()
    done = process("--in-place", out, out)
    assert (done.returncode, done.stderr) == (
        1,
        f"fftfilter: {out}: another run overwrites its files; start this one after its end\n",
    )
    assert (out / "a.pgm").read_bytes() == before


def test_ctrl_c_ends_the_wait(tmp_path, locked_out):
    pgm(tmp_path / "in/a.pgm")
    with Started(command(tmp_path / "in", locked_out[0]), stderr=subprocess.PIPE, text=True) as second:
        assert "another run" in second.stderr.readline()
        second.send_signal(signal.SIGINT)
        assert second.wait() == 130
        assert "Traceback" not in second.stderr.read()


def test_what_is_done_can_be_kept_elsewhere(run, tmp_path):
    given, out, state = tmp_path / "in", tmp_path / "out", tmp_path / "jobs/state"
    pgm(given / "a.pgm")
    pgm(given / "deep/b.pgm")
    words = ("highpass", "-r", "--state", state, "--skip-existing", given, out)
    assert run(*words, "-n")[0] == 0
    assert not state.exists()
    assert run(*words)[2].startswith("2 of 2 files")
    assert [*out.rglob(JOURNAL)] == []
    assert {each.parent for each in state.rglob(JOURNAL)} == {state, state / "deep"}
    assert run(*words)[2].startswith("0 of 2 files filtered")
    assert run(*words[:2], *words[4:])[2].startswith("2 of 2 files")  # nothing lies in OUT
    shutil.rmtree(state)
    assert run(*words)[2].startswith("2 of 2 files")


def test_the_folder_of_the_state_is_written_through_no_link(run, tmp_path):
    given, out, state = tmp_path / "in", tmp_path / "out", tmp_path / "state"
    pgm(given / "deep/a.pgm")
    state.mkdir()
    (tmp_path / "elsewhere").mkdir()
    (state / "deep").symlink_to(tmp_path / "elsewhere")
    code, _, said = run("highpass", "-r", "--state", state, given, out)
    assert (code, "deep: cannot note what is done" in said) == (0, True), said
    assert [*(tmp_path / "elsewhere").iterdir()] == []


def test_a_state_that_cannot_be_kept_is_refused_before_any_work(run, tmp_path):
    given, out = pgm(tmp_path / "in/a.pgm").parent, tmp_path / "out"
    (tmp_path / "file").touch()
    for state, code, why in (
        (given / "state", 2, "lies among the inputs; choose another folder"),
        (tmp_path / "file", 2, "is a file"),
        (tmp_path / "file/state", 1, "cannot be written into: not a directory"),
        ("s3://bucket/state", 2, "is a URL: give a folder of this machine"),
    ):
        done = run("highpass", "--state", state, given, out)
        assert (done[0], done[2].count("\n"), why in done[2]) == (code, 1, True), done
    assert "leave it out" in run("highpass", "--in-place", "--state", tmp_path / "state", given, given)[2]
    assert names(tmp_path) == ["file", "in/a.pgm"]


def test_fail_fast_stops_at_the_first(run, tmp_path):
    given = tmp_path / "in"
    for i in range(200):
        pgm(given / f"{i + 1}.pgm", i)
    (given / "0.pgm").write_bytes(b"")
    code, _, said = run("highpass", "--fail-fast", given, tmp_path / "out")
    assert (code, "1 failed" in said) == (1, True)
    assert len(names(tmp_path / "out")) < 100


def test_what_a_format_cannot_hold_fails_alone(run, tmp_path):
    given = pgm(tmp_path / "in/a.pgm").parent
    Image.new("RGB", (8, 8)).save(given / "b.png")
    code, _, said = run("highpass", "--format", "pgm", given, tmp_path / "out")
    assert code == 1
    assert "has no color" in said
    assert names(tmp_path / "out") == ["a.pgm"]


def test_a_picture_too_large_for_the_device_fails_alone(run, tmp_path, monkeypatch):
    given = tmp_path / "in"
    for i in range(4):
        pgm(given / f"{i}.pgm", i)
    pgm(given / "large.pgm", 5, 100, 100)
    check = Device.check_memory

    def small_device(self, what, buffers):
        check(self, what, buffers)
        if "100 x 100" in what:
            raise TooLargeError("too large: take a smaller image")

    monkeypatch.setattr(Device, "check_memory", small_device)
    code, _, said = run("highpass", given, tmp_path / "out")
    assert (code, "4 of 5 files" in said, "smaller image, or filter it alone, by strips" in said) == (1, True, True)
    assert names(tmp_path / "out") == [f"{i}.pgm" for i in range(4)]


def test_pictures_that_are_too_many_at_once_are_filtered_one_by_one(run, tmp_path, monkeypatch):
    given = tmp_path / "in"
    for i in range(5):
        pgm(given / f"{i}.pgm", i)
    (given / "dark.pgm").write_bytes(b"P5 12 8 255 " + bytes(96))
    filter_frames = batch.filter_frames

    def with_little_memory(filter_, frames, recipe):
        if len(frames) > 1 or not frames[0].picture.planes.any():
            raise MemoryError
        return filter_frames(filter_, frames, recipe)

    monkeypatch.setattr(batch, "filter_frames", with_little_memory)
    code, _, said = run("highpass", "--processes", 1, given, tmp_path / "out")
    assert (code, said.splitlines()[0]) == (1, f"fftfilter: {given}/dark.pgm: out of memory; take a smaller image")
    monkeypatch.undo()
    assert names(tmp_path / "out") == [f"{i}.pgm" for i in range(5)]
    for name in names(tmp_path / "out"):
        assert (tmp_path / "out" / name).read_bytes() == alone(run, given / name, tmp_path / "alone.pgm")


@pytest.mark.parametrize("failures", [1, 10**9])
@pytest.mark.usefixtures("launcher")  # a device that was never used is checked first, whose calls count, too
def test_a_device_that_fails_in_the_middle(run, tmp_path, monkeypatch, failures):
    """Once: it is opened again. For good: what it has finished stays, and the rest can be resumed."""
    given, out = tmp_path / "in", tmp_path / "out"
    for i in range(40):
        pgm(given / f"{i}.pgm", i, 8 + i % 3)
    finish, calls = Launcher.finish, []

    def shaky(self, *arguments):
        calls.append(self)
        finish(self, *arguments)  # or the device would write into memory that others have by then
        if 4 < len(calls) <= 4 + failures:  # in the second stack
            raise DeviceError("device lost: OUT_OF_RESOURCES")

    with monkeypatch.context() as patch:
        patch.setattr(Launcher, "finish", shaky)
        code, _, said = run("highpass", given, out)
    if failures == 1:
        assert code == 0, said
        assert calls[4] not in calls[5:]  # a queue that has failed stays useless
    else:
        assert code == 3
        assert "device lost" in said
        assert "--skip-existing" in said, (names(out), calls)
        before = len(names(out))
        assert 0 < before < 40
        code, _, said = run("highpass", "--skip-existing", given, out)
        assert (code, f"{before} skipped" in said) == (0, True)
    assert len(names(out)) == 40


def test_no_device_is_exit_code_3(run, tmp_path):
    given = pgm(tmp_path / "in/a.pgm").parent
    (given / "bad.pgm").write_bytes(b"P5")
    for options in ((), ("-n",)):  # a file that cannot be read, too, is not all
        assert run("highpass", *options, "--device", "warp drive", given, tmp_path / "out")[0] == 3
    assert run("highpass", "--device", "0,warp drive", given, tmp_path / "out")[0] == 3


def test_a_missing_folder_is_told(run, tmp_path):
    code, _, said = run("highpass", "-r", tmp_path / "none", tmp_path / "out")
    assert (code, "no such file or directory" in said) == (1, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ["highpass", "none/", "out/"],
        ["highpass", "none/", "out"],
        ["highpass", "-r", "none/", "out/"],
        ["highpass", "-r", "none", "out/"],
        ["highpass", "--pattern", "*.png", "none", "out/"],
        ["notch", "--auto", "folder", "none/", "out/"],
        ["peaks", "none/"],
        ["peaks", "-r", "none"],
    ],
    ids=" ".join,
)
def test_a_missing_folder_that_is_one_by_its_slash_or_the_options_is_told(run, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    name = next(each for each in arguments if each.startswith("none"))
    assert run(*arguments) == (1, "", f"fftfilter: {name}: no such folder; check the name\n")


@pytest.mark.skipif(sys.platform == "win32", reason="limits are POSIX")
def test_files_that_do_not_fit_any_more(tmp_path):
    """A limit on a file's size stands for the full disk: large outputs fail, small ones go on."""
    given, out = tmp_path / "in", tmp_path / "out"
    for i in range(4):
        pgm(given / f"small{i}.pgm", i)
        pgm(given / f"large{i}.pgm", i, 288, 384)
    code = (
        "import resource, signal\n"
        "from fftfilter.cli import cli\n"
        # What the device's compiler writes is written before.
        f"try: cli(['highpass', '-q', {str(given)!r}, {str(tmp_path / 'first')!r}])\n"
        "except SystemExit: pass\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))\n"
        f"cli(['highpass', {str(given)!r}, {str(out)!r}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1, done.stderr
    assert done.stderr.count("file too large") == 4
    assert names(out) == [f"small{i}.pgm" for i in range(4)]


@pytest.fixture
def tiny_disk(tmp_path):
    """Mount a file system of 200 kB, where that is allowed."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", disk], capture_output=True, check=False)
    if mount.returncode:
        pytest.skip("may not mount a file system")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def test_a_full_disk_leaves_nothing_half_written_and_can_be_resumed(run, tmp_path, tiny_disk):
    given = tmp_path / "in"
    for i in range(8):
        pgm(given / f"{i}.pgm", i, 200, 200)
    code, _, said = run("highpass", given, tiny_disk)
    assert (code, "no space left" in said) == (1, True)
    whole = names(tiny_disk)
    assert 0 < len(whole) < 8
    assert all((tiny_disk / name).stat().st_size == 40015 for name in whole)
    subprocess.run(["mount", "-o", "remount,size=2m", tiny_disk], check=True)
    code, _, said = run("highpass", "--skip-existing", given, tiny_disk)
    assert (code, len(names(tiny_disk))) == (0, 8)


def test_no_space_left_is_told_once_and_no_more_files_are_begun(run, tmp_path, monkeypatch):
    given, write = tmp_path / "in", images.write
    for i in range(300):
        pgm(given / f"{i}.pgm", i)

    def on_a_full_disk(picture, target, **options):
        if int(Path(target).stem) < 3:
            return write(picture, target, **options)
        number = errno.EDQUOT if int(Path(target).stem) % 2 else errno.ENOSPC  # of a user or of all
        raise WriteError(f"{target}: cannot be written: no space left") from OSError(number, "")

    monkeypatch.setattr(images, "write", on_a_full_disk)
    monkeypatch.setattr("fftfilter.folders.pool.JOBS_A_THREAD", 1)
    code, _, said = run("highpass", "--processes", 1, given, tmp_path / "out")
    failure, summary, way_out = said.splitlines()
    assert (code, failure.endswith("pgm: cannot be written: no space left")) == (1, True)
    assert re.match("3 of 300 files filtered", summary)
    assert 0 < int(re.search("([0-9]+) failed", summary)[1]) < 290
    assert way_out == "fftfilter: no space left; the same command with --skip-existing goes on from here"


@pytest.mark.parametrize("size", ["rw", "ro", "full"])
def test_an_output_folder_that_cannot_be_written_is_told_before_the_work(run, tmp_path, tiny_disk, size):
    """Before a device is looked for: there is none of that name."""
    given = pgm(tmp_path / "in/a.pgm").parent
    if size == "full":
        (tiny_disk / "full").write_bytes(bytes(200 * 1024))
    elif size == "ro":
        subprocess.run(["mount", "-o", "remount,ro", tiny_disk], check=True)
    else:
        (tiny_disk / "out").write_text("a file")
    causes = {"rw": "not a directory", "ro": "read-only file system; choose another", "full": "no space left on device"}
    for source, target in ((given, tiny_disk / "out/deep"), (given / "a.pgm", tiny_disk / "b.pgm")):
        if size != "rw" or source == given:
            code, _, said = run("highpass", "--device", "warp drive", source, target)
            assert (code, said.count("\n")) == (1, 1), said
            assert causes[size] in said
    assert "warp" in run("highpass", "--device", "warp drive", given, tmp_path / "out")[2]


@contextmanager
def held(out, tmp_path):
    """Start a run of 1000 files that cannot end before its lines are read: a narrow pipe holds it after some."""
    first = pgm(tmp_path / "in/0.pgm", 0, 64, 64)
    for i in range(1, 1000):
        (tmp_path / f"in/{i}.pgm").hardlink_to(first)
    words = command("-v", "--processes", "2", tmp_path / "in", out)
    with Started(words, stderr=subprocess.PIPE, text=True, pipesize=4096) as running:
        for _ in range(50):
            assert running.stderr.readline().endswith(": done\n")
        yield running


def remove(out):
    gone = out.with_name("gone")
    out.rename(gone)
    while gone.exists():  # a file that was being written as its folder was renamed comes into that
        shutil.rmtree(gone, ignore_errors=True)


@needs_posix
def test_an_output_folder_that_is_removed_is_made_again(run, tmp_path):
    out = tmp_path / "out"
    with held(out, tmp_path) as running:
        remove(out)
        said = running.stderr.read()
    assert "1000 of 1000 files" in said.splitlines()[-1]
    assert len(names(out)) > 500
    # What is there is remembered.
    assert f"{len(names(out))} skipped" in run("highpass", "--skip-existing", tmp_path / "in", out)[2]


@needs_posix
def test_an_output_folder_that_cannot_be_made_again_ends_the_run(tmp_path):
    out = tmp_path / "out"
    with held(out, tmp_path) as running:
        while not out.is_file():
            remove(out)
            with suppress(IsADirectoryError):  # files that were under way made it again
                out.write_text("in its place")
        said = [line for line in running.stderr if not line.endswith(": done\n")]
        assert running.wait(60) == 1, said
    assert len(said) == 1, said
    assert "was removed, and cannot be made again" in said[0]


@pytest.mark.skipif(sys.platform == "win32", reason="permissions work differently on Windows")
def test_folders_without_permission():
    """As a user without rights, since root may do everything, in a folder that such a user can reach."""
    with tempfile.TemporaryDirectory() as made:
        tmp_path = Path(made)
        tmp_path.chmod(0o777)
        folders_without_permission(tmp_path)


def folders_without_permission(tmp_path):
    given, out = tmp_path / "in", tmp_path / "out"
    for i, folder in enumerate("abc"):
        pgm(given / folder / "x.pgm", height=8 + i)
    (out / "b").mkdir(parents=True)
    out.chmod(0o777)
    (out / "b").chmod(0o555)
    code = (
        "import os\n"
        "from fftfilter.cli import cli\n"
        # Everything is loaded and built before the rights to do so are given up.
        f"try: cli(['highpass', '-r', '-q', {str(given)!r}, {str(tmp_path / 'first')!r}])\n"
        "except SystemExit: pass\n"
        f"os.chmod({str(given / 'a')!r}, 0)\n"
        "if os.getuid() == 0: os.setgid(65534); os.setuid(65534)\n"
        f"cli(['highpass', '-r', {str(given)!r}, {str(out)!r}])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    (given / "a").chmod(0o755)
    assert done.returncode == 1, done.stderr
    assert f"{given / 'a'}: cannot be listed" in done.stderr
    assert "x.pgm: cannot be written: permission denied" in done.stderr
    assert names(out) == ["c/x.pgm"]
    assert "Traceback" not in done.stderr
    tmp_path.chmod(0o700)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1, done.stderr
    assert done.stderr.count("\n") == 1 or os.getuid() != 0


# Resuming


def test_only_what_changed_is_done_again(run, tmp_path):
    given, out = tmp_path / "in", tmp_path / "out"
    for i in range(4):
        pgm(given / f"{i}.pgm", i)

    def skipped(*options):
        code, _, said = run("highpass", "--skip-existing", given, out, *options)
        assert code == 0
        return int(said.split(" skipped")[0].rsplit(" ", 1)[1]) if "skipped" in said else 0

    assert skipped() == 0
    assert skipped() == 4
    assert skipped("--radius", "2") == 0  # other settings
    assert skipped("--radius", "2") == 4
    assert skipped() == 0
    pgm(given / "1.pgm", 99)  # other bytes
    os.utime(given / "1.pgm", ns=(0, 0))
    (out / "2.pgm").unlink()
    (out / "3.pgm").write_bytes(b"changed")
    os.utime(given / "0.pgm")  # a new time, the same bytes
    assert skipped() == 1
    assert skipped() == 4
    (out / JOURNAL).write_bytes((out / JOURNAL).read_bytes()[:-20])  # torn by a kill
    assert skipped() == 3
    assert skipped() == 4
    (out / JOURNAL).write_bytes(b'\xff\x00rubbish\n[1, 2]\n{"a": 1}\nnull\n')
    assert skipped() == 0
    assert skipped() == 4
    assert skipped("--dry-run", "-q") == 0
    assert run("highpass", "--skip-existing", "-n", given, out)[1].count("skip, done before") == 4


def test_files_of_other_settings_or_versions_are_counted_when_they_are_done_again(run, tmp_path, monkeypatch):
    given, out = tmp_path / "in", tmp_path / "out"
    for i in range(3):
        pgm(given / f"{i}.pgm", i)
    words = ("highpass", "--skip-existing", given, out)
    told = "before with other settings, or by another version of fftfilter: filtered again"
    assert told not in run(*words)[2]
    assert f"fftfilter: 3 files were done {told}\n" in run(*words, "--radius", "2", "--scale", "folder")[2]
    (out / "1.pgm").write_bytes(b"changed")
    monkeypatch.setattr("fftfilter.work.recipe.__version__", "9.9")
    assert f"fftfilter: 2 files were done {told}\n" in run(*words)[2]
    assert told not in run(*words)[2]


def test_a_coding_that_the_format_of_all_outputs_lacks_is_refused_before_the_first(run, tmp_path):
    given = pgm(tmp_path / "in/a.pgm").parent
    code, _, said = run("lowpass", "--quality", "50", "--format", "png", given, tmp_path / "out")
    assert (code, said.count("\n"), ".png has no quality" in said) == (2, 1, True), said
    assert not (tmp_path / "out").exists()
    assert run("lowpass", "--quality", "50", given, tmp_path / "out")[0] == 0  # it is for others of the folder


@pytest.mark.parametrize(
    "options",
    [
        ("--png-level", "9"),
        ("--strip",),
        ("--preserve-times",),
        ("--output", "keep"),
        ("--scale", "0:40"),
        ("--edges", "mirror"),
        ("--stripes", "0"),
    ],
    ids=str,
)
def test_with_another_option_that_decides_bytes_or_times_all_is_done_again(run, tmp_path, options):
    given = pgm(tmp_path / "in/a.pgm", 0, 10, 12).parent
    words = ("highpass", "--format", "png", "--skip-existing", given, tmp_path / "out")
    for more, skipped in (((), 0), ((), 1), (options, 0), (options, 1)):
        assert run(*words, *more)[2].count("1 skipped") == skipped, more


@pytest.mark.parametrize("pages", [1, 2])
def test_the_time_of_each_step_is_in_the_outcome_that_of_a_launch_in_equal_shares(tmp_path, monkeypatch, pages):
    """By a clock that goes on by a second whenever somebody looks at it."""
    frames, jobs = [Image.new("L", (12, 10), 10 * i) for i in range(pages)], []
    for i in range(4):
        frames[0].save(tmp_path / f"{i}.tif", save_all=True, append_images=frames[1:])
        jobs.append(Job(i, str(tmp_path / f"{i}.tif"), str(tmp_path / f"out{i}.tif"), verify=True))
    monkeypatch.setattr(batch, "time", SimpleNamespace(perf_counter=count().__next__))
    with closing(Batch(Settings(Recipe(transfer.highpass())))) as opened:
        seconds = [outcome.seconds for outcome in opened.run(jobs)]
    # Comparing is a part of writing.
    one = {"read": 1, "filter": 0.25, "write": 3, "verify": 1}
    assert seconds == [one if pages == 1 else {"read": 1, "filter": 1}] * 4


def test_a_folder_that_cannot_be_listed_is_told(run, tmp_path, monkeypatch):
    given = pgm(tmp_path / "in/a.pgm").parent

    def refused(folder):
        raise PermissionError(errno.EACCES, "Permission denied", str(folder))

    monkeypatch.setattr(os, "scandir", refused)
    line = f"fftfilter: {given}: cannot be listed: permission denied; check its permissions and its folder's\n"
    for words in (("highpass", given, tmp_path / "out"), ("peaks", given)):
        assert run(*words) == (1, "", line)
    assert not (tmp_path / "out").exists()


def test_small_files_are_filtered_on_the_cpu_before_a_gpu_is_ready_which_is_said_if_asked(run, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("fftfilter.device_choice.for_small_work", lambda *of: asked.append(of) or "cpu")
    files = [pgm(tmp_path / f"in/{name}", 0, 8, width).stat().st_size for name, width in (("a.pgm", 12), ("b.pgm", 14))]
    line = "on the CPU: the work is small, and no GPU's driver has to load; --device gpu takes a GPU\n"
    one, all_ = (tmp_path / "in/a.pgm", tmp_path / "a.pgm"), (tmp_path / "in", tmp_path / "out")
    for names_ in (one, all_):
        assert run("highpass", "-v", "--device", "auto", *names_)[2].startswith(line)
        assert line not in run("highpass", "--device", "auto", *names_)[2]
    assert asked == [("auto", files[0])] * 2 + [("auto", sum(files) / 2)] * 2
    assert line not in run("highpass", "-q", "-v", "--device", "auto", *all_)[2]
    asked.clear()
    for names_ in (one, all_):
        run("highpass", "--engine", "book", *names_)
    assert asked == [(None, math.inf)] * 2


def test_waiting_pictures_are_counted_until_they_are_filtered(tmp_path):
    jobs = [Job(i, str(pgm(tmp_path / f"{i}.pgm", i, 10, 12 + i % 2)), str(tmp_path / f"out{i}.pgm")) for i in range(6)]
    with closing(Batch(Settings(Recipe(transfer.highpass())))) as opened:
        assert len(list(opened.run(jobs))) == 6
        assert opened._stacks.nbytes == 0


@pytest.mark.parametrize(("span", "status"), [("each", "done"), ("folder", "measured")])
def test_a_run_that_is_to_stop_begins_no_other_file(tmp_path, span, status):
    for i in range(60):
        pgm(tmp_path / f"in/{i}.pgm", i)
    made = FolderRun(Tree(tmp_path / "in"), tmp_path / "out", Settings(Recipe(transfer.highpass(), span=span)))
    made.survey()
    found = []
    with closing(Workers(None, 1)) as workers:
        for outcome in made.run([workers]):
            found.append(outcome.status)
            made.stopped_by = signal.SIGINT
    assert 0 < len(found) < 60
    assert set(found) == {status}
    assert (tmp_path / "out").exists() == (span == "each")
    assert len(names(tmp_path / "out")) == (len(found) if span == "each" else 0)


def codec_threads():
    """Return the threads that read and write."""
    return {thread for thread in threading.enumerate() if thread.name.startswith("codec")}


def test_a_batch_that_is_closed_leaves_neither_threads_nor_filters(tmp_path, monkeypatch):
    jobs = [Job(i, str(pgm(tmp_path / f"{i}.pgm", i, 10, 12)), str(tmp_path / f"out{i}.pgm")) for i in range(4)]
    close, closed = Filter.close, []
    monkeypatch.setattr(Filter, "close", lambda filter_: closed.append(filter_) or close(filter_))
    before = codec_threads()
    with closing(Batch(Settings(Recipe(transfer.highpass())), threads=3)) as opened:
        assert len(list(opened.run(jobs))) == 4
        codecs = codec_threads() - before
        assert (len(codecs) > 1, closed) == (True, [])
    assert (len(closed), any(thread.is_alive() for thread in codecs)) == (1, False)


def test_a_run_in_this_process_leaves_nothing_open(run, tmp_path, monkeypatch):
    close_batch()  # that another test has left
    close, closed = Batch.close, []
    monkeypatch.setattr(Batch, "close", lambda opened: closed.append(opened) or close(opened))
    given = pgm(tmp_path / "in/a.pgm", 0, 10, 12).parent
    (given / "bad.pgm").write_bytes(b"P5 ")
    for count_, options in enumerate([(), ("--scale", "folder"), ("--work-group-size", "1000000")], start=1):
        before = codec_threads()
        closed.clear()
        code = run("highpass", "--processes", 1, *options, given, tmp_path / "out")[0]
        assert code == (2 if count_ == 3 else 1)
        # One scale for all takes a filter that measures, and another one.
        assert len(closed) == (2 if count_ == 2 else 1)
        assert codec_threads() == before


def test_a_run_says_how_many_files_it_has_filtered_a_second(run, tmp_path, monkeypatch):
    for i in range(6):
        pgm(tmp_path / f"in/{i}.pgm", i)
    clock = iter([100.0, 104.0])
    monkeypatch.setattr("fftfilter.commands.folder.time", SimpleNamespace(monotonic=clock.__next__))
    said = run("highpass", "--processes", 1, tmp_path / "in", tmp_path / "out")[2]
    assert said.startswith("6 of 6 files filtered in 4.0 s (1.5/s); by this process on ")


def test_of_two_runs_at_a_time_the_last_line_need_not_be_of_the_last_file(tmp_path):
    (tmp_path / "a").write_text("x")
    last = journal.stamp(tmp_path / "a")
    book = journal.Journal(tmp_path)
    book.add("a", journal.Entry("digest", "settings", last))
    book.add("a", journal.Entry("digest", "settings", last._replace(changed_ns=1)))
    book.close()
    assert digest(journal.Journal(tmp_path), "a", "settings") == "digest"


def test_of_many_output_folders_few_journals_are_open_and_each_has_its_files(run, tmp_path, monkeypatch):
    monkeypatch.setattr("fftfilter.folders.run.OPEN_JOURNALS", 2)
    add, close, opened, most = journal.Journal.add, journal.Journal.close, set(), []

    def adding(book, *entry):
        opened.add(book)
        most.append(len(opened))
        add(book, *entry)

    def closing_(book):
        opened.discard(book)
        close(book)

    monkeypatch.setattr(journal.Journal, "add", adding)
    monkeypatch.setattr(journal.Journal, "close", closing_)
    for i in range(5):
        pgm(tmp_path / f"in/{i}/a.pgm", i)
    words = ("highpass", "-r", "--processes", 1, "--skip-existing", tmp_path / "in", tmp_path / "out")
    assert run(*words)[0] == 0
    assert (max(most), opened) == (2, set())
    assert "; 5 skipped" in run(*words)[2]


@needs_posix
def test_a_journal_whose_folder_was_removed_goes_on_in_the_new_one(tmp_path):
    out, entry = tmp_path / "out", journal.Entry("digest", "settings", journal.Stamp(1, 2))
    out.mkdir()
    book = journal.Journal(out)
    for name in "ab":
        book.add(name, entry)
        if name == "a":
            out.rename(tmp_path / "gone")
            out.mkdir()
    book.close()
    for folder, name in (("gone", "a"), ("out", "b")):
        lines = (tmp_path / folder / JOURNAL).read_text().split("\n")
        assert lines == ["", json.dumps([name, "digest", "settings", 1, 2])]


def test_a_journal_is_read_once_and_only_for_files_that_it_is_asked_about(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("x")
    with closing(journal.Journal(tmp_path)) as book:
        book.add("a", journal.Entry("digest", "settings", journal.stamp(tmp_path / "a")))
    itself, opened = Folder.open, []
    monkeypatch.setattr(Folder, "open", lambda *given: opened.append(given) or itself(*given))
    book = journal.Journal(tmp_path)
    assert opened == []
    assert [digest(book, name, "settings") for name in "aba"] == ["digest", None, "digest"]
    assert (len(opened), book.outdated) == (1, 0)
    assert (digest(book, "a", "others"), book.outdated) == (None, 1)


def test_a_long_journal_is_written_anew(tmp_path):
    (tmp_path / "a").write_text("x")
    entry = journal.Entry("digest", "settings", journal.stamp(tmp_path / "a"))
    book = journal.Journal(tmp_path)
    for _ in range(1100):
        book.add("a", entry)
    book.close()
    assert digest(journal.Journal(tmp_path), "a", "settings") == "digest"
    assert (tmp_path / JOURNAL).read_text().count("\n") == 1
    assert digest(journal.Journal(tmp_path), "a", "settings") == "digest"
    assert digest(journal.Journal(tmp_path), "a", "others") is None


def test_leftovers_of_a_killed_run_go_with_the_next(run, tmp_path):
    given, out = pgm(tmp_path / "in/a.pgm").parent, tmp_path / "out"
    out.mkdir()
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    own = Path(atomic.temporary_name(str(out / "b.pgm"))).name
    dead = own.replace(f"-{os.getpid()}-", f"-{gone.pid}-")
    alive = own.replace(f"-{os.getpid()}-", f"-{os.getppid()}-")
    machine = own[-12:-8]
    foreign = dead.replace(f"-{machine}", f"-{int(machine, 16) ^ 1:04x}")
    old = foreign.replace("b.pgm", "old")
    for name in (dead, alive, foreign, old, ".other.tmp"):
        (out / name).write_text("half")
    os.utime(out / old, (0, 0))
    assert run("highpass", given, out)[0] == 0
    assert names(out) == sorted([alive, foreign, ".other.tmp", "a.pgm"])


# The program, which is killed when it has noted its 20th file.
KILLED = """
import os, signal, sys
from fftfilter.cli import cli
from fftfilter.folders.journal import Journal

add, noted = Journal.add, []

def counted(journal, *entry):
    add(journal, *entry)
    noted.append(entry)
    if len(noted) == 20:
        os.kill(os.getpid(), signal.SIGKILL)

Journal.add = counted
cli(sys.argv[1:])
"""


@needs_posix
@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_killed_run_leaves_whole_files_and_can_be_resumed(run, tmp_path, processes):
    """Killed when it has noted something new, again and again: it never comes to its end."""
    given, out, whole = (tmp_path / name for name in ("in", "out", "whole"))
    for i in range(600):
        pgm(given / f"{i % 3}/{i}.pgm", i % 50, 96, 128)
    assert run("highpass", "-r", given, whole)[0] == 0
    words = ("highpass", "-r", "--skip-existing", "--processes", processes, given, out)
    for _ in range(2):
        killed = subprocess.run([sys.executable, "-c", KILLED, *words], stderr=subprocess.DEVNULL, check=False)
        assert killed.returncode == -signal.SIGKILL
        for name in names(out):
            if "/." not in name:
                assert (out / name).read_bytes() == (whole / name).read_bytes()
    assert len(names(out)) < 600
    code, _, said = run("highpass", "-r", "--skip-existing", given, out)
    assert (code, "skipped, done before" in said) == (0, True)
    same(out, whole)


@needs_posix
@pytest.mark.parametrize(
    ("number", "word", "code"), [(signal.SIGINT, "interrupted", 130), (signal.SIGTERM, "terminated", 143)]
)
def test_a_signal_finishes_what_is_under_way(tmp_path, number, word, code):
    given, out = tmp_path / "in", tmp_path / "out"
    for i in range(3000):
        pgm(given / f"{i}.pgm", i % 7, 64, 64)
    with Started(
        command("--skip-existing", "--processes", "1", given, out), stderr=subprocess.PIPE, text=True
    ) as running:
        deadline = time.monotonic() + 30
        while not list(out.glob("*.pgm")) and time.monotonic() < deadline:
            time.sleep(0.01)
        running.send_signal(number)
        said = running.communicate(timeout=30)[1]
        assert running.returncode == code, said
    assert "finishing the files under way" in said
    assert f"{word}; the same command with --skip-existing goes on from here" in said
    assert "Traceback" not in said
    done = names(out)
    assert 0 < len(done) < 3000
    assert not [name for name in done if name.startswith(".")]
    assert all((out / name).stat().st_size == 64 * 64 + 13 for name in done)
    assert f"{len(done)} of 3000 files filtered" in said


# Long runs


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss is the system's own")
def test_memory_stays_bounded(tmp_path):
    """Six times the pictures take no more memory: what the process held at most, from its own account."""
    code = (
        "import resource, sys\n"
        "from fftfilter.cli import cli\n"
        "try:\n    cli(sys.argv[1:])\n"
        "except SystemExit as end:\n    assert not end.code\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )

    def most(count):
        given = tmp_path / f"in{count}"
        for i in range(count):
            pgm(given / f"{i}.pgm", i % 9, 288, 256)
        done = subprocess.run(
            [sys.executable, "-c", code, "highpass", "-q", given, tmp_path / f"out{count}"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert len(names(tmp_path / f"out{count}")) == count
        return int(done.stdout)

    few, many = most(100), most(599)
    # 499 pictures of 72 kB, were they kept, would be 36 MB twice.
    assert many - few < 30_000


@needs_posix
def test_progress_is_for_terminals(tmp_path):
    import pty

    given = tmp_path / "in"
    for i in range(300):
        pgm(given / f"{i}.pgm", i)
    assert "\r" not in process(given, tmp_path / "out").stderr
    ours, theirs = pty.openpty()
    with Started(command(given, tmp_path / "out"), stderr=theirs) as running:
        os.close(theirs)
        said = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:
                break
            if not part:
                break
            said += part
        assert running.wait(30) == 0
    os.close(ours)
    text = said.decode()
    assert "/300  " in text
    assert "/s  " in text
    assert " left" in text
    assert text.rstrip().rpartition("\x1b[K")[2].startswith("300 of 300 files")
