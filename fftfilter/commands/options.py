"""Options that several commands share, and help under headings."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from inspect import cleandoc
from itertools import takewhile
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..errors import ParameterError, without_secrets
from ..files.messages import saying_so
from ..images.formats import COMPRESSIONS, Coding
from ..images.pages import ALL, PALETTES, Asked, hdu_of
from ..text import bytes_of

if TYPE_CHECKING:
    from ..work.recipe import Recipe

F = TypeVar("F", bound="Callable[..., Any]")

# The heading of the options that only a student of the book's algorithms needs.
STUDY = "Study"
# What an option may be for alone: folders, one file, or one picture in it.
FOLDERS, ONE_FILE, ONE_PICTURE = "folders", "one file", "one picture"


def _verbosity(context: click.Context, _: click.Parameter, value: int) -> int:
    # Where the group looks when an error ends the command.
    context.find_root().command.verbosity = value  # type: ignore[attr-defined]
    return value


def file_names(_: click.Context, __: click.Parameter, incomplete: str) -> list[Any]:
    """Return what the Tab key offers for the name of a file: the shell knows the files."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


class GroupedOption(click.Option):
    """An option under a heading of the help; -h shows those of ``everyday``, with the first sentence of their help.

    Behind a name stands what the help calls the value, as one types it: ``--radius R``. ``kept`` says that recipes may
    have it, which may be somebody else's: it decides what an output holds, and writes nothing. ``only`` is what it is
    for, if not for every input.
    """

    def __init__(
        self,
        *names: str,
        group: str = "Options",
        everyday: bool = False,
        kept: bool = False,
        only: str = "",
        **attributes: Any,
    ) -> None:
        metavar = "".join(each.partition(" ")[2] for each in names) or None
        completes = file_names if re.search("FILE|MASK", metavar or "") else None
        attributes |= {"metavar": metavar, "shell_complete": completes, "show_default": "default" in attributes}
        super().__init__([each.partition(" ")[0] for each in names], **attributes)
        self.group, self.everyday, self.kept, self.only = group, everyday, kept, only

    def __call__(self, function: F) -> F:
        """Give a function the option, as a decorator."""
        vars(function).setdefault("__click_params__", []).append(self)
        return function

    @property
    def name_and_sentence(self) -> tuple[str, str]:
        """The option as one types it, ``--radius R``, and the first sentence of its help."""
        value = "" if self.is_flag or self.count else f" {self.metavar or str(self.name).upper()}"
        return ", ".join(sorted(self.opts, key=len)) + value, re.split(r"(?<=\.)\s", str(self.help))[0]


def several(*options: GroupedOption) -> Callable[[F], F]:
    """Return a decorator that gives a function several options, in their order."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            option(function)
        return function

    return decorate


class GroupedCommand(click.Command):
    """A command whose help has its options under headings; -h shows the everyday ones on one screen."""

    def __init__(self, *arguments: Any, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        if any(getattr(parameter, "everyday", False) for parameter in self.params):
            show = partial(click.Option, is_flag=True, is_eager=True, expose_value=False, callback=self._show_everyday)
            self.params.append(show(["-h"], help="Show the everyday options and exit."))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; raises NoSuchOption for a long option with one dash, which click would take apart."""
        known = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        for name in (each.partition("=")[0] for each in takewhile(lambda each: each != "--", args)):
            if name.startswith("-") and f"-{name}" in known:
                raise click.NoSuchOption(name, possibilities=[f"-{name}"], ctx=ctx)
        return super().parse_args(ctx, args)

    def _show_everyday(self, ctx: click.Context, _: click.Parameter, asked: bool) -> None:
        if not asked or ctx.resilient_parsing:
            return
        formatter = ctx.make_formatter()
        self.format_usage(ctx, formatter)
        first, *others = cleandoc(self.help or "").split("\n\n")
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text("\n\n".join([first, *(each for each in others if each.startswith("\b"))]))
        everyday = [each for each in self.params if isinstance(each, GroupedOption) and each.everyday]
        with formatter.section("Everyday options"):
            formatter.write_dl([*(each.name_and_sentence for each in everyday), ("--help", "All options.")])
        click.echo(formatter.getvalue(), nl=False)
        ctx.exit()

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options into the help."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if record := isinstance(parameter, click.Option) and parameter.get_help_record(ctx):
                groups.setdefault(getattr(parameter, "group", "Options"), []).append(record)
        last = {"Options": 1, STUDY: 2}
        for group in sorted(groups, key=lambda each: last.get(each, 0)):
            with formatter.section(group):
                formatter.write_dl(groups[group])


