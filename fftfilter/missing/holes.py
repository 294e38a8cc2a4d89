"""Which pixels of an array are missing: NaN, masked ones, and those that the caller names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import planes_of
from ..errors import ParameterError, is_masked

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[Any]
    Holes = NDArray[np.bool_]


def mask_of(image: Any) -> Holes:
    """Return the mask of a NumPy array with masked values."""
    mask: Holes = np.ma.getmaskarray(image)
    return mask


def split(image: ArrayLike, missing: ArrayLike | None, channel_axis: int | None) -> tuple[Array, Holes]:
    """Return an image as planes ``(count, height, width)``, and a bool for each sample that is missing.

    Raises ParameterError for what is not an image, or for a ``missing`` that does not fit it.
    """
    planes, shape = planes_of(np.asarray(image), channel_axis)
    holes: Holes = np.isnan(planes) if planes.dtype.kind == "f" else np.zeros(planes.shape, np.bool_)
    if is_masked(image):
        holes |= planes_of(mask_of(image), channel_axis)[0]
    if missing is None:
        return planes, holes
    given = np.asarray(missing)
    if given.dtype.kind != "b" or given.shape not in (shape, planes.shape[1:]):
        raise ParameterError(
            f"missing is an array of shape {given.shape} and type {given.dtype}: give bools, True where a pixel is "
            f"missing, of shape {' or '.join(map(str, dict.fromkeys([shape, planes.shape[1:]])))}"
        )
    return planes, holes | (given if given.shape != shape else planes_of(given, channel_axis)[0])
