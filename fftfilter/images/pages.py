"""Pages, of a TIFF or of an animation, and the pages that a user asks for. One at a time is in memory."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from ..errors import ParameterError, ReadError, TooLargeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..files.sources import Content
    from .fits import Container
    from .picture import Picture, Size, Strips, Working

# Pixels of all pages together, twenty minutes' work, and as many for each byte of a larger file: a frame may have few
# bytes, and pages of a TIFF may share them.
_MOST_OF_ALL, _MOST_A_BYTE = 4 * 10**10, 64
# As many digits as any number of pages has: Python refuses numbers of thousands of digits.
_ASKED = r"(\d{0,18})(-?)(\d{0,18})(?::(\d{1,18}))?"
_MOST_RUNS = 10_000

# Why a file is not read by strips, and what to do.
NO_STRIPS = "its format is not read by strips; save it as .tif, .fits, .pgm, .ppm, .npy or OME-Zarr"

# What an output does not have, of a FITS and a JPEG 2000.
OTHER_HDUS, PLACE = "other HDUs", "the place on Earth"
ALL_HDUS = "all"
PaletteRule = Literal["auto", "table", "colors"]
PALETTES: tuple[PaletteRule, ...] = get_args(PaletteRule)


class Asked(NamedTuple):
    """What is asked for of a file: its pages, counted from 1, where None is the first or the last of the file."""

    first: int | None = None
    last: int | None = None
    hdu: int | str | None = None  # of a FITS, by hdu_of; None is the first with a picture
    palette: PaletteRule = "auto"  # whether it is a look-up table, by picture.table_of
    level: int | None = None  # of an OME-Zarr, counted from 0, which None is
    keeps_levels: bool = True  # whether the output has the gray levels of the input: metadata about them still hold
    are_floats: bool = False  # whether the output has floats, whatever the input has
    step: int = 1
    others: tuple[Asked, ...] = ()  # further runs of pages
    place: tuple[tuple[str, int], ...] = ()  # axes, "channel", "z" and "time", and the number on each, from 1

    @classmethod
    def parse(cls, text: str) -> Asked:
        """Return the pages of A-B, A, A- or -B, of these with a step, A-B:N, and of several; raises ParameterError."""
        runs = [cls._run(each, text) for each in text.split(",", _MOST_RUNS)]
        return runs[0]._replace(others=tuple(runs[1:]))

    @classmethod
    def _run(cls, run: str, text: str) -> Asked:
        found = re.fullmatch(_ASKED, run.strip())
        first, last, step = (int(found[i]) if found and found[i] else None for i in (1, 3, 4))
        if not found or (first is None and last is None) or 0 in (first, last, step):
            raise ParameterError(
                f"pages {text[:80]!r} are unknown: give 2-5, 3, 3- or -5, counted from 1, steps as 2-9:3, lists as 2,4"
            )
        last = last if found[2] else first
        if first and last and first > last:
            raise ParameterError(f"pages {run!r} are an empty range: give the smaller number first")
        return cls(first, last, step=step or 1)

    @property
    def is_all(self) -> bool:
        """Whether all pages are asked for."""
        return self[:2] == (None, None) and not self.place

    def of(self, count: int, name: str) -> Sequence[int]:
        """Return the pages that are asked for, from 0 and in their order; raises ParameterError if one is missing."""
        runs = (self, *self.others)
        if (wanted := max(each or 1 for run in runs for each in run[:2])) > count:
            raise ParameterError(f"{name}: has {count} {'pages' if count > 1 else 'page'}, and no page {wanted}")
        found = [range((run.first or 1) - 1, run.last or count, run.step) for run in runs]
        return found[0] if len(found) == 1 else sorted({*chain(*found)})


ALL = Asked()


def hdu_of(given: int | str | None) -> int | str | None:
    """Return an HDU as it is asked for: a number counted from 0, NAME, NAME,VERSION or "all"; raises ParameterError."""
    if given is None or (isinstance(given, int) and given >= 0):
        return given
    text = given.strip() if isinstance(given, str) else ""
    if not text or text.startswith("-"):
        raise ParameterError(f"HDU {given!r} is unknown: give a number counted from 0, a NAME, NAME,VERSION or all")
    return int(text) if text.isdecimal() and len(text) < 19 else text


# Axes of pages, as TIFFs have them, by their first letters.
NAMES = {"c": "channel", "z": "z", "t": "time"}


class Pages(ABC):
    """The chosen pages of a file."""

    name: str  # of the file, in messages
    data: Content  # the file
    length: int | None = None  # of all files together, if it is a folder
    first: Size  # that of the first page
    count: int  # the number of whole pages in the file
    is_cut: bool  # whether it should have more
    format: str  # Pillow's name of the file's format
    plays: int = 0  # how often an animation is played; 0 is forever
    milliseconds: float | None = None  # the duration of the page that was read last, None if it has none
    thick: int = 1  # how many are read at once
    decoder: int = 0  # bytes a pixel that decoding takes beside the samples, page after page
    left_out: tuple[str, ...] = ()  # what was dropped from the file, as text
    asked: Asked = ALL
    chosen: Sequence[int]

    def choose(self, asked: Asked) -> None:
        """Choose pages.

        Raises ReadError if a page is cut off, ParameterError if there is no such page, and TooLargeError for so many
        pixels that reading them would not end.
        """
        if self.is_cut and any(run.last is None or run.last > self.count for run in (asked, *asked.others)):
            raise ReadError(
                f"{self.name}: page {self.count + 1} is missing, the file ends before it; get a whole copy of it"
                + (f", or take --pages -{self.count}" if self.count else "")
            )
        self.asked, self.chosen = asked, self._placed(asked.place, asked.of(self.count, self.name))
        length = len(self.data) if self.length is None else self.length
        if len(self) > 1 and self.pixels > max(_MOST_OF_ALL, _MOST_A_BYTE * length):
            raise TooLargeError(
                f"{self.name}: its pages have {self.pixels:,} pixels to decode, too many for {length:,} bytes; "
                "take fewer by --pages, such as --pages -10"
            )

    def _placed(self, place: tuple[tuple[str, int], ...], chosen: Sequence[int]) -> Sequence[int]:
        """Return those of the chosen pages that are at a place on the file's axes; raises ParameterError."""
        sides = {name: each for name, each in self.axes() if name} if place else {}
        for axis, number in place:
            names, length = [*sides], sides.get(axis[0], 1)
            if not names or not 1 <= number <= length:
                has = ", ".join(f"{each} of {NAMES.get(name, name)}" for name, each in reversed(sides.items()))
                said = f"of axes it names {has or 'none'}; --pages takes any"
                raise ParameterError(f"{self.name}: has no {axis} {number}: {said}")
            step = math.prod(sides[each] for each in names[names.index(axis[0]) + 1 :]) if axis[0] in names else 1
            chosen = [page for page in chosen if page // step % length == number - 1]
        if not chosen:
            raise ParameterError(f"{self.name}: no page is left: ask for fewer things at once")
        return chosen

    @property
    def depth(self) -> float | None:
        """The distance of pages along z in meters, if the file says it."""
        return None

    def axes(self) -> list[tuple[str, int]]:
        """Return the axes along which all pages of the file lie, slowest first: a name, "" for none, and a length."""
        return [("", self.count)]

    @property
    def container(self) -> Container | None:
        """The file around the HDUs of a FITS."""
        return None

    def __len__(self) -> int:
        return len(self.chosen)

    @property
    def pixels(self) -> int:
        """The number of pixels to decode for the chosen pages, if all are as large as the first."""
        size = self.size()
        return len(self) * size.width * size.height

    def size(self) -> Size:
        """Return the size of the first page, with the number of pages."""
        return self.first

    def page_name(self, index: int) -> str:
        """Return the name of a chosen page in messages; that of the file, if it has one page."""
        return self.name if self.count == 1 and not self.is_cut else f"{self.name}, page {self.chosen[index] + 1}"

    @abstractmethod
    def read(self, index: int, working: Working | None = None) -> Picture:
        """Return a chosen page, counted from 0; raises ReadError, TooLargeError."""

    def spare(self, room: int) -> int:  # noqa: ARG002
        """Read pages with little memory from now on; return the bytes that it takes, ``room`` if that is possible."""
        return 0

    def strips(self, index: int) -> Strips:  # noqa: ARG002
        """Return a chosen page, to be read some rows at a time; raises ReadError, TooLargeError."""
        raise TooLargeError(f"{self.name}: {NO_STRIPS}")

    def close(self) -> None:
        """Close the file, if it is read in parts."""
        if not isinstance(self.data, bytes):
            self.data.close()


class Sink(ABC):
    """A file that grows by pages. Pages are encoded by any thread, and added in their order."""

    def encode(self, picture: Picture, milliseconds: float | None) -> Any:  # noqa: ARG002  which few formats have
        """Return a page for :meth:`add`; the picture fits the format."""
        return picture

    @abstractmethod
    def add(self, encoded: Any) -> None:
        """Append a page."""

    @abstractmethod
    def finish(self) -> None:
        """Complete the file, which stays open."""
