""":class:`Filter`: one filter on one device, a plan to use again."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .errors import ParameterError, TooLargeError
from .fused import fused, serves
from .fused import memory as fused_memory
from .launch import Launcher, Timing
from .pixels import PIXELS
from .selftest import open_device
from .transfer import Mask, transfer
from .tuning import remembered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import TracebackType
    from typing import Self

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from .algorithms import Algorithm, Option
    from .fused import FusedPipeline
    from .fused_gpu import FusedGpuPipeline
    from .parameters import Given
    from .pipeline import StagedPipeline
    from .stream import PageLocked, Stream

    Extremes = Callable[[], list[tuple[float, float]]]

OUTPUTS = ("magnitude", "real")
FUSED = "fused"
# Pictures of a stream that are begun before a result is asked for: one less than have room on their way.
IN_FLIGHT = 3


class Pending:
    """A picture that :meth:`Filter.start` has begun: :meth:`result` waits for it and returns it."""

    def __init__(
        self,
        land: Callable[[], NDArray[Any]],
        finish: Callable[[NDArray[Any]], NDArray[Any]],
        extremes: Extremes,
        *,
        flies: bool,
    ) -> None:
        self._land, self._finish = land, finish
        self._result: NDArray[Any] | None = None
        self.extremes = extremes
        """Returns what :meth:`Filter.extremes` does, of this picture; until four more are begun."""
        self.flies = flies
        """Whether the device works on it while the caller does something else."""

    def result(self) -> NDArray[Any]:
        """Return the filtered picture, as a call of the filter does; the caller's to keep."""
        if self._result is None:
            self._result = self._finish(self._land())
        return self._result


