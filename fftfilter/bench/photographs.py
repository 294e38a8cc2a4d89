"""Many different pictures like photographs, made from the few in ``samples/``."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .. import images
from ..errors import RefusedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Gray = NDArray[np.uint8]

_SAMPLES = Path(__file__).parents[2] / "samples"
_TILE = 256


def photograph(number: int, side: int) -> Gray:
    """Return picture ``number`` of its size, (side, side), the same in each run.

    It is laid out with pieces of the samples, turned and darkened at random, so that it takes a codec as long as a
    photograph does. Raises RefusedError without the samples, which only a clone has.
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
    """Return the samples, color as its green."""
    files = sorted(file for file in _SAMPLES.glob("*.p?m")) + sorted(_SAMPLES.glob("*.png"))
    if not files:
        raise RefusedError(f"{_SAMPLES}: no pictures to measure with; run this from a clone, whose samples/ has some")
    return [planes[len(planes) // 2] for planes in (images.read(file).planes for file in files)]
