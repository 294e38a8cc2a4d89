"""Files through one device: read, filtered in stacks of one size, written, in bounded memory.

    jobs -> [threads: read, decode] -> stacks of one size -> filter -> [threads: encode, write] -> outcomes

Reading goes ahead of filtering and writing follows it: with several threads the three overlap, as decoders and encoders
let others run meanwhile. With one thread a file is read, filtered and written in turn.
"""

from __future__ import annotations

import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from .. import stacks, system
from ..arrays import MOST_CHANNELS
from ..errors import DeviceError, FftfilterError
from ..imagej_filter import open_filter
from . import codec, journal
from .codec import Opened
from .jobs import MEASURED, DeviceLostError, Job, Outcome, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from ..filters import Filter, PixelOptions
    from ..output.modes import Output
    from ..transfer import Transfer
    from .codec import Loaded

    Key = tuple[object, ...]
    Array = NDArray[Any]

T = TypeVar("T")

# Pixels that make a launch worth its overhead: on a CPU, as many as its caches hold between the steps.
PIXELS_ON_GPU, PIXELS_ON_CPU = 1 << 22, 1 << 19
LARGEST_STACK = 32
# Bytes of decoded pictures that may wait, for others of their size or to be filtered.
WAITING_BYTES = 1 << 28


class Batch:
    """A device with everything that a job needs, for one kind of settings.

    ``device`` is as for :class:`Filter`, ``threads`` how many read and write.
    """

    def __init__(self, settings: Settings, device: str | None = None, threads: int = 1) -> None:
        self.settings = settings
        self._device = device
        self._threads = threads = max(1, system.startable_threads(threads + system.SPARE_TASKS) - system.SPARE_TASKS)
        # With one thread, handing a file over to it costs as much as a small file.
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="codec") if threads > 1 else None
        self._waiting: dict[Key, list[Loaded]] = {}
        self._waiting_bytes = 0
        self._too_large: set[Key] = set()
        self._stack = np.empty((0, 0, 0), np.uint8)
        self._transfer = settings.transfer

    def close(self) -> None:
        """End the threads and release the device's memory."""
        if self._pool:
            self._pool.shutdown(cancel_futures=True)
        if "_filter" in self.__dict__:
            self._filter.close()

    def run(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """Do all jobs and yield what became of each.

        Raises what :class:`Filter` raises, and DeviceLostError if the device fails twice in a row.
        """
        reading: deque[Future[Loaded | Opened | Outcome]] = deque()
        writing: deque[Future[Outcome]] = deque()
        try:
            for job in jobs:
                reading.append(self._submit(codec.read, job, self.settings, self._device))
                while len(reading) > self._ahead:
                    yield from self._take(reading.popleft().result(), writing)
            while reading:
                yield from self._take(reading.popleft().result(), writing)
            while self._waiting:
                yield from self._filter_stack(self._pop(next(iter(self._waiting))), writing)
        except DeviceLostError:
            # What is filtered already is still written; its outcome comes before the error.
            for each in reading:
                each.cancel()
            yield from (each.result() for each in writing)
            raise
        yield from (each.result() for each in writing)

    @property
    def _ahead(self) -> int:
        """How many files may be read before they are filtered."""
        if self._threads == 1:
            return 0
        return 1 if self._waiting_bytes > WAITING_BYTES else 2 * self._threads

    def _submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        if self._pool:
            return self._pool.submit(work, *arguments)
        return system.at_once(work, *arguments)

    def _take(self, loaded: Loaded | Opened | Outcome, writing: deque[Future[Outcome]]) -> Iterator[Outcome]:
        """Let a file wait for others of its size, and filter the stacks that are due."""
        if isinstance(loaded, Outcome):
            yield loaded
            return
        if self._transfer.lacks_pixel_size:
            self._transfer = loaded.transfer
        if isinstance(loaded, Opened):
            yield self._filter_pages(loaded)
            return
        key = _key(loaded)
        self._waiting.setdefault(key, []).append(loaded)
        self._waiting_bytes += loaded.picture.planes.nbytes
        if len(self._waiting[key]) >= self._stack_size(key):
            yield from self._filter_stack(self._pop(key), writing)
        elif self._waiting_bytes > WAITING_BYTES:
            yield from self._filter_stack(self._pop(next(iter(self._waiting))), writing)
        while len(writing) > self._ahead:
            yield writing.popleft().result()

    def _stack_size(self, key: Key) -> int:
        channels, height, width = cast("tuple[int, int, int]", key[0])
        # A color picture has one scale for its channels, and a stack of the narrowest looks like one: they go alone.
        if channels > 1 or width <= MOST_CHANNELS or key in self._too_large:
            return 1
        return max(1, min(LARGEST_STACK, self._pixels_a_stack // (height * width)))

    def _pop(self, key: Key) -> list[Loaded]:
        stack = self._waiting.pop(key)
        self._waiting_bytes -= sum(loaded.picture.planes.nbytes for loaded in stack)
        return stack

    # Filtering

    def _filter_stack(self, stack: list[Loaded], writing: deque[Future[Outcome]]) -> Iterator[Outcome]:
        """Filter a stack and begin to write its pictures; yield the outcomes of those that are not written."""
        began = time.perf_counter()
        try:
            results = self._filtered(stack)
        except (FftfilterError, MemoryError) as error:
            if isinstance(error, DeviceLostError):
                raise
            if len(stack) == 1:
                yield codec.failed(stack[0].outcome, error)
                return
            # One of them may be too large, or all at once.
            self._too_large.add(_key(stack[0]))
            for loaded in stack:
                yield from self._filter_stack([loaded], writing)
            return
        share = (time.perf_counter() - began) / len(stack)
        for loaded, result in zip(stack, results, strict=True):
            loaded.outcome.seconds["filter"] = share
            loaded.outcome.device = self._filter.launcher.device.name
            if self.settings.measure_only:
                loaded.outcome.status = MEASURED
                yield loaded.outcome
                continue
            loaded.picture.planes, loaded.picture.maxval = result, loaded.depth.maxval
            writing.append(self._submit(codec.write, loaded, self.settings, self._device))

    def _filter_pages(self, opened: Opened) -> Outcome:
        """Filter a file of several pages, and write it; return its outcome."""
        began = time.perf_counter()
        outcome = opened.outcome
        try:
            with closing(opened.pages):
                self._try_twice(lambda: self._attempt_pages(opened))
        except (FftfilterError, MemoryError) as error:
            if isinstance(error, DeviceLostError):
                raise
            return codec.failed(outcome, error)
        outcome.seconds["filter"] = time.perf_counter() - began
        outcome.device = self._filter.launcher.device.name
        return outcome

    def _attempt_pages(self, opened: Opened) -> None:
        settings, outcome, pages = self.settings, opened.outcome, opened.pages
        self._filter_by(opened.transfer)
        way = codec.way_of(settings)
        outcome.pages = len(pages)
        if settings.measure_only:
            outcome.peak, outcome.status = stacks.largest(self._filter, pages, way, submit=self._submit), MEASURED
            return
        done = codec.with_folder(
            opened.job.target,
            settings,
            lambda: stacks.filter_pages(
                self._filter,
                pages,
                opened.job.target,
                way,
                one_scale=settings.scale_of_stack,
                times=opened.times,
                spare=opened.spare,
                compare=opened.job.verify,
                submit=self._submit,
            ),
        )
        outcome.shape, outcome.dtype, outcome.clipped = done.shape, done.dtype, done.clipped
        outcome.cautions, outcome.left_out, outcome.difference = done.cautions, done.left_out, done.difference
        outcome.extremes = done.extremes if settings.extremes else None
        outcome.stamp = journal.stamp(opened.job.target)

    def _filtered(self, stack: Sequence[Loaded]) -> list[Array]:
        return self._try_twice(lambda: self._attempt(stack))

    def _try_twice(self, attempt: Callable[[], T]) -> T:
        try:
            return attempt()
        except DeviceError:
            # A queue that has failed once stays useless; the device itself may be well.
            try:
                self._filter.close()
                self._filter = self._open()
                return attempt()
            except DeviceError as error:
                raise DeviceLostError(str(error)) from error

    @cached_property
    def _filter(self) -> Filter:
        """The filter, opened when the first files are being read."""
        return self._open()

    @cached_property
    def _pixels_a_stack(self) -> int:
        return PIXELS_ON_GPU if self._filter.launcher.device.is_gpu else PIXELS_ON_CPU

    def _open(self) -> Filter:
        settings = self.settings
        output: Output = "magnitude" if settings.measure_only else settings.output
        return open_filter(self._transfer, output, settings.scale, {**settings.options, "device": self._device})

    def _filter_by(self, transfer: Transfer) -> None:
        """Open another filter, if files have pixels of another size."""
        if transfer != self._transfer:
            self._filter.close()
            self._transfer, self._stack = transfer, np.empty((0, 0, 0), np.uint8)
            self._filter = self._open()

    def _attempt(self, stack: Sequence[Loaded]) -> list[Array]:
        """Return the new planes of each picture: exactly those that it would get alone."""
        self._filter_by(stack[0].transfer)
        depth, white = stack[0].depth, stack[0].picture.maxval
        of_pixels: PixelOptions = {"dtype": depth.dtype, "levels": depth.maxval, "white": white}
        if stack[0].stays(self.settings):
            return [loaded.picture.planes for loaded in stack]
        if len(stack) == 1:
            results = [self._filter(stack[0].picture.planes, channel_axis=0, **of_pixels)]
        else:
            images = self._stacked([loaded.picture.planes for loaded in stack])
            results = list(self._filter(images, **of_pixels)[:, None])
        found = zip(stack, results, self._filter.extremes(), self._filter.clipped(), strict=True)
        for loaded, result, extremes, clipped in found:
            loaded.outcome.clipped = clipped
            if self.settings.extremes:
                loaded.outcome.extremes = extremes
            if self.settings.measure_only and result.any():  # else it is all rounding noise
                loaded.outcome.peak = extremes[1] / white
        return results

    def _stacked(self, pictures: Sequence[Array]) -> Array:
        """Return gray pictures as one array, in the memory of the last one: new memory costs time."""
        first = pictures[0]
        shape = (len(pictures), *first.shape[1:])
        if self._stack.shape != shape or self._stack.dtype != first.dtype:
            self._stack = self._filter.empty(shape, first.dtype)
        return np.concatenate(pictures, out=self._stack)


def _key(loaded: Loaded) -> Key:
    """Return what pictures of a stack have in common."""
    picture = loaded.picture
    return picture.planes.shape, picture.planes.dtype, picture.maxval, loaded.depth, loaded.transfer
