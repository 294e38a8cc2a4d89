"""The plan of the fused pipeline for GPUs: how the rows and the columns of an image are transformed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ...errors import ParameterError
from .long import LongPlan, plan_long
from .transform import SECTOR, TransformPlan, fits, plan_transform

# Pixels from which places in the spectrum no longer fit into 32 bits.
MOST_PIXELS = 1 << 32
# Fewer columns are not worth two more launches.
MANY_COLUMNS = 1024
# What long columns do not mind, and makes longer runs of what rows write and read.
WIDE_TILE = 128


@dataclass(frozen=True)
class FusedPlan:
    """Both transforms of an image ``(height, width)``, and how many columns lie side by side."""

    height: int
    width: int
    rows: TransformPlan | LongPlan
    columns: TransformPlan | LongPlan
    tile: int

    @property
    def pairs(self) -> int:
        """Pairs of rows."""
        return -(-self.height // 2)

    @property
    def tiles(self) -> int:
        """Tiles of columns from 0 to half the width."""
        return -(-(self.width // 2 + 1) // self.tile)

    @property
    def spectrum_length(self) -> int:
        """Complex numbers of one image's two planes."""
        return 2 * self.tiles * self.tile * self.pairs

    @property
    def columns_paired(self) -> bool:
        """Whether long columns have both rows of a pair in one transform of their outer step."""
        columns = self.columns
        return isinstance(columns, LongPlan) and not columns.chirped and self.height % 2 == 0

    @property
    def work_length(self) -> int:
        """Complex numbers of one image between the steps of long transforms that do not go in the spectrum's place."""
        rows, columns = self.rows, self.columns
        lines = self.pairs * rows.length if isinstance(rows, LongPlan) and rows.chirped else 0
        through_strips = isinstance(columns, LongPlan) and not self.columns_paired
        return max(lines, self.tiles * self.tile * columns.length if through_strips else 0)


def supports(shape: tuple[int, ...]) -> bool:
    """Tell whether images ``(..., height, width)`` are served."""
    height, width = shape[-2:]
    sides = ((height, True, width), (width, False, height))
    return height * width < MOST_PIXELS and None not in (_plan_side(n, c, others) for n, c, others in sides)


@cache
def plan(height: int, width: int) -> FusedPlan:
    """Return the plan for images of a size; raises ParameterError for one that is not served."""
    vertical = _plan_side(height, True, width // 2 + 1)
    horizontal = _plan_side(width, False, -(-height // 2))
    if vertical is None or horizontal is None or height * width >= MOST_PIXELS:
        raise ParameterError(
            f"an image of {width} x {height} is larger than what the fused pipeline of GPUs transforms: "
            "take another engine, for example book"
        )
    return FusedPlan(height, width, horizontal, vertical, _tile(horizontal, vertical, width // 2 + 1))


def _tile(rows: TransformPlan | LongPlan, columns: TransformPlan | LongPlan, count: int) -> int:
    """Return how many of so many columns lie side by side: what rows and columns take at a time are whole sectors."""
    if isinstance(rows, LongPlan):
        return max(columns.ffts, SECTOR)  # long rows are written and read one at a time
    wide = WIDE_TILE if isinstance(columns, LongPlan) and count >= MANY_COLUMNS else 1
    return max(columns.ffts, SECTOR // rows.ffts, wide)


def _plan_side(n: int, columns: bool, others: int) -> TransformPlan | LongPlan | None:
    """Return the plan of a side: within a work-group if one holds it well, else in two steps; None if too long.

    What a group of columns reads are whole sectors only if two are side by side. Where they are not, or take turns in
    many stages, two steps with many columns side by side are faster, if rows are in pairs and columns enough.
    """
    if not fits(n, columns=columns):
        return plan_long(n, columns=columns, others=others)
    within = plan_transform(n, columns=columns, others=others)
    slow = within.ffts == 1 or (within.turns == 2 and len(within.radices) > 3)
    if columns and slow and n % 2 == 0 and within.length == n and others >= MANY_COLUMNS:
        return plan_long(n, columns=columns, others=others) or within
    return within
