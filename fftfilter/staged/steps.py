"""Plans: launches as plain data, in order, with the names of their buffers; and the steps of the book as launches.

A plan is a tuple of launches, of one kernel each. A launch has the kernel's arguments by their names there: numbers, or
names of what is known only when it runs, such as the buffers below. Plans are built by pure functions, printed and
tested without a device; ``pipeline.py`` runs them.

A launch with ``host`` set is a function on the host instead, as OpenCL C has no recursion.

There are two complex buffers. ``X`` holds the data, ``Y`` is free. A launch that works out of place reads ``X``, writes
``Y`` and has ``swap`` set: afterwards the two names change places, as the book's host code swaps its pointers.

A step is a pure function that returns its launch, or its launches: each is the kernel of a file of its name under
``kernels/staged/steps/``.

In the book ``fft_core`` is bit reversal, butterflies and, for the inverse, the division by the number of samples. Any
other algorithm's launches may take the place of the first two. One long row is a 1-D signal. Lengths that an algorithm
does not support go through Bluestein's chirp-z on top of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

if TYPE_CHECKING:
    from ..arrays import Array
    from ..transfer.radial import Radial
    from .algorithms import Algorithm

X = "x"
Y = "y"
IMAGE = "image"
SPIN = "spin"
MASK = "mask"
OFFSET = "offset"
NOISE_FLOOR = "noise floor"
RAMPS = "ramps"
UNDECIDED = "undecided"
FLIP = "flip"

FORWARD = -1
INVERSE = +1


class Local(NamedTuple):
    """Local memory for a kernel, its size in complex numbers."""

    numbers: int


class Launch(NamedTuple):
    """One kernel launch.

    ``items`` are the work-items in each dimension before rounding up to whole work-groups; ``group`` is set only if the
    kernel needs a certain work-group. ``arguments`` are numbers, names and Local, by the kernel's names and in the
    order of its declaration. ``host`` takes the rows in X, ``(rows, n)`` for items (n, rows), and the arguments, and
    returns the new rows.
    """

    source: str
    kernel: str
    items: tuple[int, ...]
    arguments: Mapping[str, object]
    swap: bool = False
    group: tuple[int, ...] | None = None
    defines: tuple[str, ...] = ()
    host: Callable[..., Array] | None = None

    @property
    def step(self) -> str:
        """The name of the step, as ``--profile`` prints it: the stem of the kernel's file."""
        return self.source.rpartition("/")[2].removesuffix(".cl")

    def bind(self, values: Mapping[str, object]) -> Launch:
        """Return the launch with other values for some of the names that its arguments have as values."""
        bound = {name: values.get(a, a) if isinstance(a, str) else a for name, a in self.arguments.items()}
        return self._replace(arguments=bound)


class RowPlan(NamedTuple):
    """The transform of every row of an array ``(rows, n)``, unnormalized, for any number of rows.

    ``tables`` fills the spin factors, ``spin_length`` complex numbers, once. ``launches`` are the transform of one row
    in either direction; one of two dimensions repeats its second for every row. ``width`` is how many complex numbers a
    row takes in each of the two buffers while it runs: n, or more if rows are padded.

    ``unordered`` is a pair, forward and inverse, with a bit-reversed spectrum in between: enough for a filter or a
    convolution, and without the permutation. None if the algorithm has no such pair.
    """

    n: int
    spin_length: int
    tables: tuple[Launch, ...]
    launches: tuple[Launch, ...]
    width: int
    unordered: tuple[tuple[Launch, ...], tuple[Launch, ...]] | None = None

    def run(self, rows: int, direction: int, *, ordered: bool = True) -> tuple[Launch, ...]:
        """Return the launches for a number of rows in one direction, the sign of the exponent.

        The inverse flips the sign bit of the spin factors' imaginary part. ``ordered=False`` takes the pair with the
        bit-reversed spectrum, if there is one.
        """
        launches = self.launches
        if self.unordered is not None and not ordered:
            launches = self.unordered[direction == INVERSE]
        flip = np.uint32(0x80000000 if direction == INVERSE else 0)
        return tuple(
            launch._replace(items=(launch.items[0], prod(launch.items[1:]) * rows)).bind({FLIP: flip})
            for launch in launches
        )

    @property
    def reversed_bits(self) -> int:
        """log2 n if the spectrum that is not ordered is bit-reversed, else 0."""
        return self.n.bit_length() - 1 if self.unordered is not None else 0

    @property
    def spin(self) -> str:
        """The name of this length's table among those of other lengths."""
        return f"{SPIN} {self.n}"


# The steps

Transpose = Literal["tiled", "plain", "float4"]
TRANSPOSES: tuple[Transpose, ...] = get_args(Transpose)
MOST_GROUPS = 64


