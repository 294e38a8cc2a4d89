"""A recipe as JSON: in a file of its own, in the metadata of an output, and on the page of ``explore``.

The keys are the fields of :class:`Recipe` and the options of its filter; what has its default is left out. Values are
written and read by the types of the fields: plain ones, NamedTuples and dataclasses of these, and classes that have
``to_json`` and ``from_json``. A new field needs nothing here but the place of its type. ``docs/recipes.md`` describes
all.
"""

from __future__ import annotations

import inspect
import json
import math
import os
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from ..errors import ParameterError
from ..files.messages import shown
from ..images import COMPRESSIONS, Asked, refuse_coding
from ..images.formats import suffix_of
from ..output.modes import AUTO, Range, parse_scale, scale_of
from ..transfer import Transfer, saved
from ..transfer.saved import brief, folder_of, refuse_unknown, wrong_type
from .recipe import METHODS, Plain, Recipe

if TYPE_CHECKING:
    from collections.abc import Collection

    from ..files.sources import Identity
    from ..filters import Filter
    from ..images import Picture
    from .recipe import MethodName

_INFINITE = {"inf": math.inf, "-inf": -math.inf}  # JSON has no numbers for these
_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
# The types that annotations name and their modules import for type checkers alone; by the module that has each.
_TYPES = {
    "AutoNotches": "analysis.search",
    "Channels": "output.modes",
    "Coding": "images.formats",
    "Edges": "transfer.edges",
    "Option": "staged.algorithms",
    "Output": "output.modes",
    "Part": "transfer.part",
    "Precision": "device.launcher",
    "Region": "work.region",
    "Scale": "output.modes",
    "ShapeName": "transfer.shapes",
    "Span": "output.modes",
    "Transpose": "staged.steps",
}
# Options of a filter that a recipe does not keep: a device belongs to a machine, radii have the size of a pixel.
_NOT_KEPT = {"device", "pixel_size", "profile"}
# Fields of a recipe for files, without which arrays are filtered.
_OF_FILES = {"pages", "coding", "format", "strip", "preserve_times", "embed_recipe"}


def load(file: str | os.PathLike[str]) -> Recipe:
    """Return the recipe in a file; raises ReadError, and ParameterError for what is not a recipe."""
    return from_json(saved.read(file), shown(file, "standard input"), folder_of(file))


def save(recipe: Recipe, file: str | os.PathLike[str], spare: Collection[Identity | None] = ()) -> None:
    """Write a recipe into a file, which replaces none of ``spare``; raises ParameterError and WriteError."""
    saved.write(file, to_json(recipe, folder_of(file)), spare)


def to_json(recipe: Recipe, folder: str = "") -> dict[str, Any]:
    """Return a recipe as JSON has it, without the version; names of files are relative to ``folder``."""
    usual = Recipe(Transfer(()))
    given = {each.name: getattr(recipe, each.name) for each in fields(recipe) if each.name != "options"}
    kept = {name: each for name, each in given.items() if name == "transfer" or each != getattr(usual, name)}
    options = {name: each for name, each in recipe.options.items() if each != recipe.how.usual.get(name)}
    return {name: _encoded(each, folder) for name, each in (kept | options).items()}


def from_json(given: Mapping[str, Any], name: str, folder: str = "") -> Recipe:
    """Return the recipe that :func:`to_json` gave; raises ParameterError, which begins with ``name``."""
    of_recipe = _types_of(Recipe)
    if "transfer" not in given:
        raise ParameterError(f"{name}: a recipe needs 'transfer', the list of its parts: give it")
    method = _decoded(of_recipe["method"], given.get("method", "plain"), f"{name}: method", folder)
    of_options = _options(method)
    known = {key: kind for key, kind in (of_recipe | of_options).items() if key != "options"}
    refuse_unknown(given, known, f"{name}: a recipe")
    values = {key: _decoded(known[key], value, f"{name}: {key}", folder) for key, value in given.items()}
    usual = METHODS[method].usual
    options = {key: each for key in of_options if key in values and (each := values.pop(key)) != usual.get(key)}
    try:
        return _checked(Recipe(**values, options={**usual, **options}))
    except ParameterError as error:
        raise ParameterError(f"{name}: {error}") from error


