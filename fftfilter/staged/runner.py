"""Runs plans: builds missing kernels, allocates buffers, binds names to them, and launches in order.

`Transform` runs an FFT of arrays, by any algorithm, as one plan.
"""

from __future__ import annotations

from functools import partial
from math import prod
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import pyopencl as cl

from .steps import FORWARD, IMAGE, SPIN, Argument, Launch, Local, RowPlan, X, Y, fft_core, plan_rows, transpose

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
            self._kernels[key] = self.launcher.kernel(*programs[real, key], launch.kernel)

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
            arguments = [self._argument(argument, names) for argument in launch.arguments]
            self.launcher.launch(launch.step, self._kernels[_key(launch)], arguments, *self._work_size(launch))
            if launch.swap:
                names[X], names[Y] = names[Y], names[X]

    def _run_on_host(self, launch: Launch, host: Callable[..., Array], names: Names) -> None:
        n, rows = launch.items
        data = np.empty((rows, n), self.launcher.complex)
        self.launcher.read(data, names[X])
        begin = perf_counter_ns()
        data = host(data, *(self._argument(argument, names) for argument in launch.arguments))
        self.launcher.keep_host_time(launch.step, begin, perf_counter_ns())
        self.launcher.write(names[X], np.ascontiguousarray(data, self.launcher.complex))

    def _argument(self, argument: Argument, names: Names) -> Any:
        if isinstance(argument, str):
            argument = names[argument]
        if isinstance(argument, Local):
            return cl.LocalMemory(argument.numbers * self.launcher.complex.itemsize)
        if isinstance(argument, float):
            return self.launcher.real.type(argument)
        if isinstance(argument, int):
            return np.uint32(argument)
        return argument

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
