"""Many files through one device: read | compute | write, overlapped, in bounded memory.

    start(job) -> [threads: read, decode] -> step(): stack, filter -> [threads: encode, write] -> Outcome

The codecs run in threads, since Pillow and zlib let others work meanwhile; the device is fed by the thread
that calls `step`. Pictures of one size go to the device in stacks.
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from .. import images, scale
from ..errors import DeviceError, FftfilterError, ParameterError
from ..filters import IN_FLIGHT, Filter
from . import journal
from .jobs import DONE, FAILED, MEASURED, SKIPPED, DeviceLostError, Job, Outcome, Settings, processors
from .tree import is_inside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from ..filters import Pending
    from ..images import Depth, Picture

    Key = tuple[object, ...]

T = TypeVar("T")

# Pixels that make a launch worth its overhead: on a CPU, as many as its caches hold between the launches. The most
# pictures that wait for each other to fill it.
PIXELS_ON_GPU, PIXELS_ON_CPU = 1 << 22, 1 << 19
PICTURES_A_STACK = 32
# Pictures of so many pixels are filtered by one core of a CPU: the others have their codecs to do, and would wait for
# each other busily.
PIXELS_OF_A_WORKER = 1 << 19
# Decoded pictures that may wait, in bytes: the rest of the memory belongs to others.
WAITING_BYTES = 1 << 28
# The most of them that wait for the device to be opened, as memory that was never used before costs time; and how long
# a thread has its turn until then.
MOST_BEFORE, BYTES_BEFORE = 512, 1 << 25
SECONDS_A_TURN = 2e-4


@dataclass(eq=False)
class _Loaded:
    """A job between its stages."""

    job: Job
    picture: Picture
    depth: Depth
    outcome: Outcome
    times: images.Times | None


@dataclass(eq=False)
class _Flight:
    """A stack on its way through the device; ``seconds`` is what it took to begin it."""

    stack: list[_Loaded]
    pending: Pending
    seconds: float


class Batch:
    """Files under way on one device.

    :meth:`run` does jobs that are there; for jobs that come in, call :meth:`start` while there is :attr:`room`,
    else :meth:`step`, until it is :attr:`idle`.
    ``device`` is as for :class:`Filter`; what that raises, the first steps do: files are read before it is open.
    """

    def __init__(self, settings: Settings, device: str | None = None) -> None:
        self._settings = settings
        self._device = device
        self._filter: Filter | None = None
        self._pixels_a_stack = PIXELS_ON_CPU
        threads = settings.threads or processors()
        # With a processor to itself this thread does all in turn: handing over costs as much as a small file's codecs.
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="codec") if threads > 1 else None
        self._ahead = 2 * threads
        self._events: SimpleQueue[_Loaded | Outcome | Filter | BaseException | None] = SimpleQueue()
        self._reading = self._writing = 0
        self._waiting: dict[Key, list[_Loaded]] = {}
        self._waiting_count = self._waiting_bytes = 0
        self._flying: deque[_Flight] = deque()
        self._too_large: set[Key] = set()
        self._stack = self._last_stack = np.empty((0, 0, 0), np.uint8)
        self.lost: DeviceLostError | None = None
        """Why the device is of no use any more; what it has finished is still written."""
        self._opener = threading.Thread(target=self._open_early, daemon=True)
        self._opener.start()

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)
        self._opener.join()
        if self._filter:
            self._filter.close()

    @property
    def room(self) -> bool:
        """Whether another job may be started now."""
        if self.lost or self._writing > self._ahead or self._waiting_bytes > WAITING_BYTES:
            return False
        if self._reading >= self._ahead:
            return False
        if self._filter is None:
            return self._waiting_count < MOST_BEFORE and self._waiting_bytes < BYTES_BEFORE
        fullest = max((self._stack_size(key) for key in self._waiting), default=1)
        return self._waiting_count < fullest + self._ahead

    @property
    def idle(self) -> bool:
        """Whether nothing is under way."""
        return not (self._reading or self._writing or self._waiting_count or self._flying)

    def run(self, jobs: Iterator[Job]) -> Iterator[Outcome]:
        """Do all jobs; raises DeviceLostError if the device fails for good, with what it has finished returned."""
        while True:
            while self.room and (job := next(jobs, None)) is not None:
                self.start(job)
            if self.idle:
                if self.lost:
                    raise self.lost
                return
            yield from self.step()

    def start(self, job: Job) -> None:
        """Begin to read a file."""
        self._reading += 1
        self._submit(self._read, job, job)

    def wake(self) -> None:
        """Make :meth:`step` return, from another thread."""
        self._events.put(None)

    def step(self) -> list[Outcome]:
        """Filter a stack that is due, or wait for a file to be read or written; return what is finished."""
        if stack := self._take():
            return self._compute(stack)
        if self._flying and self._events.empty():
            return self._land()
        event = self._events.get()
        if isinstance(event, BaseException):
            raise event
        if isinstance(event, Filter):
            self._filter = event
            self._pixels_a_stack = PIXELS_ON_GPU if event.launcher.device.is_gpu else PIXELS_ON_CPU
        elif isinstance(event, _Loaded):
            self._reading -= 1
            if not self.lost:
                self._wait_for_others(event)
        elif event is not None:
            if event.seconds.get("write") is None:
                self._reading -= 1
            else:
                self._writing -= 1
            return [event]
        return []

    # Reading, in the codecs' threads

    def _submit(self, work: Callable[[Any], _Loaded | Outcome], what: Any, job: Job) -> None:
        def attempt() -> None:
            try:
                self._events.put(work(what))
            except BaseException as error:  # noqa: BLE001  an unexpected one ends the run, in the caller's thread
                error.add_note(f"while working on {job.source}")
                self._events.put(error)

        if self._pool:
            self._pool.submit(attempt)
        else:
            attempt()

    def _read(self, job: Job) -> _Loaded | Outcome:
        began = time.perf_counter()
        outcome = Outcome(job, DONE)
        settings = self._settings
        try:
            if not settings.measure_only:
                self._check_target(job)
            times = images.times(job.source) if settings.preserve_times else None
            data = images.content(job.source)
            outcome.digest = hashlib.sha256(data).hexdigest()
            if outcome.digest == job.done_from and not settings.measure_only:
                return replace(outcome, status=SKIPPED)
            picture = images.decode(data, job.source)
            if settings.strip:
                picture.metadata = None
            outcome.shape, outcome.dtype = picture.planes.shape, str(picture.planes.dtype)
            images.check_fits(picture, job.target)
            depth = images.plan_output(picture, job.target)
        except (FftfilterError, MemoryError) as error:
            return _failed(outcome, error)
        finally:
            outcome.seconds["read"] = time.perf_counter() - began
        return _Loaded(job, picture, depth, outcome, times)

    def _check_target(self, job: Job) -> None:
        # What is not there is no input; all else that may be wrong, writing tells. Looking costs as much as decoding.
        if not os.path.lexists(job.target):
            return
        images.check_output(job.source, job.target, in_place=self._settings.in_place)
        keep_out = self._settings.keep_out
        if keep_out and Path(job.target).is_symlink() and is_inside(os.path.realpath(job.target), keep_out):
            name = images.quoted_if_odd(job.target)
            raise ParameterError(f"{name}: is a link to one of the inputs; remove it or choose another folder")

    # Stacks

    def _wait_for_others(self, loaded: _Loaded) -> None:
        planes = loaded.picture.planes
        key: Key = (planes.shape, planes.dtype, loaded.depth)
        self._waiting.setdefault(key, []).append(loaded)
        self._waiting_count += 1
        self._waiting_bytes += planes.nbytes

    def _take(self) -> list[_Loaded]:
        """Return a stack that is due: a full one; the oldest where no more is coming or memory is short.

        No more is coming where nothing is read although there would be room for it.
        """
        if self._filter is None:
            return []
        for key, waiting in self._waiting.items():
            if len(waiting) >= self._stack_size(key):
                return self._pop(key)
        is_last = not self._reading and self._writing <= self._ahead
        if self._waiting and (is_last or self._waiting_bytes > WAITING_BYTES):
            return self._pop(next(iter(self._waiting)))
        return []

    def _stack_size(self, key: Key) -> int:
        channels, height, width = cast("tuple[int, int, int]", key[0])
        # A color picture has one scale for its channels, and floats are scaled together: both go alone.
        if channels > 1 or key[1] == np.float32 or key in self._too_large:
            return 1
        return max(1, min(PICTURES_A_STACK, self._pixels_a_stack // (height * width)))

    def _pop(self, key: Key) -> list[_Loaded]:
        waiting = self._waiting.pop(key)
        size = self._stack_size(key)
        stack, rest = waiting[:size], waiting[size:]
        if rest:
            self._waiting[key] = rest
        self._waiting_count -= len(stack)
        self._waiting_bytes -= sum(loaded.picture.planes.nbytes for loaded in stack)
        return stack

    # Filtering: where the device copies by itself, several stacks are on their way through it

    def _compute(self, stack: list[_Loaded]) -> list[Outcome]:
        """Begin to filter a stack; return what of it and of those before has failed or needs no writing."""
        began = time.perf_counter()
        try:
            pending = self._with_another_try(lambda: self._begin(stack))
        except (FftfilterError, MemoryError) as error:
            return self._not_filtered(stack, error)
        self._flying.append(_Flight(stack, pending, time.perf_counter() - began))
        finished = []
        while self._flying and (len(self._flying) > IN_FLIGHT or not pending.flies):
            finished += self._land()
        return finished

    def _land(self) -> list[Outcome]:
        """Wait for the oldest stack, and begin to write its pictures; return those that need no writing."""
        flight = self._flying.popleft()
        began = time.perf_counter()
        try:
            results = self._with_another_try(
                lambda: self._results(flight.stack, flight.pending),
                lambda: self._results(flight.stack, self._begin(flight.stack)),
            )
        except (FftfilterError, MemoryError) as error:
            return self._not_filtered(flight.stack, error)
        share = (flight.seconds + time.perf_counter() - began) / len(flight.stack)
        finished = []
        for loaded, result in zip(flight.stack, results, strict=True):
            loaded.outcome.seconds["filter"] = share
            loaded.outcome.device = self._opened.launcher.device.name
            if self._settings.measure_only:
                loaded.outcome.status = MEASURED
                finished.append(loaded.outcome)
                continue
            loaded.picture.planes, loaded.picture.maxval = result, loaded.depth.maxval
            self._writing += 1
            self._submit(self._write, loaded, loaded.job)
        return finished

    def _not_filtered(self, stack: list[_Loaded], error: Exception) -> list[Outcome]:
        """Try the pictures of a stack one by one, unless there is but one or the device is lost."""
        if isinstance(error, DeviceLostError):
            self.lost = error
            self._waiting.clear()
            self._flying.clear()
            self._waiting_count = self._waiting_bytes = 0
            return []
        if len(stack) == 1:
            return [_failed(stack[0].outcome, error)]
        planes = stack[0].picture.planes
        self._too_large.add((planes.shape, planes.dtype, stack[0].depth))
        return [outcome for loaded in stack for outcome in self._compute([loaded])]

    def _with_another_try(self, attempt: Callable[[], T], again: Callable[[], T] | None = None) -> T:
        try:
            return attempt()
        except DeviceError:
            # A queue that has failed once stays useless; the device itself may be well.
            try:
                self._opened.close()
                self._filter = self._open()
                return (again or attempt)()
            except DeviceError as error:
                raise DeviceLostError(str(error)) from error

    @property
    def _opened(self) -> Filter:
        return cast("Filter", self._filter)

    def _open_early(self) -> None:
        """Open the device while files are read already, in a thread of its own."""
        # Most of it is Python, at whose side reading goes on if turns are short.
        before = sys.getswitchinterval()
        sys.setswitchinterval(SECONDS_A_TURN)
        try:
            self._events.put(self._open())
        except BaseException as error:  # noqa: BLE001  ends the run, in the caller's thread
            self._events.put(error)
        finally:
            sys.setswitchinterval(before)

    def _open(self) -> Filter:
        scaled = self._settings.scale is not None or self._settings.measure_only
        return Filter(
            self._settings.kind,
            device=self._device,
            output="real" if scaled else "magnitude",
            **self._settings.options,
        )

    def _begin(self, stack: Sequence[_Loaded]) -> Pending:
        """Begin to filter pictures of one size: alone, or together as a stack."""
        depth = stack[0].depth
        pictures = [loaded.picture for loaded in stack]
        height, width = pictures[0].planes.shape[1:]
        self._opened.workers = 1 if self._pool and height * width <= PIXELS_OF_A_WORKER else None
        if len(pictures) == 1:
            return self._opened.start(pictures[0].planes, channel_axis=0, dtype=depth.dtype, levels=depth.maxval)
        return self._opened.start(self._stacked(pictures), dtype=depth.dtype, levels=depth.maxval)

    def _results(self, stack: Sequence[_Loaded], pending: Pending) -> list[NDArray[Any]]:
        """Return the new planes of each picture: exactly those that it would get alone."""
        result = pending.result()
        results = [result] if len(stack) == 1 else list(result[:, None])
        if self._settings.scale is not None or self._settings.measure_only:
            return [self._scaled(loaded, values) for loaded, values in zip(stack, results, strict=True)]
        if self._settings.extremes:
            for loaded, extremes in zip(stack, pending.extremes(), strict=True):
                loaded.outcome.extremes = extremes
        return results

    def _stacked(self, pictures: Sequence[Picture]) -> NDArray[Any]:
        """Return gray pictures as one array, in memory that the stack before the last has left."""
        first = pictures[0].planes
        shape = (len(pictures), *first.shape[1:])
        self._stack, self._last_stack = self._last_stack, self._stack  # a GPU may still read the last one
        if self._stack.shape != shape or self._stack.dtype != first.dtype:
            self._stack = self._opened.empty(shape, first.dtype)
        return np.concatenate([picture.planes for picture in pictures], out=self._stack)

    def _scaled(self, loaded: _Loaded, values: NDArray[Any]) -> NDArray[Any]:
        picture, outcome = loaded.picture, loaded.outcome
        magnitude = scale.magnitude(values, picture.planes)
        outcome.extremes = float(magnitude.min()), float(magnitude.max())
        outcome.peak = outcome.extremes[1] / picture.maxval
        if self._settings.scale is None:
            return magnitude
        return scale.quantize(magnitude, self._settings.scale, picture.maxval, loaded.depth)

    # Writing, in the codecs' threads

    def _write(self, loaded: _Loaded) -> Outcome:
        began = time.perf_counter()
        try:
            images.write(loaded.picture, loaded.job.target, png_level=self._settings.png_level, times=loaded.times)
            loaded.outcome.stamp = journal.stamp(loaded.job.target)
        except (FftfilterError, MemoryError) as error:
            return _failed(loaded.outcome, error)
        finally:
            loaded.outcome.seconds["write"] = time.perf_counter() - began
        return loaded.outcome


def _failed(outcome: Outcome, error: Exception) -> Outcome:
    outcome.status = FAILED
    outcome.error = str(error) or f"{images.quoted_if_odd(outcome.job.source)}: out of memory; take a smaller image"
    outcome.exit_code = error.exit_code if isinstance(error, FftfilterError) else 1
    return outcome
