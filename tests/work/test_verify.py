"""``--verify``: what was written beside the reference, for one picture and for folders."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest
import tifffile
from click.testing import CliRunner
from PIL import Image

from fftfilter import images, transfer
from fftfilter.cli import cli
from fftfilter.device import opencl
from fftfilter.errors import VerifyError
from fftfilter.images.formats import FORMATS
from fftfilter.images.picture import Picture
from fftfilter.output.histogram import counts_of
from fftfilter.output.modes import Auto
from fftfilter.output.rounding import Difference
from fftfilter.region import region_of
from fftfilter.work import verify
from fftfilter.work.opened import open_input
from fftfilter.work.output_file import make_output
from fftfilter.work.recipe import METHODS, Recipe
from fftfilter.work.verify import MOST, NUDGES, references_of
from tests.folders.helpers import pgm
from tests.helpers import SAMPLES

ROOT = SAMPLES.parent


def run(*arguments):
    result = CliRunner().invoke(cli, [str(a) for a in arguments])
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def folder(tmp_path):
    for i in range(6):
        pgm(tmp_path / "in" / f"{i}.pgm", i)
    return tmp_path / "in"


# One picture


def test_a_picture_whose_reference_takes_more_memory_than_is_free_is_refused(tmp_path, monkeypatch):
    images.write(Picture(np.zeros((1, 1200, 1000), np.uint8), None, 255, "PNG"), tmp_path / "in.png")
    monkeypatch.setattr("fftfilter.system.free_memory", lambda: 64 << 20)
    arguments = ["lowpass", "--edges", "mirror", "--verify", tmp_path / "in.png", tmp_path / "out.png"]
    said = f"{tmp_path / 'in.png'}: 1000 x 1200 pixels take 96,000,000 bytes to filter, more than the "
    code, _, stderr = run(*arguments)
    assert (code, said in stderr) == (1, True)
    assert not (tmp_path / "out.png").exists()


def test_one_picture_is_read_back_and_compared(tmp_path):
    source = pgm(tmp_path / "in.pgm")
    wanted = f"{tmp_path / 'out.png'}: off by at most 0 of 255 levels, in 0 of 96 samples\n"
    assert run("highpass", "--verify", source, tmp_path / "out.png") == (0, wanted, "")
    # With a number, as for folders; from standard input, quietly, in place with another scale.
    command = [sys.executable, "-m", "fftfilter", "highpass", "--verify", "3", "-", tmp_path / "out.png"]
    done = subprocess.run(command, check=False, input=source.read_bytes(), cwd=ROOT, capture_output=True)
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, wanted, b"")
    assert run("highpass", "--verify", "-q", source, tmp_path / "out.png") == (0, "", "")
    code, said, _ = run("highpass", "--verify", "--scale", "0:9", "--in-place", source, source)
    assert (code, said.split(": ")[1][:17]) == (0, "off by at most 0 ")


@pytest.mark.parametrize(
    ("suffix", "mode"),
    [(suffix, "L") for suffix, kind in FORMATS.items() if not (kind.lossy or kind.is_by_library)]
    + [(suffix, mode) for suffix in (".png", ".tif") for mode in ("I;16", "RGBA")],
)
def test_every_lossless_format_is_verified(tmp_path, suffix, mode):
    pixels = np.random.default_rng(3).integers(0, 256, (8, 12, 4), dtype=np.uint8)
    pixels = {"L": pixels[..., 0], "I;16": pixels[..., 0] * np.uint16(257), "RGBA": pixels}[mode]
    Image.fromarray(pixels).save(tmp_path / "in.png")
    code, said, error = run("highpass", "--verify", tmp_path / "in.png", tmp_path / f"out{suffix}")
    assert (code, said.count("off by at most"), error) == (0, 1, "")


@pytest.mark.parametrize("suffix", [".png", ".webp"])
def test_black_frames_of_a_color_animation_are_verified_although_they_are_gray_again(tmp_path, suffix):
    red, blue = (Image.new("RGB", (12, 8), color) for color in ((200, 9, 9), (9, 9, 200)))
    red.save(tmp_path / "in.png", save_all=True, append_images=[blue])
    code, said, error = run("highpass", "--verify", tmp_path / "in.png", tmp_path / f"out{suffix}")
    assert (code, said.count("off by at most 0"), error.count("internal")) == (0, 1, 0), error


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("out.jpg", "--verify cannot tell a fault from this format's losses: write .png or .tif"),
        ("out.gif", "--verify cannot tell a fault from this format's losses: write .png or .tif"),
        ("out.webp", "--verify cannot tell a fault from this format's losses: write .png or .tif"),
        ("-", "standard output: --verify cannot read it back: write a file"),
        (os.devnull, "--verify cannot read it back: write a file"),
    ],
)
def test_what_cannot_be_read_back_is_refused_before_the_work(tmp_path, target, message):
    quality = ["--quality", "50"] if target == "out.webp" else []  # which has no losses without
    target = target if target in ("-", os.devnull) else tmp_path / target
    code, said, error = run("highpass", "--verify", *quality, pgm(tmp_path / "in.pgm"), target)
    assert (code, said, error.count("\n")) == (2, "", 1)
    assert message in error
    assert [path.name for path in tmp_path.iterdir()] == ["in.pgm"]


def test_a_file_with_other_pixels_is_told(tmp_path):
    source = pgm(tmp_path / "in.pgm")
    recipe = Recipe(transfer.highpass())
    assert run("highpass", source, tmp_path / "out.png")[0] == 0

    def found():
        return verify.of_earlier(open_input(source, recipe), tmp_path / "out.png")

    verify.check(found(), tmp_path / "out.png")
    pixels = images.read(tmp_path / "out.png").planes.copy()
    pixels[0, 3, 4] ^= 64
    images.write(Picture(pixels, None, 255, "PNG"), tmp_path / "out.png")
    right, wrong = pixels[0, 3, 4] ^ 64, pixels[0, 3, 4]
    told = f"out.png: off by at most 64 of 255 levels, in 1 of 96 samples; the worst is {wrong} for {right} at x 4, y 3"
    with pytest.raises(VerifyError, match=re.escape(told)):
        verify.check(found(), tmp_path / "out.png")
    images.write(Picture(pixels[:, 1:], None, 255, "PNG"), tmp_path / "out.png")
    with pytest.raises(VerifyError, match="is not the picture that was written"):
        found()


def changed(path, *, add):
    """Change the last sample of a TIFF: of its last page, row and column."""
    pixels = tifffile.imread(path)
    pixels[(-1,) * pixels.ndim] += add
    tifffile.imwrite(path, pixels, photometric="minisblack")


NOISE = np.random.default_rng(5).integers(0, 256, (8, 12))


def keeping(**options):
    return Recipe(transfer.lowpass(3), **{"output": "keep", **options})


@pytest.mark.parametrize(
    ("given", "recipe", "least", "most"),
    [
        (NOISE.astype(np.uint8), keeping(), 0, 4),
        (NOISE.astype(np.int16) * 100 - 9000, keeping(), 0, 9),
        (NOISE.astype(np.float32) / 255, keeping(), 1e-7, 1e-3),
        (NOISE.astype(np.float32) / 255, keeping(output="magnitude"), 1e-7, 1e-3),
        (NOISE.astype(np.uint8), keeping(output="real"), 1e-5, 0.3),
        (NOISE.astype(np.uint16) * 257, keeping(output="signed"), 0, 300),
        (NOISE.astype(np.uint8), keeping(region=region_of((0, 0, 3, 4), None, 1)), 0, 4),  # and it is outside
        (NOISE.astype(np.float32) / 255, keeping(region=region_of((0, 0, 3, 4), None, 1)), 1e-7, 1e-3),
        (np.stack([NOISE] * 2).astype(np.uint8), keeping(), 0, 4),
        (np.stack([NOISE] * 2).astype(np.float32) / 255, keeping(), 1e-7, 1e-3),
        (NOISE.astype(np.uint8), Recipe(transfer.imagej(), "imagej", METHODS["imagej"].usual, "keep"), 0, 4),
        (NOISE.astype(np.float32) / 255, Recipe(transfer.descreen(), "descreen", output="keep"), 1e-7, 1e-3),
    ],
    ids=lambda each: f"{each.shape} {each.dtype}" if isinstance(each, np.ndarray) else getattr(each, "output", None),
)
def test_one_sample_that_is_wrong_is_told_in_every_kind_of_output(tmp_path, given, recipe, least, most):
    tifffile.imwrite(tmp_path / "in.tif", given, photometric="minisblack")
    target = str(tmp_path / "out.tif")
    opened = open_input(tmp_path / "in.tif", recipe)
    with recipe.open_filter(opened.transfer) as filter_:
        make_output(opened, target, filter_)
    for add, is_right in ((0, True), (least, True), (most, False)):
        changed(target, add=add)
        opened = open_input(tmp_path / "in.tif", recipe)
        with nullcontext() if is_right else pytest.raises(VerifyError, match=r"off by at most|the worst is"):
            verify.check(verify.of_earlier(opened, target), target)


@pytest.mark.parametrize(
    ("given", "replaced"),
    [
        (NOISE.astype(np.uint8), NOISE.astype(np.uint16)),
        (NOISE.astype(np.uint8), NOISE.astype(np.float32)),
        (NOISE.astype(np.int16), NOISE.astype(np.float32)),
        (NOISE.astype(np.int16), NOISE.astype(np.int32)),
        (NOISE.astype(np.uint8), NOISE.astype(np.uint8).T),
        (np.stack([NOISE] * 2).astype(np.uint8), NOISE.astype(np.uint8)),
        (np.stack([NOISE] * 2).astype(np.uint8), np.stack([NOISE] * 3).astype(np.uint8)),
    ],
    ids=lambda each: f"{each.shape} {each.dtype}",
)
def test_an_output_whose_place_another_picture_has_taken_is_told(tmp_path, given, replaced):
    """Also if it has the same pixels."""
    recipe, target = Recipe(transfer.Transfer(()), output="keep"), str(tmp_path / "out.tif")
    for pixels, is_right in ((given, True), (replaced, False)):
        tifffile.imwrite(tmp_path / "in.tif", given, photometric="minisblack")
        tifffile.imwrite(target, pixels, photometric="minisblack")
        message = f"^{re.escape(target)}: is not the picture that was written: another one has taken its place$"
        with nullcontext() if is_right else pytest.raises(VerifyError, match=message):
            verify.check(verify.of_earlier(open_input(tmp_path / "in.tif", recipe), target), target)


@pytest.mark.parametrize("arguments", [(), ("--verify",), ("--verify", "3")], ids=str)
def test_arguments_that_are_missing_are_named(arguments):
    code, _, error = run("highpass", *arguments)
    assert (code, error.count("\n"), "argument" in error) == (2, 1, True)


# Folders


@pytest.mark.parametrize(
    ("options", "verified"),
    [
        (["--verify", "2"], ["2", "5"]),
        (["--verify"], ["0", "1", "2", "3", "4", "5"]),
        (["--verify", "3", "--processes", "2"], ["1", "3", "5"]),
    ],
    ids=str,
)
def test_a_sample_of_a_folder_is_verified(tmp_path, folder, options, verified):
    out, report = tmp_path / "out", tmp_path / "report.jsonl"
    code, said, error = run("highpass", "--report", report, *options, folder, out)
    assert (code, "6 of 6 files" in error) == (0, True)
    assert sorted(said.splitlines()) == [
        f"{out / name}.pgm: off by at most 0 of 255 levels, in 0 of 96 samples" for name in verified
    ]
    entries = [json.loads(line) for line in report.read_text().splitlines()]
    found = {entry["output"]: entry["difference"] for entry in entries if entry["difference"]}
    assert sorted(found) == [str(out / f"{name}.pgm") for name in verified]
    assert next(iter(found.values())) == {"largest": 0, "white": 255, "samples": 0, "of": 96}


def test_a_file_that_is_skipped_is_verified_as_it_is(tmp_path, folder):
    out = tmp_path / "out"
    assert run("highpass", "-q", folder, out) == (0, "", "")
    code, said, error = run("highpass", "--skip-existing", "--verify", "2", folder, out)
    assert (code, said.count("off by at most 0 of 255"), "6 skipped" in error) == (0, 2, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--format", "jpg"], "0.jpg: --verify cannot tell a fault from this format's losses: write .png or .tif"),
        (["-n"], "--verify compares what was written, and --dry-run writes nothing."),
    ],
)
def test_a_folder_that_cannot_be_verified_is_refused_before_the_work(tmp_path, folder, options, message):
    code, said, error = run("highpass", "--verify", *options, folder, tmp_path / "out")
    assert (code, said, error.count("\n")) == (2, "", 1)
    assert message in error
    assert not (tmp_path / "out").exists()


# A fault


def test_a_kernel_that_computes_wrongly_is_told(tmp_path, folder):
    """The device's own check is a high-pass of ideal shape: a fault of another one gets past it."""
    kernels = tmp_path / "fftfilter" / "kernels"
    shutil.copytree(ROOT / "fftfilter", tmp_path / "fftfilter", ignore=shutil.ignore_patterns("kernels"))
    shutil.copytree(opencl.folder(), kernels)
    text = (kernels / "shapes.cl").read_text()
    assert text.count("1 / (1 + power)") == 1
    (kernels / "shapes.cl").write_text(text.replace("1 / (1 + power)", "1 / (2 + power)"))
    wrong = {"env": os.environ | {"PYTHONPATH": str(tmp_path)}, "cwd": tmp_path, "capture_output": True, "text": True}
    program = [sys.executable, "-m", "fftfilter", "highpass", "--engine", "book", "--shape", "butterworth"]

    done = subprocess.run([*program, "--verify", folder / "0.pgm", "out.pgm"], check=False, **wrong)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "fftfilter: out.pgm: off by at most " in done.stderr
    assert re.search(
        r"of 96 samples; the worst is \d+ for \d+ at x \d, y \d\d?; right is at most 1 of 255", done.stderr
    )

    done = subprocess.run([*program, "--verify", "1", "--report", "report.jsonl", folder, "out"], check=False, **wrong)
    assert (done.returncode, done.stdout) == (1, "")
    assert "5 of 6 files filtered" in done.stderr
    assert "1 failed" in done.stderr
    last = [json.loads(line) for line in (tmp_path / "report.jsonl").read_text().splitlines()][-1]
    assert (last["status"], last["difference"]["largest"] > 1) == ("failed", True)


