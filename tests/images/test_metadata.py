"""Color profile, EXIF, resolution and text go along with the picture, as far as a format can hold them."""

from __future__ import annotations

import io
import re
import struct
import zlib
from dataclasses import replace

import numpy as np
import pytest
import tifffile
from PIL import ExifTags, Image, ImageCms, ImageOps, PngImagePlugin

from fftfilter import filter_stack
from fftfilter import transfer as H
from fftfilter.images import Coding, Picture, decode, measure, opened, read, write
from fftfilter.images.metadata import Metadata, gather
from fftfilter.images.png_writer import chunk, chunks_of
from tests.helpers import COMMAND
from tests.images.helpers import png, png_header

SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
GRAY = b"\0" * 12 + b"mntrGRAYXYZ " + b"\0" * 104
XMP = b"<x:xmpmeta xmlns:x='adobe:ns:meta/'><!-- rated \xe2\x98\x85 --></x:xmpmeta>"
TEXT = {"Title": "A cat", "Author": "Ch\xe9rie", "Comment": "\u732b on a mat"}


IPTC = b"\x1c\x02\x05\x00\x03cat"


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


def found_in(path):
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
def test_everything_goes_along_between_formats(tmp_path, source, target):
    given, out = make(tmp_path / f"in{source}"), tmp_path / f"out{target}"
    write(read(given), out)
    before, after = found_in(given), found_in(out)
    assert after["profile"] == SRGB
    assert (after["make"], after["iso"], after["gps"]) == ("Camera & Sons", 400, "N")
    assert after["orientation"] in (None, 1)
    if before["dpi"] and target not in (".webp", ".avif"):
        assert after["dpi"] == ((300, 150) if source == ".tif" else (150, 300))  # the others are turned upright
    assert before["xmp"] == after["xmp"] == XMP


@pytest.mark.parametrize("png_level", [0, 1, 6])
def test_text_of_a_png_stays(tmp_path, png_level):
    """Whether our writer or Pillow's makes the file."""
    write(read(make(tmp_path / "in.png")), tmp_path / "out.png", coding=Coding(png_level))
    with Image.open(tmp_path / "out.png") as image:
        assert {name: str(words) for name, words in image.text.items() if name in TEXT} == TEXT
        assert list(image.text) == [*TEXT, "XML:com.adobe.xmp"]
    assert (tmp_path / "out.png").read_bytes().count(b"XML:com.adobe.xmp") == 1


def test_text_that_a_png_may_not_have_is_made_to_fit(tmp_path):
    Image.new("L", (8, 8)).save(tmp_path / "in.gif", comment=b"a\0b")
    write(read(tmp_path / "in.gif"), tmp_path / "out.png")
    with Image.open(tmp_path / "out.png") as image:
        assert image.text == {"Comment": "a b"}
    picture = read(tmp_path / "out.png")
    picture.metadata = Metadata(text={"k" * 100: "a cat"})
    write(picture, tmp_path / "out.png")
    with Image.open(tmp_path / "out.png") as image:
        assert image.text == {"k" * 79: "a cat"}


def test_the_layout_of_a_tiff_stays_behind(tmp_path):
    write(read(make(tmp_path / "in.tif")), tmp_path / "out.jpg")
    with Image.open(tmp_path / "out.jpg") as image:
        assert {256, 257, 258, 273, 279} & set(image.getexif()) == set()


# By TIFF 6.0, its two supplements and the technote of 1995: how samples lie in the file, and JPEG's tables.
LAYOUT = (
    *range(254, 260), *range(262, 267), 273, *range(277, 282), 284, 292, 293, 301, 317, *range(320, 326), 330,
    *range(332, 335), *range(336, 343), 347, *range(512, 516), *range(517, 522), *range(529, 533),
)  # fmt: skip


