"""Plain FFTs with numpy.fft's conventions: along an axis, two, or any number of them, of complex and of real numbers.

They go along axes by the fused engine or by an algorithm of the papers, and are kept between calls. Lengths, axes,
norms and ``out`` are as NumPy has them; two axes at a time are transformed, or one. Numbers outside single precision's
range are scaled first.
"""

from __future__ import annotations

import inspect
import math
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import PRECISIONS, Array, as_numpy
from .device_choice import choose_engine, launcher_on, open_device
from .errors import ParameterError, check_option, check_unmasked
from .fused import Data, Shape, plain_fft, serves_plain
from .plain import NumPyDevice, transformed
from .staged.pipeline import Transform
from .staged.steps import FORWARD, INVERSE

if TYPE_CHECKING:
    from .device.launcher import Precision
    from .device.opencl import Device
    from .fused import PlainFft
    from .staged.algorithms import Option

Complex = NDArray[np.complexfloating[Any, Any]]
Real = NDArray[np.floating[Any]]
Lengths = Sequence[int | None] | None
Axes = Sequence[int] | None
Norm = Literal["backward", "ortho", "forward"] | None
Half = Literal["made", "given"] | None
Out = NDArray[Any] | None
Made = TypeVar("Made", bound=Callable[..., Any])

# Numbers side by side from which on columns are transformed as columns, not moved to become rows.
BESIDE = 16
# By which power of the number of points a norm divides, forward and back.
NORMS = {None: (0, 1), "backward": (0, 1), "ortho": (0.5, 0.5), "forward": (1, 0)}
# Beyond this power of two, sums and products could leave single precision's range: scale before, undo after.
SAFE_EXPONENT = 40
# Real types that kernels read as they are.
PIXELS = (np.uint8, np.uint16, np.float32)
# Prepared transforms that are kept, and the bytes that they may take together on their devices.
MOST_KEPT, MOST_BYTES = 16, 256 << 20


class Options(TypedDict, total=False):
    """Options of every transform, then those of algorithms of the papers."""

    algorithm: str | None
    device: str | int | None
    precision: Precision

    arithmetic: str
    layout: str
    p: int | None
    r: int
    radix: int


HELP = {
    "a": "Numbers, along one axis or more; real ones take half the time of complex ones.",
    "n": "The length along the axis, cut or padded with zeros; by default the array's.",
    "axis": "The axis that is transformed.",
    "s": "The length along each axis, likewise.",
    "axes": "The axes that are transformed.",
    "norm": 'Which direction is divided by n: "backward", the default, "forward", or both by its root, "ortho".',
    "out": "An array that takes the result.",
    "algorithm": '"fused", the fast one and the default; or one of ``fftfilter engines``, a way of the papers.',
    "device": "As that of :class:`fftfilter.Filter`.",
    "precision": '"single"; or "double", by "numpy" or an algorithm of the papers, by default "book".',
    "options": "Those of an algorithm, such as ``radix=8`` of stockham.",
}


def _spelled_out(transform: Made) -> Made:
    """Show the options of every transform in its help; type checkers have them from ``**how``."""
    shown = inspect.signature(transform)
    *own, rest = shown.parameters.values()
    for name, usual in {"algorithm": None, "device": None, "precision": "single"}.items():
        kind = Options.__annotations__[name].__forward_arg__
        own.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=usual, annotation=kind))
    own.append(rest.replace(name="options", annotation="Option"))
    transform.__signature__ = shown.replace(parameters=own)  # type: ignore[attr-defined]
    said, examples = (inspect.getdoc(transform) or "").split("\n\nExamples:\n")
    lines = "\n".join(f"    {each.name}: {HELP[each.name]}" for each in own)
    raises = "ParameterError: For what has no transform.\n    DeviceError: Without a usable device."
    transform.__doc__ = f"{said}\n\nArgs:\n{lines}\n\nRaises:\n    {raises}\n\nExamples:\n{examples}"
    return transform


@_spelled_out
def fft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: Out = None, **how: Unpack[Options]
) -> Complex:
    """Return the transform along an axis, of any length, as ``numpy.fft.fft`` does.

    The result is complex64, complex128 in double precision.

    Examples:
        >>> signal = np.array([1, 2, 3, 4])
        >>> fftfilter.fft(signal)
        array([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j], dtype=complex64)

    """
    return Engine(**how).transformed(a, lengths_of(n), (axis,), norm, out=out)


