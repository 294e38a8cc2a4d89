"""Checks a device before it is trusted: on first use, once with each driver.

A small filter with the edges that are wanted, whose program the first pictures need anyway, is compared with the
float64 reference; of several processes one compiles it, and the others wait. If the device passes, a file in the user's
cache folder says so, whose name depends on what could change the result: device, driver, platform, and the version of
fftfilter. A device that computes wrongly is refused, with its name and the error. A driver's compiler may end its
process, or never end: so another process builds the filter first.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .. import __version__, system
from ..errors import DeviceError, RefusedError
from ..output.ramp import Stack
from ..transfer import highpass, reference
from ..transfer.product import Edges, grid_with
from . import embedded_pocl, opencl
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
def check(device: Device, make_pipeline: MakePipeline, edges: Edges = "wrap") -> None:
    """Raise RefusedError if a device computes wrongly, DeviceError if it cannot build programs here.

    What it computes is checked once with each driver, whatever the edges.
    """
    if device.platform == embedded_pocl.VENDOR and (lack := embedded_pocl.lack()):
        raise DeviceError(f"{device.name} cannot be used: {lack}")
    passed = _cache_file(device)
    if device.is_simulator or _is_there(passed):
        return
    if unknown := embedded_pocl.unknown_cpu(device.cl_device):
        raise DeviceError(f"{device.name} cannot be used: {unknown}")
    with _alone(passed):
        if not _is_there(passed):
            _try(device, make_pipeline, edges, passed)


def _is_there(passed: Path | None) -> bool:
    # Unlike Path's, this knows no error: a folder that cannot be entered holds nothing.
    return passed is not None and os.path.exists(passed)  # noqa: PTH110


@contextmanager
def _alone(passed: Path | None) -> Iterator[None]:
    """Let no other process try a device meanwhile, where something can be kept and the system has locks."""
    with ExitStack() as stack:
        if passed and sys.platform != "win32":
            from fcntl import LOCK_EX, flock

            with suppress(OSError):
                passed.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                handle = os.open(passed.parent, os.O_RDONLY)
                stack.callback(os.close, handle)
                flock(handle, LOCK_EX)
        yield


def _try(device: Device, make_pipeline: MakePipeline, edges: Edges, passed: Path | None) -> None:
    _try_apart(device, make_pipeline, edges)
    error = measure(device, make_pipeline, edges)
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


def _try_apart(device: Device, make_pipeline: MakePipeline, edges: Edges) -> None:
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
        f"selftest.measure(opencl.devices()[{device.index}], {name}, {edges!r})"
    )
    command, failed = [sys.executable, "-c", code], f"{device.name} cannot be used: its driver"
    with suppress(OSError), opencl.while_building():  # no process can be started
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired as error:
            raise DeviceError(f"{failed} takes more than {PATIENCE} s to build a filter") from error
        if done.returncode not in (0, 1):  # an error in Python is 1, and found here again
            last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            how = signal.strsignal(-done.returncode) if done.returncode < 0 else f"exit code {done.returncode}"
            raise DeviceError(f"{failed} ended the process that built a filter ({how}{last and ': ' + last})")


def measure(device: Device, make_pipeline: MakePipeline, edges: Edges = "wrap") -> float:
    """Return the relative error in norm of a small high-pass on the device, an 8-bit picture."""
    image = np.random.default_rng(61).integers(0, 256, (1, SIDE, SIDE), dtype=np.uint8)
    transfer = highpass()
    stack = Stack(1, SIDE, SIDE, image.dtype, image.dtype, white=255)
    own = () if edges == "wrap" else (edges,)  # not all pipelines take edges
    got = make_pipeline(Launcher(device), transfer, stack, *own).run(image).astype(float)
    gain = grid_with(edges, transfer, SIDE, SIDE).gain()
    wanted = reference.filter_image(image, gain, edges=edges).astype(float)
    return float(np.linalg.norm(got - wanted) / np.linalg.norm(wanted))


def _cache_file(device: Device) -> Path | None:
    """Return the file that is there if a device has passed; None where nothing can be kept."""
    folder = system.own_cache()
    if folder is None:
        return None
    cl_device = device.cl_device
    described = [__version__, cl_device.name, cl_device.driver_version, cl_device.version]
    described += [cl_device.platform.name, cl_device.platform.version, str(device.repaired)]
    key = zlib.crc32("\n".join(described).encode())  # hashlib takes 3 ms to load
    return folder / f"trusted-{key:08x}.json"
