"""The table of plain FFTs by this program and by other libraries: all are checked, then timed in turn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

import fftfilter

from ..device.launcher import Launcher
from ..fused import Shape as Transformed
from ..fused.gpu.plain_fft import GpuTransform
from .benchmark import Benchmark, complex_numbers
from .measure import OURS, Peer, timed
from .peer_filters import CORES, CPU_NOTE, SQUARES, installed, shown_size, table_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..arrays import Array
    from .benchmark import Setting
    from .peer_filters import Shape


CPU_SHAPES: tuple[Shape, ...] = (*SQUARES, (1, 1000, 1500), (1, 1021, 1531))
GPU_SHAPES: tuple[Shape, ...] = (*SQUARES, (1, 8192, 8192), (1, 1000, 1500), (64, 512, 512))


@dataclass(frozen=True)
class Case:
    """``function`` of numpy.fft, applied to the stack ``source`` with the arguments ``more``; a row's ``name``."""

    name: str
    function: str
    source: Array
    more: dict[str, Any]

    def by(self, module: Any, **options: Any) -> Callable[[], Array]:
        """Return the call of a module that has NumPy's functions."""
        return partial(getattr(module, self.function), self.source, **self.more, **options)


def cases(shape: Shape, real: np.dtype[Any]) -> Iterator[Case]:
    """Yield the transforms of one size: of complex and real numbers, along both axes and along rows."""
    numbers = complex_numbers(shape, np.dtype(np.complex64 if real == np.float32 else np.complex128))
    values = np.ascontiguousarray(numbers.real)
    half = np.ascontiguousarray(numbers[:, :, : shape[2] // 2 + 1])
    yield Case("fft2", "fft2", numbers, {})
    yield Case("ifft2", "ifft2", numbers, {})
    yield Case("fft2 of real", "fft2", values, {})
    yield Case("rfft2", "rfft2", values, {})
    yield Case("irfft2", "irfft2", half, {"s": shape[1:]})
    yield Case("fft of rows", "fft", numbers, {})


def transforms(setting: Setting, *, shapes: Sequence[Shape] = ()) -> Benchmark:
    """Return the milliseconds of plain FFTs by each peer, for arrays ``(count, height, width)``."""
    is_gpu = setting.device.is_gpu
    prepare = _on_gpu if is_gpu else _on_cpu
    note = "Data stay on the device." if is_gpu else CPU_NOTE
    title = "The same transforms by fftfilter and its peers"
    table = table_of(setting, title, ("size", "transform", "who"), note)

    def steps() -> Iterator[str]:
        for shape in shapes or (GPU_SHAPES if is_gpu else CPU_SHAPES):
            size = shown_size(shape)
            for case in cases(shape, setting.launcher().real):
                yield f"{size}: {case.name}"
                found = list(prepare(setting, case))
                wanted = case.by(np.fft)()
                for name, cells in timed(setting, found, wanted).items():
                    table.put((size, case.name, name), pixels=wanted.size, **cells)

    return Benchmark(table, steps())


def _on_cpu(setting: Setting, case: Case) -> Iterator[Peer]:
    """Yield this program and the installed libraries."""
    ours: Any = {"device": setting.device.index, "precision": setting.precision}
    call = case.by(fftfilter, **ours)
    yield Peer(OURS, call, result=call)
    for name in installed(LIBRARIES):
        call = LIBRARIES[name](case)
        yield Peer(name, call, result=call)


def _pyfftw(case: Case) -> Callable[[], Array]:
    pyfftw, source = import_module("pyfftw"), case.source
    # Planning overwrites its arrays, and so does the inverse to real numbers.
    make = getattr(pyfftw.builders, case.function)
    aligned = pyfftw.empty_aligned(source.shape, source.dtype)
    planned = make(aligned, **case.more, threads=CORES, planner_effort="FFTW_MEASURE")

    def call() -> Array:
        np.copyto(planned.input_array, source)
        result: Array = planned()
        return result

    return call


def _torch(case: Case) -> Callable[[], Array]:
    torch = import_module("torch")
    torch.set_num_threads(CORES)
    source = torch.from_numpy(case.source)
    function = getattr(torch.fft, case.function)
    return lambda: function(source, **case.more).numpy()


LIBRARIES: dict[str, Callable[[Case], Callable[[], Array]]] = {
    "numpy": lambda case: case.by(np.fft),
    "scipy": lambda case: case.by(import_module("scipy.fft"), workers=CORES),
    "pyfftw": _pyfftw,
    "mkl_fft": lambda case: case.by(import_module("mkl_fft.interfaces").numpy_fft),
    "torch": _torch,
}
"""By the name of a library's module, a function that returns its transform of a case."""


def _on_gpu(setting: Setting, case: Case) -> Iterator[Peer]:
    yield resident(setting, case)
    if find_spec("cupy") is not None:
        yield _cufft(case)


def resident(setting: Setting, case: Case) -> Peer:
    """Return this program's transform of data on a GPU."""
    launcher = Launcher(setting.device)
    count, height, width = case.source.shape
    data: Any = "values" if case.function == "irfft2" else "complex" if case.source.dtype.kind == "c" else "real"
    is_half = case.function in ("rfft2", "irfft2")
    is_inverse = case.function == "ifft2"
    if case.function == "fft":
        shape = Transformed(data, "rows", 1, count * height, width)
    else:
        width = case.more["s"][-1] if "s" in case.more else width
        shape = Transformed(data, "both", count, height, width, is_inverse, is_half)
    scale = 1 / (height * width) if is_inverse or data == "values" else 1.0
    made = GpuTransform(launcher, shape)
    source, target = launcher.allocate(made.source_bytes), launcher.allocate(made.target_bytes)
    launcher.write(source, case.source)

    def result() -> Array:
        found = np.empty(shape.target, np.float32 if data == "values" else np.complex64)
        launcher.read(found, target)
        return found.reshape((count, height, shape.target[-1]))

    return Peer(OURS, lambda: made.enqueue(source, target, scale), launcher.queue.finish, result)


def _cufft(case: Case) -> Peer:
    """Return planned cuFFT by CuPy. Its inverse is not normalized, so its result is not compared."""
    import cupy
    import cupyx.scipy.fft as cufft

    source = cupy.asarray(case.source)
    axes = (2,) if case.function == "fft" else (1, 2)
    direction = cupy.cuda.cufft.CUFFT_INVERSE if case.function.startswith("i") else cupy.cuda.cufft.CUFFT_FORWARD
    if case.function == "irfft2":
        kind, made = "C2R", cupy.empty((len(source), *case.more["s"]), cupy.float32)
        plan: Any = cufft.get_fft_plan(source, shape=case.more["s"], axes=axes, value_type=kind)
    else:
        # There is no transform of real numbers to a whole spectrum: cuFFT makes half of it.
        is_real = case.source.dtype.kind == "f"
        count, height, width = source.shape
        made = cupy.empty((count, height, width // 2 + 1 if is_real else width), cupy.complex64)
        plan = cufft.get_fft_plan(source, axes=axes, value_type="R2C" if is_real else "C2C")
    return Peer("cufft", lambda: plan.fft(source, made, direction), cupy.cuda.Device().synchronize)
