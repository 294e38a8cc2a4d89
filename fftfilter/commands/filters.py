"""``highpass``, ``lowpass`` and the other filters: their commands, and the options of all of them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from operator import mul
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..images.formats import Coding
from ..output.modes import EACH, FOLDER, MODES, SCALED, STACK, parse_scale
from ..transfer import Transfer
from ..transfer.edges import EDGES
from .kinds import KINDS
from .shared import automatic
from .shared.file import run_file
from .shared.folder import files_of, folder_options, is_folder, run_folder
from .shared.options import (
    STUDY,
    GroupedCommand,
    choice_of_device,
    combined,
    engine_option,
    file_options,
    filter_option,
    option,
    pages_of,
    pages_option,
    precision_option,
    refuse,
)
from .shared.preview import preview_option

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..output.modes import Output
    from ..transfer.edges import Edges
    from ..work.recipe import Recipe
    from .kinds import Kind

OF_FOLDERS = ("recursive", "pattern", "skip_existing", "fail_fast", "dry_run", "report", "cluster", "processes")
OF_ONE_PICTURE = ("profile", "save_stages", "input_limit")
# Those of a recipe's filter.
OF_FILTERS = ("engine", "precision", "work_group_size", "transpose", "edges", "autoscale", "saturate")
# The outputs of commands without options for them.
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


scale_option = filter_option(
    "--scale",
    default="each",
    metavar="RANGE",
    help=f"Which values become black and white, for {' and '.join(SCALED)}. each: 0 (signed: minus the largest) and "
    "the picture's largest; folder, stack: likewise, with the largest of the whole folder or of all pages of a file; "
    "auto: as each, without the most extreme 0.35% of the samples, half at each end, or auto:P for P%; LO:HI: two grey "
    "levels of IN, such as 0:40.",
)
verify_option = option(
    VERIFY,
    group="Output",
    type=click.IntRange(min=1),
    metavar="[N]",
    help="Read OUT back, compare it with the filter computed in float64, and print how far it is off; in a folder, do "
    f"so for N files, spread evenly.  [default of N: {VERIFIED}]",
)
other_options = combined(
    engine_option,
    choice_of_device("; for a folder also all, or several, such as 0,2"),
    precision_option,
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
    option("--work-group-size", group=STUDY, type=int, metavar="N", help="Work-items per work-group.  [default: 64]"),
    option(
        "--transpose",
        group=STUDY,
        type=click.Choice(["tiled", "plain", "float4"]),
        help="Transpose through tiles in local memory, directly, or by two numbers.  [default: the engine's own]",
    ),
)

HELP = """{what}

