"""The output's range: which filtered value becomes black and which white.

each is every picture's own: 0 to its largest value, found on the device. folder is 0 to the largest value of
a whole folder, so that a series stays comparable, stack that of all pages of a file. LO:HI is given, in grey levels of
the input: 0 to 255 for 8 bits, 0 to its maxval for a PGM.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ..errors import ParameterError

EACH, FOLDER, STACK = "each", "folder", "stack"


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


def of(given: tuple[float, float] | Range | str | None) -> Range | None:
    """Return the range that Python gives as (LO, HI), None for each; raises ParameterError."""
    if given is None or given == EACH:
        return None
    if isinstance(given, Range):
        return given
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ParameterError(f"scale {given!r} is unknown: give 'each', or two grey levels such as (0, 40)")
    return parse(f"{given[0]}:{given[1]}")


def up_to(largest: float, *, both_signs: bool) -> Range:
    """Return the range of several pictures up to their largest value, a part of white; 0 is rounding noise."""
    high = largest or 1.0
    return Range(-high if both_signs else 0.0, high, of_white=True)


def parse(text: str) -> Range | None:
    """Return the range that LO:HI gives, None for the words each, folder and stack; raises ParameterError."""
    if text in (EACH, FOLDER, STACK):
        return None
    low, _, high = text.partition(":")
    try:
        given = Range(float(low), float(high))
    except ValueError:
        raise ParameterError(f"scale {text!r} is unknown: give each, folder, stack, or LO:HI such as 0:40") from None
    if not (math.isfinite(given.low) and math.isfinite(given.high) and given.low < given.high):
        raise ParameterError(f"scale {text!r} is no range: give two numbers, the smaller first, such as 0:40")
    return given
