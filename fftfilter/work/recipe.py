""":class:`Recipe`: all that decides an output's bytes. Neither NumPy nor OpenCL is imported before they are needed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..engine import FUSED, name_of
from ..files.sources import digest_of
from ..images.formats import AS_USUAL, refuse_coding, refuse_whole_numbers
from ..output import scale as scales
from ..output.modes import MODES, check_scale
from .methods import METHODS

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from ..analysis.search import AutoNotches
    from ..filters import Filter
    from ..images import Asked, Coding
    from ..images.picture import Working
    from ..output.modes import Mode, Output
    from ..output.scale import Scale, Span
    from ..transfer import Transfer
    from ..transfer.edges import Edges
    from .methods import MethodName, Plain


@dataclass(frozen=True)
class Recipe:
    """What is done to a file, or to every file of a folder; it is picklable, and equal to its copy."""

    transfer: Transfer
    """For pixels of any size; notches for a picture's own waves come later."""
    method: MethodName = "plain"
    options: Mapping[str, Any] = field(default_factory=dict)
    """Those of the method's filter, without output, scale, device and profile."""
    output: Output = "magnitude"
    scale: Scale | None = None
    """None gives each picture its own range, or one to all of a ``span``."""
    span: Span = scales.EACH
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
        check_scale(self.output, self.scale if self.span == scales.EACH else self.span)

    def refuse_target(self, target: str | os.PathLike[str]) -> None:
        """Raise ParameterError for a target whose format cannot hold the output."""
        if self.mode.is_values:
            refuse_whole_numbers(target, format=self.format)

    def open(self, transfer: Transfer, device: str | int | None = None, *, profile: bool = False) -> Filter:
        """Return a filter on a device for a transfer function that knows its pixels; raises what Filter raises."""
        return self.how.open(self, transfer, device=device, profile=profile)

    def measuring(self) -> Recipe:
        """Return the recipe whose outputs have the largest magnitudes that a range of several pictures is made of."""
        return replace(self, output="magnitude", scale=None, span=scales.EACH)

    def with_range(self, largest: float) -> Recipe:
        """Return the recipe with one range for all: up to the largest magnitude, a part of white."""
        return replace(self, scale=self.mode.range_up_to(largest), span=scales.EACH)

    def cautions(self) -> list[str]:
        """Return a line on a range of which no picture uses a part."""
        return self.scale.cautions() if self.scale and self.mode.is_absolute else []

    @property
    def how(self) -> Plain:
        """What the method's name stands for."""
        return METHODS[self.method]

    @property
    def mode(self) -> Mode:
        """What the output's name stands for."""
        return MODES[self.output]

    @property
    def edges(self) -> Edges:
        """What lies beyond a picture's borders."""
        edges: Edges = self.options.get("edges", "wrap")
        return edges

    @property
    def needs_staged(self) -> bool:
        """Whether options mean the staged pipeline: by its name, or by what only it has."""
        return name_of(self.options) != FUSED

    @property
    def working(self) -> Working | None:
        """What tells the memory of the staged pipeline from a picture's size; None for the fused one."""
        if not self.needs_staged:
            return None
        from ..errors import ParameterError
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
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        given["transfer"] = self.transfer.given()
        text = json.dumps([__version__, given], sort_keys=True, default=str)
        return digest_of(text.encode())[:16]
