"""Read TIFF and BigTIFF: the chain of its lists of tags, or the images behind the one list that ImageJ writes.

Thumbnails, pyramid levels and masks are skipped. ImageJ and OME describe all pages in the first one; the description
is corrected for those that are kept.

Gray, RGB and palettes of all real types are read here, CMYK, JPEG and fax through Pillow. tifffile reads the tags and
lays the strips or tiles out. zlib, or libtiff through Pillow, decompresses them; both give no more bytes than asked
for. Other compressions (JPEG 2000, JPEG XL, LERC, WebP) need imagecodecs. A strip that is missing or too short is an
error.
"""

from __future__ import annotations

import io
import math
import re
import struct
import zlib
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import tifffile
from PIL.TiffImagePlugin import COMPRESSION_INFO, ImageFileDirectory_v2

from ..errors import ReadError
from ..files.sources import Content, as_file
from .formats import COMPRESSIONS
from .metadata import ORIENTATION_TAG, of_tiff, upright
from .pages import MASKS, Pages, PaletteRule
from .picture import F32, MAXVAL_OF, U8, U16, Picture, Samples, Size, Working, refuse_oversize, table_of
from .pillow_reader import jpeg_width, read_tiff_with_pillow
from .pixel_size import of_description
from .quiet import damage_as_error, open_raster, silence

_WHITE_IS_ZERO, _BLACK_IS_ZERO, _RGB, _PALETTE, _CMYK = 0, 1, 2, 3, 5
_NONE, _DEFLATE, _WEBP = 1, (8, 32946), 50001  # Pillow's libtiff knows the last by name alone
_OF_FLOATS = 3  # a predictor
_LERC, _LERC_PARAMETERS, _DEFLATED, _BY_ZSTD = 34887, 50674, 1, 2
_MULTIPLIED, _ALPHA = 1, 2
_COMPLEX = (5, 6)
_GDAL_NODATA = 42113  # a number as text
_SUBFILE_TYPE, _SUB_IFDS, _DESCRIPTION = 254, 330, 270
_REDUCED, _MASK = 1, 4
_COG, _COG_HEAD = b"LAYOUT=IFDS_BEFORE_DATA", 512  # what GDAL writes at the start, and where
_IMAGEJ_COUNTS, _IMAGEJ = 50838, 50839
_MOST_TAGS = 4096  # more than any file has: a list that promises more is damaged
# Fields of ImageJ's and OME's descriptions.
_IMAGEJ_AXES = ("channels", "slices", "frames")
_DISPLAY_RANGE = ("min", "max")
_OME_TYPE = re.compile(r'(<(?:\w+:)?Pixels\b[^>]*?)\bType="[^"]*"')
_OME_BITS = re.compile(r'(<(?:\w+:)?Pixels\b[^>]*?) SignificantBits="[^"]*"')


class Link(NamedTuple):
    """A list of tags."""

    offset: int
    subfile_type: int
    has_copies: bool


