"""Read TIFF and BigTIFF: the chain of its lists of tags, or the images behind the one list that ImageJ writes.

Thumbnails and pyramid levels are skipped; the mask behind a page says which of its pixels are valid. ImageJ and OME
describe all pages in the first one; the description is corrected for those that are kept.

Gray, RGB and palettes of all real types are read here, CMYK, JPEG and fax through Pillow. tifffile reads the tags,
imagecodecs decompresses strips and tiles, into a buffer of the size that the tags speak of: what would be larger is
refused. A strip that is missing or too short is an error. Of a DNG the main picture is read, which lies
below its thumbnail, if it is developed.
"""

from __future__ import annotations

import math
import re
import struct
from bisect import bisect
from collections.abc import MutableMapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
import tifffile

from ..errors import ReadError, TooLargeError
from ..files.sources import Content, as_file
from . import jpegs
from .formats import UnsupportedError, told
from .metadata import ORIENTATION_TAG, of_tiff, upright
from .pages import Pages, PaletteRule
from .picture import (
    F32,
    LARGEST,
    MAXVAL_OF,
    NOT_BY_STRIPS,
    U8,
    U16,
    Picture,
    Samples,
    Size,
    Strips,
    Working,
    refuse_oversize,
    spread,
    table_of,
)
from .pillow_reader import END_OF_JPEG, jpeg_size, read_tiff_with_pillow
from .pixel_size import IS_OME, PixelSize, axes_of, depth_of, of_series
from .quiet import codec, damage_as_error, silence

_WHITE_IS_ZERO, _BLACK_IS_ZERO, _RGB, _PALETTE, _CMYK, _YCBCR = 0, 1, 2, 3, 5, 6
_MOSAIC, _LINEAR = 32803, 34892  # raw data of cameras, with one color a pixel, and with all
_OF_DNG = range(50706, 53000)  # tags about raw data
_CANON = b"CR\x02"
_MULTIPLIED, _ALPHA = 1, 2
_COMPLEX = (5, 6)
_GDAL_NODATA = 42113  # a number as text
_SUBFILE_TYPE, _SUB_IFDS, _DESCRIPTION = 254, 330, 270
_REDUCED, _MASK = 1, 4
_IMAGEJ_COUNTS, _IMAGEJ = 50838, 50839
_MOST_TAGS = 4096  # more than any file has: a list that promises more is damaged
# Fields of ImageJ's and OME's descriptions.
_IMAGEJ_AXES = ("channels", "slices", "frames")
_DISPLAY_RANGE = ("min", "max")
_OME_TYPE = re.compile(r'(<(?:\w+:)?Pixels\b[^>]*?)\bType="[^"]*"')
_OME_FILE = re.compile(r"<(?:\w+:)?UUID\b[^<>]*(?:/>|>[^<]*</(?:\w+:)?UUID\s*>)")
_OME_OWN = re.compile(r'(<(?:\w+:)?OME\b[^<>]*?)\sUUID="[^"]*"')
_OME_DATA = re.compile(r"<(?:\w+:)?TiffData\b")
_DESCRIPTION_OF_ALL = "the description of all pages"
_OME_BITS = re.compile(r'(<(?:\w+:)?Pixels\b[^>]*?) SignificantBits="[^"]*"')
# Compressions, and how imagecodecs calls them: those of bytes, and those of images of their own.
_NONE, _LERC, _LERC_PARAMETERS = 1, 34887, 50674
_LOSSY_JPEG = 34892
_JPEGS = (6, 7, 33007, _LOSSY_JPEG)
_BYTES = {5: "lzw", 8: "deflate", 32773: "packbits", 32946: "deflate", 34925: "lzma", 50000: "zstd"}
_IMAGES = {
    **dict.fromkeys((33003, 33004, 33005, 34712), "jpeg2k"),
    **dict.fromkeys((22610, 34934), "jpegxr"),
    **dict.fromkeys((50002, 52546), "jpegxl"),
    _LERC: "lerc",
    34933: "png",
    50001: "webp",
}
_KNOWN = (_NONE, *_BYTES, *_IMAGES)
_INSIDE_LERC = {1: "deflate", 2: "zstd"}
_STRIP = 1 << 16  # bytes of a strip that is cut from a larger one
_LITTLE = 4096  # more bytes than compressions add to what they cannot make smaller


