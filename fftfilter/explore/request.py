"""What a page asks: a result, by a command with its options and a view; all else, by a file and an address's query.

The answers to the latter are JSON or a frame: pictures, spectra, peaks, the book's pipeline step by step.
"""

from __future__ import annotations

import io
import json
import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from PIL import Image

from ..analysis.search import AutoNotches
from ..arrays import Array
from ..errors import ParameterError, check_option
from ..preview.panels import StepPictures
from ..transfer.fitted import USUAL_STRENGTH
from ..transfer.units import number
from ..work.recipe import Recipe
from .marked import FIELDS, Marked
from .session import ChangedError, Folder, Session, version_of
from .shown import FilePage, Kind, frame, joined

if TYPE_CHECKING:
    from ..commands.explore import Commands
    from ..output.ramp import Timing

Query = Mapping[str, str]

SHOWN = ("result", "removed")
# Most characters of a value, and most values: more are a mistake.
LONGEST = 200
MOST_VALUES = 500
# Whole numbers are smaller than this.
LARGEST = 1 << 31
# Most digits of a number in a query: Python refuses thousands.
MOST_DIGITS = 18
# Most pixels that go through the steps; larger pictures are reduced first.
MOST_PIXELS = 1 << 22
# Most pixels of a side of a step's picture.
SIDE = 1024
# Steps without a kernel.
COPIES = ("read", "write", "copy")


@dataclass(frozen=True)
class Request:
    """A view of the result of a command."""

    id: int
    session: Session
    """That of its file."""
    words: tuple[str, ...]
    """The command and its options."""
    recipe: Recipe
    """What they describe."""
    preset: Recipe
    """The same without the part of the picture, which is that picture's own."""
    page: int = 0
    level: int = 1
    """The factor by which the sent picture is reduced."""
    rest: bool = True
    """Whether to filter the picture itself, not one reduced by ``level``: nothing is being dragged."""
    removed: bool = False
    """Whether to show what the filter removes, not the result."""
    view: tuple[int, int, int, int] | None = None
    """The part of the picture to send: from x, y to x, y, in pixels of the picture."""
    marked: Marked | None = None
    """The part of the picture that is filtered, or is not; None for all of it."""
    levels: tuple[float, float, float] | None = None
    """The gray levels to show as black and as white, and gamma; None for the picture's own."""

    @classmethod
    def of(cls, given: Mapping[str, Any], commands: Commands, folder: Folder) -> Request:
        """Check a request of the page and return it; raises FftfilterError, in the words of the command."""
        session, show = folder.session(given.get("file")), given.get("show", SHOWN[0])
        if given.get("version") not in (None, version_of(session.opened)):
            raise ChangedError(session.source)
        if show not in SHOWN:
            raise ParameterError(f"show {brief(show)} is unknown: choose {' or '.join(SHOWN)}")
        words = _words(given, commands)
        recipe = preset = commands.describe([*words, *commands.always], session.source)
        if marked := Marked.of(given.get("area"), *session.size):
            words += marked.words(session.target)
            recipe = replace(recipe, region=marked.region(session.target), arguments=commands.arguments(words))
        return cls(
            number_of(given),
            session,
            (*words, *commands.always),
            recipe,
            preset,
            _whole(given.get("page", 0), "page", 0),
            _whole(given.get("level", 1), "level", 1),
            given.get("rest", True) is not False,
            show == "removed",
            view_of(given.get("view")),
            marked,
            levels_of(given.get("levels")),
        )

    @property
    def mask(self) -> str | None:
        """The name of the mask that the command needs, None without one."""
        return self.marked.file(self.session.target) if self.marked else None


def view_of(given: object) -> tuple[int, int, int, int] | None:
    """Return the part of a picture that a page gives; raises ParameterError."""
    if given is None:
        return None
    if not isinstance(given, list) or len(given) != 4:
        raise ParameterError("a view has four numbers: x and y of two corners")
    x0, y0, x1, y1 = (_whole(each, "view", 0) for each in given)
    if not (x0 < x1 and y0 < y1):
        raise ParameterError(f"view {(x0, y0, x1, y1)} is empty: give the corner on the left and above first")
    return x0, y0, x1, y1


def levels_of(given: object) -> tuple[float, float, float] | None:
    """Return black, white and gamma as a page gives them; raises ParameterError."""
    match given:
        case None:
            return None
        case [int() | float() as black, int() | float() as white, int() | float() as gamma]:
            if -1e30 < black < white < 1e30 and 0.01 <= gamma <= 100:
                return float(black), float(white), float(gamma)
    raise ParameterError("levels are black, white and gamma, such as [0, 255, 1]: give black below white")


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


def brief(value: object) -> str:
    """Return a value of JSON for a message: without its contents if it has any."""
    text = "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:50]}..."


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
        own = options.get(name)
        values = own if isinstance(own, list) else [own]
        if len(values) > MOST_VALUES:
            raise ParameterError(f"{name} has too many values: give at most {MOST_VALUES}")
        for value in values:
            option, is_text = f"--{name.replace('_', '-')}", isinstance(value, str | int | float)
            text = str(value).strip() if is_text else ""
            if value is True:
                words.append(option)
            elif not (is_text or value is None) or text.startswith("--") or len(text) > LONGEST:
                raise ParameterError(f"{name} {brief(value)} is not a value")
            elif text not in ("", str(usual)):
                words += [option, text]
    return words


