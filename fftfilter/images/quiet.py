"""Pillow, tifffile and libtiff as parts of this program: no lines of their own on stderr, one kind of error."""

from __future__ import annotations

import ctypes
import logging
import threading
import warnings
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING

from PIL import Image, UnidentifiedImageError, _imaging

from ..errors import FftfilterError, ReadError
from ..files.messages import first_line

if TYPE_CHECKING:
    from collections.abc import Iterator

_lock = threading.Lock()


@contextmanager
def quiet_pillow() -> Iterator[None]:
    """Open images without Pillow's warnings, log lines and limit on pixels: the free memory is the limit here.

    These are settings of the whole process: one thread at a time changes them, and restores them afterwards.
    """
    silence()
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
        try:
            yield
        finally:
            Image.MAX_IMAGE_PIXELS = limit


@cache
def silence() -> None:
    """Keep what the libraries print off stderr: what matters of it comes as an error, too."""
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


@contextmanager
def damage_as_error(name: str) -> Iterator[None]:
    """Turn whatever the libraries raise on damaged bytes into a ReadError that begins with a name."""
    try:
        yield
    except (FftfilterError, MemoryError):
        raise
    except UnidentifiedImageError as error:
        raise ReadError(f"{name}: not an image, or damaged at its start; give a PNG, TIFF, JPEG, PGM or PPM") from error
    except Exception as error:  # they raise almost anything on damaged bytes
        raise ReadError(f"{name}: cannot be decoded ({first_line(error)}); it may be damaged or cut off") from error
