"""Turn bytes into a picture, or into pages: plain formats, TIFF, and all others through Pillow.

raw -> opened -> Picture, or Pages -> choose -> read. Pillow is imported on first use only.
"""

from __future__ import annotations

import io
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ReadError, SeveralPagesError, TooLargeError
from ..files import sources, urls
from ..files.messages import reason, shown
from . import plain_formats
from .pages import ALL, Asked, Pages
from .picture import Picture, Size, refuse_oversize

if TYPE_CHECKING:
    from ..files.messages import FileName
    from .picture import Working

_HEADER_BYTES = 1 << 16  # more than any header of a PGM in practice, comments included
TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
"""How a TIFF and a BigTIFF begin, in either byte order."""


def read(source: FileName) -> Picture:
    """Read an image file; "-" is standard input, and a URL goes through fsspec.

    A palette is expanded, to gray if all its colors in use are gray; transparency becomes alpha. Integers of other
    types than uint8 and uint16, and floats of 16 and 64 bits, become float32; CMYK, YCbCr, LAB and HSV become RGB. A
    camera's MPO gives its main picture, as a JPEG. Pictures are turned upright, as EXIF or a TIFF's tag says.

    Raises ReadError for a file that is missing, damaged, truncated, not an image, several images or not finite
    (SeveralPagesError for several pages), and TooLargeError, before allocating, for more than the free memory.
    """
    return decode(raw(source), source)


def _refuse_at_start(start: bytes, name: str) -> None:
    """Refuse a file that does not start like an image, of which no more is read then."""
    if plain_formats.is_plain(start):
        refuse_oversize(name, plain_formats.measure(start, name))
    elif start[:4] not in TIFF:  # whose header may be at its end
        from .pillow_reader import refuse_at_start

        refuse_at_start(start, name)


def decode(data: sources.Content, source: FileName, working: Working | None = None) -> Picture:
    """Read an image from a file's bytes, as :func:`read`; the arguments are as for :func:`opened`."""
    found = opened(data, source, working=working)
    if isinstance(found, Pages):
        found.close()
        raise SeveralPagesError(
            f"{found.name}: {found.count} frames or pages in one file; save one of them as a file of its own"
        )
    return found


def measure(source: FileName) -> Size:
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
                    from .tiff_pages import TiffPages

                    return TiffPages(sources.Slices(file), name).size()
                from .pillow_reader import measure_with_pillow

                return measure_with_pillow(file)
    except OSError as error:
        raise ReadError(f"{name}: cannot be read: {reason(error)}") from error


# Files of several pages: TIFF, GIF, animated PNG and WebP


def raw(source: FileName, limit: int | None = None) -> sources.Content:
    """Return an image file, for :func:`opened`: a large TIFF of this machine to be read in parts, all else as bytes.

    ``limit`` is the most bytes of a stream. Raises what :func:`files.sources.content` raises.
    """
    return sources.large_file(source, TIFF) or sources.content(source, _refuse_at_start, limit)


def opened(
    data: sources.Content,
    source: FileName,
    asked: Asked | None = None,
    *,
    working: Working | None = None,
    keeps_levels: bool = True,
    are_floats: bool = False,
) -> Picture | Pages:
    """Return the picture in a file, or its pages where several are chosen; ``source`` is its name in errors.

    ``asked`` are the pages. ``working`` returns, for a picture's size, the bytes of this machine's memory that the
    caller will take beside the picture; without it they are those of the fused engine on a CPU. The rest is as for
    :meth:`Pages.choose`. Raises what that and :func:`read` raise.
    """
    name = shown(source, "standard input")
    try:
        if data[:4] not in TIFF and (picture := _picture(data[:], name, working)):
            (asked or ALL).of(1, name)
            return picture
        pages = pages_of(data, name)
        pages.choose(asked or ALL, keeps_levels=keeps_levels, are_floats=are_floats)
        if len(pages) > 1:
            return pages
        with closing(pages):
            return pages.read(0, working)
    except MemoryError as error:
        raise TooLargeError(f"{name}: out of memory while reading it; use a smaller image") from error


def _picture(data: bytes, name: str, working: Working | None) -> Picture | None:
    """Return the picture of a file that is no TIFF, None if it has several frames."""
    if plain_formats.is_plain(data):
        return plain_formats.decode(data, name, lambda size: refuse_oversize(name, size, working))
    from .pillow_reader import read_with_pillow
    from .quiet import damage_as_error

    with damage_as_error(name):
        return read_with_pillow(data, name, working)


def pages_of(data: sources.Content, name: str) -> Pages:
    """Return the pages of a file, all of them; ``name`` begins the message of a ReadError."""
    from .quiet import damage_as_error

    with damage_as_error(name):
        if data[:4] in TIFF:
            from .tiff_pages import TiffPages

            return TiffPages(data, name)
        from .animation import AnimationPages

        return AnimationPages(data[:], name)
