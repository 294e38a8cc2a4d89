"""How far the power of a wave spreads in the spectrum: how wide its notch has to be, and waves of many frequencies.

Little is to be left of a wave, and little taken from the picture with it. Broad peaks are waves that go through a part
of the picture only, or whose period drifts, as moire often does. The smaller the part, the more frequencies share its
power. So the mean power of 5 x 5 frequencies is looked at, on a grid of a fourth as many, as if the picture were cut
into 16 parts; and a peak is where the middle of its power lies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .found import Peak, canonical
from .surroundings import around, at, standing_out

if TYPE_CHECKING:
    from .power import Power

# Against tails: bins at least, and the part of its distance from DC at most.
NARROWEST, WIDEST = 1.5, 0.2
# Of a skirt: where rings around the peak begin, in bins, how much each is larger than the one before, at what part of
# the distance from DC they end; and how many times the power there the skirt's own is.
INNERMOST, LARGER, OUTERMOST, SKIRT = 3.0, 1.25, 0.4, 4.0
RAYS = 48
COARSER = 4
# Frequencies to either side: of a mean, and of what a peak's middle is found in.
BESIDE, REACH = 2, 8
# Decibels by which means of noise reach less far than noise: so much more counts the strength of a broad peak.
LESS = 4.0
# The smallest grid that is searched, and periods across the picture at least.
SMALLEST, PERIODS = 32, 32
# Only power of at least this many times that of the surroundings counts for its middle, as these rise toward DC.
OVER = 4.0


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


def broad_peaks(power: Power, width: int, strength: float, channel: int) -> list[Peak]:
    """Return the peaks of broad structures in the power of one channel ``(height, width // 2 + 1)``."""
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
    """Return the mean power of the frequencies around each of a coarser grid."""
    ky, kx = (np.rint(np.arange(n // COARSER) * n / (n // COARSER)).astype(np.int64) for n in (len(power), width))
    rows, columns = ky[:, None], kx[: width // COARSER // 2 + 1]
    steps = range(-BESIDE, BESIDE + 1)
    total = sum(at(power, width, rows + dy, columns + dx) for dy in steps for dx in steps)
    return np.asarray(total / len(steps) ** 2, np.float32)
