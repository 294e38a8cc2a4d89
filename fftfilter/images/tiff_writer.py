"""Write TIFF files of 8 and 16 bits, integers and floats, compressed as the input was, and in tiles if that was.

Pillow lays out the tags, as it alone writes groups of tags (EXIF, GPS); tifffile does not. imagecodecs compresses.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL.TiffImagePlugin import ImageFileDirectory_v2

from ..files.atomic import Parts
from .formats import COMPRESSIONS, Coding
from .pages import Sink
from .picture import F32, U8, Depth, Picture, samples_of
from .quiet import codec

_NONE, _DEFLATE = 1, 8
_ENCODERS = {5: "lzw", _DEFLATE: "deflate", 32773: "packbits", 34925: "lzma", 50000: "zstd"}
_STRIP = 1 << 16  # bytes of a strip before it is compressed
_WITH_PREDICTOR = (5, _DEFLATE, 34925, 50000)
_UNKNOWN, _ALPHA = 0, 2  # not multiplied into the others
_OFFSETS, _LENGTHS, _LONG8 = 273, 279, 16
_TILE_OFFSETS, _TILE_LENGTHS = 324, 325
_TILE_STEP = 16  # sides of tiles are multiples of it
_LARGEST = (1 << 32) - (1 << 26)  # more needs BigTIFF; the rest of 4 GiB is for tags
# How a TIFF and a BigTIFF begin, before the position of their first list of tags, and the type of that.
_HEADS = {False: (b"II*\0", "<I"), True: (b"II+\0\x08\0\0\0", "<Q")}

# What a mask does not have of its picture.
_OF_MASK: dict[str, Any] = {**dict.fromkeys(("alpha", "metadata", "table", "integers")), "extra": 0}


class EncodedPage(NamedTuple):
    """A page that has no place in a file yet: its offsets are those from its first strip or tile."""

    tags: dict[int, Any]
    strips: Sequence[memoryview]  # or tiles


def encode(picture: Picture, coding: Coding) -> Parts:
    """Return the parts of a TIFF of a picture without a mask, whose tags come first."""
    page = encode_page(picture, coding)
    is_big = sum(strip.nbytes for strip in page.strips) + _at_most(page.tags) >= _LARGEST
    head, link = _HEADS[is_big]
    at = len(head) + struct.calcsize(link)
    return [head + struct.pack(link, at) + _placed(page.tags, None, at, is_big=is_big)[0], *page.strips]


def strip_rows(picture: Picture, depth: Depth) -> int:
    """Return how many rows are compressed together of a page of a depth that grows by rows."""
    bands, height, width = picture.planes.shape
    if tile := picture.tiff_tile and _tile(picture.tiff_tile, height, width):
        return tile[0]
    by_row = (bands + (picture.alpha is not None)) * width * (depth.integers or depth.dtype).itemsize
    return max(1, _STRIP // int(by_row))


def encode_page(picture: Picture, coding: Coding, whole: int = 0) -> EncodedPage:
    """Return a page: samples of gray or RGB, then extra ones and alpha. A tag whose value is a dict is a group.

    ``whole`` is the height of a picture of which these are some rows.
    """
    samples, extra = samples_of(picture), picture.extra
    compression = COMPRESSIONS[coding.compression] if coding.compression else picture.tiff_compression
    height, width, channels = samples.shape
    tile = picture.tiff_tile and _tile(picture.tiff_tile, whole or height, width)
    if tile:
        samples = _in_tiles(samples, *tile)
    rows = samples.astype(samples.dtype.newbyteorder("<"), order="C", copy=False)
    tags = picture.metadata.tiff_tags() if picture.metadata else {}
    tags[256], tags[257] = width, height
    tags[258] = (8 * samples.dtype.itemsize,) * channels
    known = channels - extra
    tags[262] = 1 if known < 3 else 2  # black is zero, RGB
    if picture.table is not None:
        tags[262], tags[320] = 3, tuple(picture.table.ravel().tolist())
    tags[277] = channels
    if channels not in (1, 3) or extra:
        tags[338] = (_UNKNOWN,) * extra + (_ALPHA,) * (known in (2, 4))
    if samples.dtype.kind != "u":
        tags[339] = ({"i": 2, "f": 3}[samples.dtype.kind],) * channels  # signed, floating point
    if compression not in COMPRESSIONS.values():
        compression = _DEFLATE
    if compression in _WITH_PREDICTOR and samples.dtype != F32:
        tags[317] = 2  # differences of neighbors
        rows = codec("delta_encode")(rows, axis=1)
    flat = rows.reshape(len(rows), -1).view(np.uint8)
    tall = tile[0] if tile else len(rows) if compression == _NONE and not whole else max(1, _STRIP // flat.shape[1])
    parts: list[Any] = [flat[top : top + tall] for top in range(0, len(rows), tall)]
    if name := _ENCODERS.get(compression):
        by_row = {"axis": -1} if name == "packbits" else {}
        parts = [codec(f"{name}_encode")(part, **by_row) for part in parts]
    strips = [memoryview(part).cast("B") for part in parts]
    tags[259] = compression
    lengths = tuple(strip.nbytes for strip in strips)
    offsets = tuple(accumulate(lengths[:-1], initial=0))
    if tile:
        tags[323], tags[322], tags[_TILE_OFFSETS], tags[_TILE_LENGTHS] = *tile, offsets, lengths
    else:
        tags[278], tags[_OFFSETS], tags[_LENGTHS] = tall, offsets, lengths
    return EncodedPage(tags, strips)


def _tile(given: tuple[int, int], height: int, width: int) -> tuple[int, int] | None:
    """Return the height and width of tiles, no larger than the picture needs; None for sides that TIFF forbids."""
    if any(side < 1 or side % _TILE_STEP for side in given):
        return None
    down, across = (min(tile, side + -side % _TILE_STEP) for tile, side in zip(given, (height, width), strict=True))
    return down, across


def _in_tiles(samples: NDArray[Any], down: int, across: int) -> NDArray[Any]:
    """Return the rows of all tiles below each other; those at the edges repeat the last row and column."""
    height, width, channels = samples.shape
    whole = np.pad(samples, ((0, -height % down), (0, -width % across), (0, 0)), mode="edge")
    tiles = whole.reshape(len(whole) // down, down, -1, across, channels).swapaxes(1, 2)
    return np.ascontiguousarray(tiles).reshape(-1, across, channels)


def _at_most(value: object) -> int:
    if isinstance(value, dict):
        return sum(32 + _at_most(each) for each in value.values())
    if isinstance(value, bytes | str):
        return len(value)
    return 8 * len(value) if isinstance(value, tuple | list) else 8


class TiffSink(Sink):
    """A TIFF that grows by pages, whose samples follow each other, as ImageJ expects; all tags come at its end.

    With a ``height`` it grows by rows of pages that have it, a multiple of :func:`strip_rows` at a time.
    """

    def __init__(self, file: BinaryIO, coding: Coding, height: int = 0) -> None:
        self._file, self._coding, self._height = file, coding, height
        self._pages: list[tuple[dict[int, Any], int]] = []  # the tags, and where the samples begin
        self._file.write(bytes(16))  # for either head

    def encode(self, picture: Picture, milliseconds: float | None) -> list[EncodedPage]:  # noqa: ARG002  a TIFF has no durations
        """Return a page, and its mask if it has one."""
        pages = [encode_page(picture, self._coding, self._height)]
        if picture.valid is not None:
            shown = picture.valid.reshape(-1, *picture.valid.shape[-2:]).all(axis=0) * np.array(255, U8)
            pages.append(encode_page(replace(picture, planes=shown[None], **_OF_MASK), self._coding))
            pages[1].tags[254], pages[1].tags[262] = 4, 4  # a mask of transparency
        return pages

    def add(self, encoded: list[EncodedPage]) -> None:
        for page in encoded:
            at = self._file.tell()
            if self._pages and self._pages[-1][0][257] < self._height:
                (tags, start), more = self._pages[-1], page.tags
                tags[257] += more[257]
                own, lengths = (_TILE_OFFSETS, _TILE_LENGTHS) if _TILE_OFFSETS in tags else (_OFFSETS, _LENGTHS)
                tags[own] += tuple(each + at - start for each in more[own])
                tags[lengths] += more[lengths]
            else:
                self._pages.append((page.tags, at))
            self._file.writelines(page.strips)

    def finish(self) -> None:
        is_big = self._file.tell() + sum(_at_most(tags) for tags, _ in self._pages) >= _LARGEST
        head, link = _HEADS[is_big]
        self._file.seek(0)
        link_at = self._file.write(head)
        for tags, start in self._pages:
            at = self._file.seek(0, os.SEEK_END)
            at += self._file.write(bytes(at % 2))
            written, next_link = _placed(tags, start, at, is_big=is_big)
            self._file.write(written)
            self._file.seek(link_at)
            self._file.write(struct.pack(link, at))
            link_at = next_link


def _placed(page: dict[int, Any], start: int | None, at: int, *, is_big: bool) -> tuple[bytes, int]:
    """Return a page's list of tags, and where its link to the next one is; ``start`` is None for samples behind it."""
    head, link = _HEADS[is_big]
    tags = ImageFileDirectory_v2(head + bytes(struct.calcsize(link)))
    for tag, value in page.items():
        # Pillow would make question marks of letters that are not ASCII.
        is_odd = isinstance(value, str) and not value.isascii()
        tags[tag] = value.encode("latin-1", "replace") if is_odd else value
    own = _TILE_OFFSETS if _TILE_OFFSETS in page else _OFFSETS
    tags[own] = (0,) * len(page[own])  # to which Pillow adds where the tags end
    if is_big:
        tags.tagtype[own] = _LONG8
    made = bytearray(tags.tobytes(at))
    offsets = [each + (at + len(made) if start is None else start) for each in page[own]]
    count, entry, entry_bytes, number = ("<Q", "<HHQ", 20, "Q") if is_big else ("<H", "<HHI", 12, "I")
    first = struct.calcsize(count)
    (entries,) = struct.unpack_from(count, made)
    for position in range(first, first + entries * entry_bytes, entry_bytes):
        if struct.unpack_from("<H", made, position)[0] == own:
            value = position + struct.calcsize(entry)
            if len(offsets) > 1:
                value = struct.unpack_from(f"<{number}", made, value)[0] - at
            struct.pack_into(f"<{len(offsets)}{number}", made, value, *offsets)
    return bytes(made), at + first + entries * entry_bytes
