"""A transfer function as a table: the gain of every frequency of images of one size, or between them of any."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from ..errors import ParameterError, check_unmasked

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .grid import Gain

# H(k) and H(-k) count as equal if they differ by at most this part of the largest gain: single precision rounds as much
# away, and a mask that was computed as even is so only up to the host's own rounding.
EVEN = 1e-6


@dataclass(frozen=True, eq=False)
class Mask:
    """Gains ``(height, width)``, DC in the corner as ``numpy.fft`` has it. Make one with :meth:`of`.

    Masks of equal gains are equal: a copy in another process is the same mask.
    """

    gains: NDArray[np.floating]
    largest: float
    """The largest gain, if it exceeds 1, else 1."""
    is_even: bool
    """Whether H(-k) = H(k), so that filtered images are real."""
    any_size: bool = False
    """Whether it serves images of other sizes, with gains between those of the table."""

    @classmethod
    def of(cls, given: ArrayLike, *, any_size: bool = False) -> Mask:
        """Check an array of real, finite gains; raises ParameterError."""
        check_unmasked("mask", given)
        array = np.asarray(given)
        if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "biuf":
            raise ParameterError(
                f"an array of shape {array.shape} and type {array.dtype} is not a mask: give real gains of shape "
                "(height, width)"
            )
        gains: NDArray[np.floating] = array.astype(np.float32 if array.dtype == np.float32 else np.float64)
        finite = np.isfinite(gains)
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            raise ParameterError(
                f"{int((~finite).sum())} gains of the mask are NaN or infinite, the first at row {row}, column "
                f"{column}: replace them, for example with numpy.nan_to_num"
            )
        largest = max(1.0, float(gains.max()), -float(gains.min()))
        mirrored = np.roll(gains[::-1, ::-1], (1, 1), (0, 1))
        is_even = bool(np.abs(gains - mirrored).max() <= EVEN * np.abs(gains).max())
        if is_even:
            gains = gains / 2 + mirrored / 2
        gains.flags.writeable = False
        return cls(gains, largest, is_even, any_size)

    def __eq__(self, other: object) -> bool:
        """Whether another mask has the same gains for the same sizes."""
        if not isinstance(other, Mask):
            return NotImplemented
        return self is other or (self.any_size == other.any_size and np.array_equal(self.gains, other.gains))

    def __hash__(self) -> int:
        """Return a number that equal masks share."""
        return hash((self.any_size, self._crc32))

    @cached_property
    def _crc32(self) -> int:
        return crc32(self.gains.tobytes())

    @cached_property
    def is_even_along_axes(self) -> bool:
        """Whether H(fx, fy) = H(-fx, fy) = H(fx, -fy)."""
        mirrored = np.roll(self.gains[::-1], 1, 0)
        return self.is_even and bool(np.abs(self.gains - mirrored).max() <= EVEN * np.abs(self.gains).max())

    def gain(self, height: int, width: int, rows: int | None = None, columns: int | None = None) -> Gain:
        """Return the first rows and columns in float64; raises ParameterError if they are for another size."""
        if self.any_size:
            return _between(_between(self.gains.astype(np.float64), height, rows).T, width, columns).T
        if self.gains.shape != (height, width):
            raise ParameterError(
                f"the {self} does not fit an image of {width} x {height}: give one of its size (with mirrored edges of "
                "twice each side), or any_size=True"
            )
        return self.gains[:rows, :columns].astype(np.float64)

    def caution(self, height: int, width: int) -> None:
        """Return None: there is no cutoff to lie beyond the grid."""

    def given(self) -> dict[str, Any]:
        """Return what it was made of, in short."""
        size = {"width": self.gains.shape[1], "height": self.gains.shape[0]}
        return {"kind": "mask", **size, "crc32": f"{self._crc32:08x}"}

    def __repr__(self) -> str:
        """Return the call of ``fftfilter.transfer``, as H, that makes it, with a description in place of the gains."""
        height, width = self.gains.shape
        low, high = float(self.gains.min()), float(self.gains.max())
        any_size = ", any_size=True" if self.any_size else ""
        return f"H.mask(<{self.gains.dtype} ({height}, {width}), {low:g} to {high:g}>{any_size})"

    def __str__(self) -> str:
        return f"mask of {self.gains.shape[1]} x {self.gains.shape[0]}"


def _between(gains: Gain, n: int, first: int | None) -> Gain:
    """Return the first gains of n frequencies, on straight lines between those of the first axis, which repeat."""
    count = len(gains)
    place = np.rint(np.fft.fftfreq(n, 1 / n)[:first]) * count / n
    low = np.floor(place)
    part, at = (place - low)[:, None], low.astype(np.int64)
    return np.asarray(gains[at % count] * (1 - part) + gains[(at + 1) % count] * part)
