"""The NumPy engine: filters and transforms on machines where no OpenCL works.

It takes the same transfer functions, stacks and ramps as the pipelines of OpenCL, and is held to the same contract.
Transforms are those of scipy.fft where it is installed and pays, else of numpy.fft.

Real images have real transforms along their rows, and half of a spectrum. Only columns within the support of the
transfer function are transformed along; beyond it the gain is 0 or 1, so that the filter is 0 or the image itself and
what the support adds. Mirrored edges take rows of twice the width; the lower half of their spectra is the upper one in
the reverse order.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import PRECISIONS, Array
from .errors import check_option
from .output.ramp import Facts, Stack, Timing, on_ramps, real_of
from .output.rounding import WEAK, deviation, offset
from .system import check_memory, cores, free_memory
from .transfer.product import Edges, grid_with

if TYPE_CHECKING:
    from .device.launcher import Launcher
    from .fused import Shape
    from .output.histogram import Ramps
    from .transfer import Transfer

# Numbers from which on SciPy, two to four times as fast, is worth its import of 0.2 s.
MANY = 1 << 21
# The longest side of mirrored images in double precision that products of matrices filter in less time than FFTs.
SHORT = 64
AXES = {"both": (1, 2), "rows": (2,), "columns": (1,)}


def library(size: int) -> tuple[Any, dict[str, Any]]:
    """Return the module that transforms arrays of ``size`` numbers, and the options that its functions get."""
    if size >= MANY:
        with suppress(ImportError):
            from scipy import fft

            return fft, {"workers": cores()}
    return np.fft, {}


@cache
def cosine_matrix(n: int) -> Array:
    """Return the orthogonal matrix ``(n, n)`` of the cosine transform, whose waves go on at mirrored edges."""
    k, x = np.ogrid[:n, :n]
    return np.sqrt(np.where(k, 2, 1) / n) * np.cos(np.pi / n * k * (x + 0.5))


class NumPyDevice:
    """The CPU of this machine, as NumPy uses it."""

    name = platform = "NumPy"
    is_gpu = False
    fp64 = True

    @property
    def memory(self) -> int:
        """The bytes of memory that are free, 0 where the system does not say."""
        return free_memory() or 0


class NumPyLauncher:
    """A precision, and with ``profile`` the times of steps; raises ParameterError for an unknown precision."""

    def __init__(self, device: NumPyDevice, *, precision: str = "single", profile: bool = False) -> None:
        check_option("precision", precision, PRECISIONS)
        self.device, self._profiles = device, profile
        self.real, self.complex = PRECISIONS[precision]
        self._seconds: dict[str, list[float]] = {}

    def keep_host_time(self, step: str, begin: int, end: int) -> None:
        """Add a step to the timings; ``begin`` and ``end`` in nanoseconds."""
        if self._profiles:
            self._seconds.setdefault(step, []).append((end - begin) * 1e-9)

    def timings(self) -> list[Timing]:
        """Return the time of each step since the last call, in the order of first use; empty without ``profile``."""
        found, self._seconds = self._seconds, {}
        return [Timing(step, len(each), sum(each)) for step, each in found.items()]


def buffer_bytes(shape: tuple[int, int, int], real: np.dtype[Any], edges: Edges) -> int:
    """Return the bytes that a stack ``(count, height, width)`` takes at most: its values, and what one image needs.

    Measured for one image, in numbers a pixel: 3.7 to 5.5, with mirrored edges 6.5 to 12.
    """
    count, height, width = shape
    return height * width * int(real.itemsize) * (count + (12 if edges == "mirror" else 5))


class NumPyPipeline:
    """The whole filter for a stack of images, of which ``launcher`` says the precision.

    Filtered values that are not scaled are complex if the stack's ``out`` is. Raises TooLargeError.
    """

    weak = WEAK

    def __init__(self, launcher: Launcher, transfer: Transfer, stack: Stack, edges: Edges = "wrap") -> None:
        self.stack, self._edges, self._launcher, self._real = stack, edges, launcher, launcher.real
        _, height, width = stack.shape
        check_memory(height, width, buffer_bytes(stack.shape, launcher.real, edges), str(stack))
        grid = grid_with(edges, transfer, height, width)
        self._width, self._is_real = grid.width, transfer.is_real
        columns = grid.width // 2 + 1 if self._is_real else grid.width
        support, table = grid.transfer.on_grid(grid.height, grid.width, columns=columns)
        self._dc = grid.transfer.at_dc(table)
        self._beyond = 0.0
        if self._is_real and support.columns < columns:  # else an image less nearly all of itself would be left
            columns, self._beyond = support.columns, support.beyond
        if table is None:
            table = grid.transfer.gain(grid.height, grid.width, columns=columns) / grid.transfer.largest
        number = launcher.complex if transfer.is_complex else launcher.real
        self._gain = (table[:, :columns] - self._beyond).astype(number)
        self._cosines: list[Array] = []
        is_short = max(height, width) <= SHORT and launcher.real == np.float64
        if is_short and edges == "mirror" and transfer.is_even_along_axes:
            self._gain = self._gain[:height, :width]
            self._cosines = [cosine_matrix(height), cosine_matrix(width)[: self._gain.shape[1]]]

    def run(self, images: Array, ramps: Ramps = None) -> Array:
        """Filter images ``(count, height, width)``, and return their pixels."""
        stack = self.stack
        values = np.empty(stack.shape, self._real if self._is_real else np.result_type(self._real, 1j))
        start = perf_counter_ns()
        offsets = offset(images)
        for i, base in enumerate(offsets.astype(self._real)):
            values[i] = self._filtered(np.subtract(images[i], base, dtype=self._real))
            values[i] += self._real.type(self._dc) * base
        transformed = perf_counter_ns()
        far = deviation(images, offsets).reshape(stack.pictures, -1).max(axis=1)
        if stack.white is not None and ramps is not None:
            values = real_of(values, ramps)
        # Of complex values, the magnitude is what has extremes, and the picture.
        made, self._facts = on_ramps(values if values.dtype == self._real else np.abs(values), stack, ramps, far)
        if stack.white is None:
            made = values if stack.out.kind == "c" else np.ascontiguousarray(values.real)
        self._launcher.keep_host_time("transforms and gains", start, transformed)
        self._launcher.keep_host_time("pixels", transformed, perf_counter_ns())
        return made

    def _filtered(self, image: Array) -> Array:
        """Return a filtered image ``(height, width)`` less its offset."""
        columns = self._gain.shape[1]
        if not columns:
            return np.multiply(image, self._beyond, dtype=self._real)
        if self._cosines:
            down, across = self._cosines
            values: Array = down.T @ (down @ image @ across.T * self._gain) @ across
            return np.add(values, image, out=values) if self._beyond else values
        fft, how = library(self.stack.height * self.stack.width)
        forward, back = (fft.rfft, fft.irfft) if self._is_real else (fft.fft, fft.ifft)
        height, width = image.shape
        is_mirrored = self._edges == "mirror"
        rows = np.concatenate([image, image[:, ::-1]], axis=1) if is_mirrored else image
        spectrum = forward(rows, axis=1, **how)[:, :columns]
        del rows  # large pictures: no array stays longer than it is needed
        if is_mirrored:
            spectrum = np.concatenate([spectrum, spectrum[::-1]])
        spectrum = fft.fft(spectrum, axis=0, **how)
        spectrum *= self._gain
        spectrum = fft.ifft(spectrum, axis=0, **how)[:height]
        values = back(spectrum, self._width, axis=1, **how)[:, :width]
        return np.add(values, image, out=values) if self._beyond else values

    def facts(self) -> Facts:
        """Return facts about the pictures of the last run."""
        return self._facts


def transformed(data: Array, shape: Shape, scale: float, real: np.dtype[Any]) -> tuple[Array, float]:
    """Return the transform of an array of the shape's numbers, times a scale, and the largest part of a number."""
    fft, how = library(data.size)
    with np.errstate(over="ignore", invalid="ignore"):  # the caller scales what is too large, and does it again
        data = data.astype(np.result_type(real, 1j) if data.dtype.kind == "c" else real, copy=False)
        if shape.data == "values":
            made = fft.irfft2(data, (shape.height, shape.width), norm="forward", **how)
        elif shape.half:
            made = fft.rfft2(data, **how)
        elif shape.inverse:
            made = fft.ifftn(data, axes=AXES[shape.along], norm="forward", **how)
        else:
            made = fft.fftn(data, axes=AXES[shape.along], **how)
        made = np.ascontiguousarray(made)  # along some axes numpy.fft returns a view
        made *= real.type(scale)
        return made, float(np.max(np.abs(made.view(real))))