@_spelled_out
def ifft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: Out = None, **how: Unpack[Options]
) -> Complex:
    """Return the inverse transform along an axis, as ``numpy.fft.ifft`` does; see :func:`fft`.

    Examples:
        >>> fftfilter.ifft([4, 0, 0, 0]).real
        array([1., 1., 1., 1.], dtype=float32)

    """
    return Engine(**how).transformed(a, lengths_of(n), (axis,), norm, out=out, inverse=True)


@_spelled_out
def fft2(
    a: ArrayLike, s: Lengths = None, axes: Axes = (-2, -1), norm: Norm = None, out: Out = None, **how: Unpack[Options]
) -> Complex:
    """Return the transform over the last two axes, as ``numpy.fft.fft2`` does, of an image or a stack.

    Examples:
        >>> spectrum = fftfilter.fft2(image)
        >>> spectrum.shape, spectrum.dtype
        ((160, 200), dtype('complex64'))

    """
    return Engine(**how).transformed(a, s, axes, norm, out=out)


@_spelled_out
def ifft2(
    a: ArrayLike, s: Lengths = None, axes: Axes = (-2, -1), norm: Norm = None, out: Out = None, **how: Unpack[Options]
) -> Complex:
    """Return the inverse transform over the last two axes, as ``numpy.fft.ifft2`` does; see :func:`fft2`.

    Examples:
        >>> np.allclose(fftfilter.ifft2(fftfilter.fft2(image)), image, atol=0.01)
        True

    """
    return Engine(**how).transformed(a, s, axes, norm, out=out, inverse=True)


@_spelled_out
def rfft2(
    a: ArrayLike, s: Lengths = None, axes: Axes = (-2, -1), norm: Norm = None, out: Out = None, **how: Unpack[Options]
) -> Complex:
    """Return the half of a real array's transform that says it all, as ``numpy.fft.rfft2`` does; see :func:`fft2`.

    The result is ``(..., height, width // 2 + 1)``.

    Examples:
        >>> fftfilter.rfft2(image).shape
        (160, 101)

    """
    return Engine(**how).transformed(a, s, axes, norm, out=out, half="made")


@_spelled_out
def irfft2(
    a: ArrayLike, s: Lengths = None, axes: Axes = (-2, -1), norm: Norm = None, out: Out = None, **how: Unpack[Options]
) -> Real:
    """Return the real array of half a spectrum, as ``numpy.fft.irfft2`` does; see :func:`rfft2`.

    The result is float32, float64 in double precision. Its width is even, 2 less than twice that of the spectrum; an
    odd one has to be given in ``s``.

    Examples:
        >>> again = fftfilter.irfft2(fftfilter.rfft2(image))
        >>> again.shape, again.dtype
        ((160, 200), dtype('float32'))

    """
    return Engine(**how).transformed(a, s, axes, norm, out=out, inverse=True, half="given")


@_spelled_out
def fftn(
    a: ArrayLike, s: Lengths = None, axes: Axes = None, norm: Norm = None, out: Out = None, **how: Unpack[Options]
) -> Complex:
    """Return the transform over axes, by default all, as ``numpy.fft.fftn`` does; see :func:`fft2`.

    Examples:
        >>> volume = np.stack([image[:32, :32]] * 4)  # (depth, height, width)
        >>> fftfilter.fftn(volume).shape
        (4, 32, 32)

    """
    return Engine(**how).transformed(a, s, axes, norm, out=out)


@_spelled_out
def ifftn(
    a: ArrayLike, s: Lengths = None, axes: Axes = None, norm: Norm = None, out: Out = None, **how: Unpack[Options]
) -> Complex:
    """Return the inverse transform over axes, by default all, as ``numpy.fft.ifftn`` does; see :func:`fftn`.

    Examples:
        >>> fftfilter.ifftn(fftfilter.fftn(image)).shape
        (160, 200)

    """
    return Engine(**how).transformed(a, s, axes, norm, out=out, inverse=True)


