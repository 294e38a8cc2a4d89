"""The peers on the CPU: from an array to an array in the host's memory."""

from __future__ import annotations

import os
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from ...output.rounding import NUDGE
from ..measure import OURS, Peer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ...transfer import Transfer
    from ..benchmark import Setting

    Array = np.ndarray[Any, Any]

CORES = os.cpu_count() or 1


def peers(setting: Setting, stack: Array, transfer: Transfer, libraries: Sequence[str] | None = None) -> Iterator[Peer]:
    """Yield this program and libraries, by default all that are installed, for a stack of one image."""
    (image,) = stack
    filter_ = setting.filter(transfer)
    yield Peer(OURS, lambda: filter_(image), result=lambda: filter_(image))
    gain = transfer.gain(*image.shape)
    for name in installed() if libraries is None else libraries:
        call = LIBRARIES[name](image, gain)
        yield Peer(name, call, result=call)


def installed() -> list[str]:
    """Return the names of the libraries that are installed."""
    return [name for name in LIBRARIES if find_spec(name) is not None]


def half_of(gain: Array) -> Array:
    """Return the gains ``(height, width)`` of the half spectrum that a real transform has."""
    return np.ascontiguousarray(gain[:, : gain.shape[1] // 2 + 1], np.float32)


def _levels(values: Array) -> Array:
    """Return the normalized magnitude of real values in 8 bits; the values are overwritten."""
    np.abs(values, out=values)
    largest = values.max()
    values *= np.float32(255) / largest if largest > 0 else np.float32(0)
    values += np.float32(NUDGE)
    return values.astype(np.uint8)


def _like_numpy(fft: Any, image: Array, gain: Array, **options: Any) -> Callable[[], Array]:
    """Return the filter by a module with NumPy's functions; ``options`` are further ones of these."""
    half = half_of(gain)

    def call() -> Array:
        spectrum = fft.rfft2(image.astype(np.float32), **options)
        spectrum *= half
        return _levels(fft.irfft2(spectrum, s=image.shape, **options))

    return call


def _scipy(image: Array, gain: Array) -> Callable[[], Array]:
    import scipy.fft

    return _like_numpy(scipy.fft, image, gain, workers=CORES, overwrite_x=True)


def _mkl_fft(image: Array, gain: Array) -> Callable[[], Array]:
    from mkl_fft.interfaces import numpy_fft

    return _like_numpy(numpy_fft, image, gain)


def _pyfftw(image: Array, gain: Array) -> Callable[[], Array]:
    import pyfftw

    half = half_of(gain)
    pixels = pyfftw.empty_aligned(image.shape, "float32")
    spectrum = pyfftw.empty_aligned(half.shape, "complex64")
    planned = {"axes": (0, 1), "threads": CORES}
    forward = pyfftw.FFTW(pixels, spectrum, flags=("FFTW_MEASURE",), **planned)
    back = pyfftw.FFTW(
        spectrum, pixels, direction="FFTW_BACKWARD", flags=("FFTW_MEASURE", "FFTW_DESTROY_INPUT"), **planned
    )

    def call() -> Array:
        pixels[:] = image
        forward.execute()
        np.multiply(spectrum, half, out=spectrum)
        back.execute()
        return _levels(pixels)

    return call


def _opencv(image: Array, gain: Array) -> Callable[[], Array]:
    import cv2

    cv2.setNumThreads(CORES)
    height, width = image.shape
    # OpenCV packs the half spectrum into as many reals as the image has: real and imaginary part side by side, but one
    # above the other in the first column and, for an even width, in the last.
    packed = np.empty((height, width), np.float32)
    for column in range(width):
        kx = (column + 1) // 2
        alone = column == 0 or (width % 2 == 0 and column == width - 1)
        packed[:, column] = gain[(np.arange(height) + 1) // 2 if alone else slice(None), kx]

    def call() -> Array:
        spectrum = cv2.dft(image.astype(np.float32))
        cv2.multiply(spectrum, packed, dst=spectrum)
        return _levels(cv2.idft(spectrum, flags=cv2.DFT_SCALE))

    return call


def _torch(image: Array, gain: Array) -> Callable[[], Array]:
    import torch

    torch.set_num_threads(CORES)
    mask = torch.from_numpy(half_of(gain))
    pixels = torch.from_numpy(image)

    def call() -> Array:
        spectrum = torch.fft.rfft2(pixels.float())
        spectrum *= mask
        values = torch.fft.irfft2(spectrum, s=image.shape).abs_()
        values *= 255 / values.max()
        values += NUDGE
        levels: Array = values.to(torch.uint8).numpy()
        return levels

    return call


LIBRARIES: dict[str, Callable[[Array, Array], Callable[[], Array]]] = {
    "numpy": partial(_like_numpy, np.fft),
    "scipy": _scipy,
    "pyfftw": _pyfftw,
    "mkl_fft": _mkl_fft,
    "cv2": _opencv,
    "torch": _torch,
}
"""By the name of its module, what makes a library's filter of an image and its gains."""
