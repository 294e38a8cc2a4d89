"""Plain FFTs with numpy.fft's conventions: ``fft``, ``ifft``, ``fft2``, ``ifft2``, ``rfft2`` and ``irfft2``.

engine.py    handles n, s, axes, norm and out as NumPy does; transforms, and keeps transforms between calls
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from .engine import Complex, Engine, Norm, Real, lengths_of

if TYPE_CHECKING:
    from ..device.launcher import Precision
    from ..staged.algorithms import Option


def fft(
    a: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
    out: Complex | None = None,
    *,
    algorithm: str | None = None,
    device: str | int | None = None,
    precision: Precision = "single",
    **options: Option,
) -> Complex:
    """Return the transform along an axis, of any length, as ``numpy.fft.fft`` does.

    ``n``, ``axis``, ``norm`` and ``out`` are NumPy's. The result is complex64, complex128 in double precision.
    ``algorithm`` is "fused", the fast one and the default, or one of ``fftfilter engines`` for the papers' way, with
    options of its own (``radix=8`` for stockham). Only the papers' have a ``precision`` of double, by default book's,
    and so has "numpy", which does without OpenCL. ``device`` is chosen as in :class:`fftfilter.Filter`. Raises
    ParameterError for what has no transform, DeviceError without a usable device.

        spectrum = fftfilter.fft(signal)
    """
    return Engine(algorithm, device, precision, options).transformed(a, lengths_of(n), (axis,), norm, out=out)


def ifft(
    a: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
    out: Complex | None = None,
    *,
    algorithm: str | None = None,
    device: str | int | None = None,
    precision: Precision = "single",
    **options: Option,
) -> Complex:
    """Return the inverse transform along an axis, as ``numpy.fft.ifft`` does; see :func:`fft`."""
    return Engine(algorithm, device, precision, options).transformed(
        a, lengths_of(n), (axis,), norm, out=out, inverse=True
    )


def fft2(
    a: ArrayLike,
    s: Sequence[int | None] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: Norm = None,
    out: Complex | None = None,
    *,
    algorithm: str | None = None,
    device: str | int | None = None,
    precision: Precision = "single",
    **options: Option,
) -> Complex:
    """Return the transform over the last two axes, as ``numpy.fft.fft2`` does; see :func:`fft` for the rest.

    ``a`` is ``(height, width)`` or a stack ``(..., height, width)``, real or complex; real ones take half the time.
    ``s`` and ``axes`` are NumPy's.
    """
    return Engine(algorithm, device, precision, options).transformed(a, s, axes, norm, out=out)


def ifft2(
    a: ArrayLike,
    s: Sequence[int | None] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: Norm = None,
    out: Complex | None = None,
    *,
    algorithm: str | None = None,
    device: str | int | None = None,
    precision: Precision = "single",
    **options: Option,
) -> Complex:
    """Return the inverse transform over the last two axes, as ``numpy.fft.ifft2`` does; see :func:`fft2`."""
    return Engine(algorithm, device, precision, options).transformed(a, s, axes, norm, out=out, inverse=True)


def rfft2(
    a: ArrayLike,
    s: Sequence[int | None] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: Norm = None,
    out: Complex | None = None,
    *,
    algorithm: str | None = None,
    device: str | int | None = None,
    precision: Precision = "single",
    **options: Option,
) -> Complex:
    """Return the half of a real array's transform that says it all, as ``numpy.fft.rfft2`` does; see :func:`fft2`.

    The result is ``(..., height, width // 2 + 1)``.
    """
    return Engine(algorithm, device, precision, options).transformed(a, s, axes, norm, out=out, half="made")


def irfft2(
    a: ArrayLike,
    s: Sequence[int | None] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: Norm = None,
    out: Real | None = None,
    *,
    algorithm: str | None = None,
    device: str | int | None = None,
    precision: Precision = "single",
    **options: Option,
) -> Real:
    """Return the real array of half a spectrum, as ``numpy.fft.irfft2`` does; see :func:`rfft2`.

    The result is float32, float64 in double precision. Its width is even, 2 less than twice that of the spectrum; an
    odd one has to be given in ``s``.
    """
    return Engine(algorithm, device, precision, options).transformed(
        a, s, axes, norm, out=out, inverse=True, half="given"
    )
