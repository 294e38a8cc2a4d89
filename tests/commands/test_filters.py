"""The commands notch, stripes and mask, and the options that multiply them into other filters."""

from __future__ import annotations

import click
import numpy as np
import pytest
import tifffile
from PIL import Image

from fftfilter import transfer as H
from fftfilter.analysis.fit import fitted
from fftfilter.cli import cli
from fftfilter.commands.filters import context_of, options_of
from fftfilter.images.picture import MAXVAL_OF
from fftfilter.transfer import reference
from tests.helpers import assert_gray_levels

SIZE = (36, 60)


@pytest.fixture
def source(tmp_path, rng):
    image = rng.integers(0, 256, SIZE, dtype=np.uint8)
    Image.fromarray(image).save(tmp_path / "in.png")
    return tmp_path / "in.png", image


def filtered(run, tmp_path, source, command, *arguments):
    assert run(command, "--output", "magnitude", "--edges", "wrap", *arguments, source[0], tmp_path / "out.png") == (
        0,
        b"",
        "",
    )
    return np.asarray(Image.open(tmp_path / "out.png"))


@pytest.mark.parametrize(
    ("arguments", "transfer"),
    [
        (["notch", "--at", "0.2,0.1"], H.notch((0.2, 0.1))),
        (
            ["notch", "--at", "0.2,0.1,0.05cyc", "--at", "-0.1,0.25", "--harmonics", "2", "--shape", "cosine"],
            H.notch((0.2, 0.1), width="0.05cyc", harmonics=2, shape="cosine")
            * H.notch((-0.1, 0.25), harmonics=2, shape="cosine"),
        ),
        (["stripes", "--angle", "-33", "--width", "0.01cyc", "--spare", "8px"], H.stripes(-33, width=0.36, spare=4.5)),
        (
            ["highpass", "--notch", "0.2,0.1", "--notch", "0.3,0,2", "--stripes", "90"],
            H.highpass() * H.notch((0.2, 0.1)) * H.notch((0.3, 0), width=2) * H.stripes(90),
        ),
        (["highpass", "--stripes", "0", "--stripes", "90"], H.highpass() * H.stripes(0) * H.stripes(90)),
        (
            ["stripes", "--angle", "0", "--angle", "30", "--spare", "8px"],
            H.stripes(0, spare="8px") * H.stripes(30, spare="8px"),
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_filters_take_their_options(run, tmp_path, source, arguments, transfer):
    got = filtered(run, tmp_path, source, *arguments)
    transfer = fitted(transfer, source[1][None], 255)
    assert_gray_levels(got, reference.filter_image(source[1], transfer.gain(*SIZE)))


def test_what_repairs_a_picture_keeps_its_gray_levels(run, tmp_path, source):
    for command, *arguments in (["notch", "--at", "0.2,0.1"], ["stripes", "--angle", "0"]):
        assert run(command, *arguments, source[0], tmp_path / "out.png") == (0, b"", "")
        got = np.asarray(Image.open(tmp_path / "out.png"))
        assert abs(float(got.mean()) - float(source[1].mean())) < 1
        assert np.abs(got - source[1].astype(float)).mean() < 20


@pytest.mark.parametrize("extension", ["png", "tif", "npy"])
def test_a_mask_is_a_file_with_dc_in_the_middle(run, tmp_path, source, extension, rng):
    gains = rng.integers(0, 256, SIZE, dtype=np.uint8)
    if extension == "npy":
        np.save(tmp_path / "mask.npy", gains / 255)
    else:
        Image.fromarray(gains).save(tmp_path / f"mask.{extension}")
    centered = np.fft.ifftshift(gains / MAXVAL_OF[gains.dtype])
    even = (centered + np.roll(centered[::-1, ::-1], (1, 1), (0, 1))) / 2
    got = filtered(run, tmp_path, source, "mask", "--mask", tmp_path / f"mask.{extension}")
    assert_gray_levels(got, reference.filter_image(source[1], even))


def test_a_mask_of_another_size_is_a_function_of_frequency_and_multiplies(run, tmp_path, source):
    # A cone, which straight lines between gains follow but near its tip and at its base.
    y, x = np.mgrid[-64:64, -64:64] / 128
    np.save(tmp_path / "mask.npy", np.abs(x) + np.abs(y))
    fx, fy = np.fft.fftfreq(SIZE[1]), np.fft.fftfreq(SIZE[0])[:, None]
    wanted = (np.abs(fx) + np.abs(fy)) * H.lowpass(9).gain(*SIZE)
    got = filtered(run, tmp_path, source, "lowpass", "--radius", 9, "--mask", tmp_path / "mask.npy")
    assert np.abs(got.astype(int) - reference.filter_image(source[1], wanted)).max() <= 2


@pytest.mark.parametrize("command", [["mask"], ["lowpass", "--radius", "9"]], ids=lambda command: command[0])
def test_masks_multiply(run, tmp_path, source, command, rng):
    gains = rng.random((2, 35, 59))  # odd sides have a middle, so that gains that are turned about it are even
    gains += gains[:, ::-1, ::-1]
    options = [*command, "--output", "real"]
    for i, each in enumerate([*gains, gains[0] * gains[1]]):
        np.save(tmp_path / f"{i}.npy", each)
    Image.fromarray(source[1][1:, 1:]).save(tmp_path / "odd.png")

    def masked(name, *masks):
        given = [word for i in masks for word in ("--mask", tmp_path / f"{i}.npy")]
        assert run(*options, *given, tmp_path / "odd.png", tmp_path / name) == (0, b"", "")
        return np.load(tmp_path / name)

    np.testing.assert_allclose(masked("both.npy", 0, 1), masked("product.npy", 2), atol=1e-3)


def test_another_mask_is_not_taken_for_the_one_before(run, tmp_path, source):
    for what, said in ((0.5, "filtered"), (0.5, "skipped"), (0.25, "filtered")):
        np.save(tmp_path / "mask.npy", np.pad([[1.0]], ((4, 3), (4, 3)), constant_values=what))
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / "a.png").write_bytes(source[0].read_bytes())
        code, out, err = run(
            "mask", "--mask", tmp_path / "mask.npy", "--skip-existing", tmp_path / "in", tmp_path / "out"
        )
        summary = out.decode() + err
        assert code == 0
        assert ("1 skipped" in summary) == (said == "skipped")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["notch"], 2, "--at"),
        (
            ["notch", "--at", "0.2"],
            2,
            "'0.2' is not a peak: give FX,FY[,WIDTH], such as 0.123,0.047 or 0.123,0.047,8px. See",
        ),
        (["notch", "--at", "0.2,far"], 2, "'0.2,far' is not a peak"),
        (["notch", "--at", "0.2,0.7"], 2, "(0.2, 0.7) is not a peak"),
        (["notch", "--at", "0.2,0.1,8furlong"], 2, "width '8furlong' has an unknown unit"),
        (["notch", "--at", "0.2,0.1", "--harmonics", "0"], 2, "harmonics 0 is invalid"),
        (["stripes"], 2, "--angle"),
        (["stripes", "--angle", "nan"], 2, "angle 'nan' is not a number of degrees"),
        (["mask"], 2, "--mask"),
        (["lowpass", "--mask", "missing.png"], 1, "missing.png: cannot be read"),
        (["lowpass", "--mask", "text.npy"], 1, "text.npy: is not an array"),
        (["lowpass", "--mask", "zip.npy"], 1, "zip.npy: is not an array"),
        (["lowpass", "--mask", "damaged.npy"], 1, "damaged.npy: is not an array"),
        (["lowpass", "--mask", "nan.npy"], 2, "gains of the mask are NaN"),
        (["lowpass", "--mask", "color.png"], 2, "color.png: has colors"),
        (["mask", "--mask", "complex.npy"], 2, "is not a mask: give real gains of shape (height, width)\n"),
        (["imagej", "--large", "0"], 2, "greater than zero: give a number (pixels), or one with px"),
        (["bandpass", "--large", "wide", "--small", "3"], 2, "'wide' is not a number: give a number (pixels)"),
        (["bandpass", "--inner", "wide", "--outer", "3"], 2, "give a number (cycles across the shorter side)"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_is_impossible_is_one_line(run, tmp_path, source, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.npy").write_text("no array")
    (tmp_path / "zip.npy").write_bytes(b"PK\3\4, as a .npz begins")
    np.save(tmp_path / "nan.npy", np.full((2, 2), np.nan))
    np.save(tmp_path / "complex.npy", np.ones((2, 2), complex))
    (tmp_path / "damaged.npy").write_bytes((tmp_path / "nan.npy").read_bytes().replace(b"}", b" "))
    Image.fromarray(np.array([[[1, 2, 3]]], np.uint8)).save(tmp_path / "color.png")
    found, out, said = run(*arguments, source[0], tmp_path / "out.png")
    assert (found, out, said.count("\n")) == (code, b"", 1)
    assert message in said
    assert not (tmp_path / "out.png").exists()


@pytest.mark.parametrize("pages", [1, 2])
@pytest.mark.parametrize("channels", [2, 5])
def test_imagejs_filter_refuses_what_is_neither_gray_nor_rgb(run, tmp_path, channels, pages):
    source, of_cells = tmp_path / "in", np.zeros((pages, 40, 50, channels), np.uint8)
    source.mkdir()
    tifffile.imwrite(source / "cells.tif", of_cells, photometric="minisblack", planarconfig="contig", metadata=None)
    line = (
        f"fftfilter: {source}/cells.tif: has {channels} channels, and ImageJ's filter takes gray or RGB: leave 1 or 3, "
        "or take bandpass, which filters any\n"
    )
    assert run("imagej", source / "cells.tif", tmp_path / "out.tif") == (2, b"", line)
    assert run("imagej", "-q", source, tmp_path / "out") == (1, b"", line)
    assert run("bandpass", "--large", 40, "--small", 3, "-q", source, tmp_path / "out") == (0, b"", "")


def test_behind_two_dashes_all_are_names(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "fftfilter: --auto: cannot be read" in run("lowpass", "--", "--auto", "out.png")[2]


ALONE = " is for folders, and IN is a file. See"
FOLDER = " is for one picture, and this is a folder. See"
WORKERS = "a cluster has workers of its own. See"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-r", "a.png", "b.png"], f"--recursive{ALONE}"),
        (["--pattern", "*", "a.png", "b.png"], f"--pattern{ALONE}"),
        (["--skip-existing", "a.png", "b.png"], f"--skip-existing{ALONE}"),
        (["--fail-fast", "a.png", "b.png"], f"--fail-fast{ALONE}"),
        (["--cluster", "local", "-", "b.png"], "--cluster filters folders, and strips of a picture in a file: leave"),
        (["--processes", "2", "a.png", "b.png"], f"--processes{ALONE}"),
        (
            ["--format", "tif", "a.png", "b.png"],
            "--format is for folders and standard output: the extension of OUT says its",
        ),
        (
            ["--scale", "folder", "a.png", "b.png"],
            "--scale folder is for folders, and IN is a file: give each, stack, ",
        ),
        (["--device", "all", "a.png", "b.png"], "--device all is for folders: one picture takes one device."),
        (["--device", "0,1", "a.png", "b.png"], "--device 0,1 is for folders: one picture takes one device."),
        (
            ["--preserve-times", "a.png", "-"],
            "--preserve-times needs two files: standard streams and URLs have no times.",
        ),
        (["--preserve-times", "-", "b.png"], "--preserve-times needs two files"),
        (["--preserve-times", "http://127.0.0.1:9/a.png", "b.png"], "--preserve-times needs two files"),
        (["--preserve-times", "a.png", "memory://b.png"], "--preserve-times needs two files"),
        (["--profile", "in", "out"], f"--profile{FOLDER}"),
        (["--save-stages", "stages", "in", "out"], f"--save-stages{FOLDER}"),
        (["--input-limit", "5MB", "in", "out"], f"--input-limit{FOLDER}"),
        (["in", "-"], "IN is a folder, so OUT must be one, not standard output."),
        (
            ["--in-place", "--skip-existing", "in", "in"],
            "--skip-existing compares the inputs, which --in-place",
        ),
        (["--verify", "-n", "in", "out"], "--verify compares what was written, and --dry-run writes nothing."),
        (
            ["--processes", "2", "--cluster", "tcp://127.0.0.1:9", "in", "out"],
            f"--processes is for this machine: {WORKERS}",
        ),
        (["a.png", "a.png", "b.png"], "with several IN, OUT must be a folder, and 'b.png' is not one."),
        (["b.png"], "Missing argument 'OUT'."),
        (
            ["--save-recipe", "r.txt", "a.png", "b.png"],
            "--save-recipe r.txt: give a name that ends in .json, and no link",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_means_nothing_for_a_picture_or_a_folder_is_refused(run, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    for name in ("a.png", "in/a.png"):
        Image.fromarray(np.eye(8, dtype=np.uint8)).save(name)
    code, out, said = run("lowpass", *arguments)
    assert (code, out, said.count("\n")) == (2, b"", 1)
    assert said.startswith(f"fftfilter: {message}")
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == ["a.png", "in", "in/a.png"]


def test_names_may_be_addresses_of_files_and_an_extension_be_of_capitals(run, tmp_path):
    Image.fromarray(np.eye(8, dtype=np.uint8)).save(tmp_path / "a.png")
    options = ("lowpass", "--engine", "book", "--save-recipe", tmp_path / "R.JSON")
    assert run(*options, tmp_path / "a.png", tmp_path / "b.png")[0] == 0
    assert run(*options, f"file://{tmp_path}/a.png", f"file://{tmp_path}/c.png")[0] == 0
    made = (tmp_path / "b.png").read_bytes()
    assert (tmp_path / "c.png").read_bytes() == made
    assert run("lowpass", "--engine", "book", "--format", "png", tmp_path / "a.png", "-")[:2] == (0, made)
    (tmp_path / "there").mkdir()
    for folder, scheme in (("there", ""), ("new/", ""), ("there", "file://"), ("other/", "file://")):  # as cp has it
        assert run("lowpass", "--engine", "book", "-q", tmp_path / "a.png", f"{scheme}{tmp_path}/{folder}") == (
            0,
            b"",
            "",
        )
        assert (tmp_path / folder / "a.png").read_bytes() == made
        (tmp_path / folder / "a.png").unlink()
    for names in ((f"file://{tmp_path}/a.png", tmp_path / "a.png"), (tmp_path / "a.png", f"file://{tmp_path}/a.png")):
        code, _, said = run("lowpass", *names)
        assert (code, "is the input itself" in said) == (2, True)


def test_a_cluster_of_this_machine_takes_a_number_of_processes():
    words = ["lowpass", "--processes=2", "--cluster=local"]
    options_of(context_of(click.Context(cli, info_name="fftfilter"), words, "in", "out")).check_for_folder("out")


def test_a_recipe_is_saved_once_all_is_filtered(run, tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    assert run("lowpass", "--save-recipe", tmp_path / "r.json", tmp_path / "a.png", tmp_path / "b.png")[0] == 1
    assert not (tmp_path / "r.json").exists()
