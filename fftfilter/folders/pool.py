"""A pool feeds workers with chunks of jobs, counts deaths, and tries suspects one by one; below, a worker's own part.

A worker is an executor of the standard library's kind with a device of its own, which stays open from chunk to chunk:
this process, another one, or one of a Dask cluster. Each has one chunk that it works on and one that waits for it.
Workers come and go: :class:`processes.LocalWorkers` and :class:`cluster.ClusterWorkers` have the same methods.

When a worker dies, every job that it had in hand is a suspect, and is tried once more, alone. A job that was in hand at
two deaths is given up. The jobs of a worker that has lost its device go to the others.

A cluster's scheduler, which only passes chunks on, imports this module, too: NumPy and OpenCL are imported when there
is work.
"""

from __future__ import annotations

import pickle
import threading
import time
import zlib
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .. import __version__
from ..errors import DeviceError
from ..files.atomic import remove_leftovers
from ..files.messages import quoted_if_odd
from ..files.urls import is_url
from ..system import cores
from .jobs import Job, Outcome, Settings

if TYPE_CHECKING:
    from typing import TypeAlias

    from .batch import Batch
    from .cluster import ClusterWorkers
    from .processes import LocalWorkers

    Workers: TypeAlias = LocalWorkers | ClusterWorkers

# Chunks a worker: one that it does, one that is there when that ends.
IN_HAND = 2
FIRST_CHUNK, LARGEST_CHUNK = 8, 512
JOBS_A_THREAD = 16
# A job that was in hand when this many workers died is not given to another.
DEATHS = 2


class Result(NamedTuple):
    """The outcomes of a chunk."""

    outcomes: list[Outcome]
    seconds: float
    lost: str | None = None
    """Why the worker is of no use, if so; the others do the rest of its chunk."""


class Chunk(NamedTuple):
    """The jobs that are sent to a worker at a time."""

    jobs: Sequence[Job]
    is_suspect: bool = False

    @property
    def folders(self) -> set[str]:
        """Where temporary files of it may be."""
        return {str(Path(job.target).parent) for job in self.jobs if not is_url(job.target)}


class Death(NamedTuple):
    """How a worker died."""

    why: str
    at_start: bool = False
    """Whether it was never ready, so that no job can be the cause."""


@dataclass(eq=False)
class Worker:
    """An executor that does chunks, one after the other."""

    name: str
    """In messages."""
    executor: Executor
    device: str | None
    threads: int
    in_hand: dict[Future[Result], Chunk] = field(default_factory=dict)


