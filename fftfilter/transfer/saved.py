"""Transfer functions in the file of a recipe: JSON, one object for each part.

    {"fftfilter_recipe": 1, "transfer": [{"kind": "lowpass", "radius": "8px"}, {"kind": "notch", "at": [0.123, 0.047]}]}

A part's "kind" is the function of ``fftfilter.transfer`` that makes it, and the other keys are its arguments. So a new
kind needs nothing here. ``docs/recipes.md`` describes the whole file, and ``work/saved.py`` writes its other keys.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from importlib import import_module
from inspect import signature
from pathlib import PurePath
from typing import Any, NoReturn

from .. import images
from ..errors import ParameterError, WriteError, without_secrets
from ..files import sources, urls
from ..files.atomic import store
from ..files.messages import as_error, shown
from ..files.sources import Identity
from ..files.standard_streams import STANDARD_STREAM
from ..images.formats import FORMATS
from .product import Transfer, as_given

VERSION, MARK = 1, "fftfilter_recipe"
MOST_BYTES = 1 << 20
MOST_PARTS, MOST_PEAKS = 2000, 20_000  # each takes time, on the smallest picture, too
# A text of JSON that begins as a URL, or as the name of another machine on Windows.
_ELSEWHERE = re.compile(r'"((?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://|\\\\\\\\)[^"]*)')
# Functions of ``fftfilter.transfer`` that make no part that a file can hold.
_NO_KINDS = {"Transfer", "load", "mask", "save"}


def load(file: str | os.PathLike[str], *, fetch_masks: bool = False) -> Transfer:
    """Return the transfer function in the file of a recipe, which may be a URL, or "-" for standard input.

    ``fetch_masks`` allows it to name masks by URLs. Raises ReadError for a file that cannot be read, and ParameterError
    for one that is not a recipe.
    """
    name, data = shown(file, "standard input"), read(file, fetch_masks=fetch_masks)
    made = from_json(data.get("transfer", []), f"{name}: transfer", folder_of(file))
    return made if data.get("depth") is None else made.with_depth(data["depth"])


def save(made: Transfer, file: str | os.PathLike[str]) -> None:
    """Write a transfer function into the file of a recipe, whole or not at all.

    Raises ParameterError for a mask that was read from no file, and WriteError.
    """
    write(file, {"transfer": to_json(made, folder_of(file))} | ({} if made.depth is None else {"depth": made.depth}))


def to_json(made: Transfer, folder: str = "") -> list[dict[str, Any]]:
    """Return a transfer function as JSON has it; names of files are relative to ``folder``."""
    parts = []
    for part in made.parts:
        size = Transfer((part,)).pixel_size
        described = {"kind": part.maker, **part.arguments()} | ({} if size is None else {"pixel_size": as_given(size)})
        parts.append({name: relative(name, each, folder) for name, each in described.items()})
    return parts


def from_json(given: object, where: str, folder: str = "") -> Transfer:
    """Return the transfer function that :func:`to_json` gave; raises ParameterError, which begins with ``where``."""
    if not isinstance(given, list):
        raise wrong_type(where, given, "a list of parts")
    from .peaks import Notch

    parts = [each for i, part in enumerate(given) for each in _part(part, f"{where}[{i}]", folder).parts]
    notches = [part for part in parts if isinstance(part, Notch)]
    peaks = sum(min(each.harmonics, 0.5 / max(map(abs, each.at))) * (2 + 2 * each.mirrored) for each in notches)
    if len(parts) > MOST_PARTS or peaks > MOST_PEAKS:
        said = f"has {len(parts):,} parts, and notches with {peaks:,.0f} peaks"
        raise ParameterError(f"{where}: {said}: give at most {MOST_PARTS:,} and {MOST_PEAKS:,}")
    return Transfer(()) * Transfer(tuple(parts))


def _part(given: object, where: str, folder: str) -> Transfer:
    if not isinstance(given, dict):
        raise wrong_type(where, given, 'an object such as {"kind": "lowpass", "radius": "8px"}')
    transfer = import_module(str(__package__))  # which imports this module
    kinds = sorted(set(transfer.__all__) - _NO_KINDS)
    kind = given.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise ParameterError(f"{where}: the kind {brief(kind)} is unknown: choose {', '.join(kinds)}")
    function = getattr(transfer, kind)
    known = signature(function).parameters
    arguments = {name: each for name, each in given.items() if name not in ("kind", "pixel_size")}
    refuse_unknown(arguments, known, f"{where}: a {kind}")
    for name, each in arguments.items():
        usual = known[name].default
        if isinstance(usual, str | bool) and type(each) is not type(usual):
            raise wrong_type(f"{where}.{name}", each, "true or false" if isinstance(usual, bool) else "a text")
    if missing := [name for name, each in known.items() if each.default is each.empty and name not in arguments]:
        raise ParameterError(f"{where}: a {kind} needs {missing[0]!r}: give it")
    try:
        made: Transfer = function(**{name: placed(name, each, folder) for name, each in arguments.items()})
        return made.with_pixel_size(given["pixel_size"]) if "pixel_size" in given else made
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from error
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise wrong_type(where, given, f"a {kind}: an argument has the wrong type") from error


# The file


def read(file: str | os.PathLike[str], *, fetch_masks: bool = False) -> dict[str, Any]:
    """Return what a recipe's file, or a picture with one, says; raises ReadError, and ParameterError, also for URLs."""

    def refuse_large(*_: object) -> NoReturn:
        raise ParameterError(f"{name}: has more than {MOST_BYTES:,} bytes, which no recipe has: give another file")

    name = shown(file, "standard input")
    kind = FORMATS.get(PurePath(os.fsdecode(file)).suffix.lower())
    if kind is None or not kind.has_recipe:
        given = parse(sources.content(file, refuse_large, MOST_BYTES), name)
    else:
        found = images.opened(images.raw(file), file, images.Asked(1, 1))
        if not isinstance(found, images.Picture) or not found.metadata or not found.metadata.own_recipe:
            raise ParameterError(f"{name}: has no recipe: one is put into a picture by --embed-recipe")
        given = parse(found.metadata.own_recipe, name)
    if not fetch_masks and (named := _ELSEWHERE.search(json.dumps(given))):
        said = f"names {without_secrets(named[1])[:60]!r}, and nothing is fetched for a recipe"
        raise ParameterError(f"{name}: {said}: --fetch-masks (in Python fetch_masks=True) does, if you trust it")
    return given


