"""A picture to bytes, and into a file that is whole or not there at all.

Pillow cannot write 16-bit color, and PNG only slowly: `png_writer` and `_tiff_16_bit_color` do it instead.
"""

from __future__ import annotations

import io
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ParameterError, TooLargeError, WriteError
from ..files import urls
from ..files.atomic import is_same_file, is_special, refuse_unwritable, store
from ..files.messages import first_line, quoted_if_odd, reason, shown
from ..files.standard_streams import STANDARD_STREAM
from . import pnm
from .depth import depth_as
from .formats import FORMATS, check_fits, suffix_of
from .picture import F32, MAXVAL_OF, U16, Depth, Picture, Samples

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..files.atomic import Parts, Times
    from .metadata import Metadata

# A PNG's signature and its first chunk, which metadata follow.
_PNG_HEADER = 8 + 25


def check_output(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    in_place: bool = False,
    format: str | None = None,  # noqa: A002  as `write` has it
) -> None:
    """Refuse, before any work, a target that could not be written afterwards.

    Raises ParameterError for an extension that cannot be written, for a terminal, and for a target that is the source
    (the same path, a hard link or a symbolic link to it) unless `in_place`; WriteError for a folder, for a target in a
    folder that is missing, read-only or full, and for one that may not be written.
    """
    name = shown(target, "standard output")
    if os.fsdecode(target) == STANDARD_STREAM and sys.stdout and sys.stdout.isatty():
        raise ParameterError(f"{name}: is a terminal, which shows no pictures; redirect it to a file or a pipe")
    if os.fsdecode(target) == STANDARD_STREAM or is_special(path := Path(target)):
        return
    if urls.is_url(target):
        urls.refuse_reading_only(os.fsdecode(target))
        suffix_of(target, format)
        is_source = source == target
    else:
        _check_path(target, name, format)
        is_source = is_same_file(source, path)
    if is_source and not in_place:
        raise ParameterError(f"{name}: is the input itself; choose another name, or --in-place to overwrite it")


def _check_path(target: str | os.PathLike[str], name: str, format_: str | None) -> None:
    path = Path(target)
    try:
        if path.is_dir():
            raise WriteError(f"{name}: a folder; give the name of a file in it")
        suffix_of(target, format_)
        folder = Path(os.path.realpath(path)).parent  # A symbolic link is followed.
        if not folder.is_dir():
            raise WriteError(f"{name}: there is no folder {quoted_if_odd(str(folder))}; create it first")
        refuse_unwritable(str(folder))
        if path.exists() and not os.access(path, os.W_OK):
            raise WriteError(f"{name}: exists and is write-protected; choose another name")
    except OSError as error:
        raise WriteError(f"{name}: cannot be written: {reason(error)}") from error


def write(
    picture: Picture,
    target: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    png_level: int = 1,
    times: Times | None = None,
) -> None:
    """Write an image file; "-" is standard output, and a URL goes through fsspec.

    The format is `format` (Pillow's name or an extension without its dot), else what the target's extension
    says; standard output, a pipe or a device gets the picture's own format, or PNG if that cannot hold the picture.
    Planes and alpha of another depth than `output_depth` says are rescaled. `png_level` is zlib's, 0 to 9; at 1
    it looks for runs only. The picture's metadata go along as far as the format can hold them. `times` become the
    file's own.

    A file appears whole or not at all, with the owner and permissions of the one that it replaces.
    Raises WriteError, and ParameterError for an extension that cannot be written.
    """
    name = shown(target, "standard output")
    check_fits(picture, target, format=format)
    suffix = suffix_of(target, format, picture)
    depth = depth_as(suffix, picture)
    planes = _rescaled(picture.planes, picture.maxval, depth)
    alpha = picture.alpha
    if alpha is not None:
        alpha = _rescaled(alpha, MAXVAL_OF[alpha.dtype], Depth(depth.dtype, MAXVAL_OF[depth.dtype]))
    try:
        parts = encode(planes, alpha, depth.maxval, suffix, png_level=png_level, metadata=picture.metadata)
    except MemoryError as error:
        raise TooLargeError(f"{name}: out of memory while writing it; use a smaller image") from error
    except Exception as error:  # Pillow's writers raise almost anything at their limits.
        kind = FORMATS[suffix].name
        raise WriteError(f"{name}: cannot be written as {kind} ({first_line(error)}); write .png") from error
    try:
        store(target, parts, times)
    except OSError as error:
        raise WriteError(f"{name}: cannot be written: {reason(error)}") from error