def test_no_tag_of_a_tiffs_layout_goes_into_another_file(tmp_path):
    own = {256, 257, 258, 259, 262, 273, 277, 278, 279}
    extra = [(tag, "H", 1, 1, True) for tag in LAYOUT if tag not in own | {266, 284, 317, 330, *range(322, 326), 347}]
    extra.append((int(ExifTags.Base.Make), "s", 0, "Camera", True))
    tifffile.imwrite(tmp_path / "in.tif", np.zeros((3, 4), np.uint8), extratags=extra, metadata=None, software="")
    write(read(tmp_path / "in.tif"), tmp_path / "out.png")
    with Image.open(tmp_path / "out.png") as image:
        assert dict(image.getexif()) == {ExifTags.Base.Make: "Camera"}


def test_no_tag_of_a_layout_in_exif_goes_into_a_tiff(tmp_path):
    tags = Image.Exif()
    for tag in LAYOUT:
        tags[tag] = 7
    tags[ExifTags.Base.Make] = "Camera"
    Image.new("L", (4, 3)).save(tmp_path / "in.png", exif=tags)
    write(read(tmp_path / "in.png"), tmp_path / "out.tif")
    with tifffile.TiffFile(tmp_path / "out.tif") as tiff:
        found = {tag.code: tag.value for tag in tiff.pages.first.tags}
    assert found.pop(ExifTags.Base.Make) == "Camera"
    assert [tag for tag, value in found.items() if value in (7, (7,))] == []


def test_a_bmp_has_a_resolution(tmp_path):
    write(read(make(tmp_path / "in.png")), tmp_path / "out.bmp")
    assert found_in(tmp_path / "out.bmp")["dpi"] == (150, 300)


def test_text_of_a_png_is_a_comment_in_a_jpeg_and_tags_in_a_tiff(tmp_path):
    given = read(make(tmp_path / "in.png"))
    write(given, tmp_path / "out.jpg")
    with Image.open(tmp_path / "out.jpg") as image:
        assert image.info["comment"].decode() == TEXT["Comment"]
    assert write(given, tmp_path / "out.tif") == ["text"]
    with Image.open(tmp_path / "out.tif") as image:
        assert image.getexif()[ExifTags.Base.Artist] == TEXT["Author"]


@pytest.mark.parametrize(("written", "wanted"), [("\u732b".encode(), "\u732b"), (b"caf\xe9", "caf\xe9")])
def test_a_comment_is_utf_8_or_latin_1(tmp_path, written, wanted):
    Image.new("L", (8, 8)).save(tmp_path / "in.jpg", comment=written)
    assert read(tmp_path / "in.jpg").metadata.text == {"Comment": wanted}


@pytest.mark.parametrize(("target", "channels"), [(".png", 2), (".png", 3), (".png", 4), (".tif", 3), (".tif", 4)])
def test_sixteen_bit_color_has_it_too(tmp_path, channels, target):
    picture = read(make(tmp_path / "in.png"))
    picture.planes = np.full((3 if channels > 2 else 1, 20, 10), 1000, np.uint16)
    picture.alpha = np.full((20, 10), 9, np.uint16) if channels % 2 == 0 else None
    picture.maxval = 65535
    write(picture, tmp_path / f"out{target}")
    found = found_in(tmp_path / f"out{target}")
    assert (found["make"], found["iso"], found["gps"]) == ("Camera & Sons", 400, "N")
    assert (found["dpi"], found["xmp"], found["profile"]) == ((150, 300), XMP, SRGB)
    got = read(tmp_path / f"out{target}").planes
    assert got.shape[1:] == (20, 10)
    assert (got == 1000).all()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_alpha_is_turned_with_its_picture(orientation):
    tags = Image.Exif()
    tags[ExifTags.Base.Orientation] = orientation
    ramp = np.arange(6, dtype=np.uint8).reshape(2, 3)
    file = io.BytesIO()
    Image.fromarray(np.dstack([ramp, ramp, ramp, 100 + ramp])).save(file, "PNG", exif=tags.tobytes())
    got = decode(file.getvalue(), "x")
    upright = np.asarray(ImageOps.exif_transpose(Image.open(file)))
    np.testing.assert_array_equal(got.planes[0], upright[..., 0])
    np.testing.assert_array_equal(got.alpha, upright[..., 3])


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_picture_is_turned_upright_and_its_other_tags_stay_as_they_are(tmp_path, orientation, order):
    image, tags = Image.fromarray(np.arange(6, dtype=np.uint8).reshape(2, 3)), exif()
    tags.endian, tags[ExifTags.Base.Orientation] = order, orientation
    image.save(tmp_path / "in.png", exif=tags)
    upright = np.asarray(ImageOps.exif_transpose(Image.open(tmp_path / "in.png")))
    picture = read(tmp_path / "in.png")
    assert measure(tmp_path / "in.png")[:2] == upright.shape[::-1]
    for target in "out.pgm", "out.bmp", "out.png":
        write(picture, tmp_path / target)
        with Image.open(tmp_path / target) as made:
            np.testing.assert_array_equal(np.asarray(ImageOps.exif_transpose(made)), upright)
    given = tags.tobytes().removeprefix(b"Exif\0\0")
    changed = [i for i, (one, other) in enumerate(zip(given, picture.metadata.exif, strict=True)) if one != other]
    assert len(changed) == (orientation != 1)


