"""Several processes on one machine, spawned, since OpenCL does not survive a fork: one a device, or several on one.

Each process does what one device does alone (`batch.py`) and is sent a few files at a time, so that a fast
device gets more of them. When a device fails or its process dies, its files go to the others.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ..errors import FftfilterError
from .jobs import DeviceLostError, Job, Outcome, Settings, failure, processors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.process import BaseProcess

    from .batch import Batch

# What is finished is told at this interval, since a message costs as much as a small file; a process has so many times
# the files in hand that it finishes meanwhile, within limits.
_SECONDS_A_MESSAGE = 0.02
_TIMES_IN_HAND, _FEWEST_IN_HAND, _MOST_IN_HAND = 3, 4, 128
# Files from which several processes on one device pay for their start, and the most of them that do.
_MANY_FILES = 600
_MOST_SHARES = 4
# A file that was in hand when this many processes died is not given to another.
_MOST_DEATHS = 2


@dataclass(eq=False)
class _Worker:
    device: str | None
    process: BaseProcess
    connection: Connection
    in_hand: dict[int, Job] = field(default_factory=dict)
    wanted: int = _FEWEST_IN_HAND


def shares(device: str | None, files: int) -> list[str | None]:
    """Return a device as often as it should get a process, whether CPU or GPU, for so many files.

    Python runs one thread at a time in a process, which limits small files that are quickly coded, more so with more
    processors. Four processes on a GPU with 16 processors did 2.5 times as many PGM as one; with eight, their start
    took longer than they saved.
    """
    if files < _MANY_FILES or processors() == 1:
        return [device]
    return [device] * min(processors(), _MOST_SHARES)


def run_on_devices(
    jobs: Iterator[Job], settings: Settings, devices: Sequence[str | None], warnings: list[str]
) -> Iterator[Outcome]:
    """Do all jobs, shared among devices; a lost device is told in ``warnings``.

    Raises DeviceLostError when none is left.
    """
    settings = replace(settings, threads=settings.threads or max(1, processors() // len(devices)))
    workers = [_start(settings, device, devices.count(device)) for device in devices]
    try:
        yield from _Share(workers, jobs, warnings).run()
    finally:
        for worker in workers:
            worker.connection.close()
            worker.process.join(10)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()


def _start(settings: Settings, device: str | None, sharing: int) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, settings, device, sharing), daemon=True)
    with _no_interrupts():
        process.start()
    theirs.close()
    return _Worker(device, process, ours)


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Start processes that leave Ctrl-C, which a terminal sends to all, to this one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Share:
    """The files of a run, shared among its devices."""

    def __init__(self, workers: Sequence[_Worker], jobs: Iterator[Job], warnings: list[str]) -> None:
        self._alive = list(workers)
        self._jobs = jobs
        self._again: deque[Job] = deque()
        self._deaths: dict[int, int] = {}
        self._given_up: list[Outcome] = []
        self._warnings = warnings

    def run(self) -> Iterator[Outcome]:
        last = "no device"
        while True:
            for worker in list(self._alive):
                self._feed(worker)
            yield from self._given_up
            self._given_up.clear()
            if not any(worker.in_hand for worker in self._alive):
                break
            for connection in wait([worker.connection for worker in self._alive]):
                (worker,) = (each for each in self._alive if each.connection is connection)
                try:
                    told = worker.connection.recv()
                except (EOFError, OSError):
                    worker.process.join(10)
                    last = f"the process of device {worker.device} died (exit code {worker.process.exitcode})"
                    self._lose(worker, last, died=True)
                    continue
                if isinstance(told, FftfilterError):
                    last = str(told)
                    self._lose(worker, last, died=False)
                    continue
                for outcome in told:
                    worker.in_hand.pop(outcome.job.number, None)
                worker.wanted = max(_FEWEST_IN_HAND, min(_MOST_IN_HAND, _TIMES_IN_HAND * len(told)))
                self._feed(worker)
                yield from told
        if not self._alive and (self._again or next(self._jobs, None) is not None):
            raise DeviceLostError(last)

    def _feed(self, worker: _Worker) -> None:
        jobs: list[Job] = []
        while len(worker.in_hand) + len(jobs) < worker.wanted:
            job = self._again.popleft() if self._again else next(self._jobs, None)
            if job is None:
                break
            jobs.append(job)
        if jobs:
            worker.in_hand |= {job.number: job for job in jobs}
            with suppress(OSError):  # That it died is found when it is listened to.
                worker.connection.send(jobs)

    def _lose(self, worker: _Worker, why: str, *, died: bool) -> None:
        from ..images import quoted_if_odd
        from ..leftovers import remove_leftovers

        self._alive.remove(worker)
        for job in worker.in_hand.values():
            if died:
                remove_leftovers(Path(job.target).parent, dead=worker.process.pid)
                self._deaths[job.number] = self._deaths.get(job.number, 0) + 1
            if self._deaths.get(job.number, 0) >= _MOST_DEATHS:
                self._given_up.append(
                    failure(job, f"{quoted_if_odd(job.source)}: given up: {why} while it was in hand")
                )
            else:
                self._again.append(job)
        worker.in_hand.clear()
        if self._alive:
            self._warnings.append(f"{why}; the other devices do its files")


# In the process of a device


def _serve(connection: Connection, settings: Settings, device: str | None, sharing: int) -> None:
    """Do the jobs that come in until the connection ends; so many processes share the device."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sharing > 1:
        # PoCL's own workers, to be limited before it is loaded.
        os.environ.setdefault("POCL_MAX_PTHREAD_COUNT", str(max(1, processors() // sharing)))
    # NumPy's linear algebra, which nothing here uses, starts workers that wait busily.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from .batch import Batch

    try:
        with Batch(settings, device) as batch:
            _work(connection, batch)
    except FftfilterError as error:
        with suppress(OSError):
            connection.send(DeviceLostError(str(error)))
    except (EOFError, ConnectionError):
        return
    # All is written, and taking the interpreter and OpenCL down in order would keep the parent waiting.
    connection.close()
    os._exit(0)


def _work(connection: Connection, batch: Batch) -> None:
    inbox: deque[Job | None] = deque()

    def receive() -> None:
        # Ends with the connection; the step that waits is woken for each message.
        with suppress(EOFError, OSError):
            while True:
                inbox.extend(connection.recv())
                batch.wake()
        inbox.append(None)
        batch.wake()

    threading.Thread(target=receive, daemon=True).start()
    finished: list[Outcome] = []
    told = time.monotonic()
    while True:
        while inbox and inbox[0] is not None and batch.room:
            batch.start(cast("Job", inbox.popleft()))
        if inbox and inbox[0] is None:
            return
        if batch.lost and batch.idle:
            raise batch.lost
        finished += batch.step()
        now = time.monotonic()
        if finished and (batch.idle or now - told > _SECONDS_A_MESSAGE):
            connection.send(finished)
            finished, told = [], now
