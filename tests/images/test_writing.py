"""A picture to bytes and into a file; what is refused before the work."""

from __future__ import annotations

import os

import numpy as np
import pytest
import tifffile
from PIL import Image

from fftfilter.errors import ImageError, ParameterError, TooLargeError, WriteError
from fftfilter.images import COMPRESSIONS, Coding, Picture, check_output, encoded, read, refuse_coding, write
from tests.files.helpers import message, python
from tests.helpers import needs_links
from tests.images.helpers import COLOR, GRAY, picture

ECHO = "from fftfilter import images; images.write(images.read('-'), '-')"


def test_planes_and_alpha_are_rescaled_to_the_depth_of_the_file(tmp_path):
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
    for suffix in (".tif", ".pfm", ".npy"):
        for dtype in np.float32, np.float64:
            write(Picture(planes.astype(dtype), None, 1, "TIFF"), tmp_path / f"x{suffix}")
            np.testing.assert_array_equal(read(tmp_path / f"x{suffix}").planes, planes)
    assert np.load(tmp_path / "x.npy").dtype == np.float32


@pytest.mark.parametrize(("dtype", "channels", "white"), [(np.uint8, 1, 255), (np.uint16, 3, 65535)])
def test_a_higher_level_of_png_is_smaller(tmp_path, dtype, channels, white):
    """Levels below 2 and all 16-bit color are ours, the others Pillow's."""
    smooth = np.broadcast_to(np.arange(256, dtype=np.uint8), (channels, 256, 256)).astype(dtype)
    sizes = []
    for level in 0, 1, 9:
        write(Picture(smooth, None, white, "PNG"), tmp_path / "x.png", coding=Coding(level))
        np.testing.assert_array_equal(read(tmp_path / "x.png").planes, smooth)
        sizes.append((tmp_path / "x.png").stat().st_size)
    assert sizes[0] > 10 * sizes[1] > 10 * sizes[2]


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("alpha", [False, True])
@pytest.mark.parametrize("suffix", [".png", ".tif"])
def test_16_bits_are_written_and_read_again(tmp_path, channels, alpha, suffix):
    given = picture(channels=channels, alpha=alpha, dtype=np.uint16)
    write(given, tmp_path / f"x{suffix}")
    back = read(tmp_path / f"x{suffix}")
    assert back.planes.dtype == np.uint16
    np.testing.assert_array_equal(back.planes, given.planes)
    assert (back.alpha is None) == (not alpha)
    if alpha:
        np.testing.assert_array_equal(back.alpha, given.alpha)


def test_the_fourth_channel_of_a_tiff_is_said_to_be_alpha(tmp_path):
    write(picture(channels=3, alpha=True, dtype=np.uint16), tmp_path / "x.tif")
    with Image.open(tmp_path / "x.tif") as image:
        assert image.tag_v2[338] == (2,)  # ExtraSamples: alpha, not multiplied into the others


# Which format, and where to


def test_a_named_format_goes_before_the_extension(tmp_path):
    write(picture(), tmp_path / "x.dat", format="TIFF")
    assert read(tmp_path / "x.dat").format == "TIFF"
    write(picture(channels=3), tmp_path / "x.png", format="ppm")
    assert (tmp_path / "x.png").read_bytes().startswith(b"P6")
    with pytest.raises(ParameterError, match=r"'docx'; choose \.png"):
        write(picture(), tmp_path / "x.png", format="docx")


def test_standard_output_gets_the_format_that_came_in(tmp_path):
    assert python(ECHO, input=b"P5\n2 1\n100\n\1\2").stdout == b"P5\n2 1\n100\n\1\2"
    write(picture(channels=3, dtype=np.uint16), tmp_path / "x.png")
    (tmp_path / "y.png").write_bytes(python(ECHO, input=(tmp_path / "x.png").read_bytes()).stdout)
    np.testing.assert_array_equal(read(tmp_path / "y.png").planes, read(tmp_path / "x.png").planes)


@pytest.mark.parametrize("format_", ["ICO", "GIF"])
def test_standard_output_gets_png_where_that_format_cannot_be_written(tmp_path, capsysbinary, format_):
    write(picture(channels=3, alpha=True, format=format_), "-")
    (tmp_path / "out").write_bytes(capsysbinary.readouterr().out)
    assert read(tmp_path / "out").format == "PNG"


@pytest.mark.parametrize("levels", [255, 256])
def test_a_gif_spends_the_rarest_gray_on_transparent_pixels(tmp_path, levels):
    gray = np.append(np.arange(256), np.arange(levels)).astype(np.uint8)
    alpha = np.where(np.arange(len(gray)) < 256, 255, 0).astype(np.uint8)  # all grays are opaque, each once
    gray[7] = 8 if levels == 255 else 7  # and then all but 7
    write(Picture(gray.reshape(1, 1, -1), alpha[None], 255, "GIF"), tmp_path / "x.gif")
    got = read(tmp_path / "x.gif")
    assert (got.alpha == alpha).all()
    wanted = gray[:256].copy()
    wanted[0] = 0 if levels == 255 else 1
    assert (got.planes[0, 0, :256] == wanted).all()


