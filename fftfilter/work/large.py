"""Files and arrays that do not fit into memory: filtered by strips of rows, with the result of the whole."""

from __future__ import annotations

import os
import tempfile
from contextlib import closing, nullcontext, suppress
from dataclasses import replace
from functools import cached_property, partial
from secrets import token_hex
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__, images
from ..arrays import PRECISIONS, check_finite, check_image, gray_of, pixel_type
from ..device_choice import gpu_for
from ..errors import DeviceError, ParameterError, TooLargeError, WriteError, check_option
from ..files import sources
from ..files.messages import as_error, shown
from ..filters import ratio
from ..filters.strips import How, free_room, planned, ready
from ..images.formats import ZARR
from ..images.picture import Bands
from ..output.modes import MODES, STACK, check_scale, scale_of
from ..output.ramp import Gray
from ..text import bytes_of
from ..transfer.product import EDGES, grid_with
from .opened import Frame, Opened, cautions_on_dark, cautions_on_missing, for_pixels_of
from .output_file import folder_of, sink_of, too_large
from .recipe import Done, cautions_on_clipping

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..arrays import Array
    from ..device.opencl import Device
    from ..files.messages import FileName
    from ..filters.strips import Large, PicturePlan
    from ..images import Picture
    from ..images.pages import Sink
    from ..output.modes import Output
    from ..transfer import Transfer
    from ..transfer.product import EdgedGrid, Edges
    from .recipe import Recipe


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
        "--ignore takes the whole: leave it out": recipe.ignore is not None,
        "luminance and chroma are parts of the whole: leave --channels out": recipe.channels,
        f"the {engine} engine takes the whole: leave --engine out": engine not in (None, "fused", "numpy"),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


