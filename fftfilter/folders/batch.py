"""A batch takes files through one device in bounded memory: reads, filters in stacks of one size, and writes.

    jobs -> [threads: read, decode] -> stacks of one size -> filter -> [threads: encode, write] -> outcomes

Reading goes ahead of filtering and writing follows it: with several threads the three overlap, as decoders and encoders
let others run meanwhile. With one thread a file is read, filtered and written in turn.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any, TypeVar

from .. import images, system
from ..arrays import MOST_CHANNELS
from ..errors import DeviceError, FftfilterError, ProcessError, WriteError
from ..files import sources, urls
from ..files.messages import FileName, as_error, quoted_if_odd
from ..files.sources import Folder, Inside
from ..files.urls import is_url
from ..images.reading import digest_of
from ..transfer.fitted import NOTHING
from ..transfer.ridges import NO_STRIPES
from ..work.opened import filter_frames, largest, open_input
from ..work.output_file import folder_of, make_output, read_ahead, write_picture
from . import journal
from .jobs import MOST_FAILURES, DeviceLostError, Job, Outcome, Settings

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ..filters import Filter
    from ..output.rounding import Difference
    from ..transfer import Transfer
    from ..work.opened import Frame, Made, Opened

    Key = tuple[object, ...]

T = TypeVar("T")

# Pixels that make a launch worth its overhead: on a CPU, as many as its caches hold between the steps.
PIXELS_ON_GPU, PIXELS_ON_CPU = 1 << 22, 1 << 19
LARGEST_STACK = 32
# Bytes of decoded pictures that may wait, for others of their size or to be filtered.
WAITING_BYTES = 1 << 28


@dataclass(eq=False)
class Loaded:
    """A job whose file was read, or is open because it has several pages."""

    outcome: Outcome
    opened: Opened
    picture: Frame | None
    """The picture, None for pages."""

    @property
    def frame(self) -> Frame:
        """That of a file with one picture."""
        assert self.picture  # noqa: S101  pages go another way
        return self.picture


class Stacks:
    """Pictures that wait for others of their kind, to be filtered with them in one launch."""

    def __init__(self) -> None:
        self.nbytes = 0
        """Bytes of all that wait."""
        self._waiting: dict[Key, list[Loaded]] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, loaded: Loaded, pixels: int) -> list[Loaded]:
        """Add a picture; return the stack that is due, of about as many pixels, empty if none is."""
        frame, picture = loaded.frame, loaded.frame.picture
        planes = picture.planes
        # What is the same for all pictures of a stack.
        key = planes.shape, planes.dtype, picture.maxval, frame.depth, frame.transfer
        stack = self._waiting.setdefault(key, [])
        stack.append(loaded)
        self.nbytes += planes.nbytes
        channels, height, width = planes.shape
        # A color picture has one scale for its channels, and a stack of the narrowest looks like one: they go alone.
        if channels > 1 or width <= MOST_CHANNELS or len(stack) >= min(LARGEST_STACK, pixels // (height * width)):
            return self.pop(key)
        return self.pop() if self.nbytes > WAITING_BYTES else []

    def pop(self, key: Key | None = None) -> list[Loaded]:
        """Return a stack, by default the one that has waited longest; what is beyond a power of two goes on waiting.

        So a filter meets few lengths of stacks, and keeps the pipelines of all.
        """
        key = key or next(iter(self._waiting))
        waiting = self._waiting.pop(key)
        stack = waiting[: 1 << len(waiting).bit_length() - 1]
        if rest := waiting[len(stack) :]:
            self._waiting[key] = rest
        self.nbytes -= sum(loaded.frame.picture.planes.nbytes for loaded in stack)
        return stack


class Batch:
    """An open device that does jobs with the same settings; ``threads`` read and write."""

    def __init__(self, settings: Settings, device: str | None = None, threads: int = 1) -> None:
        self.settings, urls.retries = settings, settings.retries
        self._recipe = settings.recipe
        self._device = device
        self._threads = threads
        # With one thread, handing a file over to it costs as much as a small file.
        self._pool = system.threads(threads, "codec") if threads > 1 else None
        self._stacks = Stacks()
        self._stack_pixels = 0
        self._folder: tuple[str, Folder | None] = "", None
        """The folder of the last output."""
        self._filter: Filter | None = None
        self._transfer = self._recipe.transfer
        """The filter's."""
        self._zarr: Opened | None = None
        """The input whose planes are the jobs, if they are."""

    def close(self) -> None:
        """End the threads and release the device's memory."""
        if self._pool:
            self._pool.shutdown(cancel_futures=True)
        self._close_filter()

    def _submit(self, work: Callable[..., T], /, *arguments: Any) -> Future[T]:
        if self._pool is None:
            return system.at_once(work, *arguments)
        try:
            return self._pool.submit(work, *arguments)
        except RuntimeError as error:
            why = "no more threads can be started to read and write: raise the limit on processes (ulimit -u)"
            raise ProcessError(why) from error

    def run(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """Do all jobs; yield their outcomes; raises what Filter raises, DeviceLostError if the device fails twice.

        The jobs end after :data:`MOST_FAILURES` in a row, and so does the run that gets these outcomes.
        """
        in_a_row = 0
        goes_on = takewhile(lambda _: in_a_row < MOST_FAILURES or self.settings.measure_only, jobs)
        for outcome in self._run(goes_on):
            in_a_row = in_a_row + 1 if outcome.failed_outside else 0
            yield outcome

    def _run(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        reading: deque[Future[Loaded | Outcome]] = deque()
        writing: deque[Future[Outcome]] = deque()
        try:
            for job in jobs:
                reading.append(self._submit(self._read, job))
                while len(reading) > self._ahead:
                    yield from self._take(reading.popleft().result(), writing)
            while reading:
                yield from self._take(reading.popleft().result(), writing)
            while self._stacks:
                yield from self._do_stack(self._stacks.pop(), writing)
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
        if self._threads == 1 or self._recipe.axes:  # a volume takes what memory is free when it is opened
            return 0
        return 1 if self._stacks.nbytes > WAITING_BYTES else 2 * self._threads

    def _take(self, loaded: Loaded | Outcome, writing: deque[Future[Outcome]]) -> Iterator[Outcome]:
        """Let a file wait for others of its size, and filter the stack that is due."""
        if isinstance(loaded, Outcome):
            yield loaded
            return
        if loaded.picture is None:
            yield self._do_pages(loaded)
            return
        if not self._stack_pixels:
            device = self._filter_for(loaded.opened.transfer).launcher.device
            self._stack_pixels = PIXELS_ON_GPU if device.is_gpu else PIXELS_ON_CPU
        if stack := self._stacks.add(loaded, self._stack_pixels):
            yield from self._do_stack(stack, writing)
        while len(writing) > self._ahead:
            yield writing.popleft().result()

    # Filtering

    def _do_stack(self, stack: list[Loaded], writing: deque[Future[Outcome]]) -> Iterator[Outcome]:
        """Filter a stack and begin to write its pictures; yield the outcomes of those that are not written."""
        began, frames = time.perf_counter(), [loaded.frame for loaded in stack]
        try:
            filter_, all_made = self._try_twice(
                frames[0].transfer, lambda filter_: filter_frames(filter_, frames, self._recipe)
            )
        except DeviceLostError:
            raise
        except (FftfilterError, MemoryError) as error:
            if len(stack) == 1:
                yield stack[0].outcome.fail(error)
                return
            # One of them may be too large, or all at once.
            for loaded in stack:
                yield from self._do_stack([loaded], writing)
            return
        share = (time.perf_counter() - began) / len(stack)
        for loaded, made in zip(stack, all_made, strict=True):
            outcome = loaded.outcome
            outcome.seconds["filter"], outcome.device = share, filter_.launcher.device.name
            outcome.note(loaded.frame, made, loaded.opened.recipe)
            outcome.cautions += _of_notes(loaded.opened, outcome)
            if self.settings.measure_only:
                outcome.peak, outcome.status = made.largest(loaded.frame.picture.maxval), "measured"
                yield outcome
            else:
                writing.append(self._submit(self._write, loaded, made))

    def _do_pages(self, loaded: Loaded) -> Outcome:
        """Filter a file of several pages, and write it; return its outcome."""
        began, outcome = time.perf_counter(), loaded.outcome
        try:
            with closing(loaded.opened):
                filter_, _ = self._try_twice(loaded.opened.transfer, partial(self._filter_pages, loaded))
        except DeviceLostError:
            raise
        except (FftfilterError, MemoryError) as error:
            return outcome.fail(error)
        outcome.seconds["filter"] = time.perf_counter() - began
        outcome.device = filter_.launcher.device.name
        return outcome

    def _filter_pages(self, loaded: Loaded, filter_: Filter) -> None:
        outcome, opened, target = loaded.outcome, loaded.opened, loaded.outcome.job.target
        outcome.pages = len(opened.pages)
        if self.settings.measure_only:
            pages = (page for page, _ in read_ahead(opened, self._submit))
            outcome.peak, outcome.status = largest(filter_, opened, pages), "measured"
            return
        show = partial(self._draw, loaded) if self.settings.preview else None
        job = outcome.job
        how: dict[str, Any] = {"compare": job.verify, "show": show, "submit": self._submit}
        done = self._with_folder(target, lambda place: make_output(opened, place, filter_, **how))
        done.cautions[:0] = outcome.cautions  # on its waves
        vars(outcome).update(vars(done))
        if not job.planes:  # of which the file's own run says so
            outcome.cautions += _of_notes(opened, outcome)
        outcome.stamp = journal.stamp(target)

    # The filter

    def _try_twice(self, transfer: Transfer, work: Callable[[Filter], T]) -> tuple[Filter, T]:
        """Return the filter, and what ``work`` makes with it; raises DeviceLostError if the device fails twice."""
        try:
            filter_ = self._filter_for(transfer)
            return filter_, work(filter_)
        except DeviceError:
            # A queue that has failed once stays useless; the device itself may be well.
            try:
                self._close_filter()
                filter_ = self._filter_for(transfer)
                return filter_, work(filter_)
            except DeviceError as error:
                raise DeviceLostError(str(error)) from error

    def _filter_for(self, transfer: Transfer) -> Filter:
        """Return the filter: opened for the first file, and anew for files of another transfer function."""
        if self._filter is None or transfer != self._transfer:
            self._close_filter()
            self._filter, self._transfer = self._recipe.open_filter(transfer, self._device), transfer
        return self._filter

    def _close_filter(self) -> None:
        filter_, self._filter = self._filter, None
        if filter_:
            filter_.close()

    # The file of a job, in any thread: an error becomes its outcome

    def _read(self, job: Job) -> Loaded | Outcome:
        """Read a file, or open one of several pages; return its outcome if it failed or needs no work."""
        began, outcome = time.perf_counter(), Outcome(job=job)
        settings, recipe, target, opened, stays_open = self.settings, self._recipe, job.target, None, False
        try:
            # A missing file is no input, and writing finds every other fault: a closer look costs as much as decoding.
            if not settings.measure_only and os.path.lexists(target):
                images.check_output(job.source, target, in_place=settings.in_place)
                if os.path.islink(target):  # noqa: PTH114  pathlib takes as long as a small file
                    settings.refuse_outside(target)
            times = sources.times(job.source) if recipe.preserve_times else None
            data = images.raw(job.source)
            outcome.digest, outcome.bytes = digest_of(job.source, data), len(data)
            done_before = outcome.digest == job.done_from and not settings.measure_only
            if done_before and not job.verify:
                if not isinstance(data, bytes):
                    data.close()
                outcome.status = "skipped"
                return outcome
            opened = self._open(outcome, data, times)
            if settings.in_place:
                opened.spare = ()
            outcome.pixel_size, outcome.peaks = opened.pixel_size, opened.peaks
            outcome.cautions += _of_waves(opened)
            frame, found = None, opened.found
            if isinstance(found, images.Pages):
                images.suffix_of_pages(target, recipe.format, len(found))
                found.chosen = job.planes or found.chosen
            else:
                outcome.shape, outcome.dtype = found.planes.shape, str(found.planes.dtype)
                frame = opened.frame(target, keep=job.verify or settings.preview)
                outcome.cautions += opened.cautions(frame)
            if done_before:
                _verify(outcome, lambda how: how.of_earlier(opened, target))
                outcome.status = "skipped"
                return outcome
            stays_open = True
        except (FftfilterError, MemoryError) as error:
            return outcome.fail(error)
        finally:
            if opened and not stays_open:
                opened.close()
            outcome.seconds["read"] = time.perf_counter() - began
        return Loaded(outcome, opened, frame)

    def _open(self, outcome: Outcome, data: sources.Content, times: sources.Times | None) -> Opened:
        """Return the input of a job; raises what :func:`open_input` raises."""
        job = outcome.job
        if job.planes and self._zarr:
            return self._zarr
        # Several processes would each take the memory that is free.
        how: dict[str, Any] = {"device": self._device, "by_strips": multiprocessing.parent_process() is None}
        opened = open_input(job.source, self._recipe, data=data, times=times, **how)
        self._zarr = opened if job.planes else None
        if opened.volumes and opened.volumes.is_large:
            opened.volumes.scratch = folder_of(job.target)
            outcome.cautions.append(f"larger than memory: filtered {opened.volumes.said()}")
        return opened

    def _write(self, loaded: Loaded, made: Made) -> Outcome:
        """Write a picture that was filtered."""
        began, outcome, frame, target = time.perf_counter(), loaded.outcome, loaded.frame, loaded.outcome.job.target
        try:
            outcome.left_out = self._with_folder(target, partial(write_picture, loaded.opened, frame, made))
            outcome.stamp = journal.stamp(target)
            if self.settings.preview:
                self._draw(loaded, frame)
            if outcome.job.verify:
                _verify(outcome, lambda how: how.of_file(frame, target, self._recipe))
        except (FftfilterError, MemoryError) as error:
            return outcome.fail(error)
        finally:
            outcome.seconds["write"] = time.perf_counter() - began
        return outcome

    def _draw(self, loaded: Loaded, frame: Frame) -> None:
        """Make the row of a picture, or of a stack's middle page, in the contact sheet."""
        from ..preview.page import row

        outcome, opened = loaded.outcome, loaded.opened
        name = f"{opened.name}{opened.middle_page}"
        report = opened.report(frame, self._device)
        outcome.row = row(report, frame.shown(), frame.picture.maxval, outcome.job.number, name)

    def _with_folder(self, target: str, work: Callable[[FileName], T]) -> T:
        """Write an output by ``work``, once more if its folder was removed meanwhile; raises WriteError."""
        try:
            return work(self._inside(target))
        except WriteError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
        return work(self._inside(target, make=True))

    def _inside(self, target: str, *, make: bool = False) -> FileName:
        """Return an output in its folder, held open: neither becomes a link after this look at them.

        Raises WriteError, and ParameterError for what lies out of the output, or in the input.
        """
        if is_url(target):
            self.settings.refuse_outside(target)
            return target
        path, name = os.path.split(target)
        if os.path.islink(target):  # noqa: PTH114
            self.settings.refuse_outside(target)
            path, name = os.path.split(os.path.realpath(target))
        given, folder = self._folder
        if given != path or not folder or not folder.is_in_place():
            with as_error(WriteError, f"{quoted_if_odd(path)}: cannot be {'made' if make else 'opened'}"):
                folder = self.settings.open_folder(path, make=make)
            self._folder = path, folder
        return Inside(target, folder, name)


def _of_waves(opened: Opened) -> list[str]:
    """Return a line if waves were looked for, and not all or none is removed."""
    if opened.too_few:
        return [f"{opened.name}: {opened.too_few}: no wave is removed"]
    if opened.left:
        return ["waves that look like a part of the picture stay: --insist removes them"]
    return []


def _of_notes(opened: Opened, outcome: Outcome) -> list[str]:
    """Return a line if nothing was found in a picture, or in a page."""
    auto = opened.recipe.auto
    if auto and opened.left is not None and not (opened.peaks or opened.left or any(outcome.notes)):
        from ..analysis.search import Left

        return [auto.nothing(Left())]
    return [line for line in (NOTHING, NO_STRIPES) if any(note.startswith(line) for note in outcome.notes)]


def _verify(outcome: Outcome, compare: Callable[[Any], Difference]) -> None:
    """Compare an output with the reference, by what ``compare`` calls of work/verify.py; raises VerifyError."""
    from ..work import verify  # for those who ask for it

    began = time.perf_counter()
    outcome.difference = compare(verify)
    outcome.seconds["verify"] = time.perf_counter() - began
    verify.check(outcome.difference, outcome.job.target)
