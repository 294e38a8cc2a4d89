"""The band of ImageJ's dialog "FFT Bandpass Filter", on the grid of its padded picture.

    H = (1 - exp(-(2 large f)^2)) exp(-(2 small f)^2) G     H(0) = 1
    G = 1,  1 - exp(-(kx s)^2)  or  1 - exp(-(ky s)^2)      s = 1 - tolerance/100

f is in cycles per pixel, large and small are periods in pixels; the stripes' G counts bins, so that it depends on the
grid. NumPy is imported only for gains on a grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from ..errors import ParameterError
from .units import Radius

if TYPE_CHECKING:
    from .grid import Gain
    from .units import RadiusLike

Suppress = Literal["none", "horizontal", "vertical"]
SUPPRESSED: tuple[Suppress, ...] = get_args(Suppress)
USUAL_TOLERANCE = 5


@dataclass(frozen=True)
class ImageJBand:
    """ImageJ's band. Make one with :meth:`of`; ``small`` is None for none."""

    large: Radius
    small: Radius | None
    suppress: Suppress = "none"
    tolerance: float = USUAL_TOLERANCE

    largest: ClassVar[float] = 1.0
    """No gain exceeds it."""
    is_even: ClassVar[bool] = True
    """Whether H(-k) = H(k), so that filtered images are real."""

    is_even_along_axes: ClassVar[bool] = True
    """Whether H(fx, fy) = H(-fx, fy) = H(fx, -fy)."""

    @classmethod
    def of(cls, large: RadiusLike, small: RadiusLike, *, suppress: Suppress, tolerance: float) -> ImageJBand:
        """Check what is given, and return the function; raises ParameterError. Bare numbers are pixels."""
        if suppress not in SUPPRESSED:
            raise ParameterError(f"suppress {suppress!r} is unknown: choose {', '.join(SUPPRESSED)}")
        try:
            percent = float(tolerance)
        except (TypeError, ValueError, OverflowError):
            percent = math.nan
        if not 0 <= percent <= 100:
            raise ParameterError(f"tolerance {tolerance!r} is out of range: give a percentage from 0 to 100")
        none = str(small).strip() in ("0", "0.0", "0px")
        low = None if none else Radius.parse(small, "small", bare="px")
        return cls(Radius.parse(large, "large", bare="px"), low, suppress, percent)

    def gain(self, height: int, width: int, rows: int | None = None, columns: int | None = None) -> Gain:
        """Return H on the grid of a size, DC in the corner as ``numpy.fft`` has it: its first rows and columns."""
        import numpy as np

        n = min(height, width)
        kx, ky = np.fft.fftfreq(width, 1 / width)[:columns], np.fft.fftfreq(height, 1 / height)[:rows, None]
        d2 = ((kx / width) ** 2 + (ky / height) ** 2) * n**2
        gains = -np.expm1(-d2 * (2 / self.large.bins(height, width)) ** 2)
        if self.small:
            gains *= np.exp(-d2 * (2 / self.small.bins(height, width)) ** 2)
        if self.suppress != "none":
            across = kx if self.suppress == "horizontal" else ky
            gains *= -np.expm1(-((across * (1 - self.tolerance / 100)) ** 2))
        gains[0, 0] = 1
        return np.asarray(gains)

    def caution(self, height: int, width: int) -> None:
        """Return None: Gaussians begin and end nowhere."""

    def given(self) -> dict[str, Any]:
        """Return what it was made of: for reports, and to tell filters apart."""
        return {
            "kind": "imagej",
            "large": self.large.exact,
            "small": self.small.exact if self.small else "0",
            "suppress": self.suppress,
            "tolerance": self.tolerance,
        }

    def __repr__(self) -> str:
        """Return the call of ``fftfilter.transfer``, as H, that makes it."""
        given = [repr(self.large.as_given()), repr(self.small.as_given() if self.small else 0)]
        given += [f"suppress={self.suppress!r}"] if self.suppress != "none" else []
        given += [f"tolerance={self.tolerance!r}"] if self.tolerance != USUAL_TOLERANCE else []
        return f"H.imagej({', '.join(given)})"

    def __str__(self) -> str:
        stripes = f", {self.suppress} stripes out by {self.tolerance:g}%" if self.suppress != "none" else ""
        return f"ImageJ's bandpass, large {self.large}, small {self.small or 0}{stripes}"
