"""PFM: floats of gray or color as they are. Pillow knows the gray ones alone.

A file:

    PF                  Pf gray, PF color
    640 480             width, height
    -1.0                the byte order of the samples: negative for the low byte first; its size means nothing here
    ...                 height x width pixels of 1 or 3 floats of 4 bytes, the lowest row first

Source: Paul Debevec's description of the format: https://www.pauldebevec.com/Research/HDR/PFM/
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ReadError
from .picture import F32, Picture, Samples, Size

if TYPE_CHECKING:
    from ..files.atomic import Parts

_HEADER = re.compile(rb"P([Ff])\s+(\d{1,18})\s+(\d{1,18})\s+([-+.\deE]{1,40})\s")


def is_pfm(data: bytes) -> bool:
    """Whether a file with this content is of one of the two kinds."""
    return data[:2] in (b"Pf", b"PF") and data[2:3].isspace()


def measure(data: bytes, name: str) -> Size:
    """Return the size of the image in a file, from its header; ``name`` starts the message of a ReadError."""
    return _header(data, name)[0]


def decode(data: bytes, name: str) -> Picture:
    """Read an image from a file's bytes; ``name`` starts the message of a ReadError."""
    size, order, start = _header(data, name)
    wanted = size.width * size.height * size.channels * F32.itemsize
    if len(data) - start != wanted:
        raise ReadError(
            f"{name}: has {len(data) - start} bytes of samples, not the {wanted} of its header; get a whole copy of it"
        )
    upside_down = np.frombuffer(data, f"{order}f4", offset=start).reshape(size.height, size.width, size.channels)
    if not np.isfinite(upside_down).all():
        raise ReadError(f"{name}: has samples that are NaN or infinite; replace them")
    return Picture(np.ascontiguousarray(upside_down[::-1].transpose(2, 0, 1), F32), None, 1, "PPM")


def encode(planes: Samples) -> Parts:
    """Return the parts of a file of floats (channels, height, width)."""
    channels, height, width = planes.shape
    header = f"P{'f' if channels == 1 else 'F'}\n{width} {height}\n-1.0\n".encode()
    return [header, np.ascontiguousarray(planes.transpose(1, 2, 0)[::-1], "<f4").data.cast("B")]


def _header(data: bytes, name: str) -> tuple[Size, str, int]:
    """Return the size, the byte order and where the samples start."""
    found = _HEADER.match(data)
    try:
        scale = float(found[4]) if found else 0.0
    except ValueError:
        scale = 0.0
    if not found or not int(found[2]) or not int(found[3]) or not scale or not math.isfinite(scale):
        raise ReadError(f"{name}: the header of this PFM is damaged; get a whole copy of it")
    size = Size(int(found[2]), int(found[3]), 3 if found[1] == b"F" else 1, F32.itemsize)
    return size, "<" if scale < 0 else ">", found.end()
