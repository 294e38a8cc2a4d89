"""Stacks, which pipelines filter, and ramps, which turn filtered values into pixels.

Every output mode is a ramp; only the numbers differ. A value x, |x| for a magnitude, becomes

    stretch x + shift     at least bottom, at most top, truncated for whole numbers; top from the value ``white`` on

If ``of_largest`` is set, ``stretch`` and ``white`` are relative to the picture's largest |x|, so they are known only
once all values are. Then it is also known whether these are rounding noise, which becomes what 0 does. Kernels
(``kernels/ramp.cl``) and the host (:func:`pixels`) take the same numbers. The formulas are in ``docs/numbers.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from ..system import in_slabs
from .modes import MODES, Output, Range
from .rounding import NOISE, NUDGE, WHITE, Array, decided_row, most_undecided, undecided_within

if TYPE_CHECKING:
    from .histogram import Ramps

NUMBERS = ("stretch", "shift", "white", "bottom", "top", "below", "above", "noise", "undecided")
FLAGS = ("of_largest", "magnitude", "counts")
RAMP = np.dtype([*((name, np.float64) for name in NUMBERS), *((name, np.uint32) for name in FLAGS)])
ON_DEVICE = np.dtype([*((name, np.float32) for name in NUMBERS), *((name, np.uint32) for name in FLAGS)])
"""ramp_t of ramp.cl"""
WANTED = np.dtype(
    [
        *((name, ON_DEVICE) for name in ("of_range", "of_largest")),
        *(("smaller", np.uint32, 2), ("part", np.float32, 2), ("is_symmetric", np.uint32), ("unused", np.uint32, 3)),
    ]
)
"""wanted_t of ramp.cl"""


class Gray(NamedTuple):
    """The gray levels of a picture and of its output, whose type is ``dtype`` and whose white is ``levels``."""

    white: float
    dtype: np.dtype[Any]
    levels: int

    @property
    def least(self) -> int:
        """The lowest gray level of whole numbers: 0, or the type's least for signed ones."""
        return int(np.iinfo(self.dtype).min) if self.dtype.kind == "i" else 0


# OpenCL's names of the pixel types.
PIXELS = {np.dtype(np.uint8): "uchar", np.dtype(np.uint16): "ushort", np.dtype(np.float32): "float"}


@cache
def is_half(dtype: np.dtype[Any]) -> bool:
    """Whether a type is float16, or bfloat16 of the package ml_dtypes: they are filtered as float32."""
    return dtype.name in ("float16", "bfloat16")


def as_type(values: Array, dtype: np.dtype[Any]) -> Array:
    """Return floats as a type: for integers rounded down, and what lies beyond a type is its nearest number."""
    if dtype.kind in "iu" and dtype not in PIXELS:
        values = np.floor(values)
        if dtype.itemsize >= values.itemsize:
            values = values.clip(None, np.nextafter(values.dtype.type(np.iinfo(dtype).max), 0))
    elif is_half(dtype):
        most = float(np.finfo(dtype).max) if dtype.kind == "f" else 2.0**128 - 2.0**120
        values = np.where(np.isfinite(values), values.clip(-most, most), values)
    return values.astype(dtype, copy=False)


@dataclass(frozen=True, repr=False)
class Stack:
    """``count`` images of one size, or the channels of one picture.

    Pixels are uint8, uint16, or float32 within [-1, 1]; ``out`` is the type of the output's pixels.
    """

    count: int
    height: int
    width: int
    pixel: np.dtype[Any]
    out: np.dtype[Any]
    white: int | None  # the output's white; None for the filtered values as they are, in the pipeline's real numbers
    one_scale: bool = False  # whether the images share their extremes, as the channels of a picture do

    @property
    def shape(self) -> tuple[int, int, int]:
        """(count, height, width)."""
        return self.count, self.height, self.width

    @property
    def size(self) -> int:
        """Pixels of all images."""
        return self.count * self.height * self.width

    @property
    def pictures(self) -> int:
        """How many pictures there are, each with a scale of its own."""
        return 1 if self.one_scale else self.count

    @property
    def samples(self) -> int:
        """Samples of a picture."""
        return self.size // self.pictures

    def by_picture(self, planes: Array) -> Array | list[Array]:
        """Return planes ``(count, ...)`` of a stack as those of each picture."""
        return [planes] if self.one_scale else planes[:, None]

    def __str__(self) -> str:
        size = f"{self.width} x {self.height}"
        return f"an image of {size}" if self.count == 1 else f"a stack of {self.count} images of {size}"


