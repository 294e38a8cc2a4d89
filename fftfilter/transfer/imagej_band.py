"""The band of ImageJ's dialog "FFT Bandpass Filter", on the grid of its padded picture.

    H = (1 - exp(-(2 large f)^2)) exp(-(2 small f)^2) G     H(0) = 1
    G = 1,  1 - exp(-(kx s)^2)  or  1 - exp(-(ky s)^2)      s = 1 - tolerance/100

f is in cycles per pixel, large and small are periods in pixels; the stripes' G counts bins, so that it depends on the
grid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from ..errors import ParameterError
from .grid import Gain
from .part import ALL, Part, Ring
from .product import Transfer
from .units import Radius, RadiusLike, number

Suppress = Literal["none", "horizontal", "vertical"]
SUPPRESSED: tuple[Suppress, ...] = get_args(Suppress)


@dataclass(frozen=True, repr=False)
class ImageJBand(Part):
    """ImageJ's band. Make one with :func:`imagej`; ``small`` is None for none."""

    large: Radius
    small: Radius | None
    suppress: Suppress = "none"
    tolerance: float = 5

    kind = "imagej"
    is_even_along_axes = True
    by_position = ("large", "small")

    @property
    def unit(self) -> Radius:  # type: ignore[override]
        return self.large

    def marks(self, height: int, width: int) -> Iterator[Ring]:
        for radius in (self.small, self.large):
            if radius:
                yield Ring(radius.cycles(height, width), str(radius), stretch=radius.stretch)

    def gain(self, height: int, width: int, rows: slice = ALL, columns: slice = ALL) -> Gain:
        kx, ky = np.fft.fftfreq(width, 1 / width)[columns], np.fft.fftfreq(height, 1 / height)[rows, None]

        def exponent(radius: Radius) -> Gain:
            high, wide = radius.grid(height, width)
            d2 = ((kx / wide) ** 2 + (ky / high) ** 2) * min(high, wide) ** 2
            return np.asarray(-d2 * (2 / radius.bins(height, width)) ** 2)

        gains = -np.expm1(exponent(self.large))
        if self.small:
            gains *= np.exp(exponent(self.small))
        if self.suppress != "none":
            across = kx if self.suppress == "horizontal" else ky
            gains *= -np.expm1(-((across * (1 - self.tolerance / 100)) ** 2))
        gains[(kx == 0) & (ky == 0)] = 1
        return np.asarray(gains)

    def given(self) -> dict[str, Any]:
        return {"kind": self.kind, "large": str(self.large.as_given()), "small": "0"} | super().given()

    def arguments(self) -> dict[str, Any]:
        given = super().arguments()
        return given | {"small": given["small"] or 0}

    def __str__(self) -> str:
        stripes = f", {self.suppress} stripes out by {self.tolerance:g}%" if self.suppress != "none" else ""
        return f"ImageJ's bandpass, large {self.large}, small {self.small or 0}{stripes}"


def imagej(
    large: RadiusLike = 40, small: RadiusLike = 3, *, suppress: Suppress = "none", tolerance: float = 5
) -> Transfer:
    """Return the band of ImageJ's "FFT Bandpass Filter": structures from ``small`` to ``large`` stay, and the mean.

    The gains are meant for ImageJ's padded square, on which :func:`fftfilter.imagej` filters. Raises
    ParameterError.

    Args:
        large: Structures up to this size stay: a period in pixels, by default 40, or a radius in any unit.
        small: Structures from this size on stay, by default 3 pixels; 0 keeps the finest.
        suppress: Stripes that are removed: "none", "horizontal" or "vertical".
        tolerance: How far the stripes may turn, in percent, by default 5.

    >>> band = H.imagej(40, 3, suppress="horizontal")

    """
    if suppress not in SUPPRESSED:
        raise ParameterError(f"suppress {suppress!r} is unknown: choose {', '.join(SUPPRESSED)}")
    percent = number(tolerance)
    if not 0 <= percent <= 100:
        raise ParameterError(f"tolerance {tolerance!r} is out of range: give a percentage from 0 to 100")
    none = str(small).strip() in ("0", "0.0", "0px")
    low = None if none else Radius.parse(small, "small", bare="px")
    return Transfer((ImageJBand(Radius.parse(large, "large", bare="px"), low, suppress, percent),))