def parse(text: str | bytes, name: str) -> dict[str, Any]:
    """Return what a recipe's text has, without its version; raises ParameterError, which begins with ``name``."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            raise ValueError("a key stands twice")
        return made

    def finite(number: str) -> float:
        value = float(number)
        if value - value:
            raise ValueError(f"the number {number[:40]} is out of range")
        return value

    try:
        given = json.loads(text, object_pairs_hook=once, parse_float=finite, parse_constant=finite)
        os.fsencode(json.dumps(given, ensure_ascii=False))  # refuses lone surrogates, which are in no name of a file
    except RecursionError as error:
        raise ParameterError(f"{name}: is nested too deep for a recipe: give another file") from error
    except ValueError as error:
        raise ParameterError(f"{name}: is not a recipe in JSON: {error}") from error
    if not isinstance(given, dict) or MARK not in given:
        raise ParameterError(f"{name}: is not a recipe: one is written by --save-recipe, and has the key {MARK!r}")
    version = given.pop(MARK)
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise ParameterError(f"{name}: the version {brief(version)} is invalid: {MARK} is {VERSION}")
    if version > VERSION:
        raise ParameterError(f"{name}: is of version {version}; this program reads {VERSION}: update fftfilter-opencl")
    return given


def text_of(data: Mapping[str, Any]) -> str:
    """Return the text of a recipe's file: a line for each key, and for each part."""
    lines = []
    for key, value in {MARK: VERSION, **data}.items():
        parts = ",\n    ".join(map(json.dumps, value)) if key == "transfer" else ""
        lines.append(f"  {json.dumps(key)}: " + (f"[\n    {parts}\n  ]" if parts else json.dumps(value)))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write(file: str | os.PathLike[str], data: Mapping[str, Any], spare: Collection[Identity | None] = ()) -> None:
    """Write the file of a recipe, which replaces none of ``spare``; raises WriteError and ParameterError."""
    with as_error(WriteError, f"{shown(file, 'standard output')}: cannot be written"):
        store(file, [text_of(data).encode()], spare=spare)


def folder_of(file: str | os.PathLike[str]) -> str:
    """Return the folder that the names of files in a recipe are relative to: its own."""
    return "" if urls.is_url(file) else os.path.dirname(os.fsdecode(file))  # noqa: PTH120  fspath is not for URLs


def relative(key: str, value: Any, folder: str) -> Any:
    """Return a value as it is written: the name of a ``file`` is relative to the recipe's folder, if it can be."""
    if key == "file" and folder and not urls.is_url(value):
        with suppress(ValueError):  # on another drive
            return os.path.relpath(value, folder)
    return value


def placed(key: str, value: Any, folder: str) -> Any:
    """Return a value as it is used: the name of a ``file`` leads there from the current folder."""
    if key == "file" and isinstance(value, str) and ("\0" in value or value == STANDARD_STREAM):
        raise ParameterError(f"file {brief(value)} is no name: give that of a mask")
    is_relative = key == "file" and isinstance(value, str) and not urls.is_url(value)
    return os.path.normpath(os.path.join(folder, value)) if is_relative and folder else value  # noqa: PTH118


# Messages


def refuse_unknown(given: Mapping[str, Any], known: Collection[str], who: str) -> None:
    """Raise ParameterError for the first key that is not known."""
    for name in given:
        if name not in known:
            raise ParameterError(f"{who} has no key {brief(name)}: choose {', '.join(known)}")


def wrong_type(where: str, value: object, wanted: str) -> ParameterError:
    """Return the error for a value of the wrong type."""
    return ParameterError(f"{where}: {brief(value)} is not {wanted}")


def brief(value: object) -> str:
    """Return a value for a message: without its contents if it has any."""
    text = "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:50]}..."
