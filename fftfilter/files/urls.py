"""Files behind URLs, through fsspec: s3://, gs://, http://, memory:// and what else it has drivers for.

fsspec is imported when a URL is met. Listings are never remembered: others write there, too. Every error is an
OSError with words of its own, as for files, but for ParameterError where a package is missing.
"""

from __future__ import annotations

import errno
import os
import re
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_WEB = ("http", "https")
# What file systems call the mark of a file's present content, the surest first.
_MARKS = ("ETag", "etag", "md5Hash", "content_md5", "mtime", "LastModified", "last_modified", "updated", "created")


class UrlError(OSError):
    """What went wrong behind a URL, in words."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.strerror = words


class Url(NamedTuple):
    """A folder or a file behind a URL, with as much of a Path's ways as folder runs take."""

    text: str

    def __str__(self) -> str:
        return self.text

    def __truediv__(self, below: str) -> Url:
        if not below:
            return self
        from urllib.parse import quote

        return Url(f"{self.text.rstrip('/')}/{quote(below) if self.is_web else below}")

    @property
    def is_web(self) -> bool:
        """Whether it is http or https: only to be read, and a name in it is quoted."""
        return _scheme(self.text) in _WEB

    @property
    def is_of_this_process(self) -> bool:
        """Whether other processes see something else there."""
        return _scheme(self.text) == "memory"

    @property
    def name(self) -> str:
        """The last part, as a file system would call it."""
        from urllib.parse import unquote

        last = _last(self.text)
        return unquote(last) if self.is_web else last

    @property
    def suffix(self) -> str:
        """The name's extension, with its dot."""
        return Path(self.name).suffix

    @property
    def parent(self) -> Url:
        """The folder that it is in."""
        return Url(self.text.rstrip("/").rpartition("/")[0])

    def absolute(self) -> Url:
        """Return the URL, which means the same on every machine."""
        return self


class Entry(NamedTuple):
    """Something in a folder, as os.scandir has it."""

    name: str
    is_folder: bool
    stamp: tuple[int, int]

    def is_dir(self) -> bool:
        """Whether it is a folder."""
        return self.is_folder

    def is_file(self) -> bool:
        """Whether it is a file."""
        return not self.is_folder

    def is_symlink(self) -> bool:
        """Whether it is a link: there are none."""
        return False


def is_url(text: str | os.PathLike[str]) -> bool:
    """Whether a name is a URL and no path."""
    return isinstance(text, str) and _URL.match(text) is not None


def without_file_scheme(text: str) -> str:
    """Return the path behind a file:// URL, any other name as it is."""
    if not is_url(text) or _scheme(text) != "file":
        return text
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    return url2pathname(urlsplit(text).path)


def place(text: str) -> Path | Url:
    """Return what a name means: a path or a URL."""
    return Url(text) if is_url(text) else Path(text)


def file_in(folder: Path | Url, name: str) -> str:
    """Return the name of a file in a folder, quickly: a folder may have millions."""
    return os.path.join(folder, name) if isinstance(folder, Path) else str(folder / name)  # noqa: PTH118


def split(file: str) -> tuple[str, str]:
    """Return the folder that a file is in, and what it is called there."""
    if is_url(file):
        url = Url(file)
        return str(url.parent), url.name
    return os.path.split(file)


def is_folder(url: Url) -> bool:
    """Whether a URL is a folder: one with a slash at its end, or one that its file system knows as such."""
    if url.is_web or url.text.endswith("/"):
        return url.text.endswith("/")
    with _told_in_words(url.text):
        system, path = _open(url.text)
        return bool(system.isdir(path))


def content(url: str) -> bytes:
    """Return all bytes of a file."""
    with _told_in_words(url):
        system, path = _open(url)
        return bytes(system.cat_file(path))


def store(url: str, parts: Sequence[bytes | memoryview]) -> None:
    """Write a file at once: where objects are stored, it appears whole or not at all."""
    refuse_reading_only(url)
    with _told_in_words(url):
        system, path = _open(url)
        data = b"".join(parts)
        try:
            system.pipe_file(path, data)
        except FileNotFoundError:
            # A file system with folders of its own.
            system.makedirs(system._parent(path), exist_ok=True)
            system.pipe_file(path, data)


def remove(url: str) -> None:
    """Remove a file."""
    with _told_in_words(url):
        system, path = _open(url)
        system.rm_file(path)


def stamp(url: str) -> tuple[int, int]:
    """Return a file's size and a mark of its content, which changes when it is written again."""
    with _told_in_words(url):
        system, path = _open(url)
        return _stamp(system.info(path))


@contextmanager
def scandir(url: Url) -> Iterator[Iterator[Entry]]:
    """Return what is in a folder, as os.scandir; of a web page, the links to what lies below it."""
    with _told_in_words(url.text):
        system, path = _open(url.text)
        found = system.ls(path if not url.is_web else f"{path.rstrip('/')}/", detail=True)
    own = path.strip("/")
    yield (
        Entry(name, entry["type"] == "directory", _stamp(entry))
        for entry in found
        if entry["name"].strip("/") != own and not (url.is_web and "?" in entry["name"])
        for name in [Url(entry["name"]).name]
    )


def refuse_reading_only(url: str) -> None:
    """Raise ParameterError for a URL that cannot be written."""
    if Url(url).is_web:
        raise ParameterError(f"{url}: can only be read; choose another place for OUT")


def _scheme(url: str) -> str:
    return url.partition("://")[0].lower()


def _last(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2]


def _open(url: str) -> tuple[Any, str]:
    """Return the file system of a URL and the path in it; raises ParameterError without its package."""
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise ParameterError(f"{url}: URLs need fsspec: pip install 'fftfilter[cluster]'") from error
    try:
        system, path = url_to_fs(url, use_listings_cache=False)
    except ImportError as error:
        raise ParameterError(f"{url}: needs another package: {_words(error)} (pip install)") from error
    except ValueError as error:
        raise ParameterError(f"{url}: {_words(error)}; give a path, or a URL such as s3://bucket/folder/") from error
    return system, path


@contextmanager
def _told_in_words(url: str) -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT).lower()) from error
    except PermissionError as error:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES).lower()) from error
    except (ParameterError, MemoryError):
        raise
    except Exception as error:  # A driver raises what its library does.
        raise UrlError(f"{_words(error)}; check the URL and the settings of {_scheme(url)}://") from error


def _words(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), "") or type(error).__name__


def _stamp(info: Mapping[str, Any]) -> tuple[int, int]:
    mark = next((info[name] for name in _MARKS if info.get(name) is not None), "")
    # A listing may give as a number what the file's own entry gives as a date.
    mark = mark.timestamp() if hasattr(mark, "timestamp") else mark
    return int(info.get("size") or 0), zlib.crc32(str(mark).encode())
