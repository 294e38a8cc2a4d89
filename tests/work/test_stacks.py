"""Files of several pages, filtered page by page: each page as a call on its array gives it."""

from __future__ import annotations

import gc
import io
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import tifffile
from PIL import Image, ImageSequence

import fftfilter
from fftfilter import images
from fftfilter import transfer as H
from fftfilter.analysis.search import AutoNotches
from fftfilter.errors import DeviceError, ParameterError, ReadError, VerifyError, WriteError
from fftfilter.files import sources
from fftfilter.images import Asked, Coding, Depth, Picture, pages_of
from fftfilter.output.modes import Range
from fftfilter.preview import report
from fftfilter.region import region_of
from fftfilter.work import output_file
from fftfilter.work.opened import Frame, Made, open_input, spectrum_of
from fftfilter.work.output_file import make_output
from fftfilter.work.recipe import Done, Missing, Recipe
from tests.commands.conftest import run  # noqa: F401
from tests.helpers import COMMAND, by_reference

BLUR = H.lowpass("8px", shape="gaussian")
STACK = np.random.default_rng(7).integers(0, 4096, (4, 24, 32)).astype(np.uint16)
STACK[1] //= 4


@pytest.fixture(scope="module")
def blur():
    with fftfilter.Filter(BLUR, output="keep", edges="wrap") as made:
        yield made


def alone(filter_, pages):
    """Return what becomes of each page."""
    return np.concatenate([filter_(page[None], channel_axis=0) for page in pages])


@pytest.fixture
def stack(tmp_path):
    tifffile.imwrite(tmp_path / "in.tif", STACK, imagej=True, metadata={"axes": "ZYX", "unit": "um"})
    return tmp_path / "in.tif"


def test_every_page_is_filtered_as_it_would_be_alone(stack, tmp_path, blur):
    assert fftfilter.filter_stack(stack, tmp_path / "out.tif", BLUR, output="keep", edges="wrap") == 4
    with tifffile.TiffFile(tmp_path / "out.tif") as out:
        np.testing.assert_array_equal(out.asarray(), alone(blur, STACK))
        assert out.imagej_metadata["unit"] == "um"


@pytest.mark.parametrize("channels", [2, 5])
def test_channels_of_unknown_meaning_are_filtered_with_one_scale(tmp_path, channels):
    given = np.random.default_rng(channels).integers(0, 65536, (3, channels, 24, 32)).astype(np.uint16)
    given[:, 1] //= 4
    stored = np.moveaxis(given, 1, 3)
    tifffile.imwrite(tmp_path / "in.tif", stored, photometric="minisblack", planarconfig="contig")
    fftfilter.filter_stack(tmp_path / "in.tif", tmp_path / "in.tif", BLUR, in_place=True, **COMMAND)
    with fftfilter.Filter(BLUR, **COMMAND) as filter_, tifffile.TiffFile(tmp_path / "in.tif") as out:
        assert out.pages.first.extrasamples == (0,) * (channels - 1)
        wanted = [filter_(page, channel_axis=2) for page in stored]
        np.testing.assert_array_equal([page.asarray() for page in out.pages], wanted)


@pytest.mark.parametrize("pages", [None, "1"])
def test_pages_hold_values_of_double_precision_as_single(stack, tmp_path, pages):
    fftfilter.filter_stack(
        stack, tmp_path / "out.tif", BLUR, output="real", precision="double", pages=pages, edges="wrap"
    )
    got = tifffile.imread(tmp_path / "out.tif")
    assert got.dtype == np.float32
    with fftfilter.Filter(BLUR, output="real", precision="double", edges="wrap") as exact:
        np.testing.assert_array_equal(got, exact(STACK).astype(np.float32)[0 if pages else slice(None)])


