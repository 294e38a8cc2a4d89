"""Images in arrays of other libraries than NumPy: the result is an array of the same library.

xarray   names, coordinates and attributes stay; the dimensions y and x are the image's, wherever they stand
Dask     filtered later, chunk by chunk, or a large image in bands of all of its chunks, as docs/python.md says
others   by NumPy's protocols: in by ``__array__`` or ``__dlpack__``, out by ``__array_wrap__`` or
         ``__array_namespace__``; NumPy's if the library has neither of the last two
"""

from __future__ import annotations

import copy
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array, as_numpy, check_finite, check_image, gray_of, pixel_type
from ..device_choice import FUSED, NUMPY, name_of
from ..errors import ParameterError, is_masked
from ..region import RegionOptions
from ..transfer.product import grid_with
from .strips import MOST, How, LargePicture, planned

if TYPE_CHECKING:
    from .filter import Filter

# Images that go to the device at once: enough to be worth a launch, whatever the chunk holds.
_PIXELS_A_LAUNCH = 1 << 22


def is_of(library: str, kind: str, given: object) -> bool:
    """Whether something is an array of a library, which is not imported for it."""
    return isinstance(given, getattr(sys.modules.get(library), kind, ()))


def filtered(filter_: Filter, image: Any, channel_axis: int | None, **of_call: Any) -> Any:
    """Return a filtered image as an array of its library; ``of_call`` and errors are those of the filter's call."""
    volume = filter_.volume
    if is_of("xarray", "DataArray", image) and volume:
        missing = of_call["missing"]
        by_name = is_of("xarray", "DataArray", missing)
        of_call["missing"] = missing.transpose(*image.dims, missing_dims="ignore").data if by_name else missing
        numbered = filter_.with_options(axes=volume.places(image))
        return image.copy(deep=False, data=numbered(image.data, channel_axis=channel_axis, **of_call))
    if is_of("xarray", "DataArray", image):
        upright, channel_axis, missing = as_upright(image, channel_axis, of_call["missing"])
        made = filter_(upright.data, channel_axis=channel_axis, **{**of_call, "missing": missing})
        return upright.copy(deep=False, data=made).transpose(*image.dims)
    if is_of("dask.array", "Array", image):
        return later(copy.copy(filter_), image, channel_axis, **of_call)
    result = filter_(as_numpy(image), channel_axis=channel_axis, **of_call)
    if hasattr(image, "__array_wrap__"):
        return image.__array_wrap__(result)
    if hasattr(image, "__array_namespace__"):
        return image.__array_namespace__().asarray(result, device=image.device)
    return result


def as_upright(image: Any, channel_axis: int | None, missing: Any) -> tuple[Any, int | None, Any]:
    """Return an array of xarray with y and x as its last dimensions, and what belongs to it; others as they are."""
    if not is_of("xarray", "DataArray", image) or not {"y", "x"} <= set(image.dims):
        return image, channel_axis, missing
    upright = image.transpose(..., "y", "x")
    if channel_axis in range(-image.ndim, image.ndim):
        channel_axis = upright.dims.index(image.dims[channel_axis])
    if is_of("xarray", "DataArray", missing):
        missing = missing.transpose(*upright.dims, missing_dims="ignore").data
    elif np.ndim(missing) == image.ndim:
        missing = np.transpose(missing, image.get_axis_num(upright.dims))
    return upright, channel_axis, missing


# Dask


def later(filter_: Filter, images: Any, channel_axis: int | None = None, missing: Any = None, **of_call: Any) -> Any:
    """Return a Dask array that will be what a filter makes of one; raises ParameterError for what is not an image.

    The filter is sent to the processes that compute, each of which opens its device once.
    """
    from dask.array import asarray, map_blocks
    from dask.base import tokenize

    if missing is None and channel_axis is None and _is_for_bands(filter_, images):
        return _in_bands(filter_, images, of_call)
    if filter_.volume:
        whole = images.rechunk(dict.fromkeys(filter_.volume.places(images), -1))
    else:
        check_image(tuple(n or 1 for n in images.shape), images.dtype, channel_axis)  # a stack may be empty
        is_one = channel_axis is not None or filter_.transfer.has_fixed_pattern
        whole = images.rechunk(-1 if is_one else {-1: -1, -2: -1})
    each = None
    if np.ndim(missing) == images.ndim or (missing is not None and channel_axis is None):
        each, missing = asarray(missing), None
        if each.shape != images.shape[-each.ndim :]:
            raise ParameterError(f"missing is an array of shape {each.shape}: give one of shape {images.shape}")
        each = each.rechunk(whole.chunks[-each.ndim :])
    # Without an array to go by, Dask would call the filter to see what it gives.
    empty = np.empty((0,) * images.ndim, filter_.type_of_result(images.dtype, of_call.get("dtype")))
    key = tokenize(type(filter_), filter_.transfer, filter_.options)
    of_call |= {"channel_axis": channel_axis, "missing": None if missing is None else as_numpy(missing)}
    return map_blocks(_filter_block, whole, each, filter_, key, of_call, dtype=empty.dtype, meta=empty)


