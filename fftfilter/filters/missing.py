"""A call for an image with missing pixels: they are filled, filtered with the others, and come back as they were.

A device finds the range of a picture in all of its pixels, and here it is that of the valid ones: the pipeline returns
filtered values, and the host makes pixels of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..arrays import check_finite
from ..errors import ParameterError
from ..missing.fill import fill
from ..missing.reference import filled as filled_by
from ..missing.reference import waves_of
from ..output.histogram import ByHistogram
from ..output.luma import filtered_part
from ..output.modes import Auto
from ..output.ramp import on_valid, ramps
from ..output.rounding import deviation
from .call import Found, call, refuse_by_channel

if TYPE_CHECKING:
    from ..arrays import Array, Grey
    from ..output.histogram import Ramps
    from .call import Observe
    from .description import PixelOptions
    from .pipelines import Prepared


def filtered(
    prepared: Prepared, planes: Array, holes: Array, grey: Grey, observe: Observe = None
) -> tuple[Array, Found]:
    """Filter a picture ``(channels, height, width)``, some of whose samples may be missing, as :func:`call` does."""
    if not holes.any():
        return call(prepared, planes, 0, cast("PixelOptions", grey._asdict()), observe)
    described, launcher = prepared.description, prepared.launcher
    output, scale, is_values = described.output, described.scale, described.mode.is_values
    if described.mode.is_absolute and not described.transfer.is_even:
        raise ParameterError("a magnitude of complex values takes no missing pixels: take output real, or fill them")
    if len(planes) > 1 and described.transfer.is_by_channel:
        refuse_by_channel(described, observe)
    whole, base, unit = _filled(prepared, planes, holes)
    of_output: dict[str, Any] = {"dtype": launcher.real if is_values else grey.dtype, "maxval": grey.levels}
    of_output["white"] = grey.white
    own: Ramps = None
    if isinstance(scale, Auto):
        own = ByHistogram(output, scale, grey.dtype, grey.levels)
    elif not is_values:
        own = ramps(output, scale, [unit], **of_output)
    far = float(deviation(whole).max()) * described.transfer.largest

    def pixels(values: Array) -> tuple[Array, float, float, float]:
        return on_valid(values, planes, holes, own, deviation=far, **of_output)

    of_values = prepared.of_values()
    base = filtered_part(base, described.channels, lambda part: part * of_values.at_dc(whole.shape))
    values, found = call(of_values, whole, 0, {}, observe)
    if is_values or base.any():  # 0 makes a zero of a -0
        values += base
    if is_values:
        values, unit = values * unit, 1.0
    (made, largest, clipped, undecided), weak = pixels(values), found.weak
    valid = holes.size - np.count_nonzero(holes)
    if undecided > max(1.5, valid / 750) and launcher.real == np.float32 and launcher.device.fp64:
        (made, largest, clipped, _), weak = pixels(call(of_values.in_double(), whole, 0, {})[0] + base), 1
    prepared.engine = of_values.engine
    return made, Found(np.array([(0.0, largest * unit)]), [clipped], weak)


def _filled(prepared: Prepared, planes: Array, holes: Array) -> tuple[Array, Array, float]:
    """Return a picture's planes, with the values in its holes that the filter takes, less a value of each plane.

    Behind them are these values, and the unit that all are divided by.
    """
    # Each further array of the picture's size takes as long as a third of the filter.
    own, unit = planes.astype(np.result_type(planes, np.float32)), 1.0
    if planes.dtype not in (np.uint8, np.uint16):
        # Floats of any size: sums of those near the end of single precision would leave it.
        np.copyto(own, 0, where=holes)
        check_finite(own)
        exponent = min(int(np.frexp(np.abs(own).max())[1]), 1023)
        own, unit = np.ldexp(own, -exponent), float(np.ldexp(1.0, exponent))
    waves = waves_of(prepared.description.transfer, holes)
    of_waves = None if waves is None else prepared.of_values(waves)
    whole, base = filled_by(
        own,
        holes,
        lambda picture, holes: fill(prepared.launcher, picture, holes),
        None if of_waves is None else lambda picture: call(of_waves, picture, 0, {})[0],
    )
    return whole, base, unit
