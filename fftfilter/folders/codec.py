"""From a file to pixels, and from filtered pixels to a file, as any thread or process does it."""

from __future__ import annotations

import errno
import os
import time
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from .. import images, stacks, verify
from ..errors import FftfilterError, ParameterError, WriteError
from ..files import sources
from ..files.messages import quoted_if_odd, reason, shown
from ..output.modes import MODES
from . import journal
from .jobs import DONE, FAILED, SKIPPED, Job, Outcome, Settings
from .journal import digest_of
from .tree import is_inside

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..analysis.automatic import AutoNotches
    from ..files.atomic import Times
    from ..images import Depth, Pages, Picture
    from ..preview.sheet import Row
    from ..transfer import Transfer


T = TypeVar("T")

NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


@dataclass(eq=False)
class Loaded:
    """A file that was read."""

    job: Job
    picture: Picture
    depth: Depth
    """How its pixels will be stored."""
    outcome: Outcome
    transfer: Transfer
    """What filters it: that of the run, for its pixels."""
    times: Times | None = None
    given: Picture | None = None
    """The picture that was read, if the output is compared with it."""
    spare: Sequence[sources.Identity | None] = ()
    """The file that was opened, unless its output may replace it."""

    def stays(self, settings: Settings) -> bool:
        """Whether nothing is filtered, so that its pixels are to stay as they are."""
        return stacks.stays(self.picture, self.transfer, settings.output, self.depth)


@dataclass(eq=False)
class Opened:
    """A file of several pages, which are read while they are filtered."""

    job: Job
    pages: Pages
    outcome: Outcome
    transfer: Transfer
    """What filters it, as for a :class:`Loaded` one."""
    times: Times | None
    spare: Sequence[sources.Identity | None]
    """Likewise."""


def read(job: Job, settings: Settings, device: str | None) -> Loaded | Opened | Outcome:
    """Read a file, or open one of several pages; return its outcome if it failed or needs no work.

    Large pictures in which peaks are looked for are transformed by ``device``.
    """
    began = time.perf_counter()
    outcome = Outcome(job, DONE)
    data: bytes | sources.Slices = b""
    stays_open = False
    try:
        if not settings.measure_only:
            _check_target(job, settings)
        times = sources.times(job.source) if settings.preserve_times else None
        spare = () if settings.in_place else (sources.identity(job.source),)
        data = images.raw(job.source)
        outcome.digest = digest_of(data)
        done_before = outcome.digest == job.done_from and not settings.measure_only
        if done_before and not job.verify:
            return replace(outcome, status=SKIPPED)
        picture = stacks.open_input(
            job.source, settings.pages, output=settings.output, options=settings.options, data=data
        )
        transfer, outcome.pixel_size = stacks.for_pixels_of(picture, settings.transfer, quoted_if_odd(job.source))
        if settings.auto:
            transfer *= _automatic(picture, settings.auto, outcome, device)
        if isinstance(picture, images.Pages):
            found = _opened(Opened(job, picture, outcome, transfer, times, spare), settings, done_before=done_before)
            stays_open = isinstance(found, Opened)
            return found
        loaded = _loaded(job, picture, outcome, transfer, settings)
        loaded.times, loaded.spare = times, spare
        if done_before:
            _verify(loaded, settings)
            return replace(outcome, status=SKIPPED)
    except (FftfilterError, MemoryError) as error:
        return failed(outcome, error)
    finally:
        if not (stays_open or isinstance(data, bytes)):
            data.close()
        outcome.seconds["read"] = time.perf_counter() - began
    return loaded


def _automatic(picture: Picture | Pages, auto: AutoNotches, outcome: Outcome, device: str | None) -> Transfer:
    """Return the notches for what is found in a picture, none for a small one; the outcome says what was found."""
    # Seldom wanted, and some milliseconds of import.
    from ..analysis.automatic import notches
    from ..analysis.search import too_few
    from .mean_spectrum import spectrum_of

    mean = spectrum_of(picture, device=device)
    few = too_few(mean)
    outcome.peaks = [] if few else auto.peaks(mean)
    if few:
        outcome.cautions.append(f"{quoted_if_odd(outcome.job.source)}: {few}: nothing is removed")
    elif not outcome.peaks:
        outcome.cautions.append(auto.nothing)
    return notches(outcome.peaks, auto.shape)


