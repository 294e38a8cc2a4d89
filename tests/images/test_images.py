"""Reading and writing image files: every mode, every refusal, and nothing half written."""

import errno
import os
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fftfilter.errors import ImageError, ParameterError, ReadError, TooLargeError, WriteError
from fftfilter.images import Depth, Picture, check_fits, check_output, plan_output, read, write
from fftfilter.images.formats import FORMATS

ROOT = Path(__file__).parents[1]
GRAY = np.array([[0, 10, 20], [30, 40, 255]], np.uint8)
COLOR = np.stack([GRAY, 255 - GRAY, GRAY // 2], axis=-1)
ALPHA = np.array([[0, 1, 2], [128, 254, 255]], np.uint8)


def picture(*, channels=1, alpha=False, dtype=np.uint8, maxval=None, format="PNG"):  # noqa: A002
    white = {np.uint8: 255, np.uint16: 65535, np.float32: 1}[dtype]
    planes = np.ascontiguousarray(COLOR.transpose(2, 0, 1)[:channels] * (white / 255)).astype(dtype)
    return Picture(planes, (ALPHA * (white / 255)).astype(dtype) if alpha else None, maxval or white, format)


def message(caught: pytest.ExceptionInfo[BaseException]) -> str:
    """Return an error's message, which must be one printable line."""
    text = str(caught.value)
    assert text.isprintable(), text
    return text


def run(code: str, **options) -> subprocess.CompletedProcess[bytes]:
    """Run Python code in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env=environment, capture_output=True, check=False, **options
    )


@pytest.fixture
def open_folder():
    """Give a folder that any user can reach, which pytest's own is not."""
    folder = Path(tempfile.mkdtemp(prefix="fftfilter-test-"))
    folder.chmod(0o777)
    yield folder
    folder.chmod(0o777)
    shutil.rmtree(folder)


@pytest.fixture
def ordinary_user():
    """Give up being root, whom no permission stops, until the test ends."""
    if sys.platform == "win32":
        pytest.skip("permissions work differently on Windows")
    if os.geteuid() != 0:
        yield
        return
    try:
        os.setresuid(65534, 65534, 0)
    except (AttributeError, OSError) as error:
        pytest.skip(f"cannot become another user: {error}")
    yield
    os.setresuid(0, 0, 0)


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


def tiff(samples: np.ndarray, photometric: int, sample_format: int = 1) -> bytes:
    """Make an uncompressed TIFF by hand."""
    height, width, channels = samples.shape
    bits = 8 * samples.itemsize
    body = samples.tobytes()
    bits_at = 8 + len(body)
    tags = [
        *((256, 1, width), (257, 1, height), (258, channels, bits if channels == 1 else bits_at), (259, 1, 1)),
        *((262, 1, photometric), (273, 1, 8), (277, 1, channels), (278, 1, height), (279, 1, len(body))),
        (339, 1, sample_format),
    ]
    start = bits_at + 2 * channels
    entries = b"".join(struct.pack("<HHII", tag, 3 if tag in (258, 339) else 4, n, value) for tag, n, value in tags)
    return (
        struct.pack("<2sHI", b"II", 42, start)
        + body
        + struct.pack(f"<{channels}H", *[bits] * channels)
        + struct.pack("<H", len(tags))
        + entries
        + bytes(4)
    )


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
    with pytest.raises(ReadError, match=r"CMYK;16L.*convert it to a 16-bit PNG"):
        read(tmp_path / "x.tif")


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
def test_transparent_gray_of_few_bits(tmp_path, bits):
    """The second of two pixels, all bits set, is the transparent one."""
    largest = 2**bits - 1
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", 2, 1, bits, 0, 0, 0, 0)),
        (b"tRNS", struct.pack(">H", largest)),
        (b"IDAT", zlib.compress(bytes([0, largest << (8 - 2 * bits)]))),
        (b"IEND", b""),
    ]
    body = (struct.pack(">I", len(c)) + k + c + struct.pack(">I", zlib.crc32(k + c)) for k, c in parts)
    (tmp_path / "x.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(body))
    got = read(tmp_path / "x.png")
    assert got.planes.tolist() == [[[0, 255]]]
    assert got.alpha.tolist() == [[255, 0]]


# Refusals on reading


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


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_counted_and_located(tmp_path, bad):
    samples = np.zeros((4, 5), np.float32)
    samples[2, 3] = samples[3, 1] = bad
    Image.fromarray(samples).save(tmp_path / "x.tif")
    with pytest.raises(ReadError, match="2 of 20 samples are NaN or infinite, the first at x=3, y=2"):
        read(tmp_path / "x.tif")


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".tif", ".bmp", ".jp2"])
def test_a_cut_off_file_is_refused(tmp_path, suffix):
    noise = np.random.default_rng(0).integers(0, 256, (64, 64)).astype(np.uint8)
    path = tmp_path / f"x{suffix}"
    write(Picture(noise[None], None, 255, "PNG"), path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ReadError) as caught:
        read(path)
    assert message(caught).startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"These lines are\nno image.\n", "no image"),
        (b"\x89PNG\r\n\x1a\n", "no image, or damaged at its start"),
        (b"II*\0\x08\0\0\0\0\0", "TIFF of a rare kind"),
    ],
)
def test_what_is_no_image_is_refused(tmp_path, content, words):
    (tmp_path / "x.png").write_bytes(content)
    with pytest.raises(ReadError) as caught:
        read(tmp_path / "x.png")
    assert words in message(caught)


