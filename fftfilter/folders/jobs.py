"""The files of a run: the images in a folder, or files by their names; each is a job, whose result is an outcome.

The process that shares the files among workers needs neither NumPy nor OpenCL, so nothing here imports them.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from posixpath import join
from typing import TYPE_CHECKING, Literal, NamedTuple, NoReturn

from .. import signals
from ..errors import DeviceError, ParameterError, ProcessError, ReadError, TooLargeError, code_of
from ..files import urls
from ..files.messages import quoted_if_odd, shown
from ..files.sources import Folder, is_drawn_mask
from ..files.urls import Url, place
from ..images.formats import extension_of
from ..work.recipe import Done

if TYPE_CHECKING:
    from ..analysis.found import Peak
    from ..images import PixelSize
    from ..preview.page import Row
    from ..work.recipe import Recipe
    from . import journal

Identity = tuple[int, int] | str
Status = Literal["done", "skipped", "failed", "measured", "planned"]

_NUMBER = re.compile(r"[0-9]+")
# The most folders of a web page, and how deep they may lie: a server may link to more and more without end.
MOST_FOLDERS, DEEPEST = 100_000, 32
# About how long a core takes for a file, and for each of its bytes.
SECONDS_A_FILE, SECONDS_A_BYTE = 5e-4, 2.5e-8
# Files in a row that fail for reasons outside of them, such as a server that is down, before a run ends.
MOST_FAILURES = 50


@dataclass(repr=False)
class Settings:
    """The settings of a run, the same for all files and workers."""

    recipe: Recipe
    measure_only: bool = False
    """Find the largest value of each file by a recipe that measures, and write nothing."""
    in_place: bool = False
    preview: bool = False
    """Make the row of each file in a contact sheet."""
    retries: int = 0
    """How often what fails behind a URL, and a file whose worker has died, is tried again."""
    keep_out: str | None = None
    """A real path below which nothing may be written: the input's, unless the output lies in it."""
    keep_in: str | None = None
    """A path that no link may lead out of: the output's."""

    def refuse_outside(self, target: str | Path | Url, leads_to: str | None = None) -> None:
        """Raise ParameterError for a target that lies out of the output, behind a link, or in the input."""
        name, path = quoted_if_odd(str(target)), on_disk(leads_to or target)
        if self.keep_out is not None and is_inside(path, place(self.keep_out)):
            refuse_among_inputs(name)
        if self.keep_in is not None and not is_inside(path, place(self.keep_in)):
            raise ParameterError(f"{name}: is, or lies behind, a link that leads out of OUT: remove it")

    def open_folder(self, folder: str, *, make: bool = False) -> Folder:
        """Open a folder of the output, which is made if ``make``; raises OSError, ParameterError for one outside."""
        path = os.path.realpath(folder)
        self.refuse_outside(folder, path)
        return Folder(path, make=make)


def refuse_among_inputs(name: str) -> NoReturn:
    """Raise ParameterError for an output that lies among the inputs."""
    raise ParameterError(f"{name}: lies among the inputs, or is a link to one; choose another folder")


class Job(NamedTuple):
    """One file."""

    number: int
    source: str
    target: str
    done_from: str | None = None
    """The digest of the input's bytes that the target was made from, if it needs no other work."""
    verify: bool = False
    """Whether the target is compared with the reference."""
    stamp: tuple[int, int] | None = None
    """The size and time of the source, or its ETag, before it is read; None if that is not known."""
    planes: Sequence[int] = ()
    """Those of an OME-Zarr that are filtered, if the target is one, counted from 0."""

    def __str__(self) -> str:
        return f"{quoted_if_odd(self.source)} -> {quoted_if_odd(self.target)}"


@dataclass(eq=False, repr=False, kw_only=True)
class Outcome(Done):
    """The result of a job, whose file may have failed."""

    job: Job
    status: Status = "done"
    error: str | None = None
    pixel_size: PixelSize | None = None
    """The file's, if the filter needs it."""
    row: Row | None = None
    """Its row in the contact sheet, if one is made."""
    peaks: Sequence[Peak] | None = None
    """The waves that were removed, if any were looked for."""
    seconds: dict[str, float] = field(default_factory=dict)
    device: str | None = None
    digest: str | None = None
    stamp: journal.Stamp | None = None
    bytes: int | None = None
    """The input's."""
    code: str | None = None
    """What programs tell the error by."""

    @property
    def found_no_space(self) -> bool:
        """Whether it failed because the target's file system is full."""
        return self.code in ("WriteError.ENOSPC", "WriteError.EDQUOT")

    @property
    def failed_outside(self) -> bool:
        """Whether it failed for another reason than a damaged file, which says nothing of the next one."""
        return self.code is not None and ("." in self.code or self.code == ProcessError.__name__)

    def fail(self, error: BaseException) -> Outcome:
        """Enter an error; return the outcome."""
        self.status, self.code = "failed", code_of(error)
        is_ended = isinstance(error, KeyboardInterrupt)
        why = signals.ending_by(error)[0] if is_ended else "out of memory; take a smaller image"
        self.error = str(error) or f"{shown(self.job.source, 'standard input')}: {why}"
        if isinstance(error, TooLargeError):
            self.error += ", or filter it alone, by strips"
        return self


