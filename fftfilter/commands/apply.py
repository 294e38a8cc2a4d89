"""``apply``: filter as a recipe says, or show what it says in other words.

A recipe has the transfer function, and options by their long names, which are parsed as on a command line.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from .. import images
from ..errors import FftfilterError, ParameterError, check_option
from ..files.messages import shown
from ..files.sources import checked_digest
from ..output.modes import FOLDER, STACK
from . import filters
from .kinds import KINDS
from .shared.automatic import take_options
from .shared.options import GroupedOption, file_names, typed

if TYPE_CHECKING:
    from ..filters import Filter
    from ..transfer import Transfer
    from ..transfer.part import Part
    from ..work.recipe import MethodName, Recipe
    from .kinds import Kind

# Options that may name a mask, and values of these that do not.
MASKS, NO_MASK = ("missing", "region", "protect"), r"alpha|none|[-+.,\d\s]*"
# Options that a filter of arrays cannot follow.
FOR_FILES = ("missing", "nodata")

OPTIONS = [
    GroupedOption(
        "--fetch-masks",
        group="Filter",
        is_flag=True,
        help="Fetch masks that the recipe names by URLs; without it such a recipe is refused.",
    ),
    GroupedOption(
        "--show",
        group="Filter",
        is_flag=True,
        short="Print the recipe as a command line and in Python; filter nothing.",
        help="Print the recipe as a command line and in Python; filter nothing. IN and OUT are left out.",
    ),
    *filters.other_options,
    filters.verify_option,
]


@click.command(cls=filters.FilterCommand, params=OPTIONS)
@click.argument("file", metavar="RECIPE", shell_complete=file_names)
@click.argument("names", metavar="IN... OUT", nargs=-1, shell_complete=file_names)
@click.pass_context
def apply(
    context: click.Context, /, *, file: str, names: tuple[str, ...], show: bool, fetch_masks: bool, **given: Any
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
    recipe = load(file, typed(context), fetch_masks=fetch_masks)
    if show:
        words = words_of(context, recipe)
        click.echo(f"fftfilter {shlex.join(words)} IN OUT" if words else "no command line says the same")
        further = _for_files(recipe)
        click.echo(_python(recipe) + (f"  # without {', '.join(further)}: for files alone" if further else ""))
        return 0
    if not names:
        raise click.UsageError("Missing argument 'IN... OUT'.")
    return filters.dispatch(filters.of_recipe(recipe, given, file), names[:-1], names[-1])


def _python(recipe: Recipe) -> str:
    """Return what makes the filter of a recipe in Python; a pixel size that is each picture's own is left open."""
    from ..text import RADIANS
    from ..work.saved import described

    transfer, lacking = recipe.transfer, recipe.transfer.lacks_pixel_size
    if lacking:
        recipe = replace(recipe, transfer=transfer.with_pixel_size("1arcsec" if lacking.unit in RADIANS else "1m"))
    return re.sub(r"(?<=with_pixel_size)\(.*?\)", "(...)" if lacking else r"\g<0>", repr(described(recipe)))


def load(file: str | os.PathLike[str], others: Mapping[str, Any] | None = None, *, fetch_masks: bool = False) -> Recipe:
    """Return the recipe in a file, with ``others`` in place of its own options; raises ReadError, ParameterError."""
    from ..transfer import saved

    given = saved.read(file, fetch_masks=fetch_masks)
    return from_json(given, shown(file, "standard input"), saved.folder_of(file), others)


def load_filter(file: str | os.PathLike[str], device: str | int | None = None, *, fetch_masks: bool = False) -> Filter:
    """Return the filter that the file of a recipe describes, on a device.

    ``fetch_masks`` allows it to name masks by URLs, which are fetched. Raises ReadError, DeviceError without a usable
    device, and ParameterError, also for a recipe that a filter of arrays cannot follow, as it has one range for
    several, or missing pixels.

        soft = fftfilter.load_filter("soft.json")
        result = soft(image)
    """
    from ..work.saved import described

    recipe = load(file, fetch_masks=fetch_masks)
    if further := _for_files(recipe):
        raise ParameterError(
            f"{shown(file, 'standard input')}: has {further[0]!r}, which is for files: use fftfilter apply"
        )
    return described(recipe).with_options(device=device)


def _for_files(recipe: Recipe) -> list[str]:
    from ..work.saved import settings

    return [name for name, each in settings(recipe).items() if name in FOR_FILES or each in (FOLDER, STACK)]


# From JSON


def from_json(given: Mapping[str, Any], name: str, folder: str = "", others: Mapping[str, Any] | None = None) -> Recipe:
    """Return the recipe that ``to_json`` gave; raises ParameterError, which begins with ``name``, and ReadError."""
    from ..transfer import saved
    from ..work.recipe import METHODS

    if "transfer" not in given:
        raise ParameterError(f"{name}: a recipe needs 'transfer', the list of its parts: give it")
    transfer = saved.from_json(given["transfer"], f"{name}: transfer", folder)
    options = {key: each for key, each in given.items() if key not in ("transfer", "method")}
    try:
        if not isinstance(given.get("method", ""), str):
            raise saved.wrong_type("method", given["method"], "a text")
        check_option("method", method := given.get("method", "plain"), METHODS)
        values = _parsed(method, options, folder)
        recipe = _made(transfer, method, values)
    except click.ClickException as error:
        raise ParameterError(f"{name}: {error.format_message()}") from error
    except ParameterError as error:
        raise ParameterError(f"{name}: {error}") from error
    return _made(transfer, method, {**values, **others}) if others else recipe


