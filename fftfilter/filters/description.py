"""A filter's transfer function and options, checked; and named in signatures and docstrings, for help and Tab."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, cast

import numpy as np

from .. import memory, transfer
from ..arrays import Array, is_wide
from ..device_choice import FUSED, choose_engine
from ..errors import ParameterError, check_option
from ..output.modes import ALL, MODES, Auto, Channels, Mode, Output, Scale, check_channels, check_scale, scale_of
from ..region import OF_REGIONS, RegionOptions, area_of, region_of
from ..transfer import Transfer
from ..transfer.product import EDGES, EdgedGrid, Edges, grid_with

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from ..analysis.search import AutoNotches
    from ..device.launcher import Precision
    from ..region import Area, AreaLike, Region
    from ..staged.algorithms import Option
    from ..staged.steps import Transpose
    from .volumes import Volume

    ScaleLike = Sequence[float] | NDArray[Any] | tuple[str, float] | Scale | str | None


class FilterOptions(RegionOptions, total=False):
    """Options of a filter; see :class:`Filter`."""

    engine: str | None
    engine_options: Mapping[str, Option] | None
    device: str | int | None
    precision: Precision | None
    work_group_size: int | None
    transpose: Transpose | None
    output: Output
    scale: ScaleLike
    edges: Edges
    channels: Channels | None
    depth: float | None
    pixel_size: str | float | Sequence[str | float] | None
    axes: int | str | Sequence[int | str] | None
    ignore: AreaLike | None
    ratio: bool
    auto: bool | AutoNotches | None


class PixelOptions(TypedDict, total=False):
    """Options of the pixels that a call returns; see :meth:`Filter.__call__`."""

    dtype: DTypeLike | None
    levels: int | None
    white: float | None
    missing: ArrayLike | None


class Options(FilterOptions, PixelOptions, total=False):
    """Options of a single call; those beside a filter's are as :meth:`Filter.__call__` takes them."""

    channel_axis: int | None


# Those of a call of a filter.
OF_CALLS = tuple(Options.__annotations__.keys() - FilterOptions.__annotations__.keys())
# Those of what becomes of the filtered values.
OF_OUTPUTS = ("output", "scale", "edges", "channels")
# Every option of a filter, in the order of its arguments.
DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(sorted(FilterOptions.__annotations__, key=lambda name: name in RegionOptions.__annotations__)),
    "output": "keep",
    "edges": "mirror",
    "ratio": False,
    "profile": False,
}


