"""What every worker does: one chunk of jobs, with its device, which stays open for the next.

A worker is this process, another process on this machine, or one of a Dask cluster. The scheduler of a cluster, which
only passes chunks on, imports this, too: neither NumPy nor OpenCL before there is work.
"""

from __future__ import annotations

import os
import pickle
import threading
import time
import zlib
from typing import TYPE_CHECKING, NamedTuple

from .. import __version__
from ..errors import DeviceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .batch import Batch
    from .jobs import Job, Outcome, Settings


class Result(NamedTuple):
    """What a worker did of a chunk."""

    outcomes: list[Outcome]
    seconds: float
    lost: str | None = None
    """Why the worker is of no use, if so; what it has not done is for others."""


class Started(NamedTuple):
    """A worker that is ready."""

    pid: int
    device: str


def pack(jobs: Sequence[Job]) -> bytes:
    """Return jobs as :func:`do_chunk` takes them: small, since a cluster's scheduler remembers what it passes on."""
    return zlib.compress(pickle.dumps(jobs, pickle.HIGHEST_PROTOCOL), 1)


_one_at_a_time = threading.Lock()
_open: list[tuple[Settings, str | None, int, Batch]] = []
"""The one batch of this process with what it was opened for, if there is one."""


def open_device(device: str | None) -> Started:
    """Open a device, as a worker does before its first chunk; raises DeviceError."""
    from ..device.choice import open_device as open_checked
    from ..fused import fused

    return Started(os.getpid(), open_checked(device, fused).name)


def do_chunk(packed: bytes, settings: Settings, device: str | None, threads: int, version: str = __version__) -> Result:
    """Do a chunk of packed jobs with a device; ``threads`` read and write, 0 for one a core.

    ``version`` is that of the process that asks. Raises FftfilterError for settings that are invalid on this device.
    """
    if version != __version__:
        return Result([], 0.0, f"has fftfilter {__version__}, and this is {version}")
    outcomes: list[Outcome] = []
    with _one_at_a_time:
        try:
            batch = _opened(settings, device, threads)
            began = time.perf_counter()
            jobs: list[Job] = pickle.loads(zlib.decompress(packed))  # noqa: S301  from the program that runs here
            for outcome in batch.run(jobs):
                outcomes.append(outcome)  # noqa: PERF402  what is finished counts, whatever happens next
        except DeviceError as error:
            close()
            return Result(outcomes, 0.0, str(error))
        except BaseException:
            close()
            raise
    return Result(outcomes, time.perf_counter() - began)


def device_bytes(
    shape: tuple[int, int, int], settings: Settings, device: str | None, version: str
) -> tuple[str, int, int]:
    """Return this worker's device, the bytes that it has, and those that a picture ``(channels, height, width)`` takes.

    Raises FftfilterError.
    """
    if version != __version__:
        raise DeviceError(f"has fftfilter {__version__}, and this is {version}")
    recipe = settings.recipe
    transfer = recipe.transfer.with_pixel_size(1.0)  # as any size takes the same
    with recipe.open(transfer, device) as filter_:
        opened = filter_.launcher.device
        return opened.name, opened.cl_device.global_mem_size, filter_.device_bytes(shape)


def close() -> None:
    """Close the batch of this process, if there is one."""
    while _open:
        _open.pop()[-1].close()


def _opened(settings: Settings, device: str | None, threads: int) -> Batch:
    from ..system import cores
    from .batch import Batch

    if not _open or _open[0][:3] != (settings, device, threads):
        close()
        _open.append((settings, device, threads, Batch(settings, device, threads or cores())))
    return _open[0][-1]
