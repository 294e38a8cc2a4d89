"""TIFF and BigTIFF: every type of sample and layout, compressions, what is damaged or not a picture."""

from __future__ import annotations

import io
import logging
import struct
import tracemalloc
import zlib

import imagecodecs
import numpy as np
import pytest
import tifffile
from PIL import ExifTags, Image

from fftfilter.errors import ReadError, WriteError
from fftfilter.images import Size, decode, measure, read, tiff_reader, write
from tests.files.helpers import python
from tests.images.helpers import GRAY, interleaved, noise, picture

LAYOUTS = {"gray": ("minisblack", None), "RGB": ("rgb", "contig"), "planar": ("rgb", "separate")}


def tiff_of(samples, **options):
    """Return a TIFF of samples (height, width, channels)."""
    file = io.BytesIO()
    tifffile.imwrite(file, samples, metadata=None, **options)
    return file.getvalue()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "i1", "i2", "f2", "f4", "f8"])
@pytest.mark.parametrize(
    "options",
    [{}, {"bigtiff": True}, {"byteorder": ">"}, {"tile": (16, 16)}, {"compression": "zlib", "rowsperstrip": 4}],
    ids=["plain", "BigTIFF", "big-endian", "tiles", "deflate"],
)
def test_every_type_and_layout(layout, dtype, options):
    given = (noise(3) / 600 - (50 if dtype[0] != "u" else 0)).astype(dtype)
    photometric, planar = LAYOUTS[layout]
    if layout == "gray":
        given = given[:, :, :1]
    stored = np.moveaxis(given, 2, 0) if layout != "RGB" else given
    data = tiff_of(stored, photometric=photometric, planarconfig=planar, **options)
    got = decode(data, "x.tif")
    assert got.planes.dtype == (dtype if dtype in ("u1", "u2") else np.float32)
    np.testing.assert_array_equal(got.planes, np.moveaxis(given, 2, 0).astype(got.planes.dtype))


@pytest.mark.parametrize("byteorder", ["<", ">"])
@pytest.mark.parametrize(("dtype", "channels"), [("f2", 1), ("f4", 3), ("f8", 1), ("f8", 4)])
def test_floats_by_the_predictor_of_floats(dtype, channels, byteorder):
    """As GDAL writes them by PREDICTOR=3."""
    given = (noise(channels) / 600 - 50).astype(dtype)
    height, width, _ = given.shape
    parts = given.astype(f">{dtype}").view(np.uint8).reshape(height, width * channels, -1)
    rows = parts.transpose(0, 2, 1).reshape(height, -1, channels)
    coded = np.diff(rows, axis=1, prepend=np.uint8(0))
    strips = (zlib.compress(part.tobytes()) for part in (coded[: height - 1], coded[height - 1 :]))
    kind = {"compression": "zlib", "photometric": "minisblack", "byteorder": byteorder}
    kind["extratags"] = [(65000, "H", 1, 3, True)]  # it becomes the predictor, for which tifffile needs imagecodecs
    shape = {"shape": given.squeeze().shape, "dtype": dtype, "rowsperstrip": height - 1}
    data = tiff_of(strips, planarconfig="contig" if channels > 1 else None, **kind, **shape)
    data = data.replace(struct.pack(f"{byteorder}HH", 65000, 3), struct.pack(f"{byteorder}HH", 317, 3))
    np.testing.assert_array_equal(decode(data, "x.tif").planes, np.moveaxis(given, 2, 0).astype(np.float32))