class Description:
    """A transfer function and checked options: everything but the device that decides a filter's results.

    Raises ParameterError.
    """

    def __init__(self, transfer: Transfer, options: Mapping[str, Any]) -> None:
        check_transfer(transfer)
        options = _plain(options)
        self.output: Output = options.get("output", DEFAULTS["output"])
        self.edges: Edges = options.get("edges", DEFAULTS["edges"])
        self.transpose: Transpose | None = options.get("transpose")
        self.axes: Volume | None = None  # the axes that are filtered, if not the last two, and as pictures
        self.volume: Volume | None = None  # those that are not filtered as pictures
        self.region: Region | None = None  # the part of each picture that is filtered, if not all is
        self.ignore: Area | None = None  # the pixels of each picture that nothing is found in
        self.auto: AutoNotches | None = None  # how the waves of each picture are found, if they are to be removed, too
        transfer = self._with_pixels(transfer, options)
        if (depth := options.get("depth")) is not None:
            transfer = transfer.with_depth(depth)
        if transfer.lacks_pixel_size:
            transfer.lacks_pixel_size.bins(1, 1)  # raises
        transfer.check()
        self.transfer = transfer
        check_option("output", self.output, MODES)
        check_option("edges", self.edges, EDGES)
        self.scale: Scale | None = scale_of(options.get("scale"))
        check_scale(self.output, self.scale)
        check_channels(self.output, channels := options.get("channels"))
        # The part of color pictures that is filtered; None for all channels.
        self.channels: Channels | None = None if channels == ALL else channels
        if self.channels and (transfer.is_by_channel or transfer.is_complement):
            what = "what is removed is" if transfer.is_complement else "notches of some channels are"
            raise ParameterError(f"{what} for color itself, not for its {channels}: choose {ALL}")
        mode = self.mode
        if mode.is_absolute and mode.needs_ramps(self.scale) and not transfer.is_real:
            raise ParameterError("a magnitude of complex values has no scale: take output magnitude, and leave it out")
        if self.transpose is not None:
            from ..staged.steps import TRANSPOSES

            check_option("transpose", self.transpose, TRANSPOSES)
        asked = options.get("auto")
        if not (asked is None or asked is False):
            from ..analysis.search import AutoNotches

            self.auto, usual = (AutoNotches.of(each, self.output, channels) for each in (asked, True))
            options = {**options, "auto": True if self.auto == usual else asked}
        if areas := {name: options[name] for name in RegionOptions.__annotations__ if options.get(name) is not None}:
            self.region = region_of(**areas)
        if self.region:
            self.region.check_output(has_levels=mode.keeps_levels or mode.is_values)
            options = {**options, **self.region.options()}
        if options.get("ignore") is not None:
            self.ignore = area_of(options["ignore"], "ignore")
            options = {**options, "ignore": self.ignore}
        self.ratio = self._has_ratio(options)  # whether the logarithms of the values are filtered
        self.engine = choose_engine(options, is_even=transfer.is_even)
        # The function that filters: an output that keeps the mean needs an H(0) of 1.
        self.on_grid = transfer.keeping_mean() if mode.keeps_mean else transfer
        # The given options, without those that are defaults.
        self.options = {name: options[name] for name, usual in DEFAULTS.items() if options.get(name, usual) != usual}

    def _has_ratio(self, options: Mapping[str, Any]) -> bool:
        """Return whether logarithms are filtered; raises ParameterError for what these have not."""
        mode = self.mode
        if not options.get("ratio"):
            return False
        if not (mode.keeps_levels or mode.is_values):
            raise ParameterError(
                f"output {mode.name} is stretched, and ratio is for an image's own levels: take keep or real"
            )
        if any(part.is_fitted and getattr(part, "noise", None) is not None for part in self.transfer.parts):
            raise ParameterError("a noise in gray levels is none of a logarithm: leave it out, and it is measured")
        return True

    def _with_pixels(self, transfer: Transfer, options: Mapping[str, Any]) -> Transfer:
        """Take the axes, if these are given; return a transfer function for pixels of the size that is given."""
        pixel_size = options.get("pixel_size")
        if (axes := options.get("axes")) is not None:
            from .volumes import Volume

            self.axes = Volume.of(axes, pixel_size)
            if not self.axes.is_flat:
                self.volume = self.axes
                self.volume.check(transfer, options)
            sizes = self.axes.sizes
            pixel_size = sizes[::-1] if sizes and self.axes.is_flat else min(sizes, default=None)
        return transfer if pixel_size is None else transfer.with_pixel_size(pixel_size)

    def takes_double(self, dtype: np.dtype[Any]) -> bool:
        """Whether pictures of a type are filtered in double precision, though no precision is asked for."""
        return is_wide(dtype) and self.options.get("precision") is None and self.options.get("engine") != FUSED

    @property
    def mode(self) -> Mode:
        """The properties of the output."""
        return MODES[self.output]

    def grid(self, height: int, width: int) -> EdgedGrid:
        """Return the grid of an image ``(height, width)``; raises ParameterError for radii that do not fit it."""
        return grid_with(self.edges, self.on_grid, height, width)

    def check_memory(self, planes: Array, *, method: str, has_holes: bool) -> None:
        """Raise TooLargeError for a picture ``(count, height, width)`` that takes steps of its own and is too large."""
        picture = memory.Pixels.of(planes, has_holes=has_holes or self.ignore is not None)
        how = memory.How(
            self.transfer,
            self.mode,
            self.options,
            method,
            is_auto=self.auto is not None,
            has_region=self.region is not None,
            finds_range=isinstance(self.scale, Auto),
        )
        memory.check(picture, memory.taken(picture, how, is_read=True))


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options whose numbers are Python's, such as two percentiles by NumPy; areas may be masks, and stay."""
    numbers = {name for name, each in options.items() if isinstance(each, np.generic | np.ndarray)}
    numbers -= {"region", "protect", "ignore"}
    return {name: each.tolist() if name in numbers else each for name, each in options.items()}


def split_options(options: Options) -> tuple[FilterOptions, dict[str, Any]]:
    """Return the options of a filter, and those of its calls; raises TypeError for what is neither."""
    for name in options.keys() - Options.__annotations__:
        known = sorted(Options.__annotations__, key=lambda each: each in RegionOptions.__annotations__)
        raise TypeError(f"unexpected keyword argument {name!r}: further options are {', '.join(known)}")
    of_call = {name: value for name, value in options.items() if name in OF_CALLS}
    of_filter = {name: value for name, value in options.items() if name not in OF_CALLS}
    return cast("FilterOptions", of_filter), of_call


def check_transfer(given: object) -> None:
    """Raise ParameterError for what is not a transfer function."""
    if not isinstance(given, Transfer):
        raise ParameterError(
            f"{given!r} is not a transfer function: give one of fftfilter.transfer, such as transfer.highpass(64)"
        )


Of = TypeVar("Of", bound=Callable[..., Any])


def _entries(text: str) -> dict[str, str]:
    """Return the lines of each parameter in a section of a docstring."""
    return {name: lines for lines, name in re.findall(r"(?m)^(    (\w+): .*(?:\n        .*)*)", text)}