def recipe_of(filter_: Filter) -> Recipe:
    """Return the recipe of a filter, for the files that it would filter."""
    from ..descreen_filter import DescreenFilter
    from ..imagej_filter import ImageJFilter

    given: dict[str, Any] = {name: each for name, each in filter_.options.items() if name not in _NOT_KEPT}
    method: MethodName = "plain"
    if isinstance(filter_, ImageJFilter):
        method, given["output"] = "imagej", "keep"
    if isinstance(filter_, DescreenFilter):
        method, given["output"] = "descreen", "keep"
    of_recipe = {each.name: given.pop(each.name) for each in fields(Recipe) if each.name in given}
    of_recipe["scale"] = scale_of(of_recipe.get("scale"))
    given["depth"] = filter_.transfer.depth  # which the option is, too
    transfer = replace(filter_.transfer, depth=None)
    return Recipe(transfer, method, {**METHODS[method].usual, **given}, **of_recipe)


def described(recipe: Recipe) -> Filter:
    """Return the filter of a recipe, whose device is opened on first use."""
    from ..descreen_filter import DescreenFilter
    from ..filters import Filter
    from ..imagej_filter import ImageJFilter

    options = {name: each for name, each in recipe.options.items() if each != recipe.how.usual.get(name)}
    if recipe.method == "imagej":
        made: Filter = ImageJFilter.__new__(ImageJFilter)
    elif recipe.method == "descreen":
        made = DescreenFilter.__new__(DescreenFilter)
    else:
        made, options["output"] = Filter.__new__(Filter), recipe.output
        if recipe.scale:  # as Python gives it
            own = recipe.scale
            options["scale"] = own[:2] if isinstance(own, Range) else (AUTO, own.saturated)
    made.__setstate__((recipe.transfer, options))
    return made


def load_filter(file: str | os.PathLike[str], device: str | int | None = None) -> Filter:
    """Return the filter that the file of a recipe describes, on a device.

    Raises ReadError, DeviceError without a usable device, and ParameterError, also for a recipe that a filter of arrays
    cannot follow, as it finds the waves of each picture, has one range for several, a region, or missing pixels.

        soft = fftfilter.load_filter("soft.json")
        result = soft(image)
    """
    recipe = load(file)
    of_array = replace(recipe, **{name: getattr(Recipe(Transfer(())), name) for name in _OF_FILES})
    if of_array != recipe_of(described(recipe)):
        further = [name for name in to_json(of_array) if name not in to_json(recipe_of(described(recipe)))]
        raise ParameterError(
            f"{shown(file, 'standard input')}: has {further[0]!r}, which is for files: use fftfilter apply"
        )
    return recipe.open(recipe.transfer, device)


def save_filter(filter_: Filter, file: str | os.PathLike[str]) -> None:
    """Write a filter into the file of a recipe, for ``fftfilter apply`` and :func:`load_filter`.

    Raises ParameterError for a mask that was read from no file, and WriteError.
    """
    save(recipe_of(filter_), file)


def files_of(recipe: Recipe) -> tuple[str, ...]:
    """Return the names of the files that a recipe needs, those of masks."""
    found: list[str | None] = []
    json.loads(json.dumps(to_json(recipe)), object_hook=lambda each: found.append(each.get("file")))
    return tuple(filter(None, found))


def embed(recipe: Recipe, picture: Picture, target: str | os.PathLike[str], suffix: str) -> None:
    """Put a recipe into the metadata of a picture for a target of this extension; raises ParameterError."""
    from ..images.metadata import Metadata

    recipe.refuse_embedding(target, suffix)
    text = json.dumps({saved.MARK: saved.VERSION, **to_json(recipe, folder_of(target))})
    picture.metadata = replace(picture.metadata or Metadata(), recipe=text)


def _options(method: MethodName) -> dict[str, Any]:
    """Return the types of the options that a method's filter has beside a recipe's fields."""
    from ..filters import FilterOptions

    others = {each.name for each in fields(Recipe)} | _NOT_KEPT | (Plain.usual.keys() - METHODS[method].usual.keys())
    own = {name: type(each) for name, each in METHODS[method].usual.items() if each is not None}
    return own | {name: kind for name, kind in _types_of(FilterOptions).items() if name not in others}


