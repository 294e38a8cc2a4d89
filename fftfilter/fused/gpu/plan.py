"""The plan of the fused pipeline for GPUs: how rows and columns are transformed, and the mask between.

Sides that a work-group does not hold are transformed in two steps. A length is split in two, outer and middle, after
Bailey (FFTs in external or hierarchical memory, 1990); the split and the kernels that share it are explained in
``kernels/fused/gpu/long/steps.cl``. Lengths that cannot be split go by Bluestein's chirp-z, as a convolution of a
longer one that can.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import ParameterError
from ...transfer import Transfer
from ...transfer.grid import parts_along_axes
from ...transfer.product import Edges, grid_with
from ...transfer.radial import Radial
from ...transfer.shapes import IDEAL
from ..tables import chirp, chirp_filter, convolution_lengths, twiddles
from . import transform
from .transform import DEFAULT, SECTOR, SMALL_PRIMES, Limits, TransformPlan, fits, fits_direct, plan_transform

# Splits and convolution lengths that are compared: the most even and the shortest ones.
CHOICES = 4


@dataclass(frozen=True)
class LongPlan:
    """A transform of ``points`` numbers as one of ``length`` in two steps; they differ for Bluestein's.

    Both steps have their transforms side by side: rows their own numbers, columns their neighbors.
    """

    points: int
    length: int
    outer: TransformPlan
    middle: TransformPlan

    @property
    def is_bluestein(self) -> bool:
        """Whether it goes by Bluestein's convolution."""
        return self.points != self.length

    @property
    def batch(self) -> int:
        """The most transforms side by side in a work-group of either step."""
        return max(self.outer.batch, self.middle.batch)

    def defines(self, step: TransformPlan) -> tuple[str, ...]:
        """Return what the kernels of a step must know at compile time."""
        return (*step.defines(), f"LONG_POINTS={self.points}", f"LONG_LENGTH={self.length}")

    def tables(self) -> list[NDArray[np.complex64]]:
        """Return the tables of both steps and of what is between: twiddle factors, Bluestein's chirp and its filter."""
        tables = [twiddles(np.arange(self.length), self.length)]
        if self.is_bluestein:
            own = chirp(self.points)
            tables += [own, chirp_filter(own, self.length)]
        between = np.concatenate(tables).astype(np.complex64)
        return [*self.outer.tables(), *self.middle.tables(), between]


