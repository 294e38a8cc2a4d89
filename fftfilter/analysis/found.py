"""A peak of the spectrum that was found: a wave in the picture, with what people ask about it. Works without NumPy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import transfer

if TYPE_CHECKING:
    from ..transfer import Transfer


@dataclass(frozen=True)
class Peak:
    """A wave in a picture: a peak of its spectrum, with its conjugate at ``(-fx, -fy)``."""

    fx: float
    fy: float
    """Cycles per pixel, x to the right and y downward; fx is above 0, or about 0 and fy is."""
    strength_db: float
    """Its power above that of the frequencies around it."""
    amplitude: float
    """Of the wave, white being 255; the root of the mean square over several pictures."""
    width: float
    """Of the notch that removes it, in cycles per pixel."""
    channels: tuple[int, ...] = (0,)
    """Those in which it was found."""
    harmonics: tuple[Harmonic, ...] = ()
    """Its multiples that were found, too."""

    @property
    def period_px(self) -> float:
        """Pixels from crest to crest, across the stripes."""
        return 1 / math.hypot(self.fx, self.fy)

    @property
    def angle_deg(self) -> float:
        """Along the stripes, counterclockwise from 0, which are horizontal ones, to 180."""
        return (math.degrees(math.atan2(self.fx, self.fy))) % 180

    def all(self) -> tuple[Peak, ...]:
        """Return the peak and its harmonics."""
        return (self, *(each.peak for each in self.harmonics))

    @property
    def at(self) -> str:
        """What ``notch --at`` takes to remove it, without its harmonics."""
        return f"{_rounded(self.fx)},{_rounded(self.fy)},{self.width:.3g}cyc"

    def notch(self) -> Transfer:
        """Return the transfer function that removes it and its harmonics."""
        first, *rest = (transfer.notch((each.fx, each.fy), width=f"{each.width:.3g}cyc") for each in self.all())
        return math.prod(rest, start=first)


@dataclass(frozen=True)
class Harmonic:
    """A peak at a multiple of another one."""

    multiples: tuple[int, ...]
    """One number; two for a sum of multiples of the two waves of a screen."""
    peak: Peak


def _rounded(frequency: float) -> str:
    return f"{round(frequency, 6) + 0.0:.6f}".rstrip("0").rstrip(".")
