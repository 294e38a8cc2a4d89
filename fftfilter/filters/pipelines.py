"""A filter on its device: chooses the pipeline of a picture, and keeps it for the next."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..device_choice import FUSED, NUMPY, asks_for_staged, launcher_on
from ..errors import ParameterError, TooLargeError
from ..fused import device_bytes, fused, mirrors, serves
from ..output.histogram import ByHistogram, Ramps
from ..output.modes import Auto
from ..output.ramp import PIXELS, Facts, Gray, Stack, on_ramps, ramps, real_of
from ..output.rounding import UNEVEN, deviation
from ..plain import NumPyDevice, NumPyLauncher, NumPyPipeline
from ..plain import buffer_bytes as bytes_by_numpy
from .description import Description

if TYPE_CHECKING:
    from ..arrays import Array
    from ..device.launcher import Launcher, PageLocked, Pipeline
    from ..device.opencl import Device
    from ..fused.gpu.pipeline import FusedGpuPipeline, Stream
    from ..transfer import Transfer
    from ..transfer.product import Edges

# Images of a stream that are on their way through a GPU before the first result is waited for.
ON_THEIR_WAY = 3
# The algorithm for double precision on a GPU, the fastest on most; a CPU is faster by NumPy's engine.
IN_DOUBLE = "stockham"
# Samples that a CPU filters before it has woken another thread.
IN_CALLER = 1 << 14
# Pipelines that a filter keeps for the sizes that it met, and the bytes that those beside the last one may take.
MOST_KEPT, MOST_BYTES = 64, 64 << 20


@dataclass(eq=False)
class Kept:
    """A pipeline that is kept for its stack, and what belongs to it."""

    pipeline: Pipeline
    engine: str
    bytes: int
    stream: Stream | None = None


class Prepared:
    """A described filter on its device, with all that the next call can use again; for one thread at a time.

    No object here refers back to it, so that its memory is released with the last reference to it.
    """

    def __init__(self, description: Description, launcher: Launcher) -> None:
        self.description, self.launcher = description, launcher
        self.engine = NUMPY if isinstance(launcher, NumPyLauncher) else description.engine.name
        """The name of the engine that filtered last."""
        self.ramps = lru_cache(MOST_KEPT)(partial(ramps_of, description))
        """:func:`ramps_of` a stack, kept as pipelines are."""
        self.gains = lru_cache(MOST_KEPT)(partial(gains, description))
        """:func:`gains` of a size."""
        self._kept: OrderedDict[Stack, Kept] = OrderedDict()  # the last used one last
        self._page_locked: PageLocked | None = None
        self._others: dict[object, Prepared] = {}  # with another transfer function, or other options

    def alike(self, transfer: Transfer | None = None, **other: Any) -> Prepared:
        """Return the same filter with another transfer function or with ``other`` options, kept for the next call."""
        transfer, options = transfer or self.description.transfer, {**self.description.options, **other}
        key = (transfer, options.get("output", ""), options.get("channels"))
        if key not in self._others:
            self._others[key] = Prepared(Description(transfer, options), self.launcher)
        return self._others[key]

    def of_values(self, transfer: Transfer | None = None, **other: Any) -> Prepared:
        """Return the filter whose output are the filtered values, by default with the same transfer function."""
        return self.alike(transfer or self.description.on_grid, output="real", scale=None, depth=None, **other)

    def at_dc(self, shape: tuple[int, ...]) -> Array:
        """Return H(0) for the channels of a picture ``(channels, height, width)``: (channels or 1, 1, 1)."""
        transfers = self.description.transfer.of_channels(shape[0])
        own = [self.alike(each) if len(transfers) > 1 else self for each in transfers]
        return np.array([each.gains(*shape[1:])[1] for each in own])[:, None, None]

    def in_double(self) -> Prepared:
        """Return the same filter in double precision: by NumPy, on a GPU by the staged pipeline."""
        key, own, device = "double", self.description, self.launcher.device
        if key not in self._others:
            on_gpu = None if own.volume else IN_DOUBLE  # products of matrices have no algorithm
            by_default = on_gpu if device.is_gpu and device.fp64 else NUMPY
            name = own.engine.name if own.engine.algorithm else by_default
            on = cast("Device", NumPyDevice()) if name == NUMPY else device
            options = {**own.options, "precision": "double", "engine": name, "device": None}
            self._others[key] = Prepared(Description(own.transfer, options), launcher_on(on, options))
        return self._others[key]

    def pipeline_for(self, stack: Stack) -> Pipeline:
        """Return the pipeline for a stack, one that is kept or a new one. Raises what pipelines raise."""
        kept, last = self._kept.get(stack), next(reversed(self._kept.values()), None)
        if last is not kept:
            self._wait(last)
        if kept is None:
            needed = self.device_bytes(stack.shape)
            while self._kept and (len(self._kept) >= MOST_KEPT or self.bytes + needed > MOST_BYTES):
                self._kept.popitem(last=False)
            kept = self._kept[stack] = Kept(self._for_edges(stack), self.engine, needed)
        self._kept.move_to_end(stack)
        self.engine = kept.engine
        return kept.pipeline

    @property
    def pipeline(self) -> Pipeline | None:
        """The pipeline that filtered last."""
        last = next(reversed(self._kept.values()), None)
        return last.pipeline if last else None

    @property
    def bytes(self) -> int:
        """The bytes of the pipelines that are kept, also for other options."""
        kept = sum(each.bytes for each in self._kept.values())
        return kept + sum(each.bytes for each in self._others.values())

    @staticmethod
    def _wait(last: Kept | None) -> None:
        if last and last.stream:  # which may read the caller's memory
            last.stream.wait_until_read()

    def _for_edges(self, stack: Stack) -> Pipeline:
        described = self.description
        if described.volume:
            from .volumes import StagedVolumePipeline, VolumePipeline

            if asks_for_staged(described.options):
                self.engine = described.engine.name
                return StagedVolumePipeline(self.launcher, described, stack)
            self.engine = NUMPY if isinstance(self.launcher, NumPyLauncher) else FUSED
            if self.launcher.device.is_gpu:
                from .gpu_volumes import GpuVolumePipeline

                with suppress(TooLargeError):
                    return GpuVolumePipeline(self.launcher, described, stack)
            return VolumePipeline(self.launcher, described, stack)
        described.grid(stack.height, stack.width)  # raises what does not fit, in the numbers that were given
        if isinstance(self.launcher, NumPyLauncher):
            return NumPyPipeline(self.launcher, described.on_grid, stack, described.edges)
        if not self._is_doubled(stack.height, stack.width):
            return self._of_engine(described.on_grid, stack, described.edges)
        value = self.launcher.real if described.transfer.is_real else self.launcher.complex
        return Mirrored(self._of_engine, described.on_grid, stack, value)

    def _of_engine(self, transfer: Transfer, stack: Stack, edges: Edges = "wrap") -> Pipeline:
        if self._is_fused(stack.height, stack.width):
            self.engine = FUSED
            launcher = self.launcher.in_caller if stack.size <= IN_CALLER else self.launcher
            return fused(launcher, transfer, stack, edges)
        from ..staged.pipeline import StagedPipeline

        algorithm = self.description.engine.staged
        self.engine = algorithm.name
        transpose = self.description.transpose
        return StagedPipeline(self.launcher, transfer, stack, algorithm=algorithm, transpose_kind=transpose)

    def _is_fused(self, height: int, width: int) -> bool:
        return self.description.engine.is_fused(serves=serves(self.launcher.device, height, width))

    def _is_doubled(self, height: int, width: int) -> bool:
        """Whether mirrored edges take a picture of twice each side, as the engine does not mirror by itself."""
        described = self.description
        by_itself = described.engine.algorithm is None and mirrors(self.launcher.device, height, width)
        return described.edges == "mirror" and not by_itself

    def device_bytes(self, shape: tuple[int, int, int]) -> int:
        """Return how many bytes of the device a stack ``(count, height, width)`` takes, tables not counted."""
        described, (count, height, width) = self.description, shape
        if isinstance(self.launcher, NumPyLauncher):
            return bytes_by_numpy(shape, self.launcher.real, described.edges)
        if is_doubled := self._is_doubled(height, width):
            height, width = 2 * height, 2 * width
        if self._is_fused(height, width):
            is_mirrored = described.edges == "mirror" and not is_doubled
            inverses = 2 if is_mirrored and not described.transfer.is_even_along_axes else 1
            real = described.mode.is_values or is_doubled or described.channels is not None
            return device_bytes(self.launcher.device, (count, height, width), real=real, inverses=inverses)
        from ..staged.pipeline import buffer_bytes

        return buffer_bytes(described.engine.staged, (count, height, width), described.options.get("precision"))

    def retuned(self, description: Description) -> Prepared:
        """Return one for another transfer function, with the pipeline of this one if it can be tuned; close this one.

        The fused form for CPUs keeps its buffers and its program.
        """
        made = Prepared(description, self.launcher)
        made._page_locked = self._page_locked
        stack, last = next(reversed(self._kept.items()), (None, None))
        self.close()
        retune = getattr(last and last.pipeline, "retune", None)
        if stack and last and retune is not None and made.engine == FUSED:
            with suppress(ParameterError):  # it may fit the next picture
                if retune(description.on_grid):
                    made._kept[stack] = replace(last, stream=None)
        return made

    def stream(self) -> Stream | None:
        """Return the stream through the last pipeline; None where nothing would overlap."""
        last = next(reversed(self._kept.values()))
        if self.engine != FUSED or not self.launcher.device.is_gpu or isinstance(last.pipeline, Mirrored):
            return None
        if last.stream is None:
            from ..fused.gpu.pipeline import Stream

            with suppress(TooLargeError):
                last.stream = Stream(cast("FusedGpuPipeline", last.pipeline), self.page_locked())
        return last.stream

    def page_locked(self) -> PageLocked:
        """Return the page-locked memory for arrays of a GPU."""
        if self._page_locked is None:
            from ..device.launcher import PageLocked

            self._page_locked = PageLocked(self.launcher)
        return self._page_locked

    def close(self) -> None:
        """Release the device's memory."""
        self._wait(next(reversed(self._kept.values()), None))
        self._kept.clear()
        self.ramps.cache_clear()
        while self._others:
            self._others.popitem()[1].close()


