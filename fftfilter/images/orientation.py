"""EXIF's orientation: how a picture is to be turned and mirrored to stand upright.

All pictures are turned when they are read, so that angles and frequencies are those of what is seen.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .metadata import exif_of_upright

if TYPE_CHECKING:
    from .picture import Picture, Samples

# Of each value: whether rows and columns change places, then whether up and down, left and right do.
_TURNS = {
    2: (False, False, True),
    3: (False, True, True),
    4: (False, True, False),
    5: (True, False, False),
    6: (True, False, True),
    7: (True, True, True),
    8: (True, True, False),
}


def upright(picture: Picture, orientation: int) -> Picture:
    """Return a picture turned as its orientation says, 1 to 8; other values mean nothing."""
    if orientation not in _TURNS:
        return picture
    transposed, *_ = turn = _TURNS[orientation]
    metadata = picture.metadata
    if metadata and metadata.dpi and transposed:
        metadata = replace(metadata, dpi=metadata.dpi[::-1])
    if metadata and metadata.pixel_size and transposed:
        size = metadata.pixel_size
        metadata = replace(metadata, pixel_size=size._replace(across=size.down, down=size.across))
    alpha = None if picture.alpha is None else _turned(picture.alpha, *turn)
    return replace(picture, planes=_turned(picture.planes, *turn), alpha=alpha, metadata=metadata)


def without_orientation(picture: Picture) -> Picture:
    """Return a picture turned as its EXIF says, which then says that it stands upright."""
    metadata = picture.metadata
    if not metadata or not metadata.exif:
        return picture
    exif, orientation = exif_of_upright(metadata.exif)
    return upright(replace(picture, metadata=replace(metadata, exif=exif)), orientation)


def _turned(samples: Samples, transposed: bool, upside_down: bool, mirrored: bool) -> Samples:
    if transposed:
        samples = samples.swapaxes(-1, -2)
    return np.ascontiguousarray(samples[..., :: -1 if upside_down else 1, :: -1 if mirrored else 1])
