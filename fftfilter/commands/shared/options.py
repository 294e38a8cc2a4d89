"""Options that several commands share, as decorators."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")


def _verbosity(context: click.Context, _: click.Parameter, value: int) -> int:
    # Where the group looks when an error ends the command.
    context.find_root().command.verbosity = value  # type: ignore[attr-defined]
    return value


def combined(*decorators: Callable[[Any], Any]) -> Callable[[F], F]:
    """Return one decorator for several, the first on top."""

    def decorate(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


class GroupedOption(click.Option):
    """An option that the help shows under a heading."""

    def __init__(self, *names: Any, group: str = "Options", **attributes: Any) -> None:
        super().__init__(*names, **attributes)
        self.group = group


class GroupedCommand(click.Command):
    """A command whose help has its options under headings, "Options" last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options into the help."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                groups.setdefault(getattr(parameter, "group", "Options"), []).append(record)
        groups["Options"] = groups.pop("Options", [])  # last
        for group, records in groups.items():
            with formatter.section(group):
                formatter.write_dl(records)


def option(*names: str, group: str, **attributes: Any) -> Callable[[F], F]:
    """Return a click.option that the help shows under a heading."""
    return click.option(*names, cls=GroupedOption, group=group, **attributes)


def choice_of_device(further: str = "") -> Callable[[F], F]:
    """Return the decorator for --device; ``further`` is what else it takes."""
    return option(
        "--device",
        group="Device",
        metavar="DEVICE",
        envvar="FFTFILTER_DEVICE",
        show_envvar=True,
        help="auto (the default: a GPU, else the best CPU runtime), gpu, cpu, an index or a part of a name "
        f"from 'fftfilter devices'{further}.",
    )


device_option = choice_of_device()

verbose_option = option(
    "-v",
    "--verbose",
    group="Options",
    count=True,
    callback=_verbosity,
    help="Say what is done; twice: show where an error came from.",
)

engine_option = option(
    "--engine",
    group="Device",
    metavar="NAME",
    help="fused, or an algorithm from 'fftfilter engines'.  [default: fused; book where an option asks for its steps]",
)

precision_option = option(
    "--precision",
    group="Device",
    type=click.Choice(["single", "double"]),
    default="single",
    show_default=True,
    help="Of all computation; double needs a device with fp64.",
)


class Bytes(click.ParamType[int]):
    """A number of bytes: 3000000, 500MB or 4GB."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number of bytes."""
        found = re.fullmatch(r"(\d+(?:\.\d+)?) *([kMGT]?)B?", str(value).strip(), re.IGNORECASE)
        if not found:
            self.fail(f"{value!r} is no size: give bytes, or for example 500MB or 4GB.", param, ctx)
        return int(float(found[1]) * 1000 ** " kMGT".lower().index(found[2].lower() or " "))


input_limit_option = option(
    "--input-limit",
    group="Input",
    type=Bytes(),
    metavar="SIZE",
    help="Most bytes to read where the length of IN is not known: standard input, pipes, URLs.  [default: half of the "
    "free memory]",
)

file_options = combined(
    option("--in-place", group="Output", is_flag=True, help="Allow OUT to be IN: overwrite the input."),
    option(
        "--png-level",
        group="Output",
        type=click.IntRange(0, 9),
        default=1,
        show_default=True,
        metavar="0-9",
        help="Compression of a PNG: 0 is none, 1 fast, 9 smallest.",
    ),
    input_limit_option,
    verbose_option,
)


def filter_options(given: dict[str, Any]) -> dict[str, Any]:
    """Return those of a command's options that :class:`Filter` takes, but for the device."""
    return {name: given[name] for name in ("engine", "precision", "work_group_size", "transpose", "edges")}


def refuse(given: dict[str, Any], why: str) -> None:
    """Raise UsageError for the first option that was given."""
    for name, value in given.items():
        if value:
            raise click.UsageError(f"--{name.replace('_', '-')} {why}")
