"""A recipe in a file: the arguments of a command, as a shell has them, and the digests of the masks that they name.

    {"fftfilter_recipe": 2, "arguments": ["mask", "--mask=gains.png", "--depth=6"], "digests": {"gains.png": "..."}}

The names of masks are relative to the folder of the file. ``commands/apply.py`` has the arguments parsed, as those of a
shell. A recipe is also in the metadata of an output. ``docs/recipes.md`` describes the file.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import images
from ..errors import ParameterError, TooLargeError, WriteError
from ..files import sources, urls
from ..files.atomic import store
from ..files.messages import FileName, as_error, shown
from ..files.sources import Identity
from ..images import Picture
from ..images.formats import FORMATS
from ..output.modes import AUTO, EACH, Range, scale_of
from ..transfer import Transfer
from ..transfer.product import as_given
from .recipe import METHODS, Recipe, masks_of, words_of
from .volumes import AXES

if TYPE_CHECKING:
    from ..filters import Filter
    from ..transfer.part import Part

VERSION, MARK = 2, "fftfilter_recipe"
MOST_BYTES, MOST_WORDS = 1 << 20, 20_000
# Options of a filter that a recipe does not keep: a device belongs to a machine, and radii have the size of a pixel.
_NOT_KEPT = ("device", "pixel_size", "profile")
# Options that may name a mask, and values of the others that do not.
MASKS, NO_MASK = ("--mask", "--missing", "--region", "--protect", "--ignore"), r"alpha|none|[-+.,\d\s]*"


class Saved(NamedTuple):
    """What the file of a recipe says."""

    arguments: list[str]
    digests: Mapping[str, str]  # those of masks, by their names

    def renamed(self, change: Callable[[str], str]) -> Saved:
        """Return it with the names of masks changed."""
        digests = {change(name): digest for name, digest in self.digests.items()}
        return Saved(_renamed(self.arguments, change), digests)

    def text(self, folder: str, indent: int | None = 2) -> str:
        """Return the text of a file in a folder, whose names lead from there."""

        def name_there(name: str) -> str:
            with suppress(ValueError):  # on another drive
                return os.path.relpath(name, folder) if folder and not urls.is_url(name) else name
            return name

        arguments, digests = self.renamed(name_there)
        made = {MARK: VERSION, "arguments": arguments} | ({"digests": digests} if digests else {})
        return json.dumps(made, indent=indent)

    def write(self, file: FileName, spare: Collection[Identity | None] = ()) -> None:
        """Write the file, which replaces none of ``spare``; raises WriteError and ParameterError."""
        with as_error(WriteError, f"{shown(file, 'standard output')}: cannot be written"):
            store(file, [f"{self.text(folder_of(file))}\n".encode()], spare=spare)


def saved_of(recipe: Recipe) -> Saved:
    """Return what the file of a recipe says."""
    return Saved([*recipe.arguments], recipe.masks)


def folder_of(file: FileName) -> str:
    """Return the folder that the names of files in a recipe are relative to: its own."""
    return "" if urls.is_url(file) else os.path.dirname(os.fsdecode(file))  # noqa: PTH120  fspath is not for URLs


def _renamed(words: Sequence[str], change: Callable[[str], str]) -> list[str]:
    """Return words with the names of masks changed, which stand behind = or, in a --times, are words of their own."""
    made: list[str] = []
    for word in words:
        option, equals, value = word.partition("=")
        if made and made[-1] == "--mask":
            made.append(change(word))
        elif option == "--times":
            made.append(f"{option}={shlex.join(_renamed(shlex.split(value), change))}")
        elif equals and (option == "--mask" or (option in MASKS and not re.fullmatch(NO_MASK, value))):
            made.append(f"{option}={change(value)}")
        else:
            made.append(word)
    return made


# Reading


def read(file: FileName) -> Saved:
    """Return what a recipe's file, or a picture with one, says, with names as they stand there.

    Raises ReadError, and ParameterError for what is no recipe.
    """
    name = shown(file, "standard input")
    kind = FORMATS.get(PurePath(os.fsdecode(file)).suffix.lower())
    if kind is None or not kind.has_recipe:
        try:
            text = sources.content(file, MOST_BYTES)
            if len(text) > MOST_BYTES:
                raise TooLargeError
        except TooLargeError as error:
            said = f"has more than {MOST_BYTES:,} bytes, which no recipe has: give another file"
            raise ParameterError(f"{name}: {said}") from error
        return parse(text, name)
    found = images.opened(images.raw(file), file, images.Asked(1, 1))
    if not isinstance(found, Picture) or not found.metadata or not found.metadata.own_recipe:
        raise ParameterError(f"{name}: has no recipe: one is put into a picture by --embed-recipe")
    return parse(found.metadata.own_recipe, name)


def parse(text: str | bytes, name: str) -> Saved:
    """Return what a recipe's text says; raises ParameterError, which begins with ``name``."""
    try:
        given = json.loads(text)
        os.fsencode(json.dumps(given, ensure_ascii=False))  # refuses lone surrogates, which are in no name of a file
    except RecursionError as error:
        raise ParameterError(f"{name}: is nested too deep for a recipe: give another file") from error
    except ValueError as error:
        raise ParameterError(f"{name}: is not a recipe in JSON: {error}") from error
    if not isinstance(given, dict) or MARK not in given:
        raise ParameterError(f"{name}: is not a recipe: one is written by --save-recipe, and has the key {MARK!r}")
    version = given.pop(MARK)
    if isinstance(version, int) and version > VERSION:
        raise ParameterError(f"{name}: is of version {version}; this program reads {VERSION}: update fftfilter-opencl")
    if version != VERSION:
        raise ParameterError(
            f"{name}: the version {json.dumps(version)[:50]} is invalid: {MARK} is {VERSION}; write it anew by the "
            "command that made it, with --save-recipe"
        )
    arguments, digests = given.pop("arguments", None), given.pop("digests", {})
    if given or not isinstance(arguments, list) or not all(isinstance(each, str) for each in arguments):
        raise ParameterError(f'{name}: a recipe has "arguments", a list of texts such as "--radius=8px", and "digests"')
    if not isinstance(digests, dict) or not all(isinstance(each, str) for each in digests.values()):
        raise ParameterError(f'{name}: "digests" are no texts by the names of files')
    if sum(len(each.split()) for each in arguments) > MOST_WORDS:
        raise ParameterError(f"{name}: has more than {MOST_WORDS:,} arguments, which no recipe has: give another file")
    return Saved(arguments, digests)


