"""Saving: run the command, so that its output is the command's, byte for byte, and then give the file its name.

The command writes a hidden file in the same folder. A file that already has the name is checked before the work, and
again when the name is given.
"""

# Names are compared as they are given: pathlib changes them.
# ruff: noqa: PTH118, PTH119, PTH120

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from .. import images
from ..errors import FftfilterError, ParameterError, WriteError
from ..files.atomic import take_place, temporary_name
from ..files.messages import as_error, quoted_if_odd
from ..files.urls import is_name
from .answers import command_line
from .session import CONFLICT, NAME, ChangedError, Folder, RefusedError, Session, check

if TYPE_CHECKING:
    from .request import Commands, Request

# The status of a refusal: the name is not a file's of the folder that a page may write into.
ELSEWHERE = 403


@dataclass
class Progress:
    """How far saving has come, in pages."""

    done: int = 0
    total: int = 0
    process: subprocess.Popen[str] | None = None  # that filters a folder
    written: bool = False  # whether the file has its name

    def advance(self, total: int) -> None:
        """Count one more page; raises StoppedError if nobody waits any more."""
        check()
        self.done, self.total = self.done + 1, total


def save(request: Request, asked: tuple[object, object], commands: Commands, progress: Progress) -> dict[str, Any]:
    """Run the command into a file that a page names; raises FftfilterError.

    ``asked`` is the name and, to replace a file, the ``overwrite`` of the refusal that asked for it.
    """
    (given, answer), words, session = asked, request.words, request.session
    name = name_of(given, session)
    path, written = os.path.join(session.folder, name), os.path.join(os.path.dirname(session.target), name)
    mask = None
    try:
        with as_error(WriteError, f"{quoted_if_odd(name[:NAME])}: cannot be written"), _part(session, name) as part:
            if session.has_changed:
                raise ChangedError(session.source)
            _ask(session, name, answer)
            images.check_output(session.source, path)
            mask = keep_mask(request)
            commands.run((*words, "--quiet"), session.source, part, progress.advance)
            check()
            take_place(part, path, _ask(session, name, answer))
            progress.written = True
    except BaseException as error:
        if mask:
            with suppress(OSError):
                os.unlink(mask)  # noqa: PTH108  likewise
        if isinstance(error, FftfilterError):
            error.args = (str(error).replace(os.path.basename(part), name),)
        raise
    return {"written": written, "command": command_line(words, session.source, written)}


def keep_mask(request: Request) -> str | None:
    """Write the mask of a region beside the output; return its path, None if there is none, or it is there already.

    Raises FftfilterError, also if another file has its name.
    """
    if not (request.marked and (file := request.mask)):
        return None
    data, name = request.marked.png(), os.path.basename(file)
    path = Path(request.session.folder, name)
    with as_error(WriteError, f"{quoted_if_odd(name)}: cannot be written"), _part(request.session, name) as part:
        if _to_replace(request.session, name):
            if path.read_bytes() == data:
                return None
            raise WriteError(f"{quoted_if_odd(name)}: is another file: rename it, as it has the name of the mask")
        Path(part).write_bytes(data)
        take_place(part, str(path), None)
    return str(path)


@contextmanager
def _part(session: Session, name: str) -> Iterator[str]:
    """Give the path of a hidden file for what gets a name in the folder of OUT; what is left of it is removed."""
    part = temporary_name(os.path.join(session.folder, "save"), f"part.{name.rpartition('.')[2]}")
    try:
        yield part
    finally:
        with suppress(OSError):
            os.unlink(part)  # noqa: PTH108  likewise


@contextmanager
def _with_own_mask(request: Request) -> Iterator[tuple[Sequence[str], Path]]:
    """Give the words of the command with its mask in a folder for temporary files, and that folder."""
    with TemporaryDirectory(prefix="fftfilter-") as name:
        words, folder = request.words, Path(name)
        if request.marked and (file := request.mask):
            own = folder / os.path.basename(file)
            own.write_bytes(request.marked.png())
            words = tuple(str(own) if word == file else word for word in words)
        yield words, folder


