"""A job is one file of a run; an outcome is its result.

The process that shares the files among workers needs neither NumPy nor OpenCL, so nothing here imports them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ..errors import DeviceError
from ..files.messages import quoted_if_odd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..analysis.found import Peak
    from ..images import PixelSize
    from ..output.difference import Difference
    from ..preview.sheet import Row
    from ..work.recipe import Recipe
    from . import journal

DONE, SKIPPED, FAILED, MEASURED = "done", "skipped", "failed", "measured"


@dataclass(frozen=True)
class Settings:
    """The settings of a run, the same for all files and workers."""

    recipe: Recipe
    measure_only: bool = False
    """Find the largest value of each file by a recipe that measures, and write nothing."""
    in_place: bool = False
    preview: bool = False
    """Make the row of each file in a contact sheet."""
    keep_out: str | None = None
    """A real path below which nothing may be written: the input's."""


class Job(NamedTuple):
    """One file."""

    number: int
    source: str
    target: str
    done_from: str | None = None
    """The digest of the input's bytes that the target was made from, if it needs no other work."""
    verify: bool = False
    """Whether the target is compared with the reference."""

    def __str__(self) -> str:
        return f"{quoted_if_odd(self.source)} -> {quoted_if_odd(self.target)}"


@dataclass
class Outcome:
    """The result of a job."""

    job: Job
    status: str
    error: str | None = None
    exit_code: int = 0
    pages: int = 1
    shape: tuple[int, ...] | None = None
    """Channels, height, width; of the first page."""
    dtype: str | None = None
    pixel_size: PixelSize | None = None
    """The file's, if the filter needs it."""
    row: Row | None = None
    """Of the contact sheet, if one is made."""
    peaks: Sequence[Peak] | None = None
    """The waves that were removed, if any were looked for."""
    extremes: tuple[float, float] | None = None
    clipped: float = 0.0
    """The part of the samples that was clipped to black or white."""
    peak: float = 0.0
    """The largest value as a part of the input's white, if only measured."""
    cautions: list[str] = field(default_factory=list)
    """Surprises in the output, a line each."""
    seconds: dict[str, float] = field(default_factory=dict)
    device: str | None = None
    digest: str | None = None
    difference: Difference | None = None
    """From the reference, if the target was compared with it."""
    stamp: journal.Stamp | None = None
    left_out: list[str] = field(default_factory=list)
    """What was dropped of the input's metadata, as text."""
    found_no_space: bool = False
    """Whether it failed because the target's file system is full."""


class DeviceLostError(DeviceError):
    """No worker is left for the rest of a run."""