def test_values_on_the_edge_of_a_bin_may_fall_on_either_side_of_it():
    """Half of the samples lie on the edge where the range of auto ends: rounding alone decides what is white."""
    values = np.array([[0.0, 1024, 2048, 2048, 2048, 4096]]) / 4096
    counts = {nudge: np.flatnonzero(counts_of(values, nudge)[1]).tolist() for nudge in NUDGES}
    for nudge, counted in counts.items():
        assert counted == ([0, 1023, 2047, 4095] if nudge < 0 else [0, 1024, 2048, 4095])
    # Black and white each on either side: such rounding at one end says nothing of the other.
    planes = np.array([[[0, 1024, 1024, 1024, 2048, 2048, 2048, 3072, 3072, 4096]]], np.uint16)
    given = {"scale": Auto(60.0), "depth": images.Depth(np.dtype("u1"), 255), "edges": "wrap"}
    every = transfer.lowpass("200%")
    # One bin less, as many, or one more between black and white, and what lies between as only some samples do so.
    floats = {**given, "depth": images.Depth(np.dtype("f4"), 1)}
    made = [each.wanted.ravel() for each in references_of(planes, 65535, every, "magnitude", **floats)]
    for is_black in (True, False):
        grays = [gray[4] for gray in made if (gray[1] == 0) == is_black]
        assert (len(set(grays)) > 3, max(grays) - min(grays) > 2e-4) == (True, True)
    assert len(list(references_of(planes, 65535, every, "magnitude", **given | {"scale": None}))) == 1
    # Black is as far from gray, which 0 becomes, as white: one end says the other.
    signed = [each.wanted.ravel().tolist() for each in references_of(planes, 65535, every, "signed", **given)]
    assert len(signed) == 2 + MOST
    assert signed == [[128, 191, 191, 191, 255, 255, 255, 255, 255, 255]] * len(signed)


def test_numbers_that_float32_stores_in_part_may_differ_by_a_step():
    planes = np.random.default_rng(2).random((1, 12, 10)) * 1e-43
    given = {"scale": None, "depth": images.Depth(np.dtype("f4"), 1), "edges": "wrap"}
    wanted, values, unit = next(references_of(planes, 1.0, transfer.lowpass(), "keep", **given))
    off = wanted + np.float32(1e-45)
    assert (off != wanted).any()
    assert Difference.of(off, wanted, 1, unit=unit, values=values).is_right
    assert not Difference.of(wanted + np.float32(1e-41), wanted, 1, unit=unit).is_right


def test_a_file_that_two_libraries_read_differently_is_told(tmp_path, monkeypatch):
    read = images.read

    def shifted(*given):
        found = read(*given)
        if str(given[0]).endswith("x.png"):
            found.planes = found.planes ^ 1
        return found

    monkeypatch.setattr(images, "read", shifted)
    code, _, said = run("highpass", "--verify", SAMPLES / "camera.pgm", tmp_path / "x.png")
    assert (code, "x.png: two libraries read it differently; report this line" in said) == (1, True)
