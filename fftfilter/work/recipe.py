"""A recipe has all that decides an output's bytes; its method filters as :class:`Filter` or as ImageJ's dialog does.

What came of a file is a :class:`Done`. Both go from process to process. NumPy and OpenCL are imported on first
use only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib import import_module
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from .. import __version__, memory
from ..device_choice import FUSED, NUMPY, is_open, name_of
from ..errors import ParameterError, check_option, without_secrets
from ..files.messages import FileName, shown
from ..files.sources import digest_of
from ..images.formats import AS_USUAL, FORMATS, is_zarr, refuse_coding, refuse_whole_numbers, suffix_of
from ..images.pages import ALL as ALL_PAGES
from ..images.pages import ALL_HDUS
from ..output.modes import ALL, EACH, MODES, Auto, Channels, Mode, Output, Scale, Span, check_channels, check_scale
from ..transfer.product import Edges, checked_depth

if TYPE_CHECKING:
    from ..analysis.search import AutoNotches
    from ..arrays import Array, Holes
    from ..filters import Filter
    from ..images import Asked, Coding, Picture, Size
    from ..output.rounding import Difference
    from ..region import Area, Region
    from ..transfer import Transfer
    from .opened import Frame, Made

# Missing pixels


@dataclass(frozen=True)
class Missing:
    """The rule of a recipe. NaN is missing always, and so is a file's own nodata value, unless by "none"."""

    nodata: float | None = None  # a value of samples that are missing, in place of the file's own
    by: str | None = None  # "alpha", which None is, too: the transparent pixels; "none": none but NaN
    mask: Area | None = None  # the pixels that are missing, in place of transparent ones

    @classmethod
    def of(cls, nodata: float | None, by: str | None) -> Missing:
        """Return the rule of --nodata and --missing; raises ReadError for a mask, which is black where IN is valid."""
        nodata = None if nodata is not None and isnan(nodata) else nodata  # as always
        if by in ("alpha", "none", None):
            return cls(nodata, by)
        from ..region import Area

        return cls(nodata, mask=Area.of_file(by, "missing mask"))

    def holes(self, picture: Picture, name: str = "a picture") -> Array | None:
        """Return which samples of a picture's planes are missing, None if all are valid.

        Raises ReadError for other samples that are not finite, and ParameterError for a mask of another size; ``name``
        is the picture's file.
        """
        import numpy as np

        planes, alpha, found = picture.planes, picture.alpha, []
        if planes.dtype.kind == "f":
            found.append(np.isnan(planes))
        nodata = picture.nodata if self.nodata is None and self.by != "none" else self.nodata
        if nodata is not None:
            found.append(picture.has_value(nodata))
        if self.mask:
            found.append(self.mask.samples(picture, name))
        elif self.by != "none":
            if alpha is not None:
                found.append(np.broadcast_to(alpha == 0, planes.shape))
            if picture.valid is not None:
                found.append(np.broadcast_to(~picture.valid, planes.shape))
        found = [each for each in found if each.any()]
        holes = np.logical_or.reduce(found) if found else None
        picture.refuse_not_finite(name, holes)
        return holes


USUAL = Missing()


def unmeasured(picture: Picture, name: str, ignore: Area | None = None, missing: Missing = USUAL) -> Holes | None:
    """Return which samples of a file's picture nothing is found in: missing and ignored ones; raises ParameterError."""
    holes = missing.holes(picture, name)
    ignored = ignore.samples(picture, name) if ignore else None
    return holes if ignored is None else ignored if holes is None else holes | ignored


# Methods and recipes

# The defaults of the options that all methods have.
_OF_ALL = {**dict.fromkeys(("engine", "work_group_size", "transpose", "depth")), "precision": "single"}


