"""Several processes that filter: one for each of several devices, or several on a CPU, where Python is the limit.

Each does what one device does alone (`worker.py`, `batch.py`) and is sent a few files at a time, so that a
fast device gets more of them. When a device fails or its process dies, its files go to the others.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Self

from ..errors import DeviceError, FftfilterError
from .child import Child
from .jobs import DeviceLostError, Job, Outcome, Settings, failure, processors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    News = tuple["_Process", list[Outcome] | FftfilterError | None]

# A process has so many times the files in hand that it finishes between two messages, within limits; the lower one is
# for each of those that read and write beside it, too.
_TIMES_IN_HAND, _FEWEST_IN_HAND, _MOST_IN_HAND = 3, 4, 512
# A file that was in hand when this many processes died is not given to another.
_MOST_DEATHS = 2


@dataclass(eq=False)
class _Process:
    device: str | None
    child: Child
    fewest: int
    wanted: int
    in_hand: dict[int, Job] = field(default_factory=dict)


class Team:
    """Processes that share the files of a run, one for each of ``devices``, of which several may be the same.

    Each starts so many codecs' processes of its own.
    """

    def __init__(self, devices: Sequence[str | None], codecs: int = 0) -> None:
        self._news: SimpleQueue[News] = SimpleQueue()
        fewest = _FEWEST_IN_HAND * (1 + codecs)
        starts = [(device, _start(device, devices.count(device), codecs)) for device in devices]
        self._all = [_Process(device, child, fewest, wanted=fewest) for device, child in starts]
        self._alive = list(self._all)
        for each in self._all:
            each.child.listen(partial(self._hear, each))

    def _hear(self, process: _Process, told: list[Outcome] | FftfilterError | None) -> None:
        self._news.put((process, told))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._all:
            each.child.hang_up()
        for each in self._all:
            each.child.close()

    def run(self, jobs: Iterator[Job], settings: Settings, warnings: list[str]) -> Iterator[Outcome]:
        """Do all jobs; a lost device is told in ``warnings``.

        Raises DeviceLostError when none is left, FftfilterError for settings that cannot be meant.
        """
        settings = replace(settings, threads=settings.threads or max(1, processors() // len(self._all)))
        for each in self._alive:
            each.child.send(settings)
        yield from _Share(self._alive, self._news, jobs, warnings).run()


def _start(device: str | None, sharing: int, codecs: int) -> Child:
    """Start a process on a device that so many share."""
    # PoCL's own workers.
    variables = {"POCL_MAX_PTHREAD_COUNT": str(max(1, processors() // sharing))} if sharing > 1 else {}
    return Child(f"{__package__}.worker", [device or "", str(codecs)], variables)


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
                process.wanted = max(process.fewest, min(_MOST_IN_HAND, _TIMES_IN_HAND * len(told)))
                self._feed(process)
                yield from told
            elif told is None:
                last = f"the process of device {process.device} died (exit code {process.child.exit_code()})"
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
        if self._again:
            # One by one, so that of all that were in hand when a process died the deadly one is found.
            if not process.in_hand:
                jobs.append(self._again.popleft())
        else:
            jobs += islice(self._jobs, max(0, process.wanted - len(process.in_hand)))
        if jobs:
            process.in_hand |= {job.number: job for job in jobs}
            process.child.send(jobs)

    def _lose(self, process: _Process, why: str, *, died: bool) -> None:
        from ..images import quoted_if_odd
        from ..files.leftovers import remove_leftovers

        self._alive.remove(process)
        for job in process.in_hand.values():
            if died:
                remove_leftovers(Path(job.target).parent, dead=process.child.pid)
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
