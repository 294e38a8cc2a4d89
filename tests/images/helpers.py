"""Pictures and files of formats, made without the code under test."""

from __future__ import annotations

import struct
import zlib

import numpy as np

from fftfilter.images import Picture

GRAY = np.array([[0, 10, 20], [30, 40, 255]], np.uint8)
COLOR = np.stack([GRAY, 255 - GRAY, GRAY // 2], axis=-1)
ALPHA = np.array([[0, 1, 2], [128, 254, 255]], np.uint8)


def picture(*, channels=1, alpha=False, dtype=np.uint8, maxval=None, format="PNG"):  # noqa: A002
    """Return a picture of 3 x 2 pixels, whose first plane is GRAY stretched to the type's white."""
    white = {np.uint8: 255, np.uint16: 65535, np.float32: 1}[dtype]
    planes = np.ascontiguousarray(COLOR.transpose(2, 0, 1)[:channels] * (white / 255)).astype(dtype)
    return Picture(planes, (ALPHA * (white / 255)).astype(dtype) if alpha else None, maxval or white, format)


def noise(channels, height=9, width=11):
    """Return 16-bit samples (height, width, channels)."""
    return np.random.default_rng(channels).integers(0, 65536, (height, width, channels)).astype(np.uint16)


def interleaved(got):
    """Return a picture's samples with its alpha, (height, width, channels)."""
    bands = got.planes if got.alpha is None else np.concatenate([got.planes, got.alpha[None]])
    return bands.transpose(1, 2, 0)


def png(*parts):
    """Return a PNG of chunks (kind, content)."""
    body = (struct.pack(">I", len(c)) + k + c + struct.pack(">I", zlib.crc32(k + c)) for k, c in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(body)


def png_header(width, height, bits=8, color_type=0, interlaced=0):
    """Return a PNG's first chunk."""
    return b"IHDR", struct.pack(">IIBBBBB", width, height, bits, color_type, 0, 0, interlaced)


def png_of(samples, raster, *chunks, interlaced=0):
    """Return a PNG for 16-bit samples (height, width, channels), whose raster is given in PNG's filtered bytes."""
    height, width, channels = samples.shape
    header = png_header(width, height, 16, {1: 0, 2: 4, 3: 2, 4: 6}[channels], interlaced)
    return png(header, *chunks, (b"IDAT", zlib.compress(raster)), (b"IEND", b""))


def tiff(samples, photometric, *more):
    """Return an uncompressed TIFF of samples (height, width, channels); ``more`` tags are (tag, value)."""
    height, width, channels = samples.shape
    bits = 8 * samples.itemsize
    body = samples.tobytes()
    bits_at = 8 + len(body)
    # One or two short numbers stand in the tag itself.
    depth = {1: bits, 2: bits << 16 | bits}.get(channels, bits_at)
    tags = [
        *((256, 1, width), (257, 1, height), (258, channels, depth), (259, 1, 1)),
        *((262, 1, photometric), (273, 1, 8), (277, 1, channels), (278, 1, height), (279, 1, len(body))),
        *((tag, 1, value) for tag, value in more),
    ]
    start = bits_at + 2 * channels
    entries = b"".join(struct.pack("<HHII", tag, 3 if tag in (258, 338) else 4, n, value) for tag, n, value in tags)
    return (
        struct.pack("<2sHI", b"II", 42, start)
        + body
        + struct.pack(f"<{channels}H", *[bits] * channels)
        + struct.pack("<H", len(tags))
        + entries
        + bytes(4)
    )