@pytest.mark.parametrize("dtype", ["u1", "u2", "f4"])
@pytest.mark.parametrize("planar", ["contig", "separate"])
@pytest.mark.parametrize(
    ("photometric", "channels", "kinds", "alpha"),
    [
        *(("minisblack", count, (0,) * (count - 1), None) for count in (2, 3, 4, 5)),
        ("rgb", 4, (0,), None),
        ("rgb", 6, (0, 2, 0), 4),
        ("minisblack", 3, (1, 0), 1),
    ],
)
def test_samples_of_unknown_meaning_are_channels_like_others(
    tmp_path, dtype, planar, photometric, channels, kinds, alpha
):
    given = np.moveaxis(noise(channels), 2, 0) // 256
    if alpha is not None:
        given[alpha] = 65535  # opaque, also where it was multiplied into the others
    given = given.astype(dtype)
    stored = given if planar == "separate" else np.moveaxis(given, 0, 2)
    (tmp_path / "in.tif").write_bytes(tiff_of(stored, photometric=photometric, planarconfig=planar, extrasamples=kinds))
    assert measure(tmp_path / "in.tif").channels == channels - (alpha is not None)
    source = read(tmp_path / "in.tif")
    assert write(source, tmp_path / "out.tif") == []
    with tifffile.TiffFile(tmp_path / "out.tif") as file:
        page = file.pages.first
        order = [i for i in range(channels) if i != alpha] + [alpha] * (alpha is not None)
        assert page.photometric.name.lower() == photometric
        assert page.extrasamples == (0,) * (len(kinds) - (alpha is not None)) + (2,) * (alpha is not None)
        got = np.moveaxis(page.asarray(), 2, 0)
    if kinds[0] != 1 or dtype != "f4":
        np.testing.assert_array_equal(got, given[order])
    again = read(tmp_path / "out.tif")
    np.testing.assert_array_equal(again.planes, source.planes)
    with pytest.raises(WriteError, match=f".png holds gray or color, and there are {len(source.planes)} channels"):
        write(source, tmp_path / "out.png")


def test_samples_that_would_be_lost_are_refused():
    given = np.zeros((16, 16, 4), np.uint8)
    data = bytearray(tiff_of(given, photometric="rgb", extrasamples=["unspecified"]))
    with tifffile.TiffFile(io.BytesIO(data)) as file:
        at = file.pages.first.tags["Compression"].valueoffset
    data[at : at + 2] = (7).to_bytes(2, "little")
    with pytest.raises(ReadError, match=r"4 samples a pixel, is not supported; convert it to gray or RGB$"):
        decode(bytes(data), "x.tif")
    inks = tiff_of(np.zeros((16, 16, 5), np.uint8), photometric="separated", extrasamples=["unassalpha"])
    with pytest.raises(ReadError, match="5 samples a pixel, is not supported"):
        decode(inks, "x.tif")


def test_complex_samples_are_refused():
    with pytest.raises(
        ReadError, match=r"^x.tif: its samples are complex numbers; save their magnitude, or both parts apart$"
    ):
        decode(tiff_of(np.ones((4, 5), np.complex64)), "x.tif")


@pytest.mark.parametrize(
    ("dtype", "wanted"), [("u1", [255, 155]), ("u2", [65535, 65435]), ("f4", [1, -99]), ("i2", [1, -99])]
)
def test_where_0_is_white_black_becomes_0(dtype, wanted):
    given = np.array([[0, 100]], dtype)
    assert decode(tiff_of(given, photometric="miniswhite"), "x.tif").planes.tolist() == [[wanted]]


def test_where_0_is_white_alpha_stays():
    given = np.array([[[0, 7], [100, 200]]], np.uint8)
    got = decode(tiff_of(given, photometric="miniswhite", extrasamples=["unassalpha"]), "x.tif")
    assert (got.planes.tolist(), got.alpha.tolist()) == ([[[255, 155]]], [[7, 200]])


@pytest.mark.parametrize(("kinds", "wanted"), [((0, 1), 100), ((0, 2), 50)])
def test_alpha_is_divided_out_where_the_sample_that_is_alpha_says_so(kinds, wanted):
    data = tiff_of(np.array([[[50, 9, 127.5]]], np.float32) / 255, photometric="minisblack", extrasamples=kinds)
    assert decode(data, "x.tif").planes[0] == pytest.approx(wanted / 255)


@pytest.mark.parametrize("compression", ["tiff_lzw", "tiff_adobe_deflate", "packbits", None])
@pytest.mark.parametrize(
    "given", [picture(channels=3), picture(channels=3, dtype=np.uint16), picture(dtype=np.float32)]
)
def test_a_compression_is_kept(tmp_path, compression, given):
    Image.new("L", (3, 2)).save(tmp_path / "in.tif", compression=compression)
    source = read(tmp_path / "in.tif")
    given.tiff_compression = source.tiff_compression
    write(given, tmp_path / "out.tif")
    with tifffile.TiffFile(tmp_path / "in.tif") as before, tifffile.TiffFile(tmp_path / "out.tif") as after:
        assert after.pages.first.compression == before.pages.first.compression
    np.testing.assert_array_equal(read(tmp_path / "out.tif").planes, given.planes)


