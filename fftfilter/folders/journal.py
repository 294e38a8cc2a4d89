"""What a folder holds that was made by earlier runs: a line of JSON a file, in the folder itself.

A line is written when its file is whole, so whatever kills a run, a file without a line is done again and a
line without its file, or with a changed one, counts for nothing. A line torn by a full disk is passed over.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

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
        status = Path(path).stat()
    except OSError:
        return None
    return Stamp(status.st_size, status.st_mtime_ns)


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
        line = json.dumps([name, entry.digest, entry.settings, *entry.stamp]).encode() + b"\n"
        # What an earlier run or a full disk left may end in the middle of a line.
        line, self._torn = (b"\n" + line if self._torn else line), True
        if os.write(self._file, line) == len(line):
            self._torn = False

    def close(self) -> None:
        """Close the file; a later entry opens it again."""
        if self._file is not None:
            os.close(self._file)
        self._file, self._torn = None, True

    def _load(self) -> dict[str, Entry]:
        entries: dict[str, Entry] = {}
        lines = 0
        with suppress(OSError), self._path.open("rb") as file:
            for line in file:
                with suppress(ValueError, TypeError):
                    name, digest, settings, size, changed = json.loads(line)
                    entries[name] = Entry(digest, settings, Stamp(size, changed))
                    lines += 1
        if lines > 2 * len(entries) + 1000:
            self._compact(entries)
        return entries

    def _compact(self, entries: dict[str, Entry]) -> None:
        """Write the journal anew, one line a file."""
        from ..leftovers import temporary_name

        lines: list[list[Any]] = [[name, e.digest, e.settings, *e.stamp] for name, e in entries.items()]
        temporary = temporary_name(self._path)
        try:
            temporary.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
            temporary.replace(self._path)
        except OSError:
            with suppress(OSError):
                temporary.unlink()
