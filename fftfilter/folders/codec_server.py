"""A process that reads and writes files for a device's: pictures lie in memory that both share.

    in    Settings; ("read", jobs); ("write", numbers), of pictures that now are filtered; ("drop", numbers)
    out   what is finished, several at once: Decoded, Outcome of what failed or needs no work, Written;
          None when no more is read before something is written

A picture's place in the memory is this process's to take and to give back.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from . import codec
from .child import Parent, leave
from .jobs import Decoded, Job, Outcome, Settings, Written
from .shared_memory import Arena

if TYPE_CHECKING:
    from .codec import Loaded
    from .shared_memory import Block

# What is finished is told at this interval, since a message costs as much as a small file.
_SECONDS_A_MESSAGE = 0.004


def serve(memory: str, most_bytes: str) -> None:
    """Do what the parent asks for until it hangs up; it waits while pictures of ``most_bytes`` are not written."""
    _Server(int(memory), int(most_bytes)).work()
    leave()


class _Server:
    def __init__(self, memory: int, most_bytes: int) -> None:
        self._parent = Parent()
        self._arena = Arena(memory)
        self._most_bytes = most_bytes
        self._settings = Settings("")
        self._to_read: deque[Job] = deque()
        self._to_write: deque[int] = deque()
        self._held: dict[int, tuple[Loaded, Block]] = {}
        self._finished: list[Decoded | Outcome | Written | None] = []
        self._told = time.monotonic()

    def work(self) -> None:
        inbox = self._parent.inbox
        while True:
            while self._has_nothing_to_do or not inbox.empty():
                if inbox.empty():
                    if self._to_read:
                        self._finished.append(None)
                    self._tell()
                message = inbox.get()
                if message is None:
                    return
                self._heed(message)
            if self._to_write:
                self._write(self._to_write.popleft())
            else:
                self._read(self._to_read.popleft())
            if time.monotonic() - self._told > _SECONDS_A_MESSAGE:
                self._tell()

    @property
    def _has_nothing_to_do(self) -> bool:
        is_full = bool(self._held) and self._arena.used >= self._most_bytes
        return not self._to_write and (is_full or not self._to_read)

    def _heed(self, message: Any) -> None:
        if isinstance(message, Settings):
            self._settings = message
            return
        what, which = message
        if what == "read":
            self._to_read.extend(which)
        elif what == "write":
            self._to_write.extend(which)
        else:
            for number in which:
                self._arena.give_back(self._held.pop(number)[1])

    def _tell(self) -> None:
        if self._finished:
            self._parent.tell(self._finished)
            self._finished = []
        self._told = time.monotonic()

    def _read(self, job: Job) -> None:
        loaded = codec.read(job, self._settings)
        if isinstance(loaded, Outcome):
            self._finished.append(loaded)
            return
        picture, depth, outcome = loaded.picture, loaded.depth, loaded.outcome
        shape, dtype = picture.planes.shape, picture.planes.dtype
        try:
            block = self._arena.take(picture.planes.size * max(dtype.itemsize, depth.dtype.itemsize))
        except MemoryError as error:
            self._finished.append(codec.failed(outcome, error))
            return
        memory = self._arena.upto(block.start + block.size)
        np.copyto(np.ndarray(shape, dtype, memory, block.start), picture.planes)
        stored = depth.dtype.str, depth.maxval
        seconds = outcome.seconds["read"]
        self._finished.append(
            Decoded(job.number, block.start, shape, dtype.str, picture.maxval, stored, outcome.digest, seconds)
        )
        picture.planes = np.ndarray(shape, depth.dtype, memory, block.start)
        picture.maxval = depth.maxval
        self._held[job.number] = loaded, block

    def _write(self, number: int) -> None:
        loaded, block = self._held.pop(number)
        outcome = codec.write(loaded, self._settings)
        self._arena.give_back(block)
        self._finished.append(
            Written(number, outcome.stamp, outcome.seconds["write"], outcome.error, outcome.exit_code)
        )