def test_white_that_is_the_rarest_gray_of_a_gif_stays_opaque(tmp_path):
    gray = np.append(np.arange(256), np.arange(255)).astype(np.uint8).reshape(1, 1, -1)
    alpha = np.full((1, 511), 255, np.uint8)
    write(Picture(gray, alpha, 255, "GIF"), tmp_path / "x.gif")
    got = read(tmp_path / "x.gif")
    assert got.alpha is None or (got.alpha == 255).all()
    np.testing.assert_array_equal(got.planes, np.minimum(gray, 254))


def test_a_gif_of_partly_transparent_pixels_is_refused(tmp_path):
    with pytest.raises(WriteError, match=r"x\.gif: \.gif holds no pixels that are partly transparent; write \.png"):
        write(picture(alpha=True), tmp_path / "x.gif")


@needs_links
def test_errors_of_the_system_begin_with_the_name(tmp_path):
    (tmp_path / "a.png").symlink_to("a.png")
    for name, words in (
        ("a.png", "too many levels of symbolic links"),
        ("é" * 126 + ".png", "file name too long; choose a shorter name"),
        ("none/x.png", "no such file or directory; check the name"),
    ):
        with pytest.raises(WriteError) as caught:
            write(picture(), tmp_path / name)
        assert message(caught) == f"{tmp_path / name}: cannot be written: {words}"


def test_what_a_writer_of_pillow_refuses_is_one_line(tmp_path):
    """Its writer of PCX cannot count the bytes of a row that is as long as the format allows."""
    wide = Picture(np.zeros((1, 1, 65535), np.uint8), None, 255, "PNG")
    with pytest.raises(WriteError) as caught:
        write(wide, tmp_path / "x.pcx")
    assert message(caught).startswith(f"{tmp_path}/x.pcx: cannot be written as PCX (")
    assert message(caught).endswith("); write .png")
    assert list(tmp_path.iterdir()) == []


def test_a_picture_for_which_memory_does_not_suffice_is_said_to_be_too_large():
    def fail(_):
        raise MemoryError

    with pytest.raises(TooLargeError, match=r"^x.png: out of memory while writing it; use a smaller image$"):
        encoded(picture(), ".png", "x.png", fail)


# Before the work


@pytest.mark.parametrize("name", ["x.docx", "x", "x.pbm"])
def test_an_extension_that_cannot_be_written_is_refused(tmp_path, name):
    with pytest.raises(ParameterError, match=r"choose \.png, \.tif, \.pgm"):
        check_output("in.pgm", tmp_path / name)


@needs_links
def test_folders_as_targets_are_refused(tmp_path):
    with pytest.raises(WriteError, match=r": a folder; give the name of a file in it$"):
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
    with pytest.raises(WriteError, match="permission denied; check its permissions and its folder"):
        check_output("in.pgm", folder / "out.png")
    with pytest.raises(WriteError, match="permission denied; check its permissions"):
        write(picture(), folder / "out.png")


@pytest.mark.usefixtures("ordinary_user")
def test_a_write_protected_target_is_refused(open_folder):
    target = open_folder / "out.pgm"
    target.write_bytes(b"precious")
    target.chmod(0o444)
    with pytest.raises(WriteError, match=r"out.pgm: exists and is write-protected; choose another name$"):
        check_output("in.pgm", target)
    with pytest.raises(WriteError, match="permission denied"):
        write(picture(), target)
    assert target.read_bytes() == b"precious"


@needs_links
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
    with pytest.raises(
        ParameterError, match=r"is the input itself; choose another name, or --in-place to overwrite it$"
    ):
        check_output(source, target)
    check_output(source, target, in_place=True)


def test_the_file_behind_standard_input_is_the_input_too(tmp_path):
    write(picture(), tmp_path / "in.png")
    with (tmp_path / "in.png").open("rb") as file:
        done = python("from fftfilter import images; images.check_output('-', 'in.png')", stdin=file, cwd=tmp_path)
    assert b"in.png: is the input itself" in done.stderr


