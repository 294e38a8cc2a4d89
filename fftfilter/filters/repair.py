"""Repair of weak results: a picture of which little passes is filtered once more, in double precision.

Rounding in single precision grows with the deviations of the input, and shows where what passes is much smaller.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..errors import TooLargeError
from ..output.ground import mean_deviation, spread
from ..output.noise import NOISE
from .description import describe

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ..device.pipeline import Pipeline
    from ..fused.gpu.stream import Started
    from .call import Call, Found, Prepared
    from .description import Description

    Array = NDArray[Any]

# Floats of more bits lose some on their way into a single one: as much as if their deviation were this part of them.
LOST_AS_SINGLE = 0.1
# The algorithm of what is filtered once more in double precision: the fastest on most devices.
IN_DOUBLE = "stockham"


class Repair:
    """Finds the weak results of a filter's calls and replaces them.

    ``prepare`` returns a filter prepared for double precision on the same device.
    """

    def __init__(self, description: Description, prepare: Callable[[Description], Prepared]) -> None:
        self._description, self._prepare = description, prepare
        self._in_double: Prepared | None = None
        # Of the last size.
        self._mean_gain = lru_cache(1)(partial(_mean_gain, description))
        self._gain_of_constants = lru_cache(1)(partial(_gain_of_constants, description))

    def repeat(self, call: Call, done: Pipeline | Started, largest: Array, result: Array, found: Found) -> int:
        """Filter pictures whose results are too weak once more; return how many these were.

        ``largest`` is the largest magnitude of each picture, in the pixels' units. What is right replaces the pixels in
        ``result``, and the extremes and the clipped part in ``found``.
        """
        limit, deviations, least, weak = call.pipeline.weak, done.deviations(), 0.0, 0
        factor = self._description.transfer.largest
        images, exponents = call.pixels if done is call.pipeline else cast("Started", done).images(), call.exponents
        is_above_noise = largest > NOISE / 2 * deviations
        if call.is_rounded:
            images, exponents, least = call.given, np.zeros_like(exponents), LOST_AS_SINGLE
            is_above_noise[:] = True  # or not: only what was given can tell
        for i in np.flatnonzero(is_above_noise & (largest < limit * np.maximum(deviations, least))):
            own = slice(None) if call.stack.one_scale else slice(i, i + 1)
            # Rounding grows with the mean of all deviations, not with the largest, as that of a hot pixel. The mean of
            # a wave is 1/sqrt 2.
            mean, size = np.sqrt(2) * spread(images[own]).max(), images.shape[1:]
            # What goes through the transforms at the frequency 0 may cancel what went around them.
            with np.errstate(over="ignore", invalid="ignore"):  # beyond doubles, it is done again
                at_dc = np.abs(mean_deviation(images[own])).max() * self._gain_of_constants(size)
            to_pixels = exponents[i] - call.exponents[i]
            mean, at_dc = np.ldexp(mean, to_pixels), abs(np.ldexp(at_dc, to_pixels)) / factor
            if mean == 0 or largest[i] >= limit * max(self._mean_gain(size) * max(mean, least), at_dc):
                continue
            again = images[own]
            if exponents[i]:
                again = np.ldexp(again.astype(np.float64), exponents[i])
            with suppress(TooLargeError):
                result[own], of_it = self._double().call(again, 0 if call.stack.one_scale else None, call.of_pixels)
                found.extremes[i], found.clipped[i] = of_it.extremes[0], of_it.clipped[0]
                weak += 1
        return weak

    def _double(self) -> Prepared:
        """Return the same filter in double precision, by the staged pipeline."""
        if self._in_double is None:
            own = self._description
            options = {"engine": IN_DOUBLE, "precision": "double", "output": own.output, "scale": own.scale}
            self._in_double = self._prepare(describe(own.transfer, {**options, "edges": own.edges}))
        return self._in_double

    def close(self) -> None:
        """Release the device's memory."""
        if self._in_double is not None:
            self._in_double.close()


def _gain_of_constants(description: Description, size: tuple[int, int]) -> float:
    """Return H(0) on the grid of a size."""
    return description.grid(*size).at_dc()


def _mean_gain(description: Description, size: tuple[int, int]) -> float:
    """Return the root of the mean square of the gains, of which none exceeds 1."""
    gains = description.grid(*size).gain() / description.transfer.largest
    return float(np.sqrt(np.mean(gains * gains)))
