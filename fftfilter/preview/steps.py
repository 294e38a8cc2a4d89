"""Pictures of the pipeline's intermediate results, as the book's Figures 6.3, 6.4 and 6.7."""

from __future__ import annotations

import numpy as np

from ..arrays import Array, Pixels

# Transforms of pictures with smaller values stay within single precision.
LARGE = 1e20


def within_single(planes: Array) -> tuple[Array, float]:
    """Return planes whose transforms fit single precision, and the factor by which they were divided."""
    largest = float(np.abs(planes).max()) if planes.dtype.kind == "f" else 0.0
    return (planes / np.float32(largest), largest) if largest > LARGE else (planes, 1.0)


def log_magnitude(spectrum: Array, largest: float | None = None, *, unit: float = 1.0) -> Pixels:
    """Return ``log(1 + |spectrum| unit)`` as 8 bits, DC in the middle of the last two axes.

    ``largest`` is the magnitude of white, by default the largest in the spectrum.
    """
    centered = np.abs(np.fft.fftshift(spectrum, axes=(-2, -1))).astype(np.float64) * unit
    white = float(centered.max()) if largest is None else largest
    return np.asarray(255 * np.log1p(centered) / np.log1p(white or 1.0)).astype(np.uint8)


def _scaled(values: Array) -> Pixels:
    return np.asarray(255 * (values / (values.max() or 1))).astype(np.uint8)


class StepPictures:
    """Makes pictures of the intermediate results of a pipeline.

    Spectra are upright with DC in the middle; the filtered spectrum has the scale of the unfiltered one, so that the
    two can be compared. The filtered image is scaled from its smallest value, which may be negative. Partial results
    are log-magnitudes, as laid out in memory.
    """

    def __init__(self) -> None:
        self._largest: float | None = None

    def pixels(self, name: str, planes: Array) -> Pixels:
        """Return a result ``(channels, height, width)`` as 8 bits of one channel, or of three."""
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
        return pixels if len(pixels) in (1, 3) else pixels[:1]
