"""Pictures of the pipeline's intermediate results, as the book's Figures 6.3, 6.4 and 6.7."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import WriteError
from ...images import Picture, write

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Array = NDArray[Any]


def log_magnitude(spectrum: Array, largest: float | None = None) -> NDArray[np.uint8]:
    """Return ``log(1 + |spectrum|)`` as 8 bits, DC in the middle of the last two axes.

    ``largest`` is the magnitude that becomes white, by default the spectrum's own largest.
    """
    centered = np.abs(np.fft.fftshift(spectrum, axes=(-2, -1))).astype(np.float64)
    white = float(centered.max()) if largest is None else largest
    return np.asarray(255 * np.log1p(centered) / np.log1p(white or 1.0)).astype(np.uint8)


def _scaled(values: Array) -> NDArray[np.uint8]:
    return np.asarray(255 * (values / (values.max() or 1))).astype(np.uint8)


class StagePictures:
    """Writes each result that a pipeline shows it as a numbered PNG in a folder.

    Spectra are upright with DC in the middle; the filtered spectrum has the scale of the whole one, so that
    the two can be compared. The filtered image is shown with its negative values, its smallest black.
    Half-way results are log-magnitudes as they lie in memory.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WriteError(f"{folder}: cannot be made ({error.strerror}): give another folder") from error
        self._folder = folder
        self._count = 0
        self._largest: float | None = None

    def __call__(self, name: str, planes: Array) -> None:
        """Save planes ``(channels, height, width)`` as ``NN-name.png``."""
        if name.startswith("spectrum"):
            upright = planes.swapaxes(1, 2)
            if self._largest is None:
                self._largest = float(np.abs(upright).max())
            pixels = log_magnitude(upright, self._largest)
        elif name == "filtered":
            pixels = _scaled(planes.real - min(0, planes.real.min()))
        elif name in ("image", "magnitude", "output"):
            pixels = _scaled(np.abs(planes))
        else:
            pixels = _scaled(np.log1p(np.abs(planes)))
        self._count += 1
        channels = pixels if len(pixels) in (1, 3) else pixels[:1]
        write(Picture(channels, None, 255, "PNG"), self._folder / f"{self._count:02}-{name}.png")
