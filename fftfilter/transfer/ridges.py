"""The ridge of the spectrum that parallel stripes leave, taken out, whatever their periods are.

    stripes = 1 - gaussian(distance from the ridge / width)   where f is not below spare, else 1

Stripes that run along an angle vary across it: their frequencies lie on the line through DC across that angle. NumPy is
imported only for gains on a grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import ParameterError
from .part import Part, Ridge
from .product import Transfer
from .shapes import gaussian
from .units import Radius

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .grid import Gain
    from .units import RadiusLike

USUAL_WIDTH = "0.003cyc"
USUAL_SPARE = "40px"


@dataclass(frozen=True, eq=False, repr=False)
class Stripes(Part):
    """Removes stripes. ``angle`` is in degrees, counterclockwise in the picture."""

    angle: float
    width: Radius
    spare: Radius

    kind = "stripes"
    carried_on = 0.2

    @property
    def is_even_along_axes(self) -> bool:
        return self.angle % 90 == 0

    def _along(self) -> tuple[float, float]:
        """Return the unit vector along the stripes, y downward as rows are counted; exact for right angles."""
        degrees = self.angle % 180
        if degrees % 90 == 0:
            return (1.0, 0.0) if degrees == 0 else (0.0, -1.0)
        return math.cos(math.radians(degrees)), -math.sin(math.radians(degrees))

    def gain(self, height: int, width: int, rows: int | None = None, columns: int | None = None) -> Gain:
        import numpy as np

        from .grid import Cutoff

        n = min(height, width)
        kx, ky = (np.rint(np.fft.fftfreq(n, 1 / n)) for n in (width, height))
        fx, fy = kx[:columns] / width, ky[:rows, None] / height
        x, y = self._along()
        distance = np.abs(x * fx + y * fy)
        # The highest frequency of an even side has both signs at once.
        is_both = (fx == -0.5) | (fy == -0.5)
        distance = np.where(is_both, np.minimum(distance, np.abs(y * fy - x * fx)), distance)
        ridge = gaussian((distance * n / self.width.bins(height, width)) ** 2, 0)
        # As an ideal low-pass decides it: exactly where a frequency lies at the radius itself.
        is_spared = Cutoff(height, width, self.spare.bins(height, width)).near(kx[:columns], ky[:rows, None])
        return np.where(is_spared, 1.0, 1 - ridge)

    def caution(self, height: int, width: int) -> str | None:
        """Return a line if all frequencies of the ridge are spared, None if not."""
        x, y = self._along()
        if self.spare.bins(height, width) <= min(height, width) * 0.5 / max(abs(x), abs(y)):
            return None
        return f"spare {self.spare} lies beyond the highest frequency of the stripes at {self.angle:g}: they all stay"

    @property
    def unit(self) -> Radius:
        return self.spare

    def marks(self, height: int, width: int) -> Iterator[Ridge]:
        across, spare = math.radians(self.angle + 90), self.spare.bins(height, width) / min(height, width)
        yield Ridge(math.cos(across), -math.sin(across), spare, f"{self.angle:g} deg")

    def __str__(self) -> str:
        return f"stripes at {self.angle:g} degrees, width {self.width}, spare {self.spare}"


def stripes(angle: float, *, width: RadiusLike | None = None, spare: RadiusLike | None = None) -> Transfer:
    """Return a transfer function that takes out stripes which run along an angle, of all periods.

    ``angle`` is in degrees, counterclockwise in the picture; 0 means horizontal stripes. ``width`` is where the
    gain is 1/2 beside the ridge that they leave in the spectrum, by default ``"0.003cyc"``; frequencies below ``spare``
    stay, by default ``"40px"``. Both are radii in any unit. Raises ParameterError.

        H.stripes(33, spare="20px")
    """
    try:
        degrees = float(angle)
    except (TypeError, ValueError, OverflowError):
        degrees = math.nan
    if not math.isfinite(degrees):
        raise ParameterError(f"angle {angle!r} is not a number of degrees: give 0 for horizontal stripes, or 33.5")
    made = Stripes(
        degrees,
        Radius.parse(USUAL_WIDTH if width is None else width, "width"),
        Radius.parse(USUAL_SPARE if spare is None else spare, "spare"),
    )
    return Transfer((made,))
