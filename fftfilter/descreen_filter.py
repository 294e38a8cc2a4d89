"""``descreen``: takes a printer's screens out of pictures, with one rounding at the end.

    picture -> brightness and two color differences -> screens found -> filtered -> colors -> rounded

The color differences have few details of their own, and can be smoothed more than the brightness.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .analysis.screens import screens_of
from .arrays import check_finite, strips
from .errors import ParameterError
from .filters import PictureFilter
from .filters.call import Found, call
from .output.ramp import Gray, pixels, ramps
from .output.rounding import deviation
from .transfer import lowpass
from .transfer.edges import grid_with
from .transfer.fitted import Curve
from .transfer.reference import filtered

if TYPE_CHECKING:
    from .arrays import Array
    from .filters.call import Observe
    from .transfer import Transfer

# Orthonormal: brightness, red - blue, and green against both.
OPPONENT = np.array([[1, 1, 1], [1, 0, -1], [-0.5, 1, -0.5]])
OPPONENT /= np.linalg.norm(OPPONENT, axis=1, keepdims=True)
# The window in which the detail of a place is measured, in deviations of its blur; how much more than usual stays.
WINDOW, MOST, TINY = 2.5, 1.25, float(np.finfo(np.float32).tiny)


def opponent(planes: Array, white: float, real: type[np.floating[Any]] = np.float32) -> Array:
    """Return the brightness and the color differences of planes of RGB, others as they are, as parts of ``white``."""
    mixed, made = OPPONENT if len(planes) == 3 else np.eye(len(planes)), np.empty(planes.shape, real)
    for rows in strips(planes.shape[1]):
        made[:, rows] = np.tensordot(mixed, np.divide(planes[:, rows], white, dtype=np.float64), 1)
    return made


class DescreenFilter(PictureFilter):
    """A filter to use again: ``transfer.descreen`` on one device.

    The screens of each picture are found in its own spectrum. The input's gray levels are kept, rounded and clipped,
    and edges mirrored. A picture without a screen comes back as it is. Options are those of :class:`Filter` except
    ``output``, ``scale``, ``edges`` and ``channels``.
    """

    name = method = "descreen"
    fixed: ClassVar[Mapping[str, Any]] = {"output": "real", "edges": "mirror"}
    real: ClassVar[type[np.floating[Any]]] = np.float32

    def _picture(self, planes: Array, holes: Array, gray: Gray, observe: Observe) -> tuple[Array, Found]:
        if observe is not None:
            raise ParameterError("descreen has no intermediate results: leave observe out")
        check_finite(planes)
        white, dtype, top = gray
        mixed, screens = opponent(planes, white, self.real), self.transfer if self.transfer.parts else None
        if self.transfer.is_fitted:
            screens, note = screens_of(mixed.astype(np.float32, copy=False), self.transfer.parts[0])  # type: ignore[arg-type]
            self._notes.append(note)
        if not screens and (planes.dtype, white) == (dtype, top):
            return planes.copy(), Found(np.array([(planes.min(), planes.max())], np.float64), [0.0])
        values, weak = mixed if screens else planes / white, 0
        if screens:
            floor = screens.floor if self.transfer.depth is None else self.transfer.floor
            own = replace(screens, depth=None).keeping_mean().of_channels(len(mixed))
            for i, plane in enumerate(mixed):  # one after the other: each step takes memory
                value, again = self._values(own[i % len(own)], plane)
                self._fade_detail(value, own[i % len(own)])
                plane[...] = floor * plane + (1 - floor) * value
                weak += again
            if len(mixed) == 3:
                values = np.tensordot(OPPONENT.T.astype(mixed.dtype), mixed, 1)
        extremes, in_white = white * np.array([(values.min(), values.max())], np.float64), Gray(1.0, dtype, top)
        region, (ramp,) = self._description.region, ramps("keep", gray=in_white)
        inside = 1.0 if region is None else region.clipped(values, holes, in_white)
        made, clipped, *_ = pixels(values, ramp, float(deviation(planes).max()) / white, dtype)
        return made, Found(extremes, [min(clipped, inside)], weak)

    def _fade_detail(self, value: Array, transfer: Transfer) -> None:
        """Leave less detail in a filtered plane where there is less than usual, as in flat parts."""
        above = value.copy()
        for blur, noise, before, usual, kept in chain(
            *(part.bands for part in transfer.parts if isinstance(part, Curve))
        ):
            below = self._blurred(above, blur)
            detail = np.subtract(above, below, out=above)
            powers = self._blurred(np.square(detail), WINDOW * blur)
            for rows in strips(len(detail)):
                power = np.maximum(powers[rows] - noise, 0)
                gain = np.minimum(power / np.maximum(power + before, TINY), MOST * usual)
                detail[rows] *= (kept + (1 - kept) * gain) / (kept + (1 - kept) * usual + TINY) - 1
            detail -= detail.mean()
            value += detail
            above = below

    def _blurred(self, plane: Array, deviation: float) -> Array:
        blur = lowpass(f"{np.sqrt(np.log(2) / 2) / np.pi / deviation}cyc", shape="gaussian")
        return self._values(blur, plane)[0]

    def _values(self, transfer: Transfer, plane: Array) -> tuple[Array, int]:
        """Return the filtered values of a plane, and whether it was filtered once more."""
        prepared = self._retuned(transfer, depth=None)  # which is that of the whole
        values, found = call(prepared, plane, None, {"white": 1})
        return values, found.weak


class DescreenReference(DescreenFilter):
    """The same filter with transforms in float64 by NumPy, without a device: what ``--verify`` compares with."""

    real = np.float64

    def _values(self, transfer: Transfer, plane: Array) -> tuple[Array, int]:
        gain = grid_with("mirror", transfer, *plane.shape).gain()
        return filtered(plane, gain, "mirror").real, 0
