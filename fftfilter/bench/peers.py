"""The same job by other libraries, each in its best setting: 8-bit image in, high-passed 8-bit image out.

A peer is prepared once for one size (plans, masks, buffers) and then called again and again. On the CPU it takes
and gives arrays in the host's memory; on the GPU everything stays on the device, and ``finish`` waits for it.
Real transforms in single precision, all cores. Only the peers that are installed take part.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from ..output.pixels import NUDGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Array = np.ndarray[Any, Any]
    Pair = tuple[Callable[[], object], Callable[[], object]]

CORES = os.cpu_count() or 1


@dataclass
class Job:
    """A peer ready for one size: ``call`` filters, ``finish`` waits until that is done, ``result`` is the picture.

    ``result`` is None for what only transforms and makes no picture.
    """

    name: str
    call: Callable[[], object]
    finish: Callable[[], object]
    result: Callable[[], Array] | None


def cpu_jobs(image: Array, gain: Array) -> Iterator[Job]:
    """Yield a job for each library of the CPU; ``gain`` is the mask ``(height, width)``, DC in the corner."""
    width = image.shape[1]
    half = np.ascontiguousarray(gain[:, : width // 2 + 1], np.float32)
    makers: dict[str, Callable[[], Callable[[], Array]]] = {
        "numpy": lambda: _numpy(image, half),
        "scipy": lambda: _scipy(image, half),
        "pyfftw": lambda: _pyfftw(image, half),
        "mkl_fft": lambda: _mkl_fft(image, half),
        "cv2": lambda: _opencv(image, np.asarray(gain, np.float32)),
        "torch": lambda: _torch(image, half),
    }
    for name, make in makers.items():
        if find_spec(name) is not None:
            call = make()
            yield Job(name, call, _nothing, call)


def _nothing() -> None:
    """Wait for nothing: a call on the CPU returns when it is done."""


def _levels(values: Array) -> Array:
    """Return real values as the normalized magnitude in 8 bits, in place as far as it goes."""
    np.abs(values, out=values)
    largest = values.max()
    values *= np.float32(255) / largest if largest > 0 else np.float32(0)
    values += np.float32(NUDGE)
    return values.astype(np.uint8)


def _numpy(image: Array, half: Array) -> Callable[[], Array]:
    def call() -> Array:
        spectrum = np.fft.rfft2(image.astype(np.float32))
        spectrum *= half
        return _levels(np.fft.irfft2(spectrum, s=image.shape))

    return call


def _scipy(image: Array, half: Array) -> Callable[[], Array]:
    import scipy.fft

    def call() -> Array:
        spectrum = scipy.fft.rfft2(image.astype(np.float32), workers=CORES, overwrite_x=True)
        spectrum *= half
        return _levels(scipy.fft.irfft2(spectrum, s=image.shape, workers=CORES, overwrite_x=True))

    return call


def _pyfftw(image: Array, half: Array) -> Callable[[], Array]:
    import pyfftw

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


def _mkl_fft(image: Array, half: Array) -> Callable[[], Array]:
    from mkl_fft.interfaces import numpy_fft

    def call() -> Array:
        spectrum = numpy_fft.rfft2(image.astype(np.float32))
        spectrum *= half
        return _levels(numpy_fft.irfft2(spectrum, s=image.shape))

    return call


def _opencv(image: Array, gain: Array) -> Callable[[], Array]:
    import cv2

    cv2.setNumThreads(CORES)
    height, width = image.shape
    # OpenCV packs the half spectrum into as many reals as the image has: real and imaginary part side by side,
    # and one above the other in the first column and, of an even width, the last.
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


def _torch(image: Array, half: Array) -> Callable[[], Array]:
    import torch

    torch.set_num_threads(CORES)
    mask = torch.from_numpy(half)
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


def gpu_jobs(stack: Array, gain: Array) -> Iterator[Job]:
    """Yield a job for each library of the GPU; ``stack`` is ``(count, height, width)``."""
    half = np.ascontiguousarray(gain[:, : stack.shape[2] // 2 + 1], np.float32)
    if find_spec("cupy") is not None:
        yield from _cupy(stack, half)
    if find_spec("torch") is not None:
        import torch

        if torch.cuda.is_available():
            yield _torch_cuda(stack, half)
    if find_spec("pyvkfft") is not None and find_spec("cupy") is not None:
        yield from _vkfft(stack, half)


def _cupy(stack: Array, half: Array) -> Iterator[Job]:
    """Yield the planned job with fused pointwise kernels, and the bare pair of transforms."""
    import cupy
    import cupyx.scipy.fft as cufft

    def planned(values: Any, spectrum: Any) -> Pair:
        there = cufft.get_fft_plan(values, axes=(1, 2), value_type="R2C")
        back = cufft.get_fft_plan(spectrum, shape=stack.shape[1:], axes=(1, 2), value_type="C2R")
        return (
            lambda: there.fft(values, spectrum, cupy.cuda.cufft.CUFFT_FORWARD),
            lambda: back.fft(spectrum, values, cupy.cuda.cufft.CUFFT_INVERSE),
        )

    return _on_cupy("cupy", stack, half, planned, bare="cufft pair")


def _vkfft(stack: Array, half: Array) -> Iterator[Job]:
    from pyvkfft.cuda import VkFFTApp

    def planned(values: Any, spectrum: Any) -> Pair:
        app = VkFFTApp(stack.shape, np.float32, ndim=2, r2c=True, inplace=False)
        return lambda: app.fft(values, spectrum), lambda: app.ifft(spectrum, values)

    return _on_cupy("vkfft", stack, half, planned)


def _on_cupy(
    name: str, stack: Array, half: Array, planned: Callable[[Any, Any], Pair], bare: str | None = None
) -> Iterator[Job]:
    """Yield the job around transforms of CuPy's arrays, there and back, and if it has a name the two alone."""
    import cupy

    pixels, mask = cupy.asarray(stack), cupy.asarray(half)
    values = cupy.empty(stack.shape, cupy.float32)
    spectrum = cupy.empty((len(stack), *half.shape), cupy.complex64)
    levels = cupy.empty(stack.shape, cupy.uint8)
    load = cupy.ElementwiseKernel("uint8 a", "float32 b", "b = a", "load")
    multiply = cupy.ElementwiseKernel("float32 gain", "complex64 z", "z = z * gain", "multiply")
    largest = cupy.ReductionKernel("float32 x", "float32 m", "fabsf(x)", "max(a, b)", "m = a", "0", "largest")
    quantize = cupy.ElementwiseKernel(
        "float32 a, float32 m, float32 nudge",
        "uint8 o",
        "o = (unsigned char)min(fabsf(a) * 255.0f / m + nudge, 255.0f)",
        "quantize",
    )
    # One image is reduced as a whole: along its axes CuPy would leave it to a single group.
    over = {} if len(stack) == 1 else {"axis": (1, 2), "keepdims": True}
    there, back = planned(values, spectrum)

    def call() -> None:
        load(pixels, values)
        there()
        multiply(mask, spectrum)
        back()
        quantize(values, largest(values, **over), np.float32(NUDGE), levels)

    finish = cupy.cuda.Device().synchronize
    yield Job(name, call, finish, lambda: np.asarray(cupy.asnumpy(levels)))
    if bare:
        yield Job(bare, lambda: (there(), back()), finish, None)


def _torch_cuda(stack: Array, half: Array) -> Job:
    import torch

    pixels, mask = (torch.from_numpy(array).cuda() for array in (stack, half))
    levels = torch.empty_like(pixels)

    def call() -> None:
        spectrum = torch.fft.rfft2(pixels.float())
        spectrum *= mask
        values = torch.fft.irfft2(spectrum, s=stack.shape[1:]).abs_()
        values *= 255 / values.amax(dim=(1, 2), keepdim=True)
        values += NUDGE
        levels.copy_(values)

    return Job("torch", call, torch.cuda.synchronize, lambda: np.asarray(levels.cpu().numpy()))