def _made(transfer: Transfer, method: MethodName, values: Mapping[str, Any]) -> Recipe:
    mode, auto = take_options(given := dict(values))
    if mode == FOLDER:
        raise ParameterError("auto folder is for command lines: a recipe has the notches that were found")
    if method == "descreen" and [part.kind for part in transfer.parts] != ["descreen"]:
        raise ParameterError("a recipe of the method descreen has one part, which is of that kind")
    return filters.recipe_of(transfer, method, auto, given)


def _parsed(method: MethodName, given: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """Return the values of all options of a method's recipes, by their names in Python; raises UsageError, too."""
    from ..transfer import saved

    kind = replace(KINDS["notch"], output="magnitude") if method == "plain" else KINDS[method]  # which has --auto
    others = {*filters.CommandOptions.__dataclass_fields__, *KINDS, *kind.parameters, "pixel_size"} - {"shape"}
    params = [each for each in filters.filter_command(kind).params if isinstance(each, GroupedOption)]
    known = {each.opts[-1].removeprefix("--"): each for each in params if each.name not in others}
    saved.refuse_unknown(given, sorted([*known, "engine-options"]), "a recipe")
    said = dict(given)
    of_engine = said.pop("engine-options", {})
    for name, value in said.items():
        is_flag, several = known[name].is_flag, known[name].multiple
        if name in MASKS and not re.fullmatch(NO_MASK, str(value)):
            said[name] = _mask(name, value, folder)
        elif is_flag != isinstance(value, bool) or not isinstance(value, list if several else str | int | float):
            wanted = "true or false" if is_flag else "a list of texts" if several else "a text or a number"
            raise saved.wrong_type(name, value, wanted)
    if not isinstance(of_engine, dict) or not all(isinstance(each, str | int) for each in of_engine.values()):
        raise saved.wrong_type("engine-options", of_engine, 'an object of texts and numbers, as {"radix": 4}')
    command = click.Command("apply", params=[*known.values()], add_help_option=False)
    values = command.make_context("apply", [], default_map={known[name].name: each for name, each in said.items()})
    return values.params | ({"engine_options": of_engine} if of_engine else {})


def _mask(name: str, given: Any, folder: str) -> str:
    """Return the name of a mask's file, which leads there from the current folder, if it has its digest."""
    from ..transfer import saved

    mask = given if isinstance(given, dict) else {"file": given}
    saved.refuse_unknown(mask, ("file", "digest"), name)
    file = saved.placed("file", mask.get("file"), folder)
    if not isinstance(file, str):
        raise saved.wrong_type(f"{name}.file", file, "a text")
    if "digest" in mask:
        checked_digest(file, images.raw(file), mask["digest"])
    return file


# To the words of a command line


def words_of(context: click.Context, recipe: Recipe) -> list[str] | None:
    """Return the command and the options that give the same recipe when they are parsed, None if none do."""
    for kind in KINDS.values():
        with suppress(click.ClickException, FftfilterError):  # a mask in no file, an option that does not fit
            if words := _command(kind, recipe):
                given = filters.context_of(context, words, "IN", "OUT").params
                if filters.options_of(kind.name, ["IN"], given).recipe == recipe:
                    return words
    return None


def _command(kind: Kind, recipe: Recipe) -> list[str] | None:
    """Return the words of a kind's command for a recipe, None if it has no such command; options may not fit yet."""
    from ..work.saved import settings

    own = [part for part in recipe.transfer.parts if part.kind == kind.name]
    others = [part for part in recipe.transfer.parts if part.kind != kind.name]
    if (len(own) != 1 if kind.factor is None else not (own or recipe.auto)) or recipe.method != kind.method:
        return None
    if any(KINDS[part.kind].factor is None for part in others):
        return None
    said, usual = settings(recipe), dict[str, Any](method=recipe.method)
    if "engine-options" in said:
        return None  # they are Python's alone
    if kind.outputs is None:
        said = {"output": recipe.output, "edges": recipe.edges, **said}
        usual |= {"output": kind.output, "edges": kind.edges}
    words = [kind.name, *_options(kind, own)]
    words += [word for name, each in said.items() if each != usual.get(name) for word in _words(name, each)]
    words += [f"--{part.kind}={KINDS[part.kind].value_of(part.arguments())}" for part in others]
    if recipe.transfer.pixel_size is not None:
        words.append(f"--pixel-size={recipe.transfer.pixel_size!r}m")
    return words


def _options(kind: Kind, parts: list[Part]) -> list[str]:
    """Return the options of parts in the command of their own kind, which says some once for all."""
    values, once = [], dict[str, Any]()
    for part in parts:
        given = part.arguments()
        if kind.factor:
            values.append(f"--{kind.parameters[0]}={kind.value_of(given)}")
        once |= given
    return values + [word for name, each in once.items() if name in kind.parameters for word in _words(name, each)]


def _words(name: str, value: Any) -> list[str]:
    """Return an option with a value of JSON, of which a list gives several."""
    option = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [option if value else option.replace("--", "--no-", 1)]
    several = value if isinstance(value, list) else [value]
    return [f"{option}={each['file'] if isinstance(each, dict) else each}" for each in several]
