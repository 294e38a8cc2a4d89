"""What a file says about its picture: color profile, EXIF, resolution, text.

    gather(image) -> Metadata -> png_chunks, add_to_tiff or pillow_options

An output gets what its format can hold: of the text, PNG all of it, TIFF a few keywords, JPEG, GIF and JPEG 2000 a
comment. What is damaged or no longer fits the picture is left out without an error: the picture matters more.
"""

from __future__ import annotations

import math
import struct
import zlib
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .png_writer import chunk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from PIL import Image
    from PIL.TiffImagePlugin import ImageFileDirectory_v2

_EXIF = b"Exif\0\0"
_XMP_CHUNK = "XML:com.adobe.xmp"
_XMP_TAG = 700
# A marker of JPEG holds 65533 bytes; that of XMP begins with a name.
_MOST_IN_MARKER = 65500
_COMMENT = "Comment"
# Tags whose value is a list of tags: EXIF proper, GPS, interoperability.
_TAG_GROUPS = (34665, 34853, 40965)
# PNG's keywords of text, and the TIFF tags of the same meaning.
_TEXT_TAGS = {"Description": 270, "Software": 305, "Author": 315, "Copyright": 33432}

# Tags of a TIFF's layout, which say nothing about the picture; and those that are handled apart: orientation (Pillow
# turns a TIFF upright), XMP and the profile.
_LAYOUT_TAGS = {
    *(254, 255, 256, 257, 258, 259, 262, 263, 264, 265, 266, 273, 277, 278, 279, 284, 292, 293, 301, 317, 318, 319),
    *(320, 321, 322, 323, 324, 325, 330, 332, 333, 334, 336, 337, 338, 339, 340, 341, 342, 347, 512, 513, 514, 515),
    *(517, 518, 519, 520, 521, 529, 530, 531, 532, 34377, 37724, 274, 700, 34675),
}


@dataclass(frozen=True)
class Metadata:
    """What a file says beside its samples; an empty field says nothing."""

    profile: bytes = b""
    """An ICC profile of the picture's own color space, gray or RGB."""
    exif: bytes = b""
    """EXIF: a TIFF of tags without pixels and without a thumbnail."""
    dpi: tuple[float, float] | None = None
    """Pixels per inch, horizontal and vertical."""
    xmp: bytes = b""
    text: Mapping[str, str] = field(default_factory=dict)
    """Text by PNG's keywords."""


def gather(image: Image.Image, channels: int) -> Metadata:
    """Return what the file of a loaded image says; its samples became ``channels`` planes, 1 or 3."""
    info = image.info
    xmp = info.get("xmp", b"")
    return Metadata(
        profile=_profile(info.get("icc_profile"), channels),
        exif=_exif(image),
        dpi=_dpi(info.get("dpi")),
        xmp=xmp if isinstance(xmp, bytes) else b"",
        text=_text(image),
    )


def _profile(profile: object, channels: int) -> bytes:
    # CMYK has become RGB, and a gray palette gray: the profile of another color space would give wrong colors.
    space = b"GRAY" if channels == 1 else b"RGB "
    return profile if isinstance(profile, bytes) and profile[16:20] == space else b""


def _exif(image: Image.Image) -> bytes:
    """Return an image's EXIF byte for byte; a TIFF's tags, which have no such block, as a new one."""
    try:
        if exif := image.info.get("exif"):
            return _without_thumbnail(exif.removeprefix(_EXIF))
        if hasattr(image, "tag_v2"):
            tags = image.getexif()
            for tag in _LAYOUT_TAGS.intersection(tags):
                del tags[tag]
            return tags.tobytes().removeprefix(_EXIF) if len(tags) else b""
    except Exception:  # noqa: BLE001  Pillow raises almost anything on damaged tags
        return b""
    return b""


def _without_thumbnail(exif: bytes) -> bytes:
    """Cut the link from the first list of tags to the next, the thumbnail, which shows the unfiltered picture."""
    order = {b"II": "<", b"MM": ">"}[exif[:2]]
    (start,) = struct.unpack_from(f"{order}I", exif, 4)
    (count,) = struct.unpack_from(f"{order}H", exif, start)
    link = start + 2 + 12 * count
    if link > len(exif):
        raise ValueError("the tags end beyond the end")
    return exif[:link] + bytes(4) + exif[link + 4 :]


