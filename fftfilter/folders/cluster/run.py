"""Many machines: the files of a run in batches, each a task of Dask's distributed scheduler.

    jobs -> batches of about a second -> scheduler -> filter_files in a worker (`cluster_worker.py`) -> outcomes

A worker opens its device once and does one batch at a time. Batches of a worker that dies are given to another
by the scheduler; a batch that no worker survives is done file by file, until the file that kills them is found.
What a batch that was broken off has written already is written again: the same bytes, under the same name.
"""

from __future__ import annotations

import time
from collections import deque
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from ... import __version__
from ...images import quoted_if_odd
from ...files.urls import is_url
from .worker import Result, clean, filter_files, pack
from .scheduler import LOCAL, connect, gone, result_of
from ..jobs import DeviceLostError, Job, Outcome, Settings, failure, processors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from distributed import Client, Future

# What a batch should take: much longer than the scheduler's few milliseconds, short for who waits for its end.
_SECONDS_A_BATCH = 1.0
_FIRST_BATCH, _LARGEST_BATCH = 8, 512
# Batches a worker: one that runs, one that is there when it ends.
_IN_HAND = 2
_SECONDS_BETWEEN_LOOKS = 1.0
# How long a cluster may take to have a worker (again).
_PATIENCE = 60.0
# How long a finished batch's few kilobytes may take: Dask waits for good where a worker dies while it hands them over.
_SECONDS_TO_HAND_OVER = 5
_DEADLY = "every worker died that had it in hand"


