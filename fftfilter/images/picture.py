"""A picture in memory, between its file and the filter, and the memory that it takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import FftfilterError, ReadError, pip_install
from ..system import check_memory, is_bounded

if TYPE_CHECKING:
    from ..output.modes import Mode
    from .metadata import Metadata
    from .pages import PaletteRule

Samples = NDArray[Any]
Working = Callable[["Size"], int]

U8, U16, F32 = np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.float32)
LARGEST = float(np.finfo(F32).max)
MAXVAL_OF = {U8: 255, U16: 65535, F32: 1}  # the sample that stands for white, by type; only netpbm's files have others
# GDAL's part by which floats may differ from a nodata value, and that of sentinels, whose text has few digits.
_SAME, _SENTINEL, _SAME_SENTINEL = 1e-6, 1e30, 1e-2
_SMALL, _FEW = 256, 4  # pixels a side, and channels, of pictures whose memory is not worth counting
CLEAR = 255  # a GIF's entry for transparent pixels: the last one, in every frame of an animation
_LIBRARIES = {"FITS": ["astropy"], "MRC": ["mrcfile"], "DM": ["rsciio"], "EMD": ["rsciio", "h5py"]}
_LIBRARIES |= {"NETCDF": ["xarray", "h5netcdf", "h5py"], "SURFER": ["rasterio"]}
WHITE = 257  # tables have 16 bits, as in a TIFF; this times a level of 8 bits is the same color


@dataclass(eq=False, repr=False)
class Picture:
    """One image in memory: the planes that are filtered, and the rest, which passes through."""

    planes: Samples
    """(channels, height, width), uint8, uint16 or float32; channels 1 (gray) or 3 (RGB), and ``extra`` ones behind
    them. May be read-only."""
    alpha: Samples | None  # (height, width), of the planes' type, or None
    maxval: int  # the sample that stands for white: 255, 65535, or that of a PGM's header; 1 for float32
    format: str  # Pillow's name of the format that it came from ("PPM" for all of netpbm), which standard output gets
    metadata: Metadata | None = None  # None leaves them out of the output
    tiff_compression: int = 1  # the number that TIFF has for the compression of the file that it came from; 1 is none
    table: NDArray[np.uint16] | None = None  # the look-up table (3, 256) of a palette whose indices are the one plane
    tiff_tile: tuple[int, int] | None = None  # the height and width of the tiles of a TIFF
    # The type of the integers in the file that are float32 planes here: signed, or of more than 16 bits.
    integers: np.dtype[Any] | None = None
    nodata: float | None = None  # the value of samples that the file says are missing, if it says one
    # (height, width), or (channels, height, width): what a mask in the file, or in one beside it, shows.
    valid: NDArray[np.bool_] | None = None
    # How many channels are neither gray nor color nor alpha: samples of a TIFF whose meaning it does not say.
    extra: int = 0

    def stripped(self) -> Picture:
        """Return the picture without metadata, but for those that a filter needs."""
        return replace(self, metadata=self.metadata and self.metadata.stripped())

    def has_value(self, nodata: float) -> NDArray[np.bool_]:
        """Return which samples of the planes have a nodata value; of floats, which nearly do, as in GDAL."""
        with np.errstate(over="ignore"):  # a value beyond the type is its end there, or infinite
            if self.planes.dtype != F32 or self.integers is not None:
                return np.asarray(self.planes == float(nodata))
            part = _SAME_SENTINEL if abs(nodata) > _SENTINEL else _SAME
            near = min(max(nodata, -LARGEST), LARGEST) * (1 - part)
            low, high = sorted(np.array([near, nodata * (1 + part)]).astype(F32))
            return np.asarray((self.planes >= low) & (self.planes <= high))

    def refuse_not_finite(self, name: str, holes: Samples | None = None) -> None:
        """Raise ReadError for samples that are not finite, but for those in holes; ``name`` is the file's."""
        if self.planes.dtype != F32:
            return
        wrong = ~np.isfinite(self.planes)
        if holes is not None:
            wrong &= ~holes
        if count := np.count_nonzero(wrong):
            _, y, x = np.unravel_index(np.argmax(wrong), wrong.shape)
            raise ReadError(
                f"{name}: {count} of {wrong.size} samples are NaN, infinite or beyond single precision, the first at "
                f"x={x}, y={y}; replace them, for they would spread over the whole picture"
            )

    def cautions(self, mode: Mode, holes: Samples | None = None, *, is_of_floats: bool) -> list[str]:
        """Return a line about each surprise in an output of the valid samples, which is of floats or not."""
        said: list[str] = []
        if self.planes.dtype != F32:
            return said
        valid = True if holes is None else ~holes
        low, high = (extreme(self.planes, initial=0, where=valid) for extreme in (np.min, np.max))
        if max(-low, high) > _SENTINEL:
            far = low if -low > high else high
            said.append(f"samples of {far:.8g} look like missing pixels, but are filtered: give --nodata {far:.8g}")
        if mode.keeps_levels and not is_of_floats and (low < 0 or high > 1):
            said.append("samples below 0 or above 1 are black or white in OUT: write floats, to .tif, .pfm or .npy")
        if mode.is_absolute and self.integers is not None and is_of_floats:
            said.append("integers that are signed, or of more than 16 bits: the output has floats, from 0 to 1")
        if mode.is_absolute and low < 0:
            said.append("samples below 0: the output is the magnitude of the filtered values, which has no sign")
        return said


