"""What IN names: a folder, or files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...errors import ReadError
from .options import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...folders.tree import Files


def is_folder(name: str) -> bool:
    """Whether a path or a URL is that of a folder; raises ReadError for a missing one with a slash at its end."""
    from ...files import urls

    where = urls.place(name)
    if not isinstance(where, Path):
        return urls.is_folder(where)
    if os.path.isdir(where):  # noqa: PTH112  Path's may raise
        return True
    if name.endswith("/"):
        raise _missing(name)
    return False


def refuse_options_of_folders(names: Sequence[str], *, recursive: bool, pattern: Sequence[str]) -> None:
    """Refuse the options of a folder for files; raises UsageError, ReadError if the folder is missing."""
    from ...files import urls

    is_missing = len(names) == 1 and not (names[0] == "-" or urls.is_url(names[0]) or os.path.exists(names[0]))  # noqa: PTH110
    if is_missing and (recursive or pattern):
        raise _missing(names[0])
    refuse({"recursive": recursive, "pattern": pattern}, "is for a folder, and IN are files.")


def _missing(name: str) -> ReadError:
    from ...files.messages import quoted_if_odd

    return ReadError(f"{quoted_if_odd(name)}: no such folder; check the name")


def files_of(names: list[str]) -> Files:
    """Return several IN as files; raises UsageError for what is none."""
    from ...folders.tree import Files

    for name in names:
        if name == "-" or is_folder(name):
            what = "standard input, which has no name" if name == "-" else "a folder, which goes alone"
            raise click.UsageError(f"{name!r} is {what}: give files for the folder OUT.")
    return Files(names)
