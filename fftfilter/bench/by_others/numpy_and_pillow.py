"""The high-pass with NumPy and Pillow, in processes."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from PIL import Image

from .pool import Task, do_all


@cache
def mask(height: int, width: int) -> Any:
    """Return what passes: frequencies of at least n/8."""
    n = min(height, width)
    return np.hypot(np.fft.fftfreq(height)[:, None] * n, np.fft.rfftfreq(width) * n) >= n / 8


def work(task: Task) -> None:
    """Read, filter and write files."""
    for name in task.names:
        with Image.open(task.pictures / name) as picture:
            pixels = np.asarray(picture, np.float32)
        spectrum = np.fft.rfft2(pixels)
        spectrum *= mask(*pixels.shape)
        values = np.abs(np.fft.irfft2(spectrum, s=pixels.shape))
        values *= 255 / values.max()
        values += 1 / 4096
        Image.fromarray(values.astype(np.uint8)).save(task.target / name, compress_level=task.level)


if __name__ == "__main__":
    do_all(work)
