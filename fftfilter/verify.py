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
    given: Picture, transfer: Transfer, scale: Range | None, *, target: str | os.PathLike[str], depth: Depth
) -> Difference:
    """Return how an output differs from the reference.

    ``given`` is the picture that was read; ``scale`` and ``depth`` are the output's. Raises what :func:`images.read`
    raises, VerifyError for a picture of another size.
    """
    planes, stretch = _wanted(given.planes, given.maxval, transfer, scale, depth)
    # A picture may have been turned upright where the tag that says so could not travel.
    found = images.without_orientation(images.read(target))
    wanted = images.without_orientation(replace(given, planes=planes, alpha=None)).planes
    if found.planes.shape[1:] != wanted.shape[1:] or found.maxval != depth.maxval:
        name = shown(target, "standard output")
        raise VerifyError(f"{name}: is not the picture that was written: another one has taken its place")
    # Some formats hold gray as equal colors.
    wanted = wanted if len(wanted) == len(found.planes) else wanted.repeat(3, axis=0)
    return Difference.of(found.planes, wanted, depth.maxval, stretch=stretch)


def check(found: Difference, target: str | os.PathLike[str]) -> None:
    """Raise VerifyError for an output that differs by more than the contract allows."""
    if not found.is_right:
        name = shown(target, "standard output")
        raise VerifyError(f"{name}: {found}; right is {found.right}: see 'fftfilter devices', and report this line")


def _wanted(planes: Array, white: int, transfer: Transfer, scale: Range | None, depth: Depth) -> tuple[Array, float]:
    """Return the reference's picture, and how many times its own range is stretched."""
    import numpy as np

    from .output.quantize import magnitude, quantize
    from .transfer import reference

    gain = transfer.gain(*planes.shape[1:])
    if scale is None:
        return reference.filter_image(planes, gain, depth.dtype, depth.maxval), 1.0
    values = magnitude(np.abs(reference.filtered(planes, gain)), planes)
    unit = white if scale.of_white else 1.0
    stretch = float(values.max()) / ((scale.high - scale.low) * unit)
    return quantize(values, scale, white, depth), max(1.0, stretch)
