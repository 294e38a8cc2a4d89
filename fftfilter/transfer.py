"""Transfer functions: what a filter does to each frequency, as pure functions in float64.

A filter is a function of the frequency alone. Its cutoff is a radius: cycles across the image's shorter
side n, on a square image the distance from DC in bins. The default is n / 8, as in the book.

A shape is one low-pass: a function here and its twin of the same name in ``kernels/steps/mask.cl``. The
four passes are made of it:

    lowpass   = low(radius)
    highpass  = 1 - low(radius)
    bandpass  = low(outer) * (1 - low(inner))
    bandstop  = 1 - bandpass
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

Gain = NDArray[np.float64]
Given: TypeAlias = "float | str | Radius"

PASSES = ("lowpass", "highpass", "bandpass", "bandstop")
MAX_ORDER = 100


def ideal(distance2: NDArray[np.uint64], cutoff: Cutoff) -> Gain:
    """Everything nearer than the cutoff, nothing else; exact, in whole numbers."""
    return (distance2 < cutoff.limit).astype(np.float64)


def gaussian(distance2: NDArray[np.uint64], cutoff: Cutoff) -> Gain:
    """exp(-ln 2 (d/r)^2): no ringing, gain 1/2 at the cutoff."""
    return np.exp2(-distance2.astype(np.float64) / cutoff.radius2)


def butterworth(distance2: NDArray[np.uint64], cutoff: Cutoff) -> Gain:
    """1 / (1 + (d/r)^(2 order)): flat, then falling by the order; gain 1/2 at the cutoff."""
    with np.errstate(over="ignore"):
        return 1 / (1 + (distance2.astype(np.float64) / cutoff.radius2) ** cutoff.order)


SHAPES: dict[str, Callable[[NDArray[np.uint64], Cutoff], Gain]] = {
    shape.__name__: shape for shape in (ideal, gaussian, butterworth)
}


@dataclass(frozen=True)
class Radius:
    """A cutoff as the user gave it: a number and its unit.

    ``bins`` (cycles across the shorter side), ``px`` (period in pixels), ``cyc`` (cycles per pixel) or
    ``%`` (of the Nyquist frequency, 0.5 cycles per pixel).
    """

    value: float
    unit: str = "bins"

    UNITS = "a number (cycles across the shorter side), or one with px, cyc or %: 40, 8px, 0.125cyc, 25%"

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
            raise ParameterError(f"{name} {str(given)!r} is no number: give {cls.UNITS}")
        unit = match[2].lower() or "bins"
        if unit not in ("bins", "px", "cyc", "%"):
            raise ParameterError(f"{name} {str(given)!r} has an unknown unit {match[2]!r}: give {cls.UNITS}")
        if not (math.isfinite(value) and value > 0):
            raise ParameterError(f"{name} {str(given)!r} must be finite and greater than zero: give {cls.UNITS}")
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


@dataclass(frozen=True)
class Cutoff:
    """A cutoff on one grid, in the whole-number unit of :class:`Grid`.

    ``distance2 < limit`` is exactly ``distance < radius``; ``radius2`` is the radius squared.
    """

    limit: np.uint64
    radius2: float
    order: int


NO_CUTOFF = Cutoff(np.uint64(0), 1.0, 1)


@dataclass(frozen=True)
class Grid:
    """The frequencies of a ``(height, width)`` image in whole numbers.

    ``distance2 = (kx scale_x)^2 + (ky scale_y)^2`` with ``scale_x = height/gcd`` and ``scale_y = width/gcd``
    orders the bins exactly as ``hypot(kx/width, ky/height)`` does, without rounding.
    """

    height: int
    width: int

    @property
    def scale_x(self) -> int:
        """What a step along the width counts."""
        return self.height // math.gcd(self.height, self.width)

    @property
    def scale_y(self) -> int:
        """What a step along the height counts."""
        return self.width // math.gcd(self.height, self.width)

    def distance2(self) -> NDArray[np.uint64]:
        """Return the squared distance of every bin from DC, shape ``(height, width)``, DC in the corner."""
        x = np.minimum(np.arange(self.width), self.width - np.arange(self.width)).astype(np.uint64)
        y = np.minimum(np.arange(self.height), self.height - np.arange(self.height)).astype(np.uint64)
        return (x * np.uint64(self.scale_x)) ** 2 + ((y * np.uint64(self.scale_y)) ** 2)[:, None]

    def cutoff(self, radius: float, order: int) -> Cutoff:
        """Return the cutoff of a radius in cycles across the shorter side."""
        exact = (Fraction(radius) * max(self.scale_x, self.scale_y)) ** 2
        # Single precision holds 1e-38 to 1e38; a cutoff below every bin or above all of them may be moved.
        radius2 = min(max(float(exact), 1e-30), 1e30)
        return Cutoff(np.uint64(min(math.ceil(exact), 2**64 - 1)), radius2, order)


@dataclass(frozen=True)
class Transfer:
    """A transfer function H(f): which pass, of which shape, with which cutoffs.

    ``outer`` is the radius of a low-pass or high-pass; None is the default of n / 8. ``inner`` is the lower
    cutoff of a band. Build one with :func:`transfer`.
    """

    kind: str
    outer: Radius | None
    inner: Radius | None = None
    shape: str = "ideal"
    order: int = 2

    def cutoffs(self, height: int, width: int) -> tuple[Cutoff, Cutoff]:
        """Return the outer and the inner cutoff on a ``(height, width)`` grid.

        Raises ParameterError if the inner is not below the outer there.
        """
        grid = Grid(height, width)
        outer = self.outer.bins(height, width) if self.outer else min(height, width) / 8
        if self.inner is None:
            return grid.cutoff(outer, self.order), NO_CUTOFF
        inner = self.inner.bins(height, width)
        if inner >= outer:
            raise ParameterError(
                f"inner radius {self.inner} is not below outer radius {self.outer}: "
                f"on {width} x {height} pixels they are {inner:g} and {outer:g} bins from DC"
            )
        return grid.cutoff(outer, self.order), grid.cutoff(inner, self.order)

    def gain(self, height: int, width: int) -> Gain:
        """Return H on the whole grid, shape ``(height, width)``, DC in the corner as ``numpy.fft`` has it."""
        outer, inner = self.cutoffs(height, width)
        distance2 = Grid(height, width).distance2()
        low = SHAPES[self.shape]
        match self.kind:
            case "lowpass":
                return low(distance2, outer)
            case "highpass":
                return 1 - low(distance2, outer)
            case "bandpass":
                return low(distance2, outer) * (1 - low(distance2, inner))
            case _:
                return 1 - low(distance2, outer) * (1 - low(distance2, inner))

    def __str__(self) -> str:
        shape = f"{self.shape} of order {self.order}" if self.shape == "butterworth" else self.shape
        if self.inner is not None:
            return f"{self.kind}, {shape}, radius {self.inner} to {self.outer}"
        return f"{self.kind}, {shape}, radius {self.outer or 'n/8'}"


def transfer(
    kind: str,
    *,
    radius: Given | None = None,
    inner: Given | None = None,
    outer: Given | None = None,
    shape: str = "ideal",
    order: int | None = None,
) -> Transfer:
    """Check a filter's parameters and return its transfer function.

    ``radius`` belongs to lowpass and highpass, ``inner`` and ``outer`` to bandpass and bandstop, ``order``
    (1 to 100, default 2) to butterworth. Radii are numbers or texts as :meth:`Radius.parse` reads them.
    Raises ParameterError.
    """
    if kind not in PASSES:
        raise ParameterError(f"{kind!r} is no filter: choose {', '.join(PASSES)}")
    if shape not in SHAPES:
        raise ParameterError(f"{shape!r} is no shape: choose {', '.join(SHAPES)}")
    if order is not None and shape != "butterworth":
        raise ParameterError(f"order {order} has no meaning for the {shape} shape: leave it out or choose butterworth")
    order = 2 if order is None else order
    if isinstance(order, bool) or not isinstance(order, int | np.integer) or not 1 <= order <= MAX_ORDER:
        raise ParameterError(f"order {order} is out of range: give a whole number from 1 to {MAX_ORDER}")
    if kind in ("lowpass", "highpass"):
        if inner is not None or outer is not None:
            raise ParameterError(f"{kind} has one cutoff: give radius, not inner and outer")
        return Transfer(kind, None if radius is None else Radius.parse(radius), None, shape, int(order))
    if radius is not None or inner is None or outer is None:
        raise ParameterError(f"{kind} has two cutoffs: give inner and outer, not radius")
    band = Transfer(kind, Radius.parse(outer, "outer"), Radius.parse(inner, "inner"), shape, int(order))
    if band.inner and band.outer and band.inner.unit == band.outer.unit:
        # Known without an image; units that differ are compared on the image's grid.
        band.cutoffs(1, 1)
    return band
