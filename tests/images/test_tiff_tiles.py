"""Tiles of a TIFF, tags of a GeoTIFF and integers, which stay as they are."""

from __future__ import annotations

import io

import numpy as np
import pytest
import tifffile
from PIL import Image

from fftfilter.images import Coding, Picture, decode, opened, pages_of, read, sink, tiff_writer, write

RAMP = np.arange(50 * 70).reshape(50, 70) % 251
GEO = [
    (33550, "d", 3, (10.0, 10.0, 0.0), True),
    (33922, "d", 6, (0.0, 0.0, 0.0, 5e5, 5.2e6, 0.0), True),
    (34735, "H", 8, (1, 1, 0, 1, 3072, 0, 1, 32633), True),
    (34737, "s", 0, "WGS 84|", True),
    (42113, "s", 0, "-32768", True),
]
SAID = (
    '<GDALMetadata>\n  <Item name="STATISTICS_MEAN" sample="0">5</Item>\n  <Item name="SCALE">2</Item>\n</GDALMetadata>'
)


def tiff_of(array, **options):
    file = io.BytesIO()
    tifffile.imwrite(file, array, **options)
    return file.getvalue()


@pytest.mark.parametrize("compression", ["none", "lzw", "deflate", "packbits", "lzma", "zstd"])
@pytest.mark.parametrize(("dtype", "channels"), [("u1", 1), ("u1", 3), ("u2", 4), ("i2", 1), ("f4", 3)])
def test_tiles_stay_tiles(tmp_path, dtype, channels, compression):
    given = np.stack([RAMP] * channels, axis=-1).astype(dtype)
    kind = {"photometric": "rgb", "extrasamples": ["unassalpha"] * (channels == 4)} if channels > 1 else {}
    found = decode(tiff_of(given.squeeze(), tile=(16, 48), compression="zlib", **kind), "x")
    write(found, tmp_path / "x.tif", coding=Coding(compression=compression))
    with tifffile.TiffFile(tmp_path / "x.tif") as file:
        page = file.pages[0]
        assert (page.is_tiled, page.tilelength, page.tilewidth, page.dtype) == (True, 16, 48, np.dtype(dtype))
        if compression == "none":
            np.testing.assert_array_equal(file.asarray(), given.squeeze())
    np.testing.assert_array_equal(read(tmp_path / "x.tif").planes, found.planes)
    if dtype == "u1":
        np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "x.tif")), given.squeeze())


@pytest.mark.parametrize("largest", [tiff_writer._LARGEST, 1], ids=["classic", "big"])
def test_tiled_pages_stay_tiled(monkeypatch, largest):
    monkeypatch.setattr(tiff_writer, "_LARGEST", largest)
    stack = np.stack([RAMP, RAMP[::-1]]).astype(np.uint16)
    pages, file = pages_of(tiff_of(stack, tile=(32, 16), photometric="minisblack"), "x"), io.BytesIO()
    growing = sink(file, ".tif", Coding(), count=2, plays=0)
    for index in range(2):
        growing.add(growing.encode(pages.read(index), None))
    growing.finish()
    file.seek(0)
    with tifffile.TiffFile(file) as found:
        assert [page.is_tiled for page in found.pages] == [True, True]
        assert found.is_bigtiff == (largest == 1)
        np.testing.assert_array_equal(found.asarray(), stack)


def test_a_large_tiled_picture_becomes_a_bigtiff(monkeypatch, tmp_path):
    monkeypatch.setattr(tiff_writer, "_LARGEST", 1)
    write(decode(tiff_of(RAMP.astype(np.uint8), tile=(16, 16)), "x"), tmp_path / "x.tif")
    with tifffile.TiffFile(tmp_path / "x.tif") as found:
        assert (found.is_bigtiff, found.pages[0].is_tiled) == (True, True)
        np.testing.assert_array_equal(found.asarray(), RAMP)


@pytest.mark.parametrize(("tile", "wanted"), [((256, 512), (64, 80)), ((16, 16), (16, 16))])
def test_tiles_are_no_larger_than_the_picture_needs(tmp_path, tile, wanted):
    write(decode(tiff_of(RAMP.astype(np.uint8), tile=tile), "x"), tmp_path / "x.tif")
    with tifffile.TiffFile(tmp_path / "x.tif") as found:
        assert (found.pages[0].tilelength, found.pages[0].tilewidth) == wanted


