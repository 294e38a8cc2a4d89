"""Workers on this machine: this process, a process a core, or a process a device.

    few files         this process, with a thread a core to read and write
    many files        a process a core; each reads, filters on its core and writes
    several devices   a process a device, with its share of the cores to read and write
    a GPU, by name    this process, with a thread a core to read and write

Processes come from a forkserver, which has imported what is slow to import and is forked for each of them. It never
touches an OpenCL platform: those do not survive a fork. A process that dies is replaced.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import startup
from ..errors import DeviceError, ProcessError
from . import work
from .jobs import DeviceLostError, cores
from .pool import Death, Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .run import Survey

# What processes need of this program, and nothing that touches an OpenCL platform.
PRELOADED = ["fftfilter.folders.batch", "fftfilter.fused.cpu.pipeline", "fftfilter.images.pillow_reader"]
# Files that pay for the start of processes, in all and for each process, and bytes that do.
FEWEST_FILES, FEWEST_BYTES = 48, 6 << 20
# Threads of a run over a network, most of whose time is waiting.
THREADS_FOR_URLS = 16
SECONDS_A_CHUNK = 0.05
# What idle processes have to end in; those that open a device still, or wait for a file, are killed then.
SECONDS_TO_END = 2.0
VENDORS = "/etc/OpenCL/vendors"


class Plan(NamedTuple):
    """Which workers do a folder: ``processes`` 0 means this process."""

    devices: Sequence[str | None]
    processes: int
    threads: int

    def __str__(self) -> str:
        return f"{self.processes} processes" if self.processes else "this process"


def choose_workers(survey: Survey, devices: Sequence[str | None], processes: int | None, *, over_network: bool) -> Plan:
    """Return the workers that suit a folder; ``devices`` and ``processes`` are what the user asked for.

    A folder's files are bound by their decoders and encoders, so that a GPU gains nothing over the cores, and each
    process would have to open it: without a wish, a CPU device is taken where there is one.
    """
    if over_network and processes is None and len(devices) == 1:
        return Plan(devices, 0, THREADS_FOR_URLS)
    if len(devices) > 1:
        each = processes or 1
        return Plan([*devices] * each, each * len(devices), max(1, cores() // (each * len(devices))))
    device = devices[0]
    if processes is None:
        pays = survey.files >= FEWEST_FILES or (survey.files >= 2 * cores() and survey.bytes >= FEWEST_BYTES)
        if not pays or cores() == 1:
            return Plan(devices, 0, cores())
        if _is_auto(device) and _may_have_gpu():
            device = "cpu" if _has_cpu_device() else device
        if device != "cpu" and (_is_auto(device) or _is_gpu(device)) and _may_have_gpu():
            return Plan([device], 0, cores())
        processes = min(cores(), survey.files)
    if processes == 1:
        return Plan([device], 0, cores())
    return Plan([device] * processes, processes, max(1, cores() // processes))


def _is_auto(device: str | None) -> bool:
    return (device or "auto").lower() == "auto"


def _may_have_gpu() -> bool:
    """Guess whether there is a GPU from what is cheap to see: a registered driver that is not PoCL's."""
    # PoCL and simulators from pip are not registered there.
    with suppress(OSError):
        names = os.listdir(os.environ.get("OCL_ICD_VENDORS") or VENDORS)  # noqa: PTH208
        return any(name.endswith(".icd") and "pocl" not in name for name in names)
    return sys.platform == "darwin"


def _has_cpu_device() -> bool:
    from ..device.choice import choose

    try:
        choose("cpu")
    except DeviceError:
        return False
    return True


def _is_gpu(device: str | None) -> bool:
    from ..device.choice import choose

    return choose(device).is_gpu


@contextmanager
def workers_of(plan: Plan) -> Iterator[LocalWorkers]:
    """Start the workers of a plan, and end them."""
    workers = LocalWorkers(plan)
    try:
        yield workers
    finally:
        workers.close()


