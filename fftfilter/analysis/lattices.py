"""Waves at right angles: the lattice of a screen's dots, or a pattern that was drawn or woven."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .found import Peak
    from .power import Spectrum

# Pixels from dot to dot.
FINEST, COARSEST = 2.2, 16.0
# The two waves of a screen differ by less than ALIKE in period, and by less than TURNED degrees from a right angle:
# bent paper draws their peaks apart. The periods of the inks' screens differ by less than INKS.
ALIKE, TURNED, INKS = 0.06, 3.0, 0.2
# The strongest waves, which are tried in pairs; the least amplitude of the first screen's, as a part of the largest.
MOST, STRONGEST = 40, 0.95
# Multiples of the two waves whose power, as a part of the first one's, tells drawn patterns from dots: these have at
# most 0.05, 0.12 and 0.003. A multiple counts if it stands out OVER times.
DRAWN = (
    (((2, 0), (3, 0), (4, 0)), 0.1),
    (((2, 1), (1, 2), (2, -1), (1, -2)), 0.18),
    (((3, 0), (0, 3), (3, 2), (2, 3), (3, -2), (2, -3)), 0.012),
)
OVER = 16.0


def is_print(peaks: Sequence[Peak], mean: Spectrum) -> bool:
    """Whether the strongest of a picture's waves, harmonics among them, are those of a screen."""
    pairs = right_angles(peaks, STRONGEST)
    return bool(pairs) and FINEST <= pairs[0][0].period_px <= COARSEST and not is_drawn(*pairs[0], mean)


def right_angles(peaks: Sequence[Peak], least: float) -> list[tuple[Peak, Peak]]:
    """Return pairs of waves of one period at a right angle, the strongest first.

    The first has to be about the strongest of all waves, with ``least`` of the largest amplitude: in a facade or a
    table, many weaker ones meet at right angles, too.
    """
    waves = sorted(peaks, key=lambda each: -each.amplitude)[:MOST]
    found: dict[Peak, Peak] = {}
    for one, other in combinations(waves, 2):
        turned = abs(abs(one.angle_deg - other.angle_deg) - 90)
        if turned < TURNED and abs(one.period_px / other.period_px - 1) < ALIKE:
            found.setdefault(one, other)
    pairs = list(found.items())
    if not pairs or pairs[0][0].amplitude < least * waves[0].amplitude:
        return []
    return [pair for pair in pairs if abs(pair[0].period_px / pairs[0][0].period_px - 1) < INKS]


def is_drawn(one: Peak, other: Peak, mean: Spectrum) -> bool:
    """Whether two waves at a right angle are those of a drawn pattern: squared paper, fabric, a chessboard, tiles.

    Its edges are sharp everywhere, and all of its meshes are alike: some multiples are stronger than those of dots.
    """

    def strength(of_one: int, of_other: int) -> float:
        place = np.array([of_one * one.fx + of_other * other.fx, of_one * one.fy + of_other * other.fy])
        most, times = mean.near(place, one.channels[0])
        return most if times > OVER and np.abs(place).max() <= 0.5 else 0.0

    own = strength(1, 0)
    return any(sum(strength(*each) for each in multiples) > part * own for multiples, part in DRAWN)
