"""Samples that are coded deeper than Pillow reads them: PNG and AVIF, which it narrows, and JPEG, which it refuses.

imagecodecs decodes them, and Pillow reads the rest of such a file, of a JPEG as if it had 8 bits. Levels of an AVIF are
parts of white: 10 and 12 bits are stretched to 16. Those of a JPEG stay numbers, as those of TIFF and JPEG 2000 do.

Sources: ITU-T T.81 (1992), annex B; the AV1 codec ISO media file format binding, 1.2.0, section 2.3.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import pip_install
from .formats import JPEG_START
from .picture import U16, Samples
from .unsupported import UnsupportedError

if TYPE_CHECKING:
    from PIL import Image

JPEG_MARKER = re.compile(rb"\xff+([^\x00\x01\xd0-\xd8\xff])")
LOSSLESS = 0xC3
FRAMES = (0xC0, 0xC1, 0xC2, LOSSLESS, 0xC9, 0xCA)
_HEAD = 1 << 16  # bytes in which the header of an AVIF is


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
