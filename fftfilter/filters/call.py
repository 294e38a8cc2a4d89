"""A call: from an image to what the pipeline takes, and from what the pipeline makes to the caller's array."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arrays import largest_of, pixel_type, pixels_of, planes_of, type_of_output, white_of_input, white_of_output
from ..device.launcher import Launcher
from ..errors import ParameterError
from ..output.histogram import ByHistogram
from ..output.ramp import ramps
from ..output.scale import Auto
from ..output.stack import Stack
from .description import describe
from .pipelines import Pipelines
from .repair import Repair

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from ..device.pipeline import Pipeline
    from ..fused.gpu.stream import Started
    from ..output.histogram import Ramps
    from ..transfer import Transfer
    from .description import Description, PixelOptions

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


class Prepared:
    """A filter prepared on its device, with what the next call can use again; for one thread at a time."""

    def __init__(self, description: Description, launcher: Launcher) -> None:
        self.description, self.launcher = description, launcher
        self.pipelines = Pipelines(description, launcher)
        self._ramps_of: tuple[tuple[Any, ...], Array] | None = None
        self._of_channels: dict[Transfer, Prepared] = {}
        device = launcher.device
        # It does not refer to this filter, which is gone with all its memory when nobody uses it.
        self._repair = Repair(description, lambda double: Prepared(double, Launcher(device, precision="double")))

    def call(
        self, image: ArrayLike, channel_axis: int | None, of_pixels: PixelOptions, observe: Observe = None
    ) -> tuple[Array, Found]:
        """Filter an image, a stack or a picture, as :meth:`Filter.__call__` does."""
        if observe is not None and self.description.engine.algorithm is None:
            raise ParameterError("the fused engine has no intermediate results: choose another one, for example book")
        if channel_axis is not None and self.description.transfer.is_by_channel:
            planes, _ = planes_of(image, channel_axis)
            if len(planes) > 1:
                results, found = self._by_channel(planes, of_pixels, observe)
                return np.moveaxis(results, 0, channel_axis), found
        call = self._prepare(image, channel_axis, of_pixels)
        run: Any = call.pipeline.run
        result = run(call.pixels, call.ramps, **({} if observe is None else {"observe": observe}))
        return self._finish(call, result, call.pipeline)

    def start(self, image: ArrayLike, channel_axis: int | None, of_pixels: PixelOptions) -> Begun | None:
        """Begin to filter an image on a GPU, which copies it while it filters others; None where nothing overlaps.

        Return what waits for the pixels, and what makes of them what :meth:`call` returns.
        """
        if not self.launcher.device.is_gpu or (channel_axis is not None and self.description.transfer.is_by_channel):
            return None
        call = self._prepare(image, channel_axis, of_pixels)
        # What was rounded on its way to the device may be needed again as it was.
        stream = None if call.is_rounded else self.pipelines.stream()
        return None if stream is None else (stream.start(call.pixels, call.ramps), partial(self._finish, call))

    def _prepare(self, image: ArrayLike, channel_axis: int | None, of_pixels: PixelOptions) -> Call:
        """Return an image ready for its pipeline."""
        planes, shape = planes_of(image, channel_axis)
        pixel = pixel_type(planes.dtype)
        dtype, white = type_of_output(of_pixels.get("dtype"), pixel), white_of_input(of_pixels.get("white"), pixel)
        levels, real = white_of_output(of_pixels.get("levels"), dtype), self.launcher.real
        number, one_scale = real if pixel.kind == "f" else pixel, channel_axis is not None
        out, top = (real, None) if self.description.output == "real" else (dtype, levels)
        count, height, width = planes.shape
        stack = Stack(count, height, width, number, out, top, one_scale)
        pipeline = self.pipelines.kept(stack)
        if pipeline is None:
            self.close()
            pipeline = self.pipelines.make(stack)
        pixels, exponents = pixels_of(planes, stack)
        own_ramps = self._ramps(exponents, white, dtype, levels)
        return Call(stack, pipeline, pixels, exponents, planes, of_pixels, own_ramps, channel_axis, shape)

    def _ramps(self, exponents: NDArray[np.int32], white: float, dtype: np.dtype[Any], maxval: int) -> Ramps:
        """Return the ramps of pictures whose floats were divided by 2^exponent: those of the last call, if they fit.

        None are the pipeline's own: values as they are, or magnitudes of each picture's own range.
        """
        output, scale = self.description.output, self.description.scale
        if output == "real" or (output == "magnitude" and scale is None):
            return None
        if isinstance(scale, Auto):
            return ByHistogram(output, scale, dtype, maxval)
        key = (exponents.tobytes(), white, dtype, maxval)
        if self._ramps_of is None or self._ramps_of[0] != key:
            with np.errstate(over="ignore"):
                units = np.ldexp(self.description.transfer.largest, exponents)
            self._ramps_of = key, ramps(output, scale, units, white=white, dtype=dtype, maxval=maxval)
        return self._ramps_of[1]

    def _finish(self, call: Call, result: Array, done: Pipeline | Started) -> tuple[Array, Found]:
        """Return what has become of a stack as the caller wants it."""
        extremes, factor = done.extremes(), self.description.transfer.largest
        largest = extremes[:, 1]
        if call.stack.pixel.kind == "f" or factor != 1:
            extremes = call.in_grey_levels(extremes.astype(np.float64), factor)
        found = Found(extremes, [0.0] * call.stack.pictures if call.ramps is None else done.clipped().tolist())
        if self.description.output == "real":
            result = call.in_grey_levels(result, factor)
        if largest.min() < self._weak_below(call):
            weak = self._repair.repeat(call, done, largest.astype(np.float64), result, found)
            found = found._replace(weak=weak)
        return call.in_shape(result), found

    def _by_channel(self, planes: Array, of_pixels: PixelOptions, observe: Observe) -> tuple[Array, Found]:
        """Filter the channels of a picture ``(channels, height, width)``, each by its own transfer function."""
        own, results, each = self.description, [], []
        if isinstance(own.scale, Auto) or (own.output in ("magnitude", "signed") and own.scale is None):
            raise ParameterError(
                f"{own.output} of channels that are filtered differently has no scale in common: take keep, real or "
                "a scale of (LO, HI)"
            )
        if observe is not None:
            raise ParameterError("channels that are filtered differently have no intermediate results in common")
        for plane, transfer in zip(planes, own.transfer.of_channels(len(planes)), strict=True):
            if transfer not in self._of_channels:
                self._of_channels[transfer] = Prepared(describe(transfer, own.options), self.launcher)
            of_channel = self._of_channels[transfer]
            result, found = of_channel.call(plane, None, of_pixels)
            results.append(result)
            each.append(found)
        self.pipelines.engine = of_channel.pipelines.engine
        lows, highs = np.concatenate([found.extremes for found in each]).T
        clipped = float(np.mean([found.clipped for found in each]))
        found = Found(np.array([(lows.min(), highs.max())]), [clipped], sum(found.weak for found in each))
        return np.stack(results), found

    def _weak_below(self, call: Call) -> float:
        """Return the magnitude from which on no result is too weak for single precision."""
        if self.launcher.real != np.float32 or not self.launcher.device.fp64:
            return 0.0  # it is in double precision already, or there is none
        return call.pipeline.weak * (2.0 if call.stack.pixel.kind == "f" else float(largest_of(call.stack.pixel)))

    def retuned(self, description: Description) -> Prepared:
        """Return a filter for another transfer function, which takes over the pipeline where it can; close this one."""
        made = Prepared(description, self.launcher)
        made.pipelines = self.pipelines.retuned(description)
        self.close()
        return made

    def close(self) -> None:
        """Release the device's memory."""
        self.pipelines.close()
        while self._of_channels:
            self._of_channels.popitem()[1].close()
        self._repair.close()
