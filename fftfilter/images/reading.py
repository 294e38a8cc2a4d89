"""Turn bytes into a picture, or into pages: plain formats, TIFF, and all others through Pillow.

raw -> opened -> Picture, or Pages -> choose -> read. Pillow is imported on first use only.
"""

from __future__ import annotations

import io
import os
import zlib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from ..errors import ParameterError, ReadError, SeveralPagesError, TooLargeError, pip_install
from ..files import sources, urls
from ..files.messages import STANDARD_STREAM, FileName, as_error, shown
from . import plain_formats
from .formats import BY_LIBRARY, JPEG2000_STARTS, JPEG_START, JPEG_XL_STARTS, PNG_START, is_zarr
from .pages import ALL, NO_STRIPS, Asked, Pages, PaletteRule
from .picture import Picture, Samples, Size, Strips, Working, refuse_missing, refuse_oversize
from .pixel_size import files_beside, of_world_file

_HEADER_BYTES = 1 << 16  # more than any header of a PGM in practice, comments included
TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")  # how a TIFF and a BigTIFF begin, in either byte order
FITS, GZIP = b"SIMPLE  =", b"\x1f\x8b"
JPEGS = (*JPEG2000_STARTS, *JPEG_XL_STARTS)


def read(source: FileName, asked: Asked = ALL) -> Picture:
    """Read an image file; "-" is standard input, and a URL goes through fsspec.

    A palette is a look-up table, whose indices are read, or expanded, to gray if all its colors in use are gray, as
    ``table_of`` tells or ``asked`` says; transparency becomes alpha. Integers of other types than uint8 and uint16, and
    floats of 16 and 64 bits, become float32; CMYK, YCbCr, LAB and HSV become RGB. A camera's MPO gives its main
    picture, as a JPEG. Pictures are turned upright, as EXIF or a TIFF's tag says.

    Raises ReadError for a file that is missing, damaged, truncated, not an image, several images or not finite
    (SeveralPagesError for several pages), and TooLargeError, before allocating, for more than the free memory.
    """
    return decode(raw(source), source, asked=asked)


def read_otherwise(file: FileName) -> Samples | None:
    """Return samples (height, width, channels) as another library than that of :func:`read` has them, None of others.

    Raises the errors of libraries.
    """
    from .quiet import codec, open_raster

    data = raw(file)[:]
    if data.startswith(PNG_START):
        from .pillow_reader import is_narrowed, read_as_it_is

        image = open_raster(io.BytesIO(data), "PNG")
        if not is_narrowed(image):
            return read_as_it_is(image)
    known = ((TIFF, "tiff_decode"), (PNG_START, "png_decode"), (JPEG2000_STARTS, "jpeg2k_decode"))
    return next((codec(name)(data) for start, name in known if data.startswith(start)), None)


def read_mask(file: FileName, digest: str | None = None) -> tuple[Picture, str]:
    """Return a picture that is a mask, its palette as colors, and the digest of the file's bytes.

    Raises what :func:`read` raises, and ParameterError if the digest is not the one that is given.
    """
    data = raw(file)
    found = sources.checked_digest(file, data, digest)
    return decode(data, file, asked=Asked(palette="colors")), found


def decode(data: sources.Content, source: FileName, working: Working | None = None, asked: Asked = ALL) -> Picture:
    """Read an image from a file's bytes, as :func:`read`; the arguments are as for :func:`opened`."""
    found = opened(data, source, asked, working=working)
    if isinstance(found, Pages):
        found.close()
        raise SeveralPagesError(f"{found.name}: {found.count} frames or pages; save one of them as a file of its own")
    return found


def measure(source: FileName, asked: Asked = ALL) -> Size:
    """Return the size of the image in a file or behind a URL, from its header alone; raises ReadError."""
    name = shown(source, "standard input")
    with (
        as_error(ReadError, f"{name}: cannot be read"),
        io.BytesIO(sources.content(source)) if urls.is_url(source) else Path(source).open("rb") as file,
    ):
        return _size(file.read(_HEADER_BYTES), file, name, asked)


def _size(start: bytes, file: BinaryIO, name: str, asked: Asked = ALL) -> Size:
    """Return the size of the image in a file, whose start is given, too."""
    if plain_formats.is_plain(start) and not has_pages(start):
        return plain_formats.measure(start, name)
    if not start:
        raise ReadError(f"{name}: empty (0 bytes); give an image file")
    if has_pages(start):
        return pages_of(sources.Slices(file), name, asked).size()
    from . import jpegs, pillow_reader
    from .quiet import damage_as_error

    with damage_as_error(name):
        measured: Size = (jpegs if start.startswith(JPEGS) else pillow_reader).measure(start, file)
        return measured