def chain(data: Content) -> tuple[list[tuple[int, int, bool]], bool]:
    """Return where a TIFF's lists of tags are, and whether the file is cut off before the next one.

    With each place comes its type of a subfile, and whether it has lists below it.
    """
    order, is_big = ("<" if data[:2] == b"II" else ">"), b"\x2b" in data[2:4]
    count_of, entry, link_of = (f"{order}{kind}" for kind in (("Q", "HHQ8s", "Q") if is_big else ("H", "HHI4s", "I")))
    entry_bytes = struct.calcsize(entry)
    at, found, seen = (8 if is_big else 4), list[tuple[int, int, bool]](), set[int]()
    (offset,) = _unpacked(link_of, data, at)
    while offset and offset not in seen:
        seen.add(offset)
        try:
            (tags,) = _unpacked(count_of, data, offset)
            start = offset + struct.calcsize(count_of)
            entries = data[start : start + tags * entry_bytes] if 0 < tags <= _MOST_TAGS else b""
            (following,) = _unpacked(link_of, data, start + tags * entry_bytes)
        except struct.error:
            return found, True
        if not entries:
            return found, True
        kind, has_copies = 0, False
        for tag, number_type, _, value in struct.iter_unpack(entry, entries):
            if tag == _SUBFILE_TYPE:
                (kind,) = struct.unpack_from(f"{order}{'H' if number_type == 3 else 'I'}", value)
            has_copies |= tag == _SUB_IFDS
        found.append((offset, kind, has_copies))
        offset = following
    return found, False


def _unpacked(layout: str, data: Content, at: int) -> tuple[Any, ...]:
    return struct.unpack(layout, data[at : at + struct.calcsize(layout)])


