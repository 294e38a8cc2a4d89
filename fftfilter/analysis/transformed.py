"""The transforms of a plane of real numbers, in single precision: NumPy's, or the fused engine's of large planes."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from ..errors import DeviceError, TooLargeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Numbers of a plane whose transform takes NumPy 0.2 s, and more if a side has a large prime factor. Opening a device
# takes as long; then it takes a tenth of that.
LARGE = 1 << 23


def forward(plane: NDArray[np.float32], device: str | int | None = None) -> NDArray[np.complex64]:
    """Return the transform of a real plane, kx from 0 up; ``device`` is that of large ones, as for :class:`Filter`."""
    if plane.size >= LARGE:
        # Without a device, or on one that is too small, NumPy is slow but right.
        with suppress(DeviceError, TooLargeError):
            from ..transforms import rfft2

            return rfft2(plane, device=device)
    return np.asarray(np.fft.rfft2(plane)).astype(np.complex64, copy=False)


def backward(
    half: NDArray[np.complex64], shape: tuple[int, int], device: str | int | None = None
) -> NDArray[np.float32]:
    """Return the real plane of a shape ``(height, width)`` whose transform is given; ``device`` as for forward."""
    if half.size >= LARGE // 2:
        with suppress(DeviceError, TooLargeError):
            from ..transforms import irfft2

            return irfft2(half, s=shape, device=device)
    return np.asarray(np.fft.irfft2(half, s=shape)).astype(np.float32, copy=False)
