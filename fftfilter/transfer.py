"""Transfer functions: what a filter does to each frequency, as pure functions in float64.

A shape is one low-pass: a function here and its twin of the same name in ``kernels/steps/mask.cl``. The
four passes are made of it:

    lowpass   = low(radius)
    highpass  = 1 - low(radius)
    bandpass  = low(outer) * (1 - low(inner))
    bandstop  = 1 - bandpass

Beside them stands :class:`Mask`, any gain for each bin of one size of image.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .errors import ParameterError
from .parameters import MASK, Parameters, check

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from .parameters import Given

Gain = NDArray[np.float64]
Near = NDArray[np.bool_]
Bins = NDArray[np.int64]
AnyTransfer: TypeAlias = "Transfer | Mask"

# Cutoffs beyond it pass the same, and their squares would leave float64's range.
MOST_BINS = 1e100
# How much the gains of a frequency and its mirrored one may differ, relative to the largest: what single precision
# rounds away. The host's own rounding must not make a mask pass for one with complex results.
EVEN = 1e-6
# Gains this small vanish in single precision beside any gain of 1.
NEGLIGIBLE = 2.0**-32


def ideal(near: Near, relative2: Gain, order: int) -> Gain:  # noqa: ARG001
    """Everything nearer than the cutoff, nothing else."""
    return near.astype(np.float64)


def gaussian(near: Near, relative2: Gain, order: int) -> Gain:  # noqa: ARG001
    """exp(-ln 2 (d/r)^2): no ringing, gain 1/2 at the cutoff."""
    return np.exp2(-relative2)


def butterworth(near: Near, relative2: Gain, order: int) -> Gain:  # noqa: ARG001
    """1 / (1 + (d/r)^(2 order)): flat, then falling by the order; gain 1/2 at the cutoff."""
    with np.errstate(over="ignore"):
        return 1 / (1 + relative2**order)


# Each takes whether a bin is nearer than the cutoff, its distance over the radius squared, and the order.
LOWPASSES: dict[str, Callable[[Near, Gain, int], Gain]] = {
    shape.__name__: shape for shape in (ideal, gaussian, butterworth)
}


class Reach(NamedTuple):
    """The part of the grid where a transfer function varies.

    Where |ky| >= ``rows`` or |kx| >= ``columns`` the gain is ``beyond``, 0 or 1, but for what is negligible.
    """

    rows: int
    columns: int
    beyond: float


class Cutoff(NamedTuple):
    """A cutoff on the grid of a ``(height, width)`` image; ``radius`` in cycles across the shorter side n."""

    height: int
    width: int
    radius: float

    def near(self, kx: Bins, ky: Bins) -> Near:
        """Tell whether bins lie nearer to DC than the radius.

        On a square image by whole numbers, the book's ``dist2 < radius * radius``; on others by the same
        float64 arithmetic as ``hypot(fftfreq(width), fftfreq(height)) * n``, so that NumPy agrees on every bin.
        """
        if self.height == self.width:
            return np.asarray(kx * kx + ky * ky < self.radius * self.radius)
        f = np.hypot(kx * (1 / self.width), ky * (1 / self.height))
        return np.asarray(f * min(self.height, self.width) < self.radius)

    def reach(self) -> NDArray[np.uint32]:
        """Return how many |kx| = 0, 1, 2 ... are near in the rows |ky| = 0 ... height/2: the ideal mask as a table."""
        n = min(self.height, self.width)
        ky = np.arange(self.height // 2 + 1)
        chord = np.sqrt(np.maximum((self.radius / n) ** 2 - (ky / self.height) ** 2, 0)) * self.width
        # Right but for rounding: the bins around it decide.
        first = np.minimum(chord, self.width).astype(np.int64) - 2
        around = np.maximum(first, 0) + np.arange(5)[:, None]
        count = np.maximum(first, 0) + self.near(around, ky).sum(axis=0)
        reached: NDArray[np.uint32] = np.minimum(count, self.width // 2 + 1).astype(np.uint32)
        return reached

    def steps(self) -> tuple[float, float]:
        """Return what a bin along the width and along the height adds to the distance over the radius.

        At most 1e15, so that its square stays within single precision; at that gain nothing passes but DC.
        """
        n = min(self.height, self.width)
        return min(n / self.width / self.radius, 1e15), min(n / self.height / self.radius, 1e15)


class Transfer(Parameters):
    """A transfer function H(f). Build one with :func:`transfer`."""

    def cutoffs(self, height: int, width: int) -> tuple[Cutoff, Cutoff | None]:
        """Return the outer and the inner cutoff on a ``(height, width)`` grid.

        Raises ParameterError if the inner is not below the outer there.
        """
        outer, inner = self.radii(height, width)
        cutoff = Cutoff(height, width, min(outer, MOST_BINS))
        return cutoff, None if inner is None else Cutoff(height, width, min(inner, MOST_BINS))

    def reach(self, height: int, width: int) -> Reach:
        """Return where H varies: nearer to DC, along each axis, than the outer low-pass is long."""
        outer, _ = self.cutoffs(height, width)
        x, y = outer.steps()
        low = LOWPASSES[self.shape]

        def reached(k: Bins, step: float, near: Near) -> int:
            relative2: Gain = np.square(k * step, dtype=np.float64)
            return int(np.count_nonzero(low(near, relative2, self.order) > NEGLIGIBLE))

        # A low-pass is longest along the axes, and falls.
        kx, ky = np.arange(width // 2 + 1), np.arange(height // 2 + 1)
        rows, columns = reached(ky, y, outer.near(0 * ky, ky)), reached(kx, x, outer.near(kx, 0 * kx))
        return Reach(rows, columns, float(self.kind in ("highpass", "bandstop")))

    def gain(self, height: int, width: int) -> Gain:
        """Return H on the whole grid, shape ``(height, width)``, DC in the corner as ``numpy.fft`` has it."""
        kx = np.minimum(np.arange(width), width - np.arange(width))
        ky = np.minimum(np.arange(height), height - np.arange(height))[:, None]

        def low(cutoff: Cutoff) -> Gain:
            x, y = cutoff.steps()
            return LOWPASSES[self.shape](cutoff.near(kx, ky), (kx * x) ** 2 + (ky * y) ** 2, self.order)

        outer, inner = self.cutoffs(height, width)
        passed = low(outer) if inner is None else low(outer) * (1 - low(inner))
        return 1 - passed if self.kind in ("highpass", "bandstop") else passed


@dataclass(frozen=True, eq=False)
class Mask:
    """A transfer function as a table: the gain of every bin of images of one size. Build one with :func:`transfer`.

    ``gains`` is ``(height, width)``, DC in the corner as ``numpy.fft`` has it, divided by ``scale``, the largest
    of them if that exceeds 1: what is rounding noise of a filter is the same for any multiple of it, and no gain
    leaves the range of single precision. ``is_even`` tells whether H(-k) = H(k): then the filtered image is real.
    """

    gains: NDArray[np.floating]
    scale: float
    is_even: bool

    @classmethod
    def of(cls, given: ArrayLike) -> Mask:
        """Check an array of real, finite gains ``(height, width)``; raises ParameterError."""
        array = np.asarray(given)
        if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "biuf":
            raise ParameterError(
                f"an array of shape {array.shape} and type {array.dtype} is no mask: give real gains of shape "
                "(height, width), DC in the corner as numpy.fft.fft2 has it"
            )
        gains: NDArray[np.floating] = array.astype(np.float32 if array.dtype == np.float32 else np.float64)
        finite = np.isfinite(gains)
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            raise ParameterError(
                f"{int((~finite).sum())} gains of the mask are NaN or infinite, the first at row {row}, column "
                f"{column}: replace them, for example with numpy.nan_to_num"
            )
        scale = max(1.0, float(gains.max()), -float(gains.min()))
        gains = gains / scale
        mirrored = np.roll(gains[::-1, ::-1], (1, 1), (0, 1))
        is_even = bool(np.abs(gains - mirrored).max() <= EVEN * np.abs(gains).max())
        if is_even:
            gains = (gains + mirrored) / 2
        gains.flags.writeable = False
        return cls(gains, scale, is_even)

    def fit(self, height: int, width: int) -> NDArray[np.floating]:
        """Return the gains divided by ``scale`` for images ``(height, width)``; raises ParameterError for others."""
        if self.gains.shape != (height, width):
            raise ParameterError(f"the {self} does not fit an image of {width} x {height}: give one of its size")
        return self.gains

    def reach(self, height: int, width: int) -> Reach:
        """Return where the gains divided by ``scale`` vary; raises ParameterError for images of another size."""
        gains = self.fit(height, width)
        beyond = float(gains[height // 2, width // 2])
        if beyond not in (0.0, 1.0):
            return Reach(height // 2 + 1, width // 2 + 1, 0.0)
        varies = gains != beyond

        def reached(k: Bins, n: int) -> int:
            return int(np.minimum(k, n - k).max(initial=-1)) + 1

        rows, columns = (np.flatnonzero(varies.any(axis=axis)) for axis in (1, 0))
        return Reach(reached(rows, height), reached(columns, width), beyond)

    def gain(self, height: int, width: int) -> Gain:
        """Return H as :meth:`Transfer.gain` does; raises ParameterError for images of another size."""
        return self.fit(height, width).astype(np.float64) * self.scale

    def __str__(self) -> str:
        return f"mask of {self.gains.shape[1]} x {self.gains.shape[0]}"


def transfer(
    kind: str,
    *,
    radius: Given | None = None,
    inner: Given | None = None,
    outer: Given | None = None,
    shape: str = "ideal",
    order: int | None = None,
    mask: ArrayLike | None = None,
) -> AnyTransfer:
    """Check a filter's parameters, as :func:`parameters.check`, and return its transfer function.

    ``mask`` belongs to the kind "mask", which has nothing else. Raises ParameterError.
    """
    if kind == MASK or mask is not None:
        return _only_mask(
            kind, mask, has_others=(radius, inner, outer, shape, order) != (None, None, None, "ideal", None)
        )
    return Transfer(*check(kind, radius=radius, inner=inner, outer=outer, shape=shape, order=order))


def _only_mask(kind: str, mask: ArrayLike | None, *, has_others: bool) -> Mask:
    if kind != MASK:
        raise ParameterError(f"{kind} is a function of the frequency: leave mask out, or take the kind {MASK!r}")
    if mask is None:
        raise ParameterError("a mask is missing: give its gains, an array (height, width), as mask")
    if has_others:
        raise ParameterError("a mask has its gains and nothing else: leave out radius, inner, outer, shape and order")
    return Mask.of(mask)
