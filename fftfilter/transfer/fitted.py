"""Filters whose gains are found in each picture: Wiener's filter, and what takes a printer's screens out.

    H = S / (S + N)    S, N: the power of the picture without noise, and of the noise

Source: N. Wiener, Extrapolation, Interpolation, and Smoothing of Stationary Time Series (1949). ``analysis/wiener.py``
measures both powers in the picture, and ``analysis/screens.py`` finds screens.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ParameterError, as_typed
from ..text import amount_text
from .part import ALL, Part
from .product import Transfer
from .units import number

if TYPE_CHECKING:
    from typing import Self

    from .grid import Gain

AUTO = "auto"
# More than any picture of single precision has. Its square stays far within double precision.
MOST_NOISE = 1e39
# Strengths of waves, in decibels: noise reaches 11, the texture of photographs 14, and no wave STRONGEST.
USUAL_STRENGTH, WEAKEST, STRONGEST = 18.0, 10.0, 300.0
NOTHING = "no screen is found: the picture stays as it is"


@dataclass(frozen=True, repr=False)
class Wiener(Part):
    """Wiener's filter of any picture."""

    noise: float | None
    """The standard deviation of the noise in the picture's own unit; None measures it."""

    kind = "wiener"
    is_fitted = True
    is_even_along_axes = True
    has_direction = False

    def __str__(self) -> str:
        return f"Wiener's filter of noise {'as measured' if self.noise is None else f'of {self.noise:g}'}"


class Band(NamedTuple):
    """Detail between two blurs of a filtered print, with the mean squares of its noise; white is 1."""

    blur: float
    """The deviation of the stronger blur in pixels."""
    noise: float
    """That which is left in the band."""
    before: float
    """That which the gain of a place is measured against."""
    usual: float
    """The mean gain of all places."""
    kept: float = 0.0
    """The part of what is taken that stays."""


@dataclass(frozen=True, repr=False)
class Curve(Part):
    """Gains by the distance from DC, as they were measured for a picture; on straight lines between them."""

    octaves: tuple[float, ...]
    """Frequencies in cycles per pixel, rising, as logarithms to base 2."""
    gains: tuple[float, ...]
    noise: float | None = None
    """The standard deviation of the noise in the picture's own unit, if it is white noise."""
    channels: tuple[int, ...] | None = None
    bands: tuple[Band, ...] = ()
    """For prints, bands of detail that :class:`DescreenFilter` smooths by place, the finest first."""
    is_8_bit: bool = True
    """Whether the noise is in levels of 255."""

    kind = "wiener"
    has_direction = False
    is_even_along_axes = True

    def gain(self, height: int, width: int, rows: slice = ALL, columns: slice = ALL) -> Gain:
        import numpy as np

        f = np.hypot(np.fft.fftfreq(width)[columns], np.fft.fftfreq(height)[rows, None])
        is_dc = f == 0
        f[is_dc] = 1  # whose logarithm is known; DC passes
        gains = np.asarray(np.interp(np.log2(f), self.octaves, self.gains))
        gains[is_dc] = 1
        return gains

    def reduced(self, level: float, height: int, width: int) -> Self:  # noqa: ARG002
        """Return it for an image reduced by ``level``."""
        from math import log2

        bands = tuple(each._replace(blur=each.blur / level) for each in self.bands)
        return replace(self, octaves=tuple(each + log2(level) for each in self.octaves), bands=bands)

    @property
    def half(self) -> float | None:
        """The period in pixels below which less than half passes, if there is one."""
        passed = [f for f, gain in zip(self.octaves, self.gains, strict=True) if gain >= 0.5]
        return None if not passed or passed[-1] == self.octaves[-1] else 2 ** -passed[-1]

    def __str__(self) -> str:
        halved = f", half at {self.half:.1f} px" if self.half else ""
        noise = "" if self.noise is None else f" of noise of {amount_text(self.noise, is_8_bit=self.is_8_bit)}"
        return f"Wiener's filter{noise}{halved}{self.of_channel}"


@dataclass(frozen=True, repr=False)
class Descreen(Part):
    """Takes out a printer's screens. Make one with :func:`descreen`."""

    strength: float = USUAL_STRENGTH
    keep_detail: float = 0.0

    kind = "descreen"
    is_fitted = True
    is_even_along_axes = True

    def __str__(self) -> str:
        kept = f", keep_detail {self.keep_detail:g}%" if self.keep_detail else ""
        return f"screens of {self.strength:g} dB taken out{kept}"


def wiener(noise: float | str | None = None) -> Transfer:
    """Return Wiener's filter, whose gains follow from each picture's own power spectrum: less noise, less detail.

    The noise has to be the same at all frequencies, as that of a sensor. Raises ParameterError.

    Args:
        noise: The standard deviation of the noise in the picture's own unit, which of uint8 are levels of 255; by
            default, or as "auto", it is measured where the spectrum is lowest.

    >>> quiet = fftfilter.Filter(H.wiener(8))(image)

    """
    if noise is None or noise == AUTO:
        return Transfer((Wiener(None),))
    deviation = number(noise)
    if not 0 < deviation <= MOST_NOISE:
        raise ParameterError(f"noise {noise!r} is invalid: give a value above 0, in the unit of the picture, or auto")
    return Transfer((Wiener(deviation),))


def descreen(strength: float | None = None, keep_detail: float = 0.0) -> Transfer:
    """Return what takes a printer's screens out of each picture; raises ParameterError.

    Args:
        strength: How far a screen's waves have to stand out from the frequencies around them, in dB, by default 18.
        keep_detail: The part of what smoothing takes that stays, in percent: 0, up to 100 for notches alone, or down to
            -50 for a smoother picture.

    >>> fftfilter.save_filter(H.descreen(20), "print.json")

    """
    kept = number(keep_detail)
    if not -50 <= kept <= 100:
        raise ParameterError(f"keep_detail {as_typed(keep_detail)} is invalid: give a part in percent, from -50 to 100")
    return Transfer((Descreen(USUAL_STRENGTH if strength is None else checked_strength(strength), kept),))


def checked_strength(given: Any) -> float:
    """Return a strength in dB; raises ParameterError for one that noise may reach, or that no wave reaches."""
    strength = number(given)
    if not WEAKEST <= strength <= STRONGEST:
        shown = repr(given) if isinstance(given, str) else f"{min(strength, 1e300):g}"
        raise ParameterError(
            f"strength {shown} is invalid: give {WEAKEST:g} to {STRONGEST:g} dB; noise rarely has {WEAKEST:g}"
        )
    return strength