@pytest.mark.parametrize("output", ["magnitude", "signed", "real"])
def test_every_output_is_that_of_the_filter(stack, tmp_path, output):
    fftfilter.filter_stack(stack, tmp_path / "out.tif", BLUR, output=output, compression="deflate", edges="wrap")
    with tifffile.TiffFile(tmp_path / "out.tif") as file:
        assert {page.compression for page in file.pages} == {8}
    with fftfilter.Filter(BLUR, output=output, edges="wrap") as filter_:
        np.testing.assert_array_equal(tifffile.imread(tmp_path / "out.tif"), alone(filter_, STACK))


def test_some_pages_are_filtered(stack, tmp_path, blur):
    assert fftfilter.filter_stack(stack, tmp_path / "out.tif", BLUR, pages="2-3", output="keep", edges="wrap") == 2
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "out.tif"), alone(blur, STACK[1:3]))
    assert fftfilter.filter_stack(stack, tmp_path / "out.pgm", BLUR, pages=4, output="keep", edges="wrap") == 1
    assert np.asarray(Image.open(tmp_path / "out.pgm")).tolist() == alone(blur, STACK[3:])[0].tolist()


def test_one_scale_for_all_pages(stack, tmp_path):
    fftfilter.filter_stack(stack, tmp_path / "out.tif", BLUR, scale="stack", **COMMAND)
    got = tifffile.imread(tmp_path / "out.tif").astype(int)
    with fftfilter.Filter(BLUR, **COMMAND) as filter_:
        largest = max(filter_(page[None], channel_axis=0).any() and filter_.extremes()[0][1] for page in STACK)
    with fftfilter.Filter(BLUR, scale=(0, largest), **COMMAND) as filter_:
        assert np.abs(got - alone(filter_, STACK)).max() <= 1
    assert got.max() == 65535
    assert got[1].max() < 30000


def test_signed_pages_share_black_and_white(stack, tmp_path):
    fftfilter.filter_stack(stack, tmp_path / "out.tif", BLUR, scale="stack", output="signed", edges="wrap")
    got = tifffile.imread(tmp_path / "out.tif")
    assert got.max() == 65535
    assert 32768 < got[1].min() < got[1].max() < 45000


def test_an_output_that_keeps_levels_has_no_scale(stack, tmp_path):
    with pytest.raises(ParameterError, match="output keep keeps the input's gray levels"):
        fftfilter.filter_stack(stack, tmp_path / "out.tif", BLUR, scale="stack", output="keep", edges="wrap")
    with pytest.raises(ParameterError, match="output keep keeps the input's gray levels"):
        fftfilter.filter_stack(stack, tmp_path / "out.png", BLUR, pages="1", scale="stack", output="keep", edges="wrap")


