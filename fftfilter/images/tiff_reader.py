"""Read pages of TIFF and BigTIFF: gray and RGB of all real types here; palettes, CMYK, JPEG, fax through Pillow.

tifffile reads the tags and lays the strips or tiles out. zlib, or libtiff through Pillow, decompresses them; both give
no more bytes than asked for. Other compressions (JPEG 2000, JPEG XL, LERC) need imagecodecs, if it is installed. A
strip that is missing or too short is an error.
"""

from __future__ import annotations

import io
import math
import zlib
from contextlib import suppress
from importlib.util import find_spec
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
import tifffile
from PIL.TiffImagePlugin import COMPRESSION_INFO, ImageFileDirectory_v2

from ..errors import ReadError
from .completeness import jpeg_width
from .metadata import ORIENTATION_TAG, of_tiff, upright
from .palette import table_of
from .picture import F32, MAXVAL_OF, U8, U16, Picture, Samples, Size, refuse_oversize
from .pillow_reader import read_tiff_with_pillow
from .quiet import open_raster, quiet_pillow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from PIL import Image

    from ..files.sources import Content
    from .pages import PaletteRule
    from .picture import Working

    Changes = Callable[[Image.Exif], None]

_WHITE_IS_ZERO, _BLACK_IS_ZERO, _RGB, _PALETTE, _CMYK = 0, 1, 2, 3, 5
_NONE, _DEFLATE = 1, (8, 32946)
_BY_LIBTIFF = (5, 32773, 34925, 50000)  # LZW, PackBits, LZMA, Zstandard
_MULTIPLIED, _ALPHA = 1, 2
_COMPLEX = (5, 6)
_GDAL_NODATA = 42113  # a number as text


def read_page(
    page: tifffile.TiffPage,
    data: Content,
    name: str,
    working: Working | None,
    *,
    number: int,
    changes: Changes | None,
    palette: PaletteRule,
) -> Picture:
    """Read the picture of a page; ``name`` begins the message of a ReadError or TooLargeError.

    ``number`` is the page's among the lists of tags, counted from 0; ``changes`` are made in its tags.
    """
    if page.sampleformat in _COMPLEX:
        raise ReadError(
            f"{name}: its samples are complex numbers, and a picture has real ones; save their magnitude, or real and "
            "imaginary part apart"
        )
    refuse_oversize(name, size_of(page), working)
    _check_segments(page, data, name)
    extra, table = _extra(page), None
    needs_imagecodecs = page.compression not in COMPRESSION_INFO
    if is_laid_out_here(page) or needs_imagecodecs:
        bands = _by_imagecodecs(page, name) if needs_imagecodecs else _channels(page, data)
        if bands.dtype not in (U8, U16):
            with np.errstate(over="ignore"):  # beyond float32 is infinite
                bands = bands.astype(F32)
        if _has_palette(page):
            colors = np.asarray(page.colormap)
            table = table_of(colors.T, palette)
            bands = bands if table is not None else (colors[:, bands[0]] >> 8).astype(np.uint8)
            bands = bands[:1] if (bands == bands[0]).all() else bands
        if page.photometric == _WHITE_IS_ZERO:
            bands[:1] = MAXVAL_OF[bands.dtype] - bands[:1]
        picture = Picture(*_parted(bands, page), MAXVAL_OF[bands.dtype], "TIFF", extra=extra)
        orientation = page.tags.valueof(ORIENTATION_TAG, 1)
    else:
        if extra:
            raise ReadError(
                f"{name}: {page.samplesperpixel} samples a pixel, of which {extra} would be lost, as they are coded in "
                "an unusual way; save it as gray or RGB, without compression"
            )
        picture, orientation = read_tiff_with_pillow(data, number, name, working), 1  # Pillow turns a TIFF upright
    picture.table = table
    picture.metadata = of_tiff(page, data, len(picture.planes) - extra if table is None else 3, changes)
    picture.tiff_compression = int(page.compression)
    picture.tiff_tile = (page.tilelength, page.tilewidth) if page.is_tiled else None
    if picture.planes.dtype == F32 and page.dtype is not None and page.dtype.kind in "iu":
        picture.integers = page.dtype.newbyteorder("=")
    with suppress(TypeError, ValueError):
        picture.nodata = float(page.tags.valueof(_GDAL_NODATA))
    return upright(picture, orientation)


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
        and page.compression in (_NONE, *_DEFLATE, *_BY_LIBTIFF)
        and page.bitspersample in (8, 16, 32, 64)
        and page.dtype is not None
        and page.dtype.kind in "uif"
        and (is_palette or page.samplesperpixel >= _colors(page))
        and page.imagedepth == 1
        and page.fillorder == 1
        and page.predictor in (1, 2)
        and not page.is_subsampled
    )


def _has_palette(page: tifffile.TiffPage) -> bool:
    """Whether a page has indices of 8 bits and a color for each."""
    is_of_bytes = page.photometric == _PALETTE and page.bitspersample == 8 and page.samplesperpixel == 1
    return is_of_bytes and np.asarray(page.colormap).shape == (3, 256)


def _by_imagecodecs(page: tifffile.TiffPage, name: str) -> Samples:
    """Return the samples, (channels, height, width), of a page that neither zlib nor libtiff decompresses."""
    if find_spec("imagecodecs") is None:
        kind = getattr(page.compression, "name", page.compression)
        raise ReadError(f"{name}: compressed by {kind}, which needs imagecodecs: pip install imagecodecs")
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
    found = np.empty(page.shaped, page.dtype)
    rows, across = (page.tilelength, page.tilewidth) if page.is_tiled else (page.rowsperstrip, page.imagewidth)
    bytes_per_row = across * page.shaped[-1] * page.dtype.itemsize
    view = memoryview(data) if isinstance(data, bytes) else data
    per_plane = math.prod(page.chunked) // page.shaped[0]
    for first in range(0, math.prod(page.chunked), per_plane):
        these = range(first, first + per_plane)
        # The last strip of a plane has the rows that are left, a tile has always all.
        tall = [rows if page.is_tiled else min(rows, page.imagelength - i * rows) for i in range(per_plane)]
        stored = [view[page.dataoffsets[i] : page.dataoffsets[i] + page.databytecounts[i]] for i in these]
        for index, left, raw in zip(these, tall, _raw(stored, compression, tall, bytes_per_row), strict=True):
            if len(raw) < left * bytes_per_row:
                raise ValueError(f"{'tile' if page.is_tiled else 'strip'} {index} ends early")
            part, (plane, _, y, x, _), _ = page.decode(raw, index)
            if part is not None:  # missing ones are refused above
                whole = found[plane, 0, y : y + left, x : x + across]
                whole[:] = part[0, : whole.shape[0], : whole.shape[1]]
    page.compression = compression
    return np.ascontiguousarray(found[:, 0].transpose(0, 3, 1, 2)).reshape(-1, *found.shape[2:4])


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
        with quiet_pillow():
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
