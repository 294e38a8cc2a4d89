"""A process of a team: settings and files come in, outcomes go out, pickled, through standard input and output."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, BinaryIO, cast

from ..errors import DeviceError, FftfilterError
from .batch import Batch
from .jobs import DeviceLostError, Job, Outcome, Settings

if TYPE_CHECKING:
    Message = Settings | list[Job] | None

# What is finished is told at this interval, since a message costs as much as a small file.
_SECONDS_A_MESSAGE = 0.02


def serve(device: str | None) -> None:
    """Do what comes in until nothing more can, and end the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A parent that was killed has nobody to tell.
    with suppress(BrokenPipeError), os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a driver prints is no outcome
        worker = _Worker(device, out)
        threading.Thread(target=worker.listen, args=(sys.stdin.buffer,), daemon=True).start()
        gc.freeze()  # what modules made while they loaded is no garbage
        gc.enable()
        try:
            worker.work()
        except DeviceError as error:
            worker.tell(DeviceLostError(str(error)))
        except FftfilterError as error:
            worker.tell(error)
    # All is written, and taking the interpreter and OpenCL down in order would keep the parent waiting.
    os._exit(0)


class _Worker:
    def __init__(self, device: str | None, out: BinaryIO) -> None:
        self._device, self._out = device, out
        self._inbox: SimpleQueue[Message] = SimpleQueue()
        self._jobs: deque[Job] = deque()
        self._batch: Batch | None = None
        self._finished: list[Outcome] = []
        self._told = time.monotonic()

    def listen(self, given: BinaryIO) -> None:
        """Take what comes in, in a thread of its own; the step that waits is woken for each message."""
        with suppress(EOFError, OSError, pickle.UnpicklingError):
            while True:
                self._put(pickle.load(given))  # noqa: S301  from the parent
        self._put(None)

    def _put(self, message: Message) -> None:
        self._inbox.put(message)
        if self._batch:
            self._batch.wake()

    def work(self) -> None:
        """Do all jobs; raises FftfilterError if the device or the settings cannot be used."""
        while True:
            while self._is_idle or not self._inbox.empty():
                message = self._inbox.get()
                if message is None:
                    return
                if isinstance(message, Settings):
                    self._open(message)
                else:
                    self._jobs.extend(message)
            self._step()

    @property
    def _is_idle(self) -> bool:
        return not self._jobs and (self._batch is None or self._batch.idle)

    def _open(self, settings: Settings) -> None:
        if self._batch:
            self._batch.__exit__()
        self._batch = Batch(settings, self._device)

    def _step(self) -> None:
        batch = cast("Batch", self._batch)  # settings come before files
        while self._jobs and batch.room:
            batch.start(self._jobs.popleft())
        is_lost = batch.lost is not None and batch.idle
        if not is_lost:
            self._finished += batch.step()
        now = time.monotonic()
        if self._finished and (is_lost or self._is_idle or now - self._told > _SECONDS_A_MESSAGE):
            self.tell(self._finished)
            self._finished, self._told = [], now
        if is_lost and batch.lost:
            raise batch.lost

    def tell(self, what: list[Outcome] | FftfilterError) -> None:
        """Send something to the parent."""
        pickle.dump(what, self._out, pickle.HIGHEST_PROTOCOL)
        self._out.flush()
