"""Checks a device before it is trusted: on first use, once with each driver.

A small filter is compared with the float64 reference. If the device passes, a file in the user's cache folder says so,
whose name depends on what could change the result: device, driver, platform, and the version of fftfilter. A device
that computes wrongly is refused, with its name and the error. A driver's compiler may end its process, or never end:
so another process builds the filter first.
"""

from __future__ import annotations

import os
import sys
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .. import __version__, system
from ..errors import DeviceError, RefusedError
from ..output.ramp import Stack
from ..transfer import highpass, reference
from . import embedded_pocl, programs
from .launcher import Launcher, MakePipeline

if TYPE_CHECKING:
    from .opencl import Device

# A power of eight: these kernels are built for most images anyway.
SIDE = 64
# Rounding changes a level here or there, which is less; the error of a wrong kernel is 0.1 and more.
LARGEST_ERROR = 1e-2
# How many seconds a driver may take to build the filter. PoCL takes one.
PATIENCE = 120


@cache
def check(device: Device, make_pipeline: MakePipeline) -> None:
    """Raise RefusedError if a device computes wrongly, DeviceError if it cannot build programs here.

    What it computes is checked once with each driver.
    """
    if device.platform == embedded_pocl.VENDOR and (lack := embedded_pocl.lack()):
        raise DeviceError(f"{device.name} cannot be used: {lack}")
    passed = _cache_file(device)
    # Unlike Path's, this knows no error: a folder that cannot be entered holds nothing.
    if device.is_simulator or (passed and os.path.exists(passed)):  # noqa: PTH110
        return
    if unknown := embedded_pocl.unknown_cpu(device.cl_device):
        raise DeviceError(f"{device.name} cannot be used: {unknown}")
    _try_apart(device, make_pipeline)
    error = measure(device, make_pipeline)
    if error > LARGEST_ERROR:
        raise RefusedError(
            f"{device.name} ({device.platform}, driver {device.cl_device.driver_version}) computes wrongly: "
            f"relative error {error:.1e} in a small filter, at most {LARGEST_ERROR:.0e} is right; "
            "update its driver or choose another device with --device"
        )
    if passed:
        with suppress(OSError):  # without a writable folder nothing is kept
            passed.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            passed.touch()


def _try_apart(device: Device, make_pipeline: MakePipeline) -> None:
    """Raise DeviceError if the check ends the process that does it, or takes too long."""
    if not system.is_python():
        return
    module, name = make_pipeline.__module__, getattr(make_pipeline, "__qualname__", "")
    if not name.isidentifier():  # not what another process can import
        return
    import signal
    import subprocess  # some milliseconds, which a device that has passed does not take

    code = (
        f"import sys; sys.path[:] = {sys.path!r}\n"
        f"from fftfilter.device import opencl, selftest\nfrom {module} import {name}\n"
        f"selftest.measure(opencl.devices()[{device.index}], {name})"
    )
    command, failed = [sys.executable, "-c", code], f"{device.name} cannot be used: its driver"
    with suppress(OSError), programs.while_building():  # no process can be started
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired as error:
            raise DeviceError(f"{failed} takes more than {PATIENCE} s to build a filter") from error
        if done.returncode not in (0, 1):  # an error in Python is 1, and found here again
            last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            how = signal.strsignal(-done.returncode) if done.returncode < 0 else f"exit code {done.returncode}"
            raise DeviceError(f"{failed} ended the process that built a filter ({how}{last and ': ' + last})")


def measure(device: Device, make_pipeline: MakePipeline) -> float:
    """Return the relative error in norm of a small high-pass on the device, an 8-bit picture."""
    image = np.random.default_rng(61).integers(0, 256, (1, SIDE, SIDE), dtype=np.uint8)
    transfer = highpass()
    stack = Stack(1, SIDE, SIDE, image.dtype, image.dtype, white=255)
    got = make_pipeline(Launcher(device), transfer, stack).run(image).astype(float)
    wanted = reference.filter_image(image, transfer.gain(SIDE, SIDE)).astype(float)
    return float(np.linalg.norm(got - wanted) / np.linalg.norm(wanted))


def _cache_file(device: Device) -> Path | None:
    """Return the file that is there if a device has passed; None where nothing can be kept."""
    folder = system.user_cache("fftfilter")
    if folder is None or not system.can_hold(folder):
        folder = system.temporary_cache()
    if folder is None:
        return None
    cl_device = device.cl_device
    described = [__version__, cl_device.name, cl_device.driver_version, cl_device.version]
    described += [cl_device.platform.name, cl_device.platform.version, str(device.repaired)]
    key = zlib.crc32("\n".join(described).encode())  # hashlib takes 3 ms to load
    return folder / f"trusted-{key:08x}.json"
