"""Files of several pages, filtered page by page: in memory are a few pages, whatever the file has.

Pages -> [a thread: read, decode] -> filter -> [threads: encode] -> a file that grows, and then takes its place
"""

from __future__ import annotations

from collections import deque
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from . import images, system
from .errors import ParameterError, WriteError
from .files.atomic import growing
from .files.messages import reason, shown
from .files.sources import Slices, identity
from .filters import Filter, check_transfer
from .images.formats import AS_USUAL, FORMATS, misfit
from .output import scale as scales
from .output.modes import MODES, check_scale

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Iterator, Mapping
    from concurrent.futures import Future

    from numpy.typing import NDArray

    from .files.atomic import Times
    from .files.sources import Identity
    from .filters import FilterOptions, PixelOptions
    from .images import Coding, Depth, Pages, Picture, PixelSize
    from .images.limits import Working
    from .images.pages import Sink
    from .output.difference import Difference
    from .output.modes import Output
    from .output.scale import Scale
    from .transfer import Transfer

    Read = tuple[Picture, float | None]
    Submit = Callable[..., Future[Any]]

# Bytes of filtered pages that may wait to be encoded.
_WAITING_BYTES = 1 << 24


@dataclass(eq=False, repr=False)  # what it writes code for takes time
class Way:
    """How pages are read and written."""

    format: str | None = None
    coding: Coding = AS_USUAL
    strip: bool = False
    output: Output = "magnitude"
    scale: Scale | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """Those of the filter."""

    def read(self, pages: Pages, index: int, working: Working | None = None) -> Read:
        """Return a page, and how many milliseconds it is shown."""
        picture = pages.read(index, working)
        if self.strip:
            picture = picture.stripped()
        return picture, pages.milliseconds

    def depth(self, suffix: str, picture: Picture) -> Depth:
        """Return how a page is stored in a file with this extension."""
        return images.depth_of_pages(suffix, picture, is_real=MODES[self.output].is_values)


@dataclass(eq=False, repr=False)
class Done:
    """What became of a file's pages."""

    pages: int
    shape: tuple[int, ...]
    """Of the first page: channels, height, width."""
    dtype: str
    """Likewise."""
    samples: int = 0
    clipped: float = 0.0
    """The part of the samples of all pages that was clipped to black or white."""
    extremes: tuple[float, float] | None = None
    """The smallest and the largest magnitude of all pages, if any was filtered."""
    cautions: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    difference: Difference | None = None
    """From the reference, if the pages were compared with it."""

    def note(self, filter_: Filter, picture: Picture, cautions: list[str], *, stays: bool) -> None:
        """Note what became of one more page, which the filter has just filtered, unless it stays as it is."""
        clipped, size = 0.0, picture.planes.size
        if not stays:
            ((low, high),), (clipped,) = filter_.extremes(), filter_.clipped()
            most = self.extremes or (low, high)
            self.extremes = min(low, most[0]), max(high, most[1])
        self.clipped = (self.clipped * self.samples + clipped * size) / (self.samples + size)
        self.samples += size
        cautions = [*filter_.transfer.cautions(*picture.planes.shape[1:]), *cautions]
        self.cautions += [line for line in cautions if line not in self.cautions]


def filter_stack(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    transfer: Transfer,
    *,
    pages: str | int | None = None,
    png_level: int = 1,
    quality: int | None = None,
    compression: str | None = None,
    strip: bool = False,
    in_place: bool = False,
    **options: Unpack[FilterOptions],
) -> int:
    """Filter the pages of a file into another one, page by page; return how many they were.

    Files are TIFF, GIF, animated PNG and WebP, and pictures. Count, order, durations, description, resolution and
    compression stay, as far as the target's format can hold them. ``pages`` is "2-5", "3", "3-" or "-5", counted from
    1. ``strip`` leaves metadata out, ``in_place`` allows the target to be the source, and the others are as on the
    command line. ``options`` are those of :class:`Filter`; ``scale`` may be "stack", too: one for all pages, which are
    filtered twice for it.

    Raises ReadError, also for a page that is missing, WriteError, ParameterError, TooLargeError and DeviceError. The
    target appears whole or not at all.

        from fftfilter import transfer as H
        fftfilter.filter_stack("cells.tif", "flat.tif", H.bandpass("96px", "7px"), output="keep")
    """
    coding = images.Coding(png_level, quality, compression)
    if compression is not None and compression not in images.COMPRESSIONS:
        raise ParameterError(f"compression {compression!r} is unknown: choose {', '.join(images.COMPRESSIONS)}")
    one_scale = options.get("scale") == scales.STACK
    if one_scale:
        options["scale"] = None
    check_transfer(transfer)
    way = Way(None, coding, strip, options.get("output", "magnitude"), scales.of(options.get("scale")), options)
    check_scale(way.output, scales.STACK if one_scale else way.scale)
    images.check_output(source, target, in_place=in_place)
    images.refuse_coding(target, coding)
    if MODES[way.output].is_values:
        images.refuse_whole_numbers(target)
    asked = images.Asked.parse(str(pages)) if pages is not None else None
    if (pixel_size := options.pop("pixel_size", None)) is not None:  # which goes before the file's
        transfer = transfer.with_pixel_size(pixel_size)
    spare = () if in_place else (identity(source),)
    found = open_input(source, asked, output=way.output)
    transfer, _ = for_pixels_of(found, transfer, shown(source, "standard input"))
    with Filter(transfer, **options) as filter_:
        if isinstance(found, images.Pages):
            with closing(found):
                return filter_pages(filter_, found, target, way, one_scale=one_scale, spare=spare).pages
        images.check_fits(found, target)
        depth = images.output_depth(found, target, is_real=MODES[way.output].is_values)
        planes = found.planes if stays(found, transfer, way.output, depth) else _filtered(filter_, found, depth)
        picture = found.stripped() if strip else found
        images.write(replace(picture, planes=planes, maxval=depth.maxval), target, coding=coding, spare=spare)
    return 1


