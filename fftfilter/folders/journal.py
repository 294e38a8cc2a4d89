"""What a folder holds that was made by earlier runs: a line of JSON a file, in the folder itself.

A line is written when its file is whole, so whatever kills a run, a file without a line is done again and a
line without its file, or with a changed one, counts for nothing. A line torn by a full disk is passed over.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .. import urls

if TYPE_CHECKING:
    from collections.abc import Iterable

NAME = ".fftfilter-done.jsonl"


class Stamp(NamedTuple):
    """What changes when a file is changed."""

    size: int
    changed_ns: int


class Entry(NamedTuple):
    """How an output was made: a digest of its input's bytes and one of all settings."""

    digest: str
    settings: str
    stamp: Stamp


def stamp(path: str | os.PathLike[str]) -> Stamp | None:
    """Return a file's stamp, None if there is no such file."""
    try:
        if urls.is_url(path):
            return Stamp(*urls.stamp(os.fsdecode(path)))
        status = os.stat(path)  # noqa: PTH116  once a file, of which there may be millions
    except OSError:
        return None
    return Stamp(status.st_size, status.st_mtime_ns)


def line(name: str, entry: Entry) -> bytes:
    """Return the line that says how a file was made."""
    return json.dumps([name, entry.digest, entry.settings, *entry.stamp]).encode() + b"\n"


def read_lines(lines: Iterable[bytes], entries: dict[str, Entry]) -> int:
    """Enter what the lines of a journal say; return how many could be read."""
    read = 0
    for text in lines:
        with suppress(ValueError, TypeError):
            name, digest, settings, size, changed = json.loads(text)
            entries[name] = Entry(digest, settings, Stamp(size, changed))
            read += 1
    return read


class Journal:
    """The journal of one output folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / NAME
        self._file: int | None = None
        self._torn = True
        self._entries: dict[str, Entry] | None = None

    def digest(self, name: str, settings: str) -> str | None:
        """Return the digest of the input of which a file was made with these settings, None if it was not."""
        if self._entries is None:
            self._entries = self._load()
        entry = self._entries.get(name)
        if entry is None or entry.settings != settings or stamp(self._folder / name) != entry.stamp:
            return None
        return entry.digest

    def add(self, name: str, entry: Entry) -> None:
        """Write down how a file was made; raises OSError."""
        if self._file is None:
            self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        # What an earlier run or a full disk left may end in the middle of a line.
        text, self._torn = (b"\n" if self._torn else b"") + line(name, entry), True
        if os.write(self._file, text) == len(text):
            self._torn = False

    def close(self) -> None:
        """Close the file; a later entry opens it again; raises OSError."""
        file, self._file, self._torn = self._file, None, True
        if file is not None:
            os.close(file)

    def _load(self) -> dict[str, Entry]:
        entries: dict[str, Entry] = {}
        lines = 0
        with suppress(OSError), self._path.open("rb") as file:
            lines = read_lines(file, entries)
        if lines > 2 * len(entries) + 1000:
            self._compact(entries)
        return entries

    def _compact(self, entries: dict[str, Entry]) -> None:
        """Write the journal anew, one line a file."""
        from ..leftovers import temporary_name

        temporary = Path(temporary_name(str(self._path)))
        try:
            temporary.write_bytes(b"".join(line(name, entry) for name, entry in entries.items()))
            temporary.replace(self._path)
        except OSError:
            with suppress(OSError):
                temporary.unlink()
