"""Wiener's filter: each frequency is passed as far as it is picture and not noise.

    H = S / (S + N)    S, N: the power of the picture without noise, and of the noise

Source: N. Wiener, Extrapolation, Interpolation, and Smoothing of Stationary Time Series (1949). Both powers come from
the picture itself: ``analysis/wiener.py`` measures them. NumPy is imported only for gains on a grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from .part import Fitted, Part
from .product import Transfer

if TYPE_CHECKING:
    from .grid import Gain

AUTO = "auto"
# More than any picture has. Its square stays far within double precision.
MOST_NOISE = 1e9


@dataclass(frozen=True, eq=False, repr=False)
class Wiener(Fitted):
    """Wiener's filter of any picture."""

    noise: float | None
    """The standard deviation of the noise, with white as 255; None measures it."""

    kind = "wiener"
    has_direction = False

    def __str__(self) -> str:
        return f"Wiener's filter of noise {'as measured' if self.noise is None else f'of {self.noise:g} levels'}"


@dataclass(frozen=True, eq=False, repr=False)
class Curve(Part):
    """Gains by the distance from DC, as they were measured for a picture; on straight lines between them."""

    octaves: tuple[float, ...]
    """Frequencies in cycles per pixel, rising, as logarithms to base 2."""
    gains: tuple[float, ...]
    noise: float | None = None
    """The standard deviation of the noise, with white as 255, if it is white noise."""
    channels: tuple[int, ...] | None = None

    kind = "wiener"
    has_direction = False

    @property
    def is_even_along_axes(self) -> bool:
        return True

    def gain(self, height: int, width: int, rows: int | None = None, columns: int | None = None) -> Gain:
        import numpy as np

        fx, fy = np.fft.fftfreq(width)[:columns], np.fft.fftfreq(height)[:rows, None]
        f = np.hypot(fx, fy)
        f[0, 0] = 1  # whose logarithm is known; DC passes
        gains = np.asarray(np.interp(np.log2(f), self.octaves, self.gains))
        gains[0, 0] = 1
        return gains

    @property
    def half(self) -> float | None:
        """The period in pixels below which less than half passes, if there is one."""
        passed = [f for f, gain in zip(self.octaves, self.gains, strict=True) if gain >= 0.5]
        return None if not passed or passed[-1] == self.octaves[-1] else 2 ** -passed[-1]

    def given(self) -> dict[str, Any]:
        return {"kind": self.kind, "noise": self.noise}

    def __str__(self) -> str:
        of_channels = "" if self.channels is None else f" in channel {self.channels[0]}"
        halved = f", half at {self.half:.1f} px" if self.half else ""
        noise = "" if self.noise is None else f" of noise of {self.noise:.1f} levels"
        return f"Wiener's filter{noise}{halved}{of_channels}"


def wiener(noise: float | str | None = None) -> Transfer:
    """Return Wiener's filter, whose gains follow from each picture's own power spectrum: less noise, less detail.

    ``noise`` is its standard deviation in grey levels, with white as 255; by default, or as "auto", it is measured
    where the spectrum is lowest. It has to be the same at all frequencies, as that of a sensor. Raises ParameterError.

        H.wiener(8)
    """
    if noise is None or noise == AUTO:
        return Transfer((Wiener(None),))
    try:
        levels = float(noise)
    except (TypeError, ValueError, OverflowError):
        levels = math.nan
    if not 0 < levels <= MOST_NOISE:  # NaN is not
        raise ParameterError(
            f"noise {noise!r} is invalid: give grey levels above 0, up to {MOST_NOISE:,.0f}, white being 255, or auto"
        )
    return Transfer((Wiener(levels),))
