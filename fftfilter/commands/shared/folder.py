"""What the filters do with a folder: its options, its progress, its summary."""

from __future__ import annotations

import gc
import signal
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import option, together

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...folders.crew import Crew
    from ...folders.run import Folder, Stop, Survey
    from ...files.urls import Url

INTERRUPTED, NO_DEVICE = 130, 3
# Options of one file that mean nothing for a folder.
ONE_FILE = ("profile", "save_stages")

folder_options = together(
    option("-r", "--recursive", group="Folders", is_flag=True, help="Folders in IN, too; OUT gets the same tree."),
    option("--pattern", group="Folders", metavar="GLOB", help="Only files whose name fits, such as '*_raw.tif'."),
    option(
        "--format",
        "format_",
        group="Folders",
        metavar="EXT",
        help="Write all files as png, tif, jpg ... (also what goes to standard output).",
    ),
    option(
        "--skip-existing",
        group="Folders",
        is_flag=True,
        help="Skip a file whose output was made from the same bytes with the same settings: resumes a run.",
    ),
    option("--fail-fast", group="Folders", is_flag=True, help="Stop at the first file that fails."),
    option("-n", "--dry-run", group="Folders", is_flag=True, help="List what would be done, and do nothing."),
    option(
        "--report",
        group="Folders",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE.jsonl",
        help="Write a line of JSON about each file.",
    ),
    option(
        "--cluster",
        group="Folders",
        metavar="ADDRESS",
        help="Let the workers of a Dask cluster do the files: tcp://HOST:8786, or local to start one here.",
    ),
    option(
        "--processes",
        group="Folders",
        type=click.IntRange(min=1),
        metavar="N",
        help="Let N processes share the files: with a CPU each filters, with a GPU they read and write beside the "
        "one that does.  [default: as many as pay for their start]",
    ),
    option("-q", "--quiet", group="Folders", is_flag=True, help="No progress and no summary; errors only."),
)


def refuse_for_one_file(given: dict[str, Any], *, to_stream: bool) -> None:
    """Raise UsageError if a folder's options were given for one picture."""
    names = {"recursive": "--recursive", "pattern": "--pattern", "skip_existing": "--skip-existing"}
    names |= {"fail_fast": "--fail-fast", "dry_run": "--dry-run", "report": "--report", "cluster": "--cluster"}
    names |= {"processes": "--processes"}
    for key, name in names.items():
        if given[key]:
            raise click.UsageError(f"{name} is for folders, and IN is none.")
    if given["format_"] and not to_stream:
        raise click.UsageError("--format is for folders and standard output: the extension of OUT says its format.")
    if given["scale"] == "folder":
        raise click.UsageError("--scale folder is for folders, and IN is none: give each or LO:HI.")
    device = given["device"]
    if device and (device == "all" or "," in device):
        raise click.UsageError(f"--device {device} is for folders: one picture takes one device.")


def run_folder(
    kind: str,
    source: Path | Url,
    target: str,
    *,
    scale: str,
    device: str | None,
    quiet: bool,
    verbose: int,
    dry_run: bool,
    processes: int | None,
    settings: dict[str, Any],
    folder: dict[str, Any],
    options: dict[str, Any],
) -> int:
    """Filter a folder; return the exit code."""
    from ...files.urls import Url, place

    cluster = folder["cluster"]
    if target == "-":
        raise click.UsageError("IN is a folder, so OUT must be one, not standard output.")
    if settings["in_place"] and folder["skip_existing"]:
        raise click.UsageError("--skip-existing needs the inputs as they were, which --in-place overwrites.")
    if processes and cluster not in (None, "local"):
        raise click.UsageError("--processes is for this machine: a cluster has the workers that were started for it.")
    out = place(target)
    if out.suffix and (isinstance(out, Url) or not out.exists()):
        _refuse_image_name(target)
    devices = _devices(_device_of_workers(cluster, device) if cluster else device)
    with _crew(source, out, devices, processes, here=not (cluster or dry_run), recursive=folder["recursive"]) as crew:
        from ...folders.run import Folder, Settings
        from ...images import extension_of
        from ...output.scale import FOLDER, parse

        format_ = folder.pop("format_")
        run = Folder(
            source,
            out,
            Settings(kind, options, parse(scale), extremes=folder["report"] is not None, **settings),
            format=extension_of(format_) if format_ else None,
            scale_of_all=scale == FOLDER,
            **crew._asdict(),
            **folder,
        )
        gc.enable()  # see __main__.py
        survey = run.survey()
        if dry_run:
            return _dry_run(run, survey, quiet=quiet)
        return _run(run, survey, quiet=quiet, verbose=verbose)


