"""The power spectrum of a picture, the mean spectrum of many pictures, and transforms of planes.

A transform continues a picture periodically, and the jumps at its borders leave a bright cross in the spectrum. A Hann
window fades the borders out; a wave then is a small spot of known shape, five bins across.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array, Floats, check_finite, split, strips
from ..errors import DeviceError, ParameterError, TooLargeError, check_option
from ..missing import filled
from .surroundings import Power, around, at

# Single precision holds the power of values in this range, as parts of white.
LEAST, MOST = 1e-12, 1e12
# Pixels of a plane that NumPy transforms in 0.2 s, or more if a side has a large prime factor. Opening a device takes
# as long, and its transform a tenth of that.
LARGE = 1 << 23
# Rows that are looked at for gray levels, and how many levels a picture has: fewer are drawn, more are measured.
ROWS, FEW, LEVELS = 16, 8, 4096


@dataclass(eq=False)
class Spectrum:
    """The mean power of pictures of one size."""

    power: Power
    """(channels, height, width // 2 + 1), for kx from 0 up; its mean is 1 for noise with a standard deviation of
    white."""
    width: int
    step: float = 0.0
    """The least difference of two values as a part of white; 0 if they have too many to be levels."""
    pictures: int = 1
    white: float = 1.0
    """White in the file's own units."""
    unit: float = 1.0
    """Values as parts of what was given as white are these times as large: other ones exceed single precision."""

    @property
    def height(self) -> int:
        """The height of the pictures."""
        return int(self.power.shape[1])

    def near(self, place: Array, channel: int) -> tuple[float, float]:
        """Return the largest power within a bin of a frequency ``(fx, fy)``, and how many times that around it."""
        power, beside = self.power[channel], np.arange(-1, 2)
        kx, ky = np.rint(place * (self.width, self.height)).astype(np.int64)
        most = float(at(power, self.width, ky + beside[:, None], kx + beside).max())
        expected = float(around(power, self.width, ky[None], kx[None])[0])
        return most, most / expected if expected else 0.0

    def add(self, other: Spectrum) -> None:
        """Add pictures to the mean; gray counts for each channel of color, other unequal channels become their mean."""
        share = np.float32(other.pictures / (self.pictures + other.pictures))
        power = other.power
        if other.unit < self.unit:
            power = power * np.float32((other.unit / self.unit) ** 2)
        elif other.unit > self.unit:
            self.power *= np.float32((self.unit / other.unit) ** 2)
            self.unit, self.white = other.unit, other.white
        if len({1, len(self.power), len(power)}) > 2:
            self.power, power = (each.mean(axis=0, keepdims=True) for each in (self.power, power))
        if len(self.power) < len(power):
            self.power = np.repeat(self.power, len(power), axis=0)
        self.power *= 1 - share
        self.power += power * share
        self.pictures += other.pictures
        self.step = max(self.step, other.step)


def spectrum(
    planes: Array, white: float = 1.0, device: str | int | None = None, *, is_windowed: bool = True
) -> Spectrum:
    """Return the power of planes ``(channels, height, width)`` relative to ``white``; ``device`` is for large ones."""
    (_, height, width), asked = planes.shape, white
    power = np.empty((len(planes), height, width // 2 + 1), np.float32)
    down, along = (window(n) if is_windowed else np.ones(n, np.float32) for n in (height, width))
    down = down[:, None]
    if planes.dtype.kind == "f":
        largest = float(max(planes.max(), -planes.min()))
        # Values whose squares exceed single precision are taken relative to the largest one.
        unit = white if LEAST < largest / white < MOST else largest or 1
        planes = (planes / unit if unit != 1 else planes).astype(np.float32, copy=False)
        given, white = unit, 1.0
    else:
        given = white
    step = step_of(planes) / white
    weight = 1 / (white * np.sqrt(np.square(down, dtype=float).sum() * np.square(along, dtype=float).sum()))
    for plane, result in zip(planes, power, strict=True):
        level = (down[:, 0].astype(float) @ (plane @ along)) / (down.sum(dtype=float) * along.sum(dtype=float))
        windowed = plane - np.float32(level)
        windowed *= down * np.float32(weight)
        windowed *= along
        transformed = forward(windowed, device)
        for rows in strips(height):
            np.add(np.square(transformed.real[rows]), np.square(transformed.imag[rows]), out=result[rows])
    if height * width >= LARGE:
        from .. import transforms

        transforms.forget()
    return Spectrum(power, width, step, white=given, unit=given / asked)


def step_of(planes: Array) -> float:
    """Return the least difference of two values, of which some rows are looked at; 0 without gray levels."""
    levels = np.unique(planes[:, :: max(1, planes.shape[1] // ROWS)])
    return float(np.diff(levels.astype(np.float64)).min()) if FEW < len(levels) <= LEVELS else 0.0


def window(n: int) -> NDArray[np.float32]:
    """Return Hann's window, symmetric about the middle of n pixels."""
    return np.asarray(0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(n) + 0.5) / n)).astype(np.float32)


def middle(planes: Array, height: int, width: int) -> Array:
    """Return the middle of planes, at most of a size."""
    top, left = max(0, planes.shape[1] - height) // 2, max(0, planes.shape[2] - width) // 2
    return planes[:, top : top + height, left : left + width]


def forward(plane: NDArray[np.float32], device: str | int | None = None) -> NDArray[np.complex64]:
    """Return the half spectrum of a real plane; a large one is transformed on ``device``, as for :class:`Filter`."""
    return _transformed("rfft2", plane, plane.size, device).astype(np.complex64, copy=False)


def backward(
    half: NDArray[np.complex64], shape: tuple[int, int], device: str | int | None = None
) -> NDArray[np.float32]:
    """Return the real plane ``(height, width)`` of a half spectrum; ``device`` as for :func:`forward`."""
    return _transformed("irfft2", half, 2 * half.size, device, s=shape).astype(np.float32, copy=False)


def _transformed(name: str, given: Array, pixels: int, device: str | int | None, **options: Any) -> Array:
    """Return what a function of ``numpy.fft`` gives; for a large plane that of the same name with a device."""
    made: Array
    if pixels >= LARGE:
        # Without a device, or on one with too little memory, NumPy does it.
        with suppress(DeviceError, TooLargeError):
            from .. import transforms

            made = getattr(transforms, name)(given, device=device, **options)
            return made
    made = getattr(np.fft, name)(given, **options)
    return made


# As a table

By = Literal["frequency", "angle"]
Window = Literal["none", "hann"]
BY: tuple[By, ...] = get_args(By)
WINDOWS: tuple[Window, ...] = get_args(Window)
# Sectors of all directions.
SECTORS = 90


class PowerSpectrum(NamedTuple):
    """The mean power of an image's frequencies, in rings or in sectors; empty ones are left out."""

    place: Floats
    """The middle of each ring, in cycles per unit of a pixel's side; or of each sector, the angle of stripes from 0,
    horizontal, to 180 degrees, counterclockwise."""
    power: Floats
    """The mean of |F|^2 / (pixels * mean square of the window), in the square of the image's unit. Noise of a standard
    deviation s has the power s^2 at each frequency."""
    frequencies: Floats
    """How many frequencies the mean is of."""


def power_spectrum(
    image: ArrayLike,
    *,
    by: By = "frequency",
    window: Window = "none",
    pixel_size: tuple[float, float] = (1.0, 1.0),
    channel_axis: int | None = None,
    missing: ArrayLike | None = None,
    device: str | int | None = None,
) -> PowerSpectrum:
    """Return the mean power of an image ``(height, width)`` without its mean, by frequency or by angle.

    Rings are one cycle across the shorter side wide.

    Args:
        image: Real numbers (height, width), or a stack (count, height, width), whose mean power is returned.
        by: "frequency", or "angle".
        window: "hann" fades the borders out, which otherwise leave a cross in the spectrum; or "none".
        pixel_size: The width and height of a pixel, in the unit that frequencies are to be per.
        channel_axis: The axis of a picture's channels, whose mean power is returned; None for none.
        missing: True for pixels that are filled as for filters; so are NaN and masked ones.
        device: Where large images are transformed.

    Raises:
        ParameterError: For an array that is not an image, or an invalid value.

    Examples:
        >>> frequency, power, frequencies = fftfilter.power_spectrum(image, window="hann")
        >>> round(1 / float(frequency[0]))  # the longest period, in pixels
        160

    """
    check_option("by", by, BY)
    check_option("window", window, WINDOWS)
    across, down = pixel_size
    if not (0 < across < np.inf and 0 < down < np.inf):
        raise ParameterError(f"pixel_size {pixel_size!r} is invalid: give a width and a height above 0")
    planes, holes = split(image, missing, channel_axis)
    if holes.any():
        planes = filled(planes, holes, device)
    check_finite(planes)
    made: Spectrum | None = None
    for plane in planes:  # one after the other: each takes memory
        own = spectrum(plane[None], 1.0, device, is_windowed=window == "hann")
        if made is None:
            made = own
        else:
            made.add(own)
    assert made is not None  # noqa: S101  no image is empty
    return in_rings(made, by, pixel_size)


def in_rings(made: Spectrum, by: By, pixel_size: tuple[float, float]) -> PowerSpectrum:
    """Return the power of a spectrum, the mean of its channels, as :func:`power_spectrum`; its values are as given."""
    (across, down), height, width = pixel_size, made.height, made.width
    fx, fy = np.fft.rfftfreq(width) / across, np.fft.fftfreq(height)[:, None] / down
    weights = np.full((height, len(fx)), 2.0)  # conjugates count, too
    weights[:, 0] = 1
    if width % 2 == 0:
        weights[:, -1] = 1
    weights[0, 0] = 0
    step = 180 / SECTORS if by == "angle" else 1 / min(width * across, height * down)
    place = np.degrees(np.arctan2(fx, fy)) % 180 if by == "angle" else np.hypot(fx, fy)
    ring = np.rint(place / step).astype(np.intp)
    if by == "angle":
        ring %= SECTORS
    count = np.bincount(ring.ravel(), weights.ravel()).astype(np.float64)
    sums = np.bincount(ring.ravel(), (weights * made.power.mean(axis=0)).ravel())
    known = np.flatnonzero(count)
    return PowerSpectrum(known.astype(np.float64) * step, sums[known] / count[known] * made.white**2, count[known])
