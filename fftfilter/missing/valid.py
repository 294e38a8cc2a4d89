"""From filtered values to pixels where some are missing: ranges come from the valid ones, the others come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..output.ramp import pixels

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
    values: Array, given: Array, holes: Holes, ramps: Ramps, *, dtype: np.dtype[Any], levels: float, far: float
) -> OfValid:
    """Return one picture's filtered ``values`` as pixels, with ``given`` in its holes; overwrites ``values``.

    All are ``(channels, height, width)``. ``ramps`` are as a pipeline takes them, for one picture (``output/ramp.py``);
    None are the values as they are. ``levels`` is how many grey levels of the output one of the input is, for samples
    in holes, and ``far`` is the input's largest deviation.
    """
    as_given = given if levels == 1 else given * levels
    as_given = as_given if dtype.kind == "f" else _whole(as_given, dtype)
    if holes.all():
        return OfValid(as_given.astype(dtype), 0.0, 0.0, 0.0)
    # In the holes a valid value stands for the others: it changes no range.
    one = values.reshape(-1)[np.argmin(holes)]
    np.copyto(values, one, where=holes)
    made, largest, clipped, undecided = values, float(max(values.max(), -values.min())), 0.0, 0.0
    if ramps is not None:
        if not isinstance(ramps, np.ndarray):
            ramps = ramps.of_pictures(values[~holes].reshape(1, 1, 1, -1))
        made, clipped, undecided = pixels(values, ramps[0], far, dtype)
        if clipped:
            _, is_one, _ = pixels(one.reshape(1, 1, 1).copy(), ramps[0], far, dtype)
            clipped = max(0.0, clipped - is_one * float(holes.mean())) / (1 - float(holes.mean()))
    with np.errstate(over="ignore"):  # a value beyond the output's type becomes infinite
        np.copyto(made, as_given, where=holes, casting="unsafe")
    return OfValid(made, largest, clipped, undecided * holes.size)


def levels_of_one(own: np.dtype[Any], white: float, dtype: np.dtype[Any], levels: float) -> float:
    """Return how many grey levels of an output one of the input is; floats stay as they are."""
    return 1.0 if own.kind == dtype.kind == "f" else levels / white


def _whole(values: Array, dtype: np.dtype[Any]) -> Array:
    """Return values as the nearest whole numbers of a type; NaN becomes 0."""
    if values.dtype == dtype:
        return values
    most = np.iinfo(dtype).max
    return np.nan_to_num(np.rint(values), nan=0, posinf=most, neginf=0).clip(0, most)
