"""A pool feeds executors with chunks of jobs, and tries those of a dead worker again alone; below, a worker's own part.

An executor is one of ``concurrent.futures``, whose workers share a device: this process, processes of this machine, or
the workers of a Dask cluster. A worker keeps its device open from chunk to chunk.

A dead worker breaks its executor. Each job that the executor had in hand is tried once more, alone, in an executor of
one worker; a job that a worker dies of then, too, is given up. The jobs of a device that is lost go to the others.

A cluster's scheduler, which only passes chunks on, imports this module, too: NumPy and OpenCL are imported when there
is work.
"""

from __future__ import annotations

import pickle
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import __version__, system
from ..errors import DeviceError, ProcessError
from ..files import atomic, urls
from ..files.messages import quoted_if_odd
from ..files.urls import is_url
from .jobs import DeviceLostError, Job, Outcome, Settings

if TYPE_CHECKING:
    from ..transfer.product import Edges
    from .batch import Batch

# Chunks for each worker: one that it does, one that is there when that ends.
IN_HAND = 2
FIRST_CHUNK, LARGEST_CHUNK = 8, 512
JOBS_A_THREAD = 16


class Result(NamedTuple):
    """The outcomes of a chunk."""

    outcomes: list[Outcome]
    seconds: float
    lost: str | None = None
    """Why the worker is of no use, if so; others do the rest of its chunk."""
    worker: str = ""
    """Its address in a cluster."""


class Workers(Executor):
    """An executor whose workers share a device; this one works at once, in this process."""

    count, most = 1, 1
    """How many workers it has, and how many chunks it takes at a time."""
    seconds_a_chunk = 0.2
    """How long a chunk should take: long beside the cost of sending it, but short enough to wait for."""
    spare_tries = 0
    """How often a job whose worker dies is tried alone beyond the first time, at least."""
    seconds_between_looks: float | None = None
    """When :meth:`look` has to be called again; None if there is nothing to see."""

    def __init__(self, device: str | None, threads: int) -> None:
        self.device, self.threads = device, threads
        self.in_hand: dict[Future[Result], Sequence[Job]] = {}
        self.notes: list[str] = []
        """Lines about workers that died or were lost, for the user; a pool puts that of its run here."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        """Work at once; the future is done."""
        return system.at_once(function, *arguments, **options)

    def give(self, jobs: Sequence[Job], settings: Settings) -> None:
        """Submit a chunk."""
        self.in_hand[self.submit(do_chunk, *self.arguments(jobs, settings))] = jobs

    def arguments(self, jobs: Sequence[Job], settings: Settings) -> tuple[Any, ...]:
        """Return those of :func:`do_chunk`."""
        return pack(jobs), settings, self.device, self.threads, __version__

    def submit_alone(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Let a worker work that has nothing else in hand."""
        return self.submit(function, *arguments)

    def look(self) -> None:
        """See which workers came and went; raises DeviceLostError if none is there."""

    def died(self, error: BaseException) -> str:
        """Return how a worker died, when all futures of its executor are done; raises an error that is no death."""
        raise error

    def lose(self, result: Result) -> str | None:
        """Do without a worker that is of no use; return why, if it was the last one."""
        return result.lost

    def stop_trying(self) -> None:
        """Try nothing again that has failed behind a URL."""
        urls.interrupted.set()

    def close(self) -> None:
        """End the workers, whatever they do."""
        close_batch()


