"""What a filter does to each frequency: transfer functions H, which multiply.

    from fftfilter import transfer as H
    H.lowpass("8px", shape="gaussian") * H.notch((0.123, 0.047)) * H.stripes(0)

    units.py       a radius as it is given, "8px", and on an image's grid
    shapes.py      how a low-pass falls off: ideal, gaussian, butterworth, cosine, fermi
    part.py        what every kind of filter has
    radial.py      low-pass, high-pass, band-pass, band-stop: functions of the distance from DC
    peaks.py       notches: a peak and its conjugate
    ridges.py      stripes: a line through DC
    imagej_band.py the band of ImageJ's dialog
    gains.py       any gain for each frequency, for images of one size
    product.py     Transfer, a product of these, which is what filters take
    edges.py       what lies beyond the borders, wrap or mirror, and the grid of frequencies by that
    grid.py        cutoffs on the grid of an image's frequencies
    reference.py   the whole filter in float64, which every engine is measured against

Nothing here knows OpenCL. The command line checks a filter before NumPy is loaded: all but masks are made without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .imagej_band import ImageJBand
from .peaks import Notch
from .product import Transfer
from .radial import Radial
from .ridges import Stripes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from .imagej_band import Suppress
    from .shapes import ShapeName
    from .units import RadiusLike

__all__ = ["Transfer", "bandpass", "bandstop", "highpass", "imagej", "lowpass", "mask", "notch", "stripes"]


def lowpass(
    radius: RadiusLike | None = None,
    *,
    shape: ShapeName = "ideal",
    order: int | None = None,
    width: RadiusLike | None = None,
) -> Transfer:
    """Return a transfer function that passes what is nearer to DC than a cutoff.

    ``radius`` is a number of cycles across the image's shorter side n, by default n/8, or a text with a unit: ``"8px"``
    (period), ``"0.125cyc"`` (cycles per pixel), ``"25%"`` (of the Nyquist frequency). Physical units need the size of a
    pixel (``pixel_size`` of :class:`fftfilter.Filter`): ``"2.6um"`` (period; also nm, mm, cm, m, in), ``"150lpi"``
    (lines per inch), ``"12lp/mm"`` (line pairs per mm).

    ``shape`` is ideal, gaussian, butterworth, cosine or fermi. ``order`` is the steepness of butterworth, 1 to 100, by
    default 2; ``width``, a radius in any unit, is that of the edge of cosine (by default r/2, at most 2 r) or fermi
    (r/10, at most r). Raises ParameterError.

        H.lowpass(40)
        H.lowpass("8px", shape="butterworth", order=4)
    """
    return Transfer((Radial.of("lowpass", radius=radius, shape=shape, order=order, width=width),))


def highpass(
    radius: RadiusLike | None = None,
    *,
    shape: ShapeName = "ideal",
    order: int | None = None,
    width: RadiusLike | None = None,
) -> Transfer:
    """Return 1 - :func:`lowpass`: it passes what is farther from DC than a cutoff."""
    return Transfer((Radial.of("highpass", radius=radius, shape=shape, order=order, width=width),))


def bandpass(
    inner: RadiusLike,
    outer: RadiusLike,
    *,
    shape: ShapeName = "ideal",
    order: int | None = None,
    width: RadiusLike | None = None,
) -> Transfer:
    """Return :func:`lowpass` of ``outer`` times :func:`highpass` of ``inner``: it passes what lies between.

    The two may change places: the inner one is what is nearer to DC, of periods the longer one. Raises ParameterError.

        H.bandpass("20px", "4px")
    """
    return Transfer((Radial.of("bandpass", inner=inner, outer=outer, shape=shape, order=order, width=width),))


def bandstop(
    inner: RadiusLike,
    outer: RadiusLike,
    *,
    shape: ShapeName = "ideal",
    order: int | None = None,
    width: RadiusLike | None = None,
) -> Transfer:
    """Return 1 - :func:`bandpass`: it removes what lies between two cutoffs."""
    return Transfer((Radial.of("bandstop", inner=inner, outer=outer, shape=shape, order=order, width=width),))


def notch(
    at: tuple[float, float],
    *,
    width: RadiusLike | None = None,
    shape: ShapeName = "gaussian",
    harmonics: int = 1,
    channels: Iterable[int] | None = None,
) -> Transfer:
    """Return a transfer function that takes out the peak of a wave at ``(fx, fy)`` and its conjugate.

    ``at`` is in cycles per pixel, x to the right and y downward; gain 1/2 lies at the distance ``width`` from the peak,
    a radius in any unit, by default ``"0.006cyc"``. With ``harmonics``, the multiples 1 to that number go, too, up to
    the highest frequency. With ``channels``, counted from 0, a picture with several (``channel_axis`` of a
    :class:`fftfilter.Filter`) is filtered in these only. Raises ParameterError.

        H.notch((0.123, 0.047), width="0.01cyc", harmonics=3)
        H.notch((0.123, 0.047), channels=(0,)) * H.notch((0.2, -0.1), channels=(1, 2))
    """
    return Transfer((Notch.of(at, width=width, shape=shape, harmonics=harmonics, channels=channels),))


def stripes(angle: float, *, width: RadiusLike | None = None, spare: RadiusLike | None = None) -> Transfer:
    """Return a transfer function that takes out stripes which run along an angle, of all periods.

    ``angle`` is in degrees, counterclockwise as one sees the picture; 0 are horizontal stripes. ``width`` is where the
    gain is 1/2 beside the ridge that they leave in the spectrum, by default ``"0.003cyc"``; frequencies below ``spare``
    stay, by default ``"40px"``. Both are radii in any unit. Raises ParameterError.

        H.stripes(33, spare="20px")
    """
    return Transfer((Stripes.of(angle, width=width, spare=spare),))


def imagej(
    large: RadiusLike = 40, small: RadiusLike = 3, *, suppress: Suppress = "none", tolerance: float = 5
) -> Transfer:
    """Return the band of ImageJ's "FFT Bandpass Filter": structures from ``small`` to ``large`` stay, and the mean.

    Both are periods, bare numbers in pixels, or radii in any unit; a ``small`` of 0 keeps the finest. ``suppress``
    takes out stripes, "horizontal" or "vertical", within a ``tolerance`` of their direction in percent. The gains are
    meant for ImageJ's padded square, on which :func:`fftfilter.imagej` filters. Raises ParameterError.

        H.imagej(40, 3, suppress="horizontal")
    """
    return Transfer((ImageJBand.of(large, small, suppress=suppress, tolerance=tolerance),))


def mask(gains: ArrayLike, *, any_size: bool = False) -> Transfer:
    """Return any real, finite gains ``(height, width)`` for images of that size, DC in the corner as numpy.fft has it.

    With ``any_size`` they serve images of other sizes, too: as a function of frequency, linear between the gains.
    Raises ParameterError.

        fy, fx = np.fft.fftfreq(height)[:, None], np.fft.fftfreq(width)
        H.mask(np.abs(fx) + np.abs(fy) > 0.1)
    """
    from .gains import Mask

    return Transfer((Mask.of(gains, any_size=any_size),))