def _loaded(job: Job, picture: Picture, outcome: Outcome, transfer: Transfer, settings: Settings) -> Loaded:
    """Return a file with one picture, ready to be filtered; the outcome says what it is."""
    if settings.strip:
        picture = picture.stripped()
    outcome.shape, outcome.dtype = picture.planes.shape, str(picture.planes.dtype)
    outcome.cautions += transfer.cautions(*picture.planes.shape[1:])
    images.check_fits(picture, job.target)
    depth = images.output_depth(picture, job.target, is_real=MODES[settings.output].is_values)
    outcome.cautions += picture.cautions(MODES[settings.output], is_of_floats=depth.dtype.kind == "f")
    given = replace(picture) if job.verify or settings.preview else None
    return Loaded(job, picture, depth, outcome, transfer, given=given)


def _opened(opened: Opened, settings: Settings, *, done_before: bool) -> Opened | Outcome:
    """Return a file that was opened, or its outcome if it needs no work."""
    if settings.preview:
        raise ParameterError(
            f"{quoted_if_odd(opened.job.source)}: has {len(opened.pages)} pages, and --preview is for one picture: "
            "choose one with --pages"
        )
    if not done_before:
        images.suffix_of_pages(opened.job.target, None, len(opened.pages))
        return opened
    with closing(opened.pages):
        data = images.raw(opened.job.target)
        with closing(images.pages_of(data, shown(opened.job.target, "-"))) as written:
            way, suffix = way_of(settings), Path(opened.job.target).suffix.lower()
            found = stacks.difference(opened.pages, written, opened.transfer, way, suffix)
    return replace(opened.outcome, status=SKIPPED, difference=found)


def way_of(settings: Settings) -> stacks.Way:
    """Return how the pages of a file are read and written."""
    return stacks.Way(None, settings.coding, settings.strip, settings.output, settings.scale, settings.options)


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
    """Write a file that was filtered; ``device`` is as for :func:`read`, for the row in a contact sheet."""
    began = time.perf_counter()
    try:
        with_folder(loaded.job.target, settings, lambda: _write(loaded, settings))
        loaded.outcome.stamp = journal.stamp(loaded.job.target)
        loaded.outcome.row = _row(loaded, settings, device)
        _verify(loaded, settings)
    except (FftfilterError, MemoryError) as error:
        return failed(loaded.outcome, error)
    finally:
        loaded.outcome.seconds["write"] = time.perf_counter() - began
    return loaded.outcome


def _verify(loaded: Loaded, settings: Settings) -> None:
    """Compare an output with the reference, if that is asked for; raises VerifyError."""
    if loaded.given is None or not loaded.job.verify:
        return
    began, target = time.perf_counter(), loaded.job.target
    output, scale, options = settings.output, settings.scale, settings.options
    found = verify.difference(
        loaded.given, loaded.transfer, output, scale, target=target, depth=loaded.depth, options=options
    )
    loaded.outcome.difference = found
    loaded.outcome.seconds["verify"] = time.perf_counter() - began
    verify.check(found, target)


def _row(loaded: Loaded, settings: Settings, device: str | None) -> Row | None:
    """Return the row of a file in the contact sheet, if one is wanted."""
    if loaded.given is None or not settings.preview:
        return None
    from ..preview.look import Look
    from ..preview.sheet import row

    edges = settings.options.get("edges", "wrap")
    given, made, job = loaded.given, loaded.picture, loaded.job
    look = Look(given.planes, given.maxval, loaded.transfer, edges, device)
    return row(look, made.planes, made.maxval, job.number, job.source)


def _write(loaded: Loaded, settings: Settings) -> None:
    target, coding = loaded.job.target, settings.coding
    loaded.outcome.left_out = images.write(
        loaded.picture, target, coding=coding, times=loaded.times, spare=loaded.spare
    )


def with_folder(target: str, settings: Settings, work: Callable[[], T]) -> T:
    """Do what writes an output, once more if its folder was removed meanwhile."""
    _check_link(target, settings)  # which it may have become
    try:
        return work()
    except WriteError as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            raise
        _make_again(Path(target).parent)
        return work()


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
    outcome.found_no_space = isinstance(error, WriteError) and getattr(error.__cause__, "errno", None) in NO_SPACE
    return outcome
