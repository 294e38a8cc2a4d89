"""``ratio``: a filter of logarithms. What it removes divides the picture, as uneven light, gains and shadows do.

    values -> ln(value / largest) -> filter -> largest^H(0) exp -> the image's own levels

Values of 0 or less have no logarithm: they are missing, and come back as they were. ``keep`` keeps the mean of the
logarithms; what is removed is a factor around 1, as values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import PRECISIONS, Array, Holes, as_numpy, gray_of, is_wide, split
from ..errors import ParameterError, ReadError, is_masked
from ..output.ramp import Gray, Quantized, on_valid, ramps
from .call import Found
from .strips import How

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from ..output.modes import Mode
    from ..transfer import Transfer
    from .call import Observe
    from .description import PixelOptions
    from .filter import Filter

# The most of the valid samples that may be 0 or less: of more there is no picture left to filter.
DARK = 0.5


def has_logarithm(planes: Array, holes: Holes | None, name: str = "") -> Holes:
    """Return which samples are missing, those of 0 or less among them.

    Raises ParameterError if most are, ReadError for those of a file, which has the ``name``.
    """
    missing = np.zeros(planes.shape, np.bool_) if holes is None else holes
    dark = ~missing & ~(planes > 0)
    dark_count, missing_count = (int(np.count_nonzero(each)) for each in (dark, missing))
    refuse_dark(dark_count, dark.size - missing_count, name)
    return missing | dark


def refuse_dark(dark: int, valid: int, name: str = "") -> None:
    """Raise what :func:`has_logarithm` raises, for so many of the valid samples."""
    if (part := dark / max(1, valid)) > DARK:
        why = (
            f"{part:.0%} of the values are 0 or less, which have no logarithm: leave ratio out, or first subtract the "
            "offset that makes them so"
        )
        raise ReadError(f"{name}: {why}") if name else ParameterError(why)


def logarithms(planes: Array, holes: Holes, dtype: DTypeLike, unit: float | None = None) -> tuple[Array, float]:
    """Return ln(value / unit), 0 in the holes, and the unit: by default the largest valid value, 1 if none is valid."""
    largest = unit or float(planes.max(where=~holes, initial=0)) or 1.0
    made = np.divide(planes, largest, dtype=np.result_type(planes.dtype, dtype), casting="unsafe")
    np.copyto(made, 1, where=holes)
    made = np.maximum(made, np.finfo(made.dtype).tiny, out=made)
    return np.log(made, out=made).astype(dtype, copy=False), largest


def values_of(logs: Array, largest: float, at_dc: float) -> Array:
    """Return the values of filtered logarithms, whose filter has the gain ``at_dc`` of constants; overwrites ``logs``.

    What exceeds the type is its largest number.
    """
    limits = np.finfo(logs.dtype)
    logs += at_dc * np.log(largest)
    np.clip(logs, np.log(limits.tiny), np.nextafter(np.log(limits.max), 0), out=logs)
    return np.exp(logs, out=logs)


def gain_at_dc(transfer: Transfer, height: int, width: int) -> float:
    """Return what a transfer function makes of a constant, whose gains may still follow from the picture."""
    known = replace(transfer, parts=tuple(part for part in transfer.parts if not part.is_fitted))
    return float(known.gain(height, width, 1, 1)[0, 0])


def filtered(
    filter_: Filter,
    image: Array,
    channel_axis: int | None,
    of_pixels: PixelOptions,
    observe: Observe = None,
) -> tuple[Array, Found]:
    """Return an image filtered by its logarithms, and facts; raises ParameterError for one that has none."""
    missing, own, is_volume = of_pixels.get("missing"), filter_.description, filter_.description.volume is not None
    if is_volume:
        planes = np.asarray(image)
        holes = np.isnan(planes) | np.ma.getmaskarray(image) | (False if missing is None else as_numpy(missing))
    else:
        planes, holes = split(image, missing, channel_axis)
    gray = gray_of(of_pixels, planes.dtype)
    holes = has_logarithm(planes, holes)
    is_double = is_wide(planes.dtype) or own.options.get("precision") == "double"
    number = np.dtype(np.float64 if is_double else np.float32)
    each = [slice(None)] if is_volume or channel_axis is not None else [slice(i, i + 1) for i in range(len(planes))]
    logs, largest = np.empty(planes.shape, number), []
    for i in each:
        logs[i], most = logarithms(planes[i], holes[i], number)
        largest.append(most)
    axis = None if is_volume or channel_axis is None else 0
    of_logs: PixelOptions = {"dtype": number, "levels": 1, "white": 1.0, "missing": holes if holes.any() else None}
    result = filter_.filtered(logs, axis, of_logs, observe)
    size = (64, 64) if is_volume else planes.shape[-2:]
    at_dc = gain_at_dc(own.on_grid, *size)
    dtype = number if own.mode.is_values else gray.dtype
    made, found = np.empty(planes.shape, dtype), list[Found]()
    for i, most in zip(each, largest, strict=True):
        values = values_of(result[i], most, at_dc)
        of_planes, of_it = _pixels(filter_, values, planes[i], holes[i], gray)
        made[i] = of_planes.reshape(values.shape)
        found.append(of_it)
    if not is_volume:
        made = made.reshape(np.shape(image)) if channel_axis is None else np.moveaxis(made, 0, channel_axis)
    weak = filter_.weak()
    return (
        np.ma.MaskedArray(made, np.ma.getmaskarray(image)) if is_masked(image) else made,
        Found.of_all(found)._replace(weak=weak),
    )


def pixels(values: Array, planes: Array, holes: Holes, gray: Gray, mode: Mode) -> Quantized:
    """Return values of one picture as pixels, with its own in the holes; overwrites ``values``."""
    own = None if mode.is_values else ramps("keep", gray=gray, samples=values.size)
    of_output = gray._replace(dtype=values.dtype) if mode.is_values else gray
    return on_valid(values, planes, holes, own, gray=of_output, deviation=0.0)


class OfStrips:
    """Logarithms of the strips of a picture or a volume, and the pixels that come of them.

    ``unit`` is a value of its size, so that logarithms are near 0, where they are most exact; ``at_dc`` is the filter's
    gain of constants.
    """

    def __init__(self, unit: float, at_dc: float, gray: Gray, mode: Mode, precision: str) -> None:
        self._unit, self._at_dc, self._gray, self._mode = unit, at_dc, gray, mode
        self._number = PRECISIONS[precision][0]

    @staticmethod
    def how(given: np.dtype[Any], precision: str) -> How:
        """Return how strips filter logarithms: as values, in double precision if the type of the samples is wide."""
        precision = "double" if is_wide(given) else precision
        return How("real", None, Gray(1.0, PRECISIONS[precision][0], 1), precision)

    def of(self, planes: Array) -> Array:
        """Return the logarithms of planes, which are masked where samples are missing, masked where there is none."""
        holes = np.ma.getmaskarray(planes) | ~(np.asarray(planes) > 0)
        logs, _ = logarithms(np.asarray(planes), holes, self._number, self._unit)
        return np.ma.MaskedArray(logs, holes) if holes.any() else logs

    def pixels(self, filtered: Array, logs: Array, planes: Array) -> Quantized:
        """Return filtered logarithms as pixels, those of planes where there were none; overwrites ``filtered``."""
        values = values_of(filtered, self._unit, self._at_dc)
        return pixels(values, np.asarray(planes), np.ma.getmaskarray(logs), self._gray, self._mode)


def _pixels(filter_: Filter, values: Array, planes: Array, holes: Holes, gray: Gray) -> tuple[Any, Found]:
    """Return values as pixels of a picture, blended into it if a region alone is filtered, and facts about them."""
    mode, region = filter_.description.mode, filter_.description.region
    values, planes, holes = (each.reshape(-1, *np.atleast_2d(each).shape[-2:]) for each in (values, planes, holes))
    clipped = region.clipped(values, holes, gray) if region and not mode.is_values else None
    made = pixels(values, planes, holes, gray, mode)
    result = region.blended(planes, made.pixels, holes, None if mode.is_values else gray) if region else made.pixels
    return result, Found(np.array([(0.0, made.largest)]), [made.clipped if clipped is None else clipped])
