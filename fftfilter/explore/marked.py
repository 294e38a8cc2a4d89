"""The part of a picture that a page marks: rectangles, ellipses and strokes of a brush.

In a command, one rectangle is X,Y,W,H. All else is a mask, a PNG beside the output, whose name follows from the shapes.
"""

from __future__ import annotations

import io
import os
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from ..errors import ParameterError
from ..files.sources import digest_of
from ..region import FEATHER, WIDEST, Area, Region

# What a page may set beside the shapes, by the names of the options.
FIELDS = ("feather",)
# Most shapes, and most numbers of all of them; a hand makes far fewer.
MOST_SHAPES, MOST_NUMBERS = 100, 8000


@dataclass(frozen=True)
class Marked:
    """Shapes in a picture, whose pixels are filtered, or are not."""

    shapes: tuple[tuple[Any, ...], ...]
    """Each is its kind and whole numbers: x, y, width, height; of a stroke its width, then x and y of its points."""
    size: tuple[int, int]
    """The height and the width of the picture."""
    option: str = "region"
    feather: float = FEATHER

    @classmethod
    def of(cls, given: object, height: int, width: int) -> Marked | None:
        """Return what a page marks in a picture, None for nothing; raises ParameterError."""
        if given is None:
            return None
        shapes = given.get("shapes") if isinstance(given, dict) else None
        if not isinstance(given, dict) or not isinstance(shapes, list) or len(shapes) > MOST_SHAPES:
            raise ParameterError(f"a region is at most {MOST_SHAPES} shapes, with outside and feather")
        feather = given.get("feather", FEATHER)
        if isinstance(feather, bool) or not isinstance(feather, int | float) or not 0 <= feather <= WIDEST:
            raise ParameterError(f"feather {str(feather)[:20]!r} is not a width: give pixels from 0 to {WIDEST}")
        if sum(len(each) for each in shapes if isinstance(each, list)) > MOST_NUMBERS:
            raise ParameterError(f"the region has more than {MOST_NUMBERS} numbers: clear it, and draw less")
        if not all(_is_shape(each, height, width) for each in shapes):
            raise ParameterError(f"the region goes beyond the picture of {width} x {height} pixels")
        option = "protect" if given.get("outside") is True else "region"
        return cls(tuple(map(tuple, shapes)), (height, width), option, float(feather)) if shapes else None

    @property
    def box(self) -> str | None:
        """X,Y,W,H of a region that is one rectangle."""
        is_box = len(self.shapes) == 1 and self.shapes[0][0] == "rectangle"
        return ",".join(map(str, self.shapes[0][1:])) if is_box else None

    def file(self, target: str) -> str | None:
        """Return the name of the mask beside an output, None without one."""
        stem = os.path.splitext(target)[0]  # noqa: PTH122  as it is typed
        return None if self.box else f"{stem}-region-{digest_of(repr((self.shapes, self.size)).encode())[:8]}.png"

    def words(self, target: str) -> list[str]:
        """Return the options of the command that writes an output."""
        soft = [] if self.feather == FEATHER else ["--feather", f"{self.feather:g}"]
        return [f"--{self.option}", self.box or str(self.file(target)), *soft]

    @lru_cache(maxsize=1)  # noqa: B019  while something is dragged, a mask stays; it keeps one alive
    def region(self, target: str) -> Region:
        """Return the region of the command that writes an output; raises ParameterError if no pixel is left."""
        if file := self.file(target):
            made = Area.of_mask(self.pixels(), self.option, file)
            area = replace(made, file={"file": file, "digest": digest_of(self.png())})
        else:
            area = Area(self.option, str(self.box), self.shapes[0][1:])
        region = self._of(area, self.feather)
        region.pixels(*self.size)
        return region

    def reduced(self, level: int, height: int, width: int) -> Region:
        """Return the region of the picture reduced to a size by a level."""
        area = Area.of_mask(_pixels(self.shapes, height, width, level), self.option, "")
        return self._of(area, self.feather / level)

    def _of(self, area: Area, feather: float) -> Region:
        return Region(area, None, feather) if self.option == "region" else Region(None, area, feather)

    def pixels(self) -> NDArray[np.bool_]:
        """Return which pixels the shapes cover, ``(height, width)``."""
        return _pixels(self.shapes, *self.size, 1)

    def png(self) -> bytes:
        """Return the mask as a PNG: white where the shapes are."""
        file = io.BytesIO()
        Image.fromarray(self.pixels()).save(file, "PNG")
        return file.getvalue()


def taken_area(given: dict[str, Any]) -> dict[str, Any] | None:
    """Take a rectangle from the values of a command's options, as a page marks it; None without one."""
    for name in ("region", "protect"):
        if re.fullmatch(r"\s*\d{1,9}(,\s*\d{1,9}){3}\s*", box := str(given.get(name))):
            del given[name]
            soft = {"feather": given.pop("feather")} if "feather" in given else {}
            return {"shapes": [["rectangle", *map(int, box.split(","))]], "outside": name == "protect", **soft}
    return None


def _is_shape(given: object, height: int, width: int) -> bool:
    """Whether a page's shape has whole numbers that lie in the picture."""
    if not isinstance(given, list) or not given:
        return False
    kind, *numbers = given
    if not all(type(each) is int and 0 <= each <= max(height, width) for each in numbers):
        return False
    if kind in ("rectangle", "ellipse") and len(numbers) == 4:
        x, y, wide, high = numbers
        return bool(min(wide, high) > 0 and x + wide <= width and y + high <= height)
    return bool(kind == "brush" and len(numbers) > 2 and len(numbers) % 2 == 1 and 0 < numbers[0] <= WIDEST)


@lru_cache(maxsize=2)  # the picture's own, and the one of the view
def _pixels(shapes: tuple[tuple[Any, ...], ...], height: int, width: int, level: int) -> NDArray[np.bool_]:
    image = Image.new("L", (width, height))
    draw = ImageDraw.Draw(image)
    for kind, *given in shapes:
        first, *others = (each / level for each in given)
        if kind == "brush":
            points = [*zip(others[::2], others[1::2], strict=True)]
            draw.line(points, 255, max(1, round(first)), "curve")
            for x, y in (points[0], points[-1]):
                draw.ellipse((x - first / 2, y - first / 2, x + first / 2, y + first / 2), 255)
        else:
            y, wide, high = others
            corners = first, y, max(first, first + wide - 1), max(y, y + high - 1)
            (draw.rectangle if kind == "rectangle" else draw.ellipse)(corners, 255)
    return np.asarray(image) > 0
