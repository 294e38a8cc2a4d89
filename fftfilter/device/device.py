"""One OpenCL device: its name, its limits, and what was built for it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral

import pyopencl as cl

from ..errors import ParameterError, TooLargeError
from ..system import lacking
from . import embedded_pocl
from .programs import build

# A simulator that checks every memory access: right results, a thousand times slower. Only taken by name.
SIMULATORS = ("Oclgrind",)

# Programs of a device that are kept, those that were asked for last; one that is in use stays as long as its kernels.
MOST_PROGRAMS = 64

# One thread at a time makes contexts and programs: another one waits for what it needs, too.
_building = threading.RLock()


@dataclass(eq=False)
class Device:
    """One OpenCL device and what was built for it.

    ``index`` is its place in the list of all devices, ``repaired`` what had to be repaired before it could build
    (see ``embedded_pocl.py``), None if nothing.
    """

    index: int
    cl_device: cl.Device
    repaired: str | None = None
    _context: cl.Context | None = field(default=None, repr=False)
    _programs: dict[tuple[tuple[str, ...], ...], cl.Program] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The device's own name."""
        return str(self.cl_device.name).strip()

    @cached_property
    def platform(self) -> str:
        """The name of its platform."""
        return str(self.cl_device.platform.name).strip()

    @property
    def is_gpu(self) -> bool:
        """Whether it is a GPU; a simulator, which says that it is everything, is not."""
        return bool(self.cl_device.type & cl.device_type.GPU) and not self.is_simulator

    @cached_property
    def is_simulator(self) -> bool:
        """Whether it only simulates a device."""
        return any(name in self.platform for name in SIMULATORS)

    @cached_property
    def fp64(self) -> bool:
        """Whether it computes in double precision."""
        return bool(self.cl_device.double_fp_config)

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
        """The defines for programs that declare OpenCL's functions themselves where that builds faster, else none."""
        no_header = embedded_pocl.without_header(self.cl_device)
        return ("OWN_BUILTINS=1", *no_header) if no_header else ()

    def program(self, names: tuple[str, ...], defines: tuple[str, ...], options: tuple[str, ...] = ()) -> cl.Program:
        """Return the program of these files with these defines and compiler options, built on first use."""
        key = (names, defines, options)
        with _building:
            program = self._programs.pop(key, None) or build(self.context, *key)
            self._programs[key] = program
            while len(self._programs) > MOST_PROGRAMS:
                del self._programs[next(iter(self._programs))]
            return program

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
        limits = (
            (max(buffers), self.cl_device.max_mem_alloc_size, "in one buffer"),
            (sum(buffers), self.cl_device.global_mem_size, "in all"),
        )
        for need, have, where in limits:
            if need > have:
                raise TooLargeError(
                    f"{what} needs {need:,} bytes {where} and {self.name} has {have:,}: "
                    "take a smaller image or a device with more memory"
                )
        # What a CPU takes is this machine's memory, of which it reports all, not what is free.
        need = sum(buffers)
        if not self.is_gpu and (free := lacking(need)) is not None:
            raise TooLargeError(
                f"{what} needs {need:,} bytes, more than the {free:,} of memory that are free: take a smaller image"
            )
