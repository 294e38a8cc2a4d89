"""A device is tried before it is trusted: once with each driver, on first use.

A small filter is compared with the float64 reference. That a device passed is remembered in the user's
cache folder, under everything that could change the result: device, driver, platform, fftfilter and its
kernels. A device that computes wrongly is refused with its name and the error measured.
"""

from __future__ import annotations

import os
import zlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from . import __version__, reference
from .device import Device, choose
from .errors import RefusedError
from .fused import fused
from .launch import Launcher
from .program import folder
from .transfer import transfer

if TYPE_CHECKING:
    from collections.abc import Mapping

# Powers of eight, as those of most images: their kernels are then built already.
SHAPE = (1, 64, 64)
# A level here or there is rounding; a wrong kernel is off by 0.1 and more.
MOST_ERROR = 1e-2


def open_device(wanted: str | None = None) -> Device:
    """Return the device that ``wanted`` names (see :func:`device.choose`), tried if it is new here.

    Raises RefusedError if it computes wrongly.
    """
    device = choose(wanted)
    _trust(device)
    return device


def measure(device: Device) -> float:
    """Return the error of a small high-pass on the device: of its 8-bit picture in norm, relative to the reference."""
    image = np.random.default_rng(61).integers(0, 256, SHAPE, dtype=np.uint8)
    high = transfer("highpass")
    pixel = image.dtype
    got = fused(Launcher(device), SHAPE, pixel, high, out=pixel, levels=255).run(image).astype(float)
    wanted = reference.filter_image(image, high.gain(*SHAPE[1:])).astype(float)
    return float(np.linalg.norm(got - wanted) / np.linalg.norm(wanted))


@cache
def _trust(device: Device) -> None:
    passed = _cache_file(device)
    if device.is_simulator or passed.exists():
        return
    error = measure(device)
    if error > MOST_ERROR:
        raise RefusedError(
            f"{device.name} ({device.platform}, driver {device.cl_device.driver_version}) computes wrongly: "
            f"relative error {error:.1e} in a small filter, at most {MOST_ERROR:.0e} is right; "
            "update its driver or choose another device with --device"
        )
    remember_in(passed, {"device": device.name, "driver": device.cl_device.driver_version, "error": error})


def remember_in(file: Path, result: Mapping[str, object]) -> None:
    """Write what was found to a file of the cache, whole or not at all; without a writable one nothing is kept."""
    import json
    import tempfile

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            json.dump(result, out)
        Path(name).replace(file)
    except OSError:
        return


def _cache_file(device: Device) -> Path:
    from platformdirs import user_cache_path

    cl_device = device.cl_device
    described = [__version__, cl_device.name, cl_device.driver_version, cl_device.version]
    described += [cl_device.platform.name, cl_device.platform.version, str(device.mended)]
    key = zlib.crc32("\n".join(described).encode())  # hashlib takes 3 ms to load
    for root, _, names in sorted(os.walk(folder())):
        for name in sorted(names):
            with open(f"{root}/{name}", "rb", buffering=0) as kernel:  # noqa: PTH123  50 files: Path takes its time
                key = zlib.crc32(kernel.read(), key)
    return user_cache_path("fftfilter") / f"trusted-{key:08x}.json"
