"""What an output folder holds that was made by earlier runs: a line of JSON a file, in the folder itself.

    .fftfilter-done.jsonl         of a folder on a file system
    .fftfilter-done-TIME.jsonl    of one behind a URL, where nothing can be appended: a part, the lines of some seconds

A line is written when its file is whole, so whatever kills a run, a file without a line is done again, and a
line without its file, or with a changed one, counts for nothing. A line torn by a full disk is skipped. Behind a URL a
killed run loses the lines of its last seconds, and the next does their files again.
"""

from __future__ import annotations

import io
import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple, Protocol, cast

from ..files import urls
from ..files.atomic import temporary_name

NAME = ".fftfilter-done.jsonl"
PREFIX = ".fftfilter-done-"
# When lines behind a URL become a part, and how many parts are joined by the next run.
LINES_A_PART = 1000
SECONDS_A_PART = 10.0
MANY_PARTS = 20
# The journal of a folder is written anew once it has this many lines more than twice its files.
SPARE_LINES = 1000


class Stamp(NamedTuple):
    """What changes when a file is changed."""

    size: int
    changed_ns: int


class Entry(NamedTuple):
    """How an output was made: a digest of its input's bytes and one of all settings."""

    digest: str
    settings: str
    stamp: Stamp


class Journal(Protocol):
    """The journal of one output folder."""

    outdated: int
    """How many of the files that were asked for are whole, but made with other settings."""

    def digest(self, name: str, settings: str) -> str | None:
        """Return the digest of the input of which a file was made with these settings, None if it was not."""

    def add(self, name: str, entry: Entry) -> None:
        """Note how a file was made; raises OSError."""

    def close(self) -> None:
        """Write what is left, and close all files; a later entry opens them again; raises OSError."""


def journal_of(folder: Path | urls.Url) -> Journal:
    """Return the journal of an output folder."""
    return PathJournal(folder) if isinstance(folder, Path) else UrlJournal(folder)


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
    """Return the line that says how a file was made."""
    return json.dumps([name, entry.digest, entry.settings, *entry.stamp]).encode() + b"\n"


def _read_line(text: bytes) -> tuple[str, Entry] | None:
    """Return what a line says, None if it cannot be read."""
    with suppress(ValueError, TypeError):
        name, digest, settings, size, changed = json.loads(text)
        return str(name), Entry(digest, settings, Stamp(size, changed))
    return None