def test_what_stays_behind_is_said(tmp_path):
    given = read(make(tmp_path / "in.png"))
    assert write(given, tmp_path / "out.png") == []
    assert write(given, tmp_path / "out.bmp") == ["color profile", "EXIF", "XMP", "text"]
    given.metadata = replace(given.metadata, exif=bytes(70000))
    assert write(given, tmp_path / "out.jpg") == ["EXIF", "text"]


@pytest.mark.parametrize("iptc", [IPTC, IPTC + b"s"], ids=["even", "odd"])
def test_iptc_stays_in_a_jpeg_without_photoshop_s_thumbnail(tmp_path, iptc):
    def resource(number, content):
        return b"8BIM" + struct.pack(">HHI", number, 0, len(content)) + content + bytes(len(content) % 2)

    def found(path):
        with Image.open(path) as image:
            return image.info["photoshop"]

    content = b"Photoshop 3.0\0" + resource(1036, b"unfiltered") + resource(0x0404, iptc)
    marker = b"\xff\xed" + struct.pack(">H", 2 + len(content)) + content
    Image.new("L", (8, 8)).save(tmp_path / "in.jpg", extra=marker)
    assert found(tmp_path / "in.jpg").keys() == {1036, 0x0404}
    picture = read(tmp_path / "in.jpg")
    assert write(picture, tmp_path / "out.jpg") == ["Photoshop's resources"]
    assert found(tmp_path / "out.jpg") == {0x0404: iptc}
    assert resource(0x0404, iptc) + b"\xff" in (tmp_path / "out.jpg").read_bytes()  # padded to an even length
    assert write(picture, tmp_path / "out.png") == ["Photoshop's resources", "IPTC"]
    picture.metadata = replace(picture.metadata, iptc=bytes(65510))
    assert write(picture, tmp_path / "out.jpg") == ["Photoshop's resources", "IPTC"]


@pytest.mark.parametrize("png_level", [1, 6])
@pytest.mark.parametrize("is_srgb", [False, True], ids=["gamma", "sRGB"])
def test_what_a_png_says_of_its_colors_stays(tmp_path, png_level, is_srgb):
    chunks = {b"gAMA": struct.pack(">I", 31_270), b"cHRM": struct.pack(">8I", *range(31270, 31278))}
    chunks |= {b"sRGB": b"\1"} if is_srgb else {}
    raster = zlib.compress(bytes(3 * 5))
    parts = [png_header(4, 3), *chunks.items(), (b"IDAT", raster), (b"IEND", b"")]
    (tmp_path / "in.png").write_bytes(png(*parts))
    picture = read(tmp_path / "in.png")
    assert write(picture, tmp_path / "out.png", coding=Coding(png_level)) == []
    written = (tmp_path / "out.png").read_bytes()
    for kind, content in chunks.items():
        assert 0 < written.index(kind + content) < written.index(b"IDAT")
    assert write(picture, tmp_path / "out.tif") == ([] if is_srgb else ["color space"])
    (tmp_path / "in.png").write_bytes(written)
    assert read(tmp_path / "in.png").metadata == picture.metadata


