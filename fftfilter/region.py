"""The part of a picture that is filtered; the rest stays as it is, and the border between the two is soft.

The weight of a pixel is 0 where the picture stays, and rises to 1 within ``feather`` pixels inside of the region:

    weight = (1 - cos(pi min(1, d / (feather + 1)))) / 2      d: the distance to the nearest pixel that stays
    output = input + weight (filtered - input)

Of a color picture the luminance or the chroma is filtered, and the other stays:

    Y = 0.299 R + 0.587 G + 0.114 B,  Cb = (B - Y) / 1.772,  Cr = (R - Y) / 1.402

These are JPEG's (BT.601 in full range), of the gray levels as the file has them. Nothing is rounded to YCbCr: a filter
F is linear, so that luminance turns each channel c into c + F(Y) - Y, and chroma into Y + F(c - Y).

NumPy is imported on first use only: a recipe without a region is made without it.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import ceil, pi
from numbers import Real
from typing import TYPE_CHECKING, Any, TypedDict

from . import images
from .errors import ParameterError, as_typed, check_unmasked
from .files.messages import shown
from .output.modes import ALL, Channels, check_colors

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .arrays import Array, Holes
    from .images import Picture
    from .output.ramp import Gray

    AreaLike = str | os.PathLike[str] | Sequence[int] | ArrayLike


class RegionOptions(TypedDict, total=False):
    """The part of each picture that a filter filters."""

    region: AreaLike | None
    protect: AreaLike | None
    feather: float | None


FEATHER = 8.0
OF_REGIONS = """\
    region: The part that is filtered: (x, y, width, height), a mask (height, width), or the name of its file.
    protect: The part that is not filtered, as ``region``.
    feather: The width of the soft border of these parts in pixels, by default 8.
"""
# The time to find distances grows with the feather.
WIDEST = 1000
# Pixels that are blended at a time, as the steps between take memory.
ROWS_PIXELS = 1 << 20
_NUMBERS = re.compile(r"[-+.\d\s]*(,[-+.\d\s]*)+")
_RECTANGLE = re.compile(r"\s*(\d{1,9}),\s*(\d{1,9}),\s*(\d{1,9}),\s*(\d{1,9})\s*")


@dataclass(frozen=True)
class Area:
    """Pixels of a picture: a rectangle, or a mask for pictures of its size."""

    what: str = field(compare=False, repr=False)  # the option that gives it
    text: str = field(compare=False, repr=False)  # its value, an array in short
    box: tuple[int, int, int, int]  # x, y, width and height; of a mask those of the whole picture
    mask: bytes = b""  # one bit a pixel, compressed, as settings go to each process
    file: dict[str, str] = field(default_factory=dict, compare=False, repr=False)  # the mask's, if any, and its digest

    @classmethod
    def of_file(cls, file: str | os.PathLike[str], what: str) -> Area:
        """Return the mask in a file, all pixels but black ones; raises ReadError."""
        picture, digest = images.read_mask(file)
        made = cls.of_mask((picture.planes != 0).any(axis=0), what, shown(file, "standard input"))
        return replace(made, file={"file": os.fspath(file), "digest": digest})

    @classmethod
    def of_mask(cls, pixels: Array, what: str, text: str) -> Area:
        """Return the pixels ``(height, width)`` that are True."""
        import numpy as np

        height, width = pixels.shape
        return cls(what, text, (0, 0, width, height), zlib.compress(np.packbits(pixels).tobytes(), 1))

    def said(self) -> str:
        """Return a rectangle, or the name of a mask's file; raises ParameterError for a mask in no file."""
        if self.mask and not self.file:
            raise ParameterError(f"{self}, which a recipe cannot hold: give the name of a file")
        return self.file.get("file", self.text)

    def __str__(self) -> str:
        return f"{self.what} {self.text}"

    def pixels(self, height: int, width: int) -> Array:
        """Return which pixels of a picture belong to it, bool ``(height, width)``; raises ParameterError."""
        import numpy as np

        x, y, wide, high = self.box
        if self.mask:
            if (wide, high) != (width, height):
                raise ParameterError(f"{self} has {wide} x {high} pixels, and the picture {width} x {height}")
            bits = np.frombuffer(zlib.decompress(self.mask), np.uint8)
            return np.unpackbits(bits, count=height * width).reshape(height, width).view(bool)
        if x + wide > width or y + high > height:
            raise ParameterError(f"{self} reaches beyond the picture of {width} x {height} pixels")
        found = np.zeros((height, width), bool)
        found[y : y + high, x : x + wide] = True
        return found

    def samples(self, picture: Picture, name: str) -> Array:
        """Return which samples of a picture belong to it; raises ParameterError, which names its file."""
        import numpy as np

        try:
            return np.broadcast_to(self.pixels(*picture.planes.shape[1:]), picture.planes.shape)
        except ParameterError as error:
            raise ParameterError(f"{name}: {error}: give one of the picture's size") from None


