"""The ridge of the spectrum that parallel stripes leave, taken out, whatever their periods are.

    stripes = 1 - gaussian(distance from the ridge / width)   where f is not below spare, else 1

Stripes that run along an angle vary across it: their frequencies lie on the line through DC across that angle. Without
a width and a spare, stripes are taken only where the picture has them: ``analysis/fit.py`` measures how much of the
ridge they are. The angle "auto" is found by ``analysis/striped.py``, if there are stripes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ..errors import ParameterError, as_typed, check_option
from ..text import amount_text
from .fitted import AUTO
from .grid import Cutoff, Gain
from .part import ALL, Part, Ridge
from .product import Transfer
from .shapes import gaussian
from .units import Radius, RadiusLike, number

if TYPE_CHECKING:
    from ..arrays import Array

USUAL_WIDTH, USUAL_SPARE = Radius(0.003, "cyc"), Radius(40.0, "px")
# The standard deviation of a fitted ridge, in cycles per length of the stripes.
RIDGE = 0.85
# Lines that are taken out at a time, to save memory; the most blocks of a picture.
STRIP, MOST_BLOCKS = 256, 256
NO_STRIPES = "no stripes are found"
Doubt = Literal["", "faint", "wide", "content"]
DOUBTS: dict[Doubt, str] = {
    "faint": "waves at {} degrees are faint",
    "wide": "bands at {} degrees are too wide, with too few steps to tell them from edges",
    "content": "lines at {} degrees look like a part of the picture, such as edges",
}


@dataclass(frozen=True, repr=False)
class Stripes(Part):
    """Removes stripes. ``angle`` is in degrees, counterclockwise in the picture."""

    angle: float | Literal["auto"]
    """That of the picture's own stripes, if it has any, is "auto"."""
    width: Radius | None = None
    spare: Radius | None = None
    """Both are None if the gains follow from the picture."""
    waves: bool = False
    """Whether only waves are taken out: hum, and flicker of few periods."""
    fixed_pattern: Literal["pages"] | None = None
    """With "pages", lines are those that all images of a stack have."""
    blocks: int | None = None
    """How many equal parts of the lines' length have lines of their own, as those of a sensor's amplifiers."""

    kind = "stripes"
    is_subtracted = True
    carried_on = 0.2

    @property
    def is_fitted(self) -> bool:  # type: ignore[override]
        return self.width is None or self.is_said

    @property
    def is_said(self) -> bool:  # type: ignore[override]
        return self.angle == AUTO

    @property
    def _spared(self) -> Radius:
        return self.spare or USUAL_SPARE

    @property
    def is_even_along_axes(self) -> bool:  # type: ignore[override]
        return self.angle != AUTO and self.angle % 90 == 0

    def gain(self, height: int, width: int, rows: slice = ALL, columns: slice = ALL) -> Gain:
        if self.angle == AUTO:
            return super().gain(height, width, rows, columns)
        at, spare = self.width or USUAL_WIDTH, self._spared
        kx, ky = (np.rint(np.fft.fftfreq(n, 1 / n)) for n in (width, height))
        fx, fy = kx[columns] / width, ky[rows, None] / height
        x, y = _along(float(self.angle))
        distance = np.abs(x * fx + y * fy)
        # The highest frequency of an even side has both signs at once.
        is_both = (fx == -0.5) | (fy == -0.5)
        distance = np.where(is_both, np.minimum(distance, np.abs(y * fy - x * fx)), distance)
        # Of pixels that are not as high as wide, those along the stripes count.
        n = min(at.grid(height, width)) / math.hypot(x, y * at.stretch)
        ridge = gaussian((distance * n / at.bins(height, width)) ** 2, 0)
        # As an ideal low-pass decides it: exactly where a frequency lies at the radius itself.
        is_spared = Cutoff(*spare.grid(height, width), spare.bins(height, width)).near(kx[columns], ky[rows, None])
        return np.where(is_spared, 1.0, 1 - ridge)

    def caution(self, height: int, width: int) -> str | None:
        """Return a line if all frequencies of the ridge are spared, None if not."""
        if self.is_fitted:
            return None
        (x, y), spare = _along(float(self.angle)), self._spared
        if spare.cycles(height, width) <= math.hypot(y, x / spare.stretch) * 0.5 / max(abs(x), abs(y)):
            return None
        return f"spare {spare} lies beyond the highest frequency of the stripes at {self.angle:g}: they all stay"

    @property
    def unit(self) -> Radius | None:  # type: ignore[override]
        return self.spare

    def marks(self, height: int, width: int) -> Iterator[Ridge]:
        if isinstance(self.angle, str):
            return
        across, spare = math.radians(self.angle + 90), self._spared
        x, y = math.cos(across), -math.sin(across)
        yield Ridge(x, y, spare.cycles(height, width) / math.hypot(x, y / spare.stretch), f"{self.angle:g} deg")

    @property
    def _in_blocks(self) -> str:
        return f", in {self.blocks} blocks" if self.blocks else ""

    def __str__(self) -> str:
        if self.waves:
            return "waves that the picture has" + ("" if self.angle == AUTO else f" at {self.angle:g} degrees")
        if self.fixed_pattern:
            where = "" if self.angle == AUTO else f" at {self.angle:g} degrees"
            return f"lines{where} that all pictures have{self._in_blocks}"
        if self.angle == AUTO:
            return f"stripes that the picture has{self._in_blocks}"
        if self.is_fitted:
            return f"stripes at {self.angle:g} degrees, as the picture has them{self._in_blocks}"
        return f"stripes at {self.angle:g} degrees, width {self.width}, spare {self.spare}"


