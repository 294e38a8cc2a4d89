"""The samples of a TIFF's page: its strips or tiles are decompressed, and laid out by tifffile.

zlib, or libtiff through Pillow, decompresses them; both give no more bytes than asked for. Other compressions (JPEG
2000, JPEG XL, LERC, WebP) need imagecodecs.
"""

from __future__ import annotations

import io
import math
import zlib
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import accumulate
from typing import Any

import numpy as np
import tifffile
from PIL.TiffImagePlugin import COMPRESSION_INFO, ImageFileDirectory_v2

from ..errors import ReadError, pip_install
from ..files.sources import Content
from .picture import Samples
from .quiet import open_raster

DEFLATE, OF_FLOATS = (8, 32946), 3
"""Numbers of a compression, and of a predictor."""
_NONE, _WEBP = 1, 50001  # Pillow's libtiff knows the last by name alone
_LERC, _LERC_PARAMETERS, _DEFLATED, _BY_ZSTD = 34887, 50674, 1, 2
_LITTLE = 4096  # more bytes than compressions add to what they cannot make smaller
_BLACK_IS_ZERO = 1


def needs_imagecodecs(page: tifffile.TiffPage) -> bool:
    """Tell whether neither zlib nor libtiff decompresses a page."""
    return page.compression not in COMPRESSION_INFO or page.compression == _WEBP


def stored_samples(page: tifffile.TiffPage, data: Content, name: str) -> Samples:
    """Return a page's samples as they are stored, (channels, height, width); raises ReadError."""
    if not needs_imagecodecs(page):
        return _channels(page, data)
    if find_spec("imagecodecs") is None:
        kind = getattr(page.compression, "name", page.compression)
        raise ReadError(f"{name}: compressed by {kind}, which needs imagecodecs: {pip_install(extra='tiff')}")
    if page.compression == _LERC:
        return _channels(page, data)
    pixels = page.asarray()
    if pixels.ndim == 3 and page.planarconfig == 1:
        pixels = pixels.transpose(2, 0, 1)
    if pixels.ndim not in (2, 3) or pixels.dtype.kind not in "uif":
        raise ReadError(f"{name}: {pixels.shape} samples of {pixels.dtype} are not a picture; save it anew")
    return np.ascontiguousarray(pixels).reshape(-1, page.imagelength, page.imagewidth)


def _channels(page: tifffile.TiffPage, data: Content) -> Samples:
    """Return the samples of a page of which tifffile lays out the strips or tiles."""
    assert page.dtype is not None  # noqa: S101  by is_laid_out_here
    compression, page.compression = page.compression, tifffile.COMPRESSION.NONE  # it is undone before tifffile's turn
    is_of_floats = page.predictor == OF_FLOATS
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
        stored = undo(stored, out=2 * size + _LITTLE)  # no more bytes than that
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
    elif compression in DEFLATE:
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