@dataclass(frozen=True)
class Region:
    """The pixels that are filtered: those of ``inside``, or all, without those of ``outside``."""

    inside: Area | None
    outside: Area | None
    feather: float = FEATHER

    @property
    def areas(self) -> list[Area]:
        """Those that are given."""
        return [area for area in (self.inside, self.outside) if area]

    def options(self) -> dict[str, Any]:
        """Return the options of a filter that give it, without a usual feather."""
        feather = {} if self.feather == FEATHER else {"feather": self.feather}
        return {**{area.what: area for area in self.areas}, **feather}

    def given(self) -> dict[str, Any]:
        """Return the options that give it, for a report."""
        return {**{area.what: area.text for area in self.areas}, "feather": self.feather}

    def check_output(self, *, has_levels: bool) -> None:
        """Raise ParameterError for an output without the gray levels of the input."""
        if not has_levels:
            raise ParameterError(
                "region and protect need an output with the gray levels of the input: keep or real, or imagej without "
                "autoscale"
            )

    def pixels(self, height: int, width: int) -> Array:
        """Return which pixels are filtered, bool ``(height, width)``; raises ParameterError if none is."""
        import numpy as np

        found = self.inside.pixels(height, width) if self.inside else np.ones((height, width), bool)
        if self.outside:
            found &= ~self.outside.pixels(height, width)
        if not found.any():
            raise ParameterError("no pixel is left to filter: protect less, or give a larger region")
        return found

    def check(self, picture: Picture, name: str) -> None:
        """Raise ParameterError for a picture that it does not fit; ``name`` is its file's."""
        try:
            self.pixels(*picture.planes.shape[1:])
        except ParameterError as error:
            raise ParameterError(f"{name}: {error}") from None

    def clipped(self, values: Array, holes: Holes, gray: Gray) -> float:
        """Return the part of a picture's valid samples whose filtered ``values`` are clipped, and which are inside."""
        from .output.rounding import NUDGE

        levels = values * (gray.levels / gray.white) + (0.5 + NUDGE)
        beyond = ((levels < gray.least) | (levels >= gray.levels + 1)) & (self.weight(*values.shape[1:]) > 0)
        return float(beyond.mean(where=~holes))

    # For the pictures of a folder and for --verify; one, as it takes as much memory as a picture of floats.
    @lru_cache(maxsize=1)  # noqa: B019  it keeps one region alive
    def weight(self, height: int, width: int) -> Array:
        """Return the weight of the filtered picture, float32 ``(height, width)``; raises ParameterError."""
        import numpy as np

        inside = self.pixels(height, width)
        widest = self.feather + 1
        # One pixel more than the region on each side, from which distances are counted.
        rows, columns = (np.flatnonzero(inside.any(axis=axis)) for axis in (1, 0))
        part = np.s_[max(0, rows[0] - 1) : rows[-1] + 2, max(0, columns[0] - 1) : columns[-1] + 2]
        away = _distances(inside[part], widest)
        is_deep = away > widest - 1e-4
        away *= pi / widest
        weight = np.zeros((height, width), np.float32)
        weight[part] = 0.5 - 0.5 * np.cos(away, out=away)
        weight[part][is_deep] = 1  # exactly, so that these samples are not mixed
        weight.flags.writeable = False
        return weight

    def blended(self, own: Array, made: Array, holes: Holes | None, gray: Gray | None) -> Array:
        """Return the filtered planes ``made`` of a picture blended into its ``own``; may overwrite ``made``.

        ``gray`` are the gray levels of both, None if those of ``made`` are the picture's. Where the weight is 0,
        samples are copied. Missing samples are those of ``made``; ``holes`` is None if there are none.
        """
        import numpy as np

        from .output.rounding import rounded

        weight, is_whole = self.weight(*made.shape[1:]), made.dtype.kind in "iu"
        result = made if made.flags.writeable else made.copy()
        height, width = weight.shape
        step = max(1, ROWS_PIXELS // width)
        with np.errstate(invalid="ignore"):  # missing samples may be NaN or infinite
            if gray and (own.dtype, gray.white) != (made.dtype, gray.levels):
                levels = own * (gray.levels / gray.white)
                own = (rounded(levels).clip(gray.least, gray.levels) if is_whole else levels).astype(made.dtype)
            for rows in (np.s_[top : top + step] for top in range(0, height, step)):
                part, before, after = weight[rows], own[:, rows], result[:, rows]
                border, stays = (part > 0) & (part < 1), part == 0
                values = before[:, border].astype(np.float64)
                values += part[border] * (after[:, border] - values)
                mixed = rounded(values) if is_whole else values
                if holes is not None and holes.any():
                    mixed = np.where(holes[:, rows][:, border], after[:, border], mixed)
                    stays = stays & ~holes[:, rows]
                after[:, border] = mixed
                np.copyto(after, before, where=stays)
        return result


def region_of(
    region: AreaLike | None = None, protect: AreaLike | None = None, feather: float | None = None
) -> Region | None:
    """Return the region of options, None without any; raises ParameterError, and ReadError for a mask's file."""
    if region is None and protect is None:
        if feather is not None:
            raise ParameterError(
                f"feather {as_typed(feather)} is for the border of a region: give region or protect, too"
            )
        return None
    feather = FEATHER if feather is None else feather
    if isinstance(feather, bool) or not isinstance(feather, Real) or not 0 <= feather <= WIDEST:
        raise ParameterError(f"feather {as_typed(feather)} is not a width: give pixels from 0 to {WIDEST}")
    inside = None if region is None else area_of(region, "region")
    outside = None if protect is None else area_of(protect, "protect")
    return Region(inside, outside, float(feather))


def area_of(given: AreaLike, what: str) -> Area:
    """Return the area that an option gives: X,Y,W,H, the name of a mask's file, or in Python an array or an area."""
    if isinstance(given, Area):
        return replace(given, what=what)
    if isinstance(given, str) and (found := _RECTANGLE.fullmatch(given)):
        return _rectangle([int(each) for each in found.groups()], what, given)
    if isinstance(given, str) and _NUMBERS.fullmatch(given):
        raise ParameterError(f"{what} {given!r} is not a rectangle: give X,Y,W,H in pixels, such as 10,20,300,200")
    if isinstance(given, str | os.PathLike):
        made = Area.of_file(given, what)
    else:
        from .arrays import as_numpy

        check_unmasked(what, given)
        upright: Any = given  # xarray's may be transposed
        array = as_numpy(upright.transpose("y", "x") if {*getattr(given, "dims", ())} == {"y", "x"} else given)
        if array.shape == (4,) and array.dtype.kind in "iu":
            return _rectangle(array.tolist(), what, ",".join(map(str, array.tolist())))
        if array.ndim != 2 or array.dtype.kind not in "biuf":
            raise ParameterError(
                f"{what} of shape {array.shape} and type {array.dtype} is no part of a picture: give "
                "(x, y, width, height), a mask (height, width), or a file's name"
            )
        made = Area.of_mask(array != 0, what, f"<array of type {array.dtype}>")
    if not made.pixels(*made.box[:1:-1]).any():
        raise ParameterError(f"{made} is empty: all of its pixels are 0, and only others belong to it")
    return made


def _rectangle(box: list[int], what: str, text: str) -> Area:
    x, y, width, height = box
    if min(x, y) < 0 or min(width, height) < 1:
        raise ParameterError(f"{what} {text} is empty, or begins outside of pictures: give one such as 10,20,300,200")
    return Area(what, text, (x, y, width, height))


def _distances(inside: Array, widest: float) -> Array:
    """Return each pixel's distance to the nearest one that is not inside, up to ``widest``; float32."""
    import numpy as np

    height, width = inside.shape
    column, far = np.arange(width, dtype=np.int32), width + ceil(widest)
    along = np.empty((height, width), np.float32)
    for row, found in zip(inside, along, strict=True):
        before = np.maximum.accumulate(np.where(row, -far, column))
        behind = np.minimum.accumulate(np.where(row, 2 * far, column)[::-1])[::-1]
        found[:] = np.minimum(np.minimum(column - before, behind - column), widest) ** 2
    least = along.copy()  # sums of squares
    for apart in range(1, min(ceil(widest), height)):
        square = np.float32(apart * apart)
        np.minimum(least[apart:], along[:-apart] + square, out=least[apart:])
        np.minimum(least[:-apart], along[apart:] + square, out=least[:-apart])
    return np.sqrt(least, out=least)


RED, GREEN, BLUE = WEIGHTS = 0.299, 0.587, 0.114


def part_of(planes: Array, channels: Channels | None) -> Array:
    """Return what is filtered of a picture ``(channels, height, width)``: its planes; or Y, or R - Y and B - Y.

    The parts are float64. Gray pictures have a luminance, which is their plane, and no chroma. Raises ParameterError
    for pictures that are neither gray nor RGB.
    """
    if channels in (None, ALL):
        return planes
    if len(planes) == 1:
        return planes if channels == "luminance" else planes[:0]
    check_colors(channels, len(planes), "the picture")
    import numpy as np

    luma: Array = np.zeros(planes.shape[1:])
    for weight, plane in zip(WEIGHTS, planes, strict=True):
        luma += np.multiply(plane, weight, dtype=np.float64)
    return luma[None] if channels == "luminance" else planes[[0, 2]] - luma


def filtered_part(planes: Array, channels: Channels | None, filter_: Callable[[Array], Array]) -> Array:
    """Return a picture of which a part is filtered, in float64."""
    part = part_of(planes, channels)
    if part is planes:
        return filter_(planes)
    if not len(part):
        return planes.astype(float)
    import numpy as np

    lost = part - filter_(part)
    del part  # large pictures: no array stays longer than it is needed
    values = np.empty(planes.shape, lost.dtype)
    for value, plane, of_plane in zip(values, planes, of_channels(lost, channels), strict=True):
        np.subtract(plane, of_plane, out=value)
    return values


def of_channels(part: Array, channels: Channels | None) -> list[Array]:
    """Return red, green and blue of a part of a picture: Y for each, or R - Y, G - Y and B - Y; of no part itself."""
    if channels in (None, ALL):
        return list(part)
    if channels == "luminance":
        return [part[0]] * 3
    red, blue = part
    return [red, -(RED * red + BLUE * blue) / GREEN, blue]
