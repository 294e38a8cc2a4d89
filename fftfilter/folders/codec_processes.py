"""Files read and written by processes beside the device's: Python runs one thread at a time in each.

They start while this process loads OpenCL, and have read many files when the device is open. A file is written by
the process that has read it. When one dies, another is started, and its files are read again.
"""

from __future__ import annotations

import math
import os
import time
from collections import deque
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Self

from ..files.leftovers import remove_leftovers
from .child import Child
from .jobs import DONE, FAILED, Decoded, DeviceLostError, Job, Outcome, Settings, Written, failure
from .shared_memory import View, create

if TYPE_CHECKING:
    from .codec import Loaded

# Bytes of pictures on their way, shared among the processes; each may have one picture in any case.
_MOST_BYTES = 1 << 28
# A process has so many times the files to read that it reads between two messages, within limits.
_TIMES_AHEAD, _FEWEST_AHEAD, _MOST_AHEAD = 3, 4, 128
# A file that was in hand when this many processes died is not given to another.
_MOST_DEATHS = 2
# A process is asked for several files at once, unless it has not been asked for this long.
_TOGETHER, _SECONDS_A_MESSAGE = 8, 0.001


class _Server:
    """One of the processes, and what it has in hand."""

    def __init__(self, most_bytes: int, news: SimpleQueue[Any]) -> None:
        descriptor = create()
        self.memory = View(descriptor)
        self.child = Child(f"{__package__}.codec_server", [str(descriptor), str(most_bytes)], keep=[descriptor])
        self.child.listen(lambda told: news.put((self, told)))
        self.reading: dict[int, Job] = {}
        self.writing: dict[int, Loaded] = {}
        self.wanted = _FEWEST_AHEAD
        self.is_alive = True
        self.is_full = False
        self.has_spoken = False
        self._asked: dict[str, list[Any]] = {}
        self._sent = 0.0

    def ask(self, what: str, which: Job | int) -> None:
        self._asked.setdefault(what, []).append(which)
        if len(self._asked[what]) >= _TOGETHER or time.monotonic() - self._sent > _SECONDS_A_MESSAGE:
            self.send()

    def send(self) -> None:
        for message in self._asked.items():
            self.child.send(message)
        if self._asked:
            self._asked = {}
            self._sent = time.monotonic()

    def close(self) -> None:
        self.child.close()
        os.close(self.memory.descriptor)


