"""The plan of the CPU form, and what its kernels read: parameters (``params.cl``), mask (``mask.cl``).

A transform is plain data: radices, spans, twiddle factors, the order it leaves. It goes forward by decimation in
frequency, stage after stage in place, and back by the same stages in reverse. Between the two the frequencies lie
permuted and are never put in order: tables that depend on the frequency are permuted instead, once.

The plan of an image has its strips, its transforms, and the bytes between the steps. Lengths are parameters: compiling
takes longer than filtering most folders, so one program serves any size.

The mask is terms of horizontal and of vertical frequencies, or gains.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...device.launcher import aligned
from ...device.opencl import Device, record
from ...output.histogram import counted
from ...output.ramp import Stack
from ...output.rounding import decided_row
from ...transfer.product import Edges
from ...transfer.shapes import SHAPES, TABLE, number_of
from ..tables import chirp, chirp_filter, convolution_lengths, places_of, twiddles

if TYPE_CHECKING:
    from ...transfer.radial import Radial


# The radices whose butterflies need no table, in the order of the stages: the largest first, as the first
# stages work outside the first cache, where fewer stages are fewer trips through memory.
RADICES = (8, 5, 4, 3, 2)
# Instructions of a stage for each number, loads and stores included, to choose between convolution lengths.
INSTRUCTIONS = {1: 0, 2: 11, 3: 14, 4: 13, 5: 18, 8: 16}
# Primes up to here (WIDEST in butterflies.cl) are transformed by the definition, which costs less than Bluestein's two
# transforms of more than twice the length. Measured, the two are even between 67 and 97.
LARGEST_PRIME = 61


class RadixStage(NamedTuple):
    """One sweep: butterflies of ``radix`` numbers that lie ``span`` apart; stage_t of params.cl.

    ``twiddles`` is where its twiddle factors begin in the table, ``roots`` where a prime radix's roots of unity do.
    """

    radix: int
    span: int
    twiddles: int
    roots: int


class Axis(NamedTuple):
    """The transform of ``points`` along an axis: the stages of this ``length``, more for Bluestein's convolution.

    The first ``whole_stages`` of them run on the whole before it is cut into parts.
    """

    points: int
    length: int
    stages: tuple[RadixStage, ...]
    whole_stages: int

    @property
    def is_convolution(self) -> bool:
        """Whether ``points`` has a large prime factor."""
        return self.length != self.points

    @property
    def radices(self) -> tuple[int, ...]:
        """The radices, first stage first; their product is the length."""
        return tuple(stage.radix for stage in self.stages)

    @property
    def part(self) -> int:
        """Numbers of a part, part_length in transform.cl."""
        return self.stages[self.whole_stages - 1].span if self.whole_stages else self.length

    def twiddles(self) -> NDArray[np.complex64]:
        """Return the twiddle factors of all stages, W(j q, radix span) for j below the span, q from 1.

        For a convolution the chirp follows, and its filter in the order that the stages leave.
        """
        tables = [np.zeros(0, np.complex128)]
        for stage in self.stages:
            turn = np.outer(np.arange(stage.span), np.arange(1, stage.radix))
            tables.append(twiddles(turn, stage.radix * stage.span).ravel())
            if has_roots(stage.radix):
                tables.append(np.exp(2j * np.pi * np.arange(stage.radix) / stage.radix))
        tables.append(np.ones(1, np.complex128))
        if self.is_convolution:
            own = chirp(self.points)
            tables += own, chirp_filter(own, self.length)[self._order()]
        return np.concatenate(tables).astype(np.complex64)

    @property
    def chirp(self) -> int:
        """Where the chirp begins among the twiddle factors."""
        return 1 + sum((each.radix - 1) * each.span + each.radix * has_roots(each.radix) for each in self.stages)

    def frequencies(self) -> NDArray[np.int64]:
        """Return the frequency that each position holds after the forward transform."""
        return np.arange(self.points, dtype=np.int64) if self.is_convolution else self._order()

    def _order(self) -> NDArray[np.int64]:
        k = np.zeros(1, np.int64)
        for radix in reversed(self.radices):
            k = (np.arange(radix)[:, None] + radix * k).ravel()
        return k


def factors(n: int) -> list[int]:
    """Return the radices of length n: eights, fives, a four or two, threes, then other primes; [1] for 1."""
    twos = (n & -n).bit_length() - 1
    rest, divisor = n >> twos, 3
    eights, left = divmod(twos, 3)
    found = [8] * eights + [1 << left] * (left > 0)
    if found[-2:] == [8, 2]:  # 16 is 4 times 4, which is less work than 8 times 2
        found[-2:] = [4, 4]
    while rest > 1:
        while rest % divisor == 0:
            found.append(divisor)
            rest //= divisor
        divisor = divisor + 2 if divisor * divisor <= rest else max(rest, 3)
    order = {radix: i for i, radix in enumerate(RADICES)}
    return sorted(found, key=lambda radix: (order.get(radix, -1), radix)) or [1]


def has_roots(radix: int) -> bool:
    """Tell whether a radix is a prime that is transformed by the definition, with a table of its roots of unity."""
    return radix > 1 and radix not in RADICES


def is_smooth(n: int) -> bool:
    """Tell whether every prime factor of a length has a butterfly."""
    # The radices of a long prime would take long to find.
    for p in range(2, LARGEST_PRIME + 1):
        while n % p == 0:
            n //= p
    return n == 1


def convolution_length(n: int) -> int:
    """Return the cheapest length of a convolution of n points: at least 2n - 1, a product of 8 and of 2, 3 and 5."""

    def instructions(m: int) -> int:
        return m * sum(INSTRUCTIONS[radix] for radix in factors(m))

    # Both outer stages of a convolution have radix 8.
    return min((m for m in convolution_lengths(n, 4 * n - 3, (2, 3, 5)) if factors(m)[0] == 8), key=instructions)


@lru_cache(1024)
def plan_axis(n: int, part: int, least_whole: int) -> Axis:
    """Return the plan of n points, by a convolution if n has a large prime factor.

    Parts of at most ``part`` numbers fit into the first cache. At least ``least_whole`` stages run on the whole (the
    one that reads pixels has to, and the first one of a convolution), but never the last one.
    """
    length = span = n if is_smooth(n) else convolution_length(n)
    stages: list[RadixStage] = []
    twiddles = 0
    for radix in factors(length):
        span //= radix
        roots = twiddles + (radix - 1) * span
        stages.append(RadixStage(radix, span, twiddles, roots))
        twiddles = roots + (radix if has_roots(radix) else 0)
    least, whole = least_whole if length == n else 1, 0
    while whole < len(stages) - 1 and (whole < least or stages[whole].span * stages[whole].radix > part):
        whole += 1
    return Axis(n, length, tuple(stages), whole)


def mirrored_pairs(frequencies: NDArray[np.int64], end: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions of the frequencies up to n/2 and below ``end``, and those of the opposite frequencies."""
    n = len(frequencies)
    lower = np.flatnonzero(frequencies < min(n // 2 + 1, end))
    return lower, places_of(frequencies)[(n - frequencies[lower]) % n]


def grouped(values: NDArray[Any], size: int) -> NDArray[Any]:
    """Return values as rows of ``size``; the last value fills up the last row."""
    return np.pad(values, (0, -len(values) % size), "edge").reshape(-1, size)


# Rows between strips, so that the same row of neighboring strips does not fall into the same cache set.
SPARE_ROWS = 17
# Bytes of a line of the cache, and how many tasks for each worker divide the work evenly enough.
LINE = 64
TASKS = 4
# Pixels for each worker: to wake another one for fewer takes longer than they do.
PIXELS_A_WORKER = 1 << 13
# Gains that mirrored_mask.cl has at once: at two positions of 32 pairs, of both frequencies, even and odd.
MIRRORED_GAINS = 2 * 32 * 2 * 2
# Bytes of a part of a transform. The first cache has 32 KB or more; the rest is for twiddle factors and gains.
PART_BYTES = 20 << 10


class FusedCpuPlan(NamedTuple):
    """Both transforms of an image ``(height, width)`` in strips of two vectors of ``lanes`` columns."""

    height: int
    width: int
    lanes: int
    workers: int
    columns: Axis
    rows: Axis
    inverses: int = 1  # how often an image is transformed back

    @property
    def pitch(self) -> int:
        """Pixels of a row: narrower images are repeated on the host, up to one strip."""
        return max(self.width, 2 * self.lanes)

    @property
    def strips(self) -> int:
        """How many strips an image has."""
        return -(-self.pitch // (2 * self.lanes))

    @property
    def strip_stride(self) -> int:
        """Numbers, each of two vectors, from a strip to the next."""
        return self.height + SPARE_ROWS

    @property
    def workspace(self) -> int:
        """Numbers of a worker's work space: its longest transform."""
        return max(self.strips * 2 * self.lanes, self.rows.length, self.columns.length) + self.gains

    @property
    def gains(self) -> int:
        """Numbers of it that hold gains, two each: of a part of a row, or of a whole row by Bluestein's."""
        of_rows = self.width if self.rows.is_convolution else self.rows.part
        return -(-max(of_rows, MIRRORED_GAINS) // 2)

    def strips_in_line(self, pixel: int) -> int:
        """Return how many strips share a cache line, for pixels of ``pixel`` bytes."""
        return max(1, LINE // (2 * self.lanes * pixel))

    def bands(self, pixel: int) -> int:
        """Return in how many bands of rows pixels of ``pixel`` bytes are written: few, but enough for all workers."""
        return min(self.height, -(-TASKS * self.workers // self._lines(pixel)))

    def tasks_of_quantize(self, pixel: int) -> int:
        """Return how many tasks write pixels of ``pixel`` bytes."""
        return self._lines(pixel) * self.bands(pixel)

    def _lines(self, pixel: int) -> int:
        # The last strip goes with the one before it, whose columns it may have, too.
        return -(-max(self.strips - 1, 1) // self.strips_in_line(pixel))

    def strips_per_task(self, pixel: int) -> int:
        """Return how many strips a task reads at once, for pixels of ``pixel`` bytes.

        All strips of a cache line, if this leaves enough tasks for all workers.
        """
        in_line = self.strips_in_line(pixel)
        enough = self.strips >= in_line * TASKS * self.workers
        return in_line if enough and not self.columns.is_convolution else 1

    def buffers(self, count: int, pixel: int, out: int) -> list[int]:
        """Return the bytes of the strips of a stack, of the workers' work spaces, of the stack and of its result.

        ``pixel`` and ``out`` are the bytes of a pixel in the stack and in the result. Tables are not counted.
        """
        number, pixels = 8 * self.lanes, count * self.height * self.pitch
        return [
            number * self.strip_stride * self.strips * count * self.inverses,
            number * self.workspace * self.workers * self.inverses,
            pixels * pixel,
            pixels * out,
        ]


def plan(
    device: Device,
    height: int,
    width: int,
    *,
    count: int = 1,
    lanes: int | None = None,
    workers: int | None = None,
    part_bytes: int = PART_BYTES,
    inverses: int = 1,
) -> FusedCpuPlan:
    """Return the plan for ``count`` images of a size on a device.

    ``lanes`` are by default those of the device's registers, ``workers`` its compute units, fewer for few pixels.
    Smaller parts make small images take the path of large ones. ``inverses`` is how often an image is transformed back.
    """
    lanes = lanes or vector_width(device)
    part = part_bytes // (8 * lanes)
    # At least one stage of the columns is done on the whole: the one that reads pixels.
    columns, rows = plan_axis(height, part, 1), plan_axis(width, part, 0)
    workers = workers or min(device.cl_device.max_compute_units, -(-count * height * width // PIXELS_A_WORKER))
    return FusedCpuPlan(height, width, lanes, workers, columns, rows, inverses)


def vector_width(device: Device) -> int:
    """Return the floats of a vector, after the device's registers: 4, 8 or 16."""
    native = device.cl_device.native_vector_width_float
    return max(4, min(16, 1 << (max(native, 1).bit_length() - 1)))


FILTER = "fused/cpu/filter.cl"
PARAMS = ("fused/cpu/params.cl", "params_t")


def params(plan: FusedCpuPlan, stack: Stack, dc: float, edges: Edges, fields: dict[str, float]) -> Array:
    """Return the parameters of a stack, an array of one ``params_t``; ``dc`` is H(0).

    The ``fields`` given are those of the mask, how many groups of rows are filtered, ``row_groups``, and how many rows
    are cleared, ``zero_rows``.
    """
    row, column = counted(plan.height, plan.width)
    out = stack.out.itemsize
    fields |= {name: getattr(plan, name) for name in ("pitch", "strips", "strip_stride", "workspace", "gains")}
    fields |= {"count": stack.count, "one_scale": stack.one_scale, "needs_two_inverses": plan.inverses == 2}
    fields |= {"counted_row": row, "counted_column": column, "decided_row": decided_row(plan.height, plan.width)}
    fields |= {"pixel_bytes": out, "strips_written": plan.strips_in_line(out), "bands": plan.bands(out)}
    fields |= {"last_start": plan.pitch - 2 * plan.lanes, "strips_per_task": plan.strips_per_task(stack.pixel.itemsize)}
    # The mask undoes the scale of the rows alone, so that rows that are filtered and rows that are not stand side by
    # side; the scale of the columns goes into the ramps. Mirrored edges double the numbers again, as the mask takes
    # them apart.
    fields |= {"row_scale": (0.25 if edges == "mirror" else 0.5) / plan.width}
    fields |= {"column_scale": 1 / plan.height, "back": dc * plan.height}
    return filled(record(*PARAMS), fields, plan.columns, plan.rows)


def filled(kind: np.dtype[Any], fields: Mapping[str, Any], *axes: Axis) -> Array:
    """Return an array of one record with these fields, all others 0; ``axes`` are those of columns and rows."""
    made = np.zeros(1, kind)
    for name, value in fields.items():
        made[name] = value
    for name, axis in zip(("columns", "rows"), axes, strict=False):
        of_axis = made[name]
        for field in ("points", "length", "whole_stages", "chirp"):
            of_axis[field] = getattr(axis, field)
        of_axis["filter"], of_axis["stage_count"] = axis.chirp + axis.points, len(axis.stages)
        of_axis["stages"][:, : len(axis.stages)] = np.array(list(axis.stages), of_axis["stages"].dtype)
    return made


# Shapes with gain(a + b) = gain(a) gain(b): the kernel multiplies gains instead of computing them.
SEPARABLE = ("gaussian",)
# The number of a mask that is no shape of its own, as in mask.cl
PRODUCT = 100
MASK = "fused/cpu/mask.cl"


class MaskTerms(NamedTuple):
    """The tables of the mask, terms or gains, and its ``fields`` among the parameters.

    ``across`` is for each position of a row, ``down`` ``(groups, 3, lanes)`` for each row of each group and both
    cutoffs, then what H(0) has more than the function, ``gains`` ``(groups, width, lanes)``.
    """

    across: Array
    down: Array
    gains: Array
    fields: dict[str, float]


def mask_terms(
    radial: Radial | None, table: Array | None, size: tuple[int, int], across_k: Array, down_k: Array, *, dc: float
) -> MaskTerms:
    """Return the terms of a radial function, or the gains of a table ``(height, width)``; ``dc`` is H(0).

    ``across_k`` is the horizontal frequency of each position of a row, ``down_k`` ``(groups, lanes)`` the vertical one
    of each row of each group.
    """
    height, width = size
    across = np.zeros(len(across_k), record(MASK, "across_t"))
    down = np.zeros((len(down_k), 3, down_k.shape[1]), np.float32)
    across["k"] = np.minimum(across_k, width - across_k)
    if radial is None or table is not None:
        # Whole rows, then whole vectors of lanes: one gain after the other takes five times as long. Kernels read the
        # gains where they are.
        gains = aligned((len(down_k), len(across_k), down_k.shape[1]), np.dtype(np.float32))
        for of_group, k in zip(gains, down_k, strict=True):
            np.ascontiguousarray(np.asarray(table)[k].T, np.float32).take(across_k, 0, out=of_group, mode="clip")
        return MaskTerms(across, down, gains, {"shape": number_of(TABLE)})
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
    fields: dict[str, float] = {"shape": PRODUCT if separable else number_of(radial.shape)}
    fields |= {"has_inner": inner is not None, "is_complement": radial.is_complement}
    fields |= {"outer_falloff": outer.falloff, "inner_falloff": (inner or outer).falloff}
    return MaskTerms(across, down, np.zeros(1, np.float32), fields)


def twins_of(positions: Array, opposite: Array, kx: Array, width: int) -> Array:
    """Return positions of a row, of the opposite frequencies, and exp(-i pi kx / 2 width), as kernels read them."""
    twins = np.zeros(len(positions), record(MASK, "twins_t"))
    angle = np.pi * kx / (2 * width)
    twins["position"], twins["opposite"], twins["c"], twins["s"] = positions, opposite, np.cos(angle), -np.sin(angle)
    return twins


def turns_of(ky: Array, height: int) -> Array:
    """Return exp(-i pi ky / 2 height) of groups of rows ``(groups, lanes)`` as ``(groups, 2, lanes)``."""
    angle = np.pi * ky / (2 * height)
    return np.stack([np.cos(angle), -np.sin(angle)], axis=1).astype(np.float32)
