"""Files with missing pixels: what says which they are, and how they come back."""

from __future__ import annotations

import numpy as np
import pytest
import tifffile
from click.testing import CliRunner
from PIL import Image

from fftfilter import filter_stack, images
from fftfilter import transfer as H
from fftfilter.cli import cli
from fftfilter.work.opened import cautions_on_missing
from fftfilter.work.recipe import Missing
from tests.helpers import SAMPLES

SIZE = (12, 10)


def run(*arguments):
    result = CliRunner().invoke(cli, [str(a) for a in arguments])
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def holes(rng):
    return rng.random(SIZE) < 0.2


@pytest.fixture
def levels(rng):
    return rng.integers(1, 256, SIZE, np.uint8)


def save(path, pixels, **options):
    if path.suffix == ".tif":
        tifffile.imwrite(path, pixels, **options)
    elif path.suffix == ".npy":
        np.save(path, pixels)
    else:
        Image.fromarray(pixels).save(path)
    return path


def planes(path):
    return images.read(path).planes


@pytest.mark.parametrize("suffix", [".tif", ".npy", ".pfm"])
@pytest.mark.parametrize("command", ["highpass", "notch --at 0.2,0.1", "lowpass --output real"])
def test_nan_comes_back_and_the_rest_is_right(tmp_path, levels, holes, suffix, command):
    given = np.where(holes, np.nan, levels / 255).astype(np.float32)
    source = tmp_path / f"in{suffix}"
    images.write(images.Picture(given[None], None, 1, "TIFF"), source)
    code, said, error = run(*command.split(), "--verify", source, tmp_path / "out.tif")
    assert (code, said.count("off by at most"), error.count("NaN")) == (0, 1, 0)
    assert np.array_equal(np.isnan(planes(tmp_path / "out.tif")[0]), holes)


@pytest.mark.parametrize("pixel", [np.uint8, np.uint16, np.int16, np.float32])
def test_a_value_says_what_is_missing(tmp_path, levels, holes, pixel):
    nodata = {"u": 0, "i": -9999, "f": -3.4028234663852886e38}[np.dtype(pixel).kind]
    source = save(tmp_path / "in.tif", np.where(holes, pixel(nodata), levels.astype(pixel)))
    options = ["--output", "keep", "--nodata", repr(nodata), "--verify", "-v"]
    code, said, error = run("lowpass", *options, source, tmp_path / "out.tif")
    assert (code, said.count("off by at most")) == (0, 1)
    assert f"{holes.mean():.2%} missing" in error
    assert np.array_equal(planes(tmp_path / "out.tif")[0] == pixel(nodata), holes)


def test_transparent_pixels_are_missing_unless_it_says_otherwise(tmp_path, levels, holes):
    rgba = np.dstack([levels, 255 - levels, levels, np.where(holes, 0, 200).astype(np.uint8)])
    source = save(tmp_path / "in.png", rgba)
    bled = rgba.copy()
    bled[holes, :3] = 7
    other = save(tmp_path / "other.png", bled)
    for name in (source, other):
        assert run("lowpass", "--verify", name, tmp_path / f"out-{name.name}")[0] == 0
    first, second = (np.asarray(Image.open(tmp_path / f"out-{name.name}")) for name in (source, other))
    assert np.array_equal(first[~holes], second[~holes]), "color under alpha does not bleed"
    assert np.array_equal(first[holes], rgba[holes])
    assert run("lowpass", "--missing", "none", source, tmp_path / "none.png")[0] == 0
    assert not np.array_equal(np.asarray(Image.open(tmp_path / "none.png"))[holes, :3], rgba[holes, :3])
    rgba[..., 3] = 0
    code, _, error = run("lowpass", save(tmp_path / "clear.png", rgba), tmp_path / "out.png")
    assert (code, error) == (0, "fftfilter: 100% of the picture is missing: the filtered rest says little\n")
    assert np.array_equal(np.asarray(Image.open(tmp_path / "out.png")), rgba)


