"""A transfer function as a table: the gain of every frequency of images of one size, or between them of any.

The band of ImageJ's dialog "FFT Bandpass Filter" stands on the grid of its padded picture:

    H = (1 - exp(-(2 large f)^2)) exp(-(2 small f)^2) G     H(0) = 1
    G = 1,  1 - exp(-(kx s)^2)  or  1 - exp(-(ky s)^2)      s = 1 - tolerance/100

f is in cycles per pixel, large and small are periods in pixels; the stripes' G counts bins, so that it depends on the
grid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from io import BytesIO
from typing import Any, Literal, get_args
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import images
from ..arrays import check_finite
from ..errors import ParameterError, ReadError, as_typed, check_unmasked
from ..files import sources
from .grid import Gain
from .part import ALL, EVEN, Part, Ring, mirrored
from .product import Transfer
from .units import Radius, RadiusLike, number


@dataclass(frozen=True, repr=False)
class Mask(Part):
    """Gains ``(height, width)``, DC in the corner as ``numpy.fft`` has it. Make one with :func:`mask`.

    Masks of equal gains are equal: a copy in another process is the same mask.
    """

    gains: NDArray[np.floating]
    largest: float  # the largest gain, if it exceeds 1, else 1
    is_even: bool
    any_size: bool = False  # whether it serves images of other sizes, with gains between those of the table
    file: str | None = None  # the file that has the gains, if :func:`mask_file` read them
    digest: str | None = None

    kind = "mask"
    small_grids = ()  # mask() has looked at all gains
    maker = "mask_file"
    by_position = ("file",)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mask):
            return NotImplemented
        return self is other or (self.any_size == other.any_size and np.array_equal(self.gains, other.gains))

    def __hash__(self) -> int:
        return hash((self.any_size, self._crc32))

    @cached_property
    def _crc32(self) -> int:
        return crc32(self.gains.tobytes())

    @cached_property
    def is_even_along_axes(self) -> bool:  # type: ignore[override]
        away = np.abs(self.gains - mirrored(self.gains, (0,)))
        return self.is_even and bool(away.max() <= EVEN * np.abs(self.gains).max())

    def gain(self, height: int, width: int, rows: slice = ALL, columns: slice = ALL) -> Gain:
        """Return them in float64; raises ParameterError if they are for another size."""
        if self.any_size:
            return _between(_between(self.gains.astype(np.float64), height, rows).T, width, columns).T
        if self.gains.shape != (height, width):
            raise ParameterError(
                f"the {self} does not fit an image of {width} x {height}: give one of its size (with mirrored edges of "
                "twice each side), or any_size=True"
            )
        return self.gains[rows, columns].astype(np.float64)

    def reduced(self, level: float, height: int, width: int) -> Mask:  # noqa: ARG002
        left = np.fft.fftshift(self.gains)
        for axis, n in enumerate(left.shape):
            kept = max(1, int(n / max(level, 1)))
            first = n // 2 - kept // 2
            left = left.take(range(first, first + kept), axis)
        return replace(self, gains=np.fft.ifftshift(left), any_size=True)

    def given(self) -> dict[str, Any]:
        size = {"width": self.gains.shape[1], "height": self.gains.shape[0]}
        return {"kind": self.kind, **size, "crc32": f"{self._crc32:08x}"}

    def arguments(self) -> dict[str, Any]:
        if self.file is None:
            raise ParameterError(
                f"the {self} is in no file, which a recipe names: save its gains with numpy.save, and read them with "
                "transfer.mask_file"
            )
        return {"file": self.file, "digest": self.digest}

    def __repr__(self) -> str:
        if self.file is not None:
            return super().__repr__()
        # As that of all parts, with a description in place of the gains.
        height, width = self.gains.shape
        low, high = float(self.gains.min()), float(self.gains.max())
        any_size = ", any_size=True" if self.any_size else ""
        return f"H.mask(<{self.gains.dtype} ({height}, {width}), {low:g} to {high:g}>{any_size})"

    def __str__(self) -> str:
        return f"mask of {self.gains.shape[1]} x {self.gains.shape[0]}"


def mask(gains: ArrayLike, *, any_size: bool = False) -> Transfer:
    """Return any real, finite gains ``(height, width)`` for images of that size, DC in the corner as numpy.fft has it.

    Args:
        gains: A gain for each frequency of ``numpy.fft.fftfreq``.
        any_size: Whether they serve images of other sizes, too: as a function of frequency, linear between the gains.

    Raises:
        ParameterError: For gains that are not real, not finite or not an array of two dimensions.

    >>> fy, fx = np.fft.fftfreq(image.shape[0])[:, None], np.fft.fftfreq(image.shape[1])
    >>> fine = fftfilter.Filter(H.mask(abs(fx) + abs(fy) > 0.1), edges="wrap")(image)

    """
    check_unmasked("mask", gains)
    array = np.asarray(gains)
    if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "biuf":
        raise ParameterError(
            f"an array of shape {array.shape} and type {array.dtype} is not a mask: give real gains of shape "
            "(height, width)"
        )
    table: NDArray[np.floating] = array.astype(np.float32 if array.dtype == np.float32 else np.float64)
    check_finite(table, "gains of the mask")
    largest = max(1.0, float(table.max()), -float(table.min()))
    other = mirrored(table)
    is_even = bool(np.abs(table - other).max() <= EVEN * np.abs(table).max())
    if is_even:
        table = table / 2 + other / 2
    table.flags.writeable = False
    return Transfer((Mask(table, largest, is_even, any_size),))


@dataclass(frozen=True, repr=False)
class Function(Part):
    """Gains that a function of the frequency gives. Make one with :func:`function`."""

    of: Callable[[NDArray[np.float64], NDArray[np.float64]], ArrayLike]
    largest: float
    is_complex: bool = False

    kind = "function"

    @property
    def is_even(self) -> bool:  # type: ignore[override]
        return not self.is_complex

    def gain(self, height: int, width: int, rows: slice = ALL, columns: slice = ALL) -> Gain:
        """Return them in double precision; raises ParameterError for gains that are not finite, or exceed the bound."""
        ky, kx = np.arange(height)[rows], np.arange(width)[columns]
        fy, fx = np.fft.fftfreq(height), np.fft.fftfreq(width)
        # The highest frequency of an even side has both signs at once, of which the grid has one.
        made = (self._of(fx[kx], fy[ky]) + self._of(fx[-kx], fy[-ky]).conj()) / 2
        if not np.abs(made).max(initial=0) <= self.largest * (1 + EVEN):
            raise ParameterError(
                f"the gains of {self} are not finite, or exceed {self.largest:g}: set largest to a bound of all, and "
                "mind the frequency 0"
            )
        return made

    def _of(self, fx: NDArray[Any], fy: NDArray[Any]) -> Gain:
        with np.errstate(all="ignore"):
            made = np.asarray(self.of(fx, fy[:, None]))
        if made.dtype.kind not in ("biufc" if self.is_complex else "biuf"):
            raise ParameterError(
                f"{self} gives gains of type {made.dtype}: return real ones, or complex ones everywhere"
            )
        number = np.complex128 if made.dtype.kind == "c" else np.float64
        try:
            return np.broadcast_to(made.astype(number), (len(fy), len(fx)))
        except ValueError:
            raise ParameterError(
                f"{self} gives gains of shape {made.shape} for {len(fx)} x {len(fy)} frequencies: return one for each"
            ) from None

    def arguments(self) -> dict[str, Any]:
        raise ParameterError(f"{self} is in no file, which a recipe names: save its gains with numpy.save as a mask")

    def given(self) -> dict[str, Any]:
        return {"kind": self.kind, "of": str(self), "largest": self.largest}

    def __repr__(self) -> str:
        return f"H.function(<{getattr(self.of, '__name__', 'of')}>, largest={self.largest:g})"

    def __str__(self) -> str:
        return f"function {getattr(self.of, '__name__', 'of')}"


def function(of: Callable[[NDArray[np.float64], NDArray[np.float64]], ArrayLike], *, largest: float = 1.0) -> Transfer:
    """Return the gains that ``of(fx, fy)`` gives for frequencies in cycles per pixel, for images of any size.

    Gains are finite, and those of f and -f conjugate, so that filtered images are real: of(-fx, -fy) is the conjugate
    of of(fx, fy), and the same number if gains are real. Complex gains, such as those of derivatives and shifts, take
    the staged pipeline or NumPy's engine. The highest frequency of an even side, 0.5 cycles per pixel, stands for both
    signs: the gain there is half the sum of of(fx, fy) and of the conjugate of of(-fx, -fy), where fx or fy is -0.5. So
    that of a derivative is 0.

    Args:
        of: A function of ``fx`` of the shape (columns,) and ``fy`` of (rows, 1), in cycles per pixel, from -0.5 up to
            0.5; it returns a gain for each pair.
        largest: A bound of all magnitudes of gains, at least 1.

    Raises:
        ParameterError: For gains that are not conjugate, not finite or larger than the bound.

    >>> upward = H.function(lambda fx, fy: np.exp(-2 * np.pi * 30 * np.hypot(fx, fy)))  # by 30 pixels
    >>> higher = fftfilter.Filter(upward, output="real")(image)
    >>> derivative = H.function(lambda fx, fy: 2j * np.pi * fx + 0 * fy, largest=np.pi)  # across, per pixel
    >>> slopes = fftfilter.Filter(derivative * H.lowpass("8px"), output="real")(image)

    """
    if not callable(of):
        raise ParameterError(f"{of!r} is not a function: give one of fx and fy, such as lambda fx, fy: fx * fx < 0.01")
    if isinstance(largest, bool) or not 1 <= number(largest) < np.inf:
        raise ParameterError(f"largest {as_typed(largest)} is invalid: give a bound of all gains, at least 1")
    made = Function(of, float(largest), is_complex=True)
    # Not at the highest frequencies, but at odd places between.
    f = (np.arange(1, 24) - 12) / 25
    gains = made._of(f, f)
    made = replace(made, is_complex=gains.dtype.kind == "c")
    with np.errstate(invalid="ignore"):  # of gains that are not finite, for which there is another line
        is_real = np.abs(gains - gains[::-1, ::-1].conj()) <= EVEN * made.largest
    if not is_real[np.isfinite(gains)].all():
        what, given = ("conjugate", "conj(of(fx, fy))") if made.is_complex else ("even", "of(fx, fy)")
        raise ParameterError(
            f"the gains of {made} are not {what}: give a function with of(-fx, -fy) = {given}, whose images are real"
        )
    made.check()
    return Transfer((made,))


def mask_file(file: str, digest: str | None = None) -> Transfer:
    """Return the gains in a file as a function of frequency, for images of any size.

    Gains are made even, the mean of those of f and -f, so that filtered images are real.

    Args:
        file: A gray picture, in which white is 1, or an array of :func:`numpy.save` with the gains as they are; in both
            DC is in the middle.
        digest: The xxh3_128 of the file's bytes, which tells whether the file is still the same; None for any.

    Raises:
        ParameterError: For what is not a mask, or not the same file.
        ReadError: For a file that cannot be read.

    >>> gains = H.mask_file("gains.npy")

    """
    if file.lower().endswith(".npy"):
        data = sources.content(file)
        found = sources.checked_digest(file, data, digest)
        try:
            array = np.lib.format.read_array(BytesIO(data), allow_pickle=False)
        except Exception as error:  # of damaged headers NumPy raises almost anything
            raise ReadError(f"{file}: is not an array: save one with numpy.save") from error
    else:
        picture, found = images.read_mask(file, digest)
        if (picture.planes != picture.planes[:1]).any():
            raise ParameterError(f"{file}: has colors, and a mask has one gain for each frequency: make it gray")
        array = picture.planes[0].astype(np.float64) / picture.maxval
    # Checked as it is in the file, before it is moved: what is wrong has its place there.
    gains = np.fft.ifftshift(mask(array).gain(*array.shape))
    (made,) = mask(gains / 2 + mirrored(gains) / 2, any_size=True).parts
    return Transfer((replace(made, file=file, digest=found),))  # type: ignore[type-var]


def _between(gains: Gain, n: int, wanted: slice) -> Gain:
    """Return the wanted gains of n frequencies, on straight lines between those of the first axis, which repeat."""
    count = len(gains)
    place = np.rint(np.fft.fftfreq(n, 1 / n)[wanted]) * count / n
    low = np.floor(place)
    part, at = (place - low)[:, None], low.astype(np.int64)
    return np.asarray(gains[at % count] * (1 - part) + gains[(at + 1) % count] * part)


Suppress = Literal["none", "horizontal", "vertical"]
SUPPRESSED: tuple[Suppress, ...] = get_args(Suppress)


@dataclass(frozen=True, repr=False)
class ImageJBand(Part):
    """ImageJ's band. Make one with :func:`imagej`; ``small`` is None for none."""

    large: Radius
    small: Radius | None
    suppress: Suppress = "none"
    tolerance: float = 5

    kind = "imagej"
    is_even_along_axes = True
    by_position = ("large", "small")

    @property
    def unit(self) -> Radius:  # type: ignore[override]
        return self.large

    def marks(self, height: int, width: int) -> Iterator[Ring]:
        for radius in (self.small, self.large):
            if radius:
                yield Ring(radius.cycles(height, width), str(radius), stretch=radius.stretch)

    def gain(self, height: int, width: int, rows: slice = ALL, columns: slice = ALL) -> Gain:
        kx, ky = np.fft.fftfreq(width, 1 / width)[columns], np.fft.fftfreq(height, 1 / height)[rows, None]

        def exponent(radius: Radius) -> Gain:
            high, wide = radius.grid(height, width)
            d2 = ((kx / wide) ** 2 + (ky / high) ** 2) * min(high, wide) ** 2
            return np.asarray(-d2 * (2 / radius.bins(height, width)) ** 2)

        gains = -np.expm1(exponent(self.large))
        if self.small:
            gains *= np.exp(exponent(self.small))
        if self.suppress != "none":
            across = kx if self.suppress == "horizontal" else ky
            gains *= -np.expm1(-((across * (1 - self.tolerance / 100)) ** 2))
        gains[(kx == 0) & (ky == 0)] = 1
        return np.asarray(gains)

    def given(self) -> dict[str, Any]:
        return {"kind": self.kind, "large": str(self.large.as_given()), "small": "0"} | super().given()

    def arguments(self) -> dict[str, Any]:
        given = super().arguments()
        return given | {"small": given["small"] or 0}

    def __str__(self) -> str:
        stripes = f", {self.suppress} stripes out by {self.tolerance:g}%" if self.suppress != "none" else ""
        return f"ImageJ's bandpass, large {self.large}, small {self.small or 0}{stripes}"


