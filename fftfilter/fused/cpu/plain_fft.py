"""A plain FFT on a CPU, prepared for arrays of one shape: one launch from array to array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...device.memory_pool import aligned
from ...output.stack import PIXELS
from .params import twiddle_factors
from .plain_layout import KINDS, SIGNAL, CpuLayout
from .plan import Limits, vector_width
from .program import program

if TYPE_CHECKING:
    from ...device.launcher import Launcher
    from ..plain_fft import Shape

    Array = np.ndarray[Any, Any]

# The steps of each kind of data.
STEPS = {
    "complex": ("fused/cpu/plain_fft/complex_columns.cl", "fused/cpu/plain_fft/complex_rows.cl"),
    "real": ("fused/cpu/plain_fft/real_columns.cl", "fused/cpu/plain_fft/real_rows.cl"),
    "values": ("fused/cpu/plain_fft/values_rows.cl", "fused/cpu/plain_fft/values_columns.cl"),
}
LAUNCH = "fused/cpu/plain_fft/launch.cl"


class CpuTransform:
    """A transform of arrays of one shape and type on a CPU.

    ``kind`` is that of the layout, by default the shape's own. ``pixel`` is the type of real numbers: uint8, uint16 or
    float32. ``lanes`` is how many floats a vector register holds, ``workers`` how many work-items share the work; both
    are the device's by default.
    """

    def __init__(
        self,
        launcher: Launcher,
        shape: Shape,
        pixel: np.dtype[Any] = np.dtype(np.float32),  # noqa: B008  a constant
        *,
        kind: int | None = None,
        lanes: int | None = None,
        workers: int | None = None,
        limits: Limits | None = None,
    ) -> None:
        device = launcher.device
        lanes = lanes or vector_width(device.cl_device.native_vector_width_float)
        workers = workers or device.cl_device.max_compute_units
        self.launcher, self.shape = launcher, shape
        self.kind = KINDS[shape.along] if kind is None else kind
        self.plan = layout = CpuLayout(shape, self.kind, lanes=lanes, workers=workers, limits=limits or Limits())
        self._given = np.dtype(pixel if shape.data == "real" else np.complex64)
        self._made = np.dtype(np.float32 if shape.data == "values" else np.complex64)
        of_source, of_target = layout.sizes()
        workspaces = 8 * lanes * layout.workspace * workers
        self.device_bytes = max(64, layout.strip_bytes) + workspaces + layout.between().nbytes
        """Bytes that the transform keeps between calls."""
        device.check_memory(
            str(shape),
            [self.device_bytes, shape.count * of_source * pixel.itemsize, shape.count * of_target * 4],
        )

        self._kept: list[Any] = []
        self._largest = np.zeros(workers, np.uint32)
        self._largest_buffer = self._keep(launcher.wrap(self._largest))
        arguments = {
            "progress": self._keep(launcher.wrap(np.zeros(layout.progress, np.uint32))),
            "params": self._constant(layout.params()),
            "layout": self._constant(layout.layout()),
            "z": self._scratch(max(64, layout.strip_bytes)),
            "x": self._scratch(workspaces),
            "source": None,
            "target": None,
            "largest": self._largest_buffer,
            "column_twiddles": self._constant(twiddle_factors(layout.columns)),
            "row_twiddles": self._constant(twiddle_factors(layout.rows)),
            "places": self._constant(layout.places),
            "to": self._constant(layout.to),
            "take": self._constant(layout.take),
            "between": self._constant(layout.between()),
            "scale": None,
        }
        given = f"TRANSFORM={shape.data}", f"LOAD_PIXEL={PIXELS[pixel]}", "EDGES=wrap"
        defines = (f"VECTOR={lanes}", *device.own_builtins, *given)
        files = (*STEPS[shape.data], LAUNCH)
        names, defines = program(device, layout.columns, layout.rows, defines, files)
        self._kernel = launcher.kernel(names, defines, "plain_fft", arguments)

    def run(self, source: Array, scale: float = 1.0) -> tuple[Array, float]:
        """Return the transform of an array ``(count, height, width)`` times a scale, and its parts' largest magnitude.

        Of a signal's matrix the transform lies transposed. The magnitude is NaN where there is one. Arrays are read
        and written where they are; only rows narrower than a vector are copied.
        """
        shape, layout = self.shape, self.plan
        given, made = source.shape[-1], shape.target[-1]
        if given != layout.source_pitch:
            source = np.pad(source, ((0, 0), (0, 0), (0, layout.source_pitch - given)))
        source = np.require(source, self._given, ("C", "A"))
        rows = shape.width if self.kind == SIGNAL else shape.height
        target = aligned((shape.count, rows, layout.target_pitch), self._made)
        buffers = self.launcher.wrap(source), self.launcher.wrap(target)
        self._kernel.bind(source=buffers[0], target=buffers[1], scale=float(scale))
        self.launcher.enqueue("transform", self._kernel, (layout.workers,), (1,))
        self.launcher.finish(buffers[1], target)
        self.launcher.finish(self._largest_buffer, self._largest)
        largest = float(self._largest.max().view(np.float32))
        if self.kind == SIGNAL or made == layout.target_pitch:
            return target, largest
        return np.ascontiguousarray(target[:, :, :made]), largest

    def _keep(self, buffer: Any) -> Any:
        """Keep a buffer as long as the transform: a kernel does not keep its buffers alive."""
        self._kept.append(buffer)
        return buffer

    def _constant(self, array: Array) -> Any:
        return self._keep(self.launcher.wrap(np.ascontiguousarray(array), constant=True))

    def _scratch(self, size: int) -> Any:
        return self._keep(self.launcher.wrap(aligned((size,), np.dtype(np.uint8))))
