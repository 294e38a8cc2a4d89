"""A filter's command and its options in a text, such as "lowpass --radius 8px"."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

EXAMPLE = '"lowpass --radius 8px"'


def split(option: str, text: str) -> list[str]:
    """Return the words of a text that an option has; raises UsageError for none."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = []
    if not words:
        raise click.UsageError(f"{option} {text!r} is not a filter: give one such as {EXAMPLE}.")
    return words


def command_of(context: click.Context, name: str, option: str = "") -> click.Command:
    """Return a filter's command by its name; raises UsageError."""
    from ..filters import FilterCommand

    root = context.find_root()
    command = root.command.get_command(root, name) if isinstance(root.command, click.Group) else None
    if not isinstance(command, FilterCommand):
        raise click.UsageError(f"{option}{': ' if option else ''}{name!r} is not a filter: give one such as {EXAMPLE}.")
    return command


def context_of(context: click.Context, words: Sequence[str], source: str, target: str) -> click.Context:
    """Return a command with its options as click parses them, with IN and OUT behind; raises UsageError."""
    name, *options = words
    return command_of(context, name).make_context(name, [*options, "--", source, target], parent=context.find_root())


def parsed(context: click.Context, words: Sequence[str], source: str, target: str, option: str) -> dict[str, Any]:
    """Return the values of all options of a filter's command; raises UsageError, also for an IN or OUT among them."""
    command_of(context, words[0], option)
    given = context_of(context, words, source, target).params
    if given.pop("sources") != (source,) or given.pop("target") != target:
        raise click.UsageError(f"{option} {shlex.join(words)!r}: give options only, as IN and OUT stand at the end.")
    return given
