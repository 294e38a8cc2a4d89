"""Animations, written by Pillow, read frame by frame; and joined here, read by Pillow."""

from __future__ import annotations

import io
import re
import struct
import zlib

import numpy as np
import pytest
from PIL import ExifTags, Image, ImageSequence

from fftfilter.errors import ParameterError, ReadError, TooLargeError, WriteError
from fftfilter.images import (
    Asked,
    Coding,
    Pages,
    Picture,
    check_page,
    measure,
    opened,
    sink,
    suffix_of_pages,
)
from fftfilter.images.animation import frames_of
from fftfilter.images.metadata import Metadata
from tests.images.helpers import interleaved, picture, png, png_header

RNG = np.random.default_rng(5)
GRAY = RNG.integers(0, 256, (4, 20, 30)).astype(np.uint8)
COLOR = RNG.integers(0, 8, (4, 20, 30, 3)).astype(np.uint8) * 36
COLOR[:, 5:] = COLOR[:, :1, :1]  # few colors, for GIF
SHOWN = [40, 100, 250, 1000]
FORMATS = {".gif": {}, ".png": {}, ".webp": {"lossless": True}}


def saved(suffix, frames, **options):
    first, *others = [Image.fromarray(frame) for frame in frames]
    file = io.BytesIO()
    more = {"save_all": True, "append_images": others, "duration": SHOWN} | FORMATS[suffix]
    first.save(file, suffix[1:], **more | options)
    return file.getvalue()


def by_pillow(data):
    """Return what Pillow reads: RGB frames, durations and the times that they are played."""
    with Image.open(io.BytesIO(data)) as image:
        frames, shown = [], []
        for frame in ImageSequence.Iterator(image):
            frame.load()
            frames.append(np.asarray(frame.convert("RGB")))
            shown.append(frame.info["duration"])
        return frames, shown, image.info.get("loop")


def read(data, asked=None):
    pages = opened(data, "x", Asked.parse(asked) if asked else Asked())
    assert isinstance(pages, Pages)
    found = []
    for index in range(len(pages)):
        got = pages.read(index)
        found.append((got, pages.milliseconds))
    return pages, found


def joined(suffix, pictures, shown, plays=0, coding=Coding()):  # noqa: B008
    file = io.BytesIO()
    made = sink(file, suffix, coding, count=len(pictures), plays=plays)
    for each, milliseconds in zip(pictures, shown, strict=True):
        made.add(made.encode(each, milliseconds))
    made.finish()
    return file.getvalue()


# Reading


def test_a_frame_without_transparent_pixels_has_alpha_as_the_others_have():
    clear = Image.fromarray(np.dstack([GRAY[0]] * 3 + [np.where(GRAY[0] > 99, 255, 0).astype(np.uint8)]))
    file = io.BytesIO()
    clear.save(file, "GIF", save_all=True, append_images=[Image.fromarray(COLOR[1])], disposal=2)
    _, found = read(file.getvalue())
    assert [picture.alpha is None for picture, _ in found] == [False, False]
    assert found[0][0].alpha.min() == 0
    assert found[1][0].alpha.min() == 255


@pytest.mark.parametrize(("promised", "wanted"), [(2, (2, False)), (4, (4, False)), (5, (4, True))])
def test_a_png_has_as_many_frames_as_it_promises_and_holds(promised, wanted):
    data = saved(".png", GRAY)
    at = data.index(b"acTL")
    chunk = b"acTL" + struct.pack(">II", promised, 0)
    data = data[:at] + chunk + struct.pack(">I", zlib.crc32(chunk)) + data[at + len(chunk) + 4 :]
    assert frames_of(data, "PNG", 0) == wanted


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("frames", [GRAY, COLOR], ids=["gray", "color"])
def test_frames_are_whole_as_they_are_shown(suffix, frames, tmp_path):
    data = saved(suffix, frames, loop=2)
    pages, found = read(data)
    wanted, shown, _ = by_pillow(data)
    for (got, milliseconds), frame, each in zip(found, wanted, shown, strict=True):
        assert milliseconds == each
        assert got.alpha is None
        assert len(got.planes) == (1 if frames is GRAY else 3)
        np.testing.assert_array_equal(np.broadcast_to(interleaved(got), frame.shape), frame)
    assert pages.plays == (3 if suffix == ".gif" else 2)  # a GIF says how often it is repeated
    (tmp_path / "x").write_bytes(data)
    assert measure(tmp_path / "x").pages == 4