def ramps(
    output: Output,
    scale: Range | None = None,
    units: Sequence[float] | Array = (1.0,),
    *,
    gray: Gray,
    samples: float = np.inf,
) -> Array:
    """Return the ramp of each picture, an array of :data:`RAMP`.

    ``units`` are, for each picture, what a value of 1 is in gray levels of the input. A ``scale`` of None is every
    picture's own. ``samples`` is how many a picture has.
    """
    unit = np.asarray(units, np.float64)
    made = np.zeros(len(unit), RAMP)
    made["stretch"], made["top"], made["white"] = 1, np.inf, np.inf
    made["bottom"] = -np.inf
    mode = MODES[output]
    if mode.is_values:
        return made
    is_float = gray.dtype.kind == "f"
    top, nudge, half, near = (1.0, 0.0, 0.0, 1.0) if is_float else (float(gray.levels), NUDGE, 0.5 + NUDGE, WHITE)
    # Above 255 levels any sample may be off by one, so none counts as undecided.
    made["undecided"] = 0.0 if is_float or gray.levels > 255 else undecided_within(samples)
    with np.errstate(over="ignore"):
        if mode.keeps_levels:
            made["stretch"], made["shift"] = unit * (top / gray.white), half
        else:
            made["of_largest"] = scale is None
            if scale is None:
                (low, high, _), unit = mode.range_up_to(1.0), np.ones_like(unit)
            else:
                low, high, _ = scale.in_levels(gray.white)
                made["undecided"] *= max(1.0, max(abs(low), abs(high)) / (high - low))  # errors are more levels
            steep = top / (high - low)
            made["stretch"], made["shift"] = unit * steep, (half if mode.is_symmetric else nudge) - low * steep
            made["white"] = np.inf if mode.is_symmetric else (low + near * (high - low)) / unit
    made["magnitude"] = mode.is_absolute
    if not mode.keeps_levels:
        made["noise"] = NOISE
    elif is_float:
        made["top"] = min(np.finfo(each).max for each in (gray.dtype, np.float64))  # the finite stay finite
        made["bottom"] = -made["top"]
        return made
    made["bottom"], made["top"] = gray.least if mode.keeps_levels else 0, top
    if mode.keeps_levels or scale is not None:
        # Ends that are exact up to rounding are not clipped.
        made["counts"] = True
        made["below"], made["above"] = (-NUDGE, top + NUDGE) if is_float else (made["bottom"], top + 1)
    return made


def own_ramps(stack: Stack) -> Array:
    """Return the ramps of a stack whose pictures are magnitudes of their own range, or values as they are."""
    output: Output = "real" if stack.white is None else "magnitude"
    gray = Gray(1, stack.out, stack.white or 1)
    return ramps(output, None, np.ones(stack.pictures), gray=gray, samples=stack.samples)


def of_values(ramps: Array, scale: float = 1.0) -> Array:
    """Return ramps as kernels take them, for values that are ``scale`` times what they should be."""
    made = np.empty(len(ramps), ON_DEVICE)
    fixed = ramps["of_largest"] == 0
    limit = np.finfo(np.float32).max
    with np.errstate(over="ignore"):
        for name in (*NUMBERS, *FLAGS):
            made[name] = ramps[name]
        # Beyond single precision 0 must not become a NaN.
        made["stretch"] = np.clip(ramps["stretch"] / np.where(fixed, scale, 1), -limit, limit)
        made["shift"] = np.clip(ramps["shift"], -limit, limit)
        made["white"] = ramps["white"] * np.where(fixed, scale, 1)
        made["noise"] = ramps["noise"] * scale
    return made


