"""A batch takes files through one device in bounded memory: reads, filters in stacks of one size, and writes.

    jobs -> [threads: read, decode] -> stacks of one size -> filter -> [threads: encode, write] -> outcomes

Reading goes ahead of filtering and writing follows it: with several threads the three overlap, as decoders and encoders
let others run meanwhile. With one thread a file is read, filtered and written in turn.
"""

from __future__ import annotations

import errno
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from .. import images, system
from ..arrays import MOST_CHANNELS
from ..errors import DeviceError, FftfilterError, ParameterError, WriteError
from ..files import sources
from ..files.messages import quoted_if_odd, reason
from ..transfer.fitted import NOTHING
from ..transfer.ridges import NO_STRIPES
from ..work.file import filter_file, read_ahead, write
from ..work.opened import filled, filtered, largest, open_
from . import journal
from .jobs import DONE, FAILED, MEASURED, SKIPPED, DeviceLostError, Job, Outcome, Settings, is_inside

if TYPE_CHECKING:
    from ..filters import Filter
    from ..output.difference import Difference
    from ..preview.sheet import Row
    from ..transfer import Transfer
    from ..work.opened import Frame, Made, Opened

    Key = tuple[object, ...]

T = TypeVar("T")

# Pixels that make a launch worth its overhead: on a CPU, as many as its caches hold between the steps.
PIXELS_ON_GPU, PIXELS_ON_CPU = 1 << 22, 1 << 19
LARGEST_STACK = 32
# Bytes of decoded pictures that may wait, for others of their size or to be filtered.
WAITING_BYTES = 1 << 28
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


