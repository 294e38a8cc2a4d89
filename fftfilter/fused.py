"""The fused pipeline, the default engine: the book's flow in four steps, in the form that fits the device.

    CPU   columns, rows with the mask, columns back, quantize     fused_cpu.py: vectors over neighboring columns
    GPU   rows, columns with the mask, rows back, quantize        fused_gpu.py: registers, exchange in local memory

A step is a launch on a GPU; a CPU does all in one. Both transform real input as real, at any size without padding, and
keep the spectrum on the chip between the transforms around the mask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from .device import Device
    from .fused_cpu import FusedCpuPipeline
    from .fused_gpu import FusedGpuPipeline
    from .launch import Launcher
    from .transfer import AnyTransfer

    Tuning = Mapping[str, int]
    FusedPipeline = FusedCpuPipeline | FusedGpuPipeline


def fused(
    launcher: Launcher,
    shape: tuple[int, int, int],
    dtype: np.dtype[Any],
    transfer: AnyTransfer,
    *,
    out: np.dtype[Any],
    levels: int | None,
    one_scale: bool = False,
    tuning: Tuning | None = None,
) -> FusedPipeline:
    """Return the fused pipeline for stacks ``(count, height, width)``; arguments as those of StagedPipeline.

    A mask has to be even: the result is real. ``tuning`` is as in ``tuning.py``.
    """
    # Each form is some 10 ms of import: only the one that is needed.
    form: type[FusedPipeline]
    if launcher.device.is_gpu:
        from .fused_gpu import FusedGpuPipeline

        form = FusedGpuPipeline
    else:
        from .fused_cpu import FusedCpuPipeline

        form = FusedCpuPipeline
    return form(launcher, shape, dtype, transfer, out=out, levels=levels, one_scale=one_scale, tuning=tuning or {})


def serves(device: Device, height: int, width: int) -> bool:
    """Tell whether images of that size are filtered by the device's form: on a CPU all, on a GPU up to some length."""
    if not device.is_gpu:
        return True
    from .fused_gpu_plan import supports

    return supports((height, width))


def memory(device: Device, shape: tuple[int, int, int], *, real: bool) -> int:
    """Return the bytes of the device that a stack ``(count, height, width)`` of a size that is served takes.

    Pixels are counted with a byte, tables not; ``real`` is for filtered values as they are.
    """
    count, height, width = shape
    level = 4 if real else 1
    if not device.is_gpu:
        from . import fused_cpu_plan

        return sum(fused_cpu_plan.plan(device, height, width).buffers(count, 1, level))
    from .fused_gpu_plan import plan

    pixels = count * height * width
    between = plan(height, width)
    values = 0 if real else 4 * pixels
    return 8 * count * (between.spectrum_length + between.work_length) + values + (1 + level) * pixels
