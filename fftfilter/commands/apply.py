"""``apply``: filter as a recipe says, or show what it says in other words."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from .filters import KEPT, FilterCommand, of_recipe, other_options, run, settings_of, verify_option
from .shared.options import combined, option

if TYPE_CHECKING:
    from ..work.recipe import Recipe


@click.command(cls=FilterCommand)
@click.argument("file", metavar="RECIPE")
@click.argument("names", metavar="IN... OUT", nargs=-1)
@combined(
    option(
        "--show",
        group="Filter",
        is_flag=True,
        short="Print the recipe as a command line and in Python; filter nothing.",
        help="Print the recipe as a command line and in Python; filter nothing. IN and OUT are left out.",
    ),
    other_options,
    verify_option,
)
@click.pass_context
def apply(context: click.Context, /, *, file: str, names: tuple[str, ...], show: bool, **given: Any) -> int:
    """Filter as a recipe says, a file that --save-recipe wrote.

    IN and OUT are as for filters: files, folders, URLs, or - for standard input and output. Options that are given go
    before the recipe's.

    \b
    Example: fftfilter apply soft.json photos/ soft/
             fftfilter apply --show soft.json
    """
    from ..work import saved

    recipe = saved.load(file)
    if show and names:
        raise click.UsageError("--show takes a recipe alone: leave IN and OUT out.")
    if show:
        for line in _shown(context, recipe):
            click.echo(line)
        return 0
    if not names:
        raise click.UsageError("Missing argument 'IN... OUT'.")
    usual = context.command.make_context("apply", ["-"] * 3).params
    said, unsaid = settings_of(KEPT | given), settings_of(KEPT | usual)
    options = {name: each for name, each in said["options"].items() if each != unsaid["options"][name]}
    said["options"] = {**recipe.options, **options}
    recipe = replace(recipe, **{name: each for name, each in said.items() if each != unsaid[name]})
    files = (file, *saved.files_of(recipe))
    return run(of_recipe(recipe, given, files), names[:-1], names[-1])


def _shown(context: click.Context, recipe: Recipe) -> list[str]:
    """Return a recipe as lines: a command line, if there is one, and what makes its filter in Python."""
    from ..work import saved
    from .shared.words import words_of

    words = words_of(context, recipe)
    shown = f"fftfilter {shlex.join(words)} IN OUT" if words else "no command line says the same"
    return [shown, repr(saved.described(recipe))]
