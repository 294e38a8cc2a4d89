"""A dry run shows each file's size, output and memory, from the headers alone.

The memory that a picture takes of a device is asked of the device: of one here, or of one of a cluster's workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import NamedTuple

from .. import __version__, images
from ..errors import DeviceError, FftfilterError
from ..files import sources
from .cluster import LOCAL, connect, explain
from .pool import device_bytes
from .run import FolderRun

Shape = tuple[int, int, int]


SECONDS_TO_ANSWER = 60


class Need(NamedTuple):
    """The memory that a picture takes of a device, in bytes."""

    device: str
    has: int
    takes: int


class DryRun:
    """The steps of a run, and its device."""

    def __init__(self, run: FolderRun, devices: Sequence[str | None], cluster: str | None) -> None:
        self._run, self._devices, self._cluster = run, devices, cluster
        self._largest: Need | None = None

    def steps(self) -> Iterator[str | FftfilterError]:
        """Yield a line on each file, or the error that it would end with; first that of a missing device."""
        with ExitStack() as stack:
            try:
                need = cache(stack.enter_context(self._asking()))
                self._largest = need((1, 1, 1))._replace(takes=0)
            except DeviceError as error:
                yield error
            for job in self._run.jobs(prepare=False):
                try:
                    size = images.measure(job.source, self._run.settings.recipe.pages)
                    digest = sources.digest_of(sources.content(job.source)) if job.done_from else ""
                except FftfilterError as error:
                    yield error
                    continue
                color = "gray" if size.channels == 1 else "color"
                pages = f"{size.pages} pages, " if size.pages > 1 else ""
                host = 2 * size.channels * size.height * size.width * size.bytes_per_sample
                line = f"{job}: {pages}{size.width} x {size.height} {color}, {8 * size.bytes_per_sample} bits; "
                line += f"{_megabytes(host)} on the host"
                if self._largest:
                    needed = need((size.channels, size.height, size.width))
                    self._largest = max(self._largest, needed, key=lambda each: each.takes)
                if digest and digest == job.done_from:
                    line += "; skip, done before"
                elif self._largest:
                    line += f"; {_megabytes(needed.takes)} on the device"
                yield line

    @property
    def device_line(self) -> str:
        """The device, and the most that a picture of the steps so far takes of its memory."""
        workers = "" if self._cluster in (None, LOCAL) else f" a worker of cluster {self._cluster}, with"
        if self._largest is None:
            return f"on{workers} no device"
        device, has, takes = self._largest
        return f"on{workers} {device}: at most {_megabytes(takes)} of {_megabytes(has)} for one picture"

    @contextmanager
    def _asking(self) -> Iterator[Callable[[Shape], Need]]:
        """Give a function that returns the need of a picture of some shape; raises DeviceError."""
        settings, cluster = self._run.settings, self._cluster
        if cluster in (None, LOCAL):
            from ..device.choice import choose

            devices = [choose(name) for name in self._devices]
            names, has = ", ".join(each.name for each in devices), min(d.cl_device.global_mem_size for d in devices)
            yield lambda shape: Need(names, has, device_bytes(shape, settings, self._devices[0], __version__)[-1])
            return
        with connect(cluster, self._devices) as client:

            def ask(shape: Shape) -> Need:
                if not client.nthreads():
                    raise DeviceError(f"{cluster}: no worker is there; start one with 'dask worker'")
                asked = client.submit(device_bytes, shape, settings, self._devices[0], __version__, pure=False)
                try:
                    return Need(*asked.result(timeout=SECONDS_TO_ANSWER))
                except FftfilterError:
                    raise
                except TimeoutError as error:
                    raise DeviceError(f"{cluster}: no worker answers, all are busy; try again") from error
                except Exception as error:
                    raise explain(error, client) from error

            yield ask


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
