"""``--verify``: an output, read back from its file, beside the float64 reference of what was read.

For commands and folders; the comparison itself is ``output/difference.py``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import images
from .errors import ParameterError, VerifyError
from .files.atomic import is_special
from .files.messages import shown
from .files.standard_streams import STANDARD_STREAM
from .output.difference import Difference

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from .images import Depth, Picture
    from .output.modes import Output
    from .output.scale import Range
    from .transfer import Transfer

    Array = NDArray[Any]


def refuse(target: str | Path, format: str | None = None) -> None:  # noqa: A002  as `images.write` has it
    """Raise ParameterError for an output that cannot be read back as it was written."""
    name = shown(target, "standard output")
    if str(target) == STANDARD_STREAM or is_special(Path(target)):
        raise ParameterError(f"{name}: --verify cannot read it back: write a file")
    if images.is_lossy(target, format=format):
        raise ParameterError(f"{name}: --verify cannot tell a fault from this format's losses: write .png or .tif")


def difference(
    given: Picture,
    transfer: Transfer,
    output: Output,
    scale: Range | None,
    *,
    target: str | os.PathLike[str],
    depth: Depth,
) -> Difference:
    """Return how an output differs from the reference.

    ``given`` is the picture that was read; ``output``, ``scale`` and ``depth`` are the output's. Raises what
    :func:`images.read` raises, VerifyError for a picture of another size.
    """
    planes, stretch, unit = _wanted(given, transfer, output, scale, depth)
    # A picture may have been turned upright where the tag that says so could not travel.
    found = images.without_orientation(images.read(target))
    wanted = images.without_orientation(replace(given, planes=planes, alpha=None)).planes
    if found.planes.shape[1:] != wanted.shape[1:] or found.maxval != depth.maxval:
        name = shown(target, "standard output")
        raise VerifyError(f"{name}: is not the picture that was written: another one has taken its place")
    # Some formats hold gray as equal colors.
    wanted = wanted if len(wanted) == len(found.planes) else wanted.repeat(3, axis=0)
    if unit == 1:
        return Difference.of(found.planes, wanted, depth.maxval, stretch=stretch)
    return Difference.of(found.planes / unit, wanted / unit, depth.maxval, stretch=stretch)


def check(found: Difference, target: str | os.PathLike[str]) -> None:
    """Raise VerifyError for an output that differs by more than the contract allows."""
    if not found.is_right:
        name = shown(target, "standard output")
        raise VerifyError(f"{name}: {found}; right is {found.right}: see 'fftfilter devices', and report this line")


def _wanted(
    given: Picture, transfer: Transfer, output: Output, scale: Range | None, depth: Depth
) -> tuple[Array, float, float]:
    """Return the reference's picture, how many times its own range is stretched, and what is its white for floats."""
    import numpy as np

    from .output.difference import OF_65535
    from .output.ground import deviation
    from .output.noise import NOISE
    from .output.quantize import pixels
    from .output.ramp import ramps
    from .transfer import reference

    planes, white = given.planes, given.maxval
    gain = (transfer.keeping_mean() if output == "keep" else transfer).gain(*planes.shape[1:])
    if output == "magnitude" and scale is None:
        return reference.filter_image(planes, gain, depth.dtype, depth.maxval), 1.0, 1.0
    values = reference.filtered(planes, gain).real
    far = float(deviation(planes).max()) * transfer.largest
    largest = float(np.abs(values).max())
    stretch, unit = 1.0, 1.0
    if scale is not None:
        black_to_white = scale.in_levels(white)
        stretch = max(1.0, largest / (black_to_white.high - black_to_white.low))
    if output in ("keep", "real") and depth.dtype.kind == "f":
        # Values that are not scaled are compared as parts of the largest; of rounding noise all is right.
        unit = max(largest, NOISE * far / (OF_65535 / 65535)) / (white if output == "keep" else 1)
    dtype = np.dtype(np.float64) if output == "real" else depth.dtype
    (ramp,) = ramps(output, scale, white=white, dtype=dtype, maxval=depth.maxval)
    return pixels(values, ramp, far, dtype)[0], stretch, unit or 1.0
