"""Pictures on their way through a filter, one by one or several of one size at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..images import Depth

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ..filters import Filter, PixelOptions
    from ..images import Picture
    from ..transfer import Transfer
    from .recipe import Recipe

    Array = NDArray[Any]


@dataclass(eq=False, repr=False)  # what it writes code for takes time
class Frame:
    """A picture, or a page, between its file and the output."""

    picture: Picture
    """As it was read; once it is filtered, as it will be written."""
    depth: Depth
    """How the output stores it."""
    transfer: Transfer
    holes: NDArray[np.bool_] | None = None
    """Which samples are missing, of the planes' shape; None if all are valid."""
    given: Picture | None = None
    """A copy of the picture as it was read, if it is kept."""

    @property
    def as_read(self) -> Picture:
        """The picture as it was read, until it is filtered; later, if it was kept."""
        return self.given or self.picture

    @property
    def missing(self) -> float:
        """The part of the samples that are missing."""
        return 0.0 if self.holes is None else float(self.holes.mean())

    def shown(self) -> Array:
        """Return the filtered planes to look at: missing samples are black, as NaN is no color."""
        import numpy as np

        planes = self.picture.planes
        return planes if self.holes is None else np.where(self.holes, 0, planes).astype(planes.dtype)

    def stays(self, recipe: Recipe) -> bool:
        """Whether nothing is filtered, so that pixels stay as they are, floats to the last bit, too."""
        return not self.transfer.parts and recipe.mode.keeps_levels and self.picture.is_stored_as(self.depth)

    def put(self, planes: Array) -> None:
        """Replace the pixels that were read by the filtered ones."""
        self.picture.planes, self.picture.maxval, self.picture.integers = planes, self.depth.maxval, self.depth.integers


class Made(NamedTuple):
    """The result of filtering a frame."""

    planes: Array
    """``(channels, height, width)``, as the frame's depth says."""
    extremes: tuple[float, float] | None
    """The smallest and largest filtered value; None if nothing was filtered."""
    clipped: float
    """The part of the samples that was clipped to black or white."""

    def largest(self, white: float) -> float:
        """Return the largest magnitude as a part of white, 0 if all is rounding noise."""
        return self.extremes[1] / white if self.extremes and self.planes.any() else 0.0


def filtered(
    filter_: Filter,
    frames: Sequence[Frame],
    recipe: Recipe,
    *,
    joined: Callable[[list[Array]], Array] | None = None,
    observe: Callable[[str, Array], None] | None = None,
) -> list[Made]:
    """Filter frames of one size, type, depth and transfer function; each becomes what it would become alone.

    Several are gray, and ``joined`` makes one array ``(count, height, width)`` of their planes. ``observe`` sees the
    results between the steps of a single one.
    """
    first = frames[0]
    if first.stays(recipe):
        return [Made(frame.picture.planes, None, 0.0) for frame in frames]
    depth = first.depth
    if len(frames) > 1 and any(frame.holes is not None for frame in frames):
        return [made for frame in frames for made in filtered(filter_, [frame], recipe)]
    of_pixels: PixelOptions = {"dtype": depth.dtype, "levels": depth.maxval, "white": first.picture.maxval}
    if first.holes is not None:
        of_pixels["missing"] = first.holes
    if joined is None or len(frames) == 1:
        results = [filter_(first.picture.planes, channel_axis=0, observe=observe, **of_pixels)]
    else:
        results = list(filter_(joined([frame.picture.planes for frame in frames]), **of_pixels)[:, None])
    if region := recipe.region:
        pairs = zip(frames, results, strict=True)
        results = [region.blended(frame, made, is_values=recipe.mode.is_values) for frame, made in pairs]
    return [Made(*each) for each in zip(results, filter_.extremes(), filter_.clipped(), strict=True)]


def largest(filter_: Filter, pictures: Iterable[Picture], recipe: Recipe) -> float:
    """Return the largest magnitude of all pictures as a part of their white, 0 if all is rounding noise."""
    found, recipe = 0.0, recipe.measuring()
    with filter_.with_options(output=recipe.output, scale=recipe.scale) as measuring:
        for picture in pictures:
            holes = recipe.holes(picture, "a page")
            frame = Frame(picture, Depth(picture.planes.dtype, picture.maxval), filter_.transfer, holes)
            (made,) = filtered(measuring, [frame], recipe)
            found = max(found, made.largest(picture.maxval))
    return found
