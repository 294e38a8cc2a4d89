"""What a filter does to each frequency: transfer functions H, which multiply.

    from fftfilter import transfer as H
    H.lowpass("8px", shape="gaussian") * H.notch((0.123, 0.047)) * H.stripes(0)

    units.py       a radius as it is given, "8px", and on an image's grid
    shapes.py      how a low-pass falls off: ideal, gaussian, butterworth, cosine, fermi
    part.py        what every kind of filter has
    radial.py      low-pass, high-pass, band-pass, band-stop: functions of the distance from DC
    peaks.py       notches: a peak and its conjugate
    ridges.py      stripes: a line through DC
    fitted.py      Wiener's filter and descreen, whose gains are found in each picture
    gains.py       any gain for each frequency: of an array, or of a file; ImageJ's band
    product.py     Transfer, a product of these, which is what filters take; what lies beyond the borders, wrap or
                   mirror, and the grid of frequencies by that
    grid.py        cutoffs on the grid of an image's frequencies
    reference.py   the whole filter in float64, which every engine is measured against

Nothing here knows OpenCL. The command line checks radial filters before NumPy is loaded.
"""

from __future__ import annotations

from .. import imported_on_first_use

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .fitted import descreen as descreen
    from .fitted import wiener as wiener
    from .gains import function as function
    from .gains import imagej as imagej
    from .gains import mask as mask
    from .gains import mask_file as mask_file
    from .peaks import notch as notch
    from .peaks import peaks_only as peaks_only
    from .product import Transfer as Transfer
    from .radial import bandpass as bandpass
    from .radial import bandstop as bandstop
    from .radial import highpass as highpass
    from .radial import lowpass as lowpass
    from .ridges import stripes as stripes
else:
    __getattr__ = imported_on_first_use(
        __name__,
        {
            ".fitted": "descreen wiener",
            ".gains": "function imagej mask mask_file",
            ".peaks": "notch peaks_only",
            ".product": "Transfer",
            ".radial": "bandpass bandstop highpass lowpass",
            ".ridges": "stripes",
        },
    )

    def __dir__() -> list[str]:
        return __getattr__("__all__")