def test_a_compression_that_loses_becomes_deflate(tmp_path):
    Image.new("L", (30, 20), 7).save(tmp_path / "in.tif", compression="jpeg")
    write(read(tmp_path / "in.tif"), tmp_path / "out.tif")
    with tifffile.TiffFile(tmp_path / "out.tif") as after:
        assert after.pages.first.compression.name == "ADOBE_DEFLATE"
    assert (read(tmp_path / "out.tif").planes == 7).all()


def test_metadata_of_a_bigtiff_go_along(tmp_path):
    tags = Image.Exif()
    tags[ExifTags.Base.Make] = "Camera & Sons"
    Image.new("L", (8, 8)).save(tmp_path / "in.tif", exif=tags, dpi=(300, 150), big_tiff=True)
    for name in "out.tif", "out.png":
        assert write(read(tmp_path / "in.tif"), tmp_path / name) == []
        with Image.open(tmp_path / name) as image:
            assert image.getexif()[ExifTags.Base.Make] == "Camera & Sons"
            assert [round(float(each)) for each in image.info["dpi"]] == [300, 150]


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_tiff_stands_upright(orientation):
    given = np.arange(6, dtype=np.uint8).reshape(2, 3)
    data = tiff_of(given, extratags=[(274, "H", 1, orientation, True)])
    with Image.open(io.BytesIO(data)) as image:
        image.load()
        upright = np.asarray(image)
    np.testing.assert_array_equal(decode(data, "x").planes[0], upright)


def test_floats_beyond_single_precision_are_infinite():
    """They may be missing, and are refused by those who know."""
    assert decode(tiff_of(np.array([[0, 1e300], [1, 2]])), "x.tif").planes.tolist() == [[[0, np.inf], [1, 2]]]


def test_a_stack_of_imagej_is_several_pages(tmp_path):
    tifffile.imwrite(tmp_path / "x.tif", np.zeros((5, 8, 9), np.uint8), imagej=True)
    with pytest.raises(ReadError, match="5 frames or pages"):
        read(tmp_path / "x.tif")


def test_the_size_of_a_large_tiff_is_in_its_tags(tmp_path):
    (tmp_path / "x.tif").write_bytes(tiff_of(noise(3), photometric="rgb", bigtiff=True))
    assert measure(tmp_path / "x.tif") == Size(11, 9, 3, 2)


def test_a_strip_that_grows_beyond_its_rows_takes_no_more_memory():
    """A deflated strip of a thousand times the bytes that the tags speak of."""
    file = io.BytesIO(tiff_of(np.zeros((10_000, 10_000), np.uint8), compression="zlib", rowsperstrip=10_000))
    tags = tifffile.TiffFile(file).pages.first.tags
    data = bytearray(file.getvalue())
    for tag in "ImageLength", "RowsPerStrip":
        data[tags[tag].valueoffset : tags[tag].valueoffset + 2] = (2).to_bytes(2, "little")
    tracemalloc.start()
    try:
        with pytest.raises(ReadError, match=r"^x: cannot be decoded \(.*\); it may be damaged or cut off$"):
            decode(bytes(data), "x")
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_a_last_strip_as_high_as_the_others_is_read():
    rows = noise(1)[:, :, 0]
    strips = [rows[:4], rows[4:8], np.concatenate([rows[8:], rows[:3]])]
    coded = (zlib.compress(each.tobytes()) for each in strips)
    data = tiff_of(coded, shape=rows.shape, dtype=rows.dtype, compression="zlib", rowsperstrip=4)
    np.testing.assert_array_equal(decode(data, "x").planes[0], rows)


