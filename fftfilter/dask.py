"""The filters on Dask arrays of stacked images: lazily, chunk by chunk, on any of Dask's schedulers.

    import dask.array, fftfilter.dask
    stack = dask.array.from_zarr("s3://bucket/series.zarr")        # (count, height, width)
    edges = fftfilter.dask.highpass(stack, radius=64)              # nothing is computed yet

Each image becomes what it becomes by itself (`fftfilter.highpass`), bit for bit. Images that are split among
chunks are joined first, which moves data; chunks along the first axis alone cost nothing. A process opens
its device once and filters one chunk at a time, however many of Dask's threads it has: `dask worker --nthreads 1`
and a process a device are best. `fftfilter.highpass`, the other calls and `Filter` do the same with a Dask array.
Dask is `pip install 'fftfilter[cluster]'`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from numpy.typing import ArrayLike

from . import calls
from .errors import ParameterError

try:
    from dask.array import Array
except ImportError as error:
    raise ParameterError("fftfilter.dask needs Dask: pip install 'fftfilter[cluster]'") from error

P = ParamSpec("P")


def _of_dask(call: Callable[Concatenate[ArrayLike, P], Any]) -> Callable[Concatenate[Array, P], Array]:
    """Return a filter of :mod:`fftfilter.calls` for Dask arrays alone."""

    @wraps(call)
    def of_dask(stack: Array, *args: P.args, **options: P.kwargs) -> Array:
        if not isinstance(stack, Array):
            raise ParameterError(f"{stack!r} is not a Dask array: give one of images, or take the filters of fftfilter")
        return call(stack, *args, **options)

    return of_dask  # type: ignore[return-value]  # which takes its array by name, too


lowpass = _of_dask(calls.lowpass)
highpass = _of_dask(calls.highpass)
bandpass = _of_dask(calls.bandpass)
bandstop = _of_dask(calls.bandstop)
apply_mask = _of_dask(calls.apply_mask)
