"""Pictures and volumes that do not fit into memory: in strips of rows, or of pages, with the result of the whole.

    read -> spectra of rows -> gains along columns -> [read again] -> rows, back -> pixels -> what grows

Beyond some columns of the spectrum most transfer functions are a constant c. Only the other columns are kept, with the
gains less c, and c times the picture is added when it is read again. They stay in memory if they fit, else in a
temporary file: it has no name, so that a killed run leaves none. A range of the picture's own takes one more pass.

Mirrored edges: the spectrum of a row and its mirror image is real but for a known phase, and is kept as real numbers.

Missing pixels: what is read is masked there. One more pass halves the picture some times, and fills what is left of it
(``missing.py``). From that, and from what lies within ``NEAR`` rows of its holes, each strip is filled.

:class:`Large` has what pictures and volumes have in common: the strips of a volume are those of ``volumes.py``.
"""

from __future__ import annotations

import shutil
import tempfile
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, product
from math import ceil, prod
from threading import Lock
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

import numpy as np

from .. import system
from ..arrays import PRECISIONS
from ..errors import MissingError, TooLargeError, WriteError
from ..missing import fill_by_numpy, halved
from ..output.histogram import binned, counted, ends
from ..output.modes import MODES, Auto, Range
from ..output.ramp import Gray, Quantized, joined, on_valid, pixels, ramps
from ..output.rounding import NOISE, WEAK
from ..plain import MANY, library
from ..transfer.grid import NEGLIGIBLE

if TYPE_CHECKING:
    from ..arrays import Array
    from ..output.modes import Output, Scale
    from ..transfer.product import EdgedGrid

    Read = Callable[[int, int], Array]  # masked where pixels are missing

# Samples of rows that are transformed at a time, so that they stay in a processor's cache. Of many threads each has
# more, as they wait for each other between NumPy's functions: the most threads that have so many.
AT_ONCE, FEW_THREADS = 1 << 18, 8
# The most columns of a block, and its least for each of several threads, as these wait for each other at each block;
# the most samples of a strip.
COLUMNS, FEW_COLUMNS, SAMPLES = 128, 4, 1 << 22
# The part of the free memory that is taken, as other programs and threads' own memory grow; that of columns.
TAKEN, OF_COLUMNS = 0.75, 1 / 3
# Bytes of Python with NumPy and the libraries of formats, and of those that are loaded later; the most that the gains
# of a block take beside their table; the most that strips take, as more would gain nothing.
PROGRAM, LIBRARIES, OF_GAINS, MOST = 60 << 20, 15 << 20, 24 << 20, 1 << 34
# How often a picture with missing pixels is halved at least; how many pixels of what is left lie on each side of a tile
# and decide on what fills it, a fourth of the tile's own; bytes for each sample that is filled.
HALVED, NEAR, FILLING = 4, 4, 56
FILLED_ALONE = Lock()  # by one thread at a time
# How many rows are looked at to see whether single precision is enough; what exceeds it is filtered in double.
PLACES = 8
QUIET = np.errstate(over="ignore", invalid="ignore")


class How(NamedTuple):
    """What becomes of a picture."""

    output: Output
    scale: Scale | None
    gray: Gray
    precision: str = "single"

    @property
    def own_range(self) -> bool:
        """Whether the range is the picture's own."""
        return MODES[self.output].is_scaled and not isinstance(self.scale, Range)


