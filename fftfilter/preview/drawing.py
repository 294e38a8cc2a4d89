"""Text and smooth lines on a canvas, with Pillow and its own font."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from typing import Any
from unicodedata import combining, normalize

from PIL import Image, ImageDraw, ImageFont

from ..arrays import Pixels

Color = tuple[int, int, int]
Corners = tuple[int, int, int, int]

INK, QUIET, FAINT, WHITE, PAPER = (30, 33, 38), (95, 101, 110), (222, 225, 229), (255, 255, 255), (244, 245, 247)
BEFORE, AFTER, REMOVED = (44, 104, 176), (208, 82, 22), (240, 110, 40)
RED = (200, 30, 40)
TEXT, SMALL, LARGE = 13, 12, 17
# Characters of Pillow's font besides ASCII.
NON_ASCII = "\u00a9\u00ab\u00b0\u00b1\u00b7\u00bb\u2018\u2019\u201c\u201d"
# Lines are drawn enlarged by this factor and then reduced, to be smooth.
FINE = 3


@cache
def font(size: int) -> Any:
    """Return Pillow's own font."""
    return ImageFont.load_default(size)


class Canvas:
    """A picture to draw on."""

    def __init__(self, width: int, height: int, paper: Color = WHITE) -> None:
        self.image = Image.new("RGB", (width, height), paper)
        self._draw = ImageDraw.Draw(self.image)

    def text(  # noqa: PLR0917  as Pillow has it
        self, x: float, y: float, text: str, size: int = TEXT, color: Color = INK, anchor: str = "ls", **more: Any
    ) -> None:
        """Write a line; ``anchor``, by default the left end of the base line, and further options are Pillow's."""
        self._draw.text((x, y), printable(text), font=font(size), fill=color, anchor=anchor, **more)

    def paste(self, pixels: Pixels, x: int, y: int) -> None:
        """Paste a picture ``(height, width, 3)`` or ``(height, width)``, with its top left corner at x, y."""
        self.image.paste(Image.fromarray(pixels), (x, y))

    def panel(self, pixels: Pixels, x: int, y: int, side: int) -> None:
        """Paste a picture into the middle of a square of paper."""
        self.box((x, y, x + side - 1, y + side - 1), PAPER, fill=True)
        self.paste(pixels, x + (side - pixels.shape[1]) // 2, y + (side - pixels.shape[0]) // 2)

    def box(self, corners: Corners, color: Color = FAINT, *, fill: bool = False) -> None:
        """Draw or fill a rectangle, corners included."""
        self._draw.rectangle(corners, fill=color if fill else None, outline=color)

    def line(self, points: Sequence[tuple[float, float]], color: Color = FAINT) -> None:
        """Draw a line one pixel wide."""
        self._draw.line(points, fill=color)


class Fine:
    """Draws smooth lines in a rectangle of a canvas, clipped to it; they appear at the end of a ``with``."""

    def __init__(self, canvas: Canvas, corners: Corners) -> None:
        self._canvas = canvas
        self._left, self._top, right, bottom = corners
        self._size = right - self._left + 1, bottom - self._top + 1
        self._layer = Image.new("RGBA", (FINE * self._size[0], FINE * self._size[1]), (255, 255, 255, 0))
        self._draw = ImageDraw.Draw(self._layer)

    def __enter__(self) -> Fine:
        return self

    def __exit__(self, *_: object) -> None:
        # Premultiplied, so that colors do not mix with that of clear pixels.
        small = self._layer.convert("RGBa").reduce(FINE).convert("RGBA")
        self._canvas.image.paste(small, (self._left, self._top), small)

    def _at(self, point: tuple[float, float]) -> tuple[float, float]:
        return FINE * (point[0] - self._left), FINE * (point[1] - self._top)

    def line(self, points: Sequence[tuple[float, float]], color: Color, width: float = 2.0) -> None:
        """Draw a line through points."""
        self._draw.line([self._at(point) for point in points], (*color, 255), round(FINE * width), joint="curve")

    def area(self, points: Sequence[tuple[float, float]], color: Color, opacity: float) -> None:
        """Fill a polygon."""
        self._draw.polygon([self._at(point) for point in points], (*color, round(255 * opacity)))

    def circle(
        self, center: tuple[float, float], radius: float, color: Color, width: float = 1.5, stretch: float = 1.0
    ) -> None:
        """Draw a circle, or an ellipse that is ``stretch`` times as high as wide."""
        (x, y), r = self._at(center), FINE * radius
        self._draw.ellipse(
            (x - r, y - stretch * r, x + r, y + stretch * r), outline=(*color, 255), width=round(FINE * width)
        )


def length(text: str, size: int = TEXT) -> float:
    """Return the width of a text in pixels."""
    return float(font(size).getlength(printable(text)))


def shortened(text: str, width: float, size: int = TEXT) -> str:
    """Return a text, cut off with dots if it is wider than a number of pixels."""
    if length(text, size) <= width:
        return text
    end = bisect_right(range(len(text)), width, key=lambda i: length(text[:i] + " ...", size)) - 1
    return text[: max(end, 0)].rstrip(" ,*;") + " ..."


def printable(text: str) -> str:
    """Return a text in characters of the font: letters lose their accents, and others become "?"."""
    parts = normalize("NFKD", text.replace("\u00b5", "u").replace("\u03bc", "u"))  # micro, as in um
    return "".join(each if " " <= each <= "~" or each in NON_ASCII else "?" for each in parts if not combining(each))
