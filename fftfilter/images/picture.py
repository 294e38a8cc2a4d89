"""What an image is between its file and the filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .metadata import Metadata

Samples = NDArray[Any]
Parts = Sequence[bytes | memoryview]

U8, U16, F32 = np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.float32)
WHITE = {U8: 255, U16: 65535, F32: 1}


@dataclass(eq=False)
class Picture:
    """One image in memory, split into what is filtered and what passes through."""

    planes: Samples
    """(channels, height, width), uint8, uint16 or float32; channels 1 (gray) or 3 (RGB). May be read-only."""
    alpha: Samples | None
    """(height, width), of the planes' type, or None."""
    maxval: int
    """The sample that stands for white: 255, 65535, or what a PGM's header says; 1 for float32."""
    format: str
    """Pillow's name for the format it came from ("PPM" for all of netpbm): what standard output gets."""
    metadata: Metadata | None = None
    """What its file says about it; None leaves that out of the file that is written."""


class Depth(NamedTuple):
    """How a file stores a sample: its type and the value that stands for white."""

    dtype: np.dtype[Any]
    maxval: int


class Size(NamedTuple):
    """What a header says of an image; its alpha not counted."""

    width: int
    height: int
    channels: int
    bytes_per_sample: int