def _refuse_at_start(start: bytes, name: str) -> None:
    """Refuse a stream that does not start like an image, which may have no end."""
    if has_pages(start):
        return
    try:
        refuse_oversize(name, _size(start, io.BytesIO(start), name))
    except ReadError:
        # The headers of these may be longer than the start, and decoders of WebP and AVIF want all of a file.
        if not (start[4:8] == b"ftyp" or start.startswith((PNG_START, JPEG_START, *JPEGS, b"RIFF"))):
            raise


def raw(source: FileName, limit: int | None = None) -> sources.Content:
    """Return an image file, for :func:`opened`: bytes, or parts of a large TIFF, FITS or .npy of pages.

    ``limit`` is the most bytes of a stream. Raises what :func:`files.sources.content` raises.
    """
    if is_zarr(source):
        return b""  # which is read by name
    starts = (*TIFF, FITS[:4], plain_formats.NPY[:4])
    found = sources.large_file(source, starts)
    if found and not has_pages(found):
        found.close()
        found = None
    return found or sources.content(source, limit, _refuse_at_start)


def opened(
    data: sources.Content, source: FileName, asked: Asked = ALL, *, working: Working | None = None
) -> Picture | Pages:
    """Return the picture in a file, or its pages where several are chosen; ``source`` is its name in errors.

    ``asked`` are the pages. ``working`` returns, for a picture's size, the bytes of this machine's memory that the
    caller will take beside the picture; without it they are those of the fused engine on a CPU. Raises what
    :meth:`Pages.choose` and :func:`read` raise.
    """
    name = shown(source, "standard input")
    if not data:
        planes = _zarr_of(source, name, asked)
        planes.choose(asked)
        return planes if asked.is_all or len(planes) > 1 else planes.read(0, working)
    if asked.level is not None:
        raise ParameterError(f"{name}: is no OME-Zarr, and has no level {asked.level}: leave --level out")
    if asked.hdu is not None and not is_fits(data):
        raise ParameterError(f"{name}: is no FITS, and has no HDU {asked.hdu}: leave --hdu out")
    found = _opened(data, name, asked, working)
    if isinstance(found, Picture):
        found = _placed(source, found)
        found.valid = _beside(source, found) if found.valid is None else found.valid
    return found


def _zarr_of(source: FileName, name: str, asked: Asked) -> Pages:
    try:
        from .ome_zarr import ZarrPages
    except ImportError as error:
        raise ReadError(f"{name}: OME-Zarr needs zarr 3: {pip_install(extra='zarr')}") from error
    return ZarrPages(source, name, asked.level or 0)


def beside(source: FileName) -> list[Path]:
    """Return the files beside one that say something of its pixels: GDAL's mask, a world file and a .prj."""
    mask = _mask_of(source)
    is_alone = source == STANDARD_STREAM or urls.is_url(source)
    return [*filter(None, [mask]), *([] if is_alone else files_beside(os.fsdecode(source)))]


def _mask_of(source: FileName) -> Path | None:
    name = f"{os.fsdecode(source)}.msk"  # too long a name perhaps, for which Path's is_file raises
    is_there = source != STANDARD_STREAM and not urls.is_url(source) and os.access(name, os.F_OK)
    return Path(name) if is_there and os.path.isfile(name) else None  # noqa: PTH113


def digest_of(source: FileName, data: sources.Content) -> str:
    """Return a digest of a file's content, and of what lies beside it."""
    with suppress(OSError):
        return "".join([sources.digest_of(data), *(sources.digest_of(file.read_bytes()) for file in beside(source))])
    return ""


def _placed(source: FileName, picture: Picture) -> Picture:
    """Return a picture with the size of pixels by a world file beside it, unless its own tags say where it is."""
    size = picture.metadata and picture.metadata.pixel_size
    if source == STANDARD_STREAM or urls.is_url(source) or (size and size.is_on_earth):
        return picture
    if (found := of_world_file(os.fsdecode(source), picture.planes.shape[1])) is None:
        return picture
    from .metadata import Metadata

    return replace(picture, metadata=replace(picture.metadata or Metadata(), pixel_size=found))


