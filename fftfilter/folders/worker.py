"""A process of a team: settings and files come in, outcomes go out."""

from __future__ import annotations

import time
from collections import deque
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, cast

from ..device.choice import load_ahead
from ..errors import DeviceError, FftfilterError
from .child import Parent, leave
from .codec_processes import CodecProcesses
from .jobs import DeviceLostError, Job, Outcome, Settings

if TYPE_CHECKING:
    from .batch import Batch

# What is finished is told at this interval, since a message costs as much as a small file.
_SECONDS_A_MESSAGE = 0.02


def serve(device: str, codecs: str) -> None:
    """Do what comes in until nothing more can, and end the process."""
    with ExitStack() as stack:
        # At once, as processes take longer to start than what comes next.
        processes = stack.enter_context(CodecProcesses(int(codecs))) if int(codecs) else None
        load_ahead()
        from ..device.selftest import open_device
        from . import batch  # noqa: F401

        with suppress(FftfilterError):  # which is told when there is something to be done
            open_device(device or None)
        worker = _Worker(device or None, processes)
        try:
            worker.work()
        except DeviceError as error:
            worker.parent.tell(DeviceLostError(str(error)))
        except FftfilterError as error:
            worker.parent.tell(error)
    leave()


class _Worker:
    def __init__(self, device: str | None, codecs: CodecProcesses | None) -> None:
        self._device, self._codecs = device, codecs
        self._jobs: deque[Job] = deque()
        self._batch: Batch | None = None
        self._finished: list[Outcome] = []
        self._told = time.monotonic()
        self.parent = Parent(self._wake)

    def _wake(self) -> None:
        """Let the step that waits look at a message."""
        if self._batch:
            self._batch.wake()

    def work(self) -> None:
        """Do all jobs; raises FftfilterError if the device or the settings cannot be used."""
        inbox = self.parent.inbox
        while True:
            while self._is_idle or not inbox.empty():
                message = inbox.get()
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
        from .batch import Batch

        if self._batch:
            self._batch.__exit__()
        self._batch = Batch(settings, self._device, self._codecs)

    def _step(self) -> None:
        batch = cast("Batch", self._batch)  # settings come before files
        while self._jobs and batch.room:
            batch.start(self._jobs.popleft())
        is_lost = batch.lost is not None and batch.idle
        if not is_lost:
            self._finished += batch.step()
        now = time.monotonic()
        if self._finished and (is_lost or self._is_idle or now - self._told > _SECONDS_A_MESSAGE):
            self.parent.tell(self._finished)
            self._finished, self._told = [], now
        if is_lost and batch.lost:
            raise batch.lost
