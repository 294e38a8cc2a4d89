"""A filter's transfer function and options, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, cast

from .. import memory
from ..arrays import is_wide
from ..engine import FUSED, choose
from ..errors import ParameterError, check_option
from ..output.modes import ALL, MODES, Auto, Mode, Output, check_channels, check_scale, scale_of
from ..region import RegionOptions, area_of, region_of
from ..transfer import Transfer
from ..transfer.edges import EDGES, EdgedGrid, Edges, grid_with

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, DTypeLike

    from ..analysis.search import AutoNotches
    from ..arrays import Array
    from ..device.launcher import Precision
    from ..output.modes import Channels, Scale
    from ..region import Area, AreaLike, Region
    from ..staged.algorithms import Option
    from ..staged.steps import Transpose
    from .volumes import Volume

    ScaleLike = tuple[float, float] | tuple[str, float] | Scale | str | None


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
        self.engine = choose(options, is_even=transfer.is_even)
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
