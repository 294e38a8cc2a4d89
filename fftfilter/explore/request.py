"""What a page asks: a result, by a command with its options and a view; all else, by a file and an address's query.

The answers to the latter are JSON or a frame: pictures, spectra, peaks, the book's pipeline step by step.

A page also marks a part of the picture by rectangles, ellipses and strokes of a brush. In a command, one rectangle is
X,Y,W,H. All else is a mask, a PNG beside the output, whose name follows from the shapes.
"""

from __future__ import annotations

import io
import json
import os
import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from ..analysis.search import AutoNotches
from ..arrays import Array
from ..errors import ParameterError, check_option
from ..files.sources import digest_of
from ..preview.panels import StepPictures
from ..region import FEATHER, WIDEST, Area, Region
from ..transfer.fitted import USUAL_STRENGTH
from ..transfer.units import number
from ..work.recipe import Recipe
from .session import ChangedError, Folder, Session, version_of
from .shown import FilePage, Kind, frame, joined

if TYPE_CHECKING:
    from ..output.ramp import Timing

# What a page may set beside the shapes, by the names of the options.
FIELDS = ("feather",)
# Most shapes, and most numbers of all of them; a hand makes far fewer.
MOST_SHAPES, MOST_NUMBERS = 100, 8000


@dataclass(frozen=True)
class Marked:
    """Shapes in a picture, whose pixels are filtered, or are not."""

    # Each is its kind and whole numbers: x, y, width, height; of a stroke its width, then x and y of its points.
    shapes: tuple[tuple[Any, ...], ...]
    size: tuple[int, int]  # the height and the width of the picture
    option: str = "region"
    feather: float = FEATHER

    @classmethod
    def of(cls, given: object, height: int, width: int) -> Marked | None:
        """Return what a page marks in a picture, None for nothing; raises ParameterError."""
        if given is None:
            return None
        shapes = given.get("shapes") if isinstance(given, dict) else None
        if not isinstance(given, dict) or not isinstance(shapes, list) or len(shapes) > MOST_SHAPES:
            raise ParameterError(f"a region is at most {MOST_SHAPES} shapes, with outside and feather")
        feather = given.get("feather", FEATHER)
        if isinstance(feather, bool) or not isinstance(feather, int | float) or not 0 <= feather <= WIDEST:
            raise ParameterError(f"feather {str(feather)[:20]!r} is not a width: give pixels from 0 to {WIDEST}")
        if sum(len(each) for each in shapes if isinstance(each, list)) > MOST_NUMBERS:
            raise ParameterError(f"the region has more than {MOST_NUMBERS} numbers: clear it, and draw less")
        if not all(_is_shape(each, height, width) for each in shapes):
            raise ParameterError(f"the region goes beyond the picture of {width} x {height} pixels")
        option = "protect" if given.get("outside") is True else "region"
        return cls(tuple(map(tuple, shapes)), (height, width), option, float(feather)) if shapes else None

    @property
    def box(self) -> str | None:
        """X,Y,W,H of a region that is one rectangle."""
        is_box = len(self.shapes) == 1 and self.shapes[0][0] == "rectangle"
        return ",".join(map(str, self.shapes[0][1:])) if is_box else None

    def file(self, target: str) -> str | None:
        """Return the name of the mask beside an output, None without one."""
        stem = os.path.splitext(target)[0]  # noqa: PTH122  as it is typed
        return None if self.box else f"{stem}-region-{digest_of(repr((self.shapes, self.size)).encode())[:8]}.png"

    def words(self, target: str) -> list[str]:
        """Return the options of the command that writes an output."""
        soft = [] if self.feather == FEATHER else ["--feather", f"{self.feather:g}"]
        return [f"--{self.option}", self.box or str(self.file(target)), *soft]

    @lru_cache(maxsize=1)  # noqa: B019  while something is dragged, a mask stays; it keeps one alive
    def region(self, target: str) -> Region:
        """Return the region of the command that writes an output; raises ParameterError if no pixel is left."""
        if file := self.file(target):
            made = Area.of_mask(self.pixels(), self.option, file)
            area = replace(made, file={"file": file, "digest": digest_of(self.png())})
        else:
            area = Area(self.option, str(self.box), self.shapes[0][1:])
        region = self._of(area, self.feather)
        region.pixels(*self.size)
        return region

    def reduced(self, level: int, height: int, width: int) -> Region:
        """Return the region of the picture reduced to a size by a level."""
        area = Area.of_mask(_pixels(self.shapes, height, width, level), self.option, "")
        return self._of(area, self.feather / level)

    def _of(self, area: Area, feather: float) -> Region:
        return Region(area, None, feather) if self.option == "region" else Region(None, area, feather)

    def pixels(self) -> NDArray[np.bool_]:
        """Return which pixels the shapes cover, ``(height, width)``."""
        return _pixels(self.shapes, *self.size, 1)

    def png(self) -> bytes:
        """Return the mask as a PNG: white where the shapes are."""
        file = io.BytesIO()
        Image.fromarray(self.pixels()).save(file, "PNG")
        return file.getvalue()


