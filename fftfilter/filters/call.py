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
from numpy.typing import ArrayLike

from ..arrays import as_numpy, check_finite, check_image, gray_of, largest_of, pixel_type, pixels_of, planes_of, scaled
from ..errors import MissingError, ParameterError, TooLargeError, is_masked
from ..missing import fill, filled, filled_by, waves_of
from ..output.modes import Auto, refuse_missing
from ..output.ramp import PIXELS, Facts, Gray, Stack, as_type, on_valid, pixels, ramps
from ..output.rounding import NOISE, WEAK, deviation, mean_deviation, spread, weak_below
from ..region import filtered_part
from .pipelines import Mirrored, ramps_on_host

if TYPE_CHECKING:
    from ..arrays import Array
    from ..device.launcher import Pipeline
    from ..fused.gpu.pipeline import Started
    from .description import PixelOptions
    from .pipelines import Prepared

    Observe = Callable[[str, Array], None] | None
    Begun = tuple[Started, Callable[[Array, Started], tuple["Array", "Found"]]]


class Found(NamedTuple):
    """Facts about the pictures of a call."""

    extremes: Array  # 0 and the largest magnitude of each, in the input's gray levels: (pictures, 2)
    clipped: list[float]  # the part of each one's samples that became black or white
    weak: int = 0  # how many were filtered once more

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
AS_FLOATS = Gray(1.0, np.dtype(np.float32), 1)


class Call:
    """An image ``(count, height, width)`` ready for its pipeline, and what becomes of its pixels."""

    def __init__(self, prepared: Prepared, image: ArrayLike, channel_axis: int | None, of_pixels: PixelOptions) -> None:
        self.prepared, self._axis = prepared, channel_axis
        self._given, self._shape = planes_of(image, channel_axis)
        pixel, real = pixel_type(self._given.dtype), prepared.launcher.real
        gray, number = gray_of(of_pixels, self._given.dtype), real if pixel.kind == "f" else pixel
        self._gray = gray  # also for what is filtered again, of another type
        is_values = prepared.description.mode.is_values
        # Types that devices do not have are made of real numbers.
        out, top = gray.dtype if gray.dtype in PIXELS and not is_values else real, None if is_values else gray.levels
        self._out = out if is_values else gray.dtype
        count, height, width = self._given.shape
        self.stack = Stack(count, height, width, number, out, top, channel_axis is not None)
        self.pipeline = prepared.pipeline_for(self.stack)
        self.pixels, self._exponents = pixels_of(self._given, self.stack)
        """Floats of each picture are divided by 2^exponent."""
        self.ramps = prepared.ramps(self._exponents.tobytes(), gray, self.stack.samples)
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
        result = result if result.dtype == self._out else as_type(result, self._out)
        weak = self._repeat_weak(done, facts, (result, extremes, clipped))
        result = result.reshape(self._shape) if self._axis is None else np.moveaxis(result, 0, self._axis)
        return result, Found(extremes, clipped, weak)

    def _in_gray_levels(self, values: Array, factor: float) -> Array:
        """Return values of each picture as those of what was given, times a factor."""
        if self.stack.pixel.kind == "f":
            # In place: another array of large pictures takes as much memory as all else.
            values = scaled(values, self._exponents, out=values)
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
                result[own], of_it = call(prepared.in_double(), again, axis, cast("PixelOptions", self._gray._asdict()))
                extremes[i], clipped[i] = of_it.extremes[0], of_it.clipped[0]
                weak += 1
        return weak


def call(
    prepared: Prepared, image: ArrayLike, channel_axis: int | None, of_pixels: PixelOptions, observe: Observe = None
) -> tuple[Array, Found]:
    """Filter an image, a stack or a picture as a whole, of which nothing is missing; raises MissingError for NaN."""
    if observe is not None and prepared.description.engine.algorithm is None:
        raise ParameterError(
            f"the {prepared.engine} engine has no intermediate results: choose another one, for example book"
        )
    ready = Call(prepared, image, channel_axis, of_pixels)
    run: Any = ready.pipeline.run
    result = run(ready.pixels, ready.ramps, **({} if observe is None else {"observe": observe}))
    return ready.finish(result, ready.pipeline)


def start(prepared: Prepared, image: ArrayLike, channel_axis: int | None, of_pixels: PixelOptions) -> Begun | None:
    """Begin to filter an image on a GPU, which copies it while it filters others; None where nothing overlaps.

    Return what waits for the pixels, and what makes of them what :func:`call` returns.
    """
    if is_masked(image) or not isinstance(image, np.ndarray) or not prepared.launcher.device.is_gpu:
        return None
    try:
        ready = Call(prepared, image, channel_axis, of_pixels)
    except MissingError:
        return None
    # What was rounded on its way to the device may be needed again as it was.
    stream = None if ready.is_rounded else prepared.stream()
    return None if stream is None else (stream.start(ready.pixels, ready.ramps), ready.finish)


