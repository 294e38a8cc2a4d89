"""What the filters do with one file: they open it, filter it into another one, and print or draw what was asked for."""

from __future__ import annotations

import math
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from .. import device_choice, images, system
from ..errors import DeviceError, ImageError, ParameterError, ReadError, TooLargeError, WriteError
from ..files import sources
from ..files.atomic import refuse_inputs, remove_leftovers_beside
from ..files.messages import Events, Progress, shown
from ..files.urls import is_url
from ..output.modes import STACK
from ..text import sides_text, text_table
from .folder import check_preview, write_preview
from .options import device_for, refuse, remark, tell_of_compiling

if TYPE_CHECKING:
    from ..analysis.found import Peak
    from ..analysis.search import AutoNotches, Left
    from ..arrays import Array
    from ..files.sources import Identity
    from ..filters import Filter
    from ..folders.cluster import ClusterWorkers
    from ..folders.jobs import Outcome
    from ..images import Pages, Picture
    from ..work.opened import Frame, Opened
    from ..work.output_file import Share
    from ..work.recipe import Done
    from .filters import CommandOptions

# Waves that are named without -v.
SAID = 4
# The key of a context's function that is called after each page with the number of all pages.
ADVANCE = "fftfilter.advance"


def handle_file(source: str, target: str, options: CommandOptions) -> None:
    """Read, filter, write; then print what was asked for; raises FftfilterError."""
    size = _bytes_of(source, options)
    is_open = options.recipe.is_open(options.device) and not (options.profile or options.save_stages)
    options.asked = options.device
    options.device = device_for(options.device, options.recipe, size, verbose=options.verbose)
    if not math.isnan(size):
        options.check_for_file(source, target)
        options.recipe = options.recipe.fitting(source, target)
        _check(source, target, options)
    tell_of_compiling(quiet=options.quiet)
    remove_leftovers_beside(target)
    masks = [*map(sources.identity, options.masks)]
    reported: Any = nullcontext(SimpleNamespace())
    if options.report or isinstance(sys.stderr, Events):
        from ..folders.report import Report  # which takes some milliseconds

        reported = Report(options.report, remark).of_one(source, target, options.recipe)
        if options.report:
            refuse_inputs(options.report, [sources.identity(source), *masks])
    with reported as outcome, system.at_most(options.memory):
        outcome.bytes = int(size) if math.isfinite(size) else None
        too_large = ""
        try:
            if options.cluster:
                too_large = _for_cluster(source, options)
            elif options.dry_run:
                _dry_run(source, target, options, outcome)
            else:
                _filter(source, target, options, masks, outcome, is_open=is_open)
        except TooLargeError as error:
            if options.memory is not None and not system.free_memory():
                name, given = shown(source, "-"), f"--memory {options.memory:,}"
                enough = f"{max(2, -(-2 * options.memory // 10**8)) * 100}MB"
                why = f"is no more than the program takes without a picture: give more, such as {enough}"
                raise TooLargeError(f"{name}: {given} {why}") from error
            if source == "-" or is_url(source) or options.recipe.axes:
                raise
            too_large = str(error)
        if too_large:  # the error, and with it all that was in memory, is gone
            _by_strips(source, target, options, outcome, too_large)


