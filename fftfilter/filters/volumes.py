"""Volumes and time: a filter along one axis of an array, or along three, in NumPy.

H is a function of the frequency along these axes, and even along each of them. So real values stay real: an axis has
the Hartley transform, whose waves are cos + sin, or with mirrored edges the cosine transform:

    values less their offset -> along z, y, x -> gains -> along x, y, z -> values

Beyond its support, the frequencies where it varies, H is constant. Only frequencies within are kept, axis by axis. A
transform of up to ``FEW`` frequencies is a product of matrices, which is faster than an FFT. Where most frequencies are
kept, FFTs along all axes on the device are faster still, and cosine transforms of SciPy, if it is installed.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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

# Frequencies of an axis up to which a product of matrices is faster than an FFT.
FEW = 512
# Products with a value, one way, from which on the spectrum of all frequencies takes less time.
PRODUCTS = 256
# Numbers a sample that a volume takes at most. Of one that does not fit, the most pages of a strip, and lines of a page
# that are transformed at a time.
NUMBERS, PAGES, LINES = 5, 16, 128
# The axes that names stand for in arrays without names.
NAMED = {"t": (0,), "yx": (-2, -1), "zyx": (-3, -2, -1), "tyx": (-3, -2, -1)}


class Axis(NamedTuple):
    """An axis of ``(depth, height, width)`` that is filtered, and its transform.

    At frequency k it is the sum of value n times the real part of turn * exp(-2 pi i k n / period): cos + sin, or
    cosines half a step off. The values are the sum over all frequencies, times weights.
    """

    place: int
    length: int
    is_mirrored: bool
    kept: int
    """How many frequencies are kept, from 0 up: of whole cycles across the axis, or of half ones."""

    @property
    def order(self) -> Array:
        """The frequencies of the transform."""
        low = np.arange(self.kept)
        return low if self.is_mirrored else np.r_[low, -low[(self.length - 1) // 2 : 0 : -1]]

    @property
    def is_long(self) -> bool:
        """Whether it takes FFTs."""
        return len(self.order) > FEW

    @property
    def period(self) -> int:
        """The length after which the waves repeat."""
        return (1 + self.is_mirrored) * self.length

    @property
    def turns(self) -> Array:
        """That of each frequency."""
        k = self.order
        return np.exp(-0.5j * np.pi / self.length * k) if self.is_mirrored else np.full(len(k), 1 + 1j)

    @property
    def weights(self) -> Array:
        """That of each frequency."""
        k = self.order
        return (np.where(k == 0, 1, 2) if self.is_mirrored else np.ones(len(k))) / self.length

    def forward(self, values: Array, fft: Any) -> Array:
        """Return the transform of real values."""
        if not self.is_long:
            return self.product(self.matrix(), values)
        made = self._of_all(values, fft).take(self.order, self.place)
        return made / 2 if self.is_mirrored else made

    def back(self, made: Array, fft: Any) -> Array:
        """Return the values of a transform."""
        if not self.is_long:
            return self.product(self.matrix(back=True), made)
        every = np.zeros((*made.shape[: self.place], self.length, *made.shape[self.place + 1 :]), made.dtype)
        every[(slice(None),) * self.place + (self.order,)] = made
        if self.is_mirrored:
            return cosines(fft, every, self.place, back=True) * 2
        return self._of_all(every, fft) / self.length

    def _of_all(self, values: Array, fft: Any) -> Array:
        if self.is_mirrored:
            return cosines(fft, values.copy(), self.place)
        half = fft.rfft(values, axis=self.place)
        far = half.take(np.arange((self.length - 1) // 2, 0, -1), self.place)
        return np.concatenate([half.real - half.imag, far.real + far.imag], axis=self.place)

    def matrix(self, *, back: bool = False) -> Floats:
        """Return the waves of the transform, ``(frequencies, length)``; ``back`` those times weights, turned."""
        steps = self.order[:, None] * np.arange(self.length) % self.period
        waves = np.asarray((self.turns[:, None] * np.exp(-2j * np.pi / self.period * steps)).real)
        return (waves * self.weights[:, None]).T if back else waves

    def product(self, matrix: Floats, values: Array) -> Array:
        """Return a matrix times values along the axis."""
        matrix, shape = matrix.astype(values.dtype), values.shape
        if self.place == 2:
            return np.asarray(values @ matrix.T)
        if self.place == 1:
            return np.asarray(matrix @ values)
        return np.asarray(matrix @ values.reshape(len(values), -1)).reshape(-1, *shape[1:])


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
    _has_spectrum = False
    """Whether FFTs along all axes take less time than products of matrices."""

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
        self._fft, self._workers = library(stack.size)
        has_library = self._real == np.float32 and not isinstance(self._launcher, NumPyLauncher)
        if self._axes[0].is_mirrored:
            has_library = hasattr(self._fft, "dctn")  # of SciPy, if it is installed
        self._has_spectrum = has_library and work > PRODUCTS

    def _orders(self) -> list[Array]:
        """Return the frequencies along each axis: those of the products, or of the spectrum, half of a Fourier one."""
        if not self._has_spectrum:
            return _orders(self._axes)
        orders, last = _orders([axis._replace(kept=axis.length) for axis in self._axes]), self._axes[-1]
        for axis in () if last.is_mirrored else self._axes:
            orders[axis.place] = np.fft.ifftshift(np.arange(axis.length) - axis.length // 2)
            orders[last.place] = np.arange(last.length // 2 + 1)
        return orders

    def _prepare(self, described: Description) -> None:
        self._engine = Engine(None, described.options.get("device"), "single") if self._has_spectrum else None

    def run(self, images: Array, ramps: Ramps = None) -> Array:
        """Filter a volume, and return its pixels."""
        values, far = self._filtered(images)
        made, facts = on_ramps(values, self.stack, ramps, np.array([far]))
        return self._made(made, facts, far)

    def _filtered(self, images: Array) -> tuple[Array, float]:
        """Return the filtered values, and the largest deviation of a sample from what goes around the transforms."""
        base, away = self._base(images), np.empty(images.shape, self._real)

        def begin(part: slice) -> float:
            taken = np.subtract(images[part], base, out=away[part], dtype=self._real)
            return max(float(taken.max()), -float(taken.min()))

        def finish(part: slice) -> None:
            if self._beyond:
                away[part] *= self._beyond
                values[part] += away[part]
            if self._dc:
                values[part] += (self._dc * base).astype(self._real)

        far = max(system.in_slabs(begin, len(away), away.size))
        values = self._by_spectrum(away) if self._has_spectrum else self._by_products(away)
        system.in_slabs(finish, len(away), away.size)
        return values, far

    def _by_products(self, values: Array) -> Array:
        for axis in self._axes:
            values = self._product(axis, values, back=False)
        values *= self._gains
        for axis in reversed(self._axes):
            values = self._product(axis, values, back=True)
        return values

    def _product(self, axis: Axis, values: Array, *, back: bool) -> Array:
        if axis.is_long or os.environ.get("OPENBLAS_NUM_THREADS") != "1":  # products have threads of their own
            return axis.back(values, self._fft) if back else axis.forward(values, self._fft)
        matrix, shape = axis.matrix(back=back).astype(values.dtype), list(values.shape)
        shape[axis.place] = len(matrix)
        made = np.empty(shape, values.dtype)
        of_lines, lines = (each.reshape(len(each), -1) for each in (made, values))

        def of_depth(part: slice) -> None:
            np.matmul(matrix, lines[:, part], out=of_lines[:, part])

        def of_planes(part: slice) -> None:
            made[part] = axis.product(matrix, values[part])

        work, length = (of_planes, len(values)) if axis.place else (of_depth, lines.shape[1])
        system.in_slabs(work, length, self.stack.size)
        return made

    def _by_spectrum(self, values: Array) -> Array:
        lengths, axes = zip(*((axis.length, axis.place) for axis in self._axes), strict=True)
        if self._axes[0].is_mirrored:
            cosines = self._fft.dctn(values, axes=axes, **self._workers)
            cosines *= self._gains
            return np.asarray(self._fft.idctn(cosines, axes=axes, overwrite_x=True, **self._workers))
        assert self._engine  # noqa: S101  _prepare has made it
        spectrum = self._engine.transformed(values, lengths, axes, None, out=None, half="made")
        spectrum *= self._gains
        return self._engine.transformed(spectrum, lengths, axes, None, out=None, half="given", inverse=True)

    def _base(self, images: Array) -> Array:
        """Return what goes around the transforms: one number, or along one axis one for each line."""
        for axis in self._axes:
            images = _middle(images, axis.place, [i * axis.length // 4 for i in (1, 2, 3)])
        return images

    def _made(self, pixels: Array, facts: Facts, far: float) -> Array:
        """Keep facts about the pixels of a run."""
        self.is_weak = max(facts.undecided) > 1 or NOISE * far < facts.extremes[0, 1] < WEAK * far
        self._facts = facts._replace(undecided=[0.0])
        return pixels

    def facts(self) -> Facts:
        """Return facts about the volume of the last run."""
        return self._facts


def _middle(images: Array, axis: int, places: list[int]) -> Array:
    """Return the middle one of three values along an axis: what goes around the transforms."""
    return np.sort(images.take(places, axis), axis).take([1], axis).astype(np.float64)


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
    plan = VolumePlan(shape, 1, 1, 0, 0, False, gains.beyond, [], 0, gains, not axes[0].is_long, 1)
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
        self._fft = library(MANY)[0]
        three = np.concatenate([self._whole(read(i * depth // 4, i * depth // 4 + 1)) for i in (1, 2, 3)], axis=1)
        self._base = _middle(three, 1, [0, 1, 2])
        for axis in self._in_page:
            self._base = _middle(self._base, axis.place + 1, [i * axis.length // 4 for i in (1, 2, 3)])
        short = [axis for axis in axes if not axis.is_long]
        self._to = {axis.place: axis.matrix().astype(self._real) for axis in short}
        self._from = {axis.place: axis.matrix(back=True).astype(self._real) for axis in short}
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
                    self._sums[channel, :, where] += self._to[0][:, start : start + len(kept)] @ kept[:, where]
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
            values = np.subtract(planes[channel, page : page + 1], self._base[channel], dtype=self._real)
            far = max(far, float(values.max()), -float(values.min()))
            for axis in self._in_page:
                values = self._transformed(axis, values)
            made[channel, page, : down * across] = values.ravel()
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
        made = self._z.back(self._z.forward(values, self._fft) * gains, self._fft)
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
                kept = self._from[0][start:stop] @ self._sums[channel]
            else:
                parts = [self._spectra.get(channel, j, start, stop) for j in range(len(plan.blocks))]
                kept = np.concatenate(parts, axis=1)[:, : down * across]
            for page, numbers in enumerate(kept.reshape(-1, 1, down, across)):
                values = numbers
                for axis in reversed(self._in_page):
                    values = self._transformed(axis, values, back=True)
                made[channel, page] = values
                if planes is not None and plan.beyond:
                    away = np.subtract(planes[channel, page], base[0], dtype=self._real)
                    made[channel, page] += away * self._real.type(plan.beyond)
                made[channel, page] += (self._dc * base[0]).astype(self._real)
        return made

    def _transformed(self, axis: Axis, values: Array, *, back: bool = False) -> Array:
        if axis.is_long:  # some lines at a time
            way, other = axis.back if back else axis.forward, 3 - axis.place
            lines = np.array_split(values, -(-values.shape[other] // LINES), other)
            return np.concatenate([way(each, self._fft) for each in lines], axis=other)
        return axis.product((self._from if back else self._to)[axis.place], values)

    def close(self) -> None:
        self._spectra.close()
