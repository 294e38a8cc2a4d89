"""How far a frequency stands out from those around it, and how far the power of a wave spreads.

A wave is a spot in the spectrum: along every line through it, the power falls to that of the surroundings within a few
bins. The trace of a bright line or an edge goes on along one direction, and the low frequencies are a cloud. So the
power at a frequency is compared with the medians beside it on lines in all directions, and the highest of these counts.

A notch should leave little of a wave and take little else from the picture. Broad peaks are waves that go through only
a part of the picture, or whose period drifts, as moire often does. The smaller the part, the more frequencies share its
power. So the search uses the mean power of 5 x 5 frequencies, on a grid of a fourth as many along each axis, as if the
picture were cut into 16 parts. The center of its power is the place of a peak.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from .found import Peak, canonical

Bins = NDArray[np.int64]
Power = NDArray[np.float32]

DIRECTIONS = 32
# Distances in bins along a line; the spot of a wave ends before the nearest.
NEAREST, FARTHEST = 4, 16
# Side in bins of a block, whose mean is a first guess of the surroundings.
BLOCK = 16
# The median of the power of noise, as a part of its mean.
MEDIAN_OF_NOISE = np.log(2)
# The logarithm of such power has this mean: minus Euler's constant.
LOG_OF_NOISE = -0.5772
# Rounding in single precision leaves this part of the largest power where there is none.
ROUNDING = 1e-12
# The surroundings may be lower than the first guess by this factor; within STEEP blocks of DC, by any.
GUESS = 2.0
STEEP = 2
# Frequencies that are compared with their surroundings: in all, and at a time.
MOST, AT_ONCE = 4096, 512


def at(power: Power, width: int, ky: Array, kx: Array) -> Array:
    """Return the power at any frequencies, from a half spectrum ``(height, width // 2 + 1)`` and its conjugates."""
    height = len(power)
    kx = kx % width
    is_conjugate = kx > width // 2
    found: Array = power[np.where(is_conjugate, -ky, ky) % height, np.where(is_conjugate, width - kx, kx)]
    return found


def around(power: Power, width: int, ky: Bins, kx: Bins) -> NDArray[np.float64]:
    """Return the mean power to expect at frequencies from that of their surroundings."""
    angles = np.arange(DIRECTIONS)[:, None] * np.pi / DIRECTIONS
    steps = np.concatenate([-np.arange(NEAREST, FARTHEST + 1), np.arange(NEAREST, FARTHEST + 1)])
    dy, dx = (np.rint(side(angles) * steps).astype(np.int64) for side in (np.sin, np.cos))
    expected = np.empty(len(ky))
    for start in range(0, len(expected), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        beside = at(power, width, ky[some, None, None] + dy, kx[some, None, None] + dx)
        expected[some] = np.median(beside, axis=2).max(axis=1) / MEDIAN_OF_NOISE
    return np.maximum(expected, ROUNDING * float(power.max()))


def standing_out(power: Power, width: int, times: float) -> tuple[Bins, Bins]:
    """Return ky and kx of maxima of at least ``times`` the power around them, each once, without its conjugate."""
    height = len(power)
    low = ROUNDING * float(power.max())
    if low == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    logs = np.log(np.maximum(power, np.float32(low)))
    rows, columns = (np.arange(0, n, BLOCK) for n in logs.shape)
    counts = np.diff(np.append(rows, logs.shape[0]))[:, None] * np.diff(np.append(columns, logs.shape[1]))
    means = np.add.reduceat(np.add.reduceat(logs, rows, axis=0), columns, axis=1) / counts - LOG_OF_NOISE
    limit = (means + np.log(times / GUESS)).astype(np.float32)
    limit[:STEEP, :STEEP] = limit[-STEEP:, :STEEP] = -np.inf
    ky, kx = np.nonzero(logs > limit.repeat(BLOCK, 0)[: logs.shape[0]].repeat(BLOCK, 1)[:, : logs.shape[1]])
    values = at(power, width, ky, kx)
    # A column that holds both of a pair of conjugates gives one of them.
    once = ~((kx % (width / 2) == 0) & (ky > height / 2))
    for dy, dx in ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)):
        once &= values >= at(power, width, ky + dy, kx + dx)
    ky, kx, values = ky[once], kx[once], values[once]
    above = logs[ky, kx] - means[ky // BLOCK, kx // BLOCK]
    strongest = np.argsort(-above)[:MOST]
    ky, kx = ky[strongest], kx[strongest]
    stands = values[strongest] >= times * around(power, width, ky, kx)
    return ky[stands], kx[stands]


# The spread of a wave's power: the width of its notch, and broad peaks

# Width of a notch against tails: at least so many bins, at most this part of the distance from DC.
NARROWEST, WIDEST = 1.5, 0.2
# The power around a peak: that of the surroundings begins so many bins away; it is measured up to so many bins, and up
# to this part of the distance from DC. The widths that are tried.
INNERMOST, FARTHEST_OF_SPREAD, OUTERMOST, WIDTHS = 3, 24, 0.4, 24
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


def of_spread(power: Power, width: int, fx: float, fy: float) -> float:
    """Return the width of the notch that is best for the power around a peak, in cycles per pixel; 0 close to DC.

    A wave that goes through a part of a picture has the spectrum of the part's outline around its peak. The dots of a
    screen are large where the picture is dark, so that theirs is the picture's. Both are alike on opposite sides, which
    other peaks are not: the lower power of two opposite frequencies counts. A Gaussian notch of width w leaves
    (1 - 2^-(d/w)^2)^2 of it at distance d, and takes pi / (2 ln 2) w^2 of the surroundings.
    """
    height = len(power)
    shorter = min(height, width)
    most = int(min(FARTHEST_OF_SPREAD, OUTERMOST * shorter * np.hypot(fx, fy)))
    if most < INNERMOST:
        return 0.0
    steps = np.arange(-most, most + 1)
    near = at(power, width, round(fy * height) + steps[:, None], round(fx * width) + steps).astype(np.float64)
    lower = np.minimum(near, near[::-1, ::-1])
    away = np.hypot(steps[:, None] * (shorter / height), steps * (shorter / width))
    level = np.median(lower[away > INNERMOST]) / MEDIAN_OF_NOISE  # half of that around it
    rings = np.bincount(np.rint(away).astype(np.int64).ravel(), (lower - level).ravel())[: most + 1]
    rings = np.where(np.minimum.accumulate(rings) > 0, rings, 0)
    widths = np.geomspace(NARROWEST, 2 * OUTERMOST * most, WIDTHS)
    left = (1 - 2.0 ** -((np.arange(most + 1) / widths[:, None]) ** 2)) ** 2 @ rings
    taken = np.pi / np.log(2) * widths**2 * level * (height * width / shorter**2)
    return float(widths[np.argmin(left + taken)] / shorter)


def broad_peaks(power: Power, width: int, strength: float, channel: int) -> list[Peak]:
    """Return the broad peaks in the power of one channel ``(height, width // 2 + 1)``."""
    height = len(power)
    if min(height, width) < COARSER * SMALLEST:
        return []
    coarse, coarse_width = _coarse(power, width), width // COARSER
    bins = standing_out(coarse, coarse_width, 10 ** ((strength - LESS) / 10))
    levels = around(coarse, coarse_width, *bins)
    ratios = at(coarse, coarse_width, *bins) / levels
    steps = np.arange(-REACH, REACH + 1)
    found = []
    for y, x, level, ratio in zip(*bins, levels, ratios, strict=True):
        ky, kx = round(y * height / len(coarse)), round(x * width / coarse_width)
        near = at(power, width, ky + steps[:, None], kx + steps)
        over = np.where(near > OVER * level, near - level, 0)
        whole = float(over.sum())
        fy = (ky + float(over.sum(axis=1) @ steps) / whole) / height
        fx = (kx + float(over.sum(axis=0) @ steps) / whole) / width
        fx, fy = canonical(fx, fy, 0.5 / width)
        if np.hypot(fx * width, fy * height) < PERIODS:
            continue
        support = max(of_spread(power, width, fx, fy), COARSER / min(height, width))
        # The power of a wave is a fourth of its amplitude's square for each pixel.
        amplitude = 2 * np.sqrt(whole / (height * width))
        found.append(Peak(fx, fy, 10 * float(np.log10(ratio)) + LESS, float(amplitude), support, (channel,)))
    return found


def _coarse(power: Power, width: int) -> Power:
    """Return the mean power around each frequency of a coarser grid."""
    ky, kx = (np.rint(np.arange(n // COARSER) * n / (n // COARSER)).astype(np.int64) for n in (len(power), width))
    rows, columns = ky[:, None], kx[: width // COARSER // 2 + 1]
    steps = range(-BESIDE, BESIDE + 1)
    total = sum(at(power, width, rows + dy, columns + dx) for dy in steps for dx in steps)
    return np.asarray(total / len(steps) ** 2, np.float32)