class Pool:
    """The jobs of a run, shared among executors: about ``files``, each of about ``seconds``; it adds to ``notes``."""

    def __init__(self, executors: Sequence[Workers], files: int, seconds: float, notes: list[str]) -> None:
        self._executors = [*executors]
        self._left = files
        self._again: deque[Job] = deque()
        self._seconds_a_job = max(seconds, executors[0].seconds_a_chunk / FIRST_CHUNK)
        for each in executors:
            each.notes = notes

    def run(self, jobs: Iterator[Job], settings: Settings) -> Iterator[Outcome]:
        """Do all jobs; raises DeviceLostError when no worker is left, FftfilterError for settings that are invalid."""
        while True:
            for executor in self._executors:
                executor.look()
                while len(executor.in_hand) < executor.most and (chunk := self._next(jobs, executor)):
                    executor.give(chunk, settings)
            in_hand = {future: executor for executor in self._executors for future in executor.in_hand}
            if not in_hand:
                return
            for future in wait(in_hand, self._executors[0].seconds_between_looks, FIRST_COMPLETED).done:
                executor = in_hand[future]
                if future in executor.in_hand:  # else it was taken back with another chunk
                    yield from self._take(executor, future, settings)

    def _next(self, jobs: Iterator[Job], executor: Workers) -> Sequence[Job]:
        """Return the next chunk for an executor, empty if there is none."""
        # The last chunks are small, so that several workers end at about the same time.
        workers = sum(each.count for each in self._executors)
        fair = -(-self._left // (2 * workers)) if workers > 1 else self._left
        size = min(int(executor.seconds_a_chunk / self._seconds_a_job), LARGEST_CHUNK, fair)
        # What stacks of one size fill, so that a filter keeps its pipeline: multiples of 32, or powers of two.
        size -= size % (1 << min(5, max(0, size.bit_length() - 1)))
        # Threads read and write several at a time.
        size = max(size, JOBS_A_THREAD * executor.threads if executor.threads > 1 else 1)
        if self._again:
            return [self._again.popleft() for _ in range(min(size, len(self._again)))]
        chunk = list(islice(jobs, size))
        self._left -= len(chunk)
        return chunk

    def _take(self, executor: Workers, future: Future[Result], settings: Settings) -> Iterator[Outcome]:
        """Yield the outcomes of a chunk, or those of all chunks that a dead worker has broken."""
        if error := _error(future):
            executor.died(error)
            for broken in [each for each in executor.in_hand if each.done() and _error(each)]:
                if broken in executor.in_hand:  # else its device was lost meanwhile
                    yield from self._alone(executor, executor.in_hand.pop(broken), settings)
            return
        result, chunk = future.result(), executor.in_hand.pop(future)
        if result.lost:
            yield from self._lose(executor, result, chunk)
            return
        if result.outcomes:
            self._seconds_a_job = (self._seconds_a_job + max(result.seconds / len(result.outcomes), 1e-6)) / 2
        yield from result.outcomes

    def _alone(self, executor: Workers, chunk: Sequence[Job], settings: Settings) -> Iterator[Outcome]:
        """Yield the outcomes of jobs that a dead worker had in hand, after trying each of them alone."""
        remove_leftovers(chunk)
        for number, job in enumerate(chunk):
            for _ in range(1 + max(settings.retries, executor.spare_tries)):
                future = executor.submit_alone(do_chunk, *executor.arguments([job], settings))
                while not wait([future], executor.seconds_between_looks).done:
                    executor.look()
                if not (error := _error(future)):
                    break
                died = executor.died(error)
            if error:
                why = f"{quoted_if_odd(job.source)}: given up: {died} while it was in hand"
                remove_leftovers([job])
                yield Outcome(job=job).fail(ProcessError(why))
            elif future.result().lost:
                yield from self._lose(executor, future.result(), chunk[number:])
                return
            else:
                yield from future.result().outcomes

    def _lose(self, executor: Workers, result: Result, chunk: Sequence[Job]) -> Iterator[Outcome]:
        """Yield the outcomes of a worker that is of no use; others do the rest of its chunk.

        Raises DeviceLostError if there are none.
        """
        results = [(result, chunk)]
        if why := executor.lose(result):
            self._executors.remove(executor)
            executor.close()
            for future, jobs in executor.in_hand.items():
                remove_leftovers(jobs)
                results.append((Result([], 0.0) if _error(future) else future.result(), jobs))
            executor.in_hand = {}
        for each, jobs in results:
            yield from each.outcomes
            done = {outcome.job.number for outcome in each.outcomes}
            self._again.extend(job for job in jobs if job.number not in done)
        if not self._executors:
            raise DeviceLostError(why)
        if why:
            executor.notes.append(f"{why}; the other devices do its files")


def _error(future: Future[Result]) -> BaseException | None:
    """Return the error of a future, if it has one; one that is not done counts as cancelled."""
    return CancelledError() if future.cancelled() or not future.done() else future.exception()


def remove_leftovers(jobs: Iterable[Job]) -> None:
    """Remove what dead workers have left half written."""
    for folder in folders_of(jobs):
        atomic.remove_leftovers(folder)


def folders_of(jobs: Iterable[Job]) -> set[str]:
    """Return the folders of outputs, as far as they are on a file system."""
    return {str(Path(job.target).parent) for job in jobs if not is_url(job.target)}


# What a worker does


def pack(jobs: Sequence[Job]) -> bytes:
    """Return jobs for :func:`do_chunk`, compressed, since a cluster's scheduler keeps all that it passes on."""
    return zlib.compress(pickle.dumps(jobs, pickle.HIGHEST_PROTOCOL), 1)


_one_at_a_time = threading.Lock()
_open: list[tuple[Settings, str | None, int, Batch]] = []
"""The one batch of this process, if there is one, behind the arguments that it was opened with."""


def open_device(device: str | None, edges: Edges) -> None:
    """Open a device for pictures with these edges, as a worker does before its first chunk; raises DeviceError."""
    from .. import device_choice

    device_choice.open_device({"device": device, "edges": edges})


def do_chunk(packed: bytes, settings: Settings, device: str | None, threads: int, version: str = __version__) -> Result:
    """Do a chunk of packed jobs with a device; ``threads`` read and write, 0 for one a core.

    ``version`` is that of the process that asks. Raises FftfilterError for settings that are invalid on this device.
    """
    if version != __version__:
        return Result([], 0.0, f"has fftfilter {__version__}, and this is {version}")
    outcomes: list[Outcome] = []
    with _one_at_a_time:
        try:
            batch = _opened(settings, device, threads)
            began = time.perf_counter()
            jobs: list[Job] = pickle.loads(zlib.decompress(packed))  # noqa: S301  from the program that runs here
            for outcome in batch.run(jobs):
                outcomes.append(outcome)  # noqa: PERF402  finished files count, whatever happens next
        except DeviceError as error:
            close_batch()
            return Result(outcomes, 0.0, str(error))
        except BaseException:
            close_batch()
            raise
    return Result(outcomes, time.perf_counter() - began)


def device_bytes(
    shape: tuple[int, int, int], settings: Settings, device: str | None, version: str
) -> tuple[str, int, int]:
    """Return this worker's device, its bytes, and those that a picture ``(channels, height, width)`` takes of them."""
    if version != __version__:
        raise DeviceError(f"has fftfilter {__version__}, and this is {version}")
    with settings.recipe.open_filter(settings.recipe.transfer.for_any_pixels(), device) as filter_:
        opened = filter_.launcher.device
        return opened.name, opened.memory, filter_.device_bytes(shape)


def close_batch() -> None:
    """Close the batch of this process, if there is one."""
    while _open:
        _open.pop()[-1].close()


def _opened(settings: Settings, device: str | None, threads: int) -> Batch:
    from .batch import Batch

    if not _open or _open[0][:3] != (settings, device, threads):
        close_batch()
        _open.append((settings, device, threads, Batch(settings, device, threads or system.cores())))
    return _open[0][-1]