class Filter:
    """A filter to use again: one transfer function on one device.

    ``kind`` is lowpass or highpass with ``radius`` (default n/8), bandpass or bandstop with ``inner`` and
    ``outer``; n is the image's shorter side. A radius is a number of cycles across it, or a text with a unit:
    ``"8px"`` (period), ``"0.125cyc"`` (cycles per pixel), ``"25%"`` (of Nyquist). ``shape`` is ideal,
    gaussian or butterworth with ``order``. The kind mask has any real gain for each frequency instead: ``mask`` is an
    array of the images' own size, ``(height, width)``, DC in the corner as ``numpy.fft.fft2`` has it.

    ``device`` is auto, gpu, cpu, an index or a part of a name. ``output`` "magnitude" is the normalized picture
    of the input's type, "real" the filtered values as they are, float.

    ``engine`` is "fused", the fast one, or the name of an algorithm for the staged pipeline, with options of its
    own in ``engine_options`` (``{"radix": 8}`` for stockham). Only the staged pipeline has a ``precision`` of double,
    a ``work_group_size``, a ``transpose`` (tiled, plain, float4; by default the algorithm's own), and masks with H(-k)
    other than H(k), whose result is complex ("real" is its real part): without an ``engine``, asking for one of them
    takes "book", and so does an image too long for the fused form of a GPU. The attribute ``engine`` says which one
    filtered last.

    What ``fftfilter bench tune`` has found on the device is made use of unless ``tune`` is False: the result is the
    same.

    Raises ParameterError for values that cannot be meant, DeviceError without a usable device.
    """

    def __init__(
        self,
        kind: str,
        *,
        radius: Given | None = None,
        inner: Given | None = None,
        outer: Given | None = None,
        shape: str = "ideal",
        order: int | None = None,
        mask: ArrayLike | None = None,
        engine: str | None = None,
        engine_options: Mapping[str, Option] | None = None,
        device: str | int | None = None,
        precision: str = "single",
        tune: bool = True,
        work_group_size: int | None = None,
        transpose: str | None = None,
        output: str = "magnitude",
        profile: bool = False,
    ) -> None:
        _check("output", output, OUTPUTS)
        if transpose is not None:
            from .steps.transpose import TRANSPOSES

            _check("transpose", transpose, TRANSPOSES)
        self.transfer = transfer(kind, radius=radius, inner=inner, outer=outer, shape=shape, order=order, mask=mask)
        self._gain = self.transfer.scale if isinstance(self.transfer, Mask) else 1.0
        staged = {
            "double precision": precision == "double",
            "work-group size": work_group_size is not None,
            "choice of transpose": transpose is not None,
            "mask with H(-k) other than H(k)": isinstance(self.transfer, Mask) and not self.transfer.is_even,
            "options": bool(engine_options),
        }
        self._insists = engine == FUSED
        self.engine = engine or ("book" if any(staged.values()) else FUSED)
        self._algorithm = None
        if self.engine != FUSED:
            self._algorithm = _algorithm(self.engine, **(engine_options or {}))
        elif any(staged.values()):
            wanted = " and no ".join(what for what, asked in staged.items() if asked)
            raise ParameterError(f"the fused engine has no {wanted}: leave the engine out, or choose book")
        self._output, self._tune = output, tune
        self.workers: int | None = None
        """How many of a CPU's compute units the fused engine takes, None for all: fewer leave cores to others."""
        self._transpose = transpose
        self.launcher = Launcher(
            open_device(device), precision=precision, work_group_size=work_group_size, profile=profile
        )
        self._key: tuple[object, ...] = ()
        self._extremes: Extremes | None = None
        self._pipeline: StagedPipeline | FusedPipeline | None = None
        self._stream: Stream | None = None
        self._page_locked: PageLocked | None = None

    def __call__(
        self,
        image: ArrayLike,
        *,
        channel_axis: int | None = None,
        dtype: DTypeLike | None = None,
        levels: int | None = None,
        observe: Callable[[str, NDArray[Any]], None] | None = None,
    ) -> NDArray[Any]:
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
        return self._begun(image, channel_axis, dtype, levels, observe=observe).result()

    def start(
        self,
        image: ArrayLike,
        *,
        channel_axis: int | None = None,
        dtype: DTypeLike | None = None,
        levels: int | None = None,
    ) -> Pending:
        """Begin to filter an image or a stack as a call does.

        The image may be changed when this returns; an array of :meth:`empty` when one more has been begun.
        The fused engine on a GPU copies in, filters and copies out at the same time if several are begun before the
        first result is asked for; four are enough. Everything else has its result at once.
        """
        return self._begun(image, channel_axis, dtype, levels, flies=True)

    def stream(
        self,
        images: Iterable[ArrayLike],
        *,
        channel_axis: int | None = None,
        dtype: DTypeLike | None = None,
        levels: int | None = None,
    ) -> Iterator[NDArray[Any]]:
        """Filter images or stacks one after the other, as calls do, and yield their results in order.

        On a GPU copies and filters overlap, as :meth:`start` says: of the ``images``, three more than were yielded are
        asked for. An image has been read before the next one is asked for, so that a generator may fill the same
        array again. Arrays of :meth:`empty`, which a GPU reads without another copy, have to be two in turn: one is
        read while the next is filled.
        """
        flying: deque[Pending] = deque()

        def first() -> NDArray[Any]:
            pending = flying.popleft()
            self._extremes = pending.extremes
            return pending.result()

        for image in images:
            flying.append(self.start(image, channel_axis=channel_axis, dtype=dtype, levels=levels))
            while flying and (len(flying) > IN_FLIGHT or not flying[-1].flies):
                yield first()
        while flying:
            yield first()

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike = np.uint8) -> NDArray[Any]:
        """Return an array to be filled with images and filtered, not initialized.

        For a GPU it lies in page-locked memory, from which the device copies by itself, and which is used again when
        the array is gone; up to 256 MiB of it.
        """
        if not self.launcher.device.is_gpu:
            return np.empty(shape, dtype)
        return self._locked().empty(shape, dtype)

    def _begun(
        self,
        image: ArrayLike,
        channel_axis: int | None,
        dtype: DTypeLike | None,
        levels: int | None,
        *,
        observe: Callable[[str, NDArray[Any]], None] | None = None,
        flies: bool = False,
    ) -> Pending:
        array = np.asarray(image)
        axes = (2, 3) if channel_axis is None else (3,)
        if array.ndim not in axes or array.size == 0 or array.dtype.kind not in "biuf":
            raise ParameterError(
                f"an array of shape {array.shape} and type {array.dtype} is no image: give real numbers of shape "
                "(height, width), a stack (count, height, width), or channels with channel_axis"
            )
        stack = array if channel_axis is None else np.moveaxis(array, channel_axis, 0)
        stack = stack.reshape(-1, *stack.shape[-2:])
        pixel = pixel_type(stack.dtype)
        out = pixel if dtype is None else np.dtype(dtype)
        if out not in PIXELS:
            raise ParameterError(f"output type {out} is unknown: choose {', '.join(str(known) for known in PIXELS)}")
        if observe is not None and self._algorithm is None:
            raise ParameterError("the fused engine has no intermediate results: choose another one, for example book")
        pipeline = self._prepared(stack.shape, pixel, out, levels, one_scale=channel_axis is not None)
        stack, exponent = _pixels(stack, pixel)
        # Not self: what a filter keeps must not keep the filter, or its memory would wait for the garbage collector.
        gain, is_real = self._gain, self._output == "real"

        def finish(result: NDArray[Any]) -> NDArray[Any]:
            if is_real:
                result = _in_grey_levels(result, exponent, gain)
            return result.reshape(array.shape) if channel_axis is None else np.moveaxis(result, 0, channel_axis)

        def extremes(of: Callable[[], NDArray[Any]]) -> list[tuple[float, float]]:
            found = _in_grey_levels(of().astype(np.float64), exponent, gain)
            return [(float(low), float(high)) for low, high in found]

        stream = self._streaming(pipeline) if flies else None
        if stream is not None:
            flight = stream.put(stack)
            pending = Pending(flight.result, finish, partial(extremes, flight.extremes), flies=True)
        else:
            run: Callable[..., NDArray[Any]] = pipeline.run
            if self.engine != FUSED:
                run = partial(run, observe=observe)
            pending = Pending(partial(run, stack), finish, partial(extremes, pipeline.extremes), flies=False)
            pending.result()
        self._extremes = pending.extremes
        return pending

    def extremes(self) -> list[tuple[float, float]]:
        """Return the smallest and largest magnitude of each picture of the last call, in the input's grey levels.

        While :meth:`stream` runs, those of the result that it has yielded last.
        """
        return [] if self._extremes is None else self._extremes()

    def memory(self, shape: tuple[int, int, int]) -> int:
        """Return how many bytes of the device a stack ``(count, height, width)`` takes, tables not counted."""
        if self._algorithm is None and (self._insists or serves(self.launcher.device, *shape[1:])):
            return fused_memory(self.launcher.device, shape, real=self._output == "real")
        from .pipeline import buffer_bytes

        return buffer_bytes(self._algorithm or _algorithm("book"), shape, self.launcher.complex)

    def timings(self) -> list[Timing]:
        """Return the time of each step on the device since the last call; needs ``profile=True``."""
        return self.launcher.timings()

    def close(self) -> None:
        """Give the device's memory back; a later call takes it again."""
        if self._stream is not None:
            self._stream.settle()
        self._key, self._pipeline, self._stream, self._extremes = (), None, None, None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _locked(self) -> PageLocked:
        if self._page_locked is None:
            from .stream import PageLocked

            self._page_locked = PageLocked(self.launcher)
        return self._page_locked

    def _streaming(self, pipeline: StagedPipeline | FusedPipeline) -> Stream | None:
        """Return the stream through a pipeline, the last one if it fits; None where nothing would overlap."""
        if self.engine != FUSED or not self.launcher.device.is_gpu:
            return None
        if self._stream is None:
            from .stream import Stream

            with suppress(TooLargeError):
                self._stream = Stream(cast("FusedGpuPipeline", pipeline), self._locked())
        return self._stream

    def _prepared(
        self,
        shape: tuple[int, ...],
        pixel: np.dtype[Any],
        out: np.dtype[Any],
        levels: int | None,
        *,
        one_scale: bool,
    ) -> StagedPipeline | FusedPipeline:
        """Return the pipeline for such stacks: the last one, if it fits."""
        white: int | None = _white(levels, out)
        if self._output == "real":
            out, white = self.launcher.real, None
        key = (shape, pixel, out, white, one_scale, self.workers)
        if self._pipeline is None or key != self._key:
            self.close()
            count, height, width = shape
            algorithm = self._algorithm
            if algorithm is None and not self._insists and not serves(self.launcher.device, height, width):
                algorithm = _algorithm("book")
            self.engine = FUSED if algorithm is None else algorithm.name
            pipeline: Callable[..., StagedPipeline | FusedPipeline]
            if algorithm is None:
                tuned = remembered(self.launcher.device, (count, height, width), pixel) if self._tune else {}
                pipeline = partial(fused, tuning=tuned, workers=self.workers)
            else:
                from .pipeline import StagedPipeline

                pipeline = partial(StagedPipeline, algorithm=algorithm, transpose_kind=self._transpose)
            self._pipeline = pipeline(
                self.launcher,
                (count, height, width),
                pixel,
                self.transfer,
                out=out,
                levels=white,
                one_scale=one_scale,
            )
            self._key = key
        return self._pipeline