class Pool:
    """The jobs of a run, shared among workers: about ``files``, each of about ``seconds``."""

    def __init__(self, workers: Workers, files: int, seconds: float = 0.0) -> None:
        self._workers = workers
        self._left = files
        self._again: deque[Job] = deque()
        self._suspects: deque[Job] = deque()
        self._deaths: dict[int, int] = {}
        self._seconds_a_job = max(seconds, workers.seconds_a_chunk / FIRST_CHUNK)

    def run(self, jobs: Iterator[Job], settings: Settings) -> Iterator[Outcome]:
        """Do all jobs; raises DeviceLostError when no worker is left, FftfilterError for settings that are invalid."""
        workers: list[Worker] = []
        while True:
            has_work = not workers or self._left > 0 or bool(self._again or self._suspects)
            known, workers = workers, self._workers.look(has_work=has_work)
            for gone in set(known) - set(workers):
                yield from self._after_death(gone, Death(f"{gone.name} is gone"))
            for worker in workers:
                self._feed(worker, jobs, settings, len(workers))
            in_hand = {future: worker for worker in workers for future in worker.in_hand}
            if not (in_hand or self._suspects or self._again):
                return
            done, _ = wait(in_hand, self._workers.seconds_between_looks, FIRST_COMPLETED)
            for future, worker in in_hand.items():
                if future in done and future in worker.in_hand:  # else its worker died with another chunk
                    yield from self._take(worker, future)

    def _feed(self, worker: Worker, jobs: Iterator[Job], settings: Settings, workers: int) -> None:
        # No other chunk waits behind a suspect, whose death would count as its own.
        while len(worker.in_hand) < IN_HAND and not any(chunk.is_suspect for chunk in worker.in_hand.values()):
            if self._suspects and worker.in_hand:
                return
            chunk = self._next(jobs, workers, worker.threads)
            if not chunk.jobs:
                return
            arguments = (pack(chunk.jobs), settings, worker.device, worker.threads, __version__)
            try:
                future = worker.executor.submit(do_chunk, *arguments)
            except BrokenExecutor as error:  # it died since it was looked at
                future = Future()
                future.set_exception(error)
            worker.in_hand[future] = chunk
            if future.done():
                return

    def _next(self, jobs: Iterator[Job], workers: int, threads: int) -> Chunk:
        if self._suspects:
            return Chunk([self._suspects.popleft()], is_suspect=True)
        # The last chunks are small, so that several workers end at about the same time.
        fair = -(-self._left // (2 * workers)) if workers > 1 else self._left
        size = min(int(self._workers.seconds_a_chunk / self._seconds_a_job), LARGEST_CHUNK, fair)
        # What stacks of one size fill, so that a filter keeps its pipeline: multiples of 32, or powers of two.
        size -= size % (1 << min(5, max(0, size.bit_length() - 1)))
        # Threads read and write several at a time.
        size = max(size, JOBS_A_THREAD * threads if threads > 1 else 1)
        if self._again:
            return Chunk([self._again.popleft() for _ in range(min(size, len(self._again)))])
        chunk = Chunk(list(islice(jobs, size)))
        self._left -= len(chunk.jobs)
        return chunk

    def _take(self, worker: Worker, future: Future[Result]) -> Iterator[Outcome]:
        """Yield the outcomes of a chunk, whose worker may have died or lost its device."""
        try:
            result = future.result()
        except Exception as error:  # noqa: BLE001  the workers know which of them is a death
            yield from self._after_death(worker, self._workers.died(worker, error))
            return
        if result.outcomes:
            self._seconds_a_job = (self._seconds_a_job + max(result.seconds / len(result.outcomes), 1e-6)) / 2
        if not result.lost:
            yield from result.outcomes
            del worker.in_hand[future]
        else:
            for unfinished in (yield from self._finished(worker)):
                self._again.extend(unfinished.jobs)
            self._workers.lose(worker, result.lost)

    def _finished(self, worker: Worker) -> Generator[Outcome, None, list[Chunk]]:
        """Take all chunks from a worker: yield the outcomes of finished jobs, return the other jobs."""
        unfinished = []
        for future, chunk in worker.in_hand.items():
            outcomes: list[Outcome] = []
            if future.done() and not future.cancelled() and future.exception() is None:
                outcomes = future.result().outcomes
            yield from outcomes
            done = {outcome.job.number for outcome in outcomes}
            unfinished.append(chunk._replace(jobs=[job for job in chunk.jobs if job.number not in done]))
        worker.in_hand = {}
        return unfinished

    def _after_death(self, worker: Worker, death: Death) -> Iterator[Outcome]:
        """Put the jobs of a dead worker aside, to be tried one by one; yield those that are given up."""
        chunks = yield from self._finished(worker)
        for folder in {folder for chunk in chunks for folder in chunk.folders}:
            remove_leftovers(folder)
        jobs = [job for chunk in chunks for job in chunk.jobs]
        if death.at_start:
            self._again.extend(jobs)
            return
        for job in jobs:
            self._deaths[job.number] = self._deaths.get(job.number, 0) + 1
            if self._deaths[job.number] < DEATHS:
                self._suspects.append(job)
            else:
                why = f"{quoted_if_odd(job.source)}: given up: {death.why} while it was in hand"
                yield Outcome(job=job, status="failed", error=why)


# What a worker does


def pack(jobs: Sequence[Job]) -> bytes:
    """Return jobs for :func:`do_chunk`, compressed, since a cluster's scheduler keeps all that it passes on."""
    return zlib.compress(pickle.dumps(jobs, pickle.HIGHEST_PROTOCOL), 1)


_one_at_a_time = threading.Lock()
_open: list[tuple[Settings, str | None, int, Batch]] = []
"""The one batch of this process, if there is one, behind the arguments that it was opened with."""


def open_device(device: str | None) -> None:
    """Open a device, as a worker does before its first chunk; raises DeviceError."""
    from .. import device_choice

    device_choice.open_device({"device": device})


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
        _open.append((settings, device, threads, Batch(settings, device, threads or cores())))
    return _open[0][-1]
