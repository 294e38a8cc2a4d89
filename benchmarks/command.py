"""Makes a module of this folder a command, with the options of ``fftfilter bench`` and errors in one line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fftfilter.commands.bench import benchmark_command, pair, size_option
from fftfilter.errors import FftfilterError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["benchmark_command", "format_option", "main", "pair", "size_option"]


def format_option() -> Callable[..., Any]:
    """Return the decorator for --format, whose values arrive as ``formats``."""
    return click.option(
        "--format",
        "formats",
        type=click.Choice(["png", "pgm"]),
        multiple=True,
        default=("png", "pgm"),
        show_default=True,
        help="Format of the files; may be given several times.",
    )


def main(command: click.Command) -> None:
    """Run a command line and end the process."""
    try:
        command.main()
    except FftfilterError as error:
        click.echo(f"{Path(sys.argv[0]).stem}: {error}", err=True)
        sys.exit(error.exit_code)
