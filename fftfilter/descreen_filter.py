"""``descreen``: takes a printer's screens out of pictures, with one rounding at the end.

    picture -> brightness and two color differences -> screens found -> filtered -> colors -> rounded

The color differences have few details of their own, and can be smoothed more than the brightness.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .analysis.screens import screens_of
from .arrays import check_finite
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


def opponent(planes: Array) -> Array:
    """Return the brightness and the color differences of planes of RGB, others as they are; float64."""
    return np.tensordot(OPPONENT, planes, 1) if len(planes) == 3 else planes.astype(np.float64)


class DescreenFilter(PictureFilter):
    """A filter to use again: ``transfer.descreen`` on one device.

    The screens of each picture are found in its own spectrum. The input's gray levels are kept, rounded and clipped,
    and edges mirrored. A picture without a screen comes back as it is. Options are those of :class:`Filter` except
    ``output``, ``scale``, ``edges`` and ``channels``.
    """

    name = "descreen"
    fixed: ClassVar[Mapping[str, Any]] = {"output": "real", "edges": "mirror"}

    def _picture(self, planes: Array, holes: Array, gray: Gray, observe: Observe) -> tuple[Array, Found]:
        if observe is not None:
            raise ParameterError("descreen has no intermediate results: leave observe out")
        check_finite(planes)
        white, dtype, top = gray
        mixed, screens = opponent(planes), self.transfer if self.transfer.parts else None
        if self.transfer.is_fitted:
            screens, note = screens_of(mixed, white, self.transfer.parts[0])  # type: ignore[arg-type]
            self._notes.append(note)
        values, weak = planes.astype(np.float64), 0
        if screens:
            floor = screens.floor if self.transfer.depth is None else self.transfer.floor
            values, weak = self._values(replace(screens, depth=None).keeping_mean(), mixed, white)
            values = floor * mixed + (1 - floor) * self._by_place(values.astype(np.float64), screens, white)
            values = np.tensordot(OPPONENT.T, values, 1) if len(planes) == 3 else values
        extremes, clipped = np.array([(values.min(), values.max())], np.float64), 0.0
        if screens or planes.dtype != dtype or white != top:
            (ramp,) = ramps("keep", gray=Gray(white, dtype, top))
            region = self._description.region
            inside = 1.0 if region is None else region.clipped(values, holes, gray)
            made, clipped, *_ = pixels(values, ramp, float(deviation(planes).max()), dtype)
            clipped = min(clipped, inside)
        else:
            made = planes.copy()
        return made, Found(extremes, [clipped], weak)

    def _by_place(self, values: Array, transfer: Transfer, white: float) -> Array:
        """Return filtered values with less detail where there is less than usual, as in flat parts."""
        curves = [part for part in transfer.parts if isinstance(part, Curve) and part.bands]
        above, made = values, values
        for bands in zip(*(each.bands for each in curves), strict=True):
            noise, before, usual, kept = np.array([each[1:] for each in bands]).T[..., None, None]
            below = self._blurred(above, bands[0].blur, white)
            detail = (above - below) / white
            power = np.maximum(self._blurred(np.square(detail), WINDOW * bands[0].blur, white) - noise, 0)
            gain = np.minimum(power / np.maximum(power + before, TINY), MOST * usual)
            change = white * detail * ((kept + (1 - kept) * gain) / (kept + (1 - kept) * usual + TINY) - 1)
            above, made = below, made + change - change.mean(axis=(1, 2), keepdims=True)
        return made

    def _blurred(self, planes: Array, deviation: float, white: float) -> Array:
        blur = lowpass(f"{np.sqrt(np.log(2) / 2) / np.pi / deviation}cyc", shape="gaussian")
        return self._values(blur, planes, white)[0].astype(np.float64)

    def _values(self, transfer: Transfer, planes: Array, white: float) -> tuple[Array, int]:
        """Return the filtered values of planes, in their gray levels, and whether they were filtered once more."""
        prepared = self._retuned(transfer, depth=None)  # which is that of the whole
        values, found = call(prepared, planes.astype(np.float32), 0, {"white": white})
        return values, found.weak


class DescreenReference(DescreenFilter):
    """The same filter with transforms in float64 by NumPy, without a device: what ``--verify`` compares with."""

    def _values(self, transfer: Transfer, planes: Array, white: float) -> tuple[Array, int]:  # noqa: ARG002
        gains = [grid_with("mirror", each, *planes.shape[1:]).gain() for each in transfer.of_channels(len(planes))]
        return filtered(planes, np.stack(gains), "mirror").real, 0