class Method(NamedTuple):
    """A way to filter, by a class of filters that is imported on first use."""

    name: str  # in messages
    made_by: tuple[str, str]  # the module and the class
    usual: Mapping[str, Any]  # the defaults of a recipe's options
    has_outputs: bool = False  # whether recipes have an output and a scale; else the output is keep
    takes_missing: bool = False
    says_notes: bool = False  # whether the notes about a picture are printed without -v, too
    channels: tuple[int, ...] | None = None  # how many a picture may have, None for any number

    def maker(self) -> type[Filter]:
        """Return the class of its filters."""
        module, name = self.made_by
        made: type[Filter] = getattr(import_module(module, __package__), name)
        return made

    def arguments(self, recipe: Recipe) -> dict[str, Any]:
        """Return the arguments of that class beside the transfer function, the device and whether it is profiled."""
        own = {"output": recipe.output, "scale": recipe.scale} if self.has_outputs else {}
        return {**self.usual, **own, **recipe.options, **(recipe.region.options() if recipe.region else {})}

    def refuse(self, picture: Picture, name: str) -> None:
        """Raise ParameterError for a picture that the method does not take; ``name`` is its file's."""
        if self.channels and (given := len(picture.planes)) not in self.channels:
            raise ParameterError(
                f"{name}: has {given} channels, and {self.name} takes gray or RGB: leave 1 or 3, or take bandpass, "
                "which filters any"
            )

    def caution_of_pages(self, recipe: Recipe, first: Picture) -> str | None:
        """Return a line if pages of a file, such as the first, get gray levels that cannot be compared."""
        if recipe.options.get("autoscale") and len(first.planes) == 1 and first.planes.dtype.kind != "f":
            return "each page is autoscaled by itself: --no-autoscale does without"
        if recipe.axes:
            return None
        if recipe.mode.is_scaled and recipe.span == EACH and (recipe.scale is None or isinstance(recipe.scale, Auto)):
            return "each page has a scale of its own: --scale stack gives one to all"
        return None


MethodName = Literal["plain", "imagej", "descreen"]
_BY_FILTER = {**_OF_ALL, "edges": "wrap", "channels": None, "ignore": None, "axes": None, "ratio": False}
_BY_DIALOG = {**_OF_ALL, "autoscale": True, "saturate": True}
METHODS: dict[MethodName, Method] = {
    "plain": Method("this filter", ("..filters", "Filter"), _BY_FILTER, has_outputs=True, takes_missing=True),
    "imagej": Method("ImageJ's filter", ("..imagej_filter", "ImageJFilter"), _BY_DIALOG, channels=(1, 3)),
    "descreen": Method("descreen", ("..descreen_filter", "DescreenFilter"), _OF_ALL, says_notes=True),
}