def _checked(recipe: Recipe) -> Recipe:
    """Return a recipe; raises ParameterError for a value that a command line would refuse."""
    if isinstance(recipe.scale, Range):
        parse_scale(f"{recipe.scale.low!r}:{recipe.scale.high!r}")
    elif recipe.scale:
        parse_scale(f"auto:{recipe.scale.saturated!r}")
    if recipe.method == "imagej" and recipe.output != "keep":
        raise ParameterError(f"output {recipe.output} is not for ImageJ's filter: its recipes have the output keep")
    is_descreen = [part.kind == "descreen" for part in recipe.transfer.parts]
    if recipe.method == "descreen" and (recipe.output != "keep" or is_descreen != [True]):
        raise ParameterError("a recipe of descreen has the output keep, and one part of that kind")
    if recipe.auto:
        from ..transfer.fitted import checked_strength

        checked_strength(recipe.auto.strength)
    if recipe.pages and recipe.pages[:2] != (None, None):
        Asked.parse("-".join("" if each is None else str(each) for each in recipe.pages[:2]))
    if recipe.pages and (recipe.pages.hdu or 0) < 0:
        raise ParameterError(f"HDU {recipe.pages.hdu} is unknown: give a number from 0")
    refuse_coding("-", recipe.coding)
    if recipe.coding.compression not in (None, *COMPRESSIONS):
        raise ParameterError(f"compression {recipe.coding.compression!r} is unknown: choose {', '.join(COMPRESSIONS)}")
    if recipe.format is not None:
        suffix_of("OUT", recipe.format)
    return recipe


def _encoded(value: Any, folder: str, key: str = "") -> Any:
    if isinstance(value, Transfer):
        return saved.to_json(value, folder)
    if hasattr(value, "to_json"):
        value = value.to_json()
    elif hasattr(value, "_asdict"):
        value = value._asdict()
    elif is_dataclass(value):
        value = {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, Mapping):
        return {name: _encoded(each, folder, name) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [_encoded(each, folder) for each in value]
    if isinstance(value, float) and value in _INFINITE.values():
        return str(value)
    return saved.relative(key, os.fspath(value) if isinstance(value, os.PathLike) else value, folder)


def _decoded(kind: Any, value: Any, where: str, folder: str) -> Any:
    """Return a value as its type; raises ParameterError, which begins with ``where``."""
    if get_origin(kind) in (Union, types.UnionType):
        if value is None and type(None) in get_args(kind):
            return None
        # Of several objects, the one that has most of the keys is meant.
        others = [each for each in get_args(kind) if each is not type(None)]
        keys = set(value) if isinstance(value, dict) else set()
        best = max(others, key=lambda each: (len(keys & _keys(each)), _fits(each, value)))
        return _decoded(best, value, where, folder)
    if kind is Transfer:
        return saved.from_json(value, where, folder)
    if kind is float and isinstance(value, str) and value in _INFINITE:
        return _INFINITE[value]
    if kind in _WORDS and not _fits(kind, value):
        raise wrong_type(where, value, _WORDS[kind])
    if get_origin(kind) is Literal and not (isinstance(value, str) and value in get_args(kind)):
        raise ParameterError(f"{where}: {brief(value)} is unknown: choose {', '.join(map(str, get_args(kind)))}")
    if kind is Any or kind in _WORDS or get_origin(kind) is Literal:
        return value
    return _container(kind, value, where, folder)


def _container(kind: Any, value: Any, where: str, folder: str) -> Any:
    """Return a list, a mapping or an object as its type; raises what :func:`_decoded` raises."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (tuple, list):
        if not isinstance(value, list):
            raise wrong_type(where, value, "a list")
        return origin(_decoded(arguments[0], each, f"{where}[{i}]", folder) for i, each in enumerate(value))
    if not isinstance(value, dict):
        raise wrong_type(where, value, "an object")
    made_by = getattr(kind, "from_json", kind)
    known = dict.fromkeys(value, arguments[1]) if origin else _types_of(made_by)
    refuse_unknown(value, known, where)
    made = {
        name: _decoded(known[name], saved.placed(name, each, folder), f"{where}.{name}", folder)
        for name, each in value.items()
    }
    if origin:
        return made
    needed = [name for name, each in inspect.signature(made_by).parameters.items() if each.default is each.empty]
    if missing := [name for name in needed if name not in made]:
        raise ParameterError(f"{where}: needs {missing[0]!r}: give it")
    try:
        return made_by(**made)
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from error


def _fits(kind: Any, value: Any) -> bool:
    """Whether a value of JSON is of a type; a whole number is also one with a fraction."""
    if get_origin(kind) in (tuple, list):
        return isinstance(value, list)
    if kind in _WORDS:
        return type(value) is kind or (kind is float and type(value) is int)
    return isinstance(value, dict)


def _keys(kind: Any) -> set[str]:
    return set(_types_of(kind)) if hasattr(kind, "__annotations__") else set()


@cache
def _types_of(kind: Any) -> dict[str, Any]:
    """Return the types of a class's fields, or of a function's arguments."""
    names = {name: getattr(import_module(f"..{module}", __package__), name) for name, module in _TYPES.items()}
    found = get_type_hints(kind, localns={**globals(), **names, "ScaleLike": Any})  # a recipe's scale is its own field
    return {name: each for name, each in found.items() if name != "return"}
