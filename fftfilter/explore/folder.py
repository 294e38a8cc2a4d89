"""The pictures of the folder that a page may open, and those that are open."""

from __future__ import annotations

import threading
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from .. import images
from ..errors import FftfilterError, ParameterError
from .saving import is_text
from .session import Session

# Most files that are listed, and most that are open.
MOST, OPEN = 500, 3


class Folder:
    """The folder of a file; ``first`` is its session. Threads may share it."""

    def __init__(self, first: Session) -> None:
        self._first, self._lock = first, threading.Lock()
        self._open = {Path(first.source).name: first}
        self._seen = {Path(first.source).name: first.opened}
        self._dropped: dict[str, str] = {}
        self._place: TemporaryDirectory[str] | None = None

    def names(self) -> list[str]:
        """Return the names of its pictures."""
        suffixes = images.extensions(read_only=True)
        folder = Path(self._first.source).parent
        found = (each for each in folder.iterdir() if each.suffix.lower() in suffixes and each.is_file())
        return [*self._dropped, *sorted(each.name for each in found)[:MOST]]

    def add(self, name: str, data: bytes) -> str:
        """Take a file that was dropped on the page, and return its name; raises ParameterError, ReadError.

        It is kept in a folder for this user alone until the end, as commands filter files.
        """
        with self._lock:
            self._place = self._place or TemporaryDirectory(prefix="fftfilter-")
        stem, dot, suffix = Path(name).name.rpartition(".")
        if not is_text(name) or f".{suffix.lower()}" not in images.extensions(read_only=True):
            raise ParameterError("this is not a picture by its name")
        free = next(each for i in count(1) if (each := f"{stem}{i if i > 1 else ''}{dot}{suffix}") not in self.names())
        path = Path(self._place.name, free)
        path.write_bytes(data)
        self._dropped[free] = str(path)
        try:
            self.session(free)
        except FftfilterError:
            del self._dropped[free]
            raise
        return free

    def end(self) -> None:
        """Remove files that were dropped."""
        if self._place:
            self._place.cleanup()

    def session(self, name: object, *, anew: bool = False, keep: bool = True) -> Session:
        """Return the session of a file, by default the first one; raises FftfilterError.

        With ``anew``, a file that has changed is opened again. Without ``keep`` it is only looked at.
        """
        with self._lock:
            first = self._first
            name = Path(first.source).name if name in (None, "") else str(name)
            found = self._open.get(name)
            if found and not (anew and found.has_changed):
                return found
            if found is None and name not in self.names():
                raise ParameterError("this is not a picture of the folder")
            is_first = name == Path(first.source).name
            path = self._dropped.get(name) or str(Path(first.source).with_name(name))
            target = first.target if is_first else None
            made = Session(path, target, first.device, str(Path(first.target).parent))
            if not keep:
                return made
            self._open.pop(name, None)
            for old in [*self._open][: 1 - OPEN]:
                del self._open[old]
            self._open[name] = made
            # What a page shows of a file that was closed meanwhile is of the file as it was.
            made.opened = made.opened if anew else self._seen.get(name, made.opened)
            self._seen[name] = made.opened
            if is_first:
                self._first = made
            return made