def test_an_existing_other_file_a_new_one_and_a_stream_are_welcome(tmp_path):
    for name in ("in.png", "out.png"):
        write(picture(), tmp_path / name)
    check_output(tmp_path / "in.png", tmp_path / "out.png")
    check_output(tmp_path / "in.png", tmp_path / "new.jpeg")
    check_output(tmp_path / "in.png", "-")
    check_output("-", tmp_path / "out.png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.png", "out.png"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_is_welcome_whatever_its_name(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    check_output("in.pgm", tmp_path / "pipe")


def test_a_url_is_checked_without_a_request():
    check_output("in.pgm", "s3://bucket/out.png")
    for target, words in (
        ("s3://bucket/out.docx", "cannot write .docx files"),
        ("http://127.0.0.1:1/out.png", "can only be read"),
        ("s3://bucket/in.png", "in.png: is the input itself; choose another name, or --in-place to overwrite it"),
    ):
        with pytest.raises(ParameterError) as caught:
            check_output("s3://bucket/in.png", target)
        assert words in message(caught)
    check_output("s3://bucket/in.png", "s3://bucket/in.png", in_place=True)


def test_a_name_with_a_line_end_stays_on_one_line(tmp_path):
    path = tmp_path / "two\nlines.png"
    path.write_bytes(b"")
    for action in (lambda: write(picture(), path / "x.png"), lambda: check_output("x", path / "x")):
        with pytest.raises((ImageError, ParameterError)) as caught:
            action()
        assert r"two\nlines.png" in message(caught)


@pytest.mark.parametrize("suffix", [".jpg", ".webp", ".avif"])
def test_less_quality_makes_smaller_files(tmp_path, suffix, camera):
    photo = Picture(camera[None, :64, :64], None, 255, "PNG")
    sizes = []
    for quality in (None, 90, 10):
        write(photo, tmp_path / f"x{suffix}", coding=Coding(quality=quality))
        sizes.append((tmp_path / f"x{suffix}").stat().st_size)
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("suffix", [".jpg", ".avif"])
def test_without_a_quality_it_is_95(tmp_path, suffix, camera):
    photo, files = Picture(camera[None, :64, :64], None, 255, "PNG"), []
    for quality in (None, 95):
        write(photo, tmp_path / f"x{suffix}", coding=Coding(quality=quality))
        files.append((tmp_path / f"x{suffix}").read_bytes())
    assert files[0] == files[1]


def test_a_webp_has_every_sample_even_below_transparent_pixels(tmp_path):
    given = picture(channels=3, alpha=True)
    write(given, tmp_path / "x.webp")
    found = read(tmp_path / "x.webp")
    np.testing.assert_array_equal(found.planes, given.planes)
    np.testing.assert_array_equal(found.alpha, given.alpha)


def test_a_jpeg_2000_has_16_bits_of_gray(tmp_path):
    write(picture(dtype=np.uint16), tmp_path / "x.jp2")
    np.testing.assert_array_equal(read(tmp_path / "x.jp2").planes, picture(dtype=np.uint16).planes)


@pytest.mark.parametrize(("name", "number"), [*COMPRESSIONS.items(), (None, 5)])
def test_a_tiff_is_compressed_as_asked_or_as_its_input(tmp_path, name, number):
    given = picture(dtype=np.uint16)
    given.tiff_compression = 5
    write(given, tmp_path / "x.tif", coding=Coding(compression=name))
    with Image.open(tmp_path / "x.tif") as written:
        assert written.tag_v2[259] == number
        # Differences of neighbors take less room, but not by PackBits.
        assert written.tag_v2.get(317) == (None if name in ("none", "packbits") else 2)
    np.testing.assert_array_equal(read(tmp_path / "x.tif").planes, given.planes)


@pytest.mark.parametrize("compression", ["deflate", "lzw"])
@pytest.mark.parametrize("strips", [1, 2, 3])
def test_each_strip_of_a_tiff_is_where_it_is_said_to_be(tmp_path, rng, strips, compression):
    planes = rng.integers(0, 9, (1, 256 * strips - 56, 256), np.uint8)
    write(Picture(planes, None, 255, "TIFF"), tmp_path / "out.tif", coding=Coding(compression=compression))
    with tifffile.TiffFile(tmp_path / "out.tif") as file:
        assert len(file.pages[0].dataoffsets) == strips
        if compression == "deflate":  # tifffile decodes no LZW by itself
            np.testing.assert_array_equal(file.asarray(), planes[0])
    np.testing.assert_array_equal(read(tmp_path / "out.tif").planes, planes)


@pytest.mark.parametrize(
    ("name", "coding", "words"),
    [
        ("x.png", Coding(quality=50), ".png has no quality; leave it out, or write .jpg, .webp or .avif$"),
        ("x.jpg", Coding(compression="lzw"), ".jpg has no choice of compression; leave it out, or write .tif$"),
    ],
)
def test_a_coding_that_a_format_does_not_have_is_refused(name, coding, words):
    with pytest.raises(ParameterError, match=words):
        refuse_coding(name, coding)
    refuse_coding("-", coding)  # whose format the input says


@pytest.mark.parametrize("quality", [30, 95])
@pytest.mark.parametrize("samples", [GRAY, COLOR], ids=["gray", "color"])
def test_a_jpeg_without_metadata_is_what_pillow_writes(tmp_path, samples, quality):
    planes = np.atleast_3d(samples).transpose(2, 0, 1)
    write(Picture(planes, None, 255, "JPEG"), tmp_path / "x.jpg", coding=Coding(quality=quality))
    Image.fromarray(samples).save(tmp_path / "y.jpg", quality=quality)
    assert (tmp_path / "x.jpg").read_bytes() == (tmp_path / "y.jpg").read_bytes()
