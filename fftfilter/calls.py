"""Filters as single calls: one function a filter.

Each takes an image ``(height, width)`` or a stack ``(count, height, width)``; a picture with channels, such as
``(height, width, 3)``, needs its ``channel_axis``, here -1. An array of xarray, Dask, PyTorch or JAX becomes one of
that library. For more than one image of a size, a :class:`Filter` saves the preparations.

Radii, shapes and orders are those of the functions of the same names in ``fftfilter.transfer``; further options are
those of :class:`Filter` and of its calls, as :class:`fftfilter.filters.Options` lists them. Errors are those of both,
too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Unpack

from . import transfer
from .analysis.search import AutoNotches
from .descreen_filter import DescreenFilter
from .errors import ParameterError
from .filters import Filter, Options, split_options
from .imagej_filter import ImageJFilter
from .transfer import Transfer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .transfer.imagej_band import Suppress
    from .transfer.shapes import ShapeName
    from .transfer.units import RadiusLike


def lowpass(
    image: ArrayLike,
    radius: RadiusLike | None = None,
    *,
    shape: ShapeName = "ideal",
    order: int | None = None,
    width: RadiusLike | None = None,
    channel_axis: int | None = None,
    **options: Unpack[Options],
) -> NDArray[Any]:
    """Return what is coarser than the cutoff, normalized; shape and type of the image.

    ``radius`` is in cycles across the shorter side, by default an eighth of its pixels, or has a unit: "8px" (a
    period), "0.125cyc" (cycles per pixel), "25%" (of 0.5 cycles per pixel), or a length such as
    "2.6um" with ``pixel_size``. ``shape`` is "ideal", "gaussian", "butterworth" with an ``order``, "cosine" or "fermi"
    with a ``width``, which is also a radius. ``options`` are those of :class:`fftfilter.filters.Options`.

    Raises ParameterError for invalid values, DeviceError without a usable device, TooLargeError for an image that the
    device cannot hold.

        smooth = fftfilter.lowpass(image, "8px", shape="gaussian", output="keep")
    """
    return _filtered(image, transfer.lowpass(radius, shape=shape, order=order, width=width), channel_axis, options)


def highpass(
    image: ArrayLike,
    radius: RadiusLike | None = None,
    *,
    shape: ShapeName = "ideal",
    order: int | None = None,
    width: RadiusLike | None = None,
    channel_axis: int | None = None,
    **options: Unpack[Options],
) -> NDArray[Any]:
    """Return what is finer than the cutoff; arguments and errors are those of :func:`lowpass`."""
    return _filtered(image, transfer.highpass(radius, shape=shape, order=order, width=width), channel_axis, options)


def bandpass(
    image: ArrayLike,
    inner: RadiusLike,
    outer: RadiusLike,
    *,
    shape: ShapeName = "ideal",
    order: int | None = None,
    width: RadiusLike | None = None,
    channel_axis: int | None = None,
    **options: Unpack[Options],
) -> NDArray[Any]:
    """Return what lies between two cutoffs; arguments and errors are those of :func:`lowpass`."""
    made = transfer.bandpass(inner, outer, shape=shape, order=order, width=width)
    return _filtered(image, made, channel_axis, options)


def bandstop(
    image: ArrayLike,
    inner: RadiusLike,
    outer: RadiusLike,
    *,
    shape: ShapeName = "ideal",
    order: int | None = None,
    width: RadiusLike | None = None,
    channel_axis: int | None = None,
    **options: Unpack[Options],
) -> NDArray[Any]:
    """Return what lies outside of two cutoffs; arguments and errors are those of :func:`lowpass`."""
    made = transfer.bandstop(inner, outer, shape=shape, order=order, width=width)
    return _filtered(image, made, channel_axis, options)


def notch(
    image: ArrayLike,
    at: tuple[float, float] | None = None,
    *,
    width: RadiusLike | None = None,
    shape: ShapeName = "gaussian",
    harmonics: int = 1,
    channel_axis: int | None = None,
    **options: Unpack[Options],
) -> NDArray[Any]:
    """Return an image without the wave at ``(fx, fy)`` cycles per pixel, or without all that are found in it.

    ``at`` to ``harmonics`` are those of :func:`fftfilter.transfer.notch`; with ``auto`` waves are found. As for the
    command, the default of ``output`` is "keep". :func:`fftfilter.find_peaks` says which waves an image has.

        clean = fftfilter.notch(image, (0.123, 0.047), harmonics=3)
        clean = fftfilter.notch(scan, auto=True)
    """
    auto = options.get("auto")
    if auto is True:
        options["auto"] = AutoNotches(shape=shape)
    if at is None and (auto is None or auto is False):
        raise ParameterError("no wave is given: give at=(fx, fy) in cycles per pixel, or auto=True to find those there")
    made = Transfer(()) if at is None else transfer.notch(at, width=width, shape=shape, harmonics=harmonics)
    return _filtered(image, made, channel_axis, {"output": "keep", **options})


def stripes(
    image: ArrayLike,
    angle: float | Literal["auto"] | None = None,
    *,
    width: RadiusLike | None = None,
    spare: RadiusLike | None = None,
    channel_axis: int | None = None,
    **options: Unpack[Options],
) -> NDArray[Any]:
    """Return an image without the stripes at an angle, of all periods; shape and type of the image.

    ``angle``, in degrees, ``width`` and ``spare`` are those of :func:`fftfilter.transfer.stripes`; "auto", or ``auto``
    without an angle, finds the stripes. As for the command, the default of ``output`` is "keep".

        even = fftfilter.stripes(scan, 12, edges="mirror")
    """
    if angle is None and options.pop("auto", None) is not True:
        raise ParameterError("no stripes are given: give an angle in degrees, or auto=True to find those there")
    made = transfer.stripes("auto" if angle is None else angle, width=width, spare=spare)
    return _filtered(image, made, channel_axis, {"output": "keep", **options})


def imagej(
    image: ArrayLike,
    large: RadiusLike = 40,
    small: RadiusLike = 3,
    *,
    suppress: Suppress = "none",
    tolerance: float = 5,
    autoscale: bool = True,
    saturate: bool = True,
    channel_axis: int | None = None,
    **options: Unpack[Options],
) -> NDArray[Any]:
    """Return what ImageJ's "FFT Bandpass Filter" makes of an image, with its defaults; shape and type of the image.

    Structures from ``small`` to ``large`` stay, and the mean: padded, mirrored, cropped, rounded and clipped as there.
    ``autoscale`` stretches gray pictures of uint8 and uint16 to their whole range, ``saturate`` 1 percent of the pixels
    beyond it. Colors are filtered by their brightness. ``options`` are those of :class:`fftfilter.filters.Options`
    except ``output``, ``scale``, ``edges`` and ``channels``.
    """
    made = transfer.imagej(large, small, suppress=suppress, tolerance=tolerance)
    return _filtered(image, made, channel_axis, options, ImageJFilter, autoscale=autoscale, saturate=saturate)


def wiener(
    image: ArrayLike, noise: float | str = "auto", *, channel_axis: int | None = None, **options: Unpack[Options]
) -> NDArray[Any]:
    """Return an image with less noise, as far as its own spectrum is noise; shape and type of the image.

    ``noise`` is that of :func:`fftfilter.transfer.wiener`. As for the command, the default of ``output`` is "keep", and
    that of ``edges`` "mirror".

        clean = fftfilter.wiener(photo, channel_axis=-1)
    """
    return _filtered(image, transfer.wiener(noise), channel_axis, {"output": "keep", "edges": "mirror", **options})


def descreen(
    image: ArrayLike,
    *,
    strength: float | None = None,
    keep_detail: float = 0.0,
    channel_axis: int | None = None,
    **options: Unpack[Options],
) -> NDArray[Any]:
    """Return a scanned print without its printer's screens; shape and type of the image, its gray levels and mean.

    ``strength`` is how far a screen's waves have to stand out in the spectrum, in dB, by default 18; ``keep_detail`` is
    the part in percent of what is smoothed behind them that stays. An image without a screen comes back as it is.
    ``options`` are those of :class:`fftfilter.filters.Options` except ``output``, ``scale`` and ``edges``.

        clean = fftfilter.descreen(scan, channel_axis=-1)
    """
    return _filtered(image, transfer.descreen(strength, keep_detail), channel_axis, options, DescreenFilter)


def apply_mask(
    image: ArrayLike,
    mask: ArrayLike,
    *,
    any_size: bool = False,
    channel_axis: int | None = None,
    **options: Unpack[Options],
) -> NDArray[Any]:
    """Return an image times any real mask of its size in frequency, DC in the corner, normalized.

    Any ``numpy.fft.fftfreq`` grid makes a mask:

        fy, fx = np.fft.fftfreq(height)[:, None], np.fft.fftfreq(width)
        edges = fftfilter.apply_mask(image, np.abs(fx) + np.abs(fy) > 0.1)

    With ``any_size`` the mask may have another size, as for ``transfer.mask``. ``options`` are those of
    :class:`fftfilter.filters.Options`.
    """
    return _filtered(image, transfer.mask(mask, any_size=any_size), channel_axis, options)


def _filtered(
    image: ArrayLike,
    made: Transfer,
    channel_axis: int | None,
    options: Options,
    kind: type[Filter] = Filter,
    **own: bool,
) -> NDArray[Any]:
    of_filter, of_pixels = split_options(options)
    return kind.unopened(made, {**of_filter, **own})(image, channel_axis=channel_axis, **of_pixels)