def test_a_gif_without_repetition_is_played_once():
    assert read(saved(".gif", GRAY))[0].plays == 1
    assert read(saved(".gif", GRAY, loop=0))[0].plays == 0


def test_transparency_is_alpha():
    frames = [np.dstack([frame, np.full(frame.shape[:2], 60 + i * 60, np.uint8)]) for i, frame in enumerate(COLOR)]
    for suffix in (".png", ".webp"):
        data = saved(suffix, frames)
        with Image.open(io.BytesIO(data)) as image:
            wanted = [np.asarray(frame.convert("RGBA")) for frame in ImageSequence.Iterator(image)]
        for (got, _), frame in zip(read(data)[1], wanted, strict=True):
            np.testing.assert_array_equal(interleaved(got), frame)


def test_some_frames_are_chosen_and_the_default_image_is_none_of_them():
    data = saved(".png", GRAY, default_image=True, duration=SHOWN[1:])
    pages, found = read(data, "2-3")
    assert pages.left_out == ("the default image",)
    np.testing.assert_array_equal([got.planes[0] for got, _ in found], GRAY[2:])
    assert interleaved(opened(data, "x", Asked.parse("1"))).squeeze().tolist() == GRAY[1].tolist()


@pytest.mark.parametrize("suffix", [".gif", ".webp"])
def test_all_chosen_frames_have_color_if_one_of_them_has(suffix):
    in_gray = np.repeat(GRAY[..., None], 3, axis=-1)
    data = saved(suffix, [COLOR[0], *in_gray[1:]])
    assert [len(got.planes) for got, _ in read(data)[1]] == [3, 3, 3, 3]
    assert [len(got.planes) for got, _ in read(data, "2-4")[1]] == [1, 1, 1]


