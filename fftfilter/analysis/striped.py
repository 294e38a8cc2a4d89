"""Finds whether a picture has stripes, and along which angles.

Stripes of many periods are a ridge of the spectrum: a line through DC whose power, on the mean of its logarithm, stands
out from that on both sides. So are a picture's long edges, and lines of text or windows. What tells stripes from them
is the profile across: the steps of its gray levels are the same in most groups of pixels along it, almost everywhere.
Edges and lines of text leave rows without a step between them.

Some lines do not follow the picture at all: dead ones show one level, and noisy ones another in each pixel. Those
beside them tell: both show the same, and this line does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..arrays import Array, Floats, Holes, strips
from ..transfer.ridges import across_of
from .bands import AGREE, COLUMNS, agreement, medians_of, related, repeats, steps_of_groups, steps_of_lines
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
# What steps between so many rows to either side usually are: this quantile of them.
AROUND, USUAL = 16, 0.75
# Dead and noisy lines differ from those beside them by so many times what these differ by, in some of so many parts.
# Noisy ones vary more than these in nearly all. More than the last part of all lines are the picture's own.
PARTS, TIMES, OF_DEAD, OF_NOISY, NEARLY_ALL, MOST_DEAD = 16, 2.0, 0.25, 0.6, 0.9, 0.1
# A dead line varies along itself by this part of what lines around it do. Lines beside an object of one level vary less
# than the next ones, as edges are blurred; those beside a dead line by at least this part.
FLAT, UNBLURRED = 0.25, 0.9
# So many lines or more with a pitch of more pixels in common are no dead ones.
REGULAR = 4
# The power of a dotted line is at few frequencies: more than this part at one.
DOTTED = 0.1


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
    steps = steps[np.count_nonzero(np.isfinite(steps), axis=1) >= steps.shape[1] / 2]
    found, halves = steps_of_lines(steps), np.array_split(steps, 2, axis=1)
    if found is None or agreement(*halves) < AGREE or np.median(np.abs(found)) <= least:
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


# Lines that do not follow the picture


def dead_lines(some: Floats) -> list[tuple[int, int]]:
    """Return the runs of rows that are dead or noisy: the first row of each, and the one behind its last.

    ``some`` are columns of a picture ``(rows, columns)``, NaN where pixels are missing.
    """
    if min(some.shape) < SMALLEST:
        return []
    is_found = np.zeros(len(some), bool)
    for start, stop in (*_dead(some), *_noisy(some)):
        is_found[start:stop] = np.isfinite(some[start:stop]).any(axis=1)
    found = _runs(is_found)
    pitch = math.gcd(*(other - start for (start, _), (other, _) in pairwise(found)))
    is_regular = len(found) >= REGULAR and pitch > REGULAR  # as joints between bricks are
    return [] if is_regular or np.mean(is_found) > MOST_DEAD else found


def _dead(some: Floats) -> list[tuple[int, int]]:
    """Return the runs of rows that hardly vary along themselves, if those on both sides of some vary alike."""
    along, usual = _varies(some, by_part=False), _quantile_around(_varies(np.diff(some, axis=0), by_part=False), USUAL)
    means = along.mean(axis=1)
    runs = [run for run in _runs(means < FLAT * _quantile_around(means, 0.5)) if run[0] > 1 and run[1] < len(some) - 1]
    is_any, flattest = False, 0.0
    for start, stop in runs:
        is_blurred = means[start - 1] < UNBLURRED * means[start - 2] or means[stop] < UNBLURRED * means[stop + 1]
        apart = _varies(some[[stop]] - some[[start - 1]], by_part=False)
        least = np.max([*along[start:stop], *apart, usual[start - 1], usual[stop - 1]], axis=0)
        if not is_blurred and _stands_out(np.minimum(along[start - 1], along[stop]), least, OF_DEAD):
            is_any, flattest = True, max(flattest, float(means[start:stop].max()))
    return [(start, stop) for start, stop in runs if is_any and means[start:stop].max() <= flattest]


def _noisy(some: Floats) -> Iterator[tuple[int, int]]:
    """Yield the runs of rows that are not what those on both sides predict, each unlike the next."""
    steps = _varies(np.diff(some, axis=0), by_part=True)
    usual = _quantile_around(steps, USUAL)
    is_step = np.mean(steps > usual, axis=1) >= OF_NOISY
    may_be, behind = np.r_[False, is_step[:-1] & is_step[1:], False], 0
    for start in np.flatnonzero(may_be).tolist():
        stop = start
        while start >= behind and may_be[stop]:
            stop += 1
            if _is_noisy(some[start - 1 : stop + 1], np.maximum(usual[start - 1], usual[stop - 1])):
                behind = stop
                yield start, stop


def _is_noisy(near: Floats, usual: Floats) -> bool:
    """Whether all rows but the first and the last have noise of their own; ``usual`` are steps in each part."""
    first, *own, last = _varies(near, by_part=True)
    if np.mean(np.min(own, axis=0) > np.maximum(first, last)) < NEARLY_ALL:
        return False
    share = np.linspace(0, 1, len(near))[1:-1, None]
    differs = near[1:-1] - (1 - share) * near[0] - share * near[-1]
    power = np.square(np.abs(np.fft.rfft(np.nan_to_num(differs))))[:, 1:]
    if (power.max(axis=1) > DOTTED * power.sum(axis=1)).any():
        return False
    apart = _varies(near[[-1]] - near[[0]], by_part=True)[0]
    return _stands_out(_varies(differs, by_part=True).min(axis=0), np.maximum(apart, usual), OF_NOISY)


def _stands_out(varies: Floats, least: Floats, part: float) -> bool:
    """Whether what varies is larger than something else in this part of the row's parts."""
    return bool(np.mean((varies > TIMES * least) & (least > 0)) >= part)


def _varies(values: Floats, *, by_part: bool) -> Floats:
    """Return how far rows lie from their median in each part of their length, ``(rows, PARTS)``; or from that there."""
    whole = None if by_part else medians_of(values)
    return np.stack(
        [
            np.nan_to_num(np.abs(part - (medians_of(part) if whole is None else whole)[:, None])).mean(axis=1)
            for part in np.array_split(values, PARTS, axis=1)
        ],
        axis=1,
    )


def _quantile_around(values: Floats, quantile: float) -> Floats:
    """Return a quantile of the values of rows around each."""
    padded = np.pad(values, ((AROUND, AROUND), *((0, 0),) * (values.ndim - 1)), "symmetric")
    ordered = np.sort(sliding_window_view(padded, 2 * AROUND + 1, axis=0), axis=-1)
    return np.asarray(ordered[..., round(2 * AROUND * quantile)])


def _runs(is_there: Array) -> list[tuple[int, int]]:
    """Return the first of the rows of each run, and the one behind its last."""
    return [(a, b) for a, b in np.flatnonzero(np.diff(is_there, prepend=False, append=False)).reshape(-1, 2).tolist()]
