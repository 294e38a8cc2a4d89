"""JPEG 2000 as deep as it is coded, and JPEG XL: what Pillow leaves out.

Pillow gives 8 bits of color, and gray shifted to 16. Here samples of another depth than 8 bits come as they are stored,
signed ones as signed ones, by imagecodecs. A JP2 is a list of boxes, each of which begins with its length and its kind:
jp2h is the header, and a box in it, cdef, says which channels are alpha; jp2c has the pixels.

Levels of JPEG XL are parts of white: those of fewer bits are stretched to 16.

Sources: ITU-T T.800 (2019), annexes A and I; ISO/IEC 18181-1:2022, annex D.
"""

from __future__ import annotations

import io
import struct
from contextlib import suppress
from dataclasses import replace
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from .formats import JPEG2000_STARTS, JPEG_XL_STARTS, UnsupportedError
from .metadata import Metadata, gather
from .pages import PLACE
from .picture import F32, MAXVAL_OF, U16, Picture, Samples, Size, Working, refuse_oversize, stretched
from .pillow_reader import picture_with, read_with_pillow
from .quiet import codec, open_raster

_PLACES = bytes.fromhex("b14bf8bd083d4b43a5ae8cd7d5a6ce03"), b"gml.root-instance"  # GeoJP2's mark, and GML's
_ALPHA = (1, 2)
_UNKNOWN, _RGB, _GRAY = 0, 16, 17
_RATIOS = ((1, 1), (6, 5), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1))  # of the sides of a JPEG XL
_BOXES = (b"Exif", b"xml ", b"jumb", b"brob")  # of a JPEG XL, with metadata


class Coded(NamedTuple):
    """What the codestream says of its samples."""

    height: int
    width: int
    components: int
    bits: int
    dtype: np.dtype[Any]

    @property
    def size(self) -> Size:
        """The size of the picture as it is read."""
        channels = self.components - (self.components in (2, 4))
        return Size(self.width, self.height, channels, self.dtype.itemsize if self.dtype in MAXVAL_OF else F32.itemsize)


def coded(data: bytes) -> Coded:
    """Return what a file's codestream says; raises ValueError without one."""
    at = data.find(JPEG2000_STARTS[1])
    if at < 0:
        raise ValueError("it has no codestream")
    right, bottom, left, top, *_, components = struct.unpack_from(">8IH", data, at + 8)
    depths = data[at + 42 : at + 42 + 3 * components : 3]
    bits = max(each & 127 for each in depths) + 1
    dtype = np.dtype(f"{'i' if max(depths) > 127 else 'u'}{1 if bits <= 8 else 2 if bits <= 16 else 4}")
    return Coded(bottom - top, right - left, components, bits, dtype)


def measure(start: bytes, file: BinaryIO) -> Size:
    """Return the size of the picture in a file with this start, after which the codestream may begin."""
    data = start if any(each in start for each in (JPEG2000_STARTS[1], b"jxlc", b"jxlp")) else start + file.read()
    return _jpegxl_header(data)[0] if data.startswith(JPEG_XL_STARTS) else coded(data).size


def read(data: bytes, name: str, working: Working | None) -> Picture | None:
    """Read a file; up to four channels of 8 bits are Pillow's, if it can. ``name`` begins errors."""
    if data.startswith(JPEG_XL_STARTS):
        return _read_jpegxl(data, name, working)
    found = coded(data)
    is_usual = found.dtype == np.uint8 and found.components <= 4
    with suppress(OSError):  # of some files by GDAL, which are whole
        if is_usual and (picture := read_with_pillow(data, name, working)):
            picture.metadata = _less_place(picture.metadata or Metadata(), data)
            return picture
    kept = found.dtype if found.dtype in MAXVAL_OF else F32
    refuse_oversize(name, found.size, working)
    head = data[: data.find(JPEG2000_STARTS[1])]
    space = int.from_bytes(head[at + 7 : at + 11]) if (at := head.find(b"colr\1")) >= 0 else None
    if space not in (None, _UNKNOWN, _RGB, _GRAY):
        kind_of = {12: "CMYK", 14: "CIELab", 18: "YCC"}.get(space, f"other ({space})")
        raise UnsupportedError(f"JPEG 2000 of {kind_of} colors is not supported; convert it to RGB, by opj_decompress")
    planes = np.atleast_3d(codec("jpeg2k_decode")(data)).transpose(2, 0, 1)
    hidden = [channel for channel in _alpha_of(head) if channel < len(planes)][:1]
    if is_usual and b"cdef" not in head and len(planes) in (2, 4):
        hidden = [len(planes) - 1]  # as Pillow has it
    alpha = planes[hidden[0]] if hidden else None
    planes = np.delete(planes, hidden, axis=0)
    integers = planes.dtype if kept == F32 else None
    if alpha is not None:
        alpha = stretched(alpha, found.bits) if kept == U16 else (alpha / float(2**found.bits - 1)).astype(kept)
    colors = 3 if len(planes) == 3 or (len(planes) > 3 and space == _RGB) else 1
    try:
        metadata = gather(open_raster(io.BytesIO(data), "JPEG2000"), min(colors, 3))
    except UnsupportedError:  # for Pillow, of so many channels
        metadata = Metadata()
    extra = len(planes) - colors
    return Picture(
        np.ascontiguousarray(planes, kept),
        alpha,
        MAXVAL_OF[kept],
        "JPEG2000",
        _less_place(metadata, data),
        integers=integers,
        extra=extra,
    )