def run_on_cluster(
    jobs: Iterator[Job], settings: Settings, cluster: str, devices: Sequence[str | None], notes: list[str]
) -> Iterator[Outcome]:
    """Do all jobs on the workers of a cluster; what becomes of its workers is told in ``notes``.

    ``cluster`` is as :func:`check_address` has it. "local" starts a worker for each of ``devices``; workers of
    another cluster take the first, where None leaves the choice to each. Paths have to be absolute.

    Raises DeviceError when the scheduler does not answer, DeviceLostError when no worker is left.
    """
    device = devices[0]
    if cluster == LOCAL:
        settings = replace(settings, threads=settings.threads or max(1, processors() // len(devices)))
        device = None  # which it is, each worker's environment says
    with connect(cluster, devices) as client:
        yield from _Share(client, jobs, (settings, device), notes).run()


class _Batch(NamedTuple):
    """What was sent to the scheduler."""

    jobs: list[Job]
    meant_for: frozenset[str]
    """The workers that may do it; none means all."""
    is_suspect: bool
    """Whether it is one file of a batch that no worker survived."""

    @property
    def folders(self) -> set[str]:
        """Where temporary files of it may be."""
        return {str(Path(job.target).parent) for job in self.jobs if not is_url(job.target)}


class _Share:
    """The files of a run, shared among the workers of a cluster."""

    def __init__(self, client: Client, jobs: Iterator[Job], how: tuple[Settings, str | None], notes: list[str]) -> None:
        self._client = client
        self._jobs = jobs
        self._how = how
        self._notes = notes
        self._in_hand: dict[Future[Any], _Batch] = {}
        self._finished: SimpleQueue[Future[Any]] = SimpleQueue()
        self._again: deque[list[Job]] = deque()
        self._suspects: deque[list[Job]] = deque()
        self._are_more = True
        self._seconds_a_file = _SECONDS_A_BATCH / _FIRST_BATCH
        self._workers: frozenset[str] = frozenset()
        self._useless: set[str] = set()
        self._why = f"{client.scheduler.address}: no worker came; start one with 'dask worker'"
        self._looked = self._had_workers = time.monotonic()
        self._recent: set[str] = set()
        """The folders of all batches that were under way since the last look."""
        self._to_clean: set[str] = set()

    def run(self) -> Iterator[Outcome]:
        try:
            self._look()
            while True:
                self._feed()
                if not (self._in_hand or self._are_more):
                    break
                for future in self._wait():
                    yield from self._take(future)
                if time.monotonic() - self._looked > _SECONDS_BETWEEN_LOOKS:
                    self._look()
            self._look()
        finally:
            with suppress(Exception):  # The scheduler may be gone; the next run cleans, too.
                self._client.cancel(list(self._in_hand))
                self._clean()

    # The workers

    @property
    def _useful(self) -> frozenset[str]:
        return self._workers - self._useless

    def _look(self) -> None:
        """See which workers there are; raise DeviceLostError when there is none, and none comes."""
        now = time.monotonic()
        try:
            workers = frozenset(self._client.nthreads(callback_timeout=_PATIENCE))
        except OSError as error:
            raise gone(self._client) from error
        if self._workers - workers:
            self._to_clean |= self._recent
            if not workers:
                self._why = f"{self._client.scheduler.address}: no worker is left; what they logged says why"
        self._recent = {folder for batch in self._in_hand.values() for folder in batch.folders}
        self._workers, self._looked = workers, now
        if self._useful:
            self._had_workers = now
            self._call_back_stranded()
        elif workers or now - self._had_workers > _PATIENCE:
            raise DeviceLostError(self._why)

    def _call_back_stranded(self) -> None:
        """Send batches again whose workers have all gone: the scheduler would wait for those to return."""
        sent = self._in_hand.items()
        for future in [f for f, batch in sent if batch.meant_for and not batch.meant_for & self._workers]:
            self._client.cancel([future])
            self._do_again(self._in_hand.pop(future))

    def _do_again(self, batch: _Batch) -> None:
        (self._suspects if batch.is_suspect else self._again).append(batch.jobs)
        self._are_more = True

    def _lose(self, worker: str, why: str) -> None:
        if worker in self._useless:
            return
        self._useless.add(worker)
        self._why = f"worker {worker}: {why}"
        if self._useful:
            self._notes.append(f"{self._why}; the other workers do its files")
        else:
            self._look()

    def _clean(self) -> None:
        """Remove what workers that died have left half written, once on each of the machines that are left."""
        one_a_host = {urlsplit(worker).hostname: worker for worker in self._workers}
        if self._to_clean:
            self._client.run(clean, list(self._to_clean), workers=list(one_a_host.values()))

    # The files

    def _feed(self) -> None:
        while self._useful and len(self._in_hand) < len(self._useful) * self._most_in_hand():
            is_suspect = bool(self._suspects)
            jobs = self._next()
            if not jobs:
                self._are_more = False
                return
            meant_for = self._useful if self._useless & self._workers else frozenset[str]()
            settings, device = self._how
            future = self._client.submit(
                filter_files, pack(jobs), settings, device, __version__, workers=list(meant_for) or None, pure=False
            )
            batch = self._in_hand[future] = _Batch(jobs, meant_for, is_suspect)
            self._recent |= batch.folders
            future.add_done_callback(self._finished.put)

    def _most_in_hand(self) -> int:
        # No other file waits behind a suspect, whose death would count as its own.
        return 1 if self._suspects or any(batch.is_suspect for batch in self._in_hand.values()) else _IN_HAND

    def _next(self) -> list[Job]:
        if self._suspects:
            return self._suspects.popleft()
        if self._again:
            return self._again.popleft()
        fitting = int(_SECONDS_A_BATCH / self._seconds_a_file)
        return list(islice(self._jobs, max(1, min(fitting, _LARGEST_BATCH))))

    def _wait(self) -> Iterable[Future[Any]]:
        try:
            first = self._finished.get(timeout=_SECONDS_BETWEEN_LOOKS)
        except Empty:
            return ()
        return [first, *(self._finished.get() for _ in range(self._finished.qsize()))]

    def _take(self, future: Future[Any]) -> Iterator[Outcome]:
        from distributed import KilledWorker

        batch = self._in_hand.pop(future, None)
        if batch is None:
            return  # It was called back.
        try:
            result: Result = result_of(future, _SECONDS_TO_HAND_OVER)
        except KilledWorker:
            yield from self._suspect(batch)
            return
        except TimeoutError:
            self._client.cancel([future])
            self._do_again(batch)
            return
        yield from result.outcomes
        if result.outcomes:
            self._seconds_a_file = (self._seconds_a_file + max(result.seconds / len(result.outcomes), 1e-6)) / 2
        if result.lost:
            done = {outcome.job.number for outcome in result.outcomes}
            self._do_again(batch._replace(jobs=[job for job in batch.jobs if job.number not in done]))
            self._lose(result.worker, result.lost)

    def _suspect(self, batch: _Batch) -> Iterator[Outcome]:
        """Have the files of a batch that no worker survived done one by one; give up the one that did it."""
        if batch.is_suspect:
            yield from (failure(job, f"{quoted_if_odd(job.source)}: given up: {_DEADLY}") for job in batch.jobs)
        else:
            self._suspects.extend([job] for job in batch.jobs)
            self._are_more = True