def _filter(
    source: str,
    target: str,
    options: CommandOptions,
    masks: list[Identity | None],
    outcome: Outcome,
    *,
    is_open: bool,
) -> None:
    """Filter a picture or pages that fit into memory, and enter into the outcome what it becomes.

    ``is_open`` says whether NumPy may do it, if it is small.
    """
    from ..work.opened import open_input

    compare = options.verify is not None
    try:
        limit, device = options.input_limit, options.device
        opened = open_input(
            source, options.recipe, device=device, limit=limit, compare=compare, target=target, by_strips=True
        )
        way = _way(opened, target, options)
        remark(f"{opened.name}: larger than memory: filtered {way}{_not_on(options)}", quiet=options.quiet or not way)
        say_of(opened, quiet=options.quiet, verbose=options.verbose)
        if way or (is_open and device_choice.are_few(opened.samples)):
            options.device = device_choice.NUMPY
        with closing(opened), _shared(source, target, opened, options) as (share, device):
            options.device = device
            began = time.monotonic()
            done, outcome.device = _make_and_tell(opened, target, [opened.identity, *masks], options, share)
            vars(outcome).update(vars(done), pixel_size=opened.pixel_size, peaks=opened.peaks)
            outcome.seconds = {"all": time.monotonic() - began}
    except (KeyboardInterrupt, ImageError, DeviceError) as error:
        if images.is_zarr(source, target) and not isinstance(error, TooLargeError):
            from ..images.formats import unfinished_zarr

            if (folder := unfinished_zarr(target)).is_dir():
                remark(f"{folder} has the planes that are done; the same command goes on")
        raise
    except MemoryError as error:
        raise TooLargeError(f"{shown(source, 'standard input')}: out of memory; use a smaller image") from error
    if done.difference:
        from ..work import verify

        verify.check(done.difference, target)
        if not options.quiet:
            click.echo(f"{shown(target, '-')}: {done.difference}")


def _for_cluster(source: str, options: CommandOptions) -> str:
    """Return that a cluster filters a picture, in words; raises UsageError and ParameterError if it cannot."""
    from ..folders.cluster import check_address

    if source == "-" or is_url(source) or options.recipe.axes:
        raise click.UsageError("--cluster filters folders, and strips of a picture in a file: leave it out.")
    check_address(str(options.cluster))
    return f"{shown(source, '-')}: a cluster filters strips of a picture"


@contextmanager
def _workers(options: CommandOptions) -> Iterator[ClusterWorkers | None]:
    """Give the workers that filter strips, one for each core of this machine if they are local; None without any."""
    if options.dry_run or not options.cluster:
        yield None
        return
    from ..folders.cluster import ClusterWorkers, connect

    devices = [None] * (options.processes or system.cores())
    with connect(options.cluster, devices) as client, closing(ClusterWorkers(client, None)) as workers:
        workers.look()
        yield workers


def _by_strips(source: str, target: str, options: CommandOptions, outcome: Outcome, too_large: str) -> None:
    """Filter a picture that is larger than the memory strip by strip; raises TooLargeError if it cannot be."""
    from ..work.large import LargeFile

    with _workers(options) as workers:
        try:
            refuse(vars(options), ("verify", "preview", "save_stages", "profile"), "takes all of it: leave it out.")
            threads = workers.most if workers else None
            how: dict[str, Any] = {"threads": threads, "device": options.device}
            large = LargeFile(source, target, options.recipe, options.scratch, **how)
            plan = large.plan(large.how.precision)
        except (ParameterError, ReadError, TooLargeError, click.UsageError) as error:
            raise TooLargeError(f"{too_large}; and strip by strip it cannot be filtered: {error}") from None
        said = f"{f'{large.count} pages, each ' * (large.count > 1)}{plan.said(large.how, large.folder)}"
        if options.dry_run:
            outcome.status = "planned"
            click.echo(f"{large.opened.name} -> {shown(target, 'standard output')}: {said}", err=target == "-")
            return
        why = f"by {workers.count} worker{'s' * (workers.count > 1)}" if workers else "larger than memory"
        remark(f"{large.opened.name}: {why}: filtered {said}{_not_on(options, plan.by)}", quiet=options.quiet)
        masks = [*map(sources.identity, options.masks)]
        large.opened.spare = masks if options.in_place else (large.opened.identity, *masks)
        progress, began = Progress(large.count * plan.steps(large.how), quiet=options.quiet), time.monotonic()
        try:
            done = large.write(progress.advance, workers.do if workers else None)
        finally:
            progress.clear()
    vars(outcome).update(vars(done), pixel_size=large.opened.pixel_size)
    outcome.seconds = {"all": time.monotonic() - began}
    remark(*done.cautions, *options.recipe.mode.cautions(options.recipe.scale), quiet=options.quiet)
    if options.verbose:
        cut = f"; {done.clipped:.2%} clipped" if done.clipped else ""
        number = f"{done.pages} pages, " if done.pages > 1 else ""
        click.echo(f"{number}{done.shape[2]} x {done.shape[1]}: {large.opened.transfer}; {plan.by}{cut}", err=True)


