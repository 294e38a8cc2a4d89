"""From a file to pixels, and from filtered pixels to a file, as any thread or process does it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from .. import images, verify
from ..errors import FftfilterError, ParameterError, WriteError
from ..files import sources
from ..files.messages import quoted_if_odd, reason
from . import journal
from .jobs import DONE, FAILED, SKIPPED, Job, Outcome, Settings
from .journal import digest_of
from .tree import is_inside

if TYPE_CHECKING:
    from ..files.atomic import Times
    from ..images import Depth, Picture


@dataclass(eq=False)
class Loaded:
    """A file that was read."""

    job: Job
    picture: Picture
    depth: Depth
    """How its pixels will be stored."""
    outcome: Outcome
    times: Times | None = None
    given: Picture | None = None
    """The picture that was read, if the output is to be verified."""


def read(job: Job, settings: Settings) -> Loaded | Outcome:
    """Read a file; return its outcome if it failed or needs no work."""
    began = time.perf_counter()
    outcome = Outcome(job, DONE)
    try:
        if not settings.measure_only:
            _check_target(job, settings)
        times = sources.times(job.source) if settings.preserve_times else None
        data = images.content(job.source)
        outcome.digest = digest_of(data)
        done_before = outcome.digest == job.done_from and not settings.measure_only
        if done_before and not job.verify:
            return replace(outcome, status=SKIPPED)
        picture = images.decode(data, job.source)
        if settings.strip:
            picture = replace(images.without_orientation(picture), metadata=None)
        outcome.shape, outcome.dtype = picture.planes.shape, str(picture.planes.dtype)
        outcome.cautions = settings.transfer.cautions(*picture.planes.shape[1:])
        if settings.output == "magnitude":  # which alone has no sign
            outcome.cautions = [*outcome.cautions, *picture.cautions()]
        images.check_fits(picture, job.target)
        depth = images.output_depth(picture, job.target, is_real=settings.output == "real")
        loaded = Loaded(job, picture, depth, outcome, times, replace(picture) if job.verify else None)
        if done_before:
            _verify(loaded, settings)
            return replace(outcome, status=SKIPPED)
    except (FftfilterError, MemoryError) as error:
        return failed(outcome, error)
    finally:
        outcome.seconds["read"] = time.perf_counter() - began
    return loaded


def _check_target(job: Job, settings: Settings) -> None:
    # A missing file is no input, and writing finds every other fault: a closer look costs as much as decoding.
    if not os.path.lexists(job.target):
        return
    images.check_output(job.source, job.target, in_place=settings.in_place)
    keep_out = settings.keep_out
    if keep_out and Path(job.target).is_symlink() and is_inside(os.path.realpath(job.target), keep_out):
        name = quoted_if_odd(job.target)
        raise ParameterError(f"{name}: is a link to one of the inputs; remove it or choose another folder")


def write(loaded: Loaded, settings: Settings) -> Outcome:
    """Write a file that was filtered."""
    began = time.perf_counter()
    try:
        try:
            _write(loaded, settings)
        except WriteError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
            _make_again(Path(loaded.job.target).parent)
            _write(loaded, settings)
        loaded.outcome.stamp = journal.stamp(loaded.job.target)
        _verify(loaded, settings)
    except (FftfilterError, MemoryError) as error:
        return failed(loaded.outcome, error)
    finally:
        loaded.outcome.seconds["write"] = time.perf_counter() - began
    return loaded.outcome


def _verify(loaded: Loaded, settings: Settings) -> None:
    """Compare an output with the reference, if that is asked for; raises VerifyError."""
    if loaded.given is None:
        return
    began, target = time.perf_counter(), loaded.job.target
    output, scale, edges = settings.output, settings.scale, settings.options.get("edges", "wrap")
    found = verify.difference(
        loaded.given, settings.transfer, output, scale, target=target, depth=loaded.depth, edges=edges
    )
    loaded.outcome.difference = found
    loaded.outcome.seconds["verify"] = time.perf_counter() - began
    verify.check(found, target)


def _write(loaded: Loaded, settings: Settings) -> None:
    target, level = loaded.job.target, settings.png_level
    loaded.outcome.left_out = images.write(loaded.picture, target, png_level=level, times=loaded.times)


def _make_again(folder: Path) -> None:
    """Make an output's folder that was removed, or could not be made before; raises WriteError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(f"{quoted_if_odd(str(folder))}: cannot be made: {reason(error)}") from error


def failed(outcome: Outcome, error: Exception) -> Outcome:
    """Return an outcome with what went wrong."""
    outcome.status = FAILED
    outcome.error = str(error) or f"{quoted_if_odd(outcome.job.source)}: out of memory; take a smaller image"
    outcome.exit_code = error.exit_code if isinstance(error, FftfilterError) else 1
    return outcome
