"""A call of a filter along axes of an array of any dimensions: volume by volume, or picture by picture."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import as_numpy, check_image
from ..errors import MissingError, ParameterError, TooLargeError, is_masked
from ..missing import filled
from .call import Found, call

if TYPE_CHECKING:
    from ..arrays import Array
    from .description import PixelOptions
    from .filter import Filter
    from .pipelines import Prepared
    from .volumes import Volume


def filtered(prepared: Prepared, image: Array, missing: Any, of_pixels: PixelOptions) -> tuple[Array, Found]:
    """Filter an array along the axes of a description, volume by volume, as a filter's call does.

    Missing samples are filled plane by plane. Along one axis all of an array is one volume. Raises ParameterError.
    """
    volume = prepared.description.volume
    assert volume is not None  # noqa: S101  the filter has asked
    places, count = volume.places(image), volume.number
    if not image.size:
        check_image(image.shape, image.dtype, None)  # raises
    last = (0,) if count == 1 else tuple(range(-count, 0))

    def volumes(array: Array) -> Array:
        """Return ``(volumes, depth, height, width)``."""
        moved = np.moveaxis(array, places, last)
        if count == 1:
            return moved.reshape(1, len(moved), -1, moved.shape[-1] if moved.ndim > 1 else 1)
        return moved.reshape(-1, *(1,) * (3 - count), *moved.shape[-count:])

    stack, holes, masked = volumes(np.asarray(image)), None, is_masked(image)
    if masked or missing is not None:
        holes = np.ma.getmaskarray(image)
        holes = volumes(holes if missing is None else holes | as_numpy(missing))
    each = [_volume(prepared, one, None if holes is None else holes[i], of_pixels) for i, one in enumerate(stack)]
    made = each[0][0] if len(each) == 1 else np.stack([result for result, _ in each])
    moved = np.moveaxis(image, places, last).shape
    result = np.moveaxis(made.reshape(moved), last, places)
    return np.ma.MaskedArray(result, np.ma.getmaskarray(image)) if masked else result, Found.of_all(
        [f for _, f in each]
    )


def _volume(prepared: Prepared, planes: Array, holes: Array | None, of_pixels: PixelOptions) -> tuple[Array, Found]:
    """Filter a volume ``(depth, height, width)``; what is weak or undecided once more in double precision."""
    if holes is None or not holes.any():
        with suppress(MissingError):
            made, found = call(prepared, planes, 0, of_pixels)
            if getattr(prepared.pipeline, "is_weak", False) and prepared.launcher.real == np.float32:
                with suppress(TooLargeError):
                    again, found = call(prepared.in_double(), planes, 0, of_pixels)
                    return again.astype(made.dtype, copy=False), found._replace(weak=1)
            return made, found
    own = prepared.description
    if not (own.mode.keeps_levels or own.mode.is_values):
        raise ParameterError(
            f"output {own.output} of a volume takes no missing samples: take keep or real, or fill them"
        )
    holes = np.logical_or(np.isnan(planes), False if holes is None else holes)
    if holes.all():
        return planes.copy(), Found(np.zeros((1, 2)), [0.0])
    made, found = _volume(prepared, filled(planes, holes, prepared.description.options.get("device")), None, of_pixels)
    return np.where(holes, planes.astype(made.dtype), made), found


def by_pictures(filter_: Filter, volume: Volume, image: Array, missing: Any, of_pixels: PixelOptions) -> Array:
    """Filter all pictures of an array along two axes, by a filter of pictures."""
    places = volume.places(image)
    moved = np.moveaxis(image, places, (-2, -1))
    if missing is not None:
        missing = np.moveaxis(np.broadcast_to(as_numpy(missing), image.shape), places, (-2, -1))
        missing = missing.reshape(-1, *moved.shape[-2:])
    made = filter_(moved.reshape(-1, *moved.shape[-2:]), **{**of_pixels, "missing": missing})
    return np.moveaxis(made.reshape(moved.shape), (-2, -1), places)