@pytest.mark.parametrize("compression", ["tiff_lzw", "jpeg"])
def test_libtiff_says_nothing_of_its_own(tmp_path, compression):
    Image.new("L", (64, 64)).save(tmp_path / "x.tif", compression=compression)
    data = bytearray((tmp_path / "x.tif").read_bytes())
    with tifffile.TiffFile(tmp_path / "x.tif") as file:
        start = file.pages.first.dataoffsets[0]
    data[start : start + 20] = b"\xff" * 20
    (tmp_path / "x.tif").write_bytes(data)
    code = "from fftfilter import errors, images\ntry: images.read('x.tif')\nexcept errors.ReadError: print('refused')"
    done = python(code, cwd=tmp_path)
    assert (done.stdout, done.stderr) == (b"refused\n", b"")


def test_what_libraries_log_has_a_place_that_is_not_standard_error():
    decode(tiff_of(GRAY), "x.tif")
    for name in "PIL", "tifffile":
        assert any(isinstance(handler, logging.NullHandler) for handler in logging.getLogger(name).handlers)


@pytest.mark.parametrize("compression", ["jpeg2000", "jpegxl", "lerc"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_what_needs_imagecodecs_is_read_with_it(compression, dtype):
    given = (noise(3) % np.iinfo(dtype).max).astype(dtype)
    data = tiff_of(given, photometric="rgb", compression=compression)
    np.testing.assert_array_equal(interleaved(decode(data, "x.tif")), tifffile.imread(io.BytesIO(data)))


@pytest.mark.parametrize("inner", [None, "deflate", "zstd"])
@pytest.mark.parametrize(("channels", "holes"), [(1, [0]), (3, [0, 1, 2]), (3, [1])])
def test_what_a_lerc_does_not_have_is_nan(channels, holes, inner):
    """As GDAL writes NaN: by a mask for each channel, and channels come first then."""
    given = np.moveaxis(noise(channels), 2, 0).astype(np.float32)
    given[holes, 2, 3] = np.nan
    code = {None: bytes, "deflate": zlib.compress, "zstd": imagecodecs.zstd_encode}[inner]
    valid = np.isfinite(given) if channels > 1 else np.isfinite(given[0])
    strip = code(imagecodecs.lerc_encode(np.nan_to_num(given.squeeze()), masks=valid, planar=channels > 1))
    shape = np.moveaxis(given, 0, 2).squeeze().shape
    options = {"compression": "lerc", "compressionargs": {"compression": inner}, "rowsperstrip": shape[0]}
    data = tiff_of(
        iter([strip]), shape=shape, dtype="f4", photometric="rgb" if channels > 1 else "minisblack", **options
    )
    np.testing.assert_array_equal(decode(data, "x.tif").planes, given)


def test_tiles_of_no_height_are_damage():
    data = tiff_of(np.zeros((37, 53), np.uint8), tile=(16, 16))
    asked, given = struct.pack("<HHII", 323, 4, 1, 16), struct.pack("<HHII", 323, 12, 1, len(data))
    assert asked in data
    with pytest.raises(ReadError, match=r"^x: the tags of this TIFF are damaged; get a whole copy of it$"):
        decode(data.replace(asked, given) + struct.pack("<d", 1e-300), "x")


def test_planes_that_no_tile_belongs_to_never_show_the_memory_of_the_program():
    planes = np.full((3, 37, 53), 7, np.uint8)
    data = tiff_of(planes, photometric="rgb", planarconfig="separate", tile=(16, 16), compression="zlib")
    separate, unknown = (struct.pack("<HHIHH", 284, 3, 1, number, 0) for number in (2, 5))
    assert separate in data
    with pytest.raises(ReadError, match="cannot be decoded"):
        decode(data.replace(separate, unknown), "x")


@pytest.mark.parametrize("tags", [0, 60_000])
def test_a_list_of_no_tags_or_too_many_is_where_a_file_is_cut_off(tmp_path, tags):
    tifffile.imwrite(tmp_path / "in.tif", np.zeros((2, 8, 8), np.uint8), photometric="minisblack")
    data = bytearray((tmp_path / "in.tif").read_bytes())
    (first, second), is_cut = tiff_reader.chain(bytes(data))
    assert not is_cut
    data[second[0] : second[0] + 2] = tags.to_bytes(2, "little")
    assert tiff_reader.chain(bytes(data)) == ([first], True)
