"""Describes the OpenCL of this machine, and finds problems and the line that repairs each."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from ..device.launcher import MakePipeline
from ..device.opencl import Device
from ..device_choice import devices, loads, open_opencl, vendors
from ..errors import FftfilterError, install_opencl

# OpenCL's bits of a device's type
TYPES = {"GPU": 4, "CPU": 2, "ACCELERATOR": 8}


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
    device: int | None = None
    """The index of a device that cannot be used."""


def describe(device: Device) -> dict[str, Any]:
    """Return a device's name, driver and limits; bytes as numbers."""
    raw = device.cl_device
    return {
        "index": device.index,
        "name": device.name,
        "platform": device.platform,
        "platform version": raw.platform.version.strip(),
        "driver": raw.driver_version.strip(),
        "type": ", ".join(name for name, bit in TYPES.items() if raw.type & bit),
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


def ways_out() -> str:
    """Return what gives a machine an OpenCL device that builds programs."""
    install = install_opencl()
    ways = (
        "install the OpenCL driver of the GPU's vendor, or for the CPU a system package (Debian, Ubuntu: "
        "apt install pocl-opencl-icd)"
    )
    if "[pocl]" not in install:  # nor has pip Intel's
        return ways
    return (
        f"{install}; or {ways}, or pip install intel-opencl-rt intel-cmplr-lib-rt and set OCL_ICD_VENDORS to a folder "
        "with a file intel.icd that holds the path of their lib/libintelocl.so"
    )


def problems(make_pipeline: MakePipeline, drivers: Iterable[Driver] = DRIVERS) -> list[Problem]:
    """Return what is wrong, most serious first; checks every device but simulators with a small filter.

    ``drivers`` are those that are looked for.
    """
    found = []
    if not devices():
        # A folder that is not there hides the drivers of pip, too.
        given = os.environ.get("OCL_ICD_VENDORS")
        unset = f"unset OCL_ICD_VENDORS, which is {given}; or " if given else ""
        found.append(Problem("no OpenCL platform has a device", unset + ways_out()))
    for device in devices():
        if device.is_simulator:
            continue
        try:
            open_opencl(device.index, make_pipeline)
        except FftfilterError as error:
            what, repair = str(error), "update its driver"
            if "cannot be used: PoCL " in what:  # it lacks something, and the error ends with what helps
                what, _, repair = what.rpartition(": ")
            elif "PoCL" in device.cl_device.platform.version:
                repair = ways_out()
            found.append(Problem(what, repair, device.index))
    return found + _unannounced_drivers(drivers)


def _unannounced_drivers(drivers: Iterable[Driver]) -> list[Problem]:
    """Return drivers that are installed while OpenCL has no platform of theirs."""
    platforms = {device.platform for device in devices()}
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
