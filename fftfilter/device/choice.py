"""OpenCL devices: lists them, chooses one, and keeps the programs built for it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from numbers import Integral

import pyopencl as cl

from ..drivers import VARIABLE, check_process, note_process
from ..errors import DeviceError, ParameterError, TooLargeError
from ..system import lacking
from . import embedded_pocl, selftest
from .launcher import MakePipeline
from .programs import build

# The CPU runtimes that auto knows, best first; of two of a kind auto takes the later version.
CPU_RUNTIMES = ("Intel(R) OpenCL", "Portable Computing Language")
# A simulator that checks every memory access: right results, a thousand times slower. Only taken by name.
SIMULATOR = "Oclgrind"

# One thread at a time finds, repairs and checks devices, so that each is one object for all threads.
_choosing = threading.RLock()


def open_device(wanted: str | int | None, make_pipeline: MakePipeline) -> Device:
    """Return the device that ``wanted`` names (see :func:`choose`), checked with a small filter if it is new here.

    ``make_pipeline`` makes the pipeline that filters. Raises DeviceError if it lacks what it needs to build
    programs, RefusedError if it computes wrongly.
    """
    check_process()
    with _choosing:
        device = choose(wanted)
        selftest.check(device, make_pipeline)
    return device


def choose(wanted: str | int | None = None) -> Device:
    """Return the device that ``wanted`` names: auto, gpu, cpu, an index (also as a number) or a part of a name.

    None takes the environment variable FFTFILTER_DEVICE, and auto where that is not set. Raises DeviceError if
    there is no such device.
    """
    asked = wanted if wanted is not None else os.environ.get(VARIABLE) or "auto"
    check_process()
    with _choosing:
        found = all_devices()
        if not found:
            why = embedded_pocl.lack() or "run 'fftfilter devices' for what is missing and how to install it"
            raise DeviceError(f"no OpenCL device: {why}")
        return _device(_index(str(asked), found))


@cache
def all_devices() -> tuple[cl.Device, ...]:
    """Return the devices of all platforms, in the order of their indices."""
    note_process()
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
    return tuple(found)


def rank(device: cl.Device) -> tuple[int, int, str]:
    """Return how much auto prefers a device, larger is better: GPUs, then the best CPU runtime, then the rest."""
    platform = device.platform.name
    if SIMULATOR in platform:
        return (0, 0, "")
    if device.type & cl.device_type.GPU:
        return (3, device.max_compute_units, "")
    known = [len(CPU_RUNTIMES) - i for i, name in enumerate(CPU_RUNTIMES) if name in platform]
    return (2 if device.type & cl.device_type.CPU else 1, max(known, default=0), device.platform.version)


@cache
def _device(index: int) -> Device:
    """Return the device at a place in the list, the same object every time, ready to build."""
    chosen = all_devices()[index]
    return Device(index, chosen, embedded_pocl.repair(chosen))


def _index(asked: str, found: tuple[cl.Device, ...]) -> int:
    by_rank = sorted(range(len(found)), key=lambda i: rank(found[i]), reverse=True)
    choice = asked.strip().lower()
    if choice == "auto":
        if rank(found[by_rank[0]])[0] == 0:
            why = embedded_pocl.lack() or "choose it by its name with --device"
            raise DeviceError(f"no OpenCL device but a simulator: {why}")
        return by_rank[0]
    if choice in ("gpu", "cpu"):
        kind = cl.device_type.GPU if choice == "gpu" else cl.device_type.CPU
        matching = [i for i in by_rank if found[i].type & kind and rank(found[i])[0] > 0]
    elif choice.isdecimal() and len(choice) < 10:  # of thousands of digits Python makes no number
        matching = [int(choice)] if int(choice) < len(found) else []
    else:
        matching = [i for i in by_rank if choice in f"{found[i].name} {found[i].platform.name}".lower()]
    if not matching:
        if choice == "cpu" and (lack := embedded_pocl.lack()):
            raise DeviceError(f"no OpenCL device 'cpu': {lack}")
        names = ", ".join(f"{i} {device.name.strip()}" for i, device in enumerate(found))
        gpu = "a GPU needs its vendor's driver, see 'fftfilter devices'"
        raise DeviceError(
            f"no OpenCL device {asked!r}: there is {names}; {gpu if choice == 'gpu' else 'choose one of these'}"
        )
    return matching[0]


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
    def is_gpu(self) -> bool:
        """Whether it is a GPU; a simulator, which claims to be every type, is not."""
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
    ) -> cl.Kernel:
        """Return a new kernel of that program."""
        with _building:  # pyopencl generates code for each kernel, and warns if two threads do so at once
            return cl.Kernel(self.program(names, defines, options), kernel)

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
