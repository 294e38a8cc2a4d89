"""Pictures that do not fit into memory: filtered by strips of rows, with the result of the whole.

    read -> spectra of rows -> gains along columns -> [read again] -> rows, back -> pixels -> a file that grows

Beyond some columns of the spectrum most transfer functions are a constant c. Only the other columns are kept, with the
gains less c, and c times the picture is added when it is read again. They stay in memory if they fit, else in a
temporary file: it has no name, so that a killed run leaves none. A range of the picture's own takes one more pass.

Mirrored edges: the spectrum of a row and its mirror image is real but for a known phase, and is kept as real numbers.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from io import BytesIO
from math import ceil, lcm, prod
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

import numpy as np

from .. import images, system
from ..arrays import PRECISIONS, check_finite, check_image, gray_of, pixel_type
from ..errors import ParameterError, TooLargeError, WriteError, check_option
from ..files import sources
from ..files.atomic import growing, is_special
from ..files.messages import as_error, shown
from ..files.urls import is_url
from ..output.histogram import binned, counted, ends
from ..output.modes import MODES, Auto, Range, check_scale, scale_of
from ..output.ramp import Gray, Quantized, pixels, ramps
from ..output.rounding import NOISE, WEAK
from ..plain import MANY, library
from ..text import bytes_of
from ..transfer.edges import EDGES, EdgedGrid, grid_with
from ..transfer.grid import NEGLIGIBLE
from .done import Done
from .opened import Frame, Opened, for_pixels_of

if TYPE_CHECKING:
    from ..arrays import Array
    from ..files.messages import FileName
    from ..images.pages import Sink
    from ..output.modes import Output, Scale
    from ..transfer import Transfer
    from ..transfer.edges import Edges
    from .recipe import Recipe

    Read = Callable[[int, int], Array]
    Shape = tuple[int, int, int]

# Rows that are transformed at a time, so that they stay in a processor's cache.
AT_ONCE = 16
# The most columns of a block, and samples of a strip.
COLUMNS, SAMPLES = 128, 1 << 22
# The part of the free memory that is taken, as other programs and threads' own memory grow; that of columns.
TAKEN, OF_COLUMNS = 0.75, 1 / 3
# Bytes of Python with NumPy and the libraries of formats; those that the gains of a block take beside their table; the
# most that strips take, as more would gain nothing.
PROGRAM, OF_GAINS, MOST = 60 << 20, 24 << 20, 1 << 34
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


class Plan(NamedTuple):
    """The strips of a picture, and what they take."""

    grid: EdgedGrid
    shape: Shape
    rows: int  # of a strip
    columns: int  # of a block
    blocks: list[int]  # in which gains vary
    beyond: float  # the gain of all others
    threads: int
    bytes: int  # of memory
    kept: int  # bytes of the spectra of all rows
    on_disk: bool

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
        way = f"{len(self.strips)} strips of {self.rows} rows, by {readings} reading{'s' * (readings > 1)}{scratch}"
        return f"in {way}; {(PROGRAM + self.bytes) / 1e6:,.0f} MB of memory"


def planned(shape: Shape, itemsize: int, grid: EdgedGrid, *, precision: str, units: tuple[int, int], room: int) -> Plan:
    """Return the strips of a picture (channels, height, width) for so many bytes of memory; raises TooLargeError.

    ``units`` are how many rows are written, and read, together.
    """
    (channels, height, width), real = shape, PRECISIONS[precision][0].itemsize
    number, of_columns = real * (1 if _is_real(grid) else 2), room * OF_COLUMNS
    column = grid.height * (8 + 7 * real) + 2 * height * number
    threads = max(1, min(system.cores(), int(of_columns / (OF_GAINS + AT_ONCE * column))))
    columns = max(1, min(COLUMNS, _columns(grid), int((of_columns / threads - OF_GAINS) / column)))
    blocks, beyond = _varying(grid, columns)
    kept = channels * len(blocks) * columns * height * number
    on_disk = kept > room / 2
    left, chunk = room - kept * (not on_disk), AT_ONCE * grid.width * 10 * real
    # A strip as it is read, its values, flags and pixels, and the file's bytes; others wait for their turn.
    row = channels * (width * (3 * itemsize + real + 3) + 2 * len(blocks) * columns * number)
    waiting = 2 * width * channels * itemsize

    def taken(rows: int) -> int:
        return rows * (threads * row + waiting) + threads * chunk + waiting * units[1] * (units[1] > 1)

    unit = lcm(*units) if taken(lcm(*units)) <= left else units[0]
    threads = threads if taken(unit) <= left else 1
    fits = min(height, SAMPLES // (channels * width), (left - taken(0)) // (threads * row + waiting))
    rows = max(unit, fits // unit * unit)
    whole = max(taken(rows), int(threads * (columns * column + OF_GAINS))) + kept * (not on_disk)
    if whole > room:
        raise TooLargeError(
            f"strips of {unit} rows of {width} pixels take {whole:,} bytes, more than the {room:,} that are free for "
            "them; give more memory, or save it in smaller strips or tiles"
        )
    return Plan(grid, shape, rows, columns, blocks, beyond, threads, whole, kept, on_disk)


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
        size, self._file = prod(shape) * self._dtype.itemsize, cast("BinaryIO", None)
        if folder is None:
            self._file = BytesIO()
            self._file.seek(size)
            self._file.write(b"\0")  # all at once, as it would grow beyond its size
            return
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
        with self._at(channel, block, row) as file:
            file.write(np.ascontiguousarray(values, self._dtype).data.cast("B"))

    def get(self, channel: int, block: int, start: int, stop: int) -> Array:
        """Return rows of a block."""
        found = np.empty((stop - start, self._shape[3]), self._dtype)
        with self._at(channel, block, start) as file:
            file.readinto(found.data.cast("B"))  # type: ignore[attr-defined]
        return found

    def close(self) -> None:
        """Give back the memory, or the disk."""
        with suppress(OSError):  # of what was not written yet, on a full disk
            self._file.close()


class Large:
    """A picture (channels, height, width) that is filtered strip by strip; ``read`` returns its rows."""

    def __init__(self, read: Read, plan: Plan, how: How, folder: str, *, submit: Any, advance: Any) -> None:
        self._read, self.plan, self._how, self._submit, self._advance = read, plan, how, submit, advance
        self._fft, (self._real, self._complex) = library(MANY)[0], PRECISIONS[how.precision]
        grid, (channels, height, width), last = plan.grid, plan.shape, _columns(plan.grid)
        self._is_mirrored = grid.edges == "mirror"
        self._dc = float(grid.transfer.gain(grid.height, grid.width, 1, 1)[0, 0])
        kept = [np.arange(each * plan.columns, min((each + 1) * plan.columns, last)) for each in plan.blocks]
        self._where = np.concatenate([np.empty(0, np.int64), *kept])
        turns = np.exp(1j * np.pi / grid.width * np.arange(last)).astype(self._complex)
        self._phase, self._turns = turns[self._where], turns[: width // 2 + 1] / 2
        self._nearer = np.minimum(self._where, width - self._where) if self._is_mirrored else self._where
        is_prefix = np.array_equal(self._nearer, np.arange(len(self._where)))
        self._taken: Any = slice(len(self._where)) if is_prefix else self._nearer  # a copy less
        three = [read(i * height // 4, i * height // 4 + 1)[:, 0, i * width // 4] for i in (1, 2, 3)]
        self._base = np.sort(np.asarray(three, np.float64), axis=0)[1].astype(self._real)
        number, size = self._real if _is_real(grid) else self._complex, (channels, len(kept), height, plan.columns)
        self._spectra = Spectra(size, number, folder if plan.on_disk else None)
        self._ramp: Any = None
        self.deviation = self.largest = 0.0

    def in_order(self, work: Callable[..., Any], items: Iterable[tuple[int, ...]]) -> Iterator[Any]:
        """Yield the results of work on items, some of which other threads do ahead."""
        waiting: deque[Any] = deque()
        for item in (*items, *[None] * (self.plan.threads + 1)):
            waiting.append(item and self._submit(work, *item))
            if len(waiting) > self.plan.threads and (first := waiting.popleft()):
                yield first.result()
                self._advance()

    def transform(self) -> None:
        """Read the picture, and multiply its spectrum by the gains."""
        ends_of = np.array([*self.in_order(self._forward, self.plan.strips)])  # the lows and highs of each channel
        self.deviation = float(
            max((ends_of[:, 1].max(0) - self._base).max(), (self._base - ends_of[:, 0].min(0)).max())
        )
        blocks = ((i, j) for i in range(self.plan.shape[0]) for j in range(len(self.plan.blocks)))
        deque(self.in_order(self._along_columns, blocks), maxlen=0)

    @QUIET
    def _forward(self, start: int, stop: int) -> list[Array]:
        planes, count, columns = self._read(start, stop), len(self._where), self.plan.columns
        for channel, (plane, base) in enumerate(zip(planes, self._base, strict=True)):
            made = np.zeros((stop - start, len(self.plan.blocks) * columns), self._complex)
            for row in range(0, len(plane), AT_ONCE) if count else ():
                values = np.subtract(plane[row : row + AT_ONCE], base, dtype=self._real, casting="same_kind")
                if self._is_mirrored:  # a cosine transform is one of the even pixels and, backward, the odd ones
                    values = np.concatenate([values[:, ::2], values[:, 1::2][:, ::-1]], axis=1)
                made[row : row + AT_ONCE, :count] = self._fft.rfft(values, axis=1)[:, self._taken]
            if self._is_mirrored:
                np.conjugate(made[:, :count], out=made[:, :count], where=self._nearer != self._where)
                made[:, :count] *= 2 * self._phase.conj()
                made.imag = 0
            for block in range(len(self.plan.blocks)):
                part = made[:, block * columns : (block + 1) * columns]
                self._spectra.put(channel, block, start, part.real if _is_real(self.plan.grid) else part)
        return [planes.min((1, 2)).astype(np.float64), planes.max((1, 2)).astype(np.float64)]

    @QUIET
    def _along_columns(self, channel: int, block: int) -> None:
        plan, fft, height = self.plan, self._fft, self.plan.shape[1]
        (transfer, high, wide, _), is_real = plan.grid, _is_real(plan.grid)
        first = plan.blocks[block] * plan.columns
        where = slice(first, min(first + plan.columns, _columns(plan.grid)))
        gains = transfer.gain(high, wide, high // 2 + 1 if is_real else high, where, real=self._real.str)
        gains -= plan.beyond
        kept = self._spectra.get(channel, block, 0, height)
        values = kept[:, : gains.shape[1]]
        if is_real:
            values[:] = self._by_cosines(values, gains)
        else:
            values = fft.fft(np.concatenate([values, values[::-1]]) if self._is_mirrored else values, axis=0)
            values *= gains
            kept[:, : gains.shape[1]] = fft.ifft(values, axis=0)[:height]
        self._spectra.put(channel, block, 0, kept)

    def _by_cosines(self, values: Array, gains: Array) -> Array:
        """Return columns of which the cosine transform is multiplied by gains (height + 1, columns)."""
        height, half = len(values), (len(values) + 1) // 2
        mixed = self._fft.rfft(np.concatenate([values[::2], values[1::2][::-1]]), axis=0)
        near = np.arange(len(mixed))
        turns = np.exp(1j * np.pi / (2 * height) * near).astype(self._complex)[:, None]
        mixed *= turns.conj()
        mixed.real *= gains[near]
        mixed.imag *= gains[height - near]  # these are the numbers of the other half
        mixed *= turns
        mixed, made = self._fft.irfft(mixed, height, axis=0), np.empty_like(values)
        made[::2], made[1::2] = mixed[:half], mixed[half:][::-1]
        return made

    @QUIET
    def values(self, start: int, stop: int, planes: Array | None = None) -> Array:
        """Return filtered rows (channels, stop - start, width); ``planes`` are these rows, if they were read."""
        (channels, _, width), beyond = self.plan.shape, self.plan.beyond
        values, count = np.zeros((channels, stop - start, width), self._real), len(self._where)
        if beyond and planes is None:
            planes = self._read(start, stop)
        for channel, base in enumerate(self._base):
            parts = [self._spectra.get(channel, j, start, stop) for j in range(len(self.plan.blocks))]
            for row in range(0, stop - start, AT_ONCE):
                rows = slice(row, row + AT_ONCE)
                if parts:
                    kept = np.concatenate([part[rows] for part in parts], axis=1)[:, :count]
                    values[channel, rows] = self._backward(kept)
                if planes is not None and beyond:
                    own = np.subtract(planes[channel, rows], base, dtype=self._real, casting="same_kind")
                    values[channel, rows] += own if beyond == 1 else own * self._real.type(beyond)
                values[channel, rows] += self._real.type(self._dc * float(base))
        return values

    def _backward(self, kept: Array) -> Array:
        """Return the pixels of rows, less what is beyond the columns that were kept."""
        wide, width, fft = self.plan.grid.width, self.plan.shape[2], self._fft
        is_real, half = _is_real(self.plan.grid), (width + 1) // 2
        kept = kept * self._phase if self._is_mirrored and not is_real else kept
        if is_real or self._where[-1] >= len(self._where):  # columns without gains lie between
            kept, given = np.zeros((len(kept), wide // 2 + 1), kept.dtype), kept
            kept[:, self._where] = given
        if not is_real:
            return np.asarray(fft.irfft(kept, wide, axis=1)[:, :width])
        near = np.arange(width // 2 + 1)
        both = (kept[:, near] - 1j * kept[:, width - near]) * self._turns
        mixed, values = fft.irfft(both, width, axis=1), np.empty((len(kept), width), self._real)
        values[:, ::2], values[:, 1::2] = mixed[:, :half], mixed[:, half:][:, ::-1]
        return values

    def is_weak(self) -> bool:
        """Whether what passes is so little that single precision is not enough, as far as some rows tell."""
        if MODES[self._how.output].keeps_levels or self._real != np.float32:
            return False
        rows = {self.plan.shape[1] * (2 * i + 1) // (2 * PLACES) for i in range(PLACES)}
        found = max(float(np.abs(self.values(row, row + 1)).max()) for row in rows)
        if found <= NOISE / 2 * self.deviation:
            return False  # nothing but rounding noise is left
        if isinstance(self._how.scale, Range):
            found = min(found, self._how.scale.high - self._how.scale.low)
        return not WEAK * self.deviation <= found < np.inf

    def measure(self) -> None:
        """Make the ramp from values to pixels; a range of the picture's own takes a pass."""
        output, scale, gray, _ = self._how
        if MODES[output].is_values:
            return
        if self._how.own_range:
            found = [*self.in_order(partial(self._extremes, *counted(*self.plan.shape[1:])), self.plan.strips)]
            self.largest = max(largest for largest, _ in found)
            if isinstance(scale, Auto):
                samples = np.concatenate([some for _, some in found], axis=1)
                scale = ends(self.largest, binned(samples, self.largest), output, scale)
        (self._ramp,) = ramps(output, scale if isinstance(scale, Range) else None, gray=gray)
        self._ramp["undecided"] = 0
        if self._ramp["of_largest"]:
            self._ramp["stretch"] /= self.largest or 1
            self._ramp["white"] *= self.largest or 1
            self._ramp["of_largest"] = False
        if self._how.own_range and self.largest <= NOISE * self.deviation:
            self._ramp["stretch"], self._ramp["white"] = 0, np.inf

    def _extremes(self, rows: int, columns: int, start: int, stop: int) -> tuple[float, Array]:
        values = self.values(start, stop)
        return float(max(values.max(), -values.min())), np.abs(values[:, -start % rows :: rows, ::columns])

    def pixels(self, values: Array) -> Quantized:
        """Return values as pixels; overwrites them."""
        return pixels(values, self._ramp, 0.0, self._how.gray.dtype)

    def close(self) -> None:
        """Give back what was kept."""
        self._spectra.close()


