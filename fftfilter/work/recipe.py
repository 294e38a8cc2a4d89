"""A recipe has all that decides an output's bytes; its method filters as :class:`Filter` or as ImageJ's dialog does.

NumPy and OpenCL are imported on first use only.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from .. import __version__
from ..engine import FUSED, name_of
from ..errors import ParameterError
from ..files.sources import digest_of
from ..images.formats import AS_USUAL, refuse_coding, refuse_whole_numbers
from ..output.modes import EACH, MODES, check_scale

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from ..analysis.search import AutoNotches
    from ..filters import Filter
    from ..images import Asked, Coding, Depth, Picture
    from ..images.picture import Working
    from ..output.modes import Mode, Output, Scale, Span
    from ..transfer import Transfer
    from ..transfer.edges import Edges
    from .verify import Reference


class Plain:
    """Filters as :class:`Filter` does."""

    says_notes = False
    """Whether it is always said what followed from a picture, not only with -v."""

    def open(self, recipe: Recipe, transfer: Transfer, **device: Any) -> Filter:
        """Return a filter; ``device`` has the device, and whether it is profiled."""
        from ..filters import Filter

        return Filter(transfer, output=recipe.output, scale=recipe.scale, **recipe.options, **device)

    def refuse(self, picture: Picture, name: str) -> None:
        """Raise ParameterError for a picture that the method does not take; ``name`` is its file's."""

    def keeps_levels(self, recipe: Recipe) -> bool:
        """Whether outputs have the grey levels of the input."""
        return recipe.mode.keeps_levels

    def references(self, given: Picture, transfer: Transfer, recipe: Recipe, depth: Depth) -> Iterator[Reference]:
        """Yield the possible correct outputs of a picture, the most likely first."""
        from .verify import references_of

        output, scale = recipe.output, recipe.scale
        return references_of(given.planes, given.maxval, transfer, output, scale=scale, depth=depth, edges=recipe.edges)


class ImageJ(Plain):
    """Filters as ImageJ's dialog does; recipes have the output keep."""

    def open(self, recipe: Recipe, transfer: Transfer, **device: Any) -> Filter:
        """Return an :class:`ImageJFilter`."""
        from ..imagej_filter import ImageJFilter

        return ImageJFilter(transfer, **recipe.options, **device)

    def refuse(self, picture: Picture, name: str) -> None:
        """Take gray and RGB pictures."""
        if (channels := len(picture.planes)) not in (1, 3):
            raise ParameterError(
                f"{name}: has {channels} channels, and ImageJ's filter takes gray or RGB: leave 1 or 3, or take "
                "bandpass, which filters any"
            )

    def keeps_levels(self, recipe: Recipe) -> bool:
        """Whether nothing is autoscaled."""
        return not recipe.options["autoscale"]

    def references(self, given: Picture, transfer: Transfer, recipe: Recipe, depth: Depth) -> Iterator[Reference]:
        """Yield three if values are autoscaled: one on the edge of a histogram's bin may fall on either side."""
        from .verify import of_imagej

        own = {name: recipe.options[name] for name in ("autoscale", "saturate")}
        return of_imagej(given.planes, given.maxval, transfer, depth=depth, **own)


class Descreen(Plain):
    """Takes the screens of prints out; recipes have the output keep."""

    says_notes = True

    def open(self, recipe: Recipe, transfer: Transfer, **device: Any) -> Filter:
        """Return a :class:`DescreenFilter`."""
        from ..descreen_filter import DescreenFilter

        return DescreenFilter(transfer, **recipe.options, **device)

    def references(self, given: Picture, transfer: Transfer, recipe: Recipe, depth: Depth) -> Iterator[Reference]:  # noqa: ARG002
        """Yield the one correct output."""
        from .verify import of_descreen

        return of_descreen(given.planes, given.maxval, transfer, depth=depth)


MethodName = Literal["plain", "imagej", "descreen"]
METHODS: dict[MethodName, Plain] = {"plain": Plain(), "imagej": ImageJ(), "descreen": Descreen()}