def imagej(
    large: RadiusLike = 40, small: RadiusLike = 3, *, suppress: Suppress = "none", tolerance: float = 5
) -> Transfer:
    """Return the band of ImageJ's "FFT Bandpass Filter": structures from ``small`` to ``large`` stay, and the mean.

    The gains are meant for ImageJ's padded square, on which :func:`fftfilter.imagej` filters. Raises
    ParameterError.

    Args:
        large: Structures up to this size stay: a period in pixels, by default 40, or a radius in any unit.
        small: Structures from this size on stay, by default 3 pixels; 0 keeps the finest.
        suppress: Stripes that are removed: "none", "horizontal" or "vertical".
        tolerance: How far the stripes may turn, in percent, by default 5.

    >>> band = H.imagej(40, 3, suppress="horizontal")

    """
    if suppress not in SUPPRESSED:
        raise ParameterError(f"suppress {suppress!r} is unknown: choose {', '.join(SUPPRESSED)}")
    percent = number(tolerance)
    if not 0 <= percent <= 100:
        raise ParameterError(f"tolerance {as_typed(tolerance)} is out of range: give a percentage from 0 to 100")
    none = str(small).strip() in ("0", "0.0", "0px")
    low = None if none else Radius.parse(small, "small", bare="px")
    return Transfer((ImageJBand(Radius.parse(large, "large", bare="px"), low, suppress, percent),))
