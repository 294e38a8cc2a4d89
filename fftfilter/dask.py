"""The filters on Dask arrays of stacked images: lazily, chunk by chunk, on any of Dask's schedulers.

    import dask.array, fftfilter.dask
    stack = dask.array.from_zarr("s3://bucket/series.zarr")        # (count, height, width)
    edges = fftfilter.dask.highpass(stack, radius=64)              # nothing is computed yet

Each image becomes what it becomes by itself (`fftfilter.highpass`), bit for bit. Images that are split among
chunks are joined first, which moves data; chunks along the first axis alone cost nothing. A process opens
its device once and filters one chunk at a time, however many of Dask's threads it has: `dask worker --nthreads 1`
and a process a device are best. Dask is `pip install 'dask[array]' distributed`.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from . import transfer
from .arrays import check_stack, pixel_type, type_of_output
from .errors import ParameterError
from .filters import Filter, Options, describe, split_options
from .output.modes import MODES

try:
    from dask.array import Array, map_blocks
    from dask.base import tokenize
except ImportError as error:
    raise ParameterError("fftfilter.dask needs Dask: pip install 'dask[array]' distributed") from error

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from .transfer import Transfer
    from .transfer.shapes import ShapeName
    from .transfer.units import RadiusLike

# Images that go to the device at once: enough to be worth a launch, whatever the chunk holds.
_PIXELS_A_LAUNCH = 1 << 22


class RadialOptions(Options, total=False):
    """What a radial filter takes beside its cutoffs: its shape, then as every filter."""

    shape: ShapeName
    order: int | None
    width: RadiusLike | None


def lowpass(stack: Array, radius: RadiusLike | None = None, **options: Unpack[RadialOptions]) -> Array:
    """Return :func:`fftfilter.lowpass` of each image of a stack ``(count, height, width)``, or of one image."""
    return _radial(stack, transfer.lowpass, (radius,), options)


def highpass(stack: Array, radius: RadiusLike | None = None, **options: Unpack[RadialOptions]) -> Array:
    """Return :func:`fftfilter.highpass` of each image of a stack ``(count, height, width)``, or of one image."""
    return _radial(stack, transfer.highpass, (radius,), options)


def bandpass(stack: Array, inner: RadiusLike, outer: RadiusLike, **options: Unpack[RadialOptions]) -> Array:
    """Return :func:`fftfilter.bandpass` of each image of a stack ``(count, height, width)``, or of one image."""
    return _radial(stack, transfer.bandpass, (inner, outer), options)


def bandstop(stack: Array, inner: RadiusLike, outer: RadiusLike, **options: Unpack[RadialOptions]) -> Array:
    """Return :func:`fftfilter.bandstop` of each image of a stack ``(count, height, width)``, or of one image."""
    return _radial(stack, transfer.bandstop, (inner, outer), options)


def apply_mask(stack: Array, mask: ArrayLike, *, any_size: bool = False, **options: Unpack[Options]) -> Array:
    """Return :func:`fftfilter.apply_mask` of each image of a stack ``(count, height, width)``, or of one image."""
    return _filtered(stack, transfer.mask(mask, any_size=any_size), options)


def _radial(stack: Array, make: Callable[..., Transfer], cutoffs: tuple[Any, ...], options: Any) -> Array:
    of_shape = {name: options.pop(name) for name in ("shape", "order", "width") if name in options}
    return _filtered(stack, make(*cutoffs, **of_shape), options)


def _filtered(stack: Array, made: Transfer, options: Options) -> Array:
    """Return the filtered stack; raises ParameterError for what is not a stack of images, or for invalid options."""
    if not isinstance(stack, Array) or stack.ndim not in (2, 3) or stack.dtype.kind not in "biuf":
        raise ParameterError(
            f"{stack!r} is not a stack of images: give a Dask array of real numbers, (count, height, width) or "
            "(height, width)"
        )
    check_stack(stack.shape)
    describe(made, split_options(options)[0])  # raises now what it would where chunks are computed
    whole = stack.rechunk({-1: -1, -2: -1})
    # Without an array to go by, Dask would call the filter to see what it gives.
    empty = np.empty((0,) * stack.ndim, _dtype(stack.dtype, options))
    return map_blocks(_filter_block, whole, made, options, tokenize(made, options), dtype=empty.dtype, meta=empty)


def _dtype(given: np.dtype[Any], options: Options) -> np.dtype[Any]:
    """Return the type that :class:`Filter` gives."""
    if MODES[options.get("output", "magnitude")].is_values:
        return np.dtype(np.float64 if options.get("precision") == "double" else np.float32)
    return type_of_output(options.get("dtype"), pixel_type(given))


# In the process that computes

_one_chunk_at_a_time = threading.Lock()
_open: dict[str, Filter] = {}
"""The filter that this process used last, by its token."""


def _filter_block(block: NDArray[Any], made: Transfer, options: Options, key: str) -> NDArray[Any]:
    if not block.size:
        return np.empty(block.shape, _dtype(block.dtype, options))
    images = block.reshape(-1, *block.shape[-2:])
    at_once = max(1, _PIXELS_A_LAUNCH // images[0].size)
    of_filter, of_pixels = split_options(options)
    with _one_chunk_at_a_time:
        if key not in _open:
            _open.clear()
            _open[key] = Filter(made, **of_filter)
        parts = [_open[key](images[first : first + at_once], **of_pixels) for first in range(0, len(images), at_once)]
    return np.concatenate(parts).reshape(block.shape)
