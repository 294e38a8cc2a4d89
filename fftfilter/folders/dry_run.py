"""What a folder run would do: each file's size, output and memory, from the headers alone.

What a picture takes of a device, the device is asked for: here, or in one of a cluster's workers.
"""

from __future__ import annotations

import hashlib
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from .. import __version__, images
from ..device.choice import choose
from ..errors import DeviceError, FftfilterError
from ..filters import Filter
from .cluster.worker import Memory, memory_of
from .cluster.scheduler import LOCAL, connect, result_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..images import Size
    from .run import Folder
    from .jobs import Job

    Shape = tuple[int, int, int]

_SECONDS_TO_ANSWER = 60


class Step(NamedTuple):
    """What would be done with a file."""

    job: Job
    size: Size
    done_before: bool
    host_bytes: int
    device_bytes: int | None
    """None where no device can be asked."""

    def __str__(self) -> str:
        size = self.size
        color = "gray" if size.channels == 1 else "color"
        parts = [
            f"{self.job}: {size.width} x {size.height} {color}, {8 * size.bytes_per_sample} bits",
            f"{_megabytes(self.host_bytes)} on the host",
        ]
        if self.done_before:
            parts.append("skip, done before")
        elif self.device_bytes is not None:
            parts.append(f"{_megabytes(self.device_bytes)} on the device")
        return "; ".join(parts)


class Plan:
    """The steps of a run, and its device."""

    def __init__(self, run: Folder) -> None:
        self._run = run
        self._most: Memory | None = None

    def steps(self) -> Iterator[Step | FftfilterError]:
        """Return each file's step, or why it would fail; first of all why there is no device, if so."""
        with ExitStack() as stack:
            try:
                memory = cache(stack.enter_context(_memory(self._run)))
                self._most = memory((1, 1, 1))._replace(takes=0)
            except DeviceError as error:
                yield error
            for job in self._run.jobs(prepare=False):
                try:
                    size = images.measure(job.source)
                    digest = hashlib.sha256(images.content(job.source)).hexdigest() if job.done_from else ""
                except FftfilterError as error:
                    yield error
                    continue
                shape = (size.channels, size.height, size.width)
                host = 2 * size.channels * size.height * size.width * size.bytes_per_sample
                takes = None
                if self._most:
                    told = memory(shape)
                    takes, self._most = told.takes, max(self._most, told, key=lambda each: each.takes)
                yield Step(job, size, bool(digest) and digest == job.done_from, host, takes)

    @property
    def device_line(self) -> str:
        """The device, and the most that a picture of the steps so far takes of its memory."""
        cluster = self._run.cluster
        workers = "" if cluster in (None, LOCAL) else f" a worker of cluster {cluster}, with"
        if self._most is None:
            return f"on{workers} no device"
        device, has, takes = self._most
        return f"on{workers} {device}: at most {_megabytes(takes)} of {_megabytes(has)} for one picture"


@contextmanager
def _memory(run: Folder) -> Iterator[Callable[[Shape], Memory]]:
    """Return what says how much of a device's memory a picture takes; raises DeviceError."""
    settings, cluster = run.settings, run.cluster
    if cluster in (None, LOCAL):
        devices = [choose(name) for name in run.devices]
        names, has = ", ".join(device.name for device in devices), min(d.cl_device.global_mem_size for d in devices)
        with Filter(settings.kind, device=run.devices[0], **settings.options) as filter_:
            yield lambda shape: Memory(names, has, filter_.memory(shape))
        return
    with connect(cluster, run.devices) as client:

        def ask(shape: Shape) -> Memory:
            if not client.nthreads():
                raise DeviceError(f"{cluster}: no worker is there; start one with 'dask worker'")
            asked = client.submit(memory_of, shape, settings, run.devices[0], __version__, pure=False)
            try:
                told: Memory = result_of(asked, _SECONDS_TO_ANSWER)
            except TimeoutError as error:
                raise DeviceError(f"{cluster}: no worker answers, all are busy; try again") from error
            return told

        yield ask


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
