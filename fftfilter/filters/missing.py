"""A call for an image with missing pixels: they are filled, filtered with the others, and come back as they were.

A device finds the range of a picture in all of its pixels, and here it is that of the valid ones: the pipeline returns
filtered values, and the host makes pixels of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ..arrays import check_finite, scaled
from ..errors import ParameterError
from ..missing.fill import fill
from ..missing.reference import filled as filled_by
from ..missing.reference import waves_of
from ..output.histogram import ByHistogram
from ..output.luma import filtered_part
from ..output.modes import Auto
from ..output.ramp import Gray, Quantized, on_valid, ramps
from ..output.rounding import WEAK, deviation
from .call import Found, call, refuse_by_channel

if TYPE_CHECKING:
    from ..arrays import Array
    from ..output.histogram import Ramps
    from .call import Observe
    from .description import PixelOptions
    from .pipelines import Prepared


def filtered(
    prepared: Prepared, planes: Array, holes: Array, gray: Gray, observe: Observe = None
) -> tuple[Array, Found]:
    """Filter a picture ``(channels, height, width)``, some of whose samples may be missing, as :func:`call` does."""
    if not holes.any():
        return call(prepared, planes, 0, cast("PixelOptions", gray._asdict()), observe)
    described, launcher = prepared.description, prepared.launcher
    output, scale, is_values = described.output, described.scale, described.mode.is_values
    if described.mode.is_absolute and not described.transfer.is_even:
        raise ParameterError("a magnitude of complex values takes no missing pixels: take output real, or fill them")
    if len(planes) > 1 and described.transfer.is_by_channel:
        refuse_by_channel(described, observe)
    whole, base, unit = _filled(prepared, planes, holes)
    own: Ramps = None
    if isinstance(scale, Auto):
        own = ByHistogram(output, scale, gray.dtype, gray.levels)
    elif not is_values:
        own = ramps(output, scale, [unit], gray=gray, samples=whole.size)
    far = float(deviation(whole).max()) * described.transfer.largest

    of_values = prepared.of_values()
    base = filtered_part(base, described.channels, lambda part: part * of_values.at_dc(whole.shape))
    of_unit, of_output = (unit, gray._replace(dtype=launcher.real)) if is_values else (1.0, gray)

    def pixels(by: Prepared, observe: Observe = None) -> tuple[Quantized, int]:
        values, found = call(by, whole, 0, {}, observe)
        if is_values or base.any():  # 0 makes a zero of a -0
            values += base
        if is_values:
            values = scaled(values, round(np.log2(unit)))  # a unit beyond single precision is no factor for it
        return on_valid(values, planes, holes, own, gray=of_output, deviation=far), found.weak

    made, weak = pixels(of_values, observe)
    is_undecided = made.undecided * holes.size > max(1.5, (holes.size - np.count_nonzero(holes)) / 750)
    # What went around the transforms may cancel what went through them.
    is_canceled = made.largest < WEAK * np.abs(base).max() * of_unit
    prepared.engine = of_values.engine
    if (weak or is_undecided or is_canceled) and launcher.real == np.float32 and launcher.device.fp64:
        # What fills the holes has to be as exact as the result.
        result, found = filtered(prepared.in_double(), planes, holes, gray)
        return result, found._replace(weak=1)
    return made.pixels, Found(np.array([(0.0, made.largest * unit / of_unit)]), [made.clipped], weak)


def _filled(prepared: Prepared, planes: Array, holes: Array) -> tuple[Array, Array, float]:
    """Fill a picture's holes with the values that the filter takes.

    Return the planes less a value of each, these values, and the unit that all are divided by.
    """
    # Each further array of the picture's size takes as long as a third of the filter.
    own, unit = planes.astype(np.result_type(planes, prepared.launcher.real)), 1.0
    if planes.dtype not in (np.uint8, np.uint16):
        # Floats of any size: sums of those near the end of single precision would leave it.
        np.copyto(own, 0, where=holes)
        if not np.isfinite(largest := max(own.max(), -own.min())):
            check_finite(own)
        exponent = min(int(np.frexp(largest)[1]), 1023)
        own, unit = scaled(own, -exponent), float(np.ldexp(1.0, exponent))
    waves = waves_of(prepared.description.transfer, holes)
    of_waves = None if waves is None else prepared.of_values(waves)
    whole, base = filled_by(
        own,
        holes,
        lambda picture, holes: fill(prepared.launcher, picture, holes),
        None if of_waves is None else lambda picture: call(of_waves, picture, 0, {})[0],
    )
    return whole, base, unit
