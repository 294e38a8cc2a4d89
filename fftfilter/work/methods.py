"""The methods of a recipe: what differs between :class:`Filter` and ImageJ's dialog on a file's way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ..errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..filters import Filter
    from ..images import Depth, Picture
    from ..transfer import Transfer
    from .recipe import Recipe
    from .references import Reference


class Plain:
    """Filter as :class:`Filter` does."""

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
        """Yield what a picture may become, the most likely first."""
        from .references import reference_of

        output, scale = recipe.output, recipe.scale
        yield reference_of(given.planes, given.maxval, transfer, output, scale=scale, depth=depth, edges=recipe.edges)


class ImageJ(Plain):
    """Filter as ImageJ's dialog does; recipes have the output keep."""

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
        """Yield what a picture may become where values lie on the edges of a histogram's bins."""
        from .references import of_imagej

        own = {name: recipe.options[name] for name in ("autoscale", "saturate")}
        return of_imagej(given.planes, given.maxval, transfer, depth=depth, **own)


MethodName = Literal["plain", "imagej"]
METHODS: dict[MethodName, Plain] = {"plain": Plain(), "imagej": ImageJ()}
