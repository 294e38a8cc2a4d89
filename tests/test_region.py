"""``--region``, ``--protect`` and ``--feather``: what is filtered, what stays, and what is refused."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import tifffile
from click.testing import CliRunner
from PIL import Image

import fftfilter
from fftfilter import region as of_region
from fftfilter import transfer as H
from fftfilter.cli import cli
from fftfilter.errors import FftfilterError, ParameterError
from fftfilter.filters import Filter
from fftfilter.imagej_filter import ImageJFilter
from fftfilter.output.ramp import Gray
from fftfilter.preview.page import TITLE
from fftfilter.region import region_of
from fftfilter.work import verify
from fftfilter.work.opened import open_input
from fftfilter.work.recipe import Recipe
from tests.folders.helpers import names
from tests.helpers import COMMAND

HEIGHT, WIDTH = 24, 32
U8 = np.dtype(np.uint8)
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


@pytest.mark.parametrize("shape", [(9, 1), (1, 9), (4, 3)])
def test_the_nearest_pixel_that_stays_may_be_at_the_other_end(shape):
    for corner in ((0, 0), (-1, -1)):
        inside = np.ones(shape, bool)
        inside[corner] = False
        weight = region_of(inside, None, 40).weight(*shape)
        np.testing.assert_allclose(weight, weight_of(inside, 40), rtol=0, atol=1e-6)


def test_the_weight_that_is_kept_for_the_next_picture_is_not_changed_by_its_user():
    region = region_of(BOX)
    first = region.weight(HEIGHT, WIDTH)
    assert region.weight(HEIGHT, WIDTH) is first
    region_of(EDGE).weight(HEIGHT, WIDTH)
    assert region.weight(HEIGHT, WIDTH) is not first  # one is kept: it takes as much memory as a picture
    with pytest.raises(ValueError, match="read-only"):
        region.weight(HEIGHT, WIDTH)[0, 0] = 1


def test_one_pixel_is_a_region_and_the_widest_feather_one_of_its_border():
    region = region_of((2, 1, 1, 1), None, 1000)
    assert region.pixels(3, 4).astype(int).tolist() == [[0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
    assert region.feather == 1000
    with pytest.raises(ParameterError, match=r"^feather 1000.5 is not a width: give pixels from 0 to 1000$"):
        region_of(BOX, None, 1000.5)


def test_what_is_no_region_at_all_is_told_what_is_one():
    for given, said in (
        (lambda: region_of(feather=3), "feather 3 is for the border of a region: give region or protect, too"),
        (
            lambda: region_of((1.0, 2, 3, 4)),
            "region of shape (4,) and type float64 is no part of a picture: give (x, y, width, height), a mask (height",
        ),
        (
            lambda: region_of(np.ma.masked_equal(np.eye(3), 1)),
            "3 values of the region are masked, and a transform needs them all",
        ),
        (
            lambda: region_of(None, np.zeros((2, 3))),
            "protect <array of type float64> is empty: all of its pixels are 0",
        ),
    ):
        with pytest.raises(ParameterError) as caught:
            given()
        assert str(caught.value).startswith(said)


def test_an_area_is_said_by_the_option_that_it_is_given_to():
    inside = region_of(BOX).inside
    assert str(inside) == "region 6,5,18,14"
    assert str(region_of(None, inside).outside) == "protect 6,5,18,14"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_strips_of_a_large_picture_are_those_of_a_whole_one(monkeypatch, rng, dtype):
    region = region_of(BOX, None, 3)
    own, made = (rng.integers(0, 255, (2, HEIGHT, WIDTH)).astype(dtype) for _ in range(2))
    holes = rng.random(own.shape) < 0.1
    if dtype == np.float32:
        own[holes] = made[holes] = rng.choice([np.nan, np.inf, -np.inf], holes.sum())
    made.flags.writeable = False  # as arrays of other libraries are
    whole = region.blended(own, made, holes, None)
    assert whole is not made
    with np.errstate(invalid="ignore"):
        wanted = own + weight_of(INSIDE, 3) * (made.astype(float) - own)
    wanted = wanted if dtype == np.float32 else np.floor(wanted + 0.5 + 1 / 2048)
    np.testing.assert_allclose(whole, np.where(holes, made, wanted), rtol=1e-6)
    monkeypatch.setattr(of_region, "ROWS_PIXELS", 5 * WIDTH)  # 24 rows are four strips of 5, and 4 rows
    np.testing.assert_array_equal(region.blended(own, made, holes, None), whole)


@pytest.mark.parametrize(("dtype", "white"), [(np.uint8, 100), (np.uint16, 100), (np.uint16, 255), (np.float32, 2)])
def test_what_stays_has_the_levels_of_the_output_and_what_is_above_white_is_white(dtype, white):
    own = np.full((1, 3, 4), white / 2).astype(dtype)
    own[0, 0] = [0, white // 10, white, white + 9]
    made = region_of((0, 2, 4, 1), None, 0).blended(own, np.full((1, 3, 4), 7, np.uint8), None, Gray(white, U8, 255))
    kept = np.float64(white // 10) * 255 / white
    assert made[0, 0].tolist() == [0, np.floor(kept + 0.5 + 1 / 2048), 255, 255]
    assert made[0, 2].tolist() == [7] * 4


def test_what_is_clipped_of_a_region_lies_beyond_the_levels_that_are_rounded_to_black_and_white():
    """As in a whole picture: halves are rounded up, also those that rounding left short by a little."""
    half = 0.5 + 1 / 4096
    levels = np.array([[[-0.6, -half, 0, 100, 255.4, 256 - half, 256, 300]]])
    region, none = region_of((0, 0, 7, 1), None, 0), np.zeros(levels.shape, bool)
    one = region_of((0, 0, 1, 1))
    beyond = [one.clipped(level, none[..., :1], Gray(255, U8, 255)) for level in levels.reshape(-1, 1, 1, 1)]
    assert beyond == [1, 0, 0, 0, 0, 1, 1, 1]
    assert region.clipped(levels, none, Gray(255, U8, 255)) == 3 / 8
    assert region.clipped(levels / 255 * 2, none, Gray(2, U8, 255)) == 3 / 8
    assert region.clipped(levels, levels == 256, Gray(255, U8, 255)) == 2 / 7


@pytest.mark.parametrize("feather", [None, 0, 3])
def test_outside_all_stays_deep_inside_all_is_filtered_and_the_border_is_between(tmp_path, noise, masks, feather):
    Image.fromarray(noise).save(tmp_path / "in.png")
    options = [] if feather is None else ["--feather", feather]
    wanted = Filter(FILTER, output="keep", edges="wrap")(noise)
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
    options = {"edges": "wrap", "protect": ~INSIDE, "feather": np.float32(3)}
    assert fftfilter.filter_stack(tmp_path / "in/stack.tif", tmp_path / "python.tif", FILTER, **options) == 2
    pages = tifffile.imread(tmp_path / "out/stack.tif")
    np.testing.assert_array_equal(pages[0], np.asarray(Image.open(tmp_path / "out/one.png")))
    np.testing.assert_array_equal(pages[:, ~INSIDE], stack[:, ~INSIDE])
    for name in ("pages.tif", "python.tif"):
        np.testing.assert_array_equal(tifffile.imread(tmp_path / name), pages)
    imagej = ("imagej", "--no-autoscale", "--region", "6,5,18,14", "--verify")
    assert run(*imagej, tmp_path / "in/one.png", tmp_path / "imagej.png")[0] == 0
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "imagej.png"))[~INSIDE], noise[~INSIDE])


# Python

COLORS = {"channel_axis": -1}
EDGE = (0, 0, 9, 9)
AS_THE_COMMAND = [
    ("lowpass --radius 6px --output keep --region 6,5,18,14", "u1", {"region": BOX}),
    ("lowpass --radius 6px --output keep --protect inside.png --feather 3", "u2", {"protect": INSIDE, "feather": 3}),
    (
        "lowpass --radius 6px --output real --region 6,5,18,14 --protect hole.png",
        "f4",
        {"region": BOX, "protect": HOLE},
    ),
    ("lowpass --radius 6px --output keep --region 6,5,18,14 --channels luminance", "color", {"region": BOX, **COLORS}),
    ("stripes --angle 0 --edges wrap --region inside.png --feather 0", "u1", {"region": 0.5 * INSIDE, "feather": 0}),
    ("lowpass --radius 6px --output keep --region 6,5,18,14", "holes", {"region": BOX}),
    ("imagej --no-autoscale --region 6,5,18,14", "color", {"region": BOX, "autoscale": False, **COLORS}),
]


@pytest.mark.parametrize(("command", "kind", "options"), AS_THE_COMMAND)
@pytest.mark.usefixtures("masks")
def test_a_call_gives_the_bytes_of_the_command(tmp_path, monkeypatch, rng, command, kind, options):
    monkeypatch.chdir(tmp_path)
    shape = (HEIGHT, WIDTH, 3) if kind == "color" else (HEIGHT, WIDTH)
    image = (rng.random(shape) * {"u1": 256, "color": 256, "u2": 65536}.get(kind, 1)).astype(
        {"u2": "u2", "f4": "f4", "holes": "f4"}.get(kind, "u1")
    )
    image[::4] //= 2 if image.dtype.kind == "u" else 1  # stripes
    if kind == "holes":
        image[rng.random(shape) < 0.1] = np.nan
    tifffile.imwrite("in.tif", image, photometric="rgb" if kind == "color" else "minisblack")
    words = command.split()
    code, _, said = run(*words, "in.tif", "out.tif")
    assert code == 0, said
    of_transfer = {"radius": "6px"} if "lowpass" in words else {"angle": 0} if "stripes" in words else {}
    for name in ("output", "channels"):
        if f"--{name}" in words:
            options = {**options, name: words[words.index(f"--{name}") + 1]}
    edges = {} if words[0] == "imagej" else {"edges": "wrap"}
    made = getattr(fftfilter, words[0])(image, **of_transfer, **options, **edges)
    np.testing.assert_array_equal(made, tifffile.imread("out.tif"))
    assert (made != image).any()


def test_stacks_streams_copies_and_other_libraries_have_the_same_region(noise):
    stack = np.stack([noise, noise[::-1], noise // 2])
    with Filter(FILTER, output="keep", region=INSIDE, protect=(12, 10, 3, 3), feather=3, edges="wrap") as filter_:
        wanted = np.stack([filter_(each) for each in stack])
        weight = filter_.weight(HEIGHT, WIDTH)
        np.testing.assert_array_equal(wanted[:, weight == 0], stack[:, weight == 0])
        np.testing.assert_allclose(weight, weight_of(INSIDE & ~HOLE, 3), atol=1e-6)
        for made in (
            filter_(stack),
            np.stack(list(filter_.stream(stack))),
            pickle.loads(pickle.dumps(filter_))(stack),  # noqa: S301  our own
            filter_.with_options(engine="fused")(stack),
            filter_.with_options(H.highpass(3)).with_options(FILTER)(stack),
        ):
            np.testing.assert_array_equal(made, wanted)
        whole = filter_.with_options(region=None, protect=None, feather=None)
        np.testing.assert_array_equal(whole(stack), Filter(FILTER, output="keep", edges="wrap")(stack))
        assert repr(filter_).endswith("region='<array of type bool>', protect='12,10,3,3', feather=3.0)")
        da = pytest.importorskip("dask.array")
        np.testing.assert_array_equal(filter_(da.from_array(stack, chunks=(2, 8, 8))).compute(), wanted)
        xr = pytest.importorskip("xarray")
        upright = xr.DataArray(stack, dims=("time", "y", "x"))
        turned = filter_.with_options(region=xr.DataArray(INSIDE, dims=("y", "x")).transpose("x", "y"))
        np.testing.assert_array_equal(turned(upright.transpose("x", "y", "time")).transpose("time", "y", "x"), wanted)


def test_the_page_of_show_is_that_of_the_command(tmp_path, noise, masks):
    Image.fromarray(noise).save(tmp_path / "in.png")
    options = ("--protect", masks[1], "--preview", tmp_path / "page.png")
    assert run(*LOWPASS, *options, tmp_path / "in.png", tmp_path / "out.png")[0] == 0
    page = fftfilter.show(noise, FILTER, edges="wrap", protect=HOLE)
    np.testing.assert_array_equal(np.asarray(page)[TITLE:], np.asarray(Image.open(tmp_path / "page.png"))[TITLE:])


def test_a_filter_with_a_region_is_saved_and_loaded(tmp_path, noise, masks):
    with Filter(FILTER, output="keep", region=str(masks[0]), protect=(12, 10, 3, 3), edges="wrap") as filter_:
        assert eval(repr(filter_), {"Filter": Filter, "H": H})(noise).tolist() == filter_(noise).tolist()  # noqa: S307
        fftfilter.save_filter(filter_, tmp_path / "recipe.json")
        loaded = fftfilter.load_filter(tmp_path / "recipe.json")
        np.testing.assert_array_equal(loaded(noise), filter_(noise))
        with pytest.raises(ParameterError, match="which a recipe cannot hold: give the name of a file"):
            fftfilter.save_filter(filter_.with_options(region=INSIDE), tmp_path / "other.json")


@pytest.mark.parametrize("missing", [False, True])
def test_clipped_samples_are_those_inside(rng, missing):
    image = np.where(rng.random((HEIGHT, WIDTH)) < 0.5, 0, 255).astype(np.uint8)
    holes = (rng.random(image.shape) < 0.1) & missing
    given = np.ma.MaskedArray(image, holes) if missing else image
    with (
        Filter(H.highpass(2), output="keep", edges="wrap") as whole,
        Filter(H.highpass(2), output="real", edges="wrap") as real,
    ):
        whole(given)
        values = real.with_options(H.highpass(2).keeping_mean())(given)
        beyond = ((values < -0.5) | (values >= 255.5)) & ~holes
        assert 0.05 < beyond.mean() < 0.95
        valid = (~holes).sum()
        assert whole.clipped()[0] == pytest.approx(beyond.sum() / valid)
        with whole.with_options(region=BOX, feather=2) as part:
            part(given)
            assert part.clipped()[0] == pytest.approx((beyond & INSIDE).sum() / valid)
            part(image // 2 + 64)
            assert part.clipped() == [0]


@pytest.mark.parametrize("channels", [1, 3])
def test_of_imagej_clipped_samples_are_those_inside_too(rng, channels):
    image = np.where(rng.random((channels, HEIGHT, WIDTH)) < 0.5, 0, 255).astype(np.uint8)
    parts = []
    for region in ({}, {"region": (0, 0, 16, 24), "feather": 0}, {"protect": (0, 0, 16, 24), "feather": 0}):
        filter_ = ImageJFilter.unopened(H.imagej(6, 1), {"autoscale": False, **region})
        filter_(image, channel_axis=0)
        parts += filter_.clipped()
    assert 0 < parts[1] < parts[0]
    assert parts[0] == pytest.approx(parts[1] + parts[2])


@pytest.mark.parametrize(
    "given",
    [
        *(
            {"region": each}
            for each in ((1, 2, 3), (1.0, 2, 3, 4), [[1, 2], [3]], 3, True, {}, "1,2", np.zeros(4, int))
        ),
        *(
            {"region": each}
            for each in ((40, 0, 3, 3), INSIDE[1:], object(), b"", np.ones((24, 32)) * 1j, (10**30,) * 4)
        ),
        *({"protect": each} for each in (np.zeros((24, 32)), np.ones((24, 32)), (-1, 0, 3, 3), (0, -1, 3, 3))),
        *({"region": BOX, "feather": each} for each in (True, "3", np.nan, -1)),
        *({"region": BOX, "output": each} for each in ("magnitude", "signed")),
        {"feather": 3},
    ],
)
def test_a_call_refuses_what_is_no_region_in_one_line(noise, given):
    for image in noise, np.stack([noise] * 2):
        with pytest.raises(ParameterError) as caught:
            fftfilter.lowpass(image, "6px", **(COMMAND | ({"output": "keep", **given})))
        assert "\n" not in str(caught.value)
    with pytest.raises(ParameterError, match=r"need an output with .*: keep or real, or imagej without autoscale$"):
        fftfilter.imagej(noise, region=BOX)


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
    "1,2,0,3": "region 1,2,0,3 is empty, or begins outside of pictures: give one such as 10,20,300,200",
    "1,2,3,0": "is empty, or begins outside",
    "1,2,3": "region '1,2,3' is not a rectangle: give X,Y,W,H in pixels, such as 10,20,300,200",
    "-1,2,3,4": "is not a rectangle",
    "1.5,2,3,4": "is not a rectangle",
    "99999999999999999999,2,3,4": "is not a rectangle",
    "other.png": "has 10 x 12 pixels, and the picture 32 x 24",
    "black.png": "region black.png is empty: all of its pixels are 0, and only others belong to it",
    "missing.png": "no such file",
    "in.txt": "in.txt: ",
    "0,0,2,2 --protect 0,0,9,9": "no pixel is left to filter: protect less, or give a larger region",
    "0,0,9,9 --feather nan": "feather nan is not a width",
    "0,0,9,9 --feather -1": "feather -1 is not a width",
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


@pytest.mark.parametrize("box", [(0, 20, 5, 5), (30, 0, 3, 5)], ids=["below", "right"])
def test_a_rectangle_that_reaches_beyond_the_picture_is_refused(noise, box):
    with pytest.raises(ParameterError, match="reaches beyond the picture of 32 x 24 pixels"):
        fftfilter.lowpass(noise, 4, output="keep", region=box, edges="wrap")


def test_a_missing_pixel_that_stays_is_rounded_as_in_a_whole_picture(rng):
    image, missing = rng.uniform(0, 255, (12, 10)).astype(np.float32), np.zeros((12, 10), bool)
    image[1, 2], missing[1, 2] = 2.5, True
    asked = {"dtype": np.uint8, "white": 255, "missing": missing}
    options = {"output": "keep", "feather": 1}
    for region in ((0, 0, 10, 12), (5, 5, 4, 4)):
        assert Filter(H.lowpass(3), region=region, **(COMMAND | options))(image, **asked)[1, 2] == 2


def test_what_goes_with_one_option_stands_in_four_files():
    """The option and its use, its logic, and both sides of the page: who removes or changes it looks nowhere else."""
    package = Path(fftfilter.__file__).parent
    named = [path for path in package.rglob("*.*") if path.suffix in (".py", ".js") and "feather" in path.read_text()]
    assert {path.relative_to(package).as_posix() for path in named} == {
        *("commands/filters.py", "region.py", "explore/request.py", "explore/page/settings.js")
    }
