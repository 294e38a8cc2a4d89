"""A call for an image with missing pixels: they are filled, filtered with the others, and come back as they were.

A device finds the range of a picture in all of its pixels, and here it is that of the valid ones: the pipeline returns
filtered values, and the host makes pixels of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arrays import check_finite, pixel_type, type_of_output, white_of_input, white_of_output
from ..errors import ParameterError, is_masked
from ..missing.fill import fill
from ..missing.holes import mask_of, split
from ..missing.reference import filled, waves_of
from ..missing.valid import OfValid, levels_of_one, on_ramp
from ..output.histogram import ByHistogram
from ..output.luma import filtered_part
from ..output.modes import Auto
from ..output.ramp import ramps
from ..output.rounding import deviation
from .call import Found, call, refuse_by_channel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ..output.histogram import Ramps
    from .call import Observe
    from .description import PixelOptions
    from .pipelines import Prepared

    Array = NDArray[Any]
    Holes = NDArray[np.bool_]


class Grey(NamedTuple):
    """The grey levels of a picture and of its output."""

    white: float
    dtype: np.dtype[Any]
    levels: int


def call_with_holes(
    prepared: Prepared,
    image: ArrayLike,
    channel_axis: int | None,
    of_pixels: PixelOptions,
    observe: Observe,
    *,
    missing: ArrayLike | None,
) -> tuple[Array, Found]:
    """Filter an image, a stack or a picture as :func:`call` does, one picture after the other."""
    described = prepared.description
    planes, holes = split(image, missing, channel_axis)
    if planes.dtype.kind == "b":
        planes = planes * np.uint8(255)
    if described.mode.is_absolute and not described.transfer.is_even:
        raise ParameterError("a magnitude of complex values takes no missing pixels: take output real, or fill them")
    if channel_axis is not None and len(planes) > 1 and described.transfer.is_by_channel:
        refuse_by_channel(described, observe)
    pixel = pixel_type(planes.dtype)
    dtype, white = type_of_output(of_pixels.get("dtype"), pixel), white_of_input(of_pixels.get("white"), pixel)
    levels = white_of_output(of_pixels.get("levels"), dtype)
    pictures = [slice(None)] if channel_axis is not None else [slice(i, i + 1) for i in range(len(planes))]
    made = np.empty(planes.shape, prepared.launcher.real if described.mode.is_values else dtype)
    found = []
    for own in pictures:
        if holes[own].any():
            grey = Grey(white, made.dtype, levels)
            made[own], of_it = _picture(prepared, planes[own], holes[own], grey, observe)
        else:
            made[own], of_it = call(prepared, planes[own], 0, of_pixels, observe)
        found.append(of_it)
    extremes = np.concatenate([each.extremes for each in found])
    all_found = Found(extremes, [part for each in found for part in each.clipped], sum(each.weak for each in found))
    shape = np.shape(image)
    result = made.reshape(shape) if channel_axis is None else np.moveaxis(made, 0, channel_axis)
    return np.ma.MaskedArray(result, mask_of(image)) if is_masked(image) else result, all_found


def _picture(prepared: Prepared, planes: Array, holes: Holes, grey: Grey, observe: Observe) -> tuple[Array, Found]:
    """Filter a picture ``(channels, height, width)``, some of whose samples are missing."""
    described, (white, dtype, levels) = prepared.description, grey
    whole, base, unit = _filled(prepared, planes, holes)
    own: Ramps = None
    scale = described.scale
    if isinstance(scale, Auto):
        own = ByHistogram(described.output, scale, dtype, levels)
    elif not described.mode.is_values:
        own = ramps(described.output, scale, [unit], white=white, dtype=dtype, maxval=levels)
    factor = 1.0 if described.mode.is_values else levels_of_one(planes.dtype, white, dtype, levels)
    far = float(deviation(whole).max()) * described.transfer.largest

    def pixels(values: Array) -> OfValid:
        return on_ramp(values, planes, holes, own, dtype=dtype, levels=factor, far=far)

    of_values = prepared.of_values()
    base = filtered_part(base, described.channels, lambda part: part * of_values.at_dc(whole.shape))
    values, found = call(of_values, whole, 0, {}, observe)
    values += base
    if own is None:
        values, unit = values * unit, 1.0
    made, weak, launcher = pixels(values), found.weak, prepared.launcher
    if made.undecided > max(1.5, (~holes).sum() / 750) and launcher.real == np.float32 and launcher.device.fp64:
        made, weak = pixels(call(of_values.in_double(), whole, 0, {})[0] + base), 1
    prepared.engine = of_values.engine
    return made.pixels, Found(np.array([(0.0, made.largest * unit)]), [made.clipped], weak)


def _filled(prepared: Prepared, planes: Array, holes: Holes) -> tuple[Array, Array, float]:
    """Return a picture's planes, with the values in its holes that the filter takes, less a value of each plane.

    Behind them are these values, and the unit that all are divided by.
    """
    own, unit = np.where(holes, planes.dtype.type(0), planes), 1.0
    own = own.astype(np.result_type(planes, np.float32), copy=False)
    if planes.dtype not in (np.uint8, np.uint16):
        # Floats of any size: sums of those near the end of single precision would leave it.
        check_finite(own)
        exponent = min(int(np.frexp(np.abs(own).max())[1]), 1023)
        own, unit = np.ldexp(own, -exponent), float(np.ldexp(1.0, exponent))
    waves = waves_of(prepared.description.transfer, holes)
    of_waves = None if waves is None else prepared.of_values(waves)
    whole, base = filled(
        own,
        holes,
        lambda picture, holes: fill(prepared.launcher, picture, holes),
        None if of_waves is None else lambda picture: call(of_waves, picture, 0, {})[0],
    )
    return whole, base, unit
