"""How an output stores its samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .formats import FORMATS, suffix_of
from .picture import F32, MAXVAL_OF, U8, U16, Depth, Picture

if TYPE_CHECKING:
    import os

    import numpy as np

_DTYPE: dict[int, np.dtype[Any]] = {8: U8, 16: U16, 32: F32}


def output_depth(
    picture: Picture,
    target: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002  as `write` has it
    is_real: bool = False,
) -> Depth:
    """Return how the target stores samples: as the picture does, or as near to it as its format can.

    Filtered values as they are, which are ``is_real``, are floats.
    """
    if is_real:
        return Depth(F32, MAXVAL_OF[F32])
    return depth_as(suffix_of(target, format, picture), picture)


def depth_as(suffix: str, picture: Picture) -> Depth:
    """Return how a file with this extension, a key of FORMATS, stores a picture's samples."""
    kind = FORMATS[suffix]
    is_plain_gray = len(picture.planes) == 1 and picture.alpha is None
    deepest = _DTYPE[kind.gray if is_plain_gray else kind.color or kind.gray]
    given = picture.planes.dtype
    if suffix == ".pfm":
        return Depth(F32, 1)
    if kind.name == "PPM" and given != F32:
        return Depth(U8 if picture.maxval < 256 else U16, picture.maxval)
    dtype = deepest if given == F32 or deepest == U8 else given
    return Depth(dtype, MAXVAL_OF[dtype])
