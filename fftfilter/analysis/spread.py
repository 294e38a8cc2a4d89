"""The spread of a wave's power over the spectrum: the width of its notch, and broad peaks.

A notch should leave little of a wave and take little else from the picture. Broad peaks are waves that go through only
a part of the picture, or whose period drifts, as moire often does. The smaller the part, the more frequencies share its
power. So the search uses the mean power of 5 x 5 frequencies, on a grid of a fourth as many along each axis, as if the
picture were cut into 16 parts. The center of its power is the place of a peak.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .found import Peak, canonical
from .surroundings import around, at, standing_out

if TYPE_CHECKING:
    from .power import Power

# Width of a notch against tails: at least so many bins, at most this part of the distance from DC.
NARROWEST, WIDEST = 1.5, 0.2
# Rings around a peak, for its skirt: radius of the first in bins, growth from ring to ring, radius of the last as a
# part of the distance from DC. A skirt has SKIRT times the power of the last ring.
INNERMOST, LARGER, OUTERMOST, SKIRT = 3.0, 1.25, 0.4, 4.0
RAYS = 48
COARSER = 4
# Frequencies to either side: of a mean, and of the area in which a peak's center is computed.
BESIDE, REACH = 2, 8
# Means of noise reach less far than noise, by so many decibels: these are added to the strength of a broad peak.
LESS = 4.0
# The smallest grid that is searched, and the fewest periods across the picture.
SMALLEST, PERIODS = 32, 32
# Only power of at least this many times that of the surroundings counts for the center, as these rise toward DC.
OVER = 4.0


def of_tails(fx: float, fy: float, ratio: float, height: int, width: int) -> float:
    """Return the width of the notch that is best for a wave's tails, in cycles per pixel.

    Filters see the picture without a window: a wave that does not continue across the borders has tails along both
    axes, which fall with the square of the distance. A Gaussian notch of width w leaves 1.73 / w of their energy, and
    takes pi / (2 ln 2) w^2 of the surroundings. Within limits, the returned width makes the sum of both least.
    """
    along, down = (np.sin(np.pi * f * n) ** 2 / n for f, n in ((fx, width), (fy, height)))
    best = np.cbrt(0.087 * ratio * (along + down) / (height * width))
    narrowest = NARROWEST / min(height, width)
    return float(np.clip(best, narrowest, max(narrowest, WIDEST * np.hypot(fx, fy))))


def of_skirt(power: Power, width: int, fx: float, fy: float) -> float:
    """Return the radius of the skirt of a peak, in cycles per pixel.

    The dots of a screen are large where the picture is dark and small where it is bright. So the picture's spectrum is
    repeated around the peak: a skirt, which falls until it is lost among other frequencies.
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


def broad_peaks(power: Power, width: int, strength: float, channel: int) -> list[Peak]:
    """Return the broad peaks in the power of one channel ``(height, width // 2 + 1)``."""
    height = len(power)
    if min(height, width) < COARSER * SMALLEST:
        return []
    coarse, coarse_width = _coarse(power, width), width // COARSER
    bins = standing_out(coarse, coarse_width, 10 ** ((strength - LESS) / 10))
    levels = around(coarse, coarse_width, bins)
    ratios = at(coarse, coarse_width, bins.ky, bins.kx) / levels
    steps = np.arange(-REACH, REACH + 1)
    found = []
    for y, x, level, ratio in zip(bins.ky, bins.kx, levels, ratios, strict=True):
        ky, kx = round(y * height / len(coarse)), round(x * width / coarse_width)
        near = at(power, width, ky + steps[:, None], kx + steps)
        over = np.where(near > OVER * level, near - level, 0)
        whole = float(over.sum())
        fy = (ky + float(over.sum(axis=1) @ steps) / whole) / height
        fx = (kx + float(over.sum(axis=0) @ steps) / whole) / width
        fx, fy = canonical(fx, fy, 0.5 / width)
        if np.hypot(fx * width, fy * height) < PERIODS:
            continue
        reach = max(of_skirt(power, width, fx, fy), COARSER / min(height, width))
        # The power of a wave is a fourth of its amplitude's square for each pixel.
        amplitude = 255 * 2 * np.sqrt(whole / (height * width))
        found.append(Peak(fx, fy, 10 * float(np.log10(ratio)) + LESS, float(amplitude), reach, (channel,)))
    return found


def _coarse(power: Power, width: int) -> Power:
    """Return the mean power around each frequency of a coarser grid."""
    ky, kx = (np.rint(np.arange(n // COARSER) * n / (n // COARSER)).astype(np.int64) for n in (len(power), width))
    rows, columns = ky[:, None], kx[: width // COARSER // 2 + 1]
    steps = range(-BESIDE, BESIDE + 1)
    total = sum(at(power, width, rows + dy, columns + dx) for dy in steps for dx in steps)
    return np.asarray(total / len(steps) ** 2, np.float32)
