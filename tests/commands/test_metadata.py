"""Options of the commands about what goes along with a picture."""

from __future__ import annotations

import os

import numpy as np
import pytest
import tifffile
from click.testing import CliRunner
from PIL import ExifTags, Image

from fftfilter.cli import cli
from tests.images.test_metadata import found_in, make


@pytest.fixture
def run():
    def run(*arguments):
        result = CliRunner().invoke(cli, [str(a) for a in arguments])
        return result.exit_code, result.stdout, result.stderr

    return run


def test_metadata_go_along_unless_stripped(run, tmp_path):
    given = make(tmp_path / "in.png")
    assert run("lowpass", given, tmp_path / "out.jpg") == (0, "", "")
    turned = {"profile": b"", "orientation": 1, "dpi": (150, 300)}
    assert found_in(tmp_path / "out.jpg") | {"profile": b""} == found_in(given) | turned
    assert run("lowpass", "--strip", given, tmp_path / "out.png") == (0, "", "")
    assert found_in(tmp_path / "out.png")["make"] is None
    assert b"on a mat" not in (tmp_path / "out.png").read_bytes()


def test_pages_are_stripped_and_keep_the_times_of_their_file(run, tmp_path):
    pages = np.arange(240, dtype=np.uint8).reshape(2, 10, 12)
    said = {"resolution": (10, 10), "metadata": {"unit": "um"}}
    tifffile.imwrite(tmp_path / "in.tif", pages, imagej=True, **said)
    os.utime(tmp_path / "in.tif", ns=(1_000_000_000_123_456_789, 1_200_000_000_987_654_321))
    for options, wanted in ((), True), (("--strip",), False):
        code = run("lowpass", "--preserve-times", *options, tmp_path / "in.tif", tmp_path / "out.tif")[0]
        with tifffile.TiffFile(tmp_path / "out.tif") as file:
            assert (code, len(file.pages), file.is_imagej, 282 in file.pages[0].tags) == (0, 2, wanted, wanted)
        assert (tmp_path / "out.tif").stat().st_mtime_ns == 1_200_000_000_987_654_321


def test_a_spectrum_is_no_picture_of_a_place(run, tmp_path):
    assert run("spectrum", make(tmp_path / "in.jpg"), tmp_path / "out.jpg")[0] == 0
    assert found_in(tmp_path / "out.jpg")["make"] is None


@pytest.mark.parametrize("options", [(), ("--strip",)], ids=str)
def test_angles_are_those_of_the_picture_as_it_is_seen(run, tmp_path, options):
    stripes = np.uint8(128 + 60 * np.cos(2 * np.pi * 8 / 64 * np.arange(64)))
    lying = Image.fromarray(np.tile(stripes, (64, 1)))
    tags = Image.Exif()
    tags[ExifTags.Base.Orientation] = 6
    lying.save(tmp_path / "in.png", exif=tags)
    assert run("stripes", "--angle", 0, "--edges", "wrap", *options, tmp_path / "in.png", tmp_path / "out.png") == (
        0,
        "",
        "",
    )
    with Image.open(tmp_path / "out.png") as image:
        assert np.asarray(image).std() < 2.5  # of 42


def test_the_photo_stands_upright_where_its_tag_is_left_out(run, tmp_path):
    given = make(tmp_path / "in.jpg")  # 20 x 10, to be turned by a quarter
    for command, target in (
        (("lowpass",), "out.bmp"),
        (("lowpass", "--strip"), "out.png"),
        (("spectrum",), "out.png"),
    ):
        assert run(*command, given, tmp_path / target)[0] == 0
        assert Image.open(tmp_path / target).size == (10, 20)
    (tmp_path / "in").mkdir()
    given.rename(tmp_path / "in/a.jpg")
    assert run("lowpass", "--strip", "--processes", 1, tmp_path / "in", tmp_path / "out")[0] == 0
    assert Image.open(tmp_path / "out/a.jpg").size == (10, 20)


def test_what_out_cannot_hold_is_said_if_asked(run, tmp_path):
    code, _, said = run("lowpass", "-v", make(tmp_path / "in.png"), tmp_path / "out.ppm")
    assert code == 0
    assert "left out: color profile, EXIF, resolution, XMP, text\n" in said
    (tmp_path / "in").mkdir()
    (tmp_path / "in.png").rename(tmp_path / "in/a.png")
    said = run("lowpass", "-v", "--processes", 1, "--format", "bmp", tmp_path / "in", tmp_path / "out")[2]
    assert "a.bmp: done, without color profile and EXIF and XMP and text\n" in said


def test_times_are_those_of_the_input(run, tmp_path):
    given = make(tmp_path / "in.png")
    os.utime(given, ns=(1_000_000_000_123_456_789, 1_200_000_000_987_654_321))
    assert run("lowpass", "--preserve-times", given, tmp_path / "out.png") == (0, "", "")
    assert (tmp_path / "out.png").stat().st_mtime_ns == 1_200_000_000_987_654_321
    frames = [Image.new("L", (12, 10), 40 * i) for i in range(2)]
    (tmp_path / "in").mkdir()
    given.rename(tmp_path / "in/a.png")
    frames[0].save(tmp_path / "in/b.tif", save_all=True, append_images=frames[1:])
    os.utime(tmp_path / "in/b.tif", ns=(0, 3_000_000_000_000_000_000))
    assert run("lowpass", "-q", "--preserve-times", "--processes", 1, tmp_path / "in", tmp_path / "out") == (0, "", "")
    assert run("lowpass", "-q", "--preserve-times", tmp_path / "in/b.tif", tmp_path / "b.tif") == (0, "", "")
    for name in ("out/b.tif", "b.tif"):
        assert (tmp_path / name).stat().st_mtime_ns == 3_000_000_000_000_000_000
    given = tmp_path / "out/a.png"
    assert given.stat().st_mtime_ns == 1_200_000_000_987_654_321
    code, _, said = run("lowpass", "--preserve-times", given, "-")
    assert (code, "--preserve-times" in said) == (2, True)


def test_png_level(run, tmp_path):
    noise = np.random.default_rng(1).integers(0, 32, (64, 64), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "in.png")
    sizes = []
    for level in (0, 1, 9):
        assert run("lowpass", "--png-level", level, tmp_path / "in.png", tmp_path / "out.png")[0] == 0
        sizes.append((tmp_path / "out.png").stat().st_size)
    assert sizes[0] > sizes[1] >= sizes[2]
    assert run("lowpass", "--png-level", "11", tmp_path / "in.png", tmp_path / "out.png")[0] == 2
