"""Pictures with regular layouts that are no faults: text, ruled paper, facades, brick, fabric, blinds, keyboards.

Each is gray, ``(1, height, width)`` of 0 to 255, drawn, lit unevenly and photographed with a little noise; the same in
every run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from .faults import levels_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Planes = NDArray[np.float64]
    Draw = Callable[[ImageDraw.ImageDraw, np.random.Generator], None]

HEIGHT, WIDTH = 480, 512
LETTERS = "etaoinshrdlcumwfgypbvk"


def text(pitch: int) -> Draw:
    """Return what draws lines of words, ``pitch`` pixels from line to line."""

    def draw(page: ImageDraw.ImageDraw, rng: np.random.Generator) -> None:
        font = ImageFont.load_default(0.72 * pitch)
        for y in range(10, HEIGHT - pitch, pitch):
            words = ["".join(rng.choice(list(LETTERS), rng.integers(2, 9))) for _ in range(int(WIDTH / pitch * 0.6))]
            page.text((14, y), " ".join(words), 30, font)

    return draw


def table(across: int, down: int) -> Draw:
    """Return what draws numbers in columns."""

    def draw(page: ImageDraw.ImageDraw, rng: np.random.Generator) -> None:
        font = ImageFont.load_default(0.7 * down)
        for y in range(6, HEIGHT - down, down):
            for x in range(6, WIDTH - across, across):
                page.text((x, y), f"{rng.integers(10, 9999):>5}", 40, font)

    return draw


def ruled(down: int, across: int = 0, dark: int = 120, thick: int = 1) -> Draw:
    """Return what draws ruled or squared paper."""

    def draw(page: ImageDraw.ImageDraw, rng: np.random.Generator) -> None:
        for y in range(5, HEIGHT, down):
            page.line([(0, y), (WIDTH, y)], dark, thick)
        for x in range(5, WIDTH, across) if across else ():
            page.line([(x, 0), (x, HEIGHT)], dark, thick)
        for x, y in rng.uniform(0, 400, (40, 2)):
            page.line([(x, y), (x + rng.uniform(5, 40), y + rng.uniform(-20, 20))], 60, 2)

    return draw


def boxes(across: int, down: int, part: float, dark: int, *, every_other: bool = False, varied: int = 30) -> Draw:
    """Return what draws rows of boxes: windows, bricks, keys, tiles."""

    def draw(page: ImageDraw.ImageDraw, rng: np.random.Generator) -> None:
        for row, y in enumerate(range(8, HEIGHT - 4, down)):
            for x in range(4 - (across // 2 if every_other and row % 2 else 0), WIDTH, across):
                shade = int(np.clip(dark + rng.integers(-varied, varied + 1), 0, 255))
                page.rectangle([(x, y), (x + part * across, y + part * down)], shade)

    return draw


def dots(pitch: int, radius: float) -> Draw:
    """Return what draws a perforated sheet."""

    def draw(page: ImageDraw.ImageDraw, rng: np.random.Generator) -> None:
        for y in range(0, HEIGHT, pitch):
            for x in range(0, WIDTH, pitch):
                page.ellipse([(x, y), (x + 2 * radius, y + 2 * radius)], int(rng.integers(20, 50)))

    return draw


def slats(pitch: int, turned: float = 0.0) -> Draw:
    """Return what draws blinds, a fence or corrugated iron: shaded slats."""

    def draw(page: ImageDraw.ImageDraw, rng: np.random.Generator) -> None:
        shades = rng.integers(-12, 13, 2000)
        for y in range(HEIGHT):
            for x in range(WIDTH):
                place = (y + np.tan(np.radians(turned)) * x) / pitch + 20
                page.point((x, y), int(110 + 100 * (place % 1) + shades[int(place)]) if place % 1 < 0.85 else 20)

    return draw


def weave(pitch: int) -> Draw:
    """Return what draws a fabric: threads over and under each other."""

    def draw(page: ImageDraw.ImageDraw, rng: np.random.Generator) -> None:
        shades = rng.integers(-15, 16, (2, 1000))
        for j in range(HEIGHT // pitch + 1):
            for i in range(WIDTH // pitch + 1):
                over = (i + j) % 2
                shade = (170 if over else 90) + int(shades[over, i if over else j])
                x, y = i * pitch, j * pitch
                page.rectangle([(x, y), (x + pitch - 1, y + pitch - 1)], shade)
                page.line([(x, y), (x + pitch - 1, y)] if over else [(x, y), (x, y + pitch - 1)], shade - 60)

    return draw


LAYOUTS: dict[str, tuple[Draw, int]] = {
    **{f"text, {pitch} px": (text(pitch), 235) for pitch in (9, 12, 14, 16, 20, 24, 28, 33)},
    "numbers, 48 x 14 px": (table(48, 14), 235),
    "numbers, 60 x 18 px": (table(60, 18), 235),
    **{f"ruled paper, {down} px": (ruled(down), 225) for down in (12, 16, 22, 30)},
    "bold ruled paper, 18 px": (ruled(18, dark=60, thick=2), 225),
    **{f"squared paper, {side} px": (ruled(side, side), 225) for side in (8, 12, 16, 20)},
    "facade, 28 x 36 px": (boxes(28, 36, 0.55, 60), 190),
    "facade, 20 x 24 px": (boxes(20, 24, 0.5, 70), 170),
    "facade, 16 x 16 px": (boxes(16, 16, 0.6, 80), 180),
    "facade, 44 x 52 px": (boxes(44, 52, 0.6, 50), 200),
    "brick, 40 x 16 px": (boxes(40, 16, 0.88, 120, every_other=True), 190),
    "brick, 26 x 11 px": (boxes(26, 11, 0.85, 120, every_other=True), 190),
    "tiles, 24 px": (boxes(24, 24, 0.9, 150, varied=15), 90),
    "tiles, 14 px": (boxes(14, 14, 0.85, 150, varied=15), 90),
    "keyboard, 36 x 34 px": (boxes(36, 34, 0.8, 40, varied=8), 120),
    "keyboard, 22 x 20 px": (boxes(22, 20, 0.8, 40, varied=8), 120),
    "blinds, 14 px": (slats(14), 200),
    "blinds, 24 px": (slats(24), 200),
    "fence, 18 px, askew": (slats(18, 12), 200),
    **{f"fabric, {pitch} px": (weave(pitch), 128) for pitch in (4, 6, 9)},
    "chessboard, 10 px": (boxes(20, 10, 0.45, 30, every_other=True, varied=5), 220),
    "chessboard, 16 px": (boxes(32, 16, 0.45, 30, every_other=True, varied=5), 220),
    "perforated sheet, 12 px": (dots(12, 3), 180),
    "perforated sheet, 20 px": (dots(20, 5), 180),
}


def layouts() -> Iterator[tuple[str, Planes]]:
    """Yield each picture with its name."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    for seed, (name, (draw, ground)) in enumerate(LAYOUTS.items()):
        rng = np.random.default_rng(700 + seed)
        page = Image.new("L", (WIDTH, HEIGHT), ground)
        draw(ImageDraw.Draw(page), rng)
        seen = np.asarray(page.filter(ImageFilter.GaussianBlur(0.6)), np.float64)
        light = 0.85 + 0.12 * np.cos(x / 300 + seed) * np.cos(y / 260)
        yield name, levels_of(seen * light + rng.normal(0, 1.5, seen.shape))[None]
