"""Filters as single calls: one function a filter.

Each takes an image ``(height, width)`` or a stack ``(count, height, width)``; a picture with channels, such as
``(height, width, 3)``, needs its ``channel_axis``, here -1, or it counts as a stack of images 3 pixels wide. For more
than one image of a size, a :class:`Filter` saves the preparations.

Radii, shapes and orders are those of the functions of the same names in ``fftfilter.transfer``; further options are
those of :class:`Filter`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from . import transfer
from .filters import Filter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from .staged.algorithms import Option
    from .transfer.units import Given


class Options(TypedDict, total=False):
    """What every call takes beside the filter; see :class:`Filter`."""

    engine: str | None
    engine_options: Mapping[str, Option] | None
    device: str | int | None
    precision: str
    work_group_size: int | None
    transpose: str | None
    output: str


def lowpass(
    image: ArrayLike,
    radius: Given | None = None,
    *,
    shape: str = "ideal",
    order: int | None = None,
    channel_axis: int | None = None,
    **options: Unpack[Options],
) -> NDArray[Any]:
    """Return what is coarser than the cutoff, normalized; shape and type of the image."""
    made = transfer.lowpass(radius, shape=shape, order=order)
    return Filter(made, **options)(image, channel_axis=channel_axis)


def highpass(
    image: ArrayLike,
    radius: Given | None = None,
    *,
    shape: str = "ideal",
    order: int | None = None,
    channel_axis: int | None = None,
    **options: Unpack[Options],
) -> NDArray[Any]:
    """Return what is finer than the cutoff, normalized; shape and type of the image."""
    made = transfer.highpass(radius, shape=shape, order=order)
    return Filter(made, **options)(image, channel_axis=channel_axis)


def bandpass(
    image: ArrayLike,
    inner: Given,
    outer: Given,
    *,
    shape: str = "ideal",
    order: int | None = None,
    channel_axis: int | None = None,
    **options: Unpack[Options],
) -> NDArray[Any]:
    """Return what lies between two cutoffs, normalized; shape and type of the image."""
    made = transfer.bandpass(inner, outer, shape=shape, order=order)
    return Filter(made, **options)(image, channel_axis=channel_axis)


def bandstop(
    image: ArrayLike,
    inner: Given,
    outer: Given,
    *,
    shape: str = "ideal",
    order: int | None = None,
    channel_axis: int | None = None,
    **options: Unpack[Options],
) -> NDArray[Any]:
    """Return all but what lies between two cutoffs, normalized; shape and type of the image."""
    made = transfer.bandstop(inner, outer, shape=shape, order=order)
    return Filter(made, **options)(image, channel_axis=channel_axis)


def apply_mask(
    image: ArrayLike, mask: ArrayLike, *, channel_axis: int | None = None, **options: Unpack[Options]
) -> NDArray[Any]:
    """Return an image times any real mask of its size in frequency, DC in the corner, normalized.

    Any ``numpy.fft.fftfreq`` grid makes a mask:

        fy, fx = np.fft.fftfreq(height)[:, None], np.fft.fftfreq(width)
        edges = fftfilter.apply_mask(image, np.abs(fx) + np.abs(fy) > 0.1)
    """
    return Filter(transfer.mask(mask), **options)(image, channel_axis=channel_axis)
