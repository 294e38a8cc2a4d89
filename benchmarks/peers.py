"""``python -m benchmarks.peers``: the same high-pass by this program and by other libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import click
import numpy as np

from fftfilter.arrays import Array
from fftfilter.bench.measure import Setting, images
from fftfilter.device.launcher import Launcher
from fftfilter.fused.gpu.pipeline import FusedGpuPipeline
from fftfilter.output.ramp import Stack
from fftfilter.output.rounding import NUDGE
from fftfilter.transfer import Transfer, highpass
from fftfilter.transfer.reference import filter_image
from fftfilter.transfer.units import RadiusLike

from .beside import CORES, CPU_NOTE, SQUARES, Call, Peer, on_host, resident, shown_size, table_of, timed
from .command import benchmark_command, main, size_option

PAIR = "cufft pair"
# What a filter that computes every frequency moves through a GPU's memory: 1 in, 4 four times around the columns, 4 for
# the scale, 1 out.
BYTES_A_PIXEL = 22
COPY = f"{BYTES_A_PIXEL} bytes a pixel"
GPU_NOTE = (
    f"Data stay on the device; {PAIR} is cuFFT's forward and inverse alone, {COPY} a copy on the device that reads and "
    "writes so many in all."
)


@benchmark_command
@size_option("seven sizes on a CPU, eleven on a GPU")
@click.option("--radius", metavar="R", help="Radius of the high-pass, as highpass takes it.  [default: n/8]")
def command(setting: Setting, *, shapes: tuple[tuple[int, int], ...], radius: str | None) -> None:
    """Time the same high-pass by fftfilter and other libraries.

    Measures wall time, in turn, of the installed libraries: on a CPU NumPy, SciPy, pyFFTW, mkl_fft, OpenCV and PyTorch;
    on a GPU CuPy with planned cuFFT, the same as a CUDA graph, cuFFT alone, PyTorch and VkFFT. The extra "peers" of
    this package installs those for the CPU.

    \b
    Example: python -m benchmarks.peers
             python -m benchmarks.peers --size 640x480 --radius 50%
    """
    peers(setting, shapes=shapes, radius=radius)


def peers(setting: Setting, *, shapes: Sequence[tuple[int, int]] = (), radius: RadiusLike | None = None) -> None:
    """Measure the milliseconds of an ideal high-pass by each peer, for images ``(height, width)``.

    This program skips the frequencies that its radius removes; the others compute all.
    """
    transfer = highpass(radius)
    prepare, usual, note = filters_on_host, (*SQUARES, (1, 1000, 1500), (1, 1080, 1920), (1, 1021, 1531)), CPU_NOTE
    if setting.device.is_gpu:
        large, oblong = ((1, 8192, 8192), (1, 16384, 16384)), ((1, 1000, 1500), (1, 1080, 1920), (1, 2160, 3840))
        usual = (*SQUARES, *large, *oblong, (64, 512, 512), (64, 1024, 1024))
        prepare, note = filters_on_gpu, GPU_NOTE
    title = "The same high-pass by fftfilter and its peers, 8-bit image to 8-bit image"
    table = table_of(setting, title, ("size", "who"), f"{str(transfer).capitalize()}. {note}")
    for shape in [(1, *each) for each in shapes] or usual:
        size = shown_size(shape)
        setting.progress(f"{size}: prepare")
        stack = images(*shape)
        gain = transfer.gain(*shape[1:])
        wanted = np.stack([filter_image(image, gain) for image in stack])
        found = list(prepare(setting, stack, transfer))
        setting.progress(f"{size}: {', '.join(peer.name for peer in found)}")
        for name, cells in timed(setting, found, wanted).items():
            table.put((size, name), pixels=stack.size, **cells)


def half_of(gain: Array) -> Array:
    """Return the gains ``(height, width)`` of the half spectrum of a real transform."""
    return np.ascontiguousarray(gain[:, : gain.shape[1] // 2 + 1], np.float32)


def filters_on_host(setting: Setting, stack: Array, transfer: Transfer) -> Iterator[Peer]:
    """Return the peers on a CPU, for a stack of one image."""
    (image,) = stack
    return on_host(partial(setting.filter(transfer), image), FILTERS, image, transfer.gain(*image.shape))


def _levels(values: Array) -> Array:
    """Return the normalized magnitude of real values in 8 bits; overwrites the values."""
    np.abs(values, out=values)
    largest = values.max()
    values *= np.float32(255) / largest if largest > 0 else np.float32(0)
    values += np.float32(NUDGE)
    return values.astype(np.uint8)


def _like_numpy(module: str, image: Array, gain: Array, **options: Any) -> Call:
    """Return the filter by a module with NumPy's functions, called with ``options``."""
    fft, half = import_module(module), half_of(gain)

    def call() -> Array:
        spectrum = fft.rfft2(image.astype(np.float32), **options)
        spectrum *= half
        return _levels(fft.irfft2(spectrum, s=image.shape, **options))

    return call


def _pyfftw(image: Array, gain: Array) -> Call:
    import pyfftw

    half = half_of(gain)
    planned: Any = {"threads": CORES, "planner_effort": "FFTW_MEASURE", "avoid_copy": True}
    forward = pyfftw.builders.rfft2(pyfftw.empty_aligned(image.shape, "float32"), **planned)
    back = pyfftw.builders.irfft2(forward.output_array, image.shape, **planned)

    def call() -> Array:
        forward.input_array[:] = image
        forward.execute()
        np.multiply(forward.output_array, half, out=forward.output_array)
        back.execute()
        return _levels(back.output_array)

    return call


