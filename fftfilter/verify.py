"""``--verify``: an output, read back from its file, beside the float64 reference of what was read.

For commands and folders; the comparison itself is ``output/difference.py``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import images
from .errors import ParameterError, VerifyError
from .files.atomic import is_special
from .files.messages import shown
from .files.standard_streams import STANDARD_STREAM
from .images.formats import AS_USUAL
from .output.difference import Difference

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from .images import Coding, Depth, Picture
    from .output.modes import Output
    from .output.scale import Scale
    from .transfer import Transfer
    from .transfer.edges import Edges

    Array = NDArray[Any]
    Reference = tuple[Array, Array, float, float | None]

# Bins of ImageJ's histogram: no value of the device is farther from the reference's.
NUDGES = (0.0, 1e-3, -1e-3)


def refuse(
    target: str | Path,
    format: str | None = None,  # noqa: A002  as `images.write` has it
    coding: Coding = AS_USUAL,
) -> None:
    """Raise ParameterError for an output that cannot be read back as it was written."""
    name = shown(target, "standard output")
    if str(target) == STANDARD_STREAM or is_special(Path(target)):
        raise ParameterError(f"{name}: --verify cannot read it back: write a file")
    if images.is_lossy(target, format=format, coding=coding):
        raise ParameterError(f"{name}: --verify cannot tell a fault from this format's losses: write .png or .tif")


def difference(
    given: Picture,
    transfer: Transfer,
    output: Output,
    scale: Scale | None,
    *,
    target: str | os.PathLike[str],
    depth: Depth,
    options: Mapping[str, Any],
) -> Difference:
    """Return how an output differs from the reference.

    ``given`` is the picture that was read; ``output``, ``scale`` and ``depth`` are the output's, ``options`` those of
    the filter. Raises what :func:`images.read` raises, VerifyError for a picture of another size.
    """
    name = shown(target, "standard output")
    return compare(given, images.read(target), transfer, output, scale, depth=depth, options=options, name=name)


def compare(
    given: Picture,
    found: Picture,
    transfer: Transfer,
    output: Output,
    scale: Scale | None,
    *,
    depth: Depth,
    options: Mapping[str, Any],
    name: str,
) -> Difference:
    """Return how the picture ``found`` in an output differs from the reference; as :func:`difference`."""
    made: list[Difference] = []
    if "autoscale" not in options:
        edges = options.get("edges", "wrap")
        reference = reference_of(given.planes, given.maxval, transfer, output, scale=scale, depth=depth, edges=edges)
        return _compare(found, reference, depth, name)
    for nudge in NUDGES if options["autoscale"] else (0,):
        reference = _reference_of_imagej(given, transfer, options, depth, nudge)
        made.append(_compare(found, reference, depth, name))
        if made[-1].is_right:
            return made[-1]
    return made[0]


def _compare(found: Picture, reference: Reference, depth: Depth, name: str) -> Difference:
    wanted, values, stretch, unit = reference
    if found.planes.shape[1:] != wanted.shape[1:] or found.maxval != depth.maxval:
        raise replaced(name)
    if len(wanted) != len(found.planes):
        # Some formats hold gray as equal colors.
        wanted, values = wanted.repeat(3, axis=0), values.repeat(3, axis=0)
    return Difference.of(found.planes, wanted, depth.maxval, stretch=stretch, unit=unit, values=values)


def _reference_of_imagej(
    given: Picture, transfer: Transfer, options: Mapping[str, Any], depth: Depth, nudge: float
) -> Reference:
    """Return what :func:`reference_of` does of ImageJ's filter."""
    import numpy as np

    from .imagej_filter import ImageJReference
    from .output.offset import deviation

    own = {name: options[name] for name in ("autoscale", "saturate")}
    filter_, white = ImageJReference(transfer, **own, nudge=nudge), float(given.maxval)
    wanted = filter_(given.planes, channel_axis=0, dtype=depth.dtype, levels=depth.maxval, white=white)
    largest = float(np.abs(filter_.values).max())
    largest_deviation = float(deviation(given.planes).max())
    is_gray, unit = len(given.planes) == 1, 1.0
    if is_gray and depth.dtype.kind == "f":
        unit = max(largest, largest_deviation) / white or 1.0
    shown_range = filter_.width if is_gray and depth.dtype.kind != "f" else white
    stretch = max(1.0, largest / shown_range, largest_deviation / shown_range)
    return wanted, np.broadcast_to(filter_.values, wanted.shape), stretch, unit


def replaced(name: str) -> VerifyError:
    """Return the error of an output that is not what was written."""
    return VerifyError(f"{name}: is not the picture that was written: another one has taken its place")


def check(found: Difference, target: str | os.PathLike[str]) -> None:
    """Raise VerifyError for an output that differs by more than the contract allows."""
    if not found.is_right:
        name = shown(target, "standard output")
        raise VerifyError(f"{name}: {found}; right is {found.right}: see 'fftfilter devices', and report this line")


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
    """Return the reference's picture, its filtered values, how often a range is stretched, and a unit of raw values.

    ``white`` is that of ``planes``, the channels of one picture.
    """
    import numpy as np

    from .output.difference import OF_65535
    from .output.histogram import range_of
    from .output.modes import MODES
    from .output.noise import NOISE
    from .output.offset import deviation
    from .output.quantize import pixels
    from .output.ramp import ramps
    from .output.scale import Auto
    from .transfer import reference
    from .transfer.edges import grid_with

    mode = MODES[output]
    kept = transfer.keeping_mean() if mode.keeps_mean else transfer
    gains = [grid_with(edges, each, *planes.shape[1:]).gain() for each in kept.of_channels(len(planes))]
    gain = np.stack(gains) if len(gains) > 1 else gains[0]
    largest_deviation = float(deviation(planes).max()) * transfer.largest
    if mode.is_default and scale is None:
        values = np.abs(reference.filtered(planes, gain, edges))
        return reference.quantize(values, largest_deviation, depth.dtype, depth.maxval), values, 1.0, None
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
    return pixels(values.copy(), ramp, largest_deviation, dtype)[0], values, stretch, unit
