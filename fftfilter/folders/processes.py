"""Several processes on one machine, spawned, since OpenCL does not survive a fork: one a device, or several on one.

Each process does what one device does alone (`worker.py`, `batch.py`) and is sent a few files at a time, so that a
fast device gets more of them. When a device fails or its process dies, its files go to the others.
"""

from __future__ import annotations

import math
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import deque
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Self, cast

from ..errors import DeviceError, FftfilterError
from .jobs import DeviceLostError, Job, Outcome, Settings, failure, processors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    News = tuple["_Process", list[Outcome] | FftfilterError | None]

# A process has so many times the files in hand that it finishes between two messages, within limits.
_TIMES_IN_HAND, _FEWEST_IN_HAND, _MOST_IN_HAND = 3, 4, 128
# A file that was in hand when this many processes died is not given to another.
_MOST_DEATHS = 2
_SECONDS_TO_END = 10
# Files that one process does in the time that another needs to start; of this size, in bytes, codecs and device take
# so much longer than Python that one process keeps all processors busy.
_FILES_A_START, _LARGE_FILE = 220, 1 << 20
_MOST_PROCESSES = 8
_MOST_COUNTED, _MOST_MEASURED = _FILES_A_START * _MOST_PROCESSES**2, 256
# Modules are found where this process finds them; the program itself is not loaded again.
_PROGRAM = "import gc, sys; gc.disable(); sys.path[:] = sys.argv[2:]; from {} import serve; serve(sys.argv[1] or None)"


@dataclass(eq=False)
class _Process:
    device: str | None
    popen: subprocess.Popen[bytes]
    jobs: IO[bytes]
    outcomes: IO[bytes]
    in_hand: dict[int, Job] = field(default_factory=dict)
    wanted: int = _FEWEST_IN_HAND

    def send(self, what: Settings | list[Job]) -> None:
        with suppress(OSError):  # that it died is found when it is listened to
            pickle.dump(what, self.jobs, pickle.HIGHEST_PROTOCOL)
            self.jobs.flush()

    def listen(self, news: SimpleQueue[News]) -> None:
        """Pass on what it says, and None at its end."""
        with suppress(EOFError, OSError, pickle.UnpicklingError):
            while True:
                news.put((self, pickle.load(self.outcomes)))  # noqa: S301  from this program
        news.put((self, None))


def useful_processes(files: int, bytes_a_file: float) -> int:
    """Return how many processes so many files of one folder pay for.

    Python runs one thread at a time in a process, which limits small files that are quickly coded. With p processes
    they take 1/p of the time, but each costs a start; GPUs are even opened one after the other. The sum is least where
    p squared is the files' time over that of a start.
    """
    if bytes_a_file > _LARGE_FILE:
        return 1
    return max(1, min(processors(), _MOST_PROCESSES, round(math.sqrt(files / _FILES_A_START))))


def count(folder: Path, *, recursive: bool) -> tuple[int, float]:
    """Return how many files a folder has, up to as many as matter, and the mean size of some of them, quickly."""
    files = measured = size = 0
    folders = [os.fspath(folder)]
    while folders and files < _MOST_COUNTED:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in islice(entries, _MOST_COUNTED):
                if entry.is_file():
                    files += 1
                    if files <= _MOST_MEASURED:
                        measured, size = files, size + entry.stat().st_size
                elif recursive and entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
    return files, size / max(measured, 1)


