"""``--region``, ``--protect`` and ``--feather``: what is filtered, what stays, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import tifffile
from click.testing import CliRunner
from PIL import Image

import fftfilter
from fftfilter import transfer as H
from fftfilter.cli import cli
from fftfilter.errors import FftfilterError, ParameterError
from fftfilter.filters import Filter
from fftfilter.work import verify
from fftfilter.work.opened import open_input
from fftfilter.work.recipe import Recipe
from fftfilter.work.region import region_of
from tests.folders.helpers import names

HEIGHT, WIDTH = 24, 32
BOX = (6, 5, 18, 14)
INSIDE = np.zeros((HEIGHT, WIDTH), bool)
INSIDE[5:19, 6:24] = True
HOLE = np.zeros((HEIGHT, WIDTH), bool)
HOLE[10:13, 12:15] = True
FILTER = H.lowpass("6px")
LOWPASS = ("lowpass", "--radius", "6px", "--output", "keep")


def run(*arguments):
    result = CliRunner().invoke(cli, [str(each) for each in arguments])
    return result.exit_code, result.stdout, result.stderr


def weight_of(inside, feather):
    """Return the weight by its definition: from all distances."""
    rows, columns = np.nonzero(~inside)
    if not len(rows):
        return np.ones(inside.shape)
    y, x = np.mgrid[: inside.shape[0], : inside.shape[1]]
    away = np.hypot(y[..., None] - rows, x[..., None] - columns).min(axis=-1)
    return 0.5 - 0.5 * np.cos(np.pi * np.minimum(1, away / (feather + 1)))


@pytest.fixture
def noise(rng):
    return rng.integers(0, 256, (HEIGHT, WIDTH)).astype(np.uint8)


@pytest.fixture
def masks(tmp_path):
    """The masks as files, one of them with colors."""
    Image.fromarray(INSIDE).save(tmp_path / "inside.png")
    Image.fromarray(np.stack([HOLE * np.uint8(i) for i in (0, 1, 0)], axis=-1)).save(tmp_path / "hole.png")
    return tmp_path / "inside.png", tmp_path / "hole.png"


@pytest.mark.parametrize("feather", [0, 0.5, 1, 2.7, 8, 40])
@pytest.mark.parametrize("density", [0.2, 0.9, 0.99])
def test_the_weight_is_that_of_the_distance_to_the_nearest_pixel_that_stays(rng, feather, density):
    for shape in (12, 10), (1, 9), (9, 1):
        inside = rng.random(shape) < density
        inside[0, 0] = True
        weight = region_of(inside, None, feather).weight(*shape)
        np.testing.assert_allclose(weight, weight_of(inside, feather), rtol=0, atol=1e-6)
        np.testing.assert_array_equal(weight == 0, ~inside)


@pytest.mark.parametrize("feather", [None, 0, 3])
def test_outside_all_stays_deep_inside_all_is_filtered_and_the_border_is_between(tmp_path, noise, masks, feather):
    Image.fromarray(noise).save(tmp_path / "in.png")
    options = [] if feather is None else ["--feather", feather]
    wanted = Filter(FILTER, output="keep")(noise)
    for areas, inside in (
        (("--region", ",".join(map(str, BOX))), INSIDE),
        (("--region", masks[0]), INSIDE),
        (("--protect", masks[1]), ~HOLE),
        (("--region", masks[0], "--protect", "12,10,3,3"), INSIDE & ~HOLE),
    ):
        code, out, said = run(*LOWPASS, *areas, *options, "--verify", tmp_path / "in.png", tmp_path / "out.png")
        assert (code, said) == (0, ""), said
        assert "off by at most" in out
        weight = weight_of(inside, 8 if feather is None else feather)
        mixed = np.floor(noise + weight * (wanted.astype(float) - noise) + 0.5 + 1 / 2048)
        np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "out.png")), mixed)


@pytest.mark.parametrize("output", ["keep", "real"])
@pytest.mark.parametrize("dtype", ["u1", "u2", "f4"])
def test_samples_that_stay_are_those_of_the_input_to_the_last_bit(tmp_path, rng, output, dtype):
    given = (rng.random((HEIGHT, WIDTH, 4)) * (1 if dtype == "f4" else 255)).astype(dtype)
    tifffile.imwrite(tmp_path / "in.tif", given, photometric="rgb", extrasamples=["unassalpha"])
    options = ["lowpass", "--radius", "6px", "--output", output, "--region", "6,5,18,14", "--verify"]
    code, _, said = run(*options, tmp_path / "in.tif", tmp_path / "out.tif")
    assert code == 0, said
    made = tifffile.imread(tmp_path / "out.tif")
    assert made.dtype == (np.float32 if output == "real" else given.dtype)
    np.testing.assert_array_equal(made[..., :3][~INSIDE], given[..., :3][~INSIDE])
    assert (made[..., :3][INSIDE] != given[..., :3][INSIDE]).any()
    if output == "keep":
        np.testing.assert_array_equal(made[..., 3], given[..., 3])


@pytest.mark.parametrize(("dtype", "missing", "options"), [("f4", np.nan, ()), ("u1", 7, ("--nodata", 7))])
def test_missing_samples_stay_missing_inside_of_a_region_and_on_its_border(tmp_path, rng, dtype, missing, options):
    given = (rng.random((HEIGHT, WIDTH)) * (1 if dtype == "f4" else 5)).astype(dtype)
    holes = rng.random(given.shape) < 0.1
    given[holes] = missing
    tifffile.imwrite(tmp_path / "in.tif", given)
    for suffix in ".tif", ".png":
        region = ("--region", "6,5,18,14", "--feather", 3, "--verify", *options)
        code, _, said = run(*LOWPASS, *region, tmp_path / "in.tif", tmp_path / f"out{suffix}")
        assert code == 0, said
    made = tifffile.imread(tmp_path / "out.tif")
    np.testing.assert_array_equal(made[holes | ~INSIDE], given[holes | ~INSIDE])
    assert (made[INSIDE & ~holes] != given[INSIDE & ~holes]).any()


def test_a_part_of_a_picture_of_another_depth_than_its_output_has_the_levels_of_the_output(tmp_path):
    given = np.random.default_rng(3).integers(0, 101, (HEIGHT, WIDTH)).astype(np.uint8)
    (tmp_path / "in.pgm").write_bytes(b"P5\n%d %d\n100\n" % (WIDTH, HEIGHT) + given.tobytes())
    assert run(*LOWPASS, "--region", "6,5,18,14", "--verify", tmp_path / "in.pgm", tmp_path / "out.png")[0] == 0
    made = np.asarray(Image.open(tmp_path / "out.png"))
    np.testing.assert_array_equal(made[~INSIDE], np.floor(given[~INSIDE] * 2.55 + 0.5 + 1 / 2048))


def test_pages_folders_python_previews_and_imagej_have_regions_too(tmp_path, noise, masks):
    stack = np.stack([noise, noise[::-1]])
    (tmp_path / "in").mkdir()
    tifffile.imwrite(tmp_path / "in/stack.tif", stack, photometric="minisblack")
    Image.fromarray(noise).save(tmp_path / "in/one.png")
    region, report = ("--region", masks[0], "--feather", 3), tmp_path / "report.jsonl"
    given = (*LOWPASS, *region, "--verify", "9", "--preview", tmp_path / "page.png", "--report", report)
    assert run(*given, "--processes", 2, tmp_path / "in", tmp_path / "out")[0] == 0
    lines = [json.loads(line)["filter"] for line in report.read_text().splitlines()]
    assert [(line["region"], line["feather"]) for line in lines] == [(str(masks[0]), 3)] * 2
    assert run(*given[:-2], tmp_path / "in/stack.tif", tmp_path / "pages.tif")[0] == 0
    options = {"output": "keep", "protect": ~INSIDE, "feather": np.float32(3)}
    assert fftfilter.filter_stack(tmp_path / "in/stack.tif", tmp_path / "python.tif", FILTER, **options) == 2
    pages = tifffile.imread(tmp_path / "out/stack.tif")
    np.testing.assert_array_equal(pages[0], np.asarray(Image.open(tmp_path / "out/one.png")))
    np.testing.assert_array_equal(pages[:, ~INSIDE], stack[:, ~INSIDE])
    for name in ("pages.tif", "python.tif"):
        np.testing.assert_array_equal(tifffile.imread(tmp_path / name), pages)
    imagej = ("imagej", "--no-autoscale", "--region", "6,5,18,14", "--verify")
    assert run(*imagej, tmp_path / "in/one.png", tmp_path / "imagej.png")[0] == 0
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "imagej.png"))[~INSIDE], noise[~INSIDE])


def test_an_output_without_the_region_is_not_right(tmp_path, noise):
    Image.fromarray(noise).save(tmp_path / "in.png")
    recipe = Recipe(FILTER, output="keep", region=region_of(BOX, None, None))
    assert run(*LOWPASS, tmp_path / "in.png", tmp_path / "out.png")[0] == 0
    frame = open_input(tmp_path / "in.png", recipe).frame(tmp_path / "out.png", keep=True)
    assert not verify.of_file(frame, tmp_path / "out.png", recipe).is_right


def test_a_run_is_resumed_with_the_same_region_alone(tmp_path, noise, masks):
    (tmp_path / "in").mkdir()
    Image.fromarray(noise).save(tmp_path / "in/one.png")
    masks[0].rename(tmp_path / "again.png")
    for options, said in (
        (("--region", tmp_path / "again.png"), "1 of 1 files filtered"),
        (("--region", tmp_path / "again.png"), "1 skipped"),
        (("--region", tmp_path / "again.png", "--feather", 3), "1 of 1 files filtered"),
        (("--protect", tmp_path / "again.png"), "1 of 1 files filtered"),
    ):
        assert said in run(*LOWPASS, "--skip-existing", *options, tmp_path / "in", tmp_path / "out")[2]


REFUSED = {
    "40,0,3,3": "reaches beyond the picture of 32 x 24 pixels",
    "30,0,3,3": "reaches beyond the picture of 32 x 24 pixels",
    "1,2,0,3": "is empty, or begins outside",
    "1,2,3": "is not a rectangle",
    "-1,2,3,4": "is not a rectangle",
    "1.5,2,3,4": "is not a rectangle",
    "99999999999999999999,2,3,4": "is not a rectangle",
    "other.png": "has 10 x 12 pixels, and the picture 32 x 24",
    "black.png": "is empty: all of its pixels are 0",
    "missing.png": "no such file",
    "in.txt": "in.txt: ",
    "0,0,2,2 --protect 0,0,9,9": "no pixel is left to filter",
    "0,0,9,9 --feather nan": "feather nan is not a width",
    "0,0,9,9 --feather -1": "feather -1.0 is not a width",
    "0,0,9,9 --feather 1e9": "is not a width: give pixels from 0 to 1000",
    "0,0,9,9 --output magnitude": "need an output with the gray levels of the input",
    "0,0,9,9 --output signed": "need an output with the gray levels of the input",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_part_of_the_picture_is_refused_in_one_line(tmp_path, monkeypatch, noise, what):
    monkeypatch.chdir(tmp_path)
    Image.fromarray(noise).save("in.png")
    Image.fromarray(noise[:12, :10]).save("other.png")
    Image.fromarray(0 * noise).save("black.png")
    Path("in.txt").write_text("no picture")
    code, _, said = run(*LOWPASS, "--region", *what.split(), "in.png", "out.png")
    assert (code, said.count("\n"), REFUSED[what] in said) == (code or 2, 1, True), said
    assert code == (1 if what in ("missing.png", "in.txt") else 2)
    assert not Path("out.png").exists()


def test_a_page_or_a_file_of_another_size_than_the_mask_is_an_error_with_its_name(tmp_path, noise, masks):
    (tmp_path / "in").mkdir()
    with tifffile.TiffWriter(tmp_path / "in/stack.tif") as file:
        for page in (noise, noise[:12]):
            file.write(page, photometric="minisblack")
    Image.fromarray(noise).save(tmp_path / "in/one.png")
    code, _, said = run(*LOWPASS, "-q", "--region", masks[0], tmp_path / "in", tmp_path / "out")
    assert (code, said.count("\n")) == (1, 1), said
    assert "stack.tif, page 2: region " in said
    assert names(tmp_path / "out") == ["one.png"]


def test_masks_are_inputs_which_no_output_replaces(tmp_path, noise, masks):
    Image.fromarray(noise).save(tmp_path / "in.png")
    before = [each.read_bytes() for each in masks]
    for option, mask in zip(("--region", "--protect"), masks, strict=True):
        code, _, said = run(*LOWPASS, option, mask, tmp_path / "in.png", mask)
        assert (code, "is the input itself" in said) == (2, True), said
    assert [each.read_bytes() for each in masks] == before


@pytest.mark.parametrize(
    "given",
    [
        *({"region": each} for each in ((1, 2, 3), (1.0, 2, 3, 4), [[1, 2], [3]], 3)),
        *({"protect": each} for each in (np.zeros((24, 32)), np.ma.masked_equal(np.ones((24, 32)), 1), (-1, 0, 3, 3))),
        *({"region": BOX, "feather": each} for each in (True, "3", [3], np.inf)),
        {"feather": 3},
    ],
    ids=str,
)
def test_python_refuses_what_is_no_region(tmp_path, noise, given):
    Image.fromarray(noise).save(tmp_path / "in.png")
    with pytest.raises(ParameterError):
        fftfilter.filter_stack(tmp_path / "in.png", tmp_path / "out.png", FILTER, output="keep", **given)
    assert issubclass(ParameterError, FftfilterError)
    assert not (tmp_path / "out.png").exists()
