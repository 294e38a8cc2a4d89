"""What a filter does to each frequency: transfer functions H, which multiply.

    from fftfilter import transfer as H
    H.lowpass("8px", shape="gaussian") * H.notch((0.123, 0.047)) * H.stripes(0)

    units.py       a radius as it is given, "8px", and on an image's grid
    shapes.py      how a low-pass falls off: ideal, gaussian, butterworth, cosine, fermi
    part.py        what every kind of filter has
    radial.py      low-pass, high-pass, band-pass, band-stop: functions of the distance from DC
    peaks.py       notches: a peak and its conjugate
    ridges.py      stripes: a line through DC
    screens.py     a printer's screens, which are found in each picture
    wiener.py      Wiener's filter, whose gains follow from the picture
    imagej_band.py the band of ImageJ's dialog
    gains.py       any gain for each frequency: of an array, or of a file
    product.py     Transfer, a product of these, which is what filters take
    saved.py       transfer functions in the file of a recipe
    edges.py       what lies beyond the borders, wrap or mirror, and the grid of frequencies by that
    grid.py        cutoffs on the grid of an image's frequencies
    reference.py   the whole filter in float64, which every engine is measured against

Nothing here knows OpenCL. The command line checks a filter before NumPy is loaded: all but masks are made without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .imagej_band import imagej
from .peaks import notch
from .product import Transfer
from .radial import bandpass, bandstop, highpass, lowpass
from .ridges import stripes
from .wiener import wiener

if TYPE_CHECKING:
    from .gains import mask, mask_file
    from .saved import load, save
    from .screens import descreen

__all__ = [
    "Transfer",
    "bandpass",
    "bandstop",
    "descreen",
    "highpass",
    "imagej",
    "load",
    "lowpass",
    "mask",
    "mask_file",
    "notch",
    "save",
    "stripes",
    "wiener",
]


def __getattr__(name: str) -> Any:
    """Import what few commands need on first use."""
    if name in ("mask", "mask_file"):
        from . import gains as home
    elif name in ("load", "save"):
        from . import saved as home  # type: ignore[no-redef]
    elif name == "descreen":
        from . import screens as home  # type: ignore[no-redef]
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(home, name)
