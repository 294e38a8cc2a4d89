"""An input: a file that was read, or that is open because it has several pages, with its transfer function.

Its pictures, or pages, go through a filter as frames: one by one, or several of one size at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from .. import images, memory
from ..errors import ParameterError, WriteError
from ..files import sources
from ..files.messages import FileName, shown
from ..images import Depth
from ..images.formats import FORMATS
from ..images.pages import OTHER_HDUS, PLACE
from ..output.modes import check_colors
from .recipe import USUAL, unmeasured

if TYPE_CHECKING:
    from ..analysis.found import Peak
    from ..analysis.power import Spectrum
    from ..analysis.search import Left
    from ..arrays import Array, Holes
    from ..files.atomic import Spare
    from ..files.sources import Times
    from ..filters import Filter, PixelOptions
    from ..images import Pages, Picture, PixelSize
    from ..preview.report import FilterReport
    from ..transfer import Transfer
    from .recipe import Recipe
    from .volumes import Volumes

# The part of a picture that, if it is missing, is worth a line.
MUCH = 0.5


@dataclass(eq=False, repr=False)  # to generate these methods takes time
class Frame:
    """A picture, or a page, between its file and the output."""

    picture: Picture  # as it was read; once it is filtered, as it will be written
    suffix: str  # the output's extension, or that of its format
    depth: Depth  # how the output stores it
    transfer: Transfer
    holes: NDArray[np.bool_] | None = None  # which samples are missing, of the planes' shape; None if all are valid
    given: Picture | None = None  # a copy of the picture as it was read, if it is kept

    @property
    def as_read(self) -> Picture:
        """The picture as it was read, until it is filtered; later, if it was kept."""
        return self.given or self.picture

    @property
    def missing(self) -> float:
        """The part of the samples that are missing."""
        return 0.0 if self.holes is None else float(self.holes.mean())

    def shown(self) -> Array:
        """Return the filtered planes to look at: missing samples are black, as NaN is no color."""
        planes = self.picture.planes
        return planes if self.holes is None else np.where(self.holes, 0, planes).astype(planes.dtype)

    def stays(self, recipe: Recipe) -> bool:
        """Whether nothing is filtered, so that pixels stay as they are, floats to the last bit, too."""
        is_stored_so = self.depth[:2] == (self.picture.planes.dtype, self.picture.maxval)
        return self.transfer.passes_all and recipe.mode.keeps_levels and is_stored_so

    def put(self, planes: Array) -> None:
        """Replace the pixels that were read by the filtered ones."""
        self.picture.planes, self.picture.maxval, self.picture.integers = planes, self.depth.maxval, self.depth.integers


class Made(NamedTuple):
    """The result of filtering a frame."""

    planes: Array  # ``(channels, height, width)``, as the frame's depth says
    extremes: tuple[float, float] | None  # 0 and the largest magnitude; None if nothing was filtered
    clipped: float  # the part of the samples that was clipped to black or white
    note: str = ""  # what followed from the picture, in words

    def largest(self, white: float) -> float:
        """Return the largest magnitude as a part of white, 0 if all is rounding noise."""
        return self.extremes[1] / white if self.extremes and self.planes.any() else 0.0


@dataclass(eq=False, repr=False)  # to generate these methods takes time
class Opened:
    """An input, ready to be filtered."""

    name: str  # the file's, in messages
    found: Picture | Pages
    recipe: Recipe
    transfer: Transfer  # the recipe's, for the size of the file's pixels, with notches for the waves that were found
    pixel_size: PixelSize | None  # the file's, if the filter needs it
    peaks: Sequence[Peak] | None = None  # the waves that are removed, if any were looked for
    left: Left | None = None  # what other waves were seen
    too_few: str | None = None  # why none could be looked for
    pattern: str = ""  # which lines all pages have, in words, if any were looked for
    identity: sources.Identity | None = None
    spare: Spare = ()  # the files that outputs must not replace, usually the input
    times: Times | None = None  # for the output, if it gets the input's
    target: FileName | None = None  # whose format decides what writing takes
    samples: int = 0  # of the picture, or of all pages, if these have the size of the first
    room: int = 0  # samples of the largest page for which memory was found
    volumes: Volumes | None = None  # the pages of each, if they are filtered together

    def frame(self, target: FileName, *, keep: bool = False) -> Frame:
        """Return the one picture, also as it was read if ``keep``; raises WriteError if a file cannot hold it."""
        picture = cast("Picture", self.found)
        return self.frame_of(picture, images.check_fits(picture, target, format=self.recipe.format), keep=keep)

    def frame_of(self, picture: Picture, suffix: str, *, keep: bool = False) -> Frame:
        """Return the picture, or a page, on its way into a file with this extension."""
        recipe, is_page = self.recipe, isinstance(self.found, images.Pages)
        is_real, keeps_levels = recipe.mode.is_values, recipe.keeps_levels
        depth = images.depth_as(suffix, picture, is_real=is_real, is_page=is_page, keeps_levels=keeps_levels)
        holes, transfer = recipe.holes(picture, self.name), self.transfer_of(picture)
        return Frame(picture, suffix, depth, transfer, holes, replace(picture) if keep else None)

    def transfer_of(self, picture: Picture) -> Transfer:
        """Return the transfer function for a page, whose pixels may have another size; raises ParameterError."""
        size = picture.metadata.pixel_size if picture.metadata else None
        if not (self.pixel_size and size) or size[:2] == self.pixel_size[:2]:
            return self.transfer
        return self.transfer.with_pixel_size(images.pixel_size_of(picture, self.name, "a physical unit")[:2])

    def tell(self, frame: Frame, target: FileName) -> None:
        """Put what is done into a picture's metadata: for a FITS always, for others if the recipe is embedded.

        Raises WriteError for a target that has further HDUs, as it is the input, and would lose them.
        """
        recipe, picture = self.recipe, frame.picture
        given = picture.metadata
        may_lose = given and (given.hdus or given.left_out)
        loses = given and may_lose and OTHER_HDUS in given.fitting(FORMATS[frame.suffix].name)[1]
        if loses and self.identity and sources.identity(target, is_output=True) == self.identity:
            raise WriteError(f"{self.name}: its other HDUs would be lost: write another file")
        if recipe.embed_recipe:
            from ..images.metadata import Metadata
            from .saved import folder_of, saved_of

            recipe.refuse_embedding(target, frame.suffix)
            text = saved_of(recipe).text(folder_of(target), indent=None)
            picture.metadata = replace(picture.metadata or Metadata(), recipe=text)
        if FORMATS[frame.suffix].name == "FITS" and not recipe.strip:
            from ..images.fits import with_history

            has_unit = recipe.keeps_levels or recipe.mode.is_values
            picture.metadata = with_history(picture.metadata, recipe.said(self.transfer), has_unit=has_unit)

    @property
    def left_out(self) -> tuple[str, ...]:
        """What was dropped from the file, as text."""
        found = self.found
        return found.left_out if isinstance(found, images.Pages) else found.metadata.left_out if found.metadata else ()

    def page(self, index: int) -> Picture:
        """Return a page, counted from 0, of those that are asked for; raises ReadError, TooLargeError."""
        picture = self.pages.read(index, self._working)
        if self.recipe.region:
            self.recipe.region.check(picture, self.pages.page_name(index))
        if self.recipe.ignore:
            self.recipe.ignore.samples(picture, self.pages.page_name(index))
        return picture.stripped() if self.recipe.strip else picture

    def _working(self, size: images.Size) -> int:
        """Return the bytes that a run takes for pages of a size, nothing for those that an earlier one has room for."""
        if size.samples <= self.room:
            return 0
        self.room = size.samples
        return self.recipe.working(size, self.target, decoder=self.pages.decoder)

    @property
    def pages(self) -> Pages:
        """The pages of a file that has several."""
        return cast("Pages", self.found)

    @property
    def middle(self) -> int:
        """The page that previews show: the middle one of those that are asked for, counted from 0."""
        return (len(self.pages) - 1) // 2

    @property
    def middle_page(self) -> str:
        """That page, to be put behind the name of the file; nothing for a picture."""
        return f", page {self.pages.chosen[self.middle] + 1}" if isinstance(self.found, images.Pages) else ""

    def close(self) -> None:
        """Close a file of several pages, or of several HDUs."""
        held = self.found if isinstance(self.found, images.Pages) else self.found.metadata and self.found.metadata.hdus
        if held:
            held.close()

    def report(self, frame: Frame, device: str | int | None) -> FilterReport:
        """Return the effect of the filter on a frame whose picture was kept; ``device`` transforms large ones."""
        from ..preview.report import FilterReport  # for those who ask for a page

        recipe, given = self.recipe, frame.as_read
        planes, white = filled(given, frame.holes, device), float(given.maxval)
        if recipe.ratio:  # from the darkest value, black, to the brightest
            planes = logarithms(given, frame.holes, device, self.name)
            planes -= planes.min()
            white = float(planes.max()) or 1.0
        weight = recipe.region.weight(*planes.shape[1:]) if recipe.region else None
        transfer = frame.transfer
        if recipe.ignore and transfer.is_fitted:
            from ..analysis.fit import fitted

            own = unmeasured(given, self.name, recipe.ignore, recipe.missing)
            measured = logarithms(given, own, device, self.name) if recipe.ratio else filled(given, own, device)
            transfer = fitted(transfer, measured, white)
        return FilterReport(planes, white, transfer, recipe.edges, device, weight, recipe.channels)

    def cautions(self, frame: Frame) -> list[str]:
        """Return a line for each thing that users may not expect of a picture's output."""
        is_of_floats = frame.depth.dtype.kind == "f"
        of_picture = frame.picture.cautions(self.recipe.mode, frame.holes, is_of_floats=is_of_floats)
        of_picture[:0] = cautions_on_missing(frame.missing)
        how = self.recipe.how
        if not how.takes_missing and USUAL.holes(frame.picture, self.name) is not None:
            of_picture.append(f"{how.name} knows no missing pixels: transparent ones and nodata are filtered, too")
        if frame.picture.valid is not None and FORMATS[frame.suffix].name != "TIFF":
            of_picture.append(f"the mask of IN is not in OUT, as {frame.suffix} has none: write .tif")
        if PLACE in self.left_out:
            of_picture.append("the place on Earth is lost: a GeoTIFF keeps it, which gdal_translate makes of IN")
        deep, suffix = 8 * frame.picture.planes.itemsize, frame.suffix
        is_own = FORMATS[suffix].name == frame.picture.format
        if frame.depth.dtype.itemsize == 1 and deep > 8 and (is_own or self.recipe.keeps_levels):
            of_picture.append(f"{deep} bits a sample become 8 in {suffix}: write .png or .tif to keep them")
        hdus = frame.picture.metadata and frame.picture.metadata.hdus
        of_picture += hdus.cautions(is_copied=FORMATS[suffix].name == "FITS") if hdus else []
        if self.recipe.channels == "chroma" and len(frame.picture.planes) == 1:
            of_picture.append("gray: there is no chroma to filter, and pixels stay as they are")
        if self.recipe.ratio and frame.holes is not None:
            missing = self.recipe.missing.holes(frame.picture, self.name)
            dark = frame.holes if missing is None else frame.holes & ~missing
            of_picture += cautions_on_dark(int(np.count_nonzero(dark)))
        beyond = [] if self.recipe.axes else self.transfer.cautions(*frame.picture.planes.shape[1:])
        return [*beyond, *of_picture]