filter_option = partial(GroupedOption, group="Filter", kept=True)
result_option = partial(GroupedOption, group="Result", kept=True)
of_device = partial(GroupedOption, group="Device")
input_option = partial(GroupedOption, group="Input", kept=True)
output_option = partial(GroupedOption, group="Output file", kept=True)
check_option = partial(GroupedOption, group="Checks")
folder_option = partial(GroupedOption, group="Folders", only=FOLDERS)


def choice_of_device(further: str = "") -> GroupedOption:
    """Return --device; ``further`` is what else it takes."""
    return of_device(
        "--device DEVICE",
        envvar="FFTFILTER_DEVICE",
        show_envvar=True,
        help="auto, gpu, cpu, numpy, or an index or a part of a name from 'fftfilter devices'"
        f"{further}. auto, the default, is a GPU, else the best CPU runtime; small work goes to the CPU, so that no "
        "GPU's driver has to load (-v says so), and a small picture alone to NumPy.",
    )


device_option = choice_of_device()

_verbose_help = "Say what is done; twice: show where an error came from."
verbose_option = GroupedOption("-v", "--verbose", count=True, callback=_verbosity, help=_verbose_help)
# For commands that say no more.
trace_option = GroupedOption(
    *verbose_option.opts, count=True, callback=_verbosity, expose_value=False, help=_verbose_help
)

ignore_option = filter_option(
    "--ignore MASK|X,Y,W,H",
    group="Automatic",
    help="Where nothing is looked for, such as stars, particles or text: a mask that is not 0 there, or a rectangle. "
    "Waves, stripes, noise and the background of a high-pass are found in the other pixels, and removed from all.",
)
engine_option = of_device(
    "--engine NAME",
    kept=True,
    help="fused, numpy, which does without OpenCL, or an algorithm from 'fftfilter engines'.  [default: fused; book "
    "for options that need its steps; numpy for a small picture alone, and where no OpenCL device works]",
)

precision_option = of_device(
    "--precision",
    kept=True,
    type=click.Choice(["single", "double"]),
    default="single",
    help="The precision of the computation; double needs a device with fp64.",
)


def _bytes(_: click.Context, __: click.Parameter, given: str | None) -> int | None:
    if given is None:
        return None
    try:
        return bytes_of(given)
    except ParameterError as error:
        raise click.BadParameter(f"{error}.") from None


log_option = GroupedOption(
    "--log",
    type=click.Choice(["text", "json"]),
    expose_value=False,
    help="What standard error gets: text, or for programs a line of JSON for each event.  [default: text]",
)

input_limit_option = input_option(
    "--input-limit SIZE",
    kept=False,
    only=ONE_FILE,
    callback=_bytes,
    help="The most bytes to read from an IN of unknown length: standard input, pipes, URLs.  [default: half of the "
    "free memory]",
)

memory_options = [
    of_device(
        "--memory SIZE",
        only=ONE_FILE,
        callback=_bytes,
        help="The most memory to take, such as 2GB. A picture that takes more is filtered strip by strip.  [default: "
        "what is free]",
    ),
    of_device(
        "--scratch DIR",
        only=ONE_FILE,
        type=click.Path(exists=True, file_okay=False, writable=True),
        help="The folder for a temporary file, if strips need one.  [default: that of OUT]",
    ),
]

file_options = [
    output_option("--in-place", kept=False, is_flag=True, help="Allow OUT to be IN: overwrite the input."),
    output_option(
        "--png-level 0-9",
        type=click.IntRange(0, 9),
        default=1,
        help="The compression of a PNG: 0 is none, 1 is fast, 9 is smallest.",
    ),
    output_option(
        "--quality 1-100",
        type=click.IntRange(1, 100),
        help="The quality of a JPEG or AVIF, or of a WebP, which becomes lossy.  [default: 95; a WebP is lossless]",
    ),
    output_option(
        "--compression",
        type=click.Choice(list(COMPRESSIONS)),
        help="The compression of a TIFF.  [default: as IN, or none]",
    ),
    input_limit_option,
    log_option,
    verbose_option,
]


