"""Filters as single calls: one function a filter.

Each takes an image ``(height, width)`` or a stack ``(count, height, width)``; a picture with channels, such as
``(height, width, 3)``, needs its ``channel_axis``, here -1. An array of xarray, Dask, PyTorch or JAX becomes one of
that library. The filters of the last calls are kept, so that a further call with the same arguments costs little more
than one of a :class:`Filter`.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Literal, Unpack

from . import transfer
from .analysis.search import AutoNotches
from .descreen_filter import DescreenFilter
from .device_choice import wanted
from .errors import ParameterError
from .filters import Filter, Options, split_options
from .filters.description import spelled_out
from .imagej_filter import ImageJFilter
from .region import RegionOptions
from .transfer import Transfer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .transfer.gains import Suppress
    from .transfer.shapes import ShapeName
    from .transfer.units import RadiusLike


@spelled_out()
def lowpass(
    image: ArrayLike,
    radius: RadiusLike | None = None,
    *,
    shape: ShapeName = "ideal",
    order: int | None = None,
    width: RadiusLike | None = None,
    **options: Unpack[Options],
) -> NDArray[Any]:
    """Return what is coarser than the cutoff.

    Examples:
        >>> soft = fftfilter.lowpass(image, "8px", shape="gaussian")
        >>> soft.dtype == image.dtype
        True
        >>> smooth = fftfilter.lowpass(rgb, "8px", shape="gaussian", channel_axis=-1)

    """
    return _filtered(image, transfer.lowpass(radius, shape=shape, order=order, width=width), options)


@spelled_out()
def highpass(
    image: ArrayLike,
    radius: RadiusLike | None = None,
    *,
    shape: ShapeName = "ideal",
    order: int | None = None,
    width: RadiusLike | None = None,
    **options: Unpack[Options],
) -> NDArray[Any]:
    """Return what is finer than the cutoff, around the mean.

    Examples:
        >>> details = fftfilter.highpass(image, "20px", shape="gaussian")
        >>> edges = fftfilter.highpass(image, 64, output="magnitude", edges="wrap")  # as the command
        >>> int(edges.max())
        255

    """
    return _filtered(image, transfer.highpass(radius, shape=shape, order=order, width=width), options)


@spelled_out()
def bandpass(
    image: ArrayLike,
    inner: RadiusLike,
    outer: RadiusLike,
    *,
    shape: ShapeName = "ideal",
    order: int | None = None,
    width: RadiusLike | None = None,
    **options: Unpack[Options],
) -> NDArray[Any]:
    """Return what lies between two cutoffs, around the mean.

    Examples:
        >>> cells = fftfilter.bandpass(image, "20px", "4px", shape="gaussian")

    """
    made = transfer.bandpass(inner, outer, shape=shape, order=order, width=width)
    return _filtered(image, made, options)


@spelled_out()
def bandstop(
    image: ArrayLike,
    inner: RadiusLike,
    outer: RadiusLike,
    *,
    shape: ShapeName = "ideal",
    order: int | None = None,
    width: RadiusLike | None = None,
    **options: Unpack[Options],
) -> NDArray[Any]:
    """Return what lies outside of two cutoffs.

    Examples:
        >>> clean = fftfilter.bandstop(image, "9px", "7px", shape="gaussian")

    """
    made = transfer.bandstop(inner, outer, shape=shape, order=order, width=width)
    return _filtered(image, made, options)


@spelled_out()
def notch(
    image: ArrayLike,
    at: tuple[float, float] | None = None,
    *,
    width: RadiusLike | None = None,
    shape: ShapeName = "gaussian",
    harmonics: int = 1,
    **options: Unpack[Options],
) -> NDArray[Any]:
    """Return an image without the wave at a frequency, or without all that are found in it.

    :func:`fftfilter.find_peaks` says which waves an image has.

    Args:
        at: (fx, fy) in cycles per pixel; it may be left out with ``auto``.

    Examples:
        >>> clean = fftfilter.notch(image, (0.123, 0.047), harmonics=3)
        >>> clean = fftfilter.notch(image, auto=True)

    """
    auto = options.get("auto")
    if auto is True:
        options["auto"] = AutoNotches(shape=shape)
    if at is None and (auto is None or auto is False):
        raise ParameterError("no wave is given: give at=(fx, fy) in cycles per pixel, or auto=True to find those there")
    made = Transfer(()) if at is None else transfer.notch(at, width=width, shape=shape, harmonics=harmonics)
    return _filtered(image, made, options)


@spelled_out()
def stripes(
    image: ArrayLike,
    angle: float | Literal["auto"] | None = None,
    *,
    width: RadiusLike | None = None,
    spare: RadiusLike | None = None,
    fixed_pattern: Literal["pages"] | None = None,
    blocks: int | None = None,
    **options: Unpack[Options],
) -> NDArray[Any]:
    """Return an image without the stripes at an angle, of all periods.

    Args:
        angle: Degrees, 0 for horizontal stripes; "auto", or ``auto`` without an angle, finds the stripes.
        fixed_pattern: "pages" takes the lines that all images of a stack have.
        blocks: How many equal parts of the lines' length have lines of their own.

    Examples:
        >>> even = fftfilter.stripes(image, 12)
        >>> even = fftfilter.stripes(image, auto=True)

    """
    if angle is None and options.pop("auto", None) is not True:
        raise ParameterError("no stripes are given: give an angle in degrees, or auto=True to find those there")
    degrees: float | Literal["auto"] = "auto" if angle is None else angle
    made = transfer.stripes(degrees, width=width, spare=spare, fixed_pattern=fixed_pattern, blocks=blocks)
    return _filtered(image, made, options)


@spelled_out("output", "scale", "edges", "channels", "auto", "missing")
def imagej(
    image: ArrayLike,
    large: RadiusLike = 40,
    small: RadiusLike = 3,
    *,
    suppress: Suppress = "none",
    tolerance: float = 5,
    autoscale: bool = True,
    saturate: bool = True,
    **options: Unpack[Options],
) -> NDArray[Any]:
    """Return what ImageJ's "FFT Bandpass Filter" makes of an image, with its defaults.

    The mean stays; padded, mirrored, cropped, rounded and clipped as there. Colors are filtered by their brightness.

    Args:
        autoscale: Whether gray pictures of uint8 and uint16 are stretched to their whole range.
        saturate: Whether 1 percent of the pixels is stretched beyond it.

    Examples:
        >>> flat = fftfilter.imagej(image, 40, 3)

    """
    made = transfer.imagej(large, small, suppress=suppress, tolerance=tolerance)
    return _filtered(image, made, options, ImageJFilter, autoscale=autoscale, saturate=saturate)


@spelled_out()
def wiener(image: ArrayLike, noise: float | str = "auto", **options: Unpack[Options]) -> NDArray[Any]:
    """Return an image with less noise, as far as its own spectrum is noise.

    Examples:
        >>> clean = fftfilter.wiener(image)

    """
    return _filtered(image, transfer.wiener(noise), options)


@spelled_out("output", "scale", "edges", "channels", "auto", "missing")
def descreen(
    image: ArrayLike,
    *,
    strength: float | None = None,
    keep_detail: float = 0.0,
    **options: Unpack[Options],
) -> NDArray[Any]:
    """Return a scanned print without its printer's screens; an image without a screen comes back as it is.

    Examples:
        >>> clean = fftfilter.descreen(rgb, channel_axis=-1)

    """
    return _filtered(image, transfer.descreen(strength, keep_detail), options, DescreenFilter)


@spelled_out(edges="wrap")
def apply_mask(
    image: ArrayLike,
    mask: ArrayLike,
    *,
    any_size: bool = False,
    **options: Unpack[Options],
) -> NDArray[Any]:
    """Return an image times any real mask in frequency.

    Args:
        mask: A gain for each frequency of ``numpy.fft.fftfreq``, DC in the corner: real numbers of the image's size.
        any_size: Whether the mask may have another size, as for ``transfer.mask``.

    Examples:
        >>> fy, fx = np.fft.fftfreq(image.shape[0])[:, None], np.fft.fftfreq(image.shape[1])
        >>> edges = fftfilter.apply_mask(image, abs(fx) + abs(fy) > 0.1)

    """
    made = transfer.mask(mask, any_size=any_size)
    return _filtered(image, made, {"edges": "wrap", **options})


# The filters of the last calls, by their arguments, while no call uses them; and the bytes of each on its device
_kept: OrderedDict[tuple[Any, ...], tuple[Filter, int]] = OrderedDict()
_keeping = threading.Lock()
MOST_KEPT, MOST_BYTES = 32, 256 << 20


def _filtered(
    image: ArrayLike,
    made: Transfer,
    options: Options,
    kind: type[Filter] = Filter,
    **own: bool,
) -> NDArray[Any]:
    of_filter, of_call = split_options(options)
    given: dict[str, Any] = {**of_filter, **own}
    key = (kind, made, wanted(given), *((name, type(value), value) for name, value in given.items()))
    is_kept, kept = not given.keys() & RegionOptions.__annotations__.keys(), None  # a mask's file may change
    try:
        with _keeping:
            kept = _kept.pop(key, None) if is_kept else None
    except TypeError:  # a list, for example
        is_kept = False
    filter_ = kept[0] if kept else kind.unopened(made, given)
    result: NDArray[Any] = filter_(image, **of_call)
    if is_kept and (size := filter_.bytes) <= MOST_BYTES:
        with _keeping:
            _kept[key] = filter_, size
            while len(_kept) > 1 and (len(_kept) > MOST_KEPT or sum(each for _, each in _kept.values()) > MOST_BYTES):
                _kept.popitem(last=False)
    return result


def _forget() -> None:
    """Start anew in a process that was forked: devices do not work there, and are not released."""
    global _kept, _keeping
    _of_parent.append(_kept)
    _kept, _keeping = OrderedDict(), threading.Lock()


_of_parent: list[object] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
atexit.register(lambda: _kept.clear())  # noqa: PLW0108  that of the process at its end
