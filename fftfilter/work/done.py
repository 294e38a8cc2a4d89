"""The result for a file. It goes from process to process, so nothing here imports NumPy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..output.rounding import Difference
    from .opened import Frame, Made
    from .recipe import Recipe

# The part of the samples that may be clipped without a line, and the line.
MUCH_CLIPPED = 1e-3
CLIPPED = (
    f"more than {MUCH_CLIPPED:.1%} of the samples are clipped to black or white: --output real into .tif keeps all "
    "values, --depth DB takes less away"
)


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
    """What was dropped of the input's metadata, and of a file that the output replaced, as text."""
    peak: float = 0.0
    """The largest value as a part of the input's white, if only measured."""
    difference: Difference | None = None
    """From the reference, if the output was compared with it."""
    has_table: bool = False
    """Whether the indices of a palette were filtered, which is a look-up table."""

    def note(self, frame: Frame, made: Made, recipe: Recipe) -> None:
        """Add one more page."""
        page = Done(samples=made.planes.size, clipped=made.clipped, missing=frame.missing, extremes=made.extremes)
        page.notes, page.has_table = [made.note] if made.note else [], frame.picture.table is not None
        is_much = made.clipped > MUCH_CLIPPED and frame.picture.planes.dtype.kind == "u"  # of floats another line tells
        page.cautions = [CLIPPED] if is_much and recipe.keeps_levels else []
        self.add(page)

    def add(self, more: Done) -> None:
        """Add the result for more pages."""
        before, self.samples = self.samples, self.samples + more.samples
        for part in ("missing", "clipped"):  # without rounding, if all is of one page
            both = getattr(self, part) * before + getattr(more, part) * more.samples
            setattr(self, part, both / self.samples if before else getattr(more, part))
        if more.extremes:
            (low, high), most = more.extremes, self.extremes or more.extremes
            self.extremes = min(low, most[0]), max(high, most[1])
        self.cautions += [line for line in more.cautions if line not in self.cautions]
        self.notes += more.notes
        self.left_out += more.left_out
        self.has_table |= more.has_table
