"""In a worker of a cluster: batches of files, done with the one device that stays open from one to the next.

The scheduler, which only passes tasks on, imports this, too: neither NumPy nor OpenCL before a batch is there.
"""

from __future__ import annotations

import pickle
import threading
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ... import __version__
from ...errors import DeviceError
from ...files.leftovers import remove_leftovers

if TYPE_CHECKING:
    from ..batch import Batch
    from ..jobs import Job, Outcome, Settings


class Result(NamedTuple):
    """What a worker did of a batch."""

    outcomes: list[Outcome]
    seconds: float
    worker: str
    lost: str | None = None
    """Why the worker is of no use, if so; what it has not done is for others."""


class Memory(NamedTuple):
    """What a picture takes of a device's memory, in bytes."""

    device: str
    has: int
    takes: int


def pack(jobs: list[Job]) -> bytes:
    """Return jobs as :func:`filter_files` takes them: small, since a scheduler remembers what it has passed on."""
    return zlib.compress(pickle.dumps(jobs, pickle.HIGHEST_PROTOCOL), 1)


def unpack(packed: bytes) -> list[Job]:
    """Return the jobs that were packed."""
    jobs: list[Job] = pickle.loads(zlib.decompress(packed))  # noqa: S301  from a client, whose program runs here
    return jobs


_one_batch_at_a_time = threading.Lock()
_open: dict[tuple[str, str | None], Batch] = {}
"""The one batch of this process, with its device, by the settings and the device that it was opened with."""


def filter_files(packed: bytes, settings: Settings, device: str | None, version: str) -> Result:
    """Do a batch of files with this worker process's device, which stays open for the next."""
    from distributed import get_worker

    worker = get_worker().address
    if version != __version__:
        return Result([], 0.0, worker, _other_version(version))
    outcomes: list[Outcome] = []
    with _one_batch_at_a_time:
        try:
            batch = _opened(settings, device)
            began = time.perf_counter()
            for outcome in batch.run(iter(unpack(packed))):
                outcomes.append(outcome)  # noqa: PERF402  what is finished counts, whatever happens next
        except DeviceError as error:
            _close()
            return Result(outcomes, 0.0, worker, str(error))
        except BaseException:
            _close()
            raise
    return Result(outcomes, time.perf_counter() - began, worker)


def memory_of(shape: tuple[int, int, int], settings: Settings, device: str | None, version: str) -> Memory:
    """Return what a picture ``(channels, height, width)`` takes of this worker's device; raises FftfilterError."""
    from ...filters import Filter

    if version != __version__:
        raise DeviceError(_other_version(version))
    with Filter(settings.kind, device=device, **settings.options) as filter_:
        opened = filter_.launcher.device
        return Memory(opened.name, opened.cl_device.global_mem_size, filter_.memory(shape))


def clean(folders: list[str]) -> None:
    """Remove what killed workers of this machine have left half written."""
    for folder in folders:
        remove_leftovers(Path(folder))


def _other_version(version: str) -> str:
    return f"has fftfilter {__version__}, and this is {version}"


def _opened(settings: Settings, device: str | None) -> Batch:
    from ..batch import Batch

    key = (repr(settings), device)
    if key not in _open:
        _close()
        _open[key] = Batch(settings, device)
    return _open[key]


def _close() -> None:
    while _open:
        _open.popitem()[1].__exit__()
