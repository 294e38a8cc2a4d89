"""ImageJ's dialog "FFT Bandpass Filter": the steps around the filter that ``transfer.imagej`` describes.

    picture -> brightness, if it has colors -> padded, mirrored -> filtered -> cropped -> autoscaled -> pixels

Each step is ImageJ's (1.53t): the padded picture is square, its side the smallest power of two of at least 1.5 times
the longer side. Only gray pictures of whole numbers are autoscaled: ImageJ does not change others. The tests compare
with pictures that ImageJ has made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from .arrays import grey_of, planes_of
from .errors import ParameterError, TooLargeError, is_masked
from .filters import Filter, FilterOptions
from .output.rounding import NOISE, deviation
from .system import lacking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from .transfer import Transfer

    Array = NDArray[Any]
    Observe = Callable[[str, Array], None] | None

# Of a padded picture, at the peak on a CPU: the pixels, the values and the spectrum.
_BYTES_A_PIXEL = 24
_BINS = 256
# What autoscaling saturates in percent, half of it at either end.
_SATURATED = 1.0


class ImageJFilter(Filter):
    """A filter to use again: ImageJ's, of ``transfer.imagej``, on one device.

    The input's grey levels are kept, rounded and clipped. With ``autoscale`` the smallest and largest become black and
    white, in gray pictures of uint8 and uint16; ``saturate`` clips 1 percent of the pixels by it. Of a picture with
    three channels the brightness, the largest of them, is filtered; hue and saturation stay. Further options are those
    of :class:`Filter` except ``output``, ``scale``, ``edges`` and ``channels``.
    """

    def __init__(
        self, transfer: Transfer, *, autoscale: bool = True, saturate: bool = True, **options: Unpack[FilterOptions]
    ) -> None:
        self._describe(transfer, {"autoscale": autoscale, "saturate": saturate, **options})
        _ = self.launcher  # without a usable device there is no filter

    def _describe(self, transfer: Transfer, options: Mapping[str, Any]) -> None:
        for name in ("output", "scale", "edges", "channels"):
            if name in options:
                raise ParameterError(f"{name} {options[name]!r} is not for ImageJ's filter: leave it out")
        own = {name: options.get(name, True) for name in ("autoscale", "saturate")}
        super()._describe(transfer, {name: options[name] for name in options if name not in own} | {"output": "real"})
        kept = {name: value for name, value in self._options.items() if name != "output"}
        self._options = {**kept, **{name: value for name, value in own.items() if not value}}
        self._autoscale, self._saturated = own["autoscale"], _SATURATED if own["saturate"] else 0.0
        self._nudge = 0.0
        self._range = 0.0, 0.0

    def __call__(
        self,
        image: ArrayLike,
        *,
        channel_axis: int | None = None,
        dtype: DTypeLike | None = None,
        levels: int | None = None,
        white: float | None = None,
        missing: ArrayLike | None = None,
        observe: Observe = None,
    ) -> Array:
        """Filter an image, a stack of images, or a picture with 1 or 3 channels along ``channel_axis``.

        Arguments and errors are as of :meth:`Filter.__call__`; of floats ``white`` is 1, and they stay floats.
        """
        if missing is not None or is_masked(image):
            raise ParameterError("ImageJ's filter knows no missing pixels: fill them, or take bandpass")
        planes, shape = planes_of(image, channel_axis)
        if channel_axis is not None and len(planes) not in (1, 3):
            raise ParameterError(
                f"a picture of {len(planes)} channels is neither gray nor RGB for ImageJ's filter: give 1 or 3 along "
                "channel_axis"
            )
        _, white, out, top = grey_of(planes.dtype, {"dtype": dtype, "levels": levels, "white": white})
        with self._alone():
            self._extremes: list[tuple[float, float]] = []
            self._clipped: list[float] = []
            if channel_axis is not None and len(planes) == 3:
                found = self._color(planes, white, top, out, observe)
            else:
                found = np.stack([self._gray(plane, white, top, out, observe) for plane in planes])
            self._found = self._found._replace(extremes=np.array(self._extremes), clipped=self._clipped)
        return found.reshape(shape) if channel_axis is None else np.moveaxis(found, 0, channel_axis)

    def stream(self, images: Iterable[ArrayLike], **options: Any) -> Iterator[Array]:
        """Filter images one after the other, as calls do, and yield their results in order."""
        for image in images:
            yield self(image, **options)

    def device_bytes(self, shape: tuple[int, int, int]) -> int:
        """Return how many bytes of the device a picture ``(count, height, width)`` takes, tables not counted."""
        side = _padded_side(*shape[1:])
        return super().device_bytes((1, side, side))

    def _filtered(self, plane: Array, observe: Observe) -> Array:
        """Return the filtered values of an image, in its grey levels; raises TooLargeError."""
        height, width = plane.shape
        side = _padded_side(height, width)
        if (free := lacking(side * side * _BYTES_A_PIXEL)) is not None:
            raise TooLargeError(
                f"{width} x {height} pixels become {side} x {side} in ImageJ's filter, more than fit into the {free:,} "
                "bytes of memory that are free; use a smaller image"
            )
        # Java rounds half up.
        y, x = ((side - each + 1) // 2 for each in plane.shape)
        padded = np.pad(plane, ((y, side - y - height), (x, side - x - width)), "symmetric")
        # Where whole tiles end one row or column before the first, ImageJ leaves that one black: 73 rows of 512.
        if (side - y) % height == 0:
            padded[0] = 0
        if (side - x) % width == 0:
            padded[:, 0] = 0
        values = self._values(padded, observe)[y : y + height, x : x + width]
        self._extremes.append((float(values.min()), float(values.max())))
        return values

    def _values(self, padded: Array, observe: Observe) -> Array:
        return super().__call__(padded, observe=observe)

    def _gray(self, plane: Array, white: float, top: int, out: np.dtype[Any], observe: Observe) -> Array:
        values = self._filtered(plane, observe)
        if out.kind == "f":
            self._clipped.append(0.0)
            return values if plane.dtype.kind == "f" else values / white
        low, high = 0.0, white
        if self._autoscale and plane.dtype.kind != "f":
            low, high = _stretched(values, self._saturated, self._nudge)
            if high - low <= NOISE * float(deviation(plane)):
                low, high = high, high + 1  # one color becomes black
        self._range = low, high
        levels: Array = np.floor((values.astype(np.float64) - low) * (top / (high - low)) + 0.5)
        self._clipped.append(float(np.mean((levels < 0) | (levels > top))))
        return levels.clip(0, top).astype(out)

    def _color(self, planes: Array, white: float, top: int, out: np.dtype[Any], observe: Observe) -> Array:
        brightness = planes.max(axis=0)
        values = self._filtered(brightness, observe).astype(np.float64)
        self._clipped.append(float(np.mean((values < 0) | (values > white))))
        # Black has neither hue nor saturation, and becomes gray.
        hue = np.where(brightness > 0, planes / np.where(brightness > 0, brightness, 1), 1.0)
        levels = hue * values.clip(0, white) * (top / white)
        rounded: Array = levels if out.kind == "f" else np.floor(levels + 0.5)
        return rounded.astype(out)


class ImageJReference(ImageJFilter):
    """The same filter with transforms in float64 by NumPy, without a device: what ``--verify`` compares with.

    ``nudge`` moves all values by a part of a bin before they are counted: a value on the edge of a bin may lie on
    either side of it.
    """

    values: Array
    """The filtered values of the last picture; for one with colors, those of its brightness."""

    @property
    def width(self) -> float:
        """How far apart the values are that became black and white in the last gray picture of whole numbers."""
        low, high = self._range
        return high - low

    def __init__(self, transfer: Transfer, *, autoscale: bool = True, saturate: bool = True, nudge: float = 0) -> None:
        self._describe(transfer, {"autoscale": autoscale, "saturate": saturate})
        self._nudge = nudge

    def _filtered(self, plane: Array, observe: Observe) -> Array:
        self.values = super()._filtered(plane, observe)
        return self.values

    def _values(self, padded: Array, observe: Observe) -> Array:  # noqa: ARG002  there are no steps
        from .transfer.reference import filtered

        return filtered(padded, self.transfer.gain(*padded.shape)).real


def _padded_side(height: int, width: int) -> int:
    return 1 << ((3 * max(height, width) + 1) // 2 - 1).bit_length()


def _stretched(values: Array, saturated: float, nudge: float) -> tuple[float, float]:
    """Return the values that become black and white by ImageJ's contrast enhancer: edges of a histogram's bins.

    Values are moved by ``nudge`` bins before they are counted.
    """
    low, high = float(values.min()), float(values.max())
    if low == high:
        return low, high
    places = _BINS / (high - low) * (values.astype(np.float64) - low) + nudge
    bins = np.clip(places.astype(np.int64), 0, _BINS - 1)
    counts = np.bincount(bins.ravel(), minlength=_BINS)
    beyond = int(values.size * saturated / 200)
    first = int(np.argmax(np.cumsum(counts) > beyond))
    last = _BINS - 1 - int(np.argmax(np.cumsum(counts[::-1]) > beyond))
    if first >= last:
        return low, high
    step = (high - low) / _BINS
    return low + first * step, low + last * step
