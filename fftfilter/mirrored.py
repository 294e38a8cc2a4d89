"""Mirrored edges by any pipeline: it filters the image with its mirror images beside it, and the image is cut out.

The plain way, right for every transfer function, engine and size, and four times the work. The fused forms do with the
image alone, on GPUs for sides that a work-group holds.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .output.offset import deviation
from .output.ramp import on_ramps

if TYPE_CHECKING:
    from collections.abc import Callable

    from .device.pipeline import Pipeline
    from .output.histogram import Ramps
    from .output.stack import Stack
    from .transfer import Transfer

    Array = np.ndarray[Any, Any]


class Mirrored:
    """The whole filter for a stack of images, mirrored without end.

    ``make`` returns the pipeline of a stack that repeats; ``value`` is the type of its filtered values as they are,
    complex where a transfer function makes complex ones.
    """

    def __init__(
        self,
        make: Callable[[Transfer, Stack], Pipeline],
        transfer: Transfer,
        stack: Stack,
        value: np.dtype[Any],
    ) -> None:
        self._stack = stack
        self._whole = replace(stack, height=2 * stack.height, width=2 * stack.width, out=value, white=None)
        self._pipeline = make(transfer.on_twice_the_sides(), self._whole)
        self.weak = self._pipeline.weak
        self._clipped, self._undecided = np.zeros(stack.pictures), [0.0] * stack.pictures

    def run(self, images: Array, ramps: Ramps = None, **options: Any) -> Array:
        """Filter images ``(count, height, width)``, and return their pixels; ``options`` are those of the pipeline."""
        stack = self._stack
        values = self._pipeline.run(self._with_mirror_images(images), **options)[:, : stack.height, : stack.width]
        self._far: Array = deviation(images).reshape(stack.pictures, -1).max(axis=1)
        if values.dtype.kind == "c":
            # Only a magnitude of a picture's own range is that of complex values.
            values = np.abs(values) if ramps is None and stack.white is not None else values.real
        own = values.reshape(stack.pictures, -1, *values.shape[1:])
        self._largest = np.maximum(own.max((1, 2, 3)), -own.min((1, 2, 3)))
        if stack.white is None:
            return np.ascontiguousarray(values)
        result, self._clipped, self._undecided = on_ramps(values, stack, ramps, self._far)
        return result

    def clipped(self) -> Array:
        """Return the part of each picture's samples that the last run clipped to black or white: (pictures,)."""
        return self._clipped

    def undecided(self) -> list[float]:
        """Return how many samples of each picture are undecided, as a part of how many may be."""
        return self._undecided

    def extremes(self) -> Array:
        """Return 0 and the largest magnitude of each picture of the last run: (pictures, 2)."""
        return np.stack([np.zeros_like(self._largest), self._largest], axis=1)

    def deviations(self) -> Array:
        """Return the largest deviation from its ground of each picture of the last run: (pictures,)."""
        return self._far

    def _with_mirror_images(self, images: Array) -> Array:
        """Return ``numpy.pad(images, "symmetric")`` to twice each side."""
        height, width = self._stack.height, self._stack.width
        whole = np.empty(self._whole.shape, images.dtype)
        whole[:, :height, :width] = images
        whole[:, :height, width:] = images[:, :, ::-1]
        whole[:, height:] = whole[:, height - 1 :: -1]
        return whole
