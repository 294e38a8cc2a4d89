"""A whole run over a folder: finds the files, has them filtered, notes and reports the outcomes.

survey -> [first pass: the largest value of all] -> jobs -> pool of workers -> outcomes -> journal, report
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from posixpath import join
from typing import TYPE_CHECKING

from .. import images
from ..errors import DeviceError, ParameterError, ReadError, WriteError
from ..files import sources
from ..files.atomic import refuse_inputs, refuse_unwritable, remove_leftovers
from ..files.messages import as_error
from ..files.sources import Folder
from ..files.urls import Url, file_in, is_name, is_url, of_this_machine, place, refuse_reading_only, split
from ..images.formats import extension_of
from ..output.modes import FOLDER
from .jobs import (
    MOST_FAILURES,
    DeviceLostError,
    Files,
    Job,
    Outcome,
    Settings,
    Status,
    Survey,
    Tree,
    identity,
    is_inside,
    on_disk,
    real,
    refuse_among_inputs,
)
from .journal import Entry, journal_of, stamp
from .pool import Pool
from .report import Report

if TYPE_CHECKING:
    from ..work.recipe import Recipe
    from .jobs import Identity
    from .journal import Journal
    from .pool import Workers

OPEN_JOURNALS = 8
# Between two looks whether another run has ended.
SECONDS_A_LOOK = 0.2
# Files whose size is asked for, to estimate that of all.
FILES_MEASURED = 256


@dataclass
class FolderRun:
    """A run over the images of a folder, or over files that go into one folder."""

    source: Tree | Files
    target: Path | Url
    settings: Settings
    format: str | None = None
    """The extension of all outputs, with its dot; None keeps the inputs'."""
    skip_existing: str | None = None
    """"digest": files that were done from the same bytes are skipped; "fast": from files of the same size and time."""
    state: Path | None = None
    """The folder that keeps the journals, in the tree of the outputs'; None keeps each beside its outputs."""
    fail_fast: bool = False
    report: str | None = None
    """A file or a URL; - is standard output."""
    verify: int = 0
    """The number of outputs that are compared with the reference."""
    written: Sequence[str] = ()
    """Files that other options write at the end: none may be an input, by whatever name."""
    masks: Sequence[str] = ()
    """Files that the recipe names, of gains and regions: none is filtered, and no output replaces one."""
    stopped_by: int | None = None
    """The signal that asks for a stop: files under way are finished, no other is begun."""
    counts: Counter[Status] = field(default_factory=Counter)
    """Outcomes by status."""
    warnings: list[str] = field(default_factory=list)
    """Problems that harm no file; for the caller to print and clear."""
    cautions: Counter[str] = field(default_factory=Counter)
    """Surprises in outputs, with the number of files."""
    lost: str | None = None
    """Why no device is left, if so."""
    failed_in_a_row: int = 0
    """Files that failed one after the other for reasons outside of them, such as a server that is down."""
    found_no_space: bool = False
    """Whether the output's file system was found full, so that no other file was begun."""

    def __post_init__(self) -> None:
        in_place, source = self.settings.in_place, self.source
        if not in_place and isinstance(source, Tree) and identity(source.root) == identity(self.target):
            raise ParameterError(
                f"{self.target}: is the input itself; choose another folder, or --in-place to overwrite"
            )
        if self.urls and self.recipe.preserve_times:
            raise ParameterError(f"{self.urls[0]}: has no times for --preserve-times; leave it out")
        if isinstance(self.target, Url):
            refuse_reading_only(self.target.text)
        elif os.path.lexists(self.target) and not os.path.isdir(self.target):  # noqa: PTH112  unlike Path's, never raises
            raise WriteError(f"{self.target}: is not a folder, which the output has to be; choose another name")
        else:
            self._refuse_unwritable(self.target)
        if not in_place and isinstance(own := on_disk(self.target), Path):
            self.settings = replace(self.settings, keep_in=str(own.absolute()))
        self._journals: dict[str, Journal] = {}
        self._without_notes: set[str] = set()
        self.log = Report(self.report, self.warnings.append)
        self.found, self._outdated = Survey(), 0
        self._mask_files = [*map(sources.identity, self.masks)]
        found = {identity(place(each)): os.path.realpath(of_this_machine(each)) for each in self.written}
        found[self.log.identity] = ""
        self._written = {each: path for each, path in found.items() if each is not None}
        for each in filter(None, (self.report, *self.written)):
            refuse_inputs(each, self._mask_files)
        if isinstance(source, Tree):
            source.extensions = images.extensions(read_only=self.format is not None)
            source.written, source.masks = self._written, self._mask_files
            if not in_place:
                source.avoid = self.target
                if not is_inside(self.target, source.root):
                    self.settings = replace(self.settings, keep_out=real(source.root))
        self._refuse_unfit_state()

    def _refuse_unfit_state(self) -> None:
        if self.state:
            if self.settings.keep_out and is_inside(self.state, place(self.settings.keep_out)):
                raise ParameterError(f"--state {self.state}: lies among the inputs; choose another folder")
            self._refuse_unwritable(self.state)

    @staticmethod
    def _refuse_unwritable(target: Path) -> None:
        """Raise WriteError if nothing can be written into an output folder, or if it cannot be made."""
        nearest = next(each for each in (target, *target.absolute().parents) if os.path.lexists(each))
        with as_error(WriteError, f"{nearest}: cannot be written into"):
            if not nearest.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            refuse_unwritable(str(nearest))

    @property
    def recipe(self) -> Recipe:
        """That of the settings."""
        return self.settings.recipe

    @property
    def urls(self) -> list[Url]:
        """Sources and target, as far as they are URLs."""
        sources = map(place, self.source.names) if isinstance(self.source, Files) else [self.source.root]
        return [url for url in (*sources, self.target) if isinstance(url, Url)]

    # Before anything runs

    def survey(self) -> None:
        """Count the files in :attr:`found`, and refuse a run that could not end well.

        Raises ParameterError if two inputs would become one output, or if an output or the report would replace an
        input; ReadError if the folder cannot be listed.
        """
        found = Survey()
        inputs: set[Identity | None] = set()
        outputs: dict[Identity | None, Path | Url] = {}
        sizes: list[int] = []
        with as_error(ReadError, f"{self.source}: cannot be listed"):
            for branch in self.source.walk():
                self._refuse_collisions(branch.relative, branch.names)
                found.files += len(branch.names)
                first = map(branch.file, branch.names[: FILES_MEASURED - len(sizes)])
                sizes += [is_there.size for name in first if not is_url(name) and (is_there := stamp(name))]
                if branch.folder is not None:
                    target = self.target / branch.relative
                    inputs.add(identity(branch.folder))
                    outputs[identity(target)] = target
        self.found = found
        if not self.settings.in_place and (both := inputs & outputs.keys() - {None}):
            refuse_among_inputs(str(outputs[both.pop()]))
        if isinstance(self.source, Files):
            targets = [job.target for job in self.jobs(prepare=False)]
            self.source.refuse_overwriting(targets, self._written, in_place=self.settings.in_place)
        found.bytes = round(sum(sizes) / max(1, len(sizes)) * found.files)
        found.left_out, found.not_entered = self.source.left_out.copy(), self.source.not_entered

    def _refuse_collisions(self, relative: str, names: list[str]) -> None:
        made: dict[str, str] = {}
        for name in names:
            target = self._target_name(name)
            # A coding that only some of a folder's formats have is for those.
            (self.recipe.refuse if self.format else self.recipe.refuse_target)(target)
            if self.verify:
                from ..work import verify  # which imports NumPy: without, this process needs none

                verify.refuse(target, self.recipe)
            if target in made:
                raise ParameterError(
                    f"{join(relative, made[target])} and {join(relative, name)} would both become "
                    f"{join(relative, target)}: rename one, or keep their formats"
                )
            made[target] = name
            if self.masks:
                refuse_inputs(file_in(self.target / relative, target), self._mask_files)
        self.settings.refuse_outside(self.target / relative)

    def _target_name(self, name: str) -> str:
        if isinstance(self.source, Files):
            given, name = name, split(name)[1]
            if is_url(given) and not is_name(name):
                raise ParameterError(f"{given}: {name[:80]!r} is no name of a file: filter it alone, into another name")
        return name if self.format is None else name.removesuffix(extension_of(name)) + self.format

    def jobs(self, *, prepare: bool = True) -> Iterator[Job]:
        """Return the files one by one; unless ``prepare`` is False, the output's folders are made ready for them."""
        number = self._outdated = 0
        files = max(self.found.files, 1)
        for branch in self.source.walk():
            target = self.target / branch.relative
            if prepare and isinstance(target, Path):
                with suppress(OSError, ParameterError):  # writing each file says why
                    self.settings.open_folder(str(target), make=True)
                remove_leftovers(target)
            with closing(self._journal_of(target)) as journal:
                for name in branch.names:
                    made = self._target_name(name)
                    file = branch.file(name)
                    entry = journal.entry(made, self.recipe.key) if self.skip_existing else None
                    own = branch.stamps.get(name) or (None if is_url(file) else stamp(file))
                    if own and self.skip_existing == "fast":
                        from ..images.reading import beside  # which loads NumPy

                        stamps = [own, *(each for path in beside(file) if (each := stamp(path)))]
                        own = sum(each[0] for each in stamps), max(each[1] for each in stamps)
                    # Those that are verified lie evenly among all.
                    is_verified = (number + 1) * self.verify // files > number * self.verify // files
                    job = Job(number, file, file_in(target, made), entry and entry.digest, is_verified, own)
                    number += 1
                    if prepare and self.skip_existing == "fast" and entry and own == entry.source and not is_verified:
                        self.counts["skipped"] += 1  # no worker has to read it
                        self.log.add(Outcome(job=job, status="skipped"), self.settings)
                    else:
                        yield job
                self._outdated += journal.outdated

    # The run

    def run(self, executors: Sequence[Workers]) -> Iterator[Outcome]:
        """Do all files, and yield their outcomes as they are finished; raises DeviceError without any device."""
        try:
            self.log.open(appends=bool(self.skip_existing))
            if self.recipe.span == FOLDER:
                yield from self._measure(executors)
            if not self._is_over():
                yield from self._noted(self._pool(executors).run(self._until_over(self.jobs()), self.settings))
        finally:
            self._close_journals()
            self.log.close()

    @contextmanager
    def held(self, tell: Callable[[str], None]) -> Iterator[None]:
        """Hold a lock on the output folder, as far as its file system has locks.

        If another run holds it, ``tell`` is told, and this one waits for its end, to do what that has left. Files by
        their names, and those that fit a pattern, may be a part of what several runs share on purpose: they wait for
        nothing. Raises WriteError if the other run overwrites its inputs, as nothing says which it has done.
        """
        handle, is_whole = None, isinstance(self.source, Tree) and not self.source.pattern
        if sys.platform != "win32" and self.found.files and is_whole and isinstance(self.target, Path):
            with suppress(OSError, ParameterError):
                self.settings.open_folder(str(self.target), make=True)
                handle = os.open(self.target, os.O_RDONLY)
        try:
            if handle is not None and not _is_locked(handle):
                if self.settings.in_place:
                    raise WriteError(f"{self.target}: another run overwrites its files; start this one after its end")
                tell(f"{self.target}: another run writes into it: when that has ended, this one does what is left")
                self.skip_existing = self.skip_existing or "digest"
                while not _is_locked(handle):
                    time.sleep(SECONDS_A_LOOK)
            yield
        finally:
            if handle is not None:
                os.close(handle)

    def _pool(self, executors: Sequence[Workers]) -> Pool:
        return Pool(executors, self.found.files, self.found.file_seconds, self.warnings)

    def _measure(self, executors: Sequence[Workers]) -> Iterator[Outcome]:
        """Find the largest value of all; files that cannot be read are reported in the second pass."""
        largest = 0.0
        jobs = takewhile(lambda _: self.stopped_by is None, self.jobs(prepare=False))
        settings = replace(self.settings, recipe=self.recipe.measuring(), measure_only=True)
        for outcome in self._pool(executors).run(jobs, settings):
            largest = max(largest, outcome.peak)
            yield replace(outcome, status="measured")
        self.settings = replace(self.settings, recipe=self.recipe.with_range(largest))

    def _until_over(self, jobs: Iterator[Job]) -> Iterator[Job]:
        try:
            for job in jobs:
                if self._is_over():
                    return
                yield job
        except OSError as error:
            self.counts["failed"] += 1
            self.warnings.append(f"{self.source}: cannot be listed any more: {error.strerror}; its files are not done")
        if self._outdated:
            files = "1 file was" if self._outdated == 1 else f"{self._outdated} files were"
            self.warnings.append(
                f"{files} done before with other settings, or by another version of fftfilter: filtered again"
            )
        for path, why in self.source.failed.items():
            self.counts["failed"] += 1
            self.warnings.append(f"{join(str(self.source), path)}: {why}")

    def _is_over(self) -> bool:
        failed = self.fail_fast and self.counts["failed"] > 0
        is_down = self.failed_in_a_row >= MOST_FAILURES
        return self.stopped_by is not None or self.lost is not None or self.found_no_space or failed or is_down

    def _noted(self, outcomes: Iterator[Outcome]) -> Iterator[Outcome]:
        try:
            for outcome in outcomes:
                self.counts[outcome.status] += 1
                self.failed_in_a_row = self.failed_in_a_row + 1 if outcome.failed_outside else 0
                self.found_no_space |= outcome.found_no_space
                self.cautions.update(outcome.cautions)
                if self.settings.in_place:  # no other file has it
                    self.cautions.update(f"left out: {each}" for each in {*outcome.left_out})
                if outcome.status == "done":
                    self._remember(outcome)
                elif outcome.status == "failed" and isinstance(self.target, Path) and not self.target.is_dir():
                    raise WriteError(f"{self.target}: was removed, and cannot be made again; choose another folder")
                self.log.add(outcome, self.settings)
                yield outcome
        except DeviceLostError as error:
            if not self.counts["done"]:
                raise DeviceError(str(error)) from error
            self.lost = str(error)

    def _remember(self, outcome: Outcome) -> None:
        if outcome.stamp is None or outcome.digest is None or self.settings.in_place:
            return
        folder, name = split(outcome.job.target)
        if folder not in self._journals:
            if len(self._journals) == OPEN_JOURNALS:
                self._close_journals()
            self._journals[folder] = self._journal_of(place(folder), make=True)
        with self._warning_of(folder):
            self._journals[folder].add(name, Entry(outcome.digest, self.recipe.key, outcome.stamp, outcome.job.stamp))

    def _journal_of(self, folder: Path | Url, *, make: bool = False) -> Journal:
        if self.state is None:
            return journal_of(folder, self.settings.open_folder)
        own = Path(os.path.realpath(self.state), str(folder).removeprefix(str(self.target).rstrip("/")).strip("/\\"))
        return journal_of(folder, partial(Folder, make=make), own)

    def _close_journals(self) -> None:
        for folder, journal in self._journals.items():
            with self._warning_of(folder):
                journal.close()
        self._journals.clear()

    @contextmanager
    def _warning_of(self, folder: str) -> Iterator[None]:
        try:
            yield
        except (OSError, ParameterError) as error:
            if isinstance(error, FileNotFoundError | NotADirectoryError) and not self.state:
                return  # the folder was removed, and with it what was to be noted
            if folder not in self._without_notes:  # one line for a folder, whatever else goes wrong there
                self._without_notes.add(folder)
                why = getattr(error, "strerror", None) or error
                self.warnings.append(f"{folder}: cannot note what is done ({why}); --skip-existing will do it again")


def _is_locked(handle: int) -> bool:
    """Whether an open folder is locked by this process now, or cannot be on its file system."""
    if sys.platform != "win32":
        from fcntl import LOCK_EX, LOCK_NB, flock

        with suppress(OSError):
            try:
                flock(handle, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                return False
    return True
