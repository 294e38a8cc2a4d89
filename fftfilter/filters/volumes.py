"""Volumes and time: a filter along one axis of an array, or along three, in NumPy.

H is a function of the frequency along these axes, and even along each of them. So real values stay real: an axis has
the Hartley transform, whose waves are cos + sin, or with mirrored edges the cosine transform:

    values less their offset -> along z, y, x -> gains -> along x, y, z -> values

Beyond its support, the frequencies where it varies, H is constant. Only frequencies within are kept, axis by axis. A
transform of up to ``FEW`` frequencies is a product of matrices, which is faster than an FFT; of more it is an FFT on
the device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..device_choice import NUMPY
from ..errors import ParameterError
from ..output.ramp import on_ramps
from ..output.rounding import NOISE, WEAK
from ..plain import NumPyLauncher
from ..region import RegionOptions
from ..system import check_memory
from ..transfer.grid import NEGLIGIBLE
from ..transfer.shapes import SHAPES
from ..transfer.units import parse_pixel_size
from ..transforms import Engine

if TYPE_CHECKING:
    from ..arrays import Array, Floats
    from ..device.launcher import Launcher
    from ..output.histogram import Ramps
    from ..output.ramp import Facts, Stack
    from ..transfer import Transfer
    from ..transfer.radial import Radial
    from .description import Description

# Frequencies of an axis up to which a product of matrices is faster than an FFT.
FEW = 512
# Numbers a sample that a volume takes at most.
NUMBERS = 5
# The algorithm of what is filtered once more in double precision.
IN_DOUBLE = "stockham"
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

    def forward(self, values: Array, engine: Engine | None) -> Array:
        """Return the transform of real values."""
        if engine is None or not self.is_long:
            return self._product(self._waves(), values)
        spectrum = engine.transformed(values, (self.period,), (self.place,), None, out=None)
        spectrum = spectrum.take(self.order % self.period, self.place)
        return np.ascontiguousarray((spectrum * self._along(self.turns, spectrum)).real)

    def back(self, made: Array, engine: Engine | None) -> Array:
        """Return the values of a transform."""
        if engine is None or not self.is_long:
            return self._product((self._waves() * self.weights[:, None]).T, made)
        before: tuple[Any, ...] = (slice(None),) * self.place
        number = np.result_type(made, np.complex64)
        spectrum = np.zeros((*made.shape[: self.place], self.period, *made.shape[self.place + 1 :]), number)
        spectrum[(*before, self.order)] = made * self._along(self.weights * self.turns, spectrum)
        values = engine.transformed(spectrum, None, (self.place,), None, out=None)
        return np.ascontiguousarray(values[(*before, slice(self.length))].real)

    def _along(self, numbers: Array, like: Array) -> Array:
        return numbers.reshape(-1, *(1,) * (2 - self.place)).astype(like.dtype)

    def _waves(self) -> Floats:
        """Return the waves of the transform, ``(frequencies, length)``."""
        steps = self.order[:, None] * np.arange(self.length) % self.period
        return np.asarray((self.turns[:, None] * np.exp(-2j * np.pi / self.period * steps)).real)

    def _product(self, matrix: Floats, values: Array) -> Array:
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

    def __init__(self, launcher: Launcher, described: Description, stack: Stack) -> None:
        self.stack, self._real, self._engine = stack, launcher.real, None
        check_memory(stack.height, stack.width, stack.size * NUMBERS * launcher.real.itemsize, str(stack))
        self._axes, self._beyond, gains = _gains(described, stack.shape)
        self._dc = self._beyond + float(gains[0, 0, 0])
        for axis in self._axes:
            gains = gains.take(np.abs(axis.order), axis.place)
        self._gains = gains.astype(launcher.real)
        if any(axis.is_long for axis in self._axes):
            is_numpy = isinstance(launcher, NumPyLauncher)
            name = NUMPY if is_numpy else IN_DOUBLE if launcher.real == np.float64 else None
            device = None if is_numpy else described.options.get("device")
            self._engine = Engine(name, device, described.options.get("precision", "single"))

    def run(self, images: Array, ramps: Ramps = None) -> Array:
        """Filter a volume, and return its pixels."""
        base = self._base(images)
        away = np.subtract(images, base, dtype=self._real)
        far, values = max(float(away.max()), -float(away.min())), away
        for axis in self._axes:
            values = axis.forward(values, self._engine)
        values *= self._gains
        for axis in reversed(self._axes):
            values = axis.back(values, self._engine)
        if self._beyond:
            away *= self._beyond
            values += away
        del away
        if self._dc:
            values += (self._dc * base).astype(self._real)
        made, facts = on_ramps(values, self.stack, ramps, np.array([far]))
        self.is_weak = max(facts.undecided) > 1 or NOISE * far < facts.extremes[0, 1] < WEAK * far
        self._facts = facts._replace(undecided=[0.0])
        return made

    def _base(self, images: Array) -> Array:
        """Return the middle one of three values along each filtered axis: what goes around the transforms."""
        for axis in self._axes:
            places = [i * axis.length // 4 for i in (1, 2, 3)]
            images = np.sort(images.take(places, axis.place), axis.place).take([1], axis.place)
        return images.astype(np.float64)

    def facts(self) -> Facts:
        """Return facts about the volume of the last run."""
        return self._facts


def _gains(described: Description, shape: tuple[int, int, int]) -> tuple[list[Axis], float, Floats]:
    """Return the axes, the gain beyond the frequencies that these keep, and by how much those within differ from it.

    They are ``(depth, height, width)``, from frequency 0 up, 1 wide along other axes, and sums of squares of distances
    along the axes: of whole numbers in a cube.
    """
    transfer, volume, is_mirrored = described.on_grid, described.volume, described.edges == "mirror"
    assert volume is not None  # noqa: S101  pipelines.py has asked
    places = range(volume.number)
    n, parts = min(shape[place] for place in places), [part.radial for part in transfer.parts if part.radial]
    axes = [Axis(i, shape[i], is_mirrored, shape[i] if is_mirrored else shape[i] // 2 + 1) for i in places]

    def squares(part: Radial) -> list[Floats]:
        pixel = next((each.pixel for each in (part.outer, part.inner) if each and each.is_physical), None)
        steps = [pixel[0] / size for size in volume.sizes] if pixel and volume.sizes else [1.0] * len(axes)
        return [
            np.square(np.arange(axis.kept) * n / ((1 + is_mirrored) * axis.length) * step)
            for axis, step in zip(axes, steps, strict=True)
        ]

    def low(part: Radial, radius: float, square: Floats) -> Floats:
        function = SHAPES[part.shape].gain
        if function is None:
            return np.asarray(square < radius * radius, np.float64)
        return function(square / (radius * radius), part.falloff(radius, n, n))

    beyond = float(all(part.is_complement for part in parts))
    if len(parts) == 1:  # of several, all frequencies are kept
        outer, _ = parts[0].radii(n, n)
        kept = [int(np.count_nonzero(low(parts[0], outer, each) > NEGLIGIBLE)) for each in squares(parts[0])]
        axes = [axis._replace(kept=max(1, most)) for axis, most in zip(axes, kept, strict=True)]
    beyond = transfer.floor + (1 - transfer.floor) * beyond
    made = np.ones([next((axis.kept for axis in axes if axis.place == i), 1) for i in range(3)])
    for part in parts:
        outer, inner = part.radii(n, n)
        of_axes = dict(zip(places, squares(part), strict=True))
        of_depth, of_height, of_width = (of_axes.get(i, np.zeros(1)) for i in range(3))
        for i, near in enumerate(of_depth):
            square = near + of_height[:, None] + of_width
            passed = low(part, outer, square)
            if inner is not None:
                passed *= 1 - low(part, inner, square)
            made[i] *= 1 - passed if part.is_complement else passed
    made *= 1 - transfer.floor
    made += transfer.floor
    if transfer.keeps_mean:
        made[0, 0, 0] = 1
    made -= beyond
    return axes, beyond, made
