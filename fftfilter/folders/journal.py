"""What a folder holds that was made by earlier runs: a line of JSON a file, in the folder itself.

A line is written when its file is whole, so whatever kills a run, a file without a line is done again and a
line without its file, or with a changed one, counts for nothing. A line torn by a full disk is passed over.
"""

from __future__ import annotations

import io
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple, cast

from ..files import urls

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


def read_line(text: bytes) -> tuple[str, Entry] | None:
    """Return what a line says, None if it cannot be read."""
    with suppress(ValueError, TypeError):
        name, digest, settings, size, changed = json.loads(text)
        return str(name), Entry(digest, settings, Stamp(size, changed))
    return None


class Journal:
    """The journal of one output folder, which may be of a million files: of each, memory holds where its line is."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / NAME
        self._file: int | None = None
        self._torn = True
        self._lines: IO[bytes] | None = None
        self._offsets: dict[int, int] = {}
        """Where the last line of a name begins, by the name's hash."""

    def digest(self, name: str, settings: str) -> str | None:
        """Return the digest of the input of which a file was made with these settings, None if it was not."""
        if self._lines is None:
            self._open()
        entry = self._entry(name)
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
        """Close the file; what comes later opens it again; raises OSError."""
        file, self._file, self._torn = self._file, None, True
        if self._lines is not None:
            self._lines.close()
            self._lines = None
        if file is not None:
            os.close(file)

    def _entry(self, name: str) -> Entry | None:
        offset = self._offsets.get(hash(name))
        if offset is None or self._lines is None:
            return None
        self._lines.seek(offset)
        found = read_line(self._lines.readline())
        # Another name's hash may be the same: then a file is done again.
        return found[1] if found and found[0] == name else None

    def _open(self) -> None:
        """Find the lines, after they were written anew if most of them are out of date."""
        if self._find() > 2 * len(self._offsets) + 1000:
            self._compact()
            self._find()

    def _find(self) -> int:
        """Enter where lines begin; return how many there are."""
        self._offsets.clear()
        try:
            self._lines = self._path.open("rb")
        except OSError:
            self._lines = io.BytesIO()
        lines = offset = 0
        with suppress(OSError):
            for text in self._lines:
                if found := read_line(text):
                    self._offsets[hash(found[0])] = offset
                    lines += 1
                offset += len(text)
        return lines

    def _compact(self) -> None:
        """Write the journal anew, one line a file."""
        from ..files.leftovers import temporary_name

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
