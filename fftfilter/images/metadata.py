"""Metadata of a file: color profile, EXIF, IPTC, resolution, text, and which side is up.

    gather(image), of_tiff(data) -> Metadata -> fitting -> png_chunks, tiff_tags or pillow_options

An output gets what its format can hold. PNG holds all text, TIFF a few keywords, and JPEG and GIF a comment. Metadata
that are damaged, or no longer fit the picture, are left out without an error: the picture matters more.
"""

from __future__ import annotations

import math
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..files.sources import Content, as_file
from .pages import OTHER_HDUS
from .pixel_size import PixelSize, of_image, of_tags, tags_of, text_of
from .png_writer import chunk, chunks_of

if TYPE_CHECKING:
    from PIL import Image
    from tifffile import TiffPage

    from .fits import Container
    from .picture import Picture, Samples

EXIF = b"Exif\0\0"
_XMP_CHUNK = "XML:com.adobe.xmp"
ORIENTATION_TAG, _XMP_TAG, _PROFILE_TAG = 274, 700, 34675
_RESOLUTION_TAGS = (282, 283)
_GDAL_METADATA = 42112
_STATISTICS = re.compile(r"\s*<Item name=\"STATISTICS_[^>]*>[^<]*</Item>")  # which hold no longer
_NO_UNIT = 1
_WHOLE, _EXIF_GROUP = {3: "H", 4: "I"}, 34665
_MOST_IN_MARKER = 65500  # a marker of JPEG holds 65533 bytes; that of XMP begins with a name
_COMMENT = "Comment"
# Each field of Metadata in words, and the formats that hold it; PNG's own limits are none.
_FIELDS = {
    "profile": ("color profile", ("PNG", "TIFF", "JPEG", "WEBP", "AVIF")),
    "exif": ("EXIF", ("PNG", "TIFF", "JPEG", "WEBP", "AVIF")),
    "dpi": ("resolution", ("PNG", "TIFF", "JPEG", "BMP")),
    "xmp": ("XMP", ("PNG", "TIFF", "JPEG", "WEBP", "AVIF")),
    "unitless": ("resolution", ("TIFF",)),
    "iptc": ("IPTC", ("JPEG",)),
    "gamma": ("color space", ("PNG",)),
    "recipe": ("recipe", ("PNG", "TIFF", "FITS")),
    "fits": ("FITS header", ("FITS",)),
    "library": ("header", ("MRC", "EMD", "NETCDF")),
}
# Where a PNG has the recipe that made it, by keyword, and a TIFF: in its description, if that is free.
_RECIPE, _DESCRIPTION_TAG, _RECIPE_START = "fftfilter", 270, '{"fftfilter_recipe"'

# Chunks of a PNG that go along byte for byte, with their lengths, and others that are read, or tell its layout.
_OF_COLORS = {b"gAMA": 4, b"cHRM": 32, b"sRGB": 1, b"cICP": 4, b"mDCV": 24}
_CHUNKS = b"IHDR PLTE tRNS IDAT IEND acTL fcTL fdAT iDOT iCCP eXIf pHYs tEXt zTXt iTXt".split()
# How segments of a JPEG begin that are read.
_SEGMENTS = ("JFIF", "Exif", "http://ns.adobe.com/xap/1.0/", "ICC_PROFILE", "Photoshop 3.0", "Adobe")
# What XMP says of further pictures in the file, which an output has not, and of sides and places before it is turned.
_XMP_OF_OTHERS = b"hdrgm: HDRGainMap: GCamera: GContainer: Container: Item: GImage: GDepth: GAudio: xmpNote:".split()
_XMP_OF_OTHERS += [b"xmp:Thumbnails", b"xap:Thumbnails"]
_XMP_OF_SIDES = b"tiff:ImageWidth tiff:ImageLength exif:PixelXDimension exif:PixelYDimension mwg-rs: MP:".split()
_XMP_ORIENTATION = re.compile(rb"(tiff:Orientation\s*(?:=\s*[\"']|>)\s*)([1-8])")
_RAW_PROFILE = "Raw profile type "  # the start of a PNG's keyword, by which programs hide EXIF, XMP and others in text

