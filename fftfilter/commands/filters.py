"""``highpass``, ``lowpass`` and the other filters: a picture or a folder filtered."""

from __future__ import annotations

import shlex
from functools import reduce
from itertools import chain
from operator import mul
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..output.modes import MODES, SCALED
from ..transfer import Transfer
from ..transfer.edges import EDGES
from .kinds import KINDS
from .shared import automatic
from .shared.command_options import CommandOptions
from .shared.file import run_file
from .shared.folder import folder_options, run_folder
from .shared.inputs import files_of, is_folder
from .shared.options import (
    GroupedCommand,
    choice_of_device,
    combined,
    engine_option,
    file_options,
    filter_option,
    option,
    pages_option,
    precision_option,
)
from .shared.preview import preview_option

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .kinds import Kind

# Outputs of what has no options for them.
KEPT = {"output": "keep", "scale": "each"}

EXAMPLE = '"lowpass --radius 8px"'

VERIFY = "--verify"
# Files of a folder that --verify compares if it is given no number.
VERIFIED = 10

pixel_size_option = filter_option(
    "--pixel-size",
    metavar="LENGTH",
    help="The size of a pixel, for cutoffs in physical units: 65nm, 0.1mm, 300dpi.  [default: what the file says]",
)


def output_option(default: str) -> Callable[[Any], Any]:
    """Return the option that says what is written."""
    each = [f"{name} ({mode.brief})" for name, mode in MODES.items()]
    return filter_option(
        "--output",
        type=click.Choice(list(MODES)),
        default=default,
        short=f"{', '.join(each[:-1])} or {each[-1]}.",
        help=f"What is written. {'; '.join(f'{name}: {mode.help}' for name, mode in MODES.items())}.",
    )


edges_option = filter_option(
    "--edges",
    type=click.Choice(EDGES),
    default="wrap",
    short="wrap, or mirror: no border shows on the one across.",
    help="What lies beyond the borders. wrap: the picture again; mirror: its mirror image, so that no border shows "
    "on the one across.",
)
scale_option = filter_option(
    "--scale",
    default="each",
    metavar="RANGE",
    help=f"Which values become black and white, for {' and '.join(SCALED)}. each: 0 (signed: minus the largest) and "
    "the picture's largest; folder, stack: the same of the whole folder, of all pages of a file; auto: of each picture "
    "but for 0.35% of the samples, half at each end, or auto:P for P%; LO:HI: two grey levels of IN, such as 0:40.",
)
verify_option = option(
    VERIFY,
    group="Output",
    type=click.IntRange(min=1),
    metavar="[N]",
    help="Read OUT back, compare it with the filter computed in float64, and print how far it is off; of a folder "
    f"N files, spread evenly.  [default of N: {VERIFIED}]",
)
other_options = combined(
    engine_option,
    choice_of_device("; for a folder also all, or several, such as 0,2"),
    precision_option,
    option("--work-group-size", group="Device", type=int, metavar="N", help="Work-items a work-group.  [default: 64]"),
    option(
        "--transpose",
        group="Device",
        type=click.Choice(["tiled", "plain", "float4"]),
        help="Through tiles in local memory, straight, or two numbers at a time.  [default: the engine's own]",
    ),
    option("--profile", group="Device", is_flag=True, help="Print the time of every step on the device."),
    option(
        "--save-stages",
        group="Output",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        help="Save every intermediate result as a picture.",
    ),
    pages_option,
    preview_option,
    file_options,
    option("--strip", group="Output", is_flag=True, help="Leave out color profile, EXIF, resolution and text."),
    option("--preserve-times", group="Output", is_flag=True, help="Give OUT the times of IN."),
    folder_options,
)

HELP = """{what}

IN and OUT are image files, - for standard input and output, or folders; also URLs (s3://bucket/in/). Several IN are
files, and go into the folder OUT.

\b
Example: {examples}
"""


class FilterCommand(GroupedCommand):
    """A command whose --verify may go without a number, and whose --auto without a word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give them their values, for which click would take the IN that follows."""
        for i, (arg, following) in enumerate(zip(args, [*args, ""][1:], strict=True)):
            if arg == "--":
                break
            if arg == VERIFY and not following.isdecimal():
                args[i] = f"{VERIFY}={VERIFIED}"
            if arg == automatic.AUTO and following not in (automatic.EACH, automatic.FOLDER):
                args[i] = f"{automatic.AUTO}={automatic.EACH}"
        return super().parse_args(ctx, args)


