"""Several devices of one machine: a process each, spawned, since OpenCL does not survive a fork.

Each process does what one device does alone (`batch.py`) and is sent a few files at a time, so that a fast
device gets more of them. When a device fails or its process dies, its files go to the others.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..device import choose
from ..errors import FftfilterError
from ..images import quoted_if_odd
from ..leftovers import remove_leftovers
from .batch import PICTURES_A_STACK, Batch, DeviceLostError, Job, Outcome, Settings, failure, processors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.process import BaseProcess

# Files that a device has in hand: a stack that is filtered, one that is read.
_IN_HAND = 2 * PICTURES_A_STACK
# Files from which the start of several processes on one CPU, half a second, pays; and the most of them.
_MANY_FILES = 4000
_MOST_SHARES = 8
# A file that was in hand when this many processes died is not given to another.
_MOST_DEATHS = 2


@dataclass(eq=False)
class _Worker:
    device: str | None
    process: BaseProcess
    connection: Connection
    in_hand: dict[int, Job] = field(default_factory=dict)
    told_to_end: bool = False


def shares(device: str | None, files: int) -> list[str | None]:
    """Return a device as often as it should get a process: a CPU with many files to do once for each processor.

    Python runs one thread at a time in a process, which is what limits small files that are quickly coded: two
    processes with one worker of the device each did 1.4 times as many as one with two.
    """
    if files < _MANY_FILES or processors() == 1 or choose(device).is_gpu:
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
                worker.in_hand.pop(told.job.number, None)
                yield told
        if not self._alive and (self._again or next(self._jobs, None) is not None):
            raise DeviceLostError(last)

    def _feed(self, worker: _Worker) -> None:
        while len(worker.in_hand) < _IN_HAND:
            job = self._again.popleft() if self._again else next(self._jobs, None)
            if job is None:
                return
            worker.in_hand[job.number] = job
            try:
                worker.connection.send(job)
            except OSError:
                return  # that it died is found when it is listened to

    def _lose(self, worker: _Worker, why: str, *, died: bool) -> None:
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
    try:
        with Batch(settings, device) as batch:
            _work(connection, batch)
    except FftfilterError as error:
        with suppress(OSError):
            connection.send(DeviceLostError(str(error)))
    except (EOFError, BrokenPipeError):
        return


def _work(connection: Connection, batch: Batch) -> None:
    inbox: deque[Job | None] = deque()

    def receive() -> None:
        # Ends with the connection; the step that waits is woken for each.
        job: Any = True
        while job is not None:
            try:
                job = connection.recv()
            except (EOFError, OSError):
                job = None
            inbox.append(job)
            batch.wake()

    threading.Thread(target=receive, daemon=True).start()
    while True:
        while inbox and inbox[0] is not None and batch.room:
            job = inbox.popleft()
            if job is not None:
                batch.start(job)
        if inbox and inbox[0] is None:
            return
        if batch.lost and batch.idle:
            raise batch.lost
        for outcome in batch.step():
            connection.send(outcome)
