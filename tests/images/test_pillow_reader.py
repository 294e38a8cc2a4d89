"""Reading through Pillow: every mode at its own depth, transparency, refusals, Pillow's settings."""

from __future__ import annotations

import io
import struct
import warnings
import zlib

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from fftfilter.errors import ReadError
from fftfilter.images import Picture, decode, pillow_reader, read, write
from fftfilter.images.pillow_reader import jpeg_size
from fftfilter.images.png_writer import encode
from tests.files.helpers import message, python
from tests.images.helpers import ALPHA, COLOR, GRAY, interleaved, noise, png, png_header, png_of, tiff

CHANNELS = {"gray": 1, "gray and alpha": 2, "RGB": 3, "RGBA": 4}
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def filtered(samples, kind):
    """Apply one of PNG's five filters to every row, as the specification words them."""
    step = 2 * samples.shape[2]
    above, out = bytes(len(samples[0]) * step), bytearray()
    for row in (row.astype(">u2").tobytes() for row in samples):
        out.append(kind)
        for i, value in enumerate(row):
            left, upper_left = (row[i - step], above[i - step]) if i >= step else (0, 0)
            up = above[i]
            by_paeth = min((left, up, upper_left), key=lambda x: abs(left + up - upper_left - x))
            out.append((value - (0, left, up, (left + up) // 2, by_paeth)[kind]) % 256)
        above = row
    return bytes(out)


# Modes


@pytest.mark.parametrize(
    ("image", "name", "planes", "alpha"),
    [
        (Image.fromarray(GRAY), "x.png", [GRAY], None),
        (Image.fromarray(GRAY > 15), "x.png", [(GRAY > 15) * 255], None),
        (Image.fromarray(GRAY > 15), "x.pbm", [(GRAY > 15) * 255], None),
        (Image.fromarray(np.dstack([GRAY, ALPHA])), "x.png", [GRAY], ALPHA),
        (Image.fromarray(COLOR), "x.png", COLOR.transpose(2, 0, 1), None),
        (Image.fromarray(np.dstack([COLOR, ALPHA])), "x.png", COLOR.transpose(2, 0, 1), ALPHA),
        (Image.fromarray(GRAY).convert("P"), "x.png", [GRAY], None),
        (Image.fromarray(COLOR).quantize(), "x.gif", COLOR.transpose(2, 0, 1), None),
        (Image.fromarray(GRAY), "x.tif", [GRAY], None),
        (Image.fromarray(COLOR), "x.bmp", COLOR.transpose(2, 0, 1), None),
        (Image.fromarray(np.dstack([255 - COLOR, GRAY * 0]), "CMYK"), "x.tif", COLOR.transpose(2, 0, 1), None),
    ],
    ids=["L", "1", "1 in PBM", "LA", "RGB", "RGBA", "P gray", "P color", "L in TIFF", "RGB in BMP", "CMYK"],
)
def test_modes_of_8_bits(tmp_path, image, name, planes, alpha):
    image.save(tmp_path / name)
    got = read(tmp_path / name)
    assert got.planes.dtype == np.uint8
    assert got.maxval == 255
    np.testing.assert_array_equal(got.planes, planes)
    assert (got.alpha is None) == (alpha is None)
    if alpha is not None:
        assert got.alpha.dtype == np.uint8
        np.testing.assert_array_equal(got.alpha, alpha)


def test_lab_becomes_rgb(tmp_path):
    Image.new("RGB", (8, 8), (200, 100, 50)).convert("LAB").save(tmp_path / "x.tif")
    got = read(tmp_path / "x.tif")
    assert got.planes.shape == (3, 8, 8)
    np.testing.assert_allclose(got.planes[:, 0, 0], (200, 100, 50), atol=3)  # 8 bits of LAB are coarse


@pytest.mark.parametrize("name", ["x.png", "x.tif"])
def test_16_bit_gray(tmp_path, name):
    samples = GRAY.astype(np.uint16) * 257
    Image.fromarray(samples).save(tmp_path / name)
    got = read(tmp_path / name)
    assert (got.planes.dtype, got.maxval) == (np.uint16, 65535)
    np.testing.assert_array_equal(got.planes, [samples])


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_integers_of_32_bits_and_floats_become_float32(tmp_path, dtype):
    samples = np.array([[-70000, 0, 70000]], dtype)
    Image.fromarray(samples).save(tmp_path / "x.tif")
    got = read(tmp_path / "x.tif")
    assert (got.planes.dtype, got.maxval) == (np.float32, 1)
    assert got.planes.tolist() == [[[-70000, 0, 70000]]]


def test_tiff_whose_zero_is_white(tmp_path):
    (tmp_path / "x.tif").write_bytes(tiff(np.array([[[0], [65535], [1]]], "<u2"), photometric=0))
    assert read(tmp_path / "x.tif").planes.tolist() == [[[65535, 0, 65534]]]


def test_tiff_of_unsigned_32_bits(tmp_path):
    (tmp_path / "x.tif").write_bytes(tiff(np.array([[[0], [2**31], [2**32 - 256]]], "<u4"), photometric=1))
    assert read(tmp_path / "x.tif").planes.tolist() == [[[0, 2.0**31, 2.0**32 - 256]]]


def test_tiff_of_16_bit_color_keeps_its_low_bytes(tmp_path):
    samples = np.random.default_rng(5).integers(0, 65536, (4, 5, 3)).astype("<u2")
    (tmp_path / "x.tif").write_bytes(tiff(samples, photometric=2))
    np.testing.assert_array_equal(read(tmp_path / "x.tif").planes, samples.transpose(2, 0, 1))


def test_tiff_of_16_bits_that_pillow_would_narrow_is_refused(tmp_path):
    (tmp_path / "x.tif").write_bytes(tiff(np.zeros((4, 5, 4), "<u2"), photometric=5))
    with pytest.raises(
        ReadError,
        match=r": a TIFF of CMYK, 16 bits a sample, compression NONE, is not supported; convert it to gray or RGB$",
    ):
        read(tmp_path / "x.tif")


def test_alpha_that_was_multiplied_into_the_gray_is_divided_out():
    samples = np.array([[[60, 128], [0, 0], [255, 255], [200, 100], [7, 0]]], np.uint8)
    got = decode(tiff(samples, 1, (338, 1)), "x.tif")
    assert got.alpha.tolist() == [[128, 0, 255, 100, 0]]
    np.testing.assert_allclose(got.planes, [[[119.5, 0, 255, 255, 7]]], atol=0.6)


# PNG of 16 bits


@pytest.mark.parametrize("channels", CHANNELS.values(), ids=CHANNELS)
@pytest.mark.parametrize("kind", range(5), ids=["none", "sub", "up", "average", "paeth"])
def test_every_filter_is_read_in_full_depth(channels, kind):
    samples = noise(channels)
    got = decode(png_of(samples, filtered(samples, kind)), "x.png")
    assert got.planes.dtype == np.uint16
    np.testing.assert_array_equal(interleaved(got), samples)


def saved(samples, format_, **options):
    made = io.BytesIO()
    Image.fromarray(samples).save(made, format_, **options)
    return made.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        *(b"".join(encode(noise(channels).astype(dtype))) for dtype in "BH" for channels in (1, 2, 3, 4)),
        *(saved(each, "JPEG", **how) for each in (GRAY, COLOR) for how in ({}, {"quality": 30}, {"progressive": True})),
        saved(np.full((20, 20), 128, np.uint8), "JPEG"),
    ],
    ids=lambda data: f"{len(data)} bytes",
)
def test_bare_files_whole_or_damaged_are_read_as_by_pillow(monkeypatch, data):
    random = np.random.default_rng(len(data))
    cuts = (data[:at] + data[-2:] for at in random.integers(2, len(data), 12))
    flips = (data[:at] + bytes([data[at] ^ 9]) + data[at + 1 :] for at in random.integers(2, len(data) - 2, 12))

    def found(each):
        try:
            picture = decode(each, "x")
        except ReadError:
            return None
        return picture.planes.tolist(), picture.maxval, picture.format, np.array(picture.alpha).tolist()

    for each in (data, *cuts, *flips):
        quick = found(each)
        with monkeypatch.context() as patched:
            for name in "_bare_png", "_bare_jpeg":
                patched.setattr(pillow_reader, name, lambda *_: None)
            assert found(each) == quick
    assert found(data)


@pytest.mark.parametrize("channels", CHANNELS.values(), ids=CHANNELS)
def test_interlaced_files_are_read_in_full_depth(channels):
    samples = noise(channels)
    raster = b"".join(filtered(samples[y::down, x::across], 4) for x, y, across, down in ADAM7)
    np.testing.assert_array_equal(interleaved(decode(png_of(samples, raster, interlaced=1), "x.png")), samples)


# Transparency


def test_transparent_palette_entries_become_alpha(tmp_path):
    image = Image.fromarray(np.array([[0, 1, 2]], np.uint8), "P")
    image.putpalette([10, 10, 10, 20, 20, 20, 30, 99, 30])
    image.save(tmp_path / "x.png", transparency=bytes([0, 128, 255]))
    got = read(tmp_path / "x.png")
    assert got.planes[:, 0].tolist() == [[10, 20, 30], [10, 20, 99], [10, 20, 30]]
    assert got.alpha.tolist() == [[0, 128, 255]]


@pytest.mark.parametrize("samples", [GRAY, COLOR, GRAY.astype(np.uint16) * 256], ids=["gray", "color", "16 bits"])
def test_one_transparent_color_becomes_alpha(tmp_path, samples):
    second = samples[0, 1]
    Image.fromarray(samples).save(
        tmp_path / "x.png", transparency=tuple(map(int, second)) if second.ndim else int(second)
    )
    got = read(tmp_path / "x.png")
    white = got.maxval
    assert got.alpha.tolist() == [[white, 0, white], [white, white, white]]
    assert got.alpha.dtype == samples.dtype


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_transparent_gray_of_few_bits(bits):
    """The second of two pixels, all bits set, is the transparent one."""
    largest = 2**bits - 1
    raster = zlib.compress(bytes([0, largest << (8 - 2 * bits)]))
    transparent = (b"tRNS", struct.pack(">H", largest))
    got = decode(png(png_header(2, 1, bits), transparent, (b"IDAT", raster), (b"IEND", b"")), "x.png")
    assert got.planes.tolist() == [[[0, 255]]]
    assert got.alpha.tolist() == [[255, 0]]


def test_a_transparent_color_of_16_bits_is_no_other_that_differs_in_a_low_byte():
    samples = np.array([[[1000, 2000, 3000], [1001, 2000, 3000]]], np.uint16)
    transparent = (b"tRNS", struct.pack(">3H", 1000, 2000, 3000))
    assert decode(png_of(samples, filtered(samples, 0), transparent), "x.png").alpha.tolist() == [[0, 65535]]


# Refusals


@pytest.mark.parametrize("suffix", [".gif", ".png", ".webp", ".tif"])
def test_several_frames_are_refused(tmp_path, suffix):
    frames = [Image.new("RGB", (8, 8), color) for color in ("red", "green", "blue")]
    frames[0].save(tmp_path / f"x{suffix}", save_all=True, append_images=frames[1:])
    with pytest.raises(ReadError, match="3 frames or pages"):
        read(tmp_path / f"x{suffix}")


def test_the_main_picture_of_a_cameras_mpo_is_read_as_jpeg(tmp_path):
    main, second = Image.new("RGB", (8, 8), "red"), Image.new("RGB", (4, 4), "blue")
    main.save(tmp_path / "x.mpo", save_all=True, append_images=[second])
    got = read(tmp_path / "x.mpo")
    assert got.planes.shape == (3, 8, 8)
    assert got.format == "JPEG"


def test_the_sum_of_the_layers_of_a_psd_is_read():
    """Two layers of one black pixel, and what an editor has stored as their sum."""
    rectangle, channel, name = struct.pack(">4I", 0, 0, 1, 1), struct.pack(">hI", 0, 3), b"\1a\0\0"
    extra = bytes(8) + name
    layer = rectangle + struct.pack(">H", 1) + channel + b"8BIMnorm" + bytes(4) + struct.pack(">I", len(extra)) + extra
    layers = struct.pack(">h", 2) + 2 * layer + 2 * b"\0\0\0"
    header = b"8BPS\0\1" + bytes(6) + struct.pack(">HIIHH", 1, 2, 3, 8, 1) + bytes(8)
    sections = struct.pack(">II", len(layers) + 4, len(layers)) + layers
    with Image.open(io.BytesIO(header + sections + b"\0\0" + GRAY.tobytes())) as image:
        assert image.n_frames == 2
    got = decode(header + sections + b"\0\0" + GRAY.tobytes(), "x.psd")
    np.testing.assert_array_equal(got.planes, [GRAY])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_counted_and_located(tmp_path, bad):
    samples = np.zeros((4, 5), np.float32)
    samples[2, 3] = samples[3, 1] = bad
    Image.fromarray(samples).save(tmp_path / "x.tif")
    picture = read(tmp_path / "x.tif")
    with pytest.raises(
        ReadError,
        match=r"^x: 2 of 20 samples are NaN, infinite or beyond single precision, the first at x=3, y=2; "
        "replace them, for they would spread over the whole picture$",
    ):
        picture.refuse_not_finite("x")
    picture.refuse_not_finite("x", ~np.isfinite(picture.planes))


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".tif", ".bmp", ".jp2"])
def test_a_cut_off_file_is_refused(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    write(Picture((noise(1, 64, 64) >> 8).astype(np.uint8).transpose(2, 0, 1), None, 255, "PNG"), path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ReadError) as caught:
        read(path)
    assert message(caught).startswith(f"{path}: ")


@pytest.mark.parametrize("cut", [12, 60], ids=["last chunk", "pixels"])
def test_a_cut_off_png_of_16_bits_is_refused(cut):
    with pytest.raises(ReadError, match="cannot be decoded"):
        decode(b"".join(encode(noise(3)))[:-cut], "x.png")


def test_a_wrong_crc_is_refused():
    data = bytearray(b"".join(encode(noise(3), 0)))
    data[200] ^= 1  # inside a sample, which zlib stores as it is at level 0
    with pytest.raises(ReadError, match=r"cannot be decoded \(the checksum of its chunk 'IDAT' at byte \d+ is wrong\)"):
        decode(bytes(data), "x.png")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            b"These lines are\nno picture.\n",
            "not an image, or damaged at its start; give a PNG, TIFF, JPEG, PGM or PPM",
        ),
        (b"\x89PNG\r\n\x1a\n", "cannot be decoded (it ends before its last chunk)"),
        (b"II*\0\x08\0\0\0\0\0", "a TIFF without a picture; give another one"),
    ],
)
def test_what_is_no_image_is_refused_without_a_warning(data, words):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises(ReadError) as caught:
            decode(data, "x.png")
    assert words in message(caught)
    assert warned == []


