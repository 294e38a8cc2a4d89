"""Samples that imagecodecs decodes, as they are coded deeper than Pillow reads them, and JPEG XL.

Pillow narrows PNG and AVIF, and refuses JPEG of more than 8 bits. It reads the rest of such a file, of a JPEG as if it
had 8 bits. Levels of AVIF and JPEG XL are parts of white: those of fewer bits are stretched to 16. Those of a JPEG stay
numbers, as those of TIFF and JPEG 2000 do.

Sources: ITU-T T.81 (1992), annex B; the AV1 codec ISO media file format binding, 1.2.0, section 2.3;
ISO/IEC 18181-1:2022, annex D.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import pip_install
from .formats import JPEG_START, JPEG_XL_STARTS, UnsupportedError
from .metadata import Metadata
from .picture import F32, MAXVAL_OF, U16, Picture, Samples, Size, Working, refuse_oversize

if TYPE_CHECKING:
    from PIL import Image

JPEG_MARKER = re.compile(rb"\xff+([^\x00\x01\xd0-\xd8\xff])")
LOSSLESS = 0xC3
FRAMES = (0xC0, 0xC1, 0xC2, LOSSLESS, 0xC9, 0xCA)
_HEAD = 1 << 16  # bytes in which the header of an AVIF is
_RATIOS = ((1, 1), (6, 5), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1))  # of the sides of a JPEG XL
_BOXES = (b"Exif", b"xml ", b"jumb", b"brob")  # of a JPEG XL, with metadata


def codec(name: str) -> Callable[..., Any]:
    """Return a function of imagecodecs, which is imported then; raises ImportError if it is missing."""
    try:
        found: Callable[..., Any] = getattr(import_module("imagecodecs"), name)
    except ImportError as error:
        raise ImportError(f"its way of coding needs imagecodecs: {pip_install('imagecodecs')}") from error
    return found


class JpegFrame(NamedTuple):
    """What the header of a JPEG says, and where."""

    kind: int
    bits: int
    height: int
    width: int
    at: int


def jpeg_frame(data: bytes) -> JpegFrame | None:
    """Return what the header of a JPEG says, None without one."""
    at = 2
    while marker := JPEG_MARKER.search(data, at):
        kind, start = marker[1][0], marker.end()
        if kind in FRAMES:
            bits, height, width = struct.unpack_from(">BHH", data, start + 2)
            return JpegFrame(kind, bits, height, width, start)
        at = start + int.from_bytes(data[start : start + 2])  # a thumbnail in a segment has a header of its own
    return None


def bits_of(data: bytes) -> int:
    """Return the bits of a sample of a JPEG or AVIF, 8 for other formats."""
    if data.startswith(JPEG_START):
        frame = jpeg_frame(data)
        return frame.bits if frame else 8
    at = data[:_HEAD].find(b"av1C") + 6 if data[4:8] == b"ftyp" else 0
    return 12 if at > 6 and data[at] & 0x20 else 10 if at > 6 and data[at] & 0x40 else 8


def as_8_bits(data: bytes) -> bytes:
    """Return a JPEG with the header of one that Pillow opens."""
    frame = jpeg_frame(data)
    assert frame  # noqa: S101  its bits are known
    head = bytes((0xC0,)) + data[frame.at : frame.at + 2] + b"\x08"
    return data[: frame.at - 1] + head + data[frame.at + 3 :]


def decoded(image: Image.Image, data: bytes, channels: int) -> Samples:
    """Return the samples (height, width, channels) of a file whose header Pillow has read, channels of a PNG."""
    if image.format == "PNG":
        samples: Samples = codec("png_decode")(data)
        return samples[..., :channels]  # without the alpha that libpng makes of one transparent color
    if image.format == "AVIF":
        return stretched(codec("avif_decode")(data), bits_of(data))
    return jpeg_decoded(data)


def jpeg_decoded(data: bytes) -> Samples:
    """Return the samples of a JPEG of more than 8 bits; raises UnsupportedError for inks."""
    frame = jpeg_frame(data)
    samples: Samples = codec("ljpeg_decode" if frame and frame.kind == LOSSLESS else "jpeg8_decode")(data)
    if samples.ndim == 3 and samples.shape[2] != 3:
        raise UnsupportedError(f"a JPEG of {samples.shape[2]} channels of more than 8 bits is not supported; use RGB")
    return samples.astype(U16, copy=False)


def stretched(samples: Samples, bits: int) -> Samples:
    """Return samples of fewer bits as such of 16 bits, with the same white."""
    made: Samples = np.rint(samples * (65535 / (2**bits - 1))).astype(U16)
    return made


# JPEG XL, which Pillow does not read at all


class JpegXl(NamedTuple):
    """What the header of a JPEG XL says."""

    size: Size
    bits: int
    is_float: bool


def jpegxl_header_at(data: bytes) -> int:
    """Return where the header is, behind the codestream's signature, 0 if it is not there yet."""
    if data.startswith(JPEG_XL_STARTS[1]):
        return len(JPEG_XL_STARTS[1])
    return next((at + more for box, more in ((b"jxlc", 6), (b"jxlp", 10)) if (at := data.find(box)) > 0), 0)


def jpegxl_header(data: bytes) -> JpegXl:
    """Return what the header of a JPEG XL says, for which a file's start is enough; raises ValueError for an animation.

    It has single bits, the lowest of each byte first.
    """
    at = jpegxl_header_at(data)
    if not at:
        raise ValueError("it has no codestream")
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
    return JpegXl(Size(width, height, 3, bytes_per_sample), depth, is_float)


def read_jpegxl(data: bytes, name: str, working: Working | None) -> Picture:
    """Read a JPEG XL; ``name`` begins the message of an error."""
    found = jpegxl_header(data)
    refuse_oversize(name, found.size, working)
    samples = codec("jpegxl_decode")(data)
    planes = np.atleast_3d(samples).transpose(2, 0, 1)
    if found.is_float or planes.dtype.kind == "f":
        planes = planes.astype(F32)
    elif planes.dtype == U16 and found.bits < 16:
        planes = stretched(planes, found.bits)
    has_alpha = len(planes) in (2, 4)
    alpha = planes[-1].copy() if has_alpha else None
    if planes.dtype not in MAXVAL_OF or len(planes) > 4:
        raise UnsupportedError(f"JPEG XL of {len(planes)} channels and {found.bits} bits is not supported; use djxl")
    has_others = any(box in data[:-4] for box in _BOXES)
    # Its decoder does not tell the color space.
    metadata = Metadata(left_out=("the color space of the JPEG XL, if it is not sRGB", *["its metadata"] * has_others))
    planes = np.ascontiguousarray(planes[: len(planes) - has_alpha])
    return Picture(planes, alpha, MAXVAL_OF[planes.dtype], "JPEGXL", metadata)