@cache
def splits(n: int, limits: Limits = DEFAULT, *, columns: bool) -> tuple[tuple[int, int], ...]:
    """Return the most even splits of n into (outer, middle) that work-groups hold.

    The middle step is the shorter one, as it often goes forward and back in one launch. The outer step of columns
    whose rows are paired is even, so that both rows of a pair are in one transform.
    """
    paired = columns and n % 2 == 0

    outers = (outer for outer in range(2, n // 2 + 1) if n % outer == 0 and not (paired and outer % 2))
    pairs = ((outer, n // outer) for outer in sorted(outers, key=lambda outer: (max(outer, n // outer), -outer)))
    return tuple(islice((pair for pair in pairs if all(fits_direct(step, limits) for step in pair)), CHOICES))


def plan_long(n: int, limits: Limits = DEFAULT, *, columns: bool, count: int) -> LongPlan | None:
    """Return the plan of ``count`` transforms of n points in two steps, None if n is too long."""
    choices = _choices(n, columns, limits)
    if not choices:
        return None
    length, outer, middle = min(choices, key=lambda choice: _cost(choice[1], choice[2], limits, columns=columns))
    paired = columns and n == length and n % 2 == 0
    first = plan_transform(outer, limits, columns=paired, count=count if columns else middle)
    second = plan_transform(middle, limits, columns=False, count=count if columns else outer)
    return LongPlan(n, length, first, second)


def _choices(n: int, columns: bool, limits: Limits) -> list[tuple[int, int, int]]:
    """Return the (length, outer, middle) to choose from."""
    if n > limits.longest:
        return []
    direct = [(n, *split) for split in splits(n, limits, columns=columns)]
    if direct:
        return direct
    good = convolution_lengths(n, min(4 * n, limits.longest), SMALL_PRIMES)
    split_up = ((length, split) for length in good if (split := splits(length, limits, columns=False)))
    return [(length, *split) for length, found in islice(split_up, CHOICES) for split in found]


def _cost(outer: int, middle: int, limits: Limits, *, columns: bool) -> float:
    paired = columns and outer % 2 == 0
    return middle * transform.cost(outer, limits, columns=paired) + outer * transform.cost(middle, limits)


# Pixels from which places in the spectrum no longer fit into 32 bits.
MOST_PIXELS = 1 << 32
# Transforms side by side that are whole sectors: more in a work-group only leave fewer groups.
MOST_IN_GROUP = 8
# Columns of a tile where columns are long: they do not mind, and rows write and read longer runs.
WIDE_TILE = 128


@dataclass(frozen=True)
class FusedPlan:
    """Both transforms of an image ``(height, width)``, and how many columns lie side by side in a tile."""

    height: int
    width: int
    rows: TransformPlan | LongPlan
    columns: TransformPlan | LongPlan
    tile: int

    @property
    def is_in_groups(self) -> bool:
        """Whether work-groups hold both sides."""
        return isinstance(self.rows, TransformPlan) and isinstance(self.columns, TransformPlan)

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
        return isinstance(columns, LongPlan) and not columns.is_bluestein and self.height % 2 == 0

    @property
    def work_length(self) -> int:
        """Complex numbers of one image between the steps of long transforms that are not in the spectrum's place."""
        rows, columns = self.rows, self.columns
        lines = self.pairs * rows.length if isinstance(rows, LongPlan) and rows.is_bluestein else 0
        has_strips = isinstance(columns, LongPlan) and not self.columns_paired
        return max(lines, self.tiles * self.tile * columns.length if has_strips else 0)


def supports(shape: tuple[int, ...], limits: Limits = DEFAULT) -> bool:
    """Tell whether images ``(..., height, width)`` can be filtered."""
    return _plan(*shape[-2:], limits) is not None


def plan(height: int, width: int, limits: Limits = DEFAULT) -> FusedPlan:
    """Return the plan for images of a size; raises ParameterError for one that is too large."""
    if (found := _plan(height, width, limits)) is None:
        raise ParameterError(
            f"an image of {width} x {height} is larger than what the fused pipeline of GPUs transforms: "
            "take another engine, for example book"
        )
    return found


@lru_cache(maxsize=256)
def _plan(height: int, width: int, limits: Limits) -> FusedPlan | None:
    rows = _plan_side(width, False, -(-height // 2), limits)
    columns = _plan_side(height, True, width // 2 + 1, limits)
    if columns is None or rows is None or height * width >= MOST_PIXELS:
        return None
    return FusedPlan(height, width, rows, columns, _tile(rows, columns, width // 2 + 1, limits))


def _tile(rows: TransformPlan | LongPlan, columns: TransformPlan | LongPlan, count: int, limits: Limits) -> int:
    """Return how many of ``count`` columns lie side by side: rows and columns take whole sectors at a time."""
    if isinstance(rows, LongPlan):
        return max(columns.batch, SECTOR)  # long rows are written and read one at a time
    wide = WIDE_TILE if isinstance(columns, LongPlan) and count >= limits.many_columns else 1
    return max(columns.batch, SECTOR // rows.batch, wide)


def _plan_side(n: int, columns: bool, count: int, limits: Limits) -> TransformPlan | LongPlan | None:
    """Return the plan of a side: within a work-group if one holds it well, else in two steps; None if too long.

    A group reads whole sectors only if it has two columns side by side. If it has one, or takes rounds and many stages,
    two steps with many columns side by side are faster, provided that rows are in pairs and columns are many.
    """
    if not fits(n, limits, columns=columns):
        return plan_long(n, limits, columns=columns, count=count)
    within = plan_transform(n, limits, columns=columns, count=min(count, MOST_IN_GROUP))
    slow = within.batch == 1 or (within.batch_rounds == 2 and len(within.radices) > 3)
    if columns and slow and n % 2 == 0 and not within.is_bluestein and count >= limits.many_columns:
        return plan_long(n, limits, columns=columns, count=count) or within
    return within


REALS = ("scale_x2", "scale_y2", "per_outer2", "per_inner2", "outer_falloff", "inner_falloff", "at_dc")
UNUSED: dict[str, float | int] = {**dict.fromkeys(REALS, 0.0), "is_complement": 0}
"""The numbers of a mask, as kernels declare them, where a table has the gains."""


class Mask(NamedTuple):
    """The part of a transfer function that is computed: some columns, and the arguments of their kernels."""

    tiles: int  # the number of tiles of columns that are stored and transformed
    complement: bool  # whether the mask is 1 - H, and what it leaves is subtracted from the image
    dc: float  # H(0)
    shape: str  # the shape for which kernels are compiled: one of the smooth ones, ideal or table
    data: NDArray[Any]
    numbers: dict[str, float | int]  # by name, in the order in which kernels declare them
    edges: Edges = "wrap"
    needs_two_inverses: bool = False
    """Whether edges are mirrored and H is not even along each axis: a table has the gains of its even part, then of
    the odd one."""


def mask(transfer: Transfer, plan: FusedPlan, edges: Edges) -> Mask:
    """Return the mask for images of a plan's size."""
    needs_two_inverses = edges == "mirror" and not transfer.is_even_along_axes
    grid = grid_with(edges, transfer, plan.height, plan.width)
    support, table = grid.on_grid("f4")
    columns = plan.width // 2 + 1
    # Reading the pixels again moves the bytes of a sixteenth of the columns: if fewer are outside the support, all go.
    complement = bool(support.beyond) and 16 * support.columns <= 15 * columns
    kept = columns if support.beyond and not complement else max(1, min(support.columns, columns))
    tiles, dc = -(-kept // plan.tile), float(transfer.at_dc(table))
    at_dc = 1 - dc if complement else dc
    height, width, radial = grid.height, grid.width, grid.transfer.radial
    if radial is None or table is not None:
        gains = 1 - np.asarray(table) if complement else np.asarray(table)
        parts = parts_along_axes(gains) if needs_two_inverses else (gains[:, : width // 2 + 1],)
        data: NDArray[Any] = np.ascontiguousarray(np.stack(parts).transpose(0, 2, 1), np.float32)
        shape, numbers = "table", UNUSED | {"at_dc": at_dc}
    else:
        n, shape = min(height, width), radial.shape
        data = column_bounds(height, width, radial) if shape == IDEAL else np.zeros((1, 2), np.uint32)
        outer, inner = radial.cutoffs(height, width)
        # Squares stay within single precision; what lies beyond passes only DC, or everything.
        per2 = [min(1 / each.radius**2, 1e30) if each.radius > 1e-15 else 1e30 for each in (outer, inner) if each]
        numbers = {"scale_x2": (n / width) ** 2, "scale_y2": (n / height) ** 2}
        numbers |= {"per_outer2": per2[0], "per_inner2": per2[1] if inner else 0.0}
        numbers |= {"outer_falloff": outer.falloff, "inner_falloff": (inner or outer).falloff, "at_dc": at_dc}
        numbers["is_complement"] = radial.is_complement and not complement
    return Mask(tiles, complement, dc, shape, data, numbers, edges, needs_two_inverses)


def column_bounds(height: int, width: int, radial: Radial) -> NDArray[np.uint32]:
    """Return for every column up to half the width how many |ky| are nearer than each cutoff: ``(width//2 + 1, 2)``."""
    none = np.zeros(width // 2 + 1, np.uint32)
    near = [cutoff.near_in_columns() if cutoff else none for cutoff in radial.cutoffs(height, width)]
    return np.stack(near, axis=1).astype(np.uint32)
