"""The tables of peers: the same high-pass, and the same plain FFTs, by this program and by other libraries.

Every result is checked, then all peers are timed in turn, by the clock. On a CPU a call goes from an array to an array
in the host's memory; on a GPU all data stay on the device. Each library has its best setting: real transforms in single
precision, all cores. Only installed libraries take part.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pyopencl as cl

from ..arrays import Array
from ..device.launcher import Launcher
from ..fused import Shape as Transformed
from ..fused.gpu.pipeline import FusedGpuPipeline
from ..fused.gpu.plain_fft import GpuTransform
from ..output.ramp import Stack
from ..output.rounding import NUDGE
from ..transfer import Transfer, highpass
from ..transfer.reference import filter_image
from ..transfer.units import RadiusLike
from .measure import OURS, Peer, Setting, complex_numbers, images, timed
from .tables import Lines, Table

Call = Callable[[], Array]

Shape = tuple[int, int, int]
"""(count, height, width)"""
SQUARES: tuple[Shape, ...] = tuple((1, side, side) for side in (512, 1024, 2048, 4096))
CORES = os.cpu_count() or 1
PAIR = "cufft pair"
# What a filter that computes every frequency moves through a GPU's memory: 1 in, 4 four times around the columns, 4 for
# the scale, 1 out.
BYTES_A_PIXEL = 22
COPY = f"{BYTES_A_PIXEL} bytes a pixel"
CPU_NOTE = "From an array to an array in the host's memory."
GPU_NOTE = (
    f"Data stay on the device; {PAIR} is cuFFT's forward and inverse alone, {COPY} a copy on the device that reads and "
    "writes so many in all."
)


def shown_size(shape: Shape) -> str:
    """Return a stack's size as a table shows it."""
    count, height, width = shape
    return f"{width} x {height}" if count == 1 else f"{count} of {width} x {height}"


def _table(setting: Setting, title: str, key: tuple[str, ...], note: str) -> Table:
    """Return an empty table of peers, in which ``key`` identifies a row."""
    columns = {**{name: name for name in key}, "ms": "ms", "ratio": f"times {OURS}'s time"}
    return setting.table(title, columns, Lines(key[1:], "pixels", ("ms",), "pixels", "ms"), note)


def _on_host(ours: Call, libraries: Mapping[str, Callable[..., Call]], *work: Any) -> Iterator[Peer]:
    """Yield this program and the installed libraries, whose functions prepare some work and return its call."""
    yield Peer(OURS, ours, result=ours)
    for name, prepare in libraries.items():
        if find_spec(name) is not None:
            call = prepare(*work)
            yield Peer(name, call, result=call)


def _resident(
    launcher: Launcher, given: Array, found: Array, target_bytes: int, enqueue: Callable[[cl.Buffer, cl.Buffer], object]
) -> Peer:
    """Return this program on data that stay on the device; ``found`` takes the result."""
    source, target = launcher.allocate(given.nbytes), launcher.allocate(target_bytes)
    launcher.write(source, given)

    def result() -> Array:
        launcher.read(found, target)
        return found

    return Peer(OURS, lambda: enqueue(source, target), launcher.queue.finish, result)


# The same high-pass


def peers(
    setting: Setting, *, shapes: Sequence[tuple[int, int]] = (), radius: RadiusLike | None = None
) -> Generator[str]:
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
    table = _table(setting, title, ("size", "who"), f"{str(transfer).capitalize()}. {note}")
    for shape in [(1, *each) for each in shapes] or usual:
        size = shown_size(shape)
        yield f"{size}: prepare"
        stack = images(*shape)
        gain = transfer.gain(*shape[1:])
        wanted = np.stack([filter_image(image, gain) for image in stack])
        found = list(prepare(setting, stack, transfer))
        yield f"{size}: {', '.join(peer.name for peer in found)}"
        for name, cells in timed(setting, found, wanted).items():
            table.put((size, name), pixels=stack.size, **cells)