# Where a JPEG has IPTC: in one of Photoshop's resources, which stand in a marker.
_PHOTOSHOP, _RESOURCE, _IPTC = b"Photoshop 3.0\0", b"8BIM", 0x0404
_APP13 = b"\xff\xed"
# Tags whose value is a list of tags: EXIF proper, GPS, interoperability.
_TAG_GROUPS = (_EXIF_GROUP, 34853, 40965)
# PNG's keywords of text, and the TIFF tags of the same meaning.
_TEXT_TAGS = {"Description": 270, "Software": 305, "Author": 315, "Copyright": 33432}

# By Pillow's names, and by the numbers of a TIFF.
_CONVERTED = ("CMYK", "LAB", "HSV")
_PHOTOMETRIC: dict[object, str] = {5: "CMYK", 8: "LAB", 9: "LAB", 10: "LAB"}
# Pillow turns a TIFF upright.
_HANDLED_APART = (ORIENTATION_TAG, _XMP_TAG, _PROFILE_TAG, *_RESOLUTION_TAGS, 296)
# Tags that hold no longer, or say where something is in the file; these are said to be left out.
_SAID_TAGS = {301: "transfer function", 34377: "Photoshop's resources", 37724: "Photoshop's layers"}
_SAID_TAGS |= {280: "range of samples", 281: "range of samples", 34412: "metadata of LSM"}
_SAID_TAGS |= dict.fromkeys((33628, 33629, 33630, 33631), "metadata of MetaMorph")
# Tags of a TIFF's layout, which say nothing about the picture.
_LAYOUT_TAGS = {
    *_SAID_TAGS,
    *(254, 255, 256, 257, 258, 259, 262, 263, 264, 265, 266, 273, 277, 278, 279, 284, 292, 293, 317),
    *(320, 321, 322, 323, 324, 325, 330, 332, 333, 334, 336, 337, 338, 339, 340, 341, 342, 347, 512, 513, 514, 515),
    *(517, 518, 519, 520, 521, 529, 530, 531, 532),
}


