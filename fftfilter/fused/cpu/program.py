"""The program of the CPU form, and what its kernels read: the parameters (``params.cl``) and the mask (``mask.cl``).

Compiling takes longer than filtering most folders. So lengths are parameters, and only the butterflies are compiled for
the radices. The butterflies of one size compile in half the time of all. The first size on a device gets a program with
its own; all other sizes share one program with all. Both compute the same, bit for bit.

The mask is terms of horizontal and of vertical frequencies, or gains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ...output.histogram import counted
from ...output.rounding import decided_row
from ...transfer.shapes import SHAPES, TABLE, number_of
from .mixed_radix import LARGEST_PRIME, LARGEST_WRITTEN_OUT, Bluestein
from .plan import inner

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ...device.choice import Device
    from ...output.ramp import Stack
    from ...transfer.edges import Edges
    from ...transfer.radial import Radial
    from .plan import Axis, FusedCpuPlan

    Array = NDArray[Any]

Defines = tuple[str, ...]

FILTER = "fused/cpu/filter.cl"
# With Bluestein's convolutions
GENERIC_FILTER = ("fused/cpu/columns_bluestein.cl", "fused/cpu/rows_bluestein.cl", FILTER)
# The radices that are written out in the generic program; other primes go through its loop.
RADICES = {1, 2, 3, 4, 5, 7, 8}
# Of each device and all other defines, those of the first size.
_first: WeakKeyDictionary[Device, dict[Defines, Defines]] = WeakKeyDictionary()


def program(
    device: Device, columns: Axis, rows: Axis, defines: Defines, files: tuple[str, ...] = ()
) -> tuple[tuple[str, ...], Defines]:
    """Return the files and all defines of the program for two axes; ``defines`` are those that do not depend on them.

    ``files`` are by default those of the filter.
    """
    generic = radix_defines({*RADICES, LARGEST_PRIME}, bluestein=True)
    own = generic
    if not (isinstance(columns, Bluestein) or isinstance(rows, Bluestein)):
        own = radix_defines({*columns.radices, *rows.radices}, bluestein=False)
        if _first.setdefault(device, {}).setdefault(defines, own) != own:
            own = generic
    return files or (GENERIC_FILTER if own == generic else (FILTER,)), (*defines, *own)


def radix_defines(radices: set[int], *, bluestein: bool) -> Defines:
    """Return the defines that compile the butterflies of these radices, and no others."""
    loops = [radix for radix in radices if radix > LARGEST_WRITTEN_OUT]
    bits = sum(1 << radix for radix in radices if radix not in loops)
    return f"RADIX_BITS={bits}", f"LOOP_PRIME={max(loops, default=1)}", f"BLUESTEIN={int(bluestein)}"


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
        *((name, np.uint32) for name in ("pixel_bytes", "one_scale", "counted_row", "counted_column", "decided_row")),
        *((name, np.uint32) for name in ("shape", "has_inner", "is_complement", "needs_two_inverses")),
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

    ``row_groups`` groups of rows are filtered and ``zero_rows`` rows cleared; ``dc`` is H(0).
    """
    row, column = counted(plan.height, plan.width)
    fields = {
        "count": stack.count,
        **{name: getattr(plan, name) for name in ("pitch", "strips", "strip_stride", "workspace", "gains")},
        **{name: getattr(mask, name) for name in ("shape", "has_inner", "is_complement")},
        "last_start": plan.pitch - 2 * plan.lanes,
        "strips_per_task": plan.strips_per_task(stack.pixel.itemsize),
        "row_groups": row_groups,
        "zero_rows": zero_rows,
        "strips_written": plan.strips_in_line(stack.out.itemsize),
        "bands": plan.bands(stack.out.itemsize),
        "pixel_bytes": stack.out.itemsize,
        "one_scale": stack.one_scale,
        "counted_row": row,
        "counted_column": column,
        "decided_row": decided_row(plan.height, plan.width),
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
    return filled(PARAMS, fields, plan.columns, plan.rows)


def filled(kind: np.dtype[Any], fields: Mapping[str, Any], *axes: Axis) -> Array:
    """Return an array of one record with these fields, all others 0; ``axes`` are those of columns and rows."""
    made = np.zeros(1, kind)
    for name, value in fields.items():
        made[name] = value
    for name, axis in zip(("columns", "rows"), axes, strict=False):
        of_axis, plan = made[name], inner(axis)
        stages = plan.table()
        of_axis["points"], of_axis["length"] = axis.n, plan.n
        of_axis["stage_count"], of_axis["whole_stages"] = len(stages), plan.whole_stages
        # Where the axis's tables begin among its :func:`twiddle_factors`.
        of_axis["chirp"], of_axis["filter"] = plan.twiddle_count, plan.twiddle_count + axis.n
        of_axis["stages"][:, : len(stages)] = stages
    return made


def twiddle_factors(axis: Axis) -> NDArray[np.complex64]:
    """Return the twiddle factors of an axis, followed by Bluestein's chirp and filter if it has them."""
    tables = [inner(axis).twiddles()]
    if isinstance(axis, Bluestein):
        tables += [axis.chirp(), axis.filter()]
    return np.concatenate(tables)


# Shapes with gain(a + b) = gain(a) gain(b): the kernel multiplies gains instead of computing them.
SEPARABLE = ("gaussian",)
# The number of a mask that is no shape of its own, as in mask.cl
PRODUCT = 100
# across_t and twins_t of mask.cl
ACROSS = np.dtype([("outer", "f4"), ("inner", "f4"), ("k", "i4"), ("unused", "i4")])
TWINS = np.dtype([("position", "u4"), ("opposite", "u4"), ("c", "f4"), ("s", "f4")])


class MaskTerms(NamedTuple):
    """The tables of the mask: terms or gains.

    ``across`` is for each position of a row, ``down`` ``(groups, 3, lanes)`` for each row of each group and both
    cutoffs, then what H(0) has more than the function, ``gains`` ``(groups, width, lanes)``.
    """

    across: Array
    down: Array
    gains: Array
    falloffs: tuple[float, float]
    has_inner: bool
    is_complement: bool
    shape: int


def mask_terms(
    radial: Radial | None,
    table: NDArray[np.float64] | None,
    size: tuple[int, int],
    across_k: NDArray[np.int64],
    down_k: NDArray[np.int64],
    *,
    dc: float,
) -> MaskTerms:
    """Return the terms of a radial function, or the gains of a table ``(height, width)``; ``dc`` is H(0).

    ``across_k`` is the horizontal frequency of each position of a row, ``down_k`` ``(groups, lanes)`` the vertical one
    of each row of each group.
    """
    height, width = size
    across = np.zeros(len(across_k), ACROSS)
    down = np.zeros((len(down_k), 3, down_k.shape[1]), np.float32)
    across["k"] = np.minimum(across_k, width - across_k)
    if radial is None or table is not None:
        # Whole rows, then whole vectors of lanes: one gain after the other takes five times as long.
        of_rows = np.asarray(table)[down_k.ravel()].astype(np.float32).reshape(*down_k.shape, -1)
        gains = np.ascontiguousarray(of_rows.swapaxes(1, 2)).take(across_k, 1)
        return MaskTerms(across, down, gains, (0.0, 0.0), False, False, number_of(TABLE))
    ky = np.minimum(down_k, height - down_k)
    down[:, 2] = np.where(ky == 0, dc - radial.passes_dc, 0)
    separable = radial.shape in SEPARABLE
    gain = SHAPES[radial.shape].gain
    outer, inner = radial.cutoffs(height, width)
    for i, (name, cutoff) in enumerate((("outer", outer), ("inner", inner))):
        if cutoff is None:
            continue
        step_x, step_y = cutoff.steps()
        if gain is None:
            down[:, i] = cutoff.near_in_rows()[ky].view(np.float32)
            continue
        terms = (across["k"] * step_x) ** 2, (ky * step_y) ** 2
        across[name], down[:, i] = (gain(term, cutoff.falloff) for term in terms) if separable else terms
    shape = PRODUCT if separable else number_of(radial.shape)
    falloffs = outer.falloff, (inner or outer).falloff
    unused = np.zeros(1, np.float32)
    return MaskTerms(across, down, unused, falloffs, inner is not None, radial.is_complement, shape)


def twins_of(positions: Array, opposite: Array, kx: Array, width: int) -> Array:
    """Return positions of a row, of the opposite frequencies, and exp(-i pi kx / 2 width), as kernels read them."""
    twins = np.zeros(len(positions), TWINS)
    angle = np.pi * kx / (2 * width)
    twins["position"], twins["opposite"], twins["c"], twins["s"] = positions, opposite, np.cos(angle), -np.sin(angle)
    return twins


def turns_of(ky: Array, height: int) -> Array:
    """Return exp(-i pi ky / 2 height) of groups of rows ``(groups, lanes)`` as ``(groups, 2, lanes)``."""
    angle = np.pi * ky / (2 * height)
    return np.stack([np.cos(angle), -np.sin(angle)], axis=1).astype(np.float32)
