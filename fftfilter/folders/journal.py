"""The journal of an output folder, kept in it or elsewhere: one line of JSON for each file that earlier runs made.

    .fftfilter-done.jsonl         on a file system
    .fftfilter-done-TIME.jsonl    behind a URL, where nothing can be appended: a part, with the lines of some seconds

A line is written when its file is whole. So whatever kills a run, a file without a line is done again. A line whose
file is gone or has changed is ignored, and so is a line that a full disk cut short. Behind a URL a killed run loses
the lines of its last seconds, and the next run does their files again.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..files import urls
from ..files.atomic import store
from ..files.sources import Folder, Inside

if TYPE_CHECKING:
    import io
    from collections.abc import Callable

NAME = ".fftfilter-done.jsonl"
PREFIX = ".fftfilter-done-"
# When lines behind a URL become a part, and how many parts are joined by the next run.
LINES_A_PART = 1000
SECONDS_A_PART = 10.0
MANY_PARTS = 20
# The most bytes of a line, of the lines for one name that are kept, and of a part: others' journals may have any.
LONGEST_LINE, KEPT, LARGEST_PART = 1 << 14, 1 << 15, 1 << 28
# The journal of a folder is written anew once it has this many lines more than twice its files.
SPARE_LINES = 1000


class Stamp(NamedTuple):
    """The size and time of a file, which change when it is changed."""

    size: int
    changed_ns: int


class Entry(NamedTuple):
    """How an output was made: a digest of its input's bytes and one of all settings."""

    digest: str
    settings: str
    stamp: Stamp
    source: tuple[int, int] | None = None
    """The input's stamp before it was read, if that is known."""


def journal_of(
    folder: Path | urls.Url, open_folder: Callable[[str], Folder] = Folder, own: Path | None = None
) -> Journal:
    """Return the journal of an output folder, in it or in its ``own`` folder, which ``open_folder`` opens."""
    return Journal(folder, open_folder, own) if own or isinstance(folder, Path) else UrlJournal(folder)


class Journal:
    """The journal of one output folder; memory holds all of its lines once a digest was asked for."""

    def __init__(
        self, folder: Path | urls.Url, open_folder: Callable[[str], Folder] = Folder, own: Path | None = None
    ) -> None:
        self.outdated = 0
        """How many of the files that were asked for are whole, but made with other settings."""
        self._folder, self._open_folder, self._own = folder, open_folder, str(own or folder)
        self._path = urls.file_in(own or folder, NAME)
        self._stamps: dict[str, Stamp] = {}
        self._lines: dict[str, bytes] | None = None
        """By the name of a file. Two runs at a time may write lines for the same one."""
        self._file: io.FileIO | None = None

    def entry(self, name: str, settings: str) -> Entry | None:
        """Return how a file was made with these settings, None if it was not."""
        if self._lines is None:
            self._lines = {}
            with suppress(OSError):
                if isinstance(self._folder, urls.Url):  # all files in one listing
                    with urls.scandir(self._folder) as listed:
                        self._stamps = {each.name: Stamp(*each.stamp) for each in listed}
                self._load(self._lines)
        found = [line[1] for line in map(_read_line, self._lines.get(name, b"").strip().splitlines()) if line]
        now = self._stamp(name) if found else None
        whole = {each.settings: each for each in found if each.stamp == now}
        self.outdated += bool(whole) and settings not in whole
        return whole.get(settings)

    def add(self, name: str, entry: Entry) -> None:
        """Append a line; raises OSError."""
        if self._file is not None and not self._is_in_place(self._file):
            self.close()
        if self._file is None:
            opener = self._open_folder(self._own).open
            self._file = open(self._path, "ab", buffering=0, opener=opener)  # noqa: SIM115  closed with the journal
        self._file.write(_line(name, entry))

    def close(self) -> None:
        """Close the file; a later entry opens it again."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def _is_in_place(self, file: io.FileIO) -> bool:
        """Whether the open file is that of the folder, which may have been renamed or removed, and made again."""
        with suppress(OSError):
            return os.path.samestat(os.stat(self._path), os.fstat(file.fileno()))  # noqa: PTH116
        return False

    def _stamp(self, name: str) -> Stamp | None:
        is_url = isinstance(self._folder, urls.Url)
        return self._stamps.get(name) if is_url else stamp(urls.file_in(self._folder, name))

    def _load(self, lines: dict[str, bytes]) -> None:
        """Read the file, and write it anew, one line a file, if most of its lines are out of date; raises OSError."""
        folder = self._open_folder(self._own)
        with open(self._path, "rb", opener=folder.open) as file:
            count = _collect(iter(partial(file.readline, LONGEST_LINE), b""), lines)
        if count > 2 * len(lines) + SPARE_LINES:
            lines.update(_last(lines))
            store(Inside(self._path, folder, NAME), lines.values())


def stamp(path: str | os.PathLike[str]) -> Stamp | None:
    """Return a file's stamp, None if there is no such file."""
    try:
        if urls.is_url(path):
            return Stamp(*urls.stamp(os.fsdecode(path)))
        status = os.stat(path)  # noqa: PTH116  once a file, of which there may be millions
    except OSError:
        return None
    return Stamp(status.st_size, status.st_mtime_ns)