@_spelled_out
def rfftn(
    a: ArrayLike, s: Lengths = None, axes: Axes = None, norm: Norm = None, out: Out = None, **how: Unpack[Options]
) -> Complex:
    """Return the half of a real array's transform that says it all, as ``numpy.fft.rfftn`` does; see :func:`fftn`.

    Of the last axis, frequencies from 0 to half its length are left.

    Examples:
        >>> fftfilter.rfftn(np.ones((4, 6, 8))).shape
        (4, 6, 5)

    """
    return Engine(**how).transformed(a, s, axes, norm, out=out, half="made")


@_spelled_out
def irfftn(
    a: ArrayLike, s: Lengths = None, axes: Axes = None, norm: Norm = None, out: Out = None, **how: Unpack[Options]
) -> Real:
    """Return the real array of half a spectrum, as ``numpy.fft.irfftn`` does; see :func:`rfftn` and :func:`irfft2`.

    Examples:
        >>> fftfilter.irfftn(np.ones((4, 6, 5))).shape
        (4, 6, 8)

    """
    return Engine(**how).transformed(a, s, axes, norm, out=out, inverse=True, half="given")


def lengths_of(n: int | None) -> tuple[int] | None:
    """Return the length along the only axis as a tuple; refuses -1, as NumPy does here."""
    if n is not None:
        check_length(n)
    return None if n is None else (n,)


def numbers(a: ArrayLike) -> Array:
    """Return an array of numbers; truth values become 0 and 1. Raises ParameterError for any other."""
    check_unmasked("array", a)
    data = as_numpy(a)
    if data.dtype.kind not in "biufc" or data.ndim == 0:
        raise ParameterError(
            f"an array of shape {data.shape} and type {data.dtype} has no transform: give numbers, along an axis"
        )
    return data.astype(np.uint8) if data.dtype.kind == "b" else data


def check_length(n: int) -> None:
    """Raise ParameterError for a length below 1, in NumPy's words."""
    if n < 1:
        raise ParameterError(f"Invalid number of FFT data points ({n}) specified: no transform has less than one")


def _resolved(data: Array, s: Lengths, axes: Axes) -> tuple[list[int], list[int]]:
    """Return the length along each axis, and the axes from 0 up; warns of what NumPy deprecates."""
    along: list[int]
    if axes is None:
        if s is not None:
            warnings.warn("`axes` should not be `None` if `s` is not `None`", DeprecationWarning, stacklevel=4)
        along = list(range(-(data.ndim if s is None else len(s)), 0))
    else:
        along = [index(axis) for axis in axes]
    if s is not None and len(s) != len(along):
        raise ParameterError(f"Shape and axes have different lengths: {len(s)} and {len(along)}, give one for each")
    for axis in along:
        if not -data.ndim <= axis < data.ndim:
            raise np.exceptions.AxisError(axis, data.ndim)
    along = [axis % data.ndim for axis in along]
    if s is not None and None in s:
        warnings.warn(
            "Passing an array containing `None` values to `s` is deprecated: give -1", DeprecationWarning, stacklevel=4
        )
    asked = [-1 if n is None else index(n) for n in s or [-1] * len(along)]
    lengths = [data.shape[axis] if n == -1 else n for n, axis in zip(asked, along, strict=True)]
    for n in lengths:
        check_length(n)
    if not along:
        raise ParameterError("no transform along no axis: give one or more")
    if data.size == 0:
        raise ParameterError(
            f"an array of shape {data.shape} has no transform: give at least one number along each axis"
        )
    return lengths, along


def _resized(data: Array, axes: Sequence[int], lengths: Sequence[int]) -> Array:
    """Return an array with these lengths along axes, cut or padded with zeros."""
    cut, missing = [slice(None)] * data.ndim, [(0, 0)] * data.ndim
    for axis, n in zip(axes, lengths, strict=True):
        cut[axis], missing[axis] = slice(n), (0, max(0, n - data.shape[axis]))
    data = data[tuple(cut)]
    return np.pad(data, missing) if any(after for _, after in missing) else data


def _returned(data: Array, out: Array | None, dtype: np.dtype[Any]) -> Array:
    """Return the result, or ``out`` filled with it."""
    if out is None:
        return data if data.dtype == dtype else data.astype(dtype)
    if not isinstance(out, np.ndarray):
        raise TypeError("return arrays must be of ArrayType")
    if out.shape != data.shape:
        raise ParameterError(f"output array has wrong shape: {out.shape}, the result has {data.shape}")
    np.copyto(out, data)  # casts as NumPy's functions do, or says that it cannot
    return out


