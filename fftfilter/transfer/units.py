"""A radius as it is given, with its unit, and what it is on an image's grid. Works without NumPy."""

from __future__ import annotations

import math
import re
from typing import NamedTuple, TypeAlias

from ..errors import ParameterError

Given: TypeAlias = "float | str | Radius"

UNITS = "a number (cycles across the shorter side), or one with px, cyc or %: 40, 8px, 0.125cyc, 25%"


class Radius(NamedTuple):
    """A distance from DC as the user gave it: a number and its unit.

    ``bins`` (cycles across the shorter side), ``px`` (period in pixels), ``cyc`` (cycles per pixel) or
    ``%`` (of the Nyquist frequency, 0.5 cycles per pixel).
    """

    value: float
    unit: str = "bins"

    @classmethod
    def parse(cls, given: object, name: str = "radius") -> Radius:
        """Read ``40``, ``"40"``, ``"8px"``, ``"0.125cyc"`` or ``"25%"``.

        Raises ParameterError for what is no number, not finite or not above zero, and for an unknown unit.
        """
        if isinstance(given, cls):
            return given
        match = re.fullmatch(r"\s*([-+]?(?:[\d.]+(?:e[-+]?\d+)?|inf|nan))\s*([^\s\d]*)\s*", str(given), re.IGNORECASE)
        try:
            value = float(match[1]) if match else math.nan
        except ValueError:
            match = None
        if match is None:
            raise ParameterError(f"{name} {str(given)!r} is no number: give {UNITS}")
        unit = match[2].lower() or "bins"
        if unit not in ("bins", "px", "cyc", "%"):
            raise ParameterError(f"{name} {str(given)!r} has an unknown unit {match[2]!r}: give {UNITS}")
        if not (math.isfinite(value) and value > 0):
            raise ParameterError(f"{name} {str(given)!r} must be finite and greater than zero: give {UNITS}")
        return cls(value, unit)

    def bins(self, height: int, width: int) -> float:
        """Return the radius in cycles across the shorter side of a ``(height, width)`` image."""
        n = min(height, width)
        match self.unit:
            case "px":
                return n / self.value
            case "cyc":
                return n * self.value
            case "%":
                return n * self.value / 200
            case _:
                return self.value

    def on_twice_the_sides(self) -> Radius:
        """Return the same frequency for an image of twice each side."""
        return self._replace(value=2 * self.value) if self.unit == "bins" else self

    def as_given(self) -> float | str:
        """Return the number, with its unit if it has one, to the last digit."""
        value = int(self.value) if self.value.is_integer() and self.value < 2**53 else self.value
        return value if self.unit == "bins" else f"{value!r}{self.unit}"

    def __str__(self) -> str:
        return f"{self.value:g}" + ("" if self.unit == "bins" else self.unit)