# A picture by itself: channels that are filtered differently, or missing samples


def picture(
    prepared: Prepared, planes: Array, holes: Array | None, gray: Gray, observe: Observe = None
) -> tuple[Array, Found]:
    """Filter a picture ``(channels, height, width)``, some of whose samples may be missing, as :func:`call` does."""
    own, has_colors = prepared.description, len(planes) > 1
    is_by_channel = has_colors and own.transfer.is_by_channel
    if is_by_channel and (isinstance(own.scale, Auto) or (own.mode.is_scaled and own.scale is None)):
        raise ParameterError(
            f"{own.output} of channels that are filtered differently has no scale in common: take keep, real or "
            "a scale of (LO, HI)"
        )
    if is_by_channel and observe is not None:
        raise ParameterError("channels that are filtered differently have no intermediate results in common")
    if holes is not None and holes.any():
        return _on_valid(prepared, planes, holes, gray, observe)
    if own.channels and (has_colors or own.channels == "chroma"):
        return _by_part(prepared, planes, gray, observe)
    of_pixels = cast("PixelOptions", gray._asdict())
    if not is_by_channel:
        return call(prepared, planes, 0, of_pixels, observe)
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


def removed(prepared: Prepared, planes: Array, left: Array, holes: Array, gray: Gray) -> tuple[Array, Found]:
    """Return what is removed from a picture, of which some was subtracted before: ``left`` is the rest of it."""
    own, mode = prepared.description, prepared.description.mode
    values, found = picture(prepared.of_values(), left, holes, gray)
    values = values + (planes - left)
    by_own = ramps_on_host(own, gray, planes.size)
    of_output = gray._replace(dtype=prepared.launcher.real) if mode.is_values else gray
    made = on_valid(values, planes, holes, by_own, gray=of_output, deviation=float(deviation(planes).max()))
    return made.pixels, Found(np.array([(0.0, made.largest)]), [made.clipped], found.weak)


def _by_part(prepared: Prepared, planes: Array, gray: Gray, observe: Observe) -> tuple[Array, Found]:
    """Filter the luminance or the chroma of a picture ``(channels, height, width)``; gray ones have no chroma."""
    own, inner, weak = prepared.description, prepared.of_values(channels=None), 0
    check_finite(planes)

    def filtered(part: Array) -> Array:
        nonlocal weak
        result, found = call(inner, part, 0, {}, observe)
        weak += found.weak
        return result

    values = filtered_part(planes, own.channels, filtered)
    prepared.engine = inner.engine
    with np.errstate(over="ignore"):
        values = values.astype(prepared.launcher.real)
    if own.mode.is_values:
        return values, Found(np.array([(0, np.abs(values).max())], values.dtype), [0.0], weak)
    (ramp,) = ramps(own.output, None, gray=gray, samples=planes.size)
    made = pixels(values, ramp, 0.0, gray.dtype)
    if len(planes) > 1 and made.undecided * planes.size > max(1.5, planes.size / 750) and prepared.launcher.device.fp64:
        with suppress(TooLargeError):
            result, found = _by_part(prepared.in_double(), planes, gray, None)
            return result, found._replace(weak=1)
    return made.pixels, Found(np.array([(0, made.largest)]), [made.clipped], weak)


def _on_valid(
    prepared: Prepared, planes: Array, holes: Array, gray: Gray, observe: Observe = None
) -> tuple[Array, Found]:
    """Filter a picture with missing samples: they are filled, filtered with the others, and come back as they were.

    A device finds the range of a picture in all of its pixels, and here it is that of the valid ones: the pipeline
    returns filtered values, and the host makes pixels of them.
    """
    described, launcher = prepared.description, prepared.launcher
    is_values = described.mode.is_values
    if described.mode.is_absolute and not described.transfer.is_real:
        raise ParameterError("a magnitude of complex values takes no missing pixels: take output real, or fill them")
    whole, base, unit = _filled(prepared, planes, holes)
    own = ramps_on_host(described, gray, whole.size, [unit])
    far = float(deviation(whole).max()) * described.transfer.largest

    of_values = prepared.of_values()
    base = filtered_part(base, described.channels, lambda part: part * of_values.at_dc(whole.shape))
    of_unit, of_output = (unit, gray._replace(dtype=launcher.real)) if is_values else (1.0, gray)
    values, found = picture(of_values, whole, None, gray, observe)
    if is_values or base.any():  # 0 makes a zero of a -0
        values += base
    if is_values:
        values = scaled(values, round(np.log2(unit)))  # a unit beyond single precision is no factor for it
    made = on_valid(values, planes, holes, own, gray=of_output, deviation=far)
    is_undecided = made.undecided * holes.size > max(1.5, (holes.size - np.count_nonzero(holes)) / 750)
    # What went around the transforms may cancel what went through them.
    is_canceled = made.largest < WEAK * np.abs(base).max() * of_unit
    prepared.engine = of_values.engine
    if (found.weak or is_undecided or is_canceled) and launcher.real == np.float32 and launcher.device.fp64:
        # What fills the holes has to be as exact as the result.
        result, found = _on_valid(prepared.in_double(), planes, holes, gray)
        return result, found._replace(weak=1)
    return made.pixels, Found(np.array([(0.0, made.largest * unit / of_unit)]), [made.clipped], found.weak)


