"""What a folder run would do: each file's size, output and memory, from the headers alone."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from .. import images
from ..errors import FftfilterError
from ..filters import Filter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..images import Size
    from .folder import Folder
    from .jobs import Job


class Step(NamedTuple):
    """What would be done with a file."""

    job: Job
    size: Size
    done_before: bool
    device_bytes: int
    host_bytes: int

    def __str__(self) -> str:
        size = self.size
        color = "gray" if size.channels == 1 else "color"
        what = f"{size.width} x {size.height} {color}, {8 * size.bytes_per_sample} bits"
        does = "skip, done before" if self.done_before else f"{_megabytes(self.device_bytes)} on the device"
        return f"{self.job}: {what}; {_megabytes(self.host_bytes)} here; {does}"


def steps(run: Folder) -> Iterator[Step | FftfilterError]:
    """Return each file's step, or why it would fail."""
    with Filter(run.settings.kind, device=run.devices[0], **run.settings.options) as filter_:
        memory = cache(filter_.memory)
        for job in run.jobs(prepare=False):
            try:
                size = images.measure(job.source)
                digest = hashlib.sha256(images.content(job.source)).hexdigest() if job.done_from else ""
            except FftfilterError as error:
                yield error
                continue
            shape = (size.channels, size.height, size.width)
            host = size.channels * size.height * size.width * size.bytes_per_sample
            yield Step(job, size, bool(digest) and digest == job.done_from, memory(shape), 2 * host)


def device_line(run: Folder, most: int) -> str:
    """Return the devices' names, and the most that a picture takes of the memory of the first.

    The devices of a cluster are not asked for; its workers tell what they cannot hold.
    """
    from ..device import choose

    if run.cluster:
        return f"on the workers of cluster {run.cluster}: at most {_megabytes(most)} for one picture"

    devices = [choose(name) for name in run.devices]
    names = ", ".join(device.name for device in devices)
    have = min(device.cl_device.global_mem_size for device in devices)
    return f"on {names}: at most {_megabytes(most)} of {_megabytes(have)} for one picture"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