def _opencv(image: Array, gain: Array) -> Call:
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


def _torch(image: Array, gain: Array) -> Call:
    call = _on_torch(image, half_of(gain), "cpu")
    return lambda: np.asarray(call().numpy())


def _on_torch(stack: Array, half: Array, device: str) -> Callable[[], Any]:
    """Return the filter by PyTorch of an image or a stack that lies on a device of its own, where the result stays."""
    import torch

    torch.set_num_threads(CORES)
    pixels, mask = (torch.from_numpy(array).to(device) for array in (stack, half))

    def call() -> Any:
        spectrum = torch.fft.rfft2(pixels.float())
        spectrum *= mask
        values = torch.fft.irfft2(spectrum, s=stack.shape[-2:]).abs_()
        values *= 255 / values.amax(dim=(-2, -1), keepdim=True)
        values += NUDGE
        return values.to(torch.uint8)

    return call


FILTERS: dict[str, Callable[[Array, Array], Call]] = {
    "numpy": partial(_like_numpy, "numpy.fft"),
    "scipy": partial(_like_numpy, "scipy.fft", workers=CORES, overwrite_x=True),
    "pyfftw": _pyfftw,
    "mkl_fft": partial(_like_numpy, "mkl_fft.interfaces.numpy_fft"),
    "cv2": _opencv,
    "torch": _torch,
}
"""By the name of a library's module, a function that returns its filter for an image and gains."""


def filters_on_gpu(setting: Setting, stack: Array, transfer: Transfer) -> Iterator[Peer]:
    """Yield this program, the installed libraries, and a copy, for a stack ``(count, height, width)``."""
    launcher = Launcher(setting.device)
    count, height, width = stack.shape
    pipeline = FusedGpuPipeline(launcher, transfer, Stack(count, height, width, stack.dtype, stack.dtype, white=255))
    yield resident(launcher, stack, np.empty_like(stack), stack.nbytes, pipeline.enqueue)
    half = half_of(transfer.gain(*stack.shape[1:]))
    if find_spec("cupy") is not None:
        yield from _on_cupy(stack, half)
    if find_spec("torch") is not None:
        import torch

        if torch.cuda.is_available():
            call = _on_torch(stack, half, "cuda")
            yield Peer("torch", call, torch.cuda.synchronize, lambda: np.asarray(call().cpu().numpy()))
    read, written = (launcher.allocate(BYTES_A_PIXEL // 2 * stack.size) for _ in range(2))
    yield Peer(COPY, lambda: launcher.copy(written, read), launcher.queue.finish)


def _on_cupy(stack: Array, half: Array) -> Iterator[Peer]:
    """Yield cuFFT with fused pointwise kernels, the same as a CUDA graph, its transforms alone, and VkFFT."""
    import cupy
    import cupyx.scipy.fft as cufft

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
    # One image is reduced as a whole: along its axes, CuPy would reduce it by a single group.
    over = {} if len(stack) == 1 else {"axis": (1, 2), "keepdims": True}

    def call(forward: Callable[[], object], back: Callable[[], object]) -> None:
        load(pixels, values)
        forward()
        multiply(mask, spectrum)
        back()
        quantize(values, largest(values, **over), np.float32(NUDGE), levels)

    def result() -> Array:
        return np.asarray(cupy.asnumpy(levels))

    finish = cupy.cuda.Device().synchronize
    there = cufft.get_fft_plan(values, axes=(1, 2), value_type="R2C")
    and_back = cufft.get_fft_plan(spectrum, shape=stack.shape[1:], axes=(1, 2), value_type="C2R")
    forward = partial(there.fft, values, spectrum, cupy.cuda.cufft.CUFFT_FORWARD)
    back = partial(and_back.fft, spectrum, values, cupy.cuda.cufft.CUFFT_INVERSE)
    yield Peer("cupy", partial(call, forward, back), finish, result)
    yield Peer("cupy graph", _as_graph(partial(call, forward, back)), finish, result)
    yield Peer(PAIR, lambda: (forward(), back()), finish)
    if find_spec("pyvkfft") is not None:
        from pyvkfft.cuda import VkFFTApp

        app = VkFFTApp(stack.shape, np.float32, ndim=2, r2c=True, inplace=False)
        vkfft = partial(call, partial(app.fft, values, spectrum), partial(app.ifft, spectrum, values))
        yield Peer("vkfft", vkfft, finish, result)


def _as_graph(call: Callable[[], object]) -> Callable[[], object]:
    """Return a call that launches all kernels of another call at once, as a CUDA graph."""
    import cupy

    # Memory that the call allocates belongs to the graph alone, through a pool of its own.
    stream, pool = cupy.cuda.Stream(non_blocking=True), cupy.cuda.MemoryPool()
    with stream, cupy.cuda.using_allocator(pool.malloc):
        call()  # compiles, and allocates all: neither may be captured
        stream.begin_capture()
        call()
        graph = stream.end_capture()
    return lambda: (graph.launch(stream), pool)


if __name__ == "__main__":
    main(command)