class DeviceLostError(DeviceError):
    """No worker is left for the rest of a run."""


# The files, folder by folder in natural order


@dataclass
class Survey:
    """The files of a run, before anything is done."""

    files: int = 0
    bytes: int = 0
    """The bytes of all files, estimated from the first ones."""
    left_out: Counter[str] = field(default_factory=Counter)
    not_entered: int = 0

    @property
    def file_bytes(self) -> float:
        """The mean size of a file."""
        return self.bytes / max(1, self.files)

    @property
    def file_seconds(self) -> float:
        """About how long a core takes for a file."""
        return SECONDS_A_FILE + SECONDS_A_BYTE * self.file_bytes


class Branch(NamedTuple):
    """A folder and its images."""

    relative: str
    """Its path below the root, "" for the root itself."""
    names: list[str]
    folder: Path | Url | None
    """None for files whose names are complete."""
    stamps: Mapping[str, tuple[int, int]] = {}
    """Those of files behind URLs, as far as a listing has them."""

    def file(self, name: str) -> str:
        """Return the complete name of a file."""
        return name if self.folder is None else urls.file_in(self.folder, name)


@dataclass(eq=False, repr=False)
class Tree:
    """The images below a folder, to be walked as often as needed.

    Files are taken by their extension, and by ``pattern`` (globs, one of which has to fit the name, or the path
    below the root if it has a /). Hidden files and folders are left out, as is the folder ``avoid`` (the output). A
    link to a folder is followed unless it leads back to one that it lies in. One folder's names are in memory at a
    time.

    ``written`` are files that options overwrite, as :func:`refuse_written` takes them: ParameterError is raised if one
    is an image of the tree, too.
    """

    root: Path | Url
    extensions: Collection[str] = ()
    recursive: bool = False
    pattern: Sequence[str] = ()
    avoid: Path | Url | None = None
    written: Mapping[Identity, str] = field(default_factory=dict)
    masks: Collection[Identity | None] = ()
    """Files that the recipe names: they are no pictures to filter, nor are masks that explore has written."""
    left_out: Counter[str] = field(default_factory=Counter)
    """The number of files that the last walk left out, by extension, and of masks, pipes and devices."""
    not_entered: int = 0
    """Folders that the last walk met, when it was not recursive."""
    failed: dict[str, str] = field(default_factory=dict)
    """What the last walk could not list or take below the root, and why."""
    _visited: int = 0

    def __str__(self) -> str:
        return str(self.root)

    def absolute(self) -> Tree:
        """Return the tree with an absolute root."""
        return replace(self, root=self.root.absolute())

    def walk(self) -> Iterator[Branch]:
        """Return the folders that hold images, each after its parent; raises OSError, ReadError if they have no end."""
        self.left_out.clear()
        self.failed.clear()
        self.not_entered = self._visited = 0
        return self._visit("", ())

    def _visit(self, relative: str, above: tuple[Identity | None, ...]) -> Iterator[Branch]:
        folder = self.root / relative
        own = identity(folder)
        self._visited += 1
        if isinstance(folder, Url) and folder.is_web and (len(above) > DEEPEST or self._visited > MOST_FOLDERS):
            said = f"more than {MOST_FOLDERS:,} folders, or {DEEPEST} in each other, such as {relative[:80]!r}"
            raise ReadError(f"{self.root}: has {said}: give one of them, or leave -r out")
        # The output may appear while the tree is walked.
        if own in above or (relative and self.avoid and own is not None and own == identity(self.avoid)):
            return
        stamps: dict[str, tuple[int, int]] = {}
        names, inner = self._list(folder, relative, stamps)
        if names:
            names.sort(key=natural)
            yield Branch(relative, names, folder, stamps)
        if not self.recursive:
            self.not_entered += len(inner)
            return
        for name in sorted(inner, key=natural):
            path = join(relative, name)
            try:
                yield from self._visit(path, (*above, own))
            except OSError as error:
                self.failed[path] = f"cannot be listed: {error.strerror}; its files are not done"

    def _list(
        self, folder: Path | Url, relative: str, stamps: dict[str, tuple[int, int]]
    ) -> tuple[list[str], list[str]]:
        """Return a folder's images and its folders; enter the stamps that a listing has."""
        names, inner, refused = [], [], list[str]()
        others = {*self.written, *self.masks} - {None}
        with os.scandir(folder) if isinstance(folder, Path) else urls.scandir(folder, refused) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if _is_folder(entry):
                    inner.append(entry.name)
                elif self._is_wanted(entry, relative):
                    other = identity(urls.file_in(folder, entry.name)) if others else None
                    if other is not None:
                        refuse_written(urls.file_in(folder, entry.name), other, self.written)
                    if is_drawn_mask(entry.name) or (other is not None and other in self.masks):
                        self.left_out["mask"] += 1
                    else:
                        names.append(entry.name)
                        if isinstance(entry, urls.Entry) and entry.stamp[0]:
                            stamps[entry.name] = entry.stamp
        if refused:
            said = f"{len(refused)} of its names are not those of files, such as {refused[0][:80]!r}"
            self.failed[relative] = f"{said}: left out"
        return names, inner

    def _is_wanted(self, entry: os.DirEntry[str] | urls.Entry, relative: str) -> bool:
        path = join(relative, entry.name)
        if self.pattern and not any(fnmatchcase(path if "/" in each else entry.name, each) for each in self.pattern):
            return False
        extension = extension_of(entry.name).lower()
        # A broken link is taken, too: that it cannot be read is worth a message.
        may_be_read = isinstance(entry, urls.Entry) or entry.is_symlink() or entry.is_file()
        if may_be_read and extension in self.extensions:
            return True
        self.left_out[(extension or "no extension") if may_be_read else "pipe or device"] += 1
        return False