def cautions_on_missing(part: float) -> list[str]:
    """Return a line if a large part of a picture is missing."""
    said = "nearly all" if 0.995 <= part < 1 else f"{part:.0%}"
    return [f"{said} of the picture is missing: the filtered rest says little"] if part > MUCH else []


def cautions_on_dark(count: int) -> list[str]:
    """Return a line if samples have no logarithm."""
    if count == 1:
        return ["1 sample is 0 or less, has no logarithm, and stays as it is"]
    return [f"{count} samples are 0 or less, have no logarithm, and stay as they are"] if count else []


def open_input(
    source: FileName,
    recipe: Recipe,
    *,
    data: sources.Content | None = None,
    times: Times | None = None,
    device: str | None = None,
    limit: int | None = None,
    compare: bool = False,
    target: FileName | None = None,
    by_strips: bool = False,
) -> Opened:
    """Read a file, or open one of several pages, and complete the transfer function for it.

    ``data`` is its content and ``times`` are its own, if it was read. ``limit`` is the most bytes of a stream.
    With ``compare`` the reference has to fit into memory, too, and all that writing ``target`` takes, if it is given.
    ``device`` transforms large pictures in which waves are looked for. Volumes that do not fit into memory may be
    filtered ``by_strips``. Raises ReadError, TooLargeError, and ParameterError for a picture that the recipe does not
    fit.
    """
    name = shown(source, "standard input")
    identity = sources.identity(source)
    if data is None:
        times = sources.times(source) if recipe.preserve_times else None
        data = images.raw(source, limit)
    try:
        asked = recipe.pages._replace(keeps_levels=recipe.keeps_levels, are_floats=recipe.mode.is_values)
        found = images.opened(data, source, asked, working=partial(recipe.working, target=target, compare=compare))
        first = first_of(found)
        recipe.how.refuse(first, name)
        check_colors(recipe.channels, len(first.planes), f"{name}:")
        if recipe.region:
            recipe.region.check(first, name)
        if recipe.ignore:
            recipe.ignore.samples(first, name)
        if recipe.strip and not isinstance(found, images.Pages):
            found = found.stripped()
        if recipe.axes:
            from .volumes import Volumes, with_voxels

            (recipe, transfer), pixel_size = with_voxels(found, recipe, first, name), None
        else:
            transfer, pixel_size = for_pixels_of(found, recipe.transfer, name)
        spare = (identity,)
        opened = Opened(
            name, found, recipe, transfer, pixel_size, identity=identity, spare=spare, times=times, target=target
        )
        opened.samples = first.planes.size * (len(found) if isinstance(found, images.Pages) else 1)
        _look(opened, device)
        if recipe.depth is not None:
            opened.transfer = opened.transfer.with_depth(recipe.depth)
        if recipe.axes:
            opened.volumes = Volumes(opened, first, by_strips=by_strips)
    except BaseException:
        if not isinstance(data, bytes):
            data.close()
        raise
    return opened