@pytest.mark.parametrize("size", [(0, 5), (5, 0)])
def test_no_pixels_are_refused(size):
    with pytest.raises(ReadError):
        decode(png(png_header(*size), (b"IDAT", b""), (b"IEND", b"")), "x.png")


@pytest.mark.parametrize("kind", [0xC0, 0xC1, 0xC2, 0xC3, 0xC9, 0xCA])
def test_the_size_of_a_jpeg_is_known_for_every_way_of_coding(kind):
    before, frame = b"\xff\xd8\xff\xfe\0\4ab", struct.pack(">2BHBHHB", 0xFF, kind, 11, 8, 20, 300, 1)
    assert jpeg_size(before + frame) == (300, 20)
    assert jpeg_size(before) is None


# Pillow's settings


def test_pillows_limits_on_pixels_and_profiles_neither_stop_nor_warn_and_stay(monkeypatch):
    file = io.BytesIO()
    Image.fromarray(COLOR).save(file, "PNG", icc_profile=bytes(128))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1)
    monkeypatch.setattr(PngImagePlugin, "MAX_TEXT_CHUNK", 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert decode(file.getvalue(), "x.png").planes.shape == (3, 2, 3)
    assert (Image.MAX_IMAGE_PIXELS, PngImagePlugin.MAX_TEXT_CHUNK) == (1, 2)


def test_a_png_with_two_profiles_is_refused_before_they_are_decompressed():
    profile, pixels = (b"iCCP", b"x\0\0" + zlib.compress(bytes(9))), (b"IDAT", zlib.compress(bytes(2)))
    assert decode(png(png_header(1, 1), profile, pixels, (b"IEND", b"")), "x.png").metadata.profile == b""
    with pytest.raises(ReadError, match=r"x\.png: cannot be decoded \(it has several color profiles\)"):
        decode(png(png_header(1, 1), profile, profile, pixels, (b"IEND", b"")), "x.png")


def test_pillows_log_stays_off_standard_error(tmp_path):
    (tmp_path / "x.tif").write_bytes(tiff(np.zeros((1, 1, 255), np.uint8), photometric=1))
    code = (
        "import pathlib; from fftfilter.images.pillow_reader import read_tiff_with_pillow\n"
        "try: read_tiff_with_pillow(pathlib.Path('x.tif').read_bytes(), 0, 'x.tif')\n"
        "except OSError: print('refused')"
    )
    done = python(code, cwd=tmp_path)
    assert (done.stdout, done.stderr) == (b"refused\n", b"")


def test_libpng_prints_nothing_of_odd_chunks_and_text_behind_the_pixels_is_read(capfd):
    odd = [(b"iCCP", b"x\0\0" + zlib.compress(bytes(200))), (b"oFFs", b"12"), (b"bKGD", b"")]
    pixels, text = (b"IDAT", zlib.compress(b"\0\7\0\x09")), (b"tEXt", b"Title\0behind")
    for more in [], odd:
        found = decode(png(png_header(1, 2), *more, pixels, text, (b"IEND", b"")), "x.png")
        assert found.planes.tolist() == [[[7], [9]]]
        assert found.metadata.text == {"Title": "behind"}
    assert capfd.readouterr().err == ""