class PathJournal:
    """The journal of a folder on a file system, maybe of a million files: memory holds where each one's line is."""

    def __init__(self, folder: Path) -> None:
        self.outdated = 0
        self._folder = folder
        self._path = folder / NAME
        self._file: io.FileIO | None = None
        self._torn = True
        self._lines: IO[bytes] | None = None
        self._offsets: dict[int, int] = {}
        """Where the last line of a name begins, by the name's hash."""
        self._earlier: dict[int, list[int]] = {}
        """Where the others begin: of two runs at a time, the last line need not be that of the last file."""

    def digest(self, name: str, settings: str) -> str | None:
        """See :meth:`Journal.digest`."""
        if self._lines is None:
            self._open()
        entries = self._entries(name)
        now = stamp(self._folder / name) if entries else None
        whole = {each.settings: each.digest for each in reversed(entries) if each.stamp == now}
        self.outdated += bool(whole) and settings not in whole
        return whole.get(settings)

    def add(self, name: str, entry: Entry) -> None:
        """See :meth:`Journal.add`."""
        if self._file is not None and not os.fstat(self._file.fileno()).st_nlink:
            self.close()  # the folder was removed, and made again
        if self._file is None:
            self._file = self._path.open("ab", buffering=0)
        # What an earlier run or a full disk left may end in the middle of a line.
        text, self._torn = (b"\n" if self._torn else b"") + _line(name, entry), True
        if self._file.write(text) == len(text):
            self._torn = False

    def close(self) -> None:
        """See :meth:`Journal.close`."""
        file, self._file, self._torn = self._file, None, True
        if self._lines is not None:
            self._lines.close()
            self._lines = None
        if file is not None:
            file.close()

    def _entries(self, name: str) -> list[Entry]:
        """Return what the lines of a name say."""
        key, found = hash(name), []
        if key in self._offsets and self._lines is not None:
            for offset in (self._offsets[key], *self._earlier.get(key, ())):
                self._lines.seek(offset)
                line = _read_line(self._lines.readline())
                if line and line[0] == name:  # another name's hash may be the same
                    found.append(line[1])
        return found

    def _open(self) -> None:
        """Find the lines, after they were written anew if most of them are out of date."""
        if self._find() > 2 * len(self._offsets) + SPARE_LINES:
            self._compact()
            self._find()

    def _find(self) -> int:
        """Enter where lines begin; return how many there are."""
        self._offsets.clear()
        self._earlier.clear()
        try:
            self._lines = self._path.open("rb")
        except OSError:
            self._lines = io.BytesIO()
        lines = offset = 0
        with suppress(OSError):
            for text in self._lines:
                if found := _read_line(text):
                    key = hash(found[0])
                    if key in self._offsets:
                        self._earlier.setdefault(key, []).append(self._offsets[key])
                    self._offsets[key] = offset
                    lines += 1
                offset += len(text)
        return lines

    def _compact(self) -> None:
        """Write the journal anew, one line a file."""
        temporary = Path(temporary_name(str(self._path)))
        try:
            with cast("IO[bytes]", self._lines) as old, temporary.open("wb") as new:
                for offset in sorted(self._offsets.values()):
                    old.seek(offset)
                    new.write(old.readline().rstrip() + b"\n")
            temporary.replace(self._path)
        except OSError:
            with suppress(OSError):
                temporary.unlink()


class UrlJournal:
    """The journal of a folder behind a URL."""

    def __init__(self, folder: urls.Url) -> None:
        self.outdated = 0
        self._url = folder
        self._waiting: list[bytes] = []
        self._since = 0.0
        self._entries: dict[str, Entry] | None = None
        self._stamps: dict[str, Stamp] = {}

    def digest(self, name: str, settings: str) -> str | None:
        """See :meth:`Journal.digest`."""
        if self._entries is None:
            self._entries = {}
            with suppress(OSError):
                self._load(self._entries)
        entry = self._entries.get(name)
        if entry is None or self._stamps.get(name) != entry.stamp:
            return None
        self.outdated += entry.settings != settings
        return entry.digest if entry.settings == settings else None

    def add(self, name: str, entry: Entry) -> None:
        """See :meth:`Journal.add`; it is written when some seconds have gone, or :meth:`close` is called."""
        now = time.monotonic()
        if not self._waiting:
            self._since = now
        self._waiting.append(_line(name, entry))
        if len(self._waiting) >= LINES_A_PART or now - self._since > SECONDS_A_PART:
            self._write()

    def close(self) -> None:
        """See :meth:`Journal.close`."""
        self._write()

    def _write(self) -> None:
        if self._waiting:
            urls.store(str(self._url / f"{PREFIX}{time.time_ns()}.jsonl"), self._waiting)
            self._waiting = []

    def _load(self, entries: dict[str, Entry]) -> None:
        """Read what is there in one listing, and the parts in the order in which they were written."""
        with urls.scandir(self._url) as found:
            self._stamps = {entry.name: Stamp(*entry.stamp) for entry in found}
        parts = [str(self._url / name) for name in sorted(self._stamps) if name.startswith(PREFIX)]
        for part in parts:
            entries.update(filter(None, map(_read_line, urls.content(part).splitlines())))
        if len(parts) > MANY_PARTS:
            self._waiting = [_line(name, entry) for name, entry in entries.items()]
            self._write()
            for part in parts:
                urls.remove(part)
