"""``python -m benchmarks.transforms``: the same plain FFTs by this program and by other libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from fftfilter.arrays import Array
from fftfilter.bench.measure import Setting, complex_numbers
from fftfilter.device.launcher import Launcher
from fftfilter.fused import Shape as Transformed
from fftfilter.fused.gpu.plain_fft import GpuTransform

from .beside import CORES, CPU_NOTE, SQUARES, Call, Peer, Shape, on_host, resident, shown_size, table_of, timed
from .command import benchmark_command, main, size_option


@benchmark_command
@size_option("six sizes on a CPU, seven on a GPU")
def command(setting: Setting, *, shapes: tuple[tuple[int, int], ...]) -> None:
    """Time the same FFTs by fftfilter and other libraries.

    Measures fft2, ifft2, rfft2, irfft2 and fft of rows by wall time, in turn, for the installed libraries: on a CPU
    NumPy, SciPy, pyFFTW, mkl_fft and PyTorch; on a GPU planned cuFFT by CuPy, with data that stay there.

    \b
    Example: python -m benchmarks.transforms
             python -m benchmarks.transforms --size 1531x1021
    """
    transforms(setting, shapes=shapes)


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


def transforms(setting: Setting, *, shapes: Sequence[tuple[int, int]] = ()) -> None:
    """Measure the milliseconds of plain FFTs by each peer, for arrays ``(height, width)``."""
    prepare, usual, note = transforms_on_host, (*SQUARES, (1, 1000, 1500), (1, 1021, 1531)), CPU_NOTE
    if setting.device.is_gpu:
        usual = (*SQUARES, (1, 8192, 8192), (1, 1000, 1500), (64, 512, 512))
        prepare, note = transforms_on_gpu, "Data stay on the device."
    table = table_of(setting, "The same transforms by fftfilter and its peers", ("size", "transform", "who"), note)
    for shape in [(1, *each) for each in shapes] or usual:
        size = shown_size(shape)
        for case in cases(shape, setting.launcher().real):
            setting.progress(f"{size}: {case.name}")
            found = list(prepare(setting, case))
            wanted = case.by("numpy.fft")()
            for name, cells in timed(setting, found, wanted).items():
                table.put((size, case.name, name), pixels=wanted.size, **cells)


def transforms_on_host(setting: Setting, case: Case) -> Iterator[Peer]:
    """Return the peers on a CPU."""
    ours = case.by("fftfilter", device=setting.device.index, precision=setting.precision)
    return on_host(ours, TRANSFORMS, case)


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
    yield resident(launcher, case.source, found, made.target_bytes, partial(made.enqueue, scale=scale))
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


if __name__ == "__main__":
    main(command)