def _line(name: str, entry: Entry) -> bytes:
    # Behind a line end: an earlier run or a full disk may have left half a line.
    return b"\n" + json.dumps([name, entry.digest, entry.settings, *entry.stamp, *(entry.source or ())]).encode()


def _read_line(text: bytes) -> tuple[str, Entry] | None:
    """Return the name and the entry of a line, None if it cannot be read."""
    with suppress(ValueError, TypeError, RecursionError):
        name, digest, settings, size, changed, *source = json.loads(text[: LONGEST_LINE + 1])
        return str(name), Entry(str(digest), str(settings), Stamp(size, changed), (*source,) if source else None)
    return None


def _collect(texts: Iterable[bytes], lines: dict[str, bytes]) -> int:
    """Enter lines by the name of their file; return how many could be read."""
    count = 0
    for text in texts:
        if found := _read_line(text):
            lines[found[0]] = lines.get(found[0], b"")[-KEPT:] + b"\n" + text.rstrip()
            count += 1
    return count


def _last(lines: dict[str, bytes]) -> dict[str, bytes]:
    """Return the last line of each file."""
    return {name: each[each.rindex(b"\n") :] for name, each in lines.items()}


class UrlJournal(Journal):
    """The journal of a folder behind a URL, whose lines wait until some seconds have gone."""

    def __init__(self, folder: urls.Url) -> None:
        super().__init__(folder)
        self._url = folder
        self._waiting: list[bytes] = []
        self._since = 0.0

    def add(self, name: str, entry: Entry) -> None:
        """Let a line wait, and write a part if it is due; raises OSError."""
        now = time.monotonic()
        if not self._waiting:
            self._since = now
        self._waiting.append(_line(name, entry))
        if len(self._waiting) >= LINES_A_PART or now - self._since > SECONDS_A_PART:
            self.close()

    def close(self) -> None:
        """Write the lines that wait as a part; raises OSError."""
        if self._waiting:
            urls.store(str(self._url / f"{PREFIX}{time.time_ns()}.jsonl"), self._waiting)
            self._waiting = []

    def _load(self, lines: dict[str, bytes]) -> None:
        """Read the parts in the order in which they were written."""
        parts = [str(self._url / name) for name in sorted(self._stamps) if name.startswith(PREFIX)]
        for part in parts:
            _collect(urls.content(part, LARGEST_PART).splitlines(), lines)
        if len(parts) > MANY_PARTS:
            self._waiting = [*_last(lines).values()]
            self.close()
            for part in parts:
                urls.remove(part)