def chain(data: Content) -> tuple[list[Link], bool]:
    """Return a TIFF's lists of tags, and whether the file is cut off before the next one."""
    order, is_big = ("<" if data[:2] == b"II" else ">"), b"\x2b" in data[2:4]
    count_of, entry, link_of = (f"{order}{kind}" for kind in (("Q", "HHQ8s", "Q") if is_big else ("H", "HHI4s", "I")))
    entry_bytes = struct.calcsize(entry)
    at, found, seen = (8 if is_big else 4), list[Link](), set[int]()
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
        found.append(Link(offset, kind, has_copies))
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
            whole = [i for i, link in enumerate(links) if not link.subfile_type & (_REDUCED | _MASK)]
            self._numbers = whole or list(range(len(links)))
            self._offsets = [links[i].offset for i in self._numbers]
            # ImageJ writes the tags of the first page alone where the others are just like it.
            promised = int((self._file.imagej_metadata or {}).get("images", 1)) if first.is_imagej else 1
            self._is_imagej_run = len(links) == 1 and promised > 1 and first.compression == 1
        except Exception as error:  # tifffile raises almost anything on damaged tags
            raise ReadError(f"{name}: the tags of this TIFF are damaged; get a whole copy of it") from error
        if not links or not isinstance(first, tifffile.TiffPage) or first.imagewidth < 1 or first.imagelength < 1:
            raise ReadError(f"{name}: a TIFF without a picture; give another one")
        self.count = len(self._offsets)
        if self._is_imagej_run:
            self.count = min(promised, (len(data) - first.dataoffsets[0]) // sum(first.databytecounts))
            self.is_cut = self.count < promised
        self.chosen = range(self.count)
        if any(link.subfile_type & _REDUCED or link.has_copies for link in links):
            self.left_out = ("reduced copies of pages",)
        if any(link.subfile_type & (_REDUCED | _MASK) == _MASK for link in links):
            self.left_out += (MASKS,)
        if _COG in data[:_COG_HEAD]:
            self.left_out += ("the layout of a cloud-optimized GeoTIFF",)

    def size(self) -> Size:
        with damage_as_error(self.name):
            return size_of(self._page(0))._replace(pages=self.count)

    def read(self, index: int, working: Working | None = None) -> Picture:
        name = self.page_name(index)
        with damage_as_error(name):
            page = self._page(self.chosen[index])
            if self._is_imagej_run and not is_laid_out_here(page):
                raise ReadError(f"{name}: has an unusual layout, and no tags of its own; save it anew")
            picture = self._picture(page, index, name, working)
        if index == 0 and len(self.chosen) < self.count and picture.metadata:
            # OME says the size of a pixel for all pages, and the description of all is left out.
            first = self._page(0)
            if first.is_ome and (size := of_description(first.description)):
                dpi = picture.metadata.dpi or size.dpi
                picture.metadata = replace(picture.metadata, pixel_size=size, dpi=dpi)
        return picture

    def _picture(self, page: tifffile.TiffPage, index: int, name: str, working: Working | None) -> Picture:
        if page.sampleformat in _COMPLEX:
            raise ReadError(
                f"{name}: its samples are complex numbers; save their magnitude, or both parts of them apart"
            )
        size = size_of(page)
        refuse_oversize(name, size, working)
        if page.is_tiled:  # a tile may be larger than the picture
            refuse_oversize(name, size._replace(width=page.tilewidth, height=page.tilelength))
        _check_segments(page, self.data, name)
        extra = _extra(page)
        if is_laid_out_here(page) or _needs_imagecodecs(page):
            picture = _laid_out(page, self.data, name, self._palette)
            orientation = page.tags.valueof(ORIENTATION_TAG, 1)
        else:
            if extra:
                raise ReadError(
                    f"{name}: {page.samplesperpixel} samples a pixel, of which {extra} would be lost, as they are "
                    "coded in an unusual way; save it as gray or RGB, without compression"
                )
            in_chain = self._numbers[0 if self._is_imagej_run else self.chosen[index]]
            picture, orientation = read_tiff_with_pillow(self.data, in_chain, name, working), 1  # it is upright then
            nodata = None if page.photometric == _PALETTE else _nodata(page)
            if nodata and page.bitspersample in (1, 2, 4):
                nodata *= 255 / (2**page.bitspersample - 1)  # as white, which becomes 255
            picture.nodata = nodata

        def changes(tags: MutableMapping[int, Any]) -> None:
            self._retell(tags, index)
            if picture.nodata is None:
                tags.pop(_GDAL_NODATA, None)
            elif picture.nodata != _nodata(page):
                tags[_GDAL_NODATA] = f"{picture.nodata:.17g}"

        colors = len(picture.planes) - extra if picture.table is None else 3
        picture.metadata = of_tiff(page, self.data, colors, changes)
        picture.tiff_compression = int(page.compression)
        picture.tiff_tile = (page.tilelength, page.tilewidth) if page.is_tiled else None
        if picture.planes.dtype == F32 and page.dtype is not None and page.dtype.kind in "iu":
            picture.integers = page.dtype.newbyteorder("=")
        return upright(picture, orientation)

    def _page(self, number: int) -> tifffile.TiffPage:
        handle = self._file.filehandle
        handle.seek(self._offsets[0 if self._is_imagej_run else number])
        page = tifffile.TiffPage(self._file, index=number)
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
        if not first.is_imagej and self.chosen[0]:
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
            lost = "the description of all pages"
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
            gone = ("images", "hyperstack", *_IMAGEJ_AXES)
            lines = [line for line in lines if line.partition("=")[0] not in gone]
            if len(chosen) > 1:
                lines[1:1] = [f"images={len(chosen)}", f"{axis}={len(chosen)}"]
        return "\n".join(lines) + "\n"
    if "<OME" in text[:1000]:
        if is_part or not are_floats:
            return "" if is_part else text
        return _OME_BITS.sub(r"\1", _OME_TYPE.sub(r'\1Type="float"', text))
    # tifffile's own says the shape of all.
    return "" if is_part and text.startswith('{"shape"') else text


def size_of(page: tifffile.TiffPage) -> Size:
    """Return the size of a page's image as it is read."""
    kind = page.dtype or U8
    channels = min(3, _colors(page)) + _extra(page)
    depth = kind.itemsize if kind.kind == "u" and kind.itemsize <= U16.itemsize else F32.itemsize
    return Size(page.imagewidth, page.imagelength, channels, depth)


def _colors(page: tifffile.TiffPage) -> int:
    return {_WHITE_IS_ZERO: 1, _BLACK_IS_ZERO: 1, _CMYK: 4}.get(page.photometric, 3)


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
    """Raise ReadError if a strip or tile is not in the file: readers would leave its place black."""
    what, wanted = ("tiles" if page.is_tiled else "strips"), math.prod(page.chunked)
    found = sum(
        length > 0 and offset + length <= len(data)
        for offset, length in zip(page.dataoffsets, page.databytecounts, strict=False)
    )
    if wanted > len(data):
        raise ReadError(f"{name}: the tags of this TIFF are damaged; get a whole copy of it")
    if found < wanted:
        raise ReadError(f"{name}: {wanted - found} of its {wanted} {what} are missing; get a whole copy of it")
    if page.compression == tifffile.COMPRESSION.JPEG:
        across = page.tilewidth if page.is_tiled else page.imagewidth
        for offset, length in zip(page.dataoffsets, page.databytecounts, strict=True):
            width = jpeg_width(data[offset : offset + length])
            if width is not None and width < across:
                raise ReadError(f"{name}: its {what} are {width} pixels wide, not {across}; get a whole copy of it")


def is_laid_out_here(page: tifffile.TiffPage) -> bool:
    """Tell whether a page is read here, else by Pillow."""
    is_palette = _has_palette(page)
    return (
        (is_palette or page.photometric in (_WHITE_IS_ZERO, _BLACK_IS_ZERO, _RGB))
        and page.compression in (*COMPRESSIONS.values(), *_DEFLATE)
        and page.bitspersample in (8, 16, 32, 64)
        and page.dtype is not None
        and page.dtype.kind in "uif"
        and (is_palette or page.samplesperpixel >= _colors(page))
        and page.planarconfig in (1, 2)
        and page.imagedepth == 1
        and page.fillorder == 1
        and (page.predictor in (1, 2) or (page.predictor, page.dtype.kind) == (_OF_FLOATS, "f"))
        and not page.is_subsampled
    )


def _has_palette(page: tifffile.TiffPage) -> bool:
    """Whether a page has indices of 8 bits and a color for each."""
    is_of_bytes = page.photometric == _PALETTE and page.bitspersample == 8 and page.samplesperpixel == 1
    return is_of_bytes and np.asarray(page.colormap).shape == (3, 256)


def _nodata(page: tifffile.TiffPage) -> float | None:
    try:
        return float(page.tags.valueof(_GDAL_NODATA))
    except (TypeError, ValueError):
        return None


def _laid_out(page: tifffile.TiffPage, data: Content, name: str, palette: PaletteRule) -> Picture:
    """Return a page's picture, of samples and a nodata value for which 0 is black, without its metadata."""
    bands = _by_imagecodecs(page, data, name) if _needs_imagecodecs(page) else _channels(page, data)
    if bands.dtype not in (U8, U16):
        with np.errstate(over="ignore"):  # beyond float32 is infinite
            bands = bands.astype(F32)
    white, nodata, table, hidden = MAXVAL_OF[bands.dtype], _nodata(page), None, None
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


def _needs_imagecodecs(page: tifffile.TiffPage) -> bool:
    return page.compression not in COMPRESSION_INFO or page.compression == _WEBP


def _by_imagecodecs(page: tifffile.TiffPage, data: Content, name: str) -> Samples:
    """Return the samples, (channels, height, width), of a page that neither zlib nor libtiff decompresses."""
    if find_spec("imagecodecs") is None:
        kind = getattr(page.compression, "name", page.compression)
        raise ReadError(f"{name}: compressed by {kind}, which needs imagecodecs: pip install 'fftfilter[tiff]'")
    if page.compression == _LERC:
        return _channels(page, data)
    pixels = page.asarray()
    if pixels.ndim == 3 and page.planarconfig == 1:
        pixels = pixels.transpose(2, 0, 1)
    if pixels.ndim not in (2, 3) or pixels.dtype.kind not in "uif":
        raise ReadError(f"{name}: {pixels.shape} samples of {pixels.dtype} are not a picture; save it anew")
    return np.ascontiguousarray(pixels).reshape(-1, page.imagelength, page.imagewidth)


def _channels(page: tifffile.TiffPage, data: Content) -> Samples:
    """Return a page's samples as they are stored, (channels, height, width)."""
    assert page.dtype is not None  # noqa: S101  by is_laid_out_here
    compression, page.compression = page.compression, tifffile.COMPRESSION.NONE  # it is undone before tifffile's turn
    is_of_floats = page.predictor == _OF_FLOATS
    page.predictor = tifffile.PREDICTOR.NONE if is_of_floats else page.predictor  # and so is what needs imagecodecs
    found = np.zeros(page.shaped, page.dtype)
    rows, across = (page.tilelength, page.tilewidth) if page.is_tiled else (page.rowsperstrip, page.imagewidth)
    bytes_per_row = across * page.shaped[-1] * page.dtype.itemsize
    view = memoryview(data) if isinstance(data, bytes) else data
    per_plane = math.prod(page.chunked) // page.shaped[0]
    for first in range(0, math.prod(page.chunked), per_plane):
        these = range(first, first + per_plane)
        # The last strip of a plane has the rows that are left, a tile has always all.
        tall = [rows if page.is_tiled else min(rows, page.imagelength - i * rows) for i in range(per_plane)]
        stored = [view[page.dataoffsets[i] : page.dataoffsets[i] + page.databytecounts[i]] for i in these]
        if compression == _LERC:
            stored = [_of_lerc(each, page, left * bytes_per_row) for each, left in zip(stored, tall, strict=True)]
        raws = _raw(stored, _NONE if compression == _LERC else compression, tall, bytes_per_row)
        for index, left, raw in zip(these, tall, raws, strict=True):
            if len(raw) < left * bytes_per_row:
                raise ValueError(f"{'tile' if page.is_tiled else 'strip'} {index} ends early")
            whole_rows = _undifferenced(raw, page, left) if is_of_floats else raw
            part, (plane, _, y, x, _), _ = page.decode(whole_rows, index)
            if part is not None:  # missing ones are refused above
                whole = found[plane, 0, y : y + left, x : x + across]
                whole[:] = part[0, : whole.shape[0], : whole.shape[1]]
    page.compression = compression
    return np.ascontiguousarray(found[:, 0].transpose(0, 3, 1, 2)).reshape(-1, *found.shape[2:4])


def _undifferenced(raw: bytes | memoryview, page: tifffile.TiffPage, rows: int) -> bytes:
    """Undo the predictor of floats: sum up their bytes, which stand apart in each row, the highest first."""
    assert page.dtype is not None  # noqa: S101  by is_laid_out_here
    sums = np.frombuffer(raw, np.uint8).reshape(rows, -1, page.shaped[-1]).cumsum(1, dtype=np.uint8)
    apart = sums.reshape(rows, page.dtype.itemsize, -1)[:, :: -1 if page.parent.byteorder == "<" else 1]
    return apart.transpose(0, 2, 1).tobytes()


def _of_lerc(stored: bytes | memoryview, page: tifffile.TiffPage, size: int) -> bytes:
    """Return the bytes of a strip or tile of LERC, NaN where it has no float: tifffile takes these for 0."""
    imagecodecs: Any = import_module("imagecodecs")  # whose types are not those of each version
    inner = page.tags.valueof(_LERC_PARAMETERS, (0, 0))[1]
    if undo := {_DEFLATED: imagecodecs.zlib_decode, _BY_ZSTD: imagecodecs.zstd_decode}.get(inner):
        stored = undo(stored, out=2 * size + _MOST_TAGS)  # no more bytes than that
    values, valid = imagecodecs.lerc_decode(bytes(stored), masks=True, out=bytearray(size))
    if values.ndim == 3 and values.shape[2] != page.shaped[-1]:  # channels come first, and so do masks of their own
        values = np.moveaxis(values, 0, 2)
        valid = valid if valid is None or valid.ndim == 2 else np.moveaxis(valid, 0, 2)
    if valid is not None and values.dtype.kind == "f":
        values[~valid] = np.nan
    samples: bytes = values.astype(values.dtype.newbyteorder(page.parent.byteorder)).tobytes()
    return samples


def _raw(
    stored: Sequence[bytes | memoryview], compression: int, tall: Sequence[int], bytes_per_row: int
) -> Iterator[bytes | memoryview]:
    """Yield the bytes of strips or tiles without compression, fewer than expected if one ends early."""
    if compression == _NONE:
        yield from (data[: rows * bytes_per_row] for data, rows in zip(stored, tall, strict=True))
    elif compression in _DEFLATE:
        for data, rows in zip(stored, tall, strict=True):
            yield zlib.decompressobj().decompress(data, rows * bytes_per_row)
    else:
        # All at once, as strips of a gray picture of 8 bits, whatever the samples are.
        tags = ImageFileDirectory_v2(b"II*\0" + bytes(4))
        tags[256], tags[257], tags[278] = bytes_per_row, sum(tall), tall[0]
        tags[258], tags[259], tags[262], tags[277] = 8, compression, _BLACK_IS_ZERO, 1
        tags[279] = tuple(len(data) for data in stored)
        tags[273] = tuple(accumulate(tags[279][:-1], initial=0))  # counted from the end of the tags
        head = io.BytesIO()
        tags.save(head)
        image = open_raster(io.BytesIO(b"".join((head.getvalue(), *stored))), "TIFF")
        whole, end = memoryview(image.tobytes()), 0
        for rows in tall:
            end += rows * bytes_per_row
            yield whole[end - rows * bytes_per_row : end]


def _parted(samples: Samples, page: tifffile.TiffPage) -> tuple[Samples, Samples | None]:
    """Return the planes of channels, and alpha if one of them is that."""
    at, colors = _alpha_at(page), _colors(page)
    if at is None:
        return samples, None
    planes, alpha = samples[:-1] if at == len(samples) - 1 else np.delete(samples, at, axis=0), samples[at]
    if page.extrasamples and page.extrasamples[at - colors] == _MULTIPLIED:
        white = MAXVAL_OF[planes.dtype]
        exact = planes[:colors].astype(np.float64) * white / np.where(alpha > 0, alpha, white)
        planes[:colors] = exact if planes.dtype == F32 else np.rint(exact).clip(0, white)
    return planes, alpha