def test_a_mask_says_what_is_missing(tmp_path, levels, holes):
    source, mask = save(tmp_path / "in.png", levels), save(tmp_path / "mask.png", holes.astype(np.uint8) * 255)
    further = ["--verify", "--preview", tmp_path / "page.png"]
    code, said, _ = run("highpass", "--missing", mask, *further, source, tmp_path / "out.png")
    assert (code, said.count("off by at most")) == (0, 1)
    assert np.array_equal(planes(tmp_path / "out.png")[0][holes], levels[holes])
    # The mask is an input, which is not overwritten.
    assert run("highpass", "--missing", mask, source, mask)[0] == 2
    code, _, error = run("highpass", "--missing", mask, SAMPLES / "camera.pgm", tmp_path / "no.png")
    assert (code, error.count("\n")) == (2, 1)
    assert f"missing mask {mask} has 10 x 12 pixels, and the picture 512 x 512: give one of the picture's size" in error
    assert not (tmp_path / "no.png").exists()


@pytest.mark.parametrize("compression", ["none", "deflate"])
@pytest.mark.parametrize("count", [1, 3])
def test_the_mask_behind_a_page_says_what_is_missing_and_is_in_the_output(tmp_path, levels, holes, compression, count):
    pages = np.stack([levels] * count)
    with tifffile.TiffWriter(tmp_path / "in.tif") as file:
        for page in pages:
            file.write(page, metadata=None)
            file.write(~holes, subfiletype=4, photometric="mask", metadata=None)
    words = ["--output", "keep", "--compression", compression, "--verify", tmp_path / "in.tif"]
    code, said, error = run("lowpass", *words, tmp_path / "out.tif")
    assert (code, said.count("off by at most"), error) == (0, 1, "")
    with tifffile.TiffFile(tmp_path / "out.tif") as file:
        made, masks = file.pages[::2], file.pages[1::2]
        assert [mask.subfiletype for mask in masks] == [4] * count
        for page, mask in zip(made, masks, strict=True):
            np.testing.assert_array_equal(mask.asarray() == 0, holes)
            np.testing.assert_array_equal(page.asarray()[holes], levels[holes])
    by_mask = save(tmp_path / "mask.png", holes.astype(np.uint8))
    save(tmp_path / "plain.tif", pages, photometric="minisblack")
    assert run("lowpass", "--output", "keep", "--missing", by_mask, tmp_path / "plain.tif", tmp_path / "by.tif")[0] == 0
    for i in range(count):
        of_mask = tifffile.imread(tmp_path / "by.tif", key=i)
        np.testing.assert_array_equal(of_mask, tifffile.imread(tmp_path / "out.tif", key=2 * i))
    assert run("lowpass", "--missing", "none", *words, tmp_path / "none.tif")[0] == 0
    assert not np.array_equal(
        tifffile.imread(tmp_path / "none.tif", key=0), tifffile.imread(tmp_path / "out.tif", key=0)
    )


def test_the_mask_beside_a_file_says_what_is_missing(tmp_path, levels, holes):
    source = save(tmp_path / "in.png", levels)
    tifffile.imwrite(tmp_path / "in.png.msk", 255 * (~holes).astype(np.uint8))
    code, _, error = run("lowpass", "--output", "keep", "--verify", source, tmp_path / "out.png")
    assert (code, error) == (0, "fftfilter: the mask of IN is not in OUT, as .png has none: write .tif\n")
    np.testing.assert_array_equal(planes(tmp_path / "out.png")[0][holes], levels[holes])
    assert run("lowpass", source, tmp_path / "out.tif")[::2] == (0, "")
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "out.tif", key=1) == 0, holes)
    tifffile.imwrite(tmp_path / "in.png.msk", np.zeros((3, 4), np.uint8))
    code, _, error = run("lowpass", source, tmp_path / "no.png")
    assert (code, error.count("\n"), "its mask in.png.msk has another size" in error) == (1, 1, True)
    (tmp_path / "in.png.msk").write_bytes(b"II*\0 damaged")
    code, _, error = run("lowpass", source, tmp_path / "no.png")
    assert (code, error.count("\n"), "in.png.msk" in error) == (1, 1, True)
    assert not (tmp_path / "no.png").exists()


