"""Read and write the file of a job, in any thread. An error becomes the job's outcome."""

from __future__ import annotations

import errno
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from .. import images
from ..errors import FftfilterError, ParameterError, WriteError
from ..files import sources
from ..files.messages import quoted_if_odd, reason
from ..work import file, verify
from ..work.opened import open_
from . import journal
from .jobs import DONE, FAILED, SKIPPED, Job, Outcome, Settings
from .tree import is_inside

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..output.difference import Difference
    from ..preview.sheet import Row
    from ..work.frames import Frame, Made
    from ..work.opened import Opened

T = TypeVar("T")

NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


@dataclass(eq=False)
class Loaded:
    """A job whose file was read, or is open because it has several pages."""

    outcome: Outcome
    opened: Opened
    frame: Frame | None
    """The picture, None for pages."""
    spare: Sequence[sources.Identity | None]
    """The file that was opened, unless its output may replace it."""
    made: Made | None = None
    """The filtered picture, once there is one."""

    @property
    def job(self) -> Job:
        """The job that it is read for."""
        return self.outcome.job


def read(job: Job, settings: Settings, device: str | None) -> Loaded | Outcome:
    """Read a file, or open one of several pages; return its outcome if it failed or needs no work.

    Large pictures in which waves are looked for are transformed by ``device``.
    """
    began = time.perf_counter()
    outcome = Outcome(job, DONE)
    recipe, opened, stays_open = settings.recipe, None, False
    try:
        if not settings.measure_only:
            _check_target(job, settings)
        times = sources.times(job.source) if recipe.preserve_times else None
        data = images.raw(job.source)
        outcome.digest = sources.digest_of(data)
        done_before = outcome.digest == job.done_from and not settings.measure_only
        if done_before and not job.verify:
            if not isinstance(data, bytes):
                data.close()
            return replace(outcome, status=SKIPPED)
        opened = open_(job.source, recipe, data=data, times=times, device=device)
        outcome.pixel_size, outcome.peaks = opened.pixel_size, opened.peaks
        if opened.too_few:
            outcome.cautions.append(f"{quoted_if_odd(job.source)}: {opened.too_few}: nothing is removed")
        elif opened.content and recipe.auto:
            outcome.cautions.append("waves that look like a part of the picture stay: --insist removes them")
        elif opened.peaks == [] and recipe.auto:
            outcome.cautions.append(recipe.auto.nothing)
        loaded = _loaded(outcome, opened, settings)
        if done_before:
            _verify(outcome, lambda: verify.of_earlier(opened, job.target))
            return replace(outcome, status=SKIPPED)
        stays_open = True
    except (FftfilterError, MemoryError) as error:
        return failed(outcome, error)
    finally:
        if opened and not stays_open:
            opened.close()
        outcome.seconds["read"] = time.perf_counter() - began
    return loaded


def _loaded(outcome: Outcome, opened: Opened, settings: Settings) -> Loaded:
    """Return a file, ready to be filtered; raises ParameterError if its output cannot hold it."""
    job, found = outcome.job, opened.found
    spare = () if settings.in_place else (opened.identity,)
    if not isinstance(found, images.Pages):
        outcome.shape, outcome.dtype = found.planes.shape, str(found.planes.dtype)
        frame = opened.frame(job.target, keep=job.verify or settings.preview)
        outcome.cautions += opened.cautions(frame)
        return Loaded(outcome, opened, frame, spare)
    if settings.preview:
        raise ParameterError(
            f"{quoted_if_odd(job.source)}: has {len(found)} pages, and --preview is for one picture: "
            "choose one with --pages"
        )
    images.suffix_of_pages(job.target, None, len(found))
    return Loaded(outcome, opened, None, spare)


def _check_target(job: Job, settings: Settings) -> None:
    # A missing file is no input, and writing finds every other fault: a closer look costs as much as decoding.
    if not os.path.lexists(job.target):
        return
    images.check_output(job.source, job.target, in_place=settings.in_place)
    _check_link(job.target, settings)


def _check_link(target: str, settings: Settings) -> None:
    """Raise ParameterError for an output that is a link into the input's folder."""
    if settings.keep_out and os.path.islink(target):  # noqa: PTH114  pathlib takes as long as a small file
        path = Path(target)
        leads_to = Path(os.path.realpath(path))
        is_own = leads_to.parent == Path(os.path.realpath(path.parent))
        if is_inside(leads_to, Path(settings.keep_out)) and not is_own:
            name = quoted_if_odd(target)
            raise ParameterError(f"{name}: is a link to one of the inputs; remove it or choose another folder")


def write(loaded: Loaded, settings: Settings, device: str | None) -> Outcome:
    """Write a picture that was filtered; ``device`` is as for :func:`read`, for the row in a contact sheet."""
    began = time.perf_counter()
    outcome, opened, frame, made = loaded.outcome, loaded.opened, loaded.frame, loaded.made
    assert frame is not None  # noqa: S101  it was filtered
    assert made is not None  # noqa: S101
    target = outcome.job.target
    try:
        outcome.left_out = with_folder(target, settings, lambda: file.write(opened, frame, made, target, loaded.spare))
        outcome.stamp = journal.stamp(target)
        outcome.row = _row(outcome.job, frame, settings, device) if settings.preview else None
        if outcome.job.verify:
            _verify(outcome, lambda: verify.of_file(frame, target, settings.recipe))
    except (FftfilterError, MemoryError) as error:
        return failed(outcome, error)
    finally:
        outcome.seconds["write"] = time.perf_counter() - began
    return outcome


def _verify(outcome: Outcome, compare: Callable[[], Difference]) -> None:
    """Compare an output with the reference; raises VerifyError."""
    began = time.perf_counter()
    outcome.difference = compare()
    outcome.seconds["verify"] = time.perf_counter() - began
    verify.check(outcome.difference, outcome.job.target)


def _row(job: Job, frame: Frame, settings: Settings, device: str | None) -> Row:
    """Return the row of a picture in the contact sheet."""
    from ..preview.report import FilterReport
    from ..preview.sheet import row

    given, made = frame.given, frame.picture
    assert given  # noqa: S101  it was kept for this
    report = FilterReport(given.planes, given.maxval, frame.transfer, settings.recipe.edges, device)
    return row(report, made.planes, made.maxval, job.number, job.source)


def with_folder(target: str, settings: Settings, work: Callable[[], T]) -> T:
    """Write an output by ``work``, once more if its folder was removed meanwhile; raises WriteError."""
    _check_link(target, settings)  # which it may have become
    try:
        return work()
    except WriteError as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            raise
    folder = Path(target).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(f"{quoted_if_odd(str(folder))}: cannot be made: {reason(error)}") from error
    return work()


def failed(outcome: Outcome, error: Exception) -> Outcome:
    """Return an outcome as failed, with the error's text."""
    outcome.status = FAILED
    outcome.error = str(error) or f"{quoted_if_odd(outcome.job.source)}: out of memory; take a smaller image"
    outcome.exit_code = error.exit_code if isinstance(error, FftfilterError) else 1
    outcome.found_no_space = isinstance(error, WriteError) and getattr(error.__cause__, "errno", None) in NO_SPACE
    return outcome
