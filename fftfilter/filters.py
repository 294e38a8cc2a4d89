""":class:`Filter`: one transfer function on one device, to use again."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .device.choice import open_device
from .device.launcher import Launcher, Timing
from .errors import ParameterError, TooLargeError, check_option
from .fused import device_bytes, fused, serves
from .output.stack import PIXELS, Stack
from .transfer import Transfer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import TracebackType
    from typing import Self

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from .device.pipeline import Pipeline
    from .fused.gpu.pipeline import FusedGpuPipeline
    from .fused.gpu.stream import PageLocked, Started, Stream
    from .staged.algorithms import Algorithm, Option

    Array = NDArray[Any]
    Extremes = Callable[[], list[tuple[float, float]]]
    Finish = Callable[[Array], Array]

OUTPUTS = ("magnitude", "real")
FUSED = "fused"
# Images of a stream that are on their way through a GPU before the first result is waited for.
ON_THEIR_WAY = 3


class Filter:
    """A filter to use again: one transfer function on one device.

    ``transfer`` is made by the functions of ``fftfilter.transfer`` and may be a product of them.

    ``device`` is auto, gpu, cpu, an index or a part of a name. ``output`` "magnitude" is the normalized picture
    of the input's type, "real" the filtered values as they are, float.

    ``engine`` is "fused", the fast one, or the name of an algorithm for the staged pipeline, with options of its
    own in ``engine_options`` (``{"radix": 8}`` for stockham). Only the staged pipeline has a ``precision`` of double,
    a ``work_group_size``, a ``transpose`` (tiled, plain, float4; by default the algorithm's own), and transfer
    functions with H(-k) other than H(k), whose result is complex ("real" is its real part): without an ``engine``,
    asking for one of them takes "book", and so does an image too long for the fused form of a GPU. The attribute
    ``engine`` says which one filtered last.

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
        precision: str = "single",
        work_group_size: int | None = None,
        transpose: str | None = None,
        output: str = "magnitude",
        profile: bool = False,
    ) -> None:
        if not isinstance(transfer, Transfer):
            raise ParameterError(
                f"{transfer!r} is no transfer function: give one of fftfilter.transfer, such as transfer.highpass(64)"
            )
        _check("output", output, OUTPUTS)
        if transpose is not None:
            from .staged.steps.transpose import TRANSPOSES

            _check("transpose", transpose, TRANSPOSES)
        self.transfer = transfer
        staged_only = {
            "double precision": precision == "double",
            "work-group size": work_group_size is not None,
            "choice of transpose": transpose is not None,
            "mask with H(-k) other than H(k)": not transfer.is_even,
            "options": bool(engine_options),
        }
        needs_staged = any(staged_only.values())
        if engine == FUSED and needs_staged:
            wanted = " and no ".join(what for what, asked in staged_only.items() if asked)
            raise ParameterError(f"the fused engine has no {wanted}: leave the engine out, or choose book")
        self.engine = engine or ("book" if needs_staged else FUSED)
        self._insists_on_fused = engine == FUSED
        self._algorithm = None if self.engine == FUSED else _algorithm(self.engine, **(engine_options or {}))
        self._output, self._transpose = output, transpose
        self.launcher = Launcher(
            open_device(device, fused), precision=precision, work_group_size=work_group_size, profile=profile
        )
        self._stack: Stack | None = None
        self._extremes: Extremes | None = None
        self._pipeline: Pipeline | None = None
        self._stream: Stream | None = None
        self._page_locked: PageLocked | None = None

    def __call__(
        self,
        image: ArrayLike,
        *,
        channel_axis: int | None = None,
        dtype: DTypeLike | None = None,
        levels: int | None = None,
        observe: Callable[[str, Array], None] | None = None,
    ) -> Array:
        """Filter an image ``(height, width)`` or a stack of images ``(count, height, width)``.

        uint8 and uint16 give their own type, every other real type float32 from 0 to 1, unless ``dtype``
        asks for one of the three. ``levels`` is the output's white, by default the type's largest value; that of floats
        is 1.
        Each image of a stack has its own scale; with ``channel_axis`` the array is one picture with
        channels along that axis, and one scale for all.
        ``observe`` is called with the name and contents of every intermediate result, which the fused
        engine does not have.

        Raises ParameterError for an array that is no image, TooLargeError for one that the device cannot hold.
        """
        if observe is not None and self._algorithm is None:
            raise ParameterError("the fused engine has no intermediate results: choose another one, for example book")
        pipeline, images, finish = self._prepare(image, channel_axis, dtype, levels)
        run: Any = pipeline.run
        return finish(run(images) if observe is None else run(images, observe=observe))

    def stream(
        self,
        images: Iterable[ArrayLike],
        *,
        channel_axis: int | None = None,
        dtype: DTypeLike | None = None,
        levels: int | None = None,
    ) -> Iterator[Array]:
        """Filter images or stacks one after the other, as calls do, and yield their results in order.

        The fused engine on a GPU copies in, filters and copies out at the same time: of the ``images``, three more than
        were yielded are asked for. An image has been read before the next one is asked for, so that a generator may
        fill the same array again. Arrays of :meth:`empty`, which a GPU reads without another copy, have to be two in
        turn: one is read while the next is filled.
        """
        on_their_way: deque[tuple[Started, Finish, Extremes]] = deque()

        def first() -> Array:
            started, finish, self._extremes = on_their_way.popleft()
            return finish(started.result())

        for image in images:
            pipeline, pixels, finish = self._prepare(image, channel_axis, dtype, levels)
            extremes: Any = self._extremes
            stream = self._stream_of(pipeline)
            if stream is None:
                while on_their_way:
                    yield first()
                self._extremes = extremes
                yield finish(pipeline.run(pixels))
                continue
            started = stream.start(pixels)
            on_their_way.append((started, finish, partial(extremes, started.extremes)))
            if len(on_their_way) > ON_THEIR_WAY:
                yield first()
        while on_their_way:
            yield first()

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike = np.uint8) -> Array:
        """Return an array to be filled with images and filtered, not initialized.

        For a GPU it lies in page-locked memory, from which the device copies by itself, and which is used again when
        the array is gone; up to 256 MiB of it.
        """
        if not self.launcher.device.is_gpu:
            return np.empty(shape, dtype)
        return self._locked().empty(shape, dtype)

    def extremes(self) -> list[tuple[float, float]]:
        """Return the smallest and largest magnitude of each picture of the last call, in the input's grey levels.

        While :meth:`stream` runs, those of the result that it has yielded last.
        """
        return [] if self._extremes is None else self._extremes()

    def device_bytes(self, shape: tuple[int, int, int]) -> int:
        """Return how many bytes of the device a stack ``(count, height, width)`` takes, tables not counted."""
        if self._algorithm is None and (self._insists_on_fused or serves(self.launcher.device, *shape[1:])):
            return device_bytes(self.launcher.device, shape, real=self._output == "real")
        from .staged.pipeline import buffer_bytes

        return buffer_bytes(self._algorithm or _algorithm("book"), shape, self.launcher.complex)

    def timings(self) -> list[Timing]:
        """Return the time of each step on the device since the last call; needs ``profile=True``."""
        return self.launcher.timings()

    def close(self) -> None:
        """Release the device's memory; a later call takes it again."""
        if self._stream is not None:
            self._stream.wait_until_read()
        self._stack, self._pipeline, self._stream, self._extremes = None, None, None, None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _prepare(
        self, image: ArrayLike, channel_axis: int | None, dtype: DTypeLike | None, levels: int | None
    ) -> tuple[Pipeline, Array, Finish]:
        """Return the pipeline for an image, its pixels, and what turns the pipeline's result into the caller's."""
        array = np.asarray(image)
        axes = (2, 3) if channel_axis is None else (3,)
        if array.ndim not in axes or array.size == 0 or array.dtype.kind not in "biuf":
            raise ParameterError(
                f"an array of shape {array.shape} and type {array.dtype} is no image: give real numbers of shape "
                "(height, width), a stack (count, height, width), or channels with channel_axis"
            )
        planes = array if channel_axis is None else np.moveaxis(array, channel_axis, 0)
        planes = planes.reshape(-1, *planes.shape[-2:])
        pixel = pixel_type(planes.dtype)
        out = pixel if dtype is None else np.dtype(dtype)
        if out not in PIXELS:
            raise ParameterError(f"output type {out} is unknown: choose {', '.join(str(known) for known in PIXELS)}")
        white: int | None = _white(levels, out)
        if self._output == "real":
            out, white = self.launcher.real, None
        count, height, width = planes.shape
        stack = Stack(count, height, width, pixel, out, white, one_scale=channel_axis is not None)
        pipeline = self._pipeline_for(stack)
        pixels, exponent = _pixels(planes, pixel)
        # Not self: a result that is still to come must not keep the filter, whose memory would wait for the collector.
        factor, is_real = self.transfer.largest, self._output == "real"

        def finish(result: Array) -> Array:
            if is_real:
                result = _in_grey_levels(result, exponent, factor)
            return result.reshape(array.shape) if channel_axis is None else np.moveaxis(result, 0, channel_axis)

        def extremes(of: Callable[[], Array] = pipeline.extremes) -> list[tuple[float, float]]:
            found = _in_grey_levels(of().astype(np.float64), exponent, factor)
            return [(float(low), float(high)) for low, high in found]

        self._extremes = extremes
        return pipeline, pixels, finish

    def _pipeline_for(self, stack: Stack) -> Pipeline:
        """Return the pipeline for a stack: the last one, if it fits."""
        if self._pipeline is None or stack != self._stack:
            self.close()
            algorithm = self._algorithm
            if (
                algorithm is None
                and not self._insists_on_fused
                and not serves(self.launcher.device, stack.height, stack.width)
            ):
                algorithm = _algorithm("book")
            if algorithm is None:
                self._pipeline = fused(self.launcher, self.transfer, stack)
            else:
                from .staged.pipeline import StagedPipeline

                self._pipeline = StagedPipeline(
                    self.launcher, self.transfer, stack, algorithm=algorithm, transpose_kind=self._transpose
                )
            self.engine = FUSED if algorithm is None else algorithm.name
            self._stack = stack
        return self._pipeline

    def _locked(self) -> PageLocked:
        if self._page_locked is None:
            from .fused.gpu.stream import PageLocked

            self._page_locked = PageLocked(self.launcher)
        return self._page_locked

    def _stream_of(self, pipeline: Pipeline) -> Stream | None:
        """Return the stream through a pipeline, the last one if it fits; None where nothing would overlap."""
        if self.engine != FUSED or not self.launcher.device.is_gpu:
            return None
        if self._stream is None:
            from .fused.gpu.stream import Stream

            with suppress(TooLargeError):
                self._stream = Stream(cast("FusedGpuPipeline", pipeline), self._locked())
        return self._stream


