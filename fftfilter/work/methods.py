"""The methods of a recipe: what differs between :class:`Filter` and ImageJ's dialog on a file's way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

from ..errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..filters import Filter
    from ..images import Depth, Picture
    from ..transfer import Transfer
    from .recipe import Recipe
    from .references import Reference

MethodName = Literal["plain", "imagej"]


class Method(Protocol):
    """How pictures are filtered."""

    def open(self, recipe: Recipe, transfer: Transfer, **device: Any) -> Filter:
        """Return a filter; ``device`` has the device, and whether it is profiled."""

    def refuse(self, picture: Picture, name: str) -> None:
        """Raise ParameterError for a picture that the method does not take; ``name`` is its file's."""

    def keeps_levels(self, recipe: Recipe) -> bool:
        """Whether outputs have the grey levels of the input."""

    def references(self, given: Picture, transfer: Transfer, recipe: Recipe, depth: Depth) -> Iterator[Reference]:
        """Yield what a picture may become; the first is the most likely."""


class Plain:
    """That of :class:`Filter`."""

    def open(self, recipe: Recipe, transfer: Transfer, **device: Any) -> Filter:
        """See :class:`Method`."""
        from ..filters import Filter

        return Filter(transfer, output=recipe.output, scale=recipe.scale, **recipe.options, **device)

    def refuse(self, picture: Picture, name: str) -> None:
        """Take every picture."""

    def keeps_levels(self, recipe: Recipe) -> bool:
        """See :class:`Method`."""
        return recipe.mode.keeps_levels

    def references(self, given: Picture, transfer: Transfer, recipe: Recipe, depth: Depth) -> Iterator[Reference]:
        """See :class:`Method`."""
        from .references import reference_of

        yield reference_of(
            given.planes,
            given.maxval,
            transfer,
            recipe.output,
            scale=recipe.scale,
            depth=depth,
            edges=recipe.edges,
        )


class ImageJ:
    """That of :class:`ImageJFilter`; recipes have the output keep."""

    def open(self, recipe: Recipe, transfer: Transfer, **device: Any) -> Filter:
        """See :class:`Method`."""
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
        """See :class:`Method`."""
        return not recipe.options["autoscale"]

    def references(self, given: Picture, transfer: Transfer, recipe: Recipe, depth: Depth) -> Iterator[Reference]:
        """See :class:`Method`."""
        from .references import of_imagej

        own = {name: recipe.options[name] for name in ("autoscale", "saturate")}
        return of_imagej(given.planes, given.maxval, transfer, depth=depth, **own)


METHODS: dict[MethodName, Method] = {"plain": Plain(), "imagej": ImageJ()}
