"""From filtered values to pixels where some are missing: ranges come from the valid ones, the others come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..output.ramp import pixels
from ..output.rounding import deviation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..output.histogram import Ramps

    Array = NDArray[Any]
    Holes = NDArray[np.bool_]


class OfValid(NamedTuple):
    """The pixels of a picture, and what its valid samples say."""

    pixels: Array
    """(channels, height, width)."""
    largest: float
    """The largest magnitude."""
    clipped: float
    """The part of the samples that became black or white."""
    undecided: float
    """The number of samples next to the edge between two levels."""


def on_ramp(
    values: Array, given: Array, holes: Holes, ramps: Ramps, *, dtype: np.dtype[Any], levels: float, most: float
) -> OfValid:
    """Return one picture's filtered ``values`` as pixels, with ``given`` in its holes.

    All are ``(channels, height, width)``.

    ``ramps`` are as a pipeline takes them, for one picture (``output/ramp.py``); None are the values as they are.
    ``levels`` is how many grey levels of the output one of the input is, for samples in holes, and ``most`` is the
    largest gain.
    """
    made = np.empty(values.shape, dtype)
    of_type = given[holes] if levels == 1 else given[holes] * levels
    made[holes] = of_type if dtype.kind == "f" else _whole(of_type, dtype)
    valid = values[~holes].reshape(1, 1, -1)
    if not valid.size:
        return OfValid(made, 0.0, 0.0, 0.0)
    largest = float(np.abs(valid).max())
    if ramps is None:
        made[~holes] = valid[0, 0]
        return OfValid(made, largest, 0.0, 0.0)
    (ramp,) = ramps if isinstance(ramps, np.ndarray) else ramps.of_pictures(valid[None])
    far = most * float(deviation(given[~holes].reshape(1, 1, -1).astype(np.float64)).max())
    found, clipped, undecided = pixels(valid, ramp, far, dtype)
    made[~holes] = found[0, 0]
    return OfValid(made, largest, clipped, undecided * valid.size)


def levels_of_one(own: np.dtype[Any], white: float, dtype: np.dtype[Any], levels: float) -> float:
    """Return how many grey levels of an output one of the input is; floats stay as they are."""
    return 1.0 if own.kind == dtype.kind == "f" else levels / white


def _whole(values: Array, dtype: np.dtype[Any]) -> Array:
    """Return values as the nearest whole numbers of a type; NaN becomes 0."""
    if values.dtype == dtype:
        return values
    most = np.iinfo(dtype).max
    return np.nan_to_num(np.rint(values), nan=0, posinf=most, neginf=0).clip(0, most)
