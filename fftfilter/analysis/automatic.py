"""Notches for what is found: one for each peak, and for each of its harmonics. NumPy is imported to find something."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ..transfer import Transfer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..transfer.shapes import ShapeName
    from .found import Peak
    from .power import Spectrum


class AutoNotches(NamedTuple):
    """Notches for each picture by itself."""

    strength: float
    """That a periodic structure has to have, in dB."""
    shape: ShapeName = "gaussian"
    by_channel: bool = True
    """Whether a wave is taken out of the channels that have it only, or out of all."""

    @property
    def nothing(self) -> str:
        """The line on a picture without peaks."""
        from .search import nothing_of

        return f"{nothing_of(self.strength)}: nothing is removed"

    def peaks(self, spectrum: Spectrum) -> list[Peak]:
        """Return the peaks of a picture's spectrum; raises ParameterError for a small one."""
        from .search import peaks_of

        found = peaks_of(spectrum, self.strength)
        return found if self.by_channel else [_in_all(peak) for peak in found]


def _in_all(peak: Peak) -> Peak:
    """Return a peak and its harmonics as if every channel had them."""
    harmonics = (replace(each, peak=_in_all(each.peak)) for each in peak.harmonics)
    return replace(peak, channels=tuple(range(peak.searched)), harmonics=tuple(harmonics))


def notches(peaks: Sequence[Peak], shape: ShapeName = "gaussian") -> Transfer:
    """Return the transfer function that removes peaks and their harmonics; of no peaks, that passes everything."""
    return math.prod((peak.notch(shape) for peak in peaks), start=Transfer(()))


def peaks_text(peaks: Sequence[Peak]) -> str:
    """Return peaks in one line."""
    return ", ".join(
        f"{peak.period_px:.2f} px at {peak.angle_deg:.1f} degrees ({peak.strength_db:.0f} dB)"
        + ("" if peak.is_in_all else f" in {peak.colors.replace(' ', ' and ')}")
        + (f" and {len(peak.harmonics)} of its harmonics" if peak.harmonics else "")
        for peak in peaks
    )