@dataclass(frozen=True, repr=False)  # what it writes code for takes time
class Recipe:
    """The settings for a file, or for every file of a folder; picklable, and equal to its copy."""

    transfer: Transfer
    """For pixels of any size; notches for a picture's own waves come later."""
    method: MethodName = "plain"
    options: Mapping[str, Any] = field(default_factory=dict)
    """Those of the method's filter, without output, scale, device and profile."""
    output: Output = "magnitude"
    scale: Scale | None = None
    """None gives each picture its own range, or one to all of a ``span``."""
    span: Span = EACH
    """Whether the pages of a file, or the files of a folder, have one range, up to the largest value of all."""
    pages: Asked | None = None
    auto: AutoNotches | None = None
    """How the waves of each picture are found, if they are to be removed, too."""
    coding: Coding = AS_USUAL
    format: str | None = None
    """That of standard output; else the target's extension says it."""
    strip: bool = False
    preserve_times: bool = False

    def refuse(self, target: str | os.PathLike[str]) -> None:
        """Raise ParameterError if these settings cannot go together, or not into a target."""
        self.refuse_scale()
        refuse_coding(target, self.coding, format=self.format)
        self.refuse_target(target)

    def refuse_scale(self) -> None:
        """Raise ParameterError for a scale that means nothing to the output."""
        check_scale(self.output, self.scale if self.span == EACH else self.span)

    def refuse_target(self, target: str | os.PathLike[str]) -> None:
        """Raise ParameterError for a target whose format cannot hold the output."""
        if self.mode.is_values:
            refuse_whole_numbers(target, format=self.format)

    def open(self, transfer: Transfer, device: str | int | None = None, *, profile: bool = False) -> Filter:
        """Return a filter on a device for a transfer function that knows its pixels; raises what Filter raises."""
        return self.how.open(self, transfer, device=device, profile=profile)

    def measuring(self) -> Recipe:
        """Return the recipe whose outputs have the largest magnitudes that a range of several pictures is made of."""
        return replace(self, output="magnitude", scale=None, span=EACH)

    def with_range(self, largest: float) -> Recipe:
        """Return the recipe with one range for all: up to the largest magnitude, a part of white."""
        return replace(self, scale=self.mode.range_up_to(largest), span=EACH)

    def cautions(self) -> list[str]:
        """Return a line if pictures cannot use a part of the range."""
        return self.mode.cautions(self.scale)

    @property
    def how(self) -> Plain:
        """The method, by its name."""
        return METHODS[self.method]

    @property
    def mode(self) -> Mode:
        """The output's mode, by its name."""
        return MODES[self.output]

    @property
    def edges(self) -> Edges:
        """The picture's continuation beyond its borders."""
        edges: Edges = self.options.get("edges", "wrap")
        return edges

    @property
    def needs_staged(self) -> bool:
        """Whether options ask for the staged pipeline, by its name or by a feature of its own."""
        return name_of(self.options) != FUSED

    @property
    def working(self) -> Working | None:
        """A function from a picture's size to the bytes of the staged pipeline; None for the fused one."""
        if not self.needs_staged:
            return None
        from ..staged.algorithms import load
        from ..staged.pipeline import buffer_bytes

        try:
            algorithm = load(name_of(self.options))
        except ParameterError:
            return None  # an unknown engine is refused with the filter
        times, precision = 2 if self.edges == "mirror" else 1, self.options.get("precision")
        return lambda size: buffer_bytes(algorithm, (size.channels, times * size.height, times * size.width), precision)

    @cached_property
    def key(self) -> str:
        """A digest of the version and of all fields. Files of one key differ by a device's last grey level at most."""
        import json  # for folders alone

        given = {each.name: getattr(self, each.name) for each in fields(self)}
        given["transfer"] = self.transfer.given()
        text = json.dumps([__version__, given], sort_keys=True, default=str)
        return digest_of(text.encode())[:16]