@pytest.mark.parametrize("suffix", [".jpg", ".tif"])
def test_cmyk_and_its_profile_are_said_to_stay_behind(tmp_path, suffix):
    profile = SRGB.replace(b"RGB ", b"CMYK", 1)
    Image.new("CMYK", (4, 4), (0, 90, 90, 10)).save(tmp_path / f"in{suffix}", icc_profile=profile)
    picture = read(tmp_path / f"in{suffix}")
    for given in picture, picture.stripped():
        left_out = write(given, tmp_path / f"out{suffix}")
        assert left_out == ["CMYK colors (converted to RGB)", "color profile"]


def test_colors_of_lab_are_said_to_be_converted(tmp_path):
    Image.new("LAB", (4, 4)).save(tmp_path / "in.tif")
    assert write(read(tmp_path / "in.tif"), tmp_path / "out.tif") == ["LAB colors (converted to RGB)"]


def test_metadata_are_never_the_reason_of_a_failure(tmp_path):
    picture = read(make(tmp_path / "in.png"))
    picture.metadata = replace(picture.metadata, dpi=(float("inf"), 72.0))
    assert write(picture, tmp_path / "out.png") == ["metadata"]
    assert read(tmp_path / "out.png").planes.shape == (3, 20, 10)  # and upright


@pytest.mark.parametrize("target", FORMATS)
def test_without_metadata_nothing_of_it_is_written(tmp_path, target):
    picture = read(make(tmp_path / "in.png"))
    picture.metadata = None
    write(picture, tmp_path / f"out{target}")
    found = found_in(tmp_path / f"out{target}")
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
    upright = exif()
    upright[ExifTags.Base.Orientation] = 1
    tags = bytearray(upright.tobytes().removeprefix(b"Exif\0\0"))
    # A second list of tags at the end: that is where a camera has its thumbnail.
    order = "little" if tags[:2] == b"II" else "big"
    start = int.from_bytes(tags[4:8], order)
    link = start + 2 + 12 * int.from_bytes(tags[start : start + 2], order)
    end = len(tags) + len(tags) % 2
    tags[link : link + 4] = end.to_bytes(4, order)
    tags = tags.ljust(end, b"\0") + (0).to_bytes(6, order)
    Image.new("L", (8, 8)).save(tmp_path / "in.jpg", exif=b"Exif\0\0" + bytes(tags))
    assert write(read(tmp_path / "in.jpg"), tmp_path / "out.jpg") == ["thumbnail"]
    kept = read(tmp_path / "in.jpg").metadata.exif
    assert kept[link : link + 4] == bytes(4)
    assert kept[:link] == tags[:link]
    assert kept[link + 4 :] == tags[link + 4 :]


# What describes the file that was read, and not the output


def described(text, *, orientation=6):
    """Return XMP with an orientation and further text."""
    return f"""<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF><rdf:Description tiff:Orientation="{orientation}"
        dc:creator="me">{text}<dc:title>A cat</dc:title></rdf:Description></rdf:RDF></x:xmpmeta>"""


def sides_and_orientations(path):
    """Return all that a file says of its sides and of which one is up, in EXIF and in XMP."""
    with Image.open(path) as image:
        tags = image.getexif()
        group = tags.get_ifd(ExifTags.IFD.Exif)
        in_exif = tags.get(ExifTags.Base.Orientation), group.get(40962), group.get(40963)
        xmp = image.info["xmp"].decode()
        image.load()
    return in_exif, int(re.search(r'tiff:Orientation="(\d)"', xmp)[1]), image.size


