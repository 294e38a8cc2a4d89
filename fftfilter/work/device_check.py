"""``fftfilter devices --check``: every engine and form on a device, beside the float64 reference.

A device is trusted after one small filter (``device/selftest.py``), by one form. This tries all of them, on small, odd,
prime and large sizes, and holds each to the contract (``output/rounding.py``). The form that the device is given is
also tried with all pixels and outputs. What each leaves of a wave that the filter removes is measured, too: the noise
floor (``output/rounding.py``) has to lie above the largest of these.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from .. import __version__
from ..arrays import Array
from ..device import selftest
from ..device.launcher import Launcher, MakePipeline, PageLocked
from ..device.opencl import Device
from ..errors import FftfilterError
from ..filters.pipelines import Mirrored
from ..fused import Shape, fused, plain_fft, serves_plain
from ..fused.cpu.pipeline import FusedCpuPipeline
from ..fused.gpu.pipeline import WAITING_PLATFORMS, FusedGpuPipeline, Stream
from ..missing import fill, fill_by_numpy
from ..output.histogram import ByHistogram, Ramps
from ..output.modes import Auto
from ..output.ramp import Gray, Stack, on_ramps, ramps
from ..output.rounding import Difference, deviation, transform_bound
from ..plain import NumPyPipeline
from ..staged import algorithms
from ..staged.pipeline import StagedPipeline, Transform
from ..transfer import Transfer, highpass, mask, notch, reference
from ..transfer.product import Edges, grid_with

Size = tuple[int, int]
Try = Callable[[Launcher, Size], "Found"]

# One pixel, less than a vector of a CPU, odd, primes, powers of two; (height, width).
SMALL = ((1, 1), (5, 3), (12, 10), (9, 13), (67, 61), (64, 64))
SOME = ((12, 10), (67, 61), (64, 64))
LARGE = ((512, 512), (1000, 1500), (1021, 1031))
# Longer than what a work-group of a GPU holds: of small factors, and a prime.
LONG = ((3, 20000), (20000, 3), (2, 20011))
FLOAT = np.dtype(np.float32)
OUTPUTS: tuple[Any, ...] = ("keep", "signed", "scale auto")
# The type of pixels and the output, besides the usual ones.
KINDS = {"16 bits": ("u2", "magnitude"), "floats": ("f4", "magnitude"), **{each: ("u1", each) for each in OUTPUTS}}


class Found(NamedTuple):
    """What a form gave for one size."""

    is_right: bool
    said: str  # how it differs from the reference
    # The largest error of filtered noise, as a part of its largest deviation; for a transform, the error in norm.
    error: float = 0.0
    left: float = 0.0  # what is left of a wave that the filter removes, as a part of its deviation


class Form(NamedTuple):
    """A way to filter or to transform, the sizes on which it is tried, and whether the device is given such work."""

    name: str
    sizes: Sequence[Size]
    try_: Try
    precision: str = "single"
    is_used: bool = True

    def __str__(self) -> str:
        return f"{self.name:<40} {self.precision:<9}"


class Row(NamedTuple):
    """What a form gave: the worst of its sizes, ``(height, width)``, and the largest errors of all."""

    form: Form
    size: Size
    found: Found

    def __str__(self) -> str:
        height, width = self.size
        verdict = "right" if self.found.is_right else "WRONG" if self.form.is_used else "wrong, but not used here"
        left = f"{self.found.left:.1e}" if self.found.left else "-"
        return f"{self.found.error:<9.1e} {left:<9} {verdict:<7} {width} x {height}: {self.found.said}"


HEADER = f"{'form':<40} {'precision':<9} {'error':<9} {'left':<9} {'verdict':<7} worst picture"


def facts(device: Device, properties: Mapping[str, Any]) -> str:
    """Return what a report of a fault needs to say of this machine and a device, as lines."""
    described = {
        "fftfilter": f"{__version__}, Python {platform.python_version()}, {platform.platform()}",
        "packages": ", ".join(f"{name} {version(name)}" for name in ("pyopencl", "numpy")),
        "device": f"{device.index} {device.name}",
        **{name: value for name, value in properties.items() if name not in ("index", "name")},
    }
    try:
        error = selftest.measure(device, fused)
        described["self-test"] = f"relative error {error:.1e}, at most {selftest.LARGEST_ERROR:.0e} is right"
    except FftfilterError as error:
        described["self-test"] = str(error)
    return "\n".join(f"{name:<20} {value}" for name, value in described.items() if value is not None)


def forms(device: Device) -> Iterator[Form]:
    """Yield what is tried on a device: first what it is given, then what it is not."""
    generic = partial(FusedGpuPipeline, generic=True)
    mirrored, cpu_mirrored = partial(_to_pixels, edges="mirror"), partial(FusedCpuPipeline, edges="mirror")
    by_cpu = [
        Form("fused, CPU form", (*SMALL, *LARGE, *LONG), partial(_filtered, FusedCpuPipeline)),
        Form("fused, CPU form, mirrored", (*SMALL, *LARGE), partial(mirrored, cpu_mirrored)),
    ]
    by_gpu = [
        Form("fused, GPU form, generic", (*SMALL, *LARGE), partial(_filtered, generic)),
        Form("fused, GPU form, specialized", (*SMALL, *LARGE), partial(_filtered, FusedGpuPipeline)),
        Form("fused, GPU form, in two steps", LONG, partial(_filtered, FusedGpuPipeline)),
        Form("fused, GPU form, mirrored", SMALL, partial(mirrored, partial(FusedGpuPipeline, edges="mirror"))),
        Form("fused, GPU form, a stream", ((12, 10), (512, 512)), partial(_filtered, _Streamed)),
    ]
    own, others = (by_gpu, by_cpu) if device.is_gpu else (by_cpu, by_gpu)
    makers: dict[str, MakePipeline] = {"CPU form": FusedCpuPipeline}
    if device.is_gpu:
        makers = {"GPU form, generic": generic, "GPU form, specialized": FusedGpuPipeline}
        if any(name in device.platform for name in WAITING_PLATFORMS):
            makers["GPU form, four launches"] = four = partial(FusedGpuPipeline, one_launch=False)
            own.append(Form("fused, GPU form, four launches", (*SMALL, *LARGE), partial(_filtered, four)))
    yield from own
    for (name, make), what in product(makers.items(), KINDS):
        yield Form(f"fused, {name}, {what}", (*SOME, *LARGE[:1]), partial(_to_pixels, make, kind=what))
    yield Form("fused, plain FFT", (*SMALL, *LARGE, *LONG), _transformed)
    precisions = ("single", "double") if device.fp64 else ("single",)
    for precision in precisions:
        yield Form("numpy", (*SMALL, *LARGE), partial(_filtered, NumPyPipeline), precision)
        yield Form("numpy, mirrored", SMALL, partial(mirrored, partial(NumPyPipeline, edges="mirror")), precision)
    for name in algorithms.names():
        make = partial(StagedPipeline, algorithm=algorithms.load(name))
        sizes = (*SMALL, *LARGE) if name in ("book", "stockham") else SOME
        for precision in precisions:
            yield Form(f"staged, {name}", sizes, partial(_filtered, make), precision)
    book = partial(StagedPipeline, algorithm=algorithms.load("book"))
    for precision in precisions:
        yield Form("staged, book, mirrored", SMALL, partial(mirrored, partial(_mirrored, book)), precision)
        for what in KINDS:
            yield Form(f"staged, book, {what}", SOME, partial(_to_pixels, book, kind=what), precision)
        yield Form("staged, book, plain FFT", SMALL, _transformed_by_the_book, precision)
        yield Form("missing pixels", (*SMALL, *LARGE), _completed, precision)
    yield from (form._replace(sizes=form.sizes[1:6], is_used=False) for form in others)


def check(device: Device, tried: Iterator[Form] | None = None) -> Iterator[Form | Row]:
    """Yield each form before it is tried, then the row of its worst size."""
    for form in tried or forms(device):
        yield form
        found = {}
        for size in form.sizes:
            try:
                found[size] = form.try_(Launcher(device, precision=form.precision), size)
            except FftfilterError as error:
                found[size] = Found(False, str(error))
        size, worst = max(found.items(), key=lambda pair: (not pair[1].is_right, pair[1].error))
        error_of_all, left = (max(getattr(each, name) for each in found.values()) for name in ("error", "left"))
        yield Row(form, size, worst._replace(error=error_of_all, left=left))


def _filtered(make: MakePipeline, launcher: Launcher, size: Size) -> Found:
    """Filter noise, and remove a wave."""
    return _to_pixels(make, launcher, size)._replace(left=_left_of_a_wave(make, launcher, size))


def _to_pixels(make: MakePipeline, launcher: Launcher, size: Size, edges: Edges = "wrap", kind: str = "") -> Found:
    """Filter noise to pixels of its own type, and to values as they are."""
    # With mirrored edges the slanted notch takes two inverse transforms.
    transfer = highpass() * notch((0.2, 0.1)) if edges == "mirror" else highpass()
    pixel, output = KINDS.get(kind, ("u1", "magnitude"))
    dtype, white = np.dtype(pixel), {"u1": 255, "u2": 65535, "f4": 1}[pixel]
    transfer = transfer.keeping_mean() if output == "keep" else transfer
    noise = np.random.default_rng(61).uniform(0, white, (1, *size)).astype(dtype)
    stack = Stack(1, *size, dtype, dtype, white)
    own: Ramps = ByHistogram("magnitude", Auto(), dtype, white)
    if output != "scale auto":
        own = None if output == "magnitude" else ramps(output, gray=Gray(white, dtype, white))
    picture = make(launcher, transfer, stack).run(noise, own)
    values = make(launcher, transfer, replace(stack, out=launcher.real, white=None)).run(noise)
    wanted = reference.filtered(noise, grid_with(edges, transfer, *size).gain(), edges).real
    as_values = _of_values(values, wanted, noise)
    as_pixels = Difference.of(picture, on_ramps(wanted, stack, own, deviation(noise))[0], white)
    said = as_pixels if as_values.is_right else as_values
    return Found(as_pixels.is_right and as_values.is_right, str(said), as_values.largest)


def _completed(launcher: Launcher, size: Size) -> Found:
    """Fill missing pixels of noise: a rectangle, and one of four others."""
    rng, (height, width) = np.random.default_rng(61), size
    noise, holes = rng.random((1, *size)), rng.random((1, *size)) < 0.25
    holes[:, height // 4 : height // 2, width // 4 : width // 2] = True
    found = _of_values(fill(launcher, noise, holes), fill_by_numpy(noise, holes), noise)
    return Found(found.is_right, str(found), found.largest)


def _of_values(made: Array, wanted: Array, image: Array) -> Difference:
    """Compare values as parts of the image's largest deviation."""
    return Difference.of(made, wanted, 1, unit=float(deviation(image).max()) or 1.0)