def open_input(
    source: str | os.PathLike[str],
    asked: images.Asked | None,
    *,
    output: Output,
    options: Mapping[str, Any] | None = None,
    data: bytes | Slices | None = None,
    working: Working | None = None,
    limit: int | None = None,
) -> Picture | Pages:
    """Return the picture of a file, or its pages where several are asked for; the rest is as for ``images.opened``.

    ``data`` is the file's content, if it was read; ``options`` are those of the filter. Raises what
    :func:`images.read` raises, and ParameterError for channels that ImageJ's filter does not take.
    """
    given = options or {}
    found = images.opened(
        images.raw(source, limit) if data is None else data,
        source,
        asked,
        working=working,
        keeps_levels=MODES[output].keeps_levels and not given.get("autoscale"),
        are_floats=MODES[output].is_values,
    )
    if "autoscale" in given and (channels := len(_first(found).planes)) not in (1, 3):
        raise ParameterError(
            f"{shown(source, 'standard input')}: has {channels} channels, and ImageJ's filter takes gray or RGB: "
            "leave 1 or 3, or take bandpass, which filters any"
        )
    return found


def for_pixels_of(found: Picture | Pages, transfer: Transfer, name: str) -> tuple[Transfer, PixelSize | None]:
    """Return a transfer function for a picture's pixels, or those of a first page, and their size if it was needed.

    ``name`` is the file's. Raises ParameterError for one that does not say it.
    """
    if not transfer.lacks_pixel_size:
        return transfer, None
    pixel_size = images.pixel_size_of(_first(found), name, transfer.lacks_pixel_size)
    return transfer.with_pixel_size(pixel_size.across), pixel_size


def stays(picture: Picture, transfer: Transfer, output: Output, depth: Depth) -> bool:
    """Return whether nothing is filtered: pixels are to stay as they are, floats to the last bit, too."""
    return not transfer.parts and MODES[output].keeps_levels and picture.is_stored_as(depth)


def _first(found: Picture | Pages) -> Picture:
    return found.read(0) if isinstance(found, images.Pages) else found


def filter_pages(
    filter_: Filter,
    pages: Pages,
    target: str | os.PathLike[str],
    way: Way,
    *,
    one_scale: bool = False,
    times: Times | None = None,
    spare: Collection[Identity | None] = (),
    compare: bool = False,
    working: Working | None = None,
    submit: Submit | None = None,
    advance: Callable[[], None] | None = None,
) -> Done:
    """Filter pages into a file; ``one_scale`` is that of all, ``compare`` compares them with the reference.

    ``submit`` gives work to threads, ``advance`` is called after each page. ``spare`` are files that the target must
    not be, as for :func:`files.atomic.store`.
    """
    name = shown(target, "standard output")
    check_scale(way.output, scales.STACK if one_scale else way.scale)
    first, _ = way.read(pages, 0, working)
    suffix = images.suffix_of_pages(target, way.format, len(pages), first)
    done = Done(len(pages), first.planes.shape, str(first.planes.dtype))
    if FORMATS[suffix].name != "TIFF" and pages.milliseconds is None:
        done.cautions.append("the pages become frames of an animation, shown for 0.1 s each")
    if FORMATS[suffix].name == "GIF" and len(first.planes) > 1:
        done.cautions.append("a GIF has 256 colors a frame: of more, the nearest are taken")
    with _threads(submit) as to_threads:
        reading = partial(_read_ahead, pages, way, working, to_threads, advance or _nothing)
        if one_scale:
            range_of_all = MODES[way.output].range_up_to(_largest(filter_, reading()))
            filter_, way = filter_.with_options(scale=range_of_all), replace(way, scale=range_of_all)
        try:
            with growing(target, times, spare=spare) as file:
                sink = images.sink(file, suffix, way.coding, count=len(pages), plays=pages.plays)
                encoding: deque[Future[tuple[object, list[str]]]] = deque()
                for number, (picture, milliseconds) in enumerate(reading(), start=1):
                    _check_page(picture, number, first, suffix, name)
                    depth = way.depth(suffix, picture)
                    cautions = picture.cautions(MODES[way.output], is_of_floats=depth.dtype.kind == "f")
                    as_it_is = stays(picture, filter_.transfer, way.output, depth)
                    if not as_it_is:
                        picture.planes, picture.maxval = _filtered(filter_, picture, depth), depth.maxval
                    done.note(filter_, picture, cautions, stays=as_it_is)
                    encode = partial(sink.encode, milliseconds=milliseconds)
                    encoding.append(to_threads(images.encoded, picture, suffix, name, encode))
                    while len(encoding) > _WAITING_BYTES // picture.planes.nbytes:
                        done.left_out += _add(sink, encoding.popleft())
                for each in encoding:
                    done.left_out += _add(sink, each)
                sink.finish()
                lost = ["durations"] if pages.milliseconds is not None and FORMATS[suffix].name == "TIFF" else []
                done.left_out = list(dict.fromkeys([*pages.left_out, *done.left_out, *lost]))
                if compare:
                    file.flush()
                    written = images.pages_of(Slices(file), name)
                    done.difference = difference(pages, written, filter_.transfer, way, suffix)
                pages.close()  # or it could not be replaced, on some systems
        except OSError as error:
            raise WriteError(f"{name}: cannot be written: {reason(error)}") from error
    return done


