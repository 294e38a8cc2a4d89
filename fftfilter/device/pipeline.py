"""What every pipeline offers, staged or fused."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np

    from ..output.histogram import Ramps
    from ..output.stack import Stack
    from ..transfer import Transfer
    from .launcher import Launcher

    Array = np.ndarray[Any, Any]


class Pipeline(Protocol):
    """The whole filter for stacks of one kind, ready on a device."""

    weak: float
    """Results below this part of the input's deviation times the mean gain need double precision (``rounding.py``)."""

    def run(self, images: Array, ramps: Ramps = None) -> Array:
        """Return the filtered images ``(count, height, width)``: their pixels on the ramp of each picture.

        Without ramps (``output/ramp.py``) they are what the stack says: magnitudes, each picture with its own range, or
        filtered values as they are.
        """

    def extremes(self) -> Array:
        """Return the smallest and largest magnitude of each picture of the last run, ``(pictures, 2)``."""

    def clipped(self) -> Array:
        """Return the part of each picture's samples that the last run clipped to black or white, ``(pictures,)``."""

    def undecided(self) -> list[float]:
        """Return how many samples of each picture are undecided, divided by how many may be (``rounding.py``)."""

    def deviations(self) -> Array:
        """Return the largest deviation from its offset of each picture of the last run, ``(pictures,)``."""


MakePipeline = Callable[["Launcher", "Transfer", "Stack"], Pipeline]
"""Raises TooLargeError, before anything is allocated, for a stack that the device cannot hold."""
