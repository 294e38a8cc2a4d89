"""Filter a file into a file: one picture, or any number of pages, a few of which are in memory.

Opened -> [a thread: read, decode] -> filtered -> [threads: encode] -> a file that grows, and then takes its place
"""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

from .. import images, system
from ..device_choice import NUMPY
from ..errors import ParameterError, TooLargeError, WriteError
from ..files.atomic import growing, is_special
from ..files.messages import FileName, reason, shown
from ..files.sources import Slices
from ..files.urls import is_url
from ..filters.description import spelled_out
from ..images.formats import FORMATS, ZARR
from ..images.pages import PALETTES, PaletteRule, Sink, hdu_of
from ..memory import WAITING_BYTES
from ..output.modes import EACH, STACK, scale_of
from .opened import Frame, Made, Opened, filter_frames, largest, open_input
from .recipe import Done, Missing, Recipe

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ..arrays import Array
    from ..filters import Filter, FilterOptions
    from ..images import Pages, Picture
    from ..transfer import Transfer

    Read = tuple[Picture, float | None]
    Submit = Callable[..., Future[Any]]
    Observe = Callable[[str, Array], None] | None
    Show = Callable[[Frame], object]
    Share = Callable[..., Sequence[Done]]


@spelled_out("channel_axis", "dtype", "levels", "white")
def filter_stack(
    source: FileName,
    target: FileName,
    transfer: Transfer,
    *,
    pages: str | int | None = None,
    hdu: int | str | None = None,
    level: int | None = None,
    palette: PaletteRule = "auto",
    missing: str | None = None,
    nodata: float | None = None,
    png_level: int = 1,
    quality: int | None = None,
    compression: str | None = None,
    strip: bool = False,
    in_place: bool = False,
    **options: Unpack[FilterOptions],
) -> int:
    """Filter the pages of a file into another one, page by page; return their number.

    Files are TIFF, FITS, GIF, animated PNG and WebP, and pictures. Count, order, durations, description, resolution and
    compression stay, as far as the target's format can hold them. The target appears whole or not at all. ``scale`` may
    be "stack", too: one for all pages, which are filtered twice for it.

    Args:
        source: The name of a file, or "-" for standard input.
        target: The name of a file, or "-" for standard output.
        pages: Those that are filtered, counted from 1: "2-5", "3", "3-", "-5", "2-120:2" or "2,4,6"; by default all.
        hdu: That of a FITS: a number from 0, "NAME", "NAME,VERSION" or "all".
        level: That of an OME-Zarr, counted from 0.
        palette: What a palette has: a "table" of intensities, or "colors"; by default its colors tell.
        missing: "alpha", "none", or the name of a mask's file.
        nodata: The value of missing pixels.
        png_level: How far a PNG is compressed, 0 to 9.
        quality: That of JPEG and other lossy formats, 1 to 100.
        compression: That of a TIFF, by default the source's.
        strip: Whether metadata are left out.
        in_place: Whether the target may be the source.

    Returns:
        The number of pages.

    Raises:
        ReadError: For a file that cannot be read, or a page that is missing.
        WriteError: For a target that cannot be written.
        ParameterError: For an invalid value.
        DeviceError: Without a usable device.
        TooLargeError: For a page that the device or the machine cannot hold.

    Examples:
        >>> fftfilter.filter_stack("cells.tif", "flat.tif", H.bandpass("96px", "7px"))
        1

    """
    from ..analysis.search import AutoNotches
    from ..filters import check_transfer
    from ..region import RegionOptions, region_of

    if compression is not None and compression not in images.COMPRESSIONS:
        raise ParameterError(f"compression {compression!r} is unknown: choose {', '.join(images.COMPRESSIONS)}")
    check_transfer(transfer)
    if palette not in PALETTES:
        raise ParameterError(f"palette {palette!r} is unknown: choose {', '.join(PALETTES)}")
    if not (level is None or (isinstance(level, int) and level >= 0)):
        raise ParameterError(f"level {level!r} is invalid: give a whole number, counted from 0")
    asked = images.Asked() if pages is None else images.Asked.parse(str(pages))
    if (pixel_size := options.pop("pixel_size", None)) is not None:  # which goes before the file's
        if options.get("axes") is None:
            transfer = transfer.with_pixel_size(pixel_size)
        else:
            options["pixel_size"] = pixel_size
    output, scale, device = options.pop("output", "keep"), options.pop("scale", None), options.pop("device", None)
    one_scale, auto = isinstance(scale, str) and scale == STACK, options.pop("auto", None)
    areas = {name: value for name, value in options.items() if name in RegionOptions.__annotations__}
    recipe = Recipe(
        transfer,
        options={"edges": "mirror", **{name: value for name, value in options.items() if name not in areas}},
        output=output,
        scale=None if one_scale else scale_of(scale),
        span=STACK if one_scale else EACH,
        pages=asked._replace(hdu=hdu_of(hdu), palette=palette, level=level),
        coding=images.Coding(png_level, quality, compression),
        strip=strip,
        auto=AutoNotches.of(auto, output, options.get("channels")),
        missing=Missing.of(nodata, missing),
        region=region_of(**areas),  # type: ignore[arg-type]
    )
    images.check_output(source, target, in_place=in_place)
    recipe = recipe.fitting(source, target)
    recipe.refuse(target)
    opened = open_input(source, recipe, target=target, by_strips=True)
    if opened.volumes and opened.volumes.is_large:
        opened.volumes.scratch, device = folder_of(target), NUMPY
    if in_place:
        opened.spare = ()
    with closing(opened), recipe.open_filter(opened.transfer, device) as filter_:
        return make_output(opened, target, filter_).pages