def _look(opened: Opened, device: str | None) -> None:
    """Complete the transfer function by what is found in the whole of a file: waves, and lines that all pages have."""
    found, recipe, name = opened.found, opened.recipe, opened.name
    if recipe.auto:
        # Seldom wanted, and some milliseconds of import.
        from ..analysis.search import too_few

        holes = partial(unmeasured, name=name, ignore=recipe.ignore, missing=recipe.missing)
        mean = spectrum_of(found, device=device, holes=holes, ratio=recipe.ratio, name=name)
        opened.too_few = too_few(mean) or None
        opened.peaks, opened.left = ([], None) if opened.too_few else recipe.auto.peaks(mean)
        opened.transfer = recipe.filter_for(opened.transfer).without(opened.peaks)
    if isinstance(found, images.Pages) and opened.transfer.has_fixed_pattern:
        pages = {found.page_name(i): partial(opened.page, i) for i in range(len(found))}
        opened.transfer, opened.pattern = fixed_pattern_of(pages, recipe, opened.transfer)


def for_pixels_of(found: Picture | Pages, transfer: Transfer, name: str) -> tuple[Transfer, PixelSize | None]:
    """Return a transfer function for a file's pixels, and their size if it is needed; raises ParameterError."""
    if not transfer.lacks_pixel_size:
        return transfer, None
    pixel_size = images.pixel_size_of(first_of(found), name, transfer.lacks_pixel_size)
    return transfer.with_pixel_size(pixel_size[:2]), pixel_size


