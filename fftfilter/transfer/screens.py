"""What ``descreen`` does, before the picture is known: its screens are found in each one (``analysis/screens.py``)."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import ParameterError
from .part import Fitted
from .product import Transfer

USUAL_STRENGTH = 18.0
"""Decibels, as for all waves that are looked for."""


NOTHING = "no screen is found: the picture stays as it is"


@dataclass(frozen=True, eq=False, repr=False)
class Descreen(Fitted):
    """Takes out a printer's screens. Make one with :func:`descreen`."""

    strength: float = USUAL_STRENGTH
    keep_detail: float = 0.0

    kind = "descreen"

    def __str__(self) -> str:
        kept = f", {self.keep_detail:g}% of the detail kept" if self.keep_detail else ""
        return f"screens of {self.strength:g} dB taken out{kept}"


def descreen(strength: float | None = None, keep_detail: float = 0.0) -> Transfer:
    """Return what takes a printer's screens out of each picture: for :class:`fftfilter.DescreenFilter`.

    ``strength`` is how far a screen's waves stand out from the frequencies around them, in dB, by default 18.
    ``keep_detail`` is the part in percent of what smoothing takes that stays: 0, or up to 100 for notches alone. Raises
    ParameterError.
    """
    least = _number("strength", USUAL_STRENGTH if strength is None else strength)
    kept = _number("keep_detail", keep_detail)
    if not 0 <= kept <= 100:
        raise ParameterError(f"keep_detail {keep_detail!r} is invalid: give a part in percent, from 0 to 100")
    if not 10 <= least <= 300:
        raise ParameterError(f"strength {strength!r} is invalid: give 10 dB, which noise hardly reaches, to 300")
    return Transfer((Descreen(least, kept),))


def _number(name: str, given: float) -> float:
    try:
        return float(given)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{name} {given!r} is invalid: give a number") from None