class LargeFile:
    """A file that is filtered by strips of rows, page by page.

    ``scratch`` is the folder of a temporary file, by default that of the target; ``threads`` wait for the workers of a
    cluster; ``device`` is as for a filter. Raises TooLargeError for what takes the whole picture, and ReadError,
    WriteError, ParameterError and DeviceError.
    """

    def __init__(
        self,
        source: FileName,
        target: FileName,
        recipe: Recipe,
        scratch: str | None = None,
        *,
        threads: int | None = None,
        device: str | None = None,
    ) -> None:
        if reason := refused(recipe):
            raise TooLargeError(reason)
        name, keeps = shown(source, "standard input"), recipe.keeps_levels
        found = images.in_parts(source, recipe.pages._replace(keeps_levels=keeps))
        self._pages = found if isinstance(found, images.Pages) else None
        self._strips = found.strips(0) if isinstance(found, images.Pages) else found
        self.count = len(self._pages) if self._pages else 1
        if recipe.span == STACK and self.count > 1:
            raise TooLargeError("--scale stack takes all pages: give a range, --scale LO:HI")
        picture = self._strips.picture.stripped() if recipe.strip else self._strips.picture
        transfer, pixel_size = for_pixels_of(picture, recipe.transfer, name)
        transfer = transfer if recipe.depth is None else transfer.with_depth(recipe.depth)
        self.opened = Opened(name, self._pages or picture, recipe, transfer, pixel_size, target=target)
        self.opened.identity = sources.identity(source)
        self.opened.times = sources.times(source) if recipe.preserve_times else None
        suffix = images.check_fits(picture, target, format=recipe.format)
        depth = images.depth_as(suffix, picture, is_real=recipe.mode.is_values, keeps_levels=keeps)
        self._frame, self._target = Frame(picture, suffix, depth, transfer), target
        unit = 1 if os.fsdecode(target).endswith(ZARR) else images.strip_rows(suffix, picture, depth)
        if unit is None:
            raise TooLargeError(f"a {suffix} is written as a whole: take .tif, .fits, .pgm, .ppm or .npy")
        self._unit, self.folder = unit, folder_of(target, scratch)
        precision = recipe.options.get("precision", "single")
        self._gray = Gray(picture.maxval, depth.dtype, depth.maxval)
        self.how = How(recipe.output, recipe.scale, self._gray, precision)
        self._dark: list[int] = []  # samples of each strip that have no logarithm
        self._on_grid = transfer.keeping_mean() if recipe.mode.keeps_mean else transfer
        if recipe.ratio:  # logarithms are filtered
            recipe.filter_for(transfer)  # raises ParameterError for an output that these have not
            self.how = ratio.OfStrips.how(picture.planes.dtype, precision)
        self._plans: dict[str, PicturePlan] = {}
        self._gpu = None if threads else gpu_for({**recipe.options, "device": device})
        self._room = free_room()  # later the strips of single precision would be counted
        self._source, self._threads = source, threads

    def plan(self, precision: str) -> PicturePlan:
        """Return the strips, as they were planned first; raises TooLargeError."""
        if precision not in self._plans:
            recipe, picture = self.opened.recipe, self._frame.picture
            planes, beside = picture.planes, self._strips.beside
            grid = grid_with(recipe.edges, self._on_grid, *planes.shape[1:])
            given: dict[str, Any] = {"units": (self._unit, self._strips.step), "room": max(0, self._room - beside)}
            itemsize = planes.itemsize * (1 if picture.alpha is None else 2)
            itemsize += recipe.ratio * 2 * PRECISIONS[precision][0].itemsize
            says_so = any(each is not None for each in (picture.alpha, picture.nodata, recipe.missing.nodata))
            given["may_miss"] = says_so or recipe.ratio or planes.dtype.kind == "f"
            given["dtype"] = PRECISIONS[precision][0] if recipe.ratio else planes.dtype
            given |= {"how": self.how._replace(precision=precision), "most": self._threads}
            found = _planned(self._gpu, planes.shape, itemsize, grid, **given)
            self._plans[precision] = replace(found, bytes=found.bytes + beside)
        return self._plans[precision]

    def read(self, start: int, stop: int) -> Array:
        """Return rows as they are in the file, or their logarithms, masked where pixels are missing."""
        return self._to_filter(self._part(start, stop).planes)

    def _part(self, start: int, stop: int) -> Picture:
        part = self._strips.rows(start, stop)
        part.integers = self._frame.picture.integers
        if (holes := self.opened.recipe.missing.holes(part, self.opened.name)) is not None:
            part.planes = np.ma.MaskedArray(part.planes, holes)
        return part

    def _to_filter(self, planes: Array) -> Array:
        return self._logs.of(planes) if self._logs else planes

    @cached_property
    def _logs(self) -> ratio.OfStrips | None:
        recipe, (_, height, width) = self.opened.recipe, self._frame.picture.planes.shape
        if not recipe.ratio:
            return None
        rows = (np.ma.filled(self._part(row, row + 1).planes, 0) for row in (height // 4, height // 2, height * 3 // 4))
        unit, at_dc = max(float(each.max()) for each in rows) or 1.0, ratio.gain_at_dc(self._on_grid, height, width)
        return ratio.OfStrips(unit, at_dc, self._gray, recipe.mode, self.how.precision)

    def write(self, advance: Callable[[], None], workers: Callable[..., Any] | None = None) -> Done:
        """Filter all pages, and write them; the target appears whole or not at all.

        ``workers`` is a function that lets a worker of a cluster call another one, with arguments.
        """
        opened, name, first = self.opened, shown(self._target, "standard output"), self._frame
        shape, lost = first.picture.planes.shape, list[str]()
        done = Done(self.count, shape, str(first.picture.planes.dtype))
        with (
            closing(self._pages) if self._pages else nullcontext(),
            as_error(WriteError, f"{name}: cannot be written"),
            too_large(opened.name),
            sink_of(opened, self._target, first.suffix, lost, height=shape[1]) as (sink, _),
        ):
            for number in range(len(self._pages) if self._pages else 1):  # without those of an earlier run
                frame = self._frame_of(number)
                done.cautions += [line for line in opened.cautions(frame) if line not in done.cautions]
                done.has_table |= frame.picture.table is not None
                if not number or (frame.picture.metadata and frame.picture.metadata.hdus):
                    opened.tell(frame, self._target)
                asked = token_hex(), os.path.abspath(os.fsdecode(self._source)), self._target, opened.recipe, number  # noqa: PTH100
                far = workers and partial(workers, do_strip, __version__, asked)
                with ready(self.read, self.plan, self.how, self.folder, advance, far=far) as large:
                    for encoded, of_strip in large.in_order(partial(self._made, large, sink, frame), large.items()):
                        sink.add(encoded)
                        done.add(of_strip)
                valid = first.picture.planes.size * (number + 1) * (1 - done.missing) + sum(self._dark)
                ratio.refuse_dark(sum(self._dark), round(valid), opened.name)
            sink.finish()
        done.left_out = [*dict.fromkeys([*opened.left_out, *lost, *done.left_out])]
        done.cautions += [*cautions_on_missing(done.missing), *cautions_on_dark(sum(self._dark))]
        done.cautions += cautions_on_clipping(done.clipped, first.picture, opened.recipe)
        if done.missing and any(done.missing < part.carried_on for part in first.transfer.parts):
            done.cautions.append(
                "waves do not go on through missing pixels, as the picture is larger than memory: near these some stay"
            )
        return done

    def _frame_of(self, number: int) -> Frame:
        """Return a page, whose rows are read from now on; raises TooLargeError for one that is unlike the first."""
        first = self._frame
        if self._pages:
            self._strips = self._pages.strips(number)
            picture = self._strips.picture.stripped() if self.opened.recipe.strip else self._strips.picture
            said, wanted = ((each.planes.shape, each.planes.dtype, each.maxval) for each in (picture, first.picture))
            if said != wanted or self.opened.transfer_of(picture) is not first.transfer:
                which = self._pages.page_name(number)
                raise TooLargeError(f"{which}: has another size, type or pixel size than the first page: take it alone")
            return replace(first, picture=picture)
        return first

    def _made(self, large: Large, sink: Sink, frame: Frame, start: int, stop: int) -> tuple[Any, Done]:
        picture = frame.picture
        is_read = (large.plan.beyond and not large.far) or picture.alpha is not None or large.coarse is not None
        is_read |= self.opened.recipe.ratio
        part = self._part(start, stop) if is_read else picture
        planes = self._to_filter(part.planes) if is_read else part.planes
        result = large.made(start, stop, planes if is_read else None)
        if self._logs:
            self._dark.append(
                int(np.count_nonzero(np.ma.getmask(planes)) - np.count_nonzero(np.ma.getmask(part.planes)))
            )
            result = self._logs.pixels(result.pixels, planes, part.planes)
        own = replace(picture, planes=result.pixels, alpha=picture.alpha if picture.alpha is None else part.alpha)
        own.maxval, own.integers = frame.depth.maxval, frame.depth.integers
        own.metadata = None if start else picture.metadata
        name = shown(self._target, "standard output")
        encoded, lost = images.encoded(own, frame.suffix, name, partial(sink.encode, milliseconds=None))
        largest, size = max(large.largest, result.largest), result.pixels.size
        missing = np.count_nonzero(np.ma.getmask(planes)) / size
        done = Done(samples=size, clipped=result.clipped, missing=missing, extremes=(0.0, largest), left_out=lost)
        return encoded, done


def _planned(
    gpu: Device | None,
    shape: tuple[int, int, int],
    itemsize: int,
    grid: EdgedGrid,
    *,
    dtype: np.dtype[Any],
    how: How,
    most: int | None = None,
    **given: Any,
) -> PicturePlan:
    """Return the strips of a picture of a type on the GPU, if there is one that holds it, else by NumPy."""
    if gpu:
        from ..filters.gpu_strips import planned_on

        with suppress(TooLargeError):
            return planned_on(gpu, shape, itemsize, grid, dtype=dtype, how=how, **given)
    return planned(shape, itemsize, grid, precision=how.precision, most=most, **given)


# The worker of a cluster

_open: list[Any] = []  # what the worker filters, behind what it was asked for
_opening = Lock()


def do_strip(version: str, asked: tuple[Any, ...], plan: PicturePlan, how: How, work: str, *arguments: Any) -> Any:
    """Return what a method of a large picture returns, in a process that opens the picture once.

    ``asked`` is a name that no other picture has, then the source, target, recipe and number of the page. Raises what
    reading raises, and DeviceError if another version asks.
    """
    if version != __version__:
        raise DeviceError(f"a worker has fftfilter {__version__}, and this is {version}: install the same version")
    with _opening:
        if _open[:1] != [(asked[0], how.precision)]:
            file = LargeFile(*asked[1:4])
            file._frame_of(asked[4])
            _open[:] = (asked[0], how.precision), plan.large(file.read, how, "", submit=None, advance=None)
        large = _open[1]
    return getattr(large, work)(*arguments)


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
    device: str | int | None = None,
    memory: int | str | None = None,
    scratch: str | os.PathLike[str] | None = None,
    white: float | None = None,
) -> None:
    """Filter an array that does not fit into memory into another one, some rows at a time.

    Args:
        source: An array (height, width), or (channels, height, width) with one scale, that has slices: of NumPy,
            ``numpy.memmap`` among them, zarr, h5py or Dask.
        target: Another one, of uint8, uint16 or float32, with slices that can be set.
        transfer: One of the functions of ``fftfilter.transfer``, or a product of them.
        output: As that of :class:`Filter`.
        scale: Likewise.
        edges: Likewise.
        precision: "single" or "double".
        device: Likewise. A GPU filters pictures that its memory holds, NumPy all others.
        memory: How many bytes may be taken, such as "2GB"; by default what is free.
        scratch: The folder for a temporary file, if one is needed; by default the system's.
        white: The value that is white, by default the largest of the type, 1 for floats.

    Raises:
        ParameterError: For an invalid value.
        TooLargeError: If no strip fits.
        DeviceError: If there is no such device.
        WriteError: If the disk is full.

    Examples:
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
    _check_target(target, source)
    if transfer.is_fitted or transfer.is_by_channel or not transfer.is_even:
        raise ParameterError(
            f"{transfer} takes the whole picture: give gains that are even, and the same for all channels"
        )
    mode, gpu = MODES[output], gpu_for({"device": device, "precision": precision})
    room = free_room(None if memory is None else bytes_of(memory))
    gray = gray_of({"dtype": target.dtype, "white": white}, pixel_type(np.dtype(source.dtype)))
    if mode.is_values and gray.dtype.kind != "f":
        raise ParameterError(f"output real gives floats, and target has the type {gray.dtype}: give one of float32")
    shape = tuple(source.shape) if channels else (1, *source.shape)
    grid = grid_with(edges, transfer.keeping_mean() if mode.keeps_mean else transfer, *shape[1:])
    units = _chunk(target), _chunk(source)
    bands = Bands(lambda start, stop: [np.asarray(source[..., start:stop, :])], units[1], shape[1])

    def read(start: int, stop: int) -> Array:
        planes = bands(start, stop)[0].reshape(shape[0], stop - start, shape[2])
        if planes.dtype.kind == "f" and (missing := np.isnan(planes)).any():
            planes = np.ma.MaskedArray(planes, missing)
        check_finite(np.ma.filled(planes, 0))
        return planes * np.uint8(255) if planes.dtype.kind == "b" else planes

    how, dtype = How(output, range_, gray, precision), np.dtype(source.dtype)

    def plan(precision: str) -> PicturePlan:
        given: dict[str, Any] = {"units": units, "room": room, "may_miss": dtype.kind == "f", "dtype": dtype}
        return _planned(gpu, shape, dtype.itemsize, grid, how=how._replace(precision=precision), **given)

    with ready(read, plan, how, os.fspath(scratch or tempfile.gettempdir())) as large:

        def made(start: int, stop: int) -> tuple[int, Array]:
            return start, large.made(start, stop).pixels

        for start, strip in large.in_order(made, large.plan.strips):
            target[..., start : start + strip.shape[1], :] = strip if channels else strip[0]


def _check_target(target: Any, source: Any) -> None:
    """Raise ParameterError for a target of another shape, or that is the source, or another map or handle of it."""
    if (shape := tuple(source.shape)) != tuple(target.shape):
        raise ParameterError(f"target has the shape {tuple(target.shape)}: give one of {shape}")
    is_same = target is source
    if isinstance(source, np.ndarray) and isinstance(target, np.ndarray):
        file, of_target = (getattr(each, "filename", None) for each in (source, target))
        is_same = bool(file) and file == of_target and source.offset == target.offset  # type: ignore[attr-defined]
        is_same |= np.may_share_memory(source, target)
    elif type(source) is type(target):  # two of zarr, or of h5py, are equal if they are one array
        is_same = (source == target) is True
    if is_same:
        raise ParameterError(
            f"target is source, an array of {shape}, which is read again while target is written: give another array"
        )


def _chunk(array: Any) -> int:
    """Return how many rows of an array are stored together."""
    rows = (getattr(array, "chunks", None) or (1, 1))[-2]
    return int(rows if isinstance(rows, int) else max(rows))
