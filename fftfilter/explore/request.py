"""A request of the page: a command with its options, in the words of the command line, and which view of its result."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..errors import ParameterError, check_option

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..output.modes import Output
    from ..transfer import Transfer

SHOWN = ("result", "removed")
# Of a text; longer ones are mistakes.
LONGEST = 200
MOST_VALUES = 500
# Of numbers.
LARGEST = 1 << 31


class Described(NamedTuple):
    """What a command line describes."""

    transfer: Transfer
    output: Output
    scale: str
    filter: dict[str, Any]
    """The other options of :class:`Filter`."""


class CommandLine(Protocol):
    """The program's commands, for the file that is looked at: the one parser of options."""

    @property
    def always(self) -> tuple[str, ...]:
        """Options that every command gets: the device, if one was chosen."""

    @property
    def options(self) -> Mapping[str, tuple[str, ...]]:
        """The filters that a page has, each with the options that it may set; none of these names a file."""

    def defaults(self, command: str) -> Mapping[str, Any]:
        """Return all options of one of these filters with their defaults."""

    def describe(self, words: Sequence[str]) -> Described:
        """Return what a command and its options describe; raises FftfilterError."""

    def run(self, words: Sequence[str], target: str) -> None:
        """Run the command with its options from IN to a file; raises FftfilterError."""


@dataclass(frozen=True)
class Request:
    """What the page asks for."""

    id: int
    words: tuple[str, ...]
    """The command and its options."""
    page: int = 0
    level: int = 1
    """The reduction of what is sent."""
    rest: bool = True
    """Whether the picture itself is to be filtered, not one reduced by ``level``: nothing is dragged."""
    removed: bool = False
    """Whether what is removed is to be shown, not what is left."""
    view: tuple[int, int, int, int] | None = None
    """The part of the picture that is sent: from x, y to x, y, in pixels of the picture."""

    @classmethod
    def of(cls, given: Mapping[str, Any], commands: CommandLine) -> Request:
        """Return a request of the page; raises ParameterError."""
        show, view = given.get("show", SHOWN[0]), given.get("view")
        if show not in SHOWN:
            raise ParameterError(f"show {_brief(show)} is unknown: choose {' or '.join(SHOWN)}")
        if view is not None:
            if not isinstance(view, list) or len(view) != 4:
                raise ParameterError("a view has four numbers: x and y of two corners")
            view = tuple(_whole(each, "view", 0) for each in view)
            if not (view[0] < view[2] and view[1] < view[3]):
                raise ParameterError(f"view {view} is empty: give the corner on the left and above first")
        return cls(
            number_of(given),
            tuple(_words(given, commands)),
            _whole(given.get("page", 0), "page", 0),
            _whole(given.get("level", 1), "level", 1),
            given.get("rest", True) is not False,
            show == "removed",
            view,
        )


def read(text: str | bytes) -> dict[str, Any]:
    """Return the request in a text of JSON; raises ParameterError."""
    try:
        given = json.loads(text)
        # Halves of characters, which JSON can have and no file, no socket and no terminal takes.
        json.dumps(given, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise ParameterError("a request is not a JSON object")
    return given


def number_of(given: Mapping[str, Any]) -> int:
    """Return the number by which the page knows a request, 0 if it has none."""
    number = given.get("id")
    return number & 0xFFFFFFFF if isinstance(number, int) else 0


def _words(given: Mapping[str, Any], commands: CommandLine) -> list[str]:
    """Return the command with the options that it takes and that are not its defaults."""
    command, options = given.get("command"), given.get("options") or {}
    if not isinstance(command, str) or not isinstance(options, dict):
        raise ParameterError("a request has a command, and options by their names")
    check_option("command", command[:LONGEST], list(commands.options))
    defaults, words = commands.defaults(command), [command]
    for name in commands.options[command]:
        values = options.get(name)
        for value in values if isinstance(values, list) else [values]:
            if not isinstance(value, str | int | float | None):
                raise ParameterError(f"{name} {_brief(value)} is not a value")
            text = "" if value is None else str(value).strip()
            if text in ("", str(defaults[name])):
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
    """Return the beginning of something that was given; of what is nested its kind."""
    if isinstance(given, str | int | float | None):
        return repr(str(given)[:20])
    return f"of the type {type(given).__name__}"


def field_of(message: str, commands: CommandLine) -> str | None:
    """Return the option that an error is about: the first one that its line names outside of examples and choices."""
    options = set().union(*commands.options.values())
    heard = re.findall(r"\w+", re.sub('"[^"]*"|: choose .*', "", message))
    return next((word for word in heard if word in options), None)