class Amount(NamedTuple):
    """How much stripes add, for messages."""

    value: float
    unit: Literal["", "levels", "%"]
    """Levels of 255, percent of the picture's values, or the file's own unit."""

    def __str__(self) -> str:
        if self.unit == "%":
            return f"gains of {self.value:.1f} %"
        return f"offsets of {amount_text(self.value, is_8_bit=self.unit == 'levels')}"


@dataclass(frozen=True, repr=False)
class FittedStripes(Part):
    """Removes the slanted stripes of one picture.

    H = 1 - exp(-(f_along length / 0.85)^2 / 2) taken(f_across)
    """

    angle: float
    length: int
    """Pixels of the picture along the stripes."""
    taken: tuple[float, ...]
    """The part of the ridge that is removed, at each half cycle across them."""
    amount: Amount
    """The root mean square of what is removed."""
    channels: tuple[int, ...] | None = None

    kind = "stripes"
    is_subtracted = True

    def gain(self, height: int, width: int, rows: slice = ALL, columns: slice = ALL) -> Gain:
        x, y = _along(self.angle)
        fx, fy = np.fft.fftfreq(width)[columns], np.fft.fftfreq(height)[rows, None]
        # The highest frequency of an even side has both signs at once, and stays.
        is_both = (fx == -0.5) | (fy == -0.5)
        across, along = np.abs(x * fy - y * fx), np.where(is_both, np.inf, np.abs(x * fx + y * fy))
        ridge = np.exp(-((along * self.length / RIDGE) ** 2) / 2)
        return np.asarray(1 - ridge * np.interp(across, np.arange(len(self.taken)) / (2 * len(self.taken)), self.taken))

    def __str__(self) -> str:
        return f"stripes at {self.angle:.4g} degrees, {self.amount}{self.of_channel}"