def make_output(
    opened: Opened,
    target: FileName,
    filter_: Filter,
    *,
    compare: bool = False,
    show: Show | None = None,
    observe: Observe = None,
    submit: Submit | None = None,
    advance: Callable[[], None] = lambda: None,
    share: Share | None = None,
) -> Done:
    """Filter an input into a file by the filter of its recipe, which is closed before a picture is encoded.

    ``compare`` compares the output with the reference, ``show`` is called with the filtered frame of a picture or of
    the middle page, and ``observe`` sees the results between the steps of a picture. ``submit`` gives pages to threads,
    and ``advance`` is called after each. ``share`` lets processes filter all planes of an OME-Zarr but the first.

    Raises what reading, filtering and writing raise, and VerifyError for pages that are not right, which are not
    written then.
    """
    if not isinstance(opened.found, images.Pages):
        return _picture_output(opened, target, filter_, observe, compare=compare, show=show)
    pages, first = opened.found, opened.page(0)
    name, recipe = shown(target, "standard output"), opened.recipe
    suffix = images.suffix_of_pages(target, recipe.format, len(pages), first)
    done = Done(len(pages), first.planes.shape, str(first.planes.dtype))
    done.cautions += _cautions_of_pages(pages, first, suffix, recipe)
    with _threads(submit) as to_threads:
        # A volume reads its pages itself: two threads would seek in one file.
        reading = partial(read_ahead, opened, system.at_once if recipe.axes else to_threads, advance)
        if recipe.span == STACK:
            if share:
                most = max(each.peak for each in share(recipe.measuring(), advance, measure_only=True))
            else:
                most = largest(filter_, opened, (picture for picture, _ in reading()))
            recipe = recipe.with_range(most)
            filter_ = filter_.with_options(scale=recipe.scale)
        volumes = opened.volumes
        pictures = volumes.begin(filter_, suffix, reading, advance) if volumes else reading()
        encoding: deque[Future[tuple[object, list[str]]]] = deque()
        try:
            with sink_of(opened, target, suffix, done.left_out) as (sink, written):
                for number, (picture, milliseconds) in enumerate(islice(pictures, 1 if share else None), start=1):
                    images.check_page(picture, number, first, suffix, name)
                    is_shown = show is not None and number == opened.middle + 1
                    frame = opened.frame_of(picture, suffix, keep=is_shown)
                    done.cautions += [line for line in opened.cautions(frame) if line not in done.cautions]
                    with too_large(opened.name):
                        made = (
                            Made(*volumes.made(number - 1)) if volumes else filter_frames(filter_, [frame], recipe)[0]
                        )
                    frame.put(made.planes)
                    if show and is_shown:
                        show(frame)
                    if number == 1 or (picture.metadata and picture.metadata.hdus):
                        opened.tell(frame, target)
                    done.note(frame, made, recipe)
                    encode = partial(sink.encode, milliseconds=milliseconds)
                    encoding.append(to_threads(images.encoded, picture, suffix, name, encode))
                    _add(sink, encoding, done, most=WAITING_BYTES // picture.planes.nbytes)
                _add(sink, encoding, done)
                for more in share(recipe, advance) if share else ():
                    done.add(more)
                sink.finish()
                lost = ["durations"] if pages.milliseconds is not None and not FORMATS[suffix].is_shown else []
                done.left_out = list(dict.fromkeys([*pages.left_out, *done.left_out, *lost]))
                if compare:
                    from . import verify

                    done.difference = verify.of_pages(opened, written(), recipe, suffix)
                pages.close()  # or it could not be replaced, on some systems
        except OSError as error:
            raise WriteError(f"{name}: cannot be written: {reason(error)}") from error
    return done


def folder_of(target: FileName, scratch: str | None = None) -> str:
    """Return the folder of a temporary file: the one that is given, or that of a target, if it is in one."""
    to = os.fsdecode(target)
    is_stream = is_url(target) or to == "-" or is_special(Path(to))
    return scratch or (tempfile.gettempdir() if is_stream else str(Path(os.path.realpath(to)).parent))


@contextmanager
def sink_of(
    opened: Opened, target: FileName, suffix: str, lost: list[str], height: int = 0
) -> Iterator[tuple[Sink, Callable[[], Pages]]]:
    """Give what takes the pages, and a function that reads them back; the target takes its place at the end.

    With a ``height`` it takes rows of pages that have it.
    """
    recipe, pages = opened.recipe, cast("ome_zarr.ZarrPages", opened.found)
    if os.fsdecode(target).endswith(ZARR):
        from ..images import ome_zarr

        is_part = len(pages) < pages.count  # the target was begun by another process
        growing_zarr = partial(ome_zarr.growing, by_rows=bool(height))
        with ome_zarr.part(target, pages) if is_part else growing_zarr(target, pages, recipe.key) as levels:
            yield levels, levels.written
        return
    with growing(target, opened.times, spare=opened.spare, lost=lost) as file:

        def written() -> Pages:
            from .verify import as_written

            file.flush()
            asked = as_written(None if recipe.strip else opened.pages.container, suffix)
            return images.pages_of(Slices(file), shown(target, "standard output"), asked)

        count, plays = (len(pages), pages.plays) if isinstance(pages, images.Pages) else (1, 0)
        yield images.sink(file, suffix, recipe.coding, count=count, plays=plays, height=height), written


def _picture_output(
    opened: Opened,
    target: FileName,
    filter_: Filter,
    observe: Observe,
    *,
    compare: bool,
    show: Show | None,
) -> Done:
    frame = opened.frame(target, keep=compare or show is not None)
    picture = frame.picture
    done = Done(1, picture.planes.shape, str(picture.planes.dtype))
    done.cautions = opened.cautions(frame)
    with too_large(opened.name):
        (made,) = filter_frames(filter_, [frame], opened.recipe, observe=observe)
    done.note(frame, made, opened.recipe)
    filter_.close()  # the device's memory, which is this machine's if it is a CPU, is needed for writing
    done.left_out = write_picture(opened, frame, made, target)
    if show:
        show(frame)
    if compare:
        from . import verify

        done.difference = verify.of_file(frame, target, opened.recipe)
    return done


@contextmanager
def too_large(name: str) -> Iterator[None]:
    """Let errors of memory name the file."""
    try:
        yield
    except TooLargeError as error:
        raise TooLargeError(f"{name}: {error}") from error
    except MemoryError as error:
        raise TooLargeError(f"{name}: out of memory; use a smaller image") from error


def write_picture(opened: Opened, frame: Frame, made: Made, target: FileName) -> list[str]:
    """Write the filtered picture of an input; return what was dropped of its metadata, as text."""
    recipe, picture = opened.recipe, frame.picture
    frame.put(made.planes)
    opened.tell(frame, target)
    how: dict[str, Any] = {"times": opened.times, "spare": opened.spare}
    return images.write(picture, target, format=recipe.format, coding=recipe.coding, **how)


def _cautions_of_pages(pages: Pages, first: Picture, suffix: str, recipe: Recipe) -> list[str]:
    said: list[str] = []
    if len(pages) == 1:  # the one plane of an OME-Zarr
        return said
    if FORMATS[suffix].is_shown and pages.milliseconds is None:
        said.append("the pages become frames of an animation, shown for 0.1 s each")
    if FORMATS[suffix].name == "GIF" and len(first.planes) > 1:
        said.append("a GIF has 256 colors a frame: of more, the nearest are taken")
    caution = recipe.how.caution_of_pages(recipe, first)
    return [*said, caution] if caution else said


@contextmanager
def _threads(submit: Submit | None) -> Iterator[Submit]:
    """Give ``submit``, or else that of new threads, one per core."""
    if submit or system.cores() < 2:
        yield submit or system.at_once
        return
    with system.threads(system.cores(), "codec") as pool:
        yield pool.submit


def read_ahead(opened: Opened, submit: Submit, advance: Callable[[], None] = lambda: None) -> Iterator[Read]:
    """Yield each page of a file and its duration in milliseconds, while the next one is read."""
    pages = opened.pages

    def read(index: int) -> Read:
        return opened.page(index), pages.milliseconds

    reading = submit(read, 0)
    for index in range(len(pages)):
        found = reading.result()
        if index + 1 < len(pages):
            reading = submit(read, index + 1)
        yield found
        advance()


def _add(sink: Sink, encoding: deque[Future[tuple[object, list[str]]]], done: Done, most: int = 0) -> None:
    """Append the first pages that are being encoded, until ``most`` are left."""
    while len(encoding) > most:
        page, left_out = encoding.popleft().result()
        sink.add(page)
        done.left_out += left_out