@dataclass(eq=False)
class Loaded:
    """A job whose file was read, or is open because it has several pages."""

    outcome: Outcome
    opened: Opened
    picture: Frame | None
    """The picture, None for pages."""
    spare: Sequence[sources.Identity | None]
    """The file that was opened, unless its output may replace it."""

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
        self._alone: set[Key] = set()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, loaded: Loaded, pixels: int) -> list[Loaded]:
        """Add a picture; return the stack that is due, of about as many pixels, empty if none is."""
        key, planes = _key(loaded), loaded.frame.picture.planes
        stack = self._waiting.setdefault(key, [])
        stack.append(loaded)
        self.nbytes += planes.nbytes
        channels, height, width = planes.shape
        # A color picture has one scale for its channels, and a stack of the narrowest looks like one: they go alone.
        is_alone = channels > 1 or width <= MOST_CHANNELS or (bool(self._alone) and key in self._alone)
        if is_alone or len(stack) >= min(LARGEST_STACK, pixels // (height * width)):
            return self.pop(key)
        return self.pop() if self.nbytes > WAITING_BYTES else []

    def pop(self, key: Key | None = None) -> list[Loaded]:
        """Return a stack, by default the one that has waited longest."""
        stack = self._waiting.pop(key or next(iter(self._waiting)))
        self.nbytes -= sum(loaded.frame.picture.planes.nbytes for loaded in stack)
        return stack

    def part(self, stack: Sequence[Loaded]) -> None:
        """Filter pictures of this kind one by one from now on: the stack was too large."""
        self._alone.add(_key(stack[0]))


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
                reading.append(self._submit(_read, job, self.settings, self._device))
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
        if loaded.picture is None:
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
            made = self._try_twice(lambda: self._attempt(stack))
        except (FftfilterError, MemoryError) as error:
            if isinstance(error, DeviceLostError):
                raise
            if len(stack) == 1:
                yield _failed(stack[0].outcome, error)
                return
            # One of them may be too large, or all at once.
            self._stacks.part(stack)
            for loaded in stack:
                yield from self._filter_stack([loaded], writing)
            return
        share = (time.perf_counter() - began) / len(stack)
        for loaded, each in zip(stack, made, strict=True):
            outcome = loaded.outcome
            outcome.seconds["filter"], outcome.device = share, self._filter.launcher.device.name
            outcome.clipped, outcome.extremes = each.clipped, each.extremes
            outcome.notes = [each.note] if each.note else []
            outcome.cautions += [caution for caution in (NOTHING, NO_STRIPES) if each.note.startswith(caution)]
            if self.settings.measure_only:
                outcome.peak, outcome.status = each.largest(loaded.frame.picture.maxval), MEASURED
                yield outcome
            else:
                writing.append(self._submit(_write, loaded, each, self.settings, self._device))

    def _attempt(self, stack: Sequence[Loaded]) -> list[Made]:
        frames = [loaded.frame for loaded in stack]
        self._filter_by(frames[0].transfer)
        return filtered(self._filter, frames, self.settings.recipe)

    def _filter_pages(self, loaded: Loaded) -> Outcome:
        """Filter a file of several pages, and write it; return its outcome."""
        began, outcome = time.perf_counter(), loaded.outcome
        try:
            with closing(loaded.opened):
                self._try_twice(lambda: self._attempt_pages(loaded))
        except (FftfilterError, MemoryError) as error:
            if isinstance(error, DeviceLostError):
                raise
            return _failed(outcome, error)
        outcome.seconds["filter"] = time.perf_counter() - began
        outcome.device = self._filter.launcher.device.name
        return outcome

    def _attempt_pages(self, loaded: Loaded) -> None:
        settings, outcome, opened = self.settings, loaded.outcome, loaded.opened
        self._filter_by(opened.transfer)
        outcome.pages = len(opened.pages)
        if settings.measure_only:
            pages = (page for page, _ in read_ahead(opened, self._submit))
            outcome.peak, outcome.status = largest(self._filter, pages, settings.recipe), MEASURED
            return
        target = outcome.job.target
        how: dict[str, Any] = {"compare": outcome.job.verify, "keep": settings.preview, "submit": self._submit}
        made = partial(filter_file, opened, target, self._filter, spare=loaded.spare, **how)
        done = _with_folder(target, settings, made)
        for name in ("shape", "dtype", "clipped", "extremes", "difference", "cautions", "left_out", "notes"):
            setattr(outcome, name, getattr(done, name))
        outcome.stamp = journal.stamp(target)
        outcome.row = _row(loaded, done.frame, settings, self._device) if done.frame else None

    # The filter

    def _try_twice(self, attempt: Callable[[], T]) -> T:
        try:
            return attempt()
        except DeviceError:
            # A queue that has failed once stays useless; the device itself may be well.
            try:
                self._filter.close()
                del self._filter
                return attempt()
            except DeviceError as error:
                raise DeviceLostError(str(error)) from error

    @cached_property
    def _filter(self) -> Filter:
        """The filter, opened when the first files are being read, and anew once it was deleted."""
        return self.settings.recipe.open(self._transfer, self._device)

    def _filter_by(self, transfer: Transfer) -> None:
        """Open another filter, if files have pixels of another size."""
        if transfer != self._transfer:
            self._filter.close()
            self._transfer = transfer
            del self._filter


def _key(loaded: Loaded) -> Key:
    """Return a value that is the same for all pictures that may be in a stack."""
    frame = loaded.frame
    picture = frame.picture
    return picture.planes.shape, picture.planes.dtype, picture.maxval, frame.depth, frame.transfer


# The file of a job, in any thread: an error becomes its outcome


def _read(job: Job, settings: Settings, device: str | None) -> Loaded | Outcome:
    """Read a file, or open one of several pages; return its outcome if it failed or needs no work.

    Large pictures in which waves are looked for are transformed by ``device``.
    """
    began = time.perf_counter()
    outcome = Outcome(job, DONE)
    recipe, opened, stays_open = settings.recipe, None, False
    try:
        # A missing file is no input, and writing finds every other fault: a closer look costs as much as decoding.
        if not settings.measure_only and os.path.lexists(job.target):
            images.check_output(job.source, job.target, in_place=settings.in_place)
            _check_link(job.target, settings)
        times = sources.times(job.source) if recipe.preserve_times else None
        data = images.raw(job.source)
        outcome.digest = sources.digest_of(data)
        done_before = outcome.digest == job.done_from and not settings.measure_only
        if done_before and not job.verify:
            if not isinstance(data, bytes):
                data.close()
            return replace(outcome, status=SKIPPED)
        opened = open_(job.source, recipe, data=data, times=times, device=device)
        outcome.pixel_size, outcome.peaks = opened.pixel_size, opened.peaks
        outcome.cautions += _of_waves(opened)
        frame, found, target = None, opened.found, job.target
        if isinstance(found, images.Pages):
            images.suffix_of_pages(target, None, len(found))
        else:
            outcome.shape, outcome.dtype = found.planes.shape, str(found.planes.dtype)
            frame = opened.frame(target, keep=job.verify or settings.preview)
            outcome.cautions += opened.cautions(frame)
        if done_before:
            _verify(outcome, lambda how: how.of_earlier(opened, job.target))
            return replace(outcome, status=SKIPPED)
        stays_open = True
    except (FftfilterError, MemoryError) as error:
        return _failed(outcome, error)
    finally:
        if opened and not stays_open:
            opened.close()
        outcome.seconds["read"] = time.perf_counter() - began
    return Loaded(outcome, opened, frame, () if settings.in_place else (opened.identity,))


def _of_waves(opened: Opened) -> list[str]:
    """Return a line if waves were looked for, and not all or none is removed."""
    if opened.too_few:
        return [f"{opened.name}: {opened.too_few}: no wave is removed"]
    if opened.content:
        return ["waves that look like a part of the picture stay: --insist removes them"]
    return [opened.recipe.auto.nothing] if opened.recipe.auto and opened.peaks == [] else []


def _check_link(target: str, settings: Settings) -> None:
    """Raise ParameterError for an output that is a link into the input's folder."""
    if settings.keep_out and os.path.islink(target):  # noqa: PTH114  pathlib takes as long as a small file
        path = Path(target)
        leads_to = Path(os.path.realpath(path))
        is_own = leads_to.parent == Path(os.path.realpath(path.parent))
        if is_inside(leads_to, Path(settings.keep_out)) and not is_own:
            name = quoted_if_odd(target)
            raise ParameterError(f"{name}: is a link to one of the inputs; remove it or choose another folder")


def _write(loaded: Loaded, made: Made, settings: Settings, device: str | None) -> Outcome:
    """Write a picture that was filtered; ``device`` is as for :func:`_read`, for the row in a contact sheet."""
    began = time.perf_counter()
    outcome, opened, frame, target = loaded.outcome, loaded.opened, loaded.frame, loaded.outcome.job.target
    try:
        outcome.left_out = _with_folder(target, settings, lambda: write(opened, frame, made, target, loaded.spare))
        outcome.stamp = journal.stamp(target)
        outcome.row = _row(loaded, frame, settings, device) if settings.preview else None
        if outcome.job.verify:
            _verify(outcome, lambda how: how.of_file(frame, target, settings.recipe))
    except (FftfilterError, MemoryError) as error:
        return _failed(outcome, error)
    finally:
        outcome.seconds["write"] = time.perf_counter() - began
    return outcome


def _verify(outcome: Outcome, compare: Callable[[Any], Difference]) -> None:
    """Compare an output with the reference, by what ``compare`` calls of work/verify.py; raises VerifyError."""
    from ..work import verify  # for those who ask for it

    began = time.perf_counter()
    outcome.difference = compare(verify)
    outcome.seconds["verify"] = time.perf_counter() - began
    verify.check(outcome.difference, outcome.job.target)


def _row(loaded: Loaded, frame: Frame, settings: Settings, device: str | None) -> Row:
    """Return the row of a picture, or of a stack's middle page, in the contact sheet."""
    from ..preview.report import FilterReport
    from ..preview.sheet import row

    given, made = frame.given, frame.picture
    assert given  # noqa: S101  it was kept for this
    recipe, planes = settings.recipe, filled(given, frame.holes, device)
    weight = recipe.weight(*planes.shape[1:])
    report = FilterReport(planes, given.maxval, frame.transfer, recipe.edges, device, weight, recipe.channels)
    job = loaded.outcome.job
    return row(report, frame.shown(), made.maxval, job.number, f"{job.source}{loaded.opened.middle_page}")


def _with_folder(target: str, settings: Settings, work: Callable[[], T]) -> T:
    """Write an output by ``work``, once more if its folder was removed meanwhile; raises WriteError."""
    _check_link(target, settings)  # which it may have become
    try:
        return work()
    except WriteError as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            raise
    folder = Path(target).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(f"{quoted_if_odd(str(folder))}: cannot be made: {reason(error)}") from error
    return work()


def _failed(outcome: Outcome, error: Exception) -> Outcome:
    """Return an outcome as failed, with the error's text."""
    outcome.status = FAILED
    outcome.error = str(error) or f"{quoted_if_odd(outcome.job.source)}: out of memory; take a smaller image"
    outcome.found_no_space = isinstance(error, WriteError) and getattr(error.__cause__, "errno", None) in _NO_SPACE
    return outcome
