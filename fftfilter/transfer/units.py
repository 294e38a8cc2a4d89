"""A radius as it is given, with its unit, and what it is on an image's grid. Works without NumPy."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from ..errors import ParameterError
from ..text import INCH, METERS, RADIANS, Angle, plain, sides_text

RadiusLike: TypeAlias = "float | str | Radius"

_LINES = {"lpi": INCH, "lp/mm": 1e-3} | {f"/{unit}": meters for unit, meters in METERS.items()}
"""The length in meters that a frequency counts its lines, line pairs or cycles on."""
_PER_PIXEL = ("px", "cyc", "%")

UNITS = (
    "a number ({}), or one with px, cyc, % or a physical unit: 40, 8px, 0.125cyc, 25%, 2.6um, 15km, 2.3A, 0.43/nm, "
    "150lpi, 12lp/mm, 5arcsec"
)
BARE = {"bins": "cycles across the shorter side", "px": "pixels"}
"""What a number without a unit is."""
SMALLEST, LARGEST = 1e-100, 1e100
"""Radii on a grid beyond which no filter changes any more, and squares leave float64's range."""
_PIXEL_SIZES = "a length, an angle, or dots per inch: 65nm, 0.1mm, 0.2arcsec, 300dpi; or a width and a height: 7um,10um"
PixelLike: TypeAlias = "float | str | Sequence[float | str]"


def parsed(given: object, name: str, ways_out: str) -> tuple[float, str]:
    """Return the number and the unit, in lower case, of what is given; raises ParameterError."""
    match = re.fullmatch(r"\s*([-+]?(?:[\d.]+(?:e[-+]?\d+)?|inf|nan))\s*([^\s\d]*)\s*", str(given), re.IGNORECASE)
    try:
        value = float(match[1]) if match else math.nan
    except ValueError:
        match = None
    if match is None:
        raise ParameterError(f"{name} {str(given)!r} is not a number: give {ways_out}")
    if not (math.isfinite(value) and value > 0):
        raise ParameterError(f"{name} {str(given)!r} must be finite and greater than zero: give {ways_out}")
    return value, plain(match[2])


def number(given: Any) -> float:
    """Return a number that is given, or its text; NaN for anything else."""
    try:
        return float(given)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def parse_pixel_size(given: PixelLike) -> tuple[float, float]:
    """Return the width and height of ``"65nm"``, ``"300dpi"``, a number or ``"7um,10um"`` in meters.

    Both are Angles for ``"0.2arcsec"``. Raises ParameterError.
    """
    each = given.split(",") if isinstance(given, str) else given if isinstance(given, tuple | list) else [given]
    sides = [_side(one) for one in each]
    if len(sides) not in (1, 2) or len({*map(type, sides)}) > 1:
        raise ParameterError(f"pixel size {given!r} is neither one side nor two of one kind: give {_PIXEL_SIZES}")
    if not 1e-6 < sides[-1] / sides[0] < 1e6:
        raise ParameterError(f"pixel size {given!r} has sides too different to compute with: give {_PIXEL_SIZES}")
    return sides[0], sides[-1]


def one_if_square(sides: tuple[float, float]) -> float | tuple[float, float]:
    """Return the width and height of a pixel as one number, if they are the same."""
    return sides[0] if sides[0] == sides[1] else sides


def _side(given: Any) -> float:
    value, unit = parsed(repr(given) if isinstance(given, Angle) else given, "pixel size", _PIXEL_SIZES)
    if unit not in METERS and unit not in RADIANS and unit != "dpi" and (unit or isinstance(given, str)):
        raise ParameterError(
            f"pixel size {given!r} has {f'an unknown unit {unit!r}' if unit else 'no unit'}: give {_PIXEL_SIZES}"
        )
    size = INCH / value if unit == "dpi" else value * (METERS | RADIANS).get(unit, 1.0)
    if not 0 < size < math.inf:
        raise ParameterError(f"pixel size {given!r} is out of range: give {_PIXEL_SIZES}")
    return Angle(size) if unit in RADIANS else size


