"""A product of transfer functions, and its grid by what lies beyond the borders of an image.

wrap      the image again, without end: whole cycles across each side
mirror    its mirror image, without end: also half cycles, the frequencies of a picture of twice each side

NumPy is imported only for gains on a grid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import inf, prod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from ..errors import ParameterError, as_typed
from ..text import Angle
from .part import Part, Ridge, Ring
from .units import PixelLike, Radius, number, one_if_square, parse_pixel_size

if TYPE_CHECKING:
    from ..arrays import Floats
    from .grid import Gain, Support
    from .radial import Radial

# Gains that are computed at a time, in float64: what stays in a processor's cache.
BAND = 1 << 16


@dataclass(frozen=True, repr=False)
class Transfer:
    """A transfer function H: the product of its parts. Filters are made of it.

    Without parts it passes everything.

    An engine computes a single radial part as it goes; every other product it takes as a table of gains.

    >>> H.highpass(40) * H.lowpass("4px")
    H.highpass(40) * H.lowpass('4px')
    """

    parts: tuple[Part, ...]
    keeps_mean: bool = False  # whether H(0) is 1 whatever the parts say, so that the mean of an image stays
    depth: float | None = None  # the most decibels that frequencies are attenuated by; None for what the parts say
    is_complement: bool = False  # whether it is what the product removes, 1 - H, and 0 at the frequency 0

    def __mul__(self, other: Transfer) -> Transfer:
        """Return the product; raises ParameterError if its gains exceed float64's range, or a factor has a depth."""
        if not isinstance(other, Transfer):
            return NotImplemented
        for each in (self, other):
            if each.depth is not None or each.is_complement:
                what = "complement" if each.is_complement else "depth"
                how = "complement()" if each.is_complement else "with_depth"
                raise ParameterError(f"a {what} is that of the whole product: multiply first, then take {how}")
        product = Transfer(self.parts + other.parts)
        if product.largest == inf:
            raise ParameterError(f"the gains of {product} exceed the range of float64: give masks with lower gains")
        return product

    def with_pixel_size(self, size: PixelLike) -> Transfer:
        """Return the same function for pixels of a size, such as ``"65nm"`` or ``"300dpi"``; a number is in meters.

        Radii in physical units need it, those in units of angles an angle, such as "0.2arcsec". Of a width and a
        height, ``"7um,10um"`` or two numbers, such a radius is an ellipse on the grid of frequencies. Raises
        ParameterError.
        """
        pixel = parse_pixel_size(size)
        return self._with_radii(lambda radius: radius.with_pixel(pixel))

    def for_any_pixels(self) -> Transfer:
        """Return the same function for pixels of some size, to measure what all sizes take alike."""
        return self._with_radii(lambda radius: radius._replace(pixel=(1.0, 1.0)))

    def on_twice_the_sides(self) -> Transfer:
        """Return the same function of frequency for images of twice each side."""
        return self._with_radii(Radius.on_twice_the_sides)

    def _with_radii(self, change: Callable[[Radius], Radius]) -> Transfer:
        return replace(self, parts=tuple(part.with_radii(change) for part in self.parts))

    def with_depth(self, decibels: float) -> Transfer:
        """Return the function with a gain floor, so that what it removes is only attenuated: by 6 dB to a half.

            H' = floor + (1 - floor) H,  floor = 10^(-decibels/20)

        The image is mixed with the filtered one, ``floor`` parts of 1. Raises ParameterError.

        >>> half = H.stripes(0).with_depth(6)
        """
        return replace(self, depth=checked_depth(decibels))

    def complement(self) -> Transfer:
        """Return 1 - H, which passes what H removes, without the mean; ``keeping_mean`` of that passes it, too.

        H.stripes(0).complement()
        """
        return replace(self, is_complement=not self.is_complement)

    @property
    def passes_all(self) -> bool:
        """Whether it has no effect."""
        return not (self.parts or self.is_complement)

    @property
    def floor(self) -> float:
        """The gain of what the parts remove."""
        return 0.0 if self.depth is None else 10 ** (-self.depth / 20)

    @property
    def pixel_size(self) -> float | tuple[float, float] | None:
        """The size of a pixel in meters, or an Angle, if radii in physical units have it; or its width and height."""
        return next((each.pixel and one_if_square(each.pixel) for each in self._physical()), None)

    @property
    def lacks_pixel_size(self) -> Radius | None:
        """The first radius that needs the size of a pixel and has none, if there is one."""
        return next((each for each in self._physical() if each.pixel is None), None)

    def _physical(self) -> Iterator[Radius]:
        return chain.from_iterable(part.physical() for part in self.parts)

    def check(self) -> None:
        """Raise ParameterError for gains that are not what a part promises, such as even ones."""
        # Of eight parts, and one of each kind: for hundreds of notches it would take longer than the filter.
        for part in (*self.parts[:8], *{type(part): part for part in self.parts}.values()):
            part.check()

    @property
    def radial(self) -> Radial | None:
        """The one part, if it is radial and all of the function."""
        return self.parts[0].radial if len(self.parts) == 1 and self.depth is None and not self.is_complement else None

    @property
    def is_fitted(self) -> bool:
        """Whether gains follow from the picture."""
        return any(part.is_fitted for part in self.parts)

    @property
    def has_fixed_pattern(self) -> bool:
        """Whether lines are those that several pictures have in common."""
        return any(part.fixed_pattern for part in self.parts)

    @property
    def is_measured(self) -> bool:
        """Whether gains follow from the picture, or what is taken from it can be subtracted."""
        return self.is_fitted or any(part.is_subtracted for part in self.parts)

    def parted(self) -> tuple[Transfer, Transfer]:
        """Return the product of the parts that take something away that can be subtracted, and that of the others."""
        by = (tuple(part for part in self.parts if part.is_subtracted is subtracts) for subtracts in (True, False))
        removing, others = (replace(self, parts=parts) for parts in by)
        return replace(removing, is_complement=False), others

    @property
    def is_even(self) -> bool:
        return all(part.is_even for part in self.parts)

    @property
    def is_complex(self) -> bool:
        """Whether gains are complex."""
        return any(part.is_complex for part in self.parts)

    @property
    def is_real(self) -> bool:
        """Whether filtered images are real: H(-k) is the conjugate of H(k)."""
        return all(part.is_even or part.is_complex for part in self.parts)

    @property
    def is_even_along_axes(self) -> bool:
        return all(part.is_even_along_axes for part in self.parts)

    @property
    def is_by_channel(self) -> bool:
        """Whether channels of a color picture are filtered differently.

        The other properties are those of the product of all parts, which filters pictures of one channel.
        """
        return any(part.channels is not None for part in self.parts)

    def of_channels(self, count: int) -> list[Transfer]:
        """Return H of each of ``count`` channels, one if all are alike; raises ParameterError for others."""
        if count == 1 or not self.is_by_channel:
            return [self]
        last, kind = max((max(part.channels), part.kind) for part in self.parts if part.channels)
        if last >= count:
            raise ParameterError(f"{kind} has a channel {last}, and the picture the channels 0 to {count - 1}")
        return [
            replace(self, parts=tuple(part for part in self.parts if part.channels is None or i in part.channels))
            for i in range(count)
        ]

    @cached_property
    def largest(self) -> float:
        """A bound of all gains, at least 1; engines compute with gains divided by it."""
        largest = prod((part.largest for part in self.parts), start=1.0)
        # Gains of arrays and functions may be below 0.
        return largest + (self.is_complement and any(part.kind in ("mask", "function") for part in self.parts))

    def gain(
        self,
        height: int,
        width: int,
        rows: int | None = None,
        columns: int | slice | None = None,
        *,
        unit: float = 1.0,
        real: str = "f8",
    ) -> Gain:
        """Return H in float64, shape ``(height, width)``, DC in the corner as ``numpy.fft`` has it.

        Of that its first ``rows`` and ``columns``, or a slice of columns, by default all; as parts of a unit, and of
        the ``real`` numbers of an engine. Raises ParameterError for a size that a part does not fit.
        """
        import numpy as np

        high, across = _part(height, width, rows, columns)
        number = np.result_type(np.dtype(real), 1j) if self.is_complex else real
        table, start = np.empty((high, len(range(width)[across])), number), 0
        for gain in self.bands(height, width, rows, columns):
            np.divide(gain, unit, out=table[start : start + len(gain)], casting="same_kind")
            start += len(gain)
        return table

    def bands(
        self, height: int, width: int, rows: int | None = None, columns: int | slice | None = None
    ) -> Iterator[Gain]:
        """Yield what :meth:`gain` returns, some rows at a time: all in float64 would take more than the picture."""
        import numpy as np

        high, across = _part(height, width, rows, columns)
        multipliers = [part.multiplier(height, width) for part in self.parts]
        step = max(1, BAND // len(range(width)[across]))
        for start in range(0, high, step):
            where = slice(start, min(start + step, high)), across
            gain = np.ones((where[0].stop - start, len(range(width)[across])), "c16" if self.is_complex else "f8")
            for multiply in multipliers:
                multiply(gain, *where)
            if self.depth is not None:
                gain *= 1 - self.floor
                gain += self.floor
            if self.is_complement:
                np.subtract(1, gain, out=gain)
            if not (start or across.start) and (self.keeps_mean or self.is_complement):
                gain[0, 0] = self.keeps_mean
            yield gain

    def on_grid(
        self, height: int, width: int, rows: int | None = None, columns: int | None = None, real: str = "f8"
    ) -> tuple[Support, Floats | None]:
        """Return the part of the grid where H varies, and a table of gains unless kernels can compute H.

        They compute a single radial part in single precision, except H(0), which is :meth:`at_dc`. Gains are divided
        by :attr:`largest`, so that none exceeds 1; ``rows`` and ``columns`` are as for :meth:`gain`. ``real`` is the
        type of the table.
        """
        if self.radial and not self.radial.is_faint(height, width):
            return self.radial.support(height, width), None
        from .grid import table_support

        table = self.gain(height, width, rows, columns, unit=self.largest, real=real)
        return table_support(table, height, width), table

    def cautions(self, height: int, width: int) -> list[str]:
        """Return a line for each part that has no effect on a ``(height, width)`` image, or leaves nothing of it."""
        return [line for part in self.parts if (line := part.caution(height, width))]

    def at_dc(self, table: Floats | None) -> float:
        """Return H(0) divided by :attr:`largest`; ``table`` is that of :meth:`on_grid`, or its first gain."""
        if self.keeps_mean:
            return 1 / self.largest
        return float(self.radial is not None and self.radial.passes_dc) if table is None else float(table[0, 0].real)

    def in_cycles(self, height: int, width: int, level: float = 1.0) -> Transfer:
        """Return the same function for any grid, in cycles per pixel of an image of a size, reduced by ``level``."""
        parts = (part.reduced(level, height, width) for part in self.parts)
        return replace(self, parts=tuple(part for part in parts if part is not None))

    def marks(self, height: int, width: int) -> Iterator[Ring | Ridge]:
        """Return what is drawn over the spectrum of a ``(height, width)`` image: the cutoffs of all parts."""
        return chain.from_iterable(part.marks(height, width) for part in self.parts)

    @property
    def unit(self) -> Radius:
        """A radius of the unit that the cutoffs are in, with the size of a pixel if it needs one."""
        return next((part.unit for part in self.parts if part.unit), Radius(1, "cyc"))

    def keeping_mean(self) -> Transfer:
        """Return the same function with an H(0) of 1."""
        return replace(self, keeps_mean=True)

    def given(self) -> dict[str, Any]:
        """Return what it was made of: for reports, and to tell filters apart."""
        parts = [part.given() for part in self.parts]
        given = parts[0] if len(parts) == 1 else {"kind": "product", "parts": parts}
        given |= {} if self.depth is None else {"depth": self.depth}
        given |= {"complement": True} if self.is_complement else {}
        return given | ({} if self.pixel_size is None else {"pixel_size": as_given(self.pixel_size)})

    def __repr__(self) -> str:
        """Return what makes the same function, with ``from fftfilter import transfer as H``; masks in short."""
        made = " * ".join(map(repr, self.parts)) or "H.Transfer(())"
        if len({each.pixel for each in self._physical()}) > 1:
            made = " * ".join(repr(Transfer((part,))) for part in self.parts)
        elif self.pixel_size is not None:
            made = f"({made}).with_pixel_size({as_given(self.pixel_size)!r})"
        made = made if self.depth is None else f"({made}).with_depth({self.depth!r})"
        return f"({made}).complement()" if self.is_complement else made

    def __str__(self) -> str:
        made = " * ".join(map(str, self.parts)) or "everything passes"
        made = made if self.depth is None else f"{made}, depth {self.depth:g} dB"
        return f"what is removed by {made}" if self.is_complement else made


def _part(height: int, width: int, rows: int | None, columns: int | slice | None) -> tuple[int, slice]:
    """Return how many rows of a grid are asked for, and which columns."""
    across = columns if isinstance(columns, slice) else slice(min(width, columns or width))
    return min(height, rows or height), across


def as_given(size: float | tuple[float, float]) -> float | str:
    """Return the size of a pixel as :meth:`Transfer.with_pixel_size` takes it."""
    if isinstance(size, tuple):
        return ",".join(repr(each) if isinstance(each, Angle) else f"{each!r}m" for each in size)
    return repr(size) if isinstance(size, Angle) else size


def checked_depth(given: object) -> float:
    """Return decibels; raises ParameterError for what is no number above 0."""
    decibels = number(given)
    if isinstance(given, bool) or not 0 < decibels < inf:
        raise ParameterError(
            f"depth {as_typed(given)} is invalid: give decibels above 0, such as 6, which halves, or 20"
        )
    return decibels


Edges = Literal["wrap", "mirror"]
EDGES: tuple[Edges, ...] = get_args(Edges)


class EdgedGrid(NamedTuple):
    """The frequencies of an image with its edges: a transfer function and the sides of the grid it is taken on."""

    transfer: Transfer
    height: int
    width: int
    edges: Edges

    def gain(self) -> Gain:
        """Return H in float64, shape ``(height, width)`` of the grid."""
        return self.transfer.gain(self.height, self.width)

    def on_grid(self, real: str = "f8") -> tuple[Support, Gain | None]:
        """Return what :meth:`Transfer.on_grid` does; for mirrored edges only the gains that the others follow from.

        Those are the rows up to half the height, and if H is even along each axis the columns up to half the width.
        """
        if self.edges == "wrap":
            return self.transfer.on_grid(self.height, self.width, real=real)
        columns = self.width // 2 + 1 if self.transfer.is_even_along_axes else self.width
        return self.transfer.on_grid(self.height, self.width, self.height // 2 + 1, columns, real)


def grid_with(edges: Edges, transfer: Transfer, height: int, width: int) -> EdgedGrid:
    """Return the grid of a ``(height, width)`` image; raises ParameterError for radii that do not fit it."""
    if edges == "wrap":
        return EdgedGrid(transfer, height, width, edges)
    transfer.cautions(height, width)  # raises, in the numbers that were given, what the larger grid would
    return EdgedGrid(transfer.on_twice_the_sides(), 2 * height, 2 * width, edges)
