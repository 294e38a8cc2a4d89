"""``apply``: filter by a recipe, the arguments of another command in a file, or show them; and its way in Python."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..errors import ParameterError, without_secrets
from ..files.messages import STANDARD_STREAM, shown
from ..output.modes import EACH, FOLDER, Range
from . import filters
from .options import GroupedOption, file_names, several, typed

if TYPE_CHECKING:
    from ..filters import Filter
    from ..transfer import Transfer
    from ..work.recipe import Recipe
    from ..work.saved import Saved

# Of all parts, and of the notches among them: each takes time, on the smallest picture, too.
MOST_PARTS, MOST_PEAKS = 2000, 20_000
# A name of another machine: a URL, or a share of Windows.
ELSEWHERE = r"([A-Za-z][A-Za-z0-9+.-]*:)?(//|\\\\)"


@click.command(cls=filters.FilterCommand)
@click.argument("file", metavar="RECIPE", shell_complete=file_names)
@click.argument("names", metavar="IN... OUT", nargs=-1, shell_complete=file_names)
@GroupedOption(
    "--fetch-masks",
    group="Filter",
    is_flag=True,
    help="Fetch masks that the recipe names by URLs; without it such a recipe is refused.",
)
@GroupedOption(
    "--show",
    group="Filter",
    is_flag=True,
    everyday=True,
    help="Print the recipe as a command line and in Python; filter and fetch nothing. IN and OUT are left out.",
)
@several(*filters.other_options)
@filters.verify_option
@click.pass_context
def apply(
    context: click.Context, /, *, file: str, names: tuple[str, ...], show: bool, fetch_masks: bool, **_: Any
) -> int:
    """Filter as a recipe says, a file that --save-recipe wrote.

    IN and OUT are as for filters: files, folders, URLs, or - for standard input and output. Options that are given go
    before the recipe's.

    \b
    Example: fftfilter apply soft.json photos/ soft/
             fftfilter apply --show soft.json
    """
    if show and (names or fetch_masks):
        raise click.UsageError("--show takes a recipe alone, and fetches nothing: leave the others out.")
    if not (show or names):
        raise click.UsageError("Missing argument 'IN... OUT'.")
    saved = read(file, fetches=show or fetch_masks)
    saved = saved._replace(
        arguments=filters.kept_words([*saved.arguments, *filters.kept_words_of(context, typed(context))])
    )
    if show:
        lines = [without_secrets(f"fftfilter {shlex.join(saved.arguments)} IN OUT")]
        if not re.search(r"//|\\\\", lines[0]):  # nothing that may be of another machine is read
            lines.append(_python(options_of(saved, file).recipe))
        for line in lines:
            click.echo("".join(each if each.isprintable() else ascii(each)[1:-1] for each in line))
        return 0
    options = options_of(saved, file, context.params | {"sources": names[:-1]})
    return filters.dispatch(options, names[:-1], names[-1])


def _python(recipe: Recipe) -> str:
    """Return what makes the filter of a recipe in Python; a pixel size that is each picture's own is left open."""
    from ..text import RADIANS

    transfer, lacking = recipe.transfer, recipe.transfer.lacks_pixel_size
    if lacking:
        recipe = replace(recipe, transfer=transfer.with_pixel_size("1arcsec" if lacking.unit in RADIANS else "1m"))
    made = re.sub(r"(?<=with_pixel_size)\(.*?\)", "(...)" if lacking else r"\g<0>", repr(filter_of(recipe)))
    further = _for_files(recipe)
    return f"{made}  # without {', '.join(further)}: for files alone" if further else made


def _for_files(recipe: Recipe) -> list[str]:
    """Return the options of a recipe that a filter of arrays cannot follow."""
    rule = recipe.missing
    given = {"scale": recipe.span != EACH, "missing": rule.by or rule.mask, "nodata": rule.nodata is not None}
    return [name for name, is_given in given.items() if is_given]


