"""Subtracts waves from a picture, each with the amplitude and phase that it has under a Hann window.

With mirrored edges, a strong wave breaks at the borders: it goes on as its mirror image, which a notch at its frequency
lets through. What is left after it is subtracted breaks no more than the rest of the picture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..transfer.peaks import Notch
from .power import window

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..transfer import Transfer

    Array = NDArray[Any]


def has_waves(transfer: Transfer) -> bool:
    """Whether notches say that their waves are to be subtracted."""
    return any(isinstance(part, Notch) and part.is_wave for part in transfer.parts)


def without_waves(transfer: Transfer, planes: Array) -> Array:
    """Return planes ``(channels, height, width)``, float64, without the waves of the notches that say so."""
    _, height, width = planes.shape
    down, across = (window(n).astype(np.float64) for n in (height, width))
    left = planes.astype(np.float64)
    for part in transfer.parts:
        if not isinstance(part, Notch) or not part.is_wave:
            continue
        x, y = part.at
        along, upright = np.exp(2j * np.pi * x * np.arange(width)), np.exp(2j * np.pi * y * np.arange(height))
        for i in range(len(left)) if part.channels is None or len(left) == 1 else part.channels:
            level = down @ left[i] @ across / (down.sum() * across.sum())
            found = (down * upright.conj()) @ (left[i] - level) @ (across * along.conj())
            factor = 2 * found / (down.sum() * across.sum())
            left[i] -= np.outer((factor * upright).real, along.real) - np.outer((factor * upright).imag, along.imag)
    return left