NOT_BY_STRIPS = "is not read by strips; save it as gray or RGB of 8, 16 or 32 bits"


class Strips(NamedTuple):
    """A picture that is larger than memory, some rows of which are read at a time."""

    picture: Picture  # the picture without its pixels: its planes have the shape, and take no memory
    # Returns the rows from one up to another, without metadata; for one or several threads.
    rows: Callable[[int, int], Picture]
    step: int = 1  # how many rows are stored together, so that they are read together, too
    beside: int = 0  # bytes of memory that reading and writing take beside these rows


def spread(first: Picture, height: int, rows: Callable[[int, int], Picture], step: int = 1, beside: int = 0) -> Strips:
    """Return a picture of so many rows, whose first one is given, and the function that reads them."""
    channels, _, width = first.planes.shape
    planes = np.broadcast_to(first.planes.dtype.type(0), (channels, height, width))
    alpha = None if first.alpha is None else np.broadcast_to(first.alpha.dtype.type(1), (height, width))

    def samples(start: int, stop: int) -> list[Samples]:
        part = rows(start, stop)
        return [part.planes] if part.alpha is None else [part.planes, part.alpha]

    def read(start: int, stop: int) -> Picture:
        planes, *alpha = bands(start, stop)
        return replace(first, planes=planes, alpha=alpha[0] if alpha else None)

    bands = Bands(samples, step, height)
    return Strips(replace(first, planes=planes, alpha=alpha), read, step, beside)


