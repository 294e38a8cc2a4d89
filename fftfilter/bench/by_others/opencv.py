"""The high-pass with OpenCV, filter and codecs, in processes."""

from __future__ import annotations

from functools import cache
from typing import Any

import cv2
import numpy as np

from .pool import Task, do_all


@cache
def mask(height: int, width: int) -> Any:
    """Return what passes, as OpenCV packs half a spectrum into as many reals as the image has.

    Real and imaginary part lie side by side; one above the other in the first column and, of an even width, the last.
    """
    n = min(height, width)
    down = np.abs(np.fft.fftfreq(height) * n)
    gain = np.empty((height, width), np.float32)
    for column in range(width):
        across = (column + 1) // 2 / width * n
        alone = column == 0 or (width % 2 == 0 and column == width - 1)
        gain[:, column] = np.hypot(down[(np.arange(height) + 1) // 2] if alone else down, across) >= n / 8
    return gain


def options(name: str, level: int) -> list[int]:
    """Return how to write a file: at level 1 OpenCV's own choice for PNG, which is that level and quicker yet."""
    return [cv2.IMWRITE_PNG_COMPRESSION, level] if name.endswith(".png") and level != 1 else []


def work(task: Task) -> None:
    """Read, filter and write files: one core a process, so OpenCV's own threads stay out of the way."""
    cv2.setNumThreads(1)
    for name in task.names:
        pixels: Any = cv2.imread(str(task.pictures / name), cv2.IMREAD_GRAYSCALE)
        spectrum = cv2.dft(pixels.astype(np.float32))
        cv2.multiply(spectrum, mask(*pixels.shape), dst=spectrum)
        values = np.abs(cv2.idft(spectrum, flags=cv2.DFT_SCALE))
        values *= 255 / values.max()
        values += 1 / 4096
        cv2.imwrite(str(task.target / name), values.astype(np.uint8), options(name, task.level))


if __name__ == "__main__":
    do_all(work)