# Writing


def words_of_part(part: Part) -> list[str]:
    """Return the command of a part of a transfer function; raises ParameterError for a mask in no file."""
    values = {name: value for name, value in part.arguments().items() if name != "digest"}
    if "at" in values:
        values["at"] = ",".join(map(str, [*values["at"], *filter(None, [values.pop("width", None)])]))
    if channels := values.pop("channels", None):
        values["in_channels"] = ",".join(map(str, channels))
    size = Transfer((part,)).pixel_size
    values["pixel_size"] = size if size is None else as_given(size)
    if isinstance(values["pixel_size"], float):
        values["pixel_size"] = f"{values['pixel_size']!r}m"
    return [part.kind.removesuffix("_file"), *words_of({"mask": values.pop("file", None), **values})]


def _command_of(method: str, parts: list[list[str]], options: dict[str, Any], usual: dict[str, Any]) -> list[str]:
    """Return the arguments of a recipe, whose parts are commands of their own.

    The command is that of the first part. With --auto, and for a part that filters otherwise alone, it is ``notch``.
    """
    own, is_plain = ["notch"], method == "plain"
    if not (parts or "auto" in options):
        parts = [[]]
    elif parts and (not is_plain or not (parts[0][0] in METHODS or "auto" in options)):
        own, *parts = parts
    return [*own, *(f"--times={shlex.join(each)}" for each in parts), *words_of((usual if is_plain else {}) | options)]


def save_filter(filter_: Filter | Transfer, file: FileName) -> None:
    """Write a filter, or a transfer function, into the file of a recipe, for ``fftfilter apply`` and ``load_filter``.

    Args:
        filter_: A filter; or a transfer function, with Python's defaults.
        file: The name of the file, or a URL.

    Raises:
        ParameterError: For a mask that was read from no file.
        WriteError: For a file that cannot be written.

    Examples:
        >>> fftfilter.save_filter(fftfilter.Filter(H.lowpass("8px"), output="real"), "soft.json")

    """
    from ..analysis.search import AutoNotches
    from ..filters.description import DEFAULTS

    transfer, values = (filter_, {}) if isinstance(filter_, Transfer) else (filter_.transfer, dict(filter_.options))
    method = next((name for name, how in reversed(METHODS.items()) if isinstance(filter_, how.maker())), "plain")
    axes, sizes = values.get("axes"), values.get("pixel_size")
    if axes is not None and (axes not in AXES or isinstance(sizes, tuple | list)):
        raise ParameterError(f"axes {axes!r} with pixel size {sizes!r}: a recipe has {', '.join(AXES)}, and one size")
    usual = {name: DEFAULTS[name] for name in ("output", "edges")}
    areas = [area for name in ("region", "protect", "ignore") if (area := values.get(name))]
    values |= {area.what: area.said() for area in areas} | {"depth": transfer.depth}
    values |= dict.fromkeys(_NOT_KEPT)
    if scale := scale_of(values.get("scale")):
        low, high = scale[:2] if isinstance(scale, Range) else (AUTO, scale.saturated)
        values["scale"] = f"{low}:{high}"
    if own := values.get("engine_options"):
        values["engine_options"] = ",".join(f"{name}={value}" for name, value in own.items())
    if auto := AutoNotches.of(values.pop("auto", None), values.get("output", usual["output"]), values.get("channels")):
        keep = [f"{fx!r},{fy!r}" for fx, fy in auto.keep]
        values |= {"auto": EACH, "strength": auto.strength, "shape": auto.shape, "insist": auto.insists or None}
        values |= {"keep": keep, "longest": auto.longest, "largest": auto.largest}
    if transfer.is_complement:
        raise ParameterError("a recipe has no complement: save the filter itself, and take --output removed or --pass")
    parts = [words_of_part(part) for part in transfer.parts]
    if method != "plain" and [method] != [each[0] for each in parts[:1]]:
        raise ParameterError(f"{filter_!r} is not of a command, and a recipe is one: give it a part of that kind first")
    Saved(_command_of(method, parts, values, usual), masks_of(transfer, areas)).write(file)
