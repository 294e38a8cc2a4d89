"""Bytes to a picture: netpbm's formats here, all others through Pillow, which is imported only then."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ..errors import ReadError, TooLargeError
from ..files import urls
from ..files.messages import reason, shown
from ..files.sources import content
from . import pnm
from .limits import refuse_oversize
from .picture import Picture, Size

if TYPE_CHECKING:
    import os

# More than any header of a PGM in practice, comments included.
_HEADER_BYTES = 1 << 16


def read(source: str | os.PathLike[str]) -> Picture:
    """Read an image file; "-" is standard input, and a URL goes through fsspec.

    A palette is expanded, to gray if all its colors in use are gray; transparency becomes alpha. 32-bit integers
    become float32; CMYK, YCbCr, LAB and HSV become RGB. A camera's MPO gives its main picture, as a JPEG.

    Raises ReadError for a file that is missing, damaged, truncated, not an image, several images or not finite, and
    TooLargeError, before allocating, for a size that the machine's memory cannot hold.
    """
    return decode(content(source), source)


def decode(data: bytes, source: str | os.PathLike[str]) -> Picture:
    """Read an image from a file's bytes, as :func:`read`; ``source`` is its name in errors."""
    name = shown(source, "standard input")
    try:
        if pnm.is_pnm(data):
            header = pnm.read_header(data, name)
            refuse_oversize(name, header.width, header.height, header.nbytes)
            return Picture(pnm.read_samples(data, header, name), None, header.maxval, "PPM")
        from .pillow_reader import read_with_pillow

        return read_with_pillow(data, name)
    except MemoryError as error:
        raise TooLargeError(f"{name}: out of memory while reading it; use a smaller image") from error


def measure(source: str | os.PathLike[str]) -> Size:
    """Return the size of the image in a file or behind a URL, from its header alone; raises ReadError."""
    name = shown(source, "standard input")
    try:
        with io.BytesIO(content(source)) if urls.is_url(source) else Path(source).open("rb") as file:
            return _measure(file, name)
    except OSError as error:
        raise ReadError(f"{name}: cannot be read: {reason(error)}") from error


def _measure(file: BinaryIO, name: str) -> Size:
    start = file.read(_HEADER_BYTES)
    if pnm.is_pnm(start):
        header = pnm.read_header(start, name)
        return Size(header.width, header.height, header.channels, header.dtype.itemsize)
    if not start:
        raise ReadError(f"{name}: empty (0 bytes); give an image file")
    from .pillow_reader import measure_with_pillow

    file.seek(0)
    return measure_with_pillow(start, file, name)
