"""Folders: what IN names, the options, and a run with its progress and its summary."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .. import images, signals, system
from ..device_choice import NUMPY, are_few, devices_named, is_numpy, lacks_opencl
from ..errors import DeviceError, ReadError, without_secrets
from ..files import urls
from ..files.messages import Events, Progress, as_error, last_line, quoted_if_odd, tell
from ..files.sources import Identity
from ..files.urls import Url, is_url, place
from ..images import extensions, suffix_of
from ..output.modes import FOLDER
from ..system import cores
from .options import device_for, folder_option, remark, tell_of_compiling

if TYPE_CHECKING:
    from ..arrays import Array
    from ..folders.jobs import Files, Outcome, Survey, Tree
    from ..folders.pool import Workers
    from ..folders.run import FolderRun
    from .filters import CommandOptions

# Samples that a byte of a file stands for: of a JPEG up to ten, of a PNG one or two.
SAMPLES_A_BYTE = 4
# Formats that hold colors and that every browser shows.
OF_PREVIEWS = (".png", ".jpg", ".webp")


def _of_this_machine(_: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value and is_url(value):
        raise click.BadParameter(f"{value!r} is a URL: give a folder of this machine.", param=parameter)
    return value


folder_options = [
    folder_option(
        "-r", "--recursive", is_flag=True, everyday=True, help="Enter the folders in IN; OUT gets the same tree."
    ),
    folder_option(
        "--pattern GLOB",
        multiple=True,
        help="Filter only files whose names match, such as '*_raw.tif'. May be repeated; one match is enough.",
    ),
    folder_option(
        "--format EXT",
        "format_",
        kept=True,
        only="",
        help="Write all files as png, tif, jpg ... (also what goes to standard output).",
    ),
    folder_option(
        "--skip-existing [=fast]",
        type=click.Choice(["digest", "fast"]),
        everyday=True,
        help="Resume a run: skip files that are done. Their outputs were made from the same bytes with the same "
        "settings; =fast compares only size and time, or ETag.",
    ),
    folder_option(
        "--state DIR",
        type=click.Path(file_okay=False),
        callback=_of_this_machine,
        help="Keep the notes for --skip-existing in DIR.",
    ),
    folder_option(
        "--retries N",
        type=click.IntRange(0, 100),
        help="Try N times again if a URL fails or a worker dies, after longer and longer waits.",
    ),
    folder_option("--fail-fast", is_flag=True, help="Start no more files after one has failed."),
    folder_option("-n", "--dry-run", only="", is_flag=True, help="List what would be done, but do nothing."),
    folder_option(
        "--report FILE.jsonl",
        only="",
        help="Write a line of JSON about each file, to a file, a URL, or - for standard output; with --skip-existing "
        "after the lines that are there.",
    ),
    folder_option(
        "--cluster ADDRESS",
        only="",
        help="A Dask cluster filters the files, or the strips of a picture: tcp://HOST:8786, or local to start one.",
    ),
    folder_option(
        "--processes N",
        only="",
        type=click.IntRange(1, 1024),
        help="Share the files among N processes; 1 is this process alone.  [default: one per core if there are many "
        "files]",
    ),
    folder_option("-q", "--quiet", only="", is_flag=True, help="Only errors: no progress, summary or cautions."),
]


def is_folder(name: str) -> bool:
    """Whether a path or a URL is that of a folder; raises ReadError for a missing one with a slash at its end."""
    where = place(name)
    if not isinstance(where, Path):
        with as_error(ReadError, f"{quoted_if_odd(name)}: cannot be reached"):
            return urls.is_folder(where)
    if os.path.isdir(where):  # noqa: PTH112  Path's may raise
        return True
    if name.endswith("/"):
        raise _missing(name)
    return False


def files_in(tree: Tree | Files, name: str) -> list[str]:
    """Return the names of all files of what :func:`inputs_of` returns for a folder; raises ReadError."""
    with as_error(ReadError, f"{name}: cannot be listed"):
        return [branch.file(each) for branch in tree.walk() for each in branch.names]


def refuse_options_of_folders(names: Sequence[str], *, recursive: bool, pattern: Sequence[str]) -> None:
    """Refuse the options of a folder for files; raises UsageError, ReadError if the folder is missing."""
    given = "--recursive" if recursive else "--pattern" if pattern else ""
    if given and len(names) == 1 and not (names[0] == "-" or is_url(names[0]) or os.path.exists(names[0])):  # noqa: PTH110
        raise _missing(names[0])
    if given:
        raise click.UsageError(f"{given} is for a folder, and IN are files.")


def inputs_of(names: list[str], *, recursive: bool, pattern: Sequence[str], says_so: bool = True) -> Tree | Files:
    """Return a folder, or several IN as files, without the folders among them.

    ``says_so`` prints a line for each folder that is left out. Raises UsageError for standard input among several, for
    options of a folder, and if all are folders.
    """
    from ..folders.jobs import Files, Tree

    if len(names) == 1 and is_folder(names[0]):
        return Tree(place(names[0]), extensions(read_only=True), recursive, pattern)
    if "-" in names:
        raise click.UsageError("'-' is standard input, which has no name: give files for the folder OUT.")
    folders = [name for name in names if is_folder(name)]
    if len(folders) == len(names):
        raise click.UsageError(f"{names[0]!r} is a folder, which must be the only IN: give files for the folder OUT.")
    why = "is a folder among several IN, and left out; filter it by a command of its own"
    remark(*(f"{quoted_if_odd(name)}: {why}" for name in folders), quiet=not says_so)
    files = [name for name in names if name not in folders]
    refuse_options_of_folders(files, recursive=recursive, pattern=pattern)
    return Files(files, len(folders))


def _missing(name: str) -> ReadError:
    return ReadError(f"{quoted_if_odd(name)}: no such folder; check the name")


def check_preview(preview: str, source: str, target: str) -> None:
    """Refuse, before any work, a preview that could not be written; raises FftfilterError."""
    if Path(preview).suffix.lower() not in OF_PREVIEWS:
        raise click.UsageError(f"--preview {preview}: give a name that ends in {', '.join(OF_PREVIEWS)}.")
    own, out = (os.path.realpath(urls.of_this_machine(name)) for name in (preview, target))
    if target != "-" and own == out:
        raise click.UsageError(f"--preview {preview} is OUT itself: give another name.")
    images.check_output(source, preview)


def _check_preview(preview: str, source: Tree | Files, target: Path | Url) -> None:
    """Refuse, before any work, a contact sheet that could not be written, or among the files of a run."""
    from ..folders.jobs import is_inside

    check_preview(preview, "-", "-")
    own = Path(os.path.realpath(urls.of_this_machine(preview)))
    folders = [folder for folder in (getattr(source, "root", None), target) if isinstance(folder, Path)]
    if any(is_inside(own.parent, folder) for folder in folders):
        raise click.UsageError(f"--preview {preview} lies among the pictures of IN or OUT: give another folder.")


def write_preview(preview: str, pixels: Array, spare: Collection[Identity | None] = ()) -> None:
    """Write a page or a contact sheet ``(height, width, 3)``, which replaces none of ``spare``; raises WriteError."""
    picture = images.Picture(pixels.transpose(2, 0, 1), None, 255, "PNG")
    images.write(picture, preview, coding=images.Coding(6), spare=spare)


def handle_folder(source: Tree | Files, target: str, options: CommandOptions) -> int:
    """Filter a folder, or files into one; return the exit code."""
    from ..folders.jobs import Files, Settings
    from ..folders.run import FolderRun

    recipe = options.recipe
    options.check_for_folder(target)
    left_out = min(source.folders, 1) if isinstance(source, Files) else 0
    out = place(target)
    is_new = isinstance(out, Url) or not out.exists()
    if is_new and Path(target).suffix.lower() in extensions(read_only=True):
        raise click.UsageError(f"IN is a folder, so OUT must be one, and {target!r} has the name of an image.")
    if options.preview:
        _check_preview(options.preview, source, out)
    devices = devices_named(_device_of_workers(options) if options.cluster else options.device)
    words = tuple(each for each in recipe.arguments if not each.startswith("--format="))
    run = FolderRun(
        source,
        out,
        Settings(
            replace(recipe, format=None, arguments=words),
            in_place=options.in_place,
            preview=options.preview is not None,
            retries=options.retries or 0,
        ),
        format=suffix_of("output", recipe.format) if recipe.format else None,
        skip_existing=options.skip_existing,
        state=Path(options.state) if options.state else None,
        fail_fast=options.fail_fast,
        report=options.report,
        written=[each for each in (options.preview, options.save_recipe) if each],
        verify=options.verify or 0,
        masks=options.masks,
    )
    system.resume_collector()
    urls.retries = options.retries or 0
    urls.interrupted.clear()
    remark(*recipe.mode.cautions(recipe.scale), quiet=options.quiet)
    run.survey()
    given, goes_to = (without_secrets(str(each)) for each in (source, target))
    tell("start", run=run.log.run, input=given, output=goes_to, files=run.found.files, bytes=run.found.bytes)
    if options.dry_run:
        return _dry_run(run, devices, options) or left_out
    say = partial(remark, quiet=options.quiet)
    with _executors(run, devices, options) as (executors, where), run.held(say):
        return _watch(run, executors, where, options) or left_out


@contextmanager
def _executors(
    run: FolderRun, devices: list[str | None], options: CommandOptions
) -> Iterator[tuple[list[Workers], str]]:
    """Start the workers of a run; yield their executors, and their description for the summary."""
    if options.cluster:
        from ..folders.cluster import LOCAL, ClusterWorkers, connect
        from ..folders.processes import THREADS_FOR_URLS

        run.source, run.target = run.source.absolute(), run.target.absolute()  # for others' folders
        workers = devices * (options.processes or 1)
        is_local = options.cluster == LOCAL  # whose workers have their devices from their environment
        threads = THREADS_FOR_URLS if run.urls else max(1, cores() // len(workers)) if is_local else 0
        device = None if is_local else devices[0]
        with (
            connect(options.cluster, workers) as client,
            closing(ClusterWorkers(client, device, threads)) as executor,
        ):
            yield [executor], f"cluster {options.cluster}"
        return
    from ..folders.processes import choose_workers, described, started

    wanted = choose_workers(run.found, devices, options.processes, over_network=bool(run.urls))
    wanted = wanted._replace(edges=options.recipe.edges)
    samples = SAMPLES_A_BYTE * run.found.bytes or math.inf  # unknown behind URLs
    if all(map(options.recipe.is_open, wanted.devices)) and are_few(samples):
        wanted = wanted._replace(devices=[NUMPY] * len(wanted.devices))
    if not wanted.processes:
        tell_of_compiling(quiet=options.quiet)
        verbose = 0 if options.quiet else options.verbose
        device = device_for(wanted.devices[0], options.recipe, run.found.file_bytes, verbose=verbose)
        wanted = wanted._replace(devices=[device])
    with started(wanted) as executors:
        yield executors, described(executors)


def _device_of_workers(options: CommandOptions) -> str | None:
    """Return the device that all workers take, None to let each choose; raises UsageError, ParameterError."""
    from ..folders.cluster import LOCAL, check_address

    given, cluster = options.device, options.cluster or LOCAL
    check_address(cluster)
    if cluster == LOCAL or given is None:
        return given
    # What the environment says of this machine is not meant for others, which have their own.
    if click.get_current_context().get_parameter_source("device") == click.core.ParameterSource.ENVIRONMENT:
        return None
    if given.strip().lower() == "all" or "," in given:
        raise click.UsageError(
            f"--device {given} with --cluster: a worker has one device; start each with its own FFTFILTER_DEVICE."
        )
    return given


# Running


def _drawn(outcomes: Iterator[Outcome], preview: str | None, run: FolderRun) -> Iterator[Outcome]:
    """Return outcomes as they are; at their end write the contact sheet, if one is wanted. Raises WriteError."""
    if preview is None:
        yield from outcomes
        return
    from ..preview.page import Sheet
    from ..preview.report import about_filter

    sheet = Sheet(run.found.files)
    for outcome in outcomes:
        if outcome.row:
            sheet.add(outcome.row)
        yield outcome
    said = about_filter(run.recipe.transfer, run.recipe.depth, run.recipe.channels, "the peaks of each taken out")
    write_preview(preview, sheet.picture(without_secrets(f"{run.source}   {said}")))


def _outcome_line(outcome: Outcome) -> str:
    """Return the line on a file that failed, or on any file with -v."""
    if outcome.error:
        return f"fftfilter: {outcome.error}"
    removed = ""
    if outcome.peaks:
        from ..analysis.search import peaks_text

        removed = f", without {peaks_text(outcome.peaks)}"
    removed += f" ({outcome.notes[0]})" if outcome.notes else ""
    pages = f", {outcome.pages} pages" if outcome.pages > 1 else ""
    pages += ", indices of a look-up table" if outcome.has_table else ""
    left_out = f", without {' and '.join(outcome.left_out)}" if outcome.left_out else ""
    clipped = f", {outcome.clipped:.2%} clipped" if outcome.clipped else ""
    clipped += f", {outcome.missing:.2%} missing" if outcome.missing else ""
    pixels = f", {outcome.pixel_size}" if outcome.pixel_size else ""
    return f"{outcome.job}: {outcome.status}{pages}{removed}{pixels}{clipped}{left_out}"


def _watch(run: FolderRun, executors: list[Workers], where: str, options: CommandOptions) -> int:
    from ..folders.jobs import MOST_FAILURES

    began = time.monotonic()
    progress = Progress(run.found.files * (2 if run.recipe.span == FOLDER else 1), quiet=options.quiet)
    devices: set[str] = set()
    told_of_no_space = False

    with signals.asking_first(partial(_stop, run, executors), last_line):
        try:
            for outcome in _drawn(run.run(executors), options.preview, run):
                progress.advance()
                if outcome.device:
                    devices.add(outcome.device)
                if is_numpy(outcome.device) and not is_numpy(executors[0].device):
                    progress.clear()
                    lacks_opencl()  # which says so, where it was another process that found out
                verified = outcome.difference and not options.quiet and outcome.status != "failed"
                # Of those under way, only the first says that no space is left, and some that a server is down.
                is_known = outcome.found_no_space and told_of_no_space
                failed = outcome.status == "failed" and not is_known and run.failed_in_a_row <= MOST_FAILURES
                told_of_no_space |= outcome.found_no_space
                said = failed or (options.verbose and outcome.status != "measured")
                if run.warnings or said or verified:
                    progress.clear()
                if said and not isinstance(sys.stderr, Events):  # in which the file has a line anyway
                    click.echo(_outcome_line(outcome), err=True)
                if verified:
                    click.echo(f"{quoted_if_odd(outcome.job.target)}: {outcome.difference}")
                _print_warnings(run)
        finally:
            progress.clear()
    _print_warnings(run)
    seconds = time.monotonic() - began
    values = {each: run.counts[each] for each in ("done", "skipped", "failed")}
    is_told = tell("end", run=run.log.run, files=run.found.files, **values, seconds=round(seconds, 3))
    if not options.quiet:
        remark(*(f"{files} {'files' if files > 1 else 'file'}: {each}" for each, files in run.cautions.items()))
        done_by = f"{where} on {', '.join(sorted(devices))}" if devices else ""
        if not is_told:
            click.echo(without_secrets(_summary(run, seconds, done_by)), err=True)
    return _end(run)


def _stop(run: FolderRun, executors: list[Workers], number: int) -> None:
    run.stopped_by = number
    for each in executors:
        each.stop_trying()
    click.echo("\nfftfilter: finishing the files under way; once more to end at once", err=True)


def _print_warnings(run: FolderRun) -> None:
    remark(*run.warnings)
    run.warnings.clear()


def _end(run: FolderRun) -> int:
    """Say how to resume a run that was cut short; return the exit code."""
    from ..folders.jobs import MOST_FAILURES

    why = "no space left" if run.found_no_space else ""
    code = int(run.counts["failed"] > 0 or run.log.is_incomplete)  # the journal does not count
    if run.failed_in_a_row >= MOST_FAILURES:
        why = f"{run.failed_in_a_row} files in a row failed for reasons outside of them"
    if run.stopped_by is not None:
        why, code = signals.ending(run.stopped_by)
    elif run.lost:
        why, code = run.lost, DeviceError.exit_code
    if why:
        remark(f"{why}; the same command with --skip-existing goes on from here")
    return code


def _summary(run: FolderRun, seconds: float, done_by: str) -> str:
    """Return the run in one line: how many of how many, how fast, by whom, and what was not done."""
    done = run.counts["done"]
    parts = [f"{done} of {run.found.files} files filtered in {seconds:.1f} s ({done / max(seconds, 1e-9):.3g}/s)"]
    if not run.found.files:
        pattern = " or ".join(getattr(run.source, "pattern", ()))
        parts = [f"no image to filter in {run.source}{f': none fits --pattern {pattern}' if pattern else ''}"]
    if run.counts["skipped"]:
        parts.append(f"{run.counts['skipped']} skipped, done before")
    if run.counts["failed"]:
        parts.append(f"{run.counts['failed']} failed")
    return "; ".join([*parts, *_left_out(run.found), *([f"by {done_by}"] if done_by else [])])


def _left_out(survey: Survey) -> list[str]:
    parts = []
    if survey.left_out:
        kinds = ", ".join(f"{count} {kind}" for kind, count in survey.left_out.most_common(5))
        parts.append(f"{survey.left_out.total()} of other types left out ({kinds})")
    if survey.not_entered:
        parts.append(f"{survey.not_entered} folders not entered (-r does)")
    return parts


def _dry_run(run: FolderRun, devices: list[str | None], options: CommandOptions) -> int:
    """Print one line per file, then the device and the most memory that a picture takes on it."""
    from ..folders.report import dry_run

    code, began = 0, time.monotonic()
    for step in dry_run(run, devices, options.cluster, quiet=options.quiet):
        if isinstance(step, str):
            click.echo(step)
        else:
            code = max(code, step.exit_code)
            remark(step)
    values = {each: run.counts[each] for each in ("planned", "skipped", "failed")}
    tell("end", run=run.log.run, files=run.found.files, **values, seconds=round(time.monotonic() - began, 3))
    for line in () if options.quiet else (f"{run.found.files} files", *_left_out(run.found)):
        click.echo(line)
    return code
