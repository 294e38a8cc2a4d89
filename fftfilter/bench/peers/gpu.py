"""The peers on a GPU: everything stays on the device."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from ...device.launcher import Launcher
from ...fused.gpu.pipeline import FusedGpuPipeline
from ...output.rounding import NUDGE
from ...output.stack import Stack
from ..measure import OURS, Peer
from .cpu import half_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ...transfer import Transfer
    from ..benchmark import Setting

    Array = np.ndarray[Any, Any]
    Pair = tuple[Callable[[], object], Callable[[], object]]

PAIR = "cufft pair"
# A filter that computes every frequency moves so many bytes a pixel through a GPU's memory: 1 in, 4 four times around
# the columns, 4 for the scale, 1 out.
BYTES_A_PIXEL = 22
COPY = f"{BYTES_A_PIXEL} bytes a pixel"


def peers(setting: Setting, stack: Array, transfer: Transfer) -> Iterator[Peer]:
    """Yield this program, the libraries that are installed, and a copy, for a stack ``(count, height, width)``."""
    yield fftfilter(setting, stack, transfer)
    half = half_of(transfer.gain(*stack.shape[1:]))
    if find_spec("cupy") is not None:
        yield from _cupy(stack, half)
    if find_spec("torch") is not None:
        import torch

        if torch.cuda.is_available():
            yield _torch(stack, half)
    if find_spec("pyvkfft") is not None and find_spec("cupy") is not None:
        yield from _vkfft(stack, half)
    yield copy(setting, stack)


def fftfilter(setting: Setting, stack: Array, transfer: Transfer) -> Peer:
    """Return this program's fused pipeline on resident data."""
    launcher = Launcher(setting.device)
    count, height, width = stack.shape
    pipeline = FusedGpuPipeline(launcher, transfer, Stack(count, height, width, stack.dtype, stack.dtype, white=255))
    image, output = launcher.allocate(stack.nbytes), launcher.allocate(stack.nbytes)
    launcher.write(image, stack)

    def result() -> Array:
        picture = np.empty_like(stack)
        launcher.read(picture, output)
        return picture

    return Peer(OURS, lambda: pipeline.enqueue(image, output), launcher.queue.finish, result)


def copy(setting: Setting, stack: Array) -> Peer:
    """Return a copy on the device that reads and writes ``BYTES_A_PIXEL`` in all."""
    launcher = Launcher(setting.device)
    source, target = (launcher.allocate(BYTES_A_PIXEL // 2 * stack.size) for _ in range(2))
    return Peer(COPY, lambda: launcher.copy(target, source), launcher.queue.finish)


def _cupy(stack: Array, half: Array) -> Iterator[Peer]:
    """Yield planned cuFFT with fused pointwise kernels, and the bare pair of transforms."""
    import cupy
    import cupyx.scipy.fft as cufft

    def planned(values: Any, spectrum: Any) -> Pair:
        forward = cufft.get_fft_plan(values, axes=(1, 2), value_type="R2C")
        back = cufft.get_fft_plan(spectrum, shape=stack.shape[1:], axes=(1, 2), value_type="C2R")
        return (
            lambda: forward.fft(values, spectrum, cupy.cuda.cufft.CUFFT_FORWARD),
            lambda: back.fft(spectrum, values, cupy.cuda.cufft.CUFFT_INVERSE),
        )

    return _on_cupy("cupy", stack, half, planned, bare=PAIR)


def _vkfft(stack: Array, half: Array) -> Iterator[Peer]:
    from pyvkfft.cuda import VkFFTApp

    def planned(values: Any, spectrum: Any) -> Pair:
        app = VkFFTApp(stack.shape, np.float32, ndim=2, r2c=True, inplace=False)
        return lambda: app.fft(values, spectrum), lambda: app.ifft(spectrum, values)

    return _on_cupy("vkfft", stack, half, planned)


def _on_cupy(
    name: str, stack: Array, half: Array, planned: Callable[[Any, Any], Pair], bare: str | None = None
) -> Iterator[Peer]:
    """Yield the high-pass with the given transforms of CuPy's arrays.

    And, if there is a name for the two ``bare`` ones, these alone, and the high-pass as a CUDA graph.
    """
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
    forward, back = planned(values, spectrum)

    def call() -> None:
        load(pixels, values)
        forward()
        multiply(mask, spectrum)
        back()
        quantize(values, largest(values, **over), np.float32(NUDGE), levels)

    def result() -> Array:
        return np.asarray(cupy.asnumpy(levels))

    finish = cupy.cuda.Device().synchronize
    yield Peer(name, call, finish, result)
    if bare:
        yield Peer(f"{name} graph", _as_graph(call), finish, result)
        yield Peer(bare, lambda: (forward(), back()), finish)


def _as_graph(call: Callable[[], object]) -> Callable[[], object]:
    """Return what launches all that a call launches at once, as a CUDA graph."""
    import cupy

    # What the call allocates stays the graph's: nobody else has this pool.
    stream, pool = cupy.cuda.Stream(non_blocking=True), cupy.cuda.MemoryPool()
    with stream, cupy.cuda.using_allocator(pool.malloc):
        call()  # compiles, and allocates all: neither may be captured
        stream.begin_capture()
        call()
        graph = stream.end_capture()
    return lambda: (graph.launch(stream), pool)


def _torch(stack: Array, half: Array) -> Peer:
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

    return Peer("torch", call, torch.cuda.synchronize, lambda: np.asarray(levels.cpu().numpy()))