@dataclass(frozen=True)
class Metadata:
    """A file's metadata; an empty field says nothing."""

    profile: bytes = b""  # an ICC profile of the picture's own color space, gray or RGB
    exif: bytes = b""  # EXIF: a TIFF of tags without pixels and without a thumbnail
    dpi: tuple[float, float] | None = None  # pixels per inch, horizontal and vertical
    xmp: bytes = b""
    text: Mapping[str, str] = field(default_factory=dict)  # text by PNG's keywords
    unitless: tuple[float, float] | None = None  # pixels per a unit that a TIFF's description says, as ImageJ has it
    pixel_size: PixelSize | None = None  # for filters, not for the output, which gets its fields as they were read
    iptc: bytes = b""
    # A PNG's chunks that say what its samples mean without a profile.
    gamma: Mapping[bytes, bytes] = field(default_factory=dict)
    fits: bytes = b""  # cards of a FITS header, but for those of its layout
    library: tuple[str, Any] | None = None  # of library_formats.py: the format, and what its reader keeps of the file
    hdus: Container | None = None  # the FITS around the HDU whose first page this is
    left_out: tuple[str, ...] = ()  # what was dropped from the file, as text
    recipe: str = ""  # what this program makes the output by, as JSON
    own_recipe: str = ""  # what this program made the file by; outputs do not get it

    def stripped(self) -> Metadata:
        """Return the fields that a filter needs."""
        return Metadata(pixel_size=self.pixel_size, left_out=(*self.left_out, *self._other_hdus))

    @property
    def _other_hdus(self) -> list[str]:
        return [OTHER_HDUS] if self.hdus and self.hdus.others else []

    def fitting(self, format_: str) -> tuple[Metadata, list[str]]:
        """Return the metadata that a format (Pillow's name) can hold, and what it drops, as text."""
        fits = {name: format_ in formats for name, (_, formats) in _FIELDS.items()}
        if format_ == "JPEG":
            for name in ("exif", "xmp", "iptc"):
                fits[name] = len(getattr(self, name)) < _MOST_IN_MARKER
        text = self.text if format_ == "PNG" else {}
        if format_ == "TIFF":
            is_described = "Description" in self.text or (self.recipe and _DESCRIPTION_TAG in tags_of(self.exif))
            fits["recipe"] = not (self.recipe and is_described)
            text = {key: words for key, words in self.text.items() if key in _TEXT_TAGS}
        elif format_ in ("JPEG", "GIF"):
            comment = self.text.get(_COMMENT, "")
            text = {_COMMENT: comment} if 0 < len(comment.encode("utf-8", "replace")) < _MOST_IN_MARKER else {}
        kept = {name: getattr(self, name) for name, each in fits.items() if each}
        others = [] if format_ == "FITS" else self._other_hdus
        kept |= {"hdus": None if others else self.hdus, "pixel_size": self.pixel_size if fits["library"] else None}
        # Colors without metadata are taken as sRGB.
        fits["gamma"] |= b"sRGB" in self.gamma and b"cICP" not in self.gamma
        left_out = [words for name, (words, _) in _FIELDS.items() if getattr(self, name) and not fits[name]]
        said = ["text"] if len(text) < len(self.text) else []
        return Metadata(text=text, **kept), [*self.left_out, *left_out, *others, *said]

    def png_chunks(self) -> Iterator[bytes]:
        """Return the parts of PNG chunks, which follow the first chunk (IHDR)."""
        for kind, content in self.gamma.items():
            yield from chunk(kind, content)
        if self.profile:
            yield from chunk(b"iCCP", b"ICC Profile\0\0" + zlib.compress(self.profile))
        if self.dpi:
            yield from chunk(b"pHYs", struct.pack(">IIB", *(round(number / 0.0254) for number in self.dpi), 1))
        if self.exif:
            yield from chunk(b"eXIf", self.exif)
        for name, value in (dict(self.text) | ({_RECIPE: self.recipe} if self.recipe else {})).items():
            key = name.encode("latin-1", "replace")[:79]
            try:
                plain = value.encode("latin-1")
            except UnicodeEncodeError:
                yield from chunk(b"iTXt", key + b"\0\0\0\0\0" + value.encode("utf-8", "replace"))
            else:
                yield from chunk(b"tEXt", key + b"\0" + plain.replace(b"\0", b" "))
        if self.xmp:
            yield from chunk(b"iTXt", _XMP_CHUNK.encode() + b"\0\0\0\0\0" + self.xmp)

    def tiff_tags(self) -> dict[int, Any]:
        """Return a TIFF's tags but for its layout; groups of tags as dicts."""
        tags = tags_of(self.exif)
        for name, tag in _TEXT_TAGS.items():
            if name in self.text and tag not in tags:
                tags[tag] = self.text[name]
        if self.recipe:
            tags[_DESCRIPTION_TAG] = self.recipe
        if self.xmp:
            tags[_XMP_TAG] = self.xmp
        tags.pop(_PROFILE_TAG, None)
        kept = {tag: tags.get_ifd(tag) if tag in _TAG_GROUPS else tags[tag] for tag in tags if tag not in _LAYOUT_TAGS}
        if self.profile:
            kept[_PROFILE_TAG] = self.profile
        if self.dpi:
            kept[296], kept[282], kept[283] = 2, *self.dpi
        elif self.unitless:
            kept[296], kept[282], kept[283] = _NO_UNIT, *self.unitless
        return kept

    def pillow_options(self) -> dict[str, Any]:
        """Return metadata that fit as options of Pillow's writer of a format, which is any but PNG and TIFF."""
        # A marker of a JPEG without Photoshop's other resources, one of which is a thumbnail.
        iptc = _PHOTOSHOP + struct.pack(">4sHHI", _RESOURCE, _IPTC, 0, len(self.iptc)) + self.iptc
        iptc += bytes(len(iptc) % 2)
        options: dict[str, Any] = {
            "exif": self.exif and EXIF + self.exif,
            "xmp": self.xmp,
            "icc_profile": self.profile,
            "dpi": self.dpi,
            "comment": self.text.get(_COMMENT, "").encode("utf-8", "replace"),
            "extra": self.iptc and _APP13 + struct.pack(">H", 2 + len(iptc)) + iptc,
        }
        return {name: value for name, value in options.items() if value}


