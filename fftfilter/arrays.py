"""Arrays as images: their planes, those of their samples that are missing, a device's pixels, and what is white."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from .errors import MissingError, ParameterError, as_typed, is_masked
from .output import rounding
from .output.ramp import PIXELS, Gray, Stack, is_half

Array = rounding.Array
Floats = NDArray[np.float64]
Holes = NDArray[np.bool_]
Pixels = NDArray[np.uint8]

PRECISIONS: dict[str, tuple[np.dtype[Any], np.dtype[Any]]] = {
    "single": (np.dtype(np.float32), np.dtype(np.complex64)),
    "double": (np.dtype(np.float64), np.dtype(np.complex128)),
}
"""The real and the complex numbers of a precision."""
# The last axis of an array is taken for channels, not for the width of images, up to this length.
MOST_CHANNELS = 4
# Rows that steps of NumPy take at a time.
STRIP = 64


def planes_of(image: ArrayLike, channel_axis: int | None) -> tuple[Array, tuple[int, ...]]:
    """Return an image, a stack or a picture as ``(count, height, width)``, and the shape that it had.

    True becomes 255, and False 0; float16 and bfloat16 become float32. Raises ParameterError for an array that is not
    an image, or looks like a color picture without its ``channel_axis``, and for an axis that does not exist.
    """
    array = as_numpy(image)
    if is_half(array.dtype):
        array = array.astype(np.float32)
    check_image(array.shape, array.dtype, channel_axis)
    planes = _stacked(array, channel_axis)
    return planes * np.uint8(255) if array.dtype.kind == "b" else planes, array.shape


def as_numpy(given: Any) -> Array:
    """Return NumPy's array of any library's; raises ParameterError for one in the memory of a GPU, and for none."""
    try:
        if hasattr(given, "__dlpack__") and not hasattr(given, "__array__"):
            return np.from_dlpack(given)
        return np.asarray(given)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        name, reason = type(given).__name__, (str(error).splitlines() or [""])[0].rstrip(".")
        raise ParameterError(f"{name} cannot become a NumPy array: {reason}: give what numpy.asarray takes") from error


def check_image(shape: tuple[int, ...], dtype: np.dtype[Any], channel_axis: int | None) -> None:
    """Raise ParameterError for the shape and type of an array that is not an image, as :func:`planes_of`."""
    if len(shape) not in ((2, 3) if channel_axis is None else (3,)) or 0 in shape or dtype.kind not in "biuf":
        raise ParameterError(
            f"an array of shape {shape} and type {dtype} is not an image: give real numbers of shape "
            "(height, width), a stack (count, height, width), channels with channel_axis, or more dimensions with axes"
        )
    if channel_axis is None and len(shape) == 3 and shape[2] <= MOST_CHANNELS and min(shape[:2]) > MOST_CHANNELS:
        raise ParameterError(
            f"an array of shape {shape} looks like a picture with {shape[2]} channels: give channel_axis=-1; or if it "
            f"is a stack of images {shape[2]} wide, filter them one by one"
        )
    if channel_axis is not None and channel_axis not in range(-3, 3):
        raise ParameterError(f"channel_axis {channel_axis!r} is none of an array of shape {shape}: give -1 or 0 to 2")


def split(image: Any, missing: ArrayLike | None, channel_axis: int | None) -> tuple[Array, NDArray[np.bool_]]:
    """Return the planes of an image as :func:`planes_of`, and a bool for each sample that is missing.

    Missing are NaN, masked samples, and those where ``missing`` is True. Raises ParameterError for what is not an
    image, or for a ``missing`` that does not fit it.
    """
    planes, shape = planes_of(image, channel_axis)
    holes = np.isnan(planes) if planes.dtype.kind == "f" else np.zeros(planes.shape, np.bool_)
    if is_masked(image):
        holes |= _stacked(np.ma.getmaskarray(image), channel_axis)
    if missing is None:
        return planes, holes
    given = as_numpy(missing)
    if given.dtype.kind != "b" or given.shape not in (shape, planes.shape[1:]):
        raise ParameterError(
            f"missing is an array of shape {given.shape} and type {given.dtype}: give bools, True where a pixel is "
            f"missing, of shape {' or '.join(map(str, dict.fromkeys([shape, planes.shape[1:]])))}"
        )
    return planes, holes | (_stacked(given, channel_axis) if given.shape == shape else given)


def _stacked(array: Array, channel_axis: int | None) -> Array:
    """Return an array as ``(count, height, width)``."""
    if channel_axis is not None:
        array = np.moveaxis(array, channel_axis, 0)
    return array.reshape(-1, *array.shape[-2:])


@cache
def pixel_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the device's pixel type for an array's: uint8 and uint16 as they are, others float32."""
    native = dtype.newbyteorder("=")
    return native if native.kind == "u" and native in PIXELS else np.dtype(np.float32)


@cache
def is_wide(dtype: np.dtype[Any]) -> bool:
    """Whether single precision cannot hold a type's numbers: float64, and whole numbers of 32 bits and more."""
    return dtype.kind in "iuf" and not np.can_cast(dtype, np.float32)


