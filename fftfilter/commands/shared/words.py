"""A recipe in the words of a command line."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from ...errors import FftfilterError
from ...output.modes import EACH, Range

if TYPE_CHECKING:
    from ...transfer.part import Part
    from ...work.recipe import Recipe
    from ..kinds import Kind


def words_of(context: click.Context, recipe: Recipe) -> list[str] | None:
    """Return the command and the options that describe a recipe, None if no command line does.

    The words are parsed again, and so are always right.
    """
    from ..filters import context_of, options_of
    from ..kinds import KINDS

    for kind in KINDS.values():
        with suppress(click.ClickException, FftfilterError):  # a mask in no file, an option that does not fit
            if words := _words(kind, recipe):
                given = context_of(context, words, "IN", "OUT").params
                if options_of(kind.name, ["IN"], given).recipe == recipe:
                    return words
    return None


def _words(kind: Kind, recipe: Recipe) -> list[str] | None:
    """Return the words of a kind's command for a recipe, None if it has no such command; options may not fit yet."""
    from ..kinds import KINDS

    parts = recipe.transfer.parts
    own = [part for part in parts if part.kind == kind.name]
    others = [part for part in parts if part.kind != kind.name]
    if (len(own) != 1 if kind.factor is None else not (own or recipe.auto)) or recipe.method != kind.method:
        return None
    if any(KINDS[part.kind].factor is None for part in others):
        return None
    words = [kind.name, *_options(kind, own), *_settings(kind, recipe)]
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
    return values + [_word(name, each) for name, each in once.items() if name in kind.parameters]


def _settings(kind: Kind, recipe: Recipe) -> list[str]:
    """Return the options of all but the transfer function; each that is not its default."""
    given: dict[str, Any] = {each.name: getattr(recipe, each.name) for each in fields(recipe)}
    usual: dict[str, Any] = {each.name: each.default for each in fields(recipe)}
    for name in ("transfer", "method", "options"):
        del given[name]
    usual["output"] = recipe.output if kind.outputs else kind.output
    given |= {name: each for name, each in recipe.options.items() if each != recipe.how.usual.get(name)}
    auto, coding, span, missing = (given.pop(name) for name in ("auto", "coding", "span", "missing"))
    place = missing.mask.text if missing.mask else missing.by
    given |= {name: each for name, each in (("missing", place), ("nodata", missing.nodata)) if each is not None}
    if auto:
        given |= {"auto": EACH, "strength": auto.strength}
    given |= {name: each for name, each in coding._asdict().items() if each != type(coding)._field_defaults[name]}
    if region := given.pop("region"):
        areas = {"region": region.inside, "protect": region.outside, "feather": region.feather}
        given |= {name: getattr(each, "text", each) for name, each in areas.items() if each is not None}
    if isinstance(recipe.scale, Range):
        given["scale"] = f"{recipe.scale.low!r}:{recipe.scale.high!r}"
    elif recipe.scale:
        given["scale"] = f"auto:{recipe.scale.saturated!r}"
    elif span != EACH:
        given["scale"] = span
    if asked := given.pop("pages"):
        given |= {"hdu": asked.hdu, "palette": None if asked.palette == "auto" else asked.palette}
        if asked[:2] != (None, None):
            given["pages"] = "-".join("" if each is None else str(each) for each in asked[:2])
    return [_word(name, each) for name, each in given.items() if each != usual.get(name)]


def _word(name: str, value: object) -> str:
    option = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return option if value else option.replace("--", "--no-", 1)
    return f"{option}={value}"
