"""The FFT algorithms.

An algorithm is a function of a length n that returns how it transforms rows of that length. Its name is the function's,
with hyphens; keyword parameters are its options, which it checks; its docstring is its entry in the catalogue: a title,
then a paragraph for each of ``LABELS``. Its kernels are in a file of its name.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError, check_option
from .steps import FLIP, SPIN, Launch, Local, RowPlan, X, Y, bit_reversal, butterfly, spin_factors

Option = int | str
Plan = Callable[..., RowPlan]
Rows = NDArray[np.complexfloating[Any, Any]]

# A length that every algorithm supports: planned once, so that its options are checked.
SMALL = 8
# Work-items of a group of workgroup-coalesced
COALESCED = 256


class Algorithm(NamedTuple):
    """An algorithm with its options, ready to plan."""

    name: str
    plan: Plan  # returns the transform of rows of a length that is supported
    # Tells which lengths n >= 2 it transforms without padding; all others go through Bluestein's chirp-z on top.
    supports: Callable[[int], bool]
    transpose: str  # the kind of transpose that its 2-D transform was published with


class Entry(NamedTuple):
    """An algorithm as the catalogue shows it; ``options`` maps names to their defaults."""

    name: str
    title: str
    idea: str
    radix: str
    trips: str
    limits: str
    source: str
    options: Mapping[str, Option | None]


LABELS = ("Idea", "Radix", "Trips", "Limits", "Source")
_algorithms: dict[str, Algorithm] = {}


def names() -> list[str]:
    """Return the names of all algorithms, sorted."""
    return sorted(_algorithms)


def load(name: str, **options: Option) -> Algorithm:
    """Return the algorithm of that name with its options.

    Raises ParameterError for an unknown name, which lists the algorithms, an unknown option or an invalid value.
    """
    if name not in _algorithms:
        raise ParameterError(f"{name!r} is not an algorithm: choose {', '.join(names())}")
    found = _algorithms[name]
    known = _options(found)
    for option in options:
        if option not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise ParameterError(f"{name} has no option {option!r}: {has}")
    found.plan(SMALL, **options)
    return found._replace(plan=partial(found.plan, **options))


def catalogue() -> list[Entry]:
    """Return every algorithm's docstring as an entry."""
    entries = []
    for name in names():
        title, _, rest = (inspect.getdoc(_algorithms[name].plan) or "").partition("\n")
        paragraphs = re.findall(rf"^({'|'.join(LABELS)}) +(.*(?:\n .*)*)", rest, re.MULTILINE)
        fields = {label.lower(): " ".join(paragraph.split()) for label, paragraph in paragraphs}
        entries.append(Entry(name, title.rstrip("."), **fields, options=_options(_algorithms[name])))
    return entries


def _options(algorithm: Algorithm) -> dict[str, Option | None]:
    parameters = inspect.signature(algorithm.plan).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}


def is_power_of_two(n: int) -> bool:
    """Tell whether a length is a power of two."""
    return n & (n - 1) == 0


def algorithm(*, supports: Callable[[int], bool] = is_power_of_two, transpose: str = "tiled") -> Callable[[Plan], Plan]:
    """Return a decorator that makes a function an algorithm."""

    def add(plan: Plan) -> Plan:
        name = plan.__name__.replace("_", "-")
        _algorithms[name] = Algorithm(name, plan, supports, transpose)
        return plan

    return add


