"""``descreen``: takes a printer's screens out of pictures, with one rounding at the end.

    picture -> brightness and two color differences -> screens found -> filtered -> colors -> rounded

The color differences have few details of their own, and can be smoothed more than the brightness.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .analysis.fit import Fitted
from .analysis.screens import OPPONENT, Screens, opponent, screens_of
from .arrays import Array, Holes, check_finite, scaled, strips
from .errors import ParameterError
from .filters import Filter
from .filters.call import Found, call
from .output.ramp import Gray, pixels, ramps
from .output.rounding import deviation
from .transfer import Transfer, lowpass
from .transfer.fitted import Curve

if TYPE_CHECKING:
    from .analysis.found import Peak
    from .filters.call import Observe

# The window in which the detail of a place is measured, in deviations of its blur; how much more than usual stays.
WINDOW, MOST, TINY = 2.5, 1.25, float(np.finfo(np.float32).tiny)
# Returns the filtered values of a plane, and how many pictures were filtered once more.
Values = Callable[[Transfer, "Array"], tuple["Array", int]]


class DescreenFilter(Filter):
    """A filter to use again: ``transfer.descreen`` on one device.

    The screens of each picture are found in its own spectrum. The input's gray levels are kept, rounded and clipped,
    and edges mirrored. A picture without a screen comes back as it is. Options are those of :class:`Filter` except
    ``output``, ``scale``, ``edges`` and ``channels``.
    """

    name = method = "descreen"
    fixed: ClassVar[Mapping[str, Any]] = {"output": "real", "edges": "mirror"}

    def fit(
        self,
        planes: Array,
        white: float,
        peaks: Sequence[Peak] = (),  # noqa: ARG002  it has none
        holes: Holes | None = None,  # noqa: ARG002  it refuses them
    ) -> Fitted:
        """Return the gains for the channels of :func:`opponent`; none if a picture has no screen."""
        found, mixed = self._screens(planes, white)
        return Fitted(found.transfer, mixed, found.note)

    def _screens(self, planes: Array, white: float) -> tuple[Screens, Array]:
        mixed = opponent(planes, white)
        if not self.transfer.is_fitted:
            return Screens(self.transfer, ""), mixed
        return screens_of(mixed, self.transfer.parts[0]), mixed  # type: ignore[arg-type]

    def _picture(self, planes: Array, holes: Array, gray: Gray, observe: Observe) -> tuple[Array, Found]:
        if observe is not None:
            raise ParameterError("descreen has no intermediate results: leave observe out")

        def values(transfer: Transfer, plane: Array) -> tuple[Array, int]:
            made, found = call(self._retuned(transfer, depth=None), plane, None, {"white": 1})  # depth: of the whole
            return made, found.weak

        real = np.float64 if self._is_double else np.float32
        made, found, note = self.descreened(planes, gray, values, holes, real)
        self._notes += [note] if note else []
        return made, found

    def descreened(
        self, planes: Array, gray: Gray, values: Values, holes: Array, real: type[np.floating[Any]] = np.float32
    ) -> tuple[Array, Found, str]:
        """Return the pixels of a picture whose planes ``values`` filters, facts, and what was found in words."""
        check_finite(planes)
        white, dtype, top = gray
        found, mixed = self._screens(planes, white)
        screens, note, dots = found
        if real != mixed.dtype:
            mixed = opponent(planes, white, real)
            if dots:
                dots.keep(mixed)
        if not screens.parts and (planes.dtype, white) == (dtype, float(top)):
            return planes.copy(), Found(np.array([(planes.min(), planes.max())], np.float64), [0.0]), note
        filtered, weak = mixed if screens.parts else planes / white, 0
        if screens.parts:
            floor = screens.floor if self.transfer.depth is None else self.transfer.floor
            own = replace(screens, depth=None).keeping_mean().of_channels(len(mixed))
            for i, plane in enumerate(mixed):  # one after the other, in its place: each step takes memory
                value, again = values(own[i % len(own)], plane)
                kept = floor * plane if floor else 0.0
                plane[...] = value
                del value
                fade_detail(plane, own[i % len(own)], values)
                np.add(np.multiply(plane, 1 - floor, out=plane), kept, out=plane)
                weak += again
            self.close()
            for rows in strips(mixed.shape[1]):
                if dots:  # what has none stays
                    mixed[:, rows] += (1 - dots.part[rows]) * (opponent(planes[:, rows], white, real) - dots.means)
                if len(mixed) == 3:
                    mixed[:, rows] = np.tensordot(OPPONENT.T.astype(mixed.dtype), mixed[:, rows], 1)
        extremes, in_white = white * np.array([(filtered.min(), filtered.max())], np.float64), Gray(1.0, dtype, top)
        region, (ramp,) = self._description.region, ramps("keep", gray=in_white)
        inside = 1.0 if region is None else region.clipped(filtered, holes, in_white)
        made, clipped, *_ = pixels(filtered, ramp, float(deviation(planes).max()) / white, dtype)
        return made, Found(extremes, [min(clipped, inside)], weak), note


def fade_detail(value: Array, transfer: Transfer, values: Values) -> None:
    """Leave less detail in a filtered plane where there is less than usual, as in flat parts."""

    def blurred(plane: Array, deviation: float) -> Array:
        return values(lowpass(f"{np.sqrt(np.log(2) / 2) / np.pi / deviation}cyc", shape="gaussian"), plane)[0]

    above, is_own = value, False
    for blur, noise, before, usual, kept in chain(*(part.bands for part in transfer.parts if isinstance(part, Curve))):
        below = blurred(above, blur)
        detail = np.subtract(above, below, out=above if is_own else None)
        square = np.square(detail)
        exponent = int(np.frexp(square.max())[1])  # scaled in place: the filter would make a copy for it
        powers = blurred(scaled(square, -exponent, out=square), WINDOW * blur)
        del square
        for rows in strips(len(detail)):
            power = np.maximum(scaled(powers[rows], exponent) - noise, 0)
            gain = np.minimum(power / np.maximum(power + before, TINY), MOST * usual)
            detail[rows] *= (kept + (1 - kept) * gain) / (kept + (1 - kept) * usual + TINY) - 1
        del powers  # before the next ones are made
        detail -= detail.mean()
        value += detail
        above, is_own = below, True
