"""A peak of the spectrum that was found: a wave in the picture, with what people ask about it. Works without NumPy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import transfer

if TYPE_CHECKING:
    from ..transfer import Transfer
    from ..transfer.shapes import ShapeName


COLORS = ("red", "green", "blue")


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
    searched: int = 1
    """How many channels there are."""
    harmonics: tuple[Harmonic, ...] = ()
    """Its multiples that were found, too."""

    @property
    def period_px(self) -> float:
        """Pixels from crest to crest, across the stripes."""
        return 1 / math.hypot(self.fx, self.fy)

    def length(self, pixel: tuple[float, float]) -> float:
        """Return the period in the unit of a pixel's sides, across and down."""
        across, down = pixel
        return 1 / math.hypot(self.fx / across, self.fy / down)

    @property
    def angle_deg(self) -> float:
        """Along the stripes, counterclockwise from 0, which are horizontal ones, to 180."""
        return (math.degrees(math.atan2(self.fx, self.fy))) % 180

    def all(self) -> tuple[Peak, ...]:
        """Return the peak and its harmonics."""
        return (self, *(each.peak for each in self.harmonics))

    @property
    def is_in_all(self) -> bool:
        """Whether it was found in every channel."""
        return len(self.channels) == self.searched

    @property
    def colors(self) -> str:
        """The channels in which it was found, as text: all, red, green blue; 0 3 if they are not red, green, blue."""
        if self.is_in_all:
            return "all"
        return " ".join(COLORS[i] if self.searched == len(COLORS) else str(i) for i in self.channels)

    @property
    def at(self) -> str:
        """What ``notch --at`` takes to remove it, without its harmonics."""
        return f"{_rounded(self.fx)},{_rounded(self.fy)},{self.width:.3g}cyc"

    def described(self) -> dict[str, Any]:
        """Return all that is known of it, for JSON."""
        harmonics = []
        for each in self.harmonics:
            known = each.peak.described()
            harmonics.append(
                {"multiples": list(each.multiples)}
                | {key: known[key] for key in ("fx", "fy", "strength_db", "amplitude", "notch")}
            )
        return {
            "fx": self.fx,
            "fy": self.fy,
            "period_px": self.period_px,
            "angle_deg": self.angle_deg,
            "strength_db": self.strength_db,
            "amplitude": self.amplitude,
            "channels": list(self.channels),
            "notch": self.at,
            "harmonics": harmonics,
        }

    def notch(self, shape: ShapeName = "gaussian") -> Transfer:
        """Return the transfer function that removes it and its harmonics, each from the channels that have it."""
        first, *rest = (
            transfer.notch(
                (each.fx, each.fy),
                width=f"{each.width:.3g}cyc",
                shape=shape,
                channels=None if each.is_in_all else each.channels,
            )
            for each in self.all()
        )
        return math.prod(rest, start=first)


@dataclass(frozen=True)
class Harmonic:
    """A peak at a multiple of another one."""

    multiples: tuple[int, ...]
    """One number; two for a sum of multiples of the two waves of a screen."""
    peak: Peak

    @property
    def name(self) -> str:
        """The multiples in short: 2, 1+1, 1-2."""
        return "+".join(map(str, self.multiples)).replace("+-", "-")


def _rounded(frequency: float) -> str:
    return f"{round(frequency, 6) + 0.0:.6f}".rstrip("0").rstrip(".")


def canonical(fx: float, fy: float, nothing: float) -> tuple[float, float]:
    """Return a frequency, or its conjugate, with fx above 0, or fy if fx is about 0; both from -0.5 to 0.5."""
    fx, fy = fx - round(fx), fy - round(fy)
    is_other = fy < 0 if abs(fx) <= nothing else fx < 0
    return (-fx, -fy) if is_other else (fx, fy)