class Radius(NamedTuple):
    """A distance from DC as the user gave it: a number and its unit.

    ``bins`` (cycles across the shorter side), ``px`` (period in pixels), ``cyc`` (cycles per pixel) or ``%`` (of the
    Nyquist frequency, 0.5 cycles per pixel); a length, such as ``um`` (period), ``/um`` (cycles in it), ``lpi`` (lines
    per inch) or ``lp/mm`` (line pairs per mm), which need the size of a pixel; an angle, such as ``arcsec``, for which
    that is an angle, too.
    """

    value: float
    unit: str = "bins"
    # The width and height of a pixel in meters, or Angles, for the physical units.
    pixel: tuple[float, float] | None = None

    @classmethod
    def parse(cls, given: object, name: str = "radius", bare: str = "bins") -> Radius:
        """Read ``40``, ``"40"``, ``"8px"``, ``"0.125cyc"``, ``"25%"``, ``"2.6um"``, ``"150lpi"`` or ``"12lp/mm"``.

        A number without a unit is in ``bare``. Raises ParameterError for what is not a number, not finite or not above
        zero, and for an unknown unit.
        """
        if isinstance(given, cls):
            return given
        units = UNITS.format(BARE[bare])
        value, unit = parsed(given, name, units)
        if unit not in ("", "bins", *_PER_PIXEL, *METERS, *_LINES, *RADIANS):
            raise ParameterError(f"{name} {str(given)!r} has an unknown unit {unit!r}: give {units}")
        return cls(value, unit or bare)

    @property
    def is_physical(self) -> bool:
        """Whether it needs the size of a pixel."""
        return self.unit in METERS or self.unit in _LINES or self.unit in RADIANS

    @property
    def family(self) -> str:
        """What is the same of two radii that can be compared without an image."""
        if self.is_physical:
            return "rad" if self.unit in RADIANS else "m"
        return "px" if self.unit in _PER_PIXEL else "bins"

    def grid(self, height: int, width: int) -> tuple[float, float]:
        """Return the sides of an image in pixels that are as high as wide: its distances are circles on that grid."""
        return (height, width) if self.stretch == 1 else (height * self.stretch, width)

    @property
    def stretch(self) -> float:
        """How many times as high as wide its pixels are, as far as it matters."""
        return self.pixel[1] / self.pixel[0] if self.pixel else 1.0

    def cycles(self, height: int, width: int) -> float:
        """Return cycles per pixel along rows; raises as :meth:`bins`."""
        return self.bins(height, width) / min(self.grid(height, width))

    def bins(self, height: int, width: int) -> float:
        """Return cycles across the shorter side of its grid.

        Raises ParameterError if these are 0, or if a pixel size is needed.
        """
        n, unit = min(self.grid(height, width)), self.unit
        if unit == "px":
            found = n / self.value
        elif unit == "cyc":
            found = n * self.value
        elif unit == "%":
            found = n * self.value / 200
        elif unit == "bins":
            found = self.value
        elif self.pixel is None:
            example = "0.2arcsec" if unit in RADIANS else "65nm"
            raise ParameterError(
                f"{self} needs the size of a pixel: give a pixel size, such as {example}, or a number with px, cyc or %"
            )
        else:
            period = _LINES[unit] / self.value if unit in _LINES else self.value * (METERS | RADIANS)[unit]
            # 1mm of 0.1mm is 10px to the last digit, or an ideal filter would not pass the same frequencies.
            pixels = float(f"{period / self.pixel[0]:.12g}")
            found = n / pixels if pixels else math.inf
        if not found > 0:
            of_pixel = "" if self.pixel is None else f" of pixels of {sides_text(one_if_square(self.pixel))}"
            raise ParameterError(
                f"{self}{of_pixel} is no frequency that can be computed with: give {UNITS.format(BARE['bins'])}"
            )
        return min(max(found, SMALLEST), LARGEST)

    def with_pixel(self, size: tuple[float, float]) -> Radius:
        """Return it for pixels of a size, if it is physical; raises ParameterError for a length and an angle."""
        if self.is_physical and isinstance(size[0], Angle) != (self.unit in RADIANS):
            kinds = ("an angle", "a length") if self.unit in RADIANS else ("a length", "an angle")
            raise ParameterError(
                f"{self} is {kinds[0]}, and the pixel size, {sides_text(one_if_square(size))}, is {kinds[1]}: "
                "give another --pixel-size, or a number with px, cyc or %"
            )
        return self._replace(pixel=size) if self.is_physical else self

    def on_twice_the_sides(self) -> Radius:
        """Return the same frequency for an image of twice each side."""
        return self._replace(value=2 * self.value) if self.unit == "bins" else self

    def as_given(self) -> float | str:
        """Return the number, with its unit if it has one, to the last digit: never the same for two radii."""
        value = int(self.value) if self.value.is_integer() and self.value < 2**53 else self.value
        return value if self.unit == "bins" else f"{value!r}{self.unit}"

    def __str__(self) -> str:
        unit = self.unit.replace("a", "A") if self.unit in ("a", "/a") else self.unit
        return f"{self.value:g}" + ("" if unit == "bins" else unit)
