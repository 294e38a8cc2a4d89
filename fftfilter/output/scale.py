"""The output's range: which filtered value becomes black and which white.

each is every picture's own: 0 to its largest value, found on the device. folder is 0 to the largest value of
a whole folder, so that a series stays comparable, stack that of all pages of a file. auto is every picture's own, too,
but for some extreme values, which a histogram finds (``histogram.py``). LO:HI is given, in grey levels of the input:
0 to 255 for 8 bits, 0 to its maxval for a PGM.
"""

from __future__ import annotations

import math
from typing import Final, Literal, NamedTuple

from ..errors import ParameterError

EACH: Final = "each"
FOLDER: Final = "folder"
STACK: Final = "stack"
AUTO: Final = "auto"
Span = Literal["each", "folder", "stack"]
"""What has one range: each picture, all pages of a file, or all files of a folder."""


class Range(NamedTuple):
    """The values that become black and white."""

    low: float
    high: float
    of_white: bool = False
    """Whether they are parts of the input's white rather than grey levels."""

    def in_levels(self, white: float) -> Range:
        """Return the range in grey levels of an input with this white."""
        return Range(self.low * white, self.high * white) if self.of_white else self

    def cautions(self) -> list[str]:
        """Return a line if black lies where no magnitude is."""
        if self.low >= 0:
            return []
        return [f"scale {self.low:g}:{self.high:g} begins below 0, where no magnitude is: nothing becomes black"]


class Auto(NamedTuple):
    """Each picture's own range without its extreme values."""

    saturated: float = 0.35
    """How many percent of the samples become black or white; by default as many as in ImageJ's Enhance Contrast."""

    def cautions(self) -> list[str]:
        """Return nothing: the range begins where values are."""
        return []


Scale = Range | Auto


def of(given: tuple[float, float] | tuple[str, float] | Scale | str | None) -> Scale | None:
    """Return the range that Python gives as (LO, HI), "auto" or ("auto", P), None for each; raises ParameterError."""
    if given is None or given == EACH:
        return None
    if given == AUTO or isinstance(given, Range | Auto):
        return Auto() if isinstance(given, str) else given
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ParameterError(
            f"scale {given!r} is unknown: give 'each', 'auto', ('auto', P), or two grey levels such as (0, 40)"
        )
    return parse(f"{given[0]}:{given[1]}")


def parse(text: str) -> Scale | None:
    """Return what auto, auto:P or LO:HI gives, None for the words each, folder and stack; raises ParameterError."""
    if text in (EACH, FOLDER, STACK):
        return None
    low, colon, high = text.partition(":")
    if low == AUTO:
        return _auto(text, high) if colon else Auto()
    try:
        given = Range(float(low), float(high))
    except ValueError:
        raise ParameterError(
            f"scale {text!r} is unknown: give each, folder, stack, auto, auto:P, or LO:HI such as 0:40"
        ) from None
    if not (math.isfinite(given.low) and math.isfinite(given.high) and given.low < given.high):
        raise ParameterError(f"scale {text!r} is not a range: give two numbers, the smaller first, such as 0:40")
    return given


def _auto(text: str, percent: str) -> Auto:
    try:
        saturated = float(percent)
    except ValueError:
        saturated = math.nan
    if not 0 <= saturated < 100:
        raise ParameterError(f"scale {text!r} is invalid: give percent of the samples below 100, such as auto:0.35")
    return Auto(saturated)