@dataclass(frozen=True, repr=False)
class Recipe:
    """The settings for a file, or for every file of a folder; picklable, and equal to its copy."""

    transfer: Transfer  # for pixels of any size; notches for a picture's own waves come later
    method: MethodName = "plain"
    # Those of the method's filter, without output, scale, device and profile.
    options: Mapping[str, Any] = field(default_factory=dict)
    output: Output = "magnitude"
    scale: Scale | None = None  # None gives each picture its own range, or one to all of a ``span``
    # Whether the pages of a file, or the files of a folder, have one range, up to the largest value of all.
    span: Span = EACH
    pages: Asked = ALL_PAGES
    auto: AutoNotches | None = None  # how the waves of each picture are found, if they are to be removed, too
    coding: Coding = AS_USUAL
    format: str | None = None  # that of standard output; else the target's extension says it
    missing: Missing = USUAL
    strip: bool = False
    preserve_times: bool = False
    embed_recipe: bool = False  # whether the output's metadata have the recipe
    region: Region | None = None  # the part of a picture that is filtered, if not all is
    arguments: tuple[str, ...] = field(default=(), compare=False)  # the command that it is of, and options, one a word

    def __hash__(self) -> int:
        return hash(self.key)

    def __post_init__(self) -> None:
        """Raise ParameterError for settings that cannot go together."""
        check_option("output", self.output, MODES)
        check_scale(self.output, self.scale if self.span == EACH else self.span)
        check_channels(self.output, self.channels)
        if self.depth is not None:
            checked_depth(self.depth)
        if self.axes and self.span != EACH:
            raise ParameterError(f"scale {self.span} is for pages by themselves: each is that of a whole volume")
        if self.strip and self.pages.hdu == ALL_HDUS:
            raise ParameterError("stripped outputs have no other HDUs: choose one, or leave --strip out")
        if self.region:
            self.region.check_output(has_levels=self.keeps_levels or self.mode.is_values)
        if self.embed_recipe and (file := next((each for each in self.masks if each != without_secrets(each)), None)):
            raise ParameterError(f"--embed-recipe would show the secrets of {file}: save the mask as a file first")
        if self.ignore and not (self.auto or self.transfer.is_measured):
            raise ParameterError(
                f"ignore is for what is found in a picture or subtracted from it, unlike {self.transfer}"
            )
        if self.ratio and self.transfer.has_fixed_pattern:
            raise ParameterError("ratio takes the logarithms of each picture: leave fixed-pattern out")
        if self.missing != USUAL and not self.how.takes_missing:
            raise ParameterError(f"{self.how.name} knows no missing pixels: leave --missing and --nodata out")

    def refuse(self, target: FileName) -> None:
        """Raise ParameterError for a target whose format has no such coding, or cannot hold the output."""
        refuse_coding(target, self.coding, format=self.format)
        self.refuse_target(target)

    def fitting(self, source: FileName, target: FileName) -> Recipe:
        """Return the recipe for a target, which may be an OME-Zarr; raises ParameterError for what that has not."""
        if not is_zarr(source, target):
            return self
        given = {**vars(self), **self.coding._asdict(), "pages": not self.pages.is_all}
        for name in ("pages", "compression", "quality", "strip", "preserve_times", "embed_recipe"):
            if given[name]:
                raise ParameterError(f"{shown(target, '-')}: is an OME-Zarr: leave --{name.replace('_', '-')} out")
        return replace(self, format=".tif")  # which holds the same samples

    def holes(self, picture: Picture, name: str) -> Holes | None:
        """Return which samples of a picture are missing, None if all are valid; raises ParameterError."""
        if self.how.takes_missing:
            holes = self.missing.holes(picture, name)
            if not self.ratio:
                return holes
            from ..filters.ratio import has_logarithm

            holes = has_logarithm(picture.planes, holes, name)
            return holes if holes.any() else None
        picture.refuse_not_finite(name)
        return None

    def refuse_target(self, target: FileName) -> None:
        """Raise ParameterError for a target whose format cannot hold the output."""
        if self.mode.is_values:
            refuse_whole_numbers(target, format=self.format)
        if self.embed_recipe:
            self.refuse_embedding(target, suffix_of(target, self.format))

    def refuse_embedding(self, target: FileName, suffix: str) -> None:
        """Raise ParameterError for a target whose format, that of an extension, has no place for a recipe."""
        if not FORMATS[suffix].has_recipe:
            name = shown(target, "standard output")
            raise ParameterError(f"{name}: {suffix} holds no recipe: write .png, .tif or .fits, or take --save-recipe")

    def open_filter(self, transfer: Transfer, device: str | int | None = None, *, profile: bool = False) -> Filter:
        """Return a filter on a device for a transfer function that knows its pixels; raises what Filter raises."""
        options = self.how.arguments(self)
        if self.auto and not transfer.is_measured:  # no wave is found
            options["ignore"] = None
        return self.how.maker()(transfer, **options, device=device, profile=profile)

    def filter_for(self, transfer: Transfer, **options: Any) -> Filter:
        """Return a filter as :meth:`open_filter` does, which opens no device before its first picture."""
        return self.how.maker().unopened(transfer, {**self.how.arguments(self), "auto": self.auto, **options})

    def measuring(self) -> Recipe:
        """Return the recipe whose outputs have the largest magnitudes that a range of several pictures is made of."""
        return replace(self, output="magnitude", scale=None, span=EACH)

    def with_range(self, largest: float) -> Recipe:
        """Return the recipe with one range for all: up to the largest magnitude, a part of white."""
        return replace(self, scale=self.mode.range_up_to(largest), span=EACH)

    def said(self, transfer: Transfer) -> str:
        """Return what is done to a picture by a transfer function for its pixels, in words."""
        scale, region = self.scale, self.region.given() if self.region else {}
        range_ = f"auto:{scale.saturated:g}" if isinstance(scale, Auto) else scale and f"{scale.low:g}:{scale.high:g}"
        settings = {
            "output": self.output,
            "scale": range_,
            "edges": None if self.edges == "wrap" else self.edges,
            "ratio": "of the picture" if self.ratio else None,
            "axes": self.axes,
            **{name: Path(str(value)).name for name, value in region.items()},  # a mask's without its folder
        }
        said = [f"{name} {value}" for name, value in settings.items() if value]
        method = "" if self.method == "plain" else f"{self.method}, "
        return f"fftfilter {__version__}: {method}{transfer}; {', '.join(said)}"

    @property
    def masks(self) -> dict[str, str]:
        """The names of the files that it needs, those of masks, with their digests."""
        areas = self.region.areas if self.region else ()
        return masks_of(self.transfer, [self.missing.mask, self.ignore, *areas])

    @property
    def how(self) -> Method:
        """The method, by its name."""
        return METHODS[self.method]

    @property
    def says_notes(self) -> bool:
        """Whether the notes about a picture are printed without -v, too."""
        return self.how.says_notes or any(part.is_said for part in self.transfer.parts)

    @property
    def mode(self) -> Mode:
        """The output's mode, by its name."""
        return MODES[self.output]

    @property
    def keeps_levels(self) -> bool:
        """Whether outputs have the gray levels of the input: not if ImageJ's filter autoscales."""
        return self.mode.keeps_levels and not self.options.get("autoscale")

    @property
    def axes(self) -> str | None:
        """The axes that pages are filtered along together; None for each page by itself."""
        return self.options.get("axes")

    def with_options(self, **options: Any) -> Recipe:
        """Return the recipe with other options of its filter."""
        return replace(self, options={**self.options, **options})

    @property
    def edges(self) -> Edges:
        """The picture's continuation beyond its borders."""
        edges: Edges = self.options.get("edges", "wrap")
        return edges

    @property
    def channels(self) -> Channels | None:
        """The part of color pictures that is filtered; None for all channels."""
        channels: Channels | None = self.options.get("channels")
        return None if channels == ALL else channels

    @property
    def ignore(self) -> Area | None:
        """The pixels that nothing is found in, if any."""
        return self.options.get("ignore")

    @property
    def ratio(self) -> bool:
        """Whether logarithms are filtered."""
        return bool(self.options.get("ratio"))

    @property
    def depth(self) -> float | None:
        """The most decibels that the whole transfer function takes out."""
        return self.options.get("depth")

    @cached_property
    def needs_staged(self) -> bool:
        """Whether options ask for the staged pipeline, by its name or by a feature of its own."""
        return name_of(self.options) not in (FUSED, NUMPY)

    def is_open(self, device: str | None) -> bool:
        """Whether NumPy's engine may filter on a user's ``device``, and takes no longer but for large pictures."""
        return self.method == "plain" and is_open({**self.options, "device": device})

    def how_much(self, target: FileName | None = None, *, compare: bool = False, keep: bool = False) -> memory.How:
        """Return what decides the memory of a run: with ``compare`` also the reference, with ``keep`` a copy.

        Raises ParameterError for a target that cannot be written.
        """
        encoder = () if target is None else FORMATS[suffix_of(target, self.format)].encoder
        return memory.How(
            self.transfer,
            self.mode,
            self.options,
            self.method,
            is_auto=self.auto is not None,
            has_region=self.region is not None,
            verifies=compare,
            finds_range=isinstance(self.scale, Auto),
            keeps=keep,
            encoder=memory.Encoder(*encoder),
        )

    def working(self, size: Size, target: FileName | None = None, *, compare: bool = False, decoder: int = 0) -> int:
        """Return the bytes that a run takes for a picture of a size, of which nothing else is known."""
        has_holes = self.missing != USUAL or self.ignore is not None
        picture = memory.Pixels.of_size(size, has_holes=has_holes, decoder=decoder)
        try:
            return memory.taken(picture, self.how_much(target, compare=compare)) + memory.beside(self.options)
        except ParameterError:
            return 0  # an unknown engine is refused with the filter

    @cached_property
    def key(self) -> str:
        """A digest of the version and of all fields. Files of one key differ by a device's last gray level at most."""
        import json  # for folders alone

        # Words that say the same may differ, and are in outputs only if they are embedded.
        given = {each.name: getattr(self, each.name) for each in fields(self) if each.compare or self.embed_recipe}
        given["transfer"] = self.transfer.given()
        text = json.dumps([__version__, given], sort_keys=True, default=repr)
        return digest_of(text.encode())[:16]