def _check(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise ParameterError(f"{what} {given!r} is unknown: choose {' or '.join(known)}")


def _algorithm(name: str, **options: Option) -> Algorithm:
    from .staged import algorithms  # the fused engine does without

    check_option("engine", name, [FUSED, *algorithms.names()])
    return algorithms.load(name, **options)


def pixel_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the device's pixel type for an array's: uint8 and uint16 as they are, bool as uint8, others float32."""
    if dtype.kind == "b":
        return np.dtype(np.uint8)
    native = dtype.newbyteorder("=")
    return native if native.kind == "u" and native in PIXELS else np.dtype(np.float32)


def _white(levels: int | None, out: np.dtype[Any]) -> int:
    """Return the output's white, by default its type's largest value; raises ParameterError."""
    largest = 1 if out.kind == "f" else int(np.iinfo(out).max)
    if levels is None:
        return largest
    if isinstance(levels, bool) or not isinstance(levels, int | np.integer) or not 1 <= levels <= largest:
        raise ParameterError(f"levels {levels!r} are impossible for {out}: give a whole number from 1 to {largest}")
    return int(levels)


def _pixels(planes: Array, pixel: np.dtype[Any]) -> tuple[Array, int]:
    """Return planes as the device's pixels, floats divided by 2^exponent to lie within [-1, 1]."""
    if pixel.kind == "u":
        pixels = np.ascontiguousarray(planes, pixel)
        return (pixels * np.uint8(255) if planes.dtype.kind == "b" else pixels), 0
    wide = planes.astype(np.result_type(planes.dtype, np.float64), copy=False)
    finite = np.isfinite(wide)
    if not finite.all():
        first = tuple(int(i) for i in np.argwhere(~finite)[0][-2:])
        raise ParameterError(
            f"{int((~finite).sum())} values are NaN or infinite, the first at row {first[0]}, column {first[1]}: "
            "replace them, for example with numpy.nan_to_num"
        )
    exponent = int(np.frexp(np.max(np.abs(wide)))[1])
    return np.ascontiguousarray(np.ldexp(wide, -exponent), pixel), exponent


def _in_grey_levels(values: Array, exponent: int, factor: float) -> Array:
    """Return a pipeline's values as those of the image and the transfer function as they were given."""
    if exponent:
        values = np.ldexp(values, exponent)
    # The product in float64: a gain beyond single precision must not make a NaN of 0.
    return values if factor == 1 else np.multiply(values, factor, dtype=np.float64).astype(values.dtype)
