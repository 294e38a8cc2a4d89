"""Bare transforms: ``fft``, ``ifft``, ``fft2`` and ``ifft2`` with numpy.fft's conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .device.choice import open_device
from .device.launcher import Launcher
from .errors import ParameterError, check_unmasked
from .fused import fused
from .staged import algorithms
from .staged.fft_core import fft_core, plan_rows
from .staged.plan import FORWARD, INVERSE, X
from .staged.steps.transpose import transpose
from .staged.workspace import Workspace

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .device.launcher import Precision
    from .staged.algorithms import Algorithm, Option

    Complex = NDArray[np.complexfloating[Any, Any]]

# Beyond this power of two, sums and products could leave single precision's range: scale before, undo after.
SAFE_EXPONENT = 40


def fft(
    x: ArrayLike,
    *,
    algorithm: str = "book",
    device: str | int | None = None,
    precision: Precision = "single",
    **options: Option,
) -> Complex:
    """Return the transform of every row, the last axis of ``x``, as ``numpy.fft.fft`` does.

    The result is complex64, complex128 in double precision, of the shape of ``x``. Any length; one that
    the algorithm cannot do by itself goes through Bluestein's chirp-z. ``device`` is chosen as in Filter,
    ``precision`` is single or double; further options are the algorithm's own (``radix=8`` for stockham), see
    ``fftfilter engines``. Raises ParameterError and DeviceError.
    """
    return _transform(x, FORWARD, 1, algorithms.load(algorithm, **options), device=device, precision=precision)


def ifft(
    x: ArrayLike,
    *,
    algorithm: str = "book",
    device: str | int | None = None,
    precision: Precision = "single",
    **options: Option,
) -> Complex:
    """Return the inverse transform of every row, divided by the row's length, as ``numpy.fft.ifft`` does."""
    return _transform(x, INVERSE, 1, algorithms.load(algorithm, **options), device=device, precision=precision)


def fft2(
    x: ArrayLike,
    *,
    algorithm: str = "book",
    device: str | int | None = None,
    precision: Precision = "single",
    **options: Option,
) -> Complex:
    """Return the 2-D transform over the last two axes, as ``numpy.fft.fft2`` does.

    ``x`` is ``(height, width)`` or a stack ``(..., height, width)``, real or complex.
    """
    return _transform(x, FORWARD, 2, algorithms.load(algorithm, **options), device=device, precision=precision)


def ifft2(
    x: ArrayLike,
    *,
    algorithm: str = "book",
    device: str | int | None = None,
    precision: Precision = "single",
    **options: Option,
) -> Complex:
    """Return the inverse 2-D transform, divided by height times width, as ``numpy.fft.ifft2`` does."""
    return _transform(x, INVERSE, 2, algorithms.load(algorithm, **options), device=device, precision=precision)


def _transform(
    x: ArrayLike,
    direction: int,
    axes: int,
    method: Algorithm,
    *,
    device: str | int | None,
    precision: Precision,
) -> Complex:
    check_unmasked("array", x)
    data = np.asarray(x)
    if data.ndim < axes or data.size == 0 or data.dtype.kind not in "biufc":
        raise ParameterError(
            f"an array of shape {data.shape} and type {data.dtype} has no transform over {axes} axes: "
            "give numbers, at least one along each axis"
        )
    launcher = Launcher(open_device(device, fused), precision=precision)
    data, exponent = _scaled(data, launcher.complex)

    height, width = data.shape[-2:] if axes == 2 else (1, data.shape[-1])
    transform = Transform(launcher, method, (data.size // (height * width), height, width), axes, direction)
    transform.load(data)
    transform.run()
    return _ldexp(transform.result().reshape(data.shape), exponent)


class Transform:
    """A transform prepared on a device for arrays ``(count, height, width)``, over one axis or two.

    Raises TooLargeError for more than the device holds.
    """

    def __init__(
        self, launcher: Launcher, method: Algorithm, shape: tuple[int, int, int], axes: int, direction: int = FORWARD
    ) -> None:
        self.shape = count, height, width = shape
        rows = plan_rows(width, method)
        columns = plan_rows(height if axes == 2 else 1, method)
        stages = fft_core(rows, count * height, direction)
        if axes == 2:
            stages += (
                transpose(width, height, count, kind=method.transpose, side=launcher.tile_side),
                *fft_core(columns, count * width, direction),
                transpose(height, width, count, kind=method.transpose, side=launcher.tile_side),
            )
        elements = count * max(height * rows.width, width * columns.width)
        self._stages = stages
        self._space = Workspace(launcher, (rows, columns), elements, f"a transform of {count} x {height} x {width}")

    def load(self, data: Complex) -> None:
        """Copy contiguous data of the launcher's precision to the device; a run leaves its result in their place."""
        self._space.write(X, data)

    def run(self) -> None:
        """Launch all stages."""
        self._space.run(self._stages)

    def result(self) -> Complex:
        """Return what the device holds, of the shape that was prepared for."""
        return self._space.read(X, np.empty(self.shape, self._space.launcher.complex))


def _scaled(data: NDArray[Any], dtype: np.dtype[Any]) -> tuple[Complex, int]:
    """Return the data as contiguous complex numbers, divided by 2^exponent where their size asks for it."""
    wide = data.astype(np.complex128, order="C")  # as NumPy's other orders have no view of their parts
    largest = float(np.max(np.abs(wide.view(np.float64))))
    exponent = int(np.frexp(largest)[1]) if np.isfinite(largest) else 0
    if abs(exponent) <= SAFE_EXPONENT:
        exponent = 0
    return np.ascontiguousarray(_ldexp(wide, -exponent), dtype), exponent


def _ldexp(data: Complex, exponent: int) -> Complex:
    """Return complex numbers times 2^exponent, exactly; beyond the type's range they become infinite."""
    if exponent == 0:
        return data
    with np.errstate(over="ignore"):
        return np.ldexp(data.view(data.real.dtype), exponent).view(data.dtype)
