"""What IN names: a folder, or files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ...folders.tree import Files


def is_folder(name: str) -> bool:
    """Whether a path or a URL is that of a folder."""
    from ...files import urls

    where = urls.place(name)
    return os.path.isdir(where) if isinstance(where, Path) else urls.is_folder(where)  # noqa: PTH112  Path's may raise


def files_of(names: list[str]) -> Files:
    """Return several IN as files; raises UsageError for what is none."""
    from ...folders.tree import Files

    for name in names:
        if name == "-" or is_folder(name):
            what = "standard input, which has no name" if name == "-" else "a folder, which goes alone"
            raise click.UsageError(f"{name!r} is {what}: give files for the folder OUT.")
    return Files(names)
