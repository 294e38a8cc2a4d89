"""Files behind URLs, through fsspec: s3://, gs://, http://, memory:// and others that it has drivers for.

Names come first, then access to files, for which alone fsspec is imported. Listings are not cached, because other
programs write there, too. Errors are OSErrors with a readable message, as for files; a missing package is a
ParameterError.

Not universal-pathlib: its listings drop the type and the date that fsspec has given, so that each entry of a web page
costs a request, and its names of the web stay quoted.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import wraps
from itertools import count
from pathlib import Path
from random import random
from typing import Any, NamedTuple, ParamSpec, TypeVar

from ..errors import ParameterError, pip_install
from .messages import FileName, first_line

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_WEB = ("http", "https")
_LINK = re.compile(r"""<a\s[^<>]*?\bhref\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))""", re.IGNORECASE)
# Bytes that are read at a time, and the most of a page of links, some hundred thousand of them.
_PART, LONGEST_PAGE = 1 << 24, 1 << 25
# Separators of any system, control characters, lone surrogates; dots; more than file systems allow.
_NO_NAME = re.compile(r"[/\\\x00-\x1f\x7f-\x9f\ud800-\udfff]|^\s*\.{0,2}\s*$|.{1000}")
# Names of devices on Windows, with any extension, and characters that it allows in no name.
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
_ODD = '<>:"|?*'
# Drivers' names of a value that changes with a file's content, the most reliable first.
_VERSIONS = ("ETag", "etag", "md5Hash", "content_md5", "mtime", "LastModified", "last_modified", "updated", "created")

P = ParamSpec("P")
T = TypeVar("T")

# What a driver fails to do is tried so many times more, first after about some seconds.
retries = 0
SECONDS_TO_RETRY, LONGEST_WAIT = 1.0, 60.0
interrupted = threading.Event()
"""Is set where a run was asked to end: nothing is tried again."""


class Url(NamedTuple):
    """A folder or a file behind a URL, with the methods of Path that folder runs use."""

    text: str

    def __str__(self) -> str:
        return self.text

    def __truediv__(self, below: str) -> Url:
        if not below:
            return self
        from urllib.parse import quote

        inner, outer = self._parts
        start = inner if inner.endswith("://") else inner.rstrip("/") + "/"  # the top of an archive has no slash more
        return Url(f"{start}{quote(below) if self.is_web else below}{outer}")

    @property
    def _parts(self) -> tuple[str, str]:
        """The place, and behind it "::" and the URL of the archive that it is in, if it is in one, as fsspec has it."""
        inner, mark, outer = ("" if self.is_web else self.text).partition("::")
        return inner or self.text, mark + outer

    @property
    def ends_as_folder(self) -> bool:
        """Whether it ends with a slash, as folders do."""
        return self._parts[0].endswith("/")

    @property
    def is_web(self) -> bool:
        """Whether it is http or https: read-only, its names quoted."""
        return _scheme(self.text) in _WEB

    @property
    def name(self) -> str:
        """The last part, as a file system would call it, of the web without its query."""
        from urllib.parse import unquote

        last = self._parts[0].partition("?")[0] if self.is_web else self._parts[0]
        last = last.rstrip("/").rpartition("/")[2]
        return unquote(last) if self.is_web else last

    @property
    def parent(self) -> Url:
        """The folder that it is in."""
        inner, outer = self._parts
        parent = inner.rstrip("/").rpartition("/")[0]
        return Url((f"{parent}/" if parent.endswith(":/") else parent) + outer)

    def absolute(self) -> Url:
        """Return the URL, which means the same on every machine."""
        return self


def is_url(text: FileName) -> bool:
    """Whether a name is a URL and no path."""
    return isinstance(text, str) and _URL.match(text) is not None


def is_name(text: str, *, windows: bool = os.name == "nt") -> bool:
    """Whether a text from outside names one file of a folder, also if it is decoded again; Windows refuses some names.

    What a server, an archive, a page or metadata call a file has to pass here.
    """
    from urllib.parse import unquote

    is_device = text.partition(".")[0].rstrip().lower() in _DEVICES
    if _NO_NAME.search(text) or (windows and (is_device or text.endswith((" ", ".")) or set(_ODD) & set(text))):
        return False
    return (decoded := unquote(text)) == text or is_name(decoded, windows=windows)


def without_file_scheme(text: str) -> str:
    """Return the path of a file:// URL, any other name as it is; raises ParameterError for one that none can be."""
    if not is_url(text) or _scheme(text) != "file":
        return text
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    path = url2pathname(urlsplit(text).path)
    if "\0" in path:
        raise ParameterError(f"{text}: no file's name has %00; check the name")
    return path