class CodecProcesses:
    """Codecs of a `Batch`, as `CodecThreads`; to be closed by who has made them.

    ``warnings`` gets what is to be told of processes that died.
    """

    ahead = 32
    are_beside = True
    bytes_before = 1 << 27

    def __init__(self, count: int) -> None:
        self.news: SimpleQueue[Any] = SimpleQueue()
        self.warnings: list[str] = []
        self._most_bytes = _MOST_BYTES // count
        self._servers = [self._start() for _ in range(count)]
        self._settings: Settings | None = None
        self._where: dict[int, tuple[_Server, int]] = {}
        """The process and place of each picture that is with the device."""
        self._deaths: dict[int, int] = {}
        self._suspects: deque[Job] = deque()
        """Files that a process had in hand when it died: done one by one, so that the deadly one is found."""
        self._stillborn = 0
        self._events: deque[Loaded | Outcome] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers:
            server.child.hang_up()
        for server in self._servers:
            server.close()

    def _start(self) -> _Server:
        return _Server(self._most_bytes, self.news)

    def set(self, settings: Settings) -> None:
        """Begin with settings."""
        self._settings = settings
        for server in self._servers:
            server.child.send(settings)

    @property
    def reading(self) -> int:
        """How many files are being read, or wait to be taken."""
        return len(self._events) + len(self._suspects) + sum(len(server.reading) for server in self._servers)

    @property
    def is_more_coming(self) -> bool:
        """Whether pictures will be read before any is written."""
        return bool(self._events) or any(
            self._suspects and not server.writing if not server.reading else not server.is_full
            for server in self._servers
        )

    @property
    def writing(self) -> int:
        """How many files are being written."""
        return sum(len(server.writing) for server in self._servers)

    @property
    def has_room(self) -> bool:
        """Whether another file may be read."""
        return not self._suspects and any(len(server.reading) < server.wanted for server in self._servers)

    @property
    def has_news(self) -> bool:
        """Whether :meth:`take` would not wait."""
        return bool(self._events) or not self.news.empty()

    def read(self, job: Job) -> None:
        """Begin to read a file."""
        self._read(job, max(self._servers, key=lambda server: server.wanted - len(server.reading)))

    def _read(self, job: Job, server: _Server) -> None:
        server.reading[job.number] = job
        server.ask("read", job)

    def write(self, loaded: Loaded) -> None:
        """Begin to write a file whose planes are the filtered ones; or to read it again."""
        import numpy as np

        number = loaded.job.number
        server, start = self._where.pop(number)
        if not server.is_alive:
            self.read(loaded.job)
            return
        planes = loaded.picture.planes
        memory = server.memory.upto(start + planes.nbytes)
        np.copyto(np.ndarray(planes.shape, planes.dtype, memory, start), planes)
        server.writing[number] = loaded
        server.ask("write", number)

    def drop(self, loaded: Loaded) -> None:
        """Forget a file that is not to be written."""
        server, _ = self._where.pop(loaded.job.number)
        server.ask("drop", loaded.job.number)

    def take(self) -> Any:
        """Wait for news."""
        while not self._events:
            for server in self._servers:
                if self._suspects and not (server.reading or server.writing):
                    self._read(self._suspects.popleft(), server)
                if self.news.empty():
                    server.send()
            event = self.news.get()
            if isinstance(event, BaseException):
                raise event
            if not isinstance(event, tuple):
                return event
            server, told = event
            if told is None:
                self._replace(server)
            else:
                self._hear(server, told)
        return self._events.popleft()

    def _hear(self, server: _Server, told: list[Decoded | Outcome | Written | None]) -> None:
        server.has_spoken, self._stillborn = True, 0
        server.is_full = told[-1] is None
        read = 0
        for each in told:
            if each is None:
                continue
            if isinstance(each, Written):
                self._events.append(_written(server.writing.pop(each.number), each))
                continue
            read += 1
            if isinstance(each, Decoded):
                self._where[each.number] = server, each.start
                self._events.append(_decoded(server.reading.pop(each.number), each, server))
            else:
                del server.reading[each.job.number]
                self._events.append(each)
        if read:
            server.wanted = max(_FEWEST_AHEAD, min(_MOST_AHEAD, _TIMES_AHEAD * read))

    def _replace(self, server: _Server) -> None:
        """Start a process in the place of one that died, and have its files read again."""
        from ..images import quoted_if_odd

        server.is_alive = False
        why = f"a process that reads and writes files died (exit code {server.child.exit_code()})"
        self._stillborn += not server.has_spoken
        if self._stillborn > len(self._servers):
            raise DeviceLostError(f"{why} at its start")
        self._servers[self._servers.index(server)] = new = self._start()
        if self._settings:
            new.child.send(self._settings)
        jobs = [*server.reading.values(), *(loaded.job for loaded in server.writing.values())]
        for folder in {str(Path(loaded.job.target).parent) for loaded in server.writing.values()}:
            remove_leftovers(folder, dead=server.child.pid)
        self.warnings.append(f"{why}; another one does its files")
        for job in jobs:
            self._deaths[job.number] = self._deaths.get(job.number, 0) + 1
            if self._deaths[job.number] < _MOST_DEATHS:
                self._suspects.append(job)
            else:
                self._events.append(failure(job, f"{quoted_if_odd(job.source)}: given up: {why} while it was in hand"))
        server.close()


def _decoded(job: Job, told: Decoded, server: _Server) -> Loaded:
    """Return a picture that lies in a process's memory."""
    import numpy as np

    from ..images import Depth, Picture
    from .codec import Loaded

    memory = server.memory.upto(told.start + math.prod(told.shape) * np.dtype(told.dtype).itemsize)
    planes = np.ndarray(told.shape, told.dtype, memory, told.start)
    outcome = Outcome(job, DONE, shape=told.shape, dtype=str(planes.dtype), digest=told.digest)
    outcome.seconds["read"] = told.seconds
    depth = Depth(np.dtype(told.stored[0]), told.stored[1])
    return Loaded(job, Picture(planes, None, told.maxval, ""), depth, outcome)


def _written(loaded: Loaded, told: Written) -> Outcome:
    """Return the outcome of a file, with what its process says of it."""
    outcome = loaded.outcome
    outcome.seconds["write"], outcome.stamp = told.seconds, told.stamp
    if told.error is not None:
        outcome.status, outcome.error, outcome.exit_code = FAILED, told.error, told.exit_code
    return outcome
