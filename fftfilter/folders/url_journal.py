"""The journal of an output folder behind a URL, where nothing can be appended to a file.

    .fftfilter-done-TIME.jsonl    a part: the lines of some seconds, of the form that `journal.py` has

A killed run loses the lines of its last seconds, and the next does their files again.
"""

from __future__ import annotations

import time
from contextlib import suppress

from ..files import urls
from .journal import Entry, Stamp, line, read_line

_PREFIX = ".fftfilter-done-"
# When lines become a part, and how many parts are joined by the next run.
_MOST_LINES = 1000
_MOST_SECONDS = 10.0
_MOST_PARTS = 20


class UrlJournal:
    """The journal of one output folder behind a URL."""

    def __init__(self, folder: urls.Url) -> None:
        self._url = folder
        self._waiting: list[bytes] = []
        self._since = 0.0
        self._entries: dict[str, Entry] | None = None
        self._stamps: dict[str, Stamp] = {}

    def digest(self, name: str, settings: str) -> str | None:
        """Return the digest of the input of which a file was made with these settings, None if it was not."""
        if self._entries is None:
            self._entries = {}
            with suppress(OSError):
                self._load(self._entries)
        entry = self._entries.get(name)
        if entry is None or entry.settings != settings or self._stamps.get(name) != entry.stamp:
            return None
        return entry.digest

    def add(self, name: str, entry: Entry) -> None:
        """Write down how a file was made, at the latest when some seconds have gone; raises OSError."""
        now = time.monotonic()
        if not self._waiting:
            self._since = now
        self._waiting.append(line(name, entry))
        if len(self._waiting) >= _MOST_LINES or now - self._since > _MOST_SECONDS:
            self._write()

    def close(self) -> None:
        """Write down what waits; a later entry begins another part; raises OSError."""
        self._write()

    def _write(self) -> None:
        if self._waiting:
            urls.store(str(self._url / f"{_PREFIX}{time.time_ns()}.jsonl"), self._waiting)
            self._waiting = []

    def _load(self, entries: dict[str, Entry]) -> None:
        """Read what is there in one listing, and the parts in the order in which they were written."""
        with urls.scandir(self._url) as found:
            self._stamps = {entry.name: Stamp(*entry.stamp) for entry in found}
        parts = [str(self._url / name) for name in sorted(self._stamps) if name.startswith(_PREFIX)]
        for part in parts:
            entries.update(filter(None, map(read_line, urls.content(part).splitlines())))
        if len(parts) > _MOST_PARTS:
            self._waiting = [line(name, entry) for name, entry in entries.items()]
            self._write()
            for part in parts:
                urls.remove(part)
