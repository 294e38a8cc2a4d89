"""The pages of a TIFF: the chain of its lists of tags, or the images behind the one list that ImageJ writes.

Copies of pages in another size (pyramids, thumbnails) and masks are not pages. The first page's description, ImageJ's
or OME's, is of all pages; it is corrected for those that are kept.
"""

from __future__ import annotations

import re
import struct
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import tifffile

from ..errors import ReadError
from ..files.sources import as_file
from .pages import Pages
from .picture import F32
from .pixel_size import of_description
from .quiet import damage_as_error, silence
from .tiff_reader import is_laid_out_here, read_page, size_of

if TYPE_CHECKING:
    from typing import Any

    from PIL import Image

    from ..files.sources import Content
    from .pages import PaletteRule
    from .picture import Picture, Size, Working

_SUBFILE_TYPE, _SUB_IFDS, _DESCRIPTION = 254, 330, 270
_REDUCED, _MASK = 1, 4
_COG, _COG_HEAD = b"LAYOUT=IFDS_BEFORE_DATA", 512  # what GDAL writes at the start, and where
_IMAGEJ_COUNTS, _IMAGEJ = 50838, 50839
_MOST_TAGS = 4096  # more than any file has: a list that promises more is damaged
# Of the descriptions that ImageJ and OME give of all pages.
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
    count_of, entry, link_of = (f"{order}{kind}" for kind in (("Q", "HHQ", "Q") if is_big else ("H", "HHI", "I")))
    entry_bytes = 20 if is_big else 12
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
        for position in range(0, len(entries), entry_bytes):
            tag, number_type, _ = struct.unpack_from(entry, entries, position)
            if tag == _SUBFILE_TYPE:
                value = struct.calcsize(entry) + position
                kind = struct.unpack_from(f"{order}{'H' if number_type == 3 else 'I'}", entries, value)[0]
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
        self._palette = palette
        self.name, self._data, self.nbytes = name, data, len(data)
        try:
            links, self.is_cut = chain(data)
            self._file = tifffile.TiffFile(as_file(data))
            first = self._file.pages.first
            whole = [i for i, link in enumerate(links) if not link.subfile_type & (_REDUCED | _MASK)]
            self._numbers = whole or list(range(len(links)))
            self._offsets = [links[i].offset for i in self._numbers]
            # ImageJ writes the tags of the first page alone where the others are just like it.
            said = int((self._file.imagej_metadata or {}).get("images", 1)) if first.is_imagej else 1
            self._is_imagej_run = len(links) == 1 and said > 1 and first.compression == 1
        except Exception as error:  # tifffile raises almost anything on damaged tags
            raise ReadError(f"{name}: the tags of this TIFF are damaged; get a whole copy of it") from error
        if not links or not isinstance(first, tifffile.TiffPage) or first.imagewidth < 1 or first.imagelength < 1:
            raise ReadError(f"{name}: a TIFF without a picture; give another one")
        self.count = len(self._offsets)
        if self._is_imagej_run:
            self.count = min(said, (len(data) - first.dataoffsets[0]) // sum(first.databytecounts))
            self.is_cut = self.count < said
        self.chosen = range(self.count)
        if len(whole) < len(links) or any(links[i].has_copies for i in self._numbers):
            self.left_out = ("reduced copies of pages",)
        if _COG in data[:_COG_HEAD]:
            self.left_out += ("the layout of a cloud-optimized GeoTIFF",)

    @property
    def pixels(self) -> int:
        with damage_as_error(self.name):
            size = self.size()
        return len(self.chosen) * size.width * size.height

    def size(self) -> Size:
        """Return the size of the first page, with the number of pages."""
        return size_of(self._page(0))._replace(pages=self.count)

    def read(self, index: int, working: Working | None = None) -> Picture:
        number = self.chosen[index]
        is_alone = self.count == 1 and not self.is_cut
        name = self.name if is_alone else self.page_name(index)
        with damage_as_error(name):
            page = self._page(number)
            if self._is_imagej_run and not is_laid_out_here(page):
                raise ReadError(f"{name}: has an unusual layout, and no tags of its own; save it anew")
            in_chain = self._numbers[0 if self._is_imagej_run else number]
            changes = None if is_alone else lambda tags: self._retell(tags, index)
            picture = read_page(
                page, self._data, name, working, number=in_chain, changes=changes, palette=self._palette
            )
        if index == 0 and len(self.chosen) < self.count and picture.metadata:
            # OME says the size of a pixel for all pages, and the description of all is left out.
            first = self._page(0)
            if first.is_ome and (size := of_description(first.description)):
                dpi = picture.metadata.dpi or size.dpi
                picture.metadata = replace(picture.metadata, pixel_size=size, dpi=dpi)
        return picture

    def close(self) -> None:
        self._file.close()
        if not isinstance(self._data, bytes):
            self._data.close()

    def _page(self, number: int) -> tifffile.TiffPage:
        handle = self._file.filehandle
        handle.seek(self._offsets[0 if self._is_imagej_run else number])
        page = tifffile.TiffPage(self._file, index=number)
        if self._is_imagej_run:
            past = number * sum(page.databytecounts)
            page.dataoffsets = tuple(offset + past for offset in page.dataoffsets)
        return page

    def _retell(self, tags: Image.Exif, index: int) -> None:
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
        said = first.description
        are_floats = self.are_floats or (first.dtype is not None and size_of(first).bytes_per_sample == F32.itemsize)
        kept = kept_description(said, self.chosen, self.count, keeps_levels=self.keeps_levels, are_floats=are_floats)
        if said and not kept:
            tags.pop(_DESCRIPTION, None)
            self.left_out = tuple(dict.fromkeys((*self.left_out, "the description of all pages")))
        elif kept != said or self.chosen[0]:
            tags[_DESCRIPTION] = kept.encode("utf-8" if first.is_ome else "latin-1", "replace")

    def _say_imagej(self, tags: Image.Exif, first: tifffile.TiffPage) -> None:
        """Put in ImageJ's metadata beside its description, in the byte order of the output."""
        for tag in (_IMAGEJ, _IMAGEJ_COUNTS):
            tags.pop(tag, None)
        said = first.tags.valueof(_IMAGEJ)
        if not isinstance(said, dict):
            return
        own: dict[str, Any] = dict(said)
        if not self.keeps_levels:
            own.pop("Ranges", None)
        labels = own.get("Labels")
        if isinstance(labels, list | tuple) and len(labels) == self.count:
            own["Labels"] = [labels[i] for i in self.chosen]
        for tag, _, count, value, _ in tifffile.imagej_metadata_tag(own, "<"):
            tags[tag] = struct.unpack(f"<{count}I", value) if tag == _IMAGEJ_COUNTS else value


def kept_description(text: str, chosen: range, count: int, *, keeps_levels: bool, are_floats: bool) -> str:
    """Return a first page's description for the chosen ones of ``count`` pages, "" if it no longer holds.

    ImageJ's display range is left out unless the output ``keeps_levels``. OME's type of samples is corrected if the
    output's ``are_floats``.
    """
    if text.startswith("ImageJ="):
        return _imagej(text, chosen, count, keeps_levels=keeps_levels)
    is_part = len(chosen) < count
    if "<OME" in text[:1000]:
        if is_part or not are_floats:
            return "" if is_part else text
        return _OME_BITS.sub(r"\1", _OME_TYPE.sub(r'\1Type="float"', text))
    # tifffile's own says the shape of all.
    return "" if is_part and text.startswith('{"shape"') else text


def _imagej(text: str, chosen: range, count: int, *, keeps_levels: bool) -> str:
    lines = text.splitlines()
    if not keeps_levels:
        lines = [line for line in lines if line.partition("=")[0] not in _DISPLAY_RANGE]
    if len(chosen) < count:
        axes = [line.partition("=")[0] for line in lines if line.startswith(_IMAGEJ_AXES)]
        axis = axes[0] if len(axes) == 1 else "slices"  # of several axes no part is a box
        gone = ("images", "hyperstack", *_IMAGEJ_AXES)
        lines = [line for line in lines if line.partition("=")[0] not in gone]
        if len(chosen) > 1:
            lines[1:1] = [f"images={len(chosen)}", f"{axis}={len(chosen)}"]
    return "\n".join(lines) + "\n"
