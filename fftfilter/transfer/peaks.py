"""A peak of the spectrum and its conjugate, taken out: what a wave in the picture, such as a printer's screen, leaves.

    notch = product of 1 - low(width) around m (fx, fy) and around -m (fx, fy), m = 1 ... harmonics

low is a shape (``shapes.py``) of the distance from the peak. A peak at 0 and 0.5 cycles per pixel alone, such as (0.5,
0.5), is its own conjugate, and counts once: its gain is 1/2 at the width, too. Frequencies repeat: those beside a peak
near the highest frequency go on at the opposite side. A print has a screen of its own for each ink: a notch may be that
of some channels alone. NumPy is imported only for gains on a grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import ParameterError
from .shapes import SHAPES
from .units import Radius

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from .grid import Gain
    from .shapes import ShapeName
    from .units import RadiusLike

USUAL_WIDTH = "0.006cyc"
# Frequencies nearer than this are the same.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Notch:
    """A notch. Make one with :meth:`of`; ``at`` is in cycles per pixel."""

    at: tuple[float, float]
    width: Radius
    shape: ShapeName = "gaussian"
    harmonics: int = 1
    channels: tuple[int, ...] | None = None
    """Of color pictures, those that it is for; None for all."""

    largest: ClassVar[float] = 1.0
    """No gain exceeds it."""
    is_even: ClassVar[bool] = True
    """Whether H(-k) = H(k), so that filtered images are real."""

    @classmethod
    def of(
        cls,
        at: tuple[float, float],
        *,
        width: RadiusLike | None = None,
        shape: ShapeName = "gaussian",
        harmonics: int = 1,
        channels: Iterable[int] | None = None,
    ) -> Notch:
        """Check what is given, and return the function; raises ParameterError."""
        try:
            fx, fy = map(float, at)
        except (TypeError, ValueError):
            fx = fy = math.nan
        if not (abs(fx) <= 0.5 and abs(fy) <= 0.5 and (fx or fy)):
            raise ParameterError(
                f"{at!r} is not a peak: give FX,FY in cycles per pixel, each from -0.5 to 0.5 and not both 0, such as "
                "0.123,0.047"
            )
        if shape not in SHAPES:
            raise ParameterError(f"{shape!r} is not a shape: choose {', '.join(SHAPES)}")
        if isinstance(harmonics, bool) or not isinstance(harmonics, Integral) or harmonics < 1:
            raise ParameterError(f"harmonics {harmonics!r} is invalid: give a whole number from 1 up")
        radius = Radius.parse(USUAL_WIDTH if width is None else width, "width")
        return cls((fx, fy), radius, shape, int(harmonics), None if channels is None else _checked(channels))

    @property
    def is_even_along_axes(self) -> bool:
        """Whether H(fx, fy) = H(-fx, fy) = H(fx, -fy): the peaks lie on an axis, or at the highest frequency of one."""
        return any(abs(each) in (0, 0.5) for each in self.at)

    def peaks(self) -> list[tuple[float, float]]:
        """Return what is taken out: the multiples up to the highest frequency, each before its conjugate if it has one.

        The conjugate of a peak at 0 and 0.5 cycles per pixel alone is the peak itself.
        """
        fx, fy = self.at
        # Of 0.5/49 the 49th multiple is 0.5, but for rounding.
        count = min(self.harmonics, math.floor(0.5 / max(abs(fx), abs(fy)) + ROUNDING))
        multiples = [(m * fx, m * fy) for m in range(1, count + 1)]
        return [(sign * x, sign * y) for x, y in multiples for sign in ((1,) if _is_own_conjugate(x, y) else (1, -1))]

    def _passes(self, dx: NDArray[Any], dy: NDArray[Any], height: int, width: int) -> Gain:
        """Return the gain at distances from a peak, in cycles per pixel and less than 1, for images of a size."""
        import numpy as np

        shape, per_radius2 = SHAPES[self.shape], (min(height, width) / self.width.bins(height, width)) ** 2
        dx, dy = dx - np.rint(dx), dy - np.rint(dy)
        distance2 = (dx * dx + dy * dy) * per_radius2
        return np.asarray(1 - (shape.gain(distance2, shape.usual) if shape.gain else distance2 < 1))

    def gain(self, height: int, width: int, rows: int | None = None, columns: int | None = None) -> Gain:
        """Return H on the grid of a size, DC in the corner as ``numpy.fft`` has it: its first rows and columns."""
        import numpy as np

        gains = np.ones((height, width))[:rows, :columns]
        self.take_out_of(gains, height, width)
        return gains

    def take_out_of(self, gains: Gain, height: int, width: int) -> None:
        """Multiply the first rows and columns of the gains of a size by H, in their place."""
        import numpy as np

        fx, fy = np.fft.fftfreq(width)[: gains.shape[1]], np.fft.fftfreq(height)[: gains.shape[0]]
        zero = np.zeros(1)
        for x, y in self.peaks():
            # Gains fall with the distance: only rows and columns near the peak have others than 1.
            down = np.flatnonzero(self._passes(zero, fy - y, height, width) != 1)
            across = np.flatnonzero(self._passes(fx - x, zero, height, width) != 1)
            gains[np.ix_(down, across)] *= self._passes(fx[across] - x, fy[down, None] - y, height, width)

    def caution(self, height: int, width: int) -> str | None:
        """Return a line if the notch lies between the frequencies of an image of that size, None if not."""
        import numpy as np

        from .grid import PASSED

        fx, fy = np.array(self.peaks()).T
        nearest = self._passes(np.rint(fx * width) / width - fx, np.rint(fy * height) / height - fy, height, width)
        if nearest.min() < PASSED:
            return None
        return (
            f"width {self.width} of the notch at {self._where} is narrower than the distance to the nearest frequency: "
            "nothing is taken out"
        )

    @property
    def _where(self) -> str:
        return ",".join(f"{each:g}" for each in self.at)

    def given(self) -> dict[str, Any]:
        """Return what it was made of: for reports, and to tell filters apart."""
        given: dict[str, Any] = {
            "kind": "notch",
            "at": list(self.at),
            "width": self.width.exact,
            "shape": self.shape,
            "harmonics": self.harmonics,
        }
        return given if self.channels is None else {**given, "channels": list(self.channels)}

    def __repr__(self) -> str:
        """Return the call of ``fftfilter.transfer``, as H, that makes it."""
        given = [repr(self.at), f"width={self.width.as_given()!r}"]
        given += [f"shape={self.shape!r}"] if self.shape != "gaussian" else []
        given += [f"harmonics={self.harmonics}"] if self.harmonics != 1 else []
        given += [f"channels={self.channels}"] if self.channels is not None else []
        return f"H.notch({', '.join(given)})"

    def __str__(self) -> str:
        harmonics = f", {self.harmonics} harmonics" if self.harmonics > 1 else ""
        channels = f", channels {', '.join(map(str, self.channels))}" if self.channels is not None else ""
        return f"notch at {self._where}, {self.shape}, width {self.width}{harmonics}{channels}"


def _is_own_conjugate(x: float, y: float) -> bool:
    return all(abs(2 * each - round(2 * each)) < ROUNDING for each in (x, y))


def _checked(channels: Iterable[int]) -> tuple[int, ...]:
    """Return numbers of channels in order; raises ParameterError."""
    found = tuple(channels)
    if not found or any(isinstance(each, bool) or not isinstance(each, Integral) or each < 0 for each in found):
        raise ParameterError(f"channels {found!r} are invalid: give whole numbers from 0 up, such as (0, 2)")
    return tuple(sorted({int(each) for each in found}))
