"""A dry run shows each file's size, output and memory, from the headers alone.

The memory that a picture takes of a device is asked of the device: of one here, or of one of a cluster's workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from posixpath import join
from typing import NamedTuple

from .. import __version__, images, memory
from ..errors import DeviceError, FftfilterError, ReadError
from ..files import sources
from ..images.reading import digest_of
from .cluster import LOCAL, connect, explain
from .jobs import Outcome, Settings
from .pool import device_bytes
from .run import FolderRun

Shape = tuple[int, int, int]

SECONDS_TO_ANSWER = 60


class Need(NamedTuple):
    """The memory that a picture takes of a device, in bytes."""

    device: str
    has: int
    takes: int


def steps(
    run: FolderRun, devices: Sequence[str | None], cluster: str | None, *, quiet: bool = False
) -> Iterator[str | FftfilterError]:
    """Yield a line or an error for each file, first for a missing device; at last, unless ``quiet``, for the device."""
    largest: Need | None = None
    with ExitStack() as stack:
        try:
            need = cache(stack.enter_context(_asking(run.settings, devices, cluster)))
            largest = need((1, 1, 1))._replace(takes=0)
        except DeviceError as error:
            yield error
        run.log.open()
        stack.callback(run.log.close)
        for job in run.jobs(prepare=False):
            outcome = Outcome(job=job, status="planned")
            try:
                size = images.measure(job.source, run.recipe.pages)
                digest = digest_of(job.source, sources.content(job.source)) if job.done_from else ""
            except FftfilterError as error:
                run.log.add(outcome.fail(error), run.settings)
                yield error
                continue
            if digest and digest == job.done_from:
                outcome.status = "skipped"
            outcome.pages, outcome.shape = size.pages, (size.channels, size.height, size.width)
            run.log.add(outcome, run.settings)
            line = f"{job}: {memory.described(memory.Pixels.of_size(size), run.recipe.how_much(job.target))}"
            if largest:
                needed = need((size.channels, size.height, size.width))
                largest = max(largest, needed, key=lambda each: each.takes)
            if outcome.status == "skipped":
                line += "; skip, done before"
            elif largest:
                line += f"; {_megabytes(needed.takes)} on the device"
            yield line
        yield from (ReadError(f"{join(str(run.source), path)}: {why}") for path, why in run.source.failed.items())
    if not quiet:
        on = "no device"
        if largest:
            on = f"{largest.device}: at most {_megabytes(largest.takes)} of {_megabytes(largest.has)} for one picture"
        yield f"on{'' if cluster in (None, LOCAL) else f' a worker of cluster {cluster}, with'} {on}"


@contextmanager
def _asking(
    settings: Settings, devices: Sequence[str | None], cluster: str | None
) -> Iterator[Callable[[Shape], Need]]:
    """Give a function that returns the need of a picture of some shape; raises DeviceError."""
    if cluster in (None, LOCAL):
        from ..device_choice import open_device

        options = settings.recipe.options
        chosen = [open_device({**options, "device": name}) for name in devices]
        names, has = ", ".join(each.name for each in chosen), min(each.memory for each in chosen)
        yield lambda shape: Need(names, has, device_bytes(shape, settings, devices[0], __version__)[-1])
        return
    with connect(cluster, devices) as client:

        def ask(shape: Shape) -> Need:
            if not client.nthreads():
                raise DeviceError(f"{cluster}: no worker is there; start one with 'dask worker'")
            asked = client.submit(device_bytes, shape, settings, devices[0], __version__, pure=False)
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
