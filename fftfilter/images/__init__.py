"""Formats in and out: bytes to pictures and back, every depth kept where the format can. Knows no filter.

    read -> Picture -> (its planes are filtered elsewhere) -> check_fits, output_depth -> write

    picture.py         what an image is between its file and the filter
    reading.py         bytes to a picture: pnm.py, npy.py, tiff_reader.py, or pillow_reader.py for all other formats
    completeness.py    rows that a file promises and does not have
    formats.py         the table of formats: what each can hold
    depth.py           and so how an output is stored
    writing.py         a picture to bytes: pnm.py, npy.py, png_writer.py, tiff_writer.py or Pillow
    metadata.py        color profile, EXIF, resolution and text, from file to file
    pixel_size.py      the size of a pixel, where the file says it
    orientation.py     pictures turned upright
    limits.py          what a picture takes of this machine's memory
    quiet.py           libraries that print nothing

Where bytes come from and go to is the business of `files`. Netpbm's formats never import Pillow.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .depth import output_depth as output_depth
    from .formats import check_fits as check_fits
    from .formats import extension_of as extension_of
    from .formats import extensions as extensions
    from .formats import is_lossy as is_lossy
    from .formats import refuse_whole_numbers as refuse_whole_numbers
    from .picture import Depth as Depth
    from .picture import Picture as Picture
    from .picture import Size as Size
    from .pixel_size import PixelSize as PixelSize
    from .pixel_size import pixel_size_of as pixel_size_of
    from .reading import content as content
    from .reading import decode as decode
    from .reading import measure as measure
    from .reading import read as read
    from .writing import check_output as check_output
    from .writing import write as write

_HOMES = {
    ".depth": ("output_depth",),
    ".formats": ("check_fits", "extension_of", "extensions", "is_lossy", "refuse_whole_numbers"),
    ".picture": ("Depth", "Picture", "Size"),
    ".pixel_size": ("PixelSize", "pixel_size_of"),
    ".orientation": ("stripped", "without_orientation"),
    ".reading": ("content", "decode", "measure", "read"),
    ".writing": ("check_output", "write"),
}


def __getattr__(name: str) -> Any:
    # Imported on first use: `extensions` alone must not wait for NumPy.
    for home, names in _HOMES.items():
        if name in names:
            found = globals()[name] = getattr(import_module(home, __name__), name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
