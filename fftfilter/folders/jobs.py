"""What is to be done to files, and what became of it: the words between the parts of a run, on whatever device.

Nothing here imports NumPy or OpenCL: processes start with it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import DeviceError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..output import scale
    from . import journal

DONE, SKIPPED, FAILED, MEASURED = "done", "skipped", "failed", "measured"


@dataclass(frozen=True)
class Settings:
    """What is done to every file; the same for all devices."""

    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of :class:`Filter`, without the device."""
    scale: scale.Range | None = None
    """None gives each picture its own range."""
    measure_only: bool = False
    """Find the largest value of each file and write nothing."""
    extremes: bool = False
    """Report the smallest and largest value of each file."""
    png_level: int = 1
    strip: bool = False
    preserve_times: bool = False
    in_place: bool = False
    keep_out: str | None = None
    """A real path below which nothing may be written: the input's."""
    threads: int = 0
    """Of the codecs; 0 means one for each processor."""


@dataclass(frozen=True)
class Job:
    """One file to be done."""

    number: int
    source: str
    target: str
    done_from: str | None = None
    """The digest of the input's bytes that the target was made from, if it needs no other work."""

    def __str__(self) -> str:
        from .. import images

        return f"{images.quoted_if_odd(self.source)} -> {images.quoted_if_odd(self.target)}"


@dataclass
class Outcome:
    """What became of a job."""

    job: Job
    status: str
    error: str | None = None
    exit_code: int = 0
    shape: tuple[int, ...] | None = None
    """Channels, height, width."""
    dtype: str | None = None
    extremes: tuple[float, float] | None = None
    peak: float = 0.0
    """The largest value as a part of the input's white, if only measured."""
    seconds: dict[str, float] = field(default_factory=dict)
    device: str | None = None
    digest: str | None = None
    stamp: journal.Stamp | None = None


class Decoded(NamedTuple):
    """A picture that another process has read into memory that it shares."""

    number: int
    start: int
    """Where its planes lie there."""
    shape: tuple[int, ...]
    dtype: str
    maxval: int
    stored: tuple[str, int]
    """The type and white of the file that it becomes."""
    digest: str | None
    seconds: float


class Written(NamedTuple):
    """A file that another process has written; or why it has not, and an exit code."""

    number: int
    stamp: journal.Stamp | None
    seconds: float
    error: str | None
    exit_code: int


class DeviceLostError(DeviceError):
    """A device that failed twice: its files are for others."""


def failure(job: Job, error: str) -> Outcome:
    """Return the outcome of a job that never reached a device."""
    return Outcome(job, FAILED, error, exit_code=1)


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
