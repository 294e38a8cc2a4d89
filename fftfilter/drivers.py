"""Finds which OpenCL drivers are registered on this machine, without loading OpenCL.

OpenCL's loader loads every registered driver, whichever device is wanted, and a GPU's takes 0.3 s. To use the CPU,
show the loader a driver of the CPU alone, or a folder without drivers, where it finds the PoCL that pip installs.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from .errors import DeviceError

# The device that users want where they give none.
VARIABLE = "FFTFILTER_DEVICE"
# The name of the engine, and of its device, that does without OpenCL.
NUMPY = "numpy"
# How many workers PoCL starts: all cores of the machine, unless told.
POCL_WORKERS = "POCL_MAX_PTHREAD_COUNT"


_process: list[int] = []
"""The process that loaded OpenCL, if one did."""


def note_process() -> None:
    """Note that this process loads OpenCL."""
    _process.append(os.getpid())


def check_process() -> None:
    """Raise DeviceError in a process that was forked from one that had loaded OpenCL: there it would wait forever."""
    if _process and os.getpid() not in _process:
        raise DeviceError(
            "OpenCL does not survive the fork of a process: start processes with "
            "multiprocessing.get_context('spawn'), or open the first device after the fork"
        )


def is_auto(device: str | int | None) -> bool:
    """Whether a user leaves the device open."""
    return device in (None, "") or str(device).lower() == "auto"


def is_numpy(device: str | int | None) -> bool:
    """Whether a user wants no OpenCL device, but NumPy."""
    return str(device).lower() == NUMPY


def may_have_gpu() -> bool:
    """Whether a driver is registered that may have a GPU."""
    return any(not _is_of_cpu(name) for name in _registered())


def has_cpu() -> bool:
    """Whether there is a driver of a CPU."""
    return _has_own_pocl() or any(map(_is_of_cpu, _registered()))


def without_gpus() -> dict[str, str]:
    """Return the environment in which OpenCL loads no driver but the CPU's, empty where that is not possible or usual.

    It has to be set before the first platform loads.
    """
    if not may_have_gpu():
        return {}
    of_cpu = [file for file in map(Path(vendors()).joinpath, filter(_is_of_cpu, _registered())) if _is_there(file)]
    if of_cpu:  # of several, the best is known only once they are loaded
        return {"OCL_ICD_VENDORS": str(of_cpu[0])} if len(of_cpu) == 1 else {}
    return {"OCL_ICD_VENDORS": str(Path(__file__).parent)} if _has_own_pocl() else {}


def show_cpu_alone(device: str | None) -> None:
    """Let this process load no driver of a GPU, if its only device is the CPU."""
    if device == "cpu":
        os.environ.update(without_gpus())


def vendors() -> str:
    """Return the folder in which OpenCL's loader looks for drivers."""
    return os.environ.get("OCL_ICD_VENDORS") or "/etc/OpenCL/vendors"


def loads(library: str) -> bool:
    """Whether a driver's library can be loaded."""
    with suppress(OSError):
        ctypes.CDLL(library)
        return True
    return False


def _registered() -> list[str]:
    """Return the names of the files that register drivers; those that pip brings are not among them."""
    with suppress(OSError):
        return sorted(name for name in os.listdir(vendors()) if name.endswith(".icd"))  # noqa: PTH208
    return []


def _is_of_cpu(name: str) -> bool:
    """Whether a registered driver is a CPU's by its file's name: PoCL's, or Intel's for CPUs."""
    return "pocl" in name or name in ("intel64.icd", "intel-cpu.icd")


def _is_there(file: Path) -> bool:
    """Whether a registered driver is there: its file may outlive it."""
    with suppress(OSError, UnicodeDecodeError):
        return loads(file.read_text(encoding="utf-8").strip())
    return False


def _has_own_pocl() -> bool:
    """Whether pip has installed PoCL beside pyopencl."""
    package = find_spec("pyopencl")
    return bool(package and (Path(package.origin or "").parent / ".libs" / "pocl.icd").exists())
