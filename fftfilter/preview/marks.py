"""Where the cutoffs of a filter lie in the spectrum, and what they are called, in the units that they were given in."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ..transfer.imagej_band import ImageJBand
from ..transfer.peaks import Notch
from ..transfer.radial import Radial
from ..transfer.ridges import Stripes
from ..transfer.units import Radius

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..transfer import Transfer

TITLES = {
    "bins": "cycles across the shorter side",
    "px": "period in pixels",
    "cyc": "cycles per pixel",
    "%": "% of the Nyquist frequency",
    "lpi": "lines per inch",
    "lp/mm": "line pairs per mm",
}


class Ring(NamedTuple):
    """A circle in the spectrum; all in cycles per pixel."""

    radius: float
    label: str
    fx: float = 0.0
    fy: float = 0.0

    @property
    def is_cutoff(self) -> bool:
        """Whether it goes around DC."""
        return self.fx == self.fy == 0


class Ridge(NamedTuple):
    """A line through DC, of the parts beyond a distance from it; in cycles per pixel."""

    fx: float
    fy: float
    """Of length 1, along the line."""
    spare: float
    label: str


def marks(transfer: Transfer, height: int, width: int) -> Iterator[Ring | Ridge]:
    """Return the cutoffs of a filter of pictures of a size."""
    n = min(height, width)
    for part in transfer.parts:
        for radius in _radii(part, n):
            is_usual = isinstance(part, Radial) and not part.outer
            yield Ring(radius.bins(height, width) / n, f"n/8 = {radius}" if is_usual else str(radius))
        if isinstance(part, Notch):
            reach = part.width.bins(height, width) / n
            for x, y in part.peaks():
                yield Ring(reach, "{:g},{:g}".format(*(round(each, 4) for each in part.at)), x, y)
        elif isinstance(part, Stripes):
            across = math.radians(part.angle + 90)
            spare = part.spare.bins(height, width) / n
            yield Ridge(math.cos(across), -math.sin(across), spare, f"{part.angle:g} deg")


def _radii(part: Any, n: int) -> list[Radius]:
    """Return the cutoffs around DC of one part of a filter, the outer one first."""
    found: tuple[Radius | None, ...] = ()
    if isinstance(part, Radial):
        found = (part.outer or Radius(n / 8), part.inner)
    elif isinstance(part, ImageJBand):
        found = (part.small, part.large)
    return [radius for radius in found if radius]


def unit_of(transfer: Transfer) -> Radius:
    """Return a radius of the unit that a filter's cutoffs are in, with the size of a pixel if that needs one."""
    for part in transfer.parts:
        if isinstance(part, Radial):
            return part.outer or Radius(1)
        if isinstance(part, ImageJBand):
            return part.large
        if isinstance(part, Notch):
            return Radius(1, "cyc")
        if isinstance(part, Stripes):
            return part.spare
    return Radius(1, "cyc")


def title_of(unit: Radius) -> str:
    """Return what an axis of frequencies in a unit is called."""
    return TITLES.get(unit.unit, f"period in {unit.unit}")


def ticks(unit: Radius, size: tuple[int, int], low: float, high: float) -> Iterator[tuple[float, str]]:
    """Return round numbers of a unit, with their frequencies in cycles per pixel."""
    for exponent in range(-9, 10):
        for digit in (1, 2, 5):
            value = unit._replace(value=float(f"{digit}e{exponent}"))
            frequency = value.bins(*size) / min(size)
            if low <= frequency <= high:
                yield frequency, f"{value.value:g}"