def _left_of_a_wave(make: MakePipeline, launcher: Launcher, size: Size) -> float:
    """Return what a filter leaves of the only wave that it removes, more than the reference, which has its pixels."""
    height, width = size
    gains = np.ones(size)
    gains[0, 0] = gains[1 % height, 1 % width] = gains[-1, -1] = 0
    transfer = mask(gains)
    y, x = np.mgrid[:height, :width]
    wave = np.cos(2 * np.pi * (x / width + y / height)).astype(FLOAT)[None]
    values = make(launcher, transfer, Stack(1, *size, FLOAT, launcher.real, None)).run(wave)
    return _of_values(values, reference.filtered(wave, gains).real, wave).largest


def _transformed(launcher: Launcher, size: Size) -> Found:
    """Transform complex and real numbers along both axes and one, and back to real ones."""
    found = []
    kinds: list[tuple[Any, Any]] = [("complex", along) for along in ("both", "rows", "columns")]
    for data, along in (*kinds, ("real", "both"), ("values", "both")):
        shape = Shape(data, along, 1, *size, half=data != "complex")
        if not serves_plain(launcher.device, shape):
            continue
        given = _numbers(shape.source, is_real=data == "real")
        made, _ = plain_fft(launcher, shape, FLOAT).run(given)
        if data == "values":
            wanted: Array = np.fft.irfft2(given, size) * (size[0] * size[1])
        elif along == "both":
            wanted = (np.fft.rfft2 if shape.half else np.fft.fft2)(given)
        else:
            wanted = np.fft.fft(given, axis=2 if along == "rows" else 1)
        found.append(_error(made, wanted, max(size), launcher, f"{data}, {along}"))
    return max(found, key=lambda each: (not each.is_right, each.error))


