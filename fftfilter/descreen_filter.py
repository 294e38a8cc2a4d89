"""``descreen``: takes a printer's screens out of pictures, with one rounding at the end.

    picture -> brightness and two color differences -> screens found -> filtered -> colors -> rounded

The color differences have few details of their own, and can be smoothed more than the brightness.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from .analysis.screens import Screens, screens_of
from .arrays import check_finite, grey_of, planes_of
from .errors import ParameterError, is_masked
from .filters import Filter, FilterOptions
from .output.ramp import pixels, ramps
from .output.rounding import deviation
from .transfer.edges import grid_with
from .transfer.reference import filtered
from .transfer.screens import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from .transfer import Transfer

    Array = NDArray[Any]

# Orthonormal: brightness, red - blue, and green against both.
OPPONENT = np.array([[1, 1, 1], [1, 0, -1], [-0.5, 1, -0.5]])
OPPONENT /= np.linalg.norm(OPPONENT, axis=1, keepdims=True)
OWN = ("output", "scale", "edges", "channels")


class DescreenFilter(Filter):
    """A filter to use again: ``transfer.descreen`` on one device.

    The screens of each picture are found in its own spectrum. The input's grey levels are kept, rounded and clipped,
    and edges mirrored. A picture without a screen comes back as it is. Options are those of :class:`Filter` except
    ``output``, ``scale`` and ``edges``.
    """

    def __init__(self, transfer: Transfer, **options: Unpack[FilterOptions]) -> None:
        self._describe(transfer, options)
        _ = self.launcher  # without a usable device there is no filter

    def _describe(self, transfer: Transfer, options: Mapping[str, Any]) -> None:
        for name in OWN:
            if name in options:
                raise ParameterError(f"{name} {options[name]!r} is not for descreen: leave it out")
        super()._describe(transfer, {**options, "output": "real", "edges": "mirror"})
        self._options = {name: value for name, value in self._options.items() if name not in OWN}
        self._screens: Screens | None = None
        self._said: list[str] = []
        self._extremes: list[tuple[float, float]] = []
        self._parts_clipped: list[float] = []

    def __call__(
        self,
        image: ArrayLike,
        *,
        channel_axis: int | None = None,
        dtype: DTypeLike | None = None,
        levels: int | None = None,
        white: float | None = None,
        missing: ArrayLike | None = None,
        observe: Any = None,
    ) -> Array:
        """Filter an image, a stack of images, or a picture with channels; arguments are those of :class:`Filter`."""
        if observe is not None:
            raise ParameterError("descreen has no intermediate results: leave observe out")
        if missing is not None or is_masked(image):
            raise ParameterError("descreen knows no missing pixels: fill them")
        planes, shape = planes_of(image, channel_axis)
        check_finite(planes)
        _, white, out, top = grey_of(planes.dtype, {"dtype": dtype, "levels": levels, "white": white})
        with self._alone():
            self._said, self._extremes, self._parts_clipped = [], [], []
            pictures = [planes] if channel_axis is not None else planes[:, None]
            made = [self._picture(each, white, top, out) for each in pictures]
            self._found = self._found._replace(clipped=self._parts_clipped)
        return np.concatenate(made).reshape(shape) if channel_axis is None else np.moveaxis(made[0], 0, channel_axis)

    def stream(self, images: Iterable[ArrayLike], **options: Any) -> Iterator[Array]:
        """Filter images one after the other, as calls do, and yield their results in order."""
        for image in images:
            yield self(image, **options)

    def extremes(self) -> list[tuple[float, float]]:
        """Return the smallest and largest filtered value of each picture of the last call."""
        return self._extremes

    def _picture(self, planes: Array, white: float, top: int, out: np.dtype[Any]) -> Array:
        mixed = np.tensordot(OPPONENT, planes, 1) if len(planes) == 3 else planes.astype(np.float64)
        self._screens = screens_of(mixed, white, self.transfer.parts[0])  # type: ignore[arg-type]
        note = str(self._screens or NOTHING)
        if self._screens is None and planes.dtype == out and white == top:
            self._say(note, planes, 0.0)
            return planes
        values = planes.astype(np.float64) if self._screens is None else self._values(mixed, white)
        if self._screens and len(planes) == 3:
            values = np.tensordot(OPPONENT.T, values, 1)
        self._say(note, values, 0.0)
        (ramp,) = ramps("keep", white=white, dtype=out, maxval=top)
        made, self._parts_clipped[-1], _ = pixels(values, ramp, float(deviation(planes).max()), out)
        return made

    def _say(self, note: str, values: Array, clipped: float) -> None:
        self._said.append(note)
        self._extremes.append((float(values.min()), float(values.max())))
        self._parts_clipped.append(clipped)

    def notes(self) -> list[str]:
        """Return what was found in each picture of the last call, and what was done."""
        return list(self._said)

    def _values(self, planes: Array, white: float) -> Array:
        return super().__call__(planes.astype(np.float32), channel_axis=0, white=white)

    def _fitted(self, planes: Array, white: float) -> Transfer:  # noqa: ARG002  the screens are found already
        assert self._screens  # noqa: S101  callers have asked
        return replace(self._screens.transfer, depth=self.transfer.depth).keeping_mean()


class DescreenReference(DescreenFilter):
    """The same filter with transforms in float64 by NumPy, without a device: what ``--verify`` compares with."""

    def __init__(self, transfer: Transfer) -> None:
        self._describe(transfer, {})

    def _values(self, planes: Array, white: float) -> Array:
        transfer = self._fitted(planes, white)
        gains = [grid_with("mirror", each, *planes.shape[1:]).gain() for each in transfer.of_channels(len(planes))]
        return filtered(planes, np.stack(gains), "mirror").real
