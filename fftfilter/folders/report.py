"""The report of a run, a file with a line of JSON about each image; the same lines are the log's events ``file``.

A dry run shows each file's size, output and memory, from the headers alone. The memory that a picture takes of a device
is asked of the device: of one here, or of one of a cluster's workers.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from posixpath import join
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from .. import __version__, images
from ..errors import DeviceError, FftfilterError, ParameterError, ReadError, WriteError, without_secrets
from ..files import sources, urls
from ..files.atomic import is_special
from ..files.messages import STANDARD_STREAM, Events, now, tell
from ..files.sources import Folder
from ..files.urls import is_url, place, refuse_reading_only, without_file_scheme
from . import journal
from .jobs import Identity, Job, Outcome, Settings, identity, real

if TYPE_CHECKING:
    from ..work.recipe import Recipe
    from .run import FolderRun


class Report:
    """A file with a line about each outcome; "-" is standard output, and None is no report.

    Raises ParameterError for a file that the run itself might read or write: one with an image's name, behind any
    link. `Tree` refuses an input that is the same file under another name, by its :attr:`identity`.
    """

    def __init__(self, path: str | None, warn: Callable[[str], None]) -> None:
        self.run = f"{now()}-{os.getpid()}"
        """What its lines call the run."""
        self._path, self._warn = path, warn
        self._file: IO[str] | None = None
        self._real = ""
        self.identity: Identity | None = None
        """That of the file that would be overwritten, None if there is none yet."""
        self.is_incomplete = False
        """Whether lines are missing."""
        if path in (None, STANDARD_STREAM):
            return
        self._path = path = without_file_scheme(path)
        self.identity = identity(place(path))
        self._real = real(place(path))
        name = place(self._real).name
        if is_url(path):
            refuse_reading_only(path, "--report")
        elif Path(path).is_dir():
            raise ParameterError(f"--report {path}: is a folder; choose a file such as report.jsonl")
        if Path(name).suffix.lower() in images.extensions(read_only=True):
            raise ParameterError(f"--report {path}: {name} has the name of an image; choose one such as report.jsonl")
        if name == journal.NAME or name.startswith(journal.PREFIX):
            raise ParameterError(f"--report {path}: is the journal of --skip-existing; choose another file")

    def open(self, *, appends: bool = False) -> None:
        """Begin an empty file, or go on in one that is there if it ``appends``; raises WriteError."""
        path = self._path
        try:
            if path is None:
                return
            if path == STANDARD_STREAM:
                self._file = sys.stdout
            elif is_url(path):
                self._file = TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  closed with the report
                with suppress(FileNotFoundError):
                    self._file.write(urls.content(path).decode(errors="replace") if appends else "")
                self._file.seek(0)
                # Or it would turn out at the end that nothing can be written there.
                urls.store(path, [self._file.read().encode()])
            else:
                # Not by a link that has come since.
                opener = None if is_special(path) else Folder(os.path.dirname(self._real)).open  # noqa: PTH120
                where = path if opener is None else self._real
                self._file = open(where, "a", encoding="utf-8", buffering=1, opener=opener)  # noqa: SIM115
                if (found := os.fstat(self._file.fileno())).st_size:
                    if (found.st_dev, found.st_ino) != self.identity:
                        raise OSError(errno.EEXIST, "another file was put there")  # an input, perhaps
                    if not appends:
                        self._file.truncate(0)
        except OSError as error:
            raise WriteError(f"{path}: cannot be written: {error.strerror}; choose another file") from error

    def add(self, outcome: Outcome, settings: Settings) -> None:
        """Write the line of one file, also as an event of the log."""
        if not self._file and not isinstance(sys.stderr, Events):
            return
        line = {"run": self.run, **_line(outcome, settings)}
        tell("file", **line)
        if self._file:
            try:
                self._file.write(json.dumps({"time": now(), **line, "version": __version__}) + "\n")
            except OSError as error:
                self._fail(error)

    @contextmanager
    def of_one(self, source: str, target: str, recipe: Recipe) -> Iterator[Outcome]:
        """Give the outcome of a run's only file, to be completed; its line is written at the end, also of a failure."""
        outcome = Outcome(job=Job(0, source, target))
        self.open()
        try:
            yield outcome
        except BaseException as error:
            outcome.fail(error)
            raise
        finally:
            if outcome.status == "done" and target != STANDARD_STREAM:
                outcome.stamp = journal.stamp(target)
            self.add(outcome, Settings(recipe))
            self.close()
        if self.is_incomplete:
            raise WriteError(f"{self._path}: the report is incomplete; choose another file")

    def close(self) -> None:
        """End the file; behind a URL, where nothing can be appended, write it."""
        if self._file and self._path and self._path != STANDARD_STREAM:
            try:
                with self._file as file:
                    if is_url(self._path):
                        file.seek(0)
                        urls.store(self._path, [file.read().encode()])
            except OSError as error:
                self._fail(error)

    def _fail(self, error: OSError) -> None:
        if not self.is_incomplete:
            self.is_incomplete = True
            self._warn(f"{self._path}: cannot be written ({error.strerror}); the report is incomplete")


