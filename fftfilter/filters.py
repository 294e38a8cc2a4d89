""":class:`Filter`: one transfer function on one device, to use again."""

from __future__ import annotations

import threading
import warnings
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypedDict, cast

import numpy as np

from .arrays import pixel_type, pixels_of, planes_of, type_of_output, white_of_input, white_of_output
from .device.choice import check_process, open_device
from .device.launcher import Launcher, Timing
from .errors import ParameterError, TooLargeError, check_option
from .fused import device_bytes, fused, mirrors, serves
from .mirrored import Mirrored
from .output.histogram import ByHistogram
from .output.modes import MODES, Auto, Output, check_scale, scale_of
from .output.offset import mean_deviation, spread
from .output.ramp import ramps
from .output.rounding import NOISE
from .output.stack import Stack
from .transfer import Transfer
from .transfer.edges import EDGES, grid_with

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import TracebackType
    from typing import Self, Unpack

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from .device.device import Device
    from .device.launcher import Precision
    from .device.memory_pool import PageLocked
    from .device.pipeline import Pipeline
    from .fused.gpu.pipeline import FusedGpuPipeline
    from .fused.gpu.stream import Started, Stream
    from .output.histogram import Ramps
    from .output.modes import Scale
    from .staged.algorithms import Algorithm, Option
    from .staged.steps.transpose import Transpose
    from .transfer.edges import EdgedGrid, Edges

    Array = NDArray[Any]
    ScaleLike = tuple[float, float] | tuple[str, float] | Scale | str | None

FUSED = "fused"
# Images of a stream that are on their way through a GPU before the first result is waited for.
ON_THEIR_WAY = 3
LAUNCHER_OPTIONS = ("precision", "work_group_size", "profile")

# Floats of more bits lose some on their way into a single one: as much as if their deviation were this part of them.
LOST_AS_SINGLE = 0.1
# The algorithm of what is filtered once more in double precision: the fastest on most devices.
IN_DOUBLE = "stockham"


class FilterOptions(TypedDict, total=False):
    """What a filter takes beside its transfer function; see :class:`Filter`."""

    engine: str | None
    engine_options: Mapping[str, Option] | None
    device: str | int | None
    precision: Precision
    work_group_size: int | None
    transpose: Transpose | None
    output: Output
    scale: ScaleLike
    edges: Edges
    pixel_size: str | float | None


class PixelOptions(TypedDict, total=False):
    """What pixels a call gives; see :meth:`Filter.__call__`."""

    dtype: DTypeLike | None
    levels: int | None
    white: float | None


class Options(FilterOptions, PixelOptions):
    """What a single call takes beside the filter.

    ``engine``, ``engine_options``, ``device``, ``precision``, ``work_group_size``, ``transpose``, ``output``,
    ``scale``, ``edges`` and ``pixel_size`` are as :class:`Filter` takes them, ``dtype``, ``levels`` and ``white`` as
    :meth:`Filter.__call__` does.
    """


@dataclass(eq=False)
class _Call:
    """An image ``(count, height, width)`` ready for its pipeline."""

    transfer: Transfer
    stack: Stack
    pipeline: Pipeline
    pixels: Array
    exponents: NDArray[np.int32]
    """Floats of each picture are divided by 2^exponent."""
    given: Array
    """What the pixels were made of."""
    dtype: np.dtype[Any]
    """The output's type."""
    levels: int
    """The output's white."""
    white: float
    """The input's white."""
    ramps: Ramps
    """From the filtered values of each picture to the output's pixels, if they are no magnitudes of their own range."""
    channel_axis: int | None
    shape: tuple[int, ...]
    weak_below: float
    """No larger result is too weak for single precision."""

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


