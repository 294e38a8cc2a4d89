"""Many different pictures like photographs, made from the few in ``samples/``."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from fftfilter import images

from .environment import CLONE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Gray = NDArray[np.uint8]

_TILE = 256


def photograph(number: int, side: int) -> Gray:
    """Return picture ``number`` of its size, ``(side, side)``, the same in every run.

    It consists of pieces of the samples, turned and darkened at random, so that coding it takes as long as coding a
    photograph.
    """
    rng = np.random.default_rng([side, number])
    whole = -(-side // _TILE) * _TILE
    picture = np.empty((whole, whole), np.uint8)
    for top in range(0, whole, _TILE):
        for left in range(0, whole, _TILE):
            sample = _samples()[rng.integers(len(_samples()))]
            y, x = (int(rng.integers(length - _TILE + 1)) for length in sample.shape)
            piece = np.rot90(sample[y : y + _TILE, x : x + _TILE], int(rng.integers(4)))
            picture[top : top + _TILE, left : left + _TILE] = piece * rng.uniform(0.7, 1)
    return picture[:side, :side]


@cache
def _samples() -> list[Gray]:
    """Return the samples, of those in color the green channel."""
    files = [*sorted((CLONE / "samples").glob("*.p?m")), *sorted((CLONE / "samples").glob("*.png"))]
    return [planes[len(planes) // 2] for planes in (images.read(file).planes for file in files)]
