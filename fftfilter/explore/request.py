"""A request of the page: a command with its options, as on a command line, and the view of its result."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError, check_option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..commands.explore import Commands
    from ..work.recipe import Recipe

SHOWN = ("result", "removed")
# Most characters of a value, and most values: more are a mistake.
LONGEST = 200
MOST_VALUES = 500
# Whole numbers are smaller than this.
LARGEST = 1 << 31


@dataclass(frozen=True)
class Request:
    """A view of the result of a command."""

    id: int
    words: tuple[str, ...]
    """The command and its options."""
    recipe: Recipe
    """What they describe."""
    page: int = 0
    level: int = 1
    """The factor by which the sent picture is reduced."""
    rest: bool = True
    """Whether to filter the picture itself, not one reduced by ``level``: nothing is being dragged."""
    removed: bool = False
    """Whether to show what the filter removes, not the result."""
    view: tuple[int, int, int, int] | None = None
    """The part of the picture to send: from x, y to x, y, in pixels of the picture."""
    levels: tuple[float, float, float] | None = None
    """The grey levels to show as black and as white, and gamma; None for the picture's own."""

    @classmethod
    def of(cls, given: Mapping[str, Any], commands: Commands) -> Request:
        """Check a request of the page and return it; raises FftfilterError, in the words of the command."""
        show, view = given.get("show", SHOWN[0]), given.get("view")
        if show not in SHOWN:
            raise ParameterError(f"show {_brief(show)} is unknown: choose {' or '.join(SHOWN)}")
        if view is not None:
            if not isinstance(view, list) or len(view) != 4:
                raise ParameterError("a view has four numbers: x and y of two corners")
            view = tuple(_whole(each, "view", 0) for each in view)
            if not (view[0] < view[2] and view[1] < view[3]):
                raise ParameterError(f"view {view} is empty: give the corner on the left and above first")
        words = _words(given, commands)
        return cls(
            number_of(given),
            tuple(words),
            commands.describe(words),
            _whole(given.get("page", 0), "page", 0),
            _whole(given.get("level", 1), "level", 1),
            given.get("rest", True) is not False,
            show == "removed",
            view,
            levels_of(given.get("levels")),
        )


def levels_of(given: object) -> tuple[float, float, float] | None:
    """Return black, white and gamma as a page gives them; raises ParameterError."""
    if given is None:
        return None
    numbers = [float(each) for each in given if isinstance(each, int | float)] if isinstance(given, list) else []
    if len(numbers) != 3 or not (-1e30 < numbers[0] < numbers[1] < 1e30 and 0.01 <= numbers[2] <= 100):
        raise ParameterError("levels are black, white and gamma, such as [0, 255, 1]: give black below white")
    return numbers[0], numbers[1], numbers[2]


def read(text: str | bytes) -> dict[str, Any]:
    """Return the request in a text of JSON; raises ParameterError."""
    try:
        given = json.loads(text)
        # Refuses lone surrogates, which JSON allows, and files, sockets and terminals do not.
        json.dumps(given, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise ParameterError("a request is not a JSON object")
    return given


def number_of(given: Mapping[str, Any]) -> int:
    """Return the number that the page gave a request, or 0."""
    number = given.get("id")
    return number & 0xFFFFFFFF if isinstance(number, int) else 0


def _words(given: Mapping[str, Any], commands: Commands) -> list[str]:
    """Return the command with those of its options that differ from the defaults."""
    command, options = given.get("command"), given.get("options") or {}
    if not isinstance(command, str) or not isinstance(options, dict):
        raise ParameterError("a request has a command, and options by their names")
    check_option("command", command[:LONGEST], list(commands.options))
    words = [command]
    for name, usual in commands.options[command].items():
        values = options.get(name)
        for value in values if isinstance(values, list) else [values]:
            if value is True:
                words.append(f"--{name.replace('_', '-')}")
                continue
            if not isinstance(value, str | int | float | None):
                raise ParameterError(f"{name} {_brief(value)} is not a value")
            text = "" if value is None else str(value).strip()
            if text in ("", str(usual)):
                continue
            if text.startswith("--") or len(text) > LONGEST or len(words) > 2 * MOST_VALUES:
                raise ParameterError(f"{name} {_brief(text)} is not a value")
            words += [f"--{name.replace('_', '-')}", text]
    return [*words, *commands.always]


def _whole(given: object, name: str, least: int) -> int:
    if isinstance(given, float) and given.is_integer() and abs(given) < LARGEST:
        given = int(given)
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given < LARGEST:
        raise ParameterError(f"{name} {_brief(given)} is not a whole number from {least} up")
    return given


def _brief(given: object) -> str:
    """Return the beginning of a value, or the type of a nested one, for a message."""
    if isinstance(given, str | int | float | None):
        return repr(str(given)[:20])
    return f"of the type {type(given).__name__}"


def field_of(message: str, commands: Commands) -> str | None:
    """Return the first option that an error's line names outside of examples and choices, else None."""
    options = set().union(*commands.options.values())
    heard = re.findall(r"\w+", re.sub('"[^"]*"|: choose .*', "", message))
    return next((word for word in heard if word in options), None)