def half_of(gain: Array) -> Array:
    """Return the gains ``(height, width)`` of the half spectrum of a real transform."""
    return np.ascontiguousarray(gain[:, : gain.shape[1] // 2 + 1], np.float32)


def filters_on_host(setting: Setting, stack: Array, transfer: Transfer) -> Iterator[Peer]:
    """Return the peers on a CPU, for a stack of one image."""
    (image,) = stack
    return _on_host(partial(setting.filter(transfer), image), FILTERS, image, transfer.gain(*image.shape))


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
    yield _resident(launcher, stack, np.empty_like(stack), stack.nbytes, pipeline.enqueue)
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


# The same plain FFTs


@dataclass(frozen=True)
class Case:
    """``function`` of numpy.fft, applied to the stack ``source`` with the arguments ``more``; a row's ``name``."""

    name: str
    function: str
    source: Array
    more: dict[str, Any]

    def by(self, module: str, **options: Any) -> Call:
        """Return the call of a module that has NumPy's functions."""
        return partial(getattr(import_module(module), self.function), self.source, **self.more, **options)


def cases(shape: Shape, real: np.dtype[Any]) -> Iterator[Case]:
    """Yield the transforms of one size: of complex and real numbers, along both axes and along rows."""
    numbers = complex_numbers(shape, np.dtype(np.complex64 if real == np.float32 else np.complex128))
    values = np.ascontiguousarray(numbers.real)
    yield Case("fft2", "fft2", numbers, {})
    yield Case("ifft2", "ifft2", numbers, {})
    yield Case("fft2 of real", "fft2", values, {})
    yield Case("rfft2", "rfft2", values, {})
    yield Case("irfft2", "irfft2", np.ascontiguousarray(numbers[:, :, : shape[2] // 2 + 1]), {"s": shape[1:]})
    yield Case("fft of rows", "fft", numbers, {})


def transforms(setting: Setting, *, shapes: Sequence[tuple[int, int]] = ()) -> Generator[str]:
    """Measure the milliseconds of plain FFTs by each peer, for arrays ``(height, width)``."""
    prepare, usual, note = transforms_on_host, (*SQUARES, (1, 1000, 1500), (1, 1021, 1531)), CPU_NOTE
    if setting.device.is_gpu:
        usual = (*SQUARES, (1, 8192, 8192), (1, 1000, 1500), (64, 512, 512))
        prepare, note = transforms_on_gpu, "Data stay on the device."
    table = _table(setting, "The same transforms by fftfilter and its peers", ("size", "transform", "who"), note)
    for shape in [(1, *each) for each in shapes] or usual:
        size = shown_size(shape)
        for case in cases(shape, setting.launcher().real):
            yield f"{size}: {case.name}"
            found = list(prepare(setting, case))
            wanted = case.by("numpy.fft")()
            for name, cells in timed(setting, found, wanted).items():
                table.put((size, case.name, name), pixels=wanted.size, **cells)


def transforms_on_host(setting: Setting, case: Case) -> Iterator[Peer]:
    """Return the peers on a CPU."""
    ours = case.by("fftfilter", device=setting.device.index, precision=setting.precision)
    return _on_host(ours, TRANSFORMS, case)


def _transform_by_pyfftw(case: Case) -> Call:
    import pyfftw

    # Planning overwrites its arrays, and so does the inverse to real numbers.
    aligned = pyfftw.empty_aligned(case.source.shape, case.source.dtype)
    make = getattr(pyfftw.builders, case.function)
    planned = make(aligned, **case.more, threads=CORES, planner_effort="FFTW_MEASURE")

    def call() -> Array:
        np.copyto(planned.input_array, case.source)
        result: Array = planned()
        return result

    return call


def _transform_by_torch(case: Case) -> Call:
    import torch

    torch.set_num_threads(CORES)
    source, function = torch.from_numpy(case.source), getattr(torch.fft, case.function)
    return lambda: np.asarray(function(source, **case.more).numpy())


TRANSFORMS: dict[str, Callable[[Case], Call]] = {
    "numpy": lambda case: case.by("numpy.fft"),
    "scipy": lambda case: case.by("scipy.fft", workers=CORES),
    "pyfftw": _transform_by_pyfftw,
    "mkl_fft": lambda case: case.by("mkl_fft.interfaces.numpy_fft"),
    "torch": _transform_by_torch,
}
"""By the name of a library's module, a function that returns its transform of a case."""


def transforms_on_gpu(setting: Setting, case: Case) -> Iterator[Peer]:
    """Yield this program and planned cuFFT by CuPy, whose inverse is not normalized and so is not compared."""
    launcher = Launcher(setting.device)
    count, height, width = case.source.shape
    data: Any = "values" if case.function == "irfft2" else "complex" if case.source.dtype.kind == "c" else "real"
    is_inverse = case.function == "ifft2"
    if case.function == "fft":
        shape = Transformed(data, "rows", 1, count * height, width)
    else:
        width = case.more["s"][-1] if "s" in case.more else width
        shape = Transformed(data, "both", count, height, width, is_inverse, half=case.function in ("rfft2", "irfft2"))
    scale = 1 / (height * width) if is_inverse or data == "values" else 1.0
    made = GpuTransform(launcher, shape)
    found = np.empty((count, height, shape.target[-1]), np.float32 if data == "values" else np.complex64)
    yield _resident(launcher, case.source, found, made.target_bytes, partial(made.enqueue, scale=scale))
    if find_spec("cupy") is not None:
        yield _cufft(case)


def _cufft(case: Case) -> Peer:
    import cupy
    import cupyx.scipy.fft as cufft

    source = cupy.asarray(case.source)
    axes = (2,) if case.function == "fft" else (1, 2)
    direction = cupy.cuda.cufft.CUFFT_INVERSE if case.function.startswith("i") else cupy.cuda.cufft.CUFFT_FORWARD
    if case.function == "irfft2":
        made = cupy.empty((len(source), *case.more["s"]), cupy.float32)
        plan: Any = cufft.get_fft_plan(source, shape=case.more["s"], axes=axes, value_type="C2R")
    else:
        # There is no transform of real numbers to a whole spectrum: cuFFT makes half of it.
        is_real = case.source.dtype.kind == "f"
        count, height, width = source.shape
        made = cupy.empty((count, height, width // 2 + 1 if is_real else width), cupy.complex64)
        plan = cufft.get_fft_plan(source, axes=axes, value_type="R2C" if is_real else "C2C")
    return Peer("cufft", lambda: plan.fft(source, made, direction), cupy.cuda.Device().synchronize)