@pytest.mark.parametrize("where", ["exif", "xmp", "both"])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp", ".tif"])
def test_the_sides_and_every_orientation_are_those_of_the_output(tmp_path, where, order, suffix):
    tags = Image.Exif()
    tags.endian, tags[ExifTags.Base.Make] = order, "Camera & Sons"
    tags.get_ifd(ExifTags.IFD.Exif).update({40962: 3, 40963: 2})
    if where != "xmp":
        tags[ExifTags.Base.Orientation] = 6
    xmp = described("").encode()
    if where == "exif":
        xmp = xmp.replace(b'tiff:Orientation="6"', b'tiff:Orientation="1"')
    text = PngImagePlugin.PngInfo()
    text.add_itxt("XML:com.adobe.xmp", xmp.decode())
    given = tmp_path / f"in{suffix if suffix != '.tif' else '.png'}"
    Image.fromarray(np.arange(6, dtype=np.uint8).reshape(2, 3)).save(given, exif=tags, xmp=xmp, pnginfo=text)
    assert measure(given)[:2] == (2, 3)
    assert write(read(given), tmp_path / f"out{suffix}") == []
    of_exif = (1 if where != "xmp" else None, 2, 3)
    found = sides_and_orientations(tmp_path / f"out{suffix}")
    assert found == ((found[0][0] and 1, *of_exif[1:]), 1, (2, 3))
    assert found[0][0] in ({1} if where != "xmp" else {1, None})  # Pillow takes that of XMP for EXIF's


@pytest.mark.parametrize("width", [65535, 65536])
def test_a_width_that_exif_cannot_say_takes_nothing_else_away(tmp_path, width):
    tags = Image.Exif()
    tags[ExifTags.Base.Make] = "Camera & Sons"
    tags.get_ifd(ExifTags.IFD.Exif)[40962] = 7  # two bytes
    Image.new("L", (width, 1)).save(tmp_path / "in.png", exif=tags)
    assert write(read(tmp_path / "in.png"), tmp_path / "out.png") == []
    with Image.open(tmp_path / "out.png") as image:
        found = image.getexif()
    assert found[ExifTags.Base.Make] == "Camera & Sons"
    assert found.get_ifd(ExifTags.IFD.Exif)[40962] == (width if width < 65536 else 7)


def test_a_tiff_that_is_turned_says_so_everywhere(tmp_path):
    tags = Image.Exif()
    tags[ExifTags.Base.Orientation], tags[700] = 6, described("").encode()
    tags.get_ifd(ExifTags.IFD.Exif).update({40962: 3, 40963: 2})
    Image.fromarray(np.arange(6, dtype=np.uint8).reshape(2, 3)).save(tmp_path / "in.tif", exif=tags.tobytes())
    assert write(read(tmp_path / "in.tif"), tmp_path / "out.tif") == []
    of_exif, of_xmp, size = sides_and_orientations(tmp_path / "out.tif")
    assert (of_exif[1:], of_xmp, size) == ((2, 3), 1, (2, 3))
    assert of_exif[0] in (None, 1)


@pytest.mark.parametrize(
    ("text", "when_turned"),
    [
        ("<hdrgm:GainMapMax>3</hdrgm:GainMapMax>", False),
        ("<xmp:Thumbnails>unfiltered</xmp:Thumbnails>", False),
        ("<mwg-rs:Area x='0.1'/>", True),
        ("<exif:PixelXDimension>3</exif:PixelXDimension>", True),
    ],
)
def test_xmp_of_other_pictures_or_of_sides_that_were_turned_stays_behind(tmp_path, text, when_turned):
    for orientation in 1, 6:
        xmp = described(text, orientation=orientation).encode()
        Image.new("L", (3, 2)).save(tmp_path / "in.jpg", xmp=xmp)
        kept = when_turned and orientation == 1
        assert write(read(tmp_path / "in.jpg"), tmp_path / "out.jpg") == ([] if kept else ["XMP"])
        assert Image.open(tmp_path / "out.jpg").info.get("xmp") == (xmp if kept else None)


@pytest.mark.parametrize("xmp", [b"<hdrgm:a>" * 400_000, b"<hdrgm:a b='" * 300_000, b"tiff:Orientation=" * 200_000])
def test_xmp_that_never_ends_takes_no_longer_than_it_is(tmp_path, xmp):
    made = Metadata(xmp=xmp)
    write(replace(picture_with(made)), tmp_path / "in.png")
    assert read(tmp_path / "in.png").planes.shape == (1, 8, 9)


