"""The steps of a plain FFT on a GPU as plain data: along which lines, from where to where."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from . import plan as images
from .long import LongPlan, plan_long
from .transform import DEFAULT, SECTOR, Limits, TransformPlan, fits, plan_transform

if TYPE_CHECKING:
    from ..plain_fft import Shape

# Numbers from which places no longer fit into 32 bits.
MOST_NUMBERS = 1 << 32
TARGET, SCRATCH = "target", "scratch"


@dataclass(frozen=True)
class Lines:
    """Where lines lie: ``group`` side by side, groups ``step`` numbers apart, numbers of a line ``stride`` apart."""

    group: int
    step: int
    stride: int


@dataclass(frozen=True)
class Step:
    """Transforms of ``count`` lines, a launch.

    ``between`` is the length of the long transform whose outer step it is, else 0; ``beside`` are the long
    transforms that lie side by side. Of each line the first ``kept`` numbers are stored.
    """

    plan: TransformPlan
    count: int
    source: Lines
    target: Lines
    kept: int
    between: int = 0
    beside: int = 1

    @property
    def in_place(self) -> bool:
        """Whether the numbers may come back to their own places."""
        return self.source == self.target

    def defines(self) -> tuple[str, ...]:
        """Return what the kernel must know at compile time."""
        return (
            *self.plan.defines(),
            *(f"FROM_GROUP={self.source.group}", f"FROM_STEP={self.source.step}", f"FROM_STRIDE={self.source.stride}"),
            *(f"TO_GROUP={self.target.group}", f"TO_STEP={self.target.step}", f"TO_STRIDE={self.target.stride}"),
            *(f"KEPT={self.kept}", f"BETWEEN={self.between}", f"BESIDE={self.beside}"),
        )


def serves(shape: Shape, limits: Limits = DEFAULT) -> bool:
    """Tell whether a shape can be transformed."""
    if shape.count * shape.height * shape.width >= MOST_NUMBERS:
        return False
    if is_paired(shape, limits):
        return True
    return shape.data != "values" and all(_plan(n, n_lines, limits) for n, n_lines in _sides(shape))


def is_paired(shape: Shape, limits: Limits = DEFAULT) -> bool:
    """Tell whether real images go as pairs of rows, which work-groups have to hold.

    A spectrum in natural order is written in whole sectors only where a group has four columns: with fewer, lines are
    faster, though rows are not in pairs.
    """
    if shape.data == "complex" or shape.along != "both" or shape.inverse:
        return False
    sides = ((shape.height, True), (shape.width, False))
    if not all(fits(n, limits, columns=columns) for n, columns in sides):
        return False
    planned = images.plan(shape.height, shape.width, limits)
    if not planned.is_in_groups:
        return False
    return shape.data == "values" or planned.columns.batch >= min(SECTOR, shape.width // 2 + 1)


def is_cut(shape: Shape, limits: Limits = DEFAULT) -> bool:
    """Tell whether half a spectrum is cut out of a whole one: rows in two steps store all."""
    return shape.half and not is_paired(shape, limits) and not isinstance(_plan(shape.width, 1, limits), TransformPlan)


def steps(shape: Shape, limits: Limits = DEFAULT) -> list[Step]:
    """Return the steps of a transform of complex numbers, or of real ones that are read as such, rows first."""
    found: list[Step] = []
    kept = shape.width if is_cut(shape, limits) else shape.spectrum_width
    if shape.along != "columns":
        found += _axis(shape.count * shape.height, shape.width, 1, limits, kept)
    if shape.along != "rows":
        found += _axis(shape.count, shape.height, kept, limits, shape.height)
    return found


def _sides(shape: Shape) -> list[tuple[int, int]]:
    """Return the length of the lines along each axis, and how many lie side by side."""
    rows, columns = (shape.width, 1), (shape.height, shape.width)
    return {"rows": [rows], "columns": [columns], "both": [rows, columns]}[shape.along]


@cache
def _plan(n: int, beside: int, limits: Limits) -> TransformPlan | LongPlan | None:
    """Return the plan of lines of n numbers, ``beside`` of them side by side; None for what is too long."""
    if fits(n, limits, columns=False):
        return plan_transform(n, _wide(n, beside, limits), columns=False, count=max(beside, SECTOR))
    found = plan_long(n, limits, columns=False, count=max(beside, SECTOR))
    # A long chirp-z has steps of its own, which plain FFTs leave to the staged pipeline.
    return found if found and not found.is_bluestein else None


def _wide(n: int, beside: int, limits: Limits) -> Limits:
    """Return limits with which a work-group takes a sector of neighboring lines, if it can."""
    items = plan_transform(n, limits, columns=False, count=1).items
    wanted = min(limits.group, SECTOR * items) if beside >= SECTOR else limits.group_wanted
    return replace(limits, group_wanted=max(limits.group_wanted, wanted))


def _axis(count: int, n: int, beside: int, limits: Limits, kept: int) -> list[Step]:
    """Return the steps along an axis of an array ``(count, n, beside)``, of whose lines ``kept`` numbers are stored."""
    planned = _plan(n, beside, limits)
    if planned is None:
        raise ValueError(f"no plan for lines of {n}")
    if isinstance(planned, TransformPlan):
        from_, to = Lines(beside, n * beside, beside), Lines(beside, kept * beside, beside)
        return [Step(planned, count * beside, from_, to, kept)]
    outer, middle = planned.outer.points, planned.middle.points
    outer_lines = Lines(middle * beside, n * beside, middle * beside)
    from_, to = Lines(beside, middle * beside, beside), Lines(outer * beside, n * beside, outer * beside)
    return [
        Step(planned.outer, count * middle * beside, outer_lines, outer_lines, outer, between=n, beside=beside),
        Step(planned.middle, count * outer * beside, from_, to, middle),
    ]


def places(steps: list[Step]) -> list[str]:
    """Return the buffer that each step writes: the last one the target, and none that moves numbers its own source."""
    found = [TARGET]
    for step in steps[:0:-1]:
        found.append(found[-1] if step.in_place else {TARGET: SCRATCH, SCRATCH: TARGET}[found[-1]])
    return found[::-1]