def device_for(device: str | None, recipe: Recipe, file_bytes: float, *, verbose: int) -> str | None:
    """Return the device for the work of this process, which auto may decide before OpenCL loads; with -v say so."""
    from .. import device_choice

    taken = device_choice.for_small_work(device, math.inf if recipe.needs_staged else file_bytes)
    if taken != device and verbose:
        click.echo("on the CPU: the work is small, and no GPU's driver has to load; --device gpu takes a GPU", err=True)
    return taken


pages_option = input_option(
    "--pages A-B",
    help="Only these pages, or frames of an animation, counted from 1; also A-, -B, A-B:STEP, and "
    "lists with commas.  [default: all]",
)
reading_options = [
    *(
        input_option(
            f"--{axis} N",
            group="Axes that a file names",
            type=click.IntRange(min=1),
            help=f"Only {what} N of a TIFF whose description names its axes (ImageJ, OME); OUT has no others.",
        )
        for axis, what in (("channel", "channel"), ("z", "slice"), ("time", "point in time"))
    ),
    input_option(
        "--hdu N|NAME|all",
        help="The HDU of a FITS, from 0, or NAME[,VERSION].  [default: the first with a picture]",
    ),
    input_option(
        "--level N",
        type=click.IntRange(min=0),
        help="The level of the pyramid of an OME-Zarr.  [default: 0, the finest]",
    ),
    input_option(
        "--palette",
        type=click.Choice(PALETTES),
        help="What a palette is. table: a look-up table of intensities, which stays, and its indices are filtered; "
        "colors: RGB is filtered; auto: a table if its 256 colors change smoothly.  [default: auto]",
    ),
]

missing_options = [
    input_option(
        "--missing alpha|none|MASK",
        help="Which pixels are missing, and stay as they are: alpha, the fully transparent ones; none; or a mask, "
        "black where IN is valid. NaN is always missing.  [default: alpha, and the file's own nodata value]",
    ),
    input_option(
        "--nodata VALUE",
        type=float,
        help="The value of samples that are missing, such as -9999.  [default: what a GeoTIFF or a FITS says]",
    ),
]


def pages_of(given: Mapping[str, Any]) -> Asked:
    """Return what --pages, --hdu, --level and --palette ask for of a file; raises ParameterError."""
    asked = ALL if given["pages"] is None else Asked.parse(given["pages"])
    asked = asked._replace(place=tuple((axis, given[axis]) for axis in ("channel", "z", "time") if given[axis]))
    return asked._replace(hdu=hdu_of(given["hdu"]), palette=given["palette"] or "auto", level=given["level"])


def coding_of(given: Mapping[str, Any]) -> Coding:
    """Return how an output is coded, by the values of options."""
    return Coding(given["png_level"], given["quality"], given["compression"])


def typed(context: click.Context) -> dict[str, Any]:
    """Return the values of those options and arguments that stand on the command line."""
    source = click.core.ParameterSource.COMMANDLINE
    return {name: each for name, each in context.params.items() if context.get_parameter_source(name) is source}


def remark(*lines: object, quiet: bool = False) -> None:
    """Print what the program itself has to say on standard error, a line each, unless it is to be quiet."""
    for line in () if quiet else lines:
        click.echo(without_secrets(f"fftfilter: {line}"), err=True)


def tell_of_compiling(*, quiet: bool) -> None:
    """Show a line while programs are compiled, if standard error is a terminal and not ``quiet``."""
    if not quiet and sys.stderr.isatty():
        from ..device import opencl

        opencl.while_building = saying_so


def refuse(given: Mapping[str, Any], names: Iterable[str], why: str) -> None:
    """Raise UsageError for the first of some options that was given."""
    for name in names:
        if given[name]:
            raise click.UsageError(f"--{name.replace('_', '-')} {why}")