@pytest.mark.parametrize("damage", ["size", "strips"])
def test_a_mask_that_is_damaged_is_refused_in_a_line(tmp_path, levels, holes, damage):
    with tifffile.TiffWriter(tmp_path / "in.tif") as file:
        file.write(levels, metadata=None)
        file.write(~holes[: 5 if damage == "size" else None], subfiletype=4, photometric="mask", metadata=None)
    if damage == "strips":
        with tifffile.TiffFile(tmp_path / "in.tif", mode="r+b") as file:
            file.pages[1].tags["StripOffsets"].overwrite(1 << 30)
    code, _, error = run("lowpass", tmp_path / "in.tif", tmp_path / "no.tif")
    assert (code, error.count("\n"), (tmp_path / "no.tif").exists()) == (1, 1, False)


def test_pages_and_folders_have_holes_of_their_own(tmp_path, levels, holes):
    pages = np.stack([levels, np.where(holes, 0, levels), 255 - levels])
    (tmp_path / "in").mkdir()
    save(tmp_path / "in" / "stack.tif", pages, photometric="minisblack")
    for i, page in enumerate(pages):
        save(tmp_path / "in" / f"{i}.png", page)
    code, said, _ = run("lowpass", "--nodata", "0", "--verify", tmp_path / "in", tmp_path / "out")
    assert (code, said.count("off by at most")) == (0, 4)
    stack = tifffile.imread(tmp_path / "out" / "stack.tif")
    for i, page in enumerate(stack):
        assert np.array_equal(page, planes(tmp_path / "out" / f"{i}.png")[0])
    assert not stack[1][holes].any()


def test_a_stack_in_python_has_holes_too(tmp_path, levels, holes):
    save(tmp_path / "in.tif", np.stack([np.where(holes, np.nan, levels).astype(np.float32)] * 2))
    assert (
        filter_stack(tmp_path / "in.tif", tmp_path / "out.tif", H.lowpass("4px"), output="magnitude", scale="stack")
        == 2
    )
    assert np.array_equal(np.isnan(tifffile.imread(tmp_path / "out.tif")[1]), holes)