def _check_page(picture: Picture, number: int, first: Picture, suffix: str, name: str) -> None:
    """Raise WriteError for a page that does not fit the file."""
    if problem := misfit(picture, suffix):
        raise WriteError(f"{name}: page {number}: {problem}")
    if FORMATS[suffix].name != "TIFF":
        images.check_alike(first, picture, number, suffix, name)


def largest(filter_: Filter, pages: Pages, way: Way, submit: Submit) -> float:
    """Return the largest magnitude of all pages as a part of the input's white, 0 if all is rounding noise."""
    return _largest(filter_, _read_ahead(pages, way, None, submit, _nothing))


def _largest(filter_: Filter, pages: Iterator[Read]) -> float:
    found = 0.0
    with filter_.with_options(output="magnitude", scale=None) as measuring:
        for picture, _ in pages:
            result = _filtered(measuring, picture, images.Depth(picture.planes.dtype, picture.maxval))
            if result.any():  # else it is all rounding noise
                found = max(found, measuring.extremes()[0][1] / picture.maxval)
    return found


def difference(pages: Pages, written: Pages, transfer: Transfer, way: Way, suffix: str) -> Difference:
    """Return how the pages of an output differ from the reference; raises VerifyError for one that is not right."""
    from . import verify
    from .output.difference import Difference

    if written.count != len(pages) or written.is_cut:
        raise verify.replaced(written.name)
    found = []
    for index in range(len(pages)):
        (given, _), got = way.read(pages, index), written.read(index)
        if len(got.planes) < len(given.planes):
            got.planes = got.planes.repeat(3, axis=0)  # an animation without color anywhere
        name, depth = f"{written.name}, page {index + 1}", way.depth(suffix, given)
        page = verify.compare(given, got, transfer, way.output, way.scale, depth=depth, options=way.options, name=name)
        verify.check(page, name)
        found.append(page)
    return Difference.of_all(found)


@contextmanager
def _threads(submit: Submit | None) -> Iterator[Submit]:
    """Give what gives work to threads: ``submit``, or that of threads as many as cores."""
    count = 0 if submit else system.startable_threads(system.cores() + system.SPARE_TASKS) - system.SPARE_TASKS
    if count < 2:
        yield submit or _at_once
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(count, thread_name_prefix="codec") as pool:
        yield pool.submit


def _at_once(work: Callable[..., Any], *arguments: Any) -> Future[Any]:
    from concurrent.futures import Future  # not for single pictures, whose start it would slow down

    done: Future[Any] = Future()
    done.set_result(work(*arguments))
    return done


def _nothing() -> None:
    pass


def _read_ahead(
    pages: Pages, way: Way, working: Working | None, submit: Submit, advance: Callable[[], None]
) -> Iterator[Read]:
    """Yield pages, with one more being read."""
    reading = submit(way.read, pages, 0, working)
    for index in range(len(pages)):
        found = reading.result()
        if index + 1 < len(pages):
            reading = submit(way.read, pages, index + 1, working)
        yield found
        advance()


def _filtered(filter_: Filter, picture: Picture, depth: Depth) -> NDArray[Any]:
    of_pixels: PixelOptions = {"dtype": depth.dtype, "levels": depth.maxval, "white": picture.maxval}
    return filter_(picture.planes, channel_axis=0, **of_pixels)


def _add(sink: Sink, encoded: Future[tuple[object, list[str]]]) -> list[str]:
    """Write a page; return what of its metadata stays behind."""
    page, left_out = encoded.result()
    sink.add(page)
    return left_out
