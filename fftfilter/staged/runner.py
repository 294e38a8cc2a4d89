"""Runs plans: builds missing kernels, allocates buffers, binds names to them, and launches in order.

A transform of arrays by any algorithm is one prepared plan.
"""

from __future__ import annotations

from functools import partial
from math import prod
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import pyopencl as cl

from .steps import FORWARD, IMAGE, SPIN, Launch, Local, RowPlan, X, Y, fft_core, plan_rows, transpose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, MutableMapping

    from ..device.choice import Device
    from ..device.launcher import Kernel, Launcher
    from .algorithms import Algorithm

    Array = np.ndarray[Any, Any]
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

    ``elements`` is the most complex numbers that the data takes while the plans run, ``launches`` what will be run (its
    kernels are built at once), ``image_bytes`` the size of the image's own buffer, ``tables`` what else the launches
    read, by name. Raises TooLargeError, naming ``what``, before anything is allocated.
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
        sizes = dict.fromkeys((X, Y), elements * item) | ({IMAGE: image_bytes} if image_bytes else {})
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
            turn = partial(transpose, kind=method.transpose, side=launcher.tile_side)
            there, back = turn(width, height, count), turn(height, width, count)
            launches += (there, *fft_core(columns, count * width, direction), back)
        elements = count * max(height * rows.width, width * columns.width)
        self._launches = launches
        self._space = Workspace(launcher, (rows, columns), elements, f"a transform of {count} x {height} x {width}")

    def load(self, data: Array) -> None:
        """Copy contiguous data of the launcher's precision to the device; a run leaves its result in their place."""
        self._space.write(X, data)

    def run(self) -> None:
        """Launch all of it."""
        self._space.run(self._launches)

    def result(self) -> Array:
        """Return the data on the device, in the shape of the arrays."""
        return self._space.read(X, np.empty(self.shape, self._space.launcher.complex))
