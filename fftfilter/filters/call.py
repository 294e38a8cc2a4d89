"""A call: from an image to what the pipeline takes, and from what the pipeline makes to the caller's array.

Pictures for which single precision is not enough are filtered once more in double precision. Rounding in single
precision grows with the deviations of the input. It shows where what passes is much smaller, and where many samples are
undecided: so near to the edge between two levels that it may put them on either side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import check_finite, gray_of, largest_of, pixel_type, pixels_of, planes_of, scaled
from ..errors import MissingError, ParameterError, TooLargeError, is_masked
from ..output.histogram import ByHistogram
from ..output.modes import Auto
from ..output.ramp import Facts, Gray, Stack, on_ramps, ramps
from ..output.rounding import NOISE, mean_deviation, spread, weak_below
from .pipelines import Mirrored

if TYPE_CHECKING:
    from ..arrays import Array
    from ..device.launcher import Pipeline
    from ..fused.gpu.stream import Started
    from ..output.histogram import Ramps
    from .description import Description, PixelOptions
    from .pipelines import Prepared

    Observe = Callable[[str, Array], None] | None
    Begun = tuple[Started, Callable[[Array, Started], tuple["Array", "Found"]]]


class Found(NamedTuple):
    """Facts about the pictures of a call."""

    extremes: Array
    """0 and the largest magnitude of each, in the input's gray levels: (pictures, 2)."""
    clipped: list[float]
    """The part of each one's samples that became black or white."""
    weak: int = 0
    """How many were filtered once more."""

    @classmethod
    def of_all(cls, each: Sequence[Found]) -> Found:
        """Return the facts about the pictures of several calls."""
        extremes = np.concatenate([one.extremes for one in each])
        return cls(extremes, [part for one in each for part in one.clipped], sum(one.weak for one in each))


# Floats of more bits lose some on their way into a single one: as much as if their deviation were this part of them.
LOST_AS_SINGLE = 0.1
# Planes of more pixels share the memory of one pipeline: to make another one takes a small part of their time.
LARGE = 1 << 20
NOTHING = Found(np.empty((0, 2)), [])


