"""Truncated files: missing rows that Pillow leaves black or gray without an error, damaged chunks of a PNG, and WebP.

Pillow refuses a file whose bytes end too early, but not one whose compressed data do. It also refuses a JPEG that lacks
only its last marker.
"""

from __future__ import annotations

import io
import re
import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ReadError
from .png_writer import chunks_of
from .quiet import open_raster, quiet_pillow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PIL import ImageFile

_PNG = re.compile(rb"\x89PNG\r\n\x1a\n")
_INTERLACED = 28  # where the header says so
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
# The first column and row of each pass of an interlaced PNG, and the steps to the next.
_PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
_JPEG_MARKER = re.compile(rb"\xff+([^\x00\x01\xd0-\xd8\xff])")
_START_OF_SCAN, _END_OF_IMAGE = 0xDA, 0xD9
_FRAMES = (0xC0, 0xC1, 0xC2, 0xC9, 0xCA)


def refuse_missing_rows(image: ImageFile.ImageFile, data: bytes) -> None:
    """Raise ValueError if a loaded image has rows that are not in its file's bytes."""
    if image.format in ("PNG", "ICO"):
        with quiet_pillow():
            last_row = np.asarray(image.crop((0, image.height - 1, *image.size)))
        # A missing last row is zero, but for an interlaced picture, whose rows come in turns.
        if image.format == "ICO" or data[_INTERLACED] or not last_row.any():
            for start in _PNG.finditer(data):
                _check_png(data[start.start() :])
    elif image.format in ("JPEG", "MPO"):
        # Missing pixels are gray. If the last one is, a closer look tells whether it is missing.
        corner = np.asarray(image.getpixel((image.width - 1, image.height - 1)))
        if np.isin(corner, (127, 128)).all() and _needs_more(data, _jpeg_end(data)[0]):
            raise ValueError("its pixels end before its last row")


# PNG


def check_chunks(data: bytes) -> int:
    """Return where a PNG ends; raises ValueError if its chunks are damaged or incomplete, as Pillow checks no CRCs."""
    view = memoryview(data)
    for kind, start, end in chunks_of(data):
        if start + 4 > len(data):
            break
        if view[end : end + 4] != struct.pack(">I", zlib.crc32(view[start - 4 : end])):
            raise ValueError(f"the checksum of a chunk, {kind.decode('latin-1')!r}, is wrong")
        if kind == b"IEND":
            return end + 4
    raise ValueError("it ends before its last chunk")


def _check_png(data: bytes) -> None:
    """Raise ValueError if the compressed data of a PNG have less than all rows."""
    width, height, bits, color, _, _, interlaced = struct.unpack_from(">IIBBBBB", data, 16)
    grids = _PASSES if interlaced else ((0, 0, 1, 1),)
    sizes = [(-(-(width - x) // across), -(-(height - y) // down)) for x, y, across, down in grids]
    rows = [(tall, 1 + -(-wide * bits * _CHANNELS[color] // 8)) for wide, tall in sizes if wide > 0]
    wanted = sum(tall * row for tall, row in rows)
    stored = b"".join(data[start:end] for kind, start, end in chunks_of(data) if kind == b"IDAT")
    missing = wanted - len(zlib.decompressobj().decompress(stored, wanted))
    if missing > 0 and not interlaced:
        raise ValueError(f"{-(-missing // rows[0][1])} of its {height} rows are missing")
    if missing > 0:
        raise ValueError(f"{missing} of the {wanted} bytes of its rows are missing")


# WebP


def riff_chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield the kind of each chunk of a WebP, and where its content begins and ends, as :func:`chunks_of`."""
    start = 20
    while start <= len(data):
        kind, length = struct.unpack_from("<4sI", data, start - 8)
        yield kind, start, start + length
        start += length + length % 2 + 8


def webp_frames(data: bytes) -> tuple[int, bool]:
    """Return the number of whole frames of an animated WebP, and whether the file is cut off."""
    frames = [end <= len(data) for kind, _, end in riff_chunks(data) if kind == b"ANMF"]
    return sum(frames), not all(frames) or len(data) < 8 + int.from_bytes(data[4:8], "little")


def refuse_cut_webp(data: bytes, name: str) -> None:
    """Raise ReadError for an animated WebP that ends before its last frame; Pillow does not open it at all."""
    frames, is_cut = webp_frames(data)
    if is_cut and b"ANMF" in data:
        raise ReadError(f"{name}: page {frames + 1} is missing, the file ends before it; get a whole copy of it")


# JPEG


def whole_jpeg(data: bytes) -> bytes:
    """Return a JPEG's bytes, with the marker of its end if that alone is missing.

    Raises ValueError if pixels are missing, too.
    """
    if data.endswith(b"\xff\xd9"):
        return data  # without a walk through all markers
    end, has_all_scans = _jpeg_end(data)
    if end < len(data):
        return data
    data = data.removesuffix(b"\xff")  # half of the marker
    if not has_all_scans or _needs_more(data, len(data)):
        raise ValueError("it ends within its pixels")
    return data + bytes((0xFF, _END_OF_IMAGE))


def behind_jpeg(data: bytes) -> bytes:
    """Return the JPEG that follows the end of another one, nothing if none does."""
    if b"\xff\xd9\xff\xd8\xff" not in data:
        return b""  # without a walk through all markers
    rest = data[_jpeg_end(data)[0] + 2 :]
    return rest if rest.startswith(b"\xff\xd8\xff") else b""


def jpeg_width(data: bytes) -> int | None:
    """Return the width in the header of a JPEG, None without one."""
    for marker in _JPEG_MARKER.finditer(data):
        if marker[1][0] in _FRAMES:
            return int.from_bytes(data[marker.end() + 5 : marker.end() + 7], "big")
    return None


def _jpeg_end(data: bytes) -> tuple[int, bool]:
    """Return where the marker of a JPEG's end is, or its length, and whether the scans up to there have all bits."""
    left: dict[int, set[int]] = {}  # the coefficients of each component that no scan has brought in full
    position = 2
    while (marker := _JPEG_MARKER.search(data, position)) and marker[1][0] != _END_OF_IMAGE:
        start = marker.end() + 2
        position = marker.end() + int.from_bytes(data[marker.end() : start], "big")
        segment = data[start:position]
        if marker[1][0] in _FRAMES:
            left = {component: set(range(64)) for component in segment[6::3]}
        elif marker[1][0] == _START_OF_SCAN and len(segment) >= 4:
            first, last, precision = segment[-3:]
            for component in segment[1:-3:2] if precision & 15 == 0 else b"":
                left.get(component, set()).difference_update(range(first, last + 1))
    return marker.start() if marker else len(data), bool(left) and not any(left.values())


def _needs_more(data: bytes, end: int) -> bool:
    """Whether a JPEG lacks pixels: then those that are decoded depend on what follows its data."""
    ends = [data[:end] + bytes((filler,)) * 64 + bytes((0xFF, _END_OF_IMAGE)) for filler in (0x00, 0x55)]
    with quiet_pillow():
        first, second = (open_raster(io.BytesIO(each), "JPEG") for each in ends)
    return first.tobytes() != second.tobytes()