@contextmanager
def ready(
    read: Read, plan: Callable[[str], Plan], how: How, folder: str, advance: Callable[[], None] = lambda: None
) -> Iterator[Large]:
    """Give a picture whose spectrum is filtered, again in double precision if single is not enough."""
    with ExitStack() as stack:
        threads = plan(how.precision).threads
        submit = stack.enter_context(system.threads(threads, "strip")).submit if threads > 1 else system.at_once
        while True:
            large = Large(read, plan(how.precision), how, folder, submit=submit, advance=advance)
            try:
                large.transform()
                if not large.is_weak():
                    large.measure()
                    yield large
                    return
            finally:
                large.close()
            how = how._replace(precision="double")


def _room(most: int | None = None) -> int:
    """Return the bytes that strips may take."""
    return int(TAKEN * min(each for each in (system.free_memory(), most, MOST) if each is not None))


# Files


def refused(recipe: Recipe) -> str:
    """Return why a recipe's filter takes the whole picture, in words; "" if it is filtered by strips."""
    transfer, engine = recipe.transfer, recipe.options.get("engine")
    reasons = {
        f"{recipe.how.name} takes the spectrum of the whole": recipe.method != "plain",
        "waves are looked for in the whole: find them in a part with 'fftfilter peaks', and give these": recipe.auto,
        "gains follow from the spectrum of the whole: give them, such as --angle with --width": transfer.is_fitted,
        "a mask whose gains are not even takes the whole": not transfer.is_even,
        "channels are filtered differently: leave --in-channels out": transfer.is_by_channel,
        "--region and --protect take the whole: leave them out": recipe.region,
        "--missing with a mask takes the whole: leave it out": recipe.missing.mask,
        "--ratio takes the whole: leave it out": recipe.ratio,
        "--ignore takes the whole: leave it out": recipe.ignore is not None,
        "luminance and chroma are parts of the whole: leave --channels out": recipe.channels,
        f"the {engine} engine takes the whole: leave --engine out": engine not in (None, "fused", "numpy"),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


class LargeFile:
    """A file that is filtered by strips.

    ``scratch`` is the folder of a temporary file, by default that of the target. Raises TooLargeError for what takes
    the whole picture, and ReadError, WriteError and ParameterError.
    """

    def __init__(self, source: FileName, target: FileName, recipe: Recipe, scratch: str | None = None) -> None:
        if reason := refused(recipe):
            raise TooLargeError(reason)
        name, keeps = shown(source, "standard input"), recipe.keeps_levels
        self._source, self._target = images.by_strips(source, recipe.pages._replace(keeps_levels=keeps)), target
        picture = self._source.picture.stripped() if recipe.strip else self._source.picture
        transfer, pixel_size = for_pixels_of(picture, recipe.transfer, name)
        transfer = transfer if recipe.depth is None else transfer.with_depth(recipe.depth)
        self.opened = Opened(name, picture, recipe, transfer, pixel_size, target=target)
        self.opened.identity = sources.identity(source)
        self.opened.times = sources.times(source) if recipe.preserve_times else None
        suffix = images.check_fits(picture, target, format=recipe.format)
        depth = images.depth_as(suffix, picture, is_real=recipe.mode.is_values, keeps_levels=keeps)
        self._frame = Frame(picture, suffix, depth, transfer)
        if (unit := images.strip_rows(suffix, picture, depth)) is None:
            raise TooLargeError(f"a {suffix} is written as a whole: take .tif, .pgm, .ppm or .npy")
        self._unit = unit
        to, precision = os.fsdecode(target), recipe.options.get("precision", "single")
        is_stream = is_url(target) or to == "-" or is_special(Path(to))
        self.folder = scratch or (tempfile.gettempdir() if is_stream else str(Path(os.path.realpath(to)).parent))
        self.how = How(recipe.output, recipe.scale, Gray(picture.maxval, depth.dtype, depth.maxval), precision)
        self._plans: dict[str, Plan] = {}

    def plan(self, precision: str) -> Plan:
        """Return the strips, as they were planned first; raises TooLargeError."""
        if precision not in self._plans:
            recipe, picture, transfer = self.opened.recipe, self._frame.picture, self._frame.transfer
            transfer = transfer.keeping_mean() if recipe.mode.keeps_mean else transfer
            grid, shape = grid_with(recipe.edges, transfer, *picture.planes.shape[1:]), picture.planes.shape
            how: dict[str, Any] = {"units": (self._unit, self._source.step), "room": _room()}
            itemsize = picture.planes.itemsize * (1 if picture.alpha is None else 2)
            self._plans[precision] = planned(shape, itemsize, grid, precision=precision, **how)
        return self._plans[precision]

    def read(self, start: int, stop: int) -> Array:
        """Return rows as they are in the file; raises TooLargeError if pixels are missing."""
        part, name = self._source.rows(start, stop), self.opened.name
        part.integers = self._frame.picture.integers
        if self.opened.recipe.holes(part, name) is not None:
            raise TooLargeError(
                f"{name}: pixels are missing in the rows {start} to {stop - 1}, which are not filled strip by strip: "
                "give values in their place and --missing none, or more memory"
            )
        return part.planes

    def write(self, advance: Callable[[], None]) -> Done:
        """Filter the picture, and write it; the target appears whole or not at all."""
        opened, frame, name = self.opened, self._frame, shown(self._target, "standard output")
        picture, done = frame.picture, Done(1, frame.picture.planes.shape, str(frame.picture.planes.dtype))
        done.cautions, done.has_table = opened.cautions(frame), picture.table is not None
        opened.tell(frame, self._target)

        def made(large: Large, sink: Sink, start: int, stop: int) -> tuple[Any, Done]:
            is_read = large.plan.beyond or picture.alpha is not None
            part = self._source.rows(start, stop) if is_read else picture
            result = large.pixels(large.values(start, stop, part.planes if is_read else None))
            own = replace(picture, planes=result.pixels, alpha=picture.alpha if picture.alpha is None else part.alpha)
            own.maxval, own.integers = frame.depth.maxval, frame.depth.integers
            own.metadata = None if start else picture.metadata
            encoded, lost = images.encoded(own, frame.suffix, name, partial(sink.encode, milliseconds=None))
            largest, size = max(large.largest, result.largest), result.pixels.size
            return encoded, Done(samples=size, clipped=result.clipped, extremes=(0.0, largest), left_out=lost)

        with (
            ready(self.read, self.plan, self.how, self.folder, advance) as large,
            as_error(WriteError, f"{name}: cannot be written"),
            growing(self._target, opened.times, spare=opened.spare, lost=done.left_out) as file,
        ):
            sink = images.sink(file, frame.suffix, opened.recipe.coding, height=picture.planes.shape[1])
            for encoded, of_strip in large.in_order(partial(made, large, sink), large.plan.strips):
                sink.add(encoded)
                done.add(of_strip)
            sink.finish()
        done.left_out = [*dict.fromkeys([*opened.left_out, *done.left_out])]
        return done


# Arrays


def filter_large(
    source: Any,
    target: Any,
    transfer: Transfer,
    *,
    output: Output = "keep",
    scale: Any = None,
    edges: Edges = "mirror",
    precision: str = "single",
    memory: int | str | None = None,
    scratch: str | os.PathLike[str] | None = None,
    white: float | None = None,
) -> None:
    """Filter an array that does not fit into memory into another one, some rows at a time.

    ``source`` and ``target`` are ``(height, width)``, or ``(channels, height, width)`` with one scale for all channels,
    and have slices: arrays of NumPy, ``numpy.memmap`` among them, zarr and h5py; ``source`` may be one of Dask.
    ``target`` may not be ``source``. What becomes of the values is as for :class:`Filter`, with the type of ``target``:
    uint8, uint16 or float32.

    ``memory`` is how many bytes may be taken, such as "2GB", by default what is free; ``scratch`` the folder for a
    temporary file, if one is needed, by default the system's. ``white`` is the value that is white, by default the
    largest of the type, 1 for floats. Raises ParameterError, TooLargeError if no strip fits, and WriteError if the
    disk is full.

    >>> np.save("field.npy", image)
    >>> field = np.load("field.npy", mmap_mode="r")
    >>> flat = np.lib.format.open_memmap("flat.npy", "w+", field.dtype, field.shape)
    >>> fftfilter.filter_large(field, flat, H.highpass("200px", shape="gaussian"), memory="2GB")
    """
    from ..filters import check_transfer

    check_transfer(transfer)
    for name, given, known in (
        ("output", output, MODES),
        ("edges", edges, EDGES),
        ("precision", precision, PRECISIONS),
    ):
        check_option(name, given, known)
    range_ = scale_of(scale)
    check_scale(output, range_)
    channels = len(source.shape) == 3
    check_image(tuple(source.shape), np.dtype(source.dtype), 0 if channels else None)
    if tuple(target.shape) != tuple(source.shape):
        raise ParameterError(f"target has the shape {tuple(target.shape)}: give one of {tuple(source.shape)}")
    if transfer.is_fitted or transfer.is_by_channel or not transfer.is_even:
        raise ParameterError(
            f"{transfer} takes the whole picture: give gains that are even, and the same for all channels"
        )
    mode, room = MODES[output], _room(None if memory is None else bytes_of(memory))
    gray = gray_of({"dtype": target.dtype, "white": white}, pixel_type(np.dtype(source.dtype)))
    if mode.is_values and gray.dtype.kind != "f":
        raise ParameterError(f"output real gives floats, and target has the type {gray.dtype}: give one of float32")
    shape = tuple(source.shape) if channels else (1, *source.shape)
    grid = grid_with(edges, transfer.keeping_mean() if mode.keeps_mean else transfer, *shape[1:])
    units = _chunk(target), _chunk(source)

    def read(start: int, stop: int) -> Array:
        planes = np.asarray(source[..., start:stop, :]).reshape(shape[0], stop - start, shape[2])
        if planes.dtype.kind == "f":
            check_finite(planes)
        return planes * np.uint8(255) if planes.dtype.kind == "b" else planes

    def plan(precision: str) -> Plan:
        itemsize = np.dtype(source.dtype).itemsize
        return planned(shape, itemsize, grid, precision=precision, units=units, room=room)

    how = How(output, range_, gray, precision)
    with ready(read, plan, how, os.fspath(scratch or tempfile.gettempdir())) as large:

        def made(start: int, stop: int) -> tuple[int, Array]:
            return start, large.pixels(large.values(start, stop)).pixels

        for start, strip in large.in_order(made, large.plan.strips):
            target[..., start : start + strip.shape[1], :] = strip if channels else strip[0]


def _chunk(array: Any) -> int:
    """Return how many rows of an array are stored together."""
    rows = (getattr(array, "chunks", None) or (1, 1))[-2]
    return int(rows if isinstance(rows, int) else max(rows))
