"""Color profile, EXIF, resolution and text travel with the picture, as far as a format can hold them."""

from __future__ import annotations

import os

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import ExifTags, Image, ImageCms, PngImagePlugin

from fftfilter.cli import cli
from fftfilter.images import read, write
from fftfilter.images.metadata import gather

SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
GRAY = b"\0" * 12 + b"mntrGRAYXYZ " + b"\0" * 104
XMP = b"<x:xmpmeta xmlns:x='adobe:ns:meta/'><!-- rated \xe2\x98\x85 --></x:xmpmeta>"
TEXT = {"Title": "A cat", "Author": "Ch\xe9rie", "Comment": "\u732b on a mat"}


@pytest.fixture
def run():
    def run(*arguments):
        result = CliRunner().invoke(cli, [str(a) for a in arguments])
        return result.exit_code, result.stdout, result.stderr

    return run


def exif():
    tags = Image.Exif()
    tags[ExifTags.Base.Make] = "Camera & Sons"
    tags[ExifTags.Base.Orientation] = 6
    tags.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.ISOSpeedRatings] = 400
    tags.get_ifd(ExifTags.IFD.GPSInfo)[ExifTags.GPS.GPSLatitudeRef] = "N"
    return tags


def make(path, image=None):
    """Write an image with all that its format can hold."""
    image = image or Image.fromarray(np.arange(600, dtype=np.uint8).reshape(10, 20, 3))
    text = PngImagePlugin.PngInfo()
    for name, words in TEXT.items():
        text.add_text(name, words)
    text.add_itxt("XML:com.adobe.xmp", XMP.decode())
    tags = exif()
    if path.suffix in (".tif", ".tiff"):
        del tags[ExifTags.Base.Orientation]  # Pillow would turn the picture
        tags[700] = XMP
    kinds = {".png": {"pnginfo": text}, ".jpg": {"comment": TEXT["Comment"].encode()}}
    image.save(path, icc_profile=SRGB, exif=tags.tobytes(), dpi=(300, 150), xmp=XMP, **kinds.get(path.suffix, {}))
    return path


def told(path):
    """Return what Pillow finds in a file."""
    with Image.open(path) as image:
        # Before loading: Pillow turns a TIFF and forgets why.
        tags = image.getexif()
        found = {
            "profile": image.info.get("icc_profile", b""),
            "make": tags.get(ExifTags.Base.Make),
            "orientation": tags.get(ExifTags.Base.Orientation),
            "iso": tags.get_ifd(ExifTags.IFD.Exif).get(ExifTags.Base.ISOSpeedRatings),
            "gps": tags.get_ifd(ExifTags.IFD.GPSInfo).get(ExifTags.GPS.GPSLatitudeRef),
            "dpi": tuple(round(float(number)) for number in image.info.get("dpi", ())),
            "xmp": image.info.get("xmp", b""),
        }
        image.load()
    return found


FORMATS = (".png", ".jpg", ".tif", ".webp", ".avif")


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("source", FORMATS)
def test_everything_travels_between_formats(run, tmp_path, source, target):
    given, out = make(tmp_path / f"in{source}"), tmp_path / f"out{target}"
    assert run("lowpass", given, out) == (0, "", "")
    before, after = told(given), told(out)
    assert after["profile"] == SRGB
    assert (after["make"], after["iso"], after["gps"]) == ("Camera & Sons", 400, "N")
    assert after["orientation"] == before["orientation"]
    if before["dpi"] and target not in (".webp", ".avif"):
        assert after["dpi"] == (300, 150)
    assert before["xmp"] == after["xmp"] == XMP


def test_text_of_a_png_stays_and_its_comment_reaches_a_jpeg(run, tmp_path):
    given = make(tmp_path / "in.png")
    assert run("highpass", given, tmp_path / "out.png")[0] == 0
    with Image.open(tmp_path / "out.png") as image:
        assert {name: str(words) for name, words in image.text.items() if name in TEXT} == TEXT
        assert list(image.text) == [*TEXT, "XML:com.adobe.xmp"]
    assert run("highpass", given, tmp_path / "out.jpg")[0] == 0
    with Image.open(tmp_path / "out.jpg") as image:
        assert image.info["comment"].decode() == TEXT["Comment"]
    assert run("highpass", given, tmp_path / "out.tif")[0] == 0
    with Image.open(tmp_path / "out.tif") as image:
        assert image.getexif()[ExifTags.Base.Artist]


@pytest.mark.parametrize("channels", [2, 3, 4])
@pytest.mark.parametrize("target", [".png", ".tif"])
def test_sixteen_bit_color_has_it_too(tmp_path, channels, target):
    picture = read(make(tmp_path / "in.png"))
    picture.planes = np.full((3 if channels > 2 else 1, 10, 20), 1000, np.uint16)
    picture.alpha = np.full((10, 20), 9, np.uint16) if channels % 2 == 0 else None
    picture.maxval = 65535
    write(picture, tmp_path / f"out{target}")
    found = told(tmp_path / f"out{target}")
    assert (found["make"], found["iso"], found["gps"]) == ("Camera & Sons", 400, "N")
    assert (found["dpi"], found["xmp"]) == ((300, 150), XMP)
    assert found["profile"] == (b"" if (channels, target) == (2, ".tif") else SRGB)
    got = read(tmp_path / f"out{target}").planes
    assert got.shape[1:] == ((20, 10) if target == ".tif" else (10, 20))  # Pillow turns a TIFF
    assert (got == 1000).all()


