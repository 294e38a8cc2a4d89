"""The result for a file. It goes from process to process, so nothing here imports NumPy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..output.difference import Difference
    from .opened import Frame, Made


@dataclass(eq=False, repr=False)  # to generate these methods takes time
class Done:
    """The result for a file."""

    pages: int = 1
    shape: tuple[int, ...] = ()
    """That of the first page: channels, height, width; empty if it could not be read."""
    dtype: str | None = None
    """That of the first page, as it was read."""
    samples: int = 0
    clipped: float = 0.0
    """The part of the samples of all pages that was clipped to black or white."""
    missing: float = 0.0
    """The part of the samples of all pages that is missing."""
    extremes: tuple[float, float] | None = None
    """0 and the largest magnitude of the filtered values of all pages, if any was filtered."""
    cautions: list[str] = field(default_factory=list)
    """Surprises in the output, a line each."""
    notes: list[str] = field(default_factory=list)
    """What followed from each page, in words, if anything did."""
    left_out: list[str] = field(default_factory=list)
    """What was dropped of the input's metadata, as text."""
    difference: Difference | None = None
    """From the reference, if the output was compared with it."""
    has_table: bool = False
    """Whether the indices of a palette were filtered, which is a look-up table."""

    def note(self, frame: Frame, made: Made) -> None:
        """Add one more page."""
        self.has_table |= frame.picture.table is not None
        before, size = self.samples, made.planes.size
        self.samples += size
        if made.extremes:
            (low, high), most = made.extremes, self.extremes or made.extremes
            self.extremes = min(low, most[0]), max(high, most[1])
        self.notes += [made.note] if made.note else []
        if before:
            self.missing = (self.missing * before + frame.missing * size) / self.samples
            self.clipped = (self.clipped * before + made.clipped * size) / self.samples
        else:
            self.missing, self.clipped = frame.missing, made.clipped
