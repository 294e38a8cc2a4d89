"""Folders that are held open: what is written in one lands there, whatever its path leads to by then."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

HAS_HANDLES = os.open in os.supports_dir_fd
# With O_PATH, which Linux has, a folder need not be readable.
_FLAGS = sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_PATH"))


class Folder:
    """A folder that is held open, by a path none of whose parts is a link; ``make`` makes what is missing of it.

    Raises OSError, also for a part that has become a link. Windows opens no folders: there only the path counts.
    """

    def __init__(self, path: str, *, make: bool = False) -> None:
        self.path, self.handle = os.path.abspath(path), None  # noqa: PTH100  which would follow links
        if not HAS_HANDLES:
            if make:
                os.makedirs(path, exist_ok=True)  # noqa: PTH103
            return
        self.handle = os.open("/", _FLAGS)
        for part in filter(None, self.path.split("/")):
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=self.handle)
            above, self.handle = self.handle, None
            try:
                self.handle = os.open(part, _FLAGS, dir_fd=above)
            finally:
                os.close(above)
        status = os.fstat(self.handle)
        self._own = status.st_dev, status.st_ino

    def __del__(self) -> None:
        if self.handle is not None:
            os.close(self.handle)

    def is_in_place(self) -> bool:
        """Whether its path still leads to it: it may have been removed, or renamed and replaced by a link."""
        if self.handle is None:
            return True
        with suppress(OSError):
            status = os.stat(self.path)  # noqa: PTH116  once a file, of which there may be millions
            return (status.st_dev, status.st_ino) == self._own
        return False

    def locate(self, name: str) -> str:
        """Return what calls of the system take as a file's name together with :attr:`handle`."""
        return os.path.join(self.path, name) if self.handle is None else name  # noqa: PTH118

    def open(self, path: str, flags: int) -> int:
        """Be the ``opener`` of a file of the folder; raises OSError for a link, a pipe or a device."""
        own = os.path.basename(path)  # noqa: PTH119
        name = self.locate(own)
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(os.stat(name, dir_fd=self.handle, follow_symlinks=False).st_mode):
                raise OSError(errno.EINVAL, f"{own} is no regular file", path)
        return os.open(name, flags | getattr(os, "O_NOFOLLOW", 0), 0o666, dir_fd=self.handle)


class Inside(os.PathLike[str]):
    """A file of a folder that is held open; for messages it has the path that the user knows."""

    def __init__(self, path: str, folder: Folder, name: str) -> None:
        self._path, self.folder, self.name = path, folder, name

    def __fspath__(self) -> str:
        return self._path

    __str__ = __fspath__


def located(file: str | os.PathLike[str]) -> tuple[str, int | None]:
    """Return what calls of the system take as the name and the folder's handle of any file."""
    if isinstance(file, Inside):
        return file.folder.locate(file.name), file.folder.handle
    return os.fsdecode(file), None