def gather(image: Image.Image, channels: int, data: bytes = b"") -> Metadata:
    """Return the metadata of a loaded image, whose samples became ``channels`` planes, 1 or 3; ``data`` is its file."""
    info, orientation = image.info, orientation_of(image)
    sides = image.size[:: -1 if orientation in range(5, 9) else 1]
    exif, said = _matching(_exif(image), sides)
    xmp, others = _xmp_matching(info.get("xmp"), orientation)
    profile, lost = _profile(info.get("icc_profile"), channels, image.mode)
    resources = info.get("photoshop")
    iptc = resources.get(_IPTC) if isinstance(resources, dict) else None
    text = {key: str(value) for key, value in getattr(image, "text", {}).items() if key != _XMP_CHUNK}
    said += [key for key in text if key.startswith(_RAW_PROFILE) and not (exif and key.endswith(" exif"))]
    text = {key: value for key, value in text.items() if not key.startswith(_RAW_PROFILE)}
    if isinstance(comment := info.get("comment"), bytes):
        text[_COMMENT] = text_of(comment)
    colors = dict[bytes, bytes]()
    if image.format == "PNG":
        chunks = {kind: data[start:end] for kind, start, end in chunks_of(data)}
        colors = {kind: chunks[kind] for kind, length in _OF_COLORS.items() if len(chunks.get(kind, b"")) == length}
        said += [f"{kind.decode('latin-1')} of PNG" for kind in chunks if kind not in (*colors, *_CHUNKS)]
    elif resources and {*resources} != {_IPTC}:
        said.append("Photoshop's resources")
    shape = info.get("aspect") or (info.get("jfif_density") if info.get("jfif_unit") == 0 else None)
    said += ["shape of pixels"] * bool(shape and shape[0] != shape[1])
    said += ["other sizes"] * (len(info.get("sizes", ())) > 1)
    said += ["layers"] * (image.format == "PSD" and len(image.layers) > 1)  # type: ignore[attr-defined]
    for segment, content in getattr(image, "applist", ()):
        name = re.sub(r"[^ -~]", "?", content.partition(b"\0")[0][:40].decode("latin-1"))
        if segment != "COM" and name not in _SEGMENTS:
            said.append("other pictures in the file" if name == "MPF" else f"{segment} ({name})")
    return Metadata(
        profile=profile,
        exif=exif,
        dpi=_dpi(info.get("dpi")),
        xmp=xmp,
        text=text,
        own_recipe=text.pop(_RECIPE, ""),
        pixel_size=of_image(image, exif),
        iptc=iptc if isinstance(iptc, bytes) else b"",
        gamma=colors,
        left_out=(*lost, *dict.fromkeys(said + others)),
    )


