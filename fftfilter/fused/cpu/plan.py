"""The plan of the fused pipeline for CPUs: the strips of an image, its transforms, the bytes between the steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from . import mixed_radix
from .mixed_radix import Bluestein

if TYPE_CHECKING:
    from ...device.choice import Device
    from .mixed_radix import MixedRadix

    Axis = MixedRadix | Bluestein

# Rows between strips, so that the same row of neighboring strips does not fall into the same cache set.
SPARE_ROWS = 17
# Bytes of a line of the cache, and how many tasks for each worker divide the work evenly enough.
LINE = 64
TASKS = 4
# Gains that mirrored_mask.cl has at once: at two positions of 32 pairs, of both frequencies, even and odd.
MIRRORED_GAINS = 2 * 32 * 2 * 2
# Bytes of a part of a transform. The first cache has 32 KB or more; the rest is for twiddle factors and gains.
PART_BYTES = 20 << 10


class FusedCpuPlan(NamedTuple):
    """Both transforms of an image ``(height, width)`` in strips of two vectors of ``lanes`` columns."""

    height: int
    width: int
    lanes: int
    workers: int
    columns: Axis
    rows: Axis
    inverses: int = 1
    """How often an image is transformed back."""

    @property
    def pitch(self) -> int:
        """Pixels of a row: narrower images are repeated on the host, up to one strip."""
        return max(self.width, 2 * self.lanes)

    @property
    def strips(self) -> int:
        """How many strips an image has."""
        return -(-self.pitch // (2 * self.lanes))

    @property
    def strip_stride(self) -> int:
        """Numbers, each of two vectors, from a strip to the next."""
        return self.height + SPARE_ROWS

    @property
    def workspace(self) -> int:
        """Numbers of a worker's work space: its longest transform."""
        return max(self.strips * 2 * self.lanes, self.rows.inner.n, self.columns.inner.n) + self.gains

    @property
    def gains(self) -> int:
        """Numbers of it that hold gains, two each: of a part of a row, or of a whole row by Bluestein's."""
        of_rows = self.width if isinstance(self.rows, Bluestein) else self.rows.part
        return -(-max(of_rows, MIRRORED_GAINS) // 2)

    def strips_in_line(self, pixel: int) -> int:
        """Return how many strips share a cache line, for pixels of ``pixel`` bytes."""
        return max(1, LINE // (2 * self.lanes * pixel))

    def bands(self, pixel: int) -> int:
        """Return in how many bands of rows pixels of ``pixel`` bytes are written: few, but enough for all workers."""
        return min(self.height, -(-TASKS * self.workers // self._lines(pixel)))

    def tasks_of_quantize(self, pixel: int) -> int:
        """Return how many tasks write pixels of ``pixel`` bytes."""
        return self._lines(pixel) * self.bands(pixel)

    def _lines(self, pixel: int) -> int:
        # The last strip goes with the one before it, whose columns it may have, too.
        return -(-max(self.strips - 1, 1) // self.strips_in_line(pixel))

    def strips_per_task(self, pixel: int) -> int:
        """Return how many strips a task reads at once, for pixels of ``pixel`` bytes.

        All strips of a cache line, if this leaves enough tasks for all workers.
        """
        in_line = self.strips_in_line(pixel)
        enough = self.strips >= in_line * TASKS * self.workers
        return in_line if enough and not isinstance(self.columns, Bluestein) else 1

    def buffers(self, count: int, pixel: int, out: int) -> list[int]:
        """Return the bytes of the strips of a stack, of the workers' work spaces, of the stack and of its result.

        ``pixel`` and ``out`` are the bytes of a pixel in the stack and in the result. Tables are not counted.
        """
        number, pixels = 8 * self.lanes, count * self.height * self.pitch
        return [
            number * self.strip_stride * self.strips * count * self.inverses,
            number * self.workspace * self.workers * self.inverses,
            pixels * pixel,
            pixels * out,
        ]


def plan(
    device: Device,
    height: int,
    width: int,
    *,
    lanes: int | None = None,
    workers: int | None = None,
    part_bytes: int = PART_BYTES,
    inverses: int = 1,
) -> FusedCpuPlan:
    """Return the plan for a size on a device.

    ``lanes`` are by default those of the device's registers, ``workers`` its compute units. Smaller parts make small
    images take the path of large ones. ``inverses`` is how often an image is transformed back.
    """
    lanes = lanes or vector_width(device)
    part = part_bytes // (8 * lanes)
    # At least one stage of the columns is done on the whole: the one that reads pixels.
    columns, rows = mixed_radix.transform(height, part, 1), mixed_radix.transform(width, part, 0)
    workers = workers or device.cl_device.max_compute_units
    return FusedCpuPlan(height, width, lanes, workers, columns, rows, inverses)


def vector_width(device: Device) -> int:
    """Return the floats of a vector, after the device's registers: 4, 8 or 16."""
    native = device.cl_device.native_vector_width_float
    return max(4, min(16, 1 << (max(native, 1).bit_length() - 1)))
