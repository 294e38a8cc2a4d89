"""Where the cutoffs of a filter lie in the spectrum, and what they are called, in the units that they were given in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..transfer.units import Radius

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..transfer import Transfer
    from ..transfer.part import Ridge, Ring

TITLES = {
    "bins": "cycles across the shorter side",
    "px": "period in pixels",
    "cyc": "cycles per pixel",
    "%": "% of the Nyquist frequency",
    "lpi": "lines per inch",
    "lp/mm": "line pairs per mm",
}


def marks(transfer: Transfer, height: int, width: int) -> Iterator[Ring | Ridge]:
    """Return the cutoffs of a filter of pictures of a size."""
    for part in transfer.parts:
        yield from part.marks(height, width)


def unit_of(transfer: Transfer) -> Radius:
    """Return a radius of the unit that a filter's cutoffs are in, with the size of a pixel if that needs one."""
    return next((part.unit for part in transfer.parts if part.unit), Radius(1, "cyc"))


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
