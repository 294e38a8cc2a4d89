"""OpenCL's devices, each with its context and the programs built for it. Which one is taken: ``device_choice.py``."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from numbers import Integral
from weakref import WeakKeyDictionary

import pyopencl as cl

from ..errors import ParameterError, TooLargeError
from ..system import lacking
from . import embedded_pocl
from .programs import build

# A simulator that checks every memory access: right results, a thousand times slower.
SIMULATOR = "Oclgrind"

# Programs of a device that are kept, those that were asked for last; one that is in use stays as long as its kernels.
MOST_PROGRAMS = 64

# One thread at a time makes contexts and programs: another one waits for what it needs, too.
_building = threading.RLock()


@dataclass(eq=False, repr=False)
class Device:
    """One OpenCL device, its context and its programs.

    ``index`` is its place in the list of all devices, ``repaired`` what had to be repaired before it could build
    (see ``embedded_pocl.py``), None if nothing.
    """

    index: int
    cl_device: cl.Device
    repaired: str | None = None
    _context: cl.Context | None = None

    @property
    def name(self) -> str:
        """The device's own name."""
        return str(self.cl_device.name).strip()

    @cached_property
    def platform(self) -> str:
        """The name of its platform."""
        return str(self.cl_device.platform.name).strip()

    @property
    def is_cpu(self) -> bool:
        """Whether it is a CPU, or a simulator, which claims to be every type."""
        return bool(self.cl_device.type & cl.device_type.CPU)

    @property
    def is_gpu(self) -> bool:
        """Whether it is a GPU; a simulator is not."""
        return bool(self.cl_device.type & cl.device_type.GPU) and not self.is_simulator

    @cached_property
    def is_simulator(self) -> bool:
        """Whether it only simulates a device."""
        return SIMULATOR in self.platform

    @cached_property
    def fp64(self) -> bool:
        """Whether it computes in double precision."""
        return bool(self.cl_device.double_fp_config)

    @property
    def memory(self) -> int:
        """The bytes of its memory."""
        return int(self.cl_device.global_mem_size)

    @property
    def work_group_limit(self) -> int:
        """The most work-items that a work-group may have, in one dimension."""
        return int(min(self.cl_device.max_work_group_size, self.cl_device.max_work_item_sizes[0]))

    @property
    def context(self) -> cl.Context:
        """The context that all buffers and programs on this device share."""
        with _building:
            if self._context is None:
                self._context = cl.Context([self.cl_device])
            return self._context

    @cached_property
    def own_builtins(self) -> tuple[str, ...]:
        """The defines that let programs declare OpenCL's functions themselves, where that builds faster."""
        return embedded_pocl.own_builtins(self.cl_device)

    def program(self, names: tuple[str, ...], defines: tuple[str, ...], options: tuple[str, ...] = ()) -> cl.Program:
        """Return the program of these files with these defines and compiler options, built on first use."""
        with _building:
            return self._build(names, defines, options)

    def kernel(
        self, names: tuple[str, ...], defines: tuple[str, ...], kernel: str, options: tuple[str, ...]
    ) -> tuple[cl.Kernel, list[cl.Kernel]]:
        """Return a kernel of that program, and the list where it waits to be used again, by the one who drops it.

        pyopencl generates Python's code for each new one, which takes longer than filtering a small picture.
        """
        with _building:  # pyopencl warns if two threads do so at once
            program = self.program(names, defines, options)
            free = self._free.setdefault(program, {}).setdefault(kernel, [])
            return free.pop() if free else cl.Kernel(program, kernel), free

    @cached_property
    def _free(self) -> WeakKeyDictionary[cl.Program, dict[str, list[cl.Kernel]]]:
        return WeakKeyDictionary()

    @cached_property
    def _build(self) -> Callable[..., cl.Program]:
        return lru_cache(MOST_PROGRAMS)(partial(build, self.context))

    def check_work_group_size(self, size: int) -> None:
        """Raise ParameterError unless a work-group may have that many work-items."""
        if not isinstance(size, Integral) or not 1 <= size <= self.work_group_limit:
            sizes = " ".join(str(s) for s in self.cl_device.max_work_item_sizes)
            raise ParameterError(
                f"work-group size {size} is not possible on {self.name}: give 1 to {self.work_group_limit} "
                f"(work-group size {self.cl_device.max_work_group_size}, work-item sizes {sizes})"
            )

    def check_memory(self, what: str, buffers: list[int]) -> None:
        """Raise TooLargeError if the device cannot hold buffers of these sizes in bytes; allocates nothing."""
        most, total = max(buffers), sum(buffers)
        for need, have, where in (
            (most, self.cl_device.max_mem_alloc_size, "in one buffer"),
            (total, self.cl_device.global_mem_size, "in all"),
        ):
            if need > have:
                raise TooLargeError(
                    f"{what} needs {need:,} bytes {where} and {self.name} has {have:,}: "
                    "take a smaller image or a device with more memory"
                )
        # A CPU uses this machine's memory, and reports all of it, free or not.
        if not self.is_gpu and (free := lacking(total)) is not None:
            raise TooLargeError(
                f"{what} needs {total:,} bytes, more than the {free:,} of memory that are free: take a smaller image"
            )


@cache
def devices() -> tuple[Device, ...]:
    """Return the devices of all platforms, in the order of their indices, each ready to build."""
    embedded_pocl.prepare_environment()
    try:
        platforms = cl.get_platforms()
    except cl.LogicError:
        return ()
    found: list[cl.Device] = []
    for platform in platforms:
        try:
            found += platform.get_devices()
        except cl.Error:
            continue  # a platform without devices
    return tuple(Device(index, each, embedded_pocl.repair(each)) for index, each in enumerate(found))
