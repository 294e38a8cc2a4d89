"""A call: from an image to what the pipeline takes, and from what the pipeline makes to the caller's array."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arrays import pixel_type, pixels_of, planes_of, type_of_output, white_of_input, white_of_output
from ..errors import ParameterError
from ..output.histogram import ByHistogram
from ..output.modes import Auto
from ..output.ramp import ramps
from ..output.stack import Stack
from .repair import repeat_weak

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from ..device.pipeline import Pipeline
    from ..fused.gpu.stream import Started
    from ..output.histogram import Ramps
    from .description import PixelOptions
    from .pipelines import Prepared

    Array = NDArray[Any]
    Observe = Callable[[str, Array], None] | None
    Begun = tuple[Started, Callable[[Array, Started], tuple["Array", "Found"]]]


class Found(NamedTuple):
    """What is known of the pictures of a call beside their pixels."""

    extremes: Array
    """The smallest and the largest magnitude of each, in the input's grey levels: (pictures, 2)."""
    clipped: list[float]
    """The part of each one's samples that became black or white."""
    weak: int = 0
    """How many were filtered once more."""


NOTHING = Found(np.empty((0, 2)), [])


@dataclass(eq=False)
class Call:
    """An image ``(count, height, width)`` ready for its pipeline."""

    prepared: Prepared
    stack: Stack
    pipeline: Pipeline
    pixels: Array
    exponents: NDArray[np.int32]
    """Floats of each picture are divided by 2^exponent."""
    given: Array
    """What the pixels were made of."""
    of_pixels: PixelOptions
    ramps: Ramps
    """From the filtered values of each picture to the output's pixels, if they are no magnitudes of their own range."""
    channel_axis: int | None
    shape: tuple[int, ...]

    @property
    def is_rounded(self) -> bool:
        """Whether the pixels are less exact than what was given."""
        return self.stack.pixel.kind == "f" and not np.can_cast(self.given.dtype, self.stack.pixel)

    def in_grey_levels(self, values: Array, factor: float) -> Array:
        """Return values of each picture as those of what was given, times a factor."""
        if self.stack.pixel.kind == "f":
            values = np.ldexp(values, self.exponents.reshape(-1, *(1 for _ in values.shape[1:])))
        if factor == 1:
            return values
        # The product in float64: a gain beyond single precision must not make a NaN of 0.
        with np.errstate(over="ignore"):
            return np.multiply(values, factor, dtype=np.float64).astype(values.dtype)

    def in_shape(self, result: Array) -> Array:
        """Return a result in the shape of what was given."""
        return result.reshape(self.shape) if self.channel_axis is None else np.moveaxis(result, 0, self.channel_axis)


def call(
    prepared: Prepared,
    image: ArrayLike,
    channel_axis: int | None,
    of_pixels: PixelOptions,
    observe: Observe = None,
) -> tuple[Array, Found]:
    """Filter an image, a stack or a picture, as :meth:`Filter.__call__` does."""
    if observe is not None and prepared.description.engine.algorithm is None:
        raise ParameterError("the fused engine has no intermediate results: choose another one, for example book")
    if channel_axis is not None and prepared.description.transfer.is_by_channel:
        planes, _ = planes_of(image, channel_axis)
        if len(planes) > 1:
            results, found = _by_channel(prepared, planes, of_pixels, observe)
            return np.moveaxis(results, 0, channel_axis), found
    ready = _ready(prepared, image, channel_axis, of_pixels)
    run: Any = ready.pipeline.run
    result = run(ready.pixels, ready.ramps, **({} if observe is None else {"observe": observe}))
    return _finish(ready, result, ready.pipeline)


def start(prepared: Prepared, image: ArrayLike, channel_axis: int | None, of_pixels: PixelOptions) -> Begun | None:
    """Begin to filter an image on a GPU, which copies it while it filters others; None where nothing overlaps.

    Return what waits for the pixels, and what makes of them what :func:`call` returns.
    """
    if not prepared.launcher.device.is_gpu or (
        channel_axis is not None and prepared.description.transfer.is_by_channel
    ):
        return None
    ready = _ready(prepared, image, channel_axis, of_pixels)
    # What was rounded on its way to the device may be needed again as it was.
    stream = None if ready.is_rounded else prepared.stream()
    return None if stream is None else (stream.start(ready.pixels, ready.ramps), partial(_finish, ready))