class Facts(NamedTuple):
    """Facts about the pictures of a pipeline's run."""

    extremes: Array  # the largest magnitude of each, behind 0: ``(pictures, 2)``
    clipped: Array  # the part of each one's samples that was clipped to black or white: ``(pictures,)``
    undecided: list[float]  # how many samples of each are undecided, divided by how many may be (``rounding.py``)
    # Returns the largest deviation of each from its offset, ``(pictures,)``, until the next run.
    deviations: Callable[[], Array]


class Timing(NamedTuple):
    """The time that a step of a pipeline took: on a device from OpenCL's events."""

    step: str
    launches: int
    seconds: float


# The host's part: for the staged pipeline, NumPy's and the reference


class Quantized(NamedTuple):
    """One picture's filtered values as pixels."""

    pixels: Array  # (channels, height, width)
    clipped: float  # the part of the samples that is clipped to black or white
    undecided: float  # the part of the samples that is undecided; 0 in double precision
    largest: float  # the largest magnitude of the values


def real_of(values: Array, ramps: Ramps) -> Array:
    """Return what complex values are on ramps: their magnitude if the ramps lose signs, else their real part."""
    return np.abs(values) if isinstance(ramps, np.ndarray) and ramps["magnitude"].any() else values.real


def on_ramps(values: Array, stack: Stack, ramps: Ramps, deviations: Array) -> tuple[Array, Facts]:
    """Return filtered values ``(count, height, width)`` as pixels of the same shape, and facts about the pictures.

    Values that become pixels are overwritten; they stay where the stack's output is values as they are. ``deviations``
    are those of each picture.
    """
    own: Any = ramps
    if ramps is None:
        own = [None] * stack.pictures if stack.white is None else own_ramps(stack)
    elif not isinstance(ramps, np.ndarray):
        own = ramps.of_pictures(values.reshape(stack.pictures, -1, *values.shape[1:]))
    pictures = zip(stack.by_picture(values), own, deviations, strict=True)
    each = [pixels(planes, ramp, float(far), stack.out) for planes, ramp, far in pictures]
    extremes = np.array([(0, one.largest) for one in each], values.dtype)
    undecided = [one.undecided * stack.samples / most_undecided(stack) for one in each]
    made = each[0].pixels if len(each) == 1 else np.concatenate([one.pixels for one in each])
    return made, Facts(extremes, np.array([one.clipped for one in each]), undecided, lambda: deviations)


def known(ramp: Any, largest: float, deviation: float) -> dict[str, float]:
    """Return one of :func:`ramps` where the largest magnitude and deviation are known, as ``ramp_for`` of ramp.cl."""
    found: dict[str, float] = dict(zip(RAMP.names or (), ramp.item(), strict=True))  # numbers of Python are faster
    if found["of_largest"]:
        found["stretch"] /= largest or 1.0
        found["white"] *= largest or 1.0
        found["of_largest"] = 0
    if largest <= found["noise"] * deviation:
        # Rounding noise becomes what 0 does.
        found["stretch"], found["white"] = 0.0, inf
    return found


def pixels(values: Array, ramp: Any, deviation: float, dtype: DTypeLike) -> Quantized:
    """Return one picture's filtered ``values`` as pixels; overwrites ``values``.

    ``ramp`` is one of :func:`ramps`, None leaves values as they are. ``deviation`` is the input's largest, in the
    values' units.
    """
    planes, size = len(values), values.size
    largest = max(in_slabs(lambda part: float(max(values[part].max(), -values[part].min())), planes, size))
    if ramp is None:
        return Quantized(values, 0.0, 0.0, largest)
    on = known(ramp, largest, deviation)
    return joined(in_slabs(lambda part: _quantized(values[part], on, largest, np.dtype(dtype)), planes, size), values)


