"""Values as text: lengths in their units, and tables for a terminal. NumPy is not imported."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from .errors import ParameterError

INCH = 0.0254
METERS = {"pm": 1e-12, "a": 1e-10, "nm": 1e-9, "um": 1e-6, "mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3, "in": INCH}
"""The units of lengths, as :func:`plain` has them: a is the angstrom."""
RADIANS = {"deg": math.radians(1), "arcmin": math.radians(1 / 60), "arcsec": math.radians(1 / 3600)}
RADIANS |= {"mas": RADIANS["arcsec"] / 1000, "rad": 1.0}
"""The units of angles, in which the sky is measured."""


class Angle(float):
    """The size of a pixel in radians; that of others, a plain number, is in meters."""

    def __repr__(self) -> str:
        return f"{float(self)!r}rad"


def plain(unit: str) -> str:
    """Return a unit in lower case, with u for the micro sign and the Greek letter, and a for the angstrom sign."""
    return unit.lower().translate({0xB5: "u", 0x3BC: "u", 0xE5: "a"})


def length_text(size: float) -> str:
    """Return a length in meters, or an angle, in the unit that suits it: ``65 nm``, ``0.3528 mm``, ``1.5 arcsec``."""
    lengths = ("m" if size < METERS["km"] else "km", "mm", "um")
    known, names = (RADIANS, ("deg", "arcmin", "arcsec")) if isinstance(size, Angle) else (METERS, lengths)
    smallest = "mas" if isinstance(size, Angle) else "nm"
    unit = next((unit for unit in names if size > 0.0999 * known[unit]), smallest)
    return f"{size / known[unit]:.4g} {unit}"


def sides_text(size: float | tuple[float, float]) -> str:
    """Return the size of a pixel: its one side, or its width and height."""
    return " x ".join(map(length_text, size)) if isinstance(size, tuple) else length_text(size)


def amount_text(value: float, *, is_8_bit: bool) -> str:
    """Return a difference of values in the unit of a file, with levels for one of 8 bits."""
    return f"{value:.1f} levels" if is_8_bit else f"{value:.3g}"


def bytes_of(given: str | int) -> int:
    """Return a number of bytes, also of a text such as 500MB or 4GB; raises ParameterError."""
    found = re.fullmatch(r"(\d{1,18}(?:\.\d{1,18})?) *([kMGT]?)B?", str(given).strip(), re.IGNORECASE)
    if not found:
        raise ParameterError(f"{given!r} is not a size: give bytes, or for example 500MB or 4GB")
    return int(float(found[1]) * 1000 ** " kmgt".index(found[2].lower() or " "))


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: str = "") -> str:
    """Return rows as aligned lines under a header; a column is right-aligned where ``right`` has an ``r``."""
    columns = list(zip(header, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    sides = [">" if side == "r" else "<" for side in right.ljust(len(columns))]
    return "\n".join(
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(line, sides, widths, strict=True)).rstrip()
        for line in (header, *rows)
    )