def masks_of(transfer: Transfer, areas: Iterable[Area | None]) -> dict[str, str]:
    """Return the names of the files that have the gains and the areas, with their digests."""
    of_gains = {getattr(part, "file", None): getattr(part, "digest", "") for part in transfer.parts}
    of_areas = {area.file.get("file"): area.file.get("digest", "") for area in areas if area}
    return {name: digest for name, digest in (of_gains | of_areas).items() if name}


def words_of(values: Mapping[str, Any]) -> list[str]:
    """Return options as the words of a command line, each as one, by their names in Python; None leaves one out."""
    words: list[str] = []
    for name, value in values.items():
        option = name.rstrip("_").replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
        elif value is not None:
            words += [f"--{option}={each}" for each in (value if isinstance(value, tuple | list) else [value])]
    return words


# The part of the samples that may be clipped without a line.
MUCH_CLIPPED = 1e-3


def cautions_on_clipping(part: float, picture: Picture, recipe: Recipe) -> list[str]:
    """Return the line, if such a part of a picture of whole numbers is clipped; of floats another line tells."""
    if part <= MUCH_CLIPPED or picture.planes.dtype.kind != "u" or not recipe.keeps_levels:
        return []
    other = "--output real into .tif keeps all values, " if recipe.how.has_outputs else ""
    many = f"more than {MUCH_CLIPPED:.1%} of the samples are clipped to black or white"
    return [f"{many}: {other}--depth DB takes less away"]