def _not_on(options: CommandOptions, by: str = "NumPy") -> str:
    """Return that NumPy takes strips in place of a device that was asked for, in words."""
    is_given = by == "NumPy" and options.asked not in (None, "auto", device_choice.NUMPY)
    return f"; device {options.asked} does not take its strips" if is_given else ""


def _dry_run(source: str, target: str, options: CommandOptions, outcome: Outcome) -> None:
    """Print what :func:`handle_file` would do and take; the picture, or the first page, is read."""
    from .. import memory
    from ..work.opened import first_of, open_input

    recipe = options.recipe
    opened = open_input(source, replace(recipe, auto=None), limit=options.input_limit, by_strips=True)
    with closing(opened):
        way = _way(opened, target, options)
        found, picture = opened.found, first_of(opened.found)
        outcome.status, outcome.shape, outcome.dtype = "planned", picture.planes.shape, str(picture.planes.dtype)
        has_holes = recipe.holes(picture, opened.name) is not None
        pages, decoder = (len(found), found.decoder) if isinstance(found, images.Pages) else (1, 0)
        size = memory.Pixels.of(picture.planes, pages, has_holes=has_holes, decoder=decoder)
    how = recipe.how_much(target, compare=options.verify is not None, keep=options.preview is not None)
    way = way or memory.described(size, how)
    click.echo(f"{opened.name} -> {shown(target, 'standard output')}: {way}", err=target == "-")


def _way(opened: Opened, target: str, options: CommandOptions) -> str:
    """Return how volumes that do not fit into memory are filtered, in words; "" for all others."""
    if not (opened.volumes and opened.volumes.is_large):
        return ""
    from ..work.output_file import folder_of

    opened.volumes.scratch = folder_of(target, options.scratch)
    return opened.volumes.said()


def _bytes_of(source: str, options: CommandOptions) -> float:
    """Return how many bytes there are to filter, as many as can be where that is unknown; NaN for no file."""
    if source == "-" or is_url(source):
        return math.inf
    with suppress(OSError):  # reading says why
        status = os.stat(source)  # noqa: PTH116
        is_known = stat.S_ISREG(status.st_mode) and not (options.profile or options.save_stages)
        return status.st_size if is_known else math.inf
    return math.nan


def _check(source: str, target: str, options: CommandOptions) -> None:
    """Refuse, before any work, what could not be written; raises FftfilterError."""
    recipe = options.recipe
    images.check_output(source, target, in_place=options.in_place, format=recipe.format)
    for written in filter(None, (target, options.preview)):
        refuse_inputs(written, [*map(sources.identity, options.masks)])
    recipe.refuse(target)
    if options.verify:
        from ..work import verify

        verify.refuse(target, recipe)
    if options.preview:
        check_preview(options.preview, source, target)


@contextmanager
def _shared(
    source: str, target: str, opened: Opened, options: CommandOptions
) -> Iterator[tuple[Share | None, str | None]]:
    """Start processes that share the planes of an OME-Zarr, if they are asked for or many planes are small.

    The device is that of this process, too, which filters the first plane.
    """
    if options.preview or options.recipe.axes or not images.is_zarr(source, target):
        yield None, options.device
        return
    from ..folders.processes import choose_for_planes, share_planes, started

    wanted = choose_for_planes(opened.pages, options.device, options.processes)
    if not wanted.processes:
        yield None, wanted.devices[0]
        return
    with started(wanted) as executors:
        yield share_planes(executors, source, target, opened), wanted.devices[0]