def _ready(prepared: Prepared, image: ArrayLike, channel_axis: int | None, of_pixels: PixelOptions) -> Call:
    """Return an image ready for its pipeline."""
    planes, shape = planes_of(image, channel_axis)
    pixel = pixel_type(planes.dtype)
    dtype, white = type_of_output(of_pixels.get("dtype"), pixel), white_of_input(of_pixels.get("white"), pixel)
    levels, real = white_of_output(of_pixels.get("levels"), dtype), prepared.launcher.real
    number, one_scale = real if pixel.kind == "f" else pixel, channel_axis is not None
    out, top = (real, None) if prepared.description.mode.is_values else (dtype, levels)
    count, height, width = planes.shape
    stack = Stack(count, height, width, number, out, top, one_scale)
    pipeline = prepared.pipeline_for(stack)
    pixels, exponents = pixels_of(planes, stack)
    own = _ramps(prepared, exponents, white, dtype, levels)
    return Call(prepared, stack, pipeline, pixels, exponents, planes, of_pixels, own, channel_axis, shape)


def _ramps(prepared: Prepared, exponents: NDArray[np.int32], white: float, dtype: np.dtype[Any], maxval: int) -> Ramps:
    """Return the ramps of pictures whose floats were divided by 2^exponent: those of the last call, if they fit.

    None are the pipeline's own: values as they are, or magnitudes of each picture's own range.
    """
    output, scale = prepared.description.output, prepared.description.scale
    if not prepared.description.mode.needs_ramps(scale):
        return None
    if isinstance(scale, Auto):
        return ByHistogram(output, scale, dtype, maxval)
    key = (exponents.tobytes(), white, dtype, maxval)
    if prepared.ramps is None or prepared.ramps[0] != key:
        with np.errstate(over="ignore"):
            units = np.ldexp(prepared.description.transfer.largest, exponents)
        prepared.ramps = key, ramps(output, scale, units, white=white, dtype=dtype, maxval=maxval)
    return prepared.ramps[1]


def _finish(ready: Call, result: Array, done: Pipeline | Started) -> tuple[Array, Found]:
    """Return what has become of a stack as the caller wants it."""
    extremes, description = done.extremes(), ready.prepared.description
    largest, factor = extremes[:, 1], description.transfer.largest
    if ready.stack.pixel.kind == "f" or factor != 1:
        extremes = ready.in_grey_levels(extremes.astype(np.float64), factor)
    clipped = [0.0] * ready.stack.pictures if ready.ramps is None else done.clipped().tolist()
    if description.mode.is_values:
        result = ready.in_grey_levels(result, factor)

    def in_double(images: Array) -> tuple[Array, Found]:
        axis = 0 if ready.stack.one_scale else None
        return call(ready.prepared.in_double(), images, axis, ready.of_pixels)

    weak = repeat_weak(ready, done, largest, (result, extremes, clipped), in_double)
    return ready.in_shape(result), Found(extremes, clipped, weak)


def _by_channel(prepared: Prepared, planes: Array, of_pixels: PixelOptions, observe: Observe) -> tuple[Array, Found]:
    """Filter the channels of a picture ``(channels, height, width)``, each by its own transfer function."""
    own = prepared.description
    if isinstance(own.scale, Auto) or (own.mode.is_scaled and own.scale is None):
        raise ParameterError(
            f"{own.output} of channels that are filtered differently has no scale in common: take keep, real or "
            "a scale of (LO, HI)"
        )
    if observe is not None:
        raise ParameterError("channels that are filtered differently have no intermediate results in common")
    channels = [prepared.of_channel(transfer) for transfer in own.transfer.of_channels(len(planes))]
    made = [call(channel, plane, None, of_pixels) for channel, plane in zip(channels, planes, strict=True)]
    prepared.engine = channels[-1].engine
    lows, highs = np.concatenate([found.extremes for _, found in made]).T
    clipped = float(np.mean([found.clipped for _, found in made]))
    weak = sum(found.weak for _, found in made)
    return np.stack([result for result, _ in made]), Found(np.array([(lows.min(), highs.max())]), [clipped], weak)