class Call:
    """An image ``(count, height, width)`` ready for its pipeline, and what becomes of its pixels."""

    def __init__(self, prepared: Prepared, image: ArrayLike, channel_axis: int | None, of_pixels: PixelOptions) -> None:
        self.prepared, self._axis, self._of_pixels = prepared, channel_axis, of_pixels
        self._given, self._shape = planes_of(image, channel_axis)
        pixel, real = pixel_type(self._given.dtype), prepared.launcher.real
        gray, number = gray_of(of_pixels, pixel), real if pixel.kind == "f" else pixel
        out, top = (real, None) if prepared.description.mode.is_values else (gray.dtype, gray.levels)
        count, height, width = self._given.shape
        self.stack = Stack(count, height, width, number, out, top, channel_axis is not None)
        self.pipeline = prepared.pipeline_for(self.stack)
        self.pixels, self._exponents = pixels_of(self._given, self.stack)
        """Floats of each picture are divided by 2^exponent."""
        self.ramps = _ramps(prepared, self._exponents, gray, self.stack.samples)
        """From the filtered values of each picture to the output's pixels; None stands for the pipeline's own."""

    @property
    def is_rounded(self) -> bool:
        """Whether the pixels are less exact than what was given."""
        return self.stack.pixel.kind == "f" and not np.can_cast(self._given.dtype, self.stack.pixel)

    def finish(self, result: Array, done: Pipeline | Started) -> tuple[Array, Found]:
        """Return the result in the caller's shape, and facts in the input's gray levels; repeat weak pictures."""
        facts, description = done.facts(), self.prepared.description
        extremes, factor = facts.extremes, description.transfer.largest
        if self.stack.pixel.kind == "f" or factor != 1:
            extremes = self._in_gray_levels(extremes.astype(np.float64), factor)
        clipped = [0.0] * self.stack.pictures if self.ramps is None else facts.clipped.tolist()
        if description.mode.is_values:
            result = self._in_gray_levels(result, factor)
        weak = self._repeat_weak(done, facts, (result, extremes, clipped))
        result = result.reshape(self._shape) if self._axis is None else np.moveaxis(result, 0, self._axis)
        return result, Found(extremes, clipped, weak)

    def _in_gray_levels(self, values: Array, factor: float) -> Array:
        """Return values of each picture as those of what was given, times a factor."""
        if self.stack.pixel.kind == "f":
            # In place: another array of large pictures takes as much memory as all else.
            values = scaled(values, self._exponents.reshape(-1, *(1 for _ in values.shape[1:])), out=values)
        if factor == 1:
            return values
        # The product in float64: a gain beyond single precision must not make a NaN of 0.
        limit = np.finfo(values.dtype).max
        with np.errstate(over="ignore"):
            return np.multiply(values, factor, dtype=np.float64).clip(-limit, limit).astype(values.dtype)

    def _repeat_weak(self, done: Pipeline | Started, facts: Facts, into: tuple[Array, Array, list[float]]) -> int:
        """Filter pictures whose results are too weak once more in double precision; return how many these were.

        ``facts`` are in the pixels' units. The new pixels, extremes and clipped parts go ``into`` the places of the old
        ones.
        """
        prepared, pixel = self.prepared, self.stack.pixel
        if prepared.launcher.real != np.float32 or not prepared.launcher.device.fp64:
            return 0  # it is in double precision already, or there is none
        limit = weak_below(self.pipeline.weak, self.stack)
        of_range = limit * (2.0 if pixel.kind == "f" else float(largest_of(pixel)))
        # NumPy's minimum would take a hundredth of a small image's time.
        if min(facts.extremes[:, 1].tolist()) >= of_range and max(facts.undecided) <= 1:
            return 0
        largest, undecided = facts.extremes[:, 1].astype(np.float64), np.array(facts.undecided) > 1
        deviations, least, weak = facts.deviations(), 0.0, 0
        result, extremes, clipped = into
        images, exponents = self.pixels if done is self.pipeline else cast("Started", done).images(), self._exponents
        is_above_noise = largest > NOISE / 2 * deviations
        if self.is_rounded:
            images, exponents, least = self._given, np.zeros_like(exponents), LOST_AS_SINGLE
            is_above_noise[:] = True  # or not: only what was given can tell
        for i in np.flatnonzero(is_above_noise & (undecided | (largest < limit * np.maximum(deviations, least)))):
            own = slice(None) if self.stack.one_scale else slice(i, i + 1)
            whole = self.pipeline.whole(images[own]) if isinstance(self.pipeline, Mirrored) else images[own]
            to_pixels = exponents[i] - self._exponents[i]
            # Rounding grows with the mean of all deviations, not with the largest, as that of a hot pixel. The mean of
            # a wave is 1/sqrt 2.
            mean = np.ldexp(np.sqrt(2) * spread(whole).max(), to_pixels)
            if mean == 0:
                continue
            mean_gain, gain_of_constants = prepared.gains(*images.shape[1:])
            # What goes through the transforms at the frequency 0 may cancel what went around them.
            with np.errstate(over="ignore", invalid="ignore"):  # beyond doubles, it is done again
                at_dc = np.abs(mean_deviation(whole)).max() * gain_of_constants
            at_dc = abs(np.ldexp(at_dc, to_pixels)) / prepared.description.transfer.largest
            if largest[i] >= limit * max(mean_gain * max(mean, least), at_dc) and not undecided[i]:
                continue
            again = images[own]
            if exponents[i]:
                again = np.ldexp(again.astype(np.float64), exponents[i])
            with suppress(TooLargeError):
                axis = 0 if self.stack.one_scale else None
                result[own], of_it = call(prepared.in_double(), again, axis, self._of_pixels)
                extremes[i], clipped[i] = of_it.extremes[0], of_it.clipped[0]
                weak += 1
        return weak


def call(
    prepared: Prepared, image: ArrayLike, channel_axis: int | None, of_pixels: PixelOptions, observe: Observe = None
) -> tuple[Array, Found]:
    """Filter an image, a stack or a picture of which nothing is missing; raises MissingError for NaN."""
    if observe is not None and prepared.description.engine.algorithm is None:
        raise ParameterError(
            f"the {prepared.engine} engine has no intermediate results: choose another one, for example book"
        )
    if prepared.splits:
        planes, shape = planes_of(image, channel_axis)
        part, has_colors = prepared.description.channels, channel_axis is not None and len(planes) > 1
        if has_colors or part == "chroma":
            if part:
                results, found = _by_part(prepared, planes, has_colors, of_pixels, observe)
            else:
                refuse_by_channel(prepared.description, observe)
                results, found = _by_channel(prepared, planes, of_pixels)
            return results.reshape(shape) if channel_axis is None else np.moveaxis(results, 0, channel_axis), found
    ready = Call(prepared, image, channel_axis, of_pixels)
    run: Any = ready.pipeline.run
    result = run(ready.pixels, ready.ramps, **({} if observe is None else {"observe": observe}))
    return ready.finish(result, ready.pipeline)


