"""PNG files, written with a filter that fits the picture and read by Pillow."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from fftfilter.images import decode, png_writer
from tests.images.helpers import interleaved, noise

KINDS = {"gray": 1, "gray and alpha": 2, "RGB": 3, "RGBA": 4}


def chunks(data):
    """Take a PNG apart: (kind, content) of each chunk, CRCs checked."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    found, position = [], 8
    while position < len(data):
        length, kind = struct.unpack_from(">I4s", data, position)
        content = data[position + 8 : position + 8 + length]
        (crc,) = struct.unpack_from(">I", data, position + 8 + length)
        assert crc == zlib.crc32(kind + content)
        found.append((kind, content))
        position += 12 + length
    return found


@pytest.mark.parametrize("channels", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_what_is_written_is_a_png_with_these_samples(channels, dtype):
    samples = noise(channels).astype(dtype)
    data = b"".join(png_writer.encode(samples))
    (first, *middle, last) = chunks(data)
    color_type = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    assert first == (b"IHDR", struct.pack(">IIBBBBB", 11, 9, 8 * samples.itemsize, color_type, 0, 0, 0))
    assert last == (b"IEND", b"")
    assert {kind for kind, _ in middle} == {b"IDAT"}
    picture = decode(data, "x.png")
    assert picture.planes.dtype == dtype
    np.testing.assert_array_equal(interleaved(picture), samples)


def test_further_chunks_stand_before_the_pixels():
    data = b"".join(png_writer.encode(noise(1), 1, png_writer.chunk(b"tEXt", b"Title\0A cat")))
    assert [kind for kind, _ in chunks(data)] == [b"IHDR", b"tEXt", b"IDAT", b"IDAT", b"IEND"]
    with Image.open(io.BytesIO(data)) as image:
        assert image.text == {"Title": "A cat"}


# What differs from its left neighbor by little, from the one above, from neither.
SHADES = np.random.default_rng(5).integers(0, 256, 300)
SMOOTH = {
    "none": np.random.default_rng(6).integers(0, 5, (300, 300)),
    "sub": SHADES[:, None] + np.arange(300),
    "up": SHADES + np.arange(300)[:, None],
}


@pytest.mark.parametrize("channels", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("kind", SMOOTH)
@pytest.mark.parametrize("rows_a_block", [1, 7, 300])
def test_the_filter_fits_the_picture(channels, kind, rows_a_block, monkeypatch):
    monkeypatch.setattr(png_writer, "_BLOCK", rows_a_block * 300 * channels)
    samples = np.stack([SMOOTH[kind].astype(np.uint8)] * channels, axis=2)
    data = b"".join(png_writer.encode(samples))
    rows = zlib.decompress(b"".join(content for name, content in chunks(data) if name == b"IDAT"))
    assert set(rows[:: 1 + 300 * channels]) == {list(SMOOTH).index(kind)}
    with Image.open(io.BytesIO(data)) as image:
        np.testing.assert_array_equal(np.asarray(image), samples.squeeze())


def test_level_0_is_as_it_is():
    samples = np.stack([SMOOTH["up"].astype(np.uint8)], axis=2)
    data = b"".join(png_writer.encode(samples, 0))
    rows = zlib.decompress(b"".join(content for name, content in chunks(data) if name == b"IDAT"))
    assert rows == b"".join(b"\0" + row.tobytes() for row in samples)


@pytest.mark.parametrize("height", [1, 2, 33])
@pytest.mark.parametrize("width", [1, 2, 33])
def test_the_smallest_pictures(height, width):
    for level in 0, 1, 9:
        for channels in KINDS.values():
            samples = noise(channels, height, width).astype(np.uint8)
            with Image.open(io.BytesIO(b"".join(png_writer.encode(samples, level)))) as image:
                np.testing.assert_array_equal(np.asarray(image).reshape(samples.shape), samples)


def test_photographs_are_no_larger_than_by_pillow(camera):
    file = io.BytesIO()
    Image.fromarray(camera).save(file, "PNG", compress_level=1)
    assert len(b"".join(png_writer.encode(camera[:, :, None]))) < len(file.getvalue())


def test_a_higher_level_is_smaller():
    samples = np.arange(60000, dtype=np.uint16).reshape(100, 200, 3) % 1009
    sizes = [len(b"".join(png_writer.encode(samples, level))) for level in (0, 1, 9)]
    assert sizes[0] > sizes[1] > sizes[2]
