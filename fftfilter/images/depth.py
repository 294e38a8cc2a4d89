"""How a file will store its samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .formats import FORMATS, suffix_of
from .picture import F32, U8, U16, WHITE, Depth, Picture

if TYPE_CHECKING:
    import os


def plan_output(
    picture: Picture,
    target: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
) -> Depth:
    """Return how the target will store samples: as the picture does, or as near to it as its format can."""
    suffix = suffix_of(target, format, picture)
    kind = FORMATS[suffix]
    plain_gray = len(picture.planes) == 1 and picture.alpha is None
    deepest = kind.gray if plain_gray else kind.color or kind.gray
    if suffix == ".pfm":
        return Depth(F32, 1)
    dtype = picture.planes.dtype
    if dtype == F32 or deepest == U8:
        dtype = np.dtype(deepest)
    if kind.name == "PPM" and picture.planes.dtype != F32:
        return Depth(U8 if picture.maxval < 256 else U16, picture.maxval)
    return Depth(dtype, WHITE[dtype])