def _beside(source: FileName, picture: Picture) -> Samples | None:
    """Return which samples of a picture GDAL's mask in the file beside it shows, None without one; raises ReadError."""
    if (file := _mask_of(source)) is None:
        return None
    mask: Samples = read(file).planes != 0
    if mask.shape[1:] != picture.planes.shape[1:] or len(mask) not in (1, len(picture.planes)):
        raise ReadError(f"{shown(source, '-')}: its mask {file.name} has another size; move it away, or make it anew")
    return mask


def _opened(data: sources.Content, name: str, asked: Asked, working: Working | None) -> Picture | Pages:
    if not has_pages(data) and (picture := _picture(data[:], name, working, asked.palette)):
        asked.of(1, name)
        if asked.place:
            raise ParameterError(f"{name}: names no axes: leave --{asked.place[0][0]} out")
        return picture
    pages = pages_of(data, name, asked)
    if asked.palette == "table" and not has_pages(data):
        raise ParameterError(f"{name}: frames of an animation have no look-up table: leave --palette out")
    pages.choose(asked)
    if len(pages) > 1:
        return pages
    picture = pages.read(0, working)
    if pages.container is None:  # else the metadata keep the file open for the HDUs beside it
        pages.close()
    if picture.metadata and pages.left_out:
        left_out = (*picture.metadata.left_out, *pages.left_out)
        picture.metadata = replace(picture.metadata, left_out=left_out)
    return picture


def in_parts(source: FileName, asked: Asked) -> Strips | Pages:
    """Return what is chosen of a file of this machine, to be read some rows, or pages, at a time.

    These are TIFF, FITS, OME-Zarr, .npy, raw PGM and PPM. Raises TooLargeError for others, and ReadError.
    """
    name = shown(source, "standard input")
    if urls.is_url(source) or source == "-":
        raise TooLargeError(f"{name}: only files of this machine are read by strips; copy it into one")
    if _mask_of(source):
        raise TooLargeError(f"{name}: the mask beside it, a .msk file, is not read by strips; move it away")
    starts = (*TIFF, FITS[:4], b"P5", b"P6", plain_formats.NPY[:4])
    data = b"" if is_zarr(source) else sources.large_file(source, starts, least=1)
    if data is None:
        raise TooLargeError(f"{name}: {NO_STRIPS}")
    if data and not has_pages(data):
        asked.of(1, name)
        found = plain_formats.strips(data, name)
    else:
        pages = _zarr_of(source, name, asked) if not data else pages_of(data, name, asked)
        pages.choose(asked)
        if len(pages) > 1 or (not data and asked.is_all):
            return pages
        found = pages.strips(0)
    return found._replace(picture=_placed(source, found.picture))


def _picture(data: bytes, name: str, working: Working | None, palette: PaletteRule) -> Picture | None:
    if plain_formats.is_plain(data):
        return plain_formats.decode(data, name, lambda size: refuse_oversize(name, size, working))
    from .quiet import damage_as_error

    with damage_as_error(name):
        if data.startswith(JPEGS):
            from . import jpegs

            return jpegs.read(data, name, working)
        from .pillow_reader import read_with_pillow

        return read_with_pillow(data, name, working, palette)


def has_pages(data: sources.Content) -> bool:
    """Whether a file's format is one whose pages are looked for before its only picture."""
    is_other = is_fits(data) or bool(BY_LIBRARY.match(data[:216])) or plain_formats.has_pages(data)
    return data[:4] in TIFF or is_other


def is_fits(data: sources.Content) -> bool:
    """Whether bytes are a FITS, also in a gzip."""
    start = data[:1024]
    if start.startswith(GZIP):
        with suppress(zlib.error):
            start = zlib.decompressobj(31).decompress(start, len(FITS))
    return start.startswith(FITS)


def pages_of(data: sources.Content, name: str, asked: Asked = ALL) -> Pages:
    """Return the pages of a file, all of them; ``name`` begins the message of a ReadError."""
    from .quiet import damage_as_error

    with damage_as_error(name):
        if data[:4] in TIFF:
            from .tiff_reader import TiffPages

            return TiffPages(data, name, asked.palette)
        if is_fits(data):
            refuse_missing("FITS", name)
            from .fits import FitsPages

            return FitsPages(data, name, asked.hdu)
        if BY_LIBRARY.match(data[:216]):
            from .library_formats import LibraryPages

            return LibraryPages(data, name)
        if plain_formats.has_pages(data) or data[:6] == plain_formats.NPY:
            return plain_formats.NpyPages(data, name)
        from .animation import AnimationPages

        return AnimationPages(data[:], name)
