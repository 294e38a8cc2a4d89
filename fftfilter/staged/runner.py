"""Runs plans: binds names to buffers, builds missing kernels, launches in order."""

from __future__ import annotations

from math import prod
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import pyopencl as cl

from .plan import Argument, Launch, Local, X, Y

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, MutableMapping

    from ..device.device import Device
    from ..device.launcher import Launcher

    Names = MutableMapping[str, Any]
    Key = tuple[str, tuple[str, ...], str]
    Program = tuple[tuple[str, ...], tuple[str, ...]]

# The program of each kernel that a device has, its files and defines, by the name of real numbers and the kernel's key.
_PROGRAMS: WeakKeyDictionary[Device, dict[tuple[str, Key], Program]] = WeakKeyDictionary()


class Runner:
    """The kernels of plans on a device, built when they are first needed."""

    def __init__(self, launcher: Launcher) -> None:
        self.launcher = launcher
        self._kernels: dict[Key, cl.Kernel] = {}

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
            sources = tuple(dict.fromkeys(file for launch in compatible for file in (*launch.before, launch.source)))
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

    def _run_on_host(self, launch: Launch, host: Callable[..., np.ndarray[Any, Any]], names: Names) -> None:
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
