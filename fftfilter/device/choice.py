"""Which OpenCL devices there are, and which one is taken."""

from __future__ import annotations

import os
import threading
from functools import cache
from typing import TYPE_CHECKING

import pyopencl as cl

from .. import startup
from ..drivers import VARIABLE
from ..errors import DeviceError
from . import embedded_pocl, selftest
from .device import SIMULATORS, Device

if TYPE_CHECKING:
    from .pipeline import MakePipeline

# The CPU runtimes that auto knows, best first; of two of a kind auto takes the later version.
CPU_RUNTIMES = ("Intel(R) OpenCL", "Portable Computing Language")

# One thread at a time finds, repairs and checks devices, so that each is one object for all threads.
_choosing = threading.RLock()
_process: list[int] = []
"""The process that loaded OpenCL, if one did."""


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


def check_process() -> None:
    """Raise DeviceError in a process that was forked from one that had loaded OpenCL: there it would wait forever."""
    if _process and os.getpid() not in _process:
        raise DeviceError(
            "OpenCL does not survive the fork of a process: start processes with "
            "multiprocessing.get_context('spawn'), or open the first device after the fork"
        )


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
    _process.append(os.getpid())
    embedded_pocl.prepare_environment()
    startup.wait_for_platforms()
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
    if any(name in platform for name in SIMULATORS):
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
        names = ", ".join(f"{i} {device.name.strip()}" for i, device in enumerate(found))
        gpu = "a GPU needs its vendor's driver, see 'fftfilter devices'"
        raise DeviceError(
            f"no OpenCL device {asked!r}: there is {names}; {gpu if choice == 'gpu' else 'choose one of these'}"
        )
    return matching[0]