def fixed_pattern_of(
    pictures: Mapping[str, Callable[[], Picture | None]], recipe: Recipe, transfer: Transfer
) -> tuple[Transfer, str]:
    """Return a transfer function with the lines that pictures have in common, and which these are, in words.

    ``pictures`` has what reads each, by its name in messages, and returns None for one that is left out; not more are
    read than are needed. Raises what these raise, and ParameterError for pictures of several sizes or depths.
    """
    from ..analysis.fit import some_of, with_fixed_pattern

    names = [[*pictures][place] for place in some_of(len(pictures))]
    if (first := next(filter(None, (pictures[name]() for name in names)), None)) is None:
        return transfer, ""
    white = first.maxval

    def samples() -> Iterator[tuple[Array, Holes | None]]:
        for name in names:
            if picture := pictures[name]():
                if picture.maxval != white:
                    raise ParameterError(f"{name}: white is {picture.maxval}, and {white} in others: give one depth")
                yield picture.planes, unmeasured(picture, name, recipe.ignore, recipe.missing)

    by_channel = not (recipe.mode.is_scaled or recipe.channels)
    return with_fixed_pattern(transfer, samples(), len(names), float(white), by_channel=by_channel)


def spectrum_of(
    found: Picture | Pages,
    size: tuple[int, int] | None = None,
    device: str | int | None = None,
    holes: Callable[[Picture], Holes | None] = USUAL.holes,
    check: Callable[[], None] = lambda: None,
    *,
    ratio: bool = False,
    name: str = "",
    **how: Any,
) -> Spectrum:
    """Return the power spectrum of a picture, or the mean of the pages that have the size of the first one.

    ``size``, height and width, is that of the middle that is taken of each; ``device`` transforms large ones. ``holes``
    returns which samples are missing. ``check`` is called before each page, and may raise. ``ratio`` takes the spectrum
    of the logarithm, relative to 1; ``name`` is the file's, in messages. ``how``
    are further arguments of :func:`~fftfilter.analysis.power.spectrum`.
    """
    from ..analysis.power import middle, spectrum

    first = first_of(found)
    shape = first.planes.shape[1:]

    def of(picture: Picture) -> Spectrum:
        if ratio:
            return spectrum(middle(logarithms(picture, holes(picture), device, name), *(size or shape)), 1.0, device)
        planes = middle(filled(picture, holes(picture), device), *(size or shape))
        return spectrum(planes, **{"white": picture.maxval, "device": device, **how})

    mean = of(first)
    if isinstance(found, images.Pages):
        for page in (found.read(i, spectrum_bytes) for i in range(1, len(found))):
            check()
            if page.planes.shape[1:] == shape:
                mean.add(of(page))
    return mean