def _make_and_tell(
    opened: Opened, target: str, files: Sequence[Identity | None], options: CommandOptions, share: Share | None
) -> tuple[Done, str]:
    """Filter a picture, or pages one by one or by ``share``; return the device, too. ``files`` are all inputs."""
    from ..work.output_file import make_output

    recipe, progress = opened.recipe, Progress(1, quiet=True)
    opened.spare = files[1:] if options.in_place else files
    has_pages = isinstance(opened.found, images.Pages)
    if has_pages:
        pages = opened.pages
        why = f"is for one picture, and IN has {len(pages)}: choose one with --pages."
        refuse(vars(options), ("save_stages", "profile"), why)
        steps = opened.volumes.steps if opened.volumes else len(pages) * (2 if recipe.span == STACK else 1)
        progress = Progress(steps, quiet=options.quiet)
    frames: list[Frame] = []
    observe = _save_stages(options.save_stages, files) if options.save_stages else None
    watch = click.get_current_context().meta.get(ADVANCE)

    def advance() -> None:
        progress.advance()
        if watch:
            watch(progress.total)

    with recipe.open_filter(opened.transfer, options.device, profile=options.profile) as filter_:
        try:
            done = make_output(
                opened,
                target,
                filter_,
                compare=options.verify is not None,
                show=frames.append if options.preview else None,
                observe=observe,
                advance=advance,
                share=share,
            )
        finally:
            progress.clear()
        remark(*done.cautions, *recipe.mode.cautions(recipe.scale), quiet=options.quiet)
        _say_notes(opened, done, options)
        if options.in_place and done.left_out and not options.verbose:  # no other file has it
            remark(f"left out: {', '.join(done.left_out)}", quiet=options.quiet)
        if options.verbose:
            number = f"{done.pages} pages, " if done.pages > 1 else ""
            click.echo(f"{number}{_summary(filter_, opened, done)}", err=True)
        if options.profile:
            click.echo(_times(filter_), err=target == "-")
    if options.preview:
        _write_page(options.preview, opened, frames[0], options.device, files)
    return done, filter_.launcher.device.name


def say_of(opened: Opened, *, quiet: bool, verbose: int) -> None:
    """Say which waves are taken out of a file; raises ImageError for a picture that is too small."""
    if opened.too_few:
        from ..analysis.search import SMALLEST

        raise ImageError(f"{opened.name}: {opened.too_few}: give at least {SMALLEST} a side")
    remark(*[f"{opened.name}: {opened.pattern}"] * bool(opened.pattern), quiet=quiet)
    if opened.recipe.auto and not quiet:
        what = "found" if opened.transfer.is_complement else "removed"
        say_waves(opened.peaks or [], opened.left, opened.recipe.auto, opened.name, verbose=verbose, what=what)


def say_waves(
    found: Sequence[Peak], left: Left | None, auto: AutoNotches, name: str, *, verbose: int, what: str = "removed"
) -> None:
    """Say which waves were found, with -v each of them, and how many look like a part of the picture and stay."""
    from ..analysis.search import peaks_text

    if left:
        remark(f"{name}: {auto.left(left)}")
    if found:
        click.echo(f"{name}: {what} {peaks_text(found, None if verbose else SAID)}", err=True)
    elif left is not None and not (left or auto.waves.parts):
        remark(f"{name}: {auto.nothing(left)}")


def _say_notes(opened: Opened, done: Done, options: CommandOptions) -> None:
    """Say what was found in a picture, or in the first page; with -v in each."""
    auto = opened.recipe.auto
    if auto and auto.waves.parts and opened.left is not None and not (opened.peaks or opened.left or any(done.notes)):
        remark(f"{opened.name}: {auto.nothing(opened.left)}", quiet=options.quiet)
    if options.quiet or not (opened.recipe.says_notes or auto):
        return
    for number, note in enumerate(done.notes if options.verbose else done.notes[:1], start=1):
        page = f", page {number}" if done.pages > 1 else ""
        click.echo(f"{opened.name}{page}: {note}", err=True)


