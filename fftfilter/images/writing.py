"""Encode a picture, and write it into a file that is whole or not there at all.

Pillow cannot write 16-bit color, and PNG only slowly: `png_writer` and `tiff_writer` do it instead.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import numpy as np

from ..errors import ParameterError, TooLargeError, WriteError
from ..files import urls
from ..files.atomic import Parts, Spare, is_special, refuse_inputs, refuse_unwritable, store
from ..files.messages import STANDARD_STREAM, FileName, as_error, first_line, quoted_if_odd, shown
from ..files.sources import Times, identity
from . import plain_formats
from .formats import AS_USUAL, FORMATS, SUFFIX_OF_FORMAT, Coding, check_fits, is_zarr, misfit, suffix_of
from .picture import CLEAR, F32, MAXVAL_OF, U8, U16, WHITE, Depth, Picture, Samples, refuse_missing, samples_of

if TYPE_CHECKING:
    from PIL import Image

    from .metadata import Metadata
    from .pages import Sink

T = TypeVar("T")

_ROWS = 64  # of samples that are scaled at a time, as float64 takes memory
_PNG_HEADER = 8 + 25  # the length of a PNG's signature and first chunk, which metadata follow
_DTYPE: dict[int, np.dtype[Any]] = {8: U8, 16: U16, 32: F32}


def check_output(source: FileName, target: FileName, *, in_place: bool = False, format: str | None = None) -> None:
    """Refuse, before any work, a target that could not be written afterwards.

    Raises ParameterError for an extension that cannot be written, for a terminal, and for a target that is the source
    (by any of its names, hard links and streams) unless `in_place`; WriteError for a folder, for a target in a folder
    that is missing, read-only or full, and for one that may not be written.
    """
    name = shown(target, "standard output")
    if is_zarr(source, target):
        path = Path(os.path.realpath(target))
        if path.exists():
            raise WriteError(f"{name}: exists, and is not overwritten: remove it, or choose another name")
        if path.is_relative_to(os.path.realpath(source)):
            raise ParameterError(f"{name}: lies in IN: choose another folder")
        return
    if os.fsdecode(target) == STANDARD_STREAM and sys.stdout and sys.stdout.isatty():
        raise ParameterError(f"{name}: is a terminal, which shows no pictures; redirect it to a file or a pipe")
    if not in_place:
        refuse_inputs(target, {identity(source)})
    if urls.is_url(target):
        urls.refuse_reading_only(os.fsdecode(target))
        suffix_of(target, format)
        if source == target and not in_place:
            raise ParameterError(f"{name}: is the input itself; choose another name, or --in-place to overwrite it")
    elif os.fsdecode(target) != STANDARD_STREAM and not is_special(Path(target)):
        _check_path(Path(target), name, format)


def _check_path(path: Path, name: str, format_: str | None) -> None:
    with as_error(WriteError, f"{name}: cannot be written"):
        if path.is_dir():
            raise WriteError(f"{name}: a folder; give the name of a file in it")
        refuse_missing(FORMATS[suffix_of(path, format_)].name, name, ParameterError)
        folder = Path(os.path.realpath(path)).parent  # A symbolic link is followed.
        if not folder.is_dir():
            raise WriteError(f"{name}: there is no folder {quoted_if_odd(str(folder))}; create it first")
        refuse_unwritable(str(folder))
        if path.exists() and not os.access(path, os.W_OK):
            raise WriteError(f"{name}: exists and is write-protected; choose another name")


def write(
    picture: Picture,
    target: FileName,
    *,
    format: str | None = None,
    coding: Coding = AS_USUAL,
    times: Times | None = None,
    spare: Spare = (),
) -> list[str]:
    """Write an image file; return what was dropped of its metadata, as text. "-" is standard output.

    The format is `format` (Pillow's name or an extension without its dot), else what the target's extension says; a
    stream, pipe or device gets the picture's own format, or PNG if that cannot hold the picture. Planes and alpha of
    another depth than `depth_as` says are rescaled. Metadata go along as far as the format can hold them. `times`
    become the file's own.

    A file appears whole or not at all, with the owner and permissions of the one that it replaces; it replaces none of
    `spare`. Raises WriteError, and ParameterError for an extension that cannot be written and a target of `spare`.
    """
    name = shown(target, "standard output")
    suffix = check_fits(picture, target, format=format)
    parts, left_out = encoded(picture, suffix, name, lambda fitting: encode(fitting, suffix, coding))
    with as_error(WriteError, f"{name}: cannot be written"):
        left_out += store(target, parts, times, spare=spare)
    return left_out


def encoded(picture: Picture, suffix: str, name: str, encode: Callable[[Picture], T]) -> tuple[T, list[str]]:
    """Return a picture as ``encode`` codes it for a file with this extension, and what was dropped, as text.

    Raises TooLargeError and WriteError, whose messages begin with ``name``.
    """
    kind = FORMATS[suffix].name
    left_out: list[str] = []
    if picture.planes.dtype == np.float64:  # filtered values as they are, in double precision
        limit = np.finfo(F32).max
        picture = replace(picture, planes=picture.planes.clip(-limit, limit).astype(F32))
    metadata = picture.metadata
    if metadata:
        metadata, left_out = metadata.fitting(kind)
    depth = depth_as(suffix, picture, keeps_levels=True)
    planes = depth.rounded(_rescaled(picture.planes, picture.maxval, depth), picture.nodata)
    alpha = picture.alpha
    if alpha is not None:
        full = depth._replace(maxval=MAXVAL_OF[depth.dtype])
        alpha = depth.rounded(_rescaled(alpha, MAXVAL_OF[alpha.dtype], full))
    picture = replace(picture, planes=planes, alpha=alpha, maxval=depth.maxval, metadata=metadata)
    if picture.table is not None and (planes.dtype != U8 or alpha is not None or not FORMATS[suffix].has_tables):
        picture, left_out = replace(picture, table=None), [*left_out, "the look-up table"]
    try:
        return encode(picture), left_out
    except MemoryError as error:
        raise TooLargeError(f"{name}: out of memory while writing it; use a smaller image") from error
    except Exception as error:  # Pillow's writers raise almost anything at their limits.
        if picture.metadata and not picture.metadata.hdus:
            # The picture matters more than its metadata.
            return encoded(replace(picture, metadata=None), suffix, name, encode)[0], ["metadata"]
        raise WriteError(f"{name}: cannot be written as {kind} ({first_line(error)}); write .png") from error


def depth_as(
    suffix: str, picture: Picture, *, is_real: bool = False, is_page: bool = False, keeps_levels: bool = False
) -> Depth:
    """Return how a file with this extension, a key of FORMATS, stores samples: as the picture, or as near as it can.

    Filtered values as they are, which are ``is_real``, are floats. ``is_page`` is for one of several pages. Where gray
    levels are kept, floats that were integers become such.
    """
    if is_real or suffix == ".pfm":
        return Depth(F32, MAXVAL_OF[F32])
    kind = FORMATS[suffix]
    if keeps_levels and picture.integers is not None and picture.planes.dtype == F32 and kind.has_integers:
        return Depth(F32, MAXVAL_OF[F32], picture.integers)
    is_plain_gray = len(picture.planes) == 1 and picture.alpha is None
    given = picture.planes.dtype
    if kind.name == "PPM" and given != F32:
        return Depth(U8 if picture.maxval < 256 else U16, picture.maxval)
    if kind.name == "MRC" and given == U8:  # which it has not
        return Depth(U16, picture.maxval)
    deepest = _DTYPE[kind.gray if is_plain_gray else kind.color or kind.gray]
    if is_page and kind.name == "PNG" and not is_plain_gray:
        deepest = U8  # readers of animated PNGs, Pillow included, have 8 bits for color
    dtype = deepest if given == F32 or deepest == U8 else given
    return Depth(dtype, MAXVAL_OF[dtype])


def _rescaled(samples: Samples, maxval: int, depth: Depth) -> Samples:
    """Return samples with `depth.maxval` in place of `maxval`; integers are rounded and clipped."""
    if samples.dtype == depth.dtype and maxval == depth.maxval:
        return samples
    made = np.empty(samples.shape, depth.dtype)
    for start in range(0, samples.shape[-2], _ROWS):
        rows = np.s_[..., start : start + _ROWS, :]
        # In this order 50 of 100 is exactly 127.5 of 255.
        scaled = samples[rows].astype(np.float64) * depth.maxval / maxval
        made[rows] = scaled if depth.dtype == F32 else np.rint(scaled).clip(0, depth.maxval)
    return made


def encode(picture: Picture, suffix: str, coding: Coding) -> Parts:
    """Return the parts of a file with this extension, a key of FORMATS, for a picture of a depth that it can hold."""
    kind, metadata = FORMATS[suffix], picture.metadata
    if kind.name in ("PPM", "NPY"):
        return encode_plain(picture, suffix)
    if kind.name == "FITS" or kind.is_by_library or (kind.name == "TIFF" and picture.valid is not None):
        growing = sink(file := io.BytesIO(), suffix, coding)
        growing.add(growing.encode(picture, None))
        growing.finish()
        return [file.getbuffer()]
    if kind.name == "TIFF":
        from . import tiff_writer

        return tiff_writer.encode(picture, coding)
    samples = samples_of(picture)
    if kind.name == "PNG":
        return _png(samples, coding.png_level, metadata, picture.table)
    options = dict(kind.options if coding.quality is None else {"quality": coding.quality})
    if metadata:
        options |= metadata.pillow_options()
    if kind.name != "JPEG2000" or samples.dtype == U8:
        return [_by_pillow(samples, kind.name, options, picture.table)]
    from . import jpegs

    return [jpegs.encode(samples)]


def encode_plain(picture: Picture, suffix: str, height: int = 0, count: int = 1) -> Parts:
    """Return the parts of a file of netpbm's or NumPy's, of a picture or of the first rows of one of a ``height``.

    An .npy may have the first of ``count`` pages.
    """
    if FORMATS[suffix].name == "NPY":
        return plain_formats.encode_npy(samples_of(picture), height, count)
    planes = picture.planes
    if suffix == ".ppm":
        planes = np.broadcast_to(planes, (3, *planes.shape[1:]))
    if planes.dtype == F32:
        return plain_formats.encode_pfm(planes)
    return plain_formats.encode_pnm(planes, picture.maxval, height)


def sink(file: BinaryIO, suffix: str, coding: Coding, *, count: int = 1, plays: int = 0, height: int = 0) -> Sink:
    """Return what makes a file with this extension, a key of FORMATS, grow by pages: ``count`` of them.

    With a ``height`` it grows by rows of pages that have it, in their order, as :func:`strip_rows` says.
    """
    kind = FORMATS[suffix].name
    if kind == "TIFF":
        from .tiff_writer import TiffSink

        return TiffSink(file, coding, height)
    if kind == "FITS":
        from .fits import FitsSink

        return FitsSink(file, suffix, count, height)
    if FORMATS[suffix].is_by_library:
        from .library_formats import LibrarySink

        return LibrarySink(file, suffix)
    if kind in ("PPM", "NPY"):
        return plain_formats.PlainSink(file, lambda part: encode_plain(part, suffix, height, count))
    from .animation import SINKS

    return SINKS[kind](file, lambda page: encode(page, suffix, coding), count, plays)


def strip_rows(suffix: str, picture: Picture, depth: Depth) -> int | None:
    """Return of how many rows, or a multiple, all parts of a picture but the last are; None if it is not written so."""
    if FORMATS[suffix].name == "TIFF":
        from .tiff_writer import strip_rows

        return strip_rows(picture, depth)
    return 1 if suffix in (".pgm", ".ppm", ".pnm", ".npy") or suffix.startswith((".fit", ".fts")) else None


def _by_pillow(samples: Samples, format_: str, options: dict[str, object], table: Samples | None = None) -> memoryview:
    from PIL import Image

    from .quiet import codec, import_plugin

    if format_ == "JPEG" and [*options] == ["quality"]:  # without metadata: the same bytes in less time
        with suppress(ImportError):
            return memoryview(
                codec("jpeg8_encode")(samples.squeeze(2) if samples.shape[2] == 1 else samples, options["quality"])
            )
    import_plugin(format_)
    file = io.BytesIO()
    if format_ == "GIF" and samples.shape[2] in (2, 4):
        image = _with_transparent_entry(samples)
        # Also a frame without transparent pixels keeps the entry, without which it is not cleared after it was shown.
        options |= {"transparency": CLEAR, "optimize": False}
    else:
        image = Image.fromarray(samples[:, :, 0] if samples.shape[2] == 1 else samples)
    if table is not None:
        image.putpalette((table // WHITE).T.ravel().tolist())
        options |= {"optimize": False}  # which would take entries away
    image.save(file, format_, **options)
    return file.getbuffer()


def _with_transparent_entry(samples: Samples) -> Image.Image:
    """Return 8-bit samples with alpha, ``(height, width, 2 or 4)``, as an image whose entry CLEAR is transparent."""
    from PIL import Image

    is_clear = samples[..., -1] == 0
    if samples.shape[2] == 2:
        # The gray that is rarest among the opaque pixels, mostly one that none has, gives way to the gray beside it.
        gray = samples[..., 0]
        rarest = int(np.bincount(gray[~is_clear], minlength=256).argmin())
        entries = np.minimum(np.where(gray > rarest, gray - 1, gray), CLEAR - 1)
        colors = np.delete(np.arange(256), rarest).repeat(3).tolist()
    else:
        image = Image.fromarray(np.where(is_clear[..., None], 0, samples[..., :3])).quantize(CLEAR)
        entries, colors = np.asarray(image), image.getpalette() or []
    made = Image.fromarray(np.where(is_clear, CLEAR, entries).astype(np.uint8))
    made.putpalette(colors + [0] * (3 * 256 - len(colors)))
    return made


def _png(samples: Samples, level: int, metadata: Metadata | None, table: Samples | None) -> Parts:
    from . import png_writer

    chunks = list(metadata.png_chunks()) if metadata else []
    is_16_bit_color = samples.shape[2] > 1 and samples.dtype == U16
    if table is not None:
        chunks += png_writer.chunk(b"PLTE", (table // WHITE).astype(np.uint8).T.tobytes())
    if is_16_bit_color or level <= png_writer.QUICK or table is not None:
        return png_writer.encode(samples, level, chunks, has_palette=table is not None)
    file = _by_pillow(samples, "PNG", {"compress_level": level})
    return [file[:_PNG_HEADER], *chunks, file[_PNG_HEADER:]]


# Files of several pages


def suffix_of_pages(target: FileName, format_: str | None, pages: int, picture: Picture | None = None) -> str:
    """Return :func:`suffix_of` a file that holds a number of pages; raises ParameterError if its format holds one."""
    suffix = suffix_of(target, format_, picture)
    if not FORMATS[suffix].pages:
        usual = {each: kind for each, kind in FORMATS.items() if kind.pages and not kind.is_by_library}
        many = [each for each, kind in usual.items() if SUFFIX_OF_FORMAT[kind.name] == each]
        raise ParameterError(
            f"{shown(target, 'standard output')}: {suffix} holds one page, and there are {pages}; "
            f"give --pages 1, or write {', '.join(many[:-1])} or {many[-1]}"
        )
    return suffix


def check_page(picture: Picture, number: int, first: Picture, suffix: str, name: str) -> None:
    """Raise WriteError if a page, counted from 1, does not fit a file, or its format needs pages like the first."""
    if problem := misfit(picture, suffix):
        raise WriteError(f"{name}: page {number}: {problem}")
    said, wanted = (_said(each) for each in (picture, first))
    several = first.metadata and first.metadata.hdus and len(first.metadata.hdus.chosen) > 1
    is_free = FORMATS[suffix].name == "TIFF" or (several and FORMATS[suffix].name == "FITS")
    if not is_free and said != wanted:
        raise WriteError(f"{name}: page {number} is {said}, page 1 {wanted}: pages of a {suffix} are alike; write .tif")


def _said(picture: Picture) -> str:
    channels, height, width = picture.planes.shape
    alpha = "" if picture.alpha is None else " with alpha"
    return f"{width} x {height} {'gray' if channels == 1 else 'color'}{alpha}, {8 * picture.planes.itemsize} bits"
