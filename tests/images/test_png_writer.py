"""PNGs: written by png_writer; those of 16 bits read in full depth by images."""

import io
import struct
import zlib
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from fftfilter import images
from fftfilter.errors import ReadError
from fftfilter.images import png_writer

KINDS = {"gray": 1, "gray and alpha": 2, "RGB": 3, "RGBA": 4}
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def noise(channels: int, height: int = 9, width: int = 11) -> np.ndarray:
    return np.random.default_rng(channels).integers(0, 65536, (height, width, channels)).astype(np.uint16)


def chunks(data: bytes) -> list[tuple[bytes, bytes]]:
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


def assemble(*parts: tuple[bytes, bytes]) -> bytes:
    """Make a PNG of chunks."""
    body = (struct.pack(">I", len(c)) + k + c + struct.pack(">I", zlib.crc32(k + c)) for k, c in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(body)


def header(samples: np.ndarray, interlaced: int = 0) -> tuple[bytes, bytes]:
    height, width, channels = samples.shape
    color_type = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    return b"IHDR", struct.pack(">IIBBBBB", width, height, 16, color_type, 0, 0, interlaced)


def filtered(samples: np.ndarray, kind: int) -> bytes:
    """Apply one of PNG's five filters to every row, as the specification words them."""
    step = 2 * samples.shape[2]
    rows = [bytes(len(samples[0]) * step), *(row.astype(">u2").tobytes() for row in samples)]
    out = bytearray()
    for above, row in pairwise(rows):
        out.append(kind)
        for i, value in enumerate(row):
            left, upper_left = (row[i - step], above[i - step]) if i >= step else (0, 0)
            up = above[i]
            by_paeth = min((left, up, upper_left), key=lambda x: abs(left + up - upper_left - x))
            out.append((value - (0, left, up, (left + up) // 2, by_paeth)[kind]) % 256)
    return bytes(out)


def in_one_array(picture: images.Picture) -> np.ndarray:
    bands = picture.planes if picture.alpha is None else np.concatenate([picture.planes, picture.alpha[None]])
    return bands.transpose(1, 2, 0)


@pytest.mark.parametrize("channels", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_what_is_written_is_a_png_with_these_samples(channels, dtype):
    samples = noise(channels).astype(dtype)
    (first, *data, last) = chunks(b"".join(png_writer.encode(samples)))
    depth = 8 * samples.itemsize
    assert first == (b"IHDR", header(samples)[1][:8] + bytes([depth]) + header(samples)[1][9:])
    assert last == (b"IEND", b"")
    assert {kind for kind, _ in data} == {b"IDAT"}
    picture = images.decode(b"".join(png_writer.encode(samples)), "x.png")
    assert picture.planes.dtype == dtype
    np.testing.assert_array_equal(in_one_array(picture), samples)


# What differs from its left neighbor by little, from the one above, from neither.
SHADES = np.random.default_rng(5).integers(0, 256, 300)
SMOOTH = {
    "none": np.random.default_rng(6).integers(0, 5, (300, 300)),
    "sub": SHADES[:, None] + np.arange(300),
    "up": SHADES + np.arange(300)[:, None],
}


@pytest.mark.parametrize("channels", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("kind", SMOOTH)
@pytest.mark.parametrize("rows_at_once", [1, 7, 300])
def test_the_filter_fits_the_picture(monkeypatch, channels, kind, rows_at_once):
    samples = np.stack([SMOOTH[kind].astype(np.uint8)] * channels, axis=2)
    monkeypatch.setattr(png_writer, "_BYTES_AT_ONCE", rows_at_once * 300 * channels)
    data = b"".join(png_writer.encode(samples))
    rows = zlib.decompress(b"".join(content for name, content in chunks(data) if name == b"IDAT"))
    assert set(rows[:: 1 + 300 * channels]) == {list(SMOOTH).index(kind)}
    with Image.open(io.BytesIO(data)) as image:
        np.testing.assert_array_equal(np.asarray(image), samples.squeeze())


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


@pytest.mark.parametrize("channels", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("kind", range(5), ids=["none", "sub", "up", "average", "paeth"])
def test_every_filter_is_read_in_full_depth(tmp_path, channels, kind):
    samples = noise(channels)
    data = zlib.compress(filtered(samples, kind))
    (tmp_path / "x.png").write_bytes(assemble(header(samples), (b"IDAT", data), (b"IEND", b"")))
    picture = images.read(tmp_path / "x.png")
    assert picture.planes.dtype == np.uint16
    np.testing.assert_array_equal(in_one_array(picture), samples)


@pytest.mark.parametrize("channels", KINDS.values(), ids=KINDS)
def test_interlaced_files_are_read_in_full_depth(tmp_path, channels):
    samples = noise(channels)
    passes = (samples[y::down, x::across] for x, y, across, down in ADAM7)
    data = zlib.compress(b"".join(filtered(part, 4) for part in passes))
    (tmp_path / "x.png").write_bytes(assemble(header(samples, 1), (b"IDAT", data), (b"IEND", b"")))
    np.testing.assert_array_equal(in_one_array(images.read(tmp_path / "x.png")), samples)


@pytest.mark.parametrize("channels", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("suffix", [".png", ".tif"])
def test_written_and_read_again(tmp_path, channels, suffix):
    bands = np.ascontiguousarray(noise(channels).transpose(2, 0, 1))
    planes, alpha = (bands[:-1], bands[-1]) if channels in (2, 4) else (bands, None)
    images.write(images.Picture(planes, alpha, 65535, "PNG"), tmp_path / f"x{suffix}")
    back = images.read(tmp_path / f"x{suffix}")
    assert back.planes.dtype == np.uint16
    # A TIFF holds gray with alpha as RGB with alpha.
    np.testing.assert_array_equal(back.planes, np.broadcast_to(planes, back.planes.shape))
    if alpha is None:
        assert back.alpha is None
    else:
        np.testing.assert_array_equal(back.alpha, alpha)


def test_a_tiffs_fourth_channel_is_said_to_be_alpha(tmp_path):
    planes = noise(3).transpose(2, 0, 1)
    images.write(images.Picture(planes, planes[0], 65535, "PNG"), tmp_path / "x.tif")
    with Image.open(tmp_path / "x.tif") as image:
        assert image.tag_v2[338] == (2,)  # ExtraSamples: alpha, not multiplied into the others


def test_one_transparent_color_of_16_bits_becomes_alpha(tmp_path):
    samples = np.array([[[1000, 2000, 3000], [1001, 2000, 3000]]], np.uint16)  # they differ in a low byte only
    transparent = (b"tRNS", struct.pack(">3H", 1000, 2000, 3000))
    data = zlib.compress(filtered(samples, 0))
    (tmp_path / "x.png").write_bytes(assemble(header(samples), transparent, (b"IDAT", data), (b"IEND", b"")))
    assert images.read(tmp_path / "x.png").alpha.tolist() == [[0, 65535]]


@pytest.mark.parametrize("cut", [12, 60], ids=["last chunk", "pixels"])
def test_a_cut_off_file_is_refused(tmp_path, cut):
    data = b"".join(png_writer.encode(noise(3)))
    (tmp_path / "x.png").write_bytes(data[:-cut])
    with pytest.raises(ReadError, match="cannot be decoded"):
        images.read(tmp_path / "x.png")


def test_a_wrong_crc_is_refused(tmp_path):
    data = bytearray(b"".join(png_writer.encode(noise(3), 0)))
    data[200] ^= 1  # inside a sample, which zlib stores as it is at level 0
    (tmp_path / "x.png").write_bytes(data)
    with pytest.raises(ReadError, match="cannot be decoded"):
        images.read(tmp_path / "x.png")
