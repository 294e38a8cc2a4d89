"""How far a picture is from the reference, and how far it may be: the contract of the numbers.

This is what ``--verify`` says, what the tests assert and what ``python -m tests.soak`` looks for. NumPy is imported
only to compare: differences travel through processes that do without.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log2
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from .rounding import Array

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

    place: tuple[int, ...]
    """Its index: of pictures channel, row and column."""
    got: float
    wanted: float
    page: int | None = None
    """Counted from 1, of a file that has several."""

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

    white: int
    """The picture's white, 1 for floats."""
    is_float: bool
    largest: float
    """The largest difference: in levels, for floats as a part of ``unit``."""
    samples: int
    """How many samples differ; of floats, by more than they may."""
    values: int
    """How many filtered values these samples have: ties count once."""
    size: int
    """How many samples there are."""
    unit: float
    """What tolerances are parts of, in samples; 0 if the reference is black, so that nothing may differ."""
    worst: Worst | None = None
    """Where the largest difference is, if there is one."""

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
        return max(1, int(self.size / ONE_OF * self.unit / self.white))

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