def _whole(given: object, name: str, least: int) -> int:
    if isinstance(given, int | float) and not isinstance(given, bool) and least <= given < LARGEST and given % 1 == 0:
        return int(given)
    raise ParameterError(f"{name} {brief(given)} is not a whole number from {least} up")


def field_of(message: str, command: object, commands: Commands) -> str | None:
    """Return the first of a command's options that an error's line names outside of examples, else None."""
    options = {*FIELDS, *commands.options.get(str(command), ())}
    said = re.sub('"[^"]*"|: choose .*', "", message).replace("pixel size", "pixel-size")
    return next((word for each in re.findall(r"\w[\w-]*", said) if (word := each.replace("-", "_")) in options), None)


# Questions: functions of a file and of an address's query


def whole_of(query: Query, name: str, usual: int) -> int:
    """Return a whole number of a query; raises ParameterError."""
    text = query.get(name, str(usual))
    return _whole(int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else text, name, 0)


def page_of(session: Session, query: Query) -> FilePage:
    """Return the page of a query; raises ReadError, ParameterError."""
    return session.page(whole_of(query, "page", 0))


def _decimal(query: Query, name: str, usual: float) -> float:
    text = query.get(name, usual)
    if abs(found := number(text)) < 1e9:
        return found
    raise ParameterError(f"{name} {brief(text)} is not a number")


def _input(session: Session, query: Query) -> bytes:
    level, page = whole_of(query, "level", 1), page_of(session, query)
    shown = levels_of(read(f'{{"levels": {query.get("levels", "null")}}}')["levels"])
    return frame(Kind.INPUT, page.pixels(level, shown), level=level)


def _spectrum(session: Session, query: Query) -> bytes:
    page, channel = page_of(session, query), whole_of(query, "channel", 0) if "channel" in query else None
    if channel is not None and channel >= len(page.picture.planes):
        raise ParameterError(f"channel {channel} is not one of {len(page.picture.planes)}, counted from 0")
    return frame(Kind.SPECTRUM, page.spectrum_pixels(channel))


def peaks(session: Session, query: Query) -> dict[str, Any]:
    """Return the waves of a file, with the widths of their notches; raises ParameterError."""
    found = []
    for peak in session.waves(AutoNotches(_decimal(query, "strength", USUAL_STRENGTH))):
        told = peak.described() | {"width_cyc": peak.width}
        for each, harmonic in zip(told["harmonics"], peak.harmonics, strict=True):
            each["width_cyc"] = harmonic.peak.width
        found.append(told)
    return {"peaks": found}


def found(request: Request) -> dict[str, Any]:
    """Return whether a command finds in the picture what it removes, and the words for it; raises FftfilterError."""
    _, transfer, note = request.session.measured(request.recipe, request.page)
    return {"any": bool(transfer.parts), "note": note}


def steps(request: Request) -> dict[str, Any]:
    """Filter by the book's pipeline; return each step's kernels, time, and result as the address of a PNG's data."""
    recipe, session = request.recipe, request.session
    page = session.page(request.page)
    transfer = session.for_pixels(recipe.transfer)
    height, width = page.size
    level = 1
    while height * width > MOST_PIXELS * level * level:
        level *= 2
    if level > 1:
        transfer = transfer.in_cycles(height, width, level)
    told: list[dict[str, Any]] = []
    drawn = StepPictures()
    recipe = replace(recipe, options={**recipe.options, "engine": recipe.options["engine"] or "book"})
    run: dict[str, Any] = {"channel_axis": 0, "white": page.picture.maxval}
    with recipe.open_filter(transfer, session.device, profile=True) as book:

        def observe(name: str, planes: Array) -> None:
            timings = [each for each in book.timings() if each.step not in COPIES]
            kernels = [_kernel(each) for each in sorted(timings, key=lambda each: -each.seconds)]
            seconds = sum(each.seconds for each in timings)
            image, file = Image.fromarray(joined(drawn.picture(name, planes))), io.BytesIO()
            image.thumbnail((SIDE, SIDE), Image.Resampling.BOX)
            image.save(file, "PNG", compress_level=1)
            picture = f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"
            told.append({"name": name, "kernels": kernels, "seconds": seconds, "picture": picture})

        book(page.planes(level), **run)  # to compile the kernels
        book.timings()
        book(page.planes(level), **run, observe=observe)
    return {"steps": told, "level": level}


def _kernel(timing: Timing) -> dict[str, Any]:
    """Return a kernel's file, its source, and the number of its launches."""
    from ..device.opencl import folder, source

    file = next(folder().glob(f"staged/**/{timing.step}.cl"), None)
    name = file.relative_to(folder()).as_posix() if file else None
    return {"kernel": name or timing.step, "source": source(name) if name else None, "launches": timing.launches}


# What the page draws, by the names of the addresses.
DRAWN: dict[str, Callable[[Session, Query], Any]] = {
    "input": _input,
    "spectrum": _spectrum,
    "about": lambda session, query: page_of(session, query).about(),
    "wave": lambda session, query: page_of(session, query).wave(*(_decimal(query, name, 0) for name in ("fx", "fy"))),
    "number": lambda session, query: session.number(*(query.get(name, "") for name in ("text", "unit", "pixel_size"))),
    "sum": lambda session, query: page_of(session, query).strongest(whole_of(query, "count", 1)),
    "units": lambda session, query: session.units(query.get("pixel_size", "")),
}