def test_the_frames_of_a_png_with_a_palette_have_color_if_one_of_them_has():
    gray, color = [Image.fromarray(frame // 128 * 128 + shift) for frame, shift in ((GRAY[0], 0), (GRAY[1], 1))]
    for image in gray, color:
        image.putpalette([0, 0, 0, 255, 0, 0, *[9] * 378, 9, 9, 9, 0, 255, 0])
    file = io.BytesIO()
    gray.save(file, "PNG", save_all=True, append_images=[color])
    assert [len(got.planes) for got, _ in read(file.getvalue())[1]] == [3, 3]


def test_the_gray_that_a_png_calls_transparent_is_so_in_each_frame():
    _, found = read(saved(".png", GRAY, transparency=int(GRAY[0, 0, 0])))
    for (got, _), frame in zip(found, GRAY, strict=True):
        np.testing.assert_array_equal(got.alpha, np.where(frame == GRAY[0, 0, 0], 0, 255))


def test_frames_are_turned_upright_and_the_first_one_has_the_metadata_of_all():
    tags = Image.Exif()
    tags[ExifTags.Base.Orientation] = 6  # to be turned to the right
    _, found = read(saved(".png", GRAY, exif=tags.tobytes()))
    for (got, _), frame in zip(found, GRAY, strict=True):
        np.testing.assert_array_equal(got.planes[0], np.rot90(frame, -1))
    assert [got.metadata is None for got, _ in found] == [False, True, True, True]
    assert found[0][0].metadata.exif


def test_frames_of_16_bit_color_are_said_to_lose_their_low_bytes():
    rows = zlib.compress(b"\0\1\2\3\4\5\6" * 2)  # two rows of one pixel: 0x0102, 0x0304, 0x0506

    def frame(number):
        return b"fcTL", struct.pack(">5I2H2B", number, 1, 2, 0, 0, 1, 10, 0, 0)

    head, count = png_header(1, 2, bits=16, color_type=2), (b"acTL", struct.pack(">II", 2, 0))
    more = (b"IDAT", rows), frame(1), (b"fdAT", struct.pack(">I", 2) + rows), (b"IEND", b"")
    pages, found = read(png(head, count, frame(0), *more))
    assert pages.left_out == ("the low bytes of 16-bit color",)
    assert [got.planes[:, 1, 0].tolist() for got, _ in found] == [[1, 3, 5], [1, 3, 5]]


def test_what_filters_counts_for_the_memory_of_a_frame():
    pages = opened(saved(".gif", np.zeros((4, 600, 500), np.uint8) + np.arange(4, dtype=np.uint8)[:, None, None]), "x")
    with pytest.raises(TooLargeError, match=r"^x, page 1: 500 x 600 pixels take 1,000,000,000,000 bytes"):
        pages.read(0, lambda _: 10**12)


@pytest.mark.parametrize("suffix", FORMATS)
def test_an_animation_that_is_cut_off_is_never_taken_for_a_shorter_one(suffix):
    data = saved(suffix, GRAY)
    for length in range(100, len(data), 23):
        with pytest.raises(ReadError):
            read(data[:length])


@pytest.mark.parametrize("asked", [None, "4"])
def test_a_frame_that_is_said_to_be_larger_than_its_file_can_hold_takes_no_memory(asked):
    data = saved(".gif", GRAY)
    head = struct.pack("<BHHHH", 0x2C, 0, 0, 30, 20)
    third = [match.start() for match in re.finditer(re.escape(head), data)][2]
    data = data[:third] + struct.pack("<BHHHH", 0x2C, 0, 0, 60000, 50000) + data[third + len(head) :]
    with pytest.raises(ReadError, match=r"x, page \d: .* cannot hold the 60000 x 50000 pixels"):
        read(data, asked)


def test_the_frame_that_is_missing_has_its_number():
    data = saved(".gif", GRAY)
    with pytest.raises(ReadError, match=r"x: page 4 is missing, .* --pages -3"):
        read(data[:-50])
    _, found = read(data[:-50], "-3")
    np.testing.assert_array_equal([got.planes[0] for got, _ in found], GRAY[:3])
    with pytest.raises(ReadError, match=r"x: page 4 is missing"):
        read(saved(".png", GRAY)[:-50])
    with pytest.raises(ReadError, match=r"^x: cannot be decoded .* damaged or cut off$"):
        read(saved(".webp", GRAY)[:-50])
    with pytest.raises(ReadError, match=r"^x: page 1 is missing, the file ends before it; get a whole copy of it$"):
        read(saved(".png", GRAY)[:200])


def test_a_byte_between_the_blocks_of_a_gif_is_no_frame_and_no_end():
    data = saved(".gif", GRAY)
    second = data.index(b"!\xf9\4", data.index(b"!\xf9\4") + 1)
    _, found = read(data[:second] + b"\0" + data[second:])
    np.testing.assert_array_equal([got.planes[0] for got, _ in found], GRAY)


def test_the_frames_of_a_png_are_counted_by_its_chunks():
    data = bytearray(saved(".png", GRAY))
    at = data.index(b"acTL") + 4
    struct.pack_into(">I", data, at, 5)
    struct.pack_into(">I", data, at + 8, zlib.crc32(data[at - 4 : at + 8]))
    assert frames_of(bytes(data), "PNG", 5) == (4, True)


# Writing


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("plays", [0, 1, 7])
def test_pillow_reads_what_is_joined(suffix, plays):
    data = saved(".png", GRAY)
    pages, found = read(data)
    made = joined(suffix, [got for got, _ in found], [shown for _, shown in found], plays)
    frames, shown, loop = by_pillow(made)
    np.testing.assert_array_equal([frame[..., 0] for frame in frames], GRAY)
    assert shown == SHOWN
    assert loop == (plays if suffix != ".gif" else {0: 0, 1: None, 7: 6}[plays])
    assert len(pages) == 4


@pytest.mark.parametrize("suffix", [".png", ".webp"])
def test_metadata_and_alpha_are_joined_once(suffix):
    given = picture(channels=3, alpha=True)
    file = io.BytesIO()
    profile = b"profile " * 20
    Image.fromarray(interleaved(given)).save(file, suffix[1:], icc_profile=profile, exif=b"Exif\0\0II*\0" + bytes(8))
    first = opened(file.getvalue(), "x")
    first.metadata = Metadata(profile=profile, exif=b"II*\0\x08\0\0\0" + bytes(6), xmp=b"<x/>")
    made = joined(suffix, [first, given], [10, 20])
    with Image.open(io.BytesIO(made)) as image:
        assert image.n_frames == 2
        assert image.info["icc_profile"] == profile
        assert "exif" in image.info
        assert image.info["xmp"] == b"<x/>"
        image.seek(1)
        np.testing.assert_array_equal(np.asarray(image.convert("RGBA"))[..., 3], given.alpha)


@pytest.mark.parametrize("frames", [GRAY[:, None], COLOR.transpose(0, 3, 1, 2)], ids=["gray", "color"])
def test_the_frames_of_a_gif_are_transparent_each_by_itself(frames):
    alpha = np.where(RNG.random((4, 20, 30)) < 0.3, 0, 255).astype(np.uint8)
    alpha[2] = 255
    pictures = [Picture(planes, clear, 255, "GIF") for planes, clear in zip(frames, alpha, strict=True)]
    with Image.open(io.BytesIO(joined(".gif", pictures, SHOWN))) as image:
        for frame, planes, clear in zip(ImageSequence.Iterator(image), frames, alpha, strict=True):
            colors, got = np.split(np.asarray(frame.convert("RGBA")), [3], axis=2)
            assert (got[..., 0] == clear).all()
            # Of 256 grays one is spent, whose pixels become the next gray.
            off = np.abs(
                colors[clear > 0].astype(int) - np.broadcast_to(planes, (3, 20, 30)).transpose(1, 2, 0)[clear > 0]
            )
            assert off.max() <= (1 if len(planes) == 1 else 0)


@pytest.mark.parametrize("milliseconds", [0, 1000 / 30, 41.7, 65535, 70000.5, 10_000_000])
def test_a_png_shows_a_frame_as_long_as_it_says(milliseconds):
    made = joined(".png", [picture()] * 2, [milliseconds] * 2)
    wanted = min(milliseconds, 65_535_000)
    assert by_pillow(made)[1][0] == pytest.approx(wanted, rel=1e-4, abs=0.5 if wanted > 65535 else 0.01)


def test_the_comment_of_a_gif_is_joined_once():
    pages = [picture(), picture()]
    for each in pages:
        each.metadata = Metadata(text={"Comment": "a cat"})
    made = joined(".gif", pages, [10, 20])
    assert made.count(b"a cat") == 1
    assert Image.open(io.BytesIO(made)).info["comment"] == b"a cat"


@pytest.mark.parametrize(("suffix", "longest", "most"), [(".gif", 655_350, 65535), (".webp", (1 << 24) - 1, 65535)])
def test_what_a_format_cannot_count_is_the_most_that_it_can(suffix, longest, most):
    _, shown, loop = by_pillow(joined(suffix, [picture(), picture()], [1e9, 20], plays=70_000))
    assert (shown, loop) == ([longest, 20], most)


@pytest.mark.parametrize("alpha", [None, GRAY[3]])
def test_less_quality_makes_a_webp_smaller_and_alpha_stays(alpha):
    pictures = [Picture(frame.transpose(2, 0, 1), alpha, 255, "PNG") for frame in COLOR[:2]]
    best, worst = (joined(".webp", pictures, [10, 10], coding=Coding(quality=quality)) for quality in (95, 10))
    assert len(worst) < len(best)
    assert Image.open(io.BytesIO(worst)).mode == ("RGB" if alpha is None else "RGBA")
    for got, _ in read(worst)[1]:
        np.testing.assert_array_equal(got.alpha, alpha)


def test_16_bits_of_gray_stay_in_a_png():
    given = [picture(dtype=np.uint16), picture(dtype=np.uint16)]
    given[1].planes = given[1].planes[:, ::-1] // 3
    _, found = read(joined(".png", given, [10, 20]))
    for (got, _), wanted in zip(found, given, strict=True):
        np.testing.assert_array_equal(got.planes, wanted.planes)


# What is refused


def test_pages_of_an_animation_are_alike():
    with pytest.raises(WriteError, match=r"x.gif: page 2 is 3 x 2 color, 8 bits, page 1 3 x 2 gray, 8 bits"):
        check_page(picture(channels=3), 2, picture(), ".gif", "x.gif")
    with pytest.raises(
        WriteError, match=r"page 2 is 3 x 2 gray with alpha, 16 bits, page 1 3 x 2 gray, 8 bits: .*.tif"
    ):
        check_page(picture(alpha=True, dtype=np.uint16), 2, picture(), ".png", "x.png")
    check_page(picture(channels=3), 2, picture(), ".tif", "x.tif")


def test_a_page_that_does_not_fit_is_named():
    with pytest.raises(WriteError, match=r"^x.gif: page 2: .gif holds no pixels that are partly transparent"):
        check_page(picture(alpha=True), 2, picture(), ".gif", "x.gif")


@pytest.mark.parametrize("name", ["x.jpg", "x.pgm", "x.bmp"])
def test_a_format_that_holds_one_page_is_refused(name):
    with pytest.raises(
        ParameterError,
        match=r"holds one page, and there are 4; give --pages 1, or write .png, .tif, .npy, .fits, .webp or .gif",
    ):
        suffix_of_pages(name, None, 4)


@pytest.mark.parametrize("suffix", FORMATS)
def test_pages_without_durations_are_shown_for_a_tenth_of_a_second(suffix):
    pictures = [Picture(frame[None], None, 255, "TIFF") for frame in GRAY[:2]]
    assert by_pillow(joined(suffix, pictures, [None, None]))[1] == [100, 100]