def picture_with(metadata):
    return Picture(np.zeros((1, 8, 9), np.uint8), None, 255, "PNG", metadata)


@pytest.mark.parametrize("png_level", [1, 6])
def test_chunks_of_a_png_stay_or_are_said_to_be_left_out(tmp_path, png_level):
    stay = {b"cICP": bytes((9, 16, 0, 1)), b"mDCV": bytes(range(24)), b"gAMA": struct.pack(">I", 45455)}
    left_out = {b"sBIT": bytes((5, 6, 5)), b"cLLI": bytes(8), b"bKGD": bytes(6), b"tIME": bytes(7), b"caBX": b"signed"}
    parts = [png_header(4, 3), *stay.items(), *left_out.items(), (b"IDAT", zlib.compress(bytes(39))), (b"IEND", b"")]
    parts[0] = (b"IHDR", struct.pack(">IIBBBBB", 4, 3, 8, 2, 0, 0, 0))
    (tmp_path / "in.png").write_bytes(png(*parts))
    picture = read(tmp_path / "in.png")
    assert write(picture, tmp_path / "out.png", coding=Coding(png_level)) == [f"{k.decode()} of PNG" for k in left_out]
    written = (tmp_path / "out.png").read_bytes()
    found = {kind: written[start:end] for kind, start, end in chunks_of(written)}
    assert found.items() >= stay.items()
    assert not found.keys() & left_out.keys()
    assert "color space" in write(picture, tmp_path / "out.tif")
    (tmp_path / "in.png").write_bytes(png(*parts[:1], (b"cICP", b"\t"), *parts[-2:]))  # too short
    assert write(read(tmp_path / "in.png"), tmp_path / "out.png") == ["cICP of PNG"]


def test_an_animation_keeps_its_colors_and_says_what_it_lost(tmp_path):
    frames = [Image.new("RGB", (8, 8), (each, 0, 90)) for each in (10, 200)]
    frames[0].save(tmp_path / "in.png", save_all=True, append_images=frames[1:], duration=80, loop=3)
    data = (tmp_path / "in.png").read_bytes()
    chunks = b"".join((*chunk(b"cICP", bytes((9, 16, 0, 1))), *chunk(b"sBIT", bytes((5, 6, 5)))))
    (tmp_path / "in.png").write_bytes(data[:33] + chunks + data[33:])
    assert opened((tmp_path / "in.png").read_bytes(), "x").read(0).metadata.left_out == ("sBIT of PNG",)
    assert filter_stack(tmp_path / "in.png", tmp_path / "out.png", H.lowpass(2), **COMMAND) == 2
    written = (tmp_path / "out.png").read_bytes()
    assert {kind for kind, _, _ in chunks_of(written)} >= {b"cICP", b"acTL"}
    with Image.open(tmp_path / "out.png") as image:
        assert (image.n_frames, image.info["loop"], image.info["duration"]) == (2, 3, 80)


def test_exif_that_is_hidden_in_the_text_of_a_png_is_exif(tmp_path):
    raw = exif().tobytes()
    text = PngImagePlugin.PngInfo()
    text.add_text("Raw profile type exif", f"\nexif\n{len(raw):8}\n{raw.hex()}\n", zip=True)
    text.add_text("Raw profile type iptc", "\niptc\n       2\nabcd\n")
    Image.new("L", (3, 2)).save(tmp_path / "in.png", pnginfo=text)
    assert write(read(tmp_path / "in.png"), tmp_path / "out.png") == ["Raw profile type iptc"]
    with Image.open(tmp_path / "out.png") as image:
        assert (image.size, image.getexif()[ExifTags.Base.Orientation], image.text) == ((2, 3), 1, {})
        assert image.getexif()[ExifTags.Base.Make] == "Camera & Sons"