def output_options(default: str) -> Callable[[Any], Any]:
    """Return the options that say what filtered values become."""
    return combined(output_option(default), edges_option, scale_option)


def filter_command(kind: Kind) -> click.Command:
    """Return the command of a kind of filter."""
    factors = [each.factor for each in KINDS.values() if each.factor and each is not kind]

    def command(*, sources: tuple[str, ...], target: str, **given: Any) -> int:
        return run(transfer_of(kind.name, sources, given), sources, target, KEPT | given)

    decorated = combined(
        click.argument("sources", metavar="IN...", nargs=-1),
        click.argument("target", metavar="OUT"),
        kind.options,
        pixel_size_option,
        *factors,
        kind.outputs or output_options(kind.output),
        other_options,
        verify_option,
    )(command)
    examples = "\n         ".join(f"fftfilter {kind.name} {each}" for each in kind.examples)
    return click.command(kind.name, cls=FilterCommand, help=HELP.format(what=kind.what, examples=examples))(decorated)


COMMANDS = {kind.name: filter_command(kind) for kind in KINDS.values()}


def transfer_of(name: str, sources: Sequence[str], given: dict[str, Any]) -> Transfer:
    """Return the transfer function that the options of a filter's command describe, and take them away.

    In their place are ``auto``, how peaks are to be found in each picture, ``masks``, the names of their files, and the
    ``method`` of the recipe.
    """
    files = [given.get(kind.name) or () for kind in KINDS.values() if kind.takes_files]
    given["masks"] = tuple(chain.from_iterable(files))
    pixel_size = given.pop("pixel_size")
    mode, given["auto"] = automatic.take_options(given)
    made, given["method"] = KINDS[name].made(given), KINDS[name].method
    for kind in KINDS.values():
        made += map(kind.of, given.pop(kind.name, None) or ())
    if mode == automatic.FOLDER:
        made.append(automatic.of_folder(given["auto"], sources, given))
        given["auto"] = None
    product = reduce(mul, made, Transfer(()))
    return product.with_pixel_size(pixel_size) if pixel_size else product


def run(transfer: Transfer, sources: Sequence[str], target: str, given: dict[str, Any]) -> int:
    """Filter a picture, a folder, or files into a folder, by the rules of ``cp``; return the exit code."""
    from ..files.urls import place, without_file_scheme

    if not sources:
        raise click.UsageError("Missing argument 'OUT'.")
    if not all(sources) or not target:
        raise click.UsageError(f"{'IN' if target else 'OUT'} is an empty name; for this folder give a dot.")
    sources, target = [without_file_scheme(each) for each in sources], without_file_scheme(target)
    if len(sources) == 1 and is_folder(sources[0]):
        return run_folder(place(sources[0]), target, CommandOptions.of(transfer, given))
    if target.endswith("/") or (target != "-" and is_folder(target)):
        return run_folder(files_of(sources), target, CommandOptions.of(transfer, given))
    if len(sources) > 1:
        raise click.UsageError(f"of several IN, OUT must be a folder, and {target!r} is not one.")
    run_file(sources[0], target, CommandOptions.of(transfer, given))
    return 0


# Filters in a text, such as "lowpass --radius 8px"


def split(option: str, text: str) -> list[str]:
    """Return the words of a text that an option has; raises UsageError for none."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = []
    if not words:
        raise click.UsageError(f"{option} {text!r} is not a filter: give one such as {EXAMPLE}.")
    return words


def context_of(context: click.Context, words: Sequence[str], source: str, target: str) -> click.Context:
    """Return a filter's command with its options as click parses them, with IN and OUT behind; raises UsageError."""
    name, *options = words
    return COMMANDS[name].make_context(name, [*options, "--", source, target], parent=context.find_root())


def parsed(context: click.Context, words: Sequence[str], source: str, target: str, option: str) -> dict[str, Any]:
    """Return the values of all options of a filter's command; raises UsageError, also for an IN or OUT among them."""
    if words[0] not in COMMANDS:
        raise click.UsageError(f"{option}: {words[0]!r} is not a filter: give one such as {EXAMPLE}.")
    given = context_of(context, words, source, target).params
    if given.pop("sources") != (source,) or given.pop("target") != target:
        raise click.UsageError(f"{option} {shlex.join(words)!r}: give options only, as IN and OUT stand at the end.")
    return given
