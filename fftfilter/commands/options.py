"""Options that several commands share, as decorators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")


def _verbosity(context: click.Context, _: click.Parameter, value: int) -> int:
    # Where the group looks when an error ends the command.
    context.find_root().command.verbosity = value  # type: ignore[attr-defined]
    return value


def together(*decorators: Callable[[Any], Any]) -> Callable[[F], F]:
    """Return one decorator for several, the first on top."""

    def decorate(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


device_option = click.option(
    "--device",
    metavar="DEVICE",
    envvar="FFTFILTER_DEVICE",
    show_envvar=True,
    help="auto (the default: a GPU, else the best CPU runtime), gpu, cpu, an index or a part of a name "
    "from 'fftfilter devices'.",
)

verbose_option = click.option(
    "-v", "--verbose", count=True, callback=_verbosity, help="Say what is done; twice: show where an error came from."
)

transform_options = together(
    click.option("--engine", metavar="NAME", default="book", show_default=True, help="The FFT algorithm."),
    device_option,
    click.option(
        "--precision",
        type=click.Choice(["single", "double"]),
        default="single",
        show_default=True,
        help="Of all computation; double needs a device with fp64.",
    ),
)

file_options = together(
    click.option("--in-place", is_flag=True, help="Allow OUT to be IN: overwrite the input."),
    click.option(
        "--png-level",
        type=click.IntRange(0, 9),
        default=1,
        show_default=True,
        metavar="0-9",
        help="Compression of a PNG: 0 is fastest, 9 smallest.",
    ),
    verbose_option,
)
