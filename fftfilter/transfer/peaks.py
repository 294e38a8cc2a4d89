"""A peak of the spectrum and its conjugate, taken out: what a wave in the picture, such as a printer's screen, leaves.

    notch = product of 1 - low(width) around m (fx, fy) and around -m (fx, fy), m = 1 ... harmonics

low is a shape (``shapes.py``) of the distance from the peak. A peak at 0 and 0.5 cycles per pixel alone, such as
(0.5, 0.5), is its own conjugate, and counts once: its gain is also 1/2 at the width. Frequencies repeat: those beside a
peak near the highest frequency go on at the opposite side. A print has a screen of its own for each ink: a notch may be
that of some channels alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from numbers import Integral
from typing import TYPE_CHECKING, Self

import numpy as np

from ..arrays import Array
from ..errors import ParameterError
from .grid import PASSED, Gain
from .part import ALL, Part, Ring
from .product import Transfer
from .shapes import SHAPES, ShapeName
from .units import Radius, RadiusLike

if TYPE_CHECKING:
    from .part import Multiplier

USUAL_WIDTH = "0.006cyc"
MOST_OF_LATTICE = 20
# Multiples of a wave of 2000 pixels reach the highest frequency with these.
MOST_HARMONICS = 1000
# Frequencies nearer than this are the same.
ROUNDING = 1e-9


@dataclass(frozen=True, repr=False)
class Notch(Part):
    """A notch. Make one with :func:`notch`; ``at`` is in cycles per pixel."""

    at: tuple[float, float]
    width: Radius
    shape: ShapeName = "gaussian"
    harmonics: int = 1
    channels: tuple[int, ...] | None = None
    mirrored: bool = False  # whether the peaks of its mirror images are taken out, too
    # Whether the wave itself is subtracted from each picture before the notch: ``analysis/fit.py``.
    is_wave: bool = False

    kind = "notch"
    is_subtracted = True
    carried_on = 1.0
    plural = "notches"
    unit = Radius(1, "cyc")

    @property
    def is_fitted(self) -> bool:  # type: ignore[override]
        return self.is_wave

    @property
    def is_even_along_axes(self) -> bool:  # type: ignore[override]
        # The peaks lie on an axis, or at the highest frequency of one.
        return self.mirrored or any(abs(each) in (0, 0.5) for each in self.at)

    def peaks(self) -> list[tuple[float, float]]:
        """Return the multiples up to the highest frequency, each before its conjugate if that is another peak."""
        fx, fy = self.at
        # The 49th multiple of 0.5/49 is 0.5 up to rounding.
        count = math.floor(min(self.harmonics, 0.5 / max(abs(fx), abs(fy)) + ROUNDING))
        multiples = [(m * fx, m * fy) for m in range(1, count + 1)]
        if self.mirrored and not any(abs(each) in (0, 0.5) for each in self.at):
            multiples += [(x, -y) for x, y in multiples]
        return [(sign * x, sign * y) for x, y in multiples for sign in ((1,) if _is_own_conjugate(x, y) else (1, -1))]

    def _passes(self, dx: Array, dy: Array, height: int, width: int) -> Gain:
        """Return the gain at distances from a peak, in cycles per pixel and less than 1, for images of a size."""
        shape, per_radius2 = SHAPES[self.shape], (1 / self.width.cycles(height, width)) ** 2
        dx, dy = dx - np.rint(dx), (dy - np.rint(dy)) / self.width.stretch
        distance2 = (dx * dx + dy * dy) * per_radius2
        return np.asarray(1 - (shape.gain(distance2, shape.usual) if shape.gain else distance2 < 1))

    def gain(self, height: int, width: int, rows: slice = ALL, columns: slice = ALL) -> Gain:
        gains = super().gain(height, width, rows, columns)
        self.multiplier(height, width)(gains, rows, columns)
        return gains

    def multiplier(self, height: int, width: int) -> Multiplier:
        # The runs of rows and of columns near each peak, where alone gains are not 1, and their distances from it.
        # Slices take a fifth of the time of indexes; beside the highest frequency they are two.
        fx, fy, zero, near = np.fft.fftfreq(width), np.fft.fftfreq(height), np.zeros(1), []
        for x, y in self.peaks():
            down = _runs(np.flatnonzero(self._passes(zero, fy - y, height, width) != 1))
            across = _runs(np.flatnonzero(self._passes(fx - x, zero, height, width) != 1))
            near += [(run, other, fy[run] - y, fx[other] - x) for run, other in product(down, across)]

        def multiply(gains: Gain, rows: slice, columns: slice) -> None:
            top, left = rows.indices(height)[0], columns.indices(width)[0]
            for down, across, dy, dx in near:
                y, x = _within(down, top, gains.shape[0]), _within(across, left, gains.shape[1])
                if y.start < y.stop and x.start < x.stop:
                    part = gains[y.start - top : y.stop - top, x.start - left : x.stop - left]
                    of_x, of_y = dx[x.start - across.start :], dy[y.start - down.start :]
                    part *= self._passes(of_x[: part.shape[1]], of_y[: part.shape[0], None], height, width)

        return multiply

    def caution(self, height: int, width: int) -> str | None:
        """Return a line if the notch lies between the frequencies of an image of that size, None if not."""
        x, y = np.array(self.peaks()).T
        nearest = self._passes(np.rint(x * width) / width - x, np.rint(y * height) / height - y, height, width)
        if nearest.min() < PASSED:
            return None
        fx, fy = self.at
        return (
            f"width {self.width} of the notch at {fx:g},{fy:g} is narrower than the distance to the nearest frequency: "
            "nothing is taken out"
        )

    def marks(self, height: int, width: int) -> Iterator[Ring]:
        radius, label = self.width.cycles(height, width), "{:g},{:g}".format(*(round(each, 4) for each in self.at))
        for x, y in self.peaks():
            yield Ring(radius, label, x, y, self.width.stretch)

    def reduced(self, level: float, height: int, width: int) -> Self | None:
        x, y = (each * level for each in self.at)
        made = super().reduced(level, height, width)
        return None if made is None or max(abs(x), abs(y)) > 0.5 else replace(made, at=(x, y))

    def __str__(self) -> str:
        harmonics = f", {self.harmonics} harmonics" if self.harmonics > 1 else ""
        channels = f", channels {', '.join(map(str, self.channels))}" if self.channels is not None else ""
        fx, fy = self.at
        return f"notch at {fx:g},{fy:g}, {self.shape}, width {self.width}{harmonics}{channels}"


def notch(
    at: tuple[float, float],
    *,
    width: RadiusLike | None = None,
    shape: ShapeName = "gaussian",
    harmonics: int = 1,
    channels: Iterable[int] | None = None,
    mirrored: bool = False,
    is_wave: bool = False,
) -> Transfer:
    """Return a transfer function that takes out the peak of a wave and its conjugate; raises ParameterError.

    Args:
        at: (fx, fy) in cycles per pixel, x to the right and y downward.
        width: The distance from the peak at which the gain is 1/2, a radius in any unit, by default "0.006cyc".
        shape: How the edge falls: "ideal", "gaussian", "butterworth", "cosine" or "fermi".
        harmonics: How many multiples of the frequency are removed, the wave itself counted; up to the highest one.
        channels: The channels that are filtered of a picture with a ``channel_axis``, counted from 0; None for all.
        mirrored: Whether (fx, -fy) is taken out, too: with mirrored edges, a strong wave would come in from its mirror
            images at the borders.
        is_wave: Whether ``at`` is the exact frequency of a wave, which is subtracted first, so that no mirror image of
            it is left.

    >>> wave = H.notch((0.123, 0.047), width="0.01cyc", harmonics=3)
    >>> both = H.notch((0.123, 0.047), channels=(0,)) * H.notch((0.2, -0.1), channels=(1, 2))

    """
    try:
        fx, fy = map(float, at)
    except (TypeError, ValueError, OverflowError):
        fx = fy = math.nan
    if not (abs(fx) <= 0.5 and abs(fy) <= 0.5 and (fx or fy)):
        raise ParameterError(
            f"{at!r} is not a peak: give FX,FY in cycles per pixel, each from -0.5 to 0.5 and not both 0, such as "
            "0.123,0.047"
        )
    if shape not in SHAPES:
        raise ParameterError(f"{shape!r} is not a shape: choose {', '.join(SHAPES)}")
    if isinstance(harmonics, bool) or not isinstance(harmonics, Integral) or not 1 <= harmonics <= MOST_HARMONICS:
        raise ParameterError(f"harmonics {harmonics!r} is invalid: give a whole number from 1 to {MOST_HARMONICS}")
    radius = Radius.parse(USUAL_WIDTH if width is None else width, "width")
    if channels is not None:
        channels = tuple(channels)
        if not channels or any(isinstance(i, bool) or not isinstance(i, Integral) or i < 0 for i in channels):
            raise ParameterError(f"channels {channels!r} are invalid: give whole numbers from 0 up, such as (0, 2)")
        channels = tuple(sorted({int(i) for i in channels}))
    return Transfer((Notch((fx, fy), radius, shape, int(harmonics), channels, bool(mirrored), bool(is_wave)),))


def peaks_only(
    *at: tuple[float, float], lattice: int = 0, width: RadiusLike | None = None, shape: ShapeName = "gaussian"
) -> Transfer:
    """Return a transfer function that passes waves alone, each at ``(fx, fy)`` as for :func:`notch`.

    It is 1 minus the product of their notches. The output "keep" has the mean, too; "real" and "signed" do not. Raises
    ParameterError.

    Args:
        at: (fx, fy) of each wave, in cycles per pixel.
        lattice: Of two waves a and b, m a + n b passes, too, for all whole m and n up to this number.
        width: The distance from a peak at which the gain is 1/2, a radius in any unit, by default "0.006cyc".
        shape: How the edge falls, as for :func:`notch`.

    >>> bragg = H.peaks_only((0.11, 0.02), (-0.02, 0.11), lattice=3)
    >>> crystal = fftfilter.Filter(bragg)(image)

    """
    if not at:
        raise ParameterError("no wave is given: give one or more as (fx, fy) in cycles per pixel")
    made = math.prod((notch(each, width=width, shape=shape) for each in at), start=Transfer(()))
    return (with_lattice(made, lattice) if lattice else made).complement()


def with_lattice(notches: Transfer, order: int) -> Transfer:
    """Return the notches of two waves a and b, and of m a + n b, up to ``order`` of each and 0.5 cycles per pixel.

    Raises ParameterError for other parts, or another number of them.
    """
    parts = notches.parts
    if len(parts) != 2 or not all(isinstance(part, Notch) for part in parts):
        raise ParameterError(f"a lattice is that of two waves: give two, and not {notches}")
    if isinstance(order, bool) or not isinstance(order, Integral) or not 1 <= order <= MOST_OF_LATTICE:
        raise ParameterError(f"lattice {order!r} is invalid: give a whole number from 1 to {MOST_OF_LATTICE}")
    first, second = parts
    sums = [(m, n) for m in range(order + 1) for n in range(-order, order + 1) if m or n > 0]
    places = [tuple(m * a + n * b for a, b in zip(first.at, second.at, strict=True)) for m, n in sums]
    made = [replace(first, at=at) for at in places if any(at) and max(map(abs, at)) <= 0.5 + ROUNDING]
    return replace(notches, parts=tuple(made))


def _runs(indexes: Array) -> list[slice]:
    """Return rising indexes as slices of consecutive ones."""
    if not indexes.size or indexes[-1] - indexes[0] < indexes.size:  # nearly all: splitting them takes long
        return [slice(int(indexes[0]), int(indexes[-1]) + 1)] if indexes.size else []
    runs = np.split(indexes, np.flatnonzero(np.diff(indexes) > 1) + 1)
    return [slice(int(run[0]), int(run[-1]) + 1) for run in runs]


def _within(run: slice, first: int, count: int) -> slice:
    """Return the part of a run that lies within ``count`` indexes from the ``first`` one on."""
    return slice(max(run.start, first), min(run.stop, first + count))


def _is_own_conjugate(x: float, y: float) -> bool:
    return all(abs(2 * each - round(2 * each)) < ROUNDING for each in (x, y))