def joined(each: Sequence[Quantized], values: Array, axis: int = 0) -> Quantized:
    """Return the pixels of parts of ``values``, which follow each other along an axis, as one."""
    if len(each) == 1:
        return each[0]
    is_in_place = all(np.may_share_memory(one.pixels, values) for one in each)
    made = values if is_in_place else np.concatenate([one.pixels for one in each], axis)
    largest = max(one.largest for one in each)
    clipped, undecided = (sum(getattr(one, name) * one.pixels.size for one in each) for name in Quantized._fields[1:3])
    return Quantized(made, clipped / made.size, undecided / made.size, largest)


@np.errstate(over="ignore")  # of a white or a top that the values' type cannot hold, which none of them reaches
def _quantized(values: Array, on: dict[str, float], largest: float, dtype: np.dtype[Any]) -> Quantized:
    """Return values on a ramp that is known; overwrites them: another array would take as long as the filter itself."""
    level = np.abs(values, out=values) if on["magnitude"] else values
    if abs(on["stretch"]) > np.finfo(level.dtype).max:
        level = level.astype(np.float64)  # what it becomes may be within single precision again
    is_white = level >= on["white"] if on["white"] < np.inf else None
    level *= on["stretch"]
    level += on["shift"]
    clipped = _part((level < on["below"]) | (level >= on["above"])) if on["counts"] else 0.0
    undecided = _undecided(level, on) if on["undecided"] and level.dtype == np.float32 else 0.0
    if is_white is not None:
        level[is_white] = on["top"]
    level.clip(on["bottom"], on["top"], out=level)
    return Quantized(as_type(level, dtype), clipped, undecided, largest)


def on_valid(values: Array, given: Array, holes: Array, ramps: Ramps, *, gray: Gray, deviation: float) -> Quantized:
    """Return one picture's filtered ``values`` as pixels, with those ``given`` in its holes; overwrites ``values``.

    All are ``(channels, height, width)``; samples in holes change no range. ``ramps`` are those of the one picture, and
    None for values as they are. ``deviation`` is as for :func:`pixels`.
    """
    white, dtype, levels = gray
    is_same = ramps is None or given.dtype.kind == dtype.kind == "f" or levels == white
    as_given = given if is_same else given * (levels / white)
    if dtype.kind in "iu" and as_given.dtype != dtype:
        most = np.iinfo(dtype).max
        as_given = np.rint(as_given, dtype=np.result_type(as_given, np.float32))
        as_given = as_type(np.nan_to_num(as_given, nan=0, posinf=most, neginf=gray.least).clip(gray.least, most), dtype)
    if holes.all():
        return Quantized(as_given.astype(dtype), 0.0, 0.0, 0.0)
    # In the holes a valid value stands for the others.
    one = values.reshape(-1)[np.argmin(holes)]
    np.copyto(values, one, where=holes)
    if not (ramps is None or isinstance(ramps, np.ndarray)):
        ramps = ramps.of_pictures(values[~holes].reshape(1, 1, 1, -1))
    ramp = None if ramps is None else ramps[0]
    made, clipped, undecided, largest = pixels(values, ramp, deviation, dtype)
    if clipped:
        is_one = pixels(one.reshape(1, 1, 1).copy(), ramp, deviation, dtype).clipped
        clipped = max(0.0, clipped - is_one * float(holes.mean())) / (1 - float(holes.mean()))
    with np.errstate(over="ignore"):  # a value beyond the output's type becomes infinite
        np.copyto(made, as_given, where=holes, casting="unsafe")
    return Quantized(made, clipped, undecided, largest)


def _undecided(level: Array, on: dict[str, float]) -> float:
    """Return which part of levels ``(count, height, width)`` is undecided, as ``ramp.cl`` does, by every n-th row."""
    level = level[:, :: decided_row(*level.shape[1:])]
    inside = level.clip(on["bottom"] + 0.5, on["top"] + (-0.5 if on["white"] < np.inf else 0.5))
    is_near = np.abs(inside - np.rint(inside)) < on["undecided"]
    is_near |= np.abs(level - (on["white"] * on["stretch"] + on["shift"])) < on["undecided"]
    return _part(is_near)


def _part(samples: Array) -> float:
    """Return which part of samples is True: numpy.mean would take several times as long."""
    return np.count_nonzero(samples) / samples.size
