"""``--verify``: an output, read back from its file, beside the float64 reference of what was read.

The comparison itself is ``output/difference.py``.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from .. import images
from ..errors import ParameterError, VerifyError
from ..files.atomic import is_special
from ..files.messages import shown
from ..files.standard_streams import STANDARD_STREAM
from ..output.difference import Difference

if TYPE_CHECKING:
    import os

    from ..images import Depth, Pages, Picture
    from .frames import Frame
    from .opened import Opened
    from .recipe import Recipe
    from .references import Reference


def refuse(target: str | os.PathLike[str], recipe: Recipe) -> None:
    """Raise ParameterError for an output that cannot be read back as it was written."""
    name = shown(target, "standard output")
    if str(target) == STANDARD_STREAM or is_special(Path(target)):
        raise ParameterError(f"{name}: --verify cannot read it back: write a file")
    if images.is_lossy(target, format=recipe.format, coding=recipe.coding):
        raise ParameterError(f"{name}: --verify cannot tell a fault from this format's losses: write .png or .tif")


def of_file(frame: Frame, target: str | os.PathLike[str], recipe: Recipe) -> Difference:
    """Return how a file differs from what the frame that was written into it had to become.

    Raises what :func:`images.read` raises, VerifyError for a picture of another size.
    """
    return _compare(frame, images.read(target), recipe, shown(target, "standard output"))


def of_pages(opened: Opened, written: Pages, recipe: Recipe, suffix: str) -> Difference:
    """Return how the pages of an output differ from the reference; raises VerifyError for one that is not right."""
    if written.count != len(opened.pages) or written.is_cut:
        raise replaced(written.name)
    found = []
    for index in range(len(opened.pages)):
        frame, got = opened.frame_of_page(opened.page(index), suffix), written.read(index)
        if len(got.planes) < len(frame.picture.planes):
            got.planes = got.planes.repeat(3, axis=0)  # an animation without color anywhere
        name = f"{written.name}, page {index + 1}"
        page = _compare(frame, got, recipe, name)
        check(page, name)
        found.append(page)
    return Difference.of_all(found)


def of_earlier(opened: Opened, target: str) -> Difference:
    """Return how an output that was written before differs from what the input has to become; raises VerifyError."""
    if not isinstance(opened.found, images.Pages):
        return of_file(opened.frame(target, keep=True), target, opened.recipe)
    with closing(images.pages_of(images.raw(target), shown(target, "-"))) as written:
        return of_pages(opened, written, opened.recipe, Path(target).suffix.lower())


def _compare(frame: Frame, found: Picture, recipe: Recipe, name: str) -> Difference:
    """Return how the picture in an output differs from what a frame, as it was read, has to become."""
    given = frame.given or frame.picture
    made: list[Difference] = []
    for reference in recipe.how.references(given, frame.transfer, recipe, frame.depth):
        made.append(_beside(found, reference, frame.depth, name))
        if made[-1].is_right:
            return made[-1]
    return made[0]


def _beside(found: Picture, reference: Reference, depth: Depth, name: str) -> Difference:
    wanted, values, stretch, unit = reference
    if found.planes.shape[1:] != wanted.shape[1:] or found.maxval != depth.maxval:
        raise replaced(name)
    if len(wanted) != len(found.planes):
        # Some formats hold gray as equal colors.
        wanted, values = wanted.repeat(3, axis=0), values.repeat(3, axis=0)
    return Difference.of(found.planes, wanted, depth.maxval, stretch=stretch, unit=unit, values=values)


def replaced(name: str) -> VerifyError:
    """Return the error of an output that is not what was written."""
    return VerifyError(f"{name}: is not the picture that was written: another one has taken its place")


def check(found: Difference, target: str | os.PathLike[str]) -> None:
    """Raise VerifyError for an output that differs by more than the contract allows."""
    if not found.is_right:
        name = shown(target, "standard output")
        raise VerifyError(
            f"{name}: {found}; right is {found.right}: report this line with what 'fftfilter devices --check' prints"
        )
