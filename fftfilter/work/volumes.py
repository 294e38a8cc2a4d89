"""Pages that are filtered together, along an axis of their own: a volume, or a movie.

Files that name the axes of their pages have a volume for each of the others, such as each channel and each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import images, memory
from ..errors import ParameterError

if TYPE_CHECKING:
    from ..arrays import Array
    from ..filters import Filter, PixelOptions
    from ..images import Pages, Picture
    from ..transfer import Transfer
    from .opened import Frame, Opened
    from .recipe import Recipe

    Filtered = tuple[Array, tuple[float, float], float]
    """What a Made has: the planes of a page, extremes, and the part that was clipped."""

# What --axes may be.
AXES = ("zyx", "tyx", "t")


def volumes_of(found: Picture | Pages, axes: str, name: str) -> list[list[int]]:
    """Return the chosen pages of each volume, counted from 0; raises ParameterError if there is no such axis."""
    if axes not in AXES:
        raise ParameterError(f"axes {axes!r} are none of a file's: give {', '.join(AXES)}")
    sides = found.axes() if isinstance(found, images.Pages) else []
    names = [each for each, _ in sides]
    # Of axes without names it is the last one.
    own = names.index(axes[0]) if axes[0] in names else len(names) - 1
    if not sides or (any(names) and axes[0] not in names) or len(found) < 2:  # type: ignore[arg-type]
        said = f"its pages lie along {', '.join(filter(None, names))}" if any(names) else "it is one picture"
        raise ParameterError(f"{name}: has no axis {axes[0]}, as {said}: leave --axes {axes} out, or give a stack")
    assert isinstance(found, images.Pages)  # noqa: S101  a picture has no axes
    volumes: dict[tuple[int, ...], list[int]] = {}
    for page, number in enumerate(found.chosen):
        place = [int(i) for i in np.unravel_index(number, [side for _, side in sides])]
        del place[own]
        volumes.setdefault(tuple(place), []).append(page)
    return list(volumes.values())


def with_voxels(found: Picture | Pages, recipe: Recipe, first: Picture, name: str) -> tuple[Recipe, Transfer]:
    """Return a recipe and its transfer function for the voxels of a file; raises ParameterError and TooLargeError."""
    from ..filters.volumes import Volume

    axes, transfer, sizes = recipe.options["axes"], recipe.transfer, recipe.options.get("pixel_size")
    volumes_of(found, axes, name)
    assert isinstance(found, images.Pages)  # noqa: S101  else there is no volume
    picture = memory.Pixels.of(first.planes, len(found))
    memory.check(picture, memory.taken(picture, recipe.how_much()), name)
    if needed_by := transfer.lacks_pixel_size:
        pixel = first.metadata.pixel_size if first.metadata else None
        if sizes is None:
            if axes != "zyx" or pixel is None or found.depth is None:
                raise ParameterError(
                    f"{name}: says no size of a sample along {axes}, which {needed_by} needs: give --pixel-size, one "
                    "for each axis (0.3um,0.1um,0.1um), or a number with px, cyc or %"
                )
            sizes = found.depth, pixel.down, pixel.across
            recipe = recipe.with_options(pixel_size=sizes)
        transfer = transfer.with_pixel_size(min(Volume.of(axes, sizes).sizes))
    return recipe, transfer


class Volumes:
    """The filtered pages of an input, volume by volume."""

    def __init__(self, opened: Opened, filter_: Filter, suffix: str) -> None:
        self._opened, self._filter, self._suffix = opened, filter_, suffix
        self._axes = opened.recipe.options["axes"]
        self._volumes = {page: each for each in volumes_of(opened.found, self._axes, opened.name) for page in each}
        self._made: dict[int, Filtered] = {}

    def made(self, index: int) -> Filtered:
        """Return a filtered page, counted from 0; all of its volume is filtered when the first one is asked for."""
        if index not in self._made:
            self._filter_volume(self._volumes[index])
        return self._made.pop(index)

    def _filter_volume(self, pages: list[int]) -> None:
        opened, depth = self._opened, 0 if self._axes == "t" else 1
        frames: list[Frame] = []
        for page in pages:
            frames.append(opened.frame_of(opened.page(page), self._suffix))
            if len({(each.picture.planes.shape, each.picture.planes.dtype) for each in (frames[0], frames[-1])}) > 1:
                raise ParameterError(f"{opened.pages.page_name(page)}: is of another size or type than its volume")
        first, how = frames[0].picture, frames[0].depth
        if depth and len(first.planes) > 1 and opened.recipe.mode.is_scaled:
            raise ParameterError(f"{opened.name}: colors of a volume have no scale in common: take output keep or real")
        of_pixels: PixelOptions = {"dtype": how.dtype, "levels": how.maxval, "white": first.maxval}
        if any(frame.holes is not None for frame in frames):
            none = np.zeros(first.planes.shape, np.bool_)
            of_pixels["missing"] = np.stack([none if each.holes is None else each.holes for each in frames], depth)
        result = np.moveaxis(
            self._filter(np.stack([each.picture.planes for each in frames], depth), **of_pixels), depth, 0
        )
        low, high = np.transpose(self._filter.extremes())
        about = (float(low.min()), float(high.max())), float(np.mean(self._filter.clipped()))
        self._made |= {page: (planes, *about) for page, planes in zip(pages, result, strict=True)}
