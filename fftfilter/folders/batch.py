"""Many files through one device: read | compute | write, overlapped, in bounded memory.

    start(job) -> [codecs: read, decode] -> step(): stack, filter -> [codecs: encode, write] -> Outcome

The codecs run in threads or processes (`codec_threads.py`, `codec_processes.py`); the device is fed by the thread
that calls `step`. Pictures of one size go to the device in stacks.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from ..errors import DeviceError, FftfilterError
from ..filters import IN_FLIGHT, Filter
from ..output.quantize import magnitude, quantize
from .codec import Loaded, failed
from .codec_threads import CodecThreads
from .jobs import MEASURED, DeviceLostError, Job, Outcome, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from ..filters import Pending
    from ..images import Picture
    from .codec_processes import CodecProcesses

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
# The most of them that wait for the device to be opened, and how long a thread has its turn until then.
MOST_BEFORE = 512
SECONDS_A_TURN = 2e-4


@dataclass(eq=False)
class _Flight:
    """A stack on its way through the device; ``seconds`` is what it took to begin it."""

    stack: list[Loaded]
    pending: Pending
    seconds: float


class Batch:
    """Files under way on one device.

    :meth:`run` does jobs that are there; for jobs that come in, call :meth:`start` while there is :attr:`room`,
    else :meth:`step`, until it is :attr:`idle`.
    ``device`` is as for :class:`Filter`; what that raises, the first steps do: files are read before it is open.
    """

    def __init__(self, settings: Settings, device: str | None = None, codecs: CodecProcesses | None = None) -> None:
        self._settings = settings
        self._device = device
        self._filter: Filter | None = None
        self._pixels_a_stack = PIXELS_ON_CPU
        self._threads = None if codecs else CodecThreads()
        self._codecs = codecs or cast("CodecThreads", self._threads)
        self._codecs.set(settings)
        self._waiting: dict[Key, list[Loaded]] = {}
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
        if self._threads:
            self._threads.close()
        self._opener.join()
        if self._filter:
            self._filter.close()

    @property
    def room(self) -> bool:
        """Whether another job may be started now."""
        if self.lost or not self._codecs.has_room or self._waiting_bytes > WAITING_BYTES:
            return False
        if self._filter is None:
            return self._waiting_count < MOST_BEFORE and self._waiting_bytes < self._codecs.bytes_before
        fullest = max((self._stack_size(key) for key in self._waiting), default=1)
        return self._waiting_count < fullest + self._codecs.ahead

    @property
    def idle(self) -> bool:
        """Whether nothing is under way."""
        return not (self._codecs.reading or self._codecs.writing or self._waiting_count or self._flying)

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
        self._codecs.read(job)

    def wake(self) -> None:
        """Make :meth:`step` return, from another thread."""
        self._codecs.news.put(None)

    def step(self) -> list[Outcome]:
        """Filter a stack that is due, or wait for a file to be read or written; return what is finished."""
        if stack := self._take():
            return self._compute(stack)
        if self._flying and not self._codecs.has_news:
            return self._land()
        event = self._codecs.take()
        if isinstance(event, Filter):
            self._filter = event
            self._pixels_a_stack = PIXELS_ON_GPU if event.launcher.device.is_gpu else PIXELS_ON_CPU
        elif isinstance(event, Loaded):
            if not self.lost:
                self._wait_for_others(event)
        elif event is not None:
            return [event]
        return []

    # Stacks

    def _wait_for_others(self, loaded: Loaded) -> None:
        planes = loaded.picture.planes
        key: Key = (planes.shape, planes.dtype, loaded.depth)
        self._waiting.setdefault(key, []).append(loaded)
        self._waiting_count += 1
        self._waiting_bytes += planes.nbytes

    def _take(self) -> list[Loaded]:
        """Return a stack that is due: a full one; the oldest where no more is coming or memory is short."""
        if self._filter is None:
            return []
        for key, waiting in self._waiting.items():
            if len(waiting) >= self._stack_size(key):
                return self._pop(key)
        if self._waiting and (not self._codecs.is_more_coming or self._waiting_bytes > WAITING_BYTES):
            return self._pop(next(iter(self._waiting)))
        return []

    def _stack_size(self, key: Key) -> int:
        channels, height, width = cast("tuple[int, int, int]", key[0])
        # A color picture has one scale for its channels, and floats are scaled together: both go alone.
        if channels > 1 or key[1] == np.float32 or key in self._too_large:
            return 1
        return max(1, min(PICTURES_A_STACK, self._pixels_a_stack // (height * width)))

    def _pop(self, key: Key) -> list[Loaded]:
        waiting = self._waiting.pop(key)
        size = self._stack_size(key)
        stack, rest = waiting[:size], waiting[size:]
        if rest:
            self._waiting[key] = rest
        self._waiting_count -= len(stack)
        self._waiting_bytes -= sum(loaded.picture.planes.nbytes for loaded in stack)
        return stack

    # Filtering: where the device copies by itself, several stacks are on their way through it

    def _compute(self, stack: list[Loaded]) -> list[Outcome]:
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
                self._codecs.drop(loaded)
                finished.append(loaded.outcome)
                continue
            loaded.picture.planes, loaded.picture.maxval = result, loaded.depth.maxval
            self._codecs.write(loaded)
        return finished

    def _not_filtered(self, stack: list[Loaded], error: Exception) -> list[Outcome]:
        """Try the pictures of a stack one by one, unless there is but one or the device is lost."""
        if isinstance(error, DeviceLostError):
            self.lost = error
            self._waiting.clear()
            self._flying.clear()
            self._waiting_count = self._waiting_bytes = 0
            return []
        if len(stack) == 1:
            self._codecs.drop(stack[0])
            return [failed(stack[0].outcome, error)]
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
            self._codecs.news.put(self._open())
        except BaseException as error:  # noqa: BLE001  ends the run, in the caller's thread
            self._codecs.news.put(error)
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

    def _begin(self, stack: Sequence[Loaded]) -> Pending:
        """Begin to filter pictures of one size: alone, or together as a stack."""
        depth = stack[0].depth
        pictures = [loaded.picture for loaded in stack]
        height, width = pictures[0].planes.shape[1:]
        self._opened.workers = 1 if self._codecs.are_beside and height * width <= PIXELS_OF_A_WORKER else None
        if len(pictures) == 1:
            return self._opened.start(pictures[0].planes, channel_axis=0, dtype=depth.dtype, levels=depth.maxval)
        return self._opened.start(self._stacked(pictures), dtype=depth.dtype, levels=depth.maxval)

    def _results(self, stack: Sequence[Loaded], pending: Pending) -> list[NDArray[Any]]:
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

    def _scaled(self, loaded: Loaded, values: NDArray[Any]) -> NDArray[Any]:
        picture, outcome = loaded.picture, loaded.outcome
        found = magnitude(values, picture.planes)
        outcome.extremes = float(found.min()), float(found.max())
        outcome.peak = outcome.extremes[1] / picture.maxval
        if self._settings.scale is None:
            return found
        return quantize(found, self._settings.scale, picture.maxval, loaded.depth)
