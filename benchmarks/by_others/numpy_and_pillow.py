"""The high-pass with NumPy and Pillow, in processes."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from PIL import Image

from .pool import Chunk, filter_all


@cache
def mask(height: int, width: int) -> Any:
    """Return the mask of the half spectrum: frequencies from n/8 pass."""
    n = min(height, width)
    return np.hypot(np.fft.fftfreq(height)[:, None] * n, np.fft.rfftfreq(width) * n) >= n / 8


def work(chunk: Chunk) -> None:
    """Read, filter and write files."""
    for name in chunk.names:
        with Image.open(chunk.inputs / name) as picture:
            pixels = np.asarray(picture, np.float32)
        spectrum = np.fft.rfft2(pixels)
        spectrum *= mask(*pixels.shape)
        values = np.abs(np.fft.irfft2(spectrum, s=pixels.shape))
        values *= 255 / values.max()
        values += 1 / 4096
        Image.fromarray(values.astype(np.uint8)).save(chunk.target / name, compress_level=chunk.level)


if __name__ == "__main__":
    filter_all(work)