def test_what_holes_hold_has_no_part_in_the_range_of_a_stack(tmp_path, levels, holes):
    made = []
    for value in (0, 255):
        pages = np.stack([np.where(holes, value, levels.clip(60, 90)).astype(np.uint8)] * 2)
        source = save(tmp_path / "in.tif", pages, photometric="minisblack")
        assert run("highpass", "--scale", "stack", "--nodata", value, source, tmp_path / "out.tif")[0] == 0
        made.append(tifffile.imread(tmp_path / "out.tif")[:, ~holes])
    np.testing.assert_array_equal(*made)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--nodata", "x"], "Invalid value for '--nodata': 'x' is not a valid float"),
        (["--missing", "gone.png"], "gone.png: cannot be read: no such file or directory"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(tmp_path, options, message):
    code, _, error = run("lowpass", *options, SAMPLES / "camera.pgm", tmp_path / "out.png")
    assert code in (1, 2)
    assert message in error
    assert error.count("\n") == 1


def test_infinite_samples_are_refused_unless_they_are_missing(tmp_path, levels):
    wide = levels.astype(np.float64)
    wide[2, 3] = -1.7976931348623157e308  # which single precision does not hold
    source = save(tmp_path / "in.npy", wide)
    code, _, error = run("lowpass", source, tmp_path / "out.tif")
    assert code == 1
    assert "1 of 120 samples are NaN, infinite or beyond single precision, the first at x=3, y=2" in error
    assert run("lowpass", "--nodata=-1.7976931348623157e308", source, tmp_path / "out.tif")[0] == 0


F32_END, F64_END = -3.4028234663852886e38, -1.7976931348623157e308


@pytest.mark.parametrize(
    ("tag", "value", "dtype", "after"),
    [
        ("-3.40282306074e+38", F32_END, "f4", None),  # two steps of single precision away
        ("-3.4e38", F32_END, "f4", None),
        ("-3.4028236e+38", F32_END, "f4", None),  # beyond single precision
        ("-1.79769313486232e+308", F32_END, "f4", None),
        ("-1.79769313486232e+308", F64_END, "f8", F32_END),  # beyond double precision
        ("-1.7976931348623157e+308", F64_END, "f8", F32_END),
        ("1e+20", 1.0000002e20, "f4", None),
        ("-9999.99", -9999.99, "f4", None),
        ("-9999", -9999, "f2", -10000),  # as half precision has it
        ("-32768", -32768, "i2", None),
        ("18446744073709551615", 2**64 - 1, "u8", None),
        ("2147483640", 2147483640, "i4", None),
    ],
)
def test_samples_are_missing_that_have_the_value_of_the_tag_but_for_its_rounding(
    tmp_path, levels, holes, tag, value, dtype, after
):
    given = levels.astype(dtype)
    given[holes] = value
    tifffile.imwrite(tmp_path / "in.tif", given, extratags=[(42113, "s", 0, tag, True)], metadata=None)
    options = ["--radius", "3px", "--output", "keep", "--verify", "-v"]
    code, said, error = run("lowpass", *options, tmp_path / "in.tif", tmp_path / "out.tif")
    assert (code, said.count("off by at most"), f"{holes.mean():.2%} missing" in error) == (0, 1, True)
    with tifffile.TiffFile(tmp_path / "out.tif") as file:
        made, told = file.asarray(), file.pages.first.tags.valueof(42113)
    assert np.isfinite(made).all()
    assert (made[holes] == np.array(value if after is None else after, made.dtype)).all()
    assert np.abs(made[~holes].astype(float)).max() < 500
    assert float(told) == float(tag if after is None else after)


@pytest.mark.parametrize(
    ("nodata", "value", "integers"),
    [(-9999, -9998.9, None), (1e7, 1e7 + 11, None), (1e7, 1e7 + 1, "i4"), (0, 1e-9, None)],
)
def test_values_beside_that_of_nodata_are_valid(nodata, value, integers):
    planes = np.array([[[nodata, value]]], np.float32)
    picture = images.Picture(planes, None, 1, "TIFF", integers=integers and np.dtype(integers), nodata=nodata)
    assert Missing().holes(picture).tolist() == [[[True, False]]]


@pytest.mark.parametrize("tag", ["nan", "-9999"])
def test_a_tag_that_no_sample_of_bytes_has_says_nothing(levels, tag):
    picture = images.Picture(levels[None], None, 255, "TIFF", nodata=float(tag))
    assert Missing().holes(picture) is None


@pytest.mark.parametrize(("value", "output"), [(F32_END, "real"), (F32_END, "keep"), (1e31, "keep")])
@pytest.mark.parametrize("engine", [[], ["--engine", "stockham"], ["--engine", "numpy"]])
def test_numbers_that_look_like_missing_ones_are_told_and_stay_finite(tmp_path, levels, holes, value, output, engine):
    levels = levels.astype(np.float32)
    levels[holes] = value
    source = save(tmp_path / "in.tif", levels)
    options = ["--radius", "4px", "--output", output, *engine, "--verify"]
    code, said, error = run("lowpass", *options, source, tmp_path / "out.tif")
    assert (code, said.count("off by at most")) == (0, 1)
    told = f"{np.float32(value):.8g}"
    assert f"samples of {told} look like missing pixels, but are filtered: give --nodata {told}" in error
    assert np.isfinite(tifffile.imread(tmp_path / "out.tif")).all()
    code, _, error = run("lowpass", *options, "--nodata", told, source, tmp_path / "out.tif")
    assert (code, error) == (0, "")


def test_the_filter_of_imagej_knows_no_missing_pixels(tmp_path, levels, holes):
    source = save(tmp_path / "in.tif", np.where(holes, np.nan, levels).astype(np.float32))
    assert "samples are NaN" in run("imagej", source, tmp_path / "out.tif")[2]
    source = save(tmp_path / "in.tif", np.where(holes, 0, levels), extratags=[(42113, "s", 0, "0", True)])
    code, _, error = run("imagej", source, tmp_path / "out.tif")
    line = "ImageJ's filter knows no missing pixels: transparent ones and nodata are filtered, too"
    assert (code, error) == (0, f"fftfilter: {line}\n")
    assert run("imagej", "--nodata", "3", source, tmp_path / "out.tif")[0] == 2


def test_of_a_file_s_own_value_nothing_is_missing_if_that_is_asked_for(levels):
    picture = images.Picture(levels[None], None, 255, "TIFF", nodata=float(levels[0, 0]))
    assert Missing.of(None, None).holes(picture)[0, 0, 0]
    assert Missing.of(None, "none").holes(picture) is None
    assert Missing.of(float("nan"), None).holes(picture)[0, 0, 0]  # NaN is missing always


def test_none_is_of_transparent_pixels_but_not_of_nan_nor_of_a_value_that_is_given(levels):
    alpha = np.where(levels > 200, 0, 255).astype(np.uint8)
    floats = levels[None].astype(np.float32)
    floats[0, 2, 3], floats[0, 4, 5] = np.nan, -5
    picture = images.Picture(floats, alpha, 1, "TIFF")
    assert np.argwhere(Missing.of(-5, "none").holes(picture)).tolist() == [[0, 2, 3], [0, 4, 5]]
    assert np.argwhere(Missing.of(None, "none").holes(picture)).tolist() == [[0, 2, 3]]
    assert np.array_equal(Missing.of(None, None).holes(picture)[0], (alpha == 0) | np.isnan(floats[0]))


def test_a_value_and_alpha_or_a_mask_in_its_place_say_together_what_is_missing(tmp_path):
    planes, alpha = np.uint8([[[1, 2, 3, 4]], [[1, 1, 1, 1]], [[5, 6, 7, 8]]]), np.uint8([[255, 255, 0, 9]])
    picture = images.Picture(planes, alpha, 255, "TIFF", nodata=2.0)
    mask = str(save(tmp_path / "mask.png", np.uint8([[0, 0, 0, 7]])))
    for nodata, by, wanted in (
        (None, None, ["0110", "0010", "0010"]),
        (np.nan, "alpha", ["0110", "0010", "0010"]),
        (5, None, ["0010", "0010", "1010"]),
        (5, "none", ["0000", "0000", "1000"]),
        (None, mask, ["0101", "0001", "0001"]),
        (5, mask, ["0001", "0001", "1001"]),
    ):
        holes = Missing.of(nodata, by).holes(picture)[:, 0]
        assert ["".join(map(str, row)) for row in holes.astype(int)] == wanted, (nodata, by)
    floats = images.Picture(np.float32([[[np.nan, 2, 3]]]), np.float32([[1, 1, 0]]), 1, "TIFF")
    assert Missing.of(3, "none").holes(floats).tolist() == [[[True, False, True]]]
    assert Missing.of(np.nan, None) == Missing()


def test_a_rule_is_equal_to_one_of_the_same_pixels(tmp_path, holes):
    rule, copy, other = (
        Missing.of(-9999, str(save(tmp_path / name, mask)))
        for name, mask in (("a.png", holes), ("b.png", holes), ("c.png", ~holes))
    )
    assert rule == copy
    assert len({rule, Missing(-9999), Missing(), other}) == 4


@pytest.mark.parametrize("rows", [6, 7])
def test_more_missing_pixels_than_valid_ones_are_said(tmp_path, levels, rows):
    levels[:rows] = 0
    file = save(tmp_path / "in.png", levels)
    code, _, err = run("lowpass", "--radius", 3, "--nodata", 0, file, tmp_path / "out.png")
    assert (code, "58% of the picture is missing" in err) == (0, rows == 7), err


def test_a_few_valid_pixels_are_some():
    (line,) = cautions_on_missing(1 - 1e-4)
    assert line.startswith("nearly all of the picture is missing: ")