class Filter:
    """A filter to use again: one transfer function on one device.

    ``transfer`` is made by the functions of ``fftfilter.transfer`` and may be a product of them.

    ``device`` is auto, gpu, cpu, an index or a part of a name. ``output`` is

    - "magnitude": from 0, black, to the largest magnitude, white, truncated;
    - "keep": the input's grey levels with their mean, as if H(0) were 1, rounded and clipped; floats as they are;
    - "signed": 0 in the middle (128 of 255), the largest magnitude white and its negative black, rounded;
    - "real": the filtered values as they are, float.

    ``pixel_size``, such as "65nm" or "300dpi" (a number is in meters), is what radii in physical units need.

    ``scale`` of "magnitude" and "signed" is "each", every picture its own; "auto" or ("auto", P), every picture its own
    but for P percent of the samples, by default 0.35, which become black or white; or two grey levels (LO, HI) of the
    input, which become black and white.

    ``edges`` says what lies beyond the borders: "wrap", the image again, or "mirror", its mirror image, as if
    ``numpy.pad(image, "symmetric")`` to twice each side were filtered.

    ``engine`` is "fused", the fast one, or the name of an algorithm for the staged pipeline, with options of its
    own in ``engine_options`` (``{"radix": 8}`` for stockham). Only the staged pipeline has a ``precision`` of double,
    a ``work_group_size``, a ``transpose`` (tiled, plain, float4; by default the algorithm's own), and transfer
    functions with H(-k) other than H(k), whose result is complex ("real" is its real part): without an ``engine``,
    asking for one of them takes "book", and so does an image too long for the fused form of a GPU. The attribute
    ``engine`` says which one filtered last.

    Threads may share a filter: it filters one image at a time. Pickled and copied it is what it was made of, and
    opens its device with its first image; so it can be sent to other processes.

    A picture of which so little passes that single precision would show, or of which many levels lie next to an edge
    between two, is filtered once more in double precision by the staged pipeline, where the device has it.

    Raises ParameterError for invalid values, DeviceError without a usable device.

        from fftfilter import transfer as H
        with fftfilter.Filter(H.bandpass("20px", "4px"), device="gpu") as f:
            for image in images:
                out = f(image)
    """

    def __init__(
        self,
        transfer: Transfer,
        *,
        engine: str | None = None,
        engine_options: Mapping[str, Option] | None = None,
        device: str | int | None = None,
        precision: Precision = "single",
        work_group_size: int | None = None,
        transpose: Transpose | None = None,
        output: Output = "magnitude",
        scale: ScaleLike = None,
        edges: Edges = "wrap",
        pixel_size: str | float | None = None,
        profile: bool = False,
    ) -> None:
        self._describe(
            transfer,
            engine=engine,
            engine_options=engine_options,
            device=device,
            precision=precision,
            work_group_size=work_group_size,
            transpose=transpose,
            output=output,
            scale=scale,
            edges=edges,
            pixel_size=pixel_size,
            profile=profile,
        )
        _ = self.launcher  # without a usable device there is no filter

    def with_options(self, transfer: Transfer | None = None, **options: Unpack[FilterOptions]) -> Filter:
        """Return a filter as this one but for some options, or for its transfer function.

        It has the open device of this one, unless the options name another, and filters as one that is made anew.
        """
        made = unopened(type(self), self.transfer if transfer is None else transfer, {**self._options, **options})
        if made._options.get("device") == self._options.get("device"):
            made.launcher = made._queue_on(self.launcher.device)
        _ = made.launcher  # without a usable device there is no filter
        return made

    def again(self, transfer: Transfer | None = None, **options: Unpack[FilterOptions]) -> Filter:
        """Return what :meth:`with_options` does, whose old name this is."""
        warnings.warn("Filter.again is now called with_options", DeprecationWarning, stacklevel=2)
        return self.with_options(transfer, **options)

    def _describe(self, transfer: Transfer, *, profile: bool = False, **options: Unpack[FilterOptions]) -> None:
        """Check and keep what the filter is made of; no device is opened."""
        defaults: Mapping[str, Any] = Filter.__init__.__kwdefaults__ or {}
        given: dict[str, Any] = {**options, "profile": profile}
        if unknown := given.keys() - defaults.keys():
            raise TypeError(f"{type(self).__name__} has no option {min(unknown)!r}: it has {', '.join(defaults)}")
        check_transfer(transfer)
        if (pixel_size := options.get("pixel_size")) is not None:
            transfer = transfer.with_pixel_size(pixel_size)
        transfer.check_pixel_size()
        self.transfer = transfer
        self._output: Output = options.get("output", "magnitude")
        _check("output", self._output, tuple(MODES))
        self._mode = MODES[self._output]
        self._edges: Edges = options.get("edges", "wrap")
        _check("edges", self._edges, EDGES)
        self._scale = scale_of(options.get("scale"))
        check_scale(self._output, self._scale)
        if self._mode.is_absolute and self._mode.needs_ramps(self._scale) and not transfer.is_even:
            raise ParameterError("a magnitude of complex values has no scale: take output magnitude, and leave it out")
        self._choose_engine(options)
        self._options = {name: given[name] for name in defaults if given.get(name, defaults[name]) != defaults[name]}
        # What is on the grid: to keep the mean of an image is to filter with an H(0) of 1.
        self._on_grid = transfer.keeping_mean() if self._mode.keeps_mean else transfer
        # A pipeline has one set of buffers and of kernels, whose arguments are set before they are launched.
        self._lock = threading.RLock()
        self._begin()

    def _choose_engine(self, options: FilterOptions) -> None:
        """Choose between fused and staged, and the algorithm; raises ParameterError for what the engine has not."""
        engine, self._transpose = options.get("engine"), options.get("transpose")
        if self._transpose is not None:
            from .staged.steps.transpose import TRANSPOSES

            _check("transpose", self._transpose, TRANSPOSES)
        staged_only = {
            "double precision": options.get("precision") == "double",
            "work-group size": options.get("work_group_size") is not None,
            "choice of transpose": self._transpose is not None,
            "mask with H(-k) other than H(k)": not self.transfer.is_even,
            "options": bool(options.get("engine_options")),
        }
        needs_staged = any(staged_only.values())
        if engine == FUSED and needs_staged:
            wanted = " and no ".join(what for what, asked in staged_only.items() if asked)
            raise ParameterError(f"the fused engine has no {wanted}: leave the engine out, or choose book")
        self.engine = engine or ("book" if needs_staged else FUSED)
        self._insists_on_fused = engine == FUSED
        self._algorithm = (
            None if self.engine == FUSED else _algorithm(self.engine, **(options.get("engine_options") or {}))
        )

    def _begin(self) -> None:
        """Begin without a pipeline, and with nothing known of a last call."""
        self._stack: Stack | None = None
        self._found: Array = np.empty((0, 2))
        self._weak_below = 0.0
        self._clipped: list[float] = []
        self._weak = 0
        self._of_channels: dict[Transfer, Filter] = {}
        self._mean_gain_of: tuple[tuple[int, int], float] | None = None
        self._dc_of: tuple[tuple[int, int], float] | None = None
        self._ramps_of: tuple[tuple[Any, ...], Array] | None = None
        self._pipeline: Pipeline | None = None
        self._stream: Stream | None = None
        self._page_locked: PageLocked | None = None

    def retune(self, transfer: Transfer) -> None:
        """Filter with another transfer function from now on, with the same options, on the same open device.

        The fused form for CPUs keeps its buffers and its program, so that a new cutoff costs little more than an image.
        Raises ParameterError for a transfer function that does not fit the options, and leaves the filter as it was.
        Whether it fits a picture is known when that is filtered.

            with fftfilter.Filter(H.lowpass(10)) as f:
                for radius in range(10, 60):
                    f.retune(H.lowpass(radius))
                    out = f(image)
        """
        with self._alone():
            made = unopened(type(self), transfer, self._options)
            self.transfer, self._on_grid = made.transfer, made._on_grid
            self._algorithm = made._algorithm
            self._mean_gain_of, self._dc_of, self._ramps_of = made._mean_gain_of, made._dc_of, made._ramps_of
            # A pipeline that has none is made anew.
            retune, fits = getattr(self._pipeline, "retune", None), False
            try:
                with suppress(ParameterError):  # it may fit the next picture
                    fits = retune is not None and made.engine == FUSED and retune(self._on_grid)
            finally:
                if not fits or self._of_channels:
                    self.close()
            self.__dict__.pop("_in_double", None)
            self.engine = made.engine

    def __reduce__(self) -> tuple[Any, ...]:
        return unopened, (type(self), self.transfer, self._options)

    def __repr__(self) -> str:
        """Return what makes the same filter, with ``from fftfilter import Filter, transfer as H``."""
        options = "".join(f", {name}={value!r}" for name, value in self._options.items())
        return f"{type(self).__name__}({self.transfer!r}{options})"

    @cached_property
    def launcher(self) -> Launcher:
        """The queue on the device, opened on first use."""
        return self._queue_on(open_device(self._options.get("device"), fused))

    def _queue_on(self, device: Device) -> Launcher:
        return Launcher(device, **{name: self._options[name] for name in LAUNCHER_OPTIONS if name in self._options})

    def __call__(
        self,
        image: ArrayLike,
        *,
        channel_axis: int | None = None,
        dtype: DTypeLike | None = None,
        levels: int | None = None,
        white: float | None = None,
        observe: Callable[[str, Array], None] | None = None,
    ) -> Array:
        """Filter an image ``(height, width)`` or a stack of images ``(count, height, width)``.

        uint8 and uint16 give their own type, every other real type float32 from 0 to 1, unless ``dtype``
        asks for one of the three. ``levels`` is the output's white, by default the type's largest value; that of floats
        is 1. ``white`` is the input's, by default its type's largest value, 1 for floats; "keep" maps it to ``levels``.
        Each image of a stack has its own scale; with ``channel_axis`` the array is one picture with
        channels along that axis, and one scale for all. All channels are filtered: no array says which one is alpha.
        Filter the others, and put it back:

            out = rgba.copy()
            out[..., :3] = f(rgba[..., :3], channel_axis=-1)

        ``observe`` is called with the name and contents of every intermediate result, which the fused
        engine does not have.

        Notches of some channels alone are for pictures with a ``channel_axis``, and for outputs that have no scale in
        common ("keep", "real", a ``scale`` of (LO, HI)); pictures of one channel are filtered by all of them.

        Raises ParameterError for an array that is not an image, or has masked values, or looks like a color picture
        without its ``channel_axis``; TooLargeError for one that the device cannot hold.
        """
        with self._alone():
            if observe is not None and self._algorithm is None:
                raise ParameterError(
                    "the fused engine has no intermediate results: choose another one, for example book"
                )
            if channel_axis is not None and self.transfer.is_by_channel:
                of_pixels: PixelOptions = {"dtype": dtype, "levels": levels, "white": white}
                planes, _ = planes_of(image, channel_axis)
                if len(planes) > 1:
                    results = self._by_channel(planes, of_pixels, observes=observe is not None)
                    return np.moveaxis(results, 0, channel_axis)
            return self._run(self._prepare(image, channel_axis, dtype, levels, white), observe)

    def stream(
        self,
        images: Iterable[ArrayLike],
        *,
        channel_axis: int | None = None,
        dtype: DTypeLike | None = None,
        levels: int | None = None,
        white: float | None = None,
    ) -> Iterator[Array]:
        """Filter images or stacks one after the other, as calls do, and yield their results in order.

        The fused engine on a GPU copies in, filters and copies out at the same time: of the ``images``, three more than
        were yielded are asked for. An image has been read before the next one is asked for, so that a generator may
        fill the same array again. Arrays of :meth:`empty`, which a GPU reads without another copy, have to be two in
        turn: one is read while the next is filled.
        """
        call_again = partial(self, channel_axis=channel_axis, dtype=dtype, levels=levels, white=white)
        on_their_way: deque[tuple[Started, _Call]] = deque()

        def first() -> Array:
            started, call = on_their_way.popleft()
            result = started.result()
            with self._alone():
                # The filter may have been retuned meanwhile.
                tuned = self if call.transfer is self.transfer else self.with_options(call.transfer)
                picture = tuned._finish(call, result, started)
                self._found, self._clipped, self._weak = tuned._found, tuned._clipped, tuned._weak
                return picture

        for image in images:
            done = stream = None
            # Not while the next image is asked for, nor while a result is used: both may take long.
            with self._alone():
                if channel_axis is None or not self.transfer.is_by_channel:
                    call = self._prepare(image, channel_axis, dtype, levels, white)
                    # What was rounded on its way to the device may be needed again as it was.
                    stream = None if call.is_rounded else self._stream_of(call.pipeline)
                    if stream is not None:
                        on_their_way.append((stream.start(call.pixels, call.ramps), call))
                    elif not on_their_way:
                        done = self._run(call)
            while len(on_their_way) > (0 if stream is None else ON_THEIR_WAY):
                yield first()
            if stream is None:
                yield call_again(image) if done is None else done
        while on_their_way:
            yield first()

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike = np.uint8) -> Array:
        """Return an array to be filled with images and filtered, not initialized.

        For a GPU it lies in page-locked memory, from which the device copies by itself, and which is used again when
        the array is gone; up to 256 MiB of it.
        """
        with self._alone():
            if not self.launcher.device.is_gpu:
                return np.empty(shape, dtype)
            return self._locked().empty(shape, dtype)

    def extremes(self) -> list[tuple[float, float]]:
        """Return the smallest and largest magnitude of each picture of the last call, in the input's grey levels.

        While :meth:`stream` runs, those of the result that it has yielded last. The last call may be another thread's:
        threads that ask for extremes need a filter each.
        """
        return [(float(low), float(high)) for low, high in self._found]

    def clipped(self) -> list[float]:
        """Return the part of each picture's samples that the last call clipped to black or white; as :meth:`extremes`.

        Only "keep" and outputs with a scale clip.
        """
        return self._clipped

    def weak(self) -> int:
        """Return how many pictures of the last call were filtered once more, as single is not enough.

        That is in double precision, by the staged pipeline.
        """
        return self._weak

    def device_bytes(self, shape: tuple[int, int, int]) -> int:
        """Return how many bytes of the device a stack ``(count, height, width)`` takes, tables not counted."""
        doubled = self._edges == "mirror" and not self._mirrors_by_itself(*shape[1:])
        if doubled:
            shape = shape[0], 2 * shape[1], 2 * shape[2]
        if self._algorithm is None and (self._insists_on_fused or serves(self.launcher.device, *shape[1:])):
            is_twofold = self._edges == "mirror" and not doubled and not self.transfer.is_even_along_axes
            real = self._mode.is_values or doubled
            return device_bytes(self.launcher.device, shape, real=real, inverses=2 if is_twofold else 1)
        from .staged.pipeline import buffer_bytes

        return buffer_bytes(self._algorithm or _algorithm("book"), shape, self.launcher.complex)

    def timings(self) -> list[Timing]:
        """Return the time of each step on the device since the last call; needs ``profile=True``."""
        with self._alone():
            return self.launcher.timings()

    def close(self) -> None:
        """Release the device's memory, when no other thread filters; a later call takes it again."""
        with self._alone():
            if self._stream is not None:
                self._stream.wait_until_read()
            if "_in_double" in self.__dict__:
                self._in_double.close()
            while self._of_channels:
                self._of_channels.popitem()[1].close()
            self._stack, self._pipeline, self._stream, self._found = None, None, None, np.empty((0, 2))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _alone(self) -> threading.RLock:
        """Return the lock under which the device is used; raises DeviceError in a process that was forked."""
        check_process()
        return self._lock

    def _prepare(
        self,
        image: ArrayLike,
        channel_axis: int | None,
        dtype: DTypeLike | None,
        levels: int | None,
        given_white: float | None,
    ) -> _Call:
        """Return an image ready for its pipeline."""
        planes, shape = planes_of(image, channel_axis)
        pixel = pixel_type(planes.dtype)
        out, own_white = type_of_output(dtype, pixel), white_of_input(given_white, pixel)
        wanted = out, white_of_output(levels, out)
        count, height, width = planes.shape
        white: int | None = wanted[1]
        if self._mode.is_values:
            out, white = self.launcher.real, None
        if pixel.kind == "f":
            pixel = self.launcher.real
        stack = Stack(count, height, width, pixel, out, white, one_scale=channel_axis is not None)
        pipeline = self._pipeline_for(stack)
        pixels, exponents = pixels_of(planes, stack)
        return _Call(
            self.transfer,
            stack,
            pipeline,
            pixels,
            exponents,
            planes,
            *wanted,
            own_white,
            self._ramps(exponents, own_white, *wanted),
            channel_axis,
            shape,
            self._weak_below,
        )

    def _ramps(self, exponents: NDArray[np.int32], white: float, dtype: np.dtype[Any], maxval: int) -> Ramps:
        """Return the ramps of pictures whose floats were divided by 2^exponent: those of the last call, if they fit.

        None are the pipeline's own: values as they are, or magnitudes of each picture's own range.
        """
        if not self._mode.needs_ramps(self._scale):
            return None
        if isinstance(self._scale, Auto):
            return ByHistogram(self._output, self._scale, dtype, maxval)
        key = (exponents.tobytes(), white, dtype, maxval)
        if self._ramps_of is None or self._ramps_of[0] != key:
            with np.errstate(over="ignore"):
                units = np.ldexp(self.transfer.largest, exponents)
            made = ramps(self._output, self._scale, units, white=white, dtype=dtype, maxval=maxval)
            self._ramps_of = key, made
        return self._ramps_of[1]

    def _run(self, call: _Call, observe: Callable[[str, Array], None] | None = None) -> Array:
        run: Any = call.pipeline.run
        result = run(call.pixels, call.ramps, **({} if observe is None else {"observe": observe}))
        return self._finish(call, result, call.pipeline)

    def _finish(self, call: _Call, result: Array, done: Pipeline | Started) -> Array:
        """Return what has become of a stack as the caller wants it; keeps the extremes."""
        found = done.extremes()
        # Of a small image numpy's minimum would take a hundredth of its time.
        may_be_weak = call.weak_below > 0 and (min(found[:, 1].tolist()) < call.weak_below or max(done.undecided()) > 1)
        most = found[:, 1].astype(np.float64) if may_be_weak else None
        factor = self.transfer.largest
        if call.stack.pixel.kind == "f" or factor != 1:
            found = call.in_grey_levels(found.astype(np.float64), factor)
        clipped = [0.0] * call.stack.pictures if call.ramps is None else done.clipped().tolist()
        if self._mode.is_values:
            result = call.in_grey_levels(result, factor)
        self._weak = 0 if most is None else self._repeat_weak(call, most, done, (result, found, clipped))
        self._found, self._clipped = found, clipped
        return call.in_shape(result)

    def _gain_of_constants(self, size: tuple[int, int]) -> float:
        """Return H(0) on the grid of a size."""
        if self._dc_of is None or self._dc_of[0] != size:
            self._dc_of = size, self._grid(*size).at_dc()
        return self._dc_of[1]

    def _repeat_weak(
        self, call: _Call, most: Array, done: Pipeline | Started, into: tuple[Array, Array, list[float]]
    ) -> int:
        """Filter pictures whose results are too weak once more, in double precision; return how many these were.

        ``most`` is the largest magnitude of each picture, in the pixels' units. Pixels, extremes and what part is
        clipped go ``into`` where they are.
        """
        (result, found, clipped), weak = into, 0
        undecided = np.array(done.undecided()) > 1
        limit, deviations, least = call.pipeline.weak, done.deviations(), 0.0
        images, exponents = call.pixels if done is call.pipeline else cast("Started", done).images(), call.exponents
        is_above_noise = most > NOISE / 2 * deviations
        if call.is_rounded:
            images, exponents, least = call.given, np.zeros_like(exponents), LOST_AS_SINGLE
            is_above_noise[:] = True  # or not: only what was given can tell
        of_pixels: PixelOptions = {"white": call.white}
        if not self._mode.is_values:
            of_pixels |= {"dtype": call.dtype, "levels": call.levels}
        for i in np.flatnonzero(is_above_noise & (undecided | (most < limit * np.maximum(deviations, least)))):
            own = slice(None) if call.stack.one_scale else slice(i, i + 1)
            # Rounding grows with the mean of all deviations, not with the largest, as that of a hot pixel. The mean of
            # a wave is 1/sqrt 2.
            mean = np.sqrt(2) * spread(images[own]).max()
            # What goes through the transforms at the frequency 0 may cancel what went around them.
            with np.errstate(over="ignore", invalid="ignore"):  # beyond doubles, it is done again
                at_dc = np.abs(mean_deviation(images[own])).max() * self._gain_of_constants(images.shape[1:])
            to_pixels = exponents[i] - call.exponents[i]
            mean, at_dc = np.ldexp(mean, to_pixels), abs(np.ldexp(at_dc, to_pixels)) / self.transfer.largest
            enough = limit * max(self._mean_gain(call.stack) * max(mean, least), at_dc)
            if mean == 0 or (most[i] >= enough and not undecided[i]):
                continue
            again = images[own]
            if exponents[i]:
                again = np.ldexp(again.astype(np.float64), exponents[i])
            with suppress(TooLargeError):
                result[own] = self._in_double(again, channel_axis=0 if call.stack.one_scale else None, **of_pixels)
                found[i], clipped[i] = self._in_double.extremes()[0], self._in_double.clipped()[0]
                weak += 1
        return weak

    def _by_channel(self, planes: Array, of_pixels: PixelOptions, *, observes: bool) -> Array:
        """Filter the channels of a picture ``(channels, height, width)``, each by its own transfer function."""
        if isinstance(self._scale, Auto) or (self._mode.is_scaled and self._scale is None):
            raise ParameterError(
                f"{self._output} of channels that are filtered differently has no scale in common: take keep, real or "
                "a scale of (LO, HI)"
            )
        if observes:
            raise ParameterError("channels that are filtered differently have no intermediate results in common")
        with self._alone():
            results, extremes, clipped, weak = [], [], [], 0
            for plane, transfer in zip(planes, self.transfer.of_channels(len(planes)), strict=True):
                if transfer not in self._of_channels:
                    self._of_channels[transfer] = unopened(Filter, transfer, self._options)
                    self._of_channels[transfer].launcher = self.launcher
                own = self._of_channels[transfer]
                results.append(own(plane, **of_pixels))
                extremes += own.extremes()
                clipped += own.clipped()
                weak += own.weak()
            self.engine = own.engine
            self._found = np.array([(min(low for low, _ in extremes), max(high for _, high in extremes))])
            self._clipped, self._weak = [float(np.mean(clipped))], weak
            return np.stack(results)

    @cached_property
    def _in_double(self) -> Filter:
        """The same filter in double precision, by the staged pipeline."""
        options = {"engine": IN_DOUBLE, "precision": "double", "output": self._output, "scale": self._scale}
        made = unopened(Filter, self.transfer, {**options, "edges": self._edges})
        made.launcher = Launcher(self.launcher.device, precision="double")
        return made

    def _mirrors_by_itself(self, height: int, width: int) -> bool:
        """Whether the engine needs no picture of twice each side for mirrored edges."""
        return self._algorithm is None and mirrors(self.launcher.device, height, width)

    def _grid(self, height: int, width: int) -> EdgedGrid:
        return grid_with(self._edges, self._on_grid, height, width)

    def _mean_gain(self, stack: Stack) -> float:
        """Return the root of the mean square of the gains, of which none exceeds 1."""
        size = stack.height, stack.width
        if self._mean_gain_of is None or self._mean_gain_of[0] != size:
            gains = self._grid(*size).gain() / self.transfer.largest
            self._mean_gain_of = size, float(np.sqrt(np.mean(gains * gains)))
        return self._mean_gain_of[1]

    def _pipeline_for(self, stack: Stack) -> Pipeline:
        """Return the pipeline for a stack: the last one, if it fits."""
        if self._pipeline is None or stack != self._stack:
            self.close()
            self._grid(stack.height, stack.width)  # raises what does not fit, in the numbers that were given
            if self._edges == "wrap":
                self._pipeline = self._made(self._on_grid, stack)
            elif self._mirrors_by_itself(stack.height, stack.width):
                self._pipeline, self.engine = fused(self.launcher, self._on_grid, stack, self._edges), FUSED
            else:
                value = self.launcher.real if self.transfer.is_even else self.launcher.complex
                self._pipeline = Mirrored(self._made, self._on_grid, stack, value)
            # Without double precision, or in it already, nothing is done again.
            widest = 2.0 if stack.pixel.kind == "f" else float(np.iinfo(stack.pixel).max)
            may_repeat = self.launcher.real == np.float32 and self.launcher.device.fp64
            self._weak_below = self._pipeline.weak * widest if may_repeat else 0.0
            self._stack = stack
        return self._pipeline

    def _made(self, transfer: Transfer, stack: Stack) -> Pipeline:
        """Return a new pipeline of this filter's engine for a stack that repeats; keeps the engine's name."""
        algorithm = self._algorithm
        if algorithm is None and (self._insists_on_fused or serves(self.launcher.device, stack.height, stack.width)):
            self.engine = FUSED
            return fused(self.launcher, transfer, stack)
        from .staged.pipeline import StagedPipeline

        algorithm = algorithm or _algorithm("book")
        self.engine = algorithm.name
        return StagedPipeline(self.launcher, transfer, stack, algorithm=algorithm, transpose_kind=self._transpose)

    def _locked(self) -> PageLocked:
        if self._page_locked is None:
            from .device.memory_pool import PageLocked

            self._page_locked = PageLocked(self.launcher)
        return self._page_locked

    def _stream_of(self, pipeline: Pipeline) -> Stream | None:
        """Return the stream through a pipeline, the last one if it fits; None where nothing would overlap."""
        if self.engine != FUSED or not self.launcher.device.is_gpu or isinstance(pipeline, Mirrored):
            return None
        if self._stream is None:
            from .fused.gpu.stream import Stream

            with suppress(TooLargeError):
                self._stream = Stream(cast("FusedGpuPipeline", pipeline), self._locked())
        return self._stream


