"""OpenCL devices: which there are, which one is taken, and what it can hold."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from threading import Thread
from typing import TYPE_CHECKING

from . import embedded_pocl
from .errors import DeviceError, ParameterError, TooLargeError
from .program import build
from .versions import load_quickly

if TYPE_CHECKING:
    import pyopencl as cl

VARIABLE = "FFTFILTER_DEVICE"

# The CPU runtimes that auto knows, best first; PoCL by its version.
CPU_RUNTIMES = ("Intel(R) OpenCL", "Portable Computing Language")
# A simulator that checks every memory access: right results, a thousand times slower. Only taken by name.
SIMULATORS = ("Oclgrind",)
ALL_TYPES = ctypes.c_uint64(0xFFFFFFFF)  # CL_DEVICE_TYPE_ALL

_ahead: list[Thread] = []


@dataclass(eq=False)
class Device:
    """One OpenCL device and what was built for it.

    ``index`` is its place in the list of all devices, ``mended`` what had to be mended before it could
    build (see ``embedded_pocl.py``).
    """

    index: int
    cl_device: cl.Device
    mended: str | None = None
    _programs: dict[tuple[tuple[str, ...], ...], cl.Program] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The device's own name."""
        return str(self.cl_device.name).strip()

    @property
    def platform(self) -> str:
        """The name of its platform."""
        return str(self.cl_device.platform.name).strip()

    @property
    def is_gpu(self) -> bool:
        """Whether it is a GPU; a simulator, which says that it is everything, is not."""
        import pyopencl as cl

        return bool(self.cl_device.type & cl.device_type.GPU) and not self.is_simulator

    @property
    def is_simulator(self) -> bool:
        """Whether it only simulates a device."""
        return any(name in self.platform for name in SIMULATORS)

    @property
    def fp64(self) -> bool:
        """Whether it computes in double precision."""
        return bool(self.cl_device.double_fp_config)

    @property
    def work_group_limit(self) -> int:
        """The most work-items that a work-group may have, in one dimension."""
        return int(min(self.cl_device.max_work_group_size, self.cl_device.max_work_item_sizes[0]))

    @cached_property
    def context(self) -> cl.Context:
        """The context that all buffers and programs on this device share."""
        import pyopencl as cl

        return cl.Context([self.cl_device])

    @cached_property
    def own_builtins(self) -> tuple[str, ...]:
        """The defines for programs that can declare by themselves what they call of OpenCL, where that is quicker."""
        spared = embedded_pocl.without_header(self.cl_device)
        return ("OWN_BUILTINS=1", *spared) if spared else ()

    def program(self, names: tuple[str, ...], defines: tuple[str, ...], options: tuple[str, ...] = ()) -> cl.Program:
        """Return the program of these files with these defines and compiler's options, built on first use."""
        key = (names, defines, options)
        if key not in self._programs:
            self._programs[key] = build(self.context, *key)
        return self._programs[key]

    def check_work_group_size(self, size: int) -> None:
        """Raise ParameterError unless work-groups may have that many work-items."""
        if not 1 <= size <= self.work_group_limit:
            sizes = " ".join(str(s) for s in self.cl_device.max_work_item_sizes)
            raise ParameterError(
                f"work-group size {size} is not possible on {self.name}: give 1 to {self.work_group_limit} "
                f"(work-group size {self.cl_device.max_work_group_size}, work-item sizes {sizes})"
            )

    def check_memory(self, what: str, buffers: list[int]) -> None:
        """Raise TooLargeError if buffers of so many bytes cannot be held, before any is asked for."""
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


@cache
def _open(index: int) -> Device:
    """Return the device at a place in the list, the same object every time, ready to build."""
    chosen = all_devices()[index]
    return Device(index, chosen, embedded_pocl.mend(chosen))


def load_ahead() -> None:
    """Load OpenCL, and let another thread load its platforms while this one goes on; :func:`all_devices` waits for it.

    The latter takes 7 ms with PoCL, longer with the drivers of GPUs.
    """
    load_quickly()
    embedded_pocl.prepare_environment()
    _ahead.append(Thread(target=_load))
    _ahead[-1].start()


def _load() -> None:
    """Ask through ctypes, as pyopencl would keep Python's lock; once, as each call waits for that lock in the end."""
    import pyopencl as cl

    with suppress(AttributeError, OSError):
        # The extension leads to the very OpenCL that it is linked with. No platform is the first one, or an error,
        # for which all are loaded, too.
        ctypes.CDLL(cl._cl.__file__).clGetDeviceIDs(None, ALL_TYPES, 0, None, ctypes.byref(ctypes.c_uint()))


@cache
def all_devices() -> tuple[cl.Device, ...]:
    """Return the devices of all platforms, in the order of their indices."""
    embedded_pocl.prepare_environment()
    import pyopencl as cl

    for thread in _ahead:
        thread.join()
    try:
        platforms = cl.get_platforms()
    except cl.LogicError:
        return ()
    found: list[cl.Device] = []
    for platform in platforms:
        try:
            found += platform.get_devices()
        except cl.Error:
            continue  # a platform without a device says so by an error
    return tuple(found)


def rank(device: cl.Device) -> tuple[int, int, str]:
    """Return how much auto likes a device, to be compared: GPU, then the best CPU runtime, then the rest."""
    import pyopencl as cl

    platform = device.platform.name
    if any(name in platform for name in SIMULATORS):
        return (0, 0, "")
    if device.type & cl.device_type.GPU:
        return (3, device.max_compute_units, "")
    known = [len(CPU_RUNTIMES) - i for i, name in enumerate(CPU_RUNTIMES) if name in platform]
    return (2 if device.type & cl.device_type.CPU else 1, max(known, default=0), device.platform.version)


def choose(wanted: str | int | None = None) -> Device:
    """Return the device that ``wanted`` names: auto, gpu, cpu, an index (also as a number) or a part of a name.

    None asks the environment variable FFTFILTER_DEVICE, then means auto. Raises DeviceError if there is no
    such device, ParameterError if several have that part of a name.
    """
    asked = wanted if wanted is not None else os.environ.get(VARIABLE) or "auto"
    found = all_devices()
    if not found:
        raise DeviceError("no OpenCL device: run 'fftfilter devices' for what is missing and the line that mends it")
    return _open(_index(str(asked), found))


def _index(asked: str, found: tuple[cl.Device, ...]) -> int:
    import pyopencl as cl

    by_rank = sorted(range(len(found)), key=lambda i: rank(found[i]), reverse=True)
    choice = asked.strip().lower()
    if choice == "auto":
        if rank(found[by_rank[0]])[0] == 0:
            raise DeviceError("no OpenCL device but a simulator: name it with --device if it is meant")
        return by_rank[0]
    if choice in ("gpu", "cpu"):
        kind = cl.device_type.GPU if choice == "gpu" else cl.device_type.CPU
        matching = [i for i in by_rank if found[i].type & kind and rank(found[i])[0] > 0]
    elif choice.isdecimal():
        matching = [int(choice)] if int(choice) < len(found) else []
    else:
        matching = [i for i in by_rank if choice in f"{found[i].name} {found[i].platform.name}".lower()]
    if not matching:
        names = ", ".join(f"{i} {device.name.strip()}" for i, device in enumerate(found))
        raise DeviceError(f"no OpenCL device {asked!r}: there is {names}")
    return matching[0]