@algorithm()
def book(n: int) -> RowPlan:
    """The book's transform: Cooley-Tukey, radix 2, decimation in time.

    Idea     bit reversal, then log2 n stages of butterflies, each twice as wide as the last
    Radix    2
    Trips    log2 n + 1 through global memory; bit reversal out of place, butterflies in place
    Limits   n a power of two
    Source   The OpenCL Programming Book (Fixstars), section 6.1
    """
    stages = tuple(butterfly(n, stage) for stage in range(1, n.bit_length()))
    return RowPlan(n, spin_length=n // 2, tables=(spin_factors(n),), launches=(bit_reversal(n), *stages), width=n)


@algorithm()
def dif(n: int) -> RowPlan:
    """Cooley-Tukey, radix 2, decimation in frequency.

    Idea     butterflies on natural input, each half as wide as the last; the spectrum comes out bit-reversed.
             A filter leaves it so: the mask is read in that order, and the inverse is decimation in time, which
             begins with bit-reversed input. No number is moved only to sort it
    Radix    2
    Trips    log2 n in place; where the order counts 1 more out of place, bit reversal, which a filter does without
    Limits   n a power of two
    Source   J. W. Cooley, J. W. Tukey, Math. Comp. 19 (1965) 297-301, as Figure 1a of Marichal-Hernandez, Rosa,
             Rodriguez-Ramos, Efficient implementation of the FFT on a stream-programmed GPU (2005)
    """
    log2_n = n.bit_length() - 1
    arguments = {"x": X, "w": SPIN, "flip": FLIP, "n": n}
    narrowing = tuple(
        Launch("staged/algorithms/dif.cl", "dif_butterfly", (n // 2,), {**arguments, "stage": stage})
        for stage in range(log2_n, 0, -1)
    )
    widening = tuple(butterfly(n, stage) for stage in range(1, log2_n + 1))
    launches = *narrowing, bit_reversal(n)
    return RowPlan(n, n // 2, (spin_factors(n),), launches, width=n, unordered=(narrowing, widening))


@algorithm(supports=lambda n: n >= 1)
def dft(n: int) -> RowPlan:
    """The direct sum, the definition itself.

    Idea     every number of the spectrum is a sum over all n samples; Theta(n^2), which the others are measured
             against
    Radix    n
    Trips    1 to write; each number is read n times
    Limits   any n; slow from some thousands up
    Source   the definition, DFT in M. McCarthy, GPU Accelerated Fast Fourier Transform (2015); its sum is
             compensated after W. Kahan, Comm. ACM 8 (1965) 40
    """
    source = "staged/algorithms/dft.cl"
    table = Launch(source, "dft_spin_factors", (n,), {"w": SPIN, "n": n})
    sum_ = Launch(source, "dft", (n,), {"y": Y, "x": X, "w": SPIN, "flip": FLIP, "n": n}, swap=True)
    return RowPlan(n, spin_length=n, tables=(table,), launches=(sum_,), width=n)


@algorithm()
def iterative(n: int) -> RowPlan:
    """The iterative transform I-FFT, run by a single work-item.

    Idea     the loops of binary exchange in one kernel, for a row from its first number to its last: the
             sequential transform, to compare the parallel ones with on the same device
    Radix    2
    Trips    log2 n + 1 in two launches; all out of place
    Limits   n a power of two; one work-item a row, so slow on purpose
    Source   M. McCarthy, GPU Accelerated Fast Fourier Transform (2015)
    """
    source = "staged/algorithms/iterative.cl"
    log2_n = n.bit_length() - 1
    arguments = {"y": Y, "x": X, "w": SPIN, "flip": FLIP, "log2_n": log2_n}
    # The kernel swaps its buffers log2_n times: an odd number leaves the result in the other one.
    loops = Launch(source, "iterative", (1,), arguments, swap=log2_n % 2 == 1, group=(1, 1))
    return RowPlan(n, spin_length=n // 2, tables=(spin_factors(n),), launches=(loops, bit_reversal(n)), width=n)


@algorithm()
def recursive(n: int) -> RowPlan:
    """The recursive transform R-FFT, on the host.

    Idea     transform the even and the odd samples by calling oneself, then combine: y[i] = q[i mod n/2] +
             w^i t[i mod n/2]. OpenCL C has no recursion: this runs in Python, for all rows at once
    Radix    2
    Trips    none on the device: read and written once
    Limits   n a power of two; runs on the host, and so its times are the host's
    Source   M. McCarthy, GPU Accelerated Fast Fourier Transform (2015)
    """
    launch = Launch("recursive", "recursive", (n,), {"flip": FLIP}, host=_recursive_rows)
    return RowPlan(n, spin_length=0, tables=(), launches=(launch,), width=n)


def _recursive_rows(x: Rows, flip: np.uint32) -> Rows:
    """Return the transform of rows ``(rows, n)`` in their own precision, unnormalized; ``flip`` as in kernels."""
    n = x.shape[1]
    turn = -2j if flip == 0 else 2j
    return _recursive(x, np.exp(turn * np.pi * np.arange(n // 2) / n).astype(x.dtype))


def _recursive(x: Rows, w: Rows) -> Rows:
    """Combine the transforms of even and odd samples; ``w`` holds the powers w^0 ... w^(n/2 - 1).

    w^(n/2) is -1, so the second half of y takes the difference.
    """
    if x.shape[1] == 1:
        return x
    q = _recursive(x[:, 0::2], w[0::2])
    t = w * _recursive(x[:, 1::2], w[0::2])
    return np.concatenate((q + t, q - t), axis=1)


@algorithm()
def stockham(n: int, *, radix: int = 4, arithmetic: str = "plain") -> RowPlan:
    """Stockham's autosort, radix 2, 4, 8 or 16.

    Idea     every stage reads R numbers n/R apart and writes them p apart, p = 1, R, R^2 ...; this leaves the spectrum
             in order without bit reversal, and two buffers take turns
    Radix    2, 4, 8 or 16; where log2 n is no multiple of log2 R, the last stage takes the radix that is left.
             Complex products are plain, or made of mad
    Trips    log2 n / log2 R, rounded up
    Limits   n a power of two
    Source   E. Bainville, OpenCL Fast Fourier Transform (2010), "A simple radix-2 kernel" and its higher radices
    """
    source = "staged/algorithms/stockham.cl"
    check_option("radix", radix, (2, 4, 8, 16))
    check_option("arithmetic", arithmetic, ("plain", "mad"))
    stages = []
    p = 1
    while p < n:
        r = min(radix, n // p)
        defines = (f"STOCKHAM_RADIX={r}", f"STOCKHAM_MULTIPLY=multiply_{arithmetic}")
        arguments = {"y": Y, "x": X, "w": SPIN, "flip": FLIP, "n": n, "p": p}
        stages.append(Launch(source, "stockham", (n // r,), arguments, swap=True, defines=defines))
        p *= r
    return RowPlan(n, spin_length=n // 2, tables=(spin_factors(n),), launches=tuple(stages), width=n)


@algorithm()
def workgroup(n: int, *, r: int = 32) -> RowPlan:
    """One work-group for each transform of 2r numbers, as published.

    Idea     r work-items load 2r numbers n/(2r) apart, scale them by their spin factors, run butterflies in local
             memory and write them bit-reversed, which is in order; several launches make up the length
    Radix    2r, r = 1, 2, 4 ... up to the largest work-group of the device; the last launch takes what is left
    Trips    log2 n / log2 2r, rounded up
    Limits   n a power of two
    Source   E. Bainville, OpenCL Fast Fourier Transform (2010), "One work-group per DFT (1)"
    """
    source = "staged/algorithms/workgroup.cl"
    if not isinstance(r, int) or r < 1 or r & (r - 1):
        raise ParameterError(f"r {r!r} is invalid: choose a power of two, 1, 2, 4 ...")
    stages = []
    p = 1
    while p < n:
        size = min(r, n // p // 2)
        arguments = {"y": Y, "x": X, "flip": FLIP, "p": p, "u": Local(2 * size)}
        stages.append(Launch(source, "workgroup", (n // 2,), arguments, swap=True, group=(size, 1)))
        p *= 2 * size
    return RowPlan(n, spin_length=0, tables=(), launches=tuple(stages), width=n)


@algorithm()
def workgroup_coalesced(n: int, *, r: int = 32) -> RowPlan:
    """One work-group for several neighboring transforms of 2r numbers: what the profile of ``workgroup`` asks for.

    Idea     as ``workgroup``, but a group of 256 work-items takes 256/r transforms side by side: neighbors read and
             write neighbors, no group is smaller than a SIMD unit, and spin factors come from a table
    Radix    2r, r = 1, 2, 4 ... 256; the last launch takes what is left
    Trips    log2 n / log2 2r, rounded up
    Limits   n a power of two
    Source   the profile in E. Bainville, OpenCL Fast Fourier Transform (2010), "One work-group per DFT (1)"
    """
    source = "staged/algorithms/workgroup_coalesced.cl"
    check_option("r", r, (1, 2, 4, 8, 16, 32, 64, 128, 256))
    stages = []
    p = 1
    while p < n:
        size = min(r, n // p // 2)
        side = min(COALESCED // size, n // (2 * size))
        arguments = {"y": Y, "x": X, "w": SPIN, "flip": FLIP, "n": n, "p": p, "r": size, "u": Local(2 * size * side)}
        group = (size * side, 1)
        stages.append(Launch(source, "workgroup_coalesced", (n // 2,), arguments, swap=True, group=group))
        p *= 2 * size
    return RowPlan(n, spin_length=n // 2, tables=(spin_factors(n),), launches=tuple(stages), width=n)


@algorithm()
def binary_exchange(n: int, *, p: int | None = None) -> RowPlan:
    """Binary exchange, PAR-FFT: p work-items, each with a block of the row.

    Idea     in stage m every number is combined with the one whose index differs in bit m from the top; each of p
             work-items does this for its own block of n/p, with two buffers in turn and a launch as the barrier.
             The result is unordered, as published; a bit reversal at the end sorts it
    Radix    2
    Trips    log2 n + 1; all out of place
    Limits   n a power of two; p from 1 up, by default n, which is also the most that have work
    Source   M. McCarthy, GPU Accelerated Fast Fourier Transform (2015), after A. Grama et al., Introduction to
             Parallel Computing
    """
    if p is not None and (not isinstance(p, int) or p < 1):
        raise ParameterError(f"p {p!r} is invalid: choose a number of work-items, 1 or more")
    items = min(p or n, n)
    log2_n = n.bit_length() - 1
    arguments = {"r": Y, "s": X, "w": SPIN, "flip": FLIP, "log2_n": log2_n, "p": items}
    stages = tuple(
        Launch("staged/algorithms/binary_exchange.cl", "binary_exchange", (items,), {**arguments, "m": m}, swap=True)
        for m in range(log2_n)
    )
    return RowPlan(n, spin_length=n // 2, tables=(spin_factors(n),), launches=(*stages, bit_reversal(n)), width=n)


@algorithm(transpose="float4")
def pease(n: int, *, layout: str = "line") -> RowPlan:
    """Pease's constant geometry, on packed pairs.

    Idea     two complex numbers in each float4; every stage has the same geometry: butterflies of the two numbers
             within a float4, then recombination, which moves the least significant bit of the position to the
             top. The spin factors of a stage are the first half of the last stage's; the last two stages need no
             general multiplication. Bit reversal comes first, the most and the least significant bit by themselves
    Radix    2
    Trips    log2 n + 1; all out of place
    Limits   n a power of two
    Source   Marichal-Hernandez, Rosa, Rodriguez-Ramos, Efficient implementation of the FFT on a stream-programmed
             GPU (2005), after M. C. Pease, J. ACM 15 (1968) 252-264; layout square is its section 4.3

    ``layout`` "line" launches over a row as it is, "square" over the row of n = N^2 numbers laid out as
    N x N (N x 2N for odd powers), where recombination goes by even and odd rows as well; from n = 8 up.
    """
    source = "staged/algorithms/pease.cl"
    check_option("layout", layout, ("line", "square"))
    if n == 2:
        pair = Launch(source, "pease_pair", (1,), {"x": X})
        return RowPlan(n, spin_length=0, tables=(), launches=(pair,), width=n)
    log2_n = n.bit_length() - 1
    distinct = [1 << (log2_n - 1 - stage) for stage in range(log2_n)]
    arguments = {"y": Y, "x": X, "w": SPIN, "flip": FLIP}
    if layout == "square" and n >= 8:
        height = 1 << (log2_n // 2)
        width = n // height
        square = {**arguments, "width": width, "height": height}
        stages = tuple(
            Launch(source, "pease_square", (width // 4, height), {**square, "distinct": d}, swap=True) for d in distinct
        )
    else:
        line = {**arguments, "n": n}
        stages = tuple(Launch(source, "pease_line", (n // 4,), {**line, "distinct": d}, swap=True) for d in distinct)
    table = Launch(source, "pease_spin_factors", (n // 2,), {"w": SPIN, "log2_n": log2_n})
    reversal = Launch(source, "pease_bit_reversal", (n // 2,), {"y": Y, "x": X, "log2_n": log2_n}, swap=True)
    return RowPlan(n, spin_length=n // 2, tables=(table,), launches=(reversal, *stages), width=n)
