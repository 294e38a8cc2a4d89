"""Choices that change how fast the fused engine is on a device, and no bit of what it computes.

    rows, columns   GPU: how many transforms a work-group has, twice or half as many as the plan says: 1, -1
    together        CPU: strips that share lines of the cache are read together (0) or each by itself (1)

0 is the default, which is good on the devices that were at hand. ``fftfilter bench tune`` measures the others for a
shape of stacks and remembers in the user's cache folder what is faster on this device: so a choice is the same in
every run until it is measured again.
"""

from __future__ import annotations

import zlib
from functools import cache
from typing import TYPE_CHECKING

from . import __version__
from .selftest import remember_in

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np

    from .device import Device

    Tuning = Mapping[str, int]
    Shape = tuple[int, int, int]

ON_GPU: dict[str, tuple[int, ...]] = {"rows": (0, -1, 1), "columns": (0, -1, 1)}
ON_CPU: dict[str, tuple[int, ...]] = {"together": (0, 1)}


def knobs(device: Device) -> dict[str, tuple[int, ...]]:
    """Return what can be chosen on a device, with the values of each, the default first."""
    return ON_GPU if device.is_gpu else ON_CPU


def remembered(device: Device, shape: Shape, dtype: np.dtype[np.generic]) -> Tuning:
    """Return what was chosen for stacks ``(count, height, width)`` on a device; nothing if they were not measured."""
    chosen = _remembered(device).get(_name(shape, dtype), {})
    return {knob: value for knob, value in chosen.items() if value in knobs(device).get(knob, ())}


def remember(device: Device, shape: Shape, dtype: np.dtype[np.generic], chosen: Tuning) -> None:
    """Keep a choice for this and later processes."""
    known = _remembered(device)
    known[_name(shape, dtype)] = dict(chosen)
    remember_in(_file(device), known)


def _name(shape: Shape, dtype: np.dtype[np.generic]) -> str:
    return f"{'x'.join(map(str, shape))} {dtype}"


@cache
def _remembered(device: Device) -> dict[str, dict[str, int]]:
    file = _file(device)
    if not file.exists():
        return {}
    import json

    try:
        known = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    items = known.items() if isinstance(known, dict) else ()
    return {name: chosen for name, chosen in items if isinstance(chosen, dict)}


def _file(device: Device) -> Path:
    from platformdirs import user_cache_path

    described = (__version__, device.name, device.platform, device.cl_device.driver_version)
    return user_cache_path("fftfilter") / f"tuned-{zlib.crc32(chr(10).join(described).encode()):08x}.json"
