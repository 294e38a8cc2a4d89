"""The high-pass with OpenCV, its filter and its codecs, in processes."""

from __future__ import annotations

from functools import cache
from typing import Any

import cv2
import numpy as np

from .pool import Chunk, filter_all


@cache
def mask(height: int, width: int) -> Any:
    """Return the mask of the half spectrum, which OpenCV packs into as many reals as the image has.

    Real and imaginary part are side by side, but one above the other in the first column and, for an even width, in
    the last.
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
    """Return the parameters of imwrite; at level 1 none, since OpenCV's default for PNG is that level, and faster."""
    return [cv2.IMWRITE_PNG_COMPRESSION, level] if name.endswith(".png") and level != 1 else []


def work(chunk: Chunk) -> None:
    """Read, filter and write files, without OpenCV's own threads: every process has one core."""
    cv2.setNumThreads(1)
    for name in chunk.names:
        pixels: Any = cv2.imread(str(chunk.inputs / name), cv2.IMREAD_GRAYSCALE)
        spectrum = cv2.dft(pixels.astype(np.float32))
        cv2.multiply(spectrum, mask(*pixels.shape), dst=spectrum)
        values = np.abs(cv2.idft(spectrum, flags=cv2.DFT_SCALE))
        values *= 255 / values.max()
        values += 1 / 4096
        cv2.imwrite(str(chunk.target / name), values.astype(np.uint8), options(name, chunk.level))


if __name__ == "__main__":
    filter_all(work)
