"""The filters on Dask arrays of stacked images: lazily, chunk by chunk, on any of Dask's schedulers.

    import dask.array, fftfilter.dask
    stack = dask.array.from_zarr("s3://bucket/series.zarr")        # (count, height, width)
    edges = fftfilter.dask.highpass(stack, radius=64)              # nothing is computed yet

Each image becomes what it becomes by itself (`fftfilter.highpass`), bit for bit. Images that are split among chunks
are joined first, which moves data. Large ones are filtered in bands instead, where rounding may differ. Chunks along
the first axis alone cost nothing. A process opens its device once and filters one chunk at a time, however many of
Dask's threads it has: `dask worker --nthreads 1` and a process a device are best. These are the calls of `fftfilter`,
which take Dask arrays, too, as `Filter` does. Dask comes with the extra ``cluster``.
"""

from __future__ import annotations

from .calls import apply_mask, bandpass, bandstop, highpass, lowpass
from .errors import ParameterError, pip_install

__all__ = ["apply_mask", "bandpass", "bandstop", "highpass", "lowpass"]

try:
    import dask.array  # noqa: F401
except ImportError as error:
    raise ParameterError(f"fftfilter.dask needs Dask: {pip_install(extra='cluster')}") from error
