"""The steps of the pipeline as launches: each is the kernel of a file of its name under ``kernels/staged/steps/``.

A step is a pure function that returns its launch, or its launches, as data (see ``plan.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from .plan import FLIP, IMAGE, MASK, NOISE_FLOOR, OFFSET, RAMPS, SPIN, UNDECIDED, Launch, Local, X, Y

if TYPE_CHECKING:
    from ..transfer.radial import Radial
    from .plan import Argument

    Array = np.ndarray[Any, Any]

Transpose = Literal["tiled", "plain", "float4"]
TRANSPOSES: tuple[Transpose, ...] = get_args(Transpose)
MOST_GROUPS = 64


def load(width: int, height: int, images: int, pixel: str) -> Launch:
    """Turn pixels (``uchar``, ``ushort``, ``float`` or ``double``) without each image's offset into complex numbers."""
    items, arguments = (width, height, images), (X, IMAGE, OFFSET, width)
    return Launch("staged/steps/load.cl", "load", items, arguments, defines=(f"LOAD_PIXEL={pixel}",))


def spin_factors(n: int) -> Launch:
    """Fill the table with spin factors, W(i, n) = exp(-2 pi i sqrt(-1) / n) for i below n/2, n a power of two."""
    return Launch("staged/steps/spin_factors.cl", "spin_factors", (n // 2,), (SPIN, n))


def bit_reversal(n: int) -> Launch:
    """Permute rows of length n, a power of two, out of place."""
    return Launch("staged/steps/bit_reversal.cl", "bit_reversal", (n,), (Y, X, n.bit_length() - 1), swap=True)


def butterfly(n: int, stage: int) -> Launch:
    """Run stage 1 ... log2 n of rows of length n, in place, on bit-reversed input."""
    return Launch("staged/steps/butterfly.cl", "butterfly", (n // 2,), (X, SPIN, FLIP, n, stage))


def normalize(n: int, rows: int) -> Launch:
    """Divide rows of length n by n, in place."""
    return Launch("staged/steps/normalize.cl", "normalize_rows", (n, rows), (X, n))


def transpose(width: int, height: int, images: int, *, kind: str = "tiled", side: int = 16) -> Launch:
    """Transpose images of ``(height, width)``, out of place.

    ``plain`` is the book's. ``tiled`` goes through tiles of side x side numbers in local memory, so that neighbors are
    read and neighbors are written. ``float4`` is the stream paper's, with two numbers at a time; images with an odd
    side take the plain one.
    """
    source, items, arguments = "staged/steps/transpose.cl", (width, height, images), (Y, X, width, height)
    if kind == "float4" and width % 2 == height % 2 == 0:
        return Launch(source, "transpose_float4", (height // 2, width, images), arguments, swap=True)
    if kind in ("plain", "float4"):
        return Launch(source, "transpose_plain", items, arguments, swap=True)
    tile = Local(side * (side + 1))
    return Launch(source, "transpose_tiled", items, (*arguments, tile), swap=True, group=(side, side, 1))


def mask(
    height: int, width: int, images: int, radial: Radial | None, reversed_bits: tuple[int, int] = (0, 0)
) -> Launch:
    """Multiply spectra of images of ``(height, width)`` by H, in place; None takes all gains from the table MASK.

    The spectra lie transposed, ``(width, height)``, as they are after rows, transpose and rows. ``reversed_bits`` is
    for (height, width): log2 of the length if the bins along that axis are in bit-reversed order, else 0.
    """
    shape: str = "table"
    numbers: tuple[float, ...] = ()
    if radial is not None:
        outer, inner = radial.cutoffs(height, width)
        of_cutoffs = [number for cutoff in (outer, inner or outer) for number in (*cutoff.steps(), cutoff.falloff)]
        shape, numbers = radial.shape, (*of_cutoffs, int(inner is not None), int(radial.is_complement))
    arguments: tuple[Argument, ...] = (X, MASK, height, width, *numbers, *reversed_bits)
    return Launch("staged/steps/mask.cl", "mask", (height, width, images), arguments, defines=(f"SHAPE={shape}",))


def mask_table(height: int, width: int, radial: Radial | None, table: Array | None, real: np.dtype[Any]) -> Array:
    """Return the table MASK: gains, transposed as the spectra are, if ``table`` has any.

    For a radial function it is how many kx of every row are nearer than the outer cutoff, then than the inner.
    """
    if radial is None or table is not None:
        return np.ascontiguousarray(np.asarray(table).T, real)
    return np.concatenate([cutoff.near_in_rows() for cutoff in radial.cutoffs(height, width) if cutoff])


def magnitude(width: int, height: int, images: int, dc: float) -> Launch:
    """Write the magnitudes, real numbers, to the other buffer, with ``dc``, H(0), times each image's offset."""
    items, arguments = (width, height, images), (Y, X, OFFSET, dc, width)
    return Launch("staged/steps/magnitude.cl", "magnitude", items, arguments, swap=True)


def extremes(count: int, images: int, size: int) -> tuple[Launch, ...]:
    """Reduce images of ``count`` values in X to a pair each in Y, the first at :func:`first_pair`.

    ``size`` is the size of a work-group, a power of two.
    """
    source, groups = "staged/steps/extremes.cl", _groups(count, size)
    items, arguments = (groups * size, images), (Y, X, np.uint64(count), Local(size))
    return (
        Launch(source, "extremes_of_values", items, arguments, group=(size, 1)),
        Launch(source, "extremes_of_extremes", (size, images), (Y, groups, Local(size)), group=(size, 1)),
    )


def first_pair(count: int, images: int, size: int) -> int:
    """Return where in Y the first image's pair lies: behind the pairs of the work-groups."""
    return _groups(count, size) * images


def _groups(count: int, size: int) -> int:
    """Return how many work-groups reduce an image: no more than have work."""
    return min(MOST_GROUPS, -(-count // size))


def quantize(count: int, images: int, first_pair: int, pixel: str) -> Launch:
    """Map images of count magnitudes in X, as parts of their largest in Y, to pixels by their ramps."""
    arguments = (IMAGE, X, Y, np.uint64(first_pair), np.uint64(count), NOISE_FLOOR, RAMPS, UNDECIDED)
    return Launch("staged/steps/quantize.cl", "quantize", (count, images), arguments, defines=(f"STORE_PIXEL={pixel}",))
