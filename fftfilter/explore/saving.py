"""Saving: the command is run, so that its output is the command's, byte for byte."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ParameterError
from .words import command_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .session import Session
    from .wish import CommandLine


class ElsewhereError(ParameterError):
    """A name outside the folder that a page may write into."""


def target_of(given: object, session: Session) -> str:
    """Return the file that a page may write: in the folder of OUT. Raises ParameterError, ElsewhereError."""
    if not isinstance(given, str) or not given.strip() or "\0" in given:
        raise ParameterError(f"OUT {given!r} is not a name: give one such as {Path(session.target).name}")
    folder = Path(session.target).parent
    found = folder / given  # an absolute one stays as it is
    if Path(os.path.realpath(found)).parent != Path(os.path.realpath(folder)):
        raise ElsewhereError(f"{given}: lies in another folder: give a name in {folder}")
    return str(found)


def save(words: Sequence[str], given: object, session: Session, commands: CommandLine) -> dict[str, str]:
    """Run the command into a file that a page names; raises FftfilterError."""
    target = target_of(given, session)
    commands.run(words, target)
    return {"written": target, "command": command_line(words, session.source, target)}