def filled(picture: Picture, holes: Holes | None, device: str | int | None = None) -> Array:
    """Return the planes of a picture, with values for those samples that are missing."""
    if holes is None:
        return picture.planes
    from ..missing import filled as fill

    return fill(picture.planes, holes, device)


def logarithms(picture: Picture, holes: Holes | None, device: str | int | None = None, name: str = "") -> Array:
    """Return the logarithms of a picture's planes, with values for those samples that have none; raises ReadError."""
    from ..filters import ratio
    from ..missing import filled as fill

    missing = ratio.has_logarithm(picture.planes, holes, name)
    logs, _ = ratio.logarithms(picture.planes, missing, np.float32)
    return fill(logs, missing, device) if missing.any() else logs


def spectrum_bytes(size: images.Size) -> int:
    """Return the bytes that a picture and its spectrum take while that is made."""
    return memory.of_spectrum(memory.Pixels.of_size(size))


def first_of(found: Picture | Pages) -> Picture:
    """Return a picture, or the first page."""
    return found.read(0) if isinstance(found, images.Pages) else found


# Through a filter


def filter_frames(
    filter_: Filter, frames: Sequence[Frame], recipe: Recipe, *, observe: Callable[[str, Array], None] | None = None
) -> list[Made]:
    """Filter frames of one size, type, depth and transfer function; each becomes what it would become alone.

    Several are gray, and filtered in one launch. ``observe`` sees the results between the steps of a single one.
    """
    first = frames[0]
    if first.stays(recipe):
        return [Made(frame.picture.planes, None, 0.0) for frame in frames]
    if first.transfer.pixel_size != filter_.transfer.pixel_size:  # a page of another series than the first one
        with filter_.with_options(first.transfer) as own:
            return filter_frames(own, frames, recipe, observe=observe)
    depth = first.depth
    if len(frames) > 1 and any(frame.holes is not None for frame in frames):
        return [made for frame in frames for made in filter_frames(filter_, [frame], recipe)]
    of_pixels: PixelOptions = {"dtype": depth.dtype, "levels": depth.maxval, "white": first.picture.maxval}
    if first.holes is not None:
        of_pixels["missing"] = first.holes
    if len(frames) == 1:
        results = [filter_(first.picture.planes, channel_axis=0, observe=observe, **of_pixels)]
    else:
        planes = [frame.picture.planes for frame in frames]
        # In memory that a GPU reads without another copy.
        stack = filter_.empty((len(planes), *planes[0].shape[1:]), planes[0].dtype)
        results = list(filter_(np.concatenate(planes, out=stack), **of_pixels)[:, None])
    notes = filter_.notes() or [""] * len(results)
    return [Made(*each) for each in zip(results, filter_.extremes(), filter_.clipped(), notes, strict=True)]


def largest(filter_: Filter, opened: Opened, pages: Iterable[Picture]) -> float:
    """Return the largest magnitude of the pages of a file as a part of their white, 0 if all is rounding noise."""
    found, recipe = 0.0, opened.recipe.measuring()
    with filter_.with_options(output=recipe.output, scale=recipe.scale) as measuring:
        for picture in pages:
            holes, transfer = recipe.holes(picture, "a page"), opened.transfer_of(picture)
            frame = Frame(picture, "", Depth(picture.planes.dtype, picture.maxval), transfer, holes)
            (made,) = filter_frames(measuring, [frame], recipe)
            found = max(found, made.largest(picture.maxval))
    return found