def of_tiff(page: TiffPage, data: Content, channels: int, changes: Callable[[Image.Exif], None] | None) -> Metadata:
    """Return the metadata of a TIFF's page, as :func:`gather`; ``changes`` are made in its tags first."""
    from PIL import Image

    tags = Image.Exif()
    tags.endian, tags.bigtiff = page.parent.byteorder, page.parent.is_bigtiff
    try:
        tags.load_from_fp(as_file(data), page.offset)
        if changes:
            changes(tags)
        said = tags.get(_DESCRIPTION_TAG)
        own_recipe = said if isinstance(said, str) and said.startswith(_RECIPE_START) else ""
        if own_recipe:
            del tags[_DESCRIPTION_TAG]
        xmp = tags.get(_XMP_TAG)
        profile, lost = _profile(tags.get(_PROFILE_TAG), channels, _PHOTOMETRIC.get(tags.get(262), ""))
        lost += dict.fromkeys(words for tag, words in _SAID_TAGS.items() if tag in tags)
        per_unit = {2: 1.0, 3: 2.54}.get(tags.get(296, 2), 0.0)
        pixel_size = of_tags(tags)
        resolution = [float(tags.get(tag, 0)) for tag in _RESOLUTION_TAGS]
        dpi = _dpi([number * per_unit for number in resolution])
        is_unitless = tags.get(296) == _NO_UNIT and all(0 < number < math.inf for number in resolution)
        unitless = (resolution[0], resolution[1]) if is_unitless and resolution != [1, 1] else None
        for tag in (*_LAYOUT_TAGS, *_HANDLED_APART):
            tags.pop(tag, None)
        for tag in _TAG_GROUPS:
            if tag in tags:
                tags.get_ifd(tag)
        if isinstance(said := tags.get(_GDAL_METADATA), str):
            tags[_GDAL_METADATA] = _STATISTICS.sub("", said)
        for tag, value in tags.items():
            if isinstance(value, str) and not value.isascii():
                # Pillow keeps bytes; letters that are not ASCII would become question marks.
                tags[tag] = value.encode("latin-1", "replace")
        tags.bigtiff = False  # in which nothing but TIFF is written
        orientation = page.tags.valueof(ORIENTATION_TAG, 1)
        sides = (page.imagewidth, page.imagelength)[:: -1 if orientation in range(5, 9) else 1]
        exif, _ = _matching(tags.tobytes().removeprefix(EXIF) if len(tags) else b"", sides)
        xmp, others = _xmp_matching(xmp, orientation)
    except Exception:  # noqa: BLE001  Pillow raises almost anything on damaged tags
        return Metadata()
    left_out = (*lost, *others)
    return Metadata(profile, exif, dpi, xmp, {}, unitless, pixel_size, left_out=left_out, own_recipe=own_recipe)


def _profile(given: object, channels: int, space: str) -> tuple[bytes, list[str]]:
    """Return a profile that still holds, and what was dropped of colors in a space (Pillow's name), as text."""
    # CMYK has become RGB, and a gray palette gray: the profile of another color space would give wrong colors.
    own = b"GRAY" if channels == 1 else b"RGB "
    profile = given if isinstance(given, bytes) and given[16:20] == own else b""
    said = [f"{space} colors (converted to RGB)"] if space in _CONVERTED else []
    return profile, said + [_FIELDS["profile"][0]] * bool(given and not profile)


def _exif(image: Image.Image) -> bytes:
    given = image.info.get("exif")
    with suppress(AttributeError, ValueError):
        given = given or bytes.fromhex("".join(image.info.get(f"{_RAW_PROFILE}exif", "").split("\n")[3:]))
    return given.removeprefix(EXIF) if isinstance(given, bytes) else b""


def orientation_of(image: Image.Image) -> int:
    """Return which side of an opened image, which is no TIFF, is up, 1 to 8: as EXIF has it, else XMP."""
    with suppress(KeyError, struct.error):
        return int(_tags_in(_exif(image))[1][ORIENTATION_TAG][2])
    found = _XMP_ORIENTATION.search(xmp) if isinstance(xmp := image.info.get("xmp"), bytes) else None
    return int(found[2]) if found else 1