def read(file: str | os.PathLike[str], *, fetches: bool = False) -> Saved:
    """Return the recipe in a file, with each option as one word, and names of masks from the current folder.

    It reads no mask. Raises ReadError, and ParameterError for options that no recipe may have, and, unless ``fetches``,
    for the names of other machines.
    """
    from ..work import saved

    given, name, folder = saved.read(file), shown(file, "standard input"), saved.folder_of(file)

    def place(mask: str) -> str:
        if "\0" in mask or mask == STANDARD_STREAM:
            raise ParameterError(f"{name}: {mask!r} is no name: give that of a mask")
        if not re.match(ELSEWHERE, mask):
            return os.path.normpath(os.path.join(folder, mask)) if folder else mask  # noqa: PTH118
        if not fetches:
            said = f"names {without_secrets(mask)[:60]!r}, and nothing is fetched for a recipe"
            raise ParameterError(f"{name}: {said}: --fetch-masks (in Python fetch_masks=True) does, if you trust it")
        return mask

    with filters.as_parameter_errors(name):
        words = filters.kept_words(given.arguments)
    if f"{filters.AUTO}={FOLDER}" in words:
        what = f"{filters.AUTO} {FOLDER}"
        raise ParameterError(f"{name}: {what} is for command lines: a recipe has the notches that were found")
    return given._replace(arguments=words).renamed(place)


def options_of(
    saved: Saved, file: str | os.PathLike[str], others: Mapping[str, Any] | None = None
) -> filters.CommandOptions:
    """Return what a command with a recipe's arguments describes; ``others`` are the values of its other options.

    Raises FftfilterError, in which what is wrong with the arguments begins with the name of the file.
    """
    name = shown(file, "standard input")
    with filters.as_parameter_errors(name):
        made = filters.context_of(click.Context(apply), saved.arguments, "IN", "OUT")
        kept = {each.name for each in filters.kept_of(made.command.params)}
        made.params |= {each: value for each, value in (others or {}).items() if each not in kept}
        options = filters.options_of(made, os.fspath(file))
    check_bounds(options.recipe.transfer, name)
    for mask, digest in options.recipe.masks.items():
        if saved.digests.get(mask, digest) != digest:
            line = "has changed since the recipe was saved: restore it, or save the recipe again"
            raise ParameterError(f"{name}: {without_secrets(mask)} {line}")
    return options


def check_bounds(transfer: Transfer, name: str) -> None:
    """Raise ParameterError for more parts than anybody needs; each takes time, on the smallest picture, too."""
    from ..transfer.peaks import Notch

    notches = [part for part in transfer.parts if isinstance(part, Notch)]
    peaks = sum(min(each.harmonics, 0.5 / max(map(abs, each.at))) * (2 + 2 * each.mirrored) for each in notches)
    if len(transfer.parts) > MOST_PARTS or peaks > MOST_PEAKS:
        said = f"has {len(transfer.parts):,} parts, and notches with {peaks:,.0f} peaks"
        raise ParameterError(f"{name}: {said}: give at most {MOST_PARTS:,} and {MOST_PEAKS:,}")


# In Python


def filter_of(recipe: Recipe) -> Filter:
    """Return the filter of a recipe, whose device is opened on first use."""
    options = recipe.how.arguments(recipe) | ({"auto": recipe.auto} if recipe.auto else {})
    if options["precision"] == "single":
        del options["precision"]  # arrays of doubles are filtered as in other filters
    if scale := recipe.scale:  # as Python gives it
        options["scale"] = scale[:2] if isinstance(scale, Range) else ("auto", scale.saturated)
    return recipe.how.maker().unopened(recipe.transfer, options)


def load_filter(
    file: str | os.PathLike[str],
    device: str | int | None = None,
    *,
    pixel_size: str | float | None = None,
    fetch_masks: bool = False,
) -> Filter:
    """Return the filter that the file of a recipe describes, on a device; ``transfer`` of it is its transfer function.

    Args:
        file: The name of the file of a recipe, or of a picture with one.
        device: As that of :class:`fftfilter.Filter`.
        pixel_size: The side of a pixel, for physical radii of a recipe without one.
        fetch_masks: Whether masks that are named by URLs are fetched.

    Raises:
        ReadError: For a file that cannot be read.
        ParameterError: For one that is no recipe, or is for files alone: with missing pixels, or one range for several.
        DeviceError: Without a usable device.

    Examples:
        >>> fftfilter.save_filter(H.lowpass("8px"), "soft.json")
        >>> soft = fftfilter.load_filter("soft.json")
        >>> soft
        Filter(H.lowpass('8px'))

    """
    recipe = options_of(read(file, fetches=fetch_masks), file).recipe
    if further := _for_files(recipe):
        raise ParameterError(
            f"{shown(file, 'standard input')}: has {further[0]!r}, which is for files: use fftfilter apply"
        )
    if pixel_size is not None:
        recipe = replace(recipe, transfer=recipe.transfer.with_pixel_size(pixel_size))
    return filter_of(recipe).with_options(device=device)