def of_this_machine(url: str) -> str:
    """Return the path of a URL whose driver reads this machine's files, any other name as it is."""
    scheme, _, path = url.partition("://")
    return path if scheme in ("file", "local") else url


def place(text: str) -> Path | Url:
    """Return a name as a path or a URL."""
    return Url(_with_lower_scheme(text)) if is_url(text) else Path(text)


def file_in(folder: Path | Url, name: str) -> str:
    """Return the name of a file in a folder, quickly: a folder may have millions."""
    return os.path.join(folder, name) if isinstance(folder, Path) else str(folder / name)  # noqa: PTH118


def split(file: str) -> tuple[str, str]:
    """Return the folder that a file is in, and the file's name in it."""
    if is_url(file):
        url = Url(file)
        return str(url.parent), url.name
    return os.path.split(file)


def refuse_reading_only(url: str, what: str = "OUT") -> None:
    """Raise ParameterError for a URL that cannot be written, to which ``what`` shall go."""
    if Url(url).is_web:
        raise ParameterError(f"{url}: can only be read; choose another place for {what}")


def _scheme(url: str) -> str:
    return url.partition("://")[0].lower()


def _with_lower_scheme(url: str) -> str:
    return f"{_scheme(url)}://{url.partition('://')[2]}"


# Access to files


class Entry(NamedTuple):
    """A file or a folder in a folder, as os.DirEntry."""

    name: str
    is_folder: bool
    stamp: tuple[int, int]

    def is_dir(self) -> bool:
        """Whether it is a folder."""
        return self.is_folder


class _Failing(NamedTuple):
    """When a server that has done nothing since first failed, and last."""

    first: float
    last: float


_failing: dict[str, _Failing] = {}