def _line(outcome: Outcome, settings: Settings) -> dict[str, Any]:
    channels, height, width = outcome.shape or (None, None, None)
    recipe = settings.recipe
    transfer = recipe.transfer
    if recipe.auto and outcome.peaks:
        from ..analysis.search import notches

        transfer *= notches(outcome.peaks, recipe.auto.shape)
    filtered_by = (transfer.with_pixel_size(outcome.pixel_size[:2]) if outcome.pixel_size else transfer).given()
    for part, made in zip(transfer.parts, filtered_by.get("parts", [filtered_by]), strict=False):
        if height and width:  # what n/8 is for this one
            made.update(part.for_size(height, width).given() | made)
    far = outcome.difference
    given = {name: value for name, value in recipe.options.items() if value is not None}
    given |= recipe.region.given() if recipe.region else {}
    return {
        "input": without_secrets(outcome.job.source),
        "output": without_secrets(outcome.job.target),
        "status": outcome.status,
        "bytes": outcome.bytes,
        "output_bytes": outcome.stamp and outcome.stamp.size,
        "width": width,
        "height": height,
        "channels": channels,
        "type": outcome.dtype,
        "pages": outcome.pages,
        "filter": {**filtered_by, **given},
        "peaks": None if outcome.peaks is None else [peak.described() for peak in outcome.peaks],
        "found": outcome.notes,
        "output_mode": recipe.output,
        "scale": "each" if recipe.scale is None else recipe.scale._asdict(),
        "extremes": outcome.extremes,
        "clipped": outcome.clipped,
        "missing": outcome.missing,
        "difference": far and {"largest": far.largest, "white": far.white, "samples": far.samples, "of": far.size},
        "milliseconds": {stage: round(seconds * 1e3, 3) for stage, seconds in outcome.seconds.items()},
        "seconds": round(sum(outcome.seconds.values()), 6),
        "device": outcome.device,
        "error": outcome.error and without_secrets(outcome.error),
        "code": outcome.code,
    }


Shape = tuple[int, int, int]

SECONDS_TO_ANSWER = 60


class Need(NamedTuple):
    """The memory that a picture takes of a device, in bytes."""

    device: str
    has: int
    takes: int


def dry_run(
    run: FolderRun, devices: Sequence[str | None], cluster: str | None, *, quiet: bool = False
) -> Iterator[str | FftfilterError]:
    """Yield a line or an error for each file, first for a missing device; at last, unless ``quiet``, for the device."""
    from .. import memory
    from ..images.reading import digest_of
    from .cluster import LOCAL

    largest: Need | None = None
    with ExitStack() as stack:
        try:
            need = cache(stack.enter_context(_asking(run.settings, devices, cluster)))
            largest = need((1, 1, 1))._replace(takes=0)
        except DeviceError as error:
            yield error
        run.log.open()
        stack.callback(run.log.close)
        for job in run.jobs(prepare=False):
            outcome = Outcome(job=job, status="planned")
            try:
                size = images.measure(job.source, run.recipe.pages)
                digest = digest_of(job.source, sources.content(job.source)) if job.done_from else ""
            except FftfilterError as error:
                run.log.add(outcome.fail(error), run.settings)
                run.counts[outcome.status] += 1
                yield error
                continue
            if digest and digest == job.done_from:
                outcome.status = "skipped"
            outcome.pages, outcome.shape = size.pages, (size.channels, size.height, size.width)
            run.log.add(outcome, run.settings)
            run.counts[outcome.status] += 1
            line = f"{job}: {memory.described(memory.Pixels.of_size(size), run.recipe.how_much(job.target))}"
            if largest:
                needed = need((size.channels, size.height, size.width))
                largest = max(largest, needed, key=lambda each: each.takes)
            if outcome.status == "skipped":
                line += "; skip, done before"
            elif largest:
                line += f"; {_megabytes(needed.takes)} on the device"
            yield line
        yield from (ReadError(f"{join(str(run.source), path)}: {why}") for path, why in run.source.failed.items())
    if not quiet:
        on = "no device"
        if largest:
            on = f"{largest.device}: at most {_megabytes(largest.takes)} of {_megabytes(largest.has)} for one picture"
        yield f"on{'' if cluster in (None, LOCAL) else f' a worker of cluster {cluster}, with'} {on}"


@contextmanager
def _asking(
    settings: Settings, devices: Sequence[str | None], cluster: str | None
) -> Iterator[Callable[[Shape], Need]]:
    """Give a function that returns the need of a picture of some shape; raises DeviceError."""
    from .cluster import LOCAL, connect, explain
    from .pool import device_bytes

    if cluster in (None, LOCAL):
        from ..device_choice import open_device

        options = settings.recipe.options
        chosen = [open_device({**options, "device": name}) for name in devices]
        names, has = ", ".join(each.name for each in chosen), min(each.memory for each in chosen)
        yield lambda shape: Need(names, has, device_bytes(shape, settings, devices[0], __version__)[-1])
        return
    with connect(cluster, devices) as client:

        def ask(shape: Shape) -> Need:
            if not client.nthreads():
                raise DeviceError(f"{cluster}: no worker is there; start one with 'dask worker'")
            asked = client.submit(device_bytes, shape, settings, devices[0], __version__, pure=False)
            try:
                return Need(*asked.result(timeout=SECONDS_TO_ANSWER))
            except FftfilterError:
                raise
            except TimeoutError as error:
                raise DeviceError(f"{cluster}: no worker answers, all are busy; try again") from error
            except Exception as error:
                raise explain(error, client) from error

        yield ask


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
