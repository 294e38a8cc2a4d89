"""Plans how the work-items of a GPU share transforms of one length: plain data, made without a device.

Lengths made of primes up to 13 are transformed by mixed radix, every other length by Bluestein's chirp-z as
a convolution of such a length, in the same kernels. A work-group holds every length to 8192 and good ones to 16384;
longer transforms go in two steps (``plan.py``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise, permutations

import numpy as np
from numpy.typing import NDArray

from ..tables import chirp, chirp_filter, convolution_lengths, twiddles

# Numbers that a work-item holds. Sixteen keep four memory accesses of each kind in flight and leave registers
# for two large work-groups at a time; more work-items with less each exchange more often.
MOST_PER_ITEM = 16
MOST_STAGES = 5
# Convolutions have lengths that are made of these.
SMALL_PRIMES = (2, 3, 5, 7)
BANKS = 32
# Numbers in a sector of memory: writing less of one takes longer than writing all of it.
SECTOR = 4
# What the kernels keep in local memory beside the exchange, in bytes.
RESERVED_BYTES = 64


@dataclass(frozen=True)
class Limits:
    """The limits of a device that plans respect. Lower ones make small images take the path of large ones."""

    local_bytes: int = 48 * 1024  # local memory of a work-group, what OpenCL promises of a GPU
    group: int = 1024  # the most work-items of a work-group
    group_wanted: int = 256  # a work-group of this size hides the latency of its barriers behind others of its kind
    # The longest transform in two steps: each is at most as long as what a work-group holds well, its table 2 MB.
    longest: int = 1 << 18
    many_columns: int = 1024  # from this many columns on, two more launches are worth it if that makes each faster
    # Lengths of convolutions whose exchanges go in two halves: larger than local memory, of even radices alone.
    convolutions: tuple[int, ...] = (12288, 15360, 16384)

    @property
    def exchanged(self) -> int:
        """Real numbers in local memory for an exchange."""
        return (self.local_bytes - RESERVED_BYTES) // 4


DEFAULT = Limits()

# Instructions of a butterfly with its twiddle factors, counted in the kernels; they rank plans, no more.
COSTS = {
    2: 12, 3: 30, 4: 34, 5: 60, 6: 70, 7: 110, 8: 88, 9: 150, 10: 150, 11: 280, 12: 180, 13: 380, 14: 270, 15: 270,
    16: 220, 32: 530,
}  # fmt: skip
# Instructions to exchange a number between two stages: two writes, two reads and their share of addresses.
EXCHANGE_COST = 6


@dataclass(frozen=True)
class TransformPlan:
    """How work-items share the transforms of one length: plain data, the kernels' definitions (``transform.cl``).

    ``length`` is that of the mixed-radix transform, ``points`` that of the data; they differ for Bluestein's. ``batch``
    transforms are in a work-group, ``items`` work-items share one, each has ``per_item`` numbers. ``pads`` and
    ``pads_reversed`` are (span, free numbers behind it) of each exchange, ``local_stride`` is what a transform takes
    in local memory. Where that does not hold an exchange, it goes in rounds: ``complex_rounds`` is 2 where real and
    imaginary parts go one after the other, ``batch_rounds`` 2 where the halves of the batch do, ``length_rounds`` 2
    where the lower and the upper half of a transform's numbers do, in a batch of one.
    """

    points: int
    length: int
    radices: tuple[int, ...]
    items: int
    per_item: int
    batch: int
    complex_rounds: int
    batch_rounds: int
    length_rounds: int
    pads: tuple[tuple[int, int], ...]
    pads_reversed: tuple[tuple[int, int], ...]
    local_stride: int

    @property
    def is_bluestein(self) -> bool:
        """Whether it goes by Bluestein's convolution."""
        return self.points != self.length

    @property
    def group(self) -> int:
        """Work-items of a work-group."""
        return self.items * self.batch

    @property
    def local_bytes(self) -> int:
        """Local memory of a work-group."""
        return self.batch // self.batch_rounds * self.local_stride * 8 // self.complex_rounds

    @property
    def table_offsets(self) -> tuple[int, int, int, int]:
        """Where the tables start and end: twiddle factors of both orders behind each other, chirp, filter."""
        forward = _twiddle_count(self.radices)
        chirp = forward + _twiddle_count(self.radices[::-1])
        return forward, chirp, chirp + self.length, chirp + 2 * self.length

    def defines(self) -> tuple[str, ...]:
        """Return what the kernels must know at compile time."""
        reversed_, chirp, chirp_filter, _ = self.table_offsets
        return (
            *(f"POINTS={self.points}", f"LENGTH={self.length}", f"BATCH={self.batch}", f"ITEMS={self.items}"),
            *(f"PER_ITEM={self.per_item}", f"FIRST_RADIX={self.radices[0]}", f"LAST_RADIX={self.radices[-1]}"),
            f"RADICES={_listed(self.radices, MOST_STAGES)}",
            f"RADICES_REVERSED={_listed(self.radices[::-1], MOST_STAGES)}",
            f"PADS={_listed(tuple(chain(*self.pads)), 2 * MOST_STAGES - 2)}",
            f"PADS_REVERSED={_listed(tuple(chain(*self.pads_reversed)), 2 * MOST_STAGES - 2)}",
            *(f"LOCAL_STRIDE={self.local_stride}", f"COMPLEX_ROUNDS={self.complex_rounds}"),
            *(f"BATCH_ROUNDS={self.batch_rounds}", f"LENGTH_ROUNDS={self.length_rounds}"),
            *(f"TWIDDLES_REVERSED={reversed_}", f"CHIRP={chirp}", f"CHIRP_FILTER={chirp_filter}"),
        )

    def work_items(self, transforms: int) -> int:
        """Return the work-items of ``transforms`` transforms, whole work-groups."""
        return -(-transforms // self.batch) * self.group

    def tables(self) -> list[NDArray[np.complex64]]:
        """Return one table: twiddle factors of both orders, and for Bluestein's the chirp and its filter's spectrum.

        A number that nobody reads ends it, as no buffer is empty.
        """
        tables = [twiddle_factors(self.radices), twiddle_factors(self.radices[::-1])]
        if self.is_bluestein:
            own = chirp(self.points)
            tables += [np.pad(own, (0, self.length - self.points)), chirp_filter(own, self.length)]
        return [np.concatenate([*tables, np.zeros(1)]).astype(np.complex64)]


def fits_direct(n: int, limits: Limits = DEFAULT) -> bool:
    """Tell whether a work-group holds a transform of n points that is not Bluestein's."""
    return bool(_factored(n)) and fits(n, limits, columns=False)


def fits(n: int, limits: Limits = DEFAULT, *, columns: bool) -> bool:
    """Tell whether a work-group holds a transform of n points."""
    return any(True for _ in _candidates(n, columns, limits))


@cache
def cost(n: int, limits: Limits = DEFAULT, *, columns: bool = False) -> float:
    """Return about how many instructions a transform of n points takes, infinity if a work-group does not hold it."""
    return min((_cost(*candidate[:2]) for candidate in _candidates(n, columns, limits)), default=math.inf)


def plan_transform(n: int, limits: Limits = DEFAULT, *, columns: bool, count: int) -> TransformPlan:
    """Return the plan of ``count`` transforms of n points.

    Columns of even height want an even first radix, so that the rows of a pair are in one work-item.
    """
    # At equal cost, the one with less for each work-item: small images leave the device half empty.
    radices, items, per_item, length = min(_candidates(n, columns, limits), key=lambda c: (_cost(*c[:2]), c[2]))
    pads, pads_reversed = _pads(radices), _pads(radices[::-1])
    stride = _local_stride(length, (*pads, *pads_reversed))
    available = limits.local_bytes - RESERVED_BYTES
    batch = _batch(items, count, per_item, limits)
    # Rounds cost rows more than wider tiles bring; columns have to fill the tiles.
    if not columns and batch == 2 and batch * stride * 8 > available:
        batch = 1
    # What does not fit goes as real, then imaginary parts, then one half of the batch after the other, then one half
    # of each transform.
    length_rounds = 1 if stride * 4 <= available else 2
    if length_rounds == 2:
        batch, stride = 1, _local_stride(length // 2, (*pads, *pads_reversed))
    while batch > 2 and batch // 2 * stride * 4 > available:
        batch //= 2
    complex_rounds, batch_rounds = next(
        rounds for rounds in ((1, 1), (2, 1), (2, 2)) if batch // rounds[1] * stride * 8 // rounds[0] <= available
    )
    banks = BANKS * complex_rounds // 2
    if batch > 1:
        # Transforms that are worked on across begin at different banks.
        apart = stride + (max(1, banks // batch) - stride) % banks
        stride = apart if batch // batch_rounds * apart * 8 // complex_rounds <= available else stride
    rounds = complex_rounds, batch_rounds, length_rounds
    return TransformPlan(n, length, radices, items, per_item, batch, *rounds, pads, pads_reversed, stride)


def group_limit(per_item: int, limits: Limits) -> int:
    """Return the most work-items of a group for which there are enough registers: 64 each for 16 numbers."""
    return limits.group if per_item <= MOST_PER_ITEM else limits.group // 2


def _batch(items: int, count: int, per_item: int, limits: Limits) -> int:
    """Return how many of ``count`` transforms a work-group has."""
    batch = 1
    while 2 * batch * items <= limits.group_wanted and batch < count:
        batch *= 2
    # Two transforms side by side make whole sectors of memory, which counts more than the size of the group.
    if batch == 1 and count > 1 and 2 * items <= group_limit(per_item, limits):
        batch = 2
    return batch


def _local_stride(length: int, pads: tuple[tuple[int, int], ...]) -> int:
    """Return the numbers that a transform takes in local memory."""
    return max(length + pad * (length // span) for span, pad in (*pads, (1, 0)))


def _candidates(n: int, columns: bool, limits: Limits) -> Iterator[tuple[tuple[int, ...], int, int, int]]:
    """Yield (radices, items, per_item, length) of every way to transform n points within a work-group."""
    lengths = [n]
    if not _factored(n):  # the shortest convolutions
        good = convolution_lengths(n, min(4 * n, limits.exchanged), SMALL_PRIMES)
        lengths = good[:4] or [length for length in limits.convolutions if length >= 2 * n - 1]
    paired = columns and n % 2 == 0 and lengths == [n]
    for length in lengths:
        may_halve = length != n or paired or not columns
        for factors in _factored(length):
            # Large radices first: the first stage has no twiddle factors; else the order counts for local memory only.
            orders = sorted(set(permutations(factors)), reverse=True)
            fitting = (order for order in orders if not (paired and order[0] % 2))
            radices = next((order for order in fitting if _fits_local_memory(order, may_halve, limits)), None)
            if radices is None:
                continue
            for items in sorted({length // r // b or 1 for r in radices for b in (1, 2, 3, 4)}):
                per_item = max(-(-length // r // items) * r for r in radices)
                if columns and not paired:
                    per_item = max(per_item, 2 * math.ceil((n + 1) // 2 / items))
                if per_item <= max(MOST_PER_ITEM, *radices) and items <= group_limit(per_item, limits):
                    yield radices, items, per_item, length


def _fits_local_memory(radices: tuple[int, ...], may_halve: bool, limits: Limits) -> bool:
    """Tell whether the real parts of a transform fit into local memory, or half of them if every stage can be halved.

    Rows that meet in local memory as pairs have to fit whole; those of chirp-z are half of its length.
    """
    length = math.prod(radices)
    pads = (*_pads(radices), *_pads(radices[::-1]))
    if _local_stride(length, pads) <= limits.exchanged:
        return True
    halved = may_halve and all(radix % 2 == 0 for radix in radices)
    return halved and _local_stride(length // 2, pads) <= limits.exchanged


@cache
def _factored(n: int) -> tuple[tuple[int, ...], ...]:
    """Return the ways to write n as at most five radices, descending, with at most one stage more than needed."""
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
    """Return about how many instructions a transform takes, summed over all work-items, idle ones included."""
    length = math.prod(radices)
    butterflies = sum(-(-length // r // items) * items * COSTS.get(r, 0) for r in radices)
    per_item = max(-(-length // r // items) * r for r in radices)
    # Too few work-items of a transform leave lanes of a whole group of 32 idle.
    idle = -(-items // BANKS) * BANKS / items if items > BANKS else 1.0
    return idle * (butterflies + (len(radices) - 1) * EXCHANGE_COST * items * per_item)


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


def _twiddle_count(radices: tuple[int, ...]) -> int:
    return sum(math.prod(radices[:s]) for s in range(1, len(radices)))


def twiddle_factors(radices: tuple[int, ...]) -> NDArray[np.complex128]:
    """Return W(k, length radix), k below length, for each stage but the first; length is the product so far."""
    tables = [np.zeros(0, np.complex128)]
    for s in range(1, len(radices)):
        length = math.prod(radices[:s])
        tables.append(twiddles(np.arange(length), length * radices[s]))
    return np.concatenate(tables)


def _listed(numbers: tuple[int, ...], count: int) -> str:
    """Return numbers with commas between, filled up to ``count`` with ones."""
    return ",".join(map(str, (*numbers, *[1] * (count - len(numbers)))))