@dataclass(eq=False, repr=False)
class Files:
    """Files by their complete names, walked as :class:`Tree`."""

    names: list[str]
    folders: int = 0
    """The number of folders that were named among them, and left out."""
    left_out: Counter[str] = field(default_factory=Counter)
    not_entered: int = 0
    failed: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{len(self.names)} files"

    def walk(self) -> Iterator[Branch]:
        """Return the files in the order in which they are given."""
        yield Branch("", self.names, None)

    def absolute(self) -> Files:
        """Return the files by absolute names."""
        return Files([str(place(name).absolute()) for name in self.names], self.folders)

    def refuse_overwriting(self, targets: Iterable[str], written: Mapping[Identity, str], *, in_place: bool) -> None:
        """Raise ParameterError if an output, or what options write, is an input; ``in_place`` allows its own output."""
        known = {identity(place(name)): name for name in self.names}
        for own in known.keys() & written.keys():
            refuse_written(known[own], own, written)
        for name, target in zip(self.names, targets, strict=True):
            own = identity(place(target))
            if own is not None and own in known and not (in_place and identity(place(name)) == own):
                raise ParameterError(
                    f"{target}: is one of the inputs; choose another folder, or --in-place to overwrite"
                )


def refuse_written(name: str, own: Identity | None, written: Mapping[Identity, str]) -> None:
    """Raise ParameterError for an input that an option overwrites.

    ``written`` has the real path of a file that is replaced, whose other hard links stay as they are; "" of others.
    """
    if own and written.get(own) in ("", os.path.realpath(urls.of_this_machine(name))):
        raise ParameterError(f"{name}: is the --report, --preview or --save-recipe, too; choose another file")


def _is_folder(entry: os.DirEntry[str] | urls.Entry) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False


def natural(name: str) -> str:
    """Return a key that sorts as people count: 2 before 10, case last.

    One string, as a folder may have millions of names: before a number's digits stands their count, and before that, as
    at the end of the name without its case, a character that no name contains.
    """
    return _NUMBER.sub(_number_key, name.casefold()) + "\0\0" + name


def _number_key(number: re.Match[str]) -> str:
    digits = number[0].lstrip("0")
    return f"\0{chr(len(digits) + 1)}{digits}"


def identity(path: str | os.PathLike[str] | Url) -> Identity | None:
    """Return a value that is the same for all names of a file or folder, None for a missing one."""
    name = urls.of_this_machine(str(path))
    if urls.is_url(name):
        return name.rstrip("/")
    try:
        status = os.stat(name)  # noqa: PTH116  once a file, of which there may be millions
    except OSError:
        return None
    return status.st_dev, status.st_ino


def real(path: Path | Url) -> str:
    """Return the path of a folder without links, a URL as it is."""
    path = on_disk(path)
    return path.text.rstrip("/") if isinstance(path, Url) else os.path.realpath(path)


def is_inside(path: Path | Url, folder: Path | Url) -> bool:
    """Whether a path is a folder or lies below it, whatever names they are given by."""
    path, folder = on_disk(path), on_disk(folder)
    if isinstance(path, Url) or isinstance(folder, Url):
        return f"{path}/".startswith(real(folder) + "/") if type(path) is type(folder) else False
    found, own = Path(real(path)), identity(folder)
    above = (found, *found.parents)
    return Path(real(folder)) in above or (own is not None and own in map(identity, above))


def on_disk(path: str | os.PathLike[str] | Url) -> Path | Url:
    """Return a path, also of a URL that leads to this machine's files."""
    return place(urls.of_this_machine(str(path)))