IN and OUT are image files, folders, URLs (s3://bucket/in/), or - for standard input and output. With several
IN, which must be files, OUT is a folder.

\b
Example: {examples}
"""


class FilterCommand(GroupedCommand):
    """A command whose --verify needs no number and whose --auto needs no word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert the missing values, as click would take the IN that follows for them."""
        for i, (arg, following) in enumerate(zip(args, [*args, ""][1:], strict=True)):
            if arg == "--":
                break
            if arg == VERIFY and not following.isdecimal():
                args[i] = f"{VERIFY}={VERIFIED}"
            if arg == automatic.AUTO and following not in (automatic.EACH, automatic.FOLDER):
                args[i] = f"{automatic.AUTO}={automatic.EACH}"
        return super().parse_args(ctx, args)


def output_options(default: Output, edges: Edges) -> Callable[[Any], Any]:
    """Return the options that say what filtered values become, with their defaults."""
    each = [f"{name} ({mode.brief})" for name, mode in MODES.items()]
    output_option = filter_option(
        "--output",
        type=click.Choice(list(MODES)),
        default=default,
        short=f"{', '.join(each[:-1])} or {each[-1]}.",
        help=f"What is written. {'; '.join(f'{name}: {mode.help}' for name, mode in MODES.items())}.",
    )
    edges_option = filter_option(
        "--edges",
        type=click.Choice(EDGES),
        default=edges,
        short="wrap, or mirror: no border shows on the opposite one.",
        help="What lies beyond the borders. wrap: the picture again; mirror: its mirror image, which keeps a border "
        "from showing on the opposite one.",
    )
    return combined(output_option, edges_option, scale_option)


def filter_command(kind: Kind) -> click.Command:
    """Return the command of a kind of filter."""
    factors = [each.factor for each in KINDS.values() if each.factor and each is not kind and kind.takes_others]

    def command(*, sources: tuple[str, ...], target: str, **given: Any) -> int:
        return run(transfer_of(kind.name, sources, given), sources, target, KEPT | given)

    decorated = combined(
        click.argument("sources", metavar="IN...", nargs=-1),
        click.argument("target", metavar="OUT"),
        kind.options,
        pixel_size_option,
        *factors,
        kind.outputs or output_options(kind.output, kind.edges),
        other_options,
        verify_option,
    )(command)
    examples = "\n         ".join(f"fftfilter {kind.name} {each}" for each in kind.examples)
    return click.command(kind.name, cls=FilterCommand, help=HELP.format(what=kind.what, examples=examples))(decorated)


COMMANDS = {kind.name: filter_command(kind) for kind in KINDS.values()}


@dataclass(eq=False, repr=False)  # what it writes code for takes time
class CommandOptions:
    """The options of a filter command, for one picture or for a folder."""

    recipe: Recipe
    device: str | None
    profile: bool
    save_stages: Path | None
    preview: str | None
    in_place: bool
    input_limit: int | None
    verify: int | None
    quiet: bool
    verbose: int
    masks: tuple[str, ...]
    """Files of gains, which are also inputs."""
    recursive: bool
    pattern: tuple[str, ...]
    skip_existing: bool
    fail_fast: bool
    dry_run: bool
    report: Path | None
    cluster: str | None
    processes: int | None

    @classmethod
    def of(cls, transfer: Transfer, given: dict[str, Any]) -> CommandOptions:
        """Take the options from those of a command, whose filter is ``transfer``; raises ParameterError."""
        others = [name for name in cls.__dataclass_fields__ if name != "recipe"]
        return cls(recipe_of(transfer, given), **{name: given[name] for name in others})

    def chosen(self, *names: str) -> dict[str, Any]:
        """Return some of the options by their names."""
        return {name: getattr(self, name) for name in names}

    def check_for_file(self, source: str, target: str) -> None:
        """Refuse what means nothing for one picture; raises UsageError."""
        from ..files.urls import is_url

        refuse(self.chosen(*OF_FOLDERS), "is for folders, and IN is a file.")
        if self.recipe.format and target != "-":
            raise click.UsageError("--format is for folders and standard output: the extension of OUT says its format.")
        if self.recipe.span == FOLDER:
            raise click.UsageError("--scale folder is for folders, and IN is a file: give each, stack, auto or LO:HI.")
        if self.device and (self.device == "all" or "," in self.device):
            raise click.UsageError(f"--device {self.device} is for folders: one picture takes one device.")
        if self.recipe.preserve_times and "-" in (source, target):
            raise click.UsageError("--preserve-times needs two files: standard input and output have no times.")
        if self.recipe.preserve_times and (is_url(source) or is_url(target)):
            raise click.UsageError("--preserve-times needs two files of a file system: a URL has no times.")

    def check_for_folder(self, target: str) -> None:
        """Refuse what means nothing for a folder; raises UsageError."""
        refuse(self.chosen(*OF_ONE_PICTURE), "is for one picture, and this is a folder.")
        if target == "-":
            raise click.UsageError("IN is a folder, so OUT must be one, not standard output.")
        if self.in_place and self.skip_existing:
            raise click.UsageError("--skip-existing needs the inputs as they were, which --in-place overwrites.")
        if self.verify and self.dry_run:
            raise click.UsageError("--verify compares what was written, and --dry-run writes nothing.")
        if self.processes and self.cluster not in (None, "local"):
            raise click.UsageError(
                "--processes is for this machine: a cluster has the workers that were started for it."
            )


def recipe_of(transfer: Transfer, given: dict[str, Any]) -> Recipe:
    """Return the recipe that the options of a filter command describe; raises ParameterError."""
    from ..work.recipe import Recipe

    options = {name: given[name] for name in OF_FILTERS if name in given}
    if given["save_stages"]:
        options["engine"] = options["engine"] or "book"  # the fused engine has no results between
    scale = given["scale"]
    return Recipe(
        transfer,
        method=given["method"],
        options=options,
        output=given["output"],
        scale=parse_scale(scale),
        span=scale if scale in (FOLDER, STACK) else EACH,
        pages=pages_of(given),
        auto=given["auto"],
        coding=Coding(given["png_level"], given["quality"], given["compression"]),
        format=given["format_"],
        strip=given["strip"],
        preserve_times=given["preserve_times"],
    )


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
        raise click.UsageError(f"{'IN' if target else 'OUT'} is an empty name: give a dot for the current folder.")
    sources, target = [without_file_scheme(each) for each in sources], without_file_scheme(target)
    if len(sources) == 1 and is_folder(sources[0]):
        return run_folder(place(sources[0]), target, CommandOptions.of(transfer, given))
    if target.endswith("/") or (target != "-" and is_folder(target)):
        return run_folder(files_of(sources), target, CommandOptions.of(transfer, given))
    if len(sources) > 1:
        raise click.UsageError(f"with several IN, OUT must be a folder, and {target!r} is not one.")
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
