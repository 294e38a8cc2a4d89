"""Finds whether a picture has stripes, and along which angles.

Stripes of many periods are a ridge of the spectrum: a line through DC whose power, on the mean of its logarithm, stands
out from that on both sides. So are a picture's long edges, and lines of text or windows. What tells stripes from them
is the profile across: the steps of its gray levels are the same in most groups of pixels along it, almost everywhere.
Edges and lines of text leave rows without a step between them.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array, Floats, Holes, strips
from ..transfer.ridges import across_of
from .bands import COLUMNS, related, repeats, steps_of_groups, steps_of_lines
from .power import middle, spectrum
from .surroundings import Power, at

# Pixels of the shorter side; those of a side of the middle that is searched.
SMALLEST, MOST = 64, 1024
# Bins beside the ridge; stripes of longer periods, in pixels, are not looked for.
BESIDE, SPARED = (-9, -7, -5, 5, 7, 9), 30
# The most ridges that are tried, and how far they stand out, as a logarithm. Between these distances, in degrees, the
# others stand out by at most that part of it: a wide ridge is that of blurred or bent edges.
TRIED, STANDS_OUT, NEAR, FAR, SHARP = 4, 0.8, 1.5, 8.0, 0.6
# Stripes have more steps than this part of the lines. A step has less than that to do with the next, with outliers
# clipped: slopes and blurred edges have more.
EVERYWHERE, RELATED = 0.65, 0.4
# The least step from pixel to pixel, of values with gray levels as a part of these; smaller ones come from rounding.
FAINTEST = 0.1


def searched(planes: Array, white: float) -> tuple[Floats, Power]:
    """Return what is searched of a picture ``(channels, height, width)``, its middle, and the power of that."""
    plane = middle(planes, MOST, MOST).mean(axis=0, dtype=np.float64)
    return plane, spectrum(plane[None], white).power[0]


def angles_of_stripes(plane: Floats, power: Power, step: float) -> tuple[list[float], list[float]]:
    """Return the angles in degrees of the stripes of a plane with this power, the strongest first.

    Behind them, return the angles of what stands out likewise, and is a part of the picture. ``step`` is that of its
    gray levels, 0 without any.
    """
    if min(plane.shape) < SMALLEST:
        return [], []
    ridges = _ridges(power, plane.shape[1])
    found: list[float] = []
    content: list[float] = []
    near, far = (round(degrees * len(ridges) / 180) for degrees in (NEAR, FAR))
    for _ in range(TRIED):
        best = int(ridges.argmax())
        if ridges[best] < STANDS_OUT:
            break
        around = np.roll(ridges, far - best)[: 2 * far + 1]
        is_sharp = max(around[: far - near].max(), around[far + near + 1 :].max()) < SHARP * ridges[best]
        upright = round(2 * best / len(ridges)) * len(ridges) / 2
        angle = 180 * (upright if abs(best - upright) <= 1 else best) / len(ridges) % 180
        is_fault = is_sharp and _is_striped(plane, angle, FAINTEST * step)
        (found if is_fault else content).append(angle)
        ridges[(best + np.arange(-far, far + 1)) % len(ridges)] = 0
    return found, content


def _ridges(power: Power, width: int) -> Floats:
    """Return how far the ridge of each angle of stripes stands out, from 0 up to 180 degrees."""
    n = min(len(power), width)
    power = np.log(power + max(float(power.max()) * 1e-12, 1e-30))
    # At the highest frequency a bin apart.
    angles = np.linspace(0, np.pi, int(np.pi * n / 2), endpoint=False)[:, None]
    f = np.arange(n // SPARED, n // 2) / n
    some = (along_ridges(power, width, angles[rows], f).mean(axis=2, dtype=np.float64) for rows in strips(len(angles)))
    means = np.concatenate([*some], axis=1)
    return np.asarray(means[0] - means[1:].mean(axis=0))


def along_ridges(power: Power, width: int, angles: Floats, f: Floats) -> Power:
    """Return the power at frequencies f across angles in radians, and that so many bins beside the ridge of each."""
    height = len(power)
    beside = np.array([0, *BESIDE])[:, None, None] / min(height, width)
    fx, fy = f * np.sin(angles) + beside * np.cos(angles), f * np.cos(angles) - beside * np.sin(angles)
    return at(power, width, *(np.rint(each).astype(np.int32) for each in (fy * height, fx * width)))


def _is_striped(plane: Floats, angle: float, least: float) -> bool:
    """Whether lines have steps above ``least`` almost everywhere, each by itself, which are the same in most groups."""
    steps = steps_of_groups(sampled_along(plane, None, angle))
    found = steps_of_lines(steps[np.count_nonzero(np.isfinite(steps), axis=1) >= steps.shape[1] / 2])
    if found is None or np.median(np.abs(found)) <= least:
        return False
    is_everywhere = np.count_nonzero(found) > EVERYWHERE * len(found)
    return bool(is_everywhere and related(found)[0] < RELATED and not repeats(found, chance=0.0))


def sampled_along(plane: Array, missing: Holes | None, angle: float) -> Floats:
    """Return samples of a plane along an angle, ``(lines, places)``, NaN beside the plane and where it has none."""
    height, width = plane.shape
    turn = np.radians(angle)
    least, most = across_of(angle, height, width)
    ends = [x * np.cos(turn) - y * np.sin(turn) for y in (0, height - 1) for x in (0, width - 1)]
    across = np.arange(least, most + 1)[:, None]
    along = np.linspace(min(ends), max(ends), min(COLUMNS // 2, round(max(ends) - min(ends)) + 1))
    samples = np.zeros((len(across), len(along)))
    for lines in strips(len(across)):
        y, x = across[lines] * np.cos(turn) - along * np.sin(turn), across[lines] * np.sin(turn) + along * np.cos(turn)
        top, left = (np.clip(np.floor(each), 0, max(0, n - 2)).astype(np.intp) for each, n in ((y, height), (x, width)))
        at, below, beside = top * width + left, y - top, x - left
        for start, part in ((0, 1 - below), (width if height > 1 else 0, below)):
            for place, share in ((start, part * (1 - beside)), (start + (width > 1), part * beside)):
                samples[lines] += share * plane.take(at + place)
                if missing is not None:
                    samples[lines][missing.take(at + place)] = np.nan
        samples[lines][(abs(y - top - 0.5) > 0.5) | (abs(x - left - 0.5) > 0.5)] = np.nan
    return samples