class Bands:
    """Arrays of rows that are stored ``step`` at a time: so they are read, and kept until others are."""

    def __init__(self, read: Callable[[int, int], list[Samples]], step: int, height: int) -> None:
        self._read, self._step, self._height = read, step, height
        self._lock, self._band, self._kept = Lock(), -1, list[Samples]()

    def __call__(self, start: int, stop: int) -> list[Samples]:
        """Return the rows from one up to another."""
        if self._step == 1:
            return self._read(start, stop)
        parts = []
        with self._lock:
            for band in range(start // self._step, -(-stop // self._step)):
                first = band * self._step
                if band != self._band:
                    self._kept, self._band = [], -1  # first, as both would take memory
                    self._kept, self._band = self._read(first, min(first + self._step, self._height)), band
                parts.append([each[..., max(start - first, 0) : stop - first, :] for each in self._kept])
        return [part[0] if len(part) == 1 else np.concatenate(part, axis=-2) for part in zip(*parts, strict=True)]


class Depth(NamedTuple):
    """How a file stores samples: their type, and the one that stands for white."""

    dtype: np.dtype[Any]
    maxval: int
    integers: np.dtype[Any] | None = None  # which floats are rounded to in the file

    def rounded(self, samples: Samples, missing: float | None = None) -> Samples:
        """Return floats as they are, or rounded to the integers of the file; NaN becomes ``missing``, or 0.

        Samples that are ``missing``, as far as single precision tells, become exactly that.
        """
        if self.integers is None:
            return samples
        limits, exact = np.iinfo(self.integers), samples.astype(np.float64)
        # The largest number of 64 bits is none of float64's.
        exact.clip(float(limits.min), np.nextafter(float(limits.max), 0), out=exact)
        exact[np.isnan(exact)] = missing or 0
        made = np.rint(exact, out=exact).astype(self.integers)
        if missing is not None and math.isfinite(missing):
            made[samples == np.float32(missing)] = min(max(int(missing), limits.min), limits.max)
        return made


class Size(NamedTuple):
    """The size of an image according to its header; its alpha is not counted."""

    width: int
    height: int
    channels: int
    bytes_per_sample: int
    pages: int = 1  # of its file; the size is that of the first

    @property
    def samples(self) -> int:
        """The number of samples of a page."""
        return self.width * self.height * self.channels

    @property
    def read(self) -> int:
        """The bytes that reading a page takes."""
        return 3 * self.bytes_per_sample * self.samples


def refuse_oversize(name: str, size: Size, working: Working | None = None) -> None:
    """Raise TooLargeError for a picture that takes more memory than is free; ``working`` is as for ``decode``."""
    is_small = max(size.width, size.height) <= _SMALL and size.channels <= _FEW and size.pages == 1
    if is_small and not is_bounded():
        return
    check_memory(size.height, size.width, max(size.read, working(size) if working else 0), name)


def refuse_missing(format_: str, name: str, error: type[FftfilterError] = ReadError) -> None:
    """Raise an error if a library is missing that a format needs."""
    for library in _LIBRARIES.get(format_, ()):
        if find_spec(library) is None:
            extra = {"FITS": "fits", "SURFER": "surfer"}.get(format_, "formats")
            raise error(f"{name}: {format_} needs {library}: {pip_install(extra=extra)}")


def samples_of(picture: Picture) -> Samples:
    """Return a picture's samples with its alpha last, (height, width, channels)."""
    alpha = picture.alpha
    bands = picture.planes if alpha is None else np.concatenate([picture.planes, alpha[None]])
    return np.ascontiguousarray(bands.transpose(1, 2, 0))


def stretched(samples: Samples, bits: int) -> Samples:
    """Return samples of fewer bits as such of 16 bits, with the same white."""
    made: Samples = np.rint(samples * (65535 / (2**bits - 1))).astype(U16)
    return made


def table_of(colors: NDArray[Any], rule: PaletteRule) -> NDArray[np.uint16] | None:
    """Return a palette as a table (3, 256) if indices are to be filtered, else None; ``colors`` are (entries, 3).

    By itself a palette is a table if it has 256 entries that are not all gray, of 32 colors or more, and each differs
    from the next by at most 20 of 255 in each channel, but for two at most: tables of display programs run smoothly
    from color to color, with other colors at an end for what is too dark or too bright. Colors chosen for a picture
    jump, and those of a map of two classes are filled up by black.
    """
    if rule == "colors" or not len(colors):
        return None
    if rule == "auto":
        steps = np.abs(np.diff(colors.astype(np.int64), axis=0)).max(axis=1, initial=0)
        is_gray = (colors == colors[:, :1]).all()
        is_smooth = np.count_nonzero(steps > 20 * WHITE) <= 2 and len(np.unique(colors, axis=0)) >= 32
        if len(colors) < 256 or is_gray or not is_smooth:
            return None
    return np.pad(colors.astype(np.uint16), ((0, 256 - len(colors)), (0, 0)), mode="edge").T