def applied(request: Request, given: object, progress: Progress, place: Folder) -> dict[str, Any]:
    """Run the command on the folder of a page, into a new folder, in a process of its own; raises FftfilterError.

    Return the folder, how many files were filtered, a line for each file that failed, and what else was said.
    """
    session = request.session
    name = name_of(given, session)
    source, target, names = os.path.realpath(place.path), os.path.join(session.folder, name), place.inputs()
    with as_error(WriteError, f"{quoted_if_odd(target)}: is not a new folder"):
        os.mkdir(target)  # noqa: PTH102  likewise
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    # All of the folder, or what was not saved by the page; in the folder, so that many names are not too long.
    others = ["--report", "-", "--", *([source] if len(names) == len(place.own_names()) else names), target]
    with (
        _with_own_mask(request) as (words, folder),
        subprocess.Popen([sys.executable, "-P", "-m", "fftfilter", *words, *others], cwd=source, **streams) as process,
    ):
        failed: list[str] = []
        said, progress.process = [], process
        try:
            for line in process.stdout or ():
                if line.startswith("{"):
                    progress.advance(len(names))
                    failed += filter(None, [json.loads(line).get("error")])
                else:
                    said.append(line.strip().replace(f"{folder}{os.sep}", "").removeprefix("fftfilter: "))
        except BaseException:
            process.terminate()
            raise
    if not progress.done:
        with suppress(OSError):
            os.rmdir(target)  # noqa: PTH106  likewise
        raise WriteError(" ".join(said) or f"{quoted_if_odd(target)}: nothing was written")
    notes = [each for each in said[:-1] if each not in failed]
    report = said[-1].partition(";")[0].rstrip(".") if said else ""
    return {"written": target, "report": report, "failed": failed, "notes": notes}


def downloaded(request: Request, given: object, commands: Commands) -> bytes:
    """Return the bytes that the command writes to a name; raises FftfilterError."""
    source, name = request.session.source, name_of(given, request.session)
    if request.session.has_changed:
        raise ChangedError(source)
    with _with_own_mask(request) as (words, folder):
        target = folder / name
        try:
            images.check_output(source, str(target))
            commands.run((*words, "--quiet"), source, str(target), Progress().advance)
        except FftfilterError as error:
            error.args = (str(error).replace(f"{folder}{os.sep}", ""),)
            raise
        return target.read_bytes()


def name_of(given: object, session: Session) -> str:
    """Return the name of a file in the folder of OUT; raises ParameterError, RefusedError."""
    steps = given.replace("/", "-").replace("\\", "-") if isinstance(given, str) else ""
    if not isinstance(given, str) or not is_name(os.path.basename(given)) or not is_name(steps, windows=False):
        usual = os.path.basename(session.target)
        raise ParameterError(f"OUT {str(given)[:NAME]!r} is not a name: give one such as {usual}")
    head, name = os.path.split(given)
    if head and os.path.realpath(os.path.join(session.folder, head)) != session.folder:
        line = f"lies in another folder: give a name in {quoted_if_odd(session.folder)}"
        raise RefusedError(ELSEWHERE, f"{quoted_if_odd(given[:NAME])}: {line}")
    return name


def _to_replace(session: Session, name: str) -> os.stat_result | None:
    """Return the file of the folder of OUT that has a name, None if there is none.

    Raises ParameterError and RefusedError if it may not be replaced, or if a link has taken the place of the folder.
    """
    shown = quoted_if_odd(name[:NAME])
    if os.path.realpath(session.folder) != session.folder:
        raise RefusedError(ELSEWHERE, f"{shown}: its folder is another one now: open the picture again")
    try:
        found = os.lstat(os.path.join(session.folder, name))
    except FileNotFoundError:
        return None
    inputs = [session.opened]
    with suppress(OSError):  # the file that has the input's name now
        inputs.append(os.stat(session.source))  # noqa: PTH116  likewise
    if any(os.path.samestat(found, each) for each in inputs):
        raise ParameterError(f"{shown}: is the input itself; choose another name")
    if not stat.S_ISREG(found.st_mode):
        kind = {stat.S_IFLNK: "a link", stat.S_IFDIR: "a folder"}.get(stat.S_IFMT(found.st_mode), "a device or pipe")
        raise RefusedError(ELSEWHERE, f"{shown}: is {kind}, and only files are replaced: choose another name")
    return found


def _ask(session: Session, name: str, answer: object) -> os.stat_result | None:
    """Return what :func:`_to_replace` does; RefusedError unless the answer belongs to the file as it is now."""
    found = _to_replace(session, name)
    if found is None:
        return None
    numbers = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    if answer == (seen := "-".join(f"{each:x}" for each in numbers)):
        return found
    stem, dot, suffix = name.rpartition(".")
    names = (f"{stem}-{i}{dot}{suffix}" for i in count(2))
    free = next(each for each in names if not os.path.lexists(os.path.join(session.folder, each)))
    date = time.strftime("%Y-%m-%d %H:%M", time.localtime(found.st_mtime))
    line = f"{quoted_if_odd(name)} exists ({found.st_size:,} bytes of {date}): overwrite it?"
    raise RefusedError(CONFLICT, line, overwrite=seen, free=free)