class LocalWorkers:
    """The workers of a plan; see :class:`pool.Workers`."""

    seconds_a_chunk: float = SECONDS_A_CHUNK
    seconds_between_looks: float | None = None

    def __init__(self, plan: Plan) -> None:
        self.notes: list[str] = []
        self._plan = plan
        self._why = "no device"
        self._failed_starts = 0
        self._processes: dict[Worker, _Process] = {}
        self._context = multiprocessing.get_context("forkserver" if hasattr(os, "fork") else "spawn")
        if plan.processes:
            self._workers = [self._start(device) for device in plan.devices]
        else:
            device = plan.devices[0]
            self._workers = [Worker("this process", _ThisProcess(), device, plan.threads)]

    def look(self) -> list[Worker]:
        """Return the workers that are left; raises DeviceLostError if there is none."""
        if not self._workers:
            raise DeviceLostError(self._why)
        return list(self._workers)

    def lose(self, worker: Worker, why: str) -> None:
        """Do without a worker whose device is lost."""
        self._why = why
        self._workers.remove(worker)
        if process := self._processes.pop(worker, None):
            process.close()
        if self._workers:
            self.notes.append(f"{why}; the other devices do its files")

    def died(self, worker: Worker, error: BaseException) -> Death:
        """Start another process in the place of one that died; raises any other error."""
        process = self._processes.get(worker)
        if process is None or not isinstance(error, BrokenExecutor):
            raise error
        device = f" of device {worker.device}" if worker.device else ""
        why = f"a process{device} died ({process.how_it_ended()})"
        at_start = not process.has_started
        self._failed_starts = self._failed_starts + 1 if at_start else 0
        if self._failed_starts > len(self._workers):
            raise DeviceLostError(f"{why} at its start")
        self.notes.append(f"{why}; another one does its files")
        process.close()
        del self._processes[worker]
        replacement = self._start(worker.device)
        self._processes[worker] = self._processes.pop(replacement)
        worker.executor = replacement.executor
        return Death(why, at_start)

    @property
    def devices(self) -> set[str]:
        """The names of the devices that were opened by processes so far."""
        return {process.device for process in self._processes.values() if process.device}

    def close(self) -> None:
        """End all processes."""
        work.close()
        for process in self._processes.values():
            process.executor.shutdown(wait=False, cancel_futures=True)
        until = time.monotonic() + SECONDS_TO_END
        for process in self._processes.values():
            process.close(until)

    def _start(self, device: str | None) -> Worker:
        """Start a process that opens a device."""
        sharing = sum(other == device for other in self._plan.devices)
        variables = {"POCL_MAX_PTHREAD_COUNT": str(max(1, cores() // sharing))} if sharing > 1 else {}
        try:
            # If this process is killed, a helper of multiprocessing cleans up after it and would say so.
            os.environ.setdefault("PYTHONWARNINGS", "ignore::UserWarning:multiprocessing.resource_tracker")
            with _interrupts_ignored():
                if self._context.get_start_method() == "forkserver":
                    self._context.set_forkserver_preload(PRELOADED)
                executor = ProcessPoolExecutor(1, self._context, initializer=_begin, initargs=(variables, sys.path))
                process = _Process(executor, device)
        except (OSError, ImportError, NotImplementedError) as error:
            cause = (getattr(error, "strerror", None) or str(error)).lower()
            raise ProcessError(f"{sys.executable}: cannot start processes: {cause}; give --processes 1") from error
        worker = Worker(f"a process of device {device}", executor, device, self._plan.threads)
        self._processes[worker] = process
        return worker


class _Process:
    """A process, which opens its device at once."""

    def __init__(self, executor: ProcessPoolExecutor, device: str | None) -> None:
        before = set(multiprocessing.active_children())
        self.executor = executor
        self._started: Future[work.Started] = executor.submit(work.open_device, device)
        self._process = next(iter(set(multiprocessing.active_children()) - before), None)

    @property
    def has_started(self) -> bool:
        """Whether it lived long enough to open its device, or to say why not."""
        return self._started.done() and not isinstance(self._started.exception(), BrokenExecutor)

    @property
    def device(self) -> str | None:
        """The name of its device, None if it is not open."""
        return self._started.result().device if self.has_started and not self._started.exception() else None

    def how_it_ended(self) -> str:
        """Return the exit code of a process that died, in words."""
        if self._process is None:
            return "exit code unknown"
        self._process.join(SECONDS_TO_END)
        return f"exit code {self._process.exitcode}"

    def close(self, until: float = 0.0) -> None:
        """End the process; kill it if it has not ended by itself by then."""
        self.executor.shutdown(wait=False, cancel_futures=True)
        if self._process is None:
            return
        self._process.join(max(0.0, until - time.monotonic()))
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()


class _ThisProcess(Executor):
    """An executor that does what is submitted at once, in this process."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(function(*arguments, **options))
        except Exception as error:  # noqa: BLE001  whoever asks for the result gets it
            done.set_exception(error)
        return done


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Start processes that leave Ctrl-C, which a terminal sends to all, to this one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _begin(variables: dict[str, str], path: list[str]) -> None:
    """Prepare a process for its work: its environment, and its end if this program goes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.path[:] = path
    for name, value in variables.items():
        os.environ.setdefault(name, value)
    startup.resume_collector()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        time.sleep(1)  # what is being written is finished
        os._exit(0)