@dataclass(frozen=True)
class Plan(ABC):
    """The strips of a picture, and what they take."""

    shape: tuple[int, ...]  # channels, rows, width; of a volume channels, pages, height, width
    rows: int  # of a strip; of a volume pages
    threads: int
    bytes: int  # of memory
    kept: int  # bytes of what is kept of the spectra
    on_disk: bool
    beyond: float  # the gain of all that is not kept
    blocks: list[int]  # of columns, in which gains vary
    halved: int  # how often a picture with missing pixels is, to fill it

    name = "rows"

    @abstractmethod
    def large(self, read: Read, how: How, folder: str, **running: Any) -> Large:
        """Return what filters these strips, which ``read`` returns; ``folder`` is that of scratch."""

    @property
    def strips(self) -> list[tuple[int, int]]:
        """The first row of each strip, and the one behind its last."""
        height = self.shape[1]
        return [(start, min(start + self.rows, height)) for start in range(0, height, self.rows)]

    def steps(self, how: How) -> int:
        """Return how many strips and blocks are done until all is."""
        return (2 + how.own_range) * len(self.strips) + self.shape[0] * len(self.blocks)

    def said(self, how: How, folder: str) -> str:
        """Return the way in words."""
        readings = 2 + how.own_range if self.beyond else 1
        scratch = f" and {self.kept / 1e6:,.0f} MB of scratch in {folder}" if self.on_disk else ""
        count, name = len(self.strips), self.name[: None if self.rows > 1 else -1]
        of_rows = f"{count} strip{'s' * (count > 1)} of {self.rows} {name}"
        way = f"{of_rows}, by {self.by} in {readings} reading{'s' * (readings > 1)}{scratch}"
        program = max(PROGRAM, system.resident() + LIBRARIES)
        return f"in {way}; {(program + self.bytes) / 1e6:,.0f} MB of memory"

    @property
    def by(self) -> str:
        """The name of what filters."""
        return "NumPy"


@dataclass(frozen=True)
class PicturePlan(Plan):
    """The strips of rows of a picture."""

    grid: EdgedGrid
    columns: int  # of a block

    def large(self, read: Read, how: How, folder: str, **running: Any) -> LargePicture:
        return LargePicture(read, self, how, folder, **running)


def planned(
    shape: tuple[int, int, int],
    itemsize: int,
    grid: EdgedGrid,
    *,
    precision: str,
    units: tuple[int, int],
    room: int,
    most: int | None = None,
    may_miss: bool = False,
) -> PicturePlan:
    """Return the strips of a picture (channels, height, width) for so many bytes of memory; raises TooLargeError.

    ``units`` are how many rows are written together, and read together and kept; ``most`` how many threads there are,
    by default one for each core. Pixels ``may_miss``, so that filling them takes memory, too.
    """
    (channels, height, width), real = shape, PRECISIONS[precision][0].itemsize
    number, of_columns = real * (1 if _is_real(grid) else 2), room * OF_COLUMNS
    column = grid.height * (8 + 7 * real) + 2 * height * number
    threads, of_gains = most or system.cores(), min(OF_GAINS, 64 * grid.height * min(COLUMNS, _columns(grid)))
    while threads > 1 and threads * (of_gains + FEW_COLUMNS * threads * column) > of_columns:
        threads -= 1
    columns = max(1, min(COLUMNS, _columns(grid), int((of_columns / threads - of_gains) / column)))
    blocks, beyond = _varying(grid, columns)
    kept = channels * len(blocks) * columns * height * number
    on_disk = kept > room / 2
    left = room - kept * (not on_disk)
    filling = filling_of(shape, itemsize + real, room) if may_miss else (0, 0)
    beside = 2 * len(blocks) * columns * number, grid.width * 10 * real
    found = fitting(shape, itemsize, left, threads, units, real=real, filling=filling, beside=beside)
    rows, threads, taken = found
    taken = max(taken, int(threads * (columns * column + of_gains)))
    check_fits(rows, width, taken, left)
    whole = taken + kept * (not on_disk)
    return PicturePlan(shape, rows, threads, whole, kept, on_disk, beyond, blocks, filling[0], grid, columns)


