"""Rounding errors: the offset that keeps them small, what counts as noise, and when single precision is too weak.

And how far a picture may be from the reference, the contract of the numbers: what ``--verify`` says, what the tests
assert and what ``python -m tests.soak`` looks for.

A transform in single precision rounds everything by a part of the largest value that goes through it. A bright
background would carry its rounding into weak detail: of 60000 + {0, 1} little would be left. A filter is linear, so the
offset can go around the transforms: H(image) = H(image - offset) + H(0) offset.

It is the middle one of three pixels, on the diagonal at 1/4, 1/2 and 3/4: known before anything else is read, the same
in every engine, and a pixel, so that whole numbers stay exact. A dead pixel among the three is never the middle one.
Each plane has its own offset, as has each channel of a picture. With any pixel as the offset no deviation from it
exceeds the image's range.

A magnitude becomes a gray level by truncation, as in the book. A level that rounding leaves just below a whole number
counts as reached.

A filter that removes everything still leaves rounding errors: in single precision up to 1.4e-6 of what goes through the
transforms, an image's deviation from its offset, and 2.6e-6 along a side that takes two steps on a GPU. Without a floor
they would be stretched to a full picture. The floor lies four times above the largest.

Above the floor, a result is as exact as it is strong. Errors spread over all frequencies, so that a filter passes them
by its mean gain: measured over smooth, periodic and random images that lie outside of what a filter passes, their mean
is at most 2.5e-7, and their largest 1.7e-6, of the image's largest deviation times the root of the mean square
of the gains. WEAK is where a mean of 1/500 of a level of 255, which is 1 pixel of 500 on the wrong side of a level, is
left.

That holds for levels that lie anywhere between two edges, not where many are undecided: where nearly everything of
whole numbers passes, or where few values are all that a picture has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log2
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from .ramp import Stack


Array = NDArray[Any]

NOISE = 1e-5
"""A result that never exceeds this part of the input's largest deviation from its offset is rounding noise."""
WEAK = 1 / 30
"""A result that never exceeds this part of what goes through the transforms needs double precision.

That is the input's deviation times the mean gain, or its mean deviation times H(0), if that is more.
"""
# Rounding errors of a periodic image are periodic, too: few frequencies get most of them. A filter that passes nothing
# else passes up to 15 times the part that its mean gain is, measured for a wave of 199 pixels on a GPU.
UNEVEN = 256
# A level that rounding left short of a whole number by less than this counts as reached, so that a filter
# that passes everything gives the image back. It moves one pixel of 2048 by one level.
NUDGE = 1 / 2048
# A sample whose level lies this near to the edge between two pixels is undecided: single precision may put it on either
# side, as it is off by 2e-5 to 1e-4 of 255 levels. Chance puts one sample of 8192 there. Levels that are whole numbers
# stay outside. Twice as much would make photographs undecided of which nearly everything passes.
UNDECIDED = NUDGE / 8
# Of small pictures, of up to SMALL samples, a column of equal ones is more than may be wrong: for them it is all that
# single precision is off by. Four times as much would make one thumbnail of fifty undecided.
SMALL, UNDECIDED_IF_SMALL = 1 << 14, NUDGE / 4
# Of 400 samples one may be wrong. If each is by a chance of 1/500, two are wrong in one picture of five, so that small
# pictures need double precision from results on that are three times as strong. Crops of photographs are stronger.
WEAK_IF_SMALL = 3 * WEAK
# Values from this part of the largest on are white. Where many are equally large (a plain surface, a checkerboard),
# rounding makes one of them the largest, by more than the nudge, and the others would miss white.
WHITE = 1 - 2**-16


def rounded(levels: Array) -> Array:
    """Return levels rounded to the nearest whole number, halves up."""
    return np.floor(levels + 0.5 + NUDGE)


def undecided_within(samples: float) -> float:
    """Return how near to an edge between two pixels a level of a picture of so many samples is undecided."""
    return UNDECIDED_IF_SMALL if samples <= SMALL else UNDECIDED


