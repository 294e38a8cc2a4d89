"""Workers on this machine: this process, one process per core, or one per device.

    few or large      this process, with one reading and writing thread per core
    many files        up to one process per core; each reads, filters on its core and writes
    several devices   one process per device, with its share of the cores to read and write
    a GPU, by name    this process, with one reading and writing thread per core

Processes are forked from a forkserver that has done the slow imports. It never touches an OpenCL platform: those do not
survive a fork. A process that dies is replaced.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from typing import Any, NamedTuple

from .. import device_choice, signals, startup, system
from ..errors import ProcessError
from ..system import cores
from .jobs import DeviceLostError
from .pool import Death, Worker, close_batch, open_device
from .run import Survey

# The time that the start of a process costs the others; most of it is on its own core.
SECONDS_A_START = 0.01
# Work that pays for the start of the first process, with the imports that all share.
SECONDS_THAT_PAY = 0.15
# Threads of a run over a network, most of whose time is waiting.
THREADS_FOR_URLS = 16
# The bytes of a file from which on threads do as well as processes: all but a little is done without Python then.
LARGE_FILE = 1 << 20
HAS_FORKSERVER = hasattr(os, "fork")
CONTEXT = multiprocessing.get_context("forkserver" if HAS_FORKSERVER else "spawn")


class WantedWorkers(NamedTuple):
    """The workers for a folder; with 0 ``processes`` it is this process."""

    devices: Sequence[str | None]
    processes: int
    threads: int
    is_asked_for: bool = True
    """Whether the user asked for processes; else this process takes over where none can be started."""


def choose_workers(
    survey: Survey, devices: Sequence[str | None], processes: int | None, *, over_network: bool
) -> WantedWorkers:
    """Return the workers that suit a folder; ``devices`` and ``processes`` are the user's choice.

    Decoders and encoders take most of the time of a folder, so that a GPU gains little over the cores, and each process
    would have to open it. By default a CPU device is taken where there is one.
    """
    if over_network and processes is None and len(devices) == 1:
        return WantedWorkers(devices, 0, THREADS_FOR_URLS)
    if len(devices) > 1:
        count = len(devices) * (processes or 1)
        return WantedWorkers([*devices] * (processes or 1), count, max(1, cores() // count))
    device = devices[0]
    is_asked_for = processes is not None
    if processes is None:
        processes = system.startable_processes(useful_processes(survey)) or 1
        if processes > 1:
            device, is_shared = device_choice.for_processes(device)
            processes = processes if is_shared else 1
    if processes == 1:
        return WantedWorkers([device], 0, cores())
    return WantedWorkers([device] * processes, processes, max(1, cores() // processes), is_asked_for)


def useful_processes(survey: Survey) -> int:
    """Return the number of processes that pay for their start, at most one per core.

    p processes take 1/p of the time of one, and p times the start of one. The sum is least where p squared is the
    one time over the other.
    """
    seconds = survey.files * survey.file_seconds
    if survey.file_bytes > LARGE_FILE or seconds < SECONDS_THAT_PAY:
        return 1
    return max(1, min(cores(), survey.files, round(math.sqrt(seconds / SECONDS_A_START))))


class LocalWorkers:
    """The workers that are wanted, on this machine; to be closed."""

    seconds_a_chunk = 0.05
    """How long a chunk should take: long beside the cost of sending it, but short enough to wait for."""

    def __init__(self, wanted: WantedWorkers) -> None:
        self.notes: list[str] = []
        """Lines about workers that were lost, for the user; a run puts its own list here."""
        self.wanted = wanted
        self._without_gpus = device_choice.cpu_alone()
        self._why = "no device"
        self._failed_starts = 0
        self._to_start = list(wanted.devices) if wanted.processes else []
        if system.startable_processes(wanted.processes) < wanted.processes:
            by_files = system.processes_by_files(wanted.processes) < wanted.processes
            limit = "open files (ulimit -n)" if by_files else "processes (ulimit -u)"
            raise ProcessError(
                f"{wanted.processes} processes cannot be started: the limit on {limit} allows no more; "
                "give --processes 1"
            )
        self._workers: list[Worker] = []
        self._started = 0
        if not wanted.processes:
            self._workers.append(Worker("this process", _ThisProcess(), wanted.devices[0], wanted.threads))

    def __str__(self) -> str:
        return f"{self._started} processes" if self._started > 1 else "1 process" if self._started else "this process"

    @property
    def seconds_between_looks(self) -> float | None:
        """When :meth:`look` has to be called again: at once while processes are to be started; None for events only."""
        return 0.0 if self._to_start else None

    def look(self, *, has_work: bool) -> list[Worker]:
        """Return the workers; start one more if ``has_work`` and one is wanted; raises DeviceLostError without any."""
        if self._to_start and has_work:
            self._start_next()
        elif not has_work:
            self._to_start.clear()
        if not self._workers:
            raise DeviceLostError(self._why)
        return list(self._workers)

    def lose(self, worker: Worker, why: str) -> None:
        """Do without a worker whose device is lost."""
        self._why = why
        self._workers.remove(worker)
        _end([worker])
        if self._workers:
            self.notes.append(f"{why}; the other devices do its files")

    def died(self, worker: Worker, error: BaseException) -> Death:
        """Start another process in the place of one that died; return how it died; raises an error that is no death."""
        process = worker.executor
        if not isinstance(process, _Process) or not isinstance(error, BrokenExecutor):
            raise error
        device = f" of device {worker.device}" if worker.device else ""
        why = f"a process{device} died ({process.how_it_ended()})"
        at_start = not process.has_started
        self._failed_starts = self._failed_starts + 1 if at_start else 0
        if self._failed_starts > len(self._workers):
            raise DeviceLostError(f"{why} at its start")
        self.notes.append(f"{why}; another one does its files")
        worker.executor = self._start(worker.device)
        return Death(why, at_start)

    def close(self) -> None:
        """End all processes."""
        close_batch()
        _end(self._workers)

    def _start_next(self) -> None:
        """Start another process; if that fails, the others do its work, or this process does."""
        device, threads = self._to_start.pop(0), self.wanted.threads
        try:
            self._workers.append(Worker(f"a process of device {device}", self._start(device), device, threads))
            self._started += 1
        except ProcessError as error:
            if not self._workers and self.wanted.is_asked_for:
                raise
            self._to_start.clear()
            if self.wanted.is_asked_for:
                self.notes.append(str(error))
            if not self._workers:
                self._workers.append(Worker("this process", _ThisProcess(), device, cores()))

    def _start(self, device: str | None) -> _Process:
        """Start a process that opens a device."""
        variables = share_of_cores(self.wanted.devices.count(device))
        if device == "cpu":
            variables |= self._without_gpus
        try:
            start_forkserver()
            with signals.blocked():
                return _Process(device, variables)
        # The first: the forkserver dies meanwhile; the last: no more threads.
        except (EOFError, OSError, ImportError, RuntimeError) as error:
            cause = (getattr(error, "strerror", None) or str(error)).lower()
            raise ProcessError(f"{sys.executable}: cannot start processes: {cause}; give --processes 1") from error


class _Process(ProcessPoolExecutor):
    """An executor of one process, which opens its device at once."""

    def __init__(self, device: str | None, variables: dict[str, str]) -> None:
        super().__init__(1, CONTEXT, initializer=_begin, initargs=(variables, sys.path))
        before = set(multiprocessing.active_children())
        self._started = self.submit(open_device, device)
        self._process = next(iter(set(multiprocessing.active_children()) - before), None)

    @property
    def has_started(self) -> bool:
        """Whether it lived long enough to open its device, or to say why not."""
        return self._started.done() and not isinstance(self._started.exception(), BrokenExecutor)

    def how_it_ended(self) -> str:
        """Return the exit code of a process that died, as text."""
        self.shutdown()  # its thread joins the process; a second one at once would lose the exit code
        return f"exit code {self._process.exitcode if self._process else 'unknown'}"

    def kill(self) -> None:
        """End the process at once: all its files are written, or the user wants no more."""
        if self._process is not None:
            self._process.kill()


def share_of_cores(sharing: int) -> dict[str, str]:
    """Return the variables of each process of several that share a device, so that it takes its part of the cores."""
    asked = os.environ.get(system.POCL_WORKERS, "")
    each = max(1, cores() // sharing)
    return {system.POCL_WORKERS: str(min(each, int(asked)) if asked.isdigit() else each)} if sharing > 1 else {}


def start_forkserver() -> None:
    """Start the process that others are forked from, if it does not run yet."""
    # If this process is killed, a helper of multiprocessing cleans up after it and would say so.
    os.environ.setdefault("PYTHONWARNINGS", "ignore::UserWarning:multiprocessing.resource_tracker")
    if HAS_FORKSERVER:
        from multiprocessing.forkserver import ensure_running, set_forkserver_preload

        set_forkserver_preload(["fftfilter.folders.preloaded"])
        with signals.blocked():
            ensure_running()


def _end(workers: Sequence[Worker]) -> None:
    """Kill processes, and wait for their ends."""
    for worker in workers:
        if isinstance(worker.executor, _Process):
            worker.executor.kill()
    for worker in workers:
        worker.executor.shutdown(cancel_futures=True)


class _ThisProcess(Executor):
    """An executor that works at once, in this process."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        return system.at_once(function, *arguments, **options)


def _begin(variables: dict[str, str], path: list[str]) -> None:
    """Prepare a process for its work: its environment, and its end if this program goes."""
    for number in signals.ALL:  # where they cannot be blocked
        signal.signal(number, signal.SIG_IGN)
    sys.path[:] = path
    os.environ.update(variables)
    if system.POCL_WORKERS in variables:
        # PoCL would pin the only worker of every process to the same core.
        os.environ.pop("POCL_AFFINITY", None)
    startup.resume_collector()
    device_choice.tell = lambda _: None  # the process that started this one says it
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        time.sleep(1)  # to finish the files that are being written
        os._exit(0)
