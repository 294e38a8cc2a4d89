"""Workers on this machine: this process, one process per core, or one per device.

    few or large      this process, with one reading and writing thread per core
    many files        up to one process per core; each reads, filters on its core and writes
    several devices   one process per device, with its share of the cores to read and write
    a GPU, by name    this process, with one reading and writing thread per core

Processes are forked from a forkserver that has done the slow imports. It never touches an OpenCL platform: those do not
survive a fork.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import device_choice, signals, system
from ..errors import ProcessError, WriteError
from ..files import urls
from ..system import cores
from .jobs import DeviceLostError, Job, Outcome, Settings, Survey
from .pool import IN_HAND, Pool, Workers, open_device

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    from ..images import Pages
    from ..transfer.product import Edges
    from ..work.opened import Opened
    from ..work.output_file import Share
    from ..work.recipe import Recipe

# The time that the start of a process costs the others; most of it is on its own core.
SECONDS_A_START = 0.01
# Work that pays for the start of the first process, with the imports that all share.
SECONDS_THAT_PAY = 0.15
# Threads of a run over a network, most of whose time is waiting.
THREADS_FOR_URLS = 16
# The bytes of a file from which on threads do as well as processes: all but a little is done without Python then.
LARGE_FILE = 1 << 20
# Jobs of planes for each process: enough that all end at about the same time.
JOBS_A_PROCESS = 8
# The exit code of a process that was killed.
KILLED = -getattr(signal, "SIGKILL", signal.SIGTERM)
HAS_FORKSERVER = hasattr(os, "fork")
CONTEXT = multiprocessing.get_context("forkserver" if HAS_FORKSERVER else "spawn")


class WantedWorkers(NamedTuple):
    """The workers for a folder; with 0 ``processes`` it is this process."""

    devices: Sequence[str | None]
    processes: int
    threads: int
    is_asked_for: bool = True
    """Whether the user asked for processes; else this process takes over where none can be started."""
    edges: Edges = "wrap"
    """Those of most pictures, by which a device is tried that is new here."""


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
        processes = useful_processes(survey)
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


class Processes(Workers):
    """Processes that share a device; if one dies, which breaks their executor, they are started anew.

    Raises ProcessError if they cannot be started.
    """

    def __init__(self, wanted: WantedWorkers, device: str | None) -> None:
        super().__init__(device, wanted.threads)
        self.count, self._edges = wanted.devices.count(device), wanted.edges
        self.most = IN_HAND * self.count
        self._variables = share_of_cores(self.count) | (device_choice.cpu_alone() if device == "cpu" else {})
        self._started: _Executor | None = None
        self._start(self.count)

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        """Give work to the processes; that one has died may be the future's error."""
        return self._start(self.count).submit(function, *arguments, **options)

    def submit_alone(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Let a process of its own work; raises DeviceLostError if two die before they have opened the device."""
        why = ""
        for _ in range(2):
            started = self._start(1)
            error = started.opened.exception()
            if not isinstance(error, BrokenExecutor):
                return started.submit(function, *arguments)
            why = self.died(error)
        raise DeviceLostError(f"{why} at its start")

    def died(self, error: BaseException) -> str:
        """End what is left of a broken executor; return how its process died."""
        if not isinstance(error, BrokenExecutor):
            raise error
        device = f" of device {self.device}" if self.device else ""
        why = f"a process{device} died (exit code {self._end()})"
        self.notes.append(f"{why}; another one does its files")
        return why

    def stop_trying(self) -> None:
        """Try nothing again: each process hears it, and those that are started later."""
        super().stop_trying()
        if self._started:
            self._started.line.close()

    def close(self) -> None:
        """Kill the processes: all their files are written, or the user wants no more."""
        self._end()

    def _start(self, count: int, tries: int = 3) -> _Executor:
        """Return an executor of so many processes, started if it is not there."""
        if self._started and self._started.count == count:
            return self._started
        self._end()
        try:
            start_forkserver()
            self._started = _Executor(count, self._variables)
            if urls.interrupted.is_set():
                self._started.line.close()
            for _ in range(count):
                self._started.opened = self._started.submit(open_device, self.device, self._edges)
        # EOFError if the forkserver dies meanwhile, RuntimeError if no further thread can be started.
        except (EOFError, OSError, ImportError, RuntimeError) as error:
            self._end()
            if isinstance(error, EOFError | ConnectionError) and tries > 1:  # another forkserver takes its place
                time.sleep(0.1)
                return self._start(count, tries - 1)
            cause = (getattr(error, "strerror", None) or str(error)).lower()
            raise ProcessError(f"{sys.executable}: cannot start processes: {cause}; give --processes 1") from error
        return self._started

    def _end(self) -> int:
        started, self._started = self._started, None
        return started.end() if started else 0


class _Executor(ProcessPoolExecutor):
    """An executor whose processes can be killed, or asked to try nothing again by the end of a ``line``."""

    opened: Future[None]
    """Done when a process has opened the device."""

    def __init__(self, count: int, variables: dict[str, str]) -> None:
        self.count = count
        self._known: set[BaseProcess] = set()
        end, self.line = CONTEXT.Pipe(duplex=False)
        super().__init__(count, CONTEXT, initializer=_begin, initargs=(variables, sys.path, end))

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        before = set(multiprocessing.active_children())
        starts = len(self._known) < self.count  # processes and threads
        try:
            with signals.blocked() if starts else nullcontext():
                return super().submit(function, *arguments, **options)
        except BrokenExecutor as error:
            failed: Future[Any] = Future()
            failed.set_exception(error)
            return failed
        finally:
            self._known |= set(multiprocessing.active_children()) - before

    def end(self) -> int:
        """Kill all processes, and wait for their ends; return the exit code of one that had died before."""
        for each in self._known:
            each.kill()
        with suppress(RuntimeError):  # its thread was not started
            # It joins the processes: a second thread that did so at once would lose their exit codes.
            self.shutdown(cancel_futures=True)
        for each in self._known:
            each.join()
        codes = {each.exitcode or 0 for each in self._known}
        return min(codes - {0, KILLED}, default=KILLED)


@contextmanager
def started(wanted: WantedWorkers) -> Iterator[list[Workers]]:
    """Start an executor for each device, or for this process; at the end all are closed.

    If processes cannot be started, this process takes over, or ProcessError is raised if the user has asked for them.
    """
    with ExitStack() as stack:
        executors: list[Workers] = []
        devices = dict.fromkeys(wanted.devices) if wanted.processes else ()
        try:
            executors += (stack.enter_context(closing(Processes(wanted, device))) for device in devices)
        except ProcessError:
            if wanted.is_asked_for:
                raise
            stack.close()
        threads = cores() if wanted.processes else wanted.threads
        yield executors or [stack.enter_context(closing(Workers(wanted.devices[0], threads)))]


def described(executors: Sequence[Workers]) -> str:
    """Return where files are filtered, in words."""
    count = sum(each.count for each in executors if isinstance(each, Processes))
    return f"{count} processes" if count > 1 else "1 process" if count else "this process"


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


def _begin(variables: dict[str, str], path: list[str], line: Any) -> None:
    """Prepare a process for its work: its environment, and its end if this program goes."""
    for number in signals.ALL:  # where they cannot be blocked
        signal.signal(number, signal.SIG_IGN)
    sys.path[:] = path
    os.environ.update(variables)
    if system.POCL_WORKERS in variables:
        # PoCL would pin the only worker of every process to the same core.
        os.environ.pop("POCL_AFFINITY", None)
    system.resume_collector()
    device_choice.tell = lambda _: None  # the process that started this one says it
    threading.Thread(target=_end_with_parent, args=(line,), daemon=True).start()


def _end_with_parent(line: Any) -> None:
    with suppress(EOFError, OSError):
        line.recv_bytes()
    urls.interrupted.set()
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        time.sleep(1)  # to finish the files that are being written
        os._exit(0)


# The planes of an OME-Zarr, as the files of a folder: a job is a run of planes. The program itself filters the first
# plane, whose output shows which arrays to make; the workers write the others into them.


def choose_for_planes(pages: Pages, device: str | None, processes: int | None) -> WantedWorkers:
    """Return the workers that suit the chosen planes; ``device`` and ``processes`` are the user's choice."""
    size = pages.size()
    survey = Survey(len(pages), len(pages) * size.samples * size.bytes_per_sample)
    # A process reads, filters and writes one plane after the other; zarr has threads of its own.
    return choose_workers(survey, [device], processes, over_network=False)._replace(threads=1)


def share_planes(executors: Sequence[Workers], source: str, target: str, opened: Opened) -> Share:
    """Return a function that lets workers filter and write all chosen planes of an input but the first.

    With ``measure_only`` they find the largest value of each plane by a recipe that measures. ``advance`` is called
    after each plane. The outcomes are in the planes' order. Raises WriteError if a plane cannot be read, filtered or
    written, and DeviceError.
    """

    def do(recipe: Recipe, advance: Callable[[], None], *, measure_only: bool = False) -> list[Outcome]:
        planes = opened.pages.chosen[0 if measure_only else 1 :]
        # Waves were looked for in all planes.
        settings = Settings(replace(recipe, transfer=opened.transfer, auto=None), measure_only=measure_only)
        share = max(1, -(-len(planes) // (JOBS_A_PROCESS * sum(each.count for each in executors))))
        share += -share % opened.pages.thick
        starts = range(0, len(planes), share)
        jobs = [Job(i, source, target, planes=planes[start : start + share]) for i, start in enumerate(starts)]
        done: list[Outcome] = []
        notes: list[str] = []  # on processes that died
        for outcome in Pool(executors, len(jobs), executors[0].seconds_a_chunk, notes).run(iter(jobs), settings):
            if outcome.error:
                raise WriteError(outcome.error)
            done.append(outcome)
            for _ in range(outcome.pages):
                advance()
        for outcome in done[:1]:
            outcome.cautions += notes
        return sorted(done, key=lambda outcome: outcome.job.number)

    return do
