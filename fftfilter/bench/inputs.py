"""What is measured with: random images and numbers, the same in every run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEED = 61


def images(*shape: int) -> NDArray[np.uint8]:
    """Return an image ``(height, width)`` or a stack ``(count, height, width)``."""
    return np.random.default_rng(SEED).integers(0, 256, shape, dtype=np.uint8)


def complex_numbers(shape: tuple[int, int, int], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return normally distributed numbers of a complex type."""
    real = np.float32 if dtype == np.complex64 else np.float64
    parts = np.random.default_rng(SEED).standard_normal((*shape[:-1], 2 * shape[-1]), dtype=real)
    return parts.view(dtype)
