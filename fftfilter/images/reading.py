"""Bytes to a picture: plain formats, TIFF, and all others through Pillow, which is imported only then."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ReadError, TooLargeError
from ..files import sources, urls
from ..files.messages import reason, shown
from . import plain_formats
from .picture import Picture, Size, refuse_oversize

if TYPE_CHECKING:
    import os

    from .picture import Working

# More than any header of a PGM in practice, comments included.
_HEADER_BYTES = 1 << 16
TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
"""How a TIFF and a BigTIFF begin, in either byte order."""


def read(source: str | os.PathLike[str]) -> Picture:
    """Read an image file; "-" is standard input, and a URL goes through fsspec.

    A palette is expanded, to gray if all its colors in use are gray; transparency becomes alpha. Integers of other
    types than uint8 and uint16, and floats of 16 and 64 bits, become float32; CMYK, YCbCr, LAB and HSV become RGB. A
    camera's MPO gives its main picture, as a JPEG. Pictures are turned upright,
    as EXIF or a TIFF's tag says.

    Raises ReadError for a file that is missing, damaged, truncated, not an image, several images or not finite (of
    several pages it is a SeveralPagesError), and
    TooLargeError, before allocating, for more than the memory that is free.
    """
    return decode(content(source), source)


def content(source: str | os.PathLike[str], limit: int | None = None) -> bytes:
    """Return the bytes of an image file, for :func:`decode`; what begins like no image is not read to its end.

    ``limit`` is the most bytes of a stream.
    """
    return sources.content(source, _refuse_at_start, limit)


def _refuse_at_start(start: bytes, name: str) -> None:
    if plain_formats.is_plain(start):
        refuse_oversize(name, plain_formats.measure(start, name, while_read=True))
    elif start[:4] not in TIFF:  # whose header may be at its end
        from .pillow_reader import refuse_at_start

        refuse_at_start(start, name)


def decode(data: bytes, source: str | os.PathLike[str], working: Working | None = None) -> Picture:
    """Read an image from a file's bytes, as :func:`read`; ``source`` is its name in errors.

    ``working`` returns, for a picture's size, the bytes of this machine's memory that the caller will take beside the
    picture; without it they are those of the fused engine on a CPU.
    """
    name = shown(source, "standard input")
    try:
        if plain_formats.is_plain(data):
            refuse_oversize(name, plain_formats.measure(data, name, while_read=True), working)
            return plain_formats.decode(data, name)
        from .quiet import damage_as_error

        with damage_as_error(name):
            if data[:4] in TIFF:
                from .tiff_pages import read_tiff

                return read_tiff(data, name, working)
            from .pillow_reader import read_with_pillow

            return read_with_pillow(data, name, working)
    except MemoryError as error:
        raise TooLargeError(f"{name}: out of memory while reading it; use a smaller image") from error


def measure(source: str | os.PathLike[str]) -> Size:
    """Return the size of the image in a file or behind a URL, from its header alone; raises ReadError."""
    name = shown(source, "standard input")
    try:
        with io.BytesIO(sources.content(source)) if urls.is_url(source) else Path(source).open("rb") as file:
            start = file.read(_HEADER_BYTES)
            if plain_formats.is_plain(start):
                return plain_formats.measure(start, name)
            if not start:
                raise ReadError(f"{name}: empty (0 bytes); give an image file")
            file.seek(0)
            from .quiet import damage_as_error

            with damage_as_error(name):
                if start[:4] in TIFF:
                    from .tiff_pages import measure_tiff

                    return measure_tiff(file, name)
                from .pillow_reader import measure_with_pillow

                return measure_with_pillow(file)
    except OSError as error:
        raise ReadError(f"{name}: cannot be read: {reason(error)}") from error