def _alpha_of(head: bytes) -> list[int]:
    at = head.find(b"cdef") + 4
    if at < 4:
        return []
    given = struct.iter_unpack(">3H", head[at + 2 : at + 2 + 6 * int.from_bytes(head[at : at + 2])])
    return [channel for channel, kind, _ in given if kind in _ALPHA]


def _less_place(metadata: Metadata, data: bytes) -> Metadata:
    """Return metadata that say what is lost: the place on Earth, if a file tells one."""
    is_lost = any(each in data for each in _PLACES)
    return replace(metadata, left_out=(*metadata.left_out, PLACE)) if is_lost else metadata


def encode(samples: Samples) -> bytes:
    """Return a file of samples (height, width, channels) of 16 bits, alpha last."""
    channels = samples.shape[2]
    made: bytes = codec("jpeg2k_encode")(samples.squeeze(), level=0, codecformat="jp2")
    if channels not in (2, 4):
        return made
    kinds = (each for i in range(channels) for each in ((i, 0, i + 1) if i < channels - 1 else (i, 1, 0)))
    box = struct.pack(f">I4sH{3 * channels}H", 10 + 6 * channels, b"cdef", channels, *kinds)
    start, end = made.find(b"jp2h") - 4, made.find(JPEG2000_STARTS[1]) - 8
    length = struct.pack(">I", end - start + len(box))
    return b"".join((made[:start], length, made[start + 4 : end], box, made[end:]))


# JPEG XL, which Pillow does not read at all


def _jpegxl_header(data: bytes) -> tuple[Size, int, bool]:
    """Return the size that a JPEG XL says, the bits of a sample, and whether they are of a float.

    Its header has single bits, the lowest of each byte first.
    """
    boxes = (b"jxlc", 6), (b"jxlp", 10)
    at = 2 if data.startswith(JPEG_XL_STARTS[1]) else max(data.find(box) + more for box, more in boxes if box in data)
    left = int.from_bytes(data[at : at + 64], "little")

    def take(count: int) -> int:
        nonlocal left
        found = left & ((1 << count) - 1)
        left >>= count
        return found

    def sides() -> tuple[int, int]:
        is_small = take(1)

        def side() -> int:
            return 8 * (take(5) + 1) if is_small else take((9, 13, 18, 30)[take(2)]) + 1

        height = side()
        ratio = take(3)
        return height, height * _RATIOS[ratio - 1][0] // _RATIOS[ratio - 1][1] if ratio else side()

    height, width = sides()
    depth, is_float = 8, False
    if not take(1):  # not all as usual
        if take(1):
            take(3)  # which side is up, as the decoder turns it
            if take(1):
                sides()
            if take(2):
                raise UnsupportedError(
                    "an animation or preview in JPEG XL is not supported; convert it to a PNG, by djxl"
                )
        is_float = bool(take(1))
        choice = take(2)
        depth = ((32, 16, 24) if is_float else (8, 10, 12))[choice] if choice < 3 else take(6) + 1
    bytes_per_sample = 4 if is_float or depth > 16 else 2 if depth > 8 else 1
    return Size(width, height, 3, bytes_per_sample), depth, is_float


def _read_jpegxl(data: bytes, name: str, working: Working | None) -> Picture:
    size, bits, is_float = _jpegxl_header(data)
    refuse_oversize(name, size, working)
    samples = codec("jpegxl_decode")(data)
    if is_float or samples.dtype.kind == "f":
        samples = samples.astype(F32)
    elif samples.dtype == U16 and bits < 16:
        samples = stretched(samples, bits)
    channels = 1 if samples.ndim == 2 else samples.shape[2]
    if samples.dtype not in MAXVAL_OF or channels > 4:
        raise UnsupportedError(f"JPEG XL of {channels} channels and {bits} bits is not supported; use djxl")
    has_others = any(box in data[:-4] for box in _BOXES)
    # Its decoder does not tell the color space.
    lost = ("the color space of the JPEG XL, if it is not sRGB", *["its metadata"] * has_others)
    return picture_with(samples, "JPEGXL", Metadata(left_out=lost))
