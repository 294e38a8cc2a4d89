"""A filter's parameters as the user gives them, checked: without an image, and without NumPy.

A filter is a function of the frequency alone. Its cutoff is a radius: cycles across the image's shorter
side n, on a square image the distance from DC in bins. The default is n / 8, as in the book.
"""

from __future__ import annotations

import math
import re
from numbers import Integral
from typing import NamedTuple, TypeAlias

from .errors import ParameterError

Given: TypeAlias = "float | str | Radius"

PASSES = ("lowpass", "highpass", "bandpass", "bandstop")
SHAPES = ("ideal", "gaussian", "butterworth")
MASK = "mask"
MAX_ORDER = 100
UNITS = "a number (cycles across the shorter side), or one with px, cyc or %: 40, 8px, 0.125cyc, 25%"


class Radius(NamedTuple):
    """A cutoff as the user gave it: a number and its unit.

    ``bins`` (cycles across the shorter side), ``px`` (period in pixels), ``cyc`` (cycles per pixel) or
    ``%`` (of the Nyquist frequency, 0.5 cycles per pixel).
    """

    value: float
    unit: str = "bins"

    @classmethod
    def parse(cls, given: object, name: str = "radius") -> Radius:
        """Read ``40``, ``"40"``, ``"8px"``, ``"0.125cyc"`` or ``"25%"``.

        Raises ParameterError for a value that is no number, not finite or not above zero, and for an unknown unit.
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

    def __str__(self) -> str:
        return f"{self.value:g}" + ("" if self.unit == "bins" else self.unit)


class Parameters(NamedTuple):
    """Which pass, of which shape, with which cutoffs. Check them with :func:`check`.

    ``outer`` is the radius of a low-pass or high-pass; None is the default of n / 8. ``inner`` is the lower
    cutoff of a band.
    """

    kind: str
    outer: Radius | None
    inner: Radius | None = None
    shape: str = "ideal"
    order: int = 2

    def radii(self, height: int, width: int) -> tuple[float, float | None]:
        """Return the outer and the inner radius on a ``(height, width)`` grid, in cycles across its shorter side.

        Raises ParameterError if the inner is not below the outer there.
        """
        outer = self.outer.bins(height, width) if self.outer else min(height, width) / 8
        if self.inner is None:
            return outer, None
        inner = self.inner.bins(height, width)
        if inner >= outer:
            are_alike = self.outer is not None and self.inner.unit == self.outer.unit
            grid = "" if are_alike else f" on {width} x {height} pixels ({inner:g} and {outer:g} bins from DC)"
            raise ParameterError(
                f"inner radius {self.inner} is not below outer radius {self.outer}{grid}: "
                "give a lower inner one (in px, a longer period)"
            )
        return outer, inner

    def __str__(self) -> str:
        shape = f"{self.shape} of order {self.order}" if self.shape == "butterworth" else self.shape
        if self.inner is not None:
            return f"{self.kind}, {shape}, radius {self.inner} to {self.outer}"
        return f"{self.kind}, {shape}, radius {self.outer or 'n/8'}"


def check(
    kind: str,
    *,
    radius: Given | None = None,
    inner: Given | None = None,
    outer: Given | None = None,
    shape: str = "ideal",
    order: int | None = None,
) -> Parameters:
    """Check a filter's parameters.

    ``radius`` belongs to lowpass and highpass, ``inner`` and ``outer`` to bandpass and bandstop, ``order``
    (1 to 100, default 2) to butterworth. Radii are numbers or texts as :meth:`Radius.parse` reads them.
    Raises ParameterError.
    """
    if kind not in PASSES:
        raise ParameterError(f"{kind!r} is no filter: choose {', '.join(PASSES)} or {MASK}")
    if shape not in SHAPES:
        raise ParameterError(f"{shape!r} is no shape: choose {', '.join(SHAPES)}")
    if order is not None and shape != "butterworth":
        raise ParameterError(f"order {order} has no meaning for the {shape} shape: leave it out or choose butterworth")
    order = 2 if order is None else order
    if isinstance(order, bool) or not isinstance(order, Integral) or not 1 <= order <= MAX_ORDER:
        raise ParameterError(f"order {order} is out of range: give a whole number from 1 to {MAX_ORDER}")
    if kind in ("lowpass", "highpass"):
        if inner is not None or outer is not None:
            raise ParameterError(f"{kind} has one cutoff: give radius, not inner and outer")
        return Parameters(kind, None if radius is None else Radius.parse(radius), None, shape, int(order))
    if radius is not None or inner is None or outer is None:
        raise ParameterError(f"{kind} has two cutoffs: give inner and outer, not radius")
    band = Parameters(kind, Radius.parse(outer, "outer"), Radius.parse(inner, "inner"), shape, int(order))
    if band.inner and band.outer and band.inner.unit == band.outer.unit:
        # Known without an image; units that differ are compared on the image's grid.
        band.radii(1, 1)
    return band
