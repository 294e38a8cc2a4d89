"""A plain FFT on a CPU, prepared for arrays of one shape: one launch from array to array.

Arrays are in natural order, but the stages permute frequencies. The tables of the layout (``plain_fft/layout.cl``) say
where each number lies. An inverse transform is the forward one with frequency k read as -k, which costs nothing.

Long or few rows would leave most lanes of a vector idle, so each is transformed as a matrix: n = rows x columns. There
are transforms down the columns, times twiddle factors, transforms along the rows, and the result lies transposed
(Bailey, FFTs in external or hierarchical memory, 1990). A length that cannot be split well goes by Bluestein's chirp-z
as a convolution of one that can.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...device.launcher import Launcher, aligned
from ...device.opencl import declared, record
from ...output.ramp import PIXELS
from ..tables import chirp, chirp_filter, convolution_lengths, places_of, twiddles
from . import program
from .program import PARAMS, PART_BYTES, SPARE_ROWS, filled, vector_width

if TYPE_CHECKING:
    from .. import Shape

PLANES, LINES, SIGNAL, COLUMNS = range(4)
KINDS = {"both": PLANES, "rows": LINES, "columns": COLUMNS}
LAYOUT = ("fused/cpu/plain_fft/layout.cl", "layout_t")
# Bytes of strips for each worker that wait between both steps, which the caches hold.
WAITING = 1 << 19
# Rows from this length on are split if they are fewer than a vector's lanes; from the other one on in any case, as
# VECTOR of them no longer fit into the second cache.
FEW, MANY = 1 << 10, 1 << 14


# The steps of each kind of data.
STEPS = {
    "complex": ("fused/cpu/plain_fft/columns.cl", "fused/cpu/plain_fft/complex_rows.cl"),
    "real": ("fused/cpu/plain_fft/columns.cl", "fused/cpu/plain_fft/real_rows.cl"),
    "values": ("fused/cpu/plain_fft/values_rows.cl", "fused/cpu/plain_fft/values_columns.cl"),
}
LAUNCH = "fused/cpu/plain_fft/launch.cl"


class CpuTransform:
    """A transform of arrays of one shape and type on a CPU.

    With ``sides`` (rows, columns) each row is transformed as a matrix. ``pixel`` is the type of real numbers: uint8,
    uint16 or float32. ``lanes`` is how many floats a vector register holds, ``workers`` how many work-items share the
    work; both are the device's by default.
    """

    def __init__(
        self,
        launcher: Launcher,
        shape: Shape,
        pixel: np.dtype[Any] = np.dtype(np.float32),  # noqa: B008  a constant
        *,
        sides: tuple[int, int] | None = None,
        lanes: int | None = None,
        workers: int | None = None,
        part_bytes: int = PART_BYTES,
    ) -> None:
        self.launcher, device = launcher, launcher.device
        self.lanes = lanes = lanes or vector_width(device)
        self.workers = workers = workers or device.cl_device.max_compute_units
        self.kind = SIGNAL if sides else KINDS[shape.along]
        if sides:
            height, width = sides
            shape = shape._replace(data="complex", along="both", arrays=shape.height, height=height, width=width)
        self.shape = shape
        strip_bytes = self._plan(part_bytes // (8 * lanes))
        progress = np.zeros(1 + 2 * -(-shape.arrays // self.chunk) * (1 + workers), np.uint32)

        self._given = np.dtype(pixel if shape.data == "real" else np.complex64)
        self._made = np.dtype(np.float32 if shape.data == "values" else np.complex64)
        source_step = shape.height * self.source_pitch * (1 if shape.data == "real" else 2)
        rows = shape.width if self.kind == SIGNAL else shape.height
        target_step = rows * self.target_pitch * (1 if shape.data == "values" else 2)
        tables = self._tables(source_step, target_step)
        sizes = max(64, strip_bytes), 8 * lanes * self.workspace * workers
        self.device_bytes = sum(sizes) + tables["between"].nbytes
        """Bytes that the transform keeps between calls."""
        arrays = [shape.arrays * source_step * pixel.itemsize, shape.arrays * target_step * 4]
        device.check_memory(str(shape), [self.device_bytes, *arrays])

        self._largest = np.zeros(workers, np.uint32)
        self._largest_buffer = launcher.wrap(self._largest)
        strips, x = (launcher.wrap(aligned((size,), np.dtype(np.uint8))) for size in sizes)
        arguments: dict[str, Any] = dict.fromkeys(declared(LAUNCH, "plain_fft"))  # None is set later
        arguments |= {"progress": launcher.wrap(progress), "z": strips, "x": x}
        arguments |= {name: launcher.wrap(table, constant=True) for name, table in tables.items()}
        arguments["largest"] = self._largest_buffer
        defines = f"VECTOR={lanes}", f"TRANSFORM={shape.data}", f"LOAD_PIXEL={PIXELS[pixel]}", "EDGES=wrap"
        files = (*STEPS[shape.data], LAUNCH)
        self._kernel = launcher.kernel(files, (*defines, *device.own_builtins), "plain_fft", arguments)

    def _plan(self, part: int) -> int:
        """Set axes, pitches and strips, with parts of at most so many numbers; return the bytes of all strips."""
        shape, kind, lanes, height, width = self.shape, self.kind, self.lanes, self.shape.height, self.shape.width
        self.columns = program.plan_axis(height if kind != LINES else 1, part, 1)
        self.rows = program.plan_axis(width if kind != COLUMNS else 1, part, 0)
        # A strip's columns, and the complex numbers of a vector. Narrow arrays have wider rows than their own, as a
        # vector has to fit in: a pitch is the numbers from a row to the next.
        self.strip, numbers = lanes if shape.data == "complex" else 2 * lanes, lanes // 2
        narrowest = self.strip if kind != LINES else lanes if shape.data == "real" else numbers
        self.pitch = max(width, narrowest)
        self.strips = -(-self.pitch // self.strip) if kind != LINES else 0
        spectrum_pitch = max(shape.spectrum_width, numbers)
        self.source_pitch = spectrum_pitch if shape.data == "values" else self.pitch
        if kind == SIGNAL:
            self.target_pitch, stored = height, width
        else:
            in_strips = shape.data == "values" or kind == COLUMNS
            stored = self.target_pitch = self.pitch if in_strips else spectrum_pitch
        self.spectrum = shape.spectrum_width if shape.data == "values" else stored
        """Numbers of a spectrum's row that are read or stored."""
        # A work space begins elsewhere in the cache's sets than the one before.
        longest = height if kind == COLUMNS else max(self.pitch, self.strips * self.strip, self.rows.length)
        convolution = self.columns.length if self.columns.is_convolution else 0
        self.workspace = max(longest, convolution) + SPARE_ROWS
        """Numbers of a worker's work space."""
        self.strip_stride = height + SPARE_ROWS
        # Between two steps the strips of some images wait, those that go through the steps together.
        strip_bytes = 0 if kind in (LINES, COLUMNS) else 8 * lanes * self.strip_stride * self.strips
        most = WAITING * self.workers // strip_bytes if strip_bytes else shape.arrays
        self.chunk = max(1, min(shape.arrays, most))
        return strip_bytes * self.chunk

    def _tables(self, source_step: int, target_step: int) -> dict[str, Array]:
        """Return what the kernel reads, by the names of its arguments (``params.cl``, ``layout.cl``).

        A step is the floats (or pixels) of an array.
        """
        shape, (at, to) = self.shape, self._groups()
        params = {name: getattr(self, name) for name in ("pitch", "strips", "strip_stride", "workspace")}
        params["last_start"] = max(0, self.pitch - self.strip)
        # The last strip of real columns that is moved left is one task with the strip before.
        is_moved = shape.data == "values" and self.pitch % self.strip > 0 and self.strips > 1
        tasks = self.strips - is_moved, len(to)
        layout = {name: getattr(self, name) for name in ("chunk", "source_pitch", "target_pitch", "kind")}
        layout |= {
            "source_step": source_step,
            "target_step": target_step,
            "images": shape.arrays,
            "width": self.spectrum,
        }
        layout["tasks"] = tasks[::-1] if shape.data == "values" else tasks
        between = np.ones(1, np.complex128)
        if self.kind == SIGNAL:  # the twiddle factors between its steps, (width, height)
            turns = np.outer(np.arange(shape.width), np.arange(shape.height))
            between = twiddles(-turns if shape.inverse else turns, shape.height * shape.width)
        return {
            "params": filled(record(*PARAMS), params, self.columns, self.rows),
            "layout": filled(record(*LAYOUT), layout),
            "column_twiddles": self.columns.twiddles(),
            "row_twiddles": self.rows.twiddles(),
            "places": np.append(at * 8 * self.lanes, 0).astype(np.uint32),  # no buffer is empty
            "to": np.append(to, 0).astype(np.uint32),
            "take": (2 * self._taken()).astype(np.uint32),
            "between": between.astype(np.complex64),
        }

    def _taken(self) -> NDArray[np.int64]:
        """Return where each number of a row (column) of the spectrum is; behind them for real ones the mirrored."""
        is_column, sign = self.kind == COLUMNS, -1 if self.shape.inverse else 1
        order = (self.columns if is_column else self.rows).frequencies()
        k, places = np.arange(self.shape.height if is_column else self.spectrum) % len(order), places_of(order)
        if self.shape.data == "values":
            return places
        taken = places[sign * k % len(order)]
        return np.concatenate([taken, places[-sign * k % len(order)]]) if self.shape.data == "real" else taken

    def _groups(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the rows of each group are in a strip, and which rows of the arrays they are."""
        shape, lanes, height, frequencies = self.shape, self.lanes, self.shape.height, self.columns.frequencies()
        sign = -1 if shape.inverse else 1
        if self.kind == COLUMNS:
            none = np.zeros((0, lanes), np.int64)
            return none, none
        if self.kind == LINES:
            at = program.grouped(np.arange(height), lanes if shape.data == "complex" else 2 * lanes)
            return at, at
        if self.kind == SIGNAL:
            first = np.minimum(np.arange(-(-height // lanes)) * lanes, height - lanes)
            to = first[:, None] + np.arange(lanes)
            return places_of(frequencies)[sign * to % height], to
        is_complex = shape.data == "complex"
        rows = [np.arange(height)] if is_complex else program.mirrored_pairs(frequencies, height)
        at = np.concatenate([program.grouped(each, lanes) for each in rows], axis=1)
        return at, sign * frequencies[at] % height

    def run(self, source: Array, scale: float = 1.0) -> tuple[Array, float]:
        """Return the transform of an array ``(count, height, width)`` times a scale, and its parts' largest magnitude.

        The magnitude is NaN if any number is. Arrays are read and written in place; only rows narrower than a vector
        are copied.
        """
        shape, given, made = self.shape, self.shape.source[-1], self.shape.target[-1]
        if given != self.source_pitch:
            source = np.pad(source, ((0, 0), (0, 0), (0, self.source_pitch - given)))
        source = np.require(source, self._given, ("C", "A"))
        rows = shape.width if self.kind == SIGNAL else shape.height
        target = aligned((shape.arrays, rows, self.target_pitch), self._made)
        buffers = self.launcher.wrap(source), self.launcher.wrap(target)
        self._kernel.bind(source=buffers[0], target=buffers[1], scale=float(scale))
        self.launcher.enqueue("transform", self._kernel, (self.workers,), (1,))
        self.launcher.finish(buffers[1], target)
        self.launcher.finish(self._largest_buffer, self._largest)
        largest = float(self._largest.max().view(np.float32))
        if self.kind == SIGNAL:  # the transform of its matrix is transposed
            return target.reshape(1, shape.arrays, -1), largest
        return target if made == self.target_pitch else np.ascontiguousarray(target[:, :, :made]), largest


def long(launcher: Launcher, shape: Shape) -> CpuTransform | LongChirp | None:
    """Return the transform of long or few rows, None for others."""
    lanes = vector_width(launcher.device)
    if shape.along != "rows" or shape.width < (FEW if shape.height < lanes else MANY):
        return None
    sides = split(shape.width, lanes)
    return CpuTransform(launcher, shape, sides=sides) if sides else LongChirp(launcher, shape)


@cache
def split(n: int, lanes: int) -> tuple[int, int] | None:
    """Return the most even (rows, columns) of a smooth length, each at least a vector; None if there are none."""
    most = int(n**0.5) if program.is_smooth(n) else 0
    return next(((rows, n // rows) for rows in range(most, lanes - 1, -1) if n % rows == 0), None)


class LongChirp:
    """Transforms of rows whose length has a large prime factor: Bluestein's, of a length that can be split."""

    def __init__(self, launcher: Launcher, shape: Shape) -> None:
        self._shape, n, lanes = shape, shape.width, vector_width(launcher.device)
        good = convolution_lengths(n, 8 * n, (2, 3, 5))
        length, sides = next((m, sides) for m in good if (sides := split(m, lanes)))
        there = shape._replace(width=length, inverse=False)
        self._there = CpuTransform(launcher, there, sides=sides)
        self._back = CpuTransform(launcher, there._replace(inverse=True), sides=sides)
        own = chirp(n).conj() if shape.inverse else chirp(n)
        self._chirp = own.astype(np.complex64)
        self._filter = chirp_filter(own, length).astype(np.complex64)
        self.device_bytes = self._there.device_bytes + self._back.device_bytes

    def run(self, source: Array, scale: float = 1.0) -> tuple[Array, float]:
        """Return the transforms of rows times a scale, and the largest magnitude of their parts."""
        n = self._shape.width
        padded = np.zeros((1, self._shape.height, len(self._filter)), np.complex64)
        np.multiply(source, self._chirp, out=padded[:, :, :n])
        convolved, _ = self._there.run(padded)
        convolved *= self._filter
        made, _ = self._back.run(convolved)
        result = made[:, :, :n] * (self._chirp * np.float32(scale))
        return result, float(np.abs(result.view(np.float32)).max())
