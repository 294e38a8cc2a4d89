"""A batch takes files through one device in bounded memory: reads, filters in stacks of one size, and writes.

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

from .. import system
from ..arrays import MOST_CHANNELS
from ..errors import DeviceError, FftfilterError
from ..transfer.screens import NOTHING
from ..work.file import filter_file, largest_of
from ..work.frames import Frame, filtered
from . import journal, steps
from .jobs import MEASURED, DeviceLostError, Job, Outcome, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from ..filters import Filter
    from ..transfer import Transfer
    from .steps import Loaded

    Key = tuple[object, ...]
    Array = NDArray[Any]

T = TypeVar("T")

# Pixels that make a launch worth its overhead: on a CPU, as many as its caches hold between the steps.
PIXELS_ON_GPU, PIXELS_ON_CPU = 1 << 22, 1 << 19
LARGEST_STACK = 32
# Bytes of decoded pictures that may wait, for others of their size or to be filtered.
WAITING_BYTES = 1 << 28


class Stacks:
    """Pictures that wait for others of their kind, to be filtered with them in one launch."""

    def __init__(self) -> None:
        self.nbytes = 0
        """Bytes of all that wait."""
        self._waiting: dict[Key, list[Loaded]] = {}
        self._alone: set[Key] = set()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, loaded: Loaded, pixels: int) -> list[Loaded]:
        """Add a picture; return the stack that is due, of about as many pixels, empty if none is."""
        frame = _frame(loaded)
        key = _key(frame)
        self._waiting.setdefault(key, []).append(loaded)
        self.nbytes += frame.picture.planes.nbytes
        if len(self._waiting[key]) >= self._largest(key, pixels):
            return self._pop(key)
        return self.pop() if self.nbytes > WAITING_BYTES else []

    def pop(self) -> list[Loaded]:
        """Return the stack that has waited longest."""
        return self._pop(next(iter(self._waiting)))

    def part(self, stack: Sequence[Loaded]) -> None:
        """Filter pictures of this kind one by one from now on: the stack was too large."""
        self._alone.add(_key(_frame(stack[0])))

    def _largest(self, key: Key, pixels: int) -> int:
        channels, height, width = cast("tuple[int, int, int]", key[0])
        # A color picture has one scale for its channels, and a stack of the narrowest looks like one: they go alone.
        if channels > 1 or width <= MOST_CHANNELS or key in self._alone:
            return 1
        return max(1, min(LARGEST_STACK, pixels // (height * width)))

    def _pop(self, key: Key) -> list[Loaded]:
        stack = self._waiting.pop(key)
        self.nbytes -= sum(_frame(loaded).picture.planes.nbytes for loaded in stack)
        return stack


class Batch:
    """An open device that does jobs with the same settings.

    ``device`` is as for :class:`Filter`; ``threads`` is the number of threads that read and write.
    """

    def __init__(self, settings: Settings, device: str | None = None, threads: int = 1) -> None:
        self.settings = settings
        self._device = device
        self._threads = threads = max(1, system.startable_threads(threads + system.SPARE_TASKS) - system.SPARE_TASKS)
        # With one thread, handing a file over to it costs as much as a small file.
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="codec") if threads > 1 else None
        self._submit: Callable[..., Future[Any]] = self._pool.submit if self._pool else system.at_once
        self._stacks = Stacks()
        self._joined = np.empty((0, 0, 0), np.uint8)
        self._transfer = settings.recipe.transfer

    def close(self) -> None:
        """End the threads and release the device's memory."""
        if self._pool:
            self._pool.shutdown(cancel_futures=True)
        if "_filter" in self.__dict__:
            self._filter.close()

    def run(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """Do all jobs and yield their outcomes.

        Raises what :class:`Filter` raises, and DeviceLostError if the device fails twice in a row.
        """
        reading: deque[Future[Loaded | Outcome]] = deque()
        writing: deque[Future[Outcome]] = deque()
        try:
            for job in jobs:
                reading.append(self._submit(steps.read, job, self.settings, self._device))
                while len(reading) > self._ahead:
                    yield from self._take(reading.popleft().result(), writing)
            while reading:
                yield from self._take(reading.popleft().result(), writing)
            while self._stacks:
                yield from self._filter_stack(self._stacks.pop(), writing)
        except DeviceLostError:
            # Filtered files are still written; their outcomes come before the error.
            for each in reading:
                each.cancel()
            yield from (each.result() for each in writing)
            raise
        yield from (each.result() for each in writing)

    @property
    def _ahead(self) -> int:
        """The number of files that may be read before they are filtered."""
        if self._threads == 1:
            return 0
        return 1 if self._stacks.nbytes > WAITING_BYTES else 2 * self._threads

    def _take(self, loaded: Loaded | Outcome, writing: deque[Future[Outcome]]) -> Iterator[Outcome]:
        """Let a file wait for others of its size, and filter the stack that is due."""
        if isinstance(loaded, Outcome):
            yield loaded
            return
        if self._transfer.lacks_pixel_size:
            self._transfer = loaded.opened.transfer
        if loaded.frame is None:
            yield self._filter_pages(loaded)
            return
        pixels = PIXELS_ON_GPU if self._filter.launcher.device.is_gpu else PIXELS_ON_CPU
        if stack := self._stacks.add(loaded, pixels):
            yield from self._filter_stack(stack, writing)
        while len(writing) > self._ahead:
            yield writing.popleft().result()

    # Filtering

    def _filter_stack(self, stack: list[Loaded], writing: deque[Future[Outcome]]) -> Iterator[Outcome]:
        """Filter a stack and begin to write its pictures; yield the outcomes of those that are not written."""
        began = time.perf_counter()
        try:
            self._try_twice(lambda: self._attempt(stack))
        except (FftfilterError, MemoryError) as error:
            if isinstance(error, DeviceLostError):
                raise
            if len(stack) == 1:
                yield steps.failed(stack[0].outcome, error)
                return
            # One of them may be too large, or all at once.
            self._stacks.part(stack)
            for loaded in stack:
                yield from self._filter_stack([loaded], writing)
            return
        share = (time.perf_counter() - began) / len(stack)
        for loaded in stack:
            loaded.outcome.seconds["filter"] = share
            loaded.outcome.device = self._filter.launcher.device.name
            if self.settings.measure_only:
                loaded.outcome.status = MEASURED
                yield loaded.outcome
            else:
                writing.append(self._submit(steps.write, loaded, self.settings, self._device))

    def _attempt(self, stack: Sequence[Loaded]) -> None:
        """Filter pictures, and note the results."""
        frames = [_frame(loaded) for loaded in stack]
        self._filter_by(frames[0].transfer)
        made = filtered(self._filter, frames, self.settings.filters_by, joined=self._join)
        for loaded, frame, each in zip(stack, frames, made, strict=True):
            loaded.made, loaded.outcome.clipped = each, each.clipped
            loaded.outcome.notes = [each.note] if each.note else []
            loaded.outcome.cautions += [each.note] if each.note == NOTHING else []
            loaded.outcome.extremes = each.extremes if self.settings.extremes else None
            if self.settings.measure_only:
                loaded.outcome.peak = each.largest(frame.picture.maxval)

    def _join(self, pictures: Sequence[Array]) -> Array:
        """Return gray pictures as one array, in the memory of the last one: new memory costs time."""
        first = pictures[0]
        shape = (len(pictures), *first.shape[1:])
        if self._joined.shape != shape or self._joined.dtype != first.dtype:
            self._joined = self._filter.empty(shape, first.dtype)
        return np.concatenate(pictures, out=self._joined)

    def _filter_pages(self, loaded: Loaded) -> Outcome:
        """Filter a file of several pages, and write it; return its outcome."""
        began = time.perf_counter()
        outcome = loaded.outcome
        try:
            with closing(loaded.opened):
                self._try_twice(lambda: self._attempt_pages(loaded))
        except (FftfilterError, MemoryError) as error:
            if isinstance(error, DeviceLostError):
                raise
            return steps.failed(outcome, error)
        outcome.seconds["filter"] = time.perf_counter() - began
        outcome.device = self._filter.launcher.device.name
        return outcome

    def _attempt_pages(self, loaded: Loaded) -> None:
        settings, outcome, opened = self.settings, loaded.outcome, loaded.opened
        self._filter_by(opened.transfer)
        outcome.pages = len(opened.pages)
        if settings.measure_only:
            outcome.peak, outcome.status = largest_of(opened, self._filter, self._submit), MEASURED
            return
        target, spare, compare = outcome.job.target, loaded.spare, outcome.job.verify
        done = steps.with_folder(
            target,
            settings,
            lambda: filter_file(opened, target, self._filter, spare=spare, compare=compare, submit=self._submit),
        )
        outcome.shape, outcome.dtype, outcome.clipped = done.shape, done.dtype, done.clipped
        outcome.cautions, outcome.left_out, outcome.difference = done.cautions, done.left_out, done.difference
        outcome.notes, outcome.extremes = done.notes, done.extremes if settings.extremes else None
        outcome.stamp = journal.stamp(target)

    # The filter

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

    def _open(self) -> Filter:
        return self.settings.filters_by.open(self._transfer, self._device)

    def _filter_by(self, transfer: Transfer) -> None:
        """Open another filter, if files have pixels of another size."""
        if transfer != self._transfer:
            self._filter.close()
            self._transfer, self._joined = transfer, np.empty((0, 0, 0), np.uint8)
            self._filter = self._open()


def _frame(loaded: Loaded) -> Frame:
    """Return the picture of a file that has one."""
    assert loaded.frame  # noqa: S101  pages go another way
    return loaded.frame


def _key(frame: Frame) -> Key:
    """Return a value that is the same for all pictures that may be in a stack."""
    picture = frame.picture
    return picture.planes.shape, picture.planes.dtype, picture.maxval, frame.depth, frame.transfer
