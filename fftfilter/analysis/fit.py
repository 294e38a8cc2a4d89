"""Completes a transfer function for a picture: parts that follow from it are replaced by their gains for it.

Lines and bands that a picture has along its rows or columns are taken out of its pixels, as far as ``bands.py`` finds
them. Slanted stripes without steps leave a ridge in the spectrum under a Hann window, which is compared with the power
beside it at each frequency across the stripes; only what stands out is taken.

With mirrored edges, a strong wave breaks at the borders: it goes on as its mirror image, which a notch at its frequency
lets through. So waves are subtracted first, each with the amplitude and phase that it has under a Hann window.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..arrays import Array, Floats, Holes, check_finite
from ..errors import ParameterError
from ..transfer import Transfer
from ..transfer.fitted import AUTO, Descreen, Wiener
from ..transfer.part import Part
from ..transfer.peaks import Notch
from ..transfer.ridges import Amount, Bands, DeadLines, Doubt, FittedStripes, Stripes, no_stripes
from .bands import BESIDE, Lines, columns_of, lines_of, lines_of_all, lines_of_part, steps_along, taken
from .power import spectrum, step_of, window
from .screens import screens_of
from .striped import along_ridges, angles_of_stripes, dead_lines, sampled_along, searched
from .surroundings import Power
from .waves import slanted_waves, waves_along
from .wiener import Rings, curve, powers_behind

# The part of their length that slanted stripes are taken to have: their angle is known to a bin only.
OF_SLANTED = 0.4
# The most pictures that a fixed pattern is looked for in, the columns of all together, and the fewest of one.
PICTURES, SHARED, FEWEST = 64, 2048, 32
# Edges are often as upright as that, in degrees; an angle that is given is that of waves that are so near.
UPRIGHT, NEAR = 4.0, 3.0
# The most parts of the length of rows or columns that have lines of their own.
MOST_PARTS = 4
# Rows that are transformed at a time, to save memory.
STRIP = 256


class Fitted(NamedTuple):
    """What follows from a picture."""

    transfer: Transfer
    """The transfer function with gains for it."""
    planes: Array
    """What is to be filtered: the picture, without its lines, and without the waves that its edges would break."""
    note: str
    """What was found, in words."""


def fit(
    transfer: Transfer, planes: Array, white: float, *, by_channel: bool = True, holes: Holes | None = None
) -> Fitted:
    """Return what follows from a picture ``(channels, height, width)`` with this white.

    ``by_channel`` allows a gain of its own for each channel; else all have that of their mean power. ``holes`` are the
    pixels that are filled in, in the shape of the planes: no lines are looked for in them. Raises ParameterError for
    values that are not finite.
    """
    if not transfer.is_fitted:
        return Fitted(transfer, planes, "")
    left, exponent = np.ascontiguousarray(planes), 0  # sums in another order round differently
    if left.dtype.kind == "f":
        check_finite(left)
        exponent = int(np.frexp(np.abs(left).max())[1])  # squares may exceed any type
        left = np.ldexp(left, -exponent)
    picture = _Picture(planes=left, white=float(np.ldexp(white, -exponent)), unit=float(np.ldexp(1.0, exponent)))
    picture.by_channel, picture.floor = by_channel and len(planes) > 1, transfer.floor
    picture.notched = [part.at for part in transfer.parts if isinstance(part, Notch)]
    parts: list[Part] = []
    # Wiener's filters come last: they see what the others leave.
    for part in sorted(transfer.parts, key=lambda part: isinstance(part, Wiener)):
        if isinstance(part, Stripes) and part.is_fitted:
            parts += picture.stripes(part, holes)
        elif isinstance(part, Bands | DeadLines):
            picture.take_out(part)
            parts.append(part)
        elif isinstance(part, Wiener):
            before = replace(transfer, parts=tuple(parts), depth=None, is_complement=False)
            rings = Rings.of(*planes.shape[1:])
            powers = (power for power, _ in powers_behind(before, picture.planes))
            for power, channels in _each(powers, picture.by_channel):
                made = curve(rings, power, part.noise, picture.unit)
                parts.append(replace(made, channels=channels, is_8_bit=picture.is_8_bit))
        elif isinstance(part, Descreen):  # as DescreenFilter does to the brightness
            gray = picture.planes.mean(axis=0, keepdims=True, dtype=np.float64)
            parts += screens_of(gray / picture.white, part).transfer.parts
        else:
            parts.append(part)
    measured = {part.kind for part in transfer.parts if part.is_fitted} - {"notch"}
    note = ", ".join(str(part) for part in parts if part.kind in measured)
    asked = [part for part in transfer.parts if isinstance(part, Stripes) and part.is_fitted]
    note = note or (no_stripes(asked[0], picture.doubts) if asked else "")
    left = np.ldexp(picture.planes, exponent, out=picture.planes) if picture.is_own else planes
    return Fitted(replace(transfer, parts=tuple(parts)), without_waves(transfer, left), note)


def fitted(transfer: Transfer, planes: Array, white: float, *, by_channel: bool = True) -> Transfer:
    """Return the transfer function of :func:`fit`."""
    return fit(transfer, planes, white, by_channel=by_channel).transfer


def some_of(count: int) -> list[int]:
    """Return the places of the pictures, of so many, that a fixed pattern is looked for in."""
    return sorted({*np.linspace(0, count - 1, min(count, PICTURES)).round().astype(int).tolist()})


def with_fixed_pattern(
    transfer: Transfer, pictures: Iterable[tuple[Array, Holes | None]], count: int, white: float, *, by_channel: bool
) -> tuple[Transfer, str]:
    """Return a transfer function with the lines that pictures have in common, and what was found, in words.

    The ``count`` pictures ``(channels, height, width)`` come with their missing pixels. Some columns of each stand
    beside those of the others, so that a step that is the same in most pictures is a line's. Raises ParameterError for
    pictures of several sizes.
    """
    asked = [part for part in transfer.parts if isinstance(part, Stripes) and part.fixed_pattern]
    is_known = all(part.angle != AUTO for part in asked)
    angles = {angle % 180 for part in asked for angle in ((0.0, 90.0) if part.angle == AUTO else (float(part.angle),))}
    samples: dict[float, list[Floats]] = {angle: [] for angle in sorted(angles)}
    size: tuple[int, ...] = ()
    for planes, holes in pictures:
        if (size := size or planes.shape) != planes.shape:
            sizes = " and ".join("{2} x {1} in {0} channels".format(*each) for each in (size, planes.shape))
            raise ParameterError(f"pictures of several sizes have no lines in common: here are {sizes}")
        for angle, found in samples.items():
            across = planes.shape[1 if angle else 2]
            place = np.linspace(0, across - 1, min(across, max(FEWEST, SHARED // count))).round().astype(np.intp)
            some = planes[:, place].swapaxes(1, 2) if angle else planes[..., place]
            found.append(some.astype(np.float64))
            if holes is not None:
                found[-1][holes[:, place].swapaxes(1, 2) if angle else holes[..., place]] = np.nan
    parts: list[Part] = []
    for angle, found in samples.items():
        beside = np.concatenate(found, axis=2)
        exponent = int(np.frexp(np.nanmax(np.abs(beside), initial=0.0))[1])  # squares may exceed any type
        unit = float(np.ldexp(1.0, exponent))
        picture = _Picture(planes=np.ldexp(beside, -exponent), white=white / unit, unit=unit)
        picture.by_channel = by_channel and len(beside) > 1
        for channel, plane in picture.channels():
            if runs := dead_lines(plane):
                parts.append(dead := DeadLines(angle, tuple(runs), len(plane), channel))
                replace(dead, angle=0.0).take_out_of(plane, 0)
            if lines := lines_of_all(plane, strict=not is_known):
                parts.append(picture.part(angle, lines, channel))
    fainter = "" if is_known else "try --angle 0 or --angle 90 for faint ones; "
    nothing = f"no lines are found that all pictures have: {fainter}without --fixed-pattern, each has its own"
    note = ", ".join(map(str, parts)) or nothing
    return replace(transfer, parts=(*(part for part in transfer.parts if part not in asked), *parts)), note


@dataclass(eq=False)
class _Picture:
    """A picture whose lines are taken out as they are found."""

    planes: Array
    """(channels, height, width); none is as large as 1, unless it has integers."""
    white: float
    unit: float
    """What a 1 of them is in the file."""
    by_channel: bool = False
    floor: float = 0.0
    """The part of lines that stays."""
    is_own: bool = False
    """Whether the planes are float64, of which nobody else knows."""
    notched: list[tuple[float, float]] = field(default_factory=list)
    """The frequencies of waves that notches take out."""
    doubts: dict[float, Doubt] = field(default_factory=dict)
    """Why lines stay, by their angles."""

    @property
    def is_8_bit(self) -> bool:
        """Whether the file's unit is a level of 255."""
        return self.white * self.unit == 255

    @cached_property
    def searched(self) -> tuple[Floats, Power]:
        """What is searched for angles, and its power."""
        return searched(self.planes, self.white)

    def stripes(self, part: Stripes, holes: Holes | None) -> Iterator[Part]:
        """Take the lines out, and yield parts for these, and for other stripes."""
        step = step_of(self.planes)
        for angle in (0.0, 90.0) if part.angle == AUTO else (float(part.angle) % 180,):
            if angle % 90 == 0 and part.width is None and not part.waves:
                yield from self._dead(angle, holes)
        if part.angle != AUTO:
            yield from self._along(float(part.angle), part, holes)
            return
        if part.blocks:
            for angle in (0.0, 90.0):
                yield from self._blocks(angle, part.blocks, holes, is_known=False)
            return
        for angle in (0.0, 90.0):
            yield from self._waves(angle, holes)
        for angle, f in slanted_waves(self.searched[1], self.searched[0].shape[1]):
            yield from self._waves(angle, holes, f)
        if part.waves:
            return
        yield from self._all_angles(part, holes, step)

    def _dead(self, angle: float, holes: Holes | None) -> Iterator[DeadLines]:
        """Replace the rows or columns that do not follow the picture, and yield parts for them."""
        found = [
            DeadLines(angle, tuple(dead_lines(columns_of(plane, missing))), len(plane), channel)
            for channel, plane, missing in self._planes(angle, holes)
        ]
        if len({each.runs for each in found}) == 1:
            found = [replace(found[0], channels=None)]
        for part in found:
            if part.runs:
                self.take_out(part)
                yield part

    def _all_angles(self, part: Stripes, holes: Holes | None, step: float) -> Iterator[Part]:
        """Yield parts for the stripes that are found, of all angles; ``step`` is that of the gray levels."""
        whole = {angle: self._whole(angle, holes) for angle in (0.0, 90.0)}
        for angle, lines in whole.items():
            if not any(each.is_gain for each in lines):  # these are offsets of bright parts
                yield from self._parts(angle, holes)
        angles, others = angles_of_stripes(*self.searched, step)
        for angle in angles:
            yield from self._along(angle, part, holes)
        # Wide bands have few steps, so that their ridge is no sharper than that of edges; those that repeat have none.
        repeated = [each for each, _ in slanted_waves(self.searched[1], self.searched[0].shape[1])]
        slanted = {round(each): each for each in (*others, *repeated) if UPRIGHT < each % 90 < 90 - UPRIGHT}
        for angle in sorted({0.0, 90.0, *slanted.values()}.difference(angles)):
            if not whole.get(angle, True):
                continue
            found = [*self._lines(angle, holes, is_known=False)]
            others = [each for each in others if not found or each != angle]
            yield from found
        for each in others:
            self.doubts.setdefault(each, "content")

    def _along(self, angle: float, part: Stripes, holes: Holes | None) -> Iterator[Part]:
        """Yield parts for stripes along an angle."""
        if part.width is not None:
            yield replace(part, angle=angle)
            return
        if part.blocks:
            yield from self._blocks(angle, part.blocks, holes, is_known=True)
            return
        if part.angle != AUTO:
            slanted = slanted_waves(self.searched[1], self.searched[0].shape[1]) if angle % 90 else []
            near = [each for each in slanted if abs((each[0] - angle + 90) % 180 - 90) < NEAR]
            for own, f in near or [(angle, 0.0)]:
                yield from self._waves(own, holes, f, is_known=angle % 90 > 0 or part.waves)
        if part.waves:
            return
        yield from self._lines(angle, holes, is_known=True)
        if angle % 90:
            yield from self._slanted(angle)

    def _waves(self, angle: float, holes: Holes | None, f: float = 0.0, *, is_known: bool = False) -> Iterator[Bands]:
        """Take the waves along an angle out, or only that ``f``, and yield a part for each, by channel or for all."""
        turn = np.radians(angle)
        for channel, plane, missing in self._planes(angle, holes):
            some = sampled_along(plane, missing, angle) if angle % 90 else columns_of(plane, missing)
            for wave in waves_along(some, f)[0]:
                at = (np.sin(turn) / wave.period, np.cos(turn) / wave.period)
                if any(np.abs(np.subtract(each, at) * self.planes.shape[:0:-1]).max() < 2 for each in self.notched):
                    continue
                if wave.is_faint and not is_known:
                    self.doubts[angle] = "faint"
                    continue
                found = Lines(wave.profile[None], wave.is_gain, 0)
                part = replace(self.part(angle, found, channel), period=wave.period)
                self.take_out(part)
                yield part

    def _planes(self, angle: float, holes: Holes | None) -> Iterator[tuple[tuple[int] | None, Array, Holes | None]]:
        """Yield each channel, or None for the mean of all, with its plane and missing pixels, rows along the angle."""
        for channel, plane in self.channels():
            missing = None if holes is None else np.asarray(holes[channel[0]] if channel else holes.any(axis=0))
            turn = np.transpose if angle % 180 == 90 else np.asarray
            yield channel, turn(plane), None if missing is None else turn(missing)

    def channels(self) -> Iterator[tuple[tuple[int] | None, Array]]:
        """Yield each channel, or None for the mean of all, with its plane."""
        if self.by_channel:
            yield from (((i,), plane) for i, plane in enumerate(self.planes))
        else:
            yield None, self.planes[0] if len(self.planes) == 1 else self.planes.mean(axis=0, dtype=np.float64)

    def _lines(self, angle: float, holes: Holes | None, *, is_known: bool) -> Iterator[Bands]:
        """Take the lines along an angle out, and yield a part for those of each channel, or of all."""
        for channel, plane, missing in self._planes(angle, holes):
            if angle % 90:
                found, doubt = steps_along(sampled_along(plane, missing, angle), strict=not is_known)
            else:
                found, doubt = lines_of(plane, missing, with_ridge=is_known, strict=not is_known)
            if found:
                part = self.part(angle, found, channel)
                self.take_out(part)
                yield part
            elif doubt:
                self.doubts[angle] = doubt

    def _whole(self, angle: float, holes: Holes | None) -> list[Lines]:
        """Return the lines along all of the rows or columns, as far as they are no content."""
        planes = self._planes(angle, holes)
        found = [lines_of(each, missing, with_ridge=False, strict=True) for _, each, missing in planes]
        for _, doubt in found:
            if doubt:
                self.doubts[angle] = doubt
        return [lines for lines, _ in found if lines]

    def _parts(self, angle: float, holes: Holes | None) -> Iterator[Bands]:
        """Take the lines out that parts of the length of rows or columns have, and yield parts for them."""
        for _ in range(MOST_PARTS):
            found = []
            for channel, plane, missing in self._planes(angle, holes):
                if lines := lines_of_part(plane, missing):
                    span = lines[1] / plane.shape[1], lines[2] / plane.shape[1]
                    found.append(replace(self.part(angle, lines[0], channel), span=span))
                    self.take_out(found[-1])
            yield from found
            if not found:
                break

    def _blocks(self, angle: float, number: int, holes: Holes | None, *, is_known: bool) -> Iterator[Bands]:
        """Take the lines out that each block of the length of rows or columns has, and yield parts for them."""
        for channel, plane, missing in self._planes(angle, holes):
            ends = np.ceil(np.arange(number + 1) * (plane.shape[1] / number) - 0.5).astype(np.intp)
            for are_gains in (True, False):  # gains only if those of all blocks are
                asked = {"with_ridge": False, "with_gains": are_gains, "strict": not is_known}
                each = [
                    lines_of(plane[:, a:b], missing if missing is None else missing[:, a:b], **asked)[0]
                    for a, b in pairwise(ends)
                ]
                if all(found.is_gain for found in each if found):
                    break
            if pitches := [found.pitch for found in each if found]:
                profiles = np.stack([found.profiles[0] if found else np.zeros(len(plane)) for found in each])
                lines = Lines(profiles, are_gains, int(np.median(pitches)))
                part = replace(self.part(angle, lines, channel, is_even=True), has_blocks=True)
                self.take_out(part)
                yield part

    def part(self, angle: float, found: Lines, channels: tuple[int] | None, *, is_even: bool = False) -> Bands:
        """Return the part that takes lines out; ``is_even`` if each profile is that of a block."""
        profiles = found.profiles * (1 if found.is_gain else self.unit)
        shares = np.full(len(profiles), 1 / len(profiles)) if is_even else np.where(np.arange(len(profiles)), 0.5, 1)
        amount = float(np.sqrt(np.square(profiles).mean(axis=1) @ shares))
        told = Amount(100 * amount, "%") if found.is_gain else self._offsets(amount)
        return Bands(angle, tuple(map(tuple, profiles.tolist())), found.is_gain, found.pitch, told, channels)

    def _offsets(self, amount: float) -> Amount:
        return Amount(amount, "levels" if self.is_8_bit else "")

    def take_out(self, part: Bands | DeadLines) -> None:
        """Take lines out of the planes, which become float64."""
        if isinstance(part, Bands) and not part.is_gain:
            part = replace(part, profiles=tuple(tuple(np.divide(each, self.unit).tolist()) for each in part.profiles))
        if not self.is_own:
            self.planes, self.is_own = self.planes.astype(np.float64), True
        vars(self).pop("searched", None)
        for i, plane in enumerate(self.planes):
            if part.channels is None or len(self.planes) == 1 or i in part.channels:
                part.take_out_of(plane, self.floor)

    def _slanted(self, angle: float) -> Iterator[FittedStripes]:
        height, width = self.planes.shape[1:]
        n, turn = max(2, min(height, width)), np.array([[np.radians(angle)]])
        with np.errstate(over="ignore"):  # of an angle next to 0
            length = max(1, round(OF_SLANTED * min(height / abs(np.sin(turn)), width / abs(np.cos(turn))).item()))
        for power, channels in _each(spectrum(self.planes, self.white).power, self.by_channel):
            ridge, *beside = along_ridges(power, width, turn, np.arange(n // 2) / (n // 2 * 2))[:, 0].astype(np.float64)
            gains = taken(np.stack([ridge] * BESIDE.start + beside))
            amplitude = self.white * self.unit / n * float(np.sqrt(3 * np.square(gains) @ ridge))
            yield FittedStripes(angle, length, tuple(gains.tolist()), self._offsets(amplitude), channels)


# Notches with mirrored edges


def without_waves(transfer: Transfer, planes: Array) -> Array:
    """Return planes ``(channels, height, width)``, float64, without the waves of the notches that say so.

    Without such a notch, return the planes themselves.
    """
    waves = [part for part in transfer.parts if isinstance(part, Notch) and part.is_wave]
    if not waves:
        return planes
    _, height, width = planes.shape
    down, across = (window(n).astype(np.float64) for n in (height, width))
    total, left = down.sum() * across.sum(), planes.astype(np.float64)
    for i, plane in enumerate(left):
        own = [part.at for part in waves if part.channels is None or len(left) == 1 or i in part.channels]
        x, y = np.array([(0.0, 0.0), *own]).T[..., None]  # the mean level first
        upright, along = np.exp(2j * np.pi * y * np.arange(height)), np.exp(2j * np.pi * x * np.arange(width))
        by_rows, by_columns = down * upright.conj(), across * along.conj()
        # What each finds in the picture, and in each other wave: of one at its frequency, and of its conjugate.
        found = ((by_rows.real @ plane + 1j * (by_rows.imag @ plane)) * by_columns).sum(axis=1)
        at_it, at_other = (
            (by_rows @ u.T) * (by_columns @ a.T) for u, a in ((upright, along), (upright.conj(), along.conj()))
        )
        for k in range(1, len(found)):  # each in what the ones before it leave
            factor = 2 * (found[k] - found[0].real / total * at_it[k, 0]) / total
            found -= (factor * at_it[:, k] + np.conj(factor) * at_other[:, k]) / 2
            upright[k] *= factor
        for rows in (slice(start, start + STRIP) for start in range(0, height, STRIP)):
            waves_there = upright[1:, rows].T
            plane[rows] -= waves_there.real @ along[1:].real - waves_there.imag @ along[1:].imag
    return left


# Gains for one picture


def _each(powers: Iterable[Array], by_channel: bool) -> Iterator[tuple[Array, tuple[int] | None]]:
    """Yield the power of each channel, and which one that is; or the mean of all, and None."""
    if by_channel:
        yield from ((power, (i,)) for i, power in enumerate(powers))
    else:
        yield np.mean([*powers], axis=0), None