def test_the_shape_of_pixels_without_a_length_is_said_to_be_left_out(tmp_path):
    parts = [png_header(4, 3), (b"pHYs", struct.pack(">IIB", 2, 1, 0)), (b"IDAT", zlib.compress(bytes(15)))]
    (tmp_path / "in.png").write_bytes(png(*parts, (b"IEND", b"")))
    Image.new("L", (8, 8)).save(tmp_path / "in.jpg")
    data = bytearray((tmp_path / "in.jpg").read_bytes())
    for density, said in ((1, 1), []), ((2, 1), ["shape of pixels"]):
        data[13:18] = struct.pack(">BHH", 0, *density)
        (tmp_path / "in.jpg").write_bytes(data)
        assert write(read(tmp_path / "in.jpg"), tmp_path / "out.jpg") == said
    assert write(read(tmp_path / "in.png"), tmp_path / "out.png") == ["shape of pixels"]


def test_further_sizes_of_an_icon_are_said_to_be_left_out(tmp_path):
    Image.new("RGB", (64, 64)).save(tmp_path / "in.ico", sizes=[(16, 16), (64, 64)])
    assert write(read(tmp_path / "in.ico"), tmp_path / "out.png") == ["other sizes"]
    Image.new("RGB", (64, 64)).save(tmp_path / "in.ico", sizes=[(64, 64)])
    assert write(read(tmp_path / "in.ico"), tmp_path / "out.png") == []


def test_further_pictures_and_segments_of_a_jpeg_are_said_to_be_left_out(tmp_path):
    first, second = (Image.new("L", (16, 16), each) for each in (90, 10))
    first.save(tmp_path / "in.mpo", save_all=True, append_images=[second])
    assert write(read(tmp_path / "in.mpo"), tmp_path / "out.jpg") == ["other pictures in the file"]
    segments = {
        0xE2: b"MPF\0MM",
        0xEB: b"JP\1\2jumb",
        0xE1: b"http://ns.adobe.com/xmp/extension/\0rest",
        0xEC: b"Ducky\0",
    }
    made = b"".join(bytes((255, kind)) + struct.pack(">H", 2 + len(each)) + each for kind, each in segments.items())
    first.save(tmp_path / "in.jpg", comment=b"a cat", icc_profile=GRAY, exif=exif(), xmp=XMP, extra=made)
    said = [
        "other pictures in the file",
        "APP11 (JP??jumb)",
        "APP1 (http://ns.adobe.com/xmp/extension/)",
        "APP12 (Ducky)",
    ]
    assert write(read(tmp_path / "in.jpg"), tmp_path / "out.jpg") == said


def test_tags_of_a_tiff_that_hold_no_longer_are_said_to_be_left_out(tmp_path):
    tags = [(318, 5, 2, (3127, 10000, 329, 1000), True), (34377, 7, 4, b"8BIM", True), (37724, 7, 4, b"8BIM", True)]
    tags += [(281, 3, 1, 77, True), (34412, 7, 4, b"abcd", True), (33629, 7, 4, b"abcd", True)]
    tifffile.imwrite(tmp_path / "in.tif", np.ones((8, 9), np.uint8), extratags=tags, metadata=None)
    said = [
        "Photoshop's resources",
        "Photoshop's layers",
        "range of samples",
        "metadata of LSM",
        "metadata of MetaMorph",
    ]
    assert write(read(tmp_path / "in.tif"), tmp_path / "out.tif") == said
    with tifffile.TiffFile(tmp_path / "out.tif") as file:
        found = file.pages.first.tags
        assert found[318].value == (3127, 10000, 329, 1000)
        assert not {34377, 37724, 281, 34412, 33629} & {tag.code for tag in found}


@pytest.mark.parametrize("damaged", [b"", b"II", b"MM\0*\xff\xff\xff\xff", b"rubbish" * 9, b"II*\0\x08\0\0\0\xff\xff"])
def test_damaged_exif_stays_behind(tmp_path, damaged):
    Image.new("L", (8, 8), 7).save(tmp_path / "in.webp", exif=b"Exif\0\0" + damaged)
    picture = read(tmp_path / "in.webp")
    assert picture.metadata.exif == b""
    for target in FORMATS:
        write(picture, tmp_path / f"out{target}")
        assert found_in(tmp_path / f"out{target}")["make"] is None