def taken_area(given: dict[str, Any]) -> dict[str, Any] | None:
    """Take a rectangle from the values of a command's options, as a page marks it; None without one."""
    for name in ("region", "protect"):
        if re.fullmatch(r"\s*\d{1,9}(,\s*\d{1,9}){3}\s*", box := str(given.get(name))):
            del given[name]
            soft = {"feather": given.pop("feather")} if "feather" in given else {}
            return {"shapes": [["rectangle", *map(int, box.split(","))]], "outside": name == "protect", **soft}
    return None


def _is_shape(given: object, height: int, width: int) -> bool:
    """Whether a page's shape has whole numbers that lie in the picture."""
    if not isinstance(given, list) or not given:
        return False
    kind, *numbers = given
    if not all(type(each) is int and 0 <= each <= max(height, width) for each in numbers):
        return False
    if kind in ("rectangle", "ellipse") and len(numbers) == 4:
        x, y, wide, high = numbers
        return bool(min(wide, high) > 0 and x + wide <= width and y + high <= height)
    return bool(kind == "brush" and len(numbers) > 2 and len(numbers) % 2 == 1 and 0 < numbers[0] <= WIDEST)


@lru_cache(maxsize=2)  # the picture's own, and the one of the view
def _pixels(shapes: tuple[tuple[Any, ...], ...], height: int, width: int, level: int) -> NDArray[np.bool_]:
    image = Image.new("L", (width, height))
    draw = ImageDraw.Draw(image)
    for kind, *given in shapes:
        first, *others = (each / level for each in given)
        if kind == "brush":
            points = [*zip(others[::2], others[1::2], strict=True)]
            draw.line(points, 255, max(1, round(first)), "curve")
            for x, y in (points[0], points[-1]):
                draw.ellipse((x - first / 2, y - first / 2, x + first / 2, y + first / 2), 255)
        else:
            y, wide, high = others
            corners = first, y, max(first, first + wide - 1), max(y, y + high - 1)
            (draw.rectangle if kind == "rectangle" else draw.ellipse)(corners, 255)
    return np.asarray(image) > 0


class Commands(Protocol):
    """The program's commands for a page: the one parser of options (``commands/explore.py``)."""

    @property
    def always(self) -> tuple[str, ...]:
        """Options that every command gets: the device, if one was chosen."""

    @property
    def options(self) -> Mapping[str, Mapping[str, Any]]:
        """The filters of the page, each with the options that it may set and their defaults."""

    def describe(self, words: Sequence[str], source: str) -> Recipe:
        """Return the filter that a command and its options describe; raises FftfilterError."""

    def arguments(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return a command and its options as recipes have them; raises FftfilterError."""

    def run(self, words: Sequence[str], source: str, target: str, advance: Callable[[int], None]) -> None:
        """Run a command with its options; after each page ``advance`` gets the number of all; raises FftfilterError."""

    def of_recipe(self, data: bytes, name: str, source: str) -> dict[str, Any]:
        """Return the request of a recipe's file, and read no other one; raises FftfilterError, with ``name`` first."""


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
    session: Session  # that of its file
    words: tuple[str, ...]  # the command and its options
    recipe: Recipe  # what they describe
    preset: Recipe  # the same without the part of the picture, which is that picture's own
    page: int = 0
    level: int = 1  # the factor by which the sent picture is reduced
    rest: bool = True  # whether to filter the picture itself, not one reduced by ``level``: nothing is being dragged
    removed: bool = False  # whether to show what the filter removes, not the result
    # The part of the picture to send: from x, y to x, y, in pixels of the picture.
    view: tuple[int, int, int, int] | None = None
    marked: Marked | None = None  # the part of the picture that is filtered, or is not; None for all of it
    # The gray levels to show as black and as white, and gamma; None for the picture's own.
    levels: tuple[float, float, float] | None = None

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