def _transformed_by_the_book(launcher: Launcher, size: Size) -> Found:
    given = _numbers((1, *size)).astype(launcher.complex)
    made = Transform(launcher, algorithms.load("book"), given.shape, 2).run(given)
    return _error(made, np.fft.fft2(given), max(size), launcher, "complex, both")


def _numbers(shape: tuple[int, ...], *, is_real: bool = False) -> Array:
    rng = np.random.default_rng(61)
    real: Array = rng.standard_normal(shape, np.float32)
    return real if is_real else real + 1j * rng.standard_normal(shape, np.float32)


def _error(made: Array, wanted: Array, n: int, launcher: Launcher, what: str) -> Found:
    """Return how far a transform is from the reference, in norm."""
    error = float(np.linalg.norm(made - wanted) / np.linalg.norm(wanted))
    bound = transform_bound(n, launcher.complex)
    return Found(error <= bound, f"{what}: relative error {error:.1e}, at most {bound:.1e} is right", error)


def _mirrored(make: MakePipeline, launcher: Launcher, transfer: Transfer, stack: Stack) -> Mirrored:
    return Mirrored(partial(make, launcher), transfer, stack, launcher.real)


class _Streamed(FusedGpuPipeline):
    """A pipeline whose stacks go through a stream."""

    def run(self, images: Array, ramps: Ramps = None) -> Array:
        stream = Stream(self, PageLocked(self.launcher))
        return stream.start(images, ramps).result()