def _rescaled(samples: Samples, maxval: int, depth: Depth) -> Samples:
    """Return samples with `depth.maxval` in place of `maxval`; integers are rounded and clipped."""
    if samples.dtype == depth.dtype and maxval == depth.maxval:
        return samples
    # In this order 50 of 100 is exactly 127.5 of 255.
    scaled = samples.astype(np.float64) * depth.maxval / maxval
    if depth.dtype != F32:
        scaled = np.rint(scaled).clip(0, depth.maxval)
    return scaled.astype(depth.dtype)


def encode(
    planes: Samples, alpha: Samples | None, maxval: int, suffix: str, *, png_level: int, metadata: Metadata | None
) -> Parts:
    """Return the parts of a file with this extension, a key of FORMATS.

    `planes` is (channels, height, width), `alpha` (height, width), both of a depth that the format can hold.
    """
    kind = FORMATS[suffix]
    if kind.name == "PPM" and planes.dtype != F32:
        if suffix == ".ppm":
            planes = np.broadcast_to(planes, (3, *planes.shape[1:]))
        return pnm.encode(planes, maxval)
    bands = planes if alpha is None else np.concatenate([planes, alpha[None]])
    samples = np.ascontiguousarray(bands.transpose(1, 2, 0))
    if kind.name == "PNG":
        return _png(samples, png_level, metadata)
    if _is_16_bit_color(samples):  # Of the formats left, only TIFF holds it.
        return _tiff_16_bit_color(samples, metadata)
    options = dict(kind.options)
    if metadata:
        from .metadata import pillow_options

        options |= pillow_options(metadata, kind.name)
    return [_by_pillow(samples, kind.name, options)]


def _is_16_bit_color(samples: Samples) -> bool:
    return samples.shape[2] > 1 and samples.dtype == U16


def _by_pillow(samples: Samples, format_: str, options: dict[str, object]) -> memoryview:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(samples[:, :, 0] if samples.shape[2] == 1 else samples).save(file, format_, **options)
    return file.getbuffer()


def _png(samples: Samples, level: int, metadata: Metadata | None) -> Parts:
    from . import png_writer

    chunks: list[bytes] = []
    if metadata:
        from .metadata import png_chunks

        chunks = list(png_chunks(metadata))
    if _is_16_bit_color(samples) or level <= png_writer.QUICK:
        return png_writer.encode(samples, level, chunks)
    file = _by_pillow(samples, "PNG", {"compress_level": level})
    return [file[:_PNG_HEADER], *chunks, file[_PNG_HEADER:]]


def _tiff_16_bit_color(samples: NDArray[np.uint16], metadata: Metadata | None) -> Parts:
    """Return an uncompressed TIFF of (height, width, channels), channels 2 to 4.

    Gray with alpha is written as RGB with alpha, because Pillow, and so this program, could not read it back.
    """
    from PIL.TiffImagePlugin import ImageFileDirectory_v2

    if samples.shape[2] == 2:
        samples = samples[:, :, [0, 0, 0, 1]]
        metadata = replace(metadata, profile=b"") if metadata else None  # A profile of gray does not fit color.
    height, width, channels = samples.shape
    raster = samples.astype("<u2", order="C", copy=False).data
    tags = ImageFileDirectory_v2(prefix=b"II")
    tags[256], tags[257] = width, height
    tags[258] = (16,) * channels  # bits per sample
    tags[259] = 1  # no compression
    tags[262] = 2  # RGB
    tags[273] = 0  # the raster's offset, counted from the end of the tags
    tags[277], tags[278] = channels, height  # all rows in one strip
    tags[279] = raster.nbytes
    if channels == 4:
        tags[338] = 2  # the fourth is alpha, not multiplied into the others
    if metadata:
        from .metadata import add_to_tiff

        add_to_tiff(tags, metadata)
    header = io.BytesIO()
    tags.save(header)
    return [header.getvalue(), raster]