def load(width: int, height: int, images: int, pixel: str) -> Launch:
    """Turn pixels (``uchar``, ``ushort``, ``float`` or ``double``) without each image's offset into complex numbers."""
    items, arguments = (width, height, images), {"x": X, "image": IMAGE, "offset": OFFSET, "width": width}
    return Launch("staged/steps/load.cl", "load", items, arguments, defines=(f"LOAD_PIXEL={pixel}",))


def spin_factors(n: int) -> Launch:
    """Fill the table with spin factors, W(i, n) = exp(-2 pi i sqrt(-1) / n) for i below n/2, n a power of two."""
    return Launch("staged/steps/spin_factors.cl", "spin_factors", (n // 2,), {"w": SPIN, "n": n})


def bit_reversal(n: int) -> Launch:
    """Permute rows of length n, a power of two, out of place."""
    arguments = {"y": Y, "x": X, "log2_n": n.bit_length() - 1}
    return Launch("staged/steps/bit_reversal.cl", "bit_reversal", (n,), arguments, swap=True)


def butterfly(n: int, stage: int) -> Launch:
    """Run stage 1 ... log2 n of rows of length n, in place, on bit-reversed input."""
    arguments = {"x": X, "w": SPIN, "flip": FLIP, "n": n, "stage": stage}
    return Launch("staged/steps/butterfly.cl", "butterfly", (n // 2,), arguments)


def normalize(n: int, rows: int) -> Launch:
    """Divide rows of length n by n, in place."""
    return Launch("staged/steps/normalize.cl", "normalize_rows", (n, rows), {"x": X, "n": n})


def transpose(width: int, height: int, images: int, *, kind: str = "tiled", side: int = 16) -> Launch:
    """Transpose images of ``(height, width)``, out of place.

    ``plain`` is the book's. ``tiled`` goes through tiles of side x side numbers in local memory, so that neighbors are
    read and neighbors are written. ``float4`` is the stream paper's, with two numbers at a time; images with an odd
    side take the plain one.
    """
    source, items = "staged/steps/transpose.cl", (width, height, images)
    arguments: dict[str, object] = {"y": Y, "x": X, "width": width, "height": height}
    if kind == "float4" and width % 2 == height % 2 == 0:
        return Launch(source, "transpose_float4", (height // 2, width, images), arguments, swap=True)
    if kind in ("plain", "float4"):
        return Launch(source, "transpose_plain", items, arguments, swap=True)
    arguments["tile"] = Local(side * (side + 1))
    return Launch(source, "transpose_tiled", items, arguments, swap=True, group=(side, side, 1))


def mask(
    height: int,
    width: int,
    images: int,
    radial: Radial | None,
    reversed_bits: tuple[int, int] = (0, 0),
    *,
    is_complex: bool = False,
) -> Launch:
    """Multiply spectra of images of ``(height, width)`` by H, in place; None takes all gains from the table MASK.

    The spectra lie transposed, ``(width, height)``, as they are after rows, transpose and rows. ``reversed_bits`` is
    for (height, width): log2 of the length if the bins along that axis are in bit-reversed order, else 0.
    """
    shape, sides = "complex_table" if is_complex else "table", {"height": height, "width": width}
    arguments: dict[str, object] = {"x": X, "gains": MASK, **sides}
    if radial is not None:
        shape, arguments = radial.shape, {"x": X, "near": MASK, **sides}
        outer, inner = radial.cutoffs(height, width)
        for name, cutoff in (("outer", outer), ("inner", inner or outer)):
            step_x, step_y = cutoff.steps()
            arguments |= {f"{name}_x": step_x, f"{name}_y": step_y, f"{name}_falloff": cutoff.falloff}
        arguments |= {"has_inner": inner is not None, "is_complement": radial.is_complement}
    arguments |= {"height_bits": reversed_bits[0], "width_bits": reversed_bits[1]}
    return Launch("staged/steps/mask.cl", "mask", (height, width, images), arguments, defines=(f"SHAPE={shape}",))


def mask_table(height: int, width: int, radial: Radial | None, table: Array | None) -> Array:
    """Return the table MASK: gains, transposed as the spectra are, if ``table`` has any.

    For a radial function it is how many kx of every row are nearer than the outer cutoff, then than the inner.
    """
    if radial is None or table is not None:
        return np.ascontiguousarray(np.asarray(table).T)
    return np.concatenate([cutoff.near_in_rows() for cutoff in radial.cutoffs(height, width) if cutoff])


def magnitude(width: int, height: int, images: int, dc: float) -> Launch:
    """Write the magnitudes, real numbers, to the other buffer, with ``dc``, H(0), times each image's offset."""
    arguments = {"y": Y, "x": X, "offset": OFFSET, "dc": dc, "width": width}
    return Launch("staged/steps/magnitude.cl", "magnitude", (width, height, images), arguments, swap=True)


def extremes(count: int, images: int, size: int) -> tuple[Launch, ...]:
    """Reduce images of ``count`` values in X to a pair each in Y, the first at :func:`first_pair`.

    ``size`` is the size of a work-group, a power of two.
    """
    source, groups = "staged/steps/extremes.cl", _groups(count, size)
    of_values = {"parts": Y, "values": X, "count": np.uint64(count), "pairs": Local(size)}
    of_extremes = {"parts": Y, "groups": groups, "pairs": Local(size)}
    return (
        Launch(source, "extremes_of_values", (groups * size, images), of_values, group=(size, 1)),
        Launch(source, "extremes_of_extremes", (size, images), of_extremes, group=(size, 1)),
    )


def first_pair(count: int, images: int, size: int) -> int:
    """Return where in Y the first image's pair lies: behind the pairs of the work-groups."""
    return _groups(count, size) * images


def _groups(count: int, size: int) -> int:
    """Return how many work-groups reduce an image: no more than have work."""
    return min(MOST_GROUPS, -(-count // size))


def quantize(count: int, images: int, first_pair: int, pixel: str) -> Launch:
    """Map images of count magnitudes in X, as parts of their largest in Y, to pixels by their ramps."""
    numbers = {"first": np.uint64(first_pair), "count": np.uint64(count)}
    of_pictures = {"noise_floor": NOISE_FLOOR, "ramps": RAMPS, "counts": UNDECIDED}
    arguments = {"image": IMAGE, "values": X, "parts": Y, **numbers, **of_pictures}
    return Launch("staged/steps/quantize.cl", "quantize", (count, images), arguments, defines=(f"STORE_PIXEL={pixel}",))


# Transforms of rows by any algorithm

BLUESTEIN = "staged/bluestein.cl"


def plan_rows(n: int, algorithm: Algorithm) -> RowPlan:
    """Return how an algorithm transforms rows of length n: directly where it can, else through Bluestein."""
    if n == 1:
        return RowPlan(1, 0, (), (), 1)
    if algorithm.supports(n):
        return algorithm.plan(n)
    return bluestein(n, algorithm.plan)


def fft_core(plan: RowPlan, rows: int, direction: int, *, ordered: bool = True) -> tuple[Launch, ...]:
    """Return the launches that transform ``rows`` rows: FORWARD unnormalized, INVERSE divided by n.

    ``ordered=False`` leaves the permutation out if the algorithm can: the spectrum is then bit-reversed.
    """
    launches = tuple(launch.bind({SPIN: plan.spin}) for launch in plan.run(rows, direction, ordered=ordered))
    return (*launches, normalize(plan.n, rows)) if direction == INVERSE and plan.n > 1 else launches


def bluestein(n: int, plan: Callable[[int], RowPlan]) -> RowPlan:
    """Return the transform of length n as a convolution of length m, the power of two from 2n - 1 up.

    ``plan`` returns the transform of length m. The table holds its spin factors, then the n chirps, then the m values
    of the filter's spectrum, in the order in which the inner transform leaves a spectrum.
    """
    m = 1 << (2 * n - 2).bit_length()
    inner = plan(m)
    chirp = np.uint64(inner.spin_length)
    filter_ = np.uint64(inner.spin_length + n)
    of_rows = {"y": Y, "x": X, "w": SPIN, "flip": FLIP, "chirp": chirp, "n": n, "m": m}
    of_filter = {"x": X, "w": SPIN, "flip": FLIP, "filter": filter_, "m": m}
    return RowPlan(
        n,
        inner.spin_length + n + m,
        tables=(
            *inner.tables,
            Launch(BLUESTEIN, "chirp", (n,), {"w": SPIN, "chirp": chirp, "n": np.uint64(n)}),
            Launch(BLUESTEIN, "chirp_filter", (m,), {"y": X, "w": SPIN, "chirp": chirp, "n": n, "m": m}),
            *inner.run(1, FORWARD, ordered=False),
            Launch(BLUESTEIN, "keep_filter", (m,), {"w": SPIN, "x": X, "filter": filter_, "m": m}),
        ),
        launches=(
            Launch(BLUESTEIN, "chirp_in", (m,), of_rows, swap=True),
            *inner.run(1, FORWARD, ordered=False),
            Launch(BLUESTEIN, "convolve", (m,), of_filter),
            *inner.run(1, INVERSE, ordered=False),
            Launch(BLUESTEIN, "chirp_out", (n,), of_rows, swap=True),
        ),
        width=max(m, inner.width),
    )