def only_picture(found: Picture | Pages, name: str) -> Picture:
    """Return a file's picture; raises UsageError for several pages."""
    if isinstance(found, images.Pages) and len(found) > 1:
        raise click.UsageError(f"{name}: {len(found)} pages, and this is for one picture: choose one with --pages.")
    return found.read(0) if isinstance(found, images.Pages) else found


def draw_effect(source: str, target: str, options: CommandOptions) -> None:
    """Write a page on what a filter makes of a picture, and not what it makes."""
    from ..work.opened import filter_frames, open_input

    recipe = replace(options.recipe, format=".tif")
    check_preview(target, source, "-")
    remove_leftovers_beside(target)
    files = [*map(sources.identity, (source, *options.masks))]
    opened = open_input(source, recipe, device=options.device, limit=options.input_limit)
    say_of(opened, quiet=options.quiet, verbose=options.verbose)
    opened = replace(opened, found=only_picture(opened.found, opened.name))
    frame = opened.frame("-", keep=True)
    with recipe.open_filter(opened.transfer, options.device) as filter_:
        (made,) = filter_frames(filter_, [frame], recipe)
    frame.put(made.planes)
    _write_page(target, opened, frame, options.device, files)


def _write_page(
    preview: str, opened: Opened, frame: Frame, device: str | None, spare: Sequence[Identity | None]
) -> None:
    """Write what a filter made of a picture; raises WriteError. ``spare`` are the inputs, which it must not replace."""
    from ..preview.page import page
    from ..preview.report import about_filter

    report, made, recipe = opened.report(frame, device), frame.picture, opened.recipe
    height, width = report.size
    title = f"{Path(opened.name).name}{opened.middle_page}   {width} x {height}"
    said = about_filter(opened.transfer, recipe.depth, recipe.channels)
    write_preview(preview, page(report, frame.shown(), made.maxval, title, said), spare)


def _save_stages(folder: Path, spare: Sequence[Identity | None]) -> Callable[[str, Array], None]:
    """Return what writes each result that a pipeline shows it as a numbered PNG; none replaces one of ``spare``."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(f"{folder}: cannot be made ({error.strerror}): give another folder") from error
    from ..preview.panels import StepPictures

    pictures, numbers = StepPictures(), count(1)

    def save(name: str, planes: Array) -> None:
        picture = images.Picture(pictures.picture(name, planes), None, 255, "PNG")
        images.write(picture, folder / f"{next(numbers):02}-{name}.png", spare=spare)

    return save


def _summary(filter_: Filter, opened: Opened, done: Done) -> str:
    _, height, width = done.shape
    n = "" if opened.recipe.axes else f" = {min(height, width) / 8:g}"
    filtered_by = str(filter_.transfer).replace("n/8", f"n/8{n}")
    filtered_by += f", {opened.recipe.channels} alone" if opened.recipe.channels else ""
    without = "\nlook-up table: its indices are filtered" if done.has_table else ""
    without += f"\nleft out: {', '.join(done.left_out)}" if done.left_out else ""
    cut = f"; {done.clipped:.2%} clipped" if done.clipped else ""
    cut += f"; {done.missing:.2%} missing" if done.missing else ""
    given = filter_.transfer.pixel_size
    pixels = f", {opened.pixel_size or f'pixel size {sides_text(given)}'}" if given else ""
    device = filter_.launcher.device.name
    again = ", and again in double precision, as single is not exact enough" if filter_.weak() else ""
    # The first page's note; what is said anyway is not said again.
    found = f" ({done.notes[0]})" if done.notes and not opened.recipe.says_notes else ""
    return f"{width} x {height}: {filtered_by}{found}{pixels}; {filter_.engine} on {device}{again}{cut}{without}"


def _times(filter_: Filter) -> str:
    """Return the time of every step, as the book's List 6.11."""
    timings = filter_.timings()
    rows = [(t.step, str(t.launches), f"{t.seconds * 1e3:.3f}") for t in timings]
    rows.append(("total", str(sum(t.launches for t in timings)), f"{sum(t.seconds for t in timings) * 1e3:.3f}"))
    return text_table(("step", "launches", "ms"), rows, right=".rr")
