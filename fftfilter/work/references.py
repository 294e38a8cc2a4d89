"""What a picture has to become, in float64 by NumPy: ``--verify``, the tests and the soak compare with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..output.difference import OF_65535
from ..output.histogram import range_of
from ..output.modes import MODES
from ..output.offset import deviation
from ..output.quantize import pixels
from ..output.ramp import ramps
from ..output.rounding import NOISE
from ..output.scale import Auto
from ..transfer import reference
from ..transfer.edges import grid_with

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ..images import Depth
    from ..output.modes import Output
    from ..output.scale import Scale
    from ..transfer import Transfer
    from ..transfer.edges import Edges

    Array = NDArray[Any]

# Bins of ImageJ's histogram: no value of the device is farther from the reference's.
NUDGES = (0.0, 1e-3, -1e-3)


class Reference(NamedTuple):
    """What a picture has to become."""

    wanted: NDArray[Any]
    """The output's pixels ``(channels, height, width)``."""
    values: NDArray[Any]
    """The filtered values."""
    stretch: float
    """How much farther apart than usual the values that become black and white are."""
    unit: float | None
    """Of raw values: what the contract's parts are parts of."""


def reference_of(
    planes: Array,
    white: float,
    transfer: Transfer,
    output: Output,
    *,
    scale: Scale | None,
    depth: Depth,
    edges: Edges = "wrap",
) -> Reference:
    """Return what :class:`Filter` has to make of the channels of one picture, whose white is ``white``."""
    mode = MODES[output]
    kept = transfer.keeping_mean() if mode.keeps_mean else transfer
    gains = [grid_with(edges, each, *planes.shape[1:]).gain() for each in kept.of_channels(len(planes))]
    gain = np.stack(gains) if len(gains) > 1 else gains[0]
    largest_deviation = float(deviation(planes).max()) * transfer.largest
    if mode.is_default and scale is None:
        values = np.abs(reference.filtered(planes, gain, edges))
        wanted = reference.quantize(values, largest_deviation, depth.dtype, depth.maxval)
        return Reference(wanted, values, 1.0, None)
    values = reference.filtered(planes, gain, edges).real
    largest = float(np.abs(values).max())
    # Of a magnitude alone 0 is black; a signed constant below 0 is as far from its middle as one above.
    stretch, unit = 1.0, 1.0
    if isinstance(scale, Auto):
        scale = range_of(values, output, scale)
    if scale is not None:
        black_to_white = scale.in_levels(white)
        stretch = max(1.0, largest / (black_to_white.high - black_to_white.low))
    if mode.keeps_levels:
        stretch = max(1.0, largest / white, largest_deviation / white)  # of floats, whose white is 1
    if not mode.is_scaled and depth.dtype.kind == "f":
        # Values that are not scaled are compared as parts of the largest; of rounding noise all is right.
        unit = max(largest, NOISE * largest_deviation / (OF_65535 / 65535))
        unit = unit / (white if mode.keeps_levels else 1) or 1.0
    dtype = np.dtype(np.float64) if mode.is_values else depth.dtype
    (ramp,) = ramps(output, scale, white=white, dtype=dtype, maxval=depth.maxval)
    return Reference(pixels(values.copy(), ramp, largest_deviation, dtype)[0], values, stretch, unit)


def of_imagej(
    planes: Array, white: float, transfer: Transfer, *, depth: Depth, autoscale: bool, saturate: bool
) -> Iterator[Reference]:
    """Yield what :class:`ImageJFilter` has to make of a picture, as :func:`reference_of` does.

    They are three where autoscaling counts values: one on the edge of a bin may lie on either side of it.
    """
    from ..imagej_filter import ImageJReference

    for nudge in NUDGES if autoscale else (0.0,):
        filter_ = ImageJReference(transfer, autoscale=autoscale, saturate=saturate, nudge=nudge)
        wanted = filter_(planes, channel_axis=0, dtype=depth.dtype, levels=depth.maxval, white=float(white))
        largest = float(np.abs(filter_.values).max())
        largest_deviation = float(deviation(planes).max())
        is_gray, unit = len(planes) == 1, 1.0
        if is_gray and depth.dtype.kind == "f":
            unit = max(largest, largest_deviation) / white or 1.0
        shown_range = filter_.width if is_gray and depth.dtype.kind != "f" else white
        stretch = max(1.0, largest / shown_range, largest_deviation / shown_range)
        yield Reference(wanted, np.broadcast_to(filter_.values, wanted.shape), stretch, unit)
