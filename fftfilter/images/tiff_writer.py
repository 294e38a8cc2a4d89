"""Write TIFF files of 8 and 16 bits and floats, compressed as the input was.

The tags are Pillow's to lay out, as groups of tags (EXIF, GPS) are in none but its own; tifffile has no such groups.
Pillow's libtiff compresses the rows as if they were a gray picture of 8 bits, because it has no 16-bit color.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image
from PIL.TiffImagePlugin import ImageFileDirectory_v2, TiffImageFile

from .picture import F32
from .quiet import silence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ..files.atomic import Parts

NONE, _DEFLATE = 1, 8
# What TIFF's numbers of lossless compressions are called by Pillow. All others become deflate.
_NAMES = {5: "tiff_lzw", _DEFLATE: "tiff_adobe_deflate", 32773: "packbits", 34925: "lzma", 50000: "zstd"}
_WITH_PREDICTOR = (5, _DEFLATE, 34925, 50000)
_ALPHA = 2
# More than this needs BigTIFF; the rest of 4 GiB is for tags.
_LARGEST = (1 << 32) - (1 << 26)
_HEAD, _BIG_HEAD = b"II*\0" + bytes(4), b"II+\0\x08\0\0\0" + bytes(8)


def encode(samples: NDArray[Any], compression: int, metadata: Mapping[int, Any]) -> Parts:
    """Return the parts of a TIFF of samples (height, width, channels), channels 1 to 4, the second and fourth alpha.

    ``compression`` is TIFF's number, ``metadata`` are tags; one whose value is a dict is a group of tags.
    """
    height, width, channels = samples.shape
    rows = samples.astype(samples.dtype.newbyteorder("<"), order="C", copy=False)
    tags = ImageFileDirectory_v2(_HEAD if rows.nbytes < _LARGEST else _BIG_HEAD)
    for tag, value in metadata.items():
        tags[tag] = value
    tags[256], tags[257] = width, height
    tags[258] = (8 * samples.dtype.itemsize,) * channels
    tags[262] = 1 if channels < 3 else 2  # black is zero, RGB
    tags[277] = channels
    if channels in (2, 4):
        tags[338] = _ALPHA  # not multiplied into the others
    if samples.dtype == F32:
        tags[339] = (3,) * channels  # floating point
    if compression != NONE and compression not in _NAMES:
        compression = _DEFLATE
    if compression in _WITH_PREDICTOR and samples.dtype != F32:
        tags[317] = 2  # differences of neighbors
        rows = np.concatenate([rows[:, :1], rows[:, 1:] - rows[:, :-1]], axis=1)
    strips, tags[278] = [rows.data.cast("B")], height
    if compression != NONE:
        strips, tags[278] = _compressed(rows.reshape(height, -1).view(np.uint8), _NAMES[compression])
    tags[259] = compression
    tags[279] = tuple(strip.nbytes for strip in strips)
    # Offsets are counted from the end of the tags.
    tags[273] = tuple(np.cumsum([0, *tags[279][:-1]]).tolist())
    header = io.BytesIO()
    tags.save(header)
    return [header.getvalue(), *strips]


def _compressed(rows: NDArray[np.uint8], name: str) -> tuple[list[memoryview], int]:
    """Return strips of compressed rows, and how many rows a strip has."""
    silence()
    file = io.BytesIO()
    Image.fromarray(rows).save(file, "TIFF", compression=name)
    file.seek(0)
    with TiffImageFile(file) as written:
        tags = written.tag_v2
    content = file.getbuffer()
    return [content[start : start + length] for start, length in zip(tags[273], tags[279], strict=True)], tags[278]
