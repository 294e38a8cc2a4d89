"""The plan of the fused pipeline for CPUs: the strips that an image lies in, the transforms, the memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import mixed_radix
from .mixed_radix import Chirp

if TYPE_CHECKING:
    from ...device.device import Device
    from .mixed_radix import MixedRadix

    Axis = MixedRadix | Chirp

# What of the first cache a block may fill, which has 32 KB or more; the rest is for spin factors and the mask's terms.
BLOCK_BYTES = 20 << 10
# Rows between strips, so that the same row of neighboring strips does not fall into the same cache set.
SPARE_ROWS = 17


@dataclass(frozen=True)
class FusedCpuPlan:
    """Both transforms of an image ``(height, width)`` in strips of two vectors of ``lanes`` columns."""

    height: int
    width: int
    lanes: int
    workers: int
    columns: Axis
    rows: Axis

    @property
    def pitch(self) -> int:
        """Pixels of a row: narrower images get columns of zeros on the host, up to one strip."""
        return max(self.width, 2 * self.lanes)

    @property
    def strips(self) -> int:
        """How many strips an image has."""
        return -(-self.pitch // (2 * self.lanes))

    @property
    def strip_size(self) -> int:
        """Rows from a strip to the next."""
        return self.height + SPARE_ROWS

    @property
    def room(self) -> int:
        """Vectors of complex numbers that a worker's longest transform takes, but for columns in their own place."""
        convolution = inner(self.columns).n if isinstance(self.columns, Chirp) else 0
        return max(self.strips * 2 * self.lanes, inner(self.rows).n, convolution)

    def buffers(self, count: int, pixel: int, level: int) -> list[int]:
        """Return the bytes of what lies between the steps, of the workers' room, of a stack and of its result.

        ``pixel`` and ``level`` are the bytes of a number in the stack and in the result. Tables are not counted.
        """
        number, pixels = 8 * self.lanes, count * self.height * self.pitch
        return [
            number * self.strip_size * self.strips * count,
            number * self.room * self.workers,
            pixels * pixel,
            pixels * level,
        ]


def plan(
    device: Device, height: int, width: int, *, lanes: int | None = None, workers: int | None = None
) -> FusedCpuPlan:
    """Return the plan for a size on a device, by whose registers and compute units ``lanes`` and ``workers`` go."""
    lanes = lanes or vector_width(device.cl_device.native_vector_width_float)
    block = BLOCK_BYTES // (8 * lanes)
    # At least one stage of the columns is done on the whole: the one that reads pixels.
    columns, rows = mixed_radix.transform(height, block, 1), mixed_radix.transform(width, block, 0)
    return FusedCpuPlan(height, width, lanes, workers or device.cl_device.max_compute_units, columns, rows)


def inner(axis: Axis) -> MixedRadix:
    """Return the mixed radix plan that does the work: the axis's own, or that of its convolution."""
    return axis.inner if isinstance(axis, Chirp) else axis


def vector_width(native: int) -> int:
    """Return the lanes to use on a device whose registers hold so many floats: 4, 8 or 16."""
    return max(4, min(16, 1 << (max(native, 1).bit_length() - 1)))