def ramps_of(description: Description, exponents: bytes, gray: Gray, samples: int) -> Ramps:
    """Return the ramps of pictures whose floats were divided by 2^exponent, int32 in ``exponents``.

    None stands for the pipeline's own: values as they are, or magnitudes of each picture's own range.
    """
    mode = description.mode
    if not mode.needs_ramps(description.scale) and (mode.is_values or gray.dtype in PIXELS):
        return None
    with np.errstate(over="ignore"):
        units = np.ldexp(description.transfer.largest, np.frombuffer(exponents, np.int32))
    return ramps_on_host(description, gray, samples, units)


def ramps_on_host(description: Description, gray: Gray, samples: int, units: Sequence[float] | Array = (1.0,)) -> Ramps:
    """Return the ramps of pictures of ``samples`` each, None for values as they are; ``units`` as :func:`ramps`."""
    if isinstance(description.scale, Auto):
        return ByHistogram(description.output, description.scale, gray.dtype, gray.levels)
    if description.mode.is_values:
        return None
    return ramps(description.output, description.scale, units, gray=gray, samples=samples)


def gains(description: Description, height: int, width: int) -> tuple[float, float]:
    """Return the part of rounding errors that passes, and H(0).

    The first is the root mean square of the gains, divided by the largest gain, which counts as ``UNEVEN`` further
    frequencies.
    """
    grid, total, most = description.grid(height, width), 0.0, 0.0
    for gain in grid.transfer.bands(grid.height, grid.width):
        parts = np.abs(gain) / description.transfer.largest
        squares = np.square(parts, out=parts)
        total, most = total + float(squares.sum()), max(most, float(squares.max()))
    passing = (total + most * UNEVEN) / (grid.height * grid.width)
    return float(np.sqrt(min(passing, 1))), float(grid.transfer.gain(grid.height, grid.width, 1, 1)[0, 0].real)