def _dpi(given: object) -> tuple[float, float] | None:
    with suppress(TypeError, ValueError, ZeroDivisionError, OverflowError):
        across, down = (float(number) for number in given)  # type: ignore[attr-defined]
        # Other numbers are damaged or mean "unknown" (JFIF's 1), and some writers fail on them.
        if all(math.isfinite(number) and 1 < number < 1e6 for number in (across, down)):
            return across, down
    return None


def _text(image: Image.Image) -> dict[str, str]:
    text = {key: str(value) for key, value in getattr(image, "text", {}).items() if key != _XMP_CHUNK}
    comment = image.info.get("comment")
    if isinstance(comment, bytes):
        try:
            text[_COMMENT] = comment.decode()
        except UnicodeDecodeError:
            text[_COMMENT] = comment.decode("latin-1")
    return text


# Into files


def png_chunks(metadata: Metadata) -> Iterator[bytes]:
    """Return the parts of PNG chunks, which follow the first chunk (IHDR)."""
    if metadata.profile:
        yield from chunk(b"iCCP", b"ICC Profile\0\0" + zlib.compress(metadata.profile))
    if metadata.dpi:
        yield from chunk(b"pHYs", struct.pack(">IIB", *(round(number / 0.0254) for number in metadata.dpi), 1))
    if metadata.exif:
        yield from chunk(b"eXIf", metadata.exif)
    for name, value in metadata.text.items():
        key = name.encode("latin-1", "replace")[:79]
        try:
            plain = value.encode("latin-1")
        except UnicodeEncodeError:
            yield from chunk(b"iTXt", key + b"\0\0\0\0\0" + value.encode("utf-8", "replace"))
        else:
            yield from chunk(b"tEXt", key + b"\0" + plain.replace(b"\0", b" "))
    if metadata.xmp:
        yield from chunk(b"iTXt", _XMP_CHUNK.encode() + b"\0\0\0\0\0" + metadata.xmp)


def add_to_tiff(tags: ImageFileDirectory_v2, metadata: Metadata) -> None:
    """Add metadata to the tags of a TIFF that is written without Pillow's help."""
    extra = _tiff_tags(metadata)
    for tag in extra:
        tags[tag] = extra.get_ifd(tag) if tag in _TAG_GROUPS else extra[tag]
    if metadata.profile:
        tags[34675] = metadata.profile
    if metadata.dpi:
        tags[296], tags[282], tags[283] = 2, *metadata.dpi


def _tiff_tags(metadata: Metadata) -> Image.Exif:
    """Return a TIFF's tags but for its layout, profile and resolution."""
    from PIL import Image

    tags = Image.Exif()
    if metadata.exif:
        tags.load(_EXIF + metadata.exif)
    for name, tag in _TEXT_TAGS.items():
        if name in metadata.text and tag not in tags:
            tags[tag] = metadata.text[name]
    if metadata.xmp:
        tags[_XMP_TAG] = metadata.xmp
    for tag in _LAYOUT_TAGS.intersection(tags) - {274, _XMP_TAG}:
        del tags[tag]
    return tags


def pillow_options(metadata: Metadata, format_: str) -> dict[str, Any]:
    """Return the metadata as options of Pillow's writer of a format, which is any but PNG."""
    options: dict[str, Any] = {}
    most = _MOST_IN_MARKER if format_ == "JPEG" else math.inf
    if format_ in ("JPEG", "WEBP", "AVIF"):
        if metadata.exif and len(metadata.exif) < most:
            options["exif"] = _EXIF + metadata.exif
        if metadata.xmp and len(metadata.xmp) < most:
            options["xmp"] = metadata.xmp
    if format_ == "TIFF" and len(tags := _tiff_tags(metadata)):
        options["exif"] = tags
    if metadata.profile and format_ in ("JPEG", "WEBP", "AVIF", "TIFF"):
        options["icc_profile"] = metadata.profile
    if metadata.dpi and format_ in ("JPEG", "TIFF", "BMP"):
        options["dpi"] = metadata.dpi
    if format_ in ("JPEG", "GIF", "JPEG2000") and _COMMENT in metadata.text:
        comment = metadata.text[_COMMENT].encode("utf-8", "replace")
        if len(comment) < _MOST_IN_MARKER:
            options["comment"] = comment
    return options