class Engine:
    """Transforms arrays over their last axes.

    Raises ParameterError for an unknown algorithm or option, and for an option that the fused engine lacks.
    """

    def __init__(
        self,
        algorithm: str | None = None,
        device: str | int | None = None,
        precision: Precision = "single",
        **options: Option | None,
    ) -> None:
        check_option("precision", precision, PRECISIONS)
        self.real, self.complex = PRECISIONS[precision]
        asked = {"engine": algorithm, "precision": precision, "engine_options": options, "device": device}
        self._engine, self._precision = choose_engine(asked, word="algorithm"), precision
        self._device = open_device(asked)

    def transformed(
        self,
        a: ArrayLike,
        s: Lengths,
        axes: Axes,
        norm: Norm,
        *,
        out: Array | None,
        inverse: bool = False,
        half: Half = None,
    ) -> Array:
        """Return the transform of numbers along axes, the last ones first.

        With ``half`` only frequencies from 0 to half the length of the last axis are made, of real numbers, or they are
        given, and real numbers made of them.
        """
        data = numbers(a)
        if half == "made" and data.dtype.kind == "c":
            raise ParameterError("an array of complex numbers has no half spectrum: give real numbers, or take fft2")
        lengths, along = _resolved(data, s, axes)
        if half == "given" and (s is None or s[-1] is None):  # -1 is the array's own, for NumPy, too
            lengths[-1] = 2 * (lengths[-1] - 1)
            check_length(lengths[-1])
        # Two axes at once, unless both are the same.
        steps: list[tuple[list[int], list[int], Half]] = []
        while along:
            last = 2 if len(along) > 1 and along[-1] != along[-2] else 1
            steps.append((lengths[-last:], along[-last:], None if steps else half))
            lengths, along = lengths[:-last], along[:-last]
        if half == "given":
            steps.append(steps.pop(0))
        for each in steps:
            data = self._along(data, *each, norm, inverse=inverse)
        return _returned(data, out, self.real if half == "given" else self.complex)

    def _along(
        self, data: Array, lengths: Sequence[int], axes: Sequence[int], half: Half, norm: Norm, *, inverse: bool
    ) -> Array:
        """Return the transform along an axis or two."""
        if norm not in NORMS:
            raise ParameterError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward"')
        scale = float(math.prod(lengths)) ** -NORMS[norm][inverse]
        data = _resized(data, axes, (*lengths[:-1], lengths[-1] // 2 + 1) if half == "given" else lengths)
        kind: Data = "values" if half == "given" else "complex" if data.dtype.kind == "c" else "real"
        beside = math.prod(data.shape[axes[-1] + 1 :])
        if len(axes) == 1 and not half and beside >= BESIDE:
            # Columns as they lie: nothing is moved.
            before = math.prod(data.shape[: axes[0]])
            shape = Shape(kind, "columns", before, lengths[0], beside, inverse)
            return self.transform(data, shape, scale).reshape(data.shape)

        last = range(-len(axes), 0)
        moved = np.moveaxis(data, axes, last)
        before = math.prod(moved.shape[: -len(axes)])
        if len(axes) == 2 or half:
            height, width = (1, *lengths)[-2:]
            shape = Shape(kind, "both", before, height, width, inverse and not half, bool(half))
        else:
            shape = Shape(kind, "rows", 1, before, lengths[0], inverse)
        made = self.transform(moved, shape, scale)
        made = made.reshape(*moved.shape[:-1], made.shape[-1])
        return np.moveaxis(made, last, axes)

    def transform(self, data: Array, shape: Shape, scale: float) -> Array:
        """Return the transform of an array of the shape's numbers, times a scale.

        It is made once more with numbers nearer to 1 if some were too large or too small.
        """
        data = data.reshape(shape.source)
        made, largest = self._any(data, shape, scale)
        if 2.0**-SAFE_EXPONENT * scale < largest < 2.0**SAFE_EXPONENT * scale:
            return made
        # In NumPy's other orders there is no view of the parts.
        wide = data.astype(np.complex128 if data.dtype.kind == "c" else np.float64, order="C")
        most = float(np.max(np.abs(wide.view(np.float64))))
        exponent = int(np.frexp(most)[1]) if np.isfinite(most) else 0
        if abs(exponent) <= SAFE_EXPONENT // 2:
            return made
        made, _ = self._any(_ldexp(wide, -exponent), shape, scale)
        return _ldexp(made, exponent)

    def _any(self, data: Array, shape: Shape, scale: float) -> tuple[Array, float]:
        if isinstance(self._device, NumPyDevice):
            return transformed(data, shape, scale, self.real)
        serves = serves_plain(self._device, shape)
        if self._engine.is_fused(serves=serves):
            if not serves:
                raise ParameterError(f"{shape} is too long for the fused engine of {self._device.name}: take another")
            pixel = data.dtype.type if shape.data == "real" and data.dtype.type in PIXELS else np.float32
            number = np.dtype(pixel if shape.data == "real" else np.complex64)
            with np.errstate(over="ignore"):
                given = np.ascontiguousarray(data, number)
            prepared, lock = _prepared(self._device, shape, np.dtype(pixel))
            with lock:
                return prepared.run(given, scale)
        return self._staged(data, shape, scale)

    def _staged(self, data: Array, shape: Shape, scale: float) -> tuple[Array, float]:
        """Transform by an algorithm of the papers: complex numbers alone, in natural order, not normalized."""
        launcher = launcher_on(self._device, {"precision": self._precision})
        if shape.data == "values":
            data = _whole(data.astype(np.result_type(data, self.complex)), shape.width)
        if shape.along == "columns":
            data = data.swapaxes(1, 2)
        direction = INVERSE if shape.inverse or shape.data == "values" else FORWARD
        axes = 2 if shape.along == "both" else 1
        made: Array = Transform(launcher, self._engine.staged, data.shape, axes, direction).run(data)
        # The inverse of the papers is normalized.
        factor = scale * (math.prod(data.shape[-axes:]) if direction == INVERSE else 1)
        if factor != 1:
            made *= self.real.type(factor)
        if shape.along == "columns":
            made = made.swapaxes(1, 2)
        made = np.ascontiguousarray(made.real if shape.data == "values" else made[:, :, : shape.target[-1]])
        return made, float(np.max(np.abs(made.view(self.real))))


# Transforms that are kept, each with a lock: its buffers and arguments are for one array at a time.
_kept: OrderedDict[tuple[Device, Shape, np.dtype[Any]], tuple[PlainFft, threading.Lock]] = OrderedDict()
_keeping = threading.Lock()


def _prepared(device: Device, shape: Shape, pixel: np.dtype[Any]) -> tuple[PlainFft, threading.Lock]:
    """Return the transform of a shape, one of the last ones or a new one, and its lock."""
    key = (device, shape, pixel)
    with _keeping:
        found = _kept.get(key)
        if found is None:
            found = _kept[key] = plain_fft(launcher_on(device, {}), shape, pixel), threading.Lock()
        _kept.move_to_end(key)
        while len(_kept) > 1 and (
            len(_kept) > MOST_KEPT or sum(each.device_bytes for each, _ in _kept.values()) > MOST_BYTES
        ):
            _kept.popitem(last=False)
        return found


def forget() -> None:
    """Release the transforms that are kept, with their memory: after the last one of a large picture."""
    with _keeping:
        _kept.clear()


def _whole(half: Array, width: int) -> Array:
    """Return the full spectrum of a half spectrum; columns that mirror themselves become the mean of both."""
    whole = np.empty((*half.shape[:-1], width), half.dtype)
    mirrored = np.roll(half[:, ::-1], 1, axis=1).conj()
    whole[..., : half.shape[-1]] = half
    whole[..., width // 2 + 1 :] = mirrored[..., (width - 1) // 2 : 0 : -1]
    for alone in {0, width // 2} if width % 2 == 0 else {0}:
        whole[..., alone] = (half[..., alone] + mirrored[..., alone]) / 2
    return whole


def _ldexp(data: Array, exponent: int) -> Array:
    """Return numbers times 2^exponent, exactly; beyond the type's range they become infinite."""
    with np.errstate(over="ignore"):
        scaled: Array = np.ldexp(data.view(data.real.dtype), exponent).view(data.dtype)
    return scaled
