"""The fused pipeline, the default engine: the book's flow in three or four launches, in the form that fits the device.

    CPU   columns, rows with the mask, columns back, quantize     fused_cpu.py: explicit vectors over neighboring columns
    GPU   rows, columns with the mask, rows back, quantize        fused_gpu.py: registers and exchange through local memory

Both transform real input as real, at any size without padding, and keep the spectrum on the chip between the
transforms around the mask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .fused_cpu import FusedCpuPipeline
from .fused_gpu import FusedGpuPipeline

if TYPE_CHECKING:
    import numpy as np

    from .launch import Launcher
    from .transfer import Transfer

FusedPipeline = FusedCpuPipeline | FusedGpuPipeline


def fused(
    launcher: Launcher,
    shape: tuple[int, int, int],
    dtype: np.dtype[Any],
    transfer: Transfer,
    *,
    out: np.dtype[Any],
    levels: int,
    one_scale: bool = False,
) -> FusedPipeline:
    """Return the fused pipeline for stacks ``(count, height, width)``; arguments as those of StagedPipeline."""
    form = FusedGpuPipeline if launcher.device.is_gpu else FusedCpuPipeline
    return form(launcher, shape, dtype, transfer, out=out, levels=levels, one_scale=one_scale)