def start(prepared: Prepared, image: ArrayLike, channel_axis: int | None, of_pixels: PixelOptions) -> Begun | None:
    """Begin to filter an image on a GPU, which copies it while it filters others; None where nothing overlaps.

    Return what waits for the pixels, and what makes of them what :func:`call` returns.
    """
    is_split = prepared.splits and (channel_axis is not None or prepared.description.channels == "chroma")
    if is_split or is_masked(image) or not isinstance(image, np.ndarray) or not prepared.launcher.device.is_gpu:
        return None
    try:
        ready = Call(prepared, image, channel_axis, of_pixels)
    except MissingError:
        return None
    # What was rounded on its way to the device may be needed again as it was.
    stream = None if ready.is_rounded else prepared.stream()
    return None if stream is None else (stream.start(ready.pixels, ready.ramps), ready.finish)


def _ramps(prepared: Prepared, exponents: NDArray[np.int32], gray: Gray, samples: int) -> Ramps:
    """Return the ramps of pictures whose floats were divided by 2^exponent: those of the last call, if they fit.

    None stands for the pipeline's own: values as they are, or magnitudes of each picture's own range.
    """
    output, scale = prepared.description.output, prepared.description.scale
    if not prepared.description.mode.needs_ramps(scale):
        return None
    key = exponents.tobytes(), gray, samples
    if prepared.ramps is None or prepared.ramps[0] != key:
        with np.errstate(over="ignore"):
            units = np.ldexp(prepared.description.transfer.largest, exponents)
        if isinstance(scale, Auto):
            prepared.ramps = key, ByHistogram(output, scale, gray.dtype, gray.levels)
        else:
            prepared.ramps = key, ramps(output, scale, units, gray=gray, samples=samples)
    return prepared.ramps[1]


def refuse_by_channel(own: Description, observe: Observe) -> None:
    """Raise ParameterError for what channels that are filtered differently do not have in common."""
    if isinstance(own.scale, Auto) or (own.mode.is_scaled and own.scale is None):
        raise ParameterError(
            f"{own.output} of channels that are filtered differently has no scale in common: take keep, real or "
            "a scale of (LO, HI)"
        )
    if observe is not None:
        raise ParameterError("channels that are filtered differently have no intermediate results in common")


def _by_channel(prepared: Prepared, planes: Array, of_pixels: PixelOptions) -> tuple[Array, Found]:
    """Filter the channels of a picture ``(channels, height, width)``, each by its own transfer function."""
    own = prepared.description
    channels = [prepared.alike(transfer) for transfer in own.transfer.of_channels(len(planes))]
    results, each = np.empty(0), list[Found]()
    for i, (channel, plane) in enumerate(zip(channels, planes, strict=True)):
        result, found = call(channel, plane, None, of_pixels)
        results = results if i else np.empty(planes.shape, result.dtype)
        results[i] = result
        each.append(found)
        if plane.size > LARGE:
            channel.close()
    prepared.engine = channels[-1].engine
    extremes, clipped, weak = Found.of_all(each)
    lows, highs = extremes.T
    return results, Found(np.array([(lows.min(), highs.max())]), [float(np.mean(clipped))], weak)


def _by_part(
    prepared: Prepared, planes: Array, has_colors: bool, of_pixels: PixelOptions, observe: Observe
) -> tuple[Array, Found]:
    """Filter the luminance or the chroma of a picture ``(channels, height, width)``; gray images have no chroma."""
    from ..output.luma import filtered_part

    own, inner, weak = prepared.description, prepared.of_values(channels=None), 0
    check_finite(planes)
    pixel = pixel_type(planes.dtype)
    gray = gray_of(of_pixels, pixel)

    def filtered(part: Array) -> Array:
        nonlocal weak
        result, found = call(inner, part, 0, {}, observe)
        weak += found.weak
        return result

    values = planes
    if has_colors:
        values = filtered_part(planes, own.channels, filtered)
        prepared.engine = inner.engine
    with np.errstate(over="ignore"):
        values = values.astype(prepared.launcher.real)
    count, height, width = planes.shape
    stack = Stack(count, height, width, pixel, gray.dtype, gray.levels, has_colors)
    largest = np.abs(values).reshape(stack.pictures, -1).max(axis=1)
    extremes = np.stack([np.zeros_like(largest), largest], axis=1)
    if own.mode.is_values:
        return values, Found(extremes, [0.0] * stack.pictures, weak)
    units, deviations = np.ones(stack.pictures), np.zeros(stack.pictures)
    rounding = ramps(own.output, None, units, gray=gray, samples=stack.samples)
    result, facts = on_ramps(values, stack, rounding, deviations)
    if has_colors and max(facts.undecided) > 1 and prepared.launcher.device.fp64:
        with suppress(TooLargeError):
            result, found = _by_part(prepared.in_double(), planes, has_colors, of_pixels, None)
            return result, found._replace(weak=1)
    return result, Found(extremes, facts.clipped.tolist(), weak)