@dataclass(eq=False, repr=False)  # to generate these methods takes time
class Done:
    """The result for a file."""

    pages: int = 1
    shape: tuple[int, ...] = ()  # that of the first page: channels, height, width; empty if it could not be read
    dtype: str | None = None  # that of the first page, as it was read
    samples: int = 0
    clipped: float = 0.0  # the part of the samples of all pages that was clipped to black or white
    missing: float = 0.0  # the part of the samples of all pages that is missing
    # 0 and the largest magnitude of the filtered values of all pages, if any was filtered.
    extremes: tuple[float, float] | None = None
    cautions: list[str] = field(default_factory=list)  # surprises in the output, a line each
    notes: list[str] = field(default_factory=list)  # what followed from each page, in words, if anything did
    # What was dropped of the input's metadata, and of a file that the output replaced, as text.
    left_out: list[str] = field(default_factory=list)
    peak: float = 0.0  # the largest value as a part of the input's white, if only measured
    difference: Difference | None = None  # from the reference, if the output was compared with it
    has_table: bool = False  # whether the indices of a palette were filtered, which is a look-up table

    def note(self, frame: Frame, made: Made, recipe: Recipe) -> None:
        """Add one more page."""
        page = Done(samples=made.planes.size, clipped=made.clipped, missing=frame.missing, extremes=made.extremes)
        page.notes, page.has_table = [made.note] if made.note else [], frame.picture.table is not None
        page.cautions = cautions_on_clipping(made.clipped, frame.picture, recipe)
        self.add(page)

    def add(self, more: Done) -> None:
        """Add the result for more pages."""
        before, self.samples = self.samples, self.samples + more.samples
        for part in ("missing", "clipped"):  # without rounding, if all is of one page
            both = getattr(self, part) * before + getattr(more, part) * more.samples
            setattr(self, part, both / self.samples if before else getattr(more, part))
        if more.extremes:
            (low, high), most = more.extremes, self.extremes or more.extremes
            self.extremes = min(low, most[0]), max(high, most[1])
        self.cautions += [line for line in more.cautions if line not in self.cautions]
        self.notes += more.notes
        self.left_out += more.left_out
        self.has_table |= more.has_table