def _check(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise ParameterError(f"{what} {given!r} is unknown: choose {' or '.join(known)}")


def _algorithm(name: str, **options: Option) -> Algorithm:
    from . import algorithms  # the fused engine does without

    return algorithms.load(name, **options)


def pixel_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the device's pixel type for an array's: uint8 and uint16 as they are, bool as uint8, others float32."""
    if dtype.kind == "b":
        return np.dtype(np.uint8)
    native = dtype.newbyteorder("=")
    return native if native.kind == "u" and native in PIXELS else np.dtype(np.float32)


def _white(levels: int | None, out: np.dtype[Any]) -> int:
    """Return the output's white, by default its type's largest value; raises ParameterError."""
    most = 1 if out.kind == "f" else int(np.iinfo(out).max)
    if levels is None:
        return most
    if isinstance(levels, bool) or not isinstance(levels, int | np.integer) or not 1 <= levels <= most:
        raise ParameterError(f"levels {levels!r} are impossible for {out}: give a whole number from 1 to {most}")
    return int(levels)


def _pixels(stack: NDArray[Any], pixel: np.dtype[Any]) -> tuple[NDArray[Any], int]:
    """Return a stack as the device's pixels, floats divided by 2^exponent to lie within [-1, 1]."""
    if pixel.kind == "u":
        pixels = np.ascontiguousarray(stack, pixel)
        return (pixels * np.uint8(255) if stack.dtype.kind == "b" else pixels), 0
    wide = stack.astype(np.result_type(stack.dtype, np.float64), copy=False)
    finite = np.isfinite(wide)
    if not finite.all():
        first = tuple(int(i) for i in np.argwhere(~finite)[0][-2:])
        raise ParameterError(
            f"{int((~finite).sum())} values are NaN or infinite, the first at row {first[0]}, column {first[1]}: "
            "replace them, for example with numpy.nan_to_num"
        )
    exponent = int(np.frexp(np.max(np.abs(wide)))[1])
    return np.ascontiguousarray(np.ldexp(wide, -exponent), pixel), exponent


def _in_grey_levels(values: NDArray[Any], exponent: int, gain: float) -> NDArray[Any]:
    """Return a pipeline's values as those of the image and the mask as they were given."""
    if exponent:
        values = np.ldexp(values, exponent)
    # The product in float64: a gain beyond single precision must not make a NaN of 0.
    return values if gain == 1 else np.multiply(values, gain, dtype=np.float64).astype(values.dtype)
