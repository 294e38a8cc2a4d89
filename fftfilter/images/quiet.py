"""Keep Pillow, tifffile and libtiff from printing, and turn their errors into one kind."""

from __future__ import annotations

import ctypes
import logging
import os
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from typing import Any, BinaryIO

from PIL import Image, ImageFile, PngImagePlugin, UnidentifiedImageError, _imaging

from ..errors import FftfilterError, ReadError, pip_install
from ..files.messages import first_line
from .formats import PNG_START, RASTERS, UnsupportedError, told

_lock = threading.RLock()
_HEADER = 1 << 16  # bytes in which the header of an AVIF is, and what tells other formats
DEEP = "fftfilter's bits a sample"  # of an AVIF that has more than 8
_LONGEST_CHUNK = 1 << 26  # bytes of a PNG's profile or text when it is decompressed
# Pillow imports these for whatever it opens.
_IMPORTED_FIRST = ("PNG", "JPEG", "GIF", "BMP", "DIB", "PPM")


@contextmanager
def quiet() -> Iterator[None]:
    """Ignore warnings; their filters are the whole process's, and one thread at a time changes them."""
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def quiet_pillow() -> Iterator[None]:
    """Open images without Pillow's warnings, log lines and limit on pixels, since free memory is the limit here.

    Of a PNG's profile or text Pillow takes 1 MiB, and refuses the file for more, as profiles of printers have.
    """
    silence()
    with quiet():
        limits = Image.MAX_IMAGE_PIXELS, PngImagePlugin.MAX_TEXT_CHUNK
        Image.MAX_IMAGE_PIXELS, PngImagePlugin.MAX_TEXT_CHUNK = None, _LONGEST_CHUNK
        try:
            yield
        finally:
            Image.MAX_IMAGE_PIXELS, PngImagePlugin.MAX_TEXT_CHUNK = limits


@cache
def silence() -> None:
    """Keep the libraries from printing to stderr: all that matters comes as an error, too."""
    for name in ("PIL", "tifffile"):
        # Without any handler, Python prints errors to stderr. This one hides nothing from other handlers.
        logging.getLogger(name).addHandler(logging.NullHandler())
    # Damaged tags, found while a picture is loaded, without the lock.
    warnings.filterwarnings("ignore", category=UserWarning, module=r"PIL\.")
    with suppress(AttributeError, OSError):
        # The extension module leads to the very libtiff that it is linked with.
        library = ctypes.CDLL(_imaging.__file__)
        library.TIFFSetErrorHandler(None)
        library.TIFFSetWarningHandler(None)


@quiet_pillow()
def open_raster(file: BinaryIO, *formats: str) -> ImageFile.ImageFile:
    """Open an image of one of some formats (Pillow's names), by default of those in RASTERS, whatever its name is.

    Left to itself, Pillow opens all that it knows, and starts Ghostscript for PostScript.
    """
    _refuse_profiles(file)
    head = file.read(_HEADER)
    for names in (formats,) if formats else (_IMPORTED_FIRST, RASTERS):
        for name in names:
            import_plugin(name)
        file.seek(0)
        with suppress(UnidentifiedImageError):
            image = Image.open(file, formats=tuple(names))
            break
    else:
        raise UnsupportedError(told(head))
    if image.format == "AVIF" and (at := head.find(b"av1C") + 6) > 6 and head[at] & 0x60:
        image.info[DEEP] = 12 if head[at] & 0x20 else 10
    return image


def _refuse_profiles(file: BinaryIO) -> None:
    """Raise ValueError for a PNG with several color profiles, each of which Pillow would decompress."""
    head, profiles = file.read(len(PNG_START)), 0
    if head == PNG_START:
        while len(head := file.read(8)) == 8 and head[4:] != b"IDAT":
            profiles += head[4:] == b"iCCP"
            if profiles > 1:
                raise ValueError("it has several color profiles")
            file.seek(int.from_bytes(head[:4]) + 4, os.SEEK_CUR)
    file.seek(0)


@cache
def import_plugin(name: str) -> None:
    """Import the plugin of a format; for a missing one Pillow would import all that it has."""
    import_module(f"PIL.{RASTERS[name]}ImagePlugin")


def codec(name: str) -> Callable[..., Any]:
    """Return a function of imagecodecs, which is imported then; raises ImportError if it is missing."""
    try:
        found: Callable[..., Any] = getattr(import_module("imagecodecs"), name)
    except ImportError as error:
        raise ImportError(f"its way of coding needs imagecodecs: {pip_install('imagecodecs')}") from error
    return found


@contextmanager
def damage_as_error(name: str) -> Iterator[None]:
    """Turn any error of the libraries on damaged bytes into a ReadError that begins with a name."""
    try:
        yield
    except (FftfilterError, MemoryError):
        raise
    except (ImportError, UnsupportedError) as error:
        raise ReadError(f"{name}: {first_line(error)}") from error
    except Exception as error:  # they raise almost anything on damaged bytes
        raise ReadError(f"{name}: cannot be decoded ({first_line(error)}); it may be damaged or cut off") from error
