"""Filters as single calls: one function a pass.

Each takes an image ``(height, width)`` or a stack ``(count, height, width)``; a picture with channels, such as
``(height, width, 3)``, needs its ``channel_axis``, here -1, or it counts as a stack of images 3 pixels wide. For more
than one image of a size, a :class:`Filter` spares the preparations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from .filters import Filter
from .parameters import MASK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from .algorithms import Option
    from .parameters import Given


class Options(TypedDict, total=False):
    """What every call takes beside its cutoffs; see :class:`Filter`."""

    shape: str
    order: int | None
    engine: str | None
    engine_options: Mapping[str, Option] | None
    device: str | int | None
    precision: str
    tune: bool
    work_group_size: int | None
    transpose: str | None
    output: str


def lowpass(
    image: ArrayLike, radius: Given | None = None, *, channel_axis: int | None = None, **options: Unpack[Options]
) -> NDArray[Any]:
    """Return what is slower than the cutoff, normalized; shape and type of the image. Options as in :class:`Filter`."""
    return Filter("lowpass", radius=radius, **options)(image, channel_axis=channel_axis)


def highpass(
    image: ArrayLike, radius: Given | None = None, *, channel_axis: int | None = None, **options: Unpack[Options]
) -> NDArray[Any]:
    """Return what is faster than the cutoff, normalized; shape and type of the image. Options as in :class:`Filter`."""
    return Filter("highpass", radius=radius, **options)(image, channel_axis=channel_axis)


def bandpass(
    image: ArrayLike, inner: Given, outer: Given, *, channel_axis: int | None = None, **options: Unpack[Options]
) -> NDArray[Any]:
    """Return what lies between two cutoffs, normalized; shape and type of the image. Options as in :class:`Filter`."""
    return Filter("bandpass", inner=inner, outer=outer, **options)(image, channel_axis=channel_axis)


def bandstop(
    image: ArrayLike, inner: Given, outer: Given, *, channel_axis: int | None = None, **options: Unpack[Options]
) -> NDArray[Any]:
    """Return all but what lies between two cutoffs, normalized; shape, type and options as of the others."""
    return Filter("bandstop", inner=inner, outer=outer, **options)(image, channel_axis=channel_axis)


def apply_mask(
    image: ArrayLike, mask: ArrayLike, *, channel_axis: int | None = None, **options: Unpack[Options]
) -> NDArray[Any]:
    """Return an image times any real mask of its size in frequency, DC in the corner, normalized.

    Options as in :class:`Filter`, without ``shape`` and ``order``. Any ``numpy.fft.fftfreq`` grid makes a mask:

        fy, fx = np.fft.fftfreq(height)[:, None], np.fft.fftfreq(width)
        edges = fftfilter.apply_mask(image, np.abs(fx) + np.abs(fy) > 0.1)
    """
    return Filter(MASK, mask=mask, **options)(image, channel_axis=channel_axis)
