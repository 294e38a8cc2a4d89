"""Functions of the distance from DC: low-pass, high-pass, band-pass, band-stop.

    lowpass   = low(radius)
    highpass  = 1 - low(radius)
    bandpass  = low(outer) * (1 - low(inner))
    bandstop  = 1 - bandpass

low is a shape (``shapes.py``), and inner the cutoff that is nearer to DC. The distance of a frequency is counted in
cycles across the image's shorter side n, on a square image in bins; the default cutoff is n/8, as in the book.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, get_args

from ..errors import ParameterError
from .part import ALL, Part, Ring
from .product import Transfer
from .shapes import SHAPES, USUAL_ORDER, ShapeName
from .units import Radius, RadiusLike

if TYPE_CHECKING:
    from .grid import Cutoff, Gain, Support

Pass = Literal["lowpass", "highpass", "bandpass", "bandstop"]
PASSES: tuple[Pass, ...] = get_args(Pass)
HIGHEST_ORDER = 100
# Below this 1 - H has lost as many digits as single precision can spare.
FAINT = 1 / 16
# A narrower edge, as a part of the radius, is beyond single precision.
NARROWEST = 1e-3


@dataclass(frozen=True, repr=False)
class Radial(Part):
    """A radial transfer function. Make one with :func:`lowpass` or another function below.

    ``outer`` is the radius of a low-pass or high-pass, None for the default of n/8; ``inner`` is the other cutoff of a
    band, the lower one unless only an image can tell. ``width`` is None for the shape's usual part of each radius.
    """

    kind: Pass
    outer: Radius | None
    inner: Radius | None = None
    shape: ShapeName = "ideal"
    order: int = USUAL_ORDER
    width: Radius | None = None

    is_even_along_axes = True
    by_position = ("radius", "inner", "outer")

    def ordered(self, height: int, width: int) -> tuple[Radius | None, Radius | None]:
        """Return ``outer`` and ``inner``, changed over if that is their order on a ``(height, width)`` grid."""
        if self.outer and self.inner and self.inner.cycles(height, width) > self.outer.cycles(height, width):
            return self.inner, self.outer
        return self.outer, self.inner

    def radii(self, height: int, width: int) -> tuple[float, float | None]:
        """Return the outer and inner radius in cycles across the shorter side; raises ParameterError if equal."""
        outer, inner = self.ordered(height, width)
        radius = outer.bins(height, width) if outer else min(height, width) / 8
        if inner is None:
            return radius, None
        if outer and (inner.bins(height, width), inner.pixel) == (radius, outer.pixel):
            grid = "" if inner == outer else f" on {width} x {height} pixels"
            raise ParameterError(
                f"cutoffs {inner} and {outer} are the same{grid}: give two, one on either side of the band"
            )
        return radius, inner.bins(height, width)

    def cutoffs(self, height: int, width: int) -> tuple[Cutoff, Cutoff | None]:
        """Return the outer and the inner cutoff on a ``(height, width)`` grid; raises what :meth:`radii` raises."""
        from .grid import Cutoff

        def cutoff(given: Radius | None, radius: float) -> Cutoff:
            high, wide = given.grid(height, width) if given else (height, width)
            return Cutoff(high, wide, radius, self.falloff(radius, height, width, min(high, wide)))

        (outer, inner), (radius, other) = self.ordered(height, width), self.radii(height, width)
        return cutoff(outer, radius), None if other is None else cutoff(inner, other)

    def falloff(self, radius: float, height: int, width: int, n: float = 0.0) -> float:
        """Return the order, or the width as a part of a radius in bins; raises ParameterError for an unfit width.

        ``n`` is the shorter side of the radius' grid, if that may be another than that of the width.
        """
        shape = SHAPES[self.shape]
        if self.width is None:
            return float(self.order) if shape.has_order else shape.usual
        own = min(self.width.grid(height, width))
        part = self.width.bins(height, width) * ((n or own) / own) / radius
        if not NARROWEST <= part <= shape.widest:
            way_out = f"at most {shape.widest:g} times the radius" if part > 1 else "more, or the ideal shape"
            raise ParameterError(
                f"width {self.width} is {part:.4g} times the radius it belongs to, which the {self.shape} shape cannot "
                f"have: give {way_out}"
            )
        return part

    def support(self, height: int, width: int) -> Support:
        """Return where H varies: along each axis, the bins at which the outer low-pass is not negligible."""
        import numpy as np

        from .grid import NEGLIGIBLE, Support

        outer, _ = self.cutoffs(height, width)
        # A low-pass falls with the distance, so that none of its rows is longer than the one through DC.
        kx, ky = np.arange(width // 2 + 1), np.arange(height // 2 + 1)
        rows, columns = (outer.low(self.shape, *bins) > NEGLIGIBLE for bins in ((0 * ky, ky), (kx, 0 * kx)))
        return Support(int(np.count_nonzero(rows)), int(np.count_nonzero(columns)), float(self.is_complement))

    def caution(self, height: int, width: int) -> str | None:
        """Return a line on a cutoff beyond the grid, so that everything passes there, or nothing; None if it is not."""
        from .grid import PASSED

        # A smooth shape leaves something of what it stops, however little.
        if self._farthest(height, width) < (PASSED if self.passes_dc else 1):
            return None
        outer, inner = self.ordered(height, width)
        radius, what = inner or outer, "everything" if self.passes_dc else "nothing"
        return f"radius {radius or 'n/8'} lies beyond the highest frequency: the {self.kind} passes {what}"

    def is_faint(self, height: int, width: int) -> bool:
        """Whether so little passes everywhere that 1 minus a low-pass has few digits left in single precision."""
        return not self.passes_dc and 1 - FAINT < self._farthest(height, width) < 1

    @lru_cache(maxsize=32)  # noqa: B019  for the pictures of a folder; it keeps some parts alive
    def _farthest(self, height: int, width: int) -> float:
        """Return the gain of the low-pass nearest to DC at the highest frequency of both sides."""
        import numpy as np

        outer, inner = self.cutoffs(height, width)
        return float((inner or outer).low(self.shape, np.array(width // 2), np.array(height // 2)))

    def gain(self, height: int, width: int, rows: slice = ALL, columns: slice = ALL) -> Gain:
        import numpy as np

        sides = ((np.arange(*where.indices(n)), n) for where, n in ((columns, width), (rows, height)))
        kx, ky = (np.minimum(k, n - k) for k, n in sides)
        # Half of a row has all of its gains: the others are those of the opposite frequencies.
        half, mirrored = np.unique(kx, return_inverse=True)
        is_half = np.array_equal(half, kx)
        ky, kx = ky[:, None], half
        outer, inner = self.cutoffs(height, width)
        passed = outer.low(self.shape, kx, ky)
        if inner is not None:
            passed *= 1 - inner.low(self.shape, kx, ky)
        passed = 1 - passed if self.is_complement else passed
        return passed if is_half else passed[:, mirrored]

    @property
    def passes_dc(self) -> bool:
        """Whether H(0) is 1; else it is 0."""
        return self.kind in ("lowpass", "bandstop")

    @property
    def is_complement(self) -> bool:
        """Whether it is 1 minus what passes."""
        return self.kind in ("highpass", "bandstop")

    @property
    def is_subtracted(self) -> bool:  # type: ignore[override]
        return self.is_complement

    @property
    def has_direction(self) -> bool:  # type: ignore[override]
        return any(each.stretch != 1 for each in (self.outer, self.inner) if each)

    @property
    def radial(self) -> Radial | None:  # type: ignore[override]
        return None if self.has_direction else self

    @property
    def unit(self) -> Radius:  # type: ignore[override]
        return self.outer or Radius(1)

    def marks(self, height: int, width: int) -> Iterator[Ring]:
        own = self.for_size(height, width)
        for radius in filter(None, (own.outer, own.inner)):
            label = str(radius) if self.outer else f"n/8 = {radius}"
            yield Ring(radius.cycles(height, width), label, stretch=radius.stretch)

    def for_size(self, height: int, width: int) -> Radial:
        return self if self.outer else replace(self, outer=Radius(min(height, width) / 8))

    def given(self) -> dict[str, Any]:
        radii = {"radius": self.outer} if self.inner is None else {"inner": self.inner, "outer": self.outer}
        named = {name: str(radius.as_given()) for name, radius in radii.items() if radius is not None}
        order = {"order": self.order} if SHAPES[self.shape].has_order else {}
        width = {"width": str(self.width.as_given())} if self.width else {}
        return {"kind": self.kind, **named, "shape": self.shape, **order, **width}

    def arguments(self) -> dict[str, Any]:
        given = super().arguments()
        inner, outer = given.pop("inner", None), given.pop("outer")
        radii = {"radius": outer} if self.inner is None else {"inner": inner, "outer": outer}
        return {name: each for name, each in (radii | given).items() if each is not None and name != "kind"}

    def __str__(self) -> str:
        order = f" of order {self.order}" if SHAPES[self.shape].has_order else ""
        width = f" of width {self.width}" if self.width else ""
        inner = f"{self.inner} to " if self.inner else ""
        return f"{self.kind}, {self.shape}{order}{width}, radius {inner}{self.outer or 'n/8'}"


def lowpass(
    radius: RadiusLike | None = None,
    *,
    shape: ShapeName = "ideal",
    order: int | None = None,
    width: RadiusLike | None = None,
) -> Transfer:
    """Return a transfer function that passes what is nearer to DC than a cutoff; raises ParameterError.

    Args:
        radius: The cutoff in cycles across the shorter side n, by default n/8; or with a unit: "8px" (a period),
            "0.125cyc" (cycles per pixel), "25%" (of 0.5 cycles per pixel); with a ``pixel_size`` also "2.6um" (a
            period; km, m, cm, mm, nm, A, pm, in, too), "0.43/nm" (cycles per nm), "150lpi" (lines per inch), "12lp/mm"
            (line pairs per mm) and "5arcsec".
        shape: How the edge falls: "ideal", "gaussian", "butterworth", "cosine" or "fermi".
        order: The steepness of "butterworth", 1 to 100, by default 2.
        width: The width of the edge of "cosine", by default r/2, at most 2 r, or "fermi", by default r/10, at most r;
            a radius in any unit.

    >>> H.lowpass("8px", shape="butterworth", order=4) * H.highpass(3)
    H.lowpass('8px', shape='butterworth', order=4) * H.highpass(3)

    """
    return _transfer("lowpass", shape, order, width, radius=radius)


def highpass(
    radius: RadiusLike | None = None,
    *,
    shape: ShapeName = "ideal",
    order: int | None = None,
    width: RadiusLike | None = None,
) -> Transfer:
    """Return 1 - :func:`lowpass`: it passes what is farther from DC than a cutoff; raises ParameterError.

    Args:
        radius: The cutoff in units as for :func:`lowpass`, by default n/8.
        shape: How the edge falls: "ideal", "gaussian", "butterworth", "cosine" or "fermi".
        order: The steepness of "butterworth", 1 to 100, by default 2.
        width: The width of the edge of "cosine", by default r/2, at most 2 r, or "fermi", by default r/10, at most r;
            a radius in any unit.

    >>> H.highpass("25%", shape="fermi", width="2%")
    H.highpass('25%', shape='fermi', width='2%')

    """
    return _transfer("highpass", shape, order, width, radius=radius)


def bandpass(
    inner: RadiusLike,
    outer: RadiusLike,
    *,
    shape: ShapeName = "ideal",
    order: int | None = None,
    width: RadiusLike | None = None,
) -> Transfer:
    """Return :func:`lowpass` of ``outer`` times :func:`highpass` of ``inner``; raises ParameterError.

    Args:
        inner: The cutoff that is nearer to DC, of periods the longer one, in units as for :func:`lowpass`.
        outer: The other cutoff; the two may change places.
        shape: How the edge falls: "ideal", "gaussian", "butterworth", "cosine" or "fermi".
        order: The steepness of "butterworth", 1 to 100, by default 2.
        width: The width of the edge of "cosine", by default r/2, at most 2 r, or "fermi", by default r/10, at most r;
            a radius in any unit.

    >>> H.bandpass("20px", "4px", shape="gaussian")
    H.bandpass('20px', '4px', shape='gaussian')

    """
    return _transfer("bandpass", shape, order, width, outer=outer, inner=inner)


def bandstop(
    inner: RadiusLike,
    outer: RadiusLike,
    *,
    shape: ShapeName = "ideal",
    order: int | None = None,
    width: RadiusLike | None = None,
) -> Transfer:
    """Return 1 - :func:`bandpass`: it removes what lies between two cutoffs; raises ParameterError.

    Args:
        inner: The cutoff that is nearer to DC, of periods the longer one, in units as for :func:`lowpass`.
        outer: The other cutoff; the two may change places.
        shape: How the edge falls: "ideal", "gaussian", "butterworth", "cosine" or "fermi".
        order: The steepness of "butterworth", 1 to 100, by default 2.
        width: The width of the edge of "cosine", by default r/2, at most 2 r, or "fermi", by default r/10, at most r;
            a radius in any unit.

    >>> H.bandstop(30, 34)
    H.bandstop(30, 34)

    """
    return _transfer("bandstop", shape, order, width, outer=outer, inner=inner)


def _transfer(kind: Pass, *given: Any, **cutoffs: RadiusLike | None) -> Transfer:
    """Check what is given, and return the transfer function; raises ParameterError."""
    try:
        return _checked(kind, *given, **cutoffs)
    except TypeError:  # a list, for example, of which no cache knows
        return _checked.__wrapped__(kind, *given, **cutoffs)


@lru_cache(maxsize=32, typed=True)  # filtering a small image takes little longer than the checks
def _checked(
    kind: Pass, shape: ShapeName, order: int | None, width: RadiusLike | None, **cutoffs: RadiusLike | None
) -> Transfer:
    if shape not in SHAPES:
        raise ParameterError(f"{shape!r} is not a shape: choose {', '.join(SHAPES)}")
    for name, given, takes in (("order", order, "has_order"), ("width", width, "widest")):
        if given is not None and not getattr(SHAPES[shape], takes):
            others = " or ".join(other for other, each in SHAPES.items() if getattr(each, takes))
            raise ParameterError(
                f"{name} {given} has no meaning for the {shape} shape: leave it out or choose {others}"
            )
    edge = None if width is None else Radius.parse(width, "width")
    order = USUAL_ORDER if order is None else order
    if isinstance(order, bool) or not isinstance(order, Integral) or not 1 <= order <= HIGHEST_ORDER:
        raise ParameterError(f"order {order} is out of range: give a whole number from 1 to {HIGHEST_ORDER}")
    # A band has no default.
    radii = (
        Radius.parse(each, name) if each is not None or name != "radius" else None for name, each in cutoffs.items()
    )
    made = Radial(kind, *radii, shape=shape, order=int(order), width=edge)
    # Where an image is not needed to compare them, this is done at once, for pixels of any size.
    anywhere = made.with_radii(lambda radius: radius._replace(pixel=(1.0, 1.0)))
    found = [each for each in (anywhere.outer, anywhere.inner) if each]
    if len({each.family for each in found}) == 1:
        anywhere.radii(1, 1)
        if anywhere.ordered(1, 1)[0] != anywhere.outer:
            made = replace(made, outer=made.inner, inner=made.outer)
    for each in found:
        if edge and edge.family == each.family:
            anywhere.falloff(each.bins(1, 1), 1, 1)
    return Transfer((made,))
