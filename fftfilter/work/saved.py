"""A recipe as JSON: its transfer function, and the options of a command line that say all else.

Their keys are the options' long names. ``commands/apply.py`` reads them, by the program's parser of options; a recipe
is also in the metadata of an output. ``docs/recipes.md`` describes the file.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from math import inf
from typing import Any

from ..analysis.search import AutoNotches
from ..files.messages import FileName
from ..files.sources import Identity
from ..filters import Filter
from ..filters.description import REGION
from ..images import Picture
from ..output.modes import AUTO, EACH, Output, Range, scale_of
from ..region import region_of
from ..transfer import Transfer, saved
from .recipe import METHODS, MethodName, Recipe

# Options of a filter that a recipe does not keep: a device belongs to a machine, radii have the size of a pixel.
_NOT_KEPT = ("device", "pixel_size", "profile")


def save(recipe: Recipe, file: FileName, spare: Collection[Identity | None] = ()) -> None:
    """Write a recipe into a file, which replaces none of ``spare``; raises ParameterError and WriteError."""
    saved.write(file, to_json(recipe, saved.folder_of(file)), spare)


def embed(recipe: Recipe, picture: Picture, target: FileName, suffix: str) -> None:
    """Put a recipe into the metadata of a picture for a target of this extension; raises ParameterError."""
    from ..images.metadata import Metadata

    recipe.refuse_embedding(target, suffix)
    text = json.dumps({saved.MARK: saved.VERSION, **to_json(recipe, saved.folder_of(target))})
    picture.metadata = replace(picture.metadata or Metadata(), recipe=text)


def to_json(recipe: Recipe, folder: str = "") -> dict[str, Any]:
    """Return a recipe as JSON, names of files relative to ``folder``; raises ParameterError for a mask in no file."""
    made: dict[str, Any] = {"transfer": saved.to_json(recipe.transfer, folder)}
    for name, each in settings(recipe).items():
        is_file = isinstance(each, dict)
        made[name] = {key: saved.relative(key, value, folder) for key, value in each.items()} if is_file else each
    return made


def settings(recipe: Recipe) -> dict[str, Any]:
    """Return the options that say all but the transfer function, by their long names, without those that are defaults.

    A mask is ``{"file": name, "digest": digest}``. Beside the options of a command line there are ``method``, and
    ``engine-options`` of Python.
    """
    usual = _values(Recipe(Transfer(()), options=recipe.how.usual, output=_output(recipe.method)))
    given = {name: each for name, each in _values(recipe).items() if each not in (None, usual.get(name))}
    return {name.replace("_", "-"): str(each) if each in (inf, -inf) else each for name, each in given.items()}


def _values(recipe: Recipe) -> dict[str, Any]:
    """Return the value of each option, as a command line takes it."""
    asked, auto, missing, scale = recipe.pages, recipe.auto, recipe.missing, recipe.scale
    values: dict[str, Any] = {"method": recipe.method, "output": recipe.output, **recipe.options, "scale": recipe.span}
    if scale:
        low, high = scale[:2] if isinstance(scale, Range) else (AUTO, scale.saturated)
        values["scale"] = f"{low}:{high}"
    if auto:
        values |= {"auto": EACH, "strength": auto.strength, "insist": auto.insists or None}
        values["shape"] = None if auto.shape == "gaussian" else auto.shape
        values["keep"] = [f"{fx!r},{fy!r}" for fx, fy in auto.keep] or None
        values |= {"longest": auto.longest, "largest": auto.largest}
    if asked[:2] != (None, None):
        values["pages"] = "-".join("" if each is None else str(each) for each in asked[:2])
    values |= {"hdu": asked.hdu, "palette": asked.palette, "level": asked.level, **recipe.coding._asdict()}
    values |= {name: getattr(recipe, name) for name in ("format", "strip", "preserve_times", "embed_recipe")}
    values["missing"] = missing.mask.said() if missing.mask else missing.by
    values["nodata"] = missing.nodata
    if recipe.region:
        values |= {**{area.what: area.said() for area in recipe.region.areas}, "feather": recipe.region.feather}
    return values


def _output(method: MethodName) -> Output:
    """Return the default of a recipe's output."""
    return "magnitude" if METHODS[method].has_outputs else "keep"


# Filters of arrays


def recipe_of(filter_: Filter) -> Recipe:
    """Return the recipe of a filter, for the files that it would filter."""
    method = next(name for name, how in reversed(METHODS.items()) if isinstance(filter_, how.maker()))
    options: dict[str, Any] = {name: each for name, each in filter_.options.items() if name not in _NOT_KEPT}
    output, scale = options.pop("output", _output(method)), scale_of(options.pop("scale", None))
    auto = AutoNotches.of(options.pop("auto", None), output, options.get("channels"))
    region = region_of(**{name: options.pop(name) for name in REGION if name in options})
    options = {**METHODS[method].usual, **options, "depth": filter_.transfer.depth}  # which the option is, too
    return Recipe(replace(filter_.transfer, depth=None), method, options, output, scale, auto=auto, region=region)


def described(recipe: Recipe) -> Filter:
    """Return the filter of a recipe, whose device is opened on first use."""
    how = recipe.how
    given = {**how.arguments(recipe), "auto": recipe.auto}
    options = {name: each for name, each in given.items() if each != how.usual.get(name)}
    if own := options.get("scale"):  # as Python gives it
        options["scale"] = own[:2] if isinstance(own, Range) else (AUTO, own.saturated)
    return how.maker().unopened(recipe.transfer, options)


def save_filter(filter_: Filter, file: FileName) -> None:
    """Write a filter into the file of a recipe, for ``fftfilter apply`` and :func:`fftfilter.load_filter`.

    Raises ParameterError for a mask that was read from no file, and WriteError.
    """
    save(recipe_of(filter_), file)
