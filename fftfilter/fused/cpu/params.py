"""The parameters: what the kernels of the CPU form have to know, field by field as in ``params.cl``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...output.histogram import counted
from ...output.rounding import decided_row
from .mixed_radix import Bluestein
from .plan import inner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...output.stack import Stack
    from ...transfer.edges import Edges
    from .mask import MaskTerms
    from .plan import Axis, FusedCpuPlan

MOST_STAGES = 24

AXIS = np.dtype(
    [
        *((name, np.uint32) for name in ("points", "length", "stage_count", "whole_stages", "chirp", "filter")),
        ("stages", np.uint32, (MOST_STAGES, 4)),
    ]
)
PARAMS = np.dtype(
    [
        *((name, np.uint32) for name in ("count", "pitch", "strips", "last_start", "strip_stride", "strips_per_task")),
        *((name, np.uint32) for name in ("row_groups", "zero_rows", "workspace", "gains", "strips_written", "bands")),
        *(
            (name, np.uint32)
            for name in (
                "pixel_bytes",
                "one_scale",
                "counted_row",
                "counted_column",
                "decided_row",
                "shape",
                "has_inner",
                "is_complement",
                "needs_two_inverses",
            )
        ),
        *((name, np.float32) for name in ("outer_falloff", "inner_falloff", "row_scale", "column_scale", "back")),
        *((name, AXIS) for name in ("columns", "rows")),
    ]
)


def params(
    plan: FusedCpuPlan,
    stack: Stack,
    *,
    row_groups: int,
    zero_rows: int,
    mask: MaskTerms,
    dc: float,
    edges: Edges,
) -> NDArray[Any]:
    """Return the parameters of a stack, an array of one :data:`PARAMS`.

    ``row_groups`` groups of rows are filtered and ``zero_rows`` rows cleared;
    ``dc`` is H(0).
    """
    fields = {
        "count": stack.count,
        "pitch": plan.pitch,
        "strips": plan.strips,
        "last_start": plan.pitch - 2 * plan.lanes,
        "strip_stride": plan.strip_stride,
        "strips_per_task": plan.strips_per_task(stack.pixel.itemsize),
        "row_groups": row_groups,
        "zero_rows": zero_rows,
        "workspace": plan.workspace,
        "gains": plan.gains,
        "strips_written": plan.strips_in_line(stack.out.itemsize),
        "bands": plan.bands(stack.out.itemsize),
        "pixel_bytes": stack.out.itemsize,
        "one_scale": stack.one_scale,
        "counted_row": counted(plan.height, plan.width)[0],
        "counted_column": counted(plan.height, plan.width)[1],
        "decided_row": decided_row(plan.height, plan.width),
        "shape": mask.shape,
        "has_inner": mask.has_inner,
        "is_complement": mask.is_complement,
        "needs_two_inverses": plan.inverses == 2,
        "outer_falloff": mask.falloffs[0],
        "inner_falloff": mask.falloffs[1],
        # The mask undoes the scale of the rows alone, so that rows that are filtered and rows that are not stand side
        # by side; the scale of the columns goes into the ramps. Mirrored edges double the numbers again, as the mask
        # takes them apart.
        "row_scale": (0.25 if edges == "mirror" else 0.5) / plan.width,
        "column_scale": 1 / plan.height,
        "back": dc * plan.height,
    }
    made = np.zeros(1, PARAMS)
    for name, value in fields.items():
        made[name] = value
    for name, axis in (("columns", plan.columns), ("rows", plan.rows)):
        fill_axis(made[name], axis)
    return made


def twiddle_factors(axis: Axis) -> NDArray[np.complex64]:
    """Return the twiddle factors of an axis, Bluestein's chirp and filter behind them."""
    tables = [inner(axis).twiddles()]
    if isinstance(axis, Bluestein):
        tables += [axis.chirp(), axis.filter()]
    return np.concatenate(tables)


def fill_axis(fields: Any, axis: Axis) -> None:
    """Fill in the fields of an axis, and where its tables begin among :func:`twiddle_factors`."""
    plan = inner(axis)
    stages = plan.table()
    fields["points"], fields["length"] = axis.n, plan.n
    fields["stage_count"], fields["whole_stages"] = len(stages), plan.whole_stages
    fields["chirp"] = plan.twiddle_count
    fields["filter"] = fields["chirp"] + axis.n
    fields["stages"][:, : len(stages)] = stages
