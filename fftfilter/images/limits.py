"""What a picture takes of this machine's memory, told from its header alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ReadError, TooLargeError
from ..memory import lacking

if TYPE_CHECKING:
    from collections.abc import Callable

    from PIL import ImageFile

    from .picture import Size

    Working = Callable[[Size], int]

# Bytes that a sample takes at the peak of reading, filtering by the fused form for CPUs and writing, by the bytes of a
# sample in the picture. Measured: 6 to 7, 8 to 11, 26 to 29.
_TAKEN = {1: 8, 2: 12, 4: 30}
# Pixels of all pages together, twenty minutes' work, and as many for each byte of a larger file: a frame may have few
# bytes, and pages of a TIFF may share them.
_MOST_OF_ALL, _MOST_A_BYTE = 4 * 10**10, 64
# Pixels that a byte can stand for at most, the header included: deflate makes 1032 of one byte, eight pixels of a bit
# each; a code of GIF's 12 bits is up to 4093 pixels; a block of a JPEG, 64 pixels, takes a bit.
_PIXELS_A_BYTE = {"PNG": 8 * 1032, "GIF": 8 * 4093 // 9, "JPEG": 8 * 64}


def refuse_oversize(name: str, size: Size, working: Working | None = None) -> None:
    """Raise TooLargeError for a picture that takes more memory than is free; ``working`` is as for ``decode``."""
    samples = size.width * size.height * size.channels
    taken = _TAKEN[size.bytes_per_sample] * samples
    if working:
        taken = max(taken, working(size) + 3 * size.bytes_per_sample * samples)
    if (free := lacking(taken)) is not None:
        raise TooLargeError(
            f"{name}: {size.width} x {size.height} pixels take {taken:,} bytes to filter, more than the {free:,} of "
            "memory that are free; use a smaller image"
        )


def refuse_endless(name: str, pixels: int, nbytes: int) -> None:
    """Raise TooLargeError for pages of more pixels together than a file of that many bytes is believed to have."""
    if pixels > max(_MOST_OF_ALL, _MOST_A_BYTE * nbytes):
        raise TooLargeError(
            f"{name}: its pages have {pixels:,} pixels to decode, too many for {nbytes:,} bytes; take fewer by "
            "--pages, such as --pages -10"
        )


def refuse_undersize(name: str, image: ImageFile.ImageFile, nbytes: int) -> None:
    """Raise ReadError for an opened file of fewer bytes than its format needs for as many pixels."""
    # A GIF may have pixels for a part of its screen only.
    left, top, right, bottom = image.tile[0].extents or (0, 0, *image.size) if image.tile else (0, 0, 0, 0)
    pixels = (right - left) * (bottom - top)
    if nbytes * _PIXELS_A_BYTE.get(image.format or "", pixels) < pixels:
        raise ReadError(
            f"{name}: {nbytes:,} bytes cannot hold the {image.width} x {image.height} pixels of its header; "
            "get a whole copy of it"
        )