def _tags_in(exif: bytes) -> tuple[int, dict[int, tuple[str, int, int]]]:
    """Return where the first list of tags links to the next one, and the layout, place and value of whole numbers.

    Raises KeyError and struct.error for damaged EXIF.
    """
    order, found = {b"II": "<", b"MM": ">"}[bytes(exif[:2])], dict[int, tuple[str, int, int]]()

    def read(start: int) -> int:
        (count,) = struct.unpack_from(f"{order}H", exif, start)
        for at in reversed(range(start + 2, start + 2 + 12 * count, 12)):
            tag, kind, length = struct.unpack_from(f"{order}HHI", exif, at)
            if length == 1 and kind in _WHOLE:
                layout = order + _WHOLE[kind]
                found[tag] = layout, at + 8, struct.unpack_from(layout, exif, at + 8)[0]
        return int(start + 2 + 12 * count)

    link = read(struct.unpack_from(f"{order}I", exif, 4)[0])
    if _EXIF_GROUP in found:
        with suppress(struct.error):
            read(found[_EXIF_GROUP][2])
    return link, found


def _matching(exif: bytes, sides: Sequence[int]) -> tuple[bytes, list[str]]:
    """Return EXIF byte for byte, but upright, with the sides of the output, and without its thumbnail; and what went.

    EXIF is b"" if it is damaged.
    """
    made, (width, height) = bytearray(exif), sides
    with suppress(KeyError, struct.error):
        link, tags = _tags_in(exif)
        for tag, value in (ORIENTATION_TAG, 1), (256, width), (257, height), (40962, width), (40963, height):
            layout, at, _ = tags.get(tag, ("", 0, 0))
            if layout and value < 1 << 8 * struct.calcsize(layout):
                struct.pack_into(layout, made, at, value)
        # The link from the first list of tags to the next, the thumbnail, which shows the unfiltered picture.
        has_thumbnail = any(made[link : link + 4])
        made[link : link + 4] = bytes(4)
        return bytes(made), ["thumbnail"] if has_thumbnail else []
    return b"", ["EXIF (damaged)"] if exif else []


def _xmp_matching(xmp: object, orientation: int) -> tuple[bytes, list[str]]:
    """Return XMP that holds for a picture which was turned upright, and what was dropped, as text."""
    if not isinstance(xmp, bytes):
        return b"", []
    if any(each in xmp for each in (*_XMP_OF_OTHERS, *_XMP_OF_SIDES[: None if orientation in range(2, 9) else 0])):
        return b"", ["XMP"]
    return _XMP_ORIENTATION.sub(rb"\g<1>1", xmp), []


def _dpi(given: object) -> tuple[float, float] | None:
    with suppress(TypeError, ValueError, ZeroDivisionError, OverflowError):
        across, down = (float(number) for number in given)  # type: ignore[attr-defined]
        # Other numbers are damaged or mean "unknown" (JFIF's 1), and some writers fail on them.
        if all(math.isfinite(number) and 1 < number < 1e6 for number in (across, down)):
            return across, down
    return None


# Pictures are turned when they are read, so that angles and frequencies are those on the screen.
def upright(picture: Picture, orientation: int) -> Picture:
    """Return a picture turned as its orientation says, 1 to 8; other values mean nothing."""
    if orientation not in range(2, 9):
        return picture
    transposed, upside_down, mirrored = orientation >= 5, orientation in (3, 4, 7, 8), orientation in (2, 3, 6, 7)

    def turned(samples: Samples) -> Samples:
        samples = samples.swapaxes(-1, -2) if transposed else samples
        return np.ascontiguousarray(samples[..., :: -1 if upside_down else 1, :: -1 if mirrored else 1])

    metadata = picture.metadata
    if metadata and transposed:
        size = metadata.pixel_size and metadata.pixel_size._replace(
            across=metadata.pixel_size.down, down=metadata.pixel_size.across
        )
        metadata = replace(metadata, dpi=metadata.dpi and metadata.dpi[::-1], pixel_size=size)
    alpha = None if picture.alpha is None else turned(picture.alpha)
    valid = None if picture.valid is None else turned(picture.valid)
    return replace(picture, planes=turned(picture.planes), alpha=alpha, valid=valid, metadata=metadata)