def type_of_output(dtype: DTypeLike | None, given: np.dtype[Any]) -> np.dtype[Any]:
    """Return the output's type, by default the ``given`` one, uint8 for bool; raises ParameterError."""
    asked: object = (np.uint8 if given.kind == "b" else given) if dtype is None else dtype
    with suppress(TypeError):
        asked = np.dtype(asked)  # type: ignore[call-overload]  # what is none raises
    if isinstance(asked, np.dtype) and (asked.kind in "iuf" or is_half(asked)):
        return asked.newbyteorder("=")
    raise ParameterError(f"output type {asked} has no gray levels: choose a type of integers or floats, such as uint8")


@cache
def largest_of(dtype: np.dtype[Any]) -> int:
    """Return the value that is white by default: an integer type's largest, 1 for floats."""
    return 1 if dtype.kind == "f" else int(np.iinfo(dtype).max)


def white_of_input(white: float | None, dtype: np.dtype[Any]) -> float:
    """Return the input's white, by default its type's; raises ParameterError."""
    if white is None:
        return float(largest_of(dtype))
    # NumPy's float32 would warn beside the largest float64.
    given: Any = float(white) if isinstance(white, np.integer | np.floating) else white
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given <= sys.float_info.max:
        raise ParameterError(f"white {as_typed(white)} is invalid: give a finite number above 0")
    return float(given)


def type_of_result(
    given: np.dtype[Any], dtype: DTypeLike | None, precision: str | None, *, is_values: bool
) -> np.dtype[Any]:
    """Return the type of what a call returns; that of filtered values is the given one, or that of a precision."""
    if not is_values:
        return type_of_output(dtype, given)
    if precision == "double" or (precision is None and is_wide(given)):
        return np.dtype(np.float64)
    return type_of_output(None, np.dtype(np.float32) if given.kind in "biu" else given)


def gray_of(asked: Mapping[str, Any], given: np.dtype[Any]) -> Gray:
    """Return the gray levels that are asked for, by default those of the ``given`` type; raises ParameterError."""
    dtype, white = type_of_output(asked.get("dtype"), given), white_of_input(asked.get("white"), given)
    dtype = np.dtype(np.float32) if is_half(dtype) else dtype
    levels, largest = asked.get("levels"), largest_of(dtype)
    if levels is None:
        return Gray(white, dtype, largest)
    if isinstance(levels, bool) or not isinstance(levels, int | np.integer) or not 1 <= levels <= largest:
        raise ParameterError(f"levels {levels!r} is invalid for {dtype}: give a whole number from 1 to {largest}")
    return Gray(white, dtype, int(levels))


def check_finite(array: Array, what: str = "values") -> None:
    """Raise ParameterError for an image, a stack or gains with values that are infinite, MissingError for NaN alone."""
    finite = np.isfinite(array)
    if not finite.all():
        error = ParameterError if np.isinf(array).any() else MissingError
        row, column = np.unravel_index(np.argmin(finite), finite.shape)[-2:]
        raise error(
            f"{finite.size - np.count_nonzero(finite)} {what} are NaN or infinite, the first at row {row}, column "
            f"{column}: replace them, for example with numpy.nan_to_num"
        )


def pixels_of(planes: Array, stack: Stack) -> tuple[Array, NDArray[np.int32]]:
    """Return planes as the device's pixels, floats of each picture divided by 2^exponent to lie within [-1, 1]."""
    if stack.pixel.kind == "u":
        return np.ascontiguousarray(planes, stack.pixel), np.zeros(stack.pictures, np.int32)
    wide = planes
    if planes.dtype != stack.pixel:
        wide = planes.astype(np.result_type(planes.dtype, stack.pixel), copy=False)
    flat = wide.reshape(stack.pictures, -1)
    largest = np.maximum(flat.max(axis=1), -flat.min(axis=1))
    if not all(map(math.isfinite, largest.tolist())):  # for one image faster than NumPy
        check_finite(wide)
    exponents = np.frexp(largest)[1]
    made = scaled(wide, -exponents) if any(exponents.tolist()) else wide
    return np.ascontiguousarray(made, stack.pixel), exponents


def strips(height: int) -> Iterator[slice]:
    """Return slices of so many rows, some at a time: NumPy's steps on all would take several times their memory."""
    return (slice(start, min(start + STRIP, height)) for start in range(0, height, STRIP))


def scaled(values: Array, exponents: Array | int, out: Array | None = None) -> Array:
    """Return floats times 2^exponents: :func:`numpy.ldexp` in half the time, but for the least and largest numbers.

    There is one exponent, or one for each index of the first axis. Numbers beyond their type become its largest one,
    and not infinite. ``out`` may take the result.
    """
    limits = np.finfo(values.dtype)
    if np.size(exponents) == 1 and limits.minexp <= (one := int(np.asarray(exponents).item())) <= limits.maxexp // 2:
        # One picture: the steps below take as long as the filter of a small one.
        return np.asarray(np.multiply(values, values.dtype.type(2.0**one), out=out))
    exponents = np.reshape(exponents, (-1, *(1,) * (values.ndim - 1)))
    with np.errstate(over="ignore", under="ignore"):
        factors = np.ldexp(values.dtype.type(1), exponents)
        is_normal = np.all((factors >= limits.tiny) & (factors <= limits.max))
        made = np.asarray(np.multiply(values, factors, out=out) if is_normal else np.ldexp(values, exponents))
    is_large = np.max(exponents, initial=0) > limits.maxexp // 2  # filtered values are a little larger than their unit
    return np.clip(made, -limits.max, limits.max, out=made) if is_large else made