@pytest.mark.parametrize("target", FORMATS)
def test_strip_drops_all_of_it(run, tmp_path, target):
    assert run("lowpass", "--strip", make(tmp_path / "in.png"), tmp_path / f"out{target}")[0] == 0
    found = told(tmp_path / f"out{target}")
    assert found | {"dpi": ()} == dict.fromkeys(found) | {"profile": b"", "xmp": b"", "dpi": ()}
    assert b"on a mat" not in (tmp_path / f"out{target}").read_bytes()


def test_a_profile_of_another_color_space_stays_behind(tmp_path):
    image = Image.new("CMYK", (4, 4), (0, 90, 90, 10))
    image.save(tmp_path / "in.jpg", icc_profile=SRGB.replace(b"RGB ", b"CMYK", 1))
    assert read(tmp_path / "in.jpg").metadata.profile == b""
    Image.new("L", (4, 4)).save(tmp_path / "rgb.png", icc_profile=SRGB)
    assert read(tmp_path / "rgb.png").metadata.profile == b""
    Image.new("L", (4, 4)).save(tmp_path / "gray.png", icc_profile=GRAY)
    assert read(tmp_path / "gray.png").metadata.profile == GRAY


def test_the_thumbnail_of_the_unfiltered_picture_stays_behind(tmp_path):
    tags = bytearray(exif().tobytes().removeprefix(b"Exif\0\0"))
    # A second list of tags at the end: that is where a camera has its thumbnail.
    order = "little" if tags[:2] == b"II" else "big"
    start = int.from_bytes(tags[4:8], order)
    link = start + 2 + 12 * int.from_bytes(tags[start : start + 2], order)
    end = len(tags) + len(tags) % 2
    tags[link : link + 4] = end.to_bytes(4, order)
    tags = tags.ljust(end, b"\0") + (0).to_bytes(6, order)
    Image.new("L", (8, 8)).save(tmp_path / "in.jpg", exif=b"Exif\0\0" + bytes(tags))
    kept = read(tmp_path / "in.jpg").metadata.exif
    assert kept[link : link + 4] == bytes(4)
    assert kept[:link] == tags[:link]
    assert kept[link + 4 :] == tags[link + 4 :]


@pytest.mark.parametrize("damaged", [b"", b"II", b"MM\0*\xff\xff\xff\xff", b"rubbish" * 9, b"II*\0\x08\0\0\0\xff\xff"])
def test_damaged_exif_stays_behind(run, tmp_path, damaged):
    image = Image.new("L", (8, 8), 7)
    image.save(tmp_path / "in.webp", exif=b"Exif\0\0" + damaged)
    assert read(tmp_path / "in.webp").metadata.exif == b""
    for target in FORMATS:
        assert run("lowpass", tmp_path / "in.webp", tmp_path / f"out{target}")[0] == 0


@pytest.mark.parametrize("dpi", [(0, 0), (1, 1), (-5, 72), (float("inf"), 72), (1e30, 1e30)])
def test_an_absurd_resolution_stays_behind(dpi):
    image = Image.new("L", (8, 8), 7)
    image.info["dpi"] = dpi
    assert gather(image, 1).dpi is None


def test_more_than_a_jpeg_can_hold_stays_behind(run, tmp_path):
    text = PngImagePlugin.PngInfo()
    text.add_text("Comment", "x" * 70000)
    tags = exif()
    tags[ExifTags.Base.ImageDescription] = "y" * 70000
    Image.new("L", (8, 8), 7).save(tmp_path / "in.png", pnginfo=text, exif=tags)
    assert run("lowpass", tmp_path / "in.png", tmp_path / "out.jpg") == (0, "", "")
    assert told(tmp_path / "out.jpg")["make"] is None
    assert run("lowpass", tmp_path / "in.png", tmp_path / "out.png") == (0, "", "")
    assert (tmp_path / "out.png").stat().st_size > 140000


def test_a_spectrum_is_no_picture_of_a_place(run, tmp_path):
    assert run("spectrum", make(tmp_path / "in.jpg"), tmp_path / "out.jpg")[0] == 0
    assert told(tmp_path / "out.jpg")["make"] is None


def test_times_are_those_of_the_input(run, tmp_path):
    given = make(tmp_path / "in.png")
    os.utime(given, ns=(1_000_000_000_123_456_789, 1_200_000_000_987_654_321))
    assert run("lowpass", "--preserve-times", given, tmp_path / "out.png") == (0, "", "")
    assert (tmp_path / "out.png").stat().st_mtime_ns == 1_200_000_000_987_654_321
    code, _, said = run("lowpass", "--preserve-times", given, "-")
    assert (code, "--preserve-times" in said) == (2, True)


def test_png_level(run, tmp_path):
    noise = np.random.default_rng(1).integers(0, 32, (64, 64), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "in.png")
    sizes = []
    for level in (0, 1, 9):
        assert run("lowpass", "--png-level", level, tmp_path / "in.png", tmp_path / "out.png")[0] == 0
        sizes.append((tmp_path / "out.png").stat().st_size)
    assert sizes[0] > sizes[1] >= sizes[2]
    assert run("lowpass", "--png-level", "11", tmp_path / "in.png", tmp_path / "out.png")[0] == 2