class Team:
    """Processes that share the files of a run; started at once, since that takes them longer than many a file."""

    def __init__(self, devices: Sequence[str | None]) -> None:
        self._news: SimpleQueue[News] = SimpleQueue()
        self._all = [_start(device, devices.count(device)) for device in devices]
        self._alive = list(self._all)
        for each in self._all:
            threading.Thread(target=each.listen, args=(self._news,), daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._all:
            with suppress(OSError):
                each.jobs.close()
        for each in self._all:
            try:
                each.popen.wait(_SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                each.popen.kill()
                each.popen.wait()

    def run(self, jobs: Iterator[Job], settings: Settings, warnings: list[str]) -> Iterator[Outcome]:
        """Do all jobs; a lost device is told in ``warnings``.

        Raises DeviceLostError when none is left, FftfilterError for settings that cannot be meant.
        """
        settings = replace(settings, threads=settings.threads or max(1, processors() // len(self._all)))
        for each in self._alive:
            each.send(settings)
        yield from _Share(self._alive, self._news, jobs, warnings).run()


def _start(device: str | None, sharing: int) -> _Process:
    """Start a process on a device that so many share."""
    # NumPy's linear algebra, which nothing here uses, starts workers that wait busily.
    variables = {"OPENBLAS_NUM_THREADS": "1"}
    if sharing > 1:
        # PoCL's own workers.
        variables["POCL_MAX_PTHREAD_COUNT"] = str(max(1, processors() // sharing))
    program = _PROGRAM.format(f"{__package__}.worker")
    with _no_interrupts():
        popen = subprocess.Popen(
            [sys.executable, "-c", program, device or "", *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=variables | os.environ,
        )
    return _Process(device, popen, cast("IO[bytes]", popen.stdin), cast("IO[bytes]", popen.stdout))


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
    """The files of a run, shared among its processes."""

    def __init__(
        self, alive: list[_Process], news: SimpleQueue[News], jobs: Iterator[Job], warnings: list[str]
    ) -> None:
        self._alive, self._news = alive, news
        self._jobs = jobs
        self._again: deque[Job] = deque()
        self._deaths: dict[int, int] = {}
        self._given_up: list[Outcome] = []
        self._warnings = warnings

    def run(self) -> Iterator[Outcome]:
        last = "no device"
        while True:
            for each in list(self._alive):
                self._feed(each)
            yield from self._given_up
            self._given_up.clear()
            if not any(each.in_hand for each in self._alive):
                break
            process, told = self._news.get()
            if process not in self._alive:
                continue
            if isinstance(told, list):
                for outcome in told:
                    process.in_hand.pop(outcome.job.number, None)
                process.wanted = max(_FEWEST_IN_HAND, min(_MOST_IN_HAND, _TIMES_IN_HAND * len(told)))
                self._feed(process)
                yield from told
            elif told is None:
                process.popen.wait(_SECONDS_TO_END)
                last = f"the process of device {process.device} died (exit code {process.popen.returncode})"
                self._lose(process, last, died=True)
            elif isinstance(told, DeviceError):
                last = str(told)
                self._lose(process, last, died=False)
            else:
                raise told
        if not self._alive and (self._again or next(self._jobs, None) is not None):
            raise DeviceLostError(last)

    def _feed(self, process: _Process) -> None:
        jobs: list[Job] = []
        while len(process.in_hand) + len(jobs) < process.wanted:
            job = self._again.popleft() if self._again else next(self._jobs, None)
            if job is None:
                break
            jobs.append(job)
        if jobs:
            process.in_hand |= {job.number: job for job in jobs}
            process.send(jobs)

    def _lose(self, process: _Process, why: str, *, died: bool) -> None:
        from ..images import quoted_if_odd
        from ..leftovers import remove_leftovers

        self._alive.remove(process)
        for job in process.in_hand.values():
            if died:
                remove_leftovers(Path(job.target).parent, dead=process.popen.pid)
                self._deaths[job.number] = self._deaths.get(job.number, 0) + 1
            if self._deaths.get(job.number, 0) >= _MOST_DEATHS:
                self._given_up.append(
                    failure(job, f"{quoted_if_odd(job.source)}: given up: {why} while it was in hand")
                )
            else:
                self._again.append(job)
        process.in_hand.clear()
        if self._alive:
            self._warnings.append(f"{why}; the other devices do its files")