@pytest.mark.parametrize("dpi", [(0, 0), (1, 1), (-5, 72), (float("inf"), 72), (1e30, 1e30)])
def test_an_absurd_resolution_stays_behind(dpi):
    image = Image.new("L", (8, 8), 7)
    image.info["dpi"] = dpi
    assert gather(image, 1).dpi is None


def test_more_than_a_jpeg_can_hold_stays_behind(tmp_path):
    text = PngImagePlugin.PngInfo()
    text.add_text("Comment", "x" * 70000)
    tags = exif()
    tags[ExifTags.Base.ImageDescription] = "y" * 70000
    Image.new("L", (8, 8), 7).save(tmp_path / "in.png", pnginfo=text, exif=tags)
    picture = read(tmp_path / "in.png")
    picture.metadata = replace(picture.metadata, xmp=b"z" * 70000)
    write(picture, tmp_path / "out.jpg")
    assert found_in(tmp_path / "out.jpg")["make"] is None
    assert (tmp_path / "out.jpg").stat().st_size < 70000
    write(picture, tmp_path / "out.png")
    assert (tmp_path / "out.png").stat().st_size > 140000


@pytest.mark.parametrize("name", ["exif", "xmp", "iptc"])
def test_a_marker_of_a_jpeg_has_room_for_65499_bytes(name):
    for length, left_out in (65499, []), (65500, [{"exif": "EXIF", "xmp": "XMP", "iptc": "IPTC"}[name]]):
        kept, said = Metadata(**{name: bytes(length)}).fitting("JPEG")
        assert (len(getattr(kept, name)), said) == (0 if left_out else length, left_out)
    for length, left_out in (65499, []), (65500, ["text"]):
        kept, said = Metadata(text={"Comment": "x" * length}).fitting("JPEG")
        assert (len(kept.text), said) == (0 if left_out else 1, left_out)


@pytest.mark.parametrize("suffix", [".jpg", ".gif"])
def test_a_comment_is_all_the_text_of_some_formats(tmp_path, suffix):
    picture = Picture(np.zeros((1, 8, 8), np.uint8), None, 255, "PNG", Metadata(text={"Comment": "a cat"}))
    assert write(picture, tmp_path / f"x{suffix}") == []
    assert Image.open(tmp_path / f"x{suffix}").info["comment"] == b"a cat"
    picture.metadata = Metadata(text={"Comment": "a cat", "Title": "Cat"})
    assert write(picture, tmp_path / f"x{suffix}") == ["text"]


def test_a_tiff_has_four_kinds_of_text(tmp_path):
    said = {"Description": "a cat", "Software": "Cats 1.0", "Author": "Chérie", "Copyright": "hers"}
    picture = Picture(np.zeros((1, 8, 8), np.uint8), None, 255, "PNG", Metadata(text=said))
    assert write(picture, tmp_path / "x.tif") == []
    with tifffile.TiffFile(tmp_path / "x.tif") as file:
        tags = {number: file.pages[0].tags[number].value for number in (270, 305, 315, 33432)}
    assert tags == {270: "a cat", 305: "Cats 1.0", 315: "Chérie", 33432: "hers"}


def test_the_tags_of_a_picture_go_before_its_text_and_those_of_a_layout_stay_behind():
    tags = Image.Exif()
    tags[315], tags[254], tags[317], tags[34675] = "Ann", 1, 2, b"the profile of other colors"
    given = Metadata(exif=tags.tobytes().removeprefix(b"Exif\0\0"), text={"Author": "Bob"})
    assert given.tiff_tags() == {315: "Ann"}


def test_a_resolution_in_pixels_per_meter_is_rounded():
    assert struct.pack(">IIB", 2835, 2835, 1) in b"".join(Metadata(dpi=(72.0, 72.0)).png_chunks())
