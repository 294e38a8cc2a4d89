"""Files of several pages in their formats: TIFF, GIF, animated PNG and WebP.

raw -> opened -> Picture, or Pages -> choose -> read -> (filtered elsewhere) -> sink -> add -> finish
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, BinaryIO

from ..errors import ParameterError, ReadError, SeveralPagesError, WriteError
from ..files import sources
from ..files.messages import shown
from .formats import FORMATS, suffix_of
from .pages import ALL, Asked, Pages, Sink
from .picture import F32, U8, Depth, Picture
from .reading import TIFF, content, decode
from .writing import depth_as

if TYPE_CHECKING:
    import os

    from .formats import Coding
    from .picture import Working


def raw(source: str | os.PathLike[str], limit: int | None = None) -> bytes | sources.Slices:
    """Return an image file, for :func:`opened`: a large TIFF of this machine to be read in parts, all else as bytes.

    Raises what :func:`content` raises.
    """
    return sources.large_file(source, TIFF) or content(source, limit)


def opened(
    data: bytes | sources.Slices,
    source: str | os.PathLike[str],
    asked: Asked | None = None,
    *,
    working: Working | None = None,
    keeps_levels: bool = True,
    are_floats: bool = False,
) -> Picture | Pages:
    """Return the picture in a file, or its pages where several are chosen.

    ``asked`` are the pages; the rest is as for :func:`decode` and :meth:`Pages.choose`. Raises what these raise.
    """
    name = shown(source, "standard input")
    pages = None if isinstance(data, bytes) else pages_of(data, name)
    if pages and pages.count == 1 and not pages.is_cut:
        pages.close()
        data, pages = content(source), None
    if pages is None:
        picture = _only_picture(data[:], source, working)
        if picture:
            (asked or ALL).of(1, name)
            return picture
        pages = pages_of(data, name)
    pages.choose(asked or ALL, keeps_levels=keeps_levels, are_floats=are_floats)
    if len(pages) > 1:
        return pages
    with closing(pages):
        return pages.read(0, working)


def _only_picture(data: bytes, source: str | os.PathLike[str], working: Working | None) -> Picture | None:
    """Return the picture of a file, None if it has several pages."""
    try:
        return decode(data, source, working)
    except SeveralPagesError:
        return None
    except ReadError:
        if data[8:12] == b"WEBP":  # which Pillow does not open at all if it is cut off
            from .animation import refuse_cut_webp

            refuse_cut_webp(data, shown(source, "standard input"))
        raise


def pages_of(data: bytes | sources.Slices, name: str) -> Pages:
    """Return the pages of a file, all of them; ``name`` begins the message of a ReadError."""
    from .quiet import damage_as_error

    with damage_as_error(name):
        if data[:4] in TIFF:
            from .tiff_pages import TiffPages

            return TiffPages(data, name)
        from .animation import AnimationPages

        return AnimationPages(data[:], name)


def sink(file: BinaryIO, suffix: str, coding: Coding, *, count: int, plays: int) -> Sink:
    """Return what writes pages into a file with this extension, a key of FORMATS that holds many."""
    if FORMATS[suffix].name == "TIFF":
        from .tiff_writer import TiffSink

        return TiffSink(file, coding)
    from .animation_writer import SINKS

    return SINKS[FORMATS[suffix].name](file, suffix, coding, count, plays)


def suffix_of_pages(
    target: str | os.PathLike[str],
    format_: str | None,
    pages: int,
    picture: Picture | None = None,
) -> str:
    """Return :func:`suffix_of` a file that holds a number of pages; raises ParameterError if its format holds one."""
    suffix = suffix_of(target, format_, picture)
    if not FORMATS[suffix].pages:
        many = [each for each, kind in FORMATS.items() if kind.pages and each != ".tiff"]
        raise ParameterError(
            f"{shown(target, 'standard output')}: {suffix} holds one page, and there are {pages}; "
            f"give --pages 1, or write {', '.join(many[:-1])} or {many[-1]}"
        )
    return suffix


def depth_of_pages(suffix: str, picture: Picture, *, is_real: bool) -> Depth:
    """Return how a file of pages with this extension stores a picture's samples."""
    if is_real:
        return Depth(F32, 1)
    depth = depth_as(suffix, picture)
    is_color = len(picture.planes) > 1 or picture.alpha is not None
    # What reads animated PNGs, Pillow included, has 8 bits for their color.
    return Depth(U8, 255) if FORMATS[suffix].name == "PNG" and is_color else depth


def check_alike(first: Picture, picture: Picture, number: int, suffix: str, name: str) -> None:
    """Raise WriteError if a page, counted from 1, differs from the first in size or kind."""
    if _kind(first) != _kind(picture):
        raise WriteError(
            f"{name}: page {number} is {_said(picture)}, and page 1 {_said(first)}: pages of a {suffix} are alike; "
            "write .tif"
        )


def _kind(picture: Picture) -> tuple[object, ...]:
    return picture.planes.shape, picture.planes.dtype, picture.alpha is None


def _said(picture: Picture) -> str:
    channels, height, width = picture.planes.shape
    alpha = "" if picture.alpha is None else " with alpha"
    return f"{width} x {height} {'gray' if channels == 1 else 'color'}{alpha}, {8 * picture.planes.itemsize} bits"