def _is_for_bands(filter_: Filter, image: Any) -> bool:
    """Whether an image is split among chunks, larger than one of Dask's, and filtered without a look at the whole."""
    from dask import config
    from dask.utils import parse_bytes

    is_large = image.nbytes > parse_bytes(config.get("array.chunk-size"))
    if not (is_large and image.ndim == 2 and max(image.numblocks) > 1 and image.dtype == pixel_type(image.dtype)):
        return False
    described, (transfer, options) = filter_.description, (filter_.transfer, filter_.options)
    whole = (*RegionOptions.__annotations__, "axes", "auto", "channels", "ignore", "ratio")
    takes_whole = transfer.is_fitted or transfer.is_by_channel or not transfer.is_even or any(map(options.get, whole))
    has_range = How(described.output, described.scale, gray_of({}, image.dtype)).own_range
    return not (filter_.fixed or takes_whole or has_range) and name_of(options) in (FUSED, NUMPY)


def _in_bands(filter_: Filter, image: Any, of_call: dict[str, Any]) -> Any:
    """Return an image filtered in bands of its rows and of the columns of its spectrum, in double precision."""
    from dask import config
    from dask.array import map_blocks
    from dask.utils import parse_bytes

    described, shape = filter_.description, (1, *image.shape)
    grid = grid_with(described.edges, described.on_grid, *image.shape)
    plan = planned(shape, image.dtype.itemsize, grid, precision="double", units=(1, 1), room=MOST)
    how = How(described.output, described.scale, gray_of(of_call, image.dtype), "double")
    zeros = partial(np.zeros, (1, 1, shape[2]))
    large = LargePicture(lambda *_: zeros(), plan, how, "", submit=None, advance=None)
    large.measure()
    size = parse_bytes(config.get("array.chunk-size")) // (16 // image.dtype.itemsize)
    rows = image.rechunk({0: "auto", 1: -1}, block_size_limit=size)
    chunks = rows.chunks[0], (len(plan.blocks) * plan.columns,)
    kept = rows.map_blocks(_spectrum, large, dtype=large.number, chunks=chunks, meta=np.empty((0, 0), large.number))
    kept = kept.rechunk({0: -1, 1: plan.columns}).map_blocks(_along, large, dtype=large.number, meta=kept._meta)
    kept = kept.rechunk({0: rows.chunks[0], 1: -1})
    meta = np.empty((0, 0), filter_.type_of_result(image.dtype, of_call.get("dtype")))
    return map_blocks(_pixels, kept, rows, large, meta.dtype, dtype=meta.dtype, chunks=rows.chunks, meta=meta)


def _spectrum(rows: Array, large: LargePicture) -> Array:
    if rows.dtype.kind == "f":
        check_finite(rows)
    return large.spectrum(rows, 0.0)


def _along(columns: Array, large: LargePicture, block_id: tuple[int, int]) -> Array:
    return large.along(columns.copy(), block_id[1])


def _pixels(kept: Array, rows: Array, large: LargePicture, dtype: np.dtype[Any]) -> Array:
    values = np.empty(rows.shape)
    large.back([kept], 0.0, rows, values)
    return large.pixels(values).pixels.astype(dtype, copy=False)


_one_chunk_at_a_time = threading.Lock()
_open: dict[str, Filter] = {}
"""The filter that this process used last for a chunk, by its token."""


def _filter_block(block: Array, missing: Array | None, filter_: Filter, key: str, of_call: dict[str, Any]) -> Array:
    if not block.size:
        return np.empty(block.shape, filter_.type_of_result(block.dtype, of_call.get("dtype")))
    if missing is not None:
        of_call = {**of_call, "missing": missing}
    with _one_chunk_at_a_time:
        if key not in _open:
            _open.clear()
            _open[key] = filter_
        filter_ = _open[key]
        is_one = block.ndim == 2 or of_call["channel_axis"] is not None or filter_.transfer.has_fixed_pattern
        if is_one or missing is not None or filter_.volume:
            return filter_(block, **of_call)
        at_once = max(1, _PIXELS_A_LAUNCH // block[0].size)
        parts = [filter_(block[first : first + at_once], **of_call) for first in range(0, len(block), at_once)]
    return np.asanyarray((np.ma if is_masked(block) else np).concatenate(parts))