# What each parameter means, unless a docstring says it.
HELP = _entries(
    """\
    image: Real numbers (height, width), or a stack (count, height, width); also of xarray, Dask, PyTorch or
        JAX.
    transfer: One of the functions of ``fftfilter.transfer``, or a product of them.
    channel_axis: The axis of a picture's channels, -1 for (height, width, 3), which have one scale; None for
        none.
    output: "keep", the input's values with their mean, as if H(0) were 1; "magnitude", from 0, black, to the
        largest magnitude, white, as the command; "signed", 0 in the middle; "real", the filtered values,
        floats.
    scale: Of "magnitude" and "signed": "each", every picture its own; "auto" or ("auto", P), its own but for
        P percent of the samples, by default 0.35; or (LO, HI), two values of the input that become black and
        white.
    edges: What lies beyond the borders: "mirror", the mirror image, or "wrap", the image again.
    channels: "all"; or, for "keep" and "real", "luminance" or "chroma" of a color picture: the other part
        stays.
    depth: Decibels by which what the filter removes is attenuated at most; 6 leaves a half, None nothing.
    pixel_size: The side of a pixel for physical radii: "65nm", "300dpi", or a number of meters; or two, its width and
        height: "7um,10um"; with ``axes`` also one for each of them.
    axes: One to three axes that are filtered together, in an array of any dimensions: how many of the last
        ones, their numbers, as (0,), or names, "zyx", "tyx", "t" and those of xarray; for radial filters. A
        radius counts cycles across the shortest of them.
    ignore: Pixels that nothing is found in, given as a ``region``: waves, stripes, noise and background are
        those of the others, and are subtracted from all.
    ratio: Whether the logarithm is filtered, so that what is removed divides the image, as uneven light and
        gains; for "keep", which keeps the mean of the logarithms, and "real". Values of 0 or less stay as they
        are.
    auto: Whether the waves of each picture are found and removed, too: True, or an AutoNotches.
    device: "auto", "gpu", "cpu", an index, a part of a name, or "numpy"; FFTFILTER_DEVICE is the default.
    engine: "fused", the fast one and the default; "numpy", without OpenCL; or an algorithm, such as "book".
    engine_options: Options of the algorithm, such as {"radix": 8} for "stockham".
    precision: "single" or "double"; by default double for float64 and integers of 32 bits and more, else
        single.
    work_group_size: Work-items of a group, for algorithms.
    transpose: How algorithms transpose: "tiled", "plain" or "float4"; by default each its own way.
    dtype: The result's type, by default the image's; uint8 for bool.
    levels: The result's white, by default its type's largest value, 1 for floats.
    white: The image's white, by default as ``levels``; "keep" maps it to ``levels``.
    missing: True for missing pixels: bool of the image's shape or (height, width). So are NaN and masked
        ones.
"""
    + OF_REGIONS
)
USUAL = {
    "Returns": "    An array of the image's shape, type and library.",
    "Raises": """\
    ParameterError: For an invalid value, or an array that is not an image.
    DeviceError: Without a usable device.
    TooLargeError: For an image that the device or the machine cannot hold.""",
}


def spelled_out(*without: str, **usual: object) -> Callable[[Of], Of]:
    """Return what names all options of a function or class, but some, in its signature and docstring.

    Type checkers have them from the type of ``**options``. ``usual`` are defaults that differ from those of a filter.
    Parameters that the docstring does not describe are those of the transfer function of the same name, or in HELP.
    """

    def sections_of(documented: object) -> dict[str, str]:
        parts = re.split(r"\n\n(?=(?:Args|Returns|Raises|Examples):\n)", inspect.getdoc(documented) or "")
        return {"": parts[0]} | dict(part.split(":\n", 1) for part in parts[1:])

    def named(made: Of) -> Of:
        signature, defaults = inspect.signature(made), {**DEFAULTS, **usual}
        own = [each for each in signature.parameters.values() if each.kind != each.VAR_KEYWORD]
        further = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=defaults.get(name),
                annotation=Options.__annotations__[name].__forward_arg__,
            )
            for name in HELP
            if name in Options.__annotations__ and name not in {*without, *signature.parameters}
        ]
        made.__signature__ = signature.replace(parameters=[*own, *further])  # type: ignore[attr-defined]
        sections = sections_of(made)
        of_transfer = sections_of(getattr(transfer, made.__name__, None)).get("Args", "")
        said = {**HELP, **_entries(of_transfer), **_entries(sections.get("Args", ""))}
        said |= {each.name: HELP[each.name] for each in further}
        sections["Args"] = "\n".join(said[each.name] for each in (*own, *further) if each.name != "self")
        sections = (USUAL if inspect.isfunction(made) else {"Raises": USUAL["Raises"]}) | sections
        order = ("Args", "Returns", "Raises", "Examples")
        texts = [f"{name}:\n{sections[name]}" for name in order if name in sections]
        made.__doc__ = "\n\n".join([sections[""], *texts])
        return made

    return named
