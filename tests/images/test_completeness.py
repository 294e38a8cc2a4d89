"""Rows that are missing are missed, in every format."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
import tifffile
from PIL import Image

from fftfilter.errors import ReadError
from fftfilter.images import decode
from tests.files.helpers import message
from tests.images.helpers import noise, png, png_header

GRAY = (noise(1, 60, 47)[:, :, 0] >> 8).astype(np.uint8)


def saved(format_, image=None, **options):
    file = io.BytesIO()
    (image or Image.fromarray(GRAY)).save(file, format_, **options)
    return file.getvalue()


def refusal(data, name="x"):
    with pytest.raises(ReadError) as caught:
        decode(data, name)
    assert message(caught).startswith(f"{name}: ")
    return message(caught)


@pytest.mark.parametrize("has_codecs", [True, False])
@pytest.mark.parametrize("bits", [1, 8, 16])
def test_a_png_of_fewer_rows_with_right_checksums(bits, has_codecs, monkeypatch):
    """Also where pip has no imagecodecs."""
    monkeypatch.setattr("fftfilter.images.pillow_reader._HAS_CODECS", has_codecs)
    rows = zlib.compress(bytes(40 * (1 + -(-47 * bits // 8))))
    file = png(png_header(47, 60, bits=bits), (b"IDAT", rows), (b"IEND", b""))
    assert ("Not enough image data" if has_codecs else "its pixels end before its last row") in refusal(file)


def test_a_png_of_fewer_rows_that_is_too_wide_for_libpng():
    for height, whole in (3, True), (4, False):
        rows = zlib.compress(bytes(3 * (1 + 1_000_001)))
        file = png(png_header(1_000_001, height, bits=8), (b"IDAT", rows), (b"IEND", b""))
        if whole:
            assert decode(file, "x").planes.shape == (1, 3, 1_000_001)
        else:
            assert refusal(file)


def test_an_icon_whose_png_has_fewer_rows():
    for height, whole in (60, False), (40, True):
        rows = zlib.compress(bytes(40 * (1 + 4 * 47)))
        inner = png(png_header(47, height, color_type=6), (b"IDAT", rows), (b"IEND", b""))
        file = struct.pack("<3H4B2H2I", 0, 1, 1, 47, height, 0, 0, 1, 32, len(inner), 22) + inner
        if whole:
            assert decode(file, "x").planes.shape == (3, 40, 47)
        else:
            assert "its pixels end before its last row" in refusal(file)


@pytest.mark.parametrize("length", [1, 7 * 8, 1500, 2928 - 48])
def test_an_interlaced_png_of_fewer_rows(length):
    rows = zlib.compress(bytes(length))
    assert refusal(png(png_header(47, 60, interlaced=1), (b"IDAT", rows), (b"IEND", b"")))


def test_a_png_whose_last_rows_are_black_is_whole():
    black = GRAY.copy()
    black[50:] = 0
    np.testing.assert_array_equal(decode(saved("PNG", Image.fromarray(black)), "x").planes[0], black)


@pytest.mark.parametrize("interlace", [0, 1])
def test_a_gif_of_fewer_rows(interlace):
    data = bytearray(saved("GIF", interlace=interlace))
    at = data.index(b"\x2c\0\0\0\0")
    data[at + 7 : at + 9] = data[8:10] = struct.pack("<H", 90)
    assert "image file is truncated" in refusal(bytes(data))


def test_a_jpeg_has_a_scan_for_each_frequency_at_most():
    data = saved("JPEG", progressive=True)
    last = data.rindex(b"\xff\xda")
    scans = data.count(b"\xff\xda")
    most = data[:-2] + data[last:-2] * (192 - scans) + data[-2:]
    assert decode(most, "x.jpg").planes.shape == (1, *GRAY.shape)
    with pytest.raises(ReadError, match=r"^x.jpg: cannot be decoded \(it has more than 192 scans\)"):
        decode(most[:-2] + data[last:], "x.jpg")
    comment = b"\xff\xfe" + (2 + 2000).to_bytes(2, "big") + b"\xff\xda" * 1000
    np.testing.assert_array_equal(decode(data[:2] + comment + data[2:], "x.jpg").planes, decode(data, "x.jpg").planes)


@pytest.mark.parametrize("options", [{}, {"progressive": True}], ids=["sequential", "progressive"])
def test_a_jpeg_that_is_cut_off_is_refused(options):
    data = saved("JPEG", **options)
    for cut in 1, 2, 6, 100, 1000:
        assert "image file is truncated" in refusal(data[:-cut])
    inks = saved("JPEG", Image.fromarray(np.dstack([GRAY, 255 - GRAY, GRAY, GRAY]), "CMYK"))
    for whole in saved("JPEG"), inks:
        assert "its pixels end before its last row" in refusal(whole[:-1000] + data[-2:])


def test_the_main_picture_of_an_mpo_of_fewer_rows():
    image = Image.fromarray(GRAY)
    data = saved("MPO", image, save_all=True, append_images=[image])
    end = data.index(b"\xff\xd9\xff\xd8")
    assert decode(data, "x").planes.shape == (1, 60, 47)
    assert "its pixels end before its last row" in refusal(data[: end - 1000] + b"\xff\xd9" + bytes(998) + data[end:])


def test_a_jpeg_that_ends_in_gray_is_whole():
    half = Image.fromarray(np.where(np.arange(47) > 9, 128, GRAY).astype(np.uint8))
    assert (decode(saved("JPEG", half), "x").planes[0, :, 30:] == 128).all()


@pytest.mark.parametrize("options", [{}, {"compression": "zlib"}, {"tile": (16, 16)}], ids=["raw", "deflate", "tiles"])
def test_a_tiff_without_some_of_its_strips(options):
    file = io.BytesIO()
    tifffile.imwrite(file, GRAY, rowsperstrip=None if "tile" in options else 8, **options)
    file.seek(0)
    lengths = tifffile.TiffFile(file).pages.first.tags["TileByteCounts" if "tile" in options else "StripByteCounts"]
    data = bytearray(file.getvalue())
    data[lengths.valueoffset + 4 : lengths.valueoffset + 6] = bytes(2)
    kind = "12 tiles" if "tile" in options else "8 strips"
    assert f"1 of its {kind} are missing" in refusal(bytes(data))


def test_a_pcx_whose_palette_would_be_its_last_row():
    data = bytearray(saved("PCX"))
    assert decode(bytes(data), "x").planes.shape == (1, 60, 47)
    data[10] += 1
    assert "image file is truncated" in refusal(bytes(data))


def test_a_tiff_whose_jpeg_is_narrower_than_it_says():
    data = bytearray(saved("TIFF", compression="jpeg"))
    width = tifffile.TiffFile(io.BytesIO(data)).pages.first.tags["ImageWidth"].valueoffset
    data[width : width + 2] = struct.pack("<H", 90)
    assert "its strips are 47 pixels wide, not 90" in refusal(bytes(data))


FORMATS = ["BMP", "TGA", "SGI", "PCX", "PPM", "TIFF", "WEBP", "JPEG2000", "AVIF", "GIF", "PNG"]


@pytest.mark.parametrize("format_", FORMATS)
def test_what_is_cut_off_within_the_last_row_is_refused(format_):
    data = saved(format_, Image.fromarray(np.dstack([GRAY] * 3)))
    for part in 0.5, 0.95:
        assert refusal(data[: int(part * len(data))])


def test_a_second_png_in_one_stream_is_said():
    assert refusal(2 * saved("PNG")) == "x: several images in one file; give one at a time"
    assert decode(saved("PNG") + b"\n", "x").planes.shape == (1, 60, 47)


def test_a_second_jpeg_in_one_stream_is_said_and_what_cameras_append_is_none():
    first, other = saved("JPEG"), saved("JPEG", Image.fromarray(255 - GRAY), progressive=True)
    assert "several images in one file" in refusal(first + other)
    assert "several images in one file" in refusal(other + first)
    preview, thumbnail = saved("JPEG", Image.new("L", (8, 8))), b"Exif\0\0" + 2 * first
    index = b"\xff\xe2" + struct.pack(">H", 6) + b"MPF\0"
    for whole in (
        first + preview,
        first + b"\n",
        first + b"\xff\xd8\xff\xff",
        saved("JPEG", exif=thumbnail),
        saved("JPEG", extra=index) + other,
    ):
        np.testing.assert_array_equal(decode(whole, "x").planes, decode(first, "x").planes)
