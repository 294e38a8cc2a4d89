"""The pictures of the folder that a page may open, and those that are open."""

from __future__ import annotations

import threading
from pathlib import Path

from .. import images
from ..errors import ParameterError
from .session import Session

# Most files that are listed, and most that are open.
MOST, OPEN = 500, 3


class Folder:
    """The folder of a file; ``first`` is its session. Threads may share it."""

    def __init__(self, first: Session) -> None:
        self._first, self._lock = first, threading.Lock()
        self._open = {Path(first.source).name: first}

    def names(self) -> list[str]:
        """Return the names of its pictures."""
        suffixes = images.extensions(read_only=True)
        folder = Path(self._first.source).parent
        found = (each for each in folder.iterdir() if each.suffix.lower() in suffixes and each.is_file())
        return sorted(each.name for each in found)[:MOST]

    def session(self, name: object, *, anew: bool = False) -> Session:
        """Return the session of a file, by default the first one; raises FftfilterError.

        With ``anew``, a file that has changed is opened again.
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
            path, target = str(Path(first.source).with_name(name)), first.target if is_first else None
            self._open.pop(name, None)
            for old in [*self._open][: 1 - OPEN]:
                del self._open[old]
            self._open[name] = made = Session(path, target, first.device, str(Path(first.target).parent))
            if is_first:
                self._first = made
            return made
