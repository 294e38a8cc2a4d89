"""How far a frequency stands out from those around it.

A wave is a spot in the spectrum: along every line through it, the power falls to that of the surroundings within a few
bins. The trace of a bright line or an edge goes on along one direction, and the low frequencies are a cloud. So the
power at a frequency is compared with the medians beside it on lines in all directions, and the highest of these counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .power import Power

    Array = NDArray[Any]

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


class Bins(NamedTuple):
    """Frequencies of a spectrum: rows (ky, from 0 to height) and columns (kx)."""

    ky: NDArray[np.int64]
    kx: NDArray[np.int64]


def at(power: Power, width: int, ky: Array, kx: Array) -> Array:
    """Return the power at any frequencies, from a half spectrum ``(height, width // 2 + 1)`` and its conjugates."""
    height = len(power)
    kx = kx % width
    is_conjugate = kx > width // 2
    found: Array = power[np.where(is_conjugate, -ky, ky) % height, np.where(is_conjugate, width - kx, kx)]
    return found


def around(power: Power, width: int, bins: Bins) -> NDArray[np.float64]:
    """Return the mean power to expect at frequencies from that of their surroundings."""
    angles = np.arange(DIRECTIONS)[:, None] * np.pi / DIRECTIONS
    steps = np.concatenate([-np.arange(NEAREST, FARTHEST + 1), np.arange(NEAREST, FARTHEST + 1)])
    dy, dx = (np.rint(side(angles) * steps).astype(np.int64) for side in (np.sin, np.cos))
    expected = np.empty(len(bins.ky))
    for start in range(0, len(expected), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        beside = at(power, width, bins.ky[some, None, None] + dy, bins.kx[some, None, None] + dx)
        expected[some] = np.median(beside, axis=2).max(axis=1) / MEDIAN_OF_NOISE
    return np.maximum(expected, ROUNDING * float(power.max()))


def standing_out(power: Power, width: int, times: float) -> Bins:
    """Return the frequencies whose power is a maximum and at least ``times`` that of the frequencies around them.

    Each comes once, without its conjugate.
    """
    height = len(power)
    low = ROUNDING * float(power.max())
    if low == 0:
        return Bins(*np.empty((2, 0), np.int64))
    logs = np.log(np.maximum(power, np.float32(low)))
    rows, columns = (np.arange(0, n, BLOCK) for n in logs.shape)
    counts = np.diff(np.append(rows, logs.shape[0]))[:, None] * np.diff(np.append(columns, logs.shape[1]))
    means = np.add.reduceat(np.add.reduceat(logs, rows, axis=0), columns, axis=1) / counts - LOG_OF_NOISE
    limit = (means + np.log(times / GUESS)).astype(np.float32)
    limit[:STEEP, :STEEP] = limit[-STEEP:, :STEEP] = -np.inf
    # By strips, to save memory: each is far smaller than the spectrum.
    found = []
    for row, of_strip in zip(rows, limit, strict=True):
        strip = logs[row : row + BLOCK]
        ky, kx = np.nonzero(strip > np.repeat(of_strip, BLOCK)[: strip.shape[1]])
        found.append(np.stack([ky + row, kx]))
    ky, kx = np.concatenate(found, axis=1)
    values = at(power, width, ky, kx)
    # A column that holds both of a pair of conjugates gives one of them.
    once = ~((kx % (width / 2) == 0) & (ky > height / 2))
    for dy, dx in ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)):
        once &= values >= at(power, width, ky + dy, kx + dx)
    ky, kx, values = ky[once], kx[once], values[once]
    above = logs[ky, kx] - means[ky // BLOCK, kx // BLOCK]
    strongest = np.argsort(-above)[:MOST]
    bins = Bins(ky[strongest], kx[strongest])
    stands = values[strongest] >= times * around(power, width, bins)
    return Bins(bins.ky[stands], bins.kx[stands])
