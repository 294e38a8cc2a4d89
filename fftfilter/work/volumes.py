"""Pages that are filtered together, along an axis of their own: a volume, or a movie.

Files that name the axes of their pages have a volume for each of the others, such as each channel and each time.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import images, memory, system
from ..arrays import PRECISIONS
from ..device_choice import asks_for_staged, name_of
from ..errors import ParameterError, TooLargeError
from ..filters import ratio
from ..filters.strips import FILLING, How, free_room, ready
from ..filters.volumes import planned
from ..output.modes import refuse_missing
from ..output.ramp import Gray

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..arrays import Array
    from ..filters import Filter, PixelOptions
    from ..filters.strips import Large
    from ..filters.volumes import VolumePlan
    from ..images import Pages, Picture
    from ..transfer import Transfer
    from .opened import Frame, Opened
    from .recipe import Recipe

    Read = tuple[Picture, float | None]
    Filtered = tuple[Array, tuple[float, float], float]
    """What a Made has: the planes of a page, extremes, and the part that was clipped."""

# Bytes that a thread takes of a limited address space: its stack, and OpenBLAS's room for products.
OF_THREAD = 40 << 20
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
    """The filtered pages of an input, volume by volume.

    If all of them take more memory than is free, volumes are filtered by strips of pages, where ``by_strips`` allows
    it. ``scratch`` is then the folder of a temporary file. Raises TooLargeError.
    """

    def __init__(self, opened: Opened, first: Picture, *, by_strips: bool) -> None:
        self._opened, self._first, self.scratch = opened, first, ""
        self._axes = opened.recipe.options["axes"]
        self._volumes = volumes_of(opened.found, self._axes, opened.name)
        self._made: dict[int, Filtered] = {}
        pixels = memory.Pixels.of(first.planes, len(opened.pages))
        size = memory.taken(pixels, opened.recipe.how_much()) + memory.beside(opened.recipe.options)
        self.is_large = by_strips and system.lacking(size) is not None
        if self.is_large and asks_for_staged(options := opened.recipe.options):
            engine = name_of(options)
            raise TooLargeError(f"{opened.name}: larger than memory, and engine {engine} takes the whole: leave it out")
        self._plans: dict[Any, VolumePlan] = {}
        self._has_holes = opened.recipe.ratio or opened.recipe.holes(first, opened.name) is not None
        self._logs: ratio.OfStrips | None = None
        opened.room = first.planes.size  # pages are not counted again
        if not self.is_large:
            memory.check(pixels, size, opened.name)
            return
        self._described = opened.recipe.filter_for(opened.transfer).description
        self.said()

    def begin(
        self, filter_: Filter, suffix: str, reading: Callable[[], Iterator[Read]], advance: Callable[[], None]
    ) -> Iterator[Read]:
        """Yield each page and its duration, to be filtered for a file with this extension; ``reading`` does that."""
        self._filter, self._suffix = filter_, suffix
        return self._reading(advance) if self.is_large else reading()

    def made(self, index: int) -> Filtered:
        """Return a filtered page, counted from 0; all of its volume is filtered when the first one is asked for."""
        if index not in self._made:
            self._filter_volume(next(pages for pages in self._volumes if index in pages))
        return self._made.pop(index)

    def _frame(self, page: int) -> Frame:
        frame = self._opened.frame_of(self._opened.page(page), self._suffix)
        planes = frame.picture.planes
        if (planes.shape, planes.dtype) != (self._first.planes.shape, self._first.planes.dtype):
            raise ParameterError(f"{self._opened.pages.page_name(page)}: is of another size or type than its volume")
        if self._axes != "t" and len(planes) > 1 and self._opened.recipe.mode.is_scaled:
            name = self._opened.name
            raise ParameterError(f"{name}: colors of a volume have no scale in common: take output keep or real")
        return frame

    def _filter_volume(self, pages: list[int]) -> None:
        depth, frames = 0 if self._axes == "t" else 1, [self._frame(page) for page in pages]
        first, how = frames[0].picture, frames[0].depth
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

    # By strips

    def _groups(self) -> Iterator[list[list[int]]]:
        """Yield the volumes whose pages lie between each other, such as those of channels."""
        group: list[list[int]] = []
        for pages in sorted(self._volumes):
            if group and pages[0] > max(each[-1] for each in group):
                yield group
                group = []
            group.append(pages)
        yield group

    def _plan(self, precision: str, count: int, pages: int) -> VolumePlan:
        """Return the strips of one of ``count`` volumes at a time, as they were planned first."""
        if (key := (precision, count, pages)) not in self._plans:
            channels, height, width = self._first.planes.shape
            shape = (1, pages, channels * height, width) if self._axes == "t" else (channels, pages, height, width)
            beside = self._opened.pages.spare(free_room() // 3) + 2 * memory.WAITING_BYTES
            beside += FILLING * (channels if self._axes == "t" else 1) * height * width * self._has_holes
            is_limited = any(system.limit(name) is not None for name in ("RLIMIT_AS", "RLIMIT_DATA"))
            own = is_limited * system.cores() * OF_THREAD
            room, itemsize = max(0, free_room() - beside - own), self._first.planes.itemsize
            itemsize += self._opened.recipe.ratio * 2 * PRECISIONS[precision][0].itemsize
            try:
                plan = planned(self._described, shape, itemsize, precision=precision, room=room, count=count)
            except TooLargeError as error:
                raise TooLargeError(f"{self._opened.name}: {error}") from error
            self._plans[key] = replace(plan, bytes=plan.bytes + beside)
        return self._plans[key]

    def _how(self, dtype: np.dtype[Any], maxval: int) -> How:
        recipe = self._opened.recipe
        gray, precision = Gray(self._first.maxval, dtype, maxval), recipe.options.get("precision") or "single"
        if recipe.ratio:
            return ratio.OfStrips.how(self._first.planes.dtype, precision)
        return How(recipe.output, recipe.scale, gray, precision)

    def said(self) -> str:
        """Return the way in words; raises TooLargeError."""
        group = max(self._groups(), key=len)
        how, several = self._how(self._first.planes.dtype, 1), f"{len(self._volumes)} volumes, each "
        plan = self._plan(how.precision, len(group), len(group[0]))
        return several * (len(self._volumes) > 1) + plan.said(how, self.scratch)

    @property
    def steps(self) -> int:
        """How often ``advance`` is called until all is done."""
        if not self.is_large:
            return len(self._opened.pages)
        how, groups = self._how(self._first.planes.dtype, 1), [(len(group), group) for group in self._groups()]
        plans = [self._plan(how.precision, count, len(pages)) for count, group in groups for pages in group]
        return sum(plan.steps(how) for plan in plans)

    def _read(self, pages: list[int], start: int, stop: int) -> Array:
        planes = self._planes([self._frame(page) for page in pages[start:stop]])
        return self._logs.of(planes) if self._logs else planes

    def _planes(self, frames: list[Frame]) -> Array:
        """Return the planes of pages as a volume has them (channels, pages, height, width), masked where any miss."""
        planes = np.stack([frame.picture.planes for frame in frames], axis=1)
        if any(frame.holes is not None for frame in frames):
            refuse_missing(self._opened.recipe.output)
            holes = [np.broadcast_to(frame.holes is not None and frame.holes, planes[:, 0].shape) for frame in frames]
            planes = np.ma.MaskedArray(planes, np.stack(holes, axis=1))
        if self._axes == "t":
            planes = planes.transpose(1, 0, 2, 3).reshape(1, len(frames), -1, planes.shape[-1])
        return planes

    def _reading(self, advance: Callable[[], None]) -> Iterator[Read]:
        depth = self._frame(0).depth
        how = self._how(depth.dtype, depth.maxval)
        if self._opened.recipe.ratio:
            largest, at_dc = float(np.nanmax(self._first.planes)), ratio.gain_at_dc(self._described.on_grid, 64, 64)
            gray, mode = Gray(self._first.maxval, depth.dtype, depth.maxval), self._opened.recipe.mode
            self._logs = ratio.OfStrips(largest if largest > 0 else 1.0, at_dc, gray, mode, how.precision)
        for group in self._groups():
            with ExitStack() as stack:
                place: dict[int, tuple[Large, int]] = {}
                for pages in group:
                    plan, read = partial(self._plan, count=len(group), pages=len(pages)), partial(self._read, pages)
                    large = stack.enter_context(ready(read, plan, how, self.scratch, advance))
                    place |= {page: (large, number) for number, page in enumerate(pages)}
                # Strips are shorter where volumes lie between each other: those that were planned are counted.
                for made in large.in_order(self._strip, self._strips(place), counts=False):
                    for page, frame, milliseconds, filtered in made:
                        self._made[page] = filtered
                        yield frame.picture, milliseconds
                        large, number = place[page]
                        if number + 1 in (large.plan.shape[1], (number // large.plan.rows + 1) * large.plan.rows):
                            advance()

    def _strips(self, place: dict[int, tuple[Large, int]]) -> Iterator[tuple[Any, ...]]:
        """Yield pages that follow each other, here and in their volume, with the volume and the first one's place."""
        strip: list[tuple[int, Frame, float | None]] = []
        for page in sorted(place):
            large, number = place[page]
            strip.append((page, self._frame(page), self._opened.pages.milliseconds))
            if len(strip) >= large.plan.rows or place.get(page + 1) != (large, number + 1):
                yield large, number + 1 - len(strip), strip
                strip = []

    def _strip(self, large: Large, start: int, strip: list[tuple[int, Frame, float | None]]) -> list[tuple[Any, ...]]:
        frames = [frame for _, frame, _ in strip]
        are_needed = large.plan.beyond or any(frame.holes is not None for frame in frames)
        planes = self._planes(frames) if are_needed or self._logs else None
        if self._logs and planes is not None:
            logs = self._logs.of(planes)
            result = self._logs.pixels(large.made(start, start + len(strip), logs).pixels, logs, planes)
        else:
            result = large.made(start, start + len(strip), planes)
        channels, height, width = self._first.planes.shape
        pixels = result.pixels.reshape(-1, len(strip), height if self._axes != "t" else channels * height, width)
        about = (0.0, max(large.largest, result.largest)), result.clipped
        pages = np.moveaxis(pixels, 1, 0).reshape(len(strip), channels, height, width)
        return [(*each, (made, *about)) for each, made in zip(strip, pages, strict=True)]