def png_header(width: int, height: int) -> bytes:
    parts = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)), (b"IDAT", b""), (b"IEND", b"")]
    body = (struct.pack(">I", len(c)) + k + c + struct.pack(">I", zlib.crc32(k + c)) for k, c in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(body)


@pytest.mark.parametrize("content", [png_header(2**30, 2**30), b"P5 1073741824 1073741824 255\n"], ids=["PNG", "PGM"])
def test_more_pixels_than_memory_are_refused_by_the_header(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(TooLargeError, match="1,152,921,504,606,846,976 bytes"):
        read(tmp_path / "x")


def test_an_absurd_header_is_refused(tmp_path):
    (tmp_path / "x.pgm").write_bytes(b"P5 " + b"9" * 5000 + b" 1 255\n")
    with pytest.raises(TooLargeError) as caught:
        read(tmp_path / "x.pgm")
    assert len(message(caught)) < 300 + len(str(tmp_path))


@pytest.mark.parametrize("content", [png_header(0, 5), png_header(5, 0)])
def test_no_pixels_are_refused(tmp_path, content):
    (tmp_path / "x.png").write_bytes(content)
    with pytest.raises(ReadError):
        read(tmp_path / "x.png")


def test_missing_files_and_folders_are_refused(tmp_path):
    with pytest.raises(ReadError, match=r"missing\.png: cannot be read: no such file"):
        read(tmp_path / "missing.png")
    with pytest.raises(ReadError, match="is a directory"):
        read(tmp_path)


@pytest.mark.usefixtures("ordinary_user")
def test_a_file_without_permission_is_refused(open_folder):
    path = open_folder / "x.pgm"
    path.write_bytes(b"P5 1 1 255\n7")
    path.chmod(0)
    with pytest.raises(ReadError, match="permission denied; check"):
        read(path)


def test_a_name_with_a_line_end_stays_on_one_line(tmp_path):
    path = tmp_path / "two\nlines.png"
    path.write_bytes(b"")
    for action in (lambda: read(path), lambda: write(picture(), path / "x.png"), lambda: check_output("x", path / "x")):
        with pytest.raises((ImageError, ParameterError)) as caught:
            action()
        assert r"two\nlines.png" in message(caught)


# Pillow's settings


def test_pillows_limit_on_pixels_neither_stops_nor_warns_and_stays(tmp_path, monkeypatch):
    Image.fromarray(COLOR).save(tmp_path / "x.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(tmp_path / "x.png").planes.shape == (3, 2, 3)
    assert Image.MAX_IMAGE_PIXELS == 1


def test_pgm_to_pgm_never_imports_pillow(tmp_path):
    (tmp_path / "in.pgm").write_bytes(b"P5 2 1 255\nab")
    code = (
        "import sys; from fftfilter import images as i; i.check_output('in.pgm', 'out.pgm');"
        "i.write(i.read('in.pgm'), 'out.pgm'); assert 'PIL' not in sys.modules"
    )
    done = run(code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr.decode()


def test_pillows_log_stays_off_standard_error(tmp_path):
    (tmp_path / "x.tif").write_bytes(tiff(np.zeros((1, 1, 255), np.uint8), photometric=1))
    code = "from fftfilter import errors, images\ntry: images.read('x.tif')\nexcept errors.ReadError: print('refused')"
    done = run(code, cwd=tmp_path)
    assert (done.stdout, done.stderr) == (b"refused\n", b"")


# Formats


@pytest.mark.parametrize("suffix", FORMATS)
def test_extensions_mean_what_pillow_thinks(suffix):
    assert Image.registered_extensions()[suffix] == FORMATS[suffix].name
    Image.init()
    assert FORMATS[suffix].name in Image.SAVE


@pytest.mark.parametrize("alpha", [False, True], ids=["opaque", "alpha"])
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_holds_what_it_says(tmp_path, suffix, channels, alpha):
    ramp = np.tile(np.arange(256, dtype=np.uint8), (16, 1))
    planes = np.stack([ramp, ramp // 2, 255 - ramp][:channels])
    given = Picture(planes, ramp if alpha else None, 255, "PNG")
    path = tmp_path / f"x{suffix.upper()}"
    try:
        check_fits(given, path)
    except WriteError:
        with pytest.raises(WriteError):
            write(given, path)
        assert not path.exists()
        return
    write(given, path)
    got = read(path)
    white = got.maxval / 255
    np.testing.assert_allclose(got.planes / white, np.broadcast_to(planes, got.planes.shape), atol=4)
    if alpha:
        np.testing.assert_allclose(got.alpha / white, ramp, atol=4)


@pytest.mark.parametrize(
    ("channels", "alpha", "suffix", "words"),
    [
        (3, False, ".pgm", "no color; write .ppm or .png"),
        (3, False, ".pfm", "no color"),
        (1, True, ".pgm", "no alpha channel; write .png"),
        (3, True, ".ppm", "no alpha"),
        (3, True, ".jpg", "no alpha"),
        (3, True, ".BMP", "no alpha"),
    ],
)
def test_what_a_format_cannot_hold_is_refused_by_name(channels, alpha, suffix, words):
    with pytest.raises(WriteError) as caught:
        check_fits(picture(channels=channels, alpha=alpha), f"out{suffix}")
    assert message(caught).startswith(f"out{suffix}: ")
    assert words in message(caught)


def test_a_format_with_a_largest_size_says_so():
    long = Picture(np.zeros((1, 1, 20000), np.uint8), None, 255, "PNG")
    with pytest.raises(WriteError, match="at most 16383 pixels a side, not 20000 x 1"):
        check_fits(long, "x.webp")
    check_fits(long, "x.jpg")


@pytest.mark.parametrize(
    ("given", "target", "depth"),
    [
        (picture(), "x.png", (np.uint8, 255)),
        (picture(maxval=100), "x.png", (np.uint8, 255)),
        (picture(maxval=100), "x.pgm", (np.uint8, 100)),
        (picture(maxval=100), "x.ppm", (np.uint8, 100)),
        (picture(maxval=100, format="PPM"), "-", (np.uint8, 100)),
        (picture(maxval=100, format="GIF"), "-", (np.uint8, 255)),
        (picture(dtype=np.uint16, maxval=1000), "x.pnm", (np.uint16, 1000)),
        (picture(dtype=np.uint16, maxval=1000), "x.png", (np.uint16, 65535)),
        (picture(dtype=np.uint16, maxval=1000), "x.tif", (np.uint16, 65535)),
        (picture(dtype=np.uint16, maxval=1000), "x.jpg", (np.uint8, 255)),
        (picture(dtype=np.uint16, channels=3, alpha=True), "x.png", (np.uint16, 65535)),
        (picture(dtype=np.uint16), "x.jp2", (np.uint16, 65535)),
        (picture(dtype=np.uint16, channels=3), "x.jp2", (np.uint8, 255)),
        (picture(dtype=np.float32), "x.tif", (np.float32, 1)),
        (picture(dtype=np.float32, channels=3), "x.tif", (np.uint16, 65535)),
        (picture(dtype=np.float32), "x.png", (np.uint16, 65535)),
        (picture(dtype=np.float32), "x.pgm", (np.uint16, 65535)),
        (picture(dtype=np.float32), "x.jpg", (np.uint8, 255)),
        (picture(dtype=np.float32, format="TIFF"), "-", (np.float32, 1)),
        (picture(), "x.pfm", (np.float32, 1)),
    ],
)
def test_planned_depth(given, target, depth):
    assert plan_output(given, target) == Depth(np.dtype(depth[0]), depth[1])


@pytest.mark.parametrize("suffix", [".png", ".tif", ".pgm", ".ppm", ".jpg", ".pfm"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_what_was_planned_is_what_the_file_holds(tmp_path, suffix, dtype):
    given = picture(dtype=dtype)
    write(given, tmp_path / f"x{suffix}")
    got = read(tmp_path / f"x{suffix}")
    assert (got.planes.dtype, got.maxval) == plan_output(given, f"x{suffix}")


def test_planes_and_alpha_are_rescaled_to_the_files_depth(tmp_path):
    planes = np.array([[[0, 50, 100]]], np.uint8)
    write(Picture(planes, None, 100, "PPM"), tmp_path / "x.png")
    assert read(tmp_path / "x.png").planes.tolist() == [[[0, 128, 255]]]

    alpha = np.array([[0, 128, 255]], np.uint8)
    write(Picture(planes.astype(np.uint16) * 655, alpha, 65535, "PNG"), tmp_path / "x.png")
    assert read(tmp_path / "x.png").alpha.tolist() == [[0, 128 * 257, 65535]]

    wide = np.array([[0, 32896, 65535]], np.uint16)
    write(Picture(wide[None], wide, 65535, "PNG"), tmp_path / "x.webp")
    assert read(tmp_path / "x.webp").alpha.tolist() == [[0, 128, 255]]

    beyond = np.array([[[-1, 0.5, 7]]], np.float32)
    write(Picture(beyond, None, 1, "TIFF"), tmp_path / "x.png")
    assert read(tmp_path / "x.png").planes.tolist() == [[[0, 32768, 65535]]]


def test_floats_of_any_size_stay_as_they_are_in_tiff_and_pfm(tmp_path):
    planes = np.array([[[-3e30, 0.25], [1, 7e-30]]], np.float32)
    for suffix in (".tif", ".pfm"):
        write(Picture(planes, None, 1, "TIFF"), tmp_path / f"x{suffix}")
        np.testing.assert_array_equal(read(tmp_path / f"x{suffix}").planes, planes)


def test_png_level(tmp_path):
    smooth = np.broadcast_to(np.arange(256, dtype=np.uint8), (1, 256, 256))
    for dtype, channels in ((np.uint8, 1), (np.uint16, 3)):
        given = Picture(np.repeat(smooth, channels, axis=0).astype(dtype), None, 255 if channels == 1 else 65535, "PNG")
        sizes = []
        for level in (0, 9):
            write(given, tmp_path / "x.png", png_level=level)
            sizes.append((tmp_path / "x.png").stat().st_size)
        assert sizes[0] > 10 * sizes[1]


# Standard streams, pipes and devices

ECHO = "from fftfilter import images; images.write(images.read('-'), '-')"


def test_a_pipe_gets_the_format_that_came_in(tmp_path):
    pgm = b"P5\n2 1\n100\nab"
    assert run(ECHO, input=pgm.replace(b"a", b"\1").replace(b"b", b"\2")).stdout == b"P5\n2 1\n100\n\1\2"
    write(picture(channels=3, dtype=np.uint16), tmp_path / "x.png")
    (tmp_path / "y.png").write_bytes(run(ECHO, input=(tmp_path / "x.png").read_bytes()).stdout)
    np.testing.assert_array_equal(read(tmp_path / "y.png").planes, read(tmp_path / "x.png").planes)


@pytest.mark.parametrize("format_", ["ICO", "GIF"])
def test_a_pipe_gets_png_where_the_format_cannot_be_written(tmp_path, capsysbinary, format_):
    write(picture(channels=3, alpha=True, format=format_), "-")
    (tmp_path / "out").write_bytes(capsysbinary.readouterr().out)
    assert read(tmp_path / "out").format == "PNG"


def test_a_named_format_beats_extension_and_origin(tmp_path):
    write(picture(), tmp_path / "x.dat", format="TIFF")
    assert read(tmp_path / "x.dat").format == "TIFF"
    write(picture(channels=3), tmp_path / "x.png", format="ppm")
    assert (tmp_path / "x.png").read_bytes().startswith(b"P6")
    with pytest.raises(ParameterError, match=r"'docx'; choose \.png"):
        write(picture(), tmp_path / "x.png", format="docx")


def test_messages_name_the_standard_streams():
    assert run(ECHO, input=b"").stderr.decode().endswith("standard input: empty (0 bytes); give an image file\n")
    with pytest.raises(WriteError, match=r"^standard output: \.pgm has no color"):
        check_fits(picture(channels=3), "-", format="pgm")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_is_written_into_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    check_output("in.pgm", pipe)
    writer = threading.Thread(target=write, args=(picture(format="PPM"), pipe))
    writer.start()
    assert pipe.read_bytes() == b"P5\n3 2\n255\n" + GRAY.tobytes()
    writer.join()
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="needs /dev/stdout")
def test_dev_stdout_and_dev_null(tmp_path):
    (tmp_path / "in.pgm").write_bytes(b"P5\n1 1\n255\n7")
    code = "from fftfilter import images as i; p = i.read('in.pgm'); i.write(p, '/dev/null'); i.write(p, '/dev/stdout')"
    assert run(code, cwd=tmp_path).stdout == b"P5\n1 1\n255\n7"
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="needs /dev/stdout")
def test_a_redirected_dev_stdout_is_not_replaced(tmp_path):
    code = "from fftfilter import images as i; i.write(i.read('-'), '/dev/stdout')"
    with (tmp_path / "out").open("wb") as out:
        subprocess.run([sys.executable, "-c", code], input=b"P5\n1 1\n255\n7", stdout=out, cwd=ROOT, check=True)
        assert os.path.samestat(os.fstat(out.fileno()), (tmp_path / "out").stat())
    assert (tmp_path / "out").read_bytes() == b"P5\n1 1\n255\n7"


# Before the work


@pytest.mark.parametrize("name", ["x.docx", "x", "x.pbm", "x.png.", ".png"])
def test_an_extension_that_cannot_be_written_is_refused(tmp_path, name):
    with pytest.raises(ParameterError, match=r"choose \.png, \.tif, \.pgm"):
        check_output("in.pgm", tmp_path / name)


def test_folders_as_targets_are_refused(tmp_path):
    with pytest.raises(WriteError, match="a folder; give the name"):
        check_output("in.pgm", tmp_path)
    with pytest.raises(WriteError, match=f"there is no folder {tmp_path}/missing; create it first"):
        check_output("in.pgm", tmp_path / "missing" / "out.png")
    (tmp_path / "link.png").symlink_to(tmp_path / "gone" / "out.png")
    with pytest.raises(WriteError, match=f"there is no folder {tmp_path}/gone; create it first"):
        check_output("in.pgm", tmp_path / "link.png")


@pytest.mark.usefixtures("ordinary_user")
def test_a_folder_without_permission_is_refused(open_folder):
    folder = open_folder / "locked"
    folder.mkdir()
    folder.chmod(0o555)
    with pytest.raises(WriteError, match="no permission to write in its folder"):
        check_output("in.pgm", folder / "out.png")
    with pytest.raises(WriteError, match="permission denied; check its permissions"):
        write(picture(), folder / "out.png")


@pytest.mark.usefixtures("ordinary_user")
def test_a_write_protected_target_is_refused(open_folder):
    target = open_folder / "out.pgm"
    target.write_bytes(b"precious")
    target.chmod(0o444)
    with pytest.raises(WriteError, match="write-protected"):
        check_output("in.pgm", target)
    with pytest.raises(WriteError, match="permission denied"):
        write(picture(), target)
    assert target.read_bytes() == b"precious"


@pytest.mark.parametrize("relation", ["same path", "hard link", "symbolic link", "link to it as input"])
def test_the_input_is_never_the_output_unless_in_place(tmp_path, relation):
    source, target = tmp_path / "in.png", tmp_path / "out.png"
    write(picture(), source)
    if relation == "same path":
        target = tmp_path / ".." / tmp_path.name / "in.png"
    elif relation == "hard link":
        target.hardlink_to(source)
    else:
        target.symlink_to(source)
    if relation == "link to it as input":
        source, target = target, source
    with pytest.raises(ParameterError, match=r"is the input itself.*--in-place"):
        check_output(source, target)
    check_output(source, target, in_place=True)


def test_the_file_behind_standard_input_is_the_input_too(tmp_path):
    write(picture(), tmp_path / "in.png")
    with (tmp_path / "in.png").open("rb") as file:
        done = run("from fftfilter import images; images.check_output('-', 'in.png')", stdin=file, cwd=tmp_path)
    assert b"in.png: is the input itself" in done.stderr


def test_an_existing_other_file_a_new_one_and_a_stream_are_welcome(tmp_path):
    for name in ("in.png", "out.png"):
        write(picture(), tmp_path / name)
    check_output(tmp_path / "in.png", tmp_path / "out.png")
    check_output(tmp_path / "in.png", tmp_path / "new.jpeg")
    check_output(tmp_path / "in.png", "-")
    check_output("-", tmp_path / "out.png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.png", "out.png"]


# Whole or not at all


def test_a_failure_in_the_middle_leaves_the_old_file_and_no_other(tmp_path):
    """The system lets the process write 1000 bytes of the 10,000."""
    pytest.importorskip("resource")
    (tmp_path / "out.pgm").write_bytes(b"old")
    code = """
import resource, numpy as np
from fftfilter import errors, images
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
for name in ("out.pgm", "new.pgm"):
    try: images.write(images.Picture(np.zeros((1, 100, 100), np.uint8), None, 255, "PPM"), name)
    except errors.WriteError as error: print(error)
"""
    done = run(code, cwd=tmp_path)
    words = "cannot be written: file too large"
    assert done.stdout.decode().splitlines() == [f"out.pgm: {words}", f"new.pgm: {words}"], done.stderr.decode()
    assert [path.name for path in tmp_path.iterdir()] == ["out.pgm"]
    assert (tmp_path / "out.pgm").read_bytes() == b"old"


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), OSError(errno.ENOSPC, "full"), MemoryError()])
def test_whatever_stops_the_writing_the_temporary_file_goes(tmp_path, monkeypatch, failure):
    seen = []

    def fail(*paths):
        source, target = map(Path, paths)
        seen.append((source.name, target.name, source.parent == target.parent, source.exists()))
        raise failure

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(WriteError if isinstance(failure, OSError) else type(failure)):
        write(picture(), tmp_path / "out.png")
    ((temporary, target, beside, existed),) = seen
    assert temporary.startswith(f".out.png.fftfilter-{os.getpid()}-")
    assert temporary.endswith(".tmp")
    assert (target, beside, existed) == ("out.png", True, True)
    assert list(tmp_path.iterdir()) == []


def test_permissions_are_those_of_an_ordinary_new_file(tmp_path):
    before = os.umask(0o027)
    try:
        write(picture(), tmp_path / "new.png")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.png").stat().st_mode) == 0o640


def test_permissions_of_an_existing_file_are_kept(tmp_path):
    target = tmp_path / "out.png"
    target.touch()
    target.chmod(0o604)
    write(picture(), target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o604
    assert read(target).format == "PNG"


def test_a_symbolic_link_is_written_through(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.png").symlink_to(tmp_path / "folder" / "real.png")
    for _ in range(2):  # to a new file, then to an existing one
        write(picture(), tmp_path / "link.png")
        assert (tmp_path / "link.png").is_symlink()
        assert [path.name for path in (tmp_path / "folder").iterdir()] == ["real.png"]
    assert read(tmp_path / "folder" / "real.png").format == "PNG"


def test_links_in_a_circle_are_refused(tmp_path):
    (tmp_path / "a.png").symlink_to(tmp_path / "b.png")
    (tmp_path / "b.png").symlink_to(tmp_path / "a.png")
    for action in (lambda name: write(picture(), name), read):
        with pytest.raises(ImageError, match="too many levels of symbolic links"):
            action(tmp_path / "a.png")


def test_a_name_of_the_greatest_length_can_be_written(tmp_path):
    name = "é" * 125 + ".png"
    write(picture(), tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    with pytest.raises(WriteError, match="file name too long; choose a shorter"):
        write(picture(), tmp_path / f"xx{name}")


def test_samples_are_read():
    shapes = {name: read(ROOT / "samples" / name).planes.shape for name in ("camera.pgm", "brick.png", "astronaut.png")}
    assert shapes == {"camera.pgm": (1, 512, 512), "brick.png": (1, 512, 512), "astronaut.png": (3, 512, 512)}
