"""Transfer functions: what a filter does to each frequency, as pure functions in float64.

A filter is a function of the frequency alone. Its cutoff is a radius: cycles across the image's shorter
side n, on a square image the distance from DC in bins. The default is n / 8, as in the book.

A shape is one low-pass: a function here and its twin of the same name in ``kernels/steps/mask.cl``. The
four passes are made of it:

    lowpass   = low(radius)
    highpass  = 1 - low(radius)
    bandpass  = low(outer) * (1 - low(inner))
    bandstop  = 1 - bandpass

Beside them stands :class:`Mask`, any gain for each bin of one size of image.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

Gain = NDArray[np.float64]
Near = NDArray[np.bool_]
Bins = NDArray[np.int64]
Given: TypeAlias = "float | str | Radius"
AnyTransfer: TypeAlias = "Transfer | Mask"

PASSES = ("lowpass", "highpass", "bandpass", "bandstop")
MASK = "mask"
MAX_ORDER = 100
UNITS = "a number (cycles across the shorter side), or one with px, cyc or %: 40, 8px, 0.125cyc, 25%"
# How much the gains of a frequency and its mirrored one may differ, relative to the largest: what single precision
# rounds away. The host's own rounding must not make a mask pass for one with complex results.
EVEN = 1e-6
# Gains this small vanish in single precision beside any gain of 1.
NEGLIGIBLE = 2.0**-32


def ideal(near: Near, relative2: Gain, order: int) -> Gain:  # noqa: ARG001
    """Everything nearer than the cutoff, nothing else."""
    return near.astype(np.float64)


def gaussian(near: Near, relative2: Gain, order: int) -> Gain:  # noqa: ARG001
    """exp(-ln 2 (d/r)^2): no ringing, gain 1/2 at the cutoff."""
    return np.exp2(-relative2)


def butterworth(near: Near, relative2: Gain, order: int) -> Gain:  # noqa: ARG001
    """1 / (1 + (d/r)^(2 order)): flat, then falling by the order; gain 1/2 at the cutoff."""
    with np.errstate(over="ignore"):
        return 1 / (1 + relative2**order)


# Each takes whether a bin is nearer than the cutoff, its distance over the radius squared, and the order.
SHAPES: dict[str, Callable[[Near, Gain, int], Gain]] = {
    shape.__name__: shape for shape in (ideal, gaussian, butterworth)
}


class Reach(NamedTuple):
    """The part of the grid where a transfer function varies.

    Where |ky| >= ``rows`` or |kx| >= ``columns`` the gain is ``beyond``, 0 or 1, but for what is negligible.
    """

    rows: int
    columns: int
    beyond: float


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


class Cutoff(NamedTuple):
    """A cutoff on the grid of a ``(height, width)`` image; ``radius`` in cycles across the shorter side n."""

    height: int
    width: int
    radius: float

    def near(self, kx: Bins, ky: Bins) -> Near:
        """Tell whether bins lie nearer to DC than the radius.

        On a square image by whole numbers, the book's ``dist2 < radius * radius``; on others by the same
        float64 arithmetic as ``hypot(fftfreq(width), fftfreq(height)) * n``, so that NumPy agrees on every bin.
        """
        if self.height == self.width:
            return np.asarray(kx * kx + ky * ky < self.radius * self.radius)
        f = np.hypot(kx * (1 / self.width), ky * (1 / self.height))
        return np.asarray(f * min(self.height, self.width) < self.radius)

    def reach(self) -> NDArray[np.uint32]:
        """Return how many |kx| = 0, 1, 2 ... are near in the rows |ky| = 0 ... height/2: the ideal mask as a table."""
        n = min(self.height, self.width)
        ky = np.arange(self.height // 2 + 1)
        chord = np.sqrt(np.maximum((self.radius / n) ** 2 - (ky / self.height) ** 2, 0)) * self.width
        # Right but for rounding: the bins around it decide.
        first = np.minimum(chord, self.width).astype(np.int64) - 2
        around = np.maximum(first, 0) + np.arange(5)[:, None]
        count = np.maximum(first, 0) + self.near(around, ky).sum(axis=0)
        reached: NDArray[np.uint32] = np.minimum(count, self.width // 2 + 1).astype(np.uint32)
        return reached

    def steps(self) -> tuple[float, float]:
        """Return what a bin along the width and along the height adds to the distance over the radius.

        At most 1e15, so that its square stays within single precision; at that gain nothing passes but DC.
        """
        n = min(self.height, self.width)
        return min(n / self.width / self.radius, 1e15), min(n / self.height / self.radius, 1e15)


class Transfer(NamedTuple):
    """A transfer function H(f): which pass, of which shape, with which cutoffs.

    ``outer`` is the radius of a low-pass or high-pass; None is the default of n / 8. ``inner`` is the lower
    cutoff of a band. Build one with :func:`transfer`.
    """

    kind: str
    outer: Radius | None
    inner: Radius | None = None
    shape: str = "ideal"
    order: int = 2

    def cutoffs(self, height: int, width: int) -> tuple[Cutoff, Cutoff | None]:
        """Return the outer and the inner cutoff on a ``(height, width)`` grid.

        Raises ParameterError if the inner is not below the outer there.
        """
        outer = self.outer.bins(height, width) if self.outer else min(height, width) / 8
        if self.inner is None:
            return Cutoff(height, width, outer), None
        inner = self.inner.bins(height, width)
        if inner >= outer:
            raise ParameterError(
                f"inner radius {self.inner} is not below outer radius {self.outer}: "
                f"on {width} x {height} pixels they are {inner:g} and {outer:g} bins from DC"
            )
        return Cutoff(height, width, outer), Cutoff(height, width, inner)

    def reach(self, height: int, width: int) -> Reach:
        """Return where H varies: nearer to DC, along each axis, than the outer low-pass is long."""
        outer, _ = self.cutoffs(height, width)
        x, y = outer.steps()
        low = SHAPES[self.shape]

        def reached(k: Bins, step: float, near: Near) -> int:
            relative2: Gain = np.square(k * step, dtype=np.float64)
            return int(np.count_nonzero(low(near, relative2, self.order) > NEGLIGIBLE))

        # A low-pass is longest along the axes, and falls.
        kx, ky = np.arange(width // 2 + 1), np.arange(height // 2 + 1)
        rows, columns = reached(ky, y, outer.near(0 * ky, ky)), reached(kx, x, outer.near(kx, 0 * kx))
        return Reach(rows, columns, float(self.kind in ("highpass", "bandstop")))

    def gain(self, height: int, width: int) -> Gain:
        """Return H on the whole grid, shape ``(height, width)``, DC in the corner as ``numpy.fft`` has it."""
        kx = np.minimum(np.arange(width), width - np.arange(width))
        ky = np.minimum(np.arange(height), height - np.arange(height))[:, None]

        def low(cutoff: Cutoff) -> Gain:
            x, y = cutoff.steps()
            return SHAPES[self.shape](cutoff.near(kx, ky), (kx * x) ** 2 + (ky * y) ** 2, self.order)

        outer, inner = self.cutoffs(height, width)
        passed = low(outer) if inner is None else low(outer) * (1 - low(inner))
        return 1 - passed if self.kind in ("highpass", "bandstop") else passed

    def __str__(self) -> str:
        shape = f"{self.shape} of order {self.order}" if self.shape == "butterworth" else self.shape
        if self.inner is not None:
            return f"{self.kind}, {shape}, radius {self.inner} to {self.outer}"
        return f"{self.kind}, {shape}, radius {self.outer or 'n/8'}"


@dataclass(frozen=True, eq=False)
class Mask:
    """A transfer function as a table: the gain of every bin of images of one size. Build one with :func:`transfer`.

    ``gains`` is ``(height, width)``, DC in the corner as ``numpy.fft`` has it, divided by ``scale``, the largest
    of them if that exceeds 1: what is rounding noise of a filter is the same for any multiple of it, and no gain
    leaves the range of single precision. ``is_even`` tells whether H(-k) = H(k): then the filtered image is real.
    """

    gains: NDArray[np.floating]
    scale: float
    is_even: bool

    @classmethod
    def of(cls, given: ArrayLike) -> Mask:
        """Check an array of real, finite gains ``(height, width)``; raises ParameterError."""
        array = np.asarray(given)
        if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "biuf":
            raise ParameterError(
                f"an array of shape {array.shape} and type {array.dtype} is no mask: give real gains of shape "
                "(height, width), DC in the corner as numpy.fft.fft2 has it"
            )
        gains: NDArray[np.floating] = array.astype(np.float32 if array.dtype == np.float32 else np.float64)
        finite = np.isfinite(gains)
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            raise ParameterError(
                f"{int((~finite).sum())} gains of the mask are NaN or infinite, the first at row {row}, column {column}"
            )
        scale = max(1.0, float(gains.max()), -float(gains.min()))
        gains = gains / scale
        mirrored = np.roll(gains[::-1, ::-1], (1, 1), (0, 1))
        is_even = bool(np.abs(gains - mirrored).max() <= EVEN * np.abs(gains).max())
        if is_even:
            gains = (gains + mirrored) / 2
        gains.flags.writeable = False
        return cls(gains, scale, is_even)

    def fit(self, height: int, width: int) -> NDArray[np.floating]:
        """Return the gains divided by ``scale`` for images ``(height, width)``; raises ParameterError for others."""
        if self.gains.shape != (height, width):
            raise ParameterError(f"the {self} does not fit an image of {width} x {height}: give one of its size")
        return self.gains

    def reach(self, height: int, width: int) -> Reach:
        """Return where the gains divided by ``scale`` vary; raises ParameterError for images of another size."""
        gains = self.fit(height, width)
        beyond = float(gains[height // 2, width // 2])
        if beyond not in (0.0, 1.0):
            return Reach(height // 2 + 1, width // 2 + 1, 0.0)
        varies = gains != beyond

        def reached(k: Bins, n: int) -> int:
            return int(np.minimum(k, n - k).max(initial=-1)) + 1

        rows, columns = (np.flatnonzero(varies.any(axis=axis)) for axis in (1, 0))
        return Reach(reached(rows, height), reached(columns, width), beyond)

    def gain(self, height: int, width: int) -> Gain:
        """Return H as :meth:`Transfer.gain` does; raises ParameterError for images of another size."""
        return self.fit(height, width).astype(np.float64) * self.scale

    def __str__(self) -> str:
        return f"mask of {self.gains.shape[1]} x {self.gains.shape[0]}"


def transfer(
    kind: str,
    *,
    radius: Given | None = None,
    inner: Given | None = None,
    outer: Given | None = None,
    shape: str = "ideal",
    order: int | None = None,
    mask: ArrayLike | None = None,
) -> AnyTransfer:
    """Check a filter's parameters and return its transfer function.

    ``radius`` belongs to lowpass and highpass, ``inner`` and ``outer`` to bandpass and bandstop, ``order``
    (1 to 100, default 2) to butterworth. Radii are numbers or texts as :meth:`Radius.parse` reads them.
    ``mask`` belongs to the kind "mask", which has nothing else. Raises ParameterError.
    """
    if kind == MASK or mask is not None:
        return _only_mask(
            kind, mask, has_others=(radius, inner, outer, shape, order) != (None, None, None, "ideal", None)
        )
    if kind not in PASSES:
        raise ParameterError(f"{kind!r} is no filter: choose {', '.join(PASSES)} or {MASK}")
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


def _only_mask(kind: str, mask: ArrayLike | None, *, has_others: bool) -> Mask:
    if kind != MASK:
        raise ParameterError(f"{kind} is a function of the frequency: leave mask out, or take the kind {MASK!r}")
    if mask is None:
        raise ParameterError("a mask is missing: give its gains, an array (height, width), as mask")
    if has_others:
        raise ParameterError("a mask has its gains and nothing else: leave out radius, inner, outer, shape and order")
    return Mask.of(mask)
