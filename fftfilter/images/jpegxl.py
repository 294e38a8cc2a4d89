"""Read JPEG XL by imagecodecs, as deep as it is coded.

A header of single bits, the lowest of each byte first, says how large and how deep a picture is; a file is that
codestream, or a list of boxes with it. Levels are parts of white: those of fewer bits are stretched to 16.

Source: ISO/IEC 18181-1:2022, annex D.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .coded_depth import codec, stretched
from .formats import JPEG_XL_STARTS
from .metadata import Metadata
from .picture import F32, MAXVAL_OF, U16, Picture, Size, Working, refuse_oversize
from .unsupported import UnsupportedError

_RATIOS = ((1, 1), (6, 5), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1))
_BOXES = (b"Exif", b"xml ", b"jumb", b"brob")


class Coded(NamedTuple):
    """What the header says."""

    size: Size
    bits: int
    is_float: bool


class _Bits:
    """A number whose lowest bits are taken one after another."""

    def __init__(self, data: bytes) -> None:
        self._left = int.from_bytes(data, "little")

    def take(self, count: int) -> int:
        found = self._left & ((1 << count) - 1)
        self._left >>= count
        return found


def codestream_at(data: bytes) -> int:
    """Return where the header is, behind the codestream's signature, 0 if it is not there yet."""
    if data.startswith(JPEG_XL_STARTS[1]):
        return len(JPEG_XL_STARTS[1])
    return next((at + more for box, more in ((b"jxlc", 6), (b"jxlp", 10)) if (at := data.find(box)) > 0), 0)


def coded(data: bytes) -> Coded:
    """Return what the header of a file says, whose start is enough; raises ValueError for an animation."""
    at = codestream_at(data)
    if not at:
        raise ValueError("it has no codestream")
    bits = _Bits(data[at : at + 64])

    def sides() -> tuple[int, int]:
        is_small = bits.take(1)

        def side() -> int:
            return 8 * (bits.take(5) + 1) if is_small else bits.take((9, 13, 18, 30)[bits.take(2)]) + 1

        height = side()
        ratio = bits.take(3)
        return height, height * _RATIOS[ratio - 1][0] // _RATIOS[ratio - 1][1] if ratio else side()

    height, width = sides()
    depth, is_float = 8, False
    if not bits.take(1):  # not all as usual
        if bits.take(1):
            bits.take(3)  # which side is up, as the decoder turns it
            if bits.take(1):
                sides()
            if bits.take(2):
                raise UnsupportedError(
                    "an animation or preview in JPEG XL is not supported; convert it to a PNG, by djxl"
                )
        is_float = bool(bits.take(1))
        choice = bits.take(2)
        depth = ((32, 16, 24) if is_float else (8, 10, 12))[choice] if choice < 3 else bits.take(6) + 1
    bytes_per_sample = 4 if is_float or depth > 16 else 2 if depth > 8 else 1
    return Coded(Size(width, height, 3, bytes_per_sample), depth, is_float)


def read(data: bytes, name: str, working: Working | None) -> Picture:
    """Read a file; ``name`` begins the message of an error."""
    found = coded(data)
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
    left_out = ("metadata of JPEG XL",) if any(box in data[:-4] for box in _BOXES) else ()
    metadata = Metadata(left_out=left_out)
    planes = np.ascontiguousarray(planes[: len(planes) - has_alpha])
    return Picture(planes, alpha, MAXVAL_OF[planes.dtype], "JPEGXL", metadata)
