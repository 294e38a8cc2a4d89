"""Finds lines and bands across a picture, of a row to a third of it: offsets of a sensor's lines, or gains.

A step from row to row is a fault where it is the same in groups of columns along the whole line, without the slope that
most steps around it have. A bright object is in few groups, and the edge of an object is seldom as high in most of
them. Lines along a part of the picture, or without steps, are taken by their spectrum: a ridge, as far as it stands
out from the power beside it. No level, unit or width decides between these models, but prediction: what each finds in
one half of the groups has to be in the other half.

Sums of steps drift, and what drifts slower than the lines change is the picture's own. So less of that is taken:

    G(f) = min(1 - 1.5 E(f) / S(f), L / S(f)) (1 - exp(-(2 pi f s)^2 / 2)), at least 0

S is the power of the sums; E that of the sum of the steps' errors. Two halves of the picture tell these; where most
rows have no step, what the picture has there is an error of each step, too, and s has no limit. Else s is ten times the
rows from step to step. L is what many lines have at long periods, if each has a level of its own: about their power at
short ones. Lines that walk, as those of force microscopes, begin where the last one ended. Their steps have the same
power at all periods: L is four times that of such steps' sums.

Many lines that do not walk are taken from the levels of rows instead, not from sums of steps, at periods where the
levels of both halves have less error, and no more power than L: so the sky between stars has.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..arrays import Array, Floats, Holes
from ..transfer.ridges import Doubt
from .guard import is_laid_over
from .surroundings import MEDIAN_OF_NOISE
from .wiener import cosines

# Groups of columns, the fewest columns of each, and the most columns of a picture that are looked at.
GROUPS, FEWEST, COLUMNS = 16, 24, 512
# The least sides: rows across the lines, and columns.
LEAST_ROWS, LEAST_COLUMNS = 8, 16
# Slanted lines of fewer pixels from step to step have no steps, as these lie between two pixels.
LEAST_PITCH = 4
# Slopes are looked for in so many rows to either side; so many times their deviations are chance.
AROUND, CERTAIN = 8, 2.0
# Lines walk if their steps have this much of the power of as many equal ones, without the slowest ones, and three bands
# of periods up to this part alike; the power of long periods is at most so many times that.
EVERY_ROW, SLOW, ALIKE, WHITE = 0.5, 64, 0.55, 4.0
# The power of lines at long periods: so many times the mean of that from this part of their highest frequency up, where
# there are many steps, and for levels very many. So many times their participation is the number of steps that stand
# out from errors.
FLAT, FINE, MANY, OF_LEVELS, WHOLE = 2.4, 0.25, 24, 96, 1.5
# A group is beside a bright object if it differs from the next one, in the mean of so many rows, so many times as much
# as where these differ least, and than it would in so many times that of usual rows.
ROWS_OF_OBJECT, BESIDE_OBJECT, USUAL = 5, 3.0, 3.0
# In how many of its standard errors, each of which may be the best, a step has to be the same in four groups of five.
LIMITS = (0.0, 2.0, 3.0, 5.0)
# The quantile of four groups of five, and its distance from the median in standard deviations.
QUANTILE, AWAY = 0.2, 0.84
# The part of deviations within a standard deviation, and the error of a median beside that of a mean.
WITHIN, OF_MEDIAN = 0.683, 1.2533
# So many times the power of errors is no lines; what goes on for more rows, from step to step, is the picture's own.
ERRORS, PITCHES = 1.5, 10.0
# Sums of steps drift where they leave rows with more power than there was: so many times as much, and none stays.
MORE = 1.5, 2.0
# Steps are lines if prediction gains from that, by so many standard errors. Another model has to leave at
# most this part of what a simpler one leaves. Gains of lines that are sure need less.
SURE, BETTER, LIKELY = 1.9, 0.95, 1.5
# Steps are equally far apart if the part of them that is, times the part of such rows that have one, is more than this.
# Then each of these, five or more, has one: it counts if four groups of five are within so many times the usual.
REGULAR, FEWEST_DUE, KNOWN = 0.3, 5, 2.0
# The most that a step may have to do with the next, as edges are blurred over some rows; that of slanted lines; the
# fewest steps that tell lines alone; the least height of a step, as a part of the usual one.
BLURRED, SLANTED, FEWEST_STEPS, SMALL = 0.25, 0.6, 4, 0.1
# The most of steps that is the same so many pixels further; the standard errors of that which come by chance.
REPEATED, SHIFTED, CHANCE = 0.35, 4, 3.0
# The standard deviation of heights, as a part of their mean: those of ruled lines have less. That, times the part that
# prediction leaves: those of a picture's own edges, a few strong ones among many weak ones, have more.
EQUAL, UNEQUAL = 0.2, 0.6
# The most of the pixels that steps leave where they are, by less than half of their height: in the mean of all rows,
# and in their root mean square. A row is an edge if more stay than move, by so many standard errors.
UNMOVED, HALF, EDGE = (0.07, 0.14), 0.5, 6.0
# The part of a picture's pixels that may be 0 or less where gains are looked for.
DARK = 0.05
# Lines of a part are looked for in so many groups of columns, in sides of so many pixels or more, and in so many blocks
# that agree best, at least so far. A group belongs to them if it gains this part of its steps; nine of ten others gain
# at most that.
PARTS, LEAST_OF_PART, TRIED, AGREE, GAINED, LOST = 64, 64, 4, 0.3, 0.25, -0.15
# The fewest columns of their groups, the most that a part has of the length, the longest gap between steps as a part of
# the height, and the most of the pixels that these leave where they are. How many times as much a part without large
# lines may vary from row to row as the rest, or the rest as the part.
FEWEST_OF_PART, MOST_OF_PART, GAP, UNMOVED_OF_PART, UNLIKE = 8, 0.75, 0.2, (0.045, 0.1), 2.0
# The standard deviation of the ridge, in half cycles along the lines, and how many of these are compared with it.
RIDGE, BESIDE = 1.7, slice(3, 9)
# Frequencies across the lines that a mean covers: of the ridge, and beside it; how many times the ridge stands out.
ON_RIDGE, WIDE, TIMES = 7, 21, 2.0
# Ridges of longer periods stay, in pixels, with a soft edge of this steepness.
SPARED, STEEP = 30.0, 4
# Rows that are transformed at a time, to save memory.
STRIP = 256


class Lines(NamedTuple):
    """The lines of a plane."""

    profiles: Floats
    """What they add to a row, as cosines of 0, 1, 2 ... half cycles along it: ``(cosines, rows)``."""
    is_gain: bool
    """Whether they add to the logarithm: as factors of the picture."""
    pitch: int
    """Rows from step to step; 0 for lines that were found by their spectrum alone."""


class _Model(NamedTuple):
    """What predicts the steps of half of the groups best."""

    kind: str
    """Some of "steps" and "ridge"."""
    steps: Floats
    """The steps of groups, ``(rows - 1, groups)``."""
    found: Floats | None
    """Those of rows that are of lines, or may be; None without evidence."""
    doubt: Doubt
    """Why lines that are there stay."""


def lines_of(
    plane: Array, holes: Holes | None, *, with_ridge: bool = True, with_gains: bool = True, strict: bool = False
) -> tuple[Lines | None, Doubt]:
    """Return the lines of a plane that go along its rows, and why others stay, if some are there.

    ``holes`` are the missing pixels, which the plane has values for. ``with_ridge`` allows lines by their spectrum,
    ``with_gains`` those that are factors, and ``strict`` asks more of steps that nothing else says to be lines.
    """
    if len(plane) < LEAST_ROWS or plane.shape[1] < LEAST_COLUMNS:
        return None, ""
    return _lines(plane, columns_of(plane, holes), with_ridge=with_ridge, with_gains=with_gains, strict=strict)


def columns_of(plane: Array, holes: Holes | None, multiple: int = 1) -> Floats:
    """Return some columns of a plane, a multiple of so many, float64, NaN where pixels are missing."""
    count = min(plane.shape[1], COLUMNS) // multiple * multiple
    columns = np.linspace(0, plane.shape[1] - 1, count).round().astype(np.intp)
    some = plane[:, columns].astype(np.float64)
    if holes is not None:
        some[holes[:, columns]] = np.nan
    return some


def lines_of_part(plane: Array, holes: Holes | None) -> tuple[Lines, int, int] | None:
    """Return the lines that a part of the rows' length has, the first of its pixels, and the one behind the last.

    In parts of an eighth and a fourth, two halves of the groups are compared. What those that agree best have in common
    is looked for in all groups: lines are where it is left out with gain. It has to be a loss beside them.
    """
    height, width = plane.shape
    if height < LEAST_OF_PART or width < 2 * LEAST_OF_PART:
        return None
    whole = columns_of(plane, holes, PARTS).reshape(height, PARTS, -1)
    steps = _middle(np.nan_to_num(np.diff(whole, axis=0)).reshape(-1, whole.shape[2])).reshape(height - 1, PARTS)
    blocks = [(a, a + n) for n in (PARTS // 8, PARTS // 4) for a in range(0, PARTS - n + 1, n // 2)]
    agree = [(agreement(steps[:, a:b:2], steps[:, a + 1 : b : 2]), a, b) for a, b in blocks]
    spans = set()
    for a, b in (each[1:] for each in sorted(agree, reverse=True)[:TRIED] if each[0] > AGREE):
        if (found := steps_of_lines(steps[:, a:b])) is None:
            continue
        gained = (np.abs(steps) - np.abs(steps - found[:, None])).sum(axis=0) / np.abs(found).sum()
        sums = np.append(0, np.cumsum(gained - GAINED))
        first, last = np.unravel_index(np.triu(sums - sums[:, None]).argmax(), (PARTS + 1, PARTS + 1))
        beside = np.r_[gained[: max(0, first - 1)], gained[last + 1 :]]
        if not 0 < last - first <= MOST_OF_PART * PARTS or np.quantile(beside, 0.9) > LOST or (first, last) in spans:
            continue
        spans.add((first, last))
        start, end = (round(k * width / PARTS) for k in (int(first), int(last)))
        some = columns_of(plane[:, start:end], None if holes is None else holes[:, start:end])
        found = steps_of_lines(steps_of_groups(some, FEWEST_OF_PART))
        if found is None or any(unmoved(np.diff(some, axis=0), found) > np.array(UNMOVED_OF_PART)):
            continue
        if np.diff(np.flatnonzero(found), prepend=0, append=height).max() >= GAP * height:
            continue
        lines, _ = _lines(some, some, with_ridge=False, strict=True, fewest=FEWEST_OF_PART)
        if lines is not None and not _is_shown(lines, some, np.delete(whole, np.s_[first:last], axis=1)):
            around = width // PARTS + 1
            return lines, _end(plane, lines, start, around), _end(plane, lines, end, around)
    return None


def _is_shown(lines: Lines, part: Floats, rest: Floats) -> bool:
    """Whether lines of a part are a code or a scale: larger than the rest, over rows unlike those of the rest."""
    part, rest = (np.log(np.where(each > 0, each, np.nan)) if lines.is_gain else each for each in (part, rest))
    varies, around = (np.nanmean(np.abs(np.diff(each, axis=0))) for each in (part - lines.profiles[0][:, None], rest))
    return bool(lines.profiles[0].std() > np.nanstd(rest) and not around < UNLIKE * varies < UNLIKE**2 * around)


def agreement(some: Floats, others: Floats) -> float:
    """Return the correlation of the steps of some groups with those of others."""
    one, other = medians_of(some), medians_of(others)
    most = 3 * np.median(np.abs(one[one != 0])) if one.any() else 0.0
    one, other = np.clip(one, -most, most), np.clip(other, -most, most)
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other) + np.finfo(float).tiny))


def _end(plane: Array, lines: Lines, at: int, around: int) -> int:
    """Return the column around one where lines begin or end."""
    start = max(0, at - around)
    some = plane[:, start : at + around].astype(np.float64)
    steps = np.diff(np.log(np.maximum(some, np.finfo(float).tiny)) if lines.is_gain else some, axis=0)
    gained = np.abs(steps) - np.abs(steps - np.diff(lines.profiles[0])[:, None])
    sums = np.append(0, np.cumsum(gained.sum(axis=0)))
    return start + int(np.abs(sums - np.linspace(sums[0], sums[-1], len(sums))).argmax())


def lines_of_all(some: Floats, *, strict: bool = False) -> Lines | None:
    """Return the lines that pictures beside each other ``(rows, columns of all)`` share; as :func:`lines_of`."""
    is_small = len(some) < LEAST_ROWS or some.shape[1] < LEAST_COLUMNS
    return None if is_small else _lines(some, some, with_ridge=False, strict=strict)[0]


def steps_along(some: Floats, *, strict: bool = False) -> tuple[Lines | None, Doubt]:
    """Return the bands of samples ``(rows, columns)``, NaN beside the picture; all as for :func:`lines_of`."""
    if min(some.shape) < LEAST_COLUMNS:
        return None, ""
    found, doubt = _lines(some, some, with_ridge=False, strict=strict, blurred=SLANTED)
    return found if found and found.pitch >= LEAST_PITCH else None, doubt


def _lines(
    plane: Array,
    some: Floats,
    *,
    with_ridge: bool,
    with_gains: bool = True,
    strict: bool,
    blurred: float = BLURRED,
    fewest: int = FEWEST,
) -> tuple[Lines | None, Doubt]:
    best = _model(some, blurred, fewest, with_ridge=with_ridge, strict=strict)
    is_gain, doubt = False, best.doubt
    valid = np.isfinite(some)
    with np.errstate(invalid="ignore", divide="ignore"):
        is_dark = valid & ~(some > 0)
        if with_gains and np.count_nonzero(is_dark) <= DARK * np.count_nonzero(valid):
            logs = np.log(np.where(some > 0, some, np.nan))
            of_logs = _model(logs, blurred, fewest, with_ridge=False, strict=strict)
            doubt = doubt or of_logs.doubt
            # A ridge tells no gains: its lines are along a part of the picture.
            if of_logs.kind and (not (best.kind or strict) or _is_gain(some, best, of_logs)):
                some, is_gain = logs, True
                best = _model(logs, blurred, fewest, with_ridge=True, strict=strict) if with_ridge else of_logs
    if not best.kind:
        return None, doubt
    profiles, pitch = np.zeros((BESIDE.stop, len(some))), 0
    if "steps" in best.kind and best.found is not None:
        least = LEAST_PITCH - 1 if blurred == SLANTED else 1
        profiles[0], pitch = _profile(best.steps, best.found, least, _by_group(some, best.steps.shape[1]))
    if "ridge" in best.kind:
        values = np.log(np.maximum(plane, np.nanmin(np.exp(some)))) if is_gain else plane
        low = _low_rows(values)
        low[0] -= cosines(profiles[:1])[0] * plane.shape[1]
        profiles += _ridge(low, plane.shape[1])
    return Lines(profiles, is_gain, pitch), doubt


def _is_gain(some: Floats, model: _Model, of_logs: _Model) -> bool:
    """Whether half of the groups predict the pixels of the other half better as gains."""
    is_step, groups = (of_logs.found if model.found is None else model.found) != 0, model.steps.shape[1]
    parity = np.repeat(np.arange(groups) % 2, np.diff(_shares(some.shape[1], groups)))
    offsets, gains = ([is_step * medians_of(each[:, i::2]) for i in (0, 1)] for each in (model.steps, of_logs.steps))
    return are_gains([some[:, parity != first] for first in (0, 1)], offsets, gains)


def are_gains(pictures: list[Floats], offsets: list[Floats], gains: list[Floats], order: int = 2) -> bool:
    """Whether gains explain the steps from row to row better than offsets, in values and in parts of them alike.

    Each picture ``(rows, columns)`` comes with its steps as either, 0 where there are none. They are compared with the
    mean of both pixels, as a picture's own steps are up as often as down. With differences of an ``order`` above 0, its
    slopes do not count: those of galaxies are gains, too.
    """
    ahead: tuple[list[Floats], list[Floats]] = [], []
    for some, offset, gain in zip(pictures, offsets, gains, strict=True):
        twice = np.where((some[1:] > 0) & (some[:-1] > 0), some[1:] + some[:-1], np.nan)
        said = np.clip(offset[:, None] / twice, -1, 1), np.tanh(gain[:, None] / 2)
        parts = np.diff(some, axis=0) / twice
        for unit, rows in zip((twice, np.ones(1)), ahead, strict=True):
            by_offset, by_gain = (np.abs(np.diff(unit * (parts - each), order, axis=0)) for each in said)
            rows.append(np.nansum(by_offset - by_gain, axis=1))
    each_row = np.stack([*map(np.concatenate, ahead)])
    return bool((each_row.sum(axis=1) > LIKELY * np.linalg.norm(each_row, axis=1)).all())


# Steps


def _shares(columns: int, groups: int) -> Array:
    """Return where groups of columns begin, and the end."""
    return np.linspace(0, columns, groups + 1).astype(np.intp)


def steps_of_groups(some: Floats, fewest: int = FEWEST) -> Floats:
    """Return the steps from row to row in each group of columns, ``(rows - 1, groups)``: the mean of the middle half.

    The median would be rounded in pictures of few levels, and tell small slopes from errors no more.
    """
    return _by_group(np.diff(some, axis=0), min(GROUPS, max(4, some.shape[1] // fewest)))


def _by_group(values: Floats, groups: int) -> Floats:
    return np.stack([_middle(values[:, a:b]) for a, b in pairwise(_shares(values.shape[1], groups))], axis=1)


def _middle(values: Floats) -> Floats:
    """Return the mean of the middle half of each row without its NaN; NaN for a row that has few other values."""
    ordered = np.sort(values, axis=1)  # NaN come last
    quarter = (values.shape[1] - 1) // 4
    if np.isfinite(ordered[:, -1]).all():
        return np.asarray(ordered[:, quarter : values.shape[1] - quarter].mean(axis=1))
    count = np.count_nonzero(np.isfinite(values), axis=1)
    last = np.maximum(count - 1, 0)[:, None]
    place = np.arange(values.shape[1])
    is_middle = (place >= last // 4) & (place <= last - last // 4)
    means = np.nan_to_num(np.where(is_middle, ordered, 0).sum(axis=1) / is_middle.sum(axis=1))
    return np.asarray(np.where(4 * count > values.shape[1], means, np.nan))


def _leveled(steps: Floats, found: Floats | None) -> Floats:
    """Return steps without what the slopes of groups differ by, as bright objects have them, if most rows have lines.

    The flattest groups count most. Two halves of the groups are leveled, each by itself. Groups beside a bright object
    become NaN: the spikes of a star fall along the row, while lines of a part differ where they begin and end alone.
    """
    if found is None or 2 * np.count_nonzero(found) <= len(found):
        return steps
    leveled = steps.copy()
    for half in (leveled[:, ::2], leveled[:, 1::2]):
        medians = medians_of(half)[:, None]
        filled = np.where(np.isfinite(half), half, medians)
        around, relative = (
            sliding_window_view(np.pad(each, ((AROUND, AROUND), (0, 0)), "symmetric"), 2 * AROUND + 1, axis=0)
            for each in (filled, filled - medians)
        )
        own, errors = around.mean(axis=2), relative.var(axis=2) / around.shape[2]
        usual = np.median(np.abs(own - np.median(own)))
        weights = 1 / np.maximum(np.square(own) + usual**2, np.finfo(float).tiny)
        apart = own - np.average(own, axis=1, weights=weights, keepdims=True)
        power = np.maximum(np.square(apart), np.finfo(float).tiny)
        half[:] -= apart * np.maximum(power - CERTAIN**2 * errors, 0) / power
        between = np.pad(np.abs(np.diff(half)), ((ROWS_OF_OBJECT // 2, ROWS_OF_OBJECT // 2), (1, 1)), "symmetric")
        between = np.nan_to_num(sliding_window_view(between, ROWS_OF_OBJECT, axis=0).mean(axis=2))
        beside = np.maximum(between[:, 1:], between[:, :-1])
        least = np.sort(beside, axis=1)[:, 1:2]
        half[beside > BESIDE_OBJECT * np.maximum(least, USUAL * np.median(least))] = np.nan
    return leveled


def _quantiles(values: Floats, *wanted: float) -> list[Floats]:
    """Return quantiles of each row; NaN are left out, and a row of nothing else has a 0."""
    ordered = np.sort(values, axis=1)  # NaN come last
    last = np.maximum(np.count_nonzero(np.isfinite(values), axis=1) - 1, 0)
    rows, found = np.arange(len(values)), []
    for each in wanted:
        low = np.floor(each * last).astype(np.intp)
        part = each * last - low
        at_low, at_high = ordered[rows, low], ordered[rows, np.minimum(low + 1, last)]
        found.append(np.where(np.isnan(at_low), 0, at_low + part * (at_high - at_low)))
    return found


def _size(values: Floats) -> float:
    """Return the mean size of values without NaN."""
    return float(np.nanmean(np.abs(values)))


def medians_of(values: Floats) -> Floats:
    """Return the median of each row without its NaN, 0 of a row that has nothing else."""
    return _quantiles(values, 0.5)[0]


def _agreed(steps: Floats) -> tuple[Floats, Floats, float]:
    """Return the median of the groups for each row, what most groups agree on of it, and the error of a median."""
    low, median, high = _quantiles(steps, QUANTILE, 0.5, 1 - QUANTILE)
    sizes = np.abs(steps - median[:, None])
    noise = float(np.quantile(sizes[np.isfinite(sizes)], WITHIN))  # the median is often 0 in 8 bits
    least = np.where(median > 0, np.minimum(low + AWAY * noise, median), np.minimum(AWAY * noise - high, -median))
    return median, least, OF_MEDIAN * noise / steps.shape[1] ** 0.5


def steps_of_lines(steps: Floats) -> Floats | None:
    """Return the steps of rows by the limit with which half of the groups predict the other half best; None for none.

    A step is the median of the groups where most of them agree on it. Small ones, which slopes have, are left out.
    """
    steps = steps - slopes(medians_of(steps))[:, None]
    halves = steps[:, ::2], steps[:, 1::2]
    if not all(np.isfinite(each).any() for each in halves):
        return None
    known = [_agreed(each) for each in halves]
    best, least = None, sum(map(_size, halves))
    for limit in LIMITS:
        said = (np.where(sure > limit * error, median, 0)[:, None] for median, sure, error in reversed(known))
        left = sum(_size(each - other) for each, other in zip(halves, said, strict=True))
        if left < least:
            best, least = limit, left
    if best is None:
        return None
    median, sure, error = _agreed(steps)
    found = np.where(sure > best * error, median, 0)
    heights = np.sort(np.abs(found))
    shares = np.cumsum(np.sqrt(heights))
    found[np.abs(found) < SMALL * heights[shares.searchsorted(shares[-1] / 2)]] = 0
    return found if found.any() else None


def _profile(steps: Floats, found: Floats, least: int = 1, levels: Floats | None = None) -> tuple[Floats, int]:
    """Return what lines add to each row, without what drifts, and the rows from step to step.

    ``found`` are those of the steps ``(rows - 1, groups)`` that are of lines; ``levels`` are those of ``(rows,
    groups)``.
    """
    count = len(steps) + 1
    walks = _walks(found)
    low, medians, high = _quantiles(steps, QUANTILE, 0.5, 1 - QUANTILE)
    own = medians - slopes(medians)
    given = found
    if not walks and least == 1:
        found = _with_due(given, own, high - low)
    where = np.flatnonzero(found)
    sums = np.concatenate([[0.0], np.cumsum(medians if walks else found - _beside(own, found))])
    transformed = cosines(sums[None])[0]
    power = np.square(transformed) * 2 / count
    parts = np.split(steps[slice(None) if walks else where], [steps.shape[1] // 2], axis=1)
    one, other = (medians_of(part) for part in parts)
    is_in_both = np.isfinite(parts[0]).any(axis=1) & np.isfinite(parts[1]).any(axis=1)
    error = np.square(one - other)[is_in_both].mean() / 4 if is_in_both.any() else np.inf
    is_sparse = not walks and 2 * len(where) < len(found)
    if is_sparse:
        error += np.square(own[found == 0]).mean()
    turned = np.pi * np.arange(count) / count
    turned[0] = turned[1] / 2
    errors = error * len(one) / count / (2 - 2 * np.cos(turned))
    apart = count / min(len(where), WHOLE * float(np.abs(found).sum() ** 2 / np.square(found).sum()))
    power = np.maximum(_octaves(power), np.finfo(float).tiny)
    if walks:  # the picture's own part of long periods is no walk: it differs from half to half
        apart_by = np.concatenate([[0.0], np.cumsum(np.nan_to_num(one - other) / 2)])
        errors = np.maximum(errors, _octaves(np.square(cosines(apart_by[None])[0]) * 2 / count))
    gain = np.clip(1 - ERRORS * errors / power, 0, 1)
    if walks:
        of_steps = np.square(transformed) * (1 - np.cos(turned)) + np.finfo(float).tiny
        gain = np.minimum(gain, WHITE * of_steps[turned > FINE * np.pi].mean() / _octaves(of_steps))
    elif not is_sparse:
        gain *= -np.expm1(-np.square(turned * PITCHES * apart) / 2)
    if len(where) > MANY and not walks:
        is_long = turned * apart < FINE * np.pi
        is_fine = ~is_long & (turned * apart < np.pi)
        fine = (FLAT - 1 / apart) * power[is_fine].mean()
        gain = np.minimum(gain, np.where(is_long, fine / power, 1))
        if levels is not None and len(where) > OF_LEVELS:
            usual = FLAT * np.median(power[is_fine])  # lines that repeat have one period, whose power tells nothing
            of_levels, power, errors = _of_levels(levels - medians_of(levels.T))
            is_better = (power < usual) & (ERRORS * errors < (1 - gain) * power)
            transformed = np.where(is_better, of_levels, transformed)
            gain = np.where(is_better, 1 - ERRORS * errors / power, gain)
    gain[0] = 0
    lines = gain * transformed
    if levels is not None and is_sparse and found is given:  # those of bands of one width are certain
        lines *= _shown(lines, levels - medians_of(levels.T))
    return _from_cosines(lines[None])[0], _pitch(where, count, least)


def _pitch(where: Array, count: int, least: int) -> int:
    """Return the rows from step to step, of ``count``; those that are nearer than ``least`` are parts of one."""
    starts = where[np.diff(where, prepend=-least) >= least]
    if len(where) > least * len(starts):  # a step in almost each row
        return 1
    return int(np.median(np.diff(starts))) if len(starts) > 1 else count


def _shown(transformed: Floats, levels: Floats) -> Floats:
    """Return which part of lines the levels of rows show at each period: none where they would add power to these."""
    before = cosines(medians_of(levels)[None])[0] * (np.arange(len(levels)) > 0)
    power, left = (np.maximum(_octaves(np.square(each)), 1e-300) for each in (before, before - transformed))
    return np.clip((MORE[1] - left / power) / (MORE[1] - MORE[0]), 0, 1)


def _of_levels(levels: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the cosine transform of rows' levels, its power, and that of their error, which two halves tell."""
    one, other = (medians_of(part) for part in np.array_split(levels, 2, axis=1))
    both = cosines(np.stack([medians_of(levels), (one - other) / 2]))
    power, errors = (_octaves(np.square(each) * 2 / len(levels)) for each in both)
    return both[0], power, errors


