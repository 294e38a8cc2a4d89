"""Finds whether a picture has stripes, and along which angles.

Stripes of many periods are a ridge of the spectrum: a line through DC whose power, on the mean of its logarithm, stands
out from that on both sides. So are a picture's long edges, and lines of text or windows. What tells stripes from them
is the profile across: the steps of its gray levels are the same in all parts of the picture's length, which an edge is
not, once slopes are taken off, and do not repeat, as lines of text do.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array, Floats, strips
from .bands import related, repeats, slopes
from .power import middle, spectrum
from .surroundings import Power, at

# Pixels of the shorter side; those of a side of the middle that is searched.
SMALLEST, MOST = 64, 1024
# Bins beside the ridge; stripes of longer periods, in pixels, are not looked for.
BESIDE, SPARED = (-9, -7, -5, 5, 7, 9), 30
# The most ridges that are tried, and how far they stand out, as a logarithm. Between these distances, in degrees, the
# others stand out by at most that part of it: a wide ridge is that of blurred or bent edges.
TRIED, STANDS_OUT, NEAR, FAR, SHARP = 4, 0.8, 1.5, 8.0, 0.6
# Parts of the length, and the least correlation of neighbors.
PARTS, ALIKE = 8, 0.2
# The most that a step has to do with the next, with outliers clipped, of upright and of slanted stripes.
RELATED, RELATED_IF_SLANTED = 0.3, 0.65
# The least step from pixel to pixel, of values with gray levels as a part of these; smaller ones come from rounding.
FAINTEST = 0.1


def angles_of_stripes(planes: Array, white: float, step: float) -> tuple[list[float], list[float]]:
    """Return the angles in degrees of the stripes of a picture ``(channels, height, width)``, the strongest first.

    Behind them, return the angles of what stands out likewise, and is a part of the picture. ``step`` is that of its
    gray levels, 0 without any.
    """
    plane = middle(planes, min(planes.shape[1], MOST), min(planes.shape[2], MOST)).mean(axis=0, dtype=np.float64)
    if min(plane.shape) < SMALLEST:
        return [], []
    ridges = _ridges(plane, white)
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
        blurred = RELATED_IF_SLANTED if angle % 90 else RELATED
        is_fault = is_sharp and _is_striped(_profiles(plane, angle), FAINTEST * step, blurred)
        (found if is_fault else content).append(angle)
        ridges[(best + np.arange(-far, far + 1)) % len(ridges)] = 0
    return found, content


def _ridges(plane: Floats, white: float) -> Floats:
    """Return how far the ridge of each angle of stripes stands out, from 0 up to 180 degrees."""
    height, width = plane.shape
    n, power = min(height, width), spectrum(plane[None], white).power[0]
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


def _profiles(plane: Floats, angle: float) -> Floats:
    """Return the mean gray levels along an angle in each part of the length; NaN beside the picture."""
    (y, x), turn = np.ogrid[: len(plane), : plane.shape[1]], np.radians(angle)
    across, along = np.rint(x * np.sin(turn) + y * np.cos(turn)).astype(np.int64), x * np.cos(turn) - y * np.sin(turn)
    across -= across.min()
    columns = int(across.max()) + 1
    along = (PARTS * (along - along.min()) / (np.ptp(along) + 1)).astype(np.int64)
    places = (along * columns + across).ravel()
    counts = np.bincount(places, minlength=PARTS * columns)
    sums = np.bincount(places, plane.ravel(), PARTS * columns)
    is_long = counts >= np.median(counts[counts > 0]) / 4
    return np.where(is_long, sums / np.maximum(counts, 1), np.nan).reshape(PARTS, columns)


def _is_striped(profiles: Floats, least: float, blurred: float) -> bool:
    """Whether the steps of profiles are alike in neighboring parts, exceed ``least``, and do not repeat across them.

    A step has at most ``blurred`` to do with the next one, as far as the stripes are sharper than slopes and edges.
    """
    steps = np.diff(profiles, axis=1)
    for row in steps:
        valid = np.abs(row[np.isfinite(row)])
        limit = 3 * np.median(valid) if valid.size else 0.0  # an edge counts no more than a stripe
        clipped = np.clip(np.nan_to_num(row), -limit, limit)
        row[:] = clipped - slopes(clipped)
    power = np.maximum(np.square(steps).sum(axis=1), 1e-30)
    alike = (steps[1:] * steps[:-1]).sum(axis=1) / np.sqrt(power[1:] * power[:-1])
    whole = steps.mean(axis=0)
    if np.median(alike) < ALIKE or np.median(np.abs(whole)) <= least:
        return False
    return related(whole)[0] <= blurred and not repeats(whole, chance=0.0)