def fitting(
    shape: tuple[int, int, int],
    itemsize: int,
    room: int,
    threads: int,
    units: tuple[int, int],
    *,
    real: int,
    filling: tuple[int, int],
    beside: tuple[int, int] = (0, 0),
) -> tuple[int, int, int]:
    """Return the rows of a strip, and how many threads and bytes these take; raises TooLargeError.

    ``real`` is the size of a filtered sample, ``filling`` what :func:`filling_of` returns if pixels may be missing, and
    ``beside`` what a row takes beside its samples, as long as its strip is there and while it is transformed.
    """
    (channels, height, width), (times, of_filling), may_miss = shape, filling, filling > (0, 0)
    # A strip as it is read, its values, flags and pixels, and the file's bytes; others wait for their turn.
    of_pixel = 3 * itemsize + real + 3 + (real + 2) * may_miss
    row, transform = channels * (width * of_pixel + beside[0]), beside[1]
    waiting = 2 * width * channels * itemsize

    def taken(rows: int) -> int:
        more = waiting * units[1] * (units[1] > 1) + of_filling
        return rows * (threads * row + waiting) + threads * min(rows, _at_once(width, threads)) * transform + more

    unit = units[0]
    while threads > 1 and taken(unit) > room:
        threads -= 1
    most_rows = max(SAMPLES // (channels * width), (4 * NEAR << times) * may_miss)
    free, part = room - taken(0), _at_once(width, threads)
    few = min(part, free // (threads * (row + transform) + waiting))  # are transformed all at once
    fits = min(height, most_rows, max(few, (free - threads * part * transform) // (threads * row + waiting)))
    rows = max(unit, fits // unit * unit)
    check_fits(rows, width, taken(rows), room)
    return rows, threads, taken(rows)


def check_fits(rows: int, width: int, taken: int, room: int) -> None:
    """Raise TooLargeError if strips of some rows take more bytes than there are for them."""
    if taken > room:
        raise TooLargeError(
            f"strips of {rows} rows of {width} pixels take {taken:,} bytes, more than the {max(0, room):,} that are "
            "free for them; give more memory, or save it in smaller strips or tiles"
        )


def filling_of(shape: tuple[int, ...], itemsize: int, room: int) -> tuple[int, int]:
    """Return how often a picture is halved to fill it in a part of some room, and the bytes that filling takes."""
    (channels, height, width), times = shape, HALVED

    def whole() -> int:
        return (8 * channels + FILLING) * -(-height >> times) * -(-width >> times)

    while whole() > room / 4 and max(height, width) >> times:
        times += 1
    near = NEAR << times
    return times, whole() + FILLING * (6 * near) ** 2 + channels * width * 2 * near * (itemsize + 2)


def _at_once(width: int, threads: int) -> int:
    """Return how many rows are transformed at a time by each thread: four are, by a processor's vectors."""
    return 4 * ceil(AT_ONCE * max(1, threads / FEW_THREADS) / (4 * width))


def _is_real(grid: EdgedGrid) -> bool:
    """Whether the spectra of rows stay real numbers, as gains do not change their phase."""
    return grid.edges == "mirror" and grid.transfer.is_even_along_axes


def _columns(grid: EdgedGrid) -> int:
    """Return how many columns a spectrum of real rows has."""
    return grid.width // 2 + (grid.edges == "wrap")


def _varying(grid: EdgedGrid, columns: int) -> tuple[list[int], float]:
    """Return the blocks of columns in which gains vary, and the gain of all others; 0 if there are none."""
    transfer, high, wide, last = grid.transfer, grid.height, grid.width, _columns(grid)
    number = ceil(last / columns)
    if transfer.radial:
        support = transfer.radial.support(high, wide)
        beyond, blocks = support.beyond, list(range(min(number, ceil(support.columns / columns))))
    else:
        *_, beyond = (float(gain[-1, -1]) for gain in transfer.bands(high, wide, high // 2 + 1, slice(last - 1, last)))
        limit, rows = NEGLIGIBLE * transfer.largest, high // 2 + 1 if transfer.is_even_along_axes else high

        def varies(block: int) -> bool:
            where = slice(block * columns, min((block + 1) * columns, last))
            return any(np.abs(gain - beyond).max() > limit for gain in transfer.bands(high, wide, rows, where))

        blocks = [block for block in range(number) if varies(block)]
    return blocks, beyond if len(blocks) < number else 0.0


class Spectra:
    """Numbers (channels, blocks, height, columns), in memory or in a file of a folder that has no name there."""

    def __init__(self, shape: tuple[int, ...], dtype: Any, folder: str | None) -> None:
        self._shape, self._dtype, self._folder, self._lock = shape, np.dtype(dtype), folder, Lock()
        self._array: Array | None = None
        if folder is None:
            self._array = np.empty(shape, dtype)
            return
        size, self._file = prod(shape) * self._dtype.itemsize, cast("BinaryIO", None)
        with self._at():
            if size > (free := shutil.disk_usage(folder).free):
                said = f"{size:,} bytes of scratch are needed, and {free:,} are free"
                raise WriteError(f"{folder}: {said}: --scratch takes another folder")
            self._file = cast("BinaryIO", tempfile.TemporaryFile(dir=folder))  # noqa: SIM115  closed with the spectra

    @contextmanager
    def _at(self, channel: int = 0, block: int = 0, row: int = 0) -> Iterator[BinaryIO]:
        _, blocks, height, columns = self._shape
        try:
            with self._lock:
                if self._file:
                    self._file.seek(((channel * blocks + block) * height + row) * columns * self._dtype.itemsize)
                yield self._file
        except OSError as error:
            why = f"scratch cannot be kept there ({error.strerror}): --scratch takes another folder"
            raise WriteError(f"{self._folder}: {why}") from error

    def put(self, channel: int, block: int, row: int, values: Array) -> None:
        """Put rows (n, columns) of a block, from one on."""
        if self._array is not None:
            self._array[channel, block, row : row + len(values)] = values
            return
        with self._at(channel, block, row) as file:
            file.write(np.ascontiguousarray(values, self._dtype).data.cast("B"))

    def get(self, channel: int, block: int, start: int, stop: int) -> Array:
        """Return rows of a block; they may be the numbers themselves."""
        if self._array is not None:
            return self._array[channel, block, start:stop]
        found = np.empty((stop - start, self._shape[3]), self._dtype)
        with self._at(channel, block, start) as file:
            file.readinto(found.data.cast("B"))  # type: ignore[attr-defined]
        return found

    def close(self) -> None:
        """Give back the memory, or the disk."""
        self._array = None
        with suppress(OSError, AttributeError):  # of what was not written yet, on a full disk; there may be no file
            self._file.close()


class Large(ABC):
    """What is filtered strip by strip; ``read`` returns its strips."""

    weak = WEAK

    def __init__(self, read: Read, plan: Any, how: How, *, submit: Any, advance: Any) -> None:
        self._read, self.plan, self._how, self._submit, self._advance = read, plan, how, submit, advance
        self._real, self._complex = PRECISIONS[how.precision]
        self._ramp: Any = None
        self.deviation = self.largest = 0.0
        self.coarse: Array | None = None  # what is left of a picture with missing pixels after some halvings, filled
        self.far: Callable[..., Any] | None = None  # lets a worker of a cluster do what a method of its name does

    def in_order(
        self, work: Callable[..., Any], items: Iterable[tuple[Any, ...]], *, counts: bool = True
    ) -> Iterator[Any]:
        """Yield the results of work on items, some of which other threads do ahead; ``counts`` them as steps."""
        waiting: deque[Any] = deque()
        for item in chain(items, [None] * (self.plan.threads + 1)):
            waiting.append(item and self._submit(work, *item))
            if len(waiting) > self.plan.threads and (first := waiting.popleft()):
                yield first.result()
                if counts:
                    self._advance()

    @abstractmethod
    def transform(self) -> None:
        """Read all, keep what is needed of its spectrum, and multiply it by the gains."""

    def halve(self) -> None:
        """Make ``coarse``, in a pass."""
        raise NotImplementedError

    @abstractmethod
    def values(self, start: int, stop: int, planes: Array | None = None) -> Array:
        """Return a filtered strip; ``planes`` is the strip as it is, if it was read."""

    @abstractmethod
    def close(self) -> None:
        """Give back what was kept."""

    def is_weak(self) -> bool:
        """Whether what passes is so little that single precision is not enough, as far as some rows tell."""
        if MODES[self._how.output].keeps_levels or self._real != np.float32:
            return False
        found = self.found()
        if found <= NOISE / 2 * self.deviation:
            return False  # nothing but rounding noise is left
        if isinstance(self._how.scale, Range):
            found = min(found, self._how.scale.high - self._how.scale.low)
        return not self.weak * self.deviation <= found < np.inf

    def found(self) -> float:
        """Return the largest magnitude of the values, as far as some rows tell."""
        rows = {self.plan.shape[1] * (2 * i + 1) // (2 * PLACES) for i in range(PLACES)}
        return max(float(np.abs(self.values(row, row + 1)).max()) for row in rows)

    def measure(self) -> None:
        """Make the ramp from values to pixels; a range of the picture's own takes a pass."""
        output, scale, gray, _ = self._how
        if MODES[output].is_values:
            return
        if self._how.own_range:
            found = [*self.in_order(partial(self.extremes, *counted(*self.plan.shape[-2:])), self.items())]
            self.largest = max(largest for largest, _ in found)
            if isinstance(scale, Auto):
                samples = np.concatenate([some for _, some in found])
                scale = ends(self.largest, binned(samples, self.largest), output, scale)
        (self._ramp,) = ramps(output, scale if isinstance(scale, Range) else None, gray=gray)
        self._ramp["undecided"] = 0
        if self._ramp["of_largest"]:
            self._ramp["stretch"] /= self.largest or 1
            self._ramp["white"] *= self.largest or 1
            self._ramp["of_largest"] = False
        if self._how.own_range and self.largest <= NOISE * self.deviation:
            self._ramp["stretch"], self._ramp["white"] = 0, np.inf

    def items(self) -> Iterator[tuple[Any, ...]]:
        """Return what the work on each strip takes: its first row, and the one behind its last."""
        yield from self.plan.strips

    def extremes(
        self, rows: int, columns: int, start: int, stop: int, planes: Array | None = None, *kept: Any
    ) -> tuple[float, Array]:
        """Return the largest magnitude of a strip, and those of every so many rows and columns of the picture."""
        if self.far:
            kept = (self.kept(start, stop),)
            return cast("tuple[float, Array]", self.far("extremes", rows, columns, start, stop, None, *kept))
        planes = self._read(start, stop) if planes is None and self.coarse is not None else planes
        values = self.values(start, stop, planes, *kept)
        if isinstance(planes, np.ma.MaskedArray):
            values = np.ma.MaskedArray(values, planes.mask)
        first = -start % rows if values.ndim == 3 else 0  # of volumes the rows of each page are counted
        low, high = (float(np.ma.filled(each, 0)) for each in (values.min(), values.max()))
        return max(high, -low), np.ma.compressed(np.abs(values[..., first::rows, ::columns]))

    def pixels(self, values: Array) -> Quantized:
        """Return values as pixels, some rows at a time; overwrites them."""
        if self._ramp is None:
            return pixels(values, None, 0.0, self._how.gray.dtype)
        rows = _at_once(values.shape[-1], self.plan.threads)
        parts = np.array_split(values, ceil(values.shape[-2] / rows), -2)
        return joined([pixels(part, self._ramp, 0.0, self._how.gray.dtype) for part in parts], values, -2)

    def made(self, start: int, stop: int, planes: Array | None = None, kept: Any = None, ramp: Any = None) -> Quantized:
        """Return a strip of pixels; the rest is as for :meth:`values`, and a worker of a cluster gets a ramp."""
        if self.far:
            return cast("Quantized", self.far("made", start, stop, None, self.kept(start, stop), self._ramp))
        self._ramp = ramp if kept else self._ramp
        planes = self._read(start, stop) if planes is None and self.coarse is not None else planes
        values = self.values(start, stop, planes, *[kept] * (kept is not None))
        if not isinstance(planes, np.ma.MaskedArray):
            return self.pixels(values)
        own = None if self._ramp is None else self._ramp.reshape(1)
        return on_valid(values, planes.data, np.ma.getmaskarray(planes), own, gray=self._how.gray, deviation=0.0)

    def kept(self, start: int, stop: int) -> Any:
        """Return what is kept of the spectra of a strip, as :meth:`values` takes it."""
        raise NotImplementedError


class LargePicture(Large):
    """A picture (channels, height, width)."""

    plan: PicturePlan

    def __init__(self, read: Read, plan: PicturePlan, how: How, folder: str, **running: Any) -> None:
        super().__init__(read, plan, how, **running)
        self._fft = library(MANY)[0]
        grid, (channels, height, _), last = plan.grid, plan.shape, _columns(plan.grid)
        self._is_mirrored = grid.edges == "mirror"
        self._dc = float(grid.transfer.gain(grid.height, grid.width, 1, 1)[0, 0])
        kept = [np.arange(each * plan.columns, min((each + 1) * plan.columns, last)) for each in plan.blocks]
        where = np.concatenate([np.empty(0, np.int64), *kept])
        self._phase = np.exp(1j * np.pi / grid.width * where).astype(self._complex)
        self._count, self._is_prefix = len(where), np.array_equal(where, np.arange(len(where)))
        self._where: Any = slice(len(where)) if self._is_prefix else where
        self.number = self._real if _is_real(grid) else self._complex
        self._size, self._folder = (channels, len(kept), height, plan.columns), folder if plan.on_disk else None
        self._spectra: Any = None

    @cached_property
    def _base(self) -> Array:
        _, height, width = self.plan.shape
        three = [self._whole(i * height // 4, i * height // 4 + 1)[:, 0, i * width // 4] for i in (1, 2, 3)]
        return np.asarray(np.sort(np.asarray(three, np.float64), axis=0)[1].astype(self._real))

    def halve(self) -> None:
        height, size = self.plan.shape[1], 1 << self.plan.halved
        rows = max(1, self.plan.rows // size) * size
        strips = [(start, min(start + rows, height)) for start in range(0, height, rows)]
        halves = np.concatenate([*self.in_order(self._halves, strips, counts=False)], axis=1)
        self.coarse = np.stack([fill_by_numpy(each[None], np.isnan(each[None]), is_finest=False)[0] for each in halves])

    def _halves(self, start: int, stop: int) -> Array:
        """Return what is left of a strip after some halvings, NaN where all is missing."""
        strip, size, made = self._read(start, stop), 1 << self.plan.halved, []
        planes, holes = np.asarray(strip), np.ma.getmaskarray(strip)
        for row in range(0, planes.shape[1], size):
            missing = holes[:, row : row + size]
            values = np.where(missing, 0.0, planes[:, row : row + size])
            for _ in range(self.plan.halved):
                values, missing = halved(values, missing)
            made.append(np.where(missing, np.nan, values))
        return np.concatenate(made, axis=1)

    def _whole(self, start: int, stop: int) -> Array:
        """Return a strip with its holes filled; raises MissingError if they are the first ones."""
        (_, height, width), size = self.plan.shape, 1 << self.plan.halved
        strip, near, tile = self._read(start, stop), NEAR * size, 4 * NEAR * size
        if not isinstance(strip, np.ma.MaskedArray):
            return strip
        if self.coarse is None:
            raise MissingError("pixels are missing")

        def around(first: int, last: int, most: int) -> slice:
            """Return what decides on the pixels from one up to another."""
            return slice(max(0, (first - near) // size * size), min(most, -(-(last + near) // size) * size))

        made, missing = np.array(strip, np.result_type(strip, self._real)), np.ma.getmaskarray(strip)
        places = product(range(len(made)), range(start, stop, tile), range(0, width, tile))
        with FILLED_ALONE:
            top = around(start, stop, height).start
            strip = self._read(top, around(start, stop, height).stop)
            planes, holes = np.asarray(strip), np.ma.getmaskarray(strip)
            for channel, row, column in places:
                own = channel, slice(row - start, min(row + tile, stop) - start), slice(column, column + tile)
                if not missing[own].any():
                    continue
                y, x = around(row, min(row + tile, stop), height), around(column, column + tile, width)
                part = slice(channel, channel + 1), slice(y.start - top, y.stop - top), x
                above = part[0], *(slice(at.start // size, -(-at.stop // size)) for at in (y, x))
                filled = fill_by_numpy(planes[part], holes[part], self.coarse[above])
                made[own] = filled[0, row - y.start :, column - x.start :][: own[1].stop - own[1].start, :tile]
        return made

    def transform(self) -> None:
        self._spectra = Spectra(self._size, self.number, self._folder)
        ends_of = np.array([*self.in_order(self._forward, self.plan.strips)])  # the lows and highs of each channel
        self.deviation = float(
            max((ends_of[:, 1].max(0) - self._base).max(), (self._base - ends_of[:, 0].min(0)).max())
        )
        blocks = ((i, j) for i in range(self.plan.shape[0]) for j in range(len(self.plan.blocks)))
        deque(self.in_order(self._along_columns, blocks), maxlen=0)

    def _forward(self, start: int, stop: int) -> list[Array]:
        made, ends_of = self.far("forward", start, stop) if self.far else self.forward(start, stop)
        for channel, block in np.ndindex(*self._size[:2]):
            where = slice(block * self.plan.columns, (block + 1) * self.plan.columns)
            self._spectra.put(channel, block, start, made[channel][:, where])
        return ends_of

    def forward(self, start: int, stop: int) -> tuple[list[Array], list[Array]]:
        """Return what is kept of the spectra of a strip's channels, and their lowest and highest values."""
        planes = self._whole(start, stop)
        made = [self.spectrum(plane, base) for plane, base in zip(planes, self._base, strict=True)]
        return made, [planes.min((1, 2)).astype(np.float64), planes.max((1, 2)).astype(np.float64)]

    def _along_columns(self, channel: int, block: int) -> None:
        kept = self._spectra.get(channel, block, 0, self.plan.shape[1])
        self._spectra.put(channel, block, 0, self.along(kept, block))

    def _slices(self, rows: int) -> Iterator[slice]:
        """Return the rows of a strip that are transformed at a time."""
        step = _at_once(self.plan.shape[2], self.plan.threads)
        return (slice(row, row + step) for row in range(0, rows, step))

    @QUIET
    def spectrum(self, plane: Array, base: float) -> Array:
        """Return the columns that are kept of the spectra of rows, less a base."""
        made = np.zeros((len(plane), len(self.plan.blocks) * self.plan.columns), self.number)
        for rows in self._slices(len(plane)) if self._count else ():
            values = np.subtract(plane[rows], base, dtype=self._real, casting="same_kind")
            numbers = cosines(self._fft, values, 1) if self._is_mirrored else self._fft.rfft(values, axis=1)
            made[rows, : self._count] = numbers[:, self._where]
        return made

    @QUIET
    def along(self, kept: Array, block: int) -> Array:
        """Return the columns of a block, of all rows, multiplied by the gains; overwrites them."""
        plan, fft, height = self.plan, self._fft, self.plan.shape[1]
        (transfer, high, wide, _), first = plan.grid, plan.blocks[block] * plan.columns
        where = slice(first, min(first + plan.columns, _columns(plan.grid)))
        rows = high // 2 + 1 if transfer.is_even_along_axes else high  # the lower ones have the gains of the upper ones
        gains = transfer.gain(high, wide, rows, where, real=self._real.str)
        gains -= plan.beyond
        columns = slice(gains.shape[1])  # the last block may have fewer than there is room for
        if _is_real(plan.grid):
            numbers = cosines(fft, kept, 0)
            numbers[:, columns] *= gains[:height]
            return cosines(fft, numbers, 0, back=True)
        is_scipy = {"overwrite_x": True} if hasattr(fft, "dct") else {}
        numbers = fft.fft(np.concatenate([kept, kept[::-1]]) if self._is_mirrored else kept, axis=0, **is_scipy)
        numbers[:rows, columns] *= gains
        if rows < high:
            numbers[rows:, columns] *= gains[1 : high - rows + 1][::-1]
        return np.asarray(fft.ifft(numbers, axis=0, **is_scipy)[:height])

    def values(self, start: int, stop: int, planes: Array | None = None, kept: Any = None) -> Array:
        """Return a filtered strip; ``planes`` are those that were read, ``kept`` what :meth:`kept` returns."""
        plan, kept = self.plan, self.kept(start, stop) if kept is None else kept
        if plan.beyond:
            planes = self._whole(start, stop) if planes is None else np.asarray(planes)
        made = np.empty((plan.shape[0], stop - start, plan.shape[2]), self._real)
        for channel, base in enumerate(self._base):
            self.back(kept[channel], base, planes if planes is None else planes[channel], made[channel])
        return made

    def kept(self, start: int, stop: int) -> list[list[Array]]:
        channels, blocks = self._size[:2]
        return [[self._spectra.get(i, j, start, stop) for j in range(blocks)] for i in range(channels)]

    @QUIET
    def back(self, kept: Sequence[Array], base: float, plane: Array | None, out: Array) -> None:
        """Fill rows with filtered values: of what is kept of their spectra, in parts; of what was read, if needed."""
        beyond, offset = self._real.type(self.plan.beyond), self._dc * float(base)
        if plane is not None and beyond:  # what is read has it, too
            base, offset = self._real.type(float(base) - offset / float(beyond)), 0.0
        for rows in self._slices(len(out)):
            values = out[rows]
            values[:] = 0 if not kept else self._backward(np.concatenate([part[rows] for part in kept], axis=1))
            if plane is not None and beyond:
                own = np.subtract(plane[rows], base, dtype=self._real, casting="same_kind")
                values += own if beyond == 1 else own * beyond
            if offset:
                values += self._real.type(offset)

    def _backward(self, kept: Array) -> Array:
        """Return the pixels of rows, less what is beyond the columns that were kept."""
        wide, width, is_real = self.plan.grid.width, self.plan.shape[2], _is_real(self.plan.grid)
        kept = kept[:, : self._count]
        kept = kept * self._phase if self._is_mirrored and not is_real else kept
        across = width if is_real else wide // 2 + 1
        if self._count < across and (is_real or not self._is_prefix):  # columns without gains lie between, and behind
            kept, given = np.zeros((len(kept), across), kept.dtype), kept
            kept[:, self._where] = given
        if is_real:
            return cosines(self._fft, kept, 1, back=True)
        return np.asarray(self._fft.irfft(kept, wide, axis=1)[:, :width])

    def close(self) -> None:
        if self._spectra:
            self._spectra.close()


def cosines(fft: Any, values: Array, axis: int, *, back: bool = False) -> Array:
    """Return the cosine transform of values along an axis, that of SciPy's ``dct``; or ``back``, ``idct``.

    It may take the values' place.
    """
    if hasattr(fft, "dct"):
        return np.asarray((fft.idct if back else fft.dct)(values, axis=axis, overwrite_x=True))
    values = np.moveaxis(values, axis, -1)  # NumPy's real transform of the even values and, backward, the odd ones
    n = values.shape[-1]
    turns = np.exp(0.5j * np.pi / n * np.arange(n // 2 + 1)).astype(np.result_type(values, np.complex64))
    if back:
        far = np.concatenate([np.zeros_like(values[..., :1]), values[..., : (n - 1) // 2 : -1]], axis=-1)
        mixed = fft.irfft((values[..., : n // 2 + 1] - 1j * far[..., : n // 2 + 1]) * turns / 2, n)
        made = np.empty_like(values)
        made[..., ::2], made[..., 1::2] = mixed[..., : (n + 1) // 2], mixed[..., : (n - 1) // 2 : -1]
    else:
        mixed = fft.rfft(np.concatenate([values[..., ::2], values[..., 1::2][..., ::-1]], axis=-1))
        mixed *= 2 * turns.conj()
        made = np.concatenate([mixed.real, -mixed.imag[..., (n - 1) // 2 : 0 : -1]], axis=-1)
    return np.moveaxis(made, -1, axis)


@contextmanager
def ready(
    read: Read,
    plan: Callable[[str], Plan],
    how: How,
    folder: str,
    advance: Callable[[], None] = lambda: None,
    *,
    far: Callable[..., Any] | None = None,
) -> Iterator[Large]:
    """Give a picture whose spectrum is filtered, again in double precision if single is not enough.

    ``far`` lets workers of a cluster do it: it takes a plan, ``how``, the name of a method and arguments.
    """
    coarse = None
    with ExitStack() as stack:
        threads = plan(how.precision).threads
        submit = stack.enter_context(system.threads(threads, "strip")).submit if threads > 1 else system.at_once
        while True:
            large = plan(how.precision).large(read, how, folder, submit=submit, advance=advance)
            large.far, large.coarse = far and partial(far, large.plan, how), coarse
            with closing(large):
                try:
                    large.transform()
                except MissingError as error:
                    if far:
                        raise TooLargeError("a cluster fills no missing pixels: leave --cluster out") from error
                    large.halve()
                    coarse = large.coarse
                    continue
                if not large.is_weak():
                    large.measure()
                    yield large
                    return
            how = how._replace(precision="double")


def free_room(most: int | None = None) -> int:
    """Return the bytes that strips may take."""
    library(MANY)  # SciPy, which is large, is loaded before what is free is looked at
    return int(TAKEN * min(each for each in (system.free_memory(), most, MOST) if each is not None))
