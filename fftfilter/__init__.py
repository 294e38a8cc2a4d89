"""Filter images in the frequency domain on any OpenCL device.

    import fftfilter
    edges = fftfilter.highpass(image, radius=64)

Images are arrays ``(height, width)``. See :class:`fftfilter.Filter` for a filter to use again, ``fftfilter.transfer``
for the transfer functions that it is made of, ``apply_mask`` for any mask of one's own, and ``fft``, ``ifft``,
``fft2``, ``ifft2``, ``rfft2`` and ``irfft2`` for the bare transforms. Every error raised on purpose is a
:class:`fftfilter.FftfilterError`.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers take it; to import it from typing takes 3 ms of every start
if TYPE_CHECKING:
    from typing import Any

    from .analysis.search import find_peaks
    from .calls import apply_mask, bandpass, bandstop, highpass, imagej, lowpass
    from .errors import FftfilterError
    from .filters import Filter
    from .transforms import fft, fft2, ifft, ifft2, irfft2, rfft2
    from .work.file import filter_stack

__version__ = "0.2.0"

__all__ = [
    "FftfilterError",
    "Filter",
    "apply_mask",
    "bandpass",
    "bandstop",
    "fft",
    "fft2",
    "filter_stack",
    "find_peaks",
    "highpass",
    "ifft",
    "ifft2",
    "imagej",
    "irfft2",
    "lowpass",
    "rfft2",
]


def __dir__() -> list[str]:
    # What is meant to be used, not what happens to be imported.
    return [*__all__, "transfer", "__version__"]


def __getattr__(name: str) -> Any:
    # Loaded on first use: `fftfilter --help` imports this package and must not wait for OpenCL.
    if name not in __all__:
        raise AttributeError(f"module 'fftfilter' has no attribute {name!r}")
    from importlib import import_module

    homes = {
        "Filter": "filters",
        "FftfilterError": "errors",
        "filter_stack": "work.file",
        "find_peaks": "analysis.search",
    }
    home = homes.get(name) or ("transforms" if "fft" in name else "calls")
    return getattr(import_module(f".{home}", __name__), name)
