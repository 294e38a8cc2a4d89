"""Volumes and time: a filter along one axis of an array, or along three, in NumPy.

H is a function of the frequency along these axes, and even along each of them. So real values stay real: the waves of
an axis are cosines and sines, or with mirrored edges cosines of half cycles:

    values less their offset -> along z -> page by page along y, x -> gains -> along x, y -> along z -> values

Beyond its support, the frequencies where it varies, H is constant. Only frequencies within are kept, axis by axis. A
transform of up to ``FEW`` frequencies is a product of matrices, which is faster than an FFT. Where most frequencies are
kept, FFTs along all axes on the device are faster still.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import system
from ..arrays import PRECISIONS
from ..device_choice import NUMPY
from ..errors import ParameterError, TooLargeError
from ..missing import filled
from ..output.ramp import on_ramps
from ..output.rounding import NOISE, WEAK
from ..plain import MANY, NumPyLauncher, library
from ..region import RegionOptions
from ..system import check_memory
from ..transfer.grid import NEGLIGIBLE
from ..transfer.shapes import SHAPES
from ..transfer.units import parse_pixel_size
from ..transforms import Engine
from .strips import COLUMNS, FILLED_ALONE, QUIET, Large, Plan, Spectra, cosines

if TYPE_CHECKING:
    from ..arrays import Array, Floats
    from ..device.launcher import Launcher
    from ..output.histogram import Ramps
    from ..output.ramp import Facts, Stack
    from ..transfer import Transfer
    from ..transfer.radial import Radial
    from .description import Description
    from .strips import How, Read

# Frequencies of an axis up to which a product of matrices is faster than an FFT, and up to which it sums up pages.
FEW, SUMMED = 96, 512
# Products with a value, one way, from which on the spectrum of all frequencies takes less time.
PRODUCTS = 256
# Products of numbers of two matrices up to which OpenBLAS starts no threads; samples that a thread transforms at a
# time, so that they stay in a processor's cache.
PART, SLAB = 1 << 18, 1 << 19
# Numbers a sample that a volume takes at most. Of one that does not fit, the most pages of a strip, and lines of a page
# that are transformed at a time.
NUMBERS, PAGES, LINES = 5, 16, 128
# The axes that names stand for in arrays without names.
NAMED = {"t": (0,), "yx": (-2, -1), "zyx": (-3, -2, -1), "tyx": (-3, -2, -1)}


class Axis(NamedTuple):
    """An axis of ``(depth, height, width)`` that is filtered, and its transform.

    At frequency k it is the sum of value n times a wave: cos(2 pi k n / length), at -k the sine; mirrored
    cos(pi k (n + 1/2) / length). The values are the sum of the waves over all frequencies, times weights.
    """

    place: int
    length: int
    is_mirrored: bool
    kept: int
    """How many frequencies are kept, from 0 up: of whole cycles across the axis, or of half ones."""

    @property
    def order(self) -> Array:
        """The frequencies of the transform; for products first those whose waves are even."""
        low = np.arange(self.kept)
        if self.is_mirrored and self.is_long:
            return low
        return np.concatenate([low[::2], low[1::2]] if self.is_mirrored else [low, -low[1 : (self.length + 1) // 2]])

    @property
    def is_long(self) -> bool:
        """Whether it takes FFTs."""
        return self.kept * (2 - self.is_mirrored) > FEW

    @property
    def period(self) -> int:
        """The length after which the waves repeat."""
        return (1 + self.is_mirrored) * self.length

    def matrix(self, *, back: bool = False) -> Floats:
        """Return the waves of the transform, ``(frequencies, length)``; ``back`` those times weights, turned."""
        k, at = self.order[:, None], np.arange(self.length)
        # In steps of half a sample, as whole numbers: exact for long axes.
        turns = (2 * at + 1 if self.is_mirrored else 2 * at) * np.abs(k) % (2 * self.period) / (2 * self.period)
        waves = np.where(k < 0, np.sin(2 * np.pi * turns), np.cos(2 * np.pi * turns))
        is_single = (k == 0) | (2 * k == self.period)
        return np.asarray((waves * np.where(is_single, 1, 2) / self.length).T if back else waves)


class Lines:
    """The transform of an axis, along the first one of arrays of real numbers.

    Even waves have the sums of values and those from the end, odd ones the differences, which halves the products.
    """

    def __init__(self, axis: Axis, real: np.dtype[Any], fft: Any) -> None:
        self._axis, self._fft = axis, fft
        first = 0 if axis.is_mirrored else 1  # the one at the beginning has none from the end
        self._half, self._even = (axis.length - first) // 2, (axis.kept + 1) // 2 if axis.is_mirrored else axis.kept
        self._own, self._paired = slice(axis.length - self._half), slice(first, first + self._half)
        if not axis.is_long:
            to, back = axis.matrix().astype(real), axis.matrix(back=True).astype(real)
            self._to = to[: self._even, self._own].copy(), to[self._even :, self._paired].copy()
            self._from = back[self._own, : self._even].copy(), back[self._paired, self._even :].copy()

    def forward(self, values: Array) -> Array:
        """Return the transform of values; may overwrite them."""
        if self._axis.is_long:
            return self._by_fft(self._numbers, values)
        lines = values.reshape(len(values), -1)
        even, from_end = lines[self._own].copy("K"), lines[::-1][: self._half]
        even[self._paired] += from_end
        odd = lines[self._paired] - from_end
        made = [_product(matrix, part) for matrix, part in zip(self._to, (even, odd), strict=True)]
        return np.concatenate(made).reshape(-1, *values.shape[1:])

    def back(self, made: Array) -> Array:
        """Return the values of a transform."""
        if self._axis.is_long:
            return self._by_fft(self._values, made)
        lines = made.reshape(len(made), -1)
        values = np.empty((self._axis.length, lines.shape[1]), made.dtype)
        _product(self._from[0], lines[: self._even], out=values[self._own])
        odd = _product(self._from[1], lines[self._even :])
        np.subtract(values[self._paired], odd, out=values[::-1][: self._half])
        values[self._paired] += odd
        return values.reshape(-1, *made.shape[1:])

    def _by_fft(self, way: Callable[[Array], Array], values: Array) -> Array:
        lines = values.reshape(len(values), -1)
        parts = np.array_split(lines, -(-lines.shape[1] // LINES), 1)
        return np.concatenate([way(each) for each in parts], axis=1).reshape(-1, *values.shape[1:])

    def _numbers(self, values: Array) -> Array:
        kept, sines = self._axis.kept, slice(1, (self._axis.length + 1) // 2)
        if self._axis.is_mirrored:  # twice the sums, and halves back
            return cosines(self._fft, values.copy("K"), 0)[:kept]
        half = self._fft.rfft(values, axis=0)[:kept]
        return np.concatenate([half.real, -half.imag[sines]])

    def _values(self, made: Array) -> Array:
        length, kept = self._axis.length, self._axis.kept
        if self._axis.is_mirrored:
            every = np.zeros_like(made, shape=(length, made.shape[1]))
            every[:kept] = made
            return cosines(self._fft, every, 0, back=True)
        half = np.zeros_like(made, np.result_type(made, np.complex64), shape=(kept, made.shape[1]))
        half.real[:], half.imag[1 : len(made) - kept + 1] = made[:kept], -made[kept:]
        return np.asarray(self._fft.irfft(half, length, axis=0))


def _across(lines: Sequence[Lines], page: Array, *, back: bool = False) -> Array:
    """Return the transform of a page along y and x, as far as these are filtered, or ``back`` its values."""
    if len(lines) == 1:
        return page
    _, down, across = lines
    return down.back(across.back(page.T).T) if back else across.forward(down.forward(page).T).T


def _product(matrix: Floats, values: Array, out: Array | None = None) -> Array:
    """Return the product of two matrices, in parts for which OpenBLAS starts no threads: those here are at work."""
    count, length = matrix.shape
    made = np.empty((count, values.shape[1]), matrix.dtype) if out is None else out
    step = min(64, max(16, PART // max(1, matrix.size) // 16 * 16))
    whole, rows = values.shape[1] // step * step, max(1, PART // (step * max(1, length)))
    for start in range(0, count, rows):
        part = made[start : start + rows]
        parts, of_values = (
            each[:, :whole].reshape(len(each), whole // step, step).transpose(1, 0, 2) for each in (part, values)
        )
        np.matmul(matrix[start : start + rows], of_values, out=parts)
        np.matmul(matrix[start : start + rows], values[:, whole:], out=part[:, whole:])
    return made


class Volume(NamedTuple):
    """Which axes of an array are filtered together, and the size of a sample along each, if it is given."""

    axes: int | tuple[int | str, ...]
    """The last ones of this number, or their numbers or names."""
    sizes: tuple[float, ...] = ()

    @classmethod
    def of(cls, axes: Any, pixel_size: Any) -> Volume:
        """Return what is given; raises ParameterError."""
        names = tuple(axes) if isinstance(axes, str | Sequence) else axes
        number = len(names) if isinstance(names, tuple) else names
        each = names if isinstance(names, tuple) else ()
        if isinstance(axes, bool) or number not in (1, 2, 3) or len({*each}) < len(each):
            raise ParameterError(
                f"axes {axes!r} are unknown: give how many of the last ones (1, 2, 3), up to three numbers as a tuple, "
                f"or names: {', '.join(NAMED)}"
            )
        if pixel_size is None:
            return cls(names)
        given = pixel_size.split(",") if isinstance(pixel_size, str) else pixel_size
        given = given if isinstance(given, tuple | list) and len(given) > 1 else [pixel_size] * number
        if len(given) != number:
            raise ParameterError(f"pixel size {pixel_size!r} has {len(given)} sizes: give one, or one for each axis")
        sizes = tuple(parse_pixel_size(size)[0] for size in given)
        if len({*map(type, sizes)}) > 1:
            raise ParameterError(f"pixel size {pixel_size!r} has lengths and angles: give one kind for all axes")
        return cls(names, sizes)

    @property
    def number(self) -> int:
        """How many axes are filtered."""
        return self.axes if isinstance(self.axes, int) else len(self.axes)

    @property
    def is_flat(self) -> bool:
        """Whether it is pictures that are filtered, as without it."""
        return self.number == 2

    def check(self, transfer: Transfer, options: Mapping[str, Any]) -> None:
        """Raise ParameterError for what is for pictures alone."""
        if transfer.is_complement:
            raise ParameterError("what is removed is for pictures, two axes: leave axes out, or take another output")
        for part in transfer.parts:
            if part.radial is None:
                raise ParameterError(f"{part.kind} is for pictures, two axes: leave axes out, or take a radial filter")
            radii = {each.is_physical for each in (part.radial.outer, part.radial.inner, part.radial.width) if each}
            if len(radii) > 1 and len({*self.sizes}) > 1:
                raise ParameterError(f"{part} has pixels and lengths, and sizes that differ by the axis: give lengths")
        for name in (*RegionOptions.__annotations__, "auto", "channels", "ignore"):
            if isinstance(given := options.get(name), np.ndarray) or given:
                raise ParameterError(f"{name} is for pictures, two axes: leave axes out, or leave {name} out")

    def places(self, array: Any) -> tuple[int, ...]:
        """Return the numbers of the axes in an array, which may have names; raises ParameterError."""
        axes, dims = self.axes, getattr(array, "dims", None)
        names = "".join(map(str, axes)) if isinstance(axes, tuple) else ""
        if isinstance(axes, int):
            found: tuple[Any, ...] = tuple(range(-axes, 0))
        elif dims is not None:
            found = tuple(dims.index(each) if each in dims else each for each in axes)
        else:
            found = NAMED.get(names, axes)
        n = array.ndim
        places = tuple(each % n for each in found if isinstance(each, Integral) and -n <= each < n)
        if len({*places}) < len(found):
            raise ParameterError(f"axes {axes!r} are not those of an array of shape {array.shape}: give their numbers")
        return places


class VolumePipeline:
    """The filter of a volume ``(depth, height, width)`` along some of its axes; raises TooLargeError."""

    weak = 0.0  # filtered() filters what is weak again
    _has_spectrum = False  # whether FFTs along all axes on the device take less time

    def __init__(self, launcher: Launcher, described: Description, stack: Stack) -> None:
        self.stack, self._real, self._launcher = stack, launcher.real, launcher
        gains = Gains(described, stack.shape)
        self._axes, self._beyond = gains.axes, gains.beyond
        self._check_memory()
        within = gains.of(*self._orders())
        self._dc, self._gains = gains.beyond + float(within[0, 0, 0]), within.astype(launcher.real)
        self._prepare(described)

    def _check_memory(self) -> None:
        stack, work, kept = self.stack, 0.0, 1.0
        check_memory(stack.height, stack.width, stack.size * NUMBERS * self._real.itemsize, str(stack))
        for axis in self._axes:
            work += kept * len(axis.order)
            kept *= len(axis.order) / axis.length
        is_on_device = self._real == np.float32 and not isinstance(self._launcher, NumPyLauncher)
        self._has_spectrum = is_on_device and not self._axes[0].is_mirrored and work > PRODUCTS

    def _orders(self) -> list[Array]:
        """Return the frequencies along each axis: those of the products, or of the spectrum, half of a Fourier one."""
        if not self._has_spectrum:
            return _orders(self._axes)
        orders, last = _orders(self._axes), self._axes[-1]
        for axis in self._axes:
            orders[axis.place] = np.fft.ifftshift(np.arange(axis.length) - axis.length // 2)
            orders[last.place] = np.arange(last.length // 2 + 1)
        return orders

    def _prepare(self, described: Description) -> None:
        if self._has_spectrum:
            self._engine = Engine(None, described.options.get("device"), "single")
        self._lines = [Lines(axis, self._real, library(self.stack.size)[0]) for axis in self._axes]

    def run(self, images: Array, ramps: Ramps = None) -> Array:
        """Filter a volume, and return its pixels."""
        values, far = self._filtered(images)
        made, facts = on_ramps(values, self.stack, ramps, np.array([far]))
        return self._made(made, facts, far)

    def _filtered(self, images: Array) -> tuple[Array, float]:
        """Return the filtered values, and the largest deviation of a sample from what goes around the transforms."""
        (_, height, width), base = images.shape, middle(images, self._axes)
        around, values = np.broadcast_to(base, (1, height, width)), np.empty(images.shape, self._real)
        slabs = max(1, images.size // SLAB)
        lines, is_whole = self._lines, self._has_spectrum
        kept = values if is_whole else np.empty((len(self._gains), height, width), self._real)

        def begin(rows: slice) -> float:
            out = kept[:, rows] if is_whole else None
            away = np.subtract(images[:, rows], around[:, rows], out=out, dtype=self._real)
            far = max(float(away.max()), -float(away.min()))
            if not is_whole:
                numbers = lines[0].forward(away)
                kept[:, rows] = numbers if len(lines) > 1 else numbers * self._gains
            return far

        def finish(rows: slice) -> None:
            made = values[:, rows] if is_whole else lines[0].back(kept[:, rows])
            if self._beyond:
                away = np.subtract(images[:, rows], around[:, rows], dtype=self._real)
                made += away if self._beyond == 1 else away * self._real.type(self._beyond)
            if self._dc:
                made += (self._dc * around[:, rows]).astype(self._real)
            if not is_whole:
                values[:, rows] = made

        far = max(system.in_slabs(begin, height, images.size, slabs))
        if is_whole:
            values = self._by_spectrum(values)
        elif len(lines) > 1:
            system.in_slabs(partial(self._within, kept), len(kept), kept.size, len(kept))
        system.in_slabs(finish, height, images.size, slabs)
        return values, far

    def _within(self, kept: Array, pages: slice) -> None:
        """Multiply some pages of numbers along z by the gains of their frequencies, in place."""
        for page, gains in zip(kept[pages], self._gains[pages], strict=True):
            page[:] = _across(self._lines, _across(self._lines, page) * gains, back=True)

    def _by_spectrum(self, values: Array) -> Array:
        """Filter values in place, some pages and some rows at a time: large new arrays take longer than the FFTs."""
        (_, height, width), is_whole, engine = values.shape, len(self._axes) > 1, self._engine
        numbers = np.empty((len(values), height, width // 2 + 1), np.complex64) if is_whole else values
        pages, rows = (self._slabs(length, values.size) for length in (len(values), height))
        for each in pages if is_whole else ():
            numbers[each] = engine.transformed(values[each], None, (1, 2), None, out=None, half="made")
        for each in rows:
            made = engine.transformed(numbers[:, each], None, (0,), None, out=None, half=None if is_whole else "made")
            made *= self._gains[:, each] if self._gains.shape[1] > 1 else self._gains
            how: Any = {"out": None, "inverse": True, "half": None if is_whole else "given"}
            numbers[:, each] = engine.transformed(made, (len(values),), (0,), None, **how)
        for each in pages if is_whole else ():
            how = {"out": None, "inverse": True, "half": "given"}
            values[each] = engine.transformed(numbers[each], (height, width), (1, 2), None, **how)
        return values

    @staticmethod
    def _slabs(length: int, size: int) -> list[slice]:
        """Return slices of an axis of so many samples in all, each of about ``SLAB`` of them."""
        step = max(1, length * SLAB // size)
        return [slice(start, start + step) for start in range(0, length, step)]

    def _made(self, pixels: Array, facts: Facts, far: float) -> Array:
        """Keep facts about the pixels of a run."""
        self.is_weak = max(facts.undecided) > 1 or NOISE * far < facts.extremes[0, 1] < WEAK * far
        self._facts = facts._replace(undecided=[0.0])
        return pixels

    def facts(self) -> Facts:
        """Return facts about the volume of the last run."""
        return self._facts


class StagedVolumePipeline(VolumePipeline):
    """The filter of a volume by the passes of the book, with any algorithm of the papers.

    Mirrored edges take a volume of twice each side that is filtered, as those of pictures do.
    """

    _has_spectrum = True

    def _check_memory(self) -> None:
        stack, times = self.stack, math.prod(axis.period // axis.length for axis in self._axes)
        # Gains, values, and these as complex numbers.
        check_memory(stack.height, stack.width, times * stack.size * NUMBERS * self._real.itemsize, str(stack))

    def _orders(self) -> list[Array]:
        orders = _orders(self._axes)
        for axis in self._axes:
            orders[axis.place] = np.fft.ifftshift(np.arange(axis.period) - axis.period // 2)
        return orders

    def _prepare(self, described: Description) -> None:
        from ..staged.pipeline import VolumeFilter

        self._lines, method, kind = [], described.engine.staged, described.transpose
        periods = {axis.place: axis.period for axis in self._axes}
        depth, height, width = (periods.get(place, n) for place, n in enumerate(self.stack.shape))
        shape = depth, height, width
        self._passes = VolumeFilter(self._launcher, method, shape, self._gains, transpose_kind=kind)

    def _by_spectrum(self, values: Array) -> Array:
        for axis in self._axes if self._axes[0].is_mirrored else ():
            values = np.concatenate([values, np.flip(values, axis.place)], axis.place)
        depth, height, width = self.stack.shape
        return np.ascontiguousarray(self._passes.run(values)[:depth, :height, :width])


def middle(images: Array, axes: Sequence[Axis], before: int = 0) -> Array:
    """Return what goes around the transforms: the middle one of three values along each axis, with others before."""
    for axis in axes:
        images = images.take([i * axis.length // 4 for i in (1, 2, 3)], axis.place + before)
    for axis in axes:
        images = np.sort(images, axis.place + before).take([1], axis.place + before)
    return images.astype(np.float64)


def _orders(axes: list[Axis]) -> list[Array]:
    """Return the frequencies of the transforms along each of three axes; 0 along those that are not filtered."""
    of_axes = {axis.place: axis.order for axis in axes}
    return [of_axes.get(place, np.zeros(1, np.int64)) for place in range(3)]


class Gains:
    """The axes of a volume ``(depth, height, width)``, and the gains of the frequencies that these keep.

    Gains are functions of sums of squares of distances along the axes: of whole numbers in a cube. ``beyond`` is the
    gain of all other frequencies.
    """

    def __init__(self, described: Description, shape: tuple[int, ...]) -> None:
        self._transfer, volume, is_mirrored = described.on_grid, described.volume, described.edges == "mirror"
        assert volume is not None  # noqa: S101  pipelines.py has asked
        places = range(volume.number)
        self._sizes, self._n = volume.sizes, min(shape[place] for place in places)
        self._parts = [part.radial for part in self._transfer.parts if part.radial]
        axes = [Axis(i, shape[i], is_mirrored, shape[i] if is_mirrored else shape[i] // 2 + 1) for i in places]
        if len(self._parts) == 1:  # of several, all frequencies are kept
            (part,) = self._parts
            outer, _ = part.radii(self._n, self._n)
            each = [self._low(part, outer, self._square(part, axis, np.arange(axis.kept))) for axis in axes]
            most = [int(np.count_nonzero(gain > NEGLIGIBLE)) for gain in each]
            axes = [axis._replace(kept=max(1, kept)) for axis, kept in zip(axes, most, strict=True)]
        self.axes, floor = axes, self._transfer.floor
        self.beyond = floor + (1 - floor) * float(all(part.is_complement for part in self._parts))

    def of(self, *orders: Array) -> Floats:
        """Return those of frequencies along three axes, less ``beyond``; along axes that stay these are 0."""
        whole = [np.unique(np.abs(order), return_inverse=True) for order in orders]
        made = np.ones([len(one) for one, _ in whole])
        for part in self._parts:
            outer, inner = part.radii(self._n, self._n)
            squares = [np.zeros(1)] * 3
            squares[: len(self.axes)] = [self._square(part, axis, whole[axis.place][0]) for axis in self.axes]
            of_depth, of_height, of_width = squares
            for i, near in enumerate(of_depth):
                square = near + of_height[:, None] + of_width
                passed = self._low(part, outer, square)
                if inner is not None:
                    passed *= 1 - self._low(part, inner, square)
                made[i] *= 1 - passed if part.is_complement else passed
        made *= 1 - self._transfer.floor
        made += self._transfer.floor
        if self._transfer.keeps_mean and not any(order[0] for order in orders):
            made[0, 0, 0] = 1
        made -= self.beyond
        for place, (_, where) in enumerate(whole):
            made = made.take(where, place)
        return made

    def _square(self, part: Radial, axis: Axis, order: Array) -> Floats:
        pixel = next((each.pixel for each in (part.outer, part.inner) if each and each.is_physical), None)
        step = pixel[0] / self._sizes[axis.place] if pixel and self._sizes else 1.0
        return np.square(order * self._n / axis.period * step)

    def _low(self, part: Radial, radius: float, square: Floats) -> Floats:
        function = SHAPES[part.shape].gain
        if function is None:
            return np.asarray(square < radius * radius, np.float64)
        return function(square / (radius * radius), part.falloff(radius, self._n, self._n))


# Larger than memory


@dataclass(frozen=True)
class VolumePlan(Plan):
    """The strips of pages of a volume, or of the volumes of several channels."""

    gains: Gains
    is_summed: bool  # whether sums along z are kept, which is then a product of matrices
    columns: int  # of a block: frequencies along y

    name = "pages"

    def large(self, read: Read, how: How, folder: str, **running: Any) -> LargeVolume:
        """Return what filters them."""
        return LargeVolume(read, self, how, folder, **running)

    @property
    def across(self) -> tuple[int, int]:
        """How many numbers of a page are kept along y and x."""
        sides = dict(enumerate(self.shape[1:])) | {axis.place: len(axis.order) for axis in self.gains.axes}
        return sides[1], sides[2]


def planned(
    described: Description,
    shape: tuple[int, int, int, int],
    itemsize: int,
    *,
    precision: str,
    room: int,
    count: int = 1,
) -> VolumePlan:
    """Return the strips of volumes (channels, pages, height, width) for so many bytes; raises TooLargeError.

    ``count`` is how many such volumes are kept at the same time.
    """
    real = PRECISIONS[precision][0].itemsize
    (channels, depth, height, width), gains = shape, Gains(described, shape[1:])
    axes = gains.axes
    plan = VolumePlan(shape, 1, 1, 0, 0, False, gains.beyond, [], 0, gains, len(axes[0].order) <= SUMMED, 1)
    (down, across), many = plan.across, len(axes[0].order)
    kept = channels * many * down * across * real
    if not plan.is_summed or count * kept > room / 3:
        kept, plan = channels * depth * down * across * real, replace(plan, is_summed=False)
    on_disk = not plan.is_summed and count * kept > room / 2
    # What all keep; that of series along time has a value of each pixel, too.
    held = count * (kept * (not on_disk) + 8 * height * width * (len(axes) == 1))
    left = room - held
    # One row of frequencies along z with its transforms, and its gains; a page with its transforms.
    row = across * (real * 12 * max(depth, axes[0].period * axes[0].is_long) + 24 * many)
    lines = 8 * real * LINES * sum(axis.period for axis in axes[1:] if axis.is_long)
    page = lines + height * width * 4 * real
    # A page in work: a copy, its values, flags, and what is kept of it. As it is read and its pixels, it waits, too.
    strip = channels * (height * width * (itemsize + 2 * real + 3) + 2 * down * across * real)
    waiting = 2 * channels * height * width * itemsize

    def taken(threads: int, rows: int, columns: int) -> int:
        return max(threads * (page + rows * strip) + (threads + 2) * rows * waiting, threads * columns * row)

    threads = next((n for n in range(system.cores(), 1, -1) if taken(n, 1, 1) <= left), 1)
    rows = max(1, min(PAGES, depth, (left - threads * page) // (threads * strip + (threads + 2) * waiting)))
    columns = max(1, min(down, left // (threads * row)))
    whole = taken(threads, rows, columns) + held
    if whole > room:
        raise TooLargeError(
            f"a page of {width} x {height} pixels, and its rows along z, take {whole:,} bytes, more than the {room:,} "
            "that are free for them; give more memory"
        )
    blocks = list(range(0, down, columns))
    plan = replace(plan, threads=threads, bytes=whole, kept=kept, on_disk=on_disk)
    return replace(plan, rows=rows, columns=columns, blocks=blocks)


class LargeVolume(Large):
    """Volumes (channels, pages, height, width), whose ``read`` is for one thread."""

    plan: VolumePlan

    def __init__(self, read: Read, plan: VolumePlan, how: How, folder: str, **running: Any) -> None:
        super().__init__(read, plan, how, **running)
        (channels, depth, *_), (down, across) = plan.shape, plan.across
        self._z, *self._in_page = axes = plan.gains.axes
        three = np.concatenate([self._whole(read(i * depth // 4, i * depth // 4 + 1)) for i in (1, 2, 3)], axis=1)
        self._base = middle(three, [self._z._replace(length=3), *self._in_page], before=1)
        self._lines = [Lines(axis, self._real, library(MANY)[0]) for axis in axes]
        if plan.is_summed:
            self._to, self._from = (self._z.matrix(back=back).astype(self._real) for back in (False, True))
        self._dc = plan.beyond + float(plan.gains.of(*[np.zeros(1, np.int64)] * 3)[0, 0, 0])
        sums, blocks = (len(self._z.order), 0) if plan.is_summed else (0, len(plan.blocks))
        self._sums = np.zeros((channels, sums, down * across), self._real)
        size = channels, blocks, depth, plan.columns * across
        self._spectra = Spectra(size, self._real, folder if plan.on_disk else None)

    def items(self) -> Iterator[tuple[Any, ...]]:
        for start, stop in self.plan.strips:
            yield start, stop, self._read(start, stop) if self.plan.beyond else None

    def transform(self) -> None:
        strips = ((start, stop, self._read(start, stop)) for start, stop in self.plan.strips)
        for start, made, far in self.in_order(self._forward, strips):
            self.deviation = max(self.deviation, far)
            for channel, kept in enumerate(made) if self.plan.is_summed else ():
                for first in range(0, kept.shape[1], COLUMNS):
                    where = slice(first, first + COLUMNS)
                    self._sums[channel, :, where] += self._to[:, start : start + len(kept)] @ kept[:, where]
        blocks = ((i, j) for i in range(self.plan.shape[0]) for j in range(len(self.plan.blocks)))
        deque(self.in_order(self._along_z, blocks), maxlen=0)

    def _whole(self, planes: Array) -> Array:
        """Return planes with their holes filled, page by page."""
        if not isinstance(planes, np.ma.MaskedArray):
            return planes
        pages = (each.reshape(-1, 1, *planes.shape[2:]) for each in (planes.data, np.ma.getmaskarray(planes)))
        with FILLED_ALONE:
            each = [filled(page, holes, NUMPY) if holes.any() else page for page, holes in zip(*pages, strict=True)]
        return np.stack(each).reshape(planes.shape)

    @QUIET
    def _forward(self, start: int, stop: int, planes: Array) -> tuple[int, Array, float]:
        planes = self._whole(planes)
        (down, across), far, columns = self.plan.across, 0.0, self.plan.columns
        width = len(self.plan.blocks) * columns * across
        made = np.zeros((len(planes), stop - start, down * across if self.plan.is_summed else width), self._real)
        for channel, page in np.ndindex(made.shape[:2]):
            values = np.subtract(planes[channel, page], self._base[channel, 0], dtype=self._real)
            far = max(far, float(values.max()), -float(values.min()))
            made[channel, page, : down * across] = _across(self._lines, values).ravel()
        for channel, block in np.ndindex(len(made), 0 if self.plan.is_summed else len(self.plan.blocks)):
            where = slice(block * columns * across, (block + 1) * columns * across)
            self._spectra.put(channel, block, start, made[channel, :, where])
        return start, made, far

    @QUIET
    def _along_z(self, channel: int, block: int) -> None:
        plan, (down, across), (along, height, width) = self.plan, self.plan.across, _orders(self.plan.gains.axes)
        first = plan.blocks[block]
        rows = min(plan.columns, down - first)
        # Along time they are the same for all pixels.
        gains = plan.gains.of(along, height if len(height) == 1 else height[first : first + rows], width)
        gains = np.broadcast_to(gains.astype(self._real), (len(along), rows, across))
        if plan.is_summed:
            self._sums[channel, :, first * across : (first + rows) * across] *= gains.reshape(len(along), -1)
            return
        kept = self._spectra.get(channel, block, 0, plan.shape[1])
        values = kept[:, : rows * across].reshape(len(kept), rows, across)
        made = self._lines[0].back(self._lines[0].forward(values) * gains)
        kept[:, : rows * across] = made.reshape(len(kept), -1)
        self._spectra.put(channel, block, 0, kept)

    @QUIET
    def values(self, start: int, stop: int, planes: Array | None = None) -> Array:
        plan, (down, across) = self.plan, self.plan.across
        if plan.beyond:
            planes = self._whole(self._read(start, stop)) if planes is None else np.asarray(planes)
        made = np.empty((plan.shape[0], stop - start, *plan.shape[2:]), self._real)
        for channel, base in enumerate(self._base):
            if plan.is_summed:
                kept = self._from[start:stop] @ self._sums[channel]
            else:
                parts = [self._spectra.get(channel, j, start, stop) for j in range(len(plan.blocks))]
                kept = np.concatenate(parts, axis=1)[:, : down * across]
            for page, numbers in enumerate(kept.reshape(-1, down, across)):
                made[channel, page] = _across(self._lines, numbers, back=True)
                if planes is not None and plan.beyond:
                    away = np.subtract(planes[channel, page], base[0], dtype=self._real)
                    made[channel, page] += away * self._real.type(plan.beyond)
                made[channel, page] += (self._dc * base[0]).astype(self._real)
        return made

    def close(self) -> None:
        self._spectra.close()