class Mirrored:
    """Mirrored edges by any pipeline: it filters the image with its mirror images beside it, and the image is cut out.

    The plain way, right for every transfer function, engine and size, and four times the work. The fused forms do with
    the image alone, on GPUs for sides that a work-group holds.

    ``make`` returns the pipeline of a stack that repeats; ``value`` is the type of its filtered values as they are,
    complex where a transfer function makes complex ones.
    """

    def __init__(
        self, make: Callable[[Transfer, Stack], Pipeline], transfer: Transfer, stack: Stack, value: np.dtype[Any]
    ) -> None:
        self._stack = stack
        whole = replace(stack, height=2 * stack.height, width=2 * stack.width, out=value, white=None)
        self._pipeline = make(transfer.on_twice_the_sides(), whole)
        self.weak = self._pipeline.weak

    def run(self, images: Array, ramps: Ramps = None, **options: Any) -> Array:
        """Filter images ``(count, height, width)``, and return their pixels; ``options`` are the pipeline's own."""
        stack = self._stack
        values = self._pipeline.run(self.whole(images), **options)[:, : stack.height, : stack.width]
        far = deviation(images).reshape(stack.pictures, -1).max(axis=1)
        if values.dtype.kind == "c":
            # Only a magnitude of a picture's own range is that of complex values.
            values = np.abs(values) if ramps is None and stack.white is not None else real_of(values, ramps)
        result, self._facts = on_ramps(values, stack, ramps, far)
        return np.ascontiguousarray(result)

    @staticmethod
    def whole(images: Array) -> Array:
        """Return images with their mirror images beside them: what is filtered."""
        _, height, width = images.shape
        return np.pad(images, ((0, 0), (0, height), (0, width)), "symmetric")

    def facts(self) -> Facts:
        """Return facts about the pictures of the last run."""
        return self._facts
