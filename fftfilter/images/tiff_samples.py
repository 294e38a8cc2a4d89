"""The samples of a TIFF's page: imagecodecs decompresses its strips or tiles, and tifffile lays them out.

A decoder gets a buffer of the size that the tags speak of, and refuses what would be larger: a strip of a few bytes
takes no more memory than its rows.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import numpy as np
import tifffile

from ..files.sources import Content
from . import jpegs
from .picture import Samples
from .pillow_reader import jpeg_size
from .quiet import codec

_NONE, _LERC, _LERC_PARAMETERS = 1, 34887, 50674
END_OF_JPEG = b"\xff\xd9"
_LOSSY_JPEG = 34892
JPEGS = (6, 7, 33007, _LOSSY_JPEG)
"""Numbers of compressions that are JPEG, most of 8 bits."""
_BYTES = {5: "lzw", 8: "deflate", 32773: "packbits", 32946: "deflate", 34925: "lzma", 50000: "zstd"}
_IMAGES = {
    **dict.fromkeys((33003, 33004, 33005, 34712), "jpeg2k"),
    **dict.fromkeys((22610, 34934), "jpegxr"),
    **dict.fromkeys((50002, 52546), "jpegxl"),
    _LERC: "lerc",
    34933: "png",
    50001: "webp",
}
_INSIDE_LERC = {1: "deflate", 2: "zstd"}
_STRIP = 1 << 16  # bytes of a strip that is cut from a larger one
_LITTLE = 4096  # more bytes than compressions add to what they cannot make smaller


def is_known(page: tifffile.TiffPage) -> bool:
    """Tell whether a page's compression is undone here; JPEG of 8 bits is not, as libtiff sees where it is cut off."""
    if page.compression in JPEGS:
        return page.bitspersample != 8 or page.compression == _LOSSY_JPEG
    return page.compression in (_NONE, *_BYTES, *_IMAGES)


def turns_to_rgb(page: tifffile.TiffPage) -> bool:
    """Tell whether the decoder of a page turns YCbCr into RGB."""
    return page.compression in (*JPEGS, *_IMAGES)


def lengths(page: tifffile.TiffPage) -> tuple[int, ...]:
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


def cut(page: tifffile.TiffPage) -> None:
    """Take one strip of all rows, or one for each plane, for many: without compression any rows can be read alone."""
    if page.compression != _NONE or page.is_tiled or page.rowsperstrip < page.imagelength:
        return
    by_row = _bytes_per_row(page)
    if any(length < by_row * page.imagelength for length in page.databytecounts):
        raise ValueError("strip ends early")
    page.rowsperstrip = max(1, _STRIP // by_row)
    starts = range(0, page.imagelength * by_row, page.rowsperstrip * by_row)
    page.dataoffsets = tuple(offset + start for offset in page.dataoffsets for start in starts)
    page.databytecounts = lengths(page)


def stored_samples(
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
            if compression in JPEGS:
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