def _patiently(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function that tries again what a driver failed to do, as often as `retries` says, after longer waits.

    A server that does nothing for a minute, and one more for each try, is not asked for a while: drivers of object
    stores try again by themselves, too, so that a run would take hours to end.
    """

    @wraps(function)
    def patient(*arguments: P.args, **options: P.kwargs) -> T:
        server = "/".join(str(arguments[0]).split("/", 3)[:3])
        for tried in count():
            began, failing = time.monotonic(), _failing.get(server)
            if failing and began - failing.last > 2 * LONGEST_WAIT:
                failing = None
            longest = 0 if interrupted.is_set() else LONGEST_WAIT * (1 + retries)
            if failing and failing.last - failing.first >= longest:
                raise OSError(None, f"{server} fails at all that it is asked for; check the server")
            try:
                done = function(*arguments, **options)
            except OSError as error:
                status = getattr(error.__cause__, "status", 0)  # a web server's
                stays = isinstance(status, int) and 400 <= status < 500 and status not in (408, 425, 429)
                if error.errno or stays:  # an answer, such as of a missing file, which will not change
                    _failing.pop(server, None)
                    raise
                _failing[server] = _Failing(failing.first if failing else began, time.monotonic())
                if tried >= retries or interrupted.is_set():
                    raise
                wait = min(SECONDS_TO_RETRY * 2**tried, LONGEST_WAIT) * (0.5 + random())  # noqa: S311
                asked = (getattr(error.__cause__, "headers", None) or {}).get("Retry-After", "")
                # So many digits are enough: of thousands Python makes no number.
                interrupted.wait(max(wait, min(int(asked[:9]), LONGEST_WAIT)) if asked.isdecimal() else wait)
            else:
                _failing.pop(server, None)
                return done
        raise AssertionError

    return patient


@_patiently
def is_folder(url: Url) -> bool:
    """Whether a URL is a folder: one with a slash at its end, or one that its file system knows as such."""
    if url.is_web or url.ends_as_folder:
        return url.ends_as_folder
    with _opened(url.text) as (system, path):
        return bool(system.isdir(path))


@_patiently
def content(url: str, most: int = sys.maxsize) -> bytes:
    """Return all bytes of a file, or its first ``most``: no more is read, unpacked or kept."""
    is_web = Url(url).is_web
    with _opened(url) as (system, path):
        if system.async_impl and not is_web:  # an object store, which sends the part that it is asked for
            return bytes(system.cat_file(path, start=0, end=most))
        # A web server may send more, or pack it small. Without blocks its answer is read as it comes; to give any size
        # saves the request for the true one.
        parts, left = [], most
        with system.open(path, "rb", **({"block_size": 0, "size": 1} if is_web else {})) as file:
            while left and (part := file.read(min(left, _PART))):
                parts.append(part)
                left -= len(part)
        return b"".join(parts)


def store(url: str, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file in one request, so that object stores have it whole or not at all."""
    refuse_reading_only(url)
    _store(url, b"".join(parts))


@_patiently
def _store(url: str, data: bytes) -> None:
    with _opened(url) as (system, path):
        try:
            system.pipe_file(path, data)
        except FileNotFoundError:
            if system.async_impl:  # an object store has no folders: the bucket is missing, and its name may be wrong
                raise
            system.makedirs(system._parent(path), exist_ok=True)
            system.pipe_file(path, data)


def remove(url: str) -> None:
    """Remove a file."""
    with _opened(url) as (system, path):
        system.rm_file(path)


def stamp(url: str) -> tuple[int, int]:
    """Return a file's size and a number that changes when it is written again."""
    with _opened(url) as (system, path):
        return _stamp(system.info(path))


@contextmanager
def scandir(url: Url, refused: list[str] | None = None) -> Iterator[Iterator[Entry]]:
    """Return a folder's entries, as os.scandir; of a web page, its links. What is no name is put into ``refused``."""
    if url.is_web:
        found = [Entry(*link, _stamp({})) for link in _links(f"{url.text.rstrip('/')}/")]
    else:
        found = [Entry(Url(each["name"]).name, each["type"] == "directory", _stamp(each)) for each in _listed(url)]
    if refused is not None:
        refused += [each.name for each in found if not is_name(each.name)]
    yield (each for each in found if is_name(each.name))


@_patiently
def _listed(url: Url) -> list[Any]:
    with _opened(url.text) as (system, path):
        return [each for each in system.ls(path, detail=True) if each["name"].strip("/") != path.strip("/")]


def _links(page: str) -> dict[tuple[str, bool], None]:
    """Return the names of a page's links to what lies directly below it, and whether each is a folder."""
    from html import unescape
    from urllib.parse import unquote, urljoin

    text, found = content(page, LONGEST_PAGE), dict[tuple[str, bool], None]()
    if len(text) == LONGEST_PAGE:
        raise OSError(None, f"its page of links has more than {LONGEST_PAGE:,} bytes; give the URLs of its files")
    for each in _LINK.finditer(text.decode(errors="replace")):
        with suppress(ValueError):  # no URL at all
            link = urljoin(page, unescape(each[each.lastindex or 0]).strip()).partition("#")[0]
            name = link.removeprefix(page).rstrip("/")
            if link.startswith(page) and name and not {*name} & {*"?/"}:
                found[unquote(name), link.endswith("/")] = None
    return found


@contextmanager
def _opened(url: str) -> Iterator[tuple[Any, str]]:
    """Give the file system of a URL and the path in it; raises OSError of its driver, ParameterError without one."""
    try:
        yield _file_system(url)
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        number = errno.EACCES if isinstance(error, PermissionError) else errno.ENOENT
        raise OSError(number, os.strerror(number).lower()) from error
    except (ParameterError, MemoryError):
        raise
    except Exception as error:  # any error of the driver's library
        raise OSError(None, f"{_said(error)}; check the URL and the settings of {_scheme(url)}://") from error


def _said(error: Exception) -> str:
    """Return what a driver's error says; aiohttp's have a status and a message, and texts that repeat the URL."""
    said = getattr(error, "message", None)
    if said is None:
        return first_line(error)
    status, reason = getattr(error, "status", 0), first_line(Exception(said)) if isinstance(said, str) and said else ""
    return f"{status or ''} {reason or type(error).__name__}".strip()


def _file_system(url: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise ParameterError(f"{url}: URLs need fsspec: {pip_install(extra='cluster')}") from error
    try:
        system, path = url_to_fs(_with_lower_scheme(url), use_listings_cache=False)
    except ImportError as error:
        way = f"{first_line(error)}, with {pip_install('NAME')}"  # a module's name may be that of a stranger's package
        raise ParameterError(f"{url}: needs another package: {way}") from error
    except ValueError as error:
        way_out = "give a path, or a URL such as s3://bucket/folder/"
        raise ParameterError(f"{url}: {first_line(error)}; {way_out}") from error
    if loop := getattr(system, "loop", None):
        loop.set_exception_handler(lambda *_: None)  # else it writes lines about connections that a server has left
    return system, path


def _stamp(info: Mapping[str, Any]) -> tuple[int, int]:
    version = next((info[name] for name in _VERSIONS if info.get(name) is not None), "")
    # The same date may be a number in a listing and a datetime in the file's own entry.
    version = version.timestamp() if hasattr(version, "timestamp") else version
    return int(info.get("size") or 0), zlib.crc32(str(version).encode())