def test_every_option_gets_into_the_recipe(stack, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(output_file, "open_input", lambda *given, **_: opened.append(given) or pytest.fail("opened"))
    coding = {"png_level": 9, "quality": 50}
    files = {"pages": "2-3", "hdu": 1, "palette": "table", "level": 2, "nodata": 7, "strip": True}
    filter_ = {"output": "signed", "scale": (-1, 2), "edges": "mirror", "engine": "book"}
    for options in {}, coding | files | filter_:
        with pytest.raises(pytest.fail.Exception):
            fftfilter.filter_stack(stack, tmp_path / "out.webp", BLUR, **options)
    (source, usual), (_, recipe) = opened
    assert (source, usual) == (stack, Recipe(BLUR, options={"edges": "mirror"}, output="keep"))
    assert recipe == Recipe(
        BLUR,
        options={"edges": "mirror", "engine": "book"},
        output="signed",
        scale=Range(-1, 2),
        pages=Asked(2, 3, hdu=1, palette="table", level=2),
        coding=Coding(9, 50),
        missing=Missing(7),
        strip=True,
    )


def test_the_device_is_the_one_that_is_asked_for(stack, tmp_path):
    with pytest.raises(DeviceError, match="no OpenCL device 'warp drive'"):
        fftfilter.filter_stack(stack, tmp_path / "out.tif", BLUR, device="warp drive", **COMMAND)


@pytest.mark.parametrize(
    ("transfer", "options", "words"),
    [
        (9, {}, "9 is not a transfer function"),
        (BLUR, {"pages": [1]}, "unknown"),
        (BLUR, {"quality": 500}, "quality 500"),
        (BLUR, {"compression": "rar"}, "compression 'rar' is unknown: choose none, lzw"),
        (BLUR, {"level": -1}, "level -1 is invalid: give a whole number, counted from 0"),
        (BLUR, {"level": 0.5}, "level 0.5 is invalid"),
    ],
)
def test_what_is_impossible_is_refused(stack, tmp_path, transfer, options, words):
    with pytest.raises(ParameterError, match=words):
        fftfilter.filter_stack(stack, tmp_path / "out.webp", transfer, **(COMMAND | options))
    assert not (tmp_path / "out.webp").exists()


def test_pages_of_several_sizes(tmp_path, blur):
    pages = [STACK[0], np.ascontiguousarray(STACK[1].T)]
    with tifffile.TiffWriter(tmp_path / "in.tif") as made:
        for page in pages:
            made.write(page, metadata=None)
    fftfilter.filter_stack(tmp_path / "in.tif", tmp_path / "out.tif", BLUR, output="keep", edges="wrap")
    with tifffile.TiffFile(tmp_path / "out.tif") as out:
        for got, page in zip(out.pages, pages, strict=True):
            np.testing.assert_array_equal(got.asarray(), blur(page[None], channel_axis=0)[0])
    with pytest.raises(WriteError, match="page 2 is 24 x 32 gray, 16 bits, page 1 32 x 24 gray, 16 bits"):
        fftfilter.filter_stack(tmp_path / "in.tif", tmp_path / "out.png", BLUR, output="keep", edges="wrap")
    assert not (tmp_path / "out.png").exists()


@pytest.mark.parametrize("suffix", [".gif", ".png", ".webp"])
def test_an_animation_stays_one(tmp_path, suffix):
    first, *others = [Image.fromarray((frame // 16).astype(np.uint8)) for frame in STACK]
    shown = [40, 100, 250, 70]
    options = {"lossless": True} if suffix == ".webp" else {}
    source, target = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    first.save(source, save_all=True, append_images=others, duration=shown, loop=3, **options)
    fftfilter.filter_stack(source, target, BLUR, **COMMAND)
    with Image.open(target) as out:
        for i, frame in enumerate(ImageSequence.Iterator(out)):
            wanted = by_reference((STACK[i] // 16).astype(np.uint8)[None], BLUR)[0]
            assert np.abs(np.asarray(frame.convert("L")).astype(int) - wanted).max() <= 1
            assert frame.info["duration"] == shown[i]
        assert (i, out.info["loop"]) == (3, 3)


def test_the_transparent_pixels_of_a_gif_stay_so(tmp_path):
    clear = np.arange(24 * 32).reshape(24, 32) % 7
    frames = [np.stack([frame // 16] * 3 + [np.where(clear == i, 0, 255)], axis=-1) for i, frame in enumerate(STACK)]
    first, *others = [Image.fromarray(frame.astype(np.uint8)) for frame in frames]
    first.save(tmp_path / "in.gif", save_all=True, append_images=others, duration=40, disposal=2)
    fftfilter.filter_stack(tmp_path / "in.gif", tmp_path / "out.gif", BLUR, **COMMAND)
    with Image.open(tmp_path / "out.gif") as out:
        for i, frame in enumerate(ImageSequence.Iterator(out)):
            assert ((np.asarray(frame.convert("RGBA"))[..., 3] == 0) == (clear == i)).all()


def test_a_file_of_one_page_is_a_picture(tmp_path, blur):
    Image.fromarray(STACK[0]).save(tmp_path / "in.png")
    assert fftfilter.filter_stack(tmp_path / "in.png", tmp_path / "out.tif", BLUR, output="keep", edges="wrap") == 1
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "out.tif"), alone(blur, STACK[:1])[0])


def test_the_input_itself_is_overwritten_only_if_allowed(stack, blur):
    with pytest.raises(ParameterError, match="is the input itself"):
        fftfilter.filter_stack(stack, stack, BLUR, **COMMAND)
    fftfilter.filter_stack(stack, stack, BLUR, in_place=True, output="keep", edges="wrap")
    np.testing.assert_array_equal(tifffile.imread(stack), alone(blur, STACK))


def test_of_a_stack_that_is_cut_off_nothing_is_written(stack, tmp_path):
    with tifffile.TiffFile(stack) as file:
        start = file.pages.first.dataoffsets[0]
    stack.write_bytes(stack.read_bytes()[: start + 3 * STACK[0].nbytes + 5])
    with pytest.raises(ReadError, match="page 4 is missing"):
        fftfilter.filter_stack(stack, tmp_path / "out.tif", BLUR, **COMMAND)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.tif"]


def test_a_page_that_is_damaged_is_named_and_nothing_is_written(tmp_path):
    tifffile.imwrite(tmp_path / "in.tif", STACK, compression="zlib", photometric="minisblack")
    with tifffile.TiffFile(tmp_path / "in.tif") as file:
        start = file.pages[2].dataoffsets[0]
    data = bytearray((tmp_path / "in.tif").read_bytes())
    data[start : start + 99] = bytes(99)
    (tmp_path / "in.tif").write_bytes(data)
    with pytest.raises(ReadError, match=r"in.tif, page 3: cannot be decoded"):
        fftfilter.filter_stack(tmp_path / "in.tif", tmp_path / "out.tif", BLUR, **COMMAND)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.tif"]


def test_pages_are_compared_with_the_reference(stack, tmp_path, monkeypatch):
    recipe = Recipe(BLUR)
    with recipe.open_filter(BLUR) as filter_:
        done = make_output(open_input(stack, recipe), tmp_path / "out.tif", filter_, compare=True)
        assert done.difference.is_right
        assert done.difference.size == STACK.size
        before = (tmp_path / "out.tif").read_bytes()
        run = type(filter_).__call__
        monkeypatch.setattr(type(filter_), "__call__", lambda *a, **k: run(*a, **k) // 2)
        with pytest.raises(VerifyError, match=r"out.tif, page 1: off by at most 3"):
            make_output(open_input(stack, recipe), tmp_path / "out.tif", filter_, compare=True)
    assert (tmp_path / "out.tif").read_bytes() == before


@pytest.mark.parametrize("pages", [1, 4])
def test_a_caution_on_all_pages_is_there_once(tmp_path, pages):
    tifffile.imwrite(tmp_path / "in.tif", STACK[:pages], photometric="minisblack")
    recipe = Recipe(BLUR, options={"channels": "chroma"}, output="keep")
    with recipe.open_filter(BLUR) as filter_:
        done = make_output(open_input(tmp_path / "in.tif", recipe), tmp_path / "out.tif", filter_)
    assert done.cautions == ["gray: there is no chroma to filter, and pixels stay as they are"]


def test_a_large_file_is_read_in_parts(stack, tmp_path, blur, monkeypatch):
    monkeypatch.setattr(sources, "LARGE", 0)
    monkeypatch.setattr(sources, "content", None)
    fftfilter.filter_stack(stack, tmp_path / "out.tif", BLUR, output="keep", edges="wrap")
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "out.tif"), alone(blur, STACK))
    fftfilter.filter_stack(stack, stack, BLUR, in_place=True, output="keep", edges="wrap")
    np.testing.assert_array_equal(tifffile.imread(stack), alone(blur, STACK))


@pytest.mark.parametrize("pages", [1, 2])
def test_a_file_that_was_read_in_parts_is_closed_whatever_happens(tmp_path, monkeypatch, recwarn, pages):
    monkeypatch.setattr(sources, "LARGE", 0)
    tifffile.imwrite(tmp_path / "in.tif", STACK[:pages], photometric="minisblack")
    fftfilter.filter_stack(tmp_path / "in.tif", tmp_path / "out.tif", BLUR, output="keep", edges="wrap")
    for options in ({"output": "keep", "region": (30, 20, 40, 40)}, {"precision": "triple"}):
        with pytest.raises(ParameterError):
            fftfilter.filter_stack(tmp_path / "in.tif", tmp_path / "out.tif", BLUR, **(COMMAND | options))
    gc.collect()
    told = [str(each.message) for each in recwarn if each.category is ResourceWarning]
    assert [each for each in told if str(tmp_path) in each] == []


MEMORY = """
import resource, sys
import fftfilter
from fftfilter import transfer as H
blur = H.lowpass("8px", shape="gaussian")
fftfilter.filter_stack(sys.argv[1], sys.argv[2], blur, pages="1-8")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
fftfilter.filter_stack(sys.argv[1], sys.argv[2], blur)
sys.stdout.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss is the system's own")
def test_memory_does_not_grow_with_the_pages(tmp_path):
    page = np.tile(STACK[0], (32, 24))  # 768 x 768, 1.2 MB
    with tifffile.TiffWriter(tmp_path / "in.tif") as made:
        for i in range(80):
            made.write(page + i, contiguous=True)
    paths = (str(tmp_path / "in.tif"), str(tmp_path / "out.tif"))
    done = subprocess.run([sys.executable, "-c", MEMORY, *paths], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 40_000, "KB more for 94 MB of pages"


# The program

OPTIONS = ["--radius", "8px", "--shape", "gaussian"]


def test_a_stack_goes_through_standard_input_and_output(stack, blur):
    command = [sys.executable, "-m", "fftfilter", "lowpass", *OPTIONS, "--output", "keep", "-", "-"]
    done = subprocess.run(command, input=stack.read_bytes(), capture_output=True, check=True)
    assert done.stderr == b""
    np.testing.assert_array_equal(tifffile.imread(io.BytesIO(done.stdout)), alone(blur, STACK))


def test_the_program_says_what_became_of_the_pages(run, stack, tmp_path):  # noqa: F811
    code, out, said = run("lowpass", *OPTIONS, "-v", "--verify", "--pages", "2-", stack, tmp_path / "out.tif")
    assert code == 0
    caution, said = said.split("\n", 1)
    assert caution == "fftfilter: each page has a scale of its own: --scale stack gives one to all"
    assert said.startswith("3 pages, 32 x 24: lowpass, gaussian, radius 8px")
    assert out.startswith(f"{tmp_path}/out.tif: off by at most ".encode())
    assert b"of 2304 samples" in out
    code, _, said = run("lowpass", *OPTIONS, "-v", stack, tmp_path / "out.png")
    assert code == 0
    assert "the pages become frames of an animation, shown for 0.1 s each" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lowpass"], "fftfilter: each page has a scale of its own: --scale stack gives one to all\n"),
        (["lowpass", "--output", "signed", "--scale", "auto"], "fftfilter: each page has a scale of its own: "),
        (["imagej"], "fftfilter: each page is autoscaled by itself: --no-autoscale does without\n"),
        *((["lowpass", *options], "") for options in (["-q"], ["--scale", "stack"], ["--scale", "0:40"])),
        *((["lowpass", *options], "") for options in (["--output", "keep"], ["--pages", "2"])),
        (["imagej", "--no-autoscale"], ""),
    ],
    ids=str,
)
def test_pages_that_cannot_be_compared_are_said(run, stack, tmp_path, words, said):  # noqa: F811
    code, _, found = run(*words, stack, tmp_path / "out.tif")
    assert (code, found[: len(said)], found.count("\n")) == (0, said, bool(said)), found


@pytest.mark.parametrize(
    ("options", "name", "words"),
    [
        ([], "out.jpg", "holds one page, and there are 4; give --pages 1, or write"),
        (["--pages", "9"], "out.tif", "has 4 pages, and no page 9"),
        (["--pages", "x"], "out.tif", "pages 'x' are unknown"),
        (["--profile"], "out.tif", "--profile is for one picture, and IN has 4"),
        (["--save-stages", "x"], "out.tif", "--save-stages is for one picture"),
        (["--scale", "stack", "--output", "keep"], "out.tif", "has no scale"),
        (["--quality", "50"], "out.tif", ".tif has no quality"),
        (["--compression", "lzw"], "out.png", ".png has no choice of compression"),
    ],
)
def test_what_means_nothing_is_a_usage_error(run, stack, tmp_path, options, name, words):  # noqa: F811
    code, _, said = run("lowpass", *options, stack, tmp_path / name)
    assert code == 2
    assert words in said
    assert not (tmp_path / name).exists()


def test_what_an_animation_cannot_hold_of_pages_is_said_once(run, tmp_path):  # noqa: F811
    colors = np.random.default_rng(1).integers(0, 256, (3, 12, 10, 3), dtype=np.uint8)
    first, *others = map(Image.fromarray, colors)
    first.save(tmp_path / "in.tif", save_all=True, append_images=others, icc_profile=bytes(200), dpi=(300, 300))
    words = ("lowpass", "-v", "--output", "keep", tmp_path / "in.tif")
    said = run(*words, tmp_path / "out.gif")[2].splitlines()
    assert said[:2] == [
        "fftfilter: the pages become frames of an animation, shown for 0.1 s each",
        "fftfilter: a GIF has 256 colors a frame: of more, the nearest are taken",
    ]
    assert said[-1] == "left out: color profile, resolution"
    assert "256 colors" not in run(*words, tmp_path / "out.webp")[2]


def test_nothing_beside_the_pixels_of_pages_is_written_if_that_is_asked_for(tmp_path):
    options = {"photometric": "minisblack", "description": "cells", "resolution": (300, 300)}
    tifffile.imwrite(tmp_path / "in.tif", STACK, **options)
    for strip in (False, True):
        fftfilter.filter_stack(
            tmp_path / "in.tif", tmp_path / "out.tif", BLUR, output="keep", strip=strip, edges="wrap"
        )
        with tifffile.TiffFile(tmp_path / "out.tif") as out:
            kept = [{"ImageDescription", "XResolution"} & {tag.name for tag in page.tags} for page in out.pages]
        assert [len(each) for each in kept] == ([0] * 4 if strip else [2, 1, 1, 1]), strip


@pytest.mark.parametrize(("white", "name", "scale"), [(100, "out.png", 2.55), (1000, "out.bmp", 0.255)])
def test_where_nothing_is_filtered_pixels_get_the_depth_of_the_output(tmp_path, white, name, scale):
    given = np.random.default_rng(2).integers(0, white + 1, (12, 10))
    pixels = given.astype(np.uint8 if white < 256 else ">u2")
    (tmp_path / "in.pgm").write_bytes(b"P5\n10 12\n%d\n" % white + pixels.tobytes())
    fftfilter.filter_stack(tmp_path / "in.pgm", tmp_path / name, H.Transfer(()), output="keep", edges="wrap")
    wanted = np.floor(given * scale + 0.5 + 1 / 2048)
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / name).convert("L")), wanted)


def test_the_colors_of_an_animation_have_8_bits(tmp_path):
    colors = np.random.default_rng(4).integers(0, 65536, (2, 12, 10, 3)).astype(np.uint16)
    tifffile.imwrite(tmp_path / "in.tif", colors, photometric="rgb")
    fftfilter.filter_stack(tmp_path / "in.tif", tmp_path / "out.png", H.Transfer(()), output="keep", edges="wrap")
    with Image.open(tmp_path / "out.png") as out:
        frames = [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(out)]
    np.testing.assert_array_equal(frames, np.floor(colors * (255 / 65535) + 0.5 + 1 / 2048))


def test_samples_that_are_missing_by_the_rule_of_the_recipe_are_no_wave(tmp_path, rng):
    """Each eighth column is missing: by its value, by a mask."""
    pixels, columns = rng.integers(90, 110, (64, 64)).astype(np.uint8), np.arange(64) % 8 == 0
    pixels[:, columns] = 255
    Image.fromarray(pixels).save(tmp_path / "in.png")
    Image.fromarray(np.uint8(255 * np.tile(columns, (64, 1)))).save(tmp_path / "mask.png")
    found = []
    for missing in (Missing(), Missing(255), Missing.of(None, str(tmp_path / "mask.png"))):
        recipe = Recipe(H.Transfer(()), output="keep", auto=AutoNotches(insists=True), missing=missing)
        found.append(len(open_input(tmp_path / "in.png", recipe).peaks))
    assert found[0] > 0
    assert found[1:] == [0, 0]


@pytest.mark.parametrize(
    ("output", "keeps_levels", "are_floats"),
    [("keep", True, False), ("real", False, True), ("magnitude", False, False), ("signed", False, False)],
)
def test_what_the_metadata_say_of_samples_is_for_the_output(stack, monkeypatch, output, keeps_levels, are_floats):
    """Its range and its type, such as those of an OME-XML."""
    asked, opened = [], images.opened
    monkeypatch.setattr(images, "opened", lambda *given, **how: asked.append(given[2]) or opened(*given, **how))
    open_input(stack, Recipe(BLUR, output=output, pages=Asked(2, 3))).close()
    assert asked == [Asked(2, 3, keeps_levels=keeps_levels, are_floats=are_floats)]


def test_a_search_in_pages_may_be_ended_before_each_further_one(stack):
    found, checked = pages_of(stack.read_bytes(), "in.tif"), []
    assert spectrum_of(found, check=lambda: checked.append(1)).pictures == 4
    assert len(checked) == 3

    def ended():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        spectrum_of(found, check=ended)


def test_pages_of_a_path_are_opened(stack):
    pages = pages_of(stack.read_bytes(), "in.tif")
    assert (len(pages), pages.format) == (4, "TIFF")


def test_physical_units_are_those_of_the_first_page(run, stack, tmp_path):  # noqa: F811
    tifffile.imwrite(stack, STACK, imagej=True, resolution=(4, 4), metadata={"axes": "ZYX", "unit": "um"})
    code, _, said = run("lowpass", "-v", "--radius", "2um", *OPTIONS[2:], "--pages", "2-", stack, tmp_path / "out.tif")
    assert code == 0
    assert "3 pages, 32 x 24: lowpass, gaussian, radius 2um" in said
    assert "pixel size 0.25 um from the file's ImageJ description" in said
    fftfilter.filter_stack(stack, tmp_path / "same.tif", H.lowpass("2um", shape="gaussian"), pages="2-", **COMMAND)
    assert (tmp_path / "same.tif").read_bytes() == (tmp_path / "out.tif").read_bytes()
    with fftfilter.Filter(BLUR, **COMMAND) as filter_:  # 8 pixels of 250 nm
        np.testing.assert_array_equal(tifffile.imread(tmp_path / "out.tif"), alone(filter_, STACK[1:]))


def test_imagejs_filter_takes_stacks(run, stack, tmp_path):  # noqa: F811
    code, _, said = run("imagej", "--no-autoscale", stack, tmp_path / "out.tif")
    assert (code, said) == (0, "")
    wanted = [fftfilter.imagej(page, autoscale=False) for page in STACK]
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "out.tif"), wanted)


def test_a_picture_of_nothing_but_rounding_has_no_largest_value():
    assert Made(np.zeros((1, 2, 3), np.uint8), (0.0, 5.0), 0.0).largest(255) == 0
    assert Made(np.ones((1, 2, 3), np.uint8), (0.0, 51.0), 0.0).largest(255) == 0.2


def test_durations_are_lost_where_there_are_no_frames_alone(tmp_path):
    frames = [Image.fromarray(np.full((12, 10), 60 * i, np.uint8)) for i in range(3)]
    frames[0].save(tmp_path / "in.gif", save_all=True, append_images=frames[1:], duration=70)
    for name, is_lost in (("out.webp", False), ("out.tif", True)):
        opened = open_input(tmp_path / "in.gif", Recipe(H.lowpass(3)))
        with opened.recipe.open_filter(opened.transfer) as filter_:
            left_out = make_output(opened, tmp_path / name, filter_).left_out
        assert ("durations" in left_out) == is_lost


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"auto": fftfilter.AutoNotches(strength=12)}, ["--auto", "--strength", "12"]),
        ({"missing": "mask.png"}, ["--missing", "mask.png"]),
        ({"nodata": 100}, ["--nodata", "100"]),
    ],
)
def test_a_stack_is_what_the_command_writes(run, tmp_path, monkeypatch, options, words):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    y, x = np.mgrid[:48, :64]
    waves = [100 + 20 * np.sin(2 * np.pi * (fx * x + 0.13 * y)) for fx in (0.2, 0.2, 0.31)]
    tifffile.imwrite("in.tif", np.round(waves).astype(np.uint8), photometric="minisblack")
    Image.fromarray(np.uint8(255 * (x < 9))).save("mask.png")
    fftfilter.filter_stack("in.tif", "a.tif", H.lowpass("8px"), output="keep", **({"edges": "wrap"} | options))
    assert run("lowpass", "--radius", "8px", "--output", "keep", *words, "in.tif", "b.tif")[0] == 0
    assert (tmp_path / "a.tif").read_bytes() == (tmp_path / "b.tif").read_bytes()


def test_what_is_said_of_pages_is_said_of_all_of_them():
    done, planes = Done(), np.zeros((1, 4, 3))
    for extremes, clipped, missing in (((2.0, 5.0), 0.5, 0.0), ((1.0, 9.0), 0.0, 0.25), ((3.0, 4.0), 0.25, 0.5)):
        picture = SimpleNamespace(table=None if missing else "a table", planes=planes)
        frame = SimpleNamespace(picture=picture, missing=missing)
        done.note(frame, Made(planes, extremes, clipped, "a note"), SimpleNamespace(keeps_levels=True))
    assert (done.extremes, done.clipped, done.missing) == ((1, 9), 0.25, 0.25)
    assert (done.samples, done.notes, done.has_table) == (36, ["a note"] * 3, True)


def test_missing_samples_are_black_where_a_picture_is_shown():
    planes, holes = np.full((1, 2, 3), 0.5, np.float32), np.zeros((1, 2, 3), np.bool_)
    planes[0, 1, 2], holes[0, 1, 2] = np.nan, True
    frame = Frame(Picture(planes, None, 1, "TIFF"), ".tif", Depth(planes.dtype, 1), BLUR, holes)
    np.testing.assert_array_equal(frame.shown(), np.where(holes, 0, np.float32(0.5)))
    assert (frame.shown().dtype, frame.missing) == (np.float32, 1 / 6)
    frame.holes = None
    assert frame.shown() is planes
    assert frame.missing == 0


def test_the_report_on_a_frame_has_what_the_recipe_says(tmp_path, monkeypatch):
    """The picture as it was read, its white, the part of it that is filtered."""
    given = np.random.default_rng(2).integers(0, 101, (12, 10)).astype(np.uint8)
    (tmp_path / "in.pgm").write_bytes(b"P5\n10 12\n100\n" + given.tobytes())
    region = region_of((2, 3, 4, 5), None, 0)
    recipe = Recipe(BLUR, options={"channels": "chroma", "edges": "mirror"}, output="keep", region=region)
    opened = open_input(tmp_path / "in.pgm", recipe)
    frame = opened.frame(tmp_path / "out.png", keep=True)
    frame.put(np.zeros((1, 12, 10), np.uint8))
    monkeypatch.setattr(report, "FilterReport", lambda *given: given)
    planes, white, transfer, edges, device, weight, channels = opened.report(frame, "a device")
    np.testing.assert_array_equal(planes, given[None])
    assert (white, transfer, edges, device, channels) == (100, BLUR, "mirror", "a device", "chroma")
    y, x = np.mgrid[:12, :10]
    np.testing.assert_array_equal(np.asarray(weight) > 0.5, (x >= 2) & (x < 6) & (y >= 3) & (y < 8))
