"""Read images: netpbm's formats here, all others through Pillow, which is imported only then."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..files import urls
from ..errors import ReadError, TooLargeError

from . import pnm
from ..files.atomic import open_stream
from .memory import physical_memory, refuse_oversize
from .picture import Picture, Size
from ..files.messages import STANDARD_STREAM, reason, shown

if TYPE_CHECKING:
    from ..files.atomic import Times

# Where a PGM's header ends at the latest, comments included, in a file that is met in practice.
_HEADER_BYTES = 1 << 16


def read(source: str | os.PathLike[str]) -> Picture:
    """Read an image file; "-" is standard input, and a URL goes through fsspec.

    A palette is expanded, to gray if every color used is gray; transparency becomes alpha. 32-bit integers
    become float32; CMYK, YCbCr, LAB and HSV become RGB. A camera's MPO gives its main picture, as a JPEG.

    Raises ReadError for a file that is missing, damaged, cut off, no image, several images or not finite, and
    TooLargeError, before allocating, for a size that the machine's memory cannot hold.
    """
    return decode(content(source), source)


def decode(data: bytes, source: str | os.PathLike[str]) -> Picture:
    """Read an image from a file's bytes, as :func:`read`; ``source`` is what errors call it."""
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


def times(source: str | os.PathLike[str]) -> Times:
    """Return when a file was last read and changed; raises ReadError."""
    try:
        status = Path(source).stat()
    except OSError as error:
        raise ReadError(f"{shown(source, 'standard input')}: cannot be read: {reason(error)}") from error
    return status.st_atime_ns, status.st_mtime_ns


def content(source: str | os.PathLike[str]) -> bytes:
    """Return all bytes of a file, which need not be seekable and may be a URL; raises ReadError, TooLargeError."""
    name = shown(source, "standard input")
    try:
        if os.fsdecode(source) == STANDARD_STREAM:
            data = open_stream(sys.stdin).read()
        elif urls.is_url(source):
            data = urls.content(os.fsdecode(source))
        else:
            # All at once, so a buffer is in the way, as is pathlib before thousands of small files.
            with open(source, "rb", buffering=0) as file:  # noqa: PTH123
                size = os.fstat(file.fileno()).st_size
                if (memory := physical_memory()) and size > memory:
                    raise TooLargeError(f"{name}: {size:,} bytes, more than the {memory:,} of this machine's memory")
                # A byte more shows that this is the end; a pipe's size is 0.
                data = file.read(size + 1) or b""
                if len(data) != size:
                    data += file.read()
    except OSError as error:
        raise ReadError(f"{name}: cannot be read: {reason(error)}") from error
    except MemoryError as error:
        raise TooLargeError(f"{name}: out of memory while reading it; use a smaller image") from error
    if not data:
        raise ReadError(f"{name}: empty (0 bytes); give an image file")
    return data


def measure(source: str | os.PathLike[str]) -> Size:
    """Return the size of the image in a file, from its header alone; raises ReadError."""
    name = shown(source, "standard input")
    try:
        with io.BytesIO(content(source)) if urls.is_url(source) else Path(source).open("rb") as file:
            start = file.read(_HEADER_BYTES)
            if pnm.is_pnm(start):
                header = pnm.read_header(start, name)
                return Size(header.width, header.height, header.channels, header.dtype.itemsize)
            if not start:
                raise ReadError(f"{name}: empty (0 bytes); give an image file")
            from .pillow_reader import measure_with_pillow

            file.seek(0)
            return measure_with_pillow(start, file, name)
    except OSError as error:
        raise ReadError(f"{name}: cannot be read: {reason(error)}") from error