def decided_row(height: int, width: int) -> int:
    """Return n where every n-th row tells how much of a picture is undecided: odd, as what repeats is often even."""
    return min(height * width >> 13, 128) | 1


def most_undecided(stack: Stack) -> float:
    """Return how many samples of a picture may be undecided: one, and fewer than may differ."""
    return max(1.5, stack.samples / 750)


def weak_below(limit: float, stack: Stack) -> float:
    """Return the part below which a result is weak; ``limit`` is the pipeline's, for pictures that are not small."""
    return limit * (WEAK_IF_SMALL / WEAK if stack.samples <= SMALL else 1)


def offset(planes: Array) -> NDArray[np.float64]:
    """Return the offset of each plane of ``(..., height, width)``."""
    height, width = planes.shape[-2:]
    one, two, three = (planes[..., i * height // 4, i * width // 4].astype(np.float64) for i in (1, 2, 3))
    # The median: np.median and np.sort would take longer than the transform of a small image.
    return np.asarray(np.maximum(np.minimum(one, two), np.minimum(np.maximum(one, two), three)))


def deviation(planes: Array, base: Array | None = None) -> NDArray[np.float64]:
    """Return how far any pixel of each plane of ``(..., height, width)`` is from ``base`` at most, its offset."""
    of_plane, base = (-2, -1), offset(planes) if base is None else base
    return np.asarray(np.maximum(planes.max(of_plane) - base, base - planes.min(of_plane)))


def mean_deviation(planes: Array) -> NDArray[np.float64]:
    """Return the mean of each plane of ``(..., height, width)`` less its offset."""
    return np.asarray(planes.mean(axis=(-2, -1), dtype=np.float64) - offset(planes))


def spread(planes: Array) -> NDArray[np.float64]:
    """Return the root of the mean square of each plane's deviations from its offset."""
    unit = np.maximum(deviation(planes), np.finfo(np.float64).tiny)  # squares of large floats would overflow
    away = (planes - offset(planes)[..., None, None]) / unit[..., None, None]
    return np.asarray(unit * np.sqrt(np.mean(np.square(away, out=away), axis=(-2, -1))))


# With up to 255 levels, one sample of this many may be off by one, and at least one of each picture.
ONE_OF = 500
# With more levels, and for floats, every sample may be off by this many of 65535.
OF_65535 = 8
# Samples whose filtered values agree to this part of the largest are ties: they lie on one side of the edge between
# two levels, all of them, and count as one.
TIE = 1e-6


def transform_bound(n: int, dtype: DTypeLike) -> float:
    """Return the largest relative error in norm of a right transform of length n, to numbers of a type.

    It grows with log2 n; other lengths than powers of two, of which some go by a convolution, may have four times that.
    """
    import numpy as np

    unit = 1e-7 if np.finfo(dtype).bits == 32 else 1e-15
    return unit * max(4.0, log2(n)) * (1 if n & (n - 1) == 0 else 4)


class Worst(NamedTuple):
    """The sample that differs most."""

    place: tuple[int, ...]  # its index: of pictures channel, row and column
    got: float
    wanted: float
    page: int | None = None  # counted from 1, of a file that has several

    def __str__(self) -> str:
        *channel, row, column = 0, *self.place
        at = f"x {column}, y {row}"
        if len(channel) > 1 and channel[-1]:
            at += f", channel {channel[-1]}"
        if self.page is not None:
            at += f", page {self.page}"
        return f"{self.got:.9g} for {self.wanted:.9g} at {at}"


@dataclass(frozen=True)
class Difference:
    """How the samples of a picture, the pixels of each of its channels, differ from those of the reference."""

    white: int  # the picture's white, 1 for floats
    is_float: bool
    largest: float  # the largest difference: in levels, for floats as a part of ``unit``
    samples: int  # how many samples differ; of floats, by more than they may
    values: int  # how many filtered values these samples have: ties count once
    size: int  # how many samples there are
    unit: float  # what tolerances are parts of, in samples; 0 if the reference is black, so that nothing may differ
    worst: Worst | None = None  # where the largest difference is, if there is one

    @classmethod
    def of(
        cls,
        got: Array,
        wanted: Array,
        white: int,
        *,
        unit: float | None = None,
        values: Array | None = None,
        step: float = 0,
    ) -> Difference:
        """Compare samples with the reference's, arrays of one shape, whose white is ``white``.

        ``unit`` is by default ``white``, or 0 if the reference is black. ``values`` are the filtered values that
        ``wanted`` was made of; without them no sample is a tie. ``step`` is how far apart the samples are that
        ``wanted``, of floats, was rounded to.
        """
        import numpy as np

        is_float = wanted.dtype.kind == "f"
        if unit is None:
            unit = float(white) if wanted.any() else 0.0
        with np.errstate(invalid="ignore"):  # missing samples may be NaN or infinite
            off = np.abs(got.astype(np.float64) - wanted.astype(np.float64))
            if is_float:
                off = (off - step / 2).clip(0) / (unit or 1)
        off[(got == wanted) | (np.isnan(got) & np.isnan(wanted))] = 0
        differs = ~(off <= OF_65535 / 65535) if is_float else off != 0
        largest, samples = float(off.max()), int(np.count_nonzero(differs))
        distinct = samples
        if values is not None and samples > 1:
            apart = TIE * (np.abs(values).max() or 1)
            distinct = len(np.unique(np.round(values[differs] / apart)))
        worst = None
        if largest != 0:
            place = tuple(int(i) for i in np.unravel_index(off.argmax(), off.shape))  # of a NaN, if there is one
            worst = Worst(place, float(got[place]), float(wanted[place]))
        return cls(white, is_float, largest, samples, distinct, off.size, unit, worst)

    @classmethod
    def of_all(cls, found: Sequence[Difference]) -> Difference:
        """Return the worst of several pictures, with the samples of all."""
        page, worst = max(enumerate(found, start=1), key=lambda each: each[1].largest / each[1].white)
        return replace(
            worst,
            worst=worst.worst and worst.worst._replace(page=page),
            samples=sum(each.samples for each in found),
            values=sum(each.values for each in found),
            size=sum(each.size for each in found),
        )

    @property
    def allowed(self) -> float:
        """The largest difference that is right."""
        if self.unit == 0:
            return 0.0
        part = OF_65535 / 65535
        return part if self.is_float else max(1.0, float(round(min(part * self.unit, self.white))))

    @property
    def allowed_samples(self) -> int:
        """How many samples may differ, ties counted once."""
        if self.is_float or self.white > 255:
            return self.size
        return max(1, int(min(self.size, self.size / ONE_OF * self.unit / self.white)))  # the unit may be infinite

    @property
    def is_right(self) -> bool:
        """Whether the contract holds; a NaN is never right."""
        return self.largest <= self.allowed and self.values <= self.allowed_samples

    @property
    def right(self) -> str:
        """What the contract allows, in words."""
        if self.unit == 0:
            return "all black"
        if self.is_float:
            return f"at most {self.allowed:.1e} of the range"
        where = f", in {self.allowed_samples} samples" if self.allowed_samples < self.size else ""
        return f"at most {self.allowed:.0f} of {self.white} levels{where}"

    def __str__(self) -> str:
        if self.is_float:
            said = f"off by at most {self.largest:.1e} of the range; {self.samples} of {self.size} samples by too much"
        else:
            said = f"off by at most {self.largest:.0f} of {self.white} levels, in {self.samples} of {self.size} samples"
            if self.samples > self.allowed_samples >= self.values:
                said += f", ties that count as {self.values}"
        return f"{said}; the worst is {self.worst}" if self.worst else said