def _filled(prepared: Prepared, planes: Array, holes: Array) -> tuple[Array, Array, float]:
    """Fill a picture's holes with the values that the filter takes.

    Return the planes less a value of each, these values, and the unit that all are divided by.
    """
    # Each further array of the picture's size takes as long as a third of the filter.
    own, unit = planes.astype(np.result_type(planes, prepared.launcher.real)), 1.0
    if planes.dtype not in (np.uint8, np.uint16):
        # Floats of any size: sums of those near the end of single precision would leave it.
        np.copyto(own, 0, where=holes)
        if not np.isfinite(largest := max(own.max(), -own.min())):
            check_finite(own)
        exponent = min(int(np.frexp(largest)[1]), 1023)
        own, unit = scaled(own, -exponent), float(np.ldexp(1.0, exponent))
    waves = waves_of(prepared.description.transfer, holes)
    of_waves = None if waves is None else prepared.of_values(waves)
    whole, base = filled_by(
        own,
        holes,
        lambda part, holes: fill(prepared.launcher, part, holes),
        None if of_waves is None else lambda part: picture(of_waves, part, None, AS_FLOATS)[0],
    )
    return whole, base, unit


# Along other axes than those of pictures


def along_axes(prepared: Prepared, image: Array, of_pixels: PixelOptions) -> tuple[Array, Found]:
    """Filter an array along the axes of a description, volume by volume, as a filter's call does.

    Missing samples are filled plane by plane. Along one axis all of an array is one volume. Raises ParameterError.
    """
    volume: Any = prepared.description.volume
    places, count = volume.places(image), volume.number
    if not image.size:
        check_image(image.shape, image.dtype, None)  # raises
    last = (0,) if count == 1 else tuple(range(-count, 0))

    def volumes(array: Array) -> Array:
        """Return ``(volumes, depth, height, width)``."""
        moved = np.moveaxis(array, places, last)
        if count == 1:
            return moved.reshape(1, len(moved), -1, moved.shape[-1] if moved.ndim > 1 else 1)
        return moved.reshape(-1, *(1,) * (3 - count), *moved.shape[-count:])

    stack, holes, masked = volumes(np.asarray(image)), None, is_masked(image)
    missing = of_pixels.get("missing")
    if masked or missing is not None:
        holes = np.ma.getmaskarray(image)
        holes = volumes(holes if missing is None else holes | as_numpy(missing))
    each = [_volume(prepared, one, None if holes is None else holes[i], of_pixels) for i, one in enumerate(stack)]
    made = each[0][0] if len(each) == 1 else np.stack([result for result, _ in each])
    moved = np.moveaxis(image, places, last).shape
    result = np.moveaxis(made.reshape(moved), last, places)
    result = np.ma.MaskedArray(result, np.ma.getmaskarray(image)) if masked else result
    return result, Found.of_all([found for _, found in each])


def _volume(prepared: Prepared, planes: Array, holes: Array | None, of_pixels: PixelOptions) -> tuple[Array, Found]:
    """Filter a volume ``(depth, height, width)``; what is weak or undecided once more in double precision."""
    if holes is None or not holes.any():
        with suppress(MissingError):
            made, found = call(prepared, planes, 0, of_pixels)
            if getattr(prepared.pipeline, "is_weak", False) and prepared.launcher.real == np.float32:
                with suppress(TooLargeError):
                    again, found = call(prepared.in_double(), planes, 0, of_pixels)
                    return again.astype(made.dtype, copy=False), found._replace(weak=1)
            return made, found
    own = prepared.description
    refuse_missing(own.output)
    holes = np.logical_or(np.isnan(planes), False if holes is None else holes)
    if holes.all():
        return planes.copy(), Found(np.zeros((1, 2)), [0.0])
    made, found = _volume(prepared, filled(planes, holes, prepared.description.options.get("device")), None, of_pixels)
    return np.where(holes, planes.astype(made.dtype), made), found