@dataclass(frozen=True, repr=False)
class Bands(Part):
    """The lines of one picture, of any width, which are taken out of its pixels: H is 1.

    What they add to the pixel at a part b of the length of line a is the sum of profiles[k][a] cos(pi k b); with
    blocks, profiles[k][a] where b is in block k.
    """

    angle: float
    profiles: tuple[tuple[float, ...], ...]
    """Slanted lines have one, from the pixel that is least far across them."""
    is_gain: bool
    """Whether they add to the logarithm of pixels, as factors do."""
    pitch: int
    """Lines from step to step; 0 for lines without steps."""
    amount: Amount
    """The root mean square of what they add."""
    channels: tuple[int, ...] | None = None
    period: float = 0.0
    """That of a wave, in lines; 0 for other lines."""
    has_blocks: bool = False
    span: tuple[float, float] = (0.0, 1.0)
    """Where they begin and end, as parts of their length."""

    kind = "stripes"
    is_fitted = True
    is_even_along_axes = True

    def take_out_of(self, plane: Array, floor: float) -> None:
        """Take the lines out of a plane ``(height, width)``, float64, in place, but for the part ``floor``.

        Raises ParameterError for a plane of another size.
        """
        upright, profiles = plane.T if self.angle % 180 == 90 else plane, np.array(self.profiles)
        if self.angle % 90 == 0 and len(upright) != profiles.shape[1]:
            raise ParameterError(f"{self} are of {profiles.shape[1]} pixels across, and the picture has {len(upright)}")
        places = (np.arange(upright.shape[1]) + 0.5) / upright.shape[1]
        parts = np.arange(len(profiles))[:, None]
        waves = 1.0 * (places * len(parts) // 1 == parts) if self.has_blocks else np.cos(np.pi * parts * places)
        waves = waves * ((places >= self.span[0]) & (places < self.span[1]))
        (x, y), base = _along(self.angle), across_of(self.angle, *plane.shape)[0]
        for start in range(0, len(upright), STRIP):
            part = upright[start : start + STRIP]
            if self.angle % 90:
                across = x * np.arange(start, start + len(part))[:, None] - y * np.arange(plane.shape[1]) - base
                added = np.interp(across, np.arange(len(profiles[0])), profiles[0])
            else:
                added = profiles[:, start : start + STRIP].T @ waves
            if self.is_gain:
                part *= floor + (1 - floor) * np.exp(-added)
            else:
                part -= (1 - floor) * added

    def reduced(self, level: float, height: int, width: int) -> Bands | None:
        """Return it for an image reduced by ``level``; None for another picture's size."""
        if self.angle % 90 or len(self.profiles[0]) != (width if self.angle % 180 else height):
            return None
        starts = np.arange(0, len(self.profiles[0]), max(1, int(level)))
        counts = np.diff(starts, append=len(self.profiles[0]))
        means = np.add.reduceat(np.array(self.profiles), starts, axis=1) / counts
        return replace(self, profiles=tuple(map(tuple, means.tolist())))

    def marks(self, height: int, width: int) -> Iterator[Ridge]:  # noqa: ARG002
        across = math.radians(self.angle + 90)
        yield Ridge(math.cos(across), -math.sin(across), 0.0, f"{self.angle:.4g} deg")

    def __str__(self) -> str:
        line = "rows" if self.angle % 180 == 0 else "columns" if self.angle % 90 == 0 else "px"
        if self.period:
            return f"wave of {self.period:.1f} {line} at {self.angle:.4g} degrees, {self.amount}{self.of_channel}"
        name = f"bands of {self.pitch} {line}" if self.pitch > 1 else "lines" if self.pitch else "stripes"
        where = f" in {len(self.profiles)} blocks" if self.has_blocks else ""
        if self.span != (0, 1):
            where += " from {:.0%} to {:.0%} of their length".format(*self.span)
        return f"{name} at {self.angle:.4g} degrees{where}, {self.amount}{self.of_channel}"


@dataclass(frozen=True, repr=False)
class DeadLines(Part):
    """The lines of one picture that do not follow it, which those beside them replace: H is 1."""

    angle: float
    """0 for rows, 90 for columns."""
    runs: tuple[tuple[int, int], ...]
    """The first line of each run, and the one behind its last."""
    across: int
    """The lines of the picture."""
    channels: tuple[int, ...] | None = None

    kind = "stripes"
    is_fitted = True
    is_even_along_axes = True

    def take_out_of(self, plane: Array, floor: float) -> None:
        """Replace the lines of a plane ``(height, width)``, float64, in place, but for the part ``floor``.

        They become what lies on straight lines between the lines beside them. Raises ParameterError for a plane of
        another size.
        """
        upright = plane.T if self.angle else plane
        if len(upright) != self.across:
            raise ParameterError(f"{self} are of {self.across} pixels across, and the picture has {len(upright)}")
        for start, stop in self.runs:
            share = np.arange(1, stop - start + 1)[:, None] / (stop - start + 1)
            beside = (1 - share) * upright[start - 1] + share * upright[stop]
            upright[start:stop] += (1 - floor) * (beside - upright[start:stop])

    def reduced(self, level: float, height: int, width: int) -> DeadLines | None:
        """Return it for an image reduced by ``level``; None for another picture's size."""
        if self.across != (width if self.angle else height):
            return None
        step = max(1, int(level))
        across = -(-self.across // step)
        runs = {(start // step, (stop - 1) // step + 1) for start, stop in self.runs}
        inside = tuple(sorted((start, stop) for start, stop in runs if start > 0 and stop < across))
        return replace(self, runs=inside, across=across)

    def __str__(self) -> str:
        count = sum(stop - start for start, stop in self.runs)
        name = ("column" if self.angle else "row") + "s" * (count > 1)
        return f"{count} dead or noisy {name}{self.of_channel}"


def across_of(angle: float, height: int, width: int) -> tuple[float, float]:
    """Return how far the pixels of a size lie across lines at an angle: the least and the most, in pixels."""
    x, y = _along(angle)
    corners = [x * row - y * column for row in (0, height - 1) for column in (0, width - 1)]
    return min(corners), max(corners)


def no_stripes(asked: Stripes, doubts: Mapping[float, Doubt]) -> str:
    """Return the message for a picture without the stripes that are asked for, with what to try next.

    ``doubts`` are the angles of what looks like some, and why it stays. Where only waves are asked for, and none is
    faint, nothing is said.
    """
    if (angle := asked.angle) != AUTO and asked.waves:
        return f"no waves are found at {angle:.4g} degrees: without --waves, lines and bands are looked for"
    if angle != AUTO:
        reason = "lines there are blurred as edges are" if doubts else "to take out what lies along them all the same"
        return f"{NO_STRIPES} at {angle:.4g} degrees: {reason}{';' if doubts else ','} try --width 0.003cyc"
    if not doubts:
        faint = "if there are faint ones, try --angle 0 for rows, 90 for columns"
        return "" if asked.waves else f"{NO_STRIPES}: {faint}, notch --auto for moire"
    by_reason = {why: at for why in DOUBTS if (at := sorted(each for each in doubts if doubts[each] == why))}
    said = ", ".join(DOUBTS[why].format(" and ".join(f"{each:.4g}" for each in at)) for why, at in by_reason.items())
    first = f"{next(iter(by_reason.values()))[0]:.4g}"
    if asked.waves:
        return f"{said}, and stay: try stripes --waves --angle {first}"
    other = "" if "faint" in by_reason else " if they are a fault, notch --auto for moire"
    return f"{NO_STRIPES}: {said}, and stay; try {'' if other else '--waves '}--angle {first}{other}"


def _along(angle: float) -> tuple[float, float]:
    """Return the unit vector along stripes, y downward as rows are counted; exact for right angles."""
    degrees = angle % 180
    if degrees % 90 == 0:
        return (1.0, 0.0) if degrees == 0 else (0.0, -1.0)
    return math.cos(math.radians(degrees)), -math.sin(math.radians(degrees))


def stripes(
    angle: float | Literal["auto"],
    *,
    width: RadiusLike | None = None,
    spare: RadiusLike | None = None,
    waves: bool = False,
    fixed_pattern: Literal["pages"] | None = None,
    blocks: int | None = None,
) -> Transfer:
    """Return a transfer function that takes out stripes which run along an angle, of all periods.

    Stripes are removed as far as each picture has them. With a ``width`` or a ``spare``, the gain is the same for all
    pictures. Raises ParameterError.

    Args:
        angle: Degrees, counterclockwise in the picture, 0 for horizontal stripes. With "auto" those of each picture are
            found, of all angles, and a picture without any stays as it is.
        width: The distance from the stripes' line in the spectrum at which the gain is 1/2, a radius in any unit, by
            default "0.003cyc".
        spare: The cutoff below which frequencies stay, a radius in any unit, by default "40px".
        waves: Whether waves alone are taken out, such as hum, and flicker of two periods or more. With an angle, also
            faint ones.
        fixed_pattern: With "pages", the lines along rows and columns are those that the images of a stack, or the pages
            of a file, have in common, as those of one sensor have. By default each has its own.
        blocks: How many equal parts of the lines' length have lines of their own, as those that several amplifiers of a
            sensor read. Only lines along rows and columns are looked for.

    >>> slanted = H.stripes(33, spare="20px")

    """
    degrees: float | Literal["auto"] = "auto" if angle == AUTO else number(angle)
    if isinstance(degrees, float) and not math.isfinite(degrees):
        raise ParameterError(
            f"angle {as_typed(angle)} is not a number of degrees: give 0 for horizontal stripes, 33.5, or auto"
        )
    if waves and (width is not None or spare is not None):
        raise ParameterError("waves are removed as far as each picture has them: leave width and spare out")
    if fixed_pattern is not None:
        check_option("fixed_pattern", fixed_pattern, ["pages"])
    if fixed_pattern and (waves or width is not None or spare is not None or (degrees != AUTO and degrees % 90)):
        raise ParameterError(
            "a fixed pattern has lines along rows or columns: give the angle auto, 0 or 90, without width and waves"
        )
    if blocks is not None and (not isinstance(blocks, int) or not 2 <= blocks <= MOST_BLOCKS):
        raise ParameterError(f"blocks {blocks!r} is no number of parts of a line: give 2 to {MOST_BLOCKS}")
    if blocks and (waves or width is not None or spare is not None or (degrees != AUTO and degrees % 90)):
        raise ParameterError("blocks have lines along rows or columns: give the angle auto, 0 or 90, without width")
    if blocks and fixed_pattern:
        raise ParameterError("blocks are found in each picture: leave fixed_pattern out")
    if width is None and spare is None:
        return Transfer((Stripes(degrees, waves=waves, fixed_pattern=fixed_pattern, blocks=blocks),))
    half_at = USUAL_WIDTH if width is None else Radius.parse(width, "width")
    return Transfer((Stripes(degrees, half_at, USUAL_SPARE if spare is None else Radius.parse(spare, "spare")),))
