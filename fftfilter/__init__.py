"""Filter images in the frequency domain on any OpenCL device.

    import fftfilter
    soft = fftfilter.lowpass(image, "8px", shape="gaussian")

Images are arrays ``(height, width)``, and results have their type and their values. See :class:`fftfilter.Filter` for a
filter to use again, ``fftfilter.transfer`` for the transfer functions that it is made of, ``apply_mask`` for any mask
of one's own, and ``fft``, ``fft2``, ``fftn`` and the others of their names in ``numpy.fft`` for the plain FFTs. Every
error raised on purpose is a :class:`fftfilter.FftfilterError`, such as :class:`fftfilter.ParameterError`.
"""

from __future__ import annotations

from collections.abc import Callable

TYPE_CHECKING = False  # as type checkers take it; to import it from typing takes 3 ms of every start
if TYPE_CHECKING:
    from typing import Any

    from .analysis.power import power_spectrum as power_spectrum
    from .analysis.search import AutoNotches as AutoNotches
    from .analysis.search import find_peaks as find_peaks
    from .calls import apply_mask as apply_mask
    from .calls import bandpass as bandpass
    from .calls import bandstop as bandstop
    from .calls import descreen as descreen
    from .calls import highpass as highpass
    from .calls import imagej as imagej
    from .calls import lowpass as lowpass
    from .calls import notch as notch
    from .calls import stripes as stripes
    from .calls import wiener as wiener
    from .commands.apply import load_filter as load_filter
    from .errors import BuildError as BuildError
    from .errors import DeviceError as DeviceError
    from .errors import FftfilterError as FftfilterError
    from .errors import ImageError as ImageError
    from .errors import MissingError as MissingError
    from .errors import ParameterError as ParameterError
    from .errors import ProcessError as ProcessError
    from .errors import ReadError as ReadError
    from .errors import RefusedError as RefusedError
    from .errors import SeveralPagesError as SeveralPagesError
    from .errors import TooLargeError as TooLargeError
    from .errors import VerifyError as VerifyError
    from .errors import WriteError as WriteError
    from .filters import Filter as Filter
    from .preview.page import show as show
    from .transforms import fft as fft
    from .transforms import fft2 as fft2
    from .transforms import fftn as fftn
    from .transforms import ifft as ifft
    from .transforms import ifft2 as ifft2
    from .transforms import ifftn as ifftn
    from .transforms import irfft2 as irfft2
    from .transforms import irfftn as irfftn
    from .transforms import rfft2 as rfft2
    from .transforms import rfftn as rfftn
    from .work.large import filter_large as filter_large
    from .work.output_file import filter_stack as filter_stack
    from .work.saved import save_filter as save_filter

__version__ = "0.2.0"
# The name of the distribution: PyPI has another project called fftfilter.
__distribution__ = "fftfilter-opencl"

# The module of each name above, imported on its first use, as they load OpenCL or NumPy; a test compares the two.
_MODULES = {
    ".analysis.power": "power_spectrum",
    ".analysis.search": "AutoNotches find_peaks",
    ".calls": "apply_mask bandpass bandstop descreen highpass imagej lowpass notch stripes wiener",
    ".commands.apply": "load_filter",
    ".errors": "BuildError DeviceError FftfilterError ImageError MissingError ParameterError ProcessError ReadError "
    "RefusedError SeveralPagesError TooLargeError VerifyError WriteError",
    ".filters": "Filter",
    ".preview.page": "show",
    ".transforms": "fft fft2 fftn ifft ifft2 ifftn irfft2 irfftn rfft2 rfftn",
    ".work.large": "filter_large",
    ".work.output_file": "filter_stack",
    ".work.saved": "save_filter",
}


def imported_on_first_use(package: str, modules: dict[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package whose modules, relative to it, have these names, separated by spaces.

    ``__all__`` is the list of all names.
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def of_package(name: str) -> Any:
        if name == "__all__":
            return list(homes)
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        import sys
        from importlib import import_module

        value = getattr(import_module(homes[name], package), name)
        setattr(sys.modules[package], name, value)
        return value

    return of_package


if not TYPE_CHECKING:
    __getattr__ = imported_on_first_use(__name__, _MODULES)

    def __dir__() -> list[str]:
        # What is meant to be used, not what happens to be imported.
        return [*__getattr__("__all__"), "transfer", "__version__"]