@pytest.mark.parametrize("tile", [(10, 16), (16, 0)])
def test_sides_of_tiles_that_tiff_forbids_become_strips(tmp_path, tile):
    write(Picture(RAMP[None].astype(np.uint8), None, 255, "TIFF", tiff_tile=tile), tmp_path / "x.tif")
    with tifffile.TiffFile(tmp_path / "x.tif") as found:
        assert not found.pages[0].is_tiled
        np.testing.assert_array_equal(found.asarray(), RAMP)


def test_a_geotiff_keeps_its_place(tmp_path):
    data = tiff_of(RAMP.astype(np.int16), extratags=[*GEO, (42112, "s", 0, SAID, True)], metadata=None)
    found = decode(data, "x")
    assert found.nodata == -32768
    write(found, tmp_path / "x.tif")
    with tifffile.TiffFile(tmp_path / "x.tif") as file:
        tags = file.pages[0].tags
        for number, kind, _, value, _ in GEO:
            assert (tags[number].value, tags[number].dtype.name[0]) == (value, {"d": "D", "H": "S", "s": "A"}[kind])
        assert (tags[42112].value.count("STATISTICS"), tags[42112].value.count("SCALE")) == (0, 1)


@pytest.mark.parametrize(("text", "wanted"), [("nan", np.nan), ("-9999", -9999.0), ("none", None)])
def test_the_value_of_missing_samples_is_read(text, wanted):
    data = tiff_of(RAMP.astype(np.float32), extratags=[(42113, "s", 0, text, True)])
    np.testing.assert_equal(decode(data, "x").nodata, wanted)


def test_overviews_are_said_to_be_lost():
    file, pixels = io.BytesIO(), RAMP.astype(np.uint8)
    with tifffile.TiffWriter(file) as made:
        made.write(pixels, tile=(16, 16), metadata=None)
        made.write(pixels[::2, ::2], subfiletype=1, metadata=None)
    assert opened(file.getvalue(), "x").metadata.left_out == ("reduced copies of pages",)


@pytest.mark.parametrize("suffix", [".tif", ".npy"])
@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u4"])
def test_integers_stay_integers_of_their_size(tmp_path, dtype, suffix):
    given = (RAMP - 100 * (dtype != "u4")).clip(-128, 127).astype(dtype)
    np.save(tmp_path / "given.npy", given)
    for found in read(tmp_path / "given.npy"), decode(tiff_of(given), "x"):
        write(found, tmp_path / f"x{suffix}")
        got = np.load(tmp_path / "x.npy") if suffix == ".npy" else tifffile.imread(tmp_path / "x.tif")
        assert got.dtype == given.dtype
        np.testing.assert_array_equal(got, given)


@pytest.mark.parametrize(("photometric", "told"), [("palette", None), ("miniswhite", "252"), ("minisblack", "3")])
def test_nodata_is_that_of_the_samples_as_they_are_read(tmp_path, photometric, told):
    """It is an index of colors, which are transparent then, or a level of which 0 is white."""
    colors = {"colormap": np.random.default_rng(3).integers(0, 65536, (3, 256), np.uint16)}
    options = colors if photometric == "palette" else {"photometric": photometric}
    found = decode(tiff_of(RAMP.astype(np.uint8), extratags=[(42113, "s", 0, "3", True)], **options), "x")
    holes = found.alpha == 0 if told is None else found.planes[0] == found.nodata
    assert np.array_equal(holes, RAMP == 3)
    if told is None:
        assert (
            decode(tiff_of(RAMP.astype(np.uint8), extratags=[(42113, "s", 0, "254", True)], **options), "x").alpha
            is None
        )
    write(found, tmp_path / "x.tif")
    with tifffile.TiffFile(tmp_path / "x.tif") as file:
        assert file.pages.first.tags.valueof(42113) == told


def test_nodata_of_few_bits_is_a_level_of_255():
    file = io.BytesIO()
    Image.fromarray(RAMP % 2 == 0).save(file, "TIFF", tiffinfo={42113: "1"})
    found = decode(file.getvalue(), "x")
    assert np.array_equal(found.planes[0] == found.nodata, RAMP % 2 == 0)