def related(steps: Floats) -> list[float]:
    """Return the correlations of steps with the four behind them."""
    most = 3 * np.median(np.abs(steps[steps != 0]))
    clipped = np.pad(np.clip(steps, -most, most), (0, 4))
    return [float(clipped[k:] @ clipped[:-k] / (clipped @ clipped)) for k in range(1, 5)]


def slopes(medians: Floats) -> Floats:
    """Return the slopes of the picture: what steps around each row have in common, if more than their deviations."""
    around = sliding_window_view(np.pad(medians, AROUND, "symmetric"), 2 * AROUND + 1)
    middle = np.sort(around, axis=1)[:, AROUND]  # much faster than the median
    # Of steps of 1, -1, 1 ..., most by one are alike, and no slope.
    deviations = np.sort(np.abs(around - middle[:, None]), axis=1)[:, AROUND : AROUND + 2].mean(axis=1)
    power, errors = np.square(middle), np.square(CERTAIN * deviations)
    return np.asarray(middle * np.maximum(power - errors, 0) / np.maximum(power, np.finfo(float).tiny))


def _with_due(found: Floats, own: Floats, spread: Floats) -> Floats:
    """Return steps with one in each row that is due, and none between, where most are equally far apart."""
    where, best, is_due = np.flatnonzero(found), REGULAR, None
    for every in range(1, len(found) // FEWEST_DUE + 1):
        hits = np.bincount(where % every, minlength=every)
        on = np.arange(len(found)) % every == hits.argmax()
        alike = hits.max() ** 2 / (len(where) * np.count_nonzero(on))
        if alike > best and hits.max() >= FEWEST_DUE:
            best, is_due = alike, on
    if is_due is None:
        return found
    is_known = spread < KNOWN * np.median(np.abs(found[where]))
    return np.asarray(np.where(is_due, np.where(is_known, own, found), 0))


def _beside(medians: Floats, found: Floats) -> Floats:
    """Return the picture's own part in steps that are found, as the steps beside them that are not predict it."""
    is_own = np.pad(found == 0, 1)
    around = np.pad(np.where(found, 0, medians), 1)
    means = (around[:-2] + around[2:]) / np.maximum(1.0 * is_own[:-2] + is_own[2:], 1)
    is_known = is_own[:-2] & is_own[1:-1] & is_own[2:]
    own = means[is_known]
    alike = own @ medians[is_known] / max(own @ own, np.finfo(float).tiny)
    return np.asarray(np.where(found, np.clip(alike, 0, 1) * means, 0))


def _walks(steps: Floats) -> bool:
    """Whether each line begins where the last one ended: all rows have steps, and these all periods.

    The steps of lines that return have short periods most of all, and the picture's own slopes long ones.
    """
    n, most = len(steps), 3 * np.median(np.abs(steps[steps != 0]))
    fast = steps - _from_cosines(cosines(steps[None]) * (np.arange(n) < n // SLOW))[0]
    power = np.square(cosines(np.clip(steps, -most, most)[None])[0])
    low, middle, high = (power[n // a : n // b + 1].mean() for a, b in ((SLOW, 16), (16, 4), (4, 1)))
    is_everywhere = np.square(np.abs(fast).sum()) > EVERY_ROW * n * np.square(fast).sum()
    return bool(is_everywhere and middle > ALIKE * high and low < high / (1 - ALIKE))


def _octaves(power: Floats) -> Floats:
    """Return the mean of the power around each frequency, over a part of an octave."""
    k = np.arange(len(power))
    wide = np.maximum(3, (0.15 * k).astype(np.intp))
    low, high, sums = np.maximum(k - wide, 0), np.minimum(k + wide + 1, len(k)), np.append(0, np.cumsum(power))
    return np.asarray((sums[high] - sums[low]) / (high - low))


# Which model


def _model(some: Floats, most: float, fewest: int, *, with_ridge: bool, strict: bool) -> _Model:
    """Return the simplest model of those that predict best what half of the groups do not show."""
    steps = steps_of_groups(some, fewest)
    if not all(np.isfinite(steps[:, first::2]).any() for first in (0, 1)):
        return _Model("", steps, None, "")
    steps = _leveled(steps, steps_of_lines(steps))
    by_steps, by_ridge, by_both = (np.zeros(steps.shape) for _ in range(3))
    sizes = [np.zeros((2, 0))]
    ends = _shares(some.shape[1], steps.shape[1])
    for first in (0, 1):
        own, other = steps[:, first::2], steps[:, 1 - first :: 2]
        found = steps_of_lines(own)
        if found is not None:
            sizes.append(np.nansum(np.abs([other, other - found[:, None]])[:, found != 0], axis=2))
        if with_ridge:
            profile = np.zeros(len(some)) if found is None else _profile(own, found)[0]
            by_steps[:, 1 - first :: 2] = np.diff(profile)[:, None]
            half = np.concatenate([some[:, ends[i] : ends[i + 1]] for i in range(first, steps.shape[1], 2)], axis=1)
            low, centers = _low_rows(half), (np.arange(own.shape[1]) + 0.5) / own.shape[1]
            waves = np.cos(np.pi * np.outer(np.arange(len(low)), centers))
            for into, known in ((by_ridge, 0 * profile), (by_both, profile)):
                lower = low.copy()
                lower[0] -= cosines(known[None])[0] * half.shape[1]
                field = _ridge(lower, half.shape[1]).T @ waves
                # A group of the other half lies between two of this one.
                beside_it = np.arange(other.shape[1]) + 1 - first
                between = sum(field[:, np.clip(beside_it - k, 0, own.shape[1] - 1)] for k in (0, 1)) / 2
                into[:, 1 - first :: 2] = np.diff(between + known[:, None], axis=0)
    before, left = np.concatenate(sizes, axis=1)
    is_sure = (before - left).sum() > SURE * np.linalg.norm(before - left)
    found = steps_of_lines(steps) if is_sure else None
    is_lines, walks = found is not None, False
    doubt: Doubt = ""
    if found is not None:
        where = found != 0
        walks = _walks(found)
        blurred = float(found[1:] @ found[:-1] / (found @ found))
        # Of few steps, some are beside each other by chance.
        is_lines = blurred < most + (0 if strict else 0.5 / np.count_nonzero(where) ** 0.5)
        if strict:
            heights = np.abs(found[where])
            uneven = heights.std() / heights.mean()
            is_lines &= (
                (uneven > EQUAL and not repeats(found))
                or is_laid_over(some, found, LEAST_PITCH - 1 if most == SLANTED else 1)
            ) and uneven * left.sum() < UNEQUAL * before.sum()
            is_lines &= all(a < b for a, b in zip(unmoved(np.diff(some, axis=0), found), UNMOVED, strict=True))
        is_wide = is_lines and strict and np.count_nonzero(where) < FEWEST_STEPS
        is_lines &= not is_wide
        doubt = "wide" if is_wide else "" if is_lines else "content"
    kind = "steps" if is_lines else ""
    others = () if not with_ridge else ("steps, ridge",) if is_lines and walks else ("ridge", "steps, ridge")
    predicted = {"": 0 * steps, "steps": by_steps, "ridge": by_ridge, "steps, ridge": by_both}
    said = {kind: _size(steps - each) for kind, each in predicted.items() if others}
    for other_kind in others:
        if ("steps" not in other_kind or is_lines) and said[other_kind] < BETTER * said[kind]:
            kind = other_kind
    return _Model(kind, steps, found if found is None else _without_edges(np.diff(some, axis=0), found), doubt)


def _without_edges(differences: Floats, steps: Floats) -> Floats:
    """Return the steps of rows but large ones where more pixels stay than move; all if none is left."""
    is_large = np.abs(steps) > np.median(np.abs(steps[steps != 0]))  # others are finer than gray levels
    moved = differences / np.where(steps, steps, np.nan)[:, None]
    stay, once, twice = ((np.abs(moved - k) < HALF).sum(axis=1) for k in (0, 1, 2))
    is_edge = is_large & (stay > once) & (stay - twice > EDGE * np.sqrt(stay + twice))
    return np.where(is_edge & ~is_edge[steps != 0].all(), 0, steps)


def unmoved(differences: Floats, steps: Floats) -> tuple[float, float]:
    """Return the part of the pixels that steps of rows leave where they are, from differences ``(rows, columns)``.

    A fault adds its step to whatever is there: as many pixels move by less than half of it as by more than one and a
    half, and no more than by about all of it. Paper between letters does not move. Behind the mean of the rows comes
    their root mean square, without what comes by chance.
    """
    rows = np.flatnonzero(steps)
    moved, weights = differences[rows] / steps[rows, None], np.abs(steps[rows]) / np.abs(steps).sum()
    count = np.maximum(np.isfinite(moved).sum(axis=1), 1)
    not_at_all, once, twice = ((np.abs(moved - k) < HALF).sum(axis=1) / count for k in (0, 1, 2))
    mean = weights @ not_at_all - min(weights @ once, weights @ twice)
    by_row = weights @ (np.square(not_at_all - twice) - (not_at_all + twice) / count)
    return float(mean), float(np.sqrt(max(0, by_row)))


def repeats(steps: Floats, chance: float = CHANCE) -> bool:
    """Whether steps repeat across the lines, as lines of text do; of few steps, some are alike by chance."""
    n, limit = len(steps), REPEATED + chance / (int(np.count_nonzero(steps)) or 1) ** 0.5
    repeated = np.correlate(steps, steps, "full")[n - 1 :] / max(float(steps @ steps), 1e-300) * n / np.arange(n, 0, -1)
    first = max(SHIFTED, int((repeated < 0).argmax()))
    return bool(repeated[first : n // 3].max(initial=0) > limit)


# The ridge


def _low_rows(values: Array) -> Floats:
    """Return the cosine transform of values, ``(half cycles along the rows, half cycles across)``; NaN are medians."""
    height, width = values.shape
    waves = np.cos(np.pi / width * np.outer(np.arange(width) + 0.5, np.arange(BESIDE.stop)))
    rows = np.empty((BESIDE.stop, height))
    for start in range(0, height, STRIP):
        part = values[start : start + STRIP].astype(np.float64)
        if not np.isfinite(part).all():
            part = np.where(np.isfinite(part), part, medians_of(part)[:, None])
        rows[:, start : start + STRIP] = (part @ waves).T
    rows[0] -= rows[0].mean()
    return np.asarray(cosines(rows))


def _ridge(low: Floats, width: int) -> Floats:
    """Return the profiles of lines that stand out from the power beside their ridge."""
    weights = np.exp(-np.square(np.arange(len(low)) / RIDGE) / 2) * np.where(np.arange(len(low)), 2, 1) / width
    return _from_cosines(low * taken(np.square(low)) * weights[:, None])


@np.errstate(over="ignore")  # beside a ridge without any power
def taken(power: Floats) -> Floats:
    """Return which part of the ridge is stripes, at each frequency across them."""
    ridge = _smooth((power[0] + 2 * power[1]) / 3, ON_RIDGE)
    beside = _smooth(np.median(power[BESIDE], axis=0) / MEDIAN_OF_NOISE, WIDE)
    stands_out = np.clip(1 - TIMES * beside / np.maximum(ridge, np.finfo(float).tiny), 0, 1)
    f = np.arange(len(ridge)) / (2 * len(ridge))
    return np.asarray((1 - 2.0 ** -((SPARED * f) ** STEEP)) * stands_out)


def _smooth(values: Floats, count: int) -> Floats:
    """Return the mean of so many values around each; beyond the ends they are mirrored."""
    padded = np.pad(values, count // 2, "symmetric" if len(values) > count // 2 else "edge")
    return np.convolve(padded, np.full(count, 1 / count), "valid")


def _from_cosines(transformed: Floats) -> Floats:
    """Return the values whose sums :func:`cosines` gives."""
    n = transformed.shape[1]
    turned = 2 * transformed * np.exp(0.5j * np.pi / n * np.arange(n))
    return np.asarray(np.fft.irfft(np.pad(turned, ((0, 0), (0, 1))), 2 * n)[:, :n])