def split_options(options: Options) -> tuple[FilterOptions, PixelOptions]:
    """Return the options of a filter, and those of its calls; raises TypeError for what is neither."""
    for name in options.keys() - Options.__annotations__:
        raise TypeError(
            f"unexpected keyword argument {name!r}: further options are {', '.join(Options.__annotations__)}"
        )
    of_pixels = {name: value for name, value in options.items() if name in PixelOptions.__annotations__}
    of_filter = {name: value for name, value in options.items() if name not in of_pixels}
    return cast("FilterOptions", of_filter), cast("PixelOptions", of_pixels)


def unopened(kind: type[Filter], transfer: Transfer, options: Mapping[str, Any]) -> Filter:
    """Return a filter whose device is opened on first use; raises ParameterError and TypeError for invalid options."""
    made = kind.__new__(kind)
    made._describe(transfer, **options)
    return made


def check_transfer(given: object) -> None:
    """Raise ParameterError for what is not a transfer function."""
    if not isinstance(given, Transfer):
        raise ParameterError(
            f"{given!r} is not a transfer function: give one of fftfilter.transfer, such as transfer.highpass(64)"
        )


def _check(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise ParameterError(f"{what} {given!r} is unknown: choose {', '.join(known[:-1])} or {known[-1]}")


def _algorithm(name: str, **options: Option) -> Algorithm:
    from .staged import algorithms  # the fused engine does without

    check_option("engine", name, [FUSED, *algorithms.names()])
    return algorithms.load(name, **options)
