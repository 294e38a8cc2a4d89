"""The filters on Dask arrays of stacked images: lazily, chunk by chunk, on any of Dask's schedulers.

    import dask.array, fftfilter.dask
    stack = dask.array.from_zarr("s3://bucket/series.zarr")        # (count, height, width)
    edges = fftfilter.dask.highpass(stack, radius=64)              # nothing is computed yet

Each image becomes what it becomes by itself (`fftfilter.highpass`), bit for bit. Images that are split among
chunks are joined first, which moves data; chunks along the first axis alone cost nothing. A process opens
its device once and filters one chunk at a time, however many of Dask's threads it has: `dask worker --nthreads 1`
and a process a device are best. `fftfilter.highpass`, the other calls and `Filter` do the same with a Dask array.
Dask is `pip install 'dask[array]' distributed`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from . import transfer
from .errors import ParameterError
from .filters import Filter, Options, split_options
from .filters.libraries import later

try:
    from dask.array import Array
except ImportError as error:
    raise ParameterError("fftfilter.dask needs Dask: pip install 'dask[array]' distributed") from error

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from .transfer import Transfer
    from .transfer.shapes import ShapeName
    from .transfer.units import RadiusLike


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
    if not isinstance(stack, Array):
        raise ParameterError(f"{stack!r} is not a Dask array: give one of images, or take the filters of fftfilter")
    of_filter, of_pixels = split_options(options)
    return later(Filter.unopened(made, of_filter), stack, **of_pixels)