@contextmanager
def _crew(
    source: Path | Url,
    target: Path | Url,
    devices: list[str | None],
    processes: int | None,
    *,
    here: bool,
    recursive: bool,
) -> Iterator[Crew]:
    """Start what does the work if it is done here, before anything else: it takes longer than all of that."""
    from ...folders.crew import Crew, crew

    if not here:
        yield Crew(devices * (processes or 1))
        return
    with crew(source, target, devices, processes, recursive=recursive) as started:
        if not started.team:
            from ...device.choice import load_ahead

            load_ahead()
        yield started


def _refuse_image_name(target: str) -> None:
    from ...images import extensions

    if Path(target).suffix.lower() in extensions(read_only=True):
        raise click.UsageError(f"IN is a folder, so OUT must be one, and {target!r} has the name of an image.")


def _device_of_workers(cluster: str, given: str | None) -> str | None:
    """Return the device that all workers take, None to let each choose; raises UsageError, ParameterError."""
    from ...folders.cluster.scheduler import LOCAL, check_address

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


def _devices(given: str | None) -> list[str | None]:
    """Return the devices that are meant: one, all but simulators, or those of a list."""
    if given is None or (given.strip().lower() != "all" and "," not in given):
        return [given]
    from ...device.choice import all_devices, choose, rank

    if given.strip().lower() == "all":
        return [str(i) for i, each in enumerate(all_devices()) if rank(each)[0] > 0] or [None]
    return [str(choose(name).index) for name in given.split(",") if name.strip()]


# Running


def _run(run: Folder, survey: Survey, *, quiet: bool, verbose: int) -> int:
    from ...folders.run import FAILED, MEASURED
    from ...folders.progress import Progress

    began = time.monotonic()
    progress = Progress(survey.files * (2 if run.scale_of_all else 1), quiet=quiet)
    with _first_interrupt_stops(run.stop):
        try:
            for outcome in run.run():
                progress.advance()
                if outcome.status == FAILED or run.warnings or (verbose and outcome.status != MEASURED):
                    progress.clear()
                if outcome.status == FAILED:
                    click.echo(f"fftfilter: {outcome.error}", err=True)
                elif verbose and outcome.status != MEASURED:
                    click.echo(f"{outcome.job}: {outcome.status}", err=True)
                _tell_warnings(run)
        finally:
            progress.clear()
    _tell_warnings(run)
    if not quiet:
        click.echo(_summary(run, survey, time.monotonic() - began), err=True)
    return _end(run)


def _tell_warnings(run: Folder) -> None:
    for warning in run.warnings:
        click.echo(f"fftfilter: {warning}", err=True)
    run.warnings.clear()


def _end(run: Folder) -> int:
    """Say how to go on where the run was cut short; return the exit code."""
    if run.stop.asked:
        click.echo("fftfilter: interrupted; the same command with --skip-existing goes on from here", err=True)
        return INTERRUPTED
    if run.lost:
        click.echo(f"fftfilter: {run.lost}; the same command with --skip-existing goes on from here", err=True)
        return NO_DEVICE
    return 0 if run.all_is_well else 1


def _summary(run: Folder, survey: Survey, seconds: float) -> str:
    """Return the run in one line: how many of how many, how fast, and what was not done."""
    from ...folders.run import DONE, FAILED, SKIPPED

    done = run.counts[DONE]
    parts = [f"{done} of {survey.files} files filtered in {seconds:.1f} s ({done / max(seconds, 1e-9):.3g}/s)"]
    if not survey.files:
        parts = [f"no image to filter in {run.source}"]
    if run.counts[SKIPPED]:
        parts.append(f"{run.counts[SKIPPED]} skipped, done before")
    if run.counts[FAILED]:
        parts.append(f"{run.counts[FAILED]} failed")
    return "; ".join(parts + _left_out(survey))


def _left_out(survey: Survey) -> list[str]:
    told = []
    if survey.left_out:
        kinds = ", ".join(f"{count} {kind}" for kind, count in survey.left_out.most_common(5))
        told.append(f"{survey.left_out.total()} of other types left out ({kinds})")
    if survey.not_entered:
        told.append(f"{survey.not_entered} folders not entered (-r does)")
    return told


@contextmanager
def _first_interrupt_stops(stop: Stop) -> Iterator[None]:
    """Let the first Ctrl-C ask for an end, and the next one end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(*_: object) -> None:
        stop.asked = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
        click.echo("\nfftfilter: finishing the files under way; once more to end at once", err=True)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# Telling only


def _dry_run(run: Folder, survey: Survey, *, quiet: bool) -> int:
    """Print a line a file, then the device and the most memory that a picture takes on it."""
    from ...folders.dry_run import Plan, Step

    code, plan = 0, Plan(run)
    for step in plan.steps():
        if isinstance(step, Step):
            click.echo(str(step))
        else:
            code = max(code, step.exit_code)
            click.echo(f"fftfilter: {step}", err=True)
    if not quiet:
        for line in (plan.device_line, f"{survey.files} files", *_left_out(survey)):
            click.echo(line)
    return code
