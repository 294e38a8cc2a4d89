"""The fused pipeline for GPUs: the book's flow in four kernels.

    rows           load, spin factors, butterflies, transpose                1 byte in, 4 out a pixel of 8 bits
    columns        butterflies, mask, butterflies back                       4 in, 4 out
    inverse rows   transpose, butterflies back, magnitude, extremes          4 in, 4 out
    quantize       magnitudes to levels                                      4 in, 1 out

Every pass through memory that is left has its reason: rows and columns need each other's results, and the
scale of the output is known only when every pixel is. The kernels are in ``kernels/fused/gpu_*.cl``.

Lengths made of primes up to 13 are transformed by mixed radix, every other length by Bluestein's chirp-z as
a convolution of such a length, in the same kernels. A transform has to fit a work-group: every length to 8192, good
ones to 16384; :func:`supports` tells.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise, permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import ParameterError
from .pipeline import NOISE, PIXELS
from .steps.quantize import NUDGE
from .transfer import Cutoff, Mask

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyopencl as cl
    from numpy.typing import NDArray

    from .launch import Launcher
    from .transfer import AnyTransfer, Transfer

    Array = np.ndarray[Any, Any]

BUTTERFLIES = "fused/gpu_butterflies.cl"
TRANSFORM = "fused/gpu_transform.cl"
SPECTRUM = "fused/gpu_spectrum.cl"
MASK = "fused/gpu_mask.cl"
ROWS = "fused/gpu_rows.cl"
COLUMNS = "fused/gpu_columns.cl"
INVERSE_ROWS = "fused/gpu_inverse_rows.cl"
QUANTIZE = "fused/gpu_quantize.cl"

# What OpenCL promises of a GPU: a device with less is served by no plan here.
LOCAL_BYTES = 48 * 1024
# What the kernels keep in local memory beside the exchange.
RESERVED_BYTES = 64
GROUP_LIMIT = 1024
# Numbers that a work-item holds. Sixteen keep four memory accesses of each kind in flight and leave registers
# for two large work-groups at a time; more work-items with less each exchange more often.
MOST_VALUES = 16
MOST_STAGES = 5
# A work-group of this size hides the latency of its barriers behind others of its kind.
GROUP_WANTED = 256
BANKS = 32
# Numbers in a sector of memory: writing less of one takes longer than writing all of it.
SECTOR = 4
REGISTERS = 64
QUANTIZE_GROUP = 256

# Instructions of a butterfly with its spin factors, counted in the kernels; they rank plans, no more.
COSTS = {
    2: 12, 3: 30, 4: 34, 5: 60, 6: 70, 7: 110, 8: 88, 9: 150, 10: 150, 11: 280, 12: 180, 13: 380, 14: 270, 15: 270,
    16: 220, 32: 530,
}  # fmt: skip
# Instructions to exchange a number between two stages: two writes, two reads and their share of addresses.
EXCHANGE_COST = 6


@dataclass(frozen=True)
class TransformPlan:
    """How the transforms of one length are dealt out: plain data, the kernels' definitions.

    ``length`` is that of the mixed-radix transform, ``points`` that of the data; they differ for Bluestein's.
    ``items`` work-items share a transform, each has ``values`` numbers, ``ffts`` transforms are in a work-group.
    ``pads`` and ``pads_reversed`` are (span, free numbers behind it) of each exchange, ``region`` is what a
    transform takes in local memory. ``parts`` is 2 where real and imaginary parts go one after the other to need
    half of it, ``turns`` 2 where the transforms of a group take turns to need half of it again,
    ``halves`` 2 where the one transform of a group goes as lower and upper half of its numbers.
    """

    points: int
    length: int
    radices: tuple[int, ...]
    items: int
    values: int
    ffts: int
    parts: int
    turns: int
    halves: int
    pads: tuple[tuple[int, int], ...]
    pads_reversed: tuple[tuple[int, int], ...]
    region: int

    @property
    def group(self) -> int:
        """Work-items of a work-group."""
        return self.items * self.ffts

    @property
    def local_bytes(self) -> int:
        """Local memory of a work-group."""
        return self.ffts // self.turns * self.region * 8 // self.parts

    @property
    def table_offsets(self) -> tuple[int, int, int, int]:
        """Where the tables start and end: spin factors of both orders behind each other, chirp, filter."""
        forward = _spin_length(self.radices)
        chirp = forward + _spin_length(self.radices[::-1])
        return forward, chirp, chirp + self.length, chirp + 2 * self.length

    def defines(self) -> tuple[str, ...]:
        """Return what the kernels must know at compile time."""
        reversed_, chirp, chirp_filter, _ = self.table_offsets
        return (
            f"POINTS={self.points}",
            f"LENGTH={self.length}",
            f"ITEMS={self.items}",
            f"FFTS={self.ffts}",
            f"VALUES={self.values}",
            f"FIRST={self.radices[0]}",
            f"LAST={self.radices[-1]}",
            f"RADICES={_listed(self.radices, MOST_STAGES, 1)}",
            f"REVERSED={_listed(self.radices[::-1], MOST_STAGES, 1)}",
            f"PADS={_listed(tuple(chain(*self.pads)), 2 * MOST_STAGES - 2, 1)}",
            f"PADS_REVERSED={_listed(tuple(chain(*self.pads_reversed)), 2 * MOST_STAGES - 2, 1)}",
            f"REGION={self.region}",
            f"PARTS={self.parts}",
            f"TURNS={self.turns}",
            f"HALVES={self.halves}",
            f"SPIN_REVERSED={reversed_}",
            f"CHIRP={chirp}",
            f"CHIRP_FILTER={chirp_filter}",
        )

    def tables(self) -> NDArray[np.complex64]:
        """Return spin factors of both orders, and for Bluestein's the chirp and its filter's spectrum."""
        parts = [_spin_factors(self.radices), _spin_factors(self.radices[::-1])]
        if self.points != self.length:
            n = self.points
            # k^2 is reduced modulo 2n as a whole number: the angle stays small and exact.
            chirp = np.exp(-1j * np.pi * (np.arange(n, dtype=np.int64) ** 2 % (2 * n)) / n)
            around = np.zeros(self.length, np.complex128)
            around[:n] = chirp.conj()
            around[self.length - n + 1 :] = chirp[:0:-1].conj()
            parts += [np.pad(chirp, (0, self.length - n)), np.fft.fft(around) / self.length]
        return np.concatenate(parts).astype(np.complex64)


@dataclass(frozen=True)
class FusedPlan:
    """Both transforms of an image ``(height, width)``, and how many columns lie side by side."""

    height: int
    width: int
    rows: TransformPlan
    columns: TransformPlan
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


def supports(shape: tuple[int, ...]) -> bool:
    """Tell whether images ``(..., height, width)`` are served: both transforms fit a work-group."""
    return all(any(True for _ in _candidates(n, columns)) for n, columns in ((shape[-2], True), (shape[-1], False)))


@cache
def plan(height: int, width: int) -> FusedPlan:
    """Return the plan for images of a size; raises ParameterError for one that is not served."""
    if not supports((height, width)):
        raise ParameterError(
            f"an image of {width} x {height} has a side that the fused pipeline does not hold in local memory: "
            "take another engine"
        )
    columns = plan_transform(height, columns=True, others=width // 2 + 1)
    rows = plan_transform(width, columns=False, others=-(-height // 2))
    return FusedPlan(height, width, rows, columns, max(columns.ffts, SECTOR // rows.ffts))


def plan_transform(n: int, *, columns: bool, others: int) -> TransformPlan:
    """Return how transforms of n points are dealt out; ``others`` is how many there are.

    Columns of even height want an even first radix, so that the rows of a pair are in one work-item.
    """
    radices, items, values, length = min(_candidates(n, columns), key=lambda c: _cost(*c[:2]))
    pads, pads_reversed = _pads(radices), _pads(radices[::-1])
    region = _region(length, (*pads, *pads_reversed))
    room = LOCAL_BYTES - RESERVED_BYTES
    ffts = _side_by_side(items, others, _group_limit(values))
    # Turns cost rows more than wider tiles do; columns have to fill the tiles.
    if not columns and ffts == 2 and ffts * region * 4 > room:
        ffts = 1
    # What does not fit whole goes as real, then imaginary parts, then one half of the transforms after the other,
    # then one half of each transform.
    halves = 1 if region * 4 <= room else 2
    if halves == 2:
        ffts, region = 1, _region(length // 2, (*pads, *pads_reversed))
    parts, turns = next(
        (parts, turns) for parts, turns in ((1, 1), (2, 1), (2, 2)) if ffts // turns * region * 8 // parts <= room
    )
    banks = BANKS * parts // 2
    if ffts > 1:
        apart = region + (max(1, banks // ffts) - region) % banks
        region = apart if ffts // turns * apart * 8 // parts <= room else region
    return TransformPlan(n, length, radices, items, values, ffts, parts, turns, halves, pads, pads_reversed, region)


def _group_limit(values: int) -> int:
    """Return the most work-items of a group that have registers enough, 64 for 16 numbers."""
    return GROUP_LIMIT if values <= MOST_VALUES else GROUP_LIMIT // 2


def _side_by_side(items: int, others: int, limit: int) -> int:
    """Return how many transforms a work-group has."""
    ffts = 1
    while 2 * ffts * items <= GROUP_WANTED and ffts < others:
        ffts *= 2
    # Two transforms side by side make whole sectors of memory, which counts more than the size of the group.
    if ffts == 1 and others > 1 and 2 * items <= limit:
        ffts = 2
    return ffts


def _region(length: int, pads: tuple[tuple[int, int], ...]) -> int:
    """Return what a transform takes in local memory, in numbers."""
    return max(length + pad * (length // span) for span, pad in (*pads, (1, 0)))


def _candidates(n: int, columns: bool) -> Iterator[tuple[tuple[int, ...], int, int, int]]:
    """Yield (radices, items, values, length) of every way to transform n points within a work-group."""
    lengths = [n] if _factored(n) else _convolution_lengths(n)
    paired = columns and n % 2 == 0 and lengths == [n]
    for length in lengths:
        for factors in _factored(length):
            # Large radices first where it is the same: the first stage has no spin factors.
            for radices in sorted(set(permutations(factors)), reverse=True):
                if paired and radices[0] % 2:
                    continue
                for items in sorted({length // r // b or 1 for r in radices for b in (1, 2, 3, 4)}):
                    values = max(-(-length // r // items) * r for r in radices)
                    if columns and not paired:
                        values = max(values, 2 * math.ceil((n + 1) // 2 / items))
                    enough = values <= max(MOST_VALUES, *radices) and items <= _group_limit(values)
                    if enough and _fits_local_memory(radices, length != n or paired or not columns):
                        yield radices, items, values, length


def _fits_local_memory(radices: tuple[int, ...], may_halve: bool) -> bool:
    """Tell whether real or imaginary parts of a transform fit, or half of them where every stage can be halved.

    Rows that meet in local memory as pairs have to fit whole; those of chirp-z are half of its length.
    """
    length = math.prod(radices)
    pads = (*_pads(radices), *_pads(radices[::-1]))
    room = (LOCAL_BYTES - RESERVED_BYTES) // 4
    if _region(length, pads) <= room:
        return True
    halved = may_halve and all(radix % 2 == 0 for radix in radices)
    return halved and _region(length // 2, pads) <= room


def _convolution_lengths(n: int) -> list[int]:
    """Return good lengths for a convolution of n points: the shortest ones from 2n - 1 up that can be transformed."""
    room = (LOCAL_BYTES - RESERVED_BYTES) // 4
    lengths = [length for length in range(2 * n - 1, min(4 * n, room) + 1) if _good(length)]
    # Longer ones go in halves, which takes even radices alone.
    halved = [length for length in (12288, 15360, 16384) if length >= 2 * n - 1]
    return lengths[:4] or halved


def _good(n: int) -> bool:
    """Tell whether n is made of 2, 3, 5 and 7."""
    for p in (2, 3, 5, 7):
        while n % p == 0:
            n //= p
    return n == 1


@cache
def _factored(n: int) -> tuple[tuple[int, ...], ...]:
    """Return the ways to write n as at most five radices, descending, with one stage more than needed at most."""
    if n == 1:
        return ((1,),)
    found: list[tuple[int, ...]] = []

    def split(rest: int, most: int, so_far: tuple[int, ...]) -> None:
        if rest == 1:
            found.append(so_far)
        elif len(so_far) < MOST_STAGES:
            for radix in (r for r in sorted(COSTS, reverse=True) if r <= most):
                if rest % radix == 0:
                    split(rest // radix, radix, (*so_far, radix))

    split(n, 32 if n > 6144 else 16, ())
    fewest = min(map(len, found), default=0)
    return tuple(factors for factors in found if len(factors) <= fewest + 1)


def _cost(radices: tuple[int, ...], items: int) -> float:
    """Return about how many instructions a transform takes, all work-items together, idle ones included."""
    length = math.prod(radices)
    butterflies = sum(-(-length // r // items) * items * COSTS.get(r, 0) for r in radices)
    values = max(-(-length // r // items) * r for r in radices)
    # Too few work-items in a transform leave lanes of a whole group of 32 idle.
    idle = -(-items // BANKS) * BANKS / items if items > BANKS else 1.0
    return idle * (butterflies + (len(radices) - 1) * EXCHANGE_COST * items * values)


def _pads(radices: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """Return the (span, free numbers behind it) of each exchange.

    Neighbors write ``length radix`` apart where the stage's length is below the number of banks. A span
    divides the distance at which the next stage reads, so that addresses stay sums with constants.
    """
    pads = []
    length, n = 1, math.prod(radices)
    for radix, following in pairwise(radices):
        span = length * radix
        if length < BANKS and span & (span - 1) == 0:
            wide = max(BANKS, span)
            pads.append((wide if n // following % wide == 0 else span, length))
        elif length == 1 and radix % 4 == 0:
            pads.append((span, 1))
        else:
            pads.append((1, 0))
        length = span
    return tuple(pads)


def _spin_length(radices: tuple[int, ...]) -> int:
    return sum(math.prod(radices[:s]) for s in range(1, len(radices)))


def _spin_factors(radices: tuple[int, ...]) -> NDArray[np.complex128]:
    """Return W(k, length radix), k below length, for each stage but the first; length is the product so far."""
    parts = [np.zeros(0, np.complex128)]
    for s in range(1, len(radices)):
        length = math.prod(radices[:s])
        parts.append(np.exp(-2j * np.pi * np.arange(length) / (length * radices[s])))
    return np.concatenate(parts)


def _listed(numbers: tuple[int, ...], count: int, fill: int) -> str:
    return ",".join(map(str, (*numbers, *(fill for _ in range(count - len(numbers))))))


def column_bounds(height: int, width: int, transfer: Transfer) -> NDArray[np.uint32]:
    """Return for every column up to half the width how many |ky| are nearer than each cutoff: ``(width//2 + 1, 2)``."""
    bounds = np.zeros((width // 2 + 1, 2), np.uint32)
    for which, cutoff in enumerate(transfer.cutoffs(height, width)):
        if cutoff is not None:
            # The reach of rows, of the image lying on its side.
            bounds[:, which] = Cutoff(width, height, cutoff.radius).reach()
    return bounds


class FusedGpuPipeline:
    """The whole filter for stacks of images of one size: four launches, one buffer between them.

    As :class:`pipeline.StagedPipeline`, of which it is the fast form: ``shape`` is (count, height, width) of
    ``dtype`` uint8, uint16 or float32 (values within [-1, 1]), output of type ``out`` up to ``levels``; ``levels``
    None leaves the filtered values as they are, as float32. A mask has to be even, as the result is real. Raises
    ParameterError for a size that is not served, TooLargeError before anything is allocated.
    """

    def __init__(
        self,
        launcher: Launcher,
        shape: tuple[int, int, int],
        dtype: np.dtype[Any],
        transfer: AnyTransfer,
        *,
        out: np.dtype[Any],
        levels: int | None,
        one_scale: bool = False,
    ) -> None:
        self.launcher, self.device = launcher, launcher.device
        self.shape, self.dtype, self.out = shape, np.dtype(dtype), np.dtype(out)
        count, height, width = shape
        self.plan = plan(height, width)
        if launcher.real_name != "float":
            raise ParameterError("the fused pipeline computes in single precision: take another engine for double")
        self._bytes_in = math.prod(shape) * self.dtype.itemsize
        self._bytes_out = math.prod(shape) * self.out.itemsize

        tables = [self.plan.rows.tables(), self.plan.columns.tables()]
        mask_data, shape_name, kind, numbers = self._mask(transfer)
        # Values that are not scaled are the output itself.
        values = 0 if levels is None else 4 * math.prod(shape)
        buffers = [self.plan.spectrum_length * count * 8, values, self._bytes_in, self._bytes_out]
        small = [*(max(8, table.nbytes) for table in tables), max(8, mask_data.nbytes), 4 * count]
        what = f"an image of {width} x {height}" if count == 1 else f"a stack of {count} images of {width} x {height}"
        self.device.check_memory(what, [*buffers, *small])
        self._spectrum, *constants = (launcher.allocate(size) for size in (buffers[0], *small))
        self._values = launcher.allocate(values) if values else None
        for buffer, data in zip(constants, (*tables, mask_data), strict=False):
            if data.nbytes:
                launcher.write(buffer, data)
        self._constants = constants
        self._images: tuple[cl.Buffer, cl.Buffer] | None = None
        self._build(shape_name, kind, numbers, one_scale=one_scale, levels=levels)

    def _mask(self, transfer: AnyTransfer) -> tuple[Array, str, str, tuple[Any, ...]]:
        """Return the mask's buffer, its shape and pass for the compiler and its numbers for the kernel."""
        _, height, width = self.shape
        if isinstance(transfer, Mask):
            half = transfer.fit(height, width)[:, : width // 2 + 1]
            nothing = (np.float32(0),) * 4
            return np.ascontiguousarray(half.T, np.float32), "table", "lowpass", (*nothing, np.int32(0))
        n = min(height, width)
        outer, inner = transfer.cutoffs(height, width)
        # Squares stay within single precision; what lies beyond passes only DC, or everything.
        per2 = [
            min(1 / cutoff.radius**2, 1e30) if cutoff.radius > 1e-15 else 1e30 for cutoff in (outer, inner or outer)
        ]
        numbers = (
            np.float32((n / width) ** 2),
            np.float32((n / height) ** 2),
            *map(np.float32, per2),
            np.int32(transfer.order),
        )
        ideal = transfer.shape == "ideal"
        bounds = column_bounds(height, width, transfer) if ideal else np.zeros((1, 2), np.uint32)
        return bounds, transfer.shape, transfer.kind, numbers

    def _build(
        self, shape_name: str, kind: str, numbers: tuple[Any, ...], *, one_scale: bool, levels: int | None
    ) -> None:
        """Build the kernels and set every argument but the images."""
        count, height, width = self.shape
        rows, columns = self.plan.rows, self.plan.columns
        size = (f"WIDTH={width}", f"HEIGHT={height}", f"TILE={self.plan.tile}")
        pixel = f"PIXEL={PIXELS[self.dtype]}"
        mask = (f"SHAPE={shape_name}", f"PASS={kind}")

        def kernel(source: str, *defines: str, transform: TransformPlan | None = None) -> cl.Kernel:
            between = (TRANSFORM, SPECTRUM) if transform else ()
            mask_source = (MASK,) if source == COLUMNS else ()
            return self.launcher.kernel(
                (BUTTERFLIES, *between, *mask_source, source),
                (*size, *(transform.defines() if transform else ()), *defines),
                source.rpartition("/")[2].removesuffix(".cl"),
                options=self._options(transform.values if transform else 1),
            )

        self._rows = kernel(ROWS, pixel, transform=rows)
        self._columns = kernel(COLUMNS, *mask, transform=columns)
        self._inverse_rows = kernel(INVERSE_ROWS, *(("SIGNED=1",) if levels is None else ()), transform=rows)

        row_tables, column_tables, mask_data, largest = self._constants
        self._pictures = 1 if one_scale else count
        scales = np.uint32(one_scale)
        self._rows.set_arg(0, self._spectrum)
        self._rows.set_arg(2, row_tables)
        self._rows.set_arg(3, largest)
        scale = np.float32(1 / (2 * width * height))
        self._columns.set_args(self._spectrum, column_tables, mask_data, scale, *numbers)
        self._inverse_rows.set_arg(1, self._spectrum)
        self._inverse_rows.set_arg(2, row_tables)
        self._inverse_rows.set_arg(3, largest)
        self._inverse_rows.set_arg(4, scales)
        row_groups = -(-self.plan.pairs // rows.ffts) * rows.group
        column_groups = -(-(width // 2 + 1) // columns.ffts)
        self._launches = [
            ("rows", self._rows, (row_groups, count), (rows.group, 1)),
            ("columns", self._columns, (column_groups * columns.group, count), (columns.group, 1)),
            ("inverse rows", self._inverse_rows, (row_groups, count), (rows.group, 1)),
        ]
        self._bound: tuple[cl.Buffer | None, cl.Buffer | None] = (None, None)
        if levels is None:
            return

        self._inverse_rows.set_arg(0, self._values)
        wide = 1 if height * width % 4 else 4
        pixel_out = f"PIXEL_OUT={PIXELS[self.out]}"
        self._quantize = kernel(QUANTIZE, pixel, pixel_out, f"SIZE={height * width}", f"WIDE={wide}")
        # Pixels that are whole numbers reach their type's largest value, others 1.
        brightest = 1.0 if self.dtype.kind == "f" else float(np.iinfo(self.dtype).max)
        to = (1.0, 0.0) if self.out.kind == "f" else (float(levels), NUDGE)
        self._quantize.set_arg(1, self._values)
        self._quantize.set_arg(3, largest)
        self._quantize.set_arg(4, scales)
        for at, number in enumerate((NOISE, brightest, *to), 5):
            self._quantize.set_arg(at, np.float32(number))

        quantized = -(-height * width // wide // QUANTIZE_GROUP) * QUANTIZE_GROUP
        self._launches.append(("quantize", self._quantize, (quantized, count), (QUANTIZE_GROUP, 1)))

    def _options(self, values: int) -> tuple[str, ...]:
        """Return the compiler's own options: registers that leave room for 1024 work-items of 16 numbers each."""
        registers = REGISTERS if values <= MOST_VALUES else 2 * REGISTERS
        return (f"-cl-nv-maxrregcount={registers}",) if "NVIDIA" in self.device.platform else ()

    def enqueue(self, image: cl.Buffer, output: cl.Buffer) -> None:
        """Filter a stack from one device buffer into another, without waiting; ``image`` is left as it is."""
        if self._bound[0] is not image or self._bound[1] is not output:
            self._rows.set_arg(1, image)
            if self._values is None:
                self._inverse_rows.set_arg(0, output)
            else:
                self._quantize.set_arg(0, output)
                self._quantize.set_arg(2, image)
            self._bound = (image, output)
        for launch in self._launches:
            self.launcher.enqueue(*launch)

    def extremes(self) -> Array:
        """Return 0 and the largest magnitude of each picture of the last run: (pictures, 2)."""
        most = np.empty(self._pictures, np.float32)
        self.launcher.read(most, self._constants[-1])
        return np.stack([np.zeros_like(most), most], axis=1)

    def run(self, stack: Array) -> Array:
        """Filter a stack in the host's memory."""
        if self._images is None:
            allocate = self.launcher.allocate
            self._images = (allocate(self._bytes_in), allocate(self._bytes_out))
        image, output = self._images
        self.launcher.write(image, np.ascontiguousarray(stack))
        self.enqueue(image, output)
        result = np.empty(self.shape, self.out)
        self.launcher.read(result, output)
        return result
