"""Runs plans: builds missing kernels, allocates buffers, binds names to them, and launches in order.

A transform of arrays by any algorithm is one prepared plan, and the book's flow chart is a list of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping
from functools import partial
from math import prod
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..arrays import Array
from ..output.histogram import Ramps
from ..output.ramp import PIXELS, Facts, Stack, of_values, on_ramps, own_ramps, real_of
from ..output.rounding import NOISE, WEAK, deviation, most_undecided, offset
from ..transfer import Transfer
from . import steps
from .steps import FORWARD, INVERSE, SPIN, Launch, Local, RowPlan, X, Y, fft_core, plan_rows

if TYPE_CHECKING:
    from ..device.launcher import Kernel, Launcher
    from ..device.opencl import Device
    from .algorithms import Algorithm

Names = MutableMapping[str, Any]
Key = tuple[str, tuple[str, ...], str]
Program = tuple[tuple[str, ...], tuple[str, ...]]

# The program of each kernel that a device has, its files and defines, by the name of real numbers and the kernel's key.
_PROGRAMS: WeakKeyDictionary[Device, dict[tuple[str, Key], Program]] = WeakKeyDictionary()


class Runner:
    """The kernels of plans on a device, built when they are first needed."""

    def __init__(self, launcher: Launcher) -> None:
        self.launcher = launcher
        self._kernels: dict[Key, Kernel] = {}
        self._bound: dict[Key, dict[str, Any]] = {}  # the values of a kernel's arguments

    def build(self, launches: Iterable[Launch]) -> None:
        """Build the kernels that launches lack, in as few programs as their defines allow: each takes 20 ms and more.

        Kernels that another runner has built on the device are taken from its programs.
        """
        lacking = {_key(launch): launch for launch in launches if not launch.host and _key(launch) not in self._kernels}
        programs = _PROGRAMS.setdefault(self.launcher.device, {})
        real = self.launcher.real_name
        missing = [launch for key, launch in lacking.items() if (real, key) not in programs]
        while missing:
            values: dict[str, str] = {}
            compatible: list[Launch] = []
            for launch in missing:
                own = dict(define.split("=", 1) for define in launch.defines)
                if all(values.get(name, value) == value for name, value in own.items()):
                    values |= own
                    compatible.append(launch)
            sources = tuple(dict.fromkeys(launch.source for launch in compatible))
            defines = tuple(f"{name}={value}" for name, value in values.items())
            for launch in compatible:
                programs[real, _key(launch)] = sources, defines
            missing = [launch for launch in missing if (real, _key(launch)) not in programs]
        for key, launch in lacking.items():
            later = dict.fromkeys(launch.arguments)
            self._kernels[key] = self.launcher.kernel(*programs[real, key], launch.kernel, later)

    def run(self, launches: Iterable[Launch], names: Names) -> None:
        """Launch in order; ``names`` maps the names in their arguments to buffers and numbers.

        X and Y change places in ``names`` after each launch that works out of place.
        """
        launches = tuple(launches)
        self.build(launches)
        for launch in launches:
            if launch.host:
                self._run_on_host(launch, launch.host, names)
                continue
            key, given = _key(launch), self._values(launch, names)
            kernel, before = self._kernels[key], self._bound.get(key, {})
            # Most values are those of the last launch: it is faster to compare them than to set them again.
            kernel.bind(**{name: value for name, value in given.items() if before.get(name) is not value})
            self._bound[key] = given
            self.launcher.enqueue(launch.step, kernel, *self._work_size(launch))
            if launch.swap:
                names[X], names[Y] = names[Y], names[X]

    def _run_on_host(self, launch: Launch, host: Callable[..., Array], names: Names) -> None:
        n, rows = launch.items
        data = np.empty((rows, n), self.launcher.complex)
        self.launcher.read(data, names[X])
        begin = perf_counter_ns()
        data = host(data, **self._values(launch, names))
        self.launcher.keep_host_time(launch.step, begin, perf_counter_ns())
        self.launcher.write(names[X], np.ascontiguousarray(data, self.launcher.complex))

    def _values(self, launch: Launch, names: Names) -> dict[str, Any]:
        """Return the arguments of a launch, with buffers and numbers in place of names."""
        import pyopencl as cl  # which the room device has to import first

        values = {name: names[a] if isinstance(a, str) else a for name, a in launch.arguments.items()}
        number = self.launcher.complex.itemsize
        return {name: cl.LocalMemory(a.numbers * number) if isinstance(a, Local) else a for name, a in values.items()}

    def _work_size(self, launch: Launch) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return global and local size; the first is rounded up to whole work-groups."""
        group = launch.group or (self.launcher.work_group_size, *(1 for _ in launch.items[1:]))
        if launch.group:
            self.launcher.device.check_work_group_size(prod(group))
        items = tuple(-(-i // g) * g for i, g in zip(launch.items, group, strict=True))
        return items, group


def _key(launch: Launch) -> Key:
    return launch.source, launch.defines, launch.kernel


class Workspace:
    """Buffers for rows of several lengths, the spin factors filled in.

    ``elements``: peak size of the data, in complex numbers. ``launches``: what will be run; kernels are built at once.
    ``image_bytes``: size of the image's own buffer. ``tables``: what else the launches read, by name. Raises
    TooLargeError, naming ``what``, before anything is allocated.
    """

    def __init__(
        self,
        launcher: Launcher,
        plans: Iterable[RowPlan],
        elements: int,
        what: str,
        *,
        launches: tuple[Launch, ...] = (),
        image_bytes: int = 0,
        tables: Mapping[str, Array] | None = None,
    ) -> None:
        self.launcher = launcher
        self.runner = Runner(launcher)
        tables = tables or {}
        filled = {plan.spin: plan for plan in plans if plan.spin_length}
        item = launcher.complex.itemsize
        sizes = dict.fromkeys((X, Y), elements * item) | ({steps.IMAGE: image_bytes} if image_bytes else {})
        sizes |= {name: plan.spin_length * item for name, plan in filled.items()}
        sizes |= {name: table.nbytes for name, table in tables.items()}
        launcher.device.check_memory(what, list(sizes.values()))
        self.runner.build((*(launch for plan in filled.values() for launch in plan.tables), *launches))

        self.names: dict[str, Any] = {name: launcher.allocate(size) for name, size in sizes.items()}
        for name, table in tables.items():
            self.write(name, table)
        for name, plan in filled.items():
            self.run(launch.bind({SPIN: name}) for launch in plan.tables)

    def run(self, launches: Iterable[Launch]) -> None:
        """Launch on these buffers."""
        self.runner.run(launches, self.names)

    def write(self, name: str, array: Array) -> None:
        """Copy a contiguous host array into a buffer."""
        self.launcher.write(self.names[name], array)

    def read(self, name: str, array: Array) -> Array:
        """Copy a buffer's beginning into a contiguous host array, and return it."""
        self.launcher.read(array, self.names[name])
        return array


class Transform:
    """A transform prepared on a device for arrays ``(count, height, width)``, over one axis or two.

    Raises TooLargeError for more than the device holds.
    """

    def __init__(
        self, launcher: Launcher, method: Algorithm, shape: tuple[int, int, int], axes: int, direction: int = FORWARD
    ) -> None:
        self.shape = count, height, width = shape
        rows = plan_rows(width, method)
        columns = plan_rows(height if axes == 2 else 1, method)
        launches = fft_core(rows, count * height, direction)
        if axes == 2:
            turn = partial(steps.transpose, kind=method.transpose, side=launcher.tile_side)
            there, back = turn(width, height, count), turn(height, width, count)
            launches += (there, *fft_core(columns, count * width, direction), back)
        elements = count * max(height * rows.width, width * columns.width)
        self._launches = launches
        self._space = Workspace(launcher, (rows, columns), elements, f"a transform of {count} x {height} x {width}")

    def run(self, data: Array) -> Array:
        """Return the transform of arrays; numbers beyond the launcher's precision become infinite."""
        number = self._space.launcher.complex
        with np.errstate(over="ignore"):
            self._space.write(X, np.ascontiguousarray(data, number))
        self._space.run(self._launches)
        return self._space.read(X, np.empty(self.shape, number))


class VolumeFilter:
    """A filter of volumes ``(depth, height, width)`` along z, or along z, y and x, on a device.

    Lines along z are one more pass, behind the transpose of one image whose rows are the pages:

        rows -> transpose -> columns -> transpose -> lines -> mask -> lines -> transpose -> columns -> transpose -> rows

    ``gains`` are those of all frequencies, ``(depth, 1, 1)`` along z alone. Raises TooLargeError.
    """

    def __init__(
        self,
        launcher: Launcher,
        method: Algorithm,
        shape: tuple[int, int, int],
        gains: Array,
        *,
        transpose_kind: str | None = None,
    ) -> None:
        self.shape = depth, height, width = shape
        size, page, kept = depth * height * width, height * width, gains.size // depth
        rows, columns, lines = (plan_rows(n, method) for n in (width, height, depth))
        turn = partial(steps.transpose, kind=transpose_kind or method.transpose, side=launcher.tile_side)
        there = turn(page, depth, 1), *fft_core(lines, page, FORWARD)
        back = *fft_core(lines, page, INVERSE), turn(depth, page, 1)
        plans = [lines]
        if kept == page:
            in_page = *fft_core(rows, size // width, FORWARD), turn(width, height, depth)
            there = *in_page, *fft_core(columns, size // height, FORWARD), *there
            of_page = *fft_core(columns, size // height, INVERSE), turn(height, width, depth)
            back = *back, *of_page, *fft_core(rows, size // width, INVERSE)
            plans += rows, columns
        elements = max(size // plan.n * plan.width for plan in plans)
        self._launches = *there, steps.mask(depth, kept, page // kept, None), *back
        what, tables = f"a volume of {depth} x {height} x {width}", {steps.MASK: np.ascontiguousarray(gains.T)}
        self._space = Workspace(launcher, plans, elements, what, launches=self._launches, tables=tables)

    def run(self, values: Array) -> Array:
        """Return a volume filtered, real numbers."""
        number = self._space.launcher.complex
        self._space.write(X, np.ascontiguousarray(values, number))
        self._space.run(self._launches)
        return self._space.read(X, np.empty(self.shape, number)).real


# The flow chart

# Pixels as the device loads them; in double precision also float64.
LOADED = PIXELS | {np.dtype(np.float64): "double"}


class Box(NamedTuple):
    """A box of the flow chart: its launches, the name of what they leave in X, and the shape that this has there.

    What the transforms leave lacks the offset: times ``gain``, it belongs to the numbers at ``place``.
    """

    leaves: str
    launches: tuple[Launch, ...]
    shape: tuple[int, int, int]
    place: tuple[slice | int, ...] = ()
    gain: float = 0.0


def buffer_bytes(algorithm: Algorithm, shape: tuple[int, int, int], precision: str | None) -> int:
    """Return the bytes of the device that a stack takes: two buffers of complex numbers and the pixels."""
    number = 16 if precision == "double" else 8
    count, height, width = shape
    longest = max(height * plan_rows(width, algorithm).width, width * plan_rows(height, algorithm).width)
    return count * (2 * longest * number + height * width)


class StagedPipeline:
    """The whole filter for a stack of images: a list of launches on two complex buffers, the image and some tables.

    Filtered values that are not scaled have the launcher's precision; they are complex if the stack's ``out`` is.
    """

    weak = WEAK

    def __init__(
        self,
        launcher: Launcher,
        transfer: Transfer,
        stack: Stack,
        *,
        algorithm: Algorithm,
        transpose_kind: str | None = None,
    ) -> None:
        self.stack, self._is_real = stack, transfer.is_real
        count, height, width = stack.shape
        rows = plan_rows(width, algorithm)
        columns = plan_rows(height, algorithm)
        upright, turned = stack.shape, (count, width, height)
        pictures = stack.pictures
        values = stack.size // pictures
        group = launcher.reduction_size
        pair = steps.first_pair(values, pictures, group)
        _, table = transfer.on_grid(height, width, real=launcher.real.str)
        if table is None and transfer.keeps_mean:
            table = transfer.gain(height, width, unit=transfer.largest, real=launcher.real.str)
        radial = transfer.radial if table is None else None
        dc = transfer.at_dc(table)
        # The bins may lie in any order between the transforms, as long as the mask is read in that order.
        order = (columns.reversed_bits, rows.reversed_bits)
        turn = partial(steps.transpose, kind=transpose_kind or algorithm.transpose, side=launcher.tile_side)

        everywhere, left, top, corner = np.s_[:, :, :], np.s_[:, :, 0], np.s_[:, 0, :], np.s_[:, 0, 0]
        one, whole = float(width), float(width * height)
        masked = steps.mask(height, width, count, radial, order, is_complex=transfer.is_complex)

        self.flow: tuple[Box, ...] = (
            Box("image", (steps.load(width, height, count, LOADED[stack.pixel]),), upright, everywhere, 1.0),
            Box("rows", fft_core(rows, count * height, FORWARD, ordered=False), upright, left, one),
            Box("rows-transposed", (turn(width, height, count),), turned, top, one),
            Box("spectrum", fft_core(columns, count * width, FORWARD, ordered=False), turned, corner, whole),
            Box("spectrum-masked", (masked,), turned, corner, dc * whole),
            Box("columns-inverse", fft_core(columns, count * width, INVERSE, ordered=False), turned, top, dc * one),
            Box("columns-transposed", (turn(height, width, count),), upright, left, dc * one),
            Box("filtered", fft_core(rows, count * height, INVERSE, ordered=False), upright, everywhere, dc),
            Box("magnitude", (steps.magnitude(width, height, count, dc),), upright),
            Box("extremes", steps.extremes(values, pictures, group), upright),
        )
        if stack.white is not None and stack.out in PIXELS:  # others are made by the host
            self.flow += (Box("output", (steps.quantize(values, pictures, pair, PIXELS[stack.out]),), upright),)
        own = own_ramps(stack)
        if launcher.real != np.float32:
            own["undecided"] = 0  # double precision decides every sample
        self._pairs = pair, pictures
        # The extremes lie in the buffer that is free by then. A tiny image has fewer pixels than they have numbers.
        elements = max(count * height * rows.width, count * width * columns.width, pair + pictures)
        self._workspace = Workspace(
            launcher,
            (rows, columns),
            elements,
            str(stack),
            launches=tuple(launch for box in self.flow for launch in box.launches),
            image_bytes=stack.size * max(stack.pixel.itemsize, stack.out.itemsize),
            tables={
                steps.MASK: steps.mask_table(height, width, radial, table),
                steps.OFFSET: np.zeros(count, launcher.real),
                steps.NOISE_FLOOR: np.zeros(pictures, launcher.real),
                steps.RAMPS: of_values(own),
                steps.UNDECIDED: np.zeros(pictures, np.uint32),
            },
        )

    def run(self, images: Array, ramps: Ramps = None, *, observe: Callable[[str, Array], None] | None = None) -> Array:
        """Filter images ``(count, height, width)``, and return their pixels.

        On ramps the host makes them; without, they are magnitudes, each picture with its own range, or values as they
        are. ``observe`` is called with the name of each box's result and its contents as they lie in the buffer.
        """
        space = self._workspace
        real = space.launcher.real
        base = offset(images)
        self._far = deviation(images).reshape(self.stack.pictures, -1).max(axis=1)
        self._clipped, self._undecided = np.zeros(self.stack.pictures), [0.0] * self.stack.pictures
        space.write(steps.OFFSET, base.astype(real))
        space.write(steps.NOISE_FLOOR, (NOISE * self._far).astype(real))
        space.write(steps.UNDECIDED, np.zeros(self.stack.pictures, np.uint32))
        space.write(steps.IMAGE, np.ascontiguousarray(images))

        def read(box: Box) -> Array:
            found = space.read(X, np.empty(box.shape, real if box.leaves == "magnitude" else space.launcher.complex))
            found[box.place] += (box.gain * base).reshape(-1, *(1 for _ in found[box.place].shape[1:]))
            return found

        for box in self.flow:
            if ramps is not None and box.leaves == "output":
                break
            space.run(box.launches)
            if observe is not None and box.leaves not in ("extremes", "output"):
                observe(box.leaves, read(box))
            if box.leaves == "filtered" and (self.stack.white is None or ramps is not None):
                values = read(box)
        if self.stack.white is None:
            return np.ascontiguousarray(values if self.stack.out.kind == "c" else values.real)
        if ramps is None:
            result = space.read(steps.IMAGE, np.empty(self.stack.shape, self.stack.out))
            counts = space.read(steps.UNDECIDED, np.empty(self.stack.pictures, np.uint32))
            self._undecided = (counts / most_undecided(self.stack)).tolist()
        else:
            values = np.ascontiguousarray(values.real if self._is_real else real_of(values, ramps))
            result, facts = on_ramps(values, self.stack, ramps, self._far)
            self._clipped, self._undecided = facts.clipped, facts.undecided
        if observe is not None:
            observe("output", result)
        return result

    def facts(self) -> Facts:
        """Return facts about the pictures of the last run."""
        first, pictures = self._pairs
        pairs = self._workspace.read(Y, np.empty(first + pictures, self._workspace.launcher.complex))[first:]
        extremes = np.stack([pairs.real, pairs.imag], axis=1)
        return Facts(extremes, self._clipped, self._undecided, lambda: self._far)
