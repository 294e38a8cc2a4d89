"""How wide a notch has to be, so that little is left of a wave, and little is taken from the picture with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .surroundings import at

if TYPE_CHECKING:
    from .power import Power

# Against tails: bins at least, and the part of its distance from DC at most.
NARROWEST, WIDEST = 1.5, 0.2
# Of a skirt: where rings around the peak begin, in bins, how much each is larger than the one before, at what part of
# the distance from DC they end; and how many times the power there the skirt's own is.
INNERMOST, LARGER, OUTERMOST, SKIRT = 3.0, 1.25, 0.4, 4.0
RAYS = 48


def of_tails(fx: float, fy: float, ratio: float, height: int, width: int) -> float:
    """Return the width of the notch that leaves least: of the wave, and of what it takes from the picture with it.

    Without a window, as filters see it, a wave that does not meet itself at the borders has tails along both axes, that
    fall with the square of the distance. Of their energy a Gaussian notch of width w leaves 1.73 / w, and it takes
    pi / (2 ln 2) w^2 of the surroundings.
    """
    along, down = (np.sin(np.pi * f * n) ** 2 / n for f, n in ((fx, width), (fy, height)))
    best = np.cbrt(0.087 * ratio * (along + down) / (height * width))
    narrowest = NARROWEST / min(height, width)
    return float(np.clip(best, narrowest, max(narrowest, WIDEST * np.hypot(fx, fy))))


def of_skirt(power: Power, width: int, fx: float, fy: float) -> float:
    """Return how far what belongs to a peak reaches, in cycles per pixel.

    The dots of a screen are large or small as the picture is dark or bright, so that the picture is repeated around the
    peak: a skirt, which falls until it is lost among other frequencies.
    """
    height = len(power)
    shorter, angles = min(height, width), np.arange(RAYS) * 2 * np.pi / RAYS
    rings = [INNERMOST]
    while rings[-1] * LARGER < OUTERMOST * shorter * np.hypot(fx, fy):
        rings.append(rings[-1] * LARGER)
    radii = np.array(rings)[:, None] / shorter
    ky, kx = (fy + radii * np.sin(angles)) * height, (fx + radii * np.cos(angles)) * width
    levels = np.median(at(power, width, np.rint(ky).astype(np.int64), np.rint(kx).astype(np.int64)), axis=1)
    is_over = levels < SKIRT * levels[-1]
    reached = int(np.argmax(is_over))
    return float(radii[reached - 1, 0]) if reached else 0.0
