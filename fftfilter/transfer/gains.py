"""A transfer function as a table: the gain of every frequency of images of one size, or between them of any."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from zlib import crc32

from ..errors import ParameterError, check_unmasked
from .part import Part
from .product import Transfer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from .grid import Gain

# H(k) and H(-k) count as equal if they differ by at most this part of the largest gain: single precision rounds as much
# away, and a mask that was computed as even is so only up to the host's own rounding.
EVEN = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class Mask(Part):
    """Gains ``(height, width)``, DC in the corner as ``numpy.fft`` has it. Make one with :func:`mask`.

    Masks of equal gains are equal: a copy in another process is the same mask.
    """

    gains: NDArray[np.floating]
    largest: float
    """The largest gain, if it exceeds 1, else 1."""
    is_even: bool
    any_size: bool = False
    """Whether it serves images of other sizes, with gains between those of the table."""

    kind = "mask"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mask):
            return NotImplemented
        import numpy as np

        return self is other or (self.any_size == other.any_size and np.array_equal(self.gains, other.gains))

    def __hash__(self) -> int:
        return hash((self.any_size, self._crc32))

    @cached_property
    def _crc32(self) -> int:
        return crc32(self.gains.tobytes())

    @cached_property
    def is_even_along_axes(self) -> bool:
        import numpy as np

        mirrored = np.roll(self.gains[::-1], 1, 0)
        return self.is_even and bool(np.abs(self.gains - mirrored).max() <= EVEN * np.abs(self.gains).max())

    def gain(self, height: int, width: int, rows: int | None = None, columns: int | None = None) -> Gain:
        """Return the first rows and columns in float64; raises ParameterError if they are for another size."""
        import numpy as np

        if self.any_size:
            return _between(_between(self.gains.astype(np.float64), height, rows).T, width, columns).T
        if self.gains.shape != (height, width):
            raise ParameterError(
                f"the {self} does not fit an image of {width} x {height}: give one of its size (with mirrored edges of "
                "twice each side), or any_size=True"
            )
        return self.gains[:rows, :columns].astype(np.float64)

    def reduced(self, level: float, height: int, width: int) -> Mask:  # noqa: ARG002
        import numpy as np

        left = np.fft.fftshift(self.gains)
        for axis, n in enumerate(left.shape):
            kept = max(1, int(n / max(level, 1)))
            first = n // 2 - kept // 2
            left = left.take(range(first, first + kept), axis)
        return replace(self, gains=np.fft.ifftshift(left), any_size=True)

    def given(self) -> dict[str, Any]:
        size = {"width": self.gains.shape[1], "height": self.gains.shape[0]}
        return {"kind": self.kind, **size, "crc32": f"{self._crc32:08x}"}

    def __repr__(self) -> str:
        # As that of all parts, with a description in place of the gains.
        height, width = self.gains.shape
        low, high = float(self.gains.min()), float(self.gains.max())
        any_size = ", any_size=True" if self.any_size else ""
        return f"H.mask(<{self.gains.dtype} ({height}, {width}), {low:g} to {high:g}>{any_size})"

    def __str__(self) -> str:
        return f"mask of {self.gains.shape[1]} x {self.gains.shape[0]}"


def mask(gains: ArrayLike, *, any_size: bool = False) -> Transfer:
    """Return any real, finite gains ``(height, width)`` for images of that size, DC in the corner as numpy.fft has it.

    With ``any_size`` they serve images of other sizes, too: as a function of frequency, linear between the gains.
    Raises ParameterError.

        fy, fx = np.fft.fftfreq(height)[:, None], np.fft.fftfreq(width)
        H.mask(np.abs(fx) + np.abs(fy) > 0.1)
    """
    import numpy as np

    from ..arrays import check_finite

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
    mirrored = np.roll(table[::-1, ::-1], (1, 1), (0, 1))
    is_even = bool(np.abs(table - mirrored).max() <= EVEN * np.abs(table).max())
    if is_even:
        table = table / 2 + mirrored / 2
    table.flags.writeable = False
    return Transfer((Mask(table, largest, is_even, any_size),))


def _between(gains: Gain, n: int, first: int | None) -> Gain:
    """Return the first gains of n frequencies, on straight lines between those of the first axis, which repeat."""
    import numpy as np

    count = len(gains)
    place = np.rint(np.fft.fftfreq(n, 1 / n)[:first]) * count / n
    low = np.floor(place)
    part, at = (place - low)[:, None], low.astype(np.int64)
    return np.asarray(gains[at % count] * (1 - part) + gains[(at + 1) % count] * part)