class TiffPages(Pages):
    """The pages of a TIFF; raises ReadError."""

    format = "TIFF"

    def __init__(self, data: Content, name: str, palette: PaletteRule = "auto") -> None:
        silence()
        self.name, self.data, self._palette = name, data, palette
        try:
            links, self.is_cut = chain(data)
            self._file = tifffile.TiffFile(as_file(data))
            first = self._file.pages.first
            whole = [i for i, (_, kind, _) in enumerate(links) if not kind & (_REDUCED | _MASK)]
            self._numbers = whole or list(range(len(links)))
            self._offsets = [links[i][0] for i in self._numbers]
            self._masks = [0] * len(self._numbers)  # where that of each page is
            for i, (at, kind, _) in enumerate(links):
                if kind & (_REDUCED | _MASK) == _MASK and (page := bisect(self._numbers, i)):
                    self._masks[page - 1] = self._masks[page - 1] or at
            self._below: list[int] = []  # the main pictures of a DNG, below its thumbnail
            if not whole and isinstance(first, tifffile.TiffPage) and first.subifds:
                self._below = [at for at in first.subifds if not self._at(at).subfiletype & _REDUCED]
                self._offsets = self._below or self._offsets
            # ImageJ writes the tags of the first page alone where the others are just like it.
            promised = int((self._file.imagej_metadata or {}).get("images", 1)) if first.is_imagej else 1
            self._is_imagej_run = len(links) == 1 and promised > 1 and first.compression == 1
            bytes_a_page = sum(self._at(links[0][0]).databytecounts) if self._is_imagej_run else 0
        except Exception as error:  # tifffile raises almost anything on damaged tags
            raise ReadError(f"{name}: the tags of this TIFF are damaged; get a whole copy of it") from error
        if not links or not isinstance(first, tifffile.TiffPage) or first.imagewidth < 1 or first.imagelength < 1:
            raise ReadError(f"{name}: a TIFF without a picture; give another one")
        self.count = len(self._offsets)
        if self._is_imagej_run:
            self.count = min(promised, (len(data) - first.dataoffsets[0]) // bytes_a_page)
            self.is_cut = self.count < promised
        self.chosen = range(self.count)
        if self._below:
            self.left_out = ("the thumbnail", "tags of raw data")
        elif any(kind & _REDUCED or has_copies for _, kind, has_copies in links):
            self.left_out = ("reduced copies of pages",)

    def size(self) -> Size:
        with damage_as_error(self.name):
            return size_of(self._page(0))._replace(pages=self.count)

    @property
    def depth(self) -> float | None:
        return depth_of(self._page(0).description)

    def axes(self) -> list[tuple[str, int]]:
        found = axes_of(self._page(0).description)
        if math.prod(side for _, side in found) != self.count:  # colors of a page may be channels
            found = [(axis, side) for axis, side in found if axis != "c"]
        if found and math.prod(side for _, side in found) != self.count:
            raise ReadError(f"{self.name}: has {self.count} pages, and its description says others; save it anew")
        return found or super().axes()

    def read(self, index: int, working: Working | None = None) -> Picture:
        name = self.page_name(index)
        with damage_as_error(name):
            page = self._page(self.chosen[index])
            if self._is_imagej_run and not is_laid_out_here(page):
                raise ReadError(f"{name}: has an unusual layout, and no tags of its own; save it anew")
            picture = self._picture(page, index, name, working)
        return self._sized(picture, index)

    def strips(self, index: int) -> Strips:
        name = self.page_name(index)
        with damage_as_error(name):
            page = self._page(self.chosen[index])
            odd = "turned, " * (page.tags.valueof(ORIENTATION_TAG, 1) != 1) + "with a mask, " * bool(self._mask(index))
            if odd or self._below or not is_laid_out_here(page):
                raise TooLargeError(f"{name}: {_said(page)} {odd}{NOT_BY_STRIPS}")
            _cut(page)
            first = self._picture(page, index, name, None, (0, 1))
            if _has_palette(page) and first.table is None:
                raise TooLargeError(f"{name}: a TIFF of palette colors {NOT_BY_STRIPS}")

        def rows(start: int, stop: int) -> Picture:
            with damage_as_error(name), lock:
                return _laid_out(page, self.data, self._palette, (start, stop))

        lock = Lock()  # tifffile's pages are for one thread at a time
        step = page.tilelength if page.is_tiled else page.rowsperstrip
        return spread(self._sized(first, index), page.imagelength, rows, min(step, page.imagelength))

    def _sized(self, picture: Picture, index: int) -> Picture:
        size = self._sizes.get(self.chosen[index], self._sizes.get(0))
        if picture.metadata and size:
            # Without its description the output says it by its resolution.
            dpi = picture.metadata.dpi or (size.dpi if _DESCRIPTION_OF_ALL in self.left_out else None)
            picture.metadata = replace(picture.metadata, pixel_size=size, dpi=dpi)
        return picture

    @cached_property
    def _sizes(self) -> dict[int, PixelSize | None]:
        first = self._page(0)
        return of_series(first.description, self.count) if first.is_ome else {}

    def _picture(
        self,
        page: tifffile.TiffPage,
        index: int,
        name: str,
        working: Working | None,
        some: tuple[int, int] | None = None,
    ) -> Picture:
        if page.sampleformat in _COMPLEX:
            raise ReadError(f"{name}: its samples are complex numbers; save their magnitude, or both parts apart")
        if page.photometric == _MOSAIC or self.data[8:11] == _CANON:
            raise ReadError(f"{name}: {told(b'IIRO')}")  # the raw data of a camera, with one color a pixel
        size = size_of(page) if some is None else size_of(page)._replace(height=some[1] - some[0])
        refuse_oversize(name, size, working)
        if page.is_tiled:  # a tile may be larger than the picture
            refuse_oversize(name, size._replace(width=page.tilewidth, height=page.tilelength))
        _check_segments(page, self.data, name)
        if is_laid_out_here(page):
            picture = _laid_out(page, self.data, self._palette, some)
            orientation = (self._file.pages.first if self._below else page).tags.valueof(ORIENTATION_TAG, 1)
        else:
            picture, orientation = self._by_pillow(page, index, name, working), 1  # it is upright then
        said_by = self._at(self._file.pages.first.offset) if self._below else page

        def changes(tags: MutableMapping[int, Any]) -> None:
            self._retell(tags, index)
            if picture.nodata is None:
                tags.pop(_GDAL_NODATA, None)
            elif picture.nodata != _nodata(page):
                tags[_GDAL_NODATA] = f"{picture.nodata:.17g}"
            for tag in [tag for tag in tags if self._below and tag in _OF_DNG]:
                del tags[tag]

        picture.valid = self._shown(index, size, name)
        colors = len(picture.planes) - picture.extra if picture.table is None else 3
        picture.metadata = of_tiff(said_by, self.data, colors, changes)
        picture.tiff_compression = int(page.compression)
        picture.tiff_tile = (page.tilelength, page.tilewidth) if page.is_tiled else None
        if picture.planes.dtype == F32 and page.dtype is not None and page.dtype.kind in "iu":
            picture.integers = page.dtype.newbyteorder("=")
        return upright(picture, orientation)

    def _mask(self, index: int) -> int:
        return 0 if self._is_imagej_run or self._below else self._masks[self.chosen[index]]

    def _shown(self, index: int, size: Size, name: str) -> Samples | None:
        """Return which pixels of a page of a size its mask shows, (height, width); None without a mask."""
        if not (at := self._mask(index)):
            return None
        mask = self._at(at)
        if (mask.imagewidth, mask.imagelength, mask.samplesperpixel) != (size.width, size.height, 1):
            raise ReadError(f"{name}: its mask has another size than the picture; save it anew")
        _check_segments(mask, self.data, name)
        return np.asarray(mask.asarray() != 0)

    def _by_pillow(self, page: tifffile.TiffPage, index: int, name: str, working: Working | None) -> Picture:
        try:
            if self._below or _extra(page):
                raise UnsupportedError  # which Pillow does not reach, or reads without some samples
            picture = read_tiff_with_pillow(self.data, self._numbers[self.chosen[index]], name, working)
        except UnsupportedError as error:
            many = f" {page.samplesperpixel} samples a pixel," * bool(_extra(page))
            raise ReadError(f"{name}: {_said(page)}{many} is not supported; convert it to gray or RGB") from error
        nodata = None if page.photometric == _PALETTE else _nodata(page)
        if nodata and page.bitspersample in (1, 2, 4):
            nodata *= 255 / (2**page.bitspersample - 1)  # as white, which becomes 255
        picture.nodata = nodata
        return picture

    def _at(self, offset: int, number: int = 0) -> tifffile.TiffPage:
        """Return the page whose list of tags is there; the lengths of strips that the tags lack are computed."""
        self._file.filehandle.seek(offset)
        page = tifffile.TiffPage(self._file, index=number)
        if page.compression == 1 and not any(page.databytecounts) and any(page.dataoffsets):
            page.databytecounts = _lengths(page)
        return page

    def _page(self, number: int) -> tifffile.TiffPage:
        page = self._at(self._offsets[0 if self._is_imagej_run else number], number)
        if self._is_imagej_run:
            past = number * sum(page.databytecounts)
            page.dataoffsets = tuple(offset + past for offset in page.dataoffsets)
        return page

    def _retell(self, tags: MutableMapping[int, Any], index: int) -> None:
        """Correct a page's tags that are of all pages, and move those of the first page to the first chosen one."""
        if index:
            for tag in (_DESCRIPTION, _IMAGEJ, _IMAGEJ_COUNTS) if self._is_imagej_run else ():
                tags.pop(tag, None)
            return
        first = self._page(0)
        if self.chosen[0] and not (first.is_imagej or first.is_ome):
            return
        if first.is_imagej:
            self._say_imagej(tags, first)
        text = first.description
        keeps_levels, are_floats = self.asked.keeps_levels, self.asked.are_floats
        if first.dtype is not None and size_of(first).bytes_per_sample == F32.itemsize:
            # Integers are among these, which are written as such where levels are kept.
            are_floats |= first.dtype.kind == "f" or not keeps_levels
        kept = kept_description(text, self.chosen, self.count, keeps_levels=keeps_levels, are_floats=are_floats)
        lost = "ImageJ's range of display" if first.is_imagej and "\nmin=" in text and "\nmin=" not in kept else ""
        if text and not kept:
            tags.pop(_DESCRIPTION, None)
            lost = _DESCRIPTION_OF_ALL
        elif kept != text or self.chosen[0]:
            tags[_DESCRIPTION] = kept.encode("utf-8" if first.is_ome else "latin-1", "replace")
        self.left_out = tuple(dict.fromkeys((*self.left_out, *filter(None, [lost]))))

    def _say_imagej(self, tags: MutableMapping[int, Any], first: tifffile.TiffPage) -> None:
        """Put in ImageJ's metadata beside its description, in the byte order of the output."""
        for tag in (_IMAGEJ, _IMAGEJ_COUNTS):
            tags.pop(tag, None)
        metadata = first.tags.valueof(_IMAGEJ)
        if not isinstance(metadata, dict):
            return
        own: dict[str, Any] = dict(metadata)
        if not self.asked.keeps_levels:
            own.pop("Ranges", None)
        labels = own.get("Labels")
        if isinstance(labels, list | tuple) and len(labels) == self.count:
            own["Labels"] = [labels[i] for i in self.chosen]
        for tag, _, count, value, _ in tifffile.imagej_metadata_tag(own, "<"):
            tags[tag] = struct.unpack(f"<{count}I", value) if tag == _IMAGEJ_COUNTS else value


def kept_description(text: str, chosen: Sequence[int], count: int, *, keeps_levels: bool, are_floats: bool) -> str:
    """Return a first page's description for the chosen ones of ``count`` pages, "" if it no longer holds.

    ImageJ's display range is left out unless the output ``keeps_levels``. OME's type of samples is corrected if the
    output's ``are_floats``.
    """
    is_part = len(chosen) < count
    if text.startswith("ImageJ="):
        lines = text.splitlines()
        if not keeps_levels:
            lines = [line for line in lines if line.partition("=")[0] not in _DISPLAY_RANGE]
        if is_part:
            axes = [line.partition("=")[0] for line in lines if line.startswith(_IMAGEJ_AXES)]
            axis = axes[0] if len(axes) == 1 else "slices"  # of several axes no part is a box
            gone: tuple[str, ...] = ("images", "hyperstack", *_IMAGEJ_AXES)
            if chosen[-1] - chosen[0] >= len(chosen):  # distances of neighbors no longer hold
                gone += ("spacing", "finterval", "fps")
            lines = [line for line in lines if line.partition("=")[0] not in gone]
            if len(chosen) > 1:
                lines[1:1] = [f"images={len(chosen)}", f"{axis}={len(chosen)}"]
        return "\n".join(lines) + "\n"
    if IS_OME.search(text[:1000]):
        files = _OME_FILE.findall(text)
        is_of_others = len({*files}) > 1 or (files and len(files) < len(_OME_DATA.findall(text)))
        if is_part or is_of_others or "BinaryOnly" in text:
            return ""
        # The file has another name now, and with that of the old one readers would take that.
        text = _OME_OWN.sub(r"\1", _OME_FILE.sub("", text))
        return text if not are_floats else _OME_BITS.sub(r"\1", _OME_TYPE.sub(r'\1Type="float"', text))
    # tifffile's own says the shape of all.
    return "" if is_part and text.startswith('{"shape"') else text


def size_of(page: tifffile.TiffPage) -> Size:
    """Return the size of a page's image as it is read."""
    kind = page.dtype or U8
    channels = min(3, _colors(page)) + _extra(page)
    depth = kind.itemsize if kind.kind == "u" and kind.itemsize <= U16.itemsize else F32.itemsize
    return Size(page.imagewidth, page.imagelength, channels, depth)


def _colors(page: tifffile.TiffPage) -> int:
    ones = (_WHITE_IS_ZERO, _BLACK_IS_ZERO)
    return 1 if page.photometric in ones or page.samplesperpixel < 3 else 4 if page.photometric == _CMYK else 3


def _extra(page: tifffile.TiffPage) -> int:
    """Return the number of samples of a pixel that are neither gray nor color nor alpha that is kept."""
    return max(0, page.samplesperpixel - _colors(page) - (_alpha_at(page) is not None))


def _alpha_at(page: tifffile.TiffPage) -> int | None:
    """Return which sample of a pixel is alpha: the first one tagged as such, or the only one beside gray or color."""
    if page.photometric == _CMYK:
        return None  # which Pillow drops
    beside = range(_colors(page), page.samplesperpixel)
    kinds = page.extrasamples or (_ALPHA,) * (len(beside) == 1)
    return next((i for i, kind in zip(beside, kinds, strict=False) if kind in (_MULTIPLIED, _ALPHA)), None)


def _check_segments(page: tifffile.TiffPage, data: Content, name: str) -> None:
    """Raise ReadError if a strip or tile is not in the file: readers would leave its place black.

    Tiles that are left out have neither a place nor a length: they have the value that stands for missing samples.
    """
    what, wanted = ("tiles" if page.is_tiled else "strips"), math.prod(page.chunked)
    if wanted > len(data):
        raise ReadError(f"{name}: the tags of this TIFF are damaged; get a whole copy of it")
    segments, end = list(zip(page.dataoffsets, page.databytecounts, strict=False))[:wanted], len(data)
    missing = [i for i, (at, length) in enumerate(segments) if (at or length) and not 0 < length <= end - at < end]
    if missing := [*missing, *range(len(segments), wanted)]:
        said = f"{len(missing)} of its {wanted} {what} are missing, the first is number {missing[0] + 1}"
        raise ReadError(f"{name}: {said}; get a whole copy of it")
    if page.compression == tifffile.COMPRESSION.JPEG:
        across = page.tilewidth if page.is_tiled else page.imagewidth
        for offset, length in segments:
            width, _ = jpeg_size(data[offset : offset + length]) or (across, 0)
            if width < across:
                raise ReadError(f"{name}: its {what} are {width} pixels wide, not {across}; get a whole copy of it")


def is_laid_out_here(page: tifffile.TiffPage) -> bool:
    """Tell whether a page is read here, else by Pillow."""
    is_palette, coding = _has_palette(page), page.compression
    is_ycbcr = page.photometric == _YCBCR and coding in (*_JPEGS, *_IMAGES)  # whose decoders turn it into RGB
    # Of JPEG with 8 bits libtiff sees where it is cut off.
    is_known = page.bitspersample != 8 or coding == _LOSSY_JPEG if coding in _JPEGS else coding in _KNOWN
    return (
        (is_palette or page.photometric in (_WHITE_IS_ZERO, _BLACK_IS_ZERO, _RGB, _LINEAR) or is_ycbcr)
        and is_known
        and isinstance(page.bitspersample, int)
        and page.bitspersample not in (1, 2, 4)
        and page.dtype is not None
        and page.dtype.kind in "uif"
        and (is_palette or page.samplesperpixel >= _colors(page))
        and page.planarconfig in (1, 2)
        and page.imagedepth == 1
        and page.fillorder == 1
        and (is_ycbcr or not page.is_subsampled)
    )


def _said(page: tifffile.TiffPage) -> str:
    bits = page.bitspersample if isinstance(page.bitspersample, tuple) else (page.bitspersample,)
    colors, coded = (getattr(each, "name", each) for each in (page.photometric, page.compression))
    colors = "CMYK" if page.photometric == _CMYK else colors
    return f"a TIFF of {colors}, {', '.join(map(str, bits))} bits a sample, compression {coded},"


def _has_palette(page: tifffile.TiffPage) -> bool:
    is_of_bytes = page.photometric == _PALETTE and page.bitspersample == 8 and page.samplesperpixel == 1
    return is_of_bytes and np.asarray(page.colormap).shape == (3, 256)


def _nodata(page: tifffile.TiffPage) -> float | None:
    try:
        return float(page.tags.valueof(_GDAL_NODATA))
    except (TypeError, ValueError):
        return None


def _laid_out(
    page: tifffile.TiffPage, data: Content, palette: PaletteRule, some: tuple[int, int] | None = None
) -> Picture:
    """Return a page's picture, of samples and a nodata value for which 0 is black, without its metadata.

    ``some`` are the rows as for :func:`_stored_samples`.
    """
    bands = _stored_samples(page, data, page.nodata, some)
    if bands.dtype not in (U8, U16):
        with np.errstate(over="ignore"):  # beyond float32 is infinite
            bands = bands.astype(F32)
    white, nodata, table, hidden = MAXVAL_OF[bands.dtype], _nodata(page), None, None
    if nodata is not None and page.dtype is not None and page.dtype.kind == "f":
        if page.dtype.itemsize < F32.itemsize:
            nodata = float(page.dtype.type(nodata))  # the samples are rounded to few bits, too
        elif page.dtype.itemsize > F32.itemsize:
            nodata = min(max(nodata, -LARGEST), LARGEST)
            bands = np.where(np.isinf(bands) & (np.sign(bands) == np.sign(nodata)), F32.type(nodata), bands)
    if _has_palette(page):
        colors = np.asarray(page.colormap)
        table = table_of(colors.T, palette)
        if table is None:
            if nodata in bands:  # an index, which no color stands for
                hidden = np.where(bands[0] == nodata, 0, white).astype(U8)
            nodata = None
            bands = (colors[:, bands[0]] >> 8).astype(np.uint8)
        bands = bands[:1] if (bands == bands[0]).all() else bands
    if page.photometric == _WHITE_IS_ZERO:
        bands[:1] = white - bands[:1]
        nodata = None if nodata is None else white - nodata
    planes, alpha = _parted(bands, page)
    return Picture(
        planes, alpha if hidden is None else hidden, white, "TIFF", table=table, nodata=nodata, extra=_extra(page)
    )


def _parted(samples: Samples, page: tifffile.TiffPage) -> tuple[Samples, Samples | None]:
    at, colors = _alpha_at(page), _colors(page)
    if at is None:
        return samples, None
    planes, alpha = samples[:-1] if at == len(samples) - 1 else np.delete(samples, at, axis=0), samples[at]
    if page.extrasamples and page.extrasamples[at - colors] == _MULTIPLIED:
        white = MAXVAL_OF[planes.dtype]
        exact = planes[:colors].astype(np.float64) * white / np.where(alpha > 0, alpha, white)
        planes[:colors] = exact if planes.dtype == F32 else np.rint(exact).clip(0, white)
    return planes, alpha


# Strips and tiles


def _lengths(page: tifffile.TiffPage) -> tuple[int, ...]:
    """Return the lengths of a page's strips or tiles without compression."""
    if page.is_tiled:
        return (page.tilelength * _bytes_per_row(page),) * len(page.dataoffsets)
    per_plane = math.prod(page.chunked) // page.shaped[0]
    rows = (
        min(page.rowsperstrip, page.imagelength - i % per_plane * page.rowsperstrip)
        for i in range(len(page.dataoffsets))
    )
    return tuple(each * _bytes_per_row(page) for each in rows)


def _bytes_per_row(page: tifffile.TiffPage) -> int:
    across = page.tilewidth if page.is_tiled else page.imagewidth
    return -(-across * page.shaped[-1] * int(page.bitspersample) // 8)


def _cut(page: tifffile.TiffPage) -> None:
    """Take one strip of all rows, or one for each plane, for many: without compression any rows can be read alone."""
    if page.compression != _NONE or page.is_tiled or page.rowsperstrip < page.imagelength:
        return
    by_row = _bytes_per_row(page)
    if any(length < by_row * page.imagelength for length in page.databytecounts):
        raise ValueError("strip ends early")
    page.rowsperstrip = max(1, _STRIP // by_row)
    starts = range(0, page.imagelength * by_row, page.rowsperstrip * by_row)
    page.dataoffsets = tuple(offset + start for offset in page.dataoffsets for start in starts)
    page.databytecounts = _lengths(page)


def _stored_samples(
    page: tifffile.TiffPage, data: Content, missing: float, some: tuple[int, int] | None = None
) -> Samples:
    """Return a page's samples as they are stored, (channels, height, width); those of tiles left out are ``missing``.

    ``some`` are the first of the rows that are wanted, and the one behind the last. Raises ReadError, and the errors of
    decoders.
    """
    first, stop = some or (0, page.imagelength)
    found = np.full((*page.shaped[:2], stop - first, *page.shaped[3:]), missing, page.dtype)
    rows, across = (page.tilelength, page.tilewidth) if page.is_tiled else (page.rowsperstrip, page.imagewidth)
    planes, beside = page.shaped[0], -(-page.imagewidth // across)
    per_plane = math.prod(page.chunked) // planes
    wanted = range(first // rows * beside, min(-(-stop // rows) * beside, per_plane))
    compression, tables = page.compression, page.jpegtables
    if compression in _BYTES:
        page.compression = tifffile.COMPRESSION.NONE  # it is undone before tifffile's turn
    stored: Any
    decode: Any = page.decode
    for index in (plane * per_plane + each for plane in range(planes) for each in wanted):
        if index >= len(page.dataoffsets) or not (length := page.databytecounts[index]):
            continue
        start = page.dataoffsets[index]
        # The last strip of a plane has the rows that are left, a tile has always all.
        tall = rows if page.is_tiled else min(rows, page.imagelength - index % per_plane * rows)
        stored = data[start : start + length]
        if compression in _IMAGES:
            part = _image(stored, page, _IMAGES[compression], (tall, across))
        else:
            if compression in _JPEGS:
                _refuse_jpeg(stored, (tall, across), index)
            elif name := _BYTES.get(compression):
                # Some writers make the last strip as high as the others.
                most = rows if page.is_tiled else min(rows, page.imagelength)
                stored = codec(f"{name}_decode")(stored, out=most * _bytes_per_row(page))
            part = decode(stored, index, jpegtables=tables)[0][0]
        plane, _, y, x, _ = decode(None, index)[1]
        above = max(0, first - y)
        whole = found[plane, 0, max(0, y - first) : max(0, y + tall - first), x : x + across]
        part = part[above : above + len(whole), : whole.shape[1]]
        whole[: len(part)] = part
    page.compression = compression
    return np.ascontiguousarray(found[:, 0].transpose(0, 3, 1, 2)).reshape(-1, *found.shape[2:4])


def _refuse_jpeg(stored: bytes, sides: tuple[int, int], index: int) -> None:
    """Raise ValueError for a JPEG that is larger than its place, or that has no end, which imagecodecs makes up."""
    width, height = jpeg_size(stored) or (math.inf, math.inf)
    if height > sides[0] or width > sides[1]:
        raise ValueError(f"JPEG {index + 1} is larger than its place")
    if not stored[-_LITTLE:].rstrip(b"\0").endswith(END_OF_JPEG):
        raise ValueError(f"JPEG {index + 1} ends early")


def _image(stored: Any, page: tifffile.TiffPage, name: str, sides: tuple[int, int]) -> Samples:
    """Return the samples (height, width, channels) of a strip or tile that is an image file of its own."""
    if name == "lerc":
        return _of_lerc(stored, page, sides)
    channels = page.shaped[-1]
    # It may leave alpha out where all is opaque.
    options = {"hasalpha": channels == 4} if name == "webp" else {}
    # What is at an edge may be as large as what is left of the picture there.
    height, width = map(min, sides, page.shaped[2:4])
    *others, last = sizes = sorted({sides, (height, sides[1]), (height, width)}, reverse=True)
    if name == "jpeg2k" and (found := jpegs.coded(bytes(stored))[:2]) not in sizes:
        raise ValueError(f"it is {found[1]} x {found[0]} pixels large")  # which the decoder sees only afterwards

    def decoded(size: tuple[int, int]) -> Samples:
        made: Samples = codec(f"{name}_decode")(stored, out=np.empty((*size, channels), page.dtype), **options)
        return made.reshape(*size, channels)

    for size in others:
        with suppress(ValueError):
            return decoded(size)
    return decoded(last)


def _of_lerc(stored: Any, page: tifffile.TiffPage, sides: tuple[int, int]) -> Samples:
    """Return the samples of a strip or tile of LERC, NaN where it has no float: tifffile takes these for 0."""
    size = math.prod(sides) * page.shaped[-1] * np.dtype(page.dtype).itemsize
    if inner := _INSIDE_LERC.get(page.tags.valueof(_LERC_PARAMETERS, (0, 0))[1]):
        stored = codec(f"{inner}_decode")(stored, out=2 * size + _LITTLE)  # no more bytes than that
    values, valid = codec("lerc_decode")(bytes(stored), masks=True, out=bytearray(size))
    if values.ndim == 3 and values.shape[2] != page.shaped[-1]:  # channels come first, and so do masks of their own
        values = np.moveaxis(values, 0, 2)
        valid = valid if valid is None or valid.ndim == 2 else np.moveaxis(valid, 0, 2)
    if valid is not None and values.dtype.kind == "f":
        values[~valid] = np.nan
    made: Samples = values.reshape(*sides, -1)
    return made
