"""ImageJ's dialog "FFT Bandpass Filter": the steps around the filter that ``transfer.imagej`` describes.

    picture -> brightness, if it has colors -> padded, mirrored -> filtered -> cropped -> autoscaled -> pixels

Each step is ImageJ's (1.53t): the padded picture is square, its side the smallest power of two of at least 1.5 times
the longer side. Only gray pictures of whole numbers are autoscaled: ImageJ does not change others. The tests compare
with pictures that ImageJ has made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import Array, check_finite, gray_of, pixel_type, strips
from .errors import ParameterError
from .filters import PictureFilter
from .filters.call import Found
from .memory import padded_side
from .output.rounding import NOISE, deviation
from .transfer import Transfer
from .transfer.reference import filtered

if TYPE_CHECKING:
    from .filters.call import Observe
    from .output.ramp import Gray

_BINS = 256
# What autoscaling saturates in percent, half of it at either end.
_SATURATED = 1.0


class ImageJFilter(PictureFilter):
    """A filter to use again: ImageJ's, of ``transfer.imagej``, on one device.

    The input's gray levels are kept, rounded and clipped. With ``autoscale`` the smallest and largest become black and
    white, in gray pictures of uint8 and uint16; ``saturate`` clips 1 percent of the pixels by it. In pictures with
    three channels, only the brightness, the largest of them, is filtered; hue and saturation stay. Further options are
    those of :class:`Filter` except ``output``, ``scale``, ``edges`` and ``channels``.
    """

    name = "ImageJ's filter"
    method = "imagej"
    fill = "fill them, or take bandpass"
    width: float  # how far apart the values are that became black and white in the last gray picture of whole numbers
    nudge = 0.0
    """How far all values are moved before they are counted, in bins: one on an edge may lie on either side of it."""

    def _describe(self, transfer: Transfer, options: Mapping[str, Any]) -> None:
        own = {name: options.get(name, True) for name in ("autoscale", "saturate")}
        super()._describe(transfer, {name: value for name, value in options.items() if name not in own})
        self._options = {**self._options, **{name: value for name, value in own.items() if not value}}
        self._autoscale, self._saturated = own["autoscale"], _SATURATED if own["saturate"] else 0.0
        if region := self._description.region:
            region.check_output(has_levels=not self._autoscale)

    def _picture(self, planes: Array, holes: Array, gray: Gray, observe: Observe) -> tuple[Array, Found]:  # noqa: ARG002
        if len(planes) not in (1, 3):
            raise ParameterError(
                f"a picture of {len(planes)} channels is neither gray nor RGB for ImageJ's filter: give 1 or 3 along "
                "channel_axis"
            )
        check_finite(planes)
        values, weak = self._filtered(planes.max(axis=0), observe)
        made, is_clipped = (self._gray if len(planes) == 1 else self._color)(planes, values, gray)
        if region := self._description.region:
            is_clipped &= region.weight(*values.shape) > 0
        return made, Found(np.array([(values.min(), values.max())], np.float64), [float(is_clipped.mean())], weak)

    def device_bytes(self, shape: tuple[int, int, int]) -> int:
        """Return how many bytes of the device a picture ``(count, height, width)`` takes, tables not counted."""
        side = padded_side(*shape[1:])
        return super().device_bytes((1, side, side))

    def _filtered(self, plane: Array, observe: Observe) -> tuple[Array, int]:
        """Return an image's filtered values, and whether it was filtered once more."""
        height, width = plane.shape
        side = padded_side(height, width)
        # Java rounds half up.
        y, x = ((side - each + 1) // 2 for each in plane.shape)
        padded = np.pad(plane, ((y, side - y - height), (x, side - x - width)), "symmetric")
        # Where whole tiles end one row or column before the first, ImageJ leaves that one black: 73 rows of 512.
        if (side - y) % height == 0:
            padded[0] = 0
        if (side - x) % width == 0:
            padded[:, 0] = 0
        values, weak = self._values(padded[None], observe)
        return values[0, y : y + height, x : x + width].copy(), weak  # of which the rest can go

    def _values(self, planes: Array, observe: Observe) -> tuple[Array, int]:
        none: Any = np.False_
        values, found = super()._picture(planes, none, gray_of({}, pixel_type(planes.dtype)), observe)
        return values, found.weak

    def _gray(self, planes: Array, values: Array, gray: Gray) -> tuple[Array, Array]:
        """Return pixels, and which of them are clipped."""
        white, out, top = gray
        if out.kind == "f":
            return (values if planes.dtype.kind == "f" else values / white)[None], np.zeros(values.shape, np.bool_)
        low, high = 0.0, white
        if self._autoscale and planes.dtype.kind != "f":
            low, high = _stretched(values, self._saturated, self.nudge)
            if high - low <= NOISE * float(deviation(planes[0])):
                low, high = high, high + 1  # one color becomes black
        self.width = high - low
        made, is_clipped = np.empty((1, *values.shape), out), np.empty(values.shape, np.bool_)
        for rows in strips(len(values)):
            levels = np.floor((values[rows].astype(np.float64) - low) * (top / (high - low)) + 0.5)
            made[0, rows], is_clipped[rows] = levels.clip(0, top), (levels < 0) | (levels > top)
        return made, is_clipped

    def _color(self, planes: Array, values: Array, gray: Gray) -> tuple[Array, Array]:
        white, out, top = gray
        made = np.empty(planes.shape, out)
        for rows in strips(len(values)):
            own, brightness = planes[:, rows], planes[:, rows].max(axis=0)
            # Black has neither hue nor saturation, and becomes gray.
            hue = np.where(brightness > 0, own / np.where(brightness > 0, brightness, 1), 1.0)
            levels = hue * values[rows].astype(np.float64).clip(0, white) * (top / white)
            made[:, rows] = levels if out.kind == "f" else np.floor(levels + 0.5)
        return made, (values < 0) | (values > white)


class ImageJReference(ImageJFilter):
    """The same filter with transforms in float64 by NumPy, without a device: what ``--verify`` compares with."""

    values: Array  # the filtered values of the last picture; for one with colors, those of its brightness

    def _filtered(self, plane: Array, observe: Observe) -> tuple[Array, int]:
        self.values, _ = super()._filtered(plane, observe)
        return self.values, 0

    def _values(self, planes: Array, observe: Observe) -> tuple[Array, int]:  # noqa: ARG002  there are no steps
        return filtered(planes, self.transfer.gain(*planes.shape[1:])).real, 0


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
