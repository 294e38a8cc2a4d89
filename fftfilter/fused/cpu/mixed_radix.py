"""Transforms of the fused CPU form as plain data: radices, spans, twiddle factors, the order they leave.

A transform of length n goes forward by decimation in frequency, stage after stage in place, and back by the
same stages in reverse. Between the two the frequencies lie permuted and are never put in order: tables that depend
on the frequency are permuted instead, once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..tables import chirp, chirp_filter, convolution_lengths, places_of, twiddles

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
def plan(n: int, part: int, least_whole: int) -> Axis:
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
