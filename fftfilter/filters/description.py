"""Describes a filter: checks its transfer function and options, keeps them, pickles them, and shows them as text."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict, cast

from ..device.choice import open_device
from ..device.launcher import Launcher
from ..engine import Engine, choose
from ..errors import ParameterError
from ..fused import fused
from ..output.modes import MODES, Mode, Output, check_scale, scale_of
from ..transfer import Transfer
from ..transfer.edges import EDGES, EdgedGrid, Edges, grid_with

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self, Unpack

    from numpy.typing import DTypeLike

    from ..device.choice import Device
    from ..device.launcher import Precision
    from ..output.modes import Scale
    from ..staged.algorithms import Option
    from ..staged.steps import Transpose

    ScaleLike = tuple[float, float] | tuple[str, float] | Scale | str | None

LAUNCHER_OPTIONS = ("precision", "work_group_size", "profile")


class FilterOptions(TypedDict, total=False):
    """Options of a filter; see :class:`Filter`."""

    engine: str | None
    engine_options: Mapping[str, Option] | None
    device: str | int | None
    precision: Precision
    work_group_size: int | None
    transpose: Transpose | None
    output: Output
    scale: ScaleLike
    edges: Edges
    pixel_size: str | float | None


class PixelOptions(TypedDict, total=False):
    """Options of the pixels that a call returns; see :meth:`Filter.__call__`."""

    dtype: DTypeLike | None
    levels: int | None
    white: float | None


class Options(FilterOptions, PixelOptions):
    """Options of a single call.

    ``engine``, ``engine_options``, ``device``, ``precision``, ``work_group_size``, ``transpose``, ``output``,
    ``scale``, ``edges`` and ``pixel_size`` are as :class:`Filter` takes them, ``dtype``, ``levels`` and ``white`` as
    :meth:`Filter.__call__` does.
    """


# Every option of a filter, in the order of its arguments.
DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(FilterOptions.__annotations__),
    "precision": "single",
    "output": "magnitude",
    "edges": "wrap",
    "profile": False,
}


@dataclass(eq=False, repr=False)  # what it writes code for takes time
class Description:
    """A transfer function and checked options: everything but the device that decides a filter's results."""

    transfer: Transfer
    on_grid: Transfer
    """The function that filters: an output that keeps the mean needs an H(0) of 1."""
    output: Output
    scale: Scale | None
    edges: Edges
    engine: Engine
    transpose: Transpose | None
    options: Mapping[str, Any]
    """The given options, without those that are defaults."""

    @property
    def mode(self) -> Mode:
        """The properties of the output."""
        return MODES[self.output]

    def grid(self, height: int, width: int) -> EdgedGrid:
        """Return the grid of an image ``(height, width)``; raises ParameterError for radii that do not fit it."""
        return grid_with(self.edges, self.on_grid, height, width)


def describe(transfer: Transfer, options: Mapping[str, Any]) -> Description:
    """Return what ``transfer`` and options of :class:`Filter` describe; raises ParameterError for invalid ones."""
    check_transfer(transfer)
    if (pixel_size := options.get("pixel_size")) is not None:
        transfer = transfer.with_pixel_size(pixel_size)
    transfer.check_pixel_size()
    output, edges = options.get("output", "magnitude"), options.get("edges", "wrap")
    _check("output", output, tuple(MODES))
    _check("edges", edges, EDGES)
    scale = scale_of(options.get("scale"))
    check_scale(output, scale)
    mode = MODES[output]
    if mode.is_absolute and mode.needs_ramps(scale) and not transfer.is_even:
        raise ParameterError("a magnitude of complex values has no scale: take output magnitude, and leave it out")
    if (transpose := options.get("transpose")) is not None:
        from ..staged.steps import TRANSPOSES

        _check("transpose", transpose, TRANSPOSES)
    engine = choose(options, is_even=transfer.is_even)
    on_grid = transfer.keeping_mean() if mode.keeps_mean else transfer
    given = {name: options[name] for name, usual in DEFAULTS.items() if options.get(name, usual) != usual}
    return Description(transfer, on_grid, output, scale, edges, engine, transpose, given)


class Described:
    """A transfer function and options, for a device that is opened on first use."""

    def _describe(self, transfer: Transfer, options: Mapping[str, Any]) -> None:
        """Take a transfer function and options; raises ParameterError and TypeError."""
        if unknown := options.keys() - DEFAULTS.keys():
            raise TypeError(f"{type(self).__name__} has no option {min(unknown)!r}: it has {', '.join(DEFAULTS)}")
        self._description = describe(transfer, options)
        self._options = self._description.options

    @property
    def transfer(self) -> Transfer:
        """The transfer function."""
        return self._description.transfer

    @property
    def options(self) -> Mapping[str, Any]:
        """The given options, without those that are defaults."""
        return self._options

    @cached_property
    def launcher(self) -> Launcher:
        """The queue on the device, opened on first use."""
        return self._queue_on(open_device(self._options.get("device"), fused))

    def _queue_on(self, device: Device) -> Launcher:
        return Launcher(device, **{name: self._options[name] for name in LAUNCHER_OPTIONS if name in self._options})

    def with_options(self, transfer: Transfer | None = None, **options: Unpack[FilterOptions]) -> Self:
        """Return a filter as this one but for some options, or for its transfer function.

        It has the open device of this one, unless the options name another, and filters as one that is made anew.
        """
        made = copy.copy(self)
        made._describe(self.transfer if transfer is None else transfer, {**self._options, **options})
        if made._options.get("device") == self._options.get("device"):
            made.launcher = made._queue_on(self.launcher.device)
        _ = made.launcher  # without a usable device there is no filter
        return made

    def again(self, transfer: Transfer | None = None, **options: Unpack[FilterOptions]) -> Self:
        """Return what :meth:`with_options` does, whose old name this is."""
        warnings.warn("Filter.again is now called with_options", DeprecationWarning, stacklevel=2)
        return self.with_options(transfer, **options)

    def __getstate__(self) -> tuple[Transfer, Mapping[str, Any]]:
        """Return the transfer function and the options."""
        return self.transfer, self._options

    def __setstate__(self, state: tuple[Transfer, Mapping[str, Any]]) -> None:
        """Take them; the device is opened on first use."""
        self._describe(*state)

    def __repr__(self) -> str:
        """Return what makes the same filter, with ``from fftfilter import Filter, transfer as H``."""
        options = "".join(f", {name}={value!r}" for name, value in self._options.items())
        return f"{type(self).__name__}({self.transfer!r}{options})"


def split_options(options: Options) -> tuple[FilterOptions, PixelOptions]:
    """Return the options of a filter, and those of its calls; raises TypeError for what is neither."""
    for name in options.keys() - Options.__annotations__:
        raise TypeError(
            f"unexpected keyword argument {name!r}: further options are {', '.join(Options.__annotations__)}"
        )
    of_pixels = {name: value for name, value in options.items() if name in PixelOptions.__annotations__}
    of_filter = {name: value for name, value in options.items() if name not in of_pixels}
    return cast("FilterOptions", of_filter), cast("PixelOptions", of_pixels)


def check_transfer(given: object) -> None:
    """Raise ParameterError for what is not a transfer function."""
    if not isinstance(given, Transfer):
        raise ParameterError(
            f"{given!r} is not a transfer function: give one of fftfilter.transfer, such as transfer.highpass(64)"
        )


def _check(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise ParameterError(f"{what} {given!r} is unknown: choose {', '.join(known[:-1])} or {known[-1]}")
