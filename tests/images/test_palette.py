"""Palettes: look-up tables, whose indices are read, and true colors."""

from __future__ import annotations

import io

import numpy as np
import pytest
import tifffile
from PIL import Image

from fftfilter.errors import ParameterError
from fftfilter.images import Asked, Coding, decode, opened, pages_of, read, write
from fftfilter.images.picture import WHITE, table_of
from tests.helpers import HAS_ASTROPY
from tests.images.helpers import GRAY

UP = np.arange(256)
FIRE = np.stack([UP, UP**2 // 255, 255 - UP], axis=-1).astype(np.uint8)
ALARM = np.stack([UP] * 3, axis=-1).astype(np.uint8)
ALARM[0], ALARM[255] = (0, 0, 255), (255, 0, 0)
TABLE, COLORS = Asked(palette="table"), Asked(palette="colors")


def file_of(format_, colors, indices=GRAY, **options):
    """Return a file of indices into colors (entries, 3)."""
    file = io.BytesIO()
    if format_ == "TIFF":
        tifffile.imwrite(file, indices, photometric="palette", colormap=colors.T.astype(np.uint16) * WHITE, **options)
    else:
        image = Image.fromarray(indices)
        image.putpalette(colors.ravel().tolist())
        image.save(file, format_, **({"optimize": False} if format_ == "GIF" else {}), **options)
    return file.getvalue()


def quantized():
    """Return the palette of a picture with colors in two directions."""
    y, x = np.mgrid[:64, :64].astype(np.uint8)
    return np.array(Image.fromarray(np.stack([4 * x, 4 * y, 255 - x], -1)).quantize(256).getpalette()).reshape(-1, 3)


@pytest.mark.parametrize(
    ("colors", "is_table"),
    [
        *((FIRE, True), (ALARM, True), (FIRE[::-1], True)),
        *((quantized(), False), (FIRE[::2], False), (FIRE[::17], False)),
        ((FIRE + 90) * (UP[:, None] < 2), False),
        *((FIRE // 2 + UP[:, None] % 2 * [[19, 0, 0]], True), (FIRE // 2 + UP[:, None] % 2 * [[0, 0, 22]], False)),
        *((FIRE // 2 + UP[:, None] // 100 * [[40, 0, 0]], True), (FIRE // 2 + UP[:, None] // 80 * [[40, 0, 0]], False)),
    ],
    ids=[
        *("smooth", "other colors at the ends", "falling", "chosen for a picture", "half as many", "sixteen"),
        "two classes",
        *("steps of 20", "steps of 22", "two jumps", "three jumps"),
    ],
)
def test_a_table_runs_smoothly_through_256_colors(colors, is_table):
    assert (table_of(colors.astype(np.uint16) * WHITE, "auto") is not None) == is_table
    assert table_of(colors.astype(np.uint16) * WHITE, "table").shape == (3, 256)
    assert table_of(colors.astype(np.uint16) * WHITE, "colors") is None


def test_a_palette_of_grays_is_gray():
    grays = np.stack([255 - UP] * 3, axis=-1).astype(np.uint8)
    for format_ in "PNG", "TIFF":
        found = decode(file_of(format_, grays), "x")
        np.testing.assert_array_equal(found.planes, 255 - GRAY[None])
        assert found.table is None


@pytest.mark.parametrize("format_", ["PNG", "TIFF"])
@pytest.mark.parametrize("channels", [[0, 0, 1], [0, 1, 0], [1, 0, 0]])
def test_a_palette_is_of_colors_where_one_channel_differs(format_, channels):
    colors = np.stack([UP, 255 - UP], axis=-1).astype(np.uint8)[:, channels]
    found = opened(file_of(format_, colors), "x", COLORS)
    np.testing.assert_array_equal(found.planes, colors[GRAY].transpose(2, 0, 1))


def test_no_colors_are_no_table():
    assert table_of(np.zeros((0, 3), np.uint16), "table") is None


@pytest.mark.parametrize("target", ["PNG", "GIF", "TIFF"])
@pytest.mark.parametrize("format_", ["PNG", "GIF", "TIFF"])
def test_indices_are_read_and_the_table_stays(tmp_path, format_, target):
    found = decode(file_of(format_, FIRE), "x")
    np.testing.assert_array_equal(found.planes, GRAY[None])
    np.testing.assert_array_equal(found.table, FIRE.T.astype(np.uint16) * WHITE)
    path = tmp_path / f"x.{target.lower()[:4].replace('tiff', 'tif')}"
    assert "the look-up table" not in write(found, path)
    with Image.open(path) as image:
        np.testing.assert_array_equal(np.asarray(image), GRAY)
        np.testing.assert_array_equal(np.array(image.getpalette()).reshape(-1, 3), FIRE)
        assert image.mode == "P"


@pytest.mark.parametrize("format_", ["PNG", "GIF", "TIFF"])
def test_colors_are_read_where_they_are_asked_for(tmp_path, format_):
    (tmp_path / "x").write_bytes(file_of(format_, FIRE))
    for found in opened((tmp_path / "x").read_bytes(), "x", COLORS), read(tmp_path / "x", COLORS):
        np.testing.assert_array_equal(found.planes, FIRE[GRAY].transpose(2, 0, 1))
        assert found.table is None


def test_a_table_may_be_asked_for():
    found = opened(file_of("PNG", FIRE[::17], GRAY // 17), "x", TABLE)
    np.testing.assert_array_equal(found.planes, GRAY[None] // 17)
    np.testing.assert_array_equal(found.table[:, 16:], np.tile(found.table[:, 15:16], 240))  # the last color


@pytest.mark.parametrize("level", [0, 1, 9])
def test_a_png_of_any_level_keeps_its_table(tmp_path, level):
    write(decode(file_of("PNG", FIRE), "x"), tmp_path / "x.png", coding=Coding(level))
    assert read(tmp_path / "x.png").table is not None


@pytest.mark.parametrize("name", ["x.jpg", "x.pgm", "x.npy", *(["x.fits"] if HAS_ASTROPY else [])])
def test_other_formats_get_the_indices_in_gray(tmp_path, name):
    assert write(decode(file_of("PNG", FIRE), "x"), tmp_path / name) == ["the look-up table"]
    assert len(read(tmp_path / name).planes) == 1


def test_the_palette_of_a_bmp_is_a_table_only_where_one_is_asked_for():
    data = file_of("BMP", FIRE)
    np.testing.assert_array_equal(decode(data, "x").planes, FIRE[GRAY].transpose(2, 0, 1))
    np.testing.assert_array_equal(opened(data, "x", TABLE).planes, GRAY[None])


def test_colors_with_transparent_ones_are_colors_unless_a_table_is_asked_for(tmp_path):
    data = file_of("PNG", FIRE, transparency=40)
    assert len(decode(data, "x").planes) == 3
    found = opened(data, "x", TABLE)
    np.testing.assert_array_equal(found.planes, GRAY[None])
    np.testing.assert_array_equal(found.alpha, np.where(GRAY == 40, 0, 255))
    assert write(found, tmp_path / "x.png") == ["the look-up table"]


@pytest.mark.parametrize("options", [{"compression": "zlib"}, {"imagej": True}, {"tile": (16, 16)}])
@pytest.mark.parametrize(("asked", "wanted"), [(Asked(), GRAY[None]), (COLORS, FIRE[GRAY].transpose(2, 0, 1))])
def test_pages_have_their_tables(options, asked, wanted):
    if options.get("imagej"):
        file = io.BytesIO()
        colors = FIRE.T.astype(np.uint16) * WHITE
        tifffile.imwrite(file, np.stack([GRAY, GRAY[::-1]]), imagej=True, colormap=colors)
        data = file.getvalue()
    else:
        data = file_of("TIFF", FIRE, np.stack([GRAY, GRAY[::-1]]), **options)
    pages = pages_of(data, "x", asked)
    for index, rows in enumerate([slice(None), slice(None, None, -1)]):
        found = pages.read(index)
        np.testing.assert_array_equal(found.planes, wanted[:, rows])
        assert (found.table is None) == (asked is COLORS)


@pytest.mark.parametrize(("format_", "option"), [("PNG", "icc_profile"), ("TIFF", "iccprofile")])
def test_the_profile_of_a_palette_is_one_of_colors(format_, option):
    profile = bytes(16) + b"RGB " + bytes(108)
    found = decode(file_of(format_, FIRE, **{option: profile}), "x")
    assert (len(found.planes), found.metadata.profile) == (1, profile)


def test_frames_of_an_animation_have_no_table():
    image = Image.fromarray(GRAY)
    image.putpalette(FIRE.ravel().tolist())
    file = io.BytesIO()
    image.save(file, "GIF", save_all=True, append_images=[image.transpose(Image.Transpose.FLIP_TOP_BOTTOM)])
    with pytest.raises(ParameterError, match=r"x: frames of an animation have no look-up table: leave --palette out"):
        opened(file.getvalue(), "x", TABLE)
    assert len(opened(file.getvalue(), "x", COLORS)) == 2
