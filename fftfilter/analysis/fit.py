"""Completes a transfer function for a picture: parts that follow from it are replaced by their gains for it.

Stripes go through the whole picture, or through a part of it, so that their power lies on a ridge: the frequencies of
less than a cycle along them. The picture's own power is about the same a little beside the ridge. So ridge and
surroundings are compared at each frequency across the stripes, and only what stands out is taken:

    taken = (1 - 2^-(30 f)^4) max(0, 1 - 2 B / R)    R, B: the power on the ridge, and beside it

The power is that of the mirrored picture, whose borders leave no cross in the spectrum; for slanted stripes it is that
under a Hann window.

With mirrored edges, a strong wave breaks at the borders: it goes on as its mirror image, which a notch at its frequency
lets through. So waves are subtracted first, each with the amplitude and phase that it has under a Hann window.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..arrays import Array, Floats, check_finite
from ..transfer import Transfer
from ..transfer.fitted import AUTO, Descreen, Wiener
from ..transfer.part import Part
from ..transfer.peaks import Notch
from ..transfer.ridges import FittedStripes, Stripes, no_stripes
from .power import spectrum, window
from .screens import screens_of
from .striped import along_ridges, angles_of_stripes
from .surroundings import MEDIAN_OF_NOISE
from .wiener import Rings, cosines, curve, powers_behind

# Half cycles along the stripes whose power is compared with that of the ridge.
BESIDE = slice(3, 9)
# Frequencies across the stripes that a mean covers: of the ridge, and beside it.
ON_RIDGE, WIDE = 7, 21
# The ridge has to have so many times the power beside it.
TIMES = 2.0
# Stripes of longer periods stay, in pixels, with a soft edge of this steepness.
SPARED, STEEP = 30.0, 4
# The part of their length that slanted stripes are taken to have: their angle is known to a bin only.
OF_SLANTED = 0.4
# Rows that are transformed at a time, to save memory.
STRIP = 256


class Fitted(NamedTuple):
    """What follows from a picture."""

    transfer: Transfer
    """The transfer function with gains for it."""
    planes: Array
    """What is to be filtered: the picture, without the waves that its edges would break."""
    note: str
    """What was found, in words."""


def fit(transfer: Transfer, planes: Array, white: float, *, by_channel: bool = True) -> Fitted:
    """Return what follows from a picture ``(channels, height, width)`` with this white; as :func:`fitted`."""
    if not transfer.is_fitted:
        return Fitted(transfer, planes, "")
    stays: list[float] = []
    made = fitted(transfer, planes, white, by_channel=by_channel, content=stays)
    measured = {part.kind for part in transfer.parts if part.is_fitted} - {"notch"}
    note = ", ".join(str(part) for part in made.parts if part.kind in measured)
    note = note or (no_stripes(stays) if "stripes" in measured else "")
    return Fitted(made, without_waves(transfer, planes), note)


def fitted(
    transfer: Transfer, planes: Array, white: float, *, by_channel: bool = True, content: list[float] | None = None
) -> Transfer:
    """Return a transfer function for a picture ``(channels, height, width)``.

    ``by_channel`` allows a gain of its own for each channel; else all have that of their mean power. The angles of what
    looks like stripes, but is a part of the picture, are added to ``content``. Raises ParameterError for values that
    are not finite.
    """
    planes = np.ascontiguousarray(planes)  # sums in another order round differently
    if planes.dtype.kind == "f":
        check_finite(planes)
        unit = float(np.abs(planes).max()) or 1.0  # whose squares may exceed any type
        planes, white = planes / unit, white / unit
    by_channel = by_channel and len(planes) > 1
    parts: list[Part] = []
    # Wiener's filters come last: they see what the others leave.
    for part in sorted(transfer.parts, key=lambda part: isinstance(part, Wiener)):
        if isinstance(part, Stripes) and part.is_fitted:
            angles, others = angles_of_stripes(planes, white) if part.angle == AUTO else ([float(part.angle)], [])
            if content is not None:
                content += others
            for angle in angles:
                if part.width is None:
                    parts += (_slanted if angle % 90 else _stripes)(angle, planes, white, by_channel)
                else:
                    parts.append(replace(part, angle=angle))
        elif isinstance(part, Wiener):
            before, rings = (
                replace(transfer, parts=tuple(parts), depth=None, is_complement=False),
                Rings.of(*planes.shape[1:]),
            )
            for power, channels in _each((power for power, _ in powers_behind(before, planes)), by_channel):
                parts.append(replace(curve(rings, power, part.noise, white), channels=channels))
        elif isinstance(part, Descreen):  # as DescreenFilter does to the brightness
            found, _ = screens_of(planes.mean(axis=0, keepdims=True, dtype=np.float64) / white, part)
            parts += found.parts if found else ()
        else:
            parts.append(part)
    return replace(transfer, parts=tuple(parts))


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


def _stripes(angle: float, planes: Array, white: float, by_channel: bool) -> Iterator[FittedStripes]:
    """Yield stripes with the gains of a picture: for each channel, or for all."""
    upright = planes if angle % 180 else planes.swapaxes(1, 2)
    for power, channels in _each((np.square(_low_rows(plane)) for plane in upright), by_channel):
        taken = _taken(power)
        amplitude = float(np.sqrt(2 * np.square(taken) @ power[0])) / upright[0].size
        yield FittedStripes(angle, upright.shape[1], tuple(taken.tolist()), 255 / white * amplitude, channels)


def _slanted(angle: float, planes: Array, white: float, by_channel: bool) -> Iterator[FittedStripes]:
    height, width = planes.shape[1:]
    n, turn = max(2, min(height, width)), np.array([[np.radians(angle)]])
    with np.errstate(over="ignore"):  # of an angle next to 0
        length = max(1, round(OF_SLANTED * min(height / abs(np.sin(turn)), width / abs(np.cos(turn))).item()))
    for power, channels in _each(spectrum(planes, white).power, by_channel):
        ridge, *beside = along_ridges(power, width, turn, np.arange(n // 2) / (n // 2 * 2))[:, 0].astype(np.float64)
        taken = _taken(np.stack([ridge] * BESIDE.start + beside))
        amplitude = 255 / n * float(np.sqrt(3 * np.square(taken) @ ridge))
        yield FittedStripes(angle, length, tuple(taken.tolist()), amplitude, channels)


def _low_rows(plane: Array) -> Floats:
    """Return the cosine transform of a plane, ``(half cycles along the stripes, half cycles across)``."""
    height, width = plane.shape
    waves = np.cos(np.pi / height * np.outer(np.arange(BESIDE.stop), np.arange(height) + 0.5))
    rows = np.zeros((BESIDE.stop, width))
    for start in range(0, height, STRIP):
        rows += waves[:, start : start + STRIP] @ plane[start : start + STRIP].astype(np.float64)
    rows[0] -= rows[0].mean()
    return np.asarray(cosines(rows))


@np.errstate(over="ignore")  # beside a ridge without any power
def _taken(power: Floats) -> Floats:
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
