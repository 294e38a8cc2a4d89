"""Describes the OpenCL of this machine, and finds problems and the line that repairs each."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from ..drivers import VARIABLE, loads, vendors
from ..errors import FftfilterError, pip_install
from . import embedded_pocl
from .choice import Device, all_devices, choose, open_device, rank
from .launcher import MakePipeline


class Driver(NamedTuple):
    """A driver: its library, the file that announces it to OpenCL, and a part of its platform's name."""

    file_name: str
    icd: str
    vendor: str


DRIVERS = (
    Driver("libnvidia-opencl.so.1", "nvidia.icd", "NVIDIA"),
    Driver("libamdocl64.so", "amdocl64.icd", "AMD"),
    Driver("libigdrcl.so", "intel.icd", "Intel"),
)


class Problem(NamedTuple):
    """Something that keeps a device from being used, and the line that repairs it."""

    what: str
    repair: str


def describe(device: Device) -> dict[str, Any]:
    """Return a device's name, driver and limits; bytes as numbers."""
    import pyopencl as cl  # which choice.py says is missing

    raw = device.cl_device
    return {
        "index": device.index,
        "name": device.name,
        "platform": device.platform,
        "platform version": raw.platform.version.strip(),
        "driver": raw.driver_version.strip(),
        "type": ", ".join(name for name in ("GPU", "CPU", "ACCELERATOR") if raw.type & getattr(cl.device_type, name)),
        "OpenCL": raw.version.strip(),
        "compute units": raw.max_compute_units,
        "work-item dimensions": raw.max_work_item_dimensions,
        "work-item sizes": list(raw.max_work_item_sizes),
        "work-group size": raw.max_work_group_size,
        "local memory": raw.local_mem_size,
        "global memory": raw.global_mem_size,
        "largest allocation": raw.max_mem_alloc_size,
        "fp64": device.fp64,
        "repaired": device.repaired,
    }


def devices() -> list[Device]:
    """Return all devices, each ready to build."""
    return [choose(index) for index in range(len(all_devices()))]


def chosen(wanted: str | None = None) -> tuple[int | None, str]:
    """Return the index of the device that would be taken, and why; None where none can be."""
    asked = wanted or os.environ.get(VARIABLE) or "auto"
    try:
        device = choose(asked)
    except FftfilterError as error:
        return None, str(error)
    if asked != "auto":
        return device.index, f"{'--device' if wanted else VARIABLE} asks for {asked!r}"
    if device.is_gpu:
        return device.index, "auto takes a GPU first"
    if len([d for d in all_devices() if rank(d)[0] > 0]) == 1:
        return device.index, "auto: the only device"
    return device.index, "auto: no GPU, and the best CPU runtime"


def problems(make_pipeline: MakePipeline, drivers: Iterable[Driver] = DRIVERS) -> list[Problem]:
    """Return what is wrong, most serious first; checks every device but simulators with a small filter.

    ``drivers`` are those that are looked for.
    """
    found = []
    if not all_devices():
        has_wheel = sys.platform == "linux" and os.uname().machine == "x86_64" and platform.libc_ver()[0] == "glibc"
        wheel = f"{pip_install('pyopencl[pocl]')}; or " if has_wheel else ""
        # A folder that is not there hides the drivers of pip, too.
        given = os.environ.get("OCL_ICD_VENDORS")
        unset = f"unset OCL_ICD_VENDORS, which is {given}; or " if given else ""
        found.append(Problem("no OpenCL platform has a device", unset + wheel + embedded_pocl.WAYS_OUT))
    for device in devices():
        if device.is_simulator:
            continue
        try:
            open_device(str(device.index), make_pipeline)
        except FftfilterError as error:
            what, repair = str(error), "update its driver"
            if "cannot be used: PoCL " in what:  # it lacks something, and the error ends with what helps
                what, _, repair = what.rpartition(": ")
            elif "PoCL" in device.cl_device.platform.version:
                repair = embedded_pocl.WAYS_OUT
            found.append(Problem(what, repair))
    return found + _unannounced_drivers(drivers)


def _unannounced_drivers(drivers: Iterable[Driver]) -> list[Problem]:
    """Return drivers that are installed while OpenCL has no platform of theirs."""
    platforms = {device.platform.name for device in all_devices()}
    found = []
    for library, icd, vendor in drivers:
        if any(vendor in platform for platform in platforms) or not loads(library):
            continue
        folder = Path(vendors())
        repair = f"mkdir -p {folder} && echo {library} > {folder / icd}"
        if (folder / icd).exists():
            repair = f"check that {folder / icd} holds {library}, and that the driver sees its device"
        found.append(Problem(f"the driver {library} is installed, but its platform does not appear", repair))
    return found
