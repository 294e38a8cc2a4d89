"""The pipelines of a filter: which one a picture takes, and what of it is kept for the next."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..engine import FUSED
from ..errors import ParameterError, TooLargeError
from ..fused import device_bytes, fused, mirrors, serves
from .mirrored import Mirrored

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from ..device.launcher import Launcher
    from ..device.memory_pool import PageLocked
    from ..device.pipeline import Pipeline
    from ..fused.gpu.pipeline import FusedGpuPipeline
    from ..fused.gpu.stream import Stream
    from ..output.stack import Stack
    from ..transfer import Transfer
    from .description import Description

    Array = NDArray[Any]

# Images of a stream that are on their way through a GPU before the first result is waited for.
ON_THEIR_WAY = 3


class Pipelines:
    """Makes the pipelines of a filter on its device, one at a time, and keeps the last one for stacks like its own.

    The fused engine mirrors edges by itself up to some size; all others filter a picture of twice each side.
    """

    def __init__(self, description: Description, launcher: Launcher) -> None:
        self._description, self._launcher = description, launcher
        self.engine = description.engine.name
        """The name of the engine that filtered last."""
        self.last: Pipeline | None = None
        self._stack: Stack | None = None
        self._stream: Stream | None = None
        self._page_locked: PageLocked | None = None

    def kept(self, stack: Stack) -> Pipeline | None:
        """Return the last pipeline, if it is one for this stack."""
        return self.last if stack == self._stack else None

    def make(self, stack: Stack) -> Pipeline:
        """Return a new pipeline for a stack, and keep it; raises what pipelines raise."""
        self.last, self._stack = self._for_edges(stack), stack
        return self.last

    def _for_edges(self, stack: Stack) -> Pipeline:
        described, launcher = self._description, self._launcher
        described.grid(stack.height, stack.width)  # raises what does not fit, in the numbers that were given
        if described.edges == "wrap":
            return self._repeating(described.on_grid, stack)
        if self._mirrors_by_itself(stack.height, stack.width):
            self.engine = FUSED
            return fused(launcher, described.on_grid, stack, described.edges)
        value = launcher.real if described.transfer.is_even else launcher.complex
        return Mirrored(self._repeating, described.on_grid, stack, value)

    def _repeating(self, transfer: Transfer, stack: Stack) -> Pipeline:
        """Return the pipeline of the chosen engine for a stack whose images repeat."""
        if self._is_fused(stack.height, stack.width):
            self.engine = FUSED
            return fused(self._launcher, transfer, stack)
        from ..staged.pipeline import StagedPipeline

        algorithm = self._description.engine.staged
        self.engine = algorithm.name
        transpose = self._description.transpose
        return StagedPipeline(self._launcher, transfer, stack, algorithm=algorithm, transpose_kind=transpose)

    def _is_fused(self, height: int, width: int) -> bool:
        return self._description.engine.is_fused(serves=serves(self._launcher.device, height, width))

    def _mirrors_by_itself(self, height: int, width: int) -> bool:
        """Whether the engine needs no picture of twice each side for mirrored edges."""
        return self._description.engine.algorithm is None and mirrors(self._launcher.device, height, width)

    def device_bytes(self, shape: tuple[int, int, int]) -> int:
        """Return how many bytes of the device a stack ``(count, height, width)`` takes, tables not counted."""
        described, (count, height, width) = self._description, shape
        mirrors_itself = described.edges == "mirror" and self._mirrors_by_itself(height, width)
        is_doubled = described.edges == "mirror" and not mirrors_itself
        if is_doubled:
            height, width = 2 * height, 2 * width
        if self._is_fused(height, width):
            inverses = 2 if mirrors_itself and not described.transfer.is_even_along_axes else 1
            real = described.output == "real" or is_doubled
            return device_bytes(self._launcher.device, (count, height, width), real=real, inverses=inverses)
        from ..staged.pipeline import buffer_bytes

        return buffer_bytes(described.engine.staged, (count, height, width), self._launcher.complex)

    def retuned(self, description: Description) -> Pipelines:
        """Return the pipelines for another transfer function, the last one tuned to it if it can be.

        The fused form for CPUs keeps its buffers and its program. These pipelines are left without their last one.
        """
        made = Pipelines(description, self._launcher)
        made._page_locked = self._page_locked
        last, stack = self.last, self._stack
        self.close()
        retune = getattr(last, "retune", None)
        if retune is not None and made.engine == FUSED:
            with suppress(ParameterError):  # it may fit the next picture
                if retune(description.on_grid):
                    made.last, made._stack = last, stack
        return made

    def stream(self) -> Stream | None:
        """Return the stream through the last pipeline; None where nothing would overlap."""
        if self.engine != FUSED or not self._launcher.device.is_gpu or isinstance(self.last, Mirrored):
            return None
        if self._stream is None:
            from ..fused.gpu.stream import Stream

            with suppress(TooLargeError):
                self._stream = Stream(cast("FusedGpuPipeline", self.last), self._locked())
        return self._stream

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        """Return an array that is not initialized, for a GPU in page-locked memory."""
        return self._locked().empty(shape, dtype) if self._launcher.device.is_gpu else np.empty(shape, dtype)

    def _locked(self) -> PageLocked:
        if self._page_locked is None:
            from ..device.memory_pool import PageLocked

            self._page_locked = PageLocked(self._launcher)
        return self._page_locked

    def close(self) -> None:
        """Release the device's memory."""
        if self._stream is not None:
            self._stream.wait_until_read()
        self.last = self._stack = self._stream = None
