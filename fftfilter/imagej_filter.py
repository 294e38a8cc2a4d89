"""ImageJ's dialog "FFT Bandpass Filter": the steps around the filter that ``transfer.imagej`` describes.

    picture -> brightness, if it has colors -> padded, mirrored -> filtered -> cropped -> autoscaled -> pixels

Each step is ImageJ's (1.53t): the padded picture is square, its side the smallest power of two of at least 1.5 times
the longer side. Only gray pictures of whole numbers are autoscaled: ImageJ does not change others. The tests compare
with pictures that ImageJ has made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .arrays import Array, check_finite, strips
from .errors import ParameterError
from .filters import Filter
from .filters.call import Found, call
from .memory import padded_side
from .output.rounding import NOISE, deviation

if TYPE_CHECKING:
    from .filters.call import Observe
    from .output.ramp import Gray

_BINS = 256
# What autoscaling saturates in percent, half of it at either end.
_SATURATED = 1.0


class ImageJFilter(Filter):
    """A filter to use again: ImageJ's, of ``transfer.imagej``, on one device.

    The input's gray levels are kept, rounded and clipped. With ``autoscale`` the smallest and largest become black and
    white, in gray pictures of uint8 and uint16; ``saturate`` clips 1 percent of the pixels by it. In pictures with
    three channels, only the brightness, the largest of them, is filtered; hue and saturation stay. Further options are
    those of :class:`Filter` except ``output``, ``scale``, ``edges`` and ``channels``.
    """

    name = "ImageJ's filter"
    method = "imagej"
    fill = "fill them, or take bandpass"
    fixed: ClassVar[Mapping[str, Any]] = {"output": "real", "edges": "wrap"}
    usual: ClassVar[Mapping[str, Any]] = {"autoscale": True, "saturate": True}

    def _picture(self, planes: Array, holes: Array, gray: Gray, observe: Observe) -> tuple[Array, Found]:  # noqa: ARG002
        weak = 0

        def of_padded(plane: Array) -> Array:
            nonlocal weak
            values, found = call(self._prepare(), plane[None], 0, {}, observe)
            weak = found.weak
            return np.asarray(values[0])

        values = brightness(planes, of_padded)
        made, is_clipped, _ = leveled(planes, values, gray, **self._own)
        if region := self._description.region:
            is_clipped &= region.weight(*values.shape) > 0
        return made, Found(np.array([(values.min(), values.max())], np.float64), [float(is_clipped.mean())], weak)

    def device_bytes(self, shape: tuple[int, int, int]) -> int:
        """Return how many bytes of the device a picture ``(count, height, width)`` takes, tables not counted."""
        side = padded_side(*shape[1:])
        return super().device_bytes((1, side, side))


def brightness(planes: Array, of_padded: Callable[[Array], Array]) -> Array:
    """Return the filtered brightness of a picture ``(channels, height, width)``; ``of_padded`` filters a padded plane.

    Raises ParameterError for a picture that is neither gray nor RGB, and for values that are not finite.
    """
    if len(planes) not in (1, 3):
        raise ParameterError(
            f"a picture of {len(planes)} channels is neither gray nor RGB for ImageJ's filter: give 1 or 3 along "
            "channel_axis"
        )
    check_finite(planes)
    _, height, width = planes.shape
    side = padded_side(height, width)
    # Java rounds half up.
    y, x = ((side - each + 1) // 2 for each in (height, width))
    padded = np.pad(planes.max(axis=0), ((y, side - y - height), (x, side - x - width)), "symmetric")
    # Where whole tiles end one row or column before the first, ImageJ leaves that one black: 73 rows of 512.
    if (side - y) % height == 0:
        padded[0] = 0
    if (side - x) % width == 0:
        padded[:, 0] = 0
    return of_padded(padded)[y : y + height, x : x + width].copy()  # of which the rest can go


def leveled(
    planes: Array, values: Array, gray: Gray, *, autoscale: bool, saturate: bool, nudge: float = 0.0
) -> tuple[Array, Array, float]:
    """Return a picture's pixels, which of them are clipped, and how far apart the values of black and white are.

    ``nudge`` is how far all values are moved before they are counted, in bins: one on an edge may lie on either side.
    """
    white, out, top = gray
    made, is_clipped = np.empty(planes.shape, out), np.zeros(values.shape, np.bool_)
    if len(planes) == 3:
        for rows in strips(len(values)):
            own, most = planes[:, rows], planes[:, rows].max(axis=0)
            # Black has neither hue nor saturation, and becomes gray.
            hue = np.where(most > 0, own / np.where(most > 0, most, 1), 1.0)
            levels = hue * values[rows].astype(np.float64).clip(0, white) * (top / white)
            made[:, rows] = levels if out.kind == "f" else np.floor(levels + 0.5)
        return made, (values < 0) | (values > white), white
    if out.kind == "f":
        return (values if planes.dtype.kind == "f" else values / white)[None], is_clipped, white
    low, high = 0.0, white
    if autoscale and planes.dtype in (np.uint8, np.uint16):
        low, high = _stretched(values, _SATURATED if saturate else 0.0, nudge)
        if high - low <= NOISE * float(deviation(planes[0])):
            low, high = high, high + 1  # one color becomes black
    for rows in strips(len(values)):
        levels = np.floor((values[rows].astype(np.float64) - low) * (top / (high - low)) + 0.5)
        made[0, rows], is_clipped[rows] = levels.clip(gray.least, top), (levels < gray.least) | (levels > top)
    return made, is_clipped, high - low


def _stretched(values: Array, saturated: float, nudge: float) -> tuple[float, float]:
    """Return what becomes black and white by ImageJ's contrast enhancer; values are moved by ``nudge`` bins before."""
    low, high = float(values.min()), float(values.max())
    if low == high:
        return low, high
    counts = np.zeros(_BINS, np.int64)
    for rows in strips(len(values)):
        places = _BINS / (high - low) * (values[rows].astype(np.float64) - low) + nudge
        counts += np.bincount(np.clip(places.astype(np.int64), 0, _BINS - 1).ravel(), minlength=_BINS)
    beyond = int(values.size * saturated / 200)
    first = int(np.argmax(np.cumsum(counts) > beyond))
    last = _BINS - 1 - int(np.argmax(np.cumsum(counts[::-1]) > beyond))
    if first >= last:
        return low, high
    step = (high - low) / _BINS
    return low + first * step, low + last * step
